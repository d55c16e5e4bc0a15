/* table.c: the steps of all operations, for one CPU level. */
#include "run/interp/level/steps.h"

#define LANE_STEP(name, variant) LW_AT_LEVEL(lw_lane_##name##_##variant)

/* ---- Declarations ----------------------------------------------------------------------------------------- */

#define STEP1(name, variant)              const lw_op *LANE_STEP(name, variant)(lw_gang * gang, const lw_op *op);
#define STEPS_r(name)                     STEP1(name, rrr)
#define STEPS_i(name)                     STEP1(name, rrr) STEP1(name, rri)
#define STEPS_ri(name)                    STEP1(name, rrr) STEP1(name, rir)
#define STEPS_ii(name)                    STEP1(name, rrr) STEP1(name, rii)
#define STEPS_i_ri(name)                  STEPS_i(name) STEP1(name, rir)
#define STEPS_i_ii(name)                  STEPS_i(name) STEP1(name, rii)
/* clang-format off */
#define STEPS_i_ri_ii(name) STEPS_i(name) STEP1(name, rir) STEP1(name, rii)
/* clang-format on */
#define LANE1(name, D, A)                 STEPS_r(name)
#define LANE2(name, D, A, B, takes)       STEPS_##takes(name)
#define LANE3(name, D, A, B, C, takes)    STEPS_##takes(name)
#define LANE4(name, D, A, B, C, E, takes) STEPS_##takes(name)
#define HOW2(name, ...)                   STEP1(name, rri)
#define HOW3(name, ...)                   STEP1(name, rri)
#define HOW4(name, ...)                   STEP1(name, rri)
#define LW_LANE_INNER
#include "lane.def"
#undef STEP1

#define LOP3(lut) const lw_op *LW_AT_LEVEL(lw_step_lop3_##lut)(lw_gang * gang, const lw_op *op);
LW_FOR_LUTS(LOP3)
#undef LOP3

/* ---- The table -------------------------------------------------------------------------------------------- */

#define VARIANT_rrr          LW_RRR
#define VARIANT_rri          LW_RRI
#define VARIANT_rir          LW_RIR
#define VARIANT_rii          LW_RII
#define STEP1(name, variant) [LW_LANE_CODE(LW_LANE_##name, VARIANT_##variant)] = LANE_STEP(name, variant),
#define LOP3(lut)            [LW_OP_lop3 + 0x##lut] = LW_AT_LEVEL(lw_step_lop3_##lut),

lw_step *const LW_AT_LEVEL(lw_steps)[LW_OP_count] = {
#define OP(name, ...)       [LW_OP_##name] = lw_step_##name,
#define OP_LEVEL(name, ...) [LW_OP_##name] = LW_AT_LEVEL(lw_step_##name),
#define OP_GONE(name, ...)
#include "ops.def"
    LW_FOR_LUTS(LOP3)
#define LANE1(name, D, A)                 STEPS_r(name)
#define LANE2(name, D, A, B, takes)       STEPS_##takes(name)
#define LANE3(name, D, A, B, C, takes)    STEPS_##takes(name)
#define LANE4(name, D, A, B, C, E, takes) STEPS_##takes(name)
#define HOW2(name, ...)                   STEP1(name, rri)
#define HOW3(name, ...)                   STEP1(name, rri)
#define HOW4(name, ...)                   STEP1(name, rri)
#define LW_LANE_INNER
#include "lane.def"
};
