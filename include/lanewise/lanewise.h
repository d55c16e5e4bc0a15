/* lanewise.h: run PTX and PTO on the CPU from your own program.
 *
 *     lw_context *ctx;  lw_module *mod;  lw_kernel *k;  uint64_t buf;
 *     lw_context_new(NULL, &ctx);                                  // each of these returns a status, which is looked
 * at lw_module_new(ctx, "k.ptx", text, strlen(text), &mod);      // LW_BAD_SOURCE: lw_module_diagnostics(mod, …)
 *     lw_module_kernel(mod, "k", &k);
 *     lw_memory_new(ctx, 4096, &buf);
 *     lw_launch(k, &(lw_launch_config){.grid = {8,1,1}, .block = {128,1,1}}, (void *[]){&buf}, NULL);
 *     lw_memory_read(ctx, buf, host, 4096);
 *     lw_context_free(ctx);                                        // frees what the context still owns
 *
 * There is no global state. A status says which drawer to open: LW_BAD_SOURCE the module's diagnostics, LW_TRAPPED the
 * trap record, any failure lw_context_message. A failed call leaves the library usable.
 *
 * Each comment says in this order: what the call does; its parameters; what it returns, where that is no status; how it
 * fails, beside LW_BAD_ARGUMENT for a NULL that is not allowed; who owns the result; which threads may call it, where
 * that is not: any, also several at a time on one handle, but none while the handle is being freed. */
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

/* What a call that can fail returns: to be looked at. `if (lw_memory_free(c, a)) {}` says that it does not matter. */
#if defined(__cplusplus) ? __cplusplus >= 201703L : defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define LW_CHECKED [[nodiscard]] LW_API lw_status
#elif defined(__GNUC__)
#define LW_CHECKED LW_API __attribute__((warn_unused_result)) lw_status
#else
#define LW_CHECKED LW_API lw_status
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

#define LW_VERSION "0.1.0" /* of this header */
/* The version of the linked library.
 *
 * returns  a fixed text like LW_VERSION */
LW_API const char *lw_version(void);

/* A status in words.
 *
 * returns  a short fixed text; never NULL */
LW_API const char *lw_status_name(lw_status status);

/* ---- Context: device memory, worker threads, limits ----------------------------------------------------- */

/* Structs that calls take begin with their size, so that a program and a library of different versions understand each
 * other: sizeof of it, or 0, which is as good for all members that are listed here. A library that is older takes
 * members that it does not know where they are 0. */

typedef struct lw_options {
    size_t size;
    uint32_t threads;      /* worker threads; 0: LANEWISE_THREADS, else one per core */
    const char *cpu;       /* "v4", "v3", "neon", "portable"; NULL: LANEWISE_CPU, else the best the machine has */
    uint64_t memory_limit; /* bytes of device memory; 0: 3/4 of the machine's memory */
    uint64_t stack_limit;  /* bytes of local memory per thread, frames of calls included; 0: 512 KiB; 16 MiB at most */
    const char *semantics; /* "manual", "sm_90": whose results, where they differ; NULL: LANEWISE_SEMANTICS, else the
                              manual's */
    const char *engine; /* "interp": starts at once; "jit": compiles each kernel at its first launch, by LLVM, with the
                         * same results; "auto": starts at once, and compiles meanwhile what runs long; NULL:
                         * LANEWISE_ENGINE, else "auto" */
} lw_options;

/* Makes a context.
 *
 * options  NULL: the defaults
 * context  gets the handle, or NULL where the call fails
 * fails    LW_NO_MEMORY; LW_BAD_ARGUMENT: unknown semantics, engine or cpu, a cpu that the machine lacks, threads above
 * 4096, or one of these in the environment; LW_UNSUPPORTED: the engine is not there. lw_context_message(NULL) says why
 * owner    the caller, who ends it with lw_context_free */
LW_CHECKED lw_context_new(const lw_options *options, lw_context **context);

/* Ends a context with its modules, kernels and memory. What is compiled at that moment is waited for; other frees do
 * so for what they free.
 *
 * context  may be NULL
 * threads  no other call on the context or anything in it may run or come later, launches included */
LW_API void lw_context_free(lw_context *context);

