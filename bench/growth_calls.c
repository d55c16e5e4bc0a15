/* What a program does n times with the library or the driver: launches, allocations, modules, handles. */
#include "growth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CALL(name) static double name(lw_context *context, uint32_t n)
#define EACH(i)    for (uint32_t i = 0; i < n; i++)

static double now(void) { return lw_bench_clock(false); }

static void must(lw_context *context, lw_status status) {
    if (status != LW_OK) lw_bench_fail("growth: %s: %s", lw_status_name(status), lw_context_message(context));
}

static lw_module *load(lw_context *context, const char *text) {
    lw_module *module;
    must(context, lw_module_new(context, "growth", text, strlen(text), &module));
    return module;
}

#define HEAD ".version 8.5\n.target sm_80\n.address_size 64\n"

/* ---- Launches -------------------------------------------------------------------------------------------------- */

static double launch(lw_context *context, const char *text, uint32_t grid, uint32_t block, const uint32_t *param) {
    lw_module *module = load(context, text);
    lw_kernel *kernel;
    must(context, lw_module_kernel(module, "k", &kernel));
    const lw_launch_config config = {.grid = {grid, 1, 1}, .block = {block, 1, 1}};
    void *params[] = {(void *)param};
    double start = now();
    must(context, lw_launch(kernel, &config, param ? params : NULL, NULL));
    double took = now() - start;
    lw_module_free(module);
    return took;
}

CALL(ctas) {
    return launch(context, HEAD ".visible .entry k() { .reg .u32 r; mov.u32 r, %ctaid.x; ret; }", n, 32, NULL);
}

/* They hand on a count from each to the next, so that many are set aside. */
CALL(ctas_that_wait) {
    return launch(context,
                  HEAD ".global .u32 turn;\n.visible .entry k() { .reg .u32 r, c; .reg .pred p; mov.u32 c, %ctaid.x; "
                       "sub.u32 c, c, 0;\n"
                       "W: ld.volatile.global.u32 r, [turn]; setp.ne.u32 p, r, c; @p bra W; add.u32 r, r, 1; "
                       "st.volatile.global.u32 [turn], r; ret; }",
                  n, 1, NULL);
}

CALL(barriers) {
    return launch(context,
                  HEAD ".visible .entry k(.param .u32 n) { .reg .u32 i; .reg .pred p; ld.param.u32 i, [n];\n"
                       "L: bar.sync 0; sub.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra L; ret; }",
                  1, 256, &n);
}

CALL(rounds_of_shuffles) {
    return launch(
        context,
        HEAD
        ".visible .entry k(.param .u32 n) { .reg .u32 i, x; .reg .pred p; mov.u32 x, %laneid; ld.param.u32 i, [n];\n"
        "setp.gt.u32 p, x, 15; @p ret;\n"
        "L: shfl.sync.idx.b32 x, x, 20, 31, 0xffff; sub.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra L; ret; }",
        1, 32, &n);
}

CALL(rounds_of_calls) {
    return launch(context,
                  HEAD ".func (.reg .u32 r) f(.reg .u32 a) { sub.u32 r, a, 1; ret; }\n"
                       ".visible .entry k(.param .u32 n) { .reg .u32 i; .reg .pred p; ld.param.u32 i, [n];\n"
                       "L: call (i), f, (i); setp.ne.u32 p, i, 0; @p bra L; ret; }",
                  1, 32, &n);
}

/* Each lane leaves the loop at its own time. */
CALL(rounds_of_lanes_that_part) {
    return launch(context,
                  HEAD ".visible .entry k(.param .u32 n) { .reg .u32 i, x; .reg .pred p; mov.u32 x, %laneid; "
                       "ld.param.u32 i, [n]; add.u32 i, i, x;\n"
                       "L: sub.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra L; ret; }",
                  1, 32, &n);
}

