/* Compares the vector kernels of every level that this CPU has with plain scalar C, bit for bit, over sizes
 * that leave ragged ends. `selftest --speed [LEVEL]` prints how fast each kernel is on one CPU instead. */
#include "native.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the scalar references, written from the definitions rather than from the vector code ---- */

static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint32_t rol(uint32_t x, int n) { return ror(x, 32 - n); }

/* The fractional bits of the square and cube roots of the first primes, which is what the constants of
 * SHA-256 are. */
static uint32_t root_bits(int prime, int cube) {
    long double root = cube ? cbrtl(prime) : sqrtl(prime);
    return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static void sha256_constants(uint32_t h[8], uint32_t k[64]) {
    for (int n = 0, p = 2; n < 64; p++) {
        int prime = 1;
        for (int d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        if (n < 8) h[n] = root_bits(p, 0);
        k[n++] = root_bits(p, 1);
    }
}

static void sha256_message(uint8_t digest[32], const uint8_t message[52], const uint32_t h0[8], const uint32_t k[64]) {
    uint8_t block[64] = {0};
    memcpy(block, message, 52);
    block[52] = 0x80, block[62] = 52 * 8 >> 8, block[63] = 52 * 8 & 255;
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | block[4 * t + 1] << 16 | block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++)
        w[t] = w[t - 16] + w[t - 7] + (ror(w[t - 15], 7) ^ ror(w[t - 15], 18) ^ w[t - 15] >> 3) +
               (ror(w[t - 2], 17) ^ ror(w[t - 2], 19) ^ w[t - 2] >> 10);
    memcpy(s, h0, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[t] +
                      w[t];
        uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 28);
        s[0] = t1 + t2, s[4] += t1;
    }
    for (int i = 0; i < 32; i++) digest[i] = (s[i / 4] + h0[i / 4]) >> (24 - i % 4 * 8);
}

static void scalar_sha256(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds) {
    uint32_t h[8], k[64];
    sha256_constants(h, k);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t m[52], d[32];
        memcpy(m, message + 13 * (size_t)i, 52);
        for (uint32_t r = 0;;) {
            sha256_message(d, m, h, k);
            if (++r >= rounds) break;
            memcpy(m + 32, m, 20), memcpy(m, d, 32);
        }
        memcpy(digest + 8 * (size_t)i, d, 32);
    }
}

static void quarter(uint32_t *x, int a, int b, int c, int d) {
    x[a] += x[b], x[d] = rol(x[d] ^ x[a], 16), x[c] += x[d], x[b] = rol(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = rol(x[d] ^ x[a], 8), x[c] += x[d], x[b] = rol(x[b] ^ x[c], 7);
}

static void scalar_chacha20(uint32_t *out, const uint32_t *key, const uint32_t *nonce, uint32_t counter, uint32_t count,
                            uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t in[16], *x = out + 16 * (size_t)i;
        memcpy(in, "expand 32-byte k", 16), memcpy(in + 4, key, 32), memcpy(in + 13, nonce, 12);
        in[12] = counter + i;
        for (uint32_t r = 0;;) {
            memcpy(x, in, 64);
            for (int n = 0; n < 20; n++)
                for (int q = 0; q < 4; q++)
                    if (n % 2) quarter(x, q, 4 + (q + 1) % 4, 8 + (q + 2) % 4, 12 + (q + 3) % 4);
                    else quarter(x, q, 4 + q, 8 + q, 12 + q);
            for (int k = 0; k < 16; k++) x[k] += in[k];
            if (++r >= rounds) break;
            memcpy(in + 4, x, 32);
        }
    }
}

static void scalar_xorshift(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = seed[i];
        for (uint32_t r = 0; r < rounds; r++) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        out[i] = x;
    }
}

/* Bit by bit: bit `to` of the result is bit `from` of the number, where there is one. */
static void shift_bits(uint32_t *d, const uint32_t *a, int64_t left) {
    memset(d, 0, 64);
    for (int64_t to = 0; to < 512; to++) {
        int64_t from = to - left;
        if (from >= 0 && from < 512 && (a[from / 32] >> from % 32 & 1)) d[to / 32] |= 1u << to % 32;
    }
}

static void scalar_bigshift(uint32_t *out, const uint32_t *number, const uint32_t *amount, uint32_t count,
                            uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x[16], n = amount[i], *left = out + 32 * (size_t)i, *right = left + 16;
        memcpy(x, number + 16 * (size_t)i, 64);
        for (uint32_t r = 0;;) {
            shift_bits(left, x, n), shift_bits(right, x, -(int64_t)n);
            if (++r >= rounds) break;
            for (int k = 0; k < 16; k++) x[k] ^= left[k] ^ right[k];
            n = (n + x[0]) & 511;
        }
    }
}

