/* move.c: moves, loads, stores, atomics, addresses (manual sections 9.7.9, 9.7.13.7). */
#include "reference.h"

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

static uint32_t elements(const ref_op *op) {
    return ref_has(op, REF_v2) ? 2 : ref_has(op, REF_v4) ? 4 : ref_has(op, REF_v8) ? 8 : 1;
}

/* Element k of { } or of a register declared as a vector. */
static lw_operand element(const lw_operand *operand, uint32_t k, uint32_t count) {
    if (operand->kind == LW_O_VECTOR) return operand->parts[k];
    lw_operand one = *operand;
    if (count > 1) one.select = (lw_select)(LW_SEL_x + k);
    return one;
}

/* ---- mov ------------------------------------------------------------------------------------------------------- */

static ref_value read_wide(ref_thread *t, const ref_op *op, const lw_operand *a) {
    if (a->kind == LW_O_VECTOR && a->part_count > 1)
        return (ref_value){ref_read(t, op, &a->parts[0], LW_T_b64), ref_read(t, op, &a->parts[1], LW_T_b64), true};
    ref_value *from = ref_register(t, a);
    if (from && from->written) return *from;
    ref_stop(t, op, REF_UNDEFINED, "128 bits of something that is no register, or that nobody wrote");
    return (ref_value){.written = true};
}

static void write_wide(ref_thread *t, const lw_operand *d, ref_value value) {
    if (d->kind == LW_O_SINK) return;
    if (d->kind != LW_O_VECTOR || d->part_count == 1) {
        *ref_register(t, d) = value;
        return;
    }
    ref_write(t, &d->parts[0], LW_T_b64, value.low);
    ref_write(t, &d->parts[1], LW_T_b64, value.high);
}

static const lw_type untyped[] = {[8] = LW_T_b8, [16] = LW_T_b16, [32] = LW_T_b32, [64] = LW_T_b64};

/* Element by element, all of them read before one is written. */
static void move_elements(ref_thread *t, const ref_op *op, uint32_t count) {
    uint64_t values[8];
    for (uint32_t k = 0; k < count; k++) {
        lw_operand a = element(&op->in->operands[1], k, count);
        values[k] = ref_read(t, op, &a, op->type);
    }
    for (uint32_t k = 0; k < count; k++) {
        lw_operand d = element(&op->in->operands[0], k, count);
        ref_write(t, &d, op->type, values[k]);
    }
}

void ref_do_mov(ref_thread *t, const ref_op *op) {
    const lw_operand *d = &op->in->operands[0], *a = &op->in->operands[1];
    if (elements(op) > 1) {
        move_elements(t, op, elements(op));
        return;
    }
    if (op->type == LW_T_b128) {
        write_wide(t, d, read_wide(t, op, a));
        return;
    }
    uint32_t bits = ref_bits(op->type);
    uint64_t value = 0;
    if (a->kind == LW_O_VECTOR && a->part_count > 1) { /* packed: the first element lowest */
        uint32_t each = bits / a->part_count;
        for (uint32_t k = 0; k < a->part_count; k++) value |= ref_read(t, op, &a->parts[k], untyped[each]) << k * each;
    } else value = ref_read(t, op, a, op->type);
    if (d->kind == LW_O_VECTOR && d->part_count > 1) {
        uint32_t each = bits / d->part_count;
        for (uint32_t k = 0; k < d->part_count; k++) ref_write(t, &d->parts[k], untyped[each], value >> k * each);
    } else ref_write(t, d, op->type, value);
}

/* ---- Loads and stores ------------------------------------------------------------------------------------------ */

void ref_do_ld(ref_thread *t, const ref_op *op) {
    uint32_t count = elements(op), bytes = ref_bits(op->type) / 8;
    const unsigned char *at = ref_address(t, op, &op->in->operands[1], op->in->match->space, bytes * count, REF_READS);
    unsigned char loaded[128];
    if (!at) return;
    memcpy(loaded, at, bytes * count);
    for (uint32_t k = 0; k < count; k++) {
        lw_operand d = element(&op->in->operands[0], k, count);
        ref_value value = {.written = true};
        memcpy(&value, loaded + k * bytes, bytes);
        if (op->type == LW_T_b128) write_wide(t, &d, value);
        else ref_write(t, &d, op->type, value.low);
    }
}
void ref_do_ldu(ref_thread *t, const ref_op *op) { ref_do_ld(t, op); }

void ref_do_st(ref_thread *t, const ref_op *op) {
    uint32_t count = elements(op), bytes = ref_bits(op->type) / 8;
    unsigned char *at = ref_address(t, op, &op->in->operands[0], op->in->match->space, bytes * count, REF_WRITES);
    for (uint32_t k = 0; k < count && at; k++) {
        lw_operand b = element(&op->in->operands[1], k, count);
        ref_value value = op->type == LW_T_b128 ? read_wide(t, op, &b)
                                                : (ref_value){.low = ref_read(t, op, &b, op->type)};
        memcpy(at + k * bytes, &value, bytes);
    }
}

/* ---- Atomics --------------------------------------------------------------------------------------------------- */

