/* stack.c: local memory that a function takes while it runs. What lanes took differs; a frame ends behind the one that
 * took most, so that those of functions that it calls lie behind all of it. */
#include "run/interp/address.h"

/* Zeros, as all local memory begins; byte by byte, since granules are shared with what was taken before. */
static void clear(lw_gang *gang, uint32_t lane, uint64_t from, uint64_t to) {
    if (to > gang->local_used) to = gang->local_used; /* nobody has written above */
    while (from < to) {
        const uint64_t granule = LW_GRANULE - from % LW_GRANULE, bytes = granule < to - from ? granule : to - from;
        memset(lw_local_at(gang, lane, (uint32_t)from), 0, bytes);
        from += bytes;
    }
}

const lw_op *lw_step_alloca(lw_gang *gang, const lw_op *op) {
    lw_frame *frame = gang->frame;
    const uint64_t bottom = (uint64_t)frame->local_base + frame->code->local_bytes, align = op->imm,
                   limit = gang->cta->grid->local_limit;
    const uint32_t *taken = LW_SLOT(gang, uint32_t, op->b);
    LW_FOR_LANES(lane, gang->mask) {
        const uint64_t size = op->c == 8 ? LW_SLOT(gang, uint64_t, op->a)[lane] : LW_SLOT(gang, uint32_t, op->a)[lane];
        const uint64_t at = (bottom + taken[lane] + align - 1) & ~(align - 1);
        if (at > limit || size > limit - at)
            return lw_gang_trap(gang, op, LW_TRAP_alloca, lane, (lw_trap_record){.length = size});
        clear(gang, lane, at, at + size);
        gang->budget -= (int64_t)(size / LW_BYTES_A_STEP);
        if (at + size > frame->local_end) frame->local_end = (uint32_t)(at + size);
        if (op->c == 8) LW_SLOT(gang, uint64_t, op->d)[lane] = at;
        else LW_SLOT(gang, uint32_t, op->d)[lane] = (uint32_t)at;
        LW_SLOT(gang, uint32_t, op->e)[lane] = (uint32_t)(at + size - bottom);
    }
    return op + 1;
}
