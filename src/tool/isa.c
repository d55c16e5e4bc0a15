/* isa.c: lanewise isa: the rows of the form table, and which of them are executable. */
#include "tool/forms.h"
#include "tool/language.h"
#include "tool/pto.h"

typedef struct options {
    bool executable, missing, tsv, lanes;
    const char *family;
    const lw_tool_language *language;
} options;

static const struct argp_option choices[] = {
    {"executable", 'e', NULL, 0, "Only forms that Lanewise executes, at least in part", 0},
    {"missing", 'm', NULL, 0, "Only forms with spellings that it parses and checks, but does not execute", 0},
    {"family", 'f', "NAME", 0, "Only this family, see below", 0},
    {"language", 'L', "NAME", 0, "ptx (default) or pto", 0},
    {"tsv", 't', NULL, 0, "Tab-separated: family, yes no or part, mnemonic, operands, gates, section, what it does", 0},
    {"lanes", 'l', NULL, 0,
     "Tab-separated: mnemonic, name of the row, and the lane functions that its spellings become", 0},
    {0},
};

static const char doc[] =
    "List the instruction forms of PTX, and which of them are executable; with --language pto the operations of PTO "
    "text, and where they are from."
    "\vThe first column says whether a form is executable: yes, no, or in part, where only some of its "
    "spellings are. In a mnemonic, ( | ) is a choice, { } is "
    "optional, * "
    "stands for any modifiers; the operands are written as in the manual, and `explain` tells their types.\n\n"
    "Families: integer extended float half compare logic shift move shuffle async texture control barrier "
    "atomic "
    "matrix stack video misc\n\n"
    "For PTO the first column says where an operation is from: page (the page pto.vshr), name (the page names it), "
    "mlir, or ours.\n\n"
    "Families of PTO: shift logic integer compare move memory mask arith control\n\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  the command line is wrong\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'e': o->executable = true; break;
    case 'm': o->missing = true; break;
    case 'f': o->family = arg; break;
    case 'L': o->language = lw_tool_language_said(state, arg); break;
    case 't': o->tsv = true; break;
    case 'l': o->lanes = true; break;
    case ARGP_KEY_ARG: argp_error(state, "isa takes no arguments; `lanewise explain %.100s' may be meant", arg); break;
    case ARGP_KEY_SUCCESS:
        if (o->language == &lw_tool_pto && (o->executable || o->missing))
            argp_error(state, "--executable and --missing are for PTX");
        if (o->language == &lw_tool_pto && o->lanes) argp_error(state, "--lanes is for PTX");
        if (o->lanes && o->tsv) argp_error(state, "--lanes and --tsv exclude each other");
        if (o->language == &lw_tool_pto && o->family && !lw_isa_pto_family(o->family))
            argp_error(state, "PTO has no family '%.100s'; see --help", o->family);
        if (o->executable && o->missing) argp_error(state, "--executable and --missing exclude each other");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int unknown_family(const char *word) {
    size_t count;
    const lw_family *families = lw_families(&count);
    const char *names[32];
    lw_text below = {0};
    lw_text_puts(&below, "  families:");
    for (size_t i = 0; i < count && i < LW_COUNT(names); i++) {
        names[i] = families[i].name;
        lw_text_printf(&below, " %s", names[i]);
    }
    lw_text_puts(&below, "\n");
    const char *near = lw_nearest(word, names, count);
    if (near) lw_text_printf(&below, "  did you mean '%s'?\n", near);
    lw_text message = {0};
    lw_text_say(&message, lw_diag_rows[LW_D_no_family].format, word);
    lw_tool_report(LW_D_no_family, message.at ? message.at : "", below.at);
    lw_text_free(&message);
    lw_text_free(&below);
    return LW_EXIT_USAGE;
}

static void print_row(const options *o, const lw_family *family, const lw_form *form, lw_form_status runs) {
    const char *status = runs == LW_FORM_EXECUTABLE ? "yes" : runs == LW_FORM_PART ? "part" : "no";
    lw_text gates = {0}, operands = {0};
    lw_form_print_gates(&gates, form);
    lw_ptx_print_operands(&operands, form);
    if (o->tsv)
        printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", family->name, status, form->pattern, operands.at ? operands.at : "",
               gates.at ? gates.at : "", form->section ? form->section : "", form->does ? form->does : "");
    else printf("%-4s %-44s  %s\n", status, form->pattern, operands.at ? operands.at : "");
    lw_text_free(&gates);
    lw_text_free(&operands);
}

/* ---- Lane functions -------------------------------------------------------------------------------------------- */

typedef struct used_lanes {
    lw_module_ptx *module;
    bool of[LW_LANE_count];
} used_lanes;

static void use_lane(void *user, const char *spelling) {
    used_lanes *used = user;
    const lw_match *match = lw_form_match(used->module, spelling, NULL);
    if (match) used->of[match->lane] = true;
}

static void print_lanes(lw_module_ptx *module, const lw_form *form) {
    enum { ALL = 1 << 16 };
    used_lanes used = {.module = module};
    lw_ptx_spellings(form, ALL, use_lane, &used);
    printf("%s\t%s\t", form->pattern, form->id);
    const char *space = "";
    for (uint32_t lane = 1; lane < LW_LANE_count; lane++)
        if (used.of[lane]) printf("%s%s", space, lw_lanes[lane].name), space = " ";
    printf("\n");
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

typedef struct counts {
    uint32_t shown, executable;
} counts;

/* The rows of one family, from `row` on. */
static void list_family(const options *o, lw_module_ptx *module, const lw_family *family, uint32_t row, counts *c) {
    for (uint32_t end = row + family->count; row < end; row++) {
        const lw_form *form = &lw_ptx_forms[row];
        lw_form_status runs = lw_form_executable(module, form);
        if (o->executable && runs == LW_FORM_MISSING) continue;
        if (o->missing && runs == LW_FORM_EXECUTABLE) continue;
        if (o->lanes) print_lanes(module, form);
        else print_row(o, family, form, runs);
        c->shown++;
        c->executable += runs == LW_FORM_EXECUTABLE;
    }
}

static int list(const options *o, lw_arena *arena) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) {
        lw_tool_error(LW_D_no_memory, "the forms cannot be listed");
        return LW_EXIT_MACHINE;
    }
    lw_module_ptx *module = lw_form_module(arena);
    size_t count;
    const lw_family *families = lw_families(&count);
    counts c = {0};
    bool found = false;
    uint32_t row = 0;
    for (size_t i = 0; i < count; row += families[i++].count) {
        if (o->family && strcmp(o->family, families[i].name) != 0) continue;
        list_family(o, module, &families[i], row, &c);
        found = true;
    }
    if (!found) return unknown_family(o->family);
    if (!o->tsv && !o->lanes) printf("%u form%s, %u executable\n", c.shown, c.shown == 1 ? "" : "s", c.executable);
    return LW_EXIT_OK;
}

int lw_command_isa(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    if (o.language == &lw_tool_pto) {
        lw_isa_pto(o.tsv, o.family);
        return LW_EXIT_OK;
    }
    lw_arena arena;
    lw_arena_init(&arena);
    int code = list(&o, &arena);
    lw_arena_free(&arena);
    return code;
}
