/* The benchmark of the engines against the native kernels, in the order of its work:
 *
 *     kernels.c   what each kernel works on, in both engines      front.c    time to load a file
 *     measure.c   clocks, interleaved runs, launches, threads     report.c   the tables
 *     seeds.c     loops of single instructions              vector.c   vector registers of PTO
 *     growth.c    what twice as much of one thing costs     rounding.c   roundings of floating point
 *     driver.c    calls of the CUDA driver
 *     engines.c   the compiler and auto against the interpreter     launches.c  a thousand small launches
 *     main.c      options; the whole flow */
#ifndef LW_BENCH_BENCH_H
#define LW_BENCH_BENCH_H

#include "native.h"
#include <lanewise/lanewise.h>
#include <stdio.h>

enum { LW_BENCH_KERNELS = 19, LW_BENCH_BUFFERS = 5, LW_BENCH_SCALARS = 6, LW_BENCH_ENLARGED = 20 };

/* Prints one line after the program's name and ends it with status 1. */
/* Ends the program where a call failed that cannot. */
void lw_bench_must(lw_status status, const char *what);
_Noreturn void lw_bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *lw_bench_allocate(size_t bytes);

typedef struct lw_bench_options {
    const char *cpu;      /* CPU level of both sides; NULL: as lw_options has it */
    const char *engine;   /* likewise */
    const char *examples; /* the folder of the PTX files of the demo's kernels */
    const char *tsv;
    const char *only;   /* of the growths: those that have this in their names */
    double least;       /* … and the seconds that the smallest of each should take; 0: the usual */
    const char *module; /* of --driver */
    bool driver;
    bool quick, wall, seeds, vector, rounding, growth, engines, pocl, chosen[LW_BENCH_KERNELS], all;
} lw_bench_options;

typedef struct lw_bench_spread {
    double median, least, most;
} lw_bench_spread;

/* ---- kernels.c ---- */

/* UNTUNED: no part of Lanewise was made with it in view. REAL: as little, with floating point. */
typedef enum lw_bench_group {
    LW_BENCH_INTEGER,
    LW_BENCH_FLOAT,
    LW_BENCH_APART,
    LW_BENCH_UNTUNED,
    LW_BENCH_REAL
} lw_bench_group;

typedef struct lw_bench_work lw_bench_work;

/* Buffers are parameters in order, the scalars follow them. */
typedef struct lw_bench_buffer {
    bool out;
    uint32_t each, per_cta, fixed; /* words in all: each · count + per_cta · CTAs + fixed */
    uint32_t mask;                 /* kept of the noise that fills an input; 0: all */
} lw_bench_buffer;

typedef struct lw_bench_kernel {
    const char *name;
    lw_bench_group group;
    uint32_t block[2];
    uint32_t rounds; /* of every size; 0: as many as the time asks for */
    lw_bench_buffer buffers[LW_BENCH_BUFFERS];
    void (*scalars)(lw_bench_work *work);
    void (*native)(const lw_native *native, const lw_bench_work *work);
    void (*fill)(lw_bench_work *work); /* inputs that are no noise, or NULL */
    float apart;                       /* how far outputs may be, of 1 and of the number; 0: they are the same words */
} lw_bench_kernel;

extern const lw_bench_kernel lw_bench_kernels[LW_BENCH_KERNELS];

/* One kernel with inputs and two sets of outputs. */
struct lw_bench_work {
    const lw_bench_kernel *kernel;
    const lw_native *native;
    lw_context *context;
    lw_module *module;
    lw_kernel *program;
    lw_launch_config config;
    uint32_t count, rounds; /* items, or the side of the picture */
    size_t words[LW_BENCH_BUFFERS];
    uint32_t *host[LW_BENCH_BUFFERS];
    uint64_t device[LW_BENCH_BUFFERS];
    uint32_t scalars[LW_BENCH_SCALARS]; /* u32 and the bits of f32 */
    void *params[LW_BENCH_BUFFERS + LW_BENCH_SCALARS];
};

void lw_bench_work_new(lw_bench_work *work, const lw_bench_kernel *kernel, const lw_native *native, lw_context *context,
                       const char *text, size_t size, uint32_t count);
void lw_bench_work_free(lw_bench_work *work);
void lw_bench_work_rounds(lw_bench_work *work, uint32_t rounds);
void lw_bench_run_native(const lw_bench_work *work);
lw_launch_stats lw_bench_run_engine(const lw_bench_work *work);
/* Spoils the outputs of both sides, so that a word that nobody writes differs. */
void lw_bench_spoil(const lw_bench_work *work);
/* Ends the program with status 1 at the first word that differs. */
void lw_bench_compare(const lw_bench_work *work);
/* A file in memory, to be freed. */
char *lw_bench_read(const char *examples, const lw_bench_kernel *kernel, size_t *size);
char *lw_bench_read_path(const char *path, size_t *size);

