/* strand_ops.c: one operation of a strand: where its operands and results are, its code where it goes lane by lane, a
 * call of the interpreter's step where not. */
#include "run/jit/strand.h"

#include "base/special_id.h"

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

/* From the frame. Where lanes of the mask have something else than the shape of a register says, to `other`. */
void lw_strand_take(lw_strand *s, uint32_t reg, LLVMValueRef mask, LLVMBasicBlockRef other) {
    const lw_build *b = lw_strand_build(s);
    if (s->u->code->registers[reg].is_const || !lw_frame_has(s->u, reg)) return;
    if (!lw_strand_is_row(s, reg)) {
        for (uint32_t c = 0; c < s->chunks; c++) store_value(s, reg, c, in_frame(s, reg, c));
        return;
    }
    LLVMValueRef differs = NULL;
    take_bases(s, reg, mask);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, in_frame(s, reg, c), lw_strand_vector(s, reg, c), "");
        is = LLVMBuildAnd(b->at, is, lw_strand_conditions(s, mask, c), "");
        differs = differs ? LLVMBuildOr(b->at, differs, is, "") : is;
    }
    LLVMValueRef any = LLVMBuildBitCast(b->at, differs, lw_build_int(b, b->chunk), "");
    lw_build_unless(b, lw_build_is(b, LLVMIntEQ, any, lw_build_number(b, b->chunk, 0)), other);
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

/* ---- Element by element ------------------------------------------------------------------------------------------ */

/* Whether lanes of a run have different elements of a register. */
static bool has_steps(const lw_strand *s, uint32_t reg, uint32_t run) {
    if (reg == LW_NO_SLOT) return false;
    const lw_shape shape = lw_strand_shape(s, reg);
    return shape.kind != LW_SHAPE_row || lw_shape_alike(&shape) < (run < shape.run ? run : shape.run);
}

/* The at-th run of a narrow register may be made wider one by one. */
static LLVMValueRef wraps_not(lw_strand *s, uint32_t reg, bool is_signed, uint32_t run, uint32_t at) {
    const lw_build *b = lw_strand_build(s);
    int64_t least, most;
    lw_shape_span(&s->shapes[reg], run, &least, &most);
    LLVMValueRef base = lw_strand_base_of(s, reg, run, at);
    base = is_signed ? LLVMBuildSExt(b->at, base, b->i64, "") : LLVMBuildZExt(b->at, base, b->i64, "");
    const int64_t low = (is_signed ? INT32_MIN : 0) - least, high = (is_signed ? INT32_MAX : UINT32_MAX) - most;
    LLVMValueRef good = lw_build_is(b, LLVMIntSLE, base, lw_build_number(b, 64, (uint64_t)high));
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntSGE, base, lw_build_number(b, 64, (uint64_t)low)), "");
}

/* Narrow operands in a row do not wrap within a run of the result, or that would be none. */
static void demand_no_wrap(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t narrow[] = {op->a, op->b}, run = s->shapes[op->d].run;
    LLVMValueRef good = NULL;
    bool is_signed;
    if (!lw_strand_widens(op, &is_signed)) return;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t at = 0; has_steps(s, narrow[k], run) && at < lw_strand_runs(run); at++) {
            LLVMValueRef one = wraps_not(s, narrow[k], is_signed, run, at);
            good = good ? LLVMBuildAnd(lw_strand_build(s)->at, good, one, "") : one;
        }
    if (good) lw_strand_demand(s, n, good);
}

static bool all_uniform(const lw_strand *s, const lw_op *op) {
    LW_EACH_READ(s->u->code, op, at) if (!lw_strand_is_uniform(s, *at)) return false;
    return true;
}