static void scalar_scan(uint32_t *sums, uint32_t *maxima, const uint32_t *values, uint32_t count, uint32_t rounds,
                        uint32_t block, uint32_t blocks) {
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t x[1024];
        for (uint32_t r = 0;;) {
            uint32_t sum = 0, top = 0, from = b * block;
            if (r == 0)
                for (uint32_t t = 0; t < block && from + t < count; t++) x[t] = values[from + t];
            for (uint32_t t = 0; t < block && from + t < count; t++) {
                top = x[t] > top ? x[t] : top;
                sum += x[t], sums[from + t] = sum;
            }
            maxima[b] = top;
            if (++r >= rounds) break;
            for (uint32_t t = 0; t < block && from + t < count; t++) x[t] = sums[from + t] ^ top;
        }
    }
}

static void scalar_mandelbrot(uint32_t *iterations, uint32_t width, uint32_t height, float left, float top, float step,
                              uint32_t limit) {
    for (uint32_t i = 0; i < width * height; i++) {
        float cx = fmaf(i % width, step, left), cy = fmaf(i / width, step, top), x = 0, y = 0;
        uint32_t n = 0;
        for (; n < limit; n++) {
            float xx = x * x, yy = y * y;
            if (xx + yy > 4) break;
            y = fmaf(x + x, y, cy), x = xx - yy + cx;
        }
        iterations[i] = n;
    }
}

static void scalar_md5(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds) {
    static const int turn[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t m[16] = {[13] = 0x80, [14] = 52 * 8};
        memcpy(m, message + 13 * (size_t)i, 52);
        for (uint32_t r = 0; r < rounds; r++) {
            const uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
            uint32_t s[4];
            memcpy(s, h, sizeof s);
            for (int t = 0; t < 64; t++) {
                uint32_t b = s[1], c = s[2], d = s[3],
                         f[4] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
                const int k[4] = {t, 5 * t + 1, 3 * t + 5, 7 * t};
                uint32_t sum = s[0] + f[t / 16] + m[k[t / 16] % 16] + (uint32_t)(fabsl(sinl(t + 1)) * 4294967296.0L);
                s[0] = d, s[3] = c, s[2] = b, s[1] = b + rol(sum, turn[t / 16][t % 4]);
            }
            for (int k = 0; k < 4; k++) m[k] = h[k] + s[k];
        }
        memcpy(digest + 4 * (size_t)i, m, 16);
    }
}

static void scalar_mix64(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t s = seed[2 * i] | (uint64_t)seed[2 * i + 1] << 32;
        for (uint32_t r = 0; r < rounds; r++) {
            uint64_t z = s + 0x9e3779b97f4a7c15u;
            z = (z ^ z / 1073741824) * 0xbf58476d1ce4e5b9u;
            z = (z ^ z / 134217728) * 0x94d049bb133111ebu;
            s = (s * 128 | s >> 57) ^ z ^ z / 2147483648;
        }
        out[2 * i] = (uint32_t)s, out[2 * i + 1] = (uint32_t)(s >> 32);
    }
}

/* Bit by bit, without a table. */
static void scalar_crc32(uint32_t *out, const uint32_t *data, uint32_t count, uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t crc = UINT32_MAX;
        for (uint32_t r = 0; r < rounds; r++)
            for (int bit = 0; bit < 256; bit++)
                crc = crc >> 1 ^ ((crc ^ data[8 * i + bit / 32] >> bit % 32) & 1 ? 0xedb88320 : 0);
        out[i] = ~crc;
    }
}

