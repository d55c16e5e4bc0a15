/* expect.h: checks of programs that must run anywhere where there is a libcuda.so.1, so they use nothing but it. */
#ifndef LW_TESTS_CUDA_EXPECT_H
#define LW_TESTS_CUDA_EXPECT_H

#include <stdio.h>
#include <string.h>

#include "shim/cuda/abi.h"

static int faults;

static inline const char *result_name(CUresult result) {
    const char *name = NULL;
    return cuGetErrorName(result, &name) ? "?" : name;
}

#define EXPECT(condition) \
    do { \
        if (!(condition)) faults++, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)
#define GIVES(wanted, call) \
    do { \
        CUresult got_ = (call), wanted_ = (wanted); \
        if (got_ != wanted_) \
            faults++, \
                printf("%s:%d: %s, not %s: %s\n", __FILE__, __LINE__, result_name(got_), result_name(wanted_), #call); \
    } while (0)
#define OK(call) GIVES(CUDA_SUCCESS, call)

#endif
