/* variables.c: memory and initial values of .global and .const variables (manual sections 5.1 and 5.4).
 *
 * Each variable is an allocation of its own, so that an access past its end is found. */
#include "middle/ptx.h"
#include "session/session.h"

#include <stdlib.h>

/* ---- References ----------------------------------------------------------------------------------------- */

/* .texref, .samplerref, .surfref, and what stood for the first before PTX 1.5. Their address is a handle: nothing lies
 * in memory. */
static lw_texture_kind reference_kind(const lw_object *object) {
    if (object->kind != LW_OBJ_VARIABLE || object->linkage == LW_LINK_extern || object->dimension_count)
        return LW_TEXTURE_NONE;
    if (object->space == LW_SPACE_tex || object->type == LW_T_texref) return LW_TEXTURE_TEXTURE;
    if (object->type == LW_T_samplerref) return LW_TEXTURE_SAMPLER;
    return object->type == LW_T_surfref ? LW_TEXTURE_SURFACE : LW_TEXTURE_NONE;
}

static int find_word(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words[i] && !strcmp(word, words[i])) return (int)i;
    return -1;
}

/* addr_mode_0 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 */
static void take_field(lw_sampler *sampler, const lw_init *field) {
    static const char *const modes[] = {"wrap", "clamp_to_edge", "mirror", "clamp_to_border"}, *const filters[] = {
                                                                                                   "nearest", "linear"};
    const char *name = field->parts[0].name->text, *word = "";
    if (field->parts[1].kind == LW_INIT_NAME) word = field->parts[1].name->text;
    if (!strcmp(word, "clamp_ogl")) word = "clamp_to_edge";
    const int mode = find_word(word, modes, LW_COUNT(modes)), filter = find_word(word, filters, LW_COUNT(filters));
    if (!strncmp(name, "addr_mode_", 10) && mode >= 0) sampler->address[name[10] - '0'] = (lw_address_mode)mode;
    else if (!strcmp(name, "filter_mode") && filter >= 0) sampler->filter = (lw_filter)filter;
    else if (!strcmp(name, "force_unnormalized_coords")) sampler->normalized_coords = !field->parts[1].value;
}

/* A sampler's value binds it; all that textures and surfaces are they get when they are bound. */
static bool place_reference(lw_module *module, lw_object *object) {
    const lw_texture_kind kind = reference_kind(object);
    lw_sampler sampler = {.normalized_coords = true, .normalized_floats = true};
    const bool bound = kind == LW_TEXTURE_SAMPLER && object->init;
    for (uint32_t i = 0; bound && i < object->init->part_count; i++) take_field(&sampler, &object->init->parts[i]);
    LW_PUSH(&module->arena, module->references) = 0;
    uint64_t *own = &module->references.at[module->references.count - 1];
    if (!lw_reference_add(module->context, kind, object->name->text, bound ? &sampler : NULL, own)) return false;
    object->address = *own;
    return true;
}

/* ---- Memory ------------------------------------------------------------------------------------------------ */

static bool has_memory(const lw_object *object) {
    return !reference_kind(object) && object->kind == LW_OBJ_VARIABLE && !object->is_range &&
           (object->space == LW_SPACE_global || object->space == LW_SPACE_const);
}

/* Managed ones are where the host has the same address; 32-bit ones reach nothing there. */
static bool take(lw_memory *memory, const lw_object *object, uint64_t size, uint64_t *address) {
    return lw_memory_take_variable(memory, size, object->space == LW_SPACE_const, object->managed && !memory->low,
                                   address);
}

static bool is_of_another(const lw_module *module, const lw_object *object) {
    return object->managed && module->options.like;
}

static bool place_variable(lw_module *module, lw_object *object) {
    if (reference_kind(object)) return place_reference(module, object);
    enum { ALIGNED = 256 }; /* as every allocation is */
    uint64_t size = object->size ? object->size : 1, spare = object->align > ALIGNED ? object->align : 0, address;
    /* Before the allocation: nothing may come between it and its record. */
    LW_PUSH(&module->arena, module->memory) = 0;
    uint64_t *own = &module->memory.at[module->memory.count - 1];
    if (is_of_another(module, object)) address = module->options.like->memory.at[module->memory.count - 1];
    else if (take(&module->context->memory, object, size + spare, &address)) *own = address;
    else {
        module->memory.count--;
        module->full = true;
        lw_fail_full(module->context, object->name->text, size);
        return false;
    }
    object->address = spare ? (address + spare - 1) & ~(spare - 1) : address;
    return true;
}

void lw_variables_free(lw_module *module) {
    for (; module->memory.count; module->memory.count--) {
        const uint64_t own = module->memory.at[module->memory.count - 1];
        if (own) lw_memory_give(&module->context->memory, own);
    }
    for (; module->references.count; module->references.count--)
        lw_textures_remove(&module->context->textures, module->references.at[module->references.count - 1], true);
}

/* ---- Initial values ------------------------------------------------------------------------------------------ */

/* 0 for what is defined nowhere, as drivers have it. */
static uint64_t address_of_function(const lw_function *function) {
    return function->has_body ? LW_CODE_WINDOW + 16 * (uint64_t)function->object->number : 0;
}

