/* flow.c: control flow of a gang: blocks, branches, exits, and who runs next.
 *
 * Lanes that part are kept in one pending mask a block; the lowest ready block of the newest frame runs first, so that
 * lanes meet again as early as the text allows, whatever the graph. A loop that runs long gives others a turn: at once
 * where it reads memory that they might write, otherwise only now and then, since running them apart costs
 * reconvergence. */
#include "run/interp/frame.h"
#include "run/interp/turn.h"

enum {
    LW_YIELD_COST = 4096,
    LW_PATIENCE = 16, /* turns that a loop without such reads gets before pending lanes run apart from it */
};

/* ---- Pending lanes ------------------------------------------------------------------------------------ */

static inline bool is_ready(const lw_frame *frame, uint32_t block) {
    return frame->ready[block / 64] >> block % 64 & 1;
}

/* A frame may have a hundred thousand blocks. Above the bits of the blocks there are those of the words, so that the
 * lowest one is found in a few steps; most functions have one word. */
static void set_ready(lw_frame *frame, uint32_t block) {
    uint64_t *level = frame->ready;
    for (uint32_t words = lw_ready_words(frame->code->block_count);; words = lw_ready_words(words)) {
        uint64_t old = level[block / 64];
        level[block / 64] = old | 1ull << block % 64;
        if (old || words == 1) return;
        level += words;
        block /= 64;
    }
}

static void clear_ready(lw_frame *frame, uint32_t block) {
    uint64_t *level = frame->ready;
    for (uint32_t words = lw_ready_words(frame->code->block_count);; words = lw_ready_words(words)) {
        level[block / 64] &= ~(1ull << block % 64);
        if (level[block / 64] || words == 1) return;
        level += words;
        block /= 64;
    }
}

void lw_gang_pend(lw_frame *frame, uint32_t block, lw_mask lanes) {
    if (!is_ready(frame, block)) {
        set_ready(frame, block);
        frame->ready_count++;
    }
    frame->pending[block] |= lanes;
}

bool lw_gang_unpend(lw_frame *frame, uint32_t block, lw_mask lanes) {
    if (!is_ready(frame, block) || !(frame->pending[block] & lanes)) return false;
    frame->pending[block] &= ~lanes;
    if (frame->pending[block]) return true;
    clear_ready(frame, block);
    frame->ready_count--;
    return true;
}

/* The lowest from a block on; UINT32_MAX: none. */
static uint32_t lowest_ready(const lw_frame *frame, uint32_t from) {
    const uint64_t *levels[6], *level = frame->ready; /* 64 to the sixth is more than blocks can be */
    uint32_t words = lw_ready_words(frame->code->block_count), depth = 0;
    uint64_t found;
    for (;; from = from / 64 + 1, words = lw_ready_words(words)) {
        if (from / 64 >= words) return UINT32_MAX;
        if ((found = level[from / 64] & ~0ull << from % 64)) break;
        if (words == 1) return UINT32_MAX;
        levels[depth++] = level;
        level += words;
    }
    uint32_t at = from / 64 * 64 + (uint32_t)__builtin_ctzll(found);
    while (depth) at = 64 * at + (uint32_t)__builtin_ctzll(levels[--depth][at]);
    return at;
}

/* The lanes that are ready at a block are so no longer. */
static lw_mask take_pending(lw_frame *frame, uint32_t block) {
    clear_ready(frame, block);
    frame->ready_count--;
    lw_mask lanes = frame->pending[block];
    frame->pending[block] = 0;
    return lanes;
}

static const lw_op *enter(lw_gang *gang, lw_frame *frame, uint32_t block) {
    gang->frame = frame;
    gang->regs = frame->regs;
    lw_gang_set_mask(gang, take_pending(frame, block));
    return &frame->code->ops[frame->code->blocks[block].first];
}

const lw_op *lw_gang_select(lw_gang *gang) {
    lw_frame *frame = gang->frame;
    if (!frame->ready_count)
        for (frame = gang->frames; frame && !frame->ready_count; frame = frame->next) {}
    if (frame) return enter(gang, frame, lowest_ready(frame, 0));
    gang->state = gang->exited == gang->exist ? LW_GANG_done : LW_GANG_waiting;
    return NULL;
}

/* The first ready block of a frame, from one on, with a lane that had no turn yet. */
static uint32_t find_unserved(const lw_gang *gang, const lw_frame *frame, uint32_t from) {
    if (!frame->ready_count) return UINT32_MAX;
    for (uint32_t block = lowest_ready(frame, from); block != UINT32_MAX; block = lowest_ready(frame, block + 1))
        if (frame->pending[block] & ~gang->served) return block;
    return UINT32_MAX;
}

/* Somebody other than the block that used up its budget: the blocks behind it, then the frames behind its own, then all
 * from the newest frame on. Every lane that is ready gets a turn before any gets a second one, so none starves, in
 * whatever frame it is and however the others branch. */
