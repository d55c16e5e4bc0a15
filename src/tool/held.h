/* held.h: the matrices that a warp holds in the operands of an instruction, as text and as pictures: `lanewise explain`
 * and `lanewise draw`. */
#ifndef LW_TOOL_HELD_H
#define LW_TOOL_HELD_H

#include "middle/held.h"
#include "tool/tool.h"

/* One line a matrix: what it is, and row and column of a lane's elements. Nothing where there is no matrix. */
void lw_held_explain(lw_text *out, const lw_match *match);
/* "a", the operand's letter, and what matrix it is: "16 x 8 of f16". */
void lw_held_print_name(lw_text *out, const lw_match *match, const lw_held *held);
void lw_held_print_size(lw_text *out, const lw_held *held);
/* What says which of several matrices of that size: "selector". */
const char *lw_held_set_name(const lw_held *held);

void lw_draw_matrices(lw_text *out, const lw_match *match, const char *title);
void lw_draw_matrices_svg(lw_text *out, const lw_match *match, const char *title);

#endif
