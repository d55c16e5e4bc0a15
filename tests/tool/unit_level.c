/* The level that LANEWISE_CPU asks for is the one that runs, and what the library says of the machine is what at_level,
 * which asks the compiler's own tests, says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lanewise/lanewise.h"

enum { PATH_ROOM = 4096, SKIPPED = 77 };

static void forced_level_runs(void **state) {
    (void)state;
    const char *asked = getenv("LANEWISE_CPU");
    lw_context *context;
    assert_non_null(asked);
    assert_int_equal(lw_context_new(NULL, &context), LW_OK);
    assert_string_equal(lw_context_cpu(context), asked);
    lw_context_free(context);
}

/* What at_level, which lies beside this program, exits with for a command that does nothing. */
static int at_level(const char *level) {
    char path[PATH_ROOM], command[2 * PATH_ROOM];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(size > 0);
    path[size] = 0;
    *strrchr(path, '/') = 0;
    snprintf(command, sizeof command, "'%s/at_level' %s true >/dev/null", path, level);
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void two_witnesses_agree_on_the_machine(void **state) {
    (void)state;
    for (const char *const *level = lw_cpu_levels(); *level; level++)
        assert_int_equal(at_level(*level), lw_cpu_has(*level) ? 0 : SKIPPED);
    assert_false(lw_cpu_has("v9"));
    assert_int_equal(at_level("v9"), SKIPPED);
}

static void unknown_level_is_refused(void **state) {
    (void)state;
    lw_context *context;
    assert_int_equal(lw_context_new(&(lw_options){.cpu = "v9"}, &context), LW_BAD_ARGUMENT);
    assert_null(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forced_level_runs),
        cmocka_unit_test(two_witnesses_agree_on_the_machine),
        cmocka_unit_test(unknown_level_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
