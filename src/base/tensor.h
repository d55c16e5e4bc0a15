/* tensor.h: tensor maps (manual section 5.5): 128 bytes that say where an array of up to five dimensions lies, and
 * which box of it a copy moves. What the bytes are is nobody's affair but that of the calls that make them and of the
 * instructions that use them. */
#ifndef LW_TENSOR_H
#define LW_TENSOR_H

#include "base/base.h"

enum { LW_TENSOR_BYTES = 128, LW_TENSOR_RANK = 5, LW_TENSOR_ALIGN = 64 };

/* Elements, numbered as tensormap.replace has them (manual section 9.7.9.26). */
typedef enum lw_tensor_type {
    LW_TENSOR_u8,
    LW_TENSOR_u16,
    LW_TENSOR_u32,
    LW_TENSOR_s32,
    LW_TENSOR_u64,
    LW_TENSOR_s64,
    LW_TENSOR_f16,
    LW_TENSOR_f32,
    LW_TENSOR_f32_ftz,
    LW_TENSOR_f64,
    LW_TENSOR_bf16,
    LW_TENSOR_tf32,
    LW_TENSOR_tf32_ftz,
    LW_TENSOR_TYPES
} lw_tensor_type;

typedef enum lw_tensor_mode {
    LW_TENSOR_tile,
    LW_TENSOR_im2col,
    LW_TENSOR_wide,     /* pixels along dimension 1 alone (manual section 5.5.5): im2col::w … */
    LW_TENSOR_wide_128, /* … and im2col::w::128 */
    LW_TENSOR_MODES
} lw_tensor_mode;

/* A map. Dimension 0 is the one whose elements lie side by side. */
typedef struct lw_tensor {
    uint64_t address;
    uint8_t type, mode;                /* lw_tensor_type, lw_tensor_mode */
    uint8_t interleave, swizzle, atom; /* numbered as tensormap.replace has them */
    bool fills_nan;                    /* what is outside of the array is a NaN, not zero */
    uint32_t rank;
    uint64_t sizes[LW_TENSOR_RANK];                      /* elements */
    uint64_t strides[LW_TENSOR_RANK];                    /* bytes; of dimension 0 those of an element */
    uint32_t box[LW_TENSOR_RANK], steps[LW_TENSOR_RANK]; /* im2col: box[0] channels … */
    uint32_t pixels;                                     /* … of so many pixels */
    /* Of pixels: from 1 on, of each dimension that they go along (wide: of the first one alone), where they begin, and
     * end, as far from those of the array. */
    int32_t lower[LW_TENSOR_RANK], upper[LW_TENSOR_RANK];
} lw_tensor;

uint32_t lw_tensor_element(lw_tensor_type type); /* bytes */
bool lw_tensor_is_float(lw_tensor_type type);
/* Bytes of a slice of channels, 0: the array is not interleaved. Of one that is dimension 0 counts pixels, which have
 * so many bytes side by side, and the last but one slices. */
uint32_t lw_tensor_slice(const lw_tensor *tensor);
/* The first dimension that pixels go along, and of which a box is rows. */
static inline uint32_t lw_tensor_first(const lw_tensor *tensor) { return tensor->interleave ? 0 : 1; }
/* Bytes within which the swizzle turns; 0: there is none. */
uint32_t lw_tensor_turns(const lw_tensor *tensor);
/* What it turns, bits of an address, by those so many above them. */
uint32_t lw_tensor_turned(const lw_tensor *tensor, uint32_t *above);

/* What no map can have, in words; NULL: it is one. */
const char *lw_tensor_fault(const lw_tensor *tensor);
/* To and from 128 bytes. False: they are no map; bytes that are all 0 count as one if `new` is given, which is set. */
void lw_tensor_put(void *map, const lw_tensor *tensor);
bool lw_tensor_get(const void *map, lw_tensor *tensor, bool *new);

/* The fields that a kernel can replace. */
typedef enum lw_tensor_field {
    LW_TENSOR_global_address,
    LW_TENSOR_rank,
    LW_TENSOR_box_dim,
    LW_TENSOR_global_dim,
    LW_TENSOR_global_stride,
    LW_TENSOR_element_stride,
    LW_TENSOR_elemtype,
    LW_TENSOR_interleave_layout,
    LW_TENSOR_swizzle_mode,
    LW_TENSOR_swizzle_atomicity,
    LW_TENSOR_fill_mode,
} lw_tensor_field;
/* number: of the dimension. False: no map has such a value there. */
bool lw_tensor_replace(lw_tensor *tensor, lw_tensor_field field, uint32_t number, uint64_t value);

#endif
