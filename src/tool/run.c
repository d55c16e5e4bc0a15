/* run.c: lanewise run: one launch of one kernel, its arguments from the command line, its buffers to files or to the
 * terminal.
 *
 * options → arguments → module and kernel → buffers → launch → outputs */
#include <signal.h>
#include <stdlib.h>

#include "run/run.h"
#include "tool/language.h"
#include "tool/stats.h"

typedef struct options {
    const char *file, *kernel; /* the first of … */
    char **files;              /* … those that are linked */
    uint32_t file_count;
    lw_launch_config launch;
    bool has_block;
    bool has_grid;
    lw_options context;
    const lw_tool_language *language;
    lw_module_options module;
    uint64_t seed;
    enum { STATS_NONE, STATS_TEXT, STATS_JSON } stats;
    const char *cost; /* of PTO: the profile whose figures are asked for, or NULL */
    bool quiet;
    char **args; /* the spellings of the arguments; as many as argv has room for */
    uint32_t arg_count;
    char **results; /* … of --result */
    uint32_t result_count;
} options;

/* What a run owns; run_free gives all of it back. */
typedef struct run {
    const options *o;
    lw_arena arena;
    lw_arg *args;
    lw_context *context;
    lw_module *module;
    lw_source_text *texts; /* of the module, kept where they are looked at again */
    lw_kernel *kernel;
    double compiling;     /* seconds that it took to make it: they count for --timeout */
    uint32_t param_count; /* of args: with those that the tool adds */
    bool is_vector;       /* a function of PTO: its arrays say how often it runs */
    uint64_t elements;    /* of PTO */
    lw_text signature;
    lw_launch_stats stats;
    bool late; /* --timeout was over when the launch ended */
    lw_bar bar;
} run;

/* ---- Options ------------------------------------------------------------------------------------------ */

enum {
    KEY_SMEM = 256,
    KEY_COOPERATIVE,
    KEY_CLUSTER,
    KEY_STRICT,
    KEY_SEED,
    KEY_TIMEOUT,
    KEY_STEPS,
    KEY_THREADS,
    KEY_CPU,
    KEY_ENGINE,
    KEY_MEMORY,
    KEY_STACK,
    KEY_HEAP,
    KEY_PRINT,
    KEY_SEMANTICS,
    KEY_STATS,
    KEY_RESULT,
    KEY_TARGET,
    KEY_INACTIVE,
    KEY_OVERFLOW,
    KEY_COST
};

