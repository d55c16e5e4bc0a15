/* strand_bits.c: what a register may have in a lane, whatever other lanes have: which of its bits are known, and how
 * much it is at most. Rows know that of themselves (shape.c); here it is found for what is made of data, too, like
 * `table[x & 255]`: such an access of shared memory needs no check.
 *
 * Asked are addresses of shared memory alone, so nothing is found in advance. Of a register that one operation writes,
 * in front of whatever reads it, that is a fact wherever anybody reads it: only operations in front of that one count,
 * and nothing of loops. What lanes have that have not come there, nor executed it, does not matter: nobody goes there
 * for them. */
#include "run/jit/strand_course.h"

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t greater(uint64_t a, uint64_t b) { return a < b ? b : a; }

/* ---- The most that a lane function gives ------------------------------------------------------------------------- */

/* Sums and products that do not wrap; else anything. */
static uint64_t sum_of(uint64_t a, uint64_t b, uint64_t any) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? any : lesser(sum, any);
}
static uint64_t product_of(uint64_t a, uint64_t b, uint64_t any) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? any : lesser(product, any);
}

/* It is none that signs count for. */
static bool is_positive(const lw_bounds *a) { return a->most <= lw_ones_of(a->bits.bits - 1); }

static uint64_t most_of_product(const lw_bounds *k, uint64_t more, bool is_signed, uint64_t any) {
    if (is_signed && !(is_positive(&k[0]) && is_positive(&k[1]))) return any;
    return sum_of(product_of(k[0].most, k[1].most, any), more, any);
}

/* What is least of a known one are the bits that it has for sure. */
static uint64_t most_of_lane(lw_lane_id lane, const lw_bounds *k, uint64_t any) {
    const uint64_t a = k[0].most, b = k[1].most, least_a = k[0].bits.ones, least_b = k[1].bits.ones;
    const bool positive = is_positive(&k[0]) && is_positive(&k[1]);
    uint64_t by;
    switch (lane) {
    case LW_LANE_add_b16:
    case LW_LANE_add_b32:
    case LW_LANE_add_b64: return sum_of(a, b, any);
    case LW_LANE_sub_b16:
    case LW_LANE_sub_b32:
    case LW_LANE_sub_b64: return b <= least_a ? a - least_b : any;
    case LW_LANE_mul_lo_b16:
    case LW_LANE_mul_lo_b32:
    case LW_LANE_mul_lo_b64:
    case LW_LANE_mul_wide_u16:
    case LW_LANE_mul_wide_u32: return most_of_product(k, 0, false, any);
    case LW_LANE_mad_lo_b16:
    case LW_LANE_mad_lo_b32:
    case LW_LANE_mad_lo_b64:
    case LW_LANE_mad_wide_u16:
    case LW_LANE_mad_wide_u32: return most_of_product(k, k[2].most, false, any);
    case LW_LANE_mul_wide_s16:
    case LW_LANE_mul_wide_s32: return most_of_product(k, 0, true, any);
    case LW_LANE_mad_wide_s16:
    case LW_LANE_mad_wide_s32: return most_of_product(k, k[2].most, true, any);
    case LW_LANE_shl_b16:
    case LW_LANE_shl_b32:
    case LW_LANE_shl_b64:
        return lw_shape_is_number(&k[1].bits, &by) && by < 64 ? product_of(a, (uint64_t)1 << by, any) : any;
    case LW_LANE_shr_u16:
    case LW_LANE_shr_u32:
    case LW_LANE_shr_u64: return a >> lesser(least_b, 63);
    case LW_LANE_div_u16:
    case LW_LANE_div_u32:
    case LW_LANE_div_u64: return least_b ? a / least_b : any;
    case LW_LANE_rem_u16:
    case LW_LANE_rem_u32:
    case LW_LANE_rem_u64: return least_b ? lesser(a, b - 1) : any;
    case LW_LANE_min_u16:
    case LW_LANE_min_u32:
    case LW_LANE_min_u64:
    case LW_LANE_and_b16:
    case LW_LANE_and_b32:
    case LW_LANE_and_b64: return lesser(a, b);
    case LW_LANE_max_u16:
    case LW_LANE_max_u32:
    case LW_LANE_max_u64: return greater(a, b);
    case LW_LANE_min_s16:
    case LW_LANE_min_s32:
    case LW_LANE_min_s64: return positive ? lesser(a, b) : any;
    case LW_LANE_max_s16:
    case LW_LANE_max_s32:
    case LW_LANE_max_s64: return positive ? greater(a, b) : is_positive(&k[0]) || is_positive(&k[1]) ? any / 2 : any;
    case LW_LANE_sext_b32_b16:
    case LW_LANE_sext_b64_b16:
    case LW_LANE_sext_b64_b32: return is_positive(&k[0]) ? a : any;
    case LW_LANE_mov_b16:
    case LW_LANE_mov_b32:
    case LW_LANE_mov_b64:
    case LW_LANE_low_b16_b32:
    case LW_LANE_low_b16_b64:
    case LW_LANE_low_b32_b64:
    case LW_LANE_zext_b32_b16:
    case LW_LANE_zext_b64_b16:
    case LW_LANE_zext_b64_b32: return lesser(a, any);
    default: return any;
    }
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static lw_bounds bounds_as(lw_shape bits, uint64_t most) {
    lw_bounds known = {.state = LW_BOUNDS_found, .bits = bits, .most = lesser(most, ~bits.zeros)};
    known.bits.zeros |= ~lw_ones_of(lw_length_of(known.most));
    return known;
}
static lw_bounds bounds_below(uint32_t bits, uint32_t below) {
    return bounds_as(lw_shape_below(lw_shape_alike_in(bits, LW_WARP_BITS), lesser(bits, below)), UINT64_MAX);
}

/* Both are so. */
static lw_bounds bounds_also(lw_bounds a, const lw_bounds *b) {
    a.bits.zeros |= b->bits.zeros, a.bits.ones |= b->bits.ones;
    return bounds_as(a.bits, lesser(a.most, b->most));
}

static lw_bounds bounds_of(const lw_strand *s, uint32_t reg, uint32_t depth);

static lw_bounds made_by_lane(const lw_strand *s, const lw_op *op, uint32_t bits, uint32_t depth) {
    const uint32_t fields[LW_SHAPE_OPERANDS] = {op->a, op->b, op->c, op->e};
    lw_shape operands[LW_SHAPE_OPERANDS];
    lw_bounds known[LW_SHAPE_OPERANDS];
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++) {
        known[k] = bounds_as(lw_shape_of_number(64, 0), 0);
        LW_EACH_READ(s->u->code, op, at) if (*at == fields[k]) known[k] = bounds_of(s, *at, depth);
        operands[k] = known[k].bits;
    }
    const lw_lane_id lane = lw_code_lane(op->code);
    return bounds_as(lw_shape_of_lane(lane, bits, operands, false), most_of_lane(lane, known, lw_ones_of(bits)));
}

