/* cases.h: what record.c asks a GPU for and what the test of textures computes again: images, samplers, kernels and
 * coordinates, all made by formula. Everything is integer arithmetic or single IEEE operations, so both sides have the
 * same bits. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { K_1D = 1, K_2D, K_3D, K_1D_ARRAY, K_2D_ARRAY, K_CUBE, K_CUBE_ARRAY, K_LINEAR = 10, K_PITCHED };
enum { T_U8 = 1, T_S8, T_U16, T_S16, T_U32, T_S32, T_F16, T_F32 };
enum { A_WRAP, A_CLAMP, A_MIRROR, A_BORDER };
enum { F_POINT, F_LINEAR };
enum { D_F32, D_U32, D_S32, D_F16, D_F16X2 };
enum {
    O_TEX,
    O_BASE,
    O_LEVEL,
    O_GRAD,
    O_TLD4_R,
    O_TLD4_G,
    O_TLD4_B,
    O_TLD4_A,
    O_TXQ,
    O_SULD,
    O_SUST_B,
    O_SUST_P,
    O_SURED,
    O_SURED_P,
    O_SUQ
};
enum { X_RANDOM, X_INDEX, X_LEVEL, X_WIDE, X_SPECIAL, X_UNIT, X_FOLD }; /* texels */
enum { C_MIXED, C_INSIDE, C_ISOTROPIC, C_WIDE }; /* coordinates; x and y derivatives of one length; offsets of 9 bits */

typedef struct tx_case {
    char family;
    uint8_t op, dtype, kind, type, channels, address[3], filter, mip, texels, coords, variant;
    bool s32, offsets, compare, norm, nfloat, srgb, seamless, depth;
    uint32_t width, height, deep, layers, levels, lanes;
    float bias, min, max, border[4];
} tx_case;

static inline uint32_t tx_hash(uint32_t x) {
    x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b;
    return x ^ x >> 16;
}
static inline uint32_t tx_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float tx_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint32_t tx_seed(const tx_case *c) { /* of all that says what the case is */
    uint32_t h = 1;
    const uint32_t parts[] = {
        (uint32_t)c->family, c->op,      c->dtype,  c->kind,   c->type,          c->channels,     c->address[0],
        c->address[1],       c->filter,  c->mip,    c->texels, c->coords,        c->variant,      c->s32,
        c->offsets,          c->compare, c->norm,   c->nfloat, c->srgb,          c->seamless,     c->width,
        c->height,           c->deep,    c->layers, c->levels, tx_bits(c->bias), tx_bits(c->min), tx_bits(c->max)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) h = tx_hash(h ^ parts[i]);
    return h;
}

/* Of the results of 64 lanes, or as many words of an image. */
enum { TX_PIECE = 64 * 5 };
static inline uint32_t tx_hash_of(const uint32_t *words, uint32_t count) {
    uint32_t h = 0x811c9dc5;
    for (uint32_t i = 0; i < count; i++) h = tx_hash(h ^ words[i]) + i;
    return h;
}

/* A hexadecimal digit of each lane of a piece: where some are known to differ, the others are told by it. */
enum { TX_LANE = 5, TX_LANES = TX_PIECE / TX_LANE };
static inline void tx_digits_of(const uint32_t *words, uint32_t count, char digits[TX_LANES + 1]) {
    uint32_t lane = 0;
    for (uint32_t first = 0; first < count; first += TX_LANE, lane++)
        digits[lane] =
            "0123456789abcdef"[tx_hash_of(words + first, count - first < TX_LANE ? count - first : TX_LANE) & 15];
    digits[lane] = 0;
}

/* ---- Texels: level by level, layer or slice by layer, row by row ------------------------------------------------- */

static inline uint32_t tx_bytes(const tx_case *c) {
    static const uint8_t of[] = {0, 1, 1, 2, 2, 4, 4, 2, 4};
    return of[c->type];
}
static inline uint32_t tx_at_least_one(uint32_t n) { return n ? n : 1; }
static inline uint32_t tx_extent(const tx_case *c, int dimension, uint32_t level) {
    const uint32_t all[] = {c->width, c->height, c->kind == K_3D ? c->deep : c->layers};
    return tx_at_least_one(dimension == 2 && c->kind != K_3D ? all[2] : all[dimension] >> level);
}
static inline uint64_t tx_level_bytes(const tx_case *c, uint32_t level) {
    return (uint64_t)tx_extent(c, 0, level) * tx_extent(c, 1, level) * tx_extent(c, 2, level) * tx_bytes(c) *
           c->channels;
}
static inline uint64_t tx_image_bytes(const tx_case *c) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < tx_at_least_one(c->levels); i++) all += tx_level_bytes(c, i);
    return all;
}

static inline uint32_t tx_half_of_integer(uint32_t n) { /* n < 2048 */
    uint32_t e = 0;
    if (!n) return 0;
    for (e = 25; n < 1024; n <<= 1) e--;
    return e << 10 | (n & 1023);
}

static inline uint32_t tx_texel(const tx_case *c, uint32_t index, uint32_t level, uint32_t h) {
    const bool is_half = c->type == T_F16, is_float = c->type == T_F32;
    const uint32_t number = c->texels == X_INDEX ? index : c->texels == X_FOLD ? index & 1023 : level;
    if (c->texels == X_INDEX || c->texels == X_LEVEL || c->texels == X_FOLD)
        return is_float ? tx_bits((float)number) : is_half ? tx_half_of_integer(number & 2047) : number;
    if (!is_half && !is_float) return h;
    if (c->texels == X_UNIT)
        return is_float ? tx_bits((float)(h >> 8) * 0x1p-24f) : ((h & 0x3ff) | (8 + (h >> 10) % 7) << 10);
    if (c->texels == X_SPECIAL && h >> 30 == 0) {
        static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00001, 0xff812345,
                                           0x7f7fffff, 0xff7fffff, 0x00000001, 0x807fffff};
        static const uint16_t small[] = {0x7c00, 0xfc00, 0x7e01, 0xfd23, 0x7bff, 0xfbff, 0x0001, 0x83ff};
        return is_half ? small[h & 7] : special[h & 7];
    }
    if (is_half)
        return c->texels == X_WIDE ? ((h & 0x83ff) | (h >> 16) % 31 << 10)
                                   : ((h & 0x83ff) | (10 + (h >> 16) % 7) << 10);
    return c->texels == X_WIDE ? ((h & 0x807fffff) | (110 + (h >> 8 & 31)) << 23)
                               : tx_bits((float)(int32_t)h * 0x1p-30f);
}

