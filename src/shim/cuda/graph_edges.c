/* graph_edges.c: questions about the nodes and edges of a graph; edges added and removed. */
#include "shim/cuda/graph.h"

/* ---- Answers in arrays ------------------------------------------------------------------------------------------- */

/* Where the caller wants nodes, or edges, of which there may be more than he has room for. */
typedef struct answer {
    CUgraphNode *first, *second;
    CUgraphEdgeData *data;
    size_t room, count;
    bool is_lossy; /* an edge says more than can be told */
} answer;

static void say(answer *to, CUgraphNode first, CUgraphNode second, const CUgraphEdgeData *data) {
    static const CUgraphEdgeData zero;
    const size_t at = to->count++;
    if (data && !to->data && memcmp(data, &zero, sizeof zero)) to->is_lossy = true;
    if (at >= to->room) return;
    if (to->first) to->first[at] = first;
    if (to->second) to->second[at] = second;
    if (to->data) to->data[at] = data ? *data : zero;
}

/* Without an array it is the number that is asked for; room that is left over is cleared. */
static CUresult end_answer(answer *to, size_t *count) {
    const bool is_count = !to->first && !to->second;
    if (to->is_lossy && !is_count) return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = to->count; i < to->room; i++) {
        if (to->first) to->first[i] = NULL;
        if (to->second) to->second[i] = NULL;
        if (to->data) to->data[i] = (CUgraphEdgeData){0};
    }
    *count = is_count || to->count < to->room ? to->count : to->room;
    return CUDA_SUCCESS;
}

static answer answer_in(CUgraphNode *first, CUgraphNode *second, CUgraphEdgeData *data, const size_t *count) {
    return (answer){.first = first, .second = second, .data = data, .room = first || second ? *count : 0};
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static CUresult nodes(CUgraph graph, CUgraphNode *to, size_t *count, bool roots) {
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    answer answer = answer_in(to, NULL, NULL, count);
    for (size_t i = 0; i < graph->count; i++)
        if (!roots || !graph->nodes[i]->before.count) say(&answer, graph->nodes[i], NULL, NULL);
    return end_answer(&answer, count);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *to, size_t *count) {
    LW_CU_GRAPH_CALL;
    return nodes(graph, to, count, false);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *to, size_t *count) {
    LW_CU_GRAPH_CALL;
    return nodes(graph, to, count, true);
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

static CUresult edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!count || !from != !to || (data && !from)) return CUDA_ERROR_INVALID_VALUE;
    answer answer = answer_in(from, to, data, count);
    for (size_t i = 0; i < graph->count; i++) {
        const lw_cu_edges *behind = &graph->nodes[i]->behind;
        for (size_t j = 0; j < behind->count; j++)
            say(&answer, graph->nodes[i], behind->at[j].node, &behind->at[j].data);
    }
    return end_answer(&answer, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
    LW_CU_GRAPH_CALL;
    return edges(graph, from, to, data, count);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    LW_CU_GRAPH_CALL;
    return edges(graph, from, to, NULL, count);
}

static CUresult neighbours(CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data, size_t *count, bool behind) {
    const CUresult result = lw_cu_check_node(node);
    if (result) return result;
    if (!count || (data && !to)) return CUDA_ERROR_INVALID_VALUE;
    const lw_cu_edges *list = behind ? &node->behind : &node->before;
    answer answer = answer_in(to, NULL, data, count);
    for (size_t i = 0; i < list->count; i++) say(&answer, list->at[i].node, NULL, &list->at[i].data);
    return end_answer(&answer, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
    LW_CU_GRAPH_CALL;
    return neighbours(node, to, data, count, false);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *to, size_t *count) {
    LW_CU_GRAPH_CALL;
    return neighbours(node, to, NULL, count, false);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
    LW_CU_GRAPH_CALL;
    return neighbours(node, to, data, count, true);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *to, size_t *count) {
    LW_CU_GRAPH_CALL;
    return neighbours(node, to, NULL, count, true);
}

/* ---- Changing them ----------------------------------------------------------------------------------------------- */

/* Nodes of this graph. */
static CUresult check_ends(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                           size_t count) {
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (count && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        CUgraphNode a = lw_cu_find(from[i], LW_CU_NODE), b = lw_cu_find(to[i], LW_CU_NODE);
        if (!a || !b || a == b || a->graph != graph || b->graph != graph) return CUDA_ERROR_INVALID_VALUE;
        if (!lw_cu_is_edge_data(data ? &data[i] : NULL, a, b)) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static const lw_cu_edge *find_edge(CUgraphNode from, CUgraphNode to) {
    for (size_t i = 0; i < to->before.count; i++)
        if (to->before.at[i].node == from) return &to->before.at[i];
    return NULL;
}

/* All of them, or none. */
static CUresult add(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                    size_t count) {
    CUresult result = check_ends(graph, from, to, data, count);
    size_t done = 0;
    for (; done < count && !result; done++) {
        if (find_edge(from[done], to[done])) result = CUDA_ERROR_INVALID_VALUE;
        else if (!lw_cu_edge_add(from[done], to[done], data ? &data[done] : NULL)) result = CUDA_ERROR_OUT_OF_MEMORY;
        if (result) break;
    }
    while (result && done--) lw_cu_edge_remove(from[done], to[done]);
    return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count) {
    LW_CU_GRAPH_CALL;
    return add(graph, from, to, data, count);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    LW_CU_GRAPH_CALL;
    return add(graph, from, to, NULL, count);
}

/* What an edge says does not matter: an H200's driver removes it whatever is given. */
static CUresult take(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                     size_t count) {
    const CUresult result = check_ends(graph, from, to, data, count);
    if (result) return result;
    if (count && graph->memory_nodes) return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < count; i++) {
        if (!find_edge(from[i], to[i])) return CUDA_ERROR_INVALID_VALUE;
        for (size_t j = 0; j < i; j++)
            if (from[j] == from[i] && to[j] == to[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) lw_cu_edge_remove(from[i], to[i]);
    return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t count) {
    LW_CU_GRAPH_CALL;
    return take(graph, from, to, data, count);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    LW_CU_GRAPH_CALL;
    return take(graph, from, to, NULL, count);
}
