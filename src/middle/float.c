/* float.c: floating point that is a lane function several times over. */
#include "middle/ptx.h"

/* The lane function of a match, of as many registers as it takes beside what says how. */
static void apply_into(lw_lower *l, uint32_t d, const lw_match *m, uint32_t read[4]) {
    const lw_lane_row *row = &lw_lanes[m->lane];
    if (row->how) read[row->arity - 1] = lw_lower_const(l, LW_CLASS_32, m->how);
    lw_op *op = lw_lower_op(l, LW_LANE_CODE((lw_lane_id)m->lane, LW_RRR));
    op->d = d, op->a = read[0], op->b = read[1], op->c = read[2], op->e = read[3];
}

void lw_lower_chain(lw_lower *l, const lw_instruction *i) {
    const lw_type type = lw_ptx_operand_type(i->match, 0);
    uint32_t read[3];
    for (uint32_t k = 1; k < i->operand_count; k++) read[k - 1] = lw_lower_read(l, &i->operands[k], type);
    const uint32_t d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    uint32_t so_far = read[0];
    for (uint32_t k = 1; k + 1 < i->operand_count; k++) {
        const bool last = k + 2 == i->operand_count;
        const uint32_t to = last ? d : lw_lower_vreg(l, LW_CLASS_32);
        apply_into(l, to, i->match, (uint32_t[4]){so_far, read[k], LW_NO_SLOT, LW_NO_SLOT});
        so_far = to;
    }
}

void lw_lower_halves(lw_lower *l, const lw_instruction *i) {
    static const lw_lane_id parts[] = {LW_LANE_low_b32_b64, LW_LANE_high_b32_b64};
    const uint32_t count = i->operand_count - 1;
    uint32_t read[3], half[2];
    for (uint32_t k = 0; k < count; k++)
        read[k] = lw_lower_read(l, &i->operands[k + 1], lw_ptx_operand_type(i->match, k + 1));
    const uint32_t d = lw_lower_write(l, &i->operands[0], lw_ptx_operand_type(i->match, 0));
    if (l->failed) return;
    for (uint32_t h = 0; h < LW_COUNT(half); h++) {
        uint32_t part[4] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
        for (uint32_t k = 0; k < count; k++) part[k] = lw_lower_lane(l, parts[h], read[k], LW_NO_SLOT, LW_NO_SLOT);
        half[h] = lw_lower_vreg(l, LW_CLASS_32);
        apply_into(l, half[h], i->match, part);
    }
    lw_lower_lane_into(l, d, LW_LANE_pack_b64_b32, half[0], half[1], LW_NO_SLOT);
}

/* Operands of 16 bits are widened first. */
void lw_lower_mixed(lw_lower *l, const lw_instruction *i) {
    const uint32_t count = i->operand_count - 1;
    uint32_t read[4] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
    for (uint32_t k = 0; k < count; k++)
        read[k] = lw_lower_read(l, &i->operands[k + 1], lw_ptx_operand_type(i->match, k + 1));
    const uint32_t d = lw_lower_write(l, &i->operands[0], lw_ptx_operand_type(i->match, 0));
    if (l->failed) return;
    for (uint32_t k = 0; k < count; k++)
        if (l->vregs.at[read[k]].class == LW_CLASS_16)
            read[k] = lw_lower_lane(l, (lw_lane_id)i->match->first, read[k], LW_NO_SLOT, LW_NO_SLOT);
    apply_into(l, d, i->match, read);
}

/* Of four numbers a and b are the upper ones. Their random bits are the upper half of the word, or of each of its
 * halves where a number has 4 bits; those of e and f the lower ones, which is where the lane function looks for them.
 */
void lw_lower_four(lw_lower *l, const lw_instruction *i) {
    const lw_operand *a = &i->operands[1];
    const bool bytes = lw_types[lw_ptx_operand_type(i->match, 0)].bits == 32;
    uint32_t read[4], two[2];
    for (uint32_t k = 0; k < LW_COUNT(read); k++) {
        const lw_operand element = a->kind == LW_O_VECTOR ? a->parts[k] : lw_lower_element(a, k);
        read[k] = lw_lower_read(l, &element, LW_T_f32);
    }
    const uint32_t random = lw_lower_read(l, &i->operands[2], LW_T_b32);
    const uint32_t d = lw_lower_write(l, &i->operands[0], lw_ptx_operand_type(i->match, 0));
    if (l->failed) return;
    const uint32_t upper =
        lw_lower_lane(l, LW_LANE_shr_u32, random, lw_lower_const(l, LW_CLASS_32, bytes ? 16 : 8), LW_NO_SLOT);
    for (uint32_t k = 0; k < LW_COUNT(two); k++) {
        two[k] = lw_lower_vreg(l, LW_CLASS_16);
        apply_into(l, two[k], i->match, (uint32_t[4]){read[2 * k], read[2 * k + 1], k ? random : upper, LW_NO_SLOT});
    }
    const lw_lane_id pack = bytes ? LW_LANE_pack_b32_b16 : LW_LANE_pack_b16_b8;
    lw_lower_lane_into(l, d, pack, two[1], two[0], LW_NO_SLOT);
}
