/* strand_plan.c: what is settled about a function before it is compiled for one warp at a time: what its registers have
 * in neighbouring lanes, and where lanes can be left behind while others run.
 *
 * Both hang together. A register has one place for all lanes only if nobody who waits elsewhere has another value in
 * it; where lanes wait follows from the branches that can part them, which are those whose predicates are not the same
 * for all. So everything begins as one row, and what cannot be is given up until nothing changes. */
#include "run/jit/strand.h"

#include "base/special_id.h"

#include <stdlib.h>

/* ---- Which functions --------------------------------------------------------------------------------------------- */

/* A call of the interpreter's step, which is no cheaper for one warp than for a gang of four. */
static bool is_called(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    const lw_op_row *row = lw_row_of(op->code);
    if (row->compiled != LW_COMPILED_step && row->compiled != LW_COMPILED_parameter) return false;
    switch (op->code) {
    case LW_OP_ld:
    case LW_OP_st:
        return u->kinds[n] == LW_KIND_step && !lw_strand_moves(lw_memory_unpack(op->c)) && !lw_strand_goes_local(op);
    case LW_OP_atom: /* a generic address may be one of shared memory */
        return !lw_strand_changes(u, n) || lw_memory_unpack(op->c).window == LW_WINDOW_generic;
    case LW_OP_special:
    case LW_OP_local_base:
    case LW_OP_guard:
    case LW_OP_unguard:
    case LW_OP_warp_sync:
    case LW_OP_activemask:
    case LW_OP_vote:
    case LW_OP_match:
    case LW_OP_redux:
    case LW_OP_elect:
    case LW_OP_shuffle: return false;
    default: return row->goes == LW_GOES_back || !lw_begins_block(op->code);
    }
}

/* Registers of all chunks of a warp have no room in the CPU's for long; straight text of many operations, and long lane
 * functions, are better off as loops over all chunks of the gang (region.c). So are loops, where there are any, of
 * which much is steps. */
static bool is_worth_it(const lw_unit *u) {
    enum { STRAIGHT = 1500, SHARE = 20 };
    uint64_t straight = 0, longs = 0, called = 0, weighed = 0;
    for (uint32_t b = 0; b < u->code->block_count; b++)
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++) {
            const uint64_t length = lw_body_length(u, lw_unit_op(u, n));
            const bool weighs = !u->code->facts->has_loops || u->code->facts->loops[b].end;
            straight = u->kinds[n] == LW_KIND_body ? straight + length : 0;
            longs += length > LW_STRAND_LONG;
            weighed += weighs;
            called += weighs && is_called(u, n);
            if (straight > STRAIGHT) return false;
        }
    return longs * SHARE <= u->count && called * SHARE <= weighed;
}

bool lw_strand_fits(const lw_unit *u) {
    if (u->program->vector.lanes) return false;
    for (uint32_t n = 0; n < u->count; n++) {
        const lw_op *op = lw_unit_op(u, n);
        const bool first = n > 0 && lw_unit_op(u, n - 1)->code == LW_OP_block;
        if (lw_op_does(op, LW_DOES_CHECKS) || lw_op_does(op, LW_DOES_ROW)) return false;
        if (lw_begins_block(op->code) && (!first || u->guarded[n])) return false;
    }
    return is_worth_it(u);
}

uint32_t lw_strand_block_of(const lw_unit *u, uint32_t n) {
    uint32_t low = 0, high = u->code->block_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(u->block_at[middle] <= n ? &low : &high) = middle;
    }
    return low;
}

/* Behind what lanes waited for, where a turn may have ended, and where they come from another piece. Within a loop
 * nowhere else: it has one way in then, which is what LLVM knows how to improve. */
bool lw_strand_enters(const lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    const uint32_t at = u->block_at[block], end = lw_unit_block_end(u, block);
    if (at + 1 >= end || lw_strand_stops_at(s, block)) return false;
    if (!block || s->crossed[block]) return true;
    const lw_op *before = lw_unit_op(u, at - 1);
    const lw_loop loop = u->code->facts->loops[block];
    if (lw_begins_block(before->code) || loop.first == block) return true;
    return lw_op_does(before, LW_DOES_EXCHANGES) && !loop.end;
}

/* ---- Who is left behind ------------------------------------------------------------------------------------------ */

