/* Conversions of one lane to and from formats of 16 bits, f16 and bf16, and to tf32, which lies in the upper 19 bits of
 * an f32. `how` is a constant: the rounding, LW_FLOAT_SAT (limits to 0...1, a NaN is 0), LW_FLOAT_RELU (what is
 * negative is 0, a NaN stays), LW_FLOAT_FINITE (what is too large is the largest number). A NaN is 0x7fff, unless it
 * comes from an f64, whose sign and upper payload stay. The manual leaves NaNs open, and whether .ftz flushes what f16
 * cannot hold anyway; these are what sm_90 does. */
#ifndef LANEWISE_LANE_CONVERT_HALF_H
#define LANEWISE_LANE_CONVERT_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include "convert.h"
#include "how.h"

/* One more in the last place? `rest` was cut off, of which `middle` is one half. All ones or zeros select, for vector
 * code without branches. */
static inline uint32_t lw_cut_up_(uint32_t kept, uint32_t rest, uint32_t middle, uint32_t sign, uint32_t how) {
    const uint32_t rounding = how & LW_FLOAT_ROUNDING;
    const uint32_t nearest = rounding == LW_FLOAT_RN ? UINT32_MAX : 0;
    const uint32_t away = rounding == (sign ? LW_FLOAT_RM : LW_FLOAT_RP) ? UINT32_MAX : 0;
    const uint32_t nearer = rest + (kept & 1) > middle, more = rest != 0;
    return (nearest & nearer) | (away & more);
}

/* A magnitude of 16 bits with its sign; `bits` those of the f32 that it comes from. */
static inline uint16_t lw_end_half_(uint32_t d, uint32_t bits, uint32_t infinity, uint32_t one, uint32_t how) {
    const bool negative = bits >> 31, nan = (bits & 0x7fffffffu) > 0x7f800000u;
    const uint32_t sat = how & LW_FLOAT_SAT ? UINT32_MAX : 0,
                   zero = how & (LW_FLOAT_SAT | LW_FLOAT_RELU) ? 0 : UINT32_MAX;
    d = how & LW_FLOAT_FINITE && d >= infinity ? infinity - 1 : d;
    d = sat & (d > one ? UINT32_MAX : 0) ? one : d;
    d = negative ? (d | 0x8000u) & zero : d;
    return (uint16_t)(nan ? 0x7fffu & ~sat : d);
}

/* To f16. Below 2^-14 the places go; from 2^16 on it counts as more than the middle behind the largest number. */
static inline uint16_t lw_cvt_f16_f32(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu, exponent = m >> 23;
    const bool small = m < 0x38800000u, large = m >= 0x47800000u;
    const uint32_t drop = exponent < 101 ? 25 : 126 - (exponent < 113 ? exponent : 113), shift = small ? drop : 13;
    const uint32_t places = small ? (m ? (m & 0x7fffffu) | 0x800000u : 0) : m - 0x38000000u;
    const uint32_t kept = large ? 0x7bffu : places >> shift, middle = 1u << (shift - 1);
    const uint32_t rest = m == 0x7f800000u ? 0 : large ? 2 * middle - 1 : places & (2 * middle - 1);
    const uint32_t d = m == 0x7f800000u ? 0x7c00u : kept + lw_cut_up_(kept, rest, middle, bits >> 31, how);
    return lw_end_half_(d, bits, 0x7c00u, 0x3c00u, how);
}

/* To bf16, the upper half of an f32: a carry out of its places is right, up to infinity. */
static inline uint16_t lw_cvt_bf16_f32(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(how & LW_FLOAT_FTZ ? lw_flush_f32_(a) : a), m = bits & 0x7fffffffu,
                   kept = m >> 16;
    return lw_end_half_(kept + lw_cut_up_(kept, m & 0xffffu, 0x8000u, bits >> 31, how), bits, 0x7f80u, 0x3f80u, how);
}
static inline uint16_t lw_cvt_rn_bf16_f32(float a) {
    const uint32_t bits = lw_bits_f32_(a), d = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(a == a ? d : 0x7fffu);
}

/* Two at once, a in the upper half.
 *
 * a, b     numbers
 * how      rounding, LW_FLOAT_RELU, LW_FLOAT_FINITE
 * returns  two numbers
 * fails    never
 * spelled  PTX cvt.rn, cvt.rz of .f16x2.f32 and .bf16x2.f32; .relu, .satfinite
 * source   PTX ISA 9.7.9.21 */
