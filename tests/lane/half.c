/* half.h against exact numbers (soft.h), rounded once by integers: all pairs of edge values, noise, and all 65,536
 * inputs of what takes one. */
#include "soft.h"

static const uint16_t edges[] = {0,      1,      2,      0x7f,   0x80,   0x81,   0x200,  0x3ff,  0x400,  0x401,
                                 0x7ff,  0x1400, 0x13ff, 0x1401, 0x3800, 0x37ff, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
                                 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fff, 0x4000, 0x4248, 0x6400, 0x67ff, 0x7800,
                                 0x7bff, 0x7bfe, 0x7c00, 0x7c01, 0x7e00, 0x7f00, 0x7f7f, 0x7f7e, 0x7f80, 0x7f81,
                                 0x7fc0, 0x7ff7, 0x7fff, 0x4300, 0x2000, 0x1fff, 0x0c00, 0x5fff};
enum { EDGES = 2 * sizeof edges / sizeof edges[0], NOISE = 100000 };

static uint16_t edge(unsigned i) { return (uint16_t)(edges[i / 2] | (i & 1) << 15); }
static bool brain_nan(uint16_t a, bool brain) { return (a & 0x7fff) > (brain ? 0x7f80 : 0x7c00); }
static soft unpacked(uint16_t a, bool brain) {
    return brain ? soft_unpack((uint64_t)a << 16, 32, false) : soft_unpack(a, 16, false);
}
static uint16_t flushed(uint16_t a, uint32_t how, bool brain) {
    return how & LW_FLOAT_FTZ && !brain && !(a & 0x7c00) ? a & 0x8000 : a;
}

/* Magnitude / 2^places to nearest even. */
static uint64_t nearest(u128 magnitude, int places) {
    if (places <= 0) return (uint64_t)(magnitude << -places);
    if (places > 126) return 0;
    u128 whole = magnitude >> places, rest = magnitude - (whole << places), half = (u128)1 << (places - 1);
    return (uint64_t)(whole + (rest > half || (rest == half && whole & 1)));
}

static uint16_t packed(soft v, uint32_t how, bool brain) {
    const int bits = brain ? 7 : 10, least = brain ? -133 : -24;
    const uint64_t infinity = brain ? 0x7f80 : 0x7c00, one = brain ? 0x3f80 : 0x3c00;
    uint64_t d = infinity;
    int top = v.exponent - 1;
    if (v.nan) return how & LW_FLOAT_SAT ? 0 : 0x7fff;
    for (u128 m = v.magnitude; m; m >>= 1) top++;
    if (!v.infinite && !v.magnitude) d = 0;
    if (!v.infinite && v.magnitude) {
        const int last = top - bits < least ? least : top - bits;
        d = nearest(v.magnitude, last - v.exponent) + ((uint64_t)(last - least) << bits);
        const bool carries = nearest(v.magnitude, top - bits - v.exponent) >> (bits + 1);
        if (how & LW_FLOAT_FTZ && !brain && top + carries < -14) d = 0;
        if (d > infinity) d = infinity;
    }
    if (v.negative && how & (LW_FLOAT_SAT | LW_FLOAT_RELU)) return 0;
    if (how & LW_FLOAT_SAT && d > one) d = one;
    return (uint16_t)(d | (uint64_t)v.negative << 15);
}

/* Negated where '-'; the sum of two, the product, or both. */
static uint16_t computed(char what, uint16_t a, uint16_t b, uint16_t c, uint32_t how, bool brain) {
    if (how & LW_FLOAT_OOB && ((a & 0x7fff) == 0x7ff7 || (b & 0x7fff) == 0x7ff7)) return 0;
    soft x = unpacked(flushed(a, how, brain), brain), y = unpacked(flushed(b, how, brain), brain);
    soft z = unpacked(flushed(c, how, brain), brain);
    if (what == '-') y.negative = !y.negative;
    soft d = what == '+' || what == '-' ? soft_add(x, y) : soft_multiply(x, y);
    return packed(what == 'f' ? soft_add(d, z) : d, how, brain);
}

