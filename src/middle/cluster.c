/* cluster.c: lowering of what concerns other CTAs of a cluster: their barrier, addresses in their shared memory. */
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
