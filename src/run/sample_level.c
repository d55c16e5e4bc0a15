/* sample_level.c: which level of a mipmap a lookup takes, given or by derivatives.   derivatives → how long → level
 *
 * How long derivatives are was found out by a search for the lengths at which an H200 goes on to the next 256th of a
 * level (docs/textures.md): in numbers of ten bits, by sums that stand for lengths. */
#include "run/sample.h"

#include "lanewise/lane/float.h"

#include <math.h>

/* ---- Numbers of ten bits ------------------------------------------------------------------------------------------
 */

enum { TEN = 10 };

static double cut(double x) {
    int exponent;
    const double fraction = frexp(x, &exponent);
    return ldexp(trunc(ldexp(fraction, TEN)), exponent - TEN);
}

/* The smaller one has a bit more while they are added. */
static double sum_of(double x, double y) {
    int exponent;
    const bool is_first = fabs(x) >= fabs(y);
    frexp(is_first ? x : y, &exponent);
    const double smaller = is_first ? y : x,
                 aligned = ldexp(trunc(ldexp(smaller, TEN + 1 - exponent)), exponent - TEN - 1);
    return cut((is_first ? x : y) + aligned);
}

/* Rounded half up at the last of ten bits that a product of the smallest number would have. */
static double times(double x, double factor) {
    int of_x, of_factor;
    const double fraction = frexp(x, &of_x), by = 2 * frexp(factor, &of_factor);
    return cut(ldexp(floor(ldexp(fraction, TEN) * by + 0.5), of_x - TEN + of_factor - 1));
}

/* The bits of a product below an eighth are not made, and seven eighths are added for them. */
static double in_texels(double x, uint32_t extent) {
    int of_x, of_extent;
    const uint32_t a = (uint32_t)fabs(ldexp(frexp(cut(x), &of_x), TEN)),
                   b = (uint32_t)ldexp(frexp(extent, &of_extent), TEN);
    uint32_t product = 7;
    for (uint32_t k = 0; k < TEN; k++)
        if (b >> k & 1) product += (a << k) >> 6;
    return a ? copysign(cut(ldexp(product >> 3, of_x + of_extent - TEN - 1)), x) : 0;
}

/* ---- How long -----------------------------------------------------------------------------------------------------
 */

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
    int exponent;
    if (!(length > 0)) return -(1 << 20);
    const int32_t bits = (int32_t)ldexp(frexp(length, &exponent), 9) & 255;
    return (exponent - 1) * 256 + bits + larger[bits];
}

/* ---- Derivatives --------------------------------------------------------------------------------------------------
 */

/* What is no number is 0, also among the coordinates that a derivative leads to. */
static float number(float x) { return isnan(x) || fabsf(x) < 0x1p-126f ? 0 : isinf(x) ? copysignf(0x1p120f, x) : x; }

/* Between a lookup and another one; where both are farther away than this it is as if nothing was near. */
static double between(float from, float derivative) {
    const double far = 0x1p90; /* recorded: 2^63 is not, 2^99 is */
    const double first = number(from), second = number(from + derivative);
    return fabs(first) < far ? second - first : far;
}

/* On the plane of a face, from -1 to 1; beyond its edges lie those beside it, unfolded. */
static void on_plane(uint32_t face, const float direction[3], double place[2]) {
    /* What a direction is along a face's s and t and its middle: 0, 1 and 2 are x, y and z. */
    static const struct {
        uint8_t s, t, out;
        int8_t s_sign, t_sign, out_sign;
    } faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1}, {0, 2, 1, 1, 1, 1},
                  {0, 2, 1, 1, -1, -1}, {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};
    float c[3] = {direction[0], direction[1], direction[2]};
    const uint32_t met = lw_sample_face(c), beside = faces[met].out;
    const float by = 1 / fabsf(direction[faces[met].out]);
    double at[3];
    for (uint32_t k = 0; k < 3; k++) at[k] = (double)(direction[k] * by);
    const double s = at[faces[face].s] * faces[face].s_sign, t = at[faces[face].t] * faces[face].t_sign,
                 out = at[faces[face].out] * faces[face].out_sign;
    place[0] = beside == faces[face].s ? copysign(2 - out, s) : s;
    place[1] = beside == faces[face].t ? copysign(2 - out, t) : t;
}

static bool is_direction(const float c[3]) {
    return isfinite(c[0]) && isfinite(c[1]) && isfinite(c[2]) && (c[0] != 0 || c[1] != 0 || c[2] != 0);
}

static vector on_cube(const float from[3], const float derivative[3], uint32_t extent) {
    float to[3], c[3] = {from[0], from[1], from[2]};
    double places[2][2];
    for (uint32_t k = 0; k < 3; k++) to[k] = from[k] + derivative[k];
    if (!is_direction(from) || !is_direction(to)) return (vector){{0}};
    const uint32_t face = lw_sample_face(c);
    on_plane(face, from, places[0]);
    on_plane(face, to, places[1]);
    return (vector){{in_texels((places[1][0] - places[0][0]) / 2, extent),
                     in_texels((places[1][1] - places[0][1]) / 2, extent), 0}};
}

/* Derivatives of three coordinates are what is between two lookups. */
static vector derivative_of(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot,
                            const uint32_t *words) {
    const lw_image_plane *plane = &sampled->texture->planes[0];
    const uint32_t extents[3] = {plane->width, plane->height, plane->depth};
    float given[3];
    vector v = {{0}};
    for (uint32_t k = 0; k < form.dimensions; k++) given[k] = lw_from_bits_f32_(words[k]);
    if (form.is_cube) return on_cube(spot->c, given, plane->width);
    for (uint32_t k = 0; k < form.dimensions; k++)
        v.at[k] = in_texels(form.dimensions < 3 ? number(given[k]) : between(spot->c[k], given[k]), extents[k]);
    return v;
}

/* ---- The level ----------------------------------------------------------------------------------------------------
 */

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
    const vector x = derivative_of(sampled, form, spot, lod),
                 y = derivative_of(sampled, form, spot, lod + form.dimensions);
    return level_of(longest_of(x, y));
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
