/* run.h: device memory, CTAs and gangs of lanes, traps, the worker pool.   memory → gang → trap → launch
 *
 * One worker thread runs one CTA at a time to its end or to a switch; a CTA's gangs take turns on that thread, so
 * shared memory needs no locks. Everything that runs lives in these structures, never on the C stack, so that a gang
 * can stop anywhere and go on later. */
#ifndef LW_RUN_H
#define LW_RUN_H

#include "base/origin.h"
#include "middle/program.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Masks: one bit for each lane of a gang ------------------------------------------------------------ */

typedef unsigned __int128 lw_mask;
#define LW_MASK_ALL       (~(lw_mask)0)
#define LW_MASK_BIT(lane) ((lw_mask)1 << (lane))

/* What __builtin_popcountll is for the baseline calls a function of libgcc, which looks bytes up in a table. Where a
 * level has an instruction, gcc sees what this is and takes it. */
static inline uint32_t lw_bits_count(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(x * 0x0101010101010101 >> 56);
}
static inline uint32_t lw_mask_count(lw_mask m) {
    return lw_bits_count((uint64_t)m) + lw_bits_count((uint64_t)(m >> 64));
}
static inline uint32_t lw_mask_first(lw_mask m) { /* m != 0 */
    return (uint64_t)m ? (uint32_t)__builtin_ctzll((uint64_t)m) : 64 + (uint32_t)__builtin_ctzll((uint64_t)(m >> 64));
}
static inline uint32_t lw_mask_last(lw_mask m) { /* m != 0 */
    uint64_t high = (uint64_t)(m >> 64);
    return high ? 127 - (uint32_t)__builtin_clzll(high) : 63 - (uint32_t)__builtin_clzll((uint64_t)m);
}
/* The 32 bits of one warp of the gang. */
static inline uint32_t lw_mask_warp(lw_mask m, uint32_t warp) { return (uint32_t)(m >> (32 * warp)); }
/* … and lanes of one warp among those of the gang. */
static inline lw_mask lw_mask_of_warp(uint32_t lanes, uint32_t warp) { return (lw_mask)lanes << (32 * warp); }
/* Those of 32 lanes from this one on, read by themselves: masks are stored in halves, and to read 128 bits behind that
 * waits; to shift these costs more than what they are for. */
static inline uint32_t lw_mask_bits(const lw_mask *mask, uint32_t from) {
    uint32_t bits;
    memcpy(&bits, (const char *)mask + from / 8, sizeof bits);
    return bits;
}
#define LW_FOR_LANES(lane, mask) \
    for (lw_mask todo_ = (mask); todo_; todo_ &= todo_ - 1) \
        for (uint32_t lane = lw_mask_first(todo_), once_ = 1; once_; once_ = 0)

/* ---- Device memory ------------------------------------------------------------------------------------- */

/* One live allocation: device addresses [base, base + size) and where they are on the host. */
typedef struct lw_range {
    uint64_t base, size;
    char *host;
    bool constant;  /* ld.const reads nothing else */
    bool read_only; /* kernels do not write it */
    bool owned;     /* by a module, or by whom it was lent: not the program's to free */
    bool lent;      /* lies outside of the reservation */
    bool joined;    /* … and becomes one with what is mapped beside it */
} lw_range;

enum { LW_PART_RANGES = 64 };

/* Some of the allocations, shared by the lists that have the same. */
typedef struct lw_ranges_part {
    atomic_uint references;
    uint32_t count; /* at least one */
    lw_range at[LW_PART_RANGES];
} lw_ranges_part;

/* An immutable list of the allocations, sorted by base; launches keep a reference, so that look-ups need no lock. */
typedef struct lw_ranges {
    atomic_uint references;
    uint64_t state; /* no other list of the process, and none that this one was before, has that number */
    uint32_t count; /* allocations */
    uint32_t part_count, room;
    struct {
        uint64_t first; /* base of its first one */
        uint64_t gap;   /* no more than this can be allocated in front of any of them */
        lw_ranges_part *part;
    } parts[];
} lw_ranges;

/* What 32-bit addresses reach, what lies above, and what has the same addresses on the host. */
typedef enum lw_zone_kind { LW_ZONE_low, LW_ZONE_high, LW_ZONE_common, LW_ZONES } lw_zone_kind;

/* Device memory of a context: one reserved stretch of host addresses that mirrors device addresses from LW_GLOBAL_BASE
 * on, and, once somebody asks for it, another one where device addresses are those of the host. All of both stays
 * readable and writable, so that no access that passed the check can fault, whatever is freed meanwhile. */
typedef struct lw_memory {
    pthread_mutex_t lock;
    char *host;             /* of device address LW_GLOBAL_BASE */
    uint64_t reserved;      /* bytes */
    _Atomic(char *) common; /* the other stretch; NULL: not there yet */
    uint64_t common_size;
    uint64_t used, limit;
    bool low;                   /* a module with 32-bit addresses is loaded: allocate below 4 GiB */
    lw_ranges *ranges;          /* current; replaced as a whole while anybody else holds it */
    uint64_t last[LW_ZONES];    /* of each zone: the latest allocation */
    uint64_t used_to[LW_ZONES]; /* nothing was ever allocated above */
    struct lw_team *teams;      /* run/team.h */
} lw_memory;

bool lw_memory_init(lw_memory *memory, uint64_t limit);
void lw_memory_end(lw_memory *memory);
/* Zeroed, aligned to 256 bytes (guarded by at least 256 unallocated bytes on each side). False: no memory. */
bool lw_memory_take(lw_memory *memory, uint64_t size, uint64_t *address);
/* Likewise, where the host has the same address; aligned to pages. */
bool lw_memory_take_common(lw_memory *memory, uint64_t size, uint64_t *address);
/* Likewise, for a variable of a module; constant: which kernels only read; common: the host has it at the same address.
 */