static inline void tx_fill(const tx_case *c, uint8_t *to) {
    uint32_t n = 0;
    const uint32_t bytes = tx_bytes(c), seed = c->texels == X_RANDOM ? 7u + c->type : tx_seed(c);
    for (uint32_t level = 0; level < tx_at_least_one(c->levels); level++) {
        const uint32_t count = (uint32_t)(tx_level_bytes(c, level) / bytes);
        for (uint32_t i = 0; i < count; i++, n++, to += bytes) {
            const uint32_t texel = tx_texel(c, i / c->channels, level, tx_hash(seed * 31 + n));
            memcpy(to, &texel, bytes);
        }
    }
}

/* ---- Coordinates: 16 words a lane: x y z layer, dx (or lod) 3, dy 3, offsets 3, compare -------------------------- */

enum { TX_WORDS = 16, TX_RESULTS = 5 };

static inline float tx_coordinate(const tx_case *c, uint32_t lane, uint32_t h, uint32_t extent) {
    static const uint32_t odd[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                   0xffc12345, 0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0xdf000001,
                                   0x4effffff, 0x4b800001, 0xcb800001, 0x34000001, 0xb4000001, 0x7149f2ca};
    const float e = (float)extent;
    const uint32_t k = tx_hash(h + 77);
    float x = (float)(k >> 8) * 0x1p-24f * e; /* inside */
    if (c->coords != C_INSIDE) switch (lane & 7) {
        case 0:
            x = (float)((int32_t)(k % (extent * 1024u * 3)) - (int32_t)(extent * 1024)) * (1.0f / 1024);
            break; /* halfway weights */
        case 1: x = x * 4 - e * 1.5f; break;
        case 2: x = (float)((int32_t)(k % (3 * extent + 1)) - (int32_t)extent); break;
        case 3:
            x = tx_float(tx_bits((float)((int32_t)(k % (2 * (3 * extent + 1))) - (int32_t)(2 * extent)) * 0.5f) +
                         (k >> 28) - 8);
            break; /* beside halves */
        default: break;
        }
    if (c->norm) x = x / e;
    if (c->coords == C_MIXED && (lane & 31) == 7) x = tx_float(odd[(k >> 8) % (sizeof odd / sizeof *odd)]);
    return x;
}

static inline int32_t tx_integer(uint32_t lane, uint32_t h, uint32_t extent) {
    static const int32_t odd[] = {INT32_MIN, INT32_MAX, -1, 65536, -65536, 1 << 24, 0, -(1 << 27)};
    const uint32_t k = tx_hash(h + 99);
    if ((lane & 15) == 7) return odd[k >> 8 & 7];
    return (lane & 1) ? (int32_t)(k % extent) : (int32_t)(k % (3 * extent + 4)) - (int32_t)extent - 2;
}

static inline uint32_t tx_derivative(uint32_t lane, uint32_t h, uint32_t extent) {
    static const uint32_t odd[] = {0,          0x80000000, 0x7f800000, 0x7fc00000,
                                   0x00000001, 0x7f7fffff, 0x3f800000, 0xff800000};
    if ((lane & 63) == 9) return odd[h & 7];
    const float m = tx_float((h & 0x807fffff) | (122 + (h >> 23) % 10) << 23); /* 2^-5 to 2^5 texels */
    return tx_bits(m / (float)extent);
}

