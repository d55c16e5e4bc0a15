/* note.c: counting what a launch did and its user may want to know. */
#include "run/interp/interp.h"

const lw_op *lw_step_note(lw_gang *gang, const lw_op *op) {
    lw_mask lanes = lw_get_mask(gang, op->b) & gang->mask;
    if (LW_UNLIKELY(lanes != 0)) lw_gang_note(gang, (uint32_t)op->imm, lanes);
    return op + 1;
}
