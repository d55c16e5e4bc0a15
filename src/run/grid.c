/* grid.c: CTAs: what one needs, how its gangs take turns, and what one worker does with the CTAs of a launch.
 *
 *     claim a cluster → begin the gangs of its CTAs → turns until done → next
 *
 * In a launch without clusters each CTA is one. A cluster that has used up many turns may be spinning on another one,
 * so it is set aside and others get to run; it comes back when there is nothing new to begin. */
#include "run/grid.h"

#include "run/crowd.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
    LW_ROUNDS = 64,            /* rounds of turns before a cluster is set aside … */
    LW_BARRIERS_PASSED = 1024, /* … and barriers where nobody is seen to wait for other CTAs, and nobody looks */
    LW_RUN_SETTLES = 64,       /* CTAs of a run behind which what they counted is told */
    LW_RESIDENT = 32,          /* CTAs that a worker has begun at once, but two clusters, unless all must be … */
    LW_RESIDENT_PATIENCE = 16, /* … until each of them was set aside so often and none has ended: then they may wait for
                                  one that has not begun */
    LW_CTAS_KEPT = 4,          /* CTA objects that a worker keeps from launch to launch, with … */
    LW_BYTES_KEPT = 1 << 20,   /* … so many bytes of frames and local memory at most */
    LW_PATIENCE = 256,         /* turns that a worker's CTAs get to trap too after one behind them did */
    LW_FLUSH = 1 << 16,        /* warp instructions counted privately at most */
};

/* Of this thread: what others take from it does not count. */
static double cpu_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- CTA objects ----------------------------------------------------------------------------------------- */

static void unmap_local(lw_cta *cta) {
    if (cta->local_room) munmap(cta->local, cta->local_room);
    cta->local = NULL;
    cta->local_room = 0;
    for (uint32_t i = 0; i < cta->gang_room; i++) cta->gangs[i].local_used = cta->gangs[i].local_most = 0;
}

static void end_gangs(lw_cta *cta) {
    for (uint32_t i = 0; i < cta->gang_room; i++) lw_gang_end(&cta->gangs[i]);
}

/* Nothing in it is of a program any more. */
static void forget_program(lw_cta *cta) {
    end_gangs(cta);
    unmap_local(cta);
    cta->kept_for = 0;
    cta->grid = NULL;
}

