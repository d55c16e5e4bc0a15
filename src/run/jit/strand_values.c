/* strand_values.c: where the registers of a strand have their values: LLVM's, and those in the frame, from which they
 * come and to which they go where the interpreter goes on or does a step. */
#include "run/jit/strand.h"

#include <stdlib.h>

/* ---- Values of registers ----------------------------------------------------------------------------------------- */

void lw_strand_begin_way(lw_strand *s, bool anew) {
    if (anew) s->way_count = s->sure_count = 0;
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

static LLVMValueRef place_of(lw_strand *s, uint32_t reg, uint32_t chunk) {
    LLVMValueRef *place = &s->places[(size_t)reg * LW_STRAND_RUNS + chunk];
    if (!*place) *place = lw_build_stack(lw_strand_build(s), type_of(s, reg));
    return *place;
}

static void keep_value(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    const size_t at = (size_t)reg * LW_STRAND_RUNS + chunk;
    s->values[at] = value, s->ways[at] = way_at_hand(s);
}

static LLVMValueRef load_value(lw_strand *s, uint32_t reg, uint32_t chunk) {
    const size_t at = (size_t)reg * LW_STRAND_RUNS + chunk;
    if (is_on_way(s, s->ways[at])) return s->values[at];
    LLVMValueRef value = LLVMBuildLoad2(lw_strand_build(s)->at, type_of(s, reg), place_of(s, reg, chunk), "");
    keep_value(s, reg, chunk, value);
    return value;
}

static void store_value(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    for (uint32_t k = 0; k < s->sure_count; k++)
        if (lw_unit_op(s->u, s->sure[k].first)->a == reg) s->sure[k--] = s->sure[--s->sure_count];
    LLVMBuildStore(lw_strand_build(s)->at, value, place_of(s, reg, chunk));
    keep_value(s, reg, chunk, value);
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

/* The block of operation n. */
static uint32_t block_of(const lw_unit *u, uint32_t n) {
    uint32_t low = 0, high = u->code->block_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(u->block_at[middle] <= n ? &low : &high) = middle;
    }
    return low;
}

static bool is_needed(const lw_strand *s, uint32_t n, uint32_t reg) {
    return s->guard || lw_set_has(s->needed + (size_t)block_of(s->u, n) * s->u->words, reg);
}

void lw_strand_put(lw_strand *s, uint32_t n, uint32_t reg, uint32_t chunk, LLVMValueRef value) {
    if (is_needed(s, n, reg))
        value = LLVMBuildSelect(lw_strand_build(s)->at, lw_strand_on(s, chunk), value, load_value(s, reg, chunk), "");
    store_value(s, reg, chunk, value);
}

void lw_strand_put_row(lw_strand *s, uint32_t reg, uint32_t at, LLVMValueRef base) { store_value(s, reg, at, base); }

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

/* ---- Registers in the frame -------------------------------------------------------------------------------------- */

static LLVMValueRef slots_of(const lw_strand *s, uint32_t reg) { return s->slots[s->u->code->registers[reg].class]; }
static LLVMValueRef in_frame(const lw_strand *s, uint32_t reg, uint32_t chunk) {
    return lw_frame_load(s->u, slots_of(s, reg), lw_build_number(lw_strand_build(s), 64, 0), reg, chunk);
}

/* mask NULL: in all lanes. */
static void save_register(lw_strand *s, uint32_t reg, LLVMValueRef mask) {
    const lw_build *b = lw_strand_build(s);
    if (s->u->code->registers[reg].is_const || !lw_frame_has(s->u, reg)) return;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef value = lw_strand_vector(s, reg, c);
        if (mask) value = LLVMBuildSelect(b->at, lw_strand_conditions(s, mask, c), value, in_frame(s, reg, c), "");
        lw_frame_store(s->u, slots_of(s, reg), lw_build_number(b, 64, 0), reg, c, value);
    }
}

