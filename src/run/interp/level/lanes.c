/* lanes.c: the steps of all lane functions, and the table of all steps, for one CPU level.
 *
 * Each step computes all lanes unmasked, in a loop that the compiler turns into vector code, straight into the result's slot where
 * every lane takes part and into scratch otherwise; then one shared commit blends the active lanes in. Testing the mask
 * inside the loop costs three to ten times as much. */
#include "run/interp/interp.h"
#include "run/interp/inner.h"
#include "run/interp/level/level.h"
#include "run/interp/types.h"

extern lw_step *const LW_AT_LEVEL(lw_steps)[LW_OP_count];

/* Where an operand's elements are: a register slot, or for predicates one byte a lane spread out from its bits. */
#define SOURCE(T, at, room) SOURCE_##T(T, at, room)
#define PLAIN(T, at, room)  const slot_##T *room = LW_SLOT(gang, slot_##T, at)
#define SOURCE_u8  PLAIN
#define SOURCE_s8  PLAIN
#define SOURCE_u16 PLAIN
#define SOURCE_s16 PLAIN
#define SOURCE_u32 PLAIN
#define SOURCE_s32 PLAIN
#define SOURCE_u64 PLAIN
#define SOURCE_s64 PLAIN
#define SOURCE_f32 PLAIN
#define SOURCE_f64 PLAIN
#define SOURCE_p(T, at, room) \
    _Alignas(64) uint8_t room[LW_GANG_LANES]; \
    spread(room, lw_get_mask(gang, at))

/* A constant operand, from its bits. */
#define CONSTANT(T, bits) CONSTANT_##T(bits)
#define CONSTANT_u8(bits)  (uint8_t)(bits)
#define CONSTANT_s8(bits)  (int8_t)(bits)
#define CONSTANT_u16(bits) (uint16_t)(bits)
#define CONSTANT_s16(bits) (int16_t)(bits)
#define CONSTANT_u32(bits) (uint32_t)(bits)
#define CONSTANT_s32(bits) (int32_t)(bits)
#define CONSTANT_u64(bits) (uint64_t)(bits)
#define CONSTANT_s64(bits) (int64_t)(bits)
#define CONSTANT_f32(bits) float_of((uint32_t)(bits))
#define CONSTANT_f64(bits) double_of(bits)
#define CONSTANT_p(bits)   ((bits) != 0)

static inline float float_of(uint32_t bits) { float f; memcpy(&f, &bits, sizeof f); return f; }
static inline double double_of(uint64_t bits) { double f; memcpy(&f, &bits, sizeof f); return f; }

static void spread(uint8_t to[LW_GANG_LANES], lw_mask mask) {
    for (int i = 0; i < LW_GANG_LANES / 8; i++) {
        uint64_t bits = (uint8_t)(mask >> 8 * i) * 0x0101010101010101ull & 0x8040201008040201ull;
        bits = (bits + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
        memcpy(to + 8 * i, &bits, 8);
    }
}

static inline bool stores_all(const lw_gang *gang, const lw_op *op) { return gang->full | ((op->flags & gang->whole) != 0); }

/* Under a partial mask a step runs again, for all lanes into the frame's spare slot, and the executing lanes are taken from there. Out of line,
 * so that a step that stores directly needs no registers saved. */
#define MASKED(bits) \
    __attribute__((noinline)) static const lw_op *masked_##bits(lw_gang *gang, const lw_op *op) { \
        lw_op whole = *op; \
        whole.d = gang->frame->code->frame_bytes; \
        whole.flags |= LW_OP_WHOLE; \
        LW_AT_LEVEL(lw_steps)[op->code](gang, &whole); \
        lw_commit_##bits(gang, op->d, LW_SLOT(gang, const uint##bits##_t, whole.d)); \
        return op + 1; \
    }
MASKED(16)
MASKED(32)
MASKED(64)

/* Where the result goes. */
#define RESULT(T) RESULT_##T(T)
#define DIRECT(T, bits) \
    if (LW_UNLIKELY(!stores_all(gang, op))) return masked_##bits(gang, op); \
    slot_##T *to = LW_SLOT(gang, slot_##T, op->d)
