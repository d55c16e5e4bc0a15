/* host.c: memory that both sides see: allocated here, or of the program, which registers it.
 *
 * Both have one address on both sides (decision 22). Only what a program registers that lies below all device memory,
 * where addresses mean something else to a kernel, is reached by kernels at another one. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    lw_cu_memory *made;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!host || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    *host = NULL;
    if (!bytes) return CUDA_SUCCESS;
    if ((result = lw_cu_allocate(context, bytes, LW_CU_PINNED, flags, NULL, &made))) return result;
    *host = made->host;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **host, size_t bytes) {
    LW_CU_CALL;
    return cuMemHostAlloc(host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}
CUresult cuMemAllocHost(void **host, unsigned bytes) { return cuMemAllocHost_v2(host, bytes); }

/* ---- What the host has elsewhere ------------------------------------------------------------------------------- */

static pthread_mutex_t far_lock = PTHREAD_MUTEX_INITIALIZER; /* also: two calls do not register the same */
static lw_cu_memory *far_first;

/* With the lock held. */
static lw_cu_memory *find_far(uintptr_t host, uint64_t size) {
    lw_cu_memory *memory = far_first;
    while (memory && (host + size <= (uintptr_t)memory->host || host >= (uintptr_t)memory->host + memory->size))
        memory = memory->next_far;
    return memory;
}

void lw_cu_end_far(lw_cu_memory *memory) {
    pthread_mutex_lock(&far_lock);
    lw_cu_memory **at = &far_first;
    while (*at && *at != memory) at = &(*at)->next_far;
    if (*at) *at = memory->next_far;
    pthread_mutex_unlock(&far_lock);
}

lw_cu_memory *lw_cu_host_memory_at(const void *host) {
    lw_cu_memory *memory = lw_cu_memory_at((uintptr_t)host);
    if (memory && (uintptr_t)memory->host == memory->address) return memory;
    pthread_mutex_lock(&far_lock);
    memory = find_far((uintptr_t)host, 1);
    pthread_mutex_unlock(&far_lock);
    return memory;
}

bool lw_cu_is_pinned(const void *host, size_t bytes) {
    if (lw_cu_place((uintptr_t)host, bytes) == host) return true; /* managed variables, too */
    const lw_cu_memory *memory = lw_cu_host_memory_at(host);
    return memory && bytes <= memory->size - (size_t)((const char *)host - memory->host);
}

/* ---- Registering ----------------------------------------------------------------------------------------------- */

/* Whether all of a stretch can be read, and written where that is asked for. */
bool lw_cu_host_allows(uintptr_t from, uint64_t size, bool write) {
    char line[512], rights[8];
    unsigned long long start, end;
    uint64_t at = from, to = from + size;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return true; /* who knows */
    while (at < to && fgets(line, sizeof line, maps)) {
        while (!strchr(line, '\n') && fgets(rights, sizeof rights, maps) && !strchr(rights, '\n')) {}
        if (sscanf(line, "%llx-%llx %7s", &start, &end, rights) != 3 || end <= at) continue;
        if (start > at || rights[0] != 'r' || (write && rights[1] != 'w')) break;
        at = end;
    }
    fclose(maps);
    return at >= to;
}

/* With the lock held. */
static bool is_registered(uintptr_t host, uint64_t size) {
    lw_ranges *ranges = lw_memory_hold(&lw_cu.device->memory);
    const lw_range *below, *above;
    lw_ranges_near(ranges, host + size - 1, &below, &above);
    const bool is = below && below->base + below->size > host && (uintptr_t)below->host == below->base;
    lw_ranges_drop(ranges);
    return is || find_far(host, size);
}

/* With the lock held. */
static CUresult lend(lw_cu_memory *made, CUcontext owner) {
    lw_memory *memory = &lw_cu.device->memory;
    const bool read_only = made->flags & CU_MEMHOSTREGISTER_READ_ONLY;
    if (is_registered((uintptr_t)made->host, made->size)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (!lw_memory_lend(memory, made->host, made->size, read_only, &made->address)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!lw_cu_link_memory(made, owner)) {
        lw_memory_unmap(memory, made->address, made->size);
        return lw_cu_not_made(owner);
    }
    if (made->address == (uintptr_t)made->host) return CUDA_SUCCESS;
    made->next_far = far_first;
    far_first = made;
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    const uintptr_t from = (uintptr_t)host;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!host || !bytes || from + bytes < from || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY) {
        lw_cu_report(LW_CU_REPORT_ALL, "cuMemHostRegister: memory of another device cannot be registered");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!lw_cu_host_allows(from, bytes, !(flags & CU_MEMHOSTREGISTER_READ_ONLY))) {
        lw_cu_report(LW_CU_REPORT_ALL, "cuMemHostRegister: the program cannot use all of this memory itself");
        return CUDA_ERROR_INVALID_VALUE;
    }
    lw_cu_memory *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->host = host, made->size = bytes, made->flags = flags;
    made->place = LW_CU_REGISTERED;
    pthread_mutex_lock(&far_lock);
    result = lend(made, context);
    pthread_mutex_unlock(&far_lock);
    if (result) free(made);
    return result;
}
CUresult cuMemHostRegister(void *host, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    return cuMemHostRegister_v2(host, bytes, flags);
}

/* The program's memory is about to go. */
CUresult cuMemHostUnregister(void *host) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!host) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_memory *memory = lw_cu_host_memory_at(host);
    if (!memory || memory->place != LW_CU_REGISTERED || memory->host != host)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    lw_cu_free_memory(memory);
    return CUDA_SUCCESS;
}

/* ---- Ending, and questions ------------------------------------------------------------------------------------- */

CUresult cuMemFreeHost(void *host) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (!result) result = lw_cu_may_act();
    if (result || !host) return result;
    lw_cu_memory *memory = lw_cu_host_memory_at(host);
    if (!memory || memory->place != LW_CU_PINNED || memory->host != host) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_free_memory(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    const lw_cu_memory *memory = lw_cu_host_memory_at(host);
    if (!address || flags || !memory || memory->place == LW_CU_MANAGED) return CUDA_ERROR_INVALID_VALUE;
    *address = memory->address + ((uintptr_t)host - (uintptr_t)memory->host);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *host) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    const lw_cu_memory *memory = lw_cu_host_memory_at(host);
    if (!flags || !memory || memory->place == LW_CU_MANAGED) return CUDA_ERROR_INVALID_VALUE;
    *flags = memory->flags;
    return CUDA_SUCCESS;
}
