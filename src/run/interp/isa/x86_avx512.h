/* x86_avx512.h: x86-64 with AVX-512 (F, BW, CD, DQ, VL): vectors of 64 bytes and mask registers. */
#ifndef LW_ISA_X86_AVX512_H
#define LW_ISA_X86_AVX512_H

#include <immintrin.h>

/* ---- Masks ------------------------------------------------------------------------------------------------ */

#define lw_blend lw_blend
#define LW_BLEND(bits, count) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, const uint##bits##_t *b, \
                                       const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            _Pragma("GCC unroll 4") for (size_t i = 0; i < 32; i += count) \
                _mm512_storeu_si512(to + base + i, _mm512_mask_loadu_epi##bits(_mm512_loadu_si512(b + base + i), \
                                                                               (__mmask##count)(word >> i), a + base + i)); \
        } \
    }
LW_BLEND(16, 32)
LW_BLEND(32, 16)
LW_BLEND(64, 8)
#undef LW_BLEND

#define lw_bytes_to_mask lw_bytes_to_mask
static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
    const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
    return (lw_mask)_mm512_test_epi8_mask(low, low) | (lw_mask)_mm512_test_epi8_mask(high, high) << 64;
}

#define LW_PREDICATE_BODY(expression) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) { \
        _Alignas(64) int32_t word[LW_WARP_LANES]; \
        LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++) word[k] = -(int32_t)(expression); \
        result.warps[base / LW_WARP_LANES] = _mm512_movepi32_mask(_mm512_load_si512(word)) | \
                                             (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(word + 16)) << 16; \
    }

/* ---- Comparisons straight into mask bits -------------------------------------------------------------------- */

#define INTEGER_eq _MM_CMPINT_EQ
#define INTEGER_ne _MM_CMPINT_NE
#define INTEGER_lt _MM_CMPINT_LT
#define INTEGER_le _MM_CMPINT_LE
#define INTEGER_gt _MM_CMPINT_NLE
#define INTEGER_ge _MM_CMPINT_NLT
#define FLOAT_eq  _CMP_EQ_OQ
#define FLOAT_ne  _CMP_NEQ_OQ
#define FLOAT_lt  _CMP_LT_OQ
#define FLOAT_le  _CMP_LE_OQ
#define FLOAT_gt  _CMP_GT_OQ
#define FLOAT_ge  _CMP_GE_OQ
#define FLOAT_equ _CMP_EQ_UQ
#define FLOAT_neu _CMP_NEQ_UQ
#define FLOAT_ltu _CMP_NGE_UQ
#define FLOAT_leu _CMP_NGT_UQ
#define FLOAT_gtu _CMP_NLE_UQ
#define FLOAT_geu _CMP_NLT_UQ
#define FLOAT_num _CMP_ORD_Q
#define FLOAT_nan _CMP_UNORD_Q
#define AT_u16(p) _mm512_loadu_si512(p)
#define AT_s16 AT_u16
#define AT_u32 AT_u16
#define AT_s32 AT_u16
#define AT_u64 AT_u16
#define AT_s64 AT_u16
#define AT_f32(p) _mm512_loadu_ps(p)
#define AT_f64(p) _mm512_loadu_pd(p)
#define ALL_u16(v) _mm512_set1_epi16((int16_t)(v))
#define ALL_s16 ALL_u16
#define ALL_u32(v) _mm512_set1_epi32((int32_t)(v))
#define ALL_s32 ALL_u32
#define ALL_u64(v) _mm512_set1_epi64((int64_t)(v))
#define ALL_s64 ALL_u64
#define ALL_f32(v) _mm512_set1_ps(v)
#define ALL_f64(v) _mm512_set1_pd(v)
#define BITS_u16(a, b, how) _mm512_cmp_epu16_mask(a, b, INTEGER_##how)
#define BITS_s16(a, b, how) _mm512_cmp_epi16_mask(a, b, INTEGER_##how)
#define BITS_u32(a, b, how) _mm512_cmp_epu32_mask(a, b, INTEGER_##how)
#define BITS_s32(a, b, how) _mm512_cmp_epi32_mask(a, b, INTEGER_##how)
#define BITS_u64(a, b, how) _mm512_cmp_epu64_mask(a, b, INTEGER_##how)
#define BITS_s64(a, b, how) _mm512_cmp_epi64_mask(a, b, INTEGER_##how)
#define BITS_f32(a, b, how) _mm512_cmp_ps_mask(a, b, FLOAT_##how)
#define BITS_f64(a, b, how) _mm512_cmp_pd_mask(a, b, FLOAT_##how)
/* All lanes, whoever executes: halves that stay in registers beat stored words, which a wider load would have to wait for. */
#define COMPARE_ALL(A, how, second) \
    enum { COUNT = 64 / sizeof(slot_##A) }; \
    uint64_t low = 0, high = 0; \
    _Pragma("GCC unroll 8") for (size_t k = 0; k < 64; k += COUNT) low |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << k; \
    _Pragma("GCC unroll 8") for (size_t k = 64; k < 128; k += COUNT) high |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << (k - 64); \
    result.mask = low | (lw_mask)high << 64
#define LW_COMPARE_STEPS(name, D, A, B, takes, how) COMPARE_RRR(name, D, A, B, how) COMPARES_##takes(name, D, A, B, how)
#define COMPARES_r(name, D, A, B, how)
#define COMPARES_i COMPARE_RRI
#define COMPARES_i_ri(name, D, A, B, how) COMPARE_RRI(name, D, A, B, how) LOOP2_RIR(name, D, A, B) /* rare: left to the compiler */
#define COMPARE_RRR(name, D, A, B, how) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        COMPARE_ALL(A, how, AT_##B(b + k)); \
        END(D); \
    }
#define COMPARE_RRI(name, D, A, B, how) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); RESULT(D); \
        const c_##B number = CONSTANT(B, op->imm); \
        COMPARE_ALL(A, how, ALL_##B(number)); \
        END(D); \
    }

/* ---- Shifts --------------------------------------------------------------------------------------------------- */

/* Like PTX, the instructions take any amount: beyond the width they give zero, or the sign. Compilers widen 16-bit lanes for them and look
 * at the amount. */
#define UNIT_left_u16  sll
#define UNIT_left_u32  sll
#define UNIT_left_u64  sll
#define UNIT_right_u16 srl
#define UNIT_right_u32 srl
#define UNIT_right_u64 srl
#define UNIT_right_s16 sra
#define UNIT_right_s32 sra
#define UNIT_right_s64 sra
#define BITS_OF_u16 16
#define BITS_OF_s16 16
#define BITS_OF_u32 32
#define BITS_OF_s32 32
#define BITS_OF_u64 64
#define BITS_OF_s64 64
#define UNIT__(how, each, bits) _mm512_##how##each##_epi##bits
#define UNIT_(how, each, bits) UNIT__(how, each, bits)
#define UNIT_EACH(how, A) UNIT_(UNIT_##how##_##A, v, BITS_OF_##A) /* amounts lane by lane, as wide as words */
#define UNIT_ALL(how, A)  UNIT_(UNIT_##how##_##A, , BITS_OF_##A)  /* one amount for all */
#define SHIFT_RRR(name, D, A, B, how) \
    STEP_HEAD(name, rrr) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, UNIT_EACH(how, A)(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))); \
        return op + 1; \
    }