bool lw_memory_take_variable(lw_memory *memory, uint64_t size, bool constant, bool common, uint64_t *address);
/* From now on kernels may write that constant, too. False: no memory. */
bool lw_memory_open(lw_memory *memory, uint64_t address);
bool lw_memory_give(lw_memory *memory, uint64_t address); /* false where no allocation begins there */
/* Whether an address is among those that were ever taken in the reservation, or not far above. */
bool lw_memory_reaches(lw_memory *memory, uint64_t address);
char *lw_memory_host(const lw_memory *memory, uint64_t address); /* of what was taken */
bool lw_memory_is_common(lw_memory *memory, uint64_t address);   /* allocated or not */
bool lw_memory_is_device(lw_memory *memory, uint64_t address);   /* common, or an address that only the device has */
/* Memory that lies elsewhere on the host and stays there until it is unmapped: at the host's own address where kernels
 * can reach it and nothing is in the way, otherwise at one that is as far from the beginning of a page. */
bool lw_memory_lend(lw_memory *memory, char *host, uint64_t size, bool read_only, uint64_t *address);
/* The same at a given address, where nothing may be; what follows what is mapped, here and on the host, becomes one
 * allocation with it. */
bool lw_memory_map(lw_memory *memory, uint64_t address, char *host, uint64_t size, bool read_only);
bool lw_memory_unmap(lw_memory *memory, uint64_t address, uint64_t size); /* whatever of it was lent or mapped */
/* Counts memory that is not taken from here. False: there is not so much. */
bool lw_memory_charge(lw_memory *memory, uint64_t size);
void lw_memory_discharge(lw_memory *memory, uint64_t size);
lw_ranges *lw_memory_hold(lw_memory *memory); /* a reference to the current list */
void lw_ranges_drop(lw_ranges *ranges);
/* The last allocation that begins at or below an address and the first above it; NULL where there is none. */
void lw_ranges_near(const lw_ranges *ranges, uint64_t address, const lw_range **below, const lw_range **above);
/* The allocation that holds all of [address, address + size), or NULL. */
const lw_range *lw_ranges_find(const lw_ranges *ranges, uint64_t address, uint64_t size);

/* ---- Traps --------------------------------------------------------------------------------------------- */

typedef enum lw_trap_kind {
    LW_TRAP_none,
#define TRAP(name, where, says, address, result) LW_TRAP_##name,
#include "traps.def"
    LW_TRAP_stopped, /* time limit, step limit, lw_context_stop: no fault of the kernel, and no row */
} lw_trap_kind;

/* Of an access to the shared memory of another CTA of the cluster, why it cannot be: lw_trap_record.detail. */
typedef enum lw_away {
    LW_AWAY_not,
    LW_AWAY_nowhere, /* the cluster has no such CTA */
    LW_AWAY_ended,
    LW_AWAY_unsaid, /* .shared is that of the CTA itself */
    LW_AWAY_beyond, /* it has less */
} lw_away;

/* What nobody may do with an mbarrier object (manual section 9.7.13.15). */
typedef enum lw_mbarrier_fault {
    LW_MBARRIER_good,
    LW_MBARRIER_absent,       /* none is there */
    LW_MBARRIER_elsewhere,    /* the address is not in shared memory */
    LW_MBARRIER_count,        /* of arrivals: 0, or more than an object can count */
    LW_MBARRIER_arrivals,     /* more than are pending */
    LW_MBARRIER_drops,        /* more than are expected */
    LW_MBARRIER_completes,    /* .noComplete would complete the phase */
    LW_MBARRIER_transactions, /* the tx-count leaves its range */
    LW_MBARRIER_FAULTS
} lw_mbarrier_fault;

/* … and with asynchronous operations. */
typedef enum lw_async_fault {
    LW_ASYNC_size,        /* no multiple of 16 bytes, or of what st.bulk fills at a time */
    LW_ASYNC_ctas,        /* the mask names CTAs that the cluster does not have */
    LW_ASYNC_elsewhere,   /* the address is not in shared memory */
    LW_ASYNC_map,         /* there is no tensor map … */
    LW_ASYNC_broken,      /* … or one that says what none can: `why` */
    LW_ASYNC_rank,        /* it has other dimensions than the instruction: `size` */
    LW_ASYNC_mode,        /* it is of another mode */
    LW_ASYNC_coordinates, /* a GPU ends the launch at such ones, or no text says what they mean: `why` */
    LW_ASYNC_pair,        /* what is told is not in a CTA that can be: `why` */
    LW_ASYNC_reduction,   /* its elements have no such one */
    LW_ASYNC_field,       /* no map has such a value there */
    LW_ASYNC_FAULTS
} lw_async_fault;

/* … and with textures, samplers and surfaces. `address` of the record is the handle, `access` what messages call it, or
 * NULL. */
typedef enum lw_texture_fault {
    LW_TEXTURE_FAULT_none,
    LW_TEXTURE_FAULT_handle, /* it is none */
    LW_TEXTURE_FAULT_kind,   /* … and what was needed: the lw_texture_kind behind it */
    LW_TEXTURE_FAULT_unbound = LW_TEXTURE_FAULT_kind + 4,
    LW_TEXTURE_FAULT_memory,   /* … of its texels is not allocated */
    LW_TEXTURE_FAULT_geometry, /* the instruction is for another kind of image */
    LW_TEXTURE_FAULT_outside,  /* of a surface; `texts` are the coordinates, `size` the layer */
} lw_texture_fault;

/* Threads that stand at one place. */
enum { LW_CROWDS = 3 };
typedef struct lw_crowd {
    lw_place place;
    uint32_t barrier, count; /* barrier: as in lw_wait; count: 0: nobody stands there */
    uint64_t address;        /* of the object that they wait for */
} lw_crowd;

