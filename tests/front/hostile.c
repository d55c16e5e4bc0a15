/* hostile.c: texts that try to exhaust the stack, the memory or the patience of the front end. */
#include "front.h"

#include <stdio.h>
#include <stdlib.h>

static const char head[] = ".version 9.0\n.target sm_90\n.address_size 64\n";

static const char body[] =
    ".visible .entry k(.param .u64 p, .param .align 8 .b8 q[16]) .maxntid 32, 2 .pragma \"nounroll\"; {\n"
    ".reg .b32 %r<8>; .reg .pred %p; .reg .v4 .f32 v; .shared .align 4 .b8 s[8];\n"
    "{ .reg .b64 %r1; ld.param.u64 %r1, [p+0]; L: @!%p bra L; }\n"
    "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r5, _}]; mov.b32 %r1, (1 + 2) ? 3 : 4;\n"
    "call (%r1), f, (%r2, 0f3f800000), P; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    ".loc 1 2 3, function_name L, inlined_at 1 2 3\n T: .branchtargets L2; L2: ret;\n}\n"
    ".global .align 4 .u32 g[2][2] = {{1, 2}, {3}}; .global .u64 a[] = {g+4, generic(g), 0xff(g)};\n"
    ".section .debug_x { .b8 1, 2\n l: .b32 l-l\n }\n.file 1 \"x\"\n.alias k, k;\n/* end */";

/* Every prefix of a text that uses the whole grammar, and every text with one byte taken out or damaged. */
void test_cut_files(void **state) {
    (void)state;
    char text[2048], damaged[2048];
    int size = snprintf(text, sizeof text, "%s%s", head, body);
    assert_true(size > 0 && (size_t)size < sizeof text);
    for (int at = 0; at < size; at++) {
        reading r;
        read_text(&r, text, (size_t)at, 0);
        assert_non_null(r.module);
        read_end(&r);
        static const char bytes[] = {0, '{', '}', '(', ';', '"', '\n', 'x', '0', (char)0xff};
        for (size_t b = 0; b < sizeof bytes; b++) {
            memcpy(damaged, text, (size_t)size);
            damaged[at] = bytes[b];
            read_text(&r, damaged, (size_t)size, 0);
            assert_non_null(r.module);
            if (!r.diags.errors) {
                lw_text out = {0};
                lw_ptx_print(&out, r.module);
                lw_text_free(&out);
            }
            read_end(&r);
        }
    }
}

static void expect_repeated_in_ptx(const char *front, const char *piece, const char *back, bool fine) {
    char whole[256];
    int size = snprintf(whole, sizeof whole, "%s%s", head, front);
    assert_true(size > 0 && (size_t)size < sizeof whole);
    expect_repeated(whole, piece, back, fine);
}

void test_repetition(void **state) {
    (void)state;
    static const char k[] = ".entry k() { .reg .b32 a; ";
    expect_repeated_in_ptx(".entry k() ", "{", "", false);
    expect_repeated_in_ptx(".entry k() { ", "{}", "}", true);
    expect_repeated_in_ptx(k, "}", "", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, ", "(", "", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, ", "-", "1; }", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, ", "1?1:", "1; }", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, 1", "+1", "; }", true);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, ", "{", "; }", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, ", "[", "; }", false);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; mov.b32 a, {a", ",a", "}; }", true);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; add", ".b32", " a, a, a; }", true);
    expect_repeated_in_ptx(".entry k() { .reg .b32 a; add", " .b32", " a, a, a; }", true);
    expect_repeated_in_ptx(k, "mov.b32 a, nowhere;", "}", false);
    expect_repeated_in_ptx(k, "mov.b32 a a;\n", "}", false);
    expect_repeated_in_ptx(k, "ret\n", "}", false);
    expect_repeated_in_ptx(k, "ret;", "}", true);
    expect_repeated_in_ptx(".global .b32 x = ", "{", ";", false);
    expect_repeated_in_ptx(".global .b32 x[] = {1", ",1", "};", true);
    expect_repeated_in_ptx(".global .b32 x", "[2]", ";", false);
    expect_repeated_in_ptx("", "\"", "", false);
    expect_repeated_in_ptx("", "/*", "", false);
    expect_repeated_in_ptx("", "\xff ", "", false);
    expect_repeated_in_ptx("", "# x\n", "", false);
    expect_repeated_in_ptx("", ".entry ", "", false);
    expect_repeated_in_ptx("", ".pragma \"x\";", "", true);
    expect_repeated_in_ptx(".section .debug_x {", ".b8 1 ", "}", true);
    expect_repeated_in_ptx(".entry k(", ".param .b32 a,", ".param .b32 a) { }", false);
    expect_repeated_in_ptx("", "@@dwarf x\n", "", false);
}

