/* video.c: lowering of vshl and vshr: what the spelling says becomes the constant operand of a lane function.
 *
 * A form whose result may depend on the semantics is computed by both; where they differ, the launch counts it (lw_lower_note). */
#include "lanewise/lane/video.h"
#include "middle/lower.h"

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

/* Everything but the part of d is `how` of a and b, which the forms without a destination selector have, too. */
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

/* The function of 32-bit words where there is one. */
static lw_lane_id lane_of(const lw_video_shift *s, lw_semantics semantics) {
    static const lw_lane_id whole[2][2] = {{LW_LANE_vshr_manual, LW_LANE_vshr_sm_90},
                                           {LW_LANE_vshl_manual, LW_LANE_vshl_sm_90}};
    static const lw_lane_id plain[2][2] = {{LW_LANE_vshr_u32, LW_LANE_vshr_s32},
                                           {LW_LANE_vshl_u32, LW_LANE_vshl_s32}};
    static const lw_lane_id saturating[2][2][2] = {
        {{LW_LANE_vshr_sat_u32_u32, LW_LANE_vshr_sat_u32_s32},
         {LW_LANE_vshr_sat_s32_u32, LW_LANE_vshr_sat_s32_s32}},
        {{LW_LANE_vshl_sat_u32_u32, LW_LANE_vshl_sat_u32_s32},
         {LW_LANE_vshl_sat_s32_u32, LW_LANE_vshl_sat_s32_s32}},
    };
    bool d_signed = s->how & LW_VIDEO_D_SIGNED, a_signed = s->how & LW_VIDEO_A_SIGNED;
    if (compares(s->how)) return whole[s->left][semantics == LW_SEMANTICS_sm_90];
    return s->how & LW_VIDEO_SAT ? saturating[s->left][d_signed][a_signed] : plain[s->left][a_signed];
}

/* Whole words and a clamped amount: an ordinary shift. */
static bool is_ordinary(const lw_video_shift *s) {
    uint32_t words = LW_VIDEO_A(LW_VIDEO_word) + LW_VIDEO_B(LW_VIDEO_word) + LW_VIDEO_D(LW_VIDEO_word);
    return !(s->how & (LW_VIDEO_SAT | LW_VIDEO_WRAP)) && (s->how & 0xfff) == words && !compares(s->how);
}

static void shift_into(lw_lower *l, uint32_t d, const lw_video_shift *s, lw_semantics semantics) {
    if (is_ordinary(s)) {
        lw_lane_id right = s->how & LW_VIDEO_A_SIGNED ? LW_LANE_shr_s32 : LW_LANE_shr_u32;
        lw_lower_lane_into(l, d, s->left ? LW_LANE_shl_b32 : right, s->a, s->b, LW_NO_SLOT);
        return;
    }
    uint32_t how = semantics == LW_SEMANTICS_sm_90 ? s->how | LW_VIDEO_SM_90 : s->how;
    uint32_t constant = lw_lower_const(l, LW_CLASS_32, how & ~(uint32_t)LW_VIDEO_ADD);
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lane_of(s, semantics), LW_RRR));
    op->d = d, op->a = s->a, op->b = s->b, op->c = s->c, op->e = constant;
}

/* .add is an addition of words in both semantics. */
static void value_into(lw_lower *l, uint32_t d, const lw_video_shift *s, lw_semantics semantics) {
    if (!(s->how & LW_VIDEO_ADD)) {
        shift_into(l, d, s, semantics);
        return;
    }
    uint32_t shifted = lw_lower_vreg(l, LW_CLASS_32);
    shift_into(l, shifted, s, semantics);
    lw_lower_lane_into(l, d, LW_LANE_add_b32, shifted, s->c, LW_NO_SLOT);
}

void lw_lower_video_shift(lw_lower *l, const lw_instruction *i) {
    lw_video_shift s = {.how = how_of(i), .left = !strcmp(i->words[0]->text, "vshl")};
    s.a = lw_lower_read(l, &i->operands[1], LW_T_b32);
    s.b = lw_lower_read(l, &i->operands[2], LW_T_b32);
    s.c = i->operand_count > 3 ? lw_lower_read(l, &i->operands[3], LW_T_b32)
                               : lw_lower_const(l, LW_CLASS_32, 0);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    lw_semantics semantics = l->program->semantics;
    if (!may_differ(&s)) {
        value_into(l, d, &s, semantics);
        return;
    }
    uint32_t other = lw_lower_vreg(l, LW_CLASS_32); /* first, since d may be one of the operands */
    value_into(l, other, &s, semantics == LW_SEMANTICS_manual ? LW_SEMANTICS_sm_90 : LW_SEMANTICS_manual);
    value_into(l, d, &s, semantics);
    lw_lower_note(l, LW_D_note_semantics, lw_lower_lane(l, LW_LANE_setp_ne_b32, other, d, LW_NO_SLOT));
}
