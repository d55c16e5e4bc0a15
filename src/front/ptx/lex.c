/* lex.c: from bytes to tokens (manual section 4).
 *
 * The lexer never fails: what it cannot read is diagnosed once and skipped. */
#include "base/scan.h"
#include "front/ptx/ptx.h"

#include <math.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Character classes, one table look-up each. */
enum {
    C_DIGIT = LW_C_DIGIT,
    C_SPACE = LW_C_SPACE,
    C_NAME = LW_C_OWN,
    C_START = C_NAME << 1,
    C_WORD = C_NAME << 2,
    C_OPERATOR = C_NAME << 3
};

static const uint8_t class_of[256] = {
    LW_SCAN_CLASSES(C_NAME | C_WORD, C_NAME | C_START | C_WORD),
    ['_'] = C_NAME | C_START | C_WORD,
    ['$'] = C_NAME | C_START,
    ['%'] = C_START,
    [','] = C_OPERATOR,
    [';'] = C_OPERATOR,
    [':'] = C_OPERATOR,
    ['('] = C_OPERATOR,
    [')'] = C_OPERATOR,
    ['['] = C_OPERATOR,
    [']'] = C_OPERATOR,
    ['{'] = C_OPERATOR,
    ['}'] = C_OPERATOR,
    ['@'] = C_OPERATOR,
    ['!'] = C_OPERATOR,
    ['|'] = C_OPERATOR,
    ['+'] = C_OPERATOR,
    ['-'] = C_OPERATOR,
    ['*'] = C_OPERATOR,
    ['/'] = C_OPERATOR,
    ['<'] = C_OPERATOR,
    ['>'] = C_OPERATOR,
    ['='] = C_OPERATOR,
    ['&'] = C_OPERATOR,
    ['^'] = C_OPERATOR,
    ['~'] = C_OPERATOR,
    ['?'] = C_OPERATOR,
};

enum { FLOAT_TEXT_MAX = 1024, ODD_SHOWN = 10 };

static bool is(char c, int class) { return class_of[(unsigned char)c] & class; }

/* ---- White space and comments -------------------------------------------------------------------------- */

/* Whether one more run of bytes that mean nothing is reported. A text in another language, or a damaged one, has very
 * many, and its other faults are worth more. */
static bool is_shown(lw_lexer *l) { return ++l->odd <= ODD_SHOWN; }

static void note_others(lw_lexer *l, lw_place place) {
    if (l->odd == ODD_SHOWN) lw_diag_add(l->diags, LW_D_odd_bytes, place, ODD_SHOWN);
}

/* One diagnostic for a run of bytes outside of ASCII, wherever they stand. Returns the offset behind the run. */
static uint32_t skip_foreign(lw_lexer *l, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = lw_foreign_end(l->source, at);
    const lw_place place = lw_scan_place(at, end);
    if (is_shown(l)) lw_diag_add(l->diags, LW_D_not_ascii, place, (unsigned char)text[at]);
    note_others(l, place);
    return end;
}

static uint32_t skip_line(lw_lexer *l, uint32_t at) {
    const char *text = l->source->text;
    while (at < l->source->size && text[at] != '\n') {
        if (LW_UNLIKELY((unsigned char)text[at] >= 0x80)) at = skip_foreign(l, at);
        else at++;
    }
    return at;
}

static uint32_t skip_block(lw_lexer *l, uint32_t start) {
    const char *text = l->source->text;
    uint32_t at = start + 2, size = l->source->size;
    while (at < size) {
        if (text[at] == '*' && text[at + 1] == '/') return at + 2;
        if ((unsigned char)text[at] >= 0x80) at = skip_foreign(l, at);
        else at++;
    }
    lw_diag_add(l->diags, LW_D_open_comment, lw_scan_place(start, start + 2));
    return size;
}

static uint32_t skip_blanks(const char *text, uint32_t at) {
    while (text[at] == ' ' || text[at] == '\t') at++;
    return at;
}