#define EACH_IN(set, words, reg) \
    for (uint32_t w_ = 0; w_ < (words); w_++) \
        for (uint64_t left_ = (set)[w_]; left_; left_ &= left_ - 1) \
            for (uint32_t reg = 64 * w_ + (uint32_t)__builtin_ctzll(left_), once_ = 1; once_; once_ = 0)

void lw_strand_save(lw_strand *s, const uint64_t *set, LLVMValueRef mask) {
    EACH_IN(set, s->u->words, reg) save_register(s, reg, s->alone ? NULL : mask);
}

/* What the lane of that number is above the base of its run. */
static LLVMValueRef above(const lw_strand *s, const lw_shape *shape, LLVMValueRef lane) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef more = lw_build_number(b, 64, 0);
    for (uint32_t k = 0, end; k < shape->run; k = end) { /* bits that count together */
        for (end = k + 1; end < shape->run && shape->step[end] == 2 * shape->step[end - 1]; end++)
            ;
        if (!shape->step[k]) continue;
        LLVMValueRef bits = LLVMBuildLShr(b->at, lane, lw_build_number(b, 64, k), "");
        bits = LLVMBuildAnd(b->at, bits, lw_build_number(b, 64, (1u << (end - k)) - 1), "");
        bits = LLVMBuildMul(b->at, bits, lw_build_number(b, 64, (uint64_t)(int64_t)shape->step[k]), "");
        more = LLVMBuildAdd(b->at, more, bits, "");
    }
    return more;
}

/* What the first of these lanes in a run has in the frame, less what the shape adds for it; of none, what anybody
 * has. */
static LLVMValueRef base_in_frame(lw_strand *s, uint32_t reg, uint32_t at, LLVMValueRef mask) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    const lw_shape *shape = &s->shapes[reg];
    if (shape->run < LW_WARP_BITS) mask = LLVMBuildAnd(b->at, mask, run_mask(s, shape->run, at), "");
    LLVMValueRef lane = LLVMBuildZExt(b->at, lw_build_bits(b, "llvm.cttz", mask), b->i64, "");
    lane = LLVMBuildAnd(b->at, lane, lw_build_number(b, 64, LW_WARP_LANES - 1), "");
    LLVMValueRef value = lw_frame_element(s->u, s->regs, reg, LLVMBuildAdd(b->at, s->base, lane, ""));
    if (lw_shape_alike(shape) == shape->run) return value;
    LLVMValueRef more = LLVMBuildTrunc(b->at, above(s, shape, lane), lw_build_int(b, bits), "");
    return LLVMBuildSub(b->at, value, more, "");
}

static void take_bases(lw_strand *s, uint32_t reg, LLVMValueRef mask) {
    for (uint32_t at = 0; at < lw_strand_runs(s->shapes[reg].run); at++)
        lw_strand_put_row(s, reg, at, base_in_frame(s, reg, at, mask));
}

LLVMValueRef lw_strand_take(lw_strand *s, uint32_t reg, LLVMValueRef mask, LLVMValueRef differs) {
    const lw_build *b = lw_strand_build(s);
    if (s->u->code->registers[reg].is_const || !lw_frame_has(s->u, reg)) return differs;
    if (!lw_strand_is_row(s, reg)) {
        for (uint32_t c = 0; c < s->chunks; c++) store_value(s, reg, c, in_frame(s, reg, c));
        return differs;
    }
    take_bases(s, reg, mask);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, in_frame(s, reg, c), lw_strand_vector(s, reg, c), "");
        is = LLVMBuildAnd(b->at, is, lw_strand_conditions(s, mask, c), "");
        differs = differs ? LLVMBuildOr(b->at, differs, is, "") : is;
    }
    return differs;
}

/* ---- Going over to the interpreter ------------------------------------------------------------------------------- */

