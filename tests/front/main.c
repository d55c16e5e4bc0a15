/* main.c: runs the tests of the front end. */
#include "front.h"

void make_module(reading *r) {
    r->module = lw_ptx_parse(&r->arena, &r->source, &r->diags);
    lw_ptx_resolve(r->module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_token_faults),
        cmocka_unit_test(test_constants),   cmocka_unit_test(test_constant_faults),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_difference_is_seen),
        cmocka_unit_test(test_cut_files),   cmocka_unit_test(test_repetition),
        cmocka_unit_test(test_many_errors), cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
