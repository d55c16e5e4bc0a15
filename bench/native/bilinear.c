/* bench/ptx/bilinear.ptx in vector C: linear lookups in a picture of 256 by 256 texels of four bytes, in clamp mode,
 * with weights of 8 bits. */
#include "vector.h"

enum { SIDE = 256 };

typedef struct axis {
    vec first, second, weight;
} axis;

static inline vec either(svec which, vec a, vec b) { return ((vec)which & a) | (~(vec)which & b); }

static inline axis axis_of(fvec c) {
    const fvec none = {0}, last = (float)(256 * (SIDE - 1)) - none;
    fvec at = c * (256.0f * SIDE) - 127.5f;
    at = (fvec)either(at > none, (vec)at, (vec)none);
    at = (fvec)either(at < last, (vec)at, (vec)last);
    const vec whole = (vec) __builtin_convertvector(at, svec), first = whole >> 8, next = first + 1;
    return (axis){first, either((svec)(next < splat(SIDE)), next, first), whole & 255};
}

void NATIVE(bilinear)(uint32_t *out, const uint32_t *texels, const uint32_t *places, uint32_t count, uint32_t rounds,
                      uint32_t first, uint32_t threads) {
    const uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        const uint32_t lanes = least(LANES, end - i);
        fvec x = {0}, y = {0}, sum = {0};
        for (uint32_t l = 0; l < lanes; l++) {
            float place[2];
            memcpy(place, places + 2 * (size_t)(i + l), sizeof place);
            x[l] = place[0], y[l] = place[1];
        }
        for (uint32_t r = 0; r < rounds; r++) {
            const axis h = axis_of(x), v = axis_of(y);
            const vec upper = v.first * SIDE, lower = v.second * SIDE, both = (h.weight * v.weight + 128) >> 8;
            const vec found[4] = {gather(texels, upper + h.first), gather(texels, upper + h.second),
                                  gather(texels, lower + h.first), gather(texels, lower + h.second)};
            const vec weights[4] = {256 - h.weight - v.weight + both, h.weight - both, v.weight - both, both};
            for (uint32_t shift = 0; shift < 32; shift += 8) {
                vec blend = {0};
                for (uint32_t k = 0; k < 4; k++) blend += weights[k] * (found[k] >> shift & 255);
                sum += __builtin_convertvector((svec)((blend * 257 + 128) >> 8), fvec) * (1 / 65535.0f);
            }
            x += 0.001f, y -= 0.001f;
        }
        memcpy(out + i, &sum, 4 * lanes);
    }
}
