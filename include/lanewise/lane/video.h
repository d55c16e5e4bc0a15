/* Scalar video instructions of one lane: the shifts.
 *
 * What the spelling of an instruction says (selectors, types, mode, second operation) is one operand, `how`, made of
 *
 *     LW_VIDEO_A(part) + LW_VIDEO_B(part) + LW_VIDEO_D(part) + flags
 *
 * where a part is LW_VIDEO_b0 ... LW_VIDEO_h1, or LW_VIDEO_word where there is no selector. vshl.s32.u32.u32.sat.wrap
 * d.b1, a, b.h0, c:
 *
 *     lw_vshl_manual(a, b, c, LW_VIDEO_A(LW_VIDEO_word) + LW_VIDEO_B(LW_VIDEO_h0) + LW_VIDEO_D(LW_VIDEO_b1)
 *                                 + LW_VIDEO_D_SIGNED + LW_VIDEO_SAT + LW_VIDEO_WRAP);
 *
 * There are two semantics. `manual` is the pseudo-code of the manual; its steps and their names are those below.
 * `sm_90` is what that hardware does, which differs in four ways; each is named where it shows. */
#ifndef LANEWISE_LANE_VIDEO_H
#define LANEWISE_LANE_VIDEO_H

#include <stdbool.h>
#include <stdint.h>
#include "shift.h"

/* Part of a word: the number of its first byte, and above that its bytes less one. */
enum {
    LW_VIDEO_b0 = 0,
    LW_VIDEO_b1 = 1,
    LW_VIDEO_b2 = 2,
    LW_VIDEO_b3 = 3,
    LW_VIDEO_h0 = 4,
    LW_VIDEO_h1 = 6,
    LW_VIDEO_word = 12
};
#define LW_VIDEO_A(part) ((uint32_t)(part))
#define LW_VIDEO_B(part) ((uint32_t)(part) << 4)
#define LW_VIDEO_D(part) ((uint32_t)(part) << 8)
enum {
    LW_VIDEO_WRAP = 1 << 12, /* .wrap; otherwise .clamp */
    LW_VIDEO_SAT = 1 << 13,
    LW_VIDEO_A_SIGNED = 1 << 14, /* .atype is .s32 */
    LW_VIDEO_D_SIGNED = 1 << 15, /* .dtype is .s32 */
    LW_VIDEO_ADD = 1 << 16,      /* .op2 */
    LW_VIDEO_MIN = 1 << 17,
    LW_VIDEO_MAX = 1 << 18
};

/* ---- Parts of the functions below ---------------------------------------------------------------------- */

/* What `how` says is used as a number and never as a condition, so that loops have none that all lanes share. */
static inline uint32_t lw_video_has_(uint32_t how, uint32_t flag) { return (how & flag) != 0; } /* 0 or 1 */
static inline uint32_t lw_video_ones_(uint32_t how, uint32_t flag) { return 0u - lw_video_has_(how, flag); }
static inline int64_t lw_video_either_(bool first, int64_t a, int64_t b) { /* first ? a : b */
    return b ^ ((a ^ b) & (0 - (int64_t)first));
}

static inline uint32_t lw_video_first_(uint32_t part) { return (part & 3) * 8; }           /* its first bit */
static inline uint32_t lw_video_above_(uint32_t part) { return 24 - (part >> 2 & 3) * 8; } /* 32 - its bits */
static inline uint32_t lw_video_mask_(uint32_t part) {
    return UINT32_MAX >> lw_video_above_(part) << lw_video_first_(part);
}

/* The part of a word moved up to the top. */
static inline uint32_t lw_video_top_(uint32_t word, uint32_t part) {
    return word << ((lw_video_above_(part) - lw_video_first_(part)) & 31);
}
/* partSelectSignExtend, as a word and as a wide number. */
static inline uint32_t lw_video_part_u32_(uint32_t word, uint32_t part) {
    return lw_video_top_(word, part) >> lw_video_above_(part);
}
static inline uint32_t lw_video_part_s32_(uint32_t word, uint32_t part) {
    return (uint32_t)((int32_t)lw_video_top_(word, part) >> lw_video_above_(part));
}
static inline int64_t lw_video_extend_(uint32_t word, uint32_t is_signed) { /* 0 or 1 */
    return (int64_t)word - (int64_t)((uint64_t)(word >> 31 & is_signed) << 32);
}
static inline int64_t lw_video_a_(uint32_t a, uint32_t how) {
    return lw_video_extend_(lw_video_top_(a, how), lw_video_has_(how, LW_VIDEO_A_SIGNED)) >> lw_video_above_(how);
}

