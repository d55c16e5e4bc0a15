// How long sequences of 3n+1 are that begin at numbers up to 65536: each thread's loop ends at its own time.

#include <stdint.h>

extern "C" __global__ void collatz(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t total = seed[i];
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t n = (total >> 16) + 1, steps = 0;
        for (; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
        total = (total + steps) * 0x9e3779b1u;
    }
    out[i] = total;
}
