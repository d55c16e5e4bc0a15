/* pto_vector.c: operations on vector registers and masks.
 *
 * Each is computed for all lanes; where its mask leaves some out, a select puts what they have instead: what the
 * destination had, where the text names it, else zeros or poison. Masks that are known to be full leave no trace. */
#include "middle/pto.h"

/* ---- Masks ---------------------------------------------------------------------------------------------------- */

static bool is_full(const lw_pto_lower *p, uint32_t mask) {
    uint64_t bits;
    return lw_pto_is_constant(p, mask, &bits) && bits;
}

/* Lanes in which an operation on registers of the type has effects. */
static uint32_t active(lw_pto_lower *p, uint32_t mask, const lw_pto_type *type) {
    return lw_pto_and(p, mask, lw_pto_width_of(p, type->lanes)->inside);
}

static void select_into(lw_pto_lower *p, uint32_t d, uint32_t mask, uint32_t a, uint32_t b) {
    static const uint16_t codes[] = {LW_OP_predicate, LW_OP_select_16, LW_OP_select_32, LW_OP_select_64};
    lw_class class = p->l->vregs.at[d].class;
    lw_op *op = lw_lower_op(p->l, codes[class]);
    op->d = d, op->a = a, op->b = b, op->c = mask;
    if (class == LW_CLASS_pred) op->imm = 0xe4; /* c ? a : b, index a<<2|b<<1|c */
}

/* What inactive lanes of an SSA result hold. */
static uint32_t inactive(lw_pto_lower *p, lw_class class) {
    return lw_lower_const(p->l, class, p->choices.inactive == LW_PTO_INACTIVE_poison ? LW_PTO_POISON : 0);
}

/* Gives result k the value v in the lanes of the mask. */
static void define(lw_pto_lower *p, const lw_pto_op *op, uint32_t k, uint32_t v, uint32_t mask) {
    uint32_t d = lw_pto_write(p, op->results[k]);
    if (is_full(p, mask)) lw_lower_move(p->l, d, v);
    else select_into(p, d, mask, v, op->merges[k] ? d : inactive(p, p->l->vregs.at[d].class));
}

/* Where a result of this operation may be computed: in its place, unless some lanes keep what is there. */
static uint32_t destination(lw_pto_lower *p, const lw_pto_op *op, uint32_t mask) {
    uint32_t d = lw_pto_write(p, op->results[0]);
    return is_full(p, mask) ? d : lw_lower_vreg(p->l, p->l->vregs.at[d].class);
}

static void finish(lw_pto_lower *p, const lw_pto_op *op, uint32_t computed, uint32_t mask) {
    if (!is_full(p, mask)) define(p, op, 0, computed, mask);
}

/* The pattern as words for one period of 64 lanes or more. */
static void mask_bits(lw_pto_lower *p, const lw_pto_op *op) {
    lw_lower *l = p->l;
    uint32_t lanes = op->results[0]->type->lanes, words = (lanes + 63) / 64;
    bool all = true, none = true;
    for (uint32_t i = 0; i < lanes; i++) {
        bool bit = op->bits[i / 64] >> i % 64 & 1;
        all &= bit, none &= !bit;
    }
    if (all || none) {
        lw_pto_set_constant(p, op->results[0], all);
        return;
    }
    uint32_t first = l->constants.count, d = lw_pto_write(p, op->results[0]);
    for (uint32_t w = 0; w < words; w++) LW_PUSH(l->arena, l->constants) = op->bits[w];
    lw_op *made = lw_lower_op(l, LW_OP_pattern);
    made->d = d, made->c = lanes, made->imm = first;
}

static void mask_first(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t count = lw_pto_read(p, op->operands[0]), lanes = op->results[0]->type->lanes;
    uint64_t known;
    if (lw_pto_is_constant(p, count, &known) && ((int64_t)known <= 0 || known >= lanes))
        lw_pto_set_constant(p, op->results[0], (int64_t)known > 0);
    else if (lw_pto_is_constant(p, count, &known))
        lw_lower_lane_into(p->l, lw_pto_write(p, op->results[0]), LW_LANE_setp_lt_u32, p->lane,
                           lw_lower_const(p->l, LW_CLASS_32, known), LW_NO_SLOT);
    else lw_lower_lane_into(p->l, lw_pto_write(p, op->results[0]), LW_LANE_setp_lt_s64, p->lane64, count, LW_NO_SLOT);
}

