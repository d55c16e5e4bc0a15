/* turns.h: what the interpreter asks of grid.c from turn to turn of its gangs. */
#ifndef LW_TURNS_H
#define LW_TURNS_H

#include "run/run.h"

enum {
    LW_BUDGET = 8192,  /* backward branches a turn, of short loops */
    LW_TURN_COST = 64, /* backward branches that a turn without any counts for, where the worker has to look up */
};

/* The gang has had a turn behind which its worker did not look. */
static inline void lw_gang_unseen(const lw_gang *gang) {
    if (LW_UNLIKELY(gang->cta->watched)) gang->cta->unseen += LW_TURN_COST + LW_BUDGET - gang->budget;
}

/* A gang's turn is over. The one whose turn it is next, of its CTA or of the worker's next one, and where it goes on,
 * or NULL there: nobody of it can. NULL: the worker has to look first. */
lw_gang *lw_grid_next(lw_gang *gang, const lw_op **op);
void lw_gang_settle(lw_gang *gang); /* what it has counted, to its worker, and notes to the grid */
/* Between turns of its gangs: it goes on by another code of its program (interp/swap.c), unless it cannot now. */
void lw_cta_swap(lw_cta *cta, const lw_program *to);
/* For runs (interp/runs.c). Nothing stands against one; the CTA goes on behind a barrier, unless the worker has to look
 * first; it has ended, and is the next one that is claimed: memory and place, nothing of its gangs. */
bool lw_cta_may_run(const lw_cta *cta);
bool lw_cta_may_pass(lw_cta *cta);
bool lw_cta_replace(lw_cta *cta);

#endif