static int order(uint16_t a) { return a & 0x8000 ? -1 - (a & 0x7fff) : a; }
static uint16_t extreme(bool larger, uint16_t a, uint16_t b, uint32_t how, bool brain) {
    a = flushed(a, how, brain), b = flushed(b, how, brain);
    const uint16_t sign = how & LW_FLOAT_XORSIGN ? (a ^ b) & 0x8000 : 0;
    if (how & LW_FLOAT_ABS) a &= 0x7fff, b &= 0x7fff;
    const bool nan_a = brain_nan(a, brain), nan_b = brain_nan(b, brain);
    if ((nan_a && nan_b) || (how & LW_FLOAT_NAN && (nan_a || nan_b))) return 0x7fff;
    if (nan_a || nan_b) return (nan_a ? b : a) | sign;
    return ((order(a) > order(b)) == larger ? a : b) | sign;
}

/* One operation on numbers and on pairs, whose upper halves are the operands turned by one place. */
typedef uint16_t one_of3(uint16_t, uint16_t, uint16_t, uint32_t);
typedef uint32_t two_of3(uint32_t, uint32_t, uint32_t, uint32_t);
#define OF3(name, call, T) \
    static T name##_3(T a, T b, T c, uint32_t how) { return (void)c, (void)b, call; }