static uint64_t address_of(const lw_init *init) {
    const lw_object *object = init->object;
    uint64_t address = object->kind == LW_OBJ_FUNCTION ? address_of_function(object->function)
                                                       : lw_object_linked(object)->address + (uint64_t)init->offset;
    return init->value ? (address & init->value) >> __builtin_ctzll(init->value) : address;
}

static void write_level(const lw_object *object, const lw_init *init, uint32_t level, char *at) {
    uint32_t bytes = lw_types[object->type].bits / 8;
    if (init->kind == LW_INIT_LIST) {
        uint64_t stride = level == object->dimension_count ? bytes : (uint64_t)bytes * object->vector;
        for (uint32_t i = level + 1; i < object->dimension_count; i++) stride *= object->dimensions[i];
        for (uint32_t i = 0; i < init->part_count; i++)
            write_level(object, &init->parts[i], level + 1, at + i * stride);
        return;
    }
    uint64_t value = init->kind == LW_INIT_NAME ? address_of(init)
                     : init->is_float           ? lw_float_bits(init->value, init->single, 8 * bytes)
                                                : init->value;
    memcpy(at, &value, bytes < sizeof value ? bytes : sizeof value);
}

static void write_initial(lw_module *module, const lw_object *object) {
    if (!object->init || lw_types[object->type].kind == 'X')
        return; /* textures and samplers have attributes, not contents */
    write_level(object, object->init, 0, lw_memory_host(&module->context->memory, object->address));
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static bool is_placed(const lw_object *object) { return has_memory(object) || reference_kind(object); }

typedef bool lw_visit(lw_module *module, lw_object *object);

/* At module scope, then inside of functions. False: a visit was. */
static bool visit_all(lw_module *module, lw_visit *visit) {
    lw_module_ptx *ptx = module->checked;
    for (uint32_t i = 0; i < ptx->variables.count; i++)
        if (is_placed(ptx->variables.at[i]) && !visit(module, ptx->variables.at[i])) return false;
    for (uint32_t f = 0; f < ptx->functions.count; f++) {
        const lw_function *function = ptx->functions.at[f];
        for (uint32_t s = 0; s < function->body.count; s++) {
            const lw_statement *statement = &function->body.at[s];
            if (statement->kind == LW_S_VARIABLE && has_memory(statement->object) && !visit(module, statement->object))
                return false;
        }
    }
    return true;
}

static bool initialise(lw_module *module, lw_object *object) {
    if (!is_of_another(module, object)) write_initial(module, object);
    return true;
}

lw_status lw_variables_place(lw_module *module) {
    const lw_module_ptx *ptx = module->checked;
    lw_ptx_check_complete(ptx, &module->diags, ptx->linked_count != 0);
    if (module->diags.errors) return LW_BAD_SOURCE;
    if (!visit_all(module, place_variable)) return LW_NO_MEMORY;
    visit_all(module, initialise); /* once all have their addresses */
    return LW_OK;
}

static int compare_name(const void *name, const void *object) {
    return strcmp(name, (*(lw_object *const *)object)->name->text);
}
/* By name; private ones of linked modules behind the one that all of them know. */
static int compare_objects(const void *a, const void *b) {
    const lw_object *x = *(lw_object *const *)a, *y = *(lw_object *const *)b;
    const int by_name = strcmp(x->name->text, y->name->text),
              by_linkage = (x->linkage == LW_LINK_none) - (y->linkage == LW_LINK_none);
    if (by_name || by_linkage) return by_name ? by_name : by_linkage;
    return (x->place.at > y->place.at) - (x->place.at < y->place.at);
}

void lw_variables_sort(lw_module *module) {
    lw_module_ptx *ptx = module->checked;
    module->variables = LW_NEW_ARRAY(&module->arena, lw_object *, ptx->variables.count);
    for (uint32_t i = 0; i < ptx->variables.count; i++)
        if (is_placed(ptx->variables.at[i])) module->variables[module->variable_count++] = ptx->variables.at[i];
    if (module->variable_count)
        qsort(module->variables, module->variable_count, sizeof *module->variables, compare_objects);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!kept || strcmp(module->variables[kept - 1]->name->text, module->variables[i]->name->text))
            module->variables[kept++] = module->variables[i];
    module->variable_count = kept;
}

static const lw_object *find(const lw_module *module, const char *name) {
    lw_object **found = module->variable_count ? bsearch(name, module->variables, module->variable_count,
                                                         sizeof *module->variables, compare_name)
                                               : NULL;
    return found ? *found : NULL;
}

bool lw_variables_find(const lw_module *module, const char *name, uint64_t *address, uint64_t *size) {
    const lw_object *found = find(module, name);
    if (!found || reference_kind(found)) return false;
    if (address) *address = found->address;
    if (size) *size = found->size;
    return true;
}

const char *lw_variables_at(const lw_module *module, const lw_range *range) {
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const lw_object *object = module->variables[i];
        if (!reference_kind(object) && object->address - range->base < range->size) return object->name->text;
    }
    return NULL;
}

lw_texture_kind lw_variables_reference(const lw_module *module, const char *name, uint64_t *handle) {
    const lw_object *found = find(module, name);
    const lw_texture_kind kind = found ? reference_kind(found) : LW_TEXTURE_NONE;
    if (kind && handle) *handle = found->address;
    return kind;
}
