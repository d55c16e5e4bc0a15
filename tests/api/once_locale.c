/* A program whose locale has a decimal comma: numbers of the text are read, and those of messages written, with
 * points. */
#include "api.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

static const char text[] = HEAD ".global .f32 single = 0.1;\n.global .f64 whole = 1.5e-3;\n.visible .entry k(.param "
                                ".u64 out)\n{\n .reg .u64 %p; .reg .f64 %x;\n"
                                " ld.param.u64 %p, [out]; mov.f64 %x, 0.1; st.global.f64 [%p], %x; ret;\n}\n"
                                ".visible .entry spin()\n{\nagain: bra again;\n}\n";

/* One that is installed, or one that is made for this. */
static bool become_german(char folder[]) {
    char command[256];
    if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
    if (!mkdtemp(folder)) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    setenv("LOCPATH", folder, 1);
    return !system(command) && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void numbers_have_points(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, text);
    uint64_t at, size, out = new_buffer(context, 64);
    uint32_t single;
    double value;
    assert_int_equal(lw_module_global(module, "single", &at, &size), LW_OK);
    assert_int_equal(lw_memory_read(context, at, &single, 4), LW_OK);
    assert_int_equal(single, 0x3dcccccd);
    assert_int_equal(lw_module_global(module, "whole", &at, &size), LW_OK);
    assert_int_equal(lw_memory_read(context, at, &value, 8), LW_OK);
    assert_true(value == 1.5e-3);
    lw_launch_config config = shape(1, 1);
    assert_int_equal(lw_launch(get_kernel(module, "k"), &config, (void *[]){&out}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, out, &value, 8), LW_OK);
    assert_true(value == 0.1);
    config.time_limit = 0.125;
    assert_int_equal(lw_launch(get_kernel(module, "spin"), &config, NULL, NULL), LW_STOPPED);
    assert_string_equal(lw_context_message(context), "the time limit of 0.125 s is over [LW4081]");
    lw_context_free(context);
}

int main(void) {
    char folder[] = "/tmp/lanewise-locale-XXXXXX", command[64];
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_have_points)};
    bool is_german = become_german(folder) && !strcmp(localeconv()->decimal_point, ",");
    int failed = is_german ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
    if (!is_german) printf("skipped: no locale with a decimal comma can be made\n");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (!strstr(folder, "XXXXXX") && system(command)) return 1;
    return is_german ? failed : 77;
}
