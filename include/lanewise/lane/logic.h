/* Bitwise logic on one lane. */
#ifndef LANEWISE_LANE_LOGIC_H
#define LANEWISE_LANE_LOGIC_H

#include <stdbool.h>
#include <stdint.h>

/* Bitwise and.
 *
 * a, b     words of the same width
 * returns  one word
 * fails    never
 * spelled  PTX and.pred, and.b16, and.b32, and.b64
 * source   PTX ISA 9.7.8.1 */
static inline bool lw_and_pred(bool a, bool b) { return a & b; }
static inline uint16_t lw_and_b16(uint16_t a, uint16_t b) { return (uint16_t)(a & b); }
static inline uint32_t lw_and_b32(uint32_t a, uint32_t b) { return a & b; }
static inline uint64_t lw_and_b64(uint64_t a, uint64_t b) { return a & b; }

/* Bitwise or.
 *
 * a, b     words of the same width
 * returns  one word
 * fails    never
 * spelled  PTX or.pred, or.b16, or.b32, or.b64
 * source   PTX ISA 9.7.8.2 */
static inline bool lw_or_pred(bool a, bool b) { return a | b; }
static inline uint16_t lw_or_b16(uint16_t a, uint16_t b) { return (uint16_t)(a | b); }
static inline uint32_t lw_or_b32(uint32_t a, uint32_t b) { return a | b; }
static inline uint64_t lw_or_b64(uint64_t a, uint64_t b) { return a | b; }

/* Bitwise exclusive or.
 *
 * a, b     words of the same width
 * returns  one word
 * fails    never
 * spelled  PTX xor.pred, xor.b16, xor.b32, xor.b64
 * source   PTX ISA 9.7.8.3 */
static inline bool lw_xor_pred(bool a, bool b) { return a ^ b; }
static inline uint16_t lw_xor_b16(uint16_t a, uint16_t b) { return (uint16_t)(a ^ b); }
static inline uint32_t lw_xor_b32(uint32_t a, uint32_t b) { return a ^ b; }
static inline uint64_t lw_xor_b64(uint64_t a, uint64_t b) { return a ^ b; }

/* Bitwise complement.
 *
 * a        one word
 * returns  one word
 * fails    never
 * spelled  PTX not.pred, not.b16, not.b32, not.b64
 * source   PTX ISA 9.7.8.4 */
static inline bool lw_not_pred(bool a) { return !a; }
static inline uint16_t lw_not_b16(uint16_t a) { return (uint16_t)~a; }
static inline uint32_t lw_not_b32(uint32_t a) { return ~a; }
static inline uint64_t lw_not_b64(uint64_t a) { return ~a; }

/* Logical negation: 1 where a is zero, else 0.
 *
 * a        one word
 * returns  0 or 1
 * fails    never
 * spelled  PTX cnot.b16, cnot.b32, cnot.b64
 * source   PTX ISA 9.7.8.5 */
static inline uint16_t lw_cnot_b16(uint16_t a) { return a == 0; }
static inline uint32_t lw_cnot_b32(uint32_t a) { return a == 0; }
static inline uint64_t lw_cnot_b64(uint64_t a) { return a == 0; }

/* Any bitwise function of three inputs.
 *
 * a, b, c  one word each
 * lut      truth table; bit 4*a + 2*b + c is the result for those input bits
 * returns  one word
 * fails    never
 * spelled  PTX lop3.b32
 * source   PTX ISA 9.7.8.6 */
static inline uint32_t lw_lop3(uint32_t a, uint32_t b, uint32_t c, uint8_t lut) {
#define LW_LUT_(i)            (0u - ((uint32_t)(lut >> (i)) & 1u)) /* table entry i, spread over the word */
#define LW_MUX_(s, zero, one) ((zero) ^ (((zero) ^ (one)) & (s)))
    uint32_t low = LW_MUX_(b, LW_MUX_(c, LW_LUT_(0), LW_LUT_(1)), LW_MUX_(c, LW_LUT_(2), LW_LUT_(3)));
    uint32_t high = LW_MUX_(b, LW_MUX_(c, LW_LUT_(4), LW_LUT_(5)), LW_MUX_(c, LW_LUT_(6), LW_LUT_(7)));
    return LW_MUX_(a, low, high);
#undef LW_LUT_
#undef LW_MUX_
}

#endif /* LANEWISE_LANE_LOGIC_H */
