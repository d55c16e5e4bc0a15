/* Half precision of one lane: f16 and bf16, each result rounded once to nearest even; x2 has two in a word.
 *
 * `how` is a constant: words of the mnemonic. ftz takes subnormal operands of f16 as zeros and flushes results that are
 * below the smallest normal number when rounded as if exponents had no end; sat limits to 0...1, where a NaN becomes 0;
 * relu makes what is negative, -0 too, +0 and leaves a NaN. A NaN result is 0x7fff. What the compiler must be told is
 * said in float.h.
 *
 * Sums and products of f16 and of bf16 are right if they are rounded to f32 first: 24 bits are twice 11 and two more. A
 * fused sum is not: there the wide number is rounded to odd, which keeps which side of a half the exact sum is on. A
 * product of f16 is exact in f32, one of bf16 in f64. */
#ifndef LANEWISE_LANE_HALF_H
#define LANEWISE_LANE_HALF_H

#include "approx.h"
#include "compare.h"
#include "rounding.h"

/* ---- Operands and results --------------------------------------------------------------------------------- */

static inline float lw_wide_bf16_(uint16_t a) { return lw_from_bits_f32_((uint32_t)a << 16); }

/* A subnormal f16 as a zero where ftz says so. */
static inline uint16_t lw_flush_f16_(uint16_t a, uint32_t how) {
    const uint32_t below = a & 0x7c00u ? 0 : lw_all_if_(how, LW_FLOAT_FTZ);
    return (uint16_t)(a & ~(below & 0x7fffu));
}
/* The number as f32, a NaN as some NaN. */
static inline float lw_operand_f16_(uint16_t a, uint32_t how) { return lw_wide_f16_(lw_flush_f16_(a, how)); }

/* The limits of sat and relu, of bits with 1 as given. */
static inline uint32_t lw_limit_half_(uint32_t d, uint32_t one, uint32_t how) {
    const uint32_t sat = lw_all_if_(how, LW_FLOAT_SAT), relu = lw_all_if_(how, LW_FLOAT_RELU);
    const uint32_t negative = 0u - (d >> 15), nan = 0u - (uint32_t)(d == 0x7fffu), above = 0u - (uint32_t)(d > one);
    d = (d & ~(above & sat)) | (one & above & sat);
    return d & ~((negative & (sat | relu)) | (nan & sat));
}

/* An f32 rounded to f16 or bf16, which is right for numbers that are exact or were rounded to odd. */
static inline uint16_t lw_round_f16_(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const uint32_t normal = lw_least_((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13, 0x7c00u);
    const float least = lw_from_bits_f32_(lw_least_(magnitude, 0x38800000u)); /* 2^-14 */
    const uint32_t small = lw_bits_f32_(least + 0.5f) - 0x3f000000u;          /* places of 2^-24 */
    const uint32_t below = 0u - (uint32_t)(magnitude < 0x38800000u), nan = 0u - (uint32_t)(magnitude > 0x7f800000u);
    const uint32_t tiny = (0u - (uint32_t)(magnitude < 0x387ff000u)) &
                          lw_all_if_(how, LW_FLOAT_FTZ); /* 2^-14 - 2^-26 */
    const uint32_t d = (((small & below) | (normal & ~below)) & ~tiny) | sign;
    return (uint16_t)lw_limit_half_((d & ~nan) | (nan & 0x7fffu), 0x3c00u, how);
}
static inline uint16_t lw_round_bf16_(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), nan = 0u - (uint32_t)((bits & 0x7fffffffu) > 0x7f800000u);
    const uint32_t d = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)lw_limit_half_((d & ~nan) | (nan & 0x7fffu), 0x3f80u, how);
}

/* a + b rounded to odd: of two neighbours the one with an odd last place, unless the sum is a number. Where the sum is
 * larger than the exact one its bits go down by one before the last is set. */
