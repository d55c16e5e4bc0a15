/* Integer functions that PTO's vector operations, masks and scalars share with PTX, of 16 to 64 bits; isa/pto/ says
 * what each operation is: sums, differences and products modulo 2^width, order signed or unsigned by the type. logic.c
 * and shift.c have bitwise operations and shifts, vector.c the functions of PTO alone. */
#include "run/interp/inner.h"
#include "places.h"

/* ---- Sums, differences, products ---------------------------------------------------------------------------- */

/* The product by induction on the multiplier: nothing is 0, and once more is one multiplicand more. The lane function
 * stands for the product of the multiplier before. Only one function is equal to what is made of itself like that. */
#define ARITHMETIC(name, U, S, N) \
    static inline U add_##name(U a, U b) { return sum_##name(a, b, 0); } \
    static inline U mul_##name(U a, U b) { return b ? lw_add_##name(lw_mul_lo_##name(a, (U)(b - 1)), a) : 0; } \
    static inline S neg_##name(S a) { return (S)difference_##name(0, (U)a); } \
    static inline S abs_##name(S a) { return PLACE((U)a, N - 1) ? neg_##name(a) : a; } \
    PROVE(lw_add_##name, add_##name, U, U, U) \
    PROVE(lw_sub_##name, difference_##name, U, U, U) \
    PROVE(lw_mul_lo_##name, mul_##name, U, U, U) \
    PROVE(lw_neg_s##N, neg_##name, S, S) \
    PROVE(lw_abs_s##N, abs_##name, S, S)
ARITHMETIC(b16, uint16_t, int16_t, 16)
ARITHMETIC(b32, uint32_t, int32_t, 32)
ARITHMETIC(b64, uint64_t, int64_t, 64)

/* ---- Order ---------------------------------------------------------------------------------------------------- */

#define ORDER(name, T, U, N, is_signed) \
    static inline bool lt_##name(T a, T b) { return less_b##N((U)a, (U)b, is_signed); } \
    static inline bool le_##name(T a, T b) { return !lt_##name(b, a); } \
    static inline bool gt_##name(T a, T b) { return lt_##name(b, a); } \
    static inline bool ge_##name(T a, T b) { return !lt_##name(a, b); } \
    static inline T min_##name(T a, T b) { return lt_##name(a, b) ? a : b; } \
    static inline T max_##name(T a, T b) { return lt_##name(b, a) ? a : b; } \
    PROVE(lw_setp_lt_##name, lt_##name, bool, T, T) \
    PROVE(lw_setp_le_##name, le_##name, bool, T, T) \
    PROVE(lw_setp_gt_##name, gt_##name, bool, T, T) \
    PROVE(lw_setp_ge_##name, ge_##name, bool, T, T) \
    PROVE(lw_min_##name, min_##name, T, T, T) \
    PROVE(lw_max_##name, max_##name, T, T, T)
#define EQUAL(name, U, N) \
    static inline bool differ_##name(U a, U b) { return !equal_##name(a, b); } \
    PROVE(lw_setp_eq_##name, equal_##name, bool, U, U) \
    PROVE(lw_setp_ne_##name, differ_##name, bool, U, U) \
    ORDER(s##N, int##N##_t, U, N, true) \
    ORDER(u##N, U, U, N, false)
EQUAL(b16, uint16_t, 16)
EQUAL(b32, uint32_t, 32)
EQUAL(b64, uint64_t, 64)

/* ---- Widths ---------------------------------------------------------------------------------------------------- */

/* All places of the result from those that the value has: above them zeros, or the sign. */
#define RESIZE(name, R, A, U, to, from, is_signed) \
    static inline R resize_##name(A a) { \
        R result = 0; \
        FOR_EACH(i, to) { \
            if (i < from ? PLACE((U)a, i) : is_signed && PLACE((U)a, from - 1)) result |= (R)((R)1 << i); \
        } \
        return result; \
    } \
    PROVE(lw_##name, resize_##name, R, A)
RESIZE(mov_b16, uint16_t, uint16_t, uint16_t, 16, 16, false)
RESIZE(mov_b32, uint32_t, uint32_t, uint32_t, 32, 32, false)
RESIZE(mov_b64, uint64_t, uint64_t, uint64_t, 64, 64, false)
RESIZE(low_b16_b32, uint16_t, uint32_t, uint32_t, 16, 32, false)
RESIZE(low_b16_b64, uint16_t, uint64_t, uint64_t, 16, 64, false)
RESIZE(low_b32_b64, uint32_t, uint64_t, uint64_t, 32, 64, false)
RESIZE(zext8_b16, uint16_t, uint8_t, uint8_t, 16, 8, false)
RESIZE(zext_b32_b16, uint32_t, uint16_t, uint16_t, 32, 16, false)
RESIZE(zext_b64_b16, uint64_t, uint16_t, uint16_t, 64, 16, false)
RESIZE(zext_b64_b32, uint64_t, uint32_t, uint32_t, 64, 32, false)
RESIZE(sext8_b16, uint16_t, int8_t, uint8_t, 16, 8, true)
RESIZE(sext_b32_b16, uint32_t, int16_t, uint16_t, 32, 16, true)
RESIZE(sext_b64_b16, uint64_t, int16_t, uint16_t, 64, 16, true)
RESIZE(sext_b64_b32, uint64_t, int32_t, uint32_t, 64, 32, true)

/* The number of an element among all: as many repeats as there were, and the lane. */
static inline uint32_t element(uint32_t repeat, uint32_t lanes, uint32_t lane) {
    return sum_b32(lw_mul_lo_b32(repeat, lanes), lane, 0);
}
PROVE(lw_mad_lo_b32, element, uint32_t, uint32_t, uint32_t, uint32_t)
