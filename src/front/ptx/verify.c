/* verify.c: every instruction against its form: spelling, gates, number of operands, then each operand. */
#include "front/ptx/verify.h"

#include <stdio.h>

/* ---- Spelling ----------------------------------------------------------------------------------------- */

/* Where word i of the mnemonic stands; the whole mnemonic where it was written with spaces. */
static lw_place word_place(const lw_instruction *i, uint32_t word) {
    lw_place place = i->mnemonic_place;
    if (place.size != i->mnemonic->size || word >= i->word_count) return place;
    uint32_t at = i->words[0]->size;
    if (word == 0) return (lw_place){place.at, at};
    for (uint32_t w = 1; w < word; w++) at += 1 + i->words[w]->size;
    return (lw_place){place.at + at, 1 + i->words[word]->size};
}

static void report_no_match(lw_verifier *v) {
    const lw_instruction *i = v->instruction;
    if (!lw_ptx_is_opcode(i->words[0])) {
        lw_diag *unknown = lw_diag_add(v->diags, LW_D_unknown_instruction, word_place(i, 0), i->words[0]->text);
        const char *near = v->diags->dropping ? NULL : lw_ptx_nearest_opcode(v->diags->arena, i->words[0]->text);
        if (near) unknown->fix = lw_verify_text(v, "did you mean '%s'?", near);
        return;
    }
    lw_text expected = {0};
    lw_mismatch found = lw_form_explain(i->words, i->word_count, &expected);
    uint32_t size = expected.size ? (uint32_t)expected.size - 1 : 0;
    const char *words = lw_arena_keep(v->diags->arena, &expected);
    const char *fix = size ? lw_verify_text(v, "may stand here:%.*s", (int)size, words)
                           : lw_verify_text(v, "`lanewise explain %s` shows its forms", i->words[0]->text);
    lw_diag *diag;
    if (found.edit == LW_EDIT_insert)
        diag = lw_diag_add(v->diags, LW_D_missing_modifier,
                           word_place(i, found.word < i->word_count ? found.word : i->word_count - 1),
                           i->mnemonic->text);
    else
        diag = lw_diag_add(v->diags, LW_D_illegal_modifier, word_place(i, found.word), i->words[found.word]->text,
                           i->words[0]->text);
    const char *order = lw_fix_order(v);
    diag->fix = order ? order : found.edit == LW_EDIT_drop ? "without it the spelling is valid" : fix;
}

/* A version that is newer than the tables may have brought what is not in them. */
static void no_match(lw_verifier *v) {
    const lw_instruction *i = v->instruction;
    unsigned version = v->module->version;
    report_no_match(v);
    if (version > LW_PTX_NEWEST)
        lw_diag_add(v->diags, LW_D_newer_instruction, i->mnemonic_place, i->mnemonic->text, version / 10, version % 10);
}

/* ---- Gates -------------------------------------------------------------------------------------------- */

static const char *word_name(lw_verifier *v, uint32_t word) {
    const lw_instruction *i = v->instruction;
    if (word == 0) return lw_verify_text(v, "'%s'", i->mnemonic->text);
    return lw_verify_text(v, "'.%s' of '%s'", i->words[word]->text, i->words[0]->text);
}

static const char *successor(lw_verifier *v) {
    const char *instead = v->match->form->instead;
    return instead ? lw_verify_text(v, "use %s", instead) : NULL;
}

static void deprecated(lw_verifier *v) {
    const lw_form *f = v->match->form;
    const lw_instruction *i = v->instruction;
    if (f->gone_isa && v->module->target >= f->gone_sm)
        lw_diag_add(v->diags, LW_D_divergence_undefined, i->mnemonic_place, i->mnemonic->text, f->gone_sm);
    lw_diag_add(v->diags, LW_D_form_old, i->mnemonic_place, i->mnemonic->text, f->old_isa / 10u, f->old_isa % 10u)
        ->fix = successor(v);
}

