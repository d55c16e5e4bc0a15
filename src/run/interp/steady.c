/* steady.c: operations that the text is passed over at: what is the same in every CTA of a launch, a gang computes once
 * (link/steady.c says what that is); addresses that are looked at by their index need not be computed (link/index.c).
 * And long ones that give all lanes the same. */
#include "run/interp/interp.h"

static lw_step pass_over;

/* In the text nothing is to be done for them. */
static const lw_op *pass_over(lw_gang *gang, const lw_op *op) {
    (void)gang;
    do op++;
    while (op->step == pass_over);
    return op;
}

void lw_shortcuts_take(lw_code *code, lw_step *once) {
    for (uint32_t k = 0; k < code->steady_count; k++) code->ops[code->steady[k]].step = pass_over;
    for (uint32_t k = 0; k < code->once_count; k++) code->ops[code->once[k]].step = once;
    for (uint32_t i = 0; i < code->indexed_count; i++)
        for (uint32_t k = 0; k < code->indexed[i].part_count; k++)
            code->ops[code->indexed[i].parts[k]].step = pass_over;
}

static void forget_index(lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    form.is_indexed = false;
    op->c = lw_memory_pack(form);
}

void lw_shortcuts_forget(lw_code *code, lw_step *const *steps) {
    for (uint32_t n = 0; n < code->op_count; n++) code->ops[n].step = steps[code->ops[n].code];
    for (uint32_t i = 0; i < code->indexed_count; i++) forget_index(&code->ops[code->indexed[i].op]);
    code->steady_count = code->once_count = code->indexed_count = 0;
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
