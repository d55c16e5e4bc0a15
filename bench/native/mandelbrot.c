/* examples/mandelbrot in vector C: LANES pixels of a row in a vector, SLOTS vectors side by side. A slot whose pixels have all
 * escaped takes the next vector, so that no slot waits for another. Compile with -ffp-contract=off. */
#include "vector.h"

#ifndef SLOTS
#define SLOTS 4
#endif
enum { BURST = 8 }; /* iterations between two looks at the masks; counts past the limit are cut at the end */

#if LANES == 16 && defined __AVX512F__
typedef __mmask16 live;
static const live ALL = 0xffff;
static inline fvec fma_each(fvec a, fvec b, fvec c) { return (fvec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
static inline live inside(live m, fvec s) { return _mm512_mask_cmp_ps_mask(m, (__m512)s, _mm512_set1_ps(4), _CMP_LE_OQ); }
static inline vec count_up(vec n, live m) {
    return (vec)_mm512_mask_sub_epi32((__m512i)n, m, (__m512i)n, _mm512_set1_epi32(-1));
}
static inline int any(live m) { return m != 0; }
#else
typedef svec live;
#define ALL ((svec){0} == 0)
static inline live inside(live m, fvec s) { return m & (s <= 4); }
static inline vec count_up(vec n, live m) { return n - (vec)m; }
#if LANES == 8 && defined __FMA__
static inline fvec fma_each(fvec a, fvec b, fvec c) { return (fvec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
static inline int any(live m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
#else
typedef double dvec __attribute__((vector_size(8 * LANES)));
typedef int64_t lvec __attribute__((vector_size(8 * LANES)));

/* The product is exact in f64; the sum is rounded to odd there, so that rounding it to f32 is the only rounding that counts. */
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

typedef struct picture {
    uint32_t *iterations;
    uint32_t width, limit, row, column, end_row; /* row and column of the next vector */
    float left, top, step;
} picture;

typedef struct slot {
    fvec x, y, cx, cy;
    vec n;
    live m;
    uint32_t *to; /* NULL when the slot is empty */
    uint32_t pixels, run;
} slot;

static void slot_fill(slot *s, picture *p) {
    s->to = 0, s->run = 0, s->m = ALL ^ ALL, s->x = s->y = s->cx = s->cy = (fvec){0}, s->n = splat(0);
    if (p->row >= p->end_row) return;
    s->to = p->iterations + (size_t)p->row * p->width + p->column;
    s->pixels = least(LANES, p->width - p->column);
    vec column = splat(p->column) + iota();
    for (int l = 0; l < LANES; l++) s->cx[l] = (float)column[l], s->cy[l] = (float)p->row;
    s->cx = fma_each(s->cx, p->step - (fvec){0}, p->left - (fvec){0});
    s->cy = fma_each(s->cy, p->step - (fvec){0}, p->top - (fvec){0});
    s->m = ALL;
    p->column += s->pixels;
    if (p->column == p->width) p->column = 0, p->row++;
}

static void slot_drain(const slot *s, uint32_t limit) {
    uint32_t n[LANES];
    memcpy(n, &s->n, sizeof n);
    for (uint32_t l = 0; l < s->pixels; l++) s->to[l] = least(n[l], limit);
}

/* Drains and fills every slot that is done; returns whether any is still in work. */
static int slots_turn(slot s[SLOTS], picture *p) {
    int busy = 0;
    for (int u = 0; u < SLOTS; u++) {
        while (s[u].to && (!any(s[u].m) || s[u].run >= p->limit)) {
            slot_drain(&s[u], p->limit);
            slot_fill(&s[u], p);
        }
        busy |= s[u].to != 0;
    }
    return busy;
}

void NATIVE(mandelbrot)(uint32_t *iterations, uint32_t width, uint32_t height, float left, float top, float step,
                        uint32_t limit, uint32_t first_row, uint32_t rows) {
    picture p = {iterations, width, limit, first_row, 0, part_end(first_row, rows, height), left, top, step};
    slot s[SLOTS];
    if (!width) return;
    for (int u = 0; u < SLOTS; u++) slot_fill(&s[u], &p);
    while (slots_turn(s, &p)) {
        fvec x[SLOTS], y[SLOTS], cx[SLOTS], cy[SLOTS];
        vec n[SLOTS];
        live m[SLOTS];
        EACH(SLOTS, x[u] = s[u].x; y[u] = s[u].y; cx[u] = s[u].cx; cy[u] = s[u].cy; n[u] = s[u].n; m[u] = s[u].m;)
        int some;
        uint32_t run = 0;
        do {
            for (int burst = 0; burst < BURST; burst++) {
                EACH(SLOTS, fvec xx = x[u] * x[u]; fvec yy = y[u] * y[u]; m[u] = inside(m[u], xx + yy);
                     y[u] = fma_each(x[u] + x[u], y[u], cy[u]); x[u] = xx - yy + cx[u]; n[u] = count_up(n[u], m[u]);)
            }
            run += BURST;
            some = 0;
            EACH(SLOTS, some |= s[u].to && (!any(m[u]) || s[u].run + run >= limit);)
        } while (!some);
        EACH(SLOTS, s[u].x = x[u]; s[u].y = y[u]; s[u].n = n[u]; s[u].m = m[u]; s[u].run += run;)
    }
}
