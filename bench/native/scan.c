/* examples/scan in vector C: neighbouring threads in neighbouring lanes. The sums of a vector are made by shifting it up by
 * 1, 2, 4 … lanes, and the last sum of a vector is carried into the next. */
#include "vector.h"

enum { MOST = 1024 / LANES };

/* The lanes moved up by d, with zeros below. */
#if LANES == 16 && defined __AVX512F__
#define UP(x, d) ((vec)_mm512_alignr_epi32((__m512i)(x), _mm512_setzero_si512(), 16 - d))
#elif LANES == 16
#define UP(x, d)                                                                                                      \
    __builtin_shufflevector(splat(0), x, 16 - d, 17 - d, 18 - d, 19 - d, 20 - d, 21 - d, 22 - d, 23 - d, 24 - d,      \
                            25 - d, 26 - d, 27 - d, 28 - d, 29 - d, 30 - d, 31 - d)
#elif LANES == 8
#define UP(x, d)                                                                                                      \
    __builtin_shufflevector(splat(0), x, 8 - d, 9 - d, 10 - d, 11 - d, 12 - d, 13 - d, 14 - d, 15 - d)
#else
#define UP(x, d) __builtin_shufflevector(splat(0), x, 4 - d, 5 - d, 6 - d, 7 - d)
#endif

static inline vec vector_sums(vec x) {
    x += UP(x, 1);
    x += UP(x, 2);
#if LANES > 4
    x += UP(x, 4);
#endif
#if LANES > 8
    x += UP(x, 8);
#endif
    return x;
}

static inline uint32_t largest(vec x) {
    uint32_t top = 0;
    for (int l = 0; l < LANES; l++) top = x[l] > top ? x[l] : top;
    return top;
}

/* The sums of one block, and its maximum. */
static inline uint32_t block_sums(vec *sum, const vec *x, uint32_t vectors) {
    vec carry = {0}, top = {0};
    for (uint32_t v = 0; v < vectors; v++) {
        vec s = vector_sums(x[v]);
        top = max_of(top, x[v]);
        sum[v] = s + carry;
        carry += splat(s[LANES - 1]);
    }
    return largest(top);
}

void NATIVE(scan)(uint32_t *sums, uint32_t *maxima, const uint32_t *values, uint32_t count, uint32_t rounds,
                  uint32_t block, uint32_t first_block, uint32_t blocks) {
    for (uint32_t b = first_block; b < first_block + blocks; b++) {
        uint64_t start = (uint64_t)b * block;
        uint32_t here = start < count ? least(block, count - start) : 0, vectors = block / LANES, top;
        vec x[MOST], sum[MOST];
        memset(x, 0, 4 * (size_t)block);
        memcpy(x, values + start, 4 * (size_t)here);
        for (uint32_t r = 0;;) {
            top = block_sums(sum, x, vectors);
            if (++r >= rounds) break;
            for (uint32_t v = 0; v < vectors; v++) x[v] = sum[v] ^ splat(top);
            if (here < block) memset((char *)x + 4 * (size_t)here, 0, 4 * (size_t)(block - here));
        }
        memcpy(sums + start, sum, 4 * (size_t)here);
        maxima[b] = top;
    }
}
