/* names.c: names and the values that they stand for.
 *
 * The innermost value of a name is its symbol's `bound`; names do not shadow each other, so there is one. When a region
 * ends, its names are unbound and their symbols keep the value in `form`, for a message that says so. */
#include "front/pto/parse.h"

enum { SUGGEST_NAMES = 200 };

/* ---- Definition ------------------------------------------------------------------------------------------ */

static lw_pto_value *new_values(lw_pto_parser *p, lw_symbol *name, lw_place place, lw_pto_value_kind kind,
                                uint32_t parts) {
    uint32_t count = parts ? parts : 1;
    lw_pto_value *values = LW_NEW_ARRAY(p->arena, lw_pto_value, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = (lw_pto_value){.kind = kind,
                                   .name = name,
                                   .part = i,
                                   .parts = parts,
                                   .place = place,
                                   .number = p->function->value_count++};
    return values;
}

static void bind(lw_pto_parser *p, lw_symbol *name, lw_pto_value *value) {
    name->bound = value;
    LW_PUSH(p->arena, p->scope) = name;
}

static void defined_twice(lw_pto_parser *p, const lw_pto_value *before, lw_place place) {
    lw_diag *diag = lw_diag_add(p->diags, LW_D_pto_defined_twice, place, before->name->text);
    if (before->kind == LW_PTO_REGISTER) diag->fix = "a register is written again by the assembly or DPS form";
    lw_diag_add(p->diags, LW_D_pto_defined_here, before->place);
}

/* The message about an early use says where the definition is. */
static void defined_late(lw_pto_parser *p, const lw_pto_value *before, lw_place place) {
    uint32_t line;
    lw_source_find(p->lexer.source, place.at, &line, NULL);
    for (uint32_t i = 0; i < p->undefined.count; i++)
        if (p->undefined.at[i].value == before)
            p->undefined.at[i].diag->fix = lw_arena_printf(p->arena, "it is defined further down, in line %u", line);
}

lw_pto_value *lw_pto_define(lw_pto_parser *p, lw_symbol *name, lw_place place, lw_pto_value_kind kind, uint32_t parts) {
    lw_pto_value *before = name->bound, *value = new_values(p, name, place, kind, parts);
    if (before && !before->unknown) defined_twice(p, before, place);
    else if (before) {
        defined_late(p, before, place);
        name->bound = value; /* its place in p->scope remains */
    } else bind(p, name, value);
    return value;
}

/* ---- Use -------------------------------------------------------------------------------------------------- */

static const char *suggest(lw_pto_parser *p, const lw_symbol *name) {
    const char *names[SUGGEST_NAMES];
    uint32_t count = 0;
    for (uint32_t i = p->scope.count; i-- && count < SUGGEST_NAMES;) {
        const lw_symbol *other = p->scope.at[i];
        const lw_pto_value *value = other->bound;
        if (!value->unknown) names[count++] = other->text;
    }
    const char *near = lw_nearest(name->text, names, count);
    return near ? lw_arena_say(p->arena, "did you mean '%s'?", near) : NULL;
}

static lw_pto_value *undefined(lw_pto_parser *p, lw_symbol *name, lw_place place) {
    const lw_pto_value *ended = name->form;
    lw_diag *diag = NULL;
    if (ended) {
        lw_diag_add(p->diags, LW_D_pto_out_of_region, place, name->text);
        lw_diag_add(p->diags, LW_D_pto_defined_here, ended->place);
    } else {
        diag = lw_diag_add(p->diags, LW_D_pto_undefined, place, name->text);
        if (diag->message) diag->fix = suggest(p, name);
    }
    lw_pto_value *value = new_values(p, name, place, LW_PTO_RESULT, 0);
    value->unknown = true;
    if (diag && diag->message) LW_PUSH(p->arena, p->undefined) = (lw_pto_undefined){value, diag};
    bind(p, name, value);
    return value;
}

lw_pto_value *lw_pto_use(lw_pto_parser *p, lw_symbol *name, uint32_t part, lw_place place) {
    lw_pto_value *value = name->bound;
    if (LW_UNLIKELY(!value)) value = undefined(p, name, place);
    if (LW_LIKELY(!part) || value->unknown) return value;
    uint32_t parts = value->parts ? value->parts : 1;
    if (part <= parts) return value + part - 1;
    lw_diag_add(p->diags, LW_D_pto_no_part, place, name->text, (unsigned long long)part - 1);
    return value;
}

/* ---- Destinations ----------------------------------------------------------------------------------------- */

static void bad_destination(lw_pto_parser *p, const lw_pto_value *value, lw_place place) {
    const char *what = value->kind == LW_PTO_RESULT    ? "the result"
                       : value->kind == LW_PTO_CARRIED ? "the loop variable"
                                                       : "the argument";
    lw_diag_add(p->diags, LW_D_pto_not_destination, place, what, value->name->text);
    lw_diag_add(p->diags, LW_D_pto_defined_here, value->place);
}

static bool is_register(const lw_pto_value *value) {
    bool type = !value->type || value->type->kind == LW_PTO_VREG || value->type->kind == LW_PTO_MASK;
    return type && (value->kind == LW_PTO_REGISTER || value->kind == LW_PTO_ARGUMENT);
}

lw_pto_value *lw_pto_destination(lw_pto_parser *p, const lw_pto_written *name, const lw_pto_type *type, lw_pto_op *op,
                                 bool *merges) {
    lw_pto_value *value = name->name->bound;
    if (!value || value->unknown) {
        if (name->part) {
            lw_diag_add(p->diags, LW_D_pto_no_part, name->place, name->name->text, (unsigned long long)name->part - 1);
            op->faulty = true;
        }
        value = lw_pto_define(p, name->name, name->place, LW_PTO_REGISTER, 0);
        value->type = type;
        value->op = op;
    } else if (!is_register(value) || name->part) {
        bad_destination(p, value, name->place);
        op->faulty = true;
    } else if (value->type && type && value->type != type) {
        lw_diag_add(p->diags, LW_D_pto_register_type, name->place, name->name->text, value->type->text, type->text);
        lw_diag_add(p->diags, LW_D_pto_defined_here, value->place);
        op->faulty = true;
    } else {
        *merges = true;
    }
    value->written = true;
    return value;
}

/* ---- Scopes ------------------------------------------------------------------------------------------------ */

void lw_pto_end_scope(lw_pto_parser *p, uint32_t mark) {
    for (uint32_t i = mark; i < p->scope.count; i++) {
        lw_symbol *name = p->scope.at[i];
        const lw_pto_value *value = name->bound;
        name->form = value->unknown ? NULL : name->bound;
        name->bound = NULL;
        LW_PUSH(p->arena, p->ended) = name;
    }
    p->scope.count = mark;
}

void lw_pto_end_names(lw_pto_parser *p) {
    for (uint32_t i = 0; i < p->scope.count; i++) p->scope.at[i]->bound = NULL;
    for (uint32_t i = 0; i < p->ended.count; i++) p->ended.at[i]->form = NULL;
    p->scope.count = p->ended.count = p->undefined.count = 0;
}

void lw_pto_define_unknown(lw_pto_parser *p, lw_pto_range names) {
    for (uint32_t i = 0; i < names.count; i++) {
        const lw_pto_result_name *n = &p->names.at[names.from + i];
        if (n->name->bound) continue;
        lw_pto_value *value = new_values(p, n->name, n->place, LW_PTO_RESULT, 0);
        value->unknown = true;
        bind(p, n->name, value);
    }
}
