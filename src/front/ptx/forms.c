/* forms.c: the rows of isa/ptx/forms.def, and which of them takes a spelling.
 *
 * Patterns are walked as they are written; an index by opcode, and by which words a row can take at all, makes that one
 * or two rows for each distinct spelling of a module. */
#include "front/ptx/forms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define V(major, minor) ((major)*10 + (minor))
#define SM(number)      (number)
#define GONE(isa, sm)   isa, .gone_sm = sm
#define OR(isa, sm)     isa, .or_sm = sm
#define MORE(isa, sm)   isa, .more_sm = sm
#define LANE(name)      name
#define BY(name)        LW_LOWER_##name
#define SHORT           LW_NARROW_16
#define A               0xf0
#define B               0xcc
#define SIZE            LW_AGREE_size
#define WIDE            LW_AGREE_wide
#define gone            gone_isa
#define or or_isa
#define old                                 old_isa
#define more                                more_isa
#define FORM(id_, pattern_, operands_, ...) {.id = #id_, .pattern = pattern_, .operands = operands_, __VA_ARGS__},
const lw_form lw_ptx_forms[] = {
#include "ptx/forms.def"
};
#undef BY
#undef A
#undef B
#undef gone
#undef or
#undef old
#undef more

const uint32_t lw_ptx_form_count = LW_COUNT(lw_ptx_forms);

typedef struct class {
    const char *name;
    size_t size;
    const char *alternatives;
} class;
static const class classes[] = {
#define CLASS(name, alternatives) {#name, sizeof #name - 1, alternatives},
#include "ptx/types.def"
};
static uint32_t
    class_starts[LW_COUNT(classes)]; /* which letters its alternatives start with, as bits; made with the index */
static uint64_t class_words[LW_COUNT(classes)]; /* its alternatives as word bits; made with the index */

static uint32_t letter_bit(char c) { return 1u << (c & 31); }

static const class *find_class(const char *name, size_t size) {
    if (*name < 'A' || *name > 'Z') return NULL;
    for (size_t c = 0; c < LW_COUNT(classes); c++)
        if (classes[c].size == size && !memcmp(classes[c].name, name, size)) return &classes[c];
    return NULL;
}

/* The alternatives that a word in capitals stands for, or NULL where it is a word itself. */
static const char *class_of(const char *name, size_t size) {
    const class *found = find_class(name, size);
    return found ? found->alternatives : NULL;
}

/* What ends a word of a pattern: a few dozen bytes of patterns are read for each distinct spelling of a module, which
 * is most of the time that a small file takes. */
enum { ENDS_ALTERNATIVE = 1, ENDS_WORD = 2, IS_BRACKET = 4 };
static const uint8_t marks[256] = {
    [0] = ENDS_ALTERNATIVE | ENDS_WORD | IS_BRACKET,
    ['|'] = ENDS_ALTERNATIVE,
    ['.'] = ENDS_WORD,
    ['*'] = ENDS_WORD,
    [' '] = ENDS_WORD,
    ['{'] = ENDS_WORD | IS_BRACKET,
    ['}'] = ENDS_WORD | IS_BRACKET,
    ['('] = IS_BRACKET,
    [')'] = ENDS_ALTERNATIVE | IS_BRACKET,
};

static const char *find_mark(const char *p, int mark) {
    while (!(marks[(unsigned char)*p] & mark)) p++;
    return p;
}

/* ---- Index: opcode → its rows, row → the words it can take --------------------------------------------- */

enum { SLOTS = 1024 };
static uint16_t first_row[SLOTS];                 /* 1 + row, by hash of the opcode */
static uint16_t next_row[LW_COUNT(lw_ptx_forms)]; /* 1 + next row of the same slot */
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

/* What every spelling of a row has: words out of a set, as bits that a word shares with few others, and how many. Most
 * rows of an opcode are out of question by that. Found when a row is first asked: a process that loads one small module
 * meets few of them. Threads may find the same at the same time. */
