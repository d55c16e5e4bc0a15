/* equiv_texts.c: what equiv reads in the two texts beside running them: the constants in them, places that are left
 * open, and the line that computes a result. */
#include <stdlib.h>

#include "tool/equiv.h"

enum { CONSTANTS_MOST = 1024 };

const lw_equiv_language *lw_equiv_language_of(const lw_tool_language *language) {
    static const lw_equiv_language *const rows[] = {&lw_equiv_ptx, &lw_equiv_pto};
    for (size_t i = 0; i < LW_COUNT(rows); i++)
        if (rows[i]->of == language) return rows[i];
    lw_bug("equiv does not read %s", language->title);
}

static bool open_text(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t) {
    if (!lw_source_init(&t->source, &e->arena, side->file, side->text, side->text_size)) return false;
    lw_diags_init(&t->diags, &e->arena, &t->source);
    return true;
}

/* ---- Constants ------------------------------------------------------------------------------------------------- */

void lw_equiv_constant(lw_equiv *e, uint64_t value) {
    if (e->constants.count < CONSTANTS_MOST) LW_PUSH(&e->arena, e->constants) = value;
}

static void add_of_side(lw_equiv *e, const lw_equiv_side *side) {
    lw_equiv_text t;
    if (open_text(e, side, &t)) side->reads->constants(e, side, &t);
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void lw_equiv_constants(lw_equiv *e) {
    for (uint32_t k = 0; k < 2; k++) add_of_side(e, &e->sides[k]);
    if (e->constants.count) qsort(e->constants.at, e->constants.count, sizeof *e->constants.at, compare);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->constants.count; i++)
        if (!i || e->constants.at[i] != e->constants.at[i - 1]) e->constants.at[kept++] = e->constants.at[i];
    e->constants.count = kept;
}

/* ---- What is open ---------------------------------------------------------------------------------------------- */

static lw_launch_note *note_at(lw_equiv *e, const lw_equiv_side *side, const lw_launch_note *like) {
    for (uint32_t i = 0; i < e->notes.count; i++) {
        lw_launch_note *note = &e->notes.at[i].note;
        if (e->notes.at[i].side == side && note->line == like->line && note->column == like->column &&
            note->number == like->number)
            return note;
    }
    lw_equiv_note *made = &LW_PUSH(&e->arena, e->notes);
    *made = (lw_equiv_note){side, *like};
    made->note.count = 0;
    made->note.message = lw_arena_text(&e->arena, like->message, strlen(like->message));
    return &made->note;
}

void lw_equiv_note_launch(lw_equiv *e, const lw_equiv_side *side) {
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(e->context, &notes);
    for (size_t i = 0; i < count; i++) note_at(e, side, &notes[i])->count += notes[i].count;
}

static void say_of_side(lw_equiv *e, const lw_equiv_side *side) {
    lw_equiv_text t;
    if (side->reads->say_open && open_text(e, side, &t)) side->reads->say_open(e, side, &t);
}

void lw_equiv_say_open(lw_equiv *e) {
    fflush(stdout);
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < e->notes.count; i++) {
            const lw_launch_note *note = &e->notes.at[i].note;
            if (e->notes.at[i].side != &e->sides[k]) continue;
            lw_tool_note(e->sides[k].file, note);
        }
        say_of_side(e, &e->sides[k]);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

uint32_t lw_equiv_line(lw_equiv *e, uint32_t number, uint32_t slot, const char **text) {
    const lw_equiv_side *side = &e->sides[number];
    lw_equiv_text t;
    uint32_t line, size;
    *text = "";
    if (!open_text(e, side, &t)) return 0;
    lw_place place = side->reads->place(e, side, &t, slot);
    if (!place.size) return 0;
    lw_source_find(&t.source, place.at, &line, NULL);
    const char *at = lw_source_line(&t.source, place.at, &size);
    while (size && (*at == ' ' || *at == '\t')) at++, size--;
    *text = lw_arena_text(&e->arena, at, size);
    return line;
}
