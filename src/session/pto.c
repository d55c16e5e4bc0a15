/* pto.c: modules of PTO: their options, their functions as kernels, what a launch of one must fit. */
#include "middle/pto.h"
#include "session/session.h"

/* ---- Functions ------------------------------------------------------------------------------------------------- */

/* PTX's name of a type, which the tool's arguments have, too. */
static const char *type_name(lw_arena *arena, lw_pto_scalar type) {
    const lw_pto_scalar_info *info = &lw_pto_scalars[type];
    return lw_arena_printf(arena, "%c%u", info->kind == 'S' ? 's' : 'u', info->bits < 8 ? 8u : info->bits);
}

static void describe_type(lw_arena *arena, const lw_pto_type *type, lw_param_info *param) {
    param->is_mask = type->kind == LW_PTO_MASK;
    param->is_register = param->is_mask || type->kind == LW_PTO_VREG;
    if (type->kind == LW_PTO_SCALAR && !param->is_result) {
        param->type = type_name(arena, type->element);
        return;
    }
    param->type = "u64";
    param->is_pointer = true;
    param->element = param->is_mask ? "u8" : type_name(arena, type->element);
    param->any_length = type->kind == LW_PTO_MEMREF && type->count == UINT64_MAX;
    param->elements = param->is_register            ? type->lanes
                      : type->kind == LW_PTO_SCALAR ? 1
                      : param->any_length           ? 0
                                                    : type->count;
}

static const char *result_name(lw_arena *arena, const lw_pto_function *f, uint32_t number) {
    if (f->result_count == 1) return "result";
    return lw_arena_printf(arena, "result%u", number);
}

static void describe(lw_kernel *kernel) {
    lw_arena *arena = &kernel->module->arena;
    const lw_pto_function *f = kernel->function;
    lw_pto_param *places;
    uint32_t count = lw_pto_params(arena, f, &places);
    kernel->info = (lw_kernel_info){.name = f->name->text + 1, .param_count = count, .max_threads = LW_PTO_LANES_MAX};
    kernel->params = LW_NEW_ARRAY(arena, lw_param_info, count);
    for (uint32_t i = 0; i < count; i++) {
        lw_param_info *param = &kernel->params[i];
        param->size = param->align = places[i].size;
        param->offset = places[i].offset;
        kernel->info.param_bytes = param->offset + param->size;
        if (i < f->argument_count) {
            const lw_pto_value *value = f->arguments[i];
            param->name = value->name ? value->name->text + 1 : "";
            describe_type(arena, value->type, param);
        } else if (i < f->argument_count + f->result_count) {
            param->is_result = true;
            param->name = result_name(arena, f, i - f->argument_count);
            describe_type(arena, f->results[i - f->argument_count], param);
        } else {
            param->name = "count", param->type = "u64";
            kernel->info.has_arrays = true;
        }
    }
}

static lw_status check(lw_module *module) {
    lw_pto_module *pto;
    if (!lw_pto_check(&module->arena, &module->source, &module->diags, (lw_pto_profile)module->options.target, &pto))
        return LW_BAD_SOURCE;
    module->checked = pto;
    return LW_OK;
}

static void kernels(lw_module *module) {
    const lw_pto_module *pto = module->checked;
    module->kernels = LW_NEW_ARRAY(&module->arena, lw_kernel, pto->functions.count);
    for (uint32_t i = 0; i < pto->functions.count; i++)
        if (pto->functions.at[i]->has_body)
            module->kernels[module->kernel_count++] = (lw_kernel){.module = module, .function = pto->functions.at[i]};
}

static lw_program *lower(lw_kernel *kernel) {
    lw_module *module = kernel->module;
    const lw_load_options *o = &module->options;
    const lw_pto_choices choices = {(lw_pto_inactive)o->inactive, (lw_pto_overflow)o->shift_overflow, o->count_regions};
    return lw_lower_pto(&module->arena, module->checked, kernel->function, choices, &module->diags);
}

/* ---- Launches -------------------------------------------------------------------------------------------------- */

enum { FLAT_THREADS = 1024 };
_Static_assert(LW_PTO_LANES_MAX <= LW_CTA_GANGS * LW_GANG_LANES, "the lanes of a register must fit in a CTA");

