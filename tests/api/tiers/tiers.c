/* The engine auto with a compiler that does what the test says: when CTAs change over, what freeing waits for, and what
 * becomes of code that is refused or slower. Results are compared with a loop in C. */
#include "../api.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "stub.h"

enum { BLOCK = 64, SHORT = 40 };

/* out[i] = the last of `rounds` numbers that follow i. CTAs from `from` on wait until flag[0] is not 0. */
#define KERNEL(name) \
    ".visible .entry " name "(.param .u64 out, .param .u32 rounds, .param .u64 flag, .param .u32 from)\n" \
    "{\n" \
    " .reg .u32 %i, %c, %n, %t, %r, %k; .reg .u64 %p, %f, %o; .reg .pred %q;\n" \
    " ld.param.u64 %p, [out]; ld.param.u32 %r, [rounds]; ld.param.u64 %f, [flag]; ld.param.u32 %k, [from];\n" \
    " mov.u32 %c, %ctaid.x; setp.lt.u32 %q, %c, %k; @%q bra GO;\n" \
    "WAIT: ld.volatile.global.u32 %t, [%f]; setp.eq.u32 %q, %t, 0; @%q bra WAIT;\n" \
    "GO: mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %c, %n, %i; mov.u32 %t, %i;\n" \
    "L: mad.lo.u32 %t, %t, 1664525, 1013904223; sub.u32 %r, %r, 1; setp.ne.u32 %q, %r, 0; @%q bra L;\n" \
    " mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %t; ret;\n" \
    "}\n"

static uint32_t model(uint32_t i, uint32_t rounds) {
    while (rounds--) i = i * 1664525 + 1013904223;
    return i;
}

/* ---- The compiler in LLVM's place ---- */

static stub *the_stub;

