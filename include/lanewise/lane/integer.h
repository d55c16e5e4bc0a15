/* Integer arithmetic of one lane. Results wrap unless the name says sat. */
#ifndef LANEWISE_LANE_INTEGER_H
#define LANEWISE_LANE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

/* Sum.
 *
 * a, b     words of the same width
 * returns  the low bits of the result; the same for signed and unsigned
 * fails    never
 * spelled  PTX add.u16, add.s16, add.u32, add.s32, add.u64, add.s64
 * source   PTX ISA 9.7.1.1 */
static inline uint16_t lw_add_b16(uint16_t a, uint16_t b) { return (uint16_t)(a + b); }
static inline uint32_t lw_add_b32(uint32_t a, uint32_t b) { return a + b; }
static inline uint64_t lw_add_b64(uint64_t a, uint64_t b) { return a + b; }

/* Difference.
 *
 * a, b     words of the same width
 * returns  the low bits of the result; the same for signed and unsigned
 * fails    never
 * spelled  PTX sub.u16, sub.s16, sub.u32, sub.s32, sub.u64, sub.s64
 * source   PTX ISA 9.7.1.2 */
static inline uint16_t lw_sub_b16(uint16_t a, uint16_t b) { return (uint16_t)(a - b); }
static inline uint32_t lw_sub_b32(uint32_t a, uint32_t b) { return a - b; }
static inline uint64_t lw_sub_b64(uint64_t a, uint64_t b) { return a - b; }

/* Sum and difference, limited to the range of the type.
 *
 * a, b     signed words
 * returns  one word
 * fails    never
 * spelled  PTX add.sat.s32, sub.sat.s32
 * source   PTX ISA 9.7.1.1, 9.7.1.2 */
static inline int32_t lw_add_sat_s32(int32_t a, int32_t b) {
    int32_t sum = (int32_t)((uint32_t)a + (uint32_t)b);
    int32_t limit = (a >> 31) ^ INT32_MAX; /* on overflow both operands have the sign of a */
    return ((a ^ sum) & (b ^ sum)) < 0 ? limit : sum;
}
static inline int32_t lw_sub_sat_s32(int32_t a, int32_t b) {
    int32_t difference = (int32_t)((uint32_t)a - (uint32_t)b);
    int32_t limit = (a >> 31) ^ INT32_MAX;
    return ((a ^ b) & (a ^ difference)) < 0 ? limit : difference;
}

/* Sum of two 16-bit halves each.
 *
 * a, b     two halves in a word
 * returns  two halves in a word
 * fails    never
 * spelled  PTX add.u16x2, add.s16x2
 * source   PTX ISA 9.7.1.1 */
static inline uint32_t lw_add_b16x2(uint32_t a, uint32_t b) {
    return ((a & 0x7fff7fffu) + (b & 0x7fff7fffu)) ^ ((a ^ b) & 0x80008000u);
}

/* Sum with carry in, and its carry out. add.cc is the case c = 0; mad.lo.cc, madc.hi and the like are a
 * product followed by this.
 *
 * a, b     words of the same width
 * c        carry in
 * returns  addc: the low bits; addc_carry: the carry out
 * fails    never
 * spelled  PTX add.cc, addc, addc.cc, mad.cc, madc, madc.cc of 32 and 64 bits
 * source   PTX ISA 9.7.2.1, 9.7.2.2, 9.7.2.5, 9.7.2.6 */
static inline uint32_t lw_addc_b32(uint32_t a, uint32_t b, bool c) { return a + b + c; }
static inline uint64_t lw_addc_b64(uint64_t a, uint64_t b, bool c) { return a + b + c; }
static inline bool lw_addc_carry_b32(uint32_t a, uint32_t b, bool c) {
    uint32_t sum = a + b + c;
    return (bool)((sum < a) | ((sum == a) & c));
}
static inline bool lw_addc_carry_b64(uint64_t a, uint64_t b, bool c) {
    uint64_t sum = a + b + c;
    return (bool)((sum < a) | ((sum == a) & c));
}

/* Difference with borrow in, and its borrow out. sub.cc is the case c = 0. On sm_90 CC.CF holds the
 * complement of the borrow, which shows where an addc follows a sub.cc or a subc an add.cc.
 *
 * a, b     words of the same width
 * c        borrow in
 * returns  subc: the low bits; subc_carry: the borrow out
 * fails    never
 * spelled  PTX sub.cc, subc, subc.cc of 32 and 64 bits
 * source   PTX ISA 9.7.2.3, 9.7.2.4 */
