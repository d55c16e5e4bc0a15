/* main.c: runs the tests of the front end. */
#include "front.h"

static void read_inside(reading *r) {
    r->module = lw_ptx_parse(&r->arena, &r->source, &r->diags);
    lw_ptx_resolve(r->module);
}

void read_text(reading *r, const char *text, size_t size, size_t limit) {
    jmp_buf out;
    memset(r, 0, sizeof *r);
    lw_arena_init(&r->arena);
    r->arena.limit = limit;
    if (LW_ARENA_TRY(&r->arena, out)) {
        assert_true(lw_source_init(&r->source, &r->arena, "text", text, size));
        lw_diags_init(&r->diags, &r->arena, &r->source);
        read_inside(r);
        return;
    }
    r->module = NULL;
}

void read_end(reading *r) { lw_arena_free(&r->arena); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),           cmocka_unit_test(test_token_faults),
        cmocka_unit_test(test_constants),        cmocka_unit_test(test_constant_faults),
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_difference_is_seen),
        cmocka_unit_test(test_cut_files),        cmocka_unit_test(test_repetition),
        cmocka_unit_test(test_many_errors),      cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
