/* matrix.h: d = a * b + c of whole matrices, as the tensor cores of GPUs compute it: their rules of rounding, and no
 * other.   fragments of lanes → tiles → lw_matrix_multiply → a tile → fragments
 *
 * A tile is an array of elements without gaps: a[m][k], b[n][k] (each column of B a row), c[m][n], d[m][n]. Elements
 * are the bits of the operands, in the smallest of uint8_t … uint64_t that holds them: tf32 in uint32_t, 8 bits and
 * less in uint8_t, in its low bits where they are fewer. Integers of 4 bits come as s8 or u8. Of b1, k counts bits, and
 * 32 neighbours along k are one uint32_t. */
#ifndef LW_MATRIX_H
#define LW_MATRIX_H

#include "run/interp/interp.h"

/* What is computed of a[k], b[k] and c, and how it is rounded. Numbers are those of an H100 and an H200, where nothing
 * else is said. */
typedef enum lw_matrix_rule {
    /* Floating point. Each addend, products and c alike, is cut toward zero at `cut` bits below the largest exponent
     * among them; the sum of those is exact. An f32 result is the sum cut toward zero, one of f16 the sum rounded to
     * nearest. Products have the sum of the exponents of their factors, also where they are 2 or more. (Of e3m2, e2m3
     * and e2m1, which only later GPUs multiply, nothing is cut but of c.) `block` products at a time, the result of one
     * block being the c of the next. If c is f16 and d f32, c is converted first; if c is f32 and d f16, the f32 result
     * is converted, to nearest or, if `saturate`, toward zero. */
    LW_MATRIX_block,
    /* e4m3 and e5m2 of mma.sync: operands become f16; products with k % 4 of 0 and 1 are one block onto zero, those of
     * 2 and 3 a second one onto its result. That and c are added to nearest. */
    LW_MATRIX_pairs,
    /* mma.m8n8k4 of f16: sums of f32 to nearest. For d of f32 0 + p0 + p1 + p2 + p3 + c, for one of f16
     * (c + (p0 + p1)) + (p2 + p3), which is rounded once more. */
    LW_MATRIX_sums,
    LW_MATRIX_fma,     /* f64: fused multiply-adds onto c in the order of k, each rounded in `rounding` */
    LW_MATRIX_integer, /* s8, u8: exact, then wrapped or, if `saturate`, clamped */
    LW_MATRIX_bits,    /* b1: c plus the number of ones in a & b or, if `exclusive`, a ^ b */
} lw_matrix_rule;

typedef enum lw_matrix_type {
    LW_MATRIX_f16,
    LW_MATRIX_bf16,
    LW_MATRIX_tf32, /* the low 13 bits are ignored */
    LW_MATRIX_f32,
    LW_MATRIX_f64,
    LW_MATRIX_e4m3,
    LW_MATRIX_e5m2,
    LW_MATRIX_e3m2,
    LW_MATRIX_e2m3,
    LW_MATRIX_e2m1,
    LW_MATRIX_ue4m3, /* scale factors */
    LW_MATRIX_ue8m0,
    LW_MATRIX_s8,
    LW_MATRIX_u8,
    LW_MATRIX_b1,
    LW_MATRIX_s32,
    LW_MATRIX_TYPES
} lw_matrix_type;

/* Of LW_MATRIX_block: `cut`. The units that multiply f16, bf16 and tf32, and those of wgmma for e4m3 and e5m2, whose
 * f32 results have as many places. */
enum { LW_MATRIX_CUT = 25, LW_MATRIX_CUT_WGMMA_FP8 = 13 };

/* Factors of runs of elements, each of which is multiplied by that of its run; a[m][k / each], b[n][k / each]. Nobody
 * has seen what a GPU makes of them: exponents and places of a product are those of all four factors. */
typedef struct lw_matrix_scales {
    uint8_t type;  /* ue8m0, ue4m3 */
    uint16_t each; /* elements */
    const uint8_t *a, *b;
} lw_matrix_scales;

typedef struct lw_matrix_kind {
    uint8_t rule;                           /* enum lw_matrix_rule */
    uint8_t a_type, b_type, c_type, d_type; /* enum lw_matrix_type; block, pairs and sums: c and d are f16 or f32 */
    uint8_t rounding;                       /* fma: LW_FLOAT_RN, RZ, RM, RP */
    uint8_t cut;                            /* block */
    uint16_t m, n, k;                       /* n is a multiple of 8, k of 4; of bits, of 64 */
    uint16_t block;                         /* block: 0 for all products at once, or a divisor of k */
    bool b_per_row;                         /* sparse a: b is b[m][n][k], the elements that each row of a selects */
    bool negate_a, negate_b;                /* block: the sign of every element of a or b is inverted */
    bool saturate;                          /* integer; block, of an f32 c and an f16 d */
    bool exclusive;                         /* bits */
    const lw_matrix_scales *scales;         /* block, of an e2m1 … e5m2; NULL: none */
} lw_matrix_kind;

/* For each CPU level: level/matrix.c. Steps that are compiled once find that of their program's level in
 * program->multiply.
 *
 * a, b, c  tiles; c may be NULL: +0
 * d        the tile of the result; may be c, if their types are equally large */
#ifdef LW_LEVEL
lw_matrix_call LW_AT_LEVEL(lw_matrix_multiply);
#endif

/* One element of d, by the text of its rule: matrix.c. What the levels compute in vectors is the same, and what is rare
 * they ask for here.
 *
 * a, b     k elements; those of the scales are for them
 * c        bits of one
 * returns  bits of the result */
uint64_t lw_matrix_element(const lw_matrix_kind *kind, const void *a, const void *b, uint64_t c);

/* Bytes of k elements. */
static inline size_t lw_matrix_bytes(lw_matrix_type type, size_t k) {
    switch (type) {
    case LW_MATRIX_f64: return 8 * k;
    case LW_MATRIX_tf32:
    case LW_MATRIX_f32:
    case LW_MATRIX_s32: return 4 * k;
    case LW_MATRIX_f16:
    case LW_MATRIX_bf16: return 2 * k;
    case LW_MATRIX_b1: return k / 8;
    default: return k;
    }
}

#endif
