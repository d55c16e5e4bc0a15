/* A process that has launched is forked: threads stay with the parent, so the child makes its own, for launches and for
 * the compiler, and frees what it has. */
#include "api.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = HEAD AFFINE;
enum { SKIPPED = 77, COUNT = 640, GOOD = 10, WRONG = 11, SECONDS = 60 };

/* The kernel of a module of its own, which nobody has compiled. */
static bool computes(lw_context *context) {
    lw_module *module;
    lw_kernel *kernel;
    uint64_t buffer;
    uint32_t out[COUNT], add = 7;
    lw_launch_config config = shape(10, COUNT / 10);
    if (lw_module_new(context, "affine.ptx", text, sizeof text - 1, &module) != LW_OK ||
        lw_module_kernel(module, "affine", &kernel) != LW_OK || lw_memory_new(context, sizeof out, &buffer) != LW_OK ||
        lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL) != LW_OK ||
        lw_memory_read(context, buffer, out, sizeof out) != LW_OK)
        return false;
    for (uint32_t i = 0; i < COUNT; i++)
        if (out[i] != 3 * i + add) return false;
    lw_module_free(module);
    return true;
}

int main(void) {
    static const char *const engines[] = {"interp", "jit"};
    for (int k = 0; k < 2; k++) {
        lw_context *context;
        const lw_options options = {.size = sizeof options, .threads = 2, .engine = engines[k]};
        if (lw_context_new(&options, &context) != LW_OK)
            return printf("skipped: %s\n", lw_context_message(NULL)), SKIPPED;
        assert_true(computes(context));
        const pid_t child = fork();
        if (!child) {
            alarm(SECONDS); /* where it waits for a thread that it has not */
            const bool good = computes(context);
            lw_context_free(context);
            _exit(good ? GOOD : WRONG);
        }
        int status = 0;
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == GOOD);
        assert_true(computes(context));
        lw_context_free(context);
    }
    return 0;
}
