/* lanewise_bench: the options, and the flow of one run. Ends with 0 if all results were equal, whatever the
 * figures; with 1 if a result differs, something failed or, of the growths, missed its bound; with 2 on wrong usage, as
 * the command line tool does. */
#include "bench.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77 };

enum {
    QUICK = 'q',
    KERNEL = 'k',
    CPU = 'c',
    TSV = 't',
    CLOCK = 'C',
    EXAMPLES = 'e',
    SEEDS = 's',
    VECTOR = 'v',
    ENGINE = 'E',
    GROWTH = 'g',
    ONLY = 'o',
    LEAST = 'l',
    ROUNDING = 'r',
    BOTH = 'b',
    DRIVER = 'd',
    MODULE = 'm',
    POCL = 'p'
};

static const struct argp_option OPTIONS[] = {
    {"quick", QUICK, NULL, 0, "Few and short rounds, a few seconds in all", 0},
    {"kernel", KERNEL, "NAME", 0, "This kernel only; may be given several times", 0},
    {"seeds", SEEDS, NULL, 0, "Only the loops of the seed instructions: logic, shifts, shuffles", 0},
    {"vector", VECTOR, NULL, 0, "Only vector registers: pto.vshr, and loading PTO text", 0},
    {"rounding", ROUNDING, NULL, 0, "Only floating point in other roundings than to nearest", 0},
    {"engines", BOTH, NULL, 0,
     "Only the compiler and auto against the interpreter: the kernels of the benchmark, or those chosen, and small "
     "ones of "
     "every "
     "class",
     0},
    {"pocl", POCL, NULL, 0,
     "Only the engines against PoCL on the same kernels in OpenCL C; ends with 77 where it is not installed", 0},
    {"driver", DRIVER, NULL, 0, "Only calls of the CUDA driver: launches, graphs, copies, loading", 0},
    {"module", MODULE, "FILE", 0, "With --driver: the module that is loaded", 0},
    {"growth", GROWTH, NULL, 0,
     "Only what twice as much of one thing costs; ends with 1 if anything grows faster than it may", 0},
    {"only", ONLY, "TEXT", 0, "Of the growths only those that have TEXT in 'ptx NAME: WHAT'", 0},
    {"least", LEAST, "MS", 0,
     "Of the growths: the milliseconds that the smallest size should take; default: 20, with --quick 5", 0},
    {"cpu", CPU, "LEVEL", 0, "CPU level of both sides: v4, v3, portable; default: LANEWISE_CPU, or the best there is",
     0},
    {"engine", ENGINE, "NAME", 0, "interp, jit or auto; default: LANEWISE_ENGINE, or interp. --vector has both", 0},
    {"tsv", TSV, "FILE", 0, "Write the figures to FILE too, one to a row", 0},
    {"clock", CLOCK, "KIND", 0, "cpu (default) or wall: the clock of all figures of one thread", 0},
    {"examples", EXAMPLES, "FOLDER", 0, "Where the kernels' PTX is", 0},
    {0},
};

static void choose(lw_bench_options *options, const char *name, struct argp_state *state) {
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (!strcmp(name, lw_bench_kernels[i].name)) {
            options->chosen[i] = true;
            return;
        }
    char names[256] = "";
    for (int i = 0; i < LW_BENCH_KERNELS; i++) {
        strcat(names, i ? " " : "");
        strcat(names, lw_bench_kernels[i].name);
    }
    argp_error(state, "no kernel is called '%s'; there are %s", name, names);
}

