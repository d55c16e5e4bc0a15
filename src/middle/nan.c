/* nan.c: float operations whose NaN results nobody sees the bits of need not give them the one pattern that the
 * hardware does.
 *
 * Arithmetic and comparisons treat all NaNs alike, so a register that only they read may hold any NaN. Registers that
 * moves and selects join are looked at together: they are all seen or all unseen. One pass over the uses, one over the
 * operations. */
#include "middle/lower.h"

typedef struct lw_seen {
    lw_lower *l;
    uint32_t *parent; /* of each register: a forest, its roots stand for the groups */
    uint8_t *seen;    /* of each root: somebody reads the bits */
} lw_seen;

static uint32_t root_of(const lw_seen *s, uint32_t v) {
    while (s->parent[v] != v) v = s->parent[v] = s->parent[s->parent[v]];
    return v;
}

static void join(const lw_seen *s, uint32_t v, uint32_t w) {
    v = root_of(s, v), w = root_of(s, w);
    if (v == w) return;
    s->parent[v] = w;
    s->seen[w] |= s->seen[v];
}

static void see(const lw_seen *s, uint32_t v) { s->seen[root_of(s, v)] = true; }

/* Gives the same for every NaN that an f32 operand may be. */
static bool ignores_nan_bits(lw_lane_id lane) {
    switch (lane) {
    case LW_LANE_add_rn_f32:
    case LW_LANE_add_rn_ftz_f32:
    case LW_LANE_add_f32:
    case LW_LANE_add_ftz_f32:
    case LW_LANE_sub_rn_f32:
    case LW_LANE_sub_rn_ftz_f32:
    case LW_LANE_sub_f32:
    case LW_LANE_sub_ftz_f32:
    case LW_LANE_mul_rn_f32:
    case LW_LANE_mul_rn_ftz_f32:
    case LW_LANE_mul_f32:
    case LW_LANE_mul_ftz_f32:
    case LW_LANE_fma_rn_f32:
    case LW_LANE_fma_rn_ftz_f32:
    case LW_LANE_fma_f32:
    case LW_LANE_fma_ftz_f32:
    case LW_LANE_div_rn_f32:
    case LW_LANE_div_rn_ftz_f32:
    case LW_LANE_div_f32:
    case LW_LANE_div_ftz_f32:
    case LW_LANE_rcp_rn_f32:
    case LW_LANE_rcp_rn_ftz_f32:
    case LW_LANE_rcp_f32:
    case LW_LANE_rcp_ftz_f32:
    case LW_LANE_sqrt_rn_f32:
    case LW_LANE_sqrt_rn_ftz_f32:
    case LW_LANE_sqrt_f32:
    case LW_LANE_sqrt_ftz_f32:
    case LW_LANE_min_f32:
    case LW_LANE_min_ftz_f32:
    case LW_LANE_max_f32:
    case LW_LANE_max_ftz_f32:
    case LW_LANE_setp_ftz_f32:
    case LW_LANE_setp_eq_f32:
    case LW_LANE_setp_ne_f32:
    case LW_LANE_setp_lt_f32:
    case LW_LANE_setp_le_f32:
    case LW_LANE_setp_gt_f32:
    case LW_LANE_setp_ge_f32:
    case LW_LANE_setp_equ_f32:
    case LW_LANE_setp_neu_f32:
    case LW_LANE_setp_ltu_f32:
    case LW_LANE_setp_leu_f32:
    case LW_LANE_setp_gtu_f32:
    case LW_LANE_setp_geu_f32:
    case LW_LANE_setp_num_f32:
    case LW_LANE_setp_nan_f32: return true;
    default: return false;
    }
}

static lw_lane_id any_nan(lw_lane_id lane) {
    switch (lane) {
    case LW_LANE_add_rn_f32: return LW_LANE_any_nan_add_f32;
    case LW_LANE_sub_rn_f32: return LW_LANE_any_nan_sub_f32;
    case LW_LANE_mul_rn_f32: return LW_LANE_any_nan_mul_f32;
    case LW_LANE_fma_rn_f32: return LW_LANE_any_nan_fma_f32;
    default: return LW_LANE_none;
    }
}

/* What is handed over at calls and returns may be read anywhere. */
static void see_operation(const lw_seen *s, lw_op *op) {
    lw_lane_id lane = lw_code_lane(op->code);
    if (ignores_nan_bits(lane)) return;
    if (lane == LW_LANE_mov_b32) {
        join(s, op->a, op->d);
    } else if (op->code == LW_OP_select_32) {
        join(s, op->a, op->d);
        join(s, op->b, op->d);
    } else {
        LW_EACH_READ(s->l->code, op, at) see(s, *at);
    }
}

void lw_forget_nans(lw_lower *l) {
    bool any = false;
    for (uint32_t n = 0; n < l->ops.count && !any; n++) any = any_nan(lw_code_lane(l->ops.at[n].code)) != LW_LANE_none;
    if (!any) return;
    lw_seen s = {.l = l,
                 .parent = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count),
                 .seen = LW_NEW_ARRAY(l->arena, uint8_t, l->vregs.count)};
    for (uint32_t v = 0; v < l->vregs.count; v++) s.parent[v] = v;
    for (uint32_t n = 0; n < l->ops.count; n++) see_operation(&s, &l->ops.at[n]);
    for (uint32_t n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        lw_lane_id lane = any_nan(lw_code_lane(op->code));
        if (lane != LW_LANE_none && !s.seen[root_of(&s, op->d)])
            op->code = LW_LANE_CODE(lane, (op->code - LW_OP_lane) % LW_VARIANTS);
    }
}
