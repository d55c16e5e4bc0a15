/* frame.c: frames of functions that lanes are in, and a gang's life: its kernel's frame goes from CTA to CTA. */
#include "run/interp/frame.h"

#include "run/interp/address.h"

#include <stdlib.h>

enum {
    LW_FRAME_COST = 64,       /* bytes of stack that a call takes at least */
    LW_FRAMES_MOST = 1 << 30, /* bytes of all frames of a gang */
};

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
    for (uint32_t level = lw_ready_words(code->block_count);; level = lw_ready_words(level)) {
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

bool lw_frame_fits(const lw_gang *gang, const lw_code *code, const lw_frame *caller) {
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

/* What is read in front of all writes is zero. */
static void clear_registers(lw_frame *frame) {
    const lw_code *code = frame->code;
    for (uint32_t i = 0; i < code->zero_count; i++) memset(frame->regs + code->zeros[i].at, 0, code->zeros[i].size);
}

/* For lanes that enter its function. */
static void open_frame(lw_gang *gang, lw_frame *frame, lw_frame *caller, lw_mask lanes) {
    frame->caller = caller;
    frame->call = NULL;
    frame->owned = lanes;
    frame->written = LW_FRAME_new;
    place_local(gang, frame, lanes);
    frame->depth = caller ? caller->depth + 1 : 0;
    clear_registers(frame);
}

void lw_frame_renew(lw_gang *gang) {
    lw_frame *frame = gang->frame;
    if (frame->code->local_bytes) place_local(gang, frame, gang->exist);
    clear_registers(frame);
    frame->written = LW_FRAME_pure;
}

lw_frame *lw_frame_new(lw_gang *gang, const lw_code *code, lw_frame *caller, lw_mask lanes) {
    if (!lw_frame_fits(gang, code, caller)) return NULL;
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

void lw_frame_drop(lw_gang *gang, lw_frame *frame) {
    if (frame->previous) frame->previous->next = frame->next;
    else gang->frames = frame->next;
    if (frame->next) frame->next->previous = frame->previous;
    gang->live_bytes -= frame->size;
    keep_frame(gang, frame);
}

/* ---- The gang ----------------------------------------------------------------------------------------- */

/* Those of a gang that is done can serve again: nothing is pending in them. */
static void put_frames_by(lw_gang *gang) {
    if (gang->state == LW_GANG_done)
        while (gang->frames) lw_frame_drop(gang, gang->frames);
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
    if (frame && !frame->next && frame->code == code && gang->state == LW_GANG_done &&
        lw_frame_fits(gang, code, NULL)) {
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
    memset(gang->folded, 0, sizeof gang->folded);
    gang->number = number;
    gang->first = number * lanes;
    uint32_t here = cta->threads - gang->first < lanes ? cta->threads - gang->first : lanes;
    gang->lanes = (here + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES;
    gang->exist = here == LW_GANG_LANES ? LW_MASK_ALL : LW_MASK_BIT(here) - 1;
    gang->exited = 0;
    gang->stands = false;
    lw_gang_renew(gang);
    gang->cluster_came = gang->cluster_owed = 0;
    lw_meeting_reset(gang);
    lw_async_reset(gang);
    gang->waits.count = gang->timed = 0;
    lw_frame *frame = entry_frame(gang, cta->program->entry);
    if (!frame) return false;
    gang->state = LW_GANG_ready;
    gang->frame = frame;
    gang->regs = frame->regs;
    if (gang->mask == gang->exist && gang->active == here) gang->full = true; /* all left together: it is known */
    else lw_gang_set_mask(gang, gang->exist);
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
