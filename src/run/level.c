/* level.c: which CPU levels are built in, which of them the machine has, and linking a program with one. */
#include "run/run.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if LW_BUILT_v4
extern lw_step *const lw_steps_v4[LW_OP_count];
static const lw_level level_v4 = {"v4", 4, lw_steps_v4};
#endif
#if LW_BUILT_v3
extern lw_step *const lw_steps_v3[LW_OP_count];
static const lw_level level_v3 = {"v3", 3, lw_steps_v3};
#endif
#if LW_BUILT_v2
extern lw_step *const lw_steps_v2[LW_OP_count];
static const lw_level level_v2 = {"v2", 2, lw_steps_v2};
#endif
extern lw_step *const lw_steps_portable[LW_OP_count];
static const lw_level level_portable = {"portable", 1, lw_steps_portable};

const lw_level *const lw_levels[] = {
#if LW_BUILT_v4
    &level_v4,
#endif
#if LW_BUILT_v3
    &level_v3,
#endif
#if LW_BUILT_v2
    &level_v2,
#endif
    &level_portable, NULL,
};

/* ---- What the machine has -------------------------------------------------------------------------------- */

#if defined(__x86_64__)

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

/* The levels of the x86-64 psABI, as far as compiled code can use them. */
static int machine_level(void) {
    enum { SAVED_AVX = 0x6, SAVED_AVX512 = 0xe6, LAHF = 1, LZCNT = 1 << 5 };
    lw_cpu_bits cpu = read_cpu();
    if (!has_all(cpu.leaf1_c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B) ||
        !has_all(cpu.extended_c, LAHF))
        return 1;
    if (!has_all(cpu.leaf1_c, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has_all(cpu.leaf7_b, bit_AVX2 | bit_BMI | bit_BMI2) || !has_all(cpu.extended_c, LZCNT) ||
        !has_all(cpu.saved, SAVED_AVX))
        return 2;
    if (!has_all(cpu.leaf7_b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) ||
        !has_all(cpu.saved, SAVED_AVX512))
        return 3;
    return 4;
}

#else

static int machine_level(void) { return 1; }

#endif

bool lw_level_has(const lw_level *level) { return level->number <= machine_level(); }

/* ---- Linking --------------------------------------------------------------------------------------------- */

static void link_code(lw_code *code, const lw_level *level) {
    for (uint32_t i = 0; i < code->op_count; i++) {
        lw_step *step = level->steps[code->ops[i].code];
        if (!step) lw_bug("no step for operation code %u in '%s'", code->ops[i].code, code->name);
        code->ops[i].step = step;
    }
}

void lw_program_link(lw_program *program, const lw_level *level) {
    program->level = level->number;
    program->steps = level->steps;
    for (uint32_t i = 0; i < program->code_count; i++)
        link_code(program->codes[i], level);
}
