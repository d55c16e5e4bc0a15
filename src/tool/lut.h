/* lut.h: tables of lop3 as expressions. */
#ifndef LW_TOOL_LUT_H
#define LW_TOOL_LUT_H

#include "tool/tool.h"

enum { LW_LUT_EXPRESSION = 64 };

/* The table of an expression over a, b, c. False: *at is where it is wrong and *why a text that says how. */
bool lw_lut_parse(const char *text, uint8_t *table, size_t *at, const char **why);
/* An expression of a table with the fewest operators; of these the shortest text, and the first by alphabet. */
const char *lw_lut_expression(uint8_t table);

#endif
