/* reference.c: references to textures and surfaces, which modules have under names.
 *
 * A reference of a module is a handle of the library's, and setting anything of it sets that anew. Launches that were
 * given before see what it was then: they are waited for. One that was created by cuTexRefCreate is of no module, and
 * no kernel sees it. */
#include "shim/cuda/array.h"

#include <stdlib.h>

/* ---- What a reference is ----------------------------------------------------------------------------------------- */

typedef struct state {
    bool is_bound;
    CUDA_RESOURCE_DESC resource;
    size_t offset; /* bytes from an aligned address to the one that was given */
    CUDA_TEXTURE_DESC about;
    CUarray_format format;
    unsigned channels;
} state;

struct CUtexref_st {
    lw_cu_object object;
    uint64_t handle; /* 0: of no module */
    CUtexref next;   /* of the module */
    state state;     /* under the lock */
};

/* The same, and a type of its own, as handles have. */
struct CUsurfref_st {
    struct CUtexref_st all;
};

static const state new_state = {
    .about = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}},
    .format = CU_AD_FORMAT_FLOAT,
    .channels = 1,
};

/* With the lock held. */
static CUtexref make(CUcontext context, lw_cu_kind kind, uint64_t handle) {
    CUtexref made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->handle = handle;
    made->state = new_state;
    if (lw_cu_link(&made->object, (uintptr_t)made, kind, context)) return made;
    free(made);
    return NULL;
}

/* ---- Those of modules -------------------------------------------------------------------------------------------- */

static CUresult get(void *out, CUmodule module, const char *name, lw_texture_kind wanted, lw_cu_kind kind) {
    uint64_t handle;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
    if (lw_module_reference(module->module, name, &handle) != wanted) return CUDA_ERROR_NOT_FOUND;
    lw_cu_lock();
    CUtexref found = module->references;
    while (found && found->handle != handle) found = found->next;
    if (!found && (found = make(module->object.owner, kind, handle))) {
        found->next = module->references;
        module->references = found;
    }
    lw_cu_unlock();
    if (!found) return lw_cu_not_made(module->object.owner);
    memcpy(out, &found, sizeof found);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name) {
    LW_CU_CALL;
    return get(reference, module, name, LW_TEXTURE_TEXTURE, LW_CU_TEXREF);
}

CUresult cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name) {
    LW_CU_CALL;
    return get(reference, module, name, LW_TEXTURE_SURFACE, LW_CU_SURFREF);
}

void lw_cu_end_references(CUmodule module) {
    for (CUtexref next, each = module->references; each; each = next) {
        next = each->next;
        lw_cu_unlink(&each->object);
        lw_cu_bury(&each->object);
    }
    module->references = NULL;
}

CUresult cuTexRefCreate(CUtexref *reference) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!reference) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_lock();
    CUtexref made = make(context, LW_CU_TEXREF, 0);
    lw_cu_unlock();
    if (!made) return lw_cu_not_made(context);
    *reference = made;
    return CUDA_SUCCESS;
}

