/* array.c: arrays and mipmaps: what their texels are, how they are made, and copies to and from them in bytes. */
#include "shim/cudart/runtime.h"

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

enum {
    NORMALIZED_FIRST = cudaChannelFormatKindUnsignedNormalized8X1,
    NORMALIZED_LAST = cudaChannelFormatKindSignedNormalized16X4,
    BLOCK_FIRST = cudaChannelFormatKindUnsignedBlockCompressed1,
    BLOCK_LAST = cudaChannelFormatKindUnsignedBlockCompressed7SRGB,
};

/* What a channel of so many bits is; 0: nothing. */
static CUarray_format format_of(int bits, unsigned kind) {
    const bool is_signed = kind == cudaChannelFormatKindSigned, is_float = kind == cudaChannelFormatKindFloat;
    switch (bits) {
    case 8: return is_float ? 0 : is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    case 16: return is_float ? CU_AD_FORMAT_HALF : is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    case 32: return is_float ? CU_AD_FORMAT_FLOAT : is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
    default: return 0;
    }
}

/* Channels that are there, from the first on, all of the first one's bits; 0: that is not so. */
static unsigned count_channels(const struct cudaChannelFormatDesc *desc) {
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    unsigned count = 0;
    while (count < 4 && bits[count] && bits[count] == bits[0]) count++;
    for (unsigned i = count; i < 4; i++)
        if (bits[i]) return 0;
    return count == 3 ? 0 : count;
}

/* The driver's numbers follow each other as the runtime's do. */
static bool read_normalized(const struct cudaChannelFormatDesc *desc, unsigned count, lw_rt_texel *texel) {
    const unsigned own = desc->f - NORMALIZED_FIRST, channels = 1u << own % 3;
    if (count != channels || desc->x != (own / 3 % 2 ? 16 : 8)) return false;
    *texel = (lw_rt_texel){CU_AD_FORMAT_UNORM_INT8X1 + own, channels, (unsigned)desc->x / 8 * channels};
    return true;
}

bool lw_rt_read_channels(const struct cudaChannelFormatDesc *desc, lw_rt_texel *texel) {
    const unsigned count = count_channels(desc);
    if (desc->f >= NORMALIZED_FIRST && desc->f <= NORMALIZED_LAST) return read_normalized(desc, count, texel);
    *texel = (lw_rt_texel){.channels = count};
    if (desc->f <= cudaChannelFormatKindFloat) texel->format = format_of(desc->x, desc->f);
    texel->bytes = (unsigned)desc->x / 8 * count;
    if (desc->f == cudaChannelFormatKindNV12 ||
        (desc->f >= BLOCK_FIRST && desc->f <= BLOCK_LAST)) /* the driver's to refuse */
        *texel = (lw_rt_texel){.format = desc->f == cudaChannelFormatKindNV12
                                             ? CU_AD_FORMAT_NV12
                                             : CU_AD_FORMAT_BC1_UNORM + desc->f - BLOCK_FIRST,
                               .channels = !!desc->x + !!desc->y + !!desc->z + !!desc->w};
    return texel->format && texel->channels;
}

static unsigned bits_of(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 32;
    default: return format < CU_AD_FORMAT_UNORM_INT8X1 ? 0 : (format - CU_AD_FORMAT_UNORM_INT8X1) / 3 % 2 ? 16 : 8;
    }
}

static unsigned kind_of(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32: return cudaChannelFormatKindUnsigned;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32: return cudaChannelFormatKindSigned;
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT: return cudaChannelFormatKindFloat;
    default: return format - CU_AD_FORMAT_UNORM_INT8X1 + NORMALIZED_FIRST;
    }
}

