/* pto.h: from a checked PTO function to operations. What is common to all instruction sets is in lower.h.
 *
 * One element of a vector register is one lane, one repeat of the function a CTA of as many threads as the widest
 * register has elements. Scalars are values that all lanes share, masks predicates. An 8-bit element lies in the low
 * half of a 16-bit slot, and what is above it is anything: who depends on it narrows first. docs/decisions/0007 says
 * why. */
#ifndef LW_LOWER_PTO_H
#define LW_LOWER_PTO_H

#include "front/pto/pto.h"
#include "middle/lower.h"

/* What the page of an operation leaves to the target. */
typedef enum lw_pto_inactive { /* lanes of a result that a mask leaves out */
#define INACTIVE(name, word) LW_PTO_INACTIVE_##name,
#include "pto/choices.def"
} lw_pto_inactive;
typedef enum lw_pto_overflow { /* shift counts >= the width */
#define OVERFLOW(name, word) LW_PTO_OVERFLOW_##name,
#include "pto/choices.def"
} lw_pto_overflow;
/* Their words, with a NULL behind the last. */
extern const char *const lw_pto_inactive_words[], *const lw_pto_overflow_words[];
typedef struct lw_pto_choices {
    lw_pto_inactive inactive;
    lw_pto_overflow overflow;
    bool counts_regions; /* launches note how often each region ran (LW5107) */
} lw_pto_choices;
#define LW_PTO_POISON 0xa5a5a5a5a5a5a5a5ull

/* Parameters: the arguments in order (scalars by value; memrefs, registers and masks as addresses of arrays, masks of
 * one byte a lane), the addresses of where the results go, and with program->vector.repeats a u64: the number of
 * elements. */
typedef struct lw_pto_param {
    uint32_t offset, size; /* bytes, in the parameter buffer */
} lw_pto_param;
/* The parameters of a function: arguments, results and, where either is a register or mask, the number of elements.
 * Returns how many. */
uint32_t lw_pto_params(lw_arena *arena, const lw_pto_function *function, lw_pto_param **params);

/* Lowers a function of a checked module. Faults (not executable, too large) go to diags; NULL then. Leaves through the
 * arena when memory runs out. */
lw_program *lw_lower_pto(lw_arena *arena, const lw_pto_module *module, const lw_pto_function *function,
                         lw_pto_choices choices, lw_diags *diags);

/* ---- State --------------------------------------------------------------------------------------------------- */

typedef struct lw_pto_width { /* lanes of a register narrower than the widest */
    uint32_t lanes, inside;   /* predicate: the lane is one of them */
} lw_pto_width;

typedef struct lw_pto_lower {
    lw_lower *l;
    const lw_pto_function *function;
    lw_pto_choices choices;
    uint32_t *values; /* by value number: its virtual register, LW_NO_SLOT before the first definition */
    lw_pto_param *params;
    uint32_t lanes;        /* of the widest register */
    bool repeats, flat;    /* lw_program_vector has them */
    bool stores;           /* there is a vstore */
    uint32_t lane, lane64; /* u32, u64: number within the register */
    uint32_t leader;       /* predicate: the first lane of the register; only where regions are counted */
    LW_LIST(lw_pto_width) widths;
    bool wide;           /* more lanes than a gang: accesses of memory by other lanes must be waited for … */
    bool loaded, stored; /* … where the memory was accessed since all lanes last waited */
} lw_pto_lower;

/* ---- pto.c -------------------------------------------------------------------------------------------------- */

lw_class lw_pto_class(const lw_pto_type *type);
uint32_t lw_pto_read(lw_pto_lower *p, const lw_pto_value *value);
/* The register that a definition of a value goes to: of a RESULT always the same one, too. */
uint32_t lw_pto_write(lw_pto_lower *p, const lw_pto_value *value);
void lw_pto_set_constant(lw_pto_lower *p, const lw_pto_value *value, uint64_t bits);
const lw_pto_width *lw_pto_width_of(const lw_pto_lower *p, uint32_t lanes);
bool lw_pto_is_constant(const lw_pto_lower *p, uint32_t v, uint64_t *bits);
uint32_t lw_pto_and(lw_pto_lower *p, uint32_t a, uint32_t b); /* of predicates */
uint32_t lw_pto_not(lw_pto_lower *p, uint32_t a);

/* ---- pto_scalar.c ------------------------------------------------------------------------------------------- */

/* Which lane function an operation is for an element: LW_LANE_none where there is none. */
lw_lane_id lw_pto_lane(lw_pto_op_id id, uint32_t bits, bool is_signed);
typedef enum lw_pto_order { LW_PTO_EQ, LW_PTO_NE, LW_PTO_LT, LW_PTO_LE, LW_PTO_GT, LW_PTO_GE } lw_pto_order;
uint32_t lw_pto_compare(lw_pto_lower *p, lw_pto_order order, uint32_t bits, bool is_signed, uint32_t a, uint32_t b);
void lw_pto_scalar_op(lw_pto_lower *p, const lw_pto_op *op);
/* The launch traps where the predicate is true, which is the same for all lanes. */
void lw_pto_trap_if(lw_pto_lower *p, uint32_t predicate, lw_trap_reason reason);

/* ---- pto_vector.c ------------------------------------------------------------------------------------------- */

void lw_pto_vector_op(lw_pto_lower *p, const lw_pto_op *op);
/* A row of an array is loaded or stored in the lanes of `inside`: `row` has code, d, a, b, flags, imm. */
void lw_pto_move_row(lw_pto_lower *p, lw_op row, uint32_t bytes, bool is_signed, uint32_t inside);

#endif
