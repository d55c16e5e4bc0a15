/* bench/ptx/halfpoly.cu in vector C: a processor without arithmetic of half precision multiplies and adds in single,
 * and rounds to half behind each. */
#include "vector.h"

/* To nearest even, to a number of half precision, of less than 1. */
static inline fvec to_half(fvec x) {
#if LANES == 16 && defined __AVX512F__
    return (fvec)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
#elif LANES == 8 && defined __F16C__
    return (fvec)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#else
    /* What is below 2^-14 has the same last bit as that. */
    vec bits = (vec)x, sign = bits & 0x80000000u, size = bits & 0x7fffffff;
    vec normal = (size + 0xfff + (size >> 13 & 1)) & ~splat(0x1fff);
    fvec small = ((fvec)size + 0.5f) - 0.5f; /* 2^-24 is the last bit of what is about a half */
    vec is_small = (vec)(size < 0x38800000);
    return (fvec)(sign | (is_small & (vec)small) | (~is_small & normal));
#endif
}

void NATIVE(halfpoly)(uint32_t *out, const uint32_t *in, uint32_t count, uint32_t rounds, uint32_t first,
                      uint32_t threads) {
    static const float given[] = {0.28125f, -0.25f, 0.125f, 0.0625f, -0.09375f, 0.03125f, -0.015625f};
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        const uint32_t bytes = 4 * least(LANES, end - i);
        fvec x = {0}, low, high;
        memcpy(&x, in + i, bytes);
        low = to_half(x), high = to_half(x * 0.5f);
        for (uint32_t r = 0; r < rounds; r++) {
            fvec a = given[6] - (fvec){0}, b = a;
            for (int k = 5; k >= 0; k--) {
                a = to_half(fma_of(a, low, given[k] - (fvec){0}));
                b = to_half(fma_of(b, high, given[k] - (fvec){0}));
            }
            low = a, high = b;
        }
        x = low + high;
        memcpy(out + i, &x, bytes);
    }
}
