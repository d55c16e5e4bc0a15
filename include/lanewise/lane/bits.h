/* Counting, finding, extracting and permuting bits and bytes; small dot products. */
#ifndef LANEWISE_LANE_BITS_H
#define LANEWISE_LANE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include "shift.h"

/* Number of one bits. The carry-save form vectorises; compilers know it and use the machine's own
 * instruction.
 *
 * a        one word
 * returns  0 to the width
 * fails    never
 * spelled  PTX popc.b32, popc.b64
 * source   PTX ISA 9.7.1.14 */
static inline uint32_t lw_popc_b32(uint32_t a) {
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return a * 0x01010101u >> 24;
}
static inline uint32_t lw_popc_b64(uint64_t a) {
    a -= a >> 1 & 0x5555555555555555u;
    a = (a & 0x3333333333333333u) + (a >> 2 & 0x3333333333333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(a * 0x0101010101010101u >> 56);
}

/* Number of zero bits above the highest one bit.
 *
 * a        one word
 * returns  0 to the width
 * fails    never
 * spelled  PTX clz.b32, clz.b64
 * source   PTX ISA 9.7.1.15 */
static inline uint32_t lw_clz_b32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }
static inline uint32_t lw_clz_b64(uint64_t a) { return a ? (uint32_t)__builtin_clzll(a) : 64; }

/* Place of the most significant bit that is no sign bit; shiftamt: the left shift that moves it to the top.
 *
 * a        one word
 * returns  bit number or shift, all ones where there is no such bit
 * fails    never
 * spelled  PTX bfind, bfind.shiftamt of .u32 .s32 .u64 .s64
 * source   PTX ISA 9.7.1.16 */
static inline uint32_t lw_bfind_u32(uint32_t a) { return 31 - lw_clz_b32(a); }
static inline uint32_t lw_bfind_u64(uint64_t a) { return 63 - lw_clz_b64(a); }
static inline uint32_t lw_bfind_s32(int32_t a) { return lw_bfind_u32((uint32_t)(a ^ a >> 31)); }
static inline uint32_t lw_bfind_s64(int64_t a) { return lw_bfind_u64((uint64_t)(a ^ a >> 63)); }
static inline uint32_t lw_bfind_shiftamt_u32(uint32_t a) { return a ? lw_clz_b32(a) : UINT32_MAX; }
static inline uint32_t lw_bfind_shiftamt_u64(uint64_t a) { return a ? lw_clz_b64(a) : UINT32_MAX; }
static inline uint32_t lw_bfind_shiftamt_s32(int32_t a) { return lw_bfind_shiftamt_u32((uint32_t)(a ^ a >> 31)); }
static inline uint32_t lw_bfind_shiftamt_s64(int64_t a) { return lw_bfind_shiftamt_u64((uint64_t)(a ^ a >> 63)); }

/* Place of the n-th one bit of a mask, counted from a base bit upwards or downwards.
 *
 * mask     one word
 * base     bit number to start from, itself included
 * offset   n, negative to search downwards; 0 asks for the base bit alone
 * returns  bit number, all ones where there is none or base is above 31; 0 for the offset -2^31, as on sm_90
 * fails    never
 * spelled  PTX fns.b32
 * source   PTX ISA 9.7.1.17 */
static inline uint32_t lw_fns(uint32_t mask, uint32_t base, int32_t offset) {
    uint32_t left = offset < 0 ? 0u - (uint32_t)offset : offset ? (uint32_t)offset : 1, found = UINT32_MAX;
    for (int i = 0; i < 32; i++) {
        uint32_t at = offset < 0 ? base - (uint32_t)i : base + (uint32_t)i;
        bool one = (at < 32) & (base < 32) & (mask >> (at & 31)) & ((i == 0) | (offset != 0));
        found = one && left == 1 ? at : found;
        left -= one;
    }
    return offset == INT32_MIN ? 0 : found;
}

/* Bits in reverse order.
 *
 * a        one word
 * returns  one word
 * fails    never
 * spelled  PTX brev.b32, brev.b64
 * source   PTX ISA 9.7.1.18 */
