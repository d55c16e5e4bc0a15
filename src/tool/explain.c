/* explain.c: lanewise explain: instructions, special registers and diagnostics, from their tables. */
#include <ctype.h>
#include <stdlib.h>

#include "tool/explain.h"
#include "tool/held.h"
#include "tool/pto.h"

typedef struct options {
    char **words;
    int count;
} options;

static const char doc[] =
    "Explain instructions, special registers and diagnostics."
    "\vWORD is an opcode (shf) or the words that spellings begin with (shfl.sync), the "
    "whole spelling of an instruction (shf.l.wrap.b32), an operation of PTO (pto.vshr, arith.addi), "
    "a special register (%laneid) or the id of a "
    "diagnostic (LW2000).\n\n"
    "In a mnemonic, ( | ) is a choice, { } is optional, * stands for any modifiers. In "
    "the operands, [a] is an address, d|p a destination with a predicate. "
    "An operand has the last type of the mnemonic, unless a line below says something else of it: "
    "a type, that of one of the choices, or which constants it may be.\n\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  a word is not known\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_ARGS:
        o->words = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a WORD is needed"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Text in lines of up to 78 columns. */
void lw_print_wrapped(const char *text, const char *indent) {
    size_t column = 0;
    for (const char *p = text; *p;) {
        size_t size = strcspn(p, " ");
        if (column && column + 1 + size > 78) column = 0, putchar('\n');
        if (!column) column = strlen(indent), fputs(indent, stdout);
        else column++, putchar(' ');
        fwrite(p, 1, size, stdout);
        column += size;
        p += size;
        while (*p == ' ') p++;
    }
    putchar('\n');
}

/* ---- Diagnostics -------------------------------------------------------------------------------------- */

/* Conversions of the format become dots; where it has nothing else, the name of the diagnostic says more. */
static void print_title(const lw_diag_row *row) {
    const char *format = row->format;
    bool words = false;
    for (const char *p = format; *p; p++) {
        if (*p == '%') p++;
        else words |= isalpha((unsigned char)*p) != 0;
    }
    if (!words) {
        for (const char *p = row->name; *p; p++) putchar(*p == '_' ? ' ' : *p);
        return;
    }
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            putchar(*p);
        } else if (p[1] == '%') {
            putchar(*p++);
        } else {
            p += strcspn(p, "sdiuxXcfgp");
            fputs("...", stdout);
        }
    }
}

static bool explain_diagnostic(const char *word) {
    if (toupper((unsigned char)word[0]) != 'L' || toupper((unsigned char)word[1]) != 'W') return false;
    if (strlen(word) != 6 || strspn(word + 2, "0123456789") != 4) return false;
    const lw_diag_row *row = lw_diag_find((uint32_t)strtoul(word + 2, NULL, 10));
    if (!row) return false;
    static const char *const severities[] = {[LW_NOTE] = "note", [LW_WARNING] = "warning", [LW_ERROR] = "error"};
    printf("LW%04u, %s: ", row->number, severities[row->severity]);
    print_title(row);
    putchar('\n');
    lw_print_wrapped(row->explanation, "    ");
    lw_explain_sample(row->number);
    return true;
}

/* ---- Special registers --------------------------------------------------------------------------------- */

static bool explain_special(const char *word) {
    for (size_t i = 0; i < LW_SPECIAL_count; i++) {
        const lw_special_row *row = &lw_specials[i];
        if (strcmp(word, row->text) != 0 && strcmp(word, row->text + 1) != 0) continue;
        printf("%s%s  .%s\n    special register: %s\n    PTX %u.%u", row->text, row->vector ? ".(x|y|z)" : "",
               lw_types[row->type].name, lw_special_does[i], (row->isa ? row->isa : 10u) / 10u,
               (row->isa ? row->isa : 10u) % 10u);
        if (row->sm) printf(", sm_%u", row->sm);
        putchar('\n');
        return true;
    }
    return false;
}

/* ---- Instructions -------------------------------------------------------------------------------------- */

static void explain_form(lw_module_ptx *module, const lw_form *form) {
    static const char *const status[] = {
        [LW_FORM_MISSING] = "known, but not executable",
        [LW_FORM_PART] = "executable in part",
        [LW_FORM_EXECUTABLE] = "executable",
    };
    lw_text pattern = {0}, gates = {0}, operands = {0}, types = {0};
    lw_form_print_pattern(&pattern, form);
    lw_form_print_gates(&gates, form);
    lw_ptx_print_operands(&operands, form);
    lw_ptx_print_types(&types, form);
    printf("%s%s%s\n", pattern.at ? pattern.at : "", *form->operands ? "  " : "", operands.at ? operands.at : "");
    if (form->does) lw_print_wrapped(form->does, "    ");
    static const char *const registers[] = {
        [LW_AGREE_type] = "of the type that is named, or of untyped bits of its size",
        [LW_AGREE_size] = "of any type of the same size",
        [LW_AGREE_wide] = "as large as the type that is named, or larger",
    };
    printf("    %s%s%s; %s\n", gates.at ? gates.at : "", form->section ? "; manual section " : "",
           form->section ? form->section : "", status[lw_form_executable(module, form)]);
    const char *why = lw_ptx_refusal(form->pattern);
    if (why) printf("    %s\n", why);
    if (*form->operands) printf("    registers %s\n", registers[form->agree]);
    if (types.at) lw_print_wrapped(types.at, "    ");
    lw_text_free(&pattern);
    lw_text_free(&gates);
    lw_text_free(&operands);
    lw_text_free(&types);
}

