/* compare.c: lowering of what makes predicates or is chosen by them: set setp selp slct, logic of predicates. */
#include "lanewise/lane/how.h"
#include "middle/ptx.h"

/* The boolean operation of an instruction that has one; 0: it has none. */
static uint8_t table_of(const lw_instruction *i) { return lw_modifiers[i->match->mode.op].table; }

void lw_lower_logic_pred(lw_lower *l, const lw_instruction *i) {
    uint32_t a = lw_lower_read_pred(l, &i->operands[1]);
    uint32_t b = i->operand_count > 2 ? lw_lower_read_pred(l, &i->operands[2]) : LW_NO_SLOT;
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_pred);
    if (!l->failed) lw_lower_predicate(l, d, i->match->form->table, a, b);
}

/* What compares two values; a third operand is the constant that says how. `into`: LW_NO_SLOT, or a register that the
 * result may go to. */
static uint32_t compared(lw_lower *l, const lw_match *m, uint32_t a, uint32_t b, uint32_t into) {
    const lw_lane_id lane = (lw_lane_id)m->lane;
    const uint32_t how = lw_lanes[lane].how ? lw_lower_const(l, LW_CLASS_32, m->how) : LW_NO_SLOT;
    if (into == LW_NO_SLOT) return lw_lower_lane(l, lane, a, b, how);
    lw_lower_lane_into(l, into, lane, a, b, how);
    return into;
}

/* The operands of a comparison, and c where there is a boolean operation. False: diagnosed. */
static bool read_compared(lw_lower *l, const lw_instruction *i, uint32_t read[2], uint32_t *c) {
    if (!i->match->lane) {
        lw_lower_error(l, i);
        return false;
    }
    for (uint32_t k = 0; k < 2; k++) read[k] = lw_lower_read(l, &i->operands[k + 1], i->match->type);
    *c = table_of(i) && i->operand_count > 3 ? lw_lower_read_pred(l, &i->operands[3]) : LW_NO_SLOT;
    return !l->failed;
}

/* The comparison's own result, into `d` where that is a register already, and c where there is a boolean operation.
 * LW_NO_SLOT: diagnosed. */
static uint32_t compare(lw_lower *l, const lw_instruction *i, uint32_t d, uint32_t *c) {
    uint32_t read[2];
    return read_compared(l, i, read, c) ? compared(l, i->match, read[0], read[1], d) : LW_NO_SLOT;
}

/* A comparison's result with c, where there is a boolean operation. */
static uint32_t combined(lw_lower *l, const lw_instruction *i, uint32_t t, uint32_t c) {
    if (c == LW_NO_SLOT) return t;
    const uint32_t d = lw_lower_vreg(l, LW_CLASS_pred);
    lw_lower_predicate(l, d, table_of(i), t, c);
    return d;
}

/* The same of both halves of 32-bit operands, low and high. False: diagnosed. */
static bool compare_halves(lw_lower *l, const lw_instruction *i, uint32_t results[2]) {
    static const lw_lane_id parts[] = {LW_LANE_low_b16_b32, LW_LANE_high_b16_b32};
    uint32_t read[2], c;
    if (!read_compared(l, i, read, &c)) return false;
    for (uint32_t h = 0; h < LW_COUNT(parts); h++) {
        const uint32_t a = lw_lower_lane(l, parts[h], read[0], LW_NO_SLOT, LW_NO_SLOT);
        const uint32_t b = lw_lower_lane(l, parts[h], read[1], LW_NO_SLOT, LW_NO_SLOT);
        results[h] = combined(l, i, compared(l, i->match, a, b, LW_NO_SLOT), c);
    }
    return true;
}

/* The predicates of a destination p, or p|q. */
static const lw_operand *predicate_of(const lw_operand *d, uint32_t which) {
    return d->kind == LW_O_PAIR ? &d->parts[which] : which ? NULL : d;
}

void lw_lower_setp(lw_lower *l, const lw_instruction *i) {
    const lw_operand *p = predicate_of(&i->operands[0], 0), *q = predicate_of(&i->operands[0], 1);
    bool plain = !table_of(i);
    uint32_t c, to = plain && p->kind != LW_O_SINK ? lw_lower_register(l, p) : LW_NO_SLOT;
    uint32_t t = compare(l, i, to, &c);
    if (t == LW_NO_SLOT) return;
    uint8_t lut = plain ? LW_LUT_A : table_of(i);
    /* c may be the register that p names: it is read for q before p is written */
    uint32_t q_value = LW_NO_SLOT;
    if (q && q->kind != LW_O_SINK) {
        q_value = lw_lower_vreg(l, LW_CLASS_pred);
        uint8_t swapped = (uint8_t)((lut & 0x0f) << 4 | lut >> 4); /* the same with t negated */
        lw_lower_predicate(l, q_value, swapped, t, c);
    }
    if (!plain && p->kind != LW_O_SINK) lw_lower_predicate(l, lw_lower_register(l, p), lut, t, c);
    if (q_value != LW_NO_SLOT) lw_lower_move(l, lw_lower_register(l, q), q_value);
}

