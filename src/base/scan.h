/* scan.h: what reading a text has in common, whatever the language: classes of characters, digits, places, bytes that
 * mean nothing. */
#ifndef LW_SCAN_H
#define LW_SCAN_H

#include <stdio.h>

#include "base/base.h"

/* ---- Classes of characters: a table of 256 bytes a language ------------------------------------------------ */

enum { LW_C_DIGIT = 1, LW_C_HEX = 2, LW_C_SPACE = 4, LW_C_OWN = 8 }; /* from LW_C_OWN on they are the language's */

/* Letters, digits and blanks, with what else they are. */
#define LW_SCAN_CLASSES(digit, letter) \
    ['0' ... '9'] = LW_C_DIGIT | LW_C_HEX | (digit), ['a' ... 'f'] = LW_C_HEX | (letter), ['g' ... 'z'] = (letter), \
             ['A' ... 'F'] = LW_C_HEX | (letter), ['G' ... 'Z'] = (letter), [' '] = LW_C_SPACE, ['\t'] = LW_C_SPACE, \
             ['\n'] = LW_C_SPACE, ['\r'] = LW_C_SPACE, ['\f'] = LW_C_SPACE

/* ---- Places -------------------------------------------------------------------------------------------------- */

static inline lw_place lw_scan_place(uint32_t at, uint32_t end) { return (lw_place){at, end - at}; }

/* How much of a text a message shows. */
static inline int lw_scan_shown(uint32_t at, uint32_t end) { return end - at > 40 ? 40 : (int)(end - at); }

/* ---- Digits -------------------------------------------------------------------------------------------------- */

/* What a digit or letter stands for in any base: 10 and up for letters; 255 and more for other characters. */
static inline uint32_t lw_digit_value(char c) {
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    const char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'z' ? (uint32_t)(small - 'a' + 10) : 255;
}

/* The offset behind the digits of a base that begin at an offset. */
static inline uint32_t lw_digits_end(const char *text, uint32_t at, uint32_t base) {
    while (lw_digit_value(text[at]) < base) at++;
    return at;
}

/* The value of digits. False: it has more than 64 bits, and *value the low ones of it. */
static inline bool lw_digits_read(const char *text, uint32_t at, uint32_t end, uint32_t base, uint64_t *value) {
    bool fits = true;
    for (*value = 0; at < end; at++) {
        fits &= !__builtin_mul_overflow(*value, (uint64_t)base, value);
        fits &= !__builtin_add_overflow(*value, (uint64_t)lw_digit_value(text[at]), value);
    }
    return fits;
}

/* ---- Bytes that mean nothing ----------------------------------------------------------------------------------- */

/* The offset behind a run of bytes outside of ASCII. */
static inline uint32_t lw_foreign_end(const lw_source *source, uint32_t at) {
    while (at < source->size && (unsigned char)source->text[at] >= 0x80) at++;
    return at;
}

/* A byte as a message shows it. */
static inline void lw_byte_show(char shown[8], char c) {
    const bool plain = c >= 0x20 && c < 0x7f;
    snprintf(shown, 8, plain ? "%c" : "\\x%02x", plain ? c : (unsigned char)c);
}

/* ---- Strings --------------------------------------------------------------------------------------------------- */

/* The offset behind what stands at one inside of a string: a byte, or two behind a backslash. */
static inline uint32_t lw_string_step(const lw_source *source, uint32_t at) {
    return at + (source->text[at] == '\\' && at + 1 < source->size && source->text[at + 1] != '\n' ? 2 : 1);
}

#endif
