/* verify_operand.c: one operand against what its form says. */
#include "front/ptx/verify.h"

#include <stdlib.h>

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
        return form->written || form->variable || form->type == LW_T_none ? "a register" : "a register or constant";
    case LW_SHAPE_REG: return "a register";
    case LW_SHAPE_IMM: return "an integer constant";
    case LW_SHAPE_SOURCE: return "a register, constant, variable or special register";
    case LW_SHAPE_LABEL: return "a label";
    case LW_SHAPE_TARGETS: return "the name of a .branchtargets list";
    case LW_SHAPE_FUNC: return "a function";
    case LW_SHAPE_LIST: return "a list in parentheses";
    case LW_SHAPE_ADDRESS: return "an address in brackets";
    case LW_SHAPE_SINK: return "'_'";
    default: return "something else";
    }
}

static bool names(const lw_operand *o, lw_object_kind kind) {
    return o->kind == LW_O_NAME && o->object && o->object->kind == kind;
}

static void wrong_kind(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (form->written) lw_diag_add(v->diags, LW_D_not_writable, o->place, number, mnemonic(v));
    else
        lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), wanted(form), lw_operand_kind_name(o))
            ->fix = lw_fix_kind(o, form);
}

/* Names behind a minus: the grammar has them, a few instructions take them. */
void lw_verify_minus(lw_verifier *v, const lw_operand *o) {
    lw_place minus = {o->place.at, 1};
    lw_diag_add(v->diags, LW_D_minus_name, minus)->fix = "negate it with neg first";
}

/* ---- Registers and constants -------------------------------------------------------------------------- */

/* Masks of results name parts of their word in falling order; what is read names one part of two words for each
 * lane. */
static bool may_select(const lw_operand *o, const lw_operand_form *form) {
    if (!form->selectable || !form->lanes) return form->selectable && o->select != LW_SEL_lanes;
    const char *text = lw_select_name(o);
    size_t digits = strlen(text) - 1;
    if (text[0] != (form->lanes == 2 ? 'h' : 'b')) return false;
    if (!form->written) return digits == form->lanes;
    for (size_t i = 1; i <= digits; i++)
        if (text[i] >= '0' + form->lanes || (i > 1 && text[i] >= text[i - 1])) return false;
    return true;
}

/* !p: predicates that are read. */
static bool may_negate(const lw_object *r, const lw_operand_form *form) {
    return !form->written && (form->type == LW_T_pred || (form->or_predicate && r->type == LW_T_pred));
}

static void register_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    const lw_object *r = o->object;
    bool element = o->select >= LW_SEL_x && o->select <= LW_SEL_w;
    if (LW_UNLIKELY(o->minus && !form->negatable)) {
        lw_verify_minus(v, o);
    } else if (LW_UNLIKELY(o->negated && !o->minus) && !may_negate(r, form)) {
        lw_diag_add(v->diags, form->written ? LW_D_not_writable : LW_D_negation_not_allowed, o->place, number,
                    mnemonic(v))
            ->fix = form->written ? NULL : "use not, or neg, first";
    } else if (LW_UNLIKELY(o->select) && (element ? v->match->selectors || form->or_four ||
                                                        r->vector <= (uint8_t)(o->select - LW_SEL_x) || r->vector < 2
                                                  : !may_select(o, form))) {
        lw_diag_add(v->diags, LW_D_selector_not_allowed, o->place, number, mnemonic(v), lw_select_name(o))->fix =
            lw_fix_selector(v, o, form);
    } else if (LW_UNLIKELY(r->vector > 1 && !element && !form->lists && !(form->loose && r->vector == 4))) {
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

/* Is the constant among "0..255", "4|8|16", "24..256/8", or "0..n", up to the operand before it? The text ends at
 * ')', or at the ',' before that of a vector's next element. */
static bool in_range(const char *range, int64_t value, int64_t before) {
    for (const char *p = range;; p++) {
        char *end;
        int64_t low = strtoll(p, &end, 10), high = low, step = 1;
        if (*end == '.' && end[2] == 'n') high = before, end += 3;
        else if (*end == '.') high = strtoll(end + 2, &end, 10);
        if (*end == '/') step = strtoll(end + 1, &end, 10);
        if (value >= low && value <= high && (value - low) % step == 0) return true;
        p = end;
        if (*p != '|') return false;
    }
}

static void range_of_constant(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    int64_t before = number > 1 ? (int64_t)v->instruction->operands[number - 2].value : 0;
    int64_t value = form->low ? (int64_t)(uint32_t)o->value : (int64_t)o->value;
    if (!form->range || o->kind != LW_O_INT || in_range(form->range, value, before)) return;
    lw_diag_add(v->diags, LW_D_constant_range, o->place, number, mnemonic(v), (long long)o->value)->fix =
        lw_verify_text(v, "it may be: %.*s", (int)strcspn(form->range, "),"), form->range);
}

static void constant_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    const lw_type_info *want = &lw_types[form->type];
    bool fits;
    if (form->type == LW_T_none) fits = form->shape != LW_SHAPE_REG && (o->kind == LW_O_INT || !form->is_address);
    else if (o->kind == LW_O_INT) fits = lw_type_is_number(want) || want->kind == 'P' || (form->same && !form->braces);
    else if (want->kind == 'B') fits = want->bits == (o->single ? 32 : 64);
    else fits = want->kind == 'F' && want->bits != 16; /* half precision has no constants */
    if (fits) range_of_constant(v, o, form, number);
    else
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
        lw_diag_add(v->diags, LW_D_needs_version, o->place, name, row->isa / 10u, row->isa % 10u, version / 10,
                    version % 10);
    else if (target < row->sm) lw_diag_add(v->diags, LW_D_needs_target, o->place, name, row->sm, target);
}

