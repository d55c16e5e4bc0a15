/* print.c: printf of kernels: the format and its arguments as CUDA's host side takes them, and the texts of a launch
 * until it ends. */
#include "run/run.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- One call -------------------------------------------------------------------------------------------------- */

enum { ARGUMENTS_MOST = 32, FLAGS_MOST = 5, NUMBER_MOST = INT32_MAX / 16 };

typedef struct lw_print { /* a call at work */
    lw_text *out;
    uint64_t limit; /* of out->size */
    lw_guest_read *read;
    void *user;
    uint64_t format, arguments; /* what comes next */
    int32_t count;              /* arguments that were taken */
    uint64_t fault;             /* nothing can be read there; 0: fine */
    bool full;
} lw_print;

/* Between % and the letter. */
typedef struct lw_conversion {
    char flags[FLAGS_MOST + 1];
    int64_t width, precision; /* -1: none */
    uint32_t shorts, longs;   /* h, l */
    char letter;
} lw_conversion;

static bool fetch(lw_print *p, uint64_t address, void *to, uint32_t bytes) {
    if (p->read(p->user, address, to, bytes)) return true;
    p->fault = address ? address : 1;
    return false;
}

/* The next argument; beyond the last one that counts there is none. */
static bool argument(lw_print *p, void *to, uint32_t bytes) {
    const uint64_t at = (p->arguments + bytes - 1) & ~(uint64_t)(bytes - 1);
    p->arguments = at + bytes;
    p->count++;
    return fetch(p, at, to, bytes);
}

static void add(lw_print *p, const char *text, size_t size) {
    if (size > p->limit - p->out->size) p->full = true;
    else lw_text_add(p->out, text, size);
}

static bool goes_on(const lw_print *p) { return !p->fault && !p->full && !p->out->failed; }

static char next(lw_print *p) {
    char c = 0;
    if (fetch(p, p->format, &c, 1)) p->format++;
    return c;
}

/* A width or precision: digits, or * and an argument. */
static int64_t number(lw_print *p, char *c) {
    int64_t value = 0;
    if (*c == '*') {
        int32_t given = 0;
        argument(p, &given, sizeof given);
        *c = next(p);
        return given;
    }
    for (; *c >= '0' && *c <= '9'; *c = next(p))
        if (value <= NUMBER_MOST) value = value * 10 + (*c - '0');
    return value;
}

static void add_flag(lw_conversion *c, char flag) {
    if (!strchr(c->flags, flag)) c->flags[strlen(c->flags)] = flag; /* each once: there is room */
}

/* What stands behind a %, up to its letter; 0 where the format ends before. */
static lw_conversion parse(lw_print *p) {
    lw_conversion c = {.width = -1, .precision = -1};
    char at = next(p);
    for (; at && strchr("-+ #0", at); at = next(p)) add_flag(&c, at);
    if (at == '*' || (at >= '1' && at <= '9')) {
        c.width = number(p, &at);
        if (c.width < 0) add_flag(&c, '-'), c.width = -c.width;
    }
    if (at == '.') {
        at = next(p);
        c.precision = number(p, &at);
        if (c.precision < 0) c.precision = -1;
    }
    for (; at == 'h' || at == 'l'; at = next(p)) {
        c.shorts += at == 'h';
        c.longs += at == 'l';
    }
    c.letter = at;
    return c;
}

/* "%-08.3" and what is behind it, for the host's printf; width and precision are arguments there. */
static void spell(const lw_conversion *c, const char *length, char spelling[16]) {
    snprintf(spelling, 16, "%%%s%s%s%s%c", c->flags, c->width >= 0 ? "*" : "", c->precision >= 0 ? ".*" : "", length,
             c->letter);
}

/* The host formats one value; its type is what the conversion says. */
#define PUT(p, c, length, value) \
    do { \
        char spelling_[16]; \
        spell(c, length, spelling_); \
        const int width_ = (int)(c)->width, precision_ = (int)(c)->precision; \
        if ((c)->width >= 0 && (c)->precision >= 0) lw_text_printf((p)->out, spelling_, width_, precision_, value); \
        else if ((c)->width >= 0) lw_text_printf((p)->out, spelling_, width_, value); \
        else if ((c)->precision >= 0) lw_text_printf((p)->out, spelling_, precision_, value); \
        else lw_text_printf((p)->out, spelling_, value); \
    } while (0)

static void put_integer(lw_print *p, const lw_conversion *c) {
    const bool is_signed = c->letter == 'd' || c->letter == 'i';
    uint64_t value = 0;
    if (c->longs) {
        if (!argument(p, &value, 8)) return;
    } else {
        uint32_t word = 0;
        if (!argument(p, &word, 4)) return;
        const uint32_t bits = c->shorts > 1 ? 8 : c->shorts ? 16 : 32;
        word <<= 32 - bits;
        value = is_signed ? (uint64_t)((int64_t)((uint64_t)word << 32) >> (64 - bits)) : word >> (32 - bits);
    }
    if (is_signed) PUT(p, c, "ll", (long long)value);
    else PUT(p, c, "ll", (unsigned long long)value);
}

static void put_double(lw_print *p, const lw_conversion *c) {
    double value = 0;
    if (argument(p, &value, sizeof value)) PUT(p, c, "", value);
}

static void put_pointer(lw_print *p, const lw_conversion *c) {
    uint64_t value = 0;
    if (argument(p, &value, sizeof value)) PUT(p, c, "", (void *)(uintptr_t)value);
}