/* Why the calling thread's last failed call on a context failed, in one line; of a trap with its place, kernel and
 * thread.
 *
 * context  NULL: why its last lw_context_new that failed did
 * returns  a text, "" if no call failed; never NULL
 * owner    the context, or for NULL the thread; valid until the thread's next failing call on it */
LW_API const char *lw_context_message(lw_context *context);

/* The CPU level in use.
 *
 * returns  "v4", "v3", "neon" or "portable", a fixed text */
LW_API const char *lw_context_cpu(lw_context *context);

/* Whose results are computed where the manual and the hardware differ.
 *
 * returns  "manual" or "sm_90", a fixed text */
LW_API const char *lw_context_semantics(lw_context *context);

/* Who executes kernels.
 *
 * returns  "auto", "interp" or "jit", a fixed text */
LW_API const char *lw_context_engine(lw_context *context);

/* How many threads work on a launch, the launching one included. */
LW_API uint32_t lw_context_threads(lw_context *context);

/* Ends the launches that run now with LW_STOPPED, as soon as each worker looks.
 *
 * threads  any, also from a signal handler */
LW_API void lw_context_stop(lw_context *context);

/* ---- Modules -------------------------------------------------------------------------------------------- */

/* Parses and checks a text and gives its variables memory: PTO where its name ends in .pto or .mlir, else PTX. All of
 * lw_module_load's defaults.
 *
 * name     what diagnostics call the text
 * text     size bytes, which may be released after the call; no NUL is needed at the end
 * module   gets the handle: with LW_BAD_SOURCE too, to hold the diagnostics; NULL with any other failure
 * fails    LW_BAD_SOURCE, LW_NO_MEMORY
 * owner    the caller, who ends it with lw_module_free, or the context with itself */
LW_CHECKED lw_module_new(lw_context *context, const char *name, const char *text, size_t size, lw_module **module);

typedef struct lw_module_options {
    size_t size;          /* as in lw_options */
    const char *language; /* "ptx" or "pto"; NULL: "pto" where the name of the text ends in .pto or .mlir, else "ptx" */
    /* The others are of PTO only. */
    const char *target;   /* the profile that the text is checked for: "cpu", "a2a3" or "a5"; NULL: "cpu" */
    const char *inactive; /* lanes of an SSA result that its mask leaves out: "zero" or "undef-poison", bytes of 0xa5;
                             NULL: "zero" */
    const char *shift_overflow; /* a shift count of the width or more: "saturate", "modulo" or "trap" (LW5011); NULL:
                                   "saturate". Launches note the first two */
    bool count_regions; /* launches note how often each region between braces ran, at its closing brace (LW5107) */
} lw_module_options;

/* The same as lw_module_new, with a choice of what the text leaves open. A PTO function is a kernel; lw_launch_shape
 * says how to launch it.
 *
 * options  NULL: the defaults
 * name     what diagnostics call the text
 * text     size bytes, which may be released after the call; no NUL is needed at the end
 * module   gets the handle: with LW_BAD_SOURCE too, to hold the diagnostics; NULL with any other failure
 * fails    LW_BAD_SOURCE, LW_NO_MEMORY; LW_BAD_ARGUMENT: an option has a value that is none
 * owner    the caller, who ends it with lw_module_free, or the context with itself */
LW_CHECKED lw_module_load(lw_context *context, const lw_module_options *options, const char *name, const char *text,
                          size_t size, lw_module **module);

typedef struct lw_module_text { /* one of several texts that become one module */
    const char *name;           /* what diagnostics call it; NULL: "<text 1>" for the first, and so on */
    const char *text;           /* size bytes; no NUL is needed at the end */
    size_t size;
} lw_module_text;

/* Parses and checks several texts of PTX, which become one module: functions and variables that one declares .extern
 * are those that another defines with .visible, .weak or .common. Each text keeps its own version and target, and its
 * own names without linkage. Kernels and variables of all are found in the module.
 *
 * options  NULL: the defaults
 * texts    count of them, 1 to 4096, which may be released after the call. Where several define a name as .weak, the
 *          first counts
 * module   gets the handle: with LW_BAD_SOURCE too, to hold the diagnostics; NULL with any other failure
 * fails    LW_BAD_SOURCE: a text has errors, or they do not fit together; LW_NO_MEMORY; LW_BAD_ARGUMENT: an option has
 *          a value that is none, or one of several texts is PTO
 * owner    the caller, who ends it with lw_module_free, or the context with itself */
