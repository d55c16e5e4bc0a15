// Compiled with --default-stream per-thread: each thread of the host has a default stream of its own.
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, N = 1000 };

__constant__ int offset;
__global__ void fill(int *to, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = value * i + offset;
}

static void *work(void *number) {
    int value = *(int *)number, host[N], *device;
    long wrong = 0;
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    OK(cudaMalloc(&device, sizeof host));
    for (int round = 1; round <= 10; round++) {
        OK(cudaMemset(device, 0xff, sizeof host));
        fill<<<(N + 63) / 64, 64>>>(device, N, value * round);
        OK(cudaEventRecord(event));
        OK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, 0));
        OK(cudaStreamSynchronize(0));
        OK(cudaEventQuery(event));
        for (int i = 0; i < N; i++) wrong += host[i] != value * round * i + 7;
    }
    OK(cudaFree(device));
    OK(cudaEventDestroy(event));
    return (void *)wrong;
}

int main() {
    pthread_t threads[THREADS];
    int numbers[THREADS], seven = 7;
    OK(cudaMemcpyToSymbol(offset, &seven, sizeof seven));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        EXPECT(!pthread_create(&threads[i], nullptr, work, &numbers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong = nullptr;
        EXPECT(!pthread_join(threads[i], &wrong) && !wrong);
    }
    return end("per_thread");
}
