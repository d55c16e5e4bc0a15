/* sync.c: threads of a CTA that wait for each other at barriers, and fences. Warps meet in meet.c,
 * clusters in cluster.c.
 *
 * Manual sections 9.7.13.1 (barrier), 9.7.13.4 (fence). */
#include "run/interp/address.h"

#include <stdlib.h>

/* ---- Counting -------------------------------------------------------------------------------------------- */

/* Who came of a gang. */
static lw_mask *came_of(const lw_gang *gang, uint32_t number) { return &gang->cta->came[number][gang->number]; }

/* A warp counts as a whole once all of its lanes that can come have come. */
static uint32_t count_warp(const lw_gang *gang, uint32_t warp, lw_mask all) {
    uint32_t came = lw_mask_warp(all, warp), missing = lw_mask_warp(lw_live_lanes(gang), warp) & ~came;
    return came == 0 ? 0 : missing ? lw_bits_count(came) : LW_WARP_LANES;
}

/* Threads of the gang, by warps that it has, whoever of them executes now. */
static uint32_t count_threads(const lw_gang *gang, lw_mask came) {
    uint32_t count = 0;
    for (uint32_t warp = 0; warp <= lw_mask_last(gang->exist) / LW_WARP_LANES; warp++)
        count += count_warp(gang, warp, came);
    return count;
}

/* All threads that have not exited. As long as fewer have come than these are, nobody need ask who they are. */
static bool is_everybody(const lw_cta *cta, uint32_t number) {
    if (LW_LIKELY(cta->barriers[number].came < cta->live)) return false;
    for (uint32_t g = 0; g < cta->gang_count; g++)
        if (lw_live_lanes(&cta->gangs[g]) & ~cta->came[number][g]) return false;
    return true;
}

uint32_t lw_cta_came(const lw_cta *cta, uint32_t number) {
    const lw_barrier *barrier = &cta->barriers[number];
    uint32_t came = barrier->expected ? barrier->arrived : 0;
    for (uint32_t g = 0; g < cta->gang_count; g++) {
        const lw_gang *gang = &cta->gangs[g];
        const lw_mask lanes = cta->came[number][g];
        came += barrier->expected ? count_threads(gang, lanes) : lw_mask_count(lanes & lw_live_lanes(gang));
    }
    return came;
}

static bool is_complete(const lw_cta *cta, uint32_t number) {
    const uint32_t expected = cta->barriers[number].expected;
    return expected ? lw_cta_came(cta, number) >= expected : is_everybody(cta, number);
}

/* .arrive does not wait, so threads may be here for the second time. */
static void note_again(const lw_gang *gang, uint32_t number, lw_mask lanes) {
    lw_barrier *barrier = &gang->cta->barriers[number];
    lw_mask *came = came_of(gang, number);
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++) {
        if (!lw_mask_warp(*came & lanes, warp)) continue;
        barrier->arrived += count_warp(gang, warp, *came);
        barrier->came -= lw_bits_count(lw_mask_warp(*came, warp));
        *came &= ~lw_mask_of_warp(UINT32_MAX, warp);
    }
}

static void note_arrivals(const lw_gang *gang, uint32_t number, lw_mask lanes) {
    lw_mask *came = came_of(gang, number);
    if (LW_UNLIKELY(*came & lanes)) note_again(gang, number, lanes);
    *came |= lanes;
    gang->cta->barriers[number].came += lw_mask_count(lanes);
}

static void note_predicates(const lw_gang *gang, const lw_op *op, lw_barrier *barrier, lw_mask lanes) {
    if (op->mode != LW_BARRIER_red_popc && op->mode != LW_BARRIER_red_and && op->mode != LW_BARRIER_red_or) return;
    lw_mask p = lw_get_mask(gang, op->e);
    if (op->flags & LW_OP_NEGATE) p = ~p;
    barrier->popc += lw_mask_count(lanes & p);
    if (lanes & p) barrier->any = true;
    if (lanes & ~p) barrier->all = false;
}

/* ---- Release --------------------------------------------------------------------------------------------- */

static void put_result(const lw_frame *frame, const lw_op *op, const lw_barrier *barrier, lw_mask lanes) {
    if (op->d == LW_NO_SLOT) return;
    if (op->mode == LW_BARRIER_red_popc) {
        uint32_t *d = (uint32_t *)(frame->regs + op->d);
        LW_FOR_LANES(lane, lanes) d[lane] = barrier->popc;
    } else if (op->mode == LW_BARRIER_red_and || op->mode == LW_BARRIER_red_or) {
        lw_mask *d = (lw_mask *)(frame->regs + op->d);
        bool result = op->mode == LW_BARRIER_red_and ? barrier->all : barrier->any;
        *d = result ? *d | lanes : *d & ~lanes;
    }
}

