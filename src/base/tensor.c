/* tensor.c: tensor maps: what they may say, and how that is kept. */
#include "base/tensor.h"

#include <string.h>

enum {
    TURN = 16,            /* bytes that a swizzle moves together, and that everything is a multiple of */
    BOX_MOST = 227 << 10, /* bytes */
};

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static const struct {
    uint8_t bytes;
    bool is_float;
} types[LW_TENSOR_TYPES] = {
    [LW_TENSOR_u8] = {1, false},      [LW_TENSOR_u16] = {2, false}, [LW_TENSOR_u32] = {4, false},
    [LW_TENSOR_s32] = {4, false},     [LW_TENSOR_u64] = {8, false}, [LW_TENSOR_s64] = {8, false},
    [LW_TENSOR_f16] = {2, true},      [LW_TENSOR_f32] = {4, true},  [LW_TENSOR_f32_ftz] = {4, true},
    [LW_TENSOR_f64] = {8, true},      [LW_TENSOR_bf16] = {2, true}, [LW_TENSOR_tf32] = {4, true},
    [LW_TENSOR_tf32_ftz] = {4, true},
};

uint32_t lw_tensor_element(lw_tensor_type type) { return types[type].bytes; }
bool lw_tensor_is_float(lw_tensor_type type) { return types[type].is_float; }
uint32_t lw_tensor_slice(const lw_tensor *tensor) { return tensor->interleave * TURN; }
uint32_t lw_tensor_turns(const lw_tensor *tensor) { return tensor->swizzle ? TURN << tensor->swizzle : 0; }

/* Numbered as tensormap.replace has it: how many bytes are moved together. */
enum { ATOM_16, ATOM_32, ATOM_32_FLIP_8, ATOM_64 };

uint32_t lw_tensor_turned(const lw_tensor *tensor, uint32_t *above) {
    const uint32_t turns = lw_tensor_turns(tensor), doublings = tensor->atom == ATOM_64   ? 2
                                                                : tensor->atom == ATOM_32 ? 1
                                                                                          : 0;
    *above = 3 - doublings;
    return turns ? turns - (TURN << doublings) : 0;
}

/* ---- What a map may say ------------------------------------------------------------------------------------------ */

static const char *fault_of_array(const lw_tensor *t) {
    const uint32_t unit = t->interleave == 2 ? 32 : 16;
    if (t->address % unit) return "its address is no multiple of 16, or of 32 where it is interleaved so";
    for (uint32_t i = 0; i < t->rank; i++)
        if (!t->sizes[i] || t->sizes[i] > (uint64_t)1 << 32) return "a size is not 1 to 2^32";
    for (uint32_t i = 1; i < t->rank; i++)
        if (t->strides[i] % unit || t->strides[i] >> 40)
            return "a stride is no multiple of 16, or of 32 where it is interleaved so, or not below 2^40";
    return NULL;
}

static const char *fault_of_corners(const lw_tensor *t, uint32_t number, int32_t most) {
    const int32_t *corners[] = {&t->lower[number], &t->upper[number]};
    const uint64_t size = t->sizes[number - 1 + lw_tensor_first(t)];
    for (uint32_t k = 0; k < 2; k++)
        if (*corners[k] < -most || *corners[k] >= most) return "a corner is out of its range";
    return (int64_t)size + t->upper[number] - t->lower[number] <= 0 ? "there is nothing between the corners" : NULL;
}

