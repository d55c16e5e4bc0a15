/* strand_frame.c: registers of a strand into the frame, where the interpreter has them, and back: for a step, for lanes
 * that wait, for lanes that go over.
 *
 * The code for it is most of a strand's, and hardly ever runs; so a register that is one number goes by calls
 * (interp/level/pass.c), as many as there are at once. */
#include "run/jit/strand.h"

#include <stdlib.h>

/* ---- One register ------------------------------------------------------------------------------------------------ */

static LLVMValueRef slots_of(const lw_strand *s, uint32_t reg) { return s->slots[s->u->code->registers[reg].class]; }
static LLVMValueRef in_frame(const lw_strand *s, uint32_t reg, uint32_t chunk) {
    return lw_frame_load(s->u, slots_of(s, reg), lw_build_number(lw_strand_build(s), 64, 0), reg, chunk);
}

/* It has a slot, and a value that the slot may not have. */
static bool goes(const lw_strand *s, uint32_t reg) {
    return !s->u->code->registers[reg].is_const && lw_frame_has(s->u, reg);
}

/* A chunk's elements, where a condition holds; NULL: all. */
static void save_chunk(const lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value, LLVMValueRef on) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef none = lw_build_number(b, 64, 0);
    if (on && lw_unit_bits(s->u, reg) >= 32) {
        lw_frame_store_some(s->u, slots_of(s, reg), none, reg, chunk, value, on);
        return;
    }
    if (on) value = LLVMBuildSelect(b->at, on, value, in_frame(s, reg, chunk), "");
    lw_frame_store(s->u, slots_of(s, reg), none, reg, chunk, value);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Those that go at once. */
typedef struct lw_rows {
    LLVMValueRef *words;   /* of lw_row, one behind the other */
    uint32_t count, bases; /* bases of all of them */
} lw_rows;
enum { ROW_WORDS = sizeof(lw_row) / sizeof(uint32_t) };

/* With room for all registers. False: no memory, which is noted. */
static bool begin_rows(lw_strand *s, lw_rows *rows) {
    *rows = (lw_rows){malloc(((size_t)s->u->code->virtual_count + 1) * ROW_WORDS * sizeof *rows->words), 0, 0};
    s->u->build->failed |= !rows->words;
    return rows->words;
}

static void describe_row(const lw_strand *s, uint32_t reg, uint32_t who, LLVMValueRef to[ROW_WORDS]) {
    const lw_shape *shape = &s->shapes[reg];
    lw_row row = {.home = lw_frame_home(s->u, reg), .bits = lw_unit_bits(s->u, reg), .run = shape->run, .who = who};
    uint32_t words[ROW_WORDS];
    memcpy(row.step, shape->step, sizeof row.step);
    memcpy(words, &row, sizeof row);
    for (uint32_t k = 0; k < ROW_WORDS; k++) to[k] = lw_build_number(lw_strand_build(s), 32, words[k]);
}
static void add_row(const lw_strand *s, lw_rows *rows, uint32_t reg, uint32_t who) {
    describe_row(s, reg, who, rows->words + (size_t)rows->count++ * ROW_WORDS);
}

/* As the core reads them: all, or one alone. */
static LLVMValueRef list_rows(const lw_strand *s, lw_rows *rows) {
    return lw_build_words(lw_strand_build(s), "rows", rows->words, rows->count * ROW_WORDS);
}
static LLVMValueRef one_row(const lw_strand *s, uint32_t reg) {
    LLVMValueRef words[ROW_WORDS];
    describe_row(s, reg, 0, words);
    return lw_build_words(lw_strand_build(s), "rows", words, ROW_WORDS);
}

/* Where the core finds their bases, or leaves them; and the k-th of these. */
static LLVMValueRef all_bases(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t most = (s->u->code->virtual_count + 1) * LW_STRAND_RUNS;
    if (!s->bases) s->bases = lw_build_stack(b, LLVMArrayType(b->i64, most));
    return LLVMBuildBitCast(b->at, s->bases, b->bytes, "");
}
static LLVMValueRef base_place(lw_strand *s, uint32_t k) {
    return lw_build_element(lw_strand_build(s), lw_strand_build(s)->i64, all_bases(s), k);
}

