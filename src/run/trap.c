/* trap.c: what happened, in words: records of traps, their messages, their reports. */
#include "run/run.h"

/* ---- Deadlocks ------------------------------------------------------------------------------------------- */

/* The first lanes of a gang that wait: at a barrier of the CTA, else for other lanes of their warp. */
static bool find_waiting(lw_gang *gang, lw_trap_record *trap) {
    if (gang->waits.count) {
        const lw_wait *wait = &gang->waits.at[0];
        gang->frame = wait->frame;
        *trap = (lw_trap_record){.access = "barrier", .detail = wait->barrier, .lane = lw_mask_first(wait->lanes)};
        trap->place = wait->frame->code->places[wait->op - wait->frame->code->ops];
        return true;
    }
    for (lw_frame *frame = gang->frames; frame; frame = frame->next)
        for (uint32_t b = 0; b < frame->code->block_count; b++) {
            if (!frame->pending[b]) continue;
            const lw_code *code = frame->code;
            gang->frame = frame;
            *trap = (lw_trap_record){.access = "warp", .lane = lw_mask_first(frame->pending[b])};
            trap->place = code->places[code->blocks[b].first + (code->blocks[b].sync ? 1 : 0)];
            return true;
        }
    return false;
}

static uint32_t count_waiting(const lw_cta *cta) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < cta->gang_count; g++)
        for (uint32_t w = 0; w < cta->gangs[g].waits.count; w++) count += lw_mask_count(cta->gangs[g].waits.at[w].lanes);
    return count;
}

void lw_trap_deadlock(lw_cta *cta) {
    lw_trap_record trap = {0};
    lw_gang *gang = NULL;
    for (uint32_t g = 0; g < cta->gang_count && !gang; g++)
        if (cta->gangs[g].exited != cta->gangs[g].exist && find_waiting(&cta->gangs[g], &trap)) gang = &cta->gangs[g];
    if (!gang) lw_bug("CTA %llu of '%s' has %u threads left and none of them waits", (unsigned long long)cta->number,
                      cta->program->entry->name, cta->live);
    trap.kind = LW_TRAP_deadlock;
    trap.code = gang->frame->code;
    trap.size = count_waiting(cta);
    trap.address = cta->live;
    for (int i = 0; i < 3; i++) {
        trap.cta[i] = cta->index[i];
        trap.thread[i] = gang->tid[i][trap.lane];
    }
    trap.warp = (gang->first + trap.lane) / LW_WARP_LANES;
    trap.lane %= LW_WARP_LANES;
    cta->trap = trap;
}
