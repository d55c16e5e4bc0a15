/* matrix.h: what the files of products of matrices share, of one CPU level. */
#ifndef LW_LEVEL_MATRIX_H
#define LW_LEVEL_MATRIX_H

#include "run/interp/level/level.h"
#include "run/interp/matrix.h"

typedef float lw_any_float __attribute__((may_alias));

/* Elements, and their bits as numbers. */
static inline uint64_t lw_element_at(const void *tile, size_t bytes, size_t at) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)tile + bytes * at, bytes);
    return bits;
}
static inline void lw_element_put(void *tile, size_t bytes, size_t at, uint64_t bits) {
    memcpy((char *)tile + bytes * at, &bits, bytes);
}

/* Where operands of an element of d begin. */
static inline const char *lw_row_of_a(const lw_matrix_kind *kind, const void *a, size_t m) {
    return (const char *)a + lw_matrix_bytes(kind->a_type, kind->k) * m;
}
static inline const char *lw_column_of_b(const lw_matrix_kind *kind, const void *b, size_t m, size_t n) {
    return (const char *)b + lw_matrix_bytes(kind->b_type, kind->k) * (kind->b_per_row ? m * kind->n + n : n);
}

/* to[k][column] = from[column][k], of `count` columns and k; `stride` elements from one k to the next. */
#define LW_TURN(bits) \
    static inline void lw_turn_##bits(lw_any##bits *restrict to, size_t stride, const lw_any##bits *restrict from, \
                                      size_t columns, size_t count) { \
        for (size_t n = 0; n < columns; n++) \
            for (size_t k = 0; k < count; k++) to[k * stride + n] = from[n * count + k]; \
    }
LW_TURN(16)
LW_TURN(32)
LW_TURN(64)
#undef LW_TURN

/* False: it is nothing for vectors, and nothing was done. By blocks and pairs … */
bool LW_AT_LEVEL(lw_matrix_by_blocks)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d);
/* … and by the other rules. */
bool LW_AT_LEVEL(lw_matrix_by_sums)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d);

#endif
