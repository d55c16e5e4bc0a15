/* float_mode.h: the floating-point environment that everything is computed in, whatever the calling thread's own is.
 *
 * A library linked with -ffast-math sets a process to flush subnormals to zero; a program may round upwards or unmask exceptions. None of it may
 * change a result, and nothing that is computed here may show in the caller's flags:
 *
 *     LW_OWN_FLOAT_MODE(callers);        // at the begin of a call; its end gives the caller's mode back
 *     lw_float_leave(&callers);  callback();  lw_float_enter(&callers);
 *
 * Both directions cost a few loads where the caller has the usual mode. */
#ifndef LW_FLOAT_MODE_H
#define LW_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__)

typedef struct lw_float_mode {
    uint32_t sse;              /* MXCSR: mode and flags */
    uint16_t control, status;  /* of the x87 unit, which decides how strtod and printf round */
} lw_float_mode;

enum {
    LW_SSE_USUAL = 0x1f80, /* all exceptions masked, no flag, round to nearest, subnormals kept */
    LW_X87_USUAL = 0x037f, /* the same, with 64 bits of precision */
    LW_X87_FLAGS = 0x7f,
};

typedef struct lw_x87 { /* what fnstenv stores */
    uint16_t control, unused_1, status, unused_2, tags, unused_3;
    uint32_t rest[4];
} lw_x87;

static inline uint32_t lw_sse_read(void) {
    uint32_t sse;
    __asm__ volatile("stmxcsr %0" : "=m"(sse) : : "memory");
    return sse;
}
static inline void lw_sse_write(uint32_t sse) { __asm__ volatile("ldmxcsr %0" : : "m"(sse) : "memory"); }

static inline void lw_x87_read(uint16_t *control, uint16_t *status) {
    __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(*control), "=m"(*status) : : "memory");
}
/* fnstenv masks all exceptions before anything could raise one that is pending. */
static inline void lw_x87_write(uint16_t control, uint16_t status) {
    lw_x87 x87;
    __asm__ volatile("fnstenv %0" : "=m"(x87) : : "memory");
    x87.control = control;
    x87.status = (uint16_t)((x87.status & ~LW_X87_FLAGS) | (status & LW_X87_FLAGS));
    __asm__ volatile("fldenv %0" : : "m"(x87) : "memory");
}

static inline void lw_float_enter(lw_float_mode *callers) {
    callers->sse = lw_sse_read();
    lw_x87_read(&callers->control, &callers->status);
    if (callers->sse != LW_SSE_USUAL) lw_sse_write(LW_SSE_USUAL);
    if (callers->control != LW_X87_USUAL) lw_x87_write(LW_X87_USUAL, 0);
}

static inline void lw_float_leave(const lw_float_mode *callers) {
    uint16_t control, status;
    lw_x87_read(&control, &status);
    if (control != callers->control || (status ^ callers->status) & LW_X87_FLAGS) lw_x87_write(callers->control, callers->status);
    if (lw_sse_read() != callers->sse) lw_sse_write(callers->sse);
}

#elif defined(__aarch64__)

typedef struct lw_float_mode {
    uint64_t control, status; /* FPCR, FPSR */
} lw_float_mode;

static inline void lw_fpcr_write(uint64_t control) { __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory"); }

static inline void lw_float_enter(lw_float_mode *callers) {
    __asm__ volatile("mrs %0, fpcr" : "=r"(callers->control) : : "memory");
    __asm__ volatile("mrs %0, fpsr" : "=r"(callers->status) : : "memory");
    if (callers->control) lw_fpcr_write(0); /* all bits off: to nearest, subnormals kept, nothing trapped */
}

static inline void lw_float_leave(const lw_float_mode *callers) {
    __asm__ volatile("msr fpsr, %0" : : "r"(callers->status) : "memory");
    if (callers->control) lw_fpcr_write(callers->control);
}

#else

#include <fenv.h>
typedef fenv_t lw_float_mode;
static inline void lw_float_enter(lw_float_mode *callers) {
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}
static inline void lw_float_leave(const lw_float_mode *callers) { fesetenv(callers); }

#endif

/* From here to the end of the block. */
#define LW_OWN_FLOAT_MODE(callers) \
    __attribute__((cleanup(lw_float_leave))) lw_float_mode callers; \
    lw_float_enter(&callers)

#endif