static void open_stub(void) {
    stub_get *get;
    void *library = dlopen(STUB_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    *(void **)&get = dlsym(library, STUB_SYMBOL);
    assert_non_null(get);
    the_stub = get();
}

static void set_stub(bool held, bool refuses, unsigned slow) {
    pthread_mutex_lock(&the_stub->lock);
    the_stub->held = held, the_stub->refuses = refuses, the_stub->slow = slow;
    the_stub->begun = the_stub->ended = the_stub->dropped = 0;
    atomic_store(&the_stub->steps, 0);
    pthread_cond_broadcast(&the_stub->moved);
    pthread_mutex_unlock(&the_stub->lock);
}

static void release(void) {
    pthread_mutex_lock(&the_stub->lock);
    the_stub->held = false;
    pthread_cond_broadcast(&the_stub->moved);
    pthread_mutex_unlock(&the_stub->lock);
}

static void wait_for(const unsigned *count, unsigned least) {
    pthread_mutex_lock(&the_stub->lock);
    while (*count < least) pthread_cond_wait(&the_stub->moved, &the_stub->lock);
    pthread_mutex_unlock(&the_stub->lock);
}

static unsigned look_at(const unsigned *count) {
    pthread_mutex_lock(&the_stub->lock);
    const unsigned now = *count;
    pthread_mutex_unlock(&the_stub->lock);
    return now;
}

/* ---- Launches ---- */

/* hot: as LANEWISE_HOT has it. */
static lw_context *automatic(const char *hot, uint32_t threads) {
    assert_int_equal(setenv("LANEWISE_HOT", hot, 1), 0);
    assert_int_equal(setenv("LANEWISE_ENGINE", "auto", 1), 0);
    return new_context(threads);
}

typedef struct launched {
    lw_launch_engines by;
    const char *wrong; /* cmocka's assertions belong to the main thread */
} launched;

/* Its results must be the model's. flag, from: as the kernel has them. */
static launched launch(lw_context *context, lw_kernel *kernel, uint32_t ctas, uint32_t rounds, uint64_t flag,
                       uint32_t from) {
    launched l = {.wrong = NULL};
    const uint32_t count = ctas * BLOCK;
    uint32_t *out = malloc(count * sizeof *out);
    uint64_t buffer = 0;
    const lw_launch_config config = shape(ctas, BLOCK);
    if (!out || lw_memory_new(context, count * sizeof *out, &buffer) != LW_OK) l.wrong = "no memory";
    else if (lw_launch(kernel, &config, (void *[]){&buffer, &rounds, &flag, &from}, NULL) != LW_OK)
        l.wrong = "it failed";
    else l.by = lw_launch_engine(context);
    if (!l.wrong && lw_memory_read(context, buffer, out, count * sizeof *out) != LW_OK) l.wrong = "nothing was read";
    for (uint32_t i = 0; i < count && !l.wrong; i++)
        if (out[i] != model(i, rounds)) l.wrong = "a result differs from the model";
    if (!l.wrong && l.by.interp_ctas + l.by.jit_ctas != ctas) l.wrong = "CTAs are missing";
    if (buffer && lw_memory_free(context, buffer) != LW_OK) l.wrong = "not freed";
    free(out);
    return l;
}

static lw_launch_engines launch_short(lw_context *context, lw_kernel *kernel) {
    const launched l = launch(context, kernel, SHORT, 20, 0, UINT32_MAX);
    if (l.wrong) fail_msg("%s: %s", l.wrong, lw_context_message(context));
    return l.by;
}

/* Until what the context compiles is done, and put in its place. */
static void wait_for_thread(lw_context *context) {
    while (lw_tiers_compiling(context->tiers)) sched_yield();
}

/* ---- Changing over ---- */

typedef struct opener {
    lw_context *context;
    uint64_t flag;
} opener;

static void *open_when_compiled(void *argument) {
    opener *o = argument;
    const uint32_t one = 1;
    wait_for(&the_stub->ended, 1);
    wait_for_thread(o->context);
    return lw_memory_write(o->context, o->flag, &one, sizeof one) == LW_OK ? NULL : o;
}

/* The first CTAs end in the interpreter and make it hot; others begin there, and wait until code is there that those
 * behind them run. */
static void a_launch_changes_over(void **state) {
    (void)state;
    enum { CTAS = 1500, FIRST = 100 };
    set_stub(false, false, 0);
    lw_context *context = automatic("500", 1);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    opener o = {.context = context, .flag = new_buffer(context, 4)};
    pthread_t id;
    void *failed;
    assert_int_equal(pthread_create(&id, NULL, open_when_compiled, &o), 0);
    const launched l = launch(context, kernel, CTAS, 20, o.flag, FIRST);
    assert_int_equal(pthread_join(id, &failed), 0);
    assert_null(failed);
    if (l.wrong) fail_msg("%s", l.wrong);
    assert_true(l.by.interp_ctas >= FIRST);
    assert_true(l.by.jit_ctas > 0);
    assert_true(atomic_load(&the_stub->steps) > 0);
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->dropped), 1);
}

/* One CTA, which begins in the interpreter and waits until there is code, runs so many rounds then. */
static lw_launch_engines launch_one(lw_context *context, lw_kernel *kernel, uint32_t rounds) {
    opener o = {.context = context, .flag = new_buffer(context, 4)};
    pthread_t id;
    void *failed;
    assert_int_equal(pthread_create(&id, NULL, open_when_compiled, &o), 0);
    const launched l = launch(context, kernel, 1, rounds, o.flag, 0);
    assert_int_equal(pthread_join(id, &failed), 0);
    assert_null(failed);
    if (l.wrong) fail_msg("%s", l.wrong);
    return l.by;
}

static void a_cta_changes_over(void **state) {
    (void)state;
    set_stub(false, false, 0);
    lw_context *context = automatic("500", 1);
    launch_one(context, get_kernel(load(context, HEAD KERNEL("k")), "k"), 100000);
    assert_true(atomic_load(&the_stub->steps) > 0);
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->dropped), 1);
}

