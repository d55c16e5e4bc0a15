// Sorts 512 keys of each block in shared memory by a bitonic network; the next round sorts them multiplied.

#include <stdint.h>

extern "C" __global__ void bitonic(uint32_t *out, const uint32_t *keys, uint32_t count, uint32_t rounds) {
    __shared__ uint32_t key[512];
    uint32_t t = threadIdx.x, i = blockIdx.x * 512 + t;

    key[t] = i < count ? keys[i] : 0xffffffff;
    for (uint32_t r = 0;;) {
        for (uint32_t k = 2; k <= 512; k *= 2)
            for (uint32_t j = k / 2; j > 0; j /= 2) {
                __syncthreads();
                uint32_t other = t ^ j, mine = key[t], its = key[other];
                bool up = (t & k) == 0;
                if (other > t && (mine > its) == up) key[t] = its, key[other] = mine;
            }
        __syncthreads();
        if (++r >= rounds) break;
        if (i < count) key[t] = (key[t] ^ r) * 0x9e3779b1u + t;
        else key[t] = 0xffffffff;
    }
    if (i < count) out[i] = key[t];
}
