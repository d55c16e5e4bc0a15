/* integer.h against 128-bit arithmetic. */
#include "check.h"

/* Limit to the range of s32. */
static i128 saturate(i128 v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v; }
static i128 smaller(i128 a, i128 b) { return b < a ? b : a; }
static i128 larger(i128 a, i128 b) { return b > a ? b : a; }
static i128 distance(i128 a, i128 b) { return larger(a, b) - smaller(a, b); }

/* Bits 127:64 and 63:0 of a product by long multiplication in base 2^32. */
static uint64_t high_unsigned(uint64_t a, uint64_t b) {
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}
static uint64_t high_signed(int64_t a, int64_t b) {
    return high_unsigned((uint64_t)a, (uint64_t)b) - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0);
}

/* The number in bits 23:0. */
static i128 low24(i128 a, bool is_signed) {
    i128 v = a & 0xffffff;
    return is_signed && v >= 0x800000 ? v - 0x1000000 : v;
}

/* The halves of a word: 0 is low, 1 is high. */
static i128 half(uint32_t word, int which, bool is_signed) {
    i128 v = word >> 16 * which & 0xffff;
    return is_signed && v >= 0x8000 ? v - 0x10000 : v;
}
static uint32_t pack(i128 low, i128 high) { return (uint32_t)((low & 0xffff) | (high & 0xffff) << 16); }

/* Quotient and remainder of magnitudes, signs afterwards. Division by 0: all ones, as an H100 gives. */
static i128 quotient(i128 a, i128 b) {
    if (b == 0) return -1;
    u128 q = (u128)(a < 0 ? -a : a) / (u128)(b < 0 ? -b : b);
    return (a < 0) != (b < 0) ? -(i128)q : (i128)q;
}
static i128 remainder_of(i128 a, i128 b) { return b == 0 ? -1 : a - quotient(a, b) * b; }

static void sums(void **state) {
    (void)state;
    CHECK2(add_b16, u16, u16, u16, (i128)a + (i128)b);
    CHECK2(add_b32, u32, u32, u32, (i128)a + (i128)b);
    CHECK2(add_b64, u64, u64, u64, (i128)a + (i128)b);
    CHECK2(add_sat_s32, s32, s32, s32, saturate((i128)a + b));
    CHECK2(sub_b16, u16, u16, u16, (i128)a - (i128)b);
    CHECK2(sub_b32, u32, u32, u32, (i128)a - (i128)b);
    CHECK2(sub_b64, u64, u64, u64, (i128)a - (i128)b);
    CHECK2(sub_sat_s32, s32, s32, s32, saturate((i128)a - b));
    CHECK2(add_b16x2, u32, u32, u32, pack(half(a, 0, 0) + half(b, 0, 0), half(a, 1, 0) + half(b, 1, 0)));
}

static void carries(void **state) {
    (void)state;
    CHECK3(addc_b32, u32, u32, u32, p, (u128)a + b + c);
    CHECK3(addc_carry_b32, p, u32, u32, p, ((u128)a + b + c) >> 32);
    CHECK3(subc_b32, u32, u32, u32, p, (i128)a - b - c);
    CHECK3(subc_carry_b32, p, u32, u32, p, (i128)a - b - c < 0);
    CHECK3(addc_b64, u64, u64, u64, p, (u128)a + b + c);
    CHECK3(addc_carry_b64, p, u64, u64, p, ((u128)a + b + c) >> 64);
    CHECK3(subc_b64, u64, u64, u64, p, (i128)a - b - c);
    CHECK3(subc_carry_b64, p, u64, u64, p, (i128)a - b - c < 0);
}

static void products(void **state) {
    (void)state;
    CHECK2(mul_lo_b16, u16, u16, u16, (u128)a * b);
    CHECK2(mul_lo_b32, u32, u32, u32, (u128)a * b);
    CHECK2(mul_lo_b64, u64, u64, u64, (u128)a * b);
    CHECK2(mul_hi_u16, u16, u16, u16, (i128)a * b >> 16);
    CHECK2(mul_hi_u32, u32, u32, u32, (i128)a * b >> 32);
    CHECK2(mul_hi_u64, u64, u64, u64, high_unsigned(a, b));
    CHECK2(mul_wide_u16, u32, u16, u16, (i128)a * b);
    CHECK2(mul_wide_u32, u64, u32, u32, (i128)a * b);
    CHECK2(mul24_lo_u32, u32, u32, u32, low24(a, 0) * low24(b, 0));
    CHECK2(mul24_hi_u32, u32, u32, u32, low24(a, 0) * low24(b, 0) >> 16);
    CHECK2(mul_hi_s16, s16, s16, s16, (i128)a * b >> 16);
    CHECK2(mul_hi_s32, s32, s32, s32, (i128)a * b >> 32);
    CHECK2(mul_hi_s64, s64, s64, s64, high_signed(a, b));
    CHECK2(mul_wide_s16, s32, s16, s16, (i128)a * b);
    CHECK2(mul_wide_s32, s64, s32, s32, (i128)a * b);
    CHECK2(mul24_lo_s32, s32, s32, s32, low24(a, 1) * low24(b, 1));
    CHECK2(mul24_hi_s32, s32, s32, s32, low24(a, 1) * low24(b, 1) >> 16);
}

