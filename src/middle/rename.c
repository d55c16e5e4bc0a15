/* rename.c: a register that is written again in the same block is another one from there on. Text that is not in single
 * assignment uses one for many things, of which nothing could be said that is true of all. Linear in the number of
 * operations. */
#include "middle/lower.h"

/* All lanes that execute get a new value, and nobody looks at the old one. */
static bool is_whole(const lw_lower *l, const lw_op *op, const uint32_t *written) {
    if (lw_op_keeps(op)) return false;
    LW_EACH_READ(l->code, op, at) if (at == written) return false;
    return true;
}

/* Per operation: it is under a guard. */
static bool *find_guarded(const lw_lower *l) {
    bool *guarded = LW_NEW_ARRAY(l->arena, bool, l->ops.count);
    uint32_t end = 0;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        if (l->ops.at[n].code == LW_OP_guard) end = n + (uint32_t)l->ops.at[n].imm + 1;
        guarded[n] = n < end;
    }
    return guarded;
}

/* Per operation: what it writes is written again as a whole further down in its block. Backward. Returns how often. */
static uint32_t find_ending(const lw_lower *l, const bool *guarded, bool *ends) {
    uint32_t *block_of = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count); /* that writes it again: 1 + its number */
    uint32_t count = 0, block = 1;
    for (uint32_t n = l->ops.count; n-- > 0;) {
        const lw_op *op = &l->ops.at[n];
        uint32_t registers = 0;
        LW_EACH_WRITTEN(l->code, op, at) {
            const bool is_new = !guarded[n] && is_whole(l, op, at);
            ends[n] |= is_new && block_of[*at] == block;
            registers++;
        }
        if (registers > 1) ends[n] = false; /* few, and not worth a mark for each */
        count += ends[n];
        LW_EACH_WRITTEN(l->code, op, at) if (!guarded[n] && is_whole(l, op, at)) block_of[*at] = block;
        block += op->code == LW_OP_block;
    }
    return count;
}

void lw_rename(lw_lower *l) {
    const bool *guarded = find_guarded(l);
    bool *ends = LW_NEW_ARRAY(l->arena, bool, l->ops.count);
    const uint32_t count = l->vregs.count, more = find_ending(l, guarded, ends);
    if (!more) return;
    uint32_t *now = LW_NEW_ARRAY(l->arena, uint32_t, count + more); /* the name that a register has, in … */
    uint32_t *block_of = LW_NEW_ARRAY(l->arena, uint32_t, count + more), block = 1;
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        block += op->code == LW_OP_block;
        LW_EACH_READ(l->code, op, at) if (*at < count && block_of[*at] == block) *at = now[*at];
        LW_EACH_WRITTEN(l->code, op, at) {
            if (*at >= count) continue; /* it reads it, too */
            const uint32_t reg = *at;
            const bool is_new = !guarded[n] && is_whole(l, op, at);
            if (is_new) {
                block_of[reg] = block;
                now[reg] = ends[n] ? lw_lower_vreg(l, l->vregs.at[reg].class) : reg;
            }
            if (block_of[reg] == block) *at = now[reg];
        }
    }
}
