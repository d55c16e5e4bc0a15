/* resolve.c: gives every name its object. Declarations come before their uses (manual section 5.4), but for labels,
 * which are known in the whole of their scope. */
#include "front/ptx/resolve.h"

/* ---- Operands ------------------------------------------------------------------------------------------ */

static void resolve_operands(lw_resolver *r, lw_operand *at, uint32_t count);

/* a[3]: scaled by what one step in the first dimension is worth. */
static void resolve_index(lw_resolver *r, lw_operand *o, bool is_mov) {
    const lw_object *v = o->object;
    o->indexed = false;
    if (v->kind != LW_OBJ_VARIABLE || v->space == LW_SPACE_reg || !v->dimension_count) {
        lw_diag_add(r->diags, LW_D_bad_index, o->place, o->name->text);
        o->offset = 0;
        return;
    }
    int64_t step = lw_types[v->type].bits / 8 * v->vector;
    bool over = false;
    for (uint32_t i = 1; i < v->dimension_count; i++) over |= __builtin_mul_overflow(step, v->dimensions[i], &step);
    if (over || __builtin_mul_overflow(o->offset, step, &o->offset))
        lw_diag_add(r->diags, LW_D_too_large, o->place, o->name->text);
    if (is_mov) return;
    lw_operand *base =
        lw_arena_copy(r->arena, o, sizeof *o); /* elsewhere it stands for the element, not for its address */
    base->offset = 0;
    *o = (lw_operand){.kind = LW_O_ADDRESS, .place = o->place, .offset = o->offset, .part_count = 1, .parts = base};
}

static void resolve_name(lw_resolver *r, lw_operand *o) {
    o->object = lw_binding_find(r, o->name, &o->index);
    if (LW_LIKELY(o->object != NULL)) return;
    o->special = lw_binding_special(o->name->bound);
    if (!o->special) lw_report_undeclared(r, o->name, o->place);
}

/* What lies outside of the function is noted, so that a later stage need not look through all operands for it. */
static void note_reached(lw_resolver *r, lw_object *o) {
    bool counts = o->kind == LW_OBJ_VARIABLE && (o->space == LW_SPACE_shared || o->init);
    if (counts || o->kind == LW_OBJ_FUNCTION || o->kind == LW_OBJ_PROTOTYPE || o->kind == LW_OBJ_TARGETS)
        LW_PUSH(r->arena, r->function->reached) = o;
}

static void resolve_operand_name(lw_resolver *r, lw_operand *o) {
    resolve_name(r, o);
    if (o->object && (o->object->kind != LW_OBJ_VARIABLE || o->object->space != LW_SPACE_reg))
        note_reached(r, o->object);
}

static void resolve_operands(lw_resolver *r, lw_operand *at, uint32_t count) {
    for (lw_operand *o = at; o < at + count; o++) {
        if (o->kind == LW_O_NAME) resolve_operand_name(r, o);
        else if (o->part_count) resolve_operands(r, o->parts, o->part_count);
    }
}

/* Only a whole operand can be a[3]. */
static void resolve_indexes(lw_resolver *r, lw_instruction *in) {
    bool is_mov = in->words[0] == r->mov;
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].indexed && in->operands[i].object) resolve_index(r, &in->operands[i], is_mov);
}

static void resolve_instruction(lw_resolver *r, lw_instruction *in) {
    if (in->guard) resolve_name(r, in->guard);
    bool indexed = false;
    for (lw_operand *o = in->operands; o < in->operands + in->operand_count; o++) {
        indexed |= o->indexed;
        if (LW_LIKELY(o->kind == LW_O_NAME)) resolve_operand_name(r, o);
        else if (o->part_count) resolve_operands(r, o->parts, o->part_count);
    }
    if (LW_UNLIKELY(indexed)) resolve_indexes(r, in);
}

/* ---- Declarations of a body ---------------------------------------------------------------------------- */

