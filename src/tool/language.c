/* language.c: the languages that the tool knows, and which one a text is in. */
#include "tool/language.h"

static const lw_tool_language *const languages[] = {&lw_tool_ptx, &lw_tool_pto};

static const lw_tool_language *row_of(const lw_language *language) {
    for (size_t i = 0; i < LW_COUNT(languages); i++)
        if (languages[i]->of == language) return languages[i];
    return NULL;
}

const lw_tool_language *lw_tool_language_said(struct argp_state *state, const char *word) {
    const lw_tool_language *said = row_of(*word ? lw_language_of(word, NULL) : NULL);
    if (!said) argp_error(state, "--language takes ptx or pto, not '%.100s'", word);
    return said;
}

const lw_tool_language *lw_tool_language_of(const char *path, const lw_tool_language *said) {
    return said ? said : row_of(lw_language_of(NULL, path));
}
