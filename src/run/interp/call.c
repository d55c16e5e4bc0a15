/* call.c: calls and returns: a frame for the lanes that call, and what is handed over. */
#include "run/interp/address.h"
#include "run/interp/frame.h"
#include "run/interp/turn.h"

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
        lw_trap_kind kind = lw_frame_fits(gang, code, caller) ? LW_TRAP_memory : LW_TRAP_stack;
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
    if (!frame->owned) lw_frame_drop(gang, frame);
    else if (frame->ready_count) { /* the others first: they may come back to the same place */
        lw_gang_pend(caller, call->return_block, gang->mask);
        return lw_gang_select(gang);
    }
    gang->frame = caller;
    if (caller->ready_count) return lw_gang_go_later(gang, call->return_block);
    gang->regs = caller->regs;
    lw_gang_set_mask(gang, gang->mask);
    return lw_enter_block(gang, &caller->code->ops[caller->code->blocks[call->return_block].first]);
}
