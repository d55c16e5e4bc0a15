/* launch.c: what a launch asks for, checked and laid out. */
#include "session/session.h"

#include <math.h>
#include <stdlib.h>

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

/* Values of .maxntid or .reqntid; extents that are not written are 1 (manual section 11.4). */
static bool read_extents(const lw_function *function, const char *name, uint32_t extents[3]) {
    for (uint32_t i = 0; i < function->directives.count; i++) {
        const lw_directive *directive = &function->directives.at[i];
        if (strcmp(directive->name->text, name)) continue;
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t value = k < directive->value_count ? directive->values[k] : 1;
            extents[k] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        }
        return true;
    }
    return false;
}

static uint64_t volume(const uint32_t extents[3]) {
    uint64_t area = (uint64_t)extents[0] * extents[1], all;
    return __builtin_mul_overflow(area, extents[2], &all) ? UINT64_MAX : all;
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

void lw_kernel_describe(lw_kernel *kernel) {
    uint32_t most[3], *exact = kernel->info.required_block;
    kernel->info.name = kernel->function->object->name->text;
    kernel->info.max_threads = LW_BLOCK_MOST;
    if (read_extents(kernel->function, "maxntid", most) && volume(most) < LW_BLOCK_MOST)
        kernel->info.max_threads = (uint32_t)volume(most);
    if (read_extents(kernel->function, "reqntid", exact) && volume(exact) < LW_BLOCK_MOST)
        kernel->info.max_threads = (uint32_t)volume(exact);
    describe_params(kernel);
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static lw_status check_grid(lw_context *context, const uint32_t grid[3]) {
    if (!grid[0] || !grid[1] || !grid[2])
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_zero_extent, "grid", grid[0], grid[1], grid[2]);
    if (grid[0] > INT32_MAX || grid[1] > UINT16_MAX || grid[2] > UINT16_MAX)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_grid_extent, grid[0], grid[1], grid[2]);
    return LW_OK;
}

static lw_status check_block(const lw_kernel *kernel, const uint32_t block[3]) {
    lw_context *context = kernel->module->context;
    const lw_kernel_info *info = &kernel->info;
    const uint32_t *exact = info->required_block;
    if (!block[0] || !block[1] || !block[2])
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_zero_extent, "CTA", block[0], block[1], block[2]);
    unsigned long long threads = volume(block), most = kernel->function ? LW_BLOCK_MOST : LW_PTO_LANES_MAX;
    if (threads > most)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_block_threads, block[0], block[1], block[2], threads,
                       (unsigned)most);
    if (block[2] > LW_BLOCK_DEPTH)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_block_depth, block[0], block[1], block[2],
                       LW_BLOCK_DEPTH);
    if (exact[0] && memcmp(exact, block, sizeof info->required_block))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_required_block, block[0], block[1], block[2],
                       info->name, exact[0], exact[1], exact[2]);
    if (threads > info->max_threads)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_max_threads, block[0], block[1], block[2], threads,
                       info->name, info->max_threads);
    return LW_OK;
}

static uint64_t shared_bytes(const lw_program *program, uint32_t dynamic) {
    return dynamic ? (uint64_t)program->dynamic_shared_offset + dynamic : program->shared_bytes;
}

static lw_status check_memory(const lw_kernel *kernel, uint32_t dynamic) {
    lw_context *context = kernel->module->context;
    const lw_program *program = kernel->program;
    unsigned long long shared = shared_bytes(program, dynamic);
    if (shared > LW_SHARED_MOST)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_shared_bytes, shared, program->shared_bytes, dynamic,
                       LW_SHARED_MOST);
    if (program->entry->local_bytes > context->stack_limit)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_local_bytes, kernel->info.name,
                       program->entry->local_bytes, context->stack_limit);
    return LW_OK;
}