/* Of a deadlock at a barrier or an object, what it lacks. */
typedef struct lw_trap_lack {
    uint32_t came, needed; /* threads; needed: 0: all that have not exited. Of an object, arrivals */
    int32_t transactions;  /* of an object */
    bool is_alone;         /* nobody of the CTA has exited */
} lw_trap_lack;

typedef struct lw_trap_record {
    lw_trap_kind kind;
    const lw_code *code;
    lw_place place;
    const char *access; /* "load", "store", "atomic" … */
    lw_window window;
    uint32_t size;
    uint64_t address;
    uint32_t cta[3], thread[3];
    uint32_t warp, lane;
    uint32_t detail;       /* barrier number, brx index … */
    const char *why;       /* of a tensor map that is none */
    uint64_t base, length; /* of an array, in bytes and elements */
    uint64_t texts[3];     /* of an assertion: addresses of expression, file and function */
    lw_trap_lack lack;
    lw_crowd crowds[LW_CROWDS]; /* of a deadlock: those that wait for something else */
} lw_trap_record;

/* ---- Frames: activations of functions ------------------------------------------------------------------ */

/* One activation, shared by the lanes that made the call together. `owned` are those that have not returned from it
 * (they may be in a function called from here) and have not exited. */
typedef struct lw_frame {
    const lw_code *code;
    struct lw_frame *caller;
    struct lw_frame *next, *previous; /* all frames of the gang, deepest first */
    const lw_call *call;              /* in the caller */
    lw_mask owned;
    uint64_t size;        /* bytes of it all */
    uint32_t ready_count; /* blocks with a bit in `ready` */
    uint32_t local_base,
        local_end; /* of this frame's local memory, per lane: its lanes reach all that is below the end */
    uint32_t depth;
    /* Who has written its registers: nobody yet, compiled code that takes a warp at a time alone, or others, too. */
    enum { LW_FRAME_new, LW_FRAME_pure, LW_FRAME_mixed } written;
    uint64_t launch;  /* whose steady registers it has; 0: of none */
    uint64_t *ready;  /* bit per block: has pending lanes that can run; then a bit per word of these that is not 0, and
                         so on up to one word */
    lw_mask *pending; /* per block: lanes that go on there */
    char *regs;       /* register slots, 64-byte aligned */
} lw_frame;

/* Lanes that wait at a CTA barrier, or for the end of a phase of an mbarrier object. They go on in `block` of
 * `frame`. */
typedef struct lw_wait {
    lw_frame *frame;
    const lw_op *op;
    uint32_t block;
    uint32_t barrier; /* LW_OBJECT_WAIT: an object */
    lw_mask lanes;
    char *object;
    uint64_t address; /* of it, as the lanes have it */
    bool phase;       /* the parity that is to end */
} lw_wait;

/* ---- Gang ---------------------------------------------------------------------------------------------- */

struct lw_cta;
typedef struct lw_cta lw_cta;

typedef enum lw_gang_state { LW_GANG_ready, LW_GANG_waiting, LW_GANG_done, LW_GANG_trapped } lw_gang_state;

enum { LW_HINTS = 32, LW_NOTES = 64 };

typedef enum lw_pattern {
    LW_UNIFORM, /* all lanes at one address */
    LW_UNIT,    /* neighbours, in lane order: moved many at once */
    LW_STEP,    /* `step` bytes from lane to lane: moved one by one */
    LW_STRIPS,  /* every LW_STRIP lanes neighbours or at one address, of which `strips` has the first */
    LW_APART,   /* each its own way: gang->distance says, good ones of lanes that do not execute, too */
    LW_EACH,    /* gang->address has the host's places */
} lw_pattern;

enum { LW_STRIP = 16 }; /* tiles of CTAs are often so wide, and whole warps are two of them */

/* Where the lanes of a gang go in memory: level/memory.c. */
typedef struct lw_reach {
    lw_pattern pattern;
    bool run; /* the active lanes are exactly first … first + count - 1 */
    bool read_only;
    bool is_known;         /* offset and room are: not of LW_APART and LW_EACH, nor of local memory */
    uint32_t first, count; /* otherwise they lie in between; the first and the last are active in any case */
    uint32_t step;         /* LW_STRIPS: 0 where a strip is at one address */
    uint64_t at;           /* address of the first one */
    uint64_t offset, room; /* of the lowest one in its allocation, and what that can be at most */
    uintptr_t host;        /* to be added to addresses */
    uint64_t strips[LW_GANG_LANES / LW_STRIP];
} lw_reach;

/* Where those went that executed an access last, for others behind it: link/trail.c. */
typedef struct lw_trail {
    lw_mask mask; /* 0: nobody */
    uint64_t imm; /* of the operation */
    lw_reach reach;
} lw_trail;

/* Where those went that executed an access by an index last, for others of the same index (link/index.c): offset and
 * room are in bytes from where index 0 is, and of the allocation nothing is known. */
typedef struct lw_index_row {
    lw_mask mask; /* 0: nobody */
    lw_reach reach;
} lw_index_row;

