/* indexed.h: where lanes go by one number and an index each, times what a lane accesses (link/index.c). For memory.c,
 * once for each CPU level. All is in bytes from where index 0 is, so that accesses by other numbers and the same index
 * find it there, too. */
#ifndef LW_LEVEL_INDEXED_H
#define LW_LEVEL_INDEXED_H

#include "run/interp/level/apart.h"

LW_INLINE const lw_indexed_access *indexed_of(const lw_gang *gang, const lw_op *op) {
    const lw_code *code = gang->frame->code;
    return &code->indexed[code->indexed_at[op - code->ops]];
}

/* The operations that were passed over, where there is no way around them. */
__attribute__((noinline)) static void find_addresses(lw_gang *gang, const lw_indexed_access *at) {
    const lw_op *ops = gang->frame->code->ops;
    lw_step *const *steps = gang->cta->program->steps;
    for (uint32_t k = 0; k < at->part_count; k++) steps[ops[at->parts[k]].code](gang, &ops[at->parts[k]]);
}

LW_INLINE int64_t number_of(const lw_indexed_access *at, uint32_t index) {
    return at->is_signed ? (int32_t)index : (int64_t)index;
}

/* So many indices from this one on are numbers in a row: none comes round. */
LW_INLINE bool is_row(const lw_indexed_access *at, int64_t first, uint32_t count) {
    return first + count - 1 <= (at->is_signed ? INT32_MAX : (int64_t)UINT32_MAX);
}

/* Strips as fill_strips finds them, of neighbours or of lanes at one place. */
static bool fill_index_strips(const lw_indexed_access *at, const lw_any32 *r, uint32_t shift, lw_reach *reach) {
    const uint32_t first = reach->first, end = first + reach->count, step = r[first + 1] - r[first],
                   places = step ? LW_STRIP : 1;
    if (step > 1 || !are_strips_32(r, first, end, step)) return false;
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t *to = reach->strips;
    for (uint32_t strip = first; strip < end; strip += LW_STRIP) {
        const int64_t index = number_of(at, r[strip]);
        *to++ = (uint64_t)index << shift;
        low = index < low ? index : low;
        high = index > high ? index : high;
    }
    reach->pattern = LW_STRIPS;
    reach->step = step << shift;
    reach->offset = (uint64_t)low << shift, reach->room = (uint64_t)(high - low + places) << shift;
    return is_row(at, high, places);
}

/* Which pattern the indices of the executing lanes have, and what of memory that is: `room` bytes from `offset` on.
 * False: none. */
LW_INLINE bool look_at_index(lw_gang *gang, lw_memory_form form, const lw_indexed_access *at, lw_reach *reach) {
    const lw_any32 *r = LW_SLOT(gang, lw_any32, at->index);
    const uint32_t shift = form.size + form.vector;
    find_lanes(gang, reach);
    reach->pattern = find_pattern_32(r, gang, reach, 1);
    if (LW_UNLIKELY(reach->pattern == LW_EACH))
        return reach->run && reach->count % LW_STRIP == 0 && !form.vector && fill_index_strips(at, r, shift, reach);
    const int64_t first = number_of(at, r[reach->first]);
    const uint32_t places = reach->pattern == LW_UNIT ? reach->count : 1;
    reach->at = reach->offset = (uint64_t)first << shift;
    reach->room = (uint64_t)places << shift;
    reach->step = 1u << shift;
    part_neighbours(reach, form);
    return is_row(at, first, places);
}

/* Each its own way, around the first lane's place: by distances that gathers take as signed numbers. base: where
 * index 0 is. */
static bool find_apart_by_index(lw_gang *gang, lw_memory_form form, const lw_indexed_access *at, uint64_t base,
                                const lw_home *home, lw_reach *reach) {
    const uint32_t bytes = lw_memory_bytes(form), shift = form.size + form.vector, begin = gang->begin;
    const lw_any32 *r = LW_SLOT(gang, lw_any32, at->index);
    const int64_t away = (int64_t)(base - home->base), far = INT32_MAX >> (shift + 1);
    const int64_t first = number_of(at, r[reach->first]), least = at->is_signed ? INT32_MIN : 0,
                  most = at->is_signed ? INT32_MAX : (int64_t)UINT32_MAX;
    int64_t low = -(away >> shift), high = (int64_t)(home->size - bytes - (uint64_t)away) >> shift;
    if ((home->base | (uint64_t)away) & (bytes - 1)) return false;
    low = low < least ? least : low, high = high > most ? most : high;
    low = low < first - far ? first - far : low, high = high > first + far ? first + far : high;
    if (low > high) return false;
    const lw_field field = {.base = (uint64_t)low, .room = (uint32_t)(high - low), .bytes = 1};
    reach->pattern = LW_APART;
    reach->host = (uintptr_t)home->host + (uint64_t)away + ((uint64_t)low << shift);
    return find_apart_32(gang->distance + begin, r + begin, &field, shift, gang->lanes - begin, gang->mask >> begin);
}

/* Where the lanes of an access go, and what to add to that on the host. NULL: their addresses are needed. */
LW_INLINE const lw_reach *find_by_index(lw_gang *gang, const lw_op *op, lw_memory_form form,
                                        const lw_indexed_access *at, uintptr_t *host) {
    const uint32_t bytes = lw_memory_bytes(form), shift = form.size + form.vector;
    lw_index_row *row = &gang->rows[at->row];
    lw_reach *reach = &row->reach;
    bool in_rows = true;
    if (!at->follows || row->mask != gang->mask) {
        row->mask = 0;
        in_rows = look_at_index(gang, form, at, reach);
        if (in_rows && at->leads) row->mask = gang->mask;
    }
    lw_home home = {0};
    const uint64_t base = LW_SLOT(gang, lw_any64, at->base)[reach->first] + op->imm;
    const lw_any32 *index = LW_SLOT(gang, lw_any32, at->index);
    const uint64_t from = base + (in_rows ? reach->offset : (uint64_t)number_of(at, index[reach->first]) << shift);
    if (LW_UNLIKELY(!find_home(gang, op, form, from, bytes, &home) || !home.host)) return NULL;
    reach->read_only = home.read_only;
    if (LW_UNLIKELY(!in_rows)) {
        if (!find_apart_by_index(gang, form, at, base, &home, reach)) return NULL;
        *host = reach->host;
        return reach;
    }
    if (LW_UNLIKELY(home.size < reach->room || from - home.base > home.size - reach->room || base & (bytes - 1)))
        return NULL;
    *host = (uintptr_t)home.host + (uintptr_t)(base - home.base);
    return reach;
}

#endif
