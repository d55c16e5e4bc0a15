/* texture.c: lookups in textures; compiled once for each CPU level.
 *
 * What programs do most is done here for many lanes at once: linear lookups in one image of two dimensions whose texels
 * are four bytes, in clamp or wrap mode. It computes what run/sample_place.c and run/texel.c do, with the same
 * roundings; everything else goes there, lane by lane. */
#include "run/interp/texture.h"
#include "run/interp/level/level.h"

enum { AT_A_TIME = 32 };

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

/* Along one axis: indices of two neighbours, and the weight of the second. */
typedef struct axes {
    int32_t first[AT_A_TIME], second[AT_A_TIME], weight[AT_A_TIME];
} axes;

/* The product of a normalised coordinate's 21 bits and an extent of so many texels has 32; 256 times the longest extent
 * is less than 2^31. */
enum { SMALL = 1024, FAR = 512, LONG = 1 << 22 };

/* What find_axis finds, in words: where coordinates are limited. */
static void find_clamped(const float *restrict c, uint32_t extent, axes *restrict to) {
    const int32_t n = (int32_t)extent, last = (n - 1) << 8;
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        const float low = c[i] > 0 ? c[i] : 0, x = low < 1 ? low : 1;
        const int32_t whole = (int32_t)((uint32_t)(int32_t)(x * 0x1p21f) * extent - 0xff000) >> 13;
        const int32_t high = whole > 0 ? whole : 0, at = high < last ? high : last, next = (at >> 8) + 1;
        to->weight[i] = at & 255;
        to->first[i] = at >> 8;
        to->second[i] = next < n ? next : n - 1;
    }
}

/* … and where they repeat, if all lanes that execute are this near. */
static void find_wrapped(const float *restrict c, uint32_t extent, axes *restrict to) {
    const int32_t n = (int32_t)extent;
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        const float high = c[i] < FAR ? c[i] : 0, x = (high > -FAR ? high : 0) * 0x1p21f;
        const int32_t cut = (int32_t)x, fraction = (cut - ((float)cut > x ? 1 : 0)) & 0x1fffff;
        const int32_t at = (int32_t)((uint32_t)fraction * extent - 0xff000) >> 13, index = at >> 8, next = index + 1;
        to->weight[i] = at & 255;
        to->first[i] = index < 0 ? n - 1 : index;
        to->second[i] = next < n ? next : 0;
    }
}

static bool is_near(const float *restrict c, uint32_t lanes) {
    for (uint32_t i = 0; i < AT_A_TIME; i++)
        if (lanes >> i & 1 && !(c[i] < FAR && c[i] > -FAR)) return false;
    return true;
}

/* False: find_axis must do it. */
static bool find_small(const float *c, uint32_t extent, bool wraps, uint32_t lanes, axes *to) {
    if (!wraps) find_clamped(c, extent, to);
    else if (is_near(c, lanes)) find_wrapped(c, extent, to);
    else return false;
    return true;
}

/* Numbers are exact in f64: 22 bits and more of a fraction times an extent. A NaN compares as nothing and becomes 0. */
static void find_axis(const float *restrict c, uint32_t extent, bool normalized, bool wraps, axes *restrict to) {
    const double unit = extent > 65536 ? 1 << 23 : extent > 8192 ? 1 << 22 : 1 << 21;
    const double scale = normalized ? extent * (256.0 / unit) : 256, far = 1 << 24, last = 256.0 * (extent - 1);
    const int32_t n = (int32_t)extent;
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        double x = c[i];
        x = x < far ? x : x >= far ? far : 0;
        x = x > -far ? x : -far;
        if (normalized) x = __builtin_floor(x * unit);
        if (wraps) x -= __builtin_floor(x / unit) * unit;
        double at = __builtin_floor(x * scale - 127.5);
        const double low = at > 0 ? at : 0, limited = low < last ? low : last;
        at = wraps ? at : limited;
        const int32_t whole = (int32_t)at, index = whole >> 8;
        const int32_t next = index + 1;
        to->weight[i] = whole & 255;
        to->first[i] = index < 0 ? n - 1 : index;
        to->second[i] = next < n ? next : wraps ? 0 : n - 1;
    }
}

/* ---- Texels ------------------------------------------------------------------------------------------------------ */

/* Four channels of 8 bits of four texels each, by weights that add up to 256: sums of 16 bits, as numbers up to 1. */
static void blend(const uint32_t texels[4][AT_A_TIME], const int32_t *restrict x, const int32_t *restrict y,
                  float results[4][AT_A_TIME]) {
    for (uint32_t channel = 0; channel < 4; channel++) {
        const uint32_t shift = 8 * channel;
        for (uint32_t i = 0; i < AT_A_TIME; i++) {
            const int32_t both = (x[i] * y[i] + 128) >> 8,
                          weights[4] = {256 - x[i] - y[i] + both, x[i] - both, y[i] - both, both};
            int32_t sum = 0;
            for (uint32_t k = 0; k < 4; k++) sum += weights[k] * (int32_t)(texels[k][i] >> shift & 255);
            results[channel][i] = (float)((sum * 257 + 128) >> 8) / 65535.0f;
        }
    }
}

