/* lut_search.c: expressions to tables of lop3, and tables to shortest expressions. */
#include <ctype.h>

#include "tool/lut.h"

/* ---- Expression to table: recursive descent over | ^ & ~ with the precedence of C ------------------------ */

enum { DEEPEST = 200 };

typedef struct parser {
    const char *text, *at, *why;
    unsigned depth;
} parser;

static char next(parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
    return *p->at;
}

static uint8_t fail(parser *p, const char *why) {
    if (!p->why) p->why = why;
    return 0;
}

static uint8_t parse_level(parser *p, unsigned level);

static uint8_t parse_primary(parser *p) {
    static const char names[] = "abc01";
    static const uint8_t tables[] = {0xf0, 0xcc, 0xaa, 0x00, 0xff};
    char c = next(p);
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        if (isalnum((unsigned char)p->at[1]) || p->at[1] == '_')
            return fail(p, "the names are a, b and c, the constants 0 and 1");
        p->at++;
        return tables[name - names];
    }
    if (c == '(') {
        p->at++;
        uint8_t table = parse_level(p, 0);
        if (p->why) return 0;
        if (next(p) != ')') return fail(p, *p->at ? "an operator or ')' is expected here" : "a ')' is missing");
        p->at++;
        return table;
    }
    if (!c) return fail(p, "the expression ends too early: a, b, c, 0, 1, ~ or '(' is expected");
    if (isalnum((unsigned char)c)) return fail(p, "the names are a, b and c, the constants 0 and 1");
    return fail(p, "a, b, c, 0, 1, ~ or '(' is expected here");
}

static uint8_t parse_unary(parser *p) {
    bool inverted = false;
    for (char c = next(p); c == '~' || c == '!'; c = next(p)) {
        inverted = !inverted;
        p->at++;
    }
    uint8_t table = parse_primary(p);
    return inverted ? (uint8_t)~table : table;
}

static uint8_t parse_level(parser *p, unsigned level) {
    static const char operators[] = "|^&";
    if (level == 3) return parse_unary(p);
    if (++p->depth > 4 * DEEPEST) return fail(p, "parentheses are nested too deep");
    uint8_t table = parse_level(p, level + 1);
    while (!p->why && next(p) == operators[level]) {
        p->at++;
        uint8_t right = parse_level(p, level + 1);
        table = (uint8_t)(level == 0 ? table | right : level == 1 ? table ^ right : table & right);
    }
    p->depth--;
    return table;
}

bool lw_lut_parse(const char *text, uint8_t *table, size_t *at, const char **why) {
    parser p = {.text = text, .at = text};
    *table = parse_level(&p, 0);
    if (!p.why && next(&p)) fail(&p, *p.at == ')' ? "this ')' closes nothing" : "an operator is expected here: & | ^");
    *at = (size_t)(p.at - text);
    *why = p.why;
    return !p.why;
}

/* ---- Table to expression -------------------------------------------------------------------------------- */

/* The best expression found for a table. An expression's operators are those of its parts and one more, so that the
 * best of a table is made of best ones: all tables of n operators come from tables of fewer. */
typedef struct best {
    bool known;
    uint8_t operators, level; /* 0 | 1 ^ 2 & 3 ~ 4 a name */
    char text[LW_LUT_EXPRESSION];
} best;

static best found[256];

static void offer(uint8_t table, unsigned operators, unsigned level, const char *text) {
    best *b = &found[table];
    size_t size = strlen(text), had = strlen(b->text);
    if (b->known && (b->operators < operators || had < size || (had == size && strcmp(b->text, text) <= 0))) return;
    *b = (best){.known = true, .operators = (uint8_t)operators, .level = (uint8_t)level};
    memcpy(b->text, text, size + 1);
}

/* A part of an expression whose operator has this level. */
static size_t put_part(char *to, size_t at, const best *part, unsigned level) {
    bool brackets = part->level < level;
    return at + (size_t)snprintf(to + at, 2 * LW_LUT_EXPRESSION - at, brackets ? "(%s)" : "%s", part->text);
}

static void combine(const best *left, uint8_t left_table, const best *right, uint8_t right_table, unsigned operators) {
    static const char *const signs[] = {" | ", " ^ ", " & "};
    const uint8_t tables[] = {left_table | right_table, left_table ^ right_table, left_table & right_table};
    for (unsigned level = 0; level < 3; level++) {
        if (found[tables[level]].known && found[tables[level]].operators < operators) continue;
        char text[2 * LW_LUT_EXPRESSION];
        size_t size = put_part(text, 0, left, level);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s", signs[level]);
        size = put_part(text, size, right, level);
        if (size < LW_LUT_EXPRESSION) offer(tables[level], operators, level, text);
    }
}

static void invert(const best *part, uint8_t table, unsigned operators) {
    char text[2 * LW_LUT_EXPRESSION] = "~";
    if (put_part(text, 1, part, 3) < LW_LUT_EXPRESSION) offer((uint8_t)~table, operators, 3, text);
}

/* All tables whose best expression has this many operators. */
static unsigned search(unsigned operators) {
    unsigned count = 0;
    for (unsigned i = 0; i < 256; i++) {
        if (!found[i].known || found[i].operators >= operators) continue;
        best left = found[i];
        if (left.operators == operators - 1) invert(&left, (uint8_t)i, operators);
        for (unsigned j = 0; j < 256; j++)
            if (found[j].known && found[j].operators == operators - 1 - left.operators)
                combine(&left, (uint8_t)i, &found[j], (uint8_t)j, operators);
    }
    for (unsigned i = 0; i < 256; i++) count += found[i].known;
    return count;
}

const char *lw_lut_expression(uint8_t table) {
    if (!found[0].known) {
        offer(0xf0, 0, 4, "a");
        offer(0xcc, 0, 4, "b");
        offer(0xaa, 0, 4, "c");
        offer(0x00, 0, 4, "0");
        offer(0xff, 0, 4, "1");
        for (unsigned operators = 1; search(operators) < 256;) operators++;
    }
    return found[table].text;
}
