/* exec.c: lanewise exec: runs a program with our libcuda.so.1 in place of a driver. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/environment.h"
#include "tool/tool.h"

typedef struct exec_options {
    bool folder; /* print the folder and be done */
    bool stats, check;
    char **program;
} exec_options;

static const char doc[] =
    "Run a program that uses the CUDA driver or runtime API on the CPU."
    "\vThe folder of Lanewise's libcuda.so.1 and libcudart.so.12 and .13 is put in front of LD_LIBRARY_PATH, and the "
    "program takes the place of this command: "
    "the exit code is the program's. It is 127 where the program is not found and 126 where it cannot be executed.\n\n"
    "Environment: LANEWISE_THREADS, LANEWISE_CPU, LANEWISE_SEMANTICS=manual|sm_90, LANEWISE_ARCH=sm_90; "
    "LANEWISE_REPORT=none|errors|all "
    "says what goes to "
    "stderr: nothing, kernels that trap or cannot run and modules that are refused (the default), or every call that "
    "fails as well. "
    "With CUDA_LAUNCH_BLOCKING=1 a launch that traps returns the error itself. LANEWISE_LOG=calls names each call of "
    "the "
    "driver, LANEWISE_DEVICES=N gives it N devices, LANEWISE_STATS=1 and LANEWISE_STRICT=1 are --stats and --check.\n\n"
    "  lanewise exec -- ./program -x 1\n"
    "  LD_LIBRARY_PATH=$(lanewise exec --folder) ./program";

static const struct argp_option options[] = {
    {"folder", 'f', NULL, 0, "Print the folder that holds libcuda.so.1, and run nothing", 0},
    {"stats", 's', NULL, 0, "At the program's end, print by kernel launches, time, rate, and how much ran compiled", 0},
    {"check", 'c', NULL, 0, "A launch traps where lanes do what has no defined result, as run --strict", 0},
    {0},
};

/* What follows the program's name is the program's, options too. */
static error_t parse(int key, char *arg, struct argp_state *state) {
    exec_options *to = state->input;
    (void)arg;
    switch (key) {
    case 'f': to->folder = true; return 0;
    case 's': to->stats = true; return 0;
    case 'c': to->check = true; return 0;
    case ARGP_KEY_ARG:
        to->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!to->program && !to->folder) argp_error(state, "which program shall run?");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The folder that this program is in, links resolved. */
static bool own_folder(lw_text *folder) {
    char *path = realpath("/proc/self/exe", NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) lw_text_add(folder, path, (size_t)(slash - path));
    free(path);
    return slash && !folder->failed;
}

/* `no_memory` tells why there is none. In a build tree the library lies in lib/cuda; installed, where the build was
 * told to put it. */
static char *find_library(bool *no_memory) {
    static const char *const places[] = {"../lib/cuda", LW_CUDA_FOLDER};
    lw_text own = {0};
    char *found = NULL;
    bool known = own_folder(&own);
    *no_memory = !known && errno == ENOMEM;
    for (size_t i = 0; known && i < LW_COUNT(places) && !found; i++) {
        lw_text file = {0};
        lw_text_printf(&file, "%s/%s/libcuda.so.1", own.at, places[i]);
        if (!file.failed && !access(file.at, R_OK)) {
            file.at[file.size - strlen("/libcuda.so.1")] = 0;
            found = realpath(file.at, NULL);
            *no_memory = !found && errno == ENOMEM;
        }
        lw_text_free(&file);
    }
    lw_text_free(&own);
    return found;
}

static bool set_path(const char *folder) {
    const char *before = lw_environment(LW_ENV_library_path);
    lw_text path = {0};
    lw_text_printf(&path, "%s%s%s", folder, before ? ":" : "", before ? before : "");
    bool set = !path.failed && !setenv(lw_variable_names[LW_ENV_library_path], path.at, 1);
    lw_text_free(&path);
    return set;
}

static bool set_switch(bool wanted, lw_variable id) { return !wanted || !setenv(lw_variable_names[id], "1", 1); }

static int replace_process(char **program) {
    signal(SIGXFSZ, SIG_DFL);
    fflush(stdout);
    execvp(program[0], program);
    int error = errno;
    lw_tool_error(LW_D_cannot_execute, program[0], strerror(error));
    return error == ENOENT ? LW_EXIT_NO_PROGRAM : LW_EXIT_NO_EXECUTE;
}

int lw_command_exec(int argc, char **argv) {
    exec_options chosen = {0};
    lw_tool_options(&(struct argp){options, parse, "PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL}, argc, argv,
                    ARGP_IN_ORDER, &chosen);
    bool no_memory;
    char *folder = find_library(&no_memory);
    if (!folder && (no_memory || lw_text_lost())) {
        lw_tool_error(LW_D_no_memory, "the folder of libcuda.so.1");
        return LW_EXIT_MACHINE;
    }
    if (!folder) {
        lw_tool_error(LW_D_no_driver);
        return LW_EXIT_FILE;
    }
    if (chosen.folder) puts(folder);
    bool set = chosen.folder ||
               (set_path(folder) && set_switch(chosen.stats, LW_ENV_stats) && set_switch(chosen.check, LW_ENV_strict));
    free(folder);
    if (chosen.folder) return LW_EXIT_OK;
    if (!set) {
        lw_tool_error(LW_D_no_memory, "the environment cannot be set");
        return LW_EXIT_MACHINE;
    }
    return replace_process(chosen.program);
}
