/* warp.c: what lanes of a warp find out together: vote, activemask, match, redux, elect (manual section 9.7.13).
 *
 * Before these instructions warp_sync has made the named lanes meet (meet.c). Lanes that are named and yet not here are
 * left out. */
#include "lanewise/lane/float.h"
#include "run/interp/interp.h"

/* ---- Who takes part ----------------------------------------------------------------------------------------- */

/* Lanes of one warp that give the same membermask. */
typedef struct lw_group {
    uint32_t warp;
    uint32_t lanes;   /* that execute with it: they get the result */
    uint32_t members; /* that it names and that execute: they give the values */
} lw_group;

/* The next group of the gang; `left` are the lanes of earlier calls taken away. False: no more. */
static bool next_group(const lw_gang *gang, const lw_op *op, lw_mask *left, lw_group *group) {
    if (!*left) return false;
    uint32_t first = lw_mask_first(*left), warp = first / LW_WARP_LANES;
    uint32_t active = lw_mask_warp(gang->mask, warp), lanes = lw_mask_warp(*left, warp), named = active;
    if (op->flags & LW_OP_IMM_A) {
        named = (uint32_t)op->imm;
    } else if (op->a != LW_NO_SLOT) {
        const uint32_t *masks = LW_SLOT(gang, uint32_t, op->a) + LW_WARP_LANES * warp;
        named = masks[first % LW_WARP_LANES];
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            if (masks[i] != named) lanes &= ~(1u << i);
    }
    *group = (lw_group){.warp = warp, .lanes = lanes, .members = named & active};
    *left &= ~lw_mask_of_warp(lanes, warp);
    return true;
}

static void put_u32(lw_gang *gang, uint32_t at, uint32_t warp, uint32_t lanes, uint32_t value) {
    uint32_t *d = LW_SLOT(gang, uint32_t, at) + LW_WARP_LANES * warp;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) d[i] = lanes & (1u << i) ? value : d[i];
}

/* ---- vote, activemask --------------------------------------------------------------------------------------- */

const lw_op *lw_step_vote(lw_gang *gang, const lw_op *op) {
    lw_mask p = lw_get_mask(gang, op->b), left = gang->mask, result = 0;
    if (op->flags & LW_OP_NEGATE) p = ~p;
    lw_group group;
    while (next_group(gang, op, &left, &group)) {
        uint32_t yes = group.members & lw_mask_warp(p, group.warp);
        bool all = yes == group.members, any = yes != 0;
        switch ((lw_vote_kind)op->mode) {
        case LW_VOTE_ballot: put_u32(gang, op->d, group.warp, group.lanes, yes); continue;
        case LW_VOTE_all: any = all; break;
        case LW_VOTE_any: break;
        case LW_VOTE_uni: any = all || !any; break;
        }
        if (any) result |= lw_mask_of_warp(group.lanes, group.warp);
    }
    if (op->mode != LW_VOTE_ballot) lw_put_mask(gang, op->d, result);
    return lw_go_on(gang, op);
}

const lw_op *lw_step_activemask(lw_gang *gang, const lw_op *op) {
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++) {
        uint32_t active = lw_mask_warp(gang->mask, warp);
        if (active) put_u32(gang, op->d, warp, active, active);
    }
    return op + 1;
}

/* ---- match -------------------------------------------------------------------------------------------------- */

/* The members whose value is that of lane `lane` of the warp. */
static uint32_t same_value(const lw_gang *gang, const lw_op *op, const lw_group *group, uint32_t lane) {
    uint32_t same = 0;
    if (op->c == 8) {
        const uint64_t *values = LW_SLOT(gang, uint64_t, op->b) + LW_WARP_LANES * group->warp;
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) same |= (uint32_t)(values[i] == values[lane]) << i;
    } else {
        const uint32_t *values = LW_SLOT(gang, uint32_t, op->b) + LW_WARP_LANES * group->warp;
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) same |= (uint32_t)(values[i] == values[lane]) << i;
    }
    return same & group->members;
}

