/* queue.c: streams as queues of operations: who comes after whom, and places in them that events are.
 *
 * An operation is done (carrier.c) when it is the first of its queue and every point that it comes after is reached.
 *
 * The default stream of a context comes after all its other streams and before what they get later, but for those
 * that were made not to block. */
#include "shim/cuda/queue.h"

#include <stdlib.h>

typedef lw_cu_queue queue;

struct lw_cu_queues lw_cu_queues = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint64_t threads;
static _Thread_local uint64_t this_thread;
static pthread_key_t thread_key; /* ends what is a thread's with it */
static void end_thread(void *unused);

bool lw_cu_queues_begin(void) { return lw_cu_carriers_begin() && !pthread_key_create(&thread_key, end_thread); }

void lw_cu_queues_after_fork(void) { pthread_mutex_init(&lw_cu_queues.lock, NULL); }

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

void lw_cu_leave_queue(queue *dropped) {
    if (!dropped || --dropped->references) return;
    CUcontext context = dropped->context;
    *(dropped->previous ? &dropped->previous->next : &context->queues) = dropped->next;
    if (dropped->next) dropped->next->previous = dropped->previous;
    lw_cu_let_go(&context->object);
    free(dropped);
}

queue *lw_cu_queue_new(CUcontext context, bool is_blocking, CUgreenCtx green) {
    lw_cu_lock_queues();
    queue *made = make(context, is_blocking);
    if (made) made->green = green;
    lw_cu_unlock_queues();
    return made;
}

void lw_cu_queue_drop(queue *dropped) {
    lw_cu_lock_queues();
    lw_cu_leave_queue(dropped);
    lw_cu_unlock_queues();
}

void lw_cu_close(CUcontext context, bool is_closed) {
    lw_cu_lock_queues();
    context->is_closed = is_closed;
    lw_cu_unlock_queues();
}

/* Nobody finds those of a thread, or of a context, any more; what is in them is done all the same. */
static void end_own(uint64_t thread, CUcontext context) {
    for (queue **at = &lw_cu_queues.own, *each = *at; each; each = *at) {
        if (each->thread != thread && each->context != context) {
            at = &each->next_own;
            continue;
        }
        *at = each->next_own;
        each->thread = 0;
        lw_cu_leave_queue(each);
    }
}

/* A capture into its stream may go on without the thread. */
static void end_thread(void *unused) {
    (void)unused;
    if (lw_cu.forked || atomic_load(&lw_cu_captures)) return;
    lw_cu_lock_queues();
    end_own(this_thread, NULL);
    lw_cu_unlock_queues();
}

void lw_cu_end_queues(CUcontext context) {
    lw_cu_lock_queues();
    lw_cu_leave_queue(context->legacy);
    lw_cu_leave_queue(context->marks);
    context->legacy = context->marks = NULL;
    end_own(0, context);
    lw_cu_unlock_queues();
}

/* It goes with the thread: programs may have one for each of many tasks. */
static queue *make_own(CUcontext context) {
    if (pthread_setspecific(thread_key, &lw_cu_queues))
        return NULL; /* anything: so that the key's function is called */
    queue *made = make(context, true);
    if (!made) return NULL;
    made->thread = this_thread;
    made->next_own = lw_cu_queues.own;
    return lw_cu_queues.own = made;
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
    lw_cu_lock_queues();
    queue *of = queue_of(stream);
    struct lw_cu_branch **branch = of && of != of->context->legacy ? &of->branch : NULL;
    lw_cu_unlock_queues();
    return branch;
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static lw_cu_point point_at_end(queue *of) {
    of->references++;
    return (lw_cu_point){of, of->given};
}

void lw_cu_forget_point(lw_cu_point *point) {
    lw_cu_leave_queue(point->queue);
    point->queue = NULL;
}

void lw_cu_point_drop(lw_cu_point *point) {
    lw_cu_lock_queues();
    lw_cu_forget_point(point);
    lw_cu_unlock_queues();
}

queue *lw_cu_obstacle(const queue *of) {
    for (uint32_t i = 0; i < of->first->after_count; i++)
        if (!lw_cu_is_reached(&of->first->after[i])) return of->first->after[i].queue;
    return NULL;
}

bool lw_cu_is_ready(const queue *of) { return !of->runs && !lw_cu_obstacle(of); }

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
        if (lw_cu_is_reached(&extra[i])) continue;
        if (to) to[count] = extra[i], extra[i].queue->references++;
        count++;
    }
    return count;
}

static void append(queue *of, lw_cu_item *added) {
    if (of->last) of->last->next = added;
    else {
        of->first = added;
        of->previous_busy = NULL;
        of->next_busy = lw_cu_queues.busy;
        if (lw_cu_queues.busy) lw_cu_queues.busy->previous_busy = of;
        lw_cu_queues.busy = of;
        of->references++; /* as long as there is something in it */
    }
    of->last = added;
    of->given++;
    lw_cu_queues.submitted++;
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
    lw_cu_item *made = of ? malloc(sizeof *made + count * sizeof made->after[0]) : NULL;
    if (!made) return false;
    made->next = NULL;
    made->op = *op;
    made->after_count = points_before(of, after_all, after, afters, made->after);
    append(of, made);
    if (lw_cu_is_ready(of)) lw_cu_ring();
    return true;
}

/* With the lock held, which it gives back. `of` has the operation where `is_put`. */
static CUresult end_submit(queue *of, lw_cu_op *op, bool is_put) {
    const lw_cu_point end = is_put && lw_cu.blocking ? point_at_end(of) : (lw_cu_point){0};
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(of);
    lw_cu_unlock_queues();
    if (is_put) return end.queue ? lw_cu_wait_for(end) : CUDA_SUCCESS;
    lw_cu_op_free(op);
    return result;
}

