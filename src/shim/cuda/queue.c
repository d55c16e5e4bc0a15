/* queue.c: streams as queues of operations, and the threads that do what is in them.
 *
 * An operation is done when it is the first of its queue and every point that it comes after is reached. Whoever waits
 * does what it waits for itself, where nobody has begun with it: a launch that is waited for at once costs no change of
 * threads. Everything else is done by carriers, threads of the driver's. One that has nothing to do looks again a few
 * times, so that whoever puts something into a queue then need not wake anybody, and sleeps after that.
 *
 * The default stream of a context comes after all its other streams and before what they get later, but for those
 * that were made not to block. */
#include "shim/cuda/driver.h"

#include <stdlib.h>
#include <time.h>

typedef struct item {
    struct item *next;
    lw_cu_op op;
    uint32_t after_count;
    lw_cu_point after[];
} item;

/* It stays as long as a stream, a point or an operation in it does, and its context as long as it. */
typedef struct lw_cu_queue {
    CUcontext context;
    struct lw_cu_queue *next, *previous;           /* of its context */
    struct lw_cu_queue *next_busy, *previous_busy; /* of those that have something in them */
    item *first, *last;
    uint64_t given, done;         /* operations */
    uint64_t thread;              /* whose default stream it is; 0: of no single one's, or it has ended */
    struct lw_cu_queue *next_own; /* of those that are some thread's */
    struct lw_cu_branch *branch;  /* of a capture; guarded by its lock */
    uint32_t references;
    CUgreenCtx green; /* whose stream it is, to be compared only */
    bool blocks;      /* and is blocked by the default stream */
    bool runs;        /* somebody is at its first operation */
    bool later;       /* its first one is to be tried again */
} queue;

enum {
    CARRIERS_MOST = 128, /* as many kernels as a GPU has running at a time */
    NAP_MICROSECONDS = 50,
    NAPS = 20, /* before a carrier sleeps */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* an operation is done */
    pthread_cond_t work;  /* for carriers that sleep */
    queue *busy, *own;    /* own: of threads */
    uint64_t submitted;
    uint32_t carriers, sleeping, woken, waiting;
    uint32_t coming; /* carriers that were woken or started and have not looked yet */
    bool naps;       /* one will look by itself */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static _Atomic uint64_t threads;
static _Thread_local uint64_t this_thread;
static pthread_key_t thread_key; /* ends what is a thread's with it */
static void end_thread(void *unused);
static _Thread_local bool in_host_function;

static void lock(void) { pthread_mutex_lock(&all.lock); }
static void unlock(void) { pthread_mutex_unlock(&all.lock); }

/* Naps go by the clock that never jumps. */
bool lw_cu_queues_begin(void) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes)) return false;
    const bool made = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) &&
                      !pthread_cond_init(&all.work, &attributes);
    pthread_condattr_destroy(&attributes);
    return made && !pthread_key_create(&thread_key, end_thread);
}

bool lw_cu_in_host_function(void) { return in_host_function; }

void lw_cu_queues_after_fork(void) { pthread_mutex_init(&all.lock, NULL); }

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

/* With the lock held, like all functions here that do not say otherwise. NULL: no memory. */
static queue *make(CUcontext context, bool blocks) {
    queue *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->context = context;
    made->references = 1;
    made->blocks = blocks;
    made->next = context->queues;
    if (made->next) made->next->previous = made;
    context->queues = made;
    lw_cu_hold(&context->object);
    return made;
}

static void drop(queue *dropped) {
    if (!dropped || --dropped->references) return;
    CUcontext context = dropped->context;
    *(dropped->previous ? &dropped->previous->next : &context->queues) = dropped->next;
    if (dropped->next) dropped->next->previous = dropped->previous;
    lw_cu_let_go(&context->object);
    free(dropped);
}

queue *lw_cu_queue_new(CUcontext context, bool is_blocking, CUgreenCtx green) {
    lock();
    queue *made = make(context, is_blocking);
    if (made) made->green = green;
    unlock();
    return made;
}

void lw_cu_queue_drop(queue *dropped) {
    lock();
    drop(dropped);
    unlock();
}

void lw_cu_close(CUcontext context, bool is_closed) {
    lock();
    context->is_closed = is_closed;
    unlock();
}