/* # 7 "name" or #line 7 "name", as preprocessors mark lines, anywhere in a line. */
static bool is_marker(const char *text, uint32_t start) {
    uint32_t at = skip_blanks(text, start + 1), digits;
    if (!strncmp(text + at, "line", 4)) at = skip_blanks(text, at + 4);
    for (digits = at; is(text[at], C_DIGIT);) at++;
    uint32_t name = skip_blanks(text, at);
    if (at == digits || name == at || text[name] != '"') return false;
    for (at = name + 1; text[at] && text[at] != '\n'; at++)
        if (text[at] == '"') return true;
    return false;
}

/* The rest of a line from # on: a line marker is skipped, a directive of a preprocessor is a fault. */
static uint32_t skip_marker(lw_lexer *l, uint32_t start) {
    uint32_t end = skip_line(l, start + 1);
    if (!is_marker(l->source->text, start)) lw_diag_add(l->diags, LW_D_preprocessor_line, lw_scan_place(start, end));
    return end;
}

static bool starts_line(const lw_lexer *l, uint32_t at) {
    return at == l->source->from || l->source->text[at - 1] == '\n';
}

/* The offset of the next byte that begins a token. */
static inline uint32_t skip_space(lw_lexer *l, uint32_t at) {
    const char *text = l->source->text;
    for (;;) {
        while (is(text[at], C_SPACE)) at++;
        if (LW_LIKELY(text[at] != '/' && text[at] != '#')) return at;
        if (text[at] == '/' && text[at + 1] == '/') at = skip_line(l, at);
        else if (text[at] == '/' && text[at + 1] == '*') at = skip_block(l, at);
        else if (text[at] == '#' && (starts_line(l, at) || is_marker(text, at))) at = skip_marker(l, at);
        else return at;
    }
}

void lw_lex_space(lw_lexer *l) { l->at = skip_space(l, l->at); }

/* ---- Names and words ----------------------------------------------------------------------------------- */

static uint32_t lex_name(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = at, hash = LW_HASH_START;
    do hash = LW_HASH_STEP(hash, text[end]);
    while (is(text[++end], C_NAME));
    if (LW_UNLIKELY(end == at + 1 && (text[at] == '%' || text[at] == '$'))) {
        t->kind = LW_TOKEN_PUNCT; /* a lone % is the remainder operator */
        t->punct = (unsigned char)text[at];
        return end;
    }
    t->kind = LW_TOKEN_NAME;
    t->name = lw_symbol_find(l->symbols, text + at, end - at, LW_HASH_END(hash));
    return end;
}

/* .word, .word::word; the name is without the dot. */
static uint32_t lex_word(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = at + 1;
    while (is(text[end], C_WORD) || (text[end] == ':' && text[end + 1] == ':' && is(text[end + 2], C_WORD)))
        end += text[end] == ':' ? 2 : 1;
    t->kind = LW_TOKEN_DOT;
    t->name = lw_symbol_get(l->symbols, text + at + 1, end - at - 1);
    return end;
}

/* ---- Numbers (manual sections 4.5.1 and 4.5.2) --------------------------------------------------------- */

/* A malformed number is one token to its last letter or digit, so that it gives one diagnostic. */
static uint32_t bad_number(lw_lexer *l, lw_token *t, uint32_t at, uint32_t end, const char *why) {
    const char *text = l->source->text;
    while (is(text[end], C_NAME)) end++;
    lw_diag_add(l->diags, LW_D_bad_number, lw_scan_place(at, end), lw_scan_shown(at, end), text + at, why);
    t->kind = LW_TOKEN_INT;
    t->too_large = true;
    return end;
}

