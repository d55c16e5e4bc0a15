/* queue.h: queues of operations, between those who put something into them (queue.c) and those who do it (carrier.c).
 *
 * Nothing else knows what a queue is. All of it is used with the lock of queues held, but where it says otherwise. */
#ifndef LW_SHIM_CUDA_QUEUE_H
#define LW_SHIM_CUDA_QUEUE_H

#include "shim/cuda/driver.h"

typedef struct lw_cu_item {
    struct lw_cu_item *next;
    lw_cu_op op;
    uint32_t after_count;
    lw_cu_point after[];
} lw_cu_item;

/* It stays as long as a stream, a point or an operation in it does, and its context as long as it. */
typedef struct lw_cu_queue {
    CUcontext context;
    struct lw_cu_queue *next, *previous;           /* of its context */
    struct lw_cu_queue *next_busy, *previous_busy; /* of those that have something in them */
    lw_cu_item *first, *last;
    uint64_t given, done;         /* operations */
    uint64_t thread;              /* whose default stream it is; 0: of no single one's, or it has ended */
    struct lw_cu_queue *next_own; /* of those that are some thread's */
    struct lw_cu_branch *branch;  /* of a capture; guarded by its lock */
    uint32_t references;
    CUgreenCtx green; /* whose stream it is, to be compared only */
    bool blocks;      /* and is blocked by the default stream */
    bool runs;        /* somebody is at its first operation */
    bool later;       /* its first one is to be tried again */
} lw_cu_queue;

extern struct lw_cu_queues {
    pthread_mutex_t lock;
    lw_cu_queue *busy, *own; /* own: of threads */
    uint64_t submitted;
} lw_cu_queues;

static inline void lw_cu_lock_queues(void) { pthread_mutex_lock(&lw_cu_queues.lock); }
static inline void lw_cu_unlock_queues(void) { pthread_mutex_unlock(&lw_cu_queues.lock); }

static inline bool lw_cu_is_reached(const lw_cu_point *point) {
    return !point->queue || point->queue->done >= point->number;
}

/* One reference less. NULL: to none. */
void lw_cu_leave_queue(lw_cu_queue *queue);
void lw_cu_forget_point(lw_cu_point *point);
/* What stands in the way of the first operation of a queue; NULL: nothing. */
lw_cu_queue *lw_cu_obstacle(const lw_cu_queue *of);
/* Nothing does, and nobody is at it. */
bool lw_cu_is_ready(const lw_cu_queue *of);

/* Carriers: carrier.c. */
bool lw_cu_carriers_begin(void);
/* Sees to it that some carrier looks at what is ready. */
void lw_cu_ring(void);
/* Takes the reference of the point; without the lock, outside of the call's epoch meanwhile. The process's fault. */
CUresult lw_cu_wait_for(lw_cu_point point);

#endif
