/* accuracy: the largest error of each approximate function against the true value, for docs/approximations.md. Scans
 * all numbers of ranges in which every mantissa and reduction occurs, in f64; the worst is computed again in long
 * double, whose functions are good to 2^-60 or so.
 *
 *     cmake --build build --target accuracy && build/bin/accuracy        # some minutes
 *     build/bin/accuracy --check docs/approximations.md                  # a slice, against the table of the page
 *
 * A slice has every 997th number. No error of it may be above what the page says, and the operand that a row names must
 * have the error that it says. An ulp is the distance of f32 numbers (or of the type's) at the true value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lanewise/lane/approx.h"

typedef long double truth(long double a);
typedef double guess(double a);

static long double true_rcp(long double a) { return 1 / a; }
static double near_rcp(double a) { return 1 / a; }
static long double true_rsqrt(long double a) { return 1 / sqrtl(a); }
static double near_rsqrt(double a) { return 1 / sqrt(a); }

/* 2^n where n is the exponent of the last of `bits` bits at a value, but no less than `least`. */
static long double ulp_at(long double value, int bits, int least) {
    int exponent;
    frexpl(value, &exponent);
    return ldexpl(1, exponent - bits < least ? least : exponent - bits);
}

/* ---- The page's table ----------------------------------------------------------------------------------------- */

enum { SLICE = 997, COLUMNS = 6 };
static char *page;       /* its text; NULL: all numbers are taken, and printed */
static int faults, rows; /* that differ; that were compared */

/* The cells of the row about a function and a range of operands, whose words begin with `where`; of one with .ftz else
 * that of the one without. False: there is none. */
static bool find_row(const char *name, const char *where, char cells[COLUMNS][128]) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    for (const char *line = page, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        int count = 0;
        for (const char *at = line; at < end && *at == '|' && count < COLUMNS; count++) {
            const char *cell = at + 1 + strspn(at + 1, " ");
            at = cell + strcspn(cell, "|\n");
            snprintf(cells[count], sizeof *cells, "%.*s", (int)(at - cell), cell);
        }
        if (count == COLUMNS && strstr(cells[0], quoted) && !strncmp(cells[1], where, strlen(where))) return true;
    }
    char *ftz = strstr(quoted, ".ftz");
    if (!ftz) return false;
    char plain[64];
    snprintf(plain, sizeof plain, "%.*s%s", (int)(ftz - quoted - 1), quoted + 1, ftz + 4);
    plain[strlen(plain) - 1] = 0;
    return find_row(plain, where, cells);
}

static void complain(const char *name, const char *where, const char *what, double got, const char *said) {
    printf("%s, %s: %s is %.6g, the page says %s\n", name, where, what, got, said);
    faults++;
}

/* A printed number says so much more than it shows: half of its last place. */
static double slack(const char *text) {
    const char *dot = strchr(text, '.');
    return dot ? 0.51 * pow(10, -(double)strspn(dot + 1, "0123456789")) : 0.51;
}

/* What a slice shows is not above what the page says; `exact`: that much, at the operand that the row names. */
static void compare(const char *name, const char *where, double ulps, double relative, double absolute, double exact) {
    char cells[COLUMNS][128];
    const double powers[] = {relative, absolute};
    rows++;
    if (!find_row(name, where, cells)) {
        complain(name, where, "no row", 0, "nothing");
        return;
    }
    const bool has_ulps = strspn(cells[2], "0123456789.");
    if (has_ulps && ulps > atof(cells[2]) + slack(cells[2])) complain(name, where, "an error in ulp", ulps, cells[2]);
    if (has_ulps && exact >= 0 && fabs(exact - atof(cells[2])) > slack(cells[2]))
        complain(name, where, "the error in ulp of its operand", exact, cells[2]);
    for (int k = 0; k < 2; k++)
        if (!strncmp(cells[4 + k], "2^", 2) && log2(powers[k]) > atof(cells[4 + k] + 2) + slack(cells[4 + k] + 2))
            complain(name, where, k ? "log2 of an absolute error" : "log2 of a relative error", log2(powers[k]),
                     cells[4 + k]);
}

/* The operand that the row names; NAN: none. */
static double named_operand(const char *name, const char *where) {
    char cells[COLUMNS][128];
    char *end;
    if (!find_row(name, where, cells)) return NAN;
    const double a = strtod(cells[3], &end);
    return end == cells[3] ? NAN : a;
}

typedef struct worst {
    double ulps, at_ulps, absolute, at_absolute, relative;
} worst;