LW_CHECKED lw_module_link(lw_context *context, const lw_module_options *options, const lw_module_text *texts,
                          size_t count, lw_module **module);

/* Ends a module with its kernels and variables.
 *
 * module   may be NULL
 * threads  none of its kernels may run, and no other call may use the module */
LW_API void lw_module_free(lw_module *module);

typedef struct lw_diagnostic {
    uint32_t number;             /* 2107 for LW2107 */
    int severity;                /* 0 note, 1 warning, 2 error */
    uint32_t line, column, size; /* from 1; size in bytes */
    const char *message;         /* one line, no place */
    const char *fix;             /* what would be right, or NULL */
} lw_diagnostic;

/* How many diagnostics a module has. */
LW_API size_t lw_module_diagnostic_count(const lw_module *module);

/* One diagnostic. They are in source order, those of lw_module_kernel behind the others.
 *
 * index    from 0
 * returns  the diagnostic; beyond the last one its message is ""
 * owner    the module, of the texts */
LW_API lw_diagnostic lw_module_diagnostic(const lw_module *module, size_t index);

/* The name of the text that a diagnostic is about: one of those that the module was made of.
 *
 * index    from 0
 * returns  beyond the last one ""
 * owner    the module */
LW_API const char *lw_module_diagnostic_file(const lw_module *module, size_t index);

/* All diagnostics with source line and caret, as the command line prints them.
 *
 * colour   with escape sequences for a terminal
 * returns  a text, "" if there are none; never NULL
 * owner    the module */
LW_API const char *lw_module_diagnostics(lw_module *module, bool colour);

/* A kernel of a module. Its program is made when it is first asked for.
 *
 * name     NULL: the only kernel of the module; of a PTO function with or without its @
 * kernel   gets the handle
 * fails    LW_NOT_FOUND; LW_BAD_SOURCE: it uses what is not executable, the diagnostics tell; LW_NO_MEMORY
 * owner    the module */
LW_CHECKED lw_module_kernel(lw_module *module, const char *name, lw_kernel **kernel);

/* How many kernels a module has. */
LW_API size_t lw_module_kernel_count(const lw_module *module);

/* The name of a kernel, in source order.
 *
 * index    from 0
 * returns  NULL beyond the last
 * owner    the module */
LW_API const char *lw_module_kernel_name(const lw_module *module, size_t index);

/* Where a module-scope .global or .const variable is.
 *
 * address  gets its device address; may be NULL
 * size     gets its bytes; may be NULL
 * fails    LW_NOT_FOUND */
LW_CHECKED lw_module_global(lw_module *module, const char *name, uint64_t *address, uint64_t *size);

typedef struct lw_param_info {
    const char *name, *type;      /* "u64"; element type for arrays */
    uint32_t size, align, offset; /* bytes, in the parameter buffer */
    bool is_pointer;              /* written with .ptr; of PTO: takes the address of an array */
    /* Of PTO functions. Behind the arguments come the results, as addresses of arrays, and where has_arrays is set the
     * number of elements. */
    const char
        *element; /* type of the array's elements, "s32"; of a mask "u8", one byte a lane, 0 or not. NULL: no array */
    uint64_t elements; /* of a register or mask its lanes: one launch takes as many arrays' elements as it is told, in
                        * pieces of this size; of a memref its length, 0 too for any; of a scalar result 1 */
    bool any_length;   /* memref<?xT>: an array of whatever length */
    bool is_register, is_mask, is_result; /* is_register: masks, too */
} lw_param_info;
typedef struct lw_kernel_info {
    const char *name;
    uint32_t param_count, param_bytes;
    uint32_t max_threads;       /* of a CTA, from .maxntid/.reqntid; else 1024, of PTO 4096 */
    uint32_t required_block[3]; /* .reqntid, or 0 */
    uint64_t shared_bytes;      /* static */
    uint64_t local_bytes;       /* per thread, without calls */
    uint32_t instruction_count, register_count;
    uint32_t lanes;  /* of the widest register of a PTO function; 0: a PTX kernel */
    bool has_arrays; /* a PTO function with registers or masks as arguments or results: the last parameter is a u64, the
                        number of elements */
} lw_kernel_info;
/* What a launch of a kernel must know.
 *
 * owner    the module, of the texts */
