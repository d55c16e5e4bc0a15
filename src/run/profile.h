/* profile.h: what launches of one program did: how often each block was entered and by how many lanes, how long each
 * operation took, and where its lanes went in memory.   lw_profile_begin → launches → lw_profile_sum → lw_profile_end
 *
 * A program that is profiled is linked with steps that count and then do what the interpreter's own steps do, so that
 * nothing pays for it that is not profiled. */
#ifndef LW_PROFILE_H
#define LW_PROFILE_H

#include "run/run.h"

/* ---- Requests: what the lanes of one warp ask of memory at once: request.c ------------------------------------- */

/* In this order the first that fits. */
typedef enum lw_request_pattern {
    LW_REQUEST_uniform,   /* one address */
    LW_REQUEST_unit,      /* neighbours in lane order, where a lane that is left out has its place, too */
    LW_REQUEST_stride,    /* the same distance from lane to lane, another one */
    LW_REQUEST_strips,    /* every 16, 8 or 4 lanes neighbours, or every so many at one address */
    LW_REQUEST_scattered, /* anything else */
    LW_REQUEST_PATTERNS
} lw_request_pattern;
extern const char *const lw_request_pattern_names[LW_REQUEST_PATTERNS];

typedef struct lw_request {
    uint32_t lanes; /* a bit each; at least one */
    uint32_t bytes; /* of a lane: a power of two, at most 64 */
    uint64_t address[LW_WARP_LANES];
} lw_request;

/* *width gets the bytes from lane to lane of a stride, the lanes of a strip, else 0. */
lw_request_pattern lw_request_find_pattern(const lw_request *request, int64_t *width);
enum { LW_SECTOR_BYTES = 32, LW_BANKS = 32, LW_BANK_BYTES = 4 };
/* Sectors of global memory that it touches; *bytes gets how many bytes are asked for in them, each once. */
uint32_t lw_request_sectors(const lw_request *request, uint32_t *bytes);
/* Rounds that the banks of a GPU's shared memory need for it: a bank gives one word a round, to all who want it. Of
 * more than a word a lane, so many lanes go together as have 128 bytes. *least gets the rounds without conflicts. */
uint32_t lw_request_rounds(const lw_request *request, uint32_t *least);

/* ---- Profiles: interp/profile.c ---------------------------------------------------------------------------------- */

typedef enum lw_profile_kind { LW_PROFILE_load, LW_PROFILE_store, LW_PROFILE_atomic } lw_profile_kind;

/* What one operation did in one window of memory. Requests of warps, of which each counts once for each window that
 * its lanes are in. */
typedef struct lw_profile_access {
    const lw_code *code; /* the interpreter's */
    uint32_t op;
    lw_profile_kind kind;
    lw_window window;
    uint64_t requests, lanes;
    uint64_t patterns[LW_REQUEST_PATTERNS];
    int64_t widths[LW_REQUEST_PATTERNS]; /* as lw_request_find_pattern gives them; 0: they differ */
    uint64_t sectors, bytes;
    uint64_t rounds, least_rounds;
} lw_profile_access;

typedef struct lw_profile_block {
    uint64_t warps, lanes; /* that entered it */
} lw_profile_block;

typedef struct lw_profile_code { /* of one function, by its number in the program */
    const lw_code *code;         /* the interpreter's */
    const lw_profile_block *blocks;
    const double *seconds; /* per operation, of all workers together, without what counting costs */
} lw_profile_code;

typedef struct lw_profile_sums {
    uint32_t code_count, access_count;
    const lw_profile_code *codes;
    const lw_profile_access *accesses; /* by function and operation; some have no requests */
} lw_profile_sums;

typedef struct lw_profile lw_profile;

/* From now on launches of a linked program are counted; compiled code is left aside. NULL: no memory. */
lw_profile *lw_profile_begin(lw_program *program, const lw_level *level);
/* What was counted so far; the profile owns it, and no launch may be going on. NULL: there was no memory, now or while
 * counting. */
const lw_profile_sums *lw_profile_sum(lw_profile *profile);
/* Adds what another operation did in a window of the same kind. */
void lw_profile_add(lw_profile_access *to, const lw_profile_access *from);
/* The program is linked as it was. NULL is fine. */
void lw_profile_end(lw_profile *profile);

#endif
