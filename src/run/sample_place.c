/* sample_place.c: which texels a lookup takes: coordinates, address modes, weights, levels, faces of cubes. */
#include "run/sample.h"

#include "lanewise/lane/float.h"

#include <math.h>

/* ---- One axis ---------------------------------------------------------------------------------------------------- */

enum { OUTSIDE = -1 };

/* Along one axis: two neighbours and the weight of the upper one, of 256. One with weight 0 is the only one. */
typedef struct axis {
    int32_t index[2]; /* OUTSIDE: border */
    uint32_t weight;
} axis;

static int32_t limit(int64_t index, uint32_t extent) {
    return index < 0 ? 0 : index >= extent ? (int32_t)extent - 1 : (int32_t)index;
}

/* An index of any size, by address mode. */
static int32_t addressed(int64_t index, uint32_t extent, lw_address_mode mode) {
    const int64_t n = extent;
    if (mode == LW_ADDRESS_BORDER) return index < 0 || index >= n ? OUTSIDE : (int32_t)index;
    if (mode == LW_ADDRESS_CLAMP) return limit(index, extent);
    const int64_t period = mode == LW_ADDRESS_WRAP ? n : 2 * n;
    int64_t at = index % period;
    if (at < 0) at += period;
    return (int32_t)(at < n ? at : 2 * n - 1 - at);
}

/* How many bits of a fraction normalised coordinates have. */
static uint32_t fraction_bits(uint32_t extent) { return extent > 65536 ? 23 : extent > 8192 ? 22 : 21; }

/* A coordinate in texels, times 2^32; what is not finite or far away is somewhere outside. */
static int64_t in_texels(float c, uint32_t extent, lw_address_mode mode, bool normalized) {
    const double far = 1 << 30; /* more texels than any row has */
    double x = c;
    if (isnan(x) || fabs(x) < 0x1p-126) return 0;
    if (!normalized) {
        if (fabs(x) > far) x = x < 0 ? -far : far;
        return (int64_t)floor(x * 0x1p32);
    }
    if (mode == LW_ADDRESS_WRAP || mode == LW_ADDRESS_MIRROR) x = isinf(x) ? 0 : fmod(x, 2);
    else if (fabs(x) > 8) x = x < 0 ? -8 : 8;
    const uint32_t bits = fraction_bits(extent);
    return (int64_t)ldexp(floor(ldexp(x, (int)bits)), 32 - (int)bits) * extent;
}

static axis point(int64_t at, int32_t offset, uint32_t extent, lw_address_mode mode) {
    const int32_t index = addressed((at >> 32) + offset, extent, mode);
    return (axis){{index, index}, 0};
}

static axis on_face(int64_t at) {
    const int64_t x = (at - (INT64_C(1) << 31) + (INT64_C(1) << 23)) >> 24;
    return (axis){{(int32_t)(x >> 8), (int32_t)(x >> 8) + 1}, x & 255};
}

static axis linear(int64_t at, int32_t offset, uint32_t extent, lw_address_mode mode, bool gathers) {
    int64_t x = ((at - (INT64_C(1) << 31) + (INT64_C(1) << 23)) >> 24) + (int64_t)offset * 256;
    const int64_t last = (int64_t)(extent - 1) << 8;
    if (mode == LW_ADDRESS_CLAMP && !gathers) x = x < 0 ? 0 : x > last ? last : x;
    axis a = {{addressed(x >> 8, extent, mode), addressed((x >> 8) + 1, extent, mode)}, x & 255};
    return a;
}

/* ---- Layers and faces -------------------------------------------------------------------------------------------- */

static uint32_t layer_of(uint32_t layer, uint32_t layers) { return layer >= layers ? layers - 1 : layer; }

static float number(float x) { return isnan(x) || fabsf(x) < 0x1p-126f ? 0 : x; }

/* Of the largest component, of z where that is as large as another, of y where that is as large as x. A direction that
 * is none meets the middle of +z. */
uint32_t lw_sample_face(float c[3]) {
    const float x = number(c[0]), y = number(c[1]), z = number(c[2]);
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float s, t, m;
    uint32_t face;
    if (az >= ax && az >= ay) face = z < 0 ? 5 : 4, s = z < 0 ? -x : x, t = -y, m = az;
    else if (ay >= ax) face = y < 0 ? 3 : 2, s = x, t = y < 0 ? -z : z, m = ay;
    else face = x < 0 ? 1 : 0, s = x < 0 ? z : -z, t = -y, m = ax;
    const bool is_direction = isfinite(x) && isfinite(y) && isfinite(z) && m > 0;
    const float by = 1 / m;
    c[0] = is_direction ? (s * by + 1) * 0.5f : 0.5f;
    c[1] = is_direction ? (t * by + 1) * 0.5f : 0.5f;
    return is_direction ? face : 4;
}

