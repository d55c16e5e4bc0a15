/* video_numbers.c: lowering of the video instructions that do not shift, scalar ones and those of two or four parts:
 * each is its lane function, to which a constant says what the spelling does, `how`. Where the result of a scalar one
 * may depend on the semantics both are computed, and the launch counts the lanes where they are not the same
 * (lw_lower_note). */
#include "lanewise/lane/compare.h"
#include "lanewise/lane/video_simd.h"
#include "middle/ptx.h"

static uint32_t part_of(const lw_operand *operand) {
    static const uint8_t parts[LW_SELECT_COUNT] = {
        [LW_SEL_none] = LW_VIDEO_word, [LW_SEL_b0] = LW_VIDEO_b0, [LW_SEL_b1] = LW_VIDEO_b1, [LW_SEL_b2] = LW_VIDEO_b2,
        [LW_SEL_b3] = LW_VIDEO_b3,     [LW_SEL_h0] = LW_VIDEO_h0, [LW_SEL_h1] = LW_VIDEO_h1,
    };
    return parts[operand->select];
}

static bool is_compare(const lw_match *match) { return match->mode.compare != LW_MOD_none; }

/* What the mnemonic says. A comparison names the types of a and b alone. */
static uint32_t how_of_words(const lw_match *match) {
    bool compares = is_compare(match);
    uint32_t relations = compares ? lw_modifiers[match->mode.compare].how : 0, how = 0;
    if (!compares && match->types[0] == LW_T_s32) how += LW_VIDEO_D_SIGNED;
    if (match->types[!compares] == LW_T_s32) how += LW_VIDEO_A_SIGNED;
    if (match->type == LW_T_s32) how += LW_VIDEO_B_SIGNED;
    if (match->mode.sat) how += LW_VIDEO_SAT;
    if (match->mode.op == LW_MOD_add) how += LW_VIDEO_ADD;
    if (match->mode.op == LW_MOD_min) how += LW_VIDEO_MIN;
    if (match->mode.op == LW_MOD_max) how += LW_VIDEO_MAX;
    if (relations & LW_FLOAT_LESS) how += LW_VIDEO_LESS;
    if (relations & LW_FLOAT_EQUAL) how += LW_VIDEO_EQUAL;
    if (relations & LW_FLOAT_GREATER) how += LW_VIDEO_GREATER;
    return how;
}

/* A register as it stands: a sign in front of it is a matter of `how`. */
static uint32_t read_word(lw_lower *l, const lw_operand *operand) {
    lw_operand plain = *operand;
    if (plain.minus) plain.minus = plain.negated = false;
    return lw_lower_read(l, &plain, LW_T_b32);
}

static void apply_into(lw_lower *l, uint32_t d, lw_lane_id lane, const uint32_t read[3], uint32_t how) {
    uint32_t constant = lw_lower_const(l, LW_CLASS_32, how);
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lane, LW_RRR));
    op->d = d, op->a = read[0], op->b = read[1], op->c = read[2], op->e = constant;
}

/* ---- Scalar ----------------------------------------------------------------------------------------------- */

static lw_lane_id on_sm_90(lw_lane_id lane) {
    static const lw_lane_id lanes[][2] = {
        {LW_LANE_vadd_manual, LW_LANE_vadd_sm_90},         {LW_LANE_vsub_manual, LW_LANE_vsub_sm_90},
        {LW_LANE_vabsdiff_manual, LW_LANE_vabsdiff_sm_90}, {LW_LANE_vmin_manual, LW_LANE_vmin_sm_90},
        {LW_LANE_vmax_manual, LW_LANE_vmax_sm_90},         {LW_LANE_vset_manual, LW_LANE_vset_sm_90},
        {LW_LANE_vmad_manual, LW_LANE_vmad_sm_90},
    };
    uint32_t k = 0;
    while (lanes[k][0] != lane) k++;
    return lanes[k][1];
}

/* Whether the result may depend on the semantics: lane/video_scalar.h has the ways. vmad without .sat and scale gives
 * the low word of a sum, which no sign has a part in. */
