/* What a rounding costs: instructions towards zero, down and up against the same to nearest, 128 lanes in a long
 * chain; and what half precision costs against f32. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 48, REGISTERS = 8, MOST_TURNS = 15, THREADS = 128, ROUNDINGS = 4 };
static const double TARGET = 4; /* times the instruction to nearest, at most */

typedef struct form {
    const char *opcode, *rest; /* a rounding stands between them */
    int operands;
} form;

static const form forms[] = {
    {"add", "f32", 2},     {"mul", "f32", 2},      {"fma", "f32", 3},     {"div", "f32", 2},     {"rcp", "f32", 1},
    {"sqrt", "f32", 1},    {"add", "ftz.f32", 2},  {"mul", "ftz.f32", 2}, {"fma", "ftz.f32", 3}, {"div", "ftz.f32", 2},
    {"rcp", "ftz.f32", 1}, {"sqrt", "ftz.f32", 1}, {"add", "f64", 2},     {"mul", "f64", 2},     {"fma", "f64", 3},
    {"div", "f64", 2},     {"rcp", "f64", 1},      {"sqrt", "f64", 1},
};
static const char *const roundings[ROUNDINGS] = {"rn", "rz", "rm", "rp"};

/* Half precision to nearest against the same of f32. */
static const double HALF_TARGET = 6; /* of fma, times that of f32, at most */
static const char *const half_opcodes[] = {"add", "mul", "fma"};
static const char *const half_types[] = {"f16", "bf16", "f16x2", "bf16x2"};
enum { HALF_TYPES = sizeof half_types / sizeof half_types[0] };

static bool is_half(const char *rest) { return strstr(rest, "f16"); }
static bool is_pair(const char *rest) { return strstr(rest, "x2"); }
static const char *type_of(const char *rest) {
    return is_pair(rest) ? "b32" : is_half(rest) ? "b16" : strstr(rest, "f64") ? "f64" : "f32";
}

/* A register of the form's type from an f32 or, of f64, as it is. */
static void convert(FILE *to, const char *rest, const char *name, int number) {
    if (is_pair(rest)) fprintf(to, "cvt.rn.%s.f32 %%%s%d, %%x, %%x;\n", rest, name, number);
    else if (is_half(rest)) fprintf(to, "cvt.rn.%s.f32 %%%s%d, %%x;\n", rest, name, number);
    else fprintf(to, "cvt%s.f32 %%%s%d, %%x;\n", strstr(rest, "f64") ? ".f64" : ".f32", name, number);
}

/* Numbers from 1 on, which stay there: of two operands the second is one register that is little more than 1, of three
 * the second nearly 0. */
static char *make_text(const form *f, const char *rounding, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) lw_bench_fail("no memory for a kernel");
    fprintf(to,
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry rounding(.param .u64 out, .param .u32 "
            "turns)\n{\n"
            ".reg .b32 %%n, %%i;\n.reg .f32 %%x, %%part;\n.reg .%s %%f<%d>, %%one<1>, %%little<1>;\n.reg .b64 "
            "%%out;\n.reg .pred %%more;\n"
            "ld.param.u64 %%out, [out];\nld.param.u32 %%n, [turns];\nmov.u32 %%i, %%tid.x;\ncvt.rn.f32.u32 %%part, "
            "%%i;\nmul.f32 %%part, %%part, 1e-8;\nmov.f32 %%x, %%part;\n",
            type_of(f->rest), REGISTERS);
    convert(to, f->rest, "little", 0);
    fputs("add.f32 %x, %part, 1.0;\n", to);
    convert(to, f->rest, "one", 0);
    for (int k = 0; k < REGISTERS; k++) {
        fprintf(to, "add.f32 %%x, %%part, %d.25;\n", k + 1);
        convert(to, f->rest, "f", k);
    }
    fputs("mov.u32 %i, 0;\nLOOP:\n", to);
    for (int step = 0; step < STEPS; step++) {
        fprintf(to, "%s.%s.%s %%f%d, %%f%d", f->opcode, rounding, f->rest, step % REGISTERS, (step + 2) % REGISTERS);
        if (f->operands > 1) fputs(f->operands == 3 || !strcmp(f->opcode, "add") ? ", %little0" : ", %one0", to);
        if (f->operands > 2) fprintf(to, ", %%f%d", (step + 4) % REGISTERS);
        fputs(";\n", to);
    }
    fputs("add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, %n;\n@%more bra LOOP;\n", to);
    for (int k = 0; k < REGISTERS; k++) fprintf(to, "st.global.%s [%%out+%d], %%f%d;\n", type_of(f->rest), 8 * k, k);
    fputs("ret;\n}\n", to);
    if (fclose(to)) lw_bench_fail("no memory for a kernel");
    return text;
}

