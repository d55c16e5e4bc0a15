/* convert_narrow.h against lists of all numbers of a format: a result is found among them by comparing, with no
 * arithmetic on bits. Middles and quotients by powers of two are exact in f64. */
#include <math.h>
#include "lanewise/lane/how.h"
#include "soft.h"

typedef struct format {
    const char *name;
    int bits, fraction, bias;
    unsigned most, nan; /* magnitudes */
} format;

/* The last two are here for random bits alone; they have an infinity behind the largest number. */
enum { E4M3, E5M2, E2M3, E3M2, E2M1, FORMATS };
static const format formats[FORMATS] = {{"e4m3", 8, 3, 7, 0x7e, 0x7f},
                                        {"e5m2", 8, 2, 15, 0x7b, 0x7f},
                                        {"e2m3", 6, 3, 1, 0x1f, 0x1f},
                                        {"e3m2", 6, 2, 3, 0x1f, 0x1f},
                                        {"e2m1", 4, 1, 1, 0x07, 0x07}};

static double value_of(const format *f, unsigned code) {
    const int exponent = (int)(code >> f->fraction), places = (int)(code % (1u << f->fraction));
    return exponent ? ldexp((1 << f->fraction) + places, exponent - f->bias - f->fraction)
                    : ldexp(places, 1 - f->bias - f->fraction);
}

/* The largest magnitude that is not above a. */
static unsigned code_below(const format *f, double a) {
    unsigned code = 0;
    while (code < f->most && value_of(f, code + 1) <= a) code++;
    return code;
}

static unsigned signed_code(const format *f, float a, unsigned code, uint32_t how) {
    if (isnan(a)) return f->nan;
    if (!signbit(a)) return code;
    return how & LW_FLOAT_RELU ? 0 : code | 1u << (f->bits - 1);
}

static unsigned nearest(const format *f, float a, uint32_t how) {
    const double size = fabs((double)a);
    unsigned code = isnan(a) ? 0 : code_below(f, size);
    if (code < f->most) {
        const double middle = (value_of(f, code) + value_of(f, code + 1)) / 2;
        code += size > middle || (size == middle && code % 2);
    }
    return signed_code(f, a, code, how);
}

/* How far a is on its way to the next number, in 2^-16, with the random bits. */
static unsigned random_code(const format *f, float a, unsigned random, uint32_t how) {
    const double size = fabs((double)a);
    unsigned code = isnan(a) ? 0 : code_below(f, size);
    if (code < f->most) {
        const double low = value_of(f, code), way = (size - low) / (value_of(f, code + 1) - low);
        code += floor(way * 65536) + random >= 65536;
    }
    return signed_code(f, a, code, how);
}

static float from_bits(uint32_t bits) {
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* The list, and all numbers of a format, middles, and what lies beside both. */
static float operand(const format *f, unsigned i) {
    float a;
    if (i >= 8 * (f->most + 1)) {
        FILL(a, i);
        return i % 3 ? a : from_bits((lane_value(i) % 0x0a000000 + 0x3a000000) ^ (uint32_t)(i % 2) << 31);
    }
    const unsigned code = i / 8;
    const double here = value_of(f, code), next = value_of(f, code + 1), at = i & 1 ? (here + next) / 2 : here;
    a = (float)at;
    return from_bits(((uint32_t)BITS(a) + (i >> 1 & 3) - 1) & 0x7fffffff);
}

#define OF(f, name) \
    static u64 to_##name(int k, float a, float b, uint32_t random, uint32_t how) { \
        return k ? lw_cvt_rs_##name##x4_f32(a, b, random, how) : lw_cvt_##name##x2_f32(a, b, how); \
    }
OF(E4M3, e4m3)
OF(E5M2, e5m2)
OF(E2M3, e2m3)
OF(E3M2, e3m2)
OF(E2M1, e2m1)

static void from_f32(void **state) {
    (void)state;
    static u64 (*const functions[])(int, float, float, uint32_t, uint32_t) = {to_e4m3, to_e5m2, to_e2m3, to_e3m2,
                                                                              to_e2m1};
    for (int k = 0; k < FORMATS; k++) {
        const format *f = &formats[k];
        const int apart = f->bits == 4 ? 4 : 8;
        for (unsigned i = 0; i < 20000; i++) {
            const float a = operand(f, i), b = operand(f, i / 2 + 7);
            const uint32_t random = (uint32_t)lane_value(i + 1000);
            const unsigned low = k == E2M1 ? (random >> 16 & 255) << 8 | (random & 255) : random & 65535;
            for (uint32_t how = 0; how <= LW_FLOAT_RELU; how += LW_FLOAT_RELU) {
                const uint64_t near = functions[k](0, a, b, 0, how), any = functions[k](1, a, b, random, how);
                const uint64_t want = nearest(f, a, how) << apart | nearest(f, b, how),
                               chosen = random_code(f, a, low, how) << apart | random_code(f, b, low, how);
                if (near != want) lane_fail(f->name, BITS(a), BITS(b), how, 0, near, want);
                if (any != chosen) lane_fail(f->name, BITS(a), BITS(b), how, random, any, chosen);
            }
        }
    }
    static const char *const names[] = {
        "cvt_e4m3x2_f32",    "cvt_e5m2x2_f32",    "cvt_e2m3x2_f32",    "cvt_e3m2x2_f32",    "cvt_e2m1x2_f32",
        "cvt_rs_e4m3x4_f32", "cvt_rs_e5m2x4_f32", "cvt_rs_e2m3x4_f32", "cvt_rs_e3m2x4_f32", "cvt_rs_e2m1x4_f32"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) lane_tested(names[k]);
}

