/* The results as tables for people, and as rows for programs. Both take every figure from the same places. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double INTEGER_RATIO = 0.25, FLOAT_RATIO = 0.12, REAL_RATIO = 0.10; /* of the native speed, at least */
static const double LOAD_US = 1.0;                                               /* an instruction, at most */
static const double LOAD_GROWTH =
    1.5; /* time of an instruction in the large file ÷ in the small one, at most: linear */
static const double LAUNCH_US = 10.0;      /* at most */
static const double LAUNCHES_MS = 1.0;     /* at most, of a thousand */
static const double THREADS_SPEEDUP = 1.8; /* at least */

static const char *verdict(bool met) { return met ? "met" : "not met"; }

/* ---- Figures made of several ---- */

/* Of a group's ratios; false where not all of them were run. */
static bool mean_of(const lw_bench_results *r, lw_bench_group group, double *mean) {
    double logs = 0;
    int count = 0;
    for (int i = 0; i < LW_BENCH_KERNELS; i++) {
        if (lw_bench_kernels[i].group != group) continue;
        if (!r->options->chosen[i]) return false;
        logs += log(r->speed[i].ratio.median);
        count++;
    }
    *mean = exp(logs / count);
    return true;
}
static bool integer_mean(const lw_bench_results *r, double *mean) { return mean_of(r, LW_BENCH_INTEGER, mean); }
static bool untuned_mean(const lw_bench_results *r, double *mean) { return mean_of(r, LW_BENCH_UNTUNED, mean); }

static double parse_us(const lw_bench_load *load) { return load->parse * 1e6 / load->instructions; }
static double lower_us(const lw_bench_load *load) { return load->lower * 1e6 / load->instructions; }
static double load_us(const lw_bench_load *load) { return parse_us(load) + lower_us(load); }
static double growth(const lw_bench_results *r, int i) { return load_us(&r->large[i]) / load_us(&r->load[i]); }
static double rate(const lw_bench_speed *speed, lw_bench_spread seconds) {
    return (double)speed->lane_instructions / seconds.median;
}

/* ---- For people ---- */

static void print_machine(void) {
    char line[256], *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && (name = strchr(line, ':'))) name[strcspn(name, "\n")] = 0;
    if (file) fclose(file);
    double loads[1];
    if (name) printf("machine    %s\n", name + 2);
    if (getloadavg(loads, 1) == 1) printf("load       %.1f (average of a minute)\n", loads[0]);
}

static void print_head(const lw_bench_results *r) {
    const lw_bench_options *options = r->options;
    printf("lanewise   %s, engine %s at level %s, built by %s %s\n", lw_version(), r->engine, r->cpu,
#ifdef __clang__
           "clang", __clang_version__);
#else
           "gcc", __VERSION__);
#endif
    print_machine();
    printf("clock      %s; for two threads wall time\n",
           options->wall ? "wall time"
                         : "CPU time of the one thread, so that waiting for a busy machine does not count");
    printf("rounds     %s\n\n", options->quick
                                    ? "few and short (--quick): the figures are rough"
                                    : "native and engine in turns; medians, and least to most of each pair's ratio");
}

/* Of a kernel with floating point. */
static double target_of(const lw_bench_kernel *kernel) {
    return kernel->group == LW_BENCH_FLOAT ? FLOAT_RATIO : REAL_RATIO;
}

static void print_speed(const lw_bench_results *r, int i) {
    const lw_bench_kernel *kernel = &lw_bench_kernels[i];
    const lw_bench_speed *s = &r->speed[i];
    char range[32], target[16] = "";
    snprintf(range, sizeof range, "%.3f-%.3f", s->ratio.least, s->ratio.most);
    const bool has_target = kernel->group == LW_BENCH_FLOAT || kernel->group == LW_BENCH_REAL;
    if (has_target) snprintf(target, sizeof target, "%.2f", target_of(kernel));
    printf("%-11s %-7s %12.4g %9.2f %9.2f (%s)  %7.3f  %-12s %6s  %s\n", kernel->name, r->engine,
           (double)s->lane_instructions, rate(s, s->engine) * 1e-9, rate(s, s->native) * 1e-9, s->level,
           s->ratio.median, range, target,
           has_target                        ? verdict(s->ratio.median >= target_of(kernel))
           : kernel->group == LW_BENCH_APART ? "apart: natively less work"
                                             : "");
}

