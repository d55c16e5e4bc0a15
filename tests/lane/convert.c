/* convert_integer.h against 128-bit arithmetic, convert.h against the integer arithmetic of soft.c. */
#include "soft.h"

static i128 limited(i128 v, i128 low, i128 high) { return v < low ? low : v > high ? high : v; }

/* The range of an integer type. */
#define LOW(type)  ((type)-1 < (type)1 ? -((i128)1 << (8 * sizeof(type) - 1)) : (i128)0)
#define HIGH(type) (((i128)1 << (8 * sizeof(type) - ((type)-1 < (type)1))) - 1)

/* C converts modulo 2^n; here it is done with a remainder instead. */
static i128 wrapped(i128 v, i128 low, i128 high) {
    i128 range = high - low + 1, d = (v - low) % range;
    return (d < 0 ? d + range : d) + low;
}

#define EACH_INTEGER(X, a) \
    X(u8, a); \
    X(u16, a); \
    X(u32, a); \
    X(u64, a); \
    X(s8, a); \
    X(s16, a); \
    X(s32, a); \
    X(s64, a)

static void integers(void **state) {
    (void)state;
#define PLAIN(d, s) CHECK1(cvt_##d##_##s, d, s, wrapped(a, LOW(d), HIGH(d)))
    EACH_INTEGER(PLAIN, u8);
    EACH_INTEGER(PLAIN, u16);
    EACH_INTEGER(PLAIN, u32);
    EACH_INTEGER(PLAIN, u64);
    EACH_INTEGER(PLAIN, s8);
    EACH_INTEGER(PLAIN, s16);
    EACH_INTEGER(PLAIN, s32);
    EACH_INTEGER(PLAIN, s64);
}

/* Only conversions that can leave the range have a .sat. */
static void saturated_integers(void **state) {
    (void)state;
#define SAT(d, s) CHECK1(cvt_sat_##d##_##s, d, s, limited(a, LOW(d), HIGH(d)))
    SAT(u8, u16);
    SAT(u8, u32);
    SAT(u8, u64);
    SAT(u8, s8);
    SAT(u8, s16);
    SAT(u8, s32);
    SAT(u8, s64);
    SAT(u16, u32);
    SAT(u16, u64);
    SAT(u16, s8);
    SAT(u16, s16);
    SAT(u16, s32);
    SAT(u16, s64);
    SAT(u32, u64);
    SAT(u32, s8);
    SAT(u32, s16);
    SAT(u32, s32);
    SAT(u32, s64);
    SAT(u64, s8);
    SAT(u64, s16);
    SAT(u64, s32);
    SAT(u64, s64);
    SAT(s8, u8);
    SAT(s8, u16);
    SAT(s8, u32);
    SAT(s8, u64);
    SAT(s8, s16);
    SAT(s8, s32);
    SAT(s8, s64);
    SAT(s16, u16);
    SAT(s16, u32);
    SAT(s16, u64);
    SAT(s16, s32);
    SAT(s16, s64);
    SAT(s32, u32);
    SAT(s32, u64);
    SAT(s32, s64);
    SAT(s64, u64);
}

/* As digits of a number to the base of 2 to the n. */
static u32 packed(i128 a, i128 b, i128 c, int n, bool is_signed) {
    i128 base = (i128)1 << n, low = is_signed ? -base / 2 : 0, high = low + base - 1;
    return (u32)((c * base + (limited(a, low, high) + base) % base) * base + (limited(b, low, high) + base) % base);
}

static void packed_integers(void **state) {
    (void)state;
    CHECK2(cvt_pack_sat_u16_s32, u32, s32, s32, packed(a, b, 0, 16, false));
    CHECK2(cvt_pack_sat_s16_s32, u32, s32, s32, packed(a, b, 0, 16, true));
    CHECK3(cvt_pack_sat_u8_s32, u32, s32, s32, u32, packed(a, b, c, 8, false));
    CHECK3(cvt_pack_sat_s8_s32, u32, s32, s32, u32, packed(a, b, c, 8, true));
    CHECK3(cvt_pack_sat_u4_s32, u32, s32, s32, u32, packed(a, b, c, 4, false));
    CHECK3(cvt_pack_sat_s4_s32, u32, s32, s32, u32, packed(a, b, c, 4, true));
    CHECK3(cvt_pack_sat_u2_s32, u32, s32, s32, u32, packed(a, b, c, 2, false));
    CHECK3(cvt_pack_sat_s2_s32, u32, s32, s32, u32, packed(a, b, c, 2, true));
}

