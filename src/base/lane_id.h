/* lane_id.h: a number for every lane function, in the order of isa/lane.def and then of isa/inner.def. */
#ifndef LW_LANE_ID_H
#define LW_LANE_ID_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lw_lane_id {
    LW_LANE_none,
#define LANE1(name, D, A)          LW_LANE_##name,
#define LANE2(name, D, A, B)       LW_LANE_##name,
#define LANE3(name, D, A, B, C)    LW_LANE_##name,
#define LANE4(name, D, A, B, C, E) LW_LANE_##name,
#include "lane.def"
#define LANE1(name, D, A)          LW_LANE_##name,
#define LANE2(name, D, A, B)       LW_LANE_##name,
#define LANE3(name, D, A, B, C)    LW_LANE_##name,
#define LANE4(name, D, A, B, C, E) LW_LANE_##name,
#include "inner.def"
    LW_LANE_count
} lw_lane_id;

/* How a lane function takes an argument or gives its result. */
typedef enum lw_lane_type {
    LW_L_none, LW_L_p, LW_L_u8, LW_L_s8, LW_L_u16, LW_L_s16, LW_L_u32, LW_L_s32, LW_L_u64, LW_L_s64, LW_L_f32, LW_L_f64,
} lw_lane_type;

typedef struct lw_lane_row {
    const char *name; /* without "lw_" */
    uint8_t arity, result, args[4]; /* lw_lane_type */
    bool how; /* its last argument says how and is a constant */
} lw_lane_row;

extern const lw_lane_row lw_lanes[LW_LANE_count];

/* The lane function of this name, without "lw_"; LW_LANE_none where there is none. */
lw_lane_id lw_lane_find(const char *name);
const char *lw_lane_name(lw_lane_id id);

#endif
