/* memory.c: device memory, host memory that the device can reach, and questions about addresses.
 *
 * Host memory from cuMemHostAlloc is device memory that is also handed out at its place on the host: what
 * cuMemHostGetDevicePointer gives reads and writes the same bytes. The two addresses differ, so a kernel cannot use the
 * host's. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Places ---------------------------------------------------------------------------------------------------- */

bool lw_cu_is_device(uint64_t address) {
    return address >= LW_GLOBAL_BASE && address - LW_GLOBAL_BASE < lw_cu.device->memory.reserved;
}

/* The same stretch seen from the other side. */
char *lw_cu_host_address(uint64_t address) { return lw_cu.device->memory.host + (address - LW_GLOBAL_BASE); }

/* A host address within device memory as a device address; any other address unchanged. */
static uint64_t device_of(uint64_t address) {
    uint64_t base = (uintptr_t)lw_cu.device->memory.host, offset = address - base;
    return address >= base && offset < lw_cu.device->memory.reserved ? LW_GLOBAL_BASE + offset : address;
}

/* What the program allocated that holds an address; NULL for a module's variables and what is nobody's. */
static lw_cu_memory *memory_at(uint64_t address) {
    uint64_t base;
    if (lw_memory_range(lw_cu.device, address, &base, NULL) != LW_OK) return NULL;
    return lw_cu_find((void *)(uintptr_t)base, LW_CU_MEMORY);
}

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

static bool link_memory(lw_cu_memory *memory, CUcontext owner) {
    lw_cu_lock();
    bool known = lw_cu_link(&memory->object, memory->address, LW_CU_MEMORY, owner);
    memory->number = ++lw_cu.last_id;
    lw_cu_unlock();
    return known;
}

/* Memory that the device cannot give back stays allocated until it ends: nobody is there who could be told. */
static void give_back(uint64_t address) {
    if (lw_memory_free(lw_cu.device, address) != LW_OK)
        lw_cu_report(LW_CU_REPORT_ALL, "memory stays allocated: %s", lw_context_message(lw_cu.device));
}

static CUresult allocate(CUcontext owner, uint64_t bytes, bool on_host, unsigned flags, lw_cu_memory **out) {
    lw_cu_memory *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    lw_status status = lw_memory_new(lw_cu.device, bytes, &made->address);
    if (status != LW_OK) {
        free(made);
        return lw_cu_fail(on_host ? "cuMemHostAlloc" : "cuMemAlloc", status);
    }
    made->size = bytes;
    made->flags = flags;
    if (on_host) made->host = lw_cu_host_address(made->address);
    if (!link_memory(made, owner)) {
        give_back(made->address);
        free(made);
        return lw_cu_not_made(owner);
    }
    *out = made;
    return CUDA_SUCCESS;
}

void lw_cu_end_memory(lw_cu_memory *memory) {
    uint64_t address = memory->address;
    if (lw_cu_free(&memory->object)) give_back(address);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    LW_CU_CALL;
    CUcontext context;
    lw_cu_memory *made;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!address || !bytes) return CUDA_ERROR_INVALID_VALUE;
    if ((result = allocate(context, bytes, false, 0, &made))) return result;
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

/* When nothing uses it any more. */
static void free_now(lw_cu_memory *memory) {
    lw_cu_hold(&memory->object);
    lw_cu_drain(memory->object.owner);
    lw_cu_end_memory(memory);
    lw_cu_let_go(&memory->object);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!address) return CUDA_SUCCESS;
    lw_cu_memory *memory = lw_cu_find((void *)(uintptr_t)address, LW_CU_MEMORY);
    if (!memory || memory->host) return CUDA_ERROR_INVALID_VALUE;
    free_now(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_stream(stream);
    return result ? result : cuMemAlloc_v2(address, bytes);
}

static CUresult free_memory(void *data) {
    lw_cu_memory *memory = lw_cu_find((void *)*(uintptr_t *)data, LW_CU_MEMORY);
    if (memory) lw_cu_end_memory(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!address) return CUDA_SUCCESS;
    const lw_cu_memory *memory = lw_cu_find((void *)(uintptr_t)address, LW_CU_MEMORY);
    if (!memory || memory->host) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_enqueue(stream, free_memory, &address, sizeof address);
}

