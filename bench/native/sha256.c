/* examples/sha256 in vector C: a message in every lane, UNROLL vectors side by side. */
#include "vector.h"

#ifndef UNROLL
#define UNROLL 1
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#ifdef logic3
#define choose(e, f, g)   logic3(e, f, g, 0xca)
#define majority(a, b, c) logic3(a, b, c, 0xe8)
#else
static inline vec choose(vec e, vec f, vec g) { return g ^ (e & (f ^ g)); }
static inline vec majority(vec a, vec b, vec c) { return (a & b) | (c & (a | b)); }
#endif

typedef struct group {
    vec s[8][UNROLL];  /* a … h */
    vec w[16][UNROLL]; /* the last 16 words of the message schedule */
} group;

#define S(i) g->s[(i)&7][u]
#define W(i) g->w[(i)&15][u]

/* Step t of 64; the names of the state turn instead of their contents. The sums are written so that the long
 * chain, through e, is added last. */
#define STEP(t) \
    EACH(UNROLL, vec e = S(4 - (t)); vec a = S(0 - (t)); \
         vec base = S(7 - (t)) + (W(t) + K[t]) + choose(e, S(5 - (t)), S(6 - (t))); \
         vec t1 = base + xor3(rotr(e, 6), rotr(e, 11), rotr(e, 25)); \
         vec t2 = majority(a, S(1 - (t)), S(2 - (t))) + xor3(rotr(a, 2), rotr(a, 13), rotr(a, 22)); S(3 - (t)) += t1; \
         S(7 - (t)) = t1 + t2;)
#define NEXT(t) \
    EACH(UNROLL, vec early = W((t) + 1); vec late = W((t) + 14); \
         W(t) += W((t) + 9) + xor3(rotr(early, 7), rotr(early, 18), early >> 3) + \
                 xor3(rotr(late, 17), rotr(late, 19), late >> 10);)
#define NEXT_STEP(t) NEXT(t) STEP(t)
/* clang-format off */
#define TIMES16(X, t)                                                                                        \
    X(t)                                                                                                     \
    X(t + 1) X(t + 2) X(t + 3) X(t + 4) X(t + 5) X(t + 6) X(t + 7) X(t + 8) X(t + 9) X(t + 10) X(t + 11)     \
        X(t + 12) X(t + 13) X(t + 14) X(t + 15)
/* clang-format on */

static inline __attribute__((always_inline)) void hash(group *g) {
    for (int k = 0; k < 8; k++) EACH(UNROLL, S(k) = splat(H[k]);)
    TIMES16(STEP, 0)
    TIMES16(NEXT_STEP, 16)
    TIMES16(NEXT_STEP, 32)
    TIMES16(NEXT_STEP, 48)
    for (int k = 0; k < 8; k++) EACH(UNROLL, S(k) += splat(H[k]);)
}

void NATIVE(sha256)(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds, uint32_t first,
                    uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(UNROLL * LANES, end - i)) {
        uint32_t left = end - i;
        vec m[UNROLL][16];
        for (uint32_t v = 0; v < UNROLL; v++) {
            uint32_t rows = left > v * LANES ? left - v * LANES : 0;
            load_rows(m[v], message + ((size_t)i + v * LANES) * 13, 13, rows);
            for (int k = 0; k < 13; k++) m[v][k] = swap_bytes(m[v][k]);
        }
        group here, *g = &here;
        for (uint32_t r = 0;;) {
            for (int k = 0; k < 13; k++) EACH(UNROLL, W(k) = m[u][k];)
            EACH(UNROLL, W(13) = splat(0x80000000); W(14) = splat(0); W(15) = splat(52 * 8);)
            hash(g);
            if (++r >= rounds) break;
            for (int k = 0; k < 5; k++) EACH(UNROLL, m[u][8 + k] = m[u][k];)
            for (int k = 0; k < 8; k++) EACH(UNROLL, m[u][k] = S(k);)
        }
        for (uint32_t v = 0; v < UNROLL; v++) {
            enum { u = 0 };
            vec word[16] = {{0}};
            for (int k = 0; k < 8; k++) word[k] = swap_bytes(g->s[k][v]);
            uint32_t rows = left > v * LANES ? left - v * LANES : 0;
            store_rows(digest + ((size_t)i + v * LANES) * 8, word, 8, 8, rows);
        }
    }
}