static bool may_differ(const lw_match *match, uint32_t how) {
    uint32_t part = how >> 8 & 15;
    if (match->lane == LW_LANE_vmad_manual) return how & (LW_VIDEO_SAT | LW_VIDEO_SHR7 | LW_VIDEO_SHR15);
    if (part == LW_VIDEO_h1) return true;
    if (how & LW_VIDEO_SAT && (part != LW_VIDEO_word || !(how & LW_VIDEO_D_SIGNED))) return true;
    return how & (LW_VIDEO_MIN | LW_VIDEO_MAX) && (!is_compare(match) || how & LW_VIDEO_A_SIGNED);
}

static uint32_t how_of_scalar(const lw_instruction *i) {
    const lw_operand *o = i->operands;
    uint32_t how = how_of_words(i->match) + LW_VIDEO_A(part_of(&o[1])) + LW_VIDEO_B(part_of(&o[2])) +
                   LW_VIDEO_D(part_of(&o[0]));
    if (i->match->lane != LW_LANE_vmad_manual) return how;
    if (o[1].minus != o[2].minus) how += LW_VIDEO_MINUS_PRODUCT;
    if (o[3].minus) how += LW_VIDEO_MINUS_C;
    if (i->match->mode.plus_one) how += LW_VIDEO_PO;
    if (i->match->mode.shifted == LW_MOD_shr7) how += LW_VIDEO_SHR7;
    if (i->match->mode.shifted == LW_MOD_shr15) how += LW_VIDEO_SHR15;
    return how;
}

void lw_lower_video_scalar(lw_lower *l, const lw_instruction *i) {
    lw_lane_id manual = (lw_lane_id)i->match->lane, sm_90 = on_sm_90(manual);
    uint32_t how = how_of_scalar(i), read[3];
    for (uint32_t k = 0; k < 3; k++)
        read[k] = k + 1u < i->operand_count ? read_word(l, &i->operands[k + 1]) : lw_lower_const(l, LW_CLASS_32, 0);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    if (!may_differ(i->match, how)) {
        apply_into(l, d, manual, read, how);
        return;
    }
    uint32_t results[] = {lw_lower_vreg(l, LW_CLASS_32), lw_lower_vreg(l, LW_CLASS_32)};
    apply_into(l, results[0], manual, read, how);
    apply_into(l, results[1], sm_90, read, how);
    lw_lower_note(l, LW_D_note_semantics, lw_lower_lane(l, LW_LANE_setp_ne_b32, results[0], results[1], LW_NO_SLOT));
    lw_lower_move(l, d, results[l->program->semantics == LW_SEMANTICS_sm_90]);
}

/* ---- Two half words, four bytes ----------------------------------------------------------------------------- */

/* What lw_prmt takes for the selector .h10 or .b3210, written from the highest element down. */
static uint32_t bytes_of(const char *lanes) {
    uint32_t bytes = 0;
    for (const char *at = lanes + 1; *at; at++) {
        uint32_t element = (uint32_t)(*at - '0');
        bytes = *lanes == 'h' ? bytes << 8 | (element * 2 + 1) << 4 | element * 2 : bytes << 4 | element;
    }
    return bytes;
}

/* The elements of d that are written: all without a mask. */
static uint32_t mask_of(const lw_operand *d, uint32_t count) {
    if (d->select == LW_SEL_none) return (1u << count) - 1;
    if (d->select != LW_SEL_lanes)
        return 1u << (d->select >= LW_SEL_h0 ? d->select - LW_SEL_h0 : d->select - LW_SEL_b0);
    uint32_t mask = 0;
    for (const char *at = d->lanes + 1; *at; at++) mask |= 1u << (*at - '0');
    return mask;
}

void lw_lower_video_simd(lw_lower *l, const lw_instruction *i) {
    uint32_t count = i->match->operand_forms[0].lanes, words[3], read[3];
    for (uint32_t k = 0; k < 3; k++) words[k] = read[k] = lw_lower_read(l, &i->operands[k + 1], LW_T_b32);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    for (uint32_t k = 0; k < 2; k++) {
        const lw_operand *o = &i->operands[k + 1];
        if (o->select == LW_SEL_lanes)
            read[k] =
                lw_lower_lane(l, LW_LANE_prmt, words[0], words[1], lw_lower_const(l, LW_CLASS_32, bytes_of(o->lanes)));
    }
    apply_into(l, d, (lw_lane_id)i->match->lane, read,
               how_of_words(i->match) + LW_VIDEO_MASK(mask_of(&i->operands[0], count)));
}