/* A row's bases there, from the k-th place on: put there, and taken from there. Returns the place behind them. */
static uint32_t leave_bases(lw_strand *s, uint32_t reg, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t run = s->shapes[reg].run;
    for (uint32_t at = 0; at < lw_strand_runs(run); at++) {
        LLVMValueRef base = LLVMBuildZExt(b->at, lw_strand_base_of(s, reg, run, at), b->i64, "");
        LLVMBuildStore(b->at, base, base_place(s, k++));
    }
    return k;
}
static uint32_t find_bases(lw_strand *s, uint32_t reg, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t at = 0; at < lw_strand_runs(s->shapes[reg].run); at++) {
        LLVMValueRef base = LLVMBuildLoad2(b->at, b->i64, base_place(s, k++), "");
        lw_strand_put_row(s, reg, at, LLVMBuildTrunc(b->at, base, lw_build_int(b, lw_unit_bits(s->u, reg)), ""));
    }
    return k;
}

/* What some lanes have in the frame of a row. */
static void take_bases(lw_strand *s, uint32_t reg, LLVMValueRef lanes) {
    LLVMValueRef arguments[] = {s->regs, s->warp, one_row(s, reg), lanes, all_bases(s)};
    lw_host_call(lw_strand_build(s), LW_HOST_warp_take, lw_strand_build(s)->row_take_type, arguments);
    find_bases(s, reg, 0);
}

/* ---- Sets of registers ------------------------------------------------------------------------------------------- */

/* mask NULL: in all lanes. */
static void save_vector(lw_strand *s, uint32_t reg, LLVMValueRef mask) {
    for (uint32_t c = 0; c < s->chunks; c++)
        save_chunk(s, reg, c, lw_strand_whole(s, reg, c), mask ? lw_strand_conditions(s, mask, c) : NULL);
}

static bool goes_as_row(const lw_strand *s, uint32_t reg) { return goes(s, reg) && lw_strand_is_row(s, reg); }

/* how: for good, where the core unfolds what is folded in front of that; or lent to a step. */
static void give_rows(lw_strand *s, const uint64_t *set, LLVMValueRef mask, lw_host how) {
    const lw_build *b = lw_strand_build(s);
    lw_rows rows;
    if (!begin_rows(s, &rows)) return;
    LW_EACH_IN(set, s->u->words, reg) {
        if (!goes_as_row(s, reg)) continue;
        rows.bases = leave_bases(s, reg, rows.bases);
        add_row(s, &rows, reg, 0);
    }
    if (rows.count) {
        LLVMValueRef arguments[] = {b->gang,
                                    s->warp,
                                    list_rows(s, &rows),
                                    lw_build_number(b, 32, rows.count),
                                    all_bases(s),
                                    mask ? mask : lw_build_number(b, 32, UINT32_MAX)};
        lw_host_call(b, how, b->row_put_type, arguments);
    }
    free(rows.words);
}

static void save_vectors(lw_strand *s, const uint64_t *set, LLVMValueRef mask) {
    LW_EACH_IN(set, s->u->words, reg)
    if (goes(s, reg) && !lw_strand_is_row(s, reg)) save_vector(s, reg, mask);
}

void lw_strand_save(lw_strand *s, const uint64_t *set, LLVMValueRef mask) {
    if (s->alone) mask = NULL;
    give_rows(s, set, mask, LW_HOST_warp_put);
    save_vectors(s, set, mask);
}

/* ---- Folded rows ------------------------------------------------------------------------------------------------- */

bool lw_strand_folds_at(const lw_strand *s, uint32_t block) {
    const uint32_t n = s->u->block_at[block] + 1;
    return !lw_strand_is_here(s, block) || (n < s->u->count && lw_unit_op(s->u, n)->code == LW_OP_barrier);
}

LLVMValueRef lw_strand_may_fold(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef folds = lw_build_load(b, b->i64, s->pass, offsetof(lw_pass, folds), 8, LW_ALIAS_gang);
    return LLVMBuildAnd(b->at, lw_build_is(b, LLVMIntNE, folds, lw_build_number(b, 64, 0)),
                        lw_build_is(b, LLVMIntEQ, s->now, lw_build_number(b, 32, UINT32_MAX)), "");
}

static void fold_row(lw_strand *s, uint32_t reg) {
    const uint32_t run = s->shapes[reg].run, bytes = lw_unit_bits(s->u, reg) / 8, home = lw_frame_home(s->u, reg);
    for (uint32_t at = 0; at < lw_strand_runs(run); at++)
        lw_build_store(lw_strand_build(s), lw_strand_base_of(s, reg, run, at), slots_of(s, reg),
                       home + ((uint64_t)at << run) * bytes, bytes, LW_ALIAS_slots);
}