/* The code is found to be slower while the CTA runs it, which says nothing of CTAs that are begun in it. */
static void a_cta_changes_back(void **state) {
    (void)state;
    set_stub(false, false, 300);
    lw_context *context = automatic("500", 1);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    const lw_launch_engines by = launch_one(context, kernel, 2000000);
    assert_true(atomic_load(&the_stub->steps) > 0);
    assert_int_equal(by.interp_ctas, 1);
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->dropped), 1);
}

static void the_first_launch_waits_at_0(void **state) {
    (void)state;
    set_stub(false, false, 0);
    lw_context *context = automatic("0", 2);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    assert_true(launch_short(context, kernel).jit_ctas > 0);
    lw_context_free(context);
}

static void a_cold_program_stays(void **state) {
    (void)state;
    set_stub(false, false, 0);
    lw_context *context = automatic("1000000000", 2);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    assert_string_equal(lw_launch_engine(context).why, "");
    for (int i = 0; i < 10; i++) {
        const lw_launch_engines by = launch_short(context, kernel);
        assert_int_equal(by.interp_ctas, SHORT);
        assert_string_equal(by.why, "it has not executed enough");
    }
    assert_int_equal(look_at(&the_stub->begun), 0);
    lw_context_free(context);
}

/* ---- What is not run ---- */

static void what_is_refused_stays(void **state) {
    (void)state;
    set_stub(false, true, 0);
    lw_context *context = automatic("0", 2);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    for (int i = 0; i < 5; i++) {
        const lw_launch_engines by = launch_short(context, kernel);
        assert_int_equal(by.interp_ctas, SHORT);
        assert_string_equal(by.why, "the compiler cannot: the engine jit says why");
    }
    assert_int_equal(look_at(&the_stub->begun), 1); /* nobody asks again */
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->dropped), 0);
}

/* Code that takes a hundred times as long as the interpreter. */
static void what_is_slower_is_given_up(void **state) {
    (void)state;
    enum { LAUNCHES = 20000 };
    set_stub(false, false, 20000);
    lw_context *context = automatic("0", 2);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    lw_launch_engines by = launch_short(context, kernel);
    assert_true(by.jit_ctas > 0);
    for (int i = 0; i < LAUNCHES && !*by.why; i++) by = launch_short(context, kernel);
    assert_string_equal(by.why, "the compiled code was slower");
    assert_int_equal(launch_short(context, kernel).jit_ctas, 0);
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->dropped), 1);
}

/* The estimate of what it costs is by size. */
static void what_is_large_stays(void **state) {
    (void)state;
    enum { LINES = 40000 };
    static const char line[] = " mad.lo.u32 %t, %t, %t, %i;\n";
    static char text[LINES * (sizeof line - 1) + 1000];
    size_t size = (size_t)sprintf(text, HEAD ".entry k(.param .u64 out) { .reg .u32 %%i, %%t; .reg .u64 %%p;\n"
                                             " mov.u32 %%i, %%tid.x; mov.u32 %%t, %%i; ld.param.u64 %%p, [out];\n");
    for (int i = 0; i < LINES; i++) size += (size_t)sprintf(text + size, "%s", line);
    sprintf(text + size, " st.global.u32 [%%p], %%t; ret; }\n");
    set_stub(false, false, 0);
    lw_context *context = automatic("0", 1);
    lw_kernel *kernel = get_kernel(load(context, text), "k");
    uint64_t buffer = new_buffer(context, 4);
    const lw_launch_config config = shape(2, 1);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_string_equal(lw_launch_engine(context).why, "to compile it would take too long");
    assert_int_equal(look_at(&the_stub->begun), 0);
    lw_context_free(context);
}

/* ---- Code that is kept ---- */

/* Long enough that whoever has code for it fetches that: KEPT_SECONDS of tier.c, twice, in warp instructions. */
enum { ENOUGH = 6250000 + 200000, ROUNDS_EACH = 60000, WARPS = BLOCK / 32, A_ROUND = 3 };