/* Only called where the match says that the module is outside of some gate. */
static void gates(lw_verifier *v) {
    const lw_match *m = v->match;
    const lw_form *f = m->form;
    const lw_instruction *i = v->instruction;
    unsigned version = v->module->version, target = v->module->target;
    if (m->fault)
        lw_diag_add(v->diags, LW_D_bad_combination, word_place(i, m->fault_word), i->mnemonic->text, m->fault);
    else if (version < m->isa)
        lw_diag_add(v->diags, LW_D_needs_version, word_place(i, m->isa_word), word_name(v, m->isa_word), m->isa / 10u,
                    m->isa % 10u, version / 10, version % 10);
    else if (target < m->sm)
        lw_diag_add(v->diags, LW_D_needs_target, word_place(i, m->sm_word), word_name(v, m->sm_word), m->sm, target);
    else if (f->last && target > f->last)
        lw_diag_add(v->diags, LW_D_target_past, i->mnemonic_place, i->mnemonic->text, f->sm, f->last, target);
    else if (f->family && !v->module->target_suffix)
        lw_diag_add(v->diags, LW_D_needs_family, i->mnemonic_place, i->mnemonic->text, f->sm > target ? f->sm : target);
    else if (f->gone_isa && version >= f->gone_isa && target >= f->gone_sm)
        lw_diag_add(v->diags, LW_D_form_gone, i->mnemonic_place, i->mnemonic->text, f->gone_sm, f->gone_isa / 10u,
                    f->gone_isa % 10u)
            ->fix = successor(v);
    else if (f->old_isa && version >= f->old_isa) deprecated(v);
    else if (f->old_isa && f->gone_isa)
        lw_diag_add(v->diags, LW_D_divergence_undefined, i->mnemonic_place, i->mnemonic->text,
                    f->gone_sm ? f->gone_sm : 70u);
    else if (m->late_vector) lw_diag_add(v->diags, LW_D_late_vector, i->mnemonic_place, i->mnemonic->text);
}

/* ---- One instruction ---------------------------------------------------------------------------------- */

static void wrong_count(lw_verifier *v) {
    const lw_match *m = v->match;
    const lw_instruction *i = v->instruction;
    char takes[48];
    if (m->operands_min == m->operands_max)
        snprintf(takes, sizeof takes,
                 m->operands_min == 1 ? "1 operand"
                 : m->operands_min    ? "%u operands"
                                      : "no operands",
                 m->operands_min);
    else snprintf(takes, sizeof takes, "%u to %u operands", m->operands_min, m->operands_max);
    uint32_t n = i->operand_count;
    lw_place place = n > m->operands_max ? i->operands[m->operands_max].place : i->mnemonic_place;
    lw_diag_add(v->diags, LW_D_operand_count, place, i->mnemonic->text, takes, n, n == 1 ? "is" : "are")->fix =
        lw_fix_operands(v);
}

static void guard(lw_verifier *v) {
    const lw_operand *g = v->instruction->guard;
    if (lw_is_unresolved(g)) return;
    if (!lw_is_register(g) || g->object->type != LW_T_pred || g->object->vector > 1)
        lw_diag_add(v->diags, LW_D_guard_not_predicate, g->place, g->name ? g->name->text : "");
}

/* Optional operands may be younger than the form, and unknown to its lane function. */
static void optional_operands(lw_verifier *v, lw_instruction *i) {
    const lw_match *m = v->match;
    const lw_form *f = m->form;
    unsigned version = v->module->version, target = v->module->target;
    lw_place place = i->operands[m->operands_min].place;
    const char *what = f->more_isa ? lw_verify_text(v, "'%s' with %u operands", i->mnemonic->text, i->operand_count)
                                   : "";
    if (version < f->more_isa)
        lw_diag_add(v->diags, LW_D_needs_version, place, what, f->more_isa / 10u, f->more_isa % 10u, version / 10,
                    version % 10);
    else if (target < f->more_sm) lw_diag_add(v->diags, LW_D_needs_target, place, what, f->more_sm, target);
    if (m->longer) v->match = i->match = m->longer;
}

/* Video instructions: a selector on the destination goes with c. */
static void merge(lw_verifier *v) {
    const lw_instruction *i = v->instruction;
    const lw_operand *d = &i->operands[0];
    if (v->match->operand_forms[0].selectable && d->select && i->operand_count == v->match->operands_min)
        lw_diag_add(v->diags, LW_D_merge_operand, d->place, i->mnemonic->text, lw_select_name(d))->fix =
            "give the word to merge into as a fourth operand, or leave the selector away";
}