LW_API lw_kernel_info lw_kernel_get_info(const lw_kernel *kernel);

/* What a kernel says about clusters of CTAs. */
typedef struct lw_cluster_info {
    uint32_t required[3]; /* .reqnctapercluster, or 0 */
    uint32_t most;        /* CTAs of one, from .maxclusterrank; else 16 */
    bool must_be_given;   /* .explicitcluster: a launch must say their shape where `required` does not */
    bool grid_counts;     /* .blocksareclusters: the grid of a launch counts clusters */
} lw_cluster_info;
LW_API lw_cluster_info lw_kernel_get_clusters(const lw_kernel *kernel);

/* A parameter of a kernel, in order.
 *
 * index    from 0
 * returns  all empty beyond the last
 * owner    the module, of the texts */
LW_API lw_param_info lw_kernel_param(const lw_kernel *kernel, uint32_t index);

/* ---- Device memory -------------------------------------------------------------------------------------- */

/* Allocates device memory, zeroed, aligned to 256 bytes.
 *
 * size     bytes, at least 1
 * address  gets the device address
 * fails    LW_BAD_ARGUMENT: 0 bytes; LW_NO_MEMORY
 * owner    the context, until lw_memory_free */
LW_CHECKED lw_memory_new(lw_context *context, uint64_t size, uint64_t *address);

/* Frees what lw_memory_new gave.
 *
 * fails    LW_BAD_ARGUMENT: no allocation begins there, or a module's variable does; LW_NO_MEMORY: it stays
 *          allocated */
LW_CHECKED lw_memory_free(lw_context *context, uint64_t address);

/* Copies to device memory, from it, within it (the stretches may overlap).
 *
 * size     bytes; 0 is fine
 * fails    LW_BAD_ARGUMENT: a stretch of device memory is not inside of one allocation
 * threads  any; what a launch or another call does to the same bytes meanwhile happens before, after or in between */
LW_CHECKED lw_memory_write(lw_context *context, uint64_t address, const void *from, uint64_t size);
LW_CHECKED lw_memory_read(lw_context *context, uint64_t address, void *to, uint64_t size);
LW_CHECKED lw_memory_copy(lw_context *context, uint64_t to, uint64_t from, uint64_t size);

/* Sets elements of device memory.
 *
 * value    of each element, its low bytes
 * width    bytes of an element: 1, 2, 4 or 8
 * count    elements; 0 is fine
 * fails    LW_BAD_ARGUMENT: another width, or they are not inside of one allocation */
LW_CHECKED lw_memory_fill(lw_context *context, uint64_t address, uint64_t value, uint32_t width, uint64_t count);

/* The allocation that holds an address.
 *
 * base     gets its first address; may be NULL
 * size     gets its bytes; may be NULL
 * fails    LW_NOT_FOUND */
LW_CHECKED lw_memory_range(lw_context *context, uint64_t address, uint64_t *base, uint64_t *size);

/* ---- Launches ------------------------------------------------------------------------------------------- */

typedef struct lw_progress {  /* a snapshot while a launch runs */
    uint64_t ctas_done, ctas; /* done: ended, or taken over by others (clusterlaunchcontrol.try_cancel) */
    uint64_t lane_instructions;
    double seconds;
} lw_progress;

