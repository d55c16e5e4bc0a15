/* compare.h against comparisons of 128-bit numbers. */
#include "check.h"

static void equality(void **state) {
    (void)state;
    CHECK2(setp_eq_b16, p, u16, u16, ((i128)a - (i128)b == 0));
    CHECK2(setp_eq_b32, p, u32, u32, ((i128)a - (i128)b == 0));
    CHECK2(setp_eq_b64, p, u64, u64, ((i128)a - (i128)b == 0));
    CHECK2(setp_ne_b16, p, u16, u16, ((i128)a - (i128)b != 0));
    CHECK2(setp_ne_b32, p, u32, u32, ((i128)a - (i128)b != 0));
    CHECK2(setp_ne_b64, p, u64, u64, ((i128)a - (i128)b != 0));
}

static void order(void **state) {
    (void)state;
    CHECK2(setp_lt_u16, p, u16, u16, ((i128)a - (i128)b < 0));
    CHECK2(setp_lt_u32, p, u32, u32, ((i128)a - (i128)b < 0));
    CHECK2(setp_lt_u64, p, u64, u64, ((i128)a - (i128)b < 0));
    CHECK2(setp_le_u16, p, u16, u16, ((i128)a - (i128)b <= 0));
    CHECK2(setp_le_u32, p, u32, u32, ((i128)a - (i128)b <= 0));
    CHECK2(setp_le_u64, p, u64, u64, ((i128)a - (i128)b <= 0));
    CHECK2(setp_gt_u16, p, u16, u16, ((i128)a - (i128)b > 0));
    CHECK2(setp_gt_u32, p, u32, u32, ((i128)a - (i128)b > 0));
    CHECK2(setp_gt_u64, p, u64, u64, ((i128)a - (i128)b > 0));
    CHECK2(setp_ge_u16, p, u16, u16, ((i128)a - (i128)b >= 0));
    CHECK2(setp_ge_u32, p, u32, u32, ((i128)a - (i128)b >= 0));
    CHECK2(setp_ge_u64, p, u64, u64, ((i128)a - (i128)b >= 0));
    CHECK2(setp_lt_s16, p, s16, s16, ((i128)a - (i128)b < 0));
    CHECK2(setp_lt_s32, p, s32, s32, ((i128)a - (i128)b < 0));
    CHECK2(setp_lt_s64, p, s64, s64, ((i128)a - (i128)b < 0));
    CHECK2(setp_le_s16, p, s16, s16, ((i128)a - (i128)b <= 0));
    CHECK2(setp_le_s32, p, s32, s32, ((i128)a - (i128)b <= 0));
    CHECK2(setp_le_s64, p, s64, s64, ((i128)a - (i128)b <= 0));
    CHECK2(setp_gt_s16, p, s16, s16, ((i128)a - (i128)b > 0));
    CHECK2(setp_gt_s32, p, s32, s32, ((i128)a - (i128)b > 0));
    CHECK2(setp_gt_s64, p, s64, s64, ((i128)a - (i128)b > 0));
    CHECK2(setp_ge_s16, p, s16, s16, ((i128)a - (i128)b >= 0));
    CHECK2(setp_ge_s32, p, s32, s32, ((i128)a - (i128)b >= 0));
    CHECK2(setp_ge_s64, p, s64, s64, ((i128)a - (i128)b >= 0));
}

int lane_compare(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality),
        cmocka_unit_test(order),
    };
    return cmocka_run_group_tests_name("lane compare", tests, NULL, NULL);
}
