/* crowd.h: where threads stand that do not go on. */
#ifndef LW_RUN_CROWD_H
#define LW_RUN_CROWD_H

#include "run/run.h"

/* Adds those of the CTA that wait for something else than `but`: the first LW_CROWDS places and barriers that are
 * met. */
void lw_crowds_find(lw_crowd crowds[LW_CROWDS], const lw_cta *cta, const lw_wait *but);

/* Adds where warps of a cluster stand that was stopped. */
void lw_stops_add(lw_grid *grid, const lw_cluster *cluster);
/* Those of most warps first; returns how many there are. */
uint32_t lw_stops_sort(lw_stops *stops, const lw_crowd **crowds);

#endif
