/* pool.c: memory pools, and allocations in the order of a stream. Like driver.c it can be run with a GPU's driver. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>

static bool ours;

static uint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute) {
    uint64_t value = 99;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void standard(CUstream stream) {
    CUmemoryPool pool = NULL, now = NULL, of = NULL;
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUdeviceptr at = 0;
    int reuse = 0;
    unsigned back[100];
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuDeviceGetMemPool(&now, 0));
    EXPECT(pool && pool == now);
    OK(cuMemGetDefaultMemPool(&now, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
    EXPECT(pool == now);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&pool, 99));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &reuse));
    EXPECT(reuse == 1);
    reuse = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    EXPECT(reuse == 0);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == 0);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    OK(cuMemAllocAsync(&at, 0, stream)); /* no memory */
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    OK(cuMemFreeAsync(at, stream));
    OK(cuMemAllocAsync(&at, 4096, stream));
    OK(cuMemsetD32Async(at, 0x1234, 100, stream));
    OK(cuMemcpyDtoHAsync_v2(back, at, sizeof back, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(back[0] == 0x1234 && back[99] == 0x1234);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 4096);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 4096);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at));
    EXPECT(of == pool);
    OK(cuMemFreeAsync(at, stream));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(at, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 4096);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &(uint64_t){0}));
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &(uint64_t){1}));
    EXPECT(cuMemAllocAsync(&at, (size_t)1 << 50, stream) != CUDA_SUCCESS); /* what nobody got was never in use */
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
    OK(cuMemPoolTrimTo(pool, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    OK(cuMemAllocAsync(&at, 100, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(at)); /* either call frees it */
}

static void own(CUstream stream) {
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool = NULL, now = NULL, standard;
    CUdeviceptr at = 0, more = 0;
    CUmemAccess_flags access = 0;
    const CUmemAccessDesc all = {props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    props.maxSize = (size_t)64 << 20;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolGetAccess(&access, pool, &props.location));
    EXPECT(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemPoolSetAccess(pool, &all, 1));
    OK(cuMemAllocFromPoolAsync(&at, 32 << 20, pool, stream));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&more, 48 << 20, pool, stream));
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuDeviceGetMemPool(&now, 0));
    EXPECT(now == pool);
    OK(cuMemAllocAsync(&more, 64, stream));
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == (32u << 20) + 64);
    OK(cuMemPoolDestroy(pool)); /* what is from it stays */
    OK(cuDeviceGetMemPool(&now, 0));
    EXPECT(now == standard);
    OK(cuMemsetD8Async(at, 1, 32 << 20, stream));
    OK(cuMemFreeAsync(at, stream));
    OK(cuMemFreeAsync(more, stream));
    OK(cuStreamSynchronize(stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(NULL, &props));
    props.allocType = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, &props));
    if (!ours) return;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&at, 64, pool, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemAllocAsync(&at, 64, (CUstream)&at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(standard, 9, &at));
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, props.handleTypes = 1; /* what other processes could be given */
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolCreate(&pool, &props));
    props.handleTypes = 0, props.location.type = CU_MEM_LOCATION_TYPE_HOST;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolCreate(&pool, &props));
    CUmemPoolPtrExportData data;
    CUipcMemHandle handle;
    OK(cuMemAlloc_v2(&at, 64));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolExportToShareableHandle(&data, standard, 1, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolExportPointer(&data, at));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuIpcGetMemHandle(&handle, at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, 64));
    OK(cuMemFree_v2(at));
}

static CUmemAccess_flags access_of(CUmemoryPool pool, unsigned type) {
    CUmemAccess_flags flags = 9;
    OK(cuMemPoolGetAccess(&flags, pool, &(CUmemLocation){type, 0}));
    return flags;
}

/* Managed memory in a stream's order: the host uses what it is given. */
static void use_managed(CUmemoryPool pool, CUstream stream) {
    CUdeviceptr at = 0;
    CUmemoryPool from = NULL;
    CUcontext owner = (CUcontext)&at;
    unsigned is_managed = 0;
    OK(cuMemAllocFromPoolAsync(&at, 4096, pool, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at));
    OK(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at));
    OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, at));
    EXPECT(is_managed && from == pool && !owner);
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 4096);
    unsigned *words = (unsigned *)(uintptr_t)at;
    words[0] = 7, words[1023] = 9;
    OK(cuMemsetD32Async(at + 4, 5, 1, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(words[0] == 7 && words[1] == 5 && words[1023] == 9);
    OK(cuMemFreeAsync(at, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    OK(cuMemAllocFromPoolAsync(&at, 100, pool, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree_v2(at));
}

/* There is a pool for each place that managed memory may be best at. What is expected an H200 answered. */
static void managed(CUstream stream) {
    static const unsigned types[] = {CU_MEM_LOCATION_TYPE_NONE, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST,
                                     CU_MEM_LOCATION_TYPE_HOST_NUMA};
    const unsigned kind = CU_MEM_ALLOCATION_TYPE_MANAGED;
    CUmemoryPool standard[4], of_device, got, made;
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    OK(cuDeviceGetDefaultMemPool(&of_device, 0));
    for (int i = 0; i < 4; i++) {
        CUmemLocation where = {types[i], 0};
        CUmemPoolProps props = {.allocType = kind, .location = where};
        OK(cuMemGetDefaultMemPool(&standard[i], &where, kind));
        OK(cuMemGetMemPool(&got, &where, kind));
        EXPECT(got == standard[i] && got != of_device);
        for (int k = 0; k < i; k++) EXPECT(standard[k] != standard[i]);
        use_managed(standard[i], stream);
        GIVES(i == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, standard[i]));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, standard[i]));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard[i]));
        OK(cuMemPoolCreate(&made, &props));
        OK(cuMemSetMemPool(&where, kind, made));
        OK(cuMemGetMemPool(&got, &where, kind));
        EXPECT(got == made);
        use_managed(made, stream);
        OK(cuMemPoolDestroy(made));
        if (ours) OK(cuMemGetMemPool(&got, &where, kind)); /* there it was none of both */
        if (ours) EXPECT(got == standard[i]);
        props.maxSize = 1 << 20;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&made, &props));
        props.maxSize = 0, props.handleTypes = 1;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&made, &props));
    }
    OK(cuDeviceGetMemPool(&got, 0));
    EXPECT(got == of_device);
    EXPECT(access_of(standard[1], CU_MEM_LOCATION_TYPE_DEVICE) == 0 &&
           access_of(standard[1], CU_MEM_LOCATION_TYPE_HOST) == 0);
    CUmemAccessDesc access = {device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolSetAccess(standard[1], &access, 1));
    EXPECT(access_of(standard[1], CU_MEM_LOCATION_TYPE_DEVICE) == 3 || !ours);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemPoolSetAccess(standard[1], &access, 1));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemPoolSetAccess(of_device, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolSetAccess(standard[1], &access, 1));
    access = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolSetAccess(standard[1], &access, 1));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolSetAccess(of_device, &access, 1));
    device.id = 99;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&got, &device, kind));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&got, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&got, &device, 3));
    device.type = CU_MEM_LOCATION_TYPE_NONE;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&got, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
    if (!ours) return; /* a graph's managed memory */
    CUgraph graph;
    CUdeviceptr at;
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemAllocFromPoolAsync(&at, 64, standard[0], stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
}

int main(void) {
    CUcontext context;
    CUstream stream;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, 1));
    standard(stream);
    own(stream);
    managed(stream);
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
