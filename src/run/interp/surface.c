/* surface.c: surfaces are loaded, stored and reduced (manual section 9.7.11). Coordinates are texels, but for x where
 * bytes are accessed as they are. */
#include "run/interp/texture.h"

#include "lanewise/lane/convert_half.h"

/* ---- Places ------------------------------------------------------------------------------------------------------ */

typedef struct surface {
    const lw_texture *texture;
    char *texels; /* host place of device address 0 */
} surface;

/* The surface of a lane. False: trapped. */
static bool find(lw_gang *gang, const lw_op *op, uint32_t lane, surface *s) {
    const uint64_t handle = LW_SLOT(gang, uint64_t, op->a)[lane];
    s->texture = lw_texture_of_lane(gang, op, lane, handle, LW_TEXTURE_SURFACE);
    if (!s->texture || !lw_texture_fits(gang, op, lane, handle, s->texture)) return false;
    return (s->texels = (char *)(uintptr_t)lw_texture_memory(gang, op, lane, handle, s->texture));
}

static int32_t nearest(int32_t at, uint32_t extent) {
    return at < 0 ? 0 : (uint32_t)at >= extent ? (int32_t)extent - 1 : at;
}

typedef struct spot {
    int32_t c[3];
    uint32_t layer;
} spot;

static spot spot_of(const lw_gang *gang, lw_texture_form form, const uint32_t *slots, uint32_t lane) {
    spot s = {0};
    if (form.is_array) s.layer = LW_SLOT(gang, uint32_t, *slots++)[lane];
    for (uint32_t k = 0; k < form.dimensions; k++) s.c[k] = LW_SLOT(gang, int32_t, slots[k])[lane];
    return s;
}

/* detail: the fault, or the bytes that x is no multiple of. */
static const lw_op *trap(lw_gang *gang, const lw_op *op, uint32_t lane, const surface *s, lw_trap_kind kind,
                         uint32_t detail, const spot *at) {
    lw_trap_record details = {.access = s->texture->label,
                              .address = LW_SLOT(gang, uint64_t, op->a)[lane],
                              .detail = detail,
                              .size = at->layer};
    for (uint32_t k = 0; k < 3; k++) details.texts[k] = (uint64_t)(int64_t)at->c[k];
    return lw_gang_trap(gang, op, kind, lane, details);
}

/* Where `bytes` of a lane are; *place is NULL where they are nowhere and that is no fault. False: trapped. An access of
 * more than a texel is all in its row: what is nearest is sized as the access is. */
static bool find_place(lw_gang *gang, const lw_op *op, uint32_t lane, const surface *s, uint32_t bytes, char **place) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const lw_image_plane *plane = &s->texture->planes[0];
    spot at = spot_of(gang, form, gang->frame->code->slots + op->d + form.results, lane);
    const spot given = at;
    const uint32_t texel = s->texture->texel_bytes, step = form.is_formatted || bytes < texel ? texel : bytes,
                   unit = form.is_formatted ? 1 : step,
                   extents[3] = {(uint32_t)((uint64_t)plane->width * texel / step), plane->height, plane->depth};
    if (!form.is_formatted && (uint32_t)at.c[0] % bytes)
        return trap(gang, op, lane, s, LW_TRAP_surface, bytes, &given), false;
    const int32_t within = (int32_t)((uint32_t)at.c[0] & (unit - 1));
    at.c[0] = (int32_t)(at.c[0] - within) / (int32_t)unit;
    bool inside = !form.is_array || at.layer < s->texture->layers;
    for (uint32_t k = 0; k < form.dimensions; k++) inside &= (uint32_t)at.c[k] < extents[k];
    *place = NULL;
    if (!inside && (form.outside == LW_OUTSIDE_trap || (form.outside == LW_OUTSIDE_clamp && !extents[0])))
        return trap(gang, op, lane, s, LW_TRAP_texture, LW_TEXTURE_FAULT_outside, &given), false;
    if (!inside && form.outside == LW_OUTSIDE_zero) return true;
    for (uint32_t k = 0; k < form.dimensions; k++) at.c[k] = nearest(at.c[k], extents[k]);
    const uint64_t z = form.is_array ? at.layer < s->texture->layers ? at.layer : s->texture->layers - 1
                                     : (uint32_t)at.c[2];
    *place = s->texels + plane->offset + z * plane->layer_pitch + (uint64_t)at.c[1] * plane->row_pitch +
             (uint64_t)at.c[0] * step + (uint32_t)within;
    return true;
}

static uint32_t values_of(lw_texture_form form) { /* of the operands, the number of the first one behind the place */
    return form.dimensions + form.is_array;
}

/* Of those that are listed: 64 bits are two. */
static uint32_t word_bytes(lw_texture_form form) { return form.size >= 2 ? 4 : 1u << form.size; }

/* ---- Loads and stores -------------------------------------------------------------------------------------------- */

/* Words of bytes: an element narrower than one has zeros above. */
LW_RACY static void take_words(const char *from, lw_texture_form form, uint32_t *words) {
    const uint32_t bytes = word_bytes(form);
    for (uint32_t k = 0; k < form.results; k++) {
        words[k] = 0;
        if (from) memcpy(&words[k], from + k * bytes, bytes);
    }
}

