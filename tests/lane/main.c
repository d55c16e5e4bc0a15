/* Runs the lane tests, then asks whether each row of isa/lane.def was among them. With arguments only what
 * lane_approx_whole says. */
#include "check.h"
#include <stdlib.h>

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t lane_value(unsigned i) {
    if (i < 40) return i;
    if (i < 40 + 3 * 64) return (UINT64_C(1) << (i - 40) / 3) + (i - 40) % 3 - 1;
    if (i < 268) return ~(UINT64_C(0)) - (i - 232);
    if (i < LANE_EDGES) return ~(UINT64_C(0)) << ((i - 268) * 2) % 64;
    uint64_t noise = mix(i);
    return i % 4 ? noise : noise >> noise % 64; /* short numbers are as likely as long ones */
}

static const uint32_t edges_f32[] = {
    0,          1,          2,          3,          0x400000,   0x7ffffe,   0x7fffff,   0x800000,   0x800001,
    0xc00000,   0x3f800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0x3effffff, 0x3f000001, 0x3fc00000, 0x40200000,
    0x40000000, 0x40400000, 0x7f800000, 0x7f7fffff, 0x7f000000, 0x7e800000, 0x7fc00000, 0x7fffffff, 0x7f800001,
    0x7fa00000, 0x7fc12345, 0x4b000000, 0x4b000001, 0x4affffff, 0x4a800001, 0x4f000000, 0x4effffff, 0x4f800000,
    0x4f7fffff, 0x5f000000, 0x5effffff, 0x5f800000, 0x5f7fffff, 0x43000000, 0x42fe0000, 0x42ff0000, 0x43800000,
    0x437f0000, 0x437f8000, 0x47000000, 0x46fffe00, 0x47800000, 0x477fff00, 0x477fe000, 0x477ff000, 0x477fefff,
    0x38800000, 0x387fffff, 0x387fc000, 0x33800000, 0x33000000, 0x33000001, 0x32ffffff, 0x33c00000, 0x1f800000,
    0x20000000, 0x1fffffff, 0x5f7ffffe, 0x3f8ccccd,
};
static const uint64_t edges_f64[] = {
    0,
    1,
    2,
    0x8000000000000,
    0xfffffffffffff,
    0x10000000000000,
    0x10000000000001,
    0x3ff0000000000000,
    0x3fefffffffffffff,
    0x3ff0000000000001,
    0x3fe0000000000000,
    0x3fdfffffffffffff,
    0x3ff8000000000000,
    0x4004000000000000,
    0x4000000000000000,
    0x7ff0000000000000,
    0x7fefffffffffffff,
    0x7fe0000000000000,
    0x7ff8000000000000,
    0x7fffffffffffffff,
    0x7ff0000000000001,
    0x7ff8123456789abc,
    0x7ff4000000000000,
    0x4330000000000000,
    0x4330000000000001,
    0x41e0000000000000,
    0x41dfffffffc00000,
    0x41dfffffffe00000,
    0x41f0000000000000,
    0x41efffffffe00000,
    0x41effffffff00000,
    0x43e0000000000000,
    0x43dfffffffffffff,
    0x43f0000000000000,
    0x43efffffffffffff,
    0x36a0000000000000,
    0x36a0000000000001,
    0x3690000000000000,
    0x3690000000000001,
    0x368fffffffffffff,
    0x380fffffffffffff,
    0x380fffffe0000000,
    0x380fffffe0000001,
    0x380fffffdfffffff,
    0x380fffffc0000000,
    0x380ffffff0000000,
    0x380fffffefffffff,
    0x3810000000000000,
    0x47efffffe0000000,
    0x47efffffefffffff,
    0x47effffff0000000,
    0x47f0000000000000,
    0x3ff0000010000000,
    0x3ff0000030000000,
    0x3ff0000010000001,
    0x4060000000000000,
    0x406fe00000000000,
    0x406ff00000000000,
    0x40dfffc000000000,
    0x40efffe000000000,
    0x1ff0000000000000,
    0x1fffffffffffffff,
    0x2000000000000000,
};

