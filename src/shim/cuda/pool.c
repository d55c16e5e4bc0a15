/* pool.c: memory pools, and allocations in the order of a stream.
 *
 * A pool is an account: memory is taken for each allocation, and goes back when it is freed, so that a pool never holds
 * more than is in use, and there is nothing to trim. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* Pools are of a device's own memory, or of managed memory that is said to be best here or there. */
enum {
    OF_DEVICE,
    OF_ANYWHERE = LW_CU_DEVICES_MOST, /* managed, as what follows */
    OF_HOST,
    OF_NUMA,
    OF_MANAGED_DEVICE,
    PLACES = OF_MANAGED_DEVICE + LW_CU_DEVICES_MOST,
};
enum { SEEN_BY_HOST = 1u << LW_CU_DEVICES_MOST };

static struct CUmemPoolHandle_st standard[PLACES];       /* each place's own */
static _Atomic(CUmemoryPool) current[PLACES];            /* NULL: that */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what changes in pools */

/* ---- Pools ----------------------------------------------------------------------------------------------------- */

static void set_up(CUmemoryPool pool, unsigned place) {
    pool->place = place;
    pool->is_managed = place >= OF_ANYWHERE;
    pool->device = place < OF_ANYWHERE          ? (CUdevice)(place - OF_DEVICE)
                   : place >= OF_MANAGED_DEVICE ? (CUdevice)(place - OF_MANAGED_DEVICE)
                                                : 0;
    for (int i = 0; i < 3; i++) pool->reuse[i] = 1;
}

static CUmemoryPool standard_pool(unsigned place) {
    CUmemoryPool pool = &standard[place];
    lw_cu_lock();
    if (!pool->object.key) {
        if (lw_cu_link(&pool->object, (uintptr_t)pool, LW_CU_POOL, NULL)) set_up(pool, place);
        else pool->object.key = 0;
    }
    const bool there = pool->object.key;
    lw_cu_unlock();
    return there ? pool : NULL;
}

static bool is_standard(CUmemoryPool pool) { return pool == &standard[pool->place]; }

