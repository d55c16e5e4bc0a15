/* sample_level.c: which level of a mipmap a lookup takes, given or by derivatives.   derivatives → how long → level
 *
 * How long derivatives are was found out by a search for the lengths at which an H200 goes on to the next 256th of a
 * level (docs/textures.md): in numbers of ten bits, by sums that stand for lengths. */
#include "run/sample.h"

#include "lanewise/lane/float.h"

#include <math.h>

/* ---- Numbers of ten bits ----------------------------------------------------------------------------------------- */

enum { FRACTION = 9 }; /* bits behind the leading one, of 52 */

static int exponent_of(double x) { return (int)(lw_bits_f64_(x) >> 52 & 2047) - 1023; }
static double power_of_two(int exponent) { return lw_from_bits_f64_((uint64_t)(exponent + 1023) << 52); }
static double cut(double x) { return lw_from_bits_f64_(lw_bits_f64_(x) >> (52 - FRACTION) << (52 - FRACTION)); }

/* The smaller one has a bit more while they are added. */
static double sum_of(double x, double y) {
    const bool is_first = fabs(x) >= fabs(y);
    const double larger = is_first ? x : y, smaller = is_first ? y : x;
    if (smaller == 0) return larger;
    const int last = exponent_of(larger) - FRACTION - 1;
    return cut(larger + (double)(int32_t)(smaller * power_of_two(-last)) * power_of_two(last));
}

/* Rounded half up at the last of ten bits that a product of the smallest number would have. */
static double times(double x, double factor) {
    if (x == 0) return 0;
    const int last = exponent_of(x) - FRACTION, of_factor = exponent_of(factor);
    const double exact = x * power_of_two(-last) * (factor * power_of_two(-of_factor));
    return cut((double)(int32_t)(exact + 0.5) * power_of_two(last + of_factor));
}

/* The bits of a product below an eighth are not made, and seven eighths are added for them. */
static double in_texels(double x, uint32_t extent) {
    if (x == 0) return 0;
    const int last = exponent_of(x) - FRACTION, of_extent = exponent_of(extent);
    const uint32_t a = (uint32_t)(fabs(x) * power_of_two(-last)),
                   b = (uint32_t)(extent * power_of_two(FRACTION - of_extent));
    uint32_t product = 7;
    for (uint32_t k = 0; k <= FRACTION; k++) product += (b >> k & 1) * ((a << k) >> 6);
    return copysign(cut((product >> 3) * power_of_two(last + of_extent)), x);
}

/* ---- How long ---------------------------------------------------------------------------------------------------- */

typedef struct vector {
    double at[3];
} vector;

static void order(double *more, double *less) {
    const double most = fmax(*more, *less), least = fmin(*more, *less);
    *more = most, *less = least;
}

/* About the length of a vector, times a factor. */
static double length_of(vector v, double factor) {
    double most = fabs(v.at[0]), middle = fabs(v.at[1]), least = fabs(v.at[2]);
    order(&most, &middle);
    order(&middle, &least);
    order(&most, &middle);
    return sum_of(times(most, factor), sum_of(times(middle, factor * 11 / 32), times(least, factor / 4)));
}

/* About the longer axis of the ellipse that two derivatives make of a circle. */
static double longest_of(vector x, vector y) {
    vector both, apart;
    for (uint32_t k = 0; k < 3; k++) {
        both.at[k] = sum_of(x.at[k], y.at[k]);
        apart.at[k] = sum_of(x.at[k], -y.at[k]);
    }
    return fmax(fmax(length_of(x, 1), length_of(y, 1)), fmax(length_of(both, 11.0 / 16), length_of(apart, 11.0 / 16)));
}

/* In 256ths: the logarithm of eight bits of a number that is larger by this than the bits themselves. */
static int32_t level_of(double length) {
    static const uint8_t larger[256] = {
        0,  1,  2,  2,  2,  3,  3,  4,  4,  4,  5,  5,  6,  6,  6,  7,  7,  7,  8,  8,  8,  9,  9,  9,  10, 10,
        10, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15, 16, 16, 16, 16, 16, 17,
        17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 20, 20, 20, 21, 21,
        21, 21, 21, 21, 21, 21, 21, 21, 21, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22,
        22, 22, 22, 22, 22, 22, 22, 22, 23, 23, 23, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22,
        22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 20, 20, 20,
        20, 20, 20, 20, 20, 20, 19, 19, 19, 19, 19, 19, 19, 19, 18, 18, 18, 18, 18, 18, 18, 18, 17, 17, 17, 17,
        17, 17, 16, 16, 16, 16, 16, 16, 15, 15, 15, 15, 15, 15, 14, 14, 14, 14, 14, 13, 13, 13, 13, 13, 12, 12,
        12, 12, 12, 11, 11, 11, 11, 11, 10, 10, 10, 10, 9,  9,  9,  9,  9,  8,  8,  8,  8,  7,  7,  7,  7,  6,
        6,  6,  6,  5,  5,  5,  5,  4,  4,  4,  4,  3,  3,  3,  3,  2,  2,  2,  1,  1,  1,  0,
    };
    if (!(length > 0)) return -(1 << 20);
    const int32_t bits = (int32_t)(lw_bits_f64_(length) >> 44 & 255);
    return exponent_of(length) * 256 + bits + larger[bits];
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* What is no number is 0, also among the coordinates that a derivative leads to. */
static float number(float x) { return isnan(x) || fabsf(x) < 0x1p-126f ? 0 : isinf(x) ? copysignf(0x1p120f, x) : x; }

/* From here on nothing is near, not even what is as far: recorded are 2^63, which is not yet, and 2^99. */
static const double far_away = 0x1p90;

static double between(float from, float derivative) {
    const double first = number(from), second = number(from + derivative);
    return fabs(first) < far_away ? second - first : far_away;
}

/* ---- Derivatives on cubes ---------------------------------------------------------------------------------------- */

/* Where a direction meets the plane of a face, from -1 to 1. */
typedef struct place {
    double at[2];
    enum { ON_FACE, OVER_S, OVER_T, OPPOSITE } where;
    double beyond; /* how far over the edge, on the face there */
} place;

/* What is no number is 0, and no direction the middle of +z, as lw_sample_face has it. */
static void clean(const float given[3], float c[3]) {
    for (uint32_t k = 0; k < 3; k++) c[k] = isnan(given[k]) || fabsf(given[k]) < 0x1p-126f ? 0 : given[k];
    if (isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2]) && (c[0] != 0 || c[1] != 0 || c[2] != 0)) return;
    c[0] = c[1] = 0, c[2] = 1;
}

