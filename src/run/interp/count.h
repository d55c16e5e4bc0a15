/* count.h: inside of profiles: what is numbered, what each thread counts, and the steps that do it (count.c). */
#ifndef LW_COUNT_H
#define LW_COUNT_H

#include "run/interp/interp.h"
#include "run/profile.h"

/* The last request of an access, and what it was for a GPU: mostly the next one has the same distances from lane to
 * lane, and only these, and where the first one lies in its sector or word, matter. */
typedef struct lw_memo {
    uint32_t lanes; /* 0: there was none */
    uint32_t low;
    uint64_t apart[LW_WARP_LANES]; /* from the first one */
    uint64_t below, above;         /* of these the most, either way */
    lw_request_pattern pattern;
    int64_t width;
    uint32_t sectors, bytes, rounds, least;
} lw_memo;

/* What one thread counted, numbered as the profile does it. */
typedef struct lw_shard {
    struct lw_shard *next;
    long switches;            /* of its thread, when that was last looked at */
    uint64_t *ticks;          /* per operation */
    uint64_t timed;           /* operations */
    uint32_t pause, chance;   /* operations until the next one that is timed; a random number */
    lw_profile_block *blocks; /* warps and lanes, times the instructions of the block */
    lw_profile_access *accesses;
    lw_memo *memos; /* per access */
} lw_shard;

typedef struct lw_first { /* of a function's, in what is numbered through the program */
    uint32_t op, block;
} lw_first;

struct lw_profile {
    lw_program *program;
    const lw_level *level;
    uint64_t number; /* as no other profile of the process has */
    pthread_mutex_t lock;
    lw_shard *shards;
    bool failed; /* there was no memory for one */
    lw_first *firsts;
    uint32_t *access_of; /* per operation: its first access, or LW_NO_SLOT */
    uint32_t op_count, block_count, access_count;
    lw_profile_access *accesses; /* what they are; without counts until they are summed */
    lw_profile_code *codes;
    double *seconds;
    lw_profile_block *blocks;
    lw_profile_sums sums;
    double clock;        /* when it began, by the clock … */
    uint64_t tick;       /* … and by ticks */
    uint64_t idle, much; /* ticks that reading them twice takes; so many that something else may have run meanwhile */
};

/* A counter of the processor that runs evenly and takes little to read; what a tick is the clock tells. */
static inline uint64_t lw_profile_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return (uint64_t)(lw_clock() * 1e9);
#endif
}

/* More requests of one pattern. */
static inline void lw_profile_add_pattern(lw_profile_access *to, lw_request_pattern pattern, uint64_t count,
                                          int64_t width) {
    if (!to->patterns[pattern]) to->widths[pattern] = width;
    else if (to->widths[pattern] != width) to->widths[pattern] = 0;
    to->patterns[pattern] += count;
}

/* Whether the addresses of 32 lanes, which a register and a number make, are so far apart from the first
 * one. In request.c: with vectors. */
bool lw_profile_are_apart_32(const uint32_t *slot, uint32_t add, const uint64_t *apart);
bool lw_profile_are_apart_64(const uint64_t *slot, const uint64_t *apart);

/* Of a program with a profile, what is linked for its operations. */
lw_step lw_profile_step, lw_profile_access_step;
void lw_profile_free_shards(lw_profile *profile);

#endif
