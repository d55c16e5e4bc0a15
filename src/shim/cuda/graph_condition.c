/* graph_condition.c: conditions, words of device memory that kernels set, and nodes that execute a graph or not, or
 * again and again, by the value of one.
 *
 * In a program, graphs of such a node lie behind each other at its place; turns lead into them and out of them. A
 * condition has a word of its own: graphs that have one are executed by one executable graph at a time. */
#include "shim/cuda/graph.h"

#include <stdlib.h>

struct lw_cu_condition {
    struct lw_cu_condition *next; /* of its graph */
    _Atomic uint32_t references;
    CUdeviceptr at; /* of the word, and its handle; no memory of the program's, which therefore cannot free it */
    CUcontext context;
    CUgraphNode node; /* that has it */
    uint32_t first;   /* the value that a launch begins with … */
    bool is_assigned; /* … or the last one stays */
};

static lw_cu_condition *share(lw_cu_condition *condition) {
    atomic_fetch_add(&condition->references, 1);
    return condition;
}

static void drop(lw_cu_condition *condition) {
    if (atomic_fetch_sub(&condition->references, 1) != 1) return;
    if (lw_memory_free(lw_cu.device, condition->at) != LW_OK)
        lw_cu_report(LW_CU_REPORT_ALL, "memory stays allocated: no memory for the list of what is");
    free(condition);
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                        unsigned first, unsigned flags) {
    LW_CU_GRAPH_CALL;
    uint64_t at;
    CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!handle || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    if (!lw_cu_find(context, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    lw_cu_condition *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    result = lw_cu_fail("cuGraphConditionalHandleCreate", lw_memory_new(lw_cu.device, sizeof made->first, &at));
    if (result) {
        free(made);
        return result;
    }
    *made = (lw_cu_condition){.next = graph->conditions, .at = at, .context = context, .first = first};
    atomic_init(&made->references, 1);
    made->is_assigned = flags == CU_GRAPH_COND_ASSIGN_DEFAULT;
    graph->conditions = made;
    *handle = made->at;
    return CUDA_SUCCESS;
}

void lw_cu_conditions_drop(CUgraph graph) {
    for (lw_cu_condition *next; graph->conditions; graph->conditions = next) {
        next = graph->conditions->next;
        drop(graph->conditions);
    }
}

/* Of the graph, or of one that it is in. */
static lw_cu_condition *find(CUgraph graph, CUgraphConditionalHandle handle) {
    for (; graph; graph = graph->parent ? graph->parent->graph : NULL)
        for (lw_cu_condition *each = graph->conditions; each; each = each->next)
            if (each->at == handle) return each;
    return NULL;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

CUresult lw_cu_check_choice(CUgraph graph, const CUDA_CONDITIONAL_NODE_PARAMS *params) {
    static const unsigned most[] = {
        [CU_GRAPH_COND_TYPE_IF] = 2, [CU_GRAPH_COND_TYPE_WHILE] = 1, [CU_GRAPH_COND_TYPE_SWITCH] = LW_CU_BODIES_MOST};
    const lw_cu_condition *condition = find(graph, params->handle);
    if (!condition || condition->node || params->type >= LW_COUNT(most)) return CUDA_ERROR_INVALID_VALUE;
    if (!params->size || params->size > most[params->type]) return CUDA_ERROR_INVALID_VALUE;
    if (!lw_cu_find(params->ctx, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    return params->ctx == condition->context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool choice_new(CUgraphNode node, lw_cu_condition *condition, unsigned type, unsigned size) {
    node->choice = calloc(1, sizeof *node->choice + size * sizeof node->choice->bodies[0]);
    if (!node->choice) return false;
    node->choice->condition = share(condition);
    node->choice->type = type;
    node->choice->size = size;
    return true;
}

CUresult lw_cu_choice_add(CUgraphNode node, CUDA_CONDITIONAL_NODE_PARAMS *params) {
    lw_cu_condition *condition = find(node->graph, params->handle);
    bool is_whole = choice_new(node, condition, params->type, params->size);
    for (unsigned i = 0; is_whole && i < params->size; i++)
        is_whole = (node->choice->bodies[i] = lw_cu_graph_new(true, node)) != NULL;
    if (!is_whole) return CUDA_ERROR_OUT_OF_MEMORY; /* the node goes, and what it has with it */
    condition->node = node;
    params->phGraph_out = node->choice->bodies;
    return CUDA_SUCCESS;
}

bool lw_cu_choice_copy(CUgraphNode to, const struct CUgraphNode_st *from) {
    const lw_cu_choice *choice = from->choice;
    if (!choice) return true;
    bool is_whole = choice_new(to, choice->condition, choice->type, choice->size);
    for (unsigned i = 0; is_whole && i < choice->size; i++)
        is_whole = (to->choice->bodies[i] = lw_cu_graph_copy(choice->bodies[i], to->graph->is_known, to)) != NULL;
    return is_whole;
}

void lw_cu_choice_drop(CUgraphNode node) {
    lw_cu_choice *choice = node->choice;
    if (!choice) return;
    for (unsigned i = 0; i < choice->size; i++)
        if (choice->bodies[i]) lw_cu_graph_drop(choice->bodies[i]);
    if (choice->condition->node == node) choice->condition->node = NULL; /* another node can have it then */
    drop(choice->condition);
}

bool lw_cu_has_choice(CUgraph graph) {
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->choice || (graph->nodes[i]->child && lw_cu_has_choice(graph->nodes[i]->child)))
            return true;
    return false;
}

/* ---- What can be executed --------------------------------------------------------------------------------------- */

static bool may_be_conditional(CUgraphNodeType type) {
    return type <= CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_EMPTY ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult lw_cu_check_conditions(CUgraph graph, bool is_body) {
    CUresult result = CUDA_SUCCESS;
    for (const lw_cu_condition *each = graph->conditions; each; each = each->next)
        if (!each->node) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count && !result; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (is_body && !may_be_conditional(node->type)) return CUDA_ERROR_INVALID_VALUE;
        if (node->child) result = lw_cu_check_conditions(node->child, is_body);
        for (unsigned k = 0; node->choice && k < node->choice->size && !result; k++)
            result = lw_cu_check_conditions(node->choice->bodies[k], true);
    }
    return result;
}

/* ---- Turns of programs ------------------------------------------------------------------------------------------- */

lw_cu_flow *lw_cu_flow_new(size_t count) {
    lw_cu_flow *made = calloc(1, sizeof *made + count * sizeof made->at[0]);
    if (!made) return NULL;
    atomic_init(&made->references, 1);
    made->count = count;
    return made;
}

lw_cu_flow *lw_cu_flow_share(lw_cu_flow *flow) {
    if (flow) atomic_fetch_add(&flow->references, 1);
    return flow;
}

void lw_cu_flow_drop(lw_cu_flow *flow) {
    if (!flow || atomic_fetch_sub(&flow->references, 1) != 1) return;
    for (size_t i = 0; i < flow->count; i++) {
        if (flow->at[i].condition) drop(flow->at[i].condition);
        free(flow->at[i].bodies);
    }
    free(flow);
}

bool lw_cu_is_assigned(const lw_cu_choice *choice) { return choice->condition->is_assigned; }

void lw_cu_flow_assign(lw_cu_flow *flow, size_t at, const lw_cu_choice *choice) {
    flow->at[at] = (lw_cu_turn){.kind = LW_CU_TURN_ASSIGN, .condition = share(choice->condition)};
}

size_t *lw_cu_flow_choose(lw_cu_flow *flow, size_t at, const lw_cu_choice *choice) {
    size_t *bodies = calloc(choice->size + 1u, sizeof *bodies);
    if (!bodies) return NULL;
    flow->at[at] = (lw_cu_turn){.kind = LW_CU_TURN_CHOOSE,
                                .condition = share(choice->condition),
                                .type = choice->type,
                                .size = choice->size,
                                .bodies = bodies};
    return bodies;
}

/* Which of a node's graphs is next; their number: none. */
static unsigned body_of(const lw_cu_turn *turn, uint32_t value) {
    if (turn->type == CU_GRAPH_COND_TYPE_SWITCH) return value < turn->size ? value : turn->size;
    return value ? 0 : turn->type == CU_GRAPH_COND_TYPE_IF && turn->size == 2 ? 1 : turn->size;
}

void lw_cu_turn_take(const lw_cu_turn *turn, size_t *next) {
    if (turn->kind == LW_CU_TURN_JUMP) {
        *next = turn->to;
        return;
    }
    uint32_t *word = (uint32_t *)lw_cu_place(turn->condition->at, sizeof *word);
    if (turn->kind == LW_CU_TURN_ASSIGN) {
        __atomic_store_n(word, turn->condition->first, __ATOMIC_RELEASE);
        ++*next;
    } else *next = turn->bodies[body_of(turn, __atomic_load_n(word, __ATOMIC_ACQUIRE))];
}
