/* matrix_block.c: products whose addends are cut below the largest exponent (LW_MATRIX_block, LW_MATRIX_pairs), for one
 * CPU level.   elements → f32 with exponents → rows of d, some columns at a time
 *
 * The product of two factors is exact in f32: 11 bits each at most. All addends of an element of d become integers in
 * places of its last kept bit by a conversion, which cuts toward zero as the tensor cores do; sums of integers are
 * exact in any order. Two things are left to lw_matrix_element, for the elements that they concern: infinities and NaN,
 * and results below the normal numbers of f32. */
#include "run/interp/level/matrix.h"

#include <lanewise/lane.h>

enum {
    MOST_K = 32,     /* products of an element of d */
    MOST_BLOCK = 16, /* … and of a block, whose sum of 25 bits each fits an integer */
    MOST_ROWS = 64,
    MOST_COLUMNS = 32,
    PADDING = LW_VECTOR_BYTES / 4,
};

/* Exponents of what is no number. Sums of two: nothing and something else but special is less than any exponent,
 * special and anything more than SPECIAL / 2. */
enum { NOTHING = -5000, SPECIAL = 16000 };

/* Factors whose exponents are in this range are near: their products and what these are cut to are normal f32. Others
 * are far. An element that has no exponent from LEAST_SCALED on has no products of near factors. */
enum { NEAR_LEAST = -50, NEAR_MOST = 60, LEAST_SCALED = 2 * NEAR_LEAST };
enum { TINY = 10 }; /* 2^-TINY times anything here is less than 1 */

typedef struct lw_factors {
    uint32_t *values; /* bits of f32; fractions, if they are far */
    int32_t *exponents;
} lw_factors;

/* One row of a, and some columns of b; b[k][column]. */
typedef struct lw_row_block {
    lw_factors a, b;
    size_t count, columns, stride; /* count: of products */
    int cut;
    int keep; /* bits of an f32 result */
    bool half, far;
} lw_row_block;

/* Columns come in eights. */
#if LW_VECTOR_BYTES == 16
#define LANES 4
#include "run/interp/level/matrix_lanes.h"
#define block_row row_4
#else
#define LANES 8
#include "run/interp/level/matrix_lanes.h"
#if LW_VECTOR_BYTES == 64
#define LANES 16
#include "run/interp/level/matrix_lanes.h"
#define block_row(x, ...) ((x)->columns % 16 ? row_8(x, __VA_ARGS__) : row_16(x, __VA_ARGS__))
#else
#define block_row row_8
#endif
#endif

/* ---- Elements as f32 -------------------------------------------------------------------------------------------- */

typedef struct lw_small_format {
    int fraction, bits; /* of it; its elements with the sign */
    int least;          /* exponent of subnormal numbers */
    float scale;        /* of its bits as those of an f16 */
} lw_small_format;

static const lw_small_format small_formats[LW_MATRIX_TYPES] = {
    [LW_MATRIX_e4m3] = {3, 8, -6, 0x1p8f},  [LW_MATRIX_e5m2] = {2, 8, -14, 1},
    [LW_MATRIX_e3m2] = {2, 6, -2, 0x1p12f}, [LW_MATRIX_e2m3] = {3, 6, 0, 0x1p14f},
    [LW_MATRIX_e2m1] = {1, 4, 0, 0x1p14f},
};

static bool is_small(lw_matrix_type type) { return small_formats[type].bits != 0; }

/* Bytes as the bits of f16, of which each is as many times too small as `scale` says. */
static void halves_of(lw_matrix_type type, uint16_t *restrict to, const uint8_t *restrict from, size_t count) {
    const lw_small_format *f = &small_formats[type];
    const int sign = f->bits - 1, up = 10 - f->fraction;
    const uint32_t nan = type == LW_MATRIX_e4m3 ? 0x7f : 0x100;
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = from[i] & ((1u << sign) - 1), negative = from[i] >> sign & 1;
        to[i] = (uint16_t)(size == nan ? 0x7fff : negative << 15 | size << up);
    }
}