static float from_bits_f32(uint64_t bits) {
    float v;
    uint32_t low = (uint32_t)bits;
    memcpy(&v, &low, 4);
    return v;
}
static double from_bits_f64(uint64_t bits) {
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static void integers_to_f32(void **state) {
    (void)state;
#define TO_F32(s, mode) \
    CHECK1(cvt_r##mode##_f32_##s, f32, s, from_bits_f32(soft_pack(soft_integer(a), 32, #mode[0], false)))
    EACH_INTEGER(TO_F32, n);
    EACH_INTEGER(TO_F32, z);
    EACH_INTEGER(TO_F32, m);
    EACH_INTEGER(TO_F32, p);
}

static void integers_to_f64(void **state) {
    (void)state;
#define TO_F64(s, mode) \
    CHECK1(cvt_r##mode##_f64_##s, f64, s, from_bits_f64(soft_pack(soft_integer(a), 64, #mode[0], false)))
    EACH_INTEGER(TO_F64, n);
    EACH_INTEGER(TO_F64, z);
    EACH_INTEGER(TO_F64, m);
    EACH_INTEGER(TO_F64, p);
}

/* A NaN gives the top bit alone where source or result has 64 bits, else 0. */
static i128 to_integer(uint64_t bits, int width, bool ftz, char rounding, i128 low, i128 high) {
    soft v = soft_unpack(bits, width, ftz);
    if (v.nan) return width == 64 || high > UINT32_MAX ? (low < 0 ? low : high / 2 + 1) : 0;
    return soft_to_integer(v, rounding, low, high);
}

static void f32_to_integers(void **state) {
    (void)state;
#define FROM_F32(d, mode) \
    CHECK1(cvt_r##mode##i_##d##_f32, d, f32, to_integer(BITS(a), 32, false, #mode[0], LOW(d), HIGH(d))); \
    CHECK1(cvt_r##mode##i_ftz_##d##_f32, d, f32, to_integer(BITS(a), 32, true, #mode[0], LOW(d), HIGH(d)))
    EACH_INTEGER(FROM_F32, n);
    EACH_INTEGER(FROM_F32, z);
    EACH_INTEGER(FROM_F32, m);
    EACH_INTEGER(FROM_F32, p);
}

static void f64_to_integers(void **state) {
    (void)state;
#define FROM_F64(d, mode) \
    CHECK1(cvt_r##mode##i_##d##_f64, d, f64, to_integer(BITS(a), 64, false, #mode[0], LOW(d), HIGH(d)))
    EACH_INTEGER(FROM_F64, n);
    EACH_INTEGER(FROM_F64, z);
    EACH_INTEGER(FROM_F64, m);
    EACH_INTEGER(FROM_F64, p);
}

/* Limit to 0...1 by the bits of a number: positive ones order like integers. */
static uint64_t limit(uint64_t bits, bool nan, uint64_t sign, uint64_t one) {
    return nan || bits & sign ? 0 : bits > one ? one : bits;
}

static soft integral(soft v, char rounding) {
    if (v.nan || v.infinite || v.exponent >= 0) return v;
    soft d = soft_integer(soft_to_integer(v, rounding, -((i128)1 << 100), (i128)1 << 100));
    d.negative = v.negative; /* a zero keeps the sign */
    return d;
}

/* rounding ' ' leaves the number alone. */
static float f32_to_f32(float a, char rounding, bool ftz, bool sat) {
    soft v = soft_unpack(BITS(a), 32, ftz);
    bool moved = rounding == ' ' && !ftz; /* a plain copy keeps even the NaN */
    uint64_t bits = moved   ? BITS(a)
                    : v.nan ? 0x7fffffff
                            : soft_pack(rounding == ' ' ? v : integral(v, rounding), 32, 'n', ftz);
    return from_bits_f32(sat ? limit(bits, v.nan, 0x80000000, 0x3f800000) : bits);
}
static double f64_to_f64(double a, char rounding, bool sat) {
    soft v = soft_unpack(BITS(a), 64, false);
    uint64_t bits = rounding == ' ' ? BITS(a) : soft_pack(integral(v, rounding), 64, 'n', false);
    if (v.nan && rounding != ' ') bits = BITS(a) | UINT64_C(1) << 51;
    return from_bits_f64(sat ? limit(bits, v.nan, UINT64_C(1) << 63, UINT64_C(0x3ff) << 52) : bits);
}

static void integral_numbers(void **state) {
    (void)state;
#define INTEGRAL(name, mode) \
    CHECK1(cvt_##name##f32_f32, f32, f32, f32_to_f32(a, mode, false, false)); \
    CHECK1(cvt_##name##sat_f32_f32, f32, f32, f32_to_f32(a, mode, false, true)); \
    CHECK1(cvt_##name##ftz_f32_f32, f32, f32, f32_to_f32(a, mode, true, false)); \
    CHECK1(cvt_##name##ftz_sat_f32_f32, f32, f32, f32_to_f32(a, mode, true, true)); \
    CHECK1(cvt_##name##f64_f64, f64, f64, f64_to_f64(a, mode, false)); \
    CHECK1(cvt_##name##sat_f64_f64, f64, f64, f64_to_f64(a, mode, true))
    INTEGRAL(, ' ');
    INTEGRAL(rni_, 'n');
    INTEGRAL(rzi_, 'z');
    INTEGRAL(rmi_, 'm');
    INTEGRAL(rpi_, 'p');
}

static float f64_to_f32(double a, char rounding, bool ftz, bool sat) {
    soft v = soft_unpack(BITS(a), 64, false);
    uint64_t nan = (BITS(a) >> 63 << 31) | 0x7fc00000 | (BITS(a) >> 29 & 0x3fffff);
    uint64_t bits = v.nan ? nan : soft_pack(v, 32, rounding, ftz);
    return from_bits_f32(sat ? limit(bits, v.nan, 0x80000000, 0x3f800000) : bits);
}
static double f32_to_f64(float a, bool ftz, bool sat) {
    soft v = soft_unpack(BITS(a), 32, ftz);
    uint64_t nan = ftz ? 0x7fffffff : BITS(a); /* the f32 NaN, widened */
    nan = (nan >> 31 << 63) | UINT64_C(0x7ff8) << 48 | (nan & 0x7fffff) << 29;
    uint64_t bits = v.nan ? nan : soft_pack(v, 64, 'n', false);
    return from_bits_f64(sat ? limit(bits, v.nan, UINT64_C(1) << 63, UINT64_C(0x3ff) << 52) : bits);
}

static void between_f32_and_f64(void **state) {
    (void)state;
#define NARROW(mode) \
    CHECK1(cvt_r##mode##_f32_f64, f32, f64, f64_to_f32(a, #mode[0], false, false)); \
    CHECK1(cvt_r##mode##_sat_f32_f64, f32, f64, f64_to_f32(a, #mode[0], false, true)); \
    CHECK1(cvt_r##mode##_ftz_f32_f64, f32, f64, f64_to_f32(a, #mode[0], true, false)); \
    CHECK1(cvt_r##mode##_ftz_sat_f32_f64, f32, f64, f64_to_f32(a, #mode[0], true, true))
    NARROW(n);
    NARROW(z);
    NARROW(m);
    NARROW(p);
    CHECK1(cvt_f64_f32, f64, f32, f32_to_f64(a, false, false));
    CHECK1(cvt_sat_f64_f32, f64, f32, f32_to_f64(a, false, true));
    CHECK1(cvt_ftz_f64_f32, f64, f32, f32_to_f64(a, true, false));
    CHECK1(cvt_ftz_sat_f64_f32, f64, f32, f32_to_f64(a, true, true));
}

static u16 f32_to_f16(float a, char rounding) {
    soft v = soft_unpack(BITS(a), 32, false);
    return (u16)(v.nan ? 0x7fff : soft_pack(v, 16, rounding, false));
}
static float f16_to_f32(u16 a) {
    soft v = soft_unpack(a, 16, false);
    return from_bits_f32(v.nan ? 0x7fffffff : soft_pack(v, 32, 'n', false));
}

static void half_precision(void **state) {
    (void)state;
    CHECK1(cvt_rn_f16_f32, u16, f32, f32_to_f16(a, 'n'));
    CHECK1(cvt_rz_f16_f32, u16, f32, f32_to_f16(a, 'z'));
    for (uint32_t i = 0; i < 65536; i++) { /* all of them, and the numbers around the middle of two */
        float got = lw_cvt_f32_f16((u16)i), want = f16_to_f32((u16)i);
        if (BITS(got) != BITS(want)) lane_fail("cvt_f32_f16", i, 0, 0, 0, BITS(got), BITS(want));
        for (uint64_t k = 0; k < 5; k++) {
            float middle = from_bits_f32(BITS(want) + (k < 3 ? 0xfff + k : k == 3 ? UINT32_MAX : 1));
            u16 n = lw_cvt_rn_f16_f32(middle), z = lw_cvt_rz_f16_f32(middle);
            if (n != f32_to_f16(middle, 'n'))
                lane_fail("cvt_rn_f16_f32", BITS(middle), 0, 0, 0, n, f32_to_f16(middle, 'n'));
            if (z != f32_to_f16(middle, 'z'))
                lane_fail("cvt_rz_f16_f32", BITS(middle), 0, 0, 0, z, f32_to_f16(middle, 'z'));
        }
    }
    lane_tested("cvt_f32_f16"), lane_exhausted("cvt_f32_f16");
}

int lane_convert(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),        cmocka_unit_test(saturated_integers), cmocka_unit_test(packed_integers),
        cmocka_unit_test(integers_to_f32), cmocka_unit_test(integers_to_f64),    cmocka_unit_test(f32_to_integers),
        cmocka_unit_test(f64_to_integers), cmocka_unit_test(integral_numbers),   cmocka_unit_test(between_f32_and_f64),
        cmocka_unit_test(half_precision),
    };
    return cmocka_run_group_tests_name("lane convert", tests, NULL, NULL);
}