void lw_lower_setp_halves(lw_lower *l, const lw_instruction *i) {
    uint32_t results[2];
    if (!compare_halves(l, i, results)) return;
    for (uint32_t h = 0; h < LW_COUNT(results); h++) {
        const lw_operand *p = predicate_of(&i->operands[0], h);
        if (p && p->kind != LW_O_SINK) lw_lower_move(l, lw_lower_register(l, p), results[h]);
    }
}

static void select_into(lw_lower *l, uint32_t d, uint32_t a, uint32_t b, uint32_t p) {
    static const uint16_t codes[] = {0, LW_OP_select_16, LW_OP_select_32, LW_OP_select_64};
    lw_op *op = lw_lower_op(l, codes[l->vregs.at[d].class]);
    op->d = d, op->a = a, op->b = b, op->c = p;
}

/* What set gives where the comparison holds: 1 of a floating point type, all ones of others. */
static uint64_t true_of(lw_type type) {
    return type == LW_T_f32                           ? 0x3f800000
           : type == LW_T_f16 || type == LW_T_f16x2   ? 0x3c00
           : type == LW_T_bf16 || type == LW_T_bf16x2 ? 0x3f80
                                                      : UINT64_MAX;
}

void lw_lower_set(lw_lower *l, const lw_instruction *i) {
    const lw_type to = i->match->types[0];
    const lw_class class = lw_class_of(to);
    uint32_t c, t = compare(l, i, LW_NO_SLOT, &c);
    if (t == LW_NO_SLOT) return;
    t = combined(l, i, t, c);
    const uint32_t d = lw_lower_write(l, &i->operands[0], to);
    if (l->failed) return;
    if (l->vregs.at[d].class != class) lw_lower_error(l, i);
    else select_into(l, d, lw_lower_const(l, class, true_of(to)), lw_lower_const(l, class, 0), t);
}

void lw_lower_set_halves(lw_lower *l, const lw_instruction *i) {
    const lw_type to = i->match->types[0];
    uint32_t results[2], half[2];
    if (!compare_halves(l, i, results)) return;
    const uint32_t d = lw_lower_write(l, &i->operands[0], to);
    if (l->failed) return;
    for (uint32_t h = 0; h < LW_COUNT(half); h++) {
        half[h] = lw_lower_vreg(l, LW_CLASS_16);
        select_into(l, half[h], lw_lower_const(l, LW_CLASS_16, true_of(to)), lw_lower_const(l, LW_CLASS_16, 0),
                    results[h]);
    }
    lw_lower_lane_into(l, d, LW_LANE_pack_b32_b16, half[0], half[1], LW_NO_SLOT);
}

void lw_lower_selp(lw_lower *l, const lw_instruction *i) {
    lw_type type = i->match->type;
    uint32_t a = lw_lower_read(l, &i->operands[1], type), b = lw_lower_read(l, &i->operands[2], type);
    uint32_t p = lw_lower_read_pred(l, &i->operands[3]), d = lw_lower_write(l, &i->operands[0], type);
    if (!l->failed) select_into(l, d, a, b, p);
}

void lw_lower_slct(lw_lower *l, const lw_instruction *i) {
    lw_type type = i->match->types[0], by = i->match->types[1];
    uint32_t a = lw_lower_read(l, &i->operands[1], type), b = lw_lower_read(l, &i->operands[2], type);
    uint32_t c = lw_lower_read(l, &i->operands[3], by), d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    const lw_lane_id lane = (lw_lane_id)i->match->lane;
    uint32_t zero = lw_lower_const(l, LW_CLASS_32, 0);
    uint32_t how = lw_lanes[lane].how ? lw_lower_const(l, LW_CLASS_32, LW_FLOAT_GREATER | LW_FLOAT_EQUAL) : LW_NO_SLOT;
    select_into(l, d, a, b, lw_lower_lane(l, lane, c, zero, how));
}

void lw_lower_lop3_bool(lw_lower *l, const lw_instruction *i) {
    const lw_operand *d = &i->operands[0];
    if (d->kind != LW_O_PAIR || i->operand_count != 6) {
        lw_lower_error(l, i);
        return;
    }
    uint32_t read[3];
    for (uint32_t k = 0; k < 3; k++) read[k] = lw_lower_read(l, &i->operands[k + 1], LW_T_b32);
    uint32_t q = lw_lower_read_pred(l, &i->operands[5]);
    if (l->failed) return;
    uint32_t value = lw_lower_vreg(l, LW_CLASS_32);
    lw_op *op = lw_lower_op(l, (uint16_t)(LW_OP_lop3 + (i->operands[4].value & 0xff)));
    op->d = value, op->a = read[0], op->b = read[1], op->c = read[2];
    uint32_t t = lw_lower_lane(l, LW_LANE_setp_ne_b32, value, lw_lower_const(l, LW_CLASS_32, 0), LW_NO_SLOT);
    if (d->parts[0].kind != LW_O_SINK) lw_lower_move(l, lw_lower_register(l, &d->parts[0]), value);
    if (d->parts[1].kind != LW_O_SINK) lw_lower_predicate(l, lw_lower_register(l, &d->parts[1]), table_of(i), t, q);
}
