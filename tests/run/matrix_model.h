/* matrix_model.h: one element of the product of matrices on an H100 (compute capability 9.0), bit for bit: the witness
 * for run/interp/matrix.h, which shares nothing with it.
 *
 * It was fitted to a GPU as a black box, inputs in and outputs out, and checked there: 85 variants of mma.sync with
 * 3,354,536,320 results and 259 variants of mma.sp, wmma and wgmma with 3,523,634,816, none of which differs. Operands
 * are raw bits: a[k] is A[row][k], b[k] is B[k][col], c is C[row][col]. Rounding to nearest, no flush to zero. */
#ifndef TESTS_RUN_MATRIX_MODEL_H
#define TESTS_RUN_MATRIX_MODEL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef enum { MMA_IEEE, MMA_ONE_NAN, MMA_NUMBERS } mma_top; /* what the largest exponent field is for */
typedef struct {
    int eb, mb; /* exponent bits, mantissa bits */
    mma_top top;
} mma_fmt;
static const mma_fmt MMA_F16 = {5, 10, MMA_IEEE}, MMA_BF16 = {8, 7, MMA_IEEE}, MMA_TF32 = {8, 10, MMA_IEEE},
                     MMA_F32 = {8, 23, MMA_IEEE}, MMA_E5M2 = {5, 2, MMA_IEEE}, MMA_E4M3 = {4, 3, MMA_ONE_NAN},
                     MMA_E3M2 = {3, 2, MMA_NUMBERS}, MMA_E2M3 = {2, 3, MMA_NUMBERS}, MMA_E2M1 = {2, 1, MMA_NUMBERS};

#ifndef MMA_FRAC
#define MMA_FRAC 25 /* bits kept below the block's largest exponent */
#endif
#ifndef MMA_EMIN32 /* that exponent counts as at least this: 7 below the smallest normal exponent of the result type \
                    */
#define MMA_EMIN32 (-133)
#endif
#ifndef MMA_EMIN16
#define MMA_EMIN16 (-21)
#endif
#define MMA_NAN32 0x7fffffffu
#define MMA_NAN16 0x7fffu
#define MMA_NAN64 0xfff8000000000000ull

typedef struct {
    int sign, e, cls, w;
    uint32_t m;
} mma_un; /* cls 0 finite, 1 infinity, 2 NaN; value = m * 2^(e-w) */
static inline mma_un mma_unpack(mma_fmt f, uint32_t v) {
    mma_un u;
    int bias = (1 << (f.eb - 1)) - 1, e = (int)(v >> f.mb & ((1u << f.eb) - 1));
    uint32_t m = v & ((1u << f.mb) - 1);
    u.sign = (int)(v >> (f.eb + f.mb) & 1);
    u.cls = 0;
    u.m = m;
    u.w = f.mb;
    u.e = e - bias;
    if (e == (1 << f.eb) - 1 && (f.top == MMA_IEEE || (f.top == MMA_ONE_NAN && m == (1u << f.mb) - 1))) {
        u.cls = m ? 2 : 1;
        return u;
    }
    if (e) u.m |= 1u << f.mb;
    else u.e = 1 - bias; /* subnormal: smallest exponent, not normalised */
    return u;
}

/* Exact, in [1,4) units of 2^e: not normalised. */
static inline mma_un mma_mul(mma_un x, mma_un y) {
    x.sign ^= y.sign;
    if (x.cls | y.cls)
        x.cls = x.cls == 2 || y.cls == 2 || (!x.m && !x.cls) || (!y.m && !y.cls) ? 2 : 1; /* inf*0 is NaN */
    x.e += y.e;
    x.w += y.w;
    x.m *= y.m;
    return x;
}

/* The sum of n addends, c among them, in one step: `frac` bits are kept of each below the largest exponent, and of an
 * f32 result; d16: the result is f16 (else f32). */
