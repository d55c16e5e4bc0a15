/* strand_values.c: where the registers of a strand have their values, and what of these is known on the way at hand. */
#include "run/jit/strand.h"

/* ---- Values of registers ----------------------------------------------------------------------------------------- */

void lw_strand_begin_way(lw_strand *s, bool anew) {
    if (anew) s->way_count = s->sure_count = s->reach_count = 0;
    if (s->way_count == LW_COUNT(s->way)) lw_bug("ways within ways");
    s->way[s->way_count++] = ++s->last_way;
}
void lw_strand_end_way(lw_strand *s) { s->way_count--; }

static uint32_t way_at_hand(const lw_strand *s) { return s->way[s->way_count - 1]; }
static bool is_on_way(const lw_strand *s, uint32_t way) {
    for (uint32_t k = 0; k < s->way_count; k++)
        if (s->way[k] == way) return true;
    return false;
}

static LLVMTypeRef type_of(const lw_strand *s, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    return lw_strand_is_row(s, reg) ? lw_build_int(b, bits) : lw_build_vector(b, bits);
}

static bool is_twofold(const lw_strand *s, uint32_t reg) { return lw_set_has(s->twofold, reg); }

/* Of all lanes, or of those at hand. */
static LLVMValueRef place_in(lw_strand *s, LLVMValueRef *places, uint32_t reg, uint32_t chunk) {
    LLVMValueRef *place = &places[(size_t)reg * LW_STRAND_RUNS + chunk];
    if (!*place) *place = lw_build_stack(lw_strand_build(s), type_of(s, reg));
    return *place;
}
static LLVMValueRef place_of(lw_strand *s, uint32_t reg, uint32_t chunk) { return place_in(s, s->places, reg, chunk); }
static LLVMValueRef own_place(lw_strand *s, uint32_t reg, uint32_t chunk) {
    return place_in(s, is_twofold(s, reg) ? s->own : s->places, reg, chunk);
}

static void keep_value(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    const size_t at = (size_t)reg * LW_STRAND_RUNS + chunk;
    s->values[at] = value, s->ways[at] = way_at_hand(s);
}

static LLVMValueRef load_value(lw_strand *s, uint32_t reg, uint32_t chunk) {
    const size_t at = (size_t)reg * LW_STRAND_RUNS + chunk;
    if (is_on_way(s, s->ways[at])) return s->values[at];
    LLVMValueRef value = LLVMBuildLoad2(lw_strand_build(s)->at, type_of(s, reg), own_place(s, reg, chunk), "");
    keep_value(s, reg, chunk, value);
    return value;
}

static void keep_own(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    if (is_twofold(s, reg)) LLVMBuildStore(lw_strand_build(s)->at, value, own_place(s, reg, chunk));
    keep_value(s, reg, chunk, value);
}

void lw_strand_keep(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    for (uint32_t k = 0; k < s->sure_count; k++)
        if (lw_unit_op(s->u, s->sure[k].first)->a == reg) s->sure[k--] = s->sure[--s->sure_count];
    for (uint32_t k = 0; k < s->reach_count; k++)
        if (s->reach[k].base == reg) s->reach[k--] = s->reach[--s->reach_count];
    LLVMBuildStore(lw_strand_build(s)->at, value, place_of(s, reg, chunk));
    keep_own(s, reg, chunk, value);
}

LLVMValueRef lw_strand_whole(lw_strand *s, uint32_t reg, uint32_t chunk) {
    if (!is_twofold(s, reg)) return lw_strand_vector(s, reg, chunk);
    return LLVMBuildLoad2(lw_strand_build(s)->at, type_of(s, reg), place_of(s, reg, chunk), "");
}

void lw_strand_join(lw_strand *s, const uint64_t *set) {
    LW_EACH_IN(set, s->u->words, reg)
    for (uint32_t c = 0; is_twofold(s, reg) && c < s->chunks; c++) keep_own(s, reg, c, lw_strand_whole(s, reg, c));
}

