/* verify_row.c: the operands of an operation against its row, and the constraints of the page.
 *
 * Each check reports the first operand that breaks it; later checks are left out then, since they would only say it
 * again. */
#include "front/pto/verify.h"

enum { FILLED_MAX = LW_PTO_OPERANDS_MAX + LW_PTO_RESULTS_MAX };

typedef struct row_check {
    lw_pto_verifier *v;
    const lw_pto_op *op;
    const lw_pto_row *row;
    uint32_t count;
    lw_pto_filled at[FILLED_MAX]; /* operands, then results */
    lw_pto_value *index;          /* of the memory operand */
    lw_place index_place;
} row_check;

/* The results of assembly and DPS text are where their types are written, for registers that were defined further
 * up. */
static lw_place result_place(const lw_pto_op *op, const lw_pto_value *value) {
    return value->place.at >= op->place.at ? value->place : op->type_place;
}

/* False where some value has no type: then that is reported already. */
static bool fill(row_check *c) {
    const lw_pto_signature *s = lw_pto_signature_of(c->v->module, c->op->id);
    for (uint32_t i = 0, o = 0; i < s->in_count; i++, o++) {
        lw_pto_value *value = c->op->operands[o];
        if (!value) continue;
        if (!value->type) return false;
        c->at[c->count++] = (lw_pto_filled){&s->in[i], value, c->op->operand_places[o]};
        if (s->in[i].shape != LW_PTO_SHAPE_MEMORY) continue;
        c->index = c->op->operands[++o];
        c->index_place = c->op->operand_places[o];
        if (!c->index->type) return false;
    }
    for (uint32_t i = 0; i < c->op->result_count; i++) {
        lw_pto_value *value = c->op->results[i];
        if (!value->type) return false;
        c->at[c->count++] = (lw_pto_filled){&s->out[i], value, result_place(c->op, value)};
    }
    return true;
}

static const char *name_of(const row_check *c, const lw_pto_filled *f) {
    return lw_pto_slot_name(c->v->arena, f->slot);
}
static bool is_scalar(const lw_pto_type *t) {
    return t->kind == LW_PTO_SCALAR && lw_pto_scalars[t->element].kind != 'F';
}
static bool is(const lw_pto_type *t, lw_pto_scalar scalar) { return t->kind == LW_PTO_SCALAR && t->element == scalar; }

/* ---- Kinds ------------------------------------------------------------------------------------------------- */

static bool kind_fits(const lw_pto_filled *f, lw_diag_id *id) {
    const lw_pto_type *t = f->value->type;
    switch (f->slot->shape) {
    case LW_PTO_SHAPE_VREG: return *id = LW_D_pto_not_vector, t->kind == LW_PTO_VREG;
    case LW_PTO_SHAPE_MASK: return *id = LW_D_pto_not_mask, t->kind == LW_PTO_MASK;
    case LW_PTO_SHAPE_MEMORY: return *id = LW_D_pto_not_memref, t->kind == LW_PTO_MEMREF;
    case LW_PTO_SHAPE_INDEX: return *id = LW_D_pto_not_index, is(t, LW_PTO_index);
    case LW_PTO_SHAPE_BOOL: return *id = LW_D_pto_not_bool, is(t, LW_PTO_i1);
    case LW_PTO_SHAPE_SAME:
    case LW_PTO_SHAPE_INTEGER: return *id = LW_D_pto_not_integer, is_scalar(t);
    case LW_PTO_SHAPE_ELEMENT:
    case LW_PTO_SHAPE_ANY: return true;
    }
    return true;
}

static bool check_kinds(row_check *c) {
    lw_diags *diags = c->v->diags;
    for (uint32_t i = 0; i < c->count; i++) {
        const lw_pto_filled *f = &c->at[i];
        lw_diag_id id;
        if (kind_fits(f, &id)) continue;
        const char *name = name_of(c, f), *type = f->value->type->text;
        if (id == LW_D_pto_not_index || id == LW_D_pto_not_bool)
            lw_diag_add(diags, id, f->place, lw_arena_say(c->v->arena, "operand '%s' of '%s'", name, c->row->name),
                        type);
        else lw_diag_add(diags, id, f->place, name, c->row->name, type);
        return false;
    }
    if (!c->index || is(c->index->type, LW_PTO_index)) return true;
    lw_diag_add(diags, LW_D_pto_not_index, c->index_place, "what stands in [ ]", c->index->type->text);
    return false;
}

