/* What a text may make of each thing: counts and sizes far beyond what 32 bits hold end in a diagnostic at their place,
 * not in a small number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "front/pto/pto.h"
#include "middle/lower.h"
#include "run/interp/link/link.h"
#include "run/run.h"

typedef struct fixture {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_program program;
    lw_code *functions[1];
    lw_lower l;
} fixture;

static const lw_place function_place = {10, 5}, here = {20, 3};

static void set_up(fixture *f) {
    *f = (fixture){0};
    lw_arena_init(&f->arena);
    lw_diags_init(&f->diags, &f->arena, &f->source);
    f->program.arena = &f->arena;
    f->program.functions = f->functions, f->program.code_count = 1;
    f->l = (lw_lower){.arena = &f->arena, .diags = &f->diags, .program = &f->program};
    lw_lower_begin(&f->l, &(lw_code){.name = "k", .is_entry = true}, function_place, 16);
    f->l.place = here;
}

static void expect(const fixture *f, lw_diag_id id, lw_place place, const char *message) {
    assert_true(f->l.failed);
    assert_int_equal(f->diags.errors, 1);
    assert_int_equal(f->diags.first->id, id);
    assert_int_equal(f->diags.first->place.at, place.at);
    assert_string_equal(f->diags.first->message, message);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* `count` registers of 64 bits that are all live at one place. */
static void keep_registers(fixture *f, uint32_t count) {
    lw_memory_form form = {.window = LW_WINDOW_global, .address = 2, .size = 3, .slot = 3};
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = lw_lower_vreg(&f->l, LW_CLASS_64);
        if (!i) first = v;
        lw_op *op = lw_lower_op(&f->l, LW_OP_special);
        op->d = v, op->a = 0, op->b = 0, op->c = 8, op->e = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        lw_op *op = lw_lower_op(&f->l, LW_OP_st);
        op->d = first + i, op->a = first, op->imm = 8 * i, op->c = lw_memory_pack(form), op->e = 0;
    }
    lw_lower_op(&f->l, LW_OP_ret);
    lw_lower_end(&f->l);
}

/* Sizes of frames are computed in 64 bits: 2^22 registers would be 4 GiB. */
static void test_registers(void **state) {
    (void)state;
    const struct {
        uint32_t count;
        bool good;
    } cases[] = {{1000, true}, {LW_FRAME_MOST / LW_SLOT_64, true}, {LW_FRAME_MOST / LW_SLOT_64 + 1, false}};
    for (size_t i = 0; i < LW_COUNT(cases); i++) {
        fixture f;
        set_up(&f);
        keep_registers(&f, cases[i].count);
        assert_false(f.l.failed);
        f.l.failed = !lw_interp_link(&f.program, &f.diags);
        if (cases[i].good) {
            assert_false(f.l.failed);
            assert_int_equal(f.program.codes[0]->frame_bytes, (uint64_t)cases[i].count * LW_SLOT_64);
        } else
            expect(&f, LW_D_many_live, function_place,
                   "'k' keeps more values at a time than the 2097152 bytes that a thread has for them");
        lw_arena_free(&f.arena);
    }
}

/* ---- Local memory ---------------------------------------------------------------------------------------------- */

static void test_room(void **state) {
    (void)state;
    fixture f;
    set_up(&f);
    assert_int_equal(lw_lower_room(&f.l, 5, 1, here, "a"), 0);
    assert_int_equal(lw_lower_room(&f.l, 8, 8, here, "b"), 8);
    assert_int_equal(lw_lower_room(&f.l, 1, 64, here, "c"), 64);
    assert_int_equal(f.l.local_align, 64);
    assert_int_equal(lw_lower_room(&f.l, LW_WINDOW_BYTES - 65, 1, here, "d"), 65); /* the last byte */
    assert_int_equal(f.l.local_bytes, LW_WINDOW_BYTES);
    assert_false(f.l.failed);
    assert_int_equal(lw_lower_room(&f.l, 1, 1, function_place, "e"), 0);
    expect(&f, LW_D_frame_too_large, function_place, "'e' does not fit in a thread's local memory");
    lw_arena_free(&f.arena);
}

