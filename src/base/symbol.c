#include "base/base.h"

/* Names that differ in their last digits come to lie side by side, as they are used: %r1, %r2 … are in few lines of the cache. No adversary
 * gains by collisions beyond a slower parse of its own file. */
uint32_t lw_hash(const char *text, size_t size) {
    uint32_t hash = LW_HASH_START;
    for (size_t i = 0; i < size; i++) hash = LW_HASH_STEP(hash, text[i]);
    return LW_HASH_END(hash);
}

void lw_symbols_init(lw_symbols *symbols, lw_arena *arena) {
    *symbols = (lw_symbols){.arena = arena, .mask = 255};
    symbols->slots = LW_NEW_ARRAY(arena, lw_symbol *, symbols->mask + 1);
}

static void grow(lw_symbols *symbols) {
    uint32_t mask = symbols->mask * 4 + 3;
    lw_symbol **slots = LW_NEW_ARRAY(symbols->arena, lw_symbol *, (size_t)mask + 1);
    for (uint32_t i = 0; i <= symbols->mask; i++)
        for (lw_symbol *s = symbols->slots[i], *next; s; s = next) {
            next = s->next;
            s->next = slots[s->hash & mask];
            slots[s->hash & mask] = s;
        }
    symbols->slots = slots;
    symbols->mask = mask;
}

lw_symbol *lw_symbol_get(lw_symbols *symbols, const char *text, uint32_t size) {
    return lw_symbol_find(symbols, text, size, lw_hash(text, size));
}

lw_symbol *lw_symbol_find(lw_symbols *symbols, const char *text, uint32_t size, uint32_t hash) {
    for (lw_symbol *s = symbols->slots[hash & symbols->mask]; s; s = s->next)
        if (s->hash == hash && s->size == size && !memcmp(s->text, text, size)) return s;
    if (symbols->count > symbols->mask / 2) grow(symbols); /* sparse: mostly the first in a slot is the right one */
    lw_symbol *s = lw_arena_alloc(symbols->arena, sizeof *s + size + 1); /* the text lies behind its symbol */
    s->text = memcpy(s + 1, text, size);
    s->size = size;
    s->hash = hash;
    s->next = symbols->slots[hash & symbols->mask];
    symbols->slots[hash & symbols->mask] = s;
    symbols->count++;
    return s;
}
