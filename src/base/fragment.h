/* fragment.h: who holds which element of a matrix that a warp has in its registers: the rows of isa/ptx/fragments.def.
 */
#ifndef LW_FRAGMENT_H
#define LW_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lw_element {
    LW_ELEMENT_none,
#define ELEMENT(name, bits) LW_ELEMENT_##name,
#include "ptx/elements.def"
    LW_ELEMENT_count
} lw_element;
typedef struct lw_element_row {
    const char *name;
    uint8_t bits;
} lw_element_row;
extern const lw_element_row lw_elements[LW_ELEMENT_count];

typedef enum lw_fragment_kind {
    LW_FRAGMENT_MMA,
    LW_FRAGMENT_QUAD,
    LW_FRAGMENT_WMMA,
    LW_FRAGMENT_WGMMA,
    LW_FRAGMENT_LDMATRIX
} lw_fragment_kind;
typedef enum lw_matrix_operand {
    LW_MATRIX_A,
    LW_MATRIX_B,
    LW_MATRIX_C,
    LW_MATRIX_E,
    LW_MATRIX_SA,
    LW_MATRIX_SB
} lw_matrix_operand;
typedef enum lw_matrix_layout { LW_LAYOUT_row, LW_LAYOUT_column } lw_matrix_layout;

/* What a bit of a row's or column's number is; LW_BIT_end: there are no more. */
typedef enum lw_bit {
    LW_BIT_end,
    LW_BIT_L0, /* of the lane */
    LW_BIT_R0 = LW_BIT_L0 + 5,
    LW_BIT_E0 = LW_BIT_R0 + 7,
    LW_BIT_W0 = LW_BIT_E0 + 5,
    LW_BIT_E = LW_BIT_W0 + 2, /* all of the element */
} lw_bit;

typedef struct lw_fragment {
    uint8_t kind, operand;
    uint8_t bits, layout, m, n, k; /* that it is for; 0: any */
    uint8_t rows[8], columns[9], sets[3];
} lw_fragment;

/* a * b has m rows and n columns, each the sum of k products. */
typedef struct lw_matrix_shape {
    uint16_t m, n, k;
} lw_matrix_shape;

enum {
#define FRAGMENT(...) +1
    LW_FRAGMENTS = 0
#include "ptx/fragments.def"
};
extern const lw_fragment lw_fragments[LW_FRAGMENTS];

/* The row for an operand; its number in lw_fragments. LW_FRAGMENTS: there is none. */
uint32_t lw_fragment_find(lw_fragment_kind kind, lw_matrix_shape shape, lw_matrix_operand operand, uint32_t bits,
                          lw_matrix_layout layout);

typedef struct lw_fragment_place {
    uint32_t row, column, set;
} lw_fragment_place;
/* Where an element stands: of a lane (of four warps: 0 to 127), of a register among the operand's, and of a register's
 * elements, of which each has `bits` bits. */
lw_fragment_place lw_fragment_at(const lw_fragment *fragment, uint32_t bits, uint32_t lane, uint32_t reg,
                                 uint32_t element);

static inline uint32_t lw_log2(uint32_t n) { return 31 - (uint32_t)__builtin_clz(n); } /* rounded down; n is not 0 */

/* Elements of so many bits in a register: one has 32 bits, or those of the element. */
static inline uint32_t lw_fragment_elements(uint32_t bits) { return bits < 32 ? 32 / bits : 1; }

/* Where elements are in an array: each bit of their numbers adds to the place. */
typedef struct lw_fragment_map {
    uint16_t lane[7], reg[7], element[5]; /* the last two of lanes: of the warp among four */
} lw_fragment_map;
/* … from row to row, column to column and matrix to matrix so far as these numbers say. */
lw_fragment_map lw_fragment_map_of(const lw_fragment *fragment, uint32_t bits, lw_fragment_place strides);
/* What the bits of one of the numbers add. */
static inline uint32_t lw_fragment_sum(const uint16_t *weights, uint32_t number) {
    uint32_t at = 0;
    for (; number; number &= number - 1) at += weights[__builtin_ctz(number)];
    return at;
}

#endif
