/* bench/ptx/mix64.cu in vector C: LANES / 2 numbers in a vector, four vectors side by side. */
#include "vector.h"

typedef uint64_t wide __attribute__((vector_size(4 * LANES)));
enum { UNROLLED = 4, NUMBERS = LANES / 2 };

void NATIVE(mix64)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                   uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(UNROLLED * NUMBERS, end - i)) {
        uint32_t here = least(UNROLLED * NUMBERS, end - i);
        wide s[UNROLLED] = {{0}};
        memcpy(s, seed + 2 * (size_t)i, 8 * here);
        for (uint32_t r = 0; r < rounds; r++)
            EACH(4, wide z = s[u] + 0x9e3779b97f4a7c15u; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
                 z = (z ^ z >> 27) * 0x94d049bb133111ebu; s[u] = (s[u] << 7 | s[u] >> 57) ^ z ^ z >> 31;)
        memcpy(out + 2 * (size_t)i, s, 8 * here);
    }
}