typedef struct bounds {
    uint64_t words;
    uint8_t least, most;
} bounds;
static _Atomic uint64_t row_words[LW_COUNT(lw_ptx_forms)];
static _Atomic uint16_t
    row_counts[LW_COUNT(lw_ptx_forms)]; /* least | most << 8, set behind the words; 0: not found yet */

static uint64_t word_bit(const char *word, size_t size) {
    return size ? (uint64_t)1 << ((5u * (unsigned char)word[0] + 3u * (unsigned char)word[size - 1] + 11u * size) & 63)
                : 0;
}

static uint32_t opcode_size(const char *pattern) { return (uint32_t)strcspn(pattern, ".{* "); }

/* The words of "a|b|CLASS|c"; classes that a class names must be known already. */
static uint64_t list_words(const char *list) {
    uint64_t words = 0;
    for (const char *p = list;; p++) {
        const char *from = p;
        p = find_mark(p, ENDS_ALTERNATIVE);
        const class *inner = find_class(from, (size_t)(p - from));
        words |= inner ? class_words[inner - classes] : word_bit(from, (size_t)(p - from));
        if (*p != '|') return words;
    }
}

/* A row that ends in * takes anything. */
static bounds find_bounds(const char *pattern) {
    bounds found = {.least = 1, .most = 1}; /* the opcode */
    bool optional = false;
    for (const char *p = pattern + opcode_size(pattern), *end; *p; p = end) {
        end = p + 1;
        if (*p == '{' || *p == '}') optional = *p == '{';
        if (*p == '*') return (bounds){UINT64_MAX, found.least, UINT8_MAX};
        if (*p != '.' || p[1] == '*') continue;
        bool is_group = p[1] == '(';
        end = is_group ? strchr(p, ')') : find_mark(p + 1, ENDS_WORD);
        found.words |= is_group ? list_words(p + 2) : word_bit(p + 1, (size_t)(end - p - 1));
        found.least += !optional;
        found.most++;
    }
    return found;
}

static bounds bounds_of(uint32_t row) {
    uint16_t counts = atomic_load_explicit(&row_counts[row], memory_order_acquire);
    if (LW_LIKELY(counts))
        return (bounds){atomic_load_explicit(&row_words[row], memory_order_relaxed), counts & 255,
                        (uint8_t)(counts >> 8)};
    bounds found = find_bounds(lw_ptx_forms[row].pattern);
    atomic_store_explicit(&row_words[row], found.words, memory_order_relaxed);
    atomic_store_explicit(&row_counts[row], (uint16_t)(found.least | found.most << 8), memory_order_release);
    return found;
}

static void make_index(void) {
    for (size_t c = 0; c < LW_COUNT(classes); c++) {
        class_words[c] = list_words(classes[c].alternatives);
        for (const char *p = classes[c].alternatives; *p; p = find_mark(p, ENDS_ALTERNATIVE), p += *p == '|')
            class_starts[c] |= letter_bit(*p);
    }
    for (uint32_t i = LW_COUNT(lw_ptx_forms); i-- > 0;) {
        const char *pattern = lw_ptx_forms[i].pattern;
        uint32_t slot = lw_hash(pattern, opcode_size(pattern)) % SLOTS;
        next_row[i] = first_row[slot];
        first_row[slot] = (uint16_t)(i + 1);
    }
}

/* ---- Words against alternatives ----------------------------------------------------------------------- */

/* Is the word one of "a|b|CLASS|c"? `list` ends at ')' or NUL. */
static bool in_list(const char *list, const char *word, uint32_t size) {
    for (const char *p = list;; p++) {
        const char *from = p;
        p = find_mark(p, ENDS_ALTERNATIVE);
        size_t n = (size_t)(p - from);
        if (n == size && *from == *word && !memcmp(from, word, size)) return true;
        const class *inner = find_class(from, n);
        bool possible = inner && class_starts[inner - classes] & letter_bit(*word);
        if (possible && in_list(inner->alternatives, word, size)) return true;
        if (*p != '|') return false;
    }
}

/* The end of a { } or ( ) that begins at p: one behind its closing character. */
static const char *behind(const char *p) {
    int depth = 0;
    do {
        p = find_mark(p, IS_BRACKET);
        if (!*p) return p;
        depth += *p == '{' || *p == '(' ? 1 : -1;
        p++;
    } while (depth);
    return p;
}

