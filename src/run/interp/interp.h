/* interp.h: the steps of the interpreter. Every operation code has one step a CPU level.
 *
 * Steps that gain from wide vectors are compiled once a level, from interp/level/ (names end in the level:
 * lw_step_ld_v4); all others once, from interp/. A step returns the next operation: usually op + 1. */
#ifndef LW_INTERP_H
#define LW_INTERP_H

#include "run/turns.h"

#define LW_PASTE_(a, b)   a##_##b
#define LW_PASTE(a, b)    LW_PASTE_(a, b)
#define LW_AT_LEVEL(name) LW_PASTE(name, LW_LEVEL) /* lw_step_ld → lw_step_ld_v4; LW_LEVEL comes from the build */

/* Inlined whatever the compiler thinks of it: parameters that are constants at the call choose the code. */
#define LW_INLINE static inline __attribute__((always_inline))

/* Steps compiled once. */
#define LW_STEP_DECLARE(name) const lw_op *lw_step_##name(lw_gang *gang, const lw_op *op)
#define OP(name, ...)         LW_STEP_DECLARE(name);
#define OP_LEVEL(name, ...)
#define OP_GONE(name, ...)
#include "ops.def"

/* Of an operation `special`: the lanes' values, in `room` or wherever they lie; NULL: all have lw_special_value. */
const uint32_t *lw_special_lanes(const lw_gang *gang, const lw_op *op, uint32_t room[LW_GANG_LANES]);
uint64_t lw_special_value(const lw_gang *gang, const lw_op *op);

/* The steps of the wide levels leave the upper halves of the vector registers dirty. Instructions of the baseline that
 * use the lower ones would wait for them, here and in whatever comes behind, so this stands in front of those; at each
 * turn's end, too. Clearing them behind every step costs more. Files of the core that have no use for such registers
 * are compiled without them (cmake/LanewiseStages.cmake). */
#if defined(__x86_64__)
__attribute__((target("avx"))) static inline void lw_clear_all_upper_halves(void) { __builtin_ia32_vzeroupper(); }
#else
static inline void lw_clear_all_upper_halves(void) {}
#endif
static inline void lw_clear_upper_halves(const lw_gang *gang) {
    if (gang->cta->program->vector_bytes > 16) lw_clear_all_upper_halves();
}

/* Of a gang's budget, what one round counts for of a loop that may wait for others: who holds the lock should come
 * soon. */
enum { LW_SPIN_COST = 4096 };
enum { LW_BYTES_A_STEP = 256 }; /* likewise: so many bytes that one operation writes count as one */

bool lw_barrier_is_plain(const lw_op *op); /* all threads wait there, for each other and nothing else: sync.c */
void lw_steady_settle(lw_gang *gang);      /* the frame's steady registers are those of this launch */

/* Entering a block. */
void lw_gang_join(lw_gang *gang,
                  const lw_op *op); /* others of its frame are elsewhere: who waits at the block comes along */
static inline const lw_op *lw_enter_block(lw_gang *gang, const lw_op *op) {
    gang->whole = LW_OP_WHOLE | LW_OP_LONE;
    if (gang->frame->ready_count) lw_gang_join(gang, op);
    gang->warp_instructions += op->imm * gang->active_warps;
    gang->lane_instructions += op->imm * gang->active;
    return op + 1;
}
/* Behind a step that ends a block as a rule: into the next one, without another dispatch. */
static inline const lw_op *lw_go_on(lw_gang *gang, const lw_op *op) {
    return op[1].code == LW_OP_block ? lw_enter_block(gang, op + 1) : op + 1;
}

/* An exchange between the slots of the gang's lw_meeting, not of a frame (meet.c): is it this operation, and what
 * lw_gang_undefined does then. */
bool lw_meeting_is_at(const lw_gang *gang, const lw_op *op);
bool lw_meeting_undefined(lw_gang *gang, lw_diag_id id, lw_mask lanes);

/* Reading and writing slots of the current frame. */
#define LW_SLOT(gang, type, at) ((type *)__builtin_assume_aligned((gang)->regs + (at), 16))
static inline lw_mask lw_get_mask(const lw_gang *gang, uint32_t at) { return *LW_SLOT(gang, lw_mask, at); }
static inline void lw_put_mask(lw_gang *gang, uint32_t at, lw_mask value) { /* active lanes only */
    lw_mask *slot = LW_SLOT(gang, lw_mask, at);
    *slot = (*slot & ~gang->mask) | (value & gang->mask);
}

#endif
