/* dump.c: lanewise dump: what each stage made of a text. */
#include <stdlib.h>

#include "middle/program.h"
#include "run/run.h"
#include "tool/pto.h"

typedef struct options {
    const char *file, *kernel;
    int (*stage)(lw_tool_source *in);
    const char *semantics; /* NULL: not said */
    lw_language language;
    lw_pto_profile profile;
    lw_pto_choices choices;
    const char *pto_only; /* an option that was given and changes nothing for PTX, or NULL */
} options;

static int dump_tokens(lw_tool_source *in);
static int dump_module(lw_tool_source *in);
static int dump_program(lw_tool_source *in);
static int dump_llvm(lw_tool_source *in);

static const struct {
    const char *name;
    int (*run)(lw_tool_source *in);
} stages[] = {{"tokens", dump_tokens}, {"module", dump_module}, {"program", dump_program}, {"llvm", dump_llvm}};

enum { KEY_SEMANTICS = 256, KEY_INACTIVE, KEY_OVERFLOW };

static const struct argp_option choices[] = {
    {"stage", 's', "STAGE", 0, "tokens, module, program or llvm", 0},
    {"language", 'L', "NAME", 0, "ptx or pto, for standard input and files whose name does not say it", 0},
    {"target", 't', "PROFILE", 0, "cpu (default), a2a3 or a5: the profile that PTO text is checked against", 0},
    {"kernel", 'k', "NAME", 0, "Only this kernel or function (module, program, llvm)", 0},
    {"semantics", KEY_SEMANTICS, "NAME", 0,
     "manual or sm_90 (program); by default LANEWISE_SEMANTICS, else manual", 0},
    {"inactive", KEY_INACTIVE, "NAME", 0, "PTO: zero (default) or undef-poison (program)", 0},
    {"shift-overflow", KEY_OVERFLOW, "NAME", 0, "PTO: saturate (default), modulo or trap (program)", 0},
    {0},
};

static const char doc[] =
    "Print what a stage made of a PTX or PTO file; `-' is standard input. The layout is for people and may change."
    "\vStages:\n"
    "  tokens   one line a token: line:column, kind, text\n"
    "  module   declarations, and each instruction with the form it matched\n"
    "  program  the operations that the interpreter runs\n"
    "  llvm     what the compiler makes of them, in LLVM's language\n\n"
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
        if (!o->stage) argp_error(state, "'%.100s' is no stage; tokens, module, program and llvm are", arg);
        break;
    case 'L': o->language = lw_tool_language(state, arg); break;
    case 't':
        if (!lw_pto_profile_find(arg, &o->profile)) argp_error(state, "--target takes cpu, a2a3 or a5, not '%.100s'", arg);
        o->pto_only = "--target";
        break;
    case 'k': o->kernel = arg; break;
    case KEY_SEMANTICS: o->semantics = lw_tool_semantics("--semantics", arg); break;
    case KEY_INACTIVE:
        o->choices.inactive = (lw_pto_inactive)place_of(lw_tool_inactive(arg), lw_pto_inactive_words);
        o->pto_only = "--inactive";
        break;
    case KEY_OVERFLOW:
        o->choices.overflow = (lw_pto_overflow)place_of(lw_tool_overflow(arg), lw_pto_overflow_words);
        o->pto_only = "--shift-overflow";
        break;
    case ARGP_KEY_ARG:
        if (o->file) argp_error(state, "only one FILE can be dumped");
        o->file = arg;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a FILE is needed"); break;
    case ARGP_KEY_SUCCESS:
        if (!o->stage) argp_error(state, "--stage is needed");
        if (!lw_tool_is_pto(o->file, o->language) && o->pto_only)
            argp_error(state, "%s is for PTO text, and '%.100s' is PTX", o->pto_only, o->file);
        if (lw_tool_is_pto(o->file, o->language) && o->semantics) argp_error(state, "--semantics is for PTX text, and '%.100s' is PTO", o->file);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Tokens ------------------------------------------------------------------------------------------- */

static bool is_pto(const lw_tool_source *in) {
    const options *o = in->user;
    return lw_tool_is_pto(in->path, o->language);
}

static int dump_tokens(lw_tool_source *in) {
    if (is_pto(in)) return lw_tool_pto_tokens(in);
    static const char *const kinds[] = {
        [LW_TOKEN_END] = "end",     [LW_TOKEN_NAME] = "name",   [LW_TOKEN_DOT] = "dot",
        [LW_TOKEN_INT] = "int",     [LW_TOKEN_FLOAT] = "float", [LW_TOKEN_STRING] = "string",
        [LW_TOKEN_PUNCT] = "punct",
    };
    lw_symbols symbols;
    lw_symbols_init(&symbols, &in->arena);
    lw_lexer lexer = {.source = &in->source, .diags = &in->diags, .symbols = &symbols};
    lw_token token = {0};
    do {
        lw_lex(&lexer, &token);
        if (token.kind == LW_TOKEN_END) token.place.size = 0;
        bool is_number = token.kind == LW_TOKEN_INT || token.kind == LW_TOKEN_FLOAT;
        if (!lw_tool_print_token(in, token.place, kinds[token.kind], is_number ? &token.value : NULL)) return LW_EXIT_MACHINE;
    } while (token.kind != LW_TOKEN_END);
    return lw_tool_finish(in);
}

