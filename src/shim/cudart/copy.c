/* copy.c: copies and fills. Each is made twice: with the default stream of the process and with the thread's own. */
#include "shim/cudart/runtime.h"

/* The driver's function for that. */
#define SYNC(function)  (thread ? lw_driver.function##_ptds : lw_driver.function)
#define ASYNC(function) (thread ? lw_driver.function##_ptsz : lw_driver.function)

static CUdeviceptr device(const void *address) { return (uintptr_t)address; }

/* ---- Rows of bytes --------------------------------------------------------------------------------------------- */

static CUresult copy(void *to, const void *from, size_t bytes, unsigned kind, bool thread) {
    switch (kind) {
    case cudaMemcpyHostToDevice: return SYNC(cuMemcpyHtoD_v2)(device(to), from, bytes);
    case cudaMemcpyDeviceToHost: return SYNC(cuMemcpyDtoH_v2)(to, device(from), bytes);
    case cudaMemcpyDeviceToDevice: return SYNC(cuMemcpyDtoD_v2)(device(to), device(from), bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return SYNC(cuMemcpy)(device(to), device(from), bytes);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

static CUresult copy_async(void *to, const void *from, size_t bytes, unsigned kind, cudaStream_t stream, bool thread) {
    switch (kind) {
    case cudaMemcpyHostToDevice: return ASYNC(cuMemcpyHtoDAsync_v2)(device(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost: return ASYNC(cuMemcpyDtoHAsync_v2)(to, device(from), bytes, stream);
    case cudaMemcpyDeviceToDevice: return ASYNC(cuMemcpyDtoDAsync_v2)(device(to), device(from), bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return ASYNC(cuMemcpyAsync)(device(to), device(from), bytes, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

#define COPY(name, thread) \
    cudaError_t name(void *to, const void *from, size_t bytes, unsigned kind) { \
        const cudaError_t error = lw_rt_enter(); \
        return error ? lw_rt_end(error) : lw_rt_end_driver(copy(to, from, bytes, kind, thread)); \
    }
COPY(cudaMemcpy, false)
COPY(cudaMemcpy_ptds, true)

#define COPY_ASYNC(name, thread) \
    cudaError_t name(void *to, const void *from, size_t bytes, unsigned kind, cudaStream_t stream) { \
        const cudaError_t error = lw_rt_enter(); \
        return error ? lw_rt_end(error) : lw_rt_end_driver(copy_async(to, from, bytes, kind, stream, thread)); \
    }
COPY_ASYNC(cudaMemcpyAsync, false)
COPY_ASYNC(cudaMemcpyAsync_ptsz, true)

/* ---- Variables ------------------------------------------------------------------------------------------------- */

/* One side is a variable: the kind says what the other one is. */
#define SYMBOL_COPIES(suffix, async_suffix) \
    cudaError_t cudaMemcpyToSymbol##suffix(const void *symbol, const void *from, size_t bytes, size_t offset, \
                                           unsigned kind) { \
        void *to; \
        const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &to); \
        return error ? lw_rt_end(error) : cudaMemcpy##suffix(to, from, bytes, kind); \
    } \
    cudaError_t cudaMemcpyToSymbolAsync##async_suffix(const void *symbol, const void *from, size_t bytes, \
                                                      size_t offset, unsigned kind, cudaStream_t stream) { \
        void *to; \
        const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &to); \
        return error ? lw_rt_end(error) : cudaMemcpyAsync##async_suffix(to, from, bytes, kind, stream); \
    } \
    cudaError_t cudaMemcpyFromSymbol##suffix(void *to, const void *symbol, size_t bytes, size_t offset, \
                                             unsigned kind) { \
        void *from; \
        const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &from); \
        return error ? lw_rt_end(error) : cudaMemcpy##suffix(to, from, bytes, kind); \
    } \
    cudaError_t cudaMemcpyFromSymbolAsync##async_suffix(void *to, const void *symbol, size_t bytes, size_t offset, \
                                                        unsigned kind, cudaStream_t stream) { \
        void *from; \
        const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &from); \
        return error ? lw_rt_end(error) : cudaMemcpyAsync##async_suffix(to, from, bytes, kind, stream); \
    }
SYMBOL_COPIES(, )
SYMBOL_COPIES(_ptds, _ptsz)

/* ---- Boxes ----------------------------------------------------------------------------------------------------- */

static lw_rt_place place(const struct cudaPitchedPtr *at, const struct cudaPos *offset, unsigned type) {
    lw_rt_place place = {.x = offset->x, .y = offset->y, .z = offset->z, .type = type};
    place.pitch = at->pitch;
    place.height = at->ysize;
    if (type == CU_MEMORYTYPE_HOST) place.host = at->ptr;
    else place.device = device(at->ptr);
    return place;
}

/* The types of both sides. */
static bool read_kind(unsigned kind, unsigned *from, unsigned *to) {
    static const unsigned types[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED}, /* the address says on which side it is */
    };
    if (kind > cudaMemcpyDefault) return false;
    *from = types[kind][0];
    *to = types[kind][1];
    return true;
}

