/* ptx.h: from a checked PTX module to operations. What is common to all instruction sets is in lower.h. */
#ifndef LW_LOWER_PTX_H
#define LW_LOWER_PTX_H

#include "front/ptx/ptx.h"
#include "middle/lower.h"

/* Lowers a kernel and everything that it may call. Faults (not executable, too large) go to diags; NULL then. Leaves
 * through the arena when memory runs out.
 *
 * The session gives each module-scope variable its device address before, in lw_object.address. Function addresses are
 * LW_CODE_WINDOW + 16 * function number. */
/* Whether every function that is called or whose address is taken, and every variable, is defined: what a module lacks
 * goes to `diags`. Of a module that nothing is linked with, variables may hold the address of what is defined
 * nowhere. */
void lw_ptx_check_complete(const lw_module_ptx *module, lw_diags *diags, bool is_linked);
bool lw_ptx_has_no_body(const lw_object *object); /* a function that is defined nowhere */
/* The fault of calling one, or of taking its address. */
void lw_ptx_report_missing(lw_diags *diags, lw_place place, const lw_object *object, bool is_call);

lw_program *lw_lower_ptx(lw_arena *arena, lw_module_ptx *module, lw_function *kernel, lw_semantics semantics,
                         lw_diags *diags);

/* ---- State ----------------------------------------------------------------------------------------------- */

/* Virtual registers of neighbouring PTX registers lie together: names that are near each other in the text are near in
 * number. */
enum { LW_PAGE_REGISTERS = 16 };
typedef struct lw_register_page {
    uint64_t key;                   /* what the numbers have in common */
    uint32_t slot;                  /* where the table of pages has it */
    uint32_t at[LW_PAGE_REGISTERS]; /* 1 + virtual register; 0: none yet */
} lw_register_page;

typedef struct lw_missing { /* an instruction that cannot be executed */
    const lw_symbol *mnemonic;
    lw_place first;
    uint32_t count; /* places */
} lw_missing;

/* A .b128 register that an instruction with a narrower type writes: its halves, and the value that they get when the
 * instruction is done. */
typedef struct lw_wide_write {
    uint32_t halves[2], value;
    bool is_signed;
} lw_wide_write;

/* A register of the module that several functions may name; an element, where it is a vector. */
typedef struct lw_common_register {
    const lw_module_ptx *module; /* whose registers have this number */
    uint64_t number;
    lw_class class;
    uint32_t vreg; /* in the function at hand */
} lw_common_register;

typedef struct lw_lower_ptx_state {
    lw_module_ptx *module;
    bool alone;                          /* the kernel reaches no function */
    bool contracts;                      /* the function at hand: fma of products and sums without a rounding */
    LW_LIST(lw_common_register) common;  /* sorted; of a kernel that reaches functions */
    uint32_t common_bytes, common_align; /* of local memory at module scope */
    uint64_t open_bytes;                 /* the most that is handed over to a parameter of unknown size */
    /* program-wide: shared variables by object */
    struct {
        const void **keys;
        uint64_t *values;
        uint32_t mask, count;
    } places;

    LW_LIST(lw_missing) missing;
    uint32_t missing_places;

    /* the function at hand */
    lw_function *function;
    const lw_instruction *instruction; /* at hand */
    LW_LIST(lw_wide_write) wide_writes;
    LW_LIST(lw_register_page) pages;
    uint32_t *page_slots, page_mask; /* 1 + page by its key, in a hash table or, where all registers that are declared
                                        have room, by the key itself */
    bool few_registers;              /* they have */
    uint32_t stack;                  /* what alloca has taken; LW_NO_SLOT until used */
    uint32_t whole;                  /* 1 + the block where a warp is known to be together; 0: none */
    uint32_t matrix_form;            /* where the constants have the last one; LW_NO_SLOT: there is none */
    uint32_t carry;                  /* the condition code register CC.CF, LW_NO_SLOT until used */
} lw_lower_ptx_state;

/* ---- ptx.c ----------------------------------------------------------------------------------------------- */

void lw_lower_error(lw_lower *l, const lw_instruction *i);   /* not executable */
uint64_t lw_lower_var(lw_lower *l, const lw_object *object); /* offset of a local or shared variable */
uint32_t lw_lower_code_index(const lw_lower *l,
                             const lw_function *function); /* in the program, of a function that the kernel reaches */

/* Where the function at hand lists the labels of a table; false: not yet, and from now on at the list's end. */
bool lw_lower_table(lw_lower *l, const lw_object *table, uint32_t *first);

/* ---- common.c -------------------------------------------------------------------------------------------- */

