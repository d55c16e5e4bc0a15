/* graph.c: graphs: what they are made of, the order in which their nodes are done, and what changes when. */
#include "graphs.h"

#include <pthread.h>

/* ---- What a graph is made of ------------------------------------------------------------------------------------- */

static void structure(void) {
    CUgraph graph = new_graph(), elsewhere = new_graph();
    CUgraphNode a, b, c, d, stranger, got[6], to[6];
    CUgraphNodeType type = 99;
    size_t count = 0;
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cuGraphAddEmptyNode(&c, graph, &a, 1));
    OK(cuGraphAddEmptyNode(&d, graph, (CUgraphNode[]){b, c}, 2));
    OK(cuGraphAddEmptyNode(&stranger, elsewhere, NULL, 0));
    OK(cuGraphNodeGetType(a, &type));
    EXPECT(type == CU_GRAPH_NODE_TYPE_EMPTY);
    OK(cuGraphGetNodes(graph, NULL, &count));
    EXPECT(count == 4);
    count = 6;
    memset(got, 1, sizeof got);
    OK(cuGraphGetNodes(graph, got, &count));
    EXPECT(count == 4 && !got[4] && !got[5]);
    OK(cuGraphGetRootNodes(graph, got, &count));
    EXPECT(count == 1 && got[0] == a);
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    EXPECT(count == 4);
    count = 6;
    OK(cuGraphGetEdges(graph, got, to, &count));
    EXPECT(count == 4 && got[3] && to[3] && !got[4] && !to[4]);
    count = 6;
    OK(cuGraphNodeGetDependencies_v2(d, got, NULL, &count));
    EXPECT(count == 2 && ((got[0] == b && got[1] == c) || (got[0] == c && got[1] == b)));
    count = 1;
    OK(cuGraphNodeGetDependentNodes_v2(a, got, NULL, &count));
    EXPECT(count == 1 && (got[0] == b || got[0] == c));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&b, graph, (CUgraphNode[]){a, a}, 2)); /* twice */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&b, graph, &stranger, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies_v2(graph, &a, &b, NULL, 1)); /* is there */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies_v2(graph, &a, &stranger, NULL, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies_v2(graph, &a, &d, NULL, 1)); /* is not there */
    OK(cuGraphRemoveDependencies_v2(graph, &a, &b, NULL, 1));
    count = 6;
    OK(cuGraphGetRootNodes(graph, got, &count));
    EXPECT(count == 2);
    OK(cuGraphDestroyNode(c));
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    EXPECT(count == 1);
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(elsewhere));
}

/* Edges that say more than that a node comes after another. */
static void annotated(void) {
    const CUgraphEdgeData late = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    const CUgraphEdgeData early = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                   .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraph graph = new_graph();
    CUgraphNode a = add_step(graph, NULL, 0, words, 1), b = add_step(graph, NULL, 0, words, 2), empty, from, to;
    CUgraphEdgeData got = {0};
    size_t count = 1;
    reset();
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies_v2(graph, &a, &empty, &early, 1)); /* between kernels only */
    OK(cuGraphAddDependencies_v2(graph, &a, &b, &early, 1));
    OK(cuGraphGetEdges_v2(graph, &from, &to, &got, &count));
    EXPECT(count == 1 && from == a && to == b && !memcmp(&got, &early, sizeof got));
    GIVES(CUDA_ERROR_LOSSY_QUERY, cuGraphGetEdges_v2(graph, &from, &to, NULL, &count));
    GIVES(CUDA_ERROR_LOSSY_QUERY, cuGraphNodeGetDependencies_v2(b, &from, NULL, &count));
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == 1 * 3 + 2);
    OK(cuGraphRemoveDependencies_v2(graph, &a, &b, &late, 1)); /* whatever is said */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies_v2(graph, &a, &b, &early, 1));
    OK(cuGraphAddDependencies_v2(graph, &a, &b, &early, 1));
    OK(cuGraphRemoveDependencies_v2(graph, &a, &b, NULL, 1));
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    EXPECT(count == 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void circle(void) {
    CUgraph graph = new_graph();
    CUgraphNode a, b;
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.result_out = 77};
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cuGraphAddDependencies_v2(graph, &b, &a, NULL, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &params));
    EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    EXPECT(params.hErrNode_out == a || params.hErrNode_out == b);
    OK(cuGraphDestroy(graph));
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void note(void *user) { *(unsigned *)user = own[0] * 3 + 1; }