/* A texel one beyond an edge of a face is one of the face there: that which the direction to its middle meets. */
static uint32_t over_the_edge(uint32_t face, int32_t index[2], uint32_t extent) {
    const double s = (2.0 * index[0] + 1) / extent - 1, t = (2.0 * index[1] + 1) / extent - 1;
    const double directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    float c[3] = {(float)directions[face][0], (float)directions[face][1], (float)directions[face][2]};
    const uint32_t other = lw_sample_face(c);
    for (uint32_t k = 0; k < 2; k++) index[k] = limit((int64_t)floorf(c[k] * (float)extent), extent);
    return other;
}

/* ---- Taps -------------------------------------------------------------------------------------------------------- */

typedef struct plane_place {
    const lw_image_plane *plane;
    uint32_t texel_bytes, layer;
    bool seamless; /* a cube: texels beyond the edge are those of another face */
    const char *texels;
} plane_place;

static const char *texel_at(const plane_place *p, int32_t x, int32_t y, int32_t z) {
    if (!p->seamless && (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE)) return NULL;
    uint32_t layer = p->layer + (uint32_t)z;
    if (p->seamless && ((uint32_t)x >= p->plane->width || (uint32_t)y >= p->plane->height)) {
        int32_t index[2] = {x, y};
        layer = layer - layer % 6 + over_the_edge(layer % 6, index, p->plane->width);
        x = index[0], y = index[1];
    }
    return p->texels + p->plane->offset + (uint64_t)layer * p->plane->layer_pitch + (uint64_t)y * p->plane->row_pitch +
           (uint64_t)x * p->texel_bytes;
}

/* A weight is split by x, then y, rounded half up: of the upper y for the upper x, of the lower y for the lower x. */
static void split(uint32_t total, const axis a[3], uint32_t parts[2][2]) {
    const uint32_t high = (total * a[0].weight + 128) >> 8, y = a[1].weight;
    parts[1][1] = (high * y + 128) >> 8;
    parts[1][0] = high - parts[1][1];
    parts[0][0] = ((total - high) * (256 - y) + 128) >> 8;
    parts[0][1] = total - high - parts[0][0];
}

/* Three faces meet at a corner, and a fourth texel is none: the others have its weight. */
static bool is_corner(const plane_place *p, const axis a[3], uint32_t x, uint32_t y) {
    return p->seamless && (uint32_t)a[0].index[x] >= p->plane->width && (uint32_t)a[1].index[y] >= p->plane->height;
}

/* That of two of the others; the opposite one has the rest. */
static uint32_t third_of(uint32_t weight) { return (weight + 1) / 3; }

static void share_corner(const plane_place *p, const axis a[3], uint32_t parts[2][2]) {
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t x = k & 1, y = k >> 1, third = third_of(parts[x][y]);
        if (!is_corner(p, a, x, y)) continue;
        parts[!x][y] += third;
        parts[x][!y] += third;
        parts[!x][!y] += parts[x][y] - 2 * third;
        parts[x][y] = 0;
    }
}

static void end_quad(lw_taps *taps) {
    if (taps->count > (taps->quads ? taps->ends[taps->quads - 1] : 0)) taps->ends[taps->quads++] = taps->count;
}

static void weigh(const plane_place *p, const axis a[3], uint32_t total, lw_taps *taps) {
    const uint32_t front = (total * (256 - a[2].weight) + 128) >> 8;
    for (uint32_t z = 0; z < 1u + (a[2].weight != 0); z++) {
        uint32_t parts[2][2];
        split(z ? total - front : front, a, parts);
        share_corner(p, a, parts);
        for (uint32_t k = 0; k < 4; k++)
            if ((!(k >> 1) || a[0].weight) && (!(k & 1) || a[1].weight))
                taps->at[taps->count++] = (struct lw_tap){
                    texel_at(p, a[0].index[k >> 1], a[1].index[k & 1], a[2].index[z]), (int32_t)parts[k >> 1][k & 1]};
        end_quad(taps);
    }
}

static bool is_wrapping(const lw_sampler *s, uint32_t k) {
    return s->address[k] == LW_ADDRESS_WRAP || s->address[k] == LW_ADDRESS_MIRROR;
}

static lw_address_mode mode_of(const lw_sampler *s, uint32_t k) {
    return is_wrapping(s, k) && !s->normalized_coords ? LW_ADDRESS_CLAMP : s->address[k];
}