const lw_op *lw_step_match(lw_gang *gang, const lw_op *op) {
    uint32_t results[LW_GANG_LANES]; /* d may be the slot of the values */
    lw_mask left = gang->mask, all_same = 0;
    bool all = op->mode == LW_MATCH_all;
    lw_group group;
    while (next_group(gang, op, &left, &group)) {
        uint32_t lane, first = group.members ? (uint32_t)__builtin_ctz(group.members) : 0;
        bool equal = all && same_value(gang, op, &group, first) == group.members;
        if (equal) all_same |= lw_mask_of_warp(group.lanes, group.warp);
        for (uint32_t todo = group.lanes; todo; todo &= todo - 1) {
            lane = (uint32_t)__builtin_ctz(todo);
            results[LW_WARP_LANES * group.warp + lane] = !all    ? same_value(gang, op, &group, lane)
                                                         : equal ? group.members
                                                                 : 0;
        }
    }
    if (op->d != LW_NO_SLOT) {
        uint32_t *d = LW_SLOT(gang, uint32_t, op->d);
        LW_FOR_LANES(lane, gang->mask) d[lane] = results[lane];
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, all_same);
    return lw_go_on(gang, op);
}

/* ---- redux, elect ------------------------------------------------------------------------------------------- */

static uint32_t combine(lw_redux_kind kind, uint32_t how, uint32_t a, uint32_t b) {
    switch (kind) {
    case LW_REDUX_add: return a + b;
    case LW_REDUX_min_s: return (int32_t)b < (int32_t)a ? b : a;
    case LW_REDUX_min_u: return b < a ? b : a;
    case LW_REDUX_max_s: return (int32_t)b > (int32_t)a ? b : a;
    case LW_REDUX_max_u: return b > a ? b : a;
    case LW_REDUX_and: return a & b;
    case LW_REDUX_or: return a | b;
    case LW_REDUX_xor: return a ^ b;
    case LW_REDUX_min_f32: return lw_bits_f32_(lw_least_f32(lw_from_bits_f32_(a), lw_from_bits_f32_(b), how));
    case LW_REDUX_max_f32: return lw_bits_f32_(lw_most_f32(lw_from_bits_f32_(a), lw_from_bits_f32_(b), how));
    }
    return a;
}

static bool is_float(lw_redux_kind kind) { return kind == LW_REDUX_min_f32 || kind == LW_REDUX_max_f32; }

const lw_op *lw_step_redux(lw_gang *gang, const lw_op *op) {
    const lw_redux_kind kind = (lw_redux_kind)op->mode;
    uint32_t results[LW_GANG_LANES]; /* d may be the slot of the values */
    lw_mask left = gang->mask;
    lw_group group;
    while (next_group(gang, op, &left, &group)) {
        const uint32_t *values = LW_SLOT(gang, uint32_t, op->b) + LW_WARP_LANES * group.warp;
        uint32_t todo = group.members;
        uint32_t result = todo ? values[__builtin_ctz(todo)] : 0;
        if (is_float(kind)) result = combine(kind, op->c, result, result); /* of one, too, a magnitude, or its NaN */
        for (todo &= todo - 1; todo; todo &= todo - 1)
            result = combine(kind, op->c, result, values[__builtin_ctz(todo)]);
        for (todo = group.lanes; todo; todo &= todo - 1)
            results[LW_WARP_LANES * group.warp + (uint32_t)__builtin_ctz(todo)] = result;
    }
    uint32_t *d = LW_SLOT(gang, uint32_t, op->d);
    LW_FOR_LANES(lane, gang->mask) d[lane] = results[lane];
    return lw_go_on(gang, op);
}

/* The lowest member leads. */
const lw_op *lw_step_elect(lw_gang *gang, const lw_op *op) {
    lw_mask left = gang->mask, leaders = 0;
    lw_group group;
    while (next_group(gang, op, &left, &group)) {
        if (!group.members) continue;
        uint32_t leader = (uint32_t)__builtin_ctz(group.members);
        if (group.lanes & (1u << leader)) leaders |= lw_mask_of_warp(1u << leader, group.warp);
        if (op->d != LW_NO_SLOT) put_u32(gang, op->d, group.warp, group.lanes, leader);
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, leaders);
    return lw_go_on(gang, op);
}
