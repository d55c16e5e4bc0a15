/* expect.h: checks of programs that must run anywhere where there is a libcuda.so.1, so they use nothing but it. */
#ifndef LW_TESTS_CUDA_EXPECT_H
#define LW_TESTS_CUDA_EXPECT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shim/cuda/abi.h"

static int faults;

static inline const char *result_name(CUresult result) {
    const char *name = NULL;
    return cuGetErrorName(result, &name) ? "?" : name;
}

/* The driver is Lanewise, which alone defines what is said of handles that are none, and says why in these words. */
static inline bool is_ours(void) {
    char name[100] = "";
    return !cuDeviceGetName(name, sizeof name, 0) && !strncmp(name, "Lanewise", 8);
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
