/* How fast the interpreter's loops of the seed instructions are, as a part of the rate of and.b32's loop. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 48, REGISTERS = 8, MOST_TURNS = 15, THREADS = 128 };

/* %1 %2 %3 stand for registers that the steps before wrote, so that no step can be left out or joined with another. */
typedef struct seed {
    const char *spelling, *operands; /* behind the destination, or behind that and a selector */
    char class;                      /* of the registers: r 32 bits, h 16, d 64, p predicates */
    double target;                   /* of and.b32's rate */
    const char *why;                 /* a lower one; NULL: the full one */
} seed;

static const char *const
    WIDE = "64 bits: twice the bytes",
    *const MIXED = "64-bit values, 32-bit amounts: 1.7 times the bytes",
    *const THREE = "three loads a vector against two, for which there are two ports",
    *const FUNNEL = "three loads and two shifts, for which there is one port", *const LANES = "reads across lanes",
    *const VIDEO = "many operations", *const TABLES = "a table and a quadratic: 0.3 of two fma",
    *const BY_REGISTERS = "a comparison and a permute for each vector, for which there is one port",
    *const COUNTED = "a step sees where the semantics differ, by masks, for which there is one port",
    *const PARTS = "the same, and a step for each selected operand, of shifts on one port",
    *const TWO_WORDS = "two words a lane, compared in two ways: masks come from one port";
