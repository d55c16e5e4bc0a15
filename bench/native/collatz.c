/* bench/ptx/collatz.cu in vector C: a vector goes on until its last lane has reached 1. */
#include "vector.h"

static inline bool any(vec v) {
    uint32_t all = 0;
    for (uint32_t l = 0; l < LANES; l++) all |= v[l];
    return all != 0;
}

void NATIVE(collatz)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                     uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        uint32_t here = least(LANES, end - i);
        vec total = {0};
        memcpy(&total, seed + i, 4 * here);
        for (uint32_t r = 0; r < rounds; r++) {
            vec n = (total >> 16) + 1, steps = {0};
            for (vec runs; any(runs = (vec)(n != 1));) {
                vec odd = -(n & 1), next = ((3 * n + 1) & odd) | (n >> 1 & ~odd);
                n = (next & runs) | (n & ~runs);
                steps -= runs;
            }
            total = (total + steps) * 0x9e3779b1u;
        }
        memcpy(out + i, &total, 4 * here);
    }
}
