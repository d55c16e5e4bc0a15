/* verify_flow.c: calls, and rules of single instructions that the notation of the forms cannot say. */
#include "front/ptx/verify.h"

static const char *mnemonic(const lw_verifier *v) { return v->instruction->mnemonic->text; }

/* ---- Calls (manual section 9.7.12.5) --------------------------------------------------------------------- */

bool lw_ptx_call_parts(const lw_instruction *i, lw_call_parts *c) {
    uint32_t n = i->operand_count, at = 0;
    *c = (lw_call_parts){0};
    if (at < n && i->operands[at].kind == LW_O_LIST) c->results = &i->operands[at++];
    if (at < n && i->operands[at].kind == LW_O_NAME) c->target = &i->operands[at++];
    if (at < n && i->operands[at].kind == LW_O_LIST) c->arguments = &i->operands[at++];
    if (at < n && i->operands[at].kind == LW_O_NAME) c->prototype = &i->operands[at++];
    return at == n && c->target;
}

const lw_function *lw_ptx_table_signature(const lw_object *table) {
    const lw_init *init = table->init;
    while (init && init->kind == LW_INIT_LIST) init = init->part_count ? &init->parts[0] : NULL;
    return init && init->object && init->object->kind == LW_OBJ_FUNCTION ? init->object->function : NULL;
}

const lw_function *lw_ptx_call_signature(const lw_operand *prototype) {
    const lw_object *o = prototype->object;
    if (!o) return NULL;
    if (o->kind == LW_OBJ_PROTOTYPE) return o->function;
    if (o->kind == LW_OBJ_TARGETS && o->target_count && o->targets[0].object &&
        o->targets[0].object->kind == LW_OBJ_FUNCTION)
        return o->targets[0].object->function;
    return o->kind == LW_OBJ_VARIABLE && o->space != LW_SPACE_reg ? lw_ptx_table_signature(o) : NULL;
}

/* Prototypes and lists of targets come before what they are for. False after a diagnostic. */
bool lw_verify_early(lw_verifier *v, const lw_operand *o) {
    bool list = o->object && (o->object->kind == LW_OBJ_PROTOTYPE || o->object->kind == LW_OBJ_TARGETS);
    if (!list || o->object->place.at < o->place.at) return true;
    lw_diag_add(v->diags, LW_D_late_list, o->place, o->name->text);
    return false;
}

/* The function that is called, or the signature of an indirect call; NULL after a diagnostic, or where a name was not
 * resolved. */
static const lw_function *callee(lw_verifier *v, const lw_call_parts *c) {
    const lw_operand *t = c->target;
    if (lw_is_unresolved(t) || (c->prototype && lw_is_unresolved(c->prototype))) return NULL;
    if (lw_is_register(t)) {
        if (!lw_type_is_number(&lw_types[t->object->type]) || lw_types[t->object->type].bits < 32 ||
            t->object->vector > 1) {
            lw_diag_add(v->diags, LW_D_call_target, t->place, t->name->text, "no register that holds an address");
            return NULL;
        }
        if (c->prototype && !lw_verify_early(v, c->prototype)) return NULL;
        const lw_function *f = c->prototype ? lw_ptx_call_signature(c->prototype) : NULL;
        if (!f) lw_diag_add(v->diags, LW_D_call_prototype, c->prototype ? c->prototype->place : t->place);
        return f;
    }
    const lw_object *o = t->object;
    bool is_function = o && (o->kind == LW_OBJ_FUNCTION || o->kind == LW_OBJ_ALIAS);
    if (!is_function || !o->function || o->function->is_entry) {
        const char *what = !is_function ? "no function" : o->function ? "a kernel" : "an alias of nothing";
        lw_diag_add(v->diags, LW_D_call_target, t->place, t->name->text, what);
        return NULL;
    }
    if (c->prototype) {
        lw_diag_add(v->diags, LW_D_call_direct, c->prototype->place);
        return NULL;
    }
    return o->function;
}

static const char *type_text(lw_verifier *v, const lw_object *formal) {
    const lw_type_info *type = &lw_types[formal->type];
    if (!formal->dimension_count) return type->name;
    if (formal->unsized) return lw_verify_text(v, "%s[]", type->name);
    return lw_verify_text(v, "%s[%llu]", type->name, (unsigned long long)(formal->size * 8 / type->bits));
}

