/* cluster.c: lowering of what concerns other CTAs of a cluster: their barrier, addresses in their shared memory,
 * taking over the work of clusters that have not begun. */
#include "middle/ptx.h"

void lw_lower_cluster_arrive(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_cluster_arrive);
    lw_lower_may_note(l, LW_D_note_cluster_turns);
}

void lw_lower_cluster_wait(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_cluster_wait);
    lw_lower_may_note(l, LW_D_note_cluster_turns);
    lw_lower_go_on_behind(l);
}

/* What an address that is no generic one is relative to. */
static uint64_t base_of(const lw_match *match) { return match->space == LW_SPACE_none ? LW_SHARED_WINDOW : 0; }

void lw_lower_mapa(lw_lower *l, const lw_instruction *i) {
    const uint32_t a = lw_lower_read(l, &i->operands[1], i->match->type),
                   b = lw_lower_read(l, &i->operands[2], LW_T_u32),
                   d = lw_lower_write(l, &i->operands[0], i->match->type);
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_mapa);
    op->d = d, op->a = a, op->b = b, op->c = lw_types[i->match->type].bits / 8, op->imm = base_of(i->match);
}

void lw_lower_getctarank(lw_lower *l, const lw_instruction *i) {
    const uint32_t a = lw_lower_read(l, &i->operands[1], i->match->type),
                   d = lw_lower_write(l, &i->operands[0], LW_T_u32);
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_ctarank);
    op->d = d, op->a = a, op->c = lw_types[i->match->type].bits / 8, op->imm = base_of(i->match);
}

/* ---- clusterlaunchcontrol: the answer is 16 bytes that only its own instructions understand ------------------ */

void lw_lower_try_cancel(lw_lower *l, const lw_instruction *i) {
    const lw_memory_form form = {.window = i->match->space == LW_SPACE_none ? LW_WINDOW_generic : LW_WINDOW_shared};
    const uint32_t a = lw_lower_address_value(l, &i->operands[0], i->match);
    if (l->failed) return;
    const uint32_t c = lw_lower_address_value(l, &i->operands[1], i->match);
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_try_cancel);
    op->a = a, op->c = c, op->b = i->match->mode.multicast == LW_MOD_multicast_all;
    op->imm = lw_memory_pack(form);
}

void lw_lower_is_canceled(lw_lower *l, const lw_instruction *i) {
    const uint32_t low = lw_lower_half(l, &i->operands[1], 0), d = lw_lower_write(l, &i->operands[0], LW_T_pred);
    if (l->failed) return;
    const uint32_t one =
        lw_lower_lane(l, LW_LANE_and_b64, low, lw_lower_const(l, LW_CLASS_64, LW_CANCELED), LW_NO_SLOT);
    lw_lower_lane_into(l, d, LW_LANE_setp_ne_b64, one, lw_lower_const(l, LW_CLASS_64, 0), LW_NO_SLOT);
}

/* x is the upper half of the answer's first 64 bits, y and z are the halves of the others. */
static uint32_t coordinate(lw_lower *l, const uint32_t halves[2], uint32_t axis) {
    if (axis > 2) return lw_lower_const(l, LW_CLASS_32, 0);
    return lw_lower_lane(l, axis == 1 ? LW_LANE_low_b32_b64 : LW_LANE_high_b32_b64, halves[axis > 0], LW_NO_SLOT,
                         LW_NO_SLOT);
}

void lw_lower_first_ctaid(lw_lower *l, const lw_instruction *i) {
    const uint32_t halves[2] = {lw_lower_half(l, &i->operands[1], 0), lw_lower_half(l, &i->operands[1], 1)};
    const uint8_t which = i->match->mode.ctaid;
    if (l->failed) return;
    if (which) {
        const uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
        if (!l->failed) lw_lower_move(l, d, coordinate(l, halves, which - LW_MOD_ctaid_x));
        return;
    }
    uint32_t values[4];
    for (uint32_t k = 0; k < 4; k++) values[k] = coordinate(l, halves, k);
    for (uint32_t k = 0; k < 4 && !l->failed; k++) {
        const uint32_t d = lw_lower_vector_element(l, &i->operands[0], k, 4, LW_T_b32, true);
        if (!l->failed) lw_lower_move(l, d, values[k]);
    }
}
