/* vshl and vshr: the steps of PTX ISA 9.7.18.1.2 with the helpers of 9.7.18.1, under the names that they have there;
 * and what sm_90 was seen to do (docs/decisions/0004-two-semantics.md). Only how `how` packs a spelling is taken from
 * the header. */
#include <lanewise/lane/video.h>
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

static inline uint32_t amount(uint32_t b, uint32_t how) {
    uint32_t tb = (uint32_t)partSelectSignExtend(b, false, how >> 4 & 15);
    bool wrap = is(how, LW_VIDEO_WRAP);
    if (!wrap && tb > 32) tb = 32;
    if (wrap) tb = tb & 0x1f;
    return tb;
}

static inline uint32_t manual(bool left, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    bool d_signed = is(how, LW_VIDEO_D_SIGNED);
    uint32_t dsel = how >> 8 & 15, tb = amount(b, how);
    s33 ta = partSelectSignExtend(a, is(how, LW_VIDEO_A_SIGNED), how & 15);
    s34 tmp = left ? signed_bits((uint64_t)ta << tb, 34) : ta >> tb;
    tmp = optSaturate(tmp, is(how, LW_VIDEO_SAT), d_signed, dsel);
    uint32_t d = optSecondaryOp(how, tmp, partSelectSignExtend(c, d_signed, LW_VIDEO_word));
    return optMerge(dsel, d, c);
}
static inline uint32_t vshl_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return manual(true, a, b, c, how);
}
static inline uint32_t vshr_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return manual(false, a, b, c, how);
}

static inline uint32_t sm_90(bool left, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    bool d_signed = is(how, LW_VIDEO_D_SIGNED), sat = is(how, LW_VIDEO_SAT);
    uint32_t dsel = how >> 8 & 15, tb = amount(b, how);
    s64 ta = partSelectSignExtend(a, is(how, LW_VIDEO_A_SIGNED), how & 15);
    s64 wide = left ? (s64)((uint64_t)ta << tb) : ta >> tb; /* 1: as a number of 64 bits */
    if (sat) { /* 2: its low 34 bits, to 32 bits whatever the selector; a signed number from then on */
        s34 low = signed_bits((uint64_t)wide, 34);
        uint32_t within = (uint32_t)(d_signed ? CLAMP(low, INT32_MAX, INT32_MIN) : CLAMP(low, UINT32_MAX, 0));
        wide = signed_bits(within, 32);
    }
    s64 tc = partSelectSignExtend(c, d_signed, LW_VIDEO_word);
    bool less = d_signed ? wide < tc : (uint64_t)wide < (uint64_t)tc; /* 3: in 64 bits, signed as .dtype is */
    uint32_t d = (uint32_t)wide;
    if (is(how, LW_VIDEO_ADD)) d = d + c;
    if (is(how, LW_VIDEO_MIN)) d = less ? d : c;
    if (is(how, LW_VIDEO_MAX)) d = less ? c : d;
    if (dsel == LW_VIDEO_h1) d = d >> 16; /* 4: the high half goes into .h1 */
    return optMerge(dsel, d, c);
}
static inline uint32_t vshl_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return sm_90(true, a, b, c, how);
}
static inline uint32_t vshr_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return sm_90(false, a, b, c, how);
}

/* The spellings that the syntax allows: a selector or nothing for each of d, a and b; a second operation only where d
 * has none. */
static inline bool selects(uint32_t sel) {
    return sel == LW_VIDEO_word || sel == LW_VIDEO_b0 || sel == LW_VIDEO_b1 || sel == LW_VIDEO_b2 ||
           sel == LW_VIDEO_b3 || sel == LW_VIDEO_h0 || sel == LW_VIDEO_h1;
}
static inline bool spelling(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    (void)a, (void)b, (void)c;
    uint32_t op2 = how & (LW_VIDEO_ADD | LW_VIDEO_MIN | LW_VIDEO_MAX);
    bool one = op2 == 0 || op2 == LW_VIDEO_ADD || op2 == LW_VIDEO_MIN || op2 == LW_VIDEO_MAX;
    return how >> 19 == 0 && selects(how & 15) && selects(how >> 4 & 15) && selects(how >> 8 & 15) && one &&
           (op2 == 0 || (how >> 8 & 15) == LW_VIDEO_word);
}

/* clang-format off */
#define VIDEO(name) \
    PROVE(lw_##name, name, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_##name, spelling, uint32_t, uint32_t, uint32_t, uint32_t) \
    SPLIT(lw_##name, VIDEO_SPLIT)
/* clang-format on */
#define VIDEO_SPLIT \
    0x72000 /* one proof for each operation with .sat and without; selectors, types and .wrap are free */
VIDEO(vshl_manual)
VIDEO(vshr_manual)
VIDEO(vshl_sm_90)
VIDEO(vshr_sm_90)