/* Elements, of small formats as f16, as f32. */
static void widen(lw_matrix_type type, uint32_t *restrict to, const void *restrict from, size_t count) {
    const lw_any16 *half = from;
    const lw_any32 *word = from;
    switch (type) {
    case LW_MATRIX_tf32:
        for (size_t i = 0; i < count; i++) to[i] = word[i] & 0xffffe000;
        break;
    case LW_MATRIX_bf16:
        for (size_t i = 0; i < count; i++) to[i] = (uint32_t)half[i] << 16;
        break;
    default: lw_widen_halves(to, half, count);
    }
    const float scale = small_formats[type].scale;
    if (!is_small(type) || scale == 1) return;
    for (size_t i = 0; i < count; i++) to[i] = lw_bits_f32_(lw_from_bits_f32_(to[i]) * scale);
}

/* The exponents, and 0 for what is special. False: some are far. */
static bool sort_out(const lw_factors *x, size_t count, int least, bool negate) {
    const uint32_t sign = negate ? 0x80000000 : 0;
    uint32_t far = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = x->values[i], field = bits >> 23 & 0xff;
        int32_t e = (int32_t)field - 127;
        e = e > least ? e : least;
        e = bits << 1 ? e : NOTHING;
        e = field == 255 ? SPECIAL : e;
        x->exponents[i] = e;
        x->values[i] = field == 255 ? 0 : bits ^ sign;
        far |= (uint32_t)(e - NEAR_LEAST) > NEAR_MOST - NEAR_LEAST && e != NOTHING && e != SPECIAL;
    }
    return !far;
}

static void make_fractions(uint32_t *to, const uint32_t *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t sign = from[i] & 0x80000000, below = from[i] & 0x7f800000 ? 0 : 0x3f800000 | sign;
        const float one = lw_from_bits_f32_((from[i] & 0x807fffff) | 0x3f800000);
        to[i] = lw_bits_f32_(one - lw_from_bits_f32_(below));
    }
}

/* ---- Tiles ------------------------------------------------------------------------------------------------------ */

typedef struct lw_tile {
    _Alignas(64) uint32_t values[MOST_ROWS * MOST_K];
    int32_t exponents[MOST_ROWS * MOST_K];
} lw_tile;
_Static_assert(MOST_COLUMNS <= MOST_ROWS, "a tile has room for columns of b");

typedef struct lw_product {
    const lw_matrix_kind *kind;
    const void *a, *b, *c;
    void *d;
    size_t each, a_rows; /* products of a block; rows of a that are in its tile */
    lw_tile a_tile, b_tile;
    _Alignas(64) uint32_t a_fractions[MOST_ROWS * MOST_K];
    uint16_t halves[MOST_ROWS * MOST_K], turned[MOST_COLUMNS * MOST_K];
    bool a_near, a_has_fractions;
} lw_product;

static int least_of(const lw_matrix_kind *kind, lw_matrix_type type) {
    if (type == LW_MATRIX_f16 || (is_small(type) && kind->rule == LW_MATRIX_pairs)) return -14;
    return is_small(type) ? small_formats[type].least : -126;
}

/* For LW_MATRIX_pairs: what is added first comes first. */
static void order_pairs(uint8_t *to, const uint8_t *from, size_t rows, size_t k) {
    for (size_t row = 0; row < rows; row++, to += k, from += k)
        for (size_t i = 0; i < k; i += 2) memcpy(to + (i & 2 ? k / 2 : 0) + i / 4 * 2, from + i, 2);
}

