/* equiv_ptx.c: what equiv reads in a text of PTX: its constants, and which line computes a result: registers that hold
 * a parameter's pointer are followed through the kernel in the order of its text, to the store that goes through one,
 * and to what computed the value stored. For messages and inputs only. */
#include "tool/equiv.h"

/* ---- Constants ------------------------------------------------------------------------------------------------- */

static void add_of_operand(lw_equiv *e, const lw_operand *operand) {
    if (operand->kind == LW_O_INT) lw_equiv_constant(e, operand->value);
    for (uint32_t i = 0; operand->kind == LW_O_VECTOR && i < operand->part_count; i++)
        add_of_operand(e, &operand->parts[i]);
}

static void add_of_function(lw_equiv *e, const lw_function *f) {
    for (uint32_t s = 0; s < f->body.count; s++) {
        const lw_statement *statement = &f->body.at[s];
        if (statement->kind != LW_S_INSTRUCTION) continue;
        const lw_instruction *i = statement->instruction;
        for (uint32_t k = 0; k < i->operand_count; k++) add_of_operand(e, &i->operands[k]);
    }
}

static void constants(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t) {
    (void)side;
    lw_module_ptx *module;
    if (!lw_ptx_check(&e->arena, &t->source, &t->diags, NULL, &module)) return;
    for (uint32_t i = 0; i < module->functions.count; i++) add_of_function(e, module->functions.at[i]);
}

/* ---- The line that computes what is stored ---------------------------------------------------------------------- */

typedef LW_LIST(const lw_symbol *) lw_names;

static bool has(const lw_names *names, const lw_symbol *name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (names->at[i] == name) return true;
    return false;
}

static const lw_operand *inner(const lw_operand *operand) {
    return operand->kind == LW_O_ADDRESS && operand->part_count ? &operand->parts[0] : operand;
}

static bool names_any(const lw_instruction *i, const lw_names *pointers, const lw_object *param) {
    for (uint32_t k = 1; k < i->operand_count; k++) {
        const lw_operand *operand = inner(&i->operands[k]);
        if (operand->kind == LW_O_NAME && operand->name &&
            (has(pointers, operand->name) || (param && operand->object == param)))
            return true;
    }
    return false;
}

static lw_place find_place(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t, uint32_t slot) {
    lw_module_ptx *module = NULL;
    lw_place place = {0, 0};
    if (!lw_ptx_check(&e->arena, &t->source, &t->diags, NULL, &module)) return place;
    const lw_function *f = NULL;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (!strcmp(module->functions.at[i]->object->name->text, side->info.name)) f = module->functions.at[i];
    if (!f || slot >= f->param_count) return place;
    lw_names pointers = {0};
    for (uint32_t s = 0; s < f->body.count; s++) {
        const lw_instruction *i = f->body.at[s].kind == LW_S_INSTRUCTION ? f->body.at[s].instruction : NULL;
        if (!i || i->operand_count < 2) continue;
        const lw_operand *d = inner(&i->operands[0]);
        bool stores = i->match->form->lower == LW_LOWER_st, loads = i->match->form->lower == LW_LOWER_ld;
        if (stores && d->kind == LW_O_NAME && d->name && has(&pointers, d->name)) {
            place = f->body.at[s].place;
            const lw_operand *value = &i->operands[1];
            for (uint32_t b = s; b-- > 0;) { /* what computed the value */
                const lw_instruction *from = f->body.at[b].kind == LW_S_INSTRUCTION ? f->body.at[b].instruction : NULL;
                if (!from || !from->operand_count || value->kind != LW_O_NAME || from->operands[0].kind != LW_O_NAME)
                    continue;
                if (from->operands[0].name != value->name) continue;
                place = f->body.at[b].place;
                break;
            }
        }
        bool of_param = loads && names_any(i, &(lw_names){0}, f->params[slot]);
        if (d->kind == LW_O_NAME && d->name && !stores && (of_param || (!loads && names_any(i, &pointers, NULL))))
            LW_PUSH(&e->arena, pointers) = d->name;
    }
    return place;
}

const lw_equiv_language lw_equiv_ptx = {.of = &lw_tool_ptx, .constants = constants, .place = find_place};
