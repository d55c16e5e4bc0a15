/* host_modes.h: floating-point environments that a program may be in when it calls a library, for tests that results do
 * not depend on them. */
#ifndef LW_TESTS_HOST_MODES_H
#define LW_TESTS_HOST_MODES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct host_state { /* all of it: modes, masks and sticky flags */
    uint64_t words[3];
} host_state;

typedef struct host_mode {
    const char *name;
    void (*set)(void);
} host_mode;

#if defined(__x86_64__)

static inline host_state host_state_now(void) {
    uint32_t sse;
    uint16_t control, status;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2" : "=m"(sse), "=m"(control), "=m"(status));
    return (host_state){{sse, control, status & 0x7f}};
}
static inline void host_sse(uint32_t clear, uint32_t set) {
    uint32_t sse;
    __asm__ volatile("stmxcsr %0" : "=m"(sse));
    sse = (sse & ~clear) | set;
    __asm__ volatile("ldmxcsr %0" : : "m"(sse));
}
static inline void host_x87(uint16_t clear, uint16_t set) {
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    control = (uint16_t)((control & ~clear) | set);
    __asm__ volatile("fldcw %0" : : "m"(control));
}
static inline void host_flush(void) { host_sse(0, 0x8040); } /* FTZ and DAZ, as crtfastmath.o sets them */
static inline void host_all_unmasked(void) {
    host_sse(0x1fbf, 0);
    host_x87(0x3f, 0);
}
static inline void host_short_x87(void) { host_x87(0x300, 0); }      /* 24 bits of precision */
static inline void host_x87_upward(void) { host_x87(0xc00, 0x800); } /* which decides how strtod and printf round */
static inline void host_everything(void) {
    host_all_unmasked();
    host_sse(0x6000, 0xc040); /* FTZ, DAZ, upwards */
    host_x87(0xf00, 0x800);
}
#define HOST_MORE_MODES \
    {"x87 of 24 bits", host_short_x87}, {"x87 upwards", host_x87_upward}, {"all of it", host_everything},

#elif defined(__aarch64__)

static inline host_state host_state_now(void) {
    uint64_t control, status;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
    return (host_state){{control, status}};
}
static inline void host_flush(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= 1 << 24; /* FZ */
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
static inline void host_all_unmasked(void) { feenableexcept(FE_ALL_EXCEPT); } /* where the machine can */
#define HOST_MORE_MODES

#else

static inline host_state host_state_now(void) {
    return (host_state){{(uint64_t)fegetround(), (uint64_t)fetestexcept(FE_ALL_EXCEPT), (uint64_t)fegetexcept()}};
}
static inline void host_flush(void) {}
static inline void host_all_unmasked(void) { feenableexcept(FE_ALL_EXCEPT); }
#define HOST_MORE_MODES

#endif

static inline void host_upward(void) { fesetround(FE_UPWARD); }
static inline void host_downward(void) { fesetround(FE_DOWNWARD); }
static inline void host_toward_zero(void) { fesetround(FE_TOWARDZERO); }
static inline void host_sticky(void) { feraiseexcept(FE_INEXACT | FE_UNDERFLOW | FE_INVALID); }

static const host_mode host_modes[] = {{"flush to zero", host_flush},
                                       {"upwards", host_upward},
                                       {"downwards", host_downward},
                                       {"toward zero", host_toward_zero},
                                       {"flags set", host_sticky},
                                       {"exceptions unmasked", host_all_unmasked},
                                       HOST_MORE_MODES};
enum { HOST_MODES = sizeof host_modes / sizeof host_modes[0] };

static inline void host_usual(void) { fesetenv(FE_DFL_ENV); }

static inline bool host_same(host_state a, host_state b) { return !memcmp(&a, &b, sizeof a); }

#endif