CUresult cuTexRefDestroy(CUtexref reference) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(reference, LW_CU_TEXREF);
    if (result) return result;
    if (reference->handle) return CUDA_ERROR_INVALID_VALUE; /* it goes with its module */
    return lw_cu_free(&reference->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Nothing is left to be said by it: references are known by their modules. */
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (!result) result = lw_cu_enter_with(reference, LW_CU_TEXREF);
    return result ? result : unit == CU_PARAM_TR_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Reading and writing them ------------------------------------------------------------------------------------ */

static CUresult look(CUtexref reference, state *now) {
    CUresult result = lw_cu_enter_with(reference, LW_CU_TEXREF);
    if (result) return result;
    lw_cu_lock();
    *now = reference->state;
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

/* A change is made of what is there: whoever makes one is alone from before it looks until that is what kernels see. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;

static void be_alone(bool *is_alone) {
    pthread_mutex_lock(&changes);
    *is_alone = true;
}

static void end_change(const bool *is_alone) {
    if (*is_alone) pthread_mutex_unlock(&changes);
}

#define LW_ALONE __attribute__((cleanup(end_change))) bool is_alone = false

/* Not alone where the calling thread may not change anything: a stream may be waited for that waits for it. */
static CUresult begin(CUtexref reference, bool *is_alone, state *now) {
    CUresult result = lw_cu_enter_with(reference, LW_CU_TEXREF);
    if (result) return result;
    be_alone(is_alone);
    return look(reference, now);
}

/* The image that it is bound to, and how that is looked at where that is not how it is stored. False: to none. */
static bool image_of(const state *now, lw_image *image, lw_image_view *view, lw_cu_texel *texel) {
    const CUDA_RESOURCE_DESC *resource = &now->resource;
    const CUarray array = lw_cu_array_of(resource);
    *view = (lw_image_view){0};
    if (!now->is_bound || !lw_cu_texel_of(now->format, now->channels, texel)) return false;
    if (array) {
        *image = array->image;
        if (texel->type == image->type && texel->channels == image->channels) return true;
        view->type = texel->type;
        view->channels = texel->channels;
        return true;
    }
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR)
        return lw_cu_linear_image(resource->res.linear.devPtr, *texel, resource->res.linear.sizeInBytes, image);
    return resource->resType == CU_RESOURCE_TYPE_PITCH2D &&
           lw_cu_pitched_image(resource->res.pitch2D.devPtr, *texel, resource->res.pitch2D.width,
                               resource->res.pitch2D.height, resource->res.pitch2D.pitchInBytes, image);
}

/* What does not fit together unbinds it, so that a kernel that reads it says so; the call does not. */
static void apply(uint64_t handle, const state *now) {
    lw_image image;
    lw_image_view view;
    lw_sampler sampler;
    lw_cu_texel texel;
    const bool bound = image_of(now, &image, &view, &texel) &&
                       lw_cu_read_sampler(&now->about, &image, &texel, &sampler);
    if (bound && lw_texture_set(lw_cu.device, handle, &image, view.type ? &view : NULL, &sampler) == LW_OK) return;
    if (now->is_bound)
        lw_cu_report(LW_CU_REPORT_ALL, "a texture reference is bound to what it cannot read: %s",
                     lw_context_message(lw_cu.device));
    if (lw_texture_set(lw_cu.device, handle, NULL, NULL, NULL)) {}
}

static CUresult commit(CUtexref reference, const state *now) {
    lw_cu_hold(&reference->object);
    if (reference->handle) lw_cu_drain(reference->object.owner);
    lw_cu_lock();
    reference->state = *now;
    lw_cu_unlock();
    if (reference->handle) apply(reference->handle, now);
    lw_cu_let_go(&reference->object);
    return CUDA_SUCCESS;
}

/* ---- What it is bound to ----------------------------------------------------------------------------------------- */

static CUresult bind_array(CUtexref reference, CUarray array, CUDA_RESOURCE_DESC resource, unsigned flags) {
    LW_ALONE;
    state now;
    CUresult result = begin(reference, &is_alone, &now);
    if (result) return result;
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    now.is_bound = true;
    now.resource = resource;
    if (flags & CU_TRSA_OVERRIDE_FORMAT) now.format = array->about.Format, now.channels = array->about.NumChannels;
    return commit(reference, &now);
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags) {
    LW_CU_CALL;
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    return bind_array(reference, lw_cu_array_of(&resource), resource, flags);
}

CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray array, unsigned flags) {
    LW_CU_CALL;
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                         .res.mipmap.hMipmappedArray = array};
    return bind_array(reference, lw_cu_array_of(&resource), resource, flags);
}