static const struct argp_option choices[] = {
    {"kernel", 'k', "NAME", 0, "The kernel to run; not needed where the file has only one", 1},
    {"func", 'f', "NAME", 0, "The function of a PTO file to run; the same as --kernel", 1},
    {"grid", 'g', "X[,Y[,Z]]", 0, "CTAs; 1 by default", 1},
    {"block", 'b', "X[,Y[,Z]]", 0, "Threads of a CTA; by default what .reqntid says, else 1", 1},
    {"arg", 'a', "ARG", 0, "The argument for the next parameter, see below", 1},
    {"result", KEY_RESULT, "OUTPUT", 0, "Where the next result of a PTO function goes; it is printed by default", 1},
    {"smem", KEY_SMEM, "BYTES", 0, "Dynamic shared memory; 16K and 1M are fine", 1},
    {"cluster", KEY_CLUSTER, "X[,Y[,Z]]", 0, "CTAs of a cluster; by default as the kernel says, or none", 1},
    {"cooperative", KEY_COOPERATIVE, NULL, 0, "All CTAs must be resident together", 1},
    {"strict", KEY_STRICT, NULL, 0,
     "Stop at what the manual leaves undefined: shuffles of inactive lanes, wrong membermasks, counts of barriers", 1},
    {"seed", KEY_SEED, "N", 0, "Seed of random buffers; 0 by default", 1},
    {"language", 'L', "NAME", 0, "ptx or pto, for standard input and files whose name does not say it", 1},
    {"target", KEY_TARGET, "NAME", 0, "PTO: cpu, a2a3 or a5: the profile that it is checked for; cpu by default", 2},
    {"inactive", KEY_INACTIVE, "NAME", 0,
     "PTO: lanes of SSA results that the mask leaves out: zero (the default) or undef-poison, bytes of 0xa5", 2},
    {"shift-overflow", KEY_OVERFLOW, "NAME", 0,
     "PTO: a shift count of the width or more: saturate (the default), modulo or trap; the first two are reported", 2},
    {"cost", KEY_COST, "NAME", 0,
     "PTO: a2a3 or a5: print the cycles of what was executed, by the page's figures, to standard error", 2},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "Stop after this time: making the kernel's program, compiling it and running it count", 2},
    {"step-limit", KEY_STEPS, "N", 0, "Stop the run after about N warp instructions", 2},
    {"threads", KEY_THREADS, "N", 0, "Worker threads; by default LANEWISE_THREADS, else one per core", 2},
    {"cpu", KEY_CPU, "LEVEL", 0, "v4, v3, neon or portable; by default LANEWISE_CPU, else the best there is", 2},
    {"engine", KEY_ENGINE, "NAME", 0,
     "interp; jit, which compiles the kernel first; auto, which compiles it once it has run long; by default "
     "LANEWISE_ENGINE, else auto",
     2},
    {"semantics", KEY_SEMANTICS, "NAME", 0,
     "manual or sm_90: whose results, where they differ; by default LANEWISE_SEMANTICS, else manual", 2},
    {"memory", KEY_MEMORY, "BYTES", 0, "Limit of device memory", 2},
    {"stack", KEY_STACK, "BYTES", 0, "Limit of local memory per thread", 2},
    {"heap", KEY_HEAP, "BYTES", 0, "Size of the heap that malloc in kernels takes from; 8M by default", 2},
    {"print-limit", KEY_PRINT, "BYTES", 0, "What printf in kernels may print in all; 64M by default", 2},
    {"stats", KEY_STATS, "json", OPTION_ARG_OPTIONAL,
     "Print instructions, lanes, time, rate and notes to standard error", 3},
    {"quiet", 'q', NULL, 0, "No progress bar, no warnings", 3},
    {0},
};

static const char doc[] = "Run a kernel of a PTX file or a function of a PTO file; `-' is standard input. "
                          "Several PTX files are linked: what one declares .extern another defines."
                          "\vOne --arg for each kernel parameter, in order:\n"
                          "  TYPE=VALUE                       a scalar\n"
                          "  TYPE[COUNT]=SOURCE[:OUTPUT]...   a buffer; the parameter gets its address\n"
                          "  TYPE[COUNT][:OUTPUT]...          a buffer of zeros\n"
                          "  TYPE[]=SOURCE[:OUTPUT]...        a buffer as long as its source\n"
                          "TYPE    u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64\n"
                          "COUNT   elements; may end in K, M, G or T\n"
                          "SOURCE  @FILE                      NumPy where it ends in .npy, else raw bytes\n"
                          "        VALUE,VALUE,...            a list\n"
                          "        VALUE                      a fill; with [] a list of one\n"
                          "        range[:START[:STEP]]       0,1,2,... by default\n"
                          "        random[:LOW:HIGH]          seeded random values\n"
                          "OUTPUT  out=FILE                   write to a file after the run, .npy or raw\n"
                          "        print  print=hex  print=TYPE   print the values to standard output\n"
                          "For a parameter that is an array (a struct by value), TYPE[COUNT]=SOURCE is\n"
                          "its value and not a buffer.\n\n"
                          "One --arg for each argument of a PTO function. A register or a mask comes from\n"
                          "a buffer; one longer than the register runs the function once for each\n"
                          "register, the last one as far as there are elements. All of them hold equally\n"
                          "many registers. Elements of masks are bytes, 0 or not; a memref is its buffer.\n"
                          "Results are printed, or go where a --result says: print, print=hex,\n"
                          "print=TYPE or out=FILE.\n\n"
                          "Arguments:\n"
                          "  u32=7  s64=-1  b32=0xdeadbeef  f64=1.5  f32=nan  f32=0f3F800000  u64=0\n"
                          "  u32[65536]                       zeros\n"
                          "  u32[65536]=1:out=y.bin           ones, written raw after the run\n"
                          "  u32[]=1,2,3:print                three words, printed after the run\n"
                          "  u8[]=@in.bin                     the bytes of a file\n"
                          "  f32[]=@x.npy                     a NumPy array of dtype float32\n"
                          "  s32[64]=range:-32                -32 ... 31\n"
                          "  f32[1K]=random:-1:1:out=r.npy:print=hex\n\n"
                          "Examples:\n"
                          "  lanewise run k.ptx -g 4 -b 256 -a f32[]=@x.npy -a f32[1K]:out=y.npy\n"
                          "  lanewise run k.ptx --kernel saxpy --block 8 --arg f32=2.5 \\\n"
                          "      --arg f32[8]=range --arg f32[8]=1:print\n"
                          "  lanewise run loop.ptx --timeout 2 --stats\n"
                          "  lanewise run main.ptx lib.ptx --kernel main --arg u32[8]:print\n"
                          "  lanewise run f.pto --func f -a s32[99]=range -a u32[99]=3 --result out=r.npy\n\n"
                          "Exit codes:\n"
                          "  0    the kernel or function ended\n"
                          "  1    the file has errors, or it uses what is not executable\n"
                          "  2    the command line is wrong, or the arguments do not fit it\n"
                          "  3    it trapped\n"
                          "  4    it was stopped by --timeout or --step-limit\n"
                          "  5    a file cannot be read or written, or does not hold what it should\n"
                          "  6    the machine lacks memory or the CPU level\n"
                          "  130  interrupted\n";

