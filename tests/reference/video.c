/* video.c: the video instructions, by the pseudo-code of the manual's section 9.7.18, or as sm_90 computes them. */
#include <string.h>
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

/* sm_90 (docs/decisions/0004): 64 bits wide; .sat to the range of 32 bits whatever the destination; .h1 takes the high
 * half. */
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
    int64_t c = op->in->operand_count > 3 ? (is_signed ? ref_read_signed(t, op, &operands[3], LW_T_s32)
                                                       : (int64_t)ref_read(t, op, &operands[3], LW_T_u32))
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

/* ---- vadd vsub vabsdiff vmin vmax vset ------------------------------------------------------------------------ */

typedef struct number {
    int64_t least, most, value;
} number; /* with the bounds of what it may be */

static number part_of(ref_thread *t, const ref_op *op, const lw_operand *operand, bool is_signed) {
    uint32_t bits = shape_of(operand->select).bits;
    int64_t most = (int64_t)ref_mask(is_signed ? bits - 1 : bits);
    return (number){is_signed ? -most - 1 : 0, most, selected(t, op, operand, is_signed)};
}

static bool relates(const ref_op *op, int64_t x, int64_t y) {
    return (ref_has(op, REF_eq) && x == y) || (ref_has(op, REF_ne) && x != y) || (ref_has(op, REF_lt) && x < y) ||
           (ref_has(op, REF_le) && x <= y) || (ref_has(op, REF_gt) && x > y) || (ref_has(op, REF_ge) && x >= y);
}

typedef enum kind { SUM, DIFFERENCE, AVERAGE, DISTANCE, LESS, MORE, RELATION } kind;

static int64_t combined(const ref_op *op, kind what, int64_t x, int64_t y) {
    switch (what) {
    case SUM: return x + y;
    case DIFFERENCE: return x - y;
    case AVERAGE: return (x + y + (x + y >= 0 ? 1 : 0)) >> 1;
    case DISTANCE: return x > y ? x - y : y - x;
    case LESS: return x < y ? x : y;
    case MORE: return x > y ? x : y;
    default: return relates(op, x, y);
    }
}

/* .min and .max on sm_90 of sums and differences, by .dtype .u32, that may need more than a word: one that has its
 * highest bit set is the larger. */
static bool is_odd(const ref_op *op, kind what, number x, number y, bool is_signed) {
    int64_t least = what == SUM ? x.least + y.least : x.least - y.most,
            most = what == SUM ? x.most + y.most : x.most - y.least;
    bool fits = (least >= 0 && most <= (int64_t)UINT32_MAX) || (least >= INT32_MIN && most <= INT32_MAX);
    return what <= DIFFERENCE && !is_signed && !fits && (ref_has(op, REF_min) || ref_has(op, REF_max));
}

static uint32_t merged(int64_t tmp, int64_t c, shape to) {
    uint64_t mask = ref_mask(to.bits) << to.at;
    return (uint32_t)(((uint64_t)c & ~mask) | ((uint64_t)tmp << to.at & mask));
}

/* Decision 4: .sat into a part takes the number as unsigned, of a whole .u32 it only raises to zero; .h1 takes the high
 * half. */
static uint32_t numbers_on_sm_90(const ref_op *op, kind what, number x, number y, int64_t tmp, uint32_t c, shape to,
                                 bool is_signed) {
    int64_t most = (int64_t)ref_mask(is_signed ? to.bits - 1 : to.bits);
    if (ref_has(op, REF_sat) && to.bits < 32) tmp = (uint64_t)tmp > (uint64_t)most ? most : tmp;
    else if (ref_has(op, REF_sat)) tmp = is_signed ? clamp(tmp, 32, true) : tmp < 0 ? 0 : tmp;
    if (ref_has(op, REF_add)) return (uint32_t)tmp + c;
    bool c_signed = what == RELATION ? ref_is_signed(op->types[0]) : is_signed, least = ref_has(op, REF_min);
    if (is_odd(op, what, x, y, is_signed)) {
        uint32_t word = (uint32_t)tmp;
        bool above = word >> 31 || word >= c;
        return above == least ? c : word;
    }
    if (what <= DIFFERENCE && is_signed && (least || ref_has(op, REF_max))) tmp = (int32_t)tmp;
    int64_t right = c_signed ? (int32_t)c : (int64_t)c;
    bool less = is_signed || what == RELATION ? tmp < right : (uint64_t)tmp < (uint64_t)right;
    if (least) tmp = less ? tmp : right;
    if (ref_has(op, REF_max)) tmp = less ? right : tmp;
    return merged(to.bits == 16 && to.at ? (int64_t)((uint32_t)tmp >> 16) : tmp, c, to);
}