/* May a register or scalar of type `have` be handed over as `want`? The manual's table 9.1. */
static bool types_agree(lw_type want, lw_type have) {
    const lw_type_info *w = &lw_types[want], *h = &lw_types[have];
    if (w->bits != h->bits || (w->kind == 'P') != (h->kind == 'P')) return false;
    if (want == have || w->kind == 'B' || h->kind == 'B') return true;
    return (w->kind == 'U' || w->kind == 'S') && (h->kind == 'U' || h->kind == 'S');
}

static bool constant_fits(const lw_object *formal, const lw_operand *o) {
    char kind = lw_types[formal->type].kind;
    if (formal->dimension_count || formal->vector > 1) return false;
    return o->kind == LW_O_INT ? kind == 'B' || kind == 'U' || kind == 'S' || kind == 'P' : kind == 'F' || kind == 'B';
}

/* A register or a .param variable of the calling function against a formal parameter. */
static bool variable_fits(const lw_object *formal, const lw_object *o) {
    if (formal->dimension_count && (o->dimension_count != 1 || o->vector != formal->vector)) return false;
    if (formal->dimension_count) return formal->unsized || o->size == formal->size;
    return !o->dimension_count && o->vector == formal->vector && types_agree(formal->type, o->type);
}

static bool can_hand_over(const lw_operand *o) {
    if (o->kind != LW_O_NAME || !o->object || o->object->kind != LW_OBJ_VARIABLE || o->offset || o->negated)
        return false;
    if (o->object->space == LW_SPACE_reg) return true;
    return o->object->space == LW_SPACE_param && !o->object->is_param && !o->object->is_return;
}

static void hand_over(lw_verifier *v, const lw_call_parts *c, const lw_object *formal, const lw_operand *o,
                      uint32_t number, bool is_result) {
    const char *what = is_result ? "result" : "argument", *name = c->target->name->text;
    bool constant = !is_result && (o->kind == LW_O_INT || o->kind == LW_O_FLOAT);
    if (lw_is_unresolved(o) || (is_result && o->kind == LW_O_SINK)) return;
    if (o->kind == LW_O_NAME && o->select) {
        lw_diag_add(v->diags, LW_D_selector_not_allowed, o->place, number, mnemonic(v), lw_select_name(o))->fix =
            "move it to a register first";
        return;
    }
    if (!constant && !can_hand_over(o)) {
        lw_diag_add(v->diags, LW_D_call_value, o->place, what, number, name, is_result ? "or a " : "constant or ",
                    lw_operand_kind_name(o));
    } else if (constant ? !constant_fits(formal, o) : !variable_fits(formal, o->object)) {
        const char *shown = constant ? "the constant" : o->name->text;
        lw_diag_add(v->diags, LW_D_call_type, o->place, what, number, name, type_text(v, formal), shown);
    } else if (!constant && formal->dimension_count && o->object->align != formal->align) {
        lw_diag_add(v->diags, LW_D_call_align, o->place, o->name->text, o->object->align, formal->align);
    }
}

static bool counts_fit(lw_verifier *v, const lw_call_parts *c, const lw_operand *list, uint32_t want,
                       const char *what) {
    uint32_t have = list ? list->part_count : 0;
    if (have == want) return true;
    lw_diag_add(v->diags, LW_D_call_count, list ? list->place : c->target->place, c->target->name->text, want, what,
                want == 1 ? "" : "s", have, have == 1 ? "is" : "are");
    return false;
}

void lw_verify_call(lw_verifier *v) {
    lw_call_parts c;
    if (!lw_ptx_call_parts(v->instruction, &c)) {
        lw_diag_add(v->diags, LW_D_call_shape, v->instruction->mnemonic_place);
        return;
    }
    const lw_function *f = callee(v, &c);
    if (!f || !counts_fit(v, &c, c.results, f->return_count, "result")) return;
    uint32_t count = f->param_count;
    if (count && f->params[count - 1]->unsized && c.arguments && c.arguments->part_count == count - 1)
        count--; /* it may be missing; the list may not */
    if (!counts_fit(v, &c, c.arguments, count, "parameter")) return;
    for (uint32_t k = 0; k < f->return_count; k++) hand_over(v, &c, f->returns[k], &c.results->parts[k], k + 1, true);
    for (uint32_t k = 0; k < count; k++) hand_over(v, &c, f->params[k], &c.arguments->parts[k], k + 1, false);
}

/* ---- Rules of single instructions ------------------------------------------------------------------------- */