CALL(launches) {
    lw_module *module = load(context, HEAD ".visible .entry k() { ret; }");
    lw_kernel *kernel;
    must(context, lw_module_kernel(module, "k", &kernel));
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    double start = now();
    EACH(i) must(context, lw_launch(kernel, &config, NULL, NULL));
    double took = now() - start;
    lw_module_free(module);
    return took;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

typedef enum lw_order { FORWARD, BACKWARD, MIXED } lw_order;

static double allocations(lw_context *context, uint32_t n, lw_order order) {
    uint64_t *at = lw_bench_allocate(n * sizeof *at);
    double start = now();
    EACH(i) must(context, lw_memory_new(context, 64, &at[i]));
    EACH(i)
    must(context, lw_memory_free(context, at[order == FORWARD    ? i
                                             : order == BACKWARD ? n - 1 - i
                                                                 : (uint32_t)(i * 7919ull % n)]));
    double took = now() - start;
    free(at);
    return took;
}

CALL(allocations_forward) { return allocations(context, n, FORWARD); }
CALL(allocations_backward) { return allocations(context, n, BACKWARD); }
CALL(allocations_mixed) { return allocations(context, n % 7919 ? n : n + 1, MIXED); }

/* Two of three are freed, and what is asked for then fits into no gap. */
CALL(allocations_into_gaps) {
    uint64_t *at = lw_bench_allocate(n * sizeof *at), size = 1 << 20;
    EACH(i) must(context, lw_memory_new(context, i % 4 ? size : 64, &at[i]));
    EACH(i) if (i % 4) must(context, lw_memory_free(context, at[i]));
    double start = now();
    EACH(i) if (i % 4 == 1) must(context, lw_memory_new(context, 4 * size, &at[i]));
    double took = now() - start;
    EACH(i) if (i % 4 < 2) must(context, lw_memory_free(context, at[i]));
    free(at);
    return took;
}

typedef struct lw_beside { /* what a launch does while it runs */
    lw_context *context;
    uint32_t left;
    double took;
} lw_beside;

/* Called by the launch while it holds the list of what is allocated. */
static void allocate_beside(void *user, const lw_progress *progress) {
    lw_beside *beside = user;
    (void)progress;
    if (!beside->left) return;
    double start = now();
    uint64_t at;
    for (; beside->left; beside->left--) must(beside->context, lw_memory_new(beside->context, 64, &at));
    beside->took = now() - start;
    lw_context_stop(beside->context);
}

CALL(allocations_beside_a_launch) {
    lw_context *own = NULL;
    const lw_options options = {.threads = 1, .cpu = lw_context_cpu(context), .engine = "interp"};
    if (lw_context_new(&options, &own) != LW_OK) lw_bench_fail("growth: no context");
    lw_module *module = load(own, HEAD ".visible .entry k() { L: bra L; }");
    lw_kernel *kernel;
    must(own, lw_module_kernel(module, "k", &kernel));
    lw_beside beside = {own, n, 0};
    const lw_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .progress = allocate_beside, .user = &beside};
    must(own, lw_launch(kernel, &config, NULL, NULL));
    lw_context_free(own);
    return beside.took;
}

CALL(accesses_to_allocations) { /* each lane of each CTA looks into another one */
    static const char text[] = HEAD ".visible .entry k(.param .u64 list) { .reg .u32 c, v; .reg .u64 p, o;\n"
                                    "mov.u32 c, %ctaid.x; mul.wide.u32 o, c, 8; ld.param.u64 p, [list]; add.u64 p, p, "
                                    "o; ld.global.u64 p, [p]; ld.global.u32 v, [p]; st.global.u32 [p], v; ret; }";
    uint64_t *at = lw_bench_allocate(n * sizeof *at), list;
    EACH(i) must(context, lw_memory_new(context, 64, &at[i]));
    must(context, lw_memory_new(context, n * sizeof *at, &list));
    must(context, lw_memory_write(context, list, at, n * sizeof *at));
    lw_module *module = load(context, text);
    lw_kernel *kernel;
    must(context, lw_module_kernel(module, "k", &kernel));
    const lw_launch_config config = {.grid = {n, 1, 1}, .block = {32, 1, 1}};
    double start = now();
    must(context, lw_launch(kernel, &config, (void *[]){&list}, NULL));
    double took = now() - start;
    lw_module_free(module);
    EACH(i) must(context, lw_memory_free(context, at[n - 1 - i]));
    must(context, lw_memory_free(context, list));
    free(at);
    return took;
}