static inline void tx_lane(const tx_case *c, uint32_t lane, uint32_t in[TX_WORDS]) {
    const uint32_t seed = tx_hash(tx_seed(c) + lane * 0x9e3779b9u);
    const bool cube = c->kind == K_CUBE || c->kind == K_CUBE_ARRAY, level = c->op == O_LEVEL;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t extent = i == 2 && c->kind != K_3D ? 1 : tx_extent(c, (int)i, 0), h = tx_hash(seed + i);
        if (c->s32) in[i] = (uint32_t)tx_integer(lane, h, extent);
        else if (!cube) in[i] = tx_bits(tx_coordinate(c, lane >> i, h, extent));
        else if ((lane & 7) < 6) in[i] = tx_bits((float)(int32_t)h * 0x1p-31f);
        else if ((lane & 7) == 6) in[i] = tx_bits((float)((int32_t)(h % 9) - 4) * 0.25f);
        else in[i] = tx_bits((float)(int32_t)h) & ((lane & 63) == 7 ? 0xff8fffffu : 0xffffffffu); /* large */
        in[4 + i] = tx_derivative(lane, tx_hash(seed + 8 + i), extent);
        in[7 + i] = tx_derivative(lane, tx_hash(seed + 16 + i), extent);
        in[10 + i] = c->coords == C_WIDE ? (tx_hash(seed + 24 + i) & 511) - 256 : (tx_hash(seed + 24 + i) & 15) - 8;
    }
    if (cube && c->coords == C_MIXED && (lane & 63) == 13) in[lane >> 6 & 1] = (lane & 128) ? 0x7fc00000 : 0x7f800000;
    if (cube && (lane & 63) == 14) in[0] = in[1] = in[2] = (lane & 64) ? 0 : 0x80000000;
    if (c->coords == C_ISOTROPIC) { /* dx = (d, 0, 0), dy = (0, d, 0), in texels */
        const uint32_t d = tx_derivative(lane, tx_hash(seed + 9), 1) & 0x7fffffff;
        for (uint32_t i = 0; i < 6; i++) in[4 + i] = 0;
        in[4] = tx_bits(tx_float(d) / (float)c->width);
        in[8] = tx_bits(tx_float(d) / (float)tx_extent(c, 1, 0));
    }
    const uint32_t k = tx_hash(seed + 32), layers = tx_at_least_one(c->layers) / (c->kind == K_CUBE_ARRAY ? 6 : 1);
    in[3] = (k & 7) ? k % tx_at_least_one(layers) : k & 8 ? k : layers + (k >> 4 & 3) - 1;
    if (level) {
        const float lod = (float)((int32_t)(k % ((c->levels + 3) * 4096)) - 4096) * (1.0f / 4096);
        in[4] = c->s32             ? (uint32_t)((int32_t)(k % (c->levels + 3)) - 1)
                : (lane & 31) == 9 ? 0x7f800000u | (k & 0x80400000)
                                   : tx_bits(lane & 1 ? lod : (float)((int32_t)(lod * 512)) * (1.0f / 512));
    }
    in[13] = tx_bits((float)(tx_hash(seed + 40) >> 8) * 0x1p-23f - 0.5f);
    if ((lane & 7) == 3) in[13] = (lane & 8) ? 0x7fc00000 : 0x3f000000;
    in[14] = in[15] = 0;
    if (c->op >= O_SULD) { /* x in bytes, but for .p */
        const int32_t row = (int32_t)(c->width * c->channels * tx_bytes(c));
        const int32_t texel = (int32_t)(c->channels * tx_bytes(c));
        const int32_t step = c->op == O_SUST_P || c->op == O_SURED_P ? 1 : texel;
        in[0] = (uint32_t)(((int32_t)(tx_hash(seed + 50) % (c->width + 6)) - 3) * step);
        if (c->op == O_SULD && (lane & 15) == 5) in[0] += (uint32_t)(4096 * texel); /* what is not aligned is a fault */
        if (c->op == O_SULD && (lane & 15) == 6) in[0] = lane & 16 ? 0x80000000u : (uint32_t)row;
        if (c->op != O_SULD)
            in[0] = (lane % (c->width + 2)) * (uint32_t)step,
            in[1] = lane / (c->width + 2); /* no two lanes at one place but for reductions */
        in[1] = c->op == O_SULD ? (uint32_t)((int32_t)(tx_hash(seed + 51) % (tx_extent(c, 1, 0) + 4)) - 2) : in[1];
        in[2] = (uint32_t)((int32_t)(tx_hash(seed + 52) % (tx_extent(c, 2, 0) + 2)) - 1);
        if (c->op != O_SULD) in[2] = 0;
        if (c->op == O_SURED || c->op == O_SURED_P)
            in[0] = (tx_hash(seed + 50) % 5) * (uint32_t)step, in[1] = tx_hash(seed + 51) % 3;
        /* What is stored to one place is the same, whoever comes last. */
        const uint32_t x = lane % (c->width + 2),
                       key = (c->height ? lane / (c->width + 2) * 64 : 0) + (x < c->width ? x : c->width - 1);
        const uint32_t from = c->op == O_SURED || c->op == O_SURED_P ? seed : tx_hash(tx_seed(c) + key);
        for (uint32_t i = 0; i < 4; i++) in[4 + i] = tx_hash(from + 60 + i);
        if (c->op == O_SUST_P && c->type >= T_F16)
            for (uint32_t i = 0; i < 4; i++)
                in[4 + i] = tx_texel(&(tx_case){.type = T_F32, .texels = X_SPECIAL}, 0, 0, in[4 + i]);
        if (c->op == O_SUST_P && c->type < T_F16 && (key & 1))
            for (uint32_t i = 0; i < 4; i++) in[4 + i] = (uint32_t)((int32_t)in[4 + i] >> (20 + (key & 6)));
    }
}

/* ---- Kernels: k(texture, in, out) -------------------------------------------------------------------------------- */

