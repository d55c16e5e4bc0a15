/* fold.c: constants, copies and dead operations. Linear in the number of operations.
 *
 * A register with one definition in the whole function, a move of a constant, is that constant wherever it is read: reading it
 * before the move would be undefined. Copies are followed within a block only, where the order of writes is plain. */
#include "middle/lower.h"

bool lw_op_is_pure(const lw_op *op) {
    if (op->code == LW_OP_DEAD) return false;
    if (op->code >= LW_OP_lop3) return true;
    switch (op->code) {
    case LW_OP_predicate:
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64:
    case LW_OP_add4:
    case LW_OP_add_xor_rotl:
    case LW_OP_add_setp:
    case LW_OP_special:
    case LW_OP_local_base:
    case LW_OP_pattern:
    case LW_OP_beyond:
    case LW_OP_isspacep: return true;
    default: return false;
    }
}

static bool is_move(uint16_t code) {
    lw_lane_id lane = lw_code_lane(code);
    return lane == LW_LANE_mov_b16 || lane == LW_LANE_mov_b32 || lane == LW_LANE_mov_b64;
}

static void count_calls(lw_lower *l) {
    for (uint32_t i = 0; i < l->calls.count; i++) {
        const lw_call *call = &l->calls.at[i];
        for (uint32_t k = 0; k < call->argument_count; k++)
            if (!call->arguments[k].in_memory) l->vregs.at[call->arguments[k].from].uses++;
        for (uint32_t k = 0; k < call->result_count; k++)
            if (!call->results[k].in_memory) l->vregs.at[call->results[k].to].defs++;
    }
    for (uint32_t k = 0; k < l->code->param_count; k++)
        if (!l->code->params[k].in_memory) l->vregs.at[l->code->params[k].to].defs++;
    for (uint32_t k = 0; k < l->code->return_count; k++)
        if (!l->code->returns[k].in_memory) l->vregs.at[l->code->returns[k].from].uses++;
}

static void count(lw_lower *l) {
    lw_fields f;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op_fields(l->lists.at, &l->ops.at[n], &f);
        for (uint32_t k = 0; k < f.use_count; k++) l->vregs.at[*f.uses[k]].uses++;
        for (uint32_t k = 0; k < f.def_count; k++) l->vregs.at[*f.defs[k]].defs++;
    }
    count_calls(l);
}

static void kill(lw_lower *l, lw_op *op) {
    lw_fields f;
    lw_op_fields(l->lists.at, op, &f);
    for (uint32_t k = 0; k < f.use_count; k++) l->vregs.at[*f.uses[k]].uses--;
    for (uint32_t k = 0; k < f.def_count; k++) l->vregs.at[*f.defs[k]].defs--;
    op->code = LW_OP_DEAD;
}

/* Moves of constants: from then on the register is the constant. */
static void find_constants(lw_lower *l) {
    uint32_t guarded = 0; /* operations up to here are under a guard */
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        if (!is_move(op->code) || n < guarded) continue;
        lw_vreg *d = &l->vregs.at[op->d], *a = &l->vregs.at[op->a];
        if (d->defs != 1 || !a->is_const) continue;
        kill(l, op);
        d->is_const = true;
        d->value = a->value;
    }
}

static void follow_copies(lw_lower *l) {
    uint32_t *last_write = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count); /* 1 + operation, in any block */
    uint32_t *copied_at =
        LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count); /* 1 + the move that made it a copy */
    uint32_t block_start = 0, guarded = 0;
    lw_fields f;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_DEAD) continue;
        if (op->code == LW_OP_block) block_start = n;
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        lw_op_fields(l->lists.at, op, &f);
        for (uint32_t k = 0; k < f.use_count; k++) {
            uint32_t at = copied_at[*f.uses[k]];
            if (at <= block_start) continue;
            uint32_t source = l->ops.at[at - 1].a;
            if (l->ops.at[at - 1].code == LW_OP_DEAD || last_write[source] > at ||
                last_write[*f.uses[k]] != at)
                continue;
            l->vregs.at[*f.uses[k]].uses--;
            l->vregs.at[source].uses++;
            *f.uses[k] = source;
        }
        for (uint32_t k = 0; k < f.def_count; k++) last_write[*f.defs[k]] = n + 1;
        if (is_move(op->code) && n >= guarded && op->d != op->a && !l->vregs.at[op->a].is_const)
            copied_at[op->d] = n + 1;
    }
}

/* Backward, so that what only fed a dead operation dies too. */
static void remove_dead(lw_lower *l) {
    for (uint32_t n = l->ops.count; n-- > 0;) {
        lw_op *op = &l->ops.at[n];
        if (lw_op_is_pure(op) && op->d != LW_NO_SLOT && !l->vregs.at[op->d].uses)
            kill(l, op); /* before fusion: one result each */
    }
}

void lw_fold(lw_lower *l) {
    count(l);
    find_constants(l);
    follow_copies(l);
    remove_dead(l);
}
