/* families.c: the forms of instructions that compute each lane by itself, and the list of all families. */
#include "silicon.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

enum { CASES = 2048, SHUFFLE_CASES = 32 * 1024 };

const lw_family lw_families[] = {
    {"logic", "and, or, xor, not, cnot", "7.0", "sm_70", CASES, lw_make_logic, lw_cases_logic},
    {"lop3", "lop3, every table", "7.0", "sm_70", CASES, lw_make_lop3, lw_cases_logic},
    {"lop3_bool", "lop3 with a predicate, every table", "8.2", "sm_70", CASES, lw_make_lop3_bool, lw_cases_logic},
    {"shift", "shl, shr, shf", "7.0", "sm_70", CASES, lw_make_shift, lw_cases_shift},
    {"vshl", "vshl, every form", "7.0", "sm_70", CASES, lw_make_vshl, lw_cases_shift},
    {"vshr", "vshr, every form", "7.0", "sm_70", CASES, lw_make_vshr, lw_cases_shift},
    {"shfl", "shfl without .sync", "6.3", "sm_60", SHUFFLE_CASES, lw_make_shfl, lw_cases_shuffle},
    {"shfl_sync", "shfl.sync", "7.0", "sm_70", SHUFFLE_CASES, lw_make_shfl_sync, lw_cases_shuffle},
};
const unsigned lw_family_count = COUNT(lw_families);

const lw_family *lw_family_named(const char *name) {
    for (unsigned i = 0; i < lw_family_count; i++)
        if (!strcmp(lw_families[i].name, name)) return &lw_families[i];
    return NULL;
}

/* A width: its registers, and the largest value of its constants. */
typedef struct width {
    unsigned bits;
    const char *a, *b, *d;
    lw_result result;
    uint64_t most;
} width;

static const width widths[] = {
    {16, "%ha", "%hb", "%hd", LW_RESULT_16, 0xffff},
    {32, "%a", "%b", "%d", LW_RESULT_32, UINT32_MAX},
    {64, "%wa", "%wb", "%wd", LW_RESULT_64, UINT64_MAX},
};

/* ---- logic --------------------------------------------------------------------------------------------- */

static const char *const binary[] = {"and", "or", "xor"};
static const uint64_t constants[] = {0,          1,          0x7f,      0x80,      0xff,       0x5555,
                                     0x7fff,     0x8000,     0xfffe,    0xffff,    0x7fffffff, 0x80000000,
                                     0xffffffff, 0x12345678, INT64_MAX, UINT64_MAX};

static void logic_width(lw_maker *m, const width *w) {
    lw_group_open(m, CASES, CASES, 4, "logic_b%u", w->bits);
    for (unsigned i = 0; i < COUNT(binary); i++) {
        lw_form_add(m, w->result, "%s.b%u %s, %s, %s", binary[i], w->bits, w->d, w->a, w->b);
        lw_form_add(m, w->result, "%s.b%u %s, %s, %s", binary[i], w->bits, w->d, w->a, w->a);
        for (unsigned k = 0; k < COUNT(constants); k++)
            if (constants[k] <= w->most) {
                lw_form_add(m, w->result, "%s.b%u %s, %s, %#jx", binary[i], w->bits, w->d, w->a,
                            (uintmax_t)constants[k]);
                lw_form_add(m, w->result, "%s.b%u %s, %#jx, %s", binary[i], w->bits, w->d, (uintmax_t)constants[k],
                            w->b);
            }
        lw_form_add(m, w->result, "%s.b%u %s, %s, -1", binary[i], w->bits, w->d, w->a);
    }
    static const char *const unary[] = {"not", "cnot"};
    for (unsigned i = 0; i < COUNT(unary); i++) {
        lw_form_add(m, w->result, "%s.b%u %s, %s", unary[i], w->bits, w->d, w->a);
        lw_form_add(m, w->result, "%s.b%u %s, 0", unary[i], w->bits, w->d);
        lw_form_add(m, w->result, "%s.b%u %s, %#jx", unary[i], w->bits, w->d, (uintmax_t)w->most);
    }
}