struct lw_gang {
    /* hot: used by every operation */
    char *regs; /* frame->regs */
    uint32_t begin,
        lanes; /* loops over lanes run from begin to lanes: whole warps, from the first executing one to the last */
    bool full; /* mask == frame->owned: no other lane has a value in this frame, results may be stored to all lanes */
    uint16_t whole; /* flags of operations that may store to all lanes in any case: LW_OP_WHOLE, LW_OP_LONE */
    lw_mask mask;   /* lanes that execute now */
    lw_frame *frame;
    uint32_t active, active_warps; /* counts of mask, kept by lw_gang_set_mask */
    int64_t budget;                /* falls with backward branches; below 0 somebody else gets a turn */
    uint64_t warp_instructions, lane_instructions;
    /* Compiled code alone has written that frame's registers (jit/jit.h), and the gang went to a barrier right away:
     * when it comes to this operation behind it, what shall be a row is one. NULL: nobody knows. */
    const lw_op *trusted;
    const lw_frame *trusted_frame;
    lw_cta *cta;
    uint32_t number;            /* within the CTA */
    uint32_t first;             /* number of its first thread in the CTA */
    struct lw_async *async;     /* what its lanes have begun and not done yet: async.c; NULL until they do */
    struct lw_meeting *meeting; /* lanes that wait for others of their warp: meet.c; NULL until some do */
    /* Of each warp the registers that are folded in the frame (jit/jit.h), in a run; NULL: none is. */
    const struct lw_fold *folded[LW_GANG_LANES / LW_WARP_LANES];
    lw_mask cluster_owed; /* lanes that came to the barrier of the cluster and did not wait since they came */
    lw_mask exist, exited;
    lw_gang_state state;
    lw_mask guard_mask;
    bool guard_full;     /* what `unguard` restores */
    const lw_op *resume; /* where to go on; NULL: lw_gang_select tells */
    bool stands;         /* `resume` is a barrier of the whole CTA, and all that have not exited are in front of it */
    uint32_t turns;      /* times in a row that the budget ran out */
    lw_frame *frames;    /* list of all, the newest first */
    lw_frame *
        *free_frames; /* of each code of the program those that serve again, `free_room`; NULL until there is one */
    uint32_t free_room;
    uint64_t frame_bytes, live_bytes; /* of all its frames, and of those in `frames` */
    LW_LIST(lw_wait) waits;           /* grown by malloc, not by an arena */
    bool noted;                       /* it has counts in note_counts that the grid has not yet */
    uint32_t timed;                   /* of `waits`: those for objects */
    lw_mask beside; /* in a shuffle: lanes that came with the executing ones and must wait; read by whoever asks for
                       them. Else 0 */
    lw_mask cluster_came; /* lanes that came to the barrier of the cluster, which is not open yet */
    lw_mask served;       /* lanes that had a turn since each ready lane had one: flow.c */

    char *local;              /* local memory of its lanes: granules of 16 bytes, interleaved (lw_local_at) */
    uint32_t local_used;      /* nobody has written at or above this address of it yet: all zeros there */
    uint32_t local_most;      /* where that ever was, before it was cleared: memory is held up to there */
    lw_range hints[LW_HINTS]; /* last allocation met by each memory operation (hint number modulo) … */
    uint64_t hints_of;        /* … in this state of the allocations */
    lw_trail trails[LW_TRAILS];
    lw_index_row rows[LW_INDEXED_ROWS];

    _Alignas(64) uint32_t tid[3][LW_GANG_LANES];
    /* results under a partial mask are made here and then committed; also room for addresses */
    _Alignas(64) char scratch[2 * LW_SLOT_64];
    union {
        _Alignas(64) uint64_t address[LW_GANG_LANES];
        uint32_t distance[LW_GANG_LANES]; /* of LW_APART */
    };
    struct {
        uint64_t lanes;
        uint32_t number;
    } note_counts[LW_NOTES]; /* of this turn; number of the note modulo. Zero between turns */
};

/* Host place of a local address of one lane. Granules of 16 bytes are interleaved by lane, so that lanes at the same
 * address share cache lines and no two lanes compete for one cache set; an aligned access never leaves its granule. */
static inline char *lw_local_at(const lw_gang *gang, uint32_t lane, uint32_t address) {
    return gang->local + ((size_t)(address >> 4) * LW_GANG_LANES + lane) * 16 + (address & 15);
}

/* Those that have not exited. */
static inline lw_mask lw_live_lanes(const lw_gang *gang) { return gang->exist & ~gang->exited; }

/* Sets the executing lanes, at least one. */
static inline void lw_gang_set_mask(lw_gang *gang, lw_mask mask) {
    gang->mask = mask;
    gang->full = mask == gang->frame->owned;
    gang->active = lw_mask_count(mask);
    gang->active_warps = 0;
    for (uint32_t w = 0; w < LW_GANG_LANES / 32; w++) gang->active_warps += lw_mask_warp(mask, w) != 0;
    gang->begin = lw_mask_first(mask) & ~31u;
    gang->lanes = (lw_mask_last(mask) | 31) + 1;
}

/* Who a trap is of, and where: this lane, at an operation of this code. */
void lw_trap_locate(lw_trap_record *trap, const lw_gang *gang, const lw_code *code, const lw_op *op, uint32_t lane);
/* Stops the gang with a trap of the first lane of `lanes`. Always returns NULL, so a step can `return
 * lw_gang_trap(…)`. */
const lw_op *lw_gang_trap(lw_gang *gang, const lw_op *op, lw_trap_kind kind, uint32_t lane, lw_trap_record details);

/* Makes a gang ready for its lanes of a CTA: entry frame, all lanes at block 0. gang->cta->grid must be set; tid and
 * local are the caller's. False: no memory. lw_gang_end frees what frames and waits hold, lw_gang_rest all but what a
 * later launch of the same program can use; one of them is needed before the program goes away. */
bool lw_gang_begin(lw_gang *gang, lw_cta *cta, uint32_t number);
void lw_gang_rest(lw_gang *gang);
void lw_gang_end(lw_gang *gang);

/* Runs until the gang waits, uses up its budget (state stays ready), ends or traps; and then those whose turn it is
 * next, as long as nobody has to look (lw_grid_next). */
void lw_gang_run(lw_gang *gang);
const lw_op *lw_gang_begin_turn(lw_gang *gang); /* where it goes on; NULL: nobody can */
void lw_gang_leave(lw_gang *gang);              /* all of it exit, and no barrier of the CTA waits for them */

