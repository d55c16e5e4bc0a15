/* video_scalar.h and video_simd.h against slow transcriptions in 128-bit numbers, of the manual's pseudo-code and of
 * what was recorded on sm_90. Every type, mode and destination, with selectors and operands in turn. */
#include "video_slow.h"

typedef struct form {
    unsigned op, op2; /* places in the tables below; op2 0 none, 1 add, 2 min, 3 max */
    bool sat, d_signed, a_signed, b_signed;
    unsigned a, b, d;  /* selectors */
    unsigned relation; /* of vset */
} form;
enum { ADD, SUB, AVERAGE, ABSDIFF, MIN, MAX, SET };

/* ---- Slow numbers -------------------------------------------------------------------------------------------- */

static i128 least_of(unsigned selector, bool is_signed) { return is_signed ? -power(bits_of[selector] - 1) : 0; }
static i128 most_of(unsigned selector, bool is_signed) { return power(bits_of[selector] - is_signed) - 1; }

static i128 combined(const form *f, i128 x, i128 y) {
    const bool relations[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    switch (f->op) {
    case ADD: return x + y;
    case SUB: return x - y;
    case AVERAGE: return divide_down(x + y + (x + y >= 0 ? 1 : 0), 2);
    case ABSDIFF: return x > y ? x - y : y - x;
    case MIN: return x > y ? y : x;
    case MAX: return x > y ? x : y;
    default: return relations[f->relation];
    }
}

static i128 second(unsigned op2, i128 left, i128 right) {
    return op2 == 1   ? left + right
           : op2 == 2 ? (right < left ? right : left)
           : op2 == 3 ? (right > left ? right : left)
                      : left;
}

static uint32_t manual(const form *f, uint32_t a, uint32_t b, uint32_t c) {
    i128 tmp = combined(f, field(a, f->a, f->a_signed), field(b, f->b, f->b_signed));
    tmp = f->sat ? limited(tmp, bits_of[f->d], f->d_signed) : wrapped(tmp, 33);
    return merged(c, first_bit[f->d], bits_of[f->d], second(f->op2, tmp, f->d_signed ? wrapped(c, 32) : c));
}

static bool is_wide(const form *f) {
    i128 low = least_of(f->a, f->a_signed), high = most_of(f->a, f->a_signed);
    low += f->op == ADD ? least_of(f->b, f->b_signed) : -most_of(f->b, f->b_signed);
    high += f->op == ADD ? most_of(f->b, f->b_signed) : -least_of(f->b, f->b_signed);
    return low < 0 ? low < -power(31) || high >= power(31) : high >= power(32);
}

static uint32_t sm_90(const form *f, uint32_t a, uint32_t b, uint32_t c) {
    i128 tmp = combined(f, field(a, f->a, f->a_signed), field(b, f->b, f->b_signed)),
         right = f->d_signed ? wrapped(c, 32) : c;
    if (f->sat && f->d) {
        i128 most = most_of(f->d, f->d_signed), number = modulo(tmp, power(64));
        tmp = number < most ? number : most;
    } else if (f->sat) tmp = f->d_signed ? limited(tmp, 32, true) : tmp < 0 ? 0 : tmp;
    i128 left = tmp;
    if (f->op == SET) right = f->a_signed ? wrapped(c, 32) : c;
    else if (f->op2 > 1 && f->d_signed && (f->op == ADD || f->op == SUB)) left = wrapped(tmp, 32);
    else if (f->op2 > 1 && !f->d_signed && (f->op == ADD || f->op == SUB) && is_wide(f)) {
        left = modulo(tmp, power(32));
        bool c_is_more = left < power(31) && left < c; /* a word with its highest bit set is never less */
        return (uint32_t)(c_is_more == (f->op2 == 3) ? c : left);
    } else if (f->op2 > 1 && !f->d_signed) left = modulo(tmp, power(64));
    i128 result = second(f->op2, left, right);
    return merged(c, first_bit[f->d], bits_of[f->d],
                  f->d == 6 ? divide_down(modulo(result, power(32)), power(16)) : result);
}

static uint32_t flags(const form *f) {
    static const uint32_t seconds[] = {0, LW_VIDEO_ADD, LW_VIDEO_MIN, LW_VIDEO_MAX};
    static const uint32_t relations[] = {LW_VIDEO_EQUAL,   LW_VIDEO_LESS + LW_VIDEO_GREATER,
                                         LW_VIDEO_LESS,    LW_VIDEO_LESS + LW_VIDEO_EQUAL,
                                         LW_VIDEO_GREATER, LW_VIDEO_GREATER + LW_VIDEO_EQUAL};
    return seconds[f->op2] + (f->op == SET ? relations[f->relation] : 0) + (f->sat ? LW_VIDEO_SAT : 0) +
           (f->d_signed ? LW_VIDEO_D_SIGNED : 0) + (f->a_signed ? LW_VIDEO_A_SIGNED : 0) +
           (f->b_signed ? LW_VIDEO_B_SIGNED : 0);
}
typedef uint32_t lane(uint32_t a, uint32_t b, uint32_t c, uint32_t how);

static uint32_t word(unsigned i) { return (uint32_t)lane_value(i % (3 * LANE_EDGES)); }

/* ---- Scalar -------------------------------------------------------------------------------------------------- */

static void check_scalar(const form *f) {
    static lane *const by_manual[] = {lw_vadd_manual, lw_vsub_manual, NULL,          lw_vabsdiff_manual,
                                      lw_vmin_manual, lw_vmax_manual, lw_vset_manual};
    static lane *const by_sm_90[] = {lw_vadd_sm_90, lw_vsub_sm_90, NULL,         lw_vabsdiff_sm_90,
                                     lw_vmin_sm_90, lw_vmax_sm_90, lw_vset_sm_90};
    static unsigned turn;
    uint32_t how = flags(f) + LW_VIDEO_A(codes[f->a]) + LW_VIDEO_B(codes[f->b]) + LW_VIDEO_D(codes[f->d]);
    for (unsigned i = 0; i < 24; i++, turn += 7) {
        uint32_t a = word(turn), b = i % 5 ? word(turn / 3 * 11 + i) : a, sum = a + b;
        uint32_t c = i % 3 ? word(turn * 5 + i) : sum;
        uint32_t want = manual(f, a, b, c), got = by_manual[f->op](a, b, c, how);
        if (got != want) lane_fail("video manual", a, b, c, how, got, want);
        want = sm_90(f, a, b, c), got = by_sm_90[f->op](a, b, c, how);
        if (got != want) lane_fail("video sm_90", a, b, c, how, got, want);
    }
}

static void every_scalar(void **state) {
    (void)state;
    unsigned forms = 0;
    for (unsigned op = ADD; op <= SET; op++)
        for (unsigned bits = 0; bits < 16 * SELECTORS * SELECTORS && op != AVERAGE; bits++)
            for (unsigned tail = 0; tail < SELECTORS + 3; tail++) {
                form f = {.op = op, .a_signed = bits & 1, .b_signed = bits & 2, .relation = forms++ % 6};
                if (op == SET && bits & 12) continue; /* d is .u32, and no .sat */
                f.d_signed = bits & 4, f.sat = bits & 8;
                f.a = bits / 16 % SELECTORS, f.b = bits / 16 / SELECTORS;
                if (tail < SELECTORS) f.d = tail;
                else f.op2 = tail - SELECTORS + 1;
                check_scalar(&f);
            }
    lane_tested("vadd_manual"), lane_tested("vsub_manual"), lane_tested("vabsdiff_manual"), lane_tested("vmin_manual");
    lane_tested("vmax_manual"), lane_tested("vset_manual"), lane_tested("vadd_sm_90"), lane_tested("vsub_sm_90");
    lane_tested("vabsdiff_sm_90"), lane_tested("vmin_sm_90"), lane_tested("vmax_sm_90"), lane_tested("vset_sm_90");
}

/* ---- vmad ---------------------------------------------------------------------------------------------------- */

static void check_vmad(unsigned bits, unsigned sa, unsigned sb) {
    static const unsigned scales[] = {0, 7, 15};
    bool a_signed = bits & 1, b_signed = bits & 2, sat = bits & 4;
    unsigned sign = bits / 8 % 4, scale = scales[bits / 32]; /* none, -a or -b, -c, .po */
    bool is_signed = a_signed || b_signed || sign == 1 || sign == 2;
    uint32_t how = LW_VIDEO_A(codes[sa]) + LW_VIDEO_B(codes[sb]) + LW_VIDEO_D(LW_VIDEO_word) +
                   (a_signed ? LW_VIDEO_A_SIGNED : 0) + (b_signed ? LW_VIDEO_B_SIGNED : 0) + (sat ? LW_VIDEO_SAT : 0) +
                   (sign == 1 ? LW_VIDEO_MINUS_PRODUCT : 0) + (sign == 2 ? LW_VIDEO_MINUS_C : 0) +
                   (sign == 3 ? LW_VIDEO_PO : 0) + (scale == 7 ? LW_VIDEO_SHR7 : 0) +
                   (scale == 15 ? LW_VIDEO_SHR15 : 0);
    for (unsigned i = 0; i < 400; i++) {
        uint32_t a = word(i * 7 + bits), b = word(i * 11 + sa), c = word(i * 5 + sb);
        i128 x = field(a, sa, a_signed), y = field(b, sb, b_signed);
        i128 total = (sign == 1 ? -x * y : x * y) + (sign == 2 ? -1 : 1) * (is_signed ? wrapped(c, 32) : (i128)c) +
                     (sign == 3);
        total = divide_down(total, power(scale));
        uint32_t want = (uint32_t)modulo(sat ? limited(total, 32, is_signed) : total, power(32)),
                 got = lw_vmad_manual(a, b, c, how);
        if (got != want) lane_fail("vmad_manual", a, b, c, how, got, want);
        x = wrapped(x, 32), y = wrapped(y, 32);
        total = (sign == 1 ? -x * y : x * y) + (sign == 2 ? -1 : 1) * wrapped(c, 32) + (sign == 3);
        if (scale) total = divide_down(is_signed ? total : modulo(total, power(64)), power(scale));
        want = (uint32_t)modulo(sat ? limited(total, 32, is_signed) : total, power(32)),
        got = lw_vmad_sm_90(a, b, c, how);
        if (got != want) lane_fail("vmad_sm_90", a, b, c, how, got, want);
    }
}

static void every_vmad(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 96; bits++)
        for (unsigned sa = 0; sa < SELECTORS; sa++)
            for (unsigned sb = (bits + 2 * sa) % lane_step(); sb < SELECTORS; sb += lane_step())
                check_vmad(bits, sa, sb);
    lane_tested("vmad_manual"), lane_tested("vmad_sm_90");
}

