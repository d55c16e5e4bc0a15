/* Integer arithmetic that PTX has alone (integer.c has what PTO shares): the steps of PTX ISA 9.7.1, of numbers that
 * are wide enough for every sum. */
#include "run/interp/inner.h"
#include "prove.h"

__extension__ typedef __int128 number;

static inline number least(unsigned width) { return -((number)1 << (width - 1)); }
static inline number most(unsigned width) { return ((number)1 << (width - 1)) - 1; }
static inline number limited(number a, unsigned width) {
    return a < least(width) ? least(width) : a > most(width) ? most(width) : a;
}
static inline number smaller(number a, number b) { return a < b ? a : b; }
static inline number larger(number a, number b) { return a > b ? a : b; }

/* ---- Limited sums ------------------------------------------------------------------------------------------------ */

static inline int32_t add_sat(int32_t a, int32_t b) { return (int32_t)limited((number)a + b, 32); }
static inline int32_t sub_sat(int32_t a, int32_t b) { return (int32_t)limited((number)a - b, 32); }
PROVE(lw_add_sat_s32, add_sat, int32_t, int32_t, int32_t)
PROVE(lw_sub_sat_s32, sub_sat, int32_t, int32_t, int32_t)

/* ---- Two halves, and no less than zero
 * ------------------------------------------------------------------------------- */

