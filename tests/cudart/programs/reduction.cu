// Reductions: by shared memory and barriers, by shuffles, by atomics; templates, dynamic shared memory, occupancy.
#include "check.h"

struct Sum {
    static __device__ int of(int a, int b) { return a + b; }
};
struct Most {
    static __device__ int of(int a, int b) { return a > b ? a : b; }
};

template <class Op> __global__ void reduce(const int *in, int *out, int n) {
    extern __shared__ int part[];
    int value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value = Op::of(value, in[i]);
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half >= 32; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = Op::of(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        value = part[threadIdx.x];
        for (int half = 16; half; half /= 2) value = Op::of(value, __shfl_down_sync(0xffffffff, value, half));
        if (!threadIdx.x) out[blockIdx.x] = value;
    }
}

__global__ void histogram(const int *in, int n, unsigned *bins) {
    __shared__ unsigned mine[16];
    if (threadIdx.x < 16) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

template <class Op> static int run(const int *in, int *parts, int n) {
    int result;
    reduce<Op><<<32, 256, 256 * sizeof(int)>>>(in, parts, n);
    reduce<Op><<<1, 32, 32 * sizeof(int)>>>(parts, parts, 32);
    OK(cudaMemcpy(&result, parts, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

int main() {
    enum { N = 100003 };
    static int in[N];
    int *d_in, *d_parts, sum = 0, most = 0, blocks = 0;
    unsigned bins[16] = {}, found[16], *d_bins, state = 1;
    for (int &value : in) {
        state = state * 1664525 + 1013904223;
        value = state >> 16;
        sum += value;
        most = value > most ? value : most;
        bins[value & 15]++;
    }
    OK(cudaMalloc(&d_in, sizeof in));
    OK(cudaMalloc(&d_parts, 32 * sizeof(int)));
    OK(cudaMalloc(&d_bins, sizeof bins));
    OK(cudaMemset(d_bins, 0, sizeof bins));
    OK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    EXPECT(run<Sum>(d_in, d_parts, N) == sum);
    EXPECT(run<Most>(d_in, d_parts, N) == most);
    histogram<<<8, 128>>>(d_in, N, d_bins);
    OK(cudaMemcpy(found, d_bins, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(found, bins, sizeof bins));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce<Sum>, 256, 256 * sizeof(int)));
    EXPECT(blocks >= 1 && blocks <= 32);
    int grid = 0, block = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, histogram));
    EXPECT(grid > 0 && block >= 32 && block <= 1024);
    OK(cudaFuncSetAttribute(reduce<Sum>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    reduce<Sum><<<1, 256, 64 << 10>>>(d_in, d_parts, 256);
    OK(cudaDeviceSynchronize());
    GIVES(cudaErrorInvalidValue, (reduce<Most><<<1, 256, 64 << 10>>>(d_in, d_parts, 256), cudaGetLastError())); // was not asked for
    printf("%d %d\n", sum, most);
    return end("reduction");
}
