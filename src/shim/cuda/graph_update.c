/* graph_update.c: changes of executable graphs: of what one node does, and of all of it after another graph. */
#include "shim/cuda/graph.h"

#include <stdlib.h>

/* ---- One node ---------------------------------------------------------------------------------------------------- */

CUgraphNode lw_cu_exec_node(CUgraphExec exec, CUgraphNode node) {
    size_t from = 0, to = exec->count;
    while (from < to) {
        const size_t at = from + (to - from) / 2;
        if (exec->nodes[at]->origin == node->id) return exec->nodes[at];
        if (exec->nodes[at]->origin < node->id) from = at + 1;
        else to = at;
    }
    return NULL;
}

/* The executable graph's node of a graph's node. */
static CUresult find(CUgraphExec exec, CUgraphNode node, CUgraphNode *found) {
    CUresult result = lw_cu_check_exec(exec);
    if (!result) result = lw_cu_check_node(node);
    if (result) return result;
    *found = lw_cu_exec_node(exec, node);
    return *found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What an executable graph has made room for stays as it is. */
static bool may_become(const lw_cu_step *old, const lw_cu_step *new) {
    const lw_cu_op *a = &old->op, *b = &new->op;
    switch (old->params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return a->kernel.function->object.owner == b->kernel.function->object.owner;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return lw_cu_words_alike(a, b);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return a->copy.to.on_device == b->copy.to.on_device && a->copy.from.on_device == b->copy.from.on_device &&
               !a->copy.to.array == !b->copy.to.array && !a->copy.from.array == !b->copy.from.array;
    default: return true;
    }
}

/* As it was given: rows that follow each other are not one. */
static bool is_row(const lw_cu_step *step) {
    const CUDA_MEMCPY3D *copy = &step->params.memcpy.copyParams;
    return copy->Height <= 1 && copy->Depth <= 1;
}

static CUresult set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *params) {
    CUgraphNode own;
    lw_cu_step *step;
    CUresult result = find(exec, node, &own);
    if (result) return result;
    if (own->type != params->type) return CUDA_ERROR_INVALID_VALUE;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
        params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((result = lw_cu_step_make(&step, params))) return result;
    if (!own->step) return CUDA_SUCCESS; /* an empty one */
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) result = lw_cu_step_keep(step, own->step);
    const bool is_copy = params->type == CU_GRAPH_NODE_TYPE_MEMCPY;
    if (!may_become(own->step, step) || (is_copy && !(is_row(own->step) && is_row(step))))
        result = CUDA_ERROR_INVALID_VALUE;
    if (!result) return lw_cu_exec_set(exec, own, step);
    lw_cu_step_drop(step);
    return result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return set(exec, node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *params});
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&all.kernel, params, sizeof *params);
    return set(exec, node, &all);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                        CUcontext context) {
    LW_CU_GRAPH_CALL;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    return set(
        exec, node,
        &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyCtx = context, .copyParams = *copy}});
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
                                        CUcontext context) {
    LW_CU_GRAPH_CALL;
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&all.memset, params, sizeof *params);
    all.memset.ctx = context;
    return set(exec, node, &all);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return set(exec, node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *params});
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    LW_CU_GRAPH_CALL;
    return set(exec, node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}});
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    LW_CU_GRAPH_CALL;
    return set(exec, node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}});
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return set(exec, node, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *params});
}

/* Of kernels, copies and fills. */
static bool has_switch(const struct CUgraphNode_st *node) { return node->type <= CU_GRAPH_NODE_TYPE_MEMSET; }

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned is_enabled) {
    LW_CU_GRAPH_CALL;
    CUgraphNode own;
    const CUresult result = find(exec, node, &own);
    if (result) return result;
    return has_switch(own) ? lw_cu_exec_enable(exec, own, is_enabled != 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *is_enabled) {
    LW_CU_GRAPH_CALL;
    CUgraphNode own;
    const CUresult result = find(exec, node, &own);
    if (result) return result;
    if (!is_enabled || !has_switch(own)) return CUDA_ERROR_INVALID_VALUE;
    *is_enabled = !own->is_disabled;
    return CUDA_SUCCESS;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

typedef CUgraphExecUpdateResultInfo info;

static bool refuse(info *why, CUgraphExecUpdateResult result, CUgraphNode node, CUgraphNode from) {
    *why = (info){.result = result, .errorNode = node, .errorFromNode = from};
    return false;
}

/* Nodes are paired by the order in which they were made. */
static bool same_edges(const struct CUgraphNode_st *own, CUgraphNode node, info *why) {
    if (own->before.count != node->before.count)
        return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, NULL);
    for (size_t i = 0; i < own->before.count; i++) {
        const lw_cu_edge *a = &own->before.at[i], *b = &node->before.at[i];
        if (a->node->place != b->node->place || memcmp(&a->data, &b->data, sizeof a->data))
            return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, b->node);
    }
    return true;
}

