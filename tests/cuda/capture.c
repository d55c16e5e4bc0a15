/* capture.c: what streams are given while they are captured becomes a graph; what cannot makes the capture void. */
#include "graphs.h"

#include <pthread.h>

enum { RELAXED = CU_STREAM_CAPTURE_MODE_RELAXED, LOCAL = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL };

static void start_step(CUdeviceptr to, unsigned by, CUstream in) {
    OK(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, in, (void *[]){&to, &by}, NULL));
}

static CUstreamCaptureStatus status_of(CUstream of) {
    CUstreamCaptureStatus status = 99;
    OK(cuStreamIsCapturing(of, &status));
    return status;
}

static size_t node_count(CUgraph graph) {
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

/* A graph that was captured, done once. */
static void replay(CUgraph graph) {
    CUgraphExec exec = instantiate(graph);
    run(exec);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void note(void *user) { *(unsigned *)user = own[1] + 100; }

static void one_stream(CUstream in) {
    unsigned source = 3, seen = 0;
    CUgraph graph = NULL;
    size_t edges = 0;
    reset();
    OK(cuStreamBeginCapture_v2(in, RELAXED));
    EXPECT(status_of(in) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2(in, RELAXED));
    OK(cuMemsetD32Async(words, 2, 1, in));
    start_step(words, 1, in);
    OK(cuMemcpyHtoDAsync_v2(words + 4, &source, 4, in));
    OK(cuMemcpyDtoHAsync_v2((void *)(own + 1), words, 4, in));
    OK(cuStreamWriteValue32_v2(in, words + 8, 9, 0));
    OK(cuLaunchHostFunc(in, note, &seen));
    OK(cuStreamEndCapture(in, &graph));
    EXPECT(status_of(in) == CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(node_count(graph) == 6);
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    EXPECT(edges == 5);
    OK(cuStreamSynchronize(in));
    EXPECT(!word_at(words) && !seen); /* nothing was done */
    source = 8;                       /* which is read when the graph is launched */
    replay(graph);
    EXPECT(word_at(words) == 7 && word_at(words + 4) == 8 && word_at(words + 8) == 9 && own[1] == 7 && seen == 107);
}

/* Another stream joins by an event, and comes back by one. */
static void fork_and_join(void) {
    CUevent fork, join;
    CUgraph graph = NULL;
    CUgraphNode nodes[8];
    const CUgraphNode *ends = NULL;
    size_t count = 8, edges = 0;
    uint64_t one = 0, two = 0;
    CUstreamCaptureStatus status;
    reset();
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(stream, LOCAL));
    start_step(words, 1, stream);
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(other, fork, 0));
    EXPECT(status_of(other) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemcpyDtoDAsync_v2(words + 4, words, 4, other));
    start_step(words + 4, 5, other);
    OK(cuMemcpyDtoDAsync_v2(words + 8, words, 4, stream));
    start_step(words + 8, 6, stream);
    OK(cuEventRecord(join, other));
    OK(cuStreamWaitEvent(stream, join, 0));
    OK(cuStreamGetCaptureInfo_v2(stream, &status, &one, &graph, &ends, &count));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 2 && graph);
    OK(cuStreamGetCaptureInfo_v2(other, &status, &two, NULL, &ends, &count));
    EXPECT(one == two && count == 1);
    OK(cuMemcpyDtoDAsync_v2(words + 12, words + 4, 4, stream));
    start_step(words + 12, 0, stream);
    OK(cuStreamEndCapture(stream, &graph));
    EXPECT(status_of(other) == CU_STREAM_CAPTURE_STATUS_NONE);
    count = 8;
    OK(cuGraphGetNodes(graph, nodes, &count));
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    EXPECT(count == 7 && edges == 7);
    OK(cuGraphGetRootNodes(graph, nodes, &count));
    EXPECT(count == 1);
    replay(graph);
    EXPECT(word_at(words) == 1 && word_at(words + 4) == 8 && word_at(words + 8) == 9 && word_at(words + 12) == 24);
    OK(cuEventDestroy_v2(fork));
    OK(cuEventDestroy_v2(join));
}

/* A stream may go as soon as it is joined, as those of cuda.core's graph builders do. */
static void gone_when_joined(bool has_more) {
    CUevent fork, join;
    CUstream beside;
    CUgraph graph = (CUgraph)1;
    OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuMemsetD32Async(words, 7, 1, stream));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(beside, fork, 0));
    start_step(words, 5, beside);
    OK(cuEventRecord(join, beside));
    OK(cuStreamWaitEvent(stream, join, 0));
    if (has_more) start_step(words, 6, beside);
    OK(cuStreamDestroy_v2(beside));
    GIVES(has_more ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS, cuStreamEndCapture(stream, &graph));
    EXPECT(has_more == !graph);
    if (graph) {
        EXPECT(node_count(graph) == 2);
        replay(graph);
        EXPECT(word_at(words) == 3 * 7 + 5);
    }
    OK(cuEventDestroy_v2(fork));
    OK(cuEventDestroy_v2(join));
}

