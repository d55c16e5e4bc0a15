/* format.c: lanewise format: a text in one canonical layout. */
#include "tool/language.h"

typedef struct options {
    bool in_place;
    const lw_tool_language *language;
    const char *output;
    char **files;
    int count;
} options;

static const struct argp_option choices[] = {
    {"in-place", 'i', NULL, 0, "Write each file back", 0},
    {"language", 'L', "NAME", 0, "ptx or pto, for standard input and files whose name does not say it", 0},
    {"output", 'o', "OUT", 0, "Write to this file instead of standard output", 0},
    {0},
};

static const char doc[] = "Print PTX or PTO text in one canonical layout; `-' is standard input. The file must parse, "
                          "but the instructions of PTX may be "
                          "of any kind, even unknown ones. Comments of PTO are kept, those of PTX are not."
                          "\vA file with errors is never written.\n\n"
                          "Exit codes:\n"
                          "  0  done\n"
                          "  1  a file has errors\n"
                          "  2  the command line is wrong\n"
                          "  5  a file cannot be read or written\n"
                          "  6  out of memory\n\n"
                          "Examples:\n"
                          "  lanewise format k.ptx\n"
                          "  lanewise format -i *.ptx\n"
                          "  lanewise format k.ptx -o pretty.ptx\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'L': o->language = lw_tool_language_said(state, arg); break;
    case 'i': o->in_place = true; break;
    case 'o': o->output = arg; break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    case ARGP_KEY_SUCCESS:
        if (o->in_place && o->output) argp_error(state, "-i and -o exclude each other");
        if (!o->in_place && o->count > 1) argp_error(state, "several files can only be formatted in place: -i");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int format_source(lw_tool_source *in) {
    const options *o = in->user;
    lw_text out = {0};
    lw_tool_language_of(in->path, o->language)->format(in, &out);
    lw_tool_diagnostics(&in->diags, true);
    if (in->diags.errors) {
        lw_text_free(&out);
        return LW_EXIT_SOURCE;
    }
    int code = LW_EXIT_OK;
    if (out.failed) {
        lw_tool_error(LW_D_no_memory, in->path);
        code = LW_EXIT_MACHINE;
    } else if (!lw_tool_write(o->in_place ? in->path : o->output ? o->output : "-", out.at ? out.at : "", out.size)) {
        code = LW_EXIT_FILE;
    }
    lw_text_free(&out);
    return code;
}

int lw_command_format(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "FILE...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    int code = LW_EXIT_OK;
    for (int i = 0; i < o.count; i++) {
        int one = lw_tool_with_source(o.files[i], format_source, &o);
        if (one > code) code = one;
    }
    return code;
}