/* What body.c is told of the registers of one operation: of a run, or of a chunk. */
static void give_scalars(lw_strand *s, const lw_op *op, lw_values *v, uint32_t run, uint32_t at) {
    LW_EACH_READ(s->u->code, op, reg)
    if (!s->u->code->registers[*reg].is_const) v->scalar[*reg] = lw_strand_base_of(s, *reg, run, at);
}
static void give_vectors(lw_strand *s, const lw_op *op, lw_values *v, uint32_t chunk) {
    LW_EACH_READ(s->u->code, op, at) v->vector[chunk][*at] = lw_strand_vector(s, *at, chunk);
}
static void take_back(const lw_strand *s, const lw_op *op, lw_values *v) {
    for (int way = 0; way < 2; way++) LW_EACH_(s->u->code, op, at, way ? LW_WRITTEN : LW_READ) {
            v->scalar[*at] = NULL;
            for (uint32_t c = 0; c < s->chunks; c++) v->vector[c][*at] = NULL;
        }
}

static lw_values no_values(const lw_strand *s) {
    lw_values v = {.scalar = s->u->build->values, .chunks = s->chunks};
    for (uint32_t c = 0; c < LW_CHUNKS; c++) v.vector[c] = v.scalar + (size_t)(2 + c) * s->u->code->virtual_count;
    return v;
}

static LLVMValueRef emit_scalar(lw_strand *s, const lw_op *op, uint32_t run, uint32_t at) {
    lw_values v = no_values(s);
    give_scalars(s, op, &v, run, at);
    LLVMValueRef value = lw_body_scalar(s->u, op, &v);
    if (!value) lw_bug("operation code %u gives no one value", op->code);
    take_back(s, op, &v);
    return value;
}

static void emit_row(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t run = s->shapes[op->d].run;
    demand_no_wrap(s, n);
    for (uint32_t at = 0; at < lw_strand_runs(run); at++) lw_strand_put_row(s, op->d, at, emit_scalar(s, op, run, at));
}

static void emit_chunk(lw_strand *s, uint32_t n, uint32_t chunk) {
    lw_unit *u = s->u;
    const lw_op *op = lw_unit_op(u, n);
    if (all_uniform(s, op) && (op->code == LW_OP_ld || lw_op_does(op, LW_DOES_ALIKE))) {
        lw_strand_put(s, n, op->d, chunk, lw_value_splat(lw_strand_build(s), emit_scalar(s, op, LW_WARP_BITS, 0)));
        return;
    }
    lw_values v = no_values(s);
    give_vectors(s, op, &v, chunk);
    lw_body_vector(u, op, &v, chunk, NULL);
    LLVMValueRef value = v.vector[chunk][op->d];
    take_back(s, op, &v);
    lw_strand_put(s, n, op->d, chunk, value);
}

static bool is_body(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    uint64_t at;
    return (lw_row_of(op->code)->compiled == LW_COMPILED_body && op->code != LW_OP_pattern &&
            op->code != LW_OP_beyond) ||
           lw_is_parameter(u->program, u->code, op, &at);
}

static bool reads(const lw_unit *u, uint32_t n, uint32_t reg) {
    LW_EACH_READ(u->code, lw_unit_op(u, n), at) if (*at == reg) return true;
    return false;
}

/* A long lane function stands there once, in a loop over the chunks. */
static void emit_long(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_values v = no_values(s);
    LLVMValueRef rooms[LW_FIELDS];
    uint32_t regs[LW_FIELDS], count = 0;
    LW_EACH_READ(s->u->code, op, at) {
        if (lw_strand_is_uniform(s, *at)) {
            v.scalar[*at] = lw_strand_base(s, *at);
            continue;
        }
        LLVMTypeRef type = lw_build_vector(b, lw_unit_bits(s->u, *at));
        regs[count] = *at, rooms[count] = lw_build_stack(b, LLVMArrayType(type, s->chunks));
        for (uint32_t c = 0; c < s->chunks; c++)
            LLVMBuildStore(b->at, lw_strand_vector(s, *at, c), lw_build_element(b, type, rooms[count], c));
        count++;
    }
    LLVMTypeRef result = lw_build_vector(b, lw_unit_bits(s->u, op->d));
    LLVMValueRef results = lw_build_stack(b, LLVMArrayType(result, s->chunks));
    const lw_build_rounds chunk = lw_build_begin_rounds(b);
    for (uint32_t k = 0; k < count; k++) {
        LLVMTypeRef type = lw_build_vector(b, lw_unit_bits(s->u, regs[k]));
        v.vector[0][regs[k]] = LLVMBuildLoad2(b->at, type, lw_build_element_at(b, type, rooms[k], chunk.round), "");
    }
    lw_body_vector(s->u, op, &v, 0, NULL);
    LLVMBuildStore(b->at, v.vector[0][op->d], lw_build_element_at(b, result, results, chunk.round));
    take_back(s, op, &v);
    lw_build_end_rounds(b, &chunk, s->chunks);
    for (uint32_t c = 0; c < s->chunks; c++)
        lw_strand_put(s, n, op->d, c, LLVMBuildLoad2(b->at, result, lw_build_element(b, result, results, c), ""));
}

