/* digest.c: BLAKE2b (RFC 7693) without a key, 32 bytes of it: for what must be told apart in files, by any process. */
#include "base/digest.h"

#include <stdbool.h>
#include <string.h>

typedef struct lw_blake {
    uint64_t h[8], counted;
    uint8_t block[128];
    uint32_t used;
} lw_blake;

static const uint64_t starts[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* Which words of the block each round takes. */
static const uint8_t orders[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t turn(uint64_t x, unsigned by) { return x >> by | x << (64 - by); }

static inline void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x, v[d] = turn(v[d] ^ v[a], 32);
    v[c] += v[d], v[b] = turn(v[b] ^ v[c], 24);
    v[a] += v[b] + y, v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d], v[b] = turn(v[b] ^ v[c], 63);
}

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static void compress(lw_blake *s, const uint8_t *block, bool is_last) {
    uint64_t v[16], m[16];
    memcpy(v, s->h, sizeof s->h);
    memcpy(v + 8, starts, sizeof starts);
    v[12] ^= s->counted;
    if (is_last) v[14] = ~v[14];
    for (int i = 0; i < 16; i++) m[i] = word_at(block + 8 * i);
    for (int round = 0; round < 12; round++) {
        const uint8_t *o = orders[round % 10];
        for (int i = 0; i < 4; i++) mix(v, i, i + 4, i + 8, i + 12, m[o[2 * i]], m[o[2 * i + 1]]);
        for (int i = 0; i < 4; i++)
            mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[o[8 + 2 * i]], m[o[9 + 2 * i]]);
    }
    for (int i = 0; i < 8; i++) s->h[i] ^= v[i] ^ v[i + 8];
}

/* The last block is never done here: nobody knows yet that it is. */
static void take(lw_blake *s, const uint8_t *bytes, size_t size) {
    while (size) {
        if (s->used == sizeof s->block) {
            s->counted += s->used;
            compress(s, s->block, false);
            s->used = 0;
        }
        const size_t room = sizeof s->block - s->used, part = size < room ? size : room;
        memcpy(s->block + s->used, bytes, part);
        s->used += (uint32_t)part, bytes += part, size -= part;
    }
}

void lw_digest(uint8_t digest[LW_DIGEST_BYTES], const lw_span *spans, size_t count) {
    lw_blake s = {0};
    memcpy(s.h, starts, sizeof starts);
    s.h[0] ^= 0x01010000 ^ LW_DIGEST_BYTES;
    for (size_t i = 0; i < count; i++) take(&s, spans[i].at, spans[i].size);
    s.counted += s.used;
    memset(s.block + s.used, 0, sizeof s.block - s.used);
    compress(&s, s.block, true);
    for (size_t i = 0; i < LW_DIGEST_BYTES; i++) digest[i] = (uint8_t)(s.h[i / 8] >> i % 8 * 8);
}