/* ---- One pattern against the words of a spelling ------------------------------------------------------ */

static bool walk_on(lw_walk *w, const char *p, uint32_t word, uint32_t group);

static bool passes_one_of(const lw_walk *w, uint32_t kind, uint32_t i) {
    return kind >> i & 1 && kind & ~w->used & ((1u << i) - 1);
}

/* In a loose walk types keep their order among each other: cvt.f32.f64 is not cvt.f64.f32; so do spaces. */
static bool passes_its_kind(const lw_walk *w, uint32_t i) {
    return passes_one_of(w, w->types, i) || passes_one_of(w, w->spaces, i) || passes_one_of(w, w->evictions, i);
}

/* Takes one word if it fits, and goes on behind the element. */
static bool take(lw_walk *w, const char *list, const char *next, bool is_group, uint32_t word, uint32_t group) {
    bool anywhere = w->loose && list >= w->name_end;
    uint32_t size = (uint32_t)(next - list), last = anywhere ? w->count : word + 1;
    const char *rest = is_group ? next + 1 : next;
    for (uint32_t i = anywhere ? 1 : word; i < last && i < w->count; i++) {
        if (w->used >> i & 1 || (anywhere && passes_its_kind(w, i))) continue;
        const lw_symbol *s = w->words[i];
        bool fits = is_group ? in_list(list, s->text, s->size) : s->size == size && !memcmp(s->text, list, size);
        if (w->edit == LW_EDIT_change && i == w->edit_word) w->edit_list = list, fits = true;
        if (!fits) continue;
        if (is_group && group <= LW_GROUPS_MAX) w->group[group] = s->text;
        w->used |= 1u << i;
        w->used_count++;
        w->order[word & 31] = (uint8_t)i;
        if (walk_on(w, rest, word + 1, group)) return true;
        w->used &= ~(1u << i);
        w->used_count--;
    }
    if (w->edit != LW_EDIT_insert || w->edited || word != w->edit_word) return false;
    w->edited = true;
    w->edit_list = list;
    if (walk_on(w, rest, word, group)) return true;
    w->edited = false;
    return false;
}

/* Pattern from p on against the words from `word` on; `group` groups have begun before p. */
static bool walk_on(lw_walk *w, const char *p, uint32_t word, uint32_t group) {
    if (++w->steps > (w->loose ? 500 : 20000)) return false;
    if (word > w->furthest) w->furthest = word;
    for (;;) {
        if (*p == '}' || *p == ' ') {
            p++;
        } else if (*p == '{') {
            if (walk_on(w, p + 1, word, group)) return true;
            const char *end = behind(p);
            for (; p < end; p++)
                if (*p == '(' && ++group <= LW_GROUPS_MAX) w->group[group] = "";
        } else if (*p == '*' || (*p == '.' && p[1] == '*')) {
            return true;
        } else if (!*p) {
            return w->loose ? w->used_count + 1 == w->count : word == w->count;
        } else if (p[1] == '(') {
            return take(w, p + 2, behind(p + 1) - 1, true, word, group + 1);
        } else {
            return take(w, p + 1, find_mark(p + 1, ENDS_WORD), false, word, group);
        }
    }
}

/* Can the row take as many words, and these? Where words may be edited, or a fault is explained, every row is
 * walked. */
static bool in_bounds(const lw_walk *w, uint32_t row) {
    if (w->every_row) return true;
    bounds b = bounds_of(row);
    return !(w->words_bits & ~b.words) && w->count >= b.least && w->count <= b.most;
}

static bool same_opcode(const lw_form *form, const lw_symbol *opcode) {
    return !strncmp(form->pattern, opcode->text, opcode->size) &&
           marks[(unsigned char)form->pattern[opcode->size]] & ENDS_WORD;
}

/* Where the elements that belong to the instruction's name end: these stay at their places. */
static const char *end_of_name(const lw_form *form) {
    const char *p = form->pattern;
    for (uint32_t n = 0; n < form->named && *p; p++) {
        if (*p == '.') n++;
        if (*p == '.' && n == form->named) break;
        if (*p == '(') p = strchr(p, ')');
    }
    return p;
}

