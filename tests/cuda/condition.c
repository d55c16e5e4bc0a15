/* condition.c: graphs that execute graphs by a value that kernels set, and nodes that wait for words of memory and
 * write some. Elsewhere than on Lanewise the toolkit's libcudadevrt is an argument, where kernels find the call that
 * sets it. */
#include "graphs.h"

#include <stdlib.h>

/* set: the condition to a value. down: a word one less, and the condition to it. */
static const char *setters = HEAD_PTX
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n{\n.reg .b64 %d;\n.reg .b32 %r;\n"
    "ld.param.u64 %d, [handle];\nld.param.u32 %r, [value];\n"
    "{\n.param .b64 h;\n.param .b32 v;\nst.param.b64 [h], %d;\nst.param.b32 [v], %r;\n"
    "call cudaGraphSetConditional, (h, v);\n}\nret;\n}\n"
    ".visible .entry down(.param .u64 handle, .param .u64 word)\n{\n.reg .b64 %d<2>;\n.reg .b32 %r;\n"
    "ld.param.u64 %d0, [handle];\nld.param.u64 %d1, [word];\nld.global.u32 %r, [%d1];\nsub.u32 %r, %r, 1;\n"
    "st.global.u32 [%d1], %r;\n{\n.param .b64 h;\n.param .b32 v;\nst.param.b64 [h], %d0;\nst.param.b32 [v], %r;\n"
    "call cudaGraphSetConditional, (h, v);\n}\nret;\n}\n";

static CUfunction set, down;

static void load_setters(const char *library) {
    CUlinkState link;
    CUmodule module = NULL;
    void *image = NULL;
    size_t size;
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)setters, strlen(setters) + 1, "set", 0, NULL, NULL));
    if (library) OK(cuLinkAddFile_v2(link, CU_JIT_INPUT_LIBRARY, library, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&set, module, "set"));
    OK(cuModuleGetFunction(&down, module, "down"));
    OK(cuLinkDestroy(link));
}

static CUgraphNode add_kernel(CUgraph graph, CUgraphNode before, CUfunction function, void **params) {
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS all = kernel(function, params);
    OK(cuGraphAddKernelNode_v2(&node, graph, &before, before != NULL, &all));
    return node;
}

static CUgraphNode add_set(CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle, unsigned value) {
    return add_kernel(graph, before, set, (void *[]){&handle, &value});
}

static CUgraphNode add_down(CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle, CUdeviceptr word) {
    return add_kernel(graph, before, down, (void *[]){&handle, &word});
}

static CUresult try_condition(CUgraphNode *node, CUgraph graph, CUgraphNode before, CUgraphNodeParams *params) {
    return cuGraphAddNode_v2(node, graph, &before, NULL, before != NULL, params);
}

static CUgraphNodeParams condition(CUgraphConditionalHandle handle, unsigned type, unsigned size) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                               .conditional = {.handle = handle, .type = type, .size = size, .ctx = context}};
}

