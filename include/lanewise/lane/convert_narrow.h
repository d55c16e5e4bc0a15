/* Conversions of one lane to and from formats of 8, 6 and 4 bits, two in a word, and of f32 with random bits.
 *
 * A name says the bits of exponent and fraction: e4m3 has no infinity and one NaN, e5m2 both, e2m3, e3m2 and e2m1
 * neither; ue8m0 is an exponent alone, a power of two. All but that are limited to their largest number, of which a NaN
 * is the positive one where the format has no NaN. `how` is a constant: LW_FLOAT_RELU (what is negative is 0), and of
 * ue8m0 the rounding and LW_FLOAT_FINITE. e4m3 and e5m2 to nearest are what sm_90 does; the others follow the manual's
 * text and have not been seen on hardware (docs/decisions/0017). */
#ifndef LANEWISE_LANE_CONVERT_NARROW_H
#define LANEWISE_LANE_CONVERT_NARROW_H

#include "convert_half.h"

/* ---- From f32 ----------------------------------------------------------------------------------------------- */

/* A format: bits of its fraction; its least normal number is 2^(least - 127), its largest magnitude `most`; what a NaN
 * becomes, with its sign; the bit of a sign. */
#define LW_E4M3_ 3, 121, 0x7eu, 0x7fu, 0x80u
#define LW_E5M2_ 2, 113, 0x7bu, 0x7fu, 0x80u
#define LW_E2M3_ 3, 127, 0x1fu, 0x1fu, 0x20u
#define LW_E3M2_ 2, 125, 0x1fu, 0x1fu, 0x20u
#define LW_E2M1_ 1, 127, 0x07u, 0x07u, 0x08u

/* The places of a magnitude, and how many of them are below the last one of the format. */
static inline uint32_t lw_places_(uint32_t m, uint32_t least) {
    return m < least << 23 ? (m & 0x7fffffu) | 0x800000u : m - ((least - 1) << 23);
}
static inline uint32_t lw_places_below_(uint32_t m, uint32_t fraction, uint32_t least) {
    const uint32_t exponent = m >> 23;
    return 23 - fraction + least - (exponent < least ? exponent : least);
}
static inline uint32_t lw_end_narrow_(uint32_t d, uint32_t bits, uint32_t how, uint32_t most, uint32_t nan,
                                      uint32_t sign) {
    d = d > most ? most : d;
    d = bits >> 31 ? (how & LW_FLOAT_RELU ? 0 : d | sign) : d;
    return (bits & 0x7fffffffu) > 0x7f800000u ? nan : d;
}

/* To nearest, ties to even. From 26 places on all is below one half. */
static inline uint32_t lw_near_narrow_(float a, uint32_t how, uint32_t fraction, uint32_t least, uint32_t most,
                                       uint32_t nan, uint32_t sign) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu, places = lw_places_(m, least);
    const uint32_t below = lw_places_below_(m, fraction, least), shift = below < 26 ? below : 26;
    const uint32_t kept = places >> shift, middle = 1u << (shift - 1);
    const uint32_t up = (places & (2 * middle - 1)) + (kept & 1) > middle;
    return lw_end_narrow_(kept + up, bits, how, most, nan, sign);
}

/* One more where the bits that go, with 16 random ones added to the upper of them, carry. */
static inline uint32_t lw_random_narrow_(float a, uint32_t random, uint32_t how, uint32_t fraction, uint32_t least,
                                         uint32_t most, uint32_t nan, uint32_t sign) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu, places = lw_places_(m, least);
    const uint32_t below = lw_places_below_(m, fraction, least) - 16, shift = below < 24 ? below : 24;
    return lw_end_narrow_(((places >> shift) + random) >> 16, bits, how, most, nan, sign);
}

