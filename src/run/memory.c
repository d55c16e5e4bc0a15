/* memory.c: device memory: one reserved stretch of host addresses, and the list of what is allocated in it.
 *
 * The list is sorted by address and made of parts of some dozens. Launches hold a reference while they run; a change
 * copies the part that it is in, and the list of the parts, if anybody does and otherwise works in place, so that a
 * program that allocates thousands of buffers does not pay for thousands of copies of thousands. */
#include "run/run.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LW_GRANULE = 256, /* alignment of allocations, and the least that stays free between two of them */
    /* More of it behind large ones: arrays of equal size are walked side by side, and a CPU takes a load for one of a
     * store before it if the lowest 12 bits of their addresses are the same. */
    LW_STAGGER = 10 * LW_GRANULE,
    LW_LARGE = 4096,
    LW_BLOCK_PARTS = 64, /* that a search for a gap passes over at once */
};

#define LW_RESERVE_MOST  (1ull << 40)
#define LW_RESERVE_LEAST (64ull << 20)
#define LW_LOW_END       (1ull << 32)
#define LW_SPREAD        (64ull << 20) /* addresses that may lie unused before gaps are searched for */

typedef struct lw_zone {
    uint64_t from, to;
} lw_zone;

static uint64_t round_up(uint64_t size) { return (size + LW_GRANULE - 1) & ~(uint64_t)(LW_GRANULE - 1); }

/* ---- Lists of allocations ------------------------------------------------------------------------------- */

static uint64_t end_of(const lw_range *range) { return range->base + range->size; }

/* Where an allocation may begin behind another one, and where one must end in front of another one. */
static uint64_t start_after(const lw_range *last) {
    return round_up(end_of(last)) + LW_GRANULE + (last->size >= LW_LARGE ? LW_STAGGER : 0);
}

static uint64_t end_before(const lw_range *next) { return next->base - LW_GRANULE; }

static lw_ranges *ranges_new(uint32_t room) {
    lw_ranges *ranges =
        malloc(sizeof *ranges + room * sizeof ranges->parts[0] + (room / LW_BLOCK_PARTS + 1) * sizeof(uint64_t));
    if (!ranges) return NULL;
    atomic_init(&ranges->references, 1);
    ranges->state = 0;
    ranges->count = ranges->part_count = 0;
    ranges->room = room;
    return ranges;
}

/* Behind the room for parts: of each block of them, the largest of their gaps. */
static uint64_t *block_gaps(const lw_ranges *ranges) { return (uint64_t *)(ranges->parts + ranges->room); }

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

/* A place in a list: in front of allocation `at` of a part, or behind all, in front of none of a part that is not
 * there. */
typedef struct lw_spot {
    uint32_t part, at;
} lw_spot;

