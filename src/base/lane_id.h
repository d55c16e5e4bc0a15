/* lane_id.h: a number for every lane function, in the order of isa/lane.def. */
#ifndef LW_LANE_ID_H
#define LW_LANE_ID_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lw_lane_id {
    LW_LANE_none,
#define LANE1(name, D, A)                 LW_LANE_##name,
#define LANE2(name, D, A, B, takes)       LW_LANE_##name,
#define LANE3(name, D, A, B, C, takes)    LW_LANE_##name,
#define LANE4(name, D, A, B, C, E, takes) LW_LANE_##name,
#define LW_LANE_INNER
#include "lane.def"
    LW_LANE_count
} lw_lane_id;

/* How a lane function takes an argument or gives its result. */
typedef enum lw_lane_type {
    LW_L_none,
#define LANE_BIT(name, argument, element)              LW_L_##name,
#define LANE_TYPE(name, argument, element, slot, bits) LW_L_##name,
#include "lane_types.def"
    LW_L_count
} lw_lane_type;

typedef struct lw_lane_type_row {
    uint8_t bits; /* 1: a predicate */
    uint8_t slot; /* of its element in a slot; 1: a predicate */
} lw_lane_type_row;
extern const lw_lane_type_row lw_lane_types[LW_L_count];

/* How an operation takes its operands: R a register, I a constant (in the last places; of two operands RIR has the
 * first one constant). */
typedef enum lw_variant { LW_RRR, LW_RRI, LW_RIR, LW_RII, LW_VARIANTS } lw_variant;

/* What `takes` of a row means, as bits of variants. */
enum {
    LW_TAKES_r = 1 << LW_RRR,
    LW_TAKES_i = LW_TAKES_r | 1 << LW_RRI,
    LW_TAKES_ri = LW_TAKES_r | 1 << LW_RIR,
    LW_TAKES_ii = LW_TAKES_r | 1 << LW_RII,
    LW_TAKES_i_ri = LW_TAKES_i | LW_TAKES_ri,
    LW_TAKES_i_ii = LW_TAKES_i | LW_TAKES_ii,
    LW_TAKES_i_ri_ii = LW_TAKES_i | LW_TAKES_ri | LW_TAKES_ii,
    LW_TAKES_how = 1 << LW_RRI,
};

typedef struct lw_lane_row {
    const char *name;               /* without "lw_" */
    uint8_t arity, result, args[4]; /* lw_lane_type */
    uint8_t variants;               /* a bit for each lw_variant that there is */
    bool how;                       /* its last argument says how and is a constant */
} lw_lane_row;

extern const lw_lane_row lw_lanes[LW_LANE_count];

/* The lane function of this name, without "lw_"; LW_LANE_none where there is none. */
lw_lane_id lw_lane_find(const char *name);
const char *lw_lane_name(lw_lane_id id);

/* The function that does what `id` does in this way, without an operand that says so; `id` itself where there is
 * none. */
lw_lane_id lw_lane_own(lw_lane_id id, uint32_t how);

#endif