CUresult lw_cu_submit(CUstream stream, lw_cu_op *op, const lw_cu_point *after) {
    CUresult result;
    if (atomic_load(&lw_cu_captures) && lw_cu_capture(stream, op, &result)) return result;
    lw_cu_lock_queues();
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
    lw_cu_forget_point(&event->point);
    event->point = end;
    event->is_recorded = true;
    event->time = 0;
}

CUresult lw_cu_submit_graph(CUstream stream, lw_cu_op *op, lw_cu_point *turn) {
    lw_cu_run *run = op->graph;
    CUresult result;
    if (atomic_load(&lw_cu_captures) && lw_cu_capture(stream, op, &result)) return result;
    lw_cu_lock_queues();
    queue *of = queue_of(stream);
    const bool is_put = put(of, op, false, run->after, points_of(run, turn));
    if (is_put) {
        lw_cu_forget_point(turn);
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
        lw_cu_unlock_queues();
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const lw_cu_point end = point_at_end(of);
    lw_cu_unlock_queues();
    return lw_cu_wait_for(end);
}

CUresult lw_cu_wait_stream(CUstream stream) {
    lw_cu_lock_queues();
    return wait_at_end(queue_of(stream), false);
}

CUresult lw_cu_drain(CUcontext context) {
    lw_cu_lock_queues();
    if (!context->marks) context->marks = make(context, false);
    return wait_at_end(context->marks, true);
}

bool lw_cu_is_idle(CUstream stream) {
    lw_cu_lock_queues();
    queue *of = queue_of(stream);
    const bool idle = !of || (of->given == of->done && !has_before(of, false));
    lw_cu_unlock_queues();
    return idle;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

CUresult lw_cu_record(CUevent event, CUstream stream) {
    lw_cu_op op = {.kind = LW_CU_OP_RECORD, .record = {.event = event}};
    lw_cu_lock_queues();
    queue *of = queue_of(stream);
    op.record.record = ++event->records;
    lw_cu_hold(&event->object);
    const bool is_put = put(of, &op, false, NULL, 0);
    if (is_put) note_pending(event, point_at_end(of));
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(of);
    lw_cu_unlock_queues();
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
    lw_cu_lock_queues();
    if (!context->marks) context->marks = make(context, false);
    const uint32_t count = green ? points_of_green(context, green, NULL) : 0;
    lw_cu_point *after = calloc(count + 1u, sizeof *after);
    if (green && after) points_of_green(context, green, after);
    op.record.record = ++event->records;
    lw_cu_hold(&event->object);
    const bool is_put = after && put(context->marks, &op, !green, after, count);
    if (is_put) note_pending(event, point_at_end(context->marks));
    const CUresult result = is_put ? CUDA_SUCCESS : refusal(context->marks);
    lw_cu_unlock_queues();
    free(after);
    if (!is_put) lw_cu_op_free(&op);
    return result;
}

/* Of streams that there are. */
CUresult lw_cu_follow_all(CUcontext context, CUgreenCtx green, CUevent event) {
    CUresult result = CUDA_SUCCESS;
    lw_cu_lock_queues();
    lw_cu_point point = event->point;
    if (point.queue) point.queue->references++;
    for (queue *each = context->queues; each && point.queue && !result; each = each->next)
        if (each != context->marks && (!green || each->green == green) &&
            !put(each, &(lw_cu_op){.kind = LW_CU_OP_NOTHING}, false, &point, 1))
            result = refusal(each);
    lw_cu_forget_point(&point);
    lw_cu_unlock_queues();
    return result;
}

/* A record that another one has replaced has no time. */
void lw_cu_note_record(CUevent event, uint64_t record) {
    LW_OWN_FLOAT_MODE(callers);
    const double now = lw_clock();
    lw_cu_lock_queues();
    if (event->records == record) event->time = now;
    lw_cu_unlock_queues();
}

/* Whoever asks from now on need not wait for the rest of the operation. */
void lw_cu_reach_record(CUevent event, uint64_t record) {
    lw_cu_note_record(event, record);
    lw_cu_lock_queues();
    if (event->records == record) lw_cu_forget_point(&event->point);
    lw_cu_unlock_queues();
}

CUresult lw_cu_event_state(CUevent event, double *time) {
    lw_cu_lock_queues();
    const bool reached = lw_cu_is_reached(&event->point);
    *time = event->is_recorded ? event->time : 0;
    if (reached) lw_cu_forget_point(&event->point);
    lw_cu_unlock_queues();
    return reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* The event's point with a reference of its own. */
static lw_cu_point point_of(CUevent event) {
    lw_cu_point point = event->point;
    if (point.queue) point.queue->references++;
    return point;
}

CUresult lw_cu_wait_event(CUevent event) {
    lw_cu_lock_queues();
    lw_cu_point point = point_of(event);
    lw_cu_unlock_queues();
    return point.queue ? lw_cu_wait_for(point) : CUDA_SUCCESS;
}

CUresult lw_cu_follow_event(CUstream stream, CUevent event) {
    lw_cu_lock_queues();
    lw_cu_point point = point_of(event);
    lw_cu_unlock_queues();
    if (!point.queue) return CUDA_SUCCESS;
    CUresult result = lw_cu_submit(stream, &(lw_cu_op){.kind = LW_CU_OP_NOTHING}, &point);
    lw_cu_point_drop(&point);
    return result;
}
