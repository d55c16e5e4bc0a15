#include "base/lane_id.h"

#include "base/base.h"

#include <pthread.h>

#define LANE1(name, D, A)          {#name, 1, LW_L_##D, {LW_L_##A}, false},
#define LANE2(name, D, A, B)       {#name, 2, LW_L_##D, {LW_L_##A, LW_L_##B}, false},
#define LANE3(name, D, A, B, C)    {#name, 3, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C}, false},
#define LANE4(name, D, A, B, C, E) {#name, 4, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E}, false},
#define HOW4(name, D, A, B, C, E)  {#name, 4, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E}, true},
const lw_lane_row lw_lanes[LW_LANE_count] = {
    {"none", 0, LW_L_none, {0}, false},
#include "lane.def"
#define LANE1(name, D, A)       {#name, 1, LW_L_##D, {LW_L_##A}, false},
#define LANE2(name, D, A, B)    {#name, 2, LW_L_##D, {LW_L_##A, LW_L_##B}, false},
#define LANE3(name, D, A, B, C) {#name, 3, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C}, false},
#define LANE4(name, D, A, B, C, E) {#name, 4, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E}, false},
#define HOW4(name, D, A, B, C, E)  {#name, 4, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E}, true},
#include "inner.def"
};

const char *lw_lane_name(lw_lane_id id) { return lw_lanes[id < LW_LANE_count ? id : LW_LANE_none].name; }

/* The number of each row, at the hash of its name or in the next free place behind. */
enum { SLOTS = 4096 };
_Static_assert(LW_LANE_count < SLOTS / 2, "the index must stay sparse");
static uint16_t slots[SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static uint32_t slot_of(const char *name) { return lw_hash(name, strlen(name)) % SLOTS; }

static void fill_slots(void) {
    for (uint32_t i = 1; i < LW_LANE_count; i++) {
        uint32_t at = slot_of(lw_lanes[i].name);
        while (slots[at]) at = (at + 1) % SLOTS;
        slots[at] = (uint16_t)i;
    }
}

lw_lane_id lw_lane_find(const char *name) {
    pthread_once(&slots_once, fill_slots);
    for (uint32_t at = slot_of(name); slots[at]; at = (at + 1) % SLOTS)
        if (!strcmp(lw_lanes[slots[at]].name, name)) return (lw_lane_id)slots[at];
    return LW_LANE_none;
}