static inline uint32_t lw_cvt_f16x2_f32(float a, float b, uint32_t how) {
    return (uint32_t)lw_cvt_f16_f32(a, how) << 16 | lw_cvt_f16_f32(b, how);
}
static inline uint32_t lw_cvt_rn_f16x2_f32(float a, float b) {
    return (uint32_t)lw_cvt_rn_f16_f32(a) << 16 | lw_cvt_rn_f16_f32(b);
}
static inline uint32_t lw_cvt_bf16x2_f32(float a, float b, uint32_t how) {
    return (uint32_t)lw_cvt_bf16_f32(a, how) << 16 | lw_cvt_bf16_f32(b, how);
}
static inline uint32_t lw_cvt_rn_bf16x2_f32(float a, float b) {
    return (uint32_t)lw_cvt_rn_bf16_f32(a) << 16 | lw_cvt_rn_bf16_f32(b);
}

/* An f32 number with 11 bits. rna is integer arithmetic, of which a NaN may become an infinity, and the infinity a
 * number with LW_FLOAT_FINITE.
 *
 * a        number
 * how      rounding, LW_FLOAT_RELU, LW_FLOAT_FINITE
 * returns  one number
 * fails    never
 * spelled  PTX cvt.rna, cvt.rn, cvt.rz of .tf32.f32; .relu, .satfinite
 * source   PTX ISA 9.7.9.21; results of an H200 */
static inline uint32_t lw_cvt_rna_tf32_f32(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), special = (bits & 0x7f800000u) == 0x7f800000u;
    const uint32_t d = (bits + (special ? 0 : 0x1000u)) & 0xffffe000u;
    return how & LW_FLOAT_FINITE && (d & 0x7f800000u) == 0x7f800000u ? d - 0x2000u : d;
}
static inline uint32_t lw_cvt_tf32_f32(float a, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu, kept = m >> 13;
    uint32_t d = (kept + lw_cut_up_(kept, m & 0x1fffu, 0x1000u, bits >> 31, how)) << 13;
    d = how & LW_FLOAT_FINITE && d >= 0x7f800000u ? 0x7f7fe000u : d;
    d = bits >> 31 ? (how & LW_FLOAT_RELU ? 0 : d | 0x80000000u) : d;
    return a == a ? d : 0x7fffe000u;
}

/* To f32, exactly. A bf16 NaN keeps its bits.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX cvt.f32.f16 with .sat, cvt.f32.bf16; .ftz
 * source   PTX ISA 9.7.9.21; results of an H200 */
static inline float lw_cvt_sat_f32_f16(uint16_t a) { return lw_limit_f32_(lw_cvt_f32_f16(a)); }
static inline float lw_cvt_f32_bf16(uint16_t a) { return lw_from_bits_f32_((uint32_t)a << 16); }
static inline float lw_cvt_ftz_f32_bf16(uint16_t a) { return lw_pin_f32_(lw_flush_f32_(lw_cvt_f32_bf16(a))); }

/* ---- Beside f32: integers, f64, integral numbers ----------------------------------------------------------- */

/* Rounded to odd: towards zero, and the last place says whether there was more. 24 bits are two more than f16 and bf16
 * need, so that rounding once again gives what the number itself gives.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  the first half of PTX cvt to .f16 and .bf16 from .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline float lw_odd_f32_f64_(double a) {
    const float cut = lw_f32_rz_(a);
    return lw_from_bits_f32_(lw_bits_f32_(cut) | ((double)cut < a) | ((double)cut > a));
}
static inline float lw_odd_f32_u64_(uint64_t a) {
    const float cut = lw_towards_zero_f32_(a);
    return lw_from_bits_f32_(lw_bits_f32_(cut) | ((uint64_t)cut != a));
}
static inline float lw_cvt_odd_f32_u8(uint8_t a) { return (float)a; }
static inline float lw_cvt_odd_f32_u16(uint16_t a) { return (float)a; }
static inline float lw_cvt_odd_f32_u32(uint32_t a) { return lw_odd_f32_f64_((double)a); }
static inline float lw_cvt_odd_f32_u64(uint64_t a) { return lw_odd_f32_u64_(a); }
static inline float lw_cvt_odd_f32_s8(int8_t a) { return (float)a; }
static inline float lw_cvt_odd_f32_s16(int16_t a) { return (float)a; }
static inline float lw_cvt_odd_f32_s32(int32_t a) { return lw_odd_f32_f64_((double)a); }
static inline float lw_cvt_odd_f32_s64(int64_t a) {
    const float size = lw_odd_f32_u64_(lw_magnitude_(a));
    return a < 0 ? -size : size;
}

/* An f64 rounded to 16 bits. A NaN keeps its sign and the top of its payload, and is quiet.
 *
 * a        number
 * how      rounding; LW_FLOAT_SAT of f16
 * returns  one number
 * fails    never
 * spelled  PTX cvt.rn, cvt.rz, cvt.rm, cvt.rp of .f16.f64 and .bf16.f64; .sat of .f16
 * source   PTX ISA 9.7.9.21; results of an H200 */
