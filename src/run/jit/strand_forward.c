/* strand_forward.c: blocks that lanes go through forwards only, and in which nobody can be held up. They are done in
 * the order of the text, each by those lanes that come to it, of which the masks are at hand: nobody is noted as ready
 * anywhere, nor looked for. So goes the plain way of a whole warp (strand_plain.c); and so do the short ways within
 * others, from a branch at which lanes part to the block where all meet again. */
#include "run/jit/strand_word.h"

#include <stdlib.h>

/* A short way's operations; and those of a block that is done whether lanes come or not:
 * of more LLVM makes one long block, for which it takes longer than it runs faster. */
enum { WAY_OPS = 2048, BLOCK_OPS = 1 };

bool lw_forward_make(lw_forward *f, uint32_t blocks) {
    f->comes = calloc(blocks, sizeof *f->comes);
    f->full = calloc(blocks, sizeof *f->full);
    f->inside = calloc(blocks, sizeof *f->inside);
    f->on = calloc(blocks, sizeof *f->on);
    return f->comes && f->full && f->inside && f->on;
}
void lw_forward_free(lw_forward *f) { free(f->comes), free(f->full), free(f->inside), free(f->on); }

bool lw_forward_goes_on(const lw_op *op) { return op->code == LW_OP_bra || op->code == LW_OP_bra_if; }

/* ---- Where a block goes on --------------------------------------------------------------------------------------- */

static void come_to(lw_forward *f, uint32_t block) {
    f->comes[block] = true;
    if (block > f->farthest) f->farthest = block;
}

bool lw_forward_follow(const lw_strand *s, lw_forward *f, uint32_t block) {
    const lw_unit *u = s->u;
    const uint32_t end = lw_unit_block_end(u, block);
    for (uint32_t n = u->block_at[block] + 1; n < end; n++) {
        const lw_op *op = lw_unit_op(u, n);
        if (!lw_forward_goes_on(op)) continue;
        if (op->a <= block) return false;
        come_to(f, op->a);
    }
    if (lw_unit_op(u, end - 1)->code == LW_OP_bra) return true;
    if (block + 1 == u->code->block_count) return false;
    come_to(f, block + 1);
    return true;
}

/* ---- Short ways -------------------------------------------------------------------------------------------------- */

/* An access of device memory, which is done where it stands, by a step if it must be. */
static bool is_access(const lw_op *op) {
    if (op->code != LW_OP_ld && op->code != LW_OP_st) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    return lw_strand_moves(form) && form.window == LW_WINDOW_global;
}

static bool fits(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (s->u->guarded[n]) return false;
    if (lw_forward_goes_on(op)) return op->code == LW_OP_bra || lw_strand_parts(s, op); /* else others' registers go */
    return is_access(op) || lw_strand_is_short(s, n);
}

static bool is_short(const lw_strand *s, uint32_t block, uint32_t *ops) {
    const lw_unit *u = s->u;
    if (!lw_strand_is_here(s, block) || lw_strand_stops_at(s, block) || lw_strand_enters(s, block)) return false;
    for (uint32_t n = u->block_at[block] + 1; n < lw_unit_block_end(u, block); n++)
        if (!fits(s, n) || ++*ops > WAY_OPS) return false;
    return true;
}

/* Some of a set are from one number up to another. */
static bool has_some(const uint64_t *set, uint32_t first, uint32_t end) {
    for (uint32_t w = first / 64; w * 64 < end; w++) {
        const uint64_t above = w > first / 64 ? ~0ull : ~0ull << first % 64;
        const uint64_t below = end - w * 64 < 64 ? ~(~0ull << (end - w * 64)) : ~0ull;
        if (set[w] & above & below) return true;
    }
    return false;
}

/* Nobody comes in, or is ready there, but from the way's first block on. */
static bool is_closed(const lw_strand *s, uint32_t head, uint32_t end) {
    const lw_unit *u = s->u;
    for (uint32_t block = 0; block < u->code->block_count; block++) {
        if (!s->reached[block] || (head <= block && block < end)) continue;
        const lw_block *b = &u->code->blocks[block];
        for (uint32_t k = 0; k < b->successor_count; k++)
            if (head < b->successors[k] && b->successors[k] < end) return false;
        if (has_some(lw_strand_behind(s, block), head + 1, end)) return false;
    }
    return true;
}

