/* What a key of the cache leaves out, code does not depend on: of texts that differ in one number or word, those whose
 * programs have equal keys have equal code, in LLVM's language, letter by letter. What differs in a key is compiled
 * anew, so nothing is asked of it, but that there are such and such.
 *
 *     test_cache_keys FOLDER…     all run_*.ptx and run_*.pto below */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/cache.h"
#include "session/session.h"

enum { SKIPPED = 77, SIZE_MOST = 6000, VARIANTS = 8, CHANGES = 16, COMPARED = 1 }; /* to make code is what takes time */

static lw_context *context;
static uint32_t programs, same, different, wrong;

/* ---- A text's programs ------------------------------------------------------------------------------------------- */

typedef struct made {
    char *key, *code;
    size_t size;
    lw_module *module; /* the text's, while it is the first one */
    lw_kernel *kernel;
    uint32_t compared;
} made;

static char *code_of(lw_kernel *kernel) {
    lw_text out = {0}, why = {0};
    if (!lw_program_print(kernel->program, context->level, lw_layout_rows, false, &out, &why)) {
        printf("%s: %.*s\n", lw_kernel_get_info(kernel).name, (int)why.size, why.at);
        exit(1);
    }
    lw_text_free(&why);
    lw_text_add(&out, "", 1);
    return out.at;
}

/* The first kernel, as the interpreter has it; false: the text has an error. */
static bool make(const char *name, const char *text, made *m) {
    lw_kernel *kernel = NULL;
    lw_cache_key key;
    *m = (made){0};
    if (lw_module_new(context, name, text, strlen(text), &m->module) == LW_OK && lw_module_kernel_count(m->module) &&
        lw_module_kernel(m->module, lw_module_kernel_name(m->module, 0), &kernel) == LW_OK &&
        lw_cache_key_make(&key, kernel->program, context->level, lw_layout_rows)) {
        m->key = key.at, m->size = key.size, m->kernel = kernel;
        return true;
    }
    lw_module_free(m->module);
    return false;
}

static void drop(made *m) {
    lw_module_free(m->module);
    free(m->key), free(m->code);
}

static void compare(const char *name, const char *what, made *first, made *other) {
    programs++;
    if (first->size != other->size || memcmp(first->key, other->key, first->size)) {
        different++;
        return;
    }
    same++;
    if (first->compared++ >= COMPARED) return;
    if (!first->code) first->code = code_of(first->kernel);
    other->code = code_of(other->kernel);
    if (!strcmp(first->code, other->code)) return;
    printf("%s with %s: another code, and an equal key\n", name, what);
    wrong++;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The text with another number or word where `at` begins; false: nothing to change is there. */
static bool change(const char *text, size_t at, char *to, char what[64]) {
    static const char *const words[][2] = {{".lt.u32", ".lt.s32"},
                                           {"shr.u32", "shr.s32"},
                                           {"wide.u32", "wide.s32"},
                                           {"add", "sub"},
                                           {"and", "xor"},
                                           {"or.", "and."},
                                           {".lt", ".le"},
                                           {".eq", ".ne"},
                                           {".lo", ".hi"},
                                           {".global", ".volatile.global"},
                                           {"@%", "@!%"},
                                           {".up", ".down"},
                                           {".bfly", ".idx"},
                                           {".rn", ".rz"},
                                           {"i32", "ui32"},
                                           {"addi", "subi"}};
    _Static_assert(sizeof words / sizeof *words == CHANGES, "");
    for (size_t k = 0; k < CHANGES; k++) {
        const size_t size = strlen(words[k][0]);
        if (strncmp(text + at, words[k][0], size)) continue;
        sprintf(to, "%.*s%s%s", (int)at, text, words[k][1], text + at + size);
        snprintf(what, 64, "%s for %s at %zu", words[k][1], words[k][0], at);
        return true;
    }
    if (!is_digit(text[at]) || (at && (is_word(text[at - 1]) || is_digit(text[at - 1])))) return false;
    char *end;
    const unsigned long long number = strtoull(text + at, &end, 10);
    if (is_word(*end) || *end == '.') return false;
    sprintf(to, "%.*s%llu%s", (int)at, text, number + 1, end);
    snprintf(what, 64, "%llu for %llu at %zu", number + 1, number, at);
    return true;
}

static bool in_comment(const char *text, size_t at) {
    for (; at && text[at] != '\n'; at--)
        if (text[at] == '/' && text[at - 1] == '/') return true;
    return false;
}

/* At places all over the text, and, of some, one that the program knows nothing of. */
static void try_text(const char *name, const char *text) {
    static char other[SIZE_MOST + 200];
    const char *last = strstr(text, "\n}"); /* line of the first kernel */
    const size_t size = last ? (size_t)(last - text) : strlen(text);
    char what[64];
    made first, next;
    if (!make(name, text, &first)) return;
    sprintf(other, "// a line more\n%s", text);
    if (size % 4 == 0 && make("another.ptx", other, &next)) {
        compare(name, "a line more", &first, &next);
        drop(&next);
    }
    const size_t step = 1 + size / VARIANTS;
    for (size_t from = 0; from < size; from += step)
        for (size_t at = from; at < from + step && at < size; at++) {
            if (in_comment(text, at) || !change(text, at, other, what)) continue;
            if (!make(name, other, &next)) continue;
            compare(name, what, &first, &next);
            drop(&next);
            break;
        }
    drop(&first);
}

static int visit(const char *path, const struct stat *is, int kind, struct FTW *where) {
    static char text[SIZE_MOST + 1];
    const char *name = path + where->base;
    if (kind != FTW_F || strncmp(name, "run_", 4) || is->st_size > SIZE_MOST) return 0;
    FILE *file = fopen(path, "r");
    if (!file) return 1;
    text[fread(text, 1, SIZE_MOST, file)] = 0;
    fclose(file);
    try_text(name, text);
    return 0;
}

int main(int argc, char **argv) {
    if (!lw_engine_has(LW_ENGINE_jit)) return printf("skipped: %s\n", lw_engine_missing(LW_ENGINE_jit)), SKIPPED;
    if (lw_context_new(&(lw_options){.threads = 1, .engine = "interp", .memory_limit = 1 << 28}, &context) != LW_OK)
        return printf("%s\n", lw_context_message(NULL)), 1;
    for (int k = 1; k < argc; k++)
        if (nftw(argv[k], visit, 16, FTW_PHYS)) return printf("%s cannot be read\n", argv[k]), 1;
    lw_context_free(context);
    printf("%u programs: %u with another's key, %u with their own\n", programs, same, different);
    if (same < programs / 50 || different < programs / 4) return printf("too few of either\n"), 1;
    return wrong || !programs;
}
