/* check.c: lanewise check: parses and verifies files; lists their kernels. */
#include "tool/report.h"

typedef struct options {
    bool list, werror, quiet, several;
    bool json, sarif; /* a report for programs in place of text */
    lw_report report;
    char **files;
    int count;
    uint32_t errors, warnings; /* of all files */
    lw_text summary;           /* of the last file */
} options;

static const struct argp_option choices[] = {
    {"list", 'l', NULL, 0, "Print each kernel with its parameters to standard output", 0},
    {"werror", 'W', NULL, 0, "Let warnings fail the check", 0},
    {"format", 'f', "FORMAT", 0, "text (default), json or sarif: what programs read goes to standard output",
     0},
    {"quiet", 'q', NULL, 0, "Print errors only: no warnings, no summary", 0},
    {0},
};

static const char doc[] = "Parse and verify PTX files; `-' is standard input. Diagnostics and a summary go "
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
                          "  lanewise check --format sarif *.ptx > ptx.sarif\n"
                          "  nvcc -ptx -o - k.cu | lanewise check -\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'l': o->list = true; break;
    case 'W': o->werror = true; break;
    case 'q': o->quiet = true; break;
    case 'f':
        o->json = !strcmp(arg, "json");
        o->sarif = !strcmp(arg, "sarif");
        if (!o->json && !o->sarif && strcmp(arg, "text") != 0)
            argp_error(state, "--format takes text, json or sarif, not '%s'", arg);
        break;
    case ARGP_KEY_END:
        if (o->list && (o->json || o->sarif)) argp_error(state, "--list and --format exclude each other");
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Listing ------------------------------------------------------------------------------------------ */

static void print_directives(lw_text *out, const lw_function *function) {
    for (uint32_t i = 0; i < function->directives.count; i++) {
        const lw_directive *d = &function->directives.at[i];
        lw_text_printf(out, " .%s", d->name->text);
        for (uint32_t j = 0; j < d->value_count; j++)
            lw_text_printf(out, "%s%llu", j ? "," : " ", (unsigned long long)d->values[j]);
    }
}

/* False: there was no memory, which it has reported. */
static bool list_kernels(const lw_tool_source *in, const lw_module_ptx *module, bool with_path) {
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_function *f = module->functions.at[i];
        if (!f->is_entry || !f->has_body) continue;
        if (with_path) lw_text_printf(&out, "%s: ", in->source.name);
        lw_text_printf(&out, "%s(", f->object->name->text);
        for (uint32_t j = 0; j < f->param_count; j++) {
            const lw_object *p = f->params[j];
            if (j) lw_text_puts(&out, ", ");
            lw_param_print(&out, p->name->text, lw_types[p->type].name, (uint32_t)p->size, p->is_pointer);
        }
        lw_text_puts(&out, ")");
        print_directives(&out, f);
        lw_text_puts(&out, "\n");
    }
    bool listed = !out.failed;
    if (!listed)
        lw_tool_error(LW_D_no_memory, in->source.name);
    else if (out.size)
        fwrite(out.at, 1, out.size, stdout);
    lw_text_free(&out);
    return listed;
}

/* ---- Checking ----------------------------------------------------------------------------------------- */

static void count_of(lw_text *out, uint32_t count, const char *what) {
    lw_text_printf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
}

static void summarise(lw_text *out, const lw_tool_source *in, const lw_module_ptx *module) {
    uint32_t kernels = 0, functions = 0;
    lw_text_printf(out, "%s: ", in->source.name);
    if (in->diags.errors || in->diags.warnings) {
        count_of(out, in->diags.errors, "error");
        lw_text_puts(out, ", ");
        count_of(out, in->diags.warnings, "warning");
        return;
    }
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.at[i]->has_body) ++*(module->functions.at[i]->is_entry ? &kernels : &functions);
    lw_text_puts(out, "no errors; ");
    count_of(out, kernels, "kernel");
    lw_text_puts(out, ", ");
    count_of(out, functions, "function");
    lw_text_puts(out, ", ");
    count_of(out, module->instruction_count, "instruction");
}

static int check_source(lw_tool_source *in) {
    options *o = in->user;
    lw_module_ptx *module = NULL;
    bool good = lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &module);
    if (o->json || o->sarif)
        lw_report_file(&o->report, in);
    else
        lw_tool_diagnostics(&in->diags, !o->quiet);
    o->errors += in->diags.errors;
    o->warnings += in->diags.warnings;
    if (!o->several && !o->quiet) summarise(&o->summary, in, module);
    if (o->list && good && !list_kernels(in, module, o->several)) return LW_EXIT_MACHINE;
    return good && !(o->werror && in->diags.warnings) ? LW_EXIT_OK : LW_EXIT_SOURCE;
}

int lw_command_check(int argc, char **argv) {
    options o = {0};
    argp_parse(&(struct argp){choices, parse, "FILE...", doc, NULL, NULL, NULL}, argc, argv, 0, NULL, &o);
    o.several = o.count > 1;
    bool text = !o.json && !o.sarif;
    if (!text) lw_report_begin(&o.report, o.sarif, !o.quiet);
    int code = LW_EXIT_OK;
    for (int i = 0; i < o.count; i++) {
        int one = lw_tool_with_source(o.files[i], check_source, &o);
        if (one > LW_EXIT_SOURCE && !text) lw_report_unread(&o.report, o.files[i]);
        if (one > code) code = one;
    }
    if (!text) code = lw_report_end(&o.report, o.errors, o.warnings, code);
    fflush(stdout);
    if (!text) {
        /* all is said */
    } else if (o.several && !o.quiet) {
        fprintf(stderr, "%d files: %u error%s, %u warning%s\n", o.count, o.errors, o.errors == 1 ? "" : "s",
                o.warnings, o.warnings == 1 ? "" : "s");
    } else if (o.summary.size) {
        fprintf(stderr, "%s\n", o.summary.at);
    }
    lw_text_free(&o.summary);
    return code;
}