/* After what made it void, the capture gives no graph, and the stream goes on. */
static void is_void(CUresult result) {
    CUgraph graph = (CUgraph)1;
    EXPECT(status_of(stream) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    if (result != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(words, 2, 1, stream));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    EXPECT(!graph);
    EXPECT(status_of(stream) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamSynchronize(stream));
}

static void callback(CUstream in, CUresult status, void *user) { (void)in, (void)status, (void)user; }

static void forbidden(CUstream blocking) {
    CUevent event, outside;
    CUdeviceptr memory;
    CUgraph graph;
    CUstreamCaptureStatus status;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(outside, other));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, RELAXED));
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture_v2(stream, 3));

    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamAddCallback(stream, callback, NULL, 0));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuEventRecord(event, stream));
    GIVES(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuEventRecord(event, stream));
    GIVES(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream, outside, 0));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&memory, 64));
    is_void(CUDA_SUCCESS);
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event)); /* recorded again, outside */

    /* The default stream would wait for one that it blocks, and does not for another. */
    OK(cuStreamBeginCapture_v2(blocking, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(NULL, &status));
    EXPECT(status_of(blocking) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(words, 2, 1, NULL));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuMemsetD32Async(words, 2, 1, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    EXPECT(!node_count(graph));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(event));
    OK(cuEventDestroy_v2(outside));
}

/* Forks that do not come back, captures that would become one, and ends in the wrong stream. */
static void unmatched(CUstream third) {
    CUevent event, second;
    CUgraph graph = (CUgraph)1;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&second, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    start_step(words, 1, other);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream, &graph));
    EXPECT(!graph && status_of(stream) == CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(status_of(other) == CU_STREAM_CAPTURE_STATUS_NONE);

    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other, &graph));
    cuStreamEndCapture(stream, &graph); /* which of the errors it is now is not said */
    EXPECT(status_of(stream) == CU_STREAM_CAPTURE_STATUS_NONE);

    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuStreamBeginCapture_v2(third, RELAXED));
    OK(cuEventRecord(event, stream));
    OK(cuEventRecord(second, third));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(stream, second, 0));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(third, &graph));
    OK(cuEventDestroy_v2(event));
    OK(cuEventDestroy_v2(second));
}

/* Into a graph that is there, behind a node of it, and around the stream's own order. */
static void into_a_graph(void) {
    CUgraph graph = new_graph(), got = NULL;
    CUgraphNode first = add_step(graph, NULL, 0, words, 1), last, node;
    size_t count = 1;
    reset();
    OK(cuStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, RELAXED));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 1, 0));
    start_step(words, 2, stream);
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    start_step(words, 3, stream);
    OK(cuStreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuMemsetD32Async(words + 4, 5, 1, stream));
    OK(cuStreamEndCapture(stream, &got));
    EXPECT(got == graph && node_count(graph) == 5);
    OK(cuGraphNodeGetDependentNodes_v2(node, &last, NULL, &count));
    EXPECT(count == 1);
    OK(cuGraphGetRootNodes(graph, NULL, &count));
    EXPECT(count == 3);
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, 0));
    replay(graph);
    EXPECT(word_at(words) == (1 * 3 + 2) * 3 + 3 && word_at(words + 4) == 5);
}