static inline uint32_t lw_brev_b32(uint32_t a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}
static inline uint64_t lw_brev_b64(uint64_t a) {
    return (uint64_t)lw_brev_b32((uint32_t)a) << 32 | lw_brev_b32((uint32_t)(a >> 32));
}

/* The low n bits set; n may be anything. */
static inline uint32_t lw_ones_b32_(uint32_t n) { return n > 31 ? UINT32_MAX : (1u << (n & 31)) - 1; }
static inline uint64_t lw_ones_b64_(uint64_t n) { return n > 63 ? UINT64_MAX : (UINT64_C(1) << (n & 63)) - 1; }

/* Bit field of a word, zero-extended or sign-extended. A field that reaches past the top takes the top bit as
 * sign. The manual restricts position and length to 0...255; sm_90 does so for 32 bits alone.
 *
 * a        one word
 * b        first bit; of a 32-bit word modulo 256
 * c        length in bits; of a 32-bit word modulo 256
 * returns  one word
 * fails    never
 * spelled  PTX bfe of .u32 .s32 .u64 .s64
 * source   PTX ISA 9.7.1.19 */
static inline uint32_t lw_bfe_u32(uint32_t a, uint32_t b, uint32_t c) {
    return lw_shr_u32(a, b & 255) & lw_ones_b32_(c & 255);
}
static inline uint64_t lw_bfe_u64(uint64_t a, uint32_t b, uint32_t c) { return lw_shr_u64(a, b) & lw_ones_b64_(c); }
static inline int32_t lw_bfe_s32(int32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c & 255, gap = n > 31 ? 0 : 32 - n;
    uint32_t field = (uint32_t)lw_shr_s32(a, b & 255) << (gap & 31);
    return n == 0 ? 0 : (int32_t)field >> (gap & 31);
}
static inline int64_t lw_bfe_s64(int64_t a, uint32_t b, uint32_t c) {
    uint32_t gap = c > 63 ? 0 : 64 - c;
    uint64_t field = (uint64_t)lw_shr_s64(a, b) << (gap & 63);
    return c == 0 ? 0 : (int64_t)field >> (gap & 63);
}

/* b with a bit field replaced by the low bits of a.
 *
 * a, b     words of the same width
 * c        first bit; of a 32-bit word modulo 256
 * d        length in bits; of a 32-bit word modulo 256
 * returns  one word
 * fails    never
 * spelled  PTX bfi.b32, bfi.b64
 * source   PTX ISA 9.7.1.20 */
static inline uint32_t lw_bfi_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint32_t field = lw_shl_b32(lw_ones_b32_(d & 255), c & 255);
    return (lw_shl_b32(a, c & 255) & field) | (b & ~field);
}
static inline uint64_t lw_bfi_b64(uint64_t a, uint64_t b, uint32_t c, uint32_t d) {
    uint64_t field = lw_shl_b64(lw_ones_b64_(d), c);
    return (lw_shl_b64(a, c) & field) | (b & ~field);
}

/* The low n bits of a word, zero-extended or sign-extended; 0 for n = 0.
 *
 * a        one word
 * b        n = b & 31 (wrap) or min(b, 32) (clamp)
 * returns  one word
 * fails    never
 * spelled  PTX szext.clamp, szext.wrap of .u32 .s32
 * source   PTX ISA 9.7.1.21 */
static inline uint32_t lw_szext_clamp_u32(uint32_t a, uint32_t b) { return a & lw_ones_b32_(b); }
static inline uint32_t lw_szext_wrap_u32(uint32_t a, uint32_t b) { return a & lw_ones_b32_(b & 31); }
static inline int32_t lw_szext_wrap_s32(int32_t a, uint32_t b) {
    uint32_t gap = (32 - (b & 31)) & 31;
    return (b & 31) == 0 ? 0 : (int32_t)((uint32_t)a << gap) >> gap;
}
static inline int32_t lw_szext_clamp_s32(int32_t a, uint32_t b) { return b > 31 ? a : lw_szext_wrap_s32(a, b); }