/* Rows of elements as they are multiplied: small ones as halves. */
static const void *read_rows(lw_product *p, lw_matrix_type type, const void *from, size_t rows) {
    const size_t k = p->kind->k;
    if (!is_small(type)) return from;
    uint8_t ordered[MOST_ROWS * MOST_K];
    const bool pairs = p->kind->rule == LW_MATRIX_pairs;
    if (pairs) order_pairs(ordered, from, rows, k);
    halves_of(type, p->halves, pairs ? ordered : from, rows * k);
    return p->halves;
}

static void read_a(lw_product *p, size_t m, size_t rows) {
    const lw_matrix_kind *kind = p->kind;
    const lw_factors to = {p->a_tile.values, p->a_tile.exponents};
    const void *from = read_rows(p, kind->a_type, lw_row_of_a(kind, p->a, m), rows);
    widen(kind->a_type, to.values, from, rows * kind->k);
    p->a_near = sort_out(&to, rows * kind->k, least_of(kind, kind->a_type), kind->negate_a);
    p->a_rows = rows;
    p->a_has_fractions = false;
}

/* Columns of b for row m, as [k][column]. */
static bool read_b(lw_product *p, size_t m, size_t n, size_t columns) {
    const lw_matrix_kind *kind = p->kind;
    const lw_factors to = {p->b_tile.values, p->b_tile.exponents};
    const void *from = read_rows(p, kind->b_type, lw_column_of_b(kind, p->b, m, n), columns);
    if (kind->b_type == LW_MATRIX_tf32) {
        lw_turn_32(to.values, columns, from, columns, kind->k);
        for (size_t i = 0; i < columns * kind->k; i++) to.values[i] &= 0xffffe000;
    } else {
        lw_turn_16(p->turned, columns, from, columns, kind->k);
        widen(kind->b_type, to.values, p->turned, columns * kind->k);
    }
    return sort_out(&to, columns * kind->k, least_of(kind, kind->b_type), kind->negate_b);
}

/* ---- Rows of the result ----------------------------------------------------------------------------------------- */

static void narrow(uint16_t *to, const uint32_t *from, size_t count, bool keeps_zeros) {
    const uint16_t signs = keeps_zeros ? 0x8000 : 0;
    lw_narrow_halves(to, from, count);
    for (size_t i = 0; i < count; i++) to[i] = to[i] & 0x7fff ? to[i] : to[i] & signs;
}

/* c as f32. */
static void read_c(const lw_product *p, uint32_t *to, const void *from, size_t columns) {
    if (!p->c) memset(to, 0, 4 * columns);
    else if (p->kind->c_type == LW_MATRIX_f16) lw_widen_halves(to, from, columns);
    else memcpy(to, from, 4 * columns);
}

/* What stands behind the blocks of LW_MATRIX_pairs: c, which was not in them. */
static void add_c(const lw_matrix_kind *kind, void *d, const void *c, size_t columns) {
    if (kind->d_type == LW_MATRIX_f16) {
        lw_any16 *to = d;
        const lw_any16 *more = c;
        for (size_t i = 0; i < columns; i++) to[i] = lw_add_rn_f16(to[i], more[i]);
    } else {
        lw_any32 *to = d;
        const lw_any32 *more = c;
        for (size_t i = 0; i < columns; i++)
            to[i] = lw_bits_f32_(lw_add_rn_f32(lw_from_bits_f32_(to[i]), lw_from_bits_f32_(more[i])));
    }
}

