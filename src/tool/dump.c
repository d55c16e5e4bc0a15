/* dump.c: lanewise dump: what each stage made of a text. */
#include <stdlib.h>

#include "run/run.h"
#include "session/session.h"
#include "tool/language.h"

typedef struct options {
    const char *file; /* the first of … */
    char **files;     /* … those that are linked */
    uint32_t count;
    int (*stage)(lw_tool_source *in);
    const lw_tool_language *language;
    lw_dump dump;
    const char *pto_only; /* an option that was given and changes nothing for PTX, or NULL */
} options;

static int dump_tokens(lw_tool_source *in);
static int dump_module(lw_tool_source *in);
static int dump_program(lw_tool_source *in);
static int dump_interp(lw_tool_source *in);
static int dump_llvm(lw_tool_source *in);
static int dump_asm(lw_tool_source *in);

static const struct {
    const char *name;
    int (*run)(lw_tool_source *in);
} stages[] = {{"tokens", dump_tokens}, {"module", dump_module}, {"program", dump_program},
              {"interp", dump_interp}, {"llvm", dump_llvm},     {"asm", dump_asm}};

enum { KEY_SEMANTICS = 256, KEY_INACTIVE, KEY_OVERFLOW };

static const struct argp_option choices[] = {
    {"stage", 's', "STAGE", 0, "tokens, module, program, interp, llvm or asm", 0},
    {"language", 'L', "NAME", 0, "ptx or pto, for standard input and files whose name does not say it", 0},
    {"target", 't', "PROFILE", 0, "cpu (default), a2a3 or a5: the profile that PTO text is checked against", 0},
    {"kernel", 'k', "NAME", 0, "Only this kernel or function (module and what comes behind it)", 0},
    {"semantics", KEY_SEMANTICS, "NAME", 0, "manual or sm_90 (program); by default LANEWISE_SEMANTICS, else manual", 0},
    {"inactive", KEY_INACTIVE, "NAME", 0, "PTO: zero (default) or undef-poison (program)", 0},
    {"shift-overflow", KEY_OVERFLOW, "NAME", 0, "PTO: saturate (default), modulo or trap (program)", 0},
    {0},
};

static const char doc[] = "Print what a stage made of a PTX or PTO file, or of several PTX files that are linked; `-' "
                          "is standard input. The layout "
                          "is for people and may change."
                          "\vStages:\n"
                          "  tokens   one line a token: line:column, kind, text\n"
                          "  module   declarations, and each instruction with the form it matched\n"
                          "  program  blocks of operations over virtual registers\n"
                          "  interp   what the interpreter makes of them: slots, fused operations, constants in place\n"
                          "  llvm     what the compiler makes of them, in LLVM's language\n"
                          "  asm      and in that of the machine\n\n"
                          "Exit codes:\n"
                          "  0  done\n"
                          "  1  the file has errors, or a kernel uses what is not executable\n"
                          "  2  the command line is wrong\n"
                          "  5  the file cannot be read\n"
                          "  6  out of memory, or there is no compiler\n";