typedef uint32_t __attribute__((may_alias, aligned(1))) any_texel;

/* Of lanes that do not execute, too: whatever their coordinates are, they were brought into the image. */
static void gather(const any_texel *restrict from, uint32_t row, const axes *restrict x, const axes *restrict y,
                   uint32_t texels[4][AT_A_TIME]) {
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        const int32_t upper = y->first[i] * (int32_t)row, lower = y->second[i] * (int32_t)row;
        texels[0][i] = from[upper + x->first[i]];
        texels[1][i] = from[upper + x->second[i]];
        texels[2][i] = from[lower + x->first[i]];
        texels[3][i] = from[lower + x->second[i]];
    }
}

/* ---- The step ---------------------------------------------------------------------------------------------------- */

static bool is_usual_form(lw_texture_form form) {
    return form.dimensions == 2 && !form.is_array && !form.is_cube && !form.has_sample && !form.is_integer &&
           !form.has_offsets && !form.has_compare && form.lookup <= LW_LOOKUP_base && form.result == LW_RESULT_f32;
}

static bool is_usual(const lw_sampled *sampled) {
    const lw_texture *t = sampled->texture;
    const lw_sampler *s = sampled->sampler;
    for (uint32_t k = 0; k < 2; k++)
        if (s->address[k] != LW_ADDRESS_CLAMP && s->address[k] != LW_ADDRESS_WRAP) return false;
    if (t->planes[0].width > LONG || t->planes[0].height > LONG) return false;
    if (t->image_bytes > INT32_MAX || t->planes[0].row_pitch % 4) return false;
    return t->levels == 1 && t->type == LW_TEXEL_u8 && t->channels == 4 && s->normalized_floats && !s->srgb &&
           s->filter == LW_FILTER_LINEAR;
}

/* All executing lanes have the handle of the first. */
static bool is_one_handle(const lw_gang *gang, uint32_t slot) {
    const uint64_t *handles = LW_SLOT(gang, uint64_t, slot), first = handles[lw_mask_first(gang->mask)];
    uint64_t differs = 0;
    for (uint32_t at = gang->begin; at < gang->lanes; at += LW_WARP_LANES) {
        const uint32_t lanes = lw_mask_bits(&gang->mask, at);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) differs |= lanes >> i & 1 ? handles[at + i] ^ first : 0;
    }
    return !differs;
}

static void look_up(lw_gang *gang, const lw_sampled *sampled, const uint32_t *slots, uint32_t at, uint32_t lanes) {
    const lw_image_plane *plane = &sampled->texture->planes[0];
    const lw_sampler *s = sampled->sampler;
    const bool normalized = s->normalized_coords;
    axes x, y;
    uint32_t texels[4][AT_A_TIME];
    float results[4][AT_A_TIME];
    const uint32_t extents[2] = {plane->width, plane->height};
    axes *const found[2] = {&x, &y};
    for (uint32_t k = 0; k < 2; k++) {
        const float *c = LW_SLOT(gang, float, slots[4 + k]) + at;
        const bool wraps = normalized && s->address[k] == LW_ADDRESS_WRAP;
        const bool is_found = normalized && extents[k] <= SMALL && find_small(c, extents[k], wraps, lanes, found[k]);
        if (!is_found) find_axis(c, extents[k], normalized, wraps, found[k]);
    }
    gather((const any_texel *)(sampled->texels + plane->offset), (uint32_t)(plane->row_pitch / 4), &x, &y, texels);
    blend((const uint32_t(*)[AT_A_TIME])texels, x.weight, y.weight, results);
    for (uint32_t channel = 0; channel < 4; channel++) {
        float *slot = LW_SLOT(gang, float, slots[channel]) + at;
        for (uint32_t i = 0; i < AT_A_TIME; i++) slot[i] = lanes >> i & 1 ? results[channel][i] : slot[i];
    }
}

const lw_op *LW_AT_LEVEL(lw_step_texture)(lw_gang *gang, const lw_op *op) {
    lw_sampled sampled;
    const bool may_be_usual = is_usual_form(lw_texture_unpack(op->c)) && op->b == LW_NO_SLOT &&
                              is_one_handle(gang, op->a);
    if (!may_be_usual) return lw_texture_any(gang, op);
    if (!lw_texture_find(gang, op, lw_mask_first(gang->mask), &sampled)) return NULL;
    if (!is_usual(&sampled)) return lw_texture_any(gang, op);
    const uint32_t *slots = gang->frame->code->slots + op->d;
    for (uint32_t at = gang->begin; at < gang->lanes; at += AT_A_TIME)
        look_up(gang, &sampled, slots, at, lw_mask_bits(&gang->mask, at));
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, LW_MASK_ALL);
    return op + 1;
}