static CUmemoryPool current_pool(unsigned place) {
    CUmemoryPool pool = current[place];
    return pool && lw_cu_find(pool, LW_CU_POOL) ? pool : standard_pool(place);
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

static CUresult place_of(const CUmemLocation *location, unsigned type, unsigned *place) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!location || type < CU_MEM_ALLOCATION_TYPE_PINNED || type > CU_MEM_ALLOCATION_TYPE_MANAGED ||
        location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA || (!location->type && type != CU_MEM_ALLOCATION_TYPE_MANAGED))
        return CUDA_ERROR_INVALID_VALUE;
    const bool is_managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_NONE: *place = OF_ANYWHERE; return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *place = (is_managed ? OF_MANAGED_DEVICE : OF_DEVICE) + (unsigned)location->id;
        return lw_cu_check_device(location->id) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST: *place = OF_HOST; break;
    default: *place = OF_NUMA; /* there is one node, whatever the host has */
    }
    return is_managed ? CUDA_SUCCESS : unsupported("there are none of host memory that is not managed");
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    unsigned place;
    if (!pool || !props) return CUDA_ERROR_INVALID_VALUE;
    if ((result = place_of(&props->location, props->allocType, &place))) return result;
    if (place >= OF_ANYWHERE && (props->handleTypes || props->maxSize)) return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes) return unsupported("other processes cannot be given one");
    CUmemoryPool made = lw_cu_new(sizeof *made, LW_CU_POOL, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    set_up(made, place);
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
    atomic_compare_exchange_strong(&current[pool->place], &(CUmemoryPool){pool}, NULL);
    return lw_cu_free(&pool->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Which one is used ----------------------------------------------------------------------------------------- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    return result ? result : give(pool, standard_pool(OF_DEVICE + (unsigned)device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    return result ? result : give(pool, current_pool(OF_DEVICE + (unsigned)device));
}

/* A managed one becomes that of managed memory that is best on the device. */
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) result = check_pool(pool);
    if (result) return result;
    if (pool->place != OF_DEVICE + (unsigned)device && pool->place != OF_MANAGED_DEVICE + (unsigned)device)
        return CUDA_ERROR_INVALID_VALUE;
    current[pool->place] = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    LW_CU_CALL;
    unsigned place;
    CUresult result = place_of(location, type, &place);
    return result ? result : give(pool, standard_pool(place));
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    LW_CU_CALL;
    unsigned place;
    CUresult result = place_of(location, type, &place);
    return result ? result : give(pool, current_pool(place));
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
    LW_CU_CALL;
    unsigned place;
    CUresult result = place_of(location, type, &place);
    if (!result) result = check_pool(pool);
    if (result) return result;
    if (pool->place != place) return CUDA_ERROR_INVALID_VALUE;
    current[place] = pool;
    return CUDA_SUCCESS;
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

/* All devices reach the memory of all, its own whatever is said of it; what is said of managed memory is kept for those
 * who ask. */
static CUresult set_access(CUmemoryPool pool, const CUmemAccessDesc *access) {
    const bool on_host = pool->is_managed &&
                         access->location.type - CU_MEM_LOCATION_TYPE_HOST <= 1u; /* or on a node of it */
    if (!on_host && access->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = on_host ? CUDA_SUCCESS : lw_cu_check_device(access->location.id);
    if (result) return result;
    if (access->flags && access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!access->flags && !pool->is_managed && access->location.id == pool->device) return CUDA_ERROR_INVALID_DEVICE;
    const uint32_t bit = on_host ? SEEN_BY_HOST : 1u << access->location.id;
    pool->seen_by = access->flags ? pool->seen_by | bit : pool->seen_by & ~bit;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (!result && count && !access) result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !result; i++) result = set_access(pool, &access[i]);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    LW_CU_CALL;
    CUresult result = check_pool(pool);
    if (result) return result;
    if (!flags || !location || location->type < CU_MEM_LOCATION_TYPE_DEVICE ||
        location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_VALUE;
    const bool on_device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (on_device && (result = lw_cu_check_device(location->id))) return result;
    pthread_mutex_lock(&lock);
    const bool seen = pool->is_managed ? pool->seen_by & (on_device ? 1u << location->id : SEEN_BY_HOST) : on_device;
    pthread_mutex_unlock(&lock);
    *flags = seen ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

static CUresult charge(CUmemoryPool pool, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    const bool good = !pool->most || (bytes <= pool->most && pool->used <= pool->most - bytes);
    if (good) pool->used += bytes;
    pthread_mutex_unlock(&lock);
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What was charged is there. */
static void settle_charge(CUmemoryPool pool) {
    pthread_mutex_lock(&lock);
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->used > pool->used_peak) pool->used_peak = pool->used;
    pthread_mutex_unlock(&lock);
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
    if (lw_cu_capture_allocate(stream, pool, address, bytes, &result)) return result;
    if ((result = lw_cu_may_act())) return result;
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) { /* nothing, which may be freed */
        *address = 0;
        return CUDA_SUCCESS;
    }
    if (!pool && !(pool = current_pool(OF_DEVICE + (unsigned)context->device))) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((result = charge(pool, bytes))) return result;
    lw_cu_hold(&pool->object);
    result = lw_cu_allocate(context, bytes, pool->is_managed ? LW_CU_MANAGED : LW_CU_ON_DEVICE, 0, pool, &made);
    if (result) {
        discharge(pool, bytes);
        lw_cu_let_go(&pool->object);
        return result;
    }
    settle_charge(pool);
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
    if (!memory || (memory->host && !memory->pool) || atomic_exchange(&memory->leaving, true))
        return CUDA_ERROR_INVALID_VALUE;
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