/* a: w0 = 5; b: w1 = w0; c: w2, w3 = 7; d, behind both: the host's word = w0 * 3 + 1; e: w1 = w1 * 3 + 2. */
static void diamond(void) {
    unsigned seen = 0;
    CUgraph graph = new_graph();
    CUgraphNode a = add_step(graph, NULL, 0, shared, 5), b, c, d;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = shared,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = words + 4,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    const CUDA_MEMSET_NODE_PARAMS fill = {words + 8, 0, 7, 4, 2, 1};
    const CUDA_HOST_NODE_PARAMS host = {note, &seen};
    CUDA_MEMSET_NODE_PARAMS got_fill;
    CUDA_MEMCPY3D got_copy;
    CUDA_HOST_NODE_PARAMS got_host;
    reset();
    OK(cuGraphAddMemcpyNode(&b, graph, &a, 1, &copy, context));
    OK(cuGraphAddMemsetNode(&c, graph, &a, 1, &fill, context));
    OK(cuGraphAddHostNode(&d, graph, (CUgraphNode[]){b, c}, 2, &host));
    add_step(graph, &d, 1, words + 4, 2);
    OK(cuGraphMemcpyNodeGetParams(b, &got_copy));
    EXPECT(got_copy.srcDevice == shared && got_copy.WidthInBytes == 4);
    OK(cuGraphMemsetNodeGetParams(c, &got_fill));
    EXPECT(got_fill.dst == words + 8 && got_fill.value == 7);
    OK(cuGraphHostNodeGetParams(d, &got_host));
    EXPECT(got_host.fn == note && got_host.userData == &seen);
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    run(exec);
    EXPECT(own[0] == 5 && seen == 16 && word_at(words + 4) == 17 && word_at(words + 8) == 7 &&
           word_at(words + 12) == 7);
    run(exec);
    EXPECT(own[0] == 20 && seen == 61 && word_at(words + 4) == 62);
    OK(cuGraphExecDestroy(exec));
}

/* A long chain, made from its end to its beginning, in a stream between other work. */
static void chain(void) {
    enum { NODES = 1000 };
    static CUgraphNode nodes[NODES];
    unsigned wanted = 0;
    CUgraph graph = new_graph();
    reset();
    for (int i = NODES; i--;) nodes[i] = add_step(graph, NULL, 0, words, (unsigned)i);
    for (int i = 1; i < NODES; i++) OK(cuGraphAddDependencies_v2(graph, &nodes[i - 1], &nodes[i], NULL, 1));
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphUpload(exec, stream));
    OK(cuMemsetD32Async(words, 2, 1, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemcpyDtoDAsync_v2(words + 4, words, 4, stream));
    OK(cuStreamSynchronize(stream));
    wanted = 2;
    for (unsigned i = 0; i < 2 * NODES; i++) wanted = wanted * 3 + i % NODES;
    EXPECT(word_at(words + 4) == wanted);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Launches of one executable graph are in order, whatever streams they are in. */
static void one_at_a_time(void) {
    CUgraph graph = new_graph();
    CUgraphNode first = add_until(graph, shared);
    unsigned wanted = 0;
    reset();
    add_step(graph, &first, 1, words, 1);
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 10; i++) OK(cuGraphLaunch(exec, i & 1 ? stream : other));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    own[0] = 1;
    OK(cuCtxSynchronize());
    for (int i = 0; i < 10; i++) wanted = wanted * 3 + 1;
    EXPECT(word_at(words) == wanted);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

/* Of attributes that are an int. */
static int get_attribute(CUgraphNode node, CUlaunchAttributeID id) {
    CUlaunchAttributeValue value = {.priority = 77};
    OK(cuGraphKernelNodeGetAttribute(node, id, &value));
    return value.priority;
}

static void set_attribute(CUgraphNode node, CUlaunchAttributeID id, int set) {
    const CUlaunchAttributeValue value = {.priority = set};
    OK(cuGraphKernelNodeSetAttribute(node, id, &value));
    EXPECT(get_attribute(node, id) == set);
}

static void kernel_params(void) {
    CUdeviceptr to = words;
    unsigned by = 4;
    size_t size = 12;
    char buffer[12];
    CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by}), got;
    CUDA_KERNEL_NODE_PARAMS_v1 old;
    CUgraph graph = new_graph();
    CUgraphNode node;
    reset();
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    by = 9; /* which comes too late */
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    EXPECT(got.func == step && got.gridDimX == 1 && got.blockDimZ == 1 && got.kernelParams);
    EXPECT(*(CUdeviceptr *)got.kernelParams[0] == words && *(unsigned *)got.kernelParams[1] == 4);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == 4);
    got.kernelParams[1] = &by; /* what was got is given back, with one thing changed */
    OK(cuGraphKernelNodeSetParams_v2(node, &got));
    run(exec);
    EXPECT(word_at(words) == 4 * 3 + 4); /* made before */
    OK(cuGraphExecDestroy(exec));
    memcpy(buffer, &to, 8);
    memcpy(buffer + 8, &by, 4);
    params.kernelParams = NULL;
    params.extra =
        (void *[]){CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    memcpy(&old, &params, sizeof old);
    OK(cuGraphKernelNodeSetParams(node, &old));
    exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == (4 * 3 + 4) * 3 + 9);
    by = 1;
    params = kernel(step, (void *[]){&to, &by});
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    run(exec);
    EXPECT(word_at(words) == ((4 * 3 + 4) * 3 + 9) * 3 + 1);
    EXPECT(get_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE) == 0);
    set_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, -1);
    if (ours) set_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
    OK(cuGraphKernelNodeSetParams_v2(node, &params)); /* which leaves attributes alone */
    EXPECT(get_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY) == -1);
    EXPECT(get_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE) == ours);
    params.gridDimX = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams_v2(node, &params));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* A launch that is under way does what it was given. */
