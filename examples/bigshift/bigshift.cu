// Shifts of 512-bit numbers by an amount of their own, one thread a number: whole words by selection in four
// steps, then the remaining bits by funnel shifts.
//
// A number is 16 words, the least significant first. The output holds, for each number, x << n and x >> n.
// With rounds > 1, x ^ (x << n) ^ (x >> n) is the next x, and its lowest word moves n on, so that neither
// stays the same in the loop.

#include <stdint.h>

enum { WORDS = 16 };

__device__ static void shift_left(uint32_t d[WORDS], const uint32_t a[WORDS], uint32_t n) {
#pragma unroll
    for (int k = 0; k < WORDS; k++) d[k] = n < 512 ? a[k] : 0;
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
        bool move = (n >> 5) & step;
#pragma unroll
        for (int k = WORDS - 1; k >= 0; k--) d[k] = move ? (k >= step ? d[k - step] : 0) : d[k];
    }
#pragma unroll
    for (int k = WORDS - 1; k >= 0; k--) d[k] = __funnelshift_l(k ? d[k - 1] : 0, d[k], n);
}

__device__ static void shift_right(uint32_t d[WORDS], const uint32_t a[WORDS], uint32_t n) {
#pragma unroll
    for (int k = 0; k < WORDS; k++) d[k] = n < 512 ? a[k] : 0;
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
        bool move = (n >> 5) & step;
#pragma unroll
        for (int k = 0; k < WORDS; k++) d[k] = move ? (k + step < WORDS ? d[k + step] : 0) : d[k];
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++) d[k] = __funnelshift_r(d[k], k < WORDS - 1 ? d[k + 1] : 0, n);
}

__device__ static void load(uint32_t x[WORDS], const uint4 *from) {
#pragma unroll
    for (int k = 0; k < WORDS / 4; k++) {
        uint4 v = from[k];
        x[4 * k] = v.x, x[4 * k + 1] = v.y, x[4 * k + 2] = v.z, x[4 * k + 3] = v.w;
    }
}

__device__ static void store(uint4 *to, const uint32_t x[WORDS]) {
#pragma unroll
    for (int k = 0; k < WORDS / 4; k++)
        to[k] = make_uint4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
}

extern "C" __global__ void bigshift(uint4 *out, const uint4 *number, const uint32_t *amount, uint32_t count,
                                    uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t x[WORDS], left[WORDS], right[WORDS];
    load(x, number + (size_t)i * 4);
    uint32_t n = amount[i];
#pragma unroll 1
    for (uint32_t r = 0;;) {
        shift_left(left, x, n);
        shift_right(right, x, n);
        if (++r >= rounds) break;
#pragma unroll
        for (int k = 0; k < WORDS; k++) x[k] ^= left[k] ^ right[k];
        n = (n + x[0]) & 511;
    }
    store(out + (size_t)i * 8, left);
    store(out + (size_t)i * 8 + 4, right);
}
