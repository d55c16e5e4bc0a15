/* trail.c: accesses that go where another one of their block went, but for a constant: unrolled loops, fields of a
 * record, neighbours of a stencil. The first of them looks at all lanes' addresses and leaves a trail, the others
 * follow it (level/memory.c).
 *
 * All have the address in one slot, which nothing between them writes, and nothing between them uses the place of their
 * trail. So whoever finds that the last ones there were the lanes that execute now knows that these had the address
 * that they have. What stands under a guard might not be executed, and leaves none; it may follow, where the lanes are
 * the same ones. */
#include "run/interp/link/link.h"

#include "run/run.h"

typedef struct lw_trails {
    struct {
        uint32_t first; /* operation; LW_NO_SLOT: nobody */
        uint32_t slot;
        lw_memory_form form;
    } at[LW_TRAILS];
    uint32_t next; /* place to be taken next */
} lw_trails;

static void forget(lw_trails *t) {
    for (uint32_t k = 0; k < LW_TRAILS; k++) t->at[k].first = LW_NO_SLOT;
}

/* Whether one tells where the other goes and how it gets there: words go by masked moves only where registers are as
 * wide. */
static bool alike(lw_memory_form a, lw_memory_form b) {
    return a.window == b.window && a.address == b.address && a.size == b.size && a.vector == b.vector &&
           a.slot == b.slot;
}

static bool can_follow(const lw_op *op, lw_memory_form form) {
    return lw_row_of(op->code)->mode == LW_MODE_trail && (form.address == 1 || form.address == 2) && !form.frame &&
           !form.is_volatile && !form.is_indexed;
}

static void find_trail(lw_trails *t, lw_code *code, lw_op *op, bool guarded) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!can_follow(op, form)) return;
    for (uint32_t k = 0; k < LW_TRAILS; k++) {
        if (t->at[k].first == LW_NO_SLOT || t->at[k].slot != op->a || !alike(t->at[k].form, form)) continue;
        code->ops[t->at[k].first].mode = LW_TRAIL_leaves_0 + k;
        op->mode = LW_TRAIL_follows_0 + k;
        return;
    }
    if (guarded) return;
    t->at[t->next].first = (uint32_t)(op - code->ops), t->at[t->next].slot = op->a, t->at[t->next].form = form;
    t->next = (t->next + 1) % LW_TRAILS;
}

void lw_link_trails(lw_code *code) {
    lw_trails t = {0};
    forget(&t);
    for (uint32_t n = 0, guard_end = 0; n < code->op_count; n++) {
        lw_op *op = &code->ops[n];
        const lw_op_row *row = lw_row_of(op->code);
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        if (op->code == LW_OP_block || row->goes != LW_GOES_on || row->list == LW_LIST_call) {
            forget(&t);
            continue;
        }
        find_trail(&t, code, op, n < guard_end);
        LW_EACH_WRITTEN(code, op, at)
        for (uint32_t k = 0; k < LW_TRAILS; k++)
            if (t.at[k].slot == *at) t.at[k].first = LW_NO_SLOT;
    }
}
