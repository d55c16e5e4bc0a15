#include "base/lane_id.h"

#include <string.h>

#define LANE1(name, D, A)          {#name, 1, LW_L_##D, {LW_L_##A}},
#define LANE2(name, D, A, B)       {#name, 2, LW_L_##D, {LW_L_##A, LW_L_##B}},
#define LANE3(name, D, A, B, C)    {#name, 3, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C}},
#define LANE4(name, D, A, B, C, E) {#name, 4, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C, LW_L_##E}},
const lw_lane_row lw_lanes[LW_LANE_count] = {
    {"none", 0, LW_L_none, {0}},
#include "lane.def"
#define LANE1(name, D, A)       {#name, 1, LW_L_##D, {LW_L_##A}},
#define LANE2(name, D, A, B)    {#name, 2, LW_L_##D, {LW_L_##A, LW_L_##B}},
#define LANE3(name, D, A, B, C) {#name, 3, LW_L_##D, {LW_L_##A, LW_L_##B, LW_L_##C}},
#include "inner.def"
};

const char *lw_lane_name(lw_lane_id id) { return lw_lanes[id < LW_LANE_count ? id : LW_LANE_none].name; }

/* Asked once for each distinct spelling of a module, so a walk over the few hundred names is enough. */
lw_lane_id lw_lane_find(const char *name) {
    for (unsigned i = 1; i < LW_LANE_count; i++)
        if (lw_lanes[i].name[0] == name[0] && !strcmp(lw_lanes[i].name, name)) return (lw_lane_id)i;
    return LW_LANE_none;
}
