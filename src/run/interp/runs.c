/* runs.c: runs of gangs that all do the same, whole, by one compiled code: from the kernel's first block, from behind a
 * barrier or from the beginning of a piece of long text to the next barrier of the CTA, the next piece or the end;
 * round by round, CTA by CTA.
 *
 * As long as a run lasts nobody writes down what nobody asks for. A gang that is through is as it was when it began, at
 * a barrier and at its end; so is the next CTA's, in the same objects. Whatever else a gang does ends the run first:
 * all gangs are made what they are then, so that the rest of the interpreter knows nothing of runs. */
#include "run/interp/runs.h"

#if defined __SANITIZE_ADDRESS__ || defined LW_SPOIL
enum { SPOILS = true };
#else
enum { SPOILS = false };
#endif

/* What is folded is unfolded where a run ends; so runs that end soon do not fold. */
enum { ROUNDS_FOR_END = 4, FOLDS_MOST = 16, FOLDS_LEAST = -64 };

enum { NOWHERE = UINT32_MAX };

/* ---- Begin --------------------------------------------------------------------------------------------------- */

/* It has begun nothing that somebody would have to end. */
LW_INLINE bool is_free(const lw_gang *gang) {
    return lw_gang_owes_nothing(gang) && !gang->cluster_owed && !gang->cta->cluster->arrived;
}

/* All of it is there, at one place. */
static bool is_whole(const lw_gang *gang, const lw_code *code) {
    return gang->state == LW_GANG_ready && !gang->stands && !gang->exited && gang->mask == gang->exist &&
           gang->frame->code == code && !gang->frame->caller && !gang->frame->ready_count && is_free(gang);
}

static const lw_op *block_of(const lw_code *code, uint32_t block) { return &code->ops[code->blocks[block].first]; }

void lw_run_begin(lw_gang *gang, lw_pass *pass) {
    lw_cta *cta = gang->cta;
    const lw_code *code = cta->program->entry;
    if (gang->number || !is_whole(gang, code) || !lw_cta_may_run(cta)) return;
    const lw_op *from = block_of(code, pass->block);
    for (uint32_t g = 1; g < cta->gang_count; g++)
        if (!is_whole(&cta->gangs[g], code) || cta->gangs[g].resume != from) return;
    cta->run_alike = true;
    for (uint32_t g = 1; g < cta->gang_count; g++) {
        cta->run_alike &= cta->gangs[g].mask == gang->mask;
        lw_gang_begin_turn(&cta->gangs[g]);
        if (!pass->block) cta->gangs[g].frame->written = LW_FRAME_pure;
    }
    cta->run_from = from;
    cta->run_stop = NOWHERE;
    cta->in_row = 0; /* while the CTA was set aside others may have been begun */
    cta->runs = true;
    lw_pass_set_folds(pass, gang);
}

/* ---- On ------------------------------------------------------------------------------------------------------ */

/* The block where all warps have stopped. The first one of a whole gang has lanes. */
LW_INLINE uint32_t stop_of(const lw_pass *pass) {
    const uint32_t at = pass->rests[0]->block;
    bool apart = false;
    for (uint32_t w = 1; w < LW_GANG_WARPS; w++) apart |= (pass->lanes[w] != 0) & (pass->rests[w]->block != at);
    return apart ? NOWHERE : at;
}

static bool is_end(const lw_op *block) { return block[1].code == LW_OP_exit || block[1].code == LW_OP_ret; }
static bool is_plain_barrier(const lw_op *block) {
    return block[1].code == LW_OP_barrier && lw_barrier_is_plain(block + 1);
}

/* Where the gangs go on that have come to a stop. */
static const lw_op *behind(const lw_cta *cta, const lw_op *stop) {
    if (is_end(stop)) return block_of(cta->program->entry, 0);
    return lw_is_entry(cta, stop) ? stop : stop + 2;
}

/* Rows may be read without a look where compiled code alone has written the frame, and put them there at a stop. */
static bool is_trusted(const lw_gang *gang, const lw_op *from) { return from->a && lw_frame_is_pure(gang->frame); }

/* The gang goes on at that block, which begin_at in pass.c is told. */
static void go_on_at(lw_gang *gang, const lw_op *from) {
    gang->trusted = is_trusted(gang, from) ? from : NULL;
    gang->trusted_frame = gang->frame;
}

/* All gangs of the CTA are through: behind the barrier, in the next piece, or in the next CTA. */
static bool next_round(lw_cta *cta) {
    const bool ends = cta->run_ends;
    const lw_op *from = behind(cta, cta->run_to);
    if (from != cta->run_from && !lw_is_entry(cta, from)) return false; /* that is not compiled */
    if (!(ends ? lw_cta_replace(cta) : lw_cta_may_pass(cta))) return false;
    for (uint32_t g = 0; ends && g < cta->gang_count; g++) {
        lw_gang_renew(&cta->gangs[g]);
        if (cta->gangs[g].async) lw_async_reset(&cta->gangs[g]);
        lw_frame_renew(&cta->gangs[g]);
    }
    if (from != cta->run_to) cta->cluster->idle = 0; /* to go on in another piece is nothing that others wait for */
    if (cta->folds < FOLDS_MOST) cta->folds++;
    cta->run_from = from;
    return true;
}

