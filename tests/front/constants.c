/* constants.c: constant expressions. The values are those that ptxas 13.0 stores for .global .u64 v = EXPRESSION. */
#include "front.h"

#include <stdio.h>

static const struct {
    const char *text;
    uint64_t value;
} values[] = {
    {"1+2*3", 0x7u},
    {"(1+2)*3", 0x9u},
    {"7 / 2", 0x3u},
    {"-7 / 2", 0xfffffffffffffffdu},
    {"7 % 3", 0x1u},
    {"-7 % 3", 0x0u},
    {"7 % -3", 0x7u},
    {"-7U % 3", 0x0u},
    {"-1 / 2U", 0x7fffffffffffffffu},
    {"-1 / 2", 0x0u},
    {"-1 >> 1", 0xffffffffffffffffu},
    {"-1U >> 1", 0x7fffffffffffffffu},
    {"(.u64)-1 >> 1", 0x7fffffffffffffffu},
    {"(.s64)0xffffffffffffffff >> 1", 0xffffffffffffffffu},
    {"0xffffffffffffffff >> 4", 0xfffffffffffffffu},
    {"0x7fffffffffffffff >> 4", 0x7ffffffffffffffu},
    {"1 << 63", 0x8000000000000000u},
    {"1 << 64", 0x1u},
    {"1 << 65", 0x2u},
    {"-1 >> 64", 0xffffffffffffffffu},
    {"-1 >> 100", 0xffffffffffffffffu},
    {"1U << 64", 0x1u},
    {"1 << -1", 0x8000000000000000u},
    {"8 >> -1", 0x0u},
    {"~0", 0xffffffffffffffffu},
    {"~0U >> 60", 0xfu},
    {"!0", 0x1u},
    {"!5", 0x0u},
    {"!!5", 0x1u},
    {"- -5", 0x5u},
    {"+5", 0x5u},
    {"~-1", 0x0u},
    {"-1 < 0", 0x1u},
    {"-1 < 0U", 0x0u},
    {"-1 > 0U", 0x1u},
    {"0xffffffffffffffff > 0", 0x1u},
    {"0xffffffffffffffff > 0U", 0x1u},
    {"-1 <= -1", 0x1u},
    {"-1 == 0xffffffffffffffff", 0x1u},
    {"1 == 1U", 0x1u},
    {"3 != 4", 0x1u},
    {"1 < 2 < 3", 0x1u},
    {"3 > 2 > 1", 0x0u},
    {"6 & 3", 0x2u},
    {"6 | 3", 0x7u},
    {"6 ^ 3", 0x5u},
    {"1 | 2 ^ 3 & 4", 0x3u},
    {"1 && 2", 0x1u},
    {"1 && 0", 0x0u},
    {"0 || 0", 0x0u},
    {"0 || 3", 0x1u},
    {"1 || 0 && 0", 0x1u},
    {"1 ? 2 : 3", 0x2u},
    {"0 ? 2 : 3", 0x3u},
    {"0 ? 2 : 0 ? 4 : 5", 0x5u},
    {"1 ? -1 : 2U", 0xffffffffffffffffu},
    {"(1 ? -1 : 2U) >> 1", 0xffffffffffffffffu},
    {"(1 ? -1 : 2) >> 1", 0xffffffffffffffffu},
    {"(-1 + 0U) >> 1", 0x7fffffffffffffffu},
    {"(-1 * 1U) >> 1", 0x7fffffffffffffffu},
    {"(-1 - 0U) >> 1", 0x7fffffffffffffffu},
    {"(-1 & -1) >> 1", 0xffffffffffffffffu},
    {"(-1 | 0) >> 1", 0xffffffffffffffffu},
    {"(-1 ^ 0) >> 1", 0xffffffffffffffffu},
    {"~0 >> 1", 0x7fffffffffffffffu},
    {"(-7 % 3) >> 1", 0x0u},
    {"(-7 / 2U)", 0x7ffffffffffffffcu},
    {"(-8 / 2) >> 1", 0xfffffffffffffffeu},
    {"0x8000000000000000", 0x8000000000000000u},
    {"9223372036854775807 + 1", 0x8000000000000000u},
    {"9223372036854775808", 0x8000000000000000u},
    {"9223372036854775808 >> 1", 0x4000000000000000u},
    {"18446744073709551615", 0xffffffffffffffffu},
    {"-9223372036854775808", 0x8000000000000000u},
    {"(-9223372036854775807-1) % -1", 0x8000000000000000u},
    {"(.s64)9223372036854775808 >> 1", 0xc000000000000000u},
    {"010", 0x8u},
    {"0x10", 0x10u},
    {"0b101", 0x5u},
    {"0777777777777777777777", 0x7fffffffffffffffu},
    {"WARP_SZ", 0x20u},
    {"WARP_SZ * 2", 0x40u},
    {"WARP_SZ - 33", 0xffffffffffffffffu},
    {"(WARP_SZ - 33) >> 1", 0xffffffffffffffffu},
    {"1 << 3 + 1", 0x10u},
    {"2 + 3 << 1", 0xau},
    {"10 - 4 - 3", 0x3u},
    {"100 / 10 / 2", 0x5u},
    {"2 * 3 % 4", 0x2u},
    {"1 < 2 == 1", 0x1u},
    {"5 & 3 == 3", 0x1u},
    {"(.u64)(1 - 2) > 0", 0x1u},
    {"(.s64)(1U - 2) > 0", 0x0u},
    {"-(1U) > 0", 0x1u},
    {"~1U > 0", 0x1u},
    {"(-5 % 3U)", 0x2u},
    {"-8192U", 0xffffffffffffe000u},
    {"-8192U >> 1", 0x7ffffffffffff000u},
    {"(5 < 3) - 1 >> 1", 0xffffffffffffffffu},
    {"(!0 - 2) >> 1", 0xffffffffffffffffu},
    {"(1 == 1) - 2 < 0", 0x1u},
    {"(-5 << 1) >> 1", 0xfffffffffffffffbu},
    {"(-5U << 1U) >> 1", 0x7ffffffffffffffbu},
    {"-5 << 1U >> 1", 0xfffffffffffffffbu},
    {"(-1 >> 1U)", 0xffffffffffffffffu},
    {"(5 % 7 - 6) >> 1", 0x7fffffffffffffffu},
    {"(5U % 7 - 6) >> 1", 0x7fffffffffffffffu},
    {"(5U % 7U - 6) >> 1", 0x7fffffffffffffffu},
    {"(~0 - ~0 - 1) >> 1", 0x7fffffffffffffffu},
    {"(1 ? 2U : -1) - 3 >> 1", 0x7fffffffffffffffu},
    {"(0 ? 2U : -1) >> 1", 0xffffffffffffffffu},
    {"(5 & 7U) - 6 >> 1", 0x7fffffffffffffffu},
    {"(1U << 1) - 3 >> 1", 0x7fffffffffffffffu},
    {"(1 << 1U) - 3 >> 1", 0xffffffffffffffffu},
    {"(1U && 1) - 2 >> 1", 0xffffffffffffffffu},
    {"(1U < 2) - 2 >> 1", 0xffffffffffffffffu},
};

