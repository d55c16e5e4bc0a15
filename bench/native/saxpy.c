/* bench/ptx/saxpy.cu in vector C: all rounds of a vector behind each other, as there, in memory. */
#include "vector.h"

void NATIVE(saxpy)(uint32_t *out, const uint32_t *x, const uint32_t *y, uint32_t count, uint32_t rounds, uint32_t first,
                   uint32_t threads) {
    enum { BLOCK = 2048 }; /* of words, which stay in the cache */
    uint32_t end = part_end(first, threads, count);
    for (uint32_t from = first; from < end; from += least(BLOCK, end - from)) {
        uint32_t to = from + least(BLOCK, end - from);
        memcpy(out + from, y + from, 4 * (size_t)(to - from));
        for (uint32_t r = 0; r < rounds; r++)
            for (uint32_t i = from; i < to; i += least(LANES, to - i)) {
                const uint32_t bytes = 4 * least(LANES, to - i);
                fvec a = {0}, b = {0};
                if (bytes == sizeof a) memcpy(&a, x + i, sizeof a), memcpy(&b, out + i, sizeof b);
                else memcpy(&a, x + i, bytes), memcpy(&b, out + i, bytes);
                b = fma_of(0.25f - (fvec){0}, a, b);
                if (bytes == sizeof a) memcpy(out + i, &b, sizeof b);
                else memcpy(out + i, &b, bytes);
            }
    }
}