static void special_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    const lw_special_row *row = &lw_specials[o->special - 1];
    bool taken = (form->shape == LW_SHAPE_SOURCE && !form->space) || form->shape == LW_SHAPE_SPECIAL,
         whole = form->vector > 1;
    if (!taken || form->written || lw_types[form->type].kind == 'F') {
        lw_diag_add(v->diags, LW_D_special_not_allowed, o->place, o->name->text, mnemonic(v))->fix =
            form->written ? NULL : "copy it into a register with mov first";
    } else if (o->select && (!row->vector || o->select > LW_SEL_w)) {
        lw_diag_add(v->diags, LW_D_selector_not_allowed, o->place, number, mnemonic(v), lw_select_name(o));
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

static void address_register(lw_verifier *v, const lw_operand *base, bool is_map) {
    const lw_object *r = base->object;
    const lw_type_info *type = &lw_types[r->type];
    if (is_map && v->match->form->narrow && r->type == LW_T_f32) return; /* ptxas looks at its size alone */
    bool short_ones = !v->match->form->narrow || (v->match->space && v->match->form->narrow == LW_NARROW_16);
    if (!lw_type_is_number(type) || type->bits < (short_ones ? 16 : 32) || type->bits > 64 ||
        (r->vector > 1 && !base->select)) {
        lw_diag_add(v->diags, LW_D_address_type, base->place, base->name->text, type->name,
                    v->module->address_size == 32 ? "32" : "64");
        return;
    }
    lw_space space = v->match->space;
    if (v->module->address_size == 64 && type->bits == 32 && !v->match->form->narrow &&
        (space == LW_SPACE_none || space == LW_SPACE_global))
        lw_diag_add(v->diags, LW_D_address_width, base->place, mnemonic(v), base->name->text);
}

/* A variable whose address an instruction takes must be where the instruction looks. */
static void address_space(lw_verifier *v, const lw_operand *base, lw_space want) {
    lw_space have = base->object->space;
    bool reached = have == LW_SPACE_global || have == LW_SPACE_shared || have == LW_SPACE_local;
    if (lw_type_is_opaque(base->object->type)) {
        lw_diag_add(v->diags, LW_D_opaque_address, base->place, base->name->text, lw_types[base->object->type].name,
                    mnemonic(v));
        return;
    }
    if (want == LW_SPACE_none && !reached)
        lw_diag_add(v->diags, LW_D_generic_space, base->place, base->name->text, lw_space_names[have]);
    else if (want != LW_SPACE_none && have != want)
        lw_diag_add(v->diags, LW_D_space_mismatch, base->place, base->name->text, lw_space_names[have], mnemonic(v),
                    lw_space_names[want]);
}

/* A register or variable that stands for a texture, or a register that holds an address of a memory of its own. */
static void opaque_address(lw_verifier *v, const lw_operand *base, lw_type opaque, uint32_t number) {
    const lw_object *object = base->object;
    const bool is_both = opaque == LW_T_samplerref && !lw_ptx_independent_textures(v->module);
    const lw_type type = is_both ? LW_T_texref : opaque; /* a texture is its sampler, where modes are not apart */
    const lw_type_info *want = &lw_types[type], *have = &lw_types[object->type];
    bool is_register = object->space == LW_SPACE_reg, is_reference = object->type == type && lw_type_is_opaque(type);
    if (is_register ? lw_type_is_number(have) && have->bits == want->bits && object->vector == 1 : is_reference) return;
    lw_diag_add(v->diags, LW_D_operand_type, base->place, number, mnemonic(v), want->name, base->name->text,
                have->name);
}

/* Coordinates and the like, behind the base of an address. */
static void inner_operands(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    uint32_t spare = o->part_count - 1 - form->inner_min, at = 1;
    for (uint32_t i = 0; i < form->inner_max && at < o->part_count; i++) {
        if (form->inner[i].optional && !spare) continue;
        spare -= form->inner[i].optional;
        const lw_operand *part = &o->parts[at++];
        if (lw_type_is_opaque(form->inner[i].type) && names(part, LW_OBJ_VARIABLE))
            opaque_address(v, part, form->inner[i].type, number);
        else lw_verify_operand(v, part, &form->inner[i], number);
    }
}

/* A register that may be an address without its brackets: one of 64 bits, where tensors are copied any. */
static bool is_plain_address(const lw_verifier *v, const lw_operand *o) {
    if (!lw_is_register(o) || o->negated || !lw_type_is_number(&lw_types[o->object->type])) return false;
    const lw_type_info *type = &lw_types[o->object->type];
    return v->match->mode.geometry ? type->bits >= 32 : type->bits == 64 && type->kind != 'F';
}

static void address_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (o->kind != LW_O_ADDRESS) {
        if (form->bare && is_plain_address(v, o)) return;
        if (!lw_is_unresolved(o)) wrong_kind(v, o, form, number);
        return;
    }
    uint32_t inner = o->part_count ? o->part_count - 1 : 0;
    if (inner < form->inner_min || inner > form->inner_max) {
        lw_diag_add(v->diags, LW_D_address_parts, o->place, number, mnemonic(v), form->inner_max, inner);
        return;
    }
    inner_operands(v, o, form, number);
    const lw_operand *base = o->part_count ? &o->parts[0] : NULL;
    if (!base || form->anywhere || lw_is_unresolved(base)) return;
    if (o->offset && (inner || lw_type_is_opaque(form->opaque))) {
        lw_diag_add(v->diags, LW_D_offset_not_allowed, o->place, number, mnemonic(v));
        return;
    }
    if (base->kind == LW_O_INT && (form->space ? form->space : v->match->space) != LW_SPACE_local)
        lw_diag_add(v->diags, LW_D_constant_address, base->place, mnemonic(v));
    if (base->kind != LW_O_NAME) return;
    const lw_object *object = base->object;
    if (!object || object->kind != LW_OBJ_VARIABLE)
        lw_diag_add(v->diags, LW_D_operand_kind, base->place, number, mnemonic(v), "an address",
                    lw_operand_kind_name(base));
    else if (form->opaque) opaque_address(v, base, form->opaque, number);
    else if (object->space == LW_SPACE_reg) address_register(v, base, inner > 0);
    else address_space(v, base, form->space ? form->space : v->match->space);
}

