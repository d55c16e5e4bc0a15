/* Runs the lane tests, then asks whether each row of isa/lane.def was among them. */
#include "check.h"

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t lane_value(unsigned i) {
    if (i < 40) return i;
    if (i < 40 + 3 * 64) return (UINT64_C(1) << (i - 40) / 3) + (i - 40) % 3 - 1;
    if (i < 268) return ~(UINT64_C(0)) - (i - 232);
    if (i < LANE_EDGES) return ~(UINT64_C(0)) << ((i - 268) * 2) % 64;
    uint64_t noise = mix(i);
    return i % 4 ? noise : noise >> noise % 64; /* short numbers are as likely as long ones */
}

static const char *tested[4096];
static size_t tested_count;

void lane_tested(const char *name) {
    assert_true(tested_count < sizeof tested / sizeof tested[0]);
    tested[tested_count++] = name;
}

void lane_fail(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t got,
               uint64_t want) {
    fail_msg("lw_%s(%#jx, %#jx, %#jx, %#jx) gives %#jx, expected %#jx", name, (uintmax_t)a, (uintmax_t)b,
             (uintmax_t)c, (uintmax_t)e, (uintmax_t)got, (uintmax_t)want);
}

static bool was_tested(const char *name) {
    for (size_t i = 0; i < tested_count; i++)
        if (strcmp(tested[i], name) == 0) return true;
    return false;
}

static void every_row_was_tested(void **state) {
    (void)state;
    static const char *const rows[] = {
#define LANE1(name, D, A)          #name,
#define LANE2(name, D, A, B)       #name,
#define LANE3(name, D, A, B, C)    #name,
#define LANE4(name, D, A, B, C, E) #name,
#include "lane.def"
    };
    size_t missing = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!was_tested(rows[i])) missing++, print_message("no test: %s\n", rows[i]);
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest last[] = {cmocka_unit_test(every_row_was_tested)};
    int failed = lane_logic() + lane_shift() + lane_integer() + lane_bits_group() + lane_compare();
    return failed + cmocka_run_group_tests_name("lane table", last, NULL, NULL) != 0;
}