static const seed seeds[] = {
    {"and.b32", "%1, %2", 'r', 0.9, NULL},
    {"or.b32", "%1, %2", 'r', 0.9, NULL},
    {"xor.b32", "%1, %2", 'r', 0.9, NULL},
    {"not.b32", "%1", 'r', 0.9, NULL},
    {"cnot.b32", "%1", 'r', 0.9, NULL},
    {"lop3.b32", "%1, %2, %3, 0x96", 'r', 0.65, THREE},
    {"lop3.b32", "%1, %2, %3, 0xe8", 'r', 0.65, THREE},
    {"shl.b32", "%1, 5", 'r', 0.9, NULL},
    {"shl.b32", "%1, %2", 'r', 0.9, NULL},
    {"shr.u32", "%1, 5", 'r', 0.9, NULL},
    {"shr.u32", "%1, %2", 'r', 0.9, NULL},
    {"shr.s32", "%1, 5", 'r', 0.9, NULL},
    {"shr.s32", "%1, %2", 'r', 0.9, NULL},
    {"shf.l.wrap.b32", "%1, %2, 7", 'r', 0.6, FUNNEL},
    {"shf.l.wrap.b32", "%1, %2, %3", 'r', 0.6, FUNNEL},
    {"shf.l.clamp.b32", "%1, %2, %3", 'r', 0.6, FUNNEL},
    {"shf.r.wrap.b32", "%1, %2, %3", 'r', 0.6, FUNNEL},
    {"shf.r.clamp.b32", "%1, %2, %3", 'r', 0.6, FUNNEL},
    {"and.b16", "%1, %2", 'h', 0.9, NULL},
    {"not.b16", "%1", 'h', 0.9, NULL},
    {"cnot.b16", "%1", 'h', 0.9, NULL},
    {"shl.b16", "%1, 3", 'h', 0.9, NULL},
    {"shr.u16", "%1, 3", 'h', 0.9, NULL},
    {"shr.s16", "%1, 3", 'h', 0.9, NULL},
    {"and.b64", "%1, %2", 'd', 0.45, WIDE},
    {"cnot.b64", "%1", 'd', 0.45, WIDE},
    {"shl.b64", "%1, 9", 'd', 0.45, WIDE},
    {"shl.b64", "%1, %r1", 'd', 0.45, MIXED},
    {"shr.u64", "%1, %r1", 'd', 0.45, MIXED},
    {"shr.s64", "%1, %r1", 'd', 0.45, MIXED},
    {"and.pred", "%1, %2", 'p', 0.9, NULL},
    {"not.pred", "%1", 'p', 0.9, NULL},
    {"vshl.u32.u32.u32.clamp", "%1, %2", 'r', 0.3, VIDEO},
    {"vshl.u32.u32.u32.wrap", "%1, %2", 'r', 0.3, VIDEO},
    {"vshr.s32.s32.u32.wrap", "%1.h0, %2.b1", 'r', 0.3, VIDEO},
    {"vshl.s32.s32.u32.sat.clamp", "%1, %2", 'r', 0.3, VIDEO},
    {"vshr.u32.u32.u32.clamp.add", "%1, %2, %3", 'r', 0.3, VIDEO},
    {"vshl.u32.u32.u32.clamp", ".h1, %1, %2, %3", 'r', 0.18, COUNTED},
    {"vshr.s32.s32.u32.wrap", ".h1, %1.h0, %2.b1, %3", 'r', 0.1, PARTS},
    {"vshl.u32.u32.u32.sat.clamp", ".b1, %1, %2, %3", 'r', 0.12, COUNTED},
    {"vshr.s32.s32.u32.sat.clamp", ".h0, %1, %2, %3", 'r', 0.14, COUNTED},
    {"vshl.s32.s32.u32.sat.wrap", ".b2, %1.h0, %2.b1, %3", 'r', 0.07, PARTS},
    {"vshl.u32.u32.u32.clamp.min", "%1, %2, %3", 'r', 0.09, TWO_WORDS},
    {"vshl.s32.s32.u32.wrap.max", "%1.h0, %2.b1, %3", 'r', 0.06, TWO_WORDS},
    {"vshl.u32.u32.u32.sat.clamp.min", "%1, %2, %3", 'r', 0.15, COUNTED},
    {"vshr.u32.s32.u32.clamp.min", "%1, %2, %3", 'r', 0.2, COUNTED},
    {"vshr.s32.u32.u32.clamp.max", "%1, %2, %3", 'r', 0.3, VIDEO},
    {"fma.rn.f32", "%1, %2, %3", 'r', 0.6, THREE},
    {"rcp.approx.ftz.f32", "%1", 'r', 0.09, TABLES},
    {"rcp.approx.f32", "%1", 'r', 0.09, TABLES},
    {"rsqrt.approx.ftz.f32", "%1", 'r', 0.09, TABLES},
    {"sqrt.approx.ftz.f32", "%1", 'r', 0.09, TABLES},
    {"div.approx.f32", "%1, %2", 'r', 0.09, TABLES},
    {"div.full.f32", "%1, %2", 'r', 0.09, TABLES},
    {"ex2.approx.ftz.f32", "%1", 'r', 0.09, TABLES},
    {"lg2.approx.ftz.f32", "%1", 'r', 0.09, TABLES},
    {"sin.approx.f32", "%1", 'r', 0.09, TABLES},
    {"tanh.approx.f32", "%1", 'r', 0.09, TABLES},
    {"ex2.approx.f16x2", "%1", 'r', 0.045, TABLES},
    {"rsqrt.approx.ftz.f64", "%1", 'd', 0.045, TABLES},
    {"shfl.sync.up.b32", "%1, 1, 0, -1", 'r', 0.3, LANES},
    {"shfl.sync.down.b32", "%1, 2, 31, -1", 'r', 0.3, LANES},
    {"shfl.sync.bfly.b32", "%1, 4, 31, -1", 'r', 0.3, LANES},
    {"shfl.sync.idx.b32", "%1, %2, 31, -1", 'r', 0.25, BY_REGISTERS},
};

/* The kernel of a seed: `turns` rounds of STEPS steps, and a result that depends on all of them. */
static void put_operands(FILE *to, const seed *s, int step) {
    for (const char *c = s->operands; *c; c++) {
        if (*c == '%' && c[1] >= '1' && c[1] <= '3') {
            fprintf(to, "%%%c%d", s->class, (step + (*++c - '0') * 2) % REGISTERS);
        } else {
            fputc(*c, to);
        }
    }
}