/* Barrier numbers and thread counts that are constants (manual section 9.7.13.1). */
static void barrier(lw_verifier *v) {
    const lw_instruction *i = v->instruction;
    uint32_t at = v->match->operand_forms[0].written;
    const lw_operand *a = &i->operands[at], *b = at + 1 < i->operand_count ? &i->operands[at + 1] : NULL;
    if (at && i->operand_count < 4) b = NULL; /* .red: the predicate, not a count */
    if (a->kind == LW_O_INT && (uint32_t)a->value > 15)
        lw_diag_add(v->diags, LW_D_barrier_number, a->place, (long long)a->value);
    else if (b && b->kind == LW_O_INT && (b->value % 32 || (!b->value && v->match->mode.meet == LW_MOD_arrive)))
        lw_diag_add(v->diags, LW_D_barrier_threads, b->place, (long long)b->value, mnemonic(v));
}

static bool is_vector(const lw_operand *o) {
    return o->kind == LW_O_VECTOR || (lw_is_register(o) && o->object->vector > 1 && !o->select);
}

static void mov(lw_verifier *v) {
    const lw_operand *d = &v->instruction->operands[0], *a = &v->instruction->operands[1];
    if (v->match->operand_forms[0].vector == 0 && is_vector(d) && is_vector(a))
        lw_diag_add(v->diags, LW_D_vector_to_vector, v->instruction->mnemonic_place, mnemonic(v));
    else if (a->kind == LW_O_NAME && a->object && a->object->kind == LW_OBJ_VARIABLE &&
             a->object->space == LW_SPACE_param && !a->object->is_param)
        lw_diag_add(v->diags, LW_D_parameter_address, a->place, a->name->text);
    else if (a->kind == LW_O_NAME && a->object && a->object->kind == LW_OBJ_VARIABLE &&
             a->object->space == LW_SPACE_global && !a->offset &&
             lw_types[v->match->type].bits < v->module->address_size)
        lw_diag_add(v->diags, LW_D_address_width, a->place, a->name->text, mnemonic(v));
}

/* Parameters are read only; what a function returns is written by st.param. */
static void store(lw_verifier *v) {
    const lw_operand *a = &v->instruction->operands[0];
    const lw_object *o = a->kind == LW_O_ADDRESS && a->part_count ? a->parts[0].object : NULL;
    if (o && o->space == LW_SPACE_reg && v->match->space == LW_SPACE_param)
        lw_diag_add(v->diags, LW_D_operand_kind, a->parts[0].place, 1u, mnemonic(v), "the name of a parameter",
                    "a register");
    else if (o && o->kind == LW_OBJ_VARIABLE && o->space == LW_SPACE_param && o->is_param && !o->is_return)
        lw_diag_add(v->diags, LW_D_parameter_written, a->parts[0].place, a->parts[0].name->text);
}

static void address_size(lw_verifier *v) {
    if (lw_types[v->match->type].bits < v->module->address_size)
        lw_diag_add(v->diags, LW_D_address_width, v->instruction->mnemonic_place, mnemonic(v), mnemonic(v));
}

/* Fractions are parts of all, and a primary range is within the total one, as unsigned numbers of 32 bits. */
static void policy(lw_verifier *v) {
    enum { FRACTION = 1, PRIMARY = 2, TOTAL = 3, ONE = 0x3f800000 };
    const lw_instruction *i = v->instruction;
    const lw_operand *fraction = i->operand_count == FRACTION + 1 ? &i->operands[FRACTION] : NULL;
    const uint64_t bits =
        fraction && fraction->kind == LW_O_FLOAT ? lw_float_bits(fraction->value, fraction->single, 32) : ONE;
    if (bits == 0 || bits > ONE) lw_diag_add(v->diags, LW_D_fraction, fraction->place, FRACTION + 1u, mnemonic(v));
    if (i->operand_count <= TOTAL) return;
    const lw_operand *primary = &i->operands[PRIMARY], *total = &i->operands[TOTAL];
    if (primary->kind == LW_O_INT && total->kind == LW_O_INT && (uint32_t)primary->value > (uint32_t)total->value)
        lw_diag_add(v->diags, LW_D_larger_operand, primary->place, PRIMARY + 1u, mnemonic(v), TOTAL + 1u);
}

void lw_verify_extra(lw_verifier *v) {
    switch (v->match->form->lower) {
    case LW_LOWER_bar: barrier(v); break;
    case LW_LOWER_mov: mov(v); break;
    case LW_LOWER_st: store(v); break;
    case LW_LOWER_cvta: address_size(v); break;
    case LW_LOWER_createpolicy: policy(v); break;
    default: break;
    }
}
