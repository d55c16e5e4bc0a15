/* video.c: lowering of vshl and vshr, to pieces that work on words. What the spelling says is a constant operand of
 * them, `how`.
 *
 * Where the result may depend on the semantics, a predicate says for which lanes it does, and the launch counts them
 * (lw_lower_note). It is worked out from the number that was shifted, which costs less than to have both results. */
#include "lanewise/lane/video.h"
#include "middle/ptx.h"

typedef struct lw_video_shift {
    uint32_t a, b, c; /* virtual registers */
    uint32_t how;     /* as lane/video.h has it */
    bool left;
    uint32_t ta, tb; /* the parts of a and b, once there are operations for them */
} lw_video_shift;

static uint32_t part_of(const lw_operand *operand) {
    static const uint8_t parts[LW_SELECT_COUNT] = {
        [LW_SEL_none] = LW_VIDEO_word, [LW_SEL_b0] = LW_VIDEO_b0, [LW_SEL_b1] = LW_VIDEO_b1, [LW_SEL_b2] = LW_VIDEO_b2,
        [LW_SEL_b3] = LW_VIDEO_b3,     [LW_SEL_h0] = LW_VIDEO_h0, [LW_SEL_h1] = LW_VIDEO_h1,
    };
    return parts[operand->select];
}

static bool merges(uint32_t how) { return (how & LW_VIDEO_D(15)) != LW_VIDEO_D(LW_VIDEO_word); }
static bool compares(uint32_t how) { return how & (LW_VIDEO_MIN | LW_VIDEO_MAX); }

static uint32_t how_of(const lw_instruction *i) {
    const lw_match *match = i->match;
    uint32_t how = LW_VIDEO_A(part_of(&i->operands[1])) + LW_VIDEO_B(part_of(&i->operands[2])) +
                   LW_VIDEO_D(part_of(&i->operands[0]));
    if (match->types[0] == LW_T_s32) how += LW_VIDEO_D_SIGNED;
    if (match->types[1] == LW_T_s32) how += LW_VIDEO_A_SIGNED;
    if (match->mode.sat) how += LW_VIDEO_SAT;
    if (match->mode.amount == LW_MOD_wrap) how += LW_VIDEO_WRAP;
    if (match->mode.op == LW_MOD_add) how += LW_VIDEO_ADD;
    if (match->mode.op == LW_MOD_min) how += LW_VIDEO_MIN;
    if (match->mode.op == LW_MOD_max) how += LW_VIDEO_MAX;
    return how;
}

/* Whether what is merged may depend on the semantics: lane/video.h has the ways. */
static bool merges_apart(const lw_video_shift *s) {
    return merges(s->how) && (s->how & LW_VIDEO_SAT || (s->how & LW_VIDEO_D(15)) == LW_VIDEO_D(LW_VIDEO_h1));
}

/* .min and .max of numbers that need more than a word; words in the order of .dtype do for the rest. */
static bool compares_wide(const lw_video_shift *s) {
    bool d_signed = s->how & LW_VIDEO_D_SIGNED, a_signed = s->how & LW_VIDEO_A_SIGNED;
    bool words = s->how & LW_VIDEO_SAT ? d_signed : !s->left && a_signed == d_signed;
    return compares(s->how) && !words;
}

/* ---- Piece by piece ------------------------------------------------------------------------------------- */

static uint32_t constant(lw_lower *l, uint32_t value) { return lw_lower_const(l, LW_CLASS_32, value); }
static uint32_t pair(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b) {
    return lw_lower_lane(l, lane, a, b, LW_NO_SLOT);
}

