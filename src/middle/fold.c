/* fold.c: constants, copies and dead operations. Linear in the number of operations.
 *
 * A register with one definition in the whole function, a move of a constant, is that constant wherever it is read:
 * reading it before the move would be undefined. Copies are followed within straight text only, where the order of
 * writes is plain: a block, and those behind that are entered from the one before alone. */
#include "middle/lower.h"

static bool is_move(uint16_t code) {
    lw_lane_id lane = lw_code_lane(code);
    return lane == LW_LANE_mov_b16 || lane == LW_LANE_mov_b32 || lane == LW_LANE_mov_b64;
}

static void count(lw_lower *l) {
    for (uint32_t v = 0; v < l->vregs.count; v++) l->vregs.at[v].uses = l->vregs.at[v].defs = 0;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        LW_EACH_READ(l->code, &l->ops.at[n], at) l->vregs.at[*at].uses++;
        LW_EACH_WRITTEN(l->code, &l->ops.at[n], at) l->vregs.at[*at].defs++;
    }
    for (uint32_t k = 0; k < l->code->param_count; k++)
        if (!l->code->params[k].in_memory) l->vregs.at[l->code->params[k].to].defs++;
}

static void kill(lw_lower *l, lw_op *op) {
    LW_EACH_READ(l->code, op, at) l->vregs.at[*at].uses--;
    LW_EACH_WRITTEN(l->code, op, at) l->vregs.at[*at].defs--;
    op->code = LW_OP_dead;
}

/* Moves of constants: from then on the register is the constant. False: there is no copy. */
static bool find_constants(lw_lower *l) {
    uint32_t guarded = 0; /* operations up to here are under a guard */
    bool moves = false;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        if (!is_move(op->code) || n < guarded) continue;
        lw_register *d = &l->vregs.at[op->d], *a = &l->vregs.at[op->a];
        moves |= !a->is_const;
        if (d->defs != 1 || d->starts_at_0 || !a->is_const) continue;
        kill(l, op);
        d->is_const = true;
        d->value = a->value;
    }
    return moves;
}

/* Branches by one table may be many: it is looked at once. */
bool *lw_find_straight(lw_arena *arena, const lw_code *code) {
    uint8_t *from = LW_NEW_ARRAY(arena, uint8_t, code->block_count); /* how many, at most two */
    bool *straight = LW_NEW_ARRAY(arena, bool, code->block_count);
    for (uint32_t i = 0; i < code->target_count; i++) from[code->targets[i]] = 2;
    for (uint32_t b = 0; b < code->block_count; b++) {
        const lw_block *block = &code->blocks[b];
        const bool by_table = lw_row_of(lw_block_last(code, b)->code)->goes == LW_GOES_to_table;
        for (uint32_t k = 0; !by_table && k < block->successor_count; k++) {
            const uint32_t to = block->successors[k];
            straight[to] = to == b + 1;
            from[to] += from[to] < 2;
        }
    }
    for (uint32_t b = 0; b < code->block_count; b++) straight[b] &= from[b] == 1;
    return straight;
}

static void follow_copies(lw_lower *l) {
    const bool *straight = lw_find_straight(l->arena, l->code);
    uint32_t *last_write = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count); /* 1 + operation, in any block */
    uint32_t *copied_at = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count);  /* 1 + the move that made it a copy */
    uint32_t block_start = 0, guarded = 0;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_dead) continue;
        if (op->code == LW_OP_block && !straight[op->a]) block_start = n;
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        const bool shares = lw_row_of(op->code)->list ==
                            LW_LIST_returns; /* with the other returns, behind other copies */
        LW_EACH_READ(l->code, op, read) {
            if (shares) break;
            uint32_t at = copied_at[*read];
            if (at <= block_start) continue;
            uint32_t source = l->ops.at[at - 1].a;
            if (l->ops.at[at - 1].code == LW_OP_dead || last_write[source] > at || last_write[*read] != at) continue;
            l->vregs.at[*read].uses--;
            l->vregs.at[source].uses++;
            *read = source;
        }
        LW_EACH_WRITTEN(l->code, op, written) last_write[*written] = n + 1;
        if (is_move(op->code) && n >= guarded && op->d != op->a && !l->vregs.at[op->a].is_const)
            copied_at[op->d] = n + 1;
    }
}

static bool is_read(const lw_lower *l, const lw_op *op) {
    LW_EACH_WRITTEN(l->code, op, at)
    if (l->vregs.at[*at].uses) return true;
    return false;
}

/* Backward, so that what only fed a dead operation dies too. */
static void remove_dead(lw_lower *l) {
    for (uint32_t n = l->ops.count; n-- > 0;) {
        lw_op *op = &l->ops.at[n];
        if (lw_op_does(op, LW_DOES_PURE) && !is_read(l, op)) kill(l, op);
    }
}

void lw_fold(lw_lower *l) {
    lw_rename(l);
    count(l);
    if (find_constants(l)) follow_copies(l);
    remove_dead(l);
}
