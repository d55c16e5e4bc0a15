/* texture.c: lookups in textures, and what is asked about them (manual section 9.7.10). What a lookup gives is
 * run/sample.c's; here lanes find their textures, or trap. */
#include "run/interp/texture.h"

/* ---- Textures of lanes ------------------------------------------------------------------------------------------- */

static const lw_op *trap(lw_gang *gang, const lw_op *op, uint32_t lane, lw_texture_fault fault, uint64_t handle,
                         const lw_texture *texture) {
    return lw_gang_trap(
        gang, op, LW_TRAP_texture, lane,
        (lw_trap_record){.access = texture ? texture->label : NULL, .address = handle, .detail = fault});
}

const lw_texture *lw_texture_of_lane(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle,
                                     lw_texture_kind kind) {
    const lw_texture *t = lw_textures_find(gang->cta->grid->textures, handle);
    const lw_texture_fault fault = !t                ? LW_TEXTURE_FAULT_handle
                                   : t->kind != kind ? LW_TEXTURE_FAULT_kind + (uint32_t)kind
                                   : !t->bound       ? LW_TEXTURE_FAULT_unbound
                                                     : LW_TEXTURE_FAULT_none;
    if (!fault) return t;
    trap(gang, op, lane, fault, handle, t);
    return NULL;
}

const char *lw_texture_memory(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle, const lw_texture *t) {
    const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, t->image.address, t->image_bytes);
    if (range) return range->host - range->base;
    trap(gang, op, lane, LW_TEXTURE_FAULT_memory, handle, t);
    return NULL;
}

/* Whether an instruction for such textures, of these dimensions, finds its way in one of that kind. */
static bool fits(const lw_texture *t, lw_texture_form form) {
    static const lw_texture_form shapes[] = {
        [LW_IMAGE_1D] = {.dimensions = 1},
        [LW_IMAGE_2D] = {.dimensions = 2},
        [LW_IMAGE_3D] = {.dimensions = 3},
        [LW_IMAGE_1D_ARRAY] = {.dimensions = 1, .is_array = 1},
        [LW_IMAGE_2D_ARRAY] = {.dimensions = 2, .is_array = 1},
        [LW_IMAGE_CUBE] = {.dimensions = 3, .is_cube = 1},
        [LW_IMAGE_CUBE_ARRAY] = {.dimensions = 3, .is_cube = 1, .is_array = 1},
        [LW_IMAGE_2D_SAMPLES] = {.dimensions = 2, .has_sample = 1},
        [LW_IMAGE_2D_ARRAY_SAMPLES] = {.dimensions = 2, .has_sample = 1, .is_array = 1},
        [LW_IMAGE_LINEAR] = {.dimensions = 1},
        [LW_IMAGE_PITCHED] = {.dimensions = 2},
    };
    const lw_texture_form shape = shapes[t->image.kind];
    const bool has_faces = t->kind == LW_TEXTURE_SURFACE && shape.is_cube; /* layers to a surface */
    if (has_faces) return form.dimensions == 2 && form.is_array && !form.has_sample;
    return shape.dimensions == form.dimensions && shape.is_array == form.is_array && shape.is_cube == form.is_cube &&
           shape.has_sample == form.has_sample;
}

bool lw_texture_fits(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle, const lw_texture *t) {
    if (fits(t, lw_texture_unpack(op->c))) return true;
    trap(gang, op, lane, LW_TEXTURE_FAULT_geometry, handle, t);
    return false;
}

/* Those of `todo` that have the same in a slot of 64 bits as the first of them. */
lw_mask lw_texture_alike(const lw_gang *gang, uint32_t slot, lw_mask todo) {
    const uint64_t *handles = LW_SLOT(gang, uint64_t, slot), first = handles[lw_mask_first(todo)];
    lw_mask same = 0;
    LW_FOR_LANES(lane, todo) if (handles[lane] == first) same |= LW_MASK_BIT(lane);
    return same;
}

/* ---- Lookups ----------------------------------------------------------------------------------------------------- */

/* What lanes get, until all have read what the registers of results may hold. */
typedef struct lookups {
    uint32_t results[4][LW_GANG_LANES];
} lookups;

bool lw_texture_find(lw_gang *gang, const lw_op *op, uint32_t lane, lw_sampled *sampled) {
    const uint64_t handle = LW_SLOT(gang, uint64_t, op->a)[lane];
    const lw_texture *t = lw_texture_of_lane(gang, op, lane, handle, LW_TEXTURE_TEXTURE);
    if (!t || !lw_texture_fits(gang, op, lane, handle, t)) return false;
    *sampled = (lw_sampled){.texture = t, .sampler = &t->sampler};
    if (op->b != LW_NO_SLOT) {
        const lw_texture *s =
            lw_texture_of_lane(gang, op, lane, LW_SLOT(gang, uint64_t, op->b)[lane], LW_TEXTURE_SAMPLER);
        if (!s) return false;
        sampled->sampler = &s->sampler;
    }
    return (sampled->texels = lw_texture_memory(gang, op, lane, handle, t));
}

static void look_up(const lw_gang *gang, const lw_op *op, const lw_sampled *sampled, lw_mask lanes, lookups *to) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const uint32_t *slots = gang->frame->code->slots + op->d + form.results;
    uint32_t operands[32], results[4];
    LW_FOR_LANES(lane, lanes) {
        for (uint32_t k = 0; k < form.operands; k++) operands[k] = LW_SLOT(gang, uint32_t, slots[k])[lane];
        lw_sample(sampled, form, operands, results);
        for (uint32_t k = 0; k < form.results; k++) to->results[k][lane] = results[k];
    }
}

