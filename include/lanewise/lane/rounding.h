/* Floating point of one lane in any rounding: f32 and f64, rounded once to nearest, towards zero, down or up.
 *
 * `how` is a constant: one of LW_FLOAT_RN, RZ, RM, RP, and LW_FLOAT_SAT or nothing. Names, NaN results, ftz and what
 * the compiler must be told are those of float.h; ftz is part of the name.
 *
 * Nothing here asks or sets the host's rounding, which is to nearest. Each function takes the result to nearest,
 * `near`, and finds the sign of what is missing, `rest`, of which nothing else counts: errors of sums are exact, those
 * of products, quotients and roots come out of a fused multiply-add. Where an intermediate number might leave the range
 * of exponents, all are scaled by a power of two first. To round down, operands and result change their signs: then it
 * is up, and the sign of a sum that is zero comes out right. */
#ifndef LANEWISE_LANE_ROUNDING_H
#define LANEWISE_LANE_ROUNDING_H

#include "float.h"

/* All ones in this rounding. */
static inline uint32_t lw_rounds_(uint32_t how, uint32_t rounding) {
    return 0u - ((how & LW_FLOAT_ROUNDING) == rounding);
}
static inline uint64_t lw_top_f64_(uint32_t top) { return (uint64_t)top << 32; }

/* The other sign where rounding is down. */
static inline float lw_turn_f32_(float a, uint32_t how) {
    return lw_from_bits_f32_(lw_bits_f32_(a) ^ (lw_rounds_(how, LW_FLOAT_RM) & 0x80000000u));
}
static inline double lw_turn_f64_(double a, uint32_t how) {
    return lw_from_bits_f64_(lw_bits_f64_(a) ^ lw_top_f64_(lw_rounds_(how, LW_FLOAT_RM) & 0x80000000u));
}

/* The number next to `near` that the rounding asks for, if `rest` has its sign: towards zero the other sign, up, and
 * down of what was turned, above zero. A NaN asks for nothing. */
static inline float lw_round_f32_(float near, float rest, uint32_t how) {
    const uint32_t s = lw_bits_f32_(near), inward = lw_rounds_(how, LW_FLOAT_RZ);
    const float asks = lw_from_bits_f32_(lw_bits_f32_(rest) ^ (~s & inward & 0x80000000u));
    const float never = lw_from_bits_f32_(lw_rounds_(how, LW_FLOAT_RN) & 0x7f800000u);
    const uint32_t step = (uint32_t)((int32_t)s >> 31) | inward | 1; /* -1: the next number has smaller bits */
    return lw_from_bits_f32_(s + (asks > never ? step : 0));
}
static inline double lw_round_f64_(double near, double rest, uint32_t how) {
    const uint64_t s = lw_bits_f64_(near), inward = 0u - (uint64_t)(lw_rounds_(how, LW_FLOAT_RZ) & 1);
    const double asks = lw_from_bits_f64_(lw_bits_f64_(rest) ^ (~s & inward & 0x8000000000000000u));
    const double never = lw_from_bits_f64_(lw_top_f64_(lw_rounds_(how, LW_FLOAT_RN) & 0x7ff00000u));
    const uint64_t step = (uint64_t)((int64_t)s >> 63) | inward | 1;
    return lw_from_bits_f64_(s + (asks > never ? step : 0));
}

/* With ftz a small result is made 2^64 times too large, so that no place of it is lost below the normal numbers: by
 * which factor, from a size below 2^-90 where it is; and back. */
static inline float lw_scale_f32_(float size) { return size < 0x1p-90f ? 0x1p64f : 1.0f; }
static inline float lw_unscaled_f32_(float a, float scale) {
    const float back = scale == 1.0f ? 1.0f : 0x1p-64f, least = scale * LW_LEAST_F32_;
    return __builtin_fabsf(a) < least ? lw_from_bits_f32_(lw_bits_f32_(a) & 0x80000000u) : a * back;
}
/* Pinned, or limited to 0...1: as integers, where the pinned NaN plus one is the least. */
static inline float lw_end_f32_(float a, uint32_t how) {
    const int32_t least = how & LW_FLOAT_SAT ? 1 : INT32_MIN, most = how & LW_FLOAT_SAT ? 0x3f800001 : INT32_MAX;
    int32_t next = (int32_t)(lw_bits_f32_(lw_pin_f32_(a)) + 1u);
    next = next > least ? next : least;
    next = next < most ? next : most;
    return lw_from_bits_f32_((uint32_t)next - 1u);
}