static void mask_logic(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t a = lw_pto_read(p, op->operands[0]),
             b = op->operand_count > 1 ? lw_pto_read(p, op->operands[1]) : LW_NO_SLOT;
    uint32_t d = lw_pto_write(p, op->results[0]);
    lw_op *made = lw_lower_op(p->l, LW_OP_predicate);
    made->d = d, made->a = a, made->b = b;
    made->imm = op->id == LW_PTO_MASK_AND   ? 0xf0 & 0xcc
                : op->id == LW_PTO_MASK_OR  ? 0xf0 | 0xcc
                : op->id == LW_PTO_MASK_XOR ? 0xf0 ^ 0xcc
                                            : 0x0f;
}

/* ---- Shifts ---------------------------------------------------------------------------------------------------- */

static void check_counts(lw_pto_lower *p, uint32_t counts, uint32_t bits, uint32_t lanes) {
    lw_lower *l = p->l;
    uint64_t known;
    if (lw_pto_is_constant(p, counts, &known) && (known & UINT64_MAX >> (64 - bits)) < bits) return;
    lw_op *op = lw_lower_op(l, LW_OP_shift_check);
    op->a = counts, op->c = bits / 8, op->b = is_full(p, lanes) ? LW_NO_SLOT : lanes;
    op->imm = bits | (uint64_t)l->program->notes.count << 32;
    if (p->choices.overflow == LW_PTO_OVERFLOW_trap) op->flags |= LW_OP_TRAPS;
    else
        lw_lower_may_note(l, p->choices.overflow == LW_PTO_OVERFLOW_modulo ? LW_D_note_shift_modulo
                                                                           : LW_D_note_shift_saturated);
}

static uint32_t count_modulo(lw_pto_lower *p, uint32_t counts, uint32_t bits) {
    uint64_t known;
    lw_class class = p->l->vregs.at[counts].class;
    if (lw_pto_is_constant(p, counts, &known)) return lw_lower_const(p->l, class, known & (bits - 1));
    return lw_lower_lane(p->l, lw_pto_lane(LW_PTO_VAND, bits, false), counts, lw_lower_const(p->l, class, bits - 1),
                         LW_NO_SLOT);
}

/* The whole of a shift by counts that are not known, under a mask or none: one operation. */
static void shift(lw_pto_lower *p, const lw_pto_op *op, uint32_t a, uint32_t b, uint32_t mask) {
    const lw_pto_scalar_info *element = &lw_pto_scalars[op->type->element];
    bool traps = p->choices.overflow == LW_PTO_OVERFLOW_trap, full = is_full(p, mask);
    uint32_t lanes = active(p, mask, op->type), d = lw_pto_write(p, op->results[0]);
    uint32_t otherwise = full || op->merges[0]
                             ? d
                             : inactive(p, p->l->vregs.at[d].class); /* also of lanes that a narrow register has not */
    lw_op *made = lw_lower_op(p->l, LW_OP_vshift);
    made->d = d, made->a = a, made->b = b, made->c = is_full(p, lanes) ? LW_NO_SLOT : otherwise;
    made->e = is_full(p, lanes) ? LW_NO_SLOT : lanes;
    made->imm = lw_pto_lane(op->id, element->bits, element->kind == 'S') | (uint64_t)p->l->program->notes.count << 32;
    if (traps) made->flags |= LW_OP_TRAPS;
    else lw_lower_may_note(p->l, LW_D_note_shift_saturated);
}

/* ---- Computation ----------------------------------------------------------------------------------------------- */

