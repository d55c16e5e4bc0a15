/* places.h: whole numbers as one writes them down, binary place by binary place, for transcriptions of what the lane
 * functions leave to the processor's adders and comparisons. */
#ifndef LW_PLACES_H
#define LW_PLACES_H

#include "prove.h"

#define PLACE(a, i) ((int)((a) >> (i)&1))

/* Of words U of N bits: a + b + c and a - b modulo 2^N; whether the sum reaches 2^N; equality; order, where the highest
 * place that differs decides. Signed words in offset binary have the order of unsigned ones. */
#define PLACES(name, U, N) \
    static inline U sum_##name(U a, U b, bool c) { \
        U sum = 0; \
        FOR_EACH(i, N) { \
            int bits = PLACE(a, i) + PLACE(b, i) + c; \
            sum |= (U)((U)(bits & 1) << i); \
            c = bits > 1; \
        } \
        return sum; \
    } \
    static inline bool carry_##name(U a, U b, bool c) { \
        FOR_EACH(i, N) c = PLACE(a, i) + PLACE(b, i) + c > 1; \
        return c; \
    } \
    static inline U difference_##name(U a, U b) { \
        U difference = 0; \
        bool borrow = false; \
        FOR_EACH(i, N) { \
            bool from = PLACE(a, i), take = PLACE(b, i); \
            difference |= (U)((U)(from ^ take ^ borrow) << i); \
            borrow = from ? take && borrow : take || borrow; \
        } \
        return difference; \
    } \
    static inline bool equal_##name(U a, U b) { \
        bool is = true; \
        FOR_EACH(i, N) is &= PLACE(a, i) == PLACE(b, i); \
        return is; \
    } \
    static inline bool less_##name(U a, U b, bool is_signed) { \
        bool is = false; \
        if (is_signed) a ^= (U)((U)1 << (N - 1)), b ^= (U)((U)1 << (N - 1)); \
        FOR_EACH(i, N) { \
            if (PLACE(a, i) != PLACE(b, i)) is = PLACE(b, i); \
        } \
        return is; \
    }
PLACES(b8, uint8_t, 8)
PLACES(b16, uint16_t, 16)
PLACES(b32, uint32_t, 32)
PLACES(b64, uint64_t, 64)

#endif