static const lw_op *select_other(lw_gang *gang, lw_frame *frame, uint32_t block) {
    for (gang->served |= gang->mask;; gang->served = 0) {
        uint32_t other = find_unserved(gang, frame, block + 1);
        lw_frame *next = frame;
        while (other == UINT32_MAX && (next = next->next)) other = find_unserved(gang, next, 0);
        if (other == UINT32_MAX)
            for (next = gang->frames; next && (other = find_unserved(gang, next, 0)) == UINT32_MAX;) next = next->next;
        if (other == UINT32_MAX) continue;
        gang->served |= next->pending[other];
        return enter(gang, next, other);
    }
}

__attribute__((noinline)) const lw_op *lw_gang_end_turn(lw_gang *gang, bool spins, uint32_t block) {
    if (spins && !lw_cluster_poll(gang)) return NULL;
    if (spins || ++gang->turns >= LW_PATIENCE) {
        gang->resume = select_other(gang, gang->frame, block);
        gang->turns = 0;
    }
    return NULL;
}

/* Counts a branch. True: the turn ends here. */
static inline bool uses_up(lw_gang *gang, const lw_op *op) {
    if (!(op->flags & LW_OP_BACKWARD)) return false;
    gang->budget -= lw_branch_cost(gang->frame->code, op);
    return LW_UNLIKELY(gang->budget < 0);
}

/* No block before this one is ready: lanes that reach it go on at once. */
static inline bool comes_first(const lw_frame *frame, uint32_t block) {
    if (LW_LIKELY(!frame->ready_count)) return true;
    return block < 64 && !(frame->ready[0] & ((1ull << block) - 1));
}

__attribute__((noinline)) const lw_op *lw_gang_go_later(lw_gang *gang, uint32_t block) {
    lw_gang_pend(gang->frame, block, gang->mask);
    return lw_gang_select(gang);
}

/* ---- Blocks and branches ------------------------------------------------------------------------------ */

/* Of the warps that do not execute, those of which lanes are ready in front of the block, and have yet to come:
 * compiled code takes one warp behind the other, and may have left some where they began. */
static lw_mask late_warps(const lw_gang *gang, uint32_t block) {
    const lw_frame *frame = gang->frame;
    lw_mask late = 0, warps = 0;
    if (!frame->ready_count) return 0;
    for (uint32_t b = lowest_ready(frame, 0); b < block; b = lowest_ready(frame, b + 1)) late |= frame->pending[b];
    for (uint32_t w = 0; w < LW_GANG_LANES / LW_WARP_LANES; w++)
        if (lw_mask_warp(late, w) && !lw_mask_warp(gang->mask, w)) warps |= lw_mask_of_warp(UINT32_MAX, w);
    return warps;
}

/* Lanes that waited for these at the block come along. */
static void gather(lw_gang *gang, uint32_t block) {
    const lw_mask lanes = take_pending(gang->frame, block), late = lanes & late_warps(gang, block);
    if (LW_UNLIKELY(late)) lw_gang_pend(gang->frame, block, late);
    lw_gang_set_mask(gang, (lanes & ~late) | gang->mask);
}

static bool alone(const lw_frame *frame, const lw_op *op) { return lowest_ready(frame, op->b) > op->c; }

void lw_gang_join(lw_gang *gang, const lw_op *op) {
    if (is_ready(gang->frame, op->a)) gather(gang, op->a);
    if (op->flags & LW_OP_LONE && !alone(gang->frame, op)) gang->whole = LW_OP_WHOLE;
}

const lw_op *lw_step_block(lw_gang *gang, const lw_op *op) { return lw_enter_block(gang, op); }

/* All executing lanes go on at a block. */
static inline const lw_op *go(lw_gang *gang, const lw_op *op, uint32_t block) {
    lw_frame *frame = gang->frame;
    if (uses_up(gang, op)) {
        lw_gang_pend(frame, block, gang->mask);
        return lw_gang_end_turn(gang, op->flags & LW_OP_SPIN, block);
    }
    if (LW_LIKELY(comes_first(frame, block)))
        return lw_enter_block(gang, &frame->code->ops[frame->code->blocks[block].first]);
    return lw_gang_go_later(gang, block);
}

const lw_op *lw_step_bra(lw_gang *gang, const lw_op *op) { return go(gang, op, op->a); }

/* The lanes part. The lower of the two blocks goes on now. */
__attribute__((noinline)) static const lw_op *part(lw_gang *gang, const lw_op *op, lw_mask taken) {
    uint32_t next = op[1].a;
    if (op->flags & LW_OP_BACKWARD) {
        lw_gang_pend(gang->frame, next, gang->mask & ~taken);
        lw_gang_set_mask(gang, taken);
        return go(gang, op, op->a);
    }
    lw_gang_pend(gang->frame, op->a, taken);
    lw_gang_set_mask(gang, gang->mask & ~taken);
    return lw_enter_block(gang, op + 1);
}

const lw_op *lw_step_bra_if(lw_gang *gang, const lw_op *op) {
    lw_mask p = lw_get_mask(gang, op->b);
    if (op->flags & LW_OP_NEGATE) p = ~p;
    lw_mask taken = gang->mask & p;
    if (!taken) return lw_enter_block(gang, op + 1);
    if (taken == gang->mask) return go(gang, op, op->a);
    return part(gang, op, taken);
}

