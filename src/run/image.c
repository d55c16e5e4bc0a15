/* image.c: sizes and places of texels (lanewise/texture.h). */
#include "run/texture.h"

enum { EXTENT_MOST = 1 << 27, LINE_MOST = 1 << 30 }; /* texels: coordinates fit in 63 bits (sample_place.c) */
#define BYTES_MOST (UINT64_C(1) << 48)

const lw_texel_row lw_texels[] = {
    [LW_TEXEL_u8] = {1, false, false, "u8"},   [LW_TEXEL_s8] = {1, false, true, "s8"},
    [LW_TEXEL_u16] = {2, false, false, "u16"}, [LW_TEXEL_s16] = {2, false, true, "s16"},
    [LW_TEXEL_u32] = {4, false, false, "u32"}, [LW_TEXEL_s32] = {4, false, true, "s32"},
    [LW_TEXEL_f16] = {2, true, true, "f16"},   [LW_TEXEL_f32] = {4, true, true, "f32"},
};

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

typedef struct shape { /* which members a kind has */
    bool height, depth, layers, cube, samples, levels, pitch;
} shape;
static const shape shapes[] = {
    [LW_IMAGE_1D] = {.levels = true},
    [LW_IMAGE_2D] = {.height = true, .levels = true},
    [LW_IMAGE_3D] = {.height = true, .depth = true, .levels = true},
    [LW_IMAGE_1D_ARRAY] = {.layers = true, .levels = true},
    [LW_IMAGE_2D_ARRAY] = {.height = true, .layers = true, .levels = true},
    [LW_IMAGE_CUBE] = {.height = true, .layers = true, .cube = true, .levels = true},
    [LW_IMAGE_CUBE_ARRAY] = {.height = true, .layers = true, .cube = true, .levels = true},
    [LW_IMAGE_2D_SAMPLES] = {.height = true, .samples = true},
    [LW_IMAGE_2D_ARRAY_SAMPLES] = {.height = true, .layers = true, .samples = true},
    [LW_IMAGE_LINEAR] = {0},
    [LW_IMAGE_PITCHED] = {.height = true, .pitch = true},
};

static const shape *shape_of(const lw_image *image) {
    return image->kind >= LW_IMAGE_1D && image->kind < LW_COUNT(shapes) ? &shapes[image->kind] : NULL;
}
bool lw_image_is_layered(const lw_image *image) { return shape_of(image)->layers; }
bool lw_image_is_cube(const lw_image *image) { return shape_of(image)->cube; }
bool lw_image_is_multisample(const lw_image *image) { return shape_of(image)->samples; }

/* ---- What makes sense -------------------------------------------------------------------------------------------- */

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }
static bool is_extent(bool has, uint32_t n) { return has ? n >= 1 && n <= EXTENT_MOST : n <= 1; }

static bool is_width(const lw_image *image) {
    return image->width >= 1 && image->width <= (image->kind == LW_IMAGE_LINEAR ? LINE_MOST : EXTENT_MOST);
}

static uint32_t layers_of(const lw_image *image) {
    if (shape_of(image)->cube) return image->layers ? image->layers : 6;
    return at_least_one(image->layers);
}

static bool layers_good(const lw_image *image) {
    const uint32_t layers = layers_of(image);
    if (image->kind == LW_IMAGE_CUBE) return layers == 6;
    if (shape_of(image)->cube) return layers % 6 == 0 && layers <= EXTENT_MOST;
    return is_extent(shape_of(image)->layers, layers);
}

/* The largest extent can be halved so often until it is 1. */
static bool levels_good(const lw_image *image) {
    uint32_t most = 1, extent = image->width | at_least_one(image->height);
    if (shape_of(image)->depth) extent |= image->depth;
    while (extent >>= 1) most++;
    return at_least_one(image->levels) <= (shape_of(image)->levels ? most : 1);
}

static bool samples_good(const lw_image *image) {
    const uint32_t samples = at_least_one(image->samples);
    return shape_of(image)->samples ? samples <= 8 && !(samples & (samples - 1)) : samples == 1;
}

uint32_t lw_image_texel_bytes(const lw_image *image) {
    if (!image || image->type < LW_TEXEL_u8 || image->type > LW_TEXEL_f32) return 0;
    if (image->channels != 1 && image->channels != 2 && image->channels != 4) return 0;
    return lw_texels[image->type].bytes * image->channels * at_least_one(image->samples);
}

bool lw_image_is_good(const lw_image *image) {
    const shape *shape = shape_of(image);
    if (!shape || !samples_good(image) || !lw_image_texel_bytes(image)) return false;
    if (!is_width(image) || !is_extent(shape->height, image->height) || !is_extent(shape->depth, image->depth) ||
        !layers_good(image) || !levels_good(image))
        return false;
    if (shape->cube && image->width != image->height) return false;
    return shape->pitch ? image->pitch >= (uint64_t)image->width * lw_image_texel_bytes(image) : !image->pitch;
}

/* ---- Where levels are -------------------------------------------------------------------------------------------- */

static uint32_t halved(uint32_t extent, uint32_t level) { return at_least_one(level < 32 ? extent >> level : 0); }

/* All but its offset; returns its bytes, or BYTES_MOST and more. */
static uint64_t plane_of(const lw_image *image, uint32_t level, lw_image_plane *plane) {
    const shape *shape = shape_of(image);
    plane->width = halved(image->width, level);
    plane->height = shape->height ? halved(image->height, level) : 1;
    plane->depth = shape->depth ? halved(image->depth, level) : layers_of(image);
    plane->row_pitch = shape->pitch ? image->pitch : (uint64_t)plane->width * lw_image_texel_bytes(image);
    uint64_t bytes;
    if (__builtin_mul_overflow(plane->row_pitch, plane->height, &plane->layer_pitch) ||
        __builtin_mul_overflow(plane->layer_pitch, plane->depth, &bytes))
        return BYTES_MOST;
    return bytes < BYTES_MOST ? bytes : BYTES_MOST;
}

static uint64_t bytes_to(const lw_image *image, uint32_t levels) {
    uint64_t bytes = 0;
    lw_image_plane plane;
    for (uint32_t level = 0; level < levels && bytes < BYTES_MOST; level++) bytes += plane_of(image, level, &plane);
    return bytes;
}

uint64_t lw_image_bytes(const lw_image *image) {
    if (!image || !lw_image_is_good(image)) return 0;
    const uint64_t bytes = bytes_to(image, at_least_one(image->levels));
    return bytes < BYTES_MOST ? bytes : 0;
}

bool lw_image_level(const lw_image *image, uint32_t level, lw_image_plane *plane) {
    if (!lw_image_bytes(image) || !plane || level >= at_least_one(image->levels)) return false;
    plane_of(image, level, plane);
    plane->offset = bytes_to(image, level);
    return true;
}