/* A mask of b ones from bit a upwards; what passes the top is lost.
 *
 * a        first bit: a & 31 (wrap), or none from 32 upwards (clamp)
 * b        length: b & 31 (wrap) or min(b, 32) (clamp)
 * returns  one word
 * fails    never
 * spelled  PTX bmsk.clamp.b32, bmsk.wrap.b32
 * source   PTX ISA 9.7.1.22 */
static inline uint32_t lw_bmsk_clamp(uint32_t a, uint32_t b) { return lw_shl_b32(lw_ones_b32_(b), a); }
static inline uint32_t lw_bmsk_wrap(uint32_t a, uint32_t b) { return lw_ones_b32_(b & 31) << (a & 31); }

/* Byte i of a word, unsigned or signed; 16-bit half i, likewise. */
static inline uint32_t lw_byte_u32_(uint32_t a, int i) { return a >> 8 * i & 255; }
static inline uint32_t lw_byte_s32_(uint32_t a, int i) { return (uint32_t)((int32_t)(a << (24 - 8 * i)) >> 24); }
static inline uint32_t lw_half_u32_(uint32_t a, int i) { return a >> 16 * i & 0xffff; }
static inline uint32_t lw_half_s32_(uint32_t a, int i) { return (uint32_t)((int32_t)(a << (16 - 16 * i)) >> 16); }

/* Sum of the products of four bytes of a and b, plus c. The first type is that of the bytes of a, the second
 * of b.
 *
 * a, b     four bytes in a word
 * c        addend
 * returns  the low bits
 * fails    never
 * spelled  PTX dp4a of .u32 .s32 and .u32 .s32
 * source   PTX ISA 9.7.1.23 */
static inline uint32_t lw_dp4a_u32_u32(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = lw_byte_u32_(a, 0) * lw_byte_u32_(b, 0) + lw_byte_u32_(a, 1) * lw_byte_u32_(b, 1);
    uint32_t high = lw_byte_u32_(a, 2) * lw_byte_u32_(b, 2) + lw_byte_u32_(a, 3) * lw_byte_u32_(b, 3);
    return c + low + high;
}
static inline uint32_t lw_dp4a_u32_s32(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = lw_byte_u32_(a, 0) * lw_byte_s32_(b, 0) + lw_byte_u32_(a, 1) * lw_byte_s32_(b, 1);
    uint32_t high = lw_byte_u32_(a, 2) * lw_byte_s32_(b, 2) + lw_byte_u32_(a, 3) * lw_byte_s32_(b, 3);
    return c + low + high;
}
static inline uint32_t lw_dp4a_s32_u32(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = lw_byte_s32_(a, 0) * lw_byte_u32_(b, 0) + lw_byte_s32_(a, 1) * lw_byte_u32_(b, 1);
    uint32_t high = lw_byte_s32_(a, 2) * lw_byte_u32_(b, 2) + lw_byte_s32_(a, 3) * lw_byte_u32_(b, 3);
    return c + low + high;
}
static inline uint32_t lw_dp4a_s32_s32(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = lw_byte_s32_(a, 0) * lw_byte_s32_(b, 0) + lw_byte_s32_(a, 1) * lw_byte_s32_(b, 1);
    uint32_t high = lw_byte_s32_(a, 2) * lw_byte_s32_(b, 2) + lw_byte_s32_(a, 3) * lw_byte_s32_(b, 3);
    return c + low + high;
}

/* Sum of the products of two halves of a and two bytes of b, plus c: the low (lo) or high (hi) bytes of b.
 *
 * a        two 16-bit halves in a word
 * b        four bytes in a word
 * c        addend
 * returns  the low bits
 * fails    never
 * spelled  PTX dp2a.lo, dp2a.hi of .u32 .s32 and .u32 .s32
 * source   PTX ISA 9.7.1.24 */