/* ---- Host memory ----------------------------------------------------------------------------------------------- */

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    lw_cu_memory *made;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!host || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    *host = NULL;
    if (!bytes) return CUDA_SUCCESS;
    if ((result = allocate(context, bytes, true, flags, &made))) return result;
    *host = made->host;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **host, size_t bytes) {
    LW_CU_CALL;
    return cuMemHostAlloc(host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}
CUresult cuMemAllocHost(void **host, unsigned bytes) {
    LW_CU_CALL;
    return cuMemAllocHost_v2(host, bytes);
}

/* The allocation that holds a host address; NULL where none does. */
static lw_cu_memory *host_memory(const void *host) {
    lw_cu_memory *memory = memory_at(device_of((uintptr_t)host));
    return memory && memory->host && !lw_cu_is_device((uintptr_t)host) ? memory : NULL;
}

bool lw_cu_is_pinned(const void *host, size_t bytes) {
    const lw_cu_memory *memory = host_memory(host);
    return memory && bytes <= memory->size - (size_t)((const char *)host - memory->host);
}

CUresult cuMemFreeHost(void *host) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result || !host) return result;
    lw_cu_memory *memory = host_memory(host);
    if (!memory || memory->host != host) return CUDA_ERROR_INVALID_VALUE;
    free_now(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    lw_cu_memory *memory = host_memory(host);
    if (!address || flags || !memory) return CUDA_ERROR_INVALID_VALUE;
    *address = device_of((uintptr_t)host);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *host) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    lw_cu_memory *memory = host_memory(host);
    if (!flags || !memory) return CUDA_ERROR_INVALID_VALUE;
    *flags = memory->flags;
    return CUDA_SUCCESS;
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

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

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    LW_CU_CALL;
    uint64_t from, size;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (lw_memory_range(lw_cu.device, address, &from, &size) != LW_OK) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = from;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

/* All that there is to say about an address. */
typedef struct about {
    uint64_t device, base, size, number;
    void *host;
    CUcontext context;
} about;

static bool describe(uint64_t address, about *out) {
    *out = (about){.device = device_of(address)};
    if (lw_memory_range(lw_cu.device, out->device, &out->base, &out->size) != LW_OK) return false;
    const lw_cu_memory *memory = memory_at(out->device);
    if (memory) {
        out->context = memory->object.owner;
        out->number = memory->number;
        if (memory->host) out->host = lw_cu_host_address(out->device);
    }
    return out->host || lw_cu_is_device(address); /* otherwise the host's view of memory that it was never given */
}

#define ANSWER(type, what) \
    do { \
        type answer_ = (what); \
        memcpy(data, &answer_, sizeof answer_); \
        return CUDA_SUCCESS; \
    } while (0)

static CUresult answer(void *data, CUpointer_attribute attribute, const about *about) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: ANSWER(CUcontext, about->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: ANSWER(unsigned, about->host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: ANSWER(CUdeviceptr, about->device);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!about->host) return CUDA_ERROR_INVALID_VALUE;
        ANSWER(void *, about->host);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: ANSWER(unsigned long long, about->number);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: ANSWER(bool, false);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: ANSWER(int, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: ANSWER(CUdeviceptr, about->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: ANSWER(size_t, about->size);
    case CU_POINTER_ATTRIBUTE_MAPPED: ANSWER(bool, true);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    LW_CU_CALL;
    about about;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!data || !describe(address, &about)) return CUDA_ERROR_INVALID_VALUE;
    return answer(data, attribute, &about);
}

/* Where there is no answer it is zero, but for the device's number, which 0 would name. */
static void answer_nothing(void *data, CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED: memset(data, 0, sizeof(bool)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: memset(data, 0, sizeof(unsigned)); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: memset(data, 0xff, sizeof(int)); break;
    default: memset(data, 0, sizeof(uint64_t));
    }
}

/* An address that is nobody's is no error here. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address) {
    LW_CU_CALL;
    about about;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!count || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    bool known = describe(address, &about);
    for (unsigned i = 0; i < count; i++) {
        if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
        result = known ? answer(data[i], attributes[i], &about) : CUDA_ERROR_INVALID_VALUE;
        if (result == CUDA_ERROR_NOT_SUPPORTED) return result;
        if (result) answer_nothing(data[i], attributes[i]);
    }
    return CUDA_SUCCESS;
}