/* ---- Vectors ------------------------------------------------------------------------------------------ */

static void scalar_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number);

static bool only_constants(const lw_operand *vector) {
    for (uint32_t i = 0; i < vector->part_count; i++)
        if (vector->parts[i].kind != LW_O_INT && vector->parts[i].kind != LW_O_FLOAT) return false;
    return true;
}

/* {_, _}: no element says what the others would be. */
static bool only_sinks(const lw_operand *vector) {
    for (uint32_t i = 0; i < vector->part_count; i++)
        if (vector->parts[i].kind != LW_O_SINK) return false;
    return vector->part_count > 1;
}

/* That of the next element, if elements have ranges of their own. */
static const char *next_range(const char *range) {
    const char *end = range + strcspn(range, "),");
    return *end == ',' ? end + 1 : range;
}

static void elements(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    lw_operand_form one = *form;
    one.vector = 1;
    one.sink = form->written && !form->all && (o->part_count > 1 || !form->always_braces);
    if (form->or_four) one.variable = false;
    bool packed = lw_types[form->type].kind == 'X' && form->type != LW_T_f16x2 &&
                  !form->written; /* bits among registers of matrices */
    if (one.shape == LW_SHAPE_SOURCE && form->vector > 1) one.shape = LW_SHAPE_SPECIAL;
    uint32_t errors = v->diags->errors, bits = 0;
    lw_operand_form index = one;
    index.type = LW_T_u32;
    index.takes = 1u << LW_T_b32 | 1u << LW_T_u32 | 1u << LW_T_s32;
    if (one.sink && only_sinks(o)) {
        lw_diag_add(v->diags, LW_D_sink_not_allowed, o->place, number, mnemonic(v))->fix =
            form->sink ? "'_' alone throws all of it away" : "one element must be a register";
        return;
    }
    if (form->always_braces && !form->constants && only_constants(o)) {
        wrong_kind(v, &o->parts[0], &one, number);
        return;
    }
    for (uint32_t i = 0; i < o->part_count; i++) {
        const lw_operand *p = &o->parts[i];
        if (packed && p->kind == LW_O_INT) continue;
        scalar_operand(v, p, form->array && i == 0 ? &index : &one, number);
        if (v->diags->errors != errors) return;
        if (one.range) one.range = next_range(one.range);
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
static void packed_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    enum { MOST = 4 }; /* elements */
    lw_type type = LW_T_none;
    if (o->part_count > MOST) {
        lw_diag_add(v->diags, LW_D_vector_size, o->place, number, mnemonic(v), MOST, o->part_count, "are");
        return;
    }
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

/* A list in place of a register, of any count, where ptxas looks at the elements alone. */
static bool fits_as_list(const lw_operand *o, const lw_operand_form *form) {
    for (uint32_t i = 0; i < o->part_count && form->lists && lw_types[form->type].bits < 64; i++)
        if (!lw_is_register(&o->parts[i]) || !(form->takes >> o->parts[i].object->type & 1)) return false;
    return form->lists;
}

static void vector_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (fits_as_list(o, form)) return;
    if (!form->braces) {
        lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
    } else if (form->vector == 0) {
        if (o->part_count > 1 || lw_types[form->type].kind != 'B') packed_operand(v, o, form, number);
        else elements(v, o, form, number);
    } else if (o->part_count == form->vector || (form->or_four && o->part_count == 4)) {
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
    second.vector = 1;
    second.braces = false;
    if (o->parts[0].kind == LW_O_SINK && o->parts[1].kind == LW_O_SINK) {
        lw_diag_add(v->diags, LW_D_sink_not_allowed, o->place, number, mnemonic(v))->fix =
            "one of the two outputs may be '_'";
        return;
    }
    scalar_operand(v, &o->parts[0], form, number);
    scalar_operand(v, &o->parts[1], &second, number);
}

/* ---- One operand -------------------------------------------------------------------------------------- */

/* A vector register in place of the list of its elements, where mov packs and unpacks. */
static void packed_register(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    const lw_type_info *want = &lw_types[form->type], *have = &lw_types[o->object->type];
    uint32_t bits = have->bits * o->object->vector;
    if (want->kind != 'B') lw_diag_add(v->diags, LW_D_vector_not_allowed, o->place, number, mnemonic(v));
    else if (bits != want->bits)
        lw_diag_add(v->diags, LW_D_vector_total, o->place, number, mnemonic(v), bits, want->name, want->bits);
}

static bool takes_numbers(const lw_operand_form *form) {
    return !form->written && !form->variable && !form->selectable && form->type &&
           lw_type_is_number(&lw_types[form->type]);
}

/* A variable's address and an offset, which is a number; the address alone is taken by mov. */
static bool is_sum_of_address(const lw_operand *o) {
    return o->offset && o->object && o->object->kind == LW_OBJ_VARIABLE && o->object->space != LW_SPACE_reg &&
           !lw_type_is_opaque(o->object->type);
}

static void named_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    if (lw_is_register(o) && form->lists && lw_types[form->type].bits == 64 && o->object->vector > 1 && !o->select)
        return;
    if (lw_is_register(o) && !form->vector && o->object->vector > 1 && !o->select) {
        packed_register(v, o, form, number);
    } else if (lw_is_register(o)) {
        bool whole = form->vector > 1 && o->object->vector == form->vector && !o->select;
        lw_operand_form one = *form;
        if (form->vector > 1 && !whole && !form->lists && !form->loose)
            lw_diag_add(v->diags, LW_D_vector_size, o->place, number, mnemonic(v), form->vector, 1u, "is");
        else if (whole && !(form->takes >> o->object->type & 1))
            lw_diag_add(v->diags, LW_D_operand_type, o->place, number, mnemonic(v), lw_types[form->type].name,
                        o->name->text, lw_types[o->object->type].name);
        else if (!whole) register_operand(v, o, &one, number);
    } else if (o->special) {
        special_operand(v, o, form, number);
    } else if (is_sum_of_address(o) && takes_numbers(form)) {
        return; /* cut to the operand's size */
    } else if (form->shape != LW_SHAPE_SOURCE || !o->object || form->written ||
               (o->object->kind != LW_OBJ_VARIABLE && o->object->kind != LW_OBJ_FUNCTION &&
                o->object->kind != LW_OBJ_ALIAS)) {
        wrong_kind(v, o, form, number);
    } else if (lw_types[form->type].kind == 'F' || lw_types[form->type].kind == 'P') {
        lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), "a register or constant",
                    lw_operand_kind_name(o));
    } else if (form->space) {
        if (o->object->kind == LW_OBJ_VARIABLE) address_space(v, o, form->space);
        else wrong_kind(v, o, form, number);
    } else if (v->match->form->lower == LW_LOWER_cvta) {
        if (o->object->kind == LW_OBJ_VARIABLE) address_space(v, o, v->match->space);
        else wrong_kind(v, o, form, number);
    }
}

