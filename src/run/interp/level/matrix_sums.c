/* matrix_sums.c: products of matrices of which nothing is cut, for one CPU level: integers, bits, f64, and the f16 of
 * mma.m8n8k4. A row of d at a time, all columns beside each other. */
#include "run/interp/level/matrix.h"

#include <lanewise/lane.h>

enum {
    MOST_K = 128,
    MOST_COLUMNS = 32,
    LANES_32 = LW_VECTOR_BYTES / 4,
    LANES_64 = LW_VECTOR_BYTES / 8,
    PADDED = MOST_COLUMNS + LANES_32, /* so that vectors may go beyond the last column */
};

typedef lw_vector loose __attribute__((aligned(4), may_alias));

/* Columns at a time, and for whom b is read: all rows or, if it has columns of its own for each, one. */
#define FOR_COLUMNS(kind, n, columns) \
    for (size_t n = 0, columns; columns = (kind)->n - n < MOST_COLUMNS ? (kind)->n - n : MOST_COLUMNS, n < (kind)->n; \
         n += columns)
#define FOR_ROWS(kind, m, rows) for (size_t m = 0, rows = (kind)->b_per_row ? 1 : (kind)->m; m < (kind)->m; m += rows)

/* ---- Integers --------------------------------------------------------------------------------------------------- */

static void widen_bytes(lw_matrix_type type, int16_t *restrict to, const uint8_t *restrict from, size_t count) {
    const uint8_t sign = type == LW_MATRIX_s8 ? 0x80 : 0;
    for (size_t i = 0; i < count; i++) to[i] = (int16_t)((from[i] ^ sign) - sign);
}

static void finish_integers(const lw_matrix_kind *kind, lw_any32 *d, const lw_any32 *c, const uint32_t *sums,
                            size_t columns) {
    for (size_t i = 0; i < columns; i++) {
        const uint32_t old = c ? c[i] : 0, total = sums[i] + old, over = (total ^ sums[i]) & (total ^ old);
        const uint32_t most = 0x7fffffff + (old >> 31);
        d[i] = kind->saturate && over >> 31 ? most : total;
    }
}

/* Two neighbours along k are one element of 32 bits, which the CPU multiplies and adds at once. */
static void by_integers(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    _Alignas(64) uint32_t pairs[MOST_K / 2 * PADDED], sums[PADDED];
    int16_t wide[MOST_COLUMNS * MOST_K];
    uint32_t row[MOST_K / 2];
    const size_t k = kind->k, count = k / 2;
    FOR_COLUMNS(kind, n, columns) FOR_ROWS(kind, m, rows) {
        widen_bytes(kind->b_type, wide, (const uint8_t *)lw_column_of_b(kind, b, m, n), columns * k);
        lw_turn_32(pairs, PADDED, (const lw_any32 *)wide, columns, count);
        for (size_t i = m; i < m + rows; i++) {
            const size_t at = i * kind->n + n;
            widen_bytes(kind->a_type, wide, (const uint8_t *)lw_row_of_a(kind, a, i), k);
            memcpy(row, wide, sizeof *row * count);
            for (size_t column = 0; column < columns; column += LANES_32) {
                lw_vector sum = {0};
                for (size_t j = 0; j < count; j++)
                    sum = lw_add_dots(sum, row[j], *(const loose *)(pairs + j * PADDED + column));
                *(loose *)(sums + column) = sum;
            }
            finish_integers(kind, (lw_any32 *)d + at, c ? (const lw_any32 *)c + at : NULL, sums, columns);
        }
    }
}

static void by_bits(const lw_matrix_kind *kind, const void *a, const void *b, const lw_any32 *c, lw_any32 *d) {
    for (size_t m = 0; m < kind->m; m++)
        for (size_t n = 0; n < kind->n; n++) {
            const char *x = lw_row_of_a(kind, a, m), *y = lw_column_of_b(kind, b, m, n);
            const size_t at = m * kind->n + n;
            uint32_t sum = c ? c[at] : 0;
            for (size_t i = 0; i < kind->k / 8u; i += 8) {
                uint64_t p, q;
                memcpy(&p, x + i, sizeof p);
                memcpy(&q, y + i, sizeof q);
                sum += lw_bits_count(kind->exclusive ? p ^ q : p & q);
            }
            d[at] = sum;
        }
}

/* ---- f64 -------------------------------------------------------------------------------------------------------- */

typedef double doubles __attribute__((vector_size(LW_VECTOR_BYTES)));
typedef double loose_doubles __attribute__((vector_size(LW_VECTOR_BYTES), aligned(8), may_alias));
typedef double any_double __attribute__((may_alias));

LW_INLINE doubles fused(double a, doubles b, doubles c) {
    doubles d;
    for (int i = 0; i < LANES_64; i++) d[i] = __builtin_fma(a, b[i], c[i]);
    return d;
}
LW_INLINE doubles fused_pinned(double a, doubles b, doubles c, uint32_t how) {
    doubles d;
    for (int i = 0; i < LANES_64; i++) d[i] = lw_fma_f64(a, b[i], c[i], how);
    return d;
}
LW_INLINE bool has_nan(doubles a) {
    double sum = 0;
    for (int i = 0; i < LANES_64; i++) sum += a[i] * 0;
    return sum != 0 || sum != sum;
}

