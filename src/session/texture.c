/* texture.c: the calls on textures, samplers, surfaces and references of modules (lanewise/texture.h). */
#include "session/session.h"

#include <stdlib.h>

/* ---- Structs of callers, of whatever version -------------------------------------------------------------------- */

#define FIRST(type, last) (offsetof(type, last) + sizeof((type){0}.last))

static lw_status take_all(lw_context *context, lw_texture *t, const lw_image *image, const lw_image_view *view,
                          const lw_sampler *sampler) {
    const struct {
        const char *name;
        void *all;
        size_t room, first;
        const void *given;
    } parts[] = {
        {"lw_image", &t->image, sizeof t->image, FIRST(lw_image, pitch), image},
        {"lw_image_view", &t->view, sizeof t->view, FIRST(lw_image_view, single_layer), view},
        {"lw_sampler", &t->sampler, sizeof t->sampler, FIRST(lw_sampler, border), sampler},
    };
    for (size_t i = 0; i < LW_COUNT(parts); i++)
        if (!lw_take(parts[i].all, parts[i].room, parts[i].given, parts[i].first))
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_struct_size, parts[i].name, *(const size_t *)parts[i].given,
                           parts[i].room);
    return LW_OK;
}

/* ---- Making them ------------------------------------------------------------------------------------------------ */

/* Behind the texture lies its label, of a reference. */
static lw_texture *allocate(lw_texture_kind kind, const char *label) {
    const size_t size = label ? strlen(label) + 1 : 0;
    lw_texture *made = calloc(1, sizeof *made + size);
    if (!made) return NULL;
    made->kind = kind;
    if (label) made->label = memcpy(made + 1, label, size);
    return made;
}

static lw_status make(lw_context *context, lw_texture_kind kind, const char *label, const lw_image *image,
                      const lw_image_view *view, const lw_sampler *sampler, lw_texture **result) {
    lw_texture *made = allocate(kind, label);
    if (!made) return lw_fail_memory(context);
    made->bound = kind == LW_TEXTURE_SAMPLER ? sampler != NULL : image != NULL;
    lw_status status = take_all(context, made, image, view, sampler);
    const char *wrong = status == LW_OK ? lw_texture_complete(made) : NULL;
    if (wrong) status = lw_fail(context, LW_BAD_ARGUMENT, LW_D_texture_bad, lw_texture_kind_names[kind], wrong);
    if (status == LW_OK) *result = made;
    else free(made);
    return status;
}

static lw_status add(lw_context *context, lw_texture *made, uint64_t *handle) {
    *handle = lw_textures_add(&context->textures, made, false);
    if (*handle) return LW_OK;
    free(made);
    return lw_fail_memory(context);
}

static lw_status make_new(lw_context *context, lw_texture_kind kind, const lw_image *image, const lw_image_view *view,
                          const lw_sampler *sampler, uint64_t *handle) {
    lw_texture *made;
    if (!context) return LW_BAD_ARGUMENT;
    if (!handle) return lw_fail_null(context, "the place of the handle");
    *handle = 0;
    lw_status status = make(context, kind, NULL, image, view, sampler, &made);
    return status == LW_OK ? add(context, made, handle) : status;
}

lw_status lw_texture_new(lw_context *context, const lw_image *image, const lw_image_view *view,
                         const lw_sampler *sampler, uint64_t *texture) {
    if (context && !image) return lw_fail_null(context, "image");
    return make_new(context, LW_TEXTURE_TEXTURE, image, view, sampler, texture);
}

lw_status lw_sampler_new(lw_context *context, const lw_sampler *sampler, uint64_t *handle) {
    if (context && !sampler) return lw_fail_null(context, "sampler");
    return make_new(context, LW_TEXTURE_SAMPLER, NULL, NULL, sampler, handle);
}

lw_status lw_surface_new(lw_context *context, const lw_image *image, uint64_t *surface) {
    if (context && !image) return lw_fail_null(context, "image");
    return make_new(context, LW_TEXTURE_SURFACE, image, NULL, NULL, surface);
}

static lw_status no_handle(lw_context *context, uint64_t handle) {
    return lw_fail(context, LW_BAD_ARGUMENT, LW_D_texture_handle, (unsigned long long)handle);
}

lw_status lw_texture_free(lw_context *context, uint64_t handle) {
    if (!context) return LW_BAD_ARGUMENT;
    return lw_textures_remove(&context->textures, handle, false) ? LW_OK : no_handle(context, handle);
}

lw_status lw_texture_set(lw_context *context, uint64_t handle, const lw_image *image, const lw_image_view *view,
                         const lw_sampler *sampler) {
    if (!context) return LW_BAD_ARGUMENT;
    lw_texture *made;
    const uint32_t turn = lw_textures_hold(&context->textures); /* the label is the old one's */
    const lw_texture *old = lw_textures_find(&context->textures, handle);
    lw_status status = old ? make(context, old->kind, old->label, image, view, sampler, &made) : LW_BAD_ARGUMENT;
    lw_textures_drop(&context->textures, turn);
    if (!old) return no_handle(context, handle);
    if (status != LW_OK) return status;
    if (lw_textures_replace(&context->textures, handle, made)) return LW_OK;
    free(made);
    return no_handle(context, handle);
}

lw_texture_kind lw_texture_get(lw_context *context, uint64_t handle, lw_image *image, lw_image_view *view,
                               lw_sampler *sampler) {
    if (!context) return LW_TEXTURE_NONE;
    const uint32_t turn = lw_textures_hold(&context->textures);
    const lw_texture *found = lw_textures_find(&context->textures, handle);
    const lw_texture_kind kind = found ? found->kind : LW_TEXTURE_NONE;
    if (found && image) *image = found->image;
    if (found && view) *view = found->view;
    if (found && sampler) *sampler = found->sampler;
    lw_textures_drop(&context->textures, turn);
    return kind;
}

/* ---- References of modules -------------------------------------------------------------------------------------- */

bool lw_reference_add(lw_context *context, lw_texture_kind kind, const char *name, const lw_sampler *sampler,
                      uint64_t *handle) {
    lw_texture *made = allocate(kind, name);
    if (!made) return false;
    if ((made->bound = sampler)) made->sampler = *sampler;
    *handle = lw_textures_add(&context->textures, made, true);
    if (!*handle) free(made);
    return *handle;
}

lw_texture_kind lw_module_reference(lw_module *module, const char *name, uint64_t *handle) {
    return module && module->good && name ? lw_variables_reference(module, name, handle) : LW_TEXTURE_NONE;
}
