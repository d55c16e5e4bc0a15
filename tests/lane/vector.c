/* vector.h: every pair of 8-bit elements against numbers, every 16-bit element with every count that matters, edges and
 * noise of 64 bits. */
#include "check.h"

/* a / 2^n toward minus infinity, a step at a time. */
static i128 halved(i128 a, uint64_t n) {
    for (uint64_t i = 0; i < n && i < 70; i++) a = a < 0 ? (a - 1) / 2 : a / 2;
    return a;
}
static u128 doubled(u128 a, uint64_t n, unsigned width) {
    for (uint64_t i = 0; i < n && i < 70; i++) a = 2 * a % ((u128)1 << width);
    return a;
}

#define SAME(name, got, want, a, b, c) \
    do { \
        uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want); \
        if (got_ != want_) lane_fail(name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), 0, got_, want_); \
    } while (0)

static void pair_of_bytes(int a, int b) {
    int sa = a < 128 ? a : a - 256, sb = b < 128 ? b : b - 256;
    SAME("vshr_u8", lw_vshr_u8((u8)a, (u8)b), halved(a, (unsigned)b), a, b, 0);
    SAME("vshr_s8", lw_vshr_s8((s8)sa, (u8)b), halved(sa, (unsigned)b), a, b, 0);
    SAME("vshl_b8", lw_vshl_b8((u8)a, (u8)b), doubled((unsigned)a, (unsigned)b, 8), a, b, 0);
    SAME("vmin_u8", lw_vmin_u8((u8)a, (u8)b), a < b ? a : b, a, b, 0);
    SAME("vmax_u8", lw_vmax_u8((u8)a, (u8)b), a < b ? b : a, a, b, 0);
    SAME("vmin_s8", lw_vmin_s8((s8)sa, (s8)sb), sa < sb ? sa : sb, a, b, 0);
    SAME("vmax_s8", lw_vmax_s8((s8)sa, (s8)sb), sa < sb ? sb : sa, a, b, 0);
    SAME("vcmp_eq_b8", lw_vcmp_eq_b8((u8)a, (u8)b), a == b, a, b, 0);
    SAME("vcmp_lt_u8", lw_vcmp_lt_u8((u8)a, (u8)b), a < b, a, b, 0);
    SAME("vcmp_le_u8", lw_vcmp_le_u8((u8)a, (u8)b), a <= b, a, b, 0);
    SAME("vcmp_lt_s8", lw_vcmp_lt_s8((s8)sa, (s8)sb), sa < sb, a, b, 0);
    SAME("vcmp_le_s8", lw_vcmp_le_s8((s8)sa, (s8)sb), sa <= sb, a, b, 0);
    for (int c = 0; c < 2; c++) SAME("vaddc_carry_b8", lw_vaddc_carry_b8((u8)a, (u8)b, c), (a + b + c) / 256, a, b, c);
    if (!b) SAME("vabs_s8", (u8)lw_vabs_s8((s8)sa), sa < 0 ? -sa : sa, a, b, 0);
}

static void all_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"vshr_u8",    "vshr_s8",    "vshl_b8",    "vmin_u8",       "vmax_u8",
                                        "vmin_s8",    "vmax_s8",    "vcmp_eq_b8", "vcmp_lt_u8",    "vcmp_le_u8",
                                        "vcmp_lt_s8", "vcmp_le_s8", "vabs_s8",    "vaddc_carry_b8"};
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) pair_of_bytes(a, b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) lane_tested(names[i]);
}

static void wider_shifts(void **state) {
    (void)state;
    for (uint32_t a = 0; a < 65536; a++)
        for (uint32_t k = 0; k < 40; k++) {
            u16 n = (u16)(k < 20 ? k : lane_value(k + LANE_EDGES) | 16);
            SAME("vshr_u16", lw_vshr_u16((u16)a, n), halved(a, n), a, n, 0);
            SAME("vshr_s16", lw_vshr_s16((s16)(u16)a, n), halved((i128)a - (a < 32768 ? 0 : 65536), n), a, n, 0);
            SAME("vshl_b16", lw_vshl_b16((u16)a, n), doubled(a, n, 16), a, n, 0);
        }
    lane_tested("vshr_u16"), lane_tested("vshr_s16"), lane_tested("vshl_b16");
    CHECK2(vshr_u64, u64, u64, u64, halved(a, b));
    CHECK2(vshr_s64, s64, s64, u64, halved(a, b));
    CHECK2(vshl_b64, u64, u64, u64, doubled(a, b, 64));
}

static void sums(void **state) {
    (void)state;
    CHECK3(vaddc_b16, u16, u16, u16, p, (u128)a + b + c);
    CHECK3(vaddc_carry_b16, p, u16, u16, p, ((u128)a + b + c) >> 16);
}

int lane_vector(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes),
        cmocka_unit_test(wider_shifts),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests_name("lane vector", tests, NULL, NULL);
}
