/* ranges.c: the list of what is allocated.
 *
 * It is sorted by address and made of parts of some dozens. Launches hold a reference while they run; a change
 * copies the part that it is in, and the list of the parts, if anybody does and otherwise works in place, so that a
 * program that allocates thousands of buffers does not pay for thousands of copies of thousands. */
#include "run/ranges.h"

#include <stdlib.h>

/* ---- Lists of allocations ------------------------------------------------------------------------------- */

lw_ranges *lw_ranges_new(uint32_t room) {
    lw_ranges *ranges =
        malloc(sizeof *ranges + room * sizeof ranges->parts[0] + (room / LW_BLOCK_PARTS + 1) * sizeof(uint64_t));
    if (!ranges) return NULL;
    atomic_init(&ranges->references, 1);
    ranges->state = 0;
    ranges->count = ranges->part_count = 0;
    ranges->room = room;
    return ranges;
}

static lw_ranges_part *part_new(const lw_range *from, uint32_t count) {
    lw_ranges_part *part = malloc(sizeof *part);
    if (!part) return NULL;
    atomic_init(&part->references, 1);
    part->count = count;
    if (count) memcpy(part->at, from, count * sizeof *from);
    return part;
}

static void part_drop(lw_ranges_part *part) {
    if (atomic_fetch_sub_explicit(&part->references, 1, memory_order_acq_rel) == 1) free(part);
}

void lw_ranges_drop(lw_ranges *ranges) {
    if (!ranges || atomic_fetch_sub_explicit(&ranges->references, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < ranges->part_count; i++) part_drop(ranges->parts[i].part);
    free(ranges);
}

/* In front of the first allocation that begins above an address. */
lw_spot lw_spot_above(const lw_ranges *ranges, uint64_t address) {
    uint32_t low = 0, high = ranges->part_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges->parts[middle].first <= address) low = middle + 1;
        else high = middle;
    }
    if (!low) return (lw_spot){0, 0};
    const lw_ranges_part *part = ranges->parts[low - 1].part;
    uint32_t at = 0, end = part->count;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (part->at[middle].base <= address) at = middle + 1;
        else end = middle;
    }
    return at < part->count ? (lw_spot){low - 1, at} : (lw_spot){low, 0};
}

const lw_range *lw_spot_behind(const lw_ranges *ranges, lw_spot spot) {
    return spot.part < ranges->part_count ? &ranges->parts[spot.part].part->at[spot.at] : NULL;
}

const lw_range *lw_spot_before(const lw_ranges *ranges, lw_spot spot) {
    if (spot.at) return &ranges->parts[spot.part].part->at[spot.at - 1];
    if (!spot.part) return NULL;
    const lw_ranges_part *part = ranges->parts[spot.part - 1].part;
    return &part->at[part->count - 1];
}

lw_spot lw_spot_back(const lw_ranges *ranges, lw_spot spot) {
    if (spot.at) return (lw_spot){spot.part, spot.at - 1};
    return (lw_spot){spot.part - 1, ranges->parts[spot.part - 1].part->count - 1};
}

void lw_ranges_near(const lw_ranges *ranges, uint64_t address, const lw_range **below, const lw_range **above) {
    lw_spot spot = lw_spot_above(ranges, address);
    *below = lw_spot_before(ranges, spot);
    *above = lw_spot_behind(ranges, spot);
}

const lw_range *lw_ranges_find(const lw_ranges *ranges, uint64_t address, uint64_t size) {
    const lw_range *range = lw_spot_before(ranges, lw_spot_above(ranges, address));
    if (!range) return NULL;
    uint64_t offset = address - range->base;
    return offset <= range->size && size <= range->size - offset ? range : NULL;
}

/* ---- Changing them --------------------------------------------------------------------------------------- */

