/* explain.h: the parts of `lanewise explain`. */
#ifndef LW_TOOL_EXPLAIN_H
#define LW_TOOL_EXPLAIN_H

#include "tool/forms.h"

/* What about.def says of the spellings that begin with `words`: semantics, an example that is run now, differences.
 * Nothing where it has no row. */
void lw_explain_about(const char *words, size_t size);
/* A text that gets the diagnostic, and what would be right, where samples.def has them. */
void lw_explain_sample(uint32_t number);
void lw_print_wrapped(const char *text, const char *indent); /* in lines of up to 78 columns */

#endif
