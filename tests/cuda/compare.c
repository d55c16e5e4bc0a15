/* compare.c: our declarations against a real cuda.h. That it compiles is the test; what is no constant expression is
 * left for main. */
#define __CUDA_API_VERSION_INTERNAL 1 /* declare the older versions, too */
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#define LW_CU(name) lw_own_##name
#include "shim/cuda/types.h"
#define LW_CUDA_COMPARE
#include "shim/cuda/abi.h"

#define SAME(a, b) _Static_assert((a) == (b), #a " is not " #b)

#define ERROR(name, value, text) SAME((unsigned)name, value);
#include "shim/cuda/errors.def"
#define ATTRIBUTE(name, number, value) SAME((unsigned)CU_DEVICE_ATTRIBUTE_##name, number);
#include "shim/cuda/attributes.def"
#define CONSTANT(name, value) SAME((unsigned)name, value);
#include "shim/cuda/constants.def"
#define FORMAT(name, value, type, channels, normalized) SAME((unsigned)name, value);
#define VIEW(name, value, type, channels)               SAME((unsigned)name, value);
#include "shim/cuda/formats.def"
SAME(CU_PARAM_TR_DEFAULT, -1);

#define SIZE(type) SAME(sizeof(lw_own_##type), sizeof(type))
#define FIELD(type, field) \
    SAME(offsetof(lw_own_##type, field), offsetof(type, field)); \
    SAME(sizeof(((lw_own_##type *)0)->field), sizeof(((type *)0)->field))
SIZE(CUuuid);
SIZE(CUdevprop);
FIELD(CUdevprop, maxThreadsDim);
FIELD(CUdevprop, maxGridSize);
FIELD(CUdevprop, SIMDWidth);
FIELD(CUdevprop, textureAlign);
SIZE(CUlaunchAttributeValue);
FIELD(CUlaunchAttributeValue, cooperative);
FIELD(CUlaunchAttributeValue, clusterDim);
SIZE(CUlaunchAttribute);
FIELD(CUlaunchAttribute, id);
FIELD(CUlaunchAttribute, value);
SIZE(CUlaunchConfig);
FIELD(CUlaunchConfig, gridDimX);
FIELD(CUlaunchConfig, blockDimZ);
FIELD(CUlaunchConfig, sharedMemBytes);
FIELD(CUlaunchConfig, hStream);
FIELD(CUlaunchConfig, attrs);
FIELD(CUlaunchConfig, numAttrs);
SIZE(CUstreamBatchMemOpParams);
#define WORD_FIELD(own, other) \
    SAME(offsetof(lw_own_CUstreamBatchMemOpParams, word.own), offsetof(CUstreamBatchMemOpParams, waitValue.other)); \
    SAME(offsetof(lw_own_CUstreamBatchMemOpParams, word.own), offsetof(CUstreamBatchMemOpParams, writeValue.other))
WORD_FIELD(address, address);
WORD_FIELD(value, value64);
WORD_FIELD(flags, flags);
SIZE(CUmemLocation);
FIELD(CUmemLocation, type);
FIELD(CUmemLocation, id);
SIZE(CUtensorMap);
SAME(_Alignof(lw_own_CUtensorMap), _Alignof(CUtensorMap));
SIZE(CUDA_MEMCPY2D);
FIELD(CUDA_MEMCPY2D, srcY);
FIELD(CUDA_MEMCPY2D, srcMemoryType);
FIELD(CUDA_MEMCPY2D, srcHost);
FIELD(CUDA_MEMCPY2D, srcDevice);
FIELD(CUDA_MEMCPY2D, srcArray);
FIELD(CUDA_MEMCPY2D, srcPitch);
FIELD(CUDA_MEMCPY2D, dstXInBytes);
FIELD(CUDA_MEMCPY2D, dstY);
FIELD(CUDA_MEMCPY2D, dstMemoryType);
FIELD(CUDA_MEMCPY2D, dstHost);
FIELD(CUDA_MEMCPY2D, dstDevice);
FIELD(CUDA_MEMCPY2D, dstPitch);
FIELD(CUDA_MEMCPY2D, WidthInBytes);
FIELD(CUDA_MEMCPY2D, Height);
SIZE(CUDA_MEMCPY3D);
FIELD(CUDA_MEMCPY3D, srcZ);
FIELD(CUDA_MEMCPY3D, srcLOD);
FIELD(CUDA_MEMCPY3D, srcMemoryType);
FIELD(CUDA_MEMCPY3D, srcHost);
FIELD(CUDA_MEMCPY3D, srcDevice);
FIELD(CUDA_MEMCPY3D, reserved0);
FIELD(CUDA_MEMCPY3D, srcPitch);
FIELD(CUDA_MEMCPY3D, srcHeight);
FIELD(CUDA_MEMCPY3D, dstXInBytes);
FIELD(CUDA_MEMCPY3D, dstZ);
FIELD(CUDA_MEMCPY3D, dstLOD);
FIELD(CUDA_MEMCPY3D, dstMemoryType);
FIELD(CUDA_MEMCPY3D, dstHost);
FIELD(CUDA_MEMCPY3D, dstDevice);
FIELD(CUDA_MEMCPY3D, reserved1);
FIELD(CUDA_MEMCPY3D, dstPitch);
FIELD(CUDA_MEMCPY3D, dstHeight);
FIELD(CUDA_MEMCPY3D, WidthInBytes);
FIELD(CUDA_MEMCPY3D, Depth);
SIZE(CUDA_MEMCPY3D_PEER);
FIELD(CUDA_MEMCPY3D_PEER, srcZ);
FIELD(CUDA_MEMCPY3D_PEER, srcLOD);
FIELD(CUDA_MEMCPY3D_PEER, srcMemoryType);
FIELD(CUDA_MEMCPY3D_PEER, srcHost);
FIELD(CUDA_MEMCPY3D_PEER, srcDevice);
FIELD(CUDA_MEMCPY3D_PEER, srcContext);
FIELD(CUDA_MEMCPY3D_PEER, srcPitch);
FIELD(CUDA_MEMCPY3D_PEER, srcHeight);
FIELD(CUDA_MEMCPY3D_PEER, dstXInBytes);
FIELD(CUDA_MEMCPY3D_PEER, dstZ);
FIELD(CUDA_MEMCPY3D_PEER, dstLOD);
FIELD(CUDA_MEMCPY3D_PEER, dstMemoryType);
FIELD(CUDA_MEMCPY3D_PEER, dstHost);
FIELD(CUDA_MEMCPY3D_PEER, dstDevice);
FIELD(CUDA_MEMCPY3D_PEER, dstContext);
FIELD(CUDA_MEMCPY3D_PEER, dstPitch);
FIELD(CUDA_MEMCPY3D_PEER, dstHeight);
FIELD(CUDA_MEMCPY3D_PEER, WidthInBytes);
FIELD(CUDA_MEMCPY3D_PEER, Depth);
SIZE(CUmemcpyAttributes);
FIELD(CUmemcpyAttributes, srcAccessOrder);
FIELD(CUmemcpyAttributes, srcLocHint);
FIELD(CUmemcpyAttributes, dstLocHint);
FIELD(CUmemcpyAttributes, flags);
SIZE(CUmemcpy3DOperand);
FIELD(CUmemcpy3DOperand, type);
FIELD(CUmemcpy3DOperand, op.ptr.ptr);
FIELD(CUmemcpy3DOperand, op.ptr.rowLength);
FIELD(CUmemcpy3DOperand, op.ptr.layerHeight);
FIELD(CUmemcpy3DOperand, op.array.array);
FIELD(CUmemcpy3DOperand, op.array.offset);
SIZE(CUDA_MEMCPY3D_BATCH_OP);
FIELD(CUDA_MEMCPY3D_BATCH_OP, src);
FIELD(CUDA_MEMCPY3D_BATCH_OP, dst);
FIELD(CUDA_MEMCPY3D_BATCH_OP, extent);
FIELD(CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder);
FIELD(CUDA_MEMCPY3D_BATCH_OP, flags);
SIZE(CUmemAllocationProp);
FIELD(CUmemAllocationProp, type);
FIELD(CUmemAllocationProp, requestedHandleTypes);
FIELD(CUmemAllocationProp, location);
FIELD(CUmemAllocationProp, win32HandleMetaData);
FIELD(CUmemAllocationProp, allocFlags);
FIELD(CUmemAllocationProp, allocFlags.usage);
SIZE(CUmulticastObjectProp);
FIELD(CUmulticastObjectProp, numDevices);
FIELD(CUmulticastObjectProp, size);
FIELD(CUmulticastObjectProp, handleTypes);
FIELD(CUmulticastObjectProp, flags);
SIZE(CUmemAccessDesc);
FIELD(CUmemAccessDesc, location);
FIELD(CUmemAccessDesc, flags);
SIZE(CUmemPoolProps);
FIELD(CUmemPoolProps, allocType);
FIELD(CUmemPoolProps, handleTypes);
FIELD(CUmemPoolProps, location);
FIELD(CUmemPoolProps, win32SecurityAttributes);
FIELD(CUmemPoolProps, maxSize);
FIELD(CUmemPoolProps, usage);
FIELD(CUmemPoolProps, reserved);
SIZE(CUmemPoolPtrExportData);
SIZE(CUipcEventHandle);
SIZE(CUipcMemHandle);

FIELD(CUlaunchAttributeValue, priority);
FIELD(CUDA_MEMCPY3D, srcXInBytes);
FIELD(CUDA_MEMCPY3D, srcY);
FIELD(CUDA_MEMCPY3D, srcArray);
FIELD(CUDA_MEMCPY3D, dstArray);
FIELD(CUDA_MEMCPY3D, Height);
SIZE(CUgraphEdgeData);
FIELD(CUgraphEdgeData, from_port);
FIELD(CUgraphEdgeData, to_port);
FIELD(CUgraphEdgeData, type);
FIELD(CUgraphEdgeData, reserved);
SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, func);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
FIELD(CUDA_KERNEL_NODE_PARAMS_v1, extra);
SIZE(CUDA_KERNEL_NODE_PARAMS);
FIELD(CUDA_KERNEL_NODE_PARAMS, func);
FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimX);
FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimZ);
FIELD(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams);
FIELD(CUDA_KERNEL_NODE_PARAMS, extra);
FIELD(CUDA_KERNEL_NODE_PARAMS, kern);
FIELD(CUDA_KERNEL_NODE_PARAMS, ctx);
SIZE(CUDA_MEMCPY_NODE_PARAMS);
FIELD(CUDA_MEMCPY_NODE_PARAMS, flags);
FIELD(CUDA_MEMCPY_NODE_PARAMS, copyCtx);
FIELD(CUDA_MEMCPY_NODE_PARAMS, copyParams);
SIZE(CUDA_MEMSET_NODE_PARAMS);
FIELD(CUDA_MEMSET_NODE_PARAMS, dst);
FIELD(CUDA_MEMSET_NODE_PARAMS, pitch);
FIELD(CUDA_MEMSET_NODE_PARAMS, value);
FIELD(CUDA_MEMSET_NODE_PARAMS, elementSize);
FIELD(CUDA_MEMSET_NODE_PARAMS, width);
FIELD(CUDA_MEMSET_NODE_PARAMS, height);
SIZE(CUDA_MEMSET_NODE_PARAMS_v2);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, dst);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, pitch);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, value);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, elementSize);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, width);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, height);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, ctx);
SIZE(CUDA_HOST_NODE_PARAMS);
FIELD(CUDA_HOST_NODE_PARAMS, fn);
FIELD(CUDA_HOST_NODE_PARAMS, userData);
SIZE(CUDA_ARRAY_DESCRIPTOR);
FIELD(CUDA_ARRAY_DESCRIPTOR, Height);
FIELD(CUDA_ARRAY_DESCRIPTOR, Format);
FIELD(CUDA_ARRAY_DESCRIPTOR, NumChannels);
SIZE(CUDA_ARRAY3D_DESCRIPTOR);
FIELD(CUDA_ARRAY3D_DESCRIPTOR, Height);
FIELD(CUDA_ARRAY3D_DESCRIPTOR, Depth);
FIELD(CUDA_ARRAY3D_DESCRIPTOR, Format);
FIELD(CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
FIELD(CUDA_ARRAY3D_DESCRIPTOR, Flags);
SIZE(CUDA_ARRAY_MEMORY_REQUIREMENTS);
FIELD(CUDA_ARRAY_MEMORY_REQUIREMENTS, alignment);
SIZE(CUDA_ARRAY_SPARSE_PROPERTIES);
FIELD(CUDA_ARRAY_SPARSE_PROPERTIES, miptailSize);
SIZE(CUDA_RESOURCE_DESC);
FIELD(CUDA_RESOURCE_DESC, resType);
FIELD(CUDA_RESOURCE_DESC, res.array.hArray);
FIELD(CUDA_RESOURCE_DESC, res.mipmap.hMipmappedArray);
FIELD(CUDA_RESOURCE_DESC, res.linear.devPtr);
FIELD(CUDA_RESOURCE_DESC, res.linear.format);
FIELD(CUDA_RESOURCE_DESC, res.linear.numChannels);
FIELD(CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.devPtr);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.format);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.numChannels);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.width);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.height);
FIELD(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
FIELD(CUDA_RESOURCE_DESC, flags);
SIZE(CUDA_TEXTURE_DESC);
FIELD(CUDA_TEXTURE_DESC, addressMode);
FIELD(CUDA_TEXTURE_DESC, filterMode);
FIELD(CUDA_TEXTURE_DESC, flags);
FIELD(CUDA_TEXTURE_DESC, maxAnisotropy);
FIELD(CUDA_TEXTURE_DESC, mipmapFilterMode);
FIELD(CUDA_TEXTURE_DESC, mipmapLevelBias);
FIELD(CUDA_TEXTURE_DESC, minMipmapLevelClamp);
FIELD(CUDA_TEXTURE_DESC, maxMipmapLevelClamp);
FIELD(CUDA_TEXTURE_DESC, borderColor);
FIELD(CUDA_TEXTURE_DESC, reserved);
SIZE(CUDA_RESOURCE_VIEW_DESC);
FIELD(CUDA_RESOURCE_VIEW_DESC, format);
FIELD(CUDA_RESOURCE_VIEW_DESC, width);
FIELD(CUDA_RESOURCE_VIEW_DESC, height);
FIELD(CUDA_RESOURCE_VIEW_DESC, depth);
FIELD(CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel);
FIELD(CUDA_RESOURCE_VIEW_DESC, lastMipmapLevel);
FIELD(CUDA_RESOURCE_VIEW_DESC, firstLayer);
FIELD(CUDA_RESOURCE_VIEW_DESC, lastLayer);
SIZE(CUDA_CHILD_GRAPH_NODE_PARAMS);
FIELD(CUDA_CHILD_GRAPH_NODE_PARAMS, graph);
FIELD(CUDA_CHILD_GRAPH_NODE_PARAMS, ownership);
SIZE(CUDA_EVENT_WAIT_NODE_PARAMS);
FIELD(CUDA_EVENT_WAIT_NODE_PARAMS, event);
SIZE(CUDA_EVENT_RECORD_NODE_PARAMS);
FIELD(CUDA_EVENT_RECORD_NODE_PARAMS, event);
SIZE(CUDA_MEM_ALLOC_NODE_PARAMS);
FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, poolProps);
FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs);
FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, accessDescCount);
FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
FIELD(CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SIZE(CUDA_MEM_FREE_NODE_PARAMS);
FIELD(CUDA_MEM_FREE_NODE_PARAMS, dptr);
SIZE(CUgraphNodeParams);
FIELD(CUgraphNodeParams, type);
FIELD(CUgraphNodeParams, kernel);
FIELD(CUgraphNodeParams, memcpy);
FIELD(CUgraphNodeParams, memset);
FIELD(CUgraphNodeParams, host);
FIELD(CUgraphNodeParams, graph);
FIELD(CUgraphNodeParams, eventWait);
FIELD(CUgraphNodeParams, eventRecord);
FIELD(CUgraphNodeParams, alloc);
FIELD(CUgraphNodeParams, free);
FIELD(CUgraphNodeParams, reserved2);
SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, flags);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SIZE(CUgraphExecUpdateResultInfo);
FIELD(CUgraphExecUpdateResultInfo, result);
FIELD(CUgraphExecUpdateResultInfo, errorNode);
FIELD(CUgraphExecUpdateResultInfo, errorFromNode);

