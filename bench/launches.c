/* A thousand launches of kernels with little work (ptx/launches.cu), one CTA of 256 threads each: what a launch costs
 * that does something. What they leave is compared with a loop in C. */
#include "bench.h"
#include <stdlib.h>

enum { LAUNCHES = 1000, THREADS = 256, MOST_TURNS = 21 };

static void nothing(uint32_t *data) { (void)data; }
static void element(uint32_t *data) {
    for (uint32_t i = 0; i < THREADS; i++) data[i] = (data[i] * 5 + 3) ^ i;
}
static void turn(uint32_t *data) {
    for (uint32_t i = 0; i < THREADS / 2; i++) {
        const uint32_t a = data[i], b = data[i ^ 255];
        data[i] = b + 1, data[i ^ 255] = a + 1;
    }
}

static const struct {
    const char *name;
    void (*natively)(uint32_t *data);
} kernels[LW_BENCH_LAUNCHED] = {{"nothing", nothing}, {"element", element}, {"turn", turn}};

const char *lw_bench_launched(int i) { return kernels[i].name; }

static void launch_all(lw_context *context, lw_kernel *kernel, uint64_t device) {
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    uint32_t count = THREADS;
    for (int i = 0; i < LAUNCHES; i++)
        if (lw_launch(kernel, &config, (void *[]){&device, &count}, NULL) != LW_OK)
            lw_bench_fail("launches: %s", lw_context_message(context));
}

static void check(lw_context *context, uint64_t device, const uint32_t want[THREADS], const char *name) {
    uint32_t got[THREADS];
    lw_bench_must(lw_memory_read(context, device, got, sizeof got), "reading what launches leave");
    for (uint32_t i = 0; i < THREADS; i++)
        if (got[i] != want[i])
            lw_bench_fail("%s: the results differ: word %u is %08x, natively %08x", name, i, got[i], want[i]);
}

static lw_bench_spread measure(const lw_bench_options *options, lw_context *context, lw_module *module, int which) {
    uint32_t data[THREADS];
    double times[MOST_TURNS];
    const uint32_t turns = options->quick ? 3 : MOST_TURNS;
    lw_kernel *kernel;
    uint64_t device;
    for (uint32_t i = 0; i < THREADS; i++) data[i] = i * 0x9e3779b1u;
    lw_bench_must(lw_module_kernel(module, kernels[which].name, &kernel), kernels[which].name);
    lw_bench_must(lw_memory_new(context, sizeof data, &device), "memory for launches");
    lw_bench_must(lw_memory_write(context, device, data, sizeof data), "writing what launches read");
    for (uint32_t i = 0; i < turns; i++) {
        const double start = lw_bench_clock(options->wall);
        launch_all(context, kernel, device);
        times[i] = lw_bench_clock(options->wall) - start;
        for (int k = 0; k < LAUNCHES; k++) kernels[which].natively(data);
    }
    check(context, device, data, kernels[which].name);
    lw_bench_must(lw_memory_free(context, device), "freeing it");
    return lw_bench_spread_of(times, turns);
}

void lw_bench_measure_launches(const lw_bench_options *options, lw_context *context,
                               lw_bench_spread seconds[LW_BENCH_LAUNCHED]) {
    size_t size;
    lw_module *module;
    char *text =
        lw_bench_read(options->examples, &(lw_bench_kernel){.name = "launches", .group = LW_BENCH_REAL}, &size);
    lw_bench_must(lw_module_new(context, "launches", text, size, &module), "loading launches.ptx");
    for (int i = 0; i < LW_BENCH_LAUNCHED; i++) seconds[i] = measure(options, context, module, i);
    lw_module_free(module);
    free(text);
}