static axis axis_of(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, uint32_t k, uint32_t extent,
                    bool is_linear) {
    const lw_sampler *s = sampled->sampler;
    const lw_address_mode mode = mode_of(s, k);
    const int64_t at = in_texels(spot->c[k], extent, mode, s->normalized_coords);
    if (form.is_cube && is_linear && s->seamless_cube) return on_face(at);
    return is_linear ? linear(at, spot->offsets[k], extent, mode, form.lookup == LW_LOOKUP_gather)
                     : point(at, spot->offsets[k], extent, mode);
}

static void find_axes(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, plane_place *p,
                      bool is_linear, axis axes[3]) {
    const lw_texture *t = sampled->texture;
    const uint32_t extents[3] = {p->plane->width, p->plane->height, p->plane->depth},
                   dimensions = form.is_cube ? 2 : form.dimensions;
    lw_spot here = *spot;
    p->layer = form.is_array ? layer_of(spot->layer, form.is_cube ? t->layers / 6 : t->layers) : 0;
    if (form.is_cube) p->layer = 6 * p->layer + lw_sample_face(here.c);
    p->seamless = form.is_cube && is_linear && sampled->sampler->seamless_cube;
    for (uint32_t k = 0; k < 3; k++)
        axes[k] = k < dimensions || (k == 1 && dimensions == 1 && !form.is_array)
                      ? axis_of(sampled, form, &here, k, k < dimensions ? extents[k] : 1, is_linear)
                      : (axis){0};
}

static plane_place place_of(const lw_sampled *sampled, uint32_t level) {
    const lw_texture *t = sampled->texture;
    return (plane_place){&t->planes[level < t->levels ? level : t->levels - 1], t->texel_bytes, 0, false,
                         sampled->texels};
}

/* By integers: one texel, whatever the filter, or none, whatever the address mode. A texture of one dimension has none
 * at all, unless it is linear memory. */
static void fetch(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, plane_place *p, uint32_t weight,
                  lw_taps *taps) {
    const lw_texture *t = sampled->texture;
    const uint32_t extents[3] = {p->plane->width, p->plane->height, p->plane->depth};
    int64_t at[3] = {0};
    bool inside = form.dimensions > 1 || form.is_array || t->image.kind == LW_IMAGE_LINEAR;
    for (uint32_t k = 0; k < form.dimensions; k++) {
        at[k] = (int64_t)spot->i[k] + spot->offsets[k];
        inside &= at[k] >= 0 && at[k] < extents[k];
    }
    if (form.is_array) {
        p->layer = spot->layer;
        inside &= p->layer < t->layers;
    }
    const uint32_t samples = t->image.samples ? t->image.samples : 1; /* of a texel, one behind the other */
    inside &= spot->sample < samples;
    if (inside) {
        const char *texel = texel_at(p, (int32_t)at[0], (int32_t)at[1], (int32_t)at[2]) +
                            spot->sample * (p->texel_bytes / samples);
        taps->at[taps->count++] = (struct lw_tap){texel, (int32_t)weight};
    }
    end_quad(taps);
}

void lw_sample_taps(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, uint32_t level,
                    uint32_t weight, lw_taps *taps) {
    plane_place p = place_of(sampled, level);
    axis axes[3];
    if (form.is_integer) {
        fetch(sampled, form, spot, &p, weight, taps);
        return;
    }
    const bool is_linear = sampled->sampler->filter == LW_FILTER_LINEAR;
    find_axes(sampled, form, spot, &p, is_linear, axes);
    weigh(&p, axes, weight, taps);
}

void lw_sample_gather(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, lw_gathered *gathered) {
    static const uint8_t xs[4] = {0, 1, 1, 0}, ys[4] = {1, 1, 0, 0}; /* round the four */
    plane_place p = place_of(sampled, 0);
    axis axes[3];
    find_axes(sampled, form, spot, &p, true, axes);
    for (uint32_t k = 0; k < 4; k++)
        gathered->texels[k] = texel_at(&p, axes[0].index[xs[k]], axes[1].index[ys[k]], axes[2].index[0]);
    for (gathered->corner = 0; gathered->corner < 4; gathered->corner++)
        if (is_corner(&p, axes, xs[gathered->corner], ys[gathered->corner])) break;
    gathered->is_filtered = p.seamless;
    const uint32_t third = third_of(256);
    gathered->mean = (lw_taps){.count = 3, .quads = 1, .ends = {3}};
    for (uint32_t k = 1; k < 4; k++)
        gathered->mean.at[k - 1] =
            (struct lw_tap){gathered->texels[(gathered->corner + k) & 3], (int32_t)(k == 2 ? 256 - 2 * third : third)};
}
