/* lent.c: memory that kernels reach, and that lies outside of what is reserved for devices: of the program itself, or
 * mapped to addresses that it chose. An allocation says where on the host it is, so that nothing else need know. */
#include "run/ranges.h"

#include <unistd.h>

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool is_free(const lw_memory *memory, uint64_t address, uint64_t size) {
    const lw_range *last = lw_spot_before(memory->ranges, lw_spot_above(memory->ranges, address + size - 1));
    return !last || lw_range_end(last) <= address;
}

/* ---- Of the program ----------------------------------------------------------------------------------------- */

/* Elsewhere there must be room for a page more. */
static bool find_place(const lw_memory *memory, uint64_t host, uint64_t size, lw_spot *spot, uint64_t *address) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (host >= LW_GLOBAL_BASE && is_free(memory, host, size)) {
        *spot = lw_spot_above(memory->ranges, *address = host);
        return true;
    }
    if (!lw_memory_find_room(memory, size + page, spot, address)) return false;
    *address += (host - *address) & (page - 1);
    return true;
}

bool lw_memory_lend(lw_memory *memory, char *host, uint64_t size, bool read_only, uint64_t *address) {
    const uint64_t at = (uintptr_t)host;
    lw_spot spot;
    if (!size || size > UINT64_MAX / 2 || at + size < at) return false;
    pthread_mutex_lock(&memory->lock);
    bool good = find_place(memory, at, size, &spot, address);
    const lw_range range = {
        .base = *address, .size = size, .host = host, .read_only = read_only, .owned = true, .lent = true};
    good = good && lw_ranges_insert(memory, spot, &range);
    pthread_mutex_unlock(&memory->lock);
    return good;
}

/* ---- At given addresses --------------------------------------------------------------------------------------- */

static bool follows(const lw_range *range, const lw_range *last) {
    return last && range && last->joined && range->joined && lw_range_end(last) == range->base &&
           last->host + last->size == range->host && last->read_only == range->read_only;
}

/* What cannot become one stays two, of which each is found. */
static void join_next(lw_memory *memory, uint64_t address) {
    const lw_ranges *ranges = memory->ranges;
    lw_spot above = lw_spot_above(ranges, address);
    const lw_range *range = lw_spot_before(ranges, above), *next = lw_spot_behind(ranges, above);
    if (!follows(next, range)) return;
    const uint64_t size = range->size + next->size;
    if (lw_ranges_resize(memory, above, size)) lw_ranges_take_out(memory, lw_spot_above(memory->ranges, address));
}

bool lw_memory_map(lw_memory *memory, uint64_t address, char *host, uint64_t size, bool read_only) {
    const lw_range range = {.base = address,
                            .size = size,
                            .host = host,
                            .read_only = read_only,
                            .owned = true,
                            .lent = true,
                            .joined = true};
    if (!size || address < LW_GLOBAL_BASE || address + size < address) return false;
    pthread_mutex_lock(&memory->lock);
    bool good = is_free(memory, address, size) &&
                lw_ranges_insert(memory, lw_spot_above(memory->ranges, address), &range);
    if (good) {
        join_next(memory, address);
        join_next(memory, address - 1); /* what is in front of it with it */
    }
    pthread_mutex_unlock(&memory->lock);
    return good;
}

/* Takes [address, end) out of the last allocation that it meets. */
static bool cut(lw_memory *memory, uint64_t address, uint64_t end, lw_spot above, lw_range from) {
    const uint64_t from_end = lw_range_end(&from), start = larger(address, from.base);
    if (from_end > end) { /* what is behind it stays, as one of its own */
        lw_range rest = from;
        rest.base = end, rest.size = from_end - end, rest.host += end - from.base;
        if (!lw_ranges_insert(memory, above, &rest)) return false;
        above = lw_spot_above(memory->ranges, from.base);
    }
    if (start > from.base) return lw_ranges_resize(memory, above, start - from.base);
    return lw_ranges_take_out(memory, lw_spot_back(memory->ranges, above));
}

bool lw_memory_unmap(lw_memory *memory, uint64_t address, uint64_t size) {
    const uint64_t end = address + size;
    bool good = size && end > address;
    pthread_mutex_lock(&memory->lock);
    for (uint64_t at = end; good;) {
        lw_spot above = lw_spot_above(memory->ranges, at - 1);
        const lw_range *range = lw_spot_before(memory->ranges, above);
        if (!range || lw_range_end(range) <= address) break;
        at = range->base; /* the next one to look at begins below */
        if (range->lent) good = cut(memory, address, end, above, *range);
        if (at <= address) break;
    }
    pthread_mutex_unlock(&memory->lock);
    return good;
}
