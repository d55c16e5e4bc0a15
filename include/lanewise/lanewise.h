/* lanewise.h: run PTX on the CPU from your own program.
 *
 *     lw_context *ctx;  lw_module *mod;  lw_kernel *k;  uint64_t buf;
 *     lw_context_new(NULL, &ctx);
 *     lw_module_new(ctx, "k.ptx", text, strlen(text), &mod);      // LW_BAD_SOURCE: lw_module_diagnostics(mod, …)
 *     lw_module_kernel(mod, "k", &k);
 *     lw_memory_new(ctx, 4096, &buf);
 *     lw_launch(k, &(lw_launch_config){.grid = {8,1,1}, .block = {128,1,1}}, (void *[]){&buf}, NULL);
 *     lw_memory_read(ctx, buf, host, 4096);
 *     lw_context_free(ctx);                                        // frees what the context still owns
 *
 * There is no global state. Handles may be used from any thread; calls on one context may run at the same time, except that
 * nothing else may use a handle while it is being freed. A status says which drawer to open: LW_BAD_SOURCE the module's
 * diagnostics, LW_TRAPPED the trap record, any other failure lw_context_message. A failed call leaves the library usable. */
#ifndef LANEWISE_H
#define LANEWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(LW_STATIC)
#define LW_API __attribute__((visibility("default")))
#else
#define LW_API
#endif

typedef struct lw_context lw_context;
typedef struct lw_module lw_module;
typedef struct lw_kernel lw_kernel; /* owned by its module; no _free */

typedef enum lw_status {
    LW_OK = 0,
    LW_BAD_SOURCE,   /* the text has errors: lw_module_diagnostics */
    LW_TRAPPED,      /* the kernel faulted: lw_trap */
    LW_STOPPED,      /* time or step limit, or lw_context_stop */
    LW_BAD_ARGUMENT, /* what was asked for makes no sense: lw_context_message */
    LW_NOT_FOUND,
    LW_NO_MEMORY,
    LW_UNSUPPORTED,
} lw_status;

/* The version of this header and of the linked library, "0.1.0". */
#define LW_VERSION "0.1.0"
LW_API const char *lw_version(void);
/* A short fixed text for a status; never NULL. */
LW_API const char *lw_status_name(lw_status status);

/* ---- Context: device memory, worker threads, limits ----------------------------------------------------- */

typedef struct lw_options {
    uint32_t threads;        /* worker threads; 0: LANEWISE_THREADS, else one per core */
    const char *cpu;         /* "v4", "v3", "v2", "portable"; NULL: LANEWISE_CPU, else the best the machine has */
    uint64_t memory_limit;   /* bytes of device memory; 0: 3/4 of the machine's memory */
    uint64_t stack_limit;    /* bytes of local memory per thread, frames of calls included; 0: 512 KiB; 16 MiB at most */
} lw_options;

/* options may be NULL. Fails: LW_NO_MEMORY, LW_BAD_ARGUMENT (unknown cpu, or one the machine lacks; *context is NULL then).
 * Owner: the caller, who ends it with lw_context_free. */
LW_API lw_status lw_context_new(const lw_options *options, lw_context **context);
/* Ends the context with its modules, kernels and memory; no launch may run. NULL is fine. */
LW_API void lw_context_free(lw_context *context);
/* Why the last failed call of this thread on this context failed; "" if none. Valid until the thread's next failing call. */
LW_API const char *lw_context_message(lw_context *context);
LW_API const char *lw_context_cpu(lw_context *context); /* the CPU level in use: "v4" …; a fixed text */
LW_API uint32_t lw_context_threads(lw_context *context); /* that work on a launch, the launching one included */
/* Ends running launches with LW_STOPPED as soon as each worker looks; from any thread or a signal handler. */
LW_API void lw_context_stop(lw_context *context);

/* ---- Modules -------------------------------------------------------------------------------------------- */

/* Parses and checks `size` bytes of PTX and gives its variables memory. `name` is what diagnostics call the text.
 * Fails: LW_BAD_SOURCE (*module then holds the diagnostics and must still be freed), LW_NO_MEMORY (*module is NULL).
 * The text may be released after the call. */
LW_API lw_status lw_module_new(lw_context *context, const char *name, const char *text, size_t size, lw_module **module);
/* Ends the module with its kernels and variables; none of its kernels may run. NULL is fine. */
LW_API void lw_module_free(lw_module *module);

typedef struct lw_diagnostic {
    uint32_t number;      /* 2107 for LW2107 */
    int severity;         /* 0 note, 1 warning, 2 error */
    uint32_t line, column, size; /* from 1; size in bytes */
    const char *message;  /* one line, no place */
    const char *fix;      /* what would be right, or NULL */
} lw_diagnostic;

LW_API size_t lw_module_diagnostic_count(const lw_module *module);
/* In source order, those of lw_module_kernel behind them. Its texts are valid as long as the module; beyond the last one the
 * message is "". */
LW_API lw_diagnostic lw_module_diagnostic(const lw_module *module, size_t index);
/* All diagnostics with source line and caret, as the command line prints them; never NULL, valid as long as the module. */
LW_API const char *lw_module_diagnostics(lw_module *module, bool colour);

/* name NULL: the only kernel of the module. Makes its program on first use. Owner: the module.
 * Fails: LW_NOT_FOUND; LW_NO_MEMORY; LW_BAD_SOURCE where the kernel uses an instruction that is not executable (diagnostics
 * tell). */
