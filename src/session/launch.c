/* launch.c: what a launch asks for, checked and laid out. */
#include "session/session.h"

#include <math.h>
#include <stdlib.h>

/* ---- Checks ---------------------------------------------------------------------------------------------------- */

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
    unsigned long long threads = lw_volume(block), most = kernel->module->language->block_most;
    if (threads > most)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_block_threads, block[0], block[1], block[2], threads,
                       (unsigned)most);
    if (block[2] > LW_BLOCK_DEPTH)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_block_depth, block[0], block[1], block[2], LW_BLOCK_DEPTH);
    if (exact[0] && memcmp(exact, block, sizeof info->required_block))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_required_block, block[0], block[1], block[2], info->name,
                       exact[0], exact[1], exact[2]);
    if (threads > info->max_threads)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_max_threads, block[0], block[1], block[2], threads, info->name,
                       info->max_threads);
    return LW_OK;
}

const uint32_t *lw_launch_cluster(const lw_kernel *kernel, const lw_launch_config *config) {
    const uint32_t *asked = config->cluster;
    return asked[0] || asked[1] || asked[2] ? asked : kernel->clusters.required;
}

void lw_launch_ctas(const lw_kernel *kernel, const lw_launch_config *config, uint32_t shape[3]) {
    const uint32_t *cluster = lw_launch_cluster(kernel, config);
    for (int i = 0; i < 3; i++)
        shape[i] = kernel->clusters.grid_counts && cluster[0] ? config->grid[i] * cluster[i] : config->grid[i];
}

/* What the kernel says about clusters. */
static lw_status check_kernel_cluster(const lw_kernel *kernel, const uint32_t cluster[3]) {
    lw_context *context = kernel->module->context;
    const lw_cluster_info *info = &kernel->clusters;
    const char *name = kernel->info.name;
    const uint32_t *exact = info->required;
    if (kernel->module->language->block_most != LW_BLOCK_MOST)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_language, lw_kernel_word(kernel->module), name);
    if (exact[0] && memcmp(exact, cluster, sizeof info->required))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_required, cluster[0], cluster[1], cluster[2], name,
                       exact[0], exact[1], exact[2]);
    if (lw_volume(cluster) > info->most)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_rank, cluster[0], cluster[1], cluster[2],
                       (unsigned long long)lw_volume(cluster), name, info->most);
    return LW_OK;
}

static lw_status check_cluster(const lw_kernel *kernel, const lw_launch_config *config) {
    lw_context *context = kernel->module->context;
    const uint32_t *cluster = lw_launch_cluster(kernel, config);
    uint32_t shape[3];
    if (!cluster[0] && !cluster[1] && !cluster[2]) {
        if (!kernel->clusters.must_be_given) return LW_OK;
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_missing, kernel->info.name);
    }
    if (!cluster[0] || !cluster[1] || !cluster[2])
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_zero_extent, "cluster", cluster[0], cluster[1], cluster[2]);
    if (lw_volume(cluster) > LW_CLUSTER_MOST)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_ctas, cluster[0], cluster[1], cluster[2],
                       (unsigned long long)lw_volume(cluster), LW_CLUSTER_MOST);
    lw_status status = check_kernel_cluster(kernel, cluster);
    if (status != LW_OK) return status;
    for (int i = 0; i < 3 && kernel->clusters.grid_counts; i++)
        if ((uint64_t)config->grid[i] * cluster[i] > INT32_MAX)
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_grid_extent, config->grid[0], config->grid[1],
                           config->grid[2]);
    lw_launch_ctas(kernel, config, shape);
    if ((status = check_grid(context, shape)) != LW_OK) return status;
    for (int i = 0; i < 3; i++)
        if (shape[i] % cluster[i])
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_cluster_grid, shape[0], shape[1], shape[2], cluster[0],
                           cluster[1], cluster[2]);
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
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_local_bytes, kernel->info.name, program->entry->local_bytes,
                       context->stack_limit);
    return LW_OK;
}

lw_status lw_launch_check(lw_kernel *kernel, const lw_launch_config *config) {
    lw_context *context = kernel->module->context;
    if (!(config->time_limit >= 0) || isinf(config->time_limit))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_bad_limit);
    lw_status status = check_grid(context, config->grid);
    if (status == LW_OK) status = check_block(kernel, config->block);
    if (status == LW_OK) status = check_cluster(kernel, config);
    if (status == LW_OK) status = check_memory(kernel, config->shared_bytes);
    if (status == LW_OK && kernel->module->language->shape) status = kernel->module->language->shape(kernel, config);
    return status;
}

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

