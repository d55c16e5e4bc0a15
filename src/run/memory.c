/* memory.c: device memory: one reserved stretch of host addresses, and where in it allocations go. */
#include "run/ranges.h"
#include "run/team.h"

#include <sys/mman.h>
#include <unistd.h>

#define LW_RESERVE_MOST  (1ull << 40)
#define LW_RESERVE_LEAST (64ull << 20)
#define LW_LOW_END       (1ull << 32)
#define LW_SPREAD        (64ull << 20) /* addresses that may lie unused before gaps are searched for */

typedef struct lw_zone {
    uint64_t from, to;
    uint64_t align; /* of allocations: a power of two */
} lw_zone;

static uint64_t align_up(uint64_t address, uint64_t align) { return (address + align - 1) & ~(align - 1); }
static uint64_t page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

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
    memory->ranges = lw_ranges_new(4);
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
    if (memory->common) munmap(memory->common, memory->common_size);
    lw_ranges_drop(memory->ranges);
    lw_team_drop(memory, 0, UINT64_MAX);
    pthread_mutex_destroy(&memory->lock);
    *memory = (lw_memory){0};
}

/* With the lock held. */
static bool open_common(lw_memory *memory) {
    if (!memory->common) memory->common = reserve(&memory->common_size);
    return memory->common;
}

/* With the lock held, or of an address that was taken. */
static bool is_common(const lw_memory *memory, uint64_t address) {
    const uint64_t from = (uintptr_t)memory->common;
    return from && address >= from && address - from < memory->common_size;
}

bool lw_memory_is_common(lw_memory *memory, uint64_t address) {
    pthread_mutex_lock(&memory->lock);
    const bool is = is_common(memory, address);
    pthread_mutex_unlock(&memory->lock);
    return is;
}

bool lw_memory_is_device(lw_memory *memory, uint64_t address) {
    return address - LW_GLOBAL_BASE < memory->reserved || lw_memory_is_common(memory, address);
}

/* The high zone is used unless the reservation is too small to have one. The common one is for pages of their own, as
 * programs protect what they have of the host by pages. */
static lw_zone zone_of(const lw_memory *memory, lw_zone_kind zone) {
    const uint64_t end = LW_GLOBAL_BASE + memory->reserved, common = (uintptr_t)memory->common;
    switch (zone) {
    case LW_ZONE_common: return (lw_zone){common, common + memory->common_size, page_size()};
    case LW_ZONE_high: return (lw_zone){LW_GLOBAL_HIGH, end > LW_GLOBAL_HIGH ? end : LW_GLOBAL_HIGH, LW_GRANULE};
    default: return (lw_zone){LW_GLOBAL_BASE, end < LW_LOW_END ? end : LW_LOW_END, LW_GRANULE};
    }
}

static lw_zone_kind zone_in_use(const lw_memory *memory) {
    lw_zone high = zone_of(memory, LW_ZONE_high);
    return !memory->low && high.to - high.from >= LW_LOW_END ? LW_ZONE_high : LW_ZONE_low;
}

char *lw_memory_host(const lw_memory *memory, uint64_t address) {
    if (is_common(memory, address)) return memory->common + (address - (uintptr_t)memory->common);
    return memory->host + (address - LW_GLOBAL_BASE);
}

bool lw_memory_reaches(lw_memory *memory, uint64_t address) {
    bool reaches = false;
    pthread_mutex_lock(&memory->lock);
    for (lw_zone_kind zone = LW_ZONE_low; zone <= LW_ZONE_high; zone++) {
        const lw_zone of = zone_of(memory, zone);
        const uint64_t used_to = memory->used_to[zone];
        reaches |= used_to && address >= of.from && address < of.to && address < used_to + LW_SPREAD;
    }
    pthread_mutex_unlock(&memory->lock);
    return reaches;
}

/* ---- Pages ---------------------------------------------------------------------------------------------- */

/* The whole pages inside of a stretch; an empty one where there are none. */
static void whole_pages(char *at, uint64_t size, char **from, char **to) {
    uintptr_t page = page_size();
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
    if (!last || lw_range_end(last) <= zone.from) return zone.from;
    return align_up(lw_range_start_after(last), zone.align);
}

/* The end of the room in front of the next one, guard taken off. */
static uint64_t room_before(const lw_range *next, lw_zone zone) {
    if (!next || next->base >= zone.to) return zone.to - LW_GRANULE;
    return lw_range_end_before(next);
}

static bool fits(const lw_memory *memory, lw_zone zone, lw_spot spot, uint64_t size, uint64_t *address) {
    uint64_t from = start_behind(lw_spot_before(memory->ranges, spot), zone),
             to = room_before(lw_spot_behind(memory->ranges, spot), zone);
    *address = from;
    return to >= from && size <= to - from;
}