static void bad_option(const char *option, const char *text, const char *why) {
    lw_tool_error(LW_D_bad_option, option, text, why);
    exit(LW_EXIT_USAGE);
}

/* A whole number, with K, M, G or T behind it where `scaled`. */
static uint64_t parse_number(const char *option, const char *text, uint64_t most, bool scaled) {
    const char *at = text;
    uint64_t value;
    lw_value_fault fault = lw_value_parse(LW_T_u64, &at, &value);
    unsigned shift = !scaled ? 0 : *at == 'K' ? 10 : *at == 'M' ? 20 : *at == 'G' ? 30 : *at == 'T' ? 40 : 0;
    if (shift) at++;
    if (fault == LW_VALUE_NO_NUMBER || *at) bad_option(option, text, "this is no whole number");
    if (fault || value > most >> shift) bad_option(option, text, "this is too large, or negative");
    return value << shift;
}

static void parse_shape(const char *option, const char *text, uint32_t shape[3]) {
    const char *at = text;
    shape[0] = shape[1] = shape[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        lw_value_fault fault = lw_value_parse(LW_T_u32, &at, &value);
        if (fault == LW_VALUE_NO_NUMBER || (*at && *at != ','))
            bad_option(option, text, "a shape is written X, X,Y or X,Y,Z");
        if (fault || !value) bad_option(option, text, "each number of a shape must be from 1 to 4294967295");
        shape[i] = (uint32_t)value;
        if (!*at) return;
        at++;
    }
    bad_option(option, text, "a shape has at most three numbers");
}