static error_t read_option(int key, char *value, struct argp_state *state) {
    lw_bench_options *options = state->input;
    switch (key) {
    case QUICK: options->quick = true; return 0;
    case VECTOR: options->vector = true; return 0;
    case SEEDS: options->seeds = true; return 0;
    case ROUNDING: options->rounding = true; return 0;
    case GROWTH: options->growth = true; return 0;
    case DRIVER: options->driver = true; return 0;
    case MODULE: options->module = value; return 0;
    case POCL: options->pocl = true; return 0;
    case BOTH: options->engines = true; return 0;
    case ONLY: options->only = value; return 0;
    case LEAST: options->least = atof(value) * 1e-3; return 0;
    case KERNEL: choose(options, value, state); return 0;
    case CPU: options->cpu = value; return 0;
    case ENGINE: options->engine = value; return 0;
    case TSV: options->tsv = value; return 0;
    case EXAMPLES: options->examples = value; return 0;
    case CLOCK:
        options->wall = !strcmp(value, "wall");
        if (!options->wall && strcmp(value, "cpu")) argp_error(state, "the clock is 'cpu' or 'wall', not '%s'", value);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "what is '%s'?", value); return EINVAL;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static lw_bench_options read_options(int argc, char **argv) {
    lw_bench_options options = {.examples = LW_EXAMPLES};
    static const struct argp parser = {
        OPTIONS,
        read_option,
        NULL,
        "Compares the engines of Lanewise with hand-written vector C on the kernels of examples/ and bench/ptx/, and "
        "times loading and launching.",
        NULL,
        NULL,
        NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    bool any = false;
    for (int i = 0; i < LW_BENCH_KERNELS; i++) any |= options.chosen[i];
    options.all = !any;
    setenv("LANEWISE_CACHE", "off", 1); /* what compiling costs is measured, too */
    if (!options.engine && !getenv("LANEWISE_ENGINE")) options.engine = "interp"; /* who changes over is hard to time */
    for (int i = 0; i < LW_BENCH_KERNELS; i++) options.chosen[i] |= !any;
    return options;
}

static void run_kernel(lw_bench_results *r, int i, lw_context *context) {
    const lw_bench_kernel *kernel = &lw_bench_kernels[i];
    const lw_bench_options *options = r->options;
    size_t size, large_size;
    char *text = lw_bench_read(options->examples, kernel, &size);
    large_size = size;
    char *large = lw_bench_enlarge(text, kernel->name, LW_BENCH_ENLARGED, &large_size);
    if (isatty(STDERR_FILENO)) fprintf(stderr, "%s …\n", kernel->name);
    r->speed[i] = lw_bench_measure(options, kernel, context, text, size);
    r->load[i] = lw_bench_measure_load(options, context, kernel->name, text, size);
    if (!strcmp(r->engine, "interp"))
        r->large[i] = lw_bench_measure_load(options, context, kernel->name, large, large_size);
    free(text);
    free(large);
}

static void run_threads(lw_bench_results *r) {
    const lw_bench_kernel *kernel = &lw_bench_kernels[0]; /* sha256 */
    if (!r->options->chosen[0]) r->no_threads = "sha256 was not asked for";
    else if (sysconf(_SC_NPROCESSORS_ONLN) < 2) r->no_threads = "the machine has one CPU";
    if (r->no_threads) return;
    size_t size;
    char *text = lw_bench_read(r->options->examples, kernel, &size);
    r->threads = lw_bench_measure_threads(r->options, kernel, text, size);
    free(text);
}

/* Before the work, not after it. */
static FILE *open_tsv(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) lw_bench_fail("%s: %s", path, strerror(errno));
    return file;
}

static void close_file(FILE *file, const char *name) {
    bool failed = ferror(file);
    if (fclose(file) || failed) lw_bench_fail("%s: not written in full: %s", name, strerror(errno));
}

int main(int argc, char **argv) {
    argp_err_exit_status = 2;
    lw_bench_options options = read_options(argc, argv);
    lw_bench_results results = {.options = &options};
    FILE *tsv = options.tsv ? open_tsv(options.tsv) : NULL;
    if (options.driver) {
        lw_bench_driver(&options);
        return 0;
    }
    if (options.growth) {
        const lw_growth_verdict verdict = lw_bench_growth(&options, tsv);
        if (tsv) close_file(tsv, options.tsv);
        close_file(stdout, "the standard output");
        return (int)verdict;
    }
    if (options.pocl) {
        const bool is_here = lw_bench_pocl(&options);
        close_file(stdout, "the standard output");
        return is_here ? 0 : SKIPPED;
    }
    if (options.engines) {
        lw_bench_engines(&options);
        close_file(stdout, "the standard output");
        return 0;
    }
    lw_context *context = lw_bench_context(&options, 1);
    results.cpu = lw_context_cpu(context);
    results.engine = lw_context_engine(context);
    if (options.seeds || options.vector || options.rounding) {
        if (options.seeds) lw_bench_seeds(&options, context);
        else if (options.rounding) lw_bench_rounding(&options, context);
        else lw_bench_vector(&options);
        close_file(stdout, "the standard output");
        lw_context_free(context);
        return 0;
    }
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (options.chosen[i]) run_kernel(&results, i, context);
    results.launch = lw_bench_measure_launch(&options, context);
    lw_bench_measure_launches(&options, context, results.launches);
    run_threads(&results);
    lw_bench_report(&results);
    if (tsv) {
        lw_bench_report_tsv(&results, tsv);
        close_file(tsv, options.tsv);
    }
    close_file(stdout, "the standard output");
    lw_context_free(context);
    return 0;
}
