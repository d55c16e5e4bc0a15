/* reading.c: see reading.h. Compiled into the test program of each front end, with its header. */
#include LW_TEST_FRONT

#include <stdio.h>
#include <stdlib.h>

void read_text(reading *r, const char *text, size_t size, size_t limit) {
    jmp_buf out;
    memset(r, 0, sizeof *r);
    lw_arena_init(&r->arena);
    r->arena.limit = limit;
    if (LW_ARENA_TRY(&r->arena, out)) {
        assert_true(lw_source_init(&r->source, &r->arena, "text", text, size));
        lw_diags_init(&r->diags, &r->arena, &r->source);
        make_module(r);
        return;
    }
    r->module = NULL;
}

void read_end(reading *r) { lw_arena_free(&r->arena); }

char *load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

void expect_same_when_printed(const char *name, const char *text, size_t size) {
    reading first, second;
    lw_text out = {0};
    read_text(&first, text, size, 0);
    if (first.diags.errors) fail_msg("%s: %s", name, first.diags.first->message);
    print_module(&out, first.module);
    assert_false(out.failed);
    read_text(&second, out.at, out.size, 0);
    if (second.diags.errors) fail_msg("%s, printed: %s", name, second.diags.first->message);
    if (!same_module(first.module, second.module)) fail_msg("%s: the print is another module", name);
    lw_text_free(&out);
    read_end(&first);
    read_end(&second);
}

void expect_repeated(const char *front, const char *piece, const char *back, bool fine) {
    enum { TIMES = 100000 };
    lw_text text = {0};
    lw_text_puts(&text, front);
    for (int i = 0; i < TIMES; i++) lw_text_puts(&text, piece);
    lw_text_puts(&text, back);
    assert_false(text.failed);
    reading r;
    read_text(&r, text.at, text.size, 0);
    assert_non_null(r.module);
    if (fine != (r.diags.errors == 0)) fail_msg("%s: %s", piece, r.diags.first ? r.diags.first->message : "no error");
    lw_text_free(&text);
    read_end(&r);
}

bool same_symbol(const lw_symbol *a, const lw_symbol *b) {
    return (!a && !b) || (a && b && a->size == b->size && !memcmp(a->text, b->text, a->size));
}

bool same_text(const char *a, const char *b) { return (!a && !b) || (a && b && !strcmp(a, b)); }