/* The next row behind `after` (NULL: the first) that takes the words. */
static const lw_form *next_row_for(lw_walk *w, const lw_form *after) {
    const lw_symbol *opcode = w->words[0];
    uint32_t i = after ? next_row[after - lw_ptx_forms] : first_row[opcode->hash % SLOTS];
    for (; i; i = next_row[i - 1]) {
        const lw_form *form = &lw_ptx_forms[i - 1];
        if (!same_opcode(form, opcode) || !in_bounds(w, i - 1)) continue;
        w->used = w->used_count = w->steps = 0;
        w->edited = false;
        w->name_end = w->any_order ? form->pattern : end_of_name(form);
        if (walk_on(w, form->pattern + opcode->size, 1, 0)) return form;
    }
    return NULL;
}

static bool walk_init(lw_walk *w, lw_symbol **words, uint32_t count) {
    pthread_once(&index_once, make_index);
    *w = (lw_walk){.words = words, .count = count, .furthest = 1};
    if (count >= LW_WORDS_MAX) return false;
    for (uint32_t i = 1; i < count; i++) {
        w->value[i] = lw_word_value_of(words[i]->text, words[i]->size, words[i]->hash);
        if (w->value[i].type) w->types |= 1u << i;
        w->words_bits |= word_bit(words[i]->text, words[i]->size);
    }
    return true;
}

/* Small formats are no types of registers, but keep their places among the types, too; so do operations that follow
 * each other. */
static void loosen(lw_walk *w) {
    const char *formats = class_of("FORMAT", 6);
    bool counts = strstr(w->words[0]->text, "mma") != NULL; /* xor.popc of matrices of bits */
    for (uint32_t i = 1; i < w->count; i++)
        if (in_list(formats, w->words[i]->text, w->words[i]->size)) w->types |= 1u << i;
        else if (w->value[i].space) w->spaces |= 1u << i;
        else if (!strncmp(w->words[i]->text, "L2::evict", 9) ||
                 (counts && in_list("and|xor|popc", w->words[i]->text, w->words[i]->size)))
            w->evictions |= 1u << i;
    w->loose = true;
}

static const lw_form *find_in_any_order(lw_walk *w, lw_symbol **words, uint32_t count) {
    if (!walk_init(w, words, count)) return NULL;
    const lw_form *form = next_row_for(w, NULL);
    if (form) return form;
    if (count > 16) return NULL;
    loosen(w);
    return next_row_for(w, NULL);
}

/* ---- Words that mean nothing where they stand ----------------------------------------------------------- */

static const char *const may_stand_twice[] = {
#define TWICE(word) word,
#include "ptx/passed.def"
};
static const struct {
    const char *name, *words, *unless;
    bool last;
} passed[] = {
#define PASSED(name, words, unless) {name, words, unless, false},
#define BEHIND(name, words, unless) {name, words, unless, true},
#include "ptx/passed.def"
};

static bool is_second(lw_symbol **words, uint32_t i) {
    bool before = false;
    for (uint32_t k = 1; k < i && !before; k++) before = words[k] == words[i];
    for (size_t t = 0; t < LW_COUNT(may_stand_twice) && before; t++)
        if (!strcmp(may_stand_twice[t], words[i]->text)) return true;
    return false;
}

/* Do the words begin with those of "red.async"? Gives how many these are, or 0; "" is any opcode. */
static uint32_t name_words(lw_symbol **words, uint32_t count, const char *name) {
    if (!*name) return 1;
    for (uint32_t n = 0; n < count; n++) {
        if (strncmp(name, words[n]->text, words[n]->size)) return 0;
        name += words[n]->size;
        if (!*name) return n + 1;
        if (*name++ != '.') return 0;
    }
    return 0;
}

static bool has_any_but(lw_symbol **words, uint32_t count, uint32_t but, const char *list) {
    for (uint32_t i = 0; i < count && *list; i++)
        if (i != but && in_list(list, words[i]->text, words[i]->size)) return true;
    return false;
}

