/* Approximate functions of one lane, as an H100 computes them, bit for bit. The manual bounds their errors only;
 * docs/approximations.md has the error of each.
 *
 * One datapath makes all of them. The leading bits of the reduced operand choose a row of coefficients
 * (approx_tables.h), the others are x, 17 bits; then
 *
 *     S = c0 * 2^s0 + c1 * x + c2 * square(x) * 2^s2 + bias
 *
 * in integers, and the result is the leading 24 bits of S, the rest cut off. The squarer leaves out its low columns.
 * Everything here is integer arithmetic but for scaling by powers of 2, conversions that are exact in whichever way the
 * host rounds, and the multiplications that the forms without ftz have on the GPU as well: what float.h says of
 * flags and the host holds for these. ftz is as there. An f32 NaN result is 0x7fffffff, one of 16 bits 0x7fff. */
#ifndef LANEWISE_LANE_APPROX_H
#define LANEWISE_LANE_APPROX_H

#include <stdbool.h>
#include <stdint.h>
#include "approx_tables.h"
#include "float.h"

#define LW_INFINITY_F32_ 0x7f800000u
#define LW_NAN_F32_      0x7fffffffu

/* ---- The datapath ----------------------------------------------------------------------------------------- */

/* x * x / 2^19 for 17 bits of x, as a sum of products of two bits, x_i x_j with i > j at 2^(i+j+1) and x_i at 2^2i,
 * without those below 2^19. That is the square of bits 10 to 16, and of each bit j from 9 down to 2 its product with
 * the bits from 18 - j on, which begins at 2^19; two neighbours are one product, of which the lowest bit belongs to the
 * lower one and is cut off. */
static inline uint32_t lw_square_(uint32_t x) {
    uint32_t high = x >> 10, both = high * ((x >> 8) - 2 * high); /* 2 * high + bits 8 and 9 */
    uint32_t by_6 = (x & 0xc0u) * (x >> 11), by_4 = (x & 0x30u) * (x >> 13), by_2 = (x & 0xcu) * (x >> 15);
    return both + (by_6 >> 7) + (by_4 >> 5) + (by_2 >> 3);
}

/* S / 2^9 downwards, in 32 bits: what the low 9 bits of x make with c1 is added to the rest in units of 1, then all of
 * it in units of 2^9. c0 is multiplied by 2^(s0 - 9) already; the signs are 1 or -1, that of c2 times 2^s2. */
static inline uint32_t lw_quadratic_low_(uint32_t c12, uint32_t x, int32_t sign1, int32_t sign2, int32_t bias) {
    int32_t c1 = (int32_t)(c12 >> 15), c2 = (int32_t)(c12 & 0x7fffu);
    return (uint32_t)(sign1 * (c1 * (int32_t)(x & 0x1ffu)) + sign2 * (c2 * (int32_t)lw_square_(x)) + bias);
}
static inline uint32_t lw_quadratic_(uint32_t c0, uint32_t c12, uint32_t x, int32_t sign1, int32_t sign2,
                                     int32_t bias) {
    int32_t high = sign1 * ((int32_t)(c12 >> 15) * (int32_t)(x >> 9));
    return c0 + (uint32_t)high + (uint32_t)((int32_t)lw_quadratic_low_(c12, x, sign1, sign2, bias) >> 9);
}