#define RESULT_u8(T)  DIRECT(T, 16)
#define RESULT_s8  RESULT_u8
#define RESULT_u16 RESULT_u8
#define RESULT_s16 RESULT_u8
#define RESULT_u32(T) DIRECT(T, 32)
#define RESULT_s32 RESULT_u32
#define RESULT_f32 RESULT_u32
#define RESULT_u64(T) DIRECT(T, 64)
#define RESULT_s64 RESULT_u64
#define RESULT_f64 RESULT_u64
#define RESULT_p(T) union { lw_mask mask; uint32_t warps[LW_GANG_LANES / LW_WARP_LANES]; } result = {0}

/* The end of a step: only predicates are not in place yet. */
#define END(T) END_##T
#define END_u8 return op + 1
#define END_s8  END_u8
#define END_u16 END_u8
#define END_s16 END_u8
#define END_u32 END_u8
#define END_s32 END_u8
#define END_u64 END_u8
#define END_s64 END_u8
#define END_f32 END_u8
#define END_f64 END_u8
#define END_p   return put_predicate(gang, op, op->d, result.mask)

/* Stores a comparison's result and, if it decides the branch behind it, goes on there. */
static inline const lw_op *put_predicate(lw_gang *gang, const lw_op *op, uint32_t at, lw_mask bits) {
    lw_put_mask(gang, at, bits);
    return op->flags & LW_OP_BRANCHES ? lw_step_bra_if(gang, op + 1) : op + 1;
}

/* The loop: blocks of one warp, so that the inner trip count is known. An operand may share the result's slot: then it is the very
 * same element, which `ivdep` lets the compiler rely on. */
#define EACH(i) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
        LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++)

#define STORE(expression) EACH(i) to[i] = expression
#define BODY(D, expression) BODY_##D(expression)
#define BODY_u8  STORE
#define BODY_s8  STORE
#define BODY_u16 STORE
#define BODY_s16 STORE
#define BODY_u32 STORE
#define BODY_s32 STORE
#define BODY_u64 STORE
#define BODY_s64 STORE
#define BODY_f32 STORE
#define BODY_f64 STORE

/* Comparisons: one bit a lane, by way of whatever the level turns into bits cheapest. */
#if LW_LEVEL_NUMBER >= 4
#define BODY_p(expression) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) { \
        _Alignas(64) int32_t word[LW_WARP_LANES]; \
        LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++) word[k] = -(int32_t)(expression); \
        result.warps[base / LW_WARP_LANES] = _mm512_movepi32_mask(_mm512_load_si512(word)) | \
                                             (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(word + 16)) << 16; \
    }
#else
#define BODY_p(expression) \
    uint8_t *to = (uint8_t *)gang->scratch; \
    EACH(i) to[i] = expression; \
    result.mask = lw_bytes_to_mask(to)
#endif

#define STEP_HEAD(name, variant) __attribute__((unused)) static const lw_op *name##_##variant(lw_gang *gang, const lw_op *op)

#define LOOP1(name, D, A) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i]))); \
        END(D); \
    }

#define LOOP2_RRR(name, D, A, B) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i]))); \
        END(D); \
    }
#define LOOP2_RRI(name, D, A, B) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); const c_##B b = CONSTANT(B, op->imm); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b))); \
        END(D); \
    }
#define LOOP2_RIR(name, D, A, B) \
    STEP_HEAD(name, rir) { \
        const c_##A a = CONSTANT(A, op->imm); SOURCE(B, op->b, b); RESULT(D); \
        BODY(D, (lw_##name(a, (c_##B)b[i]))); \
        END(D); \
    }
#define LOOP2(name, D, A, B) LOOP2_RRR(name, D, A, B) LOOP2_RRI(name, D, A, B) LOOP2_RIR(name, D, A, B)

/* Of two constants the first is in imm's low half where both are 32 bits (RII: b low, c high). */
#define LOOP3_RRR(name, D, A, B, C) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); SOURCE(C, op->c, c); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]))); \
        END(D); \
    }
#define LOOP3_RRI(name, D, A, B, C) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); const c_##C c = CONSTANT(C, op->imm); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], c))); \
        END(D); \
    }
