/* matrix.h: what operations on matrices compute: of `mma` it lies among the constants of its code. */
#ifndef LW_MIDDLE_MATRIX_H
#define LW_MIDDLE_MATRIX_H

#include "base/fragment.h"
#include "middle/program.h"

/* The registers of an operation `mma` are listed in this order: those that are written, then those that are read. E is
 * the metadata of a sparse a, SA and SB are scale factors; behind these stands one register with their selectors. */
enum { LW_MMA_D, LW_MMA_A, LW_MMA_B, LW_MMA_C, LW_MMA_E, LW_MMA_SA, LW_MMA_SB, LW_MMA_OPERANDS };

/* Selectors in a word, which the lanes of a warp have in common: byte and thread of SA, byte and thread of SB. */
enum { LW_SCALE_SELECTORS = 4, LW_SCALE_BITS = 8 };
typedef struct lw_scale_selector {
    uint8_t byte, thread; /* the first factor's within its word; which of those of a quad have the words */
} lw_scale_selector;
static inline lw_scale_selector lw_scale_selector_of(uint32_t selectors, bool of_b) {
    const uint32_t own = selectors >> (of_b ? 2 * LW_SCALE_BITS : 0);
    return (lw_scale_selector){(uint8_t)own, (uint8_t)(own >> LW_SCALE_BITS)};
}
/* Do they name factors that there are? scales: of a row or column. */
static inline bool lw_scale_selectors_fit(uint32_t selectors, uint32_t scales) {
    const lw_scale_selector a = lw_scale_selector_of(selectors, false), b = lw_scale_selector_of(selectors, true);
    return a.thread < 2 && b.thread < 4 && a.byte < 4 && b.byte < 4 && (a.byte | b.byte) % scales == 0;
}

typedef struct lw_matrix_form {
    uint16_t m, n, k; /* k of b: a sparse a has half as many */
    uint16_t sets;    /* products at a time, each of lanes of its own */
    uint8_t kind;     /* lw_fragment_kind */
    uint8_t selector; /* of a sparse a: which lanes have the metadata */
    bool exclusive;   /* of b1: the product is an exclusive or */
    bool of_kind;     /* .kind: the rule is not that of instructions without it */
    uint8_t scales;   /* scale factors of a row of a, and of a column of b; 0: none */
    struct {
        uint8_t element;     /* lw_element; of metadata none */
        uint8_t bits;        /* that it has in a register: e2m1 that has a byte is in the middle of it */
        uint8_t registers;   /* of each lane; 0: there is no such operand */
        lw_fragment_map map; /* elements of a as a[set][m][k], of b as b[set][n][k], of c and d as c[set][m][n], of
                                metadata as e[selector][m][nibble], scale factors as sa[thread][m][byte] and
                                sb[thread][n][byte] */
    } of[LW_MMA_OPERANDS];
    uint32_t how;                            /* LW_FLOAT_…: rounding, FINITE */
} __attribute__((may_alias)) lw_matrix_form; /* lies among constants of 64 bits */
enum { LW_MATRIX_CONSTANTS = (sizeof(lw_matrix_form) + 7) / 8 };

static inline const lw_matrix_form *lw_matrix_form_of(const lw_code *code, const lw_op *op) {
    return (const lw_matrix_form *)(const void *)(code->constants + op->imm);
}
/* Of a sparse a: how many nibbles of metadata a row has. */
static inline uint32_t lw_matrix_nibbles(const lw_matrix_form *form) {
    const uint32_t bits = form->of[LW_MMA_A].bits;
    return bits == 32 ? form->k / 2 : bits == 4 ? form->k / 8 : form->k / 4;
}

/* How `ldmatrix` and `stmatrix` move a matrix: flags. */
enum {
    LW_MOVE_COLUMNS = 1, /* .trans: lines of 16 bytes become columns */
    LW_MOVE_BYTES = 2,   /* … of bytes: two registers for 16 lines, or, stored, one for 8 */
    LW_MOVE_OF_6 =
        4, /* elements have 6 bits in memory, 16 of them in the first 12 bytes of a line, and bytes in registers */
    LW_MOVE_OF_4 = 8, /* the same of 4 bits, in the first 8 */
};

#endif
