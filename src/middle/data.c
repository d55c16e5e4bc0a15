/* data.c: lowering of everything that moves data: mov ld st cvta cvt, carries. */
#include "middle/ptx.h"

static lw_type last_type(const lw_instruction *i) { return i->match->type; }

/* ---- mov ------------------------------------------------------------------------------------------------ */

/* {a, b, …} packed into one value, low element first, pairwise. */
static uint32_t pack(lw_lower *l, const uint32_t *parts, uint32_t count, uint32_t bits) {
    if (count == 1) return parts[0];
    uint32_t low = pack(l, parts, count / 2, bits / 2), high = pack(l, parts + count / 2, count / 2, bits / 2);
    lw_lane_id lane = bits == 64 ? LW_LANE_pack_b64_b32 : bits == 32 ? LW_LANE_pack_b32_b16 : LW_LANE_pack_b16_b8;
    return lw_lower_lane(l, lane, low, high, LW_NO_SLOT);
}

static void unpack(lw_lower *l, const lw_operand *parts, uint32_t count, uint32_t bits, uint32_t value) {
    if (count == 1) {
        if (parts->kind != LW_O_SINK) lw_lower_move(l, lw_lower_register(l, parts), value);
        return;
    }
    lw_lane_id low = bits == 64 ? LW_LANE_low_b32_b64 : bits == 32 ? LW_LANE_low_b16_b32 : LW_LANE_zext8_b16;
    lw_lane_id high = bits == 64 ? LW_LANE_high_b32_b64 : bits == 32 ? LW_LANE_high_b16_b32 : LW_LANE_high_b8_b16;
    unpack(l, parts, count / 2, bits / 2, lw_lower_lane(l, low, value, LW_NO_SLOT, LW_NO_SLOT));
    unpack(l, parts + count / 2, count / 2, bits / 2, lw_lower_lane(l, high, value, LW_NO_SLOT, LW_NO_SLOT));
}

/* A vector register as the list of its elements; other operands as they are. */
static lw_operand spread(lw_lower *l, const lw_operand *operand) {
    lw_operand list = *operand;
    uint32_t count = lw_lower_elements(operand);
    if (count == 1) return list;
    list.kind = LW_O_VECTOR;
    list.part_count = count;
    list.parts = LW_NEW_ARRAY(l->arena, lw_operand, count);
    for (uint32_t k = 0; k < count; k++) list.parts[k] = lw_lower_element(operand, k);
    return list;
}

/* mov.v2, mov.v4: all elements are read before any is written. */
static void move_vector(lw_lower *l, const lw_operand *d, const lw_operand *a, lw_type type) {
    uint32_t copies[4];
    uint32_t count = d->part_count;
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        lw_operand element = a->kind == LW_O_VECTOR ? a->parts[k]
                             : a->kind == LW_O_NAME ? lw_lower_element(a, k)
                                                    : *a; /* or 0 */
        uint32_t value = lw_lower_read(l, &element, type);
        copies[k] = lw_lower_vreg(l, l->vregs.at[value].class);
        lw_lower_move(l, copies[k], value);
    }
    for (uint32_t k = 0; k < count && !l->failed; k++)
        if (d->parts[k].kind != LW_O_SINK) lw_lower_move(l, lw_lower_write(l, &d->parts[k], type), copies[k]);
}

/* A half of what mov.b128 reads: of a register, one of two elements, or two of four. */
static uint32_t wide_half(lw_lower *l, const lw_operand *a, uint32_t half) {
    if (a->kind != LW_O_VECTOR || a->part_count == 1)
        return lw_lower_half(l, a->kind == LW_O_VECTOR ? a->parts : a, half);
    if (a->part_count == 2) return lw_lower_read(l, &a->parts[half], LW_T_b64);
    const uint32_t parts[2] = {lw_lower_read(l, &a->parts[2 * half], LW_T_b32),
                               lw_lower_read(l, &a->parts[2 * half + 1], LW_T_b32)};
    return l->failed ? parts[0] : pack(l, parts, 2, 64);
}

/* mov.b128: between registers, or to and from two or four elements. */
static void move_wide(lw_lower *l, const lw_operand *d, const lw_operand *a) {
    uint32_t copies[2];
    for (uint32_t k = 0; k < 2 && !l->failed; k++) {
        const uint32_t half = wide_half(l, a, k);
        if (l->failed) return;
        copies[k] = lw_lower_vreg(l, LW_CLASS_64); /* d may name the same registers in another order */
        lw_lower_move(l, copies[k], half);
    }
    const uint32_t each = d->kind == LW_O_VECTOR ? d->part_count / 2 : 0; /* elements of a half */
    for (uint32_t k = 0; k < 2 && !l->failed; k++) {
        if (each) unpack(l, &d->parts[k * each], each, 64, copies[k]);
        else lw_lower_move(l, lw_lower_half(l, d->kind == LW_O_VECTOR ? d->parts : d, k), copies[k]);
    }
}

