/* matrix_block.c: products whose addends are cut below the largest exponent (LW_MATRIX_block, LW_MATRIX_pairs), for one
 * CPU level.   elements → f32 with exponents → rows of d, a vector of columns at a time (matrix_lanes.h)
 *
 * Where a row has fewer columns than a vector, two rows are one, their elements in turns. What vectors do not say is
 * left to lw_matrix_element, for the elements that it concerns: infinities and NaN, and results below the normal
 * numbers of f32. */
#include "run/interp/level/matrix_lanes.h"

#include <lanewise/lane.h>

enum {
    MOST_K = 32,     /* products of an element of d */
    MOST_BLOCK = 16, /* … and of a block, whose sum of 25 bits each fits an integer */
    MOST_ROWS = 64,
    MOST_COLUMNS = 32,
    EIGHT = 8, /* what numbers of columns are multiples of */
};

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
_Static_assert(MOST_COLUMNS <= MOST_ROWS && 2 * EIGHT <= MOST_ROWS, "a tile has room for columns of b");

typedef struct lw_product {
    const lw_matrix_kind *kind;
    const void *a, *b, *c;
    void *d;
    size_t each;                /* products of a block */
    size_t rows, columns;       /* of d that are one, and how many columns at a time */
    lw_tile a_tile, b_tile;     /* [row / rows][k][row % rows] and [k][column][row % rows] */
    size_t a_count;             /* elements of a that are in its tile */
    bool a_near, has_fractions; /* … and whether these are, too */
    _Alignas(64) uint32_t a_fractions[MOST_ROWS * MOST_K], woven[MOST_ROWS * MOST_K], turned[MOST_COLUMNS * MOST_K];
    uint16_t halves[MOST_ROWS * MOST_K];
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

/* Two rows behind each other, from element `at` on, as one, in turns; or one row twice. */
static void weave_rows(lw_matrix_type type, void *restrict to, size_t at, const void *restrict from, size_t count,
                       bool distinct) {
    const size_t next = distinct ? count : 0;
    if (type == LW_MATRIX_tf32) {
        lw_any32 *word = (lw_any32 *)to + at;
        const lw_any32 *x = (const lw_any32 *)from + at;
        for (size_t i = 0; i < count; i++) word[2 * i] = x[i], word[2 * i + 1] = x[next + i];
    } else {
        lw_any16 *half = (lw_any16 *)to + at;
        const lw_any16 *x = (const lw_any16 *)from + at;
        for (size_t i = 0; i < count; i++) half[2 * i] = x[i], half[2 * i + 1] = x[next + i];
    }
}

static void read_a(lw_product *p, size_t m, size_t rows) {
    const lw_matrix_kind *kind = p->kind;
    const lw_matrix_type type = kind->a_type;
    const size_t k = kind->k;
    const lw_factors to = {p->a_tile.values, p->a_tile.exponents};
    const void *from = read_rows(p, type, lw_row_of_a(kind, p->a, m), rows);
    if (p->rows == 2) {
        for (size_t i = 0; i < rows * k; i += 2 * k) weave_rows(type, p->woven, i, from, k, true);
        from = p->woven;
    }
    p->a_count = rows * k;
    widen(type, to.values, from, p->a_count);
    p->a_near = sort_out(&to, p->a_count, least_of(kind, type), kind->negate_a);
    p->has_fractions = false;
}

/* Columns of b for row m and those that are one with it. */
static bool read_b(lw_product *p, size_t m, size_t n) {
    const lw_matrix_kind *kind = p->kind;
    const lw_matrix_type type = kind->b_type;
    const size_t rows = p->rows, lanes = p->columns * rows, k = kind->k;
    const lw_factors to = {p->b_tile.values, p->b_tile.exponents};
    const size_t count = p->columns * k;
    for (size_t row = 0; row < (kind->b_per_row ? rows : 1); row++) {
        const void *from = read_rows(p, type, lw_column_of_b(kind, p->b, m + row, n), p->columns);
        if (type == LW_MATRIX_tf32) lw_turn_32(p->turned + row * count, p->columns, from, p->columns, k);
        else lw_turn_16((lw_any16 *)p->turned + row * count, p->columns, from, p->columns, k);
    }
    if (rows == 2) weave_rows(type, p->woven, 0, p->turned, count, kind->b_per_row);
    widen(type, to.values, rows == 2 ? p->woven : p->turned, lanes * k);
    return sort_out(&to, lanes * k, least_of(kind, type), kind->negate_b);
}

/* ---- Rows of the result ----------------------------------------------------------------------------------------- */

/* -0 is +0, if it is no number of IEEE's. */
static inline void narrow(lw_any16 *to, const uint32_t *from, size_t count, bool keeps_signs) {
    const uint16_t signs = keeps_signs ? 0x8000 : 0;
    lw_narrow_halves(to, from, count);
    for (size_t i = 0; i < count; i++) to[i] = to[i] & 0x7fff ? to[i] : to[i] & signs;
}

/* What stands behind the blocks of LW_MATRIX_pairs: c, which was not in them. */
static void add_c(lw_matrix_type type, void *d, const void *c, size_t count) {
    lw_any16 *half = d;
    lw_any32 *word = d;
    const lw_any16 *half_c = c;
    const lw_any32 *word_c = c;
    if (type == LW_MATRIX_f16)
        for (size_t i = 0; i < count; i++) half[i] = lw_add_rn_f16(half[i], half_c[i]);
    else
        for (size_t i = 0; i < count; i++)
            word[i] = lw_bits_f32_(lw_add_rn_f32(lw_from_bits_f32_(word[i]), lw_from_bits_f32_(word_c[i])));
}

/* One function for each way, so that what they have in common is not compiled for all at once. */
#define ADD(nearness, rows) \
    static bool add_##nearness##_##rows(const lw_addends *x, uint32_t *row, uint32_t *wrong) { \
        return add_row(x, row, wrong, nearness, rows); \
    }
