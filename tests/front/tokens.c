/* tokens.c: the lexer against the manual's section 4. */
#include "front.h"

typedef struct expected {
    lw_token_kind kind;
    const char *text; /* NAME, DOT: the name; PUNCT: the operator; STRING: as written */
    uint64_t value;
    bool flag; /* INT: unsigned; FLOAT: single */
} expected;

static void lex_begin(reading *r, lw_symbols *symbols, lw_lexer *lexer, const char *text) {
    memset(r, 0, sizeof *r);
    lw_arena_init(&r->arena);
    assert_true(lw_source_init(&r->source, &r->arena, "text", text, strlen(text)));
    lw_diags_init(&r->diags, &r->arena, &r->source);
    lw_symbols_init(symbols, &r->arena);
    *lexer = (lw_lexer){.source = &r->source, .diags = &r->diags, .symbols = symbols};
}

static void expect_token(const lw_lexer *lexer, const lw_token *t, const expected *e) {
    const char *text = lexer->source->text + t->place.at;
    assert_int_equal(t->kind, e->kind);
    switch (e->kind) {
    case LW_TOKEN_NAME:
    case LW_TOKEN_DOT: assert_string_equal(t->name->text, e->text); break;
    case LW_TOKEN_INT:
        assert_int_equal(t->value, e->value);
        assert_int_equal(t->is_unsigned, e->flag);
        break;
    case LW_TOKEN_FLOAT:
        assert_int_equal(t->value, e->value);
        assert_int_equal(t->single, e->flag);
        break;
    case LW_TOKEN_PUNCT:
        assert_int_equal(t->punct,
                         (unsigned char)e->text[0] | (e->text[1] ? (unsigned)(unsigned char)e->text[1] << 8 : 0));
        break;
    case LW_TOKEN_STRING:
        assert_int_equal(t->place.size, strlen(e->text));
        assert_memory_equal(text, e->text, t->place.size);
        break;
    case LW_TOKEN_END: break;
    }
}

static void expect_tokens(const char *text, const expected *want, size_t count) {
    jmp_buf out;
    reading r;
    lw_symbols symbols;
    lw_lexer lexer;
    lex_begin(&r, &symbols, &lexer, text);
    if (!LW_ARENA_TRY(&r.arena, out)) fail();
    for (size_t i = 0; i < count; i++) {
        lw_token token;
        lw_lex(&lexer, &token);
        expect_token(&lexer, &token, &want[i]);
    }
    assert_int_equal(r.diags.errors, 0);
    read_end(&r);
}

