/* strand_plain.c: the plain way of a whole warp, from the kernel's first block to its end: where there is no loop,
 * memory is accessed in rows that follow from the launch, and nothing else is done that somebody has to be asked for.
 * Such a warp asks once, in front of everything, whether all its accesses may go where they go, and goes on without a
 * question; if not, it goes the way of all others, and nothing has happened.
 *
 * The blocks are done in the order of the text, each by those lanes that come to it: their masks are at hand, and all
 * lanes are where none can have gone past. Whoever stays out of a load reads there all the same: it may. */
#include "run/jit/strand_course.h"
#include "run/jit/strand_word.h"

#include <stdlib.h>

/* More than that is worth the compiler's time no more: what is asked on the other way is little beside it. */
enum { PLAIN_OPS = 160, PLAIN_ACCESSES = 24 };

/* ---- Whether there is one ---------------------------------------------------------------------------------------- */

/* What it gives follows from the launch, and has been computed in front of everything. */
static bool is_given(const lw_strand *s, uint32_t n) {
    LW_EACH_WRITTEN(s->u->code, lw_unit_op(s->u, n), at) return s->given[*at] == n + 1;
    return false;
}

static bool fits_access(const lw_strand *s, uint32_t n, bool full) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course;
    if (!lw_course_is_row(s, op, &course) || course.form.window != LW_WINDOW_global) return false;
    if (!lw_strand_is_given(s, op->a)) return false;
    if (op->code == LW_OP_ld) return lw_strand_loads_one(s, n) || !lw_shape_alike(&course.shape);
    if (op->flags & LW_OP_IMM_A || course.form.is_const || lw_shape_alike(&course.shape)) return false;
    return full || lw_course_stores_by_mask(s, &course);
}

static bool is_access(const lw_unit *u, uint32_t n) {
    uint64_t at;
    const lw_op *op = lw_unit_op(u, n);
    return (op->code == LW_OP_ld && !lw_is_parameter(u->program, u->code, op, &at)) || op->code == LW_OP_st;
}
static bool is_branch(const lw_op *op) { return op->code == LW_OP_bra || op->code == LW_OP_bra_if; }

static bool fits(const lw_strand *s, uint32_t block, uint32_t n, bool full) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (s->u->guarded[n]) return false;
    if (is_branch(op)) return op->a > block;
    if (is_given(s, n)) return true;
    return is_access(s->u, n) ? fits_access(s, n, full) : lw_strand_is_short(s, n);
}

/* All lanes end there. */
static bool is_end(const lw_strand *s, uint32_t block) {
    const uint32_t n = s->u->block_at[block] + 1;
    if (!lw_strand_stops_at(s, block) || n >= s->u->count) return false;
    const uint16_t code = lw_unit_op(s->u, n)->code;
    return code == LW_OP_exit || code == LW_OP_ret;
}

/* Of one block that is come to: all it does, and where it goes on: a mark for each block, and the farthest one. */
static bool follow(lw_strand *s, uint32_t block, uint32_t *farthest, uint32_t *ops, uint32_t *accesses) {
    const lw_unit *u = s->u;
    lw_plain *plain = s->plain;
    const uint32_t end = lw_unit_block_end(u, block);
    for (uint32_t n = u->block_at[block] + 1; n < end; n++) {
        const lw_op *op = lw_unit_op(u, n);
        if (!fits(s, block, n, plain->full[block])) return false;
        *ops += 1, *accesses += is_access(u, n);
        if (!is_branch(op)) continue;
        plain->comes[op->a] = true;
        if (op->a > *farthest) *farthest = op->a;
    }
    if (lw_unit_op(u, end - 1)->code == LW_OP_bra) return true;
    if (block + 1 == u->code->block_count) return false;
    plain->comes[block + 1] = true;
    if (block + 1 > *farthest) *farthest = block + 1;
    return true;
}

static bool find_way(lw_strand *s) {
    const lw_unit *u = s->u;
    lw_plain *plain = s->plain;
    uint32_t farthest = 0, ops = 0, accesses = 0;
    plain->comes[0] = true;
    for (uint32_t block = 0; block < u->code->block_count && ops <= PLAIN_OPS; block++) {
        if (!plain->comes[block]) continue;
        plain->full[block] = farthest <= block;
        if (lw_strand_stops_at(s, block)) {
            plain->end = block;
            return is_end(s, block) && plain->full[block] && accesses && accesses <= PLAIN_ACCESSES;
        }
        if (!follow(s, block, &farthest, &ops, &accesses)) return false;
    }
    return false;
}

/* False: no memory, which is noted. */
static bool make_plain(lw_strand *s) {
    const lw_unit *u = s->u;
    lw_plain *plain = s->plain;
    plain->comes = calloc(u->code->block_count, sizeof *plain->comes);
    plain->full = calloc(u->code->block_count, sizeof *plain->full);
    plain->on = calloc(u->code->block_count, sizeof *plain->on);
    plain->hosts = calloc(u->count + 1, sizeof *plain->hosts);
    if (plain->comes && plain->full && plain->on && plain->hosts) return true;
    return !(u->build->failed = true);
}

/* ---- What is asked in front of everything ------------------------------------------------------------------------ */