LLVMValueRef lw_strand_base_of(lw_strand *s, uint32_t reg, uint32_t run, uint32_t at) {
    const lw_register *r = &s->u->code->registers[reg];
    const uint32_t bits = lw_unit_bits(s->u, reg);
    if (r->is_const)
        return lw_build_number(lw_strand_build(s), bits, r->class == LW_CLASS_pred ? r->value != 0 : r->value);
    const uint32_t lane = at << run;
    LLVMValueRef base = load_value(s, reg, lane >> s->shapes[reg].run);
    const int64_t above = lw_shape_above(&s->shapes[reg], lane);
    if (!above) return base;
    return LLVMBuildAdd(lw_strand_build(s)->at, base, lw_build_number(lw_strand_build(s), bits, (uint64_t)above), "");
}

LLVMValueRef lw_strand_base(lw_strand *s, uint32_t reg) { return lw_strand_base_of(s, reg, LW_WARP_BITS, 0); }

/* A number for each run of 1 << run lanes, for the lanes of a chunk. */
static LLVMValueRef spread_runs(const lw_strand *s, LLVMValueRef *values, uint32_t run, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t first = chunk * b->chunk, last = first + b->chunk - 1;
    LLVMValueRef value = lw_value_splat(b, values[first >> run]), order[LW_GANG_LANES];
    if (first >> run == last >> run) return value;
    for (uint32_t i = 0; i < b->chunk; i++)
        order[i] = lw_build_number(b, 32, (first + i) >> run == first >> run ? 0 : b->chunk);
    return LLVMBuildShuffleVector(b->at, value, lw_value_splat(b, values[last >> run]),
                                  LLVMConstVector(order, b->chunk), "");
}

/* All that a row has in the lanes of a chunk. */
static LLVMValueRef spread_row(lw_strand *s, uint32_t reg, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const lw_shape shape = lw_strand_shape(s, reg);
    LLVMValueRef bases[LW_STRAND_RUNS], steps[LW_GANG_LANES];
    const uint32_t first = chunk * b->chunk;
    for (uint32_t at = first >> shape.run; at <= (first + b->chunk - 1) >> shape.run; at++)
        bases[at] = lw_strand_base_of(s, reg, shape.run, at);
    LLVMValueRef value = spread_runs(s, bases, shape.run, chunk);
    if (lw_shape_alike(&shape) == shape.run) return value;
    for (uint32_t i = 0; i < b->chunk; i++)
        steps[i] = lw_build_number(b, lw_unit_bits(s->u, reg), (uint64_t)lw_shape_above(&shape, first + i));
    return LLVMBuildAdd(b->at, value, LLVMConstVector(steps, b->chunk), "");
}

LLVMValueRef lw_strand_vector(lw_strand *s, uint32_t reg, uint32_t chunk) {
    return lw_strand_is_row(s, reg) ? spread_row(s, reg, chunk) : load_value(s, reg, chunk);
}

LLVMValueRef lw_strand_conditions(const lw_strand *s, LLVMValueRef mask, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef word = LLVMBuildLShr(b->at, mask, lw_build_number(b, 32, chunk * b->chunk), "");
    return lw_frame_bits(s->u, LLVMBuildTrunc(b->at, word, lw_build_int(b, b->chunk), ""));
}

LLVMValueRef lw_strand_on(lw_strand *s, uint32_t chunk) {
    if (is_on_way(s, s->on_ways[chunk])) return s->on[chunk];
    s->on_ways[chunk] = way_at_hand(s);
    return s->on[chunk] = lw_strand_conditions(s, s->now, chunk);
}

void lw_strand_execute(lw_strand *s, LLVMValueRef lanes) {
    s->now = lanes;
    for (uint32_t c = 0; c < s->chunks; c++) s->on_ways[c] = 0;
}

/* By somebody who is elsewhere. */
static bool is_needed(const lw_strand *s, uint32_t n, uint32_t reg) {
    return lw_set_has(s->needed + (size_t)lw_strand_block_of(s->u, n) * s->u->words, reg);
}

static LLVMValueRef blend(lw_strand *s, uint32_t chunk, LLVMValueRef value, LLVMValueRef before) {
    return LLVMBuildSelect(lw_strand_build(s)->at, lw_strand_on(s, chunk), value, before, "");
}

void lw_strand_put(lw_strand *s, uint32_t n, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    const bool needed = is_needed(s, n, reg);
    LLVMValueRef own = value;
    if (needed || s->guard) value = blend(s, chunk, value, lw_strand_whole(s, reg, chunk));
    if (s->guard) own = is_twofold(s, reg) ? blend(s, chunk, own, load_value(s, reg, chunk)) : value;
    lw_strand_keep(s, reg, chunk, value);
    if (is_twofold(s, reg) && (needed || s->guard)) keep_own(s, reg, chunk, own);
}

