/* runs.c: runs of gangs that all do the same, whole, by one compiled code: from the kernel's first block, or from
 * behind a barrier, to the next barrier of the CTA or to the end; round by round, CTA by CTA.
 *
 * As long as a run lasts nobody writes down what nobody asks for. A gang that is through is as it was when it began, at
 * a barrier and at its end; so is the next CTA's, in the same objects. Whatever else a gang does ends the run first:
 * all gangs are made what they are then, so that the rest of the interpreter knows nothing of runs. */
#include "run/interp/runs.h"

/* ---- Begin --------------------------------------------------------------------------------------------------- */

/* It has begun nothing that somebody would have to end. Who once has is asked no more: its CTAs are not in runs. */
static bool is_free(const lw_gang *gang) {
    return !gang->async && !gang->meeting && !gang->cluster_owed && !gang->cta->cluster->arrived;
}

/* All of it is there, at one place. */
static bool is_whole(const lw_gang *gang, const lw_code *code) {
    return gang->state == LW_GANG_ready && !gang->stands && !gang->exited && gang->mask == gang->exist &&
           gang->frame->code == code && !gang->frame->caller && !gang->frame->ready_count && is_free(gang);
}

static const lw_op *block_of(const lw_code *code, uint32_t block) { return &code->ops[code->blocks[block].first]; }

void lw_run_begin(lw_gang *gang, const lw_pass *pass) {
    lw_cta *cta = gang->cta;
    const lw_code *code = cta->program->entry;
    if (gang->number || code->local_bytes || !is_whole(gang, code) || !lw_cta_may_run(cta)) return;
    const lw_op *from = block_of(code, pass->block);
    for (uint32_t g = 1; g < cta->gang_count; g++)
        if (!is_whole(&cta->gangs[g], code) || cta->gangs[g].resume != from) return;
    for (uint32_t g = 1; g < cta->gang_count; g++) {
        lw_gang_begin_turn(&cta->gangs[g]);
        if (!pass->block) cta->gangs[g].frame->written = LW_FRAME_pure;
    }
    cta->run_from = from;
    cta->runs = true;
}

/* ---- On ------------------------------------------------------------------------------------------------------ */

/* The operation of the block where all warps have stopped; NULL: there is none. */
static const lw_op *stop_of(const lw_gang *gang, const lw_pass *pass) {
    uint32_t at = UINT32_MAX;
    for (uint32_t w = 0; w < LW_GANG_WARPS; w++) {
        if (!pass->lanes[w]) continue;
        if (at != UINT32_MAX && at != pass->rests[w]->block) return NULL;
        at = pass->rests[w]->block;
    }
    return block_of(gang->frame->code, at);
}

static bool is_end(const lw_op *block) { return block[1].code == LW_OP_exit || block[1].code == LW_OP_ret; }
static bool is_plain_barrier(const lw_op *block) {
    return block[1].code == LW_OP_barrier && lw_barrier_is_plain(block + 1);
}

/* Rows may be read without a look where compiled code alone has written the frame and a barrier lies in front. */
static bool is_trusted(const lw_gang *gang, const lw_op *from) {
    return from->a && gang->frame->written == LW_FRAME_pure;
}

/* The gang will go on at that block, which begin_at in pass.c is told. */
static void go_on_at(lw_gang *gang, const lw_op *from) {
    gang->trusted = is_trusted(gang, from) ? from : NULL;
    gang->trusted_frame = gang->frame;
}

/* All gangs of the CTA are through: behind the barrier, or in the next CTA. Long text is in pieces, of which this pass
 * may be another one's. */
static bool next_round(lw_cta *cta, lw_pass *pass) {
    const lw_code *code = cta->program->entry;
    const bool ends = is_end(cta->run_to);
    const lw_op *from = ends ? block_of(code, 0) : cta->run_to + 2;
    if (from[1].step == cta->program->steps[from[1].code]) return false; /* that is not compiled */
    if (!(ends ? lw_cta_replace(cta) : lw_cta_may_pass(cta))) return false;
    for (uint32_t g = 0; ends && g < cta->gang_count; g++) {
        lw_gang_renew(&cta->gangs[g]);
        lw_frame_clear(cta->gangs[g].frame);
        cta->gangs[g].frame->written = LW_FRAME_pure;
    }
    cta->cluster->idle = 0;
    cta->run_from = from;
    cta->run_moves = from[1].step != pass->step;
    if (!cta->run_moves) lw_pass_from(pass, from);
    return true;
}

lw_gang *lw_run_move(lw_cta *cta, const lw_op **op) {
    if (LW_LIKELY(!cta->run_moves)) return NULL;
    cta->run_moves = false;
    go_on_at(&cta->gangs[0], cta->run_from);
    *op = cta->run_from;
    return &cta->gangs[0];
}

lw_gang *lw_run_on(lw_gang *gang, lw_pass *pass) {
    lw_cta *cta = gang->cta;
    const lw_op *to = cta->runs ? stop_of(gang, pass) : NULL;
    if (!to || !is_free(gang) || (gang->number ? to != cta->run_to : !is_end(to) && !is_plain_barrier(to))) return NULL;
    cta->run_to = to;
    lw_gang *next = gang + 1;
    if (next == cta->gangs + cta->gang_count) {
        if (!next_round(cta, pass)) return NULL;
        next = cta->gangs;
    }
    gang->warp_instructions += to->imm * gang->active_warps;
    gang->lane_instructions += to->imm * gang->active;
    next->budget = LW_BUDGET;
    pass->trusted = is_trusted(next, cta->run_from);
    return cta->run_moves ? NULL : next;
}

/* ---- End ----------------------------------------------------------------------------------------------------- */

/* It has come to the barrier, and waits in front of it: lw_step_barrier. */
static void stand(lw_gang *gang, const lw_op *block) {
    gang->resume = block + 1;
    gang->stands = gang->cta->stands = true;
    go_on_at(gang, block + 2);
}

void lw_run_end(lw_gang *gang) {
    lw_cta *cta = gang->cta;
    if (LW_LIKELY(!cta->runs)) return;
    cta->runs = false;
    cta->turn = gang->number + 1;
    for (uint32_t g = 0; g < gang->number; g++) {
        if (is_end(cta->run_to)) lw_gang_leave(&cta->gangs[g]);
        else stand(&cta->gangs[g], cta->run_to);
        lw_gang_settle(&cta->gangs[g]);
    }
    for (uint32_t g = gang->number + 1; g < cta->gang_count; g++) {
        cta->gangs[g].resume = cta->run_from;
        go_on_at(&cta->gangs[g], cta->run_from);
        lw_gang_settle(&cta->gangs[g]); /* of the CTAs before */
    }
}
