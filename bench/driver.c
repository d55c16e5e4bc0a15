/* What calls of the CUDA driver cost that are no kernel's work: launches, graphs, copies, loading a module. */
#include "bench.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TURNS = 21, LAUNCHES = 1000, COPIED = 64 << 20 };

static void *driver;

static void *entry(const char *name) {
    void *at = dlsym(driver, name);
    if (!at) lw_bench_fail("driver: there is no %s", name);
    return at;
}

/* A function of the driver as a variable of this block. */
#define CALL(type, variable, name) \
    int(*variable) type; \
    *(void **)&variable = entry(name)

static void good(int result, const char *what) {
    if (result) lw_bench_fail("driver: %s: status %d", what, result);
}

typedef struct lw_bench_turns {
    double times[MOST_TURNS];
    uint32_t count;
} lw_bench_turns;

static void put(const char *what, lw_bench_turns *turns, double scale, const char *unit, const char *wanted) {
    const lw_bench_spread spread = lw_bench_spread_of(turns->times, turns->count);
    printf("  %-52s %9.2f %-4s (%.2f to %.2f)  %s\n", what, spread.median * scale, unit, spread.least * scale,
           spread.most * scale, wanted);
}

/* Of who waits: other threads do some of the work. */
static double now(void) { return lw_bench_clock(true); }

/* ---- Launches ---- */

static void *kernel_of(const char *text) {
    CALL((void **, const void *), load, "cuModuleLoadData");
    CALL((void **, void *, const char *), get, "cuModuleGetFunction");
    void *module, *function;
    good(load(&module, text), "cuModuleLoadData");
    good(get(&function, module, "nothing"), "cuModuleGetFunction");
    return function;
}