static CUgraphNode add_condition(CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle, unsigned type,
                                 unsigned size, CUgraph *bodies) {
    CUgraphNode node = NULL;
    CUgraphNodeParams params = condition(handle, type, size);
    OK(try_condition(&node, graph, before, &params));
    for (unsigned i = 0; node && i < size; i++) bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static CUgraphConditionalHandle new_handle(CUgraph graph, unsigned value, unsigned flags) {
    CUgraphConditionalHandle handle = 0;
    OK(cuGraphConditionalHandleCreate(&handle, graph, context, value, flags));
    return handle;
}

static void fill(CUdeviceptr at, unsigned value) { OK(cuMemsetD32_v2(at, value, 1)); }

/* ---- Which graph is executed ------------------------------------------------------------------------------------- */

/* What is behind the node comes when the chosen graph is done. */
static void by_what_a_kernel_sets(void) {
    for (unsigned value = 0; value < 4; value++) {
        CUgraph graph = new_graph(), bodies[3];
        reset();
        CUgraphConditionalHandle first = new_handle(graph, 0, 0), second = new_handle(graph, 7, 0);
        CUgraphNode node = add_set(graph, add_set(graph, NULL, first, value), second, value);
        node = add_condition(graph, node, first, CU_GRAPH_COND_TYPE_IF, 2, bodies);
        add_step(bodies[0], NULL, 0, words, 5);
        add_step(bodies[1], NULL, 0, words, 6);
        node = add_condition(graph, node, second, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
        for (unsigned i = 0; i < 3; i++) add_step(bodies[i], NULL, 0, words, 7 + i);
        add_step(graph, &node, 1, words, 1);
        CUgraphExec exec = instantiate(graph);
        run(exec);
        unsigned wanted = value ? 5 : 6;
        if (value < 3) wanted = wanted * 3 + 7 + value;
        EXPECT(word_at(words) == wanted * 3 + 1);
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
}

/* A loop in a loop: what the inner one begins with is set by the outer one. */
static void loops(void) {
    CUgraph graph = new_graph(), outer, inner;
    reset();
    CUgraphConditionalHandle of_outer = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
                             of_inner = new_handle(graph, 0, 0);
    fill(words + 4, 3);
    CUgraphNode node = add_condition(graph, NULL, of_outer, CU_GRAPH_COND_TYPE_WHILE, 1, &outer);
    add_step(graph, &node, 1, words, 2);
    const CUDA_MEMSET_NODE_PARAMS two = {.dst = words + 8, .value = 2, .elementSize = 4, .width = 1, .height = 1};
    CUgraphNode rounds = NULL;
    OK(cuGraphAddMemsetNode(&rounds, outer, NULL, 0, &two, context));
    node = add_condition(outer, add_set(outer, rounds, of_inner, 1), of_inner, CU_GRAPH_COND_TYPE_WHILE, 1, &inner);
    add_down(inner, add_step(inner, NULL, 0, words, 1), of_inner, words + 8);
    add_down(outer, node, of_outer, words + 4);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    unsigned wanted = 0;
    for (int i = 0; i < 6; i++) wanted = wanted * 3 + 1;
    EXPECT(word_at(words) == wanted * 3 + 2);
    fill(words + 4, 1); /* a launch begins with the default again */
    run(exec);
    wanted = ((wanted * 3 + 2) * 3 + 1) * 3 + 1;
    EXPECT(word_at(words) == wanted * 3 + 2);
    EXPECT(word_at(words + 4) == 0 && word_at(words + 8) == 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Without a default a condition is 0 at first; elsewhere it is not said what it is. */
static void without_a_default(void) {
    CUgraph graph = new_graph(), body;
    reset();
    CUgraphConditionalHandle handle = new_handle(graph, 1, 0);
    add_condition(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    add_step(body, NULL, 0, words, 1);
    CUgraphExec exec = instantiate(graph);
    run(exec);
    EXPECT(word_at(words) == 0 || !ours);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Body graphs take what is captured into them; executable ones follow changes. */
static void captured_and_updated(void) {
    CUgraph graph = new_graph(), body, same;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr to = words;
    unsigned by = 4;
    reset();
    CUgraphConditionalHandle handle = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node = add_condition(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body), inside = NULL;
    OK(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &by}, NULL));
    OK(cuStreamEndCapture(stream, &same));
    EXPECT(same == body);
    CUgraphExec exec = instantiate(graph), other_one;
    run(exec);
    EXPECT(word_at(words) == 4);
    size_t count = 1;
    OK(cuGraphGetNodes(body, &inside, &count));
    by = 9;
    const CUDA_KERNEL_NODE_PARAMS params = kernel(step, (void *[]){&to, &by});
    OK(cuGraphKernelNodeSetParams_v2(inside, &params));
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    run(exec);
    EXPECT(word_at(words) == 4 * 3 + 9);
    by = 2;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, inside, &params));
    run(exec);
    EXPECT(word_at(words) == 21 * 3 + 2);
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&other_one, graph, 0)); /* one at a time */
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&same, graph));
    CUgraph whole = new_graph();
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, whole, NULL, 0, graph));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(body));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&other_one, body, 0));
    OK(cuGraphDestroy(whole));
    OK(cuGraphDestroy(graph));
    run(exec); /* it needs its graph no more */
    EXPECT(word_at(words) == 65 * 3 + 2);
    OK(cuGraphExecDestroy(exec));
}

static void host(void *unused) { (void)unused; }

