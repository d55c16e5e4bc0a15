/* held.h: the matrices that a warp, or a warpgroup, holds in the operands of an instruction, by its spelling. */
#ifndef LW_MIDDLE_HELD_H
#define LW_MIDDLE_HELD_H

#include "base/fragment.h"
#include "front/ptx/ptx.h"

typedef struct lw_held {
    const lw_fragment *fragment; /* who holds which element */
    uint8_t operand;             /* of the instruction, and of its operand forms */
    uint8_t is;                  /* lw_matrix_operand */
    uint8_t element;             /* lw_element; none: metadata, or what has no type */
    uint8_t bits;                /* of an element in its register */
    uint8_t registers;           /* of each lane */
    uint16_t rows, columns;      /* of a, which is sparse, what is stored; of metadata, nibbles */
    uint16_t sets;               /* how many matrices of that size; of metadata and scale factors one counts */
} lw_held;
enum { LW_HELD_MOST = 7 };

/* Those of a spelling, in the order of its operands; how many there are: none for what holds no matrix, or is not
 * executed. `kind`, where it is not NULL, gets the kind of its fragments. */
uint32_t lw_matrices_held(const lw_match *match, lw_held held[LW_HELD_MOST], lw_fragment_kind *kind);

#endif