/* ---- Module ------------------------------------------------------------------------------------------- */

static void put_variable(lw_text *out, const lw_object *v) {
    static const char *const linkages[] = {[LW_LINK_none] = "",
                                           [LW_LINK_extern] = "extern ",
                                           [LW_LINK_visible] = "visible ",
                                           [LW_LINK_weak] = "weak ",
                                           [LW_LINK_common] = "common "};
    static const char *const spaces[] = {
        [LW_SPACE_none] = "none",
#define SPACE(name) [LW_SPACE_##name] = #name,
#include "ptx/spaces.def"
    };
    lw_text_printf(out, "%s.%s ", linkages[v->linkage], spaces[v->space]);
    if (v->vector > 1) lw_text_printf(out, ".v%u ", v->vector);
    lw_text_printf(out, ".%s %s", lw_types[v->type].name, v->name->text);
    if (v->is_range) lw_text_printf(out, "<%u>", v->range);
    for (uint32_t i = 0; i < v->dimension_count; i++) {
        if (v->unsized && !i)
            lw_text_puts(out, "[]");
        else
            lw_text_printf(out, "[%llu]", (unsigned long long)v->dimensions[i]);
    }
    if (v->space != LW_SPACE_reg)
        lw_text_printf(out, "  size %llu align %u", (unsigned long long)v->size, v->align);
    if (v->init) lw_text_puts(out, " initialised");
    if (v->is_pointer)
        lw_text_printf(out, " pointer %s align %u", spaces[v->pointer_space], v->pointer_align);
    lw_text_puts(out, "\n");
}

static void put_statement(lw_text *out, lw_tool_source *in, const lw_statement *s) {
    lw_tool_put_place(out, in, s->place);
    switch (s->kind) {
    case LW_S_INSTRUCTION: {
        const lw_match *match = s->instruction->match;
        lw_text_printf(out, "%-20s ", match ? match->form->id : "?");
        lw_ptx_print_instruction(out, s->instruction);
        lw_text_puts(out, "\n");
        break;
    }
    case LW_S_LABEL: lw_text_printf(out, "label %s\n", s->object->name->text); break;
    case LW_S_VARIABLE: put_variable(out, s->object); break;
    case LW_S_OPEN: lw_text_puts(out, "{\n"); break;
    case LW_S_CLOSE: lw_text_puts(out, "}\n"); break;
    case LW_S_PROTOTYPE: lw_text_printf(out, "prototype %s\n", s->object->name->text); break;
    case LW_S_TARGETS:
        lw_text_printf(out, "targets %s (%u)\n", s->object->name->text, s->object->target_count);
        break;
    case LW_S_LOC: lw_text_printf(out, "loc %u %u %u\n", s->loc.file, s->loc.line, s->loc.column); break;
    case LW_S_PRAGMA: lw_text_printf(out, "pragma %s\n", s->text); break;
    case LW_S_DIRECTIVE: lw_text_printf(out, "directive %s\n", s->text); break;
    }
}

static void put_function(lw_text *out, lw_tool_source *in, const lw_function *f) {
    lw_tool_put_place(out, in, f->place);
    lw_text_printf(out, "%s %s: %u instructions, %u labels, %u registers%s\n", f->is_entry ? "entry" : "func",
                   f->object->name->text, f->instruction_count, f->label_count, f->register_count,
                   f->has_body ? "" : ", declaration");
    for (uint32_t i = 0; i < f->return_count; i++)
        lw_text_puts(out, "    return "), put_variable(out, f->returns[i]);
    for (uint32_t i = 0; i < f->param_count; i++)
        lw_text_puts(out, "    param  "), put_variable(out, f->params[i]);
    for (uint32_t i = 0; i < f->directives.count; i++) {
        const lw_directive *d = &f->directives.at[i];
        lw_text_printf(out, "    .%s", d->name->text);
        for (uint32_t j = 0; j < d->value_count; j++)
            lw_text_printf(out, "%s%llu", j ? ", " : " ", (unsigned long long)d->values[j]);
        lw_text_puts(out, "\n");
    }
    for (uint32_t i = 0; i < f->body.count; i++) put_statement(out, in, &f->body.at[i]);
}

