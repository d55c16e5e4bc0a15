/* Instructions that are refused for good (isa/ptx/refused.def): none of them is executable, and each row has some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "front/ptx/ptx.h"

static bool is_executable(const lw_form *form) { return form->lane || form->lower; }

static void refused_forms_are_not_executable(void **state) {
    (void)state;
    uint32_t refused = 0, others = 0;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        const lw_form *form = &lw_ptx_forms[i];
        const char *why = lw_ptx_refusal(form->pattern);
        refused += why != NULL;
        if (!why && !is_executable(form))
            print_error("%s is neither executable nor refused\n", form->pattern), others++;
        if (why && is_executable(form)) fail_msg("%s is executable, and refused: %s", form->pattern, why);
    }
    assert_true(refused > 30);
    assert_int_equal(others, 0);
}

static const struct {
    const char *opcode, *word;
} rows[] = {
#define REFUSED_UNLESS(opcode, word, a, b, why) {#opcode, word},
#include "ptx/refused.def"
};

static void rows_have_forms(void **state) {
    (void)state;
    for (size_t r = 0; r < LW_COUNT(rows); r++) {
        const size_t size = strlen(rows[r].opcode);
        uint32_t found = 0;
        for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
            const char *pattern = lw_ptx_forms[i].pattern;
            found += !strncmp(pattern, rows[r].opcode, size) && strchr(".{", pattern[size]) &&
                     strstr(pattern, rows[r].word) && lw_ptx_refusal(pattern);
        }
        if (!found) fail_msg("no form of %s %s", rows[r].opcode, rows[r].word);
    }
}

static void others_are_not_refused(void **state) {
    (void)state;
    static const char *const fine[] = {"add.u32",
                                       "istypep.texref",
                                       "prefetch.global.L1",
                                       "cp.async.bulk.shared::cta.global",
                                       "mad.lo.u32",
                                       "fence.proxy.tensormap::generic.release.gpu",
                                       "texture",
                                       "mma_"};
    for (size_t i = 0; i < LW_COUNT(fine); i++) assert_null(lw_ptx_refusal(fine[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_forms_are_not_executable),
                                       cmocka_unit_test(rows_have_forms), cmocka_unit_test(others_are_not_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
