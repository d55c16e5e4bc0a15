/* texture.h: images, textures and surfaces of a context.   image → view, sampler → texture, surface → reference
 *
 * An image says what texels are and where in device memory they lie; it is a plain struct, and the memory is whoever's
 * allocated it. What the library calls an array of texels (cuArray) is an image over memory of lw_image_bytes, laid out
 * level by level, in a level layer (or slice) by layer, in a layer row by row, without gaps.
 *
 * A texture is an image and how it is looked at, under a 64-bit handle, which is what a kernel's parameter gets. A
 * .texref, .samplerref or .surfref of a module has a handle from the beginning: lw_module_reference gives it, and
 * lw_texture_set binds it. A kernel that uses a handle which is none, or an unbound reference, traps.
 *
 *     lw_image image = {.kind = LW_IMAGE_2D, .type = LW_TEXEL_u8, .channels = 4, .width = 640, .height = 480};
 *     lw_memory_new(ctx, lw_image_bytes(&image), &image.address);   lw_memory_write(…);
 *     lw_texture_new(ctx, &image, NULL, &(lw_sampler){.filter = LW_FILTER_LINEAR, .normalized_coords = true},
 * &texture);
 *
 * Comments follow lanewise.h. */
#ifndef LANEWISE_TEXTURE_H
#define LANEWISE_TEXTURE_H

#include <lanewise/lanewise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Images --------------------------------------------------------------------------------------------- */

typedef enum lw_image_kind {
    LW_IMAGE_1D = 1,     /* width */
    LW_IMAGE_2D,         /* width, height */
    LW_IMAGE_3D,         /* width, height, depth */
    LW_IMAGE_1D_ARRAY,   /* width, layers */
    LW_IMAGE_2D_ARRAY,   /* width, height, layers */
    LW_IMAGE_CUBE,       /* width, height the same; 6 layers: +x -x +y -y +z -z */
    LW_IMAGE_CUBE_ARRAY, /* … a multiple of 6 */
    LW_IMAGE_2D_SAMPLES, /* width, height, samples */
    LW_IMAGE_2D_ARRAY_SAMPLES,
    LW_IMAGE_LINEAR,  /* width: texels one behind the other, read by tex.1d with integers */
    LW_IMAGE_PITCHED, /* width, height, pitch: rows of the caller's, read by tex.2d */
} lw_image_kind;

typedef enum lw_texel_type {
    LW_TEXEL_u8 = 1,
    LW_TEXEL_s8,
    LW_TEXEL_u16,
    LW_TEXEL_s16,
    LW_TEXEL_u32,
    LW_TEXEL_s32,
    LW_TEXEL_f16,
    LW_TEXEL_f32,
} lw_texel_type;

typedef struct lw_image {
    size_t size; /* as in lw_options */
    lw_image_kind kind;
    lw_texel_type type;
    uint32_t channels;             /* 1, 2 or 4 */
    uint32_t width, height, depth; /* texels of level 0; what a kind does not have may be 0 or 1 */
    uint32_t layers;               /* of arrays; of cubes 6 for each, or 0 for one */
    uint32_t levels;               /* of a mipmap; 0 is 1 */
    uint32_t samples;              /* of a texel: 1, 2, 4, 8; they lie one behind the other in it */
    uint64_t address;              /* device memory; it is looked at when a kernel runs */
    uint64_t pitch;                /* bytes from row to row of LW_IMAGE_PITCHED, else 0 */
} lw_image;

/* Where a level lies in its image. */
typedef struct lw_image_plane {
    uint64_t offset;               /* bytes from the image's address */
    uint64_t row_pitch;            /* bytes from row to row */
    uint64_t layer_pitch;          /* bytes from layer to layer, or from slice to slice of LW_IMAGE_3D */
    uint32_t width, height, depth; /* texels, 1 where there is no such extent; `depth` counts layers or slices */
} lw_image_plane;

/* Bytes of a texel, all samples of it included.
 *
 * returns  0 for a format that is none */
LW_API uint32_t lw_image_texel_bytes(const lw_image *image);

/* Bytes of an image, all levels together.
 *
 * returns  0 for one that is none: kinds, formats, sizes (each extent at most 2^27, of linear memory 2^30, levels no
 *          more than halving gives), a pitch that is shorter than a row; or 2^48 bytes and more */
LW_API uint64_t lw_image_bytes(const lw_image *image);

/* Where a level of an image is.
 *
 * level    from 0
 * returns  false for an image that is none or has no such level */
LW_API bool lw_image_level(const lw_image *image, uint32_t level, lw_image_plane *plane);

/* ---- Textures and surfaces -------------------------------------------------------------------------------- */

