/* pto_scalar.c: which lane function an operation on an element is, comparisons, and operations on scalars: all lanes
 * compute the same. */
#include "middle/pto.h"

static uint32_t lane_of(lw_pto_lower *p, lw_lane_id id, uint32_t a, uint32_t b) {
    return lw_lower_lane(p->l, id, a, b, LW_NO_SLOT);
}

/* ---- Lane functions ---------------------------------------------------------------------------------------- */

/* By width: 8, 16, 32, 64 bits; unsigned, then signed. An 8-bit element may use a 16-bit function where what is above
 * it does not matter. */
#define BOTH(b8, b16, b32, b64) \
    { \
        {LW_LANE_##b8, LW_LANE_##b16, LW_LANE_##b32, LW_LANE_##b64}, { \
            LW_LANE_##b8, LW_LANE_##b16, LW_LANE_##b32, LW_LANE_##b64 \
        } \
    }
#define EACH(u8, u16, u32, u64, s8, s16, s32, s64) \
    { \
        {LW_LANE_##u8, LW_LANE_##u16, LW_LANE_##u32, LW_LANE_##u64}, { \
            LW_LANE_##s8, LW_LANE_##s16, LW_LANE_##s32, LW_LANE_##s64 \
        } \
    }

typedef lw_lane_id lw_lanes_by_type[2][4];
static const lw_lanes_by_type lanes[LW_PTO_OP_COUNT] = {
    [LW_PTO_VSHR] = EACH(vshr_u8, vshr_u16, shr_u32, vshr_u64, vshr_s8, vshr_s16, shr_s32, vshr_s64),
    [LW_PTO_VSHL] = BOTH(vshl_b8, vshl_b16, shl_b32, vshl_b64),
    [LW_PTO_VAND] = BOTH(and_b16, and_b16, and_b32, and_b64),
    [LW_PTO_VOR] = BOTH(or_b16, or_b16, or_b32, or_b64),
    [LW_PTO_VXOR] = BOTH(xor_b16, xor_b16, xor_b32, xor_b64),
    [LW_PTO_VNOT] = BOTH(not_b16, not_b16, not_b32, not_b64),
    [LW_PTO_VADD] = BOTH(add_b16, add_b16, add_b32, add_b64),
    [LW_PTO_VSUB] = BOTH(sub_b16, sub_b16, sub_b32, sub_b64),
    [LW_PTO_VMUL] = BOTH(mul_lo_b16, mul_lo_b16, mul_lo_b32, mul_lo_b64),
    [LW_PTO_VMIN] = EACH(vmin_u8, min_u16, min_u32, min_u64, vmin_s8, min_s16, min_s32, min_s64),
    [LW_PTO_VMAX] = EACH(vmax_u8, max_u16, max_u32, max_u64, vmax_s8, max_s16, max_s32, max_s64),
    [LW_PTO_VNEG] = BOTH(neg_s16, neg_s16, neg_s32, neg_s64),
    [LW_PTO_VABS] = EACH(mov_b16, mov_b16, mov_b32, mov_b64, vabs_s8, abs_s16, abs_s32, abs_s64),
    [LW_PTO_VADDC] = BOTH(vaddc_b16, vaddc_b16, addc_b32, addc_b64),
    /* of canonical operands: an 8-bit one fills its slot */
    [LW_PTO_DIVSI] = BOTH(div_s16, div_s16, div_s32, div_s64),
    [LW_PTO_DIVUI] = BOTH(div_u16, div_u16, div_u32, div_u64),
    [LW_PTO_REMSI] = BOTH(rem_s16, rem_s16, rem_s32, rem_s64),
    [LW_PTO_REMUI] = BOTH(rem_u16, rem_u16, rem_u32, rem_u64),
};

static uint32_t by_width(uint32_t bits) { return (uint32_t)__builtin_ctz(bits) - 3; }

lw_lane_id lw_pto_lane(lw_pto_op_id id, uint32_t bits, bool is_signed) { return lanes[id][is_signed][by_width(bits)]; }

static lw_class class_of_bits(uint32_t bits) {
    return bits == 1 ? LW_CLASS_pred : bits <= 16 ? LW_CLASS_16 : bits == 32 ? LW_CLASS_32 : LW_CLASS_64;
}

