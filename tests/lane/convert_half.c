/* convert_half.h against the integer arithmetic of soft.c, which rounds an exact number once; what comes from halves
 * for all of them. */
#include "lanewise/lane/how.h"
#include "soft.h"

static const char roundings[] = "nzmp";
enum { PLAIN = 0, BRAIN = 1 };

/* Limits by order of bits, as the manual names them: .satfinite before .relu and .sat. */
static uint64_t limited(uint64_t d, bool nan, uint64_t sign, uint64_t infinity, uint64_t one, uint32_t how) {
    if (nan) return how & LW_FLOAT_SAT ? 0 : sign - 1;
    if (how & LW_FLOAT_FINITE && (d & ~sign) == infinity) d--;
    if (how & (LW_FLOAT_RELU | LW_FLOAT_SAT) && d & sign) d = 0;
    return how & LW_FLOAT_SAT && d > one ? one : d;
}

static u16 half_of(float a, uint32_t how, int brain) {
    const soft v = soft_unpack(BITS(a), 32, brain && how & LW_FLOAT_FTZ);
    const uint64_t d =
        v.nan ? 0
              : soft_pack_format(v, 16, brain ? 7 : 10, brain ? -126 : -14, roundings[how & LW_FLOAT_ROUNDING], false);
    return (u16)limited(d, v.nan, 0x8000, brain ? 0x7f80 : 0x7c00, brain ? 0x3f80 : 0x3c00, how);
}
static u32 halves_of(float a, float b, uint32_t how, int brain) {
    return (u32)half_of(a, how, brain) * 65536 + half_of(b, how, brain);
}

/* Eleven bits, of a number in 19. */
static u32 tf32_of(float a, uint32_t how) {
    const soft v = soft_unpack(BITS(a), 32, false);
    const uint64_t d = v.nan ? 0 : soft_pack_format(v, 19, 10, -126, roundings[how & LW_FLOAT_ROUNDING], false);
    return (u32)(limited(d, v.nan, 0x40000, 0x3fc00, 0, how) << 13);
}

/* Halves away from zero: half a place more, and cut; special ones are cut alone. */
static u32 tf32_away(float a, uint32_t how) {
    const soft v = soft_unpack(BITS(a), 32, false);
    const uint64_t finite = v.nan || v.infinite ? BITS(a) / 8192 : (BITS(a) + 4096) / 8192;
    const bool special = (finite & 0x3fc00) == 0x3fc00;
    return (u32)((finite - (how & LW_FLOAT_FINITE && special)) * 8192);
}

static const uint32_t words[] = {0,
                                 LW_FLOAT_SAT,
                                 LW_FLOAT_RELU,
                                 LW_FLOAT_FINITE,
                                 LW_FLOAT_RELU | LW_FLOAT_FINITE,
                                 LW_FLOAT_FTZ,
                                 LW_FLOAT_FTZ | LW_FLOAT_SAT};
enum { WAYS = 4 * sizeof words / sizeof words[0] };
static uint32_t how_of(uint32_t way) { return words[way / 4] | (way % 4); }

static void compare_f32(float a, float b) {
    for (uint32_t way = 0; way < WAYS; way++) {
        const uint32_t how = how_of(way);
        const uint64_t got[] = {lw_cvt_f16_f32(a, how),
                                lw_cvt_bf16_f32(a, how),
                                lw_cvt_f16x2_f32(a, b, how),
                                lw_cvt_bf16x2_f32(a, b, how),
                                lw_cvt_tf32_f32(a, how & ~(uint32_t)LW_FLOAT_SAT),
                                lw_cvt_rna_tf32_f32(a, how)};
        const uint64_t want[] = {half_of(a, how, PLAIN),
                                 half_of(a, how, BRAIN),
                                 halves_of(a, b, how, PLAIN),
                                 halves_of(a, b, how, BRAIN),
                                 tf32_of(a, how & ~(uint32_t)LW_FLOAT_SAT),
                                 tf32_away(a, how)};
        for (unsigned k = 0; k < sizeof got / sizeof got[0]; k++)
            if (got[k] != want[k]) lane_fail("convert_half", BITS(a), BITS(b), how, k, got[k], want[k]);
    }
}

static void from_f32(void **state) {
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        float a, b;
        FILL(a, i);
        FILL(b, i * 7 + 3);
        compare_f32(a, b);
    }
    lane_tested("cvt_f16_f32");
    lane_tested("cvt_bf16_f32");
    lane_tested("cvt_f16x2_f32");
    lane_tested("cvt_bf16x2_f32");
    lane_tested("cvt_tf32_f32");
    lane_tested("cvt_rna_tf32_f32");
}