/* All halves, each with another one. */
static void from_halves(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        const u16 other = (u16)(i * 40503u + 12345);
        const float a = lw_cvt_f32_f16((u16)i), b = lw_cvt_f32_f16(other);
        for (uint32_t how = 0; how <= LW_FLOAT_RELU; how += LW_FLOAT_RELU) {
            const u16 got[] = {lw_cvt_e4m3x2_f16x2(i << 16 | other, how), lw_cvt_e5m2x2_f16x2(i << 16 | other, how)};
            for (int k = E4M3; k <= E5M2; k++) {
                const unsigned want = nearest(&formats[k], a, how) << 8 | nearest(&formats[k], b, how);
                if (got[k] != want) lane_fail(formats[k].name, i, other, how, 16, got[k], want);
            }
        }
    }
    lane_tested("cvt_e4m3x2_f16x2");
    lane_tested("cvt_e5m2x2_f16x2");
}

/* A code as f16: the number with these places, found by its value. */
static unsigned half_of_code(const format *f, unsigned code, uint32_t how) {
    const unsigned size = code % (1u << (f->bits - 1)), negative = code >> (f->bits - 1) & 1;
    if (f->bits == 8 && size > f->most) {
        if (f != &formats[E5M2] || size > 0x7c) return 0x7fff;
        return negative ? (how & LW_FLOAT_RELU ? 0 : 0xfc00) : 0x7c00;
    }
    double a = value_of(f, size);
    const soft v = soft_unpack(BITS(a), 64, false);
    return (unsigned)soft_pack(v, 16, 'n', false) | (negative ? 0x8000 : 0);
}

static void to_halves(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++)
        for (uint32_t how = 0; how <= LW_FLOAT_RELU; how += LW_FLOAT_RELU) {
            const uint32_t got[FORMATS] = {lw_cvt_f16x2_e4m3x2((u16)i, how), lw_cvt_f16x2_e5m2x2((u16)i, how),
                                           lw_cvt_f16x2_e2m3x2((u16)i, how), lw_cvt_f16x2_e3m2x2((u16)i, how),
                                           lw_cvt_f16x2_e2m1x2((u8)i, how)};
            for (int k = 0; k < FORMATS; k++) {
                const format *f = &formats[k];
                const unsigned apart = f->bits == 4 ? 4 : 8, mask = (1u << f->bits) - 1;
                unsigned high = half_of_code(f, i >> apart & mask, how), low = half_of_code(f, i & mask, how);
                if (how && high < 0xfc01 && high >> 15) high = 0;
                if (how && low < 0xfc01 && low >> 15) low = 0;
                if (got[k] != (high << 16 | low)) lane_fail(f->name, i, how, 61, 0, got[k], high << 16 | low);
            }
            const uint32_t powers = lw_cvt_bf16x2_ue8m0x2((u16)i);
            for (int half = 0; half < 2; half++) {
                const int exponent = (int)(i >> 8 * half & 255);
                const double want = ldexp(1, exponent - 127);
                const float wide = from_bits(powers >> 16 * half << 16);
                if (exponent == 255 ? (powers >> 16 * half & 0xffff) != 0x7fff : (double)wide != want)
                    lane_fail("cvt_bf16x2_ue8m0x2", i, (uint64_t)half, 0, 0, powers, BITS(want));
            }
        }
    static const char *const names[] = {"cvt_f16x2_e4m3x2", "cvt_f16x2_e5m2x2", "cvt_f16x2_e2m3x2",
                                        "cvt_f16x2_e3m2x2", "cvt_f16x2_e2m1x2", "cvt_bf16x2_ue8m0x2"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) lane_tested(names[k]);
}

/* The power of two below a magnitude, or above it. */
static unsigned exponent_of(float a, uint32_t how) {
    const double size = fabs((double)a);
    const unsigned too_large = how & LW_FLOAT_FINITE ? 254 : 255;
    if (isnan(a)) return 255;
    unsigned d = 0;
    if ((how & LW_FLOAT_ROUNDING) == LW_FLOAT_RP)
        while (d < 255 && ldexp(1, (int)d - 127) < size) d++;
    else
        while (d < 255 && ldexp(1, (int)d - 126) <= size) d++;
    return d > 254 ? too_large : d;
}

