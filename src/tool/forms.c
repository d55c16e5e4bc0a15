/* forms.c: rows of the instruction table as people read them; shared by explain and isa. */
#include <ctype.h>

#include "tool/forms.h"

static const struct {
    const char *name, *alternatives;
} classes[] = {
#define CLASS(name, alternatives) {#name, alternatives},
#include "ptx/types.def"
};

/* The families are the files that forms.def includes, in its order; behind one that is none. */
static const lw_family families[] = {
    {"", 0
#define FAMILY(name) \
    } \
    , { \
#name, 0
#define FORM(...) +1
#include "ptx/forms.def"
    },
};

const lw_family *lw_families(size_t *count) {
    *count = LW_COUNT(families) - 1;
    return families + 1;
}

bool lw_form_begins(const lw_form *form, const char *words, size_t size) {
    return !strncmp(form->pattern, words, size) && (!form->pattern[size] || strchr(".{", form->pattern[size]));
}

size_t lw_form_opcode(const lw_form *form) { return strcspn(form->pattern, ".{"); }

/* ---- Matching ----------------------------------------------------------------------------------------- */

lw_module_ptx *lw_form_module(lw_arena *arena) {
    lw_module_ptx *module = LW_NEW(arena, lw_module_ptx);
    module->arena = arena;
    module->version = 90;
    module->target = 100;
    module->target_suffix = 'a';
    module->address_size = 64;
    lw_symbols_init(&module->symbols, arena);
    return module;
}

const lw_match *lw_form_match(lw_module_ptx *module, const char *spelling, lw_text *why) {
    lw_arena *arena = module->arena;
    lw_instruction *instruction = LW_NEW(arena, lw_instruction);
    instruction->mnemonic = lw_symbol_get(&module->symbols, spelling, (uint32_t)strlen(spelling));
    instruction->words = LW_NEW_ARRAY(arena, lw_symbol *, strlen(spelling) + 1);
    for (const char *p = spelling;; p++) {
        size_t size = strcspn(p, ".");
        instruction->words[instruction->word_count++] = lw_symbol_get(&module->symbols, p, (uint32_t)size);
        p += size;
        if (!*p) return lw_ptx_match(module, instruction, why);
    }
}

typedef struct tally {
    lw_module_ptx *module;
    const lw_form *form;
    uint32_t yes, no;
} tally;

static void tally_one(void *user, const char *spelling) {
    tally *t = user;
    const lw_match *match = lw_form_match(t->module, spelling, NULL);
    ++*(match && match->form == t->form && match->executable ? &t->yes : &t->no);
}

lw_form_status lw_form_executable(lw_module_ptx *module, const lw_form *form) {
    enum { ENOUGH = 48 };
    if (!form->lane && !form->lower) return LW_FORM_MISSING;
    tally t = {.module = module, .form = form};
    lw_ptx_spellings(form, ENOUGH, tally_one, &t);
    return !t.yes ? LW_FORM_MISSING : t.no ? LW_FORM_PART : LW_FORM_EXECUTABLE;
}

/* ---- Printing ----------------------------------------------------------------------------------------- */

/* A word in capitals that names a class becomes its alternatives. */
static size_t print_word(lw_text *out, const char *word) {
    size_t size = 0;
    while (isalnum((unsigned char)word[size]) || word[size] == '_' || word[size] == ':') size++;
    for (size_t i = 0; i < LW_COUNT(classes); i++)
        if (strlen(classes[i].name) == size && !memcmp(classes[i].name, word, size)) {
            lw_text_puts(out, classes[i].alternatives);
            return size;
        }
    lw_text_add(out, word, size);
    return size;
}

void lw_form_print_pattern(lw_text *out, const lw_form *form) {
    for (const char *p = form->pattern; *p;) {
        if (isupper((unsigned char)*p) && (p[-1] == '(' || p[-1] == '|')) p += print_word(out, p);
        else lw_text_add(out, p++, 1);
    }
}

static void print_version(lw_text *out, uint16_t version) {
    lw_text_printf(out, "%u.%u", version / 10u, version % 10u);
}

void lw_form_print_gates(lw_text *out, const lw_form *form) {
    lw_text_puts(out, "PTX ");
    print_version(out, form->isa ? form->isa : 10);
    if (form->sm) lw_text_printf(out, ", sm_%u", form->sm);
    if (form->family) lw_text_puts(out, ", targets with suffix a or f");
    if (form->old_isa) {
        lw_text_puts(out, ", deprecated since PTX ");
        print_version(out, form->old_isa);
    }
    if (form->gone_isa) {
        lw_text_puts(out, ", removed in PTX ");
        print_version(out, form->gone_isa);
        if (form->gone_sm) lw_text_printf(out, " for sm_%u and higher", form->gone_sm);
    }
}
