/* variables.c: memory and initial values of .global and .const variables (manual sections 5.1 and 5.4).
 *
 * Each variable is an allocation of its own, so that an access past its end is found. */
#include "middle/ptx.h"
#include "session/session.h"

#include <stdlib.h>

/* ---- Memory ------------------------------------------------------------------------------------------------ */

static bool has_memory(const lw_object *object) {
    return object->kind == LW_OBJ_VARIABLE && !object->is_range &&
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
    enum { ALIGNED = 256 }; /* as every allocation is */
    uint64_t size = object->size ? object->size : 1, spare = object->align > ALIGNED ? object->align : 0, address;
    /* Before the allocation: nothing may come between it and its record. */
    LW_PUSH(&module->arena, module->memory) = 0;
    uint64_t *own = &module->memory.at[module->memory.count - 1];
    if (is_of_another(module, object)) address = module->options.like->memory.at[module->memory.count - 1];
    else if (take(&module->context->memory, object, size + spare, &address)) *own = address;
    else {
        module->memory.count--;
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

typedef bool lw_visit(lw_module *module, lw_object *object);

/* At module scope, then inside of functions. False: a visit was. */
static bool visit_all(lw_module *module, lw_visit *visit) {
    lw_module_ptx *ptx = module->checked;
    for (uint32_t i = 0; i < ptx->variables.count; i++)
        if (has_memory(ptx->variables.at[i]) && !visit(module, ptx->variables.at[i])) return false;
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
        if (has_memory(ptx->variables.at[i])) module->variables[module->variable_count++] = ptx->variables.at[i];
    if (module->variable_count)
        qsort(module->variables, module->variable_count, sizeof *module->variables, compare_objects);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!kept || strcmp(module->variables[kept - 1]->name->text, module->variables[i]->name->text))
            module->variables[kept++] = module->variables[i];
    module->variable_count = kept;
}

bool lw_variables_find(const lw_module *module, const char *name, uint64_t *address, uint64_t *size) {
    lw_object **found = module->variable_count ? bsearch(name, module->variables, module->variable_count,
                                                         sizeof *module->variables, compare_name)
                                               : NULL;
    if (!found) return false;
    if (address) *address = (*found)->address;
    if (size) *size = (*found)->size;
    return true;
}
