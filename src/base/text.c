#include "base/base.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool lost;

bool lw_text_lost(void) { return atomic_load(&lost); }

static bool fail(lw_text *text) {
    atomic_store(&lost, true);
    text->failed = true;
    return false;
}

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
        if (room > SIZE_MAX / 2) return fail(text);
        room *= 2;
    }
    char *grown = realloc(text->at, room);
    if (!grown) return fail(text);
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

void lw_text_clean(lw_text *text, const char *data, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) {
        const char c = data[i];
        lw_text_add(text, (unsigned char)c < 0x20 || c == 0x7f ? " " : &c, 1);
    }
}

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

/* ---- Messages -------------------------------------------------------------------------------------------- */

/* The bytes of the first `most` characters of UTF-8. */
static size_t first_characters(const char *text, size_t size, size_t most) {
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && !most--) return i;
    return size;
}

static void put_string(lw_text *text, const char *string, size_t size, bool quoted) {
    size_t shown = quoted ? first_characters(string, size, LW_SHOWN_MOST) : size;
    if (shown < size) shown = first_characters(string, size, LW_SHOWN_MOST - 1);
    lw_text_add(text, string, shown);
    if (shown < size) lw_text_puts(text, "…");
}

static void put_number(lw_text *text, const char *form, double value) {
    char number[64];
    int size = snprintf(number, sizeof number, form, value);
    const char *point = localeconv()->decimal_point, *at = strstr(number, point);
    if (size < 0 || (size_t)size >= sizeof number || !at) return lw_text_puts(text, number);
    lw_text_add(text, number, (size_t)(at - number));
    lw_text_puts(text, ".");
    lw_text_puts(text, at + strlen(point));
}

typedef struct arguments {
    va_list list;
} arguments; /* an array on some machines, which a function could not move on for its caller */

enum { FORM_MOST = 32 };

/* The number that comes for a * stands in its place; returns it, or SIZE_MAX. */
static size_t take_star(char form[FORM_MOST], arguments *from) {
    char *star = strchr(form, '*'), rest[FORM_MOST];
    if (!star) return SIZE_MAX;
    int number = va_arg(from->list, int);
    memcpy(rest, star + 1, strlen(star));
    snprintf(star, (size_t)(form + FORM_MOST - star), "%d%s", number, rest);
    return (size_t)number;
}

/* One conversion, from its % on. */
static void put_conversion(lw_text *text, char form[FORM_MOST], bool quoted, arguments *from) {
    const char kind = form[strlen(form) - 1];
    const bool is_signed = kind == 'd' || kind == 'i';
    const size_t star = take_star(form, from);
    if (kind == 's') {
        const char *string = va_arg(from->list, const char *);
        put_string(text, string, strnlen(string, star), quoted);
    } else if (kind == 'g' || kind == 'f') put_number(text, form, va_arg(from->list, double));
    else if (strstr(form, "ll")) lw_text_printf(text, form, va_arg(from->list, unsigned long long));
    else if (strchr(form, 'z')) lw_text_printf(text, form, va_arg(from->list, size_t));
    else if (kind == 'u' || kind == 'x' || kind == 'c' || is_signed)
        lw_text_printf(text, form, va_arg(from->list, unsigned));
    else lw_bug("a message has the conversion %s", form);
}

void lw_text_vsay(lw_text *text, const char *format, va_list args) {
    arguments from;
    bool quoted = false;
    va_copy(from.list, args);
    for (const char *at = format; *at;) {
        char form[FORM_MOST];
        size_t size = *at == '%' ? 2 + strspn(at + 1, "-+ #0123456789.*lz") : 1;
        quoted ^= *at == '\'';
        if (*at != '%' || at[1] == '%') {
            lw_text_add(text, at, 1);
            at += 1 + (*at == '%');
            continue;
        }
        if (size >= FORM_MOST / 2) lw_bug("a message has a conversion of %zu characters", size);
        memcpy(form, at, size);
        form[size] = 0;
        put_conversion(text, form, quoted, &from);
        at += size;
    }
    va_end(from.list);
}

void lw_text_say(lw_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lw_text_vsay(text, format, args);
    va_end(args);
}