static inline int tx_body(const tx_case *c, char *to, size_t room) {
    static const char *const geoms[] = {"", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "", "", "1d", "2d"};
    static const char *const coords[] = {"",
                                         "{%c0}",
                                         "{%c0,%c1}",
                                         "{%c0,%c1,%c2,%c2}",
                                         "{%l,%c0}",
                                         "{%l,%c0,%c1,%c1}",
                                         "{%c0,%c1,%c2,%c2}",
                                         "{%l,%c0,%c1,%c2}",
                                         "",
                                         "",
                                         "{%c0}",
                                         "{%c0,%c1}"};
    static const char *const grads[] = {"",
                                        "{%d0}, {%e0}",
                                        "{%d0,%d1}, {%e0,%e1}",
                                        "{%d0,%d1,%d2,%d2}, {%e0,%e1,%e2,%e2}",
                                        "{%d0}, {%e0}",
                                        "{%d0,%d1}, {%e0,%e1}",
                                        "{%d0,%d1,%d2,%d2}, {%e0,%e1,%e2,%e2}",
                                        "{%d0,%d1,%d2,%d2}, {%e0,%e1,%e2,%e2}",
                                        "",
                                        "",
                                        "{%d0}, {%e0}",
                                        "{%d0,%d1}, {%e0,%e1}"};
    static const char *const offsets[] = {
        "", ", {%o0}", ", {%o0,%o1}", ", {%o0,%o1,%o2,%o2}", ", {%o0}", ", {%o0,%o1}", "", "",
        "", "",        ", {%o0}",     ", {%o0,%o1}"};
    static const char *const dtypes[] = {"v4.f32", "v4.u32", "v4.s32", "v4.f16", "v2.f16x2"};
    static const char *const clamps[] = {"zero", "clamp"}, *const widths[] = {"", "b8", "b16", "", "b32"};
    static const char *const queries[] = {"width",         "height",
                                          "depth",         "channel_data_type",
                                          "channel_order", "normalized_coords",
                                          "array_size",    "num_mipmap_levels",
                                          "num_samples",   "force_unnormalized_coords",
                                          "filter_mode",   "addr_mode_0",
                                          "addr_mode_1",   "addr_mode_2"};
    static const char *const asks[] = {"width",         "height",     "depth",        "channel_data_type",
                                       "channel_order", "array_size", "memory_layout"};
    static const char *const reductions[] = {"add.GEOM.u32", "min.GEOM.s32", "max.GEOM.u32",
                                             "and.GEOM.b32", "or.GEOM.b32",  "add.GEOM.s32"};
    const char *geom = geoms[c->kind], *coord = coords[c->kind];
    const char *vector = c->channels == 1 ? "" : c->channels == 2 ? ".v2" : ".v4";
    const char *values = c->channels == 1 ? "%r0" : c->channels == 2 ? "{%r0,%r1}" : "{%r0,%r1,%r2,%r3}";
    char surface[40];
    const char *const places[] = {"", "{%i0}", "{%i0,%i1}", "{%i0,%i1,%i2,%i2}", "{%l,%i0}", "{%l,%i0,%i1,%i1}"};
    snprintf(surface, sizeof surface, "[%%t, %s]",
             c->op >= O_SULD && c->op != O_SUQ && c->kind <= K_2D_ARRAY ? places[c->kind] : "");
    switch (c->op) {
    case O_TXQ:
    case O_SUQ: {
        const int count = c->op == O_TXQ ? 14 : 7;
        if (c->variant < count)
            return snprintf(to, room, "  %s.%s.b32 %%r0, [%%t];\n", c->op == O_TXQ ? "txq" : "suq",
                            (c->op == O_TXQ ? queries : asks)[c->variant]);
        if (c->variant < count + 3)
            return snprintf(to, room, "  istypep.%s %%p, %%t;\n  selp.u32 %%r0, 1, 0, %%p;\n",
                            c->variant == count       ? "texref"
                            : c->variant == count + 1 ? "samplerref"
                                                      : "surfref");
        return snprintf(to, room, "  txq.level.%s.b32 %%r0, [%%t], 2;\n", queries[c->variant - count - 3]);
    }
    case O_SULD: {
        const char *regs = tx_bytes(c) == 4   ? values
                           : c->channels == 1 ? "%h0"
                           : c->channels == 2 ? "{%h0,%h1}"
                                              : "{%h0,%h1,%h2,%h3}";
        int n = snprintf(to, room, "  suld.b.%s%s.%s.%s %s, %s;\n", geom, vector, widths[tx_bytes(c)],
                         clamps[c->variant & 1], regs, surface);
        if (tx_bytes(c) < 4)
            for (uint32_t i = 0; i < c->channels; i++)
                n += snprintf(to + n, room - (size_t)n, "  cvt.u32.u16 %%r%u, %%h%u;\n", i, i);
        return n;
    }
    case O_SUST_B: {
        const char *regs = tx_bytes(c) == 4   ? values
                           : c->channels == 1 ? "%h0"
                           : c->channels == 2 ? "{%h0,%h1}"
                                              : "{%h0,%h1,%h2,%h3}";
        int n =
            snprintf(to, room, "  mov.b32 %%r0, %%d0; mov.b32 %%r1, %%d1; mov.b32 %%r2, %%d2; mov.b32 %%r3, %%e0;\n");
        if (tx_bytes(c) < 4)
            for (uint32_t i = 0; i < c->channels; i++)
                n += snprintf(to + n, room - (size_t)n, "  cvt.u16.u32 %%h%u, %%r%u;\n", i, i);
        return n + snprintf(to + n, room - (size_t)n, "  sust.b.%s%s.%s.%s %s, %s;\n", geom, vector,
                            widths[tx_bytes(c)], clamps[c->variant & 1], surface, regs);
    }
    case O_SUST_P:
        return snprintf(to, room,
                        "  mov.b32 %%r0, %%d0; mov.b32 %%r1, %%d1; mov.b32 %%r2, %%d2; mov.b32 %%r3, %%e0;\n  "
                        "sust.p.%s%s.b32.%s %s, %s;\n",
                        geom, vector, clamps[c->variant & 1], surface, values);
    case O_SURED:
    case O_SURED_P: {
        char name[40];
        const char *pattern = reductions[c->variant % 6], *at = strstr(pattern, "GEOM");
        snprintf(name, sizeof name, "%.*s%s%s", (int)(at - pattern), pattern, geom, c->op == O_SURED ? at + 4 : ".b32");
        return snprintf(to, room, "  mov.b32 %%r0, %%d0;\n  sured.%s.%s.%s %s, %%r0;\n", c->op == O_SURED ? "b" : "p",
                        name, "clamp", surface);
    }
    default: break;
    }
    char name[40], tail[80] = "";
    const bool tld4 = c->op >= O_TLD4_R && c->op <= O_TLD4_A;
    if (tld4) snprintf(name, sizeof name, "tld4.%c.%s", "rgba"[c->op - O_TLD4_R], geom);
    else
        snprintf(name, sizeof name, "tex%s.%s",
                 c->op == O_BASE    ? ".base"
                 : c->op == O_LEVEL ? ".level"
                 : c->op == O_GRAD  ? ".grad"
                                    : "",
                 geom);
    if (c->op == O_LEVEL) snprintf(tail, sizeof tail, ", %s", c->s32 ? "%v" : "%d0");
    if (c->op == O_GRAD) snprintf(tail, sizeof tail, ", %s", grads[c->kind]);
    char where[40];
    const char *from = coord;
    size_t n = 0;
    for (; *from && n + 1 < sizeof where; from++) where[n++] = c->s32 && *from == 'c' ? 'i' : *from;
    where[n] = 0;
    int at = snprintf(to, room, "  %s.%s.%s %s|%%p, [%%t, %s]%s%s%s;\n", name, dtypes[c->dtype], c->s32 ? "s32" : "f32",
                      c->dtype == D_F16     ? "{%h0,%h1,%h2,%h3}"
                      : c->dtype == D_F16X2 ? "{%r0,%r1}"
                                            : "{%r0,%r1,%r2,%r3}",
                      where, tail, c->offsets ? offsets[c->kind] : "", c->compare ? ", %x" : "");
    if (c->dtype == D_F16)
        for (int i = 0; i < 4; i++) at += snprintf(to + at, room - (size_t)at, "  cvt.u32.u16 %%r%d, %%h%d;\n", i, i);
    return at + snprintf(to + at, room - (size_t)at, "  selp.u32 %%r4, 1, 0, %%p;\n");
}

