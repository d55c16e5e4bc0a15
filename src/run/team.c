/* team.c: the list of addresses that stand for memory of several devices. There are few, and who looks takes a lock. */
#include "run/team.h"

#include <stdlib.h>

bool lw_team_add(lw_memory *memory, const lw_team *team) {
    lw_team *made = malloc(sizeof *made);
    if (!made) return false;
    *made = *team;
    pthread_mutex_lock(&memory->lock);
    made->next = memory->teams;
    memory->teams = made;
    pthread_mutex_unlock(&memory->lock);
    return true;
}

void lw_team_drop(lw_memory *memory, uint64_t base, uint64_t size) {
    pthread_mutex_lock(&memory->lock);
    for (lw_team **link = &memory->teams; *link;) {
        lw_team *team = *link;
        if (team->base - base >= size) {
            link = &team->next;
            continue;
        }
        *link = team->next;
        free(team);
    }
    pthread_mutex_unlock(&memory->lock);
}

bool lw_team_find(lw_memory *memory, uint64_t address, uint64_t bytes, lw_team *out) {
    if (!memory) return false;
    pthread_mutex_lock(&memory->lock);
    const lw_team *team = memory->teams;
    while (team && (address - team->base >= team->size || bytes > team->size - (address - team->base)))
        team = team->next;
    if (team) {
        *out = *team;
        for (uint32_t i = 0; i < out->count; i++) out->host[i] += address - team->base;
        out->size -= address - team->base, out->base = address;
    }
    pthread_mutex_unlock(&memory->lock);
    return team;
}