static inline uint32_t lw_subc_b32(uint32_t a, uint32_t b, bool c) { return a - b - c; }
static inline uint64_t lw_subc_b64(uint64_t a, uint64_t b, bool c) { return a - b - c; }
static inline bool lw_subc_carry_b32(uint32_t a, uint32_t b, bool c) { return (bool)((a < b) | ((a == b) & c)); }
static inline bool lw_subc_carry_b64(uint64_t a, uint64_t b, bool c) { return (bool)((a < b) | ((a == b) & c)); }

/* Low half of the product.
 *
 * a, b     words of the same width
 * returns  the low bits; the same for signed and unsigned
 * fails    never
 * spelled  PTX mul.lo of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.3 */
static inline uint16_t lw_mul_lo_b16(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b); }
static inline uint32_t lw_mul_lo_b32(uint32_t a, uint32_t b) { return a * b; }
static inline uint64_t lw_mul_lo_b64(uint64_t a, uint64_t b) { return a * b; }

/* High half of the product.
 *
 * a, b     words of the same width
 * returns  the high bits
 * fails    never
 * spelled  PTX mul.hi of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.3 */
static inline uint16_t lw_mul_hi_u16(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b >> 16); }
static inline uint32_t lw_mul_hi_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline int16_t lw_mul_hi_s16(int16_t a, int16_t b) { return (int16_t)((int32_t)a * b >> 16); }
static inline int32_t lw_mul_hi_s32(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
static inline uint64_t lw_mul_hi_u64(uint64_t a, uint64_t b) {
    return (uint64_t)(__extension__(unsigned __int128) a * b >> 64);
}
static inline int64_t lw_mul_hi_s64(int64_t a, int64_t b) { return (int64_t)(__extension__(__int128) a * b >> 64); }

/* Whole product, twice as wide as the operands.
 *
 * a, b     words of the same width
 * returns  a word of twice the width
 * fails    never
 * spelled  PTX mul.wide of .u and .s, 16 32 bits
 * source   PTX ISA 9.7.1.3 */
static inline uint32_t lw_mul_wide_u16(uint16_t a, uint16_t b) { return (uint32_t)a * b; }
static inline uint64_t lw_mul_wide_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
static inline int32_t lw_mul_wide_s16(int16_t a, int16_t b) { return (int32_t)a * b; }
static inline int64_t lw_mul_wide_s32(int32_t a, int32_t b) { return (int64_t)a * b; }

/* Low half of the product, plus c.
 *
 * a, b     factors of the same width
 * c        addend, as wide as the result
 * returns  the low bits; the same for signed and unsigned
 * fails    never
 * spelled  PTX mad.lo of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.4 */
static inline uint16_t lw_mad_lo_b16(uint16_t a, uint16_t b, uint16_t c) { return (uint16_t)((uint32_t)a * b + c); }
static inline uint32_t lw_mad_lo_b32(uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }
static inline uint64_t lw_mad_lo_b64(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }

/* High half of the product, plus c; sat limits the sum to the range of the type.
 *
 * a, b     factors of the same width
 * c        addend, as wide as the result
 * returns  one word
 * fails    never
 * spelled  PTX mad.hi of .u and .s, 16 32 64 bits; mad.hi.sat.s32
 * source   PTX ISA 9.7.1.4 */
static inline uint16_t lw_mad_hi_u16(uint16_t a, uint16_t b, uint16_t c) { return (uint16_t)(lw_mul_hi_u16(a, b) + c); }
static inline uint32_t lw_mad_hi_u32(uint32_t a, uint32_t b, uint32_t c) { return lw_mul_hi_u32(a, b) + c; }
static inline uint64_t lw_mad_hi_u64(uint64_t a, uint64_t b, uint64_t c) { return lw_mul_hi_u64(a, b) + c; }
static inline int16_t lw_mad_hi_s16(int16_t a, int16_t b, int16_t c) { return (int16_t)(lw_mul_hi_s16(a, b) + c); }
static inline int32_t lw_mad_hi_s32(int32_t a, int32_t b, int32_t c) {
    return (int32_t)((uint32_t)lw_mul_hi_s32(a, b) + (uint32_t)c);
}
static inline int64_t lw_mad_hi_s64(int64_t a, int64_t b, int64_t c) {
    return (int64_t)((uint64_t)lw_mul_hi_s64(a, b) + (uint64_t)c);
}
static inline int32_t lw_mad_hi_sat_s32(int32_t a, int32_t b, int32_t c) {
    return lw_add_sat_s32(lw_mul_hi_s32(a, b), c);
}

/* Whole product plus c.
 *
 * a, b     factors of the same width
 * c        addend, as wide as the result
 * returns  a word of twice the width
 * fails    never
 * spelled  PTX mad.wide of .u and .s, 16 32 bits
 * source   PTX ISA 9.7.1.4 */
static inline uint32_t lw_mad_wide_u16(uint16_t a, uint16_t b, uint32_t c) { return (uint32_t)a * b + c; }
static inline uint64_t lw_mad_wide_u32(uint32_t a, uint32_t b, uint64_t c) { return (uint64_t)a * b + c; }
static inline int32_t lw_mad_wide_s16(int16_t a, int16_t b, int32_t c) {
    return (int32_t)((uint32_t)lw_mul_wide_s16(a, b) + (uint32_t)c);
}
static inline int64_t lw_mad_wide_s32(int32_t a, int32_t b, int64_t c) {
    return (int64_t)((uint64_t)lw_mul_wide_s32(a, b) + (uint64_t)c);
}

/* The 48-bit product of the low 24 bits of two words. */
static inline uint64_t lw_product24_u_(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xffffffu) * (b & 0xffffffu); }
static inline int64_t lw_product24_s_(int32_t a, int32_t b) {
    int32_t low_a = (int32_t)((uint32_t)a << 8) >> 8, low_b = (int32_t)((uint32_t)b << 8) >> 8;
    return (int64_t)low_a * low_b;
}

