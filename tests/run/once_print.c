/* once_print.c: printf of kernels against the host's own, of which it is a copy for other arguments; and what it does
 * where the host's has no words. */
#include "run/run.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FORMAT = 64, VALUES = 4096, TEXTS = 16384, ROOM = 65536 };
static char guest[ROOM + 8]; /* the kernel's memory; nothing is at 0 */

static bool read_guest(void *user, uint64_t address, void *to, uint32_t bytes) {
    (void)user;
    if (!address || address > ROOM || bytes > ROOM - address) return false;
    memcpy(to, guest + address, bytes);
    return true;
}

/* Values as a compiler lays them out behind a format: integers of 32 and 64 bits, doubles, addresses of texts. */
static uint64_t value_at;
static void begin(const char *format) {
    memset(guest, 0x5a, sizeof guest);
    strcpy(guest + FORMAT, format);
    value_at = VALUES;
}
static void give(const void *value, uint32_t bytes) {
    value_at = (value_at + bytes - 1) / bytes * bytes;
    memcpy(guest + value_at, value, bytes);
    value_at += bytes;
}
static void give_int(int32_t value) { give(&value, 4); }
static void give_long(int64_t value) { give(&value, 8); }
static void give_double(double value) { give(&value, 8); }
static void give_text(uint64_t at, const char *text) {
    strcpy(guest + at, text);
    give(&at, 8);
}

static void expect(const char *wanted, int32_t arguments) {
    lw_text out = {0};
    int32_t count;
    bool full;
    assert_int_equal(lw_print_format(&out, read_guest, NULL, FORMAT, VALUES, 1 << 20, &count, &full), 0);
    if (strcmp(out.at ? out.at : "", wanted) != 0)
        fail_msg("'%s' gives '%s', and the host '%s'", guest + FORMAT, out.at, wanted);
    assert_int_equal(count, arguments);
    assert_false(full);
    lw_text_free(&out);
}

/* Every set of flags, some widths and precisions, written or given, before a letter. */
typedef void use(const char *format, int stars, int width, int precision);
static void each_spelling(const char *length, const char *letters, use *use) {
    static const int numbers[] = {-1, 0, 1, 7, 23};
    for (const char *letter = letters; *letter; letter++)
        for (uint32_t flags = 0; flags < 32; flags++)
            for (uint32_t w = 0; w < 5; w++)
                for (uint32_t p = 0; p < 5; p++)
                    for (int stars = 0; stars < 4; stars++) {
                        char format[64] = "<%", part[16];
                        for (int k = 0; k < 5; k++)
                            if (flags >> k & 1) strncat(format, &"-+ #0"[k], 1);
                        if (stars & 1) strcat(format, "*");
                        else if (numbers[w] > 0) snprintf(part, sizeof part, "%d", numbers[w]), strcat(format, part);
                        if (stars & 2) strcat(format, ".*");
                        else if (numbers[p] >= 0) snprintf(part, sizeof part, ".%d", numbers[p]), strcat(format, part);
                        strcat(format, length);
                        strncat(format, letter, 1);
                        strcat(format, ">");
                        use(format, stars, numbers[w] * (w == 4 ? -1 : 1), numbers[p]);
                    }
}

/* The host's call for one value, behind the numbers for the stars. */
#define BOTH(value, give_value) \
    do { \
        char wanted[512]; \
        begin(format); \
        if (stars & 1) give_int(width); \
        if (stars & 2) give_int(precision); \
        give_value; \
        if (stars == 3) snprintf(wanted, sizeof wanted, format, width, precision, value); \
        else if (stars) snprintf(wanted, sizeof wanted, format, stars & 1 ? width : precision, value); \
        else snprintf(wanted, sizeof wanted, format, value); \
        expect(wanted, 1 + (stars & 1) + (stars >> 1)); \
    } while (0)

static void use_ints(const char *format, int stars, int width, int precision) {
    static const int32_t values[] = {0, 1, -1, 42, INT32_MIN, INT32_MAX, 0x12348765};
    for (size_t k = 0; k < LW_COUNT(values); k++) BOTH(values[k], give_int(values[k]));
}
static void use_longs(const char *format, int stars, int width, int precision) {
    static const int64_t values[] = {0, -1, INT64_MIN, INT64_MAX, 0x123456789abcdef};
    for (size_t k = 0; k < LW_COUNT(values); k++) BOTH((long long)values[k], give_long(values[k]));
}
static void use_doubles(const char *format, int stars, int width, int precision) {
    static const double values[] = {0, -0.0, 1, -1.5, 0.1, 1e300, 4.9e-324, 123456.789, 1.0 / 0.0, -1.0 / 0.0};
    for (size_t k = 0; k < LW_COUNT(values); k++) BOTH(values[k], give_double(values[k]));
}
static void use_texts(const char *format, int stars, int width, int precision) {
    static const char *const values[] = {"", "a", "some words, and more than any width"};
    if (strpbrk(format, "+ #0")) return; /* means nothing for %s, so the host may do as it likes */
    for (size_t k = 0; k < LW_COUNT(values); k++) BOTH(values[k], give_text(TEXTS, values[k]));
}