typedef struct lw_launch_config {
    size_t size; /* as in lw_options */
    uint32_t grid[3],
        block[3]; /* CTAs; threads of a CTA: 1 to 1024 in all, block[2] to 64; for PTO lw_launch_shape gives both */
    uint32_t shared_bytes; /* dynamic shared memory */
    bool cooperative;      /* all CTAs must be resident together */
    bool strict; /* stop with a trap (LW5010) at what is noted as undefined otherwise: LW5101 to LW5104, LW5108, LW5110,
                  * LW5120
                  */
    double time_limit; /* seconds; 0: none */
    uint64_t
        step_limit; /* warp instructions of the whole launch; 0: none. Looked at now and then, so a few more may run */
    void (*progress)(void *user,
                     const lw_progress *now); /* or NULL; called by the launching thread about ten times a second */
    void *user;
    /* Where params is NULL: the parameter buffer as the driver API's CU_LAUNCH_PARAM_BUFFER_POINTER takes it. */
    const void *param_buffer;
    size_t param_buffer_size;
    /* What a kernel prints by CUDA's printf comes when the launch has ended, however it did, in order of its CTAs. */
    void (*print)(void *user, const char *text, size_t size); /* gets it piece by piece, no NUL behind it; called by the
                                                                 launching thread. NULL: standard output */
    uint64_t print_limit; /* bytes of it that are kept; 0: 64 MiB. What is lost is noted (LW5109) */
    uint64_t heap_bytes; /* of the context's heap for malloc in kernels, which its first launch of a kernel that has one
                            makes; 0: 8 MiB */
    uint32_t cluster[3]; /* CTAs of a cluster, 16 in all at most; the grid is a multiple of it. All 0: what the kernel
                            asks for, else none */
} lw_launch_config;

typedef struct lw_launch_stats {
    uint64_t warp_instructions; /* PTX instructions issued, counted per warp */
    uint64_t lane_instructions; /* the same counted per active lane */
    uint64_t ctas, threads;     /* that have ended; CTAs whose work others took over never do */
    double seconds;
} lw_launch_stats;

/* How to launch a PTO function: a CTA, or a part of one, for each register of its arrays. Where the function stores to
 * memrefs, one thread runs them in order; else all do.
 *
 * elements  of the arrays that registers as wide as the widest come from, which the last parameter gets, too; without
 *           such arrays 1
 * config    gets grid and block; the rest stays
 * fails     LW_BAD_ARGUMENT: a PTX kernel; 0 or 2^32 elements or more */
LW_CHECKED lw_launch_shape(lw_kernel *kernel, uint64_t elements, lw_launch_config *config);

/* Runs a kernel to its end.
 *
 * config   shape and limits
 * params   params[i] points to the value of parameter i; NULL: config->param_buffer has them all, or there are none
 * stats    gets what was executed, also by a launch that trapped or was stopped; may be NULL
 * fails    LW_BAD_ARGUMENT: shape, parameters; LW_TRAPPED: lw_trap tells; LW_STOPPED: a limit, lw_context_stop;
 *          LW_NO_MEMORY; LW_UNSUPPORTED: the engine "jit" cannot compile it
 * threads  any; launches of one context at a time share its workers. The caller's floating-point modes and flags change
 *          no result and are as before after the call; progress and print are called in them */
LW_CHECKED lw_launch(lw_kernel *kernel, const lw_launch_config *config, void *const *params, lw_launch_stats *stats);

/* Who ran the CTAs of a launch. */
typedef struct lw_launch_engines {
    uint64_t interp_ctas, jit_ctas; /* that have ended, by the interpreter and by compiled code */
    const char *why; /* why CTAs that began when the launch ended would not have been compiled, or not all of the
                        program's functions, in one line, a fixed text; "": they would, or it is the interpreter */
} lw_launch_engines;

/* Who ran the CTAs of the calling thread's last launch of a context, however it ended.
 *
 * returns  all 0 and "" where there was none */
LW_API lw_launch_engines lw_launch_engine(lw_context *context);

/* Whether compiled code that CTAs which begin now would run, as far as they would, came from the cache on disk.
 *
 * context  as above: of the calling thread's last launch */
LW_API bool lw_launch_cached(lw_context *context);

/* What a launch counted at one instruction. Kinds are told apart by number:
 *   5100   the manual and sm_90 give different results (vshl, vshr; 16-bit shl, shr by an immediate amount above 65535)
 *   5101   a shuffle reads a lane that does not execute it
 *   5102   the membermask does not name the executing lane
 *   5103   the membermask names lanes that never arrive
 *   5104   a shuffle without .sync where lanes of the warp have parted
 *   5108   a barrier that threads wait at is given another count of threads
 *   5110   threads come to the barrier of a cluster twice before they wait, or wait without having come
 *   5120   a copy is told more bytes of its source than it copies
 *   5109   what printf printed was lost: print_limit
 *   5105   PTO: a shift count of the width or more, saturated
 *   5106   PTO: a shift count of the width or more, taken modulo the width */
