/* draw_picture.c: the picture of a shuffle for terminals and as SVG. */
#include <stdlib.h>

#include "tool/draw.h"

/* ---- What the picture shows, in words -------------------------------------------------------------------- */

static bool ends_segment(const lw_drawing *d, uint32_t lane) {
    return lane + 1 < LW_DRAW_LANES && d->lanes[lane].segment != d->lanes[lane + 1].segment;
}

/* The lanes of each segment are neighbours, and all segments have `size` lanes; 0 where that is not so. */
static uint32_t segment_size(const lw_drawing *d) {
    uint32_t size = 1;
    while (size < LW_DRAW_LANES && d->lanes[size].segment == d->lanes[0].segment) size++;
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++)
        for (uint32_t other = 0; other < LW_DRAW_LANES; other++)
            if ((d->lanes[lane].segment == d->lanes[other].segment) != (lane / size == other / size)) return 0;
    return size;
}

static void summarise(lw_text *out, const lw_drawing *d, const char *separator) {
    uint32_t in = 0, own = 0, idle = 0, undefined = 0, size = segment_size(d);
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++) {
        const lw_draw_lane *l = &d->lanes[lane];
        if (!l->takes_part) idle++;
        else if (!l->in_range) own++;
        else in++, undefined += l->reads_idle;
    }
    lw_text_printf(out, "%u lane%s in range, %u out of range (own value)", in, in == 1 ? "" : "s", own);
    if (idle) lw_text_printf(out, "%s%u not taking part", separator, idle);
    if (undefined) lw_text_printf(out, ", which %u read%s (undefined)", undefined, undefined == 1 ? "s" : "");
    if (!size) lw_text_printf(out, "%ssegments of lanes that are no neighbours", separator);
    else if (size < LW_DRAW_LANES)
        lw_text_printf(out, "%s%u segments of %u lane%s", separator, LW_DRAW_LANES / size, size, size == 1 ? "" : "s");
}

/* ---- Terminal: a line for each lane, two columns for each source ------------------------------------------ */

typedef struct signs {
    const char *blank, *line, *wall, *from, *left, *right, *own, *undefined, *reads;
} signs;

static const signs utf8_signs = {" ", "─", "│", "●", "◄", "►", "○", "?", "←"};
static const signs ascii_signs = {" ", "-", "|", "o", "<", ">", "x", "?", "<-"};

static void print_numbers(lw_text *out, const lw_drawing *d, const signs *s) {
    lw_text_puts(out, "lane         ");
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++) lw_text_printf(out, lane % 10 ? "  " : "%u ", lane / 10);
    while (out->at && out->at[out->size - 1] == ' ') out->at[--out->size] = 0;
    lw_text_puts(out, "\n             ");
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++)
        lw_text_printf(out, "%u%s", lane % 10, ends_segment(d, lane) ? s->wall : lane + 1 < LW_DRAW_LANES ? " " : "");
    lw_text_puts(out, "\n");
}

static const char *sign_at(const lw_draw_lane *l, uint32_t lane, uint32_t at, const signs *s) {
    if (!l->takes_part) return s->blank;
    if (!l->in_range) return at == lane ? s->own : s->blank;
    uint32_t low = lane < l->source ? lane : l->source, high = lane < l->source ? l->source : lane;
    if (at == l->source) return l->reads_idle ? s->undefined : s->from;
    if (at == lane) return lane < l->source ? s->left : s->right;
    return at > low && at < high ? s->line : s->blank;
}

static bool line_behind(const lw_draw_lane *l, uint32_t lane, uint32_t at) {
    if (!l->takes_part || !l->in_range) return false;
    uint32_t low = lane < l->source ? lane : l->source, high = lane < l->source ? l->source : lane;
    return at >= low && at < high;
}

static void print_lane(lw_text *out, const lw_drawing *d, uint32_t lane, const signs *s) {
    const lw_draw_lane *l = &d->lanes[lane];
    lw_text_printf(out, "%3u", lane);
    if (l->takes_part)
        lw_text_printf(out, " %s%s %2u  %-3s", s->reads, s == &utf8_signs ? " " : "", l->source,
                       l->reads_idle ? "?"
                       : l->in_range ? ""
                                     : "out");
    else lw_text_puts(out, "    --    ");
    size_t end = out->size;
    for (uint32_t at = 0; at < LW_DRAW_LANES; at++) {
        const char *sign = sign_at(l, lane, at, s);
        lw_text_puts(out, sign);
        if (sign != s->blank) end = out->size;
        if (line_behind(l, lane, at)) lw_text_puts(out, s->line);
        else if (ends_segment(d, at)) lw_text_puts(out, s->wall), end = out->size;
        else lw_text_puts(out, s->blank);
    }
    if (out->at) out->at[out->size = end] = 0;
    while (out->at && out->at[out->size - 1] == ' ') out->at[--out->size] = 0;
    lw_text_puts(out, "\n");
}

