/* strand_cut.c: a long function in pieces, each of which becomes a function of LLVM's: what LLVM takes for a function
 * grows faster than the function.
 *
 * A piece is a stretch of blocks. Where lanes go on at a block of another piece the warp rests, as it does in front of
 * a barrier, and the gang goes on there once all its warps have; so registers go to the frame, and come back. It is cut
 * where that is least: behind a barrier it is nothing at all, since a warp rests there in any case. */
#include "run/jit/strand.h"

#include <stdlib.h>

/* Instructions for a chunk of a warp. */
enum {
    LW_PIECE_LEAST = 1500,  /* to cut what is shorter gains nothing */
    LW_PIECE_MOST = 10000,  /* what is longer takes LLVM too long, and more than in pieces */
    LW_PIECES_MOST = 15000, /* all of them, for chunks of 16 lanes; of 8 LLVM takes many seconds for as much */
};

/* ---- What it costs to cut ---------------------------------------------------------------------------------------- */

/* Lanes go from one block to another: what that costs if both are not in one piece. */
static uint64_t cost_of(const lw_strand *s, uint32_t from, uint32_t to) {
    enum { REST = 16, ROUNDS = 16 }; /* ROUNDS: of a loop, as far as anybody can know */
    const uint64_t *live = lw_unit_live(s->u, s->u->block_at[to]);
    uint64_t cost = REST;
    for (uint32_t w = 0; w < s->u->words; w++) cost += lw_bits_count(live[w]);
    return s->u->code->facts->loops[from].end ? ROUNDS * cost : cost;
}

/* Per block: what it costs to cut in front of it, where it has been cut in front of `first`; a way that was cut there
 * costs nothing more. */
static void find_costs(const lw_strand *s, uint32_t first, uint64_t *costs) {
    const lw_unit *u = s->u;
    memset(costs, 0, (u->code->block_count + 1) * sizeof *costs);
    for (uint32_t b = first; b < u->code->block_count; b++) {
        if (!s->reached[b] || lw_strand_waits_at(u, b)) continue;
        for (uint32_t k = 0; k < u->code->blocks[b].successor_count; k++) {
            const uint32_t to = u->code->blocks[b].successors[k], low = to < b ? to : b, high = to < b ? b : to;
            const uint64_t cost = low < first ? 0 : cost_of(s, b, to);
            costs[low + 1] += cost, costs[high + 1] -= cost;
        }
    }
    for (uint32_t b = 0; b < u->code->block_count; b++) costs[b + 1] += costs[b];
}

/* ---- Where it is cut --------------------------------------------------------------------------------------------- */

/* The first block from this one on that is on no short way. */
static uint32_t whole_from(const lw_strand *s, uint32_t block) {
    while (block < s->u->code->block_count && s->on_short[block]) block++;
    return block;
}

/* The end of the piece that begins at a block: as soon as that costs nothing; else nowhere, or, where it would become
 * too long, where it costs least. left: the size from there on. */
static uint32_t end_of(const lw_strand *s, uint32_t first, uint64_t left, const uint64_t *costs) {
    const uint32_t count = s->u->code->block_count;
    uint64_t size = lw_strand_size(s, first);
    uint32_t best = whole_from(s, first + 1);
    for (uint32_t b = first + 1; b < count && size <= LW_PIECE_MOST; size += lw_strand_size(s, b++)) {
        if (s->on_short[b]) continue;
        if (size < LW_PIECE_LEAST) best = whole_from(s, b + 1);
        else if (!costs[b]) return b;
        else if (costs[b] < costs[best]) best = b;
    }
    return left > LW_PIECE_MOST && best < count ? best : count;
}

static void find_crossed(lw_strand *s) {
    const lw_unit *u = s->u;
    for (uint32_t piece = 0, b = 0; piece < s->piece_count; piece++)
        for (const uint32_t first = b; b < s->ends[piece]; b++)
            for (uint32_t k = 0; s->reached[b] && !lw_strand_waits_at(u, b) && k < u->code->blocks[b].successor_count;
                 k++) {
                const uint32_t to = u->code->blocks[b].successors[k];
                s->crossed[to] |= to < first || to >= s->ends[piece];
            }
}

/* False: no memory. */
static bool cut(lw_strand *s, uint64_t size) {
    const uint32_t count = s->u->code->block_count;
    uint64_t *costs = calloc(count + 1, sizeof *costs);
    if (!costs) return false;
    for (uint32_t b = 0; b < count;) {
        find_costs(s, b, costs);
        const uint32_t end = s->ends[s->piece_count++] = end_of(s, b, size, costs);
        for (; b < end; b++) size -= lw_strand_size(s, b);
    }
    free(costs);
    find_crossed(s);
    return true;
}

bool lw_strand_cut(lw_strand *s) {
    const uint64_t most = s->u->build->chunk < 16 ? LW_PIECE_MOST : LW_PIECES_MOST;
    uint64_t size = 0;
    for (uint32_t b = 0; b < s->u->code->block_count; b++) {
        const uint64_t of_block = lw_strand_size(s, b);
        size += of_block;
        if (of_block > LW_PIECE_MOST || size > most) return false;
    }
    const bool good = cut(s, size);
    s->u->build->failed |= !good;
    return good;
}