struct cudaChannelFormatDesc lw_rt_channels(CUarray_format format, unsigned channels) {
    const int bits = (int)bits_of(format);
    return (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                          channels > 3 ? bits : 0, kind_of(format)};
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc, int device) {
    lw_rt_texel texel;
    const cudaError_t error = lw_rt_ready();
    if (error) return lw_rt_end(error);
    if (!desc) return lw_rt_end(cudaErrorInvalidValue);
    if (!lw_rt_read_channels(desc, &texel)) return lw_rt_end(cudaErrorInvalidChannelDescriptor);
    return lw_rt_end_driver(lw_driver.cuDeviceGetTexture1DLinearMaxWidth(width, texel.format, texel.channels, device));
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static cudaError_t read_array(const void *out, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *about) {
    lw_rt_texel texel;
    const cudaError_t error = lw_rt_enter();
    if (error) return error;
    if (!out || !desc) return cudaErrorInvalidValue;
    if (!lw_rt_read_channels(desc, &texel)) return cudaErrorInvalidChannelDescriptor;
    *about = (CUDA_ARRAY3D_DESCRIPTOR){extent.width, extent.height, extent.depth, texel.format, texel.channels, flags};
    return cudaSuccess;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    const cudaError_t error = read_array(array, desc, extent, flags, &about);
    if (array) *array = NULL;
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuArray3DCreate_v2((CUarray *)array, &about));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags) {
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    const cudaError_t error = read_array(mipmap, desc, extent, flags, &about);
    if (mipmap) *mipmap = NULL;
    return error ? lw_rt_end(error)
                 : lw_rt_end_driver(lw_driver.cuMipmappedArrayCreate((CUmipmappedArray *)mipmap, &about, levels));
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    const cudaError_t error = lw_rt_enter();
    return error || !array ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuArrayDestroy((CUarray)array));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
    const cudaError_t error = lw_rt_enter();
    return error || !mipmap ? lw_rt_end(error)
                            : lw_rt_end_driver(lw_driver.cuMipmappedArrayDestroy((CUmipmappedArray)mipmap));
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static cudaError_t describe(const void *array, CUDA_ARRAY3D_DESCRIPTOR *about) {
    const cudaError_t error = lw_rt_enter();
    return error ? error : lw_rt_result(lw_driver.cuArray3DGetDescriptor_v2(about, (CUarray)(uintptr_t)array));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    const cudaError_t error = describe(array, &about);
    if (error) return lw_rt_end(error);
    if (desc) *desc = lw_rt_channels(about.Format, about.NumChannels);
    if (extent) *extent = (struct cudaExtent){about.Width, about.Height, about.Depth};
    if (flags) *flags = about.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    const cudaError_t error = desc ? describe(array, &about) : cudaErrorInvalidValue;
    if (!error) *desc = lw_rt_channels(about.Format, about.NumChannels);
    return lw_rt_end(error);
}

/* ---- Copies in bytes --------------------------------------------------------------------------------------------- */

cudaError_t lw_rt_array_shape(const void *array, lw_rt_shape *shape) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    lw_rt_texel texel;
    const cudaError_t error = describe(array, &about);
    if (error) return error;
    const struct cudaChannelFormatDesc desc = lw_rt_channels(about.Format, about.NumChannels);
    if (!lw_rt_read_channels(&desc, &texel)) return cudaErrorInvalidValue;
    *shape =
        (lw_rt_shape){.texel = texel.bytes, .row = about.Width * texel.bytes, .rows = about.Height ? about.Height : 1};
    return cudaSuccess;
}

/* The other side of a copy to or from an array: what the kind says it is. */
static bool read_memory(unsigned kind, bool to_array, const void *at, lw_rt_place *place) {
    const unsigned host = to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return false;
    place->type = kind == host                ? CU_MEMORYTYPE_HOST
                  : kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                              : CU_MEMORYTYPE_DEVICE;
    if (kind == host) place->host = at;
    else place->device = (uintptr_t)at;
    return true;
}

static lw_rt_place in_array(const void *array, size_t x, size_t y) {
    return (lw_rt_place){.type = CU_MEMORYTYPE_ARRAY, .array = (void *)(uintptr_t)array, .x = x, .y = y};
}

typedef struct how { /* when, and with which default stream */
    bool is_async, thread;
    cudaStream_t stream;
} how;

