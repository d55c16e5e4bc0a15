/* bulk.c: copies and reductions of many bytes, stores and reductions of one value that go on by themselves, and zeros
 * (manual sections 9.7.9.12, 9.7.9.13, 9.7.9.25.4 and 9.7.13.7). */
#include "run/interp/async.h"

enum { LW_BULK_UNIT = 16, LW_FILL_UNIT = 8 }; /* bytes */

/* what: the instruction. */
static const lw_op *trap(lw_gang *gang, const lw_op *op, uint32_t lane, const char *what, lw_async_fault fault,
                         uint64_t value, uint32_t unit) {
    const lw_trap_record details = {.access = what, .address = value, .detail = fault, .size = unit};
    return lw_gang_trap(gang, op, LW_TRAP_async, lane, details);
}

bool lw_async_tell_at(lw_gang *gang, const lw_op *op, uint32_t lane, lw_pending *p, uint64_t address) {
    lw_mbarrier object;
    const lw_mbarrier_at at = {(lw_window)p->form.window, address, "completion"};
    char *place = lw_mbarrier_find(gang, op, lane, at, &object);
    if (place) lw_async_told(gang, p, place, address);
    return place;
}

/* ---- Arrays --------------------------------------------------------------------------------------------------- */

/* What one lane begins, where the addresses of target and object become those of another CTA. NULL: trapped. */
static lw_pending *begin_bulk_at(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t target, uint64_t object) {
    const lw_memory_form to = lw_memory_unpack((uint32_t)op->imm), from = lw_memory_unpack((uint32_t)(op->imm >> 32));
    const uint64_t source = LW_SLOT(gang, uint64_t, op->a)[lane];
    const uint32_t bytes = LW_SLOT(gang, uint32_t, op->b)[lane];
    const lw_chain chain = op->c == LW_NO_SLOT ? LW_CHAIN_bulk : LW_CHAIN_told;
    if (bytes % LW_BULK_UNIT) return trap(gang, op, lane, "bulk copy", LW_ASYNC_size, bytes, LW_BULK_UNIT), NULL;
    char *place = lw_address_place(gang, op, LW_ACCESS_store, to.window, lane, target, bytes, LW_BULK_UNIT);
    const char *source_place = NULL;
    if (place)
        source_place = lw_address_place(gang, op, LW_ACCESS_load, from.window, lane, source, bytes, LW_BULK_UNIT);
    lw_pending *p = source_place ? lw_async_add(gang, op, lane, chain) : NULL;
    if (!p) return NULL;
    p->to = place, p->from = source_place, p->bytes = p->given = bytes, p->form = to;
    lw_async_count(gang, p);
    return op->c == LW_NO_SLOT || lw_async_tell_at(gang, op, lane, p, object) ? p : NULL;
}

static uint64_t object_of(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    return op->c == LW_NO_SLOT ? 0 : LW_SLOT(gang, uint64_t, op->c)[lane];
}

static lw_pending *begin_bulk(lw_gang *gang, const lw_op *op, uint32_t lane) {
    return begin_bulk_at(gang, op, lane, LW_SLOT(gang, uint64_t, op->d)[lane], object_of(gang, op, lane));
}

uint64_t lw_shared_of(const lw_cta *cta, uint64_t address, uint32_t rank) {
    uint64_t offset;
    uint32_t before;
    if (!lw_shared_find(cta, address, &before, &offset)) return address;
    return lw_shared_in(cta, rank, offset);
}

/* Each CTA that the mask names gets the bytes where they are in this one, and its object there is told. False:
 * trapped. */
static bool copy_to_ctas(lw_gang *gang, const lw_op *op, uint32_t lane, uint16_t ctas) {
    const lw_cta *cta = gang->cta;
    const uint64_t target = LW_SLOT(gang, uint64_t, op->d)[lane], object = object_of(gang, op, lane);
    if (ctas >> cta->cluster->count) return trap(gang, op, lane, "bulk copy", LW_ASYNC_ctas, ctas, LW_BULK_UNIT), false;
    for (uint32_t rank = 0; rank < cta->cluster->count; rank++)
        if (ctas >> rank & 1 &&
            !begin_bulk_at(gang, op, lane, lw_shared_of(cta, target, rank), lw_shared_of(cta, object, rank)))
            return false;
    return true;
}

static bool copy_of_lane(lw_gang *gang, const lw_op *op, uint32_t lane) {
    const uint16_t mask = op->e == LW_NO_SLOT ? UINT16_MAX : LW_SLOT(gang, uint16_t, op->e)[lane];
    if (op->c != LW_NO_SLOT && op->e != LW_NO_SLOT) return copy_to_ctas(gang, op, lane, mask);
    lw_pending *p = begin_bulk(gang, op, lane);
    if (p) p->mask = mask;
    return p;
}

const lw_op *lw_step_bulk_copy(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!copy_of_lane(gang, op, lane)) return NULL;
    return op + 1;
}

static bool reduce_by(lw_pending *p, const lw_op *op) {
    if (!p) return false;
    p->reduces = true;
    p->kind = (uint8_t)op->mode;
    return true;
}

const lw_op *lw_step_bulk_reduce(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!reduce_by(begin_bulk(gang, op, lane), op)) return NULL;
    return op + 1;
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

