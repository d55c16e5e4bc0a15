/* memory.c: device memory: where it is, how it is allocated, how much there is. */
#include "shim/cuda/driver.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Places ---------------------------------------------------------------------------------------------------- */

/* A program that is linked to fixed addresses may have its heap where device memory could lie. Addresses that somebody
 * only reserved are no memory. */
static bool host_has(uint64_t address) {
    unsigned char resident;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return !mincore((void *)(uintptr_t)(address & ~(page - 1)), 1, &resident) &&
           lw_cu_host_allows((uintptr_t)address, 1, false);
}

/* Next to what is allocated nobody asks the system: a copy that leaves device memory is refused. */
bool lw_cu_is_device(uint64_t address) {
    lw_memory *memory = &lw_cu.device->memory;
    if (lw_cu_is_virtual(address) || lw_memory_is_common(memory, address)) return true;
    if (address < LW_GLOBAL_BASE || address - LW_GLOBAL_BASE >= memory->reserved) return false;
    char *place = lw_cu_place(address, 1);
    if (place) return (uintptr_t)place != address;
    return lw_memory_reaches(memory, address) || !host_has(address);
}

char *lw_cu_place(uint64_t address, uint64_t size) {
    lw_ranges *ranges = lw_memory_hold(&lw_cu.device->memory);
    const lw_range *range = lw_ranges_find(ranges, address, size);
    char *place = range ? range->host + (address - range->base) : NULL;
    lw_ranges_drop(ranges);
    return place;
}

/* No handle has such a number. */
static uint64_t key_of(uint64_t address) { return address | 1ull << 63; }

lw_cu_memory *lw_cu_memory_from(uint64_t address) {
    return lw_cu_find((void *)(uintptr_t)key_of(address), LW_CU_MEMORY);
}

/* NULL for a module's variables, for what is mapped, and what is nobody's. */
lw_cu_memory *lw_cu_memory_at(uint64_t address) {
    uint64_t base;
    return lw_memory_range(lw_cu.device, address, &base, NULL) == LW_OK ? lw_cu_memory_from(base) : NULL;
}

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

bool lw_cu_link_memory(lw_cu_memory *memory, CUcontext owner) {
    lw_cu_lock();
    bool known = lw_cu_link(&memory->object, key_of(memory->address), LW_CU_MEMORY, owner);
    memory->number = ++lw_cu.last_id;
    lw_cu_unlock();
    return known;
}

/* Memory that the device cannot give back stays allocated until it ends: nobody is there who could be told. */
static void give_back(const lw_cu_memory *memory) {
    lw_memory *from = &lw_cu.device->memory;
    const bool given = memory->place == LW_CU_REGISTERED ? lw_memory_unmap(from, memory->address, memory->size)
                                                         : lw_memory_give(from, memory->address);
    if (!given) lw_cu_report(LW_CU_REPORT_ALL, "memory stays allocated: no memory for the list of what is");
}

static CUresult full(uint64_t bytes) {
    const lw_memory *memory = &lw_cu.device->memory;
    lw_cu_report(LW_CU_REPORT_ALL, "there is no room for %llu bytes of %llu", (unsigned long long)bytes,
                 (unsigned long long)memory->limit);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult lw_cu_allocate(CUcontext owner, uint64_t bytes, lw_cu_place_kind place, unsigned flags, CUmemoryPool pool,
                        lw_cu_memory **out) {
    lw_memory *from = &lw_cu.device->memory;
    lw_cu_memory *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!(place == LW_CU_ON_DEVICE ? lw_memory_take : lw_memory_take_common)(from, bytes, &made->address)) {
        free(made);
        return full(bytes);
    }
    made->size = bytes;
    made->place = place;
    made->flags = flags;
    made->pool = pool; /* with what it is charged with and held by */
    if (place != LW_CU_ON_DEVICE) made->host = lw_memory_host(from, made->address);
    lw_cu_forget_advice(made->address);
    if (!lw_cu_link_memory(made, owner)) {
        give_back(made);
        free(made);
        return lw_cu_not_made(owner);
    }
    *out = made;
    return CUDA_SUCCESS;
}

/* Lets nobody find an allocation any more, by either address. False: nobody did. */
static bool forget(lw_cu_memory *memory) {
    const bool known = lw_cu_forget(&memory->object);
    if (known && memory->place == LW_CU_REGISTERED) lw_cu_end_far(memory);
    return known;
}

/* Of an allocation that nobody finds any more. */
static void bury(lw_cu_memory *memory) {
    if (memory->place == LW_CU_MANAGED) lw_cu_forget_advice(memory->address);
    give_back(memory);
    lw_cu_leave_pool(memory);
    lw_cu_lock();
    lw_cu_bury(&memory->object);
    lw_cu_unlock();
}

void lw_cu_end_memory(lw_cu_memory *memory) {
    if (forget(memory)) bury(memory);
}

/* What may still be used by work that was given before ends behind it. */
void lw_cu_free_memory(lw_cu_memory *memory) {
    CUcontext owner = memory->object.owner;
    if (!forget(memory)) return; /* another thread was first */
    lw_cu_drain(owner);
    bury(memory);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    LW_CU_CALL;
    CUcontext context;
    lw_cu_memory *made;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    if ((result = lw_cu_allocate(context, bytes, LW_CU_ON_DEVICE, 0, NULL, &made))) return result;
    *address = made->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    LW_CU_CALL;
    size_t row, bytes;
    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_add_overflow(width, 511, &row)) return CUDA_ERROR_OUT_OF_MEMORY;
    row &= ~(size_t)511;
    if (__builtin_mul_overflow(row, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = cuMemAlloc_v2(address, bytes);
    if (!result) *pitch = row;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!address) return CUDA_SUCCESS;
    lw_cu_memory *memory = lw_cu_memory_from(address);
    if (!memory || memory->leaving || memory->place == LW_CU_PINNED || memory->place == LW_CU_REGISTERED)
        return CUDA_ERROR_INVALID_VALUE;
    if (memory->of_graph) return lw_cu_free_graph_memory(memory);
    lw_cu_free_memory(memory);
    return CUDA_SUCCESS;
}

/* ---- How much there is ------------------------------------------------------------------------------------------ */

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    lw_memory *memory = &lw_cu.device->memory;
    pthread_mutex_lock(&memory->lock);
    uint64_t used = memory->used, limit = memory->limit;
    pthread_mutex_unlock(&memory->lock);
    if (free) *free = used < limit ? limit - used : 0;
    if (total) *total = limit;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(unsigned *free, unsigned *total) {
    LW_CU_CALL;
    size_t all_free, all;
    CUresult result = cuMemGetInfo_v2(&all_free, &all);
    if (result) return result;
    if (free) *free = lw_cu_word(all_free);
    if (total) *total = lw_cu_word(all);
    return CUDA_SUCCESS;
}
