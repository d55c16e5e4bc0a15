/* pointer.c: questions about addresses. */
#include "shim/cuda/driver.h"

/* All that there is to say about an address. */
typedef struct about {
    uint64_t device, base, size, number; /* base: of all that cuMemFree or cuMemAddressFree would free */
    uint64_t map_base, map_size, block;  /* what is behind it */
    void *host;                          /* where the host sees it; NULL: nowhere */
    bool managed;
    unsigned access, synchronous;
    CUcontext context;
    CUmemoryPool pool;
    CUdevice of;
} about;

static void describe_memory(const lw_cu_memory *memory, uint64_t offset, about *out) {
    *out = (about){.device = memory->address + offset,
                   .base = memory->address,
                   .size = memory->size,
                   .number = memory->number,
                   .map_base = memory->address,
                   .map_size = memory->size,
                   .block = memory->number,
                   .host = memory->host ? memory->host + offset : NULL,
                   .managed = memory->place == LW_CU_MANAGED,
                   .access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                   .synchronous = memory->synchronous,
                   .context = memory->pool ? NULL : memory->object.owner, /* as an H200 has it */
                   .pool = memory->pool,
                   .of = memory->of_graph ? lw_cu_graph_device(memory)
                         : memory->pool   ? memory->pool->device
                                          : memory->object.owner->device};
    if (memory->place == LW_CU_REGISTERED && memory->flags & CU_MEMHOSTREGISTER_READ_ONLY)
        out->access = CU_MEM_ACCESS_FLAGS_PROT_READ;
}

static void describe_mapped(const lw_cu_virtual *around, uint64_t address, about *out) {
    *out = (about){.device = address,
                   .base = around->from,
                   .size = around->size,
                   .map_base = around->map_from,
                   .map_size = around->map_size,
                   .number = around->block,
                   .block = around->block,
                   .access = around->access,
                   .of = around->device};
}

/* A variable of a module. */
static bool describe_variable(uint64_t address, about *out) {
    uint64_t base, size;
    if (lw_memory_range(lw_cu.device, address, &base, &size) != LW_OK) return false;
    const bool managed = lw_memory_is_common(&lw_cu.device->memory, address);
    *out = (about){.device = address,
                   .base = base,
                   .size = size,
                   .map_base = base,
                   .map_size = size,
                   .host = managed ? lw_cu_place(address, 1) : NULL,
                   .managed = managed,
                   .access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return true;
}

/* False: there is nothing, as at an address that is only reserved. */
static bool describe(uint64_t address, about *out) {
    lw_cu_virtual around;
    if (lw_cu_virtual_at(address, &around)) {
        describe_mapped(&around, address, out);
        return around.map_size;
    }
    const lw_cu_memory *memory = lw_cu_memory_at(address);
    if (memory) {
        describe_memory(memory, address - memory->address, out);
        return true;
    }
    if (describe_variable(address, out)) return true;
    memory = lw_cu_host_memory_at((void *)(uintptr_t)address);
    if (memory) describe_memory(memory, address - (uintptr_t)memory->host, out);
    return memory;
}

/* Of what is mapped, not of the addresses around it. */
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    LW_CU_CALL;
    about about;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!describe(address, &about)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = about.map_base;
    if (bytes) *bytes = about.map_size;
    return CUDA_SUCCESS;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

#define ANSWER(type, what) \
    do { \
        type answer_ = (what); \
        memcpy(data, &answer_, sizeof answer_); \
        return CUDA_SUCCESS; \
    } while (0)

/* What the descriptions call a boolean is a word, too, as with a GPU. */
static CUresult answer(void *data, CUpointer_attribute attribute, const about *about) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: ANSWER(CUcontext, about->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        ANSWER(unsigned, about->host && !about->managed ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: ANSWER(CUdeviceptr, about->device);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!about->host) return CUDA_ERROR_INVALID_VALUE;
        ANSWER(void *, about->host);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: ANSWER(unsigned, about->synchronous);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: ANSWER(unsigned long long, about->number);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: ANSWER(unsigned, about->managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: ANSWER(int, about->of);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: ANSWER(CUdeviceptr, about->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: ANSWER(size_t, about->size);
    case CU_POINTER_ATTRIBUTE_MAPPED: ANSWER(unsigned, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: ANSWER(unsigned long long, CU_MEM_HANDLE_TYPE_NONE);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: /* no other process, device or engine reaches it */
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: ANSWER(unsigned, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: ANSWER(unsigned, about->access);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: ANSWER(CUmemoryPool, about->pool);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: ANSWER(size_t, about->map_size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: ANSWER(CUdeviceptr, about->map_base);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: ANSWER(unsigned long long, about->block);
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
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
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

/* Copies that do not wait are as good as those that do: what they read is taken in order. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    LW_CU_CALL;
    unsigned flag;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    lw_cu_memory *memory = lw_cu_memory_at(address);
    if (!value || !memory || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&flag, value, sizeof flag);
    if (flag > 1) return CUDA_ERROR_INVALID_VALUE;
    memory->synchronous = flag;
    return CUDA_SUCCESS;
}