static void cta_free(lw_cta *cta) {
    forget_program(cta);
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

/* Address space only; pages come with use. Programs without frames in local memory need none. A granule more than there
 * are lanes: compiled code reads whole granules, from somewhere in the first one on. */
static bool make_local(lw_cta *cta, const lw_grid *grid) {
    size_t granules = ((size_t)grid->local_limit + 15) / 16, gang_bytes = granules * 16 * LW_GANG_LANES,
           bytes = gang_bytes * cta->gang_count + 16;
    if (!gang_bytes) return true;
    if (bytes > cta->local_room) {
        unmap_local(cta);
        void *local = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (local == MAP_FAILED) return false;
        cta->local = local;
        cta->local_room = bytes;
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

/* The coordinates of element `number` of a box, x first. */
static void locate(uint32_t at[3], uint64_t number, uint64_t x, uint64_t y) {
    if (number < x) { /* three divisions take longer than all else that begins a CTA */
        at[0] = (uint32_t)number;
        at[1] = at[2] = 0;
        return;
    }
    at[0] = (uint32_t)(number % x);
    at[1] = (uint32_t)(number / x % y);
    at[2] = (uint32_t)(number / x / y);
}

/* Where it is in the grid, by the cluster that it is in and its rank there. */
static void place_cta(lw_cta *cta, const lw_grid *grid) {
    const uint32_t *each = grid->cluster;
    locate(cta->place, cta->rank, each[0], each[1]);
    for (int i = 0; i < 3; i++) cta->index[i] = cta->cluster->index[i] * each[i] + cta->place[i];
    cta->number = ((uint64_t)cta->index[2] * grid->shape[1] + cta->index[1]) * grid->shape[0] + cta->index[0];
}

/* What all CTAs of a launch have in common. */
static bool cta_prepare(lw_cta *cta, lw_grid *grid) {
    cta->threads = grid->block[0] * grid->block[1] * grid->block[2];
    cta->gang_count = (cta->threads + grid->gang_lanes - 1) / grid->gang_lanes;
    cta->shared_bytes = grid->shared_bytes;
    if (!make_gangs(cta, cta->gang_count) || !make_shared(cta, cta->shared_bytes) || !make_local(cta, grid))
        return false;
    number_threads(cta, grid);
    cta->grid = grid;
    return true;
}

/* CUDA leaves it undefined; zeros make what reads it repeatable. Frames begin with zeros in local memory, too. */
static void clear_shared(lw_cta *cta) {
    if (cta->shared_bytes) memset(cta->shared, 0, cta->shared_bytes);
}

static bool cta_begin(lw_cta *cta, lw_grid *grid) {
    if (cta->grid != grid && !cta_prepare(cta, grid)) return false;
    place_cta(cta, grid);
    cta->live = cta->threads;
    cta->trap.kind = LW_TRAP_none;
    cta->barriers_in_use = 0;
    cta->turn = 0;
    cta->stands = cta->runs = cta->run_moves = cta->swapped = false;
    cta->handed = NULL;
    clear_shared(cta);
    for (uint32_t i = 0; i < cta->gang_count; i++)
        if (!lw_gang_begin(&cta->gangs[i], cta, i)) return false;
    return true;
}

/* One that has what the program needs, or a new one; where there are enough already, the one that was not used for the
 * longest time. NULL: no memory. */
static lw_cta *take_cta(lw_seat *seat, const lw_program *program) {
    lw_cta **link = &seat->free, **last = NULL, *cta;
    uint32_t count = 0;
    for (; *link && ((*link)->kept_for != program->number || !program->number); link = &(*link)->next, count++)
        last = link;
    if (*link || count >= LW_CTAS_KEPT) {
        if (!*link) forget_program(*(link = last));
        cta = *link;
        *link = cta->next;
    } else if (!(cta = calloc(1, sizeof *cta))) {
        return NULL;
    }
    cta->kept_for = program->number;
    cta->program = program;
    return cta;
}

static void put_cta(lw_seat *seat, lw_cta *cta) {
    cta->next = seat->free;
    seat->free = cta;
}

static void put_cluster(lw_seat *seat, lw_cluster *cluster) {
    for (uint32_t rank = cluster->count; rank-- > 0;) put_cta(seat, cluster->ctas[rank]);
}

/* The one that clusters which begin now run. */
static const lw_program *newest_program(const lw_grid *grid) {
    return grid->tier ? lw_tier_program(grid->tier) : grid->program;
}

static void place_cluster(lw_cluster *cluster, const lw_grid *grid, uint64_t number) {
    cluster->number = number;
    cluster->live = cluster->arrived = cluster->idle = cluster->polls = cluster->rounds = 0;
    if (!grid->has_clusters) locate(cluster->index, number, grid->shape[0], grid->shape[1]);
    else locate(cluster->index, number, grid->shape[0] / grid->cluster[0], grid->shape[1] / grid->cluster[1]);
}

/* The one that a CTA which has begun goes on with. */
static const lw_program *next_program(const lw_cta *cta) {
    const lw_grid *grid = cta->grid;
    return grid->tier ? lw_tier_goes_on(grid->tier, cta->program, cta->swapped) : grid->program;
}

/* Takes the CTAs of a cluster, all for one code of the program. NULL: no memory. */
static lw_cluster *take_cluster(lw_seat *seat, const lw_grid *grid, uint64_t number) {
    const uint32_t count = grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
    const lw_program *program = newest_program(grid);
    lw_cta *first = take_cta(seat, program);
    lw_cluster *cluster = first ? &first->own_cluster : NULL;
    if (!cluster) return NULL;
    cluster->count = 0;
    place_cluster(cluster, grid, number);
    for (lw_cta *cta = first; cta; cta = cluster->count < count ? take_cta(seat, program) : NULL) {
        cta->seat = seat;
        cta->watched = seat->progress || grid->deadline > 0 || (grid->tier && lw_tier_changes(grid->tier));
        cta->unseen = 0;
        cta->cluster = cluster;
        cta->rank = cluster->count;
        cluster->ctas[cluster->count++] = cta;
    }
    if (cluster->count == count) return cluster;
    put_cluster(seat, cluster);
    return NULL;
}

static bool cluster_begin(lw_cluster *cluster, lw_grid *grid) {
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        if (!cta_begin(cluster->ctas[rank], grid)) return false;
        cluster->live += cluster->ctas[rank]->live;
    }
    return true;
}

/* ---- Seats: what a worker keeps -------------------------------------------------------------------------- */

/* Bytes that would be of use to a later launch of the same program. */
static uint64_t kept_bytes(const lw_cta *cta) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < cta->gang_room; i++) {
        const lw_gang *gang = &cta->gangs[i];
        const uint32_t local = gang->local_used > gang->local_most ? gang->local_used : gang->local_most;
        bytes += gang->frame_bytes + (uint64_t)local * LW_GANG_LANES;
    }
    return bytes;
}

