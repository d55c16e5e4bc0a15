#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

void lw_text_free(lw_text *text) {
    free(text->at);
    *text = (lw_text){0};
}

/* Makes room for `more` bytes and a NUL. */
static bool reserve(lw_text *text, size_t more) {
    if (text->failed) return false;
    if (more < text->room - text->size) return true;
    size_t room = text->room ? text->room : 128;
    while (room - text->size <= more) {
        if (room > SIZE_MAX / 2) return text->failed = true, false;
        room *= 2;
    }
    char *grown = realloc(text->at, room);
    if (!grown) return text->failed = true, false;
    text->at = grown;
    text->room = room;
    return true;
}

void lw_text_add(lw_text *text, const char *data, size_t size) {
    if (!reserve(text, size)) return;
    if (size) memcpy(text->at + text->size, data, size);
    text->size += size;
    text->at[text->size] = 0;
}

void lw_text_puts(lw_text *text, const char *string) { lw_text_add(text, string, strlen(string)); }

void lw_text_vprintf(lw_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size < 0) text->failed = true;
    if (size >= 0 && reserve(text, (size_t)size)) {
        vsnprintf(text->at + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void lw_text_printf(lw_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lw_text_vprintf(text, format, args);
    va_end(args);
}
