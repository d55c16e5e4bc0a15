/* The measurements. Both sides run in turns in one process, so that whatever else the machine does hits
 * both. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_PAIRS = 15 };

double lw_bench_clock(bool wall) {
    struct timespec now;
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

lw_bench_spread lw_bench_spread_of(double *times, uint32_t count) {
    qsort(times, count, sizeof *times, compare);
    return (lw_bench_spread){
        .median = (times[(count - 1) / 2] + times[count / 2]) / 2, .least = times[0], .most = times[count - 1]};
}

/* ---- The two sides ---- */

lw_context *lw_bench_context(const lw_bench_options *options, uint32_t threads) {
    lw_context *context;
    lw_status status =
        lw_context_new(&(lw_options){.threads = threads, .cpu = options->cpu, .engine = options->engine}, &context);
    if (status == LW_OK) return context;
    fprintf(stderr, "lanewise_bench: no context at level %s with engine %s: %s; levels built in and on this CPU:",
            options->cpu ? options->cpu : "of LANEWISE_CPU", options->engine ? options->engine : "of LANEWISE_ENGINE",
            lw_status_name(status));
    for (const char *const *level = lw_cpu_levels(); *level; level++)
        if (lw_cpu_has(*level)) fprintf(stderr, " %s", *level);
    fputc('\n', stderr);
    exit(1);
}

/* On x86-64 the native kernels have no portable level; the lowest one stands for it. */
const lw_native *lw_bench_native(const char *level) {
    const lw_native *native = lw_native_find(level);
    if (!native && !strcmp(level, "portable")) native = lw_native_find("v2");
    if (!native) lw_bench_fail("the native kernels have no level %s that this CPU can run", level);
    return native;
}

/* ---- Speed ---- */

static double time_native(const lw_bench_work *work, bool wall) {
    double start = lw_bench_clock(wall);
    lw_bench_run_native(work);
    return lw_bench_clock(wall) - start;
}

static double time_engine(const lw_bench_work *work, bool wall, uint64_t *lane_instructions) {
    double start = lw_bench_clock(wall);
    *lane_instructions = lw_bench_run_engine(work).lane_instructions;
    return lw_bench_clock(wall) - start;
}

/* As many rounds as the native side needs for `seconds`. */
static void find_rounds(lw_bench_work *work, double seconds) {
    enum { MOST_ROUNDS = 1 << 28 };
    if (work->kernel->rounds) return;
    for (uint32_t rounds = 1;;) {
        lw_bench_work_rounds(work, rounds);
        double took = time_native(work, false), factor = took > 0 ? 1.1 * seconds / took : 10;
        if (took >= seconds || rounds >= MOST_ROUNDS / 10) return;
        rounds = (uint32_t)(rounds * (factor > 10 ? 10 : factor)) + 1;
    }
}

/* Also warms both sides up. */
static void check_same(const lw_bench_work *work) {
    lw_bench_spoil(work);
    lw_bench_run_native(work);
    lw_bench_run_engine(work);
    lw_bench_compare(work);
}

static uint32_t size_of(const lw_bench_options *options, const lw_bench_kernel *kernel) {
    if (kernel->group == LW_BENCH_FLOAT) return options->quick ? 128 : 512;
    return options->quick ? 1024 : 4096;
}

lw_bench_speed lw_bench_measure(const lw_bench_options *options, const lw_bench_kernel *kernel, lw_context *context,
                                const char *text, size_t size) {
    double native[MOST_PAIRS], engine[MOST_PAIRS], ratio[MOST_PAIRS];
    lw_bench_work work;
    lw_bench_work_new(&work, kernel, lw_bench_native(lw_context_cpu(context)), context, text, size,
                      size_of(options, kernel));
    find_rounds(&work, options->quick ? 0.5e-3 : 10e-3);
    check_same(&work);
    lw_bench_speed speed = {
        .level = work.native->level, .count = work.count, .rounds = work.rounds, .pairs = options->quick ? 3 : 11};
    for (uint32_t i = 0; i < speed.pairs; i++) {
        native[i] = time_native(&work, options->wall);
        engine[i] = time_engine(&work, options->wall, &speed.lane_instructions);
        ratio[i] = native[i] / engine[i];
    }
    lw_bench_compare(&work);
    lw_bench_work_free(&work);
    speed.native = lw_bench_spread_of(native, speed.pairs);
    speed.engine = lw_bench_spread_of(engine, speed.pairs);
    speed.ratio = lw_bench_spread_of(ratio, speed.pairs);
    return speed;
}

lw_kernel *lw_bench_only_kernel(lw_context *context, const char *name, const char *text, size_t size,
                                lw_module **module) {
    lw_kernel *kernel;
    if (lw_module_new(context, name, text, size, module) != LW_OK || lw_module_kernel(*module, NULL, &kernel) != LW_OK)
        lw_bench_fail("%s: %s", name, *module ? lw_module_diagnostics(*module, false) : lw_context_message(context));
    return kernel;
}

/* ---- An empty launch ---- */

lw_bench_spread lw_bench_measure_launch(const lw_bench_options *options, lw_context *context) {
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";
    enum { MOST = 2000, BATCH = 10 }; /* reading the clock takes about a tenth of a launch */
    static double times[MOST];
    lw_module *module;
    lw_kernel *kernel = lw_bench_only_kernel(context, "empty", text, strlen(text), &module);
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint32_t count = options->quick ? MOST / 20 : MOST;
    for (uint32_t i = 0; i < count; i++) {
        double start = lw_bench_clock(options->wall);
        for (int k = 0; k < BATCH; k++)
            if (lw_launch(kernel, &config, NULL, NULL) != LW_OK)
                lw_bench_fail("the empty launch: %s", lw_context_message(context));
        times[i] = (lw_bench_clock(options->wall) - start) / BATCH;
    }
    lw_module_free(module);
    return lw_bench_spread_of(times, count);
}

/* ---- Two threads ---- */

lw_bench_spread lw_bench_measure_threads(const lw_bench_options *options, const lw_bench_kernel *kernel,
                                         const char *text, size_t size) {
    double ratio[MOST_PAIRS];
    uint32_t pairs = options->quick ? 3 : 11;
    lw_context *contexts[2];
    lw_bench_work works[2];
    for (uint32_t i = 0; i < 2; i++) {
        contexts[i] = lw_bench_context(options, i + 1);
        lw_bench_work_new(&works[i], kernel, lw_bench_native(lw_context_cpu(contexts[i])), contexts[i], text, size,
                          options->quick ? 4096 : 16384);
        if (i == 0) find_rounds(&works[0], options->quick ? 1e-3 : 25e-3);
        lw_bench_work_rounds(&works[i], works[0].rounds);
        check_same(&works[i]);
    }
    for (uint32_t i = 0; i < pairs; i++) {
        uint64_t lane_instructions;
        double one = time_engine(&works[0], true, &lane_instructions);
        ratio[i] = one / time_engine(&works[1], true, &lane_instructions);
    }
    for (uint32_t i = 0; i < 2; i++) {
        lw_bench_compare(&works[i]);
        lw_bench_work_free(&works[i]);
        lw_context_free(contexts[i]);
    }
    return lw_bench_spread_of(ratio, pairs);
}