/* Frames point into the program, which may be gone when the next launch begins: then nobody asks for its number any
 * more. */
static void seat_end_launch(lw_seat *seat) {
    uint64_t bytes = 0;
    lw_cta **link = &seat->free;
    for (int kept = 0; *link && kept < LW_CTAS_KEPT; link = &(*link)->next, kept++) {
        lw_cta *cta = *link;
        for (uint32_t i = 0; cta->grid && i < cta->gang_room; i++) lw_gang_rest(&cta->gangs[i]);
        cta->grid = NULL; /* it rests */
        const uint64_t more = kept_bytes(cta);
        if (cta->kept_for && bytes + more <= LW_BYTES_KEPT) bytes += more;
        else forget_program(cta);
    }
    free_all(link);
}

void lw_seat_end(lw_seat *seat) { free_all(&seat->free); }

/* ---- Limits and traps ------------------------------------------------------------------------------------ */

static void tell_tier(lw_seat *seat, lw_tier *tier) {
    lw_tier_count(tier, seat->warp_instructions);
    if (!seat->metered) return;
    const double now = cpu_clock();
    lw_tier_measured(tier, seat->metered, seat->metered_swapped, seat->lane_instructions, now - seat->since);
    seat->since = now;
}

/* Adds to one of a grid's counters, and returns what it was. Where nobody else works on the launch no other processor
 * has to be asked, which is what a small launch would wait for most. */
static uint64_t add(const lw_seat *seat, _Atomic uint64_t *counter, uint64_t more) {
    if (!seat->alone) return atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
    const uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + more, memory_order_relaxed);
    return before;
}

static void flush_counts(lw_seat *seat, lw_grid *grid) {
    add(seat, &grid->warp_instructions, seat->warp_instructions);
    add(seat, &grid->lane_instructions, seat->lane_instructions);
    add(seat, &grid->done_ctas, seat->done_ctas);
    add(seat, &grid->compiled_ctas, seat->compiled_ctas);
    if (grid->tier) tell_tier(seat, grid->tier);
    seat->warp_instructions = seat->lane_instructions = seat->done_ctas = seat->compiled_ctas = 0;
}

/* While both codes of a program are on trial, what each has done is counted apart, with its time. */
static void meter(lw_seat *seat, lw_grid *grid, const lw_cta *cta) {
    const lw_program *metered = lw_tier_measures(grid->tier) ? cta->program : NULL;
    if (LW_LIKELY(metered == seat->metered && cta->swapped == seat->metered_swapped)) return;
    flush_counts(seat, grid);
    seat->metered = metered;
    seat->metered_swapped = cta->swapped;
    if (metered) seat->since = cpu_clock();
}

static void count_done(lw_seat *seat, const lw_cluster *cluster) {
    const lw_cta *first = cluster->ctas[0];
    seat->done_ctas += cluster->count;
    if (first->program != first->grid->program) seat->compiled_ctas += cluster->count;
}

void lw_gang_settle(lw_gang *gang) {
    lw_seat *seat = gang->cta->seat;
    lw_gang_hand_notes(gang);
    seat->warp_instructions += gang->warp_instructions;
    seat->lane_instructions += gang->lane_instructions;
    gang->warp_instructions = gang->lane_instructions = 0;
}

/* The trap of the lowest cluster is kept; a stop never replaces a trap. */
static void report(lw_grid *grid, uint64_t number, const lw_trap_record *trap) {
    pthread_mutex_lock(&grid->lock);
    bool stop = trap->kind == LW_TRAP_stopped, has_trap = grid->trap.kind && grid->trap.kind != LW_TRAP_stopped;
    if (stop ? !grid->trap.kind : !has_trap || number < atomic_load(&grid->trap_at)) {
        grid->trap = *trap;
        if (!stop) atomic_store(&grid->trap_at, number);
    }
    if (stop) atomic_store(&grid->stopped, true);
    atomic_store(&grid->ended, true);
    pthread_mutex_unlock(&grid->lock);
}

