// Graphs: captured from streams, built node by node, of nodes of any type, changed and launched again.
#include "check.h"

enum { N = 512 };

__global__ void scale(int *data, int factor) { data[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }
__global__ void add(int *data, const int *other) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += other[i];
}

static int notes;
static void note(void *) { notes++; }

static bool holds(const int *device, int factor, int more) {
    int host[N], wrong = 0;
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) wrong += host[i] != i * factor + more;
    return !wrong;
}

static void captured(int *a, int *b, const int *ramp) {
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemcpyAsync(a, ramp, N * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork, 0));
    OK(cudaMemcpyAsync(b, ramp, N * sizeof(int), cudaMemcpyDeviceToDevice, side));
    scale<<<N / 64, 64, 0, side>>>(b, 10);
    scale<<<N / 64, 64, 0, stream>>>(a, 3);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join, 0));
    add<<<N / 64, 64, 0, stream>>>(a, b);
    OK(cudaLaunchHostFunc(stream, note, nullptr));
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 6);
    EXPECT(!notes); // nothing has run yet
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(notes == 3);
    EXPECT(holds(a, 13, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(side));
}

static void built(int *a, const int *ramp) {
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t copy, kernel, fill, last, empty;
    cudaGraphNodeType type;
    int *b, factor = 5, host[N];
    OK(cudaMalloc(&b, N * sizeof(int)));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, a, ramp, N * sizeof(int), cudaMemcpyDeviceToDevice));
    void *scale_params[] = {&a, &factor}, *add_params[] = {&a, &b};
    cudaKernelNodeParams params = {};
    params.func = (void *)scale;
    params.gridDim = N / 64;
    params.blockDim = 64;
    params.kernelParams = scale_params;
    OK(cudaGraphAddKernelNode(&kernel, graph, &copy, 1, &params));
    cudaMemsetParams ones = {};
    ones.dst = b;
    ones.value = 1;
    ones.elementSize = 4;
    ones.width = N;
    ones.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &ones));
    cudaGraphNode_t before[] = {kernel, fill};
    OK(cudaGraphAddEmptyNode(&empty, graph, before, 2));
    params.func = (void *)add;
    params.kernelParams = add_params;
    OK(cudaGraphAddKernelNode(&last, graph, &empty, 1, &params));
    OK(cudaGraphNodeGetType(fill, &type));
    EXPECT(type == cudaGraphNodeTypeMemset);
    OK(cudaGraphKernelNodeGetParams(kernel, &params));
    EXPECT(params.func == (void *)scale && params.gridDim.x == N / 64 && *(int *)params.kernelParams[1] == 5);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 5, 1));
    factor = 7; // only what is told again changes
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 5, 1));
    params.func = (void *)scale;
    params.kernelParams = scale_params;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
    ones.value = 2;
    OK(cudaGraphExecMemsetNodeSetParams(exec, fill, &ones));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 7, 2));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphInstantiate(&exec, clone, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 5, 1));
    OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(clone));
    OK(cudaFree(b));
}

__device__ int factors[2] = {1, 1};
__global__ void by_factor(int *data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= factors[1]; }

// Nodes of any type by one call, variables, what a node is asked, and a graph that takes the place of another one.
static void general(int *a, const int *ramp) {
    cudaGraph_t graph, other;
    cudaGraphExec_t exec;
    cudaGraphNode_t copy, set, kernel, fill;
    int nine = 9, four = 4, host[N], *b;
    OK(cudaMalloc(&b, 64));
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemcpy;
    cudaMemcpy3DParms &box = params.memcpy.copyParams;
    box.srcPtr = make_cudaPitchedPtr((void *)ramp, N * sizeof(int), N * sizeof(int), 1);
    box.dstPtr = make_cudaPitchedPtr(a, N * sizeof(int), N * sizeof(int), 1);
    box.extent = make_cudaExtent(N * sizeof(int), 1, 1);
    box.kind = cudaMemcpyDeviceToDevice;
    OK(cudaGraphAddNode(&copy, graph, nullptr, nullptr, 0, &params));
    OK(cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, factors, &nine, sizeof nine, sizeof nine, cudaMemcpyHostToDevice));
    cudaGraphNode_t before[] = {copy, set};
    void *by[] = {&a};
    params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)by_factor;
    params.kernel.gridDim = N / 64;
    params.kernel.blockDim = 64;
    params.kernel.kernelParams = by;
    OK(cudaGraphAddNode(&kernel, graph, before, nullptr, 2, &params));
    params = {};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = b;
    params.memset.value = 0x31;
    params.memset.elementSize = 1;
    params.memset.width = 64;
    params.memset.height = 1;
    OK(cudaGraphAddNode(&fill, graph, &kernel, nullptr, 1, &params));
    cudaMemcpy3DParms asked = {};
    OK(cudaGraphMemcpyNodeGetParams(copy, &asked));
    EXPECT(asked.srcPtr.ptr == ramp && asked.dstPtr.ptr == a && asked.extent.width == N * sizeof(int) && asked.kind == cudaMemcpyDeviceToDevice);
    cudaMemsetParams filled = {};
    OK(cudaGraphMemsetNodeGetParams(fill, &filled));
    EXPECT(filled.dst == b && filled.value == 0x31 && filled.width == 64);
    size_t edges = 0;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(edges == 3);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 9, 0));
    OK(cudaMemcpy(host, b, 64, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 0x31313131 && host[15] == 0x31313131);
    OK(cudaGraphClone(&other, graph));
    cudaGraphNode_t its_set;
    OK(cudaGraphNodeFindInClone(&its_set, set, other));
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(its_set, factors, &four, sizeof four, sizeof four, cudaMemcpyHostToDevice));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, other, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(holds(a, 4, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(other));
    OK(cudaFree(b));
}

int main() {
    int *a, *b, *ramp, host[N];
    for (int i = 0; i < N; i++) host[i] = i;
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    OK(cudaMalloc(&ramp, sizeof host));
    OK(cudaMemcpy(ramp, host, sizeof host, cudaMemcpyHostToDevice));
    captured(a, b, ramp);
    built(a, ramp);
    general(a, ramp);
    return end("graphs");
}
