/* calls.c: which calls run, so that what one of them ends stays in memory as long as another may still look at it.
 *
 * An object that ends is not found any more, and is buried. Calls are counted by epoch: in the odd ones here, in the
 * even ones there. Once no call of the epoch before runs any more, nobody can hold what was buried in it, and the next
 * epoch begins. A call that waits for something long (a kernel, the program's own functions) steps out of its epoch
 * meanwhile, and holds by name what it will need afterwards. */
#include "shim/cuda/array.h"

#include <stdio.h>
#include <stdlib.h>

static _Atomic uint64_t epoch = 1;
static _Atomic uint64_t running[2]; /* calls that began in an odd and in an even epoch */
static atomic_bool waiting;         /* something is buried */
static lw_cu_object *graves[2];     /* of this epoch and of the one before, by its lowest bit; under the lock */

static _Thread_local struct {
    unsigned depth; /* calls within calls count once */
    uint64_t epoch;
} call;

static void enter(void) {
    for (;;) {
        call.epoch = atomic_load(&epoch);
        atomic_fetch_add(&running[call.epoch & 1], 1);
        if (atomic_load(&epoch) == call.epoch) return;
        atomic_fetch_sub(&running[call.epoch & 1], 1);
    }
}

/* Those that nobody holds, taken out of a list. */
static lw_cu_object *take_free(lw_cu_object **list) {
    lw_cu_object *taken = NULL;
    while (*list) {
        lw_cu_object *object = *list;
        if (atomic_load(&object->holders)) {
            list = &object->next;
            continue;
        }
        *list = object->next;
        object->next = taken;
        taken = object;
    }
    return taken;
}

/* What can go now: one epoch's dead at most. */
static lw_cu_object *next_epoch(void) {
    lw_cu_lock();
    uint64_t now = atomic_load(&epoch);
    lw_cu_object *taken = NULL;
    if (!atomic_load(&running[(now - 1) & 1])) {
        lw_cu_object **before = &graves[(now - 1) & 1], *rest;
        taken = take_free(before);
        rest = *before; /* held: they wait for another round */
        *before = NULL;
        while (rest) {
            lw_cu_object *object = rest;
            rest = object->next;
            object->next = graves[now & 1];
            graves[now & 1] = object;
        }
        atomic_store(&waiting, graves[now & 1] != NULL);
        atomic_store(&epoch, now + 1);
    }
    lw_cu_unlock();
    return taken;
}

static void end_module(CUmodule module) {
    if (!module->lent) lw_module_free(module->module);
    if (module->library) lw_cu_let_go(&module->library->object);
    free(module->functions);
}

static void end(lw_cu_object *object) {
    CUfunction function = (CUfunction)object;
    if (object->kind == LW_CU_MODULE) end_module((CUmodule)object);
    if (object->kind == LW_CU_STREAM) lw_cu_queue_drop(((CUstream)object)->queue);
    if (object->kind == LW_CU_EVENT) {
        lw_cu_point_drop(&((CUevent)object)->point);
        lw_cu_end_captured((CUevent)object);
    }
    if (object->kind == LW_CU_ARRAY || object->kind == LW_CU_MIPMAP) lw_cu_array_gone((CUarray)object);
    if (object->kind == LW_CU_MEMORY) free(((lw_cu_memory *)object)->of_graph);
    lw_cu_end_graph_object(object);
    if (object->kind == LW_CU_LINK) lw_cu_end_link((CUlinkState)object);
    if (object->kind == LW_CU_LIBRARY) lw_cu_end_library((CUlibrary)object);
    if (object->kind == LW_CU_KERNEL) lw_cu_let_go(&((CUkernel)object)->library->object);
    if (object->kind == LW_CU_FUNCTION) {
        free(function->old);
        lw_cu_let_go(&function->module->object);
        lw_cu_let_go(&object->owner->object);
    }
    free(object);
}

static void clear_graves(void) {
    enum { ROUNDS = 6 }; /* functions go first, then the modules that they hold, then libraries */
    for (int round = 0; round < ROUNDS && atomic_load(&waiting); round++)
        for (lw_cu_object *next, *object = next_epoch(); object; object = next) {
            next = object->next;
            end(object);
        }
}

void lw_cu_clear(void) {
    if (atomic_load(&waiting)) clear_graves();
}

static void leave(void) {
    atomic_fetch_sub(&running[call.epoch & 1], 1);
    lw_cu_clear();
}

void lw_cu_begin(char *unused, const char *name) {
    (void)unused;
    if (call.depth++) return;
    if (lw_cu.log) fprintf(stderr, "lanewise: %s\n", name);
    enter();
}

void lw_cu_end(const char *unused) {
    (void)unused;
    if (!--call.depth) leave();
}

unsigned lw_cu_step_out(void) {
    unsigned depth = call.depth;
    call.depth = 0;
    if (depth) leave();
    return depth;
}

void lw_cu_step_in(unsigned depth) {
    if (depth) enter();
    call.depth = depth;
}

void lw_cu_bury(lw_cu_object *object) {
    lw_cu_object **list = &graves[atomic_load(&epoch) & 1];
    object->next = *list;
    *list = object;
    atomic_store(&waiting, true);
}

void lw_cu_hold(lw_cu_object *object) { atomic_fetch_add(&object->holders, 1); }
void lw_cu_let_go(lw_cu_object *object) { atomic_fetch_sub(&object->holders, 1); }
