/* x86_half.h: arithmetic of f16 by the conversions that x86-64 has instructions for. Of whoever includes it:
 * lw_widen_f16 and lw_narrow_f16, a vector of f32 from memory and to it. */
#ifndef LW_ISA_X86_HALF_H
#define LW_ISA_X86_HALF_H

typedef uint32_t lw_words __attribute__((vector_size(LW_VECTOR_BYTES)));
typedef int32_t lw_signed_words __attribute__((vector_size(LW_VECTOR_BYTES)));
enum { LW_HALVES = LW_VECTOR_BYTES / 4 };

/* As lw_odd_sum_f32_. */
LW_INLINE lw_floats lw_odd_sum_of(lw_floats a, lw_floats b) {
    const lw_floats s = a + b, part = s - a, lost = (a - (s - part)) + (b - part);
    const lw_words bits = (lw_words)s, inexact = (lw_words)((lost < 0.0f) | (lost > 0.0f));
    const lw_words inward = (lw_words)((lw_signed_words)(bits ^ (lw_words)lost) >> 31); /* -1 where it is smaller */
    return (lw_floats)((bits + (inward & inexact)) | (inexact & 1));
}
LW_INLINE lw_floats lw_pinned(lw_floats a) {
    const lw_words number = (lw_words)(a == a);
    return (lw_floats)(((lw_words)a & number) | (~number & 0x7fffffffu));
}

/* Numbers of f16 as f32, and f32 rounded to f16, as bits. */
#define lw_widen_halves lw_widen_halves
static inline void lw_widen_halves(lw_any32 *to, const lw_any16 *from, size_t count) {
    size_t i = 0;
    for (; i + LW_HALVES <= count; i += LW_HALVES) {
        const lw_floats a = lw_widen_f16(from + i);
        memcpy(to + i, &a, sizeof a);
    }
    for (; i < count; i++) to[i] = lw_bits_f32_(lw_cvt_f32_f16(from[i]));
}
static inline void lw_narrow_halves(lw_any16 *to, const lw_any32 *from, size_t count) {
    size_t i = 0;
    for (; i + LW_HALVES <= count; i += LW_HALVES) {
        lw_floats a;
        memcpy(&a, from + i, sizeof a);
        lw_narrow_f16(to + i, a);
    }
    for (; i < count; i++) to[i] = lw_cvt_rn_f16_f32(lw_from_bits_f32_(from[i]));
}

#define LW_HALF_LOOP(does, sum) \
    LW_INLINE void lw_halves_##does(uint16_t *to, const uint16_t *from_a, const uint16_t *from_b, \
                                    const uint16_t *from_c, size_t first, size_t end) { \
        for (size_t i = first; i < end; i += LW_HALVES) { \
            const lw_floats a = lw_widen_f16(from_a + i), b = lw_widen_f16(from_b + i), c = lw_widen_f16(from_c + i); \
            (void)c; \
            lw_narrow_f16(to + i, lw_pinned(sum)); \
        } \
    }
LW_HALF_LOOP(add, a + b)
LW_HALF_LOOP(sub, a - b)
LW_HALF_LOOP(mul, a *b)
LW_HALF_LOOP(fma, lw_odd_sum_of(a *b, c))

/* Numbers of f16, or two in an element. The compiler's lane functions are made of the same loops (run/jit/lanes.c). */
#define LW_HALF_END(D, does, from_c) \
    RESULT(D); \
    const size_t count = sizeof *to / 2; \
    lw_halves_##does((uint16_t *)to, (const uint16_t *)a, (const uint16_t *)b, (const uint16_t *)(from_c), \
                     count * gang->begin, count * gang->lanes); \
    END(D)
#define LW_HALF_STEPS2(name, D, A, B, takes, does) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        LW_HALF_END(D, does, b); \
    }
#define LW_HALF_STEPS3(name, D, A, B, C, takes, does) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        SOURCE(C, op->c, c); \
        LW_HALF_END(D, does, c); \
    }

#endif
