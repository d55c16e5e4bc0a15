// Variables of a module, and what kernels are like.
#include "check.h"

__constant__ float table[8];
__device__ int counters[4] = {10, 20, 30, 40};
__device__ double scale = 2.5;
static __device__ short small_one;

__global__ void __launch_bounds__(128) use(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[i & 7] * (float)scale + counters[i & 3];
    if (!i) small_one = (short)n;
    atomicAdd(&counters[3], 1);
}
__global__ void __launch_bounds__(64) with_local(int *out) {
    __shared__ int shared[100];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[63 - threadIdx.x];
}

int main() {
    float values[8], out[100], *d_out, back[2];
    int counted[4];
    void *address = nullptr;
    size_t size = 0;
    for (int i = 0; i < 8; i++) values[i] = i + 0.25f;
    OK(cudaMemcpyToSymbol(table, values, sizeof values));
    OK(cudaMemcpyFromSymbol(back, table, sizeof back, 2 * sizeof(float)));
    EXPECT(back[0] == values[2] && back[1] == values[3]);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, values, sizeof values, 4)); // beyond its end
    OK(cudaGetSymbolSize(&size, counters));
    EXPECT(size == sizeof counted);
    OK(cudaGetSymbolAddress(&address, counters));
    OK(cudaMemcpy(counted, address, sizeof counted, cudaMemcpyDeviceToHost));
    EXPECT(counted[0] == 10 && counted[3] == 40);
    OK(cudaMalloc(&d_out, sizeof out));
    use<<<2, 64>>>(d_out, 100);
    OK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyFromSymbol(counted, counters, sizeof counted));
    EXPECT(counted[3] == 40 + 128);
    int wrong = 0;
    for (int i = 0; i < 100; i++)
        if ((i & 3) < 3) wrong += out[i] != values[i & 7] * 2.5f + counted[i & 3];
    EXPECT(!wrong);
    short small_back = 0;
    OK(cudaMemcpyFromSymbol(&small_back, small_one, sizeof small_back));
    EXPECT(small_back == 100);
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, values)); // none of a module
    GIVES(cudaErrorInvalidSymbol, cudaGetLastError());
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, with_local));
    EXPECT(attributes.sharedSizeBytes == 400 && attributes.maxThreadsPerBlock == 64 && attributes.numRegs > 0);
    OK(cudaFuncGetAttributes(&attributes, use));
    EXPECT(attributes.maxThreadsPerBlock == 128 && !attributes.sharedSizeBytes);
    const char *name = nullptr;
    OK(cudaFuncGetName(&name, (const void *)use));
    EXPECT(name && !strcmp(name, "_Z3usePfi"));
    size_t offset = 9;
    OK(cudaFuncGetParamInfo((const void *)use, 1, &offset, &size));
    EXPECT(offset == 8 && size == 4);
    return end("symbols");
}