static lw_gang *next_gang(const lw_gang *gang) {
    const lw_cta *cta = gang->cta;
    return gang->number + 1 < cta->gang_count ? &cta->gangs[gang->number + 1] : cta->gangs;
}

lw_gang *lw_run_move(const lw_gang *gang, const lw_op **op) {
    lw_cta *cta = gang->cta;
    if (LW_LIKELY(!cta->run_moves)) return NULL;
    cta->run_moves = false;
    lw_gang *next = next_gang(gang);
    go_on_at(next, cta->run_from);
    *op = cta->run_from;
    return next;
}

/* The first gang of a round has come to this block: the others have to, too. False: no run stops there. */
static bool set_stop(lw_cta *cta, uint32_t block) {
    if (block == cta->run_stop || block == NOWHERE) return block != NOWHERE;
    const lw_op *to = block_of(cta->program->entry, block);
    const bool ends = is_end(to), is_entry = lw_is_entry(cta, to);
    if (!ends && !is_entry && !is_plain_barrier(to)) return false;
    cta->run_to = to, cta->run_stop = block, cta->run_ends = ends;
    cta->run_counts = ends || !is_entry ? (uint32_t)to->imm : 0; /* the code of an entry counts its first block */
    return true;
}

/* Lanes of folded rows that nobody may read: where memory is watched, whoever does gets nonsense. */
static void spoil_folded(const lw_gang *gang, uint32_t warp) {
    const lw_fold *fold = gang->folded[warp];
    for (uint32_t k = 0; fold && k < fold->count; k++) {
        const lw_row *row = &fold->rows[k];
        char *slot = gang->regs + lw_row_place(row, warp);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            if (i & ((1u << row->run) - 1)) memset(slot + i * row->bits / 8, 0xa5, row->bits / 8);
    }
}

lw_gang *lw_run_on(lw_gang *gang, lw_pass *pass) {
    lw_cta *cta = gang->cta;
    if (!cta->runs || !is_free(gang)) return NULL;
    const uint32_t stop = stop_of(pass);
    if (gang->number ? stop != cta->run_stop : !set_stop(cta, stop)) return NULL;
    if (cta->run_ends) memset(gang->folded, 0, sizeof gang->folded); /* none of these rows lives any more */
    for (uint32_t w = 0; SPOILS && w < LW_GANG_WARPS; w++) spoil_folded(gang, w);
    lw_gang *next = next_gang(gang);
    lw_gang_unseen(gang);
    if (!next->number && !next_round(cta)) return NULL;
    gang->warp_instructions += (uint64_t)cta->run_counts * gang->active_warps;
    gang->lane_instructions += (uint64_t)cta->run_counts * gang->active;
    if (next != gang || cta->run_ends) next->budget = LW_BUDGET; /* one alone passes barriers within its turn */
    cta->run_moves = cta->run_from[1].step != pass->step || (!cta->run_alike && next->mask != gang->mask);
    if (cta->run_moves) return NULL;
    if (!next->number) lw_pass_from(pass, cta->run_from);
    pass->trusted = is_trusted(next, cta->run_from);
    lw_pass_set_folds(pass, next);
    return next;
}

/* ---- End ----------------------------------------------------------------------------------------------------- */

/* It has come to the barrier, and waits in front of it: lw_step_barrier. */
static void stand(lw_gang *gang, const lw_op *block) {
    gang->resume = block + 1;
    gang->stands = gang->cta->stands = true;
    go_on_at(gang, block + 2);
}

/* It will go on at that block. */
static void wait(lw_gang *gang, const lw_op *block) {
    gang->resume = block;
    go_on_at(gang, block);
}

/* True: something was folded. */
static bool unfold_all(lw_cta *cta) {
    bool some = false;
    for (uint32_t g = 0; g < cta->gang_count; g++)
        for (uint32_t w = 0; w < LW_GANG_WARPS; w++) {
            if (!cta->gangs[g].folded[w]) continue;
            cta->program->warp->unfold(&cta->gangs[g], w);
            some = true;
        }
    return some;
}

void lw_run_end(lw_gang *gang) {
    lw_cta *cta = gang->cta;
    if (LW_LIKELY(!cta->runs)) return;
    cta->runs = false;
    if (unfold_all(cta) && cta->folds > FOLDS_LEAST) cta->folds -= ROUNDS_FOR_END;
    cta->turn = gang->number + 1;
    for (uint32_t g = 0; g < gang->number; g++) {
        if (cta->run_ends) lw_gang_leave(&cta->gangs[g]);
        else if (lw_is_entry(cta, cta->run_to)) wait(&cta->gangs[g], cta->run_to);
        else stand(&cta->gangs[g], cta->run_to);
        lw_gang_settle(&cta->gangs[g]);
    }
    for (uint32_t g = gang->number + 1; g < cta->gang_count; g++) {
        wait(&cta->gangs[g], cta->run_from);
        lw_gang_settle(&cta->gangs[g]); /* of the CTAs before */
    }
}