static uint32_t face_of(const float direction[3]) {
    float c[3] = {direction[0], direction[1], direction[2]};
    return lw_sample_face(c);
}

static place place_on(uint32_t face, const float direction[3]) {
    /* Along which of x, y and z a face's s and t and its middle are. */
    static const struct {
        uint8_t s, t, out;
        int8_t s_sign, t_sign, out_sign;
    } faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1}, {0, 2, 1, 1, 1, 1},
                  {0, 2, 1, 1, -1, -1}, {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};
    const uint32_t met = face_of(direction), axis = faces[met].out;
    const float by = 1 / fabsf(direction[axis]);
    const float s = direction[faces[face].s] * by, t = direction[faces[face].t] * by,
                out = direction[faces[face].out] * by;
    return (place){.at = {s * faces[face].s_sign, t * faces[face].t_sign},
                   .where = met == face             ? ON_FACE
                            : axis == faces[face].s ? OVER_S
                            : axis == faces[face].t ? OVER_T
                                                    : OPPOSITE,
                   .beyond = 1 - (double)out * faces[face].out_sign};
}

/* Over an edge it is as far as to the edge and on. */
static double way(const place *from, const place *to, uint32_t k, uint32_t extent) {
    const double first = from->at[k], second = to->at[k];
    if (to->where != (k ? OVER_T : OVER_S)) return in_texels((second - first) / 2, extent);
    const double edge = copysign(1, second);
    return edge * sum_of(in_texels((1 - edge * first) / 2, extent), in_texels(to->beyond / 2, extent));
}

static double longest_on_cube(const lw_spot *spot, const float derivatives[6], uint32_t extent) {
    float from[3], there[3], to[3];
    place places[3];
    vector ways[2];
    clean(spot->c, from);
    const uint32_t face = face_of(from);
    places[0] = place_on(face, from);
    for (uint32_t d = 0; d < 2; d++) {
        for (uint32_t k = 0; k < 3; k++) there[k] = spot->c[k] + derivatives[3 * d + k];
        clean(there, to);
        places[d + 1] = place_on(face, to);
        ways[d] = (vector){{way(&places[0], &places[d + 1], 0, extent), way(&places[0], &places[d + 1], 1, extent), 0}};
    }
    if (places[1].where == OPPOSITE || places[2].where == OPPOSITE) return far_away;
    if (places[1].where || places[2].where) return fmax(length_of(ways[0], 1), length_of(ways[1], 1));
    return longest_of(ways[0], ways[1]);
}

/* ---- The level --------------------------------------------------------------------------------------------------- */

/* Derivatives of three coordinates are what is between two lookups. */
static double longest(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, const uint32_t *words) {
    const lw_image_plane *plane = &sampled->texture->planes[0];
    const uint32_t extents[3] = {plane->width, plane->height, plane->depth}, count = form.dimensions;
    float given[6];
    vector v[2] = {{{0}}};
    for (uint32_t k = 0; k < 2 * count; k++) given[k] = lw_from_bits_f32_(words[k]);
    if (form.is_cube) return longest_on_cube(spot, given, plane->width);
    for (uint32_t k = 0; k < 2 * count; k++)
        v[k / count].at[k % count] =
            in_texels(count < 3 ? number(given[k]) : between(spot->c[k % count], given[k]), extents[k % count]);
    return longest_of(v[0], v[1]);
}

/* Limits and biases, too, may be no numbers. */
static int32_t in_256ths(double level) {
    const double most = 1 << 20;
    if (isnan(level)) return 0;
    return (int32_t)((level > most ? most : level < -most ? -most : level) * 256);
}

static int32_t asked(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, const uint32_t *lod) {
    if (form.lookup == LW_LOOKUP_level)
        return in_256ths(form.is_integer ? (double)(int32_t)lod[0] : lw_from_bits_f32_(lod[0]));
    if (form.lookup != LW_LOOKUP_grad) return 0;
    return level_of(longest(sampled, form, spot, lod));
}

uint32_t lw_sample_level(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, const uint32_t *lod) {
    const lw_sampler *s = sampled->sampler;
    if (sampled->texture->levels == 1) return 0;
    const int32_t last = (int32_t)(sampled->texture->levels - 1) << 8, least = in_256ths(s->level_min),
                  most = in_256ths(s->level_max);
    const bool has_bias = form.lookup == LW_LOOKUP_level || form.lookup == LW_LOOKUP_grad;
    int32_t at = asked(sampled, form, spot, lod) + (has_bias ? in_256ths(s->level_bias) : 0);
    if (at > most) at = most;
    if (at < least) at = least;
    if (at > last) at = last;
    if (at < 0) at = 0;
    return s->mip_filter == LW_FILTER_POINT ? (uint32_t)(at + 128) & ~255u : (uint32_t)at;
}