typedef struct work {
    lw_module *module;
    lw_kernel *kernel;
} work;

static work make_work(lw_context *context, const form *f, const char *rounding) {
    size_t size;
    char *text = make_text(f, rounding, &size);
    work w;
    w.kernel = lw_bench_only_kernel(context, f->opcode, text, size, &w.module);
    free(text);
    return w;
}

/* Seconds of one step of all threads. */
static double time_step(const lw_bench_options *options, lw_context *context, const work *w, uint64_t out) {
    uint32_t turns = options->quick ? 50 : 1000;
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    double start = lw_bench_clock(options->wall);
    if (lw_launch(w->kernel, &config, (void *[]){&out, &turns}, NULL) != LW_OK)
        lw_bench_fail("%s", lw_context_message(context));
    return (lw_bench_clock(options->wall) - start) / ((double)turns * STEPS);
}

static void measure(const lw_bench_options *options, lw_context *context, const form *f, uint64_t out) {
    const uint32_t turns = options->quick ? 3 : MOST_TURNS;
    work works[ROUNDINGS];
    double ratios[ROUNDINGS][MOST_TURNS], nearest[MOST_TURNS], most = 0;
    for (int r = 0; r < ROUNDINGS; r++) works[r] = make_work(context, f, roundings[r]);
    for (uint32_t t = 0; t < turns; t++) {
        nearest[t] = time_step(options, context, &works[0], out);
        for (int r = 1; r < ROUNDINGS; r++) ratios[r][t] = time_step(options, context, &works[r], out) / nearest[t];
    }
    char name[32];
    snprintf(name, sizeof name, "%s.rn.%s", f->opcode, f->rest);
    printf("%-16s %9.1f", name, lw_bench_spread_of(nearest, turns).median * 1e9);
    for (int r = 1; r < ROUNDINGS; r++) {
        const double ratio = lw_bench_spread_of(ratios[r], turns).median;
        most = ratio > most ? ratio : most;
        printf(" %7.2f", ratio);
    }
    printf("   %s\n", most <= TARGET ? "met" : "not met");
    for (int r = 0; r < ROUNDINGS; r++) lw_module_free(works[r].module);
}

static void measure_halves(const lw_bench_options *options, lw_context *context, const char *opcode, uint64_t out) {
    const uint32_t turns = options->quick ? 3 : MOST_TURNS;
    const int operands = strcmp(opcode, "fma") ? 2 : 3;
    double ratios[HALF_TYPES][MOST_TURNS], single[MOST_TURNS], most = 0;
    work works[HALF_TYPES], of_f32 = make_work(context, &(form){opcode, "f32", operands}, "rn");
    for (int k = 0; k < HALF_TYPES; k++) works[k] = make_work(context, &(form){opcode, half_types[k], operands}, "rn");
    for (uint32_t t = 0; t < turns; t++) {
        single[t] = time_step(options, context, &of_f32, out);
        for (int k = 0; k < HALF_TYPES; k++) ratios[k][t] = time_step(options, context, &works[k], out) / single[t];
    }
    printf("%-16s %9.1f", opcode, lw_bench_spread_of(single, turns).median * 1e9);
    for (int k = 0; k < HALF_TYPES; k++) {
        const double ratio = lw_bench_spread_of(ratios[k], turns).median;
        if (!strcmp(half_types[k], "f16")) most = ratio;
        printf(" %7.2f", ratio);
        lw_module_free(works[k].module);
    }
    lw_module_free(of_f32.module);
    printf("   %s\n", most <= HALF_TARGET ? "met" : "not met");
}

void lw_bench_rounding(const lw_bench_options *options, lw_context *context) {
    uint64_t out;
    if (lw_memory_new(context, 8 * REGISTERS, &out) != LW_OK) lw_bench_fail("%s", lw_context_message(context));
    printf("\nROUNDINGS: 128 lanes to nearest, and how many times that the others take; at most %.0f\n", TARGET);
    printf("%-16s %9s %7s %7s %7s\n", "", "ns", ".rz", ".rm", ".rp");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) measure(options, context, &forms[i], out);
    printf("\nHALF PRECISION: 128 lanes of f32, and how many times that the others take; .f16 at most %.0f\n",
           HALF_TARGET);
    printf("%-16s %9s %7s %7s %7s %7s\n", "", "ns", ".f16", ".bf16", ".f16x2", ".bf16x2");
    for (size_t i = 0; i < sizeof half_opcodes / sizeof half_opcodes[0]; i++)
        measure_halves(options, context, half_opcodes[i], out);
    lw_bench_must(lw_memory_free(context, out), "freeing memory");
}