static double parse_seconds(const char *option, const char *text) {
    const char *at = text;
    uint64_t bits;
    if (lw_value_parse(LW_T_f64, &at, &bits) || *at) bad_option(option, text, "this is no number of seconds");
    double value = lw_value_double(LW_T_f64, bits);
    if (!(value > 0 && value < 1e9)) bad_option(option, text, "this must be above 0 and below 1e9");
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'k':
    case 'f': o->kernel = arg; break;
    case 'g': parse_shape("--grid", arg, o->launch.grid), o->has_grid = true; break;
    case 'b': parse_shape("--block", arg, o->launch.block), o->has_block = true; break;
    case 'a': o->args[o->arg_count++] = arg; break;
    case 'q': o->quiet = true; break;
    case KEY_RESULT: o->results[o->result_count++] = arg; break;
    case 'L': o->language = lw_tool_language_said(state, arg); break;
    case KEY_TARGET: o->module.target = lw_tool_target(arg); break;
    case KEY_INACTIVE: o->module.inactive = lw_tool_inactive(arg); break;
    case KEY_OVERFLOW: o->module.shift_overflow = lw_tool_overflow(arg); break;
    case KEY_COST:
        o->cost = lw_tool_cost(arg);
        o->module.count_regions = true;
        break;
    case KEY_SMEM: o->launch.shared_bytes = (uint32_t)parse_number("--smem", arg, UINT32_MAX, true); break;
    case KEY_CLUSTER: parse_shape("--cluster", arg, o->launch.cluster); break;
    case KEY_COOPERATIVE: o->launch.cooperative = true; break;
    case KEY_STRICT: o->launch.strict = true; break;
    case KEY_SEED: o->seed = parse_number("--seed", arg, UINT64_MAX, false); break;
    case KEY_TIMEOUT: o->launch.time_limit = parse_seconds("--timeout", arg); break;
    case KEY_STEPS:
        o->launch.step_limit = parse_number("--step-limit", arg, UINT64_MAX, true);
        if (!o->launch.step_limit) bad_option("--step-limit", arg, "this must be above 0");
        break;
    case KEY_THREADS:
        o->context.threads = (uint32_t)parse_number("--threads", arg, 4096, false);
        if (!o->context.threads) bad_option("--threads", arg, "this must be above 0");
        break;
    case KEY_CPU: o->context.cpu = arg; break;
    case KEY_ENGINE: o->context.engine = arg; break;
    case KEY_SEMANTICS: o->context.semantics = arg; break;
    case KEY_MEMORY: o->context.memory_limit = parse_number("--memory", arg, UINT64_MAX, true); break;
    case KEY_STACK: o->context.stack_limit = parse_number("--stack", arg, UINT64_MAX, true); break;
    case KEY_HEAP: o->launch.heap_bytes = parse_number("--heap", arg, UINT64_MAX, true); break;
    case KEY_PRINT: o->launch.print_limit = parse_number("--print-limit", arg, UINT64_MAX, true); break;
    case KEY_STATS:
        if (arg && strcmp(arg, "json") != 0) bad_option("--stats", arg, "only --stats and --stats=json are known");
        o->stats = arg ? STATS_JSON : STATS_TEXT;
        break;
    case ARGP_KEY_ARG:
        o->files[o->file_count++] = arg;
        o->file = o->files[0];
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    case ARGP_KEY_SUCCESS:
        if (o->cost && o->module.target && strcmp(o->cost, o->module.target) != 0)
            bad_option("--cost", o->cost, "--target names another profile");
        if (o->cost) o->module.target = o->cost; /* what the profile refuses costs nothing there */
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Module and kernel --------------------------------------------------------------------------------- */

static int show_diagnostics(run *r) {
    fputs(lw_module_diagnostics(r->module, lw_tool_colour()), stderr);
    return LW_EXIT_SOURCE;
}

static void show_warnings(run *r) {
    if (!r->o->quiet && lw_module_diagnostic_count(r->module)) show_diagnostics(r);
}

static const lw_tool_language *language_of(const run *r) { return lw_tool_language_of(r->o->file, r->o->language); }

static int load_module(run *r) {
    const uint32_t count = r->o->file_count;
    r->texts = LW_NEW_ARRAY(&r->arena, lw_source_text, count);
    int code = lw_tool_read_all(r->o->files, count, r->texts);
    if (code) return code;
    lw_module_text *texts = LW_NEW_ARRAY(&r->arena, lw_module_text, count);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (lw_module_text){r->texts[i].name, r->texts[i].text, r->texts[i].size};
    lw_module_options choices = r->o->module;
    choices.language = r->o->language || count == 1 ? language_of(r)->of->name : NULL;
    lw_status status = lw_module_link(r->context, &choices, texts, count, &r->module);
    if (!r->o->cost) lw_tool_unread(r->texts, count);
    if (status == LW_OK) return LW_EXIT_OK;
    if (status == LW_BAD_SOURCE) return show_diagnostics(r);
    if (status == LW_BAD_ARGUMENT) {
        lw_tool_report(LW_D_bad_option, lw_tool_why(r->context), NULL);
        return LW_EXIT_USAGE;
    }
    lw_tool_error(LW_D_no_memory, r->o->file);
    return LW_EXIT_MACHINE;
}

/* Options of the other instruction set change nothing, so whoever gives them is mistaken. */
static int check_options(const run *r) {
    const options *o = r->o;
    const char *ptx = o->has_grid              ? "--grid"
                      : o->has_block           ? "--block"
                      : o->launch.shared_bytes ? "--smem"
                      : o->launch.cluster[0]   ? "--cluster"
                      : o->launch.cooperative  ? "--cooperative"
                      : o->launch.strict       ? "--strict"
                      : o->context.semantics   ? "--semantics"
                      : o->context.stack_limit ? "--stack"
                      : o->launch.heap_bytes   ? "--heap"
                      : o->launch.print_limit  ? "--print-limit"
                                               : NULL;
    const char *pto = o->result_count            ? "--result"
                      : o->cost                  ? "--cost"
                      : o->module.target         ? "--target"
                      : o->module.inactive       ? "--inactive"
                      : o->module.shift_overflow ? "--shift-overflow"
                                                 : NULL;
    const char *name = lw_kernel_get_info(r->kernel).name;
    if (r->is_vector && ptx) lw_tool_error(LW_D_shape_given, ptx, name);
    if (!r->is_vector && pto) lw_tool_error(LW_D_pto_only, pto, name);
    return (r->is_vector ? ptx : pto) ? LW_EXIT_USAGE : LW_EXIT_OK;
}

/* "kernel 'k' was stopped: the time limit of 2 s is over" */
static void put_late(lw_text *out, const run *r) {
    const char *name = r->o->kernel ? r->o->kernel : lw_module_kernel_name(r->module, 0);
    lw_text why = {0};
    lw_text_say(&why, lw_diag_rows[LW_D_stopped_by_time].format, r->o->launch.time_limit);
    lw_text_say(out, lw_diag_rows[LW_D_stopped].format, language_of(r)->of->kernel_word, name ? name : "",
                why.at ? why.at : "");
    lw_text_free(&why);
}

static lw_status make_kernel(run *r) {
    const double start = lw_clock();
    lw_text late = {0};
    put_late(&late, r);
    lw_guard_begin(r->o->launch.time_limit, late.at ? late.at : "");
    lw_status status = lw_module_kernel(r->module, r->o->kernel, &r->kernel);
    lw_guard_end();
    lw_text_free(&late);
    r->compiling = lw_clock() - start;
    return status;
}

static int load_kernel(run *r) {
    switch (make_kernel(r)) {
    case LW_OK: break;
    case LW_NOT_FOUND:
        return lw_tool_wrong_kernel(r->context, r->module, r->o->file, language_of(r), language_of(r)->how);
    case LW_BAD_SOURCE: return show_diagnostics(r);
    case LW_UNSUPPORTED: lw_tool_error(LW_D_machine_lacks, lw_tool_why(r->context)); return LW_EXIT_MACHINE;
    default: lw_tool_error(LW_D_no_memory, lw_tool_why(r->context)); return LW_EXIT_MACHINE;
    }
    show_warnings(r);
    r->is_vector = lw_kernel_get_info(r->kernel).lanes != 0;
    lw_text_printf(&r->signature, "%s: ", language_of(r)->of->kernel_word);
    lw_kernel_print(&r->signature, r->kernel);
    if (r->signature.failed) {
        lw_tool_error(LW_D_no_memory, "the kernel's parameters");
        return LW_EXIT_MACHINE;
    }
    return check_options(r);
}

/* ---- Arguments ---------------------------------------------------------------------------------------- */

static int parse_arguments(run *r) {
    r->param_count = r->o->arg_count;
    r->args = LW_NEW_ARRAY(&r->arena, lw_arg, r->o->arg_count);
    for (uint32_t i = 0; i < r->o->arg_count; i++) {
        if (!lw_arg_parse(&r->arena, r->o->args[i], i, &r->args[i])) return LW_EXIT_USAGE;
        r->args[i].limit = r->o->context.memory_limit;
    }
    return LW_EXIT_OK;
}

/* Those from the command line become the first of all parameters. */
static int bind_pto(run *r) {
    uint32_t count = lw_kernel_get_info(r->kernel).param_count;
    lw_arg *all = LW_NEW_ARRAY(&r->arena, lw_arg, count);
    if (r->param_count) memcpy(all, r->args, r->param_count * sizeof *all);
    r->args = all, r->param_count = count;
    return lw_pto_bind(&r->arena, r->kernel, r->signature.at, all, r->o->results, r->o->result_count, &r->elements);
}

static int bind_arguments(run *r) {
    lw_kernel_info info = lw_kernel_get_info(r->kernel);
    uint32_t wanted = r->is_vector ? lw_pto_argument_count(r->kernel) : info.param_count;
    if (wanted != r->o->arg_count) {
        lw_text message = {0}, below = {0};
        lw_text_say(&message, lw_diag_rows[LW_D_args_count].format, language_of(r)->of->kernel_word, info.name, wanted,
                    r->o->arg_count);
        lw_text_printf(&below, "  %s\n", r->signature.at);
        lw_tool_report(LW_D_args_count, message.at ? message.at : "", below.at);
        lw_text_free(&message);
        lw_text_free(&below);
        return LW_EXIT_USAGE;
    }
    if (r->is_vector) return bind_pto(r);
    for (uint32_t i = 0; i < info.param_count; i++) {
        lw_param_info param = lw_kernel_param(r->kernel, i);
        if (!lw_arg_bind(&r->args[i], &param, r->signature.at, true)) return LW_EXIT_USAGE;
        int code = lw_arg_load(&r->args[i]);
        if (code) return code;
        /* A file may have settled the count of an array that goes by value. */
        if (r->args[i].by_value && !lw_arg_bind(&r->args[i], &param, r->signature.at, true)) return LW_EXIT_FILE;
    }
    return LW_EXIT_OK;
}

/* ---- Buffers ------------------------------------------------------------------------------------------- */

enum { PIECE = 1 << 16 }; /* elements that are made or read at once */

static int device_failed(run *r, lw_status status) {
    bool memory = status == LW_NO_MEMORY;
    lw_tool_error(memory ? LW_D_no_memory : LW_D_launch_refused, lw_tool_why(r->context));
    return memory ? LW_EXIT_MACHINE : LW_EXIT_USAGE;
}

static int write_buffer(run *r, const lw_arg *arg) {
    uint32_t bytes = lw_value_bytes(arg->type);
    lw_status status = LW_OK;
    if (arg->source == LW_ARG_ZERO) return LW_EXIT_OK;
    if (arg->source == LW_ARG_FILE) {
        status = lw_memory_write(r->context, arg->address, arg->data + arg->data_at, arg->count * bytes);
    } else if (arg->source == LW_ARG_FILL) {
        status = lw_memory_fill(r->context, arg->address, arg->start, bytes, arg->count);
    } else {
        void *piece = LW_NEW_ARRAY(&r->arena, uint64_t, PIECE);
        for (uint64_t i = 0; i < arg->count && status == LW_OK; i += PIECE) {
            size_t count = arg->count - i < PIECE ? (size_t)(arg->count - i) : PIECE;
            lw_arg_fill(arg, r->o->seed, i, count, piece);
            status = lw_memory_write(r->context, arg->address + i * bytes, piece, count * bytes);
        }
    }
    return status == LW_OK ? LW_EXIT_OK : device_failed(r, status);
}

/* The parameter's value for the launch: a scalar, an address, or an array. */
static int make_parameter(run *r, uint32_t index, void **value) {
    lw_arg *arg = &r->args[index];
    lw_param_info param = lw_kernel_param(r->kernel, index);
    uint64_t *scalar = LW_NEW(&r->arena, uint64_t);
    *value = scalar;
    if (!arg->is_array) {
        *scalar = arg->start;
    } else if (arg->by_value) {
        *value = lw_arena_alloc(&r->arena, param.size);
        lw_arg_fill(arg, r->o->seed, 0, (size_t)arg->count, *value);
    } else if (arg->count) {
        lw_status status = lw_memory_new(r->context, arg->count * lw_value_bytes(arg->type), &arg->address);
        if (status != LW_OK) return device_failed(r, status);
        if (param.size < 8 && arg->address >> 32) {
            lw_tool_error(LW_D_machine_lacks,
                          "device memory lies above 4 GiB, where a 32-bit parameter cannot point to");
            return LW_EXIT_MACHINE;
        }
        int code = write_buffer(r, arg);
        if (code) return code;
        *scalar = arg->address;
    }
    lw_arg_unload(arg);
    return LW_EXIT_OK;
}

/* ---- Launch -------------------------------------------------------------------------------------------- */

/* What the handler of Ctrl-C needs: it takes no parameters of ours. */
static lw_context *volatile running;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
    if (running) lw_context_stop(running);
}

