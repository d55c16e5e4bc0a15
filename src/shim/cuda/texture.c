/* texture.c: texture and surface objects. */
#include "shim/cuda/array.h"

#include <stdlib.h>

/* ---- Objects by their handles ---------------------------------------------------------------------------------- */

/* What a program asks for is what it gave. The library has what kernels look at. */
typedef struct object {
    lw_cu_object object;
    uint64_t handle;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view; /* all 0: there is none */
} object;

/* No other object has such a number. */
static uint64_t key_of(uint64_t handle) { return handle | 1ull << 62; }

static object *find(uint64_t handle, lw_cu_kind kind) {
    return handle ? lw_cu_find((void *)(uintptr_t)key_of(handle), kind) : NULL;
}

static CUresult know(const object *like, lw_cu_kind kind, CUcontext context) {
    object *made = malloc(sizeof *made);
    bool known = false;
    if (made) {
        *made = *like;
        lw_cu_lock();
        known = lw_cu_link(&made->object, key_of(like->handle), kind, context);
        lw_cu_unlock();
    }
    if (known) return CUDA_SUCCESS;
    free(made);
    if (lw_texture_free(lw_cu.device, like->handle)) {}
    return lw_cu_not_made(context);
}

void lw_cu_end_texture(lw_cu_object *ended) {
    object *own = (object *)ended;
    if (!lw_cu_forget(ended)) return;
    if (lw_texture_free(lw_cu.device, own->handle)) {}
    lw_cu_lock();
    lw_cu_bury(ended);
    lw_cu_unlock();
}

/* Kernels that were launched before have it to their end. */
static CUresult destroy(uint64_t handle, lw_cu_kind kind) {
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result || !handle) return result;
    object *own = find(handle, kind);
    if (!own) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_hold(&own->object);
    lw_cu_drain(own->object.owner);
    lw_cu_end_texture(&own->object);
    lw_cu_let_go(&own->object);
    return CUDA_SUCCESS;
}

/* ---- What there is to look at ----------------------------------------------------------------------------------- */

