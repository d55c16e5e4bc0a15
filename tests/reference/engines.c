/* engines.c: runs a kernel by the reference and by every engine of the library, and compares memory. */
#define _GNU_SOURCE /* memmem */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 4096, STEPS_MAX = 4000000 };
#define IN_ADDRESS  0x100000000u
#define OUT_ADDRESS 0x200000000u
#define SUM_ADDRESS 0x300000000u

/* ---- Engines --------------------------------------------------------------------------------------------------- */

static void add_engine(comparison *c, const char *cpu, const char *how, uint32_t threads, const char *semantics) {
    engine *e = &c->engines[c->engine_count];
    lw_options options = {
        .threads = threads, .cpu = cpu, .engine = how, .semantics = semantics, .memory_limit = (uint64_t)1 << 30};
    if (!lw_cpu_has(cpu) || lw_context_new(&options, &e->context)) return;
    if (strcmp(lw_context_engine(e->context), how) || lw_memory_new(e->context, 8 * GEN_IN_WORDS, &e->in) ||
        lw_memory_new(e->context, (uint64_t)THREADS_MAX * GEN_OUT_BYTES, &e->out) ||
        lw_memory_new(e->context, GEN_SUM_BYTES, &e->sum)) {
        lw_context_free(e->context);
        return;
    }
    e->jit = !strcmp(how, "jit"), e->sm_90 = !strcmp(semantics, "sm_90");
    snprintf(e->name, sizeof e->name, "%s %s%s, %u thread%s", how, cpu, e->sm_90 ? " sm_90" : "", threads,
             threads > 1 ? "s" : "");
    snprintf(c->names + strlen(c->names), sizeof c->names - strlen(c->names), "%s%s", c->engine_count ? "; " : "",
             e->name);
    c->engine_count++;
}

/* The best level and the plainest compile; both semantics; one thread and several. */
static void add_engines(comparison *c) {
    const char *best = NULL;
    for (const char *const *level = lw_cpu_levels(); *level; level++) {
        if (!lw_cpu_has(*level)) continue;
        if (!best) best = *level;
        add_engine(c, *level, "interp", *level == best ? 3 : 1, "manual");
    }
    add_engine(c, best, "interp", 3, "sm_90");
    add_engine(c, best, "jit", 1, "manual");
    add_engine(c, best, "jit", 3, "sm_90");
    if (strcmp(best, "portable")) add_engine(c, "portable", "jit", 3, "manual");
}

comparison *compare_begin(bool gpu, bool engines) {
    comparison *c = calloc(1, sizeof *c);
    if (!c) abort();
    if (engines) add_engines(c);
    if (gpu) {
        engine *e = &c->engines[c->engine_count++];
        gpu_open(e, (uint64_t)THREADS_MAX * GEN_OUT_BYTES);
        c->has_gpu = e->sm_90 = true;
        snprintf(c->names + strlen(c->names), sizeof c->names - strlen(c->names), "; %s", e->name);
    }
    c->in = calloc(GEN_IN_WORDS, 8), c->out = calloc(THREADS_MAX, GEN_OUT_BYTES),
    c->got = calloc(THREADS_MAX, GEN_OUT_BYTES), c->sum = calloc(1, GEN_SUM_BYTES);
    c->executed = calloc(lw_ptx_form_count, sizeof *c->executed);
    if (!c->executed || !c->in || !c->out || !c->got || !c->sum) abort();
    return c;
}

void compare_end(comparison *c) {
    for (uint32_t k = 0; k < c->engine_count; k++) lw_context_free(c->engines[k].context); /* a GPU has none */
    free(c->executed), free(c->in), free(c->out), free(c->got), free(c->sum);
    free(c);
}

/* ---- The reference --------------------------------------------------------------------------------------------- */

static void fill_in(comparison *c) {
    static const uint64_t interesting[] = {0,
                                           1,
                                           2,
                                           3,
                                           31,
                                           32,
                                           63,
                                           64,
                                           127,
                                           128,
                                           255,
                                           0x7fff,
                                           0x8000,
                                           0xffff,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           0x3f800000,
                                           0xbf800000,
                                           0x7fc00001,
                                           0xff800001,
                                           0x7f800000,
                                           0x00000001,
                                           0x00800000,
                                           0x3ff0000000000000,
                                           0x7ff0000000000001,
                                           0x7ff8000000000002,
                                           0xfff0000000000000,
                                           0x8000000000000000,
                                           UINT64_MAX};
    uint64_t state = c->seed * 77 + 5;
    for (uint32_t k = 0; k < GEN_IN_WORDS; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t word = state ^ state >> 31;
        if (k % 3 == 0) word = interesting[word >> 13 & 31 ? (word >> 20) % LW_COUNT(interesting) : 0];
        if (k % 9 == 0) word |= word << 32;
        memcpy(c->in + 8 * k, &word, 8);
    }
}