/* Each number of 16 bits, and what lies beside the middle to the next. */
static void around_halves(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        const float wide = lw_cvt_f32_f16((u16)i);
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t f16 = (uint32_t)BITS(wide) + 0xfff + k, bf16 = (i << 16) + 0x7fff + k;
            float a, b;
            memcpy(&a, &f16, 4);
            memcpy(&b, &bf16, 4);
            for (uint32_t how = 0; how < 4; how++) {
                if (lw_cvt_f16_f32(a, how) != half_of(a, how, PLAIN))
                    lane_fail("cvt_f16_f32", f16, how, 0, 0, lw_cvt_f16_f32(a, how), half_of(a, how, PLAIN));
                if (lw_cvt_bf16_f32(b, how) != half_of(b, how, BRAIN))
                    lane_fail("cvt_bf16_f32", bf16, how, 0, 0, lw_cvt_bf16_f32(b, how), half_of(b, how, BRAIN));
            }
        }
    }
}

static void own(void **state) {
    (void)state;
    CHECK1(cvt_rn_bf16_f32, u16, f32, half_of(a, 0, BRAIN));
    CHECK2(cvt_rn_f16x2_f32, u32, f32, f32, halves_of(a, b, 0, PLAIN));
    CHECK2(cvt_rn_bf16x2_f32, u32, f32, f32, halves_of(a, b, 0, BRAIN));
}

static void to_f32(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        const float sat = lw_cvt_sat_f32_f16((u16)i), plain = lw_cvt_f32_bf16((u16)i),
                    ftz = lw_cvt_ftz_f32_bf16((u16)i);
        const soft v = soft_unpack(i, 16, false);
        const uint64_t want =
            limited(v.nan ? 0 : soft_pack(v, 32, 'n', false), v.nan, 0x80000000, 0x7f800000, 0x3f800000, LW_FLOAT_SAT);
        if (BITS(sat) != want) lane_fail("cvt_sat_f32_f16", i, 0, 0, 0, BITS(sat), want);
        if (BITS(plain) != i * 65536ull) lane_fail("cvt_f32_bf16", i, 0, 0, 0, BITS(plain), i * 65536ull);
        const uint64_t flushed = i % 32768 < 128      ? i / 32768 * 0x80000000ull
                                 : i % 32768 > 0x7f80 ? 0x7fffffff
                                                      : i * 65536ull;
        if (BITS(ftz) != flushed) lane_fail("cvt_ftz_f32_bf16", i, 0, 0, 0, BITS(ftz), flushed);
    }
    lane_tested("cvt_sat_f32_f16"), lane_exhausted("cvt_sat_f32_f16");
    lane_tested("cvt_f32_bf16"), lane_exhausted("cvt_f32_bf16");
    lane_tested("cvt_ftz_f32_bf16"), lane_exhausted("cvt_ftz_f32_bf16");
}

/* ---- Beside f32 ----------------------------------------------------------------------------------------------- */

/* A number of any kind, rounded once. */
static u16 packed(soft v, uint32_t how, int brain) {
    const uint64_t d =
        soft_pack_format(v, 16, brain ? 7 : 10, brain ? -126 : -14, roundings[how & LW_FLOAT_ROUNDING], false);
    return (u16)limited(d, v.nan, 0x8000, brain ? 0x7f80 : 0x7c00, brain ? 0x3f80 : 0x3c00, how);
}