static inline uint16_t lw_nan_half_(double a, uint32_t quiet, uint32_t places, uint32_t how) {
    const uint64_t bits = lw_bits_f64_(a), payload = (bits & 0xfffffffffffffu) >> (52 - places);
    return (uint16_t)(how & LW_FLOAT_SAT ? 0 : (bits >> 48 & 0x8000u) | quiet | payload);
}
static inline uint16_t lw_cvt_f16_f64(double a, uint32_t how) {
    return a == a ? lw_cvt_f16_f32(lw_odd_f32_f64_(a), how) : lw_nan_half_(a, 0x7e00u, 10, how);
}
static inline uint16_t lw_cvt_bf16_f64(double a, uint32_t how) {
    return a == a ? lw_cvt_bf16_f32(lw_odd_f32_f64_(a), how) : lw_nan_half_(a, 0x7fc0u, 7, how);
}

/* To f64, exactly; the payload of a NaN moves up, and is quiet.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX cvt.f64.f16, .sat; cvt.f64.bf16
 * source   PTX ISA 9.7.9.21; results of an H200 */
static inline double lw_cvt_f64_f16(uint16_t a) {
    const uint64_t magnitude = a & 0x7fffu, sign = (uint64_t)(a & 0x8000u) << 48;
    const uint64_t small = lw_bits_f64_((double)(int32_t)magnitude * 5.9604644775390625e-8); /* 2^-24 */
    const uint64_t move = magnitude < 0x7c00u ? 0x3f00000000000000u : 0x7e00000000000000u;
    const uint64_t quiet = magnitude > 0x7c00u ? 0x0008000000000000u : 0;
    return lw_from_bits_f64_((magnitude < 0x400u ? small : ((magnitude << 42) + move) | quiet) | sign);
}
static inline double lw_cvt_sat_f64_f16(uint16_t a) { return lw_limit_f64_(lw_cvt_f64_f16(a)); }
static inline double lw_cvt_f64_bf16(uint16_t a) { return lw_cvt_f64_f32(lw_cvt_f32_bf16(a)); }

/* The same format: as it is, or the integral number that the rounding asks for, with the sign of a.
 *
 * a        number
 * how      rounding of integral; LW_FLOAT_SAT of f16
 * returns  one number
 * fails    never
 * spelled  PTX cvt.f16.f16, cvt.bf16.bf16, alone or with .rni .rzi .rmi .rpi; .sat of .f16
 * source   PTX ISA 9.7.9.21 */
static inline float lw_integral_f32_(float a, uint32_t how) {
    const uint32_t rounding = how & LW_FLOAT_ROUNDING, negative = lw_bits_f32_(a) >> 31;
    const bool inward = rounding == LW_FLOAT_RZ, down = rounding == LW_FLOAT_RM, up = rounding == LW_FLOAT_RP;
    const float near = __builtin_rintf(a);
    const bool over = (near > a) & (down | (inward & !negative)), under = (near < a) & (up | (inward & negative));
    const float d = near - (float)over + (float)under;
    return lw_from_bits_f32_((lw_bits_f32_(d) & 0x7fffffffu) | negative << 31);
}
static inline uint16_t lw_cvt_f16_f16(uint16_t a, uint32_t how) {
    return lw_end_half_(a & 0x7fffu, lw_bits_f32_(lw_cvt_f32_f16(a)) | (uint32_t)(a & 0x8000u) << 16, 0x7c00u, 0x3c00u,
                        how);
}
static inline uint16_t lw_cvt_bf16_bf16(uint16_t a) { return (a & 0x7fffu) > 0x7f80u ? 0x7fffu : a; }
static inline uint16_t lw_cvt_integral_f16(uint16_t a, uint32_t how) {
    return lw_cvt_f16_f32(lw_integral_f32_(lw_cvt_f32_f16(a), how), how & LW_FLOAT_SAT);
}
static inline uint16_t lw_cvt_integral_bf16(uint16_t a, uint32_t how) {
    return lw_cvt_bf16_f32(lw_integral_f32_(lw_cvt_f32_bf16(a), how), 0);
}

#endif /* LANEWISE_LANE_CONVERT_HALF_H */
