/* count.c: steps that count what the interpreter's own steps do.
 *
 * Lanes are counted where they enter a block, as launches count their instructions, so that the two agree whatever ends
 * a launch. Every thread counts by itself, in a shard. */
#define _GNU_SOURCE
#include "run/interp/count.h"
#include "middle/row.h"
#include "run/interp/address.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { COPY_SIDES = 2 };

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

static void free_shard(lw_shard *shard) {
    free(shard->ticks), free(shard->blocks), free(shard->accesses), free(shard->memos);
    free(shard);
}

static lw_shard *new_shard(const lw_profile *p) {
    lw_shard *shard = calloc(1, sizeof *shard);
    if (!shard) return NULL;
    shard->switches = switches();
    shard->ticks = calloc(p->op_count + 1, sizeof *shard->ticks);
    shard->blocks = calloc(p->block_count + 1, sizeof *shard->blocks);
    shard->accesses = calloc(p->access_count + 1, sizeof *shard->accesses);
    shard->memos = calloc(p->access_count + 1, sizeof *shard->memos);
    if (shard->ticks && shard->blocks && shard->accesses && shard->memos) return shard;
    free_shard(shard);
    return NULL;
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

void lw_profile_free_shards(lw_profile *p) {
    for (lw_shard *shard = p->shards, *next; shard; shard = next) {
        next = shard->next;
        free_shard(shard);
    }
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

/* Whether all have an address in the window that most have: then none of them has to be looked at by itself. */
static bool are_plain(const lw_gang *gang, lw_window *window, const uint64_t *address) {
    if (*window != LW_WINDOW_generic && *window != LW_WINDOW_shared) return *window != LW_WINDOW_cluster;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = gang->begin; i < gang->lanes; i++) { /* lanes that are left out may only make it slower */
        low = address[i] < low ? address[i] : low;
        high = address[i] > high ? address[i] : high;
    }
    if (*window == LW_WINDOW_shared) return high < LW_WINDOW_BYTES; /* the CTA's own */
    *window = LW_WINDOW_global;
    return low >= LW_GLOBAL_BASE;
}

/* What lw_address_of gives, for all lanes at once. */
static void find_addresses(asked *a, const lw_gang *gang, const lw_op *op, lw_memory_form form) {
    const uint64_t frame = form.frame ? gang->frame->local_base : 0;
    const uint32_t *r32 = LW_SLOT(gang, uint32_t, op->a);
    const uint64_t *r64 = LW_SLOT(gang, uint64_t, op->a);
    uint64_t *to = a->address;
    if (form.address == 2)
        for (uint32_t i = gang->begin; i < gang->lanes; i++) to[i] = r64[i] + op->imm + frame;
    else if (form.address == 1)
        for (uint32_t i = gang->begin; i < gang->lanes; i++) to[i] = (uint32_t)(r32[i] + op->imm) + frame;
    else
        for (uint32_t i = gang->begin; i < gang->lanes; i++) to[i] = op->imm + frame;
}

static void ask_all(asked *a, const lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_window window = form.window;
    a->bytes = lw_memory_bytes(form);
    if (form.address == LW_ADDRESS_ROW) {
        const lw_mask lanes = op->e != LW_NO_SLOT ? gang->mask & lw_get_mask(gang, op->e) : gang->mask;
        LW_FOR_LANES(lane, lanes) ask(a, gang, lane, window, lw_address_of(gang, op, lane));
        return;
    }
    find_addresses(a, gang, op, form);
    if (are_plain(gang, &window, a->address)) a->lanes[window] = gang->mask;
    else LW_FOR_LANES(lane, gang->mask) ask(a, gang, lane, form.window, a->address[lane]);
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

static bool is_like(const lw_memo *memo, const lw_request *r, const uint64_t *first, uint32_t low) {
    if (memo->lanes != r->lanes || memo->low != low) return false;
    uint64_t differs = 0;
    if (r->lanes == UINT32_MAX)
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) differs |= (r->address[i] - *first) ^ memo->apart[i];
    else
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            differs |= r->lanes >> i & 1 ? (r->address[i] - *first) ^ memo->apart[i] : 0;
    return !differs;
}

static void judge(lw_memo *memo, const lw_request *r, lw_window window) {
    memo->below = memo->above = 0;
    for (uint32_t left = r->lanes; left; left &= left - 1) {
        const int64_t apart = (int64_t)memo->apart[__builtin_ctz(left)];
        if (apart > 0 && (uint64_t)apart > memo->above) memo->above = (uint64_t)apart;
        if (apart < 0 && -(uint64_t)apart > memo->below) memo->below = -(uint64_t)apart;
    }
    memo->pattern = lw_request_find_pattern(r, &memo->width);
    memo->sectors = memo->bytes = memo->rounds = memo->least = 0;
    if (window == LW_WINDOW_global) memo->sectors = lw_request_sectors(r, &memo->bytes);
    if (window == LW_WINDOW_shared || window == LW_WINDOW_cluster) memo->rounds = lw_request_rounds(r, &memo->least);
}

static void add_memo(lw_profile_access *access, const lw_memo *memo, uint32_t times) {
    lw_profile_add_pattern(access, memo->pattern, times, memo->width);
    access->requests += times;
    access->lanes += (uint64_t)times * lw_bits_count(memo->lanes);
    access->sectors += (uint64_t)times * memo->sectors, access->bytes += (uint64_t)times * memo->bytes;
    access->rounds += (uint64_t)times * memo->rounds, access->least_rounds += (uint64_t)times * memo->least;
}

static void count_request(lw_profile_access *access, lw_memo *memo, const lw_request *r) {
    const uint64_t *first = &r->address[__builtin_ctz(r->lanes)];
    const uint32_t low = (uint32_t)(*first % LW_SECTOR_BYTES);
    if (!is_like(memo, r, first, low)) {
        memo->lanes = r->lanes, memo->low = low;
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) memo->apart[i] = r->address[i] - *first;
        judge(memo, r, access->window);
    }
    add_memo(access, memo, 1);
}

