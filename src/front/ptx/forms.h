/* forms.h: what the form table and the matcher share. Private to forms.c, modifiers.c, match.c, operand_form.c,
 * spellings.c and verify*.c. */
#ifndef LW_FORMS_H
#define LW_FORMS_H

#include "front/ptx/ptx.h"

/* What one change would make a spelling fit. */
typedef enum lw_edit { LW_EDIT_none, LW_EDIT_drop, LW_EDIT_insert, LW_EDIT_change } lw_edit;

enum { LW_WORDS_MAX = 32 }; /* no form has nearly as many */

/* A pattern on its way along the words of a spelling. */
typedef struct lw_walk {
    lw_symbol **words;
    uint32_t count;
    bool passed; /* words are missing that mean nothing where they stand; `kept` has the others */
    lw_symbol *kept[LW_WORDS_MAX];
    bool loose;           /* modifiers in any order, which ptxas accepts too */
    bool any_order;       /* loose, and even the words of the name may stand anywhere */
    const char *name_end; /* loose: where in the pattern the words of the name end */
    uint64_t words_bits;  /* the modifiers as bits: what a row must be able to take */
    bool every_row;       /* do not skip rows that cannot fit */
    uint32_t types;       /* words that are types, as bits */
    uint32_t spaces,
        evictions; /* words that are spaces, or evictions and operations, as bits: these keep their order, too */
    lw_word_value value[32];   /* what each word is */
    uint32_t used, used_count; /* words taken so far, as bits */
    uint8_t order[32];         /* order[i]: the word that stands for the i-th of the pattern */
    uint32_t steps;            /* bounds the search */
    uint32_t furthest;         /* how many words some pattern could take */
    const char *group[LW_GROUPS_MAX + 1];
    lw_edit edit; /* for explanations: one word may be missing or another at edit_word */
    uint32_t edit_word;
    bool edited;
    const char *edit_list; /* what the pattern has there */
} lw_walk;

/* The row that takes the words: in the manual's order; or, if none does, in any; or without those of passed.def. NULL
 * where there is none. */
const lw_form *lw_form_find(lw_walk *walk, lw_symbol **words, uint32_t count);

/* The same in any order at all, to say what would be right: walk->order tells which word belongs where. */
const lw_form *lw_form_reordered(lw_walk *walk, lw_symbol **words, uint32_t count);

typedef struct lw_mismatch {
    lw_edit edit; /* none: no single change helps; `word` is the first that no form can have there */
    uint32_t word;
} lw_mismatch;

/* For words without a row: what is wrong, and what could stand at that place (" .a .b "). */
lw_mismatch lw_form_explain(lw_symbol **words, uint32_t count, lw_text *expected);

/* What the words of a walk mean by the row that takes them, in a module of this version and target. Their symbols must
 * live as long as the arena. */
lw_match *lw_match_make(lw_arena *arena, const lw_module_ptx *module, const lw_form *form, const lw_walk *walk);

/* modifiers.c: the gates of word i of a walk, one after the other; NULL behind the last. */
const lw_gate *lw_gate_of(const lw_walk *walk, uint32_t word, const lw_gate *after);

/* modifiers.c: types, space and modes of a spelling whose row is known. */
void lw_modes_make(lw_match *match, const lw_walk *walk);

/* … and of one whose lowering asks for matrices what its words say of them. */
void lw_matrix_words_make(lw_match *match);

/* operand_form.c: operands of a spelling whose row, groups, types and modes are known. lw_agreements_fill comes before,
 * once. */
void lw_operand_forms_make(lw_arena *arena, lw_match *match);
void lw_agreements_fill(void);
lw_space lw_space_named(const char *text, size_t size); /* "shared", "shared::cta"; LW_SPACE_none: no space */

/* Among the spellings that the module shares with others; NULL where they do not have it, or it shares none. */
const lw_match *lw_spellings_find(const lw_module_ptx *module, const lw_symbol *mnemonic);
/* Makes the match there, for all. NULL where there is no room: the module must keep its own. */
const lw_match *lw_spellings_add(const lw_module_ptx *module, const lw_symbol *mnemonic, const lw_form *form,
                                 const lw_walk *walk);

#endif
