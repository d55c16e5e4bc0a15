/* match.c: what a spelling means by its row: lane function, gates; modifiers.c has its types and modes, operand_form.c
 * its operands. Made once for each distinct spelling of a module, or of all modules that share spellings, and kept in
 * the mnemonic's symbol. */
#include "front/ptx/forms.h"

#include "base/lane_id.h"
#include "lanewise/lane/how.h"

#include <pthread.h>
#include <stdio.h>

#define V(major, minor) ((major)*10 + (minor))
#define SM(number)      (number)
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/* ---- A match ------------------------------------------------------------------------------------------ */

/* What modules for targets before sm_20 mean by arithmetic of .f32, and later hardware does with them: .ftz, said or
 * not. */
static bool always_flushes(const lw_module_ptx *module) { return module->target < SM(20); }

static lw_lane_id flushing(const char *name, size_t size) {
    char other[64];
    if (size < 4 || size + 4 >= sizeof other || strcmp(name + size - 4, "_f32")) return LW_LANE_none;
    if (!strncmp(name, "setp_", 5)) return LW_LANE_setp_ftz_f32;
    snprintf(other, sizeof other, "%.*s_ftz_f32", (int)size - 4, name);
    return lw_lane_find(other);
}

/* "@12": what compares numbers of the type in group 2 by the word in group 1. Integers are equal by their bits; of half
 * precision, and with .ftz, one function does all comparisons. */
static int comparison(const lw_match *m, const char *groups, char *name, size_t size) {
    const char *text = m->group[groups[1] - '0'];
    const lw_type type = lw_type_find(text, strlen(text));
    const lw_modifier *word = &lw_modifiers[m->mode.compare];
    const bool equality = m->mode.compare == LW_MOD_eq || m->mode.compare == LW_MOD_ne;
    if (type == LW_T_f16 || type == LW_T_bf16) return snprintf(name, size, "%s", text);
    if (type == LW_T_f32 && m->mode.ftz) return snprintf(name, size, "ftz_f32");
    if (equality && lw_types[type].kind != 'F') return snprintf(name, size, "%s_b%u", word->text, lw_types[type].bits);
    return snprintf(name, size, "%s_%s", word->as ? lw_modifiers[word->as].text : word->text, text);
}

/* The lane function's name by a template of the row. */
static lw_lane_id lane_of(const lw_match *m, const lw_module_ptx *module, const char *template) {
    char name[64];
    size_t n = 0;
    for (const char *p = template; *p && n + 24 < sizeof name; p++) {
        if (*p == '@') {
            n += (size_t)comparison(m, ++p, name + n, sizeof name - n);
            p++;
            continue;
        }
        if (*p != '$' && *p != '%' && *p != '#' && *p != '?') {
            name[n++] = *p;
            continue;
        }
        char how = *p++;
        const char *text = m->group[*p - '0'];
        size_t size = strlen(text);
        if (how == '%' || how == '#') {
            n += (size_t)snprintf(name + n, 16, how == '%' ? "b%u" : "%u", lw_types[lw_type_find(text, size)].bits);
            continue;
        }
        if (how == '?' && size) name[n++] = '_';
        if (size > 20) return LW_LANE_none; /* no lane function has such a part */
        memcpy(name + n, text, size);
        n += size;
    }
    name[n] = 0;
    lw_lane_id found = always_flushes(module) ? flushing(name, n) : LW_LANE_none;
    return found ? found : lw_lane_find(name);
}

/* Is there an address without a space? */
static bool is_generic(const lw_match *m) {
    for (uint32_t i = 0; i < m->operand_form_count && !m->space; i++)
        if (m->operand_forms[i].shape == LW_SHAPE_ADDRESS && !m->operand_forms[i].space && !m->operand_forms[i].opaque)
            return true;
    return false;
}

