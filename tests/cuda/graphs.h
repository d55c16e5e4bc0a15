/* graphs.h: what the tests of graphs and of captures begin with. */
#ifndef LW_TESTS_CUDA_GRAPHS_H
#define LW_TESTS_CUDA_GRAPHS_H

#include "order.h"

/* trip: traps. */
static const char *ptx = HEAD_PTX
    ".visible .entry until(.param .u64 flag)\n{\n"
    ".reg .b64 %d<4>;\n.reg .b32 %r;\n.reg .pred %p<2>;\nld.param.u64 %d0, [flag];\n"
    "mov.u64 %d1, %globaltimer;\nadd.u64 %d1, %d1, 20000000000;\n"
    "again:\nld.volatile.global.u32 %r, [%d0];\nmov.u64 %d3, %globaltimer;\nsetp.ne.u32 %p0, %r, 0;\n"
    "setp.gt.u64 %p1, %d3, %d1;\nor.pred %p0, %p0, %p1;\n@!%p0 bra again;\nret;\n}\n" STEP_PTX
    ".visible .entry trip()\n{\ntrap;\nret;\n}\n";

static CUfunction trip;
static CUstream stream, other;

static inline CUDA_KERNEL_NODE_PARAMS kernel(CUfunction function, void **params) {
    return (CUDA_KERNEL_NODE_PARAMS){function, 1, 1, 1, 1, 1, 1, 0, params, NULL, NULL, NULL};
}

static inline CUgraphNode add_step(CUgraph graph, const CUgraphNode *before, size_t count, CUdeviceptr to,
                                   unsigned by) {
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by});
    OK(cuGraphAddKernelNode_v2(&node, graph, before, count, &params));
    return node;
}

static inline CUgraphNode add_until(CUgraph graph, CUdeviceptr flag) {
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(until, (void *[]){&flag});
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    return node;
}

static inline CUgraph new_graph(void) {
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static inline CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static inline void run(CUgraphExec exec) {
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

/* A context with all of that. */
static inline void begin(void) {
    const CUmodule module = begin_words(ptx);
    OK(cuModuleGetFunction(&trip, module, "trip"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
}

#endif