#define SHIFT_RRI(name, D, A, B, how) \
    STEP_HEAD(name, rri) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); RESULT(D); \
        const __m128i n = _mm_cvtsi64_si128((long long)(c_##B)op->imm); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, UNIT_ALL(how, A)(_mm512_loadu_si512(a + i), n)); \
        return op + 1; \
    }
#define SHIFTS_r(name, D, A, B, how)
#define SHIFTS_i SHIFT_RRI
#define LOOPS_RRR(name, D, A, B, how) LOOP2_RRR(name, D, A, B)
#define SHIFTS_BY_u16 LOOPS_RRR /* amounts of 32 bits fit words of 32 alone */
#define SHIFTS_BY_s16 LOOPS_RRR
#define SHIFTS_BY_u32 SHIFT_RRR
#define SHIFTS_BY_s32 SHIFT_RRR
#define SHIFTS_BY_u64 LOOPS_RRR
#define SHIFTS_BY_s64 LOOPS_RRR
#define LW_SHIFT_STEPS(name, D, A, B, takes, how) SHIFTS_BY_##A(name, D, A, B, how) SHIFTS_##takes(name, D, A, B, how)
#define LW_COUNT_STEPS(name, D, A, B, takes, how) SHIFT_RRR(name, D, A, B, how) SHIFTS_##takes(name, D, A, B, how)

/* Funnel shifts from two plain ones, which give zero for an amount of 32. */
#define AMOUNT_wrap(c) _mm512_and_si512(c, _mm512_set1_epi32(31))
#define AMOUNT_clamp(c) _mm512_min_epu32(c, _mm512_set1_epi32(32))
#define FUNNEL_left(a, b, n, rest) _mm512_or_si512(_mm512_sllv_epi32(b, n), _mm512_srlv_epi32(a, rest))
#define FUNNEL_right(a, b, n, rest) _mm512_or_si512(_mm512_srlv_epi32(a, n), _mm512_sllv_epi32(b, rest))
#define FUNNEL_BODY(direction, amount) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
        _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) { \
            const __m512i n = amount, rest = _mm512_sub_epi32(_mm512_set1_epi32(32), n); \
            _mm512_storeu_si512(to + i, FUNNEL_##direction(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), n, rest)); \
        }
#define LW_FUNNEL_STEPS(name, D, A, B, C, takes, how, mode) FUNNEL_RRR(name, how, mode) FUNNELS_##takes(name, how, mode)
#define FUNNELS_i FUNNEL_RRI
#define FUNNEL_RRR(name, how, mode) \
    STEP_HEAD(name, rrr) { \
        SOURCE(u32, op->a, a); SOURCE(u32, op->b, b); SOURCE(u32, op->c, c); RESULT(u32); \
        FUNNEL_BODY(how, AMOUNT_##mode(_mm512_loadu_si512(c + i))) \
        return op + 1; \
    }
#define FUNNEL_RRI(name, how, mode) \
    STEP_HEAD(name, rri) { \
        SOURCE(u32, op->a, a); SOURCE(u32, op->b, b); RESULT(u32); \
        const __m512i all = AMOUNT_##mode(_mm512_set1_epi32((int)op->imm)); \
        FUNNEL_BODY(how, all) \
        return op + 1; \
    }

/* Rotates by constants: compilers make shifts of them where the amount is known at run time only, though the level has rotates. */
#define LW_ROTATE_STEPS
#define LW_ROTATE_STEPS2(name, ...) ROTATE_STEP(name)
#define LW_ROTATE_STEPS3(name, ...) ROTATE_STEP(name)
#define ROTATE_STEP(name) \
    STEP_HEAD(name, rri) { \
        const __m512i n0 = _mm512_set1_epi32((int)(op->imm & 31)), n1 = _mm512_set1_epi32((int)(op->imm >> 8 & 31)); \
        const __m512i n2 = _mm512_set1_epi32((int)(op->imm >> 16 & 31)); \
        (void)n1, (void)n2; \
        SOURCE(u32, op->a, a_at); SECOND_##name; RESULT(u32); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) { \
                const __m512i a = _mm512_loadu_si512(a_at + i); \
                _mm512_storeu_si512(to + i, VALUE_##name); \
            } \
        return op + 1; \
    }
#define SECOND_rotl_b32 (void)0
#define VALUE_rotl_b32 _mm512_rolv_epi32(a, n0)
#define SECOND_xor_rotl_b32 SOURCE(u32, op->b, b_at)
#define VALUE_xor_rotl_b32 _mm512_rolv_epi32(_mm512_xor_si512(a, _mm512_loadu_si512(b_at + i)), n0)
#define SECOND_add_rotl_b32 SOURCE(u32, op->b, b_at)
#define VALUE_add_rotl_b32 _mm512_rolv_epi32(_mm512_add_epi32(a, _mm512_loadu_si512(b_at + i)), n0)
#define SECOND_xor_rot3_b32 (void)0
#define VALUE_xor_rot3_b32 _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_rolv_epi32(a, n2), 0x96)
#define SECOND_xor_rot2_shr_b32 (void)0
#define VALUE_xor_rot2_shr_b32 _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_srlv_epi32(a, n2), 0x96)

#define LW_LOP3_LOOP(lut) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) \
    for (size_t i = base; i < base + 32; i += 16) \
    _mm512_storeu_si512(to + i, _mm512_ternarylogic_epi32(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), \
                                                          _mm512_loadu_si512(c + i), lut))

/* ---- Fused operations ----------------------------------------------------------------------------------------- */

#define lw_add_xor_rotl lw_add_xor_rotl
static inline void lw_add_xor_rotl(const lw_gang *gang, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t n, uint32_t *sum,
                                   uint32_t *turned) {
    const __m512i amount = _mm512_set1_epi32((int)n);
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES)
        _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) {
            const __m512i s = _mm512_add_epi32(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
            const __m512i x = _mm512_xor_si512(s, _mm512_loadu_si512(c + i));
            _mm512_storeu_si512(sum + i, s);
            _mm512_storeu_si512(turned + i, _mm512_rolv_epi32(x, amount));
        }
}