/* In front of the first allocation that begins above an address. */
static lw_spot spot_above(const lw_ranges *ranges, uint64_t address) {
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

static const lw_range *behind(const lw_ranges *ranges, lw_spot spot) {
    return spot.part < ranges->part_count ? &ranges->parts[spot.part].part->at[spot.at] : NULL;
}

static const lw_range *before(const lw_ranges *ranges, lw_spot spot) {
    if (spot.at) return &ranges->parts[spot.part].part->at[spot.at - 1];
    if (!spot.part) return NULL;
    const lw_ranges_part *part = ranges->parts[spot.part - 1].part;
    return &part->at[part->count - 1];
}

void lw_ranges_near(const lw_ranges *ranges, uint64_t address, const lw_range **below, const lw_range **above) {
    lw_spot spot = spot_above(ranges, address);
    *below = before(ranges, spot);
    *above = behind(ranges, spot);
}

const lw_range *lw_ranges_find(const lw_ranges *ranges, uint64_t address, uint64_t size) {
    const lw_range *range = before(ranges, spot_above(ranges, address));
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
    lw_ranges *copy = ranges_new(now->part_count + now->part_count / 2 + 4);
    if (!copy) return NULL;
    copy->state = next_state();
    copy->count = now->count;
    copy->part_count = now->part_count;
    memcpy(copy->parts, now->parts, now->part_count * sizeof now->parts[0]);
    memcpy(block_gaps(copy), block_gaps(now), (now->room / LW_BLOCK_PARTS + 1) * sizeof(uint64_t));
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
    const lw_range *last = before(ranges, (lw_spot){number, 0});
    uint64_t gap = 0;
    for (uint32_t i = 0; i < part->count; last = &part->at[i++]) {
        uint64_t start = last ? start_after(last) : 0, end = end_before(&part->at[i]);
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
    block_gaps(ranges)[block] = gap;
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

static bool insert(lw_memory *memory, lw_spot spot, const lw_range *range) {
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

static bool take_out(lw_memory *memory, lw_spot spot) {
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

lw_ranges *lw_memory_hold(lw_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    lw_ranges *ranges = memory->ranges;
    atomic_fetch_add_explicit(&ranges->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&memory->lock);
    return ranges;
}

/* ---- The reservation ------------------------------------------------------------------------------------ */

/* What the host grants depends on limits of the process and on its overcommit policy. Where it does not grant all, a
 * half of what it does grant is left for everything else that the process needs. */
static char *reserve(uint64_t *bytes) {
    for (uint64_t size = LW_RESERVE_MOST; size >= LW_RESERVE_LEAST; size /= 2) {
        void *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (host == MAP_FAILED) continue;
        if (size < LW_RESERVE_MOST && size > LW_RESERVE_LEAST) {
            size /= 2;
            munmap((char *)host + size, size);
        }
        madvise(host, size, MADV_DONTDUMP);
        *bytes = size;
        return host;
    }
    return NULL;
}

bool lw_memory_init(lw_memory *memory, uint64_t limit) {
    *memory = (lw_memory){.limit = limit};
    memory->ranges = ranges_new(4);
    memory->host = memory->ranges ? reserve(&memory->reserved) : NULL;
    if (memory->limit > memory->reserved) memory->limit = memory->reserved;
    if (memory->host && !pthread_mutex_init(&memory->lock, NULL)) return true;
    if (memory->host) munmap(memory->host, memory->reserved);
    lw_ranges_drop(memory->ranges);
    *memory = (lw_memory){0};
    return false;
}

void lw_memory_end(lw_memory *memory) {
    if (!memory->host) return;
    munmap(memory->host, memory->reserved);
    lw_ranges_drop(memory->ranges);
    pthread_mutex_destroy(&memory->lock);
    *memory = (lw_memory){0};
}

/* Zone 0 is what 32-bit addresses reach, zone 1 lies above; it is used unless the reservation is too small to have
 * one. */
static lw_zone zone_of(const lw_memory *memory, int zone) {
    uint64_t end = LW_GLOBAL_BASE + memory->reserved;
    if (zone) return (lw_zone){LW_GLOBAL_HIGH, end > LW_GLOBAL_HIGH ? end : LW_GLOBAL_HIGH};
    return (lw_zone){LW_GLOBAL_BASE, end < LW_LOW_END ? end : LW_LOW_END};
}

static int zone_in_use(const lw_memory *memory) {
    lw_zone high = zone_of(memory, 1);
    return !memory->low && high.to - high.from >= LW_LOW_END;
}

static char *host_of(const lw_memory *memory, uint64_t address) { return memory->host + (address - LW_GLOBAL_BASE); }

/* ---- Pages ---------------------------------------------------------------------------------------------- */

/* The whole pages inside of a stretch; an empty one where there are none. */
static void whole_pages(char *at, uint64_t size, char **from, char **to) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *from = (char *)(((uintptr_t)at + page - 1) & ~(page - 1));
    *to = (char *)(((uintptr_t)at + size) & ~(page - 1));
    if (*to < *from) *to = *from;
}

/* Clears what was in use before, also what a launch that outlived a buffer has written there since. */
static void clear(char *at, uint64_t size) {
    char *from, *to, *end = at + size;
    whole_pages(at, size, &from, &to);
    if (from >= to) {
        memset(at, 0, size);
        return;
    }
    memset(at, 0, (size_t)(from - at));
    memset(to, 0, (size_t)(end - to));
    if (madvise(from, (size_t)(to - from), MADV_DONTNEED)) memset(from, 0, (size_t)(to - from));
}

/* ---- Taking and giving back ------------------------------------------------------------------------------ */

/* The first address from which an allocation behind another may start. */
static uint64_t start_behind(const lw_range *last, lw_zone zone) {
    if (!last || last->base < zone.from) return zone.from;
    return start_after(last);
}

/* The end of the room in front of the next one, guard taken off. */
static uint64_t room_before(const lw_range *next, lw_zone zone) {
    if (!next || next->base >= zone.to) return zone.to - LW_GRANULE;
    return end_before(next);
}

static bool fits(const lw_memory *memory, lw_zone zone, lw_spot spot, uint64_t size, uint64_t *address) {
    uint64_t from = start_behind(before(memory->ranges, spot), zone),
             to = room_before(behind(memory->ranges, spot), zone);
    *address = from;
    return to >= from && size <= to - from;
}

/* Parts, and blocks of them, that have no such gap are passed over: the next spot to look at. */
static lw_spot pass_over(const lw_ranges *ranges, lw_spot spot, uint64_t size) {
    bool block = !spot.at && spot.part % LW_BLOCK_PARTS == 0 && block_gaps(ranges)[spot.part / LW_BLOCK_PARTS] < size;
    if (block) return (lw_spot){spot.part + LW_BLOCK_PARTS, 0};
    return ranges->parts[spot.part].gap < size ? (lw_spot){spot.part + 1, 0} : spot;
}

static bool in_front(lw_spot a, lw_spot b) { return a.part < b.part || (a.part == b.part && a.at < b.at); }

/* The first gap that is large enough between two spots, `to` not among them. */
static bool find_between(const lw_memory *memory, lw_zone zone, lw_spot from, lw_spot to, uint64_t size, lw_spot *spot,
                         uint64_t *address) {
    const lw_ranges *ranges = memory->ranges;
    for (*spot = from; in_front(*spot, to);) {
        lw_spot next = pass_over(ranges, *spot, size);
        if (!in_front(*spot, next)) {
            if (fits(memory, zone, *spot, size, address)) return true;
            bool last = spot->at + 1 == ranges->parts[spot->part].part->count;
            next = last ? (lw_spot){spot->part + 1, 0} : (lw_spot){spot->part, spot->at + 1};
        }
        *spot = next;
    }
    return false;
}

/* The next gap that is large enough, from where the last one was found on. Only where much has become free are earlier
 * gaps looked at again: a search through all of them is then paid for by what it finds. */
static bool find_gap(const lw_memory *memory, int number, uint64_t size, lw_spot *spot, uint64_t *address) {
    const lw_ranges *ranges = memory->ranges;
    lw_zone zone = zone_of(memory, number);
    uint64_t last = memory->last[number];
    lw_spot first = spot_above(ranges, zone.from - 1), end = spot_above(ranges, zone.to - 1),
            start = spot_above(ranges, last < zone.from ? zone.from - 1 : last);
    if (find_between(memory, zone, start, end, size, spot, address)) return true;
    uint64_t filled = memory->used + 2ull * LW_GRANULE * ranges->count;
    bool sparse = memory->used_to[number] > zone.from + 2 * filled + LW_SPREAD;
    *spot = end;
    if (!sparse && fits(memory, zone, end, size, address)) return true;
    if (find_between(memory, zone, first, start, size, spot, address)) return true;
    *spot = end;
    return fits(memory, zone, end, size, address);
}

/* kind: of the allocation, its flags. */
static bool take(lw_memory *memory, lw_range kind, uint64_t size, uint64_t *address) {
    lw_spot spot;
    int zone = zone_in_use(memory);
    if (size > memory->limit || memory->used > memory->limit - size || size > memory->reserved) return false;
    if (!find_gap(memory, zone, round_up(size), &spot, address)) return false;
    lw_range range = {.base = *address,
                      .size = size,
                      .host = host_of(memory, *address),
                      .read_only = kind.read_only,
                      .owned = kind.owned};
    if (!insert(memory, spot, &range)) return false;
    memory->used += size;
    memory->last[zone] = *address;
    uint64_t end = *address + round_up(size), used_to = memory->used_to[zone];
    if (*address < used_to) clear(host_of(memory, *address), (used_to < end ? used_to : end) - *address);
    if (end > used_to) memory->used_to[zone] = end;
    return true;
}

static bool take_locked(lw_memory *memory, lw_range kind, uint64_t size, uint64_t *address) {
    if (!size) return false;
    pthread_mutex_lock(&memory->lock);
    bool taken = take(memory, kind, size, address);
    pthread_mutex_unlock(&memory->lock);
    return taken;
}

bool lw_memory_take(lw_memory *memory, uint64_t size, uint64_t *address) {
    return take_locked(memory, (lw_range){0}, size, address);
}
bool lw_memory_take_variable(lw_memory *memory, uint64_t size, bool read_only, uint64_t *address) {
    return take_locked(memory, (lw_range){.owned = true, .read_only = read_only}, size, address);
}

/* Pages in which nothing is allocated any more go back to the system; they stay mapped and read as zero. */
static void return_pages(const lw_memory *memory, uint64_t address, uint64_t size) {
    const lw_range *below, *above;
    lw_ranges_near(memory->ranges, address, &below, &above);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = address & ~(page - 1),
             to = (address + size + page - 1) & ~(page - 1);
    if (below && end_of(below) > from) from += page;
    if (above && above->base < to) to -= page;
    if (from < to) madvise(host_of(memory, from), to - from, MADV_DONTNEED);
}

static bool give(lw_memory *memory, uint64_t address) {
    lw_spot above = spot_above(memory->ranges, address);
    const lw_range *found = before(memory->ranges, above);
    if (!found || found->base != address) return false;
    uint64_t size = found->size;
    lw_spot spot = above.at ? (lw_spot){above.part, above.at - 1}
                            : (lw_spot){above.part - 1, memory->ranges->parts[above.part - 1].part->count - 1};
    if (!take_out(memory, spot)) return false;
    memory->used -= size;
    return_pages(memory, address, size);
    return true;
}

bool lw_memory_give(lw_memory *memory, uint64_t address) {
    pthread_mutex_lock(&memory->lock);
    bool given = give(memory, address);
    pthread_mutex_unlock(&memory->lock);
    return given;
}