static void report_kind(lw_grid *grid, uint64_t number, lw_trap_kind kind) {
    lw_trap_record trap = {.kind = kind, .code = grid->program->entry};
    report(grid, number, &trap);
}

static bool is_stopped(const lw_grid *grid) {
    return grid->stops && atomic_load_explicit(grid->stops, memory_order_relaxed) != grid->stops_before;
}

bool lw_grid_is_late(const lw_grid *grid) {
    return is_stopped(grid) || (grid->deadline > 0 && lw_clock() > grid->deadline);
}

static bool over_limit(lw_seat *seat, lw_grid *grid) {
    if (lw_grid_is_late(grid)) return true;
    if (!grid->step_limit) return false;
    return atomic_load_explicit(&grid->warp_instructions, memory_order_relaxed) + seat->warp_instructions >=
           grid->step_limit;
}

/* Whether a cluster must not go on. After a trap those in front of it still may, so that which trap is reported does
 * not depend on how fast each worker is; but they may be waiting for the one that is gone. */
static bool must_end(lw_seat *seat, lw_grid *grid, const lw_cluster *cluster) {
    if (over_limit(seat, grid)) report_kind(grid, cluster->number, LW_TRAP_stopped);
    if (LW_LIKELY(!atomic_load_explicit(&grid->ended, memory_order_relaxed))) return false;
    if (atomic_load(&grid->stopped)) return true;
    if (cluster->number > atomic_load(&grid->trap_at) || !seat->patience) return true;
    seat->patience--;
    return false;
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

/* No gang can run though threads are left. What they have begun is done now; who waits for phases of mbarrier objects
 * has waited long enough; of each gang the first lanes that wait for others of their warp go on with those that came,
 * since nobody can come any more. False: lanes wait for barriers only, or ask again and again for phases; nothing ever
 * moves again. */
static bool unstick(lw_cluster *cluster) {
    if (lw_cluster_finish_async(cluster) || lw_cluster_time_out(cluster)) return true;
    bool moved = false;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        lw_cta *cta = cluster->ctas[rank];
        for (uint32_t g = 0; g < cta->gang_count && !cta->trap.kind; g++)
            moved |= cta->gangs[g].state == LW_GANG_waiting && lw_gang_meet_anyway(&cta->gangs[g]);
    }
    return moved;
}

/* On by the code that is due. */
static void follow_tier(lw_seat *seat, lw_grid *grid, lw_cta *cta) {
    const lw_program *next = next_program(cta);
    if (cta->program != next && cta->cluster->count == 1) lw_cta_swap(cta, next);
    meter(seat, grid, cta);
}

/* Between turns. False: the cluster must not go on. */
static bool look_up(lw_seat *seat, lw_cta *cta) {
    cta->unseen = 0;
    lw_grid *grid = cta->grid;
    if (must_end(seat, grid, cta->cluster)) return false;
    lw_seat_progress(seat, grid);
    if (grid->tier) follow_tier(seat, grid, cta);
    return true;
}

static void settle_gangs(lw_cta *cta) {
    for (uint32_t g = 0; g < cta->gang_count; g++) lw_gang_settle(&cta->gangs[g]);
}

/* Its turn is over, and it can go on at once. */
static bool is_spent(const lw_gang *gang) { return gang->state == LW_GANG_ready && !gang->stands; }

/* One turn for every gang that can run. */
static bool run_gangs(lw_seat *seat, lw_cta *cta, bool *ran) {
    cta->stands = false;
    for (cta->turn = 0; cta->turn < cta->gang_count;) {
        lw_gang *gang = &cta->gangs[cta->turn++];
        if (LW_UNLIKELY(gang->timed) && !lw_gang_wake(gang)) return false;
        if (gang->state != LW_GANG_ready) continue;
        *ran = true;
        lw_gang_run(gang);
        if (LW_UNLIKELY(cta->trap.kind)) return false;
        if ((is_spent(gang) || is_spent(&cta->gangs[cta->turn - 1])) && !look_up(seat, cta)) return false;
    }
    return !cta->stands || !lw_cta_pass_barrier(cta) || look_up(seat, cta);
}

