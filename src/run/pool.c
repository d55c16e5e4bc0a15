/* pool.c: the worker threads of a context.
 *
 * Launches that have CTAs left to begin are in a list; an idle worker joins the first of them. Threads start with the
 * first launch that has work for them, so that a context costs nothing until then. A launch of one CTA never wakes
 * anyone. */
#include "base/float_mode.h"
#include "run/grid.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct lw_job {
    lw_grid *grid;
    uint32_t workers; /* at work on it, the launching thread not counted */
    bool listed;
    struct lw_job *next, *previous;
    pthread_cond_t left; /* a worker left */
} lw_job;

struct lw_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    lw_job *jobs, *last_job; /* that may have CTAs left to begin, in the order in which they came */
    _Atomic(lw_seat *) seat; /* a free one, for launching threads, or NULL … */
    lw_seat *seats;          /* … and others, with the lock held */
    uint32_t threads, started;
    pid_t process; /* whose these are: whom it forks has none */
    bool ending;
    pthread_t ids[]; /* threads - 1 */
};

static bool has_work(const lw_grid *grid) {
    return atomic_load_explicit(&grid->next_cluster, memory_order_relaxed) < grid->cluster_count &&
           !atomic_load(&grid->ended);
}

static void list(lw_pool *pool, lw_job *job) {
    job->listed = true;
    job->previous = pool->last_job;
    *(job->previous ? &job->previous->next : &pool->jobs) = job;
    pool->last_job = job;
}

static void unlist(lw_pool *pool, lw_job *job) {
    if (!job->listed) return;
    job->listed = false;
    *(job->previous ? &job->previous->next : &pool->jobs) = job->next;
    *(job->next ? &job->next->previous : &pool->last_job) = job->previous;
}

/* The first that has work. Those in front of it will never have any again, and however many wait for their last CTAs,
 * nobody looks at them twice. */
static lw_job *find_job(lw_pool *pool) {
    while (pool->jobs && !has_work(pool->jobs->grid)) unlist(pool, pool->jobs);
    return pool->jobs;
}

/* A thread begins in the floating-point mode of the one that started it. */
static void *worker(void *argument) {
    LW_OWN_FLOAT_MODE(starters);
    lw_pool *pool = argument;
    lw_seat seat = {0};
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        lw_job *job = find_job(pool);
        if (!job) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        job->workers++;
        pthread_mutex_unlock(&pool->lock);
        lw_grid_work(&seat, job->grid);
        pthread_mutex_lock(&pool->lock);
        if (--job->workers == 0) pthread_cond_signal(&job->left);
    }
    pthread_mutex_unlock(&pool->lock);
    lw_seat_end(&seat);
    return NULL;
}

/* With the lock held. In a process that was forked since threads were started there are none, and nobody who waits. */
static void forget_parent(lw_pool *pool) {
    const pid_t process = getpid();
    if (pool->started && pool->process != process) pool->started = 0, pthread_cond_init(&pool->work, NULL);
    pool->process = process;
}

/* Starts threads until there are `wanted`, or as many as the system gives. */
static void start_workers(lw_pool *pool, uint32_t wanted) {
    while (pool->started < wanted && lw_thread_start(&pool->ids[pool->started], worker, pool, 0)) pool->started++;
}

lw_pool *lw_pool_new(uint32_t threads) {
    if (!threads) threads = 1;
    lw_pool *pool = calloc(1, sizeof *pool + (threads - 1) * sizeof pool->ids[0]);
    if (!pool) return NULL;
    pool->threads = threads;
    if (pthread_mutex_init(&pool->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&pool->work, NULL)) goto no_condition;
    return pool;
no_condition:
    pthread_mutex_destroy(&pool->lock);
no_lock:
    free(pool);
    return NULL;
}

void lw_pool_free(lw_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    forget_parent(pool);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->ids[i], NULL);
    lw_seat *seat = atomic_load(&pool->seat);
    if (seat) seat->next = pool->seats, pool->seats = seat;
    for (lw_seat *next; pool->seats; pool->seats = next) {
        next = pool->seats->next;
        lw_seat_end(pool->seats);
        free(pool->seats);
    }
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static lw_seat *take_seat(lw_pool *pool) {
    lw_seat *seat = atomic_exchange(&pool->seat, NULL);
    if (seat) return seat;
    pthread_mutex_lock(&pool->lock);
    seat = pool->seats;
    if (seat) pool->seats = seat->next;
    pthread_mutex_unlock(&pool->lock);
    return seat ? seat : calloc(1, sizeof *seat);
}

static void put_seat(lw_pool *pool, lw_seat *seat) {
    lw_seat *none = NULL;
    if (atomic_compare_exchange_strong(&pool->seat, &none, seat)) return;
    pthread_mutex_lock(&pool->lock);
    seat->next = pool->seats;
    pool->seats = seat;
    pthread_mutex_unlock(&pool->lock);
}

static void offer(lw_pool *pool, lw_job *job) {
    uint64_t others = job->grid->cluster_count - 1;
    uint32_t wanted = others < pool->threads - 1 ? (uint32_t)others : pool->threads - 1;
    pthread_mutex_lock(&pool->lock);
    forget_parent(pool);
    start_workers(pool, wanted);
    list(pool, job);
    if (wanted == pool->threads - 1) pthread_cond_broadcast(&pool->work);
    else
        for (uint32_t i = 0; i < wanted; i++) pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* Until all who joined have left; the program and everything else of the launch may go away then. */
static void withdraw(lw_pool *pool, lw_job *job, void (*progress)(void *user), void *user) {
    pthread_mutex_lock(&pool->lock);
    unlist(pool, job);
    while (job->workers) {
        if (!progress) {
            pthread_cond_wait(&job->left, &pool->lock);
            continue;
        }
        if (lw_cond_wait(&job->left, &pool->lock, (long)(LW_PROGRESS_SECONDS * 1e9))) continue;
        pthread_mutex_unlock(&pool->lock);
        progress(user);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void lw_pool_run(lw_pool *pool, lw_grid *grid, void (*progress)(void *user), void *user) {
    enum { BATCH_MOST = 16, BATCHES_EACH = 64 };
    lw_seat *seat = take_seat(pool);
    if (!seat) {
        grid->trap.kind = LW_TRAP_memory;
        return;
    }
    uint64_t batch = grid->cluster_count / BATCHES_EACH;
    if (batch) batch /= pool->threads;
    grid->batch = grid->cooperative || !batch ? 1 : batch < BATCH_MOST ? (uint32_t)batch : BATCH_MOST;
    grid->limited = grid->stops || grid->deadline > 0 || grid->step_limit;
    seat->progress = progress;
    seat->user = user;
    seat->progress_next = progress ? lw_clock() + LW_PROGRESS_SECONDS : 0;
    lw_job job = {.grid = grid};
    bool shared = pool->threads > 1 && grid->cluster_count > 1 && !grid->program->vector.ordered &&
                  lw_cond_make(&job.left);
    seat->alone = !shared;
    if (shared) offer(pool, &job);
    lw_grid_work(seat, grid);
    if (shared) {
        withdraw(pool, &job, progress, user);
        pthread_cond_destroy(&job.left);
    }
    put_seat(pool, seat);
}