#define LOOP3_CONSTANT_B(name, D, A, B, C) \
    STEP_HEAD(name, rir) { \
        SOURCE(A, op->a, a); const c_##B b = CONSTANT(B, op->imm); SOURCE(C, op->c, c); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b, (c_##C)c[i]))); \
        END(D); \
    } \
    STEP_HEAD(name, rii) { \
        SOURCE(A, op->a, a); \
        const c_##B b = CONSTANT(B, (uint32_t)op->imm); const c_##C c = CONSTANT(C, op->imm >> 32); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b, c))); \
        END(D); \
    }
#define LOOP3(name, D, A, B, C) LOOP3_RRR(name, D, A, B, C) LOOP3_RRI(name, D, A, B, C) LOOP3_CONSTANT_B(name, D, A, B, C)

/* Four operands: all registers, or the last two constants (bfi). */
#define LOOP4(name, D, A, B, C, E) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); SOURCE(C, op->c, c); SOURCE(E, op->e, e); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], (c_##E)e[i]))); \
        END(D); \
    } \
    STEP_HEAD(name, rii) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); \
        const c_##C c = CONSTANT(C, (uint32_t)op->imm); const c_##E e = CONSTANT(E, op->imm >> 32); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], c, e))); \
        END(D); \
    }

/* Three registers and a constant that says how. */
#define LOOP_HOW4(name, D, A, B, C, E) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); SOURCE(C, op->c, c); const c_##E how = CONSTANT(E, op->imm); RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], how))); \
        END(D); \
    }

/* Comparisons straight into mask bits. */
#if LW_LEVEL_NUMBER >= 4
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
#define BITS_u16(a, b, how) _mm512_cmp_epu16_mask(a, b, _MM_CMPINT_##how)
#define BITS_s16(a, b, how) _mm512_cmp_epi16_mask(a, b, _MM_CMPINT_##how)
#define BITS_u32(a, b, how) _mm512_cmp_epu32_mask(a, b, _MM_CMPINT_##how)
#define BITS_s32(a, b, how) _mm512_cmp_epi32_mask(a, b, _MM_CMPINT_##how)
#define BITS_u64(a, b, how) _mm512_cmp_epu64_mask(a, b, _MM_CMPINT_##how)
#define BITS_s64(a, b, how) _mm512_cmp_epi64_mask(a, b, _MM_CMPINT_##how)
#define BITS_f32(a, b, how) _mm512_cmp_ps_mask(a, b, _CMP_##how)
#define BITS_f64(a, b, how) _mm512_cmp_pd_mask(a, b, _CMP_##how)
/* All lanes, whoever executes: halves that stay in registers beat stored words, which a wider load would have to wait for. */
#define COMPARE_ALL(A, how, second) \
    enum { COUNT = 64 / sizeof(slot_##A) }; \
    uint64_t low = 0, high = 0; \
    _Pragma("GCC unroll 8") for (size_t k = 0; k < 64; k += COUNT) low |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << k; \
    _Pragma("GCC unroll 8") for (size_t k = 64; k < 128; k += COUNT) high |= (uint64_t)BITS_##A(AT_##A(a + k), second, how) << (k - 64); \
    result.mask = low | (lw_mask)high << 64
#define COMPARE2(name, D, A, B, how) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        COMPARE_ALL(A, how, AT_##B(b + k)); \
        END(D); \
    } \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); RESULT(D); \
        const c_##B number = CONSTANT(B, op->imm); \
        COMPARE_ALL(A, how, ALL_##B(number)); \
        END(D); \
    } \
    LOOP2_RIR(name, D, A, B) /* rare: left to the compiler */

/* Shifts by constants. Like PTX, the instructions take any amount: beyond the width they give zero, or the sign. Compilers widen
 * 16-bit lanes for them and look at the amount. */
