/* graph_print.c: a graph as a text that Graphviz draws. */
#include "shim/cuda/graph.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const type_names[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
    [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
};

/* What a node does, behind its type. */
static void print_what(FILE *to, const struct CUgraphNode_st *node) {
    const lw_cu_op *op = node->step ? &node->step->op : NULL;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        const lw_launch_config *config = &op->kernel.config;
        fprintf(to, "\\n%s\\n<<<%ux%ux%u, %ux%ux%u, %u>>>", op->kernel.function->info.name, config->grid[0],
                config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2],
                config->shared_bytes);
        break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        fprintf(to, "\\n0x%" PRIx64 " to 0x%" PRIx64 "\\n%" PRIu64 "x%" PRIu64 "x%" PRIu64 " bytes", op->copy.from.at,
                op->copy.to.at, op->copy.width, op->copy.height, op->copy.depth);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        fprintf(to, "\\n0x%llx\\n%" PRIu64 "x%" PRIu64 " elements of %u bytes: 0x%" PRIx64, op->fill.to, op->fill.width,
                op->fill.height, op->fill.size, op->fill.value);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: fprintf(to, "\\nevent %p", (void *)op->record.event); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        fprintf(to, "\\n0x%llx\\n%zu bytes", node->step->params.alloc.dptr, node->step->params.alloc.bytesize);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: fprintf(to, "\\n0x%llx", node->step->params.free.dptr); break;
    default: break;
    }
}

static void print_name(FILE *to, const struct CUgraphNode_st *node) {
    fprintf(to, "\"graph_%" PRIu64 "_node_%zu\"", node->graph->id, node->place);
}

static void print_graph(FILE *to, CUgraph graph) {
    fprintf(to, "subgraph cluster_%" PRIu64 " {\nlabel=\"graph_%" PRIu64 "\"\n", graph->id, graph->id);
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        print_name(to, node);
        fprintf(to, " [shape=box label=\"%zu\\n%s", node->place, type_names[node->type]);
        print_what(to, node);
        if (node->child) fprintf(to, "\\ngraph_%" PRIu64, node->child->id);
        for (unsigned k = 0; node->choice && k < node->choice->size; k++)
            fprintf(to, "\\ngraph_%" PRIu64, node->choice->bodies[k]->id);
        fprintf(to, "\"]\n");
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->nodes[i]->behind.count; j++) {
            print_name(to, graph->nodes[i]);
            fprintf(to, " -> ");
            print_name(to, graph->nodes[i]->behind.at[j].node);
            fprintf(to, "\n");
        }
    fprintf(to, "}\n");
    for (size_t i = 0; i < graph->count; i++) {
        const lw_cu_choice *choice = graph->nodes[i]->choice;
        if (graph->nodes[i]->child) print_graph(to, graph->nodes[i]->child);
        for (unsigned k = 0; choice && k < choice->size; k++) print_graph(to, choice->bodies[k]);
    }
}

enum { FLAGS = CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS * 2 - 1 };

/* All is said, whatever is asked for. */
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags) {
    LW_CU_GRAPH_CALL;
    const CUresult result = lw_cu_check_graph(graph);
    if (result) return result;
    if (!path || (flags & ~(unsigned)FLAGS)) return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "we");
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(file, "digraph dot {\n");
    print_graph(file, graph);
    fprintf(file, "}\n");
    const bool failed = ferror(file);
    return fclose(file) || failed ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
