/* texture.c: textures, and the table of their handles. Steps look at it without a lock: what a handle stood for is
 * freed only when no launch runs that could have found it. */
#include "run/texture.h"

#include <stdlib.h>

/* ---- What an image, a view and a sampler make ------------------------------------------------------------------- */

static uint32_t range_of(uint32_t first, uint32_t last, bool single, uint32_t count) {
    return last || first || single ? last - first + 1 : count;
}

static const char *take_view(lw_texture *t) {
    const lw_image *image = &t->image;
    const lw_image_view *view = &t->view;
    lw_image seen = *image;
    if (view->type) seen.type = view->type, seen.channels = view->channels;
    t->texel_bytes = lw_image_texel_bytes(&seen);
    if (t->texel_bytes != lw_image_texel_bytes(image)) return "the view's texels have another size than the image's";
    t->image_bytes = lw_image_bytes(image);
    t->type = seen.type, t->channels = seen.channels;
    const uint32_t levels = image->levels ? image->levels : 1;
    lw_image_plane plane;
    lw_image_level(image, 0, &plane);
    if (view->first_level > view->last_level || view->last_level >= levels)
        return "the view has levels that the image lacks";
    t->levels = range_of(view->first_level, view->last_level, view->single_level, levels);
    const uint32_t layers = image->kind == LW_IMAGE_3D ? 1 : plane.depth;
    if (view->first_layer > view->last_layer || view->last_layer >= layers)
        return "the view has layers that the image lacks";
    t->layers = range_of(view->first_layer, view->last_layer, view->single_layer, layers);
    if (lw_image_is_cube(image) && (t->layers % 6 || view->first_layer % 6)) return "the view has parts of a cube";
    for (uint32_t i = 0; i < t->levels; i++) {
        lw_image_level(image, view->first_level + i, &t->planes[i]);
        t->planes[i].offset += image->address + view->first_layer * t->planes[i].layer_pitch;
        if (image->kind != LW_IMAGE_3D) t->planes[i].depth = t->layers;
    }
    return NULL;
}

static const char *check_sampler(const lw_texture *t) {
    const lw_sampler *s = &t->sampler;
    for (int i = 0; i < 3; i++)
        if ((unsigned)s->address[i] > LW_ADDRESS_BORDER) return "an address mode that is none";
    if ((unsigned)s->filter > LW_FILTER_LINEAR || (unsigned)s->mip_filter > LW_FILTER_LINEAR)
        return "a filter that is none";
    return NULL;
}

static const char *check_reading(const lw_texture *t) {
    const lw_sampler *s = &t->sampler;
    const lw_texel_row *row = &lw_texels[t->type];
    if (s->normalized_floats && !row->is_float && row->bytes == 4)
        return "texels of 32-bit integers are not read as floats";
    if (s->srgb && (t->type != LW_TEXEL_u8 || !s->normalized_floats))
        return "sRGB is for u8 texels that are read as floats";
    if (t->image.kind == LW_IMAGE_LINEAR && s->normalized_coords)
        return "linear memory is read by integers, not by normalized coordinates";
    return NULL;
}