/* Of a vector's elements, not of one for all. */
static bool is_long(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    return is_body(s->u, n) && !lw_strand_is_row(s, op->d) && !all_uniform(s, op) &&
           lw_body_length(s->u, op) > LW_STRAND_LONG;
}

/* It may leave the rest to the interpreter, which wants all that stands in front of it to be done. */
static bool may_leave(const lw_strand *s, const lw_op *op) {
    bool is_signed;
    if (!lw_strand_widens(op, &is_signed)) return false;
    return has_steps(s, op->a, LW_WARP_BITS) || has_steps(s, op->b, LW_WARP_BITS);
}

/* A stretch of operations that go element by element, one chunk behind the other, so that what lives within it only has
 * room in the CPU's registers; rows first. It ends where a row is written that one in front of it has to do with, or
 * where the strand may be left, or where a guard begins or ends. */
static uint32_t stretch_end(const lw_strand *s, uint32_t first, uint32_t end) {
    const lw_unit *u = s->u;
    uint32_t n = first;
    for (; n < end && is_body(u, n) && u->guarded[n] == u->guarded[first] && !is_long(s, n); n++) {
        const uint32_t reg = lw_unit_op(u, n)->d;
        if (!lw_strand_is_row(s, reg)) continue;
        if (n > first && may_leave(s, lw_unit_op(u, n))) return n;
        for (uint32_t k = first; k < n; k++)
            if (lw_unit_op(u, k)->d == reg || reads(u, k, reg)) return n;
    }
    return n;
}

static uint32_t emit_stretch(lw_strand *s, uint32_t first, uint32_t end) {
    end = stretch_end(s, first, end);
    for (uint32_t n = first; n < end; n++)
        if (lw_strand_is_row(s, lw_unit_op(s->u, n)->d)) emit_row(s, n);
    for (uint32_t c = 0; c < s->chunks; c++)
        for (uint32_t n = first; n < end; n++)
            if (!lw_strand_is_row(s, lw_unit_op(s->u, n)->d)) emit_chunk(s, n, c);
    return end;
}

/* ---- Special registers ------------------------------------------------------------------------------------------- */

static LLVMValueRef resize(const lw_strand *s, LLVMValueRef value, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    LLVMTypeRef type = LLVMTypeOf(value);
    type = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? lw_build_vector(b, bits) : lw_build_int(b, bits);
    return bits == 64   ? LLVMBuildZExt(b->at, value, type, "")
           : bits == 16 ? LLVMBuildTrunc(b->at, value, type, "")
                        : value;
}

static LLVMValueRef grid_word(const lw_build *b, LLVMValueRef of, size_t offset) {
    return lw_build_load(b, b->i32, of, offset, 4, LW_ALIAS_gang);
}