bool lw_forward_find(const lw_strand *s, lw_forward *f, uint32_t head) {
    const lw_unit *u = s->u;
    const lw_op *last = lw_unit_op(u, lw_unit_block_end(u, head) - 1);
    uint32_t ops = 0;
    if (!lw_strand_parts(s, last)) return false;
    memset(f->comes, 0, u->code->block_count * sizeof *f->comes);
    f->farthest = 0;
    if (!lw_forward_follow(s, f, head)) return false;
    for (uint32_t block = head + 1; block < f->farthest; block++) {
        if (!f->comes[block] && s->reached[block]) return false;
        if (f->comes[block] && !(is_short(s, block, &ops) && lw_forward_follow(s, f, block))) return false;
    }
    f->first = head + 1, f->end = f->farthest;
    return lw_strand_is_here(s, f->end) && is_closed(s, head, f->end);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void go(const lw_strand *s, const lw_forward *f, uint32_t block, LLVMValueRef lanes) {
    LLVMValueRef place = block < f->end ? f->on[block] : NULL;
    if (place) lw_set(s, LLVMBuildOr(lw_strand_build(s)->at, lw_get(s, place), lanes, ""), place);
}

/* Those that stay. */
static LLVMValueRef branch(lw_strand *s, const lw_forward *f, const lw_op *op, LLVMValueRef lanes) {
    LLVMValueRef to = op->code == LW_OP_bra ? lanes : lw_strand_chosen(s, op, lanes);
    go(s, f, op->a, to);
    return LLVMBuildXor(lw_strand_build(s)->at, to, lanes, "");
}

static void emit_ops(lw_strand *s, const lw_forward *f, uint32_t block) {
    const lw_unit *u = s->u;
    const uint32_t end = lw_unit_block_end(u, block);
    LLVMValueRef stay = s->now;
    for (uint32_t n = u->block_at[block] + 1; n < end;) {
        if (lw_forward_goes_on(lw_unit_op(u, n))) stay = branch(s, f, lw_unit_op(u, n++), stay);
        else if (s->is_plain && lw_plain_has(s, n) && !lw_strand_is_body(u, n)) n++;
        else n = lw_strand_op(s, n, end);
    }
    if (lw_unit_op(u, end - 1)->code != LW_OP_bra) go(s, f, block + 1, stay);
}

static uint64_t counted(const lw_strand *s, uint32_t block) { return lw_unit_op(s->u, s->u->block_at[block])->imm; }

/* Where nobody may come it is passed over if nobody does. */
static void emit_some(lw_strand *s, const lw_forward *f, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef on = lw_build_block(b, "");
    lw_build_if(b, lw_build_is(b, LLVMIntNE, s->now, lw_word(s, 0)), on);
    lw_strand_begin_way(s, false);
    lw_strand_count(s, counted(s, block), true);
    emit_ops(s, f, block);
    LLVMBuildBr(b->at, on);
    LLVMPositionBuilderAtEnd(b->at, on);
    lw_strand_end_way(s);
    s->sure_count = s->reach_count = 0; /* what has been asked in there is not known behind it */
}

/* Next to nothing is done by nobody sooner than passed over. */
static bool is_small(const lw_strand *s, uint32_t block) {
    const uint32_t first = s->u->block_at[block] + 1, end = lw_unit_block_end(s->u, block);
    for (uint32_t n = first; n < end; n++)
        if (is_access(lw_unit_op(s->u, n))) return false;
    return end - first <= BLOCK_OPS;
}

static void make_masks(lw_strand *s, lw_forward *f) {
    for (uint32_t block = f->first; block < f->end; block++) {
        f->on[block] = NULL;
        if (!f->comes[block] || f->full[block]) continue;
        f->on[block] = lw_build_stack(lw_strand_build(s), lw_strand_build(s)->i32);
        lw_set(s, lw_word(s, 0), f->on[block]);
    }
}

static void emit_blocks(lw_strand *s, const lw_forward *f) {
    LLVMValueRef all = s->now;
    for (uint32_t block = f->first; block < f->end; block++) {
        if (!f->comes[block]) continue;
        lw_strand_execute(s, f->full[block] ? all : lw_get(s, f->on[block]));
        lw_strand_join(s, lw_unit_live(s->u, s->u->block_at[block]));
        if (f->full[block]) {
            lw_strand_count(s, counted(s, block), true);
            emit_ops(s, f, block);
        } else if (!s->is_plain && is_small(s, block)) {
            lw_strand_count(s, counted(s, block), false);
            emit_ops(s, f, block);
        } else {
            emit_some(s, f, block);
        }
    }
    lw_strand_execute(s, all);
}

void lw_forward_emit(lw_strand *s, lw_forward *f) {
    make_masks(s, f);
    emit_blocks(s, f);
}

void lw_forward_emit_from(lw_strand *s, lw_forward *f, const lw_op *op) {
    make_masks(s, f);
    for (uint32_t block = f->first; block < f->end; block++) f->inside[block] = true;
    go(s, f, f->first, branch(s, f, op, s->now));
    emit_blocks(s, f);
    lw_strand_join(s, lw_unit_live(s->u, s->u->block_at[f->end]));
}
