/* compare.c: our declarations against a real cuda_runtime_api.h and, where the runtime hands on what it was given, the
 * driver's structures against the runtime's. That it compiles is the test. */
#define __CUDA_API_VERSION_INTERNAL 1 /* declare the calls for one default stream per thread, too */
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>

#include <cuda_profiler_api.h>

#if CUDART_VERSION < 13000
#define LW_RT_BEFORE13
#undef cudaGetDeviceProperties /* which is another one there */
#endif

/* What compilers put into programs is declared for C++ alone. */
#define LW_RT(name) lw_own_##name
#include "shim/cudart/types.h"
#define LW_CUDART_COMPARE
#include "shim/cudart/abi.h"
#define LW_CUDA_COMPARE
#include "shim/cudart/runtime.h"

#define SAME(a, b) _Static_assert((a) == (b), #a " is not " #b)

#define ERROR(name, value, text) SAME((unsigned)name, value);
#include "shim/cudart/errors.def"
#undef ERROR
#define CONSTANT(name, value) SAME((unsigned)name, value);
#include "shim/cudart/constants.def"

/* An error of the runtime's that has a result of the driver's number is what that result means. */
SAME((unsigned)cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME((unsigned)cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY);
SAME((unsigned)cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED);
SAME((unsigned)cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME((unsigned)cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE);
SAME((unsigned)cudaErrorNotReady, CUDA_ERROR_NOT_READY);
SAME((unsigned)cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME((unsigned)cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME((unsigned)cudaErrorUnknown, CUDA_ERROR_UNKNOWN);

#define SIZE(type) SAME(sizeof(struct lw_own_##type), sizeof(struct type))
#define FIELD_OF(type, field) \
    SAME(offsetof(struct lw_own_##type, field), offsetof(struct type, field)); \
    SAME(sizeof(((struct lw_own_##type *)0)->field), sizeof(((struct type *)0)->field));
SIZE(dim3);
FIELD_OF(dim3, z)
SIZE(cudaExtent);
FIELD_OF(cudaExtent, depth)
SIZE(cudaPos);
FIELD_OF(cudaPos, z)
SIZE(cudaPitchedPtr);
FIELD_OF(cudaPitchedPtr, pitch)
FIELD_OF(cudaPitchedPtr, ysize)
SIZE(cudaChannelFormatDesc);
FIELD_OF(cudaChannelFormatDesc, f)
SIZE(cudaIpcMemHandle_st);
SIZE(cudaIpcEventHandle_st);
SIZE(cudaMemLocation);
FIELD_OF(cudaMemLocation, id)
SIZE(cudaMemcpy3DParms);
FIELD_OF(cudaMemcpy3DParms, srcPos)
FIELD_OF(cudaMemcpy3DParms, srcPtr)
FIELD_OF(cudaMemcpy3DParms, dstArray)
FIELD_OF(cudaMemcpy3DParms, dstPos)
FIELD_OF(cudaMemcpy3DParms, dstPtr)
FIELD_OF(cudaMemcpy3DParms, extent)
FIELD_OF(cudaMemcpy3DParms, kind)
SIZE(cudaMemcpy3DPeerParms);
FIELD_OF(cudaMemcpy3DPeerParms, srcPtr)
FIELD_OF(cudaMemcpy3DPeerParms, srcDevice)
FIELD_OF(cudaMemcpy3DPeerParms, dstPtr)
FIELD_OF(cudaMemcpy3DPeerParms, dstDevice)
FIELD_OF(cudaMemcpy3DPeerParms, extent)
SIZE(cudaResourceDesc);
FIELD_OF(cudaResourceDesc, resType)
FIELD_OF(cudaResourceDesc, res.array.array)
FIELD_OF(cudaResourceDesc, res.mipmap.mipmap)
FIELD_OF(cudaResourceDesc, res.linear.devPtr)
FIELD_OF(cudaResourceDesc, res.linear.desc)
FIELD_OF(cudaResourceDesc, res.linear.sizeInBytes)
FIELD_OF(cudaResourceDesc, res.pitch2D.desc)
FIELD_OF(cudaResourceDesc, res.pitch2D.width)
FIELD_OF(cudaResourceDesc, res.pitch2D.height)
FIELD_OF(cudaResourceDesc, res.pitch2D.pitchInBytes)
FIELD_OF(cudaResourceDesc, flags)
SIZE(cudaTextureDesc);
FIELD_OF(cudaTextureDesc, addressMode)
FIELD_OF(cudaTextureDesc, filterMode)
FIELD_OF(cudaTextureDesc, readMode)
FIELD_OF(cudaTextureDesc, sRGB)
FIELD_OF(cudaTextureDesc, borderColor)
FIELD_OF(cudaTextureDesc, normalizedCoords)
FIELD_OF(cudaTextureDesc, maxAnisotropy)
FIELD_OF(cudaTextureDesc, mipmapFilterMode)
FIELD_OF(cudaTextureDesc, mipmapLevelBias)
FIELD_OF(cudaTextureDesc, minMipmapLevelClamp)
FIELD_OF(cudaTextureDesc, maxMipmapLevelClamp)
FIELD_OF(cudaTextureDesc, disableTrilinearOptimization)
FIELD_OF(cudaTextureDesc, seamlessCubemap)
SIZE(cudaResourceViewDesc);
FIELD_OF(cudaResourceViewDesc, format)
FIELD_OF(cudaResourceViewDesc, lastLayer)
SAME(sizeof(struct cudaResourceViewDesc), sizeof(CUDA_RESOURCE_VIEW_DESC));
SAME(offsetof(struct cudaResourceViewDesc, depth), offsetof(CUDA_RESOURCE_VIEW_DESC, depth));
SAME(offsetof(struct cudaResourceViewDesc, lastLayer), offsetof(CUDA_RESOURCE_VIEW_DESC, lastLayer));
SAME(sizeof(struct cudaArrayMemoryRequirements), sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS));
SAME(sizeof(struct cudaArraySparseProperties), sizeof(CUDA_ARRAY_SPARSE_PROPERTIES));
/* Numbers that are handed on. */
SAME((unsigned)cudaArrayLayered, CUDA_ARRAY3D_LAYERED);
SAME((unsigned)cudaArraySurfaceLoadStore, CUDA_ARRAY3D_SURFACE_LDST);
SAME((unsigned)cudaArrayCubemap, CUDA_ARRAY3D_CUBEMAP);
SAME((unsigned)cudaArrayTextureGather, CUDA_ARRAY3D_TEXTURE_GATHER);
SAME((unsigned)cudaArraySparse, CUDA_ARRAY3D_SPARSE);
SAME((unsigned)cudaArrayDeferredMapping, CUDA_ARRAY3D_DEFERRED_MAPPING);
SAME((unsigned)cudaResourceTypeArray, CU_RESOURCE_TYPE_ARRAY);
SAME((unsigned)cudaResourceTypeMipmappedArray, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
SAME((unsigned)cudaResourceTypeLinear, CU_RESOURCE_TYPE_LINEAR);
SAME((unsigned)cudaResourceTypePitch2D, CU_RESOURCE_TYPE_PITCH2D);
SAME((unsigned)cudaAddressModeWrap, CU_TR_ADDRESS_MODE_WRAP);
SAME((unsigned)cudaAddressModeClamp, CU_TR_ADDRESS_MODE_CLAMP);
SAME((unsigned)cudaAddressModeMirror, CU_TR_ADDRESS_MODE_MIRROR);
SAME((unsigned)cudaAddressModeBorder, CU_TR_ADDRESS_MODE_BORDER);
SAME((unsigned)cudaFilterModePoint, CU_TR_FILTER_MODE_POINT);
SAME((unsigned)cudaFilterModeLinear, CU_TR_FILTER_MODE_LINEAR);
SAME((unsigned)cudaResViewFormatUnsignedChar1, CU_RES_VIEW_FORMAT_UINT_1X8);
SAME((unsigned)cudaResViewFormatUnsignedInt1, CU_RES_VIEW_FORMAT_UINT_1X32);
SAME((unsigned)cudaResViewFormatHalf1, CU_RES_VIEW_FORMAT_FLOAT_1X16);
SAME((unsigned)cudaResViewFormatFloat4, CU_RES_VIEW_FORMAT_FLOAT_4X32);
SIZE(cudaPointerAttributes);
FIELD_OF(cudaPointerAttributes, type)
FIELD_OF(cudaPointerAttributes, device)
FIELD_OF(cudaPointerAttributes, devicePointer)
FIELD_OF(cudaPointerAttributes, hostPointer)
SIZE(cudaFuncAttributes);
FIELD_OF(cudaFuncAttributes, localSizeBytes)
FIELD_OF(cudaFuncAttributes, maxThreadsPerBlock)
FIELD_OF(cudaFuncAttributes, maxDynamicSharedSizeBytes)
FIELD_OF(cudaFuncAttributes, nonPortableClusterSizeAllowed)
SIZE(cudaKernelNodeParams);
FIELD_OF(cudaKernelNodeParams, gridDim)
FIELD_OF(cudaKernelNodeParams, blockDim)
FIELD_OF(cudaKernelNodeParams, sharedMemBytes)
FIELD_OF(cudaKernelNodeParams, kernelParams)
FIELD_OF(cudaKernelNodeParams, extra)
SIZE(cudaMemsetParams);
FIELD_OF(cudaMemsetParams, value)
FIELD_OF(cudaMemsetParams, elementSize)
FIELD_OF(cudaMemsetParams, height)
SIZE(cudaHostNodeParams);
FIELD_OF(cudaHostNodeParams, userData)
SIZE(cudaLaunchConfig_st);
FIELD_OF(cudaLaunchConfig_st, blockDim)
FIELD_OF(cudaLaunchConfig_st, dynamicSmemBytes)
FIELD_OF(cudaLaunchConfig_st, stream)
FIELD_OF(cudaLaunchConfig_st, attrs)
FIELD_OF(cudaLaunchConfig_st, numAttrs)

/* All properties, and the attributes of the driver that they are. */
SIZE(cudaDeviceProp);
#define FIELD(type, name, size)        FIELD_OF(cudaDeviceProp, name)
#define VALUE(type, name, attribute)   FIELD_OF(cudaDeviceProp, name)
#define VALUES(name, count, attribute) FIELD_OF(cudaDeviceProp, name)
#ifdef LW_RT_BEFORE13
#define OLD VALUE
#define NEW(type, name, attribute)
#else
#define OLD(type, name, attribute)
#define NEW VALUE
#endif
#include "shim/cudart/properties.def"

/* ---- What is handed on to the driver --------------------------------------------------------------------------- */

#define NUMBER(theirs, ours) SAME((unsigned)(theirs), (unsigned)(ours))
NUMBER(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cudaDevAttrMaxThreadsPerBlock);
NUMBER(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, cudaDevAttrAsyncEngineCount);
NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cudaDevAttrComputeCapabilityMajor);
NUMBER(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, cudaDevAttrConcurrentManagedAccess);
NUMBER(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, cudaDevAttrMemoryPoolsSupported);
NUMBER(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, cudaDevAttrClusterLaunch);
NUMBER(CU_LIMIT_STACK_SIZE, cudaLimitStackSize);
NUMBER(CU_LIMIT_MALLOC_HEAP_SIZE, cudaLimitMallocHeapSize);
NUMBER(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, cudaLimitPersistingL2CacheSize);
NUMBER(CU_FUNC_CACHE_PREFER_EQUAL, cudaFuncCachePreferEqual);
NUMBER(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cudaFuncAttributeMaxDynamicSharedMemorySize);
NUMBER(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, cudaFuncAttributeNonPortableClusterSizeAllowed);
NUMBER(CU_MEMHOSTALLOC_WRITECOMBINED, cudaHostAllocWriteCombined);
NUMBER(CU_MEMHOSTREGISTER_DEVICEMAP, cudaHostRegisterMapped);
NUMBER(CU_MEM_ATTACH_SINGLE, cudaMemAttachSingle);
NUMBER(CU_MEM_ADVISE_SET_ACCESSED_BY, cudaMemAdviseSetAccessedBy);
NUMBER(CU_MEMPOOL_ATTR_USED_MEM_HIGH, cudaMemPoolAttrUsedMemHigh);
NUMBER(CU_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
NUMBER(CU_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
NUMBER(CU_STREAM_CAPTURE_MODE_RELAXED, cudaStreamCaptureModeRelaxed);
NUMBER(CU_STREAM_CAPTURE_STATUS_INVALIDATED, cudaStreamCaptureStatusInvalidated);
NUMBER(CU_GRAPH_NODE_TYPE_CONDITIONAL, cudaGraphNodeTypeConditional);
NUMBER(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, cudaGraphExecUpdateErrorTopologyChanged);
NUMBER(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension);
NUMBER(CU_LIBRARY_BINARY_IS_PRESERVED, cudaLibraryBinaryIsPreserved);
NUMBER(CU_JIT_ERROR_LOG_BUFFER, cudaJitErrorLogBuffer);
NUMBER(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, cudaEnablePerThreadDefaultStream);
NUMBER(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, cudaDriverEntryPointVersionNotSufficent);

#define HANDED(type, ours)               SAME(sizeof(type), sizeof(ours))
#define AT(type, field, ours, own_field) SAME(offsetof(type, field), offsetof(ours, own_field))
HANDED(CUmemLocation, struct cudaMemLocation);
HANDED(CUmemPoolProps, struct cudaMemPoolProps);
AT(CUmemPoolProps, location, struct cudaMemPoolProps, location);
AT(CUmemPoolProps, maxSize, struct cudaMemPoolProps, maxSize);
HANDED(CUmemAccessDesc, struct cudaMemAccessDesc);
HANDED(CUmemPoolPtrExportData, struct cudaMemPoolPtrExportData);
HANDED(CUipcMemHandle, cudaIpcMemHandle_t);
HANDED(CUipcEventHandle, cudaIpcEventHandle_t);
HANDED(CUmemcpyAttributes, struct cudaMemcpyAttributes);
AT(CUmemcpyAttributes, dstLocHint, struct cudaMemcpyAttributes, dstLocHint);
HANDED(CUDA_MEMCPY3D_BATCH_OP, struct cudaMemcpy3DBatchOp);
AT(CUDA_MEMCPY3D_BATCH_OP, dst.op.ptr.layerHeight, struct cudaMemcpy3DBatchOp, dst.op.ptr.layerHeight);
AT(CUDA_MEMCPY3D_BATCH_OP, flags, struct cudaMemcpy3DBatchOp, flags);
HANDED(CUlaunchAttribute, cudaLaunchAttribute);
AT(CUlaunchAttribute, value, cudaLaunchAttribute, val);
HANDED(CUlaunchAttributeValue, cudaLaunchAttributeValue);
HANDED(CUgraphEdgeData, cudaGraphEdgeData);
HANDED(CUDA_MEMSET_NODE_PARAMS, struct cudaMemsetParams);
AT(CUDA_MEMSET_NODE_PARAMS, height, struct cudaMemsetParams, height);
HANDED(CUDA_HOST_NODE_PARAMS, struct cudaHostNodeParams);
HANDED(CUDA_MEM_ALLOC_NODE_PARAMS, struct cudaMemAllocNodeParams);
AT(CUDA_MEM_ALLOC_NODE_PARAMS, dptr, struct cudaMemAllocNodeParams, dptr);
HANDED(CUDA_GRAPH_INSTANTIATE_PARAMS, cudaGraphInstantiateParams);
AT(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out, cudaGraphInstantiateParams, result_out);
HANDED(CUgraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo);
HANDED(CUDA_KERNEL_NODE_PARAMS, lw_rt_kernel_node);
AT(CUDA_KERNEL_NODE_PARAMS, gridDimX, lw_rt_kernel_node, plain.gridDim);
AT(CUDA_KERNEL_NODE_PARAMS, kernelParams, lw_rt_kernel_node, plain.kernelParams);
AT(CUDA_KERNEL_NODE_PARAMS, ctx, lw_rt_kernel_node, context);
HANDED(CUDA_MEMCPY3D, lw_rt_copy);
AT(CUDA_MEMCPY3D, srcMemoryType, lw_rt_copy, from.type);
AT(CUDA_MEMCPY3D, srcHost, lw_rt_copy, from.host);
AT(CUDA_MEMCPY3D, srcDevice, lw_rt_copy, from.device);
AT(CUDA_MEMCPY3D, srcPitch, lw_rt_copy, from.pitch);
AT(CUDA_MEMCPY3D, srcHeight, lw_rt_copy, from.height);
AT(CUDA_MEMCPY3D, dstXInBytes, lw_rt_copy, to.x);
AT(CUDA_MEMCPY3D, dstMemoryType, lw_rt_copy, to.type);
AT(CUDA_MEMCPY3D, dstHeight, lw_rt_copy, to.height);
AT(CUDA_MEMCPY3D, WidthInBytes, lw_rt_copy, width);
AT(CUDA_MEMCPY3D, Depth, lw_rt_copy, depth);
HANDED(CUDA_MEMCPY3D_PEER, lw_rt_copy);
AT(CUDA_MEMCPY3D_PEER, srcContext, lw_rt_copy, from.context);
AT(CUDA_MEMCPY3D_PEER, dstContext, lw_rt_copy, to.context);

int main(void) { return 0; }