/* Names, ranges and sizes at their limits. */
static void expect_text(const char *text, bool fine) {
    char whole[512];
    int size = snprintf(whole, sizeof whole, "%s%s", head, text);
    reading r;
    read_text(&r, whole, (size_t)size, (size_t)1 << 20);
    assert_non_null(r.module); /* a megabyte is enough for each of these */
    if (fine != (r.diags.errors == 0)) fail_msg("%s: %s", text, r.diags.first ? r.diags.first->message : "no error");
    read_end(&r);
}

/* Each of these errors has a note; what is not kept takes its note with it, and one note tells that there were more. */
void test_many_errors(void **state) {
    (void)state;
    lw_text text = {0};
    lw_text_printf(&text, "%s.entry k() { .reg .b32 a; ", head);
    for (int i = 0; i < 5000; i++) lw_text_puts(&text, ".reg .b32 a;");
    lw_text_puts(&text, "ret; }");
    assert_false(text.failed);
    reading r;
    read_text(&r, text.at, text.size, 0);
    assert_non_null(r.module);
    lw_text_free(&text);
    assert_int_equal(r.diags.errors, 5000);
    lw_diags_note_rest(&r.diags);
    uint32_t errors = 0, notes = 0;
    const lw_diag *last = NULL;
    for (const lw_diag *d = r.diags.first; d; d = d->next) {
        errors += d->severity == LW_ERROR;
        notes += d->severity == LW_NOTE;
        last = d;
    }
    assert_int_equal(errors, r.diags.limit);
    assert_int_equal(notes, r.diags.limit + 1);
    assert_int_equal(last->id, LW_D_too_many_errors);
    read_end(&r);
}

/* Every allocation in turn is the one that fails: nothing but a clean end. */
void test_memory_runs_out(void **state) {
    (void)state;
    char text[2048];
    int size = snprintf(text, sizeof text, "%s%s", head, body);
    bool finished = false;
    for (size_t limit = 64; !finished; limit += 112) {
        reading r;
        read_text(&r, text, (size_t)size, limit);
        finished = r.module != NULL;
        read_end(&r);
        assert_true(limit < (size_t)1 << 20);
    }
    expect_text(".entry k() { .reg .b32 %r<4000000000>; mov.b32 %r3999999999, %r0; }", true);
    expect_text(".entry k() { .reg .b32 %r<4000000000>, %s<4000000000>; }", false);
    expect_text(".entry k() { .reg .b32 %r<4294967296>; }", false);
    expect_text(".entry k() { .reg .b32 %r<10>; mov.b32 %r10, %r0; }", false);
    expect_text(".entry k() { .reg .b32 %r<10>; mov.b32 %r00000000000000000000, %r0; }", false);
    expect_text(".entry k() { .reg .b32 %r<10>; mov.b32 %r99999999999999999999, %r0; }", false);
    expect_text(".global .b8 a[281474976710656];", true);
    expect_text(".global .b8 a[281474976710657];", false);
    expect_text(".global .b64 a[18446744073709551615][18446744073709551615];", false);
    expect_text(".global .align 2147483648 .b8 a;", true);
    expect_text(".global .align 4294967296 .b8 a;", false);
    expect_text(".entry k(.param .b8 a[18446744073709551615]) { }", false);
    expect_text(".entry k() { .shared .b64 a[3]; .reg .b32 r; mov.b32 r, a[4611686018427387904]; }", false);
}
