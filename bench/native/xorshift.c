/* examples/xorshift in vector C: a generator in every lane, UNROLL vectors side by side. */
#include "vector.h"

#if defined UNROLL
#elif LANES == 16
#define UNROLL 4
#else
#define UNROLL 6
#endif

void NATIVE(xorshift)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                      uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(UNROLL * LANES, end - i)) {
        uint32_t here = least(UNROLL * LANES, end - i);
        vec x[UNROLL] = {{0}};
        memcpy(x, seed + i, 4 * here);
        for (uint32_t r = 0; r < rounds; r++) {
            EACH(UNROLL, x[u] ^= x[u] << 13;)
            EACH(UNROLL, x[u] ^= x[u] >> 17;)
            EACH(UNROLL, x[u] ^= x[u] << 5;)
        }
        memcpy(out + i, x, 4 * here);
    }
}