/* ---- Modules --------------------------------------------------------------------------------------------------- */

static double modules(lw_context *context, uint32_t n, bool backward) {
    lw_module **all = lw_bench_allocate(n * sizeof *all);
    uint64_t at;
    double start = now();
    EACH(i) {
        all[i] = load(context, HEAD ".global .u32 v;\n.visible .entry k() { ret; }");
        must(context, lw_memory_new(context, 64, &at));
        must(context, lw_memory_free(context, at));
    }
    EACH(i) lw_module_free(all[backward ? n - 1 - i : i]);
    double took = now() - start;
    free(all);
    return took;
}

CALL(modules_forward) { return modules(context, n, false); }
CALL(modules_backward) { return modules(context, n, true); }

static char *many(const char *format, uint32_t n, size_t *size) {
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    if (!to) lw_bench_fail("out of memory");
    fputs(HEAD, to);
    EACH(i) fprintf(to, format, i); /* NOLINT: each is a literal below */
    if (fclose(to)) lw_bench_fail("out of memory");
    return text;
}

/* Variables, and kernels, by their names. */
CALL(variables_by_name) {
    size_t size;
    char *text = many(".global .u32 v%u;\n", n, &size), name[24];
    lw_module *module;
    must(context, lw_module_new(context, "growth", text, size, &module));
    uint64_t address, bytes;
    double start = now();
    EACH(i) {
        snprintf(name, sizeof name, "v%u", i);
        must(context, lw_module_global(module, name, &address, &bytes));
    }
    double took = now() - start;
    lw_module_free(module);
    free(text);
    return took;
}

CALL(kernels_by_name) {
    size_t size;
    char *text = many(".visible .entry k%u() { ret; }\n", n, &size), name[24];
    lw_module *module;
    lw_kernel *kernel;
    must(context, lw_module_new(context, "growth", text, size, &module));
    EACH(i) must(context, lw_module_kernel(module, lw_module_kernel_name(module, i), &kernel));
    double start = now();
    EACH(i) {
        snprintf(name, sizeof name, "k%u", i);
        must(context, lw_module_kernel(module, name, &kernel));
    }
    double took = now() - start;
    lw_module_free(module);
    free(text);
    return took;
}

/* Threads that fail one after the other; each has a message of its own. */
static void *fail_once(void *context) {
    if (lw_memory_free(context, 1) == LW_OK) lw_bench_fail("growth: memory that was never there is freed");
    return NULL;
}

CALL(threads_that_fail) {
    double start = lw_bench_clock(true);
    EACH(i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, fail_once, context)) lw_bench_fail("growth: no thread");
        pthread_join(thread, NULL);
    }
    return lw_bench_clock(true) - start;
}

/* ---- The driver ------------------------------------------------------------------------------------------------ */

static void *driver;

static void *entry(const char *name) {
    if (!driver && !(driver = dlopen(LW_GROWTH_DRIVER, RTLD_NOW | RTLD_LOCAL))) lw_bench_fail("growth: %s", dlerror());
    void *at = dlsym(driver, name);
    if (!at) lw_bench_fail("growth: the driver has no %s", name);
    return at;
}

#define DRIVER(type, variable, name) \
    int(*variable) type; \
    *(void **)&variable = entry(name)

static void good(int result) {
    if (result) lw_bench_fail("growth: the driver's status is %d", result);
}

static void begin_driver(void) {
    static void *context;
    if (context) return;
    DRIVER((unsigned), init, "cuInit");
    DRIVER((void **, int), retain, "cuDevicePrimaryCtxRetain");
    DRIVER((void *), set, "cuCtxSetCurrent");
    good(init(0));
    good(retain(&context, 0));
    good(set(context));
}

static double handles(uint32_t n, const char *make_name, const char *use_name, const char *end_name) {
    begin_driver();
    DRIVER((void **, unsigned), make, make_name);
    DRIVER((void *), use, use_name);
    DRIVER((void *), finish, end_name);
    void **all = lw_bench_allocate(n * sizeof *all);
    double start = now();
    EACH(i) good(make(&all[i], 0));
    EACH(i) good(use(all[i * 7919ull % n]));
    EACH(i) good(finish(all[i]));
    double took = now() - start;
    free(all);
    return took;
}