const char *lw_texture_complete(lw_texture *t) {
    if (!t->bound) return NULL;
    const char *wrong = NULL;
    if (t->kind == LW_TEXTURE_SURFACE) t->view = (lw_image_view){.single_level = true};
    if (t->kind != LW_TEXTURE_SAMPLER)
        wrong = lw_image_bytes(&t->image) ? take_view(t) : "the image is none: its kind, format, sizes or pitch";
    if (!wrong && t->kind != LW_TEXTURE_SURFACE) wrong = check_sampler(t);
    if (!wrong && t->kind == LW_TEXTURE_TEXTURE) wrong = check_reading(t);
    return wrong;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum { INDEX_BITS = 20, GENERATIONS = 1 << 12 };

bool lw_textures_init(lw_textures *textures) {
    textures->count = 1; /* 0 is no handle */
    return !pthread_mutex_init(&textures->lock, NULL);
}

const char *const lw_texture_kind_names[] = {
    [LW_TEXTURE_TEXTURE] = "texture", [LW_TEXTURE_SAMPLER] = "sampler", [LW_TEXTURE_SURFACE] = "surface"};

static void free_retired(lw_textures *textures, uint32_t turn) {
    for (lw_texture *t = textures->retired[turn], *next; t; t = next) {
        next = t->retired;
        free(t);
    }
    textures->retired[turn] = NULL;
}

/* The other turn comes when it is over and something waits for the end of this one. */
static void take_turns(lw_textures *textures) {
    for (uint32_t other = !textures->turn; !textures->launches[other]; other = !other) {
        free_retired(textures, other);
        if (!textures->retired[textures->turn]) return;
        textures->turn = other;
    }
}

uint32_t lw_textures_hold(lw_textures *textures) {
    pthread_mutex_lock(&textures->lock);
    const uint32_t turn = textures->turn;
    textures->launches[turn]++;
    pthread_mutex_unlock(&textures->lock);
    return turn;
}

void lw_textures_drop(lw_textures *textures, uint32_t turn) {
    pthread_mutex_lock(&textures->lock);
    textures->launches[turn]--;
    take_turns(textures);
    pthread_mutex_unlock(&textures->lock);
}

void lw_textures_end(lw_textures *textures) {
    for (uint32_t turn = 0; turn < 2; turn++) free_retired(textures, turn);
    for (uint32_t c = 0; c < LW_TEXTURE_CHUNKS; c++) {
        lw_texture_slot *chunk = textures->chunks[c];
        for (uint32_t i = 0; chunk && i < LW_TEXTURE_CHUNK; i++) free(chunk[i].texture);
        free(chunk);
    }
    pthread_mutex_destroy(&textures->lock);
}

static lw_texture_slot *slot_of(const lw_textures *textures, uint32_t index) {
    lw_texture_slot *chunk = textures->chunks[index / LW_TEXTURE_CHUNK];
    return chunk ? &chunk[index % LW_TEXTURE_CHUNK] : NULL;
}

static lw_texture_slot *slot_at(const lw_textures *textures, uint64_t handle) {
    if (handle >> 32) return NULL;
    lw_texture_slot *slot = slot_of(textures, (uint32_t)handle & ((1u << INDEX_BITS) - 1));
    return slot && slot->generation == handle >> INDEX_BITS && slot->texture ? slot : NULL;
}

/* A chunk is used up before indices are taken again, and those first that were given back longest ago: a handle that
 * somebody kept comes round after millions of others only. */
static uint32_t take_index(lw_textures *textures) {
    const bool is_again = textures->free && textures->count % LW_TEXTURE_CHUNK == 0;
    const uint32_t index = is_again ? textures->free : textures->count;
    if (index >= LW_TEXTURE_CHUNK * LW_TEXTURE_CHUNKS) return 0;
    if (!slot_of(textures, index)) {
        lw_texture_slot *chunk = calloc(LW_TEXTURE_CHUNK, sizeof *chunk);
        if (!chunk) return 0;
        textures->chunks[index / LW_TEXTURE_CHUNK] = chunk;
    }
    if (is_again) textures->free = slot_of(textures, index)->next;
    else textures->count++;
    return index;
}

static void give_index(lw_textures *textures, uint32_t index) {
    slot_of(textures, index)->next = 0;
    if (textures->free) slot_of(textures, textures->last_free)->next = index;
    else textures->free = index;
    textures->last_free = index;
}

uint64_t lw_textures_add(lw_textures *textures, lw_texture *texture, bool reference) {
    uint64_t handle = 0;
    pthread_mutex_lock(&textures->lock);
    const uint32_t index = take_index(textures);
    if (index) {
        lw_texture_slot *slot = slot_of(textures, index);
        slot->reference = reference;
        slot->texture = texture;
        handle = (uint64_t)slot->generation << INDEX_BITS | index;
    }
    pthread_mutex_unlock(&textures->lock);
    return handle;
}

/* `texture` is in the table no longer: a launch that begins now does not find it. */
static void retire(lw_textures *textures, lw_texture *texture) {
    texture->retired = textures->retired[textures->turn];
    textures->retired[textures->turn] = texture;
    take_turns(textures);
}

bool lw_textures_replace(lw_textures *textures, uint64_t handle, lw_texture *texture) {
    pthread_mutex_lock(&textures->lock);
    lw_texture_slot *slot = slot_at(textures, handle);
    if (slot) retire(textures, atomic_exchange(&slot->texture, texture));
    pthread_mutex_unlock(&textures->lock);
    return slot;
}

bool lw_textures_remove(lw_textures *textures, uint64_t handle, bool reference) {
    pthread_mutex_lock(&textures->lock);
    lw_texture_slot *slot = slot_at(textures, handle);
    if (slot && slot->reference != reference) slot = NULL;
    if (slot) {
        retire(textures, atomic_exchange(&slot->texture, NULL));
        slot->generation = (slot->generation + 1) % GENERATIONS;
        give_index(textures, (uint32_t)handle & ((1u << INDEX_BITS) - 1));
    }
    pthread_mutex_unlock(&textures->lock);
    return slot;
}

const lw_texture *lw_textures_find(const lw_textures *textures, uint64_t handle) {
    lw_texture_slot *slot = slot_at(textures, handle);
    return slot ? slot->texture : NULL;
}