static void compute_row(lw_product *p, size_t row, size_t m, size_t n, size_t columns, bool b_near) {
    const lw_matrix_kind *kind = p->kind;
    const bool half = kind->c_type == LW_MATRIX_f16 && kind->d_type == LW_MATRIX_f16, far = !(p->a_near && b_near),
               pairs = kind->rule == LW_MATRIX_pairs;
    const size_t c_bytes = lw_matrix_bytes(kind->c_type, 1), d_bytes = lw_matrix_bytes(kind->d_type, 1),
                 at = m * kind->n + n;
    _Alignas(64) uint32_t sums[MOST_COLUMNS + PADDING], odd[MOST_COLUMNS + PADDING] = {0}, c[MOST_COLUMNS] = {0};
    _Alignas(64) uint16_t halves[MOST_COLUMNS];
    if (p->c) memcpy(c, (const char *)p->c + c_bytes * at, c_bytes * columns);
    if (pairs) memset(sums, 0, 4 * columns);
    else read_c(p, sums, c, columns);
    for (size_t from = 0; from < kind->k; from += p->each) {
        const lw_row_block x = {
            .a = {(far ? p->a_fractions : p->a_tile.values) + row * kind->k + from,
                  p->a_tile.exponents + row * kind->k + from},
            .b = {p->b_tile.values + from * columns, p->b_tile.exponents + from * columns},
            .count = p->each,
            .columns = columns,
            .stride = columns,
            .cut = pairs ? LW_MATRIX_CUT : kind->cut,
            .keep = half || kind->cut + 1 > 24 || pairs ? 24 : kind->cut + 1,
            .half = half,
            .far = far,
        };
        block_row(&x, sums, odd);
        if (half) {
            narrow(halves, sums, columns, false);
            lw_widen_halves(sums, halves, columns);
        }
    }
    char *d = (char *)p->d + d_bytes * at;
    if (kind->d_type == LW_MATRIX_f16 && !half) narrow(halves, sums, columns, true);
    memcpy(d, kind->d_type == LW_MATRIX_f16 ? (void *)halves : (void *)sums, d_bytes * columns);
    if (pairs) add_c(kind, d, c, columns);
    uint32_t any = 0;
    for (size_t i = 0; i < columns; i++) any |= odd[i];
    for (size_t i = 0; any && i < columns; i++)
        if (odd[i])
            lw_element_put(d, d_bytes, i,
                           lw_matrix_element(kind, lw_row_of_a(kind, p->a, m), lw_column_of_b(kind, p->b, m, n + i),
                                             lw_element_at(c, c_bytes, i)));
}

/* Columns for all rows that a was read of, or for one of them. */
static void compute_columns(lw_product *p, size_t first, size_t m, size_t rows, size_t n, size_t columns) {
    const size_t k = p->kind->k;
    const bool b_near = read_b(p, m, n, columns);
    if (!(p->a_near && b_near)) {
        if (!p->a_has_fractions) make_fractions(p->a_fractions, p->a_tile.values, p->a_rows * k);
        p->a_has_fractions = true;
        make_fractions(p->b_tile.values, p->b_tile.values, columns * k);
    }
    for (size_t i = 0; i < rows; i++) compute_row(p, m + i - first, m + i, n, columns, b_near);
}

static bool is_for_vectors(const lw_matrix_kind *kind, size_t each) {
    if (kind->k > MOST_K || kind->saturate) return false;
    return each <= (kind->rule == LW_MATRIX_block && kind->cut <= LW_MATRIX_CUT_WGMMA_FP8 ? MOST_K : MOST_BLOCK);
}

bool LW_AT_LEVEL(lw_matrix_by_blocks)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c,
                                      void *d) {
    const size_t each = kind->rule == LW_MATRIX_pairs ? kind->k / 2u : kind->block ? kind->block : kind->k;
    if (!is_for_vectors(kind, each)) return false;
    lw_product p;
    p.kind = kind, p.a = a, p.b = b, p.c = c, p.d = d, p.each = each;
    for (size_t m = 0; m < kind->m; m += MOST_ROWS) {
        const size_t rows = kind->m - m < MOST_ROWS ? kind->m - m : MOST_ROWS, step = kind->b_per_row ? 1 : rows;
        read_a(&p, m, rows);
        for (size_t n = 0; n < kind->n; n += MOST_COLUMNS)
            for (size_t row = m; row < m + rows; row += step)
                compute_columns(&p, m, row, step, n, kind->n - n < MOST_COLUMNS ? kind->n - n : MOST_COLUMNS);
    }
    return true;
}