static cudaError_t run(const lw_rt_copy *copy, how how) {
    return lw_rt_result(
        how.is_async ? (how.thread ? lw_driver.cuMemcpy3DAsync_v2_ptsz : lw_driver.cuMemcpy3DAsync_v2)(copy, how.stream)
                     : (how.thread ? lw_driver.cuMemcpy3D_v2_ptds : lw_driver.cuMemcpy3D_v2)(copy));
}

static cudaError_t rows(lw_rt_place to, lw_rt_place from, size_t width, size_t height, how how) {
    const lw_rt_copy copy = {.to = to, .from = from, .width = width, .height = height, .depth = 1};
    const cudaError_t error = lw_rt_enter();
    return lw_rt_end(error ? error : run(&copy, how));
}

/* One side of a stretch of bytes, which goes on in the next row. */
typedef struct side {
    lw_rt_place place;
    lw_rt_shape shape; /* row 0: memory, where there are none */
    size_t at;         /* byte */
} side;

static cudaError_t begin_side(side *side, size_t x, size_t y, size_t count) {
    size_t all, end;
    if (side->place.type != CU_MEMORYTYPE_ARRAY) return cudaSuccess;
    const cudaError_t error = lw_rt_array_shape(side->place.array, &side->shape);
    if (error) return error;
    if (__builtin_mul_overflow(y, side->shape.row, &side->at) || __builtin_add_overflow(side->at, x, &side->at) ||
        __builtin_mul_overflow(side->shape.row, side->shape.rows, &all) ||
        __builtin_add_overflow(side->at, count, &end) || end > all)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static size_t left_in_row(const side *side, size_t count) {
    const size_t left = side->shape.row ? side->shape.row - side->at % side->shape.row : count;
    return left < count ? left : count;
}

static lw_rt_place place_of(const side *side, size_t pitch) {
    lw_rt_place place = side->place;
    if (side->shape.row) place.x = side->at % side->shape.row, place.y = side->at / side->shape.row;
    else if (place.type == CU_MEMORYTYPE_HOST) place.host = (const char *)place.host + side->at;
    else place.device += side->at;
    if (!side->shape.row) place.pitch = pitch;
    return place;
}

/* Bytes of one row, or as many whole rows as there are. */
static cudaError_t step(side *to, side *from, size_t *count, how how) {
    const size_t a = left_in_row(to, *count), b = left_in_row(from, *count), width = a < b ? a : b;
    const size_t row = to->shape.row ? to->shape.row : from->shape.row;
    const bool same = !to->shape.row || !from->shape.row || to->shape.row == from->shape.row;
    const size_t height = same && width == row ? *count / row : 1;
    const lw_rt_copy copy = {
        .to = place_of(to, width), .from = place_of(from, width), .width = width, .height = height, .depth = 1};
    to->at += width * height;
    from->at += width * height;
    *count -= width * height;
    return run(&copy, how);
}

static cudaError_t stretch(side to, size_t to_x, size_t to_y, side from, size_t from_x, size_t from_y, size_t count,
                           how how) {
    cudaError_t error = lw_rt_enter();
    if (!error) error = begin_side(&to, to_x, to_y, count);
    if (!error) error = begin_side(&from, from_x, from_y, count);
    while (!error && count) error = step(&to, &from, &count, how);
    return lw_rt_end(error);
}

static cudaError_t to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t count, unsigned kind,
                            how how) {
    side memory = {0};
    if (!read_memory(kind, true, from, &memory.place)) return lw_rt_end(cudaErrorInvalidMemcpyDirection);
    return stretch((side){.place = in_array(to, 0, 0)}, x, y, memory, 0, 0, count, how);
}

static cudaError_t from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, unsigned kind,
                              how how) {
    side memory = {0};
    if (!read_memory(kind, false, to, &memory.place)) return lw_rt_end(cudaErrorInvalidMemcpyDirection);
    return stretch(memory, 0, 0, (side){.place = in_array(from, 0, 0)}, x, y, count, how);
}

