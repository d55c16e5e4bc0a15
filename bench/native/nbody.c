/* bench/ptx/nbody.cu in vector C: a body in every lane, the reciprocal root by the unit's estimate and a step of
 * Newton's. */
#include "vector.h"

static inline fvec rsqrt_of(fvec x) {
#if LANES == 16 && defined __AVX512F__
    fvec y = (fvec)_mm512_rsqrt14_ps((__m512)x);
#elif LANES == 8 && defined __AVX2__
    fvec y = (fvec)_mm256_rsqrt_ps((__m256)x);
#elif LANES == 4 && defined __SSE2__
    fvec y = (fvec)_mm_rsqrt_ps((__m128)x);
#else
    fvec y;
    for (uint32_t l = 0; l < LANES; l++) y[l] = 1 / __builtin_sqrtf(x[l]);
#endif
    return y * (1.5f - 0.5f * x * y * y);
}

static inline fvec all(const uint32_t *from) {
    float value;
    memcpy(&value, from, sizeof value);
    return value - (fvec){0};
}

void NATIVE(nbody)(uint32_t *out, const uint32_t *place, const uint32_t *body, uint32_t count, uint32_t rounds,
                   uint32_t first, uint32_t threads) {
    enum { BODIES = 128 };
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        const uint32_t here = least(LANES, end - i);
        vec own[16];
        load_rows(own, place + 4 * (size_t)i, 4, here);
        fvec px = (fvec)own[0], py = (fvec)own[1], pz = (fvec)own[2], x = {0}, y = {0}, z = {0};
        for (uint32_t r = 0; r < rounds; r++) {
            for (uint32_t j = 0; j < BODIES; j++) {
                fvec dx = all(body + 4 * j) - px, dy = all(body + 4 * j + 1) - py, dz = all(body + 4 * j + 2) - pz;
                fvec inverse = rsqrt_of(fma_of(dz, dz, fma_of(dx, dx, dy * dy)) + 0.01f);
                fvec pull = all(body + 4 * j + 3) * inverse * inverse * inverse;
                x = fma_of(dx, pull, x), y = fma_of(dy, pull, y), z = fma_of(dz, pull, z);
            }
            px += 0.001f;
        }
        memcpy(out + i, &x, 4 * here);
        memcpy(out + i + count, &y, 4 * here);
        memcpy(out + i + 2 * (size_t)count, &z, 4 * here);
    }
}
