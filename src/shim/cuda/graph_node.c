/* graph_node.c: the calls that add nodes, and that set and get what nodes do.
 *
 * Every kind goes through the same three functions, which take its parameters as the generic calls have them. */
#include "shim/cuda/graph.h"

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

/* The graph that a node is to execute: a copy, or the one that was given. */
static CUresult take_child(CUDA_CHILD_GRAPH_NODE_PARAMS *params, CUgraph graph, CUgraph *child) {
    const CUresult result = lw_cu_check_graph(params->graph);
    if (result) return result;
    const bool is_moved = params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (params->ownership > CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) return CUDA_ERROR_INVALID_VALUE;
    if (!is_moved && params->graph->memory_nodes) return CUDA_ERROR_NOT_SUPPORTED;
    if (lw_cu_has_choice(params->graph)) return CUDA_ERROR_NOT_SUPPORTED;
    if (is_moved && (params->graph == graph || params->graph->parent || params->graph->captures))
        return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphNode up = graph->parent; is_moved && up; up = up->graph->parent)
        if (up->graph == params->graph) return CUDA_ERROR_INVALID_VALUE; /* which would be in itself */
    *child = is_moved ? params->graph : lw_cu_graph_copy(params->graph, true, NULL);
    if (!*child) return CUDA_ERROR_OUT_OF_MEMORY;
    params->graph = *child;
    return CUDA_SUCCESS;
}

/* What a kind of node needs to be told or to tell beside its step. */
static CUresult begin(CUgraph graph, CUgraphNodeParams *params, CUgraph *child) {
    *child = NULL;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH: return take_child(&params->graph, graph, child);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return lw_cu_graph_allocate(graph, &params->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return lw_cu_graph_may_free(graph, params->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return lw_cu_check_choice(graph, &params->conditional);
    default: return CUDA_SUCCESS;
    }
}

/* The graphs of a conditional node are made with it. */
static CUresult end(CUgraphNode node, CUgraphNodeParams *params) {
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) lw_cu_graph_will_free(node->graph, params->free.dptr);
    if (params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return CUDA_SUCCESS;
    const CUresult result = lw_cu_choice_add(node, &params->conditional);
    if (result) lw_cu_node_remove(node);
    return result;
}

static CUresult add_edged(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                          size_t count, CUgraphNodeParams *params) {
    CUgraph child = NULL;
    lw_cu_step *step = NULL;
    CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!node) return CUDA_ERROR_INVALID_VALUE;
    if ((result = lw_cu_check_add(graph, before, data, count))) return result;
    if ((result = begin(graph, params, &child))) return result;
    if (!(result = lw_cu_step_make(&step, params)))
        result = lw_cu_node_add(node, graph, before, data, count, params->type, step, child);
    return result ? result : end(*node, params);
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                    CUgraphNodeParams params) {
    return add_edged(node, graph, before, NULL, count, &params);
}

static CUresult set(CUgraphNode node, const CUgraphNodeParams *params) {
    lw_cu_step *step;
    CUresult result = lw_cu_check_node_of(node, params->type);
    if (result) return result;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
        params->type == CU_GRAPH_NODE_TYPE_GRAPH || params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((result = lw_cu_step_make(&step, params))) return result;
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) result = lw_cu_step_keep(step, node->step);
    lw_cu_step_drop(result ? step : node->step);
    if (!result) node->step = step;
    return result;
}

static CUresult get(CUgraphNode node, CUgraphNodeType type, const void *out, CUgraphNodeParams *params) {
    const CUresult result = lw_cu_check_node_of(node, type);
    if (result) return result;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_step_params(node->step, params) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                           size_t count, CUgraphNodeParams *params) {
    LW_CU_GRAPH_CALL;
    return params ? add_edged(node, graph, before, data, count, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                        CUgraphNodeParams *params) {
    LW_CU_GRAPH_CALL;
    return params ? add_edged(node, graph, before, NULL, count, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params) {
    LW_CU_GRAPH_CALL;
    return params ? set(node, params) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static CUgraphNodeParams kernel_params(const CUDA_KERNEL_NODE_PARAMS *kernel) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *kernel};
}

/* The older form says no context. */
static CUgraphNodeParams old_kernel_params(const CUDA_KERNEL_NODE_PARAMS_v1 *kernel) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&params.kernel, kernel, sizeof *kernel);
    return params;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    return params ? add(node, graph, before, count, kernel_params(params)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    LW_CU_GRAPH_CALL;
    return params ? add(node, graph, before, count, old_kernel_params(params)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_KERNEL, params, &all);
    if (!result) *params = all.kernel;
    return result;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_KERNEL, params, &all);
    if (!result) memcpy(params, &all.kernel, sizeof *params);
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    return params ? set(node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *params})
                  : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    const CUgraphNodeParams all = old_kernel_params(params);
    return set(node, &all);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id, CUlaunchAttributeValue *value) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_node_of(node, CU_GRAPH_NODE_TYPE_KERNEL);
    if (result) return result;
    if (!value || !lw_cu_is_attribute(id)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_step_attribute(node->step, id, value);
    return CUDA_SUCCESS;
}