uint32_t lw_pto_compare(lw_pto_lower *p, lw_pto_order order, uint32_t bits, bool is_signed, uint32_t a, uint32_t b) {
    static const lw_lanes_by_type by_order[] = {
        [LW_PTO_EQ] = BOTH(vcmp_eq_b8, setp_eq_b16, setp_eq_b32, setp_eq_b64),
        [LW_PTO_NE] = BOTH(vcmp_eq_b8, setp_ne_b16, setp_ne_b32, setp_ne_b64),
        [LW_PTO_LT] =
            EACH(vcmp_lt_u8, setp_lt_u16, setp_lt_u32, setp_lt_u64, vcmp_lt_s8, setp_lt_s16, setp_lt_s32, setp_lt_s64),
        [LW_PTO_LE] =
            EACH(vcmp_le_u8, setp_le_u16, setp_le_u32, setp_le_u64, vcmp_le_s8, setp_le_s16, setp_le_s32, setp_le_s64),
        [LW_PTO_GT] =
            EACH(vcmp_lt_u8, setp_gt_u16, setp_gt_u32, setp_gt_u64, vcmp_lt_s8, setp_gt_s16, setp_gt_s32, setp_gt_s64),
        [LW_PTO_GE] =
            EACH(vcmp_le_u8, setp_ge_u16, setp_ge_u32, setp_ge_u64, vcmp_le_s8, setp_ge_s16, setp_ge_s32, setp_ge_s64),
    };
    bool turned = bits == 8 && (order == LW_PTO_GT || order == LW_PTO_GE);
    uint32_t d = lane_of(p, by_order[order][is_signed][by_width(bits)], turned ? b : a, turned ? a : b);
    return bits == 8 && order == LW_PTO_NE ? lw_pto_not(p, d) : d;
}

/* ---- Truth values and narrow ones ------------------------------------------------------------------------------ */

static uint32_t constant(lw_pto_lower *p, uint32_t bits, uint64_t value) {
    return lw_lower_const(p->l, class_of_bits(bits), value);
}

/* A truth value as a number of 16 bits; a signed one is 0 or -1. */
static uint32_t from_truth(lw_pto_lower *p, uint32_t predicate, bool is_signed) {
    uint64_t known;
    if (lw_pto_is_constant(p, predicate, &known)) return constant(p, 16, known ? (is_signed ? 0xffff : 1) : 0);
    uint32_t one = constant(p, 16, is_signed ? 0xffff : 1), zero = constant(p, 16, 0),
             d = lw_lower_vreg(p->l, LW_CLASS_16);
    lw_op *op = lw_lower_op(p->l, LW_OP_select_16);
    op->d = d, op->a = one, op->b = zero, op->c = predicate;
    return d;
}

static uint32_t to_truth(lw_pto_lower *p, uint32_t v) {
    static const lw_lane_id and_lanes[] = {
        [LW_CLASS_16] = LW_LANE_and_b16, [LW_CLASS_32] = LW_LANE_and_b32, [LW_CLASS_64] = LW_LANE_and_b64};
    static const lw_lane_id ne_lanes[] = {
        [LW_CLASS_16] = LW_LANE_setp_ne_b16, [LW_CLASS_32] = LW_LANE_setp_ne_b32, [LW_CLASS_64] = LW_LANE_setp_ne_b64};
    lw_class class = p->l->vregs.at[v].class;
    uint32_t bit = lane_of(p, and_lanes[class], v, lw_lower_const(p->l, class, 1));
    return lane_of(p, ne_lanes[class], bit, lw_lower_const(p->l, class, 0));
}

/* The value extended to all of its slot. */
static uint32_t whole(lw_pto_lower *p, uint32_t v, uint32_t bits, bool is_signed) {
    uint64_t known;
    if (bits == 1) return from_truth(p, v, is_signed);
    if (bits != 8) return v;
    if (lw_pto_is_constant(p, v, &known)) return constant(p, 16, is_signed ? (uint64_t)(int8_t)known : (uint8_t)known);
    return lane_of(p, is_signed ? LW_LANE_sext8_b16 : LW_LANE_zext8_b16, v, LW_NO_SLOT);
}

/* ---- Operations ------------------------------------------------------------------------------------------------ */

typedef struct lw_scalar_step {
    lw_pto_op_id lane;         /* the operation of vectors that computes it */
    bool is_signed, truth_too; /* truth_too: right for values of one bit, too, once they are numbers */
} lw_scalar_step;

