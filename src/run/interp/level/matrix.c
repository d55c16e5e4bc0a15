/* matrix.c: products of matrices (run/interp/matrix.h), compiled once for each CPU level. */
#include "run/interp/level/level.h"
#include "run/interp/matrix.h"

/* An element of a tile, and its place. */
static uint64_t element_at(const void *tile, size_t bytes, size_t at) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)tile + bytes * at, bytes);
    return bits;
}
static void put_element(void *tile, size_t bytes, size_t at, uint64_t bits) {
    memcpy((char *)tile + bytes * at, &bits, bytes);
}

/* Element by element. */
static void multiply_plainly(const lw_matrix_kind *kind, const char *a, const char *b, const void *c, void *d) {
    const size_t a_bytes = lw_matrix_bytes(kind->a_type, kind->k), b_bytes = lw_matrix_bytes(kind->b_type, kind->k),
                 c_bytes = lw_matrix_bytes(kind->c_type, 1), d_bytes = lw_matrix_bytes(kind->d_type, 1);
    for (size_t m = 0; m < kind->m; m++)
        for (size_t n = 0; n < kind->n; n++) {
            const size_t at = m * kind->n + n;
            const uint64_t old = c ? element_at(c, c_bytes, at) : 0;
            const char *column = b + b_bytes * (kind->b_per_row ? at : n);
            put_element(d, d_bytes, at, lw_matrix_element(kind, a + a_bytes * m, column, old));
        }
}

void LW_AT_LEVEL(lw_matrix_multiply)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d) {
    multiply_plainly(kind, a, b, c, d);
}
