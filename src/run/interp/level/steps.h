/* steps.h: the names of the steps that are compiled once for each CPU level, with LW_LEVEL its name (v4 v3 portable
 * …). */
#ifndef LW_LEVEL_STEPS_H
#define LW_LEVEL_STEPS_H

#include "run/interp/interp.h"

extern lw_step *const LW_AT_LEVEL(lw_steps)[LW_OP_count];

/* The step of an operation for the executing lanes alone, by the bits of its result's elements. */
const lw_op *LW_AT_LEVEL(lw_masked_16)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_masked_32)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_masked_64)(lw_gang *gang, const lw_op *op);

/* One shuffle of a warp: run/jit/jit.h. */
struct lw_trade;
uint32_t LW_AT_LEVEL(lw_warp_shuffle)(struct lw_trade *trade, uint32_t mode, uint32_t lanes);

/* The tables of lop3 that have a step: of those that are one function with its operands in another order, the smallest
 * (link/fuse.c sorts). */
/* clang-format off */
#define LW_FOR_LUTS(X) \
    X(00) X(01) X(02) X(03) X(06) X(07) X(08) X(09) X(0a) X(0b) X(0e) X(0f) X(16) X(17) X(18) X(19) \
    X(1a) X(1b) X(1e) X(1f) X(28) X(29) X(2a) X(2b) X(2c) X(2d) X(2e) X(2f) X(3c) X(3d) X(3e) X(3f) \
    X(68) X(69) X(6a) X(6b) X(6e) X(6f) X(7e) X(7f) X(80) X(81) X(82) X(83) X(86) X(87) X(88) X(89) \
    X(8a) X(8b) X(8e) X(8f) X(96) X(97) X(98) X(99) X(9a) X(9b) X(9e) X(9f) X(a8) X(a9) X(aa) X(ab) \
    X(ac) X(ad) X(ae) X(af) X(bc) X(bd) X(be) X(bf) X(e8) X(e9) X(ea) X(eb) X(ee) X(ef) X(fe) X(ff)
/* clang-format on */

#define OP(name, ...)
#define OP_LEVEL(name, ...) const lw_op *LW_AT_LEVEL(lw_step_##name)(lw_gang * gang, const lw_op *op);
#define OP_GONE(name, ...)
#include "ops.def"

#endif
