/* texel.c: texels as numbers, and several of them as one. */
#include "run/sample.h"
#include "run/srgb.h"

#include "lanewise/lane/convert_half.h"

#include <limits.h>
#include <math.h>

/* ---- How a texture is read --------------------------------------------------------------------------------------- */

/* Of two channels only the first is, and alpha never. */
static bool is_srgb(const lw_sampled *sampled, uint32_t component) {
    return sampled->sampler->srgb && component < (sampled->texture->channels == 4 ? 3 : 1);
}

static bool is_unit(const lw_sampled *sampled) { /* integers as numbers up to 1 */
    return sampled->sampler->normalized_floats && !lw_texels[sampled->texture->type].is_float;
}

static bool is_integer(const lw_sampled *sampled) {
    return !sampled->sampler->normalized_floats && !lw_texels[sampled->texture->type].is_float;
}

static uint32_t raw(const char *texel, lw_texel_type type, uint32_t component) {
    uint8_t a;
    uint16_t b;
    uint32_t c;
    switch (lw_texels[type].bytes) {
    case 1: memcpy(&a, texel + component, 1); return type == LW_TEXEL_s8 ? (uint32_t)(int8_t)a : a;
    case 2: memcpy(&b, texel + 2 * component, 2); return type == LW_TEXEL_s16 ? (uint32_t)(int16_t)b : b;
    default: memcpy(&c, texel + 4 * component, 4); return c;
    }
}

/* 8-bit integers on 16 bits; the least of signed ones is the one above it. */
static int32_t widened(uint32_t value, lw_texel_type type) {
    switch (type) {
    case LW_TEXEL_u8: return (int32_t)value * 257;
    case LW_TEXEL_s16: return (int32_t)value < -32767 ? -32767 : (int32_t)value;
    default: return (int32_t)value;
    }
}

static float unit(int32_t value, lw_texel_type type) {
    const bool is_signed = lw_texels[type].is_signed;
    return (float)((double)value / (is_signed ? 32767 : 65535));
}

/* From 1 down to the format, of so many bits for 1: four bits more are kept of it, and halves go towards zero. */
static int32_t narrowed(float value, uint32_t bits) {
    const int32_t cut = (int32_t)(fabsf(value) * (float)(1u << (bits + 4))), whole = (cut - (cut >> bits) + 7) >> 4;
    return value < 0 ? -whole : whole;
}

/* A colour of the border is brought into the format; texels that are read as integers have its low bits. */
static uint32_t border(const lw_sampled *sampled, uint32_t component) {
    const lw_texel_type type = sampled->texture->type;
    const lw_texel_row *row = &lw_texels[type];
    float value = sampled->sampler->border[component];
    if (type == LW_TEXEL_f16) return lw_cvt_f16_f32(value, LW_FLOAT_RZ);
    if (!is_unit(sampled)) {
        const uint32_t word = lw_bits_f32_(value);
        return raw((const char *)&word, type, 0);
    }
    if (!(value > (row->is_signed ? -1 : 0))) value = row->is_signed ? -1 : 0;
    if (value > 1) value = 1;
    return (uint32_t)narrowed(value, 8 * row->bytes - row->is_signed);
}

static uint32_t value_of(const lw_sampled *sampled, const char *texel, uint32_t component) {
    return texel ? raw(texel, sampled->texture->type, component) : border(sampled, component);
}

uint32_t lw_texel_read(const lw_sampled *sampled, const char *texel, uint32_t component) {
    const lw_texture *t = sampled->texture;
    if (component >= t->channels) return 0;
    const uint32_t value = value_of(sampled, texel, component);
    if (t->type == LW_TEXEL_f16)
        return (value & 0x7fff) > 0x7c00 ? (value & 0x8000) << 16 | 0x7f800000 | (value & 0x3ff) << 13
                                         : lw_bits_f32_(lw_cvt_f32_f16((uint16_t)value));
    if (!is_unit(sampled)) return value;
    if (is_srgb(sampled, component)) return lw_bits_f32_((float)lw_srgb[value & 255] / 16384);
    if (t->type == LW_TEXEL_s8) return lw_bits_f32_((int32_t)value < -127 ? -1 : (float)((int32_t)value / 127.0));
    return lw_bits_f32_(unit(widened(value, t->type), t->type));
}

/* ---- Several together -------------------------------------------------------------------------------------------- */

/* To this many bits, of which none is below 2^least, halves away from zero. */
static double rounded(double value, int bits, int least) {
    int exponent;
    frexp(value, &exponent);
    const int unit = exponent - bits > least ? exponent - bits : least;
    return ldexp(round(ldexp(value, -unit)), unit);
}

static float to_float(double value) {
    const float f = (float)rounded(value, 24, -149);
    return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

static float to_half(double value) {
    const double r = rounded(value, 11, -24);
    return fabs(r) > 65504 ? (float)copysign(INFINITY, r) : (float)r;
}

typedef enum format { AS_FLOAT, AS_HALF, AS_SRGB } format;

/* With an infinity or a NaN among them, which count without a weight, too. */
static double special_sum(const lw_sampled *sampled, const struct lw_tap *tap, uint32_t count, uint32_t component) {
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        const float value = lw_from_bits_f32_(lw_texel_read(sampled, tap[k].texel, component));
        if (!isfinite(value)) sum += value;
    }
    return sum;
}

