/* ranges.h: lists of allocations, as those see them who change them: ranges.c and memory.c. */
#ifndef LW_RUN_RANGES_H
#define LW_RUN_RANGES_H

#include "run/run.h"

enum {
    LW_GRANULE = 256, /* alignment of allocations, and the least that stays free between two of them */
    /* More of it behind large ones: arrays of equal size are walked side by side, and a CPU takes a load for one of a
     * store before it if the lowest 12 bits of their addresses are the same. */
    LW_STAGGER = 10 * LW_GRANULE,
    LW_LARGE = 4096,
    LW_BLOCK_PARTS = 64, /* that a search for a gap passes over at once */
};

static inline uint64_t lw_granule_up(uint64_t size) { return (size + LW_GRANULE - 1) & ~(uint64_t)(LW_GRANULE - 1); }

static inline uint64_t lw_range_end(const lw_range *range) { return range->base + range->size; }

/* Where an allocation may begin behind another one, and where one must end in front of another one. */
static inline uint64_t lw_range_start_after(const lw_range *last) {
    return lw_granule_up(lw_range_end(last)) + LW_GRANULE + (last->size >= LW_LARGE ? LW_STAGGER : 0);
}

static inline uint64_t lw_range_end_before(const lw_range *next) { return next->base - LW_GRANULE; }

/* Behind the room for parts: of each block of them, the largest of their gaps. */
static inline uint64_t *lw_ranges_block_gaps(const lw_ranges *ranges) {
    return (uint64_t *)(ranges->parts + ranges->room);
}

/* A place in a list: in front of allocation `at` of a part, or behind all, in front of none of a part that is not
 * there. */
typedef struct lw_spot {
    uint32_t part, at;
} lw_spot;

/* In front of the first allocation that begins above an address. */
lw_spot lw_spot_above(const lw_ranges *ranges, uint64_t address);
const lw_range *lw_spot_behind(const lw_ranges *ranges, lw_spot spot);
const lw_range *lw_spot_before(const lw_ranges *ranges, lw_spot spot);

lw_ranges *lw_ranges_new(uint32_t room);
/* Changes of the current list; with the lock held. False: no memory, and nothing has changed. */
bool lw_ranges_insert(lw_memory *memory, lw_spot spot, const lw_range *range);
bool lw_ranges_take_out(lw_memory *memory, lw_spot spot);
/* Gives the allocation in front of a spot another size. */
bool lw_ranges_resize(lw_memory *memory, lw_spot spot, uint64_t size);
/* Lets kernels write it. */
bool lw_ranges_open(lw_memory *memory, lw_spot spot);
/* The spot in front of the allocation that is in front of one. */
lw_spot lw_spot_back(const lw_ranges *ranges, lw_spot spot);

/* Where an allocation of `size` bytes fits in the zone that is in use: memory.c. */
bool lw_memory_find_room(const lw_memory *memory, uint64_t size, lw_spot *spot, uint64_t *address);

#endif
