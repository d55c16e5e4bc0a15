/* graph_exec.c: executable graphs: made of graphs, launched, and done. */
#include "shim/cuda/graph.h"

#include <stdlib.h>

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

void lw_cu_program_drop(lw_cu_program *program) {
    if (!program || atomic_fetch_sub(&program->references, 1) != 1) return;
    for (size_t i = 0; i < program->count; i++) lw_cu_step_drop(program->steps[i]);
    lw_cu_flow_drop(program->flow);
    lw_cu_users_drop(program->users);
    free(program);
}

static lw_cu_program *program_new(size_t count, struct lw_cu_users *users) {
    lw_cu_program *made = calloc(1, sizeof *made + count * sizeof made->steps[0]);
    if (!made) return NULL;
    atomic_init(&made->references, 1);
    made->users = lw_cu_users_share(users);
    made->count = count;
    return made;
}

/* Launches keep what they began with. */
static bool own_program(CUgraphExec exec) {
    lw_cu_program *old = exec->program;
    if (atomic_load(&old->references) == 1) return true;
    lw_cu_program *made = program_new(old->count, old->users);
    if (!made) return false;
    made->is_host = old->is_host;
    made->waits = old->waits;
    made->records = old->records;
    made->flow = lw_cu_flow_share(old->flow);
    for (size_t i = 0; i < old->count; i++) made->steps[i] = lw_cu_step_share(old->steps[i]);
    lw_cu_program_drop(old);
    exec->program = made;
    return true;
}

static CUresult set_slot(CUgraphExec exec, CUgraphNode node, lw_cu_step *step) {
    if (!own_program(exec)) return CUDA_ERROR_OUT_OF_MEMORY;
    lw_cu_step **slot = &exec->program->steps[node->slot];
    lw_cu_step *old = *slot;
    *slot = lw_cu_step_share(step);
    lw_cu_step_drop(old);
    return CUDA_SUCCESS;
}

CUresult lw_cu_exec_set(CUgraphExec exec, CUgraphNode node, lw_cu_step *step) {
    const CUresult result = node->is_disabled ? CUDA_SUCCESS : set_slot(exec, node, step);
    lw_cu_step_drop(result ? step : node->step);
    if (!result) node->step = step;
    return result;
}

CUresult lw_cu_exec_enable(CUgraphExec exec, CUgraphNode node, bool is_enabled) {
    const CUresult result = set_slot(exec, node, is_enabled ? node->step : NULL);
    if (!result) node->is_disabled = !is_enabled;
    return result;
}

/* ---- Instantiation ----------------------------------------------------------------------------------------------- */

/* Nodes of a graph and of those in it. *turns: places of a program that they need beside one for each node. */
static size_t count_all(CUgraph graph, size_t *turns) {
    size_t all = graph->count;
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->child) all += count_all(node->child, turns);
        if (!node->choice) continue;
        *turns += node->choice->size + lw_cu_is_assigned(node->choice);
        for (unsigned k = 0; k < node->choice->size; k++) all += count_all(node->choice->bodies[k], turns);
    }
    return all;
}

/* An executable graph while it is made. */
typedef struct maker {
    CUgraphExec exec;
    CUgraphNode *order; /* room for all nodes of one graph after the other */
    size_t nodes, steps;
    uint64_t error; /* id of the node that is wrong */
} maker;

static void add_step(maker *maker, CUgraphNode node) {
    lw_cu_program *program = maker->exec->program;
    node->slot = maker->steps++;
    program->steps[node->slot] = lw_cu_step_share(node->step);
    if (!node->step) return;
    program->is_host |= node->step->op.kind == LW_CU_OP_HOST;
    program->waits += node->step->op.kind == LW_CU_OP_WAIT;
    program->records += node->step->op.kind == LW_CU_OP_RECORD;
}

/* What conditions are when a launch begins comes first. */
static void add_values(maker *maker, CUgraph graph) {
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->child) add_values(maker, node->child);
        if (!node->choice) continue;
        if (lw_cu_is_assigned(node->choice))
            lw_cu_flow_assign(maker->exec->program->flow, maker->steps++, node->choice);
        for (unsigned k = 0; k < node->choice->size; k++) add_values(maker, node->choice->bodies[k]);
    }
}

static bool add_graph(maker *maker, CUgraph graph);

/* Graphs of a conditional node, each with a turn behind it: back to the node, or behind all of them. */
static bool add_bodies(maker *maker, const struct CUgraphNode_st *node) {
    lw_cu_flow *flow = maker->exec->program->flow;
    const lw_cu_choice *choice = node->choice;
    size_t *bodies = lw_cu_flow_choose(flow, node->slot, choice);
    for (unsigned k = 0; bodies && k < choice->size; k++) {
        bodies[k] = maker->steps;
        if (!add_graph(maker, choice->bodies[k])) return false;
        flow->at[maker->steps++].kind = LW_CU_TURN_JUMP;
    }
    for (unsigned k = 0; bodies && k < choice->size; k++) {
        bodies[k + 1] = k + 1 < choice->size ? bodies[k + 1] : maker->steps;
        flow->at[bodies[k + 1] - 1].to = choice->type == CU_GRAPH_COND_TYPE_WHILE ? node->slot : maker->steps;
    }
    return bodies;
}

