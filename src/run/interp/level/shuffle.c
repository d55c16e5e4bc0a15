/* shuffle.c: shfl in all modes (manual sections 9.7.9.5 and 9.7.9.6); compiled once for each CPU level.
 *
 * Each warp is a table of 32 words in which every lane looks one up. Lanes that do not execute count as 0 in the
 * table. */
#include "run/interp/level/level.h"
#include "run/jit/jit.h"

/* A mask, made warp by warp. */
typedef union lw_warps {
    lw_mask mask;
    uint32_t warps[LW_GANG_LANES / LW_WARP_LANES];
} lw_warps;

/* False: the launch is strict and has ended. */
static bool tell_undefined(lw_gang *gang, const lw_op *op, lw_mask in_vain, lw_mask parted) {
    if (parted && lw_gang_undefined(gang, op, LW_D_note_divergent, parted)) return false;
    return !in_vain || !lw_gang_undefined(gang, op, LW_D_note_inactive_lane, in_vain);
}

/* Whole warps, in which no lane can read in vain. Compiled once for each mode. */
static inline __attribute__((always_inline)) void shuffle_whole(lw_gang *gang, const lw_op *op, lw_shuffle_mode mode,
                                                                const lw_controls *controls) {
    uint32_t *to = LW_SLOT(gang, uint32_t, op->d), first = gang->begin / LW_WARP_LANES,
             end = gang->lanes / LW_WARP_LANES;
    const uint32_t *from = LW_SLOT(gang, uint32_t, op->b);
    lw_segments segments;
    lw_sources sources;
    lw_warps in_range = {0};
    lw_find_warp_segments(controls, first, &segments);
    lw_find_warp_sources(mode, controls, &segments, first, &sources);
    for (uint32_t warp = first;;) {
        lw_shuffle_warp(to + 32 * warp, from + 32 * warp, UINT32_MAX, UINT32_MAX, &sources);
        if (op->e != LW_NO_SLOT) in_range.warps[warp] = lw_in_range_of(&sources);
        if (++warp == end) break;
        if (controls->c)
            lw_find_warp_segments(controls, warp, &segments); /* else as in the warp before; so, too, below */
        if (controls->b || controls->c) lw_find_warp_sources(mode, controls, &segments, warp, &sources);
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, in_range.mask);
}

static __attribute__((noinline)) const lw_op *shuffle_parts(lw_gang *gang, const lw_op *op, lw_shuffle_mode mode,
                                                            const lw_controls *controls) {
    uint32_t *to = LW_SLOT(gang, uint32_t, op->d);
    const uint32_t *from = LW_SLOT(gang, uint32_t, op->b);
    lw_segments segments;
    lw_sources sources;
    lw_warps in_range = {0}, in_vain = {0}, parted = {0};
    for (uint32_t warp = 0; warp < gang->lanes / LW_WARP_LANES; warp++) {
        uint32_t active = lw_mask_warp(gang->mask, warp);
        if (!active) continue;
        lw_find_warp_segments(controls, warp, &segments);
        lw_find_warp_sources(mode, controls, &segments, warp, &sources);
        in_vain.warps[warp] = lw_lanes_in_vain(active, &sources);
        bool others = lw_mask_warp(lw_live_lanes(gang), warp) & ~active;
        if (op->flags & LW_OP_UNSYNC && others) parted.warps[warp] = active;
        lw_shuffle_warp(to + 32 * warp, from + 32 * warp, active, active | lw_mask_warp(gang->beside, warp), &sources);
        in_range.warps[warp] = lw_in_range_of(&sources);
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, in_range.mask);
    return tell_undefined(gang, op, in_vain.mask, parted.mask) ? lw_go_on(gang, op) : NULL;
}

const lw_op *LW_AT_LEVEL(lw_step_shuffle)(lw_gang *gang, const lw_op *op) {
    lw_shuffle_mode mode = (lw_shuffle_mode)op->mode;
    lw_controls controls = {.b_constant = (uint32_t)op->imm, .c_constant = (uint32_t)(op->imm >> 32)};
    if (!(op->flags & LW_OP_IMM_A)) controls.b = LW_SLOT(gang, uint32_t, op->a);
    if (!(op->flags & LW_OP_IMM_C)) controls.c = LW_SLOT(gang, uint32_t, op->c);
    /* The count is right here: a shuffle stands behind no guard, it ends its block. */
    if (LW_UNLIKELY(gang->active != gang->lanes - gang->begin)) return shuffle_parts(gang, op, mode, &controls);
    switch (mode) {
    case LW_SHUFFLE_up: shuffle_whole(gang, op, LW_SHUFFLE_up, &controls); break;
    case LW_SHUFFLE_down: shuffle_whole(gang, op, LW_SHUFFLE_down, &controls); break;
    case LW_SHUFFLE_bfly: shuffle_whole(gang, op, LW_SHUFFLE_bfly, &controls); break;
    case LW_SHUFFLE_idx: shuffle_whole(gang, op, LW_SHUFFLE_idx, &controls); break;
    }
    return lw_go_on(gang, op);
}

/* ---- One warp, for compiled code (run/jit/jit.h) ----------------------------------------------------------------- */

LW_INLINE uint32_t trade_in(lw_trade *trade, lw_shuffle_mode mode, uint32_t lanes) {
    const lw_controls controls = {.b = trade->b, .c = trade->c};
    lw_segments segments;
    lw_sources sources;
    lw_find_warp_segments(&controls, 0, &segments);
    lw_find_warp_sources(mode, &controls, &segments, 0, &sources);
    lw_shuffle_warp(trade->to, trade->from, UINT32_MAX, UINT32_MAX, &sources);
    trade->in_range = lw_in_range_of(&sources);
    return LW_LIKELY(lanes == UINT32_MAX) ? 0 : lw_lanes_in_vain(lanes, &sources);
}

uint32_t LW_AT_LEVEL(lw_warp_shuffle)(lw_trade *trade, uint32_t mode, uint32_t lanes) {
    switch ((lw_shuffle_mode)mode) {
    case LW_SHUFFLE_up: return trade_in(trade, LW_SHUFFLE_up, lanes);
    case LW_SHUFFLE_down: return trade_in(trade, LW_SHUFFLE_down, lanes);
    case LW_SHUFFLE_bfly: return trade_in(trade, LW_SHUFFLE_bfly, lanes);
    case LW_SHUFFLE_idx: return trade_in(trade, LW_SHUFFLE_idx, lanes);
    }
    return lanes;
}
