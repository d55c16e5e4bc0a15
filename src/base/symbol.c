#include "base/base.h"

enum {
    LW_CHAIN_MOST = 32, /* names in one slot; honest ones come to a third of it */
    LW_SLOTS_LEAST = 256,
    LW_SLOTS_MOST = 8192, /* at the start; more come with more names */
    LW_BYTES_A_SLOT = 24, /* compilers write a new name every 50 bytes of text, and the table is to be sparse */
};

/* Names that differ in their last digits come to lie side by side, as they are used: %r1, %r2 … are in few lines of the
 * cache. Others are easily made to collide: see lw_symbol_find. */
uint32_t lw_hash(const char *text, size_t size) {
    uint32_t hash = LW_HASH_START;
    for (size_t i = 0; i < size; i++) hash = LW_HASH_STEP(hash, text[i]);
    return LW_HASH_END(hash);
}

void lw_symbols_init(lw_symbols *symbols, lw_arena *arena) { lw_symbols_init_for(symbols, arena, 0); }

void lw_symbols_init_for(lw_symbols *symbols, lw_arena *arena, size_t text_size) {
    uint32_t slots = LW_SLOTS_LEAST;
    while (slots < LW_SLOTS_MOST && slots < text_size / LW_BYTES_A_SLOT) slots *= 2;
    *symbols = (lw_symbols){.arena = arena, .mask = slots - 1};
    symbols->slots = LW_NEW_ARRAY(arena, lw_symbol *, symbols->mask + 1);
}

static lw_symbol **slot_of(const lw_symbols *symbols, const char *text, uint32_t size, uint32_t hash) {
    return &symbols->slots[(symbols->keyed ? (uint32_t)lw_hash_keyed(text, size) : hash) & symbols->mask];
}

/* Into new slots, `mask` + 1. */
static void spread(lw_symbols *symbols, uint32_t mask) {
    lw_symbol **old = symbols->slots;
    uint32_t count = symbols->mask + 1;
    symbols->slots = LW_NEW_ARRAY(symbols->arena, lw_symbol *, (size_t)mask + 1);
    symbols->mask = mask;
    for (uint32_t i = 0; i < count; i++)
        for (lw_symbol *s = old[i], *next; s; s = next) {
            lw_symbol **slot = slot_of(symbols, s->text, s->size, s->hash);
            next = s->next;
            s->next = *slot;
            *slot = s;
        }
}

lw_symbol *lw_symbol_get(lw_symbols *symbols, const char *text, uint32_t size) {
    return lw_symbol_find(symbols, text, size, lw_hash(text, size));
}

/* A slot with many names in it makes the table spread all of them by the keyed hash, and look there from then on. */
lw_symbol *lw_symbol_find(lw_symbols *symbols, const char *text, uint32_t size, uint32_t hash) {
    uint32_t chain = 0;
    for (lw_symbol *s = *slot_of(symbols, text, size, hash); s; s = s->next, chain++)
        if (s->hash == hash && s->size == size && !memcmp(s->text, text, size)) return s;
    bool many = symbols->count > symbols->mask / 2; /* sparse: mostly the first in a slot is the right one */
    if (LW_UNLIKELY(chain > LW_CHAIN_MOST && !symbols->keyed)) symbols->keyed = true, spread(symbols, symbols->mask);
    if (many) spread(symbols, symbols->mask * 4 + 3);
    lw_symbol *s = lw_arena_alloc(symbols->arena, sizeof *s + size + 1); /* the text lies behind its symbol */
    s->text = memcpy(s + 1, text, size);
    s->size = size;
    s->hash = hash;
    lw_symbol **slot = slot_of(symbols, text, size, hash);
    s->next = *slot;
    *slot = s;
    symbols->count++;
    return s;
}
