// printf, recursion, calls through pointers, malloc and assert in kernels.
#include "check.h"
#include <cassert>

typedef int (*Op)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Op ops[] = {plus, times};

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) { return !m ? n + 1 : ackermann(m - 1, !n ? 1 : ackermann(m, n - 1)); }

__global__ void print(int n) {
    if (threadIdx.x == 3) printf("thread %d of block %d: %s %5.2f %llx %c%%\n", threadIdx.x, blockIdx.x, "text", 3.14159, 0x123456789abcull, 'x');
}

__global__ void recurse(int *out) {
    out[threadIdx.x] = fibonacci(threadIdx.x);
    if (!threadIdx.x) out[32] = ackermann(2, 3);
    if (threadIdx.x < 2) out[33 + threadIdx.x] = ops[threadIdx.x](6, 7);
    int *mine = (int *)malloc(4 * sizeof(int));
    assert(mine);
    for (int i = 0; i < 4; i++) mine[i] = threadIdx.x + i;
    out[35 + threadIdx.x] = mine[3] + mine[0];
    free(mine);
}

int main() {
    int out[35 + 16], *device, wrong = 0, a = 0, b = 1;
    size_t limit = 0;
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    EXPECT(limit >= 1 << 20);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 8 << 10));
    print<<<1, 32>>>(7);
    OK(cudaDeviceSynchronize());
    OK(cudaMalloc(&device, sizeof out));
    recurse<<<1, 16>>>(device);
    OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) {
        int next = a + b;
        wrong += out[i] != a;
        a = b, b = next;
        wrong += out[35 + i] != 2 * i + 3;
    }
    EXPECT(!wrong);
    EXPECT(out[32] == 9 && out[33] == 13 && out[34] == 42);
    return end("printing");
}