/* `accesses`: of one window each, as many as there are. */
static void count_requests(lw_shard *shard, uint32_t first, const lw_profile_access *accesses, const asked *a) {
    lw_profile_access *to = &shard->accesses[first];
    lw_memo *memo = &shard->memos[first];
    for (const lw_profile_access *at = &accesses[first];; at++, to++, memo++) {
        to->window = at->window;
        for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++) {
            lw_request r = {.lanes = lw_mask_warp(a->lanes[at->window], warp), .bytes = a->bytes};
            if (!r.lanes) continue;
            memcpy(r.address, a->address + LW_WARP_LANES * warp, sizeof r.address);
            count_request(to, memo, &r);
        }
        if (at[1].code != at->code || at[1].op != at->op || at[1].kind != at->kind) break;
    }
}

/* ---- Accesses like the last one ---------------------------------------------------------------------------------- */

/* Whether all of a request's lanes are where the first one tells that they are: in this window, or of generic addresses
 * in global memory. */
static bool is_within(lw_window window, const lw_memo *memo, uint64_t first) {
    switch (window) {
    case LW_WINDOW_shared: return memo->below <= first && first + memo->above < LW_WINDOW_BYTES;
    case LW_WINDOW_generic: return memo->below <= first && first - memo->below >= LW_GLOBAL_BASE;
    default: return window != LW_WINDOW_cluster;
    }
}

static bool is_warp_like(const lw_memo *memo, const lw_gang *gang, const lw_op *op, lw_memory_form form,
                         uint32_t lane) {
    const uint64_t frame = form.frame ? gang->frame->local_base : 0;
    const uint32_t *r32 = form.address == 1 ? LW_SLOT(gang, uint32_t, op->a) + lane : NULL;
    const uint64_t *r64 = form.address == 2 ? LW_SLOT(gang, uint64_t, op->a) + lane : NULL;
    const uint64_t first = (r32 ? (uint32_t)(*r32 + op->imm) : r64 ? *r64 + op->imm : op->imm) + frame;
    if (first % LW_SECTOR_BYTES != memo->low || !is_within(form.window, memo, first)) return false;
    return r32   ? lw_profile_are_apart_32(r32, (uint32_t)op->imm, memo->apart)
           : r64 ? lw_profile_are_apart_64(r64, memo->apart)
                 : memo->pattern == LW_REQUEST_uniform;
}

/* Whole warps that ask for the same as the access did last time, but for where that begins. How many there are; 0: look
 * closer. */
