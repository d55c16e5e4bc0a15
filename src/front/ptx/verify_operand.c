/* verify_operand.c: one operand against what its form says. */
#include "front/ptx/verify.h"

static const char *mnemonic(const lw_verifier *v) { return v->instruction->mnemonic->text; }

/* What an operand is, in words. */
const char *lw_operand_kind_name(const lw_operand *o) {
    switch (o->kind) {
    case LW_O_INT: return "an integer constant";
    case LW_O_FLOAT: return "a floating point constant";
    case LW_O_SINK: return "'_'";
    case LW_O_ADDRESS: return "an address in brackets";
    case LW_O_VECTOR: return "a vector";
    case LW_O_PAIR: return "a pair";
    case LW_O_LIST: return "a list";
    case LW_O_NAME: break;
    }
    if (o->special) return "a special register";
    if (!o->object) return "an unknown name";
    switch (o->object->kind) {
    case LW_OBJ_VARIABLE: return o->object->space == LW_SPACE_reg ? "a register" : "a variable";
    case LW_OBJ_FUNCTION:
    case LW_OBJ_ALIAS: return "a function";
    case LW_OBJ_LABEL: return "a label";
    case LW_OBJ_PROTOTYPE: return "a call prototype";
    case LW_OBJ_TARGETS: return "a list of targets";
    }
    return "something else";
}

static const char *wanted(const lw_operand_form *form) {
    switch (form->shape) {
    case LW_SHAPE_VALUE:
    case LW_SHAPE_SPECIAL:
        return form->written || form->type == LW_T_none ? "a register" : "a register or constant";
    case LW_SHAPE_REG: return "a register";
    case LW_SHAPE_IMM: return "an integer constant";
    case LW_SHAPE_SOURCE: return "a register, constant, variable or special register";
    case LW_SHAPE_LABEL: return "a label";
    case LW_SHAPE_TARGETS: return "the name of a .branchtargets list";
    case LW_SHAPE_FUNC: return "a function";
    case LW_SHAPE_LIST: return "a list in parentheses";
    case LW_SHAPE_ADDRESS: return "an address in brackets";
    default: return "something else";
    }
}

static void wrong_kind(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (form->written)
        lw_diag_add(v->diags, LW_D_not_writable, o->place, number, mnemonic(v));
    else
        lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), wanted(form),
                    lw_operand_kind_name(o))
            ->fix = lw_fix_kind(o, form);
}

/* ---- Registers and constants -------------------------------------------------------------------------- */

static void register_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                             uint32_t number) {
    const lw_object *r = o->object;
    bool element = o->select >= LW_SEL_x && o->select <= LW_SEL_w;
    if (LW_UNLIKELY(o->negated) && v->module->source->text[o->place.at] == '-')
        return; /* the parser has said so */
    if (LW_UNLIKELY(o->negated) && (form->type != LW_T_pred || form->written)) {
        lw_diag_add(v->diags, form->written ? LW_D_not_writable : LW_D_negation_not_allowed, o->place, number,
                    mnemonic(v))
            ->fix = form->written ? NULL : "use not, or neg, first";
    } else if (LW_UNLIKELY(o->select) &&
               (element ? r->vector <= (uint8_t)(o->select - LW_SEL_x) || r->vector < 2
                        : !form->selectable)) {
        lw_diag_add(v->diags, LW_D_selector_not_allowed, o->place, number, mnemonic(v),
                    lw_select_names[o->select])
            ->fix = lw_fix_selector(v, o, form);
    } else if (LW_UNLIKELY(r->vector > 1 && !element)) {
        lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
    } else if (LW_UNLIKELY(o->offset)) {
        lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), wanted(form), "a sum")->fix =
            lw_fix_kind(o, form);
    } else if (LW_UNLIKELY(!(form->takes >> r->type & 1))) {
        const char *want = form->type ? lw_types[form->type].name : "b32";
        lw_diag_add(v->diags, LW_D_operand_type, o->place, number, mnemonic(v), want, o->name->text,
                    lw_types[r->type].name)
            ->fix = lw_fix_type(v, form, r->type);
    }
}