/* What is counted is counted, however it ends. */
static bool run_cta(lw_seat *seat, lw_cta *cta, bool *ran) {
    if (LW_LIKELY(run_gangs(seat, cta, ran))) return true;
    settle_gangs(cta);
    return false;
}

static bool run_round(lw_seat *seat, const lw_cluster *cluster, bool *ran) {
    *ran = false;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (!run_cta(seat, cluster->ctas[rank], ran)) return false;
    return true;
}

/* The one of its CTAs that trapped, or NULL. */
static const lw_cta *find_trapped(const lw_cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (cluster->ctas[rank]->trap.kind) return cluster->ctas[rank];
    return NULL;
}

static lw_cluster_end abandon(lw_grid *grid, const lw_cluster *cluster) {
    if (atomic_load(&grid->stopped)) lw_stops_add(grid, cluster);
    return LW_CLUSTER_ABANDONED;
}

lw_cluster_end lw_cluster_run(lw_seat *seat, lw_cluster *cluster) {
    lw_grid *grid = cluster->ctas[0]->grid;
    cluster->passed = 0;
    for (cluster->rounds = 0; cluster->rounds < LW_ROUNDS; cluster->rounds++) {
        bool ran, may_go_on = run_round(seat, cluster, &ran);
        if (may_go_on && cluster->live == 0) return LW_CLUSTER_DONE;
        if (may_go_on && !ran && !unstick(cluster)) lw_trap_deadlock(cluster);
        const lw_cta *trapped = find_trapped(cluster);
        if (trapped) {
            report(grid, cluster->number, &trapped->trap);
            return LW_CLUSTER_TRAPPED;
        }
        if (!may_go_on) return abandon(grid, cluster);
    }
    return must_end(seat, grid, cluster) ? abandon(grid, cluster) : LW_CLUSTER_SPENT;
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

/* Clusters are claimed in increasing order, several at a time where there are many. */
static bool claim(lw_seat *seat, lw_grid *grid, uint64_t *number) {
    if (seat->claimed == seat->claimed_end) {
        uint64_t from = add(seat, &grid->next_cluster, grid->batch);
        if (from >= grid->cluster_count) return false;
        seat->claimed = from;
        seat->claimed_end = grid->cluster_count - from < grid->batch ? grid->cluster_count : from + grid->batch;
    }
    *number = seat->claimed++;
    return true;
}

bool lw_grid_cancel(lw_grid *grid, uint64_t *number) {
    *number = atomic_fetch_add_explicit(&grid->next_cluster, 1, memory_order_relaxed);
    if (*number >= grid->cluster_count) return false;
    atomic_fetch_add_explicit(&grid->canceled_ctas, grid->cta_count / grid->cluster_count, memory_order_relaxed);
    return true;
}

/* The next cluster to begin, or NULL: no more, or none that may begin. */
static lw_cluster *begin_next(lw_seat *seat, lw_grid *grid, bool must) {
    uint64_t number;
    if (atomic_load_explicit(&grid->ended, memory_order_relaxed) && seat->claimed == seat->claimed_end) return NULL;
    if (!claim(seat, grid, &number)) return NULL;
    if (grid->limited && over_limit(seat, grid)) report_kind(grid, number, LW_TRAP_stopped);
    if (atomic_load_explicit(&grid->ended, memory_order_relaxed) &&
        (atomic_load(&grid->stopped) || number > atomic_load(&grid->trap_at)))
        return NULL;
    lw_cluster *cluster = take_cluster(seat, grid, number);
    if (cluster && cluster_begin(cluster, grid)) return cluster;
    if (cluster) put_cluster(seat, cluster);
    if (must) report_kind(grid, number, LW_TRAP_memory);
    else seat->claimed--;
    return NULL;
}

/* ---- From turn to turn, as long as nobody has to look ------------------------------------------------------ */

static bool is_due(const lw_cta *cta) { return cta->unseen >= LW_BUDGET || cta->program != next_program(cta); }

/* Nothing that a worker does between turns is due. */
static inline bool may_go_on(const lw_cta *cta) {
    const lw_grid *grid = cta->grid;
    if (grid->step_limit || (LW_UNLIKELY(cta->watched) && is_due(cta))) return false;
    return !atomic_load_explicit(&grid->ended, memory_order_relaxed) && !is_stopped(grid);
}

/* CTAs may follow each other in the same objects. */
static bool may_follow(const lw_seat *seat, const lw_cta *cta) {
    const lw_grid *grid = cta->grid;
    if (!seat->may_begin || cta->program != newest_program(grid)) return false;
    return !grid->tier || (!seat->metered && !lw_tier_measures(grid->tier));
}

/* The CTA, alone in its cluster, has ended, and another one is claimed. */
static bool claim_another(lw_seat *seat, lw_cta *cta, uint64_t *number) {
    lw_grid *grid = cta->grid;
    if (!may_follow(seat, cta) || !claim(seat, grid, number)) return false;
    count_done(seat, cta->cluster);
    seat->in_vain = 0;
    if (seat->warp_instructions >= LW_FLUSH) flush_counts(seat, grid);
    return true;
}

/* It is that one now. */
static bool begin_another(lw_seat *seat, lw_cta *cta) {
    lw_grid *grid = cta->grid;
    uint64_t number;
    if (!claim_another(seat, cta, &number)) return false;
    place_cluster(cta->cluster, grid, number);
    if (cluster_begin(cta->cluster, grid)) return true;
    cta->trap = (lw_trap_record){.kind = LW_TRAP_memory, .code = grid->program->entry};
    return false;
}

/* Behind a barrier. Where a CTA may wait for another one that is a round like any other, and some of these are enough
 * before others get to run. It may do so where nobody sees it: by weak loads, copies or calls. */
static bool may_pass(lw_cta *cta) {
    lw_cluster *cluster = cta->cluster;
    return cta->program->spins ? ++cluster->rounds < LW_ROUNDS : ++cluster->passed < LW_BARRIERS_PASSED;
}

/* All gangs have had their turn: they go on behind the barrier where they stand, or are those of another CTA. */
static bool begin_round(lw_seat *seat, lw_cta *cta) {
    const bool passes = cta->stands && may_pass(cta) && lw_cta_pass_barrier(cta);
    if (!passes && (cta->live || !begin_another(seat, cta))) return false;
    cta->turn = 0;
    return true;
}

lw_gang *lw_grid_next(lw_gang *gang, const lw_op **op) {
    lw_cta *cta = gang->cta;
    lw_seat *seat = cta->seat;
    lw_gang_settle(gang);
    if (LW_UNLIKELY(cta->handed)) {
        lw_gang *next = cta->handed;
        cta->handed = NULL;
        *op = lw_gang_begin_turn(next);
        return next;
    }
    lw_gang_unseen(gang);
    if (cta->cluster->count > 1 || LW_UNLIKELY(cta->trap.kind) || !may_go_on(cta)) return NULL;
    do
        while (cta->turn < cta->gang_count) {
            lw_gang *next = &cta->gangs[cta->turn];
            if (LW_UNLIKELY(next->timed)) return NULL;
            cta->turn++;
            if (next->state != LW_GANG_ready) continue;
            *op = lw_gang_begin_turn(next);
            return next;
        }
    while (begin_round(seat, cta));
    return NULL;
}

/* ---- Runs (interp/runs.c) ---------------------------------------------------------------------------------- */

bool lw_cta_may_run(const lw_cta *cta) {
    const lw_grid *grid = cta->grid;
    return !grid->has_clusters && cta->live == cta->threads && !cta->barriers_in_use && may_go_on(cta);
}

bool lw_cta_may_pass(lw_cta *cta) { return may_go_on(cta) && may_pass(cta); }

/* So many CTAs behind this one are claimed, in its row of the grid, and need nothing but their number. */
static uint32_t find_row(const lw_seat *seat, const lw_cta *cta) {
    const uint32_t left = cta->grid->shape[0] - 1 - cta->index[0],
                   settles = LW_RUN_SETTLES - 1 - cta->number % LW_RUN_SETTLES;
    const uint64_t claimed = seat->claimed_end - seat->claimed;
    if (cta->watched || seat->claimed != cta->number + 1) return 0;
    const uint32_t most = left < settles ? left : settles;
    return claimed < most ? (uint32_t)claimed : most;
}

/* The next CTA of the row. */
static void step_in_row(lw_cta *cta) {
    cta->number++, cta->index[0]++;
    cta->cluster->number++, cta->cluster->index[0]++;
}

static bool claim_in_row(lw_seat *seat, lw_cta *cta) {
    if (!cta->in_row) return false;
    cta->in_row--, seat->claimed++;
    count_done(seat, cta->cluster);
    step_in_row(cta);
    return true;
}

static bool claim_anywhere(lw_seat *seat, lw_cta *cta) {
    lw_grid *grid = cta->grid;
    uint64_t number;
    if (!claim_another(seat, cta, &number)) return false;
    if (number % LW_RUN_SETTLES == 0) settle_gangs(cta);
    if (number == cta->number + 1 && cta->index[0] + 1 < grid->shape[0]) {
        step_in_row(cta);
    } else { /* divisions find its place */
        place_cluster(cta->cluster, grid, number);
        cta->cluster->live = cta->live;
        place_cta(cta, grid);
    }
    cta->in_row = find_row(seat, cta);
    return true;
}

bool lw_cta_replace(lw_cta *cta) {
    lw_seat *seat = cta->seat;
    if (!may_go_on(cta) || cta->gangs->hints_of != cta->grid->ranges->state) return false;
    if (!claim_in_row(seat, cta) && !claim_anywhere(seat, cta)) return false;
    cta->cluster->polls = cta->cluster->rounds = cta->cluster->passed = 0;
    clear_shared(cta);
    return true;
}

/* ---- A worker's part of a launch, all of it ---------------------------------------------------------------- */

typedef struct lw_queue { /* clusters that were set aside, by their first CTAs, first to come back first */
    lw_cta *first, **last;
    uint32_t count;
} lw_queue;

static void set_aside(lw_queue *queue, const lw_cluster *cluster) {
    lw_cta *cta = cluster->ctas[0];
    cta->next = NULL;
    *queue->last = cta;
    queue->last = &cta->next;
    queue->count++;
}

static lw_cluster *bring_back(lw_queue *queue) {
    lw_cta *cta = queue->first;
    if (!cta) return NULL;
    queue->first = cta->next;
    if (!queue->first) queue->last = &queue->first;
    queue->count--;
    return cta->cluster;
}

/* A cluster was set aside. True: those that are resident may wait for one that has not begun, and twice as many may be.
 * Who is not seen to wait may as well run long: of such the more are resident already, the longer that has to last, by
 * the square, as each gets less and less of the worker. */
static bool waits_in_vain(lw_seat *seat, const lw_program *program, uint32_t most) {
    static const double SECONDS = 0.25;
    const double times = (double)most / LW_RESIDENT;
    if (!seat->in_vain++) seat->vain_since = lw_clock();
    if (seat->in_vain < most || most >= UINT32_MAX / 2) return false;
    if (program->spins) return seat->in_vain / LW_RESIDENT_PATIENCE >= most;
    return lw_clock() - seat->vain_since >= SECONDS * times * times;
}

void lw_grid_work(lw_seat *seat, lw_grid *grid) {
    lw_queue aside = {.last = &aside.first};
    seat->claimed = seat->claimed_end = 0;
    seat->patience = LW_PATIENCE;
    const bool ordered = grid->program->vector.ordered;
    const uint32_t each = grid->has_clusters ? (uint32_t)(grid->cta_count / grid->cluster_count) : 1,
                   many = LW_RESIDENT / each;
    uint32_t most = grid->cooperative ? UINT32_MAX : ordered ? 1 : many > 2 ? many : 2;
    seat->in_vain = 0;
    for (;;) {
        lw_cluster *cluster = aside.count < most ? begin_next(seat, grid, !aside.count) : NULL;
        if (!cluster && aside.count < most && seat->claimed < seat->claimed_end) most = aside.count; /* for memory */
        if (!cluster && (cluster = bring_back(&aside))) sched_yield(); /* whom it waits for may need this core */
        if (!cluster) break;
        if (grid->tier) meter(seat, grid, cluster->ctas[0]);
        seat->may_begin = aside.count < most;
        lw_cluster_end end = lw_cluster_run(seat, cluster);
        if (end == LW_CLUSTER_SPENT) {
            set_aside(&aside, cluster);
            lw_seat_progress(seat, grid);
            if (!ordered && waits_in_vain(seat, grid->program, most)) most *= 2, seat->in_vain = 0;
            continue;
        }
        seat->in_vain = 0;
        if (end == LW_CLUSTER_DONE) count_done(seat, cluster);
        put_cluster(seat, cluster);
        lw_seat_progress(seat, grid);
    }
    flush_counts(seat, grid);
    seat->metered = NULL;
    seat_end_launch(seat);
}
