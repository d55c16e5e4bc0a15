/* modifiers.c: the words behind an opcode: types, spaces and modifiers by their texts, and what modifiers mean
 * together; gates of words. The only file beside the parser and forms.c that compares texts of words (tree/words
 * looks). */
#include "front/ptx/forms.h"
#include "lanewise/lane/how.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define A          0xf0
#define B          0xcc
#define ALSO(name) LW_FIELD_##name + 1
#define FIELD(name)
#define MODIFIER(field_, id, text_, ...) [LW_MOD_##id] = {.text = text_, .field = LW_FIELD_##field_, __VA_ARGS__},
const lw_modifier lw_modifiers[LW_MOD_count] = {
#include "ptx/modifiers.def"
};
#undef A
#undef B

#define MODES(kind) LW_MEANS_##kind
const lw_lowering_row lw_lowerings[LW_LOWER_count] = {
#define LOWERING(name_, ...) [LW_LOWER_##name_] = {.name = #name_, __VA_ARGS__},
#include "ptx/lowerings.def"
};

/* ---- Words by their texts --------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    uint8_t size;
    lw_word_value value;
} words[] = {
#define TYPE(name, bits, kind) {#name, sizeof #name - 1, {.type = LW_T_##name}},
#include "ptx/types.def"
#define SPACE(name)           {#name, sizeof #name - 1, {.space = LW_SPACE_##name}},
#define PART(name, text, ...) {text, sizeof text - 1, {.space = LW_SPACE_##name, __VA_ARGS__}},
#include "ptx/spaces.def"
#define FIELD(name)
#define MODIFIER(field, id, text, ...) {text, sizeof text - 1, {.modifier = LW_MOD_##id}},
#include "ptx/modifiers.def"
};

/* 1 + a word, at the hash of its text or in the next free place behind. */
enum { SLOTS = 512 };
static uint8_t slots[SLOTS];
_Static_assert(LW_COUNT(words) <= UINT8_MAX, "words must be countable in a byte");
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static void fill_slots(void) {
    for (uint32_t i = 0; i < LW_COUNT(words); i++) {
        uint32_t at = lw_hash(words[i].text, words[i].size) % SLOTS;
        while (slots[at]) at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)(i + 1);
    }
}

lw_word_value lw_word_value_of(const char *text, size_t size, uint32_t hash) {
    pthread_once(&slots_once, fill_slots);
    for (uint32_t at = hash % SLOTS; slots[at]; at = (at + 1) % SLOTS)
        if (words[slots[at] - 1].size == size && !memcmp(words[slots[at] - 1].text, text, size))
            return words[slots[at] - 1].value;
    return (lw_word_value){0};
}

lw_type lw_type_find(const char *name, size_t size) { return lw_word_value_of(name, size, lw_hash(name, size)).type; }

lw_space lw_space_named(const char *text, size_t size) {
    return lw_word_value_of(text, size, lw_hash(text, size)).space;
}

/* ---- Gates of words --------------------------------------------------------------------------------------- */

#define V(major, minor) ((major)*10 + (minor))
#define SM(number)      (number)
static const lw_gate gates[] = {
#define GATE(opcode, word, isa, sm)    {opcode, word, LW_T_none, isa, sm},
#define GATE_WITH(word, type, isa, sm) {"*", word, LW_T_##type, isa, sm},
#include "ptx/gates.def"
};

/* Gates by the word that they are about: 1 + gate, by hash of the word. */
enum { GATE_SLOTS = 256 };
static uint8_t first_gate[GATE_SLOTS];
static uint8_t next_gate[LW_COUNT(gates)];
_Static_assert(LW_COUNT(gates) < 255, "gates must be countable in a byte");
static pthread_once_t gates_once = PTHREAD_ONCE_INIT;

static void index_gates(void) {
    for (size_t g = LW_COUNT(gates); g-- > 0;) {
        uint32_t slot = lw_hash(gates[g].word, strlen(gates[g].word)) % GATE_SLOTS;
        next_gate[g] = first_gate[slot];
        first_gate[slot] = (uint8_t)(g + 1);
    }
}

static bool has_type(const lw_walk *w, lw_type type) {
    for (uint32_t i = 1; i < w->count; i++)
        if (w->value[i].type == type) return true;
    return false;
}