/* Events are captured as nodes where that is asked for; the launch of a graph is not. */
static void graphs_and_events(void) {
    CUgraph graph = new_graph(), got = NULL;
    CUgraphNode nodes[3];
    CUgraphNodeType types[3] = {99, 99, 99};
    CUevent event;
    size_t count = 3;
    reset();
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    add_step(graph, NULL, 0, words, 4);
    CUgraphExec exec = instantiate(graph);
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(exec, stream));
    is_void(CUDA_SUCCESS);
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    start_step(words, 4, stream);
    OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamEndCapture(stream, &got));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphGetNodes(got, nodes, &count));
    EXPECT(count == 3);
    for (size_t i = 0; i < count && i < 3; i++) OK(cuGraphNodeGetType(nodes[i], &types[i]));
    EXPECT(types[0] == CU_GRAPH_NODE_TYPE_WAIT_EVENT && types[1] == CU_GRAPH_NODE_TYPE_KERNEL &&
           types[2] == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    OK(cuEventQuery(event)); /* it is no captured one */
    replay(got);
    OK(cuEventSynchronize(event));
    EXPECT(word_at(words) == 4);
    OK(cuEventDestroy_v2(event));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

typedef struct thread_case {
    CUstreamCaptureMode mode; /* of the thread */
    CUresult alloc, end;
} thread_case;

/* Memory is never taken in the order of a stream alone. */
static void ordered(CUresult wanted) {
    CUdeviceptr memory = 0;
    unsigned word = 0;
    GIVES(wanted, cuMemAllocAsync(&memory, 64, other));
    GIVES(wanted, cuMemFreeAsync(memory, other));
    OK(cuMemcpyHtoDAsync_v2(words, &word, sizeof word, other)); /* that is all that these are */
    OK(cuMemcpyDtoHAsync_v2(&word, words, sizeof word, other));
    OK(cuMemsetD32Async(words, 0, 1, other));
}

static void *other_thread(void *user) {
    thread_case *asked = user;
    CUdeviceptr memory = 0;
    CUgraph graph;
    OK(cuCtxSetCurrent(context));
    OK(cuThreadExchangeStreamCaptureMode(&asked->mode));
    EXPECT(asked->mode == CU_STREAM_CAPTURE_MODE_GLOBAL); /* as every thread begins */
    ordered(asked->alloc);
    if (asked->end) GIVES(asked->end, cuStreamEndCapture(stream, &graph));
    GIVES(asked->alloc, cuMemAlloc_v2(&memory, 64));
    if (memory) OK(cuMemFree_v2(memory));
    return NULL;
}

static void in_another_thread(thread_case asked) {
    pthread_t thread;
    EXPECT(!pthread_create(&thread, NULL, other_thread, &asked));
    pthread_join(thread, NULL);
}

/* What other threads may do meanwhile. */
static void threads(void) {
    CUgraph graph = NULL;
    const CUresult wrong = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    OK(cuStreamBeginCapture_v2(stream, LOCAL));
    in_another_thread((thread_case){CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_SUCCESS, wrong}); /* which ends it */
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    in_another_thread((thread_case){RELAXED, CUDA_SUCCESS, CUDA_SUCCESS});
    in_another_thread((thread_case){LOCAL, CUDA_SUCCESS, CUDA_SUCCESS});
    EXPECT(status_of(stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    in_another_thread(
        (thread_case){CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_SUCCESS});
    is_void(CUDA_SUCCESS);
}

/* Threads that capture, each in its own stream, while others launch. */
static void *busy_thread(void *user) {
    const CUdeviceptr at = *(CUdeviceptr *)user;
    CUstream mine, beside;
    CUevent event;
    OK(cuCtxSetCurrent(context));
    OK(cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int round = 0; round < 20; round++) {
        CUgraph graph = NULL;
        OK(cuStreamBeginCapture_v2(mine, RELAXED));
        start_step(at, 1, mine);
        OK(cuEventRecord(event, mine));
        OK(cuStreamWaitEvent(beside, event, 0));
        start_step(at, 2, beside);
        OK(cuEventRecord(event, beside));
        OK(cuStreamWaitEvent(mine, event, 0));
        OK(cuStreamEndCapture(mine, &graph));
        CUgraphExec exec = instantiate(graph);
        OK(cuGraphLaunch(exec, mine));
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
        start_step(at, 3, mine);
    }
    OK(cuStreamSynchronize(mine));
    OK(cuStreamDestroy_v2(mine));
    OK(cuStreamDestroy_v2(beside));
    OK(cuEventDestroy_v2(event));
    return NULL;
}

static void many_threads(void) {
    enum { THREADS = 3 };
    pthread_t running[THREADS];
    CUdeviceptr at[THREADS];
    unsigned wanted = 0;
    reset();
    for (int i = 0; i < THREADS; i++) at[i] = words + 4 * (CUdeviceptr)i;
    for (int i = 0; i < THREADS; i++) EXPECT(!pthread_create(&running[i], NULL, busy_thread, &at[i]));
    for (int i = 0; i < THREADS; i++) pthread_join(running[i], NULL);
    for (int i = 0; i < 20; i++) wanted = ((wanted * 3 + 1) * 3 + 2) * 3 + 3;
    for (int i = 0; i < THREADS; i++) EXPECT(word_at(at[i]) == wanted);
}

/* Streams and contexts may end meanwhile. */
static void ended_meanwhile(void) {
    CUstream first, second;
    CUcontext inner;
    CUevent event;
    CUgraph graph = (CUgraph)1;
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(first, RELAXED));
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(second));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(first, &graph));
    OK(cuStreamBeginCapture_v2(first, RELAXED));
    OK(cuStreamDestroy_v2(first));
    OK(cuCtxCreate_v2(&inner, 0, 0));
    OK(cuStreamCreate(&first, 0));
    OK(cuStreamBeginCapture_v2(first, RELAXED));
    OK(cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED));
    OK(cuCtxDestroy_v2(inner));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize());
}

int main(void) {
    CUstream blocking;
    begin();
    OK(cuStreamCreate(&blocking, 0));
    one_stream(stream);
    one_stream(blocking);
    one_stream(CU_STREAM_PER_THREAD);
    fork_and_join();
    gone_when_joined(false);
    forbidden(blocking);
    unmatched(blocking);
    into_a_graph();
    graphs_and_events();
    threads();
    many_threads();
    if (ours) {
        gone_when_joined(true);
        ended_meanwhile();
    }
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