/* Is word i one that this instruction passes over? It stands behind the name. */
static bool is_passed(lw_symbol **words, uint32_t count, uint32_t i) {
    for (size_t p = 0; p < LW_COUNT(passed); p++) {
        uint32_t n = name_words(words, count, passed[p].name);
        if (!n || i < n || (passed[p].last && i + 1 < count)) continue;
        if (in_list(passed[p].words, words[i]->text, words[i]->size) && !has_any_but(words, count, i, passed[p].unless))
            return true;
    }
    return false;
}

/* The row that takes the words without those whose bits are set. */
static const lw_form *find_without(lw_walk *w, lw_symbol **words, uint32_t count, uint32_t without) {
    lw_symbol *kept[LW_WORDS_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!(without >> i & 1)) kept[n++] = words[i];
    const lw_form *form = find_in_any_order(w, kept, n);
    if (!form) return NULL;
    memcpy(w->kept, kept, n * sizeof *kept);
    w->words = w->kept;
    w->passed = true;
    return form;
}

/* Without what is said twice, without one of the words that are passed over, or without all of both. */
static const lw_form *find_essential(lw_walk *w, lw_symbol **words, uint32_t count) {
    uint32_t twice = 0, over = 0;
    for (uint32_t i = 1; i < count; i++) {
        twice |= (uint32_t)is_second(words, i) << i;
        over |= (uint32_t)is_passed(words, count, i) << i;
    }
    const lw_form *form = twice ? find_without(w, words, count, twice) : NULL;
    for (uint32_t i = count; i-- > 1 && !form;)
        if (over >> i & 1) form = find_without(w, words, count, 1u << i);
    return form || !over ? form : find_without(w, words, count, twice | over);
}

const lw_form *lw_form_find(lw_walk *w, lw_symbol **words, uint32_t count) {
    const lw_form *form = find_in_any_order(w, words, count);
    return form || count >= LW_WORDS_MAX ? form : find_essential(w, words, count);
}

const lw_form *lw_form_reordered(lw_walk *w, lw_symbol **words, uint32_t count) {
    if (!walk_init(w, words, count) || count > 16) return NULL;
    w->any_order = true;
    loosen(w);
    return next_row_for(w, NULL);
}

bool lw_ptx_form_fits(const lw_form *form, lw_symbol **words, uint32_t count) {
    lw_walk w;
    return walk_init(&w, words, count) && same_opcode(form, words[0]) &&
           walk_on(&w, form->pattern + words[0]->size, 1, 0);
}

bool lw_ptx_is_opcode(const lw_symbol *opcode) {
    pthread_once(&index_once, make_index);
    for (uint32_t i = first_row[opcode->hash % SLOTS]; i; i = next_row[i - 1])
        if (same_opcode(&lw_ptx_forms[i - 1], opcode)) return true;
    return false;
}

const char *lw_ptx_nearest_opcode(lw_arena *arena, const char *word) {
    const char **names = LW_NEW_ARRAY(arena, const char *, lw_ptx_form_count);
    size_t count = 0;
    for (uint32_t i = 0; i < lw_ptx_form_count; i++) {
        const char *pattern = lw_ptx_forms[i].pattern;
        uint32_t size = opcode_size(pattern);
        bool again = count && strlen(names[count - 1]) == size && !memcmp(names[count - 1], pattern, size);
        if (!again) names[count++] = lw_arena_text(arena, pattern, size);
    }
    return lw_nearest(word, names, count);
}

/* ---- Why a spelling fits no row: the one word that, dropped, added or changed, would make it fit -------- */

enum { EXPECTED_SHOWN = 12 };

static void expect_word(lw_text *out, const char *word, size_t size) {
    char text[64];
    int n = snprintf(text, sizeof text, " .%.*s ", (int)(size < 50 ? size : 50), word);
    if (out->at && strstr(out->at, text)) return;
    if (out->size) out->size--; /* the space behind the last word opens this one */
    lw_text_add(out, text, (size_t)n);
}