void lw_strand_put_row(lw_strand *s, uint32_t reg, uint32_t at, LLVMValueRef base) { lw_strand_keep(s, reg, at, base); }

void lw_strand_put_runs(lw_strand *s, uint32_t n, uint32_t reg, uint32_t run, LLVMValueRef *values) {
    if (lw_strand_is_row(s, reg))
        for (uint32_t at = 0; at < lw_strand_runs(s->shapes[reg].run); at++)
            lw_strand_put_row(s, reg, at, values[at << s->shapes[reg].run >> run]);
    else
        for (uint32_t c = 0; c < s->chunks; c++) lw_strand_put(s, n, reg, c, spread_runs(s, values, run, c));
}

/* Lanes of a run. */
static LLVMValueRef run_mask(const lw_strand *s, uint32_t run, uint32_t at) {
    return lw_build_number(lw_strand_build(s), 32, UINT32_MAX >> (LW_WARP_LANES - (1u << run)) << (at << run));
}

LLVMValueRef lw_strand_has(const lw_strand *s, uint32_t run, uint32_t at) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef some = LLVMBuildAnd(b->at, s->now, run_mask(s, run, at), "");
    return lw_build_is(b, LLVMIntNE, some, lw_build_number(b, 32, 0));
}

static LLVMValueRef word_of_row(lw_strand *s, uint32_t predicate) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t run = lw_strand_shape(s, predicate).run;
    LLVMValueRef word = NULL;
    for (uint32_t at = 0; at < lw_strand_runs(run); at++) {
        LLVMValueRef part = LLVMBuildSExt(b->at, lw_strand_base_of(s, predicate, run, at), b->i32, "");
        if (run < LW_WARP_BITS) part = LLVMBuildAnd(b->at, part, run_mask(s, run, at), "");
        word = word ? LLVMBuildOr(b->at, word, part, "") : part;
    }
    return word;
}

LLVMValueRef lw_strand_word(lw_strand *s, uint32_t predicate) {
    const lw_build *b = lw_strand_build(s);
    if (lw_strand_is_row(s, predicate)) return word_of_row(s, predicate);
    LLVMValueRef word = NULL;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef part = LLVMBuildBitCast(b->at, load_value(s, predicate, c), lw_build_int(b, b->chunk), "");
        part = LLVMBuildZExt(b->at, part, b->i32, "");
        part = LLVMBuildShl(b->at, part, lw_build_number(b, 32, c * b->chunk), "");
        word = word ? LLVMBuildOr(b->at, word, part, "") : part;
    }
    return word;
}

LLVMValueRef lw_strand_chosen(lw_strand *s, const lw_op *op, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef p = lw_strand_word(s, op->b);
    if (op->flags & LW_OP_NEGATE) p = LLVMBuildNot(b->at, p, "");
    return LLVMBuildAnd(b->at, p, lanes, "");
}

/* ---- Two ways ---------------------------------------------------------------------------------------------------- */

static lw_fork fork_if(lw_strand *s, LLVMValueRef condition, bool often) {
    const lw_build *b = lw_strand_build(s);
    const lw_fork fork = {.other = lw_build_block(b, "other"), .done = lw_build_block(b, "done")};
    LLVMValueRef branch = lw_build_if(b, condition, fork.other);
    if (often) lw_build_often(b, branch);
    lw_strand_begin_way(s, false);
    return fork;
}
lw_fork lw_strand_fork(lw_strand *s, LLVMValueRef condition) { return fork_if(s, condition, true); }
lw_fork lw_strand_fork_evenly(lw_strand *s, LLVMValueRef condition) { return fork_if(s, condition, false); }

void lw_strand_otherwise(lw_strand *s, const lw_fork *fork) {
    LLVMBuildBr(lw_strand_build(s)->at, fork->done);
    lw_strand_end_way(s);
    LLVMPositionBuilderAtEnd(lw_strand_build(s)->at, fork->other);
    lw_strand_begin_way(s, false);
}

void lw_strand_rejoin(lw_strand *s, const lw_fork *fork) {
    LLVMBuildBr(lw_strand_build(s)->at, fork->done);
    lw_strand_end_way(s);
    LLVMPositionBuilderAtEnd(lw_strand_build(s)->at, fork->done);
}