static inline uint32_t mma_sum(int n, const mma_un *x, int frac, int d16) {
    int i, emax = d16 ? MMA_EMIN16 : MMA_EMIN32, nan = 0, pinf = 0, ninf = 0, neg, top, ex, drop;
    int64_t sum = 0;
    uint64_t mag, m;
    for (i = 0; i < n; i++) {
        if (x[i].cls == 2) nan = 1;
        else if (x[i].cls && x[i].sign) ninf = 1;
        else if (x[i].cls) pinf = 1;
        else if (x[i].m && x[i].e > emax) emax = x[i].e; /* zeros have no exponent */
    }
    if (nan || (pinf && ninf)) return d16 ? MMA_NAN16 : MMA_NAN32;
    if (pinf | ninf) return d16 ? (ninf ? 0xfc00u : 0x7c00u) : ninf ? 0xff800000u : 0x7f800000u;
    for (i = 0; i < n; i++) { /* align every addend, c too, to 2^(emax-frac); cut what is below, toward zero */
        int sh = frac - x[i].w - (emax - x[i].e);
        int64_t v = x[i].m;
        if (!v) continue;
        v = sh >= 0 ? v << sh : sh < -62 ? 0 : v >> -sh;
        sum += x[i].sign ? -v : v;
    }
    if (!sum) return 0; /* a zero result is +0, always */
    neg = sum < 0;
    mag = neg ? (uint64_t)-sum : (uint64_t)sum; /* the sum is exact: mag * 2^(emax-frac) */
    top = 63;
    while (!(mag >> top)) top--;
    ex = emax - frac + top;
    if (!d16) { /* f32: toward zero, but overflow gives infinity */
        if (top > frac) mag = mag >> (top - frac) << (top - frac);
        if (ex > 127) return (uint32_t)neg << 31 | 0x7f800000u;
        drop = ex < -126 ? -149 - (emax - frac) : top - 23;
        m = drop > 63 ? 0 : drop >= 0 ? mag >> drop : mag << -drop;
        return m ? (uint32_t)neg << 31 | (uint32_t)(m + (ex < -126 ? 0 : (uint64_t)(ex + 126) << 23)) : 0;
    }
    drop = ex < -14 ? -24 - (emax - frac) : top - 10; /* f16: to nearest, ties to even */
    if (drop > 63) m = 0;
    else if (drop <= 0) m = mag << -drop;
    else {
        uint64_t h = 1ull << (drop - 1), r = mag & ((h << 1) - 1);
        m = mag >> drop;
        if (r > h || (r == h && (m & 1))) m++;
    }
    if (ex >= -14) m += (uint64_t)(ex + 14) << 10;
    if (ex > 15 || m > 0x7c00) m = 0x7c00;
    return m ? (uint32_t)neg << 15 | (uint32_t)m : 0;
}

/* One block: c + sum of a[i]*b[i], i < n <= 64. c16, d16: c and the result are f16 (else f32). */
static inline uint32_t mma_products(mma_fmt fa, mma_fmt fb, int n, const uint32_t *a, const uint32_t *b, uint32_t c,
                                    int c16, int d16, int frac) {
    mma_un x[65];
    int i;
    for (i = 0; i < n; i++) x[i] = mma_mul(mma_unpack(fa, a[i]), mma_unpack(fb, b[i]));
    x[n] = mma_unpack(c16 ? MMA_F16 : MMA_F32, c);
    return mma_sum(n + 1, x, frac, d16);
}
static inline uint32_t mma_block(mma_fmt fa, mma_fmt fb, int n, const uint32_t *a, const uint32_t *b, uint32_t c,
                                 int c16, int d16) {
    return mma_products(fa, fb, n, a, b, c, c16, d16, MMA_FRAC);
}

/* Kinds with scale factors, by the manual alone (section 9.7.14.3), since no GPU at hand has them: element k of a is
 * multiplied by factor k/each of sa, likewise b; ue8m0 is a power of two, ue4m3 an e4m3 whose sign does not count. */
static inline mma_un mma_scale(int ue8m0, uint32_t v) {
    mma_un u = mma_unpack(MMA_E4M3, v & 0x7f);
    if (!ue8m0) return u;
    u.cls = v == 255 ? 2 : 0;
    u.m = 1;
    u.w = 0;
    u.e = (int)v - 127;
    return u;
}
static inline uint32_t mma_scaled(mma_fmt fa, mma_fmt fb, int n, const uint32_t *a, const uint32_t *b, uint32_t c,
                                  int ue8m0, int each, const uint8_t *sa, const uint8_t *sb) {
    mma_un x[65];
    int i;
    for (i = 0; i < n; i++)
        x[i] = mma_mul(mma_mul(mma_unpack(fa, a[i]), mma_scale(ue8m0, sa[i / each])),
                       mma_mul(mma_unpack(fb, b[i]), mma_scale(ue8m0, sb[i / each])));
    x[n] = mma_unpack(MMA_F32, c);
    return mma_sum(n + 1, x, MMA_FRAC, 0);
}

/* f16 and bf16 (K 8, 16), tf32 (K 4, 8): one block of all K products. tf32: the low 13 bits of a and b are ignored. */
static inline uint32_t mma_f16_f32(int K, const uint32_t *a, const uint32_t *b, uint32_t c) {
    return mma_block(MMA_F16, MMA_F16, K, a, b, c, 0, 0);
}
static inline uint32_t mma_f16_f16(int K, const uint32_t *a, const uint32_t *b, uint32_t c) {
    return mma_block(MMA_F16, MMA_F16, K, a, b, c, 1, 1);
}
static inline uint32_t mma_bf16_f32(int K, const uint32_t *a, const uint32_t *b, uint32_t c) {
    return mma_block(MMA_BF16, MMA_BF16, K, a, b, c, 0, 0);
}
static inline uint32_t mma_tf32_f32(int K, const uint32_t *a, const uint32_t *b, uint32_t c) {
    uint32_t x[8], y[8];
    int k;
    for (k = 0; k < K; k++) {
        x[k] = a[k] >> 13;
        y[k] = b[k] >> 13;
    }
    return mma_block(MMA_TF32, MMA_TF32, K, x, y, c, 0, 0);
}