#define lw_add_setp lw_add_setp
LW_INLINE lw_mask lw_add_setp(lw_gang *gang, const lw_op *op, const uint32_t *a, const uint32_t *b, bool whole) {
    enum { VECTORS = LW_GANG_LANES / 16 };
    uint32_t *slot = LW_SLOT(gang, uint32_t, op->d);
    const __m512i more = _mm512_set1_epi32((int)op->imm);
    __m512i sum[VECTORS];
    _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) sum[v] = _mm512_add_epi32(_mm512_loadu_si512(a + 16 * v), more);
    uint64_t half[2] = {0, 0};
    switch (op->c) {
#define COMPARE_SUMS(name, T, how) \
    case LW_LANE_setp_##name: \
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) \
            half[v / 4] |= (uint64_t)BITS_##T(sum[v], _mm512_loadu_si512(b + 16 * v), how) << v % 4 * 16; \
        break;
    LW_ADD_SETP(COMPARE_SUMS)
#undef COMPARE_SUMS
    default: lw_bug("comparison %u of a sum", op->c);
    }
    if (whole) {
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) _mm512_storeu_si512(slot + 16 * v, sum[v]);
    } else {
        const uint64_t low = (uint64_t)gang->mask, high = (uint64_t)(gang->mask >> 64);
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_epi32(slot + 16 * v, (__mmask16)((v < 4 ? low : high) >> v % 4 * 16), sum[v]);
    }
    return half[0] | (lw_mask)half[1] << 64;
}

#include "run/interp/isa/generic.h"

#endif
