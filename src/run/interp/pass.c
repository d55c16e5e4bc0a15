/* pass.c: what compiled code that takes one warp at a time asks of the interpreter: lanes from the frame and back,
 * steps for some lanes of a warp. */
#include "run/jit/jit.h"

static uint32_t ready_at(const lw_frame *frame, uint32_t block, uint32_t warp) {
    return frame->ready_count ? lw_mask_warp(frame->pending[block], warp) : 0;
}

/* All of a warp's lanes that have values in the frame go along, or none of them. */
static bool finds_all(const lw_gang *gang, const uint32_t *behind, uint32_t count, uint32_t warp) {
    const lw_frame *frame = gang->frame;
    uint32_t missing = lw_mask_warp(frame->owned & ~gang->mask, warp);
    for (uint32_t k = 0; missing && k < count; k++) missing &= ~ready_at(frame, behind[k], warp);
    return !missing;
}

static uint32_t begin(lw_gang *gang, uint32_t block, const uint32_t *behind, uint32_t count, lw_pass *pass) {
    lw_frame *frame = gang->frame;
    uint32_t warps = 0;
    pass->trusted = gang->trusted == &frame->code->ops[frame->code->blocks[block].first] &&
                    gang->trusted_frame == frame;
    gang->trusted = NULL;
    if (frame->written == LW_FRAME_new) frame->written = block ? LW_FRAME_mixed : LW_FRAME_pure;
    const bool all = gang->mask == frame->owned; /* nobody is elsewhere */
    memcpy(pass->lanes, &gang->mask, sizeof pass->lanes);
    for (uint32_t w = 0; w < LW_GANG_WARPS; w++) {
        if (!pass->lanes[w]) continue;
        if (!all && !finds_all(gang, behind, count, w)) return 0;
        warps |= 1u << w;
    }
    pass->block = block, pass->count = count, pass->behind = behind;
    if (all) memset(pass->ready, 0, count * sizeof *pass->ready);
    for (uint32_t k = 0; k < count && !all; k++)
        for (uint32_t w = 0; w < LW_GANG_WARPS; w++) {
            pass->ready[k][w] = pass->lanes[w] ? ready_at(frame, behind[k], w) : 0;
            lw_gang_unpend(frame, behind[k], lw_mask_of_warp(pass->ready[k][w], w));
        }
    const uint64_t instructions = frame->code->ops[frame->code->blocks[block].first].imm;
    gang->warp_instructions -= instructions * gang->active_warps;
    gang->lane_instructions -= instructions * gang->active;
    return warps;
}

/* Exchanges go on into the next block, and would take lanes along that are ready there. */
static const lw_op *exchange(lw_gang *gang, const lw_op *op, lw_step *step) {
    lw_frame *frame = gang->frame;
    const uint32_t ready = frame->ready_count;
    const uint64_t warps = gang->warp_instructions, lanes = gang->lane_instructions;
    frame->ready_count = 0;
    const lw_op *next = step(gang, op);
    frame->ready_count = ready;
    gang->warp_instructions = warps, gang->lane_instructions = lanes;
    return next;
}

/* Trails are of lanes that were there, and registers that they have at hand now need not be the same. */
static void forget_trail(lw_gang *gang, const lw_op *op) {
    if (lw_row_of(op->code)->mode == LW_MODE_trail && op->mode != LW_TRAIL_none)
        gang->trails[(op->mode - LW_TRAIL_leaves_0) % LW_TRAILS].mask = 0;
}

/* Nobody else's values may be touched: those of warps that come later are in their slots. */
static bool step_for(lw_gang *gang, const lw_op *op, lw_step *step, uint32_t warp, uint32_t lanes) {
    const lw_mask mask = gang->mask;
    lw_gang_set_mask(gang, lw_mask_of_warp(lanes, warp));
    gang->full = false;
    gang->whole = 0;
    forget_trail(gang, op);
    const lw_op *next = lw_op_does(op, LW_DOES_EXCHANGES) ? exchange(gang, op, step) : step(gang, op);
    if (!next) return false;
    lw_gang_set_mask(gang, mask);
    return true;
}

/* An access asks for nothing but the mask. */
bool lw_pass_move(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes) {
    const lw_mask mask = gang->mask;
    gang->mask = lw_mask_of_warp(lanes, warp);
    forget_trail(gang, op);
    if (!gang->cta->program->steps[op->code](gang, op)) {
        lw_gang_set_mask(gang, gang->mask);
        return false;
    }
    gang->mask = mask;
    return true;
}

static void pend(lw_gang *gang, uint32_t block, uint32_t warp, uint32_t lanes) {
    lw_gang_pend(gang->frame, block, lw_mask_of_warp(lanes, warp));
}

/* A block that is a barrier, which changes no register, and goes on at the block behind it. */
static bool is_barrier(const lw_op *block) {
    return block->code == LW_OP_block && block[1].code == LW_OP_barrier && block[1].d == LW_NO_SLOT &&
           block[2].code == LW_OP_block;
}

/* The whole gang enters a barrier; or somebody goes on who may be interpreted. */
static void trust(lw_gang *gang, const lw_op *op) {
    lw_frame *frame = gang->frame;
    if (!is_barrier(op) || !gang->full) frame->written = LW_FRAME_mixed;
    if (frame->written != LW_FRAME_pure) return;
    gang->trusted = op + 2;
    gang->trusted_frame = frame;
}

static const lw_op *end(lw_gang *gang, uint32_t spent) {
    lw_frame *frame = gang->frame;
    if (spent) {
        if (frame->ready_count > 1) frame->written = LW_FRAME_mixed; /* somebody else gets a turn */
        return lw_gang_end_turn(gang, spent >> 31, (spent & INT32_MAX) / 2);
    }
    const lw_op *op = lw_gang_select(gang);
    if (op && gang->frame == frame) trust(gang, op);
    return op;
}

static const lw_op *leave(lw_gang *gang, const lw_op *op, const lw_pass *pass, uint32_t warp, uint32_t lanes,
                          bool own) {
    for (uint32_t w = warp; w < LW_GANG_WARPS; w++) {
        if (w > warp && pass->lanes[w]) pend(gang, pass->block, w, pass->lanes[w]);
        for (uint32_t k = 0; k < pass->count && (own || w > warp); k++)
            if (pass->ready[k][w]) pend(gang, pass->behind[k], w, pass->ready[k][w]);
    }
    gang->frame->written = LW_FRAME_mixed;
    for (uint32_t k = 0; k < LW_TRAILS; k++) gang->trails[k].mask = 0; /* in this block nobody has left one */
    lw_gang_set_mask(gang, lw_mask_of_warp(lanes, warp));
    gang->whole = LW_OP_WHOLE;
    lw_step *const *steps = gang->cta->program->steps;
    do op = steps[op->code](gang, op);
    while (op && op->step == steps[op->code]);
    return op;
}

const lw_core lw_core_calls = {begin, step_for, pend, end, leave};
