/* shape.h: what a register has in the lanes of a warp, as far as that is known, and what sums, products and operations
 * on bits make of it. It knows nothing of programs, nor of LLVM. */
#ifndef LW_SHAPE_H
#define LW_SHAPE_H

#include "run/jit/jit.h"

enum { LW_RUN_LEAST = 3, LW_STRAND_RUNS = 1 << (LW_WARP_BITS - LW_RUN_LEAST) };

static inline uint64_t lw_ones_of(uint32_t bits) { return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX; }
static inline uint32_t lw_length_of(uint64_t value) { return value ? 64 - (uint32_t)__builtin_clzll(value) : 0; }

/* Anything, or a row: base + step[0] * (bit 0 of the lane's number) + step[1] * (bit 1) + …, in the element's width.
 * Where it is not known how the higher bits count each run of 1 << run lanes has a base of its own, and the steps from
 * there on are 0. */
typedef struct lw_shape {
    enum { LW_SHAPE_unseen, LW_SHAPE_row, LW_SHAPE_any } kind;
    uint32_t bits;        /* of an element: 1, 16, 32 or 64 */
    uint32_t run;         /* LW_RUN_LEAST to LW_WARP_BITS */
    uint64_t zeros, ones; /* bits that are so in all bases; zeros has those above `bits`, too */
    int32_t step[LW_WARP_BITS];
    uint32_t losses; /* how often less of it has become known */
} lw_shape;

lw_shape lw_shape_any(uint32_t bits);
lw_shape lw_shape_alike_in(uint32_t bits,
                           uint32_t run); /* all lanes of each run have the same; nothing else is known */
lw_shape lw_shape_of_number(uint32_t bits, uint64_t value);
/* All lanes have the same number, which is known: as it is, and as a signed one. */
bool lw_shape_is_number(const lw_shape *a, uint64_t *value);
bool lw_shape_is_signed_number(const lw_shape *a, int64_t *value);
lw_shape lw_shape_below(lw_shape a, uint32_t bits); /* of which bases are below 1 << bits */
/* In runs of how many lanes (1 << …) a row has the same for all of them. */
static inline uint32_t lw_shape_alike(const lw_shape *shape) {
    uint32_t bits = 0;
    while (bits < shape->run && !shape->step[bits]) bits++;
    return bits;
}
/* How much a lane's element is above the base of its run; the least and the most in a run of 1 << run lanes. */
int64_t lw_shape_above(const lw_shape *shape, uint32_t lane);
void lw_shape_span(const lw_shape *shape, uint32_t run, int64_t *least, int64_t *most);
/* What is known of any lane's element, as of a row that is the same in all. */
lw_shape lw_shape_of_each(const lw_shape *a);
/* The same in runs of no more than 1 << run lanes. */
lw_shape lw_shape_within(const lw_shape *a, uint32_t run);
/* What both are. */
lw_shape lw_shape_meet(const lw_shape *a, const lw_shape *b);
/* Nothing is known of its bases any more above the lowest bit that is not known. */
void lw_shape_forget_high_bits(lw_shape *a);
/* No lane of a run of 1 << run lanes wraps: all have base + steps as numbers, signed or not. */
bool lw_shape_is_exact(const lw_shape *a, uint32_t run);

/* ---- What is made of rows: in the longest runs of both that these rules say something of ------------------------- */

lw_shape lw_shape_sum(const lw_shape *a, const lw_shape *b);
lw_shape lw_shape_difference(const lw_shape *a, const lw_shape *b);
lw_shape lw_shape_product(const lw_shape *a, const lw_shape *b);
/* Wider, as what does not wrap. */
lw_shape lw_shape_widened(const lw_shape *a, uint32_t bits, bool is_signed);

/* For each bit of a result, of which bits of three operands it is which function: table has the result for a, b, c =
 * bits 2, 1, 0 of the place in it, as lop3 has; at: the place in the operand, or LW_NO_BIT. */
enum { LW_NO_BIT = 0xff, LW_TABLE_A = 0xf0, LW_TABLE_B = 0xcc, LW_TABLE_C = 0xaa };
typedef struct lw_bit_map {
    uint32_t bits;
    struct lw_bit_rule {
        uint8_t table, at[3];
    } rule[64];
} lw_bit_map;
lw_bit_map lw_bit_map_zero(uint32_t bits);
lw_bit_map lw_bit_map_each(uint32_t bits, uint8_t table); /* bit by bit */
/* Some bits from place `to` on are those of operand 0, 1 or 2 from place `from` on; or all of them that one. */
void lw_bit_map_copy(lw_bit_map *map, uint32_t to, uint32_t count, uint32_t operand, uint32_t from);
void lw_bit_map_spread(lw_bit_map *map, uint32_t to, uint32_t count, uint32_t operand, uint32_t from);
lw_shape lw_shape_mapped(const lw_bit_map *map, const lw_shape *const operands[3]);

/* ---- shape_lane.c ------------------------------------------------------------------------------------------------ */

/* What a lane function gives, an element of so many bits, for operands that are rows all. checked: where it makes
 * narrow numbers wider somebody sees to it that these do not wrap. */
enum { LW_SHAPE_OPERANDS = 4 };
lw_shape lw_shape_of_lane(uint32_t lane, uint32_t bits, const lw_shape operands[LW_SHAPE_OPERANDS], bool checked);
/* One of two that are rows alike. */
lw_shape lw_shape_of_choice(const lw_shape *a, const lw_shape *b);
/* A lane function that makes a and b, of 32 bits, wider and does the rest in 64. */
bool lw_lane_widens(uint32_t lane, bool *is_signed);

#endif
