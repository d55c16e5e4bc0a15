/* flow.c: control flow of a gang: blocks, branches, calls, exits, and who runs next.
 *
 * Lanes that part are kept in one pending mask a block; the lowest ready block of the newest frame runs first, so that
 * lanes meet again as early as the text allows, whatever the graph. A loop that runs long gives others a turn: at once
 * where it reads memory that they might write, otherwise only now and then, since running them apart costs
 * reconvergence. */
#include "run/interp/address.h"
#include "run/interp/turn.h"

#include <stdlib.h>

enum {
    LW_BUDGET = 8192, /* backward branches a turn, of short loops */
    LW_YIELD_COST = 4096,
    LW_PATIENCE = 16,         /* turns that a loop without such reads gets before pending lanes run apart from it */
    LW_FRAME_COST = 64,       /* bytes of stack that a call takes at least */
    LW_FRAMES_MOST = 1 << 30, /* bytes of all frames of a gang */
};

/* ---- Pending lanes ------------------------------------------------------------------------------------ */

static inline bool is_ready(const lw_frame *frame, uint32_t block) {
    return frame->ready[block / 64] >> block % 64 & 1;
}

static uint32_t words_of(uint32_t bits) { return bits / 64 + (bits % 64 != 0); }

/* A frame may have a hundred thousand blocks. Above the bits of the blocks there are those of the words, so that the
 * lowest one is found in a few steps; most functions have one word. */
static void set_ready(lw_frame *frame, uint32_t block) {
    uint64_t *level = frame->ready;
    for (uint32_t words = words_of(frame->code->block_count);; words = words_of(words)) {
        uint64_t old = level[block / 64];
        level[block / 64] = old | 1ull << block % 64;
        if (old || words == 1) return;
        level += words;
        block /= 64;
    }
}