static void constant_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                             uint32_t number) {
    const lw_type_info *want = &lw_types[form->type];
    bool fits;
    if (form->type == LW_T_none)
        fits = form->shape != LW_SHAPE_REG && (o->kind == LW_O_INT || !form->is_address);
    else if (o->kind == LW_O_INT)
        fits = strchr("BUSP", want->kind) || want->name[0] == 'u' || want->name[0] == 's';
    else if (want->kind == 'B')
        fits = want->bits == (o->single ? 32 : 64);
    else
        fits = want->kind == 'F';
    if (!fits)
        lw_diag_add(v->diags, LW_D_constant_type, o->place, number, mnemonic(v), want->name,
                    o->kind == LW_O_INT ? "integer" : "floating point")
            ->fix = lw_fix_constant(v, o, want);
}

/* The vectors of old were 16 bits wide, %gridid 32. */
static bool special_type_fits(const lw_special_row *row, const lw_operand_form *form) {
    enum { CLUSTERS = 78 };
    if (form->type == LW_T_none || form->takes >> row->type & 1) return true;
    uint32_t bits = lw_types[form->type].bits;
    return (row->vector && bits == 16 && row->isa < CLUSTERS) || (row == &lw_specials[LW_SPECIAL_gridid] && bits == 32);
}

static void special_gates(lw_verifier *v, const lw_operand *o, const lw_special_row *row) {
    unsigned version = v->module->version, target = v->module->target;
    if (LW_LIKELY(version >= row->isa && target >= row->sm)) return;
    const char *name = lw_verify_text(v, "'%s'", row->text);
    if (version < row->isa)
        lw_diag_add(v->diags, LW_D_needs_version, o->place, name, row->isa / 10u, row->isa % 10u,
                    version / 10, version % 10);
    else if (target < row->sm)
        lw_diag_add(v->diags, LW_D_needs_target, o->place, name, row->sm, target);
}

static void special_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                            uint32_t number) {
    const lw_special_row *row = &lw_specials[o->special - 1];
    bool taken = form->shape == LW_SHAPE_SOURCE || form->shape == LW_SHAPE_SPECIAL, whole = form->vector > 1;
    if (!taken || form->written || lw_types[form->type].kind == 'F') {
        lw_diag_add(v->diags, LW_D_special_not_allowed, o->place, o->name->text, mnemonic(v))->fix =
            form->written ? NULL : "copy it into a register with mov first";
    } else if (o->select && (!row->vector || o->select > LW_SEL_w)) {
        lw_diag_add(v->diags, LW_D_selector_not_allowed, o->place, number, mnemonic(v),
                    lw_select_names[o->select]);
    } else if (whole ? !row->vector || o->select || form->vector != 4 : row->vector && !o->select) {
        lw_diag_add(v->diags, LW_D_special_element, o->place, o->name->text)->fix =
            whole ? NULL : lw_verify_text(v, "%s.x, %s.y or %s.z", row->text, row->text, row->text);
    } else if (!special_type_fits(row, form)) {
        lw_diag_add(v->diags, LW_D_operand_type, o->place, number, mnemonic(v), lw_types[form->type].name,
                    o->name->text, lw_types[row->type].name);
    } else {
        special_gates(v, o, row);
    }
}

/* ---- Addresses ---------------------------------------------------------------------------------------- */

static void address_register(lw_verifier *v, const lw_operand *base) {
    const lw_object *r = base->object;
    const lw_type_info *type = &lw_types[r->type];
    if (!strchr("BUS", type->kind) || type->bits < 16 || type->bits > 64 ||
        (r->vector > 1 && !base->select)) {
        lw_diag_add(v->diags, LW_D_address_type, base->place, base->name->text, type->name,
                    v->module->address_size == 32 ? "32" : "64");
        return;
    }
    lw_space space = v->match->space;
    if (v->module->address_size == 64 && type->bits == 32 &&
        (space == LW_SPACE_none || space == LW_SPACE_global))
        lw_diag_add(v->diags, LW_D_address_width, base->place, mnemonic(v), base->name->text);
}

/* A variable whose address an instruction takes must be where the instruction looks. */
static void address_space(lw_verifier *v, const lw_operand *base, bool by_name) {
    lw_space have = base->object->space, want = v->match->space;
    bool reached = have == LW_SPACE_global || have == LW_SPACE_shared || have == LW_SPACE_local;
    if (want == LW_SPACE_none && by_name && !reached)
        lw_diag_add(v->diags, LW_D_generic_space, base->place, base->name->text, lw_space_names[have]);
    else if (want != LW_SPACE_none && have != want)
        lw_diag_add(v->diags, LW_D_space_mismatch, base->place, base->name->text, lw_space_names[have],
                    mnemonic(v), lw_space_names[want]);
}

