/* live.c: which registers are live into and out of every block: the one solver. */
#include "middle/facts.h"

/* What a lane reads in the block before it writes it, and what it writes for sure. A write that lanes may keep their
 * values in is a read, too. */
static void look_at_op(const lw_live *live, const lw_op *op, bool guarded, uint64_t *exposed, uint64_t *killed) {
    const bool keeps = guarded || lw_op_keeps(op);
    LW_EACH_READ(live->code, op, at) {
        const uint32_t n = live->numbers[*at];
        if (n && !lw_set_has(killed, n - 1)) lw_set_add(exposed, n - 1);
    }
    LW_EACH_WRITTEN(live->code, op, at) {
        const uint32_t n = live->numbers[*at];
        if (!n) continue;
        if (!keeps) lw_set_add(killed, n - 1);
        else if (!lw_set_has(killed, n - 1)) lw_set_add(exposed, n - 1);
    }
}

static void look_at_blocks(const lw_live *live) {
    const lw_code *code = live->code;
    uint32_t block = 0, guard_end = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op->a;
        look_at_op(live, op, n < guard_end, lw_live_set(live, live->exposed, block),
                   lw_live_set(live, live->killed, block));
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
    }
}

static void join(const lw_live *live, uint64_t *out, const uint64_t *in) {
    for (uint32_t w = 0; w < live->words; w++) out[w] |= in[w];
}

/* Of the branches by one table the first that a pass meets looks at all of its blocks and the others take what it
 * found: if there is more by now, there will be another pass. */
static void join_successors(const lw_live *live, uint32_t block) {
    const lw_code *code = live->code;
    const lw_block *from = &code->blocks[block];
    const bool by_table = lw_row_of(lw_block_last(code, block)->code)->goes == LW_GOES_to_table;
    uint64_t *out = lw_live_set(live, live->out, block);
    uint32_t *first = by_table ? &live->tables[from->successors - code->targets] : NULL;
    if (first && *first) {
        join(live, out, lw_live_set(live, live->out, *first - 1));
        return;
    }
    for (uint32_t k = 0; k < from->successor_count; k++)
        join(live, out, lw_live_set(live, live->in, from->successors[k]));
    if (first) *first = block + 1;
}

static bool pass(const lw_live *live) {
    bool changed = false;
    for (uint32_t b = live->code->block_count; b-- > 0;) {
        join_successors(live, b);
        uint64_t *in = lw_live_set(live, live->in, b);
        const uint64_t *out = lw_live_set(live, live->out, b), *exposed = lw_live_set(live, live->exposed, b),
                       *killed = lw_live_set(live, live->killed, b);
        for (uint32_t w = 0; w < live->words; w++) {
            const uint64_t value = exposed[w] | (out[w] & ~killed[w]);
            changed |= value != in[w];
            in[w] = value;
        }
    }
    return changed;
}

bool lw_live_solve(lw_live *live, uint64_t *sets, uint32_t *tables, uint32_t passes) {
    const size_t size = (size_t)live->words * live->code->block_count;
    live->in = sets, live->out = sets + size, live->exposed = sets + 2 * size, live->killed = sets + 3 * size;
    live->tables = tables;
    look_at_blocks(live);
    while (passes-- > 0) {
        if (live->code->target_count) memset(tables, 0, live->code->target_count * sizeof *tables);
        if (!pass(live)) return true;
    }
    return false;
}

void lw_live_over(const lw_code *code, const lw_op *op, bool guarded, uint64_t *set) {
    const bool keeps = guarded || lw_op_keeps(op);
    LW_EACH_WRITTEN(code, op, at) {
        if (keeps) lw_set_add(set, *at);
        else lw_set_remove(set, *at);
    }
    LW_EACH_READ(code, op, at)
    if (!code->registers[*at].is_const) lw_set_add(set, *at);
}
