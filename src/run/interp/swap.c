/* swap.c: a CTA that was begun in one of a program's two codes (run/tier.h) goes on in the other one. Between the turns
 * of its gangs nothing of a code is on the C stack, and both codes have the same operations, registers and slots: who
 * goes on at an operation of one goes on at the same of the other. What the interpreter alone passes over
 * (link/index.c) is read in its own block only, and every wait ends one. */
#include "run/interp/frame.h"

/* The gang is gone, or in its kernel, and what it has begun elsewhere is over. */
static bool can_swap(const lw_gang *gang) {
    if (gang->state == LW_GANG_done) return true;
    return gang->state != LW_GANG_trapped && gang->frame == gang->frames && !gang->frame->next &&
           lw_gang_owes_nothing(gang);
}

static const lw_op *same(const lw_code *from, const lw_code *to, const lw_op *op) {
    return op ? &to->ops[op - from->ops] : NULL;
}

/* What a frame of the interpreter has from its beginning, and one of compiled code need not have. */
static void settle_steady(lw_gang *gang) {
    const lw_mask mask = gang->mask;
    if (!gang->frame->code->steady_count) return;
    lw_gang_set_mask(gang, gang->exist);
    lw_steady_settle(gang);
    lw_gang_set_mask(gang, mask);
}

static void swap_frames(lw_frame *list, const lw_program *to) {
    for (lw_frame *frame = list; frame; frame = frame->next) {
        frame->code = to->codes[frame->code->index];
        frame->launch = 0;
    }
}

/* Those that it keeps for later, too. */
static void swap_all_frames(lw_gang *gang, const lw_program *to) {
    swap_frames(gang->frames, to);
    for (uint32_t i = 0; i < gang->free_room; i++) swap_frames(gang->free_frames[i], to);
}

static void swap(lw_gang *gang, const lw_code *from) {
    lw_frame *frame = gang->frame;
    const lw_code *to = frame->code;
    if (frame->written != LW_FRAME_new) frame->written = LW_FRAME_mixed;
    gang->resume = same(from, to, gang->resume);
    for (uint32_t i = 0; i < gang->waits.count; i++) gang->waits.at[i].op = same(from, to, gang->waits.at[i].op);
    gang->trusted = NULL;
    settle_steady(gang);
}

void lw_cta_swap(lw_cta *cta, const lw_program *to) {
    const lw_program *from = cta->program;
    if (cta->runs || cta->handed) return;
    for (uint32_t g = 0; g < cta->gang_count; g++)
        if (!can_swap(&cta->gangs[g])) return;
    cta->program = to;
    cta->swapped = true;
    cta->kept_for = to->number;
    for (uint32_t g = 0; g < cta->gang_room; g++) swap_all_frames(&cta->gangs[g], to);
    for (uint32_t g = 0; g < cta->gang_count; g++)
        if (cta->gangs[g].state != LW_GANG_done) swap(&cta->gangs[g], from->entry);
}
