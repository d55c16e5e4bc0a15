/* spellings.c: matches that modules share: found without a lock, added under one, never changed or removed. */
#include "front/ptx/forms.h"

#include <stdatomic.h>

/* Whoever loads modules with ever new spellings keeps them to the modules from here on. */
enum { SPELLINGS_MOST = 4096 };

/* Gates of version and target are part of a match. */
typedef struct lw_known_spelling {
    struct lw_known_spelling *next;
    const char *text;
    uint32_t size, version, target;
    char target_suffix;
    const lw_match *match;
} lw_known_spelling;

bool lw_spellings_init(lw_spellings *spellings) {
    memset(spellings, 0, sizeof *spellings);
    return !pthread_mutex_init(&spellings->lock, NULL);
}

void lw_spellings_end(lw_spellings *spellings) {
    lw_arena_free(&spellings->arena);
    pthread_mutex_destroy(&spellings->lock);
}

const lw_match *lw_spellings_find(const lw_module_ptx *module, const lw_symbol *mnemonic) {
    if (!module->spellings) return NULL;
    const lw_known_spelling *k =
        atomic_load_explicit(&module->spellings->slots[mnemonic->hash % LW_SPELLING_SLOTS], memory_order_acquire);
    for (; k; k = k->next)
        if (k->size == mnemonic->size && k->version == module->version && k->target == module->target &&
            k->target_suffix == module->target_suffix && !memcmp(k->text, mnemonic->text, k->size))
            return k->match;
    return NULL;
}

/* The symbols of a walk belong to a module that may end before others that use the match. */
static void keep_words(lw_arena *arena, lw_walk *w) {
    lw_symbol **words = LW_NEW_ARRAY(arena, lw_symbol *, w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        const lw_symbol *word = w->words[i];
        words[i] = LW_NEW(arena, lw_symbol);
        words[i]->text = lw_arena_text(arena, word->text, word->size);
        words[i]->size = word->size;
        words[i]->hash = word->hash;
        for (uint32_t g = 0; g <= LW_GROUPS_MAX; g++)
            if (w->group[g] == word->text) w->group[g] = words[i]->text;
    }
    w->words = words;
}

static const lw_match *add(lw_spellings *s, const lw_module_ptx *module, const lw_symbol *mnemonic, const lw_form *form,
                           lw_walk walk) {
    keep_words(&s->arena, &walk);
    lw_known_spelling *k = LW_NEW(&s->arena, lw_known_spelling);
    *k = (lw_known_spelling){.text = lw_arena_text(&s->arena, mnemonic->text, mnemonic->size),
                             .size = mnemonic->size,
                             .version = module->version,
                             .target = module->target,
                             .target_suffix = module->target_suffix,
                             .match = lw_match_make(&s->arena, module, form, &walk)};
    _Atomic(lw_known_spelling *) *slot = &s->slots[mnemonic->hash % LW_SPELLING_SLOTS];
    k->next = atomic_load_explicit(slot, memory_order_relaxed);
    atomic_store_explicit(slot, k, memory_order_release);
    s->count++;
    return k->match;
}

/* Room for one more, and memory: both are known only while the lock is held. */
static const lw_match *try_add(lw_spellings *s, const lw_module_ptx *module, const lw_symbol *mnemonic,
                               const lw_form *form, const lw_walk *walk) {
    jmp_buf out;
    if (s->count == SPELLINGS_MOST || !LW_ARENA_TRY(&s->arena, out)) return NULL;
    return add(s, module, mnemonic, form, *walk);
}

/* Two threads that add the same one at the same time leave two, which mean the same. */
const lw_match *lw_spellings_add(const lw_module_ptx *module, const lw_symbol *mnemonic, const lw_form *form,
                                 const lw_walk *walk) {
    lw_spellings *s = module->spellings;
    if (!s) return NULL;
    pthread_mutex_lock(&s->lock);
    const lw_match *match = try_add(s, module, mnemonic, form, walk);
    s->arena.no_memory = NULL;
    pthread_mutex_unlock(&s->lock);
    return match;
}
