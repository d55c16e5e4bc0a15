/* x86_avx512.h: x86-64 with AVX-512 (F, BW, CD, DQ, VL): vectors of 64 bytes and mask registers. */
#ifndef LW_ISA_X86_AVX512_H
#define LW_ISA_X86_AVX512_H

#include <immintrin.h>

/* ---- Masks ------------------------------------------------------------------------------------------------ */

#define lw_blend lw_blend
#define LW_BLEND(bits, count) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, \
                                       const uint##bits##_t *b, const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            _Pragma("GCC unroll 4") for (size_t i = 0; i < 32; i += count) _mm512_storeu_si512( \
                to + base + i, _mm512_mask_loadu_epi##bits(_mm512_loadu_si512(b + base + i), \
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

#define lw_is_zero lw_is_zero
LW_INLINE bool lw_is_zero(lw_vector x) { return _mm512_test_epi64_mask((__m512i)x, (__m512i)x) == 0; }

#define LW_GATHER_32(values, w, type, host, at) LW_GATHER_32_##w(values, type, host, at)
#define LW_GATHER_32_32(values, type, host, at) \
    (values) = (chunk32)_mm512_i32gather_epi32(_mm512_loadu_si512(at), (const void *)(host), 1);
#define LW_GATHER_32_64(values, type, host, at) \
    { \
        const __m256i narrow_ = \
            _mm256_i32gather_epi32((const int *)(host), _mm256_loadu_si256((const __m256i_u *)(at)), 1); \
        (values) = (chunk64)((type)-1 < (type)1 ? _mm512_cvtepi32_epi64(narrow_) : _mm512_cvtepu32_epi64(narrow_)); \
    }
#define LW_GATHER_64(values, w, type, host, at) \
    (values) = (chunk64)_mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i_u *)(at)), (const void *)(host), 1);

#define lw_move_among lw_move_among
#define MOVE_AMONG(bits, count_of) \
    static inline void lw_move_among_##bits(lw_any##bits *to, const lw_any##bits *from, uint32_t count, \
                                            lw_mask lanes) { \
        for (uint32_t i = 0; i < count; i += count_of) { \
            const __mmask##count_of word = (__mmask##count_of)(lanes >> i); \
            _mm512_mask_storeu_epi##bits(to + i, word, _mm512_maskz_loadu_epi##bits(word, from + i)); \
        } \
    }
MOVE_AMONG(16, 32)
MOVE_AMONG(32, 16)
MOVE_AMONG(64, 8)
#undef MOVE_AMONG

#define LW_PREDICATE_BODY(expression) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) { \
        _Alignas(64) int32_t word[LW_WARP_LANES]; \
        LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++) word[k] = -(int32_t)(expression); \
        result.warps[base / LW_WARP_LANES] = _mm512_movepi32_mask(_mm512_load_si512(word)) | \
                                             (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(word + 16)) << 16; \
    }

/* ---- Comparisons straight into mask bits -------------------------------------------------------------------- */

