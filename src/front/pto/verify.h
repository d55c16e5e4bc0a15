/* verify.h: what the files of the verifier share. Private to verify*.c. */
#ifndef LW_PTO_VERIFY_H
#define LW_PTO_VERIFY_H

#include "front/pto/pto.h"

typedef struct lw_pto_verifier {
    lw_pto_module *module;
    lw_arena *arena;
    lw_diags *diags;
    lw_pto_profile profile;
    lw_pto_function *function;
} lw_pto_verifier;

/* A slot of a row with the value that stands there. */
typedef struct lw_pto_filled {
    const lw_pto_slot *slot;
    lw_pto_value *value;
    lw_place place; /* of the operand; of a result, where it is defined or, in assembly and DPS text, written */
} lw_pto_filled;

static inline const char *lw_pto_slot_name(lw_arena *arena, const lw_pto_slot *slot) {
    return lw_arena_text(arena, slot->name, slot->name_size);
}

/* ---- verify_row.c ------------------------------------------------------------------------------------------ */

void lw_pto_verify_row(lw_pto_verifier *v, const lw_pto_op *op);

/* ---- verify_control.c --------------------------------------------------------------------------------------- */

void lw_pto_verify_for(lw_pto_verifier *v, const lw_pto_op *op);
void lw_pto_verify_if(lw_pto_verifier *v, const lw_pto_op *op);
void lw_pto_verify_return(lw_pto_verifier *v, const lw_pto_op *op);

/* ---- verify_type.c ------------------------------------------------------------------------------------------ */

/* A type where a function or a region names it: integers only, and what the profile has. False where it has
 * reported. */
bool lw_pto_verify_type(lw_pto_verifier *v, const lw_pto_type *type, lw_place place);
/* What the profile says to the width of a register or mask. */
bool lw_pto_verify_width(lw_pto_verifier *v, const lw_pto_type *type, lw_place place);

#endif
