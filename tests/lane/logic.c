/* logic.h against bit-by-bit loops. */
#include "check.h"

/* Apply a truth table of two inputs bit by bit: bit 2*a + b of `table`. */
static uint64_t each_bit(uint64_t a, uint64_t b, unsigned table) {
    uint64_t d = 0;
    for (int i = 0; i < 64; i++) {
        unsigned at = (unsigned)(a >> i & 1) * 2 + (unsigned)(b >> i & 1);
        d |= (uint64_t)(table >> at & 1) << i;
    }
    return d;
}

static void two_inputs(void **state) {
    (void)state;
    CHECK2(and_pred, p, p, p, each_bit(a, b, 8));
    CHECK2(and_b16, u16, u16, u16, each_bit(a, b, 8));
    CHECK2(and_b32, u32, u32, u32, each_bit(a, b, 8));
    CHECK2(and_b64, u64, u64, u64, each_bit(a, b, 8));
    CHECK2(or_pred, p, p, p, each_bit(a, b, 14));
    CHECK2(or_b16, u16, u16, u16, each_bit(a, b, 14));
    CHECK2(or_b32, u32, u32, u32, each_bit(a, b, 14));
    CHECK2(or_b64, u64, u64, u64, each_bit(a, b, 14));
    CHECK2(xor_pred, p, p, p, each_bit(a, b, 6));
    CHECK2(xor_b16, u16, u16, u16, each_bit(a, b, 6));
    CHECK2(xor_b32, u32, u32, u32, each_bit(a, b, 6));
    CHECK2(xor_b64, u64, u64, u64, each_bit(a, b, 6));
}

static void one_input(void **state) {
    (void)state;
    CHECK1(not_pred, p, p, each_bit(a, 0, 1) & 1);
    CHECK1(not_b16, u16, u16, each_bit(a, 0, 1));
    CHECK1(not_b32, u32, u32, each_bit(a, 0, 1));
    CHECK1(not_b64, u64, u64, each_bit(a, 0, 1));
    CHECK1(cnot_b16, u16, u16, a ? 0 : 1);
    CHECK1(cnot_b32, u32, u32, a ? 0 : 1);
    CHECK1(cnot_b64, u64, u64, a ? 0 : 1);
}

/* All 256 tables, all eight bit triples at every bit place. */
static void three_inputs(void **state) {
    (void)state;
    for (unsigned lut = 0; lut < 256; lut++)
        for (unsigned turn = 0; turn < 32; turn++) {
            uint32_t a = 0xf0f0f0f0u << turn % 8 | 0x96u, b = 0xccccccccu >> turn % 5,
                     c = 0xaaaaaaaau ^ turn * 0x01234567u;
            uint32_t want = 0;
            for (int i = 0; i < 32; i++)
                want |= (lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
            uint32_t got = lw_lop3(a, b, c, (uint8_t)lut);
            if (got != want) lane_fail("lop3", a, b, c, lut, got, want);
        }
    /* The manual's own examples of tables. */
    assert_int_equal(lw_lop3(0xf0, 0xcc, 0xaa, 0x80), 0xf0 & 0xcc & 0xaa);
    assert_int_equal(lw_lop3(0xf0, 0xcc, 0xaa, 0x1a), ((0xf0 & 0xcc) | 0xaa) ^ 0xf0);
    lane_tested("lop3");
}

int lane_logic(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_inputs),
        cmocka_unit_test(one_input),
        cmocka_unit_test(three_inputs),
    };
    return cmocka_run_group_tests_name("lane logic", tests, NULL, NULL);
}