/* Two numbers to nearest, a in the upper half of the result.
 *
 * a, b     numbers
 * how      LW_FLOAT_RELU
 * returns  two numbers, of 6 bits with zeros in front
 * fails    never
 * spelled  PTX cvt.rn.satfinite of .e4m3x2 .e5m2x2 .e2m3x2 .e3m2x2 .e2m1x2 from .f32; .relu
 * source   PTX ISA 9.7.9.21; of e4m3 and e5m2 results of an H200 */
#define LW_NARROW2_(f, a, b, how, bits) ((lw_near_narrow_(a, how, f) << (bits)) | lw_near_narrow_(b, how, f))
static inline uint16_t lw_cvt_e4m3x2_f32(float a, float b, uint32_t how) {
    return (uint16_t)LW_NARROW2_(LW_E4M3_, a, b, how, 8);
}
static inline uint16_t lw_cvt_e5m2x2_f32(float a, float b, uint32_t how) {
    return (uint16_t)LW_NARROW2_(LW_E5M2_, a, b, how, 8);
}
static inline uint16_t lw_cvt_e2m3x2_f32(float a, float b, uint32_t how) {
    return (uint16_t)LW_NARROW2_(LW_E2M3_, a, b, how, 8);
}
static inline uint16_t lw_cvt_e3m2x2_f32(float a, float b, uint32_t how) {
    return (uint16_t)LW_NARROW2_(LW_E3M2_, a, b, how, 8);
}
static inline uint8_t lw_cvt_e2m1x2_f32(float a, float b, uint32_t how) {
    return (uint8_t)LW_NARROW2_(LW_E2M1_, a, b, how, 4);
}

/* The same of two f16.
 *
 * a        bits of two numbers
 * how      LW_FLOAT_RELU
 * returns  two numbers
 * fails    never
 * spelled  PTX cvt.rn.satfinite of .e4m3x2.f16x2 .e5m2x2.f16x2; .relu
 * source   PTX ISA 9.7.9.21; results of an H200 */
static inline uint16_t lw_cvt_e4m3x2_f16x2(uint32_t a, uint32_t how) {
    return lw_cvt_e4m3x2_f32(lw_cvt_f32_f16((uint16_t)(a >> 16)), lw_cvt_f32_f16((uint16_t)a), how);
}
static inline uint16_t lw_cvt_e5m2x2_f16x2(uint32_t a, uint32_t how) {
    return lw_cvt_e5m2x2_f32(lw_cvt_f32_f16((uint16_t)(a >> 16)), lw_cvt_f32_f16((uint16_t)a), how);
}

/* Two numbers, rounded up or down as random bits have it: they are added to the bits of the magnitude that go, the
 * first of one at the first of the other, and what is carried out is one more place.
 *
 * a, b     numbers
 * random   of e4m3, e5m2, e2m3, e3m2 the low 16 bits, for both; of e2m1 the lower byte of each half, one word for both
 * how      LW_FLOAT_RELU
 * returns  two numbers, a in the upper half, of 6 bits with zeros in front
 * fails    never
 * spelled  half of PTX cvt.rs.satfinite of .e4m3x4 .e5m2x4 .e2m3x4 .e3m2x4 .e2m1x4 from .f32; .relu
 * source   PTX ISA 9.7.9.21 */
#define LW_NARROW2_RANDOM_(f, a, b, random, how, bits) \
    ((lw_random_narrow_(a, random, how, f) << (bits)) | lw_random_narrow_(b, random, how, f))