/* Product of 24-bit factors: bits 31:0 (lo) or 47:16 (hi).
 *
 * a, b     factors in the low 24 bits; the high bits are ignored
 * returns  one word
 * fails    never
 * spelled  PTX mul24.lo and mul24.hi of .u32 .s32
 * source   PTX ISA 9.7.1.5 */
static inline uint32_t lw_mul24_lo_u32(uint32_t a, uint32_t b) { return (uint32_t)lw_product24_u_(a, b); }
static inline uint32_t lw_mul24_hi_u32(uint32_t a, uint32_t b) { return (uint32_t)(lw_product24_u_(a, b) >> 16); }
static inline int32_t lw_mul24_lo_s32(int32_t a, int32_t b) { return (int32_t)lw_product24_s_(a, b); }
static inline int32_t lw_mul24_hi_s32(int32_t a, int32_t b) { return (int32_t)(lw_product24_s_(a, b) >> 16); }

/* Product of 24-bit factors as mul24, plus c; sat limits the sum to the range of the type.
 *
 * a, b     factors in the low 24 bits; the high bits are ignored
 * c        addend
 * returns  one word
 * fails    never
 * spelled  PTX mad24.lo and mad24.hi of .u32 .s32; mad24.hi.sat.s32
 * source   PTX ISA 9.7.1.6 */
static inline uint32_t lw_mad24_lo_u32(uint32_t a, uint32_t b, uint32_t c) { return lw_mul24_lo_u32(a, b) + c; }
static inline uint32_t lw_mad24_hi_u32(uint32_t a, uint32_t b, uint32_t c) { return lw_mul24_hi_u32(a, b) + c; }
static inline int32_t lw_mad24_lo_s32(int32_t a, int32_t b, int32_t c) {
    return (int32_t)((uint32_t)lw_mul24_lo_s32(a, b) + (uint32_t)c);
}
static inline int32_t lw_mad24_hi_s32(int32_t a, int32_t b, int32_t c) {
    return (int32_t)((uint32_t)lw_mul24_hi_s32(a, b) + (uint32_t)c);
}
static inline int32_t lw_mad24_hi_sat_s32(int32_t a, int32_t b, int32_t c) {
    return lw_add_sat_s32(lw_mul24_hi_s32(a, b), c);
}