static int dump_module(lw_tool_source *in) {
    const options *o = in->user;
    if (is_pto(in)) return lw_tool_pto_module(in, o->kernel, o->profile);
    lw_module_ptx *module = NULL;
    lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &module);
    lw_text out = {0};
    if (!o->kernel) {
        lw_text_printf(&out, "version %u.%u, target sm_%u%.1s, address size %u, %u instructions\n",
                       module->version / 10, module->version % 10, module->target, &module->target_suffix,
                       module->address_size, module->instruction_count);
        for (uint32_t i = 0; i < module->variables.count; i++) {
            lw_tool_put_place(&out, in, module->variables.at[i]->place);
            put_variable(&out, module->variables.at[i]);
        }
    }
    bool found = !o->kernel;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_function *f = module->functions.at[i];
        if (o->kernel && strcmp(o->kernel, f->object->name->text) != 0) continue;
        put_function(&out, in, f);
        found = true;
    }
    if (!lw_tool_print(in, &out)) return LW_EXIT_MACHINE;
    int code = lw_tool_finish(in);
    if (found) return code;
    lw_tool_error(LW_D_no_such_kernel, "kernel", o->kernel);
    return code ? code : LW_EXIT_USAGE;
}

/* ---- Program ------------------------------------------------------------------------------------------ */

/* Variables get places one behind the other; a run gives them others. */
static void place_variables(lw_module_ptx *module) {
    uint64_t at = LW_GLOBAL_HIGH;
    for (uint32_t i = 0; i < module->variables.count; i++) {
        lw_object *v = module->variables.at[i];
        if (v->space != LW_SPACE_global && v->space != LW_SPACE_const) continue;
        at = (at + 255) & ~UINT64_C(255);
        v->address = at;
        at += v->size;
    }
}

/* Whether the option asks for it; reports what is not found at all. */
static bool wanted(const options *o, const char *name) { return !o->kernel || !strcmp(o->kernel, name); }

static int end_programs(lw_tool_source *in, bool found) {
    const options *o = in->user;
    int code = lw_tool_finish(in);
    if (found || !o->kernel) return code;
    lw_tool_error(LW_D_no_such_kernel, is_pto(in) ? "function" : "kernel", o->kernel);
    return code ? code : LW_EXIT_USAGE;
}

static const lw_level *level_in_use(void) {
    const char *name = getenv("LANEWISE_CPU");
    const lw_level *const *level = lw_levels;
    while (level[1] && !(lw_level_has(*level) && (!name || !*name || !strcmp(name, (*level)->name)))) level++;
    return *level;
}

static bool print_program(const lw_tool_source *in, lw_program *program) {
    const options *o = in->user;
    lw_text out = {0}, why = {0};
    bool good = true;
    if (program && o->stage == dump_llvm) {
        lw_program_link(program, level_in_use());
        good = lw_program_print(program, level_in_use(), &out, &why);
        if (!good) lw_tool_error(LW_D_machine_lacks, why.at && !why.failed ? why.at : "out of memory");
    } else if (program)
        lw_program_dump(&out, program);
    lw_text_free(&why);
    if (good) return lw_tool_print(in, &out);
    lw_text_free(&out);
    return false;
}

static int dump_program_pto(lw_tool_source *in) {
    const options *o = in->user;
    lw_pto_module *module = NULL;
    if (!lw_pto_check(&in->arena, &in->source, &in->diags, o->profile, &module)) return lw_tool_finish(in);
    bool found = false;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (!f->has_body || (!wanted(o, f->name->text + 1) && !wanted(o, f->name->text))) continue;
        found = true;
        if (!print_program(in, lw_lower_pto(&in->arena, module, f, o->choices, &in->diags))) return LW_EXIT_MACHINE;
    }
    return end_programs(in, found);
}

static int dump_program(lw_tool_source *in) {
    const options *o = in->user;
    if (is_pto(in)) return dump_program_pto(in);
    lw_module_ptx *module = NULL;
    if (!lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &module)) return lw_tool_finish(in);
    place_variables(module);
    lw_semantics semantics = LW_SEMANTICS_manual;
    if (!lw_semantics_choose(o->semantics, &semantics)) /* the option was checked, the environment was not */
        lw_tool_semantics("LANEWISE_SEMANTICS", getenv("LANEWISE_SEMANTICS"));
    bool found = false;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        lw_function *f = module->functions.at[i];
        if (!f->is_entry || !f->has_body || !wanted(o, f->object->name->text)) continue;
        found = true;
        if (!print_program(in, lw_lower_ptx(&in->arena, module, f, semantics, &in->diags))) return LW_EXIT_MACHINE;
    }
    return end_programs(in, found);
}

static int dump_llvm(lw_tool_source *in) {
    lw_guard_begin(0, "");
    int code = lw_engine_has(LW_ENGINE_jit) ? dump_program(in) : LW_EXIT_MACHINE;
    lw_guard_end();
    if (lw_engine_has(LW_ENGINE_jit)) return code;
    char *why = lw_arena_say(&in->arena, lw_diag_rows[LW_D_engine_missing].format, lw_engine_words[LW_ENGINE_jit], lw_engine_missing(LW_ENGINE_jit));
    lw_tool_error(LW_D_machine_lacks, why);
    return LW_EXIT_MACHINE;
}

int lw_command_dump(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "FILE", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    return lw_tool_with_source(o.file, o.stage, &o);
}
