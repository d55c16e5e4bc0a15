/* graph_objects.c: what graphs hold and give back: memory, user objects; what is said of handles that are none; what a
 * fault in a node becomes. */
#include "graphs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static CUgraphNode add_alloc(CUgraph graph, const CUgraphNode *before, size_t count, CUdeviceptr *address) {
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 64};
    OK(cuGraphAddMemAllocNode(&node, graph, before, count, &params));
    *address = params.dptr;
    return node;
}

static CUgraphNode add_copy(CUgraph graph, CUgraphNode before, CUdeviceptr to, CUdeviceptr from) {
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = to,
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    OK(cuGraphAddMemcpyNode(&node, graph, &before, 1, &copy, context));
    return node;
}

/* Allocated and freed in each launch. */
static void memory_within(void) {
    CUgraph graph = new_graph(), clone;
    CUdeviceptr memory = 0, got = 0;
    CUgraphNode alloc, node, end;
    CUgraphExec second;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    reset();
    alloc = add_alloc(graph, NULL, 0, &memory);
    EXPECT(memory);
    OK(cuGraphMemAllocNodeGetParams(alloc, &params));
    EXPECT(params.dptr == memory && params.bytesize == 64);
    node = add_copy(graph, add_step(graph, &(CUgraphNode){add_copy(graph, alloc, memory, words)}, 1, memory, 5), words,
                    memory);
    OK(cuGraphAddMemFreeNode(&end, graph, &node, 1, memory));
    OK(cuGraphMemFreeNodeGetParams(end, &got));
    EXPECT(got == memory);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&end, graph, &node, 1, memory));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&end, graph, &node, 1, words)); /* of no node */
    EXPECT(cuGraphClone(&clone, graph) != CUDA_SUCCESS);
    EXPECT(cuGraphDestroyNode(alloc) != CUDA_SUCCESS);
    CUgraphExec exec = instantiate(graph);
    EXPECT(cuGraphInstantiateWithFlags(&second, graph, 0) != CUDA_SUCCESS); /* one at a time */
    run(exec);
    run(exec);
    EXPECT(word_at(words) == 5 * 3 + 5);
    OK(cuGraphExecDestroy(exec));
    exec = instantiate(graph);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* What is left is there until somebody frees it. */
static void memory_left(void) {
    CUgraph graph = new_graph();
    CUdeviceptr memory = 0;
    CUgraphNode alloc = add_alloc(graph, NULL, 0, &memory);
    CUgraphExec exec;
    uint64_t before = 0, after = 0, flags = 9;
    reset();
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &before));
    add_step(graph, &(CUgraphNode){add_copy(graph, alloc, memory, words)}, 1, memory, 5);
    exec = instantiate(graph);
    run(exec);
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &after));
    if (ours) EXPECT(after > before); /* a GPU may have it all from the graph before */
    EXPECT(word_at(memory) == 5);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
    OK(cuMemFreeAsync(memory, stream));
    run(exec);
    EXPECT(word_at(memory) == 5);
    OK(cuMemFree_v2(memory));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphExecGetFlags(exec, &flags));
    EXPECT(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    run(exec);
    run(exec);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    EXPECT(word_at(memory) == 5); /* its graph has ended, and it has not */
    OK(cuMemFree_v2(memory));
}

