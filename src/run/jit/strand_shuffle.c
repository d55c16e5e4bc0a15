/* strand_shuffle.c: shuffles of a strand. From lanes that are known they are permutations of vectors; all others are a
 * call of the CPU level's function for a warp (interp/level/shuffle.c), which gets and gives values beside the frame.
 */
#include "run/jit/strand.h"

#include "lanewise/lane/shuffle.h"

/* ---- From lanes that are known ----------------------------------------------------------------------------------- */

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

/* ---- From any ---------------------------------------------------------------------------------------------------- */

/* Where operands and results of a call are, one place for all calls. */
static LLVMValueRef trade_at(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    if (!s->trade) {
        s->trade = lw_build_stack(b, LLVMArrayType(b->i8, sizeof(lw_trade)));
        LLVMSetAlignment(s->trade, _Alignof(lw_trade));
    }
    return LLVMBuildBitCast(b->at, s->trade, b->bytes, "");
}

static uint64_t chunk_at(const lw_strand *s, size_t field, uint32_t chunk) {
    return field + (uint64_t)chunk * lw_strand_build(s)->chunk * sizeof(uint32_t);
}

static void bring(lw_strand *s, uint32_t reg, size_t field) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t c = 0; c < s->chunks; c++)
        lw_build_store(b, lw_strand_vector(s, reg, c), trade_at(s), chunk_at(s, field, c), 4 * b->chunk,
                       LW_ALIAS_slots);
}

/* Returns the condition that nobody reads of a lane that does not execute. */
static LLVMValueRef call(lw_strand *s, const lw_op *op) {
    const lw_build *b = lw_strand_build(s);
    bring(s, op->b, offsetof(lw_trade, from));
    bring(s, op->a, offsetof(lw_trade, b));
    bring(s, op->c, offsetof(lw_trade, c));
    LLVMValueRef arguments[] = {trade_at(s), lw_build_number(b, 32, op->mode), s->now};
    LLVMValueRef in_vain = lw_host_call(b, LW_HOST_warp_shuffle, b->trade_type, arguments);
    return lw_build_is(b, LLVMIntEQ, in_vain, lw_build_number(b, 32, 0));
}

static void take(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    for (uint32_t c = 0; op->d != LW_NO_SLOT && c < s->chunks; c++)
        lw_strand_put(s, n, op->d, c,
                      lw_build_load(b, lw_build_vector(b, 32), trade_at(s), chunk_at(s, offsetof(lw_trade, to), c),
                                    4 * b->chunk, LW_ALIAS_slots));
    if (op->e != LW_NO_SLOT)
        lw_strand_put_word(s, n, op->e,
                           lw_build_load(b, b->i32, trade_at(s), offsetof(lw_trade, in_range), 4, LW_ALIAS_slots));
}

/* Without .sync it is noted where others of the warp are elsewhere. */
static void shuffle_any(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef good = call(s, op);
    if (op->flags & LW_OP_UNSYNC) good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, s->now, s->live), "");
    const lw_fork fork = lw_strand_fork(s, good);
    take(s, n);
    lw_strand_or_step(s, n, &fork);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Only in a warp that is not whole anyhow can a lane be missing: all have met that it may ever have. */
static bool names_all(const lw_unit *u, uint32_t n) {
    const lw_register *members = n ? &u->code->registers[lw_unit_op(u, n - 1)->a] : NULL;
    return lw_unit_op(u, n)->flags & LW_OP_UNSYNC || (members->is_const && (uint32_t)members->value == UINT32_MAX);
}

void lw_strand_shuffle(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_register *a = &s->u->code->registers[op->a], *c = &s->u->code->registers[op->c];
    if (!a->is_const || !c->is_const) {
        shuffle_any(s, n);
        return;
    }
    LLVMValueRef full = lw_build_number(b, 32, UINT32_MAX);
    const lw_fork fork = lw_strand_fork(s, lw_build_is(b, LLVMIntEQ, s->now, full));
    shuffle_known(s, n, (uint32_t)a->value, (uint32_t)c->value);
    if (names_all(s->u, n)) {
        lw_strand_or_step(s, n, &fork);
        return;
    }
    lw_strand_otherwise(s, &fork);
    shuffle_any(s, n);
    lw_strand_rejoin(s, &fork);
}