lw_status lw_launch_shape(lw_kernel *kernel, uint64_t elements, lw_launch_config *config) {
    if (!kernel) return LW_BAD_ARGUMENT;
    lw_context *context = kernel->module->context;
    if (!config) return lw_fail_null(context, "config");
    if (!kernel->info.lanes) return lw_fail(context, LW_BAD_ARGUMENT, LW_D_not_pto, kernel->info.name);
    const lw_program_vector *vector = &kernel->program->vector;
    uint32_t block = vector->lanes;
    if (!vector->repeats) elements = vector->lanes;
    if (!elements || elements > UINT32_MAX)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_elements_none, (unsigned long long)elements);
    if (vector->flat) block = elements < FLAT_THREADS ? (uint32_t)elements : FLAT_THREADS;
    for (int i = 0; i < 3; i++) config->grid[i] = config->block[i] = 1;
    config->block[0] = block;
    config->grid[0] = (uint32_t)((elements + block - 1) / block);
    if (config->grid[0] > INT32_MAX)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_elements_none, (unsigned long long)elements);
    return LW_OK;
}

static lw_status wrong_shape(lw_kernel *kernel, const lw_launch_config *c, const char *why) {
    return lw_fail(kernel->module->context, LW_BAD_ARGUMENT, LW_D_vector_shape, c->grid[0], c->grid[1], c->grid[2],
                   c->block[0], c->block[1], c->block[2], kernel->info.name, why);
}

static lw_status shape(lw_kernel *kernel, const lw_launch_config *config) {
    const lw_program_vector *vector = &kernel->program->vector;
    if (config->grid[1] != 1 || config->grid[2] != 1 || config->block[1] != 1 || config->block[2] != 1)
        return wrong_shape(kernel, config, "both have one dimension");
    if (!vector->flat && config->block[0] != vector->lanes)
        return wrong_shape(kernel, config, "a CTA has one thread for each lane");
    if (!vector->repeats && config->grid[0] != 1)
        return wrong_shape(kernel, config, "without arrays of registers there is one CTA");
    return LW_OK;
}

/* How much of an allocation lies from an address on. */
static uint64_t bytes_from(lw_context *context, uint64_t address) {
    uint64_t base, size;
    if (lw_memory_range(context, address, &base, &size) != LW_OK) return 0;
    return base + size - address;
}

static lw_status parameters(lw_kernel *kernel, const lw_launch_config *config, const char *buffer) {
    lw_context *context = kernel->module->context;
    const lw_pto_function *f = kernel->function;
    const lw_program_vector *vector = &kernel->program->vector;
    for (uint32_t i = 0; i < f->argument_count; i++) {
        const lw_param_info *param = &kernel->params[i];
        uint64_t address;
        if (!param->is_pointer || param->is_register) continue;
        memcpy(&address, buffer + param->offset, sizeof address);
        uint32_t bytes = lw_pto_scalars[f->arguments[i]->type->element].bits / 8;
        uint64_t has = bytes_from(context, address) / bytes;
        if (has < param->elements)
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_memref_short, i, param->name, kernel->info.name,
                           (unsigned long long)param->elements, (unsigned long long)address, (unsigned long long)has);
    }
    if (!vector->repeats) return LW_OK;
    uint64_t count;
    memcpy(&count, buffer + kernel->params[kernel->info.param_count - 1].offset, sizeof count);
    if (!count || count > UINT32_MAX)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_elements_none, (unsigned long long)count);
    uint64_t threads = (uint64_t)config->grid[0] * config->block[0], idle = threads - count;
    if (threads < count || idle >= config->block[0])
        return wrong_shape(kernel, config, "the threads are not as many as the elements");
    return LW_OK;
}

/* ---- The language ---------------------------------------------------------------------------------------------- */

const lw_language lw_language_pto = {
    .name = "pto",
    .kernel_word = "function",
    .sigil = '@',
    .block_most = LW_PTO_LANES_MAX,
    .is_name = lw_pto_is_name,
    .check = check,
    .kernels = kernels,
    .describe = describe,
    .lower = lower,
    .shape = shape,
    .parameters = parameters,
};
