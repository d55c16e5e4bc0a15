/* run_options.c: the command lines of `lanewise run` and `lanewise profile`. */
#include "tool/run.h"

#include <stdlib.h>

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
    KEY_TEXTURE,
    KEY_TARGET,
    KEY_INACTIVE,
    KEY_OVERFLOW,
    KEY_COST,
    KEY_TOP,
    KEY_JSON,
    KEY_HTML
};

static const struct argp_option choices[] = {
    {"kernel", 'k', "NAME", 0, "The kernel to run; not needed where the file has only one", 1},
    {"func", 'f', "NAME", 0, "The function of a PTO file to run; the same as --kernel", 1},
    {"grid", 'g', "X[,Y[,Z]]", 0, "CTAs; 1 by default", 1},
    {"block", 'b', "X[,Y[,Z]]", 0, "Threads of a CTA; by default what .reqntid says, else 1", 1},
    {"arg", 'a', "ARG", 0, "The argument for the next parameter, see below", 1},
    {"result", KEY_RESULT, "OUTPUT", 0, "Where the next result of a PTO function goes; it is printed by default", 1},
    {"texture", KEY_TEXTURE, "NAME=IMAGE", 0, "What a .texref, .samplerref or .surfref is bound to, see below", 1},
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
};

static const struct argp_option profile_choices[] = {
    {"top", KEY_TOP, "N", 0, "Print N lines at most; 20 by default, with --json all", 4},
    {"json", KEY_JSON, NULL, 0, "Print the profile as one line of JSON, the last one", 4},
    {"html", KEY_HTML, "FILE", 0, "Write the annotated text to a file, which is one page that needs no other", 4},
};

/* What --help says behind the options. */
static const char about[] = "One --arg for each kernel parameter, in order:\n"
                            "  TYPE=VALUE                       a scalar\n"
                            "  TYPE[COUNT]=SOURCE[:OUTPUT]...   a buffer; the parameter gets its address\n"
                            "  TYPE[COUNT][:OUTPUT]...          a buffer of zeros\n"
                            "  TYPE[]=SOURCE[:OUTPUT]...        a buffer as long as its source\n"
                            "  {MEMBER,...}                     a struct by value; its MEMBERs are\n"
                            "                                   TYPE=VALUE, TYPE[COUNT]=SOURCE, pointers\n"
                            "                                   *TYPE[COUNT]=SOURCE[:OUTPUT]\n"
                            "TYPE    u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64\n"
                            "COUNT   elements; may end in K, M, G or T\n"
                            "SOURCE  @FILE                      NumPy where it ends in .npy, else raw bytes\n"
                            "        VALUE,VALUE,...            a list\n"
                            "        VALUE                      a fill; with [] a list of one\n"
                            "        range[:START[:STEP]]       0,1,2,... by default\n"
                            "        random[:LOW:HIGH]          seeded random values\n"
                            "        &NUMBER                    the buffer of an argument in front\n"
                            "OUTPUT  out=FILE                   write to a .npy .png .ppm .pgm, or raw file\n"
                            "        print  print=hex  print=TYPE   print the values to standard output\n"
                            "For a parameter that is an array (a struct by value), TYPE[COUNT]=SOURCE is\n"
                            "its value and not a buffer.\n\n"
                            "One --arg for each argument of a PTO function. A register or a mask comes from\n"
                            "a buffer; one longer than the register runs the function once for each\n"
                            "register, the last one as far as there are elements. All of them hold equally\n"
                            "many registers. Elements of masks are bytes, 0 or not; a memref is its buffer.\n"
                            "Results are printed, or go where a --result says: print, print=hex,\n"
                            "print=TYPE or out=FILE.\n\n"
                            "Textures, samplers, surfaces, for a parameter of 64 bits or with --texture:\n"
                            "  KIND=@FILE[:OPTION,...]          a .npy array or a .png .ppm .pgm picture\n"
                            "  KIND=TYPE[SHAPE][=SOURCE][:OPTION,...]\n"
                            "  sampler=OPTION,...\n"
                            "KIND    tex1d tex2d tex3d tex1darray tex2darray texcube texcubearray texlinear\n"
                            "        surf1d surf2d surf3d surf1darray surf2darray, which have OUTPUTs\n"
                            "OPTION  point linear, wrap clamp mirror border x=wrap y=... z=...\n"
                            "        border=R/G/B/A, texels normalized, element float, srgb, seamless,\n"
                            "        levels=full levels=COUNT, mip=point mip=linear\n\n"
                            "Arguments:\n"
                            "  u32=7  s64=-1  b32=0xdeadbeef  f64=1.5  f32=nan  f32=0f3F800000  u64=0\n"
                            "  u32[65536]                       zeros\n"
                            "  u32[65536]=1:out=y.bin           ones, written raw after the run\n"
                            "  u32[]=1,2,3:print                three words, printed after the run\n"
                            "  u8[]=@in.bin                     the bytes of a file\n"
                            "  f32[]=@x.npy                     a NumPy array of dtype float32\n"
                            "  s32[64]=range:-32                -32 ... 31\n"
                            "  tex2d=@image.npy:linear,wrap,normalized\n"
                            "  surf2d=u8[480,640,4]:out=y.npy   480 rows of 640 texels of 4 channels\n"
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

