/* Measures n, 2n and 4n of everything, and prints what a step of two costs. */
#include "growth.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double STEP = 2.3; /* at most: of twice as many of one thing */

enum {
    COMPILED = 64, /* of one thing: where the search begins for the compiler */
    SIZES = 3,     /* n, 2n, 4n */
    TURNS = 3,     /* of which the median counts */
    AGAIN = 3, /* times that a step beyond the bound is measured before it counts: the machine has other work, too */
};

typedef struct growth { /* of one run */
    const lw_bench_options *options;
    const char *engine; /* of all contexts: each measurement has its own, and its memory is new, whatever its size */
    char path[64];      /* of the text that the tool reads */
    double idle;        /* seconds of the tool for an empty text */
    uint32_t rows, missed;
    FILE *tsv;
} growth;

/* What is measured: n → seconds. */
typedef struct probe {
    growth *g;
    const char *group, *name, *what;
    const lw_growth_text *text;
    const lw_growth_call *call;
    double (*take)(const struct probe *p, uint32_t n);
    const char *const *words; /* of the tool's command line */
    uint32_t start, most;
} probe;

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

static char *write_text(const lw_growth_text *text, uint32_t n, size_t *size) {
    char *at = NULL;
    FILE *to = open_memstream(&at, size);
    if (!to) lw_bench_fail("out of memory");
    text->write(to, n);
    if (fclose(to)) lw_bench_fail("out of memory");
    return at;
}

static lw_context *new_context(const growth *g) {
    const lw_options options = {
        .threads = 1, .cpu = g->options->cpu, .engine = g->engine, .stack_limit = 16 << 20, .memory_limit = 1ull << 39};
    lw_context *context;
    if (lw_context_new(&options, &context) != LW_OK)
        lw_bench_fail("growth: there is no engine '%s', or no memory", g->engine);
    return context;
}

static lw_module *load(const probe *p, lw_context *context, const char *text, size_t size) {
    lw_module *module = NULL;
    lw_status status =
        lw_module_new(context, p->text->flags & LW_GROWTH_PTO ? "growth.pto" : "growth.ptx", text, size, &module);
    bool faulty = p->text->flags & LW_GROWTH_FAULTY;
    if (status == LW_BAD_SOURCE && !faulty) lw_bench_fail("%s: %.2000s", p->name, lw_module_diagnostics(module, false));
    if (status != LW_OK && status != LW_BAD_SOURCE) lw_bench_fail("%s: %s", p->name, lw_context_message(context));
    return module;
}

/* All kernels become programs. */
static void lower(const probe *p, lw_context *context, lw_module *module) {
    lw_kernel *kernel;
    for (size_t i = 0; i < lw_module_kernel_count(module); i++) {
        lw_status status = lw_module_kernel(module, lw_module_kernel_name(module, i), &kernel);
        if (status != LW_OK && !(p->text->flags & LW_GROWTH_FAULTY))
            lw_bench_fail("%s: %s\n%.2000s", p->name, lw_context_message(context),
                          lw_module_diagnostics(module, false));
        if (status == LW_OK && !strcmp(lw_context_engine(context), "jit")) lw_bench_compile(context, kernel, 32);
    }
}

static double take_load(const probe *p, uint32_t n) {
    size_t size;
    char *text = write_text(p->text, n, &size);
    lw_context *context = new_context(p->g);
    double start = lw_bench_clock(false);
    lw_module *module = load(p, context, text, size);
    lw_module_diagnostics(module, false);
    double took = lw_bench_clock(false) - start;
    lw_context_free(context);
    free(text);
    return took;
}

static double take_kernels(const probe *p, uint32_t n) {
    size_t size;
    char *text = write_text(p->text, n, &size);
    lw_context *context = new_context(p->g);
    lw_module *module = load(p, context, text, size);
    double start = lw_bench_clock(false);
    lower(p, context, module);
    double took = lw_bench_clock(false) - start;
    lw_context_free(context);
    free(text);
    return took;
}

