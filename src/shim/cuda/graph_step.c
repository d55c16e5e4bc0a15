/* graph_step.c: what a node does: made of parameters or of an operation, and read back. */
#include "shim/cuda/array.h"
#include "shim/cuda/graph.h"

#include <stdlib.h>

lw_cu_step *lw_cu_step_share(lw_cu_step *step) {
    if (step) atomic_fetch_add(&step->references, 1);
    return step;
}

void lw_cu_step_drop(lw_cu_step *step) {
    if (!step || atomic_fetch_sub(&step->references, 1) != 1) return;
    if (step->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) lw_cu_graph_give_up(step->params.alloc.dptr);
    lw_cu_op_free(&step->op);
    free(step->pointers);
    free(step->attributes);
    free(step);
}

/* Takes the operation, also where there is no memory. */
static lw_cu_step *new_step(lw_cu_op *op, CUgraphNodeType type) {
    lw_cu_step *made = calloc(1, sizeof *made);
    if (!made) {
        lw_cu_op_free(op);
        return NULL;
    }
    atomic_init(&made->references, 1);
    made->op = *op;
    made->params.type = type;
    return made;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void describe_kernel(lw_cu_step *step) {
    const lw_launch_config *config = &step->op.kernel.config;
    step->params.kernel = (CUDA_KERNEL_NODE_PARAMS){
        .func = step->op.kernel.function,
        .gridDimX = config->grid[0],
        .gridDimY = config->grid[1],
        .gridDimZ = config->grid[2],
        .blockDimX = config->block[0],
        .blockDimY = config->block[1],
        .blockDimZ = config->block[2],
        .sharedMemBytes = config->shared_bytes,
        .ctx = step->op.kernel.function->object.owner,
    };
}

static CUresult make_kernel(lw_cu_step **made, const CUDA_KERNEL_NODE_PARAMS *params) {
    lw_cu_op op;
    CUfunction function = params->func ? params->func : (CUfunction)params->kern; /* launches take both, too */
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = lw_cu_enter_function(&function);
    if (result) return result;
    if (params->ctx && !lw_cu_find(params->ctx, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    lw_launch_config config = {.grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
                               .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
                               .shared_bytes = params->sharedMemBytes};
    result = lw_cu_make_launch(&op, function, &config, params->kernelParams, params->extra);
    if (result) return result;
    if (!(*made = new_step(&op, CU_GRAPH_NODE_TYPE_KERNEL))) return CUDA_ERROR_OUT_OF_MEMORY;
    describe_kernel(*made);
    (*made)->by_extra = !params->kernelParams && params->extra;
    return CUDA_SUCCESS;
}

/* Pointers to each parameter, or the list that says where all of them are. */
static bool point_at_params(lw_cu_step *step) {
    const lw_launch_config *config = &step->op.kernel.config;
    if (step->pointers) return true;
    if (step->by_extra) {
        step->extra_size = config->param_buffer_size;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, step->op.owned, CU_LAUNCH_PARAM_BUFFER_SIZE, &step->extra_size,
                         CU_LAUNCH_PARAM_END};
        memcpy(step->extra, extra, sizeof extra);
        return true;
    }
    const uint32_t count = step->op.kernel.function->info.param_count;
    if (!count) return true;
    if (!(step->pointers = calloc(count, sizeof *step->pointers))) return false;
    for (uint32_t i = 0; i < count; i++)
        step->pointers[i] = (char *)step->op.owned + lw_kernel_param(step->op.kernel.function->kernel, i).offset;
    return true;
}

/* ---- Copies and fills -------------------------------------------------------------------------------------------- */

/* The context of a node must be one, where it is said. */
static CUresult check_context(CUcontext context) {
    return !context || lw_cu_find(context, LW_CU_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult make_copy(lw_cu_step **made, const CUDA_MEMCPY_NODE_PARAMS *params) {
    lw_cu_op op;
    CUresult result = params->flags || params->reserved ? CUDA_ERROR_INVALID_VALUE : check_context(params->copyCtx);
    if (!result) result = lw_cu_read_copy(&params->copyParams, &op);
    if (result) return result;
    lw_cu_straighten(&op);
    lw_cu_hold_arrays(&op);
    if (!(*made = new_step(&op, CU_GRAPH_NODE_TYPE_MEMCPY))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*made)->params.memcpy = *params;
    return CUDA_SUCCESS;
}

/* The side of a copy `op` as a call would say it: each of them has these fields under its own names. */
#define DESCRIBE_SIDE(which, side, op, copy) \
    do { \
        (copy)->which##MemoryType = (side)->array       ? CU_MEMORYTYPE_ARRAY \
                                    : (side)->on_device ? CU_MEMORYTYPE_DEVICE \
                                                        : CU_MEMORYTYPE_HOST; \
        (copy)->which##Array = (side)->array; \
        if ((side)->array) { \
            const lw_cu_texels_at at = lw_cu_array_place((side)->array, (side)->at); \
            (copy)->which##XInBytes = at.x, (copy)->which##Y = at.y, (copy)->which##Z = at.z; \
            break; \
        } \
        if ((side)->on_device) (copy)->which##Device = (side)->at; \
        else (copy)->which##Host = (void *)(uintptr_t)(side)->at; \
        (copy)->which##Pitch = (side)->pitch ? (side)->pitch : (op)->copy.width; \
        (copy)->which##Height = (side)->pitch && (side)->plane ? (side)->plane / (side)->pitch : (op)->copy.height; \
    } while (0)

static void describe_copy(lw_cu_step *step) {
    const lw_cu_op *op = &step->op;
    CUDA_MEMCPY3D *copy = &step->params.memcpy.copyParams;
    step->params.memcpy.copyCtx = lw_cu_current();
    DESCRIBE_SIDE(dst, &op->copy.to, op, copy);
    DESCRIBE_SIDE(src, &op->copy.from, op, copy);
    copy->WidthInBytes = op->copy.width;
    copy->Height = op->copy.height;
    copy->Depth = op->copy.depth;
    lw_cu_straighten(&step->op);
}

static CUresult make_fill(lw_cu_step **made, const CUDA_MEMSET_NODE_PARAMS_v2 *params) {
    const uint32_t size = params->elementSize;
    lw_cu_op op = {.fill = {.to = params->dst,
                            .value = params->value,
                            .size = size,
                            .pitch = params->height > 1 ? params->pitch : 0, /* that of one row says nothing */
                            .width = params->width,
                            .height = params->height}};
    if (size != 1 && size != 2 && size != 4) return CUDA_ERROR_INVALID_VALUE;
    if (!params->width || !params->height || (params->height > 1 && params->pitch / size < params->width))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_context(params->ctx);
    if (!result) result = lw_cu_check_fill(&op);
    if (result) return result;
    if (!(*made = new_step(&op, CU_GRAPH_NODE_TYPE_MEMSET))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*made)->params.memset = *params;
    return CUDA_SUCCESS;
}

static void describe_fill(lw_cu_step *step) {
    step->params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = step->op.fill.to,
                                                       .pitch = step->op.fill.pitch,
                                                       .value = (unsigned)step->op.fill.value,
                                                       .elementSize = step->op.fill.size,
                                                       .width = step->op.fill.width,
                                                       .height = step->op.fill.height,
                                                       .ctx = lw_cu_current()};
}

/* ---- Everything else --------------------------------------------------------------------------------------------- */

static CUresult make_host(lw_cu_step **made, const CUDA_HOST_NODE_PARAMS *params) {
    if (!params->fn) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_op op = {.kind = LW_CU_OP_HOST, .host = {.function = params->fn, .user = params->userData}};
    *made = lw_cu_step_of(&op);
    return *made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult make_event(lw_cu_step **made, CUgraphNodeType type, CUevent event) {
    if (!lw_cu_find(event, LW_CU_EVENT)) return event ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    lw_cu_op op = {.kind = type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ? LW_CU_OP_WAIT : LW_CU_OP_RECORD,
                   .record = {.event = event}};
    lw_cu_hold(&event->object);
    *made = lw_cu_step_of(&op);
    return *made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Memory is there as long as the node, so that nothing is left to do. */
static CUresult make_memory(lw_cu_step **made, const CUgraphNodeParams *params) {
    lw_cu_op op = {.kind = LW_CU_OP_NOTHING};
    if (!(*made = new_step(&op, params->type))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*made)->params = *params;
    (*made)->params.alloc.accessDescs = params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? NULL : params->alloc.accessDescs;
    return CUDA_SUCCESS;
}

static CUresult make_words(lw_cu_step **made, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    lw_cu_op op;
    const CUresult result = lw_cu_words_make(&op, params);
    if (result) return result;
    if (!(*made = new_step(&op, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*made)->params.memOp = *params;
    (*made)->params.memOp.paramArray = op.owned;
    return CUDA_SUCCESS;
}

static CUresult not_supported(CUgraphNodeType type) {
    lw_cu_report(LW_CU_REPORT_ALL, "graph nodes of type %u are not supported", type);
    return type > CU_GRAPH_NODE_TYPE_CONDITIONAL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult lw_cu_step_make(lw_cu_step **made, const CUgraphNodeParams *params) {
    *made = NULL;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return make_kernel(made, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return make_copy(made, &params->memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return make_fill(made, &params->memset);
    case CU_GRAPH_NODE_TYPE_HOST: return make_host(made, &params->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return make_event(made, params->type, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return make_event(made, params->type, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return make_memory(made, params);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return make_words(made, &params->memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    default: return not_supported(params->type);
    }
}

static CUgraphNodeType type_of(const lw_cu_op *op) {
    switch (op->kind) {
    case LW_CU_OP_KERNEL: return CU_GRAPH_NODE_TYPE_KERNEL;
    case LW_CU_OP_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
    case LW_CU_OP_FILL: return CU_GRAPH_NODE_TYPE_MEMSET;
    case LW_CU_OP_HOST: return CU_GRAPH_NODE_TYPE_HOST;
    case LW_CU_OP_RECORD: return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case LW_CU_OP_WAIT: return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case LW_CU_OP_WORDS:
    case LW_CU_OP_OTHER: return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    default: return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

lw_cu_step *lw_cu_step_of(lw_cu_op *op) {
    lw_cu_step *made = new_step(op, type_of(op));
    if (!made) return NULL;
    switch (op->kind) {
    case LW_CU_OP_KERNEL: describe_kernel(made); break;
    case LW_CU_OP_COPY: describe_copy(made); break;
    case LW_CU_OP_FILL: describe_fill(made); break;
    case LW_CU_OP_HOST: made->params.host = (CUDA_HOST_NODE_PARAMS){op->host.function, op->host.user}; break;
    case LW_CU_OP_RECORD: made->params.eventRecord.event = op->record.event; break;
    case LW_CU_OP_WAIT: made->params.eventWait.event = op->record.event; break;
    default: break;
    }
    return made;
}

bool lw_cu_step_params(lw_cu_step *step, CUgraphNodeParams *params) {
    *params = step->params;
    if (step->params.type != CU_GRAPH_NODE_TYPE_KERNEL) return true;
    if (!point_at_params(step)) return false;
    params->kernel.kernelParams = step->pointers;
    params->kernel.extra = step->by_extra ? step->extra : NULL;
    return true;
}

/* ---- Attributes of kernels --------------------------------------------------------------------------------------- */

/* Those that a node can have. */
bool lw_cu_is_attribute(CUlaunchAttributeID id) {
    return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
           id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
           id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE ||
           id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP || id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN ||
           id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
}

static CUlaunchAttribute *find_attribute(const lw_cu_step *step, CUlaunchAttributeID id) {
    for (uint32_t i = 0; i < step->attribute_count; i++)
        if (step->attributes[i].id == id) return &step->attributes[i];
    return NULL;
}

void lw_cu_step_attribute(const lw_cu_step *step, CUlaunchAttributeID id, CUlaunchAttributeValue *value) {
    const lw_launch_config *config = &step->op.kernel.config;
    const CUlaunchAttribute *set = find_attribute(step, id);
    *value = set ? set->value : (CUlaunchAttributeValue){0};
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = config->cooperative;
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        value->clusterDim.x = config->cluster[0];
        value->clusterDim.y = config->cluster[1];
        value->clusterDim.z = config->cluster[2];
    }
}

/* The same step again, with room for one more attribute. */
static lw_cu_step *copy_kernel(const lw_cu_step *step) {
    lw_cu_op op = step->op;
    const size_t size = op.kernel.config.param_buffer_size;
    if (op.owned && !(op.owned = malloc(size))) return NULL;
    if (op.owned) memcpy(op.owned, step->op.owned, size);
    op.kernel.config.param_buffer = op.owned;
    lw_cu_hold(&op.kernel.function->object);
    lw_cu_step *made = new_step(&op, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!made) return NULL;
    made->params = step->params;
    made->by_extra = step->by_extra;
    made->attributes = calloc(step->attribute_count + 1u, sizeof *made->attributes);
    if (!made->attributes) {
        lw_cu_step_drop(made);
        return NULL;
    }
    made->attribute_count = step->attribute_count;
    if (step->attribute_count)
        memcpy(made->attributes, step->attributes, step->attribute_count * sizeof *step->attributes);
    return made;
}

CUresult lw_cu_step_keep(lw_cu_step *step, const lw_cu_step *old) {
    lw_launch_config *config = &step->op.kernel.config;
    const size_t size = old->attribute_count * sizeof *old->attributes;
    config->cooperative = old->op.kernel.config.cooperative;
    memcpy(config->cluster, old->op.kernel.config.cluster, sizeof config->cluster);
    if (size && !(step->attributes = malloc(size))) return CUDA_ERROR_OUT_OF_MEMORY;
    if (size) memcpy(step->attributes, old->attributes, size);
    step->attribute_count = old->attribute_count;
    return lw_cu_fail("cuGraphKernelNodeSetParams", lw_launch_check(step->op.kernel.function->kernel, config));
}

CUresult lw_cu_step_with(const lw_cu_step *step, CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         lw_cu_step **made) {
    *made = copy_kernel(step);
    if (!*made) return CUDA_ERROR_OUT_OF_MEMORY;
    lw_launch_config *config = &(*made)->op.kernel.config;
    CUlaunchAttribute *set = find_attribute(*made, id);
    if (!set) set = &(*made)->attributes[(*made)->attribute_count++];
    *set = (CUlaunchAttribute){.id = id, .value = *value};
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) config->cooperative = value->cooperative != 0;
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        memcpy(config->cluster, (uint32_t[]){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z},
               sizeof config->cluster);
    const lw_status status = lw_launch_check((*made)->op.kernel.function->kernel, config);
    if (status == LW_OK) return CUDA_SUCCESS;
    lw_cu_step_drop(*made);
    *made = NULL;
    return lw_cu_fail("cuGraphKernelNodeSetAttribute", status);
}