static void write_word(ref_thread *t, const ref_op *op, uint32_t d) {
    lw_operand whole = op->in->operands[0];
    whole.select = LW_SEL_none;
    ref_write(t, &whole, LW_T_b32, d);
}
static uint32_t word_c(ref_thread *t, const ref_op *op) {
    if (op->in->operand_count < 4) return 0;
    lw_operand plain = op->in->operands[3];
    plain.minus = plain.negated = false;
    return (uint32_t)ref_read(t, op, &plain, LW_T_b32);
}

static void scalar(ref_thread *t, const ref_op *op, kind what) {
    const lw_operand *operands = op->in->operands;
    bool relation = what == RELATION, is_signed = !relation && ref_is_signed(op->types[0]);
    number x = part_of(t, op, &operands[1], ref_is_signed(op->types[!relation])),
           y = part_of(t, op, &operands[2], ref_is_signed(op->type));
    uint32_t c = word_c(t, op);
    shape to = shape_of(operands[0].select);
    int64_t tmp = combined(op, what, x.value, y.value);
    write_word(t, op,
               t->machine->launch->sm_90 ? numbers_on_sm_90(op, what, x, y, tmp, c, to, is_signed)
                                         : by_manual(op, tmp, is_signed ? (int32_t)c : (int64_t)c, to, is_signed));
}
void ref_do_vadd(ref_thread *t, const ref_op *op) { scalar(t, op, SUM); }
void ref_do_vsub(ref_thread *t, const ref_op *op) { scalar(t, op, DIFFERENCE); }
void ref_do_vabsdiff(ref_thread *t, const ref_op *op) { scalar(t, op, DISTANCE); }
void ref_do_vmin(ref_thread *t, const ref_op *op) { scalar(t, op, LESS); }
void ref_do_vmax(ref_thread *t, const ref_op *op) { scalar(t, op, MORE); }
void ref_do_vset(ref_thread *t, const ref_op *op) { scalar(t, op, RELATION); }

/* ---- vmad ------------------------------------------------------------------------------------------------------ */

__extension__ typedef __int128 wide;

static int64_t factor(ref_thread *t, const ref_op *op, uint32_t k, bool sm_90) {
    lw_operand plain = op->in->operands[k];
    plain.minus = plain.negated = false;
    int64_t value = selected(t, op, &plain, ref_is_signed(op->types[k]));
    return sm_90 ? (int32_t)value : value; /* signed words, whatever their types */
}

void ref_do_vmad(ref_thread *t, const ref_op *op) {
    const lw_operand *operands = op->in->operands;
    bool sm_90 = t->machine->launch->sm_90, minus = operands[1].minus != operands[2].minus;
    bool is_signed = ref_is_signed(op->types[1]) || ref_is_signed(op->types[2]) || minus || operands[3].minus;
    wide product = (wide)factor(t, op, 1, sm_90) * factor(t, op, 2, sm_90), c = word_c(t, op);
    if (is_signed || sm_90) c = (int32_t)c;
    wide total = (minus ? -product : product) + (operands[3].minus ? -c : c) + ref_has(op, REF_po);
    uint32_t scale = ref_has(op, REF_shr7) ? 7 : ref_has(op, REF_shr15) ? 15 : 0;
    if (scale && sm_90 && !is_signed) total = (uint64_t)total;
    total >>= scale;
    wide least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    if (ref_has(op, REF_sat)) total = total < least ? least : total > most ? most : total;
    write_word(t, op, (uint32_t)total);
}