/* Lanes go on at a block, with some that are ready elsewhere, of which those in front of it are known to be none. */
static bool arrive(lw_strand *s, uint32_t block, const uint64_t *ready, uint32_t also) {
    uint64_t *behind = s->behind + (size_t)block * s->block_words;
    bool changed = !s->reached[block];
    s->reached[block] = true;
    for (uint32_t w = 0; w < s->block_words; w++) {
        uint64_t mask = w < block / 64 ? 0 : w > block / 64 ? ~0ull : ~0ull << block % 64 << 1;
        if (block % 64 == 63 && w == block / 64) mask = 0;
        uint64_t with = ready[w];
        if (also != UINT32_MAX && also / 64 == w) with |= 1ull << also % 64;
        with &= mask & ~behind[w];
        changed |= with != 0;
        behind[w] |= with;
    }
    return changed;
}

/* On to a block, or to one in front of it where somebody is ready. also: one more where lanes may be ready now. */
static bool go(lw_strand *s, uint32_t from, uint32_t to, uint32_t also) {
    uint64_t *ready = s->room + s->u->words;
    memcpy(ready, lw_strand_behind(s, from), s->block_words * sizeof *ready);
    bool changed = arrive(s, to, ready, also);
    for (uint32_t block = from + 1; block < to; block++) {
        if (!lw_set_has(lw_strand_behind(s, from), block)) continue;
        lw_set_add(ready, to);
        changed |= arrive(s, block, ready, also);
    }
    return changed;
}

static bool flow_over(lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    if (lw_strand_waits_at(u, block)) return false;
    const lw_op *last = lw_unit_op(u, lw_unit_block_end(u, block) - 1);
    const bool part = lw_strand_parts(s, last), has_next = block + 1 < u->code->block_count;
    bool changed = false;
    if (last->code == LW_OP_bra || last->code == LW_OP_bra_if)
        changed |= go(s, block, last->a, part && last->a <= block ? block + 1 : UINT32_MAX);
    if (last->code != LW_OP_bra && has_next)
        changed |= go(s, block, block + 1, part && last->a > block ? last->a : UINT32_MAX);
    return changed;
}

static void find_behind(lw_strand *s) {
    const lw_unit *u = s->u;
    memset(s->behind, 0, (size_t)u->code->block_count * s->block_words * sizeof *s->behind);
    for (uint32_t b = 0; b < u->code->block_count; b++) s->reached[b] = lw_strand_enters(s, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->code->block_count; b++)
            if (s->reached[b]) changed |= flow_over(s, b);
    }
}

static void find_needed(lw_strand *s) {
    const lw_unit *u = s->u;
    memset(s->needed, 0, (size_t)u->code->block_count * u->words * sizeof *s->needed);
    for (uint32_t b = 0; b < u->code->block_count; b++)
        for (uint32_t p = b + 1; p < u->code->block_count; p++) {
            if (!lw_set_has(lw_strand_behind(s, b), p)) continue;
            const uint64_t *live = lw_unit_live(u, u->block_at[p]);
            for (uint32_t w = 0; w < u->words; w++) s->needed[(size_t)b * u->words + w] |= live[w];
        }
}

/* True: some register must have a value a lane after all. */
static bool give_up(lw_strand *s) {
    const lw_unit *u = s->u;
    bool changed = lw_strand_forget_unseen(s);
    for (uint32_t b = 0; b < u->code->block_count; b++)
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
            LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at)
    if (lw_set_has(s->needed + (size_t)b * u->words, *at)) changed |= lw_strand_forget_shape(s, *at);
    return changed;
}

/* ---- What goes from and to the frame ----------------------------------------------------------------------------- */

static uint64_t *set_of(const lw_strand *s, uint64_t *sets, uint32_t block) {
    return sets + (size_t)block * s->u->words;
}

static bool join(const lw_strand *s, uint64_t *to, const uint64_t *from) {
    bool changed = false;
    for (uint32_t w = 0; w < s->u->words; w++) {
        changed |= (from[w] & ~to[w]) != 0;
        to[w] |= from[w];
    }
    return changed;
}

