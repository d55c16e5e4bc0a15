/* resolve_module.c: the several declarations of a name at module scope, signatures, aliases (manual sections 11.2
 * to 11.6). */
#include "front/ptx/resolve.h"

enum { OLD_PARAMETERS = 256, SMALL_PARAMETERS = 4352, LARGE_PARAMETERS = 32764 };

/* ---- Functions ----------------------------------------------------------------------------------------- */

static bool same_dimensions(const lw_object *a, const lw_object *b) {
    if (a->dimension_count != b->dimension_count) return false;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] != b->dimensions[i]) return false;
    return true;
}

/* Before the declarations are settled. */
static uint32_t align_of(const lw_object *o) {
    uint32_t natural = lw_types[o->type].bits / 8 * o->vector;
    return o->align ? o->align : natural ? natural : 1;
}

static bool same_parameters(lw_object **a, uint32_t a_count, lw_object **b, uint32_t b_count) {
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++) {
        bool same = a[i]->space == b[i]->space && a[i]->type == b[i]->type && a[i]->vector == b[i]->vector;
        if (!same || !same_dimensions(a[i], b[i])) return false;
        if (a[i]->space == LW_SPACE_param && align_of(a[i]) != align_of(b[i])) return false;
    }
    return true;
}

/* What callers rely on. */
static bool same_rules(const lw_function *a, const lw_function *b) {
    for (lw_tuning_id id = LW_TUNING_none + 1; id < LW_TUNING_count; id++) {
        const lw_directive *one = lw_function_tuning(a, id), *other = lw_function_tuning(b, id);
        if (!lw_tunings[id].once || (!one && !other)) continue;
        if (!one || !other || (one->value_count && one->values[0] != other->values[0])) return false;
    }
    return true;
}

bool lw_signature_same(const lw_function *a, const lw_function *b) {
    return a->is_entry == b->is_entry && same_rules(a, b) &&
           same_parameters(a->returns, a->return_count, b->returns, b->return_count) &&
           same_parameters(a->params, a->param_count, b->params, b->param_count);
}

static void note(lw_resolver *r, const lw_object *first) {
    lw_diag_add(r->diags, LW_D_declared_here, first->place, first->name->text);
}

static void differs(lw_resolver *r, lw_diag_id id, const lw_object *second, const lw_object *first) {
    lw_diag_add(r->diags, id, second->place, second->name->text);
    note(r, first);
}

static void merge_function(lw_resolver *r, lw_function *f) {
    lw_object *o = f->object;
    lw_binding *b = lw_binding_of(r, o->name);
    if (lw_binding_special(b)) lw_diag_add(r->diags, LW_D_special_name, o->place, o->name->text);
    if (f->has_body && o->linkage == LW_LINK_extern)
        lw_diag_add(r->diags, LW_D_extern_function, o->place, o->name->text);
    if (!b->whole) {
        b->whole = o;
        return;
    }
    if (b->whole->kind != LW_OBJ_FUNCTION) {
        lw_report_duplicate(r, o, b->whole);
        return;
    }
    const lw_function *known = b->whole->function;
    f->first = known->first;
    if (!lw_signature_same(f, f->first)) differs(r, LW_D_signature, o, f->first->object);
    else if (f->has_body && known->has_body) differs(r, LW_D_redefined, o, b->whole);
    else if (f->has_body && f->first->object->linkage == LW_LINK_extern)
        differs(r, LW_D_extern_function, o, f->first->object);
    else if (known->has_body) differs(r, LW_D_late_declaration, o, b->whole);
    else if ((o->linkage || f->first->object->linkage == LW_LINK_extern) && o->linkage != f->first->object->linkage)
        differs(r, LW_D_linkage_differs, o, f->first->object);
    if (f->has_body && !known->has_body) b->whole = o;
}

/* ---- Variables ----------------------------------------------------------------------------------------- */

/* An external array may leave its first dimension to the definition. */
static bool same_variable(const lw_object *a, const lw_object *b) {
    if (a->space != b->space || a->type != b->type || a->vector != b->vector) return false;
    if (a->dimension_count != b->dimension_count) return false;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] != b->dimensions[i] && !(i == 0 && (a->unsized || b->unsized))) return false;
    return true;
}

