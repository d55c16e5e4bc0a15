/* approx.h against what a GPU computed for all inputs: approx_record.def, by tools/silicon/approx.py, whose hashes and
 * operands these are. A test takes the first 2^21 inputs of each function. `lane_functions whole` takes all of them,
 * `lane_functions rcp_approx_f32` those of one function: half an hour or so on one core, and a third of that where the
 * compiler may use the machine's vector unit. */
#include "check.h"

enum { SLICE_BITS = 24, FIRST_BITS = 21, SLICES = 256, CHUNK = 1024 };

static uint64_t key_of(uint32_t i) { return ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u; }
static uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- Operands: the word of an input, and its hash ----------------------------------------------------------- */

static uint32_t mantissa(uint32_t bits, uint32_t how) {
    bits &= 0x7fffff;
    return (how & 3) == 0 ? 0 : (how & 3) == 1 ? 0x7fffff : (how & 3) == 2 ? bits & 7 : bits;
}
static float dividend(uint32_t word, uint64_t hash) {
    uint32_t bits = (uint32_t)(hash >> 62 & 1) << 31 | word >> 24 << 23 | mantissa((uint32_t)hash, word);
    return lw_from_bits_f32_(bits);
}
static float divisor(uint32_t word, uint64_t hash) {
    uint32_t bits = mantissa((uint32_t)(hash >> 23), word >> 2) | (word >> 16 & 255) << 23;
    return lw_from_bits_f32_((uint32_t)(hash >> 63) << 31 | bits);
}
static double wide(uint32_t word, uint64_t hash) {
    return lw_from_bits_f64_((uint64_t)word << 32 | (hash & 1 ? hash >> 32 : 0));
}

static uint64_t bits_float(float d) { return lw_bits_f32_(d); }
static uint64_t bits_u32(uint32_t d) { return d; }

/* ---- Sums over one slice ------------------------------------------------------------------------------------ */

/* Results of a chunk first, in a loop that compilers can make vector code of, and then their hashes. */
#define SUM(name, T, operands, bits_of) \
    static uint32_t sum_##name(uint32_t slice, int bits) { \
        uint64_t sum = 0; \
        T results[CHUNK]; \
        for (uint32_t at = 0; at < UINT32_C(1) << bits; at += CHUNK) { \
            uint32_t first = slice << SLICE_BITS | at; \
            for (uint32_t k = 0; k < CHUNK; k++) { \
                uint32_t word = (first + k) * 0x9e3779b1u; \
                results[k] = operands(lw_##name, word, mixed(key_of(first + k))); \
            } \
            for (uint32_t k = 0; k < CHUNK; k++) { \
                uint64_t key = key_of(first + k); \
                sum += mixed(key + bits_of(results[k])); \
            } \
        } \
        return (uint32_t)(sum ^ sum >> 32); \
    }
#define OF_FLOAT(f, word, hash) f(lw_from_bits_f32_(word))
#define OF_BITS(f, word, hash)  f(word)
#define OF_HALF(f, word, hash)  f((uint16_t)(word))
#define OF_PAIR(f, word, hash)  f(dividend(word, hash), divisor(word, hash))
#define OF_WIDE(f, word, hash)  f(wide(word, hash))

/* clang-format off */
#define UNARY(X)                                                                                             \
    X(rcp_approx_f32) X(rcp_approx_ftz_f32) X(rsqrt_approx_f32) X(rsqrt_approx_ftz_f32) X(sqrt_approx_f32)   \
    X(sqrt_approx_ftz_f32) X(ex2_approx_f32) X(ex2_approx_ftz_f32) X(lg2_approx_f32) X(lg2_approx_ftz_f32)   \
    X(sin_approx_f32) X(cos_approx_f32) X(tanh_approx_f32)
/* clang-format on */
/* clang-format off */
#define PAIRS(X)  X(div_approx_f32) X(div_approx_ftz_f32) X(div_full_f32) X(div_full_ftz_f32)
/* clang-format on */
/* clang-format off */
#define HALVES(X) X(tanh_approx_f16) X(tanh_approx_bf16) X(ex2_approx_f16) X(ex2_approx_ftz_bf16)
/* clang-format on */
/* clang-format off */
#define TWOS(X)   X(tanh_approx_f16x2) X(tanh_approx_bf16x2) X(ex2_approx_f16x2) X(ex2_approx_ftz_bf16x2)
/* clang-format on */
/* clang-format off */
#define WIDE(X)   X(rcp_approx_ftz_f64) X(rsqrt_approx_ftz_f64) X(rsqrt_approx_f64)
/* clang-format on */