static void products_and_sums(void **state) {
    (void)state;
    CHECK3(mad_lo_b16, u16, u16, u16, u16, (u128)a * b + c);
    CHECK3(mad_lo_b32, u32, u32, u32, u32, (u128)a * b + c);
    CHECK3(mad_lo_b64, u64, u64, u64, u64, (u128)a * b + c);
    CHECK3(mad_hi_u16, u16, u16, u16, u16, ((i128)a * b >> 16) + c);
    CHECK3(mad_hi_u32, u32, u32, u32, u32, ((i128)a * b >> 32) + c);
    CHECK3(mad_hi_u64, u64, u64, u64, u64, high_unsigned(a, b) + (u64)c);
    CHECK3(mad_wide_u16, u32, u16, u16, u32, (i128)a * b + c);
    CHECK3(mad_wide_u32, u64, u32, u32, u64, (i128)a * b + c);
    CHECK3(mad24_lo_u32, u32, u32, u32, u32, (low24(a, 0) * low24(b, 0)) + c);
    CHECK3(mad24_hi_u32, u32, u32, u32, u32, (low24(a, 0) * low24(b, 0) >> 16) + c);
    CHECK3(mad_hi_s16, s16, s16, s16, s16, ((i128)a * b >> 16) + c);
    CHECK3(mad_hi_s32, s32, s32, s32, s32, ((i128)a * b >> 32) + c);
    CHECK3(mad_hi_s64, s64, s64, s64, s64, high_signed(a, b) + (u64)c);
    CHECK3(mad_wide_s16, s32, s16, s16, s32, (i128)a * b + c);
    CHECK3(mad_wide_s32, s64, s32, s32, s64, (i128)a * b + c);
    CHECK3(mad24_lo_s32, s32, s32, s32, s32, (low24(a, 1) * low24(b, 1)) + c);
    CHECK3(mad24_hi_s32, s32, s32, s32, s32, (low24(a, 1) * low24(b, 1) >> 16) + c);
    CHECK3(mad_hi_sat_s32, s32, s32, s32, s32, saturate(((i128)a * b >> 32) + c));
    CHECK3(mad24_hi_sat_s32, s32, s32, s32, s32, saturate((low24(a, 1) * low24(b, 1) >> 16) + c));
}

static void absolute_differences(void **state) {
    (void)state;
    CHECK3(sad_u16, u16, u16, u16, u16, distance(a, b) + c);
    CHECK3(sad_u32, u32, u32, u32, u32, distance(a, b) + c);
    CHECK3(sad_u64, u64, u64, u64, u64, distance(a, b) + c);
    CHECK3(sad_s16, s16, s16, s16, s16, distance(a, b) + c);
    CHECK3(sad_s32, s32, s32, s32, s32, distance(a, b) + c);
    CHECK3(sad_s64, s64, s64, s64, s64, distance(a, b) + c);
}

