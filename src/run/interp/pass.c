/* pass.c: what compiled code that takes one warp at a time asks of the interpreter: lanes from the frame and back,
 * steps for some lanes of a warp. */
#include "run/interp/runs.h"

/* A mask is put together of its warps' words, and taken apart into them, by shifts of known numbers: in a loop each
 * would go by way of memory. */
_Static_assert(LW_GANG_WARPS == 4, "EACH_WARP is for as many");
#define EACH_WARP(w) _Pragma("GCC unroll 4") for (uint32_t w = 0; w < LW_GANG_WARPS; w++)

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

/* The lanes of the warps at hand that are ready at blocks behind. False: of one there are lanes elsewhere, too, and all
 * is as it was. */
static bool take_ready(lw_gang *gang, lw_pass *pass) {
    for (uint32_t w = 0; w < LW_GANG_WARPS; w++)
        if (pass->lanes[w] && !finds_all(gang, pass->behind, pass->count, w)) return false;
    for (uint32_t k = 0; k < pass->count; k++)
        for (uint32_t w = 0; w < LW_GANG_WARPS; w++) {
            pass->ready[k][w] = pass->lanes[w] ? ready_at(gang->frame, pass->behind[k], w) : 0;
            lw_gang_unpend(gang->frame, pass->behind[k], lw_mask_of_warp(pass->ready[k][w], w));
        }
    return true;
}

void lw_pass_from(lw_pass *pass, const lw_op *block) {
    const uint32_t *list = pass->entries + pass->entries[block->a];
    pass->block = block->a, pass->count = *list, pass->behind = list + 1;
    for (uint32_t k = 0; k < pass->count; k++) memset(pass->ready[k], 0, sizeof pass->ready[k]);
}

/* At a block, whose operation this is. */
static uint32_t begin_at(lw_gang *gang, const lw_op *op, lw_pass *pass) {
    lw_frame *frame = gang->frame;
    uint32_t warps = 0;
    pass->trusted = gang->trusted == op && gang->trusted_frame == frame;
    gang->trusted = NULL;
    if (frame->written == LW_FRAME_new) frame->written = op->a ? LW_FRAME_mixed : LW_FRAME_pure;
    EACH_WARP(w) {
        pass->lanes[w] = lw_mask_warp(gang->mask, w);
        warps |= (uint32_t)(pass->lanes[w] != 0) << w;
    }
    lw_pass_set_folds(pass, gang);
    lw_pass_from(pass, op);
    return gang->mask == frame->owned || take_ready(gang, pass) ? warps : 0;
}

/* Behind lw_enter_block, which has counted. */
static uint32_t begin_counted(lw_gang *gang, const lw_op *op, lw_pass *pass) {
    const uint32_t warps = begin_at(gang, op, pass);
    if (!warps) {
        lw_run_end(gang);
        return 0;
    }
    gang->warp_instructions -= op->imm * gang->active_warps;
    gang->lane_instructions -= op->imm * gang->active;
    return warps;
}

