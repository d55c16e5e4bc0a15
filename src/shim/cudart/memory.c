/* memory.c: memory, and what an address is. */
#include "shim/cudart/runtime.h"

#include <string.h>

/* ---- Allocating: nothing is a size, too ------------------------------------------------------------------------ */

static void *pointer(CUdeviceptr address) { return (void *)(uintptr_t)address; }

cudaError_t cudaMalloc(void **address, size_t bytes) {
    CUdeviceptr made = 0;
    cudaError_t error = address ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error && bytes) error = lw_rt_result(lw_driver.cuMemAlloc_v2(&made, bytes));
    if (!error) *address = pointer(made);
    return lw_rt_end(error);
}

cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
    CUdeviceptr made;
    if (!address || !bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return lw_rt_end(cudaErrorInvalidValue);
    cudaError_t error = lw_rt_enter();
    if (!error) error = lw_rt_result(lw_driver.cuMemAllocManaged(&made, bytes, flags));
    if (!error) *address = pointer(made);
    return lw_rt_end(error);
}

cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    enum { ELEMENT = 4 };
    CUdeviceptr made = 0;
    size_t row = 0;
    cudaError_t error = address && pitch ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error && width && height)
        error = lw_rt_result(lw_driver.cuMemAllocPitch_v2(&made, &row, width, height, ELEMENT));
    if (error) return lw_rt_end(error);
    *address = pointer(made);
    *pitch = row;
    return cudaSuccess;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
    struct cudaPitchedPtr made = {.xsize = extent.width, .ysize = extent.height};
    size_t rows;
    if (!pitched) return lw_rt_end(cudaErrorInvalidValue);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return lw_rt_end(cudaErrorMemoryAllocation);
    const cudaError_t error = cudaMallocPitch(&made.ptr, &made.pitch, extent.width, rows);
    if (!error) *pitched = made;
    return error;
}

cudaError_t cudaHostAlloc(void **host, size_t bytes, unsigned flags) {
    const cudaError_t error = host ? lw_rt_enter() : cudaErrorInvalidValue;
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuMemHostAlloc(host, bytes, flags));
}

cudaError_t cudaMallocHost(void **host, size_t bytes) { return cudaHostAlloc(host, bytes, 0); }

/* ---- Questions ------------------------------------------------------------------------------------------------- */

enum { ON_NO_DEVICE = -2 }; /* of an address that nobody knows */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address) {
    unsigned type = 0, managed = 0;
    int device = 0;
    void *on_device = NULL, *on_host = NULL;
    unsigned asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *answers[] = {&type, &managed, &device, &on_device, &on_host};
    cudaError_t error = attributes ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error)
        error = lw_rt_result(lw_driver.cuPointerGetAttributes(5, asked, answers, (CUdeviceptr)(uintptr_t)address));
    if (error) return lw_rt_end(error);
    *attributes = (struct cudaPointerAttributes){
        .type = managed                      ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                : type                       ? cudaMemoryTypeDevice
                                             : cudaMemoryTypeUnregistered,
        .device = type ? device : ON_NO_DEVICE,
        .devicePointer = on_device,
        .hostPointer = type ? on_host : (void *)(uintptr_t)address,
    };
    return cudaSuccess;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, unsigned kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