/* The kernel is told how many texels lie before the address. */
CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref reference, CUdeviceptr address, size_t bytes) {
    LW_CU_CALL;
    LW_ALONE;
    state now;
    lw_cu_texel texel;
    CUresult result = begin(reference, &is_alone, &now);
    if (result) return result;
    const size_t before = address % (unsigned)lw_cu_attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    if ((before && !offset) || !lw_cu_texel_of(now.format, now.channels, &texel)) return CUDA_ERROR_INVALID_VALUE;
    const uint32_t size = lw_image_texel_bytes(&(lw_image){.type = texel.type, .channels = texel.channels});
    if (bytes / size > lw_cu_linear_most(size)) return CUDA_ERROR_INVALID_VALUE;
    now.is_bound = true;
    now.offset = before;
    now.resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                        .res.linear = {.devPtr = address - before, .sizeInBytes = bytes + before}};
    if (offset) *offset = before;
    return commit(reference, &now);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *about, CUdeviceptr address,
                                 size_t pitch) {
    LW_CU_CALL;
    LW_ALONE;
    state now;
    lw_image image;
    lw_cu_texel texel;
    CUresult result = begin(reference, &is_alone, &now);
    if (result) return result;
    if (!about || !lw_cu_texel_of(about->Format, about->NumChannels, &texel)) return CUDA_ERROR_INVALID_VALUE;
    const bool is_good = !address || lw_cu_pitched_image(address, texel, about->Width, about->Height, pitch, &image);
    if (!is_good || (address && pitch < image.width * (size_t)lw_image_texel_bytes(&image)))
        return CUDA_ERROR_INVALID_VALUE;
    now.is_bound = true;
    now.offset = 0;
    now.format = about->Format, now.channels = about->NumChannels;
    now.resource = (CUDA_RESOURCE_DESC){
        .resType = CU_RESOURCE_TYPE_PITCH2D,
        .res.pitch2D = {.devPtr = address, .width = about->Width, .height = about->Height, .pitchInBytes = pitch}};
    return commit(reference, &now);
}
LW_CU_SAME(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3);

CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref reference) {
    LW_CU_CALL;
    state now;
    const CUresult result = look(reference, &now);
    if (result) return result;
    const bool linear = now.resource.resType == CU_RESOURCE_TYPE_LINEAR;
    if (!address || !now.is_bound || (!linear && now.resource.resType != CU_RESOURCE_TYPE_PITCH2D))
        return CUDA_ERROR_INVALID_VALUE;
    *address = linear ? now.resource.res.linear.devPtr + now.offset : now.resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

/* ---- How it is read ---------------------------------------------------------------------------------------------- */

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
    LW_CU_CALL;
    LW_ALONE;
    state now;
    lw_cu_texel texel;
    const CUresult result = begin(reference, &is_alone, &now);
    if (result) return result;
    if (!lw_cu_texel_of(format, (unsigned)channels, &texel)) return CUDA_ERROR_INVALID_VALUE;
    now.format = format;
    now.channels = (unsigned)channels;
    return commit(reference, &now);
}

CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref reference) {
    LW_CU_CALL;
    state now;
    const CUresult result = look(reference, &now);
    if (result) return result;
    if (format) *format = now.format;
    if (channels) *channels = (int)now.channels;
    return CUDA_SUCCESS;
}

/* Setters and getters of one value that is there as it is given. */
#define SETTER(name, parameters, is_good, ...) \
    CUresult name parameters { \
        LW_CU_CALL; \
        LW_ALONE; \
        state now; \
        const CUresult result = begin(reference, &is_alone, &now); \
        if (result) return result; \
        if (!(is_good)) return CUDA_ERROR_INVALID_VALUE; \
        __VA_ARGS__; \
        return commit(reference, &now); \
    }
#define GETTER(name, parameters, is_good, ...) \
    CUresult name parameters { \
        LW_CU_CALL; \
        state now; \
        const CUresult result = look(reference, &now); \
        if (result) return result; \
        if (!(is_good)) return CUDA_ERROR_INVALID_VALUE; \
        __VA_ARGS__; \
        return CUDA_SUCCESS; \
    }

enum { DIMENSIONS = 3, FLAGS = 0x3f };

SETTER(cuTexRefSetAddressMode, (CUtexref reference, int dimension, CUaddress_mode mode),
       dimension >= 0 && dimension < DIMENSIONS && mode <= CU_TR_ADDRESS_MODE_BORDER,
       now.about.addressMode[dimension] = mode)
SETTER(cuTexRefSetFilterMode, (CUtexref reference, CUfilter_mode mode), mode <= CU_TR_FILTER_MODE_LINEAR,
       now.about.filterMode = mode)
