/* video.h against a slow transcription of the manual's pseudo-code in 128-bit numbers, and of what was recorded on
 * sm_90. Every `how` that a spelling can give, each on some hundred operands; the pieces of 32-bit words for the forms
 * that they make. */
#include "video_slow.h"

typedef struct form {
    bool left, wrap, sat, a_signed, d_signed;
    int op2;          /* 0 none, 1 add, 2 min, 3 max */
    unsigned a, b, d; /* places in the table below */
} form;

/* ---- Slow numbers -------------------------------------------------------------------------------------------- */

static i128 shifted(const form *f, uint32_t a, uint32_t b) {
    i128 ta = field(a, f->a, f->a_signed), tb = field(b, f->b, false);
    unsigned n = f->wrap ? (unsigned)(tb % 32) : tb > 32 ? 32 : (unsigned)tb;
    return f->left ? ta * power(n) : divide_down(ta, power(n));
}

static uint32_t manual(const form *f, uint32_t a, uint32_t b, uint32_t c) {
    i128 tmp = wrapped(shifted(f, a, b), 34);
    tmp = f->sat ? limited(tmp, bits_of[f->d], f->d_signed) : wrapped(tmp, 33);
    i128 tc = f->d_signed ? wrapped(c, 32) : c;
    if (f->op2 == 1) tmp += tc;
    if ((f->op2 == 2 && tc < tmp) || (f->op2 == 3 && tc > tmp)) tmp = tc;
    return merged(c, first_bit[f->d], bits_of[f->d], tmp);
}

static uint32_t sm_90(const form *f, uint32_t a, uint32_t b, uint32_t c) {
    i128 wide = wrapped(shifted(f, a, b), 64);
    i128 result = f->sat ? limited(wrapped(wide, 34), 32, f->d_signed) : wide;
    i128 left = f->sat ? wrapped(result, 32) : wide, tc = f->d_signed ? wrapped(c, 32) : c;
    if (!f->d_signed) left = modulo(left, power(64));
    if (f->op2 == 1) result += tc;
    if (f->op2 == 2) result = tc < left ? tc : left;
    if (f->op2 == 3) result = tc > left ? tc : left;
    bool high = f->d == 6;
    return merged(c, first_bit[f->d], bits_of[f->d], high ? divide_down(modulo(result, power(32)), power(16)) : result);
}

/* ---- Forms --------------------------------------------------------------------------------------------------- */

static uint32_t how_of(const form *f) {
    static const uint32_t seconds[] = {0, LW_VIDEO_ADD, LW_VIDEO_MIN, LW_VIDEO_MAX};
    return LW_VIDEO_A(codes[f->a]) + LW_VIDEO_B(codes[f->b]) + LW_VIDEO_D(codes[f->d]) + seconds[f->op2] +
           (f->wrap ? LW_VIDEO_WRAP : 0) + (f->sat ? LW_VIDEO_SAT : 0) + (f->a_signed ? LW_VIDEO_A_SIGNED : 0) +
           (f->d_signed ? LW_VIDEO_D_SIGNED : 0);
}

typedef uint32_t lane(uint32_t a, uint32_t b, uint32_t c, uint32_t how);

/* A form without .min and .max from the pieces of 32-bit words. */
static uint32_t by_pieces(const form *f, uint32_t a, uint32_t b, uint32_t c, bool on_sm_90) {
    static uint32_t (*const saturating[2][2])(uint32_t, uint32_t) = {
        {lw_video_shl_sat_u32_u32_, lw_video_shl_sat_u32_s32_},
        {lw_video_shl_sat_s32_u32_, lw_video_shl_sat_s32_s32_},
    };
    uint32_t how = how_of(f), above = on_sm_90 ? 0 : 32 - bits_of[f->d];
    uint32_t ta = f->a_signed ? lw_video_part_s32_(a, how) : lw_video_part_u32_(a, how);
    uint32_t tb = lw_video_amount_(b, how), tmp;
    if (f->left) tmp = f->sat ? saturating[f->d_signed][f->a_signed](ta, tb) : lw_shl_b32(ta, tb);
    else tmp = f->a_signed ? (uint32_t)lw_shr_s32((int32_t)ta, tb) : lw_shr_u32(ta, tb);
    if (f->sat) {
        bool is_signed = f->left ? f->d_signed : f->a_signed;
        int64_t number = is_signed ? (int64_t)(int32_t)tmp : (int64_t)tmp;
        tmp = (uint32_t)lw_video_clamp_(number, above, how);
    }
    if (f->op2) tmp += c;
    return on_sm_90 ? lw_video_merge_sm_90_(tmp, c, how) : lw_video_merge_manual_(tmp, c, how);
}