/* Where the warp may go on: the next of the blocks that are behind this one, or those that lanes are ready at. */
static uint32_t next_behind(const lw_strand *s, uint32_t block, uint32_t after) {
    const lw_block *from = &s->u->code->blocks[block];
    uint32_t next = UINT32_MAX;
    for (uint32_t k = 0; k < from->successor_count; k++) {
        const uint32_t to = from->successors[k];
        if ((after == UINT32_MAX || to > after) && to < next) next = to;
    }
    for (uint32_t p = after == UINT32_MAX ? block + 1 : (after > block ? after : block) + 1;
         p < s->u->code->block_count && p < next; p++)
        if (lw_set_has(lw_strand_behind(s, block), p)) next = p;
    return next;
}
#define EACH_BEHIND(s, block, to) \
    for (uint32_t to = next_behind(s, block, UINT32_MAX); to != UINT32_MAX; to = next_behind(s, block, to))

static void find_dirty(const lw_strand *s, const bool *reached, uint64_t *sets) {
    const lw_unit *u = s->u;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->code->block_count; b++) {
            if (!reached[b] || lw_strand_stops_at(s, b)) continue;
            memcpy(s->room, set_of(s, sets, b), u->words * sizeof *s->room);
            for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
                LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) lw_set_add(s->room, *at);
            EACH_BEHIND(s, b, to) changed |= join(s, set_of(s, sets, to), s->room);
        }
    }
}

/* From all entries but the function's first block. False: no memory. */
static bool find_later(const lw_strand *s) {
    const lw_unit *u = s->u;
    bool *reached = calloc(u->code->block_count, sizeof *reached);
    if (!reached) return false;
    for (uint32_t b = 1; b < u->code->block_count; b++) reached[b] = lw_strand_enters(s, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->code->block_count; b++) {
            if (!reached[b] || lw_strand_stops_at(s, b)) continue;
            EACH_BEHIND(s, b, to) {
                changed |= !reached[to];
                reached[to] = true;
            }
        }
    }
    find_dirty(s, reached, s->later);
    free(reached);
    return true;
}

/* What operation n reads and writes, and what it goes to memory by instead. */
static void want_for(const lw_strand *s, uint32_t n, uint64_t *set) {
    uint32_t base, index;
    for (int way = 0; way < 2; way++)
        LW_EACH_(s->u->code, lw_unit_op(s->u, n), at, way ? LW_WRITTEN : LW_READ) lw_set_add(set, *at);
    if (lw_strand_indexed(s, n, &base, &index)) lw_set_add(set, base), lw_set_add(set, index);
}

static void find_wanted(lw_strand *s) {
    const lw_unit *u = s->u;
    for (uint32_t b = 0; b < u->code->block_count; b++) {
        uint64_t *set = set_of(s, s->wanted, b);
        for (uint32_t w = 0; w < u->words; w++) set[w] = lw_strand_saved(s, b, w);
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b) && !lw_strand_stops_at(s, b); n++)
            want_for(s, n, set);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = u->code->block_count; b-- > 0;) {
            if (!s->reached[b] || lw_strand_stops_at(s, b)) continue;
            EACH_BEHIND(s, b, to) changed |= join(s, set_of(s, s->wanted, b), set_of(s, s->wanted, to));
        }
    }
}

/* ---- What follows from the launch -------------------------------------------------------------------------------- */

/* Wherever lanes come from: less and less, from everything. */
static void find_settled(lw_strand *s) {
    const lw_unit *u = s->u;
    memset(s->settled + u->words, 0xff, (size_t)(u->code->block_count - 1) * u->words * sizeof *s->settled);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->code->block_count; b++) {
            memcpy(s->room, set_of(s, s->settled, b), u->words * sizeof *s->room);
            for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
                LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) lw_set_add(s->room, *at);
            for (uint32_t k = 0; k < u->code->blocks[b].successor_count; k++)
                for (uint32_t w = 0; w < u->words; w++) {
                    uint64_t *in = set_of(s, s->settled, u->code->blocks[b].successors[k]) + w;
                    changed |= (*in & ~s->room[w]) != 0;
                    *in &= s->room[w];
                }
        }
    }
}

static bool is_of_launch(const lw_op *op) {
    return op->a == LW_SPECIAL_tid || op->a == LW_SPECIAL_ntid || op->a == LW_SPECIAL_ctaid ||
           op->a == LW_SPECIAL_nctaid || op->a == LW_SPECIAL_laneid;
}