static void merge_variable(lw_resolver *r, lw_object *o) {
    lw_binding *b = lw_binding_for(r, o);
    if (!o->is_range && lw_binding_special(b)) lw_diag_add(r->diags, LW_D_special_name, o->place, o->name->text);
    if (!b->whole) {
        b->whole = o;
        return;
    }
    bool was_extern = b->whole->linkage == LW_LINK_extern, is_extern = o->linkage == LW_LINK_extern;
    if (b->whole->kind != LW_OBJ_VARIABLE || (!was_extern && !is_extern)) lw_report_duplicate(r, o, b->whole);
    else if (!same_variable(o, b->whole)) differs(r, LW_D_variable_differs, o, b->whole);
    else if ((was_extern && o->linkage == LW_LINK_none) || (is_extern && b->whole->linkage == LW_LINK_none))
        differs(r, LW_D_extern_static, o, b->whole);
    if (was_extern && !is_extern && b->whole->kind == LW_OBJ_VARIABLE) b->whole = o;
}

void lw_module_merge(lw_resolver *r) {
    lw_module_ptx *m = r->module;
    for (uint32_t i = 0; i < m->items.count; i++) {
        lw_item *item = &m->items.at[i];
        if (item->kind == LW_ITEM_FUNCTION) merge_function(r, item->function);
        else if (item->kind == LW_ITEM_VARIABLE) merge_variable(r, item->object);
    }
    for (uint32_t i = 0; i < m->items.count; i++) {
        lw_item *item = &m->items.at[i];
        lw_object *o = item->kind == LW_ITEM_FUNCTION ? item->function->object : item->object;
        if (item->kind != LW_ITEM_FUNCTION && item->kind != LW_ITEM_VARIABLE) continue;
        lw_object *whole = lw_binding_for(r, o)->whole;
        bool first = !whole->listed; /* where a name is declared twice, its place is that of its first declaration */
        whole->listed = true;
        if (o->kind == LW_OBJ_FUNCTION && whole->kind == LW_OBJ_FUNCTION) o->function = whole->function;
        if (!first) continue;
        if (whole->kind == LW_OBJ_FUNCTION) {
            whole->number = m->functions.count;
            LW_PUSH(r->arena, m->functions) = whole->function;
        } else {
            whole->number = m->variables.count;
            LW_PUSH(r->arena, m->variables) = whole;
        }
    }
}

/* ---- What the module as a whole must hold ----------------------------------------------------------------- */

void lw_undefined_check(lw_resolver *r) {
    for (uint32_t i = 0; i < r->module->functions.count; i++) {
        const lw_function *f = r->module->functions.at[i];
        const lw_object *first = f->first->object;
        if (f->has_body || f->object->function->has_body || first->linkage == LW_LINK_extern) continue;
        lw_diag_add(r->diags, LW_D_undefined_here, first->place, first->name->text);
    }
}

/* ---- Signatures ---------------------------------------------------------------------------------------- */

/* The parameters of a kernel lie one behind the other, each at its alignment. */
static void lay_out_parameters(lw_resolver *r, lw_function *f) {
    const lw_module_ptx *m = r->module;
    uint32_t most = m->version >= 81 && m->target >= 70 ? LARGE_PARAMETERS
                    : m->version < 15                   ? OLD_PARAMETERS
                                                        : SMALL_PARAMETERS;
    uint64_t size = 0;
    for (uint32_t i = 0; i < f->param_count; i++) {
        lw_object *o = f->params[i];
        o->address = (size + o->align - 1) & ~(uint64_t)(o->align - 1);
        size = o->address + o->size;
        if (size > most) {
            lw_diag_add(r->diags, LW_D_parameters_large, o->place, f->object->name->text, (unsigned long long)size,
                        most);
            return;
        }
    }
    f->param_bytes = (uint32_t)size;
}