#define INTEGER_eq          _MM_CMPINT_EQ
#define INTEGER_ne          _MM_CMPINT_NE
#define INTEGER_lt          _MM_CMPINT_LT
#define INTEGER_le          _MM_CMPINT_LE
#define INTEGER_gt          _MM_CMPINT_NLE
#define INTEGER_ge          _MM_CMPINT_NLT
#define FLOAT_eq            _CMP_EQ_OQ
#define FLOAT_ne            _CMP_NEQ_OQ
#define FLOAT_lt            _CMP_LT_OQ
#define FLOAT_le            _CMP_LE_OQ
#define FLOAT_gt            _CMP_GT_OQ
#define FLOAT_ge            _CMP_GE_OQ
#define FLOAT_equ           _CMP_EQ_UQ
#define FLOAT_neu           _CMP_NEQ_UQ
#define FLOAT_ltu           _CMP_NGE_UQ
#define FLOAT_leu           _CMP_NGT_UQ
#define FLOAT_gtu           _CMP_NLE_UQ
#define FLOAT_geu           _CMP_NLT_UQ
#define FLOAT_num           _CMP_ORD_Q
#define FLOAT_nan           _CMP_UNORD_Q
#define AT_u16(p)           _mm512_loadu_si512(p)
#define AT_s16              AT_u16
#define AT_u32              AT_u16
#define AT_s32              AT_u16
#define AT_u64              AT_u16
#define AT_s64              AT_u16
#define AT_f32(p)           _mm512_loadu_ps(p)
#define AT_f64(p)           _mm512_loadu_pd(p)
#define ALL_u16(v)          _mm512_set1_epi16((int16_t)(v))
#define ALL_s16             ALL_u16
#define ALL_u32(v)          _mm512_set1_epi32((int32_t)(v))
#define ALL_s32             ALL_u32
#define ALL_u64(v)          _mm512_set1_epi64((int64_t)(v))
#define ALL_s64             ALL_u64
#define ALL_f32(v)          _mm512_set1_ps(v)
#define ALL_f64(v)          _mm512_set1_pd(v)
#define BITS_u16(a, b, how) _mm512_cmp_epu16_mask(a, b, INTEGER_##how)
#define BITS_s16(a, b, how) _mm512_cmp_epi16_mask(a, b, INTEGER_##how)
#define BITS_u32(a, b, how) _mm512_cmp_epu32_mask(a, b, INTEGER_##how)
#define BITS_s32(a, b, how) _mm512_cmp_epi32_mask(a, b, INTEGER_##how)
#define BITS_u64(a, b, how) _mm512_cmp_epu64_mask(a, b, INTEGER_##how)
#define BITS_s64(a, b, how) _mm512_cmp_epi64_mask(a, b, INTEGER_##how)
#define BITS_f32(a, b, how) _mm512_cmp_ps_mask(a, b, FLOAT_##how)
#define BITS_f64(a, b, how) _mm512_cmp_pd_mask(a, b, FLOAT_##how)
/* All lanes, whoever executes: halves that stay in registers beat stored words, which a wider load would have to wait
 * for. */
#define COMPARE_ALL(A, how, second) \
    enum { COUNT = 64 / sizeof(slot_##A) }; \
    uint64_t low = 0, high = 0; \
    _Pragma("GCC unroll 8") for (size_t k = 0; k < 64; k += COUNT) \
        low |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << k; \
    _Pragma("GCC unroll 8") for (size_t k = 64; k < 128; k += COUNT) \
        high |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << (k - 64); \
    result.mask = low | (lw_mask)high << 64
#define LW_COMPARE_STEPS(name, D, A, B, takes, how) COMPARE_RRR(name, D, A, B, how) COMPARES_##takes(name, D, A, B, how)
#define COMPARES_r(name, D, A, B, how)
#define COMPARES_i COMPARE_RRI
#define COMPARES_i_ri(name, D, A, B, how) \
    COMPARE_RRI(name, D, A, B, how) LOOP2_RIR(name, D, A, B) /* rare: left to the compiler */
#define COMPARE_RRR(name, D, A, B, how) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        RESULT(D); \
        COMPARE_ALL(A, how, AT_##B(b + k)); \
        END(D); \
    }
#define COMPARE_RRI(name, D, A, B, how) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); \
        RESULT(D); \
        const c_##B number = CONSTANT(B, op->imm); \
        COMPARE_ALL(A, how, ALL_##B(number)); \
        END(D); \
    }

/* ---- Shifts --------------------------------------------------------------------------------------------------- */

/* Like PTX, the instructions take any amount: beyond the width they give zero, or the sign. Compilers widen 16-bit
 * lanes for them and look at the amount. */
#define UNIT_left_u16           sll
#define UNIT_left_u32           sll
#define UNIT_left_u64           sll
#define UNIT_right_u16          srl
#define UNIT_right_u32          srl
#define UNIT_right_u64          srl
#define UNIT_right_s16          sra
#define UNIT_right_s32          sra
#define UNIT_right_s64          sra
#define BITS_OF_u16             16
#define BITS_OF_s16             16
#define BITS_OF_u32             32
#define BITS_OF_s32             32
#define BITS_OF_u64             64
#define BITS_OF_s64             64
#define UNIT__(how, each, bits) _mm512_##how##each##_epi##bits
#define UNIT_(how, each, bits)  UNIT__(how, each, bits)
#define UNIT_EACH(how, A)       UNIT_(UNIT_##how##_##A, v, BITS_OF_##A) /* amounts lane by lane, as wide as words */
#define UNIT_ALL(how, A)        UNIT_(UNIT_##how##_##A, , BITS_OF_##A)  /* one amount for all */
#define SHIFT_RRR(name, D, A, B, how) \
    STEP_HEAD(name, rrr) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        RESULT(D); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, UNIT_EACH(how, A)(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))); \
        return op + 1; \
    }
