/* check.h: programs that must run anywhere where there is a CUDA runtime, a GPU's too: they say what they expect, and
 * print what is different. What they print otherwise is the same everywhere. */
#pragma once
#include <cstdio>
#include <cstring>

static int faults;

#define EXPECT(condition) \
    do { \
        if (!(condition)) \
            faults++, printf("%s:%d: not so: %s\n", strrchr("/" __FILE__, '/') + 1, __LINE__, #condition); \
    } while (0)
#define GIVES(wanted, call) \
    do { \
        cudaError_t got_ = (call); \
        if (got_ != (wanted)) \
            faults++, printf("%s:%d: %s, not %s: %s\n", strrchr("/" __FILE__, '/') + 1, __LINE__, \
                             cudaGetErrorName(got_), #wanted, #call); \
    } while (0)
#define OK(call) GIVES(cudaSuccess, call)

static int end(const char *name) {
    printf("%s: %s\n", name, faults ? "FAULTS" : "as it must be");
    return faults != 0;
}
