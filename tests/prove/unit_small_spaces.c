/* The small spaces through everything: PTX text, lowering and the loops of this CPU level, some of which are the vector
 * unit's own instructions and not the lane functions that are proved. Amounts as constants and from registers,
 * different ones in each lane. */
#include <stdio.h>
#include "../api/api.h"
#include "logic.c"
#include "shf.c"
#include "shift.c"

enum { AMOUNTS = 51, WORDS = 65536, TEXT = 1 << 17 };

static uint32_t amount_at(unsigned k) {
    static const uint32_t huge[] = {255, 256, 257, 65535, 65536, 65552, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
    k %= AMOUNTS;
    return k <= 40 ? k : huge[k - 41];
}

static char text[TEXT];
static size_t used;
#define ADD(...) (used += (size_t)snprintf(text + used, TEXT - used, __VA_ARGS__), assert_true(used < TEXT))

/* k(in, amounts, out): %i is the thread's number; %in, %out, %n point at its words of `bytes` and at the amount that it
 * begins with. */
static void begin(unsigned bytes) {
    used = 0;
    ADD(HEAD
        ".entry k(.param .u64 in, .param .u64 amounts, .param .u64 out)\n{\n .reg .u32 %%i, %%t, %%a, %%b, %%c, %%d;\n"
        " .reg .b16 %%h, %%r; .reg .u64 %%in, %%n, %%out, %%o;\n"
        " mov.u32 %%i, %%ctaid.x; mov.u32 %%t, %%ntid.x; mul.lo.u32 %%i, %%i, %%t; mov.u32 %%t, %%tid.x; add.u32 %%i, "
        "%%i, %%t;\n"
        " ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%n, [amounts];\n"
        " mul.wide.u32 %%o, %%i, %u; add.u64 %%in, %%in, %%o; add.u64 %%out, %%out, %%o;\n"
        " rem.u32 %%t, %%i, %d; mul.wide.u32 %%o, %%t, 4; add.u64 %%n, %%n, %%o;\n",
        bytes, AMOUNTS);
}

/* Runs the text in CTAs of 128 threads; gives what it wrote. */
static void *launch(const void *in, size_t in_size, uint32_t threads, size_t out_size) {
    ADD(" ret;\n}\n");
    uint32_t amounts[2 * AMOUNTS];
    for (unsigned k = 0; k < 2 * AMOUNTS; k++) amounts[k] = amount_at(k);
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, text), NULL);
    uint64_t from = new_buffer(context, in_size), table = new_buffer(context, sizeof amounts),
             to = new_buffer(context, out_size);
    assert_int_equal(lw_memory_write(context, from, in, in_size), LW_OK);
    assert_int_equal(lw_memory_write(context, table, amounts, sizeof amounts), LW_OK);
    lw_launch_config config = shape(threads / 128, 128);
    if (lw_launch(kernel, &config, (void *[]){&from, &table, &to}, NULL) != LW_OK)
        fail_msg("the launch failed:\n%s", text);
    void *out = malloc(out_size);
    assert_non_null(out);
    assert_int_equal(lw_memory_read(context, to, out, out_size), LW_OK);
    lw_context_free(context);
    return out;
}

