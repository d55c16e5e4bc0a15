/* video_slow.h: selectors of the video instructions and arithmetic on parts of words, by whole numbers of 128 bits:
 * slow, and too plain to be wrong in the way that shifts and masks are. */
#ifndef LW_TEST_VIDEO_SLOW_H
#define LW_TEST_VIDEO_SLOW_H

#include "check.h"

/* Selectors: none, b0 to b3, h0, h1. */
static const unsigned first_bit[] = {0, 0, 8, 16, 24, 0, 16}, bits_of[] = {32, 8, 8, 8, 8, 16, 16};
static const uint32_t codes[] = {LW_VIDEO_word, LW_VIDEO_b0, LW_VIDEO_b1, LW_VIDEO_b2,
                                 LW_VIDEO_b3,   LW_VIDEO_h0, LW_VIDEO_h1};
enum { SELECTORS = 7 };

static inline i128 power(unsigned n) { return n ? 2 * power(n - 1) : 1; }
static inline i128 divide_down(i128 a, i128 by) { return a / by - (a % by < 0); }
static inline i128 modulo(i128 a, i128 by) { return a - by * divide_down(a, by); }
/* The low bits of a number, as a signed one. */
static inline i128 wrapped(i128 a, unsigned bits) {
    i128 low = modulo(a, power(bits));
    return low >= power(bits - 1) ? low - power(bits) : low;
}
static inline i128 limited(i128 a, unsigned bits, bool is_signed) {
    i128 least = is_signed ? -power(bits - 1) : 0, most = power(is_signed ? bits - 1 : bits) - 1;
    return a < least ? least : a > most ? most : a;
}
static inline i128 bits_at(uint32_t word, unsigned first, unsigned bits, bool is_signed) {
    i128 value = modulo(divide_down(word, power(first)), power(bits));
    return is_signed ? wrapped(value, bits) : value;
}
static inline i128 field(uint32_t word, unsigned selector, bool is_signed) {
    return bits_at(word, first_bit[selector], bits_of[selector], is_signed);
}
/* c with bits from `first` on replaced by the low ones of value. */
static inline uint32_t merged(uint32_t c, unsigned first, unsigned bits, i128 value) {
    return (uint32_t)(c + (modulo(value, power(bits)) - bits_at(c, first, bits, false)) * power(first));
}

#endif