static cudaError_t use_array(void *array, const void *memory, unsigned type, lw_rt_place *place, lw_rt_shape *shape) {
    if (!array) return cudaSuccess;
    if (memory || type == CU_MEMORYTYPE_HOST) return cudaErrorInvalidValue;
    *place = (lw_rt_place){.x = place->x, .y = place->y, .z = place->z, .type = CU_MEMORYTYPE_ARRAY, .array = array};
    return lw_rt_array_shape(array, shape);
}

/* Where one side is an array, all that is said of both counts its texels. */
static cudaError_t use_arrays(const struct cudaMemcpy3DParms *params, unsigned from, unsigned to, lw_rt_copy *copy) {
    lw_rt_shape source = {0}, target = {0};
    cudaError_t error = use_array(params->srcArray, params->srcPtr.ptr, from, &copy->from, &source);
    if (!error) error = use_array(params->dstArray, params->dstPtr.ptr, to, &copy->to, &target);
    if (error || (!source.texel && !target.texel)) return error;
    if (source.texel && target.texel && source.texel != target.texel) return cudaErrorInvalidValue;
    const size_t texel = source.texel ? source.texel : target.texel;
    return __builtin_mul_overflow(copy->width, texel, &copy->width) ||
                   __builtin_mul_overflow(copy->from.x, texel, &copy->from.x) ||
                   __builtin_mul_overflow(copy->to.x, texel, &copy->to.x)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t lw_rt_read_copy(const struct cudaMemcpy3DParms *params, lw_rt_copy *copy) {
    unsigned from, to;
    if (!params) return cudaErrorInvalidValue;
    if (!read_kind(params->kind, &from, &to)) return cudaErrorInvalidMemcpyDirection;
    *copy = (lw_rt_copy){.from = place(&params->srcPtr, &params->srcPos, from),
                         .to = place(&params->dstPtr, &params->dstPos, to),
                         .width = params->extent.width,
                         .height = params->extent.height,
                         .depth = params->extent.depth};
    return use_arrays(params, from, to, copy);
}

/* An array is on the device. */
static unsigned kind_of(unsigned from, unsigned to) {
    if (from == CU_MEMORYTYPE_ARRAY) from = CU_MEMORYTYPE_DEVICE;
    if (to == CU_MEMORYTYPE_ARRAY) to = CU_MEMORYTYPE_DEVICE;
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    return (from == CU_MEMORYTYPE_DEVICE ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost) +
           (to == CU_MEMORYTYPE_DEVICE ? cudaMemcpyHostToDevice : 0);
}

static struct cudaPitchedPtr pitched(const lw_rt_place *place, size_t width) {
    const uintptr_t at = place->type == CU_MEMORYTYPE_HOST ? (uintptr_t)place->host : (uintptr_t)place->device;
    return (struct cudaPitchedPtr){(void *)at, place->pitch, width, place->height};
}

void lw_rt_write_copy(const lw_rt_copy *copy, struct cudaMemcpy3DParms *params) {
    lw_rt_shape shape = {.texel = 1};
    const bool from = copy->from.type == CU_MEMORYTYPE_ARRAY, to = copy->to.type == CU_MEMORYTYPE_ARRAY;
    if ((from || to) && lw_rt_array_shape(from ? copy->from.array : copy->to.array, &shape)) shape.texel = 1;
    const size_t width = copy->width / shape.texel;
    *params =
        (struct cudaMemcpy3DParms){.srcPos = {copy->from.x / (from ? shape.texel : 1), copy->from.y, copy->from.z},
                                   .dstPos = {copy->to.x / (to ? shape.texel : 1), copy->to.y, copy->to.z},
                                   .extent = {width, copy->height, copy->depth},
                                   .kind = kind_of(copy->from.type, copy->to.type)};
    if (from) params->srcArray = copy->from.array;
    else params->srcPtr = pitched(&copy->from, width);
    if (to) params->dstArray = copy->to.array;
    else params->dstPtr = pitched(&copy->to, width);
}

struct cudaMemcpy3DParms lw_rt_line(void *to, const void *from, size_t bytes, unsigned kind) {
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

#define COPY_BOX(name, ...) \
    cudaError_t name { \
        lw_rt_copy copy; \
        cudaError_t error = lw_rt_read_copy(params, &copy); \
        if (!error) error = lw_rt_enter(); \
        return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.__VA_ARGS__); \
    }
COPY_BOX(cudaMemcpy3D(const struct cudaMemcpy3DParms *params), cuMemcpy3D_v2(&copy))
COPY_BOX(cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *params), cuMemcpy3D_v2_ptds(&copy))
COPY_BOX(cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *params, cudaStream_t stream),
         cuMemcpy3DAsync_v2(&copy, stream))