static void address_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                            uint32_t number) {
    if (o->kind != LW_O_ADDRESS) {
        if (!lw_is_unresolved(o)) wrong_kind(v, o, form, number);
        return;
    }
    const lw_operand *base = o->part_count ? &o->parts[0] : NULL;
    if (!base || base->kind != LW_O_NAME || lw_is_unresolved(base)) return;
    if (o->part_count > 1) return; /* tensor and texture forms: coordinates follow */
    const lw_object *object = base->object;
    if (!object || object->kind != LW_OBJ_VARIABLE)
        lw_diag_add(v->diags, LW_D_operand_kind, base->place, number, mnemonic(v), "an address",
                    lw_operand_kind_name(base));
    else if (object->space == LW_SPACE_reg)
        address_register(v, base);
    else
        address_space(v, base, v->match->form->step != LW_STEP_none);
}

/* ---- Vectors ------------------------------------------------------------------------------------------ */

static void scalar_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number);

static void elements(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    lw_operand_form one = *form;
    one.vector = 1;
    one.sink = form->written;
    uint32_t errors = v->diags->errors, bits = 0;
    for (uint32_t i = 0; i < o->part_count; i++) {
        const lw_operand *p = &o->parts[i];
        scalar_operand(v, p, &one, number);
        if (v->diags->errors != errors) return;
        if (!lw_is_register(p)) continue;
        if (bits && bits != lw_types[p->object->type].bits) {
            lw_diag_add(v->diags, LW_D_vector_mixed, p->place, number, mnemonic(v));
            return;
        }
        bits = lw_types[p->object->type].bits;
    }
}

/* The type of each of `count` constants that fill `whole` together. */
static lw_type part_type(lw_type whole, uint32_t count) {
    for (lw_type t = LW_T_b8; t <= LW_T_b64; t++)
        if (lw_types[t].bits * count == lw_types[whole].bits) return t;
    return LW_T_none;
}

/* mov between a { } list and one register: the parts' sizes add up to the type. */
static void packed_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                           uint32_t number) {
    lw_type type = LW_T_none;
    for (uint32_t i = 0; i < o->part_count && !type; i++)
        if (lw_is_register(&o->parts[i])) type = o->parts[i].object->type;
    lw_operand_form part = *form;
    part.vector = 1;
    part.sink = form->written;
    part.type = type;
    part.takes = ~(1u << LW_T_pred);
    part.shape = LW_SHAPE_SPECIAL;
    if (!type && !form->written) part.type = type = part_type(form->type, o->part_count);
    if (lw_types[form->type].kind != 'B' || !type) {
        lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
        return;
    }
    uint32_t bits = lw_types[type].bits, errors = v->diags->errors;
    for (uint32_t i = 0; i < o->part_count; i++) {
        const lw_operand *p = &o->parts[i];
        if (lw_is_unresolved(p)) return;
        scalar_operand(v, p, &part, number);
        if (v->diags->errors != errors) return;
        if (lw_is_register(p) && lw_types[p->object->type].bits != bits) {
            lw_diag_add(v->diags, LW_D_vector_mixed, p->place, number, mnemonic(v));
            return;
        }
    }
    if (type && bits * o->part_count != lw_types[form->type].bits)
        lw_diag_add(v->diags, LW_D_vector_total, o->place, number, mnemonic(v), bits * o->part_count,
                    lw_types[form->type].name, lw_types[form->type].bits);
}

static void vector_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                           uint32_t number) {
    if (!form->braces) {
        lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
    } else if (form->vector == 0) {
        if (o->part_count > 1 || lw_types[form->type].kind != 'B')
            packed_operand(v, o, form, number);
        else
            elements(v, o, form, number);
    } else if (o->part_count == form->vector) {
        elements(v, o, form, number);
    } else if (form->vector == 1) {
        lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
    } else {
        lw_diag_add(v->diags, LW_D_vector_size, o->place, number, mnemonic(v), form->vector, o->part_count,
                    o->part_count == 1 ? "is" : "are");
    }
}

/* ---- Pairs -------------------------------------------------------------------------------------------- */

static void pair_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (!form->pair || o->part_count != 2) {
        lw_diag_add(v->diags, LW_D_pair_not_allowed, o->place, mnemonic(v));
        return;
    }
    lw_operand_form second = *form;
    second.type = LW_T_pred;
    second.takes = 1u << LW_T_pred;
    second.sink = form->pair_sink;
    scalar_operand(v, &o->parts[0], form, number);
    scalar_operand(v, &o->parts[1], &second, number);
}