/* a * b + c with the right sign, and exact where 24 bits hold it. Without an instruction for it: doubles hold the
 * product, and lose no sign of the sum. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
static inline float lw_fused_f32_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
static inline float lw_fused_f32_(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }
#endif

/* Sum. The error of a sum of two floats is a float: what the smaller one has beyond what it added to the larger.
 *
 * a, b     numbers
 * how      rounding, LW_FLOAT_SAT
 * returns  one number
 * fails    never
 * spelled  PTX add of .f32 and .f64 in .rn .rz .rm .rp; .ftz and .sat of .f32
 * source   PTX ISA 9.7.3.3 */
static inline float lw_sum_f32_(float a, float b, uint32_t how) {
    a = lw_turn_f32_(a, how), b = lw_turn_f32_(b, how);
    const bool swap = __builtin_fabsf(a) < __builtin_fabsf(b);
    const float most = swap ? b : a, least = swap ? a : b, near = a + b;
    return lw_turn_f32_(lw_round_f32_(near, least - (near - most), how), how);
}
static inline float lw_add_f32(float a, float b, uint32_t how) { return lw_end_f32_(lw_sum_f32_(a, b, how), how); }
static inline float lw_add_ftz_f32(float a, float b, uint32_t how) {
    return lw_end_f32_(lw_flush_f32_(lw_sum_f32_(lw_flush_f32_(a), lw_flush_f32_(b), how)), how);
}
static inline double lw_sum_f64_(double a, double b, uint32_t how) {
    a = lw_turn_f64_(a, how), b = lw_turn_f64_(b, how);
    const bool swap = __builtin_fabs(a) < __builtin_fabs(b);
    const double most = swap ? b : a, least = swap ? a : b, near = a + b;
    return lw_turn_f64_(lw_round_f64_(near, least - (near - most), how), how);
}
static inline double lw_add_f64(double a, double b, uint32_t how) { return lw_pin2_f64_(lw_sum_f64_(a, b, how), b, a); }

/* Difference.
 *
 * a, b     numbers
 * how      rounding, LW_FLOAT_SAT
 * returns  one number
 * fails    never
 * spelled  PTX sub of .f32 and .f64 in .rn .rz .rm .rp; .ftz and .sat of .f32
 * source   PTX ISA 9.7.3.4 */
static inline float lw_sub_f32(float a, float b, uint32_t how) { return lw_add_f32(a, -b, how); }
static inline float lw_sub_ftz_f32(float a, float b, uint32_t how) { return lw_add_ftz_f32(a, -b, how); }
static inline double lw_sub_f64(double a, double b, uint32_t how) {
    return lw_pin2_f64_(lw_sum_f64_(a, -b, how), b, a);
}

/* Product. Its error is exact if its last place is in range; with ftz that is what decides whether it is below normal.
 *
 * a, b     numbers
 * how      rounding, LW_FLOAT_SAT
 * returns  one number
 * fails    never
 * spelled  PTX mul of .f32 and .f64 in .rn .rz .rm .rp; .ftz and .sat of .f32
 * source   PTX ISA 9.7.3.5 */
static inline float lw_mul_f32(float a, float b, uint32_t how) {
    a = lw_turn_f32_(a, how);
    const float near = a * b, k = __builtin_fabsf(near) < 0x1p-100f ? 0x1p76f : 1.0f;
    const float rest = lw_fused_f32_(a * k, b * k, -(near * k * k));
    return lw_end_f32_(lw_turn_f32_(lw_round_f32_(near, rest, how), how), how);
}
static inline float lw_mul_ftz_f32(float a, float b, uint32_t how) {
    a = lw_turn_f32_(lw_flush_f32_(a), how), b = lw_flush_f32_(b);
    const float k = lw_scale_f32_(__builtin_fabsf(a) < 0x1p40f ? __builtin_fabsf(a * b) : 1.0f), x = a * k,
                near = x * b;
    const float d = lw_turn_f32_(lw_round_f32_(near, lw_fused_f32_(x, b, -near), how), how);
    return lw_end_f32_(lw_unscaled_f32_(d, k), how);
}
static inline double lw_mul_f64(double a, double b, uint32_t how) {
    const double x = lw_turn_f64_(a, how), near = x * b, k = __builtin_fabs(near) < 0x1p-960 ? 0x1p800 : 1.0;
    const double rest = __builtin_fma(x * k, b * k, -(near * k * k));
    return lw_pin2_f64_(lw_turn_f64_(lw_round_f64_(near, rest, how), how), b, a);
}

/* Product plus c, rounded once. c - near is d + d2 exactly. If d2 is not zero, c and near are not within a factor of
 * two, d is as large as the product and a multiple of its last place, so that a * b + d is exact, or larger than d2. A
 * product below the range is all of the rest if c counts; one about the upper end is scaled down, where a c that
 * vanishes may stay as it is. Operands for which neither can be are usual, the others rare: a loop may look first.
 *
 * a, b, c  numbers
 * how      rounding, LW_FLOAT_SAT
 * returns  one number
 * fails    never
 * spelled  PTX fma and mad of .f32 and .f64 in .rn .rz .rm .rp; .ftz and .sat of .f32
 * source   PTX ISA 9.7.3.6, 9.7.3.7 */
