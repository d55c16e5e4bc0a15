/* runs.h: between pass.c and runs.c. */
#ifndef LW_RUNS_H
#define LW_RUNS_H

#include "run/interp/frame.h"
#include "run/jit/jit.h"

/* Compiled code is entered at this block. */
static inline bool lw_is_entry(const lw_cta *cta, const lw_op *block) {
    return block->code == LW_OP_block && block[1].step != cta->program->steps[block[1].code];
}
/* Compiled code alone has written its registers. */
static inline bool lw_frame_is_pure(const lw_frame *frame) { return frame->written == LW_FRAME_pure; }
static inline void lw_pass_set_folds(lw_pass *pass, const lw_gang *gang) {
    pass->folds = gang->cta->runs && gang->cta->folds >= 0 && lw_frame_is_pure(gang->frame);
}

/* pass.c: the pass is one from a block on, whose operation this is, and nobody is elsewhere. */
void lw_pass_from(lw_pass *pass, const lw_op *block);
/* A pass of the gang has begun, and with it a run, if that can be. */
void lw_run_begin(lw_gang *gang, lw_pass *pass);
lw_gang *lw_run_on(lw_gang *gang, lw_pass *pass); /* lw_core.run_on */
/* The run goes on behind the gang by other code, or with other lanes: the next gang, and where that is. NULL: it does
 * not. */
lw_gang *lw_run_move(const lw_gang *gang, const lw_op **op);
/* The gang is no part of a run any more, nor is any other one. */
void lw_run_end(lw_gang *gang);

#endif