static double take_run(const probe *p, uint32_t n) {
    size_t size;
    char *text = write_text(p->text, n, &size);
    lw_context *context = new_context(p->g);
    lw_module *module = load(p, context, text, size);
    lw_kernel *kernel;
    lw_status status = lw_module_kernel(module, "k", &kernel);
    const lw_launch_config config = {.grid = {1, 1, 1}, .block = {p->text->block ? p->text->block : 32, 1, 1}};
    double start = lw_bench_clock(false);
    if (status == LW_OK) status = lw_launch(kernel, &config, NULL, NULL);
    double took = lw_bench_clock(false) - start;
    if (status != LW_OK && !(status == LW_TRAPPED && p->text->flags & LW_GROWTH_STRAYS))
        lw_bench_fail("%s: %s", p->name, lw_context_message(context));
    lw_context_free(context);
    free(text);
    return took;
}

static double take_call(const probe *p, uint32_t n) {
    lw_context *context = new_context(p->g);
    double took = p->call->measure(context, n);
    lw_context_free(context);
    return took;
}

/* ---- The tool -------------------------------------------------------------------------------------------------- */

static double seconds_of(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

/* CPU time of the tool on the file. */
static double run_tool(const growth *g, const char *const *words) {
    const char *line[8] = {LW_GROWTH_TOOL};
    int count = 1;
    while (words[count - 1]) line[count] = words[count - 1], count++;
    line[count] = g->path;
    pid_t child = fork();
    if (child < 0) lw_bench_fail("the tool does not start");
    if (!child) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO), dup2(null, STDERR_FILENO);
        execv(line[0], (char *const *)line);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        lw_bench_fail("%s %s ends with %d", LW_GROWTH_TOOL, words[0],
                      WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

static void put_file(growth *g, const char *text, size_t size, bool pto) {
    snprintf(g->path, sizeof g->path, "/tmp/lanewise-growth-%ld.%s", (long)getpid(), pto ? "pto" : "ptx");
    FILE *file = fopen(g->path, "w");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file)) lw_bench_fail("%s cannot be written", g->path);
}

static double take_tool(const probe *p, uint32_t n) {
    size_t size;
    char *text = write_text(p->text, n, &size);
    put_file(p->g, text, size, p->text->flags & LW_GROWTH_PTO);
    double took = run_tool(p->g, p->words) - p->g->idle;
    unlink(p->g->path);
    free(text);
    return took > 0 ? took : 0;
}

static void find_idle(growth *g) {
    static const char empty[] = ".version 8.5\n.target sm_80\n.address_size 64\n";
    static const char *const words[] = {"check", NULL};
    double times[TURNS];
    put_file(g, empty, strlen(empty), false);
    for (int i = 0; i < TURNS; i++) times[i] = run_tool(g, words);
    unlink(g->path);
    g->idle = lw_bench_spread_of(times, TURNS).median;
}

/* ---- Measuring ------------------------------------------------------------------------------------------------- */

/* So many that n takes a while, within the probe's bound. What is around it, such as loading what is only launched,
 * takes a multiple at most. */
static uint32_t find_size(const probe *p, double least) {
    enum { AROUND = 15 };
    uint32_t n = p->start;
    for (; !p->most || 8ull * n <= p->most; n *= 2) {
        double start = lw_bench_clock(false), took = p->take(p, n);
        if (took >= least || lw_bench_clock(false) - start >= AROUND * least) break;
    }
    return n;
}

static void measure(const probe *p, uint32_t n, double medians[SIZES]) {
    double times[SIZES][TURNS];
    for (int turn = 0; turn < TURNS; turn++) /* the sizes take turns, so that a busy moment meets all */
        for (int s = 0; s < SIZES; s++) times[s][turn] = p->take(p, n << s);
    for (int s = 0; s < SIZES; s++) medians[s] = lw_bench_spread_of(times[s], TURNS).median;
}

static void report(growth *g, const probe *p, uint32_t n, const double t[SIZES], bool met) {
    printf("%-4s %-33s %-15s %9u %10.2f %10.2f %10.2f   %5.2f %5.2f  %s\n", p->group, p->name, p->what, n, t[0] * 1e3,
           t[1] * 1e3, t[2] * 1e3, t[1] / t[0], t[2] / t[1], met ? "met" : "NOT MET");
    fflush(stdout);
    if (!g->tsv) return;
    for (int s = 0; s + 1 < SIZES; s++)
        fprintf(g->tsv, "%s: %s\t%s\t%u\tgrowth\t1\t%.6g\t-\t-\t%g\t%s\n", p->group, p->name, p->what, n << s,
                t[s + 1] / t[s], STEP, met ? "met" : "not met");
}

