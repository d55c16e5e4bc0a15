/* memory.c: device memory: one reserved stretch of host addresses, and the list of what is allocated in it.
 *
 * The list is sorted by address. Launches hold a reference while they run; a change copies the list if anybody does and otherwise
 * works in place, so that a program that allocates thousands of buffers does not pay for thousands of copies. */
#include "run/run.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LW_GRANULE = 256, /* alignment of allocations, and the least that stays free between two of them */
    /* More of it behind large ones: arrays of equal size are walked side by side, and a CPU takes a load for one of a store before it if the
     * lowest 12 bits of their addresses are the same. */
    LW_STAGGER = 10 * LW_GRANULE,
    LW_LARGE = 4096,
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

static lw_ranges *ranges_new(uint32_t room) {
    lw_ranges *ranges = malloc(sizeof *ranges + room * sizeof ranges->at[0]);
    if (!ranges) return NULL;
    atomic_init(&ranges->references, 1);
    ranges->count = 0;
    ranges->room = room;
    return ranges;
}

void lw_ranges_drop(lw_ranges *ranges) {
    if (ranges && atomic_fetch_sub_explicit(&ranges->references, 1, memory_order_acq_rel) == 1) free(ranges);
}

uint32_t lw_ranges_above(const lw_ranges *ranges, uint64_t address) {
    uint32_t low = 0, high = ranges->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges->at[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const lw_range *lw_ranges_find(const lw_ranges *ranges, uint64_t address, uint64_t size) {
    uint32_t above = lw_ranges_above(ranges, address);
    if (!above) return NULL;
    const lw_range *range = &ranges->at[above - 1];
    uint64_t offset = address - range->base;
    return offset <= range->size && size <= range->size - offset ? range : NULL;
}

/* A list that may be changed, with room for one more: the current one where nobody else holds it. The lock is held, so nobody can
 * begin to hold it meanwhile. */
static lw_ranges *writable_ranges(lw_memory *memory) {
    lw_ranges *now = memory->ranges;
    bool alone = atomic_load_explicit(&now->references, memory_order_acquire) == 1;
    if (alone && now->count < now->room) return now;
    if (now->count > UINT32_MAX / 4) return NULL;
    lw_ranges *copy = ranges_new(now->count + now->count / 2 + 16);
    if (!copy) return NULL;
    copy->count = now->count;
    memcpy(copy->at, now->at, now->count * sizeof now->at[0]);
    lw_ranges_drop(now);
    return memory->ranges = copy;
}

lw_ranges *lw_memory_hold(lw_memory *memory) {
    pthread_mutex_lock(&memory->lock);
    lw_ranges *ranges = memory->ranges;
    atomic_fetch_add_explicit(&ranges->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&memory->lock);
    return ranges;
}

/* ---- The reservation ------------------------------------------------------------------------------------ */

/* What the host grants depends on limits of the process and on its overcommit policy. */
static char *reserve(uint64_t *bytes) {
    for (uint64_t size = LW_RESERVE_MOST; size >= LW_RESERVE_LEAST; size /= 2) {
        void *host =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (host == MAP_FAILED) continue;
        madvise(host, size, MADV_DONTDUMP);
        *bytes = size;
        return host;
    }
    return NULL;
}

bool lw_memory_init(lw_memory *memory, uint64_t limit) {
    *memory = (lw_memory){.limit = limit};
    memory->ranges = ranges_new(16);
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

/* Zone 0 is what 32-bit addresses reach, zone 1 lies above; it is used unless the reservation is too small to have one. */
static lw_zone zone_of(const lw_memory *memory, int zone) {
    uint64_t end = LW_GLOBAL_BASE + memory->reserved;
    if (zone) return (lw_zone){LW_GLOBAL_HIGH, end > LW_GLOBAL_HIGH ? end : LW_GLOBAL_HIGH};
    return (lw_zone){LW_GLOBAL_BASE, end < LW_LOW_END ? end : LW_LOW_END};
}

static int zone_in_use(const lw_memory *memory) {
    lw_zone high = zone_of(memory, 1);
    return !memory->low && high.to - high.from >= LW_LOW_END;
}

static char *host_of(const lw_memory *memory, uint64_t address) {
    return memory->host + (address - LW_GLOBAL_BASE);
}

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

/* The first address from which an allocation behind range `before` of the list may start. */
static uint64_t start_behind(const lw_ranges *ranges, uint32_t before, lw_zone zone) {
    if (!before || ranges->at[before - 1].base < zone.from) return zone.from;
    const lw_range *last = &ranges->at[before - 1];
    return round_up(last->base + last->size) + LW_GRANULE + (last->size >= LW_LARGE ? LW_STAGGER : 0);
}

/* The end of the room in front of range `next`, guard taken off. */
static uint64_t room_before(const lw_ranges *ranges, uint32_t next, lw_zone zone) {
    if (next == ranges->count || ranges->at[next].base >= zone.to) return zone.to - LW_GRANULE;
    return ranges->at[next].base - LW_GRANULE;
}

static bool fits(const lw_memory *memory, lw_zone zone, uint32_t index, uint64_t size, uint64_t *address) {
    uint64_t from = start_behind(memory->ranges, index, zone), to = room_before(memory->ranges, index, zone);
    *address = from;
    return to >= from && size <= to - from;
}

/* The next gap that is large enough, from where the last one was found on. Only where much has become free are earlier gaps
 * looked at again: a search through all of them is then paid for by what it finds. */
static bool find_gap(const lw_memory *memory, int number, uint64_t size, uint32_t *index, uint64_t *address) {
    const lw_ranges *ranges = memory->ranges;
    lw_zone zone = zone_of(memory, number);
    uint32_t first = lw_ranges_above(ranges, zone.from - 1), end = lw_ranges_above(ranges, zone.to - 1);
    uint32_t start = lw_ranges_above(ranges, memory->last[number]);
    if (start < first) start = first;
    for (*index = start; *index < end; ++*index)
        if (fits(memory, zone, *index, size, address)) return true;
    uint64_t filled = memory->used + 2ull * LW_GRANULE * ranges->count;
    bool sparse = memory->used_to[number] > zone.from + 2 * filled + LW_SPREAD;
    if (!sparse && fits(memory, zone, end, size, address)) return true;
    for (*index = first; *index < start; ++*index)
        if (fits(memory, zone, *index, size, address)) return true;
    *index = end;
    return fits(memory, zone, end, size, address);
}

static bool take(lw_memory *memory, uint64_t size, bool read_only, uint64_t *address) {
    uint32_t at;
    int zone = zone_in_use(memory);
    if (size > memory->limit || memory->used > memory->limit - size || size > memory->reserved) return false;
    if (!find_gap(memory, zone, round_up(size), &at, address)) return false;
    lw_ranges *ranges = writable_ranges(memory);
    if (!ranges) return false;
    memmove(&ranges->at[at + 1], &ranges->at[at], (ranges->count - at) * sizeof ranges->at[0]);
    ranges->at[at] = (lw_range){.base = *address, .size = size, .host = host_of(memory, *address), .read_only = read_only};
    ranges->count++;
    memory->used += size;
    memory->last[zone] = *address;
    uint64_t end = *address + round_up(size), used_to = memory->used_to[zone];
    if (*address < used_to) clear(host_of(memory, *address), (used_to < end ? used_to : end) - *address);
    if (end > used_to) memory->used_to[zone] = end;
    return true;
}

static bool take_locked(lw_memory *memory, uint64_t size, bool read_only, uint64_t *address) {
    if (!size) return false;
    pthread_mutex_lock(&memory->lock);
    bool taken = take(memory, size, read_only, address);
    pthread_mutex_unlock(&memory->lock);
    return taken;
}

bool lw_memory_take(lw_memory *memory, uint64_t size, uint64_t *address) { return take_locked(memory, size, false, address); }
bool lw_memory_take_constant(lw_memory *memory, uint64_t size, uint64_t *address) { return take_locked(memory, size, true, address); }

/* Pages in which nothing is allocated any more go back to the system; they stay mapped and read as zero. `at` is the number of the
 * next allocation. */
static void return_pages(const lw_memory *memory, uint32_t at, uint64_t address, uint64_t size) {
    const lw_ranges *ranges = memory->ranges;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = address & ~(page - 1),
             to = (address + size + page - 1) & ~(page - 1);
    if (at && ranges->at[at - 1].base + ranges->at[at - 1].size > from) from += page;
    if (at < ranges->count && ranges->at[at].base < to) to -= page;
    if (from < to) madvise(host_of(memory, from), to - from, MADV_DONTNEED);
}

static bool give(lw_memory *memory, uint64_t address) {
    uint32_t above = lw_ranges_above(memory->ranges, address);
    if (!above || memory->ranges->at[above - 1].base != address) return false;
    lw_ranges *ranges = writable_ranges(memory);
    if (!ranges) return false;
    uint32_t at = above - 1;
    uint64_t size = ranges->at[at].size;
    memmove(&ranges->at[at], &ranges->at[at + 1], (ranges->count - at - 1) * sizeof ranges->at[0]);
    ranges->count--;
    memory->used -= size;
    return_pages(memory, at, address, size);
    return true;
}

bool lw_memory_give(lw_memory *memory, uint64_t address) {
    pthread_mutex_lock(&memory->lock);
    bool given = give(memory, address);
    pthread_mutex_unlock(&memory->lock);
    return given;
}