static inline void tx_kernel(const tx_case *c, char *to, size_t room) {
    int n = snprintf(to, room,
                     ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 texture, .param "
                     ".u64 in, .param .u64 out, .param .u32 lanes)\n{\n"
                     "  .reg .u64 %%t, %%in, %%out, %%w;\n  .reg .f32 %%c<3>, %%d<3>, %%e<3>, %%x;\n  .reg .b32 "
                     "%%r<5>, %%i<3>, %%o<3>, %%l, %%v, %%n, %%m;\n  .reg .b16 %%h<4>;\n"
                     "  .reg .pred %%p, %%q;\n  mov.u32 %%n, %%ctaid.x;\n  mov.u32 %%m, %%tid.x;\n  mad.lo.u32 %%n, "
                     "%%n, 128, %%m;\n  ld.param.u32 %%m, [lanes];\n"
                     "  setp.ge.u32 %%q, %%n, %%m;\n  @%%q ret;\n  ld.param.u64 %%t, [texture];\n  ld.param.u64 %%in, "
                     "[in];\n  ld.param.u64 %%out, [out];\n"
                     "  mul.wide.u32 %%w, %%n, 64;\n  add.u64 %%in, %%in, %%w;\n  mul.wide.u32 %%w, %%n, 20;\n  "
                     "add.u64 %%out, %%out, %%w;\n");
    for (int i = 0; i < 3; i++)
        n += snprintf(
            to + n, room - (size_t)n,
            "  ld.global.f32 %%c%d, [%%in+%d];\n  ld.global.b32 %%i%d, [%%in+%d];\n  ld.global.f32 %%d%d, [%%in+%d];\n"
            "  ld.global.f32 %%e%d, [%%in+%d];\n  ld.global.b32 %%o%d, [%%in+%d];\n",
            i, 4 * i, i, 4 * i, i, 16 + 4 * i, i, 28 + 4 * i, i, 40 + 4 * i);
    n += snprintf(to + n, room - (size_t)n,
                  "  ld.global.b32 %%l, [%%in+12];\n  ld.global.b32 %%v, [%%in+16];\n  ld.global.f32 %%x, [%%in+52];\n"
                  "  mov.u32 %%r0, 0; mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u32 %%r3, 0; mov.u32 %%r4, 0;\n");
    n += tx_body(c, to + n, room - (size_t)n);
    for (int i = 0; i < 5; i++)
        n += snprintf(to + n, room - (size_t)n, "  st.global.b32 [%%out+%d], %%r%d;\n", 4 * i, i);
    snprintf(to + n, room - (size_t)n, "  ret;\n}\n");
}

static inline bool tx_writes(const tx_case *c) {
    return c->op >= O_SUST_B && c->op <= O_SURED_P;
} /* results are the image */

/* ---- The cases --------------------------------------------------------------------------------------------------- */

typedef void tx_visit(void *user, const tx_case *c);

static inline tx_case tx_base(char family, uint8_t kind, uint8_t type, uint8_t channels) {
    tx_case c = {.family = family,
                 .op = O_TEX,
                 .kind = kind,
                 .type = type,
                 .channels = channels,
                 .width = 13,
                 .height = 9,
                 .deep = 5,
                 .layers = 0,
                 .levels = 1,
                 .lanes = 256,
                 .max = 0};
    if (kind == K_1D_ARRAY || kind == K_2D_ARRAY) c.layers = 3;
    if (kind == K_CUBE) c.layers = 6;
    if (kind == K_CUBE_ARRAY) c.layers = 12;
    if (kind == K_CUBE || kind == K_CUBE_ARRAY) c.height = c.width = 8;
    if (kind == K_1D || kind == K_1D_ARRAY || kind == K_LINEAR) c.height = 0;
    if (kind != K_3D) c.deep = 0;
    c.nfloat = type < T_F16 && type != T_U32 && type != T_S32;
    c.dtype = type == T_U32 ? D_U32 : type == T_S32 ? D_S32 : D_F32;
    return c;
}
static inline void tx_all(tx_case *c, uint8_t mode) { c->address[0] = c->address[1] = c->address[2] = mode; }
static inline void tx_mips(tx_case *c) {
    c->width = 32, c->height = c->height ? 16 : 0, c->deep = c->deep ? 8 : 0, c->levels = 6, c->max = 100,
    c->norm = true, c->mip = F_LINEAR, c->filter = F_LINEAR;
    if (c->kind == K_CUBE || c->kind == K_CUBE_ARRAY) c->height = 32;
}

static inline void tx_points(tx_visit *visit, void *user) {
    for (uint8_t type = T_U8; type <= T_F32; type++) /* A: every format, point */
        for (uint8_t channels = 1; channels <= 4; channels *= 2)
            for (int raw = 0; raw < 2; raw++) {
                tx_case c = tx_base('A', K_2D, type, channels);
                if (raw && !c.nfloat) continue;
                if (raw) c.nfloat = false, c.dtype = type == T_U8 || type == T_U16 ? D_U32 : D_S32;
                c.norm = channels == 2, c.lanes = 128;
                tx_all(&c, channels == 4 ? A_MIRROR : channels == 2 ? A_WRAP : A_CLAMP);
                visit(user, &c);
            }
    for (uint8_t kind = K_1D; kind <= K_2D_ARRAY; kind++) /* B: every mode, point */
        for (uint8_t mode = 0; mode < 4; mode++)
            for (int norm = 0; norm < 2; norm++) {
                tx_case c = tx_base('B', kind, T_F32, 1);
                tx_all(&c, mode), c.norm = norm, c.border[0] = 0.3f;
                visit(user, &c);
                c.s32 = true, c.norm = false;
                if (!norm) visit(user, &c);
                c.filter = F_LINEAR;
                if (!norm && kind == K_2D) visit(user, &c);
            }
    for (int raw = 0; raw < 5; raw++) /* P: types of results that are not the texture's */
        for (uint8_t type = T_U8; type <= T_F32; type++)
            for (int nfloat = 0; nfloat < 2; nfloat++) {
                tx_case c = tx_base('P', K_2D, type, 4);
                if (nfloat && !c.nfloat) continue;
                c.nfloat = nfloat, c.dtype = (uint8_t)raw, c.lanes = 64, c.texels = X_SPECIAL, tx_all(&c, A_CLAMP);
                visit(user, &c);
                if (nfloat || type >= T_F16) c.filter = F_LINEAR, visit(user, &c);
            }
}