static uint64_t next_state(void) {
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* A list that may be changed, with room for one more part: the current one where nobody else holds it. The lock is
 * held, so nobody can begin to hold it meanwhile. */
static lw_ranges *writable_ranges(lw_memory *memory) {
    lw_ranges *now = memory->ranges;
    bool alone = atomic_load_explicit(&now->references, memory_order_acquire) == 1;
    if (alone && now->part_count < now->room) {
        now->state = next_state();
        return now;
    }
    if (now->part_count > UINT32_MAX / 4) return NULL;
    lw_ranges *copy = lw_ranges_new(now->part_count + now->part_count / 2 + 4);
    if (!copy) return NULL;
    copy->state = next_state();
    copy->count = now->count;
    copy->part_count = now->part_count;
    memcpy(copy->parts, now->parts, now->part_count * sizeof now->parts[0]);
    memcpy(lw_ranges_block_gaps(copy), lw_ranges_block_gaps(now), (now->room / LW_BLOCK_PARTS + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < now->part_count; i++)
        atomic_fetch_add_explicit(&now->parts[i].part->references, 1, memory_order_relaxed);
    lw_ranges_drop(now);
    return memory->ranges = copy;
}

/* The same for a part of it. */
static lw_ranges_part *writable_part(lw_ranges *ranges, uint32_t number) {
    lw_ranges_part *now = ranges->parts[number].part;
    if (atomic_load_explicit(&now->references, memory_order_acquire) == 1) return now;
    lw_ranges_part *copy = part_new(now->at, now->count);
    if (!copy) return NULL;
    part_drop(now);
    return ranges->parts[number].part = copy;
}

/* What is known of a part, after it or the one in front of it has changed. */
static void describe_part(lw_ranges *ranges, uint32_t number) {
    if (number >= ranges->part_count) return;
    const lw_ranges_part *part = ranges->parts[number].part;
    const lw_range *last = lw_spot_before(ranges, (lw_spot){number, 0});
    uint64_t gap = 0;
    for (uint32_t i = 0; i < part->count; last = &part->at[i++]) {
        uint64_t start = last ? lw_range_start_after(last) : 0, end = lw_range_end_before(&part->at[i]);
        if (end > start && end - start > gap) gap = end - start;
    }
    ranges->parts[number].first = part->at[0].base;
    ranges->parts[number].gap = gap;
}

static void describe_block(lw_ranges *ranges, uint32_t block) {
    const uint32_t first = block * LW_BLOCK_PARTS;
    uint64_t gap = 0;
    for (uint32_t i = first; i < ranges->part_count && i < first + LW_BLOCK_PARTS; i++)
        if (ranges->parts[i].gap > gap) gap = ranges->parts[i].gap;
    lw_ranges_block_gaps(ranges)[block] = gap;
}

/* Where something changed, the part may have been split, or be gone: there were `parts` of them before. */
static void describe_around(lw_ranges *ranges, uint32_t number, uint32_t parts) {
    uint32_t from = number ? number - 1 : 0, to = ranges->part_count;
    for (uint32_t i = from; i <= number + 1; i++) describe_part(ranges, i);
    if (ranges->part_count == parts && number + 2 < to) to = number + 2;
    for (uint32_t block = from / LW_BLOCK_PARTS; block * LW_BLOCK_PARTS < to; block++) describe_block(ranges, block);
}

static void add_part(lw_ranges *ranges, uint32_t number, lw_ranges_part *part) {
    memmove(&ranges->parts[number + 1], &ranges->parts[number],
            (ranges->part_count - number) * sizeof ranges->parts[0]);
    ranges->parts[number].part = part;
    ranges->part_count++;
}

/* Half of a full part becomes one of its own. False: no memory. */
static bool split(lw_ranges *ranges, lw_spot *spot) {
    enum { HALF = LW_PART_RANGES / 2 };
    lw_ranges_part *part = writable_part(ranges, spot->part);
    lw_ranges_part *upper = part ? part_new(part->at + HALF, LW_PART_RANGES - HALF) : NULL;
    if (!upper) return false;
    part->count = HALF;
    add_part(ranges, spot->part + 1, upper);
    if (spot->at > HALF) *spot = (lw_spot){spot->part + 1, spot->at - HALF};
    return true;
}

/* Where a new allocation goes: behind those of the part in front where it may go there, as there mostly is nothing
 * behind. */
static bool make_room(lw_ranges *ranges, lw_spot *spot) {
    if (!spot->at && spot->part) *spot = (lw_spot){spot->part - 1, ranges->parts[spot->part - 1].part->count};
    bool last = spot->part + 1 >= ranges->part_count;
    if (!ranges->part_count || (last && spot->at == LW_PART_RANGES)) {
        lw_ranges_part *part = part_new(NULL, 0);
        if (!part) return false;
        add_part(ranges, ranges->part_count, part);
        *spot = (lw_spot){ranges->part_count - 1, 0};
        return true;
    }
    return ranges->parts[spot->part].part->count < LW_PART_RANGES || split(ranges, spot);
}

bool lw_ranges_insert(lw_memory *memory, lw_spot spot, const lw_range *range) {
    lw_ranges *ranges = writable_ranges(memory);
    uint32_t parts = ranges ? ranges->part_count : 0;
    if (!ranges || !make_room(ranges, &spot)) return false;
    lw_ranges_part *part = writable_part(ranges, spot.part);
    if (!part) return false;
    memmove(&part->at[spot.at + 1], &part->at[spot.at], (part->count - spot.at) * sizeof part->at[0]);
    part->at[spot.at] = *range;
    part->count++;
    ranges->count++;
    describe_around(ranges, spot.part, parts);
    return true;
}

bool lw_ranges_take_out(lw_memory *memory, lw_spot spot) {
    lw_ranges *ranges = writable_ranges(memory);
    lw_ranges_part *part = ranges ? writable_part(ranges, spot.part) : NULL;
    if (!part) return false;
    memmove(&part->at[spot.at], &part->at[spot.at + 1], (part->count - spot.at - 1) * sizeof part->at[0]);
    ranges->count--;
    uint32_t parts = ranges->part_count;
    if (!--part->count) {
        part_drop(part);
        ranges->part_count--;
        memmove(&ranges->parts[spot.part], &ranges->parts[spot.part + 1],
                (ranges->part_count - spot.part) * sizeof ranges->parts[0]);
    }
    describe_around(ranges, spot.part, parts);
    return true;
}

/* The allocation in front of a spot of the current list, to be changed; NULL: no memory. */
static lw_range *writable_range(lw_memory *memory, lw_spot spot, uint32_t *part_number) {
    lw_ranges *ranges = writable_ranges(memory);
    if (!ranges) return NULL;
    spot = lw_spot_back(ranges, spot);
    lw_ranges_part *part = writable_part(ranges, spot.part);
    *part_number = spot.part;
    return part ? &part->at[spot.at] : NULL;
}

bool lw_ranges_resize(lw_memory *memory, lw_spot spot, uint64_t size) {
    uint32_t part;
    lw_range *range = writable_range(memory, spot, &part);
    if (!range) return false;
    range->size = size;
    describe_around(memory->ranges, part, memory->ranges->part_count);
    return true;
}

bool lw_ranges_open(lw_memory *memory, lw_spot spot) {
    uint32_t part;
    lw_range *range = writable_range(memory, spot, &part);
    if (range) range->read_only = false;
    return range;
}