/* Each register of the declaration, and each element of a vector, has a number of its own. */
static void number_variable(lw_resolver *r, lw_object *o) {
    if (o->space != LW_SPACE_reg) {
        o->number = r->variables++;
        return;
    }
    o->number = (uint32_t)r->registers;
    r->registers += (o->is_range ? (uint64_t)o->range : 1) * o->vector;
    if (r->registers <= UINT32_MAX) return;
    lw_diag_add(r->diags, LW_D_many_registers, o->place);
    r->registers = o->number;
}

static void resolve_variable(lw_resolver *r, lw_object *o) {
    lw_variable_settle(r, o);
    if (o->init) lw_variable_init(r, o);
    lw_binding_declare(r, o);
    number_variable(r, o);
}

static void resolve_targets(lw_resolver *r, lw_object *o) {
    for (uint32_t i = 0; i < o->target_count; i++) {
        lw_operand *t = &o->targets[i];
        resolve_name(r, t);
        if (!t->object) {
            if (t->special)
                lw_diag_add(r->diags, o->is_branch ? LW_D_not_a_label : LW_D_not_a_function, t->place, t->name->text);
            continue;
        }
        lw_object_kind want = o->is_branch ? LW_OBJ_LABEL : LW_OBJ_FUNCTION;
        const lw_object *first = o->targets[0].object;
        if (t->object->kind != want)
            lw_diag_add(r->diags, o->is_branch ? LW_D_not_a_label : LW_D_not_a_function, t->place, t->name->text);
        else if (!o->is_branch && first && first->kind == want &&
                 !lw_signature_same(first->function, t->object->function))
            lw_diag_add(r->diags, LW_D_signature, t->place, t->name->text);
    }
}

/* ---- Labels -------------------------------------------------------------------------------------------- */

/* The labels of a function by scope: those of scope s are at[start[s]] … at[start[s + 1] - 1]. */
typedef struct labels {
    lw_object **at;
    uint32_t *start;
} labels;

static labels sort_labels(lw_resolver *r, const lw_function *f, uint32_t scopes) {
    labels sorted = {LW_NEW_ARRAY(r->arena, lw_object *, f->labels.count),
                     LW_NEW_ARRAY(r->arena, uint32_t, scopes + 2)};
    for (uint32_t i = 0; i < f->labels.count; i++) sorted.start[f->labels.at[i]->scope + 2]++;
    for (uint32_t s = 2; s < scopes + 2; s++) sorted.start[s] += sorted.start[s - 1];
    for (uint32_t i = 0; i < f->labels.count; i++)
        sorted.at[sorted.start[f->labels.at[i]->scope + 1]++] = f->labels.at[i];
    return sorted;
}

static uint32_t count_scopes(const lw_function *f) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < f->body.count; i++) count += f->body.at[i].kind == LW_S_OPEN;
    return count;
}

static void declare_labels(lw_resolver *r, const labels *l, uint32_t scope) {
    for (uint32_t i = l->start[scope]; i < l->start[scope + 1]; i++) lw_binding_declare(r, l->at[i]);
}

/* ---- Bodies -------------------------------------------------------------------------------------------- */

static void resolve_statement(lw_resolver *r, lw_statement *s, const labels *l, uint32_t *scope) {
    switch (s->kind) {
    case LW_S_INSTRUCTION: resolve_instruction(r, s->instruction); break;
    case LW_S_VARIABLE: resolve_variable(r, s->object); break;
    case LW_S_TARGETS:
        lw_gate_check(r, s->object->is_branch ? LW_GATE_branchtargets : LW_GATE_calltargets, s->place);
        resolve_targets(r, s->object);
        break;
    case LW_S_PROTOTYPE:
        lw_gate_check(r, LW_GATE_callprototype, s->place);
        lw_signature_settle(r, s->object->function, true);
        break;
    case LW_S_PRAGMA: lw_gate_check(r, LW_GATE_pragma, s->place); break;
    case LW_S_LOC:
        if (s->loc.rest) lw_gate_check(r, LW_GATE_inlined_at, s->place);
        break;
    case LW_S_OPEN:
        lw_scope_open(r);
        declare_labels(r, l, ++*scope);
        break;
    case LW_S_CLOSE: lw_scope_close(r); break;
    default: break;
    }
}

