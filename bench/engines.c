/* The engines against each other, and the one that chooses between them: every kernel of the benchmark, and small ones
 * of every class (ptx/classes.cu) and in blocks of several rows (ptx/tiles.cu), in turns. Results must be the same
 * words. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERP, JIT, AUTO, ENGINES, MOST_TURNS = 15, CLASS_BLOCK = 256 };
static const char *const names[ENGINES] = {"interp", "jit", "auto"};
static const double SETTLED = 0.1; /* seconds of work behind which auto has chosen: twice its trial */
static const double TARGET = 0.9;  /* of the interpreter's speed, at least */

typedef struct duel {
    double seconds[ENGINES][MOST_TURNS], ratio[ENGINES][MOST_TURNS], compile;
    uint32_t turns;
} duel;

static void print_head(const lw_bench_options *options, lw_context *const contexts[ENGINES]) {
    printf(
        "engines    interp, jit and auto, which has chosen, in turns, level %s; medians of each turn's ratio, %s\n\n",
        lw_context_cpu(contexts[0]), options->wall ? "wall time" : "CPU time of the one thread");
    printf("KERNEL        interp, ms    jit, ms  interp / jit  least-most   compile, ms   interp / auto  least-most    "
           "target %.1f of both\n",
           TARGET);
}

static void print_ratio(duel *d, int engine, int width) {
    const lw_bench_spread ratio = lw_bench_spread_of(d->ratio[engine], d->turns);
    char range[32];
    snprintf(range, sizeof range, "%.2f-%.2f", ratio.least, ratio.most);
    printf("  %*.2f  %-12s", width, ratio.median, range);
}

static bool is_met(duel *d, int engine) { return lw_bench_spread_of(d->ratio[engine], d->turns).median >= TARGET; }

static void print_duel(const char *name, duel *d) {
    printf("%-13s %10.3f %10.3f", name, lw_bench_spread_of(d->seconds[INTERP], d->turns).median * 1e3,
           lw_bench_spread_of(d->seconds[JIT], d->turns).median * 1e3);
    print_ratio(d, JIT, 12);
    printf(" %10.0f ", d->compile * 1e3);
    print_ratio(d, AUTO, 14);
    printf("  %s, %s\n", is_met(d, JIT) ? "met" : "not met", is_met(d, AUTO) ? "met" : "not met");
}

static void take_turn(duel *d, uint32_t turn, const double seconds[ENGINES]) {
    for (int k = 0; k < ENGINES; k++)
        d->seconds[k][turn] = seconds[k], d->ratio[k][turn] = seconds[INTERP] / seconds[k];
}

/* ---- Kernels of the benchmark ---- */

static void begin_work(const lw_bench_options *options, lw_bench_work *work, const lw_bench_kernel *kernel,
                       lw_context *context, const char *text, size_t size) {
    const uint32_t count = kernel->group == LW_BENCH_FLOAT ? 64 : 1024;
    lw_bench_work_new(work, kernel, lw_bench_native(lw_context_cpu(context)), context, text, size, count);
    if (!kernel->rounds) lw_bench_work_rounds(work, options->quick ? 4 : 32);
}

/* Also warms it up. */
static void check_work(const lw_bench_work *work) {
    lw_bench_spoil(work);
    lw_bench_run_native(work);
    lw_bench_run_engine(work);
    lw_bench_compare(work);
}

/* The first launch is compiled for. */
static double time_work(const lw_bench_options *options, const lw_bench_work *work) {
    const double start = lw_bench_clock(options->wall);
    lw_bench_run_engine(work);
    return lw_bench_clock(options->wall) - start;
}

static void run_kernel(const lw_bench_options *options, const lw_bench_kernel *kernel,
                       lw_context *const contexts[ENGINES]) {
    size_t size;
    char *text = lw_bench_read(options->examples, kernel, &size);
    lw_bench_work works[ENGINES];
    duel d = {.turns = options->quick ? 3 : 9};
    for (int k = 0; k < ENGINES; k++) {
        begin_work(options, &works[k], kernel, contexts[k], text, size);
        const double first = time_work(options, &works[k]);
        if (k == JIT) d.compile = first - time_work(options, &works[k]);
        check_work(&works[k]);
    }
    for (const double start = lw_bench_clock(options->wall); lw_bench_clock(options->wall) - start < SETTLED;)
        lw_bench_run_engine(&works[AUTO]);
    for (uint32_t turn = 0; turn < d.turns; turn++) {
        double seconds[ENGINES];
        for (int k = 0; k < ENGINES; k++) seconds[k] = time_work(options, &works[k]);
        take_turn(&d, turn, seconds);
    }
    for (int k = 0; k < ENGINES; k++) lw_bench_work_free(&works[k]);
    free(text);
    print_duel(kernel->name, &d);
}

/* ---- Kernels of every class ---- */

typedef struct side {
    lw_context *context;
    lw_module *module;
    uint64_t to, from;
} side;