#define WIDE_(how, bits) _mm512_##how##_epi##bits
#define WIDE(how, bits) WIDE_(how, bits)
#define BITS_OF_u16 16
#define BITS_OF_s16 16
#define BITS_OF_u32 32
#define BITS_OF_s32 32
#define BITS_OF_u64 64
#define BITS_OF_s64 64
#define SHIFT2_RRR(name, D, A, B, how) /* the vector unit's, where amounts are as wide as words: it takes any amount, too */ \
    STEP_HEAD(name, rrr) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, WIDE(how##v, BITS_OF_##A)(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))); \
        return op + 1; \
    }
#define LOOP2_RRR_(name, D, A, B, how) LOOP2_RRR(name, D, A, B)
#define RRR_u16 LOOP2_RRR_
#define RRR_s16 LOOP2_RRR_
#define RRR_u32 SHIFT2_RRR
#define RRR_s32 SHIFT2_RRR
#define RRR_u64 LOOP2_RRR_
#define RRR_s64 LOOP2_RRR_
#define SHIFT2(name, D, A, B, how) \
    RRR_##A(name, D, A, B, how) \
    SHIFT2_CONSTANTS(name, D, A, B, how)
#define COUNT2(name, D, A, B, how) \
    SHIFT2_RRR(name, D, A, B, how) \
    SHIFT2_CONSTANTS(name, D, A, B, how)
#define SHIFT2_CONSTANTS(name, D, A, B, how) \
    LOOP2_RIR(name, D, A, B) \
    STEP_HEAD(name, rri) { \
        enum { COUNT = 64 / sizeof(slot_##A) }; \
        SOURCE(A, op->a, a); RESULT(D); \
        const __m128i n = _mm_cvtsi64_si128((long long)(c_##B)op->imm); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 4") for (size_t i = base; i < base + LW_WARP_LANES; i += COUNT) \
                _mm512_storeu_si512(to + i, WIDE(how, BITS_OF_##A)(_mm512_loadu_si512(a + i), n)); \
        return op + 1; \
    }

/* Funnel shifts from two plain ones, which give zero for an amount of 32. */
#define AMOUNT_wrap(c) _mm512_and_si512(c, _mm512_set1_epi32(31))
#define AMOUNT_clamp(c) _mm512_min_epu32(c, _mm512_set1_epi32(32))
#define FUNNEL_l(a, b, n, rest) _mm512_or_si512(_mm512_sllv_epi32(b, n), _mm512_srlv_epi32(a, rest))
#define FUNNEL_r(a, b, n, rest) _mm512_or_si512(_mm512_srlv_epi32(a, n), _mm512_sllv_epi32(b, rest))
#define FUNNEL_BODY(direction, amount) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
        _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) { \
            const __m512i n = amount, rest = _mm512_sub_epi32(_mm512_set1_epi32(32), n); \
            _mm512_storeu_si512(to + i, FUNNEL_##direction(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), n, rest)); \
        }
#define FUNNEL3(name, D, A, B, C, direction, mode) \
    LOOP3_CONSTANT_B(name, D, A, B, C) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); SOURCE(C, op->c, c); RESULT(D); \
        FUNNEL_BODY(direction, AMOUNT_##mode(_mm512_loadu_si512(c + i))) \
        return op + 1; \
    } \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); SOURCE(B, op->b, b); RESULT(D); \
        const __m512i all = AMOUNT_##mode(_mm512_set1_epi32((int)op->imm)); \
        FUNNEL_BODY(direction, all) \
        return op + 1; \
    }
#endif

#define LANE1 LOOP1
#define LANE2 LOOP2
#define LANE3 LOOP3
#define LANE4 LOOP4
#define HOW4  LOOP_HOW4
#include "lane.def"
#define LANE1 LOOP1
#define LANE2 LOOP2
#define LANE3 LOOP3
#define LANE4 LOOP4
#define HOW4  LOOP_HOW4
#include "inner.def"

/* Rotates by constants: compilers make shifts of them where the amount is known at run time only, though the level has rotates. */
#if LW_LEVEL_NUMBER >= 4
#define ROTATE_BODY(name, load_b, value) \
    static const lw_op *name##_rotate(lw_gang *gang, const lw_op *op) { \
        const __m512i n0 = _mm512_set1_epi32((int)(op->imm & 31)), n1 = _mm512_set1_epi32((int)(op->imm >> 8 & 31)); \
        const __m512i n2 = _mm512_set1_epi32((int)(op->imm >> 16 & 31)); \
        (void)n1, (void)n2; \
        SOURCE(u32, op->a, a_at); load_b; RESULT(u32); \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
            _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) { \
                const __m512i a = _mm512_loadu_si512(a_at + i); \
                _mm512_storeu_si512(to + i, value); \
            } \
        return op + 1; \
    }
#define B _mm512_loadu_si512(b_at + i)
ROTATE_BODY(rotl_b32, (void)0, _mm512_rolv_epi32(a, n0))
ROTATE_BODY(xor_rotl_b32, SOURCE(u32, op->b, b_at), _mm512_rolv_epi32(_mm512_xor_si512(a, B), n0))
ROTATE_BODY(add_rotl_b32, SOURCE(u32, op->b, b_at), _mm512_rolv_epi32(_mm512_add_epi32(a, B), n0))
ROTATE_BODY(xor_rot3_b32, (void)0, _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_rolv_epi32(a, n2), 0x96))
ROTATE_BODY(xor_rot2_shr_b32, (void)0, _mm512_ternarylogic_epi32(_mm512_rolv_epi32(a, n0), _mm512_rolv_epi32(a, n1), _mm512_srlv_epi32(a, n2), 0x96))
#undef B
#define ROTATE_STEPS(name) name##_rotate
#else
#define ROTATE_STEPS(name) name##_rri
#endif

