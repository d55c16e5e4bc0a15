/* user.c: user objects: what a program wants to be told of when no graph needs it any more. */
#include "shim/cuda/graph.h"

#include <limits.h>
#include <stdlib.h>

/* Graphs, executable graphs and launches hold a list together; one of them changes only what is its alone. */
typedef struct lw_cu_users {
    _Atomic uint32_t references;
    size_t count;
    struct {
        CUuserObject object;
        uint64_t count;
    } at[];
} users;

/* Its destructor is called when no call can see it: in none of our locks. */
static void release(CUuserObject object, uint64_t count) {
    if (atomic_fetch_sub(&object->count, count) == count) lw_cu_free(&object->object);
}

users *lw_cu_users_share(users *shared) {
    if (shared) atomic_fetch_add(&shared->references, 1);
    return shared;
}

void lw_cu_users_drop(users *dropped) {
    if (!dropped || atomic_fetch_sub(&dropped->references, 1) != 1) return;
    for (size_t i = 0; i < dropped->count; i++) release(dropped->at[i].object, dropped->at[i].count);
    free(dropped);
}

/* A list of the graph's own with room for one more. NULL: no memory. */
static users *own(CUgraph graph) {
    users *old = graph->users;
    const size_t count = old ? old->count : 0;
    users *made = calloc(1, sizeof *made + (count + 1) * sizeof made->at[0]);
    if (!made) return NULL;
    atomic_init(&made->references, 1);
    made->count = count;
    for (size_t i = 0; i < count; i++) {
        made->at[i] = old->at[i];
        atomic_fetch_add(&made->at[i].object->count, made->at[i].count);
    }
    lw_cu_users_drop(old);
    return graph->users = made;
}

static CUresult check(CUuserObject object, unsigned count) {
    const CUresult result = lw_cu_ready();
    if (result) return result;
    return count && count <= INT_MAX && lw_cu_find(object, LW_CU_USER_OBJECT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuUserObjectCreate(CUuserObject *object, void *user, CUhostFn destroy, unsigned count, unsigned flags) {
    LW_CU_CALL;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!object || !destroy || !count || count > INT_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    CUuserObject made = lw_cu_new(sizeof *made, LW_CU_USER_OBJECT, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->destroy = destroy;
    made->user = user;
    atomic_init(&made->count, count);
    *object = made;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
    LW_CU_GRAPH_CALL;
    const CUresult result = check(object, count);
    if (!result) atomic_fetch_add(&object->count, count);
    return result;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
    LW_CU_GRAPH_CALL;
    const CUresult result = check(object, count);
    if (result) return result;
    if (count > atomic_load(&object->count)) return CUDA_ERROR_INVALID_VALUE;
    release(object, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_check_graph(graph);
    if (!result) result = check(object, count);
    if (result) return result;
    if (flags > CU_GRAPH_USER_OBJECT_MOVE) return CUDA_ERROR_INVALID_VALUE;
    users *list = own(graph);
    if (!list) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t i = 0;
    while (i < list->count && list->at[i].object != object) i++;
    if (i == list->count) list->at[list->count++].object = object;
    list->at[i].count += count;
    if (flags != CU_GRAPH_USER_OBJECT_MOVE) atomic_fetch_add(&object->count, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_check_graph(graph);
    if (!result) result = check(object, count);
    if (result) return result;
    const users *old = graph->users;
    size_t i = 0;
    while (old && i < old->count && old->at[i].object != object) i++;
    if (!old || i == old->count || old->at[i].count < count) return CUDA_ERROR_INVALID_VALUE;
    users *list = own(graph);
    if (!list) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!(list->at[i].count -= count)) list->at[i] = list->at[--list->count];
    release(object, count);
    return CUDA_SUCCESS;
}
