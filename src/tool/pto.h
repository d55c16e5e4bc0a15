/* pto.h: the commands of the tool for PTO text. */
#ifndef LW_TOOL_PTO_H
#define LW_TOOL_PTO_H

#include "front/pto/pto.h"
#include "tool/report.h"

/* ---- check ---------------------------------------------------------------------------------------------- */

/* Cycles of every operation, to standard output. */
bool lw_tool_pto_cost(lw_tool_source *in, const lw_pto_module *module, lw_pto_profile profile);
/* The same for programs: a list of functions. */
json_t *lw_tool_pto_cost_json(lw_tool_source *in, const lw_pto_module *module, lw_pto_profile profile, bool *failed);

/* ---- explain, isa ----------------------------------------------------------------------------------------- */

/* Whether the word is the name of an operation, or begins several; then it is explained. */
bool lw_explain_pto(const char *word);
/* The same for the names of assembly text, and return: vand. */
bool lw_explain_pto_short(lw_arena *arena, const char *word);
/* Where one of these names is that of an instruction of PTX, too: one line that says so. */
void lw_explain_pto_too(const char *word);
/* Names of operations, for suggestions: as many as there are, or as fit. */
size_t lw_pto_names(const char **names, size_t room);
void lw_isa_pto(bool tsv, const char *family);
bool lw_isa_pto_family(const char *family);

#endif