static lw_status check_params(const lw_kernel *kernel, const lw_launch_config *config, void *const *params) {
    lw_context *context = kernel->module->context;
    const lw_kernel_info *info = &kernel->info;
    if (!params && !config->param_buffer)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_params_missing, lw_kernel_word(kernel->module), info->name,
                       info->param_count);
    if (!params && config->param_buffer_size < info->param_bytes)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_param_buffer, config->param_buffer_size,
                       lw_kernel_word(kernel->module), info->name, info->param_bytes);
    for (uint32_t i = 0; params && i < info->param_count; i++)
        if (!params[i] && kernel->params[i].size)
            return lw_fail(context, LW_BAD_ARGUMENT, LW_D_param_null, i, kernel->params[i].name,
                           lw_kernel_word(kernel->module), info->name);
    return LW_OK;
}

lw_status lw_launch_params(lw_kernel *kernel, const lw_launch_config *config, void *const *params, lw_params_room *few,
                           char **buffer) {
    const lw_kernel_info *info = &kernel->info;
    *buffer = NULL;
    if (!info->param_bytes) return LW_OK;
    lw_status status = check_params(kernel, config, params);
    if (status != LW_OK) return status;
    enum { LINE = 64 };
    size_t room = ((size_t)info->param_bytes + LINE - 1) / LINE * LINE;
    *buffer = room <= sizeof few->bytes ? few->bytes : aligned_alloc(LINE, room);
    if (!*buffer) return lw_fail_memory(kernel->module->context);
    memset(*buffer, 0, room);
    if (!params) memcpy(*buffer, config->param_buffer, info->param_bytes);
    for (uint32_t i = 0; params && i < info->param_count; i++)
        if (kernel->params[i].size) memcpy(*buffer + kernel->params[i].offset, params[i], kernel->params[i].size);
    if (kernel->module->language->parameters) status = kernel->module->language->parameters(kernel, config, *buffer);
    if (status == LW_OK) return LW_OK;
    if (*buffer != few->bytes) free(*buffer);
    *buffer = NULL;
    return status;
}

/* ---- The grid -------------------------------------------------------------------------------------------------- */

/* Without calls a thread needs the kernel's own frame and no more; the less there is, the sooner a wild access is
 * found. */
static uint32_t local_limit(const lw_program *program, uint32_t stack_limit) {
    if (program->takes_stack) return stack_limit;
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->codes[i]->call_count) return stack_limit;
    return (program->entry->local_bytes + 15) & ~15u;
}

void lw_launch_grid(lw_kernel *kernel, const lw_launch_config *config, lw_grid *grid) {
    lw_context *context = kernel->module->context;
    const lw_program *program = kernel->program;
    uint32_t threads = (uint32_t)lw_volume(config->block),
             lanes = (threads + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES;
    grid->program = program;
    grid->source = &kernel->module->source;
    const uint32_t *cluster = lw_launch_cluster(kernel, config), alone[3] = {1, 1, 1};
    grid->has_clusters = cluster[0] != 0;
    memcpy(grid->cluster, grid->has_clusters ? cluster : alone, sizeof grid->cluster);
    lw_launch_ctas(kernel, config, grid->shape);
    memcpy(grid->block, config->block, sizeof grid->block);
    grid->cta_count = lw_volume(grid->shape);
    grid->cluster_count = grid->has_clusters ? grid->cta_count / lw_volume(grid->cluster) : grid->cta_count;
    grid->shared_bytes = (uint32_t)shared_bytes(program, config->shared_bytes);
    grid->dynamic_shared = config->shared_bytes;
    grid->reserved_shared = 0;
    if (program->reserves_shared) {
        grid->reserved_shared = LW_SHARED_RESERVED;
        grid->shared_bytes = (grid->shared_bytes + 15) / 16 * 16 + LW_SHARED_RESERVED; /* aligned for any access */
    }
    grid->local_limit = local_limit(program, context->stack_limit);
    grid->cooperative = config->cooperative;
    grid->strict = config->strict;
    grid->step_limit = config->step_limit;
    grid->grid_number = atomic_fetch_add(&context->launches, 1) + 1;
    grid->gang_lanes = lanes < LW_GANG_LANES ? lanes : LW_GANG_LANES;
    grid->stops = &context->stops;
    grid->stops_before = atomic_load(&context->stops);
    atomic_init(&grid->trap_at, UINT64_MAX);
}