static bool same_as_vector(lw_pto_op_id id, lw_scalar_step *step) {
    switch (id) {
    case LW_PTO_ADDI: *step = (lw_scalar_step){LW_PTO_VADD, false, true}; return true;
    case LW_PTO_SUBI: *step = (lw_scalar_step){LW_PTO_VSUB, false, true}; return true;
    case LW_PTO_MULI: *step = (lw_scalar_step){LW_PTO_VMUL, false, true}; return true;
    case LW_PTO_ANDI: *step = (lw_scalar_step){LW_PTO_VAND, false, true}; return true;
    case LW_PTO_ORI: *step = (lw_scalar_step){LW_PTO_VOR, false, true}; return true;
    case LW_PTO_XORI: *step = (lw_scalar_step){LW_PTO_VXOR, false, true}; return true;
    case LW_PTO_SHLI: *step = (lw_scalar_step){LW_PTO_VSHL, false, true}; return true;
    case LW_PTO_SHRUI: *step = (lw_scalar_step){LW_PTO_VSHR, false, true}; return true;
    case LW_PTO_SHRSI: *step = (lw_scalar_step){LW_PTO_VSHR, true, false}; return true;
    case LW_PTO_MINSI: *step = (lw_scalar_step){LW_PTO_VMIN, true, true}; return true;
    case LW_PTO_MINUI: *step = (lw_scalar_step){LW_PTO_VMIN, false, true}; return true;
    case LW_PTO_MAXSI: *step = (lw_scalar_step){LW_PTO_VMAX, true, true}; return true;
    case LW_PTO_MAXUI: *step = (lw_scalar_step){LW_PTO_VMAX, false, true}; return true;
    default: return false;
    }
}

/* Index arithmetic on constants, which loops are full of. */
static bool fold(lw_pto_op_id id, uint64_t a, uint64_t b, uint64_t *value) {
    switch (id) {
    case LW_PTO_ADDI: *value = a + b; return true;
    case LW_PTO_SUBI: *value = a - b; return true;
    case LW_PTO_MULI: *value = a * b; return true;
    default: return false;
    }
}

static void divide(lw_pto_lower *p, const lw_pto_op *op, uint32_t bits, uint32_t a, uint32_t b) {
    bool is_signed = op->id == LW_PTO_DIVSI || op->id == LW_PTO_REMSI, rounds_up = op->id == LW_PTO_CEILDIVUI;
    uint32_t wide = bits < 16 ? 16 : bits;
    uint32_t x = whole(p, a, bits, is_signed), y = whole(p, b, bits, is_signed), zero = constant(p, wide, 0);
    uint64_t known;
    bool is_known = lw_pto_is_constant(p, y, &known);
    if (!is_known || !known) lw_pto_trap_if(p, lw_pto_compare(p, LW_PTO_EQ, wide, false, y, zero), LW_REASON_division);
    if (op->id == LW_PTO_DIVSI && bits > 1 && !(is_known && known != (UINT64_MAX >> (64 - wide)))) {
        uint32_t least = constant(p, wide, UINT64_MAX << (bits - 1)), minus = constant(p, wide, UINT64_MAX);
        uint32_t both = lw_pto_and(p, lw_pto_compare(p, LW_PTO_EQ, wide, false, x, least),
                                   lw_pto_compare(p, LW_PTO_EQ, wide, false, y, minus));
        lw_pto_trap_if(p, both, LW_REASON_overflow);
    }
    if (op->id == LW_PTO_DIVSI && bits == 1) lw_pto_trap_if(p, lw_pto_and(p, a, b), LW_REASON_overflow); /* -1 / -1 */
    uint32_t q = lane_of(p, lw_pto_lane(rounds_up ? LW_PTO_DIVUI : op->id, wide, is_signed), x, y);
    if (rounds_up) {
        uint32_t rest = lane_of(p, lw_pto_lane(LW_PTO_REMUI, wide, false), x, y);
        uint32_t more = from_truth(p, lw_pto_compare(p, LW_PTO_NE, wide, false, rest, zero), false);
        q = lane_of(p, lw_pto_lane(LW_PTO_VADD, wide, false), q,
                    lw_lower_resize(p->l, more, class_of_bits(wide), false));
    }
    lw_lower_move(p->l, lw_pto_write(p, op->results[0]), bits == 1 ? to_truth(p, q) : q);
}

static void compute(lw_pto_lower *p, const lw_pto_op *op, lw_scalar_step step, uint32_t bits, uint32_t a, uint32_t b) {
    uint64_t x, y, value;
    if (lw_pto_is_constant(p, a, &x) && lw_pto_is_constant(p, b, &y) && fold(op->id, x, y, &value)) {
        lw_pto_set_constant(p, op->results[0], value);
        return;
    }
    if (bits > 1) {
        lw_lower_lane_into(p->l, lw_pto_write(p, op->results[0]), lw_pto_lane(step.lane, bits, step.is_signed), a, b,
                           LW_NO_SLOT);
        return;
    }
    uint32_t d = a; /* a signed shift by 0 or 1 leaves a sign as it is */
    if (step.truth_too)
        d = to_truth(p, lane_of(p, lw_pto_lane(step.lane, 16, step.is_signed), from_truth(p, a, step.is_signed),
                                from_truth(p, b, step.is_signed)));
    lw_lower_move(p->l, lw_pto_write(p, op->results[0]), d);
}

