/* bench/ptx/md5.cu in vector C: a message in every lane. */
#include "vector.h"

static const uint32_t K[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const uint32_t H[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

#ifdef logic3
#define f0(b, c, d) logic3(b, c, d, 0xca)
#define f1(b, c, d) logic3(b, c, d, 0xe4)
#define f3(b, c, d) logic3(b, c, d, 0x39)
#else
static inline vec f0(vec b, vec c, vec d) { return d ^ (b & (c ^ d)); }
static inline vec f1(vec b, vec c, vec d) { return c ^ (d & (b ^ c)); }
static inline vec f3(vec b, vec c, vec d) { return c ^ (b | ~d); }
#endif

/* Step t, turned by n; the names of the state turn instead of their contents. */
#define S(i) s[(i)&3]
#define STEP(t, f, k, n) \
    S(0 - (t)) = S(1 - (t)) + rotl(S(0 - (t)) + f(S(1 - (t)), S(2 - (t)), S(3 - (t))) + (m[(k)&15] + K[t]), n);
/* clang-format off */
#define FOUR(t, f, k, by, n0, n1, n2, n3) \
    STEP(t, f, k, n0) STEP((t) + 1, f, (k) + (by), n1) STEP((t) + 2, f, (k) + 2 * (by), n2) \
    STEP((t) + 3, f, (k) + 3 * (by), n3)
/* clang-format on */
/* clang-format off */
#define SIXTEEN(t, f, k, by, ...) \
    FOUR(t, f, k, by, __VA_ARGS__) FOUR((t) + 4, f, (k) + 4 * (by), by, __VA_ARGS__) \
    FOUR((t) + 8, f, (k) + 8 * (by), by, __VA_ARGS__) FOUR((t) + 12, f, (k) + 12 * (by), by, __VA_ARGS__)
/* clang-format on */

static inline void hash(vec m[16]) {
    vec s[4];
    for (int k = 0; k < 4; k++) s[k] = splat(H[k]);
    SIXTEEN(0, f0, 0, 1, 7, 12, 17, 22)
    SIXTEEN(16, f1, 1, 5, 5, 9, 14, 20)
    SIXTEEN(32, xor3, 5, 3, 4, 11, 16, 23)
    SIXTEEN(48, f3, 0, 7, 6, 10, 15, 21)
    for (int k = 0; k < 4; k++) m[k] = s[k] + H[k];
}

void NATIVE(md5)(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds, uint32_t first,
                 uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        vec m[16];
        load_rows(m, message + (size_t)i * 13, 13, end - i);
        m[13] = splat(0x80), m[14] = splat(52 * 8), m[15] = splat(0);
        for (uint32_t r = 0; r < rounds; r++) hash(m);
        store_rows(digest + (size_t)i * 4, m, 4, 4, end - i);
    }
}