static void changed_while_pending(void) {
    CUgraph graph = new_graph();
    CUgraphNode first = add_until(graph, shared), second = add_step(graph, &first, 1, words, 1);
    CUdeviceptr to = words;
    unsigned by = 2;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by});
    reset();
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecKernelNodeSetParams_v2(exec, second, &params));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphNodeSetEnabled(exec, second, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    own[0] = 1;
    OK(cuStreamSynchronize(stream));
    EXPECT(word_at(words) == 1 * 3 + 2);
}

static void enabled(void) {
    CUgraph graph = new_graph();
    CUgraphNode first = add_step(graph, NULL, 0, words, 1), second = add_step(graph, &first, 1, words, 2), empty;
    unsigned is_enabled = 9;
    reset();
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphNodeGetEnabled(exec, first, &is_enabled));
    EXPECT(is_enabled == 1);
    OK(cuGraphNodeSetEnabled(exec, first, 0));
    OK(cuGraphNodeGetEnabled(exec, first, &is_enabled));
    EXPECT(is_enabled == 0);
    run(exec);
    EXPECT(word_at(words) == 2);
    OK(cuGraphNodeSetEnabled(exec, first, 1));
    run(exec);
    EXPECT(word_at(words) == (2 * 3 + 1) * 3 + 2);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, empty, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    (void)second;
}

static void update(void) {
    CUgraph one = new_graph(), two = new_graph(), three = new_graph(), four = new_graph();
    CUgraphExecUpdateResultInfo info;
    CUgraphNode a = add_step(one, NULL, 0, words, 1), b = add_step(two, NULL, 0, words, 5), c, d;
    const CUDA_MEMSET_NODE_PARAMS fill = {words, 0, 7, 4, 1, 1};
    reset();
    add_step(one, &a, 1, words, 2);
    add_step(two, &b, 1, words, 6);
    c = add_step(three, NULL, 0, words, 1);
    add_step(three, NULL, 0, words, 2); /* no edge */
    d = add_step(four, NULL, 0, words, 1);
    CUgraphExec exec = instantiate(one);
    OK(cuGraphExecUpdate_v2(exec, two, &info));
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    run(exec);
    EXPECT(word_at(words) == 5 * 3 + 6);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, three, &info));
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, four, &info)); /* one node less */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED && !info.errorNode);
    OK(cuGraphAddMemsetNode(&c, four, &d, 1, &fill, context));
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, four, &info));
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED && info.errorNode == c);
    OK(cuMemsetD32_v2(words, 0, 1));
    run(exec); /* as it was */
    EXPECT(word_at(words) == 5 * 3 + 6);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(one));
    OK(cuGraphDestroy(two));
    OK(cuGraphDestroy(three));
    OK(cuGraphDestroy(four));
}

/* ---- Graphs of graphs -------------------------------------------------------------------------------------------- */

static void clones(void) {
    CUgraph graph = new_graph(), clone;
    CUgraphNode first = add_step(graph, NULL, 0, words, 1), second = add_step(graph, &first, 1, words, 2), found, got;
    size_t count = 1;
    reset();
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, second, clone));
    EXPECT(found != second);
    OK(cuGraphNodeGetDependencies_v2(found, &got, NULL, &count));
    EXPECT(count == 1);
    OK(cuGraphNodeFindInClone(&found, first, clone));
    EXPECT(found == got);
    OK(cuGraphDestroyNode(second));
    CUgraphExec exec = instantiate(clone);
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    run(exec);
    EXPECT(word_at(words) == 1 * 3 + 2);
    OK(cuGraphExecDestroy(exec));
}