/* Allocations of a captured stream are nodes. */
static void memory_captured(void) {
    CUgraph graph = NULL;
    CUdeviceptr memory = 0;
    CUgraphNode nodes[4];
    CUgraphNodeType type = 99;
    size_t count = 4;
    reset();
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&memory, 64, stream));
    OK(cuMemsetD32Async(memory, 6, 1, stream));
    OK(cuMemcpyDtoDAsync_v2(words, memory, 4, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 4);
    OK(cuGraphNodeGetType(nodes[0], &type));
    EXPECT(type == CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == 6);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- User objects ------------------------------------------------------------------------------------------------ */

static atomic_int ended;

static void end(void *user) { atomic_fetch_add((atomic_int *)user, 1); }

static void wait_for_end(int wanted) {
    for (int i = 0; atomic_load(&ended) < wanted && i < 5000; i++) usleep(1000);
    EXPECT(atomic_load(&ended) == wanted);
}

static void user_objects(void) {
    CUuserObject object, other_object;
    CUgraph graph = new_graph(), clone;
    OK(cuUserObjectCreate(&object, &ended, end, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRetain(object, 1));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuUserObjectRelease(object, 2)); /* now it is the graph's alone */
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 1)); /* it is the clone's */
    EXPECT(!atomic_load(&ended));
    OK(cuGraphDestroy(clone));
    wait_for_end(1);
    OK(cuUserObjectCreate(&other_object, &ended, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &ended, end, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &ended, end, 0, 1));
    reset();
    add_until(graph, shared);
    OK(cuGraphRetainUserObject(graph, other_object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec)); /* a launch is under way, and needs it */
    usleep(1000);
    EXPECT(atomic_load(&ended) == 1);
    own[0] = 1;
    OK(cuStreamSynchronize(stream));
    wait_for_end(2);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void print(void) {
    char path[] = "/tmp/graph_XXXXXX", text[4096];
    CUgraph graph = new_graph();
    CUgraphNode first = add_step(graph, NULL, 0, words, 1);
    add_step(graph, &first, 1, words, 2);
    const int file = mkstemp(path);
    EXPECT(file >= 0);
    OK(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    const ssize_t size = read(file, text, sizeof text - 1);
    EXPECT(size > 0);
    text[size > 0 ? size : 0] = 0;
    EXPECT(strstr(text, "digraph") && strstr(text, "step") && strstr(text, "->"));
    close(file);
    unlink(path);
    EXPECT(cuGraphDebugDotPrint(graph, "/nowhere/at/all", 0) != CUDA_SUCCESS);
    OK(cuGraphDestroy(graph));
}

/* ---- Handles that are none --------------------------------------------------------------------------------------- */

#define INVALID(call) GIVES(CUDA_ERROR_INVALID_VALUE, call)

/* Whatever is wrong with a handle: an error says so. */
static void no_handles(CUgraph graph, CUgraphNode node, CUgraphExec exec, CUuserObject object) {
    CUgraph got;
    CUgraphNode made;
    CUgraphExec executable;
    CUgraphNodeType type;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUgraphExecUpdateResultInfo info;
    CUDA_KERNEL_NODE_PARAMS kernel_params = kernel(step, NULL);
    unsigned is_enabled;
    uint64_t flags;
    size_t count = 0;
    INVALID(cuGraphDestroy(graph));
    INVALID(cuGraphClone(&got, graph));
    INVALID(cuGraphGetNodes(graph, NULL, &count));
    INVALID(cuGraphGetRootNodes(graph, NULL, &count));
    INVALID(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    INVALID(cuGraphAddEmptyNode(&made, graph, NULL, 0));
    INVALID(cuGraphAddNode_v2(&made, graph, NULL, NULL, 0, &params));
    INVALID(cuGraphAddKernelNode_v2(&made, graph, NULL, 0, &kernel_params));
    INVALID(cuGraphAddDependencies_v2(graph, NULL, NULL, NULL, 0));
    INVALID(cuGraphInstantiateWithFlags(&executable, graph, 0));
    INVALID(cuGraphDebugDotPrint(graph, "/dev/null", 0));
    INVALID(cuGraphRetainUserObject(graph, object, 1, 0));
    INVALID(cuGraphNodeGetType(node, &type));
    INVALID(cuGraphNodeGetDependencies_v2(node, NULL, NULL, &count));
    INVALID(cuGraphNodeGetDependentNodes_v2(node, NULL, NULL, &count));
    INVALID(cuGraphDestroyNode(node));
    INVALID(cuGraphKernelNodeGetParams_v2(node, &kernel_params));
    INVALID(cuGraphKernelNodeSetParams_v2(node, &kernel_params));
    INVALID(cuGraphNodeSetParams(node, &params));
    INVALID(cuGraphChildGraphNodeGetGraph(node, &got));
    INVALID(cuGraphExecDestroy(exec));
    INVALID(cuGraphLaunch(exec, stream));
    INVALID(cuGraphUpload(exec, stream));
    INVALID(cuGraphExecGetFlags(exec, &flags));
    INVALID(cuGraphNodeGetEnabled(exec, node, &is_enabled));
    INVALID(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel_params));
    INVALID(cuGraphExecUpdate_v2(exec, graph, &info));
    INVALID(cuUserObjectRetain(object, 1));
    INVALID(cuUserObjectRelease(object, 1));
}

static void handles(void) {
    CUgraph graph = new_graph();
    CUgraphNode node = add_step(graph, NULL, 0, words, 1);
    CUgraphExec exec = instantiate(graph);
    void *const live = graph;
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec));
    no_handles(NULL, NULL, NULL, NULL);
    no_handles(graph, node, exec, (CUuserObject)node); /* gone */
    no_handles((CUgraph)stream, (CUgraphNode)words, (CUgraphExec)step, (CUuserObject)live);
    no_handles((CUgraph) ~(uintptr_t)0, (CUgraphNode)8, (CUgraphExec)&graph, (CUuserObject)1);
}

/* What one thread ends while another one uses it: the calls end well, or with an error that says so. */
typedef struct used {
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    pthread_barrier_t start;
} used;

static void *use(void *user) {
    used *of = user;
    CUdeviceptr to = words;
    unsigned by = 1;
    size_t count;
    CUgraph clone;
    CUresult result = CUDA_SUCCESS;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by});
    OK(cuCtxSetCurrent(context));
    pthread_barrier_wait(&of->start);
    for (int i = 0; i < 200 && !result; i++) {
        cuGraphExecKernelNodeSetParams_v2(of->exec, of->node, &params);
        cuGraphGetNodes(of->graph, NULL, &count);
        if (!cuGraphClone(&clone, of->graph)) OK(cuGraphDestroy(clone));
        cuGraphKernelNodeSetParams_v2(of->node, &params);
        result = cuGraphLaunch(of->exec, stream);
    }
    EXPECT(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

static void ended_while_used(void) {
    for (int round = 0; round < 10; round++) {
        pthread_t thread;
        used of = {.graph = new_graph()};
        of.node = add_step(of.graph, NULL, 0, words, 1);
        of.exec = instantiate(of.graph);
        pthread_barrier_init(&of.start, NULL, 2);
        EXPECT(!pthread_create(&thread, NULL, use, &of));
        pthread_barrier_wait(&of.start);
        for (int i = 0; i < 5; i++) OK(cuGraphLaunch(of.exec, other));
        OK(cuGraphDestroy(of.graph));
        OK(cuGraphExecDestroy(of.exec));
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&of.start);
    }
    OK(cuCtxSynchronize());
}

