/* examples/mandelbrot in vector C: a small tile of pixels in a vector, because near pixels escape at near
 * times, and SLOTS vectors side by side. A slot whose pixels have all escaped takes the next tile, so that no
 * slot waits for another. Compile with -ffp-contract=off. */
#include "vector.h"

#ifndef SLOTS
#define SLOTS 4
#endif
enum { BURST = 4 }; /* iterations between two looks at the masks; counts past the limit are cut at the end */

/* Unrolled, the loop over a burst would put the vectors one after the other again. */
#ifdef __clang__
#define KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define KEEP_LOOP _Pragma("GCC unroll 1")
#endif

#if LANES == 16 && defined __AVX512F__
typedef __mmask16 live;
#define NONE 0
static inline live both(svec a, svec b) { return _mm512_movepi32_mask((__m512i)(a & b)); }
static inline vec pick_less(vec a, vec b) { return (vec)_mm512_min_epu32((__m512i)a, (__m512i)b); }
static inline fvec fma_each(fvec a, fvec b, fvec c) { return (fvec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
static inline live inside(live m, fvec s) {
    return _mm512_mask_cmp_ps_mask(m, (__m512)s, _mm512_set1_ps(4), _CMP_LE_OQ);
}
static inline vec count_up(vec n, live m) {
    /* clang turns the intrinsic into two instructions. */
    __asm__("vpsubd %2, %0, %0%{%1%}" : "+v"(n) : "Yk"(m), "v"(_mm512_set1_epi32(-1)));
    return n;
}
static inline int any(live m) { return m != 0; }
#else
typedef svec live;
#define NONE ((svec){0})
static inline live both(svec a, svec b) { return a & b; }
static inline vec pick_less(vec a, vec b) { return pick((vec)(a < b), a, b); }
static inline live inside(live m, fvec s) { return m & (s <= 4); }
static inline vec count_up(vec n, live m) { return n - (vec)m; }
#if LANES == 8 && defined __FMA__
static inline fvec fma_each(fvec a, fvec b, fvec c) { return (fvec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
static inline int any(live m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
#else
typedef double dvec __attribute__((vector_size(8 * LANES)));
typedef int64_t lvec __attribute__((vector_size(8 * LANES)));

/* The product is exact in f64; the sum is rounded to odd there, so that rounding it to f32 is the only
 * rounding that counts. */
static inline fvec fma_each(fvec a, fvec b, fvec c) {
    dvec p = __builtin_convertvector(a, dvec) * __builtin_convertvector(b, dvec), d = __builtin_convertvector(c, dvec);
    dvec s = p + d, part = s - p, lost = (p - (s - part)) + (d - part);
    lvec bits = (lvec)s, inexact = lost != 0, even = (bits & 1) == 0;
    lvec outward = (lvec)((lost < 0) == (s < 0)); /* the lost part points away from zero */
    bits += (inexact & even) & ((outward & 2) - 1);
    return __builtin_convertvector((dvec)bits, fvec);
}
static inline int any(live m) {
#ifdef __SSE4_1__
    return !_mm_testz_si128((__m128i)m, (__m128i)m);
#else
    int or = 0;
    for (int l = 0; l < LANES; l++) or |= m[l];
    return or != 0;
#endif
}
#endif
#endif

enum { TILE_WIDTH = LANES == 4 ? 2 : 4, TILE_HEIGHT = LANES / TILE_WIDTH };

typedef struct picture {
    uint32_t *iterations;
    uint32_t width, limit, end_row;
    uint32_t row, column; /* of the next tile */
    float left, top, step;
} picture;

typedef struct tile {
    uint32_t *to; /* its first pixel, NULL for none */
    uint32_t width, height;
} tile;

/* Takes the next tile of the picture, if there is one, and moves on. */
static inline tile tile_next(picture *p, fvec *cx, fvec *cy, live *m) {
    tile t = {0, 0, 0};
    *m = NONE;
    if (p->row >= p->end_row) return t;
    t = (tile){p->iterations + (size_t)p->row * p->width + p->column, least(TILE_WIDTH, p->width - p->column),
               least(TILE_HEIGHT, p->end_row - p->row)};
    vec column = iota() & splat(TILE_WIDTH - 1), row = iota() / TILE_WIDTH;
    *m = both(column < splat(t.width), row < splat(t.height));
    fvec step = p->step - (fvec){0};
    *cx = fma_each(__builtin_convertvector(column + p->column, fvec), step, p->left - (fvec){0});
    *cy = fma_each(__builtin_convertvector(row + p->row, fvec), step, p->top - (fvec){0});
    p->column += t.width;
    if (p->column == p->width) p->column = 0, p->row += t.height;
    return t;
}

static inline void tile_store(tile t, uint32_t row_words, vec n, uint32_t limit) {
    uint32_t rows[TILE_HEIGHT][TILE_WIDTH];
    n = pick_less(n, splat(limit));
    memcpy(rows, &n, sizeof rows);
    for (uint32_t r = 0; r < t.height; r++) {
        uint32_t *to = t.to + (size_t)r * row_words;
        if (t.width == TILE_WIDTH) memcpy(to, rows[r], sizeof rows[r]);
        else memcpy(to, rows[r], 4 * t.width);
    }
}

void NATIVE(mandelbrot)(uint32_t *iterations, uint32_t width, uint32_t height, float left, float top, float step,
                        uint32_t limit, uint32_t first_row, uint32_t rows) {
    picture p = {iterations, width, limit, part_end(first_row, rows, height), first_row, 0, left, top, step};
    fvec x[SLOTS], y[SLOTS], cx[SLOTS], cy[SLOTS];
    vec n[SLOTS];
    live m[SLOTS];
    tile t[SLOTS];
    uint64_t run[SLOTS];
    int busy = 0;
    if (!width) return;

#define FILL(u) \
    cx[u] = cy[u] = x[u] = y[u] = (fvec){0}, n[u] = splat(0), run[u] = 0, t[u] = tile_next(&p, &cx[u], &cy[u], &m[u])

    EACH(SLOTS, FILL(u); busy += t[u].to != 0;)
    while (busy) {
        KEEP_LOOP
        for (int burst = 0; burst < BURST; burst++) {
            EACH(SLOTS, fvec xx = x[u] * x[u]; fvec yy = y[u] * y[u]; m[u] = inside(m[u], xx + yy);
                 y[u] = fma_each(x[u] + x[u], y[u], cy[u]); x[u] = xx - yy + cx[u]; n[u] = count_up(n[u], m[u]);)
        }
        EACH(
            SLOTS, run[u] += BURST; if (t[u].to && (!any(m[u]) || run[u] >= limit)) {
                tile_store(t[u], width, n[u], limit);
                FILL(u);
                busy -= t[u].to == 0;
            })
    }
}
