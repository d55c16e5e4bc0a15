/* Which levels this build has, and which of them this CPU can run. */
#include "native.h"
#include <string.h>

/* Each function of lw_native, of the type that it has there. */
/* clang-format off */
#define KERNELS(X, w) \
    X(sha256, w) X(chacha20, w) X(xorshift, w) X(bigshift, w) X(scan, w) X(mandelbrot, w) X(md5, w) X(mix64, w) \
    X(crc32, w) X(spmv, w) X(bitonic, w) X(collatz, w) X(vshr_registers, w) X(vshr_array, w) X(saxpy, w) \
    X(nbody, w) X(softmax, w) X(halfpoly, w) X(sgemm, w) X(bilinear, w) X(mma_tile, w)
/* clang-format on */
#define DECLARE_ONE(name, w) extern __typeof__(*((lw_native *)0)->name) lw_native_##name##_w##w;
#define DECLARE(w)           KERNELS(DECLARE_ONE, w)
#define FIELD(name, w)       .name = lw_native_##name##_w##w,
#define TABLE(level, w) \
    { level, w, KERNELS(FIELD, w) }

#ifdef __x86_64__
DECLARE(16)
DECLARE(8)
DECLARE(4)
static const lw_native TABLES[] = {TABLE("v4", 16), TABLE("v3", 8), TABLE("v2", 4)};

static int can_run(const lw_native *n) {
    __builtin_cpu_init();
    if (n->lanes == 16)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    if (n->lanes == 8)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2");
    return __builtin_cpu_supports("sse4.2");
}
#else
DECLARE(4)
static const lw_native TABLES[] = {TABLE("portable", 4)};
static int can_run(const lw_native *n) { return n != 0; }
#endif

const lw_native *lw_native_find(const char *level) {
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        if (level && strcmp(level, TABLES[i].level)) continue;
        if (can_run(&TABLES[i])) return &TABLES[i];
        if (level) return 0;
    }
    return 0;
}