/* A destination with two elements of one register would be overwritten before it is read: values first, then moves. */
void lw_lower_mov(lw_lower *l, const lw_instruction *i) {
    const lw_operand lists[2] = {spread(l, &i->operands[0]), spread(l, &i->operands[1])};
    const lw_operand *d = &lists[0], *a = &lists[1];
    lw_type type = last_type(i);
    uint32_t bits = lw_types[type].bits;
    if (i->match->operand_forms[0].vector > 1) {
        move_vector(l, d, a, type);
        return;
    }
    if (bits > 64) {
        move_wide(l, d, a);
        return;
    }
    uint32_t d_count = d->kind == LW_O_VECTOR ? d->part_count : 1, a_count = a->kind == LW_O_VECTOR ? a->part_count : 1;
    bool halves_evenly = !(d_count & (d_count - 1)) && !(a_count & (a_count - 1)) && bits / d_count >= 8 &&
                         bits / a_count >= 8;
    if (type != LW_T_pred && !halves_evenly) {
        lw_lower_error(l, i);
        return;
    }
    uint32_t value;
    if (a_count > 1) {
        uint32_t parts[8];
        static const lw_type element[] = {[8] = LW_T_b8, [16] = LW_T_b16, [32] = LW_T_b32};
        for (uint32_t k = 0; k < a_count; k++) parts[k] = lw_lower_read(l, &a->parts[k], element[bits / a_count]);
        if (l->failed) return;
        value = pack(l, parts, a_count, bits);
    } else value = lw_lower_read(l, a, type);
    if (l->failed) return;
    if (d_count > 1) unpack(l, d->parts, d_count, bits, value);
    else {
        uint32_t to = lw_lower_write(l, d, type);
        if (l->failed) return;
        /* 8-bit registers share slots with 16-bit ones; anything else must agree, as verify has checked */
        if (l->vregs.at[to].class != l->vregs.at[value].class) lw_lower_error(l, i);
        else lw_lower_move(l, to, value);
    }
}

/* ---- Memory --------------------------------------------------------------------------------------------- */

bool lw_lower_memory_form(lw_lower *l, const lw_instruction *i, lw_memory_form *form, uint32_t *elements) {
    lw_type type = last_type(i);
    uint32_t bytes = lw_types[type].bits / 8;
    *elements = i->match->elements;
    form->is_wide = bytes == 16;
    if (bytes == 16) { /* two halves each */
        bytes = 8;
        *elements *= 2;
    }
    if (bytes > 8 || bytes == 0 || *elements > 8) {
        lw_lower_error(l, i);
        return false;
    }
    form->size = (uint32_t)__builtin_ctz(bytes);
    form->vector = (uint32_t)__builtin_ctz(*elements);
    form->is_signed = lw_types[type].kind == 'S';
    form->is_volatile = i->match->racy;
    return true;
}

static const lw_operand *element_of(const lw_operand *operand, uint32_t k) {
    return operand->kind == LW_O_VECTOR ? &operand->parts[k] : operand;
}

uint32_t lw_lower_vector_element(lw_lower *l, const lw_operand *operand, uint32_t k, uint32_t count, lw_type type,
                                 bool write) {
    if (lw_types[type].bits == 128) return lw_lower_half(l, element_of(operand, k / 2), k % 2);
    lw_operand whole = *element_of(operand, k);
    if (operand->kind != LW_O_VECTOR && count > 1) whole.select = (lw_select)(LW_SEL_x + k);
    return write ? lw_lower_write(l, &whole, type) : lw_lower_read(l, &whole, type);
}

/* Of an address, and of all that are made of it by adding. */
static uint16_t hint_of(lw_lower *l, uint32_t address) {
    lw_register *r = &l->vregs.at[address];
    if (!r->hint) r->hint = (uint16_t)(1 + l->program->hint_count++ % (UINT16_MAX - 1));
    return r->hint;
}

/* Accesses by one address go to one allocation as a rule, and have the one met last in common; so have those by
 * addresses made of one parameter. Of other windows than these nobody asks. */
