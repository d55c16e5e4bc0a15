/* profile.c: steps that count what the interpreter's own steps do, and the sums of all workers.
 *
 * Lanes are counted where they enter a block, as launches count their instructions, so that the two agree whatever ends
 * a launch. Every thread counts by itself, in a shard; they are added up at the end. */
#define _GNU_SOURCE
#include "middle/row.h"
#include "run/interp/address.h"
#include "run/profile.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { COPY_SIDES = 2 };

/* What one thread counted. All lie in one allocation, as the profile numbers them. */
typedef struct lw_shard {
    struct lw_shard *next;
    long switches;            /* of its thread, when that was last looked at */
    uint64_t *ticks;          /* per operation */
    lw_profile_block *blocks; /* warps and lanes, times the instructions of the block */
    lw_profile_access *accesses;
} lw_shard;

typedef struct first { /* of a function's, in what is numbered through the program */
    uint32_t op, block;
} first;

struct lw_profile {
    lw_program *program;
    const lw_level *level;
    uint64_t number; /* as no other profile of the process has */
    pthread_mutex_t lock;
    lw_shard *shards;
    bool failed; /* there was no memory for one */
    first *firsts;
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

/* ---- Ticks ------------------------------------------------------------------------------------------------------ */

/* A counter of the processor that runs evenly and takes little to read; what a tick is the clock tells. */
static inline uint64_t ticks(void) {
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

static uint64_t idle_ticks(void) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        const uint64_t start = ticks(), took = ticks() - start;
        if (took < least) least = took;
    }
    return least;
}

/* How often the thread has lost its core, or given it away. */
static long switches(void) {
    struct rusage used;
    return getrusage(RUSAGE_THREAD, &used) ? 0 : used.ru_nvcsw + used.ru_nivcsw;
}

/* ---- Shards ----------------------------------------------------------------------------------------------------- */

static _Thread_local struct {
    uint64_t profile; /* its number */
    lw_shard *shard;  /* NULL: there was no memory */
} mine;

static lw_shard *new_shard(const lw_profile *p) {
    lw_shard *shard = calloc(1, sizeof *shard);
    if (!shard) return NULL;
    shard->switches = switches();
    shard->ticks = calloc(p->op_count + 1, sizeof *shard->ticks);
    shard->blocks = calloc(p->block_count + 1, sizeof *shard->blocks);
    shard->accesses = calloc(p->access_count + 1, sizeof *shard->accesses);
    if (shard->ticks && shard->blocks && shard->accesses) return shard;
    free(shard->ticks), free(shard->blocks), free(shard->accesses), free(shard);
    return NULL;
}

static void free_shard(lw_shard *shard) {
    free(shard->ticks), free(shard->blocks), free(shard->accesses);
    free(shard);
}

__attribute__((noinline)) static lw_shard *begin_shard(lw_profile *p) {
    mine.profile = p->number;
    mine.shard = new_shard(p);
    pthread_mutex_lock(&p->lock);
    if (mine.shard) mine.shard->next = p->shards, p->shards = mine.shard;
    else p->failed = true;
    pthread_mutex_unlock(&p->lock);
    return mine.shard;
}

static inline lw_shard *own_shard(lw_profile *p) {
    return LW_LIKELY(mine.profile == p->number) ? mine.shard : begin_shard(p);
}

/* ---- Accesses --------------------------------------------------------------------------------------------------- */

/* What lanes of the gang ask for, by window. */
typedef struct asked {
    lw_mask lanes[LW_WINDOWS];
    uint32_t bytes;
    uint64_t address[LW_GANG_LANES];
} asked;

static void ask(asked *a, const lw_gang *gang, uint32_t lane, lw_window window, uint64_t address) {
    uint64_t within = address;
    if (window == LW_WINDOW_generic) {
        window = lw_address_window(address);
        if (window == LW_WINDOW_generic) return; /* nothing is there: the step traps */
        if (window == LW_WINDOW_cluster) within -= LW_SHARED_WINDOW;
        else if (window != LW_WINDOW_global) within &= LW_WINDOW_BYTES - 1;
    }
    if (window == LW_WINDOW_shared || window == LW_WINDOW_cluster) {
        uint32_t rank;
        uint64_t offset;
        if (!lw_shared_find(gang->cta, within, &rank, &offset)) return;
        within = (uint64_t)rank * LW_CLUSTER_STEP + offset;
    }
    a->lanes[window] |= LW_MASK_BIT(lane);
    a->address[lane] = within;
}

