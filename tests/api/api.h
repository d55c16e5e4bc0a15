/* api.h: what the tests of the public interface share: cmocka, small kernels, shorthands. */
#ifndef LW_TESTS_API_H
#define LW_TESTS_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lanewise/lanewise.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* out[i] = 3 * i + add for all threads of a one-dimensional launch. */
#define AFFINE \
    ".visible .entry affine(.param .u64 out, .param .u32 add)\n" \
    "{\n" \
    " .reg .u32 %i, %n, %t; .reg .u64 %p, %o;\n" \
    " ld.param.u64 %p, [out]; ld.param.u32 %t, [add];\n" \
    " mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %i, %n, %t;\n" \
    " sub.u32 %i, %i, %t; mov.u32 %n, %tid.x; add.u32 %i, %i, %n;\n" \
    " mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o;\n" \
    " mad.lo.u32 %t, %i, 3, %t;\n" \
    " st.global.u32 [%p], %t;\n" \
    " ret;\n" \
    "}\n"

static inline lw_context *new_context(uint32_t threads) {
    lw_context *context;
    assert_int_equal(lw_context_new(&(lw_options){.threads = threads, .memory_limit = 256u << 20}, &context), LW_OK);
    return context;
}

/* Fails the test with the diagnostics where the text is not good. */
static inline lw_module *load(lw_context *context, const char *text) {
    lw_module *module;
    lw_status status = lw_module_new(context, "test.ptx", text, strlen(text), &module);
    if (status != LW_OK) fail_msg("%s", module ? lw_module_diagnostics(module, false) : "no memory");
    return module;
}

static inline lw_kernel *get_kernel(lw_module *module, const char *name) {
    lw_kernel *kernel;
    if (lw_module_kernel(module, name, &kernel) != LW_OK) fail_msg("%s", lw_module_diagnostics(module, false));
    return kernel;
}

static inline uint64_t new_buffer(lw_context *context, uint64_t size) {
    uint64_t address;
    assert_int_equal(lw_memory_new(context, size, &address), LW_OK);
    return address;
}

static inline lw_launch_config shape(uint32_t grid, uint32_t block) {
    return (lw_launch_config){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

#define assert_message(context, part) \
    do { \
        if (!strstr(lw_context_message(context), part)) \
            fail_msg("'%s' lacks '%s'", lw_context_message(context), part); \
    } while (0)

#endif
