/* refused.c: which instructions are not executed for a reason that is known: isa/ptx/refused.def. */
#include "front/ptx/ptx.h"

static const struct {
    const char *opcode, *word, *unless[2], *why;
} refused[] = {
#define REFUSED_UNLESS(opcode, word, a, b, why) {#opcode, word, {a, b}, why},
#include "ptx/refused.def"
};

static bool is_name(char c) {
    return c == '_' || c == ':' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Whether a spelling, or the pattern of a form, has this word between dots, or is free to choose it. */
static bool has_word(const char *spelling, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = spelling; *(at += strcspn(at, ".(|")); at++)
        if (!strncmp(at + 1, word, size) && !is_name(at[1 + size])) return true;
    return !size;
}

const char *lw_ptx_refusal(const char *spelling) {
    for (size_t i = 0; i < LW_COUNT(refused); i++) {
        const size_t size = strlen(refused[i].opcode);
        if (strncmp(spelling, refused[i].opcode, size) != 0 || is_name(spelling[size])) continue;
        if (!has_word(spelling, refused[i].word)) continue;
        bool other = false;
        for (int k = 0; k < 2; k++) other |= *refused[i].unless[k] && has_word(spelling, refused[i].unless[k]);
        if (!other) return refused[i].why;
    }
    return NULL;
}