/* A frame for lanes that enter a function, at block 0 but not yet pending anywhere. NULL: stack or memory exhausted. */
lw_frame *lw_frame_new(lw_gang *gang, const lw_code *code, lw_frame *caller, lw_mask lanes);

/* Flow helpers shared by the steps of flow.c and sync.c. All return the operation to go on with, or NULL. */
const lw_op *lw_gang_select(lw_gang *gang);                          /* the lowest ready block of the deepest frame */
void lw_gang_pend(lw_frame *frame, uint32_t block, lw_mask lanes);   /* lanes go on at a block */
bool lw_gang_unpend(lw_frame *frame, uint32_t block, lw_mask lanes); /* … but no longer; false: none was to */
/* The budget is used up on the way to `block`, where the lanes are pending: the gang stops, and goes on there or
 * elsewhere with its next turn. spins: in a loop that may wait for others. */
const lw_op *lw_gang_end_turn(lw_gang *gang, bool spins, uint32_t block);

/* ---- Rendezvous of warps: meet.c ----------------------------------------------------------------------- */

typedef struct lw_meeting lw_meeting;

/* Lanes left for good: who waits only for these goes on. False: the launch is strict, and the gang is trapped. */
bool lw_gang_meet_without(lw_gang *gang, lw_mask gone);
/* Nothing else can run: the lanes that wait longest for others go on with those that came. False: no lane waits for
 * others. */
bool lw_gang_meet_anyway(lw_gang *gang);
/* Empties it before the gang begins anew; gives its memory back. */
void lw_meeting_reset(lw_gang *gang);
lw_mask lw_meeting_lanes(const lw_gang *gang);                 /* that wait in it … */
lw_place lw_meeting_place(const lw_gang *gang, uint32_t lane); /* … and where one of them does */
bool lw_meeting_is_over(const lw_gang *gang);                  /* of one that there is: nobody waits */
void lw_meeting_end(lw_gang *gang);

/* ---- CTA ----------------------------------------------------------------------------------------------- */

enum {
    LW_BARRIERS = 16,
    LW_CLUSTER_BARRIER = LW_BARRIERS, /* the number that waits at the barrier of the cluster have */
    LW_OBJECT_WAIT,                   /* … and those for phases of mbarrier objects */
    LW_GROUP_WAIT,                    /* … and those of a warpgroup for its other warps */
    LW_WARP_WAIT,                     /* of a crowd: those that wait for others of their warp … */
    LW_GOES_ON,                       /* … and those that wait for nobody */
    LW_CTA_GANGS = 32,                /* PTX has 1024 threads at most; a register of PTO may be wider */
    LW_CLUSTER_MOST = 16,             /* CTAs of a cluster */
};

typedef struct lw_barrier {
    uint32_t came;     /* threads that arrived, those among them that have exited since too */
    uint32_t arrived;  /* threads that arrived and then arrived again, as the hardware counts them */
    uint32_t expected; /* 0: all threads that have not exited */
    uint32_t popc;
    bool all, any; /* of barrier.red */
} lw_barrier;

/* CTAs that are begun together, on one worker, whose turns they share. In a launch without clusters each CTA is one. */
typedef struct lw_cluster {
    uint32_t count;
    lw_cta *ctas[LW_CLUSTER_MOST]; /* by rank */
    uint64_t number;               /* linear */
    uint32_t index[3];
    uint32_t live, arrived; /* threads that have not exited; those of them that came to its barrier */
    uint32_t idle;  /* how often the time was up for lanes that wait for phases, since anything happened that others can
                       see, or that looks at what others do */
    uint32_t polls; /* turns that ended in loops which poll memory, since it was last seen to */
    uint32_t rounds; /* of turns, since it was begun or brought back … */
    uint32_t passed; /* … and barriers passed, where nobody is seen to wait for other CTAs */
} lw_cluster;

struct lw_cta {
    struct lw_grid *grid;             /* NULL: it rests */
    lw_cluster *cluster, own_cluster; /* own_cluster is in use where rank is 0 */
    uint32_t rank, place[3];          /* in the cluster */
    const lw_program *program;
    uint32_t index[3];
    uint64_t number;                    /* linear */
    uint32_t threads, gang_count, live; /* live: threads that have not exited */
    struct lw_seat *seat;               /* of the worker that runs it */
    uint32_t turn;                      /* in this round the gangs in front of this one have had theirs */
    bool stands;                        /* a gang has come to a barrier in this round and stands there */
    bool swapped;                       /* it was begun in the other code of its program */
    bool watched;                       /* its worker has to look up now and then, at a clock or its counts … */
    int64_t unseen;                     /* … and has not since so many backward branches of gangs */
    bool runs, run_moves;               /* interp/runs.c; on by other code, or with other lanes */
    bool run_alike;                     /* all its gangs have the same lanes */
    uint32_t in_row; /* so many CTAs that are claimed follow it in its row of the grid, and nobody looks in between */
    int32_t folds;   /* 0 and above: runs last long enough for rows to be folded */
    const lw_op *run_from;         /* where the gangs of this round of the run began … */
    const lw_op *run_to;           /* … and where those are that are through: a block, … */
    uint32_t run_stop, run_counts; /* … its number and the instructions that it counts, … */
    bool run_ends;                 /* … and whether it is the end */
    lw_gang *handed; /* compiled code that was called for another gang has left it to the interpreter, or NULL */
    char *shared;    /* static, then dynamic */
    uint32_t shared_bytes;
    uint32_t barriers_in_use; /* a bit for each barrier; those of the others mean nothing */
    lw_barrier barriers[LW_BARRIERS];
    lw_mask came[LW_BARRIERS][LW_CTA_GANGS]; /* lanes of each gang that arrived at a barrier in use */
    lw_gang *gangs;                          /* gang_count */
    lw_trap_record trap;
    struct lw_cta *next; /* of the worker's list */
    /* kept from one CTA to the next */
    size_t shared_room, local_room;
    char *local; /* of all gangs */
    uint32_t gang_room;
    uint64_t kept_for; /* number of the program that frames and local memory are of; 0: none */
    uint32_t shape[4]; /* block and gang_lanes that the gangs' tid are of */
};