static const char run_doc[] = "Run a kernel of a PTX file or a function of a PTO file; `-' is standard input. "
                              "Several PTX files are linked: what one declares .extern another defines.";
static const char profile_doc[] =
    "Run a kernel of a PTX file or a function of a PTO file in the interpreter and print for each line of its text "
    "what "
    "was executed, how many lanes were active, where they went in memory and how long it took, the hottest line first. "
    "Everything else is as `lanewise run' has it.";

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
    lw_run_options *o = state->input;
    switch (key) {
    case 'k':
    case 'f': o->kernel = arg; break;
    case 'g': parse_shape("--grid", arg, o->launch.grid), o->has_grid = true; break;
    case 'b': parse_shape("--block", arg, o->launch.block), o->has_block = true; break;
    case 'a': o->args[o->arg_count++] = arg; break;
    case 'q': o->quiet = true; break;
    case KEY_RESULT: o->results[o->result_count++] = arg; break;
    case KEY_TEXTURE:
        if (!strchr(arg, '=')) bad_option("--texture", arg, "this is written NAME=IMAGE");
        o->textures[o->texture_count++] = arg;
        break;
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
        o->stats = arg ? LW_STATS_json : LW_STATS_text;
        break;
    case KEY_TOP:
        o->profile.top = (uint32_t)parse_number("--top", arg, UINT32_MAX, false);
        if (!o->profile.top) bad_option("--top", arg, "this must be above 0");
        break;
    case KEY_JSON: o->profile.json = true; break;
    case KEY_HTML: o->profile.html = arg; break;
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

/* A profile is of the interpreter, so that there is no engine to choose. */
static void add_choices(struct argp_option *to, const struct argp_option *from, size_t count, bool profiles) {
    while (to->name) to++;
    for (size_t i = 0; i < count; i++)
        if (!profiles || from[i].key != KEY_ENGINE) *to++ = from[i];
}

void lw_run_parse(int argc, char **argv, lw_run_options *o) {
    const bool profiles = o->profile.wanted;
    struct argp_option all[LW_COUNT(choices) + LW_COUNT(profile_choices) + 1] = {0};
    lw_text doc = {0};
    add_choices(all, choices, LW_COUNT(choices), profiles);
    if (profiles) add_choices(all, profile_choices, LW_COUNT(profile_choices), true);
    lw_text_printf(&doc, "%s\v%s", profiles ? profile_doc : run_doc, about);
    lw_tool_options(&(struct argp){all, parse, "FILE...", doc.failed ? run_doc : doc.at, NULL, NULL, NULL}, argc, argv,
                    0, o);
    lw_text_free(&doc);
    if (profiles) o->context.engine = lw_engine_words[LW_ENGINE_interp]; /* whatever the environment says */
}