ADD(NEAR, 1)
ADD(FAR, 1)
ADD(HALF, 1)
ADD(NEAR, 2)
ADD(FAR, 2)
ADD(HALF, 2)

typedef bool lw_adding(const lw_addends *x, uint32_t *row, uint32_t *wrong);
static lw_adding *const addings[2][3] = {{add_NEAR_1, add_FAR_1, add_HALF_1}, {add_NEAR_2, add_FAR_2, add_HALF_2}};

/* Rows that are one, of some columns: `rows` and `columns` are constants at each call. at: that of the first element in
 * c and d; row: in the tile of a. */
LW_INLINE void compute_rows(lw_product *p, size_t row, size_t m, size_t n, bool far, size_t rows, size_t columns) {
    const lw_matrix_kind *kind = p->kind;
    const bool pairs = kind->rule == LW_MATRIX_pairs, c_half = kind->c_type == LW_MATRIX_f16,
               d_half = kind->d_type == LW_MATRIX_f16, half = c_half && d_half;
    const size_t c_bytes = c_half ? 2 : 4, d_bytes = d_half ? 2 : 4, lanes = rows * columns;
    _Alignas(64) uint32_t c[MOST_COLUMNS], sums[MOST_COLUMNS], wrong[MOST_COLUMNS];
    _Alignas(64) uint16_t halves[MOST_COLUMNS];
    const char *old[2] = {(const char *)c, (const char *)(c + columns)};
    if (!p->c) memset(c, 0, 4 * lanes);
    for (size_t i = 0; p->c && i < rows; i++) {
        old[i] = (const char *)p->c + c_bytes * ((m + i) * kind->n + n);
        memcpy((char *)c + i * columns * c_bytes, old[i], c_bytes * columns); /* d may be c */
    }
    if (pairs) memset(sums, 0, 4 * lanes);
    else if (c_half) lw_widen_halves(sums, (const lw_any16 *)c, lanes);
    else if (rows == 1) memcpy(sums, old[0], 4 * lanes);
    if (rows == 2 && !pairs) {
        if (c_half) weave(sums, sums, sums + columns);
        else weave(sums, old[0], old[1]);
    }
    memset(wrong, 0, 4 * lanes);

    lw_adding *add = addings[rows - 1][half ? HALF : far ? FAR : NEAR];
    bool any = false;
    for (size_t from = 0; from < kind->k; from += p->each) {
        const size_t a_at = row * kind->k + from * rows, b_at = from * lanes;
        const lw_addends x = {
            .a = {(far ? p->a_fractions : p->a_tile.values) + a_at, p->a_tile.exponents + a_at},
            .b = {p->b_tile.values + b_at, p->b_tile.exponents + b_at},
            .count = p->each,
            .lanes = lanes,
            .stride = lanes,
            .cut = pairs ? LW_MATRIX_CUT : kind->cut,
            .keep = half || pairs || kind->cut + 1 > 24 ? 24 : kind->cut + 1,
        };
        if (from && half) { /* the result of the block before is a number of f16 */
            narrow(halves, sums, lanes, false);
            lw_widen_halves(sums, halves, lanes);
        }
        any |= add(&x, sums, wrong);
    }
    if (rows == 2) separate(sums, sums + columns, sums);
    if (d_half) narrow(halves, sums, lanes, !half);
    if (pairs) add_c(kind->d_type, d_half ? (void *)halves : (void *)sums, c, lanes);
    for (size_t i = 0; i < rows; i++) {
        char *to = (char *)p->d + d_bytes * ((m + i) * kind->n + n);
        if (d_half) memcpy(to, halves + i * columns, 2 * columns);
        else memcpy(to, sums + i * columns, 4 * columns);
    }
    for (size_t lane = 0; any && lane < lanes; lane++) {
        const size_t i = lane % rows, column = lane / rows, at = (m + i) * kind->n + n + column;
        if (!wrong[lane]) continue;
        const uint64_t old = lw_element_at(c, c_bytes, i * columns + column);
        const char *a = lw_row_of_a(kind, p->a, m + i), *b = lw_column_of_b(kind, p->b, m + i, n + column);
        lw_element_put(p->d, d_bytes, at, lw_matrix_element(kind, a, b, old));
    }
}

