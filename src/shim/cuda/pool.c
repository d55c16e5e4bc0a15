/* pool.c: memory pools, and allocations in the order of a stream.
 *
 * A pool is an account: memory is taken for each allocation, and goes back when it is freed, so that a pool never holds
 * more than is in use, and there is nothing to trim. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

static struct CUmemPoolHandle_st standard[LW_CU_DEVICES_MOST]; /* each device's own */
static _Atomic(CUmemoryPool) current[LW_CU_DEVICES_MOST];      /* NULL: that */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;       /* guards what changes in pools */

/* ---- Pools ----------------------------------------------------------------------------------------------------- */

static void set_up(CUmemoryPool pool, CUdevice device) {
    pool->device = device;
    for (int i = 0; i < 3; i++) pool->reuse[i] = 1;
}

static CUmemoryPool standard_pool(CUdevice device) {
    CUmemoryPool pool = &standard[device];
    lw_cu_lock();
    if (!pool->object.key) {
        if (lw_cu_link(&pool->object, (uintptr_t)pool, LW_CU_POOL, NULL)) set_up(pool, device);
        else pool->object.key = 0;
    }
    const bool there = pool->object.key;
    lw_cu_unlock();
    return there ? pool : NULL;
}

static bool is_standard(CUmemoryPool pool) {
    for (CUdevice i = 0; i < lw_cu.devices; i++)
        if (pool == &standard[i]) return true;
    return false;
}

static CUmemoryPool current_pool(CUdevice device) {
    CUmemoryPool pool = current[device];
    return pool && lw_cu_find(pool, LW_CU_POOL) ? pool : standard_pool(device);
}

