/* equiv_lines.c: which line computes a result, found in the text: for messages only.
 *
 * PTO: the operation that the returned value or the stored one was defined by. PTX: registers that hold a parameter's
 * pointer are followed through the kernel in the order of its text, to the store that goes through one, and to what
 * computed the value stored. */
#include "tool/equiv.h"

/* ---- PTO ------------------------------------------------------------------------------------------------------- */

typedef struct lw_find {        /* the last operation that did it */
    const lw_pto_value *value;  /* defines this value … */
    const lw_pto_value *memref; /* … or stores to this memref: then `stored` is what */
    const lw_pto_value *stored;
    const lw_pto_op *found;
} lw_find;

static void find_in(const lw_pto_region *region, lw_find *find) {
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        for (uint32_t k = 0; k < op->result_count; k++)
            if (find->value && op->results[k] == find->value) find->found = op;
        if (op->id == LW_PTO_VSTORE && find->memref && op->operands[1] == find->memref)
            find->stored = op->operands[0], find->found = op;
        for (uint32_t k = 0; k < op->region_count; k++) find_in(&op->regions[k], find);
    }
}

static lw_place pto_place(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t, uint32_t slot) {
    lw_pto_module *module = NULL;
    const lw_place none = {0, 0};
    if (!lw_pto_check(&e->arena, &t->source, &t->diags, LW_PTO_PROFILE_cpu, &module)) return none;
    const lw_pto_function *f = lw_pto_find(module, side->info.name);
    if (!f || !f->has_body) return none;
    const lw_pto_op *last = f->body.ops[f->body.count - 1];
    lw_find find = {0};
    if (slot >= f->argument_count) {
        find.value = last->operands[slot - f->argument_count];
    } else {
        find.memref = f->arguments[slot];
        find_in(&f->body, &find);
        find = (lw_find){.value = find.stored, .found = find.found};
    }
    if (find.value) find_in(&f->body, &find);
    return find.found ? find.found->place : none;
}

/* ---- PTX ------------------------------------------------------------------------------------------------------- */

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

static lw_place ptx_place(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t, uint32_t slot) {
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

uint32_t lw_equiv_line(lw_equiv *e, uint32_t number, uint32_t slot, const char **text) {
    const lw_equiv_side *side = &e->sides[number];
    lw_equiv_text t;
    uint32_t line, size;
    *text = "";
    if (!lw_equiv_open(e, side, &t)) return 0;
    lw_place place = side->is_pto ? pto_place(e, side, &t, slot) : ptx_place(e, side, &t, slot);
    if (!place.size) return 0;
    lw_source_find(&t.source, place.at, &line, NULL);
    const char *at = lw_source_line(&t.source, line, &size);
    while (size && (*at == ' ' || *at == '\t')) at++, size--;
    *text = lw_arena_text(&e->arena, at, size);
    return line;
}
