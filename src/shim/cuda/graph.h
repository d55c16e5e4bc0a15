/* graph.h: what stands behind the handles of graphs.   graph → nodes → steps; executable graph → program → steps
 *
 * A step is what a node does, and never changes: nodes that do the same, clones, executable graphs and launches share
 * it. Setting a node's parameters gives it another step. A program is the steps of a graph and of all graphs in it, in
 * an order that its edges allow; a launch holds the program that it began with.
 *
 * Everything but steps and programs is guarded by one lock, which is taken before those of the library and of queues.*/
#ifndef LW_SHIM_CUDA_GRAPH_H
#define LW_SHIM_CUDA_GRAPH_H

#include "shim/cuda/driver.h"

/* ---- The lock: graph.c ----------------------------------------------------------------------------------------- */

/* A call on graphs, with the lock to the end of the function. */
#define LW_CU_GRAPH_CALL \
    LW_CU_CALL; \
    __attribute__((cleanup(lw_cu_graphs_unlock))) char this_lock; \
    lw_cu_graphs_lock(&this_lock)
void lw_cu_graphs_lock(char *unused);
void lw_cu_graphs_unlock(const char *unused);

/* ---- Steps: graph_step.c ----------------------------------------------------------------------------------------- */

typedef struct lw_cu_step {
    _Atomic uint32_t references;
    lw_cu_op op;
    CUgraphNodeParams params;      /* as they were given, but for what is the caller's */
    CUlaunchAttribute *attributes; /* of a kernel: those that were set, and nothing is made of */
    uint32_t attribute_count;
    /* Where a kernel's parameters can be read: made when somebody asks. */
    bool by_extra;
    void **pointers, *extra[5];
    size_t extra_size;
} lw_cu_step;

/* The step that a node of params->type does with these parameters; NULL where there is nothing to do. */
CUresult lw_cu_step_make(lw_cu_step **made, const CUgraphNodeParams *params);
/* That of an operation, whose it is then; NULL: no memory, and it is freed. */
lw_cu_step *lw_cu_step_of(lw_cu_op *op);
lw_cu_step *lw_cu_step_share(lw_cu_step *step);
void lw_cu_step_drop(lw_cu_step *step);
/* Parameters as they are asked for. False: no memory. */
bool lw_cu_step_params(lw_cu_step *step, CUgraphNodeParams *params);
void lw_cu_step_attribute(const lw_cu_step *step, CUlaunchAttributeID id, CUlaunchAttributeValue *value);
/* The step with an attribute set. */
CUresult lw_cu_step_with(const lw_cu_step *step, CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         lw_cu_step **made);
/* Gives a new step the attributes of the one in whose place it comes. */
CUresult lw_cu_step_keep(lw_cu_step *step, const lw_cu_step *old);
bool lw_cu_is_attribute(CUlaunchAttributeID id); /* of nodes */

/* ---- Conditions: graph_condition.c ------------------------------------------------------------------------------- */

typedef struct lw_cu_condition lw_cu_condition; /* a word that kernels set */

enum { LW_CU_BODIES_MOST = 1 << 16 };

/* What a conditional node has. */
typedef struct lw_cu_choice {
    lw_cu_condition *condition;
    unsigned type, size;
    CUgraph bodies[];
} lw_cu_choice;

/* What is at a place of a program where no step is, and leads on. */
typedef struct lw_cu_turn {
    enum { LW_CU_TURN_NONE, LW_CU_TURN_ASSIGN, LW_CU_TURN_CHOOSE, LW_CU_TURN_JUMP } kind;
    lw_cu_condition *condition;
    unsigned type, size;
    size_t *bodies; /* where each begins, and where the last one ends */
    size_t to;
} lw_cu_turn;

/* Those of a program, which programs share as steps are shared. */
typedef struct lw_cu_flow {
    _Atomic uint32_t references;
    size_t count;
    lw_cu_turn at[];
} lw_cu_flow;

void lw_cu_conditions_drop(CUgraph graph);
CUresult lw_cu_check_choice(CUgraph graph, const CUDA_CONDITIONAL_NODE_PARAMS *params);
CUresult lw_cu_choice_add(CUgraphNode node, CUDA_CONDITIONAL_NODE_PARAMS *params);
bool lw_cu_choice_copy(CUgraphNode to, const struct CUgraphNode_st *from);
void lw_cu_choice_drop(CUgraphNode node);
bool lw_cu_has_choice(CUgraph graph); /* so that it can be executed by one at a time, and not copied */
CUresult lw_cu_check_conditions(CUgraph graph, bool is_body);
lw_cu_flow *lw_cu_flow_new(size_t count);
lw_cu_flow *lw_cu_flow_share(lw_cu_flow *flow);
void lw_cu_flow_drop(lw_cu_flow *flow);
bool lw_cu_is_assigned(const lw_cu_choice *choice);
void lw_cu_flow_assign(lw_cu_flow *flow, size_t at, const lw_cu_choice *choice);
/* The places of its bodies, which are to be filled in. NULL: no memory. */
size_t *lw_cu_flow_choose(lw_cu_flow *flow, size_t at, const lw_cu_choice *choice);
void lw_cu_turn_take(const lw_cu_turn *turn, size_t *next); /* which is where it stands before */

/* ---- Graphs: graph.c -------------------------------------------------------------------------------------------- */

typedef struct lw_cu_edge {
    CUgraphNode node;
    CUgraphEdgeData data;
} lw_cu_edge;

typedef struct lw_cu_edges {
    lw_cu_edge *at;
    size_t count, room;
} lw_cu_edges;

bool lw_cu_edges_add(lw_cu_edges *edges, CUgraphNode node, const CUgraphEdgeData *data); /* data may be NULL */

