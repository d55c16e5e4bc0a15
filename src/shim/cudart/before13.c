/* before13.c: what CUDA 13 does not have any more, or has in another form: for libcudart.so.12 alone. */
#include "shim/cudart/runtime.h"

#ifdef LW_RT_BEFORE13
#include <string.h>

/* Before CUDA 12 the structure ended here: the program's has no room for more. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    enum { OLD_SIZE = offsetof(struct cudaDeviceProp, hostRegisterSupported) };
    struct cudaDeviceProp made;
    if (!properties) return lw_rt_end(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetDeviceProperties_v2(&made, device);
    if (!error) memcpy(properties, &made, OLD_SIZE);
    return error;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count,
                             struct cudaGraphNodeParams *params) {
    return cudaGraphAddNode_v2(node, graph, nodes, NULL, count, params);
}

cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadSetLimit(unsigned limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t *value, unsigned limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadGetCacheConfig(unsigned *config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(unsigned config) { return cudaDeviceSetCacheConfig(config); }

/* All devices have doubles. */
cudaError_t cudaSetDoubleForDevice(double *value) { return lw_rt_end(value ? cudaSuccess : cudaErrorInvalidValue); }
cudaError_t cudaSetDoubleForHost(double *value) { return lw_rt_end(value ? cudaSuccess : cudaErrorInvalidValue); }
#endif
