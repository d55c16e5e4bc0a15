/* compact.c: operations that were taken away leave the code, and guards by the same predicate that stand one behind the
 * other become one. */
#include "middle/row.h"

/* The last guard; whether its operations go on, and whether one of them wrote its predicate. */
typedef struct guarded {
    uint32_t guard;
    bool open, written;
} guarded;

void lw_code_compact(lw_code *code, uint32_t *moved) {
    uint32_t to = 0, kept = 0; /* the last that stayed */
    guarded region = {0};
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (moved) moved[n] = LW_NO_SLOT;
        if (op->code == LW_OP_dead) continue;
        if (op->code == LW_OP_guard) {
            const lw_op *last = &code->ops[region.guard];
            bool joins = to && code->ops[to - 1].code == LW_OP_unguard && !region.written &&
                         last->code == LW_OP_guard && last->b == op->b && last->flags == op->flags;
            region.open = true;
            if (joins) {
                to--;
                if (moved) moved[kept] = LW_NO_SLOT;
                continue;
            }
            region = (guarded){.guard = to, .open = true};
        } else if (op->code == LW_OP_unguard) {
            region.open = false;
            if (region.guard + 1 == to) { /* nothing left inside */
                to--;
                if (moved) moved[kept] = LW_NO_SLOT;
                region.guard = 0;
                continue;
            }
            code->ops[region.guard].imm = to - region.guard;
        } else if (region.open) {
            LW_EACH_WRITTEN(code, op, at) region.written |= *at == code->ops[region.guard].b;
        }
        if (op->code == LW_OP_block) code->blocks[op->a].first = to;
        if (to != n) code->ops[to] = *op, code->places[to] = code->places[n];
        if (moved) moved[n] = to;
        kept = n;
        to++;
    }
    code->op_count = to;
}
