/* copy.c: copies of 4, 8 or 16 bytes that a thread begins (manual section 9.7.9.25.3), and its arrival once they are
 * done (9.7.13.15.15). */
#include "run/interp/async.h"

/* Most are in the CTA's own memory, and in the allocation that the operation met last. NULL: look closer. */
static char *quick_target(const lw_gang *gang, uint64_t address, uint32_t bytes) {
    const uint64_t size = gang->cta->shared_bytes;
    return address < size && bytes <= size - address && !(address & (bytes - 1)) ? gang->cta->shared + address : NULL;
}

static const char *quick_source(lw_gang *gang, lw_range *hint, uint64_t address, uint32_t given, uint32_t align) {
    if (address & (align - 1)) return NULL;
    if (!lw_hint_find(gang, hint, address, given ? given : 1)) return NULL;
    return hint->host + (address - hint->base);
}

/* Lanes that stand side by side and whose copies do, on both sides. */
typedef struct lw_run {
    lw_mask lanes;
    uint32_t first, count, given, group;
    char *to;
    const char *from;
} lw_run;

/* False: trapped. */
static bool find_copy(lw_gang *gang, const lw_op *op, uint32_t lane, lw_run *copy) {
    const uint64_t to = LW_SLOT(gang, uint64_t, op->a)[lane], from = LW_SLOT(gang, uint64_t, op->b)[lane];
    lw_range *hint = &gang->hints[(size_t)(op - gang->frame->code->ops) % LW_HINTS];
    copy->to = quick_target(gang, to, op->c);
    if (!copy->to) copy->to = lw_address_place(gang, op, LW_ACCESS_store, LW_WINDOW_shared, lane, to, op->c, op->c);
    if (!copy->to) return false;
    copy->from = quick_source(gang, hint, from, copy->given, op->c);
    if (!copy->from)
        copy->from = lw_address_place(gang, op, LW_ACCESS_load, LW_WINDOW_global, lane, from, copy->given, op->c);
    return copy->from;
}

static bool begin_run(lw_gang *gang, const lw_op *op, const lw_run *run) {
    lw_pending *p = run->count ? lw_async_add(gang, op, run->first, LW_CHAIN_copies) : NULL;
    if (!p) return !run->count;
    p->lanes = run->lanes, p->to = run->to, p->from = run->from, p->bytes = op->c, p->given = run->given;
    return true;
}

/* The copy of the next lane goes on where the run ends. */
static bool goes_on(const lw_run *run, const lw_run *copy, uint32_t bytes) {
    const size_t offset = (size_t)run->count * bytes;
    return copy->first == run->first + run->count && copy->group == run->group && copy->given == bytes &&
           run->given == bytes && run->to + offset == copy->to && run->from + offset == copy->from;
}

static bool begin_copies(lw_gang *gang, const lw_op *op, const uint32_t *sizes) {
    const uint32_t *groups = lw_async_groups(gang, LW_CHAIN_copies);
    lw_run run = {0};
    LW_FOR_LANES(lane, gang->mask) {
        lw_run copy = {.lanes = LW_MASK_BIT(lane), .first = lane, .count = 1};
        copy.given = sizes && sizes[lane] < op->c ? sizes[lane] : op->c;
        copy.group = groups[lane];
        if (!find_copy(gang, op, lane, &copy)) return false;
        if (run.count && goes_on(&run, &copy, op->c)) {
            run.lanes |= copy.lanes, run.count++;
            continue;
        }
        if (!begin_run(gang, op, &run)) return false;
        run = copy;
    }
    return begin_run(gang, op, &run);
}

const lw_op *lw_step_async_copy(lw_gang *gang, const lw_op *op) {
    const uint32_t *sizes = op->e == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint32_t, op->e);
    lw_mask more = 0;
    if (sizes) LW_FOR_LANES(lane, gang->mask) if (sizes[lane] > op->c) more |= LW_MASK_BIT(lane);
    if (more && lw_gang_undefined(gang, op, LW_D_note_source_size, more)) return NULL;
    return begin_copies(gang, op, sizes) ? op + 1 : NULL;
}

/* One more is pending at the object until the copies are done, unless the text has counted it already. NULL: trapped,
 * else its place. */
static char *expect_one(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at) {
    lw_mbarrier object;
    char *place = lw_mbarrier_find(gang, op, lane, at, &object);
    if (!place) return NULL;
    if (op->b && object.pending == LW_MBARRIER_MOST)
        return lw_mbarrier_trap(gang, op, lane, at, LW_MBARRIER_count), NULL;
    object.pending += op->b;
    lw_mbarrier_put(place, &object);
    return place;
}

const lw_op *lw_step_async_arrive(lw_gang *gang, const lw_op *op) {
    const lw_window window = (lw_window)lw_memory_unpack(op->c).window;
    LW_FOR_LANES(lane, gang->mask) {
        const lw_mbarrier_at at = {window, lw_address_of(gang, op, lane), "arrival"};
        char *place = expect_one(gang, op, lane, at);
        if (!place) return NULL;
        lw_pending *p = lw_async_add(gang, op, lane, LW_CHAIN_copies);
        if (!p) return NULL;
        p->arrives = true;
        lw_async_told(gang, p, place, at.address);
    }
    return op + 1;
}