/* Columns from n on, for rows from m on, which are those of the tile of a from `first` on. */
static void compute_columns(lw_product *p, size_t first, size_t m, size_t count, size_t n) {
    const bool far = !read_b(p, m, n) || !p->a_near;
    if (far) {
        if (!p->has_fractions) make_fractions(p->a_fractions, p->a_tile.values, p->a_count);
        p->has_fractions = true;
        make_fractions(p->b_tile.values, p->b_tile.values, p->columns * p->rows * p->kind->k);
    }
    for (size_t i = m; i < m + count; i += p->rows) {
        if (LANES == 2 * EIGHT && p->rows == 2) compute_rows(p, i - first, i, n, far, 2, EIGHT);
        else if (p->columns == EIGHT) compute_rows(p, i - first, i, n, far, 1, EIGHT);
        else if (p->columns == 2 * EIGHT) compute_rows(p, i - first, i, n, far, 1, 2 * EIGHT);
        else compute_rows(p, i - first, i, n, far, 1, 4 * EIGHT);
    }
}

static bool is_for_vectors(const lw_matrix_kind *kind, size_t each) {
    if (kind->k > MOST_K || kind->saturate || kind->scales || kind->m % 2) return false;
    return each <= (kind->rule == LW_MATRIX_block && kind->cut <= LW_MATRIX_CUT_WGMMA_FP8 ? MOST_K : MOST_BLOCK);
}

bool LW_AT_LEVEL(lw_matrix_by_blocks)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c,
                                      void *d) {
    const size_t each = kind->rule == LW_MATRIX_pairs ? kind->k / 2u : kind->block ? kind->block : kind->k;
    if (!is_for_vectors(kind, each)) return false;
    lw_product p; /* not initialised: it has 60 KB, of which little is used */
    p.kind = kind, p.a = a, p.b = b, p.c = c, p.d = d, p.each = each;
    p.columns = kind->n % (4 * EIGHT) == 0 ? 4 * EIGHT : kind->n % (2 * EIGHT) == 0 ? 2 * EIGHT : EIGHT;
    p.rows = p.columns < LANES ? 2 : 1;
    for (size_t m = 0; m < kind->m; m += MOST_ROWS) {
        const size_t count = kind->m - m < MOST_ROWS ? kind->m - m : MOST_ROWS, step = kind->b_per_row ? p.rows : count;
        read_a(&p, m, count);
        for (size_t n = 0; n < kind->n; n += p.columns)
            for (size_t row = m; row < m + count; row += step) compute_columns(&p, m, row, step, n);
    }
    return true;
}
