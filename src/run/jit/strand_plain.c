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

/* What it gives follows from the launch, and is computed in front of everything. */
bool lw_plain_has(const lw_strand *s, uint32_t n) {
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

/* What is computed in front of everything it reads only where that has been written: what nobody wrote is zero. */
static bool reads_written(const lw_strand *s, uint32_t block, uint32_t n) {
    LW_EACH_READ(s->u->code, lw_unit_op(s->u, n), at)
    if (lw_strand_is_given(s, *at) && !lw_strand_has_come(s, block, n, *at)) return false;
    return true;
}

static bool fits(const lw_strand *s, uint32_t n, bool full) {
    if (s->u->guarded[n]) return false;
    if (lw_forward_goes_on(lw_unit_op(s->u, n))) return true;
    if (lw_plain_has(s, n)) return true;
    return is_access(s->u, n) ? fits_access(s, n, full) : lw_strand_is_short(s, n);
}

/* All lanes end there. */
static bool is_end(const lw_strand *s, uint32_t block) {
    const uint32_t n = s->u->block_at[block] + 1;
    if (!lw_strand_stops_at(s, block) || n >= s->u->count) return false;
    const uint16_t code = lw_unit_op(s->u, n)->code;
    return code == LW_OP_exit || code == LW_OP_ret;
}

/* All that a block does. */
static bool fits_all(const lw_strand *s, uint32_t block, uint32_t *ops, uint32_t *accesses) {
    const lw_unit *u = s->u;
    for (uint32_t n = u->block_at[block] + 1; n < lw_unit_block_end(u, block); n++) {
        if (!fits(s, n, s->plain->way.full[block]) || !reads_written(s, block, n)) return false;
        *ops += 1, *accesses += is_access(u, n);
    }
    return true;
}

static bool find_way(const lw_strand *s) {
    lw_forward *way = &s->plain->way;
    uint32_t ops = 0, accesses = 0;
    way->comes[0] = true;
    for (uint32_t block = 0; block < s->u->code->block_count && ops <= PLAIN_OPS; block++) {
        if (!way->comes[block]) continue;
        way->full[block] = way->farthest <= block; /* nobody can have gone past */
        if (lw_strand_stops_at(s, block)) {
            way->end = block;
            return is_end(s, block) && way->full[block] && accesses && accesses <= PLAIN_ACCESSES;
        }
        if (!fits_all(s, block, &ops, &accesses) || !lw_forward_follow(s, way, block)) return false;
    }
    return false;
}

/* ---- What is asked in front of everything ------------------------------------------------------------------------ */

static void compute_given(lw_strand *s, LLVMBasicBlockRef other) {
    const lw_unit *u = s->u;
    memset(s->room, 0, u->words * sizeof *s->room);
    for (uint32_t block = 0; block < s->plain->way.end; block++)
        for (uint32_t n = u->block_at[block]; s->plain->way.comes[block] && n < lw_unit_block_end(u, block); n++)
            if (lw_plain_has(s, n)) lw_set_add(s->room, lw_unit_op(u, n)->d);
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

/* ---- The way ----------------------------------------------------------------------------------------------------- */

static void emit_way(lw_strand *s, LLVMBasicBlockRef other) {
    const lw_unit *u = s->u;
    lw_forward *way = &s->plain->way;
    lw_strand_begin_way(s, true);
    lw_strand_execute(s, lw_word(s, UINT32_MAX));
    compute_given(s, other);
    for (uint32_t block = 0; block < way->end; block++)
        for (uint32_t n = u->block_at[block]; way->comes[block] && n < lw_unit_block_end(u, block); n++)
            if (is_access(u, n)) ask(s, n, other);
    s->is_plain = true;
    lw_forward_emit(s, way);
    s->is_plain = false;
    lw_set(s, s->now, s->mask);
    lw_set(s, lw_word(s, way->end), s->stop);
    LLVMBuildBr(lw_strand_build(s)->at, s->stops);
}

void lw_strand_emit_plain(lw_strand *s, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    if (!s->u->code->is_entry || s->piece_count > 1) return;
    lw_plain plain = {.hosts = calloc(s->u->count + 1, sizeof *plain.hosts)};
    s->plain = &plain;
    if (!lw_forward_make(&plain.way, s->u->code->block_count) || !plain.hosts) {
        s->u->build->failed = true;
    } else if (find_way(s)) {
        LLVMBasicBlockRef other = lw_build_block(b, "each");
        LLVMValueRef is_whole = lw_build_is(b, LLVMIntEQ, lanes, lw_word(s, UINT32_MAX));
        lw_build_unless(b, is_whole, other);
        emit_way(s, other);
        LLVMPositionBuilderAtEnd(b->at, other);
    }
    lw_forward_free(&plain.way), free(plain.hosts);
    s->plain = NULL;
}
