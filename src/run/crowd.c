/* crowd.c: where the threads of a launch stand that does not go on. */
#include "run/crowd.h"

#include <stdlib.h>

/* ---- Deadlocks ------------------------------------------------------------------------------------------- */

static bool is_same(const lw_wait *wait, lw_place place, const lw_crowd *crowd) {
    return wait->barrier == crowd->barrier && wait->address == crowd->address && place.at == crowd->place.at;
}

static void add_wait(lw_crowd *crowds, const lw_wait *wait) {
    const lw_place place = lw_place_of(wait->frame->code, wait->op);
    uint32_t i = 0;
    while (i < LW_CROWDS && crowds[i].count && !is_same(wait, place, &crowds[i])) i++;
    if (i == LW_CROWDS) return;
    crowds[i].place = place;
    crowds[i].barrier = wait->barrier;
    crowds[i].address = wait->address;
    crowds[i].count += lw_mask_count(wait->lanes);
}

void lw_crowds_find(lw_crowd crowds[LW_CROWDS], const lw_cta *cta, const lw_wait *but) {
    for (uint32_t g = 0; g < cta->gang_count; g++)
        for (uint32_t i = 0; i < cta->gangs[g].waits.count; i++) {
            const lw_wait *wait = &cta->gangs[g].waits.at[i];
            if (wait->barrier != but->barrier || wait->address != but->address) add_wait(crowds, wait);
        }
}

/* ---- Launches that were stopped -------------------------------------------------------------------------- */

enum { LW_STOPS = 256 }; /* places that are told apart */

struct lw_stops {
    uint32_t count;
    lw_crowd at[LW_STOPS];
};

/* Warps of which lanes stand there. */
static void add_lanes(lw_stops *stops, lw_place place, uint32_t barrier, lw_mask lanes) {
    uint32_t i = 0;
    while (i < stops->count && (stops->at[i].place.at != place.at || stops->at[i].barrier != barrier)) i++;
    if (i == LW_STOPS) return;
    if (i == stops->count) stops->at[stops->count++] = (lw_crowd){.place = place, .barrier = barrier};
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++)
        stops->at[i].count += lw_mask_warp(lanes, warp) != 0;
}

/* A block begins where its label is: what comes behind is what is executed. */
static lw_place place_of(const lw_code *code, const lw_op *op) {
    while (op->code == LW_OP_block && op + 1 < code->ops + code->op_count) op++;
    return lw_place_of(code, op);
}

/* Lanes that are to go on at a block. */
static void add_frame(lw_stops *stops, const lw_frame *frame) {
    const lw_code *code = frame->code;
    for (uint32_t b = 0; b < code->block_count; b++)
        if (frame->ready[b / 64] >> b % 64 & 1)
            add_lanes(stops, place_of(code, &code->ops[code->blocks[b].first]), LW_GOES_ON, frame->pending[b]);
}

static void add_meeting(lw_stops *stops, const lw_gang *gang) {
    lw_place place, next;
    for (lw_mask left = lw_meeting_lanes(gang), lanes; left; left &= ~lanes) {
        place = lw_meeting_place(gang, lw_mask_first(left));
        lanes = 0;
        LW_FOR_LANES(lane, left) {
            next = lw_meeting_place(gang, lane);
            if (next.at == place.at) lanes |= LW_MASK_BIT(lane);
        }
        add_lanes(stops, place, LW_WARP_WAIT, lanes);
    }
}

static void add_gang(lw_stops *stops, const lw_gang *gang) {
    if (gang->state == LW_GANG_done || gang->state == LW_GANG_trapped) return;
    for (const lw_frame *frame = gang->frames; frame; frame = frame->next)
        if (frame->ready_count) add_frame(stops, frame);
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait *wait = &gang->waits.at[i];
        add_lanes(stops, place_of(wait->frame->code, wait->op), wait->barrier, wait->lanes);
    }
    if (gang->meeting) add_meeting(stops, gang);
    if (gang->resume) add_lanes(stops, place_of(gang->frame->code, gang->resume), LW_GOES_ON, gang->mask);
}

void lw_stops_add(lw_grid *grid, const lw_cluster *cluster) {
    pthread_mutex_lock(&grid->lock);
    if (!grid->stood) grid->stood = calloc(1, sizeof *grid->stood);
    for (uint32_t rank = 0; grid->stood && rank < cluster->count; rank++)
        for (uint32_t g = 0; g < cluster->ctas[rank]->gang_count; g++)
            add_gang(grid->stood, &cluster->ctas[rank]->gangs[g]);
    pthread_mutex_unlock(&grid->lock);
}

static int compare(const void *a, const void *b) {
    const lw_crowd *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->place.at != y->place.at) return x->place.at < y->place.at ? -1 : 1;
    return x->barrier < y->barrier ? -1 : x->barrier > y->barrier;
}

uint32_t lw_stops_sort(lw_stops *stops, const lw_crowd **crowds) {
    if (!stops) return 0;
    qsort(stops->at, stops->count, sizeof *stops->at, compare);
    *crowds = stops->at;
    return stops->count;
}
