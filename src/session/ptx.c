/* ptx.c: modules of PTX: their kernels and module-scope variables. */
#include "middle/ptx.h"
#include "session/session.h"

#include <stdlib.h>

/* ---- From text to kernels -------------------------------------------------------------------------------------- */

static lw_status check(lw_module *module) {
    lw_module_ptx *ptx;
    if (!lw_ptx_check(&module->arena, &module->source, &module->diags, lw_language_shared(module), &ptx))
        return LW_BAD_SOURCE;
    module->checked = ptx;
    if (ptx->address_size == 32) {
        pthread_mutex_lock(&module->context->memory.lock);
        module->context->memory.low = true;
        pthread_mutex_unlock(&module->context->memory.lock);
    }
    return lw_variables_place(module);
}

static void kernels(lw_module *module) {
    const lw_module_ptx *ptx = module->checked;
    module->kernels = LW_NEW_ARRAY(&module->arena, lw_kernel, ptx->functions.count);
    for (uint32_t i = 0; i < ptx->functions.count; i++) {
        lw_function *function = ptx->functions.at[i]->object->function;
        if (!function->is_entry || !function->has_body) continue;
        module->kernels[module->kernel_count++] = (lw_kernel){.module = module, .function = function};
    }
    lw_variables_sort(module);
}

/* ---- What a kernel is ------------------------------------------------------------------------------------------ */

/* Values of .maxntid, .reqntid or .reqnctapercluster; extents that are not written are 1 (manual section 11.4). */
static bool read_extents(const lw_function *function, lw_tuning_id tuning, uint32_t extents[3]) {
    const lw_directive *directive = lw_function_tuning(function, tuning);
    for (uint32_t k = 0; directive && k < 3; k++) {
        uint64_t value = k < directive->value_count ? directive->values[k] : 1;
        extents[k] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    }
    return directive != NULL;
}

static void describe_params(lw_kernel *kernel) {
    const lw_function *function = kernel->function;
    kernel->params = LW_NEW_ARRAY(&kernel->module->arena, lw_param_info, function->param_count);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const lw_object *object = function->params[i];
        kernel->params[i] = (lw_param_info){.name = object->name->text,
                                            .type = lw_types[object->type].name,
                                            .size = (uint32_t)object->size,
                                            .align = object->align,
                                            .offset = (uint32_t)object->address,
                                            .is_pointer = object->is_pointer};
    }
    kernel->info.param_count = function->param_count;
    kernel->info.param_bytes = function->param_bytes;
}

static void describe_clusters(lw_kernel *kernel) {
    const lw_function *function = kernel->function;
    const lw_directive *most = lw_function_tuning(function, LW_TUNING_maxclusterrank);
    lw_cluster_info *info = &kernel->clusters;
    read_extents(function, LW_TUNING_reqnctapercluster, info->required);
    info->most = most && most->values[0] < LW_CLUSTER_MOST ? (uint32_t)most->values[0] : LW_CLUSTER_MOST;
    info->must_be_given = lw_function_tuning(function, LW_TUNING_explicitcluster) != NULL;
    info->grid_counts = lw_function_tuning(function, LW_TUNING_blocksareclusters) != NULL;
}

static void describe(lw_kernel *kernel) {
    const lw_function *function = kernel->function;
    uint32_t most[3], *exact = kernel->info.required_block;
    kernel->info.name = function->object->name->text;
    kernel->info.max_threads = LW_BLOCK_MOST;
    if (read_extents(function, LW_TUNING_maxntid, most) && lw_volume(most) < LW_BLOCK_MOST)
        kernel->info.max_threads = (uint32_t)lw_volume(most);
    if (read_extents(function, LW_TUNING_reqntid, exact) && lw_volume(exact) < LW_BLOCK_MOST)
        kernel->info.max_threads = (uint32_t)lw_volume(exact);
    describe_clusters(kernel);
    describe_params(kernel);
}

/* ---- The language ---------------------------------------------------------------------------------------------- */

static lw_program *lower(lw_kernel *kernel) {
    lw_module *module = kernel->module;
    return lw_lower_ptx(&module->arena, module->checked, kernel->function, module->context->semantics, &module->diags);
}

uint32_t lw_ptx_target(const lw_kernel *kernel) { return ((const lw_function *)kernel->function)->module->target; }

static void locs(lw_arena *arena, const void *checked, lw_locs *to) { lw_ptx_locs(arena, checked, to); }

/* What the modules of a context share: their spellings. */
static bool open_shared(void **shared) {
    lw_spellings *spellings = malloc(sizeof *spellings);
    if (spellings && lw_spellings_init(spellings)) return *shared = spellings, true;
    free(spellings);
    return false;
}

static void close_shared(void *shared) {
    lw_spellings_end(shared);
    free(shared);
}

const lw_language lw_language_ptx = {
    .name = "ptx",
    .kernel_word = "kernel",
    .block_most = LW_BLOCK_MOST,
    .links = true,
    .open = open_shared,
    .close = close_shared,
    .check = check,
    .kernels = kernels,
    .describe = describe,
    .lower = lower,
    .locs = locs,
};