static const char *fault_of_pixels(const lw_tensor *t) {
    static const int32_t most[] = {[3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4};
    const bool is_wide = t->mode != LW_TENSOR_im2col;
    if (t->rank < 3) return "im2col has 3 to 5 dimensions";
    if (!t->box[0] || t->box[0] > 256 || !t->pixels || t->pixels > 1024)
        return "channels are not 1 to 256, or pixels 1 to 1024";
    for (uint32_t i = 1; i + 1 < t->rank && !(is_wide && i > 1); i++) {
        const char *fault = fault_of_corners(t, i, is_wide ? most[3] : most[t->rank]);
        if (fault) return fault;
    }
    if (is_wide && t->interleave) return "pixels along one dimension are never interleaved";
    if (is_wide && t->swizzle < 2) return "pixels along one dimension have a swizzle of 64 or 128 bytes";
    return NULL;
}

/* As an H200's driver counts: steps that are longer than the box make it nothing, and an interleaved array counts as if
 * it were none, though the box is of one slice. */
static uint64_t bytes_of(const lw_tensor *t) {
    uint64_t bytes = types[t->type].bytes;
    if (t->mode != LW_TENSOR_tile) return bytes * t->box[0] * t->pixels;
    for (uint32_t i = 0; i < t->rank; i++) bytes *= i || t->interleave ? t->box[i] / t->steps[i] : t->box[0];
    return bytes;
}

static const char *fault_of_box(const lw_tensor *t) {
    const uint64_t inner = (uint64_t)t->box[0] * types[t->type].bytes;
    for (uint32_t i = 0; i < t->rank; i++)
        if (!t->steps[i] || t->steps[i] > 8) return "a step is not 1 to 8";
    if (t->mode != LW_TENSOR_tile) {
        const char *fault = fault_of_pixels(t);
        if (fault) return fault;
    } else
        for (uint32_t i = 0; i < t->rank; i++)
            if (!t->box[i] || t->box[i] > 256) return "a side of the box is not 1 to 256";
    if (bytes_of(t) > BOX_MOST) return "the box is larger than the shared memory of a CTA";
    if (inner % TURN) return "the bytes of a row of the box are no multiple of 16";
    if (!t->interleave && t->swizzle && inner > lw_tensor_turns(t))
        return "a row of the box is longer than what the swizzle turns";
    return NULL;
}

const char *lw_tensor_fault(const lw_tensor *t) {
    if (t->type >= LW_TENSOR_TYPES || t->mode >= LW_TENSOR_MODES) return "there is no such type or mode";
    if (!t->rank || t->rank > LW_TENSOR_RANK) return "it does not have 1 to 5 dimensions";
    if (t->interleave > 2 || (t->interleave && t->rank < 3)) return "there is no such interleaving";
    if (t->swizzle > 3) return "there is no such swizzle";
    if (t->atom == ATOM_32_FLIP_8) return "the swizzle swaps 8 bytes on lines of which no text says which";
    if (t->atom > ATOM_64 || (t->atom && t->swizzle != 3)) return "there is no such swizzle of more than 16 bytes";
    if (t->fills_nan && !types[t->type].is_float) return "only floating point has a NaN outside";
    const char *fault = fault_of_array(t);
    return fault ? fault : fault_of_box(t);
}

/* ---- 128 bytes --------------------------------------------------------------------------------------------------- */

/* Sides, sizes and steps are one less, so that bytes which are all 0 are a map of one element. */
typedef struct map_bits {
    uint64_t mark, address, strides[LW_TENSOR_RANK - 1];
    uint32_t sizes[LW_TENSOR_RANK], pixels;
    int16_t lower[3], upper[3];
    uint8_t box[LW_TENSOR_RANK], steps[LW_TENSOR_RANK], rank;
    uint8_t type, mode, interleave, swizzle, atom, fills_nan, unused[27];
} map_bits;
_Static_assert(sizeof(map_bits) == LW_TENSOR_BYTES, "a map has 128 bytes");

static const uint64_t mark = 0x6c77206d61702031; /* that they are ours */

void lw_tensor_put(void *map, const lw_tensor *t) {
    map_bits bits = {.mark = mark,
                     .address = t->address,
                     .pixels = t->pixels - 1,
                     .rank = (uint8_t)(t->rank - 1),
                     .type = t->type,
                     .mode = t->mode,
                     .interleave = t->interleave,
                     .swizzle = t->swizzle,
                     .atom = t->atom,
                     .fills_nan = t->fills_nan};
    for (uint32_t i = 0; i < LW_TENSOR_RANK; i++) {
        bits.sizes[i] = (uint32_t)(t->sizes[i] - 1);
        bits.box[i] = (uint8_t)(t->box[i] - 1), bits.steps[i] = (uint8_t)(t->steps[i] - 1);
        if (i) bits.strides[i - 1] = t->strides[i];
    }
    for (uint32_t i = 0; i < 3; i++) bits.lower[i] = (int16_t)t->lower[i + 1], bits.upper[i] = (int16_t)t->upper[i + 1];
    memcpy(map, &bits, sizeof bits);
}

bool lw_tensor_get(const void *map, lw_tensor *t, bool *new) {
    static const map_bits nothing;
    map_bits bits;
    memcpy(&bits, map, sizeof bits);
    if (new) *new = !memcmp(&bits, &nothing, sizeof bits);
    if (bits.mark != mark && !(new &&*new)) return false;
    *t = (lw_tensor){.address = bits.address,
                     .pixels = bits.pixels + 1,
                     .rank = (uint32_t)bits.rank + 1,
                     .type = bits.type,
                     .mode = bits.mode,
                     .interleave = bits.interleave,
                     .swizzle = bits.swizzle,
                     .atom = bits.atom,
                     .fills_nan = bits.fills_nan & 1};
    t->strides[0] = t->type < LW_TENSOR_TYPES ? types[t->type].bytes : 1;
    for (uint32_t i = 0; i < LW_TENSOR_RANK; i++) {
        t->sizes[i] = (uint64_t)bits.sizes[i] + 1;
        t->box[i] = bits.box[i] + 1u, t->steps[i] = bits.steps[i] + 1u;
        if (i) t->strides[i] = bits.strides[i - 1];
    }
    for (uint32_t i = 0; i < 3; i++) t->lower[i + 1] = bits.lower[i], t->upper[i + 1] = bits.upper[i];
    return true;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

bool lw_tensor_replace(lw_tensor *t, lw_tensor_field field, uint32_t number, uint64_t value) {
    const uint32_t dimensions = field == LW_TENSOR_global_stride ? LW_TENSOR_RANK - 1 : LW_TENSOR_RANK;
    if (number >= dimensions) return false;
    switch (field) {
    case LW_TENSOR_global_address: return t->address = value, true;
    case LW_TENSOR_rank: return t->rank = (uint32_t)value + 1, value < LW_TENSOR_RANK; /* one less than there are */
    case LW_TENSOR_box_dim: return t->box[number] = (uint32_t)value, value && value <= 256;
    case LW_TENSOR_global_dim: return t->sizes[number] = value ? value : (uint64_t)1 << 32, true;
    case LW_TENSOR_global_stride: return t->strides[number + 1] = value, !(value >> 40);
    case LW_TENSOR_element_stride: return t->steps[number] = (uint32_t)value, value && value <= 8;
    case LW_TENSOR_elemtype: return t->type = (uint8_t)value, value < LW_TENSOR_TYPES;
    case LW_TENSOR_interleave_layout: return t->interleave = (uint8_t)value, value < 3;
    case LW_TENSOR_swizzle_mode: return t->swizzle = (uint8_t)value, value < 4;
    case LW_TENSOR_swizzle_atomicity: return t->atom = (uint8_t)value, value < 4;
    case LW_TENSOR_fill_mode: return t->fills_nan = value & 1, value < 2;
    }
    return false;
}
