/* lex.c: from bytes to tokens of PTO text, which are those of MLIR.
 *
 * The lexer never fails: what it cannot read is diagnosed once and skipped. */
#include "front/pto/pto.h"

#include <stdio.h>

/* Character classes, one table look-up each. */
enum { C_WORD = 1, C_START = 2, C_DIGIT = 4, C_HEX = 8, C_SPACE = 16, C_PUNCT = 32 };

static const uint8_t class_of[256] = {
    ['0' ... '9'] = C_WORD | C_DIGIT | C_HEX,
    ['a' ... 'f'] = C_WORD | C_START | C_HEX,
    ['g' ... 'z'] = C_WORD | C_START,
    ['A' ... 'F'] = C_WORD | C_START | C_HEX,
    ['G' ... 'Z'] = C_WORD | C_START,
    ['_'] = C_WORD | C_START,
    ['$'] = C_WORD, ['.'] = C_WORD,
    [' '] = C_SPACE, ['\t'] = C_SPACE, ['\n'] = C_SPACE, ['\r'] = C_SPACE, ['\f'] = C_SPACE, ['\v'] = C_SPACE,
    [','] = C_PUNCT, [':'] = C_PUNCT, ['='] = C_PUNCT, [';'] = C_PUNCT, ['('] = C_PUNCT, [')'] = C_PUNCT,
    ['{'] = C_PUNCT, ['}'] = C_PUNCT, ['['] = C_PUNCT, [']'] = C_PUNCT, ['<'] = C_PUNCT, ['>'] = C_PUNCT,
    ['-'] = C_PUNCT, ['+'] = C_PUNCT, ['*'] = C_PUNCT, ['?'] = C_PUNCT, ['/'] = C_PUNCT, ['|'] = C_PUNCT,
    ['&'] = C_PUNCT,
};

static bool is(char c, int class) { return class_of[(unsigned char)c] & class; }

static lw_place place(uint32_t at, uint32_t end) { return (lw_place){at, end - at}; }

/* ---- White space and comments -------------------------------------------------------------------------- */

/* The offset of the next byte that begins a token. */
static uint32_t skip_space(const lw_pto_lexer *l, uint32_t at, bool *line) {
    const char *text = l->source->text;
    for (;;) {
        for (; is(text[at], C_SPACE); at++) *line |= text[at] == '\n';
        if (LW_LIKELY(text[at] != '/' || text[at + 1] != '/')) return at;
        const char *end = memchr(text + at, '\n', l->source->size - at);
        at = end ? (uint32_t)(end - text) : l->source->size;
    }
}

/* ---- Names --------------------------------------------------------------------------------------------- */

static uint32_t lex_word(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = at, hash = LW_HASH_START;
    do hash = LW_HASH_STEP(hash, text[end]);
    while (is(text[++end], C_WORD));
    t->kind = LW_PTO_TOKEN_WORD;
    t->name = lw_symbol_find(l->symbols, text + at, end - at, LW_HASH_END(hash));
    return end;
}

/* A - belongs to a name but not to the arrow behind it. */
static bool in_name(const char *text, uint32_t at) {
    return is(text[at], C_WORD) || (text[at] == '-' && text[at + 1] != '>');
}

enum { PART_MOST = INT32_MAX }; /* any larger one is not there either */

/* #2 behind %name. */
static uint32_t lex_part(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint64_t value = 0;
    uint32_t end = at + 1;
    for (; is(text[end], C_DIGIT); end++)
        if (value < PART_MOST) value = value * 10 + (uint64_t)(text[end] - '0');
    t->value = (value < PART_MOST ? value : PART_MOST) + 1;
    return end;
}

/* %name @name #name !name ^name. */
static uint32_t lex_name(lw_pto_lexer *l, lw_pto_token *t, uint32_t at, lw_pto_token_kind kind) {
    const char *text = l->source->text;
    uint32_t end = at + 1, hash = LW_HASH_STEP(LW_HASH_START, text[at]);
    for (; in_name(text, end); end++) hash = LW_HASH_STEP(hash, text[end]);
    if (end == at + 1) {
        lw_diag_add(l->diags, LW_D_pto_empty_name, place(at, end), (char[]){text[at], 0});
        return end;
    }
    t->kind = kind;
    t->name = lw_symbol_find(l->symbols, text + at, end - at, LW_HASH_END(hash));
    if (kind == LW_PTO_TOKEN_VALUE && text[end] == '#' && is(text[end + 1], C_DIGIT))
        return lex_part(l, t, end);
    return end;
}