/* ---- The constraints of the page ---------------------------------------------------------------------------- */

static bool is_element(lw_pto_scalar scalar) {
    char kind = lw_pto_scalars[scalar].kind;
    return (kind == 'S' || kind == 'U') && scalar != LW_PTO_index;
}

static bool check_elements(row_check *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        const lw_pto_type *t = c->at[i].value->type;
        if ((t->kind != LW_PTO_VREG && t->kind != LW_PTO_MEMREF) || is_element(t->element)) continue;
        lw_diag_add(c->v->diags, LW_D_pto_float_element, c->at[i].place, c->row->name, lw_pto_scalars[t->element].name);
        return false;
    }
    return true;
}

static const lw_pto_filled *first_of(const row_check *c, lw_pto_kind kind) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->at[i].value->type->kind == kind) return &c->at[i];
    return NULL;
}

static bool check_registers(row_check *c, const lw_pto_filled *first) {
    const lw_pto_type *want = first->value->type;
    for (uint32_t i = 0; i < c->count; i++) {
        const lw_pto_filled *f = &c->at[i];
        const lw_pto_type *t = f->value->type;
        if (f->slot->shape != LW_PTO_SHAPE_VREG || t == want) continue;
        bool lanes = t->element == want->element;
        if (lanes)
            lw_diag_add(c->v->diags, LW_D_pto_lanes_differ, f->place, c->row->name, name_of(c, first), want->lanes,
                        name_of(c, f), t->lanes);
        else
            lw_diag_add(c->v->diags, LW_D_pto_element_differs, f->place, c->row->name, name_of(c, first),
                        lw_pto_scalars[want->element].name, name_of(c, f), lw_pto_scalars[t->element].name);
        return false;
    }
    if (c->op->form != LW_PTO_ASSEMBLY || !c->op->type || c->op->type == want) return true;
    lw_diag_add(c->v->diags, LW_D_pto_type_differs, c->op->type_place, name_of(c, first), want->text,
                c->op->type->text);
    return false;
}

static bool check_masks(row_check *c, const lw_pto_type *vector) {
    for (uint32_t i = 0; i < c->count; i++) {
        const lw_pto_filled *f = &c->at[i];
        const lw_pto_type *t = f->value->type;
        if (f->slot->shape != LW_PTO_SHAPE_MASK) continue;
        uint32_t bits = lw_pto_scalars[vector->element].bits;
        if (t->lanes != vector->lanes) {
            lw_diag *diag =
                lw_diag_add(c->v->diags, LW_D_pto_mask_lanes, f->place, name_of(c, f), t->lanes, vector->lanes);
            bool whole = vector->lanes * bits == LW_PTO_REGISTER_BITS;
            diag->fix = lw_arena_printf(c->v->arena, whole ? "!pto.mask<b%u> fits" : "!pto.mask<%u> fits",
                                        whole ? bits : vector->lanes);
            return false;
        }
        if (t->width && t->width != bits) {
            lw_diag_add(c->v->diags, LW_D_pto_mask_granularity, f->place, name_of(c, f), t->width, bits);
            return false;
        }
    }
    return true;
}

/* Scalars and memory that go with a register. */
static bool check_companions(row_check *c, const lw_pto_type *vector) {
    for (uint32_t i = 0; i < c->count; i++) {
        const lw_pto_filled *f = &c->at[i];
        const lw_pto_type *t = f->value->type;
        bool memory = f->slot->shape == LW_PTO_SHAPE_MEMORY;
        if (!memory && f->slot->shape != LW_PTO_SHAPE_ELEMENT) continue;
        bool fits = t->element == vector->element && t->kind == (memory ? LW_PTO_MEMREF : LW_PTO_SCALAR);
        if (fits) continue;
        lw_diag_add(c->v->diags, memory ? LW_D_pto_memory_differs : LW_D_pto_scalar_differs, f->place,
                    f->value->name->text, memory ? lw_pto_scalars[t->element].name : t->text,
                    lw_pto_scalars[vector->element].name);
        return false;
    }
    return true;
}