static char *make_text(const seed *s, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) lw_bench_fail("no memory for a kernel");
    fprintf(
        to,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry seed(.param .u64 out, .param .u32 turns)\n{\n"
        ".reg .b32 %%r<%d>, %%n, %%i;\n.reg .b16 %%h<%d>;\n.reg .b64 %%d<%d>, %%out;\n.reg .pred %%p<%d>, %%more;\n"
        "ld.param.u64 %%out, [out];\nld.param.u32 %%n, [turns];\nmov.u32 %%i, %%tid.x;\n",
        REGISTERS, REGISTERS, REGISTERS, REGISTERS);
    for (int k = 0; k < REGISTERS; k++)
        fprintf(to,
                "mad.lo.u32 %%r%d, %%i, %u, %u;\ncvt.u64.u32 %%d%d, %%r%d;\ncvt.u16.u32 %%h%d, %%r%d;\n"
                "setp.gt.s32 %%p%d, %%r%d, %d;\n",
                k, 2654435761u + 2 * (unsigned)k, 40503u * (unsigned)k, k, k, k, k, k, k, k);
    fputs("mov.u32 %i, 0;\nLOOP:\n", to);
    for (int step = 0; step < STEPS; step++) {
        fprintf(to, "%s %%%c%d%s", s->spelling, s->class, step % REGISTERS, *s->operands == '.' ? "" : ", ");
        put_operands(to, s, step);
        fputs(";\n", to);
    }
    fputs("add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, %n;\n@%more bra LOOP;\n", to);
    for (int k = 0; k < REGISTERS; k++)
        fprintf(to,
                "selp.u32 %%n, 1, 0, %%p%d;\nadd.u32 %%r%d, %%r%d, %%n;\ncvt.u32.u16 %%n, %%h%d;\nadd.u32 %%r%d, "
                "%%r%d, %%n;\n"
                "cvt.u32.u64 %%n, %%d%d;\nadd.u32 %%r%d, %%r%d, %%n;\nst.global.u32 [%%out+%d], %%r%d;\n",
                k, k, k, k, k, k, k, k, k, 4 * k, k);
    fputs("ret;\n}\n", to);
    if (fclose(to)) lw_bench_fail("no memory for a kernel");
    return text;
}

typedef struct work {
    lw_module *module;
    lw_kernel *kernel;
    uint64_t out;
} work;

static work make_work(lw_context *context, const seed *s) {
    size_t size;
    char *text = make_text(s, &size);
    work w;
    w.kernel = lw_bench_only_kernel(context, s->spelling, text, size, &w.module);
    if (lw_memory_new(context, 4 * REGISTERS, &w.out) != LW_OK) lw_bench_fail("%s", lw_context_message(context));
    free(text);
    return w;
}

/* Seconds of one step of all threads. */
static double time_step(const lw_bench_options *options, lw_context *context, work *w) {
    uint32_t turns = options->quick ? 200 : 4000;
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    double start = lw_bench_clock(options->wall);
    if (lw_launch(w->kernel, &config, (void *[]){&w->out, &turns}, NULL) != LW_OK)
        lw_bench_fail("%s", lw_context_message(context));
    return (lw_bench_clock(options->wall) - start) / ((double)turns * STEPS);
}

void lw_bench_seeds(const lw_bench_options *options, lw_context *context) {
    work base = make_work(context, &seeds[0]);
    uint32_t turns = options->quick ? 3 : MOST_TURNS;
    printf("\nSEED INSTRUCTIONS: rate as a part of and.b32's, in turns     10^9/s   ratio   target\n");
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        const seed *s = &seeds[i];
        work w = make_work(context, s);
        double times[MOST_TURNS], ratio[MOST_TURNS];
        for (uint32_t t = 0; t < turns; t++) {
            double one = time_step(options, context, &base);
            times[t] = time_step(options, context, &w);
            ratio[t] = one / times[t];
        }
        double rate = THREADS / lw_bench_spread_of(times, turns).median * 1e-9,
               median = lw_bench_spread_of(ratio, turns).median;
        printf("%-30s %-25s %8.2f %7.2f %8.2f  %s%s%s\n", s->spelling, s->operands, rate, median, s->target,
               median >= s->target ? "met" : "not met", s->why ? ": " : "", s->why ? s->why : "");
        lw_bench_must(lw_memory_free(context, w.out), "freeing memory");
        lw_module_free(w.module);
    }
    lw_bench_must(lw_memory_free(context, base.out), "freeing memory");
    lw_module_free(base.module);
}
