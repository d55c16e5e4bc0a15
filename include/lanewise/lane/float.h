/* Floating point of one lane: f32 and f64, each result rounded once and every NaN result pinned.
 *
 * Compile with -ffp-contract=off, or a product and a sum in neighbouring lanes may be fused. The host must
 * round to nearest and keep subnormals, which is how every program starts. With -fno-math-errno and
 * -fno-trapping-math square roots and conversions vectorise too; neither changes a result. Without a fused
 * multiply-add in the target the fma lanes call the C library, so link libm.
 *
 * Names follow the mnemonic: rn rounds to nearest even; ftz takes subnormal operands and results as zeros of
 * the same sign, where a result counts as subnormal if it is below the smallest normal number when rounded to
 * 24 bits with an unbounded exponent; sat limits to 0...1, a NaN becomes 0. What has a name of its own is what
 * programs use most; rounding.h has all roundings, and sat. An f32 NaN result is 0x7fffffff.
 * An f64 NaN result is a NaN operand made quiet (the last of two, but the first in a division; of three, b
 * before c before a), or 0xfff8000000000000 where no operand is a NaN. The manual leaves the choice of NaN
 * and the meaning of subnormal open; these are what sm_90 does. */
#ifndef LANEWISE_LANE_FLOAT_H
#define LANEWISE_LANE_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include "how.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* The bits of a number, and the number of some bits. */
static inline uint32_t lw_bits_f32_(float a) {
    uint32_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline float lw_from_bits_f32_(uint32_t bits) {
    float a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}
static inline uint64_t lw_bits_f64_(double a) {
    uint64_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline double lw_from_bits_f64_(uint64_t bits) {
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

/* Pin a NaN; flush a subnormal number; limit to 0...1. */
static inline float lw_pin_f32_(float a) { return a == a ? a : lw_from_bits_f32_(0x7fffffffu); }
static inline float lw_flush_f32_(float a) {
    uint32_t bits = lw_bits_f32_(a);
    return lw_from_bits_f32_(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}
static inline float lw_limit_f32_(float a) {
    a = a > 0.0f ? a : 0.0f;
    return a < 1.0f ? a : 1.0f;
}
static inline double lw_limit_f64_(double a) {
    a = a > 0.0 ? a : 0.0;
    return a < 1.0 ? a : 1.0;
}

/* Pin a NaN, or flush a result to the zero of its sign where it is below normal. */
static inline float lw_flush_if_f32_(bool below, float a) {
    return below ? lw_from_bits_f32_(lw_bits_f32_(a) & 0x80000000u) : lw_pin_f32_(a);
}
#define LW_LEAST_F32_ 1.17549435082228750797e-38f /* 2^-126 */
#define LW_SCALE_F32_ 4294967296.0f               /* 2^32, out of the reach of subnormals */

/* Pin an f64 NaN `d` that came from operands, named in the order of preference. */
static inline double lw_quiet_f64_(double a) { return lw_from_bits_f64_(lw_bits_f64_(a) | 0x0008000000000000u); }
static inline double lw_pin2_f64_(double d, double first, double second) {
    double nan = second != second ? lw_quiet_f64_(second) : lw_from_bits_f64_(0xfff8000000000000u);
    nan = first != first ? lw_quiet_f64_(first) : nan;
    return d == d ? d : nan;
}
static inline double lw_pin3_f64_(double d, double first, double second, double third) {
    return lw_pin2_f64_(d, first, second == second ? third : second);
}

/* Sum.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX add.rn of .f32 and .f64; .ftz of .f32
 * source   PTX ISA 9.7.3.3 */
static inline float lw_add_rn_f32(float a, float b) { return lw_pin_f32_(a + b); }
static inline float lw_add_rn_ftz_f32(float a, float b) {
    return lw_flush_f32_(lw_pin_f32_(lw_flush_f32_(a) + lw_flush_f32_(b)));
}
static inline double lw_add_rn_f64(double a, double b) { return lw_pin2_f64_(a + b, b, a); }

/* Difference.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX sub.rn of .f32 and .f64; .ftz of .f32
 * source   PTX ISA 9.7.3.4 */
static inline float lw_sub_rn_f32(float a, float b) { return lw_pin_f32_(a - b); }
static inline float lw_sub_rn_ftz_f32(float a, float b) {
    return lw_flush_f32_(lw_pin_f32_(lw_flush_f32_(a) - lw_flush_f32_(b)));
}
static inline double lw_sub_rn_f64(double a, double b) { return lw_pin2_f64_(a - b, b, a); }

/* Product.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX mul.rn of .f32 and .f64; .ftz of .f32
 * source   PTX ISA 9.7.3.5 */
static inline float lw_mul_rn_f32(float a, float b) { return lw_pin_f32_(a * b); }
static inline float lw_mul_rn_ftz_f32(float a, float b) {
    a = lw_flush_f32_(a);
    b = lw_flush_f32_(b);
    bool below = __builtin_fabsf(a * LW_SCALE_F32_ * b) < LW_LEAST_F32_ * LW_SCALE_F32_;
    return lw_flush_if_f32_(below, a * b);
}
static inline double lw_mul_rn_f64(double a, double b) { return lw_pin2_f64_(a * b, b, a); }

/* Product plus c, rounded once.
 *
 * a, b, c  numbers
 * returns  one number
 * fails    never
 * spelled  PTX fma.rn of .f32 and .f64; .ftz of .f32; mad.rn likewise
 * source   PTX ISA 9.7.3.6, 9.7.3.7 */
static inline float lw_fma_rn_f32(float a, float b, float c) { return lw_pin_f32_(__builtin_fmaf(a, b, c)); }
static inline float lw_fma_rn_ftz_f32(float a, float b, float c) {
    a = lw_flush_f32_(a), b = lw_flush_f32_(b), c = lw_flush_f32_(c);
    float scaled = __builtin_fmaf(a * LW_SCALE_F32_, b, c * LW_SCALE_F32_);
    return lw_flush_if_f32_(__builtin_fabsf(scaled) < LW_LEAST_F32_ * LW_SCALE_F32_, __builtin_fmaf(a, b, c));
}
static inline double lw_fma_rn_f64(double a, double b, double c) {
    return lw_pin3_f64_(__builtin_fma(a, b, c), b, c, a);
}

/* Quotient.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX div.rn.f32, div.rn.ftz.f32, div.rn.f64
 * source   PTX ISA 9.7.3.8 */
static inline float lw_div_rn_f32(float a, float b) { return lw_pin_f32_(a / b); }
static inline bool lw_below_quotient_f32_(float a, float b) { /* with no product below normal: hosts are slow there */
    return __builtin_fabsf(a) * 0x1p126f < __builtin_fabsf(b);
}
static inline float lw_div_rn_ftz_f32(float a, float b) {
    a = lw_flush_f32_(a);
    b = lw_flush_f32_(b);
    return lw_flush_if_f32_(lw_below_quotient_f32_(a, b), a / b);
}
static inline double lw_div_rn_f64(double a, double b) { return lw_pin2_f64_(a / b, a, b); }

/* Reciprocal.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX rcp.rn.f32, rcp.rn.ftz.f32, rcp.rn.f64
 * source   PTX ISA 9.7.3.13 */
static inline float lw_rcp_rn_f32(float a) { return lw_pin_f32_(1.0f / a); }
static inline float lw_rcp_rn_ftz_f32(float a) { return lw_flush_f32_(lw_pin_f32_(1.0f / lw_flush_f32_(a))); }
static inline double lw_rcp_rn_f64(double a) { return lw_pin2_f64_(1.0 / a, a, a); }

/* Square root.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX sqrt.rn.f32, sqrt.rn.ftz.f32, sqrt.rn.f64
 * source   PTX ISA 9.7.3.15 */
static inline float lw_sqrt_rn_f32(float a) { return lw_pin_f32_(__builtin_sqrtf(a)); }
static inline float lw_sqrt_rn_ftz_f32(float a) { return lw_pin_f32_(__builtin_sqrtf(lw_flush_f32_(a))); }
static inline double lw_sqrt_rn_f64(double a) { return lw_pin2_f64_(__builtin_sqrt(a), a, a); }

/* Absolute value; an f64 NaN keeps its sign.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX abs.f32, abs.ftz.f32, abs.f64
 * source   PTX ISA 9.7.3.9 */
static inline float lw_abs_f32(float a) { return lw_pin_f32_(lw_from_bits_f32_(lw_bits_f32_(a) & 0x7fffffffu)); }
static inline float lw_abs_ftz_f32(float a) { return lw_abs_f32(lw_flush_f32_(a)); }
static inline double lw_abs_f64(double a) {
    return a == a ? lw_from_bits_f64_(lw_bits_f64_(a) & 0x7fffffffffffffffu) : lw_quiet_f64_(a);
}

/* Negative; an f64 NaN keeps its sign.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX neg.f32, neg.ftz.f32, neg.f64
 * source   PTX ISA 9.7.3.10 */
static inline float lw_neg_f32(float a) { return lw_pin_f32_(lw_from_bits_f32_(lw_bits_f32_(a) ^ 0x80000000u)); }
static inline float lw_neg_ftz_f32(float a) { return lw_neg_f32(lw_flush_f32_(a)); }
static inline double lw_neg_f64(double a) {
    return a == a ? lw_from_bits_f64_(lw_bits_f64_(a) ^ 0x8000000000000000u) : lw_quiet_f64_(a);
}

/* An operand of min and max, flushed or as a magnitude; the result of two, with the signs or a NaN that `how` asks
 * for. */
static inline uint32_t lw_all_if_(uint32_t how, uint32_t flag) { return 0u - ((how & flag) != 0); }
static inline float lw_operand_f32_(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), below = bits & 0x7f800000u ? 0 : 0x7fffffffu;
    return lw_from_bits_f32_(bits & ~(below & lw_all_if_(how, LW_FLOAT_FTZ)) &
                             ~(lw_all_if_(how, LW_FLOAT_ABS) & 0x80000000u));
}
static inline float lw_chosen_f32_(float a, float b, float d, uint32_t signs, uint32_t how) {
    const uint32_t nan = ((a == a) & (b == b)) ? 0 : lw_all_if_(how, LW_FLOAT_NAN);
    signs &= lw_all_if_(how, LW_FLOAT_XORSIGN) & 0x80000000u;
    return lw_pin_f32_(lw_from_bits_f32_(lw_bits_f32_(d) | signs | (nan & 0x7fffffffu)));
}

/* Smaller of two numbers; -0 is below +0. A NaN gives way to a number, unless NaN asks for a NaN if either is
 * one. abs takes magnitudes; with xorsign the result gets the exclusive or of the signs.
 *
 * a, b     numbers
 * how      LW_FLOAT_FTZ, NAN, ABS, XORSIGN with ABS, or nothing
 * returns  one number
 * fails    never
 * spelled  PTX min.f32, min.f64; .ftz, .NaN, .abs and .xorsign.abs of .f32
 * source   PTX ISA 9.7.3.11 */
static inline float lw_min_f32(float a, float b) {
    float d = a < b ? a : b; /* b where a is a NaN */
    d = a == b ? lw_from_bits_f32_(lw_bits_f32_(a) | lw_bits_f32_(b)) : d;
    d = b == b ? d : a;
    return lw_pin_f32_(d);
}
static inline double lw_min_f64(double a, double b) {
    double d = a < b ? a : b; /* b where a is a NaN */
    d = a == b ? lw_from_bits_f64_(lw_bits_f64_(a) | lw_bits_f64_(b)) : d;
    d = b == b ? d : a;
    return lw_pin2_f64_(d, b, a);
}
static inline float lw_min_ftz_f32(float a, float b) { return lw_min_f32(lw_flush_f32_(a), lw_flush_f32_(b)); }
static inline float lw_least_f32(float a, float b, uint32_t how) {
    const float x = lw_operand_f32_(a, how), y = lw_operand_f32_(b, how);
    return lw_chosen_f32_(x, y, lw_min_f32(x, y), lw_bits_f32_(a) ^ lw_bits_f32_(b), how);
}

/* Larger of two numbers; -0 is below +0. A NaN gives way to a number, unless NaN asks for a NaN if either is
 * one. abs takes magnitudes; with xorsign the result gets the exclusive or of the signs.
 *
 * a, b     numbers
 * how      LW_FLOAT_FTZ, NAN, ABS, XORSIGN with ABS, or nothing
 * returns  one number
 * fails    never
 * spelled  PTX max.f32, max.f64; .ftz, .NaN, .abs and .xorsign.abs of .f32
 * source   PTX ISA 9.7.3.12 */
static inline float lw_max_f32(float a, float b) {
    float d = a > b ? a : b; /* b where a is a NaN */
    d = a == b ? lw_from_bits_f32_(lw_bits_f32_(a) & lw_bits_f32_(b)) : d;
    d = b == b ? d : a;
    return lw_pin_f32_(d);
}
static inline double lw_max_f64(double a, double b) {
    double d = a > b ? a : b; /* b where a is a NaN */
    d = a == b ? lw_from_bits_f64_(lw_bits_f64_(a) & lw_bits_f64_(b)) : d;
    d = b == b ? d : a;
    return lw_pin2_f64_(d, b, a);
}
static inline float lw_max_ftz_f32(float a, float b) { return lw_max_f32(lw_flush_f32_(a), lw_flush_f32_(b)); }
static inline float lw_most_f32(float a, float b, uint32_t how) {
    const float x = lw_operand_f32_(a, how), y = lw_operand_f32_(b, how);
    return lw_chosen_f32_(x, y, lw_max_f32(x, y), lw_bits_f32_(a) ^ lw_bits_f32_(b), how);
}

/* Whether a number is of a kind that is asked for; a zero counts as normal.
 *
 * a        number
 * how      LW_FLOAT_NORMAL, SUBNORMAL, INFINITE, NOT_A_NUMBER, or a sum of several
 * returns  the predicate
 * fails    never
 * spelled  PTX testp of .f32 .f64
 * source   PTX ISA 9.7.3.1 */
static inline bool lw_testp_f32(float a, uint32_t how) {
    const uint32_t magnitude = lw_bits_f32_(a) & 0x7fffffffu;
    uint32_t kind = magnitude - 1 < 0x00800000u - 1 ? LW_FLOAT_SUBNORMAL : LW_FLOAT_NORMAL;
    kind = magnitude == 0x7f800000u ? (uint32_t)LW_FLOAT_INFINITE : kind;
    kind = magnitude > 0x7f800000u ? (uint32_t)LW_FLOAT_NOT_A_NUMBER : kind;
    return (kind & how) != 0;
}
static inline bool lw_testp_f64(double a, uint32_t how) {
    const uint64_t magnitude = lw_bits_f64_(a) & 0x7fffffffffffffffu;
    uint32_t kind = magnitude - 1 < 0x0010000000000000u - 1 ? LW_FLOAT_SUBNORMAL : LW_FLOAT_NORMAL;
    kind = magnitude == 0x7ff0000000000000u ? (uint32_t)LW_FLOAT_INFINITE : kind;
    kind = magnitude > 0x7ff0000000000000u ? (uint32_t)LW_FLOAT_NOT_A_NUMBER : kind;
    return (kind & how) != 0;
}

/* b with the sign of a.
 *
 * a, b     numbers
 * returns  one number
 * fails    never
 * spelled  PTX copysign.f32, copysign.f64
 * source   PTX ISA 9.7.3.2 */
static inline float lw_copysign_f32(float a, float b) {
    return lw_from_bits_f32_((lw_bits_f32_(a) & 0x80000000u) | (lw_bits_f32_(b) & 0x7fffffffu));
}
static inline double lw_copysign_f64(double a, double b) {
    return lw_from_bits_f64_((lw_bits_f64_(a) & 0x8000000000000000u) | (lw_bits_f64_(b) & 0x7fffffffffffffffu));
}

#endif /* LANEWISE_LANE_FLOAT_H */