#define SHIFT_RRI(name, D, A, B, how) \
    STEP_HEAD(name, rri) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); \
        RESULT(D); \
        const __m128i n = _mm_cvtsi64_si128((long long)(c_##B)op->imm); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, UNIT_ALL(how, A)(_mm512_loadu_si512(a + i), n)); \
        return op + 1; \
    }
#define SHIFTS_r(name, D, A, B, how)
#define SHIFTS_i                                  SHIFT_RRI
#define LOOPS_RRR(name, D, A, B, how)             LOOP2_RRR(name, D, A, B)
#define SHIFTS_BY_u16                             LOOPS_RRR /* amounts of 32 bits fit words of 32 alone */
#define SHIFTS_BY_s16                             LOOPS_RRR
#define SHIFTS_BY_u32                             SHIFT_RRR
#define SHIFTS_BY_s32                             SHIFT_RRR
#define SHIFTS_BY_u64                             LOOPS_RRR
#define SHIFTS_BY_s64                             LOOPS_RRR
#define LW_SHIFT_STEPS(name, D, A, B, takes, how) SHIFTS_BY_##A(name, D, A, B, how) SHIFTS_##takes(name, D, A, B, how)
#define LW_COUNT_STEPS(name, D, A, B, takes, how) SHIFT_RRR(name, D, A, B, how) SHIFTS_##takes(name, D, A, B, how)

/* Funnel shifts from two plain ones, which give zero for an amount of 32. */
#define AMOUNT_wrap(c)              _mm512_and_si512(c, _mm512_set1_epi32(31))
#define AMOUNT_clamp(c)             _mm512_min_epu32(c, _mm512_set1_epi32(32))
#define FUNNEL_left(a, b, n, rest)  _mm512_or_si512(_mm512_sllv_epi32(b, n), _mm512_srlv_epi32(a, rest))
#define FUNNEL_right(a, b, n, rest) _mm512_or_si512(_mm512_srlv_epi32(a, n), _mm512_sllv_epi32(b, rest))
#define FUNNEL_AT(to, i, direction, amount) \
    { \
        const __m512i n = amount, rest = _mm512_sub_epi32(_mm512_set1_epi32(32), n); \
        _mm512_storeu_si512(to + i, \
                            FUNNEL_##direction(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), n, rest)); \
    }
#define FUNNEL_BODY(direction, amount) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
    _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) FUNNEL_AT(to, i, direction, amount)
/* Elements i … i + 16 of `to`. The compiler's lane functions are made of it, too: LLVM's own funnel shift has one more
 * shift, so that none is by 32. */
#define LW_FUNNEL(to, i, direction, mode)                   FUNNEL_AT(to, i, direction, AMOUNT_##mode(_mm512_loadu_si512(c + i)))
#define LW_FUNNEL_STEPS(name, D, A, B, C, takes, how, mode) FUNNEL_RRR(name, how, mode) FUNNELS_##takes(name, how, mode)
#define FUNNELS_i                                           FUNNEL_RRI
#define FUNNEL_RRR(name, how, mode) \
    STEP_HEAD(name, rrr) { \
        SOURCE(u32, op->a, a); \
        SOURCE(u32, op->b, b); \
        SOURCE(u32, op->c, c); \
        RESULT(u32); \
        FUNNEL_BODY(how, AMOUNT_##mode(_mm512_loadu_si512(c + i))) \
        return op + 1; \
    }
#define FUNNEL_RRI(name, how, mode) \
    STEP_HEAD(name, rri) { \
        SOURCE(u32, op->a, a); \
        SOURCE(u32, op->b, b); \
        RESULT(u32); \
        const __m512i all = AMOUNT_##mode(_mm512_set1_epi32((int)op->imm)); \
        FUNNEL_BODY(how, all) \
        return op + 1; \
    }

/* Rotates by constants: compilers make shifts of them where the amount is known at run time only, though the level has
 * rotates. */
#define LW_ROTATE_STEPS
#define LW_ROTATE_STEPS2(name, ...) ROTATE_STEP(name)
#define LW_ROTATE_STEPS3(name, ...) ROTATE_STEP(name)
#define ROTATE_STEP(name) \
    STEP_HEAD(name, rri) { \
        const __m512i n0 = _mm512_set1_epi32((int)(op->imm & 31)), n1 = _mm512_set1_epi32((int)(op->imm >> 8 & 31)); \
        const __m512i n2 = _mm512_set1_epi32((int)(op->imm >> 16 & 31)); \
        (void)n1, (void)n2; \
        SOURCE(u32, op->a, a_at); \
        SECOND_##name; \
        RESULT(u32); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) { \
                const __m512i a = _mm512_loadu_si512(a_at + i); \
                _mm512_storeu_si512(to + i, VALUE_##name); \
            } \
        return op + 1; \
    }
#define SECOND_rotl_b32     (void)0
#define VALUE_rotl_b32      _mm512_rolv_epi32(a, n0)
#define SECOND_xor_rotl_b32 SOURCE(u32, op->b, b_at)
#define VALUE_xor_rotl_b32  _mm512_rolv_epi32(_mm512_xor_si512(a, _mm512_loadu_si512(b_at + i)), n0)
#define SECOND_add_rotl_b32 SOURCE(u32, op->b, b_at)
#define VALUE_add_rotl_b32  _mm512_rolv_epi32(_mm512_add_epi32(a, _mm512_loadu_si512(b_at + i)), n0)
#define SECOND_xor_rot3_b32 (void)0
#define VALUE_xor_rot3_b32 \
    _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_rolv_epi32(a, n2), 0x96)
#define SECOND_xor_rot2_shr_b32 (void)0
#define VALUE_xor_rot2_shr_b32 \
    _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_srlv_epi32(a, n2), 0x96)