static void launches(void *kernel, uint32_t turns) {
    CALL((void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
         launch, "cuLaunchKernel");
    CALL((void **, unsigned), create, "cuStreamCreate");
    CALL((void *), wait, "cuStreamSynchronize");
    lw_bench_turns one = {.count = turns}, all = {.count = turns};
    void *stream;
    good(create(&stream, 0), "cuStreamCreate");
    for (uint32_t t = 0; t < turns; t++) {
        const double start = now();
        for (int i = 0; i < LAUNCHES; i++) {
            good(launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
            good(wait(stream), "cuStreamSynchronize");
        }
        const double middle = now();
        for (int i = 0; i < LAUNCHES; i++)
            good(launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
        good(wait(stream), "cuStreamSynchronize");
        one.times[t] = (middle - start) / LAUNCHES;
        all.times[t] = now() - middle;
    }
    put("an empty kernel, launched and waited for", &one, 1e6, "us", "must 3");
    put("1,000 of them in a stream, waited for once", &all, 1e3, "ms", "must 3");
}

/* ---- Graphs ---- */

typedef struct lw_bench_node { /* CUDA_KERNEL_NODE_PARAMS_v1 */
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
} lw_bench_node;

/* A chain of kernels. */
static void graphs(void *kernel, uint32_t turns) {
    CALL((void **, unsigned), create, "cuGraphCreate");
    CALL((void **, void *, void *const *, size_t, const lw_bench_node *), add, "cuGraphAddKernelNode");
    CALL((void **, void *, unsigned long long), instantiate, "cuGraphInstantiateWithFlags");
    CALL((void *, void *), launch, "cuGraphLaunch");
    CALL((void *), wait, "cuStreamSynchronize");
    const lw_bench_node params = {.function = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    lw_bench_turns all = {.count = turns};
    void *graph, *ready, *node = NULL;
    good(create(&graph, 0), "cuGraphCreate");
    for (int i = 0; i < LAUNCHES; i++) {
        void *before = node;
        good(add(&node, graph, &before, i > 0, &params), "cuGraphAddKernelNode");
    }
    good(instantiate(&ready, graph, 0), "cuGraphInstantiateWithFlags");
    for (uint32_t t = 0; t < turns; t++) {
        const double start = now();
        good(launch(ready, NULL), "cuGraphLaunch");
        good(wait(NULL), "cuStreamSynchronize");
        all.times[t] = now() - start;
    }
    put("a graph of 1,000 of them, launched and waited for", &all, 1e3, "ms", "must 2");
}

/* ---- Copies ---- */

static void copies(uint32_t turns) {
    CALL((unsigned long long *, size_t), allocate, "cuMemAlloc_v2");
    CALL((unsigned long long, const void *, size_t), to_device, "cuMemcpyHtoD_v2");
    CALL((void *, unsigned long long, size_t), to_host, "cuMemcpyDtoH_v2");
    char *from = lw_bench_allocate(COPIED), *to = lw_bench_allocate(COPIED);
    lw_bench_turns in = {.count = turns}, out = in, plain = in;
    unsigned long long at;
    memset(from, 1, COPIED), memset(to, 2, COPIED);
    good(allocate(&at, COPIED), "cuMemAlloc");
    good(to_device(at, from, COPIED), "cuMemcpyHtoD"); /* pages that nobody has touched cost more */
    for (uint32_t t = 0; t < turns; t++) {
        const double a = now();
        good(to_device(at, from, COPIED), "cuMemcpyHtoD");
        const double b = now();
        good(to_host(to, at, COPIED), "cuMemcpyDtoH");
        const double c = now();
        memcpy(to, from, COPIED);
        in.times[t] = b - a, out.times[t] = c - b, plain.times[t] = now() - c;
    }
    put("memcpy of 64 MiB", &plain, 1e3, "ms", "");
    put("cuMemcpyHtoD of 64 MiB", &in, 1e3, "ms", "must be memcpy's");
    put("cuMemcpyDtoH of 64 MiB", &out, 1e3, "ms", "must be memcpy's");
    free(from), free(to);
}

/* ---- Loading ---- */

/* Seconds that NVIDIA's assembler takes for the same text, the whole process; below 0: it is not installed. */
static double ptxas_seconds(const char *path) {
    char command[4096];
    snprintf(command, sizeof command, "ptxas -arch=sm_90 -o /dev/null '%s' >/dev/null 2>&1", path);
    if (system("ptxas --version >/dev/null 2>&1")) return -1;
    const double start = now();
    return system(command) ? -1 : now() - start;
}

static void loading(const char *path, uint32_t turns) {
    CALL((void **, const char *), load, "cuModuleLoad");
    CALL((unsigned *, void *), count, "cuModuleGetFunctionCount");
    CALL((void **, unsigned, void *), all, "cuModuleEnumerateFunctions");
    CALL((void *), unload, "cuModuleUnload");
    lw_bench_turns loads = {.count = turns};
    for (uint32_t t = 0; t < turns; t++) {
        void *module, *functions[256];
        unsigned kernels;
        const double start = now();
        good(load(&module, path), "cuModuleLoad");
        good(count(&kernels, module), "cuModuleGetFunctionCount");
        good(all(functions, kernels < 256 ? kernels : 256, module), "cuModuleEnumerateFunctions");
        loads.times[t] = now() - start;
        good(unload(module), "cuModuleUnload");
    }
    const double ptxas = ptxas_seconds(path);
    put("loading a module, with all of its kernels", &loads, 1e3, "ms", path);
    if (ptxas < 0) printf("  ptxas is not installed, or refuses it\n");
    else
        printf("  %-52s %9.2f ms, %.0f times as long (must be 20)\n", "ptxas for the same", ptxas * 1e3,
               ptxas / lw_bench_spread_of(loads.times, turns).median);
}

void lw_bench_driver(const lw_bench_options *options) {
    const uint32_t turns = options->quick ? 3 : MOST_TURNS;
    void *context;
    if (options->engine) setenv("LANEWISE_ENGINE", options->engine, 1);
    if (!(driver = dlopen(LW_GROWTH_DRIVER, RTLD_NOW | RTLD_LOCAL))) lw_bench_fail("driver: %s", dlerror());
    CALL((unsigned), init, "cuInit");
    CALL((void **, int), retain, "cuDevicePrimaryCtxRetain");
    CALL((void *), set, "cuCtxSetCurrent");
    good(init(0), "cuInit");
    good(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    good(set(context), "cuCtxSetCurrent");
    void *kernel = kernel_of(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n");
    printf("CUDA driver, medians of %u turns, wall clock\n", turns);
    launches(kernel, turns);
    graphs(kernel, turns);
    copies(turns);
    loading(options->module ? options->module : LW_BENCH_PTX "/classes.ptx", turns);
}