/* Parts, and blocks of them, that have no such gap are passed over: the next spot to look at. */
static lw_spot pass_over(const lw_ranges *ranges, lw_spot spot, uint64_t size) {
    bool block = !spot.at && spot.part % LW_BLOCK_PARTS == 0 &&
                 lw_ranges_block_gaps(ranges)[spot.part / LW_BLOCK_PARTS] < size;
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
static bool find_gap(const lw_memory *memory, lw_zone_kind number, uint64_t size, lw_spot *spot, uint64_t *address) {
    const lw_ranges *ranges = memory->ranges;
    lw_zone zone = zone_of(memory, number);
    size = align_up(size, zone.align);
    uint64_t last = memory->last[number];
    lw_spot first = lw_spot_above(ranges, zone.from - 1), end = lw_spot_above(ranges, zone.to - 1),
            start = lw_spot_above(ranges, last < zone.from ? zone.from - 1 : last);
    if (find_between(memory, zone, start, end, size, spot, address)) return true;
    uint64_t filled = memory->used + 2ull * LW_GRANULE * ranges->count;
    bool sparse = memory->used_to[number] > zone.from + 2 * filled + LW_SPREAD;
    *spot = end;
    if (!sparse && fits(memory, zone, end, size, address)) return true;
    if (find_between(memory, zone, first, start, size, spot, address)) return true;
    *spot = end;
    return fits(memory, zone, end, size, address);
}

bool lw_memory_find_room(const lw_memory *memory, uint64_t size, lw_spot *spot, uint64_t *address) {
    return find_gap(memory, zone_in_use(memory), size, spot, address);
}

/* Every size that is within it can be rounded up. */
static bool has(const lw_memory *memory, uint64_t size) {
    return size <= memory->limit && memory->used <= memory->limit - size;
}

bool lw_memory_charge(lw_memory *memory, uint64_t size) {
    pthread_mutex_lock(&memory->lock);
    const bool good = has(memory, size);
    if (good) memory->used += size;
    pthread_mutex_unlock(&memory->lock);
    return good;
}

void lw_memory_discharge(lw_memory *memory, uint64_t size) {
    pthread_mutex_lock(&memory->lock);
    memory->used -= size;
    pthread_mutex_unlock(&memory->lock);
}

/* kind: of the allocation, its flags. */
static bool take(lw_memory *memory, lw_zone_kind zone, lw_range kind, uint64_t size, uint64_t *address) {
    lw_spot spot;
    if (!has(memory, size) || !find_gap(memory, zone, size, &spot, address)) return false;
    lw_range range = {.base = *address,
                      .size = size,
                      .host = lw_memory_host(memory, *address),
                      .constant = kind.constant,
                      .read_only = kind.read_only,
                      .owned = kind.owned};
    if (!lw_ranges_insert(memory, spot, &range)) return false;
    memory->used += size;
    memory->last[zone] = *address;
    uint64_t end = *address + lw_granule_up(size), used_to = memory->used_to[zone];
    if (*address < used_to) clear(lw_memory_host(memory, *address), (used_to < end ? used_to : end) - *address);
    if (end > used_to) memory->used_to[zone] = end;
    return true;
}

static bool take_locked(lw_memory *memory, bool common, lw_range kind, uint64_t size, uint64_t *address) {
    if (!size) return false;
    pthread_mutex_lock(&memory->lock);
    bool taken = (!common || open_common(memory)) &&
                 take(memory, common ? LW_ZONE_common : zone_in_use(memory), kind, size, address);
    pthread_mutex_unlock(&memory->lock);
    return taken;
}

bool lw_memory_take(lw_memory *memory, uint64_t size, uint64_t *address) {
    return take_locked(memory, false, (lw_range){0}, size, address);
}
bool lw_memory_take_common(lw_memory *memory, uint64_t size, uint64_t *address) {
    return take_locked(memory, true, (lw_range){0}, size, address);
}
bool lw_memory_take_variable(lw_memory *memory, uint64_t size, bool constant, bool common, uint64_t *address) {
    const lw_range kind = {.owned = true, .constant = constant, .read_only = constant};
    return take_locked(memory, common, kind, size, address);
}

bool lw_memory_open(lw_memory *memory, uint64_t address) {
    pthread_mutex_lock(&memory->lock);
    const lw_spot spot = lw_spot_above(memory->ranges, address);
    const lw_range *range = lw_spot_before(memory->ranges, spot);
    const bool open = !range || !range->constant || !range->read_only || lw_ranges_open(memory, spot);
    pthread_mutex_unlock(&memory->lock);
    return open;
}

/* Pages in which nothing is allocated any more go back to the system; they stay mapped and read as zero. */
static void return_pages(const lw_memory *memory, uint64_t address, uint64_t size) {
    const lw_range *below, *above;
    lw_ranges_near(memory->ranges, address, &below, &above);
    uint64_t page = page_size(), from = address & ~(page - 1), to = (address + size + page - 1) & ~(page - 1);
    if (below && lw_range_end(below) > from) from += page;
    if (above && above->base < to) to -= page;
    if (from < to) madvise(lw_memory_host(memory, from), to - from, MADV_DONTNEED);
}

static bool give(lw_memory *memory, uint64_t address) {
    lw_spot above = lw_spot_above(memory->ranges, address);
    const lw_range *found = lw_spot_before(memory->ranges, above);
    if (!found || found->base != address || found->lent) return false;
    uint64_t size = found->size;
    if (!lw_ranges_take_out(memory, lw_spot_back(memory->ranges, above))) return false;
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