#define LW_LOP3_LOOP(lut) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) \
        for (size_t i = base; i < base + 32; i += 16) \
    _mm512_storeu_si512(to + i, _mm512_ternarylogic_epi32(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), \
                                                          _mm512_loadu_si512(c + i), lut))

/* ---- Fused operations ----------------------------------------------------------------------------------------- */

#define lw_add_xor_rotl lw_add_xor_rotl
static inline void lw_add_xor_rotl(const lw_gang *gang, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                   uint32_t n, uint32_t *sum, uint32_t *turned) {
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
    _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)
        sum[v] = _mm512_add_epi32(_mm512_loadu_si512(a + 16 * v), more);
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

/* ---- Shifts of vector registers: the vector unit's take any count, as the lane functions do -------------------- */

#define MASK_16                  __mmask32
#define MASK_32                  __mmask16
#define MASK_64                  __mmask8
#define UNIT_MASKED__(how, bits) _mm512_mask_##how##v_epi##bits
#define UNIT_MASKED_(how, bits)  UNIT_MASKED__(how, bits)
#define UNIT_MASKED(how, A)      UNIT_MASKED_(UNIT_##how##_##A, BITS_OF_##A)
#define LW_SHIFT_FUNCTIONS(name, slot, A, B, bits, how) \
    static inline void name##_masked(const lw_gang *gang, slot *to, const slot *a, const slot *b, const slot *c, \
                                     const lw_mask *mask) { \
        enum { COUNT = 512 / bits }; \
        for (size_t base = gang->begin; base < gang->lanes; base += LW_WARP_LANES) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            _Pragma("GCC unroll 4") for (size_t i = 0; i < LW_WARP_LANES; i += COUNT) { \
                const __m512i x = _mm512_loadu_si512(a + base + i), n = _mm512_loadu_si512(b + base + i), \
                              rest = _mm512_loadu_si512(c + base + i); \
                _mm512_storeu_si512(to + base + i, UNIT_MASKED(how, A)(rest, (MASK_##bits)(word >> i), x, n)); \
            } \
        } \
    } \
    static inline void all_##name(const lw_gang *gang, slot *to, const slot *a, const slot *b) { \
        enum { COUNT = 512 / bits }; \
        for (size_t base = gang->begin; base < gang->lanes; base += COUNT) \
            _mm512_storeu_si512(to + base, \
                                UNIT_EACH(how, A)(_mm512_loadu_si512(a + base), _mm512_loadu_si512(b + base))); \
    }

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

#define lw_row_load       lw_row_load
/* A mask as words, to take as many bits as a vector has lanes. */
#define EACH_VECTOR(w, i) for (uint32_t i = gang->begin; i < gang->lanes; i += 512 / (w))
#define ON_16(mask, i)    (__mmask32) lw_mask_bits(&(mask), i)
#define ON_32(mask, i)    (__mmask16)(lw_mask_bits(&(mask), (i) & ~31u) >> ((i)&31))
#define ON_64(mask, i)    (__mmask8)(lw_mask_bits(&(mask), (i) & ~31u) >> ((i)&31))
/* What lanes have that the row leaves out: their own value, or 0 in those that execute. */
#define LEFT_OUT(w, gang, to, i, zero) \
    ((zero) ? _mm512_mask_mov_epi##w(_mm512_loadu_si512((to) + (i)), ON_##w((gang)->mask, i), _mm512_setzero_si512()) \
            : _mm512_loadu_si512((to) + (i)))
/* All lanes of all warps that loops run over. Not by gang->active: a guard narrows the mask alone. */
static inline bool lw_is_whole(const lw_gang *gang, lw_mask lanes) {
    return lw_mask_count(lanes) == gang->lanes - gang->begin;
}
#define ROW_SAME(w) \
    static inline void lw_row_load_##w(lw_gang *gang, lw_any##w *to, const lw_any##w *from, lw_mask lanes, \
                                       bool zero) { \
        if (LW_LIKELY(lw_is_whole(gang, lanes))) { \
            EACH_VECTOR(w, i) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i)); \
            return; \
        } \
        EACH_VECTOR(w, i) { \
            const __m512i old = LEFT_OUT(w, gang, to, i, zero); \
            _mm512_storeu_si512(to + i, _mm512_mask_loadu_epi##w(old, ON_##w(lanes, i), from + i)); \
        } \
    } \
    static inline void lw_row_store_##w(lw_gang *gang, lw_any##w *to, const lw_any##w *from, lw_mask lanes) { \
        if (LW_LIKELY(lw_is_whole(gang, lanes))) { \
            EACH_VECTOR(w, i) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i)); \
            return; \
        } \
        EACH_VECTOR(w, i) _mm512_mask_storeu_epi##w(to + i, ON_##w(lanes, i), _mm512_loadu_si512(from + i)); \
    }