static void to_exponents(void **state) {
    (void)state;
    static const uint32_t hows[] = {LW_FLOAT_RZ, LW_FLOAT_RP, LW_FLOAT_RZ | LW_FLOAT_FINITE,
                                    LW_FLOAT_RP | LW_FLOAT_FINITE};
    for (unsigned i = 0; i < 65536; i += lane_step())
        for (unsigned k = 0; k < 4; k++) {
            const uint32_t wide = i << 16 | (uint32_t)(lane_value(i) & (i % 2 ? 0xffff : 1)),
                           half = i << 16 | (i ^ 0x55);
            const float a = from_bits(wide), b = from_bits(wide * 3 + 1), h = from_bits(i << 16),
                        g = from_bits((i ^ 0x55) << 16);
            const unsigned got = lw_cvt_ue8m0x2_f32(a, b, hows[k]), of_half = lw_cvt_ue8m0x2_bf16x2(half, hows[k]);
            const unsigned want = exponent_of(a, hows[k]) << 8 | exponent_of(b, hows[k]),
                           want_half = exponent_of(h, hows[k]) << 8 | exponent_of(g, hows[k]);
            if (got != want) lane_fail("cvt_ue8m0x2_f32", wide, hows[k], 0, 0, got, want);
            if (of_half != want_half) lane_fail("cvt_ue8m0x2_bf16x2", half, hows[k], 0, 0, of_half, want_half);
        }
    lane_tested("cvt_ue8m0x2_f32");
    lane_tested("cvt_ue8m0x2_bf16x2");
}

/* Of 16 bits: from the number below, by the way to the next. */
static unsigned random_half(float a, unsigned random, uint32_t how, bool brain) {
    const int fraction = brain ? 7 : 10, least = brain ? -126 : -14, places = brain ? 16 : 13;
    const unsigned infinity = brain ? 0x7f80 : 0x7c00, negative = signbit(a) != 0;
    const soft v = soft_unpack(BITS(a), 32, false);
    if (v.nan) return 0x7fff;
    unsigned d = (unsigned)soft_pack_format(v, 16, fraction, least, 'z', false) & 0x7fff;
    if (d < infinity) {
        const soft low = brain ? soft_unpack((uint64_t)d << 16, 32, false) : soft_unpack(d, 16, false);
        const double size = fabs((double)a), at = ldexp((double)(uint64_t)low.magnitude, low.exponent);
        const double step = ldexp(1, d >> fraction ? (int)(d >> fraction) - 1 + least - fraction : least - fraction);
        const double way = (size - at) / step;
        if (way >= 1) d = infinity; /* beyond the largest number by more than its last place */
        else d += floor(ldexp(way, places)) + (random & ((1u << places) - 1)) >= ldexp(1, places);
    }
    if (how & LW_FLOAT_FINITE && d >= infinity) d = infinity - 1;
    return negative ? (how & LW_FLOAT_RELU ? 0 : d | 0x8000) : d;
}

static void random_halves(void **state) {
    (void)state;
    static const uint32_t hows[] = {0, LW_FLOAT_RELU, LW_FLOAT_FINITE, LW_FLOAT_RELU | LW_FLOAT_FINITE};
    for (unsigned i = 0; i < 60000; i++) {
        float a, b;
        FILL(a, i);
        FILL(b, i * 5 + 2);
        if (i % 3 == 1) a = from_bits((uint32_t)(lane_value(i) % 0x16000000 + 0x32000000)); /* about the range of f16 */
        const uint32_t random = (uint32_t)lane_value(i + 500), how = hows[i % 4];
        const uint32_t f16 = lw_cvt_rs_f16x2_f32(a, b, random, how), bf16 = lw_cvt_rs_bf16x2_f32(a, b, random, how);
        const uint32_t want = random_half(a, random >> 16, how, false) << 16 | random_half(b, random, how, false),
                       brain = random_half(a, random >> 16, how, true) << 16 | random_half(b, random, how, true);
        if (f16 != want) lane_fail("cvt_rs_f16x2_f32", BITS(a), BITS(b), random, how, f16, want);
        if (bf16 != brain) lane_fail("cvt_rs_bf16x2_f32", BITS(a), BITS(b), random, how, bf16, brain);
    }
    lane_tested("cvt_rs_f16x2_f32");
    lane_tested("cvt_rs_bf16x2_f32");
}

int lane_convert_narrow(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_f32), cmocka_unit_test(from_halves),
                                       cmocka_unit_test(to_halves), cmocka_unit_test(to_exponents),
                                       cmocka_unit_test(random_halves)};
    return cmocka_run_group_tests_name("lane convert narrow", tests, NULL, NULL);
}
