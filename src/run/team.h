/* team.h: addresses that stand for memory of several devices at once (manual section 8.2.3): multimem reaches them, and
 * nothing else. They are no allocations, so that other accesses need not know of them: there is nothing where they go.
 */
#ifndef LW_TEAM_H
#define LW_TEAM_H

#include "run/run.h"

enum { LW_TEAM_MOST = 16 };

/* Some of these addresses, and where on the host each device of the team has its memory. */
typedef struct lw_team {
    struct lw_team *next;
    uint64_t base, size;
    uint32_t count;
    char *host[LW_TEAM_MOST];
} lw_team;

/* More of them. False: no memory. */
bool lw_team_add(lw_memory *memory, const lw_team *team);
/* Those that begin in [base, base + size) are none any more; who uses them has ended. */
void lw_team_drop(lw_memory *memory, uint64_t base, uint64_t size);
/* The part that holds all of [address, address + bytes), which `out` begins with. False: there is none; memory may be
 * NULL. */
bool lw_team_find(lw_memory *memory, uint64_t address, uint64_t bytes, lw_team *out);

#endif