typedef struct lw_launch_note {
    uint32_t number;       /* 5100 for LW5100 */
    const char *message;   /* one line, a fixed text */
    uint32_t line, column; /* of the instruction, from 1 */
    uint64_t count;        /* executions, one for each lane; never 0 */
} lw_launch_note;

/* The notes of the calling thread's last launch of a context, however it ended, in source order.
 *
 * notes    gets the first, NULL where there are none; may be NULL
 * returns  their number
 * owner    the context; valid until the thread's next launch */
LW_API size_t lw_launch_notes(lw_context *context, const lw_launch_note **notes);

/* The name of the text that a note is about: one of those that the kernel's module was made of.
 *
 * index    of the note, from 0
 * returns  beyond the last one ""
 * owner    the context; valid until the thread's next launch */
LW_API const char *lw_launch_note_file(lw_context *context, size_t index);

/* A line that a compiler made an instruction of, as .loc has it (nvcc -lineinfo). */
typedef struct lw_origin {
    const char *file;
    uint32_t line, column; /* column: 0 where it is not said */
    const char *function;  /* the name of the function that the line is of, where that was inlined, or NULL */
} lw_origin;

/* The line that the instruction of a note comes from, then the one where the function of that line was inlined, and so
 * on.
 *
 * index    of the note, from 0
 * origins  gets the first, NULL where there are none; may be NULL
 * returns  their number; 0 where the text does not say, and beyond the last note
 * owner    the context, of the texts too; valid until the thread's next launch */
LW_API size_t lw_launch_note_origins(lw_context *context, size_t index, const lw_origin **origins);

typedef struct lw_trap_info {
    uint32_t number;           /* 5000 for LW5000 */
    const char *message;       /* the fault in one line: what, address, size, space */
    const char *kernel, *file; /* names */
    uint32_t line, column;     /* of the instruction */
    uint32_t cta[3], thread[3];
    uint32_t warp, lane; /* within the CTA, within the warp */
    uint64_t address;    /* 0 where it has none */
    const char *report;  /* several lines with the source line and caret, as the command line prints them */
} lw_trap_info;

/* The trap that ended the calling thread's last trapped launch of a context.
 *
 * trap     gets the record; may be NULL
 * returns  false where there was none
 * owner    the context, of the texts; valid until the thread's next launch */
LW_API bool lw_trap(lw_context *context, lw_trap_info *trap);

/* The lines that the instruction of that trap comes from, as lw_launch_note_origins has them. Its report names them,
 * too.
 *
 * origins  gets the first, NULL where there are none; may be NULL
 * returns  their number; 0 where the text does not say
 * owner    the context, of the texts too; valid until the thread's next launch */
LW_API size_t lw_trap_origins(lw_context *context, const lw_origin **origins);

/* Where the warps of the calling thread's last launch of a context stood when a limit or lw_context_stop ended it: the
 * three places with most warps, with the lines that these come from.
 *
 * returns  a line of text for each place, "" where it was not stopped, or before any warp began; never NULL
 * owner    the context; valid until the thread's next launch */
LW_API const char *lw_stopped_at(lw_context *context);

/* ---- Tables --------------------------------------------------------------------------------------------- */

/* What the number of a diagnostic means.
 *
 * number   2107 for LW2107
 * title    gets what its message is made from: a pattern as printf takes it, for reading and not for printf; may be
 *          NULL
 * returns  a fixed text, or NULL where there is no such number */
LW_API const char *lw_explain_diagnostic(uint32_t number, const char **title);

/* The CPU levels built into this library.
 *
 * returns  fixed texts, the best level first, NULL at the end */
LW_API const char *const *lw_cpu_levels(void);

/* Whether the machine has a CPU level.
 *
 * level    one of lw_cpu_levels
 * returns  false for any other, too */
LW_API bool lw_cpu_has(const char *level);

#ifdef __cplusplus
}
#endif
#endif
