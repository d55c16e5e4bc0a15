/* levels.c: the smaller levels of a mipmap that `lanewise run` is given the largest of. A texel is the mean of the two,
 * four or eight below it, component by component; of an odd extent the last ones are in none. */
#include <math.h>
#include <stdlib.h>

#include "lanewise/texture.h"
#include "tool/tool.h"

static double number_at(const char *at, lw_type type) {
    const uint32_t bytes = lw_value_bytes(type), shift = 64 - 8 * bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    if (lw_value_is_float(type)) return lw_value_double(type, bits);
    return lw_types[type].kind == 'S' ? (double)((int64_t)(bits << shift) >> shift) : (double)bits;
}

/* Integers are rounded to nearest, halves up. */
static void put_number(char *at, lw_type type, double value) {
    const uint64_t bits = lw_value_is_float(type) ? lw_value_round(type, value, false)
                                                  : (uint64_t)(int64_t)floor(value + 0.5);
    memcpy(at, &bits, lw_value_bytes(type));
}

/* What is between two levels. */
typedef struct step {
    const lw_image_plane *from, *to;
    const char *texels; /* of `from` */
    bool halves_depth;
    uint32_t texel_bytes;
    lw_type type;
} step;

/* `at` counts bytes in a texel. */
static double mean(const step *s, uint32_t x, uint32_t y, uint32_t z, uint32_t at) {
    const uint32_t deep = s->halves_depth && s->from->depth > 1 ? 2 : 1, high = s->from->height > 1 ? 2 : 1,
                   wide = s->from->width > 1 ? 2 : 1, front = s->halves_depth ? z * deep : z;
    double sum = 0;
    for (uint32_t i = 0; i < deep * high * wide; i++)
        sum += number_at(s->texels + (front + i / (high * wide)) * s->from->layer_pitch +
                             (y * high + i / wide % high) * s->from->row_pitch +
                             (uint64_t)(x * wide + i % wide) * s->texel_bytes + at,
                         s->type);
    return sum / (deep * high * wide);
}

static void reduce(const step *s, char *to) {
    for (uint32_t z = 0; z < s->to->depth; z++)
        for (uint32_t y = 0; y < s->to->height; y++)
            for (uint32_t x = 0; x < s->to->width; x++)
                for (uint32_t at = 0; at < s->texel_bytes; at += lw_value_bytes(s->type))
                    put_number(to + z * s->to->layer_pitch + y * s->to->row_pitch + (uint64_t)x * s->texel_bytes + at,
                               s->type, mean(s, x, y, z, at));
}

static void reduce_all(const lw_image *image, lw_type type, char *texels) {
    for (uint32_t level = 1; level < image->levels; level++) {
        lw_image_plane from, to;
        if (!lw_image_level(image, level - 1, &from) || !lw_image_level(image, level, &to)) return;
        const step s = {.from = &from,
                        .to = &to,
                        .texels = texels + from.offset,
                        .halves_depth = image->kind == LW_IMAGE_3D,
                        .texel_bytes = lw_image_texel_bytes(image),
                        .type = type};
        reduce(&s, texels + to.offset);
    }
}

int lw_arg_make_levels(lw_context *context, const lw_arg *arg, lw_image *image) {
    const uint64_t bytes = lw_image_bytes(image);
    char *texels = malloc(bytes);
    if (!texels) {
        lw_tool_error(LW_D_no_memory, "the levels of a texture");
        return LW_EXIT_MACHINE;
    }
    lw_status status = lw_memory_read(context, image->address, texels, arg->count * lw_value_bytes(arg->type));
    if (status == LW_OK) status = lw_memory_new(context, bytes, &image->address);
    if (status == LW_OK) {
        reduce_all(image, arg->type, texels);
        status = lw_memory_write(context, image->address, texels, bytes);
    }
    free(texels);
    return status == LW_OK ? LW_EXIT_OK : lw_tool_device_failed(context, status);
}
