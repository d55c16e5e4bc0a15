/* grid.c: CTAs: what one needs, how its gangs take turns, and what one worker does with the CTAs of a launch.
 *
 *     claim a CTA → begin its gangs → turns until done → next
 *
 * A CTA that has used up many turns may be spinning on another one, so it is set aside and others get to run; it comes
 * back when there is nothing new to begin. */
#include "run/grid.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
    LW_ROUNDS = 64,            /* rounds of turns before a CTA is set aside */
    LW_RESIDENT = 32,          /* CTAs that a worker has begun at once, unless all must be … */
    LW_RESIDENT_PATIENCE = 16, /* … until each of them was set aside so often and none has ended: then they may wait for
                                  one that has not begun */
    LW_CTAS_KEPT = 4,          /* CTA objects that a worker keeps from launch to launch */
    LW_PATIENCE = 256,         /* turns that a worker's CTAs get to trap too after one behind them did */
    LW_FLUSH = 1 << 16,        /* warp instructions counted privately at most */
};

double lw_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- CTA objects ----------------------------------------------------------------------------------------- */

static void unmap_local(lw_cta *cta) {
    if (cta->local_room) munmap(cta->local, cta->local_room);
    cta->local = NULL;
    cta->local_room = 0;
}

static void end_gangs(lw_cta *cta) {
    for (uint32_t i = 0; i < cta->gang_room; i++) lw_gang_end(&cta->gangs[i]);
}

static void cta_free(lw_cta *cta) {
    end_gangs(cta);
    unmap_local(cta);
    free(cta->gangs);
    free(cta->shared);
    free(cta);
}

static void free_all(lw_cta **list) {
    for (lw_cta *next; *list; *list = next) {
        next = (*list)->next;
        cta_free(*list);
    }
}

static bool make_gangs(lw_cta *cta, uint32_t count) {
    if (count <= cta->gang_room) return true;
    lw_gang *gangs = aligned_alloc(_Alignof(lw_gang), count * sizeof *gangs);
    if (!gangs) return false;
    memset(gangs, 0, count * sizeof *gangs);
    end_gangs(cta);
    free(cta->gangs);
    cta->gangs = gangs;
    cta->gang_room = count;
    memset(cta->shape, 0, sizeof cta->shape);
    return true;
}

static bool make_shared(lw_cta *cta, uint32_t bytes) {
    if (bytes <= cta->shared_room) return true;
    size_t room = ((size_t)bytes + 63) & ~(size_t)63;
    char *shared = aligned_alloc(64, room);
    if (!shared) return false;
    free(cta->shared);
    cta->shared = shared;
    cta->shared_room = room;
    return true;
}

/* Address space only; pages come with use. Programs without frames in local memory need none. */
static bool make_local(lw_cta *cta, const lw_grid *grid) {
    size_t granules = ((size_t)grid->local_limit + 15) / 16, gang_bytes = granules * 16 * LW_GANG_LANES,
           bytes = gang_bytes * cta->gang_count;
    if (!bytes) return true;
    if (bytes > cta->local_room) {
        unmap_local(cta);
        void *local = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (local == MAP_FAILED) return false;
        cta->local = local;
        cta->local_room = bytes;
        for (uint32_t i = 0; i < cta->gang_count; i++) cta->gangs[i].local_used = 0;
    }
    for (uint32_t i = 0; i < cta->gang_count; i++) cta->gangs[i].local = cta->local + i * gang_bytes;
    return true;
}

/* %tid of all lanes; depends on the shape of the block only. */
static void number_threads(lw_cta *cta, const lw_grid *grid) {
    const uint32_t *block = grid->block;
    uint32_t shape[4] = {block[0], block[1], block[2], grid->gang_lanes};
    if (!memcmp(shape, cta->shape, sizeof shape)) return;
    memcpy(cta->shape, shape, sizeof shape);
    for (uint32_t g = 0; g < cta->gang_count; g++)
        for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
            uint32_t thread = g * grid->gang_lanes + lane;
            cta->gangs[g].tid[0][lane] = thread % block[0];
            cta->gangs[g].tid[1][lane] = thread / block[0] % block[1];
            cta->gangs[g].tid[2][lane] = thread / block[0] / block[1];
        }
}

static bool cta_begin(lw_cta *cta, lw_grid *grid, uint64_t number) {
    cta->grid = grid;
    cta->program = grid->program;
    cta->number = number;
    cta->index[0] = (uint32_t)(number % grid->shape[0]);
    cta->index[1] = (uint32_t)(number / grid->shape[0] % grid->shape[1]);
    cta->index[2] = (uint32_t)(number / grid->shape[0] / grid->shape[1]);
    cta->threads = cta->live = grid->block[0] * grid->block[1] * grid->block[2];
    cta->gang_count = (cta->threads + grid->gang_lanes - 1) / grid->gang_lanes;
    cta->shared_bytes = grid->shared_bytes;
    cta->trap.kind = LW_TRAP_none;
    cta->barriers_in_use = 0;
    if (!make_gangs(cta, cta->gang_count) || !make_shared(cta, cta->shared_bytes) || !make_local(cta, grid))
        return false;
    number_threads(cta, grid);
    /* CUDA leaves it undefined; zeros make what reads it repeatable. The same holds for local memory: frames begin with
     * zeros there. */
    if (cta->shared_bytes) memset(cta->shared, 0, cta->shared_bytes);
    for (uint32_t i = 0; i < cta->gang_count; i++)
        if (!lw_gang_begin(&cta->gangs[i], cta, i)) return false;
    return true;
}

