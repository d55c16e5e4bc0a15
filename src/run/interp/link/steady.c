/* steady.c: operations that give the same in every CTA of a launch: what is made of parameters, of the launch's shape
 * and of a thread's place in its CTA. Gangs and the frames of their kernel go from CTA to CTA, so each does them once
 * (interp/steady.c), if their registers have slots of their own.
 *
 * Such a register is written by one operation, which traps nowhere and stands under no guard, and is read nowhere else
 * first: so it may have its value from the beginning, wherever the text makes it.
 *
 * With %ctaid among what it is made of it is the same in all lanes of a CTA, if nothing of a thread is: long operations
 * that give such are done once for all lanes. */
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

static bool is_alike_special(uint32_t id) {
    return id == LW_SPECIAL_ntid || id == LW_SPECIAL_ctaid || id == LW_SPECIAL_nctaid;
}

static bool can_be_alike(const lw_program *program, const lw_op *op) {
    return op->code == LW_OP_special ? is_alike_special(op->a) : can_be_steady(program, op);
}

/* It alone writes its results, and nobody reads them before. */
static bool is_only_writer(const lw_link *l, const lw_op *op) {
    bool only = true;
    LW_EACH_WRITTEN(l->code, op, at) {
        const lw_across *across = lw_facts_across(l->code, *at);
        only &= l->vregs.at[*at].defs == 1 && !(across && across->needs_zero);
    }
    return only;
}

/* The branch behind a comparison is a part of it. */
static bool has_branch(const lw_link *l, const lw_op *op) {
    bool has = false;
    LW_EACH_WRITTEN(l->code, op, at) has |= op[1].code == LW_OP_bra_if && op[1].b == *at;
    return has;
}

static bool is_steady(const lw_link *l, const lw_program *program, const lw_op *op) {
    bool steady = can_be_steady(program, op);
    LW_EACH_READ(l->code, op, at) steady &= l->vregs.at[*at].is_const || l->vregs.at[*at].steady;
    return steady && is_only_writer(l, op) && !has_branch(l, op);
}

/* All lanes have the same in it, whichever execute it and how often. */
static bool is_alike(const lw_link *l, const lw_program *program, const lw_op *op) {
    bool alike = can_be_alike(program, op);
    LW_EACH_READ(l->code, op, at) alike &= l->vregs.at[*at].is_const || l->vregs.at[*at].alike;
    return alike && is_only_writer(l, op);
}

/* Places in a grid are taken apart by quotients, which take a gang ten times as long as a sum. */
static bool takes_long(lw_lane_id lane) {
    switch (lane) {
#define BOTH(type) \
    case LW_LANE_div_##type: \
    case LW_LANE_rem_##type:
        BOTH(u16)
        BOTH(s16)
        BOTH(u32)
        BOTH(s32)
        BOTH(u64)
        BOTH(s64)
#undef BOTH
        return true;
    default: return false;
    }
}

void lw_link_steady(lw_link *l, const lw_program *program) {
    lw_code *code = l->code;
    if (!code->is_entry || program->vector.lanes || !code->facts->flow_known) return;
    LW_LIST(uint32_t) once = {0};
    code->steady = lw_arena_array(l->arena, sizeof *code->steady, MOST);
    for (uint32_t n = 0, guard_end = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        if (n < guard_end) continue;
        const bool alike = is_alike(l, program, op);
        if (alike) LW_EACH_WRITTEN(code, op, at) l->vregs.at[*at].alike = true;
        if (code->steady_count < MOST && is_steady(l, program, op)) {
            LW_EACH_WRITTEN(code, op, at) l->vregs.at[*at].steady = true;
            code->steady[code->steady_count++] = n;
        } else if (alike && takes_long(lw_code_lane(op->code))) {
            LW_PUSH(l->arena, once) = n;
        }
    }
    code->once = once.at, code->once_count = once.count;
}