static void quotients(void **state) {
    (void)state;
    CHECK2(div_u16, u16, u16, u16, quotient(a, b));
    CHECK2(div_u32, u32, u32, u32, quotient(a, b));
    CHECK2(div_u64, u64, u64, u64, quotient(a, b));
    CHECK2(div_s16, s16, s16, s16, quotient(a, b));
    CHECK2(div_s32, s32, s32, s32, quotient(a, b));
    CHECK2(div_s64, s64, s64, s64, quotient(a, b));
    CHECK2(rem_u16, u16, u16, u16, remainder_of(a, b));
    CHECK2(rem_u32, u32, u32, u32, remainder_of(a, b));
    CHECK2(rem_u64, u64, u64, u64, remainder_of(a, b));
    CHECK2(rem_s16, s16, s16, s16, remainder_of(a, b));
    CHECK2(rem_s32, s32, s32, s32, remainder_of(a, b));
    CHECK2(rem_s64, s64, s64, s64, remainder_of(a, b));
    assert_int_equal(lw_div_s32(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(lw_rem_s32(INT32_MIN, -1), 0);
    assert_int_equal(lw_div_u32(7, 0), UINT32_MAX);
    assert_int_equal(lw_rem_s64(-7, 0), -1);
    assert_int_equal(lw_rem_u16(7, 0), UINT16_MAX);
}

static void check_quotient(uint32_t a, uint32_t b) {
    const int32_t x = (int32_t)a, y = (int32_t)b;
    assert_int_equal(lw_div_u32(a, b), a / b);
    assert_int_equal(lw_rem_u32(a, b), a % b);
    if (y == -1) return;
    assert_int_equal(lw_div_s32(x, y), x / y);
    assert_int_equal(lw_rem_s32(x, y), x % y);
}

/* Where a quotient is an integer or next to one, and large: what reciprocals would get wrong. */
static void quotients_next_to_integers(void **state) {
    (void)state;
    uint32_t word = 1;
    for (int i = 0; i < 200000; i++) {
        word = word * 1664525 + 1013904223;
        const uint32_t b = (word >> (word & 31)) | 1, most = UINT32_MAX / b;
        const uint32_t q = most > 2 ? most - (word >> 8) % 3 : most;
        for (uint32_t near = 0; near < 3; near++)
            check_quotient(b * q - 1 + near, b), check_quotient(b * (q / 2) + b - near, b);
    }
}

static void signs(void **state) {
    (void)state;
    CHECK1(abs_s16, s16, s16, distance(a, 0));
    CHECK1(abs_s32, s32, s32, distance(a, 0));
    CHECK1(abs_s64, s64, s64, distance(a, 0));
    CHECK1(neg_s16, s16, s16, -(i128)a);
    CHECK1(neg_s32, s32, s32, -(i128)a);
    CHECK1(neg_s64, s64, s64, -(i128)a);
}

static void extremes(void **state) {
    (void)state;
    CHECK2(min_u16, u16, u16, u16, smaller(a, b));
    CHECK2(min_u32, u32, u32, u32, smaller(a, b));
    CHECK2(min_u64, u64, u64, u64, smaller(a, b));
    CHECK2(min_s16, s16, s16, s16, smaller(a, b));
    CHECK2(min_s32, s32, s32, s32, smaller(a, b));
    CHECK2(min_s64, s64, s64, s64, smaller(a, b));
    CHECK2(min_relu_s32, s32, s32, s32, larger(smaller(a, b), 0));
    CHECK2(min_u16x2, u32, u32, u32,
           pack(smaller(half(a, 0, 0), half(b, 0, 0)), smaller(half(a, 1, 0), half(b, 1, 0))));
    CHECK2(min_s16x2, u32, u32, u32,
           pack(smaller(half(a, 0, 1), half(b, 0, 1)), smaller(half(a, 1, 1), half(b, 1, 1))));
    CHECK2(min_relu_s16x2, u32, u32, u32,
           pack(larger(smaller(half(a, 0, 1), half(b, 0, 1)), 0), larger(smaller(half(a, 1, 1), half(b, 1, 1)), 0)));
    CHECK2(max_u16, u16, u16, u16, larger(a, b));
    CHECK2(max_u32, u32, u32, u32, larger(a, b));
    CHECK2(max_u64, u64, u64, u64, larger(a, b));
    CHECK2(max_s16, s16, s16, s16, larger(a, b));
    CHECK2(max_s32, s32, s32, s32, larger(a, b));
    CHECK2(max_s64, s64, s64, s64, larger(a, b));
    CHECK2(max_relu_s32, s32, s32, s32, larger(larger(a, b), 0));
    CHECK2(max_u16x2, u32, u32, u32, pack(larger(half(a, 0, 0), half(b, 0, 0)), larger(half(a, 1, 0), half(b, 1, 0))));
    CHECK2(max_s16x2, u32, u32, u32, pack(larger(half(a, 0, 1), half(b, 0, 1)), larger(half(a, 1, 1), half(b, 1, 1))));
    CHECK2(max_relu_s16x2, u32, u32, u32,
           pack(larger(larger(half(a, 0, 1), half(b, 0, 1)), 0), larger(larger(half(a, 1, 1), half(b, 1, 1)), 0)));
}

int lane_integer(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(carries),
        cmocka_unit_test(products),
        cmocka_unit_test(products_and_sums),
        cmocka_unit_test(absolute_differences),
        cmocka_unit_test(quotients),
        cmocka_unit_test(quotients_next_to_integers),
        cmocka_unit_test(signs),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests_name("lane integer", tests, NULL, NULL);
}
