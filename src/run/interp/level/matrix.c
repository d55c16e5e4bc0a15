/* matrix.c: products of matrices (run/interp/matrix.h), compiled once for each CPU level. */
#include "run/interp/level/matrix.h"

/* Element by element. */
static void multiply_plainly(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    const size_t c_bytes = lw_matrix_bytes(kind->c_type, 1), d_bytes = lw_matrix_bytes(kind->d_type, 1);
    lw_matrix_scales scales = {0};
    lw_matrix_kind one = *kind;
    for (size_t m = 0; m < kind->m; m++)
        for (size_t n = 0; n < kind->n; n++) {
            const size_t at = m * kind->n + n;
            const char *row = lw_row_of_a(kind, a, m), *column = lw_column_of_b(kind, b, m, n);
            if (kind->scales) {
                const size_t runs = kind->k / kind->scales->each;
                scales = *kind->scales;
                scales.a += m * runs;
                scales.b += n * runs;
                one.scales = &scales;
            }
            const uint64_t old = c ? lw_element_at(c, c_bytes, at) : 0;
            lw_element_put(d, d_bytes, at, lw_matrix_element(&one, row, column, old));
        }
}

void LW_AT_LEVEL(lw_matrix_multiply)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    bool done = false;
    switch ((lw_matrix_rule)kind->rule) {
    case LW_MATRIX_block:
    case LW_MATRIX_pairs: done = LW_AT_LEVEL(lw_matrix_by_blocks)(kind, a, b, c, d); break;
    default: done = LW_AT_LEVEL(lw_matrix_by_sums)(kind, a, b, c, d);
    }
    if (!done) multiply_plainly(kind, a, b, c, d);
}
