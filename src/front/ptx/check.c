/* check.c: the front end as a whole. */
#include "front/ptx/ptx.h"

/* Names are resolved also where the grammar failed, so that one run shows as many faults as it can; forms are checked
 * only where every operand means something. */
bool lw_ptx_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_spellings *spellings,
                  lw_module_ptx **module) {
    lw_module_ptx *m = lw_ptx_parse(arena, source, diags);
    m->spellings = spellings;
    lw_ptx_resolve(m);
    lw_ptx_verify(m);
    lw_diags_sort(diags);
    lw_diags_note_rest(diags);
    if (module) *module = m;
    return diags->errors == 0;
}