static inline uint32_t lw_dp2a_lo_u32_u32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_u32_(a, 0) * lw_byte_u32_(b, 0) + lw_half_u32_(a, 1) * lw_byte_u32_(b, 1);
}
static inline uint32_t lw_dp2a_lo_u32_s32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_u32_(a, 0) * lw_byte_s32_(b, 0) + lw_half_u32_(a, 1) * lw_byte_s32_(b, 1);
}
static inline uint32_t lw_dp2a_lo_s32_u32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_s32_(a, 0) * lw_byte_u32_(b, 0) + lw_half_s32_(a, 1) * lw_byte_u32_(b, 1);
}
static inline uint32_t lw_dp2a_lo_s32_s32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_s32_(a, 0) * lw_byte_s32_(b, 0) + lw_half_s32_(a, 1) * lw_byte_s32_(b, 1);
}
static inline uint32_t lw_dp2a_hi_u32_u32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_u32_(a, 0) * lw_byte_u32_(b, 2) + lw_half_u32_(a, 1) * lw_byte_u32_(b, 3);
}
static inline uint32_t lw_dp2a_hi_u32_s32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_u32_(a, 0) * lw_byte_s32_(b, 2) + lw_half_u32_(a, 1) * lw_byte_s32_(b, 3);
}
static inline uint32_t lw_dp2a_hi_s32_u32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_s32_(a, 0) * lw_byte_u32_(b, 2) + lw_half_s32_(a, 1) * lw_byte_u32_(b, 3);
}
static inline uint32_t lw_dp2a_hi_s32_s32(uint32_t a, uint32_t b, uint32_t c) {
    return c + lw_half_s32_(a, 0) * lw_byte_s32_(b, 2) + lw_half_s32_(a, 1) * lw_byte_s32_(b, 3);
}

/* Byte `selector & 7` of [b,a], or its sign spread over the byte where bit 3 of the selector is set. */
static inline uint32_t lw_permuted_byte_(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t byte = (selector & 4 ? b : a) >> 8 * (selector & 3) & 255;
    return selector & 8 ? (0u - (byte >> 7)) & 255 : byte;
}

/* Four bytes picked from the eight of [b,a]. The modes without selectors pick by c & 3: f4e forwards and b4e
 * backwards from byte c, rc8 and rc16 repeat a byte or a half, ecl and ecr clamp the byte number from the
 * left or the right.
 *
 * a, b     low and high word
 * c        four selectors of four bits: byte number, and bit 3 to repeat the sign of that byte; or the mode's
 *          number
 * returns  one word
 * fails    never
 * spelled  PTX prmt.b32, prmt.b32.f4e, .b4e, .rc8, .ecl, .ecr, .rc16
 * source   PTX ISA 9.7.9.7 */
static inline uint32_t lw_prmt(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = lw_permuted_byte_(a, b, c) | lw_permuted_byte_(a, b, c >> 4) << 8;
    return low | lw_permuted_byte_(a, b, c >> 8) << 16 | lw_permuted_byte_(a, b, c >> 12) << 24;
}
static inline uint32_t lw_prmt_f4e(uint32_t a, uint32_t b, uint32_t c) {
    return lw_prmt(a, b, 0x3210u + (c & 3) * 0x1111u);
}
static inline uint32_t lw_prmt_b4e(uint32_t a, uint32_t b, uint32_t c) {
    return lw_prmt(a, b, (0x5670u + (c & 3) * 0x1111u) & 0x7777u);
}
static inline uint32_t lw_prmt_rc8(uint32_t a, uint32_t b, uint32_t c) { return lw_prmt(a, b, (c & 3) * 0x1111u); }
static inline uint32_t lw_prmt_ecl(uint32_t a, uint32_t b, uint32_t c) {
    return lw_prmt(a, b, 0x3210u + (0x123u >> 4 * (3 - (c & 3))));
}
static inline uint32_t lw_prmt_ecr(uint32_t a, uint32_t b, uint32_t c) {
    return lw_prmt(a, b, 0x3210u - (0x3210u << 4 * (c & 3) & 0xffffu));
}
static inline uint32_t lw_prmt_rc16(uint32_t a, uint32_t b, uint32_t c) {
    return lw_prmt(a, b, 0x1010u + (c & 1) * 0x2222u);
}

#endif /* LANEWISE_LANE_BITS_H */