static lw_launch_engines launch_long(lw_context *context, lw_kernel *kernel) {
    const uint32_t ctas = ENOUGH / (ROUNDS_EACH * WARPS * A_ROUND) + 1;
    const launched l = launch(context, kernel, ctas, ROUNDS_EACH, 0, UINT32_MAX);
    if (l.wrong) fail_msg("%s", l.wrong);
    return l.by;
}

static void set_keeps(bool keeps) {
    pthread_mutex_lock(&the_stub->lock);
    the_stub->keeps = keeps, the_stub->loaded = 0;
    pthread_mutex_unlock(&the_stub->lock);
}

/* The first context compiles it and keeps the code. Others run it when they are still far from compiling it; not where
 * they have no cache, or it is of another program. */
static void what_is_kept_comes_early(void **state) {
    (void)state;
    char folder[] = "/tmp/lanewise-tiers-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "rm -r %s", folder);
    set_stub(false, false, 0);
    set_keeps(true);
    assert_int_equal(setenv("LANEWISE_CACHE", folder, 1), 0);
    lw_context *first = automatic("0", 1);
    launch_short(first, get_kernel(load(first, HEAD KERNEL("k")), "k"));
    assert_false(lw_launch_cached(first));
    lw_context_free(first);
    assert_int_equal(look_at(&the_stub->begun), 1);
    lw_context *second = automatic("1000000000", 1);
    lw_kernel *kernel = get_kernel(load(second, HEAD "\n// the same\n" KERNEL("k")), "k");
    lw_kernel *other = get_kernel(load(second, HEAD KERNEL("another")), "another");
    assert_string_equal(launch_short(second, kernel).why, "it has not executed enough");
    launch_long(second, kernel), launch_long(second, other);
    wait_for_thread(second);
    lw_launch_engines by; /* a trial may find it slower by chance, on a busy machine, before any short launch runs it */
    do by = launch_short(second, kernel), sched_yield();
    while (by.jit_ctas == 0 && strcmp(by.why, "the compiled code was slower"));
    if (by.jit_ctas) assert_true(lw_launch_cached(second));
    assert_string_equal(launch_short(second, other).why, "it has not executed enough");
    assert_false(lw_launch_cached(second));
    lw_context_free(second);
    assert_int_equal(setenv("LANEWISE_CACHE", "off", 1), 0);
    lw_context *third = automatic("1000000000", 1);
    kernel = get_kernel(load(third, HEAD KERNEL("k")), "k");
    launch_long(third, kernel);
    assert_string_equal(launch_short(third, kernel).why, "it has not executed enough");
    lw_context_free(third);
    assert_int_equal(look_at(&the_stub->begun), 1);
    assert_int_equal(look_at(&the_stub->loaded), 1);
    set_keeps(false);
    assert_int_equal(system(command), 0);
}

/* ---- Freeing ---- */

static atomic_bool freed;

static void *free_module(void *module) {
    lw_module_free(module);
    atomic_store(&freed, true);
    return NULL;
}

static void *free_context(void *context) {
    lw_context_free(context);
    atomic_store(&freed, true);
    return NULL;
}

/* What waits to be compiled is taken back at once; what is being compiled is waited for. Launches wait for neither. */
static void freeing_a_module_waits(void **state) {
    (void)state;
    set_stub(true, false, 0);
    atomic_store(&freed, false);
    lw_context *context = automatic("1", 2);
    lw_module *modules[] = {load(context, HEAD KERNEL("a") KERNEL("b")), load(context, HEAD KERNEL("c"))};
    lw_kernel *a = get_kernel(modules[0], "a"), *b = get_kernel(modules[0], "b"), *c = get_kernel(modules[1], "c");
    lw_kernel *const kernels[] = {a, b, c};
    for (int k = 0; k < 3; k++) assert_string_equal(launch_short(context, kernels[k]).why, "it is being compiled");
    wait_for(&the_stub->begun, 1);
    lw_module_free(modules[1]); /* this thread would wait for ever */
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, free_module, modules[0]), 0);
    for (int i = 0; i < 1000; i++) sched_yield();
    assert_false(atomic_load(&freed));
    release();
    assert_int_equal(pthread_join(id, NULL), 0);
    lw_context_free(context);
    const unsigned begun = look_at(&the_stub->begun);
    assert_in_range(begun, 1, 2); /* b may have been next before it was taken back */
    assert_int_equal(look_at(&the_stub->dropped), begun);
}