/* Nobody finds those of a thread, or of a context, any more; what is in them is done all the same. */
static void end_own(uint64_t thread, CUcontext context) {
    for (queue **at = &all.own, *each = *at; each; each = *at) {
        if (each->thread != thread && each->context != context) {
            at = &each->next_own;
            continue;
        }
        *at = each->next_own;
        each->thread = 0;
        drop(each);
    }
}

/* A capture into its stream may go on without the thread. */
static void end_thread(void *unused) {
    (void)unused;
    if (lw_cu.forked || atomic_load(&lw_cu_captures)) return;
    lock();
    end_own(this_thread, NULL);
    unlock();
}

void lw_cu_end_queues(CUcontext context) {
    lock();
    drop(context->legacy);
    drop(context->marks);
    context->legacy = context->marks = NULL;
    end_own(0, context);
    unlock();
}

/* It goes with the thread: programs may have one for each of many tasks. */
static queue *make_own(CUcontext context) {
    if (pthread_setspecific(thread_key, &all)) return NULL; /* anything: so that the key's function is called */
    queue *made = make(context, true);
    if (!made) return NULL;
    made->thread = this_thread;
    made->next_own = all.own;
    return all.own = made;
}

static queue *of_this_thread(CUcontext context) {
    if (!this_thread) this_thread = atomic_fetch_add(&threads, 1) + 1;
    for (queue *each = context->queues; each; each = each->next)
        if (each->thread == this_thread) return each;
    return make_own(context);
}

/* NULL: no memory. */
static queue *queue_of(CUstream stream) {
    CUcontext context = lw_cu_current();
    if (!lw_cu_is_default(stream)) return stream->queue;
    if (stream == CU_STREAM_PER_THREAD || (!stream && lw_cu_per_thread)) return of_this_thread(context);
    if (!context->legacy) context->legacy = make(context, false);
    return context->legacy;
}