/* Absolute difference of a and b, plus c.
 *
 * a, b     words of the same width
 * c        addend
 * returns  the low bits
 * fails    never
 * spelled  PTX sad of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.7 */
static inline uint16_t lw_sad_u16(uint16_t a, uint16_t b, uint16_t c) {
    return (uint16_t)(c + (a < b ? b - a : a - b));
}
static inline uint32_t lw_sad_u32(uint32_t a, uint32_t b, uint32_t c) { return c + (a < b ? b - a : a - b); }
static inline uint64_t lw_sad_u64(uint64_t a, uint64_t b, uint64_t c) { return c + (a < b ? b - a : a - b); }
static inline int16_t lw_sad_s16(int16_t a, int16_t b, int16_t c) { return (int16_t)(c + (a < b ? b - a : a - b)); }
static inline int32_t lw_sad_s32(int32_t a, int32_t b, int32_t c) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    return (int32_t)((uint32_t)c + (a < b ? y - x : x - y));
}
static inline int64_t lw_sad_s64(int64_t a, int64_t b, int64_t c) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)((uint64_t)c + (a < b ? y - x : x - y));
}

/* Quotient, rounded towards zero. The manual leaves division by zero open: all ones, as on sm_90. The
 * smallest signed word divided by -1 is itself. Words of 16 and 32 bits divide in floating point, which
 * vectorises and is exact: a quotient that is no integer differs from one by a relative 1/a at least, more
 * than the rounding. Those of 32 bits are multiplied by the reciprocal, which is one division where the
 * divisor is the same for all lanes: it is made larger by 2^-48, more than what was rounded, so that no
 * quotient comes below an integer that it is, and less than the 2^-32 that keep it below the next one.
 *
 * a, b     dividend and divisor of the same width
 * returns  one word
 * fails    never
 * spelled  PTX div of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.8 */
static inline uint16_t lw_div_u16(uint16_t a, uint16_t b) {
    return (uint16_t)((int32_t)((float)a / (float)(b | (b == 0))) | -(b == 0));
}
static inline uint32_t lw_div_u32(uint32_t a, uint32_t b) {
    return (uint32_t)((double)a * (1 / (double)(b | (b == 0)) * (1 + 0x1p-48))) | (0u - (b == 0));
}
static inline uint64_t lw_div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline int16_t lw_div_s16(int16_t a, int16_t b) {
    return (int16_t)((int32_t)((float)a / (float)(b | (b == 0))) | -(b == 0));
}
static inline int32_t lw_div_s32(int32_t a, int32_t b) {
    bool overflow = (a == INT32_MIN) & (b == -1);
    int32_t divisor = b + (b == 0) + 2 * overflow; /* 1 instead of 0, and instead of -1 where that overflows */
    return (int32_t)((double)a * (1 / (double)divisor * (1 + 0x1p-48))) | -(b == 0);
}
static inline int64_t lw_div_s64(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}

/* Remainder, with the sign of the dividend. The manual leaves division by zero open: all ones, as on sm_90.
 *
 * a, b     dividend and divisor of the same width
 * returns  one word
 * fails    never
 * spelled  PTX rem of .u and .s, 16 32 64 bits
 * source   PTX ISA 9.7.1.9 */
static inline uint16_t lw_rem_u16(uint16_t a, uint16_t b) {
    return (uint16_t)((a - lw_div_u16(a, b) * (uint32_t)b) | (0u - (b == 0)));
}
static inline uint32_t lw_rem_u32(uint32_t a, uint32_t b) { return (a - lw_div_u32(a, b) * b) | (0u - (b == 0)); }
static inline uint64_t lw_rem_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
static inline int16_t lw_rem_s16(int16_t a, int16_t b) { return (int16_t)((a - lw_div_s16(a, b) * b) | -(b == 0)); }
static inline int32_t lw_rem_s32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a - (uint32_t)lw_div_s32(a, b) * (uint32_t)b) | -(b == 0);
}
static inline int64_t lw_rem_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

/* Absolute value; the smallest word is its own.
 *
 * a        signed word
 * returns  one word
 * fails    never
 * spelled  PTX abs.s16, abs.s32, abs.s64
 * source   PTX ISA 9.7.1.10 */