static inline uint16_t lw_cvt_rs_e4m3x4_f32(float a, float b, uint32_t random, uint32_t how) {
    return (uint16_t)LW_NARROW2_RANDOM_(LW_E4M3_, a, b, random & 0xffffu, how, 8);
}
static inline uint16_t lw_cvt_rs_e5m2x4_f32(float a, float b, uint32_t random, uint32_t how) {
    return (uint16_t)LW_NARROW2_RANDOM_(LW_E5M2_, a, b, random & 0xffffu, how, 8);
}
static inline uint16_t lw_cvt_rs_e2m3x4_f32(float a, float b, uint32_t random, uint32_t how) {
    return (uint16_t)LW_NARROW2_RANDOM_(LW_E2M3_, a, b, random & 0xffffu, how, 8);
}
static inline uint16_t lw_cvt_rs_e3m2x4_f32(float a, float b, uint32_t random, uint32_t how) {
    return (uint16_t)LW_NARROW2_RANDOM_(LW_E3M2_, a, b, random & 0xffffu, how, 8);
}
static inline uint16_t lw_cvt_rs_e2m1x4_f32(float a, float b, uint32_t random, uint32_t how) {
    const uint32_t bytes = (random >> 8 & 0xff00u) | (random & 0xffu);
    return (uint16_t)LW_NARROW2_RANDOM_(LW_E2M1_, a, b, bytes, how, 4);
}

/* The same to 16 bits: 13 random bits for a number of f16, whose fraction is 13 bits shorter, 16 for one of bf16.
 *
 * a, b     numbers
 * random   the upper half is for a, the lower for b; of f16 the low 13 bits of each
 * how      LW_FLOAT_RELU, LW_FLOAT_FINITE
 * returns  two numbers, a in the upper half
 * fails    never
 * spelled  PTX cvt.rs of .f16x2.f32 and .bf16x2.f32; .relu, .satfinite
 * source   PTX ISA 9.7.9.21 */
static inline uint32_t lw_random_f16_(float a, uint32_t random, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu;
    const uint32_t below = lw_places_below_(m, 10, 113) - 13, shift = below < 24 ? below : 24;
    const uint32_t d = ((lw_places_(m, 113) >> shift) + (random & 0x1fffu)) >> 13;
    return lw_end_half_(d < 0x7c00u ? d : 0x7c00u, bits, 0x7c00u, 0x3c00u, how);
}
static inline uint32_t lw_random_bf16_(float a, uint32_t random, uint32_t how) {
    const uint32_t bits = lw_bits_f32_(a), m = bits & 0x7fffffffu, d = (m + (random & 0xffffu)) >> 16;
    return lw_end_half_(d < 0x7f80u ? d : 0x7f80u, bits, 0x7f80u, 0x3f80u, how);
}
static inline uint32_t lw_cvt_rs_f16x2_f32(float a, float b, uint32_t random, uint32_t how) {
    return lw_random_f16_(a, random >> 16, how) << 16 | lw_random_f16_(b, random, how);
}
static inline uint32_t lw_cvt_rs_bf16x2_f32(float a, float b, uint32_t random, uint32_t how) {
    return lw_random_bf16_(a, random >> 16, how) << 16 | lw_random_bf16_(b, random, how);
}

/* A magnitude as a power of two, towards zero (rz) or up (rp). The least is 2^-127; what is too large is a NaN, or with
 * LW_FLOAT_FINITE the largest.
 *
 * a, b     numbers, or the bits of two
 * how      LW_FLOAT_RZ or RP, LW_FLOAT_FINITE
 * returns  two exponents, a in the upper half
 * fails    never
 * spelled  PTX cvt.rz, cvt.rp of .ue8m0x2.f32 and .ue8m0x2.bf16x2; .satfinite
 * source   PTX ISA 9.7.9.21 */
static inline uint32_t lw_exponent_(float a, uint32_t how) {
    const uint32_t m = lw_bits_f32_(a) & 0x7fffffffu, exponent = m >> 23;
    const bool up = ((how & LW_FLOAT_ROUNDING) == LW_FLOAT_RP) & ((m & 0x7fffffu) != 0) & (m > 0x400000u) &
                    (m < 0x7f800000u);
    const uint32_t d = exponent + up, most = how & LW_FLOAT_FINITE && m <= 0x7f800000u ? 254 : 255;
    return d < most ? d : most;
}
static inline uint16_t lw_cvt_ue8m0x2_f32(float a, float b, uint32_t how) {
    return (uint16_t)(lw_exponent_(a, how) << 8 | lw_exponent_(b, how));
}
static inline uint16_t lw_cvt_ue8m0x2_bf16x2(uint32_t a, uint32_t how) {
    return lw_cvt_ue8m0x2_f32(lw_from_bits_f32_(a & 0xffff0000u), lw_from_bits_f32_(a << 16), how);
}