#define SUM_UNARY(name) SUM(name, float, OF_FLOAT, bits_float)
#define SUM_PAIR(name)  SUM(name, float, OF_PAIR, bits_float)
#define SUM_HALF(name)  SUM(name, uint16_t, OF_HALF, bits_u32)
#define SUM_TWO(name)   SUM(name, uint32_t, OF_BITS, bits_u32)
#define SUM_WIDE(name)  SUM(name, double, OF_WIDE, lw_bits_f64_)
UNARY(SUM_UNARY)
PAIRS(SUM_PAIR)
HALVES(SUM_HALF)
TWOS(SUM_TWO)
WIDE(SUM_WIDE)

/* The circle has one function for the spellings with ftz as well. */
#define sum_sin_approx_ftz_f32 sum_sin_approx_f32
#define sum_cos_approx_ftz_f32 sum_cos_approx_f32

/* ---- The record --------------------------------------------------------------------------------------------- */

typedef struct recorded {
    const char *name;
    uint32_t (*sum)(uint32_t slice, int bits);
    uint32_t slices, first, sums[SLICES];
} recorded;

#define RECORD(name, kind, first, ...) \
    {#name, sum_##name, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), first, {__VA_ARGS__}},
static const recorded records[] = {
#include "approx_record.def"
};

static unsigned differing(const recorded *r) {
    unsigned differ = 0;
    for (uint32_t slice = 0; slice < r->slices; slice++) differ += r->sum(slice, SLICE_BITS) != r->sums[slice];
    return differ;
}

static void first_inputs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        if (records[i].sum(0, FIRST_BITS) != records[i].first) fail_msg("lw_%s: not as recorded", records[i].name);
        lane_tested(records[i].name);
    }
}

/* ---- By hand: what the header says of edges ----------------------------------------------------------------- */

#define IS(call, want) assert_int_equal(lw_bits_f32_(call), (want))

static void edges(void **state) {
    (void)state;
    const float nan = lw_from_bits_f32_(0xffc12345), least = lw_from_bits_f32_(1), infinity = 1.0f / 0.0f;
    IS(lw_rcp_approx_f32(nan), 0x7fffffff), IS(lw_rcp_approx_f32(-0.0f), 0xff800000),
        IS(lw_rcp_approx_f32(-infinity), 0x80000000);
    IS(lw_rcp_approx_f32(4.0f), 0x3e800000), IS(lw_rcp_approx_ftz_f32(lw_from_bits_f32_(0x7e800001)), 0);
    IS(lw_rsqrt_approx_f32(-least), 0x7fffffff), IS(lw_rsqrt_approx_ftz_f32(-least), 0xff800000);
    IS(lw_sqrt_approx_f32(-0.0f), 0x80000000), IS(lw_sqrt_approx_f32(-1.0f), 0x7fffffff);
    IS(lw_lg2_approx_f32(1.0f), 0), IS(lw_lg2_approx_f32(0.5f), 0xbf7ffffe), IS(lw_lg2_approx_f32(0.25f), 0xbfffffff);
    IS(lw_lg2_approx_f32(least), 0xc3150000), IS(lw_lg2_approx_ftz_f32(least), 0xff800000);
    IS(lw_ex2_approx_f32(-149.0f), 1), IS(lw_ex2_approx_ftz_f32(-149.0f), 0), IS(lw_ex2_approx_f32(128.0f), 0x7f800000);
    IS(lw_sin_approx_f32(infinity), 0x7fffffff), IS(lw_sin_approx_f32(-0.0f), 0x80000000),
        IS(lw_sin_approx_f32(least), 0);
    IS(lw_tanh_approx_f32(-least), 0x80000001), IS(lw_tanh_approx_f32(-infinity), 0xbf800000);
    IS(lw_div_approx_f32(1.0f, lw_from_bits_f32_(0x7e800001)), 0), IS(lw_div_full_f32(0x1p126f, 0x1p127f), 0x3f000000);
    assert_int_equal(lw_ex2_approx_f16(0x4c00), 0x7c00), assert_int_equal(lw_ex2_approx_f16(0x7c01), 0x7fff);
    assert_int_equal(lw_tanh_approx_bf16x2(0xff807f80), 0xbf803f80);
}

int lane_approx(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_inputs), cmocka_unit_test(edges)};
    return cmocka_run_group_tests_name("lane approx", tests, NULL, NULL);
}

int lane_approx_whole(int count, char **names) {
    unsigned failed = 0, found = 0;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        for (int k = 0; k < count; k++) {
            if (strcmp(names[k], "whole") != 0 && strcmp(names[k], records[i].name) != 0) continue;
            unsigned differ = differing(&records[i]);
            printf("%s: %u of %u slices differ\n", records[i].name, differ, (unsigned)records[i].slices);
            fflush(stdout);
            failed += differ, found++;
        }
    if (!found) printf("no approximate function of this name: lane_functions whole|NAME…\n");
    return failed != 0 || !found;
}