static cudaError_t rows_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                 size_t height, unsigned kind, how how) {
    lw_rt_place memory = {.pitch = pitch};
    if (!read_memory(kind, true, from, &memory)) return lw_rt_end(cudaErrorInvalidMemcpyDirection);
    if (pitch < width) return lw_rt_end(cudaErrorInvalidPitchValue);
    return rows(in_array(to, x, y), memory, width, height, how);
}

static cudaError_t rows_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                   size_t height, unsigned kind, how how) {
    lw_rt_place memory = {.pitch = pitch};
    if (!read_memory(kind, false, to, &memory)) return lw_rt_end(cudaErrorInvalidMemcpyDirection);
    if (pitch < width) return lw_rt_end(cudaErrorInvalidPitchValue);
    return rows(memory, in_array(from, x, y), width, height, how);
}

static bool is_between(unsigned kind) { return kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault; }

/* Each call, with the default stream of the process and with the thread's own. */
#define COPIES(suffix, async_suffix, thread) \
    cudaError_t cudaMemcpyToArray##suffix(cudaArray_t to, size_t x, size_t y, const void *from, size_t count, \
                                          unsigned kind) { \
        return to_array(to, x, y, from, count, kind, (how){false, thread, NULL}); \
    } \
    cudaError_t cudaMemcpyToArrayAsync##async_suffix(cudaArray_t to, size_t x, size_t y, const void *from, \
                                                     size_t count, unsigned kind, cudaStream_t stream) { \
        return to_array(to, x, y, from, count, kind, (how){true, thread, stream}); \
    } \
    cudaError_t cudaMemcpyFromArray##suffix(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, \
                                            unsigned kind) { \
        return from_array(to, from, x, y, count, kind, (how){false, thread, NULL}); \
    } \
    cudaError_t cudaMemcpyFromArrayAsync##async_suffix(void *to, cudaArray_const_t from, size_t x, size_t y, \
                                                       size_t count, unsigned kind, cudaStream_t stream) { \
        return from_array(to, from, x, y, count, kind, (how){true, thread, stream}); \
    } \
    cudaError_t cudaMemcpyArrayToArray##suffix(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, \
                                               size_t from_x, size_t from_y, size_t count, unsigned kind) { \
        if (!is_between(kind)) return lw_rt_end(cudaErrorInvalidMemcpyDirection); \
        return stretch((side){.place = in_array(to, 0, 0)}, to_x, to_y, (side){.place = in_array(from, 0, 0)}, from_x, \
                       from_y, count, (how){false, thread, NULL}); \
    } \
    cudaError_t cudaMemcpy2DToArray##suffix(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, \
                                            size_t width, size_t height, unsigned kind) { \
        return rows_to_array(to, x, y, from, pitch, width, height, kind, (how){false, thread, NULL}); \
    } \
    cudaError_t cudaMemcpy2DToArrayAsync##async_suffix(cudaArray_t to, size_t x, size_t y, const void *from, \
                                                       size_t pitch, size_t width, size_t height, unsigned kind, \
                                                       cudaStream_t stream) { \
        return rows_to_array(to, x, y, from, pitch, width, height, kind, (how){true, thread, stream}); \
    } \
    cudaError_t cudaMemcpy2DFromArray##suffix(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, \
                                              size_t width, size_t height, unsigned kind) { \
        return rows_from_array(to, pitch, from, x, y, width, height, kind, (how){false, thread, NULL}); \
    } \
    cudaError_t cudaMemcpy2DFromArrayAsync##async_suffix(void *to, size_t pitch, cudaArray_const_t from, size_t x, \
                                                         size_t y, size_t width, size_t height, unsigned kind, \
                                                         cudaStream_t stream) { \
        return rows_from_array(to, pitch, from, x, y, width, height, kind, (how){true, thread, stream}); \
    } \
    cudaError_t cudaMemcpy2DArrayToArray##suffix(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, \
                                                 size_t from_x, size_t from_y, size_t width, size_t height, \
                                                 unsigned kind) { \
        if (!is_between(kind)) return lw_rt_end(cudaErrorInvalidMemcpyDirection); \
        return rows(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, \
                    (how){false, thread, NULL}); \
    }
COPIES(, , false)
COPIES(_ptds, _ptsz, true)