static void ask_all(asked *a, const lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const bool some = lw_op_does(op, LW_DOES_ROW) && op->e != LW_NO_SLOT; /* elements are for them only */
    const lw_mask lanes = some ? gang->mask & lw_get_mask(gang, op->e) : gang->mask;
    a->bytes = lw_memory_bytes(form);
    LW_FOR_LANES(lane, lanes) ask(a, gang, lane, form.window, lw_address_of(gang, op, lane));
}

/* A copy that lanes begin: its target, then its source. */
static void ask_copies(asked sides[COPY_SIDES], const lw_gang *gang, const lw_op *op) {
    const uint64_t *to = LW_SLOT(gang, uint64_t, op->a), *from = LW_SLOT(gang, uint64_t, op->b);
    const uint32_t *given = op->e == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint32_t, op->e);
    sides[0].bytes = sides[1].bytes = op->c;
    LW_FOR_LANES(lane, gang->mask) {
        ask(&sides[0], gang, lane, LW_WINDOW_shared, to[lane]);
        if (!given || given[lane]) ask(&sides[1], gang, lane, LW_WINDOW_global, from[lane]);
    }
}

/* More requests of one pattern. */
static void add_pattern(lw_profile_access *to, lw_request_pattern pattern, uint64_t count, int64_t width) {
    if (!to->patterns[pattern]) to->widths[pattern] = width;
    else if (to->widths[pattern] != width) to->widths[pattern] = 0;
    to->patterns[pattern] += count;
}

static void count_request(lw_profile_access *access, const lw_request *r) {
    int64_t width;
    uint32_t bytes, least;
    const lw_request_pattern pattern = lw_request_find_pattern(r, &width);
    add_pattern(access, pattern, 1, width);
    access->requests++;
    access->lanes += lw_bits_count(r->lanes);
    if (access->window == LW_WINDOW_global) {
        access->sectors += lw_request_sectors(r, &bytes);
        access->bytes += bytes;
    }
    if (access->window == LW_WINDOW_shared || access->window == LW_WINDOW_cluster) {
        access->rounds += lw_request_rounds(r, &least);
        access->least_rounds += least;
    }
}

