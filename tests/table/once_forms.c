/* once_forms.c: the table of instruction forms is well formed: patterns parse, every spelling belongs to one row, lane
 * functions and lowerings that rows name exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/lane_id.h"
#include "front/ptx/ptx.h"

enum { CAP = 3000, WORDS_MAX = 32 };

/* What any spelling of the table has. */
static bool modifiers[LW_MOD_count], meanings[LW_MEANINGS + 1];

typedef struct table {
    lw_arena arena;
    lw_module_ptx module;
    const lw_form *form;
    uint32_t spellings, faults;
} table;

static void fault(table *t, const char *what, const char *detail) {
    if (t->faults++ < 6) fprintf(stderr, "%s: %s: %s\n", t->form->id, what, detail);
}

static void table_init(table *t) {
    *t = (table){0};
    lw_arena_init(&t->arena);
    lw_symbols_init(&t->module.symbols, &t->arena);
    t->module.arena = &t->arena;
    t->module.version = 90;
    t->module.target = 999;
    t->module.target_suffix = 'a';
}

static uint32_t split(table *t, const char *spelling, lw_symbol **words) {
    uint32_t n = 0;
    for (const char *p = spelling; *p && n < WORDS_MAX;) {
        size_t size = strcspn(p, ".");
        words[n++] = lw_symbol_get(&t->module.symbols, p, (uint32_t)size);
        p += size + (p[size] == '.');
    }
    return n;
}

/* ---- Every pattern parses ----------------------------------------------------------------------------- */

static bool balanced(const char *text) {
    int brace = 0, paren = 0;
    for (; *text; text++) {
        brace += (*text == '{') - (*text == '}');
        paren += (*text == '(') - (*text == ')');
        if (brace < 0 || paren < 0 || paren > 1) return false;
    }
    return !brace && !paren;
}

static const char *pattern_fault(const char *p) {
    if (!balanced(p)) return "brackets do not match";
    if (!(*p >= 'a' && *p <= 'z')) return "the opcode must come first";
    if (strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.|(){}*") != strlen(p))
        return "odd character";
    if (strstr(p, "..") || strstr(p, "||") || strstr(p, "(|") || strstr(p, "|)") || strstr(p, "()"))
        return "empty word";
    for (const char *q = p; (q = strchr(q, '(')); q++)
        if (q[-1] != '.') return "a group must follow a dot";
    for (const char *q = p; (q = strchr(q, '{')); q++)
        if (q[1] != '.') return "an optional element must begin with a dot";
    const char *star = strchr(p, '*');
    if (star && star[1]) return "* must be the last element";
    return NULL;
}

static void patterns_parse(void **state) {
    (void)state;
    table t;
    table_init(&t);
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        t.form = &lw_ptx_forms[i];
        const char *why = pattern_fault(t.form->pattern);
        if (why) fault(&t, why, t.form->pattern);
        if (!t.form->section || !t.form->does || !t.form->operands)
            fault(&t, "section, does and operands", "must be given");
        for (uint32_t j = 0; j < i; j++)
            if (!strcmp(lw_ptx_forms[j].id, t.form->id)) fault(&t, "name used twice", t.form->id);
    }
    lw_arena_free(&t.arena);
    assert_int_equal(t.faults, 0);
}

/* ---- Every spelling belongs to one row, and what it names exists --------------------------------------- */

static void check_operands(table *t, const lw_match *m, const char *spelling) {
    for (uint32_t i = 0; i < m->operand_form_count; i++) {
        const lw_operand_form *o = &m->operand_forms[i];
        const char *end = o->name + strcspn(o->name, ",");
        bool any = strstr(t->form->operands, ":any") || strstr(t->form->operands, "\xe2\x80\xa6");
        if (o->shape == LW_SHAPE_ANY && !any) fault(t, "operand attribute not understood", spelling);
        if (o->shape < LW_SHAPE_IMM && o->type == LW_T_none && o->shape != LW_SHAPE_REG && !o->is_address)
            fault(t, "operand without a type", spelling);
        if (!o->name_size && o->shape != LW_SHAPE_REST) fault(t, "operand without a name", end);
    }
}