/* Integers by way of an f32 that is rounded to odd. */
#define CHECK_INTEGER(T) \
    do { \
        for (unsigned i = 0; i < 40000; i++) \
            for (uint32_t how = 0; how < 8; how++) { \
                T a; \
                FILL(a, i); \
                const float odd = lw_cvt_odd_f32_##T(a); \
                const u16 f16 = lw_cvt_f16_f32(odd, how), bf16 = lw_cvt_bf16_f32(odd, how & LW_FLOAT_ROUNDING); \
                const u16 want = packed(soft_integer(a), how, PLAIN), \
                          brain = packed(soft_integer(a), how & LW_FLOAT_ROUNDING, BRAIN); \
                if (f16 != want) lane_fail("cvt_odd_f32_" #T, BITS(a), how, 0, 0, f16, want); \
                if (bf16 != brain) lane_fail("cvt_odd_f32_" #T, BITS(a), how, 1, 0, bf16, brain); \
            } \
        lane_tested("cvt_odd_f32_" #T); \
    } while (0)

static void from_integers(void **state) {
    (void)state;
    CHECK_INTEGER(u8);
    CHECK_INTEGER(u16);
    CHECK_INTEGER(u32);
    CHECK_INTEGER(u64);
    CHECK_INTEGER(s8);
    CHECK_INTEGER(s16);
    CHECK_INTEGER(s32);
    CHECK_INTEGER(s64);
}

/* A NaN keeps its sign, and what there is room for of its payload. */
static u16 half_of_double(double a, uint32_t how, int brain) {
    const soft v = soft_unpack(BITS(a), 64, false);
    const uint64_t places = brain ? 7 : 10, payload = BITS(a) % (1ull << 52) >> (52 - places);
    const uint64_t nan = (brain ? 0x7f80 : 0x7c00) | 1ull << (places - 1) | payload | (BITS(a) >> 63) << 15;
    return v.nan ? (how & LW_FLOAT_SAT ? 0 : (u16)nan) : packed(v, how, brain);
}

static void from_double(double a) {
    for (uint32_t how = 0; how < 8; how++) {
        const u16 f16 = lw_cvt_f16_f64(a, how), bf16 = lw_cvt_bf16_f64(a, how & LW_FLOAT_ROUNDING);
        const u16 want = half_of_double(a, how, PLAIN), brain = half_of_double(a, how & LW_FLOAT_ROUNDING, BRAIN);
        if (f16 != want) lane_fail("cvt_f16_f64", BITS(a), how, 0, 0, f16, want);
        if (bf16 != brain) lane_fail("cvt_bf16_f64", BITS(a), how, 0, 0, bf16, brain);
    }
}

/* The list, and of each number of 16 bits what lies beside it and beside the middle to the next. */
static void from_f64(void **state) {
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        double a;
        FILL(a, i);
        from_double(a);
    }
    for (uint32_t i = 0; i < 65536; i++)
        for (int brain = PLAIN; brain <= BRAIN; brain++) {
            const double here = brain ? lw_cvt_f64_bf16((u16)i) : lw_cvt_f64_f16((u16)i);
            const uint64_t half = 1ull << (brain ? 44 : 41);
            const uint64_t near[] = {BITS(here) - 1, BITS(here) + 1, BITS(here) + half - 1, BITS(here) + half,
                                     BITS(here) + half + 1};
            for (unsigned k = i % 4; k < sizeof near / sizeof *near; k += i % 4 + 1) {
                double a;
                memcpy(&a, &near[k], sizeof a);
                from_double(a);
            }
        }
    lane_tested("cvt_f16_f64");
    lane_tested("cvt_bf16_f64");
}

/* Integral numbers by an integer, all roundings. */
static u16 integral_of(u16 a, uint32_t how, int brain) {
    const soft v = brain ? soft_unpack((uint64_t)a << 16, 32, false) : soft_unpack(a, 16, false);
    if (v.nan || v.infinite) return packed(v, how & LW_FLOAT_SAT, brain);
    soft d = v;
    if (v.exponent < 0) d = soft_integer(soft_to_integer(v, roundings[how & LW_FLOAT_ROUNDING], -(1 << 24), 1 << 24));
    d.negative = v.negative; /* a zero, too */
    return packed(d, how & LW_FLOAT_SAT, brain);
}

static void all_halves(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        const soft f16 = soft_unpack(i, 16, false), bf16 = soft_unpack((uint64_t)i << 16, 32, false);
        const uint64_t sign = (uint64_t)(i >> 15) << 63, quiet = 0x7ff8000000000000;
        const double plain = lw_cvt_f64_f16((u16)i), brain = lw_cvt_f64_bf16((u16)i), sat = lw_cvt_sat_f64_f16((u16)i);
        const uint64_t wants[] = {f16.nan ? quiet | sign | (uint64_t)(i % 1024) << 42 : soft_pack(f16, 64, 'n', false),
                                  bf16.nan ? quiet | sign | (uint64_t)(i % 128) << 45 : soft_pack(bf16, 64, 'n', false),
                                  limited(f16.nan ? 0 : soft_pack(f16, 64, 'n', false), f16.nan, 1ull << 63,
                                          0x7ff0000000000000, 0x3ff0000000000000, LW_FLOAT_SAT)};
        const uint64_t gots[] = {BITS(plain), BITS(brain), BITS(sat)};
        for (unsigned k = 0; k < sizeof gots / sizeof *gots; k++)
            if (gots[k] != wants[k]) lane_fail("cvt_f64_half", i, k, 0, 0, gots[k], wants[k]);
        for (uint32_t how = 0; how < 8; how++) {
            const u16 got[] = {lw_cvt_integral_f16((u16)i, how), lw_cvt_integral_bf16((u16)i, how & LW_FLOAT_ROUNDING),
                               lw_cvt_f16_f16((u16)i, how & LW_FLOAT_SAT), lw_cvt_bf16_bf16((u16)i)};
            const u16 want[] = {integral_of((u16)i, how, PLAIN), integral_of((u16)i, how & LW_FLOAT_ROUNDING, BRAIN),
                                packed(f16, how & LW_FLOAT_SAT, PLAIN), packed(bf16, 0, BRAIN)};
            for (unsigned k = 0; k < sizeof got / sizeof *got; k++)
                if (got[k] != want[k]) lane_fail("cvt_half_half", i, how, k, 0, got[k], want[k]);
        }
    }
    static const char *const names[] = {"cvt_f64_f16",      "cvt_sat_f64_f16",   "cvt_f64_bf16", "cvt_f16_f16",
                                        "cvt_integral_f16", "cvt_integral_bf16", "cvt_bf16_bf16"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) lane_tested(names[k]);
}

int lane_convert_half(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_f32),      cmocka_unit_test(around_halves),
                                       cmocka_unit_test(own),           cmocka_unit_test(to_f32),
                                       cmocka_unit_test(from_integers), cmocka_unit_test(from_f64),
                                       cmocka_unit_test(all_halves)};
    return cmocka_run_group_tests_name("lane convert half", tests, NULL, NULL);
}