/* Operation n of a block has no effect but its result, a row, and reads what follows from the launch and is there. */
static bool follows(const lw_strand *s, uint32_t block, uint32_t n) {
    const lw_unit *u = s->u;
    const lw_op *op = lw_unit_op(u, n);
    if (u->guarded[n] || !lw_strand_is_row(s, op->d)) return false;
    if (op->code == LW_OP_special ? !is_of_launch(op) : !lw_strand_is_body(u, n)) return false;
    LW_EACH_READ(u->code, op, at)
    if (!u->code->registers[*at].is_const && !lw_strand_has_come(s, block, n, *at)) return false;
    return true;
}

/* Registers that one operation writes; and those of them that follow from the launch. */
static void find_given(lw_strand *s) {
    const lw_unit *u = s->u;
    for (uint32_t n = 0; n < u->count; n++)
        LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) s->given[*at] = s->given[*at] ? UINT32_MAX : n + 1;
    for (uint32_t reg = 0; reg < u->code->virtual_count; reg++)
        if (lw_strand_is_given(s, reg) && !u->guarded[s->given[reg] - 1]) s->only[reg] = s->given[reg];
    for (uint32_t b = 0; b < u->code->block_count; b++)
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
            LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at)
    if (s->given[*at] == n + 1 && !(*at == lw_unit_op(u, n)->d && follows(s, b, n))) s->given[*at] = 0;
}

const uint64_t *lw_strand_recalled(lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    for (uint32_t w = 0; w < u->words; w++) {
        s->room[w] = set_of(s, s->wanted, block)[w] & set_of(s, s->settled, block)[w];
        for (uint32_t p = block + 1; p < u->code->block_count; p++)
            if (lw_set_has(lw_strand_behind(s, block), p))
                s->room[w] &= set_of(s, s->settled, p)[w] | ~lw_unit_live(u, u->block_at[p])[w];
    }
    for (uint32_t reg = 0; reg < u->code->virtual_count; reg++)
        if (!lw_strand_is_given(s, reg)) lw_set_remove(s->room, reg);
    for (uint32_t n = u->count; n-- > 0;) {
        const lw_op *op = lw_unit_op(u, n);
        LW_EACH_WRITTEN(u->code, op, to)
        if (s->given[*to] == n + 1 && lw_set_has(s->room, *to))
            LW_EACH_READ(u->code, op, at) if (!u->code->registers[*at].is_const) lw_set_add(s->room, *at);
    }
    return s->room;
}

/* ---- Folded rows ------------------------------------------------------------------------------------------------- */

/* Rows whose slots no register has that is none: what is put there while others are folded is a row, and goes there
 * once more wherever they are unfolded. Predicates are bits of a word, which is stored as fast. False: no memory. */