static inline float lw_fma_rest_f32_(float a, float b, float c, float near) {
    const float size = __builtin_fabsf(a * b);
    const bool tiny = size < 0x1p-100f, large = size >= 0x1p120f;
    const float k = tiny ? 0x1p75f : 1.0f, h = large ? 0.25f : 1.0f, scaled = c * h;
    const float z = scaled == 0.0f ? c : scaled, n = near * h;
    const float d = z - n, t = d - z, d2 = (z - (d - t)) - (n + t); /* d2 is a NaN if `near` is infinite */
    return lw_fused_f32_(a * (tiny ? k : h), b * k, d * k * k) + (d2 == d2 ? d2 * k * k : 0.0f);
}
static inline float lw_near_fma_f32_(float a, float b, float c, uint32_t how) {
    a = lw_turn_f32_(a, how), c = lw_turn_f32_(c, how);
    const float near = __builtin_fmaf(a, b, c);
    return lw_turn_f32_(lw_round_f32_(near, lw_fma_rest_f32_(a, b, c, near), how), how);
}
static inline float lw_near_fma_usual_f32_(float a, float b, float c, uint32_t how) {
    a = lw_turn_f32_(a, how), c = lw_turn_f32_(c, how);
    const float near = __builtin_fmaf(a, b, c), d = c - near, t = d - c;
    const float rest = lw_fused_f32_(a, b, d) + ((c - (d - t)) - (near + t));
    return lw_turn_f32_(lw_round_f32_(near, rest, how), how);
}
static inline float lw_fma_f32(float a, float b, float c, uint32_t how) {
    return lw_end_f32_(lw_near_fma_f32_(a, b, c, how), how);
}
static inline float lw_usual_fma_f32(float a, float b, float c, uint32_t how) {
    return lw_end_f32_(lw_near_fma_usual_f32_(a, b, c, how), how);
}
static inline bool lw_rare_fma_f32(float a, float b, float c) {
    const float size = __builtin_fabsf(a * b), addend = __builtin_fabsf(c), most = size > addend ? size : addend;
    return ((size < 0x1p-90f) & (a != 0.0f) & (b != 0.0f)) | !(most < 0x1p120f);
}
static inline float lw_fma_ftz_f32(float a, float b, float c, uint32_t how) {
    a = lw_flush_f32_(a), b = lw_flush_f32_(b), c = lw_flush_f32_(c);
    const float size = __builtin_fabsf(a) < 0x1p40f ? __builtin_fabsf(a * b) : 1.0f;
    const float k = lw_scale_f32_(__builtin_fabsf(c) < 0x1p-60f ? size : 1.0f);
    return lw_end_f32_(lw_unscaled_f32_(lw_near_fma_f32_(a * k, b, c * k, how), k), how);
}
static inline float lw_usual_fma_ftz_f32(float a, float b, float c, uint32_t how) {
    a = lw_flush_f32_(a), b = lw_flush_f32_(b), c = lw_flush_f32_(c);
    return lw_end_f32_(lw_flush_f32_(lw_near_fma_usual_f32_(a, b, c, how)), how);
}
static inline bool lw_rare_fma_ftz_f32(float a, float b, float c) { return lw_rare_fma_f32(a, b, c); }
static inline double lw_fma_rest_f64_(double a, double b, double c, double near) {
    const double size = __builtin_fabs(a * b);
    const bool tiny = size < 0x1p-960, large = size >= 0x1p1000;
    const double k = tiny ? 0x1p800 : 1.0, h = large ? 0.25 : 1.0, scaled = c * h;
    const double z = scaled == 0.0 ? c : scaled, n = near * h;
    const double d = z - n, t = d - z, d2 = (z - (d - t)) - (n + t);
    return __builtin_fma(a * (tiny ? k : h), b * k, d * k * k) + (d2 == d2 ? d2 * k * k : 0.0);
}
static inline double lw_fma_f64(double a, double b, double c, uint32_t how) {
    const double x = lw_turn_f64_(a, how), z = lw_turn_f64_(c, how), near = __builtin_fma(x, b, z);
    const double rest = lw_fma_rest_f64_(x, b, z, near);
    return lw_pin3_f64_(lw_turn_f64_(lw_round_f64_(near, rest, how), how), b, c, a);
}
static inline double lw_usual_fma_f64(double a, double b, double c, uint32_t how) { /* none is a NaN */
    a = lw_turn_f64_(a, how), c = lw_turn_f64_(c, how);
    const double near = __builtin_fma(a, b, c), d = c - near, t = d - c;
    const double rest = __builtin_fma(a, b, d) + ((c - (d - t)) - (near + t));
    return lw_turn_f64_(lw_round_f64_(near, rest, how), how);
}
static inline bool lw_rare_fma_f64(double a, double b, double c) {
    const double size = __builtin_fabs(a * b), addend = __builtin_fabs(c), most = size > addend ? size : addend;
    return ((size < 0x1p-960) & (a != 0.0) & (b != 0.0)) | !(most < 0x1p1000) | (size != size);
}

