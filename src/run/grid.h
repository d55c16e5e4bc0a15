/* grid.h: between grid.c and pool.c: seats, and a worker's part of a launch. */
#ifndef LW_GRID_H
#define LW_GRID_H

#include "run/tier.h"
#include "run/turns.h"

#define LW_PROGRESS_SECONDS 0.1

/* What a thread that works on launches keeps: CTA objects, counts not yet added to the launch, clusters claimed and not
 * yet begun. */
typedef struct lw_seat {
    struct lw_seat *next; /* of the pool's free ones */
    lw_cta *free;
    uint64_t claimed, claimed_end;
    uint64_t warp_instructions, lane_instructions, done_ctas, compiled_ctas;
    const lw_program *metered; /* of a trial: whose work these counts are, … */
    bool metered_swapped;      /* … of CTAs that were begun in the other code, since … */
    double since;              /* … this CPU time of the thread; NULL: nobody's */
    uint32_t patience;
    uint64_t in_vain;             /* clusters set aside since the last one ended … */
    double vain_since;            /* … and when the first of them was */
    bool may_begin;               /* another cluster, when the one at hand has ended */
    bool alone;                   /* nobody else works on the launch */
    void (*progress)(void *user); /* the launching thread's only */
    void *user;
    double progress_next;
} lw_seat;

typedef enum lw_cluster_end {
    LW_CLUSTER_DONE,
    LW_CLUSTER_SPENT,
    LW_CLUSTER_TRAPPED,
    LW_CLUSTER_ABANDONED
} lw_cluster_end;

lw_cluster_end lw_cluster_run(lw_seat *seat, lw_cluster *cluster); /* until done, or set aside for others */
/* Clusters of a launch until none is left to begin or to bring back. */
void lw_grid_work(lw_seat *seat, lw_grid *grid);
void lw_seat_progress(lw_seat *seat, lw_grid *grid);
void lw_seat_end(lw_seat *seat);

#endif
