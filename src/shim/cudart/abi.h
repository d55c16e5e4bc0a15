/* abi.h: the CUDA runtime API's binary interface, as far as Lanewise implements it, declared from its public
 * description. Enumerations travel as plain words.
 *
 * tests/cudart/compare.c holds all of this against a real cuda_runtime_api.h where one is installed. */
#ifndef LW_SHIM_CUDART_ABI_H
#define LW_SHIM_CUDART_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What got another form under its old name in CUDA 13: before, the new form has a name of its own. */
#ifdef LW_RT_BEFORE13
#define LW_RT_V2(name)  name##_v2
#define LW_RT_V3(name)  name##_v3
#define LW_RT_BAD_SHAPE cudaErrorInvalidConfiguration
#define LW_RT_BAD_PITCH cudaErrorInvalidPitchValue
#else
#define LW_RT_V2(name)  name
#define LW_RT_V3(name)  name
#define LW_RT_BAD_SHAPE cudaErrorInvalidValue /* as 13.0 says on an H200 */
#define LW_RT_BAD_PITCH cudaErrorInvalidValue
#endif

#ifndef LW_CUDART_COMPARE
#include "shim/cudart/types.h"

typedef unsigned cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;
typedef struct cudaGraphInstantiateParams_st cudaGraphInstantiateParams;
typedef struct cudaGraphExecUpdateResultInfo_st cudaGraphExecUpdateResultInfo;
typedef union cudaLaunchAttributeValue cudaLaunchAttributeValue;
typedef void (*cudaHostFn_t)(void *user);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);

/* What is only handed on, and is the same for the driver. */
enum cudaAtomicOperation { cudaAtomicOperationIntegerAdd }; /* and others */
struct cudaArrayMemoryRequirements;
struct cudaArraySparseProperties;
struct cudaGraphNodeParams;
struct cudaMemAccessDesc;
struct cudaMemAllocNodeParams;
struct cudaMemPoolProps;
struct cudaMemPoolPtrExportData;
struct cudaMemcpy3DBatchOp;
struct cudaMemcpyAttributes;

enum {
#define ERROR(name, value, text) name = value,
#include "shim/cudart/errors.def"
#undef ERROR
#define CONSTANT(name, value) name = value,
#include "shim/cudart/constants.def"
#undef CONSTANT
};
#endif

#pragma GCC visibility push(default)

/* ---- What is handed on to one call of the driver: calls.c ------------------------------------------------------ */

#define CALL(name, params, ...) cudaError_t name params;
#define DEVICE                  CALL
#define FUNCTION                CALL
#define STREAM(name, params, ...) \
    CALL(name, params) \
    STREAM_THREAD(name, params)
#define STREAM_THREAD(name, params) cudaError_t name##_ptsz params;
#include "shim/cudart/calls.def"
#undef CALL
#undef DEVICE
#undef FUNCTION
#undef STREAM
#undef STREAM_THREAD

/* A call and the same one for programs whose default stream is one per thread. */
#define BOTH(name, thread, params) \
    cudaError_t name params; \
    cudaError_t name##thread params

/* ---- Errors, devices: error.c, device.c, properties.c ---------------------------------------------------------- */

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
BOTH(cudaGetDriverEntryPoint, _ptsz, (const char *name, void **function, unsigned long long flags, unsigned *why));
BOTH(cudaGetDriverEntryPointByVersion, _ptsz,
     (const char *name, void **function, unsigned version, unsigned long long flags, unsigned *why));
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t LW_RT_V2(cudaGetDeviceProperties)(struct cudaDeviceProp *properties, int device);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetValidDevices(int *devices, int count);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);

/* ---- What compilers put into programs, functions and variables: register.c, module.c, launch.c ----------------- */

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                              int constant, int global);
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int normalized, int ext);
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int ext);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
BOTH(__cudaLaunchKernel, _ptsz,
     (cudaKernel_t kernel, dim3 grid, dim3 block, void **params, size_t shared, cudaStream_t stream));
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host);
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, unsigned attribute, int value, int device);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *func, const cudaLaunchConfig_t *config);
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func, const cudaLaunchConfig_t *config);
BOTH(cudaLaunchKernel, _ptsz,
     (const void *func, dim3 grid, dim3 block, void **params, size_t shared, cudaStream_t stream));
BOTH(cudaLaunchCooperativeKernel, _ptsz,
     (const void *func, dim3 grid, dim3 block, void **params, size_t shared, cudaStream_t stream));
BOTH(cudaLaunchKernelExC, _ptsz, (const cudaLaunchConfig_t *config, const void *func, void **params));

/* ---- Streams and events: stream.c ------------------------------------------------------------------------------ */

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);

