/* comments.c: the comments of a text, found once more for whoever prints it: the lexer passes over them. */
#include "front/pto/pto.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* A quote within a comment is none, and // within quotes begins none. */
static uint32_t behind_string(const lw_source *source, uint32_t at) {
    for (at++; at < source->size && source->text[at] != '\n'; at++) {
        if (source->text[at] == '"') return at + 1;
        if (source->text[at] == '\\' && at + 1 < source->size && source->text[at + 1] != '\n') at++;
    }
    return at;
}

bool lw_pto_next_comment(lw_pto_comments *c, uint32_t end, lw_place *comment) {
    const char *text = c->source->text;
    while (c->at < end) {
        if (text[c->at] == '"') {
            c->at = behind_string(c->source, c->at);
        } else if (text[c->at] != '/' || text[c->at + 1] != '/') {
            c->at++;
        } else {
            uint32_t stop = lw_pto_line_end(c, c->at), last = stop;
            while (is_space(text[last - 1])) last--;
            *comment = (lw_place){c->at, last - c->at};
            c->at = stop;
            return true;
        }
    }
    return false;
}

/* Remembered, since a line may be as long as the text. */
uint32_t lw_pto_line_end(lw_pto_comments *c, uint32_t at) {
    if (at < c->line_from || at > c->line_end || !c->line_end) {
        const char *text = c->source->text, *found = memchr(text + at, '\n', c->source->size - at);
        c->line_from = at;
        c->line_end = found ? (uint32_t)(found - text) : c->source->size;
    }
    return c->line_end;
}