const lw_op *lw_step_brx(lw_gang *gang, const lw_op *op) {
    const uint32_t *index = LW_SLOT(gang, uint32_t, op->b);
    const uint32_t *targets = gang->frame->code->targets + op->imm;
    LW_FOR_LANES(lane, gang->mask)
    if (index[lane] >= op->c)
        return lw_gang_trap(gang, op, LW_TRAP_wild_branch, lane,
                            (lw_trap_record){.access = "brx.idx", .detail = index[lane], .size = op->c});
    uint32_t lowest = UINT32_MAX;
    LW_FOR_LANES(lane, gang->mask) {
        uint32_t block = targets[index[lane]];
        lw_gang_pend(gang->frame, block, LW_MASK_BIT(lane));
        if (block < lowest) lowest = block;
    }
    return uses_up(gang, op) ? lw_gang_end_turn(gang, op->flags & LW_OP_SPIN, lowest) : lw_gang_select(gang);
}

const lw_op *lw_step_guard(lw_gang *gang, const lw_op *op) {
    lw_mask p = lw_get_mask(gang, op->b);
    lw_mask inside = gang->mask & (op->flags & LW_OP_NEGATE ? ~p : p);
    if (!inside) return op + 1 + op->imm;
    gang->guard_mask = gang->mask;
    gang->guard_full = gang->full;
    gang->mask = inside;
    gang->full = inside == gang->frame->owned;
    return op + 1;
}

const lw_op *lw_step_unguard(lw_gang *gang, const lw_op *op) {
    gang->mask = gang->guard_mask;
    gang->full = gang->guard_full;
    return op + 1;
}

const lw_op *lw_step_yield(lw_gang *gang, const lw_op *op) {
    gang->budget -= LW_YIELD_COST;
    return op + 1;
}

const lw_op *lw_step_trap(lw_gang *gang, const lw_op *op) {
    lw_trap_kind kind = op->mode == LW_REASON_instruction || op->mode == LW_REASON_breakpoint ? LW_TRAP_instruction
                                                                                              : LW_TRAP_scalar;
    return lw_gang_trap(
        gang, op, kind, lw_mask_first(gang->mask),
        (lw_trap_record){.access = op->mode == LW_REASON_breakpoint ? "brkpt" : "trap", .detail = op->mode});
}

/* All of a gang leave from the kernel itself, and nobody is concerned. */
static bool leaves_alone(const lw_gang *gang) {
    return gang->mask == gang->exist && !gang->frame->caller && !gang->async && !gang->meeting &&
           !gang->cta->cluster->arrived && !gang->cta->barriers_in_use;
}

void lw_gang_leave(lw_gang *gang) {
    gang->exited = gang->exist;
    gang->frame->owned = 0;
    gang->cta->live -= gang->active;
    gang->cta->cluster->idle = 0;
    gang->state = LW_GANG_done;
    lw_cluster_leave(gang);
}

const lw_op *lw_step_exit(lw_gang *gang, const lw_op *op) {
    (void)op;
    lw_mask leaving = gang->mask;
    if (LW_LIKELY(leaves_alone(gang))) {
        lw_gang_leave(gang);
        return NULL;
    }
    if (gang->async && !lw_async_finish(gang, leaving)) return NULL;
    gang->cta->cluster->idle = 0;
    gang->exited |= leaving;
    lw_frame *frame = gang->frame;
    while (frame) {
        lw_frame *caller = frame->caller;
        frame->owned &= ~leaving;
        if (!frame->owned && caller) {
            lw_frame_drop(gang, frame);
            gang->frame = caller;
        }
        frame = caller;
    }
    gang->cta->live -= gang->active;
    lw_cluster_leave(gang);
    if (!lw_gang_meet_without(gang, leaving)) return NULL; /* who waited for these lanes need not any more */
    lw_cta_check_barriers(gang->cta);
    if (LW_UNLIKELY(gang->exited != gang->exist)) return lw_gang_select(gang);
    gang->state = LW_GANG_done;
    return NULL;
}

/* ---- A turn --------------------------------------------------------------------------------------------- */

const lw_op *lw_gang_trap(lw_gang *gang, const lw_op *op, lw_trap_kind kind, uint32_t lane, lw_trap_record details) {
    details.kind = kind;
    lw_trap_locate(&details, gang, gang->frame->code, op, lane);
    gang->cta->trap = details;
    gang->state = LW_GANG_trapped;
    return NULL;
}

const lw_op *lw_gang_begin_turn(lw_gang *gang) {
    const lw_op *op = gang->resume;
    gang->budget = LW_BUDGET;
    gang->resume = NULL;
    return op ? op : lw_gang_select(gang);
}

void lw_gang_run(lw_gang *gang) {
    const lw_op *op = lw_gang_begin_turn(gang);
    do {
        while (op) op = op->step(gang, op);
        lw_clear_upper_halves(gang);
    } while ((gang = lw_grid_next(gang, &op)));
}
