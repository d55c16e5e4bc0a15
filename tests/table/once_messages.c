/* Messages: what lw_text_say makes of a format, and that each row of isa/diag has only what it knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

/* The same as printf makes of it: it is the witness for all that is no quoted name. */
__attribute__((format(printf, 1, 2))) static void same_as_printf(const char *format, ...) {
    lw_text ours = {0}, theirs = {0};
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    lw_text_vsay(&ours, format, args);
    lw_text_vprintf(&theirs, format, again);
    va_end(again);
    va_end(args);
    assert_string_equal(ours.at, theirs.at);
    lw_text_free(&ours);
    lw_text_free(&theirs);
}

static void formats_are_printfs(void **state) {
    (void)state;
    same_as_printf("%u of %d, 0x%x, %02x, %c%%", 4000000000u, -3, 0xdeadbeefu, 7u, 'x');
    same_as_printf("%llu %lld 0x%llx 0x%0*llx %zu", UINT64_MAX + 0ull, -5ll, 0x1234567890abcdefull, 16, 0xabcull,
                   (size_t)1 << 40);
    same_as_printf("%s '%s' '.%s' %.*s '%.*s'", "a", "b", "c", 2, "abcdef", 3, "abcdef");
    same_as_printf("%g s, %g, %g", 0.125, 1e300, 3.0);
    same_as_printf("no conversion, it's one quote, %u and 100 %%", 1u);
}

static char *say(const char *format, ...) LW_PRINTF(1, 2);
static char *say(const char *format, ...) {
    lw_text text = {0};
    va_list args;
    va_start(args, format);
    lw_text_vsay(&text, format, args);
    va_end(args);
    return text.at;
}

static void expect(char *got, const char *wanted) {
    assert_string_equal(got, wanted);
    free(got);
}

static void names_are_cut(void **state) {
    (void)state;
    char name[301], wanted[512], wide[3 * 100 + 1] = "";
    memset(name, 'n', 300);
    name[300] = 0;
    snprintf(wanted, sizeof wanted, "'%.99s…' and %s", name, name);
    expect(say("'%s' and %s", name, name), wanted); /* what is not quoted is no name */
    name[101] = 0;
    snprintf(wanted, sizeof wanted, "'.%.99s…'", name);
    expect(say("'.%s'", name), wanted);
    name[100] = 0;
    snprintf(wanted, sizeof wanted, "'%s'", name);
    expect(say("'%s'", name), wanted);
    for (int i = 0; i < 100; i++) strcat(wide, "é"); /* a hundred characters, two hundred bytes */
    snprintf(wanted, sizeof wanted, "'%s'", wide);
    expect(say("'%s'", wide), wanted);
    expect(say("'%.*s'", 3, "abcdef"), "'abc'");
}

/* What a conversion may be: anything else would stop the process when the message is made. */
static void rows_are_understood(void **state) {
    (void)state;
    for (int id = 0; id < LW_D_COUNT; id++)
        for (const char *at = strchr(lw_diag_rows[id].format, '%'); at; at = strchr(at, '%')) {
            size_t flags = strspn(at + 1, "0123456789.*"), length = strspn(at + 1 + flags, "lz");
            const char *kind = at + 1 + flags + length;
            const char *kinds = length == 0 ? "sudxcg%" : length == 1 ? "u" : "udx";
            if (!*kind || !strchr(kinds, *kind) || (length == 1 && kind[-1] != 'z'))
                fail_msg("LW%04u has the conversion %.*s", lw_diag_rows[id].number, (int)(kind + 1 - at), at);
            at = kind + 1;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_printfs),
        cmocka_unit_test(names_are_cut),
        cmocka_unit_test(rows_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