static void take_probe(growth *g, const probe *p) {
    double least = g->options->least > 0 ? g->options->least : g->options->quick ? 5e-3 : 20e-3, t[SIZES];
    uint32_t n = find_size(p, least);
    bool met = false;
    for (int i = 0; i < AGAIN && !met; i++) {
        measure(p, n, t);
        met = t[1] <= STEP * t[0] && t[2] <= STEP * t[1];
    }
    /* What stays below a millisecond at its bound says nothing and costs nothing. */
    if (t[2] < 1e-3) met = true;
    g->rows++;
    g->missed += !met;
    report(g, p, n, t, met);
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static bool wanted(const growth *g, const char *group, const char *name, const char *what) {
    const char *only = g->options->only;
    char all[128];
    snprintf(all, sizeof all, "%s %s: %s", group, name, what);
    return !only || strstr(all, only);
}

static void take_text(growth *g, const lw_growth_text *text, bool jit) {
    static const char *const check[] = {"check", NULL}, *const format[] = {"format", NULL},
                             *const tokens[] = {"dump", "--stage", "tokens", NULL},
                             *const module[] = {"dump", "--stage", "module", NULL},
                             *const program[] = {"dump", "--stage", "program", NULL},
                             *const interp[] = {"dump", "--stage", "interp", NULL};
    const struct {
        const char *what;
        double (*take)(const probe *p, uint32_t n);
        const char *const *words;
        bool good_only, runs_only, jit;
    } ways[] = {
        {"load", take_load, NULL, false, false, false},
        {"kernels", take_kernels, NULL, true, false, false},
        {"run", take_run, NULL, true, true, false},
        {"compile", take_kernels, NULL, true, false, true},
        {"check", take_tool, check, false, false, false},
        {"format", take_tool, format, false, false, false},
        {"dump tokens", take_tool, tokens, false, false, false},
        {"dump module", take_tool, module, false, false, false},
        {"dump program", take_tool, program, false, false, false},
        {"dump interp", take_tool, interp, false, false, false},
    };
    const char *group = text->flags & LW_GROWTH_PTO ? "pto" : "ptx";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool bad = text->flags & LW_GROWTH_FAULTY;
        if ((bad && ways[i].good_only) || (ways[i].runs_only && !(text->flags & LW_GROWTH_RUNS)) || ways[i].jit != jit)
            continue;
        probe p = {g,    group,        text->name,    ways[i].what, text,
                   NULL, ways[i].take, ways[i].words, text->start,  text->most};
        if (jit && p.start > COMPILED) p.start = COMPILED; /* it takes a hundred times as long */
        if (wanted(g, group, text->name, ways[i].what)) take_probe(g, &p);
    }
}

static void take_calls(growth *g) {
    for (const lw_growth_call *call = lw_growth_calls; call->name; call++) {
        probe p = {g, "call", call->name, "run", NULL, call, take_call, NULL, call->start, call->most};
        if (wanted(g, "call", call->name, "run")) take_probe(g, &p);
    }
}

lw_growth_verdict lw_bench_growth(const lw_bench_options *options, FILE *tsv) {
    growth g = {.options = options, .tsv = tsv};
    bool jit = options->engine && !strcmp(options->engine, "jit");
    g.engine = jit ? "jit" : "interp";
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* as it is, but does not change on the way */
    find_idle(&g);
    if (tsv) fputs("kernel\tengine\tlevel\tmeasure\tunit\tmedian\tleast\tmost\ttarget\tverdict\n", tsv);
    printf("GROWTH: CPU time in ms of n, 2n, 4n things; a step of two costs at most %.1f\n", STEP);
    printf("%-4s %-33s %-15s %9s %10s %10s %10s   %5s %5s\n", "", "things", "what is done", "n", "n", "2n", "4n",
           "2n/n", "4n/2n");
    for (const lw_growth_text *text = lw_growth_ptx; text->name; text++) take_text(&g, text, jit);
    for (const lw_growth_text *text = lw_growth_pto; text->name; text++) take_text(&g, text, jit);
    if (!jit) take_calls(&g);
    if (!g.rows) {
        fprintf(stderr, "growth: nothing has '%s' in 'ptx NAME: WHAT'\n", options->only ? options->only : "");
        return LW_GROWTH_NONE;
    }
    printf("%u of %u met\n", g.rows - g.missed, g.rows);
    return g.missed ? LW_GROWTH_MISSED : LW_GROWTH_MET;
}