const lw_op *lw_step_surface_load(lw_gang *gang, const lw_op *op) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const uint32_t *slots = gang->frame->code->slots + op->d, bytes = form.results * word_bytes(form);
    uint32_t results[LW_GANG_LANES][4];
    LW_FOR_LANES(lane, gang->mask) {
        surface s;
        char *place;
        if (!find(gang, op, lane, &s) || !find_place(gang, op, lane, &s, bytes, &place)) return NULL;
        take_words(place, form, results[lane]);
    }
    for (uint32_t k = 0; k < form.results; k++)
        LW_FOR_LANES(lane, gang->mask) LW_SLOT(gang, uint32_t, slots[k])[lane] = results[lane][k];
    return op + 1;
}

LW_RACY static void put_words(char *to, lw_texture_form form, const uint32_t *words, uint32_t count) {
    const uint32_t bytes = word_bytes(form);
    for (uint32_t k = 0; k < count; k++) memcpy(to + k * bytes, &words[k], bytes);
}

/* A word as a channel of the surface's format: integers are limited to it, floats cut off. */
static uint32_t formatted(uint32_t word, lw_texel_type type) {
    float f;
    memcpy(&f, &word, sizeof f);
    const int32_t n = (int32_t)word;
    switch (type) {
    case LW_TEXEL_u8: return word < 255 ? word : 255;
    case LW_TEXEL_u16: return word < 65535 ? word : 65535;
    case LW_TEXEL_s8: return (uint32_t)(n < -128 ? -128 : n > 127 ? 127 : n);
    case LW_TEXEL_s16: return (uint32_t)(n < -32768 ? -32768 : n > 32767 ? 32767 : n);
    case LW_TEXEL_f16:
        return f == f ? lw_cvt_f16_f32(f, LW_FLOAT_RZ) : 0x7c00 | (word >> 16 & 0x8000) | (word >> 13 & 0x3ff);
    default: return word;
    }
}

/* All channels of a texel, of which those that were not given are 0. */
LW_RACY static void put_texel(char *to, const lw_texture *t, const uint32_t *words, uint32_t count) {
    const uint32_t bytes = lw_texels[t->type].bytes;
    for (uint32_t k = 0; k < t->channels; k++) {
        const uint32_t value = formatted(k < count ? words[k] : 0, t->type);
        memcpy(to + k * bytes, &value, bytes);
    }
}

const lw_op *lw_step_surface_store(lw_gang *gang, const lw_op *op) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const uint32_t *slots = gang->frame->code->slots + op->d, first = values_of(form), count = form.operands - first,
                   bytes = count * word_bytes(form);
    LW_FOR_LANES(lane, gang->mask) {
        surface s;
        char *place;
        uint32_t words[4];
        if (!find(gang, op, lane, &s) || !find_place(gang, op, lane, &s, bytes, &place)) return NULL;
        for (uint32_t k = 0; k < count; k++) words[k] = LW_SLOT(gang, uint32_t, slots[first + k])[lane];
        if (place && form.is_formatted) put_texel(place, s.texture, words, count);
        else if (place) put_words(place, form, words, count);
    }
    return op + 1;
}

/* ---- Reductions
 * ------------------------------------------------------------------------------------------------------- */

/* By sample the surface's format says whether numbers have a sign. */
static lw_atom_op kind_of(const lw_op *op, const lw_texture *t) {
    const lw_atom_op kind = (lw_atom_op)op->mode;
    if (!lw_texture_unpack(op->c).is_formatted || t->type != LW_TEXEL_s32) return kind;
    return kind == LW_ATOM_min_u ? LW_ATOM_min_s : kind == LW_ATOM_max_u ? LW_ATOM_max_s : kind;
}

/* Texels are as large as what is added to them, and rows of bytes that are smaller begin where that may lie. */
static bool may_reduce(const lw_texture *t, lw_texture_form form, const char *place, uint32_t bytes) {
    return (!form.is_formatted || t->texel_bytes == bytes) && (uintptr_t)place % bytes == 0;
}

const lw_op *lw_step_surface_reduce(lw_gang *gang, const lw_op *op) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const uint32_t *slots = gang->frame->code->slots + op->d + values_of(form), bytes = 1u << form.size;
    const lw_memory_form element = {.window = LW_WINDOW_global, .size = form.size, .slot = form.size == 3 ? 3 : 2};
    LW_FOR_LANES(lane, gang->mask) {
        surface s;
        char *place;
        if (!find(gang, op, lane, &s) || !find_place(gang, op, lane, &s, bytes, &place)) return NULL;
        if (place && !may_reduce(s.texture, form, place, bytes)) {
            const spot at = spot_of(gang, form, slots - values_of(form), lane);
            return trap(gang, op, lane, &s, LW_TRAP_texture, LW_TEXTURE_FAULT_geometry, &at);
        }
        uint64_t value = LW_SLOT(gang, uint32_t, slots[0])[lane];
        if (form.size == 3) value |= (uint64_t)LW_SLOT(gang, uint32_t, slots[1])[lane] << 32;
        if (place) lw_atom_reduce(place, (const char *)&value, bytes, kind_of(op, s.texture), element);
    }
    return op + 1;
}