/* The amount: the part of b, at most 32 or modulo 32. */
static inline uint32_t lw_video_amount_(uint32_t b, uint32_t how) {
    uint32_t bits = UINT32_MAX >> lw_video_above_(how >> 4) & (31 | ~lw_video_ones_(how, LW_VIDEO_WRAP));
    uint32_t tb = b >> lw_video_first_(how >> 4) & bits;
    return tb > 32 ? 32 : tb;
}

/* The low 33 or 34 bits as a signed number. */
static inline int64_t lw_video_s33_(int64_t a) { return (int64_t)((uint64_t)a << 31) >> 31; }
static inline int64_t lw_video_s34_(int64_t a) { return (int64_t)((uint64_t)a << 30) >> 30; }

/* The least and the most that .dtype holds in as many bits as 32 - above; a number clamped to that. */
static inline int32_t lw_video_least_(uint32_t above, uint32_t how) {
    return (INT32_MIN >> above) & (int32_t)lw_video_ones_(how, LW_VIDEO_D_SIGNED);
}
static inline uint32_t lw_video_most_(uint32_t above, uint32_t how) {
    return UINT32_MAX >> above >> lw_video_has_(how, LW_VIDEO_D_SIGNED);
}
static inline int64_t lw_video_clamp_(int64_t a, uint32_t above, uint32_t how) {
    int64_t least = lw_video_least_(above, how), most = lw_video_most_(above, how);
    int64_t raised = a < least ? least : a;
    return raised > most ? most : raised;
}

/* optSaturate: to the range of the destination's part. */
static inline int64_t lw_video_saturate_(int64_t tmp, uint32_t how) {
    int64_t within = lw_video_clamp_(tmp, lw_video_above_(how >> 8), how);
    return lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), within, lw_video_s33_(tmp));
}

/* optSecondaryOp. */
static inline int64_t lw_video_second_(int64_t tmp, uint32_t c, uint32_t how) {
    int64_t tc = lw_video_extend_(c, lw_video_has_(how, LW_VIDEO_D_SIGNED));
    bool takes_c = (lw_video_has_(how, LW_VIDEO_MIN) & (tc < tmp)) | (lw_video_has_(how, LW_VIDEO_MAX) & (tc > tmp));
    return lw_video_either_(takes_c, tc, tmp + lw_video_either_(lw_video_has_(how, LW_VIDEO_ADD), tc, 0));
}

/* optMerge. `shift` moves what is merged to its place. */
static inline uint32_t lw_video_merge_(uint32_t tmp, uint32_t c, uint32_t how, uint32_t shift) {
    uint32_t mask = lw_video_mask_(how >> 8);
    return (tmp << shift & mask) | (c & ~mask);
}
static inline uint32_t lw_video_merge_manual_(uint32_t tmp, uint32_t c, uint32_t how) {
    return lw_video_merge_(tmp, c, how, lw_video_first_(how >> 8));
}
/* sm_90, fourth difference: .h1 takes the high half of the result, which stays in its place. */
static inline uint32_t lw_video_merge_sm_90_(uint32_t tmp, uint32_t c, uint32_t how) {
    uint32_t moved = 0u - ((how >> 8 & 15) != LW_VIDEO_h1);
    return lw_video_merge_(tmp, c, how, lw_video_first_(how >> 8) & moved);
}

/* ---- Every form ---------------------------------------------------------------------------------------- */

/* Shift a part of a by a part of b, saturate, then add, min, max or merge with c: as the manual has it.
 *
 * a, b, c  one word each; c is not read without .op2 and without a destination selector
 * how      selectors, types, mode and operation, see above
 * returns  one word
 * fails    never
 * spelled  PTX vshl, vshr in every form
 * source   PTX ISA 9.7.18.1, 9.7.18.1.2 */
static inline uint32_t lw_vshl_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    int64_t ta = lw_video_a_(a, how);
    int64_t tmp = lw_video_s34_((int64_t)((uint64_t)ta << lw_video_amount_(b, how)));
    tmp = lw_video_saturate_(tmp, how);
    return lw_video_merge_manual_((uint32_t)lw_video_second_(tmp, c, how), c, how);
}
static inline uint32_t lw_vshr_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    int64_t tmp = lw_video_a_(a, how) >> lw_video_amount_(b, how);
    tmp = lw_video_saturate_(tmp, how);
    return lw_video_merge_manual_((uint32_t)lw_video_second_(tmp, c, how), c, how);
}