/* A number of less than 2^30 as f32, the bits beyond 24 cut off. */
static inline float lw_cut_f32_(uint32_t a) {
    float near = (float)(int32_t)a;
    return lw_from_bits_f32_(lw_bits_f32_(near) - ((int32_t)near > (int32_t)a));
}
static inline uint32_t lw_least_(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline bool lw_is_nan_f32_(uint32_t a) { return (int32_t)(a & 0x7fffffffu) > 0x7f800000; }

/* ---- Reciprocal and roots --------------------------------------------------------------------------------- */

/* 2^24 / (1 + m / 2^23); of m = 0 it is 2^24. */
static inline uint32_t lw_rcp_24_(uint32_t m) {
    int32_t row = (int32_t)(m >> 16);
    return lw_quadratic_(lw_rcp_c0_[row], lw_rcp_c12_[row], (m & 0xffffu) << 1, -1, 2, 4046) >> 7;
}

/* The last bit of an exponent and 23 bits of mantissa, as one number: its root, and the reciprocal of that, both in
 * 2^23 up to 2^24. Powers of 4 are exact. */
static inline uint32_t lw_rsqrt_24_(uint32_t m) {
    int32_t row = (int32_t)(m >> 17);
    uint32_t d = lw_quadratic_(lw_rsqrt_c0_[row], lw_rsqrt_c12_[row], m & 0x1ffffu, -1, 4, -1) >> 7;
    return d + (m == 0x800000u);
}
static inline uint32_t lw_sqrt_24_(uint32_t m) {
    int32_t row = (int32_t)(m >> 17);
    return lw_quadratic_(lw_sqrt_c0_[row], lw_sqrt_c12_[row], m & 0x1ffffu, 1, -2, -1) >> 8;
}

/* Reciprocal, approximate.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX rcp.approx.f32, rcp.approx.ftz.f32
 * source   PTX ISA 9.7.3.13; results of an H100 */
static inline float lw_rcp_approx_ftz_f32(float a) {
    uint32_t bits = lw_bits_f32_(a), exponent = bits & 0x7f800000u;
    uint32_t d = (252u << 23) - exponent + lw_rcp_24_(bits & 0x7fffffu);
    d = (int32_t)d < 0x800000 ? 0 : d; /* below normal */
    d = (exponent ? d : LW_INFINITY_F32_) | (bits & 0x80000000u);
    return lw_from_bits_f32_(lw_is_nan_f32_(bits) ? LW_NAN_F32_ : d);
}
static inline float lw_rcp_approx_f32(float a) {
    uint32_t magnitude = lw_bits_f32_(a) & 0x7fffffffu;
    bool large = magnitude >= 0x7e000000u; /* 2^125 */
    float scale = magnitude < 0x800000u ? 16777216.0f : large ? 0.25f : 1.0f;
    return lw_pin_f32_(lw_rcp_approx_ftz_f32(a * scale) * scale);
}

/* Reciprocal of the square root, approximate. A negative number gives a NaN, -0 negative infinity.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX rsqrt.approx.f32, rsqrt.approx.ftz.f32
 * source   PTX ISA 9.7.3.16; results of an H100 */
static inline float lw_rsqrt_approx_ftz_f32(float a) {
    uint32_t bits = lw_bits_f32_(a), sign = bits & 0x80000000u;
    uint32_t d = (189u << 23) - ((bits + 0x800000u) >> 1 & 0x7f800000u) + lw_rsqrt_24_(bits & 0xffffffu);
    d = bits == LW_INFINITY_F32_ ? 0 : d;
    d = bits > LW_INFINITY_F32_ ? LW_NAN_F32_ : d;
    return lw_from_bits_f32_(bits & 0x7f800000u ? d : LW_INFINITY_F32_ | sign);
}
static inline float lw_rsqrt_approx_f32(float a) {
    bool subnormal = !(lw_bits_f32_(a) & 0x7f800000u);
    float d = lw_rsqrt_approx_ftz_f32(a * (subnormal ? 16777216.0f : 1.0f)) * (subnormal ? 4096.0f : 1.0f);
    return lw_pin_f32_(d);
}

/* Square root, approximate. A negative number gives a NaN, -0 itself.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX sqrt.approx.f32, sqrt.approx.ftz.f32
 * source   PTX ISA 9.7.3.15; results of an H100 */
static inline float lw_sqrt_approx_ftz_f32(float a) {
    uint32_t bits = lw_bits_f32_(a);
    uint32_t d = (62u << 23) + ((bits + 0x800000u) >> 1 & 0x7f800000u) + lw_sqrt_24_(bits & 0xffffffu);
    d = bits == LW_INFINITY_F32_ ? bits : d;
    d = bits > LW_INFINITY_F32_ ? LW_NAN_F32_ : d;
    return lw_from_bits_f32_(bits & 0x7f800000u ? d : bits & 0x80000000u);
}
static inline float lw_sqrt_approx_f32(float a) {
    bool subnormal = !(lw_bits_f32_(a) & 0x7f800000u);
    float d = lw_sqrt_approx_ftz_f32(a * (subnormal ? 16777216.0f : 1.0f));
    return lw_pin_f32_(d * (subnormal ? 0.000244140625f : 1.0f)); /* 2^-12 */
}

/* Quotient, approximate: a times the reciprocal of b. approx gives zero where the magnitude of b is above 2^126; full
 * takes a quarter of both there.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX div.approx.f32, div.approx.ftz.f32, div.full.f32, div.full.ftz.f32
 * source   PTX ISA 9.7.3.8; results of an H100 and an H200 */
static inline float lw_div_approx_f32(float a, float b) {
    float scale = lw_bits_f32_(b) & 0x7f800000u ? 1.0f : 16777216.0f;
    return lw_mul_rn_f32(a * scale, lw_rcp_approx_ftz_f32(b * scale));
}
static inline float lw_div_approx_ftz_f32(float a, float b) { return lw_mul_rn_ftz_f32(a, lw_rcp_approx_ftz_f32(b)); }
static inline float lw_div_full_f32(float a, float b) {
    uint32_t magnitude = lw_bits_f32_(b) & 0x7fffffffu;
    float scale = magnitude > 0x7e800000u ? 0.25f : magnitude < 0x800000u ? 16777216.0f : 1.0f;
    return lw_mul_rn_f32(a * scale, lw_rcp_approx_ftz_f32(b * scale));
}
static inline float lw_div_full_ftz_f32(float a, float b) {
    bool large = (lw_bits_f32_(b) & 0x7fffffffu) > 0x7e800000u; /* 2^126 */
    float quarter = lw_mul_rn_ftz_f32(a, 0.25f);
    return lw_mul_rn_ftz_f32(large ? quarter : a, lw_rcp_approx_ftz_f32(b * (large ? 0.25f : 1.0f)));
}

/* ---- Power, logarithm, circle, hyperbola ------------------------------------------------------------------ */

/* 2 to the power a, approximate.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX ex2.approx.f32, ex2.approx.ftz.f32
 * source   PTX ISA 9.7.3.21; results of an H100 */
static inline float lw_ex2_approx_ftz_f32(float a) {
    uint32_t bits = lw_bits_f32_(a), magnitude = lw_least_(bits & 0x7fffffffu, 0x43000000u); /* 128 */
    uint32_t fixed = ((magnitude & 0x7fffffu) | 0x800000u) << 7 >> lw_least_(134u - (magnitude >> 23), 31);
    uint32_t negative = (fixed & 0x7fffffu ? 0u : 1u) + ~fixed;
    fixed = bits >> 31 ? negative : fixed; /* 9 bits before the point, 23 behind it */
    int32_t whole = (int32_t)fixed >> 23, row = (int32_t)(fixed >> 17 & 63u);
    uint32_t mantissa = lw_quadratic_(lw_ex2_c0_[row], lw_ex2_c12_[row], fixed & 0x1ffffu, 1, 1, 6114) >> 6;
    uint32_t d = ((uint32_t)(whole + 126) << 23) + mantissa;
    d = whole > 127 ? LW_INFINITY_F32_ : d;
    d = whole < -126 ? 0 : d;
    return lw_from_bits_f32_(lw_is_nan_f32_(bits) ? LW_NAN_F32_ : d);
}
static inline float lw_ex2_approx_f32(float a) {
    bool small = a < -126.0f; /* the result is below normal: the square of that of half */
    float d = lw_ex2_approx_ftz_f32(a * (small ? 0.5f : 1.0f));
    return lw_pin_f32_(d * (small ? d : 1.0f));
}

/* Logarithm to the base 2, approximate. A negative number gives a NaN, a zero negative infinity.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX lg2.approx.f32, lg2.approx.ftz.f32
 * source   PTX ISA 9.7.3.20; results of an H100 */

/* whole + (high * 2^9 + low) / 2^38 with the last two bits cut off, as f32. */
static inline float lw_lg2_sum_(uint32_t whole, uint32_t high, uint32_t low) {
    bool small = high < 0x400000u;
    uint32_t part = small ? high << 7 | low >> 2 : high << 1 | low >> 8;
    float unit = small ? 1.4551915228366852e-11f : 9.313225746154785e-10f; /* 2^-36, 2^-30 */
    part = whole ? (whole & 127u) << 23 | high >> 6 : part;                /* more than 127 is of no number */
    return lw_cut_f32_(part) * (whole ? 1.1920928955078125e-7f : unit);    /* 2^-23 */
}
static inline float lw_lg2_approx_ftz_f32(float a) {
    uint32_t bits = lw_bits_f32_(a), x = bits & 0x1ffffu, exponent = (bits >> 23) - 127u;
    int32_t row = (int32_t)(bits >> 17 & 63u);
    uint32_t c0 = lw_lg2_c0_[row], c12 = lw_lg2_c12_[row];
    uint32_t high = lw_quadratic_(c0, c12, x, 1, -2, 837), low = lw_quadratic_low_(c12, x, 1, -2, 837);
    uint32_t flip = 0u - (exponent >> 31); /* the magnitude of a negative sum is its complement */
    float sum = lw_lg2_sum_(exponent ^ flip, (high ^ flip) & 0x1fffffffu, (low ^ flip) & 0x1ffu);
    uint32_t d = lw_bits_f32_(sum) | (flip & 0x80000000u);
    d &= 0u - (uint32_t)(bits != 0x3f800000u); /* of 1 */
    d = bits == LW_INFINITY_F32_ ? bits : d;
    d = bits > LW_INFINITY_F32_ ? LW_NAN_F32_ : d;
    return lw_from_bits_f32_(bits & 0x7f800000u ? d : 0xff800000u);
}
static inline float lw_lg2_approx_f32(float a) {
    bool subnormal = !(lw_bits_f32_(a) & 0x7f800000u);
    float d = lw_lg2_approx_ftz_f32(a * (subnormal ? 16777216.0f : 1.0f));
    return lw_pin_f32_(d - (subnormal ? 24.0f : 0.0f));
}

/* Sine and cosine, approximate; of an infinity a NaN. With ftz they are the same.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX sin.approx.f32, cos.approx.f32; .ftz
 * source   PTX ISA 9.7.3.18, 9.7.3.19; results of an H100 */

/* A magnitude in turns: 2 bits of quarters, 23 behind them. 24 bits of the product with 1 / (2 pi) count. */
static inline uint32_t lw_turns_(uint32_t magnitude) {
    uint32_t exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t turns = (uint32_t)((uint64_t)(mantissa << 8) * (0xa2f983u << 1) >> 32);
    uint32_t left = (turns & ~(turns >> 24)) << lw_least_(exponent - 128u, 31);
    return left | turns >> 1 >> lw_least_(127u - exponent, 31);
}
/* The sine of so many quarters and parts of one, of a number with these bits. */
static inline float lw_circle_(uint32_t turns, uint32_t sign, uint32_t bits) {
    uint32_t part = (turns ^ (0u - (turns >> 23 & 1u))) & 0x7fffffu, x = part & 0x1ffffu;
    int32_t row = (int32_t)(part >> 17);
    uint32_t c0 = lw_sin_c0_[row], c12 = lw_sin_c12_[row];
    uint32_t low = (c12 >> 15) * x - (c12 & 0x7fffu) * lw_square_(x);
    bool small = c0 == 0 && low < 0x40000000u;
    float d = lw_cut_f32_(small ? low : c0 + (low >> 7));
    d = d * (small ? 7.275957614183426e-12f : 9.313225746154785e-10f); /* 2^-37, 2^-30 */
    uint32_t signs = sign ^ (turns << 7 & 0x80000000u);
    return lw_from_bits_f32_(~bits & 0x7f800000u ? lw_bits_f32_(d) | signs : LW_NAN_F32_);
}
static inline float lw_sin_approx_f32(float a) {
    uint32_t bits = lw_bits_f32_(a);
    return lw_circle_(lw_turns_(bits & 0x7fffffffu), bits & 0x80000000u, bits);
}
static inline float lw_cos_approx_f32(float a) {
    uint32_t bits = lw_bits_f32_(a);
    return lw_circle_(lw_turns_(bits & 0x7fffffffu) + 0x800000u, 0, bits);
}

/* Hyperbolic tangent, approximate.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX tanh.approx.f32
 * source   PTX ISA 9.7.3.22; results of an H100 */
static inline float lw_tanh_approx_f32(float a) {
    uint32_t bits = lw_bits_f32_(a), magnitude = bits & 0x7fffffffu;
    int32_t row = (int32_t)lw_least_((magnitude - 0x3b800000u) >> 19, 175); /* from 2^-8 to 8 */
    uint32_t c0 = lw_tanh_c0_[row], x = (magnitude * (c0 >> 24 & 31u) & 0x7fffffu) >> 6;
    uint32_t sum = lw_quadratic_((c0 & 0xffffffu) << 6, lw_tanh_c12_[row], x, 1, -1, 0);
    float unit = lw_from_bits_f32_(((magnitude >> 23) - 24u - (c0 >> 29)) << 23);
    uint32_t d = lw_bits_f32_(lw_cut_f32_(lw_least_(sum, 0x7fffff00u)) * unit);
    d = magnitude < 0x3b800000u ? magnitude : d;
    d = magnitude >= 0x41000000u ? 0x3f800000u : d;
    d = d | (bits & 0x80000000u);
    return lw_from_bits_f32_(lw_is_nan_f32_(bits) ? LW_NAN_F32_ : d);
}

/* ---- Half precision --------------------------------------------------------------------------------------- */

/* Hyperbolic tangent and power of 2 of half precision numbers: those of f32, rounded towards zero; what is too large
 * for f16 is infinite. x2 has two in a word.
 *
 * a        bits of one or two numbers
 * returns  as many
 * fails    never
 * spelled  PTX tanh.approx of .f16 .f16x2 .bf16 .bf16x2; ex2.approx of .f16 .f16x2; ex2.approx.ftz of .bf16 .bf16x2
 * source   PTX ISA 9.7.4.9, 9.7.4.10; results of an H200 */

/* Such a number as f32, a NaN as some NaN. Selected by masks: gcc would make branches where the next function asks the
 * same. */
static inline float lw_wide_f16_(uint16_t a) {
    uint32_t magnitude = a & 0x7fffu, subnormal = 0u - (magnitude < 0x400u), special = 0u - (magnitude > 0x7bffu);
    uint32_t normal = (magnitude << 13) + 0x38000000u + (special & 0x38000000u);
    uint32_t small = lw_bits_f32_((float)(int32_t)magnitude * 5.9604644775390625e-8f); /* 2^-24 */
    return lw_from_bits_f32_((normal & ~subnormal) | (small & subnormal) | (uint32_t)(a & 0x8000u) << 16);
}

/* Such a number rounded towards zero. A NaN is 0x7fffffff here, of which bf16 is the upper half. */
static inline uint16_t lw_cut_f16_(float a) {
    uint32_t bits = lw_bits_f32_(a), magnitude = bits & 0x7fffffffu;
    float small = lw_from_bits_f32_(lw_least_(magnitude, 0x38800000u)); /* 2^-14 */
    uint32_t normal = lw_least_((magnitude - 0x38000000u) >> 13, 0x7c00u);
    uint32_t d = magnitude < 0x38800000u ? (uint32_t)(int32_t)(small * 16777216.0f) : normal;
    return (uint16_t)(d | (0u - lw_is_nan_f32_(bits)) >> 17 | (bits >> 16 & 0x8000u));
}
static inline uint16_t lw_cut_bf16_(float a) { return (uint16_t)(lw_bits_f32_(a) >> 16); }

static inline uint16_t lw_tanh_approx_f16(uint16_t a) { return lw_cut_f16_(lw_tanh_approx_f32(lw_wide_f16_(a))); }
static inline uint16_t lw_tanh_approx_bf16(uint16_t a) {
    return lw_cut_bf16_(lw_tanh_approx_f32(lw_from_bits_f32_((uint32_t)a << 16)));
}
static inline uint16_t lw_ex2_approx_f16(uint16_t a) { return lw_cut_f16_(lw_ex2_approx_ftz_f32(lw_wide_f16_(a))); }
static inline uint16_t lw_ex2_approx_ftz_bf16(uint16_t a) {
    return lw_cut_bf16_(lw_ex2_approx_ftz_f32(lw_from_bits_f32_((uint32_t)a << 16)));
}
static inline uint32_t lw_tanh_approx_f16x2(uint32_t a) {
    return (uint32_t)lw_tanh_approx_f16((uint16_t)(a >> 16)) << 16 | lw_tanh_approx_f16((uint16_t)a);
}
static inline uint32_t lw_tanh_approx_bf16x2(uint32_t a) {
    return (uint32_t)lw_tanh_approx_bf16((uint16_t)(a >> 16)) << 16 | lw_tanh_approx_bf16((uint16_t)a);
}
static inline uint32_t lw_ex2_approx_f16x2(uint32_t a) {
    return (uint32_t)lw_ex2_approx_f16((uint16_t)(a >> 16)) << 16 | lw_ex2_approx_f16((uint16_t)a);
}
static inline uint32_t lw_ex2_approx_ftz_bf16x2(uint32_t a) {
    return (uint32_t)lw_ex2_approx_ftz_bf16((uint16_t)(a >> 16)) << 16 | lw_ex2_approx_ftz_bf16((uint16_t)a);
}

/* ---- Double precision ------------------------------------------------------------------------------------- */

/* The upper half of an f64 in, the upper half out, with 20 bits of mantissa. */
static inline uint32_t lw_rcp_high_(uint32_t a) {
    uint32_t d = (2044u << 20) - (a & 0x7ff00000u) + (lw_rcp_24_((a & 0xfffffu) << 3) >> 3);
    d = (int32_t)d < 0x100000 ? 0 : d; /* below normal */
    d = (a & 0x7ff00000u ? d : 0x7ff00000u) | (a & 0x80000000u);
    return (a & 0x7fffffffu) > 0x7ff00000u ? 0x7fffffffu : d;
}
static inline uint32_t lw_rsqrt_high_(uint32_t a) {
    uint32_t d = (1533u << 20) - ((a + 0x100000u) >> 1 & 0x7ff00000u) + (lw_rsqrt_24_((a & 0x1fffffu) << 3) >> 3);
    d = a == 0x7ff00000u ? 0 : d;
    d = a > 0x7ff00000u ? 0x7fffffffu : d;
    return a & 0x7ff00000u ? d : 0x7ff00000u | (a & 0x80000000u);
}

/* Reciprocal and reciprocal square root with ftz: of the upper 32 bits alone, and only those of the result are not 0. A
 * NaN is 0x7fffffff00000000; one with no bit in the upper half of its mantissa counts as an infinity.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX rcp.approx.ftz.f64, rsqrt.approx.ftz.f64
 * source   PTX ISA 9.7.3.14, 9.7.3.17; results of an H200 */
static inline double lw_rcp_approx_ftz_f64(double a) {
    return lw_from_bits_f64_((uint64_t)lw_rcp_high_((uint32_t)(lw_bits_f64_(a) >> 32)) << 32);
}
static inline double lw_rsqrt_approx_ftz_f64(double a) {
    return lw_from_bits_f64_((uint64_t)lw_rsqrt_high_((uint32_t)(lw_bits_f64_(a) >> 32)) << 32);
}

/* Reciprocal square root: that with ftz, and one step of third order. A NaN is made quiet, a negative number gives
 * 0xfff8000000000000.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX rsqrt.approx.f64
 * source   PTX ISA 9.7.3.16; results of an H200 */
static inline double lw_rsqrt_approx_f64(double a) {
    uint64_t bits = lw_bits_f64_(a), infinity = UINT64_C(0x7ff0000000000000);
    bool subnormal = !(bits & infinity);
    double x = a * (subnormal ? 18014398509481984.0 : 1.0); /* 2^54 */
    double first = lw_rsqrt_approx_ftz_f64(x), rest = __builtin_fma(x, -(first * first), 1.0);
    double d = __builtin_fma(__builtin_fma(rest, 0.375, 0.5), first * rest, first);
    d = d * (subnormal ? 134217728.0 : 1.0); /* 2^27 */
    double edge = a > 0.0 ? 0.0 : lw_from_bits_f64_(UINT64_C(0xfff8000000000000));
    edge = a == 0.0 ? lw_from_bits_f64_(bits | infinity) : edge;
    edge = a == a ? edge : lw_quiet_f64_(a);
    bool usual = (a > 0.0) & (a < lw_from_bits_f64_(infinity));
    return usual ? d : edge;
}

#undef LW_INFINITY_F32_
#undef LW_NAN_F32_

#endif /* LANEWISE_LANE_APPROX_H */