static void compute_given(lw_strand *s, LLVMBasicBlockRef other) {
    const lw_unit *u = s->u;
    memset(s->room, 0, u->words * sizeof *s->room);
    for (uint32_t block = 0; block < s->plain->end; block++)
        for (uint32_t n = u->block_at[block]; s->plain->comes[block] && n < lw_unit_block_end(u, block); n++)
            if (is_given(s, n)) lw_set_add(s->room, lw_unit_op(u, n)->d);
    lw_strand_recall(s, s->room, other);
}

static void ask(lw_strand *s, uint32_t n, LLVMBasicBlockRef other) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t run = lw_strand_loads_one(s, n);
    lw_course course;
    if (run) course = lw_course_of_runs(s, op, run);
    else if (!lw_course_find(s, op, &course)) lw_bug("operation %u goes in no row", n);
    const uint32_t comb = run || op->code == LW_OP_st ? 0 : lw_course_comb(&course);
    if (comb) course.slack = comb - course.bytes;
    lw_course_check(s, n, &course, op->code == LW_OP_st);
    lw_build_unless(lw_strand_build(s), course.good, other);
    s->plain->hosts[n] = course.host;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void execute(lw_strand *s, LLVMValueRef lanes) {
    s->now = lanes;
    for (uint32_t c = 0; c < s->chunks; c++) s->on_ways[c] = 0;
}

static void go(const lw_strand *s, uint32_t block, LLVMValueRef lanes) {
    LLVMValueRef place = s->plain->on[block];
    if (place) lw_set(s, LLVMBuildOr(lw_strand_build(s)->at, lw_get(s, place), lanes, ""), place);
}

/* The lanes that stay, where some do. */
static LLVMValueRef branch(lw_strand *s, const lw_op *op, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    if (op->code == LW_OP_bra) {
        go(s, op->a, lanes);
        return lanes;
    }
    LLVMValueRef p = lw_strand_word(s, op->b);
    if (op->flags & LW_OP_NEGATE) p = LLVMBuildNot(b->at, p, "");
    LLVMValueRef to = LLVMBuildAnd(b->at, p, lanes, "");
    go(s, op->a, to);
    return LLVMBuildXor(b->at, to, lanes, "");
}

static void emit_ops(lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    const uint32_t end = lw_unit_block_end(u, block);
    LLVMValueRef stay = s->now;
    lw_strand_count(s, lw_unit_op(u, u->block_at[block])->imm);
    for (uint32_t n = u->block_at[block] + 1; n < end;) {
        if (is_branch(lw_unit_op(u, n))) stay = branch(s, lw_unit_op(u, n++), stay);
        else if (is_given(s, n) && !lw_strand_is_body(u, n)) n++;
        else n = lw_strand_op(s, n, end);
    }
    if (lw_unit_op(u, end - 1)->code != LW_OP_bra) go(s, block + 1, stay);
}

/* Where nobody may come it is passed over if nobody does. */
static void emit_some(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef on = lw_build_block(b, "");
    LLVMValueRef all = s->now, lanes = lw_get(s, s->plain->on[block]);
    lw_build_if(b, lw_build_is(b, LLVMIntNE, lanes, lw_word(s, 0)), on);
    lw_strand_begin_way(s, false);
    execute(s, lanes);
    emit_ops(s, block);
    LLVMBuildBr(b->at, on);
    LLVMPositionBuilderAtEnd(b->at, on);
    lw_strand_end_way(s);
    execute(s, all);
}

/* ---- The way ----------------------------------------------------------------------------------------------------- */

static void make_masks(lw_strand *s) {
    for (uint32_t block = 0; block < s->plain->end; block++) {
        if (!s->plain->comes[block] || s->plain->full[block]) continue;
        s->plain->on[block] = lw_build_stack(lw_strand_build(s), lw_strand_build(s)->i32);
        lw_set(s, lw_word(s, 0), s->plain->on[block]);
    }
}

static void emit_way(lw_strand *s, LLVMBasicBlockRef other) {
    const lw_unit *u = s->u;
    const lw_plain *plain = s->plain;
    lw_strand_begin_way(s, true);
    execute(s, lw_word(s, UINT32_MAX));
    compute_given(s, other);
    for (uint32_t block = 0; block < plain->end; block++)
        for (uint32_t n = u->block_at[block]; plain->comes[block] && n < lw_unit_block_end(u, block); n++)
            if (is_access(u, n) && !is_given(s, n)) ask(s, n, other);
    make_masks(s);
    s->is_plain = true;
    for (uint32_t block = 0; block < plain->end; block++) {
        if (!plain->comes[block]) continue;
        if (plain->full[block]) emit_ops(s, block);
        else emit_some(s, block);
    }
    s->is_plain = false;
    lw_set(s, s->now, s->mask);
    lw_set(s, lw_word(s, plain->end), s->stop);
    LLVMBuildBr(lw_strand_build(s)->at, s->stops);
}

void lw_strand_emit_plain(lw_strand *s, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    lw_plain plain = {0};
    if (!s->u->code->is_entry || s->piece_count > 1) return;
    s->plain = &plain;
    if (make_plain(s) && find_way(s)) {
        LLVMBasicBlockRef other = lw_build_block(b, "each");
        LLVMValueRef is_whole = lw_build_is(b, LLVMIntEQ, lanes, lw_word(s, UINT32_MAX));
        lw_build_unless(b, is_whole, other);
        emit_way(s, other);
        LLVMPositionBuilderAtEnd(b->at, other);
    }
    free(plain.comes), free(plain.full), free(plain.on), free(plain.hosts);
    s->plain = NULL;
}
