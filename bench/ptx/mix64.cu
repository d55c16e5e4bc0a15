// Random numbers of 64 bits: splitmix64 with feedback, `rounds` of them in every thread.

#include <stdint.h>

extern "C" __global__ void mix64(uint64_t *out, const uint64_t *seed, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint64_t s = seed[i];
    for (uint32_t r = 0; r < rounds; r++) {
        uint64_t z = s + 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        s = (s << 7 | s >> 57) ^ z ^ z >> 31;
    }
    out[i] = s;
}