ROW_SAME(16)
ROW_SAME(32)
ROW_SAME(64)
static inline void lw_row_load_8(lw_gang *gang, lw_any16 *to, const lw_any8 *from, lw_mask lanes, bool zero,
                                 bool is_signed) {
    EACH_VECTOR(16, i) {
        const __m512i old = LEFT_OUT(16, gang, to, i, zero);
        const __m256i bytes = _mm256_maskz_loadu_epi8(ON_16(lanes, i), from + i);
        const __m512i wide = is_signed ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes);
        _mm512_storeu_si512(to + i, _mm512_mask_mov_epi16(old, ON_16(lanes, i), wide));
    }
}
static inline void lw_row_store_8(lw_gang *gang, lw_any8 *to, const lw_any16 *from, lw_mask lanes) {
    EACH_VECTOR(16, i) _mm512_mask_cvtepi16_storeu_epi8(to + i, ON_16(lanes, i), _mm512_loadu_si512(from + i));
}

/* ---- Shuffles -------------------------------------------------------------------------------------------------- */

#define lw_shuffle_segments lw_shuffle_segments
/* Sixteen lanes: what c says of them. */
typedef struct lw_segment {
    __m512i lane, mask, least, most;
} lw_segment;

static inline lw_segment lw_find_segment(uint32_t first, __m512i c) {
    const __m512i low5 = _mm512_set1_epi32(31),
                  lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    lw_segment s = {.lane = _mm512_add_epi32(lane, _mm512_set1_epi32((int)first))};
    s.mask = _mm512_and_si512(_mm512_srli_epi32(c, 8), low5);
    s.least = _mm512_and_si512(s.lane, s.mask);
    s.most = _mm512_or_si512(s.least, _mm512_and_si512(_mm512_andnot_si512(s.mask, c), low5));
    return s;
}

/* Where each reads, and whether that is in range. */
static inline __m512i lw_find_sources(lw_shuffle_mode mode, const lw_segment *s, __m512i b, __mmask16 *in_range) {
    __m512i source = s->lane;
    b = _mm512_and_si512(b, _mm512_set1_epi32(31));
    switch (mode) {
    case LW_SHUFFLE_up: source = _mm512_sub_epi32(s->lane, b); break;
    case LW_SHUFFLE_down: source = _mm512_add_epi32(s->lane, b); break;
    case LW_SHUFFLE_bfly: source = _mm512_xor_si512(s->lane, b); break;
    case LW_SHUFFLE_idx: source = _mm512_or_si512(s->least, _mm512_andnot_si512(s->mask, b)); break;
    }
    *in_range = mode == LW_SHUFFLE_up ? _mm512_cmpge_epi32_mask(source, s->most)
                                      : _mm512_cmple_epi32_mask(source, s->most);
    return _mm512_mask_mov_epi32(s->lane, *in_range, source);
}