static void note(worst *w, double a, double got, double want, int bits, int least) {
    if (want >= 0x1p128) return; /* of no f32 */
    double off = fabs(got - want), ulps = off / (double)ulp_at(want, bits, least);
    if (ulps > w->ulps) w->ulps = ulps, w->at_ulps = a;
    if (off > w->absolute) w->absolute = off, w->at_absolute = a;
    if (off > w->relative * fabs(want)) w->relative = off / fabs(want);
}

/* A range of magnitudes, of one sign or both: every step-th number. */
typedef struct range {
    float from, to;
    uint32_t step;
    bool both;
} range;

static void scan(worst *w, float (*lane)(float), guess *want, range r) {
    uint32_t last = lw_bits_f32_(r.to);
    const uint32_t step = page ? r.step * SLICE : r.step;
    for (uint32_t bits = lw_bits_f32_(r.from); bits < last && bits >= lw_bits_f32_(r.from); bits += step)
        for (int negative = 0; negative <= r.both; negative++) {
            float a = lw_from_bits_f32_(bits | (uint32_t)negative << 31);
            note(w, a, lane(a), want((double)a), 24, -149);
        }
}

static void print(const char *name, const char *where, const worst *w, float (*lane)(float), truth *exact) {
    if (page) {
        const double a = named_operand(name, where);
        const long double t = isnan(a) ? 1 : exact(a);
        const double off = isnan(a) ? -1 : (double)(fabsl(lane((float)a) - t) / ulp_at(t, 24, -149));
        compare(name, where, w->ulps, w->relative, w->absolute, off);
        return;
    }
    long double want = exact(w->at_ulps), got = lane((float)w->at_ulps);
    printf("| %s | %s | %.4f | %a | 2^%.2f | 2^%.2f |\n", name, where,
           (double)(fabsl(got - want) / ulp_at(want, 24, -149)), w->at_ulps, log2(w->relative), log2(w->absolute));
    fflush(stdout);
}

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define ROW(name, where, lane, near, exact, ...) \
    do { \
        const range ranges[] = {__VA_ARGS__}; \
        worst w = {0}; \
        for (int i = 0; i < COUNT(ranges); i++) scan(&w, lane, near, ranges[i]); \
        print(name, where, &w, lane, exact); \
    } while (0)

static void reciprocals(void) {
    ROW("rcp.approx.ftz.f32", "all", lw_rcp_approx_ftz_f32, near_rcp, true_rcp, {1, 2, 1, true});
    ROW("rcp.approx.f32", "all", lw_rcp_approx_f32, near_rcp, true_rcp, {1, 2, 1, true},
        {0x1p-128f, 0x1p-126f, 1, false}, {0x1p125f, INFINITY, 1, false});
    ROW("rsqrt.approx.ftz.f32", "all", lw_rsqrt_approx_ftz_f32, near_rsqrt, true_rsqrt, {1, 4, 1, false});
    ROW("rsqrt.approx.f32", "all", lw_rsqrt_approx_f32, near_rsqrt, true_rsqrt, {1, 4, 1, false},
        {0x1p-149f, 0x1p-126f, 1, false});
    ROW("sqrt.approx.ftz.f32", "all", lw_sqrt_approx_ftz_f32, sqrt, sqrtl, {1, 4, 1, false});
    ROW("sqrt.approx.f32", "all", lw_sqrt_approx_f32, sqrt, sqrtl, {1, 4, 1, false}, {0x1p-149f, 0x1p-126f, 1, false});
}

static void powers(void) {
    ROW("ex2.approx.ftz.f32", "normal results", lw_ex2_approx_ftz_f32, exp2, exp2l, {0x1p-30f, 126, 1, true},
        {126, 128, 1, false});
    ROW("ex2.approx.f32", "below -126", lw_ex2_approx_f32, exp2, exp2l, {126, 150, 1, true});
    ROW("lg2.approx.f32", "0.5 to 2", lw_lg2_approx_f32, log2, log2l, {0.5f, 2, 1, false});
    ROW("lg2.approx.f32", "elsewhere", lw_lg2_approx_f32, log2, log2l, {0x1p-8f, 0.5f, 1, false}, {2, 0x1p8f, 1, false},
        {0x1p-149f, 0x1p-8f, 13, false}, {0x1p8f, INFINITY, 13, false});
    ROW("tanh.approx.f32", "from 2^-8", lw_tanh_approx_f32, tanh, tanhl, {0x1p-8f, 20, 1, true});
    ROW("tanh.approx.f32", "below 2^-8", lw_tanh_approx_f32, tanh, tanhl, {0x1p-30f, 0x1p-8f, 1, false});
}

