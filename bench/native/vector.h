/* Vectors of LW_NATIVE_WIDTH 32-bit lanes, for the kernels of this folder. Each kernel is one source that is
 * compiled once per level: 16 lanes for x86-64-v4, 8 for v3, 4 for v2 and for everything else. Intrinsics
 * stand where a compiler does not reliably find the instruction: three-input logic, rotates, blends, fused
 * multiply-add. */
#ifndef LW_BENCH_VECTOR_H
#define LW_BENCH_VECTOR_H

#include "native.h"
#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#ifndef LW_NATIVE_WIDTH
#define LW_NATIVE_WIDTH 4
#endif
#define LANES LW_NATIVE_WIDTH

#define PASTE_(a, b) a##_w##b
#define PASTE(a, b)  PASTE_(a, b)
/* The name of a kernel at this width, such as lw_native_sha256_w16. */
#define NATIVE(name) PASTE(lw_native_##name, LW_NATIVE_WIDTH)

typedef uint32_t vec __attribute__((vector_size(4 * LANES)));
typedef int32_t svec __attribute__((vector_size(4 * LANES)));
typedef float fvec __attribute__((vector_size(4 * LANES)));

/* EACHn(S) writes the statement S n times, with u = 0 … n-1 as a constant: independent vectors side by side
 * hide latency. */
#define AT_(i, ...) \
    { \
        enum { u = i }; \
        __VA_ARGS__ \
    }
#define EACH1(...)    AT_(0, __VA_ARGS__)
#define EACH2(...)    EACH1(__VA_ARGS__) AT_(1, __VA_ARGS__)
#define EACH3(...)    EACH2(__VA_ARGS__) AT_(2, __VA_ARGS__)
#define EACH4(...)    EACH3(__VA_ARGS__) AT_(3, __VA_ARGS__)
#define EACH5(...)    EACH4(__VA_ARGS__) AT_(4, __VA_ARGS__)
#define EACH6(...)    EACH5(__VA_ARGS__) AT_(5, __VA_ARGS__)
#define EACH_(n, ...) EACH##n(__VA_ARGS__)
#define EACH(n, ...) \
    { EACH_(n, __VA_ARGS__) }

static inline vec splat(uint32_t x) { return x - (vec){0}; }

static inline vec iota(void) {
    vec v;
    for (uint32_t l = 0; l < LANES; l++) v[l] = l;
    return v;
}

/* ---- logic and rotates ---- */

#if LANES == 16 && defined __AVX512F__
#define rotl(x, n)             ((vec)_mm512_rol_epi32((__m512i)(x), n))
#define logic3(a, b, c, table) ((vec)_mm512_ternarylogic_epi32((__m512i)(a), (__m512i)(b), (__m512i)(c), table))
#define xor3(a, b, c)          logic3(a, b, c, 0x96)
#else
typedef uint8_t bytes __attribute__((vector_size(4 * LANES)));

/* A rotate by whole bytes is one byte shuffle, any other two shifts and an or. */
#if LANES == 8
#define ROTATE_BYTES_(v, a, b, c, d) \
    __builtin_shufflevector(v, v, a, b, c, d, 4 + a, 4 + b, 4 + c, 4 + d, 8 + a, 8 + b, 8 + c, 8 + d, 12 + a, 12 + b, \
                            12 + c, 12 + d, 16 + a, 16 + b, 16 + c, 16 + d, 20 + a, 20 + b, 20 + c, 20 + d, 24 + a, \
                            24 + b, 24 + c, 24 + d, 28 + a, 28 + b, 28 + c, 28 + d)
#elif LANES == 4
#define ROTATE_BYTES_(v, a, b, c, d) \
    __builtin_shufflevector(v, v, a, b, c, d, 4 + a, 4 + b, 4 + c, 4 + d, 8 + a, 8 + b, 8 + c, 8 + d, 12 + a, 12 + b, \
                            12 + c, 12 + d)
#endif
static inline vec rotl(vec x, int n) {
#ifdef ROTATE_BYTES_
    if (n == 8) return (vec)ROTATE_BYTES_((bytes)x, 3, 0, 1, 2);
    if (n == 16) return (vec)ROTATE_BYTES_((bytes)x, 2, 3, 0, 1);
#endif
    return x << n | x >> (32 - n);
}
static inline vec xor3(vec a, vec b, vec c) { return a ^ b ^ c; }
#endif
#define rotr(x, n) rotl(x, 32 - (n))

static inline vec swap_bytes(vec x) { return (rotl(x, 8) & splat(0x00ff00ff)) | (rotl(x, 24) & splat(0xff00ff00)); }

/* ---- a choice for each lane: a mask register, or a vector of all-ones and zeros ---- */

