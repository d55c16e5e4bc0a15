/* LLVM runs out of memory, and the process lives on: what was compiled before runs, the interpreter runs everything,
 * and nobody enters LLVM again. */
#include "api.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, LINES = 7000, COUNT = 640 };
/* How a child ends. */
enum { GOOD = 10, GAVE_UP = 11, REFUSED = 12, WRONG = 13 };

static char large[LINES * 32 + 1000];

static void make_large(void) {
    size_t size = (size_t)sprintf(large, HEAD ".entry large(.param .u64 out) { .reg .u32 %%i, %%t; .reg .u64 %%p;\n"
                                              " mov.u32 %%i, %%tid.x; mov.u32 %%t, %%i; ld.param.u64 %%p, [out];\n");
    for (int i = 0; i < LINES; i++) size += (size_t)sprintf(large + size, " mad.lo.u32 %%t, %%t, %%i, %%t;\n");
    sprintf(large + size, " st.global.u32 [%%p], %%t; ret; }\n");
}

static void limit_memory(rlim_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

static rlim_t memory_in_use(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%llu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE));
}

/* The kernel of AFFINE gives what it must. */
static bool computes(lw_context *context, lw_kernel *kernel) {
    uint64_t buffer;
    uint32_t out[COUNT], add = 7;
    lw_launch_config config = shape(10, COUNT / 10);
    if (lw_memory_new(context, sizeof out, &buffer) != LW_OK ||
        lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL) != LW_OK ||
        lw_memory_read(context, buffer, out, sizeof out) != LW_OK)
        return false;
    for (uint32_t i = 0; i < COUNT; i++)
        if (out[i] != 3 * i + add) return false;
    return lw_memory_free(context, buffer) == LW_OK;
}

static lw_kernel *kernel_of(lw_context *context, const char *text, const char *name) {
    lw_module *module;
    lw_kernel *kernel;
    if (lw_module_new(context, "k.ptx", text, strlen(text), &module) != LW_OK) return NULL;
    return lw_module_kernel(module, name, &kernel) == LW_OK ? kernel : NULL;
}

static lw_context *context_of(const char *engine) {
    lw_context *context;
    const lw_options options = {.threads = 2, .memory_limit = 64 << 20, .engine = engine};
    return lw_context_new(&options, &context) == LW_OK ? context : NULL;
}

/* In the engine auto, which was told to compile at once. */
static bool goes_on_without(void) {
    setenv("LANEWISE_HOT", "0", 1);
    lw_context *context = context_of("auto");
    lw_kernel *kernel = context ? kernel_of(context, HEAD AFFINE, "affine") : NULL;
    const bool good = kernel && computes(context, kernel) && lw_launch_engine(context).jit_ctas == 0 &&
                      *lw_launch_engine(context).why;
    lw_context_free(context);
    return good;
}

/* For a launch that ends at once, whatever it does until then. */
static bool is_compiled(lw_module *module) {
    lw_kernel *kernel;
    const uint64_t nowhere = 0;
    const lw_launch_config config = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .param_buffer = &nowhere, .param_buffer_size = 8, .step_limit = 1};
    if (lw_module_kernel(module, "large", &kernel) != LW_OK) return false;
    const lw_status status = lw_launch(kernel, &config, NULL, NULL);
    return status != LW_UNSUPPORTED && status != LW_NO_MEMORY;
}

/* With so many bytes more than the process has when LLVM is there. */
static int starve(rlim_t bytes) {
    lw_context *context = context_of("jit");
    lw_kernel *kernel = context ? kernel_of(context, HEAD AFFINE, "affine") : NULL;
    lw_module *module;
    if (!kernel || !computes(context, kernel)) return WRONG;
    if (lw_module_new(context, "large.ptx", large, strlen(large), &module) != LW_OK) return WRONG;
    limit_memory(memory_in_use() + bytes);
    const bool made = is_compiled(module);
    limit_memory(RLIM_INFINITY);
    const bool gave_up = strstr(lw_context_message(context), "LLVM gave up") != NULL;
    if (!computes(context, kernel)) return WRONG;
    lw_kernel *late = gave_up ? kernel_of(context, HEAD AFFINE, "affine") : NULL;
    if (gave_up && (!late || computes(context, late) || !goes_on_without())) return WRONG;
    lw_context_free(context);
    return made ? GOOD : gave_up ? GAVE_UP : REFUSED;
}

static int in_child(rlim_t bytes) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) exit(starve(bytes)); /* LLVM's own end, too */
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

static void the_process_lives_on(void **state) {
    (void)state;
    unsigned ends[WRONG + 1] = {0};
    for (unsigned megabytes = 2; megabytes <= 14; megabytes += 2) {
        const int end = in_child((rlim_t)megabytes << 20);
        if (end < GOOD || end >= WRONG) fail_msg("with %u MiB more: %d", megabytes, end);
        ends[end]++;
    }
    assert_true(ends[GAVE_UP] > 0);
    assert_int_equal(in_child(RLIM_INFINITY / 2), GOOD);
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return puts("skipped: a sanitizer takes all address space"), SKIPPED;
#endif
    lw_context *context = context_of("jit");
    if (!context) return printf("skipped: %s\n", lw_context_message(NULL)), SKIPPED;
    lw_context_free(context);
    make_large();
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_process_lives_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