static void children(void) {
    CUgraph graph = new_graph(), child = new_graph(), embedded, deeper = new_graph();
    CUgraphNode first = add_step(child, NULL, 0, words, 2), inside, node, next, got[2];
    CUdeviceptr to = words;
    unsigned by = 7;
    size_t count = 2;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by});
    reset();
    add_step(child, &first, 1, words, 3);
    OK(cuGraphAddChildGraphNode(&inside, deeper, NULL, 0, child));
    CUgraphNode before = add_step(graph, NULL, 0, words, 1);
    OK(cuGraphAddChildGraphNode(&node, graph, &before, 1, child));
    OK(cuGraphAddChildGraphNode(&next, graph, &node, 1, deeper));
    add_step(graph, &next, 1, words, 4);
    OK(cuGraphDestroy(child));
    OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    OK(cuGraphGetNodes(embedded, got, &count));
    EXPECT(count == 2);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == ((((1 * 3 + 2) * 3 + 3) * 3 + 2) * 3 + 3) * 3 + 4);
    OK(cuGraphExecKernelNodeSetParams_v2(exec, got[0], &params)); /* a node of the embedded graph */
    OK(cuMemsetD32_v2(words, 0, 1));
    run(exec);
    EXPECT(word_at(words) == ((((1 * 3 + 7) * 3 + 3) * 3 + 2) * 3 + 3) * 3 + 4);
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(embedded));
    CUgraphNodeParams moved = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                               .graph = {deeper, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &moved));
    OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
    EXPECT(embedded == deeper);
    EXPECT(cuGraphInstantiateWithFlags(&exec, deeper, 0) != CUDA_SUCCESS); /* it belongs to the other */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void events(void) {
    CUgraph graph = new_graph();
    CUevent start, end, got = NULL;
    CUgraphNode wait, first, record;
    reset();
    OK(cuEventCreate(&start, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&end, CU_EVENT_DISABLE_TIMING));
    OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, start));
    first = add_step(graph, &wait, 1, words, 1);
    OK(cuGraphAddEventRecordNode(&record, graph, &first, 1, end));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    EXPECT(got == end);
    OK(cuGraphEventWaitNodeGetEvent(wait, &got));
    EXPECT(got == start);
    CUgraphExec exec = instantiate(graph);
    OK(cuLaunchKernel(until, 1, 1, 1, 1, 1, 1, 0, other, (void *[]){&shared}, NULL));
    OK(cuEventRecord(start, other));
    OK(cuGraphLaunch(exec, stream));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    EXPECT(!word_at(words));
    own[0] = 1;
    OK(cuEventSynchronize(end));
    EXPECT(word_at(words) == 1);
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(end));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(end));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Threads with graphs of their own. */
static void *busy_thread(void *user) {
    const CUdeviceptr at = *(CUdeviceptr *)user;
    CUstream mine;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 20; round++) {
        CUgraph graph = new_graph(), clone;
        CUgraphNode node = NULL;
        for (unsigned i = 0; i < 10; i++) node = add_step(graph, &node, i > 0, at, 1);
        OK(cuGraphClone(&clone, graph));
        OK(cuGraphDestroy(graph));
        CUgraphExec exec = instantiate(clone);
        OK(cuGraphLaunch(exec, mine));
        OK(cuGraphLaunch(exec, mine));
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(clone));
    }
    OK(cuStreamSynchronize(mine));
    OK(cuStreamDestroy_v2(mine));
    return NULL;
}

static void many_threads(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    CUdeviceptr at[THREADS];
    unsigned wanted = 0;
    reset();
    for (int i = 0; i < THREADS; i++) at[i] = words + 4 * (CUdeviceptr)i;
    for (int i = 0; i < THREADS; i++) EXPECT(!pthread_create(&threads[i], NULL, busy_thread, &at[i]));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 400; i++) wanted = wanted * 3 + 1;
    for (int i = 0; i < THREADS; i++) EXPECT(word_at(at[i]) == wanted);
}

int main(void) {
    begin();
    structure();
    annotated();
    circle();
    diamond();
    chain();
    one_at_a_time();
    kernel_params();
    changed_while_pending();
    enabled();
    update();
    clones();
    children();
    events();
    many_threads();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