LW_API lw_status lw_module_kernel(lw_module *module, const char *name, lw_kernel **kernel);
LW_API size_t lw_module_kernel_count(const lw_module *module);
LW_API const char *lw_module_kernel_name(const lw_module *module, size_t index); /* NULL beyond the last */
/* Address and size of a module-scope .global or .const variable. Fails: LW_NOT_FOUND. */
LW_API lw_status lw_module_global(lw_module *module, const char *name, uint64_t *address, uint64_t *size);

typedef struct lw_param_info {
    const char *name, *type; /* "u64"; element type for arrays */
    uint32_t size, align, offset; /* bytes, in the parameter buffer */
    bool is_pointer;         /* written with .ptr */
} lw_param_info;
typedef struct lw_kernel_info {
    const char *name;
    uint32_t param_count, param_bytes;
    uint32_t max_threads;      /* of a CTA, from .maxntid/.reqntid; 1024 otherwise */
    uint32_t required_block[3]; /* .reqntid, or 0 */
    uint64_t shared_bytes;     /* static */
    uint64_t local_bytes;      /* per thread, without calls */
    uint32_t instruction_count, register_count;
} lw_kernel_info;
/* Texts are valid as long as the module; beyond the last parameter all is empty. */
LW_API lw_kernel_info lw_kernel_get_info(const lw_kernel *kernel);
LW_API lw_param_info lw_kernel_param(const lw_kernel *kernel, uint32_t index);

/* ---- Device memory -------------------------------------------------------------------------------------- */

/* size bytes, zeroed, aligned to 256. Fails: LW_BAD_ARGUMENT (0 bytes), LW_NO_MEMORY. Owner: the context, until
 * lw_memory_free. */
LW_API lw_status lw_memory_new(lw_context *context, uint64_t size, uint64_t *address);
/* Fails: LW_BAD_ARGUMENT where no allocation begins there, or a module's variable does; LW_NO_MEMORY: it stays allocated. */
LW_API lw_status lw_memory_free(lw_context *context, uint64_t address);
/* Fail with LW_BAD_ARGUMENT where the range is not inside one allocation. */
LW_API lw_status lw_memory_write(lw_context *context, uint64_t address, const void *from, uint64_t size);
LW_API lw_status lw_memory_read(lw_context *context, uint64_t address, void *to, uint64_t size);
LW_API lw_status lw_memory_copy(lw_context *context, uint64_t to, uint64_t from, uint64_t size);
/* `count` elements of `width` bytes (1, 2, 4, 8) each set to `value`. */
LW_API lw_status lw_memory_fill(lw_context *context, uint64_t address, uint64_t value, uint32_t width, uint64_t count);
/* The allocation that holds an address. Fails: LW_NOT_FOUND. */
LW_API lw_status lw_memory_range(lw_context *context, uint64_t address, uint64_t *base, uint64_t *size);

/* ---- Launches ------------------------------------------------------------------------------------------- */

typedef struct lw_progress { /* a snapshot while a launch runs */
    uint64_t ctas_done, ctas;
    uint64_t lane_instructions;
    double seconds;
} lw_progress;

typedef struct lw_launch_config {
    uint32_t grid[3], block[3]; /* CTAs; threads of a CTA: 1 to 1024 in all, block[2] to 64 */
    uint32_t shared_bytes;      /* dynamic shared memory */
    bool cooperative;           /* all CTAs must be resident together */
    double time_limit;          /* seconds; 0: none */
    uint64_t step_limit;        /* warp instructions of the whole launch; 0: none. Checked at backward branches and calls */
    void (*progress)(void *user, const lw_progress *now); /* or NULL; called by the launching thread about ten times a second */
    void *user;
    /* Where params is NULL: the parameter buffer as the driver API's CU_LAUNCH_PARAM_BUFFER_POINTER takes it. */
    const void *param_buffer;
    size_t param_buffer_size;
} lw_launch_config;

typedef struct lw_launch_stats {
    uint64_t warp_instructions; /* PTX instructions issued, counted per warp */
    uint64_t lane_instructions; /* the same counted per active lane */
    uint64_t ctas, threads;
    double seconds;
} lw_launch_stats;

/* Runs a kernel to its end. params[i] points to the i-th parameter's value. stats may be NULL.
 * Fails: LW_BAD_ARGUMENT (shape, parameters), LW_TRAPPED (lw_trap tells), LW_STOPPED, LW_NO_MEMORY. */
LW_API lw_status lw_launch(lw_kernel *kernel, const lw_launch_config *config, void *const *params, lw_launch_stats *stats);

typedef struct lw_trap_info {
    uint32_t number;       /* 5000 for LW5000 */
    const char *message;   /* the fault in one line: what, address, size, space */
    const char *kernel, *file; /* names */
    uint32_t line, column; /* of the instruction */
    uint32_t cta[3], thread[3];
    uint32_t warp, lane;   /* within the CTA, within the warp */
    uint64_t address;      /* 0 where it has none */
    const char *report;    /* several lines with the source line and caret, as the command line prints them */
} lw_trap_info;

/* The trap that ended this thread's last trapped launch of the context. False where there was none. Valid until that thread's
 * next launch. */
LW_API bool lw_trap(lw_context *context, lw_trap_info *trap);

/* ---- Tables --------------------------------------------------------------------------------------------- */

/* What a diagnostic number means, or NULL. *title, unless title is NULL, is what its message is made from: a pattern as printf takes it,
 * for reading and not for printf. The CPU levels built into this library, best first, NULL at the end; whether the machine
 * has one. */
LW_API const char *lw_explain_diagnostic(uint32_t number, const char **title);
LW_API const char *const *lw_cpu_levels(void);
LW_API bool lw_cpu_has(const char *level);

#ifdef __cplusplus
}
#endif
#endif