/* A thread for each word, in blocks of one row or of the shape that the kernel's name ends with. */
static lw_launch_config config_of(const char *name, uint32_t width) {
    const char *shape = strrchr(name, '_');
    uint32_t x, y;
    if (!shape || sscanf(shape, "_%" SCNu32 "x%" SCNu32, &x, &y) != 2)
        return (lw_launch_config){.grid = {width * width / CLASS_BLOCK, 1, 1}, .block = {CLASS_BLOCK, 1, 1}};
    return (lw_launch_config){.grid = {width / x, width / y, 1}, .block = {x, y, 1}};
}

static double launch(const lw_bench_options *options, const side *s, lw_kernel *kernel, const char *name,
                     uint32_t width) {
    const lw_launch_config config = config_of(name, width);
    uint64_t to = s->to, from = s->from;
    double start = lw_bench_clock(options->wall);
    if (lw_launch(kernel, &config, (void *[]){&to, &from, &width}, NULL) != LW_OK)
        lw_bench_fail("%s: %s", name, lw_context_message(s->context));
    return lw_bench_clock(options->wall) - start;
}

static void compare(const side sides[ENGINES], const char *name, uint32_t words) {
    uint32_t *got[ENGINES];
    for (int k = 0; k < ENGINES; k++) {
        got[k] = lw_bench_allocate(4 * words);
        lw_bench_must(lw_memory_read(sides[k].context, sides[k].to, got[k], 4 * words), "reading an output");
    }
    for (int k = 1; k < ENGINES; k++)
        for (uint32_t i = 0; i < words; i++)
            if (got[0][i] != got[k][i])
                lw_bench_fail("%s: the results differ: word %u is %08x by the interpreter, %08x by %s", name, i,
                              got[0][i], got[k][i], names[k]);
    for (int k = 0; k < ENGINES; k++) free(got[k]);
}

static void run_class(const lw_bench_options *options, const side sides[ENGINES], const char *name, uint32_t width) {
    lw_kernel *kernels[ENGINES];
    duel d = {.turns = options->quick ? 3 : 9};
    for (int k = 0; k < ENGINES; k++) {
        double start = lw_bench_clock(options->wall);
        lw_bench_must(lw_module_kernel(sides[k].module, name, &kernels[k]), name);
        lw_bench_must(lw_memory_fill(sides[k].context, sides[k].to, 0xa5, 1, 4 * width * width), "spoiling an output");
        launch(options, &sides[k], kernels[k], name, width);
        const double first = lw_bench_clock(options->wall) - start;
        if (k == JIT) d.compile = first - launch(options, &sides[k], kernels[k], name, width);
    }
    for (double spent = 0; spent < SETTLED;) spent += launch(options, &sides[AUTO], kernels[AUTO], name, width);
    compare(sides, name, width * width);
    for (uint32_t turn = 0; turn < d.turns; turn++) {
        double seconds[ENGINES];
        for (int k = 0; k < ENGINES; k++) seconds[k] = launch(options, &sides[k], kernels[k], name, width);
        take_turn(&d, turn, seconds);
    }
    print_duel(name, &d);
}

static side begin_side(lw_context *context, const char *text, size_t size, uint32_t words) {
    side s = {.context = context};
    uint32_t *noise = lw_bench_allocate(4 * words), state = 1;
    for (uint32_t i = 0; i < words; i++) state = state * 1664525 + 1013904223, noise[i] = state ^ state >> 15;
    if (lw_module_new(context, "kernels", text, size, &s.module) != LW_OK)
        lw_bench_fail("%s", lw_module_diagnostics(s.module, false));
    lw_bench_must(lw_memory_new(context, 4 * words, &s.to), "memory for an output");
    lw_bench_must(lw_memory_new(context, 4 * words, &s.from), "memory for an input");
    lw_bench_must(lw_memory_write(context, s.from, noise, 4 * words), "writing an input");
    free(noise);
    return s;
}

/* The kernels in the order of the text. */
static void run_classes(const lw_bench_options *options, lw_context *const contexts[ENGINES], const char *name) {
    const uint32_t width = options->quick ? 64 : 256;
    size_t size;
    char *text = lw_bench_read(options->examples, &(lw_bench_kernel){.name = name, .group = LW_BENCH_REAL}, &size);
    side sides[ENGINES];
    for (int k = 0; k < ENGINES; k++) sides[k] = begin_side(contexts[k], text, size, width * width);
    for (uint32_t i = 0; i < lw_module_kernel_count(sides[0].module); i++)
        run_class(options, sides, lw_module_kernel_name(sides[0].module, i), width);
    for (int k = 0; k < ENGINES; k++) lw_module_free(sides[k].module);
    free(text);
}

void lw_bench_engines(const lw_bench_options *options) {
    setenv("LANEWISE_HOT", "0", 1); /* auto compiles at the first launch, and then chooses */
    lw_context *contexts[ENGINES];
    for (int k = 0; k < ENGINES; k++) {
        lw_bench_options chosen = *options;
        chosen.engine = names[k];
        contexts[k] = lw_bench_context(&chosen, 1);
    }
    print_head(options, contexts);
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (options->chosen[i]) run_kernel(options, &lw_bench_kernels[i], contexts);
    if (options->all) run_classes(options, contexts, "classes"), run_classes(options, contexts, "tiles");
    for (int k = 0; k < ENGINES; k++) lw_context_free(contexts[k]);
}