static CUresult set_attribute(CUgraphNode node, CUlaunchAttributeID id, const CUlaunchAttributeValue *value) {
    lw_cu_step *step;
    const CUresult result = lw_cu_step_with(node->step, id, value, &step);
    if (result) return result;
    lw_cu_step_drop(node->step);
    node->step = step;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id, const CUlaunchAttributeValue *value) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_node_of(node, CU_GRAPH_NODE_TYPE_KERNEL);
    if (result) return result;
    return value && lw_cu_is_attribute(id) ? set_attribute(node, id, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_check_node_of(to, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!result) result = lw_cu_check_node_of(from, CU_GRAPH_NODE_TYPE_KERNEL);
    for (CUlaunchAttributeID id = 0; id <= CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && !result; id++) {
        CUlaunchAttributeValue value;
        if (!lw_cu_is_attribute(id)) continue;
        lw_cu_step_attribute(from->step, id, &value);
        result = set_attribute(to, id, &value);
    }
    return result;
}

/* ---- Copies and fills -------------------------------------------------------------------------------------------- */

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                              const CUDA_MEMCPY3D *copy, CUcontext context) {
    LW_CU_GRAPH_CALL;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    return add(
        node, graph, before, count,
        (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyCtx = context, .copyParams = *copy}});
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMCPY, copy, &all);
    if (!result) *copy = all.memcpy.copyParams;
    return result;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMCPY, copy, &all);
    if (!result) all.memcpy.copyParams = *copy;
    return result ? result : set(node, &all);
}

static CUgraphNodeParams fill_params(const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    memcpy(&params.memset, fill, sizeof *fill);
    params.memset.ctx = context;
    return params;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
    LW_CU_GRAPH_CALL;
    return params ? add(node, graph, before, count, fill_params(params, context)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMSET, params, &all);
    if (!result) memcpy(params, &all.memset, sizeof *params);
    return result;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEMSET, params, &all);
    if (!result) all = fill_params(params, all.memset.ctx);
    return result ? result : set(node, &all);
}

/* ---- Host functions ---------------------------------------------------------------------------------------------- */

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return add(node, graph, before, count, (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *params});
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_HOST, params, &all);
    if (!result) *params = all.host;
    return result;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return set(node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *params});
}

/* ---- Graphs, and nothing ----------------------------------------------------------------------------------------- */

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                  CUgraph child) {
    LW_CU_GRAPH_CALL;
    return add(node, graph, before, count, (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {child, 0}});
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_node_of(node, CU_GRAPH_NODE_TYPE_GRAPH);
    if (result) return result;
    if (!child) return CUDA_ERROR_INVALID_VALUE;
    *child = node->child;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count) {
    LW_CU_GRAPH_CALL;
    return add(node, graph, before, count, (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY});
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Both kinds have nothing but the event. */
static CUgraphNodeParams event_params(CUgraphNodeType type, CUevent event) {
    return (CUgraphNodeParams){.type = type, .eventRecord = {event}};
}

static CUresult get_event(CUgraphNode node, CUgraphNodeType type, CUevent *event) {
    CUgraphNodeParams all;
    const CUresult result = get(node, type, event, &all);
    if (!result) *event = all.eventRecord.event;
    return result;
}

static CUresult set_event(CUgraphNode node, CUgraphNodeType type, CUevent event) {
    const CUgraphNodeParams all = event_params(type, event);
    return set(node, &all);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                   CUevent event) {
    LW_CU_GRAPH_CALL;
    return add(node, graph, before, count, event_params(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    LW_CU_GRAPH_CALL;
    return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
    LW_CU_GRAPH_CALL;
    return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                 CUevent event) {
    LW_CU_GRAPH_CALL;
    return add(node, graph, before, count, event_params(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    LW_CU_GRAPH_CALL;
    return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
    LW_CU_GRAPH_CALL;
    return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *params};
    const CUresult result = add_edged(node, graph, before, NULL, count, &all);
    if (!result) params->dptr = all.alloc.dptr;
    return result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params, &all);
    if (!result) *params = all.alloc;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                               CUdeviceptr address) {
    LW_CU_GRAPH_CALL;
    return add(node, graph, before, count, (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {address}});
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_MEM_FREE, address, &all);
    if (!result) *address = all.free.dptr;
    return result;
}

/* ---- Words of memory --------------------------------------------------------------------------------------------- */

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return add(node, graph, before, count,
               (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *params});
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all;
    const CUresult result = get(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, params, &all);
    if (!result) *params = all.memOp;
    return result;
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return set(node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *params});
}
