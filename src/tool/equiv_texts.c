/* equiv_texts.c: what equiv reads in the two texts beside running them: the constants in them, and places that the page
 * of PTO leaves open. */
#include <stdlib.h>

#include "tool/equiv.h"

enum { CONSTANTS_MOST = 1024 };

bool lw_equiv_open(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *t) {
    if (!lw_source_init(&t->source, &e->arena, side->file, side->text, side->text_size)) return false;
    lw_diags_init(&t->diags, &e->arena, &t->source);
    return true;
}

/* ---- Constants ------------------------------------------------------------------------------------------------- */

static void add(lw_equiv *e, uint64_t value) {
    if (e->constants.count < CONSTANTS_MOST) LW_PUSH(&e->arena, e->constants) = value;
}

static void add_of_region(lw_equiv *e, const lw_pto_region *region) {
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        if (op->id == LW_PTO_CONSTANT) add(e, op->value);
        for (uint32_t k = 0; k < op->region_count; k++) add_of_region(e, &op->regions[k]);
    }
}

static void add_of_operand(lw_equiv *e, const lw_operand *operand) {
    if (operand->kind == LW_O_INT) add(e, operand->value);
    for (uint32_t i = 0; operand->kind == LW_O_VECTOR && i < operand->part_count; i++)
        add_of_operand(e, &operand->parts[i]);
}

static void add_of_function(lw_equiv *e, const lw_function *f) {
    for (uint32_t s = 0; s < f->body.count; s++) {
        const lw_statement *statement = &f->body.at[s];
        if (statement->kind != LW_S_INSTRUCTION) continue;
        const lw_instruction *i = statement->instruction;
        for (uint32_t k = 0; k < i->operand_count; k++) add_of_operand(e, &i->operands[k]);
    }
}

static void add_of_side(lw_equiv *e, const lw_equiv_side *side) {
    lw_equiv_text t;
    lw_pto_module *pto;
    lw_module_ptx *ptx;
    if (!lw_equiv_open(e, side, &t)) return;
    if (side->is_pto && lw_pto_check(&e->arena, &t.source, &t.diags, LW_PTO_PROFILE_cpu, &pto)) {
        const lw_pto_function *f = lw_pto_find(pto, side->info.name);
        if (f) add_of_region(e, &f->body);
    }
    if (!side->is_pto && lw_ptx_check(&e->arena, &t.source, &t.diags, NULL, &ptx))
        for (uint32_t i = 0; i < ptx->functions.count; i++) add_of_function(e, ptx->functions.at[i]);
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

/* Lanes that a mask leaves out hold what --inactive says: the same as on the other side, or as elsewhere, by choice
 * only. */
static void say_inactive(lw_equiv *e, const lw_equiv_side *side) {
    lw_equiv_text t;
    lw_pto_module *pto;
    if (!side->is_pto || !lw_equiv_open(e, side, &t) ||
        !lw_pto_check(&e->arena, &t.source, &t.diags, LW_PTO_PROFILE_cpu, &pto))
        return;
    const lw_pto_function *f = lw_pto_find(pto, side->info.name);
    lw_pto_check_portable(pto);
    for (const lw_diag *d = t.diags.first; f && d; d = d->next) {
        uint32_t line, column;
        if (d->id != LW_D_pto_portable_inactive || d->place.at < f->place.at || d->place.at > f->body.end.at) continue;
        lw_source_find(&t.source, d->place.at, &line, &column);
        fprintf(stderr, "%s:%u:%u: note[LW%04u]: %s\n", side->file, line, column, lw_diag_rows[d->id].number,
                d->message);
    }
}

void lw_equiv_say_open(lw_equiv *e) {
    fflush(stdout);
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < e->notes.count; i++) {
            const lw_launch_note *note = &e->notes.at[i].note;
            if (e->notes.at[i].side != &e->sides[k]) continue;
            fprintf(stderr, "%s:%u:%u: note[LW%04u]: %s: %llu %s\n", e->sides[k].file, note->line, note->column,
                    note->number, note->message, (unsigned long long)note->count, note->count == 1 ? "lane" : "lanes");
        }
        say_inactive(e, &e->sides[k]);
    }
}