static void print_speeds(const lw_bench_results *r) {
    double mean;
    printf("SPEED       engine   lane-instr.   10^9/s    native         ratio  least-most   target\n");
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (r->options->chosen[i]) print_speed(r, i);
    if (untuned_mean(r, &mean))
        printf("%-59s %8.3f\n", "geometric mean of md5, mix64, crc32, spmv, bitonic, collatz", mean);
    if (integer_mean(r, &mean))
        printf("%-59s %8.3f  %-12s %6.2f  %s\n", "geometric mean of sha256, chacha20, xorshift, bigshift", mean, "",
               INTEGER_RATIO, verdict(mean >= INTEGER_RATIO));
    else
        printf("geometric mean: not measured, as not all of sha256, chacha20, xorshift, bigshift were asked "
               "for\n");
}

static void print_load(const char *name, const lw_bench_load *load) {
    printf("%-15s %12u %13.3f %9.3f %9.3f %8.2f  %s\n", name, load->instructions, parse_us(load), lower_us(load),
           load_us(load), LOAD_US, verdict(load_us(load) <= LOAD_US));
}

static void print_loads(const lw_bench_results *r) {
    printf("\nLOAD, us an instruction      parse, verify     lower       sum   target\n");
    for (int i = 0; i < LW_BENCH_KERNELS; i++) {
        char name[32];
        if (!r->options->chosen[i]) continue;
        print_load(lw_bench_kernels[i].name, &r->load[i]);
        snprintf(name, sizeof name, "  enlarged %dx", LW_BENCH_ENLARGED);
        print_load(name, &r->large[i]);
        printf("%-53s x%6.2f %8.2f  %s\n", "  growth: enlarged / plain, 1 is linear", growth(r, i), LOAD_GROWTH,
               verdict(growth(r, i) <= LOAD_GROWTH));
    }
}

static bool compiles(const lw_bench_results *r) { return !strcmp(r->engine, "jit"); }
static double compile_ms(const lw_bench_results *r, int i) {
    return lower_us(&r->load[i]) * r->load[i].instructions * 1e-3;
}

static void print_compiles(const lw_bench_results *r) {
    printf("\nCOMPILE      instructions          ms\n");
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (r->options->chosen[i])
            printf("%-15s %9u %11.0f\n", lw_bench_kernels[i].name, r->load[i].instructions, compile_ms(r, i));
}

void lw_bench_report(const lw_bench_results *r) {
    print_head(r);
    print_speeds(r);
    if (compiles(r)) print_compiles(r);
    else print_loads(r);
    double launch = r->launch.median * 1e6;
    printf("\nEMPTY LAUNCH, us: one CTA of 32 threads %21.2f %8.1f  %s\n", launch, LAUNCH_US,
           verdict(launch <= LAUNCH_US));
    for (int i = 0; i < LW_BENCH_LAUNCHED; i++)
        printf("1,000 LAUNCHES, ms: 256 threads, %-10s %20.2f %8.1f  %s\n", lw_bench_launched(i),
               r->launches[i].median * 1e3, LAUNCHES_MS, verdict(r->launches[i].median * 1e3 <= LAUNCHES_MS));
    if (r->no_threads) printf("TWO THREADS: not measured, as %s\n", r->no_threads);
    else
        printf("TWO THREADS: speed-up of sha256, %.2f-%.2f %18.2f %8.1f  %s\n", r->threads.least, r->threads.most,
               r->threads.median, THREADS_SPEEDUP, verdict(r->threads.median >= THREADS_SPEEDUP));
}

/* ---- For programs ---- */

/* Columns that say nothing hold a dash. */
static void put_figure(FILE *to, double value) {
    if (isnan(value)) fputs("-\t", to);
    else fprintf(to, "%.6g\t", value);
}
static void put_row(FILE *to, const char *kernel, const char *engine, const char *level, const char *measure,
                    const char *unit, lw_bench_spread value) {
    fprintf(to, "%s\t%s\t%s\t%s\t%s\t", kernel, engine, level, measure, unit);
    put_figure(to, value.median);
    put_figure(to, value.least);
    put_figure(to, value.most);
}
static void put_target(FILE *to, double target, bool met) { fprintf(to, "%g\t%s\n", target, verdict(met)); }
static void put_no_target(FILE *to) { fputs("-\t-\n", to); }
static lw_bench_spread single(double value) { return (lw_bench_spread){value, NAN, NAN}; }
static lw_bench_spread scaled(lw_bench_spread s, double by) {
    return (lw_bench_spread){s.median * by, s.least * by, s.most * by};
}
static lw_bench_spread rates(const lw_bench_speed *speed, lw_bench_spread seconds) {
    double n = (double)speed->lane_instructions;
    return (lw_bench_spread){n / seconds.median, n / seconds.most, n / seconds.least};
}