static float real(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void scalar_spmv(uint32_t *y, const uint32_t *row, const uint32_t *column, const uint32_t *value,
                        const uint32_t *x, uint32_t count, uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        float sum = 0;
        for (uint32_t r = 0; r < rounds; r++, sum /= 2)
            for (uint32_t k = row[i]; k < row[i + 1]; k++) sum = fmaf(real(value[k]), real(x[column[k]]), sum);
        memcpy(y + i, &sum, sizeof sum);
    }
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void scalar_bitonic(uint32_t *out, const uint32_t *keys, uint32_t count, uint32_t rounds) {
    memcpy(out, keys, 4 * (size_t)count);
    for (uint32_t from = 0; from < count; from += 512) {
        uint32_t here = count - from < 512 ? count - from : 512;
        for (uint32_t r = 0; r < rounds; r++) {
            for (uint32_t t = 0; t < here && r; t++) out[from + t] = (out[from + t] ^ r) * 0x9e3779b1u + t;
            qsort(out + from, here, 4, by_value);
        }
    }
}

static void scalar_collatz(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds) {
    for (uint32_t i = 0; i < count; i++) {
        out[i] = seed[i];
        for (uint32_t r = 0; r < rounds; r++) {
            uint64_t n = out[i] / 65536 + 1;
            uint32_t steps = 0;
            while (n != 1) n = n % 2 ? 3 * n + 1 : n / 2, steps++;
            out[i] = (out[i] + steps) * 0x9e3779b1u;
        }
    }
}

/* ---- comparing ---- */

enum { MOST = 2000 };
static uint32_t in[MOST * 16], want[MOST * 32], got[MOST * 32], amount[MOST * 11], values[MOST * 8];
static int failed;

static uint32_t noise(void) {
    static uint32_t x = 1;
    return x = x * 1664525 + 1013904223, x ^ x >> 15;
}

static void expect_same(const lw_native *n, const char *kernel, size_t words, uint32_t count, uint32_t rounds) {
    for (size_t i = 0; i < sizeof got / sizeof *got; i++) {
        /* Past the end `got` must still hold what main() filled it with. */
        uint32_t right = i < words ? want[i] : 0xa5a5a5a5;
        if (got[i] == right) continue;
        printf("%s %s, count %u, rounds %u: word %zu is %08x, not %08x\n", n->level, kernel, count, rounds, i, got[i],
               right);
        failed = 1;
        break;
    }
    memset(got, 0xa5, sizeof got);
}

static void compare(const lw_native *n, uint32_t count, uint32_t rounds) {
    /* In two parts, so that a wrong use of `first` shows. */
    uint32_t half = count / 3, rest = MOST;
    n->sha256(got, in, count, rounds, 0, half), n->sha256(got, in, count, rounds, half, rest);
    scalar_sha256(want, in, count, rounds);
    expect_same(n, "sha256", 8 * (size_t)count, count, rounds);

    n->chacha20(got, in, in + 8, 0xfffffff0, count, rounds, 0, half);
    n->chacha20(got, in, in + 8, 0xfffffff0, count, rounds, half, rest);
    scalar_chacha20(want, in, in + 8, 0xfffffff0, count, rounds);
    expect_same(n, "chacha20", 16 * (size_t)count, count, rounds);

    n->xorshift(got, in, count, rounds, 0, half), n->xorshift(got, in, count, rounds, half, rest);
    scalar_xorshift(want, in, count, rounds);
    expect_same(n, "xorshift", count, count, rounds);

    n->bigshift(got, in, amount, count, rounds, 0, half), n->bigshift(got, in, amount, count, rounds, half, rest);
    scalar_bigshift(want, in, amount, count, rounds);
    expect_same(n, "bigshift", 32 * (size_t)count, count, rounds);

    for (uint32_t block = 32; block <= 1024; block += 96) {
        uint32_t blocks = (count + block - 1) / block, part = blocks / 2;
        n->scan(got, got + count, in, count, rounds, block, 0, part);
        n->scan(got, got + count, in, count, rounds, block, part, blocks - part);
        scalar_scan(want, want + count, in, count, rounds, block, blocks);
        expect_same(n, "scan", count + blocks, count, rounds);
    }

    uint32_t height = 19, width = count / height;
    n->mandelbrot(got, width, height, -2.25f, -1.25f, 0.13f, rounds * 9, 0, 7);
    n->mandelbrot(got, width, height, -2.25f, -1.25f, 0.13f, rounds * 9, 7, rest);
    scalar_mandelbrot(want, width, height, -2.25f, -1.25f, 0.13f, rounds * 9);
    expect_same(n, "mandelbrot", width * height, count, rounds);
}

static void compare_untuned(const lw_native *n, uint32_t count, uint32_t rounds) {
    uint32_t half = count / 3, rest = MOST, table[256], *row = amount + MOST, *column = row + MOST + 1;
    n->md5(got, in, count, rounds, 0, half), n->md5(got, in, count, rounds, half, rest);
    scalar_md5(want, in, count, rounds);
    expect_same(n, "md5", 4 * (size_t)count, count, rounds);

    n->mix64(got, in, count, rounds, 0, half), n->mix64(got, in, count, rounds, half, rest);
    scalar_mix64(want, in, count, rounds);
    expect_same(n, "mix64", 2 * (size_t)count, count, rounds);

    for (uint32_t k = 0; k < 256; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++) table[k] = table[k] >> 1 ^ (table[k] & 1 ? 0xedb88320 : 0);
    }
    n->crc32(got, in, table, count, rounds, 0, half), n->crc32(got, in, table, count, rounds, half, rest);
    scalar_crc32(want, in, count, rounds);
    expect_same(n, "crc32", count, count, rounds);

    /* Numbers between 1 and 2, rows of 0 to 7 entries. */
    for (uint32_t i = 0; i <= count; i++) row[i] = i ? row[i - 1] + (in[i] >> 5 & 7) : 0;
    for (uint32_t k = 0; k < row[count]; k++) column[k] = in[k] % count;
    for (uint32_t k = 0; k < MOST * 8; k++) values[k] = in[k] >> 9 | 0x3f800000;
    n->spmv(got, row, column, values, values, count, rounds, 0, half),
        n->spmv(got, row, column, values, values, count, rounds, half, rest);
    scalar_spmv(want, row, column, values, values, count, rounds);
    expect_same(n, "spmv", count, count, rounds);

    uint32_t blocks = (count + 511) / 512, part = blocks / 2;
    n->bitonic(got, in, count, rounds, 0, part), n->bitonic(got, in, count, rounds, part, blocks - part);
    scalar_bitonic(want, in, count, rounds);
    expect_same(n, "bitonic", count, count, rounds);

    n->collatz(got, in, count, rounds, 0, half), n->collatz(got, in, count, rounds, half, rest);
    scalar_collatz(want, in, count, rounds);
    expect_same(n, "collatz", count, count, rounds);
}

