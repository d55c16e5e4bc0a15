/* graph.c: graphs: making, copying and ending them, their nodes, and an order of them. */
#include "shim/cuda/graph.h"

#include <stdlib.h>

/* ---- The lock ---------------------------------------------------------------------------------------------------- */

static pthread_mutex_t graphs = PTHREAD_MUTEX_INITIALIZER;

void lw_cu_graphs_lock(char *unused) {
    (void)unused;
    pthread_mutex_lock(&graphs);
}

void lw_cu_graphs_unlock(const char *unused) {
    (void)unused;
    pthread_mutex_unlock(&graphs);
}

void lw_cu_graphs_after_fork(void) {
    pthread_mutex_init(&graphs, NULL);
    lw_cu_graph_memory_after_fork();
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

static CUresult check(const void *handle, lw_cu_kind kind) {
    const CUresult result = lw_cu_ready();
    if (result) return result;
    return lw_cu_find(handle, kind) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult lw_cu_check_graph(CUgraph graph) { return check(graph, LW_CU_GRAPH); }
CUresult lw_cu_check_node(CUgraphNode node) { return check(node, LW_CU_NODE); }
CUresult lw_cu_check_exec(CUgraphExec exec) { return check(exec, LW_CU_EXEC); }

CUresult lw_cu_check_node_of(CUgraphNode node, CUgraphNodeType type) {
    const CUresult result = lw_cu_check_node(node);
    return result ? result : node->type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

bool lw_cu_grow(void *at, size_t count, size_t *room, size_t size) {
    if (count < *room) return true;
    void *old;
    memcpy(&old, at, sizeof old);
    const size_t more = *room ? *room * 2 : 4;
    void *grown = realloc(old, more * size);
    if (!grown) return false;
    memcpy(at, &grown, sizeof grown);
    *room = more;
    return true;
}

bool lw_cu_edges_add(lw_cu_edges *edges, CUgraphNode node, const CUgraphEdgeData *data) {
    if (!lw_cu_grow(&edges->at, edges->count, &edges->room, sizeof *edges->at)) return false;
    edges->at[edges->count++] = (lw_cu_edge){.node = node, .data = data ? *data : (CUgraphEdgeData){0}};
    return true;
}

/* Marks are taken in turn, so that those of earlier looks mean nothing. */
uint64_t lw_cu_next_mark(void) {
    static uint64_t last;
    return ++last;
}

static uint64_t next_id(void) {
    static uint64_t last;
    return ++last;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void *make(size_t size, lw_cu_kind kind, bool is_known) {
    return is_known ? lw_cu_new(size, kind, NULL) : calloc(1, size);
}

CUgraph lw_cu_graph_new(bool is_known, CUgraphNode parent) {
    CUgraph made = make(sizeof *made, LW_CU_GRAPH, is_known);
    if (!made) return NULL;
    made->object.kind = LW_CU_GRAPH;
    made->is_known = is_known;
    made->parent = parent;
    made->id = next_id();
    return made;
}

static CUgraphNode node_new(CUgraph graph, CUgraphNodeType type) {
    if (!lw_cu_grow(&graph->nodes, graph->count, &graph->room, sizeof *graph->nodes)) return NULL;
    CUgraphNode made = make(sizeof *made, LW_CU_NODE, graph->is_known);
    if (!made) return NULL;
    made->object.kind = LW_CU_NODE;
    made->graph = graph;
    made->type = type;
    made->id = next_id();
    made->place = graph->count;
    graph->nodes[graph->count++] = made;
    graph->memory_nodes += type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    return made;
}

bool lw_cu_edge_add(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData *data) {
    if (!lw_cu_edges_add(&to->before, from, data)) return false;
    if (lw_cu_edges_add(&from->behind, to, data)) return true;
    to->before.count--;
    return false;
}

static bool copy_node(CUgraph to, const struct CUgraphNode_st *node) {
    CUgraphNode made = node_new(to, node->type);
    if (!made) return false;
    made->origin = node->id;
    made->step = lw_cu_step_share(node->step);
    if (!lw_cu_choice_copy(made, node)) return false;
    if (!node->child) return true;
    made->child = lw_cu_graph_copy(node->child, to->is_known, made);
    if (made->child) to->memory_nodes += made->child->memory_nodes;
    return made->child;
}

static bool copy_edges(CUgraph to, const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < node->before.count; i++)
        if (!lw_cu_edge_add(to->nodes[node->before.at[i].node->place], to->nodes[node->place],
                            &node->before.at[i].data))
            return false;
    return true;
}

CUgraph lw_cu_graph_copy(CUgraph from, bool is_known, CUgraphNode parent) {
    CUgraph made = lw_cu_graph_new(is_known, parent);
    if (!made) return NULL;
    bool is_whole = true;
    made->origin = from->id;
    made->users = lw_cu_users_share(from->users);
    for (size_t i = 0; i < from->count && is_whole; i++) is_whole = copy_node(made, from->nodes[i]);
    for (size_t i = 0; i < from->count && is_whole; i++) is_whole = copy_edges(made, from->nodes[i]);
    if (is_whole) return made;
    lw_cu_graph_drop(made);
    return NULL;
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

/* Nobody finds it any more, or nobody ever did. */
static void end_node(CUgraphNode node) {
    lw_cu_step_drop(node->step);
    free(node->choice); /* whose graphs have ended before */
    free(node->before.at);
    free(node->behind.at);
}

static void end_graph(CUgraph graph) {
    lw_cu_users_drop(graph->users);
    free(graph->nodes);
}

void lw_cu_end_graph_object(lw_cu_object *object) {
    if (object->kind == LW_CU_NODE) end_node((CUgraphNode)object);
    if (object->kind == LW_CU_GRAPH) end_graph((CUgraph)object);
    if (object->kind == LW_CU_EXEC) lw_cu_exec_end((CUgraphExec)object);
    if (object->kind == LW_CU_USER_OBJECT) ((CUuserObject)object)->destroy(((CUuserObject)object)->user);
}

static void drop_node(CUgraphNode node) {
    const bool is_known = node->graph->is_known;
    if (node->child) lw_cu_graph_drop(node->child);
    lw_cu_choice_drop(node);
    if (is_known) lw_cu_free(&node->object);
    else {
        end_node(node);
        free(node);
    }
}

void lw_cu_graph_drop(CUgraph graph) {
    if (graph->captures) lw_cu_capture_lost(graph);
    for (size_t i = 0; i < graph->count; i++) drop_node(graph->nodes[i]);
    lw_cu_conditions_drop(graph);
    if (graph->is_known) lw_cu_free(&graph->object);
    else {
        end_graph(graph);
        free(graph);
    }
}

static void take_edge(lw_cu_edges *edges, CUgraphNode node) {
    size_t i = 0;
    while (edges->at[i].node != node) i++;
    memmove(&edges->at[i], &edges->at[i + 1], (--edges->count - i) * sizeof *edges->at);
}

void lw_cu_edge_remove(CUgraphNode from, CUgraphNode to) {
    take_edge(&from->behind, to);
    take_edge(&to->before, from);
}

void lw_cu_node_remove(CUgraphNode node) {
    CUgraph graph = node->graph;
    for (size_t i = 0; i < node->before.count; i++) take_edge(&node->before.at[i].node->behind, node);
    for (size_t i = 0; i < node->behind.count; i++) take_edge(&node->behind.at[i].node->before, node);
    graph->count--;
    for (size_t i = node->place; i < graph->count; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->place = i;
    }
    drop_node(node);
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

bool lw_cu_is_edge_data(const CUgraphEdgeData *data, CUgraphNode from, CUgraphNode to) {
    static const CUgraphEdgeData zero;
    if (!data || !memcmp(data, &zero, sizeof zero)) return true;
    const bool is_kernel = from->type == CU_GRAPH_NODE_TYPE_KERNEL && (!to || to->type == CU_GRAPH_NODE_TYPE_KERNEL);
    return is_kernel && data->from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && !data->to_port &&
           data->type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
           !memcmp(data->reserved, zero.reserved, sizeof zero.reserved);
}

CUresult lw_cu_check_add(CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data, size_t count) {
    if (count && !before) return CUDA_ERROR_INVALID_VALUE;
    const uint64_t mark = lw_cu_next_mark();
    for (size_t i = 0; i < count; i++) {
        CUgraphNode node = lw_cu_find(before[i], LW_CU_NODE);
        if (!node || node->graph != graph || node->mark == mark) return CUDA_ERROR_INVALID_VALUE; /* twice is none */
        if (!lw_cu_is_edge_data(data ? &data[i] : NULL, node, NULL)) return CUDA_ERROR_INVALID_VALUE;
        node->mark = mark;
    }
    return CUDA_SUCCESS;
}

CUresult lw_cu_node_add(CUgraphNode *made, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                        size_t count, CUgraphNodeType type, lw_cu_step *step, CUgraph child) {
    CUgraphNode node = node_new(graph, type);
    if (!node) {
        lw_cu_step_drop(step);
        if (child) lw_cu_graph_drop(child);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->step = step;
    node->child = child;
    if (child) child->parent = node;
    for (CUgraph up = graph; child && up; up = up->parent ? up->parent->graph : NULL)
        up->memory_nodes += child->memory_nodes;
    for (size_t i = 0; i < count; i++) {
        if (lw_cu_edge_add(before[i], node, data ? &data[i] : NULL)) continue;
        lw_cu_node_remove(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = node;
    return CUDA_SUCCESS;
}

/* ---- An order ---------------------------------------------------------------------------------------------------- */

bool lw_cu_graph_order(CUgraph graph, CUgraphNode *order, CUgraphNode *at) {
    size_t found = 0, done = 0;
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i]->left = graph->nodes[i]->before.count;
        if (!graph->nodes[i]->left) order[found++] = graph->nodes[i];
    }
    for (; done < found; done++)
        for (size_t i = 0; i < order[done]->behind.count; i++) {
            CUgraphNode next = order[done]->behind.at[i].node;
            if (!--next->left) order[found++] = next;
        }
    for (size_t i = 0; i < graph->count && found < graph->count; i++)
        if (graph->nodes[i]->left) {
            *at = graph->nodes[i];
            return false;
        }
    return true;
}

/* ---- Calls on graphs --------------------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
    CUgraph made = lw_cu_graph_new(true, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *graph = made;
    return CUDA_SUCCESS;
}

/* That of a node goes with it. */
CUresult cuGraphDestroy(CUgraph graph) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (graph->parent || graph->captures) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_graph_drop(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!clone) return CUDA_ERROR_INVALID_VALUE;
    if (graph->memory_nodes || lw_cu_has_choice(graph)) return CUDA_ERROR_NOT_SUPPORTED;
    CUgraph made = lw_cu_graph_copy(graph, true, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *clone = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode node, CUgraph clone) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_check_graph(clone);
    if (!result) result = lw_cu_check_node(node);
    if (result) return result;
    for (size_t i = 0; found && i < clone->count; i++)
        if (clone->nodes[i]->origin == node->id) {
            *found = clone->nodes[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_node(node);
    if (result) return result;
    if (!type) return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

/* What allocates memory is as it was made. */
CUresult cuGraphDestroyNode(CUgraphNode node) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_node(node);
    if (result) return result;
    if (node->graph->captures) return CUDA_ERROR_INVALID_VALUE;
    if (node->graph->memory_nodes) return CUDA_ERROR_NOT_SUPPORTED;
    lw_cu_node_remove(node);
    return CUDA_SUCCESS;
}