static bool same_graph(CUgraph own, CUgraph graph, info *why);

static bool same_choice(const lw_cu_choice *own, const lw_cu_choice *choice, CUgraphNode node, info *why) {
    if (own->condition != choice->condition || own->type != choice->type || own->size != choice->size)
        return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node, NULL);
    for (unsigned k = 0; k < own->size; k++)
        if (!same_graph(own->bodies[k], choice->bodies[k], why)) return false;
    return true;
}

static bool same_node(CUgraphNode own, CUgraphNode node, info *why) {
    if (own->type != node->type) return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, node, NULL);
    if (!same_edges(own, node, why)) return false;
    if (own->child) return same_graph(own->child, node->child, why);
    if (own->choice) return same_choice(own->choice, node->choice, node, why);
    if (own->type == CU_GRAPH_NODE_TYPE_KERNEL &&
        own->step->op.kernel.config.cooperative != node->step->op.kernel.config.cooperative)
        return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, node, NULL);
    if (!own->step || may_become(own->step, node->step)) return true;
    return refuse(why,
                  own->type == CU_GRAPH_NODE_TYPE_KERNEL ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
                                                         : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
                  node, NULL);
}

static bool same_graph(CUgraph own, CUgraph graph, info *why) {
    if (own->count != graph->count) return refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    for (size_t i = 0; i < own->count; i++)
        if (!same_node(own->nodes[i], graph->nodes[i], why)) return false;
    return true;
}

/* Memory nodes keep what they have: its address is that of all launches. */
static CUresult take_steps(CUgraphExec exec, CUgraph own, CUgraph graph) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < own->count && !result; i++) {
        const lw_cu_choice *choice = own->nodes[i]->choice;
        if (own->nodes[i]->child) result = take_steps(exec, own->nodes[i]->child, graph->nodes[i]->child);
        for (unsigned k = 0; choice && k < choice->size && !result; k++)
            result = take_steps(exec, choice->bodies[k], graph->nodes[i]->choice->bodies[k]);
        if (own->nodes[i]->step && !result)
            result = lw_cu_exec_set(exec, own->nodes[i], lw_cu_step_share(graph->nodes[i]->step));
    }
    return result;
}

static CUresult update(CUgraphExec exec, CUgraph graph, info *why) {
    CUresult result = lw_cu_check_exec(exec);
    if (!result) result = lw_cu_check_graph(graph);
    *why = (info){.result = result ? CU_GRAPH_EXEC_UPDATE_ERROR : CU_GRAPH_EXEC_UPDATE_SUCCESS};
    if (result) return result;
    if (graph->memory_nodes && graph->id != exec->source_id)
        refuse(why, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, NULL, NULL);
    else if (same_graph(exec->graph, graph, why)) return take_steps(exec, exec->graph, graph);
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    LW_CU_GRAPH_CALL;
    return info ? update(exec, graph, info) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *out) {
    LW_CU_GRAPH_CALL;
    info why;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = update(exec, graph, &why);
    if (node) *node = why.errorNode;
    *out = why.result;
    return result;
}

static CUresult set_child(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    CUgraphNode own;
    info why;
    CUresult result = find(exec, node, &own);
    if (!result) result = lw_cu_check_graph(child);
    if (result) return result;
    if (!own->child || child->memory_nodes || !same_graph(own->child, child, &why)) return CUDA_ERROR_INVALID_VALUE;
    return take_steps(exec, own->child, child);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    LW_CU_GRAPH_CALL;
    return set_child(exec, node, child);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    return params->type == CU_GRAPH_NODE_TYPE_GRAPH ? set_child(exec, node, params->graph.graph)
                                                    : set(exec, node, params);
}
