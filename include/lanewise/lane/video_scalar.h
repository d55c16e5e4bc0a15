/* Scalar video instructions of one lane but for the shifts: vadd vsub vabsdiff vmin vmax vset vmad.
 *
 * `how` is made as lane/video.h says, with the flags below besides. There are two semantics: `manual` is the
 * pseudo-code of the manual, `sm_90` what that hardware does; each way in which it differs is named where it shows. */
#ifndef LANEWISE_LANE_VIDEO_SCALAR_H
#define LANEWISE_LANE_VIDEO_SCALAR_H

#include "video.h"

enum {
    LW_VIDEO_B_SIGNED = 1 << 19, /* .btype is .s32 */
    LW_VIDEO_LESS = 1 << 20,     /* vset: what the comparison holds for */
    LW_VIDEO_EQUAL = 1 << 21,
    LW_VIDEO_GREATER = 1 << 22,
    LW_VIDEO_PO = 1 << 23, /* vmad: one more, .po */
    LW_VIDEO_MINUS_PRODUCT = 1 << 24,
    LW_VIDEO_MINUS_C = 1 << 25,
    LW_VIDEO_SHR7 = 1 << 26,
    LW_VIDEO_SHR15 = 1 << 27
};

/* ---- Parts of the functions below ---------------------------------------------------------------------- */

static inline int64_t lw_video_b_(uint32_t b, uint32_t how) {
    return lw_video_extend_(lw_video_top_(b, how >> 4), lw_video_has_(how, LW_VIDEO_B_SIGNED)) >>
           lw_video_above_(how >> 4);
}
static inline int64_t lw_video_absdiff_(int64_t x, int64_t y) { return x < y ? y - x : x - y; }
static inline int64_t lw_video_less_of_(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t lw_video_more_of_(int64_t x, int64_t y) { return x < y ? y : x; }
static inline int64_t lw_video_compare_(int64_t x, int64_t y, uint32_t how) { /* 0 or 1 */
    return (lw_video_has_(how, LW_VIDEO_LESS) & (x < y)) | (lw_video_has_(how, LW_VIDEO_EQUAL) & (x == y)) |
           (lw_video_has_(how, LW_VIDEO_GREATER) & (x > y));
}

/* From the number to the result as the manual has it: optSaturate, optSecondaryOp, optMerge. */
static inline uint32_t lw_video_finish_manual_(int64_t tmp, uint32_t c, uint32_t how) {
    tmp = lw_video_saturate_(lw_video_s34_(tmp), how);
    return lw_video_merge_manual_((uint32_t)lw_video_second_(tmp, c, how), c, how);
}

/* .sat on sm_90. Into a part of a word: the number is taken as unsigned, one below zero is the most that there is. Of a
 * whole word: .u32 is raised to zero and nothing else. */
static inline int64_t lw_video_saturate_sm_90_(int64_t tmp, uint32_t how) {
    uint32_t above = lw_video_above_(how >> 8);
    int64_t most = lw_video_most_(above, how), raised = tmp < 0 ? 0 : tmp;
    int64_t part = ((tmp < 0) | (tmp > most)) ? most : tmp;
    int64_t word = lw_video_either_(lw_video_has_(how, LW_VIDEO_D_SIGNED), lw_video_clamp_(tmp, 0, how), raised);
    return lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), lw_video_either_(above != 0, part, word), tmp);
}

/* The second operation on sm_90, of numbers in the order of int64_t, which for words is that of .min and .max. */
static inline uint32_t lw_video_second_sm_90_(int64_t left, int64_t right, uint32_t tmp, uint32_t c, uint32_t how) {
    bool takes_c = (lw_video_has_(how, LW_VIDEO_MIN) & (right < left)) |
                   (lw_video_has_(how, LW_VIDEO_MAX) & (right > left));
    return (uint32_t)lw_video_either_(takes_c, c, tmp + (c & lw_video_ones_(how, LW_VIDEO_ADD)));
}
/* .min and .max compare the whole number, by .dtype .u32 as an unsigned one of 64 bits. */
static inline uint32_t lw_video_finish_number_(int64_t tmp, uint32_t c, uint32_t how) {
    uint64_t top = (uint64_t)(lw_video_has_(how, LW_VIDEO_D_SIGNED) ^ 1) << 63;
    tmp = lw_video_saturate_sm_90_(tmp, how);
    int64_t left = (int64_t)((uint64_t)tmp ^ top);
    int64_t right = (int64_t)((uint64_t)lw_video_extend_(c, lw_video_has_(how, LW_VIDEO_D_SIGNED)) ^ top);
    return lw_video_merge_sm_90_(lw_video_second_sm_90_(left, right, (uint32_t)tmp, c, how), c, how);
}