/* What the functions of a kernel have in common, once they are known. */
void lw_lower_find_common(lw_lower *l, lw_function *const *functions, uint32_t count);
void lw_lower_begin_common(lw_lower *l, bool is_entry); /* in the function that begins */
uint32_t lw_lower_common_register(const lw_lower *l, uint64_t number);
/* Of all registers of the module, from and to those of the function at hand. Returns how many they are. */
uint32_t lw_lower_common_transfers(const lw_lower *l, lw_transfer *transfers);
/* The argument for a parameter of unknown size; NULL: there is none. */
const lw_operand *lw_lower_open_argument(const lw_function *shape, const lw_operand *arguments);

/* ---- operand.c ------------------------------------------------------------------------------------------- */

void lw_lower_begin_registers(lw_lower *l, const lw_function *function); /* of the next function */
lw_class lw_class_of(lw_type type);
uint32_t lw_lower_register(lw_lower *l, const lw_operand *operand);           /* of a NAME that is a register */
uint32_t lw_lower_read(lw_lower *l, const lw_operand *operand, lw_type type); /* any source */
uint32_t lw_lower_special(lw_lower *l, lw_special special);                   /* of 32 bits */
uint32_t lw_lower_read_pred(lw_lower *l, const lw_operand *operand);          /* negation applied */
uint32_t lw_lower_write(lw_lower *l, const lw_operand *operand,
                        lw_type type); /* destination; a sink gives a register nobody reads */
/* The instruction is executable, this operand is not. Returns some register; failed, diagnosed. */
uint32_t lw_lower_unsupported(lw_lower *l, const lw_operand *operand);
void lw_lower_too_few(lw_lower *l, const lw_operand *operand); /* has fewer elements than are needed */
/* Extends what the instruction at hand has put into wider registers. */
void lw_lower_end_writes(lw_lower *l);
/* A .b128 register is two virtual registers of 64 bits: half 0 the low one. */
bool lw_lower_is_wide(const lw_operand *operand);
/* How many values a formal parameter hands over, an element or a half of 128 bits each; and several of them. */
uint32_t lw_lower_parts(const lw_object *formal);
uint32_t lw_lower_transfers(lw_object *const *formals, uint32_t count);
/* A vector register named as a whole has several elements, anything else one. */
uint32_t lw_lower_elements(const lw_operand *operand);
lw_operand lw_lower_element(const lw_operand *whole, uint32_t element); /* %v.x of %v, %tid.x of %tid */
/* Of a .b128 register, of a number or of an address. */
uint32_t lw_lower_half(lw_lower *l, const lw_operand *operand, uint32_t half);
/* Fills a, imm, c of a memory operation, in the space that the spelling has. False: diagnosed. */
bool lw_lower_address(lw_lower *l, lw_op *op, const lw_operand *operand, const lw_match *match, lw_memory_form *form);
/* Of one of several addresses, in global or shared memory: 64 bits, its offset added. LW_NO_SLOT: diagnosed. */
uint32_t lw_lower_address_value(lw_lower *l, const lw_operand *operand, const lw_match *match);

/* ---- data.c, compare.c, atomic.c, async.c, cluster.c, flow.c, float.c, video.c: one function a lowering -------- */

/* How much of memory an instruction accesses: size and vector, and how many elements that is. False: diagnosed. */
bool lw_lower_memory_form(lw_lower *l, const lw_instruction *i, lw_memory_form *form, uint32_t *elements);
/* Virtual register of element k of a vector operand: of { } or of a register declared .v2 or .v4. */
uint32_t lw_lower_vector_element(lw_lower *l, const lw_operand *operand, uint32_t k, uint32_t count, lw_type type,
                                 bool write);
/* The place where accesses by one address remember the allocation that they met last. */
uint32_t lw_lower_hint(lw_lower *l, lw_memory_form form, uint32_t address);
/* The value of a call's argument, and a value for its result: the bytes of a .param variable, or any operand. */
uint32_t lw_lower_argument_value(lw_lower *l, const lw_operand *operand, lw_type type);
void lw_lower_result_value(lw_lower *l, const lw_operand *operand, lw_type type, uint32_t value);
/* matrix.c: all lanes of a warp are at what comes behind. */
void lw_lower_come_together(lw_lower *l);
/* The mode of the operation that this instruction becomes, by meanings.def; the match is executable, so that there is
 * one. */
uint16_t lw_lower_mode(const lw_instruction *i);
void lw_lower_go_on_behind(lw_lower *l); /* lanes that waited go on behind the instruction */
typedef void lw_lower_form(lw_lower *l, const lw_instruction *i);
#define LOWERING(name, ...) lw_lower_form lw_lower_##name;
#include "ptx/lowerings.def"

/* ---- runtime.c --------------------------------------------------------------------------------------------- */

/* Whether the driver adds a function of this name to every module. */
bool lw_runtime_has(const char *name);
/* A call of a function of the device's runtime that the text declares only. False: it is none. */
bool lw_lower_runtime_call(lw_lower *l, const lw_call_parts *parts);

#endif