/* lop3: one step a table, so that the function folds to a few operations, or to the one that the machine has. */
#define LOP3(lut) \
    static const lw_op *lop3_##lut(lw_gang *gang, const lw_op *op) { \
        SOURCE(u32, op->a, a); SOURCE(u32, op->b, b); SOURCE(u32, op->c, c); RESULT(u32); \
        LW_LOP3_LOOP(0x##lut); \
        return op + 1; \
    }
#define HEX16(X, h) X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) \
                    X(h##8) X(h##9) X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define HEX256(X) HEX16(X, 0) HEX16(X, 1) HEX16(X, 2) HEX16(X, 3) HEX16(X, 4) HEX16(X, 5) HEX16(X, 6) HEX16(X, 7) \
                  HEX16(X, 8) HEX16(X, 9) HEX16(X, a) HEX16(X, b) HEX16(X, c) HEX16(X, d) HEX16(X, e) HEX16(X, f)
HEX256(LOP3)

/* The step of add-rotate-xor ciphers and hashes: d = a + b; e = (c ^ d) rotated left by imm. */
static const lw_op *add_xor_rotl(lw_gang *gang, const lw_op *op) {
    const uint32_t n = (uint32_t)op->imm;
    SOURCE(u32, op->a, a); SOURCE(u32, op->b, b); SOURCE(u32, op->c, c);
    if (LW_LIKELY(stores_all(gang, op))) {
        uint32_t *sum = LW_SLOT(gang, uint32_t, op->d), *turned = LW_SLOT(gang, uint32_t, op->e);
#if LW_LEVEL_NUMBER >= 4
        const __m512i amount = _mm512_set1_epi32((int)n);
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES)
            _Pragma("GCC unroll 2") for (size_t i = base; i < base + LW_WARP_LANES; i += 16) {
                const __m512i s = _mm512_add_epi32(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
                const __m512i x = _mm512_xor_si512(s, _mm512_loadu_si512(c + i));
                _mm512_storeu_si512(sum + i, s);
                _mm512_storeu_si512(turned + i, _mm512_rolv_epi32(x, amount));
            }
#else
        EACH(i) {
            const uint32_t s = a[i] + b[i], t = lw_rotl_b32(c[i] ^ s, n);
            sum[i] = s;
            turned[i] = t;
        }
#endif
        return op + 1;
    }
    uint32_t *sum = (uint32_t *)gang->scratch, *turned = sum + LW_GANG_LANES;
    EACH(i) {
        sum[i] = a[i] + b[i];
        turned[i] = lw_rotl_b32(c[i] ^ sum[i], n);
    }
    lw_commit_32(gang, op->d, sum);
    lw_commit_32(gang, op->e, turned);
    return op + 1;
}

/* The end of most loops: d = a + imm; e = d compared with b in the way that c says. */
static const lw_op *add_setp(lw_gang *gang, const lw_op *op) {
    SOURCE(u32, op->a, a); SOURCE(u32, op->b, b);
    uint32_t *slot = LW_SLOT(gang, uint32_t, op->d);
    lw_mask bits = 0;
#if LW_LEVEL_NUMBER >= 4
    enum { VECTORS = LW_GANG_LANES / 16 };
    const __m512i more = _mm512_set1_epi32((int)op->imm);
    __m512i sum[VECTORS];
    _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) sum[v] = _mm512_add_epi32(_mm512_loadu_si512(a + 16 * v), more);
    uint64_t half[2] = {0, 0};
    switch (op->c) {
#define COMPARE_SUMS(name, T, how, kind) \
    case LW_LANE_setp_##name: \
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) \
            half[v / 4] |= (uint64_t)_mm512_cmp_##kind##_mask(sum[v], _mm512_loadu_si512(b + 16 * v), _MM_CMPINT_##how) << v % 4 * 16; \
        break;
    LW_ADD_SETP(COMPARE_SUMS)
    default: lw_bug("comparison %u of a sum", op->c);
    }
    bits = half[0] | (lw_mask)half[1] << 64;
    if (stores_all(gang, op)) {
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) _mm512_storeu_si512(slot + 16 * v, sum[v]);
    } else {
        const uint64_t low = (uint64_t)gang->mask, high = (uint64_t)(gang->mask >> 64);
        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_epi32(slot + 16 * v, (__mmask16)((v < 4 ? low : high) >> v % 4 * 16), sum[v]);
    }
