/* Matrices that a warp holds, of every spelling that has any: each element is held, all of them by equally many, and
 * nothing beside them; it is held once, but for what the manual or a GPU has twice: a and b of wmma with f16, whose
 * fragments have eight registers for any shape (9.7.14.4.1). No row of the table is there for nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "middle/held.h"

enum { SPELLINGS = 3000, WORDS_MAX = 32, LANES = 32, MOST = 4 * 16 * 256 };

typedef struct walk {
    lw_arena arena;
    lw_module_ptx module;
    const lw_form *form;
    bool used[LW_FRAGMENTS];
    uint32_t spellings, faults;
} walk;

static void fault(walk *w, const char *spelling, const char *what) {
    if (w->faults++ < 6) fprintf(stderr, "%s: %s\n", spelling, what);
}

static const lw_match *match_of(walk *w, const char *spelling) {
    lw_symbol *words[WORDS_MAX];
    lw_instruction i = {.mnemonic = lw_symbol_get(&w->module.symbols, spelling, (uint32_t)strlen(spelling)),
                        .words = words};
    for (const char *p = spelling; *p && i.word_count < WORDS_MAX;) {
        const size_t size = strcspn(p, ".");
        words[i.word_count++] = lw_symbol_get(&w->module.symbols, p, (uint32_t)size);
        p += size + (p[size] == '.');
    }
    return lw_ptx_match(&w->module, &i, NULL);
}

static void check_matrix(walk *w, const char *spelling, const lw_held *h) {
    static uint16_t holders[MOST];
    const uint32_t elements = lw_fragment_elements(h->bits), count = (uint32_t)h->sets * h->rows * h->columns;
    if (!count || count > MOST) return fault(w, spelling, "a matrix has no size");
    memset(holders, 0, sizeof holders);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0; i < h->registers * elements; i++) {
            const lw_fragment_place at = lw_fragment_at(h->fragment, h->bits, lane, i / elements, i % elements);
            if (at.set >= h->sets || at.row >= h->rows || at.column >= h->columns)
                return fault(w, spelling, "an element is beyond the matrix");
            holders[(at.set * h->rows + at.row) * h->columns + at.column]++;
        }
    const bool repeats = h->fragment->kind == LW_FRAGMENT_WMMA && h->element == LW_ELEMENT_f16 && h->is != LW_MATRIX_C;
    for (uint32_t at = 0; at < count; at++)
        if (holders[at] != holders[0] || !holders[at] || (holders[at] > 1 && !repeats))
            return fault(w, spelling, "an element is not held once");
    w->used[h->fragment - lw_fragments] = true;
}

static void check_spelling(void *user, const char *spelling) {
    walk *w = user;
    const lw_match *match = match_of(w, spelling);
    lw_held held[LW_HELD_MOST];
    if (!match || match->form != w->form) return; /* table/forms says so */
    const uint32_t count = lw_matrices_held(match, held, NULL);
    if (!count) fault(w, spelling, "there is no matrix");
    for (uint32_t k = 0; k < count; k++) check_matrix(w, spelling, &held[k]);
    w->spellings++;
}

static bool has_matrices(const lw_form *form) {
    switch ((lw_lowering)form->lower) {
    case LW_LOWER_mma:
    case LW_LOWER_wmma:
    case LW_LOWER_wmma_load:
    case LW_LOWER_wmma_store:
    case LW_LOWER_ldmatrix:
    case LW_LOWER_stmatrix:
    case LW_LOWER_movmatrix: return true;
    default: return false;
    }
}

static void every_element_is_held_once(void **state) {
    (void)state;
    static walk w;
    lw_arena_init(&w.arena);
    lw_symbols_init(&w.module.symbols, &w.arena);
    w.module.arena = &w.arena, w.module.version = 90, w.module.target = 999, w.module.target_suffix = 'a';
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        w.form = &lw_ptx_forms[i];
        if (has_matrices(w.form)) lw_ptx_spellings(w.form, SPELLINGS, check_spelling, &w);
    }
    assert_int_equal(w.faults, 0);
    assert_true(w.spellings > 500);
    for (uint32_t f = 0; f < LW_FRAGMENTS; f++)
        if (!w.used[f] && lw_fragments[f].kind != LW_FRAGMENT_WGMMA)
            fail_msg("row %u of fragments.def fits nothing", f);
    lw_arena_free(&w.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_element_is_held_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
