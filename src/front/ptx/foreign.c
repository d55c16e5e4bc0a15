/* foreign.c: files that are no PTX at all: one message says what they seem to be, and none what is wrong with them as
 * PTX. */
#include "base/scan.h"
#include "front/ptx/parse.h"

/* ---- Looking into a text --------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_letter(char c) { return lw_digit_value(c) < 36 || c == '_' || c == '$'; }

/* The offset of what stands behind blanks and comments. */
static uint32_t first_of(const lw_source *source) {
    const char *at = source->text + source->from, *const end = source->text + source->size;
    for (const char *behind; at < end; at = behind) {
        behind = is_blank(*at) ? at + 1 : lw_comment_end(at, end);
        if (behind == at) break;
    }
    return (uint32_t)(at - source->text);
}

static bool at_word(const char *at, const char *word) {
    const size_t size = strlen(word);
    return !strncmp(at, word, size) && !(is_letter(word[size - 1]) && is_letter(at[size]));
}

/* Whether a line begins with the word. */
static bool has_line(const char *text, const char *word) {
    for (const char *at = text; at; at = strchr(at, '\n')) {
        while (is_blank(*at)) at++;
        if (at_word(at, word)) return true;
    }
    return false;
}

static bool has_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (at_word(at, word) && !(at > text && is_letter(*word) && is_letter(at[-1]))) return true;
    return false;
}

/* ---- Languages ------------------------------------------------------------------------------------------- */

typedef struct language {
    bool has_ptx;         /* between what it adds */
    const char *words[8]; /* any of them; ^x is what the text must begin with */
    lw_content content;
} language;

/* The first that fits. */
static const language languages[] = {
    {false, {"^version https:"}, {"a pointer to a file that Git LFS keeps", "`git lfs pull` fetches the file"}},
    {false, {"^<!DOCTYPE", "^<!doctype", "^<html", "^<?xml"}, {"a page of the web", NULL}},
    {true,
     {"^Fatbin ptx code:", "^Fatbin elf code:", ".headerflags"},
     {"what cuobjdump prints", "`cuobjdump -xptx all FILE` writes each PTX text that a program carries to a file"}},
    {false,
     {"__global__", "__device__", "cuda_runtime.h", "cuda_runtime_api.h"},
     {"CUDA C++", "`nvcc -ptx FILE` makes PTX of it"}},
    {false,
     {"__kernel", "get_global_id", "get_local_id", "kernel void"},
     {"OpenCL C", "`clang -x cl --target=nvptx64 -S FILE` makes PTX of it"}},
    {false,
     {"^; ModuleID", "^source_filename", "target triple", "target datalayout"},
     {"LLVM IR", "`llc -march=nvptx64 FILE` makes PTX of it, where it is for NVPTX"}},
    {false,
     {"^module", "^func.func", "^builtin.module"},
     {"PTO text or other MLIR", "PTO text needs a file name that ends in .pto or .mlir, or --language pto"}},
    {false,
     {"^#include", "^#define", "^#pragma", "^#if", "^#ifndef", "^#ifdef", "#include", "int main"},
     {"C or C++", "`nvcc -ptx FILE` makes PTX of the kernels in it"}},
};

static bool is_in(const char *text, const language *l) {
    for (size_t i = 0; i < LW_COUNT(l->words) && l->words[i]; i++) {
        const char *word = l->words[i];
        if (*word == '^' ? at_word(text, word + 1) : has_word(text, word)) return true;
    }
    return false;
}

/* Whether something of a module stands there: what is in front of it is a fault, or for a preprocessor. */
static bool has_directives(const char *text) {
    static const char *const directives[] = {".version", ".target", ".entry", ".func", ".visible"};
    for (size_t i = 0; i < LW_COUNT(directives); i++)
        if (has_line(text, directives[i])) return true;
    return false;
}

/* The text from its first word on. */
static const language *language_of(const char *text) {
    for (size_t i = 0; i < LW_COUNT(languages); i++)
        if ((languages[i].has_ptx || !has_directives(text)) && is_in(text, &languages[i])) return &languages[i];
    return NULL;
}

bool lw_ptx_is_foreign(const lw_source *source, lw_diags *diags) {
    const char *text = source->text;
    const lw_content *content = lw_content_of(text + source->from, source->size - source->from);
    if (content) {
        lw_diag_add(diags, LW_D_no_text, (lw_place){source->from, 1}, content->is)->fix = content->fix;
        return true;
    }
    const uint32_t first = first_of(source), end = first + (uint32_t)strcspn(text + first, "\r\n");
    if (first == source->size || text[first] == '.') return false; /* PTX has a directive as its first word */
    const language *l = language_of(text + first);
    if (!l && has_directives(text + first)) return false;
    lw_diag *diag = l ? lw_diag_add(diags, LW_D_other_language, lw_scan_place(first, end), l->content.is)
                      : lw_diag_add(diags, LW_D_no_version, lw_scan_place(first, end));
    diag->fix = l ? l->content.fix : "`nvcc -ptx` makes PTX of a program in CUDA C++";
    return true;
}