COPY_BOX(cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *params, cudaStream_t stream),
         cuMemcpy3DAsync_v2_ptsz(&copy, stream))

/* A box of one layer. */
#define FLAT \
    const struct cudaMemcpy3DParms params = {.srcPtr = {(void *)(uintptr_t)from, from_pitch, width, height}, \
                                             .dstPtr = {to, to_pitch, width, height}, \
                                             .extent = {width, height, 1}, \
                                             .kind = kind}; \
    if (width > to_pitch || width > from_pitch) return lw_rt_end(LW_RT_BAD_PITCH);

#define COPY_FLAT(suffix, async_suffix) \
    cudaError_t cudaMemcpy2D##suffix(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, \
                                     size_t height, unsigned kind) { \
        FLAT return cudaMemcpy3D##suffix(&params); \
    } \
    cudaError_t cudaMemcpy2DAsync##async_suffix(void *to, size_t to_pitch, const void *from, size_t from_pitch, \
                                                size_t width, size_t height, unsigned kind, cudaStream_t stream) { \
        FLAT return cudaMemcpy3DAsync##async_suffix(&params, stream); \
    }
COPY_FLAT(, )
COPY_FLAT(_ptds, _ptsz)

/* ---- Between devices ------------------------------------------------------------------------------------------- */

static cudaError_t read_peers(const struct cudaMemcpy3DPeerParms *params, lw_rt_copy *copy) {
    cudaError_t error = params ? lw_rt_enter() : cudaErrorInvalidValue;
    if (error) return error;
    const struct cudaMemcpy3DParms plain = {params->srcArray, params->srcPos, params->srcPtr, params->dstArray,
                                            params->dstPos,   params->dstPtr, params->extent, cudaMemcpyDeviceToDevice};
    error = lw_rt_read_copy(&plain, copy);
    if (!error) error = lw_rt_primary(params->srcDevice, &copy->from.context);
    if (!error) error = lw_rt_primary(params->dstDevice, &copy->to.context);
    return error;
}

#define COPY_PEER(name, ...) \
    cudaError_t name { \
        lw_rt_copy copy; \
        const cudaError_t error = read_peers(params, &copy); \
        return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.__VA_ARGS__); \
    }
COPY_PEER(cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *params), cuMemcpy3DPeer(&copy))
COPY_PEER(cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *params), cuMemcpy3DPeer_ptds(&copy))
COPY_PEER(cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *params, cudaStream_t stream),
          cuMemcpy3DPeerAsync(&copy, stream))
