/* check.c: the front end as a whole. */
#include "front/ptx/ptx.h"

/* A diagnostic and the notes behind it. */
static lw_diag *last_of_group(lw_diag *head) {
    while (head->next && head->next->severity == LW_NOTE) head = head->next;
    return head;
}

/* The stages report one after the other; a reader wants the order of the text. The list is short: it has a limit. */
static void sort(lw_diags *diags) {
    lw_diag *sorted = NULL;
    for (lw_diag *head = diags->first, *next; head; head = next) {
        lw_diag *last = last_of_group(head), **at = &sorted;
        next = last->next;
        while (*at && (*at)->place.at <= head->place.at) at = &last_of_group(*at)->next;
        last->next = *at;
        *at = head;
    }
    diags->first = sorted;
    diags->last = &diags->first;
    while (*diags->last) diags->last = &(*diags->last)->next;
}

/* Names are resolved also where the grammar failed, so that one run shows as many faults as it can; forms are checked
 * only where every operand means something. */
bool lw_ptx_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_spellings *spellings, lw_module_ptx **module) {
    lw_module_ptx *m = lw_ptx_parse(arena, source, diags);
    m->spellings = spellings;
    lw_ptx_resolve(m);
    lw_ptx_verify(m);
    sort(diags);
    lw_diags_note_rest(diags);
    if (module) *module = m;
    return diags->errors == 0;
}