static void compute(lw_pto_lower *p, const lw_pto_op *op) {
    const lw_pto_scalar_info *element = &lw_pto_scalars[op->type->element];
    bool binary = op->id != LW_PTO_VNEG && op->id != LW_PTO_VABS && op->id != LW_PTO_VNOT,
         shifts = op->id == LW_PTO_VSHR || op->id == LW_PTO_VSHL;
    uint32_t a = lw_pto_read(p, op->operands[0]), b = binary ? lw_pto_read(p, op->operands[1]) : LW_NO_SLOT;
    uint32_t mask = lw_pto_read(p, op->operands[binary ? 2 : 1]);
    if (shifts && p->choices.overflow != LW_PTO_OVERFLOW_modulo && !p->l->vregs.at[b].is_const) {
        shift(p, op, a, b, mask);
        return;
    }
    if (shifts) check_counts(p, b, element->bits, active(p, mask, op->type));
    if (shifts && p->choices.overflow == LW_PTO_OVERFLOW_modulo) b = count_modulo(p, b, element->bits);
    uint32_t to = destination(p, op, mask);
    lw_lower_lane_into(p->l, to, lw_pto_lane(op->id, element->bits, element->kind == 'S'), a, b, LW_NO_SLOT);
    finish(p, op, to, mask);
}

static void compare(lw_pto_lower *p, const lw_pto_op *op) {
    static const lw_pto_order orders[LW_PTO_WORD_COUNT] = {
        [LW_PTO_VCMP_eq] = LW_PTO_EQ, [LW_PTO_VCMP_ne] = LW_PTO_NE, [LW_PTO_VCMP_lt] = LW_PTO_LT,
        [LW_PTO_VCMP_le] = LW_PTO_LE, [LW_PTO_VCMP_gt] = LW_PTO_GT, [LW_PTO_VCMP_ge] = LW_PTO_GE,
    };
    const lw_pto_scalar_info *element = &lw_pto_scalars[op->type->element];
    uint32_t d = lw_pto_compare(p, orders[op->word], element->bits, element->kind == 'S',
                                lw_pto_read(p, op->operands[0]), lw_pto_read(p, op->operands[1]));
    define(p, op, 0, d, lw_pto_read(p, op->operands[2]));
}

/* Both results from the operands as they were, one of which may be a destination. */
static void add_with_carry(lw_pto_lower *p, const lw_pto_op *op) {
    static const lw_lane_id carries[] = {[1] = LW_LANE_vaddc_carry_b8,
                                         [2] = LW_LANE_vaddc_carry_b16,
                                         [4] = LW_LANE_addc_carry_b32,
                                         [8] = LW_LANE_addc_carry_b64};
    uint32_t bits = lw_pto_scalars[op->type->element].bits, a = lw_pto_read(p, op->operands[0]),
             b = lw_pto_read(p, op->operands[1]);
    uint32_t in = op->operands[2] ? lw_pto_read(p, op->operands[2]) : lw_lower_const(p->l, LW_CLASS_pred, 0);
    uint32_t mask = lw_pto_read(p, op->operands[3]);
    uint32_t sum = lw_lower_lane(p->l, lw_pto_lane(LW_PTO_VADDC, bits, false), a, b, in),
             carry = lw_lower_lane(p->l, carries[bits / 8], a, b, in);
    uint32_t copy = lw_lower_vreg(p->l, LW_CLASS_pred); /* the mask may be where the carry goes */
    lw_lower_move(p->l, copy, mask);
    define(p, op, 0, sum, is_full(p, mask) ? mask : copy);
    define(p, op, 1, carry, is_full(p, mask) ? mask : copy);
}

static void select_lanes(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t a = lw_pto_read(p, op->operands[0]), b = lw_pto_read(p, op->operands[1]),
             mask = lw_pto_read(p, op->operands[2]);
    uint32_t d = lw_pto_write(p, op->results[0]);
    uint64_t known;
    if (lw_pto_is_constant(p, mask, &known)) lw_lower_move(p->l, d, known ? a : b);
    else select_into(p, d, mask, a, b);
}

