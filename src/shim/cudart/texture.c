/* texture.c: texture and surface objects: the driver's, described in the runtime's words. */
#include "shim/cudart/runtime.h"

#include <string.h>

/* ---- What there is to look at ------------------------------------------------------------------------------------ */

/* A resource as the driver has it, and how its texels are stored. */
typedef struct resource {
    CUDA_RESOURCE_DESC desc;
    CUarray_format format;
} resource;

static cudaError_t array_format(CUarray array, CUarray_format *format) {
    CUDA_ARRAY3D_DESCRIPTOR about;
    const cudaError_t error = lw_rt_result(lw_driver.cuArray3DGetDescriptor_v2(&about, array));
    if (!error) *format = about.Format;
    return error;
}

static cudaError_t mipmap_format(CUmipmappedArray mipmap, CUarray_format *format) {
    cudaArray_t first;
    const cudaError_t error = lw_rt_result(lw_driver.cuMipmappedArrayGetLevel(&first, (cudaMipmappedArray_t)mipmap, 0));
    return error ? error : array_format((CUarray)first, format);
}

static cudaError_t read_resource(const struct cudaResourceDesc *from, resource *to) {
    lw_rt_texel texel;
    *to = (resource){.desc = {.resType = from->resType, .flags = from->flags}};
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->desc.res.array.hArray = (CUarray)from->res.array.array;
        return array_format(to->desc.res.array.hArray, &to->format);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->desc.res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        return mipmap_format(to->desc.res.mipmap.hMipmappedArray, &to->format);
    case CU_RESOURCE_TYPE_LINEAR:
        if (!lw_rt_read_channels(&from->res.linear.desc, &texel)) return cudaErrorInvalidChannelDescriptor;
        to->format = to->desc.res.linear.format = texel.format;
        to->desc.res.linear.numChannels = texel.channels;
        to->desc.res.linear.devPtr = (uintptr_t)from->res.linear.devPtr;
        to->desc.res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return cudaSuccess;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!lw_rt_read_channels(&from->res.pitch2D.desc, &texel)) return cudaErrorInvalidChannelDescriptor;
        to->format = to->desc.res.pitch2D.format = texel.format;
        to->desc.res.pitch2D.numChannels = texel.channels;
        to->desc.res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
        to->desc.res.pitch2D.width = from->res.pitch2D.width;
        to->desc.res.pitch2D.height = from->res.pitch2D.height;
        to->desc.res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

static void write_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to) {
    memset(to, 0, sizeof *to);
    to->resType = from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY: to->res.array.array = (cudaArray_t)from->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
        to->res.linear.desc = lw_rt_channels(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    default:
        to->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
        to->res.pitch2D.desc = lw_rt_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
    }
}

/* ---- How it is looked at ----------------------------------------------------------------------------------------- */

/* Integers of 32 bits stay what they are; others may become floats; floats and normalised ones are. */
typedef enum nature { FLOATS, SMALL_INTEGERS, INTEGERS } nature;

static nature nature_of(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16: return SMALL_INTEGERS;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32: return INTEGERS;
    default: return FLOATS;
    }
}

static nature nature_of_view(unsigned format) {
    if (format >= CU_RES_VIEW_FORMAT_FLOAT_1X16) return FLOATS;
    return format >= CU_RES_VIEW_FORMAT_UINT_1X32 ? INTEGERS : SMALL_INTEGERS;
}

static cudaError_t check(const struct cudaTextureDesc *how, nature nature) {
    const bool floats = how->readMode != cudaReadModeElementType;
    const bool is_float = nature == FLOATS || (nature == SMALL_INTEGERS && floats);
    if (how->filterMode == CU_TR_FILTER_MODE_LINEAR && !is_float) return cudaErrorInvalidFilterSetting;
    return floats && nature != SMALL_INTEGERS ? cudaErrorInvalidNormSetting : cudaSuccess;
}

static CUDA_TEXTURE_DESC read_texture(const struct cudaTextureDesc *from) {
    CUDA_TEXTURE_DESC to = {.addressMode = {from->addressMode[0], from->addressMode[1], from->addressMode[2]},
                            .filterMode = from->filterMode,
                            .maxAnisotropy = from->maxAnisotropy,
                            .mipmapFilterMode = from->mipmapFilterMode,
                            .mipmapLevelBias = from->mipmapLevelBias,
                            .minMipmapLevelClamp = from->minMipmapLevelClamp,
                            .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    if (from->readMode == cudaReadModeElementType) to.flags |= CU_TRSF_READ_AS_INTEGER;
    if (from->normalizedCoords) to.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (from->sRGB) to.flags |= CU_TRSF_SRGB;
    if (from->disableTrilinearOptimization) to.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    if (from->seamlessCubemap) to.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    memcpy(to.borderColor, from->borderColor, sizeof to.borderColor);
    return to;
}

static struct cudaTextureDesc write_texture(const CUDA_TEXTURE_DESC *from) {
    struct cudaTextureDesc to = {
        .addressMode = {from->addressMode[0], from->addressMode[1], from->addressMode[2]},
        .filterMode = from->filterMode,
        .readMode = from->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
        .sRGB = !!(from->flags & CU_TRSF_SRGB),
        .normalizedCoords = !!(from->flags & CU_TRSF_NORMALIZED_COORDINATES),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .disableTrilinearOptimization = !!(from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        .seamlessCubemap = !!(from->flags & CU_TRSF_SEAMLESS_CUBEMAP)};
    memcpy(to.borderColor, from->borderColor, sizeof to.borderColor);
    return to;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *of,
                                    const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view) {
    resource resource;
    cudaError_t error = texture && of && how ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = read_resource(of, &resource);
    if (!error) error = check(how, view && view->format ? nature_of_view(view->format) : nature_of(resource.format));
    if (error) return lw_rt_end(error);
    const CUDA_TEXTURE_DESC about = read_texture(how);
    return lw_rt_end_driver(lw_driver.cuTexObjectCreate(texture, &resource.desc, &about, view));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *of, cudaTextureObject_t texture) {
    CUDA_RESOURCE_DESC desc;
    cudaError_t error = of ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(lw_driver.cuTexObjectGetResourceDesc(&desc, texture));
    if (!error) write_resource(&desc, of);
    return lw_rt_end(error);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *how, cudaTextureObject_t texture) {
    CUDA_TEXTURE_DESC desc;
    cudaError_t error = how ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(lw_driver.cuTexObjectGetTextureDesc(&desc, texture));
    if (!error) *how = write_texture(&desc);
    return lw_rt_end(error);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *of) {
    resource resource;
    cudaError_t error = surface && of ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = read_resource(of, &resource);
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuSurfObjectCreate(surface, &resource.desc));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *of, cudaSurfaceObject_t surface) {
    CUDA_RESOURCE_DESC desc;
    cudaError_t error = of ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(lw_driver.cuSurfObjectGetResourceDesc(&desc, surface));
    if (!error) write_resource(&desc, of);
    return lw_rt_end(error);
}
