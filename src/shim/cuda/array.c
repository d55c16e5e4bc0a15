/* array.c: arrays of texels and mipmaps: what they are made of, how large they may be, their parts. */
#include "shim/cuda/array.h"

#include <stdlib.h>

/* ---- Formats --------------------------------------------------------------------------------------------------- */

bool lw_cu_texel_of(CUarray_format format, unsigned channels, lw_cu_texel *texel) {
    unsigned fixed = 0;
    switch (format) {
#define FORMAT(name, value, kind, count, normalized) \
    case name: \
        *texel = (lw_cu_texel){LW_TEXEL_##kind, channels, normalized}; \
        fixed = count; \
        break;
#define VIEW(name, value, kind, count)
#include "shim/cuda/formats.def"
#undef FORMAT
#undef VIEW
    default: return false;
    }
    return fixed ? channels == fixed : channels == 1 || channels == 2 || channels == 4;
}

/* ---- Sizes ----------------------------------------------------------------------------------------------------- */

/* Attributes of the device with the largest extents of an array of a kind. 0: it has no such extent. */
typedef struct limits {
    CUdevice_attribute width, height, depth;
} limits;

#define TEXTURE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name
#define SURFACE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##name
static const limits texture_limits[] = {
    [LW_IMAGE_1D] = {TEXTURE(1D_WIDTH), 0, 0},
    [LW_IMAGE_2D] = {TEXTURE(2D_WIDTH), TEXTURE(2D_HEIGHT), 0},
    [LW_IMAGE_3D] = {TEXTURE(3D_WIDTH), TEXTURE(3D_HEIGHT), TEXTURE(3D_DEPTH)},
    [LW_IMAGE_1D_ARRAY] = {TEXTURE(1D_LAYERED_WIDTH), 0, TEXTURE(1D_LAYERED_LAYERS)},
    [LW_IMAGE_2D_ARRAY] = {TEXTURE(2D_LAYERED_WIDTH), TEXTURE(2D_LAYERED_HEIGHT), TEXTURE(2D_LAYERED_LAYERS)},
    [LW_IMAGE_CUBE] = {TEXTURE(CUBEMAP_WIDTH), TEXTURE(CUBEMAP_WIDTH), 0},
    [LW_IMAGE_CUBE_ARRAY] = {TEXTURE(CUBEMAP_LAYERED_WIDTH), TEXTURE(CUBEMAP_LAYERED_WIDTH),
                             TEXTURE(CUBEMAP_LAYERED_LAYERS)},
};
static const limits surface_limits[] = {
    [LW_IMAGE_1D] = {SURFACE(1D_WIDTH), 0, 0},
    [LW_IMAGE_2D] = {SURFACE(2D_WIDTH), SURFACE(2D_HEIGHT), 0},
    [LW_IMAGE_3D] = {SURFACE(3D_WIDTH), SURFACE(3D_HEIGHT), SURFACE(3D_DEPTH)},
    [LW_IMAGE_1D_ARRAY] = {SURFACE(1D_LAYERED_WIDTH), 0, SURFACE(1D_LAYERED_LAYERS)},
    [LW_IMAGE_2D_ARRAY] = {SURFACE(2D_LAYERED_WIDTH), SURFACE(2D_LAYERED_HEIGHT), SURFACE(2D_LAYERED_LAYERS)},
    [LW_IMAGE_CUBE] = {SURFACE(CUBEMAP_WIDTH), SURFACE(CUBEMAP_WIDTH), 0},
    [LW_IMAGE_CUBE_ARRAY] = {SURFACE(CUBEMAP_LAYERED_WIDTH), SURFACE(CUBEMAP_LAYERED_WIDTH),
                             SURFACE(CUBEMAP_LAYERED_LAYERS)},
};
static const limits narrow_limits = {TEXTURE(3D_WIDTH_ALTERNATE), TEXTURE(3D_HEIGHT_ALTERNATE),
                                     TEXTURE(3D_DEPTH_ALTERNATE)};
static const limits gather_limits = {TEXTURE(2D_GATHER_WIDTH), TEXTURE(2D_GATHER_HEIGHT), 0};
static const limits flat_mipmap_limits = {TEXTURE(2D_MIPMAPPED_WIDTH), TEXTURE(2D_MIPMAPPED_HEIGHT), 0};
static const limits line_mipmap_limits = {TEXTURE(1D_MIPMAPPED_WIDTH), 0, 0};

static bool is_within(size_t extent, CUdevice_attribute most) {
    return !most || extent <= (size_t)lw_cu_attribute(most);
}

static bool fits(const CUDA_ARRAY3D_DESCRIPTOR *about, const limits *most) {
    return is_within(about->Width, most->width) && is_within(about->Height, most->height) &&
           is_within(about->Depth, most->depth);
}

static bool is_small_enough(const CUDA_ARRAY3D_DESCRIPTOR *about, lw_image_kind kind, bool is_mipmap) {
    const unsigned flags = about->Flags;
    if (flags & CUDA_ARRAY3D_SURFACE_LDST && !fits(about, &surface_limits[kind])) return false;
    if (flags & CUDA_ARRAY3D_TEXTURE_GATHER && !fits(about, &gather_limits)) return false;
    if (is_mipmap && kind == LW_IMAGE_1D) return fits(about, &line_mipmap_limits);
    if (is_mipmap && kind == LW_IMAGE_2D) return fits(about, &flat_mipmap_limits);
    return fits(about, &texture_limits[kind]) || (kind == LW_IMAGE_3D && fits(about, &narrow_limits));
}

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

/* Extents and flags say what it is: 0: nothing. */
static lw_image_kind kind_of(const CUDA_ARRAY3D_DESCRIPTOR *about) {
    const bool layered = about->Flags & CUDA_ARRAY3D_LAYERED;
    if (!about->Width) return 0;
    if (about->Flags & CUDA_ARRAY3D_CUBEMAP) {
        if (about->Height != about->Width || !about->Depth || about->Depth % 6) return 0;
        return layered ? LW_IMAGE_CUBE_ARRAY : about->Depth == 6 ? LW_IMAGE_CUBE : 0;
    }
    if (layered) return !about->Depth ? 0 : about->Height ? LW_IMAGE_2D_ARRAY : LW_IMAGE_1D_ARRAY;
    if (about->Depth) return about->Height ? LW_IMAGE_3D : 0;
    return about->Height ? LW_IMAGE_2D : LW_IMAGE_1D;
}

static uint32_t levels_of(const CUDA_ARRAY3D_DESCRIPTOR *about, lw_image_kind kind, unsigned wanted) {
    size_t extent = about->Width | about->Height | (kind == LW_IMAGE_3D ? about->Depth : 0);
    uint32_t most = 0;
    for (; extent; extent >>= 1) most++;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

/* What the device has and Lanewise has not: blocks, YUV, ten bits; memory that comes later, or in parts. */
static bool is_refused(const CUDA_ARRAY3D_DESCRIPTOR *about) {
    const bool format = about->Format == CU_AD_FORMAT_UNORM_INT_101010_2 ||
                        (about->Format >= CU_AD_FORMAT_BC1_UNORM &&
                         about->Format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar); /* what is real comes after these */
    const unsigned flags = about->Flags &
                           (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE);
    if (format) lw_cu_report(LW_CU_REPORT_ALL, "arrays of format 0x%x are not supported", about->Format);
    if (flags) lw_cu_report(LW_CU_REPORT_ALL, "arrays with flags 0x%x are not supported", flags);
    return format || flags;
}

/* The image of what is asked for, without its memory. */
static CUresult read_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels, bool is_mipmap, CUarray array) {
    enum {
        KNOWN = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER
    };
    lw_cu_texel texel;
    const lw_image_kind kind = kind_of(about);
    if (is_refused(about)) return CUDA_ERROR_NOT_SUPPORTED;
    if (!lw_cu_texel_of(about->Format, about->NumChannels, &texel) || !kind) return CUDA_ERROR_INVALID_VALUE;
    if (about->Flags & ~(unsigned)KNOWN) return CUDA_ERROR_INVALID_VALUE;
    if (about->Flags & CUDA_ARRAY3D_TEXTURE_GATHER && kind != LW_IMAGE_2D) return CUDA_ERROR_INVALID_VALUE;
    if (!is_small_enough(about, kind, is_mipmap)) return CUDA_ERROR_INVALID_VALUE;
    array->about = *about;
    array->is_normalized = texel.is_normalized;
    array->image = (lw_image){.kind = kind,
                              .type = texel.type,
                              .channels = texel.channels,
                              .width = (uint32_t)about->Width,
                              .height = (uint32_t)about->Height,
                              .depth = kind == LW_IMAGE_3D ? (uint32_t)about->Depth : 0,
                              .layers = kind == LW_IMAGE_3D ? 0 : (uint32_t)about->Depth,
                              .levels = is_mipmap ? levels_of(about, kind, levels) : 1};
    return CUDA_SUCCESS;
}

/* ---- Making ---------------------------------------------------------------------------------------------------- */

/* Makes an array of what is in `like` known; with the lock held. NULL: no memory, or its context is gone. */
static CUarray know(const struct CUarray_st *like, lw_cu_kind kind, CUcontext context) {
    CUarray made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = *like;
    if (lw_cu_link(&made->object, (uintptr_t)made, kind, context)) return made;
    free(made);
    return NULL;
}

static CUresult make(void *handle, const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels, lw_cu_kind kind) {
    CUcontext context;
    struct CUarray_st like = {0};
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!handle || !about) return CUDA_ERROR_INVALID_VALUE;
    if ((result = read_descriptor(about, levels, kind == LW_CU_MIPMAP, &like))) return result;
    const lw_status status = lw_memory_new(lw_cu.device, lw_image_bytes(&like.image), &like.image.address);
    if (status != LW_OK) return lw_cu_fail("cuArrayCreate", status);
    lw_cu_lock();
    CUarray made = know(&like, kind, context);
    lw_cu_unlock();
    if (!made && lw_memory_free(lw_cu.device, like.image.address)) {}
    if (!made) return lw_cu_not_made(context);
    memcpy(handle, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *about) {
    LW_CU_CALL;
    return make(array, about, 1, LW_CU_ARRAY);
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *about) {
    LW_CU_CALL;
    const CUDA_ARRAY3D_DESCRIPTOR flat =
        about ? (CUDA_ARRAY3D_DESCRIPTOR){about->Width, about->Height, 0, about->Format, about->NumChannels, 0}
              : (CUDA_ARRAY3D_DESCRIPTOR){0};
    return make(array, about ? &flat : NULL, 1, LW_CU_ARRAY);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels) {
    LW_CU_CALL;
    return make(array, about, levels, LW_CU_MIPMAP);
}

/* ---- Parts ----------------------------------------------------------------------------------------------------- */

/* A level as an array of its own, under the mipmap's memory. */
static void describe_level(struct CUarray_st *level, const struct CUarray_st *whole, uint32_t index) {
    lw_image_plane plane;
    if (!lw_image_level(&whole->image, index, &plane)) return;
    *level = (struct CUarray_st){.about = whole->about, .image = whole->image, .is_normalized = whole->is_normalized};
    level->about.Width = plane.width;
    if (whole->about.Height) level->about.Height = plane.height;
    if (whole->about.Depth) level->about.Depth = plane.depth;
    level->image.width = plane.width;
    if (level->image.height) level->image.height = plane.height;
    if (level->image.depth) level->image.depth = plane.depth;
    level->image.levels = 1;
    level->image.address += plane.offset;
}

/* With the lock held. NULL: no memory. */
static CUarray make_part(CUarray whole, const struct CUarray_st *like) {
    struct CUarray_st filled = *like;
    filled.whole = whole;
    CUarray made = know(&filled, LW_CU_ARRAY, whole->object.owner);
    if (made) lw_cu_hold(&whole->object);
    return made;
}

/* The same each time that it is asked for. */
static CUresult part(CUarray *out, CUarray whole, uint32_t index, const struct CUarray_st *like) {
    lw_cu_lock();
    const bool lives = lw_cu_table_find(&lw_cu.table, whole->object.key) == &whole->object;
    if (lives && !whole->parts[index]) whole->parts[index] = make_part(whole, like);
    *out = lives ? whole->parts[index] : NULL;
    lw_cu_unlock();
    return *out ? CUDA_SUCCESS : lives ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned index) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(array, LW_CU_MIPMAP);
    if (result) return result;
    struct CUarray_st like;
    if (!level || index >= array->all.image.levels) return CUDA_ERROR_INVALID_VALUE;
    describe_level(&like, &array->all, index);
    return part(level, &array->all, index, &like);
}