static inline void lw_load_control(const uint32_t *slot, uint32_t constant, uint32_t warp, __m512i *low,
                                   __m512i *high) {
    *low = slot ? _mm512_loadu_si512(slot + 32 * warp) : _mm512_set1_epi32((int)constant);
    *high = slot ? _mm512_loadu_si512(slot + 32 * warp + 16) : *low;
}

typedef struct lw_segments {
    lw_segment low, high; /* of lanes 0-15 and 16-31 */
} lw_segments;

typedef struct lw_sources {
    __m512i low, high;
    __mmask16 low_in_range, high_in_range;
} lw_sources;

static inline uint32_t lw_in_range_of(const lw_sources *sources) {
    return sources->low_in_range | (uint32_t)sources->high_in_range << 16;
}

static inline void lw_find_warp_segments(const lw_controls *controls, uint32_t warp, lw_segments *segments) {
    __m512i low, high;
    lw_load_control(controls->c, controls->c_constant, warp, &low, &high);
    segments->low = lw_find_segment(0, low);
    segments->high = lw_find_segment(16, high);
}

static inline void lw_find_warp_sources(lw_shuffle_mode mode, const lw_controls *controls, const lw_segments *segments,
                                        uint32_t warp, lw_sources *sources) {
    __m512i b_low, b_high;
    lw_load_control(controls->b, controls->b_constant, warp, &b_low, &b_high);
    sources->low = lw_find_sources(mode, &segments->low, b_low, &sources->low_in_range);
    sources->high = lw_find_sources(mode, &segments->high, b_high, &sources->high_in_range);
}

/* readable: the lanes that count as they are in the table; the active ones are among them. */
static inline void lw_shuffle_warp(uint32_t *to, const uint32_t *from, uint32_t active, uint32_t readable,
                                   const lw_sources *sources) {
    if (LW_LIKELY(active == UINT32_MAX)) { /* without masks, which loads of the result would have to wait for */
        __m512i all_low = _mm512_loadu_si512(from), all_high = _mm512_loadu_si512(from + 16);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi32(all_low, sources->low, all_high));
        _mm512_storeu_si512(to + 16, _mm512_permutex2var_epi32(all_low, sources->high, all_high));
        return;
    }
    __mmask16 low = (__mmask16)active, high = (__mmask16)(active >> 16);
    __m512i table_low = _mm512_maskz_loadu_epi32((__mmask16)readable, from);
    __m512i table_high = _mm512_maskz_loadu_epi32((__mmask16)(readable >> 16), from + 16);
    _mm512_mask_storeu_epi32(to, low, _mm512_permutex2var_epi32(table_low, sources->low, table_high));
    _mm512_mask_storeu_epi32(to + 16, high, _mm512_permutex2var_epi32(table_low, sources->high, table_high));
}

/* The active lanes that read one that is not. */
static inline uint32_t lw_lanes_in_vain(uint32_t active, const lw_sources *sources) {
    const __m512i bits = _mm512_set1_epi32((int)active), one = _mm512_set1_epi32(1);
    uint32_t low = _mm512_testn_epi32_mask(_mm512_sllv_epi32(one, sources->low), bits);
    uint32_t high = _mm512_testn_epi32_mask(_mm512_sllv_epi32(one, sources->high), bits);
    return active & (low | high << 16);
}

/* ---- Half precision --------------------------------------------------------------------------------------------- */

#define lw_larger lw_larger
LW_INLINE lw_vector lw_larger(lw_vector a, lw_vector b) { return (lw_vector)_mm512_max_epi32((__m512i)a, (__m512i)b); }

#define lw_add_dots lw_add_dots
LW_INLINE lw_vector lw_add_dots(lw_vector sum, uint32_t a, lw_vector b) {
    const __m512i products = _mm512_madd_epi16(_mm512_set1_epi32((int)a), (__m512i)b);
    return (lw_vector)_mm512_add_epi32((__m512i)sum, products);
}

typedef float lw_floats __attribute__((vector_size(64)));
LW_INLINE lw_floats lw_widen_f16(const uint16_t *from) {
    return (lw_floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}
LW_INLINE void lw_narrow_f16(uint16_t *to, lw_floats a) {
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph((__m512)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#include "run/interp/isa/x86_half.h"
#include "run/interp/isa/x86_rounded.h"

#include "run/interp/isa/generic.h"

#endif