static uint32_t lex_integer(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    unsigned base = 10;
    uint32_t from = at;
    char letter = text[at] == '0' ? (char)(text[at + 1] | 0x20) : 0;
    if (letter == 'x') base = 16, from += 2;
    else if (letter == 'b') base = 2, from += 2;
    else if (text[at] == '0') base = 8;
    uint32_t end = lw_digits_end(text, from, base);
    if (end == from) return bad_number(l, t, at, end, "digits are missing");
    t->kind = LW_TOKEN_INT;
    bool fits = lw_digits_read(text, from, end, base, &t->value);
    if (text[end] == 'U') t->is_unsigned = true, end++;
    if (is(text[end], C_NAME)) {
        const char *why = base == 8 && is(text[end], C_DIGIT) ? "a leading 0 makes it octal"
                                                              : "stray letters or digits";
        return bad_number(l, t, at, end, why);
    }
    t->cut = !fits;
    t->is_unsigned |= t->value > INT64_MAX;
    return end;
}

/* 0f and eight digits, 0d and sixteen: the bits of the value. */
static uint32_t lex_float_bits(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    t->single = (text[at + 1] | 0x20) == 'f';
    uint32_t want = t->single ? 8 : 16, end = lw_digits_end(text, at + 2, 16);
    if (end - at - 2 != want || is(text[end], C_NAME)) {
        const char *why = t->single ? "0f takes eight hexadecimal digits" : "0d takes sixteen hexadecimal digits";
        end = bad_number(l, t, at, end, why);
        t->kind = LW_TOKEN_FLOAT;
        return end;
    }
    t->kind = LW_TOKEN_FLOAT;
    lw_digits_read(text, at + 2, end, 16, &t->value);
    return end;
}

/* The end of digits[.digits][e[+-]digits] from `at`; equal to the end of the digits where it is an integer. */
static uint32_t decimal_end(const char *text, uint32_t at) {
    uint32_t end = lw_digits_end(text, at, 10);
    if (text[end] == '.') end = lw_digits_end(text, end + 1, 10);
    if ((text[end] | 0x20) == 'e') {
        uint32_t power = end + 1;
        if (text[power] == '+' || text[power] == '-') power++;
        if (is(text[power], C_DIGIT)) end = lw_digits_end(text, power, 10);
    }
    return end;
}

/* strtod reads the decimal point of the process's locale, which is not ours to set. */
static double decimal_value(const char *text, uint32_t size) {
    char copy[FLOAT_TEXT_MAX + 16];
    const char *point = localeconv()->decimal_point;
    uint32_t to = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (text[i] != '.') copy[to++] = text[i];
        else to += (uint32_t)snprintf(copy + to, 12, "%s", point);
    }
    copy[to] = 0;
    return strtod(copy, NULL);
}

/* Does the number, before its exponent, have another digit than 0? */
static bool is_nonzero(const char *text, uint32_t size) {
    for (uint32_t i = 0; i < size && (text[i] | 0x20) != 'e'; i++)
        if (text[i] >= '1' && text[i] <= '9') return true;
    return false;
}

static uint32_t bad_decimal(lw_lexer *l, lw_token *t, uint32_t at, uint32_t end) {
    end = bad_number(l, t, at, end,
                     "it is no normal number of 64 bits; write its bits as 0d and sixteen hexadecimal digits");
    t->kind = LW_TOKEN_FLOAT;
    return end;
}

static uint32_t lex_decimal(lw_lexer *l, lw_token *t, uint32_t at, uint32_t end) {
    const char *text = l->source->text;
    if (is(text[end], C_NAME)) return bad_number(l, t, at, end, "stray letters or digits");
    if (end - at > FLOAT_TEXT_MAX) return bad_number(l, t, at, end, "too many digits");
    t->kind = LW_TOKEN_FLOAT;
    double value = decimal_value(text + at, end - at);
    if (!isnormal(value) && is_nonzero(text + at, end - at)) return bad_decimal(l, t, at, end);
    memcpy(&t->value, &value, sizeof value);
    return end;
}