void lw_make_logic(lw_maker *m) {
    for (unsigned i = 0; i < COUNT(widths); i++) logic_width(m, &widths[i]);
    lw_group_open(m, CASES, CASES, 4, "logic_pred");
    for (unsigned i = 0; i < COUNT(binary); i++) {
        lw_form_add(m, LW_RESULT_P, "%s.pred %%p, %%pa, %%pb", binary[i]);
        lw_form_add(m, LW_RESULT_P, "%s.pred %%p, !%%pa, %%pb", binary[i]);
        lw_form_add(m, LW_RESULT_P, "%s.pred %%p, %%pa, !%%pb", binary[i]);
        lw_form_add(m, LW_RESULT_P, "%s.pred %%p, !%%pa, !%%pb", binary[i]);
    }
    lw_form_add(m, LW_RESULT_P, "not.pred %%p, %%pa");
    lw_form_add(m, LW_RESULT_P, "not.pred %%p, !%%pa");
}

/* ---- lop3 ---------------------------------------------------------------------------------------------- */

void lw_make_lop3(lw_maker *m) {
    static const char *const operands[] = {"%a, %b, %c", "0x12345678, %b, %c", "%a, 0xff00ff0f, %c",
                                           "%a, %b, 0x80000001"};
    static const char *const names[] = {"registers", "constant_a", "constant_b", "constant_c"};
    for (unsigned i = 0; i < COUNT(operands); i++)
        for (unsigned lut = 0; lut < 256; lut++) {
            if (lut % 64 == 0) lw_group_open(m, CASES, CASES, 2, "lop3_%s_%u", names[i], lut / 64);
            lw_form_add(m, LW_RESULT_32, "lop3.b32 %%d, %s, %#04x", operands[i], lut);
        }
}

void lw_make_lop3_bool(lw_maker *m) {
    for (unsigned i = 0; i < 8; i++) {
        const char *op = i & 1 ? "and" : "or", *q = i & 2 ? "!%q" : "%q", *d = i & 4 ? "_" : "%d";
        for (unsigned lut = 0; lut < 256; lut++) {
            if (lut % 64 == 0)
                lw_group_open(m, CASES, CASES, 1, "lop3_%s%s%s_%u", op, i & 2 ? "_not" : "", i & 4 ? "_none" : "",
                              lut / 64);
            lw_form_add(m, i & 4 ? LW_RESULT_P : LW_RESULT_32_P, "lop3.%s.b32 %s|%%p, %%a, %%b, %%c, %#04x, %s", op, d,
                        lut, q);
        }
    }
}

/* ---- shl, shr, shf ------------------------------------------------------------------------------------- */

/* Calls with every amount that is worth a constant: up to beyond the width, and far ones. */
static unsigned amount_after(unsigned amount, unsigned bits) {
    static const unsigned far[] = {95, 127, 128, 255, 256, 257, 0xffff, 0x10000, 0x10001, 0x80000000, 0xffffffff};
    if (amount < bits + 3) return amount + 1;
    for (unsigned i = 0; i < COUNT(far); i++)
        if (far[i] > amount) return far[i];
    return 0; /* that was the last */
}

static void shift_width(lw_maker *m, const width *w, const char *op, char kind) {
    lw_group_open(m, CASES, CASES, 2, "%s_%c%u", op, kind, w->bits);
    lw_form_add(m, w->result, "%s.%c%u %s, %s, %%b", op, kind, w->bits, w->d, w->a);
    for (unsigned i = 0; i < COUNT(constants); i++)
        if (constants[i] <= w->most && (kind != 's' || constants[i] <= w->most >> 1))
            lw_form_add(m, w->result, "%s.%c%u %s, %#jx, %%b", op, kind, w->bits, w->d, (uintmax_t)constants[i]);
    unsigned amount = 0;
    do lw_form_add(m, w->result, "%s.%c%u %s, %s, %u", op, kind, w->bits, w->d, w->a, amount);
    while ((amount = amount_after(amount, w->bits)));
}