/* Of words that ask for the same, the one whose gate is listed first is named. */
static void set_gates(const lw_walk *w, lw_match *m, const lw_module_ptx *module) {
    const lw_gate *isa_gate = NULL, *sm_gate = NULL;
    const lw_form *f = m->form;
    m->isa = f->isa;
    m->sm = f->sm;
    if (f->or_isa && module->version >= f->or_isa && module->target >= f->or_sm) {
        m->isa = f->or_isa;
        return;
    }
    if (is_generic(m)) {
        if (m->isa < V(2, 0)) m->isa = V(2, 0);
        if (m->sm < SM(20)) m->sm = SM(20);
    }
    for (uint32_t i = 1; i < w->count; i++)
        for (const lw_gate *gate = lw_gate_of(w, i, NULL); gate; gate = lw_gate_of(w, i, gate)) {
            if (gate->isa > m->isa || (gate->isa == m->isa && isa_gate && gate < isa_gate))
                m->isa = gate->isa, m->isa_word = (uint8_t)i, isa_gate = gate;
            if (gate->sm > m->sm || (gate->sm == m->sm && sm_gate && gate < sm_gate))
                m->sm = gate->sm, m->sm_word = (uint8_t)i, sm_gate = gate;
        }
}

/* Does this module stand outside of any gate? Asked once a spelling. */
static void set_gated(const lw_module_ptx *module, lw_match *m) {
    const lw_form *f = m->form;
    bool is_gone = f->gone_isa && module->version >= f->gone_isa && module->target >= f->gone_sm;
    m->gated = module->version < m->isa || module->target < m->sm || (f->family && !module->target_suffix) || is_gone ||
               (f->old_isa && (module->version >= f->old_isa || f->gone_isa)) || m->fault || m->late_vector ||
               (f->last && module->target > f->last);
}

/* ---- Rules of combinations that patterns cannot say ----------------------------------------------------- */

/* The first word for a cache of this level; a field alone where there is one. 0: none. */
static uint32_t cache_word(const lw_walk *w, uint32_t level) {
    for (uint32_t i = 1; i < w->count; i++)
        if (lw_modifiers[w->value[i].modifier].level == level) return i;
    return 0;
}

static uint32_t word_of_field(const lw_walk *w, lw_modifier_field field) {
    for (uint32_t i = 1; i < w->count; i++)
        if (w->value[i].modifier && lw_modifiers[w->value[i].modifier].field == field) return i;
    return 0;
}

static void set_fault(lw_match *m, uint32_t word, const char *text) {
    if (m->fault || !word) return;
    m->fault = text;
    m->fault_word = (uint8_t)word;
}

/* Vectors have at most 128 bits, or 256 in global memory of the newest targets (manual section 9.7.9.8). */
static bool vector_of_256(const lw_walk *w, lw_match *m) {
    uint32_t word = word_of_field(w, LW_FIELD_vector), bits = lw_types[m->type].bits, total = bits * m->elements;
    if (total <= 128) {
        if (m->elements == 8) set_fault(m, word, "a vector of 8 needs elements of 32 bits");
        return false;
    }
    if (total != 256 || bits > 64 || (m->form->most && total > m->form->most)) {
        set_fault(m, word, "the vector is wider than 128 bits");
        return false;
    }
    if (m->space && m->space != LW_SPACE_global)
        set_fault(m, word, "a vector of 256 bits must be in the space .global");
    if (m->isa < V(8, 8)) m->isa = V(8, 8), m->isa_word = (uint8_t)word;
    if (m->sm < SM(100)) m->sm = SM(100), m->sm_word = (uint8_t)word;
    return true;
}

static void spelling_fault(const lw_walk *w, lw_match *m) {
    bool memory = lw_lowerings[m->form->lower].memory, wide = false;
    if (memory || m->form->lower == LW_LOWER_mov) wide = vector_of_256(w, m);
    if ((memory && m->space && m->space != LW_SPACE_global) || (m->form->hints && m->space == LW_SPACE_shared)) {
        set_fault(m, cache_word(w, 1), "a cache modifier needs the space .global or a generic address");
        set_fault(m, cache_word(w, 2), "a cache modifier needs the space .global or a generic address");
    }
    if (memory && !wide)
        set_fault(m, word_of_field(w, LW_FIELD_evict2),
                  "an L2 eviction priority needs a vector of 256 bits: .v8.b32 or .v4.b64");
}