void lw_gang_release(lw_gang *gang, uint32_t number, const lw_barrier *barrier) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait *wait = &gang->waits.at[i];
        if (wait->barrier != number) {
            gang->waits.at[kept++] = *wait;
            continue;
        }
        if (barrier) put_result(wait->frame, wait->op, barrier, wait->lanes);
        lw_gang_pend(wait->frame, wait->block, wait->lanes);
        if (gang->state == LW_GANG_waiting) gang->state = LW_GANG_ready;
    }
    gang->waits.count = kept;
}

/* A barrier in use. */
static void release_if_complete(lw_cta *cta, uint32_t number) {
    if (!is_complete(cta, number)) return;
    for (uint32_t g = 0; g < cta->gang_count; g++)
        if (cta->gangs[g].waits.count) lw_gang_release(&cta->gangs[g], number, &cta->barriers[number]);
    cta->barriers_in_use &= ~(1u << number);
    cta->cluster->idle = 0;
}

void lw_cta_check_barriers(lw_cta *cta) {
    for (uint32_t left = cta->barriers_in_use; left; left &= left - 1)
        release_if_complete(cta, (uint32_t)__builtin_ctz(left));
}

/* ---- The step -------------------------------------------------------------------------------------------- */

/* What some lanes ask for. count 0: all threads. */
typedef struct lw_request {
    uint32_t number, count;
    lw_mask lanes;
} lw_request;

static inline bool has_count(const lw_op *op) { return op->b != LW_NO_SLOT || op->flags & LW_OP_IMM_B; }

/* The lanes of `left` that ask for the same as its first one. */
static lw_request next_request(const lw_gang *gang, const lw_op *op, lw_mask left) {
    const uint32_t *numbers = op->flags & LW_OP_IMM_A ? NULL : LW_SLOT(gang, uint32_t, op->a);
    const uint32_t *counts = op->flags & LW_OP_IMM_B || op->b == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint32_t, op->b);
    uint32_t first = lw_mask_first(left);
    lw_request request = {.number = numbers ? numbers[first] : (uint32_t)op->imm, .lanes = left};
    if (has_count(op)) request.count = counts ? counts[first] : (uint32_t)(op->imm >> 32);
    if (!numbers && !counts) return request;
    LW_FOR_LANES(lane, left)
    if ((numbers && numbers[lane] != request.number) || (counts && counts[lane] != request.count))
        request.lanes &= ~LW_MASK_BIT(lane);
    return request;
}

