/* launch.c: launches, and what kernels are like. */
#include "shim/cudart/runtime.h"

#include <string.h>

/* ---- Launches -------------------------------------------------------------------------------------------------- */

static bool read_config(const cudaLaunchConfig_t *from, CUlaunchConfig *config) {
    *config = (CUlaunchConfig){.gridDimX = from->gridDim.x,
                               .gridDimY = from->gridDim.y,
                               .gridDimZ = from->gridDim.z,
                               .blockDimX = from->blockDim.x,
                               .blockDimY = from->blockDim.y,
                               .blockDimZ = from->blockDim.z,
                               .sharedMemBytes = (unsigned)from->dynamicSmemBytes,
                               .hStream = from->stream,
                               .attrs = from->attrs,
                               .numAttrs = from->numAttrs};
    return from->dynamicSmemBytes <= UINT32_MAX;
}

static bool has_shape(int device, const unsigned size[3], unsigned first_attribute) {
    for (unsigned i = 0; i < 3; i++) {
        int most = 0;
        if (lw_driver.cuDeviceGetAttribute(&most, first_attribute + i, device)) return true;
        if (!size[i] || size[i] > (unsigned)most) return false;
    }
    return true;
}

/* Whether the driver could not but refuse a launch: a device has no such grids or blocks. */
static bool is_possible(const CUlaunchConfig *config) {
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    int device, most = 0;
    if (lw_driver.cuCtxGetDevice(&device)) return true;
    if (lw_driver.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device)) return true;
    return has_shape(device, grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           has_shape(device, block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           (uint64_t)block[0] * block[1] * block[2] <= (uint64_t)most;
}

static cudaError_t launch(const void *func, const cudaLaunchConfig_t *from, void **params, bool thread) {
    CUlaunchConfig config;
    CUfunction function;
    const cudaError_t error = lw_rt_function(func, &function);
    if (error) return lw_rt_end(error);
    if (!read_config(from, &config)) return lw_rt_end(cudaErrorInvalidValue);
    const CUresult result = thread ? lw_driver.cuLaunchKernelEx_ptsz(&config, function, params, NULL)
                                   : lw_driver.cuLaunchKernelEx(&config, function, params, NULL);
    if (result == CUDA_ERROR_INVALID_VALUE && !is_possible(&config)) return lw_rt_end(LW_RT_BAD_SHAPE);
    return lw_rt_end_driver(result);
}

#define SHAPE \
    { .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared, .stream = stream }

#define LAUNCH(name, handle, thread) \
    cudaError_t name(handle, dim3 grid, dim3 block, void **params, size_t shared, cudaStream_t stream) { \
        const cudaLaunchConfig_t config = SHAPE; \
        return launch(func, &config, params, thread); \
    }
LAUNCH(cudaLaunchKernel, const void *func, false)
LAUNCH(cudaLaunchKernel_ptsz, const void *func, true)
LAUNCH(__cudaLaunchKernel, cudaKernel_t func, false)
LAUNCH(__cudaLaunchKernel_ptsz, cudaKernel_t func, true)

#define LAUNCH_COOPERATIVE(name, thread) \
    cudaError_t name(const void *func, dim3 grid, dim3 block, void **params, size_t shared, cudaStream_t stream) { \
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}; \
        cudaLaunchConfig_t config = SHAPE; \
        config.attrs = &attribute; \
        config.numAttrs = 1; \
        return launch(func, &config, params, thread); \
    }
LAUNCH_COOPERATIVE(cudaLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cudaLaunchCooperativeKernel_ptsz, true)

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **params) {
    return config ? launch(func, config, params, false) : lw_rt_end(cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **params) {
    return config ? launch(func, config, params, true) : lw_rt_end(cudaErrorInvalidValue);
}

/* ---- kernel<<<…>>>(…): the shape is kept until the kernel's stub asks for it ------------------------------------- */

enum { DEEP = 64 }; /* a launch's arguments may launch */
static _Thread_local struct {
    cudaLaunchConfig_t at[DEEP];
    unsigned count;
} shapes;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    if (shapes.count == DEEP) return lw_rt_end(cudaErrorMemoryAllocation);
    shapes.at[shapes.count++] = (cudaLaunchConfig_t)SHAPE;
    return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!shapes.count) return lw_rt_end(cudaErrorMissingConfiguration);
    const cudaLaunchConfig_t *config = &shapes.at[--shapes.count];
    *grid = config->gridDim;
    *block = config->blockDim;
    *shared = config->dynamicSmemBytes;
    memcpy(stream, &config->stream, sizeof config->stream);
    return cudaSuccess;
}

/* ---- What kernels are like ------------------------------------------------------------------------------------- */

static CUresult describe(struct cudaFuncAttributes *to, CUfunction function) {
    int value = 0;
    CUresult result = CUDA_SUCCESS;
#define ASK(type, field, attribute) \
    if (!result) result = lw_driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_##attribute, function); \
    to->field = (type)value;
    ASK(size_t, sharedSizeBytes, SHARED_SIZE_BYTES)
    ASK(size_t, constSizeBytes, CONST_SIZE_BYTES)
    ASK(size_t, localSizeBytes, LOCAL_SIZE_BYTES)
    ASK(int, maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)
    ASK(int, numRegs, NUM_REGS)
    ASK(int, ptxVersion, PTX_VERSION)
    ASK(int, binaryVersion, BINARY_VERSION)
    ASK(int, cacheModeCA, CACHE_MODE_CA)
    ASK(int, maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES)
    ASK(int, preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT)
    ASK(int, clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET)
    ASK(int, requiredClusterWidth, REQUIRED_CLUSTER_WIDTH)
    ASK(int, requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT)
    ASK(int, requiredClusterDepth, REQUIRED_CLUSTER_DEPTH)
    ASK(int, clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE)
    ASK(int, nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
#undef ASK
    return result;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func) {
    struct cudaFuncAttributes made = {0};
    CUfunction function;
    cudaError_t error = attributes ? lw_rt_function(func, &function) : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(describe(&made, function));
    if (!error) *attributes = made;
    return lw_rt_end(error);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, unsigned attribute, int value, int device) {
    const cudaError_t error = lw_rt_ready();
    if (error) return lw_rt_end(error);
    return lw_rt_end_driver(lw_driver.cuKernelSetAttribute(attribute, value, kernel, device));
}

#define CLUSTERS(name, function) \
    cudaError_t name(int *count, const void *func, const cudaLaunchConfig_t *from) { \
        CUlaunchConfig config; \
        CUfunction kernel; \
        cudaError_t error = count && from ? lw_rt_function(func, &kernel) : cudaErrorInvalidValue; \
        if (!error && !read_config(from, &config)) error = cudaErrorInvalidValue; \
        return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.function(count, kernel, &config)); \
    }
CLUSTERS(cudaOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize)
CLUSTERS(cudaOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters)
