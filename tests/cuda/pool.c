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

int main(void) {
    CUcontext context;
    CUstream stream;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, 1));
    standard(stream);
    own(stream);
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