CALL(streams) { return (void)context, handles(n, "cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2"); }
CALL(events) { return (void)context, handles(n, "cuEventCreate", "cuEventSynchronize", "cuEventDestroy_v2"); }

CALL(driver_allocations) {
    (void)context;
    begin_driver();
    DRIVER((unsigned long long *, size_t), make, "cuMemAlloc_v2");
    DRIVER((unsigned long long), finish, "cuMemFree_v2");
    unsigned long long *all = lw_bench_allocate(n * sizeof *all);
    double start = now();
    EACH(i) good(make(&all[i], 64));
    EACH(i) good(finish(all[i]));
    double took = now() - start;
    free(all);
    return took;
}

CALL(driver_modules) {
    (void)context;
    begin_driver();
    DRIVER((void **, const void *), make, "cuModuleLoadData");
    DRIVER((void **, void *, const char *), function, "cuModuleGetFunction");
    DRIVER((void *), finish, "cuModuleUnload");
    void **all = lw_bench_allocate(n * sizeof *all), *found;
    double start = now();
    EACH(i) good(make(&all[i], HEAD ".global .u32 v;\n.visible .entry k() { ret; }"));
    EACH(i) good(function(&found, all[i], "k"));
    EACH(i) good(finish(all[i]));
    double took = now() - start;
    free(all);
    return took;
}

CALL(driver_functions) {
    (void)context;
    begin_driver();
    DRIVER((void **, const void *), make, "cuModuleLoadData");
    DRIVER((void **, void *, const char *), function, "cuModuleGetFunction");
    DRIVER((unsigned long long *, size_t *, void *, const char *), global, "cuModuleGetGlobal_v2");
    DRIVER((void *), finish, "cuModuleUnload");
    size_t size, bytes;
    unsigned long long address;
    char *text = many(".global .u32 v%1$u;\n.visible .entry k%1$u() { ret; }\n", n, &size), name[24];
    void *module, *found;
    double start = now();
    good(make(&module, text));
    EACH(i) {
        snprintf(name, sizeof name, "k%u", i);
        good(function(&found, module, name));
        snprintf(name, sizeof name, "v%u", i);
        good(global(&address, &bytes, module, name));
    }
    good(finish(module));
    double took = now() - start;
    free(text);
    return took;
}

const lw_growth_call lw_growth_calls[] = {
    {"CTAs", ctas, 10000, 0},
    {"CTAs that wait for each other", ctas_that_wait, 16, 128},
    {"barriers", barriers, 5000, 0},
    {"rounds of shuffles with notes", rounds_of_shuffles, 5000, 0},
    {"rounds of calls", rounds_of_calls, 5000, 0},
    {"rounds of lanes that part", rounds_of_lanes_that_part, 10000, 0},
    {"launches", launches, 2000, 0},
    {"allocations, freed in order", allocations_forward, 5000, 0},
    {"allocations, the last freed first", allocations_backward, 5000, 0},
    {"allocations, freed in any order", allocations_mixed, 5000, 0},
    {"allocations into gaps", allocations_into_gaps, 2000, 40000},
    {"allocations beside a launch", allocations_beside_a_launch, 2000, 0},
    {"accesses to allocations", accesses_to_allocations, 5000, 0},
    {"modules of a context", modules_forward, 500, 0},
    {"modules, the last freed first", modules_backward, 500, 0},
    {"variables by name", variables_by_name, 5000, 0},
    {"kernels by name", kernels_by_name, 5000, 0},
    {"threads that fail", threads_that_fail, 500, 0},
    {"streams of the driver", streams, 10000, 0},
    {"events of the driver", events, 10000, 0},
    {"allocations of the driver", driver_allocations, 5000, 0},
    {"modules of the driver", driver_modules, 500, 0},
    {"kernels of the driver by name", driver_functions, 500, 0},
    {0},
};
