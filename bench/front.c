/* The time to load a file: parsing and checking it, and lowering its kernel. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LOADS = 5, MOST_LOADS = 200 };

static void load(lw_context *context, const char *name, const char *text, size_t size, bool wall, double *parse,
                 double *lower, uint32_t *instructions) {
    lw_module *module;
    lw_kernel *kernel;
    double start = lw_bench_clock(wall);
    lw_status status = lw_module_new(context, name, text, size, &module);
    double parsed = lw_bench_clock(wall);
    if (status == LW_OK) status = lw_module_kernel(module, name, &kernel);
    if (status == LW_OK && !strcmp(lw_context_engine(context), "jit")) lw_bench_compile(context, kernel, 256);
    double end = lw_bench_clock(wall);
    if (status == LW_BAD_SOURCE) lw_bench_fail("%s: %s", name, lw_module_diagnostics(module, false));
    if (status != LW_OK) lw_bench_fail("%s: %s", name, lw_context_message(context));
    *parse = parsed - start;
    *lower = end - parsed;
    *instructions = lw_kernel_get_info(kernel).instruction_count;
    lw_module_free(module);
}

void lw_bench_compile(lw_context *context, lw_kernel *kernel, uint32_t block) {
    const lw_kernel_info info = lw_kernel_get_info(kernel);
    const lw_launch_config config = {.grid = {1, 1, 1},
                                     .block = {block, 1, 1},
                                     .param_buffer = lw_bench_allocate(info.param_bytes + 1),
                                     .param_buffer_size = info.param_bytes,
                                     .step_limit = 1};
    memset((void *)config.param_buffer, 0, info.param_bytes);
    if (lw_launch(kernel, &config, NULL, NULL) == LW_UNSUPPORTED) lw_bench_fail("%s", lw_context_message(context));
    free((void *)config.param_buffer);
}

lw_bench_load lw_bench_measure_load(const lw_bench_options *options, lw_context *context, const char *name,
                                    const char *text, size_t size) {
    double parse[MOST_LOADS], lower[MOST_LOADS], spent = 0, enough = options->quick ? 0.02 : 0.3;
    lw_bench_load result = {0};
    uint32_t n = 0;
    /* The first one finds cold caches and fresh pages. */
    load(context, name, text, size, options->wall, &parse[0], &lower[0], &result.instructions);
    for (; n < LEAST_LOADS || (n < MOST_LOADS && spent < enough); n++) {
        load(context, name, text, size, options->wall, &parse[n], &lower[n], &result.instructions);
        spent += parse[n] + lower[n];
    }
    if (!result.instructions) lw_bench_fail("%s: no instructions were counted", name);
    result.parse = lw_bench_spread_of(parse, n).median;
    result.lower = lw_bench_spread_of(lower, n).median;
    return result;
}

/* ---- A larger file ---- */

/* A scope hides the names of the registers, labels and variables that the body declares, so it needs no
 * renaming; only its `ret` becomes a branch to the next copy. */
static size_t copy_body(char *to, const char *body, const char *body_end, uint32_t number) {
    char *at = to;
    at += sprintf(at, "{\n");
    for (const char *ret; (ret = memmem(body, (size_t)(body_end - body), "\tret;", 5)); body = ret + 5) {
        memcpy(at, body, (size_t)(ret - body));
        at += ret - body;
        at += sprintf(at, "\tbra.uni $next_%u;", number);
    }
    memcpy(at, body, (size_t)(body_end - body));
    at += body_end - body;
    at += sprintf(at, "}\n$next_%u:\n", number);
    return (size_t)(at - to);
}

char *lw_bench_enlarge(const char *text, const char *kernel, uint32_t times, size_t *size) {
    const char *end = text + *size, *entry = memmem(text, *size, ".entry", 6);
    const char *open = entry ? memmem(entry, (size_t)(end - entry), "\n{\n", 3) : NULL;
    const char *close = NULL; /* the last one: within the body inline assembly has braces of its own */
    for (const char *at = open; at && (at = memmem(at, (size_t)(end - at), "\n}\n", 3)); at++) close = at;
    if (!close) lw_bench_fail("%s: the PTX is not laid out as nvcc does it", kernel);
    const char *body = open + 3;
    close++;
    enum { MORE = 64, RETS = 16 }; /* what a copy adds: its braces, label and branches */
    char *large = lw_bench_allocate(*size + times * ((size_t)(close - body) + MORE * RETS)), *at = large;
    memcpy(at, text, (size_t)(body - text));
    at += body - text;
    for (uint32_t i = 0; i < times; i++) at += copy_body(at, body, close, i);
    at += sprintf(at, "\tret;\n}\n");
    *size = (size_t)(at - large);
    return large;
}