void test_tokens(void **state) {
    (void)state;
    static const expected names[] = {
        {LW_TOKEN_NAME, "%r12", 0, 0},       {LW_TOKEN_NAME, "$L__BB0_2", 0, 0}, {LW_TOKEN_NAME, "_a", 0, 0},
        {LW_TOKEN_NAME, "_", 0, 0},          {LW_TOKEN_NAME, "add", 0, 0},       {LW_TOKEN_DOT, "u32", 0, 0},
        {LW_TOKEN_DOT, "shared::cta", 0, 0}, {LW_TOKEN_DOT, "2d", 0, 0},         {LW_TOKEN_NAME, "%tid", 0, 0},
        {LW_TOKEN_DOT, "x", 0, 0},           {LW_TOKEN_NAME, "%1", 0, 0},        {LW_TOKEN_END, "", 0, 0},
    };
    expect_tokens("%r12 $L__BB0_2\t_a _\nadd.u32.shared::cta .2d %tid.x %1", names, LW_COUNT(names));
    static const expected integers[] = {
        {LW_TOKEN_INT, "", 0, false},         {LW_TOKEN_INT, "", 8192, true}, {LW_TOKEN_INT, "", 255, false},
        {LW_TOKEN_INT, "", 5, false},         {LW_TOKEN_INT, "", 8, false},   {LW_TOKEN_INT, "", INT64_MAX, false},
        {LW_TOKEN_INT, "", UINT64_MAX, true}, {LW_TOKEN_INT, "", 3, true},    {LW_TOKEN_END, "", 0, 0},
    };
    expect_tokens("0 8192U 0xFf 0b101 010 9223372036854775807 0xffffffffffffffff 0B11U", integers, LW_COUNT(integers));
    static const expected floats[] = {
        {LW_TOKEN_FLOAT, "", 0x3f800000, true},
        {LW_TOKEN_FLOAT, "", 0x7fc00000, true},
        {LW_TOKEN_FLOAT, "", 0x3ff0000000000000, false},
        {LW_TOKEN_FLOAT, "", 0x3ff8000000000000, false},
        {LW_TOKEN_FLOAT, "", 0x3fe0000000000000, false},
        {LW_TOKEN_FLOAT, "", 0x4000000000000000, false},
        {LW_TOKEN_FLOAT, "", 0x40f86a0000000000, false},
        {LW_TOKEN_FLOAT, "", 0x3fb999999999999a, false},
        {LW_TOKEN_END, "", 0, 0},
    };
    expect_tokens("0f3f800000 0F7FC00000 0d3ff0000000000000 1.5 .5 2. 1e5 1.0e-1", floats, LW_COUNT(floats));
    static const expected others[] = {
        {LW_TOKEN_PUNCT, "@", 0, 0},  {LW_TOKEN_PUNCT, "!", 0, 0},
        {LW_TOKEN_NAME, "%p", 0, 0},  {LW_TOKEN_PUNCT, "|", 0, 0},
        {LW_TOKEN_NAME, "%q", 0, 0},  {LW_TOKEN_PUNCT, "<<", 0, 0},
        {LW_TOKEN_PUNCT, ">", 0, 0},  {LW_TOKEN_PUNCT, ">=", 0, 0},
        {LW_TOKEN_PUNCT, "&&", 0, 0}, {LW_TOKEN_STRING, "\"a \\\" /* b\"", 0, 0},
        {LW_TOKEN_PUNCT, ";", 0, 0},  {LW_TOKEN_END, "", 0, 0},
    };
    expect_tokens(
        "@!%p|%q << > // ; \n>=/* x * / \n **/&& \"a \\\" /* b\"\n# 12 \"file.c\"\n  ; # 1 \"a\" 2\n #line 7 \"b\"\n",
        others, LW_COUNT(others));
}

typedef struct faulty {
    const char *text;
    lw_diag_id id;
    uint32_t tokens;
} faulty;

static uint32_t count_tokens(lw_lexer *lexer) {
    lw_token token;
    uint32_t tokens = 0;
    for (lw_lex(lexer, &token); token.kind != LW_TOKEN_END; lw_lex(lexer, &token)) tokens++;
    return tokens;
}

static void expect_fault(const faulty *c) {
    jmp_buf out;
    reading r;
    lw_symbols symbols;
    lw_lexer lexer;
    lex_begin(&r, &symbols, &lexer, c->text);
    if (!LW_ARENA_TRY(&r.arena, out)) fail();
    assert_int_equal(count_tokens(&lexer), c->tokens);
    assert_int_equal(r.diags.errors, 1);
    assert_int_equal(r.diags.first->id, c->id);
    read_end(&r);
}

/* One fault each, and the lexer still reaches the end. */
void test_token_faults(void **state) {
    (void)state;
    static const faulty cases[] = {
        {"a \x01 b", LW_D_bad_character, 2},
        {"a \\ b", LW_D_bad_character, 2},
        {"a // \xc3\xa9\nb", LW_D_not_ascii, 2},
        {"a \xff\xfe b", LW_D_not_ascii, 2},
        {"a /* b", LW_D_open_comment, 1},
        {"a \"b\nc", LW_D_open_string, 3},
        {"08", LW_D_bad_number, 1},
        {"0x", LW_D_bad_number, 1},
        {"0b12", LW_D_bad_number, 1},
        {"12ab", LW_D_bad_number, 1},
        {"0f3f8", LW_D_bad_number, 1},
        {"0f3f8000000", LW_D_bad_number, 1},
        {"0xffu", LW_D_bad_number, 1},
        {"#include <x>\na", LW_D_preprocessor_line, 1},
        {"# 1\na", LW_D_preprocessor_line, 1},
        {"# 1 \"x\na", LW_D_preprocessor_line, 1},
        {"a # 1", LW_D_bad_character, 2},
        {"a # 1\"x\"", LW_D_bad_character, 3},
    };
    for (size_t i = 0; i < LW_COUNT(cases); i++) expect_fault(&cases[i]);
}