/* m8n8k4 f16 (the Volta shape): no block but f32 arithmetic to nearest; products of f16 are exact in f32.
 * f32 result: p0+0, +p1, +p2, +p3, then +c. f16 result: (c + (p0+p1)) + (p2+p3), then one rounding to f16. */
static inline float mma_f16_val(uint32_t v) {
    mma_un u = mma_unpack(MMA_F16, v & 0xffff);
    float r = u.cls == 2 ? NAN : u.cls == 1 ? INFINITY : ldexpf((float)u.m, u.e - 10);
    return u.sign ? -r : r;
}
static inline uint32_t mma_f32_to_f16(uint32_t v) {
    uint32_t s = v >> 16 & 0x8000, x = v & 0x7fffffff, e = x >> 23, m, d, r;
    if (x > 0x7f800000) return MMA_NAN16;
    if (e > 142) return s | 0x7c00;
    if (e < 102) return s;
    m = (x & 0x7fffff) | 0x800000;
    d = e < 113 ? 126 - e : 13;
    r = m & ((1u << d) - 1);
    m >>= d;
    if (r > 1u << (d - 1) || (r == 1u << (d - 1) && (m & 1))) m++;
    return s | (m + (e < 113 ? 0 : (e - 113) << 10));
}
/* … toward zero: what is too large becomes 65504. */
static inline uint32_t mma_f32_to_f16_rz(uint32_t v) {
    uint32_t near = mma_f32_to_f16(v), e = v >> 23 & 0xff;
    float exact, got = mma_f16_val(near);
    memcpy(&exact, &v, 4);
    return e == 255 || fabsf(got) <= fabsf(exact) ? near : near - 1; /* the next one nearer to 0, of infinity too */
}
static inline uint32_t mma_f16_k4(const uint32_t *a, const uint32_t *b, uint32_t c, int c16, int d16) {
    float d, e, z, p[4];
    uint32_t v;
    int k;
    if (c16) z = mma_f16_val(c);
    else memcpy(&z, &c, 4);
    for (k = 0; k < 4; k++) p[k] = mma_f16_val(a[k]) * mma_f16_val(b[k]);
    if (d16) {
        d = p[0] + p[1];
        d = z + d;
        e = p[2] + p[3];
        d = d + e;
    } else {
        d = 0;
        for (k = 0; k < 4; k++) d = d + p[k];
        d = d + z;
    }
    memcpy(&v, &d, 4);
    if ((v & 0x7fffffffu) > 0x7f800000u) v = MMA_NAN32;
    return d16 ? mma_f32_to_f16(v) : v;
}

/* fp8 operand to f16, exact; e4m3 subnormals become normal f16 numbers */
static inline uint32_t mma_e5m2_to_f16(uint32_t v) { return v << 8; }
static inline uint32_t mma_e4m3_to_f16(uint32_t v) {
    uint32_t s = (v & 0x80) << 8, e = v >> 3 & 15, m = v & 7;
    if (e == 15 && m == 7) return MMA_NAN16;
    if (e) return s | (e + 8) << 10 | m << 7;
    if (!m) return s;
    e = 9;
    while (!(m & 8)) {
        m <<= 1;
        e--;
    }
    return s | e << 10 | (m & 7) << 7;
}
/* fp8 (K 16, 32; e4 tells an e4m3 operand from e5m2): both operands go to f16; the products with k%4 in {0,1} are one
 * block from zero, those with k%4 in {2,3} a second one on top of it; at last c is added, an ordinary addition to
 * nearest. c16: c and the result are f16, and so is the intermediate. */
static inline uint32_t mma_fp8(int a_e4, int b_e4, int K, const uint32_t *a, const uint32_t *b, uint32_t c, int c16) {
    uint32_t x[16], y[16], s = 0, one = 0x3c00;
    int g, k, n;
    float p, q;
    for (g = 0; g < 2; g++) {
        for (n = k = 0; k < K; k++)
            if ((k >> 1 & 1) == g) {
                x[n] = a_e4 ? mma_e4m3_to_f16(a[k]) : mma_e5m2_to_f16(a[k]);
                y[n++] = b_e4 ? mma_e4m3_to_f16(b[k]) : mma_e5m2_to_f16(b[k]);
            }
        s = mma_block(MMA_F16, MMA_F16, n, x, y, s, c16, c16);
    }
    if (c16) return mma_block(MMA_F16, MMA_F16, 1, &s, &one, c, 1, 1); /* s*1 + c: the same as a rounded f16 addition */
    memcpy(&p, &s, 4);
    memcpy(&q, &c, 4);
    p += q;
    memcpy(&s, &p, 4);
    return (s & 0x7fffffffu) > 0x7f800000u ? MMA_NAN32 : s;
}

