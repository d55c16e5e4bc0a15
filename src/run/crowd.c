/* crowd.c: where the threads of a launch stand that does not go on. */
#include "run/crowd.h"

/* ---- Deadlocks ------------------------------------------------------------------------------------------- */

static bool is_same(const lw_wait *wait, lw_place place, const lw_crowd *crowd) {
    return wait->barrier == crowd->barrier && wait->address == crowd->address && place.at == crowd->place.at;
}

static void add_wait(lw_crowd *crowds, const lw_wait *wait) {
    const lw_place place = wait->frame->code->places[wait->op - wait->frame->code->ops];
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