/* The second Ctrl-C ends the process at once. */
static void catch_interrupt(lw_context *context) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    running = context;
    sigaction(SIGINT, &action, NULL);
}

static int stopped(run *r) {
    const char *name = lw_kernel_get_info(r->kernel).name, *word = language_of(r)->of->kernel_word;
    if (interrupted) {
        lw_tool_error(LW_D_stopped, word, name, "interrupted");
        return LW_EXIT_INTERRUPTED;
    }
    const char *why = lw_tool_why(r->context);
    lw_text late = {0};
    if (r->late) put_late(&late, r);
    if (late.at) lw_tool_report(LW_D_stopped, late.at, NULL);
    else lw_tool_error(LW_D_stopped, word, name, *why ? why : "it ran into a limit");
    lw_text_free(&late);
    return LW_EXIT_STOPPED;
}

/* What was executed interests where the run ended early, too. */
static int report(run *r, const lw_launch_config *config, bool ended) {
    const lw_tool_run done = {.kernel = r->kernel,
                              .config = config,
                              .stats = &r->stats,
                              .ended = ended,
                              .elements = r->elements,
                              .cost = r->o->cost,
                              .path = r->o->file,
                              .text = r->texts->text,
                              .text_size = r->texts->size,
                              .linked = r->o->file_count > 1};
    int status = LW_EXIT_OK;
    if (r->o->stats) status = (r->o->stats == STATS_JSON ? lw_stats_json : lw_stats_text)(r->context, &done);
    else if (r->is_vector) lw_pto_notes(r->context, r->o->file);
    return !status && r->o->cost && ended && r->o->stats != STATS_JSON ? lw_pto_ran(r->context, &done) : status;
}

