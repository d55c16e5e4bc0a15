/* shape_lane.c: what lane functions make of rows: sums and products of them, or bits that go from place to place. */
#include "run/jit/shape.h"

typedef struct lw_asked {
    uint32_t lane, bits;
    const lw_shape *a, *b, *c, *e;
    bool checked;
} lw_asked;

static lw_shape map_of(const lw_asked *q, const lw_bit_map *map) {
    return lw_shape_mapped(map, (const lw_shape *[3]){q->a, q->b, q->c});
}
static lw_shape each_bit(const lw_asked *q, uint8_t table) {
    const lw_bit_map map = lw_bit_map_each(q->bits, table);
    return map_of(q, &map);
}

/* ---- Bits from place to place ------------------------------------------------------------------------------------ */

static lw_shape shifted_left(const lw_asked *q, uint64_t by) {
    lw_bit_map map = lw_bit_map_zero(q->bits);
    if (by < q->bits) lw_bit_map_copy(&map, (uint32_t)by, q->bits - (uint32_t)by, 0, 0);
    return map_of(q, &map);
}
static lw_shape shifted_right(const lw_asked *q, uint64_t by, bool is_signed) {
    const uint32_t count = by < q->bits ? (uint32_t)by : q->bits;
    lw_bit_map map = lw_bit_map_zero(q->bits);
    lw_bit_map_copy(&map, 0, q->bits - count, 0, count);
    if (is_signed) lw_bit_map_spread(&map, q->bits - count, count, 0, q->bits - 1);
    return map_of(q, &map);
}

/* Bits of an operand, with what the highest of them is, or zeros, above. */
static lw_shape part_of(const lw_asked *q, const lw_shape *a, uint32_t from, uint32_t count, bool is_signed) {
    lw_bit_map map = lw_bit_map_zero(q->bits);
    lw_bit_map_copy(&map, 0, count, 0, from);
    if (is_signed) lw_bit_map_spread(&map, count, q->bits - count, 0, from + count - 1);
    return lw_shape_mapped(&map, (const lw_shape *[3]){a, a, a});
}

/* Two operands of half the width. */
static lw_shape packed(const lw_asked *q, uint32_t half) {
    lw_bit_map map = lw_bit_map_zero(q->bits);
    lw_bit_map_copy(&map, 0, half, 0, 0);
    lw_bit_map_copy(&map, half, half, 1, 0);
    return map_of(q, &map);
}

/* The word from a place on in two of them, b above a. */
static lw_shape funnel(const lw_asked *q, uint32_t place) {
    lw_bit_map map = lw_bit_map_zero(32);
    const uint32_t of_a = place < 32 ? 32 - place : 0;
    lw_bit_map_copy(&map, 0, of_a, 0, place);
    lw_bit_map_copy(&map, of_a, 32 - of_a, 1, place + of_a - 32);
    return map_of(q, &map);
}

/* count bits from a place on, which has no end but that of the operand. */
static lw_shape extracted(const lw_asked *q, uint64_t place, uint64_t count, bool is_signed) {
    const uint32_t top = q->bits - 1;
    lw_bit_map map = lw_bit_map_zero(q->bits);
    for (uint32_t p = 0; p < q->bits && count; p++) {
        const uint64_t from = place + (p < count || !is_signed ? p : count - 1);
        if (p >= count && !is_signed) break;
        if (from <= top) lw_bit_map_copy(&map, p, 1, 0, (uint32_t)from);
        else if (is_signed) lw_bit_map_copy(&map, p, 1, 0, top);
    }
    return map_of(q, &map);
}

/* The low bits of a at a place in b. */
static lw_shape inserted(const lw_asked *q, uint64_t place, uint64_t count) {
    lw_bit_map map = lw_bit_map_zero(q->bits);
    for (uint32_t p = 0; p < q->bits; p++) {
        const bool is_in = p >= place && p - place < count;
        lw_bit_map_copy(&map, p, 1, !is_in, is_in ? p - (uint32_t)place : p);
    }
    return map_of(q, &map);
}