/* The steps of a graph, and in the place of a node that is one those of that. */
static bool add_graph(maker *maker, CUgraph graph) {
    CUgraphNode *order = maker->order, wrong;
    if (!lw_cu_graph_order(graph, order, &wrong)) {
        maker->error = wrong->origin;
        return false;
    }
    maker->order += graph->count;
    for (size_t i = 0; i < graph->count; i++) {
        maker->exec->nodes[maker->nodes++] = graph->nodes[i];
        add_step(maker, order[i]);
        if (order[i]->child && !add_graph(maker, order[i]->child)) return false;
        if (order[i]->choice && !add_bodies(maker, order[i])) return false;
    }
    return true;
}

static int by_origin(const void *a, const void *b) {
    const uint64_t x = (*(const CUgraphNode *)a)->origin, y = (*(const CUgraphNode *)b)->origin;
    return (x > y) - (x < y);
}

static CUresult build(CUgraphExec exec, CUgraph graph, uint64_t *error) {
    size_t turns = 0;
    const size_t count = count_all(graph, &turns), room = count ? count : 1;
    CUgraphNode *order = calloc(room, sizeof *order);
    maker maker = {.exec = exec, .order = order};
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    exec->graph = lw_cu_graph_copy(graph, false, NULL);
    exec->nodes = calloc(room, sizeof(CUgraphNode));
    exec->program = program_new(count + turns, graph->users);
    exec->count = count;
    if (exec->program && turns) exec->program->flow = lw_cu_flow_new(count + turns);
    if (order && exec->graph && exec->nodes && exec->program && (exec->program->flow || !turns)) {
        add_values(&maker, exec->graph);
        result = add_graph(&maker, exec->graph) ? CUDA_SUCCESS
                 : maker.error                  ? CUDA_ERROR_INVALID_VALUE
                                                : CUDA_ERROR_OUT_OF_MEMORY;
    }
    free(order);
    if (!result) qsort(exec->nodes, count, sizeof(CUgraphNode), by_origin);
    *error = maker.error;
    return result;
}

void lw_cu_exec_end(CUgraphExec exec) {
    if (exec->graph) lw_cu_graph_drop(exec->graph);
    free(exec->nodes);
    lw_cu_program_drop(exec->program);
    lw_cu_point_drop(&exec->turn);
}

static CUgraphNode node_of(CUgraph graph, uint64_t id) {
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->id == id) return graph->nodes[i];
        const lw_cu_choice *choice = graph->nodes[i]->choice;
        CUgraphNode inside = graph->nodes[i]->child ? node_of(graph->nodes[i]->child, id) : NULL;
        for (unsigned k = 0; choice && !inside && k < choice->size; k++) inside = node_of(choice->bodies[k], id);
        if (inside) return inside;
    }
    return NULL;
}

enum {
    PLAIN_FLAGS = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
};

