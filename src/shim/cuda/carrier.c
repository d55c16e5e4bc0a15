/* carrier.c: the threads that do what is in queues.
 *
 * Whoever waits does what it waits for itself, where nobody has begun with it: a launch that is waited for at once
 * costs no change of threads. Everything else is done by carriers, threads of the driver's. One that has nothing to do
 * looks again a few times, so that whoever puts something into a queue then need not wake anybody, and sleeps after
 * that. */
#include "shim/cuda/queue.h"

#include <stdlib.h>

typedef lw_cu_queue queue;

enum {
    CARRIERS_MOST = 128, /* as many kernels as a GPU has running at a time */
    NAP_NANOSECONDS = 50000,
    NAPS = 20, /* before a carrier sleeps */
};

static struct {
    pthread_cond_t moved; /* an operation is done */
    pthread_cond_t work;  /* for carriers that sleep */
    uint32_t carriers, sleeping, woken, waiting;
    uint32_t coming; /* carriers that were woken or started and have not looked yet */
    bool naps;       /* one will look by itself */
} all = {.moved = PTHREAD_COND_INITIALIZER};

static _Thread_local bool in_host_function;

/* Naps go by the clock that never jumps. */
bool lw_cu_carriers_begin(void) { return lw_cond_make(&all.work); }

bool lw_cu_in_host_function(void) { return in_host_function; }

/* ---- Doing what is in them --------------------------------------------------------------------------------------- */

static void *carry(void *unused);

/* The first one that looks rings again where there is more. */
void lw_cu_ring(void) {
    if (all.naps || all.coming) return;
    pthread_t id;
    if (all.sleeping > all.woken) {
        all.woken++;
        pthread_cond_signal(&all.work);
    } else if (all.carriers < CARRIERS_MOST && lw_thread_start(&id, carry, NULL, 0)) {
        pthread_detach(id);
        all.carriers++;
    } else return;
    all.coming++;
}

/* The next queue, but for one, that something can be done for; `polls` says whether there are some that must be tried
 * again. */
static queue *find_ready(const queue *but, bool *polls) {
    *polls = false;
    for (queue *each = lw_cu_queues.busy; each; each = each->next_busy) {
        if (each == but || !lw_cu_is_ready(each)) continue;
        if (!each->later) return each;
        *polls = true;
    }
    return NULL;
}

static void ring_for_others(const queue *than) {
    bool polls;
    if (find_ready(than, &polls) || polls) lw_cu_ring();
}

static void end_first(queue *of) {
    lw_cu_item *ended = of->first;
    of->first = ended->next;
    of->done++;
    for (uint32_t i = 0; i < ended->after_count; i++) lw_cu_forget_point(&ended->after[i]);
    if (!of->first) {
        of->last = NULL;
        *(of->previous_busy ? &of->previous_busy->next_busy : &lw_cu_queues.busy) = of->next_busy;
        if (of->next_busy) of->next_busy->previous_busy = of->previous_busy;
        lw_cu_leave_queue(of);
    }
    lw_cu_unlock_queues();
    lw_cu_op_free(&ended->op);
    free(ended);
    lw_cu_lock_queues();
}

/* Does the first operation of a queue, which is ready, without the lock meanwhile. */
static void do_first(queue *of) {
    const lw_cu_op *op = &of->first->op;
    of->references++;
    of->runs = true;
    of->later = false;
    lw_cu_unlock_queues();
    in_host_function = lw_cu_op_is_host(op);
    CUresult result = lw_cu_op_run(op, lw_cu_fault());
    in_host_function = false;
    if (result && result != LW_CU_LATER) lw_cu_spoil(result);
    lw_cu_lock_queues();
    if (result == LW_CU_LATER) of->later = true;
    else end_first(of);
    of->runs = false;
    ring_for_others(of);
    lw_cu_leave_queue(of);
    if (all.waiting) pthread_cond_broadcast(&all.moved);
}

static void try_again(void) {
    for (queue *each = lw_cu_queues.busy; each; each = each->next_busy) each->later = false;
}

static void nap(void) {
    all.naps = true;
    (void)lw_cond_wait(&all.work, &lw_cu_queues.lock, NAP_NANOSECONDS);
    all.naps = false;
}

/* Naps, or sleeps where another one naps already or nothing has come for a while. */
static void rest(uint32_t *naps, bool polls) {
    if (!all.naps && (polls || *naps < NAPS)) {
        uint64_t before = lw_cu_queues.submitted;
        nap();
        *naps = lw_cu_queues.submitted == before ? *naps + 1 : 0;
        try_again();
        return;
    }
    all.sleeping++;
    while (!all.woken) pthread_cond_wait(&all.work, &lw_cu_queues.lock);
    all.woken--;
    all.sleeping--;
    all.coming--;
    *naps = 0;
}

static void *carry(void *unused) {
    LW_OWN_FLOAT_MODE(starters); /* not that of whichever thread began this one */
    uint32_t naps = 0;
    bool polls;
    lw_cu_lock_queues();
    all.coming--;
    for (;;) {
        queue *ready = find_ready(NULL, &polls);
        if (!ready) {
            rest(&naps, polls);
            continue;
        }
        ring_for_others(ready);
        do_first(ready);
        naps = 0;
    }
    return unused;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/* Where there are no carriers: does the first operation of a queue, or what others have, since it may wait for that. */
static void be_carrier(queue *of) {
    bool polls;
    queue *ready = of->later ? find_ready(NULL, &polls) : of;
    if (ready) {
        do_first(ready);
        return;
    }
    nap();
    try_again();
}

/* Gets a point that is not reached nearer: does what is next on the way to it, or waits until somebody else has. */
static void help(const lw_cu_point *point) {
    queue *of = point->queue, *before;
    while (!of->runs && (before = lw_cu_obstacle(of))) of = before;
    const bool is_free = !of->runs && !of->later;
    if (is_free && !lw_cu_op_is_host(&of->first->op)) {
        ring_for_others(of);
        do_first(of);
        return;
    }
    if (!of->runs) lw_cu_ring();
    if (!of->runs && !all.carriers) { /* the system gives no threads */
        be_carrier(of);
        return;
    }
    all.waiting++;
    pthread_cond_wait(&all.moved, &lw_cu_queues.lock);
    all.waiting--;
}

/* Takes the reference of the point. What is behind it is no longer this thread's to do. */
static void wait_inside(lw_cu_point point) {
    while (!lw_cu_is_reached(&point)) help(&point);
    ring_for_others(NULL);
    lw_cu_forget_point(&point);
}

CUresult lw_cu_wait_for(lw_cu_point point) {
    CUcontext context = point.queue->context;
    lw_cu_hold(&context->object);
    unsigned depth = lw_cu_step_out();
    lw_cu_lock_queues();
    wait_inside(point);
    lw_cu_unlock_queues();
    lw_cu_step_in(depth);
    CUresult result = lw_cu_fault();
    lw_cu_let_go(&context->object);
    return result;
}
