/* launch.c: launches, what a trap becomes, and how many CTAs seem to fit.
 *
 * The arguments of a launch are looked at when it is called, and what it does shows later: from a trap on, every call
 * that needs a context returns the error. With CUDA_LAUNCH_BLOCKING=1 the launch returns it, too. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Traps ----------------------------------------------------------------------------------------------------- */

static CUresult trap_result(uint32_t number) {
    static const struct {
        lw_diag_id id;
        CUresult result;
    } rows[] = {
#define TRAP(name, where, says, address, result) {LW_D_trap_##name, result},
#include "traps.def"
    };
    for (size_t i = 0; i < LW_COUNT(rows); i++)
        if (lw_diag_rows[rows[i].id].number == number) return rows[i].result;
    return CUDA_ERROR_LAUNCH_FAILED;
}

static CUresult trapped(void) {
    lw_trap_info trap = {0};
    lw_trap(lw_cu.device, &trap);
    lw_cu_report(LW_CU_REPORT_ERRORS, "a kernel trapped:\n%s", trap.report ? trap.report : "");
    return trap_result(trap.number);
}

/* ---- Launches -------------------------------------------------------------------------------------------------- */

/* Reads `extra`: names and values in turn, up to the end mark. Nothing before it is for kernels without parameters. */
static bool read_extra(void **extra, lw_launch_config *config) {
    static const char nothing[1];
    const size_t *size = NULL;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) config->param_buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
        else return false;
    }
    if (!size && !config->param_buffer) return true;
    if (size) config->param_buffer_size = *size;
    if (!config->param_buffer && size && !*size) config->param_buffer = nothing;
    return size && config->param_buffer;
}

enum { PORTABLE_CLUSTER = 8 };

/* The result says no more than that something of the launch is wrong. The first one of a process tells what; whoever
 * tries shapes until one fits need not read all of them. */
LW_PRINTF(2, 3) static void refused(CUfunction function, const char *format, ...) {
    static atomic_bool told;
    const bool first = !atomic_exchange(&told, true);
    lw_text why = {0};
    va_list args;
    va_start(args, format);
    lw_text_vsay(&why, format, args);
    va_end(args);
    lw_cu_report(first ? LW_CU_REPORT_ERRORS : LW_CU_REPORT_ALL, "a launch of kernel '%s' was refused: %s",
                 function->info.name, why.at ? why.at : "");
    lw_text_free(&why);
}