/* Other arguments that cannot be. */
static void arguments(void) {
    CUgraph graph = new_graph(), got;
    CUgraphNode node = add_step(graph, NULL, 0, words, 1), made;
    CUgraphExec exec;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE};
    CUDA_MEMSET_NODE_PARAMS fill = {words, 0, 7, 3, 1, 1};
    CUDA_HOST_NODE_PARAMS host = {NULL, NULL};
    CUDA_KERNEL_NODE_PARAMS params = kernel((CUfunction)graph, NULL);
    CUgraphNodeParams generic = {.type = 99};
    CUgraphEdgeData edge = {.to_port = 1};
    INVALID(cuGraphCreate(NULL, 0));
    INVALID(cuGraphCreate(&got, 1));
    INVALID(cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    INVALID(cuGraphAddEmptyNode(&made, graph, NULL, 1));
    INVALID(cuGraphAddKernelNode_v2(&made, graph, NULL, 0, NULL));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphAddKernelNode_v2(&made, graph, NULL, 0, &params));
    copy.WidthInBytes = copy.Height = copy.Depth = 1;
    INVALID(cuGraphAddMemcpyNode(&made, graph, NULL, 0, &copy, context));
    copy.srcMemoryType = 9;
    INVALID(cuGraphAddMemcpyNode(&made, graph, NULL, 0, &copy, context));
    INVALID(cuGraphAddMemsetNode(&made, graph, NULL, 0, &fill, context));
    INVALID(cuGraphAddHostNode(&made, graph, NULL, 0, &host));
    INVALID(cuGraphAddEventRecordNode(&made, graph, NULL, 0, NULL));
    INVALID(cuGraphAddNode_v2(&made, graph, NULL, NULL, 0, &generic));
    generic.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    if (is_ours()) GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode_v2(&made, graph, NULL, NULL, 0, &generic));
    INVALID(cuGraphAddNode_v2(&made, graph, &node, &edge, 1, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY}));
    INVALID(cuGraphMemcpyNodeGetParams(node, &copy)); /* of another kind */
    INVALID(cuGraphInstantiateWithFlags(&exec, graph, 1 << 20));
    INVALID(cuGraphInstantiateWithFlags(NULL, graph, 0));
    OK(cuGraphDestroy(graph));
}

/* Rows of a rectangle, on the host on one side. */
static void rectangles(void) {
    CUgraph graph = new_graph();
    CUgraphNode copy, fill;
    unsigned from[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .memset = {.dst = words + 4, .pitch = 16, .value = 0x55, .elementSize = 1, .width = 4, .height = 3}};
    const CUDA_MEMCPY3D rows = {.srcXInBytes = 4,
                                .srcY = 1,
                                .srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = from,
                                .srcPitch = 16,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = words,
                                .dstPitch = 16,
                                .WidthInBytes = 8,
                                .Height = 2,
                                .Depth = 1};
    reset();
    OK(cuGraphAddNode_v2(&fill, graph, NULL, NULL, 0, &params));
    OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &rows, context));
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == 6 && word_at(words + 4) == 7 && word_at(words + 8) == 0);
    EXPECT(word_at(words + 16) == 10 && word_at(words + 20) == 11 && word_at(words + 36) == 0x55555555);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* What the graph uses may go while a launch of it waits; what is behind a fault is not done. */
static void faults_in_nodes(void) {
    CUgraph graph = new_graph();
    CUgraphNode first, second;
    CUgraphExec exec;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(trip, NULL);
    reset();
    first = add_step(graph, NULL, 0, shared, 1);
    OK(cuGraphAddKernelNode_v2(&second, graph, &first, 1, &params));
    add_step(graph, &second, 1, shared, 2);
    exec = instantiate(graph);
    OK(cuGraphLaunch(exec, stream));
    const CUresult result = cuStreamSynchronize(stream);
    EXPECT(result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_INSTRUCTION);
    EXPECT(own[0] == 1);
    EXPECT(cuGraphLaunch(exec, stream) == result); /* the context has the error from now on */
    if (!ours) return;
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    cuCtxDestroy_v2(context);
    EXPECT(cuGraphLaunch(exec, stream) != CUDA_SUCCESS);
}

int main(void) {
    begin();
    memory_within();
    memory_left();
    memory_captured();
    user_objects();
    print();
    if (ours) handles();
    if (ours) ended_while_used();
    rectangles();
    arguments();
    faults_in_nodes();
    return faults != 0;
}