void lw_draw_terminal(lw_text *out, const lw_drawing *d, bool utf8) {
    const signs *s = utf8 ? &utf8_signs : &ascii_signs;
    lw_text_printf(out, "%s\n\n", d->title);
    print_numbers(out, d, s);
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++) print_lane(out, d, lane, s);
    lw_text_puts(out, "\n");
    summarise(out, d, "\n");
    lw_text_puts(out, "\n");
}

/* ---- SVG: sources above, results below -------------------------------------------------------------------- */

enum { LEFT = 46, STEP = 29, TOP = 84, BOTTOM = 236, RADIUS = 11, WIDTH = LEFT + 32 * STEP + 18, HEIGHT = 308 };

static uint32_t x_of(uint32_t lane) { return LEFT + lane * STEP + STEP / 2; }

static void put_escaped(lw_text *out, const char *text) {
    for (const char *p = text; *p; p++) {
        if (*p == '<') lw_text_puts(out, "&lt;");
        else if (*p == '>') lw_text_puts(out, "&gt;");
        else if (*p == '&') lw_text_puts(out, "&amp;");
        else lw_text_add(out, p, 1);
    }
}

static const char style[] =
    "<style>\n"
    "text { font: 12px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #222; text-anchor: middle }\n"
    ".title { font-size: 15px; font-weight: bold; text-anchor: start }\n"
    ".note { text-anchor: start }\n"
    ".segment { fill: #f0f4fa; stroke: #c5d0e0 }\n"
    ".lane { fill: #fff; stroke: #335 }\n"
    ".idle { fill: #ddd; stroke: #999 }\n"
    ".read { stroke: #1c6dd0; stroke-width: 1.6; fill: none }\n"
    ".own { stroke: #b25000; stroke-width: 1.4; stroke-dasharray: 4 3; fill: none }\n"
    ".undefined { stroke: #c01c28; stroke-width: 1.6; stroke-dasharray: 1 3; fill: none }\n"
    "</style>\n";

static void put_segments(lw_text *out, const lw_drawing *d) {
    if (!segment_size(d)) return;
    for (uint32_t first = 0, lane = 0; lane < LW_DRAW_LANES; lane++) {
        if (lane + 1 < LW_DRAW_LANES && !ends_segment(d, lane)) continue;
        lw_text_printf(out, "<rect class=\"segment\" x=\"%u\" y=\"%d\" width=\"%u\" height=\"%d\" rx=\"6\"/>\n",
                       LEFT + first * STEP + 1, TOP - 22, (lane - first + 1) * STEP - 2, BOTTOM - TOP + 44);
        first = lane + 1;
    }
}

static void put_row(lw_text *out, const lw_drawing *d, const char *name, int y) {
    lw_text_printf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT / 2, y + 4, name);
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++)
        lw_text_printf(out, "<circle class=\"%s\" cx=\"%u\" cy=\"%d\" r=\"%d\"/><text x=\"%u\" y=\"%d\">%u</text>\n",
                       d->lanes[lane].takes_part ? "lane" : "idle", x_of(lane), y, RADIUS, x_of(lane), y + 4, lane);
}

static void put_lines(lw_text *out, const lw_drawing *d) {
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++) {
        const lw_draw_lane *l = &d->lanes[lane];
        if (!l->takes_part) continue;
        const char *kind = !l->in_range ? "own" : l->reads_idle ? "undefined" : "read";
        lw_text_printf(out,
                       "<line class=\"%s\" x1=\"%u\" y1=\"%d\" x2=\"%u\" y2=\"%d\"><title>lane %u reads lane "
                       "%u%s</title></line>\n",
                       kind, x_of(l->source), TOP + RADIUS, x_of(lane), BOTTOM - RADIUS, lane, l->source,
                       !l->in_range    ? ", its own: out of range"
                       : l->reads_idle ? ", which does not take part: undefined"
                                       : "");
    }
}

void lw_draw_svg(lw_text *out, const lw_drawing *d) {
    lw_text_printf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
                   "%d\" role=\"img\">\n<title>",
                   WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_escaped(out, d->title);
    lw_text_printf(out,
                   "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text class=\"title\" "
                   "x=\"%d\" y=\"30\">",
                   style, WIDTH, HEIGHT, LEFT);
    put_escaped(out, d->title);
    lw_text_puts(out, "</text>\n");
    put_segments(out, d);
    put_lines(out, d);
    put_row(out, d, "a", TOP);
    put_row(out, d, "d", BOTTOM);
    lw_text_printf(out, "<text class=\"note\" x=\"%d\" y=\"%d\">", LEFT, HEIGHT - 18);
    summarise(out, d, "; ");
    lw_text_puts(out, "</text>\n</svg>\n");
}