static void circle(void) {
    const float turn = 0x1.921fb6p2f, more = 100 * 0x1.921fb6p1f;
    ROW("sin.approx.f32", "-2 pi to 2 pi", lw_sin_approx_f32, sin, sinl, {0x1p-30f, turn, 1, true});
    ROW("sin.approx.f32", "-100 pi to 100 pi", lw_sin_approx_f32, sin, sinl, {turn, more, 1, true});
    ROW("cos.approx.f32", "-2 pi to 2 pi", lw_cos_approx_f32, cos, cosl, {0x1p-30f, turn, 1, false});
    ROW("cos.approx.f32", "-100 pi to 100 pi", lw_cos_approx_f32, cos, cosl, {turn, more, 1, false});
}

/* Quotients of random numbers; b is no larger than 2^126, where div.approx begins to give zero. */
static void quotient(const char *name, float (*lane)(float, float)) {
    worst w = {0};
    uint64_t state = 1;
    for (int i = 0; i < (page ? 100000000 / SLICE : 100000000); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        float a = lw_from_bits_f32_(((uint32_t)(state >> 32) & 0x807fffffu) | 0x3f800000u);
        float b = lw_from_bits_f32_(((uint32_t)(state >> 9) & 0x7fffffu) | 0x3f800000u);
        note(&w, a, (double)lane(a, b), (double)a / (double)b, 24, -149);
    }
    if (page) {
        compare(name, "10^8 random pairs", w.ulps, w.relative, w.absolute, -1);
        return;
    }
    printf("| %s | random pairs | %.4f | | 2^%.2f | |\n", name, w.ulps, log2(w.relative));
}

static double f16_value(uint16_t a) { return (double)lw_wide_f16_(a); }
static double bf16_value(uint16_t a) { return (double)lw_from_bits_f32_((uint32_t)a << 16); }

static void half(const char *name, const char *where, uint16_t (*lane)(uint16_t), double (*value)(uint16_t),
                 guess *want, int bits, int least, double limit) {
    worst w = {0};
    for (uint32_t a = 0; a < 65536; a++) {
        double x = value((uint16_t)a), t = want(x);
        if (isfinite(x) && fabs(t) >= limit && isfinite(value(lane((uint16_t)a))))
            note(&w, x, value(lane((uint16_t)a)), t, bits, least);
    }
    if (page) {
        compare(name, where, w.ulps, w.relative, w.absolute, w.ulps); /* all numbers: the very error */
        return;
    }
    printf("| %s | %s | %.4f | %a | 2^%.2f | 2^%.2f |\n", name, where, w.ulps, w.at_ulps, log2(w.relative),
           log2(w.absolute));
}

static void wide(const char *name, double (*lane)(double), truth *want) {
    double most = 0;
    for (uint64_t i = 0; i < 1 << 23; i += page ? SLICE : 1) {
        double a = lw_from_bits_f64_((0x3ffull << 52) + (i << 30 | (i & 1 ? 0x3fffffff : 0)));
        long double t = want(a);
        most = fmax(most, (double)fabsl((lane(a) - t) / t));
    }
    if (page) {
        compare(name, "1 to 4", 0, most, 0, -1);
        return;
    }
    printf("| %s | 1 to 4 | %.4g | | 2^%.2f | |\n", name, most * 0x1p52, log2(most));
}

static char *read_page(const char *path) {
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = calloc(1, MOST);
    if (!file || !text || !fread(text, 1, MOST - 1, file)) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--check")) page = read_page(argv[2]);
    else printf("| function | operands | ulp | at | relative | absolute |\n|---|---|---|---|---|---|\n");
    reciprocals();
    quotient("div.approx.f32", lw_div_approx_f32), quotient("div.full.f32", lw_div_full_f32);
    powers();
    circle();
    half("tanh.approx.f16", "all", lw_tanh_approx_f16, f16_value, tanh, 11, -24, 0x1p-24);
    half("ex2.approx.f16", "finite results", lw_ex2_approx_f16, f16_value, exp2, 11, -24, 0x1p-24);
    half("tanh.approx.bf16", "all", lw_tanh_approx_bf16, bf16_value, tanh, 8, -133, 0x1p-126);
    half("ex2.approx.ftz.bf16", "finite results", lw_ex2_approx_ftz_bf16, bf16_value, exp2, 8, -133, 0x1p-126);
    wide("rcp.approx.ftz.f64", lw_rcp_approx_ftz_f64, true_rcp);
    wide("rsqrt.approx.ftz.f64", lw_rsqrt_approx_ftz_f64, true_rsqrt);
    wide("rsqrt.approx.f64", lw_rsqrt_approx_f64, true_rsqrt);
    if (page) printf("%d rows, %d differ\n", rows, faults);
    free(page);
    return faults ? 1 : 0;
}