/* mov.v2, mov.v4: zero is zero in all elements. Any other constant ptxas takes as one number over all bits of the
 * vector, 1.0 as the two halves of a double: no text defines that. */
static bool fills_vector(const lw_operand *o, const lw_operand_form *form) {
    return form->shape == LW_SHAPE_SOURCE && form->vector > 1 && !o->value;
}

static void scalar_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    switch (o->kind) {
    case LW_O_NAME:
        if (LW_LIKELY(form->vector == 1 && lw_is_register(o) && !form->lists)) register_operand(v, o, form, number);
        else if (o->minus) lw_verify_minus(v, o);
        else if (!lw_is_unresolved(o)) named_operand(v, o, form, number);
        return;
    case LW_O_INT:
    case LW_O_FLOAT:
        if (form->written || (form->vector > 1 && !fills_vector(o, form)) || form->shape == LW_SHAPE_REG ||
            (form->variable && !(form->raw && o->kind == LW_O_FLOAT && o->single)))
            wrong_kind(v, o, form, number);
        else constant_operand(v, o, form, number);
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

void lw_verify_operand(lw_verifier *v, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    bool fits = true;
    bool bits = form->if_vector && form->if_vector->list_only && lw_is_register(o) && o->object->type == LW_T_b32;
    if (form->if_vector && (o->kind == LW_O_VECTOR || bits)) form = form->if_vector;
    if (form->or_address && o->kind == LW_O_ADDRESS) {
        address_operand(v, o, &(lw_operand_form){.shape = LW_SHAPE_ADDRESS, .opaque = LW_T_b32}, number);
        return;
    }
    switch (form->shape) {
    case LW_SHAPE_VALUE:
    case LW_SHAPE_REG:
    case LW_SHAPE_SPECIAL:
    case LW_SHAPE_SOURCE:
        if (form->pair && !form->pair_optional && o->kind != LW_O_PAIR)
            lw_diag_add(v->diags, LW_D_pair_missing, o->place, mnemonic(v));
        else if (form->always_braces && o->kind != LW_O_VECTOR && o->kind != LW_O_PAIR &&
                 !(form->sink && o->kind == LW_O_SINK))
            lw_diag_add(v->diags, LW_D_braces_missing, o->place, number, mnemonic(v));
        else scalar_operand(v, o, form, number);
        return;
    case LW_SHAPE_ADDRESS: address_operand(v, o, form, number); return;
    case LW_SHAPE_IMM:
        fits = o->kind == LW_O_INT;
        if (fits) range_of_constant(v, o, form, number);
        break;
    case LW_SHAPE_SINK: fits = o->kind == LW_O_SINK; break;
    case LW_SHAPE_LABEL:
        fits = names(o, LW_OBJ_LABEL);
        if (fits && o->offset)
            lw_diag_add(v->diags, LW_D_operand_kind, o->place, number, mnemonic(v), wanted(form), "a sum");
        break;
    case LW_SHAPE_TARGETS:
        fits = names(o, LW_OBJ_TARGETS) && o->object->is_branch;
        if (fits && !lw_verify_early(v, o)) return;
        break;
    case LW_SHAPE_FUNC: fits = names(o, LW_OBJ_FUNCTION) || names(o, LW_OBJ_ALIAS) || lw_is_register(o); break;
    case LW_SHAPE_LIST: fits = o->kind == LW_O_LIST; break;
    case LW_SHAPE_ANY:
    case LW_SHAPE_REST: return;
    }
    if (o->minus) lw_verify_minus(v, o);
    else if (!fits && !lw_is_unresolved(o)) wrong_kind(v, o, form, number);
}