/* Noise of five kinds: any bits, near 1, half integers, subnormal or tiny, large. */
uint64_t lane_value_f32(unsigned i) {
    const unsigned count = sizeof edges_f32 / sizeof edges_f32[0];
    if (i < 2 * count) return edges_f32[i % count] | (i < count ? 0 : 0x80000000u);
    uint64_t noise = mix(i);
    float half = (float)((int)(noise % 4000) - 2000) * 0.5f;
    switch (i % 5) {
    case 0: return (uint32_t)noise;
    case 1: return (noise & 0x83ffffff) | 0x3c000000;
    case 2: return BITS(half);
    case 3: return noise & 0x80ffffff;
    default: return (noise & 0x9fffffff) | 0x40000000;
    }
}

uint64_t lane_value_f64(unsigned i) {
    const unsigned count = sizeof edges_f64 / sizeof edges_f64[0];
    if (i < 2 * count) return edges_f64[i % count] | (i < count ? 0 : UINT64_C(1) << 63);
    uint64_t noise = mix(i), low = noise & 0x800fffffffffffff, more = mix(noise);
    double half = ((int)(noise % 4000) - 2000) * 0.5;
    switch (i % 5) {
    case 0: return noise;
    case 1: return low | (0x3f0 + more % 32) << 52;
    case 2: return BITS(half);
    case 3: return low | (0x36a + more % 0x120) << 52;
    default: return low | (0x3f0 + more % 80) << 52;
    }
}

unsigned lane_step(void) { return getenv("LW_TEST_FEW") ? 7 : 1; }

static const char *tested[4096];
static size_t tested_count;

void lane_tested(const char *name) {
    assert_true(tested_count < sizeof tested / sizeof tested[0]);
    tested[tested_count++] = name;
}

static const char *exhausted[1024];
static size_t exhausted_count;

void lane_exhausted(const char *name) {
    for (size_t i = 0; i < exhausted_count; i++)
        if (!strcmp(exhausted[i], name)) return;
    assert_true(exhausted_count < sizeof exhausted / sizeof exhausted[0]);
    exhausted[exhausted_count++] = name;
}

static void what_is_called_exhaustive_is(void **state) {
    (void)state;
    static const char *const rows[] = {
#define EXHAUSTIVE(name) #name,
#include "exhaustive.def"
    };
    const size_t count = sizeof rows / sizeof *rows;
    size_t missing = 0;
    for (size_t r = 0; r < count; r++) {
        size_t i = 0;
        while (i < exhausted_count && strcmp(exhausted[i], rows[r]) != 0) i++;
        if (i == exhausted_count) missing++, print_message("no test took all operands of %s\n", rows[r]);
    }
    for (size_t i = 0; i < exhausted_count; i++) {
        size_t r = 0;
        while (r < count && strcmp(exhausted[i], rows[r]) != 0) r++;
        if (r == count) print_message("exhaustive.def could name %s\n", exhausted[i]);
    }
    assert_int_equal(missing, 0);
}

void lane_fail(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t got, uint64_t want) {
    fail_msg("lw_%s(%#jx, %#jx, %#jx, %#jx) gives %#jx, expected %#jx", name, (uintmax_t)a, (uintmax_t)b, (uintmax_t)c,
             (uintmax_t)e, (uintmax_t)got, (uintmax_t)want);
}

static bool was_tested(const char *name) {
    for (size_t i = 0; i < tested_count; i++)
        if (strcmp(tested[i], name) == 0) return true;
    return false;
}

static void every_row_was_tested(void **state) {
    (void)state;
    static const char *const rows[] = {
#define LANE1(name, D, A)                 #name,
#define LANE2(name, D, A, B, takes)       #name,
#define LANE3(name, D, A, B, C, takes)    #name,
#define LANE4(name, D, A, B, C, E, takes) #name,
#include "lane.def"
    };
    size_t missing = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!was_tested(rows[i])) missing++, print_message("no test: %s\n", rows[i]);
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv) {
    if (argc > 1) return lane_approx_whole(argc - 1, argv + 1);
    const struct CMUnitTest last[] = {cmocka_unit_test(every_row_was_tested),
                                      cmocka_unit_test(what_is_called_exhaustive_is)};
    int failed = lane_logic() + lane_shift() + lane_integer() + lane_bits_group() + lane_compare() + lane_float() +
                 lane_approx() + lane_half() + lane_rounding() + lane_convert() + lane_convert_half() +
                 lane_convert_narrow() + lane_video() + lane_video_numbers() + lane_vector();
    return failed + cmocka_run_group_tests_name("lane table", last, NULL, NULL) != 0;
}