COPY_PEER(cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *params, cudaStream_t stream),
          cuMemcpy3DPeerAsync_ptsz(&copy, stream))

static cudaError_t peers(int to, int from, CUcontext contexts[2]) {
    cudaError_t error = lw_rt_enter();
    if (!error) error = lw_rt_primary(to, &contexts[0]);
    return error ? error : lw_rt_primary(from, &contexts[1]);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    CUcontext at[2];
    const cudaError_t error = peers(to_device, from_device, at);
    return error ? lw_rt_end(error)
                 : lw_rt_end_driver(lw_driver.cuMemcpyPeer(device(to), at[0], device(from), at[1], bytes));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    CUcontext at[2];
    const cudaError_t error = peers(to_device, from_device, at);
    return error ? lw_rt_end(error)
                 : lw_rt_end_driver(lw_driver.cuMemcpyPeerAsync(device(to), at[0], device(from), at[1], bytes, stream));
}

/* ---- Fills ----------------------------------------------------------------------------------------------------- */

#define FILL(call) \
    const cudaError_t error = lw_rt_enter(); \
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.call)

/* Layers that have no rows between them are one; others are filled one by one. */
typedef struct layers {
    size_t rows, count, apart;
} layers;

static bool find_layers(struct cudaPitchedPtr to, struct cudaExtent extent, layers *out) {
    size_t last;
    *out = (layers){.rows = extent.height, .count = extent.depth};
    const bool joined = extent.height == to.ysize || extent.depth < 2;
    if (!extent.width || !extent.height || !extent.depth)
        *out = (layers){.count = 1}; /* nothing, but errors are said */
    else if (joined) out->count = 1;
    if (joined && out->rows && __builtin_mul_overflow(extent.height, extent.depth, &out->rows)) return false;
    if (out->count == 1) return true;
    return extent.width <= to.pitch && extent.height <= to.ysize &&
           !__builtin_mul_overflow(to.pitch, to.ysize, &out->apart) &&
           !__builtin_mul_overflow(out->apart, out->count - 1, &last) && (uintptr_t)to.ptr + last >= last;
}

#define FILL_BOX(call) \
    layers layers; \
    if (!find_layers(to, extent, &layers)) return lw_rt_end(cudaErrorInvalidValue); \
    cudaError_t error = cudaSuccess; \
    for (size_t z = 0; z < layers.count && !error; z++) { \
        void *layer = (void *)((uintptr_t)to.ptr + z * layers.apart); \
        error = call; \
    } \
    return error

#define FILLS(suffix, async_suffix) \
    cudaError_t cudaMemset##suffix(void *to, int value, size_t bytes) { \
        FILL(cuMemsetD8_v2##suffix(device(to), (unsigned char)value, bytes)); \
    } \
    cudaError_t cudaMemsetAsync##async_suffix(void *to, int value, size_t bytes, cudaStream_t stream) { \
        FILL(cuMemsetD8Async##async_suffix(device(to), (unsigned char)value, bytes, stream)); \
    } \
    cudaError_t cudaMemset2D##suffix(void *to, size_t pitch, int value, size_t width, size_t height) { \
        FILL(cuMemsetD2D8_v2##suffix(device(to), pitch, (unsigned char)value, width, height)); \
    } \
    cudaError_t cudaMemset2DAsync##async_suffix(void *to, size_t pitch, int value, size_t width, size_t height, \
                                                cudaStream_t stream) { \
        FILL(cuMemsetD2D8Async##async_suffix(device(to), pitch, (unsigned char)value, width, height, stream)); \
    } \
    cudaError_t cudaMemset3D##suffix(struct cudaPitchedPtr to, int value, struct cudaExtent extent) { \
        FILL_BOX(cudaMemset2D##suffix(layer, to.pitch, value, extent.width, layers.rows)); \
    } \
    cudaError_t cudaMemset3DAsync##async_suffix(struct cudaPitchedPtr to, int value, struct cudaExtent extent, \
                                                cudaStream_t stream) { \
        FILL_BOX(cudaMemset2DAsync##async_suffix(layer, to.pitch, value, extent.width, layers.rows, stream)); \
    }
FILLS(, )
FILLS(_ptds, _ptsz)
