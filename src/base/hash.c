/* hash.c: SipHash-1-3 with a key of this process (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; one
 * round a word and three at the end). */
#define _GNU_SOURCE
#include "base/base.h"

#include <sys/auxv.h>

typedef struct lw_sip {
    uint64_t v0, v1, v2, v3;
} lw_sip;

static uint64_t rotate(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

static void round_(lw_sip *s) {
    s->v0 += s->v1, s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0, s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1, s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2, s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static uint64_t key[2] = {0x6c616e6577697365, 0x7369702d312d3300};

/* Sixteen random bytes that the system gives each process at its start. Without them a constant: slow for whoever is
 * attacked, never wrong. */
__attribute__((constructor)) static void draw_key(void) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random) memcpy(key, random, sizeof key);
}

static lw_sip start(void) {
    return (lw_sip){key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                    key[1] ^ 0x7465646279746573};
}

static void take(lw_sip *s, uint64_t word) {
    s->v3 ^= word;
    round_(s);
    s->v0 ^= word;
}

static uint64_t end(lw_sip *s) {
    s->v2 ^= 0xff;
    for (int i = 0; i < 3; i++) round_(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

uint64_t lw_hash_keyed(const void *data, size_t size) {
    lw_sip s = start();
    const char *at = data;
    uint64_t word;
    for (size_t left = size; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        take(&s, word);
    }
    word = 0;
    memcpy(&word, at, size % sizeof word);
    take(&s, word | (uint64_t)size << 56);
    return end(&s);
}

/* Multiplied by an odd number that nobody outside knows, both halves of the product: each pair of numbers collides for
 * few keys only. */
uint64_t lw_hash_number(uint64_t number) {
    const unsigned __int128 product = (unsigned __int128)(number ^ key[0]) * (key[1] | 1);
    uint64_t mixed = (uint64_t)product ^ (uint64_t)(product >> 64);
    mixed = (mixed ^ mixed >> 29) *
            0xbf58476d1ce4e5b9u; /* for some keys numbers at equal distances were still at equal distances */
    return mixed ^ mixed >> 32;
}
