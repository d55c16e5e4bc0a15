/* strand_room.c: where registers of a strand are, once it is known who waits where: which are kept twice, which hold
 * what was read, and of how many chunks of a warp they have room in the CPU's. */
#include "run/jit/strand.h"

/* ---- Registers that are kept twice, and what was read ---------------------------------------------------------- */

/* Nobody minds what lanes compute in a loop that are not at hand: some lane functions take long for a chunk in which
 * one lane has unusual operands. */
static bool is_carefree(const lw_unit *u, lw_loop loop) {
    enum { SHORT = 16 };
    if (!loop.end) return false;
    for (uint32_t n = u->block_at[loop.first]; n < lw_unit_block_end(u, loop.end - 1); n++)
        if (u->kinds[n] == LW_KIND_body && lw_body_length(u, lw_unit_op(u, n)) > SHORT) return false;
    return true;
}

/* What a loop blends: it would wait for who goes on, and those that go on for it. */
void lw_strand_find_twofold(lw_strand *s) {
    const lw_unit *u = s->u;
    lw_loop at_hand = {0};
    bool carefree = false;
    for (uint32_t b = 0; b < u->code->block_count; b++) {
        const lw_loop loop = u->code->facts->loops[b];
        if (loop.first != at_hand.first || loop.end != at_hand.end) carefree = is_carefree(u, loop);
        at_hand = loop;
        if (!carefree) continue;
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
            LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at)
        if (lw_set_has(s->needed + (size_t)b * u->words, *at) && !lw_strand_is_row(s, *at)) lw_set_add(s->twofold, *at);
    }
}

/* What is made of the lanes' numbers alone may count in a row though nobody knows; what was read hardly does. */
static bool is_read(const lw_strand *s, uint32_t n) {
    if (!lw_strand_is_body(s->u, n) && lw_unit_op(s->u, n)->code != LW_OP_special) return true;
    LW_EACH_READ(s->u->code, lw_unit_op(s->u, n), at) if (lw_set_has(s->read, *at)) return true;
    return false;
}

void lw_strand_find_read(lw_strand *s) {
    const lw_unit *u = s->u;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < u->count; n++) LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) {
                if (lw_strand_is_row(s, *at) || lw_set_has(s->read, *at) || !is_read(s, n)) continue;
                lw_set_add(s->read, *at);
                changed = true;
            }
    }
}

/* ---- Room in registers ------------------------------------------------------------------------------------------- */

void lw_strand_live_behind(lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    const lw_block *from = &u->code->blocks[block];
    memset(s->room, 0, u->words * sizeof *s->room);
    for (uint32_t k = 0; k < from->successor_count; k++) {
        const uint64_t *live = lw_unit_live(u, u->block_at[from->successors[k]]);
        for (uint32_t w = 0; w < u->words; w++) s->room[w] |= live[w];
    }
}

static uint32_t vectors_of(const lw_strand *s, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg), bytes = bits / 8 * b->chunk, each = s->u->level->vector_bytes;
    if (lw_strand_is_row(s, reg) || (bits == 1 && s->u->level->mask_registers)) return 0;
    return bytes > each ? bytes / each : 1;
}

/* What of the operations first … end lives at once: registers of the CPU that they need for a chunk. What only lives
 * through them can be in memory. The set is what lives behind them, and then in front of them. */
static uint32_t find_crowd(lw_strand *s, uint32_t first, uint32_t end, uint64_t *live) {
    const lw_unit *u = s->u;
    uint64_t *touched = s->room + u->words;
    uint32_t most = 1;
    memset(touched, 0, u->words * sizeof *touched);
    for (uint32_t n = first; n < end; n++)
        for (int way = 0; way < 2; way++)
            LW_EACH_(u->code, lw_unit_op(u, n), at, way ? LW_WRITTEN : LW_READ) lw_set_add(touched, *at);
    for (uint32_t n = end; n-- > first;) {
        uint32_t crowd = 0;
        LW_EACH_IN(touched, u->words, reg) crowd += lw_set_has(live, reg) ? vectors_of(s, reg) : 0;
        most = crowd > most ? crowd : most;
        lw_live_over(u->code, lw_unit_op(u, n), u->guarded[n], live);
    }
    return most;
}

/* A quarter of the registers is left for what is made on the way. */
static uint8_t abreast(const lw_strand *s, uint32_t crowd) {
    const uint32_t registers = s->u->level->mask_registers ? 32 : 16, room = registers / 4 * 3;
    uint32_t chunks = LW_WARP_LANES / lw_strand_build(s)->chunk;
    while (chunks > 1 && chunks * crowd > room) chunks /= 2;
    return (uint8_t)chunks;
}

void lw_strand_find_abreast(lw_strand *s) {
    const lw_unit *u = s->u;
    for (uint32_t block = 0; block < u->code->block_count; block++) {
        const uint32_t end = lw_unit_block_end(u, block), first = u->block_at[block] + 1;
        for (uint32_t n = first; n < end; n = lw_strand_stretch(s, n, end)) s->abreast[n] = 1;
        lw_strand_live_behind(s, block);
        for (uint32_t n = end, next = end; n-- > first;) {
            if (!s->abreast[n]) continue;
            s->abreast[n] = abreast(s, find_crowd(s, n, next, s->room));
            next = n;
        }
    }
}