static uint32_t count_like(const lw_memo *memo, const lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (memo->lanes != UINT32_MAX || form.address == LW_ADDRESS_ROW) return 0;
    lw_clear_upper_halves(gang);
    for (uint32_t lane = gang->begin; lane < gang->lanes; lane += LW_WARP_LANES)
        if (lw_mask_warp(gang->mask, lane / LW_WARP_LANES) != UINT32_MAX || !is_warp_like(memo, gang, op, form, lane))
            return 0;
    return (gang->lanes - gang->begin) / LW_WARP_LANES;
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

/* At first every operation, then one of EVERY, which stands for as many; by chance, since loops would keep step with
 * anything else. */
__attribute__((noinline)) static const lw_op *time_step(const lw_profile *p, lw_shard *shard, uint64_t *sum,
                                                        lw_step *step, lw_gang *gang, const lw_op *op) {
    enum { ALL = 1 << 16, EVERY = 16 };
    const uint64_t start = lw_profile_ticks();
    const lw_op *next = step(gang, op);
    uint64_t took = lw_profile_ticks() - start;
    if (LW_UNLIKELY(took > p->much)) took = without_others(shard, took);
    if (took > p->idle) *sum += (took - p->idle) * (shard->timed < ALL ? 1 : EVERY);
    if (++shard->timed < ALL) return next;
    shard->chance = shard->chance * 1664525 + 1013904223;
    shard->pause = 1 + (uint32_t)((uint64_t)shard->chance * (2 * EVERY - 1) >> 32); /* this one counts, too */
    return next;
}

static inline const lw_op *count(lw_profile *p, lw_shard *shard, lw_gang *gang, const lw_op *op) {
    const lw_program *program = p->program;
    const uint32_t at = p->firsts[gang->frame->code->index].op + (uint32_t)(op - gang->frame->code->ops);
    const uint64_t warps = gang->warp_instructions, lanes = gang->lane_instructions;
    lw_step *step = program->steps[op->code];
    const lw_op *next = shard->pause ? step(gang, op) : time_step(p, shard, &shard->ticks[at], step, gang, op);
    if (shard->pause) shard->pause--;
    if (gang->warp_instructions != warps)
        count_block(p, shard, gang, next,
                    (lw_profile_block){gang->warp_instructions - warps, gang->lane_instructions - lanes});
    return next;
}

const lw_op *lw_profile_step(lw_gang *gang, const lw_op *op) {
    lw_profile *p = gang->cta->program->profile;
    lw_shard *shard = own_shard(p);
    return shard ? count(p, shard, gang, op) : p->program->steps[op->code](gang, op);
}

__attribute__((noinline)) static const lw_op *look_closer(lw_profile *p, lw_shard *shard, lw_gang *gang,
                                                          const lw_op *op, uint32_t at) {
    asked sides[COPY_SIDES];
    const bool copies = op->code == LW_OP_async_copy;
    for (uint32_t k = 0; k < 1u + copies; k++) memset(sides[k].lanes, 0, sizeof sides[k].lanes);
    if (copies) ask_copies(sides, gang, op);
    else ask_all(&sides[0], gang, op);
    const lw_op *next = count(p, shard, gang, op);
    for (uint32_t k = 0; k < 1u + copies && gang->state != LW_GANG_trapped; k++)
        count_requests(shard, at + k, p->accesses, &sides[k]);
    return next;
}

/* Addresses are looked at before the step, which may write where they are, and count if it did not trap. */
const lw_op *lw_profile_access_step(lw_gang *gang, const lw_op *op) {
    lw_profile *p = gang->cta->program->profile;
    lw_shard *shard = own_shard(p);
    if (!shard) return p->program->steps[op->code](gang, op);
    const lw_code *code = gang->frame->code;
    const uint32_t at = p->access_of[p->firsts[code->index].op + (uint32_t)(op - code->ops)];
    const uint32_t alike = op->code == LW_OP_async_copy ? 0 : count_like(&shard->memos[at], gang, op);
    if (!alike) return look_closer(p, shard, gang, op, at);
    const lw_op *next = count(p, shard, gang, op);
    if (gang->state != LW_GANG_trapped) add_memo(&shard->accesses[at], &shard->memos[at], alike);
    return next;
}
