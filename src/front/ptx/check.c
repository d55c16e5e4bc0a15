/* check.c: the front end as a whole. */
#include "front/ptx/ptx.h"

/* Names are resolved also where the grammar failed, so that one run shows as many faults as it can; forms are checked
 * only where every operand means something. */
static lw_module_ptx *check_text(lw_arena *arena, lw_source *text, lw_diags *diags, lw_spellings *spellings) {
    lw_module_ptx *m = lw_ptx_parse(arena, text, diags);
    m->spellings = spellings;
    lw_ptx_resolve(m);
    lw_ptx_verify(m);
    return m;
}

/* Modules are linked where each is right by itself: what others lack of one that is wrong would be a fault too many. */
static lw_module_ptx *check_texts(lw_arena *arena, lw_source *source, lw_diags *diags, lw_spellings *spellings) {
    lw_module_ptx **modules = LW_NEW_ARRAY(arena, lw_module_ptx *, source->part_count);
    for (uint32_t i = 0; i < source->part_count; i++) {
        const lw_source text = lw_source_text_at(source, i);
        modules[i] = check_text(arena, lw_arena_copy(arena, &text, sizeof text), diags, spellings);
    }
    if (diags->errors) return modules[0];
    lw_module_ptx *linked = lw_ptx_link(modules, source->part_count);
    linked->source = source;
    return linked;
}

bool lw_ptx_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_spellings *spellings,
                  lw_module_ptx **module) {
    lw_module_ptx *m = source->part_count == 1 ? check_text(arena, source, diags, spellings)
                                               : check_texts(arena, source, diags, spellings);
    lw_diags_sort(diags);
    lw_diags_note_rest(diags);
    if (module) *module = m;
    return diags->errors == 0;
}
