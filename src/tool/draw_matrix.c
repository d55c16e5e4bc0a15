/* draw_matrix.c: the matrices that a warp holds as pictures: in each field the lane, and its elements that stand there.
 */
#include "tool/held.h"

enum { MOST = 64 * 256, LANES_MOST = 128, COLUMNS = 80 };

/* One matrix of an operand: fields of elements that a lane holds side by side. */
typedef struct board {
    const lw_match *match;
    const lw_held *held;
    uint32_t set;
    uint32_t rows, columns; /* of a field */
    uint32_t across;        /* fields */
    struct {
        uint8_t known, lane;
        uint16_t first; /* of the lane's elements */
    } at[MOST];         /* elements, row by row */
} board;

/* ---- Who holds what ---------------------------------------------------------------------------------------------- */

/* So many neighbours are elements of one lane, in order. */
static uint32_t neighbours(const uint8_t *bits, uint32_t elements) {
    uint32_t count = 1;
    for (; *bits != LW_BIT_end; bits++) {
        const uint32_t in_register = *bits >= LW_BIT_E0 ? 1u << (*bits - LW_BIT_E0) : 0;
        if (*bits == LW_BIT_E && count == 1) count = elements;
        else if (*bits < LW_BIT_W0 && in_register && in_register == count) count *= 2;
        else if (*bits >= LW_BIT_R0 && *bits < LW_BIT_E0 && elements << (*bits - LW_BIT_R0) == count) count *= 2;
        else break;
    }
    return count;
}

static void fill(board *b) {
    const lw_held *h = b->held;
    const uint32_t elements = lw_fragment_elements(h->bits);
    memset(b->at, 0, sizeof b->at);
    b->rows = neighbours(h->fragment->rows, elements);
    b->columns = neighbours(h->fragment->columns, elements);
    b->across = h->columns / b->columns;
    for (uint32_t i = 0; i < h->registers * elements; i++)
        for (uint32_t lane = 0; lane < LANES_MOST; lane++) { /* a row tells those of a warpgroup apart, or they are the
                                                              first warp's again */
            const lw_fragment_place p = lw_fragment_at(h->fragment, h->bits, lane, i / elements, i % elements);
            const uint32_t at = p.row * h->columns + p.column;
            if (p.set != b->set || b->at[at].known) continue;
            b->at[at].known = 1, b->at[at].lane = (uint8_t)lane, b->at[at].first = (uint16_t)i;
        }
}

/* How many elements a lane has before they come again. */
static uint32_t different(const board *b) {
    uint32_t most = 0;
    for (uint32_t at = 0; at < (uint32_t)b->held->rows * b->held->columns; at++)
        if (b->at[at].first >= most) most = b->at[at].first + 1u;
    return most;
}

static void put_field(lw_text *out, const board *b, uint32_t row, uint32_t field) {
    const uint32_t at = row * b->held->columns + field * b->columns, count = b->rows * b->columns,
                   first = b->at[at].first;
    lw_text_printf(out, "%u:", b->at[at].lane);
    lw_held_print_name(out, b->match, b->held);
    lw_text_printf(out, "%u", first);
    if (count == 2) lw_text_puts(out, ","), lw_held_print_name(out, b->match, b->held);
    else if (count > 2) lw_text_puts(out, "-");
    if (count > 1) lw_text_printf(out, "%u", first + count - 1);
}

static void put_title(lw_text *out, const board *b) {
    lw_held_print_name(out, b->match, b->held);
    lw_text_puts(out, ": ");
    lw_held one = *b->held;
    one.sets = 1;
    lw_held_print_size(out, &one);
    if (b->held->sets > 1) lw_text_printf(out, ", %s %u of %u", lw_held_set_name(&one), b->set, b->held->sets);
}

static void put_remark(lw_text *out, const board *b) {
    const uint32_t all = b->held->registers * lw_fragment_elements(b->held->bits), used = different(b);
    if (b->held->sets > 1 || used == all) return;
    lw_held_print_name(out, b->match, b->held);
    lw_text_printf(out, "%u to ", used);
    lw_held_print_name(out, b->match, b->held);
    lw_text_printf(out, "%u hold the same again", all - 1);
}

/* ---- Terminal: fields of a row side by side, as many as there is room for ---------------------------------------- */

static uint32_t width_of(const board *b) {
    uint32_t width = 0;
    for (uint32_t row = 0; row < b->held->rows; row += b->rows)
        for (uint32_t field = 0; field < b->across; field++) {
            lw_text text = {0};
            put_field(&text, b, row, field);
            if (text.size > width) width = (uint32_t)text.size;
            lw_text_free(&text);
        }
    return width + 1;
}