/* All forms whose spellings begin with these words: an opcode, or "shfl.sync". */
static uint32_t explain_words(lw_module_ptx *module, const char *words, size_t size) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        const lw_form *form = &lw_ptx_forms[i];
        if (!lw_form_begins(form, words, size)) continue;
        explain_form(module, form);
        found++;
    }
    if (found) lw_explain_about(words, size);
    return found;
}

/* Who holds what of the matrices, where the instruction has any. */
static void explain_matrices(const lw_match *match) {
    lw_text text = {0};
    lw_held_explain(&text, match);
    if (text.at) fputs(text.at, stdout);
    lw_text_free(&text);
}

/* An opcode that exists with modifiers that do not: all forms are shown, and *code says that the word is wrong. */
static bool explain_instruction(lw_arena *arena, const char *word, int *code) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) {
        lw_tool_error(LW_D_no_memory, word);
        *code = LW_EXIT_MACHINE;
        return true;
    }
    lw_module_ptx *module = lw_form_module(arena);
    size_t opcode = strcspn(word, ".");
    if (!word[opcode]) return explain_words(module, word, opcode) > 0;
    lw_text why = {0};
    const lw_match *match = lw_form_match(module, word, &why);
    bool found = true;
    if (match) {
        explain_form(module, match->form);
        explain_matrices(match);
        lw_explain_about(word, strlen(word));
    } else if (word[strlen(word) - 1] != '.' && explain_words(module, word, strlen(word))) {
        /* the words that spellings begin with */
    } else if (explain_words(module, word, opcode)) {
        lw_tool_error(LW_D_unknown_spelling, word, why.size ? ": " : "", why.size ? why.at : "");
        *code = LW_EXIT_USAGE;
    } else {
        found = false;
    }
    lw_text_free(&why);
    return found;
}

/* ---- The command --------------------------------------------------------------------------------------- */

/* The word in small letters where spellings begin with that, else NULL. */
static const char *in_small_letters(lw_arena *arena, const char *word) {
    char *small = lw_arena_text(arena, word, strlen(word));
    for (char *p = small; *p; p++) *p = (char)tolower((unsigned char)*p);
    lw_module_ptx *module = lw_form_module(arena);
    if (lw_form_match(module, small, NULL)) return small;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++)
        if (lw_form_begins(&lw_ptx_forms[i], small, strlen(small))) return small;
    return NULL;
}

/* The word that is meant, perhaps; NULL: none is near. */
static const char *find_near(lw_arena *arena, const char *word) {
    size_t count = 0, room = lw_ptx_form_count + LW_SPECIAL_count + LW_PTO_OP_COUNT;
    const char **names = LW_NEW_ARRAY(arena, const char *, room), *small = in_small_letters(arena, word);
    if (small) return small;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++)
        names[count++] = lw_arena_text(arena, lw_ptx_forms[i].pattern, lw_form_opcode(&lw_ptx_forms[i]));
    for (size_t i = 0; i < LW_SPECIAL_count; i++) names[count++] = lw_specials[i].text;
    count += lw_pto_names(names + count, room - count);
    return lw_nearest(word, names, count);
}

static int unknown_word(const char *word) {
    lw_arena arena;
    lw_arena_init(&arena);
    jmp_buf out;
    lw_tool_error(LW_D_unknown_word, word);
    if (LW_ARENA_TRY(&arena, out)) {
        const char *near = find_near(&arena, word);
        if (near) fprintf(stderr, "  did you mean '%s'?\n", near);
    }
    lw_arena_free(&arena);
    return LW_EXIT_USAGE;
}

int lw_command_explain(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){NULL, parse, "WORD...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    int code = LW_EXIT_OK;
    for (int i = 0; i < o.count; i++) {
        const char *word = o.words[i];
        lw_arena arena;
        lw_arena_init(&arena);
        if (explain_diagnostic(word) || lw_explain_pto(word) || explain_special(word)) {
            /* it is said */
        } else if (explain_instruction(&arena, word, &code)) lw_explain_pto_too(word);
        else if (!lw_explain_pto_short(&arena, word)) code = unknown_word(word);
        lw_arena_free(&arena);
    }
    return code;
}