static uint32_t lex_number(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    char letter = text[at] == '0' ? (char)(text[at + 1] | 0x20) : 0;
    if (letter == 'f' || letter == 'd') return lex_float_bits(l, t, at);
    if (letter == 'x' || letter == 'b') return lex_integer(l, t, at);
    uint32_t digits = lw_digits_end(text, at, 10), end = decimal_end(text, at);
    return end == digits ? lex_integer(l, t, at) : lex_decimal(l, t, at, end);
}

/* .5 is a number, .2d a word: a number has nothing but digits and an exponent behind its dot. */
static uint32_t lex_dot(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    if (is(text[at + 1], C_DIGIT)) {
        uint32_t end = decimal_end(text, at);
        if (!is(text[end], C_NAME)) return lex_decimal(l, t, at, end);
    }
    if (is(text[at + 1], C_WORD)) return lex_word(l, t, at);
    t->kind = LW_TOKEN_PUNCT;
    t->punct = '.';
    return at + 1;
}

/* ---- Strings and operators ----------------------------------------------------------------------------- */

static uint32_t lex_string(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = at + 1, size = l->source->size;
    t->kind = LW_TOKEN_STRING;
    while (end < size && text[end] != '"' && text[end] != '\n') {
        if ((unsigned char)text[end] >= 0x80) end = skip_foreign(l, end);
        else end = lw_string_step(l->source, end);
    }
    if (end < size && text[end] == '"') return end + 1;
    lw_diag_add(l->diags, LW_D_open_string, lw_scan_place(at, at + 1));
    return text[end - 1] == ';' ? end - 1 : end; /* most likely the semicolon of the statement */
}

/* Whether the pair is one operator of section 4.5, or the @@ of @@dwarf. */
static bool is_pair(char a, char b) {
    switch (a) {
    case '<': return b == '<' || b == '=';
    case '>': return b == '>' || b == '=';
    case '=':
    case '!': return b == '=';
    case '&':
    case '|':
    case '@': return a == b;
    default: return false;
    }
}

static uint32_t lex_operator(lw_lexer *l, lw_token *t, uint32_t at) {
    const char *text = l->source->text;
    t->kind = LW_TOKEN_PUNCT;
    t->punct = (unsigned char)text[at];
    if (!is_pair(text[at], text[at + 1])) return at + 1;
    t->punct |= (uint32_t)(unsigned char)text[at + 1] << 8;
    return at + 2;
}

/* One diagnostic for a run of the same byte. */
static uint32_t bad_byte(lw_lexer *l, uint32_t at) {
    const char *text = l->source->text, c = text[at];
    char shown[8];
    uint32_t end = at;
    if ((unsigned char)c >= 0x80) return skip_foreign(l, at);
    while (end < l->source->size && text[end] == c) end++;
    const lw_place place = lw_scan_place(at, end);
    lw_byte_show(shown, c);
    if (is_shown(l)) lw_diag_add(l->diags, LW_D_bad_character, place, shown);
    note_others(l, place);
    return end;
}

/* ---- The lexer ----------------------------------------------------------------------------------------- */

void lw_lex(lw_lexer *l, lw_token *t) {
    const char *text = l->source->text;
    uint32_t at = l->at;
    for (;;) {
        at = skip_space(l, at);
        *t = (lw_token){.kind = LW_TOKEN_END};
        uint32_t end = at;
        char c = text[at];
        if (is(c, C_START)) end = lex_name(l, t, at);
        else if (c == ',' || c == ';') t->kind = LW_TOKEN_PUNCT, t->punct = (unsigned char)c, end++;
        else if (c == '.') end = lex_dot(l, t, at);
        else if (is(c, C_DIGIT)) end = lex_number(l, t, at);
        else if (c == '"') end = lex_string(l, t, at);
        else if (is(c, C_OPERATOR)) end = lex_operator(l, t, at);
        else if (at < l->source->size) {
            at = bad_byte(l, at);
            continue;
        }
        t->place = lw_scan_place(at, end);
        l->at = end;
        return;
    }
}
