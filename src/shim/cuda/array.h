/* array.h: what stands behind the handles of arrays, textures and surfaces.   format → array → texture → reference
 *
 * An array is an image of the library's (lanewise/texture.h) over memory of its own. A mipmap's levels are arrays, too,
 * in the mipmap's memory. A texture or surface object is one of the library's with what it was made from, which is what
 * programs ask for. A reference is one that a module has from the beginning. */
#ifndef LW_SHIM_CUDA_ARRAY_H
#define LW_SHIM_CUDA_ARRAY_H

#include "shim/cuda/driver.h"

/* ---- Formats: array.c ------------------------------------------------------------------------------------------ */

/* How texels are stored. False: it is none, or not with so many channels. */
typedef struct lw_cu_texel {
    lw_texel_type type;
    unsigned channels;
    bool is_normalized; /* always read as floats of 0 to 1 or -1 to 1 */
} lw_cu_texel;
bool lw_cu_texel_of(CUarray_format format, unsigned channels, lw_cu_texel *texel);

/* ---- Arrays: array.c ------------------------------------------------------------------------------------------- */

enum { LW_CU_PARTS_MOST = 18 }; /* levels of the largest array that the device can have */

struct CUarray_st {
    lw_cu_object object;
    CUDA_ARRAY3D_DESCRIPTOR about;
    lw_image image;
    bool is_normalized;              /* as its format is */
    CUarray whole;                   /* whose memory it lies in, and which it holds; NULL: it has its own */
    CUarray parts[LW_CU_PARTS_MOST]; /* its levels; NULL: nobody has asked for it; under the lock */
};

/* The same, and a type of its own, as handles have. */
struct CUmipmappedArray_st {
    struct CUarray_st all;
};

void lw_cu_array_gone(CUarray array); /* its memory, when nobody uses it any more */

/* Where in an array an address is: bytes of a row, rows, layers. */
typedef struct lw_cu_texels_at {
    uint64_t x, y, z;
} lw_cu_texels_at;
lw_cu_texels_at lw_cu_array_place(const struct CUarray_st *array, uint64_t address);

/* ---- What textures are made from: texture.c --------------------------------------------------------------------- */

/* The array or mipmap that is named; NULL: memory, or nothing that is known. */
CUarray lw_cu_array_of(const CUDA_RESOURCE_DESC *resource);
/* Images in memory of the program's. False: it is not aligned, or too much. */
bool lw_cu_linear_image(CUdeviceptr address, lw_cu_texel texel, size_t bytes, lw_image *image);
bool lw_cu_pitched_image(CUdeviceptr address, lw_cu_texel texel, size_t width, size_t height, size_t pitch,
                         lw_image *image);
size_t lw_cu_linear_most(uint32_t texel_bytes); /* texels that an image in a line can have */
/* How an image is looked at, whose texels are read as `texel` says. False: that cannot be. */
bool lw_cu_read_sampler(const CUDA_TEXTURE_DESC *about, const lw_image *image, const lw_cu_texel *texel,
                        lw_sampler *sampler);

#endif