/* Does something else than a type follow .v2 or the like, or nothing? */
static bool is_late(const lw_walk *w) {
    uint32_t word = word_of_field(w, LW_FIELD_vector);
    return word && (word + 1 == w->count || !(w->types >> (word + 1) & 1));
}

/* ---- The match itself ----------------------------------------------------------------------------------- */

static void explain(const lw_instruction *i, lw_text *why) {
    const char *opcode = i->words[0]->text;
    lw_text expected = {0};
    if (!lw_ptx_is_opcode(i->words[0])) {
        lw_text_say(why, "'%s' is no instruction", opcode);
        return;
    }
    lw_mismatch found = lw_form_explain(i->words, i->word_count, &expected);
    if (found.edit == LW_EDIT_insert) lw_text_say(why, "'%s' lacks a modifier", i->mnemonic->text);
    else lw_text_say(why, "'.%s' does not fit '%s' here", i->words[found.word]->text, opcode);
    if (expected.size) lw_text_say(why, ":%.*s may stand here", (int)expected.size - 1, expected.at);
    lw_text_free(&expected);
}

static uint32_t group_count(const char *pattern) {
    uint32_t n = 0;
    while ((pattern = strchr(pattern, '('))) n++, pattern++;
    return n < LW_GROUPS_MAX ? n : LW_GROUPS_MAX;
}

lw_match *lw_match_make(lw_arena *arena, const lw_module_ptx *module, const lw_form *form, const lw_walk *w) {
    lw_match *m = LW_NEW(arena, lw_match);
    m->form = form;
    m->group_count = group_count(form->pattern);
    for (uint32_t i = 0; i <= LW_GROUPS_MAX; i++) m->group[i] = w->group[i] ? w->group[i] : "";
    lw_modes_make(m, w);
    m->words = w->loose || w->passed ? lw_arena_copy(arena, w->words, w->count * sizeof *w->words) : w->words;
    m->word_count = w->count;
    for (uint32_t i = 1; i < w->count && w->loose; i++) m->words[i] = w->words[w->order[i]];
    if (lw_lowerings[form->lower].matrices) lw_matrix_words_make(m);
    lw_operand_forms_make(arena, m);
    if (form->how && always_flushes(module)) m->how |= LW_FLOAT_FTZ;
    if (form->lane) m->lane = (uint16_t)lw_lane_own(lane_of(m, module, form->lane), m->how);
    if (form->first) m->first = (uint16_t)lane_of(m, module, form->first);
    m->executable = (m->lane || form->lower) && (m->first || !form->first) &&
                    (m->meaning || !lw_lowerings[form->lower].means);
    set_gates(w, m, module);
    m->late_vector = w->loose && is_late(w);
    spelling_fault(w, m);
    if (w->passed)
        m->isa_word = m->sm_word = m->fault_word = 0; /* they would count other words than those that are written */
    set_gated(module, m);
    if (m->lane && !form->lower && m->operands_max > m->operands_min) {
        lw_match *longer = lw_arena_copy(arena, m, sizeof *m);
        longer->lane = 0;
        longer->executable = false;
        m->longer = longer;
    }
    return m;
}

const lw_match *lw_ptx_match(lw_module_ptx *module, const lw_instruction *i, lw_text *why) {
    if (LW_LIKELY(i->mnemonic->form)) return i->mnemonic->form;
    const lw_match *m = lw_spellings_find(module, i->mnemonic);
    if (!m) {
        pthread_once(&tables_once, lw_agreements_fill);
        lw_walk w;
        const lw_form *form = lw_form_find(&w, i->words, i->word_count);
        if (!form) {
            if (why) explain(i, why);
            return NULL;
        }
        m = lw_spellings_add(module, i->mnemonic, form, &w);
        if (!m) m = lw_match_make(module->arena, module, form, &w);
    }
    i->mnemonic->form = m;
    return m;
}