const lw_op *lw_texture_any(lw_gang *gang, const lw_op *op) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    const uint32_t *slots = gang->frame->code->slots + op->d;
    lookups all;
    lw_clear_upper_halves(gang);
    for (lw_mask todo = gang->mask, same; todo; todo &= ~same) {
        lw_sampled sampled;
        same = lw_texture_alike(gang, op->a, todo);
        if (op->b != LW_NO_SLOT) same = lw_texture_alike(gang, op->b, same);
        if (!lw_texture_find(gang, op, lw_mask_first(todo), &sampled)) return NULL;
        look_up(gang, op, &sampled, same, &all);
    }
    for (uint32_t k = 0; k < form.results; k++) {
        uint32_t *slot = LW_SLOT(gang, uint32_t, slots[k]);
        LW_FOR_LANES(lane, gang->mask) slot[lane] = all.results[k][lane];
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, LW_MASK_ALL); /* there are no sparse textures */
    return op + 1;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* As OpenCL numbers them. */
static uint32_t data_type(const lw_texture *t) {
    static const uint16_t
        as_numbers[] = {[LW_TEXEL_u8] = 0x10d2,  [LW_TEXEL_s8] = 0x10d0,  [LW_TEXEL_u16] = 0x10d3,
                        [LW_TEXEL_s16] = 0x10d1, [LW_TEXEL_u32] = 0x10dc, [LW_TEXEL_s32] = 0x10d9},
        as_they_are[] = {
            [LW_TEXEL_u8] = 0x10da,  [LW_TEXEL_s8] = 0x10d7,  [LW_TEXEL_u16] = 0x10db, [LW_TEXEL_s16] = 0x10d8,
            [LW_TEXEL_u32] = 0x10dc, [LW_TEXEL_s32] = 0x10d9, [LW_TEXEL_f16] = 0x10dd, [LW_TEXEL_f32] = 0x10de};
    const bool numbers = t->sampler.normalized_floats && !lw_texels[t->type].is_float;
    return numbers ? as_numbers[t->type] : as_they_are[t->type];
}

static uint32_t channel_order(const lw_texture *t) { /* R, RG, RGBA */
    return t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5;
}

/* An image has no layers where its kind has none. */
static uint32_t layers_of(const lw_texture *t) {
    if (!lw_image_is_layered(&t->image)) return 0;
    return lw_image_is_cube(&t->image) ? t->layers / 6 : t->layers;
}

static bool is_line(const lw_texture *t) { return t->kind != LW_TEXTURE_SURFACE && t->image.kind == LW_IMAGE_1D; }

/* As the hardware has them: layers come behind the extents, and a line of texels is one high, but for surfaces. */
static uint32_t extent_of(const lw_texture *t, lw_texture_attribute what, uint32_t level) {
    if (level >= t->levels) return 0;
    const lw_image_plane *plane = &t->planes[level];
    const lw_image_kind kind = t->image.kind;
    switch (what) {
    case LW_ASK_width: return plane->width;
    case LW_ASK_height:
        return kind == LW_IMAGE_1D_ARRAY ? t->layers : t->image.height || is_line(t) ? plane->height : 0;
    default: return kind == LW_IMAGE_3D ? plane->depth : t->image.height && kind != LW_IMAGE_CUBE ? layers_of(t) : 0;
    }
}

static uint32_t answer(const lw_texture *t, lw_texture_attribute what, uint32_t level) {
    switch (what) {
    case LW_ASK_width:
    case LW_ASK_height:
    case LW_ASK_depth: return extent_of(t, what, level);
    case LW_ASK_channel_data_type: return data_type(t);
    case LW_ASK_channel_order: return channel_order(t);
    case LW_ASK_normalized_coords: return t->sampler.normalized_coords;
    case LW_ASK_array_size: return layers_of(t);
    case LW_ASK_num_mipmap_levels: return t->levels;
    case LW_ASK_num_samples: return t->image.samples ? t->image.samples : 1;
    case LW_ASK_force_unnormalized_coords: return !t->sampler.normalized_coords;
    case LW_ASK_filter_mode: return t->sampler.filter;
    case LW_ASK_addr_mode_0:
    case LW_ASK_addr_mode_1:
    case LW_ASK_addr_mode_2: return t->sampler.address[what - LW_ASK_addr_mode_0];
    case LW_ASK_memory_layout: return 0;
    }
    return 0;
}

const lw_op *lw_step_texture_ask(lw_gang *gang, const lw_op *op) {
    const lw_texture_attribute what = (lw_texture_attribute)op->imm;
    const uint64_t *handles = LW_SLOT(gang, uint64_t, op->a);
    uint32_t *d = LW_SLOT(gang, uint32_t, op->d), results[LW_GANG_LANES];
    LW_FOR_LANES(lane, gang->mask) {
        const lw_texture *t = lw_textures_find(gang->cta->grid->textures, handles[lane]);
        if (!t || !t->bound)
            return trap(gang, op, lane, t ? LW_TEXTURE_FAULT_unbound : LW_TEXTURE_FAULT_handle, handles[lane], t);
        results[lane] = answer(t, what, op->b == LW_NO_SLOT ? 0 : LW_SLOT(gang, uint32_t, op->b)[lane]);
    }
    LW_FOR_LANES(lane, gang->mask) d[lane] = results[lane];
    return op + 1;
}

const lw_op *lw_step_texture_is(lw_gang *gang, const lw_op *op) {
    const uint64_t *handles = LW_SLOT(gang, uint64_t, op->a);
    lw_mask is = 0;
    LW_FOR_LANES(lane, gang->mask) {
        const lw_texture *t = lw_textures_find(gang->cta->grid->textures, handles[lane]);
        if (t && t->label && t->kind == (lw_texture_kind)op->imm)
            is |= LW_MASK_BIT(lane); /* objects are no references */
    }
    lw_put_mask(gang, op->d, is);
    return op + 1;
}