static uint32_t begin(lw_gang *gang, const lw_op *op, uint32_t block, lw_pass *pass) {
    const lw_code *code = gang->frame->code;
    pass->step = op->step;
    return begin_counted(gang, &code->ops[code->blocks[block].first], pass);
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

/* The block where it is known who has written the registers, if the gang goes on at this one: that behind a barrier, or
 * itself, where compiled code is entered. NULL: somebody goes on who may be interpreted. */
static const lw_op *trusted_at(const lw_gang *gang, const lw_op *op) {
    if (is_barrier(op)) return op + 2;
    return lw_is_entry(gang->cta, op) ? op : NULL;
}

static void trust(lw_gang *gang, const lw_op *op) {
    lw_frame *frame = gang->frame;
    const lw_op *at = gang->full ? trusted_at(gang, op) : NULL;
    if (!at) frame->written = LW_FRAME_mixed;
    if (!lw_frame_is_pure(frame)) return;
    gang->trusted = at;
    gang->trusted_frame = frame;
}

/* Lanes of a warp that has gone are pending now where they are ready. */
static void pend_rests(const lw_gang *gang, const lw_pass *pass, uint32_t warp) {
    for (uint32_t k = 0; k < pass->rest_count[warp]; k++) {
        const struct lw_rest *rest = &pass->rests[warp][k];
        lw_gang_pend(gang->frame, rest->block, lw_mask_of_warp(rest->lanes, warp));
    }
}

/* Masks are put together of words, as these were written: to read more at once waits for the stores. */
static void gather_rests(lw_gang *gang, const lw_pass *pass) {
    uint64_t halves[LW_GANG_WARPS / 2] = {0};
    EACH_WARP(w) if (pass->lanes[w]) halves[w / 2] |= (uint64_t)pass->rests[w]->lanes << w % 2 * 32;
    lw_gang_set_mask(gang, (lw_mask)halves[1] << 64 | halves[0]);
}

/* The block at which all that have gone are ready, with them at hand, where nobody is ready anywhere else in the frame.
 * NULL: there is none. */
static const lw_op *rest_together(lw_gang *gang, const lw_pass *pass) {
    const lw_frame *frame = gang->frame;
    uint32_t at = UINT32_MAX, others = 0;
    if (frame->ready_count) return NULL;
    EACH_WARP(w) {
        if (!pass->lanes[w]) continue;
        const struct lw_rest *rest = pass->rests[w];
        if (pass->rest_count[w] != 1 || (at != UINT32_MAX && at != rest->block)) return NULL;
        at = rest->block;
        others |= rest->lanes ^ pass->lanes[w];
    }
    if (others) gather_rests(gang, pass);
    return &frame->code->ops[frame->code->blocks[at].first];
}

/* Where the gang goes on. */
static const lw_op *end_pass(lw_gang *gang, uint32_t spent, const lw_pass *pass) {
    lw_frame *frame = gang->frame;
    const lw_op *op = spent ? NULL : rest_together(gang, pass);
    for (uint32_t w = 0; !op && w < LW_GANG_WARPS; w++)
        if (pass->lanes[w]) pend_rests(gang, pass, w);
    if (spent) {
        if (frame->ready_count > 1) frame->written = LW_FRAME_mixed; /* somebody else gets a turn */
        return lw_gang_end_turn(gang, spent >> 31, (spent & INT32_MAX) / 2);
    }
    if (!op) op = lw_gang_select(gang);
    if (op && gang->frame == frame) trust(gang, op);
    return op;
}

/* Another gang than the dispatch loop's waits until that asks who is next, or its turn is over. */
static const lw_op *hand(lw_gang *gang, const lw_op *op, const lw_gang *turn) {
    if (gang == turn) return op;
    if (op) gang->resume = op, gang->cta->handed = gang;
    else lw_gang_settle(gang);
    return NULL;
}

/* The gang's next pass by the same code, where it is at the beginning of a block of it, or has just entered that. */
static bool begin_again(lw_gang *gang, const lw_op *op, lw_pass *pass) {
    pass->warps = 0;
    if (op->code == LW_OP_block && op[1].step == pass->step && !gang->frame->ready_count) {
        gang->whole = LW_OP_WHOLE | LW_OP_LONE; /* as lw_enter_block has it */
        pass->warps = begin_at(gang, op, pass);
    } else if (op->step == pass->step && op[-1].code == LW_OP_block) {
        pass->warps = begin_counted(gang, op - 1, pass);
    }
    if (pass->warps) pass->gang = gang;
    return pass->warps;
}

/* As a rule the gang has come to a barrier or its end, which are a few steps of the interpreter, and another one goes
 * on as this one did. So these steps are done here. */
static const lw_op *end(lw_gang *gang, uint32_t spent, lw_pass *pass, const lw_gang *turn) {
    enum { FEW = 4 };
    lw_step *const *steps = gang->cta->program->steps;
    const lw_op *op;
    lw_gang *next = lw_run_move(gang, &op);
    pass->gang = NULL;
    if (next) return begin_again(next, op, pass) ? NULL : hand(next, op, turn);
    lw_run_end(gang);
    op = end_pass(gang, spent, pass);
    for (uint32_t k = 0; k < FEW; k++) {
        if (!op) {
            next = lw_grid_next(gang, &op);
            if (!next) break;
            gang = next, k = 0;
        }
        if (op && begin_again(gang, op, pass)) {
            lw_run_begin(gang, pass);
            return NULL;
        }
        if (op && op->step != steps[op->code]) break;
        if (op) op = op->step == lw_step_block ? lw_enter_block(gang, op) : op->step(gang, op);
    }
    return hand(gang, op, turn);
}

static const lw_op *leave(lw_gang *gang, const lw_op *op, const lw_pass *pass, uint32_t warp, uint32_t lanes,
                          bool own) {
    lw_run_end(gang);
    for (uint32_t w = 0; w < (own ? warp : warp + 1); w++)
        if (pass->lanes[w]) pend_rests(gang, pass, w);
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

const lw_core lw_core_calls = {begin, step_for, pend, end, leave, lw_run_on, hand};
