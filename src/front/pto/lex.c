/* lex.c: from bytes to tokens of PTO text, which are those of MLIR.
 *
 * The lexer never fails: what it cannot read is diagnosed once and skipped. */
#include "base/scan.h"
#include "front/pto/pto.h"

/* Character classes, one table look-up each. */
enum {
    C_DIGIT = LW_C_DIGIT,
    C_HEX = LW_C_HEX,
    C_SPACE = LW_C_SPACE,
    C_WORD = LW_C_OWN,
    C_START = C_WORD << 1,
    C_PUNCT = C_WORD << 2
};

static const uint8_t class_of[256] = {
    LW_SCAN_CLASSES(C_WORD, C_WORD | C_START),
    ['_'] = C_WORD | C_START,
    ['$'] = C_WORD,
    ['.'] = C_WORD,
    ['\v'] = C_SPACE,
    [','] = C_PUNCT,
    [':'] = C_PUNCT,
    ['='] = C_PUNCT,
    [';'] = C_PUNCT,
    ['('] = C_PUNCT,
    [')'] = C_PUNCT,
    ['{'] = C_PUNCT,
    ['}'] = C_PUNCT,
    ['['] = C_PUNCT,
    [']'] = C_PUNCT,
    ['<'] = C_PUNCT,
    ['>'] = C_PUNCT,
    ['-'] = C_PUNCT,
    ['+'] = C_PUNCT,
    ['*'] = C_PUNCT,
    ['?'] = C_PUNCT,
    ['/'] = C_PUNCT,
    ['|'] = C_PUNCT,
    ['&'] = C_PUNCT,
};

static bool is(char c, int class) { return class_of[(unsigned char)c] & class; }

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
    uint64_t value;
    const uint32_t end = lw_digits_end(text, at + 1, 10);
    const bool fits = lw_digits_read(text, at + 1, end, 10, &value);
    t->value = (fits && value < PART_MOST ? value : PART_MOST) + 1;
    return end;
}

/* %name @name #name !name ^name. */
static uint32_t lex_name(lw_pto_lexer *l, lw_pto_token *t, uint32_t at, lw_pto_token_kind kind) {
    const char *text = l->source->text;
    uint32_t end = at + 1, hash = LW_HASH_STEP(LW_HASH_START, text[at]);
    for (; in_name(text, end); end++) hash = LW_HASH_STEP(hash, text[end]);
    if (end == at + 1) {
        lw_diag_add(l->diags, LW_D_pto_empty_name, lw_scan_place(at, end), (char[]){text[at], 0});
        return end;
    }
    t->kind = kind;
    t->name = lw_symbol_find(l->symbols, text + at, end - at, LW_HASH_END(hash));
    if (kind == LW_PTO_TOKEN_VALUE && text[end] == '#' && is(text[end + 1], C_DIGIT)) return lex_part(l, t, end);
    return end;
}

/* ---- Numbers and strings ------------------------------------------------------------------------------- */

static uint32_t bad_number(lw_pto_lexer *l, uint32_t at, uint32_t end) {
    while (is(l->source->text[end], C_WORD)) end++;
    lw_diag_add(l->diags, LW_D_pto_bad_number, lw_scan_place(at, end), lw_scan_shown(at, end), l->source->text + at);
    return end;
}

static uint32_t lex_hex(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    const char *text = l->source->text;
    uint32_t end = lw_digits_end(text, at + 2, 16);
    t->too_large = !lw_digits_read(text, at + 2, end, 16, &t->value);
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
    uint32_t end = lw_digits_end(text, at, 10);
    t->too_large = !lw_digits_read(text, at, end, 10, &t->value);
    if (text[end] == '.' && is(text[end + 1], C_DIGIT)) return lex_float(l, t, at, end);
    return is(text[end], C_WORD) && text[end] != 'x' ? bad_number(l, at, end) : end;
}

/* The offset behind a string; *good is false where it is not closed on its line. */
static uint32_t string_end(const lw_source *source, uint32_t at, bool *good) {
    const char *text = source->text;
    uint32_t end = at + 1;
    while (end < source->size && text[end] != '"' && text[end] != '\n') end = lw_string_step(source, end);
    *good = end < source->size && text[end] == '"';
    return *good ? end + 1 : end;
}

static uint32_t lex_string(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    bool good;
    uint32_t end = string_end(l->source, at, &good);
    t->kind = LW_PTO_TOKEN_STRING;
    if (!good) lw_diag_add(l->diags, LW_D_pto_open_string, lw_scan_place(at, at + 1));
    return end;
}

/* One byte of a string: \n \t \\ \" or \XX, or what stands there. Returns the offset behind it. */
static uint32_t unescape(const char *text, uint32_t at, char *byte) {
    *byte = text[at];
    if (text[at] != '\\') return at + 1;
    const char c = text[at + 1];
    if (is(c, C_HEX) && is(text[at + 2], C_HEX)) {
        *byte = (char)(lw_digit_value(c) << 4 | lw_digit_value(text[at + 2]));
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
    bool bare, number = end > at;
    *name = '@';
    for (uint32_t i = at; i < end; size++) i = unescape(l->source->text, i, &text[size]);
    text[size] = 0;
    for (uint32_t i = 0; i < size; i++) number &= is(text[i], C_DIGIT);
    bare = is(text[0], C_START); /* MLIR's suffix-id: digits, or a letter and whatever may be in a word */
    for (uint32_t i = 0; i < size; i++) bare &= is(text[i], C_WORD) || (text[i] == '-' && i + 1 < size);
    if (bare || number) return lw_symbol_get(l->symbols, name, size + 1);
    char *quoted = lw_arena_alloc(l->symbols->arena, 3 * (size_t)size + 3);
    return lw_symbol_get(l->symbols, quoted, put_quoted(quoted, text, size));
}

/* @name or @"any name". */
static uint32_t lex_at(lw_pto_lexer *l, lw_pto_token *t, uint32_t at) {
    if (l->source->text[at + 1] != '"') return lex_name(l, t, at, LW_PTO_TOKEN_AT);
    bool good;
    uint32_t end = string_end(l->source, at + 1, &good);
    if (!good) lw_diag_add(l->diags, LW_D_pto_open_string, lw_scan_place(at + 1, at + 2));
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
    const uint32_t foreign = lw_foreign_end(l->source, at), end = foreign > at ? foreign : at + 1;
    char shown[8];
    lw_byte_show(shown, l->source->text[at]);
    lw_diag_add(l->diags, LW_D_pto_bad_character, lw_scan_place(at, end), shown);
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
        if (c == '%') end = lex_name(l, t, at, LW_PTO_TOKEN_VALUE);
        else if (is(c, C_PUNCT)) end = lex_operator(l, t, at);
        else if (is(c, C_START)) end = lex_word(l, t, at);
        else if (c == '!') end = lex_name(l, t, at, LW_PTO_TOKEN_TYPE);
        else if (is(c, C_DIGIT)) end = lex_number(l, t, at);
        else if (c == '"') end = lex_string(l, t, at);
        else if (c == '@') end = lex_at(l, t, at);
        else if (c == '#') end = lex_name(l, t, at, LW_PTO_TOKEN_HASH);
        else if (c == '^') end = lex_name(l, t, at, LW_PTO_TOKEN_CARET);
        else if (at < l->source->size) end = bad_byte(l, at);
        else end = at;
        if (t->kind == LW_PTO_TOKEN_END && at < l->source->size) { /* diagnosed */
            at = end;
            continue;
        }
        t->place = lw_scan_place(at, end);
        l->at = end;
        return;
    }
}