static uint32_t noise(uint32_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

/* ---- Shifts of 16 bits: all words by all amounts ----------------------------------------------------------- */

static uint16_t shifted(unsigned form, uint16_t a, uint32_t n) {
    return form == 0 ? shl_b16(a, n) : form == 1 ? shr_u16(a, n) : (uint16_t)shr_s16((int16_t)a, n);
}

static void shifts_of_16_bits(bool constant) {
    static const char *const forms[] = {"shl.b16", "shr.u16", "shr.s16"};
    static uint16_t in[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) in[i] = (uint16_t)i;
    begin(2);
    ADD(" ld.global.b16 %%h, [%%in];\n");
    for (unsigned k = 0; k < AMOUNTS; k++) {
        if (!constant) ADD(" ld.global.u32 %%a, [%%n+%u];\n", 4 * k);
        for (unsigned form = 0; form < 3; form++) {
            if (constant) ADD(" %s %%r, %%h, 0x%x;", forms[form], amount_at(k));
            else ADD(" %s %%r, %%h, %%a;", forms[form]);
            ADD(" st.global.b16 [%%out+%u], %%r;\n", (3 * k + form) * 2 * WORDS);
        }
    }
    uint16_t *out = launch(in, sizeof in, WORDS, 3 * AMOUNTS * sizeof in);
    for (unsigned k = 0; k < AMOUNTS; k++)
        for (unsigned form = 0; form < 3; form++)
            for (uint32_t i = 0; i < WORDS; i++) {
                uint32_t n = amount_at(constant ? k : i % AMOUNTS + k);
                uint16_t got = out[(3 * k + form) * WORDS + i], want = shifted(form, (uint16_t)i, n);
                if (got != want) fail_msg("%s of 0x%x by %u: 0x%x, not 0x%x", forms[form], i, n, got, want);
            }
    free(out);
}
static void test_shifts_by_constants(void **state) { (void)state, shifts_of_16_bits(true); }
static void test_shifts_by_registers(void **state) { (void)state, shifts_of_16_bits(false); }

/* ---- lop3: all tables on all triples of bits at all places -------------------------------------------------- */

enum { TURNS = 128 };

static void test_tables_of_lop3(void **state) {
    (void)state;
    static uint32_t in[TURNS][3];
    static const uint32_t words[] = {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa}; /* each byte has all triples */
    for (unsigned i = 0; i < TURNS; i++) /* eight lanes have each triple at each place */
        for (unsigned j = 0; j < 3; j++) in[i][j] = words[j] << i % 8 | words[j] >> (31 - i % 8) >> 1;
    begin(12);
    ADD(" ld.global.u32 %%a, [%%in]; ld.global.u32 %%b, [%%in+4]; ld.global.u32 %%c, [%%in+8];\n");
    for (unsigned lut = 0; lut < 256; lut++)
        ADD(" lop3.b32 %%d, %%a, %%b, %%c, %u; st.global.u32 [%%out+%u], %%d;\n", lut, lut * 12 * TURNS);
    uint32_t *out = launch(in, sizeof in, TURNS, 256 * sizeof in);
    for (unsigned lut = 0; lut < 256; lut++)
        for (unsigned i = 0; i < TURNS; i++) {
            uint32_t got = out[(lut * TURNS + i) * 3], want = lop3(in[i][0], in[i][1], in[i][2], (uint8_t)lut);
            if (got != want) fail_msg("lop3 0x%x in lane %u: 0x%x, not 0x%x", lut, i, got, want);
        }
    free(out);
}

/* ---- Shifts of more bits, funnel shifts: all amounts on words of noise --------------------------------------- */

enum { LANES = 1024, FORMS = 10 };

static uint32_t wide_shift(unsigned form, uint32_t a, uint32_t b, uint32_t n) {
    uint64_t pair = (uint64_t)b << 32 | a;
    switch (form) {
    case 0: return shf_l_clamp(a, b, n);
    case 1: return shf_l_wrap(a, b, n);
    case 2: return shf_r_clamp(a, b, n);
    case 3: return shf_r_wrap(a, b, n);
    case 4: return shl_b32(a, n);
    case 5: return shr_u32(a, n);
    case 6: return (uint32_t)shr_s32((int32_t)a, n);
    case 7: return (uint32_t)(shl_b64(pair, n) >> 32) ^ (uint32_t)shl_b64(pair, n);
    case 8: return (uint32_t)(shr_u64(pair, n) >> 32) ^ (uint32_t)shr_u64(pair, n);
    default: return (uint32_t)((uint64_t)shr_s64((int64_t)pair, n) >> 32) ^ (uint32_t)shr_s64((int64_t)pair, n);
    }
}

static void shifts_of_words(bool constant) {
    static const char *const forms[FORMS] = {"shf.l.clamp.b32 %d, %a, %b",
                                             "shf.l.wrap.b32 %d, %a, %b",
                                             "shf.r.clamp.b32 %d, %a, %b",
                                             "shf.r.wrap.b32 %d, %a, %b",
                                             "shl.b32 %d, %a",
                                             "shr.u32 %d, %a",
                                             "shr.s32 %d, %a",
                                             "shl.b64 %o, %q",
                                             "shr.u64 %o, %q",
                                             "shr.s64 %o, %q"};
    static uint32_t in[LANES][2];
    for (uint32_t i = 0; i < LANES; i++) in[i][0] = noise(2 * i), in[i][1] = noise(2 * i + 1);
    begin(8);
    ADD(" .reg .u64 %%q; ld.global.u32 %%a, [%%in]; ld.global.u32 %%b, [%%in+4]; ld.global.u64 %%q, [%%in];\n");
    for (unsigned k = 0; k < AMOUNTS; k++) {
        if (!constant) ADD(" ld.global.u32 %%c, [%%n+%u];\n", 4 * k);
        for (unsigned form = 0; form < FORMS; form++) {
            if (constant) ADD(" %s, 0x%x;", forms[form], amount_at(k));
            else ADD(" %s, %%c;", forms[form]);
            if (form >= 7) ADD(" mov.b64 {%%d, %%t}, %%o; xor.b32 %%d, %%d, %%t;"); /* both halves in one word */
            ADD(" st.global.u32 [%%out+%u], %%d;\n", (FORMS * k + form) * 8 * LANES);
        }
    }
    uint32_t *out = launch(in, sizeof in, LANES, FORMS * AMOUNTS * sizeof in);
    for (unsigned k = 0; k < AMOUNTS; k++)
        for (unsigned form = 0; form < FORMS; form++)
            for (uint32_t i = 0; i < LANES; i++) {
                uint32_t n = amount_at(constant ? k : i % AMOUNTS + k), got = out[((FORMS * k + form) * LANES + i) * 2];
                uint32_t want = wide_shift(form, in[i][0], in[i][1], n);
                if (got != want) fail_msg("%s, %u in lane %u: 0x%x, not 0x%x", forms[form], n, i, got, want);
            }
    free(out);
}
static void test_words_by_constants(void **state) { (void)state, shifts_of_words(true); }
static void test_words_by_registers(void **state) { (void)state, shifts_of_words(false); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shifts_by_constants),
                                       cmocka_unit_test(test_shifts_by_registers),
                                       cmocka_unit_test(test_tables_of_lop3), cmocka_unit_test(test_words_by_constants),
                                       cmocka_unit_test(test_words_by_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