/* sm_90, from the shifted number to the result. First difference: the number is 64 bits wide, and saturation alone
 * looks at 34 of them. Second: .sat clamps to 32 bits whatever the selector. Third: .min and .max compare 64 bits, as
 * signed or unsigned numbers by .dtype; a saturated result counts as signed. */
static inline uint32_t lw_video_finish_sm_90_(int64_t wide, uint32_t c, uint32_t how) {
    uint32_t within = (uint32_t)lw_video_clamp_(lw_video_s34_(wide), 0, how);
    int64_t tmp = lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), (int64_t)(int32_t)within, wide);
    uint64_t top = (uint64_t) !(how & LW_VIDEO_D_SIGNED) << 63; /* turns the order of words into that of numbers */
    int64_t left = (int64_t)((uint64_t)tmp ^ top);
    int64_t right = (int64_t)((uint64_t)lw_video_extend_(c, lw_video_has_(how, LW_VIDEO_D_SIGNED)) ^ top);
    bool takes_c = (lw_video_has_(how, LW_VIDEO_MIN) & (right < left)) |
                   (lw_video_has_(how, LW_VIDEO_MAX) & (right > left));
    uint32_t sum = (uint32_t)tmp + (c & lw_video_ones_(how, LW_VIDEO_ADD));
    return lw_video_merge_sm_90_((uint32_t)lw_video_either_(takes_c, c, sum), c, how);
}

/* The same as the hardware does it.
 *
 * a, b, c  one word each; c is not read without .op2 and without a destination selector
 * how      selectors, types, mode and operation, see above
 * returns  one word
 * fails    never
 * spelled  PTX vshl, vshr in every form
 * source   recorded on sm_90 */
static inline uint32_t lw_vshl_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    int64_t ta = lw_video_a_(a, how);
    return lw_video_finish_sm_90_((int64_t)((uint64_t)ta << lw_video_amount_(b, how)), c, how);
}
static inline uint32_t lw_vshr_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_sm_90_(lw_video_a_(a, how) >> lw_video_amount_(b, how), c, how);
}

/* ---- The same piece by piece in words of 32 bits --------------------------------------------------------- */

/* Twice the lanes in a vector, and pieces that a form does not need can be left out. The number is ta << tb or ta >> tb
 * of 32 bits, as lw_shl_b32, lw_shr_u32 and lw_shr_s32 give it; with .sat a left shift is one of these: the first type
 * is .dtype, the second .atype. */

/* optSaturate of 34 bits to 32: `high` are bits 33 and 32, as a signed number. */
static inline uint32_t lw_video_saturate_u32_(uint32_t low, int32_t high) {
    return (low | (0u - (high > 0))) & ~(uint32_t)(high >> 31);
}
static inline uint32_t lw_video_saturate_s32_(uint32_t low, int32_t high) {
    uint32_t limit = (uint32_t)(high >> 31 ^ INT32_MAX), wrong = 0u - ((int32_t)low >> 31 != high);
    return low ^ ((low ^ limit) & wrong);
}

/* Bits 33 and 32 of a word shifted left by at most 32, as a signed number. They are what a shift to the right leaves,
 * in two steps since it may be by 32. */
static inline int32_t lw_video_high_u32_(uint32_t ta, uint32_t tb) {
    uint32_t half = (32 - tb) >> 1;
    return (int32_t)(ta >> half >> (32 - tb - half) << 30) >> 30;
}
static inline int32_t lw_video_high_s32_(uint32_t ta, uint32_t tb) {
    uint32_t half = (32 - tb) >> 1;
    return (int32_t)((uint32_t)((int32_t)ta >> half >> (32 - tb - half)) << 30) >> 30;
}

static inline uint32_t lw_video_shl_sat_u32_u32_(uint32_t ta, uint32_t tb) {
    tb = tb > 32 ? 32 : tb;
    return lw_video_saturate_u32_(lw_shl_b32(ta, tb), lw_video_high_u32_(ta, tb));
}
static inline uint32_t lw_video_shl_sat_u32_s32_(uint32_t ta, uint32_t tb) {
    tb = tb > 32 ? 32 : tb;
    return lw_video_saturate_u32_(lw_shl_b32(ta, tb), lw_video_high_s32_(ta, tb));
}
static inline uint32_t lw_video_shl_sat_s32_u32_(uint32_t ta, uint32_t tb) {
    tb = tb > 32 ? 32 : tb;
    return lw_video_saturate_s32_(lw_shl_b32(ta, tb), lw_video_high_u32_(ta, tb));
}
static inline uint32_t lw_video_shl_sat_s32_s32_(uint32_t ta, uint32_t tb) {
    tb = tb > 32 ? 32 : tb;
    return lw_video_saturate_s32_(lw_shl_b32(ta, tb), lw_video_high_s32_(ta, tb));
}