static void check_directive(lw_resolver *r, const lw_function *f, const lw_directive *d) {
    const lw_tuning *row = &lw_tunings[d->tuning];
    const char *name = d->name->text;
    lw_gate_directive(r, d);
    if (row->limit && d->value_count && d->values[0] > row->limit)
        lw_diag_add(r->diags, LW_D_literal_range, d->place, name, (unsigned long long)row->limit);
    if (row->once && lw_function_tuning(f, d->tuning) != d) lw_diag_add(r->diags, LW_D_tuning_twice, d->place, name);
    for (uint32_t k = 0; row->positive && k < d->value_count; k++)
        if (!d->values[k]) lw_diag_add(r->diags, LW_D_tuning_zero, d->place, name);
    if (row->gone && r->module->version >= row->gone)
        lw_diag_add(r->diags, LW_D_tuning_gone, d->place, name, row->gone / 10, row->gone % 10);
}

static void check_directives(lw_resolver *r, const lw_function *f) {
    for (uint32_t i = 0; i < f->directives.count; i++) check_directive(r, f, &f->directives.at[i]);
    const lw_directive *end = lw_function_tuning(f, LW_TUNING_noreturn);
    if (end && f->return_count) lw_diag_add(r->diags, LW_D_noreturn_result, end->place);
    if (end && end != f->directives.at) lw_diag_add(r->diags, LW_D_noreturn_late, end->place);
    const lw_directive *most = lw_function_tuning(f, LW_TUNING_maxntid),
                       *exact = lw_function_tuning(f, LW_TUNING_reqntid);
    if (most && exact) lw_diag_add(r->diags, LW_D_tuning_conflict, exact->place, exact->name->text, most->name->text);
    const lw_directive *rank = lw_function_tuning(f, LW_TUNING_maxclusterrank),
                       *shape = lw_function_tuning(f, LW_TUNING_reqnctapercluster);
    if (rank && shape) lw_diag_add(r->diags, LW_D_tuning_conflict, shape->place, shape->name->text, rank->name->text);
    const lw_directive *blocks = lw_function_tuning(f, LW_TUNING_blocksareclusters);
    if (blocks && (!exact || !shape)) lw_diag_add(r->diags, LW_D_tuning_needs, blocks->place, blocks->name->text);
}

static void check_results(lw_resolver *r, const lw_function *f) {
    for (uint32_t i = 0; f->return_count > 1 && i < f->return_count; i++)
        if (f->returns[i]->space != LW_SPACE_reg) {
            lw_diag_add(r->diags, LW_D_many_results, f->returns[i]->place);
            return;
        }
}

void lw_signature_settle(lw_resolver *r, lw_function *f, bool in_prototype) {
    for (uint32_t i = 0; i < f->return_count; i++) lw_parameter_settle(r, f->returns[i], f, in_prototype);
    for (uint32_t i = 0; i < f->param_count; i++) lw_parameter_settle(r, f->params[i], f, in_prototype);
    lw_linkage_gate(r, f->object);
    check_results(r, f);
    if (f->is_entry) lay_out_parameters(r, f);
    if (f->is_entry && !f->has_body) lw_gate_check(r, LW_GATE_kernel_prototype, f->object->place);
    check_directives(r, f);
}

/* ---- Aliases ------------------------------------------------------------------------------------------- */

/* Whoever calls the alias calls the function that it stands for. */
void lw_alias_settle(lw_resolver *r, lw_object *alias) {
    lw_gate_check(r, LW_GATE_alias, alias->place);
    lw_operand *target = alias->targets;
    lw_object *name = lw_binding_of(r, alias->name)->object;
    target->object = lw_binding_of(r, target->name)->object;
    lw_function *f = target->object && target->object->kind == LW_OBJ_FUNCTION ? target->object->function : NULL;
    bool weak = f && (target->object->linkage == LW_LINK_weak || f->first->object->linkage == LW_LINK_weak);
    bool aliased = f && f->object != target->object;
    if (!f || !f->has_body || f->is_entry || weak || aliased || target->object == name) {
        lw_diag_add(r->diags, LW_D_alias_target, target->place, target->name->text);
        return;
    }
    alias->function = f;
    if (!name || name->kind != LW_OBJ_FUNCTION || name->function->has_body) {
        lw_diag_add(r->diags, LW_D_alias_body, alias->place, alias->name->text);
        return;
    }
    if (!lw_signature_same(name->function, f)) differs(r, LW_D_signature, alias, target->object);
    name->function = f;
}