static lw_cta *take_cta(lw_seat *seat) {
    lw_cta *cta = seat->free;
    if (!cta) return calloc(1, sizeof *cta);
    seat->free = cta->next;
    return cta;
}

static void put_cta(lw_seat *seat, lw_cta *cta) {
    cta->next = seat->free;
    seat->free = cta;
}

/* ---- Seats: what a worker keeps -------------------------------------------------------------------------- */

/* Frames point into the program and local memory belongs to one launch. */
static void seat_end_launch(lw_seat *seat) {
    lw_cta **link = &seat->free;
    for (int kept = 0; *link && kept < LW_CTAS_KEPT; link = &(*link)->next, kept++) {
        end_gangs(*link);
        unmap_local(*link);
    }
    free_all(link);
}

void lw_seat_end(lw_seat *seat) { free_all(&seat->free); }

/* ---- Limits and traps ------------------------------------------------------------------------------------ */

static void flush_counts(lw_seat *seat, lw_grid *grid) {
    atomic_fetch_add_explicit(&grid->warp_instructions, seat->warp_instructions, memory_order_relaxed);
    atomic_fetch_add_explicit(&grid->lane_instructions, seat->lane_instructions, memory_order_relaxed);
    atomic_fetch_add_explicit(&grid->done_ctas, seat->done_ctas, memory_order_relaxed);
    seat->warp_instructions = seat->lane_instructions = seat->done_ctas = 0;
}

static void count_gang(lw_seat *seat, lw_gang *gang) {
    seat->warp_instructions += gang->warp_instructions;
    seat->lane_instructions += gang->lane_instructions;
    gang->warp_instructions = gang->lane_instructions = 0;
}

/* The trap of the lowest CTA is kept; a stop never replaces a trap. */
static void report(lw_grid *grid, uint64_t number, const lw_trap_record *trap) {
    pthread_mutex_lock(&grid->lock);
    bool stop = trap->kind == LW_TRAP_stopped, has_trap = grid->trap.kind && grid->trap.kind != LW_TRAP_stopped;
    if (stop ? !grid->trap.kind : !has_trap || number < atomic_load(&grid->trap_cta)) {
        grid->trap = *trap;
        if (!stop) atomic_store(&grid->trap_cta, number);
    }
    if (stop) atomic_store(&grid->stopped, true);
    atomic_store(&grid->ended, true);
    pthread_mutex_unlock(&grid->lock);
}

static void report_kind(lw_grid *grid, uint64_t number, lw_trap_kind kind) {
    lw_trap_record trap = {.kind = kind, .code = grid->program->entry};
    report(grid, number, &trap);
}

static bool over_limit(lw_seat *seat, lw_grid *grid) {
    if (grid->stops && atomic_load_explicit(grid->stops, memory_order_relaxed) != grid->stops_before) return true;
    if (grid->deadline > 0 && lw_clock() > grid->deadline) return true;
    if (!grid->step_limit) return false;
    return atomic_load_explicit(&grid->warp_instructions, memory_order_relaxed) + seat->warp_instructions >=
           grid->step_limit;
}

/* Whether a CTA must not go on. After a trap those in front of it still may, so that which trap is reported does not
 * depend on how fast each worker is; but they may be waiting for the one that is gone. */