/* Where the CTA's shared memory begins in the shared space of its cluster; 0 where the CTA is alone. */
static inline uint64_t lw_shared_base(const lw_cta *cta, uint32_t rank) {
    return cta->cluster->count == 1 && !rank ? 0 : LW_CLUSTER_WINDOW - LW_SHARED_WINDOW + rank * LW_CLUSTER_STEP;
}

/* The same place in another CTA. An offset that no shared memory has stays out of everybody's. */
static inline uint64_t lw_shared_in(const lw_cta *cta, uint32_t rank, uint64_t offset) {
    return lw_shared_base(cta, offset < LW_CLUSTER_STEP ? rank : LW_CLUSTER_MOST) + offset % LW_CLUSTER_STEP;
}

/* The one place that knows where an address of the shared space is: that of the CTA itself, of which it is an offset or
 * what lw_shared_base adds to one, and of the others of its cluster. Gets the rank of the CTA, which may be none of the
 * cluster, and the offset there. False: it is in none. */
static inline bool lw_shared_find(const lw_cta *cta, uint64_t address, uint32_t *rank, uint64_t *offset) {
    const uint64_t far = address - (LW_CLUSTER_WINDOW - LW_SHARED_WINDOW);
    *rank = address < LW_WINDOW_BYTES ? cta->rank : (uint32_t)(far / LW_CLUSTER_STEP);
    *offset = address < LW_WINDOW_BYTES ? address : far % LW_CLUSTER_STEP;
    return address < LW_WINDOW_BYTES || far < LW_WINDOW_BYTES + LW_CLUSTER_STEP; /* what mapa makes of no rank */
}

/* Of an access in the window shared or cluster, the CTA whose memory it is; NULL: none that is there, that has not
 * ended, or that such an access may reach. */
static inline const lw_cta *lw_shared_owner(const lw_cta *cta, lw_window window, uint64_t address, uint64_t *offset) {
    uint32_t rank;
    if (!lw_shared_find(cta, address, &rank, offset)) return NULL;
    if (rank == cta->rank) return cta;
    if (window != LW_WINDOW_cluster || rank >= cta->cluster->count) return NULL;
    return cta->cluster->ctas[rank]->live ? cta->cluster->ctas[rank] : NULL;
}

/* In sync.c. Lanes will go on once what they wait for has happened. False: no memory. */
bool lw_gang_keep_wait(lw_gang *gang, const lw_wait *wait);
/* Barrier step and release. Called when a thread exits too: the others may be complete now. */
void lw_cta_check_barriers(lw_cta *cta);
/* All threads of the CTA that have not exited stand in front of one barrier: they go on behind it. False: some do not,
 * and gangs that do arrive when they run next. */
bool lw_cta_pass_barrier(lw_cta *cta);
uint32_t lw_cta_came(const lw_cta *cta, uint32_t number); /* threads that arrived at a barrier, as it counts them */
/* Lanes of a gang that wait at this barrier go on. barrier: what its .red gives; NULL: nothing. */
void lw_gang_release(lw_gang *gang, uint32_t number, const lw_barrier *barrier);
bool lw_gang_add_wait(lw_gang *gang, const lw_op *op, uint32_t number, lw_mask lanes); /* false: no memory */
/* Another cluster that has not begun will not; it counts as done. False: there is none. */
bool lw_grid_cancel(struct lw_grid *grid, uint64_t *number);
void lw_cluster_leave(lw_gang *gang); /* the executing lanes exit */

/* ---- Asynchronous operations: async.c, mbarrier.c ------------------------------------------------------- */

/* What these lanes have begun is done now. False: trapped, in the CTA of the gang that runs. */
bool lw_async_finish(lw_gang *gang, lw_mask lanes);
/* A turn of the gang ends in a loop that polls memory. False: trapped. */
bool lw_cluster_poll(lw_gang *gang);
/* Nothing else can run: all that the cluster's lanes have begun is done. False: nothing was left. */
bool lw_cluster_finish_async(lw_cluster *cluster);
void lw_async_reset(lw_gang *gang);         /* before the gang begins anew */
bool lw_async_is_over(const lw_gang *gang); /* of one that has begun some: all is done */
void lw_async_end(lw_gang *gang);           /* gives its memory back */
/* Lanes go on that wait for phases which are complete now. False: trapped. */
bool lw_gang_wake(lw_gang *gang);
/* Nothing else can run: the time is up for lanes that wait for phases, unless that was so too often while nothing
 * happened. False: nobody waits for any, or nobody ever completes them. */
bool lw_cluster_time_out(lw_cluster *cluster);
/* The time is up for them once, whatever happened. False: nobody waits for a phase. */
bool lw_cluster_let_go(lw_cluster *cluster);

/* ---- The device's runtime: print.c, heap.c -------------------------------------------------------------- */

/* How a thread's memory is read: false where nothing is there. */
typedef bool lw_guest_read(void *user, uint64_t address, void *to, uint32_t bytes);

/* Formats as CUDA's printf does. `arguments`: address of the values, each aligned to its size, as varargs in C are
 * promoted; the first 32 count.
 *
 * most     bytes that may be added
 * count    gets how many arguments the format takes; -1 where its address is 0
 * returns  0; else the address where nothing could be read. `out` then has what came before, and where it would be
 * longer than `most` nothing, and *full is set */
uint64_t lw_print_format(lw_text *out, lw_guest_read *read, void *user, uint64_t format, uint64_t arguments,
                         uint64_t most, int32_t *count, bool *full);

