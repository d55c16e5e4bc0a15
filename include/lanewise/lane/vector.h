/* Elements of vector registers, where PTX has no function of the same meaning: widths of 8 bits, counts as wide as the
 * element. */
#ifndef LANEWISE_LANE_VECTOR_H
#define LANEWISE_LANE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Shift right, sign fill for signed and zero fill for unsigned elements. A count of the width or more, which each
 * target may take its own way, gives what one-bit steps would give: 0 or -1.
 *
 * a        one element
 * n        count in bits, unsigned
 * returns  one element
 * fails    never
 * spelled  PTO vshr of i8 u8 i16 u16 i64 u64; i32 and u32 have lw_shr_s32, lw_shr_u32
 * source   PTO ISA pto.vshr */
static inline int8_t lw_vshr_s8(int8_t a, uint8_t n) { return (int8_t)(a >> (n > 7 ? 7 : n)); }
static inline uint8_t lw_vshr_u8(uint8_t a, uint8_t n) { return n > 7 ? 0 : (uint8_t)(a >> (n & 7)); }
static inline int16_t lw_vshr_s16(int16_t a, uint16_t n) { return (int16_t)(a >> (n > 15 ? 15 : n)); }
static inline uint16_t lw_vshr_u16(uint16_t a, uint16_t n) { return n > 15 ? 0 : (uint16_t)(a >> (n & 15)); }
static inline int64_t lw_vshr_s64(int64_t a, uint64_t n) { return a >> (n > 63 ? 63 : n); }
static inline uint64_t lw_vshr_u64(uint64_t a, uint64_t n) { return n > 63 ? 0 : a >> (n & 63); }

/* Shift left, zero fill; a count of the width or more, which each target may take its own way, gives 0.
 *
 * a        one element
 * n        count in bits, unsigned
 * returns  one element
 * fails    never
 * spelled  PTO vshl of 8, 16 and 64 bits; 32 bits have lw_shl_b32
 * source   PTO ISA pto.vshr, which names it as its counterpart */
static inline uint8_t lw_vshl_b8(uint8_t a, uint8_t n) { return n > 7 ? 0 : (uint8_t)((uint32_t)a << (n & 7)); }
static inline uint16_t lw_vshl_b16(uint16_t a, uint16_t n) { return n > 15 ? 0 : (uint16_t)((uint32_t)a << (n & 15)); }
static inline uint64_t lw_vshl_b64(uint64_t a, uint64_t n) { return n > 63 ? 0 : a << (n & 63); }

/* The smaller of two elements.
 *
 * a, b     one element each
 * returns  one element
 * fails    never
 * spelled  PTO vmin of i8, u8
 * source   Lanewise's reading of PTO: isa/pto/integer.def */
static inline int8_t lw_vmin_s8(int8_t a, int8_t b) { return a < b ? a : b; }
static inline uint8_t lw_vmin_u8(uint8_t a, uint8_t b) { return a < b ? a : b; }

/* The larger of two elements.
 *
 * a, b     one element each
 * returns  one element
 * fails    never
 * spelled  PTO vmax of i8, u8
 * source   Lanewise's reading of PTO: isa/pto/integer.def */
static inline int8_t lw_vmax_s8(int8_t a, int8_t b) { return a > b ? a : b; }
static inline uint8_t lw_vmax_u8(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* Absolute value; -128 stays as it is.
 *
 * a        one element
 * returns  one element
 * fails    never
 * spelled  PTO vabs of i8
 * source   Lanewise's reading of PTO: isa/pto/integer.def */
static inline int8_t lw_vabs_s8(int8_t a) { return a < 0 ? (int8_t)(0u - (uint8_t)a) : a; }

/* Comparison; gt and ge are lt and le of the operands exchanged.
 *
 * a, b     one element each
 * returns  whether it holds
 * fails    never
 * spelled  PTO vcmp of i8, u8
 * source   Lanewise's reading of PTO: isa/pto/compare.def */
static inline bool lw_vcmp_eq_b8(uint8_t a, uint8_t b) { return a == b; }
static inline bool lw_vcmp_lt_s8(int8_t a, int8_t b) { return a < b; }
static inline bool lw_vcmp_lt_u8(uint8_t a, uint8_t b) { return a < b; }
static inline bool lw_vcmp_le_s8(int8_t a, int8_t b) { return a <= b; }
static inline bool lw_vcmp_le_u8(uint8_t a, uint8_t b) { return a <= b; }

/* a + b + c, its low bits and its carry.
 *
 * a, b     one element each
 * c        carry in
 * returns  one element, or whether the sum of unsigned elements is 2^width or more
 * fails    never
 * spelled  PTO vaddc of 8 and 16 bits (the low bits of 8 are the low ones of 16); wider ones have lw_addc_b32 …
 * source   Lanewise's reading of PTO: isa/pto/integer.def */
static inline uint16_t lw_vaddc_b16(uint16_t a, uint16_t b, bool c) { return (uint16_t)(a + b + c); }
static inline bool lw_vaddc_carry_b8(uint8_t a, uint8_t b, bool c) { return a + b + c > UINT8_MAX; }
static inline bool lw_vaddc_carry_b16(uint16_t a, uint16_t b, bool c) { return a + b + c > UINT16_MAX; }

#endif /* LANEWISE_LANE_VECTOR_H */
