/* verify.h: what the files of the verifier share. Private to verify*.c. */
#ifndef LW_VERIFY_H
#define LW_VERIFY_H

#include "front/ptx/forms.h"

typedef struct lw_verifier {
    lw_module_ptx *module;
    lw_diags *diags;
    lw_function *function;
    const lw_instruction *instruction;
    const lw_match *match;
} lw_verifier;

/* verify_operand.c: one operand by its form; `number` counts from 1. Gives at most one diagnostic. */
void lw_verify_operand(lw_verifier *v, const lw_operand *operand, const lw_operand_form *form, uint32_t number);

void lw_verify_minus(lw_verifier *v, const lw_operand *operand); /* reports -name where it cannot stand */
const char *lw_operand_kind_name(const lw_operand *operand);     /* "a register", "a label" … */

/* verify_fix.c: what would be right, or NULL. */
const char *lw_fix_operands(lw_verifier *v);
const char *lw_fix_order(lw_verifier *v);
const char *lw_fix_type(lw_verifier *v, const lw_operand_form *form, lw_type have);
const char *lw_fix_constant(lw_verifier *v, const lw_operand *operand, const lw_type_info *want);
const char *lw_fix_kind(const lw_operand *operand, const lw_operand_form *form);
const char *lw_fix_selector(lw_verifier *v, const lw_operand *operand, const lw_operand_form *form);

/* verify_flow.c: branch targets, calls, and rules of single instructions that the notation cannot say. */
void lw_verify_extra(lw_verifier *v);
void lw_verify_call(lw_verifier *v);
bool lw_verify_early(lw_verifier *v, const lw_operand *operand);

/* Text in the module's arena. */
#define lw_verify_text(v, ...) lw_arena_say((v)->module->arena, __VA_ARGS__)

static inline bool lw_is_register(const lw_operand *o) {
    return o->kind == LW_O_NAME && o->object && o->object->kind == LW_OBJ_VARIABLE && o->object->space == LW_SPACE_reg;
}

/* A register as it is, where a single one of its type may stand, as most operands are: nothing else is to be asked. */
static inline bool lw_is_plain(const lw_operand *o, const lw_operand_form *form) {
    return form->plain && lw_is_register(o) && !o->negated && !o->select && !o->offset && o->object->vector == 1 &&
           form->takes >> o->object->type & 1;
}

/* A name that the resolver has already reported. */
static inline bool lw_is_unresolved(const lw_operand *o) { return o->kind == LW_O_NAME && !o->object && !o->special; }

#endif