static inline int16_t lw_abs_s16(int16_t a) { return a < 0 ? (int16_t)(0u - (uint16_t)a) : a; }
static inline int32_t lw_abs_s32(int32_t a) { return a < 0 ? (int32_t)(0u - (uint32_t)a) : a; }
static inline int64_t lw_abs_s64(int64_t a) { return a < 0 ? (int64_t)(0u - (uint64_t)a) : a; }

/* Negative.
 *
 * a        signed word
 * returns  the low bits
 * fails    never
 * spelled  PTX neg.s16, neg.s32, neg.s64
 * source   PTX ISA 9.7.1.11 */
static inline int16_t lw_neg_s16(int16_t a) { return (int16_t)(0u - (uint16_t)a); }
static inline int32_t lw_neg_s32(int32_t a) { return (int32_t)(0u - (uint32_t)a); }
static inline int64_t lw_neg_s64(int64_t a) { return (int64_t)(0u - (uint64_t)a); }

/* Smaller of two words; relu raises a negative result to 0; x2 works on two halves.
 *
 * a, b     words of the same width, or two 16-bit halves in a word
 * returns  one word
 * fails    never
 * spelled  PTX min of .u and .s, 16 32 64 bits; min.u16x2, min.s16x2; min.relu.s32, min.relu.s16x2
 * source   PTX ISA 9.7.1.12 */
static inline uint16_t lw_min_u16(uint16_t a, uint16_t b) { return a < b ? a : b; }
static inline uint32_t lw_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint64_t lw_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline int16_t lw_min_s16(int16_t a, int16_t b) { return a < b ? a : b; }
static inline int32_t lw_min_s32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int64_t lw_min_s64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int32_t lw_min_relu_s32(int32_t a, int32_t b) {
    int32_t low = a < b ? a : b;
    return low < 0 ? 0 : low;
}
static inline uint32_t lw_min_u16x2(uint32_t a, uint32_t b) {
    uint32_t low = lw_min_u32(a & 0xffffu, b & 0xffffu);
    return (lw_min_u32(a >> 16, b >> 16) << 16) | low;
}
static inline uint32_t lw_min_s16x2(uint32_t a, uint32_t b) {
    uint32_t low = (uint16_t)lw_min_s16((int16_t)a, (int16_t)b);
    uint32_t high = (uint16_t)lw_min_s16((int16_t)(a >> 16), (int16_t)(b >> 16));
    return (high << 16) | low;
}
static inline uint32_t lw_min_relu_s16x2(uint32_t a, uint32_t b) {
    uint32_t d = lw_min_s16x2(a, b), sign = d & 0x80008000u;
    return d & ~(sign | (sign - (sign >> 15)));
}

/* Larger of two words; relu raises a negative result to 0; x2 works on two halves.
 *
 * a, b     words of the same width, or two 16-bit halves in a word
 * returns  one word
 * fails    never
 * spelled  PTX max of .u and .s, 16 32 64 bits; max.u16x2, max.s16x2; max.relu.s32, max.relu.s16x2
 * source   PTX ISA 9.7.1.13 */
static inline uint16_t lw_max_u16(uint16_t a, uint16_t b) { return a > b ? a : b; }
static inline uint32_t lw_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t lw_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline int16_t lw_max_s16(int16_t a, int16_t b) { return a > b ? a : b; }
static inline int32_t lw_max_s32(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int64_t lw_max_s64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int32_t lw_max_relu_s32(int32_t a, int32_t b) { return lw_max_s32(lw_max_s32(a, b), 0); }
static inline uint32_t lw_max_u16x2(uint32_t a, uint32_t b) {
    uint32_t low = lw_max_u32(a & 0xffffu, b & 0xffffu);
    return (lw_max_u32(a >> 16, b >> 16) << 16) | low;
}
static inline uint32_t lw_max_s16x2(uint32_t a, uint32_t b) {
    uint32_t low = (uint16_t)lw_max_s16((int16_t)a, (int16_t)b);
    uint32_t high = (uint16_t)lw_max_s16((int16_t)(a >> 16), (int16_t)(b >> 16));
    return (high << 16) | low;
}
static inline uint32_t lw_max_relu_s16x2(uint32_t a, uint32_t b) {
    uint32_t d = lw_max_s16x2(a, b), sign = d & 0x80008000u;
    return d & ~(sign | (sign - (sign >> 15)));
}

#endif /* LANEWISE_LANE_INTEGER_H */