static uint32_t amount(unsigned i) {
    return i % 3 ? (uint32_t)lane_value(i) % 36 * (i % 5 ? 1 : 0x01010101u) : (uint32_t)lane_value(i);
}

static void check_form(const form *f, unsigned seed) {
    static unsigned turn;
    uint32_t how = how_of(f);
    lane *by_manual = f->left ? lw_vshl_manual : lw_vshr_manual;
    lane *by_sm_90 = f->left ? lw_vshl_sm_90 : lw_vshr_sm_90;
    for (unsigned i = 0; i < 60; i++, turn += 7) {
        uint32_t a = (uint32_t)lane_value((turn + seed) % (3 * LANE_EDGES)), b = amount(turn + i);
        uint32_t c = i % 4 ? (uint32_t)lane_value((turn * 5 + i) % (2 * LANE_EDGES)) : a << i % 32;
        uint32_t want = manual(f, a, b, c), on_sm_90 = sm_90(f, a, b, c);
        if (by_manual(a, b, c, how) != want) lane_fail("vsh_manual", a, b, c, how, by_manual(a, b, c, how), want);
        if (by_sm_90(a, b, c, how) != on_sm_90) lane_fail("vsh_sm_90", a, b, c, how, by_sm_90(a, b, c, how), on_sm_90);
        if (f->op2 > 1) continue;
        uint32_t got = by_pieces(f, a, b, c, false), got_90 = by_pieces(f, a, b, c, true);
        if (got != want) lane_fail("vsh of words", a, b, c, how, got, want);
        if (got_90 != on_sm_90) lane_fail("vsh of words on sm_90", a, b, c, how, got_90, on_sm_90);
    }
}

static void every_form(void **state) {
    (void)state;
    unsigned forms = 0;
    for (unsigned bits = 0; bits < 32; bits++)
        for (unsigned tail = 0; tail < SELECTORS + 3; tail++)
            for (unsigned parts = 0; parts < SELECTORS * SELECTORS; parts++) {
                form f = {
                    bits & 1, bits & 2, bits & 4, bits & 8, bits & 16, .a = parts % SELECTORS, .b = parts / SELECTORS};
                if (tail < SELECTORS) f.d = tail;
                else f.op2 = (int)(tail - SELECTORS) + 1;
                check_form(&f, forms++);
            }
    assert_int_equal(forms, 15680);
    lane_tested("vshl_manual"), lane_tested("vshr_manual"), lane_tested("vshl_sm_90"), lane_tested("vshr_sm_90");
}

/* The example of the header, and where the two semantics part. */
static void by_hand(void **state) {
    (void)state;
    enum { WORDS = LW_VIDEO_word + (LW_VIDEO_word << 4), WHOLE = WORDS + (LW_VIDEO_word << 8) };
    uint32_t how = LW_VIDEO_A(LW_VIDEO_word) + LW_VIDEO_B(LW_VIDEO_h0) + LW_VIDEO_D(LW_VIDEO_b1) + LW_VIDEO_D_SIGNED +
                   LW_VIDEO_SAT + LW_VIDEO_WRAP;
    assert_int_equal(lw_vshl_manual(0x40, 0xabcd0021, 0x11223344, how), 0x11227f44); /* 128 is 127 as a signed byte */
    assert_int_equal(lw_vshl_sm_90(0x40, 0xabcd0021, 0x11223344, how), 0x11228044);
    how = WORDS + LW_VIDEO_D(LW_VIDEO_h1);
    assert_int_equal(lw_vshr_manual(0x12345678, 4, 0xaaaabbbb, how), 0x4567bbbb);
    assert_int_equal(lw_vshr_sm_90(0x12345678, 4, 0xaaaabbbb, how), 0x0123bbbb);
    how = WHOLE + LW_VIDEO_MIN;
    assert_int_equal(lw_vshl_manual(0x10, 30, 5, how), 0); /* 2^34 is 0 in 34 bits */
    assert_int_equal(lw_vshl_sm_90(0x10, 30, 5, how), 5);
    how = WHOLE + LW_VIDEO_SAT + LW_VIDEO_MIN;
    assert_int_equal(lw_vshr_manual(0xfffffff0, 0, 0xfffffff8, how), 0xfffffff0);
    assert_int_equal(lw_vshr_sm_90(0xfffffff0, 0, 0xfffffff8, how), 0xfffffff8);
}

int lane_video(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests_name("lane video", tests, NULL, NULL);
}
