/* strand_word.h: between strand.c and strand_end.c: masks of lanes, numbers of blocks and other words. */
#ifndef LW_STRAND_WORD_H
#define LW_STRAND_WORD_H

#include "run/jit/strand.h"

static inline LLVMValueRef lw_word(const lw_strand *s, uint32_t value) {
    return lw_build_number(lw_strand_build(s), 32, value);
}
/* What a place on the stack has. */
static inline LLVMValueRef lw_get(const lw_strand *s, LLVMValueRef place) {
    return LLVMBuildLoad2(lw_strand_build(s)->at, LLVMGetAllocatedType(place), place, "");
}
static inline void lw_set(const lw_strand *s, LLVMValueRef value, LLVMValueRef place) {
    LLVMBuildStore(lw_strand_build(s)->at, value, place);
}

/* The word of the warp at hand, of those from a place on. */
static inline LLVMValueRef lw_warp_place(const lw_strand *s, LLVMValueRef from) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef at = LLVMBuildShl(b->at, LLVMBuildZExt(b->at, s->warp, b->i64, ""), lw_build_number(b, 64, 2), "");
    return lw_build_move(b, from, at);
}

/* ---- strand_end.c ------------------------------------------------------------------------------------------------ */

LLVMValueRef lw_strand_least_budget(const lw_strand *s);
void lw_strand_emit_tail(lw_strand *s, LLVMBasicBlockRef next); /* the end of a warp: on to the next one */
void lw_strand_emit_end(lw_strand *s);
void lw_strand_emit_trapped(lw_strand *s);

#endif