static int launch(run *r, void *const *params) {
    lw_kernel_info info = lw_kernel_get_info(r->kernel);
    lw_launch_config config = r->o->launch;
    config.size = sizeof config;
    for (int i = 0; i < 3; i++) {
        if (!config.grid[i]) config.grid[i] = 1;
        if (!r->o->has_block) config.block[i] = info.required_block[i] ? info.required_block[i] : 1;
    }
    if (r->is_vector && lw_launch_shape(r->kernel, r->elements, &config) != LW_OK)
        return device_failed(r, LW_BAD_ARGUMENT);
    if (!r->o->quiet && lw_bar_wanted()) {
        config.progress = lw_bar_show;
        config.user = &r->bar;
    }
    if (config.time_limit > 0)
        config.time_limit = config.time_limit > r->compiling ? config.time_limit - r->compiling : 1e-9;
    const double end = lw_clock() + config.time_limit;
    catch_interrupt(r->context);
    lw_status status = lw_launch(r->kernel, &config, params, &r->stats);
    running = NULL;
    r->late = config.time_limit > 0 && lw_clock() > end;
    lw_bar_clear(&r->bar);
    if (status != LW_OK && status != LW_STOPPED && status != LW_TRAPPED) return device_failed(r, status);
    int code = report(r, &config, status == LW_OK);
    lw_trap_info trap;
    if (status == LW_OK) return code;
    if (status == LW_STOPPED) return stopped(r);
    if (lw_trap(r->context, &trap)) fputs(trap.report, stderr);
    return LW_EXIT_TRAPPED;
}