struct lw_cu_branch **lw_cu_branch_of(CUstream stream) {
    lock();
    queue *of = queue_of(stream);
    struct lw_cu_branch **branch = of && of != of->context->legacy ? &of->branch : NULL;
    unlock();
    return branch;
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static bool is_reached(const lw_cu_point *point) { return !point->queue || point->queue->done >= point->number; }

static lw_cu_point point_at_end(queue *of) {
    of->references++;
    return (lw_cu_point){of, of->given};
}

static void forget(lw_cu_point *point) {
    drop(point->queue);
    point->queue = NULL;
}

void lw_cu_point_drop(lw_cu_point *point) {
    lock();
    forget(point);
    unlock();
}

/* What stands in the way of the first operation of a queue; NULL: nothing. */
static queue *obstacle(const queue *of) {
    for (uint32_t i = 0; i < of->first->after_count; i++)
        if (!is_reached(&of->first->after[i])) return of->first->after[i].queue;
    return NULL;
}

static bool is_ready(const queue *of) { return !of->runs && !obstacle(of); }

/* ---- Doing what is in them --------------------------------------------------------------------------------------- */

static void *carry(void *unused);

/* Sees to it that some carrier looks at what is ready; the first one that does rings again where there is more. */
static void ring(void) {
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
    for (queue *each = all.busy; each; each = each->next_busy) {
        if (each == but || !is_ready(each)) continue;
        if (!each->later) return each;
        *polls = true;
    }
    return NULL;
}

static void ring_for_others(const queue *than) {
    bool polls;
    if (find_ready(than, &polls) || polls) ring();
}

static void end_first(queue *of) {
    item *ended = of->first;
    of->first = ended->next;
    of->done++;
    for (uint32_t i = 0; i < ended->after_count; i++) forget(&ended->after[i]);
    if (!of->first) {
        of->last = NULL;
        *(of->previous_busy ? &of->previous_busy->next_busy : &all.busy) = of->next_busy;
        if (of->next_busy) of->next_busy->previous_busy = of->previous_busy;
        drop(of);
    }
    unlock();
    lw_cu_op_free(&ended->op);
    free(ended);
    lock();
}

/* Does the first operation of a queue, which is ready, without the lock meanwhile. */
static void do_first(queue *of) {
    const lw_cu_op *op = &of->first->op;
    of->references++;
    of->runs = true;
    of->later = false;
    unlock();
    in_host_function = lw_cu_op_is_host(op);
    CUresult result = lw_cu_op_run(op, lw_cu_fault());
    in_host_function = false;
    if (result && result != LW_CU_LATER) lw_cu_spoil(result);
    lock();
    if (result == LW_CU_LATER) of->later = true;
    else end_first(of);
    of->runs = false;
    ring_for_others(of);
    drop(of);
    if (all.waiting) pthread_cond_broadcast(&all.moved);
}

static void try_again(void) {
    for (queue *each = all.busy; each; each = each->next_busy) each->later = false;
}

static void nap(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_MICROSECONDS * 1000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    all.naps = true;
    pthread_cond_timedwait(&all.work, &all.lock, &until);
    all.naps = false;
}

/* Naps, or sleeps where another one naps already or nothing has come for a while. */
static void rest(uint32_t *naps, bool polls) {
    if (!all.naps && (polls || *naps < NAPS)) {
        uint64_t before = all.submitted;
        nap();
        *naps = all.submitted == before ? *naps + 1 : 0;
        try_again();
        return;
    }
    all.sleeping++;
    while (!all.woken) pthread_cond_wait(&all.work, &all.lock);
    all.woken--;
    all.sleeping--;
    all.coming--;
    *naps = 0;
}

static void *carry(void *unused) {
    LW_OWN_FLOAT_MODE(starters); /* not that of whichever thread began this one */
    uint32_t naps = 0;
    bool polls;
    lock();
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

/* Gets a point that is not reached nearer: does what is next on the way to it, or waits until somebody else has. */
static void help(const lw_cu_point *point) {
    queue *of = point->queue, *before;
    while (!of->runs && (before = obstacle(of))) of = before;
    const bool is_free = !of->runs && !of->later;
    if (is_free && !lw_cu_op_is_host(&of->first->op)) {
        ring_for_others(of);
        do_first(of);
        return;
    }
    if (!of->runs) ring();
    if (is_free && !all.carriers) { /* the system gives no threads */
        do_first(of);
        return;
    }
    all.waiting++;
    pthread_cond_wait(&all.moved, &all.lock);
    all.waiting--;
}

/* Takes the reference of the point. What is behind it is no longer this thread's to do. */
static void wait_for(lw_cu_point point) {
    while (!is_reached(&point)) help(&point);
    ring_for_others(NULL);
    forget(&point);
}

/* The same outside of the lock and of the call's epoch; the process's fault then. */
static CUresult wait_outside(lw_cu_point point) {
    CUcontext context = point.queue->context;
    lw_cu_hold(&context->object);
    unsigned depth = lw_cu_step_out();
    lock();
    wait_for(point);
    unlock();
    lw_cu_step_in(depth);
    CUresult result = lw_cu_fault();
    lw_cu_let_go(&context->object);
    return result;
}

/* ---- Putting into them ------------------------------------------------------------------------------------------- */

static bool comes_after(const queue *before, const queue *of, bool after_all) {
    if (before == of || before->given == before->done) return false;
    return after_all || (of == of->context->legacy ? before->blocks : of->blocks && before == of->context->legacy);
}

/* The points that the next operation of a queue comes after, or where `to` is NULL how many there are. */
static uint32_t points_before(queue *of, bool after_all, const lw_cu_point *extra, uint32_t extras, lw_cu_point *to) {
    uint32_t count = 0;
    for (queue *each = of->context->queues; each; each = each->next) {
        if (!comes_after(each, of, after_all)) continue;
        if (to) to[count] = point_at_end(each);
        count++;
    }
    for (uint32_t i = 0; i < extras; i++) {
        if (is_reached(&extra[i])) continue;
        if (to) to[count] = extra[i], extra[i].queue->references++;
        count++;
    }
    return count;
}

static void append(queue *of, item *added) {
    if (of->last) of->last->next = added;
    else {
        of->first = added;
        of->previous_busy = NULL;
        of->next_busy = all.busy;
        if (all.busy) all.busy->previous_busy = of;
        all.busy = of;
        of->references++; /* as long as there is something in it */
    }
    of->last = added;
    of->given++;
    all.submitted++;
}

/* Why an operation was not put into a queue. */
static CUresult refusal(const queue *of) {
    return of && of->context->is_closed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_OUT_OF_MEMORY;
}

/* False, and the operation is still the caller's: no memory, or the context ends, which nobody may bring work but who
 * waits for that. */
static bool put(queue *of, lw_cu_op *op, bool after_all, const lw_cu_point *after, uint32_t afters) {
    if (of && of->context->is_closed && op->kind != LW_CU_OP_NOTHING) return false;
    const uint32_t count = of ? points_before(of, after_all, after, afters, NULL) : 0;
    item *made = of ? malloc(sizeof *made + count * sizeof made->after[0]) : NULL;
    if (!made) return false;
    made->next = NULL;
    made->op = *op;
    made->after_count = points_before(of, after_all, after, afters, made->after);
    append(of, made);
    if (is_ready(of)) ring();
    return true;
}

/* With the lock held, which it gives back. `of` has the operation where `is_put`. */
static CUresult end_submit(queue *of, lw_cu_op *op, bool is_put) {
    const lw_cu_point end = is_put && lw_cu.blocking ? point_at_end(of) : (lw_cu_point){0};
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(of);
    unlock();
    if (is_put) return end.queue ? wait_outside(end) : CUDA_SUCCESS;
    lw_cu_op_free(op);
    return result;
}

CUresult lw_cu_submit(CUstream stream, lw_cu_op *op, const lw_cu_point *after) {
    CUresult result;
    if (atomic_load(&lw_cu_captures) && lw_cu_capture(stream, op, &result)) return result;
    lock();
    queue *of = queue_of(stream);
    return end_submit(of, op, put(of, op, false, after, after != NULL));
}

/* The points that a launch comes after; under the lock, so that they need no references. */
static uint32_t points_of(lw_cu_run *run, const lw_cu_point *turn) {
    uint32_t count = 0;
    if (turn->queue) run->after[count++] = *turn;
    for (uint32_t i = 0; i < run->waits; i++)
        if (run->marks[i].event->point.queue) run->after[count++] = run->marks[i].event->point;
    return count;
}

static void note_pending(CUevent event, lw_cu_point end) {
    forget(&event->point);
    event->point = end;
    event->is_recorded = true;
    event->time = 0;
}

CUresult lw_cu_submit_graph(CUstream stream, lw_cu_op *op, lw_cu_point *turn) {
    lw_cu_run *run = op->graph;
    CUresult result;
    if (atomic_load(&lw_cu_captures) && lw_cu_capture(stream, op, &result)) return result;
    lock();
    queue *of = queue_of(stream);
    const bool is_put = put(of, op, false, run->after, points_of(run, turn));
    if (is_put) {
        forget(turn);
        *turn = point_at_end(of);
        for (uint32_t i = run->waits; i < run->waits + run->records; i++) {
            run->marks[i].record = ++run->marks[i].event->records;
            note_pending(run->marks[i].event, point_at_end(of));
        }
    }
    return end_submit(of, op, is_put);
}

CUresult lw_cu_enqueue(CUstream stream, lw_cu_work *work, const void *data, size_t size) {
    lw_cu_op op = {.kind = LW_CU_OP_OTHER, .owned = malloc(size ? size : 1), .work = work};
    if (!op.owned) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(op.owned, data, size);
    return lw_cu_submit(stream, &op, NULL);
}

/* Whether something is in a queue that the end of this one comes after, beside its own. An empty stream is done
 * whatever the default one is at: an H200's driver has it so. */
static bool has_before(queue *of, bool after_all) {
    return (after_all || of == of->context->legacy) && points_before(of, after_all, NULL, 0, NULL);
}

/* A mark at the end of a queue, and of all that it comes after, is waited for. */
static CUresult wait_at_end(queue *of, bool after_all) {
    if (of && has_before(of, after_all) && !put(of, &(lw_cu_op){.kind = LW_CU_OP_NOTHING}, after_all, NULL, 0))
        of = NULL;
    if (!of) {
        unlock();
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const lw_cu_point end = point_at_end(of);
    unlock();
    return wait_outside(end);
}

CUresult lw_cu_wait_stream(CUstream stream) {
    lock();
    return wait_at_end(queue_of(stream), false);
}

CUresult lw_cu_drain(CUcontext context) {
    lock();
    if (!context->marks) context->marks = make(context, false);
    return wait_at_end(context->marks, true);
}

bool lw_cu_is_idle(CUstream stream) {
    lock();
    queue *of = queue_of(stream);
    const bool idle = !of || (of->given == of->done && !has_before(of, false));
    unlock();
    return idle;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

CUresult lw_cu_record(CUevent event, CUstream stream) {
    lw_cu_op op = {.kind = LW_CU_OP_RECORD, .record = {.event = event}};
    lock();
    queue *of = queue_of(stream);
    op.record.record = ++event->records;
    lw_cu_hold(&event->object);
    const bool is_put = put(of, &op, false, NULL, 0);
    if (is_put) note_pending(event, point_at_end(of));
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(of);
    unlock();
    if (!is_put) lw_cu_op_free(&op);
    return result;
}

/* Ends of what is in queues of a green context now; under the lock, so that they need no references. */
static uint32_t points_of_green(CUcontext context, CUgreenCtx green, lw_cu_point *to) {
    uint32_t count = 0;
    for (queue *each = context->queues; each; each = each->next) {
        if (each->green != green || each->given == each->done) continue;
        if (to) to[count] = (lw_cu_point){each, each->given};
        count++;
    }
    return count;
}

CUresult lw_cu_record_all(CUevent event, CUcontext context, CUgreenCtx green) {
    lw_cu_op op = {.kind = LW_CU_OP_RECORD, .record = {.event = event}};
    lock();
    if (!context->marks) context->marks = make(context, false);
    const uint32_t count = green ? points_of_green(context, green, NULL) : 0;
    lw_cu_point *after = calloc(count + 1u, sizeof *after);
    if (green && after) points_of_green(context, green, after);
    op.record.record = ++event->records;
    lw_cu_hold(&event->object);
    const bool is_put = after && put(context->marks, &op, !green, after, count);
    if (is_put) note_pending(event, point_at_end(context->marks));
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(context->marks);
    unlock();
    free(after);
    if (!is_put) lw_cu_op_free(&op);
    return result;
}

/* Of streams that there are. */
CUresult lw_cu_follow_all(CUcontext context, CUgreenCtx green, CUevent event) {
    CUresult result = CUDA_SUCCESS;
    lock();
    lw_cu_point point = event->point;
    if (point.queue) point.queue->references++;
    for (queue *each = context->queues; each && point.queue && !result; each = each->next)
        if (each != context->marks && (!green || each->green == green) &&
            !put(each, &(lw_cu_op){.kind = LW_CU_OP_NOTHING}, false, &point, 1))
            result = refusal(each);
    forget(&point);
    unlock();
    return result;
}

/* A record that another one has replaced has no time. */
void lw_cu_note_record(CUevent event, uint64_t record) {
    LW_OWN_FLOAT_MODE(callers);
    const double now = lw_clock();
    lock();
    if (event->records == record) event->time = now;
    unlock();
}

/* Whoever asks from now on need not wait for the rest of the operation. */
void lw_cu_reach_record(CUevent event, uint64_t record) {
    lw_cu_note_record(event, record);
    lock();
    if (event->records == record) forget(&event->point);
    unlock();
}

CUresult lw_cu_event_state(CUevent event, double *time) {
    lock();
    const bool reached = is_reached(&event->point);
    *time = event->is_recorded ? event->time : 0;
    if (reached) forget(&event->point);
    unlock();
    return reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* The event's point with a reference of its own. */
static lw_cu_point point_of(CUevent event) {
    lw_cu_point point = event->point;
    if (point.queue) point.queue->references++;
    return point;
}

CUresult lw_cu_wait_event(CUevent event) {
    lock();
    lw_cu_point point = point_of(event);
    unlock();
    return point.queue ? wait_outside(point) : CUDA_SUCCESS;
}

CUresult lw_cu_follow_event(CUstream stream, CUevent event) {
    lock();
    lw_cu_point point = point_of(event);
    unlock();
    if (!point.queue) return CUDA_SUCCESS;
    CUresult result = lw_cu_submit(stream, &(lw_cu_op){.kind = LW_CU_OP_NOTHING}, &point);
    lw_cu_point_drop(&point);
    return result;
}
