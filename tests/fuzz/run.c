/* Any kernel that loads ends, within its step limit, in success, a trap that tells about itself, or a refusal. */
#include "lanewise/lanewise.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) \
    do { \
        if (!(condition)) fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition), abort(); \
    } while (0)

enum { PARAMS = 16, BUFFER = 4096, VALUE = 4096, STEPS = 20000 };

/* Parameters of 8 bytes may be addresses, so they get one; the others a small number. */
static bool fill_params(const lw_kernel *kernel, uint64_t buffer, uint64_t values[PARAMS][VALUE / 8], void **params) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    if (info.param_count > PARAMS) return false;
    for (uint32_t i = 0; i < info.param_count; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        if (param.size > VALUE) return false;
        values[i][0] = param.size == 8 ? buffer : 33;
        params[i] = values[i];
    }
    return true;
}

static void launch(lw_context *context, lw_kernel *kernel, uint64_t buffer) {
    static uint64_t values[PARAMS][VALUE / 8];
    void *params[PARAMS];
    if (!fill_params(kernel, buffer, values, params)) return;
    /* One warp and a part of another; two CTAs. */
    lw_launch_config config = {.grid = {2, 1, 1}, .block = {40, 1, 1}, .shared_bytes = 256, .step_limit = STEPS};
    lw_launch_stats stats;
    lw_status status = lw_launch(kernel, &config, params, &stats);
    MUST(status != LW_BAD_SOURCE && status != LW_NOT_FOUND);
    lw_trap_info trap;
    if (status == LW_TRAPPED)
        MUST(lw_trap(context, &trap) && trap.message && trap.report && trap.line >= 1 && trap.lane < 32);
    else if (status != LW_OK) MUST(lw_context_message(context)[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lw_context *context;
    lw_module *module;
    lw_options options = {.threads = 1, .memory_limit = 64u << 20, .stack_limit = 4096};
    MUST(lw_context_new(&options, &context) == LW_OK);
    if (lw_module_new(context, "input.ptx", (const char *)data, size, &module) == LW_OK) {
        for (size_t i = 0; i < lw_module_kernel_count(module); i++) {
            lw_kernel *kernel;
            uint64_t buffer;
            uint32_t word = 0xdeadbeef;
            if (lw_module_kernel(module, lw_module_kernel_name(module, i), &kernel) != LW_OK) continue;
            MUST(lw_memory_new(context, BUFFER, &buffer) == LW_OK);
            launch(context, kernel, buffer);
            /* Whatever the kernel did, the context still works. */
            MUST(lw_memory_write(context, buffer + 8, &word, sizeof word) == LW_OK);
            MUST(lw_memory_read(context, buffer + 8, &word, sizeof word) == LW_OK && word == 0xdeadbeef);
            MUST(lw_memory_free(context, buffer) == LW_OK);
        }
    }
    lw_context_free(context);
    return 0;
}
