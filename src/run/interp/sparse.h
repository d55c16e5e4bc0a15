/* sparse.h: elements of matrices, and those of a sparse one: mma.c, wgmma.c. */
#ifndef LW_SPARSE_H
#define LW_SPARSE_H

#include "base/fragment.h"
#include "run/interp/matrix.h"

/* By lw_element: the lw_matrix_type that products take it as. */
extern const uint8_t lw_matrix_type_of[LW_ELEMENT_count];

/* Which element of a column of B the stored element k of a row goes with. Each field of two bits selects by itself, so
 * that fields which the manual leaves undefined select, too. Of 4 bits, two elements move together. */
static inline uint32_t lw_sparse_place(const uint8_t *nibbles, uint32_t bits, uint32_t k) {
    if (bits == 4) return 8 * (k / 4) + 2 * (nibbles[k / 4] >> 2 * (k / 2 % 2) & 3) + k % 2;
    return 4 * (k / 2) + (nibbles[k / 2] >> 2 * (k % 2) & 3);
}

/* The same of elements of 32 bits: the fields say which of four halves become the low and the high one. */
static inline uint32_t lw_sparse_word(uint32_t nibble, const char *pair) {
    uint16_t halves[4];
    memcpy(halves, pair, sizeof halves);
    return halves[nibble & 3] | (uint32_t)halves[nibble >> 2] << 16;
}

/* The element of a column that goes with stored element k; of 4 bits it has a byte. */
static inline void lw_sparse_element(const uint8_t *nibbles, uint32_t bits, uint32_t k, const char *column, char *to) {
    const uint32_t word = bits == 32 ? lw_sparse_word(nibbles[k], column + 8 * k) : 0;
    if (bits == 32) memcpy(to, &word, sizeof word);
    else if (bits == 16) memcpy(to, column + 2 * lw_sparse_place(nibbles, bits, k), 2);
    else *to = column[lw_sparse_place(nibbles, bits, k)];
}

#endif
