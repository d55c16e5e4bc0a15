/* main.c: runs the tests of the front end of PTO text. */
#include "front_pto.h"

void make_module(reading *r) { lw_pto_check(&r->arena, &r->source, &r->diags, LW_PTO_PROFILE_cpu, &r->module); }

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