struct CUgraphNode_st {
    lw_cu_object object;
    CUgraph graph;
    CUgraphNodeType type;
    uint64_t id, origin; /* origin: the id of the node that it is a copy of */
    size_t place;        /* among its graph's nodes */
    lw_cu_step *step;
    CUgraph child;        /* of a node that is a graph */
    lw_cu_choice *choice; /* of a conditional one */
    lw_cu_edges before, behind;
    uint64_t mark; /* of who is looking at nodes just now */
    size_t left;   /* dependencies that are not in order yet */
    size_t slot;   /* of an executable graph: in the program */
    bool is_disabled;
};

struct CUgraph_st {
    lw_cu_object object;
    bool is_known;      /* it and its nodes have handles */
    CUgraphNode parent; /* the node that it belongs to */
    CUgraphNode *nodes; /* as they were made */
    size_t count, room;
    uint64_t id, origin;
    uint32_t captures;     /* that are going on into it */
    uint32_t memory_nodes; /* which bind it */
    uint32_t execs;        /* that were made of it, where it has such nodes */
    struct lw_cu_users *users;
    lw_cu_condition *conditions; /* that were made for it */
};

CUresult lw_cu_check_graph(CUgraph graph); /* its handle, and whether calls can be made */
CUresult lw_cu_check_node(CUgraphNode node);
CUresult lw_cu_check_node_of(CUgraphNode node, CUgraphNodeType type);
CUgraph lw_cu_graph_new(bool is_known, CUgraphNode parent); /* NULL: no memory */
CUgraph lw_cu_graph_copy(CUgraph from, bool is_known, CUgraphNode parent);
void lw_cu_graph_drop(CUgraph graph);
/* Whether a node may be added so; nothing of it may be a handle that is none. */
CUresult lw_cu_check_add(CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data, size_t count);
/* Adds a node of a step, which is its own then also where this fails, and of a graph, likewise. */
CUresult lw_cu_node_add(CUgraphNode *made, CUgraph graph, const CUgraphNode *before, const CUgraphEdgeData *data,
                        size_t count, CUgraphNodeType type, lw_cu_step *step, CUgraph child);
void lw_cu_node_remove(CUgraphNode node);
/* Edges, of which both ends know; false: no memory. */
bool lw_cu_edge_add(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData *data);
void lw_cu_edge_remove(CUgraphNode from, CUgraphNode to);
bool lw_cu_is_edge_data(const CUgraphEdgeData *data, CUgraphNode from, CUgraphNode to); /* to: NULL: any */
uint64_t lw_cu_next_mark(void);
/* All nodes in an order that edges allow. False: there is none, and *at is a node behind a circle, or of one. */
bool lw_cu_graph_order(CUgraph graph, CUgraphNode *order, CUgraphNode *at);

void lw_cu_capture_lost(CUgraph graph); /* which is captured into, and ends: capture.c */

/* ---- Executable graphs: graph_exec.c, graph_update.c ------------------------------------------------------------- */

typedef struct lw_cu_program {
    _Atomic uint32_t references;
    struct lw_cu_users *users;
    bool is_host;
    uint32_t waits, records; /* events among the steps */
    lw_cu_flow *flow;        /* NULL: steps come after each other */
    size_t count;
    lw_cu_step *steps[]; /* NULL: nothing to do */
} lw_cu_program;

struct CUgraphExec_st {
    lw_cu_object object;
    CUgraph graph;      /* a copy of its own, without handles */
    CUgraphNode *nodes; /* of it and of the graphs in it, by origin */
    size_t count;
    lw_cu_program *program;
    uint64_t flags;
    CUgraph source; /* that it counts for: one with memory nodes */
    uint64_t source_id;
    lw_cu_point turn; /* the end of its last launch; under the lock of queues */
};

void lw_cu_program_drop(lw_cu_program *program);
void lw_cu_exec_end(CUgraphExec exec); /* what belongs to it */
CUresult lw_cu_check_exec(CUgraphExec exec);
CUgraphNode lw_cu_exec_node(CUgraphExec exec, CUgraphNode node); /* the one made of it; NULL: none was */
/* Gives a node of an executable graph another step, which is its own then, or turns it on or off. */
CUresult lw_cu_exec_set(CUgraphExec exec, CUgraphNode node, lw_cu_step *step);
CUresult lw_cu_exec_enable(CUgraphExec exec, CUgraphNode node, bool is_enabled);

/* ---- Memory: graph_memory.c -------------------------------------------------------------------------------------- */

CUresult lw_cu_graph_allocate(CUgraph graph, CUDA_MEM_ALLOC_NODE_PARAMS *params);
CUresult lw_cu_graph_may_free(CUgraph graph, CUdeviceptr address);
void lw_cu_graph_will_free(CUgraph graph, CUdeviceptr address);
void lw_cu_graph_give_up(CUdeviceptr address); /* what an allocation node had, which ends */
void lw_cu_graph_memory_after_fork(void);
/* What a launch allocates and frees, as its call sees it. */
CUresult lw_cu_graph_take_memory(const lw_cu_program *program, bool free_first);

/* ---- What graphs hold for the program: user.c -------------------------------------------------------------------- */

struct CUuserObject_st {
    lw_cu_object object;
    CUhostFn destroy;
    void *user;
    _Atomic uint64_t count; /* references */
};

/* A list that never changes once two have it. */
struct lw_cu_users *lw_cu_users_share(struct lw_cu_users *users);
void lw_cu_users_drop(struct lw_cu_users *users);

/* ---- What all can use ------------------------------------------------------------------------------------------- */

/* Room for one more of `count` things that lie at *at. */
bool lw_cu_grow(void *at, size_t count, size_t *room, size_t size);

#endif
