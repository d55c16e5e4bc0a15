/* float_mode.h: the floating-point environment that everything is computed in, whatever the calling thread's own is.
 *
 * A library linked with -ffast-math sets a process to flush subnormals to zero; a program may round upwards or unmask
 * exceptions. None of it may change a result, and nothing that is computed here may show in the caller's flags:
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
    uint32_t sse;             /* MXCSR: mode and flags */
    uint16_t control, status; /* of the x87 unit, which decides how strtod and printf round; `status` where `control` is
                                 not the usual one */
} lw_float_mode;

enum {
    LW_SSE_USUAL = 0x1f80, /* all exceptions masked, round to nearest, subnormals kept */
    LW_SSE_FLAGS = 0x3f,
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

static inline uint16_t lw_x87_control(void) {
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control) : : "memory");
    return control;
}
static inline uint16_t lw_x87_status(void) {
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=m"(status) : : "memory");
    return status;
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
    if ((callers->sse & ~(uint32_t)LW_SSE_FLAGS) != LW_SSE_USUAL) lw_sse_write(LW_SSE_USUAL);
    callers->control = lw_x87_control();
    callers->status = 0;
    if (callers->control == LW_X87_USUAL) return;
    callers->status = lw_x87_status();
    lw_x87_write(LW_X87_USUAL, 0);
}

static inline void lw_float_leave(const lw_float_mode *callers) {
    if (callers->control != LW_X87_USUAL) lw_x87_write(callers->control, callers->status);
    if (lw_sse_read() != callers->sse) lw_sse_write(callers->sse);
}

/* Nothing of ours computes in the x87 unit. Around what may: */
typedef uint16_t lw_x87_flags;
static inline void lw_x87_flags_enter(lw_x87_flags *before) { *before = lw_x87_status(); }
static inline void lw_x87_flags_leave(const lw_x87_flags *before) {
    if ((lw_x87_status() ^ *before) & LW_X87_FLAGS) lw_x87_write(lw_x87_control(), *before);
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

typedef char lw_x87_flags;
static inline void lw_x87_flags_enter(lw_x87_flags *before) { *before = 0; }
static inline void lw_x87_flags_leave(const lw_x87_flags *before) { (void)before; }

#else

#include <fenv.h>
typedef char lw_x87_flags;
static inline void lw_x87_flags_enter(lw_x87_flags *before) { *before = 0; }
static inline void lw_x87_flags_leave(const lw_x87_flags *before) { (void)before; }
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

/* The same for the flags of the x87 unit alone, around libraries of others. */
#define LW_KEEP_X87_FLAGS(before) \
    __attribute__((cleanup(lw_x87_flags_leave))) lw_x87_flags before; \
    lw_x87_flags_enter(&before)

#endif