static inline void tx_linears(tx_visit *visit, void *user) {
    static const uint8_t types[] = {T_U8, T_S8, T_U16, T_S16, T_F16, T_F32};
    for (size_t t = 0; t < 6; t++) {
        for (uint8_t kind = K_1D; kind <= K_2D_ARRAY; kind++) /* C: linear */
            for (uint8_t mode = 0; mode < 4; mode++)
                for (int norm = 0; norm < 2; norm++) {
                    tx_case c = tx_base('C', kind, types[t], kind == K_2D ? 4 : 1);
                    if (!norm && (mode == A_WRAP || mode == A_MIRROR)) continue;
                    tx_all(&c, mode), c.norm = norm, c.filter = F_LINEAR;
                    c.border[0] = 0.3f, c.border[1] = 0.7f, c.border[2] = 1.0f, c.border[3] = 0.123f;
                    visit(user, &c);
                }
        for (uint8_t kind = K_1D; kind <= K_3D; kind++) { /* D: weights, many */
            tx_case c = tx_base('D', kind, types[t], kind == K_2D ? 2 : 1);
            tx_all(&c, A_CLAMP), c.filter = F_LINEAR, c.coords = C_INSIDE, c.lanes = 1024;
            visit(user, &c);
            if (types[t] < T_F16) continue;
            c.texels = X_WIDE, c.lanes = 2048, visit(user, &c);
            c.texels = X_SPECIAL, c.lanes = 512, visit(user, &c);
        }
    }
    for (uint8_t type = T_U8; type <= T_F32; type++) /* E: borders of every format */
        for (uint8_t channels = 1; channels <= 4; channels *= 4)
            for (int which = 0; which < 6; which++) {
                static const float colours[3][4] = {{0.1f, -0.7f, 2.0f, 0.5f},
                                                    {0x1.8p-1f, 1e-3f, -5.0f, 300.7f},
                                                    {0x1p-149f, 1e38f, 0.0019569471f, -1.0f}};
                tx_case c = tx_base('E', K_2D, type, channels);
                const int read = which / 2; /* as numbers, as they are, linear */
                if (read == 0 && !c.nfloat && type < T_F16) continue;
                if (read == 2 && (type == T_U32 || type == T_S32)) continue;
                if (read == 1 && type >= T_F16) continue;
                if (read == 1)
                    c.nfloat = false, c.dtype = type == T_U8 || type == T_U16 || type == T_U32 ? D_U32 : D_S32;
                if (read == 2) c.filter = F_LINEAR;
                tx_all(&c, A_BORDER), c.lanes = 128, c.variant = (uint8_t)which;
                memcpy(c.border, colours[which & 1], sizeof c.border);
                if (which == 1 && channels == 4) memcpy(c.border, colours[2], sizeof c.border);
                visit(user, &c);
            }
    static const uint32_t widths[] = {1,   2,   3,   5,    6,    7,    11,   13,   31,    64,    100,   127,
                                      255, 320, 640, 1000, 1023, 1920, 4095, 4096, 10000, 32768, 65535, 100003};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) /* F: where a normalised coordinate is */
        for (int filter = 0; filter < 2; filter++)
            for (int mode = 0; mode < 4; mode++) {
                tx_case c = tx_base('F', K_1D, T_F32, 1);
                if (mode == A_BORDER && w % 4) continue;
                c.width = widths[w], c.norm = true, c.filter = (uint8_t)filter, c.texels = X_INDEX,
                c.coords = mode == A_WRAP || mode == A_BORDER ? C_MIXED : C_INSIDE, tx_all(&c, (uint8_t)mode);
                c.lanes = mode == A_MIRROR ? 128 : 256, c.border[0] = -1.0f;
                visit(user, &c);
                c.norm = false;
                if (mode == A_CLAMP) c.coords = C_MIXED, visit(user, &c);
            }
    for (int norm = 0; norm < 2; norm++) /* G: offsets */
        for (uint8_t kind = K_1D; kind <= K_2D_ARRAY; kind++)
            for (uint8_t mode = 0; mode < 4; mode++)
                for (int filter = 0; filter < 2; filter++) {
                    tx_case c = tx_base('G', kind, T_F32, 1);
                    if (!norm && mode != A_CLAMP) continue;
                    tx_all(&c, mode), c.norm = norm, c.filter = (uint8_t)filter, c.offsets = true, c.lanes = 128;
                    visit(user, &c);
                    c.s32 = true, c.norm = false;
                    if (!filter && !norm) visit(user, &c);
                }
    for (int linear = 0; linear < 2; linear++) /* H: sRGB */
        for (uint8_t channels = 1; channels <= 4; channels *= 2) {
            tx_case c = tx_base('H', K_2D, T_U8, channels);
            c.width = 16, c.height = 16, c.srgb = true, c.filter = (uint8_t)linear,
            c.texels = linear ? X_RANDOM : X_INDEX, c.lanes = 1024, c.coords = C_INSIDE, tx_all(&c, A_CLAMP);
            visit(user, &c);
        }
}

static inline void tx_mipmaps(tx_visit *visit, void *user) {
    for (int what = 0; what < 12; what++) /* I: which level, told by its number; then random texels */
        for (uint8_t kind = K_1D; kind <= K_CUBE_ARRAY; kind++) {
            tx_case c = tx_base('I', kind, T_F32, 1);
            tx_mips(&c), tx_all(&c, A_CLAMP), c.op = O_LEVEL, c.texels = X_LEVEL;
            if (what >= 8 && kind > K_3D) continue;
            if (what == 1) c.mip = F_POINT;
            if (what == 2) c.bias = 0.37f;
            if (what == 3) c.bias = -1.3f, c.mip = F_POINT, c.min = 1.2f, c.max = 3.6f;
            if (what == 4) c.min = 0.7f, c.max = 2.3f;
            if (what == 5) c.texels = X_RANDOM;
            if (what == 6) c.texels = X_RANDOM, c.filter = F_POINT;
            if (what == 7) c.texels = X_RANDOM, c.mip = F_POINT, tx_all(&c, A_WRAP), c.lanes = 128;
            if (what == 8) c.op = O_TEX, c.min = 1.3f;
            if (what == 9) c.op = O_BASE, c.min = 1.3f, c.bias = 1.0f;
            if (what == 10) c.filter = F_POINT, c.s32 = true, c.norm = false, c.max = 0, c.mip = F_POINT;
            if (what == 11) c.op = O_TEX, c.bias = 1.4f, c.lanes = 64;
            if (what == 10) continue; /* drivers refuse mipmaps without normalised coordinates */
            visit(user, &c);
            if (what == 5) c.variant = 1, visit(user, &c); /* without the driver's trilinear optimisation */
        }
    for (int what = 0; what < 6; what++) /* J: gradients */
        for (uint8_t kind = K_1D; kind <= K_CUBE_ARRAY; kind++) {
            tx_case c = tx_base('J', kind, T_F32, 1);
            const bool cube = kind == K_CUBE || kind == K_CUBE_ARRAY;
            tx_mips(&c), tx_all(&c, A_CLAMP), c.op = O_GRAD, c.texels = X_LEVEL, c.lanes = what ? 256 : 1024;
            if (what == 1) c.mip = F_POINT;
            if (what == 2) c.coords = C_ISOTROPIC, c.lanes = 1024;
            if (what == 3) c.bias = 0.7f, c.max = 3.0f;
            if (what == 4) c.texels = X_RANDOM;
            if (what == 5) c.width = 64, c.height = c.height ? (cube ? 64 : 8) : 0, c.levels = 7, c.lanes = 512;
            visit(user, &c);
        }
    static const uint8_t types[] = {T_U8, T_S8, T_U16, T_S16, T_F16, T_F32};
    for (size_t t = 0; t < 6; t++) /* K: between levels of other formats */
        for (uint8_t kind = K_1D; kind <= K_3D; kind++) {
            tx_case c = tx_base('K', kind, types[t], 2);
            tx_mips(&c), tx_all(&c, A_WRAP), c.op = O_LEVEL;
            visit(user, &c);
            c.filter = F_POINT;
            visit(user, &c);
        }
}

