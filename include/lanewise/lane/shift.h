/* Shifts of one lane. Amounts are 32-bit whatever the width of the word. */
#ifndef LANEWISE_LANE_SHIFT_H
#define LANEWISE_LANE_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

/* Shift left, zero fill; an amount of the width or more gives 0.
 *
 * a        one word
 * n        amount in bits, clamped to the width
 * returns  one word
 * fails    never
 * spelled  PTX shl.b16, shl.b32, shl.b64
 * source   PTX ISA 9.7.8.8 */
static inline uint16_t lw_shl_b16(uint16_t a, uint32_t n) { return n > 15 ? 0 : (uint16_t)((uint32_t)a << (n & 15)); }
static inline uint32_t lw_shl_b32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a << (n & 31); }
static inline uint64_t lw_shl_b64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a << (n & 63); }

/* Shift right, zero fill; an amount of the width or more gives 0.
 *
 * a        one word
 * n        amount in bits, clamped to the width
 * returns  one word
 * fails    never
 * spelled  PTX shr.u16, shr.u32, shr.u64 and shr.b16, shr.b32, shr.b64
 * source   PTX ISA 9.7.8.9 */
static inline uint16_t lw_shr_u16(uint16_t a, uint32_t n) { return n > 15 ? 0 : (uint16_t)(a >> (n & 15)); }
static inline uint32_t lw_shr_u32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a >> (n & 31); }
static inline uint64_t lw_shr_u64(uint64_t a, uint32_t n) { return n > 63 ? 0 : a >> (n & 63); }

/* Shift right, sign fill; an amount of the width or more gives 0 or -1.
 *
 * a        one word
 * n        amount in bits, clamped to the width
 * returns  one word
 * fails    never
 * spelled  PTX shr.s16, shr.s32, shr.s64
 * source   PTX ISA 9.7.8.9 */
static inline int16_t lw_shr_s16(int16_t a, uint32_t n) { return (int16_t)(a >> (n > 15 ? 15 : n)); }
static inline int32_t lw_shr_s32(int32_t a, uint32_t n) { return a >> (n > 31 ? 31 : n); }
static inline int64_t lw_shr_s64(int64_t a, uint32_t n) { return a >> (n > 63 ? 63 : n); }

/* The 32 most significant bits of [b,a] << n.
 *
 * a, b     low and high word
 * c        amount in bits: n = c & 31 (wrap) or min(c, 32) (clamp)
 * returns  one word
 * fails    never
 * spelled  PTX shf.l.wrap.b32, shf.l.clamp.b32
 * source   PTX ISA 9.7.8.7 */
static inline uint32_t lw_shf_l_wrap(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c & 31;
    return (b << n) | (a >> 1 >> (31 - n)); /* two steps: a >> 32 is not C */
}
static inline uint32_t lw_shf_l_clamp(uint32_t a, uint32_t b, uint32_t c) {
    return c > 31 ? a : lw_shf_l_wrap(a, b, c);
}

/* The 32 least significant bits of [b,a] >> n.
 *
 * a, b     low and high word
 * c        amount in bits: n = c & 31 (wrap) or min(c, 32) (clamp)
 * returns  one word
 * fails    never
 * spelled  PTX shf.r.wrap.b32, shf.r.clamp.b32
 * source   PTX ISA 9.7.8.7 */
static inline uint32_t lw_shf_r_wrap(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c & 31;
    return (b << 1 << (31 - n)) | (a >> n);
}
static inline uint32_t lw_shf_r_clamp(uint32_t a, uint32_t b, uint32_t c) {
    return c > 31 ? b : lw_shf_r_wrap(a, b, c);
}

#endif /* LANEWISE_LANE_SHIFT_H */