/* lw_fold of all that lives in front of a block; as a rule it is the same in front of the next one. */
static LLVMValueRef list_fold(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    const uint64_t *live = lw_unit_live(s->u, s->u->block_at[block]);
    uint64_t differs = !s->fold;
    lw_rows rows;
    for (uint32_t w = 0; w < s->u->words; w++) differs |= s->listed[w] ^ (live[w] & s->folded[w]);
    if (!differs) return s->fold;
    if (!begin_rows(s, &rows)) return LLVMConstNull(b->bytes);
    for (uint32_t w = 0; w < s->u->words; w++) s->listed[w] = live[w] & s->folded[w];
    LW_EACH_IN(s->listed, s->u->words, reg) add_row(s, &rows, reg, 0);
    memmove(rows.words + 1, rows.words, (size_t)rows.count * ROW_WORDS * sizeof *rows.words);
    rows.words[0] = lw_build_number(b, 32, rows.count);
    s->fold = lw_build_words(b, "fold", rows.words, rows.count * ROW_WORDS + 1);
    free(rows.words);
    return s->fold;
}

void lw_strand_note_fold(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef at = LLVMBuildZExt(b->at, s->warp, b->i64, "");
    at = lw_build_move(b, b->gang, LLVMBuildMul(b->at, at, lw_build_number(b, 64, sizeof(lw_fold *)), ""));
    lw_build_store(b, list_fold(s, block), at, offsetof(lw_gang, folded), sizeof(lw_fold *), LW_ALIAS_gang);
}

void lw_strand_fold(lw_strand *s, const uint64_t *set) {
    LW_EACH_IN(set, s->u->words, reg)
    if (lw_set_has(s->folded, reg)) fold_row(s, reg);
    else if (goes(s, reg)) save_vector(s, reg, NULL);
}

/* The first lane of a row's run, in the frame. */
static LLVMValueRef first_in_frame(const lw_strand *s, uint32_t reg, uint32_t run) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg), lane = run << s->shapes[reg].run;
    const uint64_t home = lw_frame_home(s->u, reg);
    if (bits > 1)
        return lw_build_load(b, lw_build_int(b, bits), slots_of(s, reg), home + lane * bits / 8, bits / 8,
                             LW_ALIAS_slots);
    LLVMValueRef word = lw_build_load(b, b->i32, slots_of(s, reg), home, 4, LW_ALIAS_slots);
    return LLVMBuildTrunc(b->at, LLVMBuildLShr(b->at, word, lw_build_number(b, 32, lane), ""), b->i1, "");
}

/* Rows that need no look, of a whole warp. */
static void take_trusted(lw_strand *s, const uint64_t *set) {
    LW_EACH_IN(set, s->u->words, reg) {
        if (!goes_as_row(s, reg)) continue;
        for (uint32_t at = 0; at < lw_strand_runs(s->shapes[reg].run); at++)
            lw_strand_put_row(s, reg, at, first_in_frame(s, reg, at));
    }
}

/* By the core, which looks whether they are rows. */
static void take_rows(lw_strand *s, const uint64_t *set, const uint32_t *who, LLVMBasicBlockRef other) {
    const lw_build *b = lw_strand_build(s);
    lw_rows rows;
    uint32_t k = 0;
    if (!begin_rows(s, &rows)) return;
    LW_EACH_IN(set, s->u->words, reg) if (goes_as_row(s, reg)) add_row(s, &rows, reg, who[reg]);
    if (rows.count) {
        LLVMValueRef arguments[] = {
            b->gang, s->pass, s->warp, list_rows(s, &rows), lw_build_number(b, 32, rows.count), all_bases(s)};
        lw_build_unless(b, lw_host_call(b, LW_HOST_warp_take_all, b->row_take_all_type, arguments), other);
    }
    free(rows.words);
    LW_EACH_IN(set, s->u->words, reg) if (goes_as_row(s, reg)) k = find_bases(s, reg, k);
}

/* All lanes of the warp go on, and what was a row is one. */
static LLVMValueRef is_trusted(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef trusted = lw_build_load(b, b->i64, s->pass, offsetof(lw_pass, trusted), 8, LW_ALIAS_gang);
    return LLVMBuildAnd(b->at, lw_build_is(b, LLVMIntNE, trusted, lw_build_number(b, 64, 0)),
                        lw_build_is(b, LLVMIntEQ, s->now, lw_build_number(b, 32, UINT32_MAX)), "");
}

/* Nobody is trusted elsewhere. */
static bool may_be_trusted(const lw_strand *s, uint32_t block) {
    const uint32_t at = s->u->block_at[block];
    return s->crossed[block] || (at && lw_unit_op(s->u, at - 1)->code == LW_OP_barrier);
}