static inline void tx_cubes(tx_visit *visit, void *user) {
    for (uint8_t kind = K_CUBE; kind <= K_CUBE_ARRAY; kind++) /* L */
        for (int what = 0; what < 8; what++) {
            tx_case c = tx_base('L', kind, what & 4 ? T_U8 : T_F32, 1);
            c.filter = what & 1, c.seamless = what & 2, c.norm = true, c.texels = c.type == T_F32 ? X_INDEX : X_RANDOM,
            c.lanes = 1024, tx_all(&c, A_CLAMP);
            visit(user, &c);
            c.coords = C_INSIDE, c.texels = X_RANDOM, c.lanes = 512, tx_all(&c, A_WRAP);
            if (what & 1) visit(user, &c);
        }
    for (uint8_t op = O_TLD4_R; op <= O_TLD4_A; op++) { /* M: tld4 */
        static const uint8_t types[] = {T_F32, T_U8, T_S32, T_S16, T_F16, T_U32};
        for (size_t t = 0; t < 6; t++) {
            tx_case c = tx_base('M', K_2D, types[t], 4);
            c.op = op, c.lanes = op == O_TLD4_R ? 256 : 128, c.filter = t & 1 ? F_POINT : F_LINEAR;
            if (types[t] == T_U32 || types[t] == T_S32) c.filter = F_POINT;
            tx_all(&c, A_CLAMP);
            visit(user, &c);
            c.norm = true, tx_all(&c, (uint8_t)(t % 2 ? A_WRAP : A_MIRROR));
            visit(user, &c);
            c.offsets = true, tx_all(&c, (uint8_t)(t % 2 ? A_WRAP : A_BORDER)), c.kind = K_2D_ARRAY, c.layers = 3;
            if (op <= O_TLD4_G) visit(user, &c);
        }
    }
    for (int what = 0; what < 6; what++) {
        tx_case c = tx_base('M', what & 1 ? K_CUBE_ARRAY : K_CUBE, T_F32, 1);
        c.op = O_TLD4_R, c.seamless = what & 2, c.norm = true, c.texels = X_INDEX, c.lanes = 512,
        c.filter = what & 4 ? F_POINT : F_LINEAR, tx_all(&c, A_CLAMP);
        visit(user, &c);
    }
}

static inline void tx_others(tx_visit *visit, void *user) {
    for (int what = 0; what < 16; what++) { /* N: memory of the program's */
        tx_case c = tx_base('N', what < 4 ? K_LINEAR : K_PITCHED, what & 2 ? T_U8 : T_F32, what & 2 ? 4 : 1);
        tx_all(&c, A_CLAMP), c.s32 = what < 4, c.variant = (uint8_t)what, c.width = 64;
        if (what & 1 && c.kind == K_LINEAR) c.nfloat = false, c.dtype = c.type == T_U8 ? D_U32 : D_F32;
        if (c.kind == K_PITCHED)
            c.filter = what & 1, c.norm = what & 4,
            tx_all(&c, (uint8_t)(what & 8   ? (what & 4 ? A_WRAP : A_BORDER)
                                 : what & 4 ? A_MIRROR
                                            : A_CLAMP));
        visit(user, &c);
    }
    for (int what = 0; what < 18; what++) /* O: questions */
        for (uint8_t ask = 0; ask < 20; ask++) {
            static const uint8_t kinds[] = {K_1D,   K_2D,         K_3D,     K_1D_ARRAY, K_2D_ARRAY,
                                            K_CUBE, K_CUBE_ARRAY, K_LINEAR, K_PITCHED};
            tx_case c = tx_base('O', kinds[what % 9], (uint8_t)(T_U8 + what % 8), (uint8_t)(1 << what % 3));
            c.op = O_TXQ, c.lanes = 1, c.variant = ask;
            c.norm = c.kind != K_LINEAR && (what & 1), c.filter = c.dtype == D_F32 && c.kind != K_LINEAR && (what & 2);
            c.address[0] = what & 3, c.address[1] = (what >> 1) & 3, c.address[2] = (what >> 2) & 3;
            if (c.kind == K_LINEAR) c.nfloat = false, c.width = 64;
            if (c.kind == K_PITCHED) c.width = 64;
            if (what >= 9 && what < 16) tx_mips(&c), c.filter = F_POINT;
            if (ask >= 17 && c.levels < 3) continue;
            visit(user, &c);
        }
    for (int what = 0; what < 16; what++) { /* Q: comparisons */
        tx_case c = tx_base('Q', what & 2 ? K_2D_ARRAY : K_2D, what & 8 ? T_U16 : T_F32, 1);
        if (what & 4) continue; /* the driver makes no CUDA_ARRAY3D_DEPTH_TEXTURE */
        c.compare = true, c.texels = X_UNIT, c.filter = what & 1, tx_all(&c, A_CLAMP);
        visit(user, &c);
        c.op = O_TLD4_R, c.lanes = 128;
        if (!(what & 8)) visit(user, &c);
    }
    for (int what = 0; what < 60; what++) { /* R: surfaces */
        static const uint8_t types[] = {T_U8, T_U16, T_U32};
        tx_case c = tx_base('R', (uint8_t)(K_1D + what / 12), types[what % 3], (uint8_t)(1 << what / 3 % 2 * 2));
        c.op = O_SULD, c.variant = (uint8_t)(what / 6 % 2), c.lanes = 128, c.nfloat = false;
        visit(user, &c);
        c.op = O_SUST_B;
        visit(user, &c);
    }
    for (uint8_t type = T_U8; type <= T_F32; type++)
        for (uint8_t channels = 1; channels <= 4; channels *= 2)
            for (uint8_t variant = 0; variant < 2; variant++) {
                tx_case c = tx_base('S', K_2D, type, channels);
                c.op = O_SUST_P, c.lanes = 128, c.variant = variant, c.nfloat = false;
                visit(user, &c);
            }
    for (uint8_t variant = 0; variant < 6; variant++)
        for (uint8_t kind = K_1D; kind <= K_3D; kind++) {
            tx_case c = tx_base('U', kind, variant == 1 || variant == 5 ? T_S32 : T_U32, 1);
            c.op = O_SURED, c.lanes = 128, c.variant = variant;
            visit(user, &c);
            c.op = O_SURED_P;
            if (variant < 5) visit(user, &c);
        }
    for (int what = 0; what < 80; what++) {
        static const uint8_t kinds[] = {K_1D, K_2D, K_3D, K_1D_ARRAY, K_2D_ARRAY};
        tx_case c = tx_base('V', kinds[what % 5], (uint8_t)(T_U8 + what % 8), (uint8_t)(1 << what % 3));
        c.op = O_SUQ, c.lanes = 1, c.nfloat = false, c.variant = (uint8_t)(what / 8);
        visit(user, &c);
    }
}

