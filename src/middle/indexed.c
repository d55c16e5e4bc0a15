/* indexed.c: addresses of 64 bits that are one number, the same for all lanes, and an index of 32 bits for each, made
 * wider, times what a lane accesses, in the ways in which compilers write that: by sums, products and shifts, or all
 * in one. */
#include "middle/facts.h"

typedef lw_indexed_search search;
typedef lw_indexed_access access;

static lw_lane_id lane_of(const search *in, uint32_t n) {
    return n == LW_NO_SLOT ? LW_LANE_none : lw_code_lane(in->op(in->user, n)->code);
}

static void add_part(access *to, uint32_t n) { to->parts[to->part_count++] = n; }

static bool take_index(const search *in, uint32_t n, bool is_signed, access *to) {
    add_part(to, n);
    to->index = in->op(in->user, n)->a;
    to->is_signed = is_signed;
    return in->is_index(in->user, n, to->index);
}

/* What operation n reads in a register is an index, made wider, times 1 << shift. */
static bool is_scaled(const search *in, uint32_t n, uint32_t reg, uint32_t shift, access *to) {
    n = in->maker(in->user, n, reg);
    lw_lane_id lane = lane_of(in, n);
    if (lane == LW_LANE_shl_b64 && in->is_number(in->user, in->op(in->user, n)->b, shift)) {
        add_part(to, n);
        n = in->maker(in->user, n, in->op(in->user, n)->a), lane = lane_of(in, n), shift = 0;
    }
    const bool is_wider = lane == LW_LANE_zext_b64_b32 || lane == LW_LANE_sext_b64_b32;
    const bool is_product = lane == LW_LANE_mul_wide_u32 || lane == LW_LANE_mul_wide_s32;
    return ((is_wider && !shift) || (is_product && in->is_number(in->user, in->op(in->user, n)->b, 1ull << shift))) &&
           take_index(in, n, lane == LW_LANE_sext_b64_b32 || lane == LW_LANE_mul_wide_s32, to);
}

static bool is_sum(const search *in, uint32_t n, uint32_t base, uint32_t scaled, uint32_t shift, access *to) {
    to->part_count = 0, to->base = base;
    add_part(to, n);
    return in->is_base(in->user, n, base) && is_scaled(in, n, scaled, shift, to);
}

bool lw_find_indexed(const search *in, uint32_t n, uint32_t shift, access *to) {
    const uint32_t made = in->maker(in->user, n, in->op(in->user, n)->a);
    const lw_lane_id lane = lane_of(in, made);
    const lw_op *op = made == LW_NO_SLOT ? NULL : in->op(in->user, made);
    if (lane == LW_LANE_add_b64)
        return is_sum(in, made, op->a, op->b, shift, to) || is_sum(in, made, op->b, op->a, shift, to);
    if (lane != LW_LANE_mad_wide_u32 && lane != LW_LANE_mad_wide_s32) return false;
    to->part_count = 0, to->base = op->c;
    return in->is_number(in->user, op->b, 1ull << shift) && in->is_base(in->user, made, op->c) &&
           take_index(in, made, lane == LW_LANE_mad_wide_s32, to);
}