static uint32_t shifted(lw_lower *l, lw_video_shift *s) {
    static const lw_lane_id saturating[2][2] = {
        {LW_LANE_video_shl_sat_u32_u32_, LW_LANE_video_shl_sat_u32_s32_},
        {LW_LANE_video_shl_sat_s32_u32_, LW_LANE_video_shl_sat_s32_s32_},
    };
    bool d_signed = s->how & LW_VIDEO_D_SIGNED, a_signed = s->how & LW_VIDEO_A_SIGNED;
    uint32_t ta = s->a, tb = s->b;
    if ((s->how & LW_VIDEO_A(15)) != LW_VIDEO_A(LW_VIDEO_word))
        ta = pair(l, a_signed ? LW_LANE_video_part_s32_ : LW_LANE_video_part_u32_, ta, constant(l, s->how));
    /* A whole word that is clamped needs nothing: shifts take any amount. */
    if ((s->how & LW_VIDEO_B(15)) != LW_VIDEO_B(LW_VIDEO_word) || s->how & LW_VIDEO_WRAP)
        tb = pair(l, LW_LANE_video_amount_, tb, constant(l, s->how));
    s->ta = ta, s->tb = tb;
    if (!s->left) return pair(l, a_signed ? LW_LANE_shr_s32 : LW_LANE_shr_u32, ta, tb);
    return pair(l, s->how & LW_VIDEO_SAT ? saturating[d_signed][a_signed] : LW_LANE_shl_b32, ta, tb);
}

/* optSaturate of what `shifted` gives: of a left shift the result is within .dtype already. */
static uint32_t saturated(lw_lower *l, const lw_video_shift *s, uint32_t tmp, lw_semantics semantics) {
    if (!(s->how & LW_VIDEO_SAT)) return tmp;
    uint32_t above = semantics == LW_SEMANTICS_sm_90 ? 0 : lw_video_above_(s->how >> 8);
    uint32_t least = (uint32_t)lw_video_least_(above, s->how), most = lw_video_most_(above, s->how);
    bool d_signed = s->how & LW_VIDEO_D_SIGNED;
    bool is_signed = s->left ? d_signed : (s->how & LW_VIDEO_A_SIGNED) != 0;
    if (is_signed && least != (uint32_t)INT32_MIN) tmp = pair(l, LW_LANE_max_s32, tmp, constant(l, least));
    if (most == (is_signed && d_signed ? INT32_MAX : UINT32_MAX)) return tmp;
    return pair(l, is_signed && d_signed ? LW_LANE_min_s32 : LW_LANE_min_u32, tmp, constant(l, most));
}

/* d = tmp, which the operation before has made. */
static void finish_into(lw_lower *l, uint32_t d, const lw_video_shift *s, uint32_t tmp, lw_semantics semantics) {
    bool sm_90 = semantics == LW_SEMANTICS_sm_90, d_signed = s->how & LW_VIDEO_D_SIGNED;
    if (s->how & LW_VIDEO_ADD) /* of words in both semantics */
        lw_lower_lane_into(l, d, LW_LANE_add_b32, tmp, s->c, LW_NO_SLOT);
    else if (s->how & LW_VIDEO_MIN)
        lw_lower_lane_into(l, d, d_signed ? LW_LANE_min_s32 : LW_LANE_min_u32, tmp, s->c, LW_NO_SLOT);
    else if (s->how & LW_VIDEO_MAX)
        lw_lower_lane_into(l, d, d_signed ? LW_LANE_max_s32 : LW_LANE_max_u32, tmp, s->c, LW_NO_SLOT);
    else if (merges(s->how))
        lw_lower_lane_into(l, d, sm_90 ? LW_LANE_video_merge_sm_90_ : LW_LANE_video_merge_manual_, tmp, s->c,
                           constant(l, s->how));
    else l->ops.at[l->ops.count - 1].d = d;
}

/* ---- .min and .max of wide numbers ------------------------------------------------------------------------ */

static void pick_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t tmp, uint32_t over, const lw_video_shift *s) {
    uint32_t how = constant(l, s->how);
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lane, LW_RRR));
    op->d = d, op->a = tmp, op->b = over, op->c = s->c, op->e = how;
}