#if LANES == 16 && defined __AVX512F__
typedef __mmask16 mask;
static inline mask test(vec x, vec bits) { return _mm512_test_epi32_mask((__m512i)x, (__m512i)bits); }
static inline vec pick(mask m, vec yes, vec no) { return (vec)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes); }
static inline vec keep(mask m, vec x) { return (vec)_mm512_maskz_mov_epi32(m, (__m512i)x); }
static inline vec drop(mask m, vec x) { return (vec)_mm512_maskz_mov_epi32((mask)~m, (__m512i)x); }
#else
typedef vec mask;
static inline mask test(vec x, vec bits) { return (vec)((x & bits) != 0); }
static inline vec pick(mask m, vec yes, vec no) {
#if LANES == 8 && defined __AVX2__
    return (vec)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)m);
#else
    return (m & yes) | (~m & no);
#endif
}
static inline vec keep(mask m, vec x) { return m & x; }
static inline vec drop(mask m, vec x) { return ~m & x; }
#endif

static inline vec max_of(vec a, vec b) {
#if LANES == 16 && defined __AVX512F__
    return (vec)_mm512_max_epu32((__m512i)a, (__m512i)b);
#elif LANES == 8 && defined __AVX2__
    return (vec)_mm256_max_epu32((__m256i)a, (__m256i)b);
#elif LANES == 4 && defined __SSE4_1__
    return (vec)_mm_max_epu32((__m128i)a, (__m128i)b);
#else
    return pick((vec)(a > b), a, b);
#endif
}

/* Shifts by an amount of its own in every lane; 32 and more give 0 for these, as no C operator does. */
static inline vec shift_left_each(vec x, vec n) {
#if LANES == 16 && defined __AVX512F__
    return (vec)_mm512_sllv_epi32((__m512i)x, (__m512i)n);
#elif LANES == 8 && defined __AVX2__
    return (vec)_mm256_sllv_epi32((__m256i)x, (__m256i)n);
#else
    return (x << (n & 31)) & (vec)(n < 32);
#endif
}
static inline vec shift_right_each(vec x, vec n) {
#if LANES == 16 && defined __AVX512F__
    return (vec)_mm512_srlv_epi32((__m512i)x, (__m512i)n);
#elif LANES == 8 && defined __AVX2__
    return (vec)_mm256_srlv_epi32((__m256i)x, (__m256i)n);
#else
    return (x >> (n & 31)) & (vec)(n < 32);
#endif
}

static inline vec gather(const uint32_t *from, vec index) {
#if LANES == 16 && defined __AVX512F__
    return (vec)_mm512_i32gather_epi32((__m512i)index, from, 4);
#elif LANES == 8 && defined __AVX2__
    return (vec)_mm256_i32gather_epi32((const int *)from, (__m256i)index, 4);
#else
    vec v;
    for (uint32_t l = 0; l < LANES; l++) v[l] = from[index[l]];
    return v;
#endif
}

/* One rounding. */
static inline fvec fma_of(fvec a, fvec b, fvec c) {
    for (uint32_t l = 0; l < LANES; l++) c[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return c;
}

/* ---- rows of words in memory, against vectors of the same word of LANES rows ---- */

#if LANES == 16
#define LOWER_(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER_(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif LANES == 8
#define LOWER_(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER_(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LOWER_(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define UPPER_(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* Transposes a square in place: log2(LANES) times the first half of the rows interleaved with the second. */
static inline void transpose(vec square[LANES]) {
    for (int step = 1; step < LANES; step *= 2) {
        vec from[LANES];
        memcpy(from, square, sizeof from);
        for (int i = 0; i < LANES / 2; i++) {
            square[2 * i] = LOWER_(from[i], from[i + LANES / 2]);
            square[2 * i + 1] = UPPER_(from[i], from[i + LANES / 2]);
        }
    }
}

/* word[k] becomes word k of `rows` rows of `words` ≤ 16 words each; the lanes past `rows` hold 0. */
static inline void load_rows(vec word[16], const uint32_t *from, uint32_t words, uint32_t rows) {
    uint32_t row[LANES][16] = {{0}};
    for (uint32_t l = 0; l < LANES && l < rows; l++) memcpy(row[l], from + (size_t)l * words, 4 * words);
    for (int part = 0; part < 16; part += LANES) {
        vec square[LANES];
        for (int l = 0; l < LANES; l++) memcpy(&square[l], &row[l][part], sizeof square[l]);
        transpose(square);
        memcpy(&word[part], square, sizeof square);
    }
}

/* The opposite: the first `words` of word[] go to `rows` rows that start `stride` words apart. */
static inline void store_rows(uint32_t *to, const vec word[16], uint32_t words, uint32_t stride, uint32_t rows) {
    uint32_t row[LANES][16];
    for (int part = 0; part < 16; part += LANES) {
        vec square[LANES];
        memcpy(square, &word[part], sizeof square);
        transpose(square);
        for (int l = 0; l < LANES; l++) memcpy(&row[l][part], &square[l], sizeof square[l]);
    }
    for (uint32_t l = 0; l < LANES && l < rows; l++) memcpy(to + (size_t)l * stride, row[l], 4 * words);
}

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The end of the part [first, first + threads) of a grid, cut off at `count`. */
static inline uint32_t part_end(uint32_t first, uint32_t threads, uint32_t count) {
    return first >= count ? first : first + least(threads, count - first);
}

#endif
