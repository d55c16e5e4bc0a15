/* link.c: modules that are loaded together: names with linkage stand for the same thing in all of them.
 *
 * What stands for a name is its strong definition (.visible, an alias, a kernel), or the first weak one, or of common
 * variables the largest. All others of the name are made to mean that one: functions by `function`, as declarations of
 * one module are, variables by `elsewhere`. Names without linkage are of their module alone.
 *
 * Where the manual is silent it is done as the linker of CUDA's toolkit does it: types of variables may differ as long
 * as space and size agree; of parameters integers and untyped bits of a size agree, floats with themselves. */
#include "front/ptx/resolve.h"

typedef enum strength { NOTHING, COMMON, WEAK, STRONG } strength; /* a declaration is nothing */

typedef struct linker {
    lw_arena *arena;
    lw_diags *diags;
    lw_module_ptx *whole;
    lw_symbols names; /* `bound`: the object that stands for the name */
} linker;

/* ---- What a name is in its module ---------------------------------------------------------------------------- */

/* The function that an object means: its own, or that which an alias names. */
static lw_function *function_of(const lw_object *o) { return o->kind == LW_OBJ_FUNCTION ? o->function : NULL; }

/* Of the declaration of a function, where its body has none. */
static lw_linkage linkage_of(const lw_object *o) {
    const lw_function *f = function_of(o);
    return o->linkage || !f ? o->linkage : f->first->object->linkage;
}

/* Kernels are found by their names from outside, whatever their linkage is. */
static bool is_private(const lw_object *o) {
    return linkage_of(o) == LW_LINK_none && !(function_of(o) && function_of(o)->is_entry);
}

static strength strength_of(const lw_object *o) {
    const lw_function *f = function_of(o);
    if (linkage_of(o) == LW_LINK_extern && !(f && f->has_body)) return NOTHING;
    if (f && !f->has_body) return NOTHING;
    if (f && f->object != o) return STRONG; /* an alias */
    if (linkage_of(o) == LW_LINK_weak) return WEAK;
    return linkage_of(o) == LW_LINK_common && !o->init ? COMMON : STRONG; /* with a value it is a definition */
}

/* Registers of old modules are no names that others know. */
static bool is_linked(const lw_object *o) {
    return !is_private(o) && !(o->kind == LW_OBJ_VARIABLE && (o->space == LW_SPACE_reg || o->is_range));
}

/* ---- Faults -------------------------------------------------------------------------------------------------- */

static void note_other(linker *l, const lw_object *other) {
    lw_diag_add(l->diags, LW_D_link_other, other->place, other->name->text);
}

static const char *kind_of(const lw_object *o) {
    const lw_function *f = function_of(o);
    return !f ? "variable" : f->is_entry ? "kernel" : "function";
}

static bool same_kind(linker *l, const lw_object *o, const lw_object *with) {
    if (!strcmp(kind_of(o), kind_of(with))) return true;
    lw_diag_add(l->diags, LW_D_link_kind, o->place, o->name->text, kind_of(o), kind_of(with));
    note_other(l, with);
    return false;
}

/* ---- Whether two of a name agree ------------------------------------------------------------------------------- */

static bool same_parameter(const lw_object *a, const lw_object *b) {
    const lw_type_info *one = &lw_types[a->type], *other = &lw_types[b->type];
    bool same = lw_type_is_number(one) && lw_type_is_number(other) ? one->bits == other->bits : a->type == b->type;
    same &= a->vector == b->vector && a->unsized == b->unsized && a->dimension_count == b->dimension_count;
    for (uint32_t i = 0; same && i < a->dimension_count; i++) same = a->dimensions[i] == b->dimensions[i];
    return same;
}

static bool same_parameters(lw_object **a, uint32_t a_count, lw_object **b, uint32_t b_count) {
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (!same_parameter(a[i], b[i])) return false;
    return true;
}

/* A result that the definition does not give: compilers declare so what a language calls a function without one. Calls
 * of it are right as long as nobody looks at the result. */
static bool is_result_missing(const lw_function *declared, const lw_function *defined) {
    return declared->return_count && !declared->has_body && !defined->return_count;
}

static bool same_signature(linker *l, const lw_object *o, const lw_object *with) {
    const lw_function *a = o->function, *b = with->function;
    const bool missing = is_result_missing(a, b);
    const bool good = (missing || same_parameters(a->returns, a->return_count, b->returns, b->return_count)) &&
                      same_parameters(a->params, a->param_count, b->params, b->param_count);
    if (good && !missing) return true;
    lw_diag_add(l->diags, good ? LW_D_link_no_result : LW_D_link_signature, o->place, o->name->text);
    note_other(l, with);
    return good;
}

/* Of two common variables the larger counts, and who only declares one may know of the smaller. */
static bool fits(const lw_object *o, const lw_object *with) {
    if (o->size == with->size || o->unsized || with->unsized) return true;
    return strength_of(o) == COMMON && o->size < with->size && (with->init || strength_of(with) == COMMON);
}