/* Two counts that mean the same: none given is all warps of the CTA. */
static bool same_count(const lw_cta *cta, uint32_t a, uint32_t b) {
    uint32_t all = (cta->threads + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES;
    return (a ? a : all) == (b ? b : all);
}

static bool is_valid(const lw_op *op, const lw_request *request) {
    if (request->number >= LW_BARRIERS || request->count % LW_WARP_LANES) return false;
    bool needs_count = has_count(op) || op->mode == LW_BARRIER_arrive;
    return !needs_count || request->count;
}

static lw_wait *make_wait(lw_gang *gang) {
    if (gang->waits.count == gang->waits.room) {
        uint32_t room = gang->waits.room ? 2 * gang->waits.room : 8;
        void *grown = realloc(gang->waits.at, room * sizeof *gang->waits.at);
        if (!grown) return NULL;
        gang->waits.at = grown;
        gang->waits.room = room;
    }
    return &gang->waits.at[gang->waits.count++];
}

bool lw_gang_keep_wait(lw_gang *gang, const lw_wait *wait) {
    lw_wait *kept = make_wait(gang);
    if (kept) *kept = *wait;
    return kept;
}

/* Lanes will go on at the next block once the barrier opens. Member by member: to clear the whole first costs more than
 * all else here. */
bool lw_gang_add_wait(lw_gang *gang, const lw_op *op, uint32_t number, lw_mask lanes) {
    lw_wait *wait = make_wait(gang);
    if (!wait) return false;
    wait->frame = gang->frame;
    wait->op = op;
    wait->block = op[1].a;
    wait->barrier = number;
    wait->lanes = lanes;
    wait->object = NULL;
    wait->address = 0;
    wait->phase = false;
    return true;
}

static bool is_open(const lw_cta *cta, uint32_t number) { return cta->barriers_in_use >> number & 1; }

static void open_barrier(lw_cta *cta, const lw_request *request) {
    cta->barriers[request->number] = (lw_barrier){.expected = request->count, .all = true};
    cta->barriers_in_use |= 1u << request->number;
    for (uint32_t g = 0; g < cta->gang_count; g++) cta->came[request->number][g] = 0;
}

static bool trap(lw_gang *gang, const lw_op *op, const lw_request *request, lw_trap_kind kind) {
    lw_gang_trap(gang, op, kind, lw_mask_first(request->lanes),
                 (lw_trap_record){.access = "barrier", .detail = request->number, .size = request->count});
    return false;
}

/* Lanes arrive. False: trapped. */
static bool arrive(lw_gang *gang, const lw_op *op, const lw_request *request) {
    lw_cta *cta = gang->cta;
    if (!is_valid(op, request)) return trap(gang, op, request, LW_TRAP_barrier);
    lw_barrier *barrier = &cta->barriers[request->number];
    if (!is_open(cta, request->number)) open_barrier(cta, request);
    else if (!same_count(cta, barrier->expected, request->count) &&
             lw_gang_undefined(gang, op, LW_D_note_barrier_counts, request->lanes))
        return false;
    note_arrivals(gang, request->number, request->lanes);
    note_predicates(gang, op, barrier, request->lanes);
    if (op->mode != LW_BARRIER_arrive && !lw_gang_add_wait(gang, op, request->number, request->lanes))
        return trap(gang, op, request, LW_TRAP_memory);
    release_if_complete(cta, request->number);
    return true;
}

/* Where the whole CTA comes at once there is nobody to wait for, unless a count is for some who have exited: an H200
 * waits for these for ever. */
static const lw_op *pass_together(lw_gang *gang, const lw_op *op, const lw_request *request) {
    lw_barrier alone = {.all = true};
    note_predicates(gang, op, &alone, request->lanes);
    put_result(gang->frame, op, &alone, request->lanes);
    gang->cta->cluster->idle = 0;
    return op + 1;
}

/* All threads wait there, for each other and nothing else. */
bool lw_barrier_is_plain(const lw_op *op) {
    return op->mode == LW_BARRIER_sync && op->flags & LW_OP_IMM_A && !has_count(op) &&
           (uint32_t)op->imm < LW_BARRIERS && op[1].code == LW_OP_block;
}

/* A whole gang comes to a barrier that nobody has come to. Before it arrives the others have their turns: as a rule
 * they come as well, and nothing need be noted of anybody. */
static bool stands(lw_gang *gang, const lw_op *op) {
    const bool stood = gang->stands;
    gang->stands = !stood && lw_barrier_is_plain(op) && gang->mask == lw_live_lanes(gang) &&
                   !is_open(gang->cta, (uint32_t)op->imm);
    if (!gang->stands) return false;
    gang->resume = op;
    return gang->cta->stands = true;
}

bool lw_cta_pass_barrier(lw_cta *cta) {
    const lw_op *op = NULL;
    for (uint32_t g = 0; g < cta->gang_count; g++) {
        const lw_gang *gang = &cta->gangs[g];
        if (gang->state == LW_GANG_done) continue;
        if (!gang->stands || (op && op != gang->resume)) return false;
        op = gang->resume;
    }
    if (!op || is_open(cta, (uint32_t)op->imm)) return false;
    cta->stands = false;
    for (uint32_t g = 0; g < cta->gang_count; g++) {
        cta->gangs[g].stands = false;
        if (cta->gangs[g].state != LW_GANG_done) cta->gangs[g].resume = op + 1;
    }
    cta->cluster->idle = 0;
    return true;
}

const lw_op *lw_step_barrier(lw_gang *gang, const lw_op *op) {
    lw_cta *cta = gang->cta;
    if (cta->gang_count > 1 && stands(gang, op)) return NULL;
    lw_request request = next_request(gang, op, gang->mask);
    if (request.lanes == gang->mask && cta->live <= LW_GANG_LANES && lw_mask_count(gang->mask) == cta->live &&
        is_valid(op, &request) && !is_open(cta, request.number) && op->mode != LW_BARRIER_arrive &&
        same_count(cta, request.count, 0) && (!request.count || count_threads(gang, gang->mask) >= request.count))
        return pass_together(gang, op, &request);
    for (lw_mask left = gang->mask;;) {
        if (!arrive(gang, op, &request)) return NULL;
        if (!(left &= ~request.lanes)) break;
        request = next_request(gang, op, left);
    }
    return op->mode == LW_BARRIER_arrive ? op + 1 : lw_gang_select(gang);
}

/* ---- Fences ------------------------------------------------------------------------------------------------- */

const lw_op *lw_step_fence(lw_gang *gang, const lw_op *op) {
    (void)gang;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return op + 1;
}
