// Inclusive prefix sums within each block, and the block's maximum, by warp shuffles and shared memory.
//
// Blocks are whole warps: blockDim.x is a multiple of 32, at most 1024. Positions past `count` count as 0.
// With rounds > 1 the sums, changed by the block's maximum, are the next values.

#include <stdint.h>

static const uint32_t ALL = 0xffffffff;

__device__ static uint32_t warp_scan(uint32_t x, uint32_t lane) {
#pragma unroll
    for (uint32_t d = 1; d < 32; d *= 2) {
        uint32_t before = __shfl_up_sync(ALL, x, d);
        if (lane >= d) x += before;
    }
    return x;
}

__device__ static uint32_t warp_max(uint32_t x) {
#pragma unroll
    for (uint32_t d = 16; d > 0; d /= 2) x = max(x, __shfl_down_sync(ALL, x, d));
    return x;
}

extern "C" __global__ void scan(uint32_t *sums, uint32_t *maxima, const uint32_t *values, uint32_t count,
                                uint32_t rounds) {
    __shared__ uint32_t warp_sum[32], warp_top[32], block_top;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

    uint32_t x = i < count ? values[i] : 0;
    uint32_t sum;
#pragma unroll 1
    for (uint32_t r = 0;;) {
        sum = warp_scan(x, lane);
        uint32_t top = warp_max(x);
        if (lane == 31) warp_sum[warp] = sum;
        if (lane == 0) warp_top[warp] = top;
        __syncthreads();
        if (warp == 0) {
            uint32_t s = warp_scan(lane < warps ? warp_sum[lane] : 0, lane);
            uint32_t t = warp_max(lane < warps ? warp_top[lane] : 0);
            warp_sum[lane] = s;
            if (lane == 0) block_top = t;
        }
        __syncthreads();
        if (warp > 0) sum += warp_sum[warp - 1];
        if (++r >= rounds) break;
        x = i < count ? sum ^ block_top : 0;
        __syncthreads();
    }

    if (i < count) sums[i] = sum;
    if (threadIdx.x == 0) maxima[blockIdx.x] = block_top;
}