static void put_speed(FILE *to, const lw_bench_results *r, int i) {
    const lw_bench_kernel *kernel = &lw_bench_kernels[i];
    const lw_bench_speed *s = &r->speed[i];
    put_row(to, kernel->name, r->engine, r->cpu, "lane_instructions", "1", single((double)s->lane_instructions));
    put_no_target(to);
    put_row(to, kernel->name, r->engine, r->cpu, "speed", "lane_instructions/s", rates(s, s->engine));
    put_no_target(to);
    put_row(to, kernel->name, "native", s->level, "speed", "lane_instructions/s", rates(s, s->native));
    put_no_target(to);
    put_row(to, kernel->name, r->engine, r->cpu, "ratio_to_native", "1", s->ratio);
    if (kernel->group == LW_BENCH_FLOAT || kernel->group == LW_BENCH_REAL)
        put_target(to, target_of(kernel), s->ratio.median >= target_of(kernel));
    else put_no_target(to);
}

static void put_load(FILE *to, const char *kernel, const char *file, const lw_bench_load *load) {
    char measure[64];
    snprintf(measure, sizeof measure, "parse_verify%s", file);
    put_row(to, kernel, "front", "-", measure, "us/instruction", single(parse_us(load)));
    put_no_target(to);
    snprintf(measure, sizeof measure, "lower%s", file);
    put_row(to, kernel, "front", "-", measure, "us/instruction", single(lower_us(load)));
    put_no_target(to);
    snprintf(measure, sizeof measure, "load%s", file);
    put_row(to, kernel, "front", "-", measure, "us/instruction", single(load_us(load)));
    put_target(to, LOAD_US, load_us(load) <= LOAD_US);
}

static void put_loads(FILE *to, const lw_bench_results *r, int i) {
    const char *kernel = lw_bench_kernels[i].name;
    if (compiles(r)) {
        put_row(to, kernel, r->engine, r->cpu, "compile", "ms", single(compile_ms(r, i)));
        put_no_target(to);
        return;
    }
    put_load(to, kernel, "", &r->load[i]);
    put_load(to, kernel, "_enlarged", &r->large[i]);
    put_row(to, kernel, "front", "-", "load_growth", "1", single(growth(r, i)));
    put_target(to, LOAD_GROWTH, growth(r, i) <= LOAD_GROWTH);
}

static void put_rest(FILE *to, const lw_bench_results *r) {
    double mean;
    if (integer_mean(r, &mean)) {
        put_row(to, "integer", r->engine, r->cpu, "ratio_to_native", "1", single(mean));
        put_target(to, INTEGER_RATIO, mean >= INTEGER_RATIO);
    }
    if (untuned_mean(r, &mean)) {
        put_row(to, "untuned", r->engine, r->cpu, "ratio_to_native", "1", single(mean));
        put_no_target(to);
    }
    put_row(to, "empty", r->engine, r->cpu, "launch", "us", scaled(r->launch, 1e6));
    put_target(to, LAUNCH_US, r->launch.median * 1e6 <= LAUNCH_US);
    for (int i = 0; i < LW_BENCH_LAUNCHED; i++) {
        put_row(to, lw_bench_launched(i), r->engine, r->cpu, "launches_1000", "ms", scaled(r->launches[i], 1e3));
        put_target(to, LAUNCHES_MS, r->launches[i].median * 1e3 <= LAUNCHES_MS);
    }
    if (r->no_threads) return;
    put_row(to, "sha256", r->engine, r->cpu, "two_threads", "1", r->threads);
    put_target(to, THREADS_SPEEDUP, r->threads.median >= THREADS_SPEEDUP);
}

void lw_bench_report_tsv(const lw_bench_results *r, FILE *to) {
    fputs("kernel\tengine\tlevel\tmeasure\tunit\tmedian\tleast\tmost\ttarget\tverdict\n", to);
    for (int i = 0; i < LW_BENCH_KERNELS; i++) {
        if (!r->options->chosen[i]) continue;
        put_speed(to, r, i);
        put_loads(to, r, i);
    }
    put_rest(to, r);
}