static inline float lw_odd_sum_f32_(float a, float b) {
    const float s = a + b, part = s - a, lost = (a - (s - part)) + (b - part);
    const uint32_t bits = lw_bits_f32_(s), inexact = 0u - ((uint32_t)(lost < 0.0f) | (uint32_t)(lost > 0.0f));
    const uint32_t inward = (uint32_t)((int32_t)(bits ^ lw_bits_f32_(lost)) >> 31);
    return lw_from_bits_f32_((bits + (inward & inexact)) | (inexact & 1u));
}
static inline double lw_odd_sum_f64_(double a, double b) {
    const double s = a + b, part = s - a, lost = (a - (s - part)) + (b - part);
    const uint64_t bits = lw_bits_f64_(s), inexact = 0u - ((uint64_t)(lost < 0.0) | (uint64_t)(lost > 0.0));
    const uint64_t inward = (uint64_t)((int64_t)(bits ^ lw_bits_f64_(lost)) >> 63);
    return lw_from_bits_f64_((bits + (inward & inexact)) | (inexact & 1u));
}

/* An f64 rounded to 8 bits or to whole 2^-133: beside a number 2^45 times as large as its leading place nothing smaller
 * stays. What is too large for f32 is infinite as f32. */
static inline float lw_brain_f64_(double a) {
    const uint64_t bits = lw_bits_f64_(a), sign = bits & UINT64_C(0x8000000000000000);
    uint64_t leading = bits & UINT64_C(0x7ff0000000000000);
    leading = leading < UINT64_C(0x3810000000000000) ? UINT64_C(0x3810000000000000) : leading; /* 2^-126 */
    leading = leading > UINT64_C(0x5000000000000000) ? UINT64_C(0x5000000000000000) : leading; /* 2^257 */
    const double beside = lw_from_bits_f64_(leading + (UINT64_C(45) << 52));
    const double size = (lw_from_bits_f64_(bits ^ sign) + beside) - beside;
    return (float)lw_from_bits_f64_(lw_bits_f64_(size) | sign);
}

/* ---- Arithmetic ------------------------------------------------------------------------------------------- */

/* Both halves of words by a function of one number. */
#define LW_TWICE1_(f, a, how) ((uint32_t)f((uint16_t)((a) >> 16), how) << 16 | f((uint16_t)(a), how))
#define LW_TWICE2_(f, a, b, how) \
    ((uint32_t)f((uint16_t)((a) >> 16), (uint16_t)((b) >> 16), how) << 16 | f((uint16_t)(a), (uint16_t)(b), how))
#define LW_TWICE3_(f, a, b, c, how) \
    ((uint32_t)f((uint16_t)((a) >> 16), (uint16_t)((b) >> 16), (uint16_t)((c) >> 16), how) << 16 | \
     f((uint16_t)(a), (uint16_t)(b), (uint16_t)(c), how))

/* Sum.
 *
 * a, b     bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, SAT, or nothing
 * returns  as many
 * fails    never
 * spelled  PTX add of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.1 */
static inline uint16_t lw_add_f16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_round_f16_(lw_operand_f16_(a, how) + lw_operand_f16_(b, how), how);
}
static inline uint16_t lw_add_bf16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_round_bf16_(lw_wide_bf16_(a) + lw_wide_bf16_(b), how);
}
static inline uint32_t lw_add_f16x2(uint32_t a, uint32_t b, uint32_t how) { return LW_TWICE2_(lw_add_f16, a, b, how); }
static inline uint32_t lw_add_bf16x2(uint32_t a, uint32_t b, uint32_t how) {
    return LW_TWICE2_(lw_add_bf16, a, b, how);
}

/* Difference.
 *
 * a, b     bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, SAT, or nothing
 * returns  as many
 * fails    never
 * spelled  PTX sub of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.2 */