static void refused(void) {
    CUgraph graph = new_graph(), another = new_graph(), body;
    CUgraphConditionalHandle handle = 0, used, spare;
    CUgraphExec exec;
    CUgraphNode node, inside;
    CUgraphNodeType type = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(NULL, graph, context, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 0));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate(&handle, graph, NULL, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2));
    used = new_handle(graph, 0, 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(used)); /* a number, and nothing that was allocated */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(used, NULL));
    const struct {
        CUgraph graph;
        CUgraphConditionalHandle handle;
        unsigned type, size;
    } none[] = {{graph, 0, 0, 1},    {graph, 12345, 0, 1}, {graph, used, 0, 0},
                {graph, used, 0, 3}, {graph, used, 1, 0},  {graph, used, 1, 2},
                {graph, used, 2, 0}, {graph, used, 3, 1},  {another, used, 0, 1}};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        CUgraphNodeParams params = condition(none[i].handle, none[i].type, none[i].size);
        GIVES(CUDA_ERROR_INVALID_VALUE, try_condition(&node, none[i].graph, NULL, &params));
    }
    CUgraphNodeParams nowhere = condition(used, 0, 1);
    nowhere.conditional.ctx = NULL;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, try_condition(&node, graph, NULL, &nowhere));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0)); /* nobody has the condition */
    node = add_condition(graph, NULL, used, CU_GRAPH_COND_TYPE_IF, 1, &body);
    OK(cuGraphNodeGetType(node, &type));
    EXPECT(type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
    CUgraphNodeParams again = condition(used, 0, 1);
    CUgraphNode second;
    GIVES(CUDA_ERROR_INVALID_VALUE, try_condition(&second, graph, NULL, &again)); /* somebody has it */
    spare = new_handle(body, 0, 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUgraph deeper;
    add_condition(body, NULL, spare, CU_GRAPH_COND_TYPE_IF, 1, &deeper);
    const CUDA_HOST_NODE_PARAMS call = {host, NULL};
    OK(cuGraphAddHostNode(&inside, deeper, NULL, 0, &call)); /* which no body may have */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0));
    used = new_handle(another, 0, 0);
    node = add_condition(another, NULL, used, CU_GRAPH_COND_TYPE_IF, 1, &body);
    OK(cuGraphDestroyNode(node));
    add_condition(another, NULL, used, CU_GRAPH_COND_TYPE_IF, 1, &body); /* nobody has it any more */
    exec = instantiate(another);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(another));
}

/* ---- Words of memory --------------------------------------------------------------------------------------------- */

static CUstreamBatchMemOpParams word_op(unsigned operation, CUdeviceptr at, unsigned long long value) {
    CUstreamBatchMemOpParams op = {.pad = {0}};
    op.word.operation = operation;
    op.word.address = at;
    op.word.value = value;
    return op;
}

static void batches(void) {
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    reset();
    CUstreamBatchMemOpParams ops[3] = {word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, shared, 11),
                                       word_op(CU_STREAM_MEM_OP_WAIT_VALUE_32, shared + 4, 1),
                                       word_op(CU_STREAM_MEM_OP_WRITE_VALUE_64, shared + 8, 1ull << 40 | 3)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 3, ops, 0};
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    ops[0].word.value = 12; /* which has been taken */
    add_step(graph, &node, 1, shared, 5);
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphLaunch(exec, stream));
    for (int i = 0; own[0] != 11 && i < 1000000000; i++) continue;
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    EXPECT(own[0] == 11 && own[3] == 0);
    own[0] = 20; /* it is not written again */
    own[1] = 1;
    OK(cuStreamSynchronize(stream));
    EXPECT(own[0] == 20 * 3 + 5 && own[2] == 3 && own[3] == 1 << 8);
    OK(cuGraphBatchMemOpNodeGetParams(node, &got));
    EXPECT(got.ctx == context && got.count == 3 && !got.flags && got.paramArray[0].word.value == 11);
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    run(exec);
    EXPECT(own[0] == 12 * 3 + 5);
    params.count = 2;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    params.count = 3;
    ops[0].word.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    ops[0].word.operation = 77;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &params));
    ops[0] = word_op(CU_STREAM_MEM_OP_WRITE_VALUE_32, 0, 1);
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &params));
    params.flags = 1;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &params));
    params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){context, 0, ops, 0};
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    params.ctx = NULL;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &params));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(int count, char **arguments) {
    begin();
    load_setters(count > 1 ? arguments[1] : NULL);
    by_what_a_kernel_sets();
    loops();
    without_a_default();
    captured_and_updated();
    refused();
    batches();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
