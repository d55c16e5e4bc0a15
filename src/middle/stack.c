/* stack.c: alloca, stacksave, stackrestore (manual section 9.7.17).
 *
 * What a function has taken is a register of its own, in bytes behind its variables: 0 when it begins, as any register
 * that nobody has written. It is the stack pointer that programs save and restore. */
#include "middle/ptx.h"

enum { ALIGN_LEAST = 8 };

static uint32_t stack_register(lw_lower *l) {
    if (l->ptx->stack == LW_NO_SLOT) l->ptx->stack = lw_lower_vreg(l, LW_CLASS_32);
    return l->ptx->stack;
}

void lw_lower_alloca(lw_lower *l, const lw_instruction *i) {
    const lw_type type = i->match->type;
    uint32_t a = lw_lower_read(l, &i->operands[1], type), d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    const uint64_t align = i->operand_count > 2 ? i->operands[2].value : ALIGN_LEAST;
    const uint32_t stack = stack_register(l);
    l->program->takes_stack = true;
    lw_op *op = lw_lower_op(l, LW_OP_alloca);
    op->d = d, op->a = a, op->b = op->e = stack, op->c = lw_types[type].bits / 8;
    op->imm = align > ALIGN_LEAST ? align : ALIGN_LEAST;
}

void lw_lower_stacksave(lw_lower *l, const lw_instruction *i) {
    uint32_t d = lw_lower_write(l, &i->operands[0], i->match->type);
    if (!l->failed) lw_lower_move(l, d, lw_lower_resize(l, stack_register(l), l->vregs.at[d].class, false));
}

void lw_lower_stackrestore(lw_lower *l, const lw_instruction *i) {
    uint32_t a = lw_lower_read(l, &i->operands[0], i->match->type);
    if (!l->failed) lw_lower_move(l, stack_register(l), lw_lower_resize(l, a, LW_CLASS_32, false));
}
