/* language.c: the languages that the tool knows, and which one a text is in. */
#include "tool/language.h"

/* The first takes every file that no other one knows by its name. */
static const lw_tool_language *const languages[] = {&lw_tool_ptx, &lw_tool_pto};

const lw_tool_language *lw_tool_language_said(struct argp_state *state, const char *word) {
    for (size_t i = 0; i < LW_COUNT(languages); i++)
        if (!strcmp(word, languages[i]->name)) return languages[i];
    argp_error(state, "--language takes ptx or pto, not '%.100s'", word);
    return NULL;
}

const lw_tool_language *lw_tool_language_of(const char *path, const lw_tool_language *said) {
    for (size_t i = 0; i < LW_COUNT(languages) && !said; i++)
        if (languages[i]->is_name && languages[i]->is_name(path)) said = languages[i];
    return said ? said : languages[0];
}