typedef enum lw_address_mode {                  /* the driver's numbers */
                               LW_ADDRESS_WRAP, /* with normalised coordinates; without them as clamp */
                               LW_ADDRESS_CLAMP,
                               LW_ADDRESS_MIRROR, /* likewise */
                               LW_ADDRESS_BORDER,
} lw_address_mode;

typedef enum lw_filter { LW_FILTER_POINT, LW_FILTER_LINEAR } lw_filter;

typedef struct lw_sampler {
    size_t size; /* as in lw_options */
    lw_address_mode address[3];
    lw_filter filter, mip_filter;
    bool normalized_coords;
    bool normalized_floats; /* texels of integers of 8 and 16 bits are read as floats, 0 to 1 or -1 to 1 */
    bool srgb;              /* u8 texels that are read so: red, green and blue are converted to linear light */
    bool seamless_cube;     /* linear filtering goes on over the edges of a cube map's faces */
    float level_bias, level_min, level_max; /* of mipmaps; level_max 0 with level_min 0: level 0 alone */
    uint32_t max_anisotropy;                /* kept, and nothing done with it */
    float border[4];
} lw_sampler;

/* What a texture looks at, where that is not its whole image. */
typedef struct lw_image_view {
    size_t size;        /* as in lw_options */
    lw_texel_type type; /* 0: the image's; with `channels` as many bytes of a texel as the image has */
    uint32_t channels;
    uint32_t first_level, last_level; /* both 0: all; a texture's level 0 is first_level */
    uint32_t first_layer, last_layer; /* likewise */
    bool single_level;                /* 0 and 0 means level 0 alone */
    bool single_layer;
} lw_image_view;

typedef enum lw_texture_kind {
    LW_TEXTURE_NONE, /* no handle of this context */
    LW_TEXTURE_TEXTURE,
    LW_TEXTURE_SAMPLER,
    LW_TEXTURE_SURFACE,
} lw_texture_kind;

/* Makes a texture.
 *
 * image    copied; its memory must be allocated when a kernel looks at it, not before
 * view     copied; NULL: the whole image
 * sampler  copied; NULL: all 0
 * texture  gets the handle, which is never 0
 * fails    LW_BAD_ARGUMENT: something that is none, or does not fit together: 32-bit integers that are read as floats,
 *          normalised coordinates with LW_IMAGE_LINEAR, sRGB of anything but u8; LW_NO_MEMORY
 * owner    the context, until lw_texture_free */
LW_CHECKED lw_texture_new(lw_context *context, const lw_image *image, const lw_image_view *view,
                          const lw_sampler *sampler, uint64_t *texture);

/* Makes a sampler alone, for modules of .texmode_independent. As lw_texture_new. */
LW_CHECKED lw_sampler_new(lw_context *context, const lw_sampler *sampler, uint64_t *handle);

/* Makes a surface: level 0 of an image, to be loaded, stored and reduced by suld, sust and sured. A level of a mipmap
 * is an image of its own, at the plane's offset.
 *
 * surface  gets the handle, which is never 0
 * fails    LW_BAD_ARGUMENT: an image that is none; LW_NO_MEMORY
 * owner    the context, until lw_texture_free */
LW_CHECKED lw_surface_new(lw_context *context, const lw_image *image, uint64_t *surface);

/* Ends a texture, sampler or surface; its handle means nothing from then on. The image's memory stays.
 *
 * fails    LW_BAD_ARGUMENT: it is none, or a module's reference
 * threads  a launch that uses it may still run */
LW_CHECKED lw_texture_free(lw_context *context, uint64_t handle);

/* Gives a handle, of a reference or not, another image and sampler. Launches that run see the old or the new ones.
 *
 * image    NULL: unbound; of a sampler alone nothing else
 * view     NULL: the whole image; of a surface nothing else
 * sampler  NULL: all 0; of a surface nothing else
 * fails    as lw_texture_new; LW_BAD_ARGUMENT: no handle */
LW_CHECKED lw_texture_set(lw_context *context, uint64_t handle, const lw_image *image, const lw_image_view *view,
                          const lw_sampler *sampler);

/* What is behind a handle.
 *
 * image    gets what it was made with, all 0 if unbound; may be NULL, and so may the others
 * returns  LW_TEXTURE_NONE: no handle */
LW_API lw_texture_kind lw_texture_get(lw_context *context, uint64_t handle, lw_image *image, lw_image_view *view,
                                      lw_sampler *sampler);

/* A variable .texref, .samplerref or .surfref of a module.
 *
 * handle   gets its handle, the same as long as the module lives
 * returns  what it is; LW_TEXTURE_NONE: the module has no such variable
 * owner    the module */
LW_API lw_texture_kind lw_module_reference(lw_module *module, const char *name, uint64_t *handle);

#ifdef __cplusplus
}
#endif
#endif