static void clear_ready(lw_frame *frame, uint32_t block) {
    uint64_t *level = frame->ready;
    for (uint32_t words = words_of(frame->code->block_count);; words = words_of(words)) {
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
    uint32_t words = words_of(frame->code->block_count), depth = 0;
    uint64_t found;
    for (;; from = from / 64 + 1, words = words_of(words)) {
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

__attribute__((noinline)) static const lw_op *go_later(lw_gang *gang, uint32_t block) {
    lw_gang_pend(gang->frame, block, gang->mask);
    return lw_gang_select(gang);
}

/* ---- Blocks and branches ------------------------------------------------------------------------------ */

/* Lanes that waited for these at the block come along. */
static void gather(lw_gang *gang, uint32_t block) {
    lw_gang_set_mask(gang, take_pending(gang->frame, block) | gang->mask);
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
    return go_later(gang, block);
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

/* ---- Frames ------------------------------------------------------------------------------------------- */

static void free_frames(lw_gang *gang, lw_frame **list) {
    for (lw_frame *frame = *list, *next; frame; frame = next) {
        next = frame->next;
        gang->frame_bytes -= frame->size;
        free(frame);
    }
    *list = NULL;
}

/* Those that wait to serve again must not keep others out. */
static void free_spare_frames(lw_gang *gang) {
    for (uint32_t i = 0; i < gang->free_room; i++) free_frames(gang, &gang->free_frames[i]);
}

static lw_frame *take_frame(lw_gang *gang, const lw_code *code) {
    lw_frame *spare = gang->free_frames ? gang->free_frames[code->index] : NULL;
    if (spare) {
        gang->free_frames[code->index] = spare->next;
        return spare;
    }
    size_t words = 0;
    for (uint32_t level = words_of(code->block_count);; level = words_of(level)) {
        words += level;
        if (level <= 1) break;
    }
    size_t head = (sizeof(lw_frame) + 15) & ~(size_t)15;
    size_t pending = head + ((words * 8 + 15) & ~(size_t)15);
    size_t regs = (pending + code->block_count * sizeof(lw_mask) + 63) & ~(size_t)63;
    size_t size = (regs + code->frame_bytes + LW_SLOT_64 + 63) & ~(size_t)63;
    if (gang->frame_bytes + size > LW_FRAMES_MOST) free_spare_frames(gang);
    char *memory = aligned_alloc(64, size);
    if (!memory) return NULL;
    gang->frame_bytes += size;
    memset(memory, 0, regs + code->frame_bytes);
    lw_frame *frame = (lw_frame *)memory;
    *frame = (lw_frame){.code = code,
                        .size = size,
                        .ready = (uint64_t *)(memory + head),
                        .pending = (lw_mask *)(memory + pending),
                        .regs = memory + regs};
    for (uint32_t i = 0; i < code->fill_count; i++) {
        char *slot = frame->regs + code->fills[i].at;
        uint32_t size = code->fills[i].size;
        if (!size) memset(slot, code->fills[i].value ? 0xff : 0, LW_SLOT_PRED);
        for (uint32_t lane = 0; size && lane < LW_GANG_LANES; lane++)
            memcpy(slot + lane * size, &code->fills[i].value, size);
    }
    return frame;
}

static uint64_t base_of_callee(const lw_code *code, const lw_frame *caller) {
    if (!caller) return 0;
    uint64_t own = caller->local_end - caller->local_base,
             align = code->local_align > LW_GRANULE ? code->local_align : LW_GRANULE;
    return (caller->local_base + (own < LW_FRAME_COST ? LW_FRAME_COST : own) + align - 1) & ~(align - 1);
}

/* The stack has an end, and so has what registers take: recursion in functions with thousands of them would else fill
 * the host. */
static bool fits_stack(const lw_gang *gang, const lw_code *code, const lw_frame *caller) {
    return base_of_callee(code, caller) + code->local_bytes <= gang->cta->grid->local_limit &&
           (!caller || gang->live_bytes + code->frame_bytes <= LW_FRAMES_MOST);
}

/* Zeros in the local memory of some lanes, from one granule up to another. */
static void clear_local(lw_gang *gang, lw_mask lanes, uint32_t from, uint32_t to) {
    enum { ROW = LW_GRANULE * LW_GANG_LANES, WARP = LW_GRANULE * LW_WARP_LANES };
    char *row = gang->local + (size_t)from * LW_GANG_LANES, *end = gang->local + (size_t)to * LW_GANG_LANES;
    if (lanes == lw_live_lanes(gang)) {
        memset(row, 0, (size_t)(end - row));
        return;
    }
    for (; row < end; row += ROW)
        for (uint32_t w = 0; w < LW_GANG_LANES / LW_WARP_LANES; w++) {
            uint32_t bits = lw_mask_warp(lanes, w);
            if (bits == UINT32_MAX) memset(row + w * WARP, 0, WARP), bits = 0;
            for (; bits; bits &= bits - 1)
                memset(row + w * WARP + (uint32_t)__builtin_ctz(bits) * LW_GRANULE, 0, LW_GRANULE);
        }
}

/* A frame's own local memory begins as zeros, whoever used that part of the stack before. Only as far as somebody may
 * have: what the system gives is zero, and every access says how far it went. Where no lane has anything above, all
 * that is known to be zero again. */
static void place_local(lw_gang *gang, lw_frame *frame, lw_mask lanes) {
    const lw_code *code = frame->code;
    frame->local_base = (uint32_t)base_of_callee(code, frame->caller);
    frame->local_end = frame->local_base + code->local_bytes;
    if (!code->local_bytes) return;
    uint32_t end = (frame->local_end + LW_GRANULE - 1) / LW_GRANULE * LW_GRANULE, used = gang->local_used;
    if (frame->local_base >= used) return;
    clear_local(gang, lanes, frame->local_base, end < used ? end : used);
    if (used > gang->local_most) gang->local_most = used;
    if (used <= end && lanes == lw_live_lanes(gang)) gang->local_used = frame->local_base;
}

/* For lanes that enter its function. */
static void open_frame(lw_gang *gang, lw_frame *frame, lw_frame *caller, lw_mask lanes) {
    const lw_code *code = frame->code;
    frame->caller = caller;
    frame->call = NULL;
    frame->owned = lanes;
    frame->written = LW_FRAME_new;
    place_local(gang, frame, lanes);
    frame->depth = caller ? caller->depth + 1 : 0;
    for (uint32_t i = 0; i < code->zero_count; i++) memset(frame->regs + code->zeros[i].at, 0, code->zeros[i].size);
}

lw_frame *lw_frame_new(lw_gang *gang, const lw_code *code, lw_frame *caller, lw_mask lanes) {
    if (!fits_stack(gang, code, caller)) return NULL;
    lw_frame *frame = take_frame(gang, code);
    if (!frame) return NULL;
    gang->live_bytes += frame->size;
    frame->previous = NULL;
    frame->next = gang->frames;
    if (frame->next) frame->next->previous = frame;
    gang->frames = frame;
    open_frame(gang, frame, caller, lanes);
    return frame;
}

/* For the next activation of its function. Where there is no memory to keep the frame it is freed. */
static void keep_frame(lw_gang *gang, lw_frame *frame) {
    uint32_t count = gang->cta->program->code_count;
    if (!gang->free_frames && (gang->free_frames = calloc(count, sizeof *gang->free_frames))) gang->free_room = count;
    if (!gang->free_frames) {
        gang->frame_bytes -= frame->size;
        free(frame);
        return;
    }
    lw_frame **list = &gang->free_frames[frame->code->index];
    frame->next = *list;
    *list = frame;
}

static void drop_frame(lw_gang *gang, lw_frame *frame) {
    if (frame->previous) frame->previous->next = frame->next;
    else gang->frames = frame->next;
    if (frame->next) frame->next->previous = frame->previous;
    gang->live_bytes -= frame->size;
    keep_frame(gang, frame);
}

/* ---- Calls -------------------------------------------------------------------------------------------- */

/* One lane's element of a size that the compiler knows, `stride` bytes from that of the next lane. */
#define COPY_ELEMENTS(bytes, stride) \
    LW_FOR_LANES(lane, lanes) \
    memcpy(to + (size_t)lane * (stride), from + (size_t)lane * (stride), bytes)

/* Where all lanes hand over, nobody has to be looked for. */
#define COPY_ALL(bytes) \
    for (uint32_t lane = 0; lane < count; lane++) \
    memcpy(to + (size_t)lane * LW_GRANULE, from + (size_t)lane * LW_GRANULE, bytes)

static bool copy_all_in_granules(const char *from, char *to, uint32_t size, uint32_t count) {
    switch (size) {
    case 4: COPY_ALL(4); return true;
    case 8: COPY_ALL(8); return true;
    case LW_GRANULE: memcpy(to, from, (size_t)count * LW_GRANULE); return true;
    default: return false;
    }
}

/* Bytes of one granule in local memory. */
static void copy_in_granules(const char *from, char *to, uint32_t size, lw_mask lanes) {
    switch (size) {
    case 4: COPY_ELEMENTS(4, LW_GRANULE); break;
    case 8: COPY_ELEMENTS(8, LW_GRANULE); break;
    case LW_GRANULE: COPY_ELEMENTS(LW_GRANULE, LW_GRANULE); break;
    default: COPY_ELEMENTS(size, LW_GRANULE); break;
    }
}

static void copy_local(lw_gang *gang, uint32_t from, uint32_t to, uint32_t size, lw_mask lanes) {
    const bool all = lanes == lw_live_lanes(gang);
    while (size) {
        uint32_t part = size, left_from = LW_GRANULE - from % LW_GRANULE, left_to = LW_GRANULE - to % LW_GRANULE;
        if (part > left_from) part = left_from;
        if (part > left_to) part = left_to;
        const char *source = lw_local_at(gang, 0, from);
        char *place = lw_local_at(gang, 0, to);
        if (!all || !copy_all_in_granules(source, place, part, gang->lanes))
            copy_in_granules(source, place, part, lanes);
        from += part, to += part, size -= part;
    }
}

/* all: the frame has no other lanes. Else these keep what they have: where results are taken they may wait elsewhere.
 */
static void copy_slot(const char *from, char *to, uint32_t size, lw_mask lanes, bool all) {
    if (size && all) {
        memcpy(to, from, (size_t)size * LW_GANG_LANES);
        return;
    }
    switch (size) {
    case 0: *(lw_mask *)to = (*(lw_mask *)to & ~lanes) | (*(const lw_mask *)from & lanes); break;
    case 2: COPY_ELEMENTS(2, 2); break;
    case 4: COPY_ELEMENTS(4, 4); break;
    case 8: COPY_ELEMENTS(8, 8); break;
    default: lw_bug("an element of %u bytes is handed over", size);
    }
}

/* Hands values from one frame to another: parameters at a call, results at a return. */
static void transfer(lw_gang *gang, const lw_frame *from, const lw_frame *to, const lw_transfer *sources,
                     const lw_transfer *places, uint32_t count, lw_mask lanes) {
    for (uint32_t i = 0; i < count; i++) {
        const lw_transfer *source = &sources[i], *place = &places[i];
        if (!source->in_memory) {
            copy_slot(from->regs + source->from, to->regs + place->to, source->size, lanes, lanes == to->owned);
            continue;
        }
        copy_local(gang, from->local_base + source->from, to->local_base + place->to, source->size, lanes);
        lw_local_touch(gang, to->local_base + place->to + (uint64_t)source->size);
    }
}

/* Of the budget: what is executed in a callee counts, and what is cleared for it. */
static int64_t call_cost(const lw_code *code) {
    return 1 + (code->op_count >> 8) + (code->frame_bytes >> 16) + (code->local_bytes >> 10);
}

/* A frame for lanes that call `code`, with its parameters in place. NULL: trapped. */
static lw_frame *begin_call(lw_gang *gang, const lw_op *op, const lw_code *code, lw_mask lanes) {
    lw_frame *caller = gang->frame;
    const lw_call *call = &caller->code->calls[op->imm];
    if (!lw_call_agrees(call, code)) {
        lw_gang_trap(gang, op, LW_TRAP_signature, lw_mask_first(lanes), (lw_trap_record){.access = code->name});
        return NULL;
    }
    lw_frame *frame = lw_frame_new(gang, code, caller, lanes);
    if (!frame) {
        lw_trap_kind kind = fits_stack(gang, code, caller) ? LW_TRAP_memory : LW_TRAP_stack;
        lw_gang_trap(gang, op, kind, lw_mask_first(lanes),
                     (lw_trap_record){.access = "call", .detail = caller->depth + 1});
        return NULL;
    }
    frame->call = call;
    gang->budget -= call_cost(code);
    transfer(gang, caller, frame, call->arguments, code->params, code->param_count, lanes);
    return frame;
}

const lw_op *lw_step_call(lw_gang *gang, const lw_op *op) {
    const lw_program *program = gang->cta->program;
    const lw_code *code = program->codes[gang->frame->code->calls[op->imm].function];
    lw_frame *frame = begin_call(gang, op, code, gang->mask);
    if (!frame) return NULL;
    gang->frame = frame;
    gang->regs = frame->regs;
    gang->full = true;
    /* Recursion needs a turn's end too: others may wait for what these lanes wait for, and limits are looked at. */
    if (LW_UNLIKELY(gang->budget < 0)) {
        lw_gang_pend(frame, 0, gang->mask);
        return lw_gang_end_turn(gang, false, 0);
    }
    return code->ops;
}

/* Of some lanes those that call the same as the first one of them; all do, as a rule. */
static lw_mask calling_with(const uint64_t *address, uint32_t first, lw_mask lanes) {
    uint64_t others = 0;
    lw_mask same = 0;
    if (lanes == LW_MASK_ALL)
        for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) others |= address[lane] ^ address[first];
    if (lanes == LW_MASK_ALL && !others) return lanes;
    LW_FOR_LANES(lane, lanes) if (address[lane] == address[first]) same |= LW_MASK_BIT(lane);
    return same;
}

const lw_op *lw_step_call_indirect(lw_gang *gang, const lw_op *op) {
    const lw_program *program = gang->cta->program;
    const uint64_t *address = LW_SLOT(gang, uint64_t, op->b);
    lw_mask left = gang->mask;
    while (left) {
        uint32_t first = lw_mask_first(left);
        uint64_t offset = address[first] - LW_CODE_WINDOW;
        const lw_code *code = offset % 16 ? NULL : lw_program_code(program, offset / 16);
        if (!code || code->is_entry)
            return lw_gang_trap(gang, op, LW_TRAP_wild_branch, first,
                                (lw_trap_record){.access = "call", .address = address[first]});
        const lw_mask same = calling_with(address, first, left);
        lw_frame *frame = begin_call(gang, op, code, same);
        if (!frame) return NULL;
        lw_gang_pend(frame, 0, same);
        left &= ~same;
    }
    gang->frame = gang->frames; /* the newest */
    return LW_UNLIKELY(gang->budget < 0) ? lw_gang_end_turn(gang, false, 0) : lw_gang_select(gang);
}

const lw_op *lw_step_ret(lw_gang *gang, const lw_op *op) {
    lw_frame *frame = gang->frame, *caller = frame->caller;
    if (!caller) return lw_step_exit(gang, op);
    const lw_call *call = frame->call;
    transfer(gang, frame, caller, frame->code->returns, call->results, call->result_count, gang->mask);
    frame->owned &= ~gang->mask;
    if (!frame->owned) drop_frame(gang, frame);
    else if (frame->ready_count) { /* the others first: they may come back to the same place */
        lw_gang_pend(caller, call->return_block, gang->mask);
        return lw_gang_select(gang);
    }
    gang->frame = caller;
    if (caller->ready_count) return go_later(gang, call->return_block);
    gang->regs = caller->regs;
    lw_gang_set_mask(gang, gang->mask);
    return lw_enter_block(gang, &caller->code->ops[caller->code->blocks[call->return_block].first]);
}

const lw_op *lw_step_exit(lw_gang *gang, const lw_op *op) {
    (void)op;
    lw_mask leaving = gang->mask;
    if (gang->async && !lw_async_finish(gang, leaving)) return NULL;
    gang->cta->cluster->idle = 0;
    gang->exited |= leaving;
    lw_frame *frame = gang->frame;
    while (frame) {
        lw_frame *caller = frame->caller;
        frame->owned &= ~leaving;
        if (!frame->owned && caller) {
            drop_frame(gang, frame);
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

/* ---- The gang ----------------------------------------------------------------------------------------- */

/* Those of a gang that is done can serve again: nothing is pending in them. */
static void put_frames_by(lw_gang *gang) {
    if (gang->state == LW_GANG_done)
        while (gang->frames) drop_frame(gang, gang->frames);
    free_frames(gang, &gang->frames);
    gang->live_bytes = 0;
}

/* Allocations that were met stay known, in later launches too, as long as there are the same ones. */
static void keep_hints(lw_gang *gang, const lw_ranges *ranges) {
    if (LW_LIKELY(gang->hints_of == ranges->state)) return;
    for (uint32_t i = 0; i < LW_HINTS; i++) gang->hints[i].base = gang->hints[i].size = 0;
    gang->hints_of = ranges->state;
}

/* The frame of the kernel itself, which a gang that is done has left as it was, or a new one. */
static lw_frame *entry_frame(lw_gang *gang, const lw_code *code) {
    lw_frame *frame = gang->frames;
    if (frame && !frame->next && frame->code == code && gang->state == LW_GANG_done && fits_stack(gang, code, NULL)) {
        open_frame(gang, frame, NULL, gang->exist);
        return frame;
    }
    put_frames_by(gang);
    return lw_frame_new(gang, code, NULL, gang->exist);
}

bool lw_gang_begin(lw_gang *gang, lw_cta *cta, uint32_t number) {
    keep_hints(gang, cta->grid->ranges);
    uint32_t lanes = cta->grid->gang_lanes;
    gang->cta = cta;
    gang->trusted = NULL;
    gang->number = number;
    gang->first = number * lanes;
    uint32_t here = cta->threads - gang->first < lanes ? cta->threads - gang->first : lanes;
    gang->lanes = (here + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES;
    gang->exist = here == LW_GANG_LANES ? LW_MASK_ALL : LW_MASK_BIT(here) - 1;
    gang->exited = 0;
    gang->stands = false;
    gang->turns = 0;
    gang->served = gang->beside = 0;
    gang->cluster_came = gang->cluster_owed = 0;
    lw_meeting_reset(gang);
    lw_async_reset(gang);
    gang->waits.count = gang->timed = 0;
    lw_frame *frame = entry_frame(gang, cta->program->entry);
    if (!frame) return false;
    gang->state = LW_GANG_ready;
    gang->frame = frame;
    gang->regs = frame->regs;
    lw_gang_set_mask(gang, gang->exist);
    gang->resume = &frame->code->ops[frame->code->blocks[0].first];
    if (frame->launch != cta->grid->grid_number && frame->code->steady_count) lw_steady_settle(gang);
    return true;
}

/* A gang that is done has its kernel's frame, which the next launch of the program begins in as the next CTA would. */
void lw_gang_rest(lw_gang *gang) {
    if (gang->state != LW_GANG_done || !gang->frames || gang->frames->next) put_frames_by(gang);
    lw_meeting_end(gang);
    lw_async_end(gang);
}

void lw_gang_end(lw_gang *gang) {
    free_frames(gang, &gang->frames);
    lw_gang_rest(gang);
    free_spare_frames(gang);
    free(gang->free_frames);
    gang->free_frames = NULL;
    gang->free_room = 0;
    free(gang->waits.at);
    gang->waits.at = NULL;
    gang->waits.count = gang->waits.room = 0;
}

const lw_op *lw_gang_trap(lw_gang *gang, const lw_op *op, lw_trap_kind kind, uint32_t lane, lw_trap_record details) {
    details.kind = kind;
    lw_trap_locate(&details, gang, gang->frame->code, op, lane);
    gang->cta->trap = details;
    gang->state = LW_GANG_trapped;
    return NULL;
}

void lw_gang_run(lw_gang *gang) {
    gang->budget = LW_BUDGET;
    const lw_op *op = gang->resume ? gang->resume : lw_gang_select(gang);
    gang->resume = NULL;
    while (op) op = op->step(gang, op);
    lw_gang_hand_notes(gang);
    lw_clear_upper_halves(gang);
}