static bool same_variable(linker *l, const lw_object *o, const lw_object *with) {
    if (o->space != with->space)
        lw_diag_add(l->diags, LW_D_link_space, o->place, o->name->text, lw_space_names[o->space],
                    lw_space_names[with->space]);
    else if (!fits(o, with))
        lw_diag_add(l->diags, LW_D_link_size, o->place, o->name->text, (unsigned long long)o->size,
                    (unsigned long long)with->size);
    else if (o->managed != with->managed)
        lw_diag_add(l->diags, LW_D_link_managed, o->place, o->name->text, o->managed ? "" : "not ",
                    with->managed ? "" : "not ");
    else return true;
    note_other(l, with);
    return false;
}

static bool agrees(linker *l, const lw_object *o, const lw_object *with) {
    return same_kind(l, o, with) && (function_of(o) ? same_signature : same_variable)(l, o, with);
}

/* ---- Which definition stands for a name ---------------------------------------------------------------------- */

static lw_symbol *name_of(linker *l, const lw_object *o) {
    return lw_symbol_find(&l->names, o->name->text, o->name->size, o->name->hash);
}

/* Whether it is the better of two common variables: larger, or initialised. */
static bool is_more(const lw_object *o, const lw_object *than) { return o->size > than->size; }

static bool is_twice(const lw_object *o, const lw_object *known) {
    return strength_of(o) == STRONG && strength_of(known) == STRONG;
}

static void choose(linker *l, lw_object *o) {
    if (!is_linked(o) || strength_of(o) == NOTHING) return;
    lw_symbol *name = name_of(l, o);
    const lw_object *known = name->bound;
    if (!known) {
        name->bound = o;
        return;
    }
    if (is_twice(o, known)) {
        if (!same_kind(l, o, known)) return;
        lw_diag_add(l->diags, LW_D_link_twice, o->place, o->name->text);
        note_other(l, known);
        return;
    }
    const strength s = strength_of(o), of_known = strength_of(known);
    if (s > of_known || (s == COMMON && of_known == COMMON && is_more(o, known))) name->bound = o;
}

/* A declaration takes alignment with it: what one module relies on holds for the variable of the other. */
static void stand_for(lw_object *o, lw_object *whole) {
    if (function_of(o)) {
        o->function = whole->function;
        return;
    }
    o->elsewhere = whole;
    if (whole->align < o->align) whole->align = o->align;
}

static void settle(linker *l, lw_object *o) {
    if (!is_linked(o)) return;
    lw_object *whole = name_of(l, o)->bound;
    if (!whole || whole == o) return;
    if (is_twice(o, whole)) return; /* which has been said */
    if (agrees(l, o, whole)) stand_for(o, whole);
}

/* ---- All names of all modules --------------------------------------------------------------------------------- */

static void visit(linker *l, void (*each)(linker *l, lw_object *o)) {
    for (uint32_t m = 0; m < l->whole->linked_count; m++) {
        const lw_module_ptx *module = l->whole->linked[m];
        for (uint32_t i = 0; i < module->functions.count; i++) each(l, module->functions.at[i]->object);
        for (uint32_t i = 0; i < module->variables.count; i++) each(l, module->variables.at[i]);
    }
}

/* Functions get numbers of all modules: those are their addresses. What stands for another is not listed. */
static void list(linker *l, const lw_module_ptx *module) {
    lw_module_ptx *whole = l->whole;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        lw_function *f = module->functions.at[i];
        if (f->object->function != f) continue;
        f->object->number = whole->functions.count;
        LW_PUSH(l->arena, whole->functions) = f;
    }
    for (uint32_t i = 0; i < module->variables.count; i++)
        if (!module->variables.at[i]->elsewhere) LW_PUSH(l->arena, whole->variables) = module->variables.at[i];
    whole->instruction_count += module->instruction_count;
}

static void check_address_size(linker *l, const lw_module_ptx *module) {
    if (module->address_size == l->whole->address_size) return;
    lw_diag_add(l->diags, LW_D_link_address_size, module->address_place, module->address_size, l->whole->address_size);
    lw_diag_add(l->diags, LW_D_link_other, l->whole->address_place, ".address_size");
}

lw_module_ptx *lw_ptx_link(lw_module_ptx **modules, uint32_t count) {
    lw_module_ptx *whole = LW_NEW(modules[0]->arena, lw_module_ptx);
    *whole = *modules[0];
    memset(&whole->functions, 0, sizeof whole->functions);
    memset(&whole->variables, 0, sizeof whole->variables);
    whole->instruction_count = 0;
    whole->linked = modules;
    whole->linked_count = count;
    linker l = {.arena = whole->arena, .diags = whole->diags, .whole = whole};
    lw_symbols_init(&l.names, l.arena);
    for (uint32_t i = 1; i < count; i++) check_address_size(&l, modules[i]);
    visit(&l, choose);
    visit(&l, settle);
    for (uint32_t i = 0; i < count; i++) list(&l, modules[i]);
    return whole;
}