/* Many pieces, each of them small enough: what calls take for arguments that are registers. */
static void test_many_rooms(void **state) {
    (void)state;
    fixture f;
    set_up(&f);
    uint32_t count = 0;
    for (; !f.l.failed && count < 1u << 24; count++) {
        uint32_t at = lw_lower_room(&f.l, 4096, 16, here, "argument");
        if (!f.l.failed) assert_int_equal(at, 4096 * count);
    }
    assert_int_equal(count, LW_WINDOW_BYTES / 4096 + 1);
    lw_arena_free(&f.arena);
    static const uint64_t sizes[] = {1ull << 32, (1ull << 32) + 8, 1ull << 48};
    for (size_t i = 0; i < LW_COUNT(sizes); i++) {
        set_up(&f);
        assert_int_equal(lw_lower_room(&f.l, sizes[i], 1u << 31, here, "large"), 0);
        expect(&f, LW_D_frame_too_large, here, "'large' does not fit in a thread's local memory");
        lw_arena_free(&f.arena);
    }
}

/* ---- Parts ----------------------------------------------------------------------------------------------------- */

static void test_parts(void **state) {
    (void)state;
#define PART(list, words) \
    { offsetof(lw_lower, list.count), words }
    static const struct {
        size_t at;
        const char *words;
    } parts[] = {
        PART(ops, "operations"),      PART(vregs, "registers and values"), PART(blocks, "blocks"),
        PART(calls, "calls"),         PART(lists, "elements of vectors"),  PART(targets, "targets of branches"),
        PART(constants, "constants"), PART(label_blocks, "labels")};
    for (size_t i = 0; i < LW_COUNT(parts); i++) {
        fixture f;
        char message[128];
        set_up(&f);
        uint32_t *count = (uint32_t *)((char *)&f.l + parts[i].at);
        *count = LW_PARTS_MOST;
        assert_true(lw_lower_fits(&f.l));
        *count = LW_PARTS_MOST + 1;
        assert_false(lw_lower_fits(&f.l));
        assert_false(lw_lower_fits(&f.l)); /* said once */
        snprintf(message, sizeof message, "'k' is too large: it has more than 67108864 %s", parts[i].words);
        expect(&f, LW_D_many_parts, here, message);
        lw_lower_end(&f.l); /* nothing is made of it */
        lw_arena_free(&f.arena);
    }
}

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

/* At most as many as their buffer has room for; the first that is too many has the blame. */
static void test_parameters(void **state) {
    (void)state;
    for (uint32_t count = LW_PTO_PARAMS_MAX; count <= LW_PTO_PARAMS_MAX + 1; count++) {
        lw_text text = {0};
        lw_arena arena;
        lw_source source;
        lw_diags diags;
        lw_text_puts(&text, "func.func @f(");
        for (uint32_t i = 0; i < count; i++) lw_text_printf(&text, "%s%%a%u: i32", i ? ", " : "", i);
        lw_text_puts(&text, ") {\n  return\n}\n");
        lw_arena_init(&arena);
        assert_true(lw_source_init(&source, &arena, "f.pto", text.at, text.size));
        lw_diags_init(&diags, &arena, &source);
        assert_int_equal(lw_pto_check(&arena, &source, &diags, LW_PTO_PROFILE_cpu, NULL), count == LW_PTO_PARAMS_MAX);
        if (diags.errors) {
            assert_int_equal(diags.first->id, LW_D_pto_many_parameters);
            assert_memory_equal(text.at + diags.first->place.at, "%a1048576", 9);
        }
        lw_arena_free(&arena);
        lw_text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers), cmocka_unit_test(test_room),
                                       cmocka_unit_test(test_many_rooms), cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
