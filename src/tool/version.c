/* version.c: lanewise version. */
#include "tool/tool.h"

static const char doc[] = "Print the version of Lanewise.";

static error_t parse(int key, char *arg, struct argp_state *state) {
    (void)arg;
    if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
    argp_error(state, "version takes no arguments");
    return 0;
}

int lw_command_version(int argc, char **argv) {
    lw_tool_options(&(struct argp){NULL, parse, "", doc, NULL, NULL, NULL}, argc, argv, 0, NULL);
    printf("lanewise %s\n", lw_version());
    return LW_EXIT_OK;
}