static uint32_t thread_count(const gen_kernel *k) {
    return k->grid[0] * k->grid[1] * k->grid[2] * k->block[0] * k->block[1] * k->block[2];
}

static void put_addresses(const gen_kernel *kernel, unsigned char params[GEN_PARAM_BYTES], uint64_t in, uint64_t out,
                          uint64_t sum) {
    memcpy(params, kernel->params, GEN_PARAM_BYTES);
    uint64_t addresses[3] = {in, out, sum};
    memcpy(params, addresses, sizeof addresses);
}

static const lw_function *entry_of(const lw_module_ptx *module) {
    for (uint32_t k = 0; k < module->functions.count; k++)
        if (module->functions.at[k]->is_entry) return module->functions.at[k];
    return NULL;
}

static void say_diagnostics(comparison *c, const lw_diags *diags, lw_source *source) {
    for (const lw_diag *d = diags->first; d; d = d->next) {
        uint32_t line, column;
        if (d->severity != LW_ERROR) continue;
        lw_source_find(source, d->place.at, &line, &column);
        snprintf(c->why, sizeof c->why, "the text is refused: %u:%u: %s", line, column, d->message);
        return;
    }
}

static ref_result run_checked(comparison *c, gen_kernel *kernel, lw_module_ptx *module) {
    kernel->param_bytes = entry_of(module)->param_bytes; /* of a text of one's own it may be another */
    unsigned char params[GEN_PARAM_BYTES];
    put_addresses(kernel, params, IN_ADDRESS, OUT_ADDRESS, SUM_ADDRESS);
    ref_region regions[] = {{IN_ADDRESS, 8 * GEN_IN_WORDS, c->in, 0},
                            {OUT_ADDRESS, (uint64_t)thread_count(kernel) * GEN_OUT_BYTES, c->out, GEN_OUT_BYTES},
                            {SUM_ADDRESS, GEN_SUM_BYTES, c->sum, 0}};
    ref_launch launch = {.module = module,
                         .kernel = entry_of(module),
                         .params = params,
                         .regions = regions,
                         .region_count = 3,
                         .step_limit = STEPS_MAX,
                         .quantum = 1 + (uint32_t)(c->seed * 7 % 60),
                         .sm_90 = c->sm_90,
                         .bare = c->bare,
                         .executed = c->executed};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    memset(c->out, 0, (size_t)thread_count(kernel) * GEN_OUT_BYTES);
    memset(c->sum, 0, GEN_SUM_BYTES);
    return ref_run(&launch);
}

/* False: the text has faults, or its result is not defined. */
static bool run_reference(comparison *c, gen_kernel *kernel, ref_result *result, uint32_t *line) {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_module_ptx *module;
    jmp_buf out;
    lw_arena_init(&arena);
    if (!LW_ARENA_TRY(&arena, out)) abort();
    lw_source_init(&source, &arena, "k.ptx", kernel->text.at, kernel->text.size);
    lw_diags_init(&diags, &arena, &source);
    bool good = lw_ptx_check(&arena, &source, &diags, NULL, &module);
    if (!good) say_diagnostics(c, &diags, &source);
    else if (!entry_of(module)) snprintf(c->why, sizeof c->why, "the text has no kernel"), good = false;
    else {
        *result = run_checked(c, kernel, module);
        uint32_t column;
        lw_source_find(&source, result->place.at, line, &column);
        c->steps += result->steps;
        c->skipped += result->end == REF_LIMIT;
        if (result->end != REF_DONE && result->end != REF_TRAP) {
            snprintf(c->why, sizeof c->why, "the reference gives up: %s, line %u, thread %u of CTA %u", result->why,
                     *line, result->thread, result->cta);
            good = false;
        }
    }
    lw_arena_free(&arena);
    return good;
}

/* ---- The library ----------------------------------------------------------------------------------------------- */

static lw_status launch(engine *e, const gen_kernel *kernel, lw_module **module, lw_trap_info *trap) {
    unsigned char params[GEN_PARAM_BYTES];
    lw_kernel *k;
    lw_status status = lw_module_new(e->context, "k.ptx", kernel->text.at, kernel->text.size, module);
    if (!status) status = lw_module_kernel(*module, NULL, &k);
    if (status) return status;
    put_addresses(kernel, params, e->in, e->out, e->sum);
    lw_launch_config config = {.time_limit = 20,
                               .step_limit = 10 * (uint64_t)STEPS_MAX,
                               .param_buffer = params,
                               .param_buffer_size = kernel->param_bytes};
    memcpy(config.grid, kernel->grid, sizeof config.grid);
    memcpy(config.block, kernel->block, sizeof config.block);
    status = lw_launch(k, &config, NULL, NULL);
    if (status == LW_TRAPPED) lw_trap(e->context, trap);
    return status;
}