/* ---- Two half words, four bytes -------------------------------------------------------------------------------- */

/* Element k of an operand: of both words by its selector, else of its own word. */
static int64_t element(ref_thread *t, const ref_op *op, uint32_t at, uint32_t k, uint32_t count, bool is_signed) {
    const lw_operand *operand = &op->in->operands[at];
    lw_operand a = op->in->operands[1], b = op->in->operands[2];
    a.select = b.select = LW_SEL_none;
    uint64_t words = ref_read(t, op, &b, LW_T_b32) << 32 | ref_read(t, op, &a, LW_T_b32);
    uint32_t from = operand->select == LW_SEL_lanes ? (uint32_t)(operand->lanes[count - k] - '0')
                                                    : k + (at - 1) * count,
             bits = 32 / count;
    uint64_t value = words >> from * bits & ref_mask(bits);
    return is_signed ? ref_signed(value, bits) : (int64_t)value;
}

static bool writes(const lw_operand *d, uint32_t k) {
    if (d->select == LW_SEL_none) return true;
    if (d->select == LW_SEL_lanes) return strchr(d->lanes, (int)('0' + k)) != NULL;
    return d->select == (uint32_t)LW_SEL_b0 + k || d->select == (uint32_t)LW_SEL_h0 + k;
}

static void several(ref_thread *t, const ref_op *op, kind what, uint32_t count) {
    uint32_t bits = 32 / count, result = word_c(t, op);
    bool relation = what == RELATION;
    for (uint32_t k = 0; k < count; k++) {
        int64_t x = element(t, op, 1, k, count, ref_is_signed(op->types[!relation])),
                y = element(t, op, 2, k, count, ref_is_signed(op->type));
        int64_t tmp = combined(op, what, x, y);
        if (ref_has(op, REF_sat)) tmp = clamp(tmp, bits, ref_is_signed(op->types[0]));
        if (!writes(&op->in->operands[0], k)) continue;
        result = ref_has(op, REF_add) ? result + (uint32_t)tmp : merged(tmp, result, (shape){bits, k * bits});
    }
    write_word(t, op, result);
}
void ref_do_vadd2(ref_thread *t, const ref_op *op) { several(t, op, SUM, 2); }
void ref_do_vsub2(ref_thread *t, const ref_op *op) { several(t, op, DIFFERENCE, 2); }
void ref_do_vavrg2(ref_thread *t, const ref_op *op) { several(t, op, AVERAGE, 2); }
void ref_do_vabsdiff2(ref_thread *t, const ref_op *op) { several(t, op, DISTANCE, 2); }
void ref_do_vmin2(ref_thread *t, const ref_op *op) { several(t, op, LESS, 2); }
void ref_do_vmax2(ref_thread *t, const ref_op *op) { several(t, op, MORE, 2); }
void ref_do_vset2(ref_thread *t, const ref_op *op) { several(t, op, RELATION, 2); }
void ref_do_vadd4(ref_thread *t, const ref_op *op) { several(t, op, SUM, 4); }
void ref_do_vsub4(ref_thread *t, const ref_op *op) { several(t, op, DIFFERENCE, 4); }
void ref_do_vavrg4(ref_thread *t, const ref_op *op) { several(t, op, AVERAGE, 4); }
void ref_do_vabsdiff4(ref_thread *t, const ref_op *op) { several(t, op, DISTANCE, 4); }
void ref_do_vmin4(ref_thread *t, const ref_op *op) { several(t, op, LESS, 4); }
void ref_do_vmax4(ref_thread *t, const ref_op *op) { several(t, op, MORE, 4); }
void ref_do_vset4(ref_thread *t, const ref_op *op) { several(t, op, RELATION, 4); }
