/* explain_about.c: semantics and examples of instructions, samples of diagnostics. */
#include <stdlib.h>

#include "tool/eval.h"
#include "tool/explain.h"

typedef struct about {
    const char *words, *semantics, *example, *differs;
} about;

static const about abouts[] = {
#define ABOUT(words, semantics, example, differs) {words, semantics, example, differs},
#include "ptx/about.def"
};

static const struct {
    const char *words, *instruction, *values;
} differences[] = {
#define DIFFERS(words, instruction, values) {words, instruction, values},
#include "ptx/about.def"
};

static const struct {
    uint32_t number;
    bool is_command;
    const char *wrong, *right;
} samples[] = {
#define SAMPLE(number, wrong, right)  {number, false, wrong, right},
#define COMMAND(number, wrong, right) {number, true, wrong, right},
#include "diag/samples.def"
};

static void print_lines(const char *text, const char *indent) {
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        if (size) printf("%s%.*s", indent, (int)size, line);
        putchar('\n');
        line += size + (line[size] == '\n');
    }
}

/* ---- Examples ------------------------------------------------------------------------------------------- */

enum { WORDS = 8 };

/* The result is computed, not kept: it cannot be wrong. Instructions that are not executable have none. */
static void run_words(lw_arena *arena, const char *text, const char *values) {
    const char *words[WORDS];
    uint32_t count = 0;
    char *copy = lw_arena_text(arena, values, strlen(values)), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word && count < WORDS; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    const char *spelling = lw_arena_text(arena, text, strcspn(text, " "));
    const lw_match *match = lw_form_match(lw_form_module(arena), spelling, NULL);
    if (!match || !match->executable) return;
    lw_eval *e = LW_NEW(arena, lw_eval);
    *e = (lw_eval){.arena = arena, .text = text, .values = words, .value_count = count};
    lw_text result = {0};
    if (!lw_eval_show(&result, e)) print_lines(result.at ? result.at : "", "    ");
    lw_text_free(&result);
}

static void run_example(lw_arena *arena, const char *example) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) return lw_tool_error(LW_D_no_memory, "the example");
    size_t spelling = strcspn(example, " ");
    printf("  example\n    $ lanewise eval %s\n", example);
    run_words(arena, lw_arena_text(arena, example, spelling), example + spelling);
}

static void run_differences(lw_arena *arena, const char *words) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) return lw_tool_error(LW_D_no_memory, "the example");
    for (size_t i = 0; i < LW_COUNT(differences); i++) {
        if (strcmp(differences[i].words, words) != 0) continue;
        printf("    $ lanewise eval '%s' %s\n", differences[i].instruction, differences[i].values);
        run_words(arena, differences[i].instruction, differences[i].values);
    }
}

/* ---- Instructions --------------------------------------------------------------------------------------- */

static const about *find_about(const char *words, size_t size) {
    const about *found = NULL;
    for (size_t i = 0; i < LW_COUNT(abouts); i++) {
        size_t own = strlen(abouts[i].words);
        bool fits = own <= size && !memcmp(words, abouts[i].words, own) && (own == size || words[own] == '.');
        if (fits && (!found || own > strlen(found->words))) found = &abouts[i];
    }
    return found;
}

void lw_explain_about(const char *words, size_t size) {
    const about *row = find_about(words, size);
    if (!row) return;
    puts("  semantics");
    print_lines(row->semantics, "    ");
    lw_arena arena;
    lw_arena_init(&arena);
    run_example(&arena, row->example);
    puts("  manual and hardware");
    lw_print_wrapped(row->differs ? row->differs : "They agree.", "    ");
    run_differences(&arena, row->words);
    lw_arena_free(&arena);
}

/* ---- Diagnostics ---------------------------------------------------------------------------------------- */

void lw_explain_sample(uint32_t number) {
    for (size_t i = 0; i < LW_COUNT(samples); i++) {
        if (samples[i].number != number) continue;
        const char *indent = samples[i].is_command ? "    $ lanewise " : "    ";
        puts("  example");
        print_lines(samples[i].wrong, indent);
        puts("  right");
        print_lines(samples[i].right, indent);
        return;
    }
}
