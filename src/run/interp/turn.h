/* turn.h: what counts against the budget of a gang's turn, in both engines. */
#ifndef LW_TURN_H
#define LW_TURN_H

#include "run/interp/interp.h"

/* A branch back: the more instructions lie between, the fewer rounds make a turn, so that limits are looked at in
 * time. */
static inline int64_t lw_branch_cost(const lw_code *code, const lw_op *op) {
    const int64_t between = op - code->ops - code->blocks[op->a].first;
    return (op->flags & LW_OP_SPIN ? LW_SPIN_COST : 1) + (between >> 8);
}

#endif