/* `accesses`: of one window each, as many as there are. */
static void count_requests(lw_profile_access *to, const lw_profile_access *accesses, const asked *a) {
    for (const lw_profile_access *at = accesses;; at++, to++) {
        to->window = at->window;
        for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++) {
            lw_request r = {.lanes = lw_mask_warp(a->lanes[at->window], warp), .bytes = a->bytes};
            if (!r.lanes) continue;
            memcpy(r.address, a->address + LW_WARP_LANES * warp, sizeof r.address);
            count_request(to, &r);
        }
        if (at[1].code != at->code || at[1].op != at->op || at[1].kind != at->kind) break;
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

/* Where lanes entered a block, the operation behind it comes next. */
static void count_block(const lw_profile *p, lw_shard *shard, const lw_gang *gang, const lw_op *next,
                        lw_profile_block entered) {
    if (!next || next[-1].code != LW_OP_block) lw_bug("instructions of a block were counted that nobody entered");
    lw_profile_block *block = &shard->blocks[p->firsts[gang->frame->code->index].block + next[-1].a];
    block->warps += entered.warps;
    block->lanes += entered.lanes;
}

/* What others did on this core meanwhile is not the operation's time, and nobody knows how much of it is. */
__attribute__((noinline)) static uint64_t without_others(lw_shard *shard, uint64_t took) {
    const long before = shard->switches;
    shard->switches = switches();
    return before == shard->switches ? took : 0;
}

static inline const lw_op *count(lw_profile *p, lw_shard *shard, lw_gang *gang, const lw_op *op) {
    const lw_program *program = p->program;
    const uint32_t at = p->firsts[gang->frame->code->index].op + (uint32_t)(op - gang->frame->code->ops);
    const uint64_t warps = gang->warp_instructions, lanes = gang->lane_instructions;
    const uint64_t start = ticks();
    const lw_op *next = program->steps[op->code](gang, op);
    uint64_t took = ticks() - start;
    if (LW_UNLIKELY(took > p->much)) took = without_others(shard, took);
    if (took > p->idle) shard->ticks[at] += took - p->idle;
    if (gang->warp_instructions != warps)
        count_block(p, shard, gang, next,
                    (lw_profile_block){gang->warp_instructions - warps, gang->lane_instructions - lanes});
    return next;
}

static const lw_op *profiled(lw_gang *gang, const lw_op *op) {
    lw_profile *p = gang->cta->program->profile;
    lw_shard *shard = own_shard(p);
    return shard ? count(p, shard, gang, op) : p->program->steps[op->code](gang, op);
}

/* Addresses are looked at before the step, which may write where they are, and count if it did not trap. */
static const lw_op *profiled_access(lw_gang *gang, const lw_op *op) {
    lw_profile *p = gang->cta->program->profile;
    lw_shard *shard = own_shard(p);
    if (!shard) return p->program->steps[op->code](gang, op);
    const lw_code *code = gang->frame->code;
    const uint32_t at = p->access_of[p->firsts[code->index].op + (uint32_t)(op - code->ops)];
    asked sides[COPY_SIDES];
    for (int k = 0; k < COPY_SIDES; k++) memset(sides[k].lanes, 0, sizeof sides[k].lanes);
    const bool copies = op->code == LW_OP_async_copy;
    if (copies) ask_copies(sides, gang, op);
    else ask_all(&sides[0], gang, op);
    const lw_op *next = count(p, shard, gang, op);
    if (gang->state == LW_GANG_trapped) return next;
    for (uint32_t k = 0; k < 1u + copies; k++)
        count_requests(&shard->accesses[at + k], &p->accesses[at + k], &sides[k]);
    return next;
}

/* ---- From a program to what is counted -------------------------------------------------------------------------- */

static bool is_access(const lw_op *op) {
    if (op->code == LW_OP_async_copy) return true;
    return lw_op_does(op, LW_DOES_MEMORY) && op->code != LW_OP_fill && op->code != LW_OP_async_arrive; /* later */
}

static lw_profile_kind kind_of(const lw_op *op) {
    const lw_op_row *row = lw_row_of(op->code);
    if (!(row->does & LW_DOES_STORES)) return LW_PROFILE_load;
    return row->mode == LW_MODE_atom || row->mode == LW_MODE_mbarrier || row->writes.d ? LW_PROFILE_atomic
                                                                                       : LW_PROFILE_store;
}

static void add_access(lw_profile *p, const lw_code *code, uint32_t op, lw_profile_kind kind, lw_window window) {
    if (p->accesses)
        p->accesses[p->access_count] = (lw_profile_access){.code = code, .op = op, .kind = kind, .window = window};
    p->access_count++;
}

static void add_accesses(lw_profile *p, const lw_code *code, uint32_t n) {
    static const lw_window generic[] = {LW_WINDOW_global, LW_WINDOW_shared, LW_WINDOW_cluster, LW_WINDOW_local,
                                        LW_WINDOW_param};
    const lw_op *op = &code->ops[n];
    if (op->code == LW_OP_async_copy) {
        add_access(p, code, n, LW_PROFILE_store, LW_WINDOW_shared);
        add_access(p, code, n, LW_PROFILE_load, LW_WINDOW_global);
        return;
    }
    const lw_window window = lw_memory_unpack(op->c).window;
    if (window != LW_WINDOW_generic) add_access(p, code, n, kind_of(op), window);
    else
        for (size_t i = 0; i < LW_COUNT(generic); i++) add_access(p, code, n, kind_of(op), generic[i]);
}

/* Twice: at first only how many there are. */
static void number_all(lw_profile *p) {
    p->op_count = p->block_count = p->access_count = 0;
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        const lw_code *code = p->program->codes[i];
        if (p->firsts) p->firsts[i] = (first){p->op_count, p->block_count};
        for (uint32_t n = 0; n < code->op_count; n++) {
            const bool accesses = is_access(&code->ops[n]);
            if (p->access_of) p->access_of[p->op_count + n] = accesses ? p->access_count : LW_NO_SLOT;
            if (accesses) add_accesses(p, code, n);
        }
        p->op_count += code->op_count;
        p->block_count += code->block_count;
    }
}