/* ---- Outputs ------------------------------------------------------------------------------------------- */

static int write_output(const lw_arg *arg, const lw_arg_output *out, const char *data) {
    lw_text file = {0};
    if (lw_tool_ends_with(out->file, ".npy")) {
        if (arg->has_shape) lw_npy_write(&file, arg->type, arg->npy.dimensions, arg->npy.dimension_count);
        else lw_npy_write(&file, arg->type, &arg->count, 1);
    }
    bool good = lw_tool_write_two(out->file, file.at, file.size, data, arg->count * lw_value_bytes(arg->type));
    lw_text_free(&file);
    return good ? LW_EXIT_OK : LW_EXIT_FILE;
}

static void print_output(const lw_arg *arg, const lw_arg_output *out, const char *data) {
    uint32_t bytes = lw_value_bytes(out->type);
    uint64_t count = arg->count * lw_value_bytes(arg->type) / bytes;
    lw_text line = {0};
    if (arg->label) lw_text_puts(&line, arg->label);
    else lw_text_printf(&line, "arg %u", arg->number);
    lw_text_printf(&line, " %s[%llu]:", lw_types[out->type].name, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, data + i * bytes, bytes);
        lw_text_puts(&line, " ");
        if (out->hex) lw_value_print_hex(&line, out->type, bits);
        else lw_value_print(&line, out->type, bits);
        if (line.size < 1 << 16) continue;
        fwrite(line.at, 1, line.size, stdout);
        line.size = 0;
    }
    lw_text_puts(&line, "\n");
    if (line.size) fwrite(line.at, 1, line.size, stdout);
    lw_text_free(&line);
}