static uint64_t changed(const ref_op *op, uint64_t old, uint64_t b, uint64_t c, bool in_shared) {
    lw_type type = op->type;
    if (ref_is_half(type)) return ref_half_change(op, old, b);
    bool less = ref_is_signed(type) ? ref_signed(b, ref_bits(type)) < ref_signed(old, ref_bits(type)) : b < old;
    if (ref_has(op, REF_and)) return old & b;
    if (ref_has(op, REF_or)) return old | b;
    if (ref_has(op, REF_xor)) return old ^ b;
    if (ref_has(op, REF_exch)) return b;
    if (ref_has(op, REF_cas)) return old == b ? c : old;
    if (ref_has(op, REF_inc)) return old >= b ? 0 : old + 1;
    if (ref_has(op, REF_dec)) return old == 0 || old > b ? b : old - 1;
    if (ref_has(op, REF_min)) return less ? b : old;
    if (ref_has(op, REF_max)) return less ? old : b;
    return ref_is_real(type) ? ref_real_add(old, b, type, !in_shared) : old + b;
}

/* exch and cas of 128 bits. */
static void atomic_wide(ref_thread *t, const ref_op *op) {
    const lw_operand *operands = op->in->operands;
    unsigned char *at = ref_address(t, op, &operands[1], op->in->match->space, 16, REF_CHANGES);
    const ref_value b = read_wide(t, op, &operands[2]);
    const ref_value c = ref_has(op, REF_cas) ? read_wide(t, op, &operands[3]) : b;
    ref_value old = {.written = true};
    if (!at) return;
    memcpy(&old, at, 16);
    if (ref_has(op, REF_exch) || (old.low == b.low && old.high == b.high)) memcpy(at, &c, 16);
    write_wide(t, &operands[0], old);
}

static void atomic(ref_thread *t, const ref_op *op, uint32_t first) {
    const lw_operand *operands = op->in->operands;
    const uint32_t bytes = ref_bits(op->type) / 8, count = elements(op);
    if (op->type == LW_T_b128) {
        atomic_wide(t, op);
        return;
    }
    unsigned char *at = ref_address(t, op, &operands[first], op->in->match->space, bytes * count, REF_CHANGES);
    uint64_t old[8] = {0}, b[8];
    for (uint32_t k = 0; k < count; k++) {
        lw_operand one = element(&operands[first + 1], k, count);
        b[k] = ref_read(t, op, &one, op->type);
    }
    uint64_t c = ref_has(op, REF_cas) ? ref_read(t, op, &operands[first + 2], op->type) : 0;
    if (!at) return;
    const ref_machine *m = t->machine;
    for (uint32_t k = 0; k < count; k++, at += bytes) {
        memcpy(&old[k], at, bytes);
        uint64_t now = changed(op, old[k], b[k], c, at >= m->shared && at < m->shared + m->shared_size);
        memcpy(at, &now, bytes);
    }
    for (uint32_t k = 0; first && k < count; k++) {
        lw_operand d = element(&operands[0], k, count);
        ref_write(t, &d, op->type, old[k]);
    }
}
void ref_do_atom(ref_thread *t, const ref_op *op) { atomic(t, op, 1); }
void ref_do_red(ref_thread *t, const ref_op *op) { atomic(t, op, 0); }

/* ---- Addresses ------------------------------------------------------------------------------------------------- */

/* A function's own parameters live with its local variables. */
static uint64_t base_of(const ref_thread *t, lw_space space, const lw_operand *a) {
    const lw_object *object = a->kind == LW_O_NAME ? a->object : NULL;
    bool formal = object && object->kind == LW_OBJ_VARIABLE && object->space == LW_SPACE_param;
    bool of_kernel = formal && object->is_param && t->frame->function->is_entry;
    if (space == LW_SPACE_param && formal && !of_kernel) return REF_LOCAL_BASE;
    return space == LW_SPACE_shared  ? REF_SHARED_BASE
           : space == LW_SPACE_local ? REF_LOCAL_BASE
           : space == LW_SPACE_param ? REF_PARAM_BASE
                                     : 0;
}

void ref_do_cvta(ref_thread *t, const ref_op *op) {
    const lw_operand *a = &op->in->operands[1];
    uint64_t address = ref_read(t, op, a, op->type), base = base_of(t, op->in->match->space, a);
    ref_write(t, &op->in->operands[0], op->type, ref_has(op, REF_to) ? address - base : address + base);
}

/* Each CTA is a cluster of its own, of which it is the only one. */
void ref_do_mapa(ref_thread *t, const ref_op *op) {
    if (ref_read(t, op, &op->in->operands[2], LW_T_u32)) ref_stop(t, op, REF_UNDEFINED, "a CTA that is not there");
    ref_write(t, &op->in->operands[0], op->type, ref_read(t, op, &op->in->operands[1], op->type));
}
void ref_do_getctarank(ref_thread *t, const ref_op *op) { ref_write(t, &op->in->operands[0], LW_T_u32, 0); }

void ref_do_isspacep(ref_thread *t, const ref_op *op) {
    uint64_t address = ref_read(t, op, &op->in->operands[1], LW_T_b64), is = address >> 60;
    lw_space space = op->in->match->space;
    bool p = space == LW_SPACE_shared  ? is == REF_SHARED_BASE >> 60
             : space == LW_SPACE_local ? is == REF_LOCAL_BASE >> 60
             : space == LW_SPACE_param ? is == REF_PARAM_BASE >> 60
             : space == LW_SPACE_const ? is == REF_CONST_BASE >> 60
                                       : is == 0 || is == REF_GLOBAL_BASE >> 60;
    ref_write(t, &op->in->operands[0], LW_T_pred, p);
}
