/* graph.c: graphs, as far as their nodes are not what the driver has: kernels by their place in the program, copies,
 * and what belongs to a context. */
#include "shim/cudart/runtime.h"

#include <string.h>

/* The same as the driver's, which had more parameters before it had flags. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

/* A driver's call, where there was no error before it. */
#define END(call) return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.call)

#define NODE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count
#define MADE node, graph, nodes, count

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

static cudaError_t read_kernel(const struct cudaKernelNodeParams *params, lw_rt_kernel_node *kernel) {
    CUfunction function = NULL;
    if (!params) return cudaErrorInvalidValue;
    const cudaError_t error = lw_rt_function(params->func, &function);
    *kernel = (lw_rt_kernel_node){.plain = *params};
    kernel->plain.func = function;
    return error;
}

cudaError_t cudaGraphAddKernelNode(NODE, const struct cudaKernelNodeParams *params) {
    lw_rt_kernel_node kernel;
    const cudaError_t error = read_kernel(params, &kernel);
    END(cuGraphAddKernelNode_v2(MADE, &kernel));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    lw_rt_kernel_node kernel;
    const cudaError_t error = read_kernel(params, &kernel);
    END(cuGraphKernelNodeSetParams_v2(node, &kernel));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params) {
    lw_rt_kernel_node kernel;
    const cudaError_t error = read_kernel(params, &kernel);
    END(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    lw_rt_kernel_node kernel;
    cudaError_t error = params ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(lw_driver.cuGraphKernelNodeGetParams_v2(node, &kernel));
    if (error) return lw_rt_end(error);
    *params = kernel.plain;
    params->func = lw_rt_place_of((CUfunction)kernel.plain.func);
    return cudaSuccess;
}

/* ---- Fills ----------------------------------------------------------------------------------------------------- */

static cudaError_t here(CUcontext *context) {
    const cudaError_t error = lw_rt_enter();
    return error ? error : lw_rt_context(context);
}

cudaError_t cudaGraphAddMemsetNode(NODE, const struct cudaMemsetParams *params) {
    CUcontext context;
    const cudaError_t error = here(&context);
    END(cuGraphAddMemsetNode(MADE, params, context));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params) {
    CUcontext context;
    const cudaError_t error = here(&context);
    END(cuGraphExecMemsetNodeSetParams(exec, node, params, context));
}

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

static cudaError_t read_copy(const struct cudaMemcpy3DParms *params, lw_rt_copy *copy, CUcontext *context) {
    const cudaError_t error = lw_rt_read_copy(params, copy);
    return error ? error : here(context);
}

cudaError_t cudaGraphAddMemcpyNode(NODE, const struct cudaMemcpy3DParms *params) {
    lw_rt_copy copy;
    CUcontext context;
    const cudaError_t error = read_copy(params, &copy, &context);
    END(cuGraphAddMemcpyNode(MADE, &copy, context));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params) {
    lw_rt_copy copy;
    CUcontext context;
    const cudaError_t error = read_copy(params, &copy, &context);
    END(cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params) {
    lw_rt_copy copy;
    CUcontext context;
    const cudaError_t error = read_copy(params, &copy, &context);
    END(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params) {
    lw_rt_copy copy;
    cudaError_t error = params ? lw_rt_enter() : cudaErrorInvalidValue;
    if (!error) error = lw_rt_result(lw_driver.cuGraphMemcpyNodeGetParams(node, &copy));
    if (!error) lw_rt_write_copy(&copy, params);
    return lw_rt_end(error);
}

/* From and to where a program's pointers point, or one of its variables. */
#define LINE const struct cudaMemcpy3DParms line = lw_rt_line(to, from, bytes, kind)
#define TO_SYMBOL \
    void *to; \
    const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &to); \
    if (error) return lw_rt_end(error)
#define FROM_SYMBOL \
    void *from; \
    const cudaError_t error = lw_rt_symbol_part(symbol, bytes, offset, &from); \
    if (error) return lw_rt_end(error)

cudaError_t cudaGraphAddMemcpyNode1D(NODE, void *to, const void *from, size_t bytes, unsigned kind) {
    LINE;
    return cudaGraphAddMemcpyNode(MADE, &line);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           unsigned kind) {
    LINE;
    return cudaGraphMemcpyNodeSetParams(node, &line);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, unsigned kind) {
    LINE;
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &line);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(NODE, const void *symbol, const void *from, size_t bytes, size_t offset,
                                           unsigned kind) {
    TO_SYMBOL;
    return cudaGraphAddMemcpyNode1D(MADE, to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NODE, void *to, const void *symbol, size_t bytes, size_t offset,
                                             unsigned kind) {
    FROM_SYMBOL;
    return cudaGraphAddMemcpyNode1D(MADE, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                 size_t bytes, size_t offset, unsigned kind) {
    TO_SYMBOL;
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                   size_t offset, unsigned kind) {
    FROM_SYMBOL;
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t bytes, size_t offset, unsigned kind) {
    TO_SYMBOL;
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t bytes, size_t offset, unsigned kind) {
    FROM_SYMBOL;
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

/* ---- Nodes of any type ----------------------------------------------------------------------------------------- */

/* As cudaGraphNodeParams and the driver's have them: what differs between them is read; the driver's has its context
 * behind. Nodes that lie between contexts belong to the current one. */
enum { KERNEL = 0, COPY = 1, FILL = 2, CONDITIONAL = 13, ANY_WORDS = 29 };
typedef struct any_node {
    unsigned type, reserved[3];
    union {
        long long words[ANY_WORDS];
        struct cudaKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            struct cudaMemcpy3DParms params;
        } copy;
        struct {
            struct cudaMemsetParams params;
            CUcontext context; /* the driver's */
        } fill;
        lw_rt_kernel_node driver_kernel;
        struct {
            int flags, reserved;
            CUcontext context;
            lw_rt_copy copy;
        } driver_copy;
        struct {
            cudaGraphConditionalHandle handle;
            unsigned type, size;
            cudaGraph_t *graphs;
            CUcontext context; /* the driver's */
        } conditional;
    };
    long long reserved2;
} any_node;

static cudaError_t read_any(const void *params, any_node *node) {
    CUcontext context;
    if (!params) return cudaErrorInvalidValue;
    cudaError_t error = here(&context);
    if (error) return error;
    memcpy(node, params, sizeof *node);
    if (node->type == KERNEL) {
        const struct cudaKernelNodeParams kernel = node->kernel;
        return read_kernel(&kernel, &node->driver_kernel);
    }
    if (node->type == COPY) {
        const struct cudaMemcpy3DParms copy = node->copy.params;
        node->driver_copy.context = context;
        return lw_rt_read_copy(&copy, &node->driver_copy.copy);
    }
    if (node->type == FILL) node->fill.context = context;
    if (node->type == CONDITIONAL) node->conditional.context = context;
    return cudaSuccess;
}

/* What the driver writes into its own: where memory was allocated, the graphs of a condition. */
static void write_any(const any_node *node, void *params) {
    if (node->type != KERNEL && node->type != COPY && node->type != FILL) memcpy(params, node, sizeof *node);
}

cudaError_t LW_RT_V2(cudaGraphAddNode)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                                       const cudaGraphEdgeData *data, size_t count,
                                       struct cudaGraphNodeParams *params) {
    any_node any;
    cudaError_t error = read_any(params, &any);
    if (!error) error = lw_rt_result(lw_driver.cuGraphAddNode_v2(node, graph, nodes, data, count, &any));
    if (!error) write_any(&any, params);
    return lw_rt_end(error);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params) {
    any_node any;
    const cudaError_t error = read_any(params, &any);
    END(cuGraphNodeSetParams(node, &any));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params) {
    any_node any;
    const cudaError_t error = read_any(params, &any);
    END(cuGraphExecNodeSetParams(exec, node, &any));
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
    CUcontext context;
    const cudaError_t error = here(&context);
    END(cuGraphConditionalHandleCreate(handle, graph, context, value, flags));
}
