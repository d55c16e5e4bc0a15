/* stack.c: local memory that a function takes while it runs: the thread's own, which grows and shrinks. What is saved
 * of the stack is its size; the engines have other numbers for it, which no kernel looks at. */
#include "reference.h"

void ref_do_alloca(ref_thread *t, const ref_op *op) {
    const uint64_t size = ref_read(t, op, &op->in->operands[1], op->type);
    uint64_t align = op->in->operand_count > 2 ? op->in->operands[2].value : 8;
    if (align < 8) align = 8;
    const uint64_t at = (t->local_size + align - 1) / align * align;
    if (size > UINT32_MAX || !ref_grow(t, at + size)) ref_stop(t, op, REF_TRAP, "stack overflow");
    else ref_write(t, &op->in->operands[0], op->type, at);
}

void ref_do_stacksave(ref_thread *t, const ref_op *op) { ref_write(t, &op->in->operands[0], op->type, t->local_size); }

void ref_do_stackrestore(ref_thread *t, const ref_op *op) {
    t->local_size = ref_read(t, op, &op->in->operands[0], op->type);
}

/* Kernels of the generator have no references, and what a policy is they do not look at. */
void ref_do_istypep(ref_thread *t, const ref_op *op) { ref_write(t, &op->in->operands[0], LW_T_pred, 0); }
void ref_do_createpolicy(ref_thread *t, const ref_op *op) { ref_write(t, &op->in->operands[0], LW_T_u64, 1); }