static void compare(lw_pto_lower *p, const lw_pto_op *op, uint32_t bits, uint32_t a, uint32_t b) {
    static const struct {
        lw_pto_order order;
        bool is_signed;
    } words[LW_PTO_WORD_COUNT] = {
        [LW_PTO_CMPI_eq] = {LW_PTO_EQ, false},  [LW_PTO_CMPI_ne] = {LW_PTO_NE, false},
        [LW_PTO_CMPI_slt] = {LW_PTO_LT, true},  [LW_PTO_CMPI_sle] = {LW_PTO_LE, true},
        [LW_PTO_CMPI_sgt] = {LW_PTO_GT, true},  [LW_PTO_CMPI_sge] = {LW_PTO_GE, true},
        [LW_PTO_CMPI_ult] = {LW_PTO_LT, false}, [LW_PTO_CMPI_ule] = {LW_PTO_LE, false},
        [LW_PTO_CMPI_ugt] = {LW_PTO_GT, false}, [LW_PTO_CMPI_uge] = {LW_PTO_GE, false},
    };
    bool is_signed = words[op->word].is_signed;
    if (bits == 1) a = from_truth(p, a, is_signed), b = from_truth(p, b, is_signed), bits = 16;
    uint32_t d = lw_pto_compare(p, words[op->word].order, bits, is_signed, a, b);
    lw_lower_move(p->l, lw_pto_write(p, op->results[0]), d);
}

static void choose(lw_pto_lower *p, const lw_pto_op *op) {
    static const uint16_t selects[] = {
        [LW_CLASS_16] = LW_OP_select_16, [LW_CLASS_32] = LW_OP_select_32, [LW_CLASS_64] = LW_OP_select_64};
    uint32_t condition = lw_pto_read(p, op->operands[0]), a = lw_pto_read(p, op->operands[1]),
             b = lw_pto_read(p, op->operands[2]);
    uint32_t d = lw_pto_write(p, op->results[0]);
    lw_class class = p->l->vregs.at[d].class;
    uint64_t known;
    if (lw_pto_is_constant(p, condition, &known)) {
        lw_lower_move(p->l, d, known ? a : b);
        return;
    }
    lw_op *made = lw_lower_op(p->l, class == LW_CLASS_pred ? LW_OP_predicate : selects[class]);
    made->d = d, made->a = a, made->b = b, made->c = condition;
    if (class == LW_CLASS_pred) made->imm = 0xe4; /* c ? a : b, index a<<2|b<<1|c */
}

static void convert(lw_pto_lower *p, const lw_pto_op *op) {
    const lw_pto_value *from = op->operands[0], *to = op->results[0];
    bool is_signed = op->id == LW_PTO_EXTSI || op->id == LW_PTO_INDEX_CAST;
    uint32_t bits = lw_pto_scalars[from->type->element].bits, v = lw_pto_read(p, from);
    lw_class class = lw_pto_class(to->type);
    uint64_t known;
    if (lw_pto_is_constant(p, v, &known)) {
        unsigned shift = 64 - bits;
        lw_pto_set_constant(p, to,
                            is_signed ? (uint64_t)((int64_t)(known << shift) >> shift) : known << shift >> shift);
        return;
    }
    v = whole(p, v, bits, is_signed);
    v = class == LW_CLASS_pred ? to_truth(p, v) : lw_lower_resize(p->l, v, class, is_signed);
    lw_lower_move(p->l, lw_pto_write(p, to), v);
}

void lw_pto_scalar_op(lw_pto_lower *p, const lw_pto_op *op) {
    lw_scalar_step step;
    switch (op->id) {
    case LW_PTO_CONSTANT: lw_pto_set_constant(p, op->results[0], op->value); return;
    case LW_PTO_SELECT: choose(p, op); return;
    case LW_PTO_INDEX_CAST:
    case LW_PTO_INDEX_CASTUI:
    case LW_PTO_EXTSI:
    case LW_PTO_EXTUI:
    case LW_PTO_TRUNCI: convert(p, op); return;
    default: break;
    }
    uint32_t bits = lw_pto_scalars[op->operands[0]->type->element].bits;
    uint32_t a = lw_pto_read(p, op->operands[0]), b = lw_pto_read(p, op->operands[1]);
    switch (op->id) {
    case LW_PTO_DIVSI:
    case LW_PTO_DIVUI:
    case LW_PTO_CEILDIVUI:
    case LW_PTO_REMSI:
    case LW_PTO_REMUI: divide(p, op, bits, a, b); return;
    case LW_PTO_CMPI: compare(p, op, bits, a, b); return;
    default: break;
    }
    if (!same_as_vector(op->id, &step)) lw_bug("'%s' has no lowering", lw_pto_rows[op->id].name);
    compute(p, op, step, bits, a, b);
}