static bool must_end(lw_seat *seat, lw_grid *grid, const lw_cta *cta) {
    if (over_limit(seat, grid)) report_kind(grid, cta->number, LW_TRAP_stopped);
    if (LW_LIKELY(!atomic_load_explicit(&grid->ended, memory_order_relaxed))) return false;
    if (atomic_load(&grid->stopped)) return true;
    if (cta->number > atomic_load(&grid->trap_cta) || !seat->patience) return true;
    seat->patience--;
    return false;
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

/* No gang can run though threads are left. Of each gang the first lanes that wait for others of their warp go on with
 * those that came, since nobody can come any more. False: no lane waits for its warp, only for barriers; nothing ever
 * moves again. */
static bool unstick(lw_cta *cta) {
    bool moved = false;
    for (uint32_t g = 0; g < cta->gang_count && !cta->trap.kind; g++)
        moved |= cta->gangs[g].state == LW_GANG_waiting && lw_gang_meet_anyway(&cta->gangs[g]);
    return moved;
}

/* One turn for every gang that can run. */
static bool run_round(lw_seat *seat, lw_cta *cta, bool *ran) {
    *ran = false;
    for (uint32_t g = 0; g < cta->gang_count; g++) {
        lw_gang *gang = &cta->gangs[g];
        if (gang->state != LW_GANG_ready) continue;
        *ran = true;
        lw_gang_run(gang);
        count_gang(seat, gang);
        if (LW_UNLIKELY(gang->state == LW_GANG_trapped)) return false;
        if (gang->state == LW_GANG_ready) {
            if (must_end(seat, cta->grid, cta)) return false;
            lw_seat_progress(seat, cta->grid);
        }
    }
    return true;
}

lw_cta_end lw_cta_run(lw_seat *seat, lw_cta *cta) {
    lw_grid *grid = cta->grid;
    for (uint32_t round = 0; round < LW_ROUNDS; round++) {
        bool ran, may_go_on = run_round(seat, cta, &ran);
        if (may_go_on && cta->live == 0) return LW_CTA_DONE;
        if (may_go_on && !ran && !unstick(cta)) lw_trap_deadlock(cta);
        if (cta->trap.kind) {
            report(grid, cta->number, &cta->trap);
            return LW_CTA_TRAPPED;
        }
        if (!may_go_on) return LW_CTA_ABANDONED;
    }
    return must_end(seat, grid, cta) ? LW_CTA_ABANDONED : LW_CTA_SPENT;
}

/* ---- A worker's part of a launch --------------------------------------------------------------------------- */

void lw_seat_progress(lw_seat *seat, lw_grid *grid) {
    if (seat->warp_instructions >= LW_FLUSH || grid->step_limit) flush_counts(seat, grid);
    if (!seat->progress) return;
    double now = lw_clock();
    if (now < seat->progress_next) return;
    seat->progress_next = now + LW_PROGRESS_SECONDS;
    flush_counts(seat, grid);
    seat->progress(seat->user);
}

/* CTAs are claimed in increasing order, several at a time where there are many. */
static bool claim(lw_seat *seat, lw_grid *grid, uint64_t *number) {
    if (seat->claimed == seat->claimed_end) {
        uint64_t from = atomic_fetch_add_explicit(&grid->next_cta, grid->batch, memory_order_relaxed);
        if (from >= grid->cta_count) return false;
        seat->claimed = from;
        seat->claimed_end = grid->cta_count - from < grid->batch ? grid->cta_count : from + grid->batch;
    }
    *number = seat->claimed++;
    return true;
}

/* The next CTA to begin, or NULL: no more, or none that may begin. */
static lw_cta *begin_next(lw_seat *seat, lw_grid *grid) {
    uint64_t number;
    if (atomic_load_explicit(&grid->ended, memory_order_relaxed) && seat->claimed == seat->claimed_end) return NULL;
    if (!claim(seat, grid, &number)) return NULL;
    if (grid->limited && over_limit(seat, grid)) report_kind(grid, number, LW_TRAP_stopped);
    if (atomic_load_explicit(&grid->ended, memory_order_relaxed) &&
        (atomic_load(&grid->stopped) || number > atomic_load(&grid->trap_cta)))
        return NULL;
    lw_cta *cta = take_cta(seat);
    if (cta && cta_begin(cta, grid, number)) return cta;
    if (cta) put_cta(seat, cta);
    report_kind(grid, number, LW_TRAP_memory);
    return NULL;
}

typedef struct lw_queue { /* CTAs that were set aside, first to come back first */
    lw_cta *first, **last;
    uint32_t count;
} lw_queue;

static void set_aside(lw_queue *queue, lw_cta *cta) {
    cta->next = NULL;
    *queue->last = cta;
    queue->last = &cta->next;
    queue->count++;
}

static lw_cta *bring_back(lw_queue *queue) {
    lw_cta *cta = queue->first;
    if (!cta) return NULL;
    queue->first = cta->next;
    if (!queue->first) queue->last = &queue->first;
    queue->count--;
    return cta;
}

void lw_grid_work(lw_seat *seat, lw_grid *grid) {
    lw_queue aside = {.last = &aside.first};
    seat->claimed = seat->claimed_end = 0;
    seat->patience = LW_PATIENCE;
    const bool ordered = grid->program->vector.ordered;
    uint32_t most = grid->cooperative ? UINT32_MAX : ordered ? 1 : LW_RESIDENT;
    uint64_t in_vain = 0; /* CTAs set aside since the last one ended */
    for (;;) {
        lw_cta *cta = aside.count < most ? begin_next(seat, grid) : NULL;
        if (!cta && (cta = bring_back(&aside))) sched_yield(); /* whom it waits for may need this core */
        if (!cta) break;
        lw_cta_end end = lw_cta_run(seat, cta);
        if (end == LW_CTA_SPENT) {
            set_aside(&aside, cta);
            lw_seat_progress(seat, grid);
            if (!ordered && ++in_vain / LW_RESIDENT_PATIENCE >= most && most < UINT32_MAX / 2) most *= 2, in_vain = 0;
            continue;
        }
        in_vain = 0;
        put_cta(seat, cta);
        seat->done_ctas += end == LW_CTA_DONE;
        lw_seat_progress(seat, grid);
    }
    flush_counts(seat, grid);
    seat_end_launch(seat);
}
