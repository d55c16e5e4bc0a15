/* lower.h: from a checked module to a program.   collect → build → fold → forget NaNs → fuse → allocate
 *
 * Between build and allocate the register fields of an operation hold virtual register numbers, one for each PTX register and each
 * intermediate value; constants are virtual registers too. Allocation puts slots in their place. */
#ifndef LW_LOWER_H
#define LW_LOWER_H

#include "front/ptx/ptx.h"
#include "middle/program.h"

typedef enum lw_class { LW_CLASS_pred, LW_CLASS_16, LW_CLASS_32, LW_CLASS_64 } lw_class; /* which slots hold it */

typedef struct lw_vreg {
    lw_class class : 8;
    bool is_const;        /* known value: never needs an operation */
    bool used_across;     /* live into some block: needs the data flow */
    bool needs_zero;      /* may be read before it is written */
    bool lone;            /* allocate: see find_lone */
    uint64_t value;
    uint32_t defs, uses;
    uint32_t global;      /* 1 + number among those used across blocks, 0 for none */
    uint32_t from, to;    /* allocate: first and last operation where it is live */
    uint32_t first_in, last_in; /* allocate: first and last block that it is live into */
    uint32_t slot;
    uint32_t block;       /* allocate: 1 + the region that last defined it, while walking */
} lw_vreg;

typedef struct lw_var_place { /* where a variable of a function or a shared variable lives */
    const lw_object *object;
    uint64_t offset;
} lw_var_place;

/* Virtual registers of neighbouring PTX registers lie together: names that are near each other in the text are near in number. */
enum { LW_PAGE_REGISTERS = 16 };
typedef struct lw_register_page {
    uint64_t key;                   /* what the numbers have in common */
    uint32_t slot;                  /* where the table of pages has it */
    uint32_t at[LW_PAGE_REGISTERS]; /* 1 + virtual register; 0: none yet */
} lw_register_page;

typedef struct lw_lower {
    lw_arena *arena;
    lw_module_ptx *module;
    lw_diags *diags;
    lw_program *program;
    bool failed;

    /* program-wide: shared variables by object */
    struct { const void **keys; uint64_t *values; uint32_t mask, count; } places;

    /* the function at hand */
    lw_function *function;
    lw_code *code;
    LW_LIST(lw_op) ops;
    LW_LIST(lw_place) op_places;
    LW_LIST(lw_vreg) vregs;
    LW_LIST(lw_block) blocks;
    LW_LIST(uint32_t) racy;   /* per block: memory operations that may wait for others */
    LW_LIST(uint32_t) lists;  /* vector operands: virtual registers */
    LW_LIST(uint32_t) targets;
    LW_LIST(lw_call) calls;
    LW_LIST(uint64_t) constants;
    LW_LIST(uint32_t) label_blocks; /* by label number, then made-up labels */
    LW_LIST(lw_register_page) pages;
    uint32_t *page_slots, page_mask; /* hash table: 1 + page by its key */
    uint32_t carry;           /* the condition code register CC.CF, LW_NO_SLOT until used */
    uint32_t local_bytes;
    lw_place place;           /* of the instruction at hand */
    bool open;                /* the current block can take operations */
} lw_lower;

/* ---- build.c: operations, blocks, virtual registers ------------------------------------------------------ */

uint32_t lw_lower_vreg(lw_lower *l, lw_class class);
uint32_t lw_lower_const(lw_lower *l, lw_class class, uint64_t value);
lw_op *lw_lower_op(lw_lower *l, uint16_t code);                                  /* all register fields LW_NO_SLOT */
uint32_t lw_lower_lane(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c); /* into a new virtual register */
void lw_lower_lane_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c);
void lw_lower_move(lw_lower *l, uint32_t d, uint32_t a);
uint32_t lw_lower_resize(lw_lower *l, uint32_t a, lw_class to, bool is_signed);
uint32_t lw_lower_label(lw_lower *l);                                            /* a new label, not placed yet */
void lw_lower_place_label(lw_lower *l, uint32_t label);                          /* here: starts a block unless one just did */
void lw_lower_new_block(lw_lower *l);
void lw_lower_note_racy(lw_lower *l);                                             /* in the current block: it may wait for others */
void lw_lower_error(lw_lower *l, const lw_instruction *i);                       /* not executable */
void lw_lower_note(lw_lower *l, lw_diag_id id, uint32_t predicate);                 /* launches count its lanes, at this instruction */
void lw_lower_may_note(lw_lower *l, lw_diag_id id);                                  /* the same, where steps find out themselves */
uint64_t lw_lower_var(lw_lower *l, const lw_object *object);                     /* offset of a local or shared variable */

/* ---- operand.c ------------------------------------------------------------------------------------------- */

void lw_lower_forget_registers(lw_lower *l);                                     /* before the next function */
lw_class lw_class_of(lw_type type);
uint32_t lw_class_bytes(lw_class class);                                         /* of an element in its slot; 0: a predicate, a bit */
uint32_t lw_lower_register(lw_lower *l, const lw_operand *operand);              /* of a NAME that is a register */
uint32_t lw_lower_read(lw_lower *l, const lw_operand *operand, lw_type type);    /* any source */
uint32_t lw_lower_read_pred(lw_lower *l, const lw_operand *operand);             /* negation applied */
uint32_t lw_lower_write(lw_lower *l, const lw_operand *operand, lw_type type);   /* destination; a sink gives a register nobody reads */
/* A .b128 register is two virtual registers of 64 bits: half 0 the low one. */
bool lw_lower_is_wide(const lw_operand *operand);
uint32_t lw_lower_half(lw_lower *l, const lw_operand *operand, uint32_t half);
/* Fills a, imm, c of a memory operation. False: diagnosed. */
bool lw_lower_address(lw_lower *l, lw_op *op, const lw_operand *operand, lw_space space, lw_memory_form *form);

/* ---- data.c, flow.c, video.c: one function a step ------------------------------------------------------------------ */

bool lw_has_word(const lw_instruction *i, const char *word);
typedef void lw_lower_step(lw_lower *l, const lw_instruction *i);
#define STEP(name) lw_lower_step lw_lower_##name;
#include "ptx/steps.def"
bool lw_step_ends_block(const lw_instruction *i); /* control flow and synchronisation: a guard becomes a branch around it */

/* ---- fold.c, nan.c, fuse.c, allocate.c ---------------------------------------------------------------------------- */

/* Which fields of an operation are read and written. */
enum { LW_FIELDS_MAX = 12 }; /* a vector of 8, its address and what else there may come to be */
typedef struct lw_fields {
    uint32_t *uses[LW_FIELDS_MAX], *defs[LW_FIELDS_MAX];
    uint32_t use_count, def_count;
} lw_fields;
void lw_op_fields(lw_lower *l, lw_op *op, lw_fields *fields);
bool lw_op_is_pure(const lw_op *op);
enum { LW_OP_DEAD = 0xffff };                     /* code of a removed operation */

void lw_fold(lw_lower *l);                        /* constants, copies, dead operations */
void lw_fuse(lw_lower *l);                        /* lop3, add3, rotates … */
void lw_forget_nans(lw_lower *l);                 /* cheaper float operations where nobody reads the bits of a NaN */
void lw_allocate(lw_lower *l);                    /* live ranges, slots, variants for constants, final arrays */

#endif
