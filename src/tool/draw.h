/* draw.h: a shuffle as a picture: which lane reads which. */
#ifndef LW_TOOL_DRAW_H
#define LW_TOOL_DRAW_H

#include "tool/tool.h"

enum { LW_DRAW_LANES = 32 };

typedef struct lw_draw_lane {
    bool takes_part; /* executes; the others change nothing */
    bool in_range;
    bool reads_idle;  /* its source does not take part: undefined by the manual */
    uint32_t source;  /* the lane whose value it gets; its own where out of range */
    uint32_t segment; /* lanes of equal segment belong together */
} lw_draw_lane;

typedef struct lw_drawing {
    const char *title;
    lw_draw_lane lanes[LW_DRAW_LANES];
} lw_drawing;

void lw_draw_terminal(lw_text *out, const lw_drawing *drawing, bool utf8);
void lw_draw_svg(lw_text *out, const lw_drawing *drawing);

#endif
