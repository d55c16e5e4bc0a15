/* rounding.h against the integer arithmetic of soft.c: every function in every rounding, on all pairs of edge values,
 * on noise, and on operands made so that results meet the ends of the range, cancel, or lie beside a number that can be
 * had. LANE_ROUNDS=n makes n times as much noise. */
#include <stdlib.h>
#include "soft.h"

static const char roundings[] = "nzmp"; /* as LW_FLOAT_RN … count them */

static float float_of(uint64_t bits) {
    float v;
    uint32_t low = (uint32_t)bits;
    memcpy(&v, &low, 4);
    return v;
}
static double double_of(uint64_t bits) {
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

/* ---- The second formulation --------------------------------------------------------------------------------- */

/* A sum that is zero without being one of zeros of the same sign is -0 where rounding is down. */
static soft sum_of(soft a, soft b, char rounding) {
    soft s = soft_add(a, b);
    if (!s.nan && !s.infinite && s.magnitude == 0 && a.negative != b.negative) s.negative = rounding == 'm';
    return s;
}

static soft value_of(char op, soft a, soft b, soft c, char rounding) {
    switch (op) {
    case '-': b.negative = !b.negative; return sum_of(a, b, rounding);
    case '+': return sum_of(a, b, rounding);
    case '*': return soft_multiply(a, b);
    case '/': return soft_divide(a, b);
    case 'f': return sum_of(soft_multiply(a, b), c, rounding);
    case 'r': return soft_divide(soft_integer(1), a);
    default: return soft_root(a);
    }
}

static uint64_t want_f32(char op, uint64_t a, uint64_t b, uint64_t c, uint32_t how, bool ftz) {
    const char rounding = roundings[how & LW_FLOAT_ROUNDING];
    soft v = value_of(op, soft_unpack(a, 32, ftz), soft_unpack(b, 32, ftz), soft_unpack(c, 32, ftz), rounding);
    uint64_t bits = v.nan ? 0x7fffffff : soft_pack(v, 32, rounding, ftz);
    if (ftz && (bits & 0x7f800000) == 0) bits &= 0x80000000;
    if (how & LW_FLOAT_SAT) bits = v.nan || bits >> 31 ? 0 : bits > 0x3f800000 ? 0x3f800000 : bits;
    return bits;
}

/* A NaN operand is passed on, quiet: the first of these that is one. */
static const char *order_of(char op) {
    return op == '/' ? "ab" : op == 'f' ? "bca" : op == 'r' || op == 's' ? "a" : "ba";
}
static uint64_t want_f64(char op, uint64_t a, uint64_t b, uint64_t c, uint32_t how) {
    const char rounding = roundings[how & LW_FLOAT_ROUNDING];
    const uint64_t operands[] = {a, b, c};
    soft v = value_of(op, soft_unpack(a, 64, false), soft_unpack(b, 64, false), soft_unpack(c, 64, false), rounding);
    if (!v.nan) return soft_pack(v, 64, rounding, false);
    for (const char *o = order_of(op); *o; o++)
        if (soft_unpack(operands[*o - 'a'], 64, false).nan) return operands[*o - 'a'] | UINT64_C(1) << 51;
    return 0xfff8000000000000;
}

/* ---- Operands -------------------------------------------------------------------------------------------------- */

static uint64_t state = 1;
static uint64_t noise(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}

/* Numbers of all sizes, of few bits, beside powers of two, subnormal, large, about the square root of the least number,
 * small integers. */
static uint64_t any_f32(void) {
    const uint64_t m = noise() & 0xffffffff, r = noise(), fraction = m & 0x807fffff;
    const float small = (float)((int)(m % 64) - 32);
    switch (r % 9) {
    case 0: return m;
    case 1: return fraction | (uint64_t)(50 + r / 16 % 40) << 23;
    case 2: return m & 0x80ffffff;
    case 3: return ((m & 0x8000000f) + ((uint64_t)(r / 16 % 255) << 23) - (m & 8)) & 0xffffffff;
    case 4: return fraction | (uint64_t)(120 + r / 16 % 16) << 23;
    case 5: return (m & 0x8003f000) | (uint64_t)(r / 16 % 256) << 23;
    case 6: return fraction | (uint64_t)(240 + r / 16 % 15) << 23;
    case 7: return lane_value_f32((unsigned)(r / 16 % 134));
    default: return BITS(small);
    }
}
static uint64_t any_f64(void) {
    const uint64_t m = noise(), r = noise(), fraction = m & 0x800fffffffffffff;
    const double small = (int)(m % 64) - 32;
    switch (r % 10) {
    case 0: return m;
    case 1: return fraction | (uint64_t)(490 + r / 16 % 40) << 52;
    case 2: return fraction >> r / 16 % 3 * 20;
    case 3: return (m & 0x800000000000000f) + ((uint64_t)(r / 16 % 2047) << 52) - (m & 8);
    case 4: return fraction | (uint64_t)(1010 + r / 16 % 30) << 52;
    case 5: return (m & 0x8003f00000000000) | (uint64_t)(r / 16 % 2048) << 52;
    case 6: return fraction | (uint64_t)(2000 + r / 16 % 47) << 52;
    case 7: return fraction | (uint64_t)(r / 16 % 120) << 52;
    case 8: return lane_value_f64((unsigned)(r / 16 % 126));
    default: return BITS(small);
    }
}

/* Three operands. In some cases the second is about minus the first, in others the third is about minus the product, or
 * far from it. */
static void fill_f32(uint64_t v[3]) {
    for (int k = 0; k < 3; k++) v[k] = any_f32();
    const uint64_t r = noise();
    const float product = float_of(v[0]) * float_of(v[1]);
    if (r % 8 == 1) v[1] = ((v[0] ^ 0x80000000) + r / 8 % 5 - 2) & 0xffffffff;
    if (r % 4 == 0) v[2] = ((BITS(product) ^ 0x80000000) + r / 8 % 5 - 2) & 0xffffffff;
    if (r % 8 == 3) v[2] = (BITS(product) + (r / 8 % 9 << 23) - (4u << 23) + r / 128 % 3 - 1) & 0xffffffff;
}
static void fill_f64(uint64_t v[3]) {
    for (int k = 0; k < 3; k++) v[k] = any_f64();
    const uint64_t r = noise();
    const double product = double_of(v[0]) * double_of(v[1]);
    if (r % 8 == 1) v[1] = (v[0] ^ UINT64_C(1) << 63) + r / 8 % 5 - 2;
    if (r % 4 == 0) v[2] = (BITS(product) ^ UINT64_C(1) << 63) + r / 8 % 5 - 2;
    if (r % 8 == 3) v[2] = BITS(product) + (r / 8 % 9 << 52) - (UINT64_C(4) << 52) + r / 128 % 3 - 1;
}

/* ---- Checks ---------------------------------------------------------------------------------------------------- */

typedef struct function {
    const char *name;
    char op;
    int operands;
    bool ftz, wide;
    union {
        float (*one)(float, uint32_t);
        float (*two)(float, float, uint32_t);
        float (*three)(float, float, float, uint32_t);
        double (*wide_one)(double, uint32_t);
        double (*wide_two)(double, double, uint32_t);
        double (*wide_three)(double, double, double, uint32_t);
    };
} function;

static uint64_t got(const function *f, const uint64_t v[3], uint32_t how) {
    if (f->wide) {
        const double a = double_of(v[0]), b = double_of(v[1]), c = double_of(v[2]);
        const double d = f->operands == 1   ? f->wide_one(a, how)
                         : f->operands == 2 ? f->wide_two(a, b, how)
                                            : f->wide_three(a, b, c, how);
        return BITS(d);
    }
    const float a = float_of(v[0]), b = float_of(v[1]), c = float_of(v[2]);
    const float d = f->operands == 1 ? f->one(a, how) : f->operands == 2 ? f->two(a, b, how) : f->three(a, b, c, how);
    return BITS(d);
}

static void check_case(const function *f, const uint64_t v[3], uint32_t how) {
    const uint64_t d = got(f, v, how);
    const uint64_t want = f->wide ? want_f64(f->op, v[0], v[1], v[2], how)
                                  : want_f32(f->op, v[0], v[1], v[2], how, f->ftz);
    if (d != want) lane_fail(f->name, v[0], v[1], v[2], how, d, want);
}

static unsigned rounds(void) {
    const char *text = getenv("LANE_ROUNDS");
    return text ? (unsigned)strtoul(text, NULL, 10) : 1;
}

static void check(const function *f) {
    const bool sat = !f->wide && f->op != '/' && f->op != 'r' && f->op != 's';
    const unsigned step = lane_step(); /* which divides neither number of edges: all of them still come */
    const unsigned edges = f->wide ? 126 : 134, noises = (f->operands == 1 ? 50000 : 100000) * rounds() / step;
    uint64_t v[3] = {0};
    for (uint32_t rounding = 0; rounding < 4; rounding++) {
        for (unsigned i = 0; i < edges * edges; i += step) {
            v[0] = f->wide ? lane_value_f64(i / edges) : lane_value_f32(i / edges);
            v[1] = f->wide ? lane_value_f64(i % edges) : lane_value_f32(i % edges);
            v[2] = f->wide ? any_f64() : any_f32();
            check_case(f, v, rounding);
            if (sat) check_case(f, v, rounding | LW_FLOAT_SAT);
        }
        for (unsigned i = 0; i < noises; i++) {
            if (f->wide) fill_f64(v);
            else fill_f32(v);
            check_case(f, v, rounding | (sat && i % 8 == 0 ? LW_FLOAT_SAT : 0));
        }
    }
    lane_tested(f->name);
}

static void all_roundings(void **unused) {
    (void)unused;
    static const function functions[] = {
        {"add_f32", '+', 2, false, false, .two = lw_add_f32},
        {"add_ftz_f32", '+', 2, true, false, .two = lw_add_ftz_f32},
        {"add_f64", '+', 2, false, true, .wide_two = lw_add_f64},
        {"sub_f32", '-', 2, false, false, .two = lw_sub_f32},
        {"sub_ftz_f32", '-', 2, true, false, .two = lw_sub_ftz_f32},
        {"sub_f64", '-', 2, false, true, .wide_two = lw_sub_f64},
        {"mul_f32", '*', 2, false, false, .two = lw_mul_f32},
        {"mul_ftz_f32", '*', 2, true, false, .two = lw_mul_ftz_f32},
        {"mul_f64", '*', 2, false, true, .wide_two = lw_mul_f64},
        {"fma_f32", 'f', 3, false, false, .three = lw_fma_f32},
        {"fma_ftz_f32", 'f', 3, true, false, .three = lw_fma_ftz_f32},
        {"fma_f64", 'f', 3, false, true, .wide_three = lw_fma_f64},
        {"div_f32", '/', 2, false, false, .two = lw_div_f32},
        {"div_ftz_f32", '/', 2, true, false, .two = lw_div_ftz_f32},
        {"div_f64", '/', 2, false, true, .wide_two = lw_div_f64},
        {"rcp_f32", 'r', 1, false, false, .one = lw_rcp_f32},
        {"rcp_ftz_f32", 'r', 1, true, false, .one = lw_rcp_ftz_f32},
        {"rcp_f64", 'r', 1, false, true, .wide_one = lw_rcp_f64},
        {"sqrt_f32", 's', 1, false, false, .one = lw_sqrt_f32},
        {"sqrt_ftz_f32", 's', 1, true, false, .one = lw_sqrt_ftz_f32},
        {"sqrt_f64", 's', 1, false, true, .wide_one = lw_sqrt_f64},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) check(&functions[i]);
}

/* The cheap way for usual operands gives the same, and most operands are usual. */
static void usual_operands(void **unused) {
    (void)unused;
    unsigned usual = 0;
    for (unsigned i = 0; i < 400000 * rounds(); i++) {
        uint64_t v[3];
        const uint32_t how = i % 8; /* a rounding, with and without SAT */
        fill_f32(v);
        const float a = float_of(v[0]), b = float_of(v[1]), c = float_of(v[2]);
        if (!lw_rare_fma_f32(a, b, c)) {
            const float d = lw_usual_fma_f32(a, b, c, how), flushed = lw_usual_fma_ftz_f32(a, b, c, how);
            const uint64_t want = want_f32('f', v[0], v[1], v[2], how, false),
                           want_flushed = want_f32('f', v[0], v[1], v[2], how, true);
            if (BITS(d) != want) lane_fail("usual_fma_f32", v[0], v[1], v[2], how, BITS(d), want);
            if (BITS(flushed) != want_flushed)
                lane_fail("usual_fma_ftz_f32", v[0], v[1], v[2], how, BITS(flushed), want_flushed);
            usual++;
        }
        fill_f64(v);
        const double x = double_of(v[0]), y = double_of(v[1]), z = double_of(v[2]);
        if (!lw_rare_fma_f64(x, y, z)) {
            const double d = lw_usual_fma_f64(x, y, z, how);
            const uint64_t want = want_f64('f', v[0], v[1], v[2], how);
            if (BITS(d) != want) lane_fail("usual_fma_f64", v[0], v[1], v[2], how, BITS(d), want);
            usual++;
        }
    }
    assert_true(usual > 200000);
}

/* What has a function of its own is the same function. */
static void own_functions(void **unused) {
    (void)unused;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t v[3];
        fill_f32(v);
        const float a = float_of(v[0]), b = float_of(v[1]), c = float_of(v[2]);
#define SAME(own, of) \
    { \
        const float x_ = own, y_ = of; \
        if (BITS(x_) != BITS(y_)) lane_fail(#own, v[0], v[1], v[2], 0, BITS(x_), BITS(y_)); \
    }
        SAME(lw_add_rn_ftz_f32(a, b), lw_add_ftz_f32(a, b, LW_FLOAT_RN));
        SAME(lw_sub_rn_ftz_f32(a, b), lw_sub_ftz_f32(a, b, LW_FLOAT_RN));
        SAME(lw_mul_rn_ftz_f32(a, b), lw_mul_ftz_f32(a, b, LW_FLOAT_RN));
        SAME(lw_fma_rn_ftz_f32(a, b, c), lw_fma_ftz_f32(a, b, c, LW_FLOAT_RN));
        SAME(lw_div_rn_ftz_f32(a, b), lw_div_ftz_f32(a, b, LW_FLOAT_RN));
        SAME(lw_rcp_rn_ftz_f32(a), lw_rcp_ftz_f32(a, LW_FLOAT_RN));
        SAME(lw_min_f32(a, b), lw_least_f32(a, b, 0));
        SAME(lw_min_ftz_f32(a, b), lw_least_f32(a, b, LW_FLOAT_FTZ));
        SAME(lw_max_f32(a, b), lw_most_f32(a, b, 0));
        SAME(lw_max_ftz_f32(a, b), lw_most_f32(a, b, LW_FLOAT_FTZ));
#undef SAME
    }
}

int lane_rounding(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_roundings), cmocka_unit_test(usual_operands),
                                       cmocka_unit_test(own_functions)};
    return cmocka_run_group_tests_name("lane rounding", tests, NULL, NULL);
}
