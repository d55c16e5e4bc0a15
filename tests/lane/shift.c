/* shift.h against one-bit steps, for every amount up to 70 and some far beyond. */
#include "check.h"

static uint64_t left(uint64_t a, uint32_t n, int width) {
    for (uint32_t i = 0; i < n && i < 100; i++) a = a * 2;
    return width == 64 ? a : a & ((UINT64_C(1) << width) - 1);
}

/* `fill` is the bit that comes in at the top. */
static uint64_t right(uint64_t a, uint32_t n, int width, uint64_t fill) {
    for (uint32_t i = 0; i < n && i < 100; i++) a = a / 2 + (fill << (width - 1));
    return a;
}

static uint32_t amount(unsigned i) { return i < 70 ? i : (uint32_t)lane_value(i + LANE_EDGES) | 1u << i % 32; }

/* Every 16-bit word with every amount. */
static void words_of_16_bits(void **state) {
    (void)state;
    for (uint32_t a = 0; a < 65536; a++)
        for (unsigned k = 0; k < 76; k++) {
            uint32_t n = amount(k);
            uint16_t l = lw_shl_b16((uint16_t)a, n), r = lw_shr_u16((uint16_t)a, n);
            int16_t s = lw_shr_s16((int16_t)(uint16_t)a, n);
            uint32_t by = n > 16 ? 16 : n, signed_want = a >= 32768 ? (a >> by) + (65536 - (65536 >> by)) : a >> by;
            if (l != (uint16_t)((uint64_t)a << by)) lane_fail("shl_b16", a, n, 0, 0, l, (uint16_t)((uint64_t)a << by));
            if (r != a >> by) lane_fail("shr_u16", a, n, 0, 0, r, a >> by);
            if ((uint16_t)s != signed_want) lane_fail("shr_s16", a, n, 0, 0, (uint16_t)s, signed_want);
        }
    lane_tested("shl_b16"), lane_tested("shr_u16"), lane_tested("shr_s16");
}

static void words_of_32_and_64_bits(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2 * LANE_EDGES; i++)
        for (unsigned k = 0; k < 80; k++) {
            uint64_t a = lane_value(i);
            uint32_t a32 = (uint32_t)a, n = amount(k);
            uint64_t pairs[][2] = {
                {lw_shl_b32(a32, n), left(a32, n, 32)},
                {lw_shl_b64(a, n), left(a, n, 64)},
                {lw_shr_u32(a32, n), right(a32, n, 32, 0)},
                {lw_shr_u64(a, n), right(a, n, 64, 0)},
                {(uint32_t)lw_shr_s32((int32_t)a32, n), right(a32, n, 32, a32 >> 31)},
                {(uint64_t)lw_shr_s64((int64_t)a, n), right(a, n, 64, a >> 63)},
            };
            for (unsigned j = 0; j < 6; j++)
                if (pairs[j][0] != pairs[j][1])
                    lane_fail("shl and shr, form (last operand)", a, n, 0, j, pairs[j][0], pairs[j][1]);
        }
    lane_tested("shl_b32"), lane_tested("shl_b64"), lane_tested("shr_u32");
    lane_tested("shr_u64"), lane_tested("shr_s32"), lane_tested("shr_s64");
}

/* The manual's sentence in 128 bits: shift the concatenation, take one word. */
static uint32_t funnel(uint32_t a, uint32_t b, uint32_t n, bool to_left) {
    u128 both = (u128)b << 32 | a;
    return (uint32_t)(to_left ? both << n >> 32 : both >> n);
}

static void funnel_shifts(void **state) {
    (void)state;
    CHECK3(shf_l_clamp, u32, u32, u32, u32, funnel(a, b, c < 32 ? c : 32, true));
    CHECK3(shf_r_clamp, u32, u32, u32, u32, funnel(a, b, c < 32 ? c : 32, false));
    CHECK3(shf_l_wrap, u32, u32, u32, u32, funnel(a, b, c % 32, true));
    CHECK3(shf_r_wrap, u32, u32, u32, u32, funnel(a, b, c % 32, false));
    /* shl and shr give 0 where a clamped funnel shift of 32 moves a whole word */
    assert_int_equal(lw_shf_l_clamp(5, 7, 32), 5);
    assert_int_equal(lw_shf_l_wrap(5, 7, 32), 7);
    assert_int_equal(lw_shf_r_clamp(5, 7, UINT32_MAX), 7);
}

int lane_shift(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_16_bits),
        cmocka_unit_test(words_of_32_and_64_bits),
        cmocka_unit_test(funnel_shifts),
    };
    return cmocka_run_group_tests_name("lane shift", tests, NULL, NULL);
}
