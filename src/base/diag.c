#include "base/base.h"

enum { LW_DIAG_LIMIT = 100, LW_LINE_SHOWN = 160 };

const lw_diag_row lw_diag_rows[LW_D_COUNT] = {
#define DIAG(number, name, severity, format, explanation) {number, severity, #name, format, explanation},
#include "diag.def"
};

const lw_diag_row *lw_diag_find(uint32_t number) {
    for (size_t i = 0; i < LW_D_COUNT; i++)
        if (lw_diag_rows[i].number == number) return &lw_diag_rows[i];
    return NULL;
}

void lw_diags_init(lw_diags *diags, lw_arena *arena, lw_source *source) {
    *diags = (lw_diags){.arena = arena, .source = source, .limit = LW_DIAG_LIMIT};
    diags->last = &diags->first;
}

lw_diag *lw_diag_add(lw_diags *diags, lw_diag_id id, lw_place place, ...) {
    const lw_diag_row *row = &lw_diag_rows[id];
    lw_diag *diag = LW_NEW(diags->arena, lw_diag);
    *diag = (lw_diag){.id = id, .severity = row->severity, .place = place};
    uint32_t *count = row->severity == LW_ERROR ? &diags->errors : &diags->warnings;
    if (row->severity != LW_NOTE) diags->dropping = ++*count > diags->limit;
    if (diags->dropping) return diag;

    va_list args;
    va_start(args, place);
    diag->message = lw_arena_vsay(diags->arena, row->format, args);
    va_end(args);
    *diags->last = diag;
    diags->last = &diag->next;
    return diag;
}

void lw_diags_note_rest(lw_diags *diags) {
    if (diags->errors <= diags->limit) return;
    const lw_diag *last = diags->first;
    while (last->next) last = last->next;
    diags->dropping = false;
    lw_diag_add(diags, LW_D_too_many_errors, last->place, diags->limit);
}

/* A diagnostic and the notes behind it. */
static lw_diag *last_of_group(lw_diag *head) {
    while (head->next && head->next->severity == LW_NOTE) head = head->next;
    return head;
}

/* Two lists in order as one; of equal places those of the first come first. */
static lw_diag *merge(lw_diag *a, lw_diag *b) {
    lw_diag *first = NULL, **last = &first;
    while (a && b) {
        lw_diag **from = a->place.at <= b->place.at ? &a : &b;
        *last = *from;
        last = &last_of_group(*from)->next;
        *from = *last;
    }
    *last = a ? a : b;
    return first;
}

/* The first `count` groups at *at, in order; *at goes behind them. */
static lw_diag *take_sorted(lw_diag **at, uint32_t count) {
    lw_diag *first = *at;
    if (!count || !first) return NULL;
    if (count == 1) {
        lw_diag *last = last_of_group(first);
        *at = last->next;
        last->next = NULL;
        return first;
    }
    first = take_sorted(at, count / 2);
    return merge(first, take_sorted(at, count - count / 2));
}

void lw_diags_sort(lw_diags *diags) {
    lw_diag *rest = diags->first;
    uint32_t groups = 0;
    for (lw_diag *head = rest; head; head = last_of_group(head)->next) groups++;
    diags->first = take_sorted(&rest, groups);
    diags->last = &diags->first;
    while (*diags->last) diags->last = &(*diags->last)->next;
}

static const char *colour_of(lw_severity severity) {
    return severity == LW_ERROR ? "\33[1;31m" : severity == LW_WARNING ? "\33[1;35m" : "\33[1;36m";
}

/* A long line is shown as a window around the caret. Returns the window's start. */
static uint32_t window_start(const char *text, uint32_t size, uint32_t caret) {
    if (size <= LW_LINE_SHOWN || caret < LW_LINE_SHOWN / 2) return 0;
    uint32_t start = caret - LW_LINE_SHOWN / 2;
    while (start < size && ((unsigned char)text[start] & 0xc0) == 0x80) start++;
    return start;
}

/* The line that a diagnostic is about, and where in it. */
typedef struct lw_shown {
    const char *text;
    uint32_t size, caret, end;
} lw_shown;

static void render_line(lw_text *out, const lw_shown *shown, uint32_t line, const char *on, const char *off) {
    const uint32_t from = window_start(shown->text, shown->size, shown->caret);
    const uint32_t to = shown->size - from > LW_LINE_SHOWN ? from + LW_LINE_SHOWN : shown->size;
    lw_text_printf(out, "%6u | ", line);
    lw_text_clean(out, shown->text + from, to - from);
    lw_text_printf(out, "\n       | %s", on);
    for (uint32_t i = from; i < shown->caret; i++)
        if (((unsigned char)shown->text[i] & 0xc0) != 0x80) lw_text_puts(out, " ");
    lw_text_puts(out, "^");
    for (uint32_t i = shown->caret + 1; i < shown->end && i < to; i++)
        if (((unsigned char)shown->text[i] & 0xc0) != 0x80) lw_text_puts(out, "~");
    lw_text_printf(out, "%s\n", off);
}

static void render_place(lw_text *out, const lw_source *source, const lw_diag *diag, uint32_t line, const char *on,
                         const char *off) {
    lw_shown shown;
    shown.text = lw_source_line(source, diag->place.at, &shown.size);
    shown.caret = diag->place.at - (uint32_t)(shown.text - source->text);
    if (shown.caret > shown.size) shown.caret = shown.size;
    shown.end = shown.caret + diag->place.size;
    lw_text joined = {0};
    if (diag->joined && lw_source_is_broken(source, diag->place)) {
        lw_text_add(&joined, shown.text, shown.caret);
        lw_source_put_joined(&joined, source, diag->place);
    }
    if (joined.size) shown.text = joined.at, shown.size = shown.end = (uint32_t)joined.size;
    if (joined.failed) out->failed = true;
    render_line(out, &shown, line, on, off);
    lw_text_free(&joined);
}

void lw_diag_render(lw_text *out, lw_source *source, const lw_diag *diag, bool colour) {
    static const char *const words[] = {[LW_NOTE] = "note", [LW_WARNING] = "warning", [LW_ERROR] = "error"};
    const char *on = colour ? colour_of(diag->severity) : "", *off = colour ? "\33[0m" : "";
    uint32_t line, column;
    lw_source_find(source, diag->place.at, &line, &column);
    const char *name = lw_source_part_of(source, diag->place.at)->name;
    lw_text_clean(out, name, (uint32_t)strlen(name));
    lw_text_printf(out, ":%u:%u: %s%s[LW%04u]%s: ", line, column, on, words[diag->severity],
                   lw_diag_rows[diag->id].number, off);
    lw_text_clean(out, diag->message, (uint32_t)strlen(diag->message));
    lw_text_puts(out, "\n");
    if (diag->id != LW_D_no_text) render_place(out, source, diag, line, on, off);
    if (diag->fix) lw_text_printf(out, "       = %s\n", diag->fix);
}
