/* lop3.c: one step for each table that linking leaves, so that the function folds to a few operations, or to the one
 * that the machine has; compiled once for each CPU level. */
#include "run/interp/level/lanes.h"

#define LOP3(lut) \
    const lw_op *LW_AT_LEVEL(lw_step_lop3_##lut)(lw_gang * gang, const lw_op *op) { \
        SOURCE(u32, op->a, a); \
        SOURCE(u32, op->b, b); \
        SOURCE(u32, op->c, c); \
        RESULT(u32); \
        LW_LOP3_LOOP(0x##lut); \
        return op + 1; \
    }
LW_FOR_LUTS(LOP3)
