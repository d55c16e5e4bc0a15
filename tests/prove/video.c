/* vshl and vshr: the steps of PTX ISA 9.7.18.1.2; and what sm_90 was seen to do
 * (docs/decisions/0004-two-semantics.md). */
#include "video.h"

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

/* The spellings that the syntax allows. */
static inline bool spelling(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    (void)a, (void)b, (void)c;
    return how >> 19 == 0 && selects_all(how);
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