/* f64 (K 4, 8, 16): fused multiply-adds in the order k = 0, 1, 2, ... NaN: the first NaN among b, c, a, quieted. */
static inline uint64_t mma_f64(int K, const uint64_t *a, const uint64_t *b, uint64_t c) {
    int k;
    for (k = 0; k < K; k++) {
        const uint64_t M = 0x7fffffffffffffffull, I = 0x7ff0000000000000ull;
        double x, y, z;
        if ((b[k] & M) > I) {
            c = b[k] | 1ull << 51;
            continue;
        }
        if ((c & M) > I) {
            c |= 1ull << 51;
            continue;
        }
        if ((a[k] & M) > I) {
            c = a[k] | 1ull << 51;
            continue;
        }
        memcpy(&x, a + k, 8);
        memcpy(&y, b + k, 8);
        memcpy(&z, &c, 8);
        z = fma(x, y, z);
        memcpy(&c, &z, 8);
        if ((c & M) > I) c = MMA_NAN64;
    }
    return c;
}

/* integers: a[k], b[k] already sign- or zero-extended; the sum is exact and clamped (satfinite) or wrapped once, at the
 * end. */
static inline uint32_t mma_s32(int K, const int32_t *a, const int32_t *b, uint32_t c, int sat) {
    int64_t s = (int32_t)c;
    int k;
    for (k = 0; k < K; k++) s += (int64_t)a[k] * b[k];
    if (sat) {
        if (s > 0x7fffffff) s = 0x7fffffff;
        if (s < -0x7fffffffll - 1) s = -0x7fffffffll - 1;
    }
    return (uint32_t)s;
}
/* b1: words of 32 bits; c plus the number of ones in a&b or a^b, wrapped */
static inline uint32_t mma_b1(int words, const uint32_t *a, const uint32_t *b, uint32_t c, int is_xor) {
    int k;
    for (k = 0; k < words; k++) {
        uint32_t v = is_xor ? a[k] ^ b[k] : a[k] & b[k];
        while (v) {
            v &= v - 1;
            c++;
        }
    }
    return c;
}
/* ---- wmma.mma: f16, bf16: one block of 16, as mma m16n8k16. f16 with a c type unlike the d type: c is first widened
 * to f32 (so a subnormal c is normalised), or the f32 result is rounded to f16 afterwards, with .satfinite toward
 * zero. tf32 m16n16k8: two blocks of
 * 4, k 0-3 and then 4-7. f64, integers, b1: as mma. */
static inline uint32_t wmma_f16(int K, const uint32_t *x, const uint32_t *y, uint32_t c, int c16, int d16, int sat) {
    if (c16 && !d16) {
        float f = mma_f16_val(c);
        memcpy(&c, &f, 4);
        if ((c & 0x7fffffffu) > 0x7f800000u) c = MMA_NAN32;
        return mma_f16_f32(K, x, y, c);
    }
    if (!c16 && d16 && sat) return mma_f32_to_f16_rz(mma_f16_f32(K, x, y, c));
    if (!c16 && d16) return mma_f32_to_f16(mma_f16_f32(K, x, y, c));
    return mma_block(MMA_F16, MMA_F16, K, x, y, c, c16, d16);
}
static inline uint32_t wmma_tf32(const uint32_t *x, const uint32_t *y, uint32_t c) {
    return mma_tf32_f32(4, x + 4, y + 4, mma_tf32_f32(4, x, y, c));
}

/* ---- wgmma.mma_async: f16, bf16 (K 16), tf32 (K 8) and integers as mma, one block. fp8 is another unit than in
 * mma.sync: one block of all 32 products and c with 13 bits kept below the largest exponent; an f32 result is cut to 14
 * significant bits, an f16 result is rounded once, to nearest, from the uncut sum. Products are not normalised; e4m3
 * subnormals keep exponent -6. */
#ifndef WG_FRAC
#define WG_FRAC 13
#endif
static inline uint32_t wgmma_fp8(int a_e4, int b_e4, int n, const uint32_t *a, const uint32_t *b, uint32_t c, int d16) {
    return mma_products(a_e4 ? MMA_E4M3 : MMA_E5M2, b_e4 ? MMA_E4M3 : MMA_E5M2, n, a, b, c, d16, d16, WG_FRAC);
}

#endif