/* Bytes, or their highest bits, chosen by four bits each. */
static lw_shape permuted(const lw_asked *q, uint64_t choice) {
    lw_bit_map map = lw_bit_map_zero(32);
    for (uint32_t k = 0; k < 4; k++, choice >>= 4) {
        const uint32_t operand = choice >> 2 & 1, from = 8 * (choice & 3);
        if (choice & 8) lw_bit_map_spread(&map, 8 * k, 8, operand, from + 7);
        else lw_bit_map_copy(&map, 8 * k, 8, operand, from);
    }
    return map_of(q, &map);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* A narrow one made wider. */
static lw_shape wide(const lw_asked *q, const lw_shape *a, bool is_signed) {
    const bool is_good = (q->checked && a->bits == 32) || lw_shape_is_exact(a, a->run);
    return is_good ? lw_shape_widened(a, q->bits, is_signed) : part_of(q, a, 0, a->bits, is_signed);
}
static lw_shape product_of(const lw_shape *a, const lw_shape *b) {
    if (a->kind != LW_SHAPE_row || b->kind != LW_SHAPE_row) return lw_shape_any(a->bits);
    return lw_shape_product(a, b);
}
static lw_shape wide_product(const lw_asked *q, bool is_signed) {
    const lw_shape a = wide(q, q->a, is_signed), b = wide(q, q->b, is_signed);
    return product_of(&a, &b);
}
static lw_shape product_24(const lw_asked *q, bool is_signed) {
    const lw_shape a = part_of(q, q->a, 0, 24, is_signed), b = part_of(q, q->b, 0, 24, is_signed);
    return product_of(&a, &b);
}
static lw_shape plus(const lw_asked *q, lw_shape p, const lw_shape *c) {
    return p.kind == LW_SHAPE_row ? lw_shape_sum(&p, c) : lw_shape_any(q->bits);
}

lw_shape lw_shape_of_choice(const lw_shape *a, const lw_shape *b) {
    for (uint32_t k = 0; k < a->run; k++)
        if (a->step[k] != b->step[k]) return lw_shape_any(a->bits);
    return lw_shape_meet(a, b);
}

/* Of rows that count alike and do not wrap the same one is the least in all lanes. */
static lw_shape extreme(const lw_asked *q) {
    const bool is_exact = lw_shape_is_exact(q->a, q->a->run) && lw_shape_is_exact(q->b, q->b->run);
    return is_exact ? lw_shape_of_choice(q->a, q->b) : lw_shape_any(q->bits);
}

/* By a power of two. */
static lw_shape divided(const lw_asked *q, bool remains) {
    uint64_t by;
    if (!lw_shape_is_number(q->b, &by) || !by || by & (by - 1)) return lw_shape_any(q->bits);
    const uint32_t count = (uint32_t)__builtin_ctzll(by);
    return remains ? part_of(q, q->a, 0, count, false) : shifted_right(q, count, false);
}

/* ---- Lane functions ---------------------------------------------------------------------------------------------- */

bool lw_lane_widens(uint32_t lane, bool *is_signed) {
    *is_signed = lane == LW_LANE_sext_b64_b32 || lane == LW_LANE_mul_wide_s32 || lane == LW_LANE_mad_wide_s32;
    return *is_signed || lane == LW_LANE_zext_b64_b32 || lane == LW_LANE_mul_wide_u32 || lane == LW_LANE_mad_wide_u32;
}

static lw_shape of_arithmetic(const lw_asked *q) {
    const lw_shape none = lw_shape_of_number(q->bits, 0);
    switch (q->lane) {
    case LW_LANE_add_b16:
    case LW_LANE_add_b32:
    case LW_LANE_add_b64: return lw_shape_sum(q->a, q->b);
    case LW_LANE_sub_b16:
    case LW_LANE_sub_b32:
    case LW_LANE_sub_b64: return lw_shape_difference(q->a, q->b);
    case LW_LANE_neg_s16:
    case LW_LANE_neg_s32:
    case LW_LANE_neg_s64: return lw_shape_difference(&none, q->a);
    case LW_LANE_mul_lo_b16:
    case LW_LANE_mul_lo_b32:
    case LW_LANE_mul_lo_b64: return lw_shape_product(q->a, q->b);
    case LW_LANE_mad_lo_b16:
    case LW_LANE_mad_lo_b32:
    case LW_LANE_mad_lo_b64: return plus(q, lw_shape_product(q->a, q->b), q->c);
    case LW_LANE_mul_wide_u16:
    case LW_LANE_mul_wide_u32: return wide_product(q, false);
    case LW_LANE_mul_wide_s16:
    case LW_LANE_mul_wide_s32: return wide_product(q, true);
    case LW_LANE_mad_wide_u16:
    case LW_LANE_mad_wide_u32: return plus(q, wide_product(q, false), q->c);
    case LW_LANE_mad_wide_s16:
    case LW_LANE_mad_wide_s32: return plus(q, wide_product(q, true), q->c);
    case LW_LANE_mul24_lo_u32: return product_24(q, false);
    case LW_LANE_mul24_lo_s32: return product_24(q, true);
    case LW_LANE_mad24_lo_u32: return plus(q, product_24(q, false), q->c);
    case LW_LANE_mad24_lo_s32: return plus(q, product_24(q, true), q->c);
    case LW_LANE_div_u16:
    case LW_LANE_div_u32:
    case LW_LANE_div_u64: return divided(q, false);
    case LW_LANE_rem_u16:
    case LW_LANE_rem_u32:
    case LW_LANE_rem_u64: return divided(q, true);
    case LW_LANE_min_u16:
    case LW_LANE_min_u32:
    case LW_LANE_min_u64:
    case LW_LANE_min_s16:
    case LW_LANE_min_s32:
    case LW_LANE_min_s64:
    case LW_LANE_max_u16:
    case LW_LANE_max_u32:
    case LW_LANE_max_u64:
    case LW_LANE_max_s16:
    case LW_LANE_max_s32:
    case LW_LANE_max_s64: return extreme(q);
    default: return lw_shape_any(q->bits);
    }
}

static lw_shape of_bits(const lw_asked *q) {
    switch (q->lane) {
    case LW_LANE_mov_b16:
    case LW_LANE_mov_b32:
    case LW_LANE_mov_b64: return *q->a;
    case LW_LANE_and_b16:
    case LW_LANE_and_b32:
    case LW_LANE_and_b64: return each_bit(q, LW_TABLE_A & LW_TABLE_B);
    case LW_LANE_or_b16:
    case LW_LANE_or_b32:
    case LW_LANE_or_b64: return each_bit(q, LW_TABLE_A | LW_TABLE_B);
    case LW_LANE_xor_b16:
    case LW_LANE_xor_b32:
    case LW_LANE_xor_b64: return each_bit(q, LW_TABLE_A ^ LW_TABLE_B);
    case LW_LANE_not_b16:
    case LW_LANE_not_b32:
    case LW_LANE_not_b64: return each_bit(q, LW_TABLE_A ^ 0xff);
    case LW_LANE_low_b16_b32:
    case LW_LANE_low_b16_b64: return part_of(q, q->a, 0, 16, false);
    case LW_LANE_low_b32_b64: return part_of(q, q->a, 0, 32, false);
    case LW_LANE_high_b16_b32: return part_of(q, q->a, 16, 16, false);
    case LW_LANE_high_b32_b64: return part_of(q, q->a, 32, 32, false);
    case LW_LANE_high_b8_b16: return part_of(q, q->a, 8, 8, false);
    case LW_LANE_zext8_b16: return part_of(q, q->a, 0, 8, false);
    case LW_LANE_sext8_b16: return part_of(q, q->a, 0, 8, true);
    case LW_LANE_zext_b32_b16:
    case LW_LANE_zext_b64_b16:
    case LW_LANE_zext_b64_b32: return wide(q, q->a, false);
    case LW_LANE_sext_b32_b16:
    case LW_LANE_sext_b64_b16:
    case LW_LANE_sext_b64_b32: return wide(q, q->a, true);
    case LW_LANE_pack_b32_b16: return packed(q, 16);
    case LW_LANE_pack_b64_b32: return packed(q, 32);
    default: return lw_shape_any(q->bits);
    }
}

/* Those that the last operand says how to do, if it is known: so many bits, from such a place on, by such a table. */
static lw_shape of_known(const lw_asked *q) {
    uint64_t b, c, e;
    const bool has_b = lw_shape_is_number(q->b, &b), has_c = lw_shape_is_number(q->c, &c);
    const bool has_e = lw_shape_is_number(q->e, &e);
    const uint64_t mask = q->bits == 64 ? UINT32_MAX : 255; /* of what says where fields are */
    switch (q->lane) {
    case LW_LANE_shl_b16:
    case LW_LANE_shl_b32:
    case LW_LANE_shl_b64: return has_b ? shifted_left(q, b) : lw_shape_any(q->bits);
    case LW_LANE_shr_u16:
    case LW_LANE_shr_u32:
    case LW_LANE_shr_u64: return has_b ? shifted_right(q, b, false) : lw_shape_any(q->bits);
    case LW_LANE_shr_s16:
    case LW_LANE_shr_s32:
    case LW_LANE_shr_s64: return has_b ? shifted_right(q, b, true) : lw_shape_any(q->bits);
    case LW_LANE_shf_l_wrap: return has_c ? funnel(q, 32 - (c & 31)) : lw_shape_any(q->bits);
    case LW_LANE_shf_l_clamp: return has_c ? funnel(q, c < 32 ? 32 - (uint32_t)c : 0) : lw_shape_any(q->bits);
    case LW_LANE_shf_r_wrap: return has_c ? funnel(q, c & 31) : lw_shape_any(q->bits);
    case LW_LANE_shf_r_clamp: return has_c ? funnel(q, c < 32 ? (uint32_t)c : 32) : lw_shape_any(q->bits);
    case LW_LANE_bfe_u32:
    case LW_LANE_bfe_u64: return has_b && has_c ? extracted(q, b & mask, c & mask, false) : lw_shape_any(q->bits);
    case LW_LANE_bfe_s32:
    case LW_LANE_bfe_s64: return has_b && has_c ? extracted(q, b & mask, c & mask, true) : lw_shape_any(q->bits);
    case LW_LANE_bfi_b32:
    case LW_LANE_bfi_b64: return has_c && has_e ? inserted(q, c & mask, e & mask) : lw_shape_any(q->bits);
    case LW_LANE_prmt: return has_c ? permuted(q, c) : lw_shape_any(q->bits);
    case LW_LANE_lop3: return has_e ? each_bit(q, (uint8_t)e) : lw_shape_any(q->bits);
    default: return lw_shape_any(q->bits);
    }
}

/* Within runs of all operands. */
static lw_shape in_runs(const lw_asked *q) {
    static lw_shape (*const rules[])(const lw_asked *) = {of_arithmetic, of_bits, of_known};
    for (uint32_t k = 0; k < 3; k++) {
        const lw_shape shape = rules[k](q);
        if (shape.kind == LW_SHAPE_row && shape.run == q->a->run) return shape;
    }
    return lw_shape_any(q->bits);
}

static bool are_alike(const lw_shape operands[LW_SHAPE_OPERANDS]) {
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++)
        if (lw_shape_alike(&operands[k]) < operands[k].run) return false;
    return true;
}

lw_shape lw_shape_of_lane(uint32_t lane, uint32_t bits, const lw_shape operands[LW_SHAPE_OPERANDS], bool checked) {
    uint32_t run = LW_WARP_BITS;
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++)
        if (operands[k].run < run) run = operands[k].run;
    for (; run >= LW_RUN_LEAST; run--) {
        lw_shape in[LW_SHAPE_OPERANDS];
        for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++) in[k] = lw_shape_within(&operands[k], run);
        const lw_asked asked = {lane, bits, &in[0], &in[1], &in[2], &in[3], checked};
        const lw_shape shape = in_runs(&asked);
        if (shape.kind == LW_SHAPE_row) return shape;
        if (are_alike(in)) return lw_shape_alike_in(bits, run);
    }
    return lw_shape_any(bits);
}