const lw_gate *lw_gate_of(const lw_walk *w, uint32_t i, const lw_gate *after) {
    pthread_once(&gates_once, index_gates);
    for (uint32_t g = after ? next_gate[after - gates] : first_gate[w->words[i]->hash % GATE_SLOTS]; g;
         g = next_gate[g - 1])
        if (!strcmp(gates[g - 1].word, w->words[i]->text) &&
            (*gates[g - 1].opcode == '*' || !strcmp(gates[g - 1].opcode, w->words[0]->text)) &&
            (!gates[g - 1].with || has_type(w, gates[g - 1].with)))
            return &gates[g - 1];
    return NULL;
}

/* ---- What they mean together ------------------------------------------------------------------------------- */

#define BIT(name) (1u << LW_T_##name)
#define ANY       UINT32_MAX
#define SIGNED    (BIT(s8) | BIT(s16) | BIT(s32) | BIT(s64))
#define f32       BIT(f32)
#define FLOAT     (BIT(f32) | BIT(f64))
#define HALF      (BIT(f16) | BIT(bf16) | BIT(f16x2) | BIT(bf16x2))
static const struct {
    uint8_t kind, word;
    uint32_t types;
} meanings[] = {
#define MEANS(kind, word, types, mode) {LW_MEANS_##kind, LW_MOD_##word, types},
#include "ptx/meanings.def"
};
_Static_assert(LW_COUNT(meanings) == LW_MEANINGS && LW_MEANINGS <= UINT8_MAX, "meanings must be countable in a byte");

static uint8_t meaning_of(const lw_match *m) {
    lw_meaning_kind kind = lw_lowerings[m->form->lower].means;
    for (uint32_t i = 0; i < LW_MEANINGS && kind; i++)
        if (meanings[i].kind == kind && m->mode.at[lw_modifiers[meanings[i].word].field] == meanings[i].word &&
            meanings[i].types >> m->type & 1)
            return (uint8_t)(i + 1);
    return 0;
}

void lw_modes_make(lw_match *m, const lw_walk *w) {
    uint32_t types = 0;
    m->elements = 1;
    for (uint32_t i = 1; i < w->count; i++) {
        lw_word_value word = w->value[i];
        const lw_modifier *modifier = &lw_modifiers[word.modifier];
        if (word.type) m->type = word.type;
        if (word.type && types < LW_COUNT(m->types)) m->types[types++] = word.type;
        if (!m->space) m->space = word.space;
        m->of_cluster |= word.of_cluster;
        if (!word.modifier) continue;
        m->mode.at[modifier->field] = word.modifier;
        if (modifier->also) m->mode.at[modifier->also - 1] = word.modifier;
        if (modifier->elements) m->elements = modifier->elements;
        m->racy |= modifier->racy;
        m->how += modifier->how;
    }
    m->meaning = meaning_of(m);
}

/* ---- Words of matrices -------------------------------------------------------------------------------------- */

static lw_element element_of(const lw_symbol *word) {
    for (uint32_t i = 1; i < LW_ELEMENT_count; i++)
        if (!strcmp(lw_elements[i].name, word->text)) return (lw_element)i;
    return LW_ELEMENT_none;
}

/* m16n8k16, m8n8 */
static void read_shape(const char *text, lw_matrix_shape *shape) {
    unsigned m, n, k = 0;
    if (sscanf(text, "m%un%uk%u", &m, &n, &k) < 2) return;
    *shape = (lw_matrix_shape){(uint16_t)m, (uint16_t)n, (uint16_t)k};
}

/* The number that a word has between what it begins and what it ends with; 0: it is another word. */
static uint8_t number_within(const char *text, const char *begin, const char *end) {
    if (strncmp(text, begin, strlen(begin)) != 0) return 0;
    char *rest;
    const unsigned long number = strtoul(text + strlen(begin), &rest, 10);
    return strcmp(rest, end) ? 0 : (uint8_t)number;
}

void lw_matrix_words_make(lw_match *m) {
    lw_matrix_words *w = &m->matrices;
    uint32_t layouts = 0;
    for (uint32_t i = 1; i < m->word_count; i++) {
        const char *text = m->words[i]->text;
        const lw_element element = element_of(m->words[i]);
        const bool row = !strcmp(text, "row"), column = !strcmp(text, "col");
        if (element && w->element_count < LW_MATRIX_WORDS) w->elements[w->element_count++] = (uint8_t)element;
        if ((row || column) && layouts < LW_COUNT(w->layouts))
            w->layouts[layouts++] = column ? LW_LAYOUT_column : LW_LAYOUT_row;
        read_shape(text, &w->shape);
        w->of_kind |= !strncmp(text, "kind::", strlen("kind::"));
        w->scales |= number_within(text, "scale_vec::", "X");
        w->unpacked |= number_within(text, "b", "x16_p32") | number_within(text, "b", "x16_p64");
    }
}