static inline number half(uint32_t word, unsigned i, bool is_signed) {
    const number h = word >> 16 * i & 0xffff;
    return is_signed && h > 0x7fff ? h - 0x10000 : h;
}
#define HALVES(name, is_signed, ...) \
    static inline uint32_t name(uint32_t word_a, uint32_t word_b) { \
        uint32_t d = 0; \
        FOR_EACH(i, 2) { \
            const number a = half(word_a, i, is_signed), b = half(word_b, i, is_signed); \
            d |= (uint32_t)((__VA_ARGS__)&0xffff) << 16 * i; \
        } \
        return d; \
    } \
    PROVE(lw_##name, name, uint32_t, uint32_t, uint32_t)
HALVES(add_b16x2, false, a + b)
HALVES(min_u16x2, false, smaller(a, b))
HALVES(max_u16x2, false, larger(a, b))
HALVES(min_s16x2, true, smaller(a, b))
HALVES(max_s16x2, true, larger(a, b))
HALVES(min_relu_s16x2, true, larger(smaller(a, b), 0))
HALVES(max_relu_s16x2, true, larger(larger(a, b), 0))

static inline int32_t min_relu(int32_t a, int32_t b) { return (int32_t)larger(smaller(a, b), 0); }
static inline int32_t max_relu(int32_t a, int32_t b) { return (int32_t)larger(larger(a, b), 0); }
PROVE(lw_min_relu_s32, min_relu, int32_t, int32_t, int32_t)
PROVE(lw_max_relu_s32, max_relu, int32_t, int32_t, int32_t)

/* ---- Absolute differences
 * ---------------------------------------------------------------------------------------------- */

/* d = c + ((a < b) ? b - a : a - b) */
#define SAD(type, T) \
    static inline T sad_##type(T a, T b, T c) { \
        return (T)((number)c + (a < b ? (number)b - (number)a : (number)a - (number)b)); \
    } \
    PROVE(lw_sad_##type, sad_##type, T, T, T, T)
SAD(u16, uint16_t)
SAD(u32, uint32_t)
SAD(u64, uint64_t)
SAD(s16, int16_t)
SAD(s32, int32_t)
SAD(s64, int64_t)

/* ---- Products
 * -------------------------------------------------------------------------------------------------------------- */

/* Of words twice as wide, which have room for all of it: integer.c proves that it is the product. From there its
 * halves, and sums with it, modulo the width of the result. */
#define PRODUCT(N, TWICE, U, UU, S, SS) \
    static inline UU wide_u##N(U a, U b) { return lw_mul_lo_b##TWICE(a, b); } \
    static inline SS wide_s##N(S a, S b) { return (SS)lw_mul_lo_b##TWICE((UU)(SS)a, (UU)(SS)b); } \
    static inline U hi_u##N(U a, U b) { return (U)(wide_u##N(a, b) >> N); } \
    static inline S hi_s##N(S a, S b) { return (S)(wide_s##N(a, b) >> N); } \
    static inline UU mad_wide_u##N(U a, U b, UU c) { return lw_add_b##TWICE(wide_u##N(a, b), c); } \
    static inline SS mad_wide_s##N(S a, S b, SS c) { return (SS)lw_add_b##TWICE((UU)wide_s##N(a, b), (UU)c); } \
    PROVE(lw_mul_wide_u##N, wide_u##N, UU, U, U) \
    PROVE(lw_mul_wide_s##N, wide_s##N, SS, S, S) \
    PROVE(lw_mul_hi_u##N, hi_u##N, U, U, U) \
    PROVE(lw_mul_hi_s##N, hi_s##N, S, S, S) \
    PROVE(lw_mad_wide_u##N, mad_wide_u##N, UU, U, U, UU) \
    PROVE(lw_mad_wide_s##N, mad_wide_s##N, SS, S, S, SS)
PRODUCT(16, 32, uint16_t, uint32_t, int16_t, int32_t)
PRODUCT(32, 64, uint32_t, uint64_t, int32_t, int64_t)

#define MAD_LO(name, U) \
    static inline U mad_lo_##name(U a, U b, U c) { return lw_add_##name(lw_mul_lo_##name(a, b), c); } \
    PROVE(lw_mad_lo_##name, mad_lo_##name, U, U, U, U)
MAD_LO(b16, uint16_t)
MAD_LO(b64, uint64_t)

static inline int32_t mad_hi_sat(int32_t a, int32_t b, int32_t c) {
    return (int32_t)limited((number)hi_s32(a, b) + c, 32);
}
PROVE(lw_mad_hi_sat_s32, mad_hi_sat, int32_t, int32_t, int32_t, int32_t)

/* The lowest 24 bits of each factor, moved up and down again; of 48 bits of the product the lower or the upper 32. */
static inline uint64_t factor(uint32_t a, bool is_signed) {
    return is_signed ? (uint64_t)((int32_t)(a << 8) >> 8) : a << 8 >> 8;
}
#define PRODUCT24(type, T, is_signed) \
    static inline uint64_t product_##type(T a, T b) { \
        return lw_mul_lo_b64(factor((uint32_t)a, is_signed), factor((uint32_t)b, is_signed)); \
    } \
    static inline T lo24_##type(T a, T b) { return (T)product_##type(a, b); } \
    static inline T hi24_##type(T a, T b) { return (T)(product_##type(a, b) >> 16); } \
    static inline T mad_lo24_##type(T a, T b, T c) { return (T)((uint32_t)lo24_##type(a, b) + (uint32_t)c); } \
    static inline T mad_hi24_##type(T a, T b, T c) { return (T)((uint32_t)hi24_##type(a, b) + (uint32_t)c); } \
    PROVE(lw_mul24_lo_##type, lo24_##type, T, T, T) \
    PROVE(lw_mul24_hi_##type, hi24_##type, T, T, T) \
    PROVE(lw_mad24_lo_##type, mad_lo24_##type, T, T, T, T) \
    PROVE(lw_mad24_hi_##type, mad_hi24_##type, T, T, T, T)
PRODUCT24(u32, uint32_t, false)
PRODUCT24(s32, int32_t, true)
static inline int32_t mad_hi24_sat(int32_t a, int32_t b, int32_t c) {
    return (int32_t)limited((number)hi24_s32(a, b) + c, 32);
}
PROVE(lw_mad24_hi_sat_s32, mad_hi24_sat, int32_t, int32_t, int32_t, int32_t)