static int test(void) {
    static const char *const levels[] = {"v4", "v3", "v2", "portable"};
    static const uint32_t counts[] = {1, 15, 16, 17, 64, 97, 513, MOST};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) in[i] = noise();
    for (uint32_t i = 0; i < MOST; i++) amount[i] = i < 1100 ? i : i < 1200 ? noise() : noise() & 511;
    memset(got, 0xa5, sizeof got);
    int ran = 0;
    for (size_t l = 0; l < 4; l++) {
        const lw_native *n = lw_native_find(levels[l]);
        if (!n) continue;
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (uint32_t rounds = 1; rounds <= 4; rounds += 3)
                compare(n, counts[c], rounds), compare_untuned(n, counts[c], rounds);
        printf("%s: %s\n", levels[l], failed ? "DIFFERS" : "same as scalar C");
        ran = 1;
    }
    if (!ran) printf("no level of this build runs on this CPU\n");
    return failed || !ran;
}

/* ---- speed ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* PTX instructions that a thread executes in one round of examples/NAME/NAME.ptx but the first; for xorshift
 * in four rounds, for mandelbrot in one iteration. */
enum { SHA256 = 2234, CHACHA20 = 983, XORSHIFT4 = 27, BIGSHIFT = 223, MANDELBROT = 12 };

#define BEST(seconds, CALL) \
    for (int i = 0; i < 9; i++) { \
        double from = now(); \
        CALL; \
        double took = now() - from; \
        if (i == 0 || took < seconds) seconds = took; \
    }

static void print_speed(const char *kernel, double lane_instructions, double seconds) {
    printf("%-11s %8.2f ms %8.1f e9 lane-instructions/s\n", kernel, seconds * 1e3, lane_instructions / seconds * 1e-9);
}

static int speed(const char *level) {
    const lw_native *n = lw_native_find(level);
    if (!n) return printf("level %s: not in this build or not on this CPU\n", level ? level : "any"), 1;
    enum { COUNT = 1536, SIDE = 512, LIMIT = 500 };
    printf("%s, %u lanes\n", n->level, n->lanes);
    double s = 0;
    BEST(s, n->sha256(got, in, COUNT, 100, 0, COUNT))
    print_speed("sha256", (double)SHA256 * COUNT * 100, s);
    BEST(s, n->chacha20(got, in, in + 8, 0, COUNT, 200, 0, COUNT))
    print_speed("chacha20", (double)CHACHA20 * COUNT * 200, s);
    BEST(s, n->xorshift(got, in, COUNT, 20000, 0, COUNT))
    print_speed("xorshift", XORSHIFT4 / 4.0 * COUNT * 20000, s);
    BEST(s, n->bigshift(got, in, amount, COUNT, 400, 0, COUNT))
    print_speed("bigshift", (double)BIGSHIFT * COUNT * 400, s);
    BEST(s, n->scan(got, want, in, COUNT, 2000, 256, 0, COUNT / 256))
    printf("%-11s %8.2f ms %8.1f e9 elements/s\n", "scan", s * 1e3, COUNT * 2000 / s * 1e-9);

    uint32_t *pixels = malloc(4 * SIDE * SIDE);
    if (!pixels) return 1;
    BEST(s, n->mandelbrot(pixels, SIDE, SIDE, -2.25f, -1.25f, 3.0f / SIDE, LIMIT, 0, SIDE))
    double iterations = 0;
    for (int i = 0; i < SIDE * SIDE; i++) iterations += pixels[i];
    print_speed("mandelbrot", MANDELBROT * iterations, s);
    free(pixels);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--speed")) return speed(argc > 2 ? argv[2] : 0);
    if (argc > 1) return fprintf(stderr, "usage: %s [--speed [v4|v3|v2|portable]]\n", argv[0]), 2;
    return test();
}