/* There are none: planes are what YUV formats have. */
CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(array, LW_CU_ARRAY);
    (void)plane, (void)index;
    return result ? result : CUDA_ERROR_INVALID_VALUE;
}

lw_cu_texels_at lw_cu_array_place(const struct CUarray_st *array, uint64_t address) {
    lw_image_plane plane;
    const uint64_t offset = address - array->image.address;
    if (!lw_image_level(&array->image, 0, &plane)) return (lw_cu_texels_at){0};
    return (lw_cu_texels_at){offset % plane.row_pitch, offset % plane.layer_pitch / plane.row_pitch,
                             offset / plane.layer_pitch};
}

/* ---- Ending ---------------------------------------------------------------------------------------------------- */

/* Parts go with the whole, whose memory goes when nobody holds any of them. */
static void bury(CUarray array) {
    lw_cu_lock();
    for (uint32_t i = 0; i < LW_CU_PARTS_MOST; i++) {
        if (!array->parts[i]) continue;
        lw_cu_unlink(&array->parts[i]->object);
        lw_cu_bury(&array->parts[i]->object);
    }
    lw_cu_bury(&array->object);
    lw_cu_unlock();
}

void lw_cu_end_array(CUarray array) {
    CUarray whole = array->whole ? array->whole : array;
    if (lw_cu_forget(&whole->object)) bury(whole);
}