/* Characters of the kernel's, which need not end: the host sees a copy. */
static void put_padded(lw_print *p, const lw_conversion *c, const char *text, size_t size) {
    const size_t width = c->width > 0 ? (size_t)c->width : 0;
    const bool left = strchr(c->flags, '-') != NULL;
    if (left) add(p, text, size);
    for (size_t i = size; i < width; i++) add(p, " ", 1);
    if (!left) add(p, text, size);
}

static void put_character(lw_print *p, const lw_conversion *c) {
    uint64_t value = 0;
    const char *byte = (const char *)&value; /* the low one: hosts are little-endian, as GPUs are */
    if (argument(p, &value, c->longs ? 8 : 4)) put_padded(p, c, byte, 1);
}

static void put_string(lw_print *p, const lw_conversion *c) {
    uint64_t address = 0;
    lw_text copy = {0};
    if (!argument(p, &address, sizeof address)) return;
    if (!address) {
        put_padded(p, c, "(null)", c->precision >= 0 && c->precision < 6 ? 0 : 6);
        return;
    }
    for (char at; (c->precision < 0 || copy.size < (uint64_t)c->precision) && copy.size <= p->limit &&
                  fetch(p, address, &at, 1) && at;
         address++)
        lw_text_add(&copy, &at, 1);
    if (copy.failed) p->out->failed = true;
    else if (!p->fault) put_padded(p, c, copy.at ? copy.at : "", copy.size);
    lw_text_free(&copy);
}

/* What is no conversion, and what comes behind the last argument that counts, stays as it is. */
static void put_as_it_is(lw_print *p, uint64_t from) {
    for (char c; from < p->format && goes_on(p) && fetch(p, from, &c, 1); from++) add(p, &c, 1);
}

static void convert(lw_print *p) {
    const uint64_t start = p->format - 1;
    const lw_conversion c = parse(p);
    if (!c.letter && !p->fault) p->format--; /* the end stays to be seen */
    if (!goes_on(p)) return;
    if (c.width > (int64_t)(p->limit - p->out->size) || c.precision > (int64_t)(p->limit - p->out->size)) {
        p->full = true;
        return;
    }
    uint64_t nothing;
    if (c.letter == '%') add(p, "%", 1);
    else if (!c.letter || (c.shorts && c.longs) || p->count >= ARGUMENTS_MOST) put_as_it_is(p, start);
    else if (strchr("diouxX", c.letter)) put_integer(p, &c);
    else if (strchr("eEfFgGaA", c.letter)) put_double(p, &c);
    else if (c.letter == 'c') put_character(p, &c);
    else if (c.letter == 's') put_string(p, &c);
    else if (c.letter == 'p') put_pointer(p, &c);
    else if (c.letter == 'n') argument(p, &nothing, sizeof nothing); /* nothing is written */
    else put_as_it_is(p, start);
    if (p->out->size > p->limit) p->full = true;
}

static void print(lw_print *p) {
    for (char c; goes_on(p) && (c = next(p)) && !p->fault;) {
        if (c == '%') convert(p);
        else add(p, &c, 1);
    }
}

uint64_t lw_print_format(lw_text *out, lw_guest_read *read, void *user, uint64_t format, uint64_t arguments,
                         uint64_t most, int32_t *count, bool *full) {
    const size_t before = out->size;
    lw_print p = {
        .out = out, .limit = before + most, .read = read, .user = user, .format = format, .arguments = arguments};
    *full = false, *count = -1;
    if (!format) return 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), theirs = uselocale(plain);
    print(&p);
    uselocale(theirs);
    if (plain) freelocale(plain);
    if (p.full && out->at) out->at[out->size = before] = 0;
    *full = p.full, *count = p.count;
    return p.fault;
}

/* ---- All calls of a launch ------------------------------------------------------------------------------------- */

bool lw_printer_init(lw_printer *printer, uint64_t limit) {
    *printer = (lw_printer){.limit = limit};
    return !pthread_mutex_init(&printer->lock, NULL);
}

void lw_printer_end(lw_printer *printer) {
    lw_text_free(&printer->text);
    free(printer->pieces);
    pthread_mutex_destroy(&printer->lock);
}

static bool add_piece(lw_printer *printer, uint64_t cta, const lw_text *text) {
    struct lw_printed *last = printer->count ? &printer->pieces[printer->count - 1] : NULL;
    const size_t at = printer->text.size;
    lw_text_add(&printer->text, text->at, text->size);
    if (printer->text.failed) return false;
    if (last && last->cta == cta) return last->size += text->size, true;
    if (printer->count == printer->room) {
        const size_t room = printer->room ? 2 * printer->room : 64;
        struct lw_printed *grown = realloc(printer->pieces, room * sizeof *grown);
        if (!grown) return false;
        printer->pieces = grown, printer->room = room;
    }
    printer->pieces[printer->count++] = (struct lw_printed){.cta = cta, .at = at, .size = text->size};
    return true;
}

lw_kept lw_printer_add(lw_printer *printer, uint64_t cta, const lw_text *text) {
    if (!text->size) return LW_KEPT;
    pthread_mutex_lock(&printer->lock);
    const bool fits = text->size <= printer->limit - printer->text.size, kept = fits && add_piece(printer, cta, text);
    pthread_mutex_unlock(&printer->lock);
    return kept ? LW_KEPT : fits ? LW_KEPT_no_memory : LW_KEPT_not;
}

/* By CTA, then by time. */
static int compare(const void *a, const void *b) {
    const struct lw_printed *x = a, *y = b;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void lw_printer_flush(lw_printer *printer, lw_print_text *print, void *user) {
    if (printer->count) qsort(printer->pieces, printer->count, sizeof *printer->pieces, compare);
    for (size_t i = 0; i < printer->count; i++)
        print(user, printer->text.at + printer->pieces[i].at, printer->pieces[i].size);
}