/* Functions that stand for one value of another one's constant. */
static bool is_own(uint16_t lane) {
    static const lw_lane_id own[] = {
#define OWN(function, how, own) LW_LANE_##own,
#include "lane_own.def"
    };
    for (size_t i = 0; i < LW_COUNT(own); i++)
        if (own[i] == lane) return true;
    return false;
}

/* Of an executable spelling no two words are of one field, where the second would be lost; and modes that its lowering
 * asks for are there. */
static void check_modes(table *t, const lw_match *m, const char *spelling) {
    uint8_t seen[LW_FIELD_count] = {0};
    for (uint32_t i = 1; i < m->word_count; i++) {
        const lw_symbol *word = m->words[i];
        lw_modifier_id id = lw_word_value_of(word->text, word->size, word->hash).modifier;
        modifiers[id] = true;
        if (!id || !m->executable || lw_lowerings[m->form->lower].unmodified) continue;
        if (seen[lw_modifiers[id].field]++) fault(t, "two words of one field", spelling);
        if (m->mode.at[lw_modifiers[id].field] != id) fault(t, "a word that no field has", spelling);
    }
    meanings[m->meaning] = true;
    if (m->form->lower && !m->executable) fault(t, "its lowering has no mode for it", spelling);
    const bool constant = m->lane && lw_lanes[m->lane].how;
    if (m->lane && !m->form->lower && m->lane != LW_LANE_lop3 && constant != (m->form->how && !is_own(m->lane)))
        fault(t, "a constant of modifiers, or none", spelling);
}

static void check_spelling(void *with, const char *spelling) {
    table *t = with;
    lw_symbol *words[WORDS_MAX];
    uint32_t count = split(t, spelling, words), fits = 0;
    const lw_form *other = NULL;
    t->spellings++;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++)
        if (lw_ptx_form_fits(&lw_ptx_forms[i], words, count)) {
            fits++;
            if (&lw_ptx_forms[i] != t->form) other = &lw_ptx_forms[i];
        }
    if (fits != 1) fault(t, other ? other->id : "no row", spelling);
    lw_instruction instruction = {.word_count = count, .words = words};
    instruction.mnemonic = lw_symbol_get(&t->module.symbols, spelling, (uint32_t)strlen(spelling));
    const lw_match *m = lw_ptx_match(&t->module, &instruction, NULL);
    if (!m) {
        fault(t, "does not match", spelling);
        return;
    }
    if (m->form != t->form) fault(t, "matches another row", spelling);
    if (t->form->lane && !m->lane) fault(t, "no such lane function", spelling);
    check_operands(t, m, spelling);
    check_modes(t, m, spelling);
}

static void spellings_match_one_row(void **state) {
    (void)state;
    uint32_t faults = 0, spellings = 0, executable = 0;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        table t;
        table_init(&t);
        t.form = &lw_ptx_forms[i];
        lw_ptx_spellings(t.form, CAP, check_spelling, &t);
        if (!t.spellings) fault(&t, "has no spelling", t.form->pattern);
        faults += t.faults;
        spellings += t.spellings;
        executable += t.form->lane || t.form->lower;
        lw_arena_free(&t.arena);
    }
    printf("%u forms, %u of them executable, %u spellings\n", lw_ptx_form_count, executable, spellings);
    assert_int_equal(faults, 0);
    for (uint32_t i = 1; i < LW_MOD_count; i++)
        if (!modifiers[i]) fail_msg("no form has .%s", lw_modifiers[i].text);
    for (uint32_t i = 1; i <= LW_MEANINGS; i++)
        if (!meanings[i]) fail_msg("no form has the meaning of row %u", i);
}

