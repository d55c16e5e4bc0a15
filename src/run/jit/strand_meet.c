/* strand_meet.c: lanes of a warp that give each other something. Where all that can come are here, and all are named,
 * nobody waits; everything else is the interpreter's. */
#include "run/jit/strand.h"

#include "lanewise/lane/shuffle.h"

void lw_strand_meet(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t members = lw_unit_op(s->u, n)->a;
    LLVMValueRef here = lw_build_number(b, 1, 0);
    if (lw_strand_is_uniform(s, members)) {
        LLVMValueRef all = LLVMBuildTrunc(b->at, lw_strand_base(s, members), b->i32, "");
        here = LLVMBuildAnd(b->at, lw_build_is(b, LLVMIntEQ, all, lw_build_number(b, 32, UINT32_MAX)),
                            lw_build_is(b, LLVMIntEQ, s->now, s->live), "");
    }
    lw_strand_demand(s, n, here);
}

/* Those that execute are all that take part. */
static bool takes_all(const lw_unit *u, const lw_op *op) {
    return op->a == LW_NO_SLOT ||
           (u->code->registers[op->a].is_const && (uint32_t)u->code->registers[op->a].value == UINT32_MAX);
}

bool lw_strand_agrees(const lw_unit *u, const lw_op *op) {
    return op->code == LW_OP_activemask || (op->code == LW_OP_vote && takes_all(u, op));
}

static LLVMValueRef vote(lw_strand *s, const lw_op *op) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef p = lw_strand_word(s, op->b), none = lw_build_number(b, 32, 0);
    if (op->flags & LW_OP_NEGATE) p = LLVMBuildNot(b->at, p, "");
    p = LLVMBuildAnd(b->at, p, s->now, "");
    LLVMValueRef all = lw_build_is(b, LLVMIntEQ, p, s->now);
    switch ((lw_vote_kind)op->mode) {
    case LW_VOTE_ballot: return p;
    case LW_VOTE_all: return all;
    case LW_VOTE_any: return lw_build_is(b, LLVMIntNE, p, none);
    case LW_VOTE_uni: return LLVMBuildOr(b->at, all, lw_build_is(b, LLVMIntEQ, p, none), "");
    }
    lw_bug("vote of kind %u", op->mode);
}

/* ---- Shuffles from lanes that are known -------------------------------------------------------------------------- */

static uint32_t source_of(const lw_op *op, uint32_t lane, uint32_t a, uint32_t c, bool *in_range) {
    switch ((lw_shuffle_mode)op->mode) {
    case LW_SHUFFLE_up: *in_range = lw_shfl_up_in_range(lane, a, c); return lw_shfl_up_source(lane, a, c);
    case LW_SHUFFLE_down: *in_range = lw_shfl_down_in_range(lane, a, c); return lw_shfl_down_source(lane, a, c);
    case LW_SHUFFLE_bfly: *in_range = lw_shfl_bfly_in_range(lane, a, c); return lw_shfl_bfly_source(lane, a, c);
    case LW_SHUFFLE_idx: *in_range = lw_shfl_idx_in_range(lane, a, c); return lw_shfl_idx_source(lane, a, c);
    }
    lw_bug("shuffle of mode %u", op->mode);
}

/* All lanes of the warp in one vector. */
static LLVMValueRef join_chunks(lw_strand *s, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef parts[LW_CHUNKS], order[LW_WARP_LANES];
    for (uint32_t c = 0; c < s->chunks; c++) parts[c] = lw_strand_vector(s, reg, c);
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) order[i] = lw_build_number(b, 32, i);
    for (uint32_t count = s->chunks, lanes = b->chunk; count > 1; count /= 2, lanes *= 2)
        for (uint32_t k = 0; k < count / 2; k++)
            parts[k] =
                LLVMBuildShuffleVector(b->at, parts[2 * k], parts[2 * k + 1], LLVMConstVector(order, 2 * lanes), "");
    return parts[0];
}

static void shuffle_known(lw_strand *s, uint32_t n, uint32_t a, uint32_t c) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef from = join_chunks(s, op->b);
    for (uint32_t chunk = 0; chunk < s->chunks; chunk++) {
        LLVMValueRef order[LW_GANG_LANES], ranges[LW_GANG_LANES];
        for (uint32_t i = 0; i < b->chunk; i++) {
            bool in_range = false;
            order[i] = lw_build_number(b, 32, source_of(op, chunk * b->chunk + i, a, c, &in_range));
            ranges[i] = lw_build_number(b, 1, in_range);
        }
        LLVMValueRef value =
            LLVMBuildShuffleVector(b->at, from, LLVMGetPoison(LLVMTypeOf(from)), LLVMConstVector(order, b->chunk), "");
        if (op->d != LW_NO_SLOT) lw_strand_put(s, n, op->d, chunk, value);
        if (op->e != LW_NO_SLOT) lw_strand_put(s, n, op->e, chunk, LLVMConstVector(ranges, b->chunk));
    }
}

/* Behind a warp_sync, so that all lanes of the warp are here; but it may be one of fewer than 32. */
static bool shuffle(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_register *a = &s->u->code->registers[op->a], *c = &s->u->code->registers[op->c];
    if (op->flags & LW_OP_UNSYNC || !a->is_const || !c->is_const) return false;
    LLVMValueRef full = lw_build_number(lw_strand_build(s), 32, UINT32_MAX);
    const lw_fork fork = lw_strand_fork(s, lw_build_is(lw_strand_build(s), LLVMIntEQ, s->now, full));
    shuffle_known(s, n, (uint32_t)a->value, (uint32_t)c->value);
    lw_strand_or_step(s, n, &fork);
    return true;
}

bool lw_strand_exchange(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (op->code == LW_OP_shuffle) return shuffle(s, n);
    if (op->d == LW_NO_SLOT || !lw_strand_agrees(s->u, op)) return false;
    lw_strand_put_runs(s, n, op->d, LW_WARP_BITS, &(LLVMValueRef){op->code == LW_OP_vote ? vote(s, op) : s->now});
    return true;
}