static lw_pending *begin_store(lw_gang *gang, const lw_op *op, uint32_t lane) {
    const lw_memory_form form = lw_memory_unpack((uint32_t)op->imm);
    const uint64_t address = LW_SLOT(gang, uint64_t, op->a)[lane];
    const lw_window window = (lw_window)form.window;
    if (!lw_may_be_shared(window, address))
        return trap(gang, op, lane, op->code == LW_OP_async_reduce ? "red.async" : "st.async", LW_ASYNC_elsewhere,
                    address, LW_BULK_UNIT),
               NULL;
    char *place = lw_address_place(gang, op, LW_ACCESS_store, window, lane, address, 1u << form.size, op->e);
    lw_pending *p = place ? lw_async_add(gang, op, lane, LW_CHAIN_told) : NULL;
    if (!p) return NULL;
    p->to = place, p->bytes = p->given = 1u << form.size, p->form = form;
    p->value = LW_SLOT(gang, uint64_t, op->b)[lane];
    return lw_async_tell_at(gang, op, lane, p, object_of(gang, op, lane)) ? p : NULL;
}

const lw_op *lw_step_async_store(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!begin_store(gang, op, lane)) return NULL;
    return op + 1;
}

const lw_op *lw_step_async_reduce(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!reduce_by(begin_store(gang, op, lane), op)) return NULL;
    return op + 1;
}

/* ---- clusterlaunchcontrol --------------------------------------------------------------------------------------- */

/* Where the first CTA of a cluster that this one takes over would have been; all 0: there is none. */
static void ask_to_cancel(lw_grid *grid, uint64_t answer[2]) {
    const uint32_t *each = grid->cluster;
    uint64_t number;
    answer[0] = answer[1] = 0;
    if (!lw_grid_cancel(grid, &number)) return;
    const uint64_t across = grid->shape[0] / each[0], down = grid->shape[1] / each[1];
    answer[0] = LW_CANCELED | (number % across * each[0]) << 32;
    answer[1] = number / across % down * each[1] | (number / across / down * each[2]) << 32;
}

/* In two halves, of which the object is told each. False: trapped. */
static bool answer_at(lw_gang *gang, const lw_op *op, uint32_t lane, lw_memory_form form, uint64_t target,
                      uint64_t object, const uint64_t answer[2]) {
    form.size = 3;
    for (uint32_t k = 0; k < 2; k++) {
        char *place = lw_address_place(gang, op, LW_ACCESS_store, (lw_window)form.window, lane, target + 8 * k, 8,
                                       k ? 8 : LW_BULK_UNIT);
        lw_pending *p = place ? lw_async_add(gang, op, lane, LW_CHAIN_told) : NULL;
        if (!p) return false;
        p->to = place, p->bytes = p->given = 8, p->form = form;
        p->value = answer[k];
        if (!lw_async_tell_at(gang, op, lane, p, object)) return false;
    }
    return true;
}

static bool cancel_of_lane(lw_gang *gang, const lw_op *op, uint32_t lane) {
    const lw_cta *cta = gang->cta;
    lw_memory_form form = lw_memory_unpack((uint32_t)op->imm);
    uint64_t answer[2], target = LW_SLOT(gang, uint64_t, op->a)[lane], object = object_of(gang, op, lane);
    if (!lw_may_be_shared((lw_window)form.window, target))
        return trap(gang, op, lane, "clusterlaunchcontrol", LW_ASYNC_elsewhere, target, LW_BULK_UNIT), false;
    const uint64_t base = form.window == LW_WINDOW_generic ? LW_SHARED_WINDOW : 0;
    ask_to_cancel(cta->grid, answer);
    if (!op->b) return answer_at(gang, op, lane, form, target, object, answer);
    form.window = LW_WINDOW_cluster;
    for (uint32_t rank = 0; rank < cta->cluster->count; rank++)
        if (!answer_at(gang, op, lane, form, lw_shared_of(cta, target - base, rank),
                       lw_shared_of(cta, object - base, rank), answer))
            return false;
    return true;
}

const lw_op *lw_step_try_cancel(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!cancel_of_lane(gang, op, lane)) return NULL;
    return op + 1;
}

/* ---- Zeros ---------------------------------------------------------------------------------------------------- */

LW_RACY const lw_op *lw_step_fill(lw_gang *gang, const lw_op *op) {
    const lw_window window = (lw_window)lw_memory_unpack(op->c).window;
    LW_FOR_LANES(lane, gang->mask) {
        const uint64_t address = lw_address_of(gang, op, lane), bytes = LW_SLOT(gang, uint64_t, op->b)[lane];
        if (bytes % LW_FILL_UNIT) return trap(gang, op, lane, "st.bulk", LW_ASYNC_size, bytes, LW_FILL_UNIT);
        if (bytes && !lw_may_be_shared(window, address))
            return trap(gang, op, lane, "st.bulk", LW_ASYNC_elsewhere, address, LW_FILL_UNIT);
        const uint32_t some = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes; /* shared memory is smaller */
        char *place = lw_address_place(gang, op, LW_ACCESS_store, window, lane, address, some, LW_FILL_UNIT);
        if (!place) return NULL;
        memset(place, 0, some);
        gang->budget -= some / LW_BYTES_A_STEP;
    }
    return op + 1;
}