/* Masks without a register among them. The operands of arith have one type as they are written. */
static bool check_same_masks(row_check *c) {
    for (uint32_t i = 1; i < c->count; i++) {
        const lw_pto_filled *first = &c->at[0], *f = &c->at[i];
        if (first->slot->shape != LW_PTO_SHAPE_MASK || f->value->type == first->value->type) continue;
        lw_diag_add(c->v->diags, LW_D_pto_masks_differ, f->place, c->row->name, name_of(c, first),
                    first->value->type->text, name_of(c, f), f->value->type->text);
        return false;
    }
    return true;
}

/* ---- Single operations --------------------------------------------------------------------------------------- */

static bool cast_fits(lw_pto_op_id id, const lw_pto_type *from, const lw_pto_type *to) {
    bool from_index = from->element == LW_PTO_index, to_index = to->element == LW_PTO_index;
    uint32_t a = lw_pto_scalars[from->element].bits, b = lw_pto_scalars[to->element].bits;
    if (id == LW_PTO_INDEX_CAST || id == LW_PTO_INDEX_CASTUI) return from_index != to_index;
    if (from_index || to_index) return false;
    return id == LW_PTO_TRUNCI ? a > b : a < b;
}

static bool check_cast(row_check *c) {
    const lw_pto_type *from = c->at[0].value->type, *to = c->at[1].value->type;
    if (cast_fits(c->op->id, from, to)) return true;
    lw_diag_add(c->v->diags, LW_D_pto_cast, c->op->type_place, c->row->name, from->text, to->text);
    return false;
}

/* A count that is a constant for all lanes is known here. */
static void check_count(row_check *c) {
    const lw_pto_value *count = c->op->operands[1];
    const lw_pto_op *made = count->kind == LW_PTO_RESULT ? count->op : NULL;
    const lw_pto_op *constant = made && made->id == LW_PTO_VBROADCAST ? made->operands[0]->op : NULL;
    if (!constant || constant->id != LW_PTO_CONSTANT) return;
    const lw_pto_scalar_info *info = &lw_pto_scalars[count->type->element];
    uint64_t value = info->bits == 64 ? constant->value : constant->value & ((UINT64_C(1) << info->bits) - 1);
    if (value >= info->bits)
        lw_diag_add(c->v->diags, LW_D_pto_shift_count, c->op->operand_places[1], (unsigned long long)value, info->name);
}

static bool is_cast(lw_pto_op_id id) {
    return id == LW_PTO_INDEX_CAST || id == LW_PTO_INDEX_CASTUI || id == LW_PTO_EXTSI || id == LW_PTO_EXTUI ||
           id == LW_PTO_TRUNCI;
}

static void check_width(row_check *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (!lw_pto_verify_width(c->v, c->at[i].value->type, c->at[i].place)) return;
}

void lw_pto_verify_row(lw_pto_verifier *v, const lw_pto_op *op) {
    row_check c; /* without what is filled in, which would cost more to clear than to check */
    c.v = v, c.op = op, c.row = &lw_pto_rows[op->id], c.count = 0, c.index = NULL;
    if (op->faulty || !fill(&c)) return;
    if (op->id == LW_PTO_CONSTANT && !is_scalar(op->results[0]->type)) {
        lw_diag_add(v->diags, LW_D_pto_constant_type, op->type_place, op->results[0]->type->text);
        return;
    }
    if (!check_kinds(&c) || !check_elements(&c)) return;
    const lw_pto_filled *first = first_of(&c, LW_PTO_VREG);
    if (c.row->page == LW_PTO_PAGE_MLIR) {
        if (is_cast(op->id)) check_cast(&c);
        return;
    }
    if (!first) {
        if (check_same_masks(&c)) check_width(&c);
        return;
    }
    const lw_pto_type *vector = first->value->type;
    if (!check_registers(&c, first) || !check_masks(&c, vector) || !check_companions(&c, vector)) return;
    check_width(&c);
    if (op->id == LW_PTO_VSHR || op->id == LW_PTO_VSHL) check_count(&c);
}
