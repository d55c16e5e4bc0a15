/* cpu.c: lanewise cpu: the CPU levels and engines, those in use, the threads. */
#include "run/run.h"
#include "tool/tool.h"

typedef struct options {
    lw_options context;
    bool brief;
} options;

static const struct argp_option choices[] = {
    {"cpu", 'c', "LEVEL", 0, "Ask for this level", 0},
    {"brief", 'b', NULL, 0, "Print only the levels that this machine has, best first", 0},
    {0},
};

static const char doc[] =
    "Show the CPU levels that Lanewise is built for, which of them this machine has, the engines, what is in use, and "
    "the number of worker threads."
    "\vThe environment variables LANEWISE_CPU, LANEWISE_ENGINE and LANEWISE_THREADS choose the level, the engine and "
    "the number of "
    "threads.\n\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  the command line is wrong\n"
    "  6  the machine lacks the level that was asked for\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'c': o->context.cpu = arg; break;
    case 'b': o->brief = true; break;
    case ARGP_KEY_ARG: argp_error(state, "cpu takes no arguments"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int lw_command_cpu(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    if (o.brief) {
        for (const char *const *level = lw_cpu_levels(); *level; level++)
            if (lw_cpu_has(*level)) puts(*level);
        return LW_EXIT_OK;
    }
    lw_context *context = NULL;
    int code = lw_tool_context(&o.context, &context);
    if (code) return code;
    lw_guard_begin(0, "");
    for (const char *const *level = lw_cpu_levels(); *level; level++) {
        bool used = !strcmp(*level, lw_context_cpu(context));
        printf("%-9s %s%s\n", *level, lw_cpu_has(*level) ? "available" : "missing", used ? ", in use" : "");
    }
    for (lw_engine engine = 0; engine < LW_ENGINES; engine++) {
        const char *name = lw_engine_words[engine];
        const bool used = !strcmp(name, lw_context_engine(context));
        if (lw_engine_has(engine)) printf("%-9s available%s\n", name, used ? ", in use" : "");
        else printf("%-9s missing: %s\n", name, lw_engine_missing(engine));
    }
    printf("threads   %u\n", lw_context_threads(context));
    lw_guard_end();
    lw_context_free(context);
    return LW_EXIT_OK;
}
