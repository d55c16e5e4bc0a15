/* order.h: kernels whose results tell in which order they ran, and the words that they work on: what tests of streams,
 * graphs and captures begin with. */
#ifndef LW_TESTS_CUDA_ORDER_H
#define LW_TESTS_CUDA_ORDER_H

#include <stdbool.h>

#include "expect.h"

#define HEAD_PTX ".version 7.0\n.target sm_70\n.address_size 64\n"
/* step: *to = *to * 3 + by. */
#define STEP_PTX \
    ".visible .entry step(.param .u64 to, .param .u32 by)\n{\n" \
    ".reg .b64 %d;\n.reg .b32 %r<3>;\nld.param.u64 %d, [to];\nld.param.u32 %r0, [by];\n" \
    "ld.volatile.global.u32 %r1, [%d];\nmad.lo.u32 %r1, %r1, 3, %r0;\nst.volatile.global.u32 [%d], %r1;\nret;\n}\n"

static __attribute__((unused)) CUcontext context;
static CUfunction until, step; /* until: waits for a word that is not 0, for some seconds at most */
static CUdeviceptr words;      /* of the device */
static _Atomic unsigned *own;  /* words that the host sees, too, while streams write them … */
static CUdeviceptr shared;     /* … and where the device does */
static bool ours;              /* the driver is Lanewise, which defines what is said of a handle that is none */

static inline unsigned word_at(CUdeviceptr at) {
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, at, sizeof word));
    return word;
}

static inline void reset(void) {
    OK(cuCtxSynchronize());
    OK(cuMemsetD32_v2(words, 0, 16));
    for (int i = 0; i < 16; i++) own[i] = 0;
}

/* All of that in a context that is current. `text` has both kernels. */
static inline CUmodule begin_kernels(const char *text) {
    CUmodule module = NULL;
    void *host_words;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&until, module, "until"));
    OK(cuModuleGetFunction(&step, module, "step"));
    OK(cuMemAlloc_v2(&words, 64));
    OK(cuMemHostAlloc(&host_words, 64, 2));
    OK(cuMemHostGetDevicePointer_v2(&shared, host_words, 0));
    own = host_words;
    return module;
}

static inline CUmodule begin_words(const char *text) {
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    return begin_kernels(text);
}

#endif
