/* examples/chacha20 in vector C: a block in every lane, UNROLL vectors side by side. */
#include "vector.h"

#if defined UNROLL
#elif LANES == 16
#define UNROLL 2
#else
#define UNROLL 1
#endif

#define X(i) x[i][u]
#define QUARTER(a, b, c, d) \
    EACH(UNROLL, X(a) += X(b); X(d) = rotl(X(d) ^ X(a), 16); X(c) += X(d); X(b) = rotl(X(b) ^ X(c), 12); X(a) += X(b); \
         X(d) = rotl(X(d) ^ X(a), 8); X(c) += X(d); X(b) = rotl(X(b) ^ X(c), 7);)

static inline __attribute__((always_inline)) void twenty_rounds(vec x[16][UNROLL]) {
    for (int k = 0; k < 10; k++) {
        QUARTER(0, 4, 8, 12)
        QUARTER(1, 5, 9, 13)
        QUARTER(2, 6, 10, 14)
        QUARTER(3, 7, 11, 15)
        QUARTER(0, 5, 10, 15)
        QUARTER(1, 6, 11, 12)
        QUARTER(2, 7, 8, 13)
        QUARTER(3, 4, 9, 14)
    }
}

void NATIVE(chacha20)(uint32_t *out, const uint32_t *key, const uint32_t *nonce, uint32_t counter, uint32_t count,
                      uint32_t rounds, uint32_t first, uint32_t threads) {
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(UNROLL * LANES, end - i)) {
        uint32_t left = end - i;
        vec in[16][UNROLL], x[16][UNROLL];
        for (int k = 0; k < 4; k++) EACH(UNROLL, in[k][u] = splat(constants[k]);)
        for (int k = 0; k < 8; k++) EACH(UNROLL, in[4 + k][u] = splat(key[k]);)
        EACH(UNROLL, in[12][u] = splat(counter + i + u * LANES) + iota();)
        for (int k = 0; k < 3; k++) EACH(UNROLL, in[13 + k][u] = splat(nonce[k]);)

        for (uint32_t r = 0;;) {
            memcpy(x, in, sizeof x);
            twenty_rounds(x);
            for (int k = 0; k < 16; k++) EACH(UNROLL, X(k) += in[k][u];)
            if (++r >= rounds) break;
            for (int k = 0; k < 8; k++) EACH(UNROLL, in[4 + k][u] = X(k);)
        }

        for (uint32_t v = 0; v < UNROLL; v++) {
            vec word[16];
            for (int k = 0; k < 16; k++) word[k] = x[k][v];
            uint32_t rows = left > v * LANES ? left - v * LANES : 0;
            store_rows(out + ((size_t)i + v * LANES) * 16, word, 16, 16, rows);
        }
    }
}