static int place_of(const char *word, const char *const *words) {
    int i = 0;
    while (words[i] && strcmp(word, words[i])) i++;
    return i;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 's':
        for (size_t i = 0; i < LW_COUNT(stages); i++)
            if (!strcmp(arg, stages[i].name)) o->stage = stages[i].run;
        if (!o->stage)
            argp_error(state, "'%.100s' is no stage; tokens, module, program, interp, llvm and asm are", arg);
        break;
    case 'L': o->language = lw_tool_language_said(state, arg); break;
    case 't':
        if (!lw_pto_profile_find(arg, &o->dump.profile))
            argp_error(state, "--target takes cpu, a2a3 or a5, not '%.100s'", arg);
        o->pto_only = "--target";
        break;
    case 'k': o->dump.kernel = arg; break;
    case KEY_SEMANTICS: o->dump.semantics = arg; break;
    case KEY_INACTIVE:
        o->dump.choices.inactive = (lw_pto_inactive)place_of(lw_tool_inactive(arg), lw_pto_inactive_words);
        o->pto_only = "--inactive";
        break;
    case KEY_OVERFLOW:
        o->dump.choices.overflow = (lw_pto_overflow)place_of(lw_tool_overflow(arg), lw_pto_overflow_words);
        o->pto_only = "--shift-overflow";
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count = (uint32_t)(state->argc - state->next);
        o->file = o->files[0];
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    case ARGP_KEY_SUCCESS:
        if (!o->stage) argp_error(state, "--stage is needed");
        lw_tool_check_linked(state, o->count);
        for (uint32_t i = 1; i < o->count; i++)
            if (o->stage == dump_tokens || !lw_tool_language_of(o->files[0], o->language)->of->links ||
                !lw_tool_language_of(o->files[i], o->language)->of->links)
                argp_error(state, "several files can be dumped where they are linked: PTX, and no tokens");
        o->language = lw_tool_language_of(o->file, o->language);
        if (!o->language->has_profiles && o->pto_only)
            argp_error(state, "%s is for PTO text, and '%.100s' is %s", o->pto_only, o->file, o->language->title);
        if (o->language != &lw_tool_ptx && o->dump.semantics)
            argp_error(state, "--semantics is for PTX text, and '%.100s' is %s", o->file, o->language->title);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Programs ------------------------------------------------------------------------------------------ */

bool lw_dump_program(lw_tool_source *in, const lw_dump *dump, lw_program *program) {
    lw_text out = {0}, why = {0};
    bool good = true;
    if (program && (dump->interp || dump->compiled) && !lw_interp_link(program, &in->diags))
        program = NULL; /* diagnosed */
    if (program && dump->compiled) {
        lw_program_link(program, dump->chosen->level);
        good = lw_program_print(program, dump->chosen->level, lw_layout_rows, dump->machine, &out, &why);
        if (!good) lw_tool_error(LW_D_machine_lacks, why.at && !why.failed ? why.at : "out of memory");
    } else if (program) lw_program_dump(&out, program, dump->interp ? program->codes : program->functions);
    lw_text_free(&why);
    if (good) return lw_tool_print(in, &out);
    lw_text_free(&out);
    return false;
}

/* Functions of PTO may have their sigil in front. */
static bool is_named(const char *wanted, const char *name) {
    return !strcmp(wanted, name) || (*wanted == '@' && !strcmp(wanted + 1, name)) || lw_name_means(wanted, name);
}

bool lw_dump_wants(lw_tool_source *in, const lw_dump *dump, lw_dump_names *names, const char *name, bool is_kernel) {
    LW_PUSH(&in->arena, names->all) = name;
    if (is_kernel) LW_PUSH(&in->arena, names->kernels) = name;
    return !dump->kernel || is_named(dump->kernel, name);
}

int lw_dump_end(lw_tool_source *in, const lw_dump *dump, const lw_tool_language *language, const lw_dump_names *names) {
    int code = lw_tool_finish(in);
    if (!dump->kernel) return code;
    for (uint32_t i = 0; i < names->all.count; i++)
        if (is_named(dump->kernel, names->all.at[i])) return code;
    lw_text why = {0}, near = {0};
    lw_say_nearest(&near, dump->kernel, names->all.at, names->all.count);
    lw_text_say(&why, lw_diag_rows[LW_D_no_such_kernel].format, language->of->kernel_word, dump->kernel,
                near.at ? near.at : "");
    lw_tool_choose_kernel(in->source.name, why.at ? why.at : "", language, language->how, names->kernels.at,
                          names->kernels.count);
    lw_text_free(&near);
    lw_text_free(&why);
    return code ? code : LW_EXIT_USAGE;
}

/* ---- Stages -------------------------------------------------------------------------------------------- */

static int dump_tokens(lw_tool_source *in) { return ((const options *)in->user)->language->tokens(in); }

static int dump_module(lw_tool_source *in) {
    const options *o = in->user;
    return o->language->module(in, &o->dump);
}

static int dump_program(lw_tool_source *in) {
    const options *o = in->user;
    return o->language->programs(in, &o->dump);
}

static int dump_interp(lw_tool_source *in) {
    options *o = in->user;
    o->dump.interp = true;
    return dump_program(in);
}

static int dump_compiled(lw_tool_source *in) {
    options *o = in->user;
    o->dump.compiled = true;
    lw_guard_begin(0, "");
    int code = lw_engine_has(LW_ENGINE_jit) ? dump_program(in) : LW_EXIT_MACHINE;
    lw_guard_end();
    if (lw_engine_has(LW_ENGINE_jit)) return code;
    char *why = lw_arena_say(&in->arena, lw_diag_rows[LW_D_engine_missing].format, lw_engine_words[LW_ENGINE_jit],
                             lw_engine_missing(LW_ENGINE_jit));
    lw_tool_error(LW_D_machine_lacks, why);
    return LW_EXIT_MACHINE;
}

static int dump_llvm(lw_tool_source *in) { return dump_compiled(in); }

static int dump_asm(lw_tool_source *in) {
    ((options *)in->user)->dump.machine = true;
    return dump_compiled(in);
}

int lw_command_dump(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "FILE...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    lw_chosen chosen;
    const lw_options wanted = {.semantics = o.dump.semantics};
    const lw_status status = lw_choose(&wanted, &chosen);
    if (status != LW_OK) return lw_tool_refused(status);
    o.dump.chosen = &chosen;
    return lw_tool_with_sources(o.files, o.count, o.stage, &o, NULL);
}