static int give_outputs(run *r, const lw_arg *arg) {
    if (!arg->outputs.count) return LW_EXIT_OK;
    size_t size = (size_t)arg->count * lw_value_bytes(arg->type);
    char *data = malloc(size + 1);
    if (!data) {
        lw_tool_error(LW_D_no_memory, "a buffer cannot be read back");
        return LW_EXIT_MACHINE;
    }
    lw_status status = size ? lw_memory_read(r->context, arg->address, data, size) : LW_OK;
    int code = status == LW_OK ? LW_EXIT_OK : device_failed(r, status);
    for (uint32_t i = 0; i < arg->outputs.count && code == LW_EXIT_OK; i++) {
        const lw_arg_output *out = &arg->outputs.at[i];
        if (out->file) code = write_output(arg, out, data);
        else print_output(arg, out, data);
    }
    free(data);
    return code;
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

static int launch_with_arguments(run *r) {
    uint32_t count = r->param_count;
    void **params = LW_NEW_ARRAY(&r->arena, void *, count);
    for (uint32_t i = 0; i < count; i++) {
        int code = make_parameter(r, i, &params[i]);
        if (code) return code;
    }
    int code = launch(r, params);
    for (uint32_t i = 0; i < count && code == LW_EXIT_OK; i++) code = give_outputs(r, &r->args[i]);
    return code;
}

static int run_kernel(run *r) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&r->arena, out)) {
        lw_tool_error(LW_D_no_memory, "the arguments are too large");
        return LW_EXIT_MACHINE;
    }
    int code = parse_arguments(r);
    if (!code) code = lw_tool_context(&r->o->context, &r->context);
    if (!code) code = load_module(r);
    if (!code) code = load_kernel(r);
    if (!code) code = bind_arguments(r);
    return code ? code : launch_with_arguments(r);
}

static void run_free(run *r) {
    for (uint32_t i = 0; r->args && i < r->param_count; i++) lw_arg_unload(&r->args[i]);
    lw_module_free(r->module);
    lw_context_free(r->context);
    if (r->texts) lw_tool_unread(r->texts, r->o->file_count);
    lw_text_free(&r->signature);
    lw_arena_free(&r->arena);
}

int lw_command_run(int argc, char **argv) {
    options o = {.args = calloc((size_t)argc, sizeof *o.args),
                 .results = calloc((size_t)argc, sizeof *o.results),
                 .files = calloc((size_t)argc, sizeof *o.files)};
    if (!o.args || !o.results || !o.files) {
        lw_tool_error(LW_D_no_memory, "the arguments are too large");
        return LW_EXIT_MACHINE;
    }
    lw_tool_options(&(struct argp){choices, parse, "FILE...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    run r = {.o = &o};
    lw_arena_init(&r.arena);
    int code = run_kernel(&r);
    if (r.context && lw_tiers_compiling(r.context->tiers)) lw_tool_leave(code); /* nobody waits for what nobody runs */
    run_free(&r);
    free(o.args);
    free(o.results);
    free(o.files);
    return code;
}