/* From the gang's list, which has each lane's. */
static void emit_tid(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef list = lw_build_move(b, b->gang, LLVMBuildShl(b->at, s->base, lw_build_number(b, 64, 2), ""));
    const size_t first = offsetof(lw_gang, tid) + op->b * sizeof(((lw_gang *)0)->tid[0]);
    if (lw_strand_is_row(s, op->d))
        for (uint32_t at = 0, run = s->shapes[op->d].run; at < lw_strand_runs(run); at++)
            lw_strand_put_row(s, op->d, at, resize(s, grid_word(b, list, first + ((size_t)4 << run) * at), op->d));
    else
        for (uint32_t c = 0; c < s->chunks; c++) {
            LLVMValueRef value =
                lw_build_load(b, lw_build_vector(b, 32), list, first + 4 * (size_t)(c * b->chunk), 4, LW_ALIAS_gang);
            lw_strand_put(s, n, op->d, c, resize(s, value, op->d));
        }
}

/* False: it is for the interpreter's step. */
static bool emit_special(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const size_t word = 4 * (size_t)op->b;
    LLVMValueRef value;
    if (op->a == LW_SPECIAL_tid && op->b <= 2) {
        emit_tid(s, n);
        return true;
    }
    if (op->a == LW_SPECIAL_laneid && lw_strand_is_row(s, op->d)) {
        for (uint32_t at = 0, run = s->shapes[op->d].run; at < lw_strand_runs(run); at++)
            lw_strand_put_row(s, op->d, at, lw_build_number(b, lw_unit_bits(s->u, op->d), at << run));
        return true;
    }
    if (!lw_strand_is_uniform(s, op->d)) return false;
    if (op->b > 2) value = lw_build_number(b, 32, 0);
    else switch (op->a) {
        case LW_SPECIAL_ntid:
            value = grid_word(b, lw_build_grid(b), offsetof(lw_grid, block) + word);
            if (s->shapes[op->d].known) value = lw_build_number(b, 32, s->shapes[op->d].known);
            break;
        case LW_SPECIAL_nctaid: value = grid_word(b, lw_build_grid(b), offsetof(lw_grid, shape) + word); break;
        case LW_SPECIAL_ctaid: value = grid_word(b, lw_build_cta(b), offsetof(lw_cta, index) + word); break;
        default: return false;
        }
    lw_strand_put_runs(s, n, op->d, LW_WARP_BITS, &(LLVMValueRef){resize(s, value, op->d)});
    return true;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void begin_guard(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef p = lw_strand_word(s, op->b);
    if (op->flags & LW_OP_NEGATE) p = LLVMBuildNot(b->at, p, "");
    s->guard = s->now;
    LLVMValueRef inside = LLVMBuildAnd(b->at, p, s->now, "");
    s->guard_end = lw_build_block(b, "unguard");
    lw_build_unless(b, lw_build_is(b, LLVMIntNE, inside, lw_build_number(b, 32, 0)), s->guard_end);
    s->now = inside;
    lw_strand_begin_way(s, false);
    for (uint32_t c = 0; c < s->chunks; c++) s->on_ways[c] = 0;
}

static void end_guard(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMBuildBr(b->at, s->guard_end);
    LLVMPositionBuilderAtEnd(b->at, s->guard_end);
    s->now = s->guard;
    s->guard = NULL;
    lw_strand_end_way(s);
    for (uint32_t c = 0; c < s->chunks; c++) s->on_ways[c] = 0;
}

uint32_t lw_strand_op(lw_strand *s, uint32_t n, uint32_t end) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (is_long(s, n)) emit_long(s, n);
    else if (is_body(s->u, n)) return emit_stretch(s, n, end);
    else if (op->code == LW_OP_guard) begin_guard(s, n);
    else if (op->code == LW_OP_unguard) end_guard(s);
    else if (op->code == LW_OP_warp_sync) lw_strand_meet(s, n);
    else if (op->code == LW_OP_ld) lw_strand_load(s, n);
    else if (op->code == LW_OP_st) lw_strand_store(s, n);
    else if (!(op->code == LW_OP_special && emit_special(s, n)) &&
             !(lw_op_does(op, LW_DOES_EXCHANGES) && lw_strand_exchange(s, n)))
        lw_strand_call(s, n);
    return n + 1;
}