/* ---- Two half words, four bytes ------------------------------------------------------------------------------ */

static uint32_t several(const form *f, unsigned count, uint32_t a, uint32_t b, uint32_t c, unsigned mask) {
    unsigned bits = 32 / count;
    uint32_t result = c;
    for (unsigned k = 0; k < count; k++) {
        i128 t = combined(f, bits_at(a, k * bits, bits, f->a_signed), bits_at(b, k * bits, bits, f->b_signed));
        if (f->sat) t = limited(t, bits, f->d_signed);
        if (mask / (1u << k) % 2 == 0) continue;
        result = f->op2 ? (uint32_t)modulo(result + t, power(32)) : merged(result, k * bits, bits, t);
    }
    return result;
}

static void every_simd(void **state) {
    (void)state;
    static lane *const lanes[2][7] = {{lw_vadd2, lw_vsub2, lw_vavrg2, lw_vabsdiff2, lw_vmin2, lw_vmax2, lw_vset2},
                                      {lw_vadd4, lw_vsub4, lw_vavrg4, lw_vabsdiff4, lw_vmin4, lw_vmax4, lw_vset4}};
    for (unsigned op = ADD; op <= SET; op++)
        for (unsigned bits = 0; bits < 32 * 16; bits++)
            for (unsigned i = 0; i < 600; i += lane_step()) {
                form f = {
                    .op = op, .a_signed = bits & 1, .b_signed = bits & 2, .relation = i % 6, .op2 = bits & 4 ? 1 : 0};
                f.d_signed = bits & 8 && op != SET, f.sat = bits & 16 && !f.op2 && op != SET;
                unsigned mask = bits / 32, four = i & 1;
                if (!four) mask &= 3;
                uint32_t a = word(i * 7 + bits), b = word(i * 11 + op), c = word(i * 5 + mask),
                         how = flags(&f) + LW_VIDEO_MASK(mask);
                uint32_t want = several(&f, four ? 4 : 2, a, b, c, mask), got = lanes[four][op](a, b, c, how);
                if (got != want) lane_fail(four ? "video of bytes" : "video of half words", a, b, c, how, got, want);
            }
    lane_tested("vadd2"), lane_tested("vsub2"), lane_tested("vavrg2"), lane_tested("vabsdiff2"), lane_tested("vmin2"),
        lane_tested("vmax2");
    lane_tested("vset2"), lane_tested("vadd4"), lane_tested("vsub4"), lane_tested("vavrg4"), lane_tested("vabsdiff4"),
        lane_tested("vmin4");
    lane_tested("vmax4"), lane_tested("vset4");
}

int lane_video_numbers(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scalar), cmocka_unit_test(every_vmad),
                                       cmocka_unit_test(every_simd)};
    return cmocka_run_group_tests_name("lane video numbers", tests, NULL, NULL);
}
