/* hostile.c: texts that try to exhaust the stack, the memory or the patience of the front end. */
#include "front_pto.h"

#include <stdio.h>
#include <stdlib.h>

static const char whole[] =
    "#l = loc(\"f\":1:2)\n!v = !pto.vreg<64xi32>\n"
    "module @m attributes {a = [1, {b}], \"c d\"} {\n"
    "func.func private @d(i32, memref<?xu8>) -> (i64 {x})\n"
    "func.func @f(%a: !v {q = 1 : i32} loc(#l), %m: !pto.mask<b32>, %x: memref<128xi32>, %n: index) -> !v {\n"
    "%c0 = arith.constant -1 : index // comment\n%t = arith.constant true\n"
    "%r:2 = pto.vaddc %a, %a, %m : (!v, !v, !pto.mask<b32>) -> (!v, !pto.mask<b32>)\n"
    "vshr %new, %a, %r#0, %m {k} : !v loc(unknown)\n"
    "pto.vshl ins(%a, %a, %r#1 : !v, !v, !pto.mask<b32>) outs(%a : !v)\n"
    "%k = pto.mask.bits 0xff : !pto.mask<b32>\nvcmp lt, %k2, %a, %a, %k : !v\n"
    "%s = scf.for %i = %c0 to %n step %n iter_args(%y = %n) -> (index) {\n"
    "%w = pto.vload %x[%i], %m : (memref<128xi32>, !pto.mask<b32>) -> !v\nvstore %w, %x[%i], %m : "
    "!v\nscf.yield %y : index\n} {u}\n"
    "%z = scf.if %t -> (!v) {\nscf.yield %a : !v\n} else {\nscf.yield %new : !v\n}\n"
    "%q = arith.index_cast %s : index to i32\n%b = pto.vbroadcast %q : i32 -> !v\nreturn %z : !v\n}\n} "
    "loc(\"m\")\n";

static void expect_some_end(const char *text, size_t size) {
    reading r;
    read_text(&r, text, size, 0);
    assert_non_null(r.module);
    for (const lw_diag *d = r.diags.first; d; d = d->next) {
        assert_true(d->place.at <= size && d->message && *d->message);
        lw_text out = {0};
        lw_diag_render(&out, &r.source, d, false);
        lw_text_free(&out);
    }
    if (!r.diags.errors) {
        lw_text out = {0};
        lw_pto_print(&out, r.module);
        lw_text_free(&out);
    }
    read_end(&r);
}

/* Every prefix of a text that uses the whole grammar, and every text with one byte damaged or taken out. */
void test_cut_files(void **state) {
    (void)state;
    size_t size = sizeof whole - 1;
    reading r;
    read_text(&r, whole, size, 0);
    if (r.diags.errors) fail_msg("%s", r.diags.first->message);
    read_end(&r);
    char damaged[sizeof whole];
    for (size_t at = 0; at < size; at++) {
        expect_some_end(whole, at);
        static const char bytes[] = {0, '{', '}', '(', ':', '"', '\n', 'x', '0', '%', '<', (char)0xff};
        for (size_t b = 0; b < sizeof bytes; b++) {
            memcpy(damaged, whole, size);
            damaged[at] = bytes[b];
            expect_some_end(damaged, size);
        }
        memmove(damaged + at, damaged + at + 1, size - at - 1);
        expect_some_end(damaged, size - 1);
    }
}

void test_repetition(void **state) {
    (void)state;
    static const char f[] = "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>, %c: i1, %n: index) { ";
    expect_repeated("", "module {", "", false);
    expect_repeated("", "}", "", false);
    expect_repeated("", "func.func @f() { ", "", false);
    expect_repeated(f, "vshr %a, %a, %a, %m : !pto.vreg<64xi32>\n", "}", true);
    expect_repeated(f, "scf.if %c { ", "}", false);
    expect_repeated(f, "scf.if %c { }\n", "}", true);
    expect_repeated(f, "scf.for %i = %n to %n step %n { ", "", false);
    expect_repeated(f, "scf.for %i = %n to %n step %n { %x = arith.addi %i, %i : index }\n", "}", true);
    expect_repeated(f, "vshr %a, %nowhere, %a, %m : !pto.vreg<64xi32>\n", "}", false);
    expect_repeated(f, "%x = arith.constant 1 : i32\n", "}", false);
    expect_repeated(f, "{", "", false);
    expect_repeated(f, "(", "", false);
    expect_repeated(f, "\"x\" ", "", false);
    expect_repeated(f, "% ", "}", false);
    expect_repeated("func.func @f() attributes {a = ", "[", "", false);
    expect_repeated("func.func @f() attributes {a = [1", ", 1", "]} { }", true);
    expect_repeated("func.func @f() attributes {a", ", a", "} { }", true);
    expect_repeated("func.func private @f(i32", ", i32", ")", true);
    expect_repeated("func.func @f(%a: i32) { return %a", ", %a", " : i32 }", false);
    expect_repeated("func.func @f(%a: i32) { return %a : i32", ", i32", " }", false);
    expect_repeated("func.func @f() { %m = pto.mask.bits 0x", "0", " : !pto.mask<8> }", true);
    expect_repeated("func.func @f() { %m = pto.mask.bits 0x", "f", " : !pto.mask<8> }", false);
    expect_repeated("func.func @f() { %c = arith.constant ", "9", " : i64 }", false);
    expect_repeated("func.func @f() { %x", "y", " = arith.constant 1 : i64 }", true);
    expect_repeated("func.func @f() { %x", ", %x", " = arith.constant 1 : i64 }", false);
    expect_repeated("#a = ", "<", "", false);
    expect_repeated("// ", "/", "", true);
}

/* As many different types, names and functions as lines. */
void test_many_errors(void **state) {
    (void)state;
    enum { TIMES = 60000 };
    lw_text text = {0};
    for (int i = 0; i < TIMES; i++)
        lw_text_printf(&text, "func.func @f%d(%%a%d: memref<%dxi32>) { vfoo%d %%b%d }\n", i, i, i, i, i);
    reading r;
    read_text(&r, text.at, text.size, 0);
    assert_non_null(r.module);
    assert_int_equal(r.diags.errors, TIMES);
    assert_int_equal(r.module->functions.count, TIMES);
    uint32_t kept = 0;
    for (const lw_diag *d = r.diags.first; d; d = d->next) kept++;
    assert_int_equal(kept, r.diags.limit + 1);
    lw_text_free(&text);
    read_end(&r);
}

/* Wherever memory runs out, the front end leaves through the arena and loses nothing (the sanitizer sees leaks). */
void test_memory_runs_out(void **state) {
    (void)state;
    bool enough = false;
    for (size_t limit = 64; !enough; limit += limit / 8 + 16) {
        reading r;
        read_text(&r, whole, sizeof whole - 1, limit);
        enough = r.module && !r.diags.errors;
        read_end(&r);
    }
}