static void expect_list(lw_text *out, const char *list, bool is_group) {
    for (const char *p = list;;) {
        size_t n = is_group ? strcspn(p, "|)") : strcspn(p, ".{}* ");
        const char *expansion = class_of(p, n);
        if (expansion) expect_list(out, expansion, true);
        else expect_word(out, p, n);
        if (!is_group || p[n] != '|') return;
        p += n + 1;
    }
}

/* All rows that one edit at this word would reach; adds what they have there. */
static bool edit_reaches(lw_walk *w, lw_edit edit, uint32_t word, lw_text *expected) {
    bool found = false;
    w->edit = edit;
    w->edit_word = word;
    for (const lw_form *form = next_row_for(w, NULL); form; form = next_row_for(w, form)) {
        found = true;
        if (w->edit_list) expect_list(expected, w->edit_list, w->edit_list[-1] == '(');
    }
    w->edit = LW_EDIT_none;
    return found;
}

static bool fits_without(const lw_walk *w, uint32_t dropped) {
    lw_symbol *words[32];
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (i != dropped) words[n++] = w->words[i];
    lw_walk shorter;
    return walk_init(&shorter, words, n) && next_row_for(&shorter, NULL);
}

lw_mismatch lw_form_explain(lw_symbol **words, uint32_t count, lw_text *expected) {
    lw_walk w;
    if (!walk_init(&w, words, count)) return (lw_mismatch){LW_EDIT_drop, 31};
    w.every_row = true;
    for (uint32_t i = count; i-- > 1;)
        if (fits_without(&w, i)) return (lw_mismatch){LW_EDIT_drop, i};
    for (uint32_t i = 1; i <= count; i++)
        if (edit_reaches(&w, LW_EDIT_insert, i, expected)) return (lw_mismatch){LW_EDIT_insert, i};
    for (int types = 0; types < 2; types++)
        for (uint32_t i = 1; i < count; i++)
            if ((int)(w.types >> i & 1) == types && edit_reaches(&w, LW_EDIT_change, i, expected))
                return (lw_mismatch){LW_EDIT_change, i};
    w.furthest = 1;
    next_row_for(&w, NULL);
    return (lw_mismatch){w.furthest < count ? LW_EDIT_none : LW_EDIT_insert, w.furthest};
}

/* ---- Every spelling of a row -------------------------------------------------------------------------- */

typedef struct lister {
    char text[256];
    uint32_t left;
    void (*each)(void *, const char *);
    void *with;
} lister;

static bool list_from(lister *l, size_t n, const char *p);

static bool list_alternatives(lister *l, size_t n, const char *list, const char *next) {
    for (const char *p = list;;) {
        size_t size = strcspn(p, "|)");
        const char *expansion = class_of(p, size);
        if (expansion) {
            if (!list_alternatives(l, n, expansion, next)) return false;
        } else if (n + size + 2 < sizeof l->text) {
            l->text[n] = '.';
            memcpy(l->text + n + 1, p, size);
            if (!list_from(l, n + 1 + size, next)) return false;
        }
        if (p[size] != '|') return true;
        p += size + 1;
    }
}

static bool list_from(lister *l, size_t n, const char *p) {
    while (*p == '}' || *p == ' ' || *p == '*' || (*p == '.' && p[1] == '*')) p++;
    if (!*p) {
        if (!l->left) return false;
        l->left--;
        l->text[n] = 0;
        l->each(l->with, l->text);
        return true;
    }
    if (*p == '{') return list_from(l, n, p + 1) && list_from(l, n, behind(p));
    if (p[1] == '(') return list_alternatives(l, n, p + 2, behind(p + 1));
    size_t size = 1 + strcspn(p + 1, ".{}* ");
    if (n + size + 1 >= sizeof l->text) return true;
    memcpy(l->text + n, p, size);
    return list_from(l, n + size, p + size);
}

bool lw_ptx_spellings(const lw_form *form, uint32_t cap, void (*each)(void *, const char *), void *with) {
    lister l = {.left = cap, .each = each, .with = with};
    size_t n = opcode_size(form->pattern);
    memcpy(l.text, form->pattern, n);
    return list_from(&l, n, form->pattern + n);
}
