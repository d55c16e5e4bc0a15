/* wgmma.h: what an operation `wgmma` computes: it lies among the constants of its code. */
#ifndef LW_MIDDLE_WGMMA_H
#define LW_MIDDLE_WGMMA_H

#include "base/fragment.h"
#include "middle/program.h"

/* The registers that an operation `wgmma` lists: those of d, which are written; then, read: a, in registers or a
 * descriptor, the descriptor of b, d again, and the metadata of a sparse a. A descriptor is a low and a high half. */
typedef struct lw_wgmma_form {
    uint16_t n, k;             /* k of b: a sparse a has half as many; m is 64 */
    uint8_t d, a, b;           /* lw_element */
    bool in_registers, sparse; /* of a */
    uint8_t selector;          /* of a sparse a: which lanes have the metadata */
    bool transposed_a, transposed_b, negate_a, negate_b, saturates;
    lw_fragment_map map_d, map_a, map_e;    /* of a warp: places in c[16][n], a[16][k], nibbles e[selector][16][…] */
} __attribute__((may_alias)) lw_wgmma_form; /* lies among constants of 64 bits */
enum { LW_WGMMA_CONSTANTS = (sizeof(lw_wgmma_form) + 7) / 8, LW_WGMMA_REGISTERS = 4 }; /* of a */

static inline const lw_wgmma_form *lw_wgmma_form_of(const lw_code *code, const lw_op *op) {
    return (const lw_wgmma_form *)(const void *)(code->constants + op->imm);
}
/* Nibbles of metadata that a row has. */
static inline uint32_t lw_wgmma_nibbles(const lw_wgmma_form *form) {
    return lw_elements[form->a].bits == 32 ? form->k / 2 : form->k / 4;
}

#endif