static void broadcast(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t v = lw_pto_read(p, op->operands[0]);
    uint64_t known;
    if (lw_pto_is_constant(p, v, &known)) lw_pto_set_constant(p, op->results[0], known);
    else lw_lower_move(p->l, lw_pto_write(p, op->results[0]), v);
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

void lw_pto_move_row(lw_pto_lower *p, lw_op row, uint32_t bytes, bool is_signed, uint32_t inside) {
    lw_memory_form form = {.window = LW_WINDOW_global,
                           .address = LW_ADDRESS_ROW,
                           .size = (uint32_t)__builtin_ctz(bytes),
                           .slot = p->l->vregs.at[row.d].class,
                           .is_signed = is_signed};
    row.c = lw_memory_pack(form);
    row.e = is_full(p, inside) ? LW_NO_SLOT : inside;
    row.imm |= (uint64_t)(uint8_t)p->l->program->hint_count++ << LW_ROW_HINT_SHIFT;
    *lw_lower_op(p->l, row.code) = row;
}

/* Lanes of other gangs may have stored what this loads, or be about to load what this stores over. */
static void wait_for_others(lw_pto_lower *p, bool stores) {
    lw_lower *l = p->l;
    if (!p->wide) return;
    if (p->stored || (stores && p->loaded)) {
        uint32_t number = lw_lower_const(l, LW_CLASS_32, 0);
        lw_op *op = lw_lower_op(l, LW_OP_barrier);
        op->a = number, op->mode = LW_BARRIER_sync;
        l->open = false;
        lw_lower_new_block(l);
        p->stored = p->loaded = false;
    }
    p->stored |= stores;
    p->loaded |= !stores;
}

/* One more than the elements, 0 for as many as there are. */
static uint64_t length_of(const lw_pto_value *memref) {
    return memref->type->count < LW_ROW_MOST ? memref->type->count + 1 : 0;
}

static void load(lw_pto_lower *p, const lw_pto_op *op) {
    const lw_pto_scalar_info *element = &lw_pto_scalars[op->type->element];
    uint32_t base = lw_pto_read(p, op->operands[0]), index = lw_pto_read(p, op->operands[1]),
             mask = lw_pto_read(p, op->operands[2]);
    uint32_t lanes = active(p, mask, op->type), d = lw_pto_write(p, op->results[0]);
    wait_for_others(p, false);
    bool keeps = is_full(p, mask) || op->merges[0], zeroes = !keeps && p->choices.inactive == LW_PTO_INACTIVE_zero;
    if (!keeps && !zeroes) lw_lower_move(p->l, d, inactive(p, p->l->vregs.at[d].class));
    lw_op row = {.code = LW_OP_ld_row,
                 .d = d,
                 .a = base,
                 .b = index,
                 .imm = length_of(op->operands[0]),
                 .flags = zeroes ? LW_OP_ZERO : 0};
    lw_pto_move_row(p, row, element->bits / 8, element->kind == 'S', lanes);
}

static void store(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t value = lw_pto_read(p, op->operands[0]), base = lw_pto_read(p, op->operands[1]),
             index = lw_pto_read(p, op->operands[2]);
    uint32_t lanes = active(p, lw_pto_read(p, op->operands[3]), op->type);
    wait_for_others(p, true);
    lw_op row = {.code = LW_OP_st_row, .d = value, .a = base, .b = index, .imm = length_of(op->operands[1])};
    lw_pto_move_row(p, row, lw_pto_scalars[op->type->element].bits / 8, false, lanes);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

void lw_pto_vector_op(lw_pto_lower *p, const lw_pto_op *op) {
    switch (op->id) {
    case LW_PTO_VCMP: compare(p, op); break;
    case LW_PTO_VSEL: select_lanes(p, op); break;
    case LW_PTO_VADDC: add_with_carry(p, op); break;
    case LW_PTO_VBROADCAST: broadcast(p, op); break;
    case LW_PTO_VLOAD: load(p, op); break;
    case LW_PTO_VSTORE: store(p, op); break;
    case LW_PTO_MASK_ALL: lw_pto_set_constant(p, op->results[0], 1); break;
    case LW_PTO_MASK_NONE: lw_pto_set_constant(p, op->results[0], 0); break;
    case LW_PTO_MASK_FIRST: mask_first(p, op); break;
    case LW_PTO_MASK_BITS: mask_bits(p, op); break;
    case LW_PTO_MASK_AND:
    case LW_PTO_MASK_OR:
    case LW_PTO_MASK_XOR:
    case LW_PTO_MASK_NOT: mask_logic(p, op); break;
    default:
        if (!lw_pto_lane(op->id, 32, true)) lw_bug("'%s' has no lowering", lw_pto_rows[op->id].name);
        compute(p, op);
    }
}