uint32_t lw_lower_hint(lw_lower *l, lw_memory_form form, uint32_t address) {
    if (form.window != LW_WINDOW_global && form.window != LW_WINDOW_generic && form.window != LW_WINDOW_const) return 0;
    if (address == LW_NO_SLOT) return l->program->hint_count++;
    return hint_of(l, address) - 1u;
}

void lw_lower_ld(lw_lower *l, const lw_instruction *i) {
    lw_memory_form form = {0};
    uint32_t count, elements[8] = {0};
    if (!lw_lower_memory_form(l, i, &form, &count)) return;
    const lw_operand *d = &i->operands[0];
    if (d->kind == LW_O_VECTOR && d->part_count != (lw_types[last_type(i)].bits == 128 ? count / 2 : count)) {
        lw_lower_error(l, i);
        return;
    }
    /* All elements are of one width, that of the registers; what goes nowhere takes a slot of that width. */
    lw_class class = LW_CLASS_pred;
    for (uint32_t k = 0; k < count; k++) {
        if (element_of(d, k)->kind == LW_O_SINK) continue;
        elements[k] = lw_lower_vector_element(l, d, k, count, last_type(i), true);
        if (l->failed) return;
        if (class == LW_CLASS_pred) class = l->vregs.at[elements[k]].class;
        if (l->vregs.at[elements[k]].class != class || class == LW_CLASS_pred) {
            lw_lower_error(l, i);
            return;
        }
    }
    if (class == LW_CLASS_pred) class = lw_class_of(last_type(i));
    for (uint32_t k = 0; k < count; k++)
        if (element_of(d, k)->kind == LW_O_SINK) elements[k] = lw_lower_vreg(l, class);
    form.slot = class;
    lw_op op = {.d = LW_NO_SLOT, .a = LW_NO_SLOT, .b = LW_NO_SLOT};
    if (!lw_lower_address(l, &op, &i->operands[1], i->match, &form)) return;
    op.d = elements[0];
    if (count > 1) {
        op.d = l->lists.count;
        for (uint32_t k = 0; k < count; k++) LW_PUSH(l->arena, l->lists) = elements[k];
    }
    lw_op *ld = lw_lower_op(l, LW_OP_ld);
    ld->d = op.d, ld->a = op.a, ld->imm = op.imm;
    ld->c = lw_memory_pack(form);
    ld->e = lw_lower_hint(l, form, op.a);
    if (form.window == LW_WINDOW_param && count == 1 && l->vregs.at[ld->d].class == LW_CLASS_64) hint_of(l, ld->d);
}

void lw_lower_st(lw_lower *l, const lw_instruction *i) {
    lw_memory_form form = {0};
    uint32_t count, elements[8] = {0};
    if (!lw_lower_memory_form(l, i, &form, &count)) return;
    const lw_operand *b = &i->operands[1];
    if (b->kind == LW_O_VECTOR && b->part_count != (lw_types[last_type(i)].bits == 128 ? count / 2 : count)) {
        lw_lower_error(l, i);
        return;
    }
    lw_class class = LW_CLASS_16;
    for (uint32_t k = 0; k < count; k++) {
        elements[k] = lw_lower_vector_element(l, b, k, count, last_type(i), false);
        if (l->failed) return;
        if (l->vregs.at[elements[k]].class > class) class = l->vregs.at[elements[k]].class;
    }
    for (uint32_t k = 0; k < count; k++) elements[k] = lw_lower_resize(l, elements[k], class, false);
    form.slot = class;
    lw_op op = {.a = LW_NO_SLOT};
    if (!lw_lower_address(l, &op, &i->operands[0], i->match, &form)) return;
    form.is_const = form.window == LW_WINDOW_const;
    op.d = elements[0];
    if (count > 1) {
        op.d = l->lists.count;
        for (uint32_t k = 0; k < count; k++) LW_PUSH(l->arena, l->lists) = elements[k];
    }
    lw_op *st = lw_lower_op(l, LW_OP_st);
    st->d = op.d, st->a = op.a, st->imm = op.imm;
    st->c = lw_memory_pack(form);
    st->e = lw_lower_hint(l, form, op.a);
}

/* ---- Address conversions -------------------------------------------------------------------------------- */

static uint64_t window_base(lw_space space) {
    return space == LW_SPACE_shared  ? LW_SHARED_WINDOW
           : space == LW_SPACE_local ? LW_LOCAL_WINDOW
           : space == LW_SPACE_param ? LW_PARAM_WINDOW
                                     : 0;
}

/* Of kernel parameters the generic address is in the parameter window; of a function's own ones, which live in its
 * frame, in the local window. */