/* ---- Memory: memory.c, copy.c ---------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **address, size_t bytes);
cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned flags);
cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent);
cudaError_t cudaMallocHost(void **host, size_t bytes);
cudaError_t cudaHostAlloc(void **host, size_t bytes, unsigned flags);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, unsigned kind);

BOTH(cudaMemcpy, _ptds, (void *to, const void *from, size_t bytes, unsigned kind));
BOTH(cudaMemcpyAsync, _ptsz, (void *to, const void *from, size_t bytes, unsigned kind, cudaStream_t stream));
BOTH(cudaMemcpy2D, _ptds,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, unsigned kind));
BOTH(cudaMemcpy2DAsync, _ptsz,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, unsigned kind,
      cudaStream_t stream));
BOTH(cudaMemcpy3D, _ptds, (const struct cudaMemcpy3DParms *params));
BOTH(cudaMemcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms *params, cudaStream_t stream));
BOTH(cudaMemcpy3DPeer, _ptds, (const struct cudaMemcpy3DPeerParms *params));
BOTH(cudaMemcpy3DPeerAsync, _ptsz, (const struct cudaMemcpy3DPeerParms *params, cudaStream_t stream));
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream);
BOTH(cudaMemcpyToSymbol, _ptds, (const void *symbol, const void *from, size_t bytes, size_t offset, unsigned kind));
BOTH(cudaMemcpyToSymbolAsync, _ptsz,
     (const void *symbol, const void *from, size_t bytes, size_t offset, unsigned kind, cudaStream_t stream));
BOTH(cudaMemcpyFromSymbol, _ptds, (void *to, const void *symbol, size_t bytes, size_t offset, unsigned kind));
BOTH(cudaMemcpyFromSymbolAsync, _ptsz,
     (void *to, const void *symbol, size_t bytes, size_t offset, unsigned kind, cudaStream_t stream));
BOTH(cudaMemset, _ptds, (void *to, int value, size_t bytes));
BOTH(cudaMemsetAsync, _ptsz, (void *to, int value, size_t bytes, cudaStream_t stream));
BOTH(cudaMemset2D, _ptds, (void *to, size_t pitch, int value, size_t width, size_t height));
BOTH(cudaMemset2DAsync, _ptsz, (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream));
BOTH(cudaMemset3D, _ptds, (struct cudaPitchedPtr to, int value, struct cudaExtent extent));
BOTH(cudaMemset3DAsync, _ptsz, (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream));

/* ---- Arrays and textures: array.c, texture.c ------------------------------------------------------------------- */

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc, int device);
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags);
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
BOTH(cudaMemcpyToArray, _ptds, (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, unsigned kind));
BOTH(cudaMemcpyToArrayAsync, _ptsz,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, unsigned kind, cudaStream_t stream));
BOTH(cudaMemcpyFromArray, _ptds, (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, unsigned kind));
BOTH(cudaMemcpyFromArrayAsync, _ptsz,
     (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, unsigned kind, cudaStream_t stream));
BOTH(cudaMemcpyArrayToArray, _ptds,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t count,
      unsigned kind));
BOTH(cudaMemcpy2DToArray, _ptds,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, unsigned kind));
BOTH(cudaMemcpy2DToArrayAsync, _ptsz,
     (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, unsigned kind,
      cudaStream_t stream));
BOTH(cudaMemcpy2DFromArray, _ptds,
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, unsigned kind));
BOTH(cudaMemcpy2DFromArrayAsync, _ptsz,
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, unsigned kind,
      cudaStream_t stream));
BOTH(cudaMemcpy2DArrayToArray, _ptds,
     (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t width,
      size_t height, unsigned kind));
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *of,
                                    const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *of, cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *how, cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *of);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *of, cudaSurfaceObject_t surface);

/* ---- Graphs: graph.c ------------------------------------------------------------------------------------------- */

#define NODE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphAddKernelNode(NODE, const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphAddMemsetNode(NODE, const struct cudaMemsetParams *params);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params);
cudaError_t cudaGraphAddMemcpyNode(NODE, const struct cudaMemcpy3DParms *params);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params);
cudaError_t cudaGraphAddMemcpyNode1D(NODE, void *to, const void *from, size_t bytes, unsigned kind);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           unsigned kind);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, unsigned kind);
cudaError_t cudaGraphAddMemcpyNodeToSymbol(NODE, const void *symbol, const void *from, size_t bytes, size_t offset,
                                           unsigned kind);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NODE, void *to, const void *symbol, size_t bytes, size_t offset,
                                             unsigned kind);
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                 size_t bytes, size_t offset, unsigned kind);
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                   size_t offset, unsigned kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t bytes, size_t offset, unsigned kind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t bytes, size_t offset, unsigned kind);
cudaError_t LW_RT_V2(cudaGraphAddNode)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                       const cudaGraphEdgeData *data, size_t count, struct cudaGraphNodeParams *params);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params);
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags);
#undef NODE

/* ---- What there was before CUDA 13: before13.c ----------------------------------------------------------------- */

#ifdef LW_RT_BEFORE13
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count,
                             struct cudaGraphNodeParams *params);
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadSetLimit(unsigned limit, size_t value);
cudaError_t cudaThreadGetLimit(size_t *value, unsigned limit);
cudaError_t cudaThreadGetCacheConfig(unsigned *config);
cudaError_t cudaThreadSetCacheConfig(unsigned config);
cudaError_t cudaSetDoubleForDevice(double *value);
cudaError_t cudaSetDoubleForHost(double *value);
#endif

#undef BOTH
#pragma GCC visibility pop
#endif
