/* matrix.h: what an operation `mma` computes: it lies among the constants of its code. */
#ifndef LW_MIDDLE_MATRIX_H
#define LW_MIDDLE_MATRIX_H

#include "base/fragment.h"
#include "middle/program.h"

/* The registers of an operation `mma` are listed in this order: those that are written, then those that are read. E is
 * the metadata of a sparse a. */
enum { LW_MMA_D, LW_MMA_A, LW_MMA_B, LW_MMA_C, LW_MMA_E, LW_MMA_OPERANDS };

typedef struct lw_matrix_form {
    uint16_t m, n, k; /* k of b: a sparse a has half as many */
    uint16_t sets;    /* products at a time, each of lanes of its own */
    uint8_t kind;     /* lw_fragment_kind */
    uint8_t selector; /* of a sparse a: which lanes have the metadata */
    bool exclusive;   /* of b1: the product is an exclusive or */
    struct {
        uint8_t element;     /* lw_element; of metadata none */
        uint8_t bits;        /* that it has in a register */
        uint8_t registers;   /* of each lane; 0: there is no such operand */
        lw_fragment_map map; /* elements of a as a[set][m][k], of b as b[set][n][k], of c and d as c[set][m][n], of
                                metadata as e[selector][m][nibble] */
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

#endif
