/* pto.vshr against vector C: on registers of 2048 bits, over arrays in the first-level cache and longer ones, and how
 * long PTO text takes to load. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, REGISTERS = 8, STEPS = 48, MOST_TURNS = 15, PASSES = 64 };

typedef struct side {
    lw_context *context;
    lw_module *module;
    lw_kernel *kernel;
} side;

static void fail(const side *s) {
    lw_bench_fail("%s", s->module ? lw_module_diagnostics(s->module, false) : lw_context_message(s->context));
}

static side make_side(lw_context *context, const char *text, const char *function) {
    side s = {.context = context};
    const lw_module_options pto = {.language = "pto"};
    if (lw_module_load(context, &pto, function, text, strlen(text), &s.module) != LW_OK) fail(&s);
    if (lw_module_kernel(s.module, function, &s.kernel) != LW_OK) fail(&s);
    return s;
}

static void run(const side *s, uint64_t elements, void *const *params) {
    lw_launch_config config = {0};
    if (lw_launch_shape(s->kernel, elements, &config) != LW_OK || lw_launch(s->kernel, &config, params, NULL) != LW_OK)
        lw_bench_fail("%s", lw_context_message(s->context));
}

static uint64_t device(const side *s, const void *data, size_t size) {
    uint64_t address;
    if (lw_memory_new(s->context, size, &address) != LW_OK || lw_memory_write(s->context, address, data, size) != LW_OK)
        lw_bench_fail("%s", lw_context_message(s->context));
    return address;
}

static void compare(const side *s, uint64_t address, const int32_t *want, size_t count, const char *what) {
    int32_t *got = lw_bench_allocate(4 * count);
    if (lw_memory_read(s->context, address, got, 4 * count) != LW_OK)
        lw_bench_fail("%s", lw_context_message(s->context));
    for (size_t i = 0; i < count; i++)
        if (got[i] != want[i]) lw_bench_fail("%s: element %zu is %d, not %d", what, i, got[i], want[i]);
    free(got);
    lw_bench_must(lw_memory_free(s->context, address), "freeing memory");
}

static uint32_t noise(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state ^ *state >> 15;
}

/* What both sides work on: one more element in three is left out. */
typedef struct inputs {
    uint32_t count;
    int32_t *from, *to;
    uint32_t *counts;
    uint8_t *bits, *bytes;
} inputs;

static inputs make_inputs(uint32_t count) {
    inputs in = {count,
                 lw_bench_allocate(4 * count),
                 aligned_alloc(64, 4 * count),
                 lw_bench_allocate(4 * count),
                 lw_bench_allocate(count / 8 + 8),
                 lw_bench_allocate(count)};
    uint32_t state = 1;
    memset(in.bits, 0, count / 8 + 8);
    for (uint32_t i = 0; i < count; i++) {
        in.from[i] = (int32_t)noise(&state), in.to[i] = 0;
        in.counts[i] = noise(&state) % 3;
        in.bytes[i] = noise(&state) % 3 != 0;
        in.bits[i / 8] |= (uint8_t)(in.bytes[i] << i % 8);
    }
    return in;
}

static void free_inputs(inputs *in) { free(in->from), free(in->to), free(in->counts), free(in->bits), free(in->bytes); }

static void report(const char *what, double *native, double *engine, uint32_t turns, double target) {
    double ratio[MOST_TURNS];
    for (uint32_t t = 0; t < turns; t++) ratio[t] = native[t] / engine[t];
    double ours = lw_bench_spread_of(engine, turns).median, theirs = lw_bench_spread_of(native, turns).median,
           median = lw_bench_spread_of(ratio, turns).median;
    printf("%-46s %9.2f %9.2f %7.2f", what, ours * 1e9, theirs * 1e9, median);
    if (target > 0) printf(" %8.2f  %s", target, median >= target ? "met" : "not met");
    printf("\n");
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static char *registers_text(bool masked) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) lw_bench_fail("no memory for a function");
    fprintf(to, "func.func @f(");
    for (int k = 0; k < REGISTERS; k++) fprintf(to, "%%r%d: !pto.vreg<64xi32>, ", k);
    fprintf(to, "%%n: !pto.vreg<64xi32>, %%given: !pto.mask<b32>, %%turns: index) -> (");
    for (int k = 0; k < REGISTERS; k++) fprintf(to, "%s!pto.vreg<64xi32>", k ? ", " : "");
    fprintf(to, ") {\n%%c0 = arith.constant 0 : index\n%%c1 = arith.constant 1 : index\n%%all = pto.mask.all "
                ": !pto.mask<b32>\n");
    fprintf(to, "scf.for %%i = %%c0 to %%turns step %%c1 {\n");
    for (int s = 0; s < STEPS; s++)
        fprintf(to, "vshr %%r%d, %%r%d, %%n, %s : !pto.vreg<64xi32>\n", s % REGISTERS, (s + 3) % REGISTERS,
                masked ? "%given" : "%all");
    fprintf(to, "}\nreturn ");
    for (int k = 0; k < REGISTERS; k++) fprintf(to, "%s%%r%d", k ? ", " : "", k);
    fprintf(to, " : ");
    for (int k = 0; k < REGISTERS; k++) fprintf(to, "%s!pto.vreg<64xi32>", k ? ", " : "");
    fprintf(to, "\n}\n");
    if (fclose(to)) lw_bench_fail("no memory for a function");
    return text;
}