/* Parameters and the outermost declarations of the body share one scope. */
static void declare_parameters(lw_resolver *r, lw_object **at, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        lw_binding_declare(r, at[i]);
        number_variable(r, at[i]);
    }
}

static void resolve_body(lw_resolver *r, lw_function *f) {
    uint32_t depth = r->scopes.count, scope = 0;
    labels l = sort_labels(r, f, count_scopes(f));
    r->function = f;
    r->registers = r->module_registers;
    r->variables = 0;
    lw_scope_open(r);
    declare_parameters(r, f->returns, f->return_count);
    declare_parameters(r, f->params, f->param_count);
    declare_labels(r, &l, 0);
    for (uint32_t i = 0; i < f->labels.count; i++) f->labels.at[i]->number = i;
    for (uint32_t i = 0; i < f->body.count; i++) resolve_statement(r, &f->body.at[i], &l, &scope);
    while (r->scopes.count > depth) lw_scope_close(r);
    f->label_count = f->labels.count;
    f->register_count = (uint32_t)r->registers;
    r->function = NULL;
    r->registers = r->module_registers;
}

/* ---- The module ---------------------------------------------------------------------------------------- */

/* From here on the name stands for the whole of its declarations. */
static void declare_whole(lw_resolver *r, lw_object *o) {
    lw_binding *b = lw_binding_for(r, o);
    if (!b->object && b->whole) lw_binding_put(r, b, b->whole);
}

/* A comma in the name is none of the directive's. Numbers are kept under keys that are no identifiers. */
static void resolve_file(lw_resolver *r, const lw_item *item) {
    const char *number = item->text + strlen(".file ");
    lw_symbol *key = lw_symbol_get(&r->module->symbols, item->text,
                                   (uint32_t)(number - item->text + (ptrdiff_t)strcspn(number, " ")));
    if (key->bound) lw_diag_add(r->diags, LW_D_file_twice, item->place);
    key->bound = (void *)item;
    if (strchr(strrchr(item->text, '"'), ',')) lw_gate_check(r, LW_GATE_file_stamp, item->place);
}

static void resolve_item(lw_resolver *r, lw_item *item) {
    r->function_serial++;
    switch (item->kind) {
    case LW_ITEM_FILE: resolve_file(r, item); break;
    case LW_ITEM_VARIABLE:
        lw_variable_settle(r, item->object);
        if (item->object->space == LW_SPACE_reg) number_variable(r, item->object);
        r->module->has_common |= item->object->space == LW_SPACE_reg || item->object->space == LW_SPACE_local;
        r->module_registers = r->registers;
        if (item->object->init) lw_variable_init(r, item->object);
        declare_whole(r, item->object);
        break;
    case LW_ITEM_FUNCTION:
        lw_signature_settle(r, item->function, false);
        declare_whole(r, item->function->object);
        if (item->function->has_body) resolve_body(r, item->function);
        break;
    case LW_ITEM_ALIAS: lw_alias_settle(r, item->object); break;
    case LW_ITEM_SECTION:
        lw_gate_check(r, strchr(item->text, ':') ? LW_GATE_section_label : LW_GATE_section, item->place);
        break;
    case LW_ITEM_PRAGMA: lw_gate_check(r, LW_GATE_pragma, item->place); break;
    default: break;
    }
}

void lw_ptx_resolve(lw_module_ptx *module) {
    lw_resolver *r = LW_NEW(module->arena, lw_resolver);
    *r = (lw_resolver){.module = module,
                       .arena = module->arena,
                       .diags = module->diags,
                       .mov = lw_symbol_get(&module->symbols, "mov", 3)};
    lw_scope_open(r);
    lw_module_merge(r);
    if (module->address_size_written) lw_gate_check(r, LW_GATE_address_size, module->target_place);
    for (uint32_t i = 0; i < module->items.count; i++) resolve_item(r, &module->items.at[i]);
    lw_undefined_check(r);
    lw_scope_close(r);
}