static inline uint16_t lw_sub_f16(uint16_t a, uint16_t b, uint32_t how) { return lw_add_f16(a, b ^ 0x8000u, how); }
static inline uint16_t lw_sub_bf16(uint16_t a, uint16_t b, uint32_t how) { return lw_add_bf16(a, b ^ 0x8000u, how); }
static inline uint32_t lw_sub_f16x2(uint32_t a, uint32_t b, uint32_t how) {
    return lw_add_f16x2(a, b ^ 0x80008000u, how);
}
static inline uint32_t lw_sub_bf16x2(uint32_t a, uint32_t b, uint32_t how) {
    return lw_add_bf16x2(a, b ^ 0x80008000u, how);
}

/* Product. Of bf16 what f32 rounds is below half of the smallest number.
 *
 * a, b     bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, SAT, or nothing
 * returns  as many
 * fails    never
 * spelled  PTX mul of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.3 */
static inline uint16_t lw_mul_f16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_round_f16_(lw_operand_f16_(a, how) * lw_operand_f16_(b, how), how);
}
static inline uint16_t lw_mul_bf16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_round_bf16_(lw_wide_bf16_(a) * lw_wide_bf16_(b), how);
}
static inline uint32_t lw_mul_f16x2(uint32_t a, uint32_t b, uint32_t how) { return LW_TWICE2_(lw_mul_f16, a, b, how); }
static inline uint32_t lw_mul_bf16x2(uint32_t a, uint32_t b, uint32_t how) {
    return LW_TWICE2_(lw_mul_bf16, a, b, how);
}

/* Product plus c, rounded once. With oob it is 0 where a or b is the NaN 0x7ff7 of either sign, whatever the others
 * are.
 *
 * a, b, c  bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, SAT, RELU, OOB, or a sum of several
 * returns  as many
 * fails    never
 * spelled  PTX fma.rn of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.4 */
static inline uint16_t lw_within_(uint16_t a, uint16_t b, uint16_t d, uint32_t how) {
    const uint32_t outside = (uint32_t)((a & 0x7fffu) == 0x7ff7u) | (uint32_t)((b & 0x7fffu) == 0x7ff7u);
    return (uint16_t)(d & ~((0u - outside) & lw_all_if_(how, LW_FLOAT_OOB)));
}
static inline uint16_t lw_fma_f16(uint16_t a, uint16_t b, uint16_t c, uint32_t how) {
    const float product = lw_operand_f16_(a, how) * lw_operand_f16_(b, how);
    return lw_within_(a, b, lw_round_f16_(lw_odd_sum_f32_(product, lw_operand_f16_(c, how)), how), how);
}
static inline uint16_t lw_fma_bf16(uint16_t a, uint16_t b, uint16_t c, uint32_t how) {
    const double product = (double)lw_wide_bf16_(a) * (double)lw_wide_bf16_(b);
    const float sum = lw_brain_f64_(lw_odd_sum_f64_(product, (double)lw_wide_bf16_(c)));
    return lw_within_(a, b, lw_round_bf16_(sum, how), how);
}
static inline uint32_t lw_fma_f16x2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return LW_TWICE3_(lw_fma_f16, a, b, c, how);
}
static inline uint32_t lw_fma_bf16x2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return LW_TWICE3_(lw_fma_bf16, a, b, c, how);
}

/* What programs use most, without a word that says how.
 *
 * a, b, c  bits of one or two numbers
 * returns  as many
 * fails    never
 * spelled  PTX add, sub, mul, fma.rn of .f16 .f16x2; fma.rn of .bf16 .bf16x2
 * source   PTX ISA 9.7.4.1 to 9.7.4.4 */