static CUresult check_pool(CUmemoryPool pool) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    return lw_cu_find(pool, LW_CU_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult unsupported(const char *what) {
    lw_cu_report(LW_CU_REPORT_ALL, "memory pools: %s", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult give(CUmemoryPool *out, CUmemoryPool pool) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = pool;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* There are pools of memory of the device only. */
static CUresult check_location(const CUmemLocation *location, unsigned type) {
    if (!location || type < CU_MEM_ALLOCATION_TYPE_PINNED || type > CU_MEM_ALLOCATION_TYPE_MANAGED ||
        location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA || (!location->type && type != CU_MEM_ALLOCATION_TYPE_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return unsupported("there are none of managed memory");
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return unsupported("there are none of host memory");
    return lw_cu_check_device(location->id);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!pool || !props) return CUDA_ERROR_INVALID_VALUE;
    if ((result = check_location(&props->location, props->allocType))) return result;
    if (props->handleTypes) return unsupported("other processes cannot be given one");
    CUmemoryPool made = lw_cu_new(sizeof *made, LW_CU_POOL, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    set_up(made, props->location.id);
    made->most = props->maxSize;
    *pool = made;
    return CUDA_SUCCESS;
}

/* What was allocated from it holds it. */
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (result) return result;
    if (is_standard(pool)) return CUDA_ERROR_INVALID_VALUE;
    atomic_compare_exchange_strong(&current[pool->device], &(CUmemoryPool){pool}, NULL);
    return lw_cu_free(&pool->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Which one is used ----------------------------------------------------------------------------------------- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    return result ? result : give(pool, standard_pool(device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    return result ? result : give(pool, current_pool(device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) result = check_pool(pool);
    if (!result && pool->device != device) result = CUDA_ERROR_INVALID_VALUE;
    if (!result) current[device] = pool;
    return result;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    LW_CU_CALL;
    CUresult result = check_location(location, type);
    return result ? result : cuDeviceGetDefaultMemPool(pool, location->id);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    LW_CU_CALL;
    CUresult result = check_location(location, type);
    return result ? result : cuDeviceGetMemPool(pool, location->id);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
    LW_CU_CALL;
    CUresult result = check_location(location, type);
    return result ? result : cuDeviceSetMemPool(location->id, pool);
}

/* ---- Attributes and access ------------------------------------------------------------------------------------- */

static CUresult read(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    uint64_t answer;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        memcpy(value, &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], sizeof(int));
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: answer = pool->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: answer = pool->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: answer = pool->used_peak; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: answer = pool->used_high; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &answer, sizeof answer);
    return CUDA_SUCCESS;
}

/* Marks of the highest use can be set back, and no more. */
static CUresult write(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value) {
    uint64_t number = 0;
    const bool is_flag = attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    if (!attribute || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&number, value, is_flag ? sizeof(int) : sizeof number);
    if (is_flag) pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = number != 0;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool->threshold = number;
    else if (number) return CUDA_ERROR_INVALID_VALUE;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool->used_peak = pool->used;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool->used_high = pool->used;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (result) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = read(pool, attribute, value);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (result) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    result = write(pool, attribute, value);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    LW_CU_CALL;
    (void)keep;
    return check_pool(pool);
}

/* All devices reach the memory of all, its own whatever is said of it. */
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (!result && count && !access) result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++) {
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
        result = lw_cu_check_device(access[i].location.id);
        const bool none = access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE && access[i].location.id != pool->device;
        if (!result && !none && access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            result = CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (result) return result;
    if (!flags || !location || location->type < CU_MEM_LOCATION_TYPE_DEVICE ||
        location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    const bool on_device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (on_device && (result = lw_cu_check_device(location->id))) return result;
    *flags = on_device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

static CUresult charge(CUmemoryPool pool, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    const bool good = !pool->most || (bytes <= pool->most && pool->used <= pool->most - bytes);
    if (good) pool->used += bytes;
    if (good && pool->used > pool->used_high) pool->used_high = pool->used;
    if (good && pool->used > pool->used_peak) pool->used_peak = pool->used;
    pthread_mutex_unlock(&lock);
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void discharge(CUmemoryPool pool, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    pool->used -= bytes;
    pthread_mutex_unlock(&lock);
}

void lw_cu_leave_pool(lw_cu_memory *memory) {
    if (!memory->pool) return;
    discharge(memory->pool, memory->size);
    lw_cu_let_go(&memory->pool->object);
}

/* From a pool or, where that is NULL, the current one of the device. It is there at once, which is before the stream
 * comes to it. */
static CUresult allocate(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    CUcontext context = lw_cu_current();
    lw_cu_memory *made;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (lw_cu_capture_allocate(stream, address, bytes, &result)) return result;
    if ((result = lw_cu_may_act())) return result;
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) { /* nothing, which may be freed */
        *address = 0;
        return CUDA_SUCCESS;
    }
    if (!pool && !(pool = current_pool(context->device))) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((result = charge(pool, bytes))) return result;
    lw_cu_hold(&pool->object);
    result = lw_cu_allocate(context, bytes, LW_CU_ON_DEVICE, 0, pool, &made);
    if (result) {
        discharge(pool, bytes);
        lw_cu_let_go(&pool->object);
        return result;
    }
    *address = made->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    return result ? result : allocate(address, bytes, pool, stream);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return allocate(address, bytes, NULL, stream);
}

/* Another one may have its address by now, if that one ended with its context. */
static CUresult free_in_order(void *data) {
    LW_CU_CALL;
    uint64_t address;
    memcpy(&address, data, sizeof address);
    lw_cu_memory *memory = lw_cu_memory_from(address);
    if (memory && memory->leaving) lw_cu_end_memory(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result || (address && lw_cu_capture_free(stream, address, &result))) return result;
    if ((result = lw_cu_may_act()) || !address) return result;
    lw_cu_memory *memory = lw_cu_memory_from(address);
    if (memory && memory->of_graph) return lw_cu_free_graph_memory(memory);
    if (!memory || memory->host || atomic_exchange(&memory->leaving, true)) return CUDA_ERROR_INVALID_VALUE;
    result = lw_cu_enqueue(stream, free_in_order, &address, sizeof address);
    if (result) memory->leaving = false;
    return result;
}

/* ---- Other processes ------------------------------------------------------------------------------------------- */

static CUresult not_shared(void) { return unsupported("other processes cannot be given one, or what is in it"); }

CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
    LW_CU_CALL;
    (void)type;
    CUresult result = check_pool(pool);
    return result ? result : !handle || flags ? CUDA_ERROR_INVALID_VALUE : not_shared();
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type,
                                            unsigned long long flags) {
    LW_CU_CALL;
    (void)handle, (void)type;
    CUresult result = lw_cu_ready();
    return result ? result : !pool || flags ? CUDA_ERROR_INVALID_VALUE : not_shared();
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    return result ? result : !data || !lw_cu_memory_at(address) ? CUDA_ERROR_INVALID_VALUE : not_shared();
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool, CUmemPoolPtrExportData *data) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    return result ? result : !address || !data ? CUDA_ERROR_INVALID_VALUE : not_shared();
}
