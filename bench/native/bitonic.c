/* bench/ptx/bitonic.cu in vector C: whole vectors change places where they are far apart, lanes of one where they are
 * near. */
#include "vector.h"

enum { KEYS = 512, VECTORS = KEYS / LANES };

#if LANES == 16
#define ACROSS(v, j) \
    __builtin_shufflevector(v, v, 0 ^ j, 1 ^ j, 2 ^ j, 3 ^ j, 4 ^ j, 5 ^ j, 6 ^ j, 7 ^ j, 8 ^ j, 9 ^ j, 10 ^ j, \
                            11 ^ j, 12 ^ j, 13 ^ j, 14 ^ j, 15 ^ j)
#elif LANES == 8
#define ACROSS(v, j) __builtin_shufflevector(v, v, 0 ^ j, 1 ^ j, 2 ^ j, 3 ^ j, 4 ^ j, 5 ^ j, 6 ^ j, 7 ^ j)
#else
#define ACROSS(v, j) __builtin_shufflevector(v, v, 0 ^ j, 1 ^ j, 2 ^ j, 3 ^ j)
#endif

static inline vec min_of(vec a, vec b) { return a ^ b ^ max_of(a, b); }

/* The lanes of v j apart, sorted upwards in lanes of `up`. */
static inline vec near_pairs(vec v, vec its, vec up, uint32_t j) {
    vec low = (vec)((iota() & j) == 0), takes_least = ~(low ^ up), least_of = min_of(v, its), most = max_of(v, its);
    return (least_of & takes_least) | (most & ~takes_least);
}

static inline void step(vec x[VECTORS], uint32_t k, uint32_t j) {
    if (j >= LANES) {
        for (uint32_t i = 0; i < VECTORS; i++) {
            uint32_t other = i ^ j / LANES;
            if (other < i) continue;
            vec a = min_of(x[i], x[other]), b = max_of(x[i], x[other]);
            bool up = (i * LANES & k) == 0;
            x[i] = up ? a : b, x[other] = up ? b : a;
        }
        return;
    }
    for (uint32_t i = 0; i < VECTORS; i++) {
        vec up = (vec)(((iota() + i * LANES) & k) == 0), v = x[i];
        switch (j) {
        case 1: x[i] = near_pairs(v, ACROSS(v, 1), up, 1); break;
        case 2: x[i] = near_pairs(v, ACROSS(v, 2), up, 2); break;
#if LANES > 4
        case 4: x[i] = near_pairs(v, ACROSS(v, 4), up, 4); break;
#endif
#if LANES > 8
        case 8: x[i] = near_pairs(v, ACROSS(v, 8), up, 8); break;
#endif
        }
    }
}

void NATIVE(bitonic)(uint32_t *out, const uint32_t *keys, uint32_t count, uint32_t rounds, uint32_t first_block,
                     uint32_t blocks) {
    for (uint32_t b = first_block; b < first_block + blocks && b * KEYS < count; b++) {
        uint32_t here = least(KEYS, count - b * KEYS);
        vec x[VECTORS];
        memset(x, 0xff, sizeof x);
        memcpy(x, keys + b * KEYS, 4 * here);
        for (uint32_t r = 0;;) {
            for (uint32_t k = 2; k <= KEYS; k *= 2)
                for (uint32_t j = k / 2; j > 0; j /= 2) step(x, k, j);
            if (++r >= rounds) break;
            for (uint32_t i = 0; i < VECTORS; i++) {
                vec t = iota() + i * LANES, gone = (vec)(t >= splat(here));
                x[i] = ((x[i] ^ r) * 0x9e3779b1u + t) | gone;
            }
        }
        memcpy(out + b * KEYS, x, 4 * here);
    }
}
