/* steady.c: what is the same in every CTA of a launch, a gang computes once (link/steady.c says what that is). */
#include "run/interp/interp.h"

static lw_step lw_step_steady;

/* In the text nothing is to be done for them. */
static const lw_op *lw_step_steady(lw_gang *gang, const lw_op *op) {
    (void)gang;
    do op++;
    while (op->step == lw_step_steady);
    return op;
}

void lw_steady_link(lw_code *code) {
    for (uint32_t k = 0; k < code->steady_count; k++) code->ops[code->steady[k]].step = lw_step_steady;
}

void lw_steady_forget(lw_code *code, lw_step *const *steps) {
    for (uint32_t k = 0; k < code->steady_count; k++) {
        lw_op *op = &code->ops[code->steady[k]];
        op->step = steps[op->code];
    }
    code->steady_count = 0;
}

/* All lanes of the kernel's frame execute now. */
void lw_steady_settle(lw_gang *gang) {
    lw_frame *frame = gang->frame;
    const lw_code *code = frame->code;
    lw_step *const *steps = gang->cta->program->steps;
    for (uint32_t k = 0; k < code->steady_count; k++) {
        const lw_op *op = &code->ops[code->steady[k]];
        steps[op->code](gang, op);
    }
    frame->launch = gang->cta->grid->grid_number;
    lw_clear_upper_halves(gang);
}