void lw_strand_take(lw_strand *s, uint32_t block, const uint64_t *set, const uint32_t *who, LLVMBasicBlockRef other) {
    if (may_be_trusted(s, block)) {
        const lw_fork fork = lw_strand_fork(s, is_trusted(s));
        take_trusted(s, set);
        lw_strand_otherwise(s, &fork);
        take_rows(s, set, who, other);
        lw_strand_rejoin(s, &fork);
    } else take_rows(s, set, who, other);
    LW_EACH_IN(set, s->u->words, reg)
    for (uint32_t c = 0; c < s->chunks && goes(s, reg) && !lw_strand_is_row(s, reg); c++)
        lw_strand_keep(s, reg, c, in_frame(s, reg, c));
}

/* ---- Going over to the interpreter ------------------------------------------------------------------------------- */

/* What lives in front of operation n. */
static void live_at(lw_strand *s, uint32_t n) {
    const lw_unit *u = s->u;
    const uint32_t block = lw_strand_block_of(u, n);
    lw_strand_live_behind(s, block);
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

/* ---- The interpreter's steps ------------------------------------------------------------------------------------- */

/* An access by addresses in a row, of which there is no need to put them into their slot. */
static bool goes_by_row(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if ((op->code != LW_OP_ld && op->code != LW_OP_st) || !s->u->whole[n] || op->flags & LW_OP_IMM_A) return false;
    uint32_t uses = 0; /* it may be stored, too */
    LW_EACH_READ(s->u->code, op, at) uses += *at == op->a;
    if (uses != 1) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    return (form.address == 1 || form.address == 2) && goes(s, op->a) && lw_strand_is_row(s, op->a);
}

/* What operation n reads, with those that the interpreter does together with it, and what it may leave as it is. */
static void read_by(lw_strand *s, uint32_t n) {
    const lw_unit *u = s->u;
    uint32_t first = n;
    memset(s->room, 0, u->words * sizeof *s->room);
    while (!u->whole[first]) first--;
    for (uint32_t k = first; k <= n; k++) LW_EACH_READ(u->code, lw_unit_op(u, k), at) lw_set_add(s->room, *at);
    if (goes_by_row(s, n)) lw_set_remove(s->room, lw_unit_op(u, n)->a);
    if (u->guarded[n] || lw_op_keeps(lw_unit_op(u, n)))
        LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) lw_set_add(s->room, *at);
}

static LLVMValueRef call_step(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const bool loads = op->code == LW_OP_ld;
    if (goes_by_row(s, n)) {
        leave_bases(s, op->a, 0);
        LLVMValueRef arguments[] = {b->gang, lw_frame_op(s->u, n), s->warp, s->now, one_row(s, op->a), all_bases(s)};
        return lw_host_call(b, loads ? LW_HOST_warp_load_row : LW_HOST_warp_store_row, b->pass_move_row_type,
                            arguments);
    }
    if (loads || op->code == LW_OP_st) {
        LLVMValueRef arguments[] = {b->gang, lw_frame_op(s->u, n), s->warp, s->now};
        return lw_host_call(b, loads ? LW_HOST_warp_load : LW_HOST_warp_store, b->pass_move_type, arguments);
    }
    LLVMValueRef arguments[] = {b->gang, lw_frame_op(s->u, n), lw_frame_step_address(s->u, n), s->warp, s->now};
    return lw_host_call(b, LW_HOST_step, b->pass_step_type, arguments);
}

/* The lanes of the warp have the frame's slots for themselves while they run, so all of a register may go there. */
void lw_strand_call(lw_strand *s, uint32_t n) {
    const lw_unit *u = s->u;
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(u, n);
    read_by(s, n);
    give_rows(s, s->room, NULL, LW_HOST_warp_lend);
    save_vectors(s, s->room, NULL);
    lw_build_unless(b, call_step(s, n), s->trapped);
    LW_EACH_WRITTEN(u->code, op, at) {
        if (!lw_frame_has(u, *at)) continue;
        if (lw_strand_is_row(s, *at)) take_bases(s, *at, s->now);
        else
            for (uint32_t c = 0; c < s->chunks; c++) lw_strand_put(s, n, *at, c, in_frame(s, *at, c));
    }
}

void lw_strand_or_step(lw_strand *s, uint32_t n, const lw_fork *fork) {
    lw_strand_otherwise(s, fork);
    lw_strand_call(s, n);
    lw_strand_rejoin(s, fork);
}
