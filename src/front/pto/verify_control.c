/* verify_control.c: loops, branches and returns: do the values that go around have the types that they are wanted
 * with? */
#include "front/pto/verify.h"

/* The yield of a region against the results of its operation. */
static void check_yield(lw_pto_verifier *v, const lw_pto_op *op, const lw_pto_region *region) {
    const lw_pto_op *yield = region->count ? region->ops[region->count - 1] : NULL;
    if (!yield || yield->id != LW_PTO_YIELD) return; /* reported */
    if (yield->operand_count != op->result_count) {
        lw_diag_add(v->diags, LW_D_pto_yield_count, yield->name_place, yield->operand_count,
                    lw_pto_plural(yield->operand_count), op->result_count, lw_pto_plural(op->result_count));
        return;
    }
    for (uint32_t i = 0; i < op->result_count && !yield->faulty; i++) {
        const lw_pto_value *have = yield->operands[i], *want = op->results[i];
        if (!have->type || !want->type || have->type == want->type) continue;
        lw_diag_add(v->diags, LW_D_pto_yield_type, yield->operand_places[i], have->name->text, have->type->text, i,
                    want->type->text);
        return;
    }
}

static bool is_signed(const lw_pto_type *t) {
    return t->kind == LW_PTO_SCALAR && lw_pto_scalars[t->element].kind == 'S';
}

static void check_step(lw_pto_verifier *v, const lw_pto_op *op) {
    const lw_pto_op *step = op->operands[2]->op;
    if (!step || step->id != LW_PTO_CONSTANT || op->operands[2]->kind != LW_PTO_RESULT) return;
    if ((int64_t)step->value > 0) return;
    lw_diag_add(v->diags, LW_D_pto_step, op->operand_places[2], (long long)step->value);
}

void lw_pto_verify_for(lw_pto_verifier *v, const lw_pto_op *op) {
    static const char *const names[] = {"lower", "upper", "step"};
    bool good = is_signed(op->type);
    if (!good) lw_diag_add(v->diags, LW_D_pto_loop_variable, op->type_place, op->type->text);
    for (uint32_t i = 0; i < 3 && good; i++) {
        const lw_pto_type *t = op->operands[i]->type;
        if (!t || t == op->type) continue;
        lw_diag *diag =
            lw_diag_add(v->diags, LW_D_pto_loop_type, op->operand_places[i], names[i], t->text, op->type->text);
        if (is_signed(t) && op->type->element == LW_PTO_index)
            diag->fix = lw_arena_printf(v->arena, "a loop over %s ends in `: %s {`; arith.index_cast makes an index",
                                        t->text, t->text);
        good = false;
    }
    for (uint32_t i = 1; i < op->regions->argument_count; i++)
        lw_pto_verify_type(v, op->regions->arguments[i]->type, op->regions->arguments[i]->place);
    if (good) check_step(v, op);
    check_yield(v, op, op->regions);
}

void lw_pto_verify_if(lw_pto_verifier *v, const lw_pto_op *op) {
    const lw_pto_type *t = op->operands[0]->type;
    if (t && !(t->kind == LW_PTO_SCALAR && t->element == LW_PTO_i1))
        lw_diag_add(v->diags, LW_D_pto_not_bool, op->operand_places[0], "the condition of scf.if", t->text);
    for (uint32_t i = 0; i < op->result_count; i++) lw_pto_verify_type(v, op->results[i]->type, op->results[i]->place);
    for (uint32_t i = 0; i < op->region_count; i++) check_yield(v, op, &op->regions[i]);
}

void lw_pto_verify_return(lw_pto_verifier *v, const lw_pto_op *op) {
    const lw_pto_function *f = v->function;
    if (op->operand_count != f->result_count) {
        lw_diag_add(v->diags, LW_D_pto_return_count, op->name_place, op->operand_count,
                    lw_pto_plural(op->operand_count), f->result_count, lw_pto_plural(f->result_count));
        return;
    }
    for (uint32_t i = 0; i < f->result_count && !op->faulty; i++) {
        const lw_pto_value *have = op->operands[i];
        if (!have->type || have->type == f->results[i]) continue;
        lw_diag_add(v->diags, LW_D_pto_yield_type, op->operand_places[i], have->name->text, have->type->text, i,
                    f->results[i]->text);
        return;
    }
}
