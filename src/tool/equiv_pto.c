/* equiv_pto.c: what equiv reads in a text of PTO: its constants, which operation computes a result, and which lanes its
 * page leaves open. For messages and inputs only. */
#include "tool/equiv.h"

static const lw_pto_function *parse(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t, lw_pto_module **module) {
    if (!lw_pto_check(&e->arena, &t->source, &t->diags, LW_PTO_PROFILE_cpu, module)) return NULL;
    return lw_pto_find(*module, side->info.name);
}

/* ---- Constants ------------------------------------------------------------------------------------------------- */

static void add_of_region(lw_equiv *e, const lw_pto_region *region) {
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        if (op->id == LW_PTO_CONSTANT) lw_equiv_constant(e, op->value);
        for (uint32_t k = 0; k < op->region_count; k++) add_of_region(e, &op->regions[k]);
    }
}

static void constants(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t) {
    lw_pto_module *module;
    const lw_pto_function *f = parse(e, side, t, &module);
    if (f) add_of_region(e, &f->body);
}

/* ---- The operation that a returned value, or a stored one, was defined by -------------------------------------- */

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

static lw_place place(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t, uint32_t slot) {
    lw_pto_module *module;
    const lw_place none = {0, 0};
    const lw_pto_function *f = parse(e, side, t, &module);
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

/* ---- What is open ---------------------------------------------------------------------------------------------- */

/* Lanes that a mask leaves out hold what --inactive says: the same as on the other side, or as elsewhere, by choice
 * only. */
static void say_inactive(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t) {
    lw_pto_module *module;
    const lw_pto_function *f = parse(e, side, t, &module);
    if (!f) return;
    lw_pto_check_portable(module);
    for (const lw_diag *d = t->diags.first; d; d = d->next) {
        uint32_t line, column;
        if (d->id != LW_D_pto_portable_inactive || d->place.at < f->place.at || d->place.at > f->body.end.at) continue;
        lw_source_find(&t->source, d->place.at, &line, &column);
        fprintf(stderr, "%s:%u:%u: note[LW%04u]: %s\n", side->file, line, column, lw_diag_rows[d->id].number,
                d->message);
    }
}

const lw_equiv_language lw_equiv_pto = {
    .of = &lw_tool_pto, .constants = constants, .place = place, .say_open = say_inactive};
