/* video.c: lowering of vshl and vshr, to pieces that work on words or, where these do not suffice, to one function that does
 * everything. What the spelling says is a constant operand of both, `how`.
 *
 * A form whose result may depend on the semantics is computed by both; where they differ, the launch counts it (lw_lower_note). */
#include "lanewise/lane/video.h"
#include "middle/ptx.h"

typedef struct lw_video_shift {
    uint32_t a, b, c; /* virtual registers */
    uint32_t how;     /* as lane/video.h has it, without the semantics */
    bool left;
} lw_video_shift;

static uint32_t part_of(const lw_operand *operand) {
    static const uint8_t parts[LW_SELECT_COUNT] = {
        [LW_SEL_none] = LW_VIDEO_word, [LW_SEL_b0] = LW_VIDEO_b0, [LW_SEL_b1] = LW_VIDEO_b1,
        [LW_SEL_b2] = LW_VIDEO_b2,     [LW_SEL_b3] = LW_VIDEO_b3, [LW_SEL_h0] = LW_VIDEO_h0,
        [LW_SEL_h1] = LW_VIDEO_h1,
    };
    return parts[operand->select];
}

static bool merges(uint32_t how) { return (how & LW_VIDEO_D(15)) != LW_VIDEO_D(LW_VIDEO_word); }
static bool compares(uint32_t how) { return how & (LW_VIDEO_MIN | LW_VIDEO_MAX); }

static uint32_t how_of(const lw_instruction *i) {
    const lw_match *match = i->match;
    uint32_t how = LW_VIDEO_A(part_of(&i->operands[1])) + LW_VIDEO_B(part_of(&i->operands[2])) +
                   LW_VIDEO_D(part_of(&i->operands[0]));
    if (match->group[1][0] == 's') how += LW_VIDEO_D_SIGNED;
    if (match->group[2][0] == 's') how += LW_VIDEO_A_SIGNED;
    if (lw_has_word(i, "sat")) how += LW_VIDEO_SAT;
    if (lw_has_word(i, "wrap")) how += LW_VIDEO_WRAP;
    if (lw_has_word(i, "add")) how += LW_VIDEO_ADD;
    if (lw_has_word(i, "min")) how += LW_VIDEO_MIN;
    if (lw_has_word(i, "max")) how += LW_VIDEO_MAX;
    return how;
}

/* Whether there are values for which the semantics differ: see lane/video.h for the four ways. */
static bool may_differ(const lw_video_shift *s) {
    bool d_signed = s->how & LW_VIDEO_D_SIGNED, a_signed = s->how & LW_VIDEO_A_SIGNED;
    if (merges(s->how)) return s->how & LW_VIDEO_SAT || (s->how & LW_VIDEO_D(15)) == LW_VIDEO_D(LW_VIDEO_h1);
    if (!compares(s->how)) return false;
    if (s->how & LW_VIDEO_SAT) return !d_signed;
    return s->left || (a_signed && !d_signed);
}

/* .min and .max of numbers that need more than a word; words in the order of .dtype do for the rest. */
static bool compares_wide(const lw_video_shift *s) {
    bool d_signed = s->how & LW_VIDEO_D_SIGNED, a_signed = s->how & LW_VIDEO_A_SIGNED;
    bool words = s->how & LW_VIDEO_SAT ? d_signed : !s->left && a_signed == d_signed;
    return compares(s->how) && !words;
}

/* ---- Piece by piece ------------------------------------------------------------------------------------- */

/* Steps on words: two or three of them take less time than one that does everything. */
static uint32_t constant(lw_lower *l, uint32_t value) { return lw_lower_const(l, LW_CLASS_32, value); }
static uint32_t pair(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b) {
    return lw_lower_lane(l, lane, a, b, LW_NO_SLOT);
}

static uint32_t shifted(lw_lower *l, const lw_video_shift *s) {
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
static void finish_into(lw_lower *l, uint32_t d, const lw_video_shift *s, uint32_t tmp,
                        lw_semantics semantics) {
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
    else
        l->ops.at[l->ops.count - 1].d = d;
}

/* ---- The whole ------------------------------------------------------------------------------------------ */

static void compare_into(lw_lower *l, uint32_t d, const lw_video_shift *s, lw_semantics semantics) {
    static const lw_lane_id lanes[2][2] = {{LW_LANE_vshr_manual, LW_LANE_vshr_sm_90},
                                           {LW_LANE_vshl_manual, LW_LANE_vshl_sm_90}};
    uint32_t how = constant(l, s->how);
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lanes[s->left][semantics == LW_SEMANTICS_sm_90], LW_RRR));
    op->d = d, op->a = s->a, op->b = s->b, op->c = s->c, op->e = how;
}

/* d by the semantics chosen and, unless it is LW_NO_SLOT, `other` by the other one: before d, which may be one of the operands. */
static void lower_into(lw_lower *l, uint32_t d, uint32_t other, const lw_video_shift *s) {
    lw_semantics mine = l->program->semantics;
    lw_semantics theirs = mine == LW_SEMANTICS_manual ? LW_SEMANTICS_sm_90 : LW_SEMANTICS_manual;
    if (compares_wide(s)) {
        if (other != LW_NO_SLOT) compare_into(l, other, s, theirs);
        compare_into(l, d, s, mine);
        return;
    }
    uint32_t tmp = shifted(l, s);
    if (other != LW_NO_SLOT) finish_into(l, other, s, saturated(l, s, tmp, theirs), theirs);
    finish_into(l, d, s, saturated(l, s, tmp, mine), mine);
}

void lw_lower_video_shift(lw_lower *l, const lw_instruction *i) {
    lw_video_shift s = {.how = how_of(i), .left = !strcmp(i->words[0]->text, "vshl")};
    s.a = lw_lower_read(l, &i->operands[1], LW_T_b32);
    s.b = lw_lower_read(l, &i->operands[2], LW_T_b32);
    s.c = i->operand_count > 3 ? lw_lower_read(l, &i->operands[3], LW_T_b32)
                               : lw_lower_const(l, LW_CLASS_32, 0);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    uint32_t other = may_differ(&s) ? lw_lower_vreg(l, LW_CLASS_32) : LW_NO_SLOT;
    lower_into(l, d, other, &s);
    if (other != LW_NO_SLOT)
        lw_lower_note(l, LW_D_note_semantics, lw_lower_lane(l, LW_LANE_setp_ne_b32, other, d, LW_NO_SLOT));
}