static inline uint16_t lw_add_rn_f16(uint16_t a, uint16_t b) { return lw_add_f16(a, b, 0); }
static inline uint16_t lw_sub_rn_f16(uint16_t a, uint16_t b) { return lw_sub_f16(a, b, 0); }
static inline uint16_t lw_mul_rn_f16(uint16_t a, uint16_t b) { return lw_mul_f16(a, b, 0); }
static inline uint16_t lw_fma_rn_f16(uint16_t a, uint16_t b, uint16_t c) { return lw_fma_f16(a, b, c, 0); }
static inline uint16_t lw_fma_rn_bf16(uint16_t a, uint16_t b, uint16_t c) { return lw_fma_bf16(a, b, c, 0); }
static inline uint32_t lw_add_rn_f16x2(uint32_t a, uint32_t b) { return lw_add_f16x2(a, b, 0); }
static inline uint32_t lw_sub_rn_f16x2(uint32_t a, uint32_t b) { return lw_sub_f16x2(a, b, 0); }
static inline uint32_t lw_mul_rn_f16x2(uint32_t a, uint32_t b) { return lw_mul_f16x2(a, b, 0); }
static inline uint32_t lw_fma_rn_f16x2(uint32_t a, uint32_t b, uint32_t c) { return lw_fma_f16x2(a, b, c, 0); }
static inline uint32_t lw_fma_rn_bf16x2(uint32_t a, uint32_t b, uint32_t c) { return lw_fma_bf16x2(a, b, c, 0); }

/* Of bf16, where no operand is so large or product so small that f32 would not hold it exactly. */
static inline uint16_t lw_usual_fma_rn_bf16(uint16_t a, uint16_t b, uint16_t c) {
    return lw_round_bf16_(lw_odd_sum_f32_(lw_wide_bf16_(a) * lw_wide_bf16_(b), lw_wide_bf16_(c)), 0);
}
static inline bool lw_rare_fma_rn_bf16(uint16_t a, uint16_t b, uint16_t c) {
    return lw_rare_fma_f32(lw_wide_bf16_(a), lw_wide_bf16_(b), lw_wide_bf16_(c));
}
static inline uint32_t lw_usual_fma_rn_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t high = lw_usual_fma_rn_bf16((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16));
    return high << 16 | lw_usual_fma_rn_bf16((uint16_t)a, (uint16_t)b, (uint16_t)c);
}
static inline bool lw_rare_fma_rn_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t high = lw_rare_fma_rn_bf16((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16));
    return (high | (uint32_t)lw_rare_fma_rn_bf16((uint16_t)a, (uint16_t)b, (uint16_t)c)) != 0;
}

/* Absolute value and negative.
 *
 * a        bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, or nothing
 * returns  as many
 * fails    never
 * spelled  PTX abs, neg of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.5, 9.7.4.6 */
static inline uint16_t lw_pin_half_(uint32_t d, uint32_t infinity) {
    return (uint16_t)((d & 0x7fffu) > infinity ? 0x7fffu : d);
}
static inline uint16_t lw_abs_f16(uint16_t a, uint32_t how) {
    return lw_pin_half_(lw_flush_f16_(a, how) & 0x7fffu, 0x7c00u);
}
static inline uint16_t lw_neg_f16(uint16_t a, uint32_t how) {
    return lw_pin_half_(lw_flush_f16_(a, how) ^ 0x8000u, 0x7c00u);
}
static inline uint16_t lw_abs_bf16(uint16_t a, uint32_t how) { return (void)how, lw_pin_half_(a & 0x7fffu, 0x7f80u); }
static inline uint16_t lw_neg_bf16(uint16_t a, uint32_t how) { return (void)how, lw_pin_half_(a ^ 0x8000u, 0x7f80u); }
static inline uint32_t lw_abs_f16x2(uint32_t a, uint32_t how) { return LW_TWICE1_(lw_abs_f16, a, how); }
static inline uint32_t lw_neg_f16x2(uint32_t a, uint32_t how) { return LW_TWICE1_(lw_neg_f16, a, how); }
static inline uint32_t lw_abs_bf16x2(uint32_t a, uint32_t how) { return LW_TWICE1_(lw_abs_bf16, a, how); }
static inline uint32_t lw_neg_bf16x2(uint32_t a, uint32_t how) { return LW_TWICE1_(lw_neg_bf16, a, how); }

/* ---- Smaller, larger, comparisons ------------------------------------------------------------------------- */