/* Memory of our own: nothing can be wrong with it. */
static void must(lw_status status) {
    if (status == LW_OK) return;
    fprintf(stderr, "reference: %s\n", lw_status_name(status));
    exit(2);
}

static bool same_bytes(comparison *c, const engine *e, const char *what, const unsigned char *want, uint64_t address,
                       uint64_t size, uint32_t each) {
    if (e->gpu) gpu_read(address, c->got, size);
    else must(lw_memory_read(e->context, address, c->got, size));
    if (!memcmp(want, c->got, size)) return true;
    uint64_t at = 0, a, b;
    while (!memcmp(want + at, c->got + at, 4)) at += 4;
    a = b = 0;
    memcpy(&a, want + at, 4), memcpy(&b, c->got + at, 4);
    snprintf(c->why, sizeof c->why, "%s: %s of thread %llu at %llu is %llx, the reference says %llx", e->name, what,
             (unsigned long long)(at / each), (unsigned long long)(at % each), (unsigned long long)b,
             (unsigned long long)a);
    return false;
}

static bool same_end(comparison *c, const engine *e, lw_status status, const lw_trap_info *trap, const ref_result *r,
                     uint32_t line) {
    if (r->end == REF_DONE && status == LW_OK) return true;
    if (r->end == REF_TRAP && status == LW_TRAPPED && trap->line == line) return true;
    snprintf(c->why, sizeof c->why, "%s: %s (%s%s, line %u), the reference says %s (%s, line %u)", e->name,
             lw_status_name(status), status == LW_TRAPPED ? trap->message : lw_context_message(e->context), "",
             status == LW_TRAPPED ? trap->line : 0, r->end == REF_DONE ? "done" : "trap", r->why ? r->why : "", line);
    return false;
}

static bool same_memory(comparison *c, engine *e, uint64_t out_bytes) {
    return same_bytes(c, e, "out", c->out, e->out, out_bytes, GEN_OUT_BYTES) &&
           same_bytes(c, e, "sum", c->sum, e->sum, GEN_SUM_BYTES, GEN_SUM_BYTES);
}

static bool run_gpu(comparison *c, engine *e, const gen_kernel *kernel, const ref_result *r) {
    unsigned char params[GEN_PARAM_BYTES];
    uint64_t out_bytes = (uint64_t)thread_count(kernel) * GEN_OUT_BYTES;
    if (r->end != REF_DONE || memmem(kernel->text.at, 60, "sm_100", 6))
        return true; /* a trap would be its last kernel */
    put_addresses(kernel, params, e->in, e->out, e->sum);
    return gpu_run(e, kernel, c->in, params, out_bytes, c->why, sizeof c->why) && same_memory(c, e, out_bytes);
}

static bool run_engine(comparison *c, engine *e, const gen_kernel *kernel, const ref_result *r, uint32_t line) {
    uint64_t out_bytes = (uint64_t)thread_count(kernel) * GEN_OUT_BYTES;
    if (e->gpu) return run_gpu(c, e, kernel, r);
    lw_module *module = NULL;
    lw_trap_info trap = {0};
    must(lw_memory_write(e->context, e->in, c->in, 8 * GEN_IN_WORDS));
    must(lw_memory_fill(e->context, e->out, 0, 8, out_bytes / 8));
    must(lw_memory_fill(e->context, e->sum, 0, 8, GEN_SUM_BYTES / 8));
    lw_status status = launch(e, kernel, &module, &trap);
    bool same = same_end(c, e, status, &trap, r, line);
    if (status == LW_BAD_SOURCE)
        snprintf(c->why, sizeof c->why, "%s: %.900s", e->name, lw_module_diagnostics(module, false));
    if (same && r->end == REF_DONE) same = same_memory(c, e, out_bytes);
    lw_module_free(module);
    return same;
}

uint64_t compare_digest(const void *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < size; k++) hash = (hash ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
    return hash;
}

