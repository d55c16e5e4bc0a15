/* bench/ptx/softmax.cu in vector C: a row in every lane, powers of two by a polynomial of degree 6. */
#include "vector.h"

/* Of what is not positive and above -126. */
static inline fvec power(fvec x) {
    svec whole = __builtin_convertvector(x - 0.5f, svec);
    fvec f = x - __builtin_convertvector(whole, fvec), p = 1.5403530e-4f - (fvec){0};
    p = fma_of(p, f, 1.3333558e-3f - (fvec){0}), p = fma_of(p, f, 9.6181291e-3f - (fvec){0});
    p = fma_of(p, f, 5.5504109e-2f - (fvec){0}), p = fma_of(p, f, 2.4022651e-1f - (fvec){0});
    p = fma_of(p, f, 6.9314718e-1f - (fvec){0}), p = fma_of(p, f, 1.0f - (fvec){0});
    return (fvec)((svec)p + (whole << 23));
}

void NATIVE(softmax)(uint32_t *out, const uint32_t *in, uint32_t count, uint32_t rounds, uint32_t first,
                     uint32_t threads) {
    enum { ROW = 16 };
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        const uint32_t bytes = 4 * least(LANES, end - i);
        fvec v[ROW] = {{0}};
        for (uint32_t k = 0; k < ROW; k++) memcpy(&v[k], in + (size_t)k * count + i, bytes);
        for (uint32_t r = 0; r < rounds; r++) {
            fvec most = v[0], sum = {0};
            for (uint32_t k = 1; k < ROW; k++) {
                svec more = v[k] > most;
                most = (fvec)(((svec)v[k] & more) | ((svec)most & ~more));
            }
            for (uint32_t k = 0; k < ROW; k++) sum += v[k] = power(4.0f * (v[k] - most));
            fvec scale = 1.0f / sum;
            for (uint32_t k = 0; k < ROW; k++) v[k] = fma_of(v[k], scale, 0.0625f * (float)k - (fvec){0});
        }
        for (uint32_t k = 0; k < ROW; k++) memcpy(out + (size_t)k * count + i, &v[k], bytes);
    }
}