/* Whether what sm_90 merges of the second number is not what the manual merges of the first. */
static inline bool lw_video_parts_differ_(uint32_t manual, uint32_t sm_90, uint32_t how) {
    uint32_t moved = (how >> 8 & 15) == LW_VIDEO_h1 ? 16 : 0;
    return ((manual ^ sm_90 >> moved) & UINT32_MAX >> lw_video_above_(how >> 8)) != 0;
}

/* .min and .max of words by .dtype .u32 where the number may be of either kind: `t` with its highest bit set is less
 * than any c in the first two, more than any c in the others. */
static inline uint32_t lw_video_min_below_(uint32_t t, uint32_t c) { return (((int32_t)t < 0) | (t < c)) ? t : c; }
static inline uint32_t lw_video_max_below_(uint32_t t, uint32_t c) { return (((int32_t)t < 0) | (t < c)) ? c : t; }
static inline uint32_t lw_video_min_above_(uint32_t t, uint32_t c) { return (((int32_t)t < 0) | (t > c)) ? c : t; }
static inline uint32_t lw_video_max_above_(uint32_t t, uint32_t c) { return (((int32_t)t < 0) | (t > c)) ? t : c; }
/* Where a number of which the manual says that it is below zero, or as large as it looks, is above all for sm_90. */
static inline bool lw_video_below_differs_(uint32_t t, uint32_t c) { return ((int32_t)t < 0) & (t != c); }
static inline bool lw_video_above_differs_(uint32_t t, uint32_t c) { return ((int32_t)t < 0) & (t < c); }

/* A number shifted left without .sat: `low` is lw_shl_b32 of it, and this is the word above. */
static inline uint32_t lw_video_over_u32_(uint32_t ta, uint32_t tb) { return lw_shr_u32(ta, 32 - (tb > 32 ? 32 : tb)); }
static inline uint32_t lw_video_over_s32_(uint32_t ta, uint32_t tb) {
    return (uint32_t)lw_shr_s32((int32_t)ta, 32 - (tb > 32 ? 32 : tb));
}
/* Whether .min or .max gives c rather than the number of these two words; both are turned round for .max. `top` turns
 * the order of numbers into that of words. */
static inline bool lw_video_takes_c_(uint32_t low, uint32_t high, uint32_t c, uint32_t how, uint32_t top) {
    uint32_t turn = lw_video_ones_(how, LW_VIDEO_MAX),
             above = (uint32_t)((int32_t)(c & lw_video_ones_(how, LW_VIDEO_D_SIGNED)) >> 31);
    int32_t left = (int32_t)(above ^ top ^ turn), right = (int32_t)(high ^ top ^ turn);
    return (left < right) | ((left == right) & ((c ^ turn) < (low ^ turn)));
}
static inline bool lw_video_takes_c_manual_(uint32_t low, uint32_t high, uint32_t c,
                                            uint32_t how) { /* 33 bits, signed */
    return lw_video_takes_c_(low, 0u - (high & 1), c, how, 0);
}
static inline bool lw_video_takes_c_sm_90_(uint32_t low, uint32_t high, uint32_t c,
                                           uint32_t how) { /* 64, signed as .dtype is */
    return lw_video_takes_c_(low, high, c, how, ~lw_video_ones_(how, LW_VIDEO_D_SIGNED) << 31);
}
static inline uint32_t lw_video_pick_manual_(uint32_t low, uint32_t high, uint32_t c, uint32_t how) {
    return lw_video_takes_c_manual_(low, high, c, how) ? c : low;
}
static inline uint32_t lw_video_pick_sm_90_(uint32_t low, uint32_t high, uint32_t c, uint32_t how) {
    return lw_video_takes_c_sm_90_(low, high, c, how) ? c : low;
}
static inline bool lw_video_picks_differ_(uint32_t low, uint32_t high, uint32_t c, uint32_t how) {
    return (lw_video_takes_c_manual_(low, high, c, how) != lw_video_takes_c_sm_90_(low, high, c, how)) & (low != c);
}

#endif /* LANEWISE_LANE_VIDEO_H */