/* ---- Numbers and strings ------------------------------------------------------------------------------- */

static uint32_t bad_number(lw_pto_lexer *l, uint32_t at, uint32_t end) {
    while (is(l->source->text[end], C_WORD)) end++;
    uint32_t shown = end - at > 40 ? 40 : end - at;
    lw_diag_add(l->diags, LW_D_pto_bad_number, place(at, end), (int)shown, l->source->text + at);
    return end;
}

static uint32_t hex_digit(char c) { return (uint32_t)(is(c, C_DIGIT) ? c - '0' : (c | 0x20) - 'a' + 10); }

static uint32_t lex_hex(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = at + 2;
    for (; is(text[end], C_HEX); end++) {
        t->too_large |= t->value >> 60 != 0;
        t->value = t->value << 4 | hex_digit(text[end]);
    }
    return is(text[end], C_WORD) ? bad_number(l, at, end) : end;
}

static uint32_t lex_float(lw_pto_lexer *l, lw_pto_token *t, uint32_t at, uint32_t end) {
    const char *text = l->source->text;
    t->kind = LW_PTO_TOKEN_FLOAT;
    for (end++; is(text[end], C_DIGIT);) end++;
    if ((text[end] | 0x20) == 'e') {
        uint32_t power = end + 1;
        if (text[power] == '+' || text[power] == '-') power++;
        if (is(text[power], C_DIGIT))
            for (end = power; is(text[end], C_DIGIT);) end++;
    }
    return is(text[end], C_WORD) ? bad_number(l, at, end) : end;
}

/* In 64xi32 the number ends before the x. */
static uint32_t lex_number(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    const char *text = l->source->text;
    t->kind = LW_PTO_TOKEN_INT;
    if (text[at] == '0' && text[at + 1] == 'x' && is(text[at + 2], C_HEX)) return lex_hex(l, t, at);
    uint32_t end = at;
    for (; is(text[end], C_DIGIT); end++) {
        uint64_t digit = (uint64_t)(text[end] - '0');
        t->too_large |= __builtin_mul_overflow(t->value, 10, &t->value);
        t->too_large |= __builtin_add_overflow(t->value, digit, &t->value);
    }
    if (text[end] == '.' && is(text[end + 1], C_DIGIT)) return lex_float(l, t, at, end);
    return is(text[end], C_WORD) && text[end] != 'x' ? bad_number(l, at, end) : end;
}

/* The offset behind a string; *good is false where it is not closed on its line. */
static uint32_t string_end(const lw_source *source, uint32_t at, bool *good) {
    const char *text = source->text;
    uint32_t end = at + 1;
    while (end < source->size && text[end] != '"' && text[end] != '\n')
        end += text[end] == '\\' && end + 1 < source->size && text[end + 1] != '\n' ? 2 : 1;
    *good = end < source->size && text[end] == '"';
    return *good ? end + 1 : end;
}

static uint32_t lex_string(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    bool good;
    uint32_t end = string_end(l->source, at, &good);
    t->kind = LW_PTO_TOKEN_STRING;
    if (!good) lw_diag_add(l->diags, LW_D_pto_open_string, place(at, at + 1));
    return end;
}

/* One byte of a string: \n \t \\ \" or \XX, or what stands there. Returns the offset behind it. */
static uint32_t unescape(const char *text, uint32_t at, char *byte) {
    *byte = text[at];
    if (text[at] != '\\') return at + 1;
    const char c = text[at + 1];
    if (is(c, C_HEX) && is(text[at + 2], C_HEX)) {
        *byte = (char)(hex_digit(c) << 4 | hex_digit(text[at + 2]));
        return at + 3;
    }
    *byte = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    return at + 2;
}

/* A name in quotes, with one spelling for each byte. Returns its size. */
static uint32_t put_quoted(char *to, const char *name, uint32_t size) {
    char *start = to;
    *to++ = '@', *to++ = '"';
    for (uint32_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f) {
            *to++ = '\\', *to++ = "0123456789ABCDEF"[c >> 4], *to++ = "0123456789ABCDEF"[c & 15];
            continue;
        }
        if (c == '"' || c == '\\') *to++ = '\\';
        *to++ = name[i];
    }
    *to++ = '"';
    return (uint32_t)(to - start);
}

