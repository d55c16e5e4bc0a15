/* check.c: lanewise check: parses and verifies files; lists their kernels. */
#include "middle/ptx.h"
#include "tool/language.h"
#include "tool/pto.h"

typedef struct options {
    bool list, werror, quiet, several, link;
    bool json, sarif; /* a report for programs in place of text */
    const lw_tool_language *language;
    lw_pto_profile profile, cost;
    bool has_profile, has_cost, portable;
    lw_report report;
    char **files;
    int count;
    uint32_t errors, warnings; /* of all files */
    lw_text summary;           /* of the last file */
} options;

static const struct argp_option choices[] = {
    {"list", 'l', NULL, 0, "Print each kernel with its parameters to standard output", 0},
    {"werror", 'W', NULL, 0, "Let warnings fail the check", 0},
    {"format", 'f', "FORMAT", 0, "text (default), json or sarif: what programs read goes to standard output", 0},
    {"language", 'L', "NAME", 0, "ptx or pto, for standard input and files whose name does not say it", 0},
    {"target", 't', "PROFILE", 0, "cpu (default), a2a3 or a5: the profile that PTO text is checked against", 0},
    {"cost", 'c', "PROFILE", 0,
     "a5 or a2a3: check against it, and print the cycles of each PTO operation to standard output", 0},
    {"portable", 'p', NULL, 0, "Warn of every place where PTO text depends on what its page leaves open", 0},
    {"link", 'k', NULL, 0, "Link the files, which are PTX, and check that they have all that they name", 0},
    {"quiet", 'q', NULL, 0, "Print errors only: no warnings, no summary", 0},
    {0},
};

static const char doc[] = "Parse and verify PTX and PTO files; `-' is standard input. Diagnostics and a summary go "
                          "to standard error, or as JSON or SARIF 2.1.0 to "
                          "standard output."
                          "\vExit codes:\n"
                          "  0  no errors\n"
                          "  1  a file has errors, or warnings with --werror\n"
                          "  2  the command line is wrong\n"
                          "  5  a file cannot be read\n"
                          "  6  out of memory\n\n"
                          "Examples:\n"
                          "  lanewise check k.ptx\n"
                          "  lanewise check --list *.ptx\n"
                          "  lanewise check --link main.ptx lib.ptx\n"
                          "  lanewise check --format sarif *.ptx > ptx.sarif\n"
                          "  nvcc -ptx -o - k.cu | lanewise check -\n";