/* As in C: format and values are made at run time. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void test_like_the_host(void **state) {
    (void)state;
    each_spelling("", "diouxX", use_ints);
    each_spelling("h", "dux", use_ints);
    each_spelling("hh", "iuX", use_ints);
    each_spelling("l", "dux", use_longs);
    each_spelling("ll", "iX", use_longs);
    each_spelling("", "eEfFgGaA", use_doubles);
    each_spelling("", "s", use_texts);
}

static void test_several(void **state) {
    (void)state;
    begin("%d %s %5.1f|%c%c %lld %p %% %u\n");
    give_int(-3), give_text(TEXTS, "word"), give_double(2.25), give_int('x'), give_int('y'), give_long(1ll << 40),
        give_long(0x1000), give_int(7);
    expect("-3 word   2.2|xy 1099511627776 0x1000 % 7\n", 8);
    begin("nothing");
    expect("nothing", 0);
    begin("");
    expect("", 0);
}

/* %n writes nothing; what is no conversion stays; a null text has a name. */
static void test_odd_ones(void **state) {
    (void)state;
    begin("a%nb%dc");
    give_long(TEXTS), give_int(5);
    expect("ab5c", 2);
    begin("%k %5.3y %jd %zd %td %Lf%");
    expect("%k %5.3y %jd %zd %td %Lf%", 0);
    begin("%lhd|%llhd|%hld");
    expect("%lhd|%llhd|%hld", 0);
    begin("%lc|%d");
    give_long('A'), give_int(7);
    expect("A|7", 2);
    begin("%s|%9s|%.3s|%5c");
    give_long(0), give_long(0), give_long(0), give_int('q');
    expect("(null)|   (null)||    q", 4);
}

/* The manual of CUDA: the first 32 count, and the conversions behind them come out as they are. */
static void test_many(void **state) {
    (void)state;
    char format[FORMAT + 200] = "", wanted[400] = "";
    for (int i = 0; i < 34; i++) strcat(format, "%d,");
    begin(format);
    for (int i = 0; i < 34; i++) {
        give_int(i);
        if (i < 32) snprintf(wanted + strlen(wanted), 16, "%d,", i);
    }
    strcat(wanted, "%d,%d,");
    expect(wanted, 32);
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *format;
        uint64_t format_at, values_at, fault;
    } rows[] = {{"%d", FORMAT, ROOM - 2, ROOM},
                {"%s", FORMAT, VALUES, 1 << 20},
                {"abc", ROOM + 5, VALUES, ROOM + 5},
                {"%*d", FORMAT, ROOM + 4, ROOM + 4}};
    for (size_t i = 0; i < LW_COUNT(rows); i++) {
        lw_text out = {0};
        int32_t count;
        bool full;
        begin(rows[i].format);
        give_long(1 << 20);
        assert_int_equal(
            lw_print_format(&out, read_guest, NULL, rows[i].format_at, rows[i].values_at, 1000, &count, &full),
            rows[i].fault);
        lw_text_free(&out);
    }
    int32_t count = 0;
    bool full = true;
    lw_text none = {0};
    assert_int_equal(lw_print_format(&none, read_guest, NULL, 0, VALUES, 1000, &count, &full), 0);
    assert_int_equal(count, -1);
    assert_false(full);
    assert_null(none.at);
}

/* Too long is nothing at all, and costs neither time nor memory; what is there before stays. */
static void test_limit(void **state) {
    (void)state;
    static const char *const formats[] = {
        "%2147483647d", "%.2147483647f", "%99999999999999999999s", "0123456789%c", "%11d", "%.11d", "%s%s"};
    for (size_t i = 0; i < LW_COUNT(formats); i++) {
        lw_text out = {0};
        int32_t count;
        bool full;
        lw_text_puts(&out, "before");
        begin(formats[i]);
        for (int k = 0; k < 2; k++) give_text(TEXTS, "sixsix");
        assert_int_equal(lw_print_format(&out, read_guest, NULL, FORMAT, VALUES, 10, &count, &full), 0);
        assert_true(full);
        assert_string_equal(out.at, "before");
        lw_text_free(&out);
    }
}

/* Points are points, wherever the host is. */
static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < LW_COUNT(names); i++) setlocale(LC_ALL, names[i]); /* where one of them is installed */
    begin("%.2f %'d");
    give_double(1234567.5), give_int(1234567);
    expect("1234567.50 %'d", 1);
    setlocale(LC_ALL, "C");
}

static void test_order(void **state) {
    (void)state;
    lw_printer printer;
    assert_true(lw_printer_init(&printer, 20));
    static const struct {
        uint64_t cta;
        const char *text;
        lw_kept kept;
    } calls[] = {{7, "c", LW_KEPT},
                 {1, "a", LW_KEPT},
                 {7, "d", LW_KEPT},
                 {7, "e", LW_KEPT},
                 {1, "b", LW_KEPT},
                 {0, "", LW_KEPT},
                 {0, "0123456789012345", LW_KEPT_not},
                 {0, "012345678901234", LW_KEPT},
                 {1, "x", LW_KEPT_not}};
    for (size_t i = 0; i < LW_COUNT(calls); i++) {
        lw_text text = {0};
        lw_text_puts(&text, calls[i].text);
        assert_int_equal(lw_printer_add(&printer, calls[i].cta, &text), calls[i].kept);
        lw_text_free(&text);
    }
    lw_text all = {0};
    lw_printer_flush(&printer, (lw_print_text *)(void (*)(void))lw_text_add, &all);
    assert_string_equal(all.at, "012345678901234abcde");
    lw_text_free(&all);
    lw_printer_end(&printer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_the_host), cmocka_unit_test(test_several), cmocka_unit_test(test_odd_ones),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_faults),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_locale),        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