/* Shifted left without .sat: 33 bits of two words by the manual, all of both on sm_90. */
static uint32_t compare_two_words(lw_lower *l, uint32_t d, const lw_video_shift *s, uint32_t tmp, bool sm_90) {
    uint32_t over =
        pair(l, s->how & LW_VIDEO_A_SIGNED ? LW_LANE_video_over_s32_ : LW_LANE_video_over_u32_, s->ta, s->tb);
    uint32_t differs = lw_lower_vreg(l, LW_CLASS_pred);
    pick_into(l, differs, LW_LANE_video_picks_differ_, tmp, over, s);
    pick_into(l, d, sm_90 ? LW_LANE_video_pick_sm_90_ : LW_LANE_video_pick_manual_, tmp, over, s);
    return differs;
}

/* By .u32: a number that has the highest bit set was below zero or, saturated, is just as large; on sm_90 it is above
 * all in both cases. By .s32: one that was shifted right as .u32, where only c can be below zero. */
static uint32_t compare_words(lw_lower *l, uint32_t d, const lw_video_shift *s, uint32_t tmp, bool sm_90) {
    bool min = s->how & LW_VIDEO_MIN, sat = s->how & LW_VIDEO_SAT;
    lw_lane_id below = min ? LW_LANE_video_min_below_ : LW_LANE_video_max_below_;
    lw_lane_id above = min ? LW_LANE_video_min_above_ : LW_LANE_video_max_above_;
    if (s->how & LW_VIDEO_D_SIGNED) {
        lw_lower_lane_into(l, d, below, s->c, tmp, LW_NO_SLOT);
        return LW_NO_SLOT;
    }
    uint32_t differs = pair(l, sat ? LW_LANE_video_above_differs_ : LW_LANE_video_below_differs_, tmp, s->c);
    lw_lane_id words = min ? LW_LANE_min_u32 : LW_LANE_max_u32;
    lw_lower_lane_into(l, d, sm_90 ? above : sat ? words : below, tmp, s->c, LW_NO_SLOT);
    return differs;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

/* d by the semantics chosen. Returns a predicate, of the lanes where the other one gives something else, or LW_NO_SLOT.
 * It comes before d, which may be one of the operands. */
static uint32_t lower_into(lw_lower *l, uint32_t d, lw_video_shift *s) {
    lw_semantics mine = l->program->semantics;
    uint32_t tmp = shifted(l, s), differs = LW_NO_SLOT;
    if (compares_wide(s) && s->left && !(s->how & LW_VIDEO_SAT))
        return compare_two_words(l, d, s, tmp, mine == LW_SEMANTICS_sm_90);
    if (compares_wide(s)) return compare_words(l, d, s, saturated(l, s, tmp, mine), mine == LW_SEMANTICS_sm_90);
    if (!merges_apart(s)) {
        tmp = saturated(l, s, tmp, mine);
    } else {
        uint32_t manual = saturated(l, s, tmp, LW_SEMANTICS_manual), sm_90 = saturated(l, s, tmp, LW_SEMANTICS_sm_90);
        differs = lw_lower_lane(l, LW_LANE_video_parts_differ_, manual, sm_90, constant(l, s->how));
        tmp = mine == LW_SEMANTICS_sm_90 ? sm_90 : manual;
    }
    finish_into(l, d, s, tmp, mine);
    return differs;
}

void lw_lower_video_shift(lw_lower *l, const lw_instruction *i) {
    lw_video_shift s = {.how = how_of(i), .left = i->match->form->left};
    s.a = lw_lower_read(l, &i->operands[1], LW_T_b32);
    s.b = lw_lower_read(l, &i->operands[2], LW_T_b32);
    s.c = i->operand_count > 3 ? lw_lower_read(l, &i->operands[3], LW_T_b32) : lw_lower_const(l, LW_CLASS_32, 0);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    uint32_t differs = lower_into(l, d, &s);
    if (differs != LW_NO_SLOT) lw_lower_note(l, LW_D_note_semantics, differs);
}