static void measure_registers(const lw_bench_options *options, lw_context *context, const lw_native *native,
                              bool masked) {
    char *text = registers_text(masked);
    side s = make_side(context, text, "f");
    uint32_t turns = options->quick ? 3 : MOST_TURNS;
    uint64_t rounds = options->quick ? 50 : 2000;
    inputs in = make_inputs(LANES * REGISTERS);
    if (!masked) memset(in.bits, 0xff, LANES / 8), memset(in.bytes, 1, LANES);
    double ours[MOST_TURNS], theirs[MOST_TURNS];
    for (uint32_t t = 0; t < turns; t++) {
        uint64_t values[2 * REGISTERS + 4];
        void *params[2 * REGISTERS + 4];
        for (int k = 0; k < REGISTERS; k++) {
            values[k] = device(&s, in.from + k * LANES, 4 * LANES);
            values[REGISTERS + 3 + k] = device(&s, in.to, 4 * LANES);
        }
        values[REGISTERS] = device(&s, in.counts, 4 * LANES);
        values[REGISTERS + 1] = device(&s, in.bytes, LANES);
        values[REGISTERS + 2] = rounds;
        values[2 * REGISTERS + 3] = LANES;
        for (int k = 0; k < 2 * REGISTERS + 4; k++) params[k] = &values[k];
        double start = lw_bench_clock(options->wall);
        run(&s, LANES, params);
        ours[t] = (lw_bench_clock(options->wall) - start) / ((double)rounds * STEPS);
        memcpy(in.to, in.from, 4 * LANES * REGISTERS);
        start = lw_bench_clock(options->wall);
        native->vshr_registers(in.to, in.counts, in.bits, (uint32_t)rounds);
        theirs[t] = (lw_bench_clock(options->wall) - start) / ((double)rounds * STEPS);
        for (int k = 0; k < REGISTERS; k++) {
            compare(&s, values[REGISTERS + 3 + k], in.to + k * LANES, LANES, "registers");
            lw_bench_must(lw_memory_free(context, values[k]), "freeing memory");
        }
        lw_bench_must(lw_memory_free(context, values[REGISTERS]), "freeing memory");
        lw_bench_must(lw_memory_free(context, values[REGISTERS + 1]), "freeing memory");
    }
    report(masked ? "vshr of 64xi32 in registers, masked" : "vshr of 64xi32 in registers, every lane", theirs, ours,
           turns, masked ? 0.25 : 0);
    free_inputs(&in);
    lw_module_free(s.module);
    free(text);
}

/* ---- Arrays ---------------------------------------------------------------------------------------------------- */

static const char loop_text[] =
    "func.func @f(%from: memref<?xi32>, %counts: memref<?xi32>, %to: memref<?xi32>, %given: !pto.mask<b32>, "
    "%n: index, %passes: index) {\n"
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c64 = arith.constant 64 : index\n%all "
    "= pto.mask.all : !pto.mask<b32>\n"
    "scf.for %k = %c0 to %passes step %c1 {\nscf.for %i = %c0 to %n step %c64 {\n"
    "%a = pto.vload %from[%i], %all : (memref<?xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>\n"
    "%b = pto.vload %counts[%i], %all : (memref<?xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>\n"
    "%r = pto.vshr %a, %b, %given : (!pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32>) -> "
    "!pto.vreg<64xi32>\n"
    "pto.vstore %r, %to[%i], %given : (!pto.vreg<64xi32>, memref<?xi32>, !pto.mask<b32>) -> "
    "()\n}\n}\nreturn\n}\n";

static const char repeats_text[] =
    "func.func @f(%a: !pto.vreg<64xi32>, %b: !pto.vreg<64xi32>, %m: !pto.mask<b32>) -> !pto.vreg<64xi32> {\n"
    "%r = pto.vshr %a, %b, %m : (!pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32>) -> "
    "!pto.vreg<64xi32>\nreturn %r : !pto.vreg<64xi32>\n}\n";