static lw_bounds made_by_select(const lw_strand *s, const lw_op *op, uint32_t depth) {
    const lw_bounds a = bounds_of(s, op->a, depth), b = bounds_of(s, op->b, depth);
    return bounds_as(lw_shape_meet(&a.bits, &b.bits), greater(a.most, b.most));
}

/* Of one of the registers that operation n writes. */
static lw_bounds made_by(const lw_strand *s, uint32_t n, uint32_t reg, uint32_t depth) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    if (op->code == LW_OP_select_16 || op->code == LW_OP_select_32 || op->code == LW_OP_select_64)
        return made_by_select(s, op, depth);
    if (op->code == LW_OP_ld) {
        const lw_memory_form form = lw_memory_unpack(op->c);
        return bounds_below(bits, form.is_signed || form.vector ? bits : 8u << form.size);
    }
    if (op->code >= LW_OP_lane && lw_strand_is_body(s->u, n)) return made_by_lane(s, op, bits, depth);
    return bounds_below(bits, bits);
}

/* What nobody may read before that one operation has written it: else it is 0, or a caller's. */
static bool is_made(const lw_strand *s, uint32_t reg) {
    return s->only[reg] && !lw_set_has(lw_unit_live(s->u, s->u->block_at[0]), reg);
}

static lw_bounds bounds_of(const lw_strand *s, uint32_t reg, uint32_t depth) {
    enum { DEEP = 24 }; /* operations behind one another, from an address back */
    lw_bounds *known = &s->bounds[reg];
    const uint32_t bits = lw_unit_bits(s->u, reg);
    const lw_shape shape = lw_strand_shape(s, reg);
    if (known->state == LW_BOUNDS_found) return *known;
    if (known->state == LW_BOUNDS_asked || bits < 16) return bounds_below(bits, bits);
    lw_bounds found = bounds_as(lw_shape_of_each(&shape), UINT64_MAX);
    known->state = LW_BOUNDS_asked;
    if (is_made(s, reg) && depth < DEEP) {
        const lw_bounds made = made_by(s, s->only[reg] - 1, reg, depth + 1);
        found = bounds_also(found, &made);
    }
    return *known = found;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static bool is_of_shared(lw_memory_form form) {
    return form.window == LW_WINDOW_shared && lw_strand_moves(form) && form.address && !form.is_const;
}

/* Bits of an address below what each lane accesses. */
bool lw_course_is_aligned(const lw_strand *s, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint64_t low = ((uint64_t)1 << (form.size + form.vector)) - 1;
    if (!is_of_shared(form)) return false;
    const lw_shape bits = bounds_of(s, op->a, 0).bits;
    return !(low & ~(bits.zeros | bits.ones)) && !((bits.ones + op->imm) & low);
}

/* What a launch adds to the program's own shared memory stands behind it. */
bool lw_course_is_inside(const lw_strand *s, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!is_of_shared(form) || !lw_course_is_aligned(s, op)) return false;
    const lw_bounds known = bounds_of(s, op->a, 0);
    const int64_t more = form.address == 1 ? (int64_t)(int32_t)(uint32_t)op->imm : (int64_t)op->imm;
    const int64_t each = (int64_t)1 << (form.size + form.vector), room = s->u->program->shared_bytes;
    if (known.most > INT32_MAX || more > INT32_MAX || more < INT32_MIN) return false;
    return (int64_t)known.bits.ones + more >= 0 && (int64_t)known.most + more + each <= room;
}
