/* graph_memory.c: memory that graphs allocate.
 *
 * An allocation node has its memory from when it is made until it ends, at the address that it keeps over all launches;
 * what is allocated and freed is a word of whether it counts as there. Calls change it as they are made, so that a
 * launch can be refused; nothing is left to do when the node is reached. Memory that still counts as there when its
 * node ends is the program's from then on. */
#include "shim/cuda/graph.h"

#include <stdlib.h>

struct lw_cu_graph_memory {
    uint64_t graph, freed_by; /* ids of the graph that allocates it, and of the one that has a node to free it */
    CUdevice device;
    bool is_there;
    bool is_alone; /* its node has ended */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these, and of … */
static struct { uint64_t used, used_most, reserved, reserved_most; } bytes;

void lw_cu_graph_memory_after_fork(void) { pthread_mutex_init(&lock, NULL); }

CUdevice lw_cu_graph_device(const lw_cu_memory *memory) { return memory->of_graph->device; }

/* What a graph allocates at an address; NULL: nothing. */
static lw_cu_memory *find(CUdeviceptr address) {
    lw_cu_memory *memory = lw_cu_memory_from(address);
    return memory && memory->of_graph ? memory : NULL;
}

static void count(uint64_t *now, uint64_t *most, uint64_t by) {
    *now += by;
    if (*now > *most) *most = *now;
}

/* With the lock held. */
static void set_there(lw_cu_memory *memory, bool is_there) {
    if (memory->of_graph->is_there == is_there) return;
    memory->of_graph->is_there = is_there;
    count(&bytes.used, &bytes.used_most, is_there ? memory->size : -memory->size);
}

static void end_memory(lw_cu_memory *memory) {
    bytes.reserved -= memory->size;
    lw_cu_end_memory(memory);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

CUresult lw_cu_graph_allocate(CUgraph graph, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    lw_cu_memory *made;
    const CUmemPoolProps *pool = &params->poolProps;
    if (graph->parent) return CUDA_ERROR_INVALID_VALUE; /* one that was moved into another */
    if (!params->bytesize || pool->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || pool->handleTypes)
        return CUDA_ERROR_INVALID_VALUE;
    if (pool->location.type != CU_MEM_LOCATION_TYPE_DEVICE || lw_cu_check_device(pool->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    struct lw_cu_graph_memory *of_graph = calloc(1, sizeof *of_graph);
    const CUresult result = of_graph ? lw_cu_allocate(NULL, params->bytesize, LW_CU_ON_DEVICE, 0, NULL, &made)
                                     : CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        free(of_graph);
        return result;
    }
    of_graph->graph = graph->id;
    of_graph->device = pool->location.id;
    pthread_mutex_lock(&lock);
    made->of_graph = of_graph;
    count(&bytes.reserved, &bytes.reserved_most, made->size);
    pthread_mutex_unlock(&lock);
    params->dptr = made->address;
    return CUDA_SUCCESS;
}

/* It is freed in one graph, and once there. */
CUresult lw_cu_graph_may_free(CUgraph graph, CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    const lw_cu_memory *memory = find(address);
    const bool may = memory && !graph->parent && memory->of_graph->freed_by != graph->id &&
                     (!memory->of_graph->freed_by ||
                      (memory->of_graph->freed_by != memory->of_graph->graph && graph->id != memory->of_graph->graph));
    pthread_mutex_unlock(&lock);
    return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void lw_cu_graph_will_free(CUgraph graph, CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    lw_cu_memory *memory = find(address);
    if (memory) memory->of_graph->freed_by = graph->id;
    pthread_mutex_unlock(&lock);
}

void lw_cu_graph_give_up(CUdeviceptr address) {
    pthread_mutex_lock(&lock);
    lw_cu_memory *memory = find(address);
    if (memory && memory->of_graph->is_there) memory->of_graph->is_alone = true;
    else if (memory) end_memory(memory);
    pthread_mutex_unlock(&lock);
}

/* ---- Launches and calls ------------------------------------------------------------------------------------------ */

/* What a launch allocates is not there yet. */
static bool fits(const lw_cu_program *program, bool free_first) {
    for (size_t i = 0; i < program->count; i++) {
        const lw_cu_step *step = program->steps[i];
        if (!step || step->params.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
        const lw_cu_memory *memory = find(step->params.alloc.dptr);
        if (!memory || (memory->of_graph->is_there && !free_first)) return false;
    }
    return true;
}

CUresult lw_cu_graph_take_memory(const lw_cu_program *program, bool free_first) {
    pthread_mutex_lock(&lock);
    const bool may = fits(program, free_first);
    for (size_t i = 0; i < program->count && may; i++) {
        const lw_cu_step *step = program->steps[i];
        if (!step) continue;
        const bool is_free = step->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
        if (!is_free && step->params.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
        lw_cu_memory *memory = find(is_free ? step->params.free.dptr : step->params.alloc.dptr);
        if (memory) set_there(memory, !is_free);
        if (memory && is_free && memory->of_graph->is_alone) end_memory(memory);
    }
    pthread_mutex_unlock(&lock);
    return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult lw_cu_free_graph_memory(lw_cu_memory *memory) {
    pthread_mutex_lock(&lock);
    const bool may = memory->of_graph->is_there && memory->of_graph->freed_by != memory->of_graph->graph;
    if (may) set_there(memory, false);
    if (may && memory->of_graph->is_alone) end_memory(memory);
    pthread_mutex_unlock(&lock);
    return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- The device's ------------------------------------------------------------------------------------------------ */

/* Nothing is kept that no graph needs. */
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    LW_CU_CALL;
    return lw_cu_check_device(device);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    LW_CU_CALL;
    const CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!value || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    const uint64_t all[] = {bytes.used, bytes.used_most, bytes.reserved, bytes.reserved_most};
    pthread_mutex_unlock(&lock);
    memcpy(value, &all[attribute], sizeof all[attribute]);
    return CUDA_SUCCESS;
}

/* The most that there was can be set back. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    LW_CU_CALL;
    static const uint64_t zero;
    const CUresult result = lw_cu_check_device(device);
    if (result) return result;
    const bool is_most = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                         attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!value || !is_most || memcmp(value, &zero, sizeof zero)) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) bytes.used_most = bytes.used;
    else bytes.reserved_most = bytes.reserved;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
