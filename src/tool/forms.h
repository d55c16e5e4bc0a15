/* forms.h: rows of the instruction table as people read them. */
#ifndef LW_TOOL_FORMS_H
#define LW_TOOL_FORMS_H

#include "tool/tool.h"

typedef struct lw_family {
    const char *name;
    uint32_t count; /* rows, in the order of lw_ptx_forms */
} lw_family;

const lw_family *lw_families(size_t *count);
size_t lw_form_opcode(const lw_form *form); /* length of the opcode that a pattern begins with */

bool lw_form_begins(const lw_form *form, const char *words,
                    size_t size); /* its pattern begins with these whole words */

/* A module of the newest version and target, in which spellings are matched as the verifier does it. */
lw_module_ptx *lw_form_module(lw_arena *arena);
/* NULL where no form fits; then *why says what is wrong. */
const lw_match *lw_form_match(lw_module_ptx *module, const char *spelling, lw_text *why);

/* How many of a form's spellings are executable. */
typedef enum lw_form_status { LW_FORM_MISSING, LW_FORM_PART, LW_FORM_EXECUTABLE } lw_form_status;
lw_form_status lw_form_executable(lw_module_ptx *module, const lw_form *form);
void lw_form_print_pattern(lw_text *out, const lw_form *form); /* classes written out */
void lw_form_print_gates(lw_text *out, const lw_form *form);   /* "PTX 3.1, sm_32" */

#endif