#else
    const uint32_t more = (uint32_t)op->imm;
    uint32_t *sum = (uint32_t *)gang->scratch;
    uint8_t *to = (uint8_t *)(sum + LW_GANG_LANES);
    EACH(i) sum[i] = a[i] + more;
    switch (op->c) {
#define COMPARE_SUMS(name, T, how, kind) \
    case LW_LANE_setp_##name: EACH(i) to[i] = lw_setp_##name((T)sum[i], (T)b[i]); break;
    LW_ADD_SETP(COMPARE_SUMS)
    default: lw_bug("comparison %u of a sum", op->c);
    }
    bits = lw_bytes_to_mask(to);
    if (stores_all(gang, op)) EACH(i) slot[i] = sum[i];
    else lw_commit_32(gang, op->d, sum);
#endif
    return put_predicate(gang, op, op->e, bits);
}

static const lw_op *add4(lw_gang *gang, const lw_op *op) {
    const uint32_t more = (uint32_t)op->imm;
    SOURCE(u32, op->a, a); SOURCE(u32, op->b, b); SOURCE(u32, op->c, c); RESULT(u32);
    if (op->e == LW_NO_SLOT) {
        EACH(i) to[i] = a[i] + b[i] + c[i] + more;
    } else {
        SOURCE(u32, op->e, e);
        EACH(i) to[i] = a[i] + b[i] + (c[i] + e[i]) + more;
    }
    return op + 1;
}

/* d = predicate c ? a : b. */
#define SELECT(bits) \
    static const lw_op *select_##bits(lw_gang *gang, const lw_op *op) { \
        SOURCE(u##bits, op->a, a); SOURCE(u##bits, op->b, b); RESULT(u##bits); \
        lw_blend_##bits(gang, to, a, b, LW_SLOT(gang, const lw_mask, op->c)); \
        return op + 1; \
    }