static lw_pto_profile profile_of(struct argp_state *state, const char *option, const char *word) {
    lw_pto_profile profile = LW_PTO_PROFILE_cpu;
    bool cost = !strcmp(option, "--cost");
    if (!lw_pto_profile_find(word, &profile) || (cost && profile == LW_PTO_PROFILE_cpu))
        argp_error(state, "%s takes %sa2a3 or a5, not '%.100s'", option, cost ? "" : "cpu, ", word);
    return profile;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'l': o->list = true; break;
    case 'W': o->werror = true; break;
    case 'q': o->quiet = true; break;
    case 'k': o->link = true; break;
    case 'L': o->language = lw_tool_language_said(state, arg); break;
    case 't':
        o->profile = profile_of(state, "--target", arg);
        o->has_profile = true;
        break;
    case 'c':
        o->cost = profile_of(state, "--cost", arg);
        o->has_cost = true;
        break;
    case 'p': o->portable = true; break;
    case 'f':
        o->json = !strcmp(arg, "json");
        o->sarif = !strcmp(arg, "sarif");
        if (!o->json && !o->sarif && strcmp(arg, "text") != 0)
            argp_error(state, "--format takes text, json or sarif, not '%.100s'", arg);
        break;
    case ARGP_KEY_END:
        if (o->has_cost && o->sarif) argp_error(state, "--cost and --format sarif exclude each other");
        if (o->has_cost && o->has_profile && o->cost != o->profile)
            argp_error(state, "--cost and --target name two profiles");
        if (o->has_cost) o->profile = o->cost; /* what the profile refuses costs nothing there */
        if (o->list && (o->json || o->sarif)) argp_error(state, "--list and --format exclude each other");
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count = state->argc - state->next;
        if (o->link) lw_tool_check_linked(state, (uint32_t)o->count);
        for (int i = 0; i < o->count; i++)
            if (o->link && !lw_tool_language_of(o->files[i], o->language)->of->links)
                argp_error(state, "--link is for PTX text, and '%.100s' is none", o->files[i]);
        for (int i = 0; i < o->count; i++)
            if ((o->has_profile || o->has_cost || o->portable) &&
                !lw_tool_language_of(o->files[i], o->language)->has_profiles)
                argp_error(state, "--target, --cost and --portable are for PTO text, and '%.100s' is %s", o->files[i],
                           lw_tool_language_of(o->files[i], o->language)->title);
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Checking ----------------------------------------------------------------------------------------- */

/* False where there are errors to count instead of what is in the file. */
static bool summarise(lw_text *out, const lw_tool_source *in) {
    bool clean = !in->diags.errors && !in->diags.warnings;
    lw_text_puts(out, in->source.name);
    for (uint32_t i = 1; i < in->source.part_count; i++) lw_text_printf(out, ", %s", in->source.parts[i].name);
    lw_text_puts(out, ": ");
    if (clean) {
        lw_text_puts(out, "no errors; ");
    } else {
        lw_put_count(out, in->diags.errors, "error");
        lw_text_puts(out, ", ");
        lw_put_count(out, in->diags.warnings, "warning");
    }
    return clean;
}

static int check_source(lw_tool_source *in) {
    options *o = in->user;
    const lw_tool_language *language = lw_tool_language_of(in->path, o->language);
    void *module = NULL;
    bool good = language->check(in, o->profile, &module);
    if (good && o->link) {
        lw_ptx_check_complete(module, &in->diags, true);
        good = !in->diags.errors;
    }
    if (good && o->portable) lw_pto_check_portable(module);
    if (o->json || o->sarif)
        lw_report_file(&o->report, in,
                       o->has_cost && good ? lw_tool_pto_cost_json(in, module, o->cost, &o->report.failed) : NULL);
    else lw_tool_diagnostics(&in->diags, !o->quiet);
    o->errors += in->diags.errors;
    o->warnings += in->diags.warnings;
    if (!o->several && !o->quiet && summarise(&o->summary, in)) language->summarise(&o->summary, module);
    if (o->list && good && !language->list(in, module, o->several)) return LW_EXIT_MACHINE;
    if (o->has_cost && !o->json && good && !lw_tool_pto_cost(in, module, o->cost)) return LW_EXIT_MACHINE;
    return good && !(o->werror && in->diags.warnings) ? LW_EXIT_OK : LW_EXIT_SOURCE;
}

/* A report has what was not checked: the file that could not be read, else all of them. */
static int check_files(options *o, char **files, int count) {
    const char *unread;
    const int code = lw_tool_with_sources(files, (uint32_t)count, check_source, o, &unread);
    for (int i = 0; i < count && code > LW_EXIT_SOURCE && (o->json || o->sarif); i++)
        if (!unread || unread == files[i]) lw_report_unread(&o->report, files[i]);
    return code;
}

int lw_command_check(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "FILE...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    o.several = o.count > 1 && !o.link;
    bool text = !o.json && !o.sarif;
    if (!text) lw_report_begin(&o.report, o.sarif, !o.quiet);
    int code = LW_EXIT_OK;
    for (int i = 0; i < o.count; i += o.link ? o.count : 1) {
        const int one = check_files(&o, &o.files[i], o.link ? o.count : 1);
        if (one > code) code = one;
    }
    if (!text) code = lw_report_end(&o.report, o.errors, o.warnings, code);
    fflush(stdout);
    if (!text) {
        /* all is said */
    } else if (o.several && !o.quiet) {
        fprintf(stderr, "%d files: %u error%s, %u warning%s\n", o.count, o.errors, o.errors == 1 ? "" : "s", o.warnings,
                o.warnings == 1 ? "" : "s");
    } else if (o.summary.size) {
        fprintf(stderr, "%s\n", o.summary.at);
    }
    lw_text_free(&o.summary);
    return code;
}
