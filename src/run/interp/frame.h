/* frame.h: frames of functions: what flow.c, frame.c and call.c know of them. */
#ifndef LW_FRAME_H
#define LW_FRAME_H

#include "run/interp/interp.h"

/* Words of the bits of blocks, or of the words below. */
static inline uint32_t lw_ready_words(uint32_t bits) { return bits / 64 + (bits % 64 != 0); }

/* The stack has an end, and so has what registers take: recursion in functions with thousands of them would else fill
 * the host. caller NULL: the kernel's own. */
bool lw_frame_fits(const lw_gang *gang, const lw_code *code, const lw_frame *caller);
void lw_frame_renew(lw_gang *gang); /* that of the kernel, as the next CTA begins in it */
/* Nothing of its turns counts any more. */
static inline void lw_gang_renew(lw_gang *gang) {
    gang->turns = 0;
    gang->served = gang->beside = 0;
}
/* Copies that it began are done, and lanes that waited for others have met. */
static inline bool lw_gang_owes_nothing(const lw_gang *gang) {
    return (!gang->async || lw_async_is_over(gang)) && (!gang->meeting || lw_meeting_is_over(gang));
}
/* Its last lane has left; the next activation of its function may have it. */
void lw_frame_drop(lw_gang *gang, lw_frame *frame);

/* The gang's lanes go on at a block once all before it have had their turn. */
const lw_op *lw_gang_go_later(lw_gang *gang, uint32_t block);

#endif