static void freeing_a_context_waits(void **state) {
    (void)state;
    set_stub(true, false, 0);
    atomic_store(&freed, false);
    lw_context *context = automatic("1", 3);
    lw_module *module = load(context, HEAD KERNEL("a") KERNEL("b"));
    launch_short(context, get_kernel(module, "a"));
    launch_short(context, get_kernel(module, "b"));
    wait_for(&the_stub->begun, 1);
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, free_context, context), 0);
    for (int i = 0; i < 1000; i++) sched_yield();
    assert_false(atomic_load(&freed));
    release();
    assert_int_equal(pthread_join(id, NULL), 0);
    assert_int_equal(look_at(&the_stub->dropped), look_at(&the_stub->ended));
}

/* ---- Several at once ---- */

typedef struct worker {
    pthread_t id;
    lw_context *context; /* NULL: each round has one of its own */
    lw_kernel *kernel;
    const char *wrong;
} worker;

static void *use_contexts(void *argument) {
    worker *w = argument;
    for (int round = 0; round < 6 && !w->wrong; round++) {
        lw_context *context = w->context;
        lw_module *module = NULL;
        lw_kernel *kernel = w->kernel;
        if (!context && lw_context_new(&(lw_options){.threads = 2, .memory_limit = 64 << 20}, &context) != LW_OK)
            return w->wrong = "no context", NULL;
        if (!kernel && (lw_module_new(context, "t.ptx", HEAD KERNEL("k"), strlen(HEAD KERNEL("k")), &module) != LW_OK ||
                        lw_module_kernel(module, "k", &kernel) != LW_OK))
            w->wrong = "no kernel";
        for (int i = 0; i < 12 && !w->wrong; i++) w->wrong = launch(context, kernel, SHORT, 300, 0, UINT32_MAX).wrong;
        if (!w->kernel) lw_module_free(module);
        if (!w->context) lw_context_free(context);
    }
    return NULL;
}