/* What CUDA refuses although Lanewise could run it. */
static CUresult check(CUfunction function, const lw_launch_config *config) {
    const uint32_t *cluster = config->cluster[0] ? config->cluster : function->clusters.required;
    if ((uint64_t)cluster[0] * cluster[1] * cluster[2] > PORTABLE_CLUSTER && !function->large_clusters) {
        refused(function,
                "clusters of %ux%ux%u CTAs: more than %d need CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
                cluster[0], cluster[1], cluster[2], PORTABLE_CLUSTER);
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    if (config->shared_bytes > function->dynamic_most) {
        refused(function, "%u bytes of dynamic shared memory are asked for, and cuFuncSetAttribute allows %u",
                config->shared_bytes, function->dynamic_most);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* With a copy of its parameters: the caller may change his as soon as the call has returned. */
static CUresult make_kernel(lw_cu_op *op, CUfunction function, const lw_launch_config *config, void **params) {
    LW_OWN_FLOAT_MODE(callers);
    const size_t size = function->info.param_bytes;
    lw_params_room room;
    char *laid_out = NULL, *copy = NULL;
    lw_status status = lw_launch_check(function->kernel, config);
    if (status == LW_OK) status = lw_launch_params(function->kernel, config, params, &room, &laid_out);
    if (status != LW_OK) {
        refused(function, "%s", lw_context_message(lw_cu.device));
        return lw_cu_result(status);
    }
    if (laid_out && (copy = malloc(size))) memcpy(copy, laid_out, size);
    if (laid_out != room.bytes) free(laid_out);
    if (laid_out && !copy) return CUDA_ERROR_OUT_OF_MEMORY;
    *op = (lw_cu_op){.kind = LW_CU_OP_KERNEL, .owned = copy, .kernel = {.function = function, .config = *config}};
    op->kernel.config.param_buffer = copy;
    op->kernel.config.param_buffer_size = size;
    lw_cu_hold(&function->object);
    return CUDA_SUCCESS;
}

CUresult lw_cu_run_kernel(const lw_cu_op *op) {
    lw_launch_stats stats;
    const lw_status status =
        lw_launch(op->kernel.function->kernel, &op->kernel.config, NULL, lw_cu.counts ? &stats : NULL);
    if (lw_cu.counts) lw_cu_count_launch(op->kernel.function->info.name, &stats);
    return status == LW_TRAPPED ? trapped() : lw_cu_fail("cuLaunchKernel", status);
}

CUresult lw_cu_make_launch(lw_cu_op *op, CUfunction function, lw_launch_config *config, void **params, void **extra) {
    const CUresult result = check(function, config);
    if (result) return result;
    if ((params && extra) || (extra && !read_extra(extra, config))) return CUDA_ERROR_INVALID_VALUE;
    config->print_limit = function->object.owner->limits[CU_LIMIT_PRINTF_FIFO_SIZE];
    config->heap_bytes = function->object.owner->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    config->strict = lw_cu.strict;
    config->size = sizeof *config;
    return make_kernel(op, function, config, params);
}

static CUresult launch(CUfunction function, lw_launch_config *config, CUstream stream, void **params, void **extra) {
    lw_cu_op op;
    CUresult result = lw_cu_enter_function(&function);
    if (!result) result = lw_cu_check_stream(stream);
    if (!result) result = lw_cu_make_launch(&op, function, config, params, extra);
    return result ? result : lw_cu_submit(stream, &op, NULL);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **params,
                        void **extra) {
    LW_CU_CALL;
    lw_launch_config config = {
        .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared};
    return launch(function, &config, stream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void **params) {
    LW_CU_CALL;
    lw_launch_config config = {.grid = {grid_x, grid_y, grid_z},
                               .block = {block_x, block_y, block_z},
                               .shared_bytes = shared,
                               .cooperative = true};
    return launch(function, &config, stream, params, NULL);
}

static CUresult read_attribute(const CUlaunchAttribute *attribute, lw_launch_config *config) {
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: config->cooperative = attribute->value.cooperative != 0; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        config->cluster[0] = attribute->value.clusterDim.x;
        config->cluster[1] = attribute->value.clusterDim.y;
        config->cluster[2] = attribute->value.clusterDim.z;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_IGNORE: /* from here on: hints, and orders that one stream keeps anyway */
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult read_config(const CUlaunchConfig *from, lw_launch_config *config) {
    if (!from || (from->numAttrs && !from->attrs)) return CUDA_ERROR_INVALID_VALUE;
    *config = (lw_launch_config){.grid = {from->gridDimX, from->gridDimY, from->gridDimZ},
                                 .block = {from->blockDimX, from->blockDimY, from->blockDimZ},
                                 .shared_bytes = from->sharedMemBytes};
    for (unsigned i = 0; i < from->numAttrs; i++) {
        CUresult result = read_attribute(&from->attrs[i], config);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *from, CUfunction function, void **params, void **extra) {
    LW_CU_CALL;
    lw_launch_config config;
    const CUresult result = read_config(from, &config);
    return result ? result : launch(function, &config, from->hStream, params, extra);
}

/* ---- Occupancy ------------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* What a CTA takes of a multiprocessor's shared memory. */
static uint64_t shared_room(uint64_t bytes) {
    return (bytes + LW_CU_SHARED_RESERVED + LW_CU_SHARED_UNIT - 1) / LW_CU_SHARED_UNIT * LW_CU_SHARED_UNIT;
}

/* CTAs at a time on one of the multiprocessors that the device claims to have. */
static int resident(const lw_kernel_info *info, uint32_t block, uint64_t shared) {
    uint64_t threads = (block + LW_WARP_LANES - 1) / LW_WARP_LANES * LW_WARP_LANES, bytes = info->shared_bytes + shared;
    if (block > info->max_threads || bytes > LW_CU_SHARED_MOST) return 0;
    uint64_t blocks = least(LW_CU_SM_BLOCKS, LW_CU_SM_THREADS / threads);
    return (int)least(blocks, LW_CU_SM_SHARED / shared_room(bytes));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block,
                                                              size_t shared, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_function(&function);
    if (result) return result;
    if (!blocks || block <= 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    *blocks = resident(&function->info, (uint32_t)block, shared > LW_CU_SM_SHARED ? LW_CU_SM_SHARED : shared);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block, size_t shared) {
    LW_CU_CALL;
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block, shared, 0);
}

/* The most dynamic shared memory with which so many CTAs fit at a time, and that a launch may ask for. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int block) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_function(&function);
    if (result) return result;
    if (!bytes || blocks <= 0 || block <= 0 || resident(&function->info, (uint32_t)block, 0) < blocks)
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t room = LW_CU_SM_SHARED / (uint64_t)blocks / LW_CU_SHARED_UNIT * LW_CU_SHARED_UNIT;
    *bytes = least(room - LW_CU_SHARED_RESERVED - function->info.shared_bytes, function->dynamic_most);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_function(&function);
    if (result) return result;
    if (!grid || !block || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    int most = (int)function->info.max_threads, best = 0;
    if (limit > 0 && limit < most) most = limit;
    *block = *grid = 0;
    for (int size = most; size > 0; size = (size - 1) / LW_WARP_LANES * LW_WARP_LANES) { /* the largest of the best */
        int each =
            resident(&function->info, (uint32_t)size, least(shared_of ? shared_of(size) : shared, LW_CU_SM_SHARED));
        if (each * size <= best) continue;
        best = each * size;
        *block = size;
        *grid = each * (int)lw_context_threads(lw_cu.device);
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
    LW_CU_CALL;
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

/* What a launch would be like; the CTAs of it at a time on one multiprocessor. */
static CUresult read_launch(CUfunction function, const CUlaunchConfig *from, lw_launch_config *config, int *each) {
    CUresult result = lw_cu_enter_function(&function);
    if (!result) result = read_config(from, config);
    if (!result) result = lw_cu_check_stream(from->hStream);
    if (result) return result;
    const uint64_t threads = lw_volume(config->block);
    if (!threads || threads > function->info.max_threads) return CUDA_ERROR_INVALID_VALUE;
    *each = resident(&function->info, (uint32_t)threads, config->shared_bytes);
    return CUDA_SUCCESS;
}

/* Clusters at a time, each on the multiprocessors of one GPC, and never more than so many CTAs of them on one (as an
 * H200 says). One there is always: a cluster runs on one worker. */
static int resident_clusters(uint64_t each, uint64_t size) {
    each = least(each, LW_CU_SM_CLUSTERED);
    const uint64_t all = lw_context_threads(lw_cu.device), whole = all / LW_CU_GPC, rest = all % LW_CU_GPC;
    const uint64_t clusters = whole * (LW_CU_GPC * each / size) + rest * each / size;
    return (int)(each && !clusters ? 1 : clusters);
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *from) {
    LW_CU_CALL;
    lw_launch_config config;
    int each;
    CUresult result = clusters ? read_launch(function, from, &config, &each) : CUDA_ERROR_INVALID_VALUE;
    if (!result) result = check(function, &config);
    if (result) return result;
    const uint32_t *cluster = lw_launch_cluster(function->kernel, &config);
    const bool is_given = cluster[0] || cluster[1] || cluster[2];
    const uint64_t size = lw_volume(cluster);
    const uint32_t *required = function->clusters.required;
    *clusters = 0; /* where there are none */
    if (!is_given) return CUDA_SUCCESS;
    uint32_t ctas[3];
    lw_launch_ctas(function->kernel, &config, ctas);
    for (int i = 0; i < 3; i++)
        if (!cluster[i] || ctas[i] % cluster[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (size > function->clusters.most || (required[0] && memcmp(required, cluster, 3 * sizeof *required)))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *clusters = resident_clusters((uint64_t)each, size);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *from) {
    LW_CU_CALL;
    lw_launch_config config;
    int each;
    CUresult result = size ? read_launch(function, from, &config, &each) : CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    const uint64_t most = function->large_clusters ? LW_CLUSTER_MOST : PORTABLE_CLUSTER;
    *size = each ? (int)least(most, function->clusters.most) : 0;
    return CUDA_SUCCESS;
}
