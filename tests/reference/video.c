/* video.c: vshl and vshr, by the pseudo-code of the manual's section 9.7.18, or as sm_90 computes them. */
#include "reference.h"

typedef struct shape { /* of the destination: the part that is merged into c */
    uint32_t bits, at;
} shape;

static shape shape_of(lw_select select) {
    return select >= LW_SEL_h0   ? (shape){16, 16 * (uint32_t)(select - LW_SEL_h0)}
           : select >= LW_SEL_b0 ? (shape){8, 8 * (uint32_t)(select - LW_SEL_b0)}
                                 : (shape){32, 0};
}

static int64_t selected(ref_thread *t, const ref_op *op, const lw_operand *operand, bool is_signed) {
    shape part = shape_of(operand->select);
    lw_operand whole = *operand;
    whole.select = LW_SEL_none;
    uint64_t value = ref_read(t, op, &whole, LW_T_b32) >> part.at & ref_mask(part.bits);
    return is_signed ? ref_signed(value, part.bits) : (int64_t)value;
}

static int64_t clamp(int64_t value, uint32_t bits, bool is_signed) {
    int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0, most = (int64_t)ref_mask(is_signed ? bits - 1 : bits);
    return value < least ? least : value > most ? most : value;
}

/* The manual: a 34-bit result, saturated to the destination's own width, to 33 bits; c of 33 bits. */
static uint32_t by_manual(const ref_op *op, int64_t tmp, int64_t c, shape to, bool is_signed) {
    tmp = ref_signed((uint64_t)tmp, 34);
    tmp = ref_has(op, REF_sat) ? clamp(tmp, to.bits, is_signed) : ref_signed((uint64_t)tmp, 33);
    if (ref_has(op, REF_add)) tmp += c;
    if (ref_has(op, REF_min)) tmp = tmp < c ? tmp : c;
    if (ref_has(op, REF_max)) tmp = tmp > c ? tmp : c;
    if (to.bits == 32) return (uint32_t)tmp;
    uint64_t mask = ref_mask(to.bits) << to.at;
    return (uint32_t)(((uint64_t)c & ~mask) | ((uint64_t)tmp << to.at & mask));
}

/* sm_90 (docs/decisions/0004): 64 bits wide; .sat to the range of 32 bits whatever the destination; .h1 takes the high half. */
static uint32_t by_sm_90(const ref_op *op, int64_t wide, int64_t c, shape to, bool is_signed) {
    int64_t tmp = ref_has(op, REF_sat) ? clamp(ref_signed((uint64_t)wide, 34), 32, is_signed) : wide;
    int64_t left = ref_has(op, REF_sat) ? (int64_t)(int32_t)tmp : wide, right = c;
    bool less = is_signed ? left < right : (uint64_t)left < (uint64_t)right;
    if (ref_has(op, REF_add)) tmp += c;
    if (ref_has(op, REF_min)) tmp = less ? left : right;
    if (ref_has(op, REF_max)) tmp = less ? right : left;
    if (to.bits == 32) return (uint32_t)tmp;
    uint64_t mask = ref_mask(to.bits) << to.at;
    if (to.bits == 16 && to.at) tmp = (int64_t)((uint32_t)tmp >> 16);
    return (uint32_t)(((uint64_t)c & ~mask) | ((uint64_t)tmp << to.at & mask));
}

static void video_shift(ref_thread *t, const ref_op *op, bool left) {
    const lw_operand *operands = op->in->operands;
    bool is_signed = ref_is_signed(op->types[0]);
    int64_t a = selected(t, op, &operands[1], ref_is_signed(op->types[1])), b = selected(t, op, &operands[2], false);
    int64_t c = op->in->operand_count > 3
                    ? (is_signed ? ref_read_signed(t, op, &operands[3], LW_T_s32) : (int64_t)ref_read(t, op, &operands[3], LW_T_u32))
                    : 0;
    b = ref_has(op, REF_wrap) ? b & 31 : b > 32 ? 32 : b;
    int64_t tmp = left ? (int64_t)((uint64_t)a << b) : a >> b;
    shape to = shape_of(operands[0].select);
    uint32_t d = t->machine->launch->sm_90 ? by_sm_90(op, tmp, c, to, is_signed) : by_manual(op, tmp, c, to, is_signed);
    lw_operand whole = operands[0];
    whole.select = LW_SEL_none;
    ref_write(t, &whole, LW_T_b32, d);
}
void ref_do_vshl(ref_thread *t, const ref_op *op) { video_shift(t, op, true); }
void ref_do_vshr(ref_thread *t, const ref_op *op) { video_shift(t, op, false); }