/* Whether numbers from `least` to `most` fit no word, signed or unsigned. */
static inline bool lw_video_needs_more_(int64_t least, int64_t most) {
    return !(((least >= 0) & (most <= (int64_t)UINT32_MAX)) | ((least >= INT32_MIN) & (most <= INT32_MAX)));
}
static inline int64_t lw_video_part_least_(uint32_t part, bool is_signed) {
    return (INT32_MIN >> lw_video_above_(part)) * (int64_t)is_signed;
}
static inline int64_t lw_video_part_most_(uint32_t part, bool is_signed) {
    return UINT32_MAX >> lw_video_above_(part) >> is_signed;
}
static inline bool lw_video_sum_is_wide_(uint32_t how, bool minus) {
    bool sa = lw_video_has_(how, LW_VIDEO_A_SIGNED), sb = lw_video_has_(how, LW_VIDEO_B_SIGNED);
    int64_t least = lw_video_part_least_(how >> 4, sb), most = lw_video_part_most_(how >> 4, sb);
    return lw_video_needs_more_(lw_video_part_least_(how, sa) + lw_video_either_(minus, -most, least),
                                lw_video_part_most_(how, sa) + lw_video_either_(minus, -least, most));
}

/* Sums and differences: .min and .max compare words, by .dtype .s32 signed. By .u32 the whole number where it always
 * fits a word; else a word with its highest bit set is above any c. */
static inline uint32_t lw_video_finish_sum_(int64_t tmp, uint32_t c, uint32_t how, bool is_wide) {
    uint32_t d_signed = lw_video_has_(how, LW_VIDEO_D_SIGNED), number = lw_video_finish_number_(tmp, c, how);
    uint32_t word = (uint32_t)lw_video_saturate_sm_90_(tmp, how);
    int64_t by_s32 = (int32_t)word, by_u32 = lw_video_either_(word >> 31, (int64_t)UINT32_MAX + 1, word);
    uint32_t result =
        lw_video_second_sm_90_(lw_video_either_(d_signed, by_s32, by_u32), lw_video_extend_(c, d_signed), word, c, how);
    bool by_word = lw_video_has_(how, LW_VIDEO_MIN | LW_VIDEO_MAX) & (d_signed | is_wide);
    return (uint32_t)lw_video_either_(by_word, result, number);
}

/* ---- vadd vsub vabsdiff vmin vmax vset ------------------------------------------------------------------ */

/* Combine a part of a with a part of b, saturate, then add, min, max or merge with c: as the manual has it.
 *
 * a, b, c  one word each; c is not read without .op2 and without a destination selector
 * how      selectors, types, mode and operation, see above; of vset the comparison
 * returns  one word
 * fails    never
 * spelled  PTX vadd, vsub, vabsdiff, vmin, vmax, vset in every form
 * source   PTX ISA 9.7.18.1, 9.7.18.1.1, 9.7.18.1.4 */
static inline uint32_t lw_vadd_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_a_(a, how) + lw_video_b_(b, how), c, how);
}
static inline uint32_t lw_vsub_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_a_(a, how) - lw_video_b_(b, how), c, how);
}
static inline uint32_t lw_vabsdiff_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_absdiff_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
static inline uint32_t lw_vmin_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_less_of_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
static inline uint32_t lw_vmax_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_more_of_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
static inline uint32_t lw_vset_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_manual_(lw_video_compare_(lw_video_a_(a, how), lw_video_b_(b, how), how), c, how);
}

/* The same as the hardware does it.
 *
 * a, b, c  one word each; c is not read without .op2 and without a destination selector
 * how      selectors, types, mode and operation, see above; of vset the comparison
 * returns  one word
 * fails    never
 * spelled  PTX vadd, vsub, vabsdiff, vmin, vmax, vset in every form
 * source   recorded on sm_90 */