static lw_space real_space(const lw_lower *l, lw_space space, const lw_operand *operand) {
    const lw_object *object = operand->kind == LW_O_NAME ? operand->object : NULL;
    bool formal = object && object->kind == LW_OBJ_VARIABLE && object->space == LW_SPACE_param;
    return space == LW_SPACE_param && formal && !(l->ptx->function->is_entry && object->is_param) ? LW_SPACE_local
                                                                                                  : space;
}

void lw_lower_cvta(lw_lower *l, const lw_instruction *i) {
    lw_type type = last_type(i);
    uint32_t a = lw_lower_read(l, &i->operands[1], type), d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    if (l->vregs.at[a].class != lw_class_of(type) || l->vregs.at[d].class != lw_class_of(type)) {
        lw_lower_error(l, i);
        return;
    }
    uint64_t base = window_base(real_space(l, i->match->space, &i->operands[1]));
    if (!base) {
        lw_lower_move(l, d, a);
        return;
    }
    bool wide = lw_class_of(type) == LW_CLASS_64;
    lw_lower_lane_into(l, d, wide ? LW_LANE_add_b64 : LW_LANE_add_b32, a,
                       lw_lower_const(l, lw_class_of(type), i->match->form->to ? 0 - base : base), LW_NO_SLOT);
}

static lw_where where_of(const lw_match *match) {
    switch (match->space) {
    case LW_SPACE_global: return LW_WHERE_global;
    case LW_SPACE_const: return LW_WHERE_const;
    case LW_SPACE_shared: return match->of_cluster ? LW_WHERE_cluster : LW_WHERE_shared;
    case LW_SPACE_local: return LW_WHERE_local;
    case LW_SPACE_param: return LW_WHERE_param;
    default: return LW_WHERE_nowhere;
    }
}

void lw_lower_isspacep(lw_lower *l, const lw_instruction *i) {
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_pred), a = lw_lower_read(l, &i->operands[1], LW_T_b64);
    if (l->failed) return;
    uint32_t bytes = l->vregs.at[a].class == LW_CLASS_64 ? 8 : 4;
    lw_op *op = lw_lower_op(l, LW_OP_isspacep);
    op->d = d, op->a = a, op->b = where_of(i->match), op->c = bytes;
}

/* A cache policy is opaque, and there is no cache: all of them are this one. */
static const uint64_t POLICY = UINT64_C(1) << 60;

void lw_lower_createpolicy(lw_lower *l, const lw_instruction *i) {
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_u64);
    if (!l->failed) lw_lower_move(l, d, lw_lower_const(l, LW_CLASS_64, POLICY));
}

/* ---- cvt ------------------------------------------------------------------------------------------------ */

/* The low bits of a register, as a value of `type` held in that type's own class. */
static uint32_t narrow_source(lw_lower *l, uint32_t a, lw_type type) {
    a = lw_lower_resize(l, a, lw_class_of(type), false);
    if (lw_types[type].bits != 8) return a;
    return lw_lower_lane(l, lw_types[type].kind == 'S' ? LW_LANE_sext8_b16 : LW_LANE_zext8_b16, a, LW_NO_SLOT,
                         LW_NO_SLOT);
}

static bool is_integer(lw_type type) { return lw_types[type].kind == 'U' || lw_types[type].kind == 'S'; }

void lw_lower_cvt(lw_lower *l, const lw_instruction *i) {
    lw_type to = i->match->types[0], from = i->match->types[1];
    uint32_t a = lw_lower_read(l, &i->operands[1], from), d = lw_lower_write(l, &i->operands[0], to);
    if (l->failed) return;
    bool from_integer = is_integer(from), to_integer = is_integer(to);
    a = from_integer ? narrow_source(l, a, from) : lw_lower_resize(l, a, lw_class_of(from), false);
    if (i->match->first) a = lw_lower_lane(l, (lw_lane_id)i->match->first, a, LW_NO_SLOT, LW_NO_SLOT);
    if (from_integer && to_integer && !i->match->mode.sat) {
        a = lw_lower_resize(l, a, lw_class_of(to), lw_types[from].kind == 'S');
        if (lw_types[to].bits == 8 && from != to) a = narrow_source(l, a, to);
    } else if (i->match->lane)
        a = lw_lower_lane(l, (lw_lane_id)i->match->lane, a,
                          lw_lanes[i->match->lane].how ? lw_lower_const(l, LW_CLASS_32, i->match->how) : LW_NO_SLOT,
                          LW_NO_SLOT);
    else {
        lw_lower_error(l, i);
        return;
    }
    a = lw_lower_resize(l, a, l->vregs.at[d].class, lw_types[to].kind == 'S');
    lw_lower_move(l, d, a);
}