/* Enumerations travel as words. */
#define WORD(type) SAME(sizeof(type), sizeof(unsigned))
WORD(CUresult);
WORD(CUdevice_attribute);
WORD(CUfunction_attribute);
WORD(CUpointer_attribute);
WORD(CUjit_option);
WORD(CUjitInputType);
WORD(CUlimit);
WORD(CUfunc_cache);
WORD(CUsharedconfig);
WORD(CUmoduleLoadingMode);
WORD(CUlibraryOption);
WORD(CUfunctionLoadingState);
WORD(CUdriverProcAddressQueryResult);
WORD(CUdevice_P2PAttribute);
WORD(CUstreamAttrID);
WORD(CUflushGPUDirectRDMAWritesTarget);
WORD(CUflushGPUDirectRDMAWritesScope);
WORD(CUexecAffinityType);
WORD(CUoutput_mode);
WORD(CUmem_advise);
WORD(CUmem_range_attribute);
WORD(CUmemPool_attribute);
WORD(CUmemAccess_flags);
WORD(CUmemAllocationType);
WORD(CUmemAllocationHandleType);
WORD(CUmemAllocationGranularity_flags);
WORD(CUmulticastGranularity_flags);
WORD(CUmemRangeHandleType);
WORD(CUgraphNodeType);
WORD(CUgraphExecUpdateResult);
WORD(CUgraphInstantiateResult);
WORD(CUgraphMem_attribute);
WORD(CUlaunchAttributeID);
WORD(CUstreamCaptureStatus);
WORD(CUstreamCaptureMode);

/* abi.h declares each function a second time, which the compiler refuses where the types differ; and each row of the
 * table must name the type that cudaTypedefs.h has for that name and version. */
#define TYPE__(name, version)     PFN_##name##_v##version
#define TYPE__ptds(name, version) PFN_##name##_v##version##_ptds
#define TYPE__ptsz(name, version) PFN_##name##_v##version##_ptsz
#define HERE(name, version, thread, symbol) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), TYPE_##thread(name, version)), \
                   #symbol " has another type");
#define MISSING(name, version, thread, symbol) /* names.py compares the names */
#include "shim/cuda/names.def"

int main(void) {
    return CU_LAUNCH_PARAM_END != (void *)0 || CU_LAUNCH_PARAM_BUFFER_POINTER != (void *)1 ||
           CU_LAUNCH_PARAM_BUFFER_SIZE != (void *)2 || CU_STREAM_LEGACY != (CUstream)1 || CU_DEVICE_CPU != -1 ||
           CU_DEVICE_INVALID != -2 || CU_STREAM_PER_THREAD != (CUstream)2;
}