static void read_value(reading *r, const char *expression, const char *type) {
    char text[256];
    int size = snprintf(text, sizeof text, ".version 9.0\n.target sm_90\n.global .%s v = %s;\n", type, expression);
    read_text(r, text, (size_t)size, 0);
}

void test_constants(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(values); i++) {
        reading r;
        read_value(&r, values[i].text, "u64");
        if (r.diags.errors || r.module->variables.at[0]->init->value != values[i].value)
            fail_msg("%s: %llx, not %llx", values[i].text, (unsigned long long)r.module->variables.at[0]->init->value,
                     (unsigned long long)values[i].value);
        read_end(&r);
    }
    reading r;
    read_value(&r, "(-9223372036854775807 - 1) / -1", "u64"); /* no host trap; ptxas itself ends by a signal here */
    assert_int_equal(r.diags.errors, 0);
    assert_int_equal(r.module->variables.at[0]->init->value, (uint64_t)1 << 63);
    read_end(&r);
}

/* Each is refused by ptxas too. */
void test_constant_faults(void **state) {
    (void)state;
    static const struct {
        const char *text;
        lw_diag_id id;
    } cases[] = {
        {"1/0", LW_D_division_by_zero},
        {"1 % 0", LW_D_division_by_zero},
        {"1.5/0.0", LW_D_division_by_zero},
        {"(.u32)1", LW_D_bad_cast},
        {"(.f64)1", LW_D_bad_cast},
        {"(.s64)1.5", LW_D_integer_expected},
        {"2*1.5", LW_D_mixed_constants},
        {"1.5?1:2", LW_D_integer_expected},
        {"~1.5", LW_D_integer_expected},
        {"-0f3f800000", LW_D_bits_in_expression},
        {"0f3f800000+1.0", LW_D_bits_in_expression},
        {"(1", LW_D_expected},
        {"1+", LW_D_expected},
        {"1?2", LW_D_expected},
    };
    for (size_t i = 0; i < LW_COUNT(cases); i++) {
        reading r;
        read_value(&r, cases[i].text, "b64");
        assert_int_equal(r.diags.errors, 1);
        assert_int_equal(r.diags.first->id, cases[i].id);
        read_end(&r);
    }
}