static inline void tx_more(tx_visit *visit, void *user) {
    static const uint32_t widths[] = {1025,  2047,  2048,  2049,  3000,  4097,  5000,  6000,  8191,  8192,  8193,
                                      12000, 16383, 16384, 20000, 32767, 50000, 65536, 65537, 80000, 131072};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) { /* W: bits of normalised coordinates */
        tx_case c = tx_base('W', K_1D, T_F32, 1);
        c.width = widths[w], c.norm = true, c.filter = F_LINEAR, c.texels = X_FOLD, c.coords = C_INSIDE,
        tx_all(&c, A_CLAMP);
        visit(user, &c);
        c.kind = K_2D, c.height = 2;
        if (c.width <= 65536 && w % 4 == 0) visit(user, &c);
    }
    for (int what = 0; what < 6; what++) { /* Y: s8 and sRGB between neighbours; borders by offsets */
        tx_case c = tx_base('Y', what < 4 ? K_1D : K_1D_ARRAY, what == 1 || what == 3 ? T_U8 : T_S8, 1);
        c.width = 256, c.filter = F_LINEAR, c.texels = X_INDEX, c.coords = C_INSIDE, c.lanes = what < 4 ? 4096 : 512,
        tx_all(&c, A_CLAMP);
        c.srgb = c.type == T_U8, c.variant = (uint8_t)what;
        if (what >= 2) c.texels = X_RANDOM;
        if (what >= 4) c.address[0] = c.address[1] = A_BORDER, c.border[0] = 0.7f, c.offsets = what & 1;
        visit(user, &c);
    }
    for (int what = 0; what < 4; what++) { /* Z: one derivative */
        tx_case c = tx_base('Z', what & 1 ? K_2D : K_1D, T_F32, 1);
        tx_mips(&c), tx_all(&c, A_CLAMP), c.op = O_GRAD, c.texels = X_LEVEL, c.lanes = 4096, c.width = 32,
                                          c.height = c.height ? 32 : 0, c.coords = C_ISOTROPIC,
                                          c.variant = (uint8_t)what;
        visit(user, &c);
    }
}

static inline void tx_rules(tx_visit *visit, void *user) {
    for (uint8_t kind = K_1D; kind <= K_CUBE_ARRAY; kind++) /* T: derivatives where extents are no powers of two */
        for (uint8_t mip = 0; mip < 2; mip++) {
            tx_case c = tx_base('T', kind, T_F32, 1);
            const bool cube = kind == K_CUBE || kind == K_CUBE_ARRAY;
            tx_mips(&c), tx_all(&c, A_CLAMP), c.op = O_GRAD, c.texels = X_LEVEL, c.lanes = mip ? 1024 : 256,
                                              c.mip = mip;
            c.width = kind == K_1D ? 1000 : cube || kind == K_3D ? 100 : 300;
            c.height = !c.height ? 0 : cube ? 100 : kind == K_3D ? 60 : 200;
            c.deep = c.deep ? 36 : 0;
            c.levels = kind == K_1D ? 10 : cube || kind == K_3D ? 7 : 9;
            visit(user, &c);
        }
    for (uint8_t type = T_U8; type <= T_S16; type++) /* X: colours of borders */
        for (uint8_t which = 0; which < 20; which++) {
            tx_case c = tx_base('X', K_2D, type, 4);
            tx_all(&c, A_BORDER), c.lanes = 64, c.variant = which;
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t h = tx_hash(which * 4u + k + 1000u * type);
                const float unit = (float)(h >> 8) * tx_float((103u - which % 10) << 23); /* up to 1, up to 1/2 ... */
                c.border[k] = type == T_S8 || type == T_S16 ? (h & 1 ? -unit : unit) : unit;
            }
            visit(user, &c);
        }
    for (uint8_t kind = K_1D; kind <= K_2D_ARRAY; kind++) /* a: offsets that have no room */
        for (int filter = 0; filter < 2; filter++) {
            tx_case c = tx_base('a', kind, T_F32, 1);
            tx_all(&c, A_BORDER), c.filter = (uint8_t)filter, c.offsets = true, c.lanes = 128, c.coords = C_WIDE;
            visit(user, &c);
            if (kind == K_2D) c.op = O_TLD4_R, visit(user, &c);
        }
}

static inline void tx_each(tx_visit *visit, void *user) {
    tx_points(visit, user);
    tx_linears(visit, user);
    tx_mipmaps(visit, user);
    tx_cubes(visit, user);
    tx_others(visit, user);
    tx_more(visit, user);
    tx_rules(visit, user);
}

#endif
