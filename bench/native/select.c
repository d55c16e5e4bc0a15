/* Which levels this build has, and which of them this CPU can run. */
#include "native.h"
#include <string.h>

#define DECLARE(w)                                                                                           \
    void lw_native_sha256_w##w(uint32_t *, const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t);        \
    void lw_native_chacha20_w##w(uint32_t *, const uint32_t *, const uint32_t *, uint32_t, uint32_t,         \
                                 uint32_t, uint32_t, uint32_t);                                              \
    void lw_native_xorshift_w##w(uint32_t *, const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t);      \
    void lw_native_bigshift_w##w(uint32_t *, const uint32_t *, const uint32_t *, uint32_t, uint32_t,         \
                                 uint32_t, uint32_t);                                                        \
    void lw_native_scan_w##w(uint32_t *, uint32_t *, const uint32_t *, uint32_t, uint32_t, uint32_t,         \
                             uint32_t, uint32_t);                                                            \
    void lw_native_mandelbrot_w##w(uint32_t *, uint32_t, uint32_t, float, float, float, uint32_t, uint32_t,  \
                                   uint32_t);                                                                \
    void lw_native_vshr_registers_w##w(int32_t *, const uint32_t *, const uint8_t *, uint32_t);              \
    void lw_native_vshr_array_w##w(int32_t *, const int32_t *, const uint32_t *, const uint8_t *, uint32_t);
#define TABLE(level, w)                                                                                      \
    {                                                                                                        \
        level, w, lw_native_sha256_w##w, lw_native_chacha20_w##w, lw_native_xorshift_w##w,                   \
            lw_native_bigshift_w##w, lw_native_scan_w##w, lw_native_mandelbrot_w##w,                      \
            lw_native_vshr_registers_w##w, lw_native_vshr_array_w##w                          \
    }

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
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
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