static inline uint32_t lw_vadd_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_sum_(lw_video_a_(a, how) + lw_video_b_(b, how), c, how, lw_video_sum_is_wide_(how, false));
}
static inline uint32_t lw_vsub_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_sum_(lw_video_a_(a, how) - lw_video_b_(b, how), c, how, lw_video_sum_is_wide_(how, true));
}
static inline uint32_t lw_vabsdiff_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_number_(lw_video_absdiff_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
static inline uint32_t lw_vmin_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_number_(lw_video_less_of_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
static inline uint32_t lw_vmax_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return lw_video_finish_number_(lw_video_more_of_(lw_video_a_(a, how), lw_video_b_(b, how)), c, how);
}
/* .min and .max of vset take c as .atype has it, not as an unsigned number. */
static inline uint32_t lw_vset_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    int64_t tmp = lw_video_compare_(lw_video_a_(a, how), lw_video_b_(b, how), how);
    int64_t right = lw_video_extend_(c, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    return lw_video_merge_sm_90_(lw_video_second_sm_90_(tmp, right, (uint32_t)tmp, c, how), c, how);
}

/* ---- vmad ------------------------------------------------------------------------------------------------ */

/* Whether the result counts as signed: the same in both semantics. */
static inline uint32_t lw_video_is_signed_(uint32_t how) {
    return lw_video_has_(how, LW_VIDEO_A_SIGNED | LW_VIDEO_B_SIGNED | LW_VIDEO_MINUS_PRODUCT | LW_VIDEO_MINUS_C);
}
/* product + c with their signs, plus one: modulo 2^64. */
static inline uint64_t lw_video_total_(uint64_t product, int64_t c, uint32_t how) {
    uint64_t turn = 0u - (uint64_t)lw_video_has_(how, LW_VIDEO_MINUS_PRODUCT),
             back = 0u - (uint64_t)lw_video_has_(how, LW_VIDEO_MINUS_C);
    return (product ^ turn) - turn + (((uint64_t)c ^ back) - back) + lw_video_has_(how, LW_VIDEO_PO);
}
static inline uint32_t lw_video_scale_(uint32_t how) {
    return lw_video_has_(how, LW_VIDEO_SHR7) * 7 + lw_video_has_(how, LW_VIDEO_SHR15) * 15;
}
static inline int64_t lw_video_clamp_s32_(int64_t a) {
    return a < INT32_MIN ? INT32_MIN : a > INT32_MAX ? INT32_MAX : a;
}

/* a * b + c of a part of a and a part of b, shifted right: as the manual has it. Its 128 bits are 64 here: more count
 * only for .sat of a signed result, and then a product of 2^62 saturates as all larger ones do.
 *
 * a, b, c  one word each
 * how      selectors, types, negations, .po, scale, .sat
 * returns  one word
 * fails    never
 * spelled  PTX vmad in every form
 * source   PTX ISA 9.7.18.1.3 */
static inline uint32_t lw_vmad_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    uint64_t product = (uint64_t)lw_video_a_(a, how) * (uint64_t)lw_video_b_(b, how), limit = UINT64_C(1) << 62;
    uint32_t is_signed = lw_video_is_signed_(how), scale = lw_video_scale_(how);
    uint32_t limits = lw_video_has_(how, LW_VIDEO_SAT) & is_signed &
                      (lw_video_has_(how, LW_VIDEO_A_SIGNED | LW_VIDEO_B_SIGNED) ^ 1);
    product = (uint64_t)lw_video_either_(limits & (product > limit), (int64_t)limit, (int64_t)product);
    uint64_t total = lw_video_total_(product, lw_video_extend_(c, is_signed), how), high = total >> scale;
    int64_t number = (int64_t)total >> scale;
    int64_t within =
        lw_video_either_(is_signed, lw_video_clamp_s32_(number), (int64_t)(high > UINT32_MAX ? UINT32_MAX : high));
    return (uint32_t)lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), within, number);
}

/* The same as the hardware does it: parts once selected are multiplied as signed words, c is always signed, and all has
 * 64 bits; an unsigned result is shifted as such, and .sat takes what is below zero to zero.
 *
 * a, b, c  one word each
 * how      selectors, types, negations, .po, scale, .sat
 * returns  one word
 * fails    never
 * spelled  PTX vmad in every form
 * source   recorded on sm_90 */
static inline uint32_t lw_vmad_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    int64_t product = (int64_t)(int32_t)(uint32_t)lw_video_a_(a, how) * (int32_t)(uint32_t)lw_video_b_(b, how);
    uint32_t is_signed = lw_video_is_signed_(how), scale = lw_video_scale_(how);
    uint64_t total = lw_video_total_((uint64_t)product, (int32_t)c, how);
    int64_t number = lw_video_either_(is_signed, (int64_t)total >> scale, (int64_t)(total >> scale));
    int64_t raised = number < 0 ? 0 : number > (int64_t)UINT32_MAX ? (int64_t)UINT32_MAX : number;
    int64_t within = lw_video_either_(is_signed, lw_video_clamp_s32_(number), raised);
    return (uint32_t)lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), within, number);
}

#endif /* LANEWISE_LANE_VIDEO_SCALAR_H */