/* The name between quotes. One that could stand without them is the same name: @"f" is @f. */
static lw_symbol *quoted_name(const lw_pto_lexer *l, uint32_t at, uint32_t end) {
    char *name = lw_arena_alloc(l->symbols->arena, (size_t)(end - at) + 2), *text = name + 1;
    uint32_t size = 0;
    bool bare = end > at;
    *name = '@';
    for (uint32_t i = at; i < end; size++) i = unescape(l->source->text, i, &text[size]);
    text[size] = 0;
    for (uint32_t i = 0; i < size; i++) bare &= is(text[i], C_WORD) || (text[i] == '-' && i + 1 < size);
    if (bare) return lw_symbol_get(l->symbols, name, size + 1);
    char *quoted = lw_arena_alloc(l->symbols->arena, 3 * (size_t)size + 3);
    return lw_symbol_get(l->symbols, quoted, put_quoted(quoted, text, size));
}

/* @name or @"any name". */
static uint32_t lex_at(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    if (l->source->text[at + 1] != '"') return lex_name(l, t, at, LW_PTO_TOKEN_AT);
    bool good;
    uint32_t end = string_end(l->source, at + 1, &good);
    if (!good) lw_diag_add(l->diags, LW_D_pto_open_string, place(at + 1, at + 2));
    t->kind = LW_PTO_TOKEN_AT;
    t->name = quoted_name(l, at + 2, end - good);
    return end;
}

/* ---- Operators ----------------------------------------------------------------------------------------- */

static uint32_t lex_operator(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    char a = l->source->text[at], b = l->source->text[at + 1];
    t->kind = LW_PTO_TOKEN_PUNCT;
    t->punct = (unsigned char)a;
    if (!(a == '-' && b == '>') && !(a == ':' && b == ':')) return at + 1;
    t->punct |= (uint32_t)(unsigned char)b << 8;
    return at + 2;
}

/* One diagnostic for a run of bytes outside of ASCII. */
static uint32_t bad_byte(lw_pto_lexer *l, uint32_t at) {
    const char *text = l->source->text;
    unsigned char c = (unsigned char)text[at];
    uint32_t end = at + 1;
    while (c >= 0x80 && end < l->source->size && (unsigned char)text[end] >= 0x80) end++;
    char shown[8];
    snprintf(shown, sizeof shown, c < 0x20 || c >= 0x7f ? "\\x%02x" : "%c", c);
    lw_diag_add(l->diags, LW_D_pto_bad_character, place(at, end), shown);
    return end;
}

/* ---- The lexer ----------------------------------------------------------------------------------------- */

void lw_pto_lex(lw_pto_lexer *l, lw_pto_token *t) {
    const char *text = l->source->text;
    uint32_t before = l->at, at = before;
    bool first = at == 0;
    for (;;) {
        at = skip_space(l, at, &first);
        *t = (lw_pto_token){.kind = LW_PTO_TOKEN_END, .space_before = at != before, .first = first};
        uint32_t end = at;
        char c = text[at];
        if (c == '%')
            end = lex_name(l, t, at, LW_PTO_TOKEN_VALUE);
        else if (is(c, C_PUNCT))
            end = lex_operator(l, t, at);
        else if (is(c, C_START))
            end = lex_word(l, t, at);
        else if (c == '!')
            end = lex_name(l, t, at, LW_PTO_TOKEN_TYPE);
        else if (is(c, C_DIGIT))
            end = lex_number(l, t, at);
        else if (c == '"')
            end = lex_string(l, t, at);
        else if (c == '@')
            end = lex_at(l, t, at);
        else if (c == '#')
            end = lex_name(l, t, at, LW_PTO_TOKEN_HASH);
        else if (c == '^')
            end = lex_name(l, t, at, LW_PTO_TOKEN_CARET);
        else if (at < l->source->size)
            end = bad_byte(l, at);
        else
            end = at;
        if (t->kind == LW_PTO_TOKEN_END && at < l->source->size) { /* diagnosed */
            at = end;
            continue;
        }
        t->place = place(at, end);
        l->at = end;
        return;
    }
}
