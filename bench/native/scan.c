/* examples/scan in vector C: neighbouring threads in neighbouring lanes. The sums of a vector are made by
 * shifting it up by 1, 2, 4 … lanes, and the last sum of a vector is carried into the next. */
#include "vector.h"

enum { MOST = 1024 / LANES };

/* The lanes moved up by d, with zeros below. */
#if LANES == 16 && defined __AVX512F__
#define UP(x, d) ((vec)_mm512_alignr_epi32((__m512i)(x), _mm512_setzero_si512(), 16 - d))
#elif LANES == 16
#define UP(x, d) \
    __builtin_shufflevector(splat(0), x, 16 - d, 17 - d, 18 - d, 19 - d, 20 - d, 21 - d, 22 - d, 23 - d, 24 - d, \
                            25 - d, 26 - d, 27 - d, 28 - d, 29 - d, 30 - d, 31 - d)
#elif LANES == 8
#define UP(x, d) __builtin_shufflevector(splat(0), x, 8 - d, 9 - d, 10 - d, 11 - d, 12 - d, 13 - d, 14 - d, 15 - d)
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

/* The lanes moved round by d, and the last lane in every lane. */
#if LANES == 16
#define ROUND(x, d) \
    __builtin_shufflevector(x, x, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7, d + 8, d + 9, d + 10, d + 11, \
                            d + 12, d + 13, d + 14, d + 15)
#define LAST(x) __builtin_shufflevector(x, x, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)
#elif LANES == 8
#define ROUND(x, d) __builtin_shufflevector(x, x, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6, d + 7)
#define LAST(x)     __builtin_shufflevector(x, x, 7, 7, 7, 7, 7, 7, 7, 7)
#else
#define ROUND(x, d) __builtin_shufflevector(x, x, d, d + 1, d + 2, d + 3)
#define LAST(x)     __builtin_shufflevector(x, x, 3, 3, 3, 3)
#endif

/* The largest lane, in every lane. */
static inline vec largest(vec x) {
#if LANES > 8
    x = max_of(x, ROUND(x, 8));
#endif
#if LANES > 4
    x = max_of(x, ROUND(x, 4));
#endif
    x = max_of(x, ROUND(x, 2));
    return max_of(x, ROUND(x, 1));
}

/* One round of one block, in place: the sums of x ^ flip over the first `here` places, and 0 for the places
 * after them. Returns the maximum, in every lane. */
static inline vec block_sums(vec *x, vec flip, uint32_t vectors, uint32_t here) {
    vec carry = {0}, top = {0};
    for (uint32_t v = 0; v < vectors; v++) {
        vec value = x[v] ^ flip;
        if ((v + 1) * LANES > here) value &= (vec)(iota() + v * LANES < splat(here));
        vec s = vector_sums(value);
        top = max_of(top, value);
        x[v] = s + carry;
        carry += LAST(s);
    }
    return largest(top);
}

void NATIVE(scan)(uint32_t *sums, uint32_t *maxima, const uint32_t *values, uint32_t count, uint32_t rounds,
                  uint32_t block, uint32_t first_block, uint32_t blocks) {
    for (uint32_t b = first_block; b < first_block + blocks; b++) {
        uint64_t start = (uint64_t)b * block;
        uint32_t here = start < count ? least(block, count - start) : 0;
        vec x[MOST];
        memset(x, 0, 4 * (size_t)block);
        memcpy(x, values + start, 4 * (size_t)here);
        vec top = block_sums(x, splat(0), block / LANES, here);
        for (uint32_t r = 1; r < rounds; r++) top = block_sums(x, top, block / LANES, here);
        memcpy(sums + start, x, 4 * (size_t)here);
        maxima[b] = top[0];
    }
}