/* ---- Extended precision --------------------------------------------------------------------------------- */

static uint32_t carry_register(lw_lower *l) {
    if (l->ptx->carry == LW_NO_SLOT) l->ptx->carry = lw_lower_vreg(l, LW_CLASS_pred);
    return l->ptx->carry;
}

static uint32_t complement(lw_lower *l, uint32_t p) {
    uint32_t d = lw_lower_vreg(l, LW_CLASS_pred);
    lw_lower_predicate(l, d, (uint8_t)~LW_LUT_A, p, LW_NO_SLOT);
    return d;
}

void lw_lower_carry(lw_lower *l, const lw_instruction *i) {
    lw_type type = last_type(i);
    bool wide = lw_types[type].bits == 64, is_sub = i->match->form->subtracts, is_mad = i->match->mode.half;
    bool carries_in = i->match->form->takes_carry, carries_out = i->match->mode.carry;
    uint32_t a = lw_lower_read(l, &i->operands[1], type), b = lw_lower_read(l, &i->operands[2], type);
    uint32_t d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    if (is_mad) {
        bool is_signed = lw_types[type].kind == 'S';
        lw_lane_id product = i->match->mode.half == LW_MOD_lo ? (wide ? LW_LANE_mul_lo_b64 : LW_LANE_mul_lo_b32)
                             : wide                           ? (is_signed ? LW_LANE_mul_hi_s64 : LW_LANE_mul_hi_u64)
                                                              : (is_signed ? LW_LANE_mul_hi_s32 : LW_LANE_mul_hi_u32);
        a = lw_lower_lane(l, product, a, b, LW_NO_SLOT);
        b = lw_lower_read(l, &i->operands[3], type);
        if (l->failed) return;
    }
    /* CC.CF holds the carry of an addition, but the complement of a subtraction's borrow (docs/decisions/0003). */
    uint32_t in = lw_lower_const(l, LW_CLASS_pred, 0);
    if (carries_in) in = is_sub ? complement(l, carry_register(l)) : carry_register(l);
    uint32_t out = LW_NO_SLOT;
    if (carries_out) /* computed apart, since d may be one of the operands and the carry its own input */
        out = lw_lower_lane(l,
                            is_sub ? (wide ? LW_LANE_subc_carry_b64 : LW_LANE_subc_carry_b32)
                                   : (wide ? LW_LANE_addc_carry_b64 : LW_LANE_addc_carry_b32),
                            a, b, in);
    if (carries_in)
        lw_lower_lane_into(
            l, d, is_sub ? (wide ? LW_LANE_subc_b64 : LW_LANE_subc_b32) : (wide ? LW_LANE_addc_b64 : LW_LANE_addc_b32),
            a, b, in);
    else
        lw_lower_lane_into(
            l, d, is_sub ? (wide ? LW_LANE_sub_b64 : LW_LANE_sub_b32) : (wide ? LW_LANE_add_b64 : LW_LANE_add_b32), a,
            b, LW_NO_SLOT);
    if (carries_out) lw_lower_move(l, carry_register(l), is_sub ? complement(l, out) : out);
}

/* ---- Shifts --------------------------------------------------------------------------------------------- */

/* Of an immediate amount above 65535 of a 16-bit shift sm_90 takes the low half, the manual clamps the whole
 * (docs/decisions/0004). */
void lw_lower_shift(lw_lower *l, const lw_instruction *i) {
    lw_lane_id lane = (lw_lane_id)i->match->lane;
    lw_type type = lw_ptx_operand_type(i->match, 0);
    const lw_operand *amount = &i->operands[2];
    uint32_t a = lw_lower_read(l, &i->operands[1], type), b = lw_lower_read(l, amount, LW_T_u32);
    uint32_t d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    bool differs = lw_types[type].bits == 16 && amount->kind == LW_O_INT && (uint32_t)amount->value > UINT16_MAX;
    if (!differs) {
        lw_lower_lane_into(l, d, lane, a, b, LW_NO_SLOT);
        return;
    }
    uint32_t low = lw_lower_const(l, LW_CLASS_32, (uint16_t)amount->value);
    bool manual = l->program->semantics == LW_SEMANTICS_manual;
    uint32_t other = lw_lower_lane(l, lane, a, manual ? low : b, LW_NO_SLOT); /* before d, which may be a */
    lw_lower_lane_into(l, d, lane, a, manual ? b : low, LW_NO_SLOT);
    lw_lower_note(l, LW_D_note_semantics, lw_lower_lane(l, LW_LANE_setp_ne_b16, other, d, LW_NO_SLOT));
}