/* What the CTAs of a launch printed, until it ends. */
typedef struct lw_printer {
    pthread_mutex_t lock;
    uint64_t limit; /* bytes */
    lw_text text;
    struct lw_printed {
        uint64_t cta;
        size_t at, size;
    } * pieces; /* grown by realloc */
    size_t count, room;
} lw_printer;
bool lw_printer_init(lw_printer *printer, uint64_t limit);
void lw_printer_end(lw_printer *printer);
/* What a CTA prints comes in its order. */
typedef enum lw_kept { LW_KEPT, LW_KEPT_not, LW_KEPT_no_memory } lw_kept; /* not: the limit is reached */
lw_kept lw_printer_add(lw_printer *printer, uint64_t cta, const lw_text *text);
/* All of it, in order of the CTAs. Nobody may print any more. */
typedef void lw_print_text(void *user, const char *text, size_t size);
void lw_printer_flush(lw_printer *printer, lw_print_text *print, void *user);

/* The heap of a context: pieces of 16 bytes and their doubles of one allocation (a buddy allocator, whose books are the
 * host's). */
typedef struct lw_heap {
    pthread_mutex_t lock;
    uint64_t base, size; /* 0 until it is made */
    char *host;
    uint8_t *orders;           /* of each unit of 16 bytes: of the piece that begins there, free or taken */
    uint8_t *given;            /* … and a bit: one that began there was given back */
    uint32_t *next, *previous; /* 1 + unit, of free pieces of the same order */
    uint32_t free[32];         /* 1 + the first */
} lw_heap;
bool lw_heap_init(lw_heap *heap);
/* Made once, of that size and no other; true where it is there. False: no memory. */
bool lw_heap_make(lw_heap *heap, lw_memory *memory, uint64_t bytes);
uint64_t lw_heap_take(lw_heap *heap,
                      uint64_t bytes); /* zeroed; of no bytes a piece, too, as on a GPU; 0: none is left */
typedef enum lw_heap_given { LW_HEAP_GIVEN, LW_HEAP_GIVEN_before, LW_HEAP_GIVEN_never } lw_heap_given;
lw_heap_given lw_heap_give(lw_heap *heap, uint64_t address); /* else no piece begins there: any more, or it never did */
void lw_heap_end(lw_heap *heap);                             /* the allocation goes with the memory */

typedef struct lw_stops lw_stops;

/* ---- Launch -------------------------------------------------------------------------------------------- */

enum { LW_SHARED_RESERVED = 1 << 10 }; /* bytes of shared memory of each CTA that the system has for itself */

typedef struct lw_grid {
    const lw_program *program;
    struct lw_source *source;
    uint32_t shape[3], block[3]; /* CTAs of the grid, threads of a CTA */
    uint32_t cluster[3];         /* CTAs of a cluster */
    bool has_clusters;           /* the launch or the kernel gives them a shape */
    uint64_t cta_count, cluster_count;
    uint32_t shared_bytes; /* static and dynamic, and then, of programs that ask for it, what is reserved */
    uint32_t dynamic_shared;
    uint32_t reserved_shared; /* bytes of that which are reserved: LW_SHARED_RESERVED or 0 */
    const char *params;       /* parameter buffer, program->param_bytes */
    lw_ranges *ranges;
    lw_memory *memory;    /* whose list that is */
    uint32_t local_limit; /* bytes of local memory per thread */
    bool cooperative, strict;
    lw_printer *printer;                /* of programs that print, and … */
    lw_heap *heap;                      /* … of those that have a heap; else NULL */
    atomic_bool heap_lacked;            /* it had no room for some malloc */
    const struct lw_textures *textures; /* of the context (run/texture.h); NULL: the program asks for none */
    uint64_t step_limit;
    double deadline;       /* CLOCK_MONOTONIC seconds; 0: none */
    uint64_t grid_number;  /* %gridid */
    uint32_t gang_lanes;   /* 32, 64, 96 or 128 */
    atomic_uint *stops;    /* the context's count of stops, or NULL; the launch ends when it is not … */
    uint32_t stops_before; /* … this one any more */

    _Atomic uint64_t next_cluster, done_ctas, canceled_ctas; /* canceled: never begun, others do their work */
    _Atomic uint64_t warp_instructions, lane_instructions;   /* added by workers now and then */
    atomic_bool ended, stopped; /* trapped or stopped: no CTA begins any more; stopped: none goes on */
    _Atomic uint64_t trap_at;   /* number of the cluster of `trap`; UINT64_MAX before */
    pthread_mutex_t lock;       /* guards trap */
    lw_trap_record trap;        /* of the lowest cluster where several trap */
    _Atomic uint64_t *notes;    /* lanes counted by each note of the program */
    uint32_t batch;             /* clusters claimed at a time */
    bool limited;               /* has a deadline, a step limit or stops */
    struct lw_tier
        *tier; /* of the program in the engine auto: CTAs run what it says when they begin (tier.h); else NULL */
    _Atomic uint64_t compiled_ctas; /* of done_ctas, those that ran its compiled code */
    lw_stops *stood;                /* where warps stood when it was stopped (run/crowd.h); NULL: nowhere; malloc's */
    uint64_t workspace;             /* where CTAs of a cooperative launch may meet; 0 in others */
} lw_grid;

/* Counts lanes for a note of the program. */
static inline void lw_gang_note(lw_gang *gang, uint32_t number, lw_mask lanes) {
    atomic_fetch_add_explicit(&gang->cta->grid->notes[number], lw_mask_count(lanes), memory_order_relaxed);
}

void lw_gang_hand_notes(lw_gang *gang); /* what a turn counted by itself, to the grid */

/* Some lanes do at `op` what the manual leaves undefined: counts them for the operation's note of that id. True: the
 * launch is strict, and the gang is trapped. */
bool lw_gang_undefined(lw_gang *gang, const lw_op *op, lw_diag_id id, lw_mask lanes);

