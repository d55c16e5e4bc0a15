// Marsaglia's xorshift32, `rounds` steps of it in every thread: the smallest integer loop there is.

#include <stdint.h>

extern "C" __global__ void xorshift(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t x = seed[i];
    for (uint32_t r = 0; r < rounds; r++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    out[i] = x;
}