/* ---- To f16, bf16 --------------------------------------------------------------------------------------------- */

/* All numbers of these formats are normal ones of f16. */
static inline uint32_t lw_widened_(uint32_t a, uint32_t bits, uint32_t fraction, uint32_t bias, uint32_t how) {
    const uint32_t x = a & ((1u << (bits - 1)) - 1), negative = a >> (bits - 1) & 1;
    const uint32_t small = (lw_bits_f32_((float)(int32_t)x) >> 13) - ((111 + bias + fraction) << 10);
    const uint32_t d = x >> fraction ? (x << (10 - fraction)) + ((15 - bias) << 10) : x ? small : 0;
    return negative ? (how & LW_FLOAT_RELU ? 0 : d | 0x8000u) : d;
}
static inline uint32_t lw_widened_e4m3_(uint32_t a, uint32_t how) {
    return (a & 0x7fu) == 0x7fu ? 0x7fffu : lw_widened_(a, 8, 3, 7, how);
}
static inline uint32_t lw_widened_e5m2_(uint32_t a, uint32_t how) {
    const uint32_t d = a << 8 & 0xff00u;
    return (d & 0x7fffu) > 0x7c00u ? 0x7fffu : d >> 15 && how & LW_FLOAT_RELU ? 0 : d;
}

/* Two numbers, exactly.
 *
 * a        two numbers, of 6 bits with anything in front
 * how      LW_FLOAT_RELU
 * returns  bits of two numbers; a NaN is 0x7fff
 * fails    never
 * spelled  PTX cvt.rn.f16x2 from .e4m3x2 .e5m2x2 .e2m3x2 .e3m2x2 .e2m1x2; .relu. cvt.rn.bf16x2.ue8m0x2
 * source   PTX ISA 9.7.9.21; of e4m3 and e5m2 results of an H200 */
static inline uint32_t lw_cvt_f16x2_e4m3x2(uint16_t a, uint32_t how) {
    return lw_widened_e4m3_(a >> 8, how) << 16 | lw_widened_e4m3_(a, how);
}
static inline uint32_t lw_cvt_f16x2_e5m2x2(uint16_t a, uint32_t how) {
    return lw_widened_e5m2_(a >> 8, how) << 16 | lw_widened_e5m2_(a, how);
}
static inline uint32_t lw_cvt_f16x2_e2m3x2(uint16_t a, uint32_t how) {
    return lw_widened_(a >> 8, 6, 3, 1, how) << 16 | lw_widened_(a, 6, 3, 1, how);
}
static inline uint32_t lw_cvt_f16x2_e3m2x2(uint16_t a, uint32_t how) {
    return lw_widened_(a >> 8, 6, 2, 3, how) << 16 | lw_widened_(a, 6, 2, 3, how);
}
static inline uint32_t lw_cvt_f16x2_e2m1x2(uint8_t a, uint32_t how) {
    return lw_widened_(a >> 4, 4, 1, 1, how) << 16 | lw_widened_(a, 4, 1, 1, how);
}
static inline uint32_t lw_power_bf16_(uint32_t a) { return a == 255 ? 0x7fffu : a ? a << 7 : 0x40u; }
static inline uint32_t lw_cvt_bf16x2_ue8m0x2(uint16_t a) {
    return lw_power_bf16_(a >> 8) << 16 | lw_power_bf16_(a & 0xffu);
}

#undef LW_E4M3_
#undef LW_E5M2_
#undef LW_E2M3_
#undef LW_E3M2_
#undef LW_E2M1_
#undef LW_NARROW2_
#undef LW_NARROW2_RANDOM_

#endif /* LANEWISE_LANE_CONVERT_NARROW_H */
