/* note.c: what a launch did and its user may want to know: counted, or the end of a strict launch. */
#include "run/interp/interp.h"

/* ---- By operations of their own ---------------------------------------------------------------------------- */

/* All workers share the grid's counts, so that each addition to them would wait for its memory: a turn keeps its
 * own. */
static void hand(lw_gang *gang, uint32_t i) {
    if (gang->note_counts[i].lanes)
        atomic_fetch_add_explicit(&gang->cta->grid->notes[gang->note_counts[i].number], gang->note_counts[i].lanes,
                                  memory_order_relaxed);
    gang->note_counts[i].lanes = 0;
}

void lw_gang_hand_notes(lw_gang *gang) {
    if (LW_LIKELY(!gang->noted)) return;
    for (uint32_t i = 0; i < LW_NOTES; i++) hand(gang, i);
    gang->noted = false;
}

const lw_op *lw_step_note(lw_gang *gang, const lw_op *op) {
    lw_mask lanes = lw_get_mask(gang, op->b) & gang->mask;
    if (!lanes) return op + 1;
    uint32_t number = (uint32_t)op->imm, i = number % LW_NOTES;
    if (gang->note_counts[i].number != number) hand(gang, i);
    gang->note_counts[i].number = number;
    gang->note_counts[i].lanes += lw_mask_count(lanes);
    gang->noted = true;
    return op + 1;
}

/* ---- By steps that find out themselves --------------------------------------------------------------------- */

bool lw_gang_undefined(lw_gang *gang, const lw_op *op, lw_diag_id id, lw_mask lanes) {
    const lw_grid *grid = gang->cta->grid;
    if (lw_meeting_is_at(gang, op)) return lw_meeting_undefined(gang, id, lanes);
    lw_gang_note(gang, lw_program_find_note(grid->program, id, lw_place_of(gang->frame->code, op)), lanes);
    if (!grid->strict) return false;
    uint32_t first = lw_mask_first(lanes);
    lw_gang_trap(
        gang, op, LW_TRAP_undefined, first,
        (lw_trap_record){.access = lw_diag_rows[id].format, .detail = lw_mask_warp(lanes, first / LW_WARP_LANES)});
    return true;
}