/* Of two numbers the one that `other` says; -0 is below +0, signs and NaNs as in lw_least_f32. */
static inline uint16_t lw_chosen_half_(uint32_t a, uint32_t b, uint32_t infinity, uint32_t larger, uint32_t how) {
    const uint32_t signs = (a ^ b) & 0x8000u & lw_all_if_(how, LW_FLOAT_XORSIGN),
                   keep = ~(lw_all_if_(how, LW_FLOAT_ABS) & 0x8000u);
    const uint32_t x = a & keep, y = b & keep;
    const uint32_t nan_x = 0u - (uint32_t)((x & 0x7fffu) > infinity), nan_y = 0u - (uint32_t)((y & 0x7fffu) > infinity);
    const int32_t order_x = (int32_t)((x & 0x7fffu) ^ (0u - (x >> 15))),
                  order_y = (int32_t)((y & 0x7fffu) ^ (0u - (y >> 15)));
    const uint32_t above = (0u - (uint32_t)(order_x > order_y)) ^ larger; /* all ones: b */
    const uint32_t second = (above | nan_x) & ~nan_y;
    const uint32_t nan = (nan_x & nan_y) | ((nan_x | nan_y) & lw_all_if_(how, LW_FLOAT_NAN));
    const uint32_t d = (x & ~second) | (y & second) | signs;
    return (uint16_t)((d & ~nan) | (nan & 0x7fffu));
}

/* Smaller, larger of two numbers.
 *
 * a, b     bits of one or two numbers
 * how      LW_FLOAT_FTZ of f16, NAN, XORSIGN with ABS, or nothing
 * returns  as many
 * fails    never
 * spelled  PTX min, max of .f16 .f16x2 .bf16 .bf16x2
 * source   PTX ISA 9.7.4.7, 9.7.4.8 */
static inline uint16_t lw_min_f16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_chosen_half_(lw_flush_f16_(a, how), lw_flush_f16_(b, how), 0x7c00u, 0, how);
}
static inline uint16_t lw_max_f16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_chosen_half_(lw_flush_f16_(a, how), lw_flush_f16_(b, how), 0x7c00u, ~0u, how);
}
static inline uint16_t lw_min_bf16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_chosen_half_(a, b, 0x7f80u, 0, how);
}
static inline uint16_t lw_max_bf16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_chosen_half_(a, b, 0x7f80u, ~0u, how);
}
static inline uint32_t lw_min_f16x2(uint32_t a, uint32_t b, uint32_t how) { return LW_TWICE2_(lw_min_f16, a, b, how); }
static inline uint32_t lw_max_f16x2(uint32_t a, uint32_t b, uint32_t how) { return LW_TWICE2_(lw_max_f16, a, b, how); }
static inline uint32_t lw_min_bf16x2(uint32_t a, uint32_t b, uint32_t how) {
    return LW_TWICE2_(lw_min_bf16, a, b, how);
}
static inline uint32_t lw_max_bf16x2(uint32_t a, uint32_t b, uint32_t how) {
    return LW_TWICE2_(lw_max_bf16, a, b, how);
}

/* Comparison.
 *
 * a, b     bits of a number each
 * how      LW_FLOAT_LESS, EQUAL, GREATER, UNORDERED, or a sum of several; FTZ of f16
 * returns  the predicate
 * fails    never
 * spelled  PTX setp and set of .f16 .bf16, of each half of .f16x2 .bf16x2
 * source   PTX ISA 9.7.7.1, 9.7.7.2 */
static inline bool lw_setp_f16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_holds_f32_(lw_operand_f16_(a, how), lw_operand_f16_(b, how), how);
}
static inline bool lw_setp_bf16(uint16_t a, uint16_t b, uint32_t how) {
    return lw_holds_f32_(lw_wide_bf16_(a), lw_wide_bf16_(b), how);
}

#undef LW_TWICE1_
#undef LW_TWICE2_
#undef LW_TWICE3_

#endif /* LANEWISE_LANE_HALF_H */
