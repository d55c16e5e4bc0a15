/* origin.h: what a compiler made a text of: the line of another text that an instruction comes from, and where the
 * function of that line was inlined. */
#ifndef LW_BASE_ORIGIN_H
#define LW_BASE_ORIGIN_H

#include "base/base.h"

typedef struct lw_root {
    const char *file; /* NULL: nothing is known */
    uint32_t line, column;
    const char *function; /* that the line is of, where it was inlined and the text says so; else NULL */
} lw_root;

/* From this place of the text on, up to the next one, instructions come from one line. */
typedef struct lw_loc {
    uint32_t at;
    bool begins; /* a function: what stands before it says nothing of what follows */
    lw_root from;
    lw_root into; /* where the function of that line was inlined; no file: it was not, or nobody knows */
} lw_loc;
typedef LW_LIST(lw_loc) lw_locs; /* by increasing places */

/* The one that a place is in; NULL: none, or nothing is known there. */
const lw_loc *lw_loc_at(const lw_locs *all, uint32_t at);

/* Where an instruction comes from: its line first, then where that was inlined, and so on. Returns how many there are,
 * LW_ROOTS_MOST at most. */
enum { LW_ROOTS_MOST = 16 };
uint32_t lw_loc_roots(const lw_locs *all, uint32_t at, lw_root roots[LW_ROOTS_MOST]);

/* "prog.cu:4:9" */
void lw_root_put(lw_text *out, const lw_root *spot);

#endif