/* clang-format off */
#define BOTH3(name) \
    OF3(name##_f16, lw_##name##_f16(a, b, c, how), uint16_t) \
    OF3(name##_bf16, lw_##name##_bf16(a, b, c, how), uint16_t) \
    OF3(name##_f16x2, lw_##name##_f16x2(a, b, c, how), uint32_t) \
    OF3(name##_bf16x2, lw_##name##_bf16x2(a, b, c, how), uint32_t)
/* clang-format on */
/* clang-format off */
#define BOTH2(name) \
    OF3(name##_f16, lw_##name##_f16(a, b, how), uint16_t) OF3(name##_bf16, lw_##name##_bf16(a, b, how), uint16_t) \
    OF3(name##_f16x2, lw_##name##_f16x2(a, b, how), uint32_t) \
    OF3(name##_bf16x2, lw_##name##_bf16x2(a, b, how), uint32_t)
/* clang-format on */
/* clang-format off */
#define BOTH1(name) \
    OF3(name##_f16, lw_##name##_f16(a, how), uint16_t) OF3(name##_bf16, lw_##name##_bf16(a, how), uint16_t) \
    OF3(name##_f16x2, lw_##name##_f16x2(a, how), uint32_t) \
    OF3(name##_bf16x2, lw_##name##_bf16x2(a, how), uint32_t)
/* clang-format on */
BOTH3(fma)
BOTH2(add)
BOTH2(sub)
BOTH2(mul)
BOTH2(min)
BOTH2(max)
BOTH1(abs)
BOTH1(neg)

static uint16_t wanted(char what, uint16_t a, uint16_t b, uint16_t c, uint32_t how, bool brain) {
    if (what == '<' || what == '>') return extreme(what == '>', a, b, how, brain);
    if (what != 'a' && what != 'n') return computed(what, a, b, c, how, brain);
    a = flushed(a, how, brain);
    return brain_nan(a, brain) ? 0x7fff : what == 'a' ? a & 0x7fff : a ^ 0x8000;
}

static void check(const char *name, char what, one_of3 *one, two_of3 *two, bool brain, uint32_t how) {
    const unsigned pairs = EDGES * EDGES,
                   whole = what == 'a' || what == 'n' ? 65536 : pairs * (what == 'f' ? 4 : 1) + NOISE;
    uint16_t last[3] = {0};
    uint32_t before = 0;
    for (unsigned i = 0; i < whole; i++) {
        const uint64_t noise = lane_value(4 * i + 1) ^ lane_value(4 * i + 3) << 7;
        uint16_t v[3] = {(uint16_t)noise, (uint16_t)(noise >> 16), (uint16_t)(noise >> 32)};
        if (what == 'a' || what == 'n') v[0] = (uint16_t)i;
        if (i < whole - NOISE && whole > NOISE) v[0] = edge(i % EDGES), v[1] = edge(i / EDGES % EDGES);
        if (i < whole - NOISE && whole > NOISE && i % 3) v[2] = edge((unsigned)(noise % EDGES));
        if (what == 'f' && i % 4 == 1)
            v[2] = (uint16_t)(computed('*', v[0], v[1], 0, 0, brain) ^ 0x8000 ^ (noise >> 60 & 3));
        const uint32_t want = wanted(what, v[0], v[1], v[2], how, brain), got = one(v[0], v[1], v[2], how);
        if (want != got) lane_fail(name, v[0], v[1], v[2], how, got, want);
        const uint32_t both =
            two(v[0] | (uint32_t)last[0] << 16, v[1] | (uint32_t)last[1] << 16, v[2] | (uint32_t)last[2] << 16, how);
        if (i && both != (want | before << 16))
            lane_fail(name, v[0], v[1], v[2], how | 0x10000, both, want | before << 16);
        memcpy(last, v, sizeof v);
        before = want;
    }
    if (what == 'a' || what == 'n') lane_exhausted(name);
}

#define CHECK_HALF(name, what, hows, brain_hows) \
    do { \
        static const uint32_t of_f16[] = {hows}, of_bf16[] = {brain_hows}; \
        for (size_t k = 0; k < sizeof of_f16 / sizeof *of_f16; k++) \
            check(#name "_f16", what, name##_f16_3, name##_f16x2_3, false, of_f16[k]); \
        for (size_t k = 0; k < sizeof of_bf16 / sizeof *of_bf16; k++) \
            check(#name "_bf16", what, name##_bf16_3, name##_bf16x2_3, true, of_bf16[k]); \
        lane_tested(#name "_f16"), lane_tested(#name "_bf16"), lane_tested(#name "_f16x2"), \
            lane_tested(#name "_bf16x2"); \
    } while (0)
#define F(word)        LW_FLOAT_##word
#define OF_SUM         0, F(FTZ), F(SAT), F(FTZ) | F(SAT)
#define OF_FMA         OF_SUM, F(RELU), F(FTZ) | F(RELU), F(OOB), F(OOB) | F(RELU)
#define OF_BRAIN       0, F(RELU), F(OOB), F(OOB) | F(RELU)
#define OF_LEAST       0, F(FTZ), F(NAN), F(FTZ) | F(NAN), F(XORSIGN) | F(ABS), F(FTZ) | F(NAN) | F(XORSIGN) | F(ABS)
#define OF_BRAIN_LEAST 0, F(NAN), F(XORSIGN) | F(ABS), F(NAN) | F(XORSIGN) | F(ABS)
#define OF_SIGN        0, F(FTZ)
#define PLAIN          0

static void arithmetic(void **state) {
    (void)state;
    CHECK_HALF(add, '+', OF_SUM, PLAIN);
    CHECK_HALF(sub, '-', OF_SUM, PLAIN);
    CHECK_HALF(mul, '*', OF_SUM, PLAIN);
    CHECK_HALF(fma, 'f', OF_FMA, OF_BRAIN);
}
static void extremes_and_signs(void **state) {
    (void)state;
    CHECK_HALF(min, '<', OF_LEAST, OF_BRAIN_LEAST);
    CHECK_HALF(max, '>', OF_LEAST, OF_BRAIN_LEAST);
    CHECK_HALF(abs, 'a', OF_SIGN, PLAIN);
    CHECK_HALF(neg, 'n', OF_SIGN, PLAIN);
}

/* Functions of their own, and the cheaper way for usual operands wherever it is taken. */
static uint32_t pair(char what, uint32_t a, uint32_t b, uint32_t c, bool brain) {
    return (uint32_t)computed(what, (uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16), 0, brain) << 16 |
           computed(what, (uint16_t)a, (uint16_t)b, (uint16_t)c, 0, brain);
}
static void own(void **state) {
    (void)state;
    CHECK2(add_rn_f16, u16, u16, u16, computed('+', a, b, 0, 0, false));
    CHECK2(sub_rn_f16, u16, u16, u16, computed('-', a, b, 0, 0, false));
    CHECK2(mul_rn_f16, u16, u16, u16, computed('*', a, b, 0, 0, false));
    CHECK3(fma_rn_f16, u16, u16, u16, u16, computed('f', a, b, c, 0, false));
    CHECK3(fma_rn_bf16, u16, u16, u16, u16, computed('f', a, b, c, 0, true));
    CHECK2(add_rn_f16x2, u32, u32, u32, pair('+', a, b, 0, false));
    CHECK2(sub_rn_f16x2, u32, u32, u32, pair('-', a, b, 0, false));
    CHECK2(mul_rn_f16x2, u32, u32, u32, pair('*', a, b, 0, false));
    CHECK3(fma_rn_f16x2, u32, u32, u32, u32, pair('f', a, b, c, false));
    CHECK3(fma_rn_bf16x2, u32, u32, u32, u32, pair('f', a, b, c, true));
}
static void usual(void **state) {
    (void)state;
    unsigned taken = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        const uint64_t noise = lane_value(4 * i + 1), more = lane_value(4 * i + 3);
        const uint16_t a = i % 3 ? (uint16_t)noise : edge((unsigned)(noise % EDGES)),
                       b = i % 5 ? (uint16_t)(noise >> 16) : edge((unsigned)(noise >> 8) % EDGES);
        uint16_t c = (uint16_t)(more >> 32);
        if (i % 2) c = (uint16_t)(computed('*', a, b, 0, 0, true) ^ (more & 0x8183)); /* cancels, or nearly */
        if (i % 8 == 1) c = (uint16_t)(c - ((more >> 7 & 15) << 7));                  /* a little smaller */
        if (lw_rare_fma_rn_bf16(a, b, c)) continue;
        taken++;
        const uint16_t got = lw_usual_fma_rn_bf16(a, b, c), want = computed('f', a, b, c, 0, true);
        if (got != want) lane_fail("usual_fma_rn_bf16", a, b, c, 0, got, want);
        const uint32_t wide = (uint32_t)a << 16 | 0x3f80,
                       two = lw_usual_fma_rn_bf16x2(wide, (uint32_t)b << 16 | a, c * 65537u);
        if (!lw_rare_fma_rn_bf16x2(wide, (uint32_t)b << 16 | a, c * 65537u) &&
            two != pair('f', wide, (uint32_t)b << 16 | a, c * 65537u, true))
            lane_fail("usual_fma_rn_bf16x2", a, b, c, 0, two, want);
    }
    assert_true(taken > 100000);
}

/* Which of less, equal, greater and unordered two numbers are, by the order of their bits. */
static uint32_t relation(uint16_t a, uint16_t b, uint32_t how, bool brain) {
    a = flushed(a, how, brain), b = flushed(b, how, brain);
    if (brain_nan(a, brain) || brain_nan(b, brain)) return LW_FLOAT_UNORDERED;
    const int x = a == 0x8000 ? 0 : order(a), y = b == 0x8000 ? 0 : order(b); /* zeros are equal */
    return x < y ? LW_FLOAT_LESS : x > y ? LW_FLOAT_GREATER : LW_FLOAT_EQUAL;
}
static void comparisons(void **state) {
    (void)state;
    for (unsigned i = 0; i < EDGES * EDGES + NOISE; i++) {
        const uint64_t noise = lane_value(4 * i + 1);
        const bool is_edge = i < EDGES * EDGES;
        const uint16_t a = is_edge ? edge(i % EDGES) : (uint16_t)noise,
                       b = is_edge ? edge(i / EDGES) : (uint16_t)(i % 2 ? noise >> 16 : a ^ (noise >> 61));
        for (uint32_t how = 0; how < 32; how++) {
            const uint32_t asked = how % 16 * LW_FLOAT_LESS | (how / 16 ? LW_FLOAT_FTZ : 0);
            const bool f16 = lw_setp_f16(a, b, asked), bf16 = lw_setp_bf16(a, b, asked);
            if (f16 != !!(relation(a, b, asked, false) & asked)) lane_fail("setp_f16", a, b, asked, 0, f16, !f16);
            if (bf16 != !!(relation(a, b, asked, true) & asked)) lane_fail("setp_bf16", a, b, asked, 0, bf16, !bf16);
        }
    }
    lane_tested("setp_f16");
    lane_tested("setp_bf16");
}

int lane_half(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(extremes_and_signs),
                                       cmocka_unit_test(comparisons), cmocka_unit_test(own), cmocka_unit_test(usual)};
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
