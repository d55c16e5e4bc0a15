/* lower.h: from a checked module to a program.   build → fold → contract → forget NaNs → compact
 *
 * The front ends come together here: each has a file that builds (ptx.c with its header ptx.h), the rest is common.
 *
 * The register fields of an operation hold virtual register numbers, one for each register of the text and each
 * intermediate value; constants are virtual registers too. Engines put something else in their place
 * (run/interp/link). */
#ifndef LW_LOWER_H
#define LW_LOWER_H

#include "middle/row.h"

typedef struct lw_lower {
    lw_arena *arena;
    struct lw_lower_ptx_state *ptx; /* each instruction set has its own; NULL for the others */
    lw_diags *diags;
    lw_program *program;
    bool failed; /* there is a diagnostic */

    /* the function at hand */
    lw_code *code;
    LW_LIST(lw_op) ops;
    LW_LIST(lw_place) op_places;
    LW_LIST(lw_place) instructions;
    LW_LIST(lw_register) vregs;
    LW_LIST(lw_block) blocks;
    LW_LIST(uint32_t) lists; /* vector operands: virtual registers */
    LW_LIST(uint32_t) targets;
    LW_LIST(lw_call) calls;
    LW_LIST(uint64_t) constants;
    LW_LIST(uint32_t) label_blocks; /* by label number, then made-up labels */
    LW_LIST(lw_room) rooms;
    LW_LIST(uint32_t) open_roundings; /* operations that may be rounded together with others, by number: contract.c */
    uint32_t local_bytes, local_align;
    lw_place place; /* of the instruction at hand */
    bool open;      /* the current block can take operations */
} lw_lower;

/* What a function may have of each thing that its text makes, at most: far below what 32 bits count, also several times
 * over (points of the text, two an operation; hash tables, twice their entries). */
enum { LW_PARTS_MOST = 1 << 26 };
/* ---- build.c: operations, blocks, virtual registers ------------------------------------------------------ */

lw_class lw_class_of_lane(lw_lane_type type);
/* A function's code begins; `code` has its name, number and kind. `instructions`: about how many there will be. */
void lw_lower_begin(lw_lower *l, const lw_code *code, lw_place place, uint32_t instructions);
void lw_lower_end(lw_lower *l);    /* all is built: folds; may fail */
void lw_lower_lay(lw_lower *l);    /* its first half: labels become blocks, and the lists the code's … */
void lw_lower_finish(lw_lower *l); /* … and its second: passes over that */
bool lw_lower_fits(lw_lower *l);   /* what there is so far. False: failed, diagnosed */
/* Room in the frame's local memory, for what the text calls `name` at `place`. Returns its offset; 0: failed,
 * diagnosed. */
uint32_t lw_lower_room(lw_lower *l, uint64_t size, uint64_t align, lw_place place, const char *name);
void lw_lower_take_address(lw_lower *l, uint32_t offset); /* of the room that begins there */
/* One element of 1 << size bytes in the frame's memory: ld or st. */
void lw_lower_frame_access(lw_lower *l, uint16_t code, uint32_t value, uint32_t at, uint32_t size);
uint32_t lw_lower_vreg(lw_lower *l, lw_class class);
uint32_t lw_lower_const(lw_lower *l, lw_class class, uint64_t value);
/* What an operation finds among the constants of its code: where it begins there. */
uint32_t lw_lower_constants(lw_lower *l, const void *data, size_t size);
lw_op *lw_lower_op(lw_lower *l, uint16_t code); /* all register fields LW_NO_SLOT */
uint32_t lw_lower_lane(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b,
                       uint32_t c); /* into a new virtual register */
void lw_lower_lane_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c);
/* What it gives, made of an address by adding, goes to the same allocation as a rule (lw_register.hint). */
void lw_lower_keep_hint(lw_lower *l, lw_lane_id lane, const lw_op *op);
void lw_lower_move(lw_lower *l, uint32_t d, uint32_t a);
/* A predicate that is a function of two others: a table as lop3 has it. */
enum { LW_LUT_A = 0xf0, LW_LUT_B = 0xcc };
void lw_lower_predicate(lw_lower *l, uint32_t d, uint8_t lut, uint32_t a, uint32_t b);
uint32_t lw_lower_resize(lw_lower *l, uint32_t a, lw_class to, bool is_signed);
uint32_t lw_lower_label(lw_lower *l);                   /* a new label, not placed yet */
void lw_lower_place_label(lw_lower *l, uint32_t label); /* here: starts a block unless one just did */
void lw_lower_new_block(lw_lower *l);
void lw_lower_count(lw_lower *l); /* the open block stands for one more instruction, which is at l->place */
void lw_lower_note(lw_lower *l, lw_diag_id id, uint32_t predicate); /* launches count its lanes, at this instruction */
void lw_lower_may_note(lw_lower *l, lw_diag_id id);                 /* the same, where steps find out themselves */

_Static_assert(LW_CLASS_16 == 1 && LW_CLASS_32 == 2 && LW_CLASS_64 == 3, "lw_class_of_size takes one for the other");

/* ---- cells.c: memory of frames becomes registers ---------------------------------------------------------------- */

/* Of a parameter or result in memory an element; else all of it. */
typedef struct lw_piece {
    uint32_t transfer; /* number of what it is of, as callers and callee agreed on it */
    uint32_t offset;   /* there */
    uint8_t size;      /* as that of lw_memory_form */
    bool in_memory;
} lw_piece;
/* How a function takes its parameters, and leaves its results: in registers alone, those of code->params and
 * code->returns. */
typedef struct lw_pieces {
    LW_LIST(lw_piece) params;
    LW_LIST(lw_piece) returns;
} lw_pieces;
/* Between lw_lower_lay and lw_lower_finish: what is accessed at known offsets only, and always in the same elements,
 * becomes registers. pieces: parameters and results, too; or NULL. False: they stay as they are. */
bool lw_lower_cells(lw_lower *l, lw_pieces *pieces);
/* Of the register that such an element becomes; a byte has zeros in front of it there. */
static inline lw_class lw_class_of_size(uint8_t size) { return size ? (lw_class)size : LW_CLASS_16; }

/* ---- inline.c: calls of small functions ------------------------------------------------------------------------- */

void lw_inline_calls(lw_lower *l); /* when all functions are there */

/* ---- rename.c, fold.c, contract.c, nan.c, spin.c
 * -------------------------------------------------------------------------- */

void lw_rename(lw_lower *l); /* registers that are written again */
void lw_fold(lw_lower *l);   /* constants, copies, dead operations */
/* Per block: lanes come to it only by falling out of the one before, or back from its call. */
bool *lw_find_straight(lw_arena *arena, const lw_code *code);
void lw_contract(lw_lower *l);           /* behind lw_fold: fma of products and sums that were left open */
void lw_forget_nans(lw_lower *l);        /* cheaper float operations where nobody reads the bits of a NaN */
void lw_mark_spins(lw_program *program); /* when all functions are there: LW_OP_SPIN; spin.c */

#endif