bool compare_kernel(comparison *c, gen_kernel *kernel) {
    ref_result r = {0};
    uint32_t line = 0;
    c->why[0] = 0, c->ran = false, c->digest = 0;
    c->sm_90 = c->has_gpu || c->seed % 4 == 3;
    fill_in(c);
    if (!run_reference(c, kernel, &r, &line)) return r.end == REF_LIMIT; /* too long for a test: passed over */
    bool same = true;
    for (uint32_t k = 0; k < c->engine_count && same; k++) {
        if ((c->engines[k].jit && !c->with_jit) || c->engines[k].sm_90 != c->sm_90) continue;
        same = run_engine(c, &c->engines[k], kernel, &r, line);
    }
    c->compiled += c->with_jit;
    c->ran = same && r.end == REF_DONE;
    c->digest = compare_digest(c->out, (size_t)thread_count(kernel) * GEN_OUT_BYTES) ^
                compare_digest(c->sum, GEN_SUM_BYTES);
    return same;
}

uint32_t compare_missing(const comparison *c) {
    uint32_t missing = 0;
    for (uint32_t k = 0; k < lw_ptx_form_count; k++) {
        const lw_form *form = &lw_ptx_forms[k];
        if ((!form->lane && !form->lower) || c->executed[k]) continue;
        if (gen_is_apart(form)) continue;
        if (form->gone_isa && form->gone_sm <= 20) continue; /* no kernel here is for targets as old as that */
        printf("not executed: %s (%s)\n", form->id, form->pattern);
        missing++;
    }
    return missing;
}

/* ---- Making a text smaller ------------------------------------------------------------------------------------- */

/* A text that differs in the same manner: refused ones, and those without a defined result, count as the same. */
/* What a fault of the compiler of a GPU takes with it is a process of its own. */
static bool same_apart(comparison *c, const gen_kernel *kernel) {
    char path[64], command[512], line[1024] = "";
    snprintf(path, sizeof path, "/tmp/reference-%d.ptx", (int)getpid());
    FILE *file = fopen(path, "wb");
    if (!file) return true;
    fwrite(kernel->text.at, 1, kernel->text.size, file);
    fclose(file);
    snprintf(command, sizeof command, "timeout -s KILL 10 /proc/%d/exe --only-gpu --seed %llu --file %s 2>&1",
             (int)getpid(), (unsigned long long)c->seed, path);
    FILE *pipe = popen(command, "r");
    if (!pipe) return true;
    if (!fgets(line, sizeof line, pipe)) line[0] = 0;
    while (fgets(command, sizeof command, pipe)) {}
    pclose(pipe);
    remove(path);
    const char *why = strstr(line, ": ");
    if (strncmp(line, "seed ", 5) || !why || strstr(why, "refused")) return true;
    snprintf(c->why, sizeof c->why, "%s", why + 2);
    return false;
}

static bool still_differs(comparison *c, gen_kernel *kernel) {
    bool of_memory = strstr(c->why, ", the reference says ") && strstr(c->why, " of thread ");
    if ((c->has_gpu ? same_apart(c, kernel) : compare_kernel(c, kernel)) || !strncmp(c->why, "the ", 4)) return false;
    return of_memory == (strstr(c->why, " of thread ") != NULL);
}

static void without(lw_text *to, const lw_text *from, uint32_t first, uint32_t count) {
    uint32_t line = 0;
    for (size_t at = 0; at < from->size;) {
        const char *end = memchr(from->at + at, '\n', from->size - at);
        size_t size = end ? (size_t)(end - from->at) + 1 - at : from->size - at;
        bool passes = memmem(from->at + at, size, "param", 5); /* arguments that nobody wrote would be another fault */
        if (line < first || line >= first + count || passes) lw_text_add(to, from->at + at, size);
        line++, at += size;
    }
}

static uint32_t lines_of(const lw_text *text) {
    uint32_t n = 0;
    for (size_t k = 0; k < text->size; k++) n += text->at[k] == '\n';
    return n;
}

void compare_reduce(comparison *c, gen_kernel *kernel) {
    char why[sizeof c->why];
    memcpy(why, c->why, sizeof why);
    for (uint32_t count = lines_of(&kernel->text) / 2; count; count = count > 1 ? count / 2 : 0)
        for (uint32_t first = 0; first < lines_of(&kernel->text);) {
            gen_kernel less = *kernel;
            less.text = (lw_text){0};
            without(&less.text, &kernel->text, first, count);
            if (less.text.size < kernel->text.size && still_differs(c, &less)) {
                lw_text_free(&kernel->text);
                kernel->text = less.text;
                memcpy(why, c->why, sizeof why);
            } else {
                lw_text_free(&less.text);
                first += count;
                memcpy(c->why, why, sizeof why);
            }
        }
    memcpy(c->why, why, sizeof why);
    printf("reduced: %s\n", c->why);
}
