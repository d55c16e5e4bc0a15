#include "base/lane_id.h"

#include "base/base.h"
#include "lanewise/lane/how.h"

#include <pthread.h>

const lw_lane_type_row lw_lane_types[LW_L_count] = {
#define LANE_BIT(name, argument, element)              [LW_L_##name] = {1, 1},
#define LANE_TYPE(name, argument, element, slot, bits) [LW_L_##name] = {bits, slot},
#include "lane_types.def"
};

#define ROW(name, arity, takes, how, D, ...) {#name, arity, LW_L_##D, {__VA_ARGS__}, LW_TAKES_##takes, how},
const lw_lane_row lw_lanes[LW_LANE_count] = {
    {"none", 0, LW_L_none, {0}, 0, false},
#define LANE1(name, D, A)                 ROW(name, 1, r, false, D, LW_L_##A)
#define LANE2(name, D, A, B, takes)       ROW(name, 2, takes, false, D, LW_L_##A, LW_L_##B)
#define LANE3(name, D, A, B, C, takes)    ROW(name, 3, takes, false, D, LW_L_##A, LW_L_##B, LW_L_##C)
#define LANE4(name, D, A, B, C, E, takes) ROW(name, 4, takes, false, D, LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E)
#define HOW2(name, D, A, B)               ROW(name, 2, how, true, D, LW_L_##A, LW_L_##B)
#define HOW3(name, D, A, B, C)            ROW(name, 3, how, true, D, LW_L_##A, LW_L_##B, LW_L_##C)
#define HOW4(name, D, A, B, C, E)         ROW(name, 4, how, true, D, LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E)
#define LW_LANE_INNER
#include "lane.def"
};

const char *lw_lane_name(lw_lane_id id) { return lw_lanes[id < LW_LANE_count ? id : LW_LANE_none].name; }

lw_lane_id lw_lane_own(lw_lane_id id, uint32_t how) {
    static const struct {
        uint16_t function, own;
        uint32_t how;
    } rows[] = {
#define OWN(function, how, own) {LW_LANE_##function, LW_LANE_##own, how},
#include "lane_own.def"
    };
    for (size_t i = 0; i < LW_COUNT(rows); i++)
        if (rows[i].function == id && rows[i].how == how) return (lw_lane_id)rows[i].own;
    return id;
}

/* The number of each row, at the hash of its name or in the next free place behind. */
enum { SLOTS = 4 * LW_LANE_count };
_Static_assert(LW_LANE_count <= UINT16_MAX, "numbers of lane functions have 16 bits");
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
