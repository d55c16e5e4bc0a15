#include "front_pto.h"

static void work(reading *r, const char *text, size_t size) {
    if (!lw_source_init(&r->source, &r->arena, "test.pto", text, size)) fail();
    lw_diags_init(&r->diags, &r->arena, &r->source);
    lw_pto_check(&r->arena, &r->source, &r->diags, LW_PTO_PROFILE_cpu, &r->module);
}

void read_text(reading *r, const char *text, size_t size, size_t limit) {
    jmp_buf out;
    memset(r, 0, sizeof *r);
    lw_arena_init(&r->arena);
    r->arena.limit = limit;
    if (LW_ARENA_TRY(&r->arena, out))
        work(r, text, size);
    else
        r->module = NULL;
}

void read_end(reading *r) { lw_arena_free(&r->arena); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_difference_is_seen),
        cmocka_unit_test(test_cut_files),     cmocka_unit_test(test_repetition),
        cmocka_unit_test(test_many_errors),   cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_one_operation), cmocka_unit_test(test_registers),
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_mask_bits),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
