/* runs.h: between pass.c and runs.c. */
#ifndef LW_RUNS_H
#define LW_RUNS_H

#include "run/interp/frame.h"
#include "run/jit/jit.h"

/* pass.c: the pass is one from a block on, whose operation this is, and nobody is elsewhere. */
void lw_pass_from(lw_pass *pass, const lw_op *block);
/* A pass of the gang has begun, and with it a run, if that can be. */
void lw_run_begin(lw_gang *gang, lw_pass *pass);
lw_gang *lw_run_on(lw_gang *gang, lw_pass *pass); /* lw_core.run_on */
/* The run goes on by other code: its first gang, and where that is. NULL: it does not. */
lw_gang *lw_run_move(lw_cta *cta, const lw_op **op);
/* The gang is no part of a run any more, nor is any other one. */
void lw_run_end(lw_gang *gang);

#endif