static bool find_folded(const lw_strand *s) {
    const lw_unit *u = s->u;
    uint64_t *taken = calloc(lw_frame_places(u) / 64 + 1, sizeof *taken);
    if (!taken) return false;
    for (int rows = 0; rows < 2; rows++)
        for (uint32_t reg = 0; reg < u->code->virtual_count; reg++) {
            if (u->code->registers[reg].is_const || !lw_frame_has(u, reg) || lw_strand_is_row(s, reg) != rows) continue;
            const uint32_t place = lw_frame_place(u, reg);
            if (!rows) lw_set_add(taken, place);
            else if (!lw_set_has(taken, place) && lw_unit_bits(u, reg) > 1) lw_set_add(s->folded, reg);
        }
    free(taken);
    return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool is_alone(const lw_strand *s) {
    for (size_t k = 0; k < (size_t)s->u->code->block_count * s->u->words; k++)
        if (s->needed[k]) return false;
    return true;
}

/* Instructions of LLVM's that it will have for each chunk of a warp, about. */
uint64_t lw_strand_size(const lw_strand *s, uint32_t block) {
    enum { BODY = 5, MEMORY = 30, OTHER = 15, MOVED = 4 };
    const lw_unit *u = s->u;
    uint64_t size = 0;
    if (!s->reached[block]) return 0;
    for (uint32_t w = 0; w < u->words && !s->on_short[block]; w++) {
        const uint64_t live = lw_unit_live(u, u->block_at[block])[w];
        if (lw_strand_enters(s, block)) size += MOVED * lw_bits_count(live & s->wanted[(size_t)block * u->words + w]);
        size += MOVED * lw_bits_count(lw_strand_saved(s, block, w));
    }
    for (uint32_t n = u->block_at[block]; n < lw_unit_block_end(u, block); n++)
        size += u->kinds[n] == LW_KIND_body ? BODY : lw_op_does(lw_unit_op(u, n), LW_DOES_MEMORY) ? MEMORY : OTHER;
    return size;
}

bool lw_strand_plan_piece(lw_strand *s) {
    const size_t bytes = (size_t)s->u->code->block_count * s->u->words * sizeof *s->dirty;
    memset(s->dirty, 0, bytes), memset(s->later, 0, bytes), memset(s->wanted, 0, bytes);
    find_dirty(s, s->reached, s->dirty);
    if (!find_later(s)) return false;
    find_wanted(s);
    return true;
}

/* False: no memory. */
static bool find_short(lw_strand *s) {
    const uint32_t blocks = s->u->code->block_count;
    lw_forward f = {0};
    const bool good = lw_forward_make(&f, blocks);
    for (uint32_t block = 0; good && block < blocks; block++) {
        if (!s->reached[block] || s->on_short[block] || !lw_forward_find(s, &f, block)) continue;
        for (uint32_t b = f.first; b < f.end; b++) s->on_short[b] = true;
    }
    lw_forward_free(&f);
    return good;
}

bool lw_strand_plan(lw_strand *s) {
    const lw_unit *u = s->u;
    const size_t blocks = u->code->block_count;
    s->block_words = (u->code->block_count + 63) / 64;
    s->end = u->code->block_count;
    s->crossed = calloc(blocks, sizeof *s->crossed);
    s->ends = calloc(blocks, sizeof *s->ends);
    s->shapes = calloc(u->code->virtual_count + 1, sizeof *s->shapes);
    s->behind = calloc(blocks * s->block_words, sizeof *s->behind);
    s->reached = calloc(blocks, sizeof *s->reached);
    s->on_short = calloc(blocks, sizeof *s->on_short);
    s->needed = calloc(blocks * u->words + 1, sizeof *s->needed);
    s->dirty = calloc(blocks * u->words + 1, sizeof *s->dirty);
    s->read = calloc(u->words + 1, sizeof *s->read);
    s->folded = calloc(u->words + 1, sizeof *s->folded);
    s->listed = calloc(u->words + 1, sizeof *s->listed);
    s->later = calloc(blocks * u->words + 1, sizeof *s->later);
    s->wanted = calloc(blocks * u->words + 1, sizeof *s->wanted);
    s->settled = calloc(blocks * u->words + 1, sizeof *s->settled);
    s->twofold = calloc(u->words + 1, sizeof *s->twofold);
    s->given = calloc(u->code->virtual_count + 1, sizeof *s->given);
    s->only = calloc(u->code->virtual_count + 1, sizeof *s->only);
    s->bounds = calloc(u->code->virtual_count + 1, sizeof *s->bounds);
    s->abreast = calloc(u->count + 1, sizeof *s->abreast);
    s->room = calloc(2 * u->words + s->block_words, sizeof *s->room);
    if (!s->shapes || !s->behind || !s->reached || !s->on_short || !s->needed || !s->dirty || !s->wanted || !s->room ||
        !s->settled || !s->given || !s->only || !s->bounds || !s->abreast || !s->twofold || !s->later || !s->read ||
        !s->crossed || !s->ends || !s->folded || !s->listed)
        return false;
    for (uint32_t n = 0; n < u->count; n++) s->has_local |= lw_unit_op(u, n)->code == LW_OP_local_base;
    do {
        lw_strand_find_shapes(s);
        find_behind(s);
        find_needed(s);
    } while (give_up(s));
    find_settled(s);
    find_given(s);
    lw_strand_find_abreast(s);
    lw_strand_find_twofold(s);
    lw_strand_find_read(s);
    s->alone = is_alone(s);
    return find_folded(s) && find_short(s) && lw_strand_plan_piece(s);
}

void lw_strand_free(lw_strand *s) {
    free(s->shapes), free(s->behind), free(s->reached), free(s->needed), free(s->room);
    free(s->dirty), free(s->wanted), free(s->settled), free(s->given), free(s->abreast);
    free(s->twofold), free(s->later), free(s->read), free(s->only), free(s->bounds);
    free(s->on_short), free(s->crossed), free(s->ends), free(s->folded), free(s->listed);
}