static bool is_aligned(CUdeviceptr address) {
    return !(address % (unsigned)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
}

size_t lw_cu_linear_most(uint32_t texel_bytes) {
    enum { ELEMENTS = 1 << 30 };
    const size_t all = (size_t)1 << 32;
    return all / texel_bytes < ELEMENTS ? all / texel_bytes : ELEMENTS;
}

bool lw_cu_linear_image(CUdeviceptr address, lw_cu_texel texel, size_t bytes, lw_image *image) {
    *image = (lw_image){.kind = LW_IMAGE_LINEAR, .type = texel.type, .channels = texel.channels, .address = address};
    const uint32_t size = lw_image_texel_bytes(image);
    if (!address || !is_aligned(address) || bytes / size > lw_cu_linear_most(size)) return false;
    image->width = (uint32_t)(bytes / size);
    return true;
}

bool lw_cu_pitched_image(CUdeviceptr address, lw_cu_texel texel, size_t width, size_t height, size_t pitch,
                         lw_image *image) {
    const unsigned apart = (unsigned)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
    if (!address || !is_aligned(address) || pitch % apart ||
        width > (size_t)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
        height > (size_t)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
        pitch > (size_t)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
        return false;
    *image = (lw_image){.kind = LW_IMAGE_PITCHED,
                        .type = texel.type,
                        .channels = texel.channels,
                        .width = (uint32_t)width,
                        .height = (uint32_t)height,
                        .address = address,
                        .pitch = pitch};
    return true;
}

/* Memory of the program's has texels of a plain format. */
static bool is_plain(CUarray_format format, unsigned channels, lw_cu_texel *texel) {
    return lw_cu_texel_of(format, channels, texel) && !texel->is_normalized;
}

CUarray lw_cu_array_of(const CUDA_RESOURCE_DESC *resource) {
    if (resource->resType == CU_RESOURCE_TYPE_ARRAY) return lw_cu_find(resource->res.array.hArray, LW_CU_ARRAY);
    if (resource->resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return NULL;
    return lw_cu_find(resource->res.mipmap.hMipmappedArray, LW_CU_MIPMAP);
}

static bool read_resource(const CUDA_RESOURCE_DESC *resource, lw_image *image) {
    lw_cu_texel texel;
    const CUarray array = lw_cu_array_of(resource);
    if (array) *image = array->image;
    if (array || resource->flags) return array && !resource->flags;
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR)
        return is_plain(resource->res.linear.format, resource->res.linear.numChannels, &texel) &&
               lw_cu_linear_image(resource->res.linear.devPtr, texel, resource->res.linear.sizeInBytes, image);
    if (resource->resType == CU_RESOURCE_TYPE_PITCH2D)
        return is_plain(resource->res.pitch2D.format, resource->res.pitch2D.numChannels, &texel) &&
               lw_cu_pitched_image(resource->res.pitch2D.devPtr, texel, resource->res.pitch2D.width,
                                   resource->res.pitch2D.height, resource->res.pitch2D.pitchInBytes, image);
    return false;
}

/* ---- How it is looked at ----------------------------------------------------------------------------------------- */

static int dimensions_of(lw_image_kind kind) {
    switch (kind) {
    case LW_IMAGE_1D:
    case LW_IMAGE_1D_ARRAY: return 1;
    case LW_IMAGE_3D: return 3;
    case LW_IMAGE_LINEAR: return 0; /* nothing but numbers of texels */
    default: return 2;
    }
}

/* Those of dimensions that an image lacks may be none, but lookups see them: in 1D textures that of y. */
static bool read_modes(const CUaddress_mode *about, int dimensions, lw_address_mode *modes) {
    for (int i = 0; i < 3; i++) {
        const bool known = about[i] <= CU_TR_ADDRESS_MODE_BORDER;
        if (!known && i < dimensions) return false;
        modes[i] = known ? (lw_address_mode)about[i] : LW_ADDRESS_WRAP;
    }
    return true;
}

bool lw_cu_read_sampler(const CUDA_TEXTURE_DESC *about, const lw_image *image, const lw_cu_texel *texel,
                        lw_sampler *sampler) {
    enum { KNOWN = 0x7f }; /* two of them have no name */
    const bool cube = image->kind == LW_IMAGE_CUBE || image->kind == LW_IMAGE_CUBE_ARRAY;
    const bool linear = image->kind == LW_IMAGE_LINEAR;
    if (about->flags & ~(unsigned)KNOWN || (about->flags & CU_TRSF_SEAMLESS_CUBEMAP && !cube) ||
        about->filterMode > CU_TR_FILTER_MODE_LINEAR || about->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return false;
    const bool small = texel->type <= LW_TEXEL_s16;
    const bool floats = small && (!(about->flags & CU_TRSF_READ_AS_INTEGER) || texel->is_normalized);
    *sampler = (lw_sampler){.filter = linear ? LW_FILTER_POINT : (lw_filter)about->filterMode,
                            .mip_filter = (lw_filter)about->mipmapFilterMode,
                            .normalized_coords = about->flags & CU_TRSF_NORMALIZED_COORDINATES && !linear,
                            .normalized_floats = floats,
                            .srgb = about->flags & CU_TRSF_SRGB && floats && texel->type == LW_TEXEL_u8,
                            .seamless_cube = about->flags & CU_TRSF_SEAMLESS_CUBEMAP,
                            .level_bias = about->mipmapLevelBias,
                            .level_min = about->minMipmapLevelClamp,
                            .level_max = about->maxMipmapLevelClamp,
                            .max_anisotropy = about->maxAnisotropy};
    memcpy(sampler->border, about->borderColor, sizeof sampler->border);
    return read_modes(about->addressMode, dimensions_of(image->kind), sampler->address);
}

/* ---- What of it -------------------------------------------------------------------------------------------------- */

static bool view_format(unsigned format, lw_image_view *view) {
    switch (format) {
#define FORMAT(name, value, kind, count, normalized)
#define VIEW(name, value, kind, count) \
    case name: \
        view->type = LW_TEXEL_##kind; \
        view->channels = count; \
        return true;
#include "shim/cuda/formats.def"
#undef FORMAT
#undef VIEW
    default: return false;
    }
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Extents are those of the array; what lies behind its last level or layer does not count. */
static bool read_view(const CUDA_RESOURCE_VIEW_DESC *about, const struct CUarray_st *array, lw_image_view *view) {
    const CUDA_ARRAY3D_DESCRIPTOR *whole = &array->about;
    const lw_image *image = &array->image;
    const bool layered = whole->Flags & CUDA_ARRAY3D_LAYERED, levels = array->object.kind == LW_CU_MIPMAP;
    *view = (lw_image_view){0};
    if (!view_format(about->format, view) || about->width != whole->Width || about->height != whole->Height ||
        about->depth != whole->Depth || about->firstMipmapLevel > about->lastMipmapLevel ||
        about->firstLayer > about->lastLayer || (!layered && about->lastLayer) || (!levels && about->lastMipmapLevel))
        return false;
    if (levels) {
        view->first_level = about->firstMipmapLevel;
        view->last_level = least(about->lastMipmapLevel, image->levels - 1);
        view->single_level = !view->last_level;
    }
    if (layered) {
        view->first_layer = about->firstLayer;
        view->last_layer = least(about->lastLayer, image->layers - 1);
        view->single_layer = !view->last_layer;
    }
    return true;
}

/* ---- Textures ---------------------------------------------------------------------------------------------------- */

static CUresult make_texture(object *like, const CUDA_RESOURCE_VIEW_DESC *about_view) {
    lw_image image;
    lw_sampler sampler;
    lw_image_view view;
    const CUarray array = lw_cu_array_of(&like->resource);
    if (!array) about_view = NULL; /* memory is looked at as it is described */
    if (!read_resource(&like->resource, &image) || (about_view && !read_view(about_view, array, &view)))
        return CUDA_ERROR_INVALID_VALUE;
    const lw_cu_texel texel = {about_view ? view.type : image.type, 0, array && !about_view && array->is_normalized};
    if (!lw_cu_read_sampler(&like->texture, &image, &texel, &sampler)) return CUDA_ERROR_INVALID_VALUE;
    if (about_view) like->view = *about_view;
    return lw_cu_fail("cuTexObjectCreate",
                      lw_texture_new(lw_cu.device, &image, about_view ? &view : NULL, &sampler, &like->handle));
}

static bool is_reserved(const int *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words[i]) return true;
    return false;
}

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *about,
                           const CUDA_RESOURCE_VIEW_DESC *view) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!texture || !resource || !about || is_reserved(about->reserved, LW_COUNT(about->reserved)))
        return CUDA_ERROR_INVALID_VALUE;
    object like = {.resource = *resource, .texture = *about};
    result = make_texture(&like, view);
    if (!result) result = know(&like, LW_CU_TEXTURE, context);
    if (!result) *texture = like.handle;
    return result;
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
    LW_CU_CALL;
    return destroy(texture, LW_CU_TEXTURE);
}