lw_status lw_launch_check(lw_kernel *kernel, const lw_launch_config *config) {
    lw_context *context = kernel->module->context;
    if (!(config->time_limit >= 0) || isinf(config->time_limit))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_bad_limit);
    lw_status status = check_grid(context, config->grid);
    if (status == LW_OK) status = check_block(kernel, config->block);
    if (status == LW_OK) status = check_memory(kernel, config->shared_bytes);
    if (status == LW_OK && kernel->pto_function) status = lw_pto_check_shape(kernel, config);
    return status;
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static lw_status check_params(const lw_kernel *kernel, const lw_launch_config *config, void *const *params) {
    lw_context *context = kernel->module->context;
    const lw_kernel_info *info = &kernel->info;
    if (!params && !config->param_buffer)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_params_missing, lw_kernel_word(kernel->module),
                       info->name, info->param_count);
    if (!params && config->param_buffer_size < info->param_bytes)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_param_buffer, config->param_buffer_size,
                       lw_kernel_word(kernel->module), info->name, info->param_bytes);
    for (uint32_t i = 0; params && i < info->param_count; i++)
        if (!params[i] && kernel->params[i].size)
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_param_null, i, kernel->params[i].name,
                           lw_kernel_word(kernel->module), info->name);
    return LW_OK;
}

lw_status lw_launch_params(lw_kernel *kernel, const lw_launch_config *config, void *const *params,
                           char **buffer) {
    const lw_kernel_info *info = &kernel->info;
    *buffer = NULL;
    if (!info->param_bytes) return LW_OK;
    lw_status status = check_params(kernel, config, params);
    if (status != LW_OK) return status;
    enum { LINE = 64 };
    size_t room = ((size_t)info->param_bytes + LINE - 1) / LINE * LINE;
    if (!(*buffer = aligned_alloc(LINE, room))) return lw_fail_memory(kernel->module->context);
    memset(*buffer, 0, room);
    if (!params) memcpy(*buffer, config->param_buffer, info->param_bytes);
    for (uint32_t i = 0; params && i < info->param_count; i++)
        if (kernel->params[i].size)
            memcpy(*buffer + kernel->params[i].offset, params[i], kernel->params[i].size);
    if (kernel->pto_function) status = lw_pto_check_params(kernel, config, *buffer);
    if (status != LW_OK) free(*buffer), *buffer = NULL;
    return status;
}

/* ---- The grid ------------------------------------------------------------------------------------------------------ */

/* Without calls a thread needs the kernel's own frame and no more; the less there is, the sooner a wild access is found. */
static uint32_t local_limit(const lw_program *program, uint32_t stack_limit) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->codes[i]->call_count) return stack_limit;
    return (program->entry->local_bytes + 15) & ~15u;
}

void lw_launch_grid(lw_kernel *kernel, const lw_launch_config *config, lw_grid *grid) {
    lw_context *context = kernel->module->context;
    const lw_program *program = kernel->program;
    uint32_t threads = (uint32_t)volume(config->block),
             lanes = (threads + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES;
    grid->program = program;
    grid->source = &kernel->module->source;
    memcpy(grid->shape, config->grid, sizeof grid->shape);
    memcpy(grid->block, config->block, sizeof grid->block);
    grid->cta_count = volume(config->grid);
    grid->shared_bytes = (uint32_t)shared_bytes(program, config->shared_bytes);
    grid->dynamic_shared = config->shared_bytes;
    grid->local_limit = local_limit(program, context->stack_limit);
    grid->cooperative = config->cooperative;
    grid->strict = config->strict;
    grid->step_limit = config->step_limit;
    grid->grid_number = atomic_fetch_add(&context->launches, 1) + 1;
    grid->gang_lanes = lanes < LW_GANG_LANES ? lanes : LW_GANG_LANES;
    grid->stops = &context->stops;
    grid->stops_before = atomic_load(&context->stops);
    atomic_init(&grid->trap_cta, UINT64_MAX);
}