/* vmad: the product or c is negated, not both; the product is where one of its factors is. */
static void negations(lw_verifier *v) {
    const lw_match *m = v->match;
    bool product = false, addend = false;
    for (uint32_t k = 0; k < m->operand_form_count && k < v->instruction->operand_count; k++) {
        if (!m->operand_forms[k].negatable || !v->instruction->operands[k].minus) continue;
        bool last = k + 1u == m->operand_form_count;
        product ^= !last;
        addend = last;
    }
    if (product && addend) lw_verify_minus(v, &v->instruction->operands[m->operand_form_count - 1]);
}

/* An operand that may be one register or a list: with the list there are no optional operands, with the register all of
 * them. */
static bool alternatives_fit(lw_verifier *v, const lw_instruction *i) {
    const lw_match *m = v->match;
    for (uint32_t k = 0; k < m->operand_form_count && k < i->operand_count; k++) {
        if (!m->operand_forms[k].if_vector) continue;
        bool optional = m->operand_forms[k].optional; /* the first of two: only as a list */
        if (optional && (i->operand_count < m->operands_min + 2u || i->operands[k].kind == LW_O_VECTOR)) continue;
        if (!optional && i->operand_count == (i->operands[k].kind == LW_O_VECTOR ? m->operands_min : m->operands_max))
            continue;
        wrong_count(v);
        return false;
    }
    return true;
}

/* d|_ of an instruction that has no second output: it throws away what is not made. */
static void drop_second(const lw_match *m, lw_operand *d) {
    if (d->kind != LW_O_PAIR || m->operand_forms[0].pair || !m->operand_forms[0].written) return;
    if (d->part_count == 2 && d->parts[1].kind == LW_O_SINK && d->parts[0].kind != LW_O_SINK) *d = d->parts[0];
}

static void operands(lw_verifier *v, lw_instruction *i) {
    const lw_match *m = v->match;
    if (i->operand_count < m->operands_min || i->operand_count > m->operands_max) {
        wrong_count(v);
        return;
    }
    bool plain = m->operands_min == m->operands_max;
    if (!plain && !alternatives_fit(v, i)) return;
    if (i->operand_count > m->operands_min) optional_operands(v, i);
    if (i->operand_count) drop_second(m, &i->operands[0]);
    uint32_t errors = v->diags->errors;
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const lw_operand_form *form = plain ? &m->operand_forms[k] : lw_ptx_operand_form(m, i->operand_count, k);
        if (LW_LIKELY(lw_is_plain(&i->operands[k], form))) continue;
        if (form->shape >= LW_SHAPE_ANY) {
            if (LW_UNLIKELY(i->operands[k].minus)) lw_verify_minus(v, &i->operands[k]);
            continue;
        }
        lw_verify_operand(v, &i->operands[k], form, k + 1);
        if (LW_UNLIKELY(v->diags->errors != errors)) return; /* what is behind the first fault is often its echo */
    }
    if (!plain) merge(v);
    if (LW_UNLIKELY(i->operands && m->operand_form_count && m->operand_forms[m->operand_form_count - 1].negatable))
        negations(v);
    if (m->form->lower) lw_verify_extra(v);
}

static void instruction(lw_verifier *v, lw_instruction *i) {
    v->instruction = i;
    if (i->guard) guard(v);
    const lw_match *m = v->match = i->match = lw_ptx_match(v->module, i, NULL);
    if (LW_UNLIKELY(!m)) {
        no_match(v);
        return;
    }
    if (LW_UNLIKELY(m->gated)) gates(v);
    if (m->form->lower == LW_LOWER_call) lw_verify_call(v);
    else operands(v, i);
    i->words = m->words;
    i->word_count = m->word_count;
}

/* Faults beyond those that are shown are not worth finding. */
static bool enough(const lw_diags *diags) { return LW_UNLIKELY(diags->limit && diags->errors > diags->limit); }

void lw_ptx_verify(lw_module_ptx *module) {
    lw_verifier v = {.module = module, .diags = module->diags};
    for (uint32_t f = 0; f < module->functions.count; f++) {
        v.function = module->functions.at[f];
        for (uint32_t s = 0; s < v.function->body.count && !enough(module->diags); s++)
            if (v.function->body.at[s].kind == LW_S_INSTRUCTION) instruction(&v, v.function->body.at[s].instruction);
    }
}