/* The object that is asked about; `out`: where the answer goes. */
static CUresult ask(uint64_t handle, lw_cu_kind kind, const void *out, const object **own) {
    const CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    return out && (*own = find(handle, kind)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture) {
    LW_CU_CALL;
    const object *own;
    const CUresult result = ask(texture, LW_CU_TEXTURE, resource, &own);
    if (!result) *resource = own->resource;
    return result;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *about, CUtexObject texture) {
    LW_CU_CALL;
    const object *own;
    const CUresult result = ask(texture, LW_CU_TEXTURE, about, &own);
    if (!result) *about = own->texture;
    return result;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture) {
    LW_CU_CALL;
    const object *own;
    const CUresult result = ask(texture, LW_CU_TEXTURE, view, &own);
    if (!result) *view = own->view;
    return result;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, unsigned channels, CUdevice device) {
    LW_CU_CALL;
    lw_cu_texel texel;
    const CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!width || !lw_cu_texel_of(format, channels, &texel)) return CUDA_ERROR_INVALID_VALUE;
    *width = lw_cu_linear_most(lw_image_texel_bytes(&(lw_image){.type = texel.type, .channels = texel.channels}));
    return CUDA_SUCCESS;
}

/* ---- Surfaces ---------------------------------------------------------------------------------------------------- */

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!surface || !resource || resource->flags || resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    const CUarray array = lw_cu_array_of(resource);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    object like = {.resource = *resource};
    result = lw_cu_fail("cuSurfObjectCreate", lw_surface_new(lw_cu.device, &array->image, &like.handle));
    if (!result) result = know(&like, LW_CU_SURFACE, context);
    if (!result) *surface = like.handle;
    return result;
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) {
    LW_CU_CALL;
    return destroy(surface, LW_CU_SURFACE);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface) {
    LW_CU_CALL;
    const object *own;
    const CUresult result = ask(surface, LW_CU_SURFACE, resource, &own);
    if (!result) *resource = own->resource;
    return result;
}