void lw_cu_array_gone(CUarray array) {
    if (array->whole) lw_cu_let_go(&array->whole->object);
    else if (lw_memory_free(lw_cu.device, array->image.address) != LW_OK)
        lw_cu_report(LW_CU_REPORT_ALL, "memory stays allocated: no memory for the list of what is");
}

/* A level may be destroyed, which changes nothing for the others; whoever asks for it gets a new one then. */
static void leave_whole(CUarray part) {
    lw_cu_lock();
    for (uint32_t i = 0; i < LW_CU_PARTS_MOST; i++)
        if (part->whole->parts[i] == part) part->whole->parts[i] = NULL;
    lw_cu_unlock();
}

/* What may still be used by work that was given before ends behind it. */
static CUresult destroy(CUarray array, lw_cu_kind kind) {
    CUresult result = lw_cu_enter_with(array, kind);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    const CUcontext owner = array->object.owner;
    if (array->whole) leave_whole(array);
    if (!lw_cu_forget(&array->object)) return CUDA_ERROR_INVALID_HANDLE; /* another thread was first */
    lw_cu_drain(owner);
    bury(array);
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
    LW_CU_CALL;
    return destroy(array, LW_CU_ARRAY);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    LW_CU_CALL;
    return destroy((CUarray)array, LW_CU_MIPMAP); /* it begins with one; nothing is read of what is no handle */
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *about, CUarray array) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(array, LW_CU_ARRAY);
    if (result) return result;
    if (!about) return CUDA_ERROR_INVALID_VALUE;
    *about = array->about;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *about, CUarray array) {
    LW_CU_CALL;
    CUDA_ARRAY3D_DESCRIPTOR all;
    const CUresult result = cuArray3DGetDescriptor_v2(about ? &all : NULL, array);
    if (!result) *about = (CUDA_ARRAY_DESCRIPTOR){all.Width, all.Height, all.Format, all.NumChannels};
    return result;
}

/* Memory comes with the array: none is mapped later or in parts. */
static CUresult mapped_at_once(const void *out, const void *array, lw_cu_kind kind) {
    const CUresult result = lw_cu_enter_with(array, kind);
    if (result) return result;
    lw_cu_report(LW_CU_REPORT_ALL, "arrays are neither sparse nor mapped later%s",
                 out ? "" : ", and there is no place for an answer");
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needs, CUarray array, CUdevice device) {
    LW_CU_CALL;
    (void)device;
    return mapped_at_once(needs, array, LW_CU_ARRAY);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needs, CUmipmappedArray array,
                                               CUdevice device) {
    LW_CU_CALL;
    (void)device;
    return mapped_at_once(needs, array, LW_CU_MIPMAP);
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array) {
    LW_CU_CALL;
    return mapped_at_once(properties, array, LW_CU_ARRAY);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUmipmappedArray array) {
    LW_CU_CALL;
    return mapped_at_once(properties, array, LW_CU_MIPMAP);
}