/* Which NaN comes out matters only where one does. */
static void fma_row(const lw_matrix_kind *kind, const any_double *a, const double *b, const any_double *c,
                    any_double *d, size_t columns) {
    for (size_t n = 0; n < columns; n += LANES_64) {
        const doubles old = c ? (doubles) * (const loose_doubles *)(c + n) : (doubles){0};
        doubles sum = old;
        if (kind->rounding == LW_FLOAT_RN)
            for (size_t k = 0; k < kind->k; k++)
                sum = fused(a[k], *(const loose_doubles *)(b + k * MOST_COLUMNS + n), sum);
        if (kind->rounding != LW_FLOAT_RN || has_nan(sum)) {
            sum = old;
            for (size_t k = 0; k < kind->k; k++)
                sum = fused_pinned(a[k], *(const loose_doubles *)(b + k * MOST_COLUMNS + n), sum, kind->rounding);
        }
        *(loose_doubles *)(d + n) = sum;
    }
}

static void by_fma(const lw_matrix_kind *kind, const void *a, const void *b, const any_double *c, any_double *d) {
    _Alignas(64) double turned[MOST_COLUMNS * MOST_K];
    FOR_COLUMNS(kind, n, columns) FOR_ROWS(kind, m, rows) {
        lw_turn_64((lw_any64 *)turned, MOST_COLUMNS, (const lw_any64 *)lw_column_of_b(kind, b, m, n), columns, kind->k);
        for (size_t i = m; i < m + rows; i++) {
            const size_t at = i * kind->n + n;
            fma_row(kind, (const any_double *)lw_row_of_a(kind, a, i), turned, c ? c + at : NULL, d + at, columns);
        }
    }
}

/* ---- mma.m8n8k4 of f16 ------------------------------------------------------------------------------------------ */

enum { FOUR = 4 };

static void sums_row(bool half, const float a[FOUR], const float *b, const float *c, float *d, size_t columns) {
    for (size_t n = 0; n < columns; n++) {
        float p[FOUR];
        for (size_t k = 0; k < FOUR; k++) p[k] = a[k] * b[k * MOST_COLUMNS + n];
        const float in_pairs = (c[n] + (p[0] + p[1])) + (p[2] + p[3]);
        const float in_order = (((0.0f + p[0]) + p[1]) + p[2]) + p[3] + c[n];
        d[n] = lw_pin_f32_(half ? in_pairs : in_order);
    }
}

static void by_sums(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    const size_t c_bytes = lw_matrix_bytes(kind->c_type, 1), d_bytes = lw_matrix_bytes(kind->d_type, 1);
    const bool half = kind->d_type == LW_MATRIX_f16;
    float row[FOUR], columns_of_b[FOUR * MOST_COLUMNS], old[MOST_COLUMNS], sums[MOST_COLUMNS];
    uint16_t turned[FOUR * MOST_COLUMNS], halves[MOST_COLUMNS];
    FOR_COLUMNS(kind, n, columns) FOR_ROWS(kind, m, rows) {
        lw_turn_16(turned, MOST_COLUMNS, (const lw_any16 *)lw_column_of_b(kind, b, m, n), columns, FOUR);
        lw_widen_halves((lw_any32 *)columns_of_b, turned, FOUR * MOST_COLUMNS);
        for (size_t i = m; i < m + rows; i++) {
            const size_t at = i * kind->n + n;
            const char *c_at = (const char *)c + c_bytes * at;
            lw_widen_halves((lw_any32 *)row, (const lw_any16 *)lw_row_of_a(kind, a, i), FOUR);
            if (!c) memset(old, 0, sizeof old);
            else if (kind->c_type == LW_MATRIX_f16) lw_widen_halves((lw_any32 *)old, (const lw_any16 *)c_at, columns);
            else memcpy(old, c_at, 4 * columns);
            sums_row(half, row, columns_of_b, old, sums, columns);
            if (half) lw_narrow_halves(halves, (const lw_any32 *)sums, columns);
            memcpy((char *)d + d_bytes * at, half ? (void *)halves : (void *)sums, d_bytes * columns);
        }
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

bool LW_AT_LEVEL(lw_matrix_by_sums)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    const bool bits = kind->rule == LW_MATRIX_bits;
    if (bits ? kind->k % 64 : kind->k > MOST_K || (kind->saturate && kind->rule != LW_MATRIX_integer)) return false;
    switch ((lw_matrix_rule)kind->rule) {
    case LW_MATRIX_integer: by_integers(kind, a, b, c, d); return true;
    case LW_MATRIX_bits: by_bits(kind, a, b, c, d); return true;
    case LW_MATRIX_fma: by_fma(kind, a, b, c, d); return true;
    case LW_MATRIX_sums: by_sums(kind, a, b, c, d); return true;
    default: return false;
    }
}