/* The record of a CTA of a cluster in which nothing can run any more. */
void lw_trap_deadlock(lw_cluster *cluster);

/* The interpreter at one CPU level: a step for every operation code. */
/* Something for a level of levels.def, if the build has it: LW_BUILT_name is 1 or 0 then. */
#define LW_WHERE_BUILT(name, ...)    LW_WHERE_BUILT_(LW_BUILT_##name, __VA_ARGS__)
#define LW_WHERE_BUILT_(built, ...)  LW_WHERE_BUILT__(built, __VA_ARGS__)
#define LW_WHERE_BUILT__(built, ...) LW_WHERE_BUILT_##built(__VA_ARGS__)
#define LW_WHERE_BUILT_0(...)
#define LW_WHERE_BUILT_1(...) __VA_ARGS__

/* A row of levels.def. */
typedef struct lw_level {
    const char *name;
    uint32_t vector_bytes;
    bool mask_registers;
    const char *llvm_cpu;
    bool (*has)(void); /* the machine */
    lw_step *const *steps;
    lw_step *once;                    /* for any of which all operands are the same in all lanes */
    const struct lw_warp_calls *warp; /* run/jit/jit.h */
    lw_matrix_call *multiply;         /* run/interp/matrix.h */
} lw_level;
extern const lw_level *const lw_levels[]; /* built in, best first, NULL at the end */
bool lw_level_has(const lw_level *level);
bool lw_cpu_has_wide(void); /* the machine compares and exchanges 16 bytes at once */
/* What the interpreter runs for a program: its `codes`. False: too many registers live at a time, diagnosed. Leaves
 * through the program's arena when memory runs out. */
bool lw_interp_link(lw_program *program, lw_diags *diags);
/* Of code that is linked: what is steady, and what makes addresses that nobody needs, is passed over in the text, and
 * what is the same in all lanes done `once`; or all is done there like all else (interp/steady.c). */
void lw_shortcuts_take(lw_code *code, lw_step *once);
void lw_shortcuts_forget(lw_code *code, lw_step *const *steps);
void lw_program_link(lw_program *program, const lw_level *level);

/* ---- Engines: engine.c -------------------------------------------------------------------------------- */

typedef enum lw_engine { LW_ENGINE_interp, LW_ENGINE_jit, LW_ENGINE_auto, LW_ENGINES } lw_engine;
extern const char *const lw_engine_words[]; /* their names, with a NULL behind the last */
/* Who is told the names of compiled functions and where they lie. */
enum lw_symbols_told { LW_SYMBOLS_perf = 1, LW_SYMBOLS_gdb = 2 };
/* By name: perf, gdb, all; NULL or "": nobody. False: no such name. */
bool lw_symbols_choose(const char *name, uint8_t *symbols);
/* By name; NULL or "": auto. False: no such name. */
bool lw_engine_choose(const char *name, lw_engine *engine);
bool lw_engine_has(lw_engine engine);            /* the compiler is a library of its own, which auto does without */
const char *lw_engine_missing(lw_engine engine); /* why it is not there */
/* Where the threads of a warp are in their block: bits of a lane's number that count %tid.x, then those that count
 * %tid.y; the others count %tid.z. That holds within each 1 << run lanes, which have tids of their own to count from;
 * run is 0 (nothing is known), 3, 4 or 5 (the whole warp). Of programs that have arrays in shared memory it is known,
 * too, how many bits a %tid has in each direction: what goes to the arrays by these need not be checked. `even` bits of
 * %ntid.x are 0, the lowest ones: all that count within a warp where rows are of whole warps, which says the same of
 * the number of a warp's first thread in the grid. */
typedef struct lw_layout {
    uint8_t x, y, run, bits[3], even;
} lw_layout;
/* Of blocks with rows of whole warps. */
static const lw_layout lw_layout_rows = {5, 0, 5, {10, 10, 6}, 5};
lw_layout lw_layout_of(const lw_program *program, const uint32_t block[3]);
static inline bool lw_layout_is(lw_layout one, lw_layout other) { return !memcmp(&one, &other, sizeof one); }
/* cache.h has lw_program_get_code, which puts compiled code in place of steps. */
void lw_program_drop(lw_program *program); /* the compiled code, if any: nothing may run it any more */
/* What the compiler makes of it, in LLVM's language or in that of the machine. False: as above. */
bool lw_program_print(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                      lw_text *why);

bool lw_grid_is_late(const lw_grid *grid); /* somebody stopped it, or its time is over */

/* ---- Threads (thread.c) -------------------------------------------------------------------------------- */

double lw_clock(void); /* CLOCK_MONOTONIC, seconds: what deadlines are in */
/* A thread that takes no signals: those are for the program's own. stack: bytes; 0: as the system has it. False: there
 * is none. */
bool lw_thread_start(pthread_t *id, void *(*body)(void *argument), void *argument, size_t stack);
/* A condition whose waits are by lw_clock. False: there is none. */
bool lw_cond_make(pthread_cond_t *cond);
/* With the lock held, for so long at most, which is less than a second. False: nobody signalled. It leaves no
 * floating-point flags behind: host functions of a driver's user see those of the thread that waited. */
bool lw_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, long nanoseconds);

/* ---- Pool ---------------------------------------------------------------------------------------------- */

typedef struct lw_pool lw_pool;
lw_pool *lw_pool_new(uint32_t threads); /* NULL: no memory or no threads */
void lw_pool_free(lw_pool *pool);
/* Runs all CTAs of a grid whose trap_at is UINT64_MAX; the calling thread works too. A launch of one cluster stays on
 * the calling thread. `progress` as in lanewise.h, or NULL. */
void lw_pool_run(lw_pool *pool, lw_grid *grid, void (*progress)(void *user), void *user);

#endif