static void run_workers(lw_context *context, lw_kernel *kernel) {
    worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (worker){.context = context, .kernel = kernel};
        assert_int_equal(pthread_create(&workers[i].id, NULL, use_contexts, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(workers[i].id, NULL), 0);
    for (int i = 0; i < 4; i++)
        if (workers[i].wrong) fail_msg("%s", workers[i].wrong);
}

static void many_contexts_compile_at_once(void **state) {
    (void)state;
    set_stub(false, false, 0);
    lw_context_free(automatic("100", 2)); /* for its environment */
    run_workers(NULL, NULL);
    assert_true(look_at(&the_stub->begun) > 0);
    assert_int_equal(look_at(&the_stub->begun), look_at(&the_stub->dropped));
}

static void many_threads_share_a_kernel(void **state) {
    (void)state;
    set_stub(false, false, 0);
    lw_context *context = automatic("100", 3);
    run_workers(context, get_kernel(load(context, HEAD KERNEL("k")), "k"));
    run_workers(context, NULL); /* modules come and go while others of the context are compiled */
    lw_context_free(context);
    assert_int_equal(look_at(&the_stub->begun), look_at(&the_stub->dropped));
}

/* ---- The end of the process ---- */

static void look_at_the_end(void) { _exit(look_at(&the_stub->ended) ? 0 : 1); }

/* In a process of its own: it returns from main while something is compiled, which goes on after that. */
static int end_while_compiling(void) {
    if (atexit(look_at_the_end)) return 2; /* the last to be called */
    set_stub(true, false, 0);
    lw_context *context = automatic("1", 1);
    launch_short(context, get_kernel(load(context, HEAD KERNEL("k")), "k"));
    wait_for(&the_stub->begun, 1);
    if (atexit(release)) return 2; /* the first */
    exit(0);
}

static void the_process_ends_behind_the_compiler(void **state) {
    const int status = *(const int *)*state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- Ends of waiting ---- */

typedef struct stopper {
    lw_context *context;
    atomic_bool done;
} stopper;

/* A stop ends what runs at that moment: nobody knows when the launch does. */
static void *stop_until_done(void *user) {
    stopper *s = user;
    for (; !s->done; sched_yield()) lw_context_stop(s->context);
    return NULL;
}

/* A launch that waits for its code, with the engine that runs nothing else: a time limit or a stop ends it while the
 * compiler is busy, and the next launch has what it makes. */
static void who_waits_for_code_is_stopped(void **state) {
    (void)state;
    uint32_t rounds = 20, from = UINT32_MAX;
    uint64_t flag = 0;
    assert_int_equal(setenv("LANEWISE_ENGINE", "jit", 1), 0);
    set_stub(true, false, 0);
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, HEAD KERNEL("k")), "k");
    uint64_t buffer = new_buffer(context, SHORT * BLOCK * 4);
    lw_launch_config config = shape(SHORT, BLOCK);
    config.time_limit = 1e-3;
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &rounds, &flag, &from}, NULL), LW_STOPPED);
    assert_true(lw_tiers_compiling(context->tiers));
    assert_int_equal(look_at(&the_stub->ended), 0);

    pthread_t thread;
    stopper stops = {.context = context};
    config.time_limit = 0;
    assert_int_equal(pthread_create(&thread, NULL, stop_until_done, &stops), 0);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &rounds, &flag, &from}, NULL), LW_STOPPED);
    stops.done = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(look_at(&the_stub->ended), 0);

    release();
    assert_int_equal(launch_short(context, kernel).jit_ctas, SHORT);
    assert_int_equal(look_at(&the_stub->begun), 1);
    lw_context_free(context);
}

/* The child of a fork has no thread that compiles, and starts one. It does not wait for what cannot come. */
static void a_child_has_its_own_compiler(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it lets no child of a fork start threads */
#endif
    int status;
    assert_int_equal(setenv("LANEWISE_ENGINE", "jit", 1), 0);
    set_stub(false, false, 0);
    lw_context *context = new_context(1);
    lw_module *module = load(context, HEAD KERNEL("before") KERNEL("after"));
    assert_int_equal(launch_short(context, get_kernel(module, "before")).jit_ctas, SHORT);
    const pid_t child = fork();
    if (!child) {
        alarm(60); /* else it would wait for ever */
        _exit(launch_short(context, get_kernel(module, "after")).jit_ctas != SHORT);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    lw_context_free(context);
}

int main(void) {
    open_stub();
    pid_t child = fork(); /* before there are threads */
    if (!child) return end_while_compiling();
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    void *end = &status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_process_ends_behind_the_compiler, end),
        cmocka_unit_test(a_launch_changes_over),
        cmocka_unit_test(a_cta_changes_over),
        cmocka_unit_test(a_cta_changes_back),
        cmocka_unit_test(the_first_launch_waits_at_0),
        cmocka_unit_test(a_cold_program_stays),
        cmocka_unit_test(what_is_refused_stays),
        cmocka_unit_test(what_is_slower_is_given_up),
        cmocka_unit_test(what_is_large_stays),
        cmocka_unit_test(what_is_kept_comes_early),
        cmocka_unit_test(freeing_a_module_waits),
        cmocka_unit_test(freeing_a_context_waits),
        cmocka_unit_test(many_contexts_compile_at_once),
        cmocka_unit_test(many_threads_share_a_kernel),
        cmocka_unit_test(who_waits_for_code_is_stopped),
        cmocka_unit_test(a_child_has_its_own_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
