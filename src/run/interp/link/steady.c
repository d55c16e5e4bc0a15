/* steady.c: operations that give the same in every CTA of a launch: what is made of parameters, of the launch's shape
 * and of a thread's place in its CTA. Gangs and the frames of their kernel go from CTA to CTA, so each does them once
 * (interp/steady.c), if their registers have slots of their own.
 *
 * Such a register is written by one operation, which traps nowhere and stands under no guard, and is read nowhere else
 * first: so it may have its value from the beginning, wherever the text makes it. */
#include "base/special_id.h"
#include "run/interp/link/link.h"

enum { MOST = 32 }; /* as much as a first-level cache holds, if all have 64 bits */

static bool is_steady_special(uint32_t id) {
    switch (id) {
    case LW_SPECIAL_tid:
    case LW_SPECIAL_ntid:
    case LW_SPECIAL_nctaid:
    case LW_SPECIAL_laneid:
    case LW_SPECIAL_warpid:
    case LW_SPECIAL_nwarpid:
    case LW_SPECIAL_lanemask_eq:
    case LW_SPECIAL_lanemask_le:
    case LW_SPECIAL_lanemask_lt:
    case LW_SPECIAL_lanemask_ge:
    case LW_SPECIAL_lanemask_gt: return true;
    default: return false;
    }
}

static bool is_parameter(const lw_program *program, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    return !form.address && lw_is_parameter_at(program, form, op->imm);
}

static bool can_be_steady(const lw_program *program, const lw_op *op) {
    if (op->code == LW_OP_ld) return is_parameter(program, op);
    if (op->code == LW_OP_special) return is_steady_special(op->a);
    return op->code >= LW_OP_lop3 && !lw_op_keeps(op);
}

static bool is_steady(const lw_link *l, const lw_program *program, const lw_op *op) {
    const lw_code *code = l->code;
    bool steady = can_be_steady(program, op);
    LW_EACH_READ(code, op, at) steady &= l->vregs.at[*at].is_const || l->vregs.at[*at].steady;
    LW_EACH_WRITTEN(code, op, at) {
        const lw_across *across = lw_facts_across(code, *at);
        steady &= l->vregs.at[*at].defs == 1 && !(across && across->needs_zero);
        /* the branch behind a comparison is a part of it */
        steady &= !(op[1].code == LW_OP_bra_if && op[1].b == *at);
    }
    return steady;
}

void lw_link_steady(lw_link *l, const lw_program *program) {
    lw_code *code = l->code;
    if (!code->is_entry || program->vector.lanes || !code->facts->flow_known) return;
    code->steady = lw_arena_array(l->arena, sizeof *code->steady, MOST);
    for (uint32_t n = 0, guard_end = 0; n < code->op_count && code->steady_count < MOST; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        if (n < guard_end || !is_steady(l, program, op)) continue;
        LW_EACH_WRITTEN(code, op, at) l->vregs.at[*at].steady = true;
        code->steady[code->steady_count++] = n;
    }
}