/* The texels of a quad are aligned to the largest, and what is below so many bits of it is cut off. */
static double quad_sum(const lw_sampled *sampled, const struct lw_tap *tap, uint32_t count, uint32_t component,
                       format as) {
    static const int bits[] = {[AS_FLOAT] = 28, [AS_HALF] = 15, [AS_SRGB] = 8};
    const int kept = bits[as];
    float values[4];
    int largest = INT_MIN;
    for (uint32_t k = 0; k < count; k++) {
        int exponent;
        values[k] = lw_from_bits_f32_(lw_texel_read(sampled, tap[k].texel, component));
        if (!isfinite(values[k])) return special_sum(sampled, tap, count, component);
        if (as == AS_FLOAT && fabsf(values[k]) < 0x1p-126f) values[k] = copysignf(0, values[k]);
        frexpf(values[k], &exponent);
        if (as == AS_SRGB) exponent += lw_srgb_is_wide(value_of(sampled, tap[k].texel, component));
        if (values[k] != 0 && tap[k].weight && exponent > largest) largest = exponent;
    }
    double sum = -0.0; /* which is what zeros that are negative make */
    const int last = largest > INT_MIN ? largest - kept : 0;
    for (uint32_t k = 0; k < count; k++) sum += ldexp(trunc(ldexp(values[k], -last)), last) * tap[k].weight;
    return sum;
}

static uint32_t blend_floats(const lw_sampled *sampled, const lw_taps *taps, uint32_t component, format as) {
    double sum = -0.0;
    for (uint32_t q = 0, first = 0; q < taps->quads; first = taps->ends[q++])
        sum += quad_sum(sampled, &taps->at[first], taps->ends[q] - first, component, as);
    sum = sum / 256;
    if (isnan(sum)) return as == AS_FLOAT ? 0x7fffffff : 0x7fffe000;
    return lw_bits_f32_(as == AS_FLOAT ? to_float(sum) : to_half(sum));
}

/* Sums of s8 have the least value, too, and go from 127 * 256 to 32767 by repeating their upper bits. */
static int32_t stretched(int32_t sum) {
    const int32_t value = sum + (((sum >> 4) + (sum >> 12) + 4) >> 3);
    return value < -32767 ? -32767 : value;
}

static uint32_t blend_units(const lw_sampled *sampled, const lw_taps *taps, uint32_t component) {
    const lw_texel_type type = sampled->texture->type;
    int32_t sum = 0;
    for (uint32_t k = 0; k < taps->count; k++)
        sum += taps->at[k].weight * widened(value_of(sampled, taps->at[k].texel, component), type);
    return lw_bits_f32_(unit(type == LW_TEXEL_s8 ? stretched(sum) : (sum + 128) >> 8, type));
}

/* Integers that are read as they are: halves go up; of 32 bits the fraction is cut off. */
static uint32_t blend_integers(const lw_sampled *sampled, const lw_taps *taps, uint32_t component) {
    const lw_texel_row *row = &lw_texels[sampled->texture->type];
    int64_t sum = row->bytes == 4 ? 0 : 128;
    for (uint32_t k = 0; k < taps->count; k++) {
        const uint32_t value = value_of(sampled, taps->at[k].texel, component);
        sum += taps->at[k].weight * (row->is_signed ? (int64_t)(int32_t)value : (int64_t)value);
    }
    return (uint32_t)(sum >> 8);
}

static uint32_t blend(const lw_sampled *sampled, const lw_taps *taps, uint32_t component) {
    if (component >= sampled->texture->channels) return 0;
    if (is_srgb(sampled, component)) return blend_floats(sampled, taps, component, AS_SRGB);
    if (is_integer(sampled)) return blend_integers(sampled, taps, component);
    return is_unit(sampled)
               ? blend_units(sampled, taps, component)
               : blend_floats(sampled, taps, component, sampled->texture->type == LW_TEXEL_f16 ? AS_HALF : AS_FLOAT);
}

/* A filter between levels makes a sum of what a single level has, too. */
static bool is_filtered(const lw_sampled *sampled) {
    const lw_sampler *s = sampled->sampler;
    return s->filter == LW_FILTER_LINEAR || (s->mip_filter == LW_FILTER_LINEAR && sampled->texture->levels > 1);
}

void lw_texel_filter(const lw_sampled *sampled, const lw_taps *taps, uint32_t result[4]) {
    const bool filtered = is_filtered(sampled);
    for (uint32_t k = 0; k < 4; k++)
        result[k] = !taps->count ? 0
                    : filtered   ? blend(sampled, taps, k)
                                 : lw_texel_read(sampled, taps->at[0].texel, k);
}

static uint32_t blend_one(const lw_sampled *sampled, const char *texel, uint32_t component) {
    const lw_taps one = {.count = 1, .quads = 1, .ends = {1}, .at = {{texel, 256}}};
    return blend(sampled, &one, component);
}

void lw_texel_gather(const lw_sampled *sampled, const lw_gathered *gathered, uint32_t component, uint32_t result[4]) {
    for (uint32_t k = 0; k < 4; k++)
        result[k] = k == gathered->corner   ? blend(sampled, &gathered->mean, component)
                    : gathered->is_filtered ? blend_one(sampled, gathered->texels[k], component)
                                            : lw_texel_read(sampled, gathered->texels[k], component);
}