/* A word that no form has makes the spelling fail, wherever it stands. */
static void nonsense_does_not_match(void **state) {
    (void)state;
    table t;
    table_init(&t);
    static const char *const bad[] = {
        "add",       "add.s33",     "add.s32.s32", "add.b32",         "nand.b32", "shf.l.b32",   "shf.x.wrap.b32",
        "ld.global", "setp.lt.b32", "mul.s32",     "cvt.rzi.s32.s64", "fence",    "atom.add.s64"};
    for (size_t i = 0; i < LW_COUNT(bad); i++) {
        lw_symbol *words[WORDS_MAX];
        lw_instruction instruction = {.words = words, .word_count = split(&t, bad[i], words)};
        instruction.mnemonic = lw_symbol_get(&t.module.symbols, bad[i], (uint32_t)strlen(bad[i]));
        lw_text why = {0};
        if (lw_ptx_match(&t.module, &instruction, &why)) fail_msg("%s matches", bad[i]);
        assert_true(why.size > 0);
        lw_text_free(&why);
    }
    lw_arena_free(&t.arena);
}

/* ptxas takes modifiers in other orders; the types keep theirs. */
static void order_is_free(void **state) {
    (void)state;
    table t;
    table_init(&t);
    static const char *const loose[][3] = {{"atom.add.release.gpu.s32", "ATOM_ADD", "s32"},
                                           {"add.s32.sat", "ADD_SAT", "s32"},
                                           {"ld.u32.global", "LD", "u32"},
                                           {"cvt.f32.rn.s64", "CVT_F32_FROM_INT", "s64"}};
    for (size_t i = 0; i < LW_COUNT(loose); i++) {
        lw_symbol *words[WORDS_MAX];
        lw_instruction instruction = {.words = words, .word_count = split(&t, loose[i][0], words)};
        instruction.mnemonic = lw_symbol_get(&t.module.symbols, loose[i][0], (uint32_t)strlen(loose[i][0]));
        const lw_match *m = lw_ptx_match(&t.module, &instruction, NULL);
        assert_non_null(m);
        assert_string_equal(m->form->id, loose[i][1]);
        assert_string_equal(lw_types[m->type].name, loose[i][2]);
    }
    lw_arena_free(&t.arena);
}

/* The one word at fault is named, and what could stand there. */
static void faults_are_explained(void **state) {
    (void)state;
    table t;
    table_init(&t);
    static const char *const faults[][2] = {
        {"add.rn.u32", "'.rn' does not fit 'add' here"},
        {"div.f32", "'div.f32' lacks a modifier: .approx .full .rn .rz .rm .rp may stand here"},
        {"mul.u32", "'mul.u32' lacks a modifier: .lo .hi .wide may stand here"},
        {"shl.u32", "'.u32' does not fit 'shl' here: .b16 .b32 .b64 may stand here"},
        {"setp.lo.s32", "'.lo' does not fit 'setp' here: .eq .ne .lt .le .gt .ge may stand here"},
        {"cvt.f32.f64", "'cvt.f32.f64' lacks a modifier: .rn .rz .rm .rp may stand here"},
        {"nand.b32", "'nand' is no instruction"},
    };
    for (size_t i = 0; i < LW_COUNT(faults); i++) {
        lw_symbol *words[WORDS_MAX];
        lw_instruction instruction = {.words = words, .word_count = split(&t, faults[i][0], words)};
        instruction.mnemonic = lw_symbol_get(&t.module.symbols, faults[i][0], (uint32_t)strlen(faults[i][0]));
        lw_text why = {0};
        assert_null(lw_ptx_match(&t.module, &instruction, &why));
        assert_string_equal(why.at, faults[i][1]);
        lw_text_free(&why);
    }
    lw_arena_free(&t.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_parse),          cmocka_unit_test(spellings_match_one_row),
        cmocka_unit_test(nonsense_does_not_match), cmocka_unit_test(order_is_free),
        cmocka_unit_test(faults_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
