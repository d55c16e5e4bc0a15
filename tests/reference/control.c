/* control.c: branches, calls, and what has no effect that a program can see. */
#include "reference.h"

void ref_do_bra(ref_thread *t, const ref_op *op) { t->frame->next = op->in->operands[0].object->statement; }

void ref_do_brx(ref_thread *t, const ref_op *op) {
    uint64_t index = ref_read(t, op, &op->in->operands[0], LW_T_u32);
    const lw_object *table = op->in->operands[1].object;
    if (index >= table->target_count) ref_stop(t, op, REF_TRAP, "index beyond the list of targets");
    else t->frame->next = table->targets[index].object->statement;
}

static const lw_function *function_at(const ref_machine *m, uint64_t address) {
    const lw_module_ptx *module = m->launch->module;
    for (uint32_t k = 0; k < module->functions.count; k++)
        if (address == REF_FUNCTION_BASE + 16 * (uint64_t)module->functions.at[k]->object->number)
            return module->functions.at[k];
    return NULL;
}

void ref_do_call(ref_thread *t, const ref_op *op) {
    lw_call_parts parts;
    lw_ptx_call_parts(op->in, &parts);
    const lw_object *target = parts.target->object;
    const lw_function *callee = target->kind == LW_OBJ_FUNCTION || target->kind == LW_OBJ_ALIAS
                                    ? target->function->object->function
                                    : function_at(t->machine, ref_read(t, op, parts.target, LW_T_u64));
    if (!callee || !callee->has_body || callee->is_entry) ref_stop(t, op, REF_TRAP, "call of no function");
    else ref_call(t, op, callee, &parts);
}

void ref_do_ret(ref_thread *t, const ref_op *op) { (void)op, ref_return(t); }
void ref_do_exit(ref_thread *t, const ref_op *op) { (void)op, ref_exit(t); }
void ref_do_trap(ref_thread *t, const ref_op *op) { ref_stop(t, op, REF_TRAP, "trap"); }
void ref_do_brkpt(ref_thread *t, const ref_op *op) { ref_stop(t, op, REF_TRAP, "breakpoint"); }
void ref_do_nanosleep(ref_thread *t, const ref_op *op) { (void)op, t->yields = true; }

/* Threads run one at a time, so that memory is always in order. */
void ref_do_membar(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_fence(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_prefetch(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_prefetchu(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
/* What is dropped may be anything; here it stays. */
void ref_do_discard(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_applypriority(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
/* No other grid runs. */
void ref_do_griddepcontrol(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_pmevent(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
void ref_do_setmaxnreg(ref_thread *t, const ref_op *op) { (void)t, (void)op; }