static void print_fields(lw_text *out, const board *b, uint32_t from, uint32_t to, uint32_t width) {
    lw_text_puts(out, "   ");
    for (uint32_t field = from; field < to; field++)
        lw_text_printf(out, " %-*u", field + 1 < to ? (int)width - 1 : 0, field * b->columns);
    lw_text_puts(out, "\n");
    for (uint32_t row = 0; row < b->held->rows; row += b->rows) {
        lw_text_printf(out, "%3u", row);
        for (uint32_t field = from; field < to; field++) {
            lw_text text = {0};
            put_field(&text, b, row, field);
            lw_text_printf(out, " %-*s", field + 1 < to ? (int)width - 1 : 0, text.at ? text.at : "");
            lw_text_free(&text);
        }
        lw_text_puts(out, "\n");
    }
}

static void print_board(lw_text *out, const board *b) {
    const uint32_t width = width_of(b), room = (COLUMNS - 3) / width;
    lw_text_puts(out, "\n");
    put_title(out, b);
    lw_text_puts(out, "\n");
    for (uint32_t from = 0; from < b->across; from += room)
        print_fields(out, b, from, from + room < b->across ? from + room : b->across, width);
    lw_text remark = {0};
    put_remark(&remark, b);
    if (remark.at) lw_text_printf(out, "%s\n", remark.at);
    lw_text_free(&remark);
}

void lw_draw_matrices(lw_text *out, const lw_match *match, const char *title) {
    static board b;
    lw_held held[LW_HELD_MOST];
    const uint32_t count = lw_matrices_held(match, held, NULL);
    lw_text_printf(out, "%s\n\nLane:elements, by rows and columns.\n", title);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t set = 0; set < held[k].sets; set++) {
            b.match = match, b.held = &held[k], b.set = set;
            fill(&b);
            print_board(out, &b);
        }
}

/* ---- SVG: a matrix below the other, a colour for each lane ------------------------------------------------------- */

enum { LEFT = 46, TOP = 56, FIELD = 92, LINE = 24, TITLE = 34, GAP = 30 };

static const char style[] =
    "<style>\n"
    "text { font: 12px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #222; text-anchor: middle }\n"
    ".title { font-size: 15px; font-weight: bold; text-anchor: start }\n"
    ".note { text-anchor: start }\n"
    "rect.field { stroke: #fff }\n"
    "</style>\n";

static void put_svg_fields(lw_text *out, const board *b, uint32_t y) {
    for (uint32_t field = 0; field < b->across; field++)
        lw_text_printf(out, "<text x=\"%u\" y=\"%u\">%u</text>\n", LEFT + field * FIELD + FIELD / 2, y - 5,
                       field * b->columns);
    for (uint32_t row = 0; row < b->held->rows; row += b->rows, y += LINE) {
        lw_text_printf(out, "<text x=\"%d\" y=\"%u\">%u</text>\n", LEFT / 2, y + 16, row);
        for (uint32_t field = 0; field < b->across; field++) {
            const uint32_t x = LEFT + field * FIELD, lane = b->at[row * b->held->columns + field * b->columns].lane;
            lw_text_printf(
                out,
                "<rect class=\"field\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"hsl(%u,%u%%,86%%)\"/>"
                "<text x=\"%u\" y=\"%u\">",
                x, y, FIELD, LINE, lane / 4 * 45, 40 + lane % 4 * 20, x + FIELD / 2, y + 16);
            put_field(out, b, row, field);
            lw_text_puts(out, "</text>\n");
        }
    }
}

/* One matrix from y on; where the next one begins. `width` grows to what it needs. */
static uint32_t put_svg_board(lw_text *out, const board *b, uint32_t y, uint32_t *width) {
    lw_text_printf(out, "<text class=\"note\" x=\"%d\" y=\"%u\">", LEFT, y + 10);
    put_title(out, b);
    lw_text remark = {0};
    put_remark(&remark, b);
    if (remark.at) lw_text_printf(out, "; %s", remark.at);
    lw_text_free(&remark);
    lw_text_puts(out, "</text>\n");
    put_svg_fields(out, b, y + TITLE);
    if (LEFT + b->across * FIELD + 18 > *width) *width = LEFT + b->across * FIELD + 18;
    return y + TITLE + b->held->rows / b->rows * LINE + GAP;
}

void lw_draw_matrices_svg(lw_text *out, const lw_match *match, const char *title) {
    static board b;
    lw_held held[LW_HELD_MOST];
    lw_text fields = {0};
    const uint32_t count = lw_matrices_held(match, held, NULL);
    uint32_t y = TOP, width = 2 * LEFT + 10 * (uint32_t)strlen(title);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t set = 0; set < held[k].sets; set++) {
            b.match = match, b.held = &held[k], b.set = set;
            fill(&b);
            y = put_svg_board(&fields, &b, y, &width);
        }
    lw_text_printf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                   "role=\"img\">\n<title>%s</title>\n%s<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n"
                   "<text class=\"title\" x=\"%d\" y=\"30\">%s</text>\n",
                   width, y, width, y, title, style, width, y, LEFT, title);
    if (fields.at) lw_text_add(out, fields.at, fields.size);
    out->failed |= fields.failed;
    lw_text_free(&fields);
    lw_text_puts(out, "</svg>\n");
}
