/* steps.h: the names of the steps that are compiled once for each CPU level, with LW_LEVEL its name (v4 v3 portable …). */
#ifndef LW_LEVEL_STEPS_H
#define LW_LEVEL_STEPS_H

#include "run/interp/interp.h"

extern lw_step *const LW_AT_LEVEL(lw_steps)[LW_OP_count];

/* The step of an operation for the executing lanes alone, by the bits of its result's elements. */
const lw_op *LW_AT_LEVEL(lw_masked_16)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_masked_32)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_masked_64)(lw_gang *gang, const lw_op *op);

/* The two digits of every table of lop3. */
#define LW_FOR_LUTS_(X, h) X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) \
                           X(h##8) X(h##9) X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define LW_FOR_LUTS(X) \
    LW_FOR_LUTS_(X, 0) LW_FOR_LUTS_(X, 1) LW_FOR_LUTS_(X, 2) LW_FOR_LUTS_(X, 3) LW_FOR_LUTS_(X, 4) LW_FOR_LUTS_(X, 5) LW_FOR_LUTS_(X, 6) \
    LW_FOR_LUTS_(X, 7) LW_FOR_LUTS_(X, 8) LW_FOR_LUTS_(X, 9) LW_FOR_LUTS_(X, a) LW_FOR_LUTS_(X, b) LW_FOR_LUTS_(X, c) LW_FOR_LUTS_(X, d) \
    LW_FOR_LUTS_(X, e) LW_FOR_LUTS_(X, f)

#define OP(name, ...)
#define OP_LEVEL(name, ...) const lw_op *LW_AT_LEVEL(lw_step_##name)(lw_gang *gang, const lw_op *op);
#define OP_GONE(name, ...)
#include "ops.def"

#endif