SETTER(cuTexRefSetMipmapFilterMode, (CUtexref reference, CUfilter_mode mode), mode <= CU_TR_FILTER_MODE_LINEAR,
       now.about.mipmapFilterMode = mode)
SETTER(cuTexRefSetMipmapLevelBias, (CUtexref reference, float bias), true, now.about.mipmapLevelBias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (CUtexref reference, float least, float most), true,
       now.about.minMipmapLevelClamp = least, now.about.maxMipmapLevelClamp = most)
SETTER(cuTexRefSetMaxAnisotropy, (CUtexref reference, unsigned most), true, now.about.maxAnisotropy = most)
SETTER(cuTexRefSetBorderColor, (CUtexref reference, float *color), color,
       memcpy(now.about.borderColor, color, sizeof now.about.borderColor))
SETTER(cuTexRefSetFlags, (CUtexref reference, unsigned flags), !(flags & ~(unsigned)FLAGS), now.about.flags = flags)

GETTER(cuTexRefGetArray, (CUarray * array, CUtexref reference),
       array &&now.is_bound &&now.resource.resType == CU_RESOURCE_TYPE_ARRAY, *array = now.resource.res.array.hArray)
GETTER(cuTexRefGetMipmappedArray, (CUmipmappedArray * array, CUtexref reference),
       array &&now.is_bound &&now.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
       *array = now.resource.res.mipmap.hMipmappedArray)
GETTER(cuTexRefGetAddressMode, (CUaddress_mode * mode, CUtexref reference, int dimension),
       mode &&dimension >= 0 && dimension < DIMENSIONS, *mode = now.about.addressMode[dimension])
GETTER(cuTexRefGetFilterMode, (CUfilter_mode * mode, CUtexref reference), mode, *mode = now.about.filterMode)
GETTER(cuTexRefGetMipmapFilterMode, (CUfilter_mode * mode, CUtexref reference), mode,
       *mode = now.about.mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, (float *bias, CUtexref reference), bias, *bias = now.about.mipmapLevelBias)
GETTER(cuTexRefGetMipmapLevelClamp, (float *least, float *most, CUtexref reference), least &&most,
       *least = now.about.minMipmapLevelClamp, *most = now.about.maxMipmapLevelClamp)
GETTER(cuTexRefGetMaxAnisotropy, (int *most, CUtexref reference), most, *most = (int)now.about.maxAnisotropy)
GETTER(cuTexRefGetBorderColor, (float *color, CUtexref reference), color,
       memcpy(color, now.about.borderColor, sizeof now.about.borderColor))
GETTER(cuTexRefGetFlags, (unsigned *flags, CUtexref reference), flags, *flags = now.about.flags)

/* ---- Surfaces ---------------------------------------------------------------------------------------------------- */

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned flags) {
    LW_CU_CALL;
    LW_ALONE;
    CUresult result = lw_cu_enter_with(reference, LW_CU_SURFREF);
    if (!result) result = lw_cu_enter_with(array, LW_CU_ARRAY);
    if (result) return result;
    if (flags || !(array->about.Flags & CUDA_ARRAY3D_SURFACE_LDST)) return CUDA_ERROR_INVALID_VALUE;
    be_alone(&is_alone);
    lw_cu_hold(&reference->all.object);
    lw_cu_drain(reference->all.object.owner);
    lw_cu_lock();
    reference->all.state.is_bound = true;
    reference->all.state.resource.res.array.hArray = array;
    lw_cu_unlock();
    const bool lives = lw_cu_find(array, LW_CU_ARRAY);
    if (lives)
        result = lw_cu_fail("cuSurfRefSetArray",
                            lw_texture_set(lw_cu.device, reference->all.handle, &array->image, NULL, NULL));
    lw_cu_let_go(&reference->all.object);
    return lives ? result : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref reference) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(reference, LW_CU_SURFREF);
    if (result) return result;
    lw_cu_lock();
    const state now = reference->all.state;
    lw_cu_unlock();
    if (!array || !now.is_bound) return CUDA_ERROR_INVALID_VALUE;
    *array = now.resource.res.array.hArray;
    return CUDA_SUCCESS;
}