SELECT(16)
SELECT(32)
SELECT(64)

/* ---- The table ---------------------------------------------------------------------------------------- */

#define COMMON(name) [LW_OP_##name] = lw_step_##name,
#define LANE_STEPS(name, v1, v2, v3) \
    [LW_LANE_CODE(LW_LANE_##name, LW_RRR)] = name##_rrr, \
    [LW_LANE_CODE(LW_LANE_##name, LW_RRI)] = v1, \
    [LW_LANE_CODE(LW_LANE_##name, LW_RIR)] = v2, \
    [LW_LANE_CODE(LW_LANE_##name, LW_RII)] = v3,

lw_step *const LW_AT_LEVEL(lw_steps)[LW_OP_count] = {
    COMMON(block) COMMON(bra) COMMON(bra_if) COMMON(brx) COMMON(call) COMMON(call_indirect) COMMON(ret) COMMON(exit)
    COMMON(guard) COMMON(unguard) COMMON(trap) COMMON(yield) COMMON(warp_sync) COMMON(barrier) COMMON(fence)
    COMMON(predicate) COMMON(special) COMMON(local_base) COMMON(atom) COMMON(isspacep) COMMON(vote) COMMON(activemask)
    COMMON(match) COMMON(redux) COMMON(elect) COMMON(note) COMMON(pattern) COMMON(beyond)
    [LW_OP_ld] = LW_AT_LEVEL(lw_step_ld),
    [LW_OP_st] = LW_AT_LEVEL(lw_step_st),
    [LW_OP_ld_row] = LW_AT_LEVEL(lw_step_ld_row),
    [LW_OP_st_row] = LW_AT_LEVEL(lw_step_st_row),
    [LW_OP_vshift] = LW_AT_LEVEL(lw_step_vshift),
    [LW_OP_shift_check] = LW_AT_LEVEL(lw_step_shift_check),
    [LW_OP_shuffle] = LW_AT_LEVEL(lw_step_shuffle),
    [LW_OP_add4] = add4,
    [LW_OP_add_xor_rotl] = add_xor_rotl,
    [LW_OP_add_setp] = add_setp,
    [LW_OP_select_16] = select_16,
    [LW_OP_select_32] = select_32,
    [LW_OP_select_64] = select_64,
#define LOP3_ROW(lut) [LW_OP_lop3 + 0x##lut] = lop3_##lut,
    HEX256(LOP3_ROW)
#define LANE1(name, D, A)          LANE_STEPS(name, NULL, NULL, NULL)
#define LANE2(name, D, A, B)       LANE_STEPS(name, name##_rri, name##_rir, NULL)
#define LANE3(name, D, A, B, C)    LANE_STEPS(name, name##_rri, name##_rir, name##_rii)
#define LANE4(name, D, A, B, C, E) LANE_STEPS(name, NULL, NULL, name##_rii)
#define HOW4(name, D, A, B, C, E)  [LW_LANE_CODE(LW_LANE_##name, LW_RRI)] = name##_rri,
#include "lane.def"
#define LANE1(name, D, A)          LANE_STEPS(name, NULL, NULL, NULL)
#define LANE2(name, D, A, B)       LANE_STEPS(name, name##_rri, name##_rir, NULL)
#define LANE3(name, D, A, B, C)    LANE_STEPS(name, name##_rri, name##_rir, name##_rii)
#define LANE4(name, D, A, B, C, E) LANE_STEPS(name, NULL, NULL, name##_rii)
#define HOW4(name, D, A, B, C, E)  [LW_LANE_CODE(LW_LANE_##name, LW_RRI)] = name##_rri,
#define ROTATE2(name, D, A, B)     LANE_STEPS(name, ROTATE_STEPS(name), name##_rir, NULL)
#define ROTATE3(name, D, A, B, C)  LANE_STEPS(name, ROTATE_STEPS(name), name##_rir, name##_rii)
#include "inner.def"
};
