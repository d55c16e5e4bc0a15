// Kernels with little work, that a program launches a thousand times: what a launch itself costs. One CTA of 256 threads, one thread a word.

#include <stdint.h>

typedef uint32_t u32;

extern "C" __global__ void nothing(u32 *data, u32 count) {}

// Three operations on an element.
extern "C" __global__ void element(u32 *data, u32 count) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = (data[i] * 5 + 3) ^ i;
}

// Each element goes to another thread, by way of shared memory.
extern "C" __global__ void turn(u32 *data, u32 count) {
    __shared__ u32 s[256];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < count ? data[i] : 0;
    __syncthreads();
    if (i < count) data[i] = s[threadIdx.x ^ 255] + 1;
}