static CUresult check_flags(CUgraph graph, uint64_t flags) {
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        lw_cu_report(LW_CU_REPORT_ALL, "graphs that are launched by kernels are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (flags & ~(uint64_t)PLAIN_FLAGS) return CUDA_ERROR_INVALID_VALUE;
    if (graph->parent && graph->parent->choice) return CUDA_ERROR_NOT_SUPPORTED;
    return graph->parent || graph->captures ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* *error: the node that is the reason, or NULL. */
static CUresult instantiate(CUgraphExec *exec, CUgraph graph, uint64_t flags, CUgraphNode *error) {
    uint64_t wrong = 0;
    *error = NULL;
    CUresult result = lw_cu_check_graph(graph);
    if (!result) result = exec ? check_flags(graph, flags) : CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    if (graph->execs && graph->memory_nodes) return CUDA_ERROR_INVALID_VALUE;     /* which would share its memory */
    if (graph->execs && lw_cu_has_choice(graph)) return CUDA_ERROR_NOT_SUPPORTED; /* likewise */
    if ((result = lw_cu_check_conditions(graph, false))) return result;
    CUgraphExec made = lw_cu_new(sizeof *made, LW_CU_EXEC, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((result = build(made, graph, &wrong))) {
        *error = wrong ? node_of(graph, wrong) : NULL;
        lw_cu_free(&made->object);
        return result;
    }
    made->flags = flags;
    made->source = graph;
    made->source_id = graph->id;
    graph->execs++;
    *exec = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    LW_CU_GRAPH_CALL;
    CUgraphNode wrong;
    return instantiate(exec, graph, flags, &wrong);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size) {
    LW_CU_GRAPH_CALL;
    CUgraphNode wrong;
    const CUresult result = instantiate(exec, graph, 0, &wrong);
    if (node) *node = wrong;
    if (log && size) *log = 0;
    return result;
}
LW_CU_SAME(cuGraphInstantiate, cuGraphInstantiate_v2);

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    LW_CU_GRAPH_CALL;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    const bool upload = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    CUresult result = upload ? lw_cu_enter_stream(params->hUploadStream) : CUDA_SUCCESS;
    params->hErrNode_out = NULL;
    if (!result)
        result = instantiate(exec, graph, params->flags & ~(uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                             &params->hErrNode_out);
    params->result_out = !result                ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                         : params->hErrNode_out ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                                : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_exec(exec);
    if (result) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* Launches that are under way go on. */
CUresult cuGraphExecDestroy(CUgraphExec exec) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_exec(exec);
    if (result) return result;
    if (lw_cu_find(exec->source, LW_CU_GRAPH) && exec->source->id == exec->source_id) exec->source->execs--;
    lw_cu_free(&exec->object);
    return CUDA_SUCCESS;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* What a program waits for first, then what it records. */
static void note_events(lw_cu_run *run) {
    const lw_cu_program *program = run->program;
    uint32_t wait = 0, record = run->waits;
    for (size_t i = 0; i < program->count && (run->waits || run->records); i++) {
        const lw_cu_step *step = program->steps[i];
        if (step && step->op.kind == LW_CU_OP_WAIT) run->marks[wait++].event = step->op.record.event;
        if (step && step->op.kind == LW_CU_OP_RECORD) run->marks[record++].event = step->op.record.event;
    }
}

static lw_cu_run *run_new(lw_cu_program *program) {
    const size_t marks = (size_t)program->waits + program->records;
    lw_cu_run *made = calloc(1, sizeof *made + marks * sizeof made->marks[0]);
    lw_cu_point *after = made ? calloc(program->waits + 1u, sizeof *after) : NULL;
    if (!after) {
        free(made);
        return NULL;
    }
    atomic_fetch_add(&program->references, 1);
    made->program = program;
    made->after = after;
    made->waits = program->waits;
    made->records = program->records;
    note_events(made);
    return made;
}

/* Whoever waits for the end of a user object need not make another call. */
void lw_cu_run_drop(lw_cu_run *run) {
    lw_cu_program_drop(run->program);
    free(run->after);
    free(run);
    lw_cu_clear();
}

bool lw_cu_run_is_host(const lw_cu_run *run) { return run->program->is_host; }

/* From the word on where it was left. */
static CUresult do_words(lw_cu_run *run, const lw_cu_op *op) {
    for (; run->words < op->words; run->words++) {
        const CUresult result = lw_cu_word_run(op, run->words);
        if (result) return result;
    }
    run->words = 0;
    return CUDA_SUCCESS;
}

static CUresult do_step(lw_cu_run *run, const lw_cu_op *op) {
    if (op->kind == LW_CU_OP_WORDS) return do_words(run, op);
    if (op->kind != LW_CU_OP_RECORD) return lw_cu_op_run(op, CUDA_SUCCESS);
    const struct lw_cu_mark *mark = &run->marks[run->waits + run->recorded++];
    lw_cu_reach_record(mark->event, mark->record);
    return CUDA_SUCCESS;
}

/* From where it was left. A loop may be endless, but for a fault elsewhere. */
CUresult lw_cu_run_graph(lw_cu_run *run) {
    const lw_cu_program *program = run->program;
    CUresult result = CUDA_SUCCESS;
    while (run->next < program->count && !result) {
        const lw_cu_step *step = program->steps[run->next];
        const lw_cu_turn *turn = program->flow ? &program->flow->at[run->next] : NULL;
        if (turn && turn->kind) {
            if (lw_cu_fault()) return CUDA_SUCCESS;
            lw_cu_turn_take(turn, &run->next);
            continue;
        }
        if (step) result = do_step(run, &step->op);
        if (!result) run->next++;
    }
    return result;
}

static CUresult prepare(CUgraphExec exec, lw_cu_op *op) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_check_exec(exec);
    if (result) return result;
    const bool free_first = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (exec->graph->memory_nodes && (result = lw_cu_graph_take_memory(exec->program, free_first))) return result;
    *op = (lw_cu_op){.kind = LW_CU_OP_GRAPH, .graph = run_new(exec->program)};
    return op->graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    LW_CU_CALL;
    lw_cu_op op;
    CUresult result = lw_cu_enter_stream(stream);
    if (!result && lw_cu_is_captured(stream)) return lw_cu_capture_launch(exec, stream);
    if (!result) result = prepare(exec, &op);
    return result ? result : lw_cu_submit_graph(stream, &op, &exec->turn);
}

/* There is nothing to bring anywhere. No graph captures it, nor a launch. */
static CUresult check_upload(CUgraphExec exec) {
    LW_CU_GRAPH_CALL;
    return lw_cu_check_exec(exec);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    LW_CU_CALL;
    const CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    return lw_cu_is_captured(stream) ? lw_cu_capture_launch(exec, stream) : check_upload(exec);
}