static bool make_tables(lw_profile *p) {
    number_all(p);
    const size_t codes = p->program->code_count;
    p->codes = calloc(codes + 1, sizeof *p->codes);
    p->firsts = calloc(codes + 1, sizeof *p->firsts);
    p->access_of = calloc((size_t)p->op_count + 1, sizeof *p->access_of);
    p->seconds = calloc((size_t)p->op_count + 1, sizeof *p->seconds);
    p->blocks = calloc((size_t)p->block_count + 1, sizeof *p->blocks);
    p->accesses = calloc((size_t)p->access_count + 1, sizeof *p->accesses); /* the last one ends those before it */
    if (!p->codes || !p->firsts || !p->access_of || !p->seconds || !p->blocks || !p->accesses) return false;
    number_all(p);
    for (uint32_t i = 0; i < codes; i++)
        p->codes[i] =
            (lw_profile_code){p->program->codes[i], p->blocks + p->firsts[i].block, p->seconds + p->firsts[i].op};
    p->sums = (lw_profile_sums){p->program->code_count, p->access_count, p->codes, p->accesses};
    return true;
}

static void link_steps(const lw_profile *p) {
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        lw_code *code = p->program->codes[i];
        for (uint32_t n = 0; n < code->op_count; n++)
            code->ops[n].step = p->access_of[p->firsts[i].op + n] == LW_NO_SLOT ? profiled : profiled_access;
    }
}

static void free_profile(lw_profile *p) {
    for (lw_shard *shard = p->shards, *next; shard; shard = next) {
        next = shard->next;
        free_shard(shard);
    }
    free(p->codes), free(p->firsts), free(p->access_of), free(p->seconds), free(p->blocks), free(p->accesses);
    free(p);
}

lw_profile *lw_profile_begin(lw_program *program, const lw_level *level) {
    static _Atomic uint64_t made;
    lw_profile *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->program = program, p->level = level;
    p->number = atomic_fetch_add(&made, 1) + 1;
    if (!make_tables(p) || pthread_mutex_init(&p->lock, NULL)) {
        free_profile(p);
        return NULL;
    }
    program->profile = p;
    link_steps(p);
    p->idle = idle_ticks();
    p->much = 1000 * (p->idle + 1);
    p->clock = lw_clock(), p->tick = ticks();
    return p;
}

void lw_profile_end(lw_profile *p) {
    if (!p) return;
    p->program->profile = NULL;
    lw_program_link(p->program, p->level);
    pthread_mutex_destroy(&p->lock);
    free_profile(p);
}

/* ---- Sums ------------------------------------------------------------------------------------------------------- */

void lw_profile_add(lw_profile_access *to, const lw_profile_access *from) {
    to->requests += from->requests, to->lanes += from->lanes;
    for (int k = 0; k < LW_REQUEST_PATTERNS; k++)
        if (from->patterns[k]) add_pattern(to, (lw_request_pattern)k, from->patterns[k], from->widths[k]);
    to->sectors += from->sectors, to->bytes += from->bytes;
    to->rounds += from->rounds, to->least_rounds += from->least_rounds;
}

static void clear_counts(lw_profile_access *a) {
    *a = (lw_profile_access){.code = a->code, .op = a->op, .kind = a->kind, .window = a->window};
}

/* Sums of instructions become lanes that came. */
static void divide_blocks(lw_profile *p) {
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        const lw_code *code = p->program->codes[i];
        for (uint32_t b = 0; b < code->block_count; b++) {
            lw_profile_block *block = &p->blocks[p->firsts[i].block + b];
            const uint32_t each = code->blocks[b].instructions;
            if (each) block->warps /= each, block->lanes /= each;
        }
    }
}

const lw_profile_sums *lw_profile_sum(lw_profile *p) {
    const uint64_t went = ticks() - p->tick;
    const double each = went ? (lw_clock() - p->clock) / (double)went : 0;
    if (p->failed) return NULL;
    memset(p->seconds, 0, p->op_count * sizeof *p->seconds);
    memset(p->blocks, 0, p->block_count * sizeof *p->blocks);
    for (uint32_t i = 0; i < p->access_count; i++) clear_counts(&p->accesses[i]);
    for (const lw_shard *shard = p->shards; shard; shard = shard->next) {
        for (uint32_t i = 0; i < p->op_count; i++) p->seconds[i] += each * (double)shard->ticks[i];
        for (uint32_t i = 0; i < p->block_count; i++)
            p->blocks[i].warps += shard->blocks[i].warps, p->blocks[i].lanes += shard->blocks[i].lanes;
        for (uint32_t i = 0; i < p->access_count; i++) lw_profile_add(&p->accesses[i], &shard->accesses[i]);
    }
    divide_blocks(p);
    return &p->sums;
}
