/* cpu.c: whether the machine has an instruction set of levels.def, by what it says itself. */
#include "run/run.h"

bool lw_cpu_has_generic(void) { return true; }

#if defined(__x86_64__)

#include <cpuid.h>

typedef struct lw_cpu_bits {
    uint32_t leaf1_c, leaf7_b, extended_c;
    uint64_t saved; /* register sets that the system saves: XCR0 */
} lw_cpu_bits;

static lw_cpu_bits read_cpu(void) {
    lw_cpu_bits bits = {0};
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) bits.leaf1_c = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) bits.leaf7_b = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) bits.extended_c = c;
    if (bits.leaf1_c & bit_OSXSAVE) {
        __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        bits.saved = (uint64_t)d << 32 | a;
    }
    return bits;
}

static bool has_all(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

/* Compilers are told the levels of the x86-64 psABI, x86-64-v3 and v4, so all that these have must be there, and
 * usable. */
bool lw_cpu_has_x86_avx2(void) {
    enum { SAVED_AVX = 0x6, LAHF = 1, LZCNT = 1 << 5 };
    const lw_cpu_bits cpu = read_cpu();
    return has_all(cpu.leaf1_c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) &&
           has_all(cpu.leaf1_c, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) &&
           has_all(cpu.leaf7_b, bit_AVX2 | bit_BMI | bit_BMI2) && has_all(cpu.extended_c, LAHF | LZCNT) &&
           has_all(cpu.saved, SAVED_AVX);
}

bool lw_cpu_has_x86_avx512(void) {
    enum { SAVED_AVX512 = 0xe6 };
    const lw_cpu_bits cpu = read_cpu();
    return lw_cpu_has_x86_avx2() &&
           has_all(cpu.leaf7_b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) &&
           has_all(cpu.saved, SAVED_AVX512);
}

bool lw_cpu_has_wide(void) { return read_cpu().leaf1_c & bit_CMPXCHG16B; }

#elif defined(__aarch64__)

bool lw_cpu_has_wide(void) { return true; }
bool lw_cpu_has_neon(void) { return true; } /* part of the architecture as Linux runs on it */

#else

bool lw_cpu_has_wide(void) { return false; }

#endif
