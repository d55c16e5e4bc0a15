/* pocl.c: the interpreter and the compiler against PoCL, which compiles the same kernels from OpenCL C
 * (opencl/NAME.cl), two or more of each class, in turns in one thread. Results must be equal. */
#include "bench.h"
#include "opencl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERP, JIT, ENGINES, MOST_TURNS = 15, BLOCK = 256, LAUNCHES = 1000 };
static const char *const engines[ENGINES] = {"interp", "jit"};

typedef enum lw_class { INTEGER, STREAMING, DIVERGENT, SHUFFLE, SHARED, IRREGULAR, SMALL, CLASSES } lw_class;
static const struct {
    const char *name;
    double must[ENGINES]; /* PoCL's time by ours, geometric mean */
} classes[CLASSES] = {
    {"integer", {0.5, 1.5}},        {"streaming", {0.5, 0.9}},        {"divergent", {1.0, 1.5}},
    {"shuffle", {0.5, 1.2}},        {"shared, barriers", {0.5, 1.2}}, {"irregular", {0.5, 1.2}},
    {"1,000 launches", {0.5, 1.5}},
};

/* FILE has the kernel; without one it is a kernel of the benchmark, in a file of its own. */
static const struct {
    const char *file, *name;
    lw_class class;
    float apart;
} kernels[] = {
    {NULL, "xorshift", INTEGER, 0},       {NULL, "md5", INTEGER, 0},
    {NULL, "mix64", INTEGER, 0},          {NULL, "crc32", INTEGER, 0},
    {"classes", "congruent", INTEGER, 0}, {NULL, "saxpy", STREAMING, 0},
    {"classes", "copy", STREAMING, 0},    {"classes", "normalise", STREAMING, 1e-5f},
    {"classes", "stencil", STREAMING, 0}, {"classes", "transpose", STREAMING, 0},
    {NULL, "collatz", DIVERGENT, 0},      {"classes", "julia", DIVERGENT, 0},
    {"classes", "gcd", DIVERGENT, 0},     {"classes", "runs", DIVERGENT, 0},
    {"classes", "warp_sum", SHUFFLE, 0},  {"classes", "warp_scan", SHUFFLE, 0},
    {"classes", "butterfly", SHUFFLE, 0}, {NULL, "bitonic", SHARED, 0},
    {NULL, "sgemm", SHARED, 0},           {"classes", "block_scan", SHARED, 0},
    {"classes", "block_sum", SHARED, 0},  {"classes", "histogram", SHARED, 0},
    {"classes", "life", SHARED, 0},       {NULL, "spmv", IRREGULAR, 0},
    {"classes", "chase", IRREGULAR, 0},   {"classes", "table", IRREGULAR, 0},
    {"launches", "nothing", SMALL, 0},    {"launches", "element", SMALL, 0},
    {"launches", "turn", SMALL, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, MOST_BUFFERS = LW_BENCH_BUFFERS, MOST_SCALARS = 2 };

/* ---- One kernel on all sides --------------------------------------------------------------------------------- */

typedef struct contest {
    const char *name;
    uint32_t threads, block, launches, turns;
    uint32_t buffers, out, scalars, values[MOST_SCALARS];
    uint32_t *words[MOST_BUFFERS]; /* as they are in the beginning */
    size_t bytes[MOST_BUFFERS];
    lw_module *modules[ENGINES];
    lw_kernel *kernels[ENGINES];
    lw_context *contexts[ENGINES];
    uint64_t device[ENGINES][MOST_BUFFERS];
    cl_program program;
    cl_kernel kernel;
    cl_mem memory[MOST_BUFFERS];
    double seconds[ENGINES + 1][MOST_TURNS], ratio[ENGINES][MOST_TURNS];
} contest;

/* Of all threads, as PoCL may have some. */
static double clock_of(const lw_bench_options *options) {
    struct timespec now;
    clock_gettime(options->wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_engine(const contest *c, int engine) {
    const lw_launch_config config = {.grid = {c->threads / c->block, 1, 1}, .block = {c->block, 1, 1}};
    void *params[MOST_BUFFERS + MOST_SCALARS];
    uint64_t device[MOST_BUFFERS];
    uint32_t values[MOST_SCALARS];
    memcpy(device, c->device[engine], sizeof device);
    memcpy(values, c->values, sizeof values);
    for (uint32_t i = 0; i < c->buffers; i++) params[i] = &device[i];
    for (uint32_t i = 0; i < c->scalars; i++) params[c->buffers + i] = &values[i];
    for (uint32_t i = 0; i < c->launches; i++)
        if (lw_launch(c->kernels[engine], &config, params, NULL) != LW_OK)
            lw_bench_fail("%s: %s", c->name, lw_context_message(c->contexts[engine]));
}

static void run_pocl(const contest *c, const lw_cl *cl) {
    for (uint32_t i = 0; i < c->launches; i++) lw_cl_run(cl, c->kernel, c->threads, c->block);
    lw_cl_must(clFinish(cl->queue), c->name);
}

static void begin_sides(contest *c, const lw_cl *cl, const char *file, char *text, size_t size) {
    for (int k = 0; k < ENGINES; k++) {
        if (lw_module_new(c->contexts[k], file, text, size, &c->modules[k]) != LW_OK)
            lw_bench_fail("%s: %s", file, lw_module_diagnostics(c->modules[k], false));
        lw_bench_must(lw_module_kernel(c->modules[k], c->name, &c->kernels[k]), c->name);
        for (uint32_t i = 0; i < c->buffers; i++) {
            lw_bench_must(lw_memory_new(c->contexts[k], c->bytes[i], &c->device[k][i]), "memory for a buffer");
            lw_bench_must(lw_memory_write(c->contexts[k], c->device[k][i], c->words[i], c->bytes[i]),
                          "writing a buffer");
        }
    }
    cl_int status;
    c->program = lw_cl_program(cl, file);
    c->kernel = clCreateKernel(c->program, c->name, &status);
    lw_cl_must(status, c->name);
    for (uint32_t i = 0; i < c->buffers; i++) {
        c->memory[i] = lw_cl_buffer(cl, c->words[i], c->bytes[i]);
        lw_cl_must(clSetKernelArg(c->kernel, i, sizeof c->memory[i], &c->memory[i]), "a parameter");
    }
    for (uint32_t i = 0; i < c->scalars; i++)
        lw_cl_must(clSetKernelArg(c->kernel, c->buffers + i, sizeof c->values[i], &c->values[i]), "a parameter");
}

static void end_sides(contest *c) {
    for (int k = 0; k < ENGINES; k++) {
        for (uint32_t i = 0; i < c->buffers; i++)
            lw_bench_must(lw_memory_free(c->contexts[k], c->device[k][i]), "freeing a buffer");
        lw_module_free(c->modules[k]);
    }
    for (uint32_t i = 0; i < c->buffers; i++) clReleaseMemObject(c->memory[i]);
    clReleaseKernel(c->kernel);
    clReleaseProgram(c->program);
}

static bool is_near(uint32_t a, uint32_t b, float apart) {
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return a == b || fabsf(x - y) <= apart * (1 + fabsf(y));
}

/* The first buffer is what a kernel writes. */
static void compare(const contest *c, const lw_cl *cl, float apart) {
    const size_t bytes = c->bytes[c->out];
    uint32_t *theirs = lw_bench_allocate(bytes), *ours = lw_bench_allocate(bytes);
    lw_cl_must(clEnqueueReadBuffer(cl->queue, c->memory[c->out], CL_TRUE, 0, bytes, theirs, 0, NULL, NULL), c->name);
    for (int k = 0; k < ENGINES; k++) {
        lw_bench_must(lw_memory_read(c->contexts[k], c->device[k][c->out], ours, bytes), "reading an output");
        for (size_t i = 0; i < bytes / 4; i++)
            if (!is_near(ours[i], theirs[i], apart))
                lw_bench_fail("%s: the results differ: word %zu is %08x by %s, %08x by PoCL", c->name, i, ours[i],
                              engines[k], theirs[i]);
    }
    free(theirs);
    free(ours);
}

/* The first run of each is not counted: PoCL compiles in it. */
static void take_turns(contest *c, const lw_cl *cl, const lw_bench_options *options, float apart) {
    for (uint32_t turn = 0; turn <= c->turns; turn++) {
        double at[ENGINES + 2];
        for (int k = 0; k < ENGINES; k++) at[k] = clock_of(options), run_engine(c, k);
        at[ENGINES] = clock_of(options);
        run_pocl(c, cl);
        at[ENGINES + 1] = clock_of(options);
        if (turn == 0) {
            compare(c, cl, apart);
            continue;
        }
        for (int k = 0; k <= ENGINES; k++) c->seconds[k][turn - 1] = at[k + 1] - at[k];
        for (int k = 0; k < ENGINES; k++)
            c->ratio[k][turn - 1] = c->seconds[ENGINES][turn - 1] / c->seconds[k][turn - 1];
    }
    compare(c, cl, apart);
}

/* ---- What they work on --------------------------------------------------------------------------------------- */

static void fill(uint32_t *words, size_t count) {
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) state = state * 1664525 + 1013904223, words[i] = state ^ state >> 15;
}

static char *read_ptx(const lw_bench_options *options, const char *file, size_t *size) {
    return lw_bench_read(options->examples, &(lw_bench_kernel){.name = file, .group = LW_BENCH_REAL}, size);
}

/* An output, an input, and how wide they are; or data, and how many. */
static void begin_small(contest *c, const lw_cl *cl, const lw_bench_options *options, const char *file, bool launches) {
    const uint32_t width = launches ? BLOCK : options->quick ? 64 : 256;
    c->threads = launches ? BLOCK : width * width;
    c->block = BLOCK;
    c->launches = launches ? LAUNCHES : 1;
    c->buffers = launches ? 1 : 2;
    c->scalars = 1;
    c->values[0] = width;
    for (uint32_t i = 0; i < c->buffers; i++) {
        c->bytes[i] = (size_t)4 * c->threads;
        fill(c->words[i] = lw_bench_allocate(c->bytes[i]), c->threads);
    }
    size_t size;
    char *text = read_ptx(options, file, &size);
    begin_sides(c, cl, file, text, size);
    free(text);
}

/* What a kernel of the benchmark works on. */
static void begin_work(contest *c, const lw_cl *cl, const lw_bench_options *options, const lw_bench_kernel *kernel) {
    size_t size;
    char *text = lw_bench_read(options->examples, kernel, &size);
    lw_bench_work work;
    lw_bench_work_new(&work, kernel, lw_bench_native(lw_context_cpu(c->contexts[0])), c->contexts[0], text, size,
                      options->quick ? 1024 : 4096);
    c->block = kernel->block[0];
    c->threads = work.config.grid[0] * c->block;
    c->launches = 1;
    c->scalars = 2;
    c->values[0] = work.count, c->values[1] = options->quick ? 4 : 32;
    for (uint32_t i = 0; i < LW_BENCH_BUFFERS && work.words[i]; i++) {
        c->bytes[i] = 4 * work.words[i];
        c->words[i] = lw_bench_allocate(c->bytes[i]);
        memcpy(c->words[i], work.host[i], c->bytes[i]);
        c->buffers = i + 1;
    }
    lw_bench_work_free(&work);
    begin_sides(c, cl, kernel->name, text, size);
    free(text);
}

static const lw_bench_kernel *find_kernel(const char *name) {
    for (int i = 0; i < LW_BENCH_KERNELS; i++)
        if (!strcmp(lw_bench_kernels[i].name, name)) return &lw_bench_kernels[i];
    lw_bench_fail("no kernel of the benchmark is called '%s'", name);
}

/* ---- The table ----------------------------------------------------------------------------------------------- */

/* Logarithms of the medians' ratios go to `sums`. */
static void measure(const lw_bench_options *options, lw_context *const contexts[ENGINES], const lw_cl *cl, int i,
                    double sums[ENGINES]) {
    contest c = {.name = kernels[i].name, .turns = options->quick ? 3 : 9};
    memcpy(c.contexts, contexts, sizeof c.contexts);
    if (kernels[i].file) begin_small(&c, cl, options, kernels[i].file, kernels[i].class == SMALL);
    else begin_work(&c, cl, options, find_kernel(kernels[i].name));
    take_turns(&c, cl, options, kernels[i].apart);
    printf("  %-12s", c.name);
    for (int k = 0; k <= ENGINES; k++) printf(" %10.3f", lw_bench_spread_of(c.seconds[k], c.turns).median * 1e3);
    for (int k = 0; k < ENGINES; k++) {
        const lw_bench_spread ratio = lw_bench_spread_of(c.ratio[k], c.turns);
        printf("   %8.2f (%.2f-%.2f)", ratio.median, ratio.least, ratio.most);
        sums[k] += log(ratio.median);
    }
    printf("\n");
    fflush(stdout);
    end_sides(&c);
    for (uint32_t b = 0; b < c.buffers; b++) free(c.words[b]);
}

/* Those that were asked for, or all. */
static bool is_chosen(const lw_bench_options *options, int i) {
    for (int k = 0; !options->all && k < LW_BENCH_KERNELS; k++)
        if (options->chosen[k] && !strcmp(lw_bench_kernels[k].name, kernels[i].name)) return true;
    return options->all;
}

static void measure_class(const lw_bench_options *options, lw_context *const contexts[ENGINES], const lw_cl *cl,
                          lw_class class) {
    double sums[ENGINES] = {0};
    int count = 0;
    for (int i = 0; i < KERNELS; i++) {
        if (kernels[i].class != class || !is_chosen(options, i)) continue;
        if (!count++) printf("%s\n", classes[class].name);
        measure(options, contexts, cl, i, sums);
    }
    if (!count) return;
    printf("  geometric mean %*s", 30, "");
    for (int k = 0; k < ENGINES; k++) {
        const double mean = exp(sums[k] / count), must = classes[class].must[k];
        printf("   %8.2f, must %.1f %s", mean, must, mean >= must ? "met" : "missed");
    }
    printf("\n");
}

bool lw_bench_pocl(const lw_bench_options *options) {
    lw_cl cl = {0};
    if (!lw_cl_begin(&cl)) {
        fputs("lanewise_bench: skipped: no platform of OpenCL is PoCL with a CPU device (Debian: pocl-opencl-icd)\n",
              stderr);
        return false;
    }
    lw_context *contexts[ENGINES];
    for (int k = 0; k < ENGINES; k++) {
        lw_bench_options chosen = *options;
        chosen.engine = engines[k];
        contexts[k] = lw_bench_context(&chosen, 1);
    }
    printf("%s, device %s, one thread; Lanewise at level %s; in turns, medians, %s\n\n", cl.platform, cl.name,
           lw_context_cpu(contexts[0]), options->wall ? "wall time" : "CPU time of the process");
    printf("  KERNEL       interp, ms    jit, ms   PoCL, ms   PoCL / interp             PoCL / jit\n");
    for (int class = 0; class < CLASSES; class ++) measure_class(options, contexts, &cl, (lw_class) class);
    for (int k = 0; k < ENGINES; k++) lw_context_free(contexts[k]);
    lw_cl_end(&cl);
    return true;
}