/* Quotient. The remainder of a / near, with the sign of b turned away, has the sign of what is missing.
 *
 * a, b     numbers
 * how      rounding
 * returns  one number
 * fails    never
 * spelled  PTX div of .f32 and .f64 in .rn .rz .rm .rp; .ftz of .f32
 * source   PTX ISA 9.7.3.8 */
static inline float lw_quotient_f32_(float a, float b, uint32_t how) {
    a = lw_turn_f32_(a, how);
    const float near = a / b, k = __builtin_fabsf(a) < 0x1p-100f ? 0x1p76f : 1.0f;
    const uint32_t rest = lw_bits_f32_(lw_fused_f32_(-(near * k), b, a * k)) ^ (lw_bits_f32_(b) & 0x80000000u);
    return lw_turn_f32_(lw_round_f32_(near, lw_from_bits_f32_(rest), how), how);
}
static inline double lw_quotient_f64_(double a, double b, uint32_t how) {
    a = lw_turn_f64_(a, how);
    const double near = a / b, k = __builtin_fabs(a) < 0x1p-900 ? 0x1p200 : 1.0;
    const uint64_t rest = lw_bits_f64_(__builtin_fma(-(near * k), b, a * k)) ^ (lw_bits_f64_(b) & 0x8000000000000000u);
    return lw_turn_f64_(lw_round_f64_(near, lw_from_bits_f64_(rest), how), how);
}
static inline float lw_div_f32(float a, float b, uint32_t how) { return lw_pin_f32_(lw_quotient_f32_(a, b, how)); }
static inline float lw_div_ftz_f32(float a, float b,
                                   uint32_t how) { /* no quotient of normal numbers rounds up to the least one */
    a = lw_flush_f32_(a), b = lw_flush_f32_(b);
    return lw_flush_if_f32_(lw_below_quotient_f32_(a, b), lw_quotient_f32_(a, b, how));
}
static inline double lw_div_f64(double a, double b, uint32_t how) {
    return lw_pin2_f64_(lw_quotient_f64_(a, b, how), a, b);
}

/* Reciprocal.
 *
 * a        number
 * how      rounding
 * returns  one number
 * fails    never
 * spelled  PTX rcp of .f32 and .f64 in .rn .rz .rm .rp; .ftz of .f32
 * source   PTX ISA 9.7.3.13 */
static inline float lw_rcp_f32(float a, uint32_t how) { return lw_div_f32(1.0f, a, how); }
static inline float lw_rcp_ftz_f32(float a, uint32_t how) { return lw_div_ftz_f32(1.0f, a, how); }
static inline double lw_rcp_f64(double a, uint32_t how) { return lw_pin2_f64_(lw_quotient_f64_(1.0, a, how), a, a); }

/* Square root. It is above zero, where down is towards zero.
 *
 * a        number
 * how      rounding
 * returns  one number
 * fails    never
 * spelled  PTX sqrt of .f32 and .f64 in .rn .rz .rm .rp; .ftz of .f32
 * source   PTX ISA 9.7.3.15 */
static inline uint32_t lw_above_zero_(uint32_t how) {
    return (how & LW_FLOAT_ROUNDING) == LW_FLOAT_RM ? (uint32_t)LW_FLOAT_RZ : how & LW_FLOAT_ROUNDING;
}
static inline float lw_sqrt_f32(float a, uint32_t how) {
    const float near = __builtin_sqrtf(a), k = a < 0x1p-60f ? 0x1p45f : 1.0f;
    return lw_pin_f32_(lw_round_f32_(near, lw_fused_f32_(-(near * k), near * k, a * k * k), lw_above_zero_(how)));
}
static inline float lw_sqrt_ftz_f32(float a, uint32_t how) { return lw_sqrt_f32(lw_flush_f32_(a), how); }
static inline double lw_sqrt_f64(double a, uint32_t how) {
    const double near = __builtin_sqrt(a), k = a < 0x1p-900 ? 0x1p100 : 1.0;
    const double rest = __builtin_fma(-(near * k), near * k, a * k * k);
    return lw_pin2_f64_(lw_round_f64_(near, rest, lw_above_zero_(how)), a, a);
}

#endif /* LANEWISE_LANE_ROUNDING_H */
