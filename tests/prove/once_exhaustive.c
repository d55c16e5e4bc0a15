/* The small spaces in full, as the compiler of this build made them: what script/prove shows of clang's intermediate
 * code, run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>
#include "logic.c"
#include "shift.c"
#include "shfl.c"

static const uint32_t huge[] = {255, 256, 257, 65535, 65536, 65552, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};

/* All words of 16 bits by all amounts to 40, and some that have low bits like small ones. */
static void test_shifts_of_16_bits(void **state) {
    (void)state;
    unsigned tried = 0;
    for (uint32_t k = 0; k <= 40 + sizeof huge / sizeof *huge; k++) {
        uint32_t n = k <= 40 ? k : huge[k - 41];
        for (uint32_t word = 0; word <= 0xffff; word++, tried++) {
            uint16_t a = (uint16_t)word;
            bool same = lw_shl_b16(a, n) == shl_b16(a, n) && lw_shr_u16(a, n) == shr_u16(a, n) &&
                        lw_shr_s16((int16_t)a, n) == shr_s16((int16_t)a, n);
            if (!same) fail_msg("a shift of 0x%x by %u", word, n);
        }
    }
    assert_int_equal(tried, 51 * 65536);
}

/* All tables on all triples of bits: in every place of the word, and in the eight first places at once. */
static void test_tables_of_lop3(void **state) {
    (void)state;
    for (uint32_t lut = 0; lut < 256; lut++) {
        assert_int_equal(lw_lop3(0xf0, 0xcc, 0xaa, (uint8_t)lut) & 0xff, lut); /* how the manual computes immLut */
        for (uint32_t bits = 0; bits < 8; bits++)
            for (uint32_t place = 0; place < 32; place++) {
                uint32_t a = (bits >> 2 & 1) << place, b = (bits >> 1 & 1) << place, c = (bits & 1) << place;
                uint32_t d = lw_lop3(a, b, c, (uint8_t)lut);
                assert_int_equal(d, lop3(a, b, c, (uint8_t)lut));
                assert_int_equal(d >> place & 1, lut >> bits & 1);
            }
    }
}

/* All lanes, b, segment masks and clamps in all modes. */
#define TRY(mode) \
    do { \
        lane_map want = shfl_##mode(lane, b, c); \
        if (lw_shfl_##mode##_source(lane, b, c) != (uint32_t)want.j || \
            lw_shfl_##mode##_in_range(lane, b, c) != want.pval) \
            fail_msg("shfl." #mode " in lane %u, b 0x%x, c 0x%x", lane, b, c); \
        tried++; \
    } while (0)
static void test_maps_of_shfl(void **state) {
    (void)state;
    unsigned tried = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t b = 0; b < 32; b++)
            for (uint32_t mask = 0; mask < 32; mask++)
                for (uint32_t clamp = 0; clamp < 32; clamp++) {
                    uint32_t c = mask << 8 | clamp;
                    TRY(up);
                    TRY(down);
                    TRY(bfly);
                    TRY(idx);
                }
    assert_int_equal(tried, 4u << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shifts_of_16_bits), cmocka_unit_test(test_tables_of_lop3),
                                       cmocka_unit_test(test_maps_of_shfl)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
