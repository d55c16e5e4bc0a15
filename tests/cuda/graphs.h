/* graphs.h: what the tests of graphs and of captures begin with. */
#ifndef LW_TESTS_CUDA_GRAPHS_H
#define LW_TESTS_CUDA_GRAPHS_H

#include <stdbool.h>

#include "expect.h"

/* until: waits until *flag is not 0, for some seconds at most. step: *to = *to * 3 + by, so that the result tells the
 * order. trip: traps. */
static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry until(.param .u64 flag)\n{\n"
    ".reg .b64 %d<4>;\n.reg .b32 %r;\n.reg .pred %p<2>;\nld.param.u64 %d0, [flag];\n"
    "mov.u64 %d1, %globaltimer;\nadd.u64 %d1, %d1, 20000000000;\n"
    "again:\nld.volatile.global.u32 %r, [%d0];\nmov.u64 %d3, %globaltimer;\nsetp.ne.u32 %p0, %r, 0;\n"
    "setp.gt.u64 %p1, %d3, %d1;\nor.pred %p0, %p0, %p1;\n@!%p0 bra again;\nret;\n}\n"
    ".visible .entry step(.param .u64 to, .param .u32 by)\n{\n"
    ".reg .b64 %d;\n.reg .b32 %r<3>;\nld.param.u64 %d, [to];\nld.param.u32 %r0, [by];\n"
    "ld.volatile.global.u32 %r1, [%d];\nmad.lo.u32 %r1, %r1, 3, %r0;\nst.volatile.global.u32 [%d], %r1;\nret;\n}\n"
    ".visible .entry trip()\n{\ntrap;\nret;\n}\n";

static CUcontext context;
static CUfunction until, step, trip;
static CUdeviceptr words;      /* of the device */
static volatile unsigned *own; /* words that the host sees, too … */
static CUdeviceptr shared;     /* … and where the device does */
static CUstream stream, other;
static bool ours; /* the driver is Lanewise, which defines what is said of a handle that is none */

static inline unsigned word_at(CUdeviceptr at) {
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, at, sizeof word));
    return word;
}

static inline void reset(void) {
    OK(cuCtxSynchronize());
    OK(cuMemsetD32_v2(words, 0, 16));
    for (int i = 0; i < 16; i++) own[i] = 0;
}

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
    CUmodule module;
    void *host_words;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&until, module, "until"));
    OK(cuModuleGetFunction(&step, module, "step"));
    OK(cuModuleGetFunction(&trip, module, "trip"));
    OK(cuMemAlloc_v2(&words, 64));
    OK(cuMemHostAlloc(&host_words, 64, 2));
    OK(cuMemHostGetDevicePointer_v2(&shared, host_words, 0));
    own = host_words;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
}

#endif