void lw_make_shift(lw_maker *m) {
    for (unsigned i = 0; i < COUNT(widths); i++) {
        shift_width(m, &widths[i], "shl", 'b');
        shift_width(m, &widths[i], "shr", 'b');
        shift_width(m, &widths[i], "shr", 'u');
        shift_width(m, &widths[i], "shr", 's');
    }
    for (unsigned i = 0; i < 4; i++) {
        const char *way = i & 1 ? "r" : "l", *mode = i & 2 ? "wrap" : "clamp";
        lw_group_open(m, CASES, CASES, 2, "shf_%s_%s", way, mode);
        lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, %%a, %%c, %%b", way, mode);
        lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, %%a, %%a, %%b", way, mode);
        lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, 0x89abcdef, %%c, %%b", way, mode);
        lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, %%a, 0x80000001, %%b", way, mode);
        unsigned amount = 0;
        do {
            lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, %%a, %%c, %u", way, mode, amount);
            lw_form_add(m, LW_RESULT_32, "shf.%s.%s.b32 %%d, %%a, %%a, %u", way, mode, amount);
        } while ((amount = amount_after(amount, 32)));
    }
}

/* ---- vshl, vshr ---------------------------------------------------------------------------------------- */

static const char *const parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};

/* One mnemonic with one destination: every part of a with every part of b. */
static void video_parts(lw_maker *m, const char *mnemonic, const char *into, const char *c) {
    for (unsigned a = 0; a < COUNT(parts); a++)
        for (unsigned b = 0; b < COUNT(parts); b++)
            lw_form_add(m, LW_RESULT_32, "%s %%d%s, %%a%s, %%b%s%s", mnemonic, into, parts[a], parts[b], c);
}

static void video_shape(lw_maker *m, const char *op, unsigned shape) {
    static const char *const seconds[] = {"", ".add", ".min", ".max"};
    static const unsigned far[] = {0, 1, 7, 31, 32, 33, 0xffffffff};
    const char *d = shape & 1 ? "s32" : "u32", *a = shape & 2 ? "s32" : "u32", *sat = shape & 4 ? ".sat" : "",
               *mode = shape & 8 ? "wrap" : "clamp";
    char mnemonic[64];
    for (unsigned second = 0; second < COUNT(seconds); second++) {
        const char *c = second ? ", %c" : "";
        snprintf(mnemonic, sizeof mnemonic, "%s.%s.%s.u32%s.%s%s", op, d, a, sat, mode, seconds[second]);
        lw_group_open(m, CASES, CASES, 1, "%s_%s_%s%s_%s%s%s", op, d, a, *sat ? "_sat" : "", mode, second ? "_" : "",
                      second ? seconds[second] + 1 : "");
        video_parts(m, mnemonic, "", c);
        for (unsigned i = 0; i < COUNT(far); i++)
            lw_form_add(m, LW_RESULT_32, "%s %%d, %%a, %u%s", mnemonic, far[i], c);
    }
    snprintf(mnemonic, sizeof mnemonic, "%s.%s.%s.u32%s.%s", op, d, a, sat, mode);
    for (unsigned into = 1; into < COUNT(parts); into++) {
        lw_group_open(m, CASES, CASES, 1, "%s_%s_%s%s_%s_into_%s", op, d, a, *sat ? "_sat" : "", mode, parts[into] + 1);
        video_parts(m, mnemonic, parts[into], ", %c");
    }
}

void lw_make_vshl(lw_maker *m) {
    for (unsigned shape = 0; shape < 16; shape++) video_shape(m, "vshl", shape);
}

void lw_make_vshr(lw_maker *m) {
    for (unsigned shape = 0; shape < 16; shape++) video_shape(m, "vshr", shape);
}
