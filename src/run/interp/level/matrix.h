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

/* ---- Columns of b, which lie in rows, side by side: to[k][column] = from[column][k]
 * ------------------------------------ */

typedef uint16_t lw_row_of_eight __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint32_t lw_row_of_four __attribute__((vector_size(16), aligned(4), may_alias));

#define LW_LOW_16(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define LW_HIGH_16(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LW_LOW_32(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define LW_HIGH_32(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

/* A square. Interleaving the rows of the two halves of a square with each other, as often as its side is a power of
 * two, turns it. */
LW_INLINE void lw_turn_eight(lw_any16 *to, size_t stride, const lw_any16 *from, size_t row) {
    lw_row_of_eight x[8], y[8];
    for (int i = 0; i < 8; i++) x[i] = *(const lw_row_of_eight *)(from + i * row);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) y[2 * i] = LW_LOW_16(x[i], x[i + 4]), y[2 * i + 1] = LW_HIGH_16(x[i], x[i + 4]);
        for (int i = 0; i < 8; i++) x[i] = y[i];
    }
    for (int i = 0; i < 8; i++) *(lw_row_of_eight *)(to + i * stride) = x[i];
}
LW_INLINE void lw_turn_four(lw_any32 *to, size_t stride, const lw_any32 *from, size_t row) {
    lw_row_of_four x[4], y[4];
    for (int i = 0; i < 4; i++) x[i] = *(const lw_row_of_four *)(from + i * row);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) y[2 * i] = LW_LOW_32(x[i], x[i + 2]), y[2 * i + 1] = LW_HIGH_32(x[i], x[i + 2]);
        for (int i = 0; i < 4; i++) x[i] = y[i];
    }
    for (int i = 0; i < 4; i++) *(lw_row_of_four *)(to + i * stride) = x[i];
}

/* columns: a multiple of 8; count: of k, a multiple of 4; stride: elements from one k to the next. */
static inline void lw_turn_16(lw_any16 *to, size_t stride, const lw_any16 *from, size_t columns, size_t count) {
    for (size_t n = 0; n < columns; n += 8) {
        size_t k = 0;
        for (; k + 8 <= count; k += 8) lw_turn_eight(to + k * stride + n, stride, from + n * count + k, count);
        for (; k < count; k++)
            for (size_t i = n; i < n + 8; i++) to[k * stride + i] = from[i * count + k];
    }
}
static inline void lw_turn_32(lw_any32 *to, size_t stride, const lw_any32 *from, size_t columns, size_t count) {
    for (size_t n = 0; n < columns; n += 4)
        for (size_t k = 0; k < count; k += 4) lw_turn_four(to + k * stride + n, stride, from + n * count + k, count);
}
static inline void lw_turn_64(lw_any64 *to, size_t stride, const lw_any64 *from, size_t columns, size_t count) {
    for (size_t n = 0; n < columns; n++)
        for (size_t k = 0; k < count; k++) to[k * stride + n] = from[n * count + k];
}

/* False: it is nothing for vectors, and nothing was done. By blocks and pairs … */
bool LW_AT_LEVEL(lw_matrix_by_blocks)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d);
/* … and by the other rules. */
bool LW_AT_LEVEL(lw_matrix_by_sums)(const lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d);

#endif
