/* video.h: the helpers of PTX ISA 9.7.18.1, under the names that they have there, for video.c and video_numbers.c. Only
 * how `how` packs a spelling is taken from the lane functions' header. */
#ifndef LW_PROVE_VIDEO_H
#define LW_PROVE_VIDEO_H

#include <lanewise/lane/video_scalar.h>
#include "prove.h"

typedef int64_t s33, s34, s64; /* numbers of as many bits, kept sign-extended */

static inline int64_t signed_bits(uint64_t number, unsigned bits) {
    uint64_t low = number & ((UINT64_C(1) << bits) - 1);
    return low >> (bits - 1) ? (int64_t)(low | ~((UINT64_C(1) << bits) - 1)) : (int64_t)low;
}

static inline bool is(uint32_t how, uint32_t flag) { return (how & flag) == flag; }

/* Selects and extends; a word as it is. */
static inline s33 partSelectSignExtend(uint32_t word, bool is_signed, uint32_t sel) {
    uint32_t part = word, bits = 32;
    switch (sel) {
    case LW_VIDEO_b0: part = word & 0xff, bits = 8; break;
    case LW_VIDEO_b1: part = word >> 8 & 0xff, bits = 8; break;
    case LW_VIDEO_b2: part = word >> 16 & 0xff, bits = 8; break;
    case LW_VIDEO_b3: part = word >> 24 & 0xff, bits = 8; break;
    case LW_VIDEO_h0: part = word & 0xffff, bits = 16; break;
    case LW_VIDEO_h1: part = word >> 16 & 0xffff, bits = 16; break;
    default: break;
    }
    return is_signed ? signed_bits(part, bits) : (s33)part;
}

static inline int64_t CLAMP(int64_t x, int64_t max, int64_t min) { return x > max ? max : x < min ? min : x; }

static inline s33 optSaturate(s34 tmp, bool sat, bool is_signed, uint32_t dsel) {
    if (!sat) return signed_bits((uint64_t)tmp, 33);
    switch (dsel) {
    case LW_VIDEO_b0:
    case LW_VIDEO_b1:
    case LW_VIDEO_b2:
    case LW_VIDEO_b3: return is_signed ? CLAMP(tmp, INT8_MAX, INT8_MIN) : CLAMP(tmp, UINT8_MAX, 0);
    case LW_VIDEO_h0:
    case LW_VIDEO_h1: return is_signed ? CLAMP(tmp, INT16_MAX, INT16_MIN) : CLAMP(tmp, UINT16_MAX, 0);
    default: return is_signed ? CLAMP(tmp, INT32_MAX, INT32_MIN) : CLAMP(tmp, UINT32_MAX, 0);
    }
}

static inline uint32_t optSecondaryOp(uint32_t how, s33 tmp, s33 c) {
    if (is(how, LW_VIDEO_ADD)) return (uint32_t)(tmp + c);
    if (is(how, LW_VIDEO_MIN)) return (uint32_t)(tmp < c ? tmp : c);
    if (is(how, LW_VIDEO_MAX)) return (uint32_t)(tmp > c ? tmp : c);
    return (uint32_t)tmp;
}

static inline uint32_t optMerge(uint32_t dsel, uint32_t tmp, uint32_t c) {
    switch (dsel) {
    case LW_VIDEO_b0: return (tmp & 0xff) | (0xffffff00 & c);
    case LW_VIDEO_b1: return (tmp & 0xff) << 8 | (0xffff00ff & c);
    case LW_VIDEO_b2: return (tmp & 0xff) << 16 | (0xff00ffff & c);
    case LW_VIDEO_b3: return (tmp & 0xff) << 24 | (0x00ffffff & c);
    case LW_VIDEO_h0: return (tmp & 0xffff) | (0xffff0000 & c);
    case LW_VIDEO_h1: return (tmp & 0xffff) << 16 | (0x0000ffff & c);
    default: return tmp;
    }
}

/* A selector of d, a or b, or nothing; a second operation at most, and only where d has no selector. */
static inline bool selects(uint32_t sel) {
    return sel == LW_VIDEO_word || sel == LW_VIDEO_b0 || sel == LW_VIDEO_b1 || sel == LW_VIDEO_b2 ||
           sel == LW_VIDEO_b3 || sel == LW_VIDEO_h0 || sel == LW_VIDEO_h1;
}
static inline bool selects_all(uint32_t how) {
    uint32_t op2 = how & (LW_VIDEO_ADD | LW_VIDEO_MIN | LW_VIDEO_MAX);
    bool one = op2 == 0 || op2 == LW_VIDEO_ADD || op2 == LW_VIDEO_MIN || op2 == LW_VIDEO_MAX;
    return selects(how & 15) && selects(how >> 4 & 15) && selects(how >> 8 & 15) && one &&
           (op2 == 0 || (how >> 8 & 15) == LW_VIDEO_word);
}

#endif
