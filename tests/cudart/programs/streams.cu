// Streams: order within one, events between them, functions of the host, times.
#include "check.h"

enum { STREAMS = 4, N = 4096, ROUNDS = 5 };

__global__ void step(int *data, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * factor + i;
}
__global__ void sum(const int *a, const int *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] - b[i];
}

static int order[8], calls;
static void note(void *what) { order[calls++ & 7] = *(int *)what; }
static void called(cudaStream_t, cudaError_t status, void *what) {
    if (status == cudaSuccess) note(what);
}

static int expected(int stream, int i) {
    unsigned value = stream;
    for (int round = 0; round < ROUNDS; round++) value = value * (stream + 2) + i;
    return value;
}

int main() {
    cudaStream_t streams[STREAMS];
    cudaEvent_t begin, done[STREAMS], end_;
    int *host[STREAMS], *device[STREAMS], *difference, first = 1, second = 2, wrong = 0;
    float milliseconds = -1;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreateWithFlags(&end_, cudaEventBlockingSync));
    OK(cudaMalloc(&difference, N * sizeof(int)));
    for (int s = 0; s < STREAMS; s++) {
        OK(cudaStreamCreateWithFlags(&streams[s], s & 1 ? cudaStreamNonBlocking : cudaStreamDefault));
        OK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
        OK(cudaMallocHost(&host[s], N * sizeof(int)));
        OK(cudaMalloc(&device[s], N * sizeof(int)));
        for (int i = 0; i < N; i++) host[s][i] = s;
    }
    OK(cudaEventRecord(begin, streams[0]));
    for (int s = 0; s < STREAMS; s++) {
        OK(cudaMemcpyAsync(device[s], host[s], N * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        for (int round = 0; round < ROUNDS; round++) step<<<N / 128, 128, 0, streams[s]>>>(device[s], N, s + 2);
        OK(cudaMemcpyAsync(host[s], device[s], N * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
        OK(cudaEventRecord(done[s], streams[s]));
    }
    OK(cudaStreamWaitEvent(streams[1], done[3], 0));
    sum<<<N / 128, 128, 0, streams[1]>>>(device[1], device[3], difference, N);
    OK(cudaLaunchHostFunc(streams[1], note, &first));
    OK(cudaStreamAddCallback(streams[1], called, &second, 0));
    OK(cudaStreamWaitEvent(streams[0], done[1], 0));
    OK(cudaEventRecord(end_, streams[0]));
    OK(cudaEventSynchronize(end_));
    OK(cudaEventQuery(end_));
    OK(cudaEventElapsedTime(&milliseconds, begin, end_));
    EXPECT(milliseconds >= 0);
    OK(cudaStreamSynchronize(streams[1]));
    EXPECT(calls == 2 && order[0] == 1 && order[1] == 2);
    OK(cudaDeviceSynchronize());
    for (int s = 0; s < STREAMS; s++)
        for (int i = 0; i < N; i++) wrong += host[s][i] != expected(s, i);
    EXPECT(!wrong);
    OK(cudaMemcpy(host[0], difference, N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) wrong += host[0][i] != (int)((unsigned)expected(1, i) - expected(3, i));
    EXPECT(!wrong);
    OK(cudaStreamQuery(streams[2]));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, begin, done[0])); // which keeps no times
    unsigned flags = 9;
    OK(cudaStreamGetFlags(streams[1], &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    for (int s = 0; s < STREAMS; s++) {
        OK(cudaStreamDestroy(streams[s]));
        OK(cudaEventDestroy(done[s]));
        OK(cudaFreeHost(host[s]));
        OK(cudaFree(device[s]));
    }
    return end("streams");
}
