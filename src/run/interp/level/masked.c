/* masked.c: steps under a partial mask; compiled once for each CPU level.
 *
 * The step runs again, for all lanes into the frame's spare slot, and the executing lanes are taken from there. Out of
 * line, so that a step that stores directly needs no registers saved. */
#include "run/interp/level/level.h"

#define MASKED(bits) \
    const lw_op *LW_AT_LEVEL(lw_masked_##bits)(lw_gang * gang, const lw_op *op) { \
        lw_op whole = *op; \
        whole.d = gang->frame->code->frame_bytes; \
        whole.flags |= LW_OP_WHOLE; \
        LW_AT_LEVEL(lw_steps)[op->code](gang, &whole); \
        lw_commit_##bits(gang, op->d, LW_SLOT(gang, const uint##bits##_t, whole.d)); \
        return op + 1; \
    }
MASKED(16)
MASKED(32)
MASKED(64)