/* What lives in front of operation n: from the blocks behind its own. */
static void live_at(lw_strand *s, uint32_t n) {
    const lw_unit *u = s->u;
    const uint32_t block = block_of(u, n);
    memset(s->room, 0, u->words * sizeof *s->room);
    const lw_block *from = &u->code->blocks[block];
    for (uint32_t k = 0; k < from->successor_count; k++) {
        const uint64_t *live = lw_unit_live(u, u->block_at[from->successors[k]]);
        for (uint32_t w = 0; w < u->words; w++) s->room[w] |= live[w];
    }
    for (uint32_t k = lw_unit_block_end(u, block); k-- > n;)
        lw_live_over(u->code, lw_unit_op(u, k), u->guarded[k], s->room);
    /* What is in the frame as it is need not go there. */
    for (uint32_t w = 0; w < u->words; w++) {
        const uint64_t live = s->room[w];
        s->room[w] &= s->dirty[(size_t)block * u->words + w];
        for (uint32_t k = u->block_at[block]; k < n; k++) LW_EACH_WRITTEN(u->code, lw_unit_op(u, k), at)
        if (*at / 64 == w && live >> *at % 64 & 1) lw_set_add(s->room, *at);
    }
}

void lw_strand_demand(lw_strand *s, uint32_t n, LLVMValueRef condition) {
    const lw_build *b = lw_strand_build(s);
    if (!s->u->whole[n]) lw_bug("operation %u is part of another one", n);
    LLVMBasicBlockRef other = lw_build_block(b, "over");
    lw_build_unless(b, condition, other);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    LLVMPositionBuilderAtEnd(b->at, other);
    live_at(s, n);
    lw_strand_begin_way(s, false);
    lw_strand_save(s, s->room, s->now);
    lw_strand_end_way(s);
    LLVMBuildStore(b->at, lw_frame_op(s->u, n), s->left_at);
    LLVMBuildStore(b->at, s->now, s->left_lanes);
    LLVMBuildBr(b->at, s->tail);
    LLVMPositionBuilderAtEnd(b->at, here);
}

/* ---- Two ways ---------------------------------------------------------------------------------------------------- */

lw_fork lw_strand_fork(lw_strand *s, LLVMValueRef condition) {
    const lw_build *b = lw_strand_build(s);
    const lw_fork fork = {.other = lw_build_block(b, "other"), .done = lw_build_block(b, "done")};
    lw_build_unless(b, condition, fork.other);
    lw_strand_begin_way(s, false);
    return fork;
}

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

/* ---- The interpreter's steps ------------------------------------------------------------------------------------- */

/* The lanes of the warp have the frame's slots for themselves while they run, so all of a register may go there. */
void lw_strand_call(lw_strand *s, uint32_t n) {
    const lw_unit *u = s->u;
    const lw_build *b = lw_strand_build(s);
    uint32_t first = n;
    while (!u->whole[first]) first--;
    for (uint32_t k = first; k <= n; k++) LW_EACH_READ(u->code, lw_unit_op(u, k), at) save_register(s, *at, NULL);
    if (u->guarded[n] || lw_op_keeps(lw_unit_op(u, n)))
        LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) save_register(s, *at, NULL);
    LLVMValueRef arguments[] = {b->gang, lw_frame_op(u, n), lw_frame_step_address(u, n), s->warp, s->now};
    LLVMValueRef good = lw_build_call(b, b->pass_step_type, (uintptr_t)b->core->step, arguments);
    LLVMBasicBlockRef trapped = lw_build_block(b, "trapped");
    lw_build_unless(b, good, trapped);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    LLVMPositionBuilderAtEnd(b->at, trapped);
    lw_strand_settle(s);
    LLVMBuildRet(b->at, LLVMConstNull(b->bytes));
    LLVMPositionBuilderAtEnd(b->at, here);
    LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) {
        if (!lw_frame_has(u, *at)) continue;
        if (lw_strand_is_row(s, *at)) take_bases(s, *at, s->now);
        else
            for (uint32_t c = 0; c < s->chunks; c++) lw_strand_put(s, n, *at, c, in_frame(s, *at, c));
    }
}