/* ---- One operand -------------------------------------------------------------------------------------- */

static void named_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (lw_is_register(o)) {
        bool whole = form->vector > 1 && o->object->vector == form->vector && !o->select;
        lw_operand_form one = *form;
        if (form->vector > 1 && !whole)
            lw_diag_add(v->diags, LW_D_vector_size, o->place, number, mnemonic(v), form->vector, 1u, "is");
        else if (whole && !(form->takes >> o->object->type & 1))
            lw_diag_add(v->diags, LW_D_operand_type, o->place, number, mnemonic(v), lw_types[form->type].name,
                        o->name->text, lw_types[o->object->type].name);
        else if (!whole)
            register_operand(v, o, &one, number);
    } else if (o->special) {
        special_operand(v, o, form, number);
    } else if (form->shape != LW_SHAPE_SOURCE || !o->object || form->written ||
               (o->object->kind != LW_OBJ_VARIABLE && o->object->kind != LW_OBJ_FUNCTION &&
                o->object->kind != LW_OBJ_ALIAS)) {
        wrong_kind(v, o, form, number);
    } else if (lw_types[form->type].kind == 'F' || lw_types[form->type].kind == 'P') {
        lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), "a register or constant",
                    lw_operand_kind_name(o));
    } else if (v->match->form->step == LW_STEP_cvta) {
        if (o->object->kind == LW_OBJ_VARIABLE)
            address_space(v, o, false);
        else
            wrong_kind(v, o, form, number);
    }
}

static void scalar_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form,
                           uint32_t number) {
    switch (o->kind) {
    case LW_O_NAME:
        if (LW_LIKELY(form->vector == 1 && lw_is_register(o)))
            register_operand(v, o, form, number);
        else if (!lw_is_unresolved(o))
            named_operand(v, o, form, number);
        return;
    case LW_O_INT:
    case LW_O_FLOAT:
        if (form->written || form->vector > 1 || form->shape == LW_SHAPE_REG)
            wrong_kind(v, o, form, number);
        else
            constant_operand(v, o, form, number);
        return;
    case LW_O_SINK:
        if (form->sink && o->negated) lw_diag_add(v->diags, LW_D_not_writable, o->place, number, mnemonic(v));
        if (!form->sink) lw_diag_add(v->diags, LW_D_sink_not_allowed, o->place, number, mnemonic(v));
        return;
    case LW_O_VECTOR: vector_operand(v, o, form, number); return;
    case LW_O_PAIR: pair_operand(v, o, form, number); return;
    case LW_O_ADDRESS:
    case LW_O_LIST: wrong_kind(v, o, form, number); return;
    }
}

static bool names(const lw_operand *o, lw_object_kind kind) {
    return o->kind == LW_O_NAME && o->object && o->object->kind == kind;
}

void lw_verify_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    bool fits = true;
    switch (form->shape) {
    case LW_SHAPE_VALUE:
    case LW_SHAPE_REG:
    case LW_SHAPE_SPECIAL:
    case LW_SHAPE_SOURCE:
        if (form->pair && !form->pair_optional && o->kind != LW_O_PAIR)
            lw_diag_add(v->diags, LW_D_pair_missing, o->place, mnemonic(v));
        else
            scalar_operand(v, o, form, number);
        return;
    case LW_SHAPE_ADDRESS: address_operand(v, o, form, number); return;
    case LW_SHAPE_IMM: fits = o->kind == LW_O_INT; break;
    case LW_SHAPE_LABEL:
        fits = names(o, LW_OBJ_LABEL);
        if (fits && o->offset) lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), wanted(form), "a sum");
        break;
    case LW_SHAPE_TARGETS:
        fits = names(o, LW_OBJ_TARGETS) && o->object->is_branch;
        if (fits && !lw_verify_early(v, o)) return;
        break;
    case LW_SHAPE_FUNC:
        fits = names(o, LW_OBJ_FUNCTION) || names(o, LW_OBJ_ALIAS) || lw_is_register(o);
        break;
    case LW_SHAPE_LIST: fits = o->kind == LW_O_LIST; break;
    case LW_SHAPE_ANY:
    case LW_SHAPE_REST: return;
    }
    if (!fits && !lw_is_unresolved(o)) wrong_kind(v, o, form, number);
}