/* Nanoseconds of 64 elements. A loop has one mask for all of its registers, repeats one for each. */
static void measure_arrays(const lw_bench_options *options, lw_context *context, const lw_native *native, bool loops,
                           uint32_t count, double target) {
    side s = make_side(context, loops ? loop_text : repeats_text, "f");
    uint32_t turns = options->quick ? 3 : MOST_TURNS;
    uint64_t passes = !loops ? 1 : count <= 1 << 14 ? PASSES : 8, n = count;
    inputs in = make_inputs(count);
    for (uint32_t i = LANES; loops && i < count; i++) {
        in.bytes[i] = in.bytes[i % LANES];
        in.bits[i / 8] = in.bits[i % LANES / 8];
    }
    double ours[MOST_TURNS], theirs[MOST_TURNS];
    memset(in.to, 0, 4 * (size_t)count);
    for (uint32_t t = 0; t < turns; t++) {
        uint64_t from = device(&s, in.from, 4 * (size_t)count), counts = device(&s, in.counts, 4 * (size_t)count), to,
                 mask, lanes = LANES;
        memset(in.to, 0, 4 * (size_t)count);
        to = device(&s, in.to, 4 * (size_t)count);
        mask = device(&s, in.bytes, loops ? LANES : count);
        void *loop_params[] = {&from, &counts, &to, &mask, &n, &passes, &lanes},
             *repeat_params[] = {&from, &counts, &mask, &to, &n};
        double start = lw_bench_clock(options->wall);
        run(&s, loops ? LANES : n, loops ? loop_params : repeat_params);
        ours[t] = (lw_bench_clock(options->wall) - start) / ((double)passes * count / LANES);
        start = lw_bench_clock(options->wall);
        for (uint64_t k = 0; k < passes; k++) native->vshr_array(in.to, in.from, in.counts, in.bits, count);
        theirs[t] = (lw_bench_clock(options->wall) - start) / ((double)passes * count / LANES);
        compare(&s, to, in.to, count, loops ? "loop" : "repeats");
        const uint64_t all[] = {from, counts, mask};
        for (int k = 0; k < 3; k++) lw_bench_must(lw_memory_free(context, all[k]), "freeing memory");
    }
    char what[64];
    snprintf(what, sizeof what, "%s over %u elements", loops ? "loop of load, vshr, store" : "repeats of vshr", count);
    report(what, theirs, ours, turns, target);
    free_inputs(&in);
    lw_module_free(s.module);
}

/* ---- Loading --------------------------------------------------------------------------------------------------- */

static void measure_load(const lw_bench_options *options, lw_context *context) {
    enum { OPS = 20000 };
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) lw_bench_fail("no memory for a function");
    fprintf(to, "func.func @f(%%v0: !pto.vreg<64xi32>, %%n: !pto.vreg<64xi32>, %%m: !pto.mask<b32>) -> "
                "!pto.vreg<64xi32> {\n");
    for (int i = 0; i < OPS; i++)
        fprintf(to,
                "  %%v%d = pto.vshr %%v%d, %%n, %%m : (!pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32>) "
                "-> !pto.vreg<64xi32>\n",
                i + 1, i);
    fprintf(to, "  return %%v%d : !pto.vreg<64xi32>\n}\n", OPS);
    if (fclose(to)) lw_bench_fail("no memory for a function");
    uint32_t turns = options->quick ? 3 : MOST_TURNS;
    double front[MOST_TURNS], lower[MOST_TURNS];
    for (uint32_t t = 0; t < turns; t++) {
        side s = {.context = context};
        const lw_module_options pto = {.language = "pto"};
        double start = lw_bench_clock(options->wall);
        if (lw_module_load(context, &pto, "f", text, size, &s.module) != LW_OK) fail(&s);
        double middle = lw_bench_clock(options->wall);
        if (lw_module_kernel(s.module, NULL, &s.kernel) != LW_OK) fail(&s);
        front[t] = (middle - start) / OPS;
        lower[t] = (lw_bench_clock(options->wall) - middle) / OPS;
        lw_module_free(s.module);
    }
    double parse = lw_bench_spread_of(front, turns).median * 1e6;
    printf("loading PTO text: %.3f µs an operation to parse and check (target 1.0, %s), %.3f to lower\n", parse,
           parse <= 1 ? "met" : "not met", lw_bench_spread_of(lower, turns).median * 1e6);
    free(text);
}

static void measure_engine(const lw_bench_options *options, const lw_native *native, const char *engine) {
    lw_bench_options with = *options;
    with.engine = engine;
    lw_context *context = lw_bench_context(&with, 1);
    const bool jit = !strcmp(engine, "jit");
    printf("%s\n", engine);
    measure_registers(options, context, native, true);
    measure_registers(options, context, native, false);
    measure_arrays(options, context, native, true, 2048, 0);
    measure_arrays(options, context, native, true, 1 << 20, jit ? 0.85 : 0);
    measure_arrays(options, context, native, false, 2048, 0);
    measure_arrays(options, context, native, false, 1 << 20, 0);
    lw_context_free(context);
}

static bool has_compiler(const lw_bench_options *options) {
    lw_context *context;
    if (lw_context_new(&(lw_options){.threads = 1, .cpu = options->cpu, .engine = "jit"}, &context) != LW_OK)
        return false;
    lw_context_free(context);
    return true;
}

void lw_bench_vector(const lw_bench_options *options) {
    lw_bench_options with = *options;
    with.engine = "interp";
    lw_context *context = lw_bench_context(&with, 1);
    const lw_native *native = lw_bench_native(lw_context_cpu(context));
    printf("\nPTO: ns for 64 elements of i32                     Lanewise  native C   ratio   target   (%s)\n",
           native->level);
    measure_engine(options, native, "interp");
    if (has_compiler(options)) measure_engine(options, native, "jit");
    else printf("jit: not there\n");
    measure_load(options, context);
    lw_context_free(context);
}