/* ---- measure.c ---- */

double lw_bench_clock(bool wall);
/* Sorts the times. */
lw_bench_spread lw_bench_spread_of(double *times, uint32_t count);

typedef struct lw_bench_speed {
    const char *level; /* of the native side */
    uint32_t count, rounds, pairs;
    uint64_t lane_instructions;
    lw_bench_spread native, engine; /* seconds */
    lw_bench_spread ratio;          /* native time ÷ engine time, of each pair */
} lw_bench_speed;

/* The only kernel of a text, or the end of the program with what is wrong. The caller ends the module. */
lw_kernel *lw_bench_only_kernel(lw_context *context, const char *name, const char *text, size_t size,
                                lw_module **module);
lw_context *lw_bench_context(const lw_bench_options *options, uint32_t threads);
const lw_native *lw_bench_native(const char *level);
lw_bench_speed lw_bench_measure(const lw_bench_options *options, const lw_bench_kernel *kernel, lw_context *context,
                                const char *text, size_t size);
/* Seconds of one launch of an empty kernel, one CTA of 32 threads. */
lw_bench_spread lw_bench_measure_launch(const lw_bench_options *options, lw_context *context);
/* Wall time with one thread ÷ wall time with two, of each pair. */
lw_bench_spread lw_bench_measure_threads(const lw_bench_options *options, const lw_bench_kernel *kernel,
                                         const char *text, size_t size);

/* ---- launches.c ---- */

enum { LW_BENCH_LAUNCHED = 3 };
const char *lw_bench_launched(int number);
/* Seconds of a thousand launches of each of the kernels with little work, of 256 threads. Ends the program with status
 * 1 where results differ. */
void lw_bench_measure_launches(const lw_bench_options *options, lw_context *context,
                               lw_bench_spread seconds[LW_BENCH_LAUNCHED]);

/* ---- front.c ---- */

typedef struct lw_bench_load {
    uint32_t instructions;
    double parse, lower; /* median seconds of lw_module_new and of lw_module_kernel */
} lw_bench_load;

/* Has a kernel compiled for blocks of one row, by a launch that ends at once. */
void lw_bench_compile(lw_context *context, lw_kernel *kernel, uint32_t block);
lw_bench_load lw_bench_measure_load(const lw_bench_options *options, lw_context *context, const char *name,
                                    const char *text, size_t size);
/* The same kernel with its body `times` times, each in a scope of its own; to be freed. */
char *lw_bench_enlarge(const char *text, const char *kernel, uint32_t times, size_t *size);

/* ---- seeds.c ---- */

/* Measures and prints the loops of the seed instructions. */
void lw_bench_seeds(const lw_bench_options *options, lw_context *context);

/* ---- rounding.c ---- */

/* Measures and prints what floating point costs in other roundings than to nearest. */
void lw_bench_rounding(const lw_bench_options *options, lw_context *context);

/* ---- engines.c ---- */

/* Measures and prints the compiler against the interpreter, on the chosen kernels and, where those are all, on small
 * ones of every class. Ends the program with status 1 where results differ. */
void lw_bench_engines(const lw_bench_options *options);

/* ---- pocl.c ---- */

/* Measures and prints the engines against PoCL, which compiles the same kernels from OpenCL C. False: it is not here.
 */
bool lw_bench_pocl(const lw_bench_options *options);

/* ---- vector.c ---- */

/* Measures and prints pto.vshr and the loading of PTO text. */
void lw_bench_vector(const lw_bench_options *options); /* both engines */

/* ---- driver.c ---- */

void lw_bench_driver(const lw_bench_options *options);

/* ---- growth.c ---- */

/* Exit codes. */
typedef enum lw_growth_verdict { LW_GROWTH_MET, LW_GROWTH_MISSED, LW_GROWTH_NONE } lw_growth_verdict;

/* Measures and prints how time grows with what texts and launches control. MISSED: somewhere faster than it may; NONE:
 * --only leaves nothing to measure, which it has reported. `tsv`: rows for programs, or NULL. */
lw_growth_verdict lw_bench_growth(const lw_bench_options *options, FILE *tsv);

/* ---- report.c ---- */

typedef struct lw_bench_results {
    const lw_bench_options *options;
    const char *cpu, *engine;
    lw_bench_speed speed[LW_BENCH_KERNELS];
    lw_bench_load load[LW_BENCH_KERNELS], large[LW_BENCH_KERNELS];
    lw_bench_spread launch, launches[LW_BENCH_LAUNCHED];
    lw_bench_spread threads;
    const char *no_threads; /* why there is no figure, or NULL */
} lw_bench_results;

void lw_bench_report(const lw_bench_results *results);
void lw_bench_report_tsv(const lw_bench_results *results, FILE *to);

#endif
