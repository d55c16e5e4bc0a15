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

static bool is_known(const lw_unit *u, uint32_t reg) { return reg == LW_NO_SLOT || u->code->registers[reg].is_const; }

/* A call of the interpreter's step, which is no cheaper for one warp than for a gang of four. */
static bool is_called(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    const lw_op_row *row = lw_row_of(op->code);
    if (row->compiled != LW_COMPILED_step && row->compiled != LW_COMPILED_parameter) return false;
    switch (op->code) {
    case LW_OP_ld:
    case LW_OP_st: return u->kinds[n] == LW_KIND_step && !lw_strand_moves(lw_memory_unpack(op->c));
    case LW_OP_special:
    case LW_OP_guard:
    case LW_OP_unguard:
    case LW_OP_warp_sync:
    case LW_OP_activemask:
    case LW_OP_vote: return false;
    case LW_OP_shuffle: return !is_known(u, op->a) || !is_known(u, op->c);
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

/* Behind what lanes waited for, and where a turn may have ended. Within a loop nowhere else: it has one way in then,
 * which is what LLVM knows how to improve. */
bool lw_strand_enters(const lw_unit *u, uint32_t block) {
    const uint32_t at = u->block_at[block], end = lw_unit_block_end(u, block);
    if (at + 1 >= end || lw_strand_stops_at(u, block)) return false;
    if (!block) return true;
    const lw_op *before = lw_unit_op(u, at - 1);
    const lw_loop loop = u->code->facts->loops[block];
    if (lw_begins_block(before->code) || loop.first == block) return true;
    return lw_op_does(before, LW_DOES_EXCHANGES) && !loop.end;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static const lw_shape any = {.kind = LW_SHAPE_any}, uniform = {.kind = LW_SHAPE_row, .run = LW_WARP_BITS};
enum { FAR = 1 << 20 }; /* lanes farther apart are no row */

void lw_shape_span(const lw_shape *shape, uint32_t run, int64_t *least, int64_t *most) {
    *least = *most = 0;
    for (uint32_t k = 0; k < run; k++) *(shape->step[k] < 0 ? least : most) += shape->step[k];
}

int64_t lw_shape_above(const lw_shape *shape, uint32_t lane) {
    int64_t above = 0;
    for (uint32_t k = 0; k < shape->run; k++) above += lane >> k & 1 ? shape->step[k] : 0;
    return above;
}

lw_shape lw_strand_shape(const lw_strand *s, uint32_t reg) {
    const lw_register *r = &s->u->code->registers[reg];
    if (!r->is_const) return s->shapes[reg];
    lw_shape shape = uniform;
    shape.low = r->value ? (uint32_t)__builtin_ctzll(r->value) : 64;
    return shape;
}

/* The same in all lanes of each run. */
static lw_shape alike_in(uint32_t run) {
    lw_shape shape = uniform;
    shape.run = run;
    return run < LW_RUN_LEAST ? any : shape;
}

static lw_shape sum(const lw_shape *a, const lw_shape *b, int32_t sign) {
    lw_shape shape = alike_in(a->run < b->run ? a->run : b->run);
    shape.low = a->low < b->low ? a->low : b->low;
    for (uint32_t k = 0; k < shape.run; k++) {
        shape.step[k] = a->step[k] + sign * b->step[k];
        if (shape.step[k] > FAR || shape.step[k] < -FAR) return any;
    }
    return shape;
}

static lw_shape times(const lw_shape *a, int64_t factor) {
    if (factor > FAR || factor < -FAR || !factor) return factor ? any : uniform;
    lw_shape shape = alike_in(a->run);
    shape.low = a->low + (uint32_t)__builtin_ctzll((uint64_t)factor);
    for (uint32_t k = 0; k < a->run; k++) {
        const int64_t step = a->step[k] * factor;
        if (step > FAR || step < -FAR) return any;
        shape.step[k] = (int32_t)step;
    }
    return shape;
}

/* A known number, as a signed one of its width; false where it is not known. */
static bool known(const lw_strand *s, uint32_t reg, int64_t *value) {
    const lw_register *r = &s->u->code->registers[reg];
    if (!r->is_const) return (*value = s->shapes[reg].kind == LW_SHAPE_row ? s->shapes[reg].known : 0) != 0;
    *value = r->class == LW_CLASS_64 ? (int64_t)r->value : (int64_t)(int32_t)r->value;
    return true;
}

/* Whether the lanes count in bits of the number that no base has, each in one of its own; these bits. */
static bool counts(const lw_shape *a, uint64_t *bits) {
    *bits = 0;
    for (uint32_t k = 0; k < a->run; k++) {
        const uint64_t step = (uint64_t)a->step[k];
        if (a->step[k] < 0 || step & (step - 1) || step & *bits || (a->low < 64 && step >> a->low)) return false;
        *bits |= step;
    }
    return true;
}

static lw_shape masked(const lw_shape *a, int64_t mask) {
    uint64_t bits;
    lw_shape shape = *a;
    if (!counts(a, &bits)) return any;
    for (uint32_t k = 0; k < a->run; k++) shape.step[k] &= (int32_t)mask;
    shape.known = 0;
    return shape;
}

/* Of bits that only one of the two has: their sum. */
static lw_shape joined(const lw_shape *a, const lw_shape *b) {
    uint64_t bits[2];
    if (!counts(a, &bits[0]) || !counts(b, &bits[1]) || bits[0] & bits[1]) return any;
    lw_shape shape = sum(a, b, 1);
    return shape.low < 64 && (bits[0] | bits[1]) >> shape.low ? any : shape;
}

/* Bits that lanes count in count down where they are flipped. */
static lw_shape flipped(const lw_shape *a, int64_t flips) {
    uint64_t bits;
    lw_shape shape = *a;
    if (!counts(a, &bits)) return any;
    for (uint32_t k = 0; k < a->run; k++)
        if (shape.step[k] & flips) shape.step[k] = -shape.step[k];
    if (flips && (uint32_t)__builtin_ctzll((uint64_t)flips) < shape.low)
        shape.low = (uint32_t)__builtin_ctzll((uint64_t)flips);
    shape.known = 0;
    return shape;
}

static lw_shape shifted(const lw_shape *a, int64_t by) {
    uint64_t bits;
    lw_shape shape = *a;
    if (!counts(a, &bits) || by < 0 || by > 31) return any;
    for (uint32_t k = 0; k < a->run; k++) shape.step[k] >>= by;
    shape.low = a->low < by ? 0 : a->low - (uint32_t)by;
    shape.known = 0;
    return shape;
}

/* What is negative as a signed number is a large one to what widens unsigned numbers. */
static lw_shape product(const lw_strand *s, const lw_op *op, bool negative) {
    const lw_shape a = lw_strand_shape(s, op->a), b = lw_strand_shape(s, op->b);
    int64_t factor;
    const bool by_b = known(s, op->b, &factor);
    if (by_b || known(s, op->a, &factor)) return factor < 0 && !negative ? any : times(by_b ? &a : &b, factor);
    const uint32_t of_a = lw_shape_alike(&a), of_b = lw_shape_alike(&b);
    return alike_in(of_a < of_b ? of_a : of_b);
}

bool lw_strand_widens(const lw_op *op, bool *is_signed) {
    const lw_lane_id lane = lw_code_lane(op->code);
    *is_signed = lane == LW_LANE_sext_b64_b32 || lane == LW_LANE_mul_wide_s32 || lane == LW_LANE_mad_wide_s32;
    return *is_signed || lane == LW_LANE_zext_b64_b32 || lane == LW_LANE_mul_wide_u32 || lane == LW_LANE_mad_wide_u32;
}

static lw_shape shape_of_mad(const lw_strand *s, const lw_op *op, bool negative) {
    const lw_shape p = product(s, op, negative), c = lw_strand_shape(s, op->c);
    return p.kind == LW_SHAPE_row ? sum(&p, &c, 1) : any;
}

static lw_shape shape_of_lane(const lw_strand *s, const lw_op *op, bool whole) {
    const lw_shape a = lw_strand_shape(s, op->a), b = op->b == LW_NO_SLOT ? uniform : lw_strand_shape(s, op->b);
    int64_t number;
    bool is_signed;
    lw_strand_widens(op, &is_signed);
    switch ((uint32_t)lw_code_lane(op->code)) {
    case LW_LANE_mov_b32:
    case LW_LANE_mov_b64: return a;
    case LW_LANE_add_b32:
    case LW_LANE_add_b64: return sum(&a, &b, 1);
    case LW_LANE_sub_b32:
    case LW_LANE_sub_b64: return sum(&a, &b, -1);
    case LW_LANE_mul_lo_b32:
    case LW_LANE_mul_lo_b64: return product(s, op, true);
    case LW_LANE_mad_lo_b32:
    case LW_LANE_mad_lo_b64: return shape_of_mad(s, op, true);
    case LW_LANE_shl_b32:
    case LW_LANE_shl_b64: return known(s, op->b, &number) && number >= 0 && number < 20 ? times(&a, 1 << number) : any;
    case LW_LANE_and_b32: return known(s, op->b, &number) ? masked(&a, number) : any;
    case LW_LANE_or_b32: return joined(&a, &b);
    case LW_LANE_xor_b32: return known(s, op->b, &number) ? flipped(&a, number) : joined(&a, &b);
    case LW_LANE_shr_s32:
    case LW_LANE_shr_u32: return known(s, op->b, &number) ? shifted(&a, number) : any;
    case LW_LANE_zext_b64_b32:
    case LW_LANE_sext_b64_b32: return whole ? a : any;
    case LW_LANE_mul_wide_u32:
    case LW_LANE_mul_wide_s32: return whole ? product(s, op, is_signed) : any;
    case LW_LANE_mad_wide_u32:
    case LW_LANE_mad_wide_s32: return whole ? shape_of_mad(s, op, is_signed) : any;
    default: return any;
    }
}

/* %tid, by the layout of the threads. */
static lw_shape shape_of_tid(lw_layout layout, uint32_t which) {
    if (which > 2) return uniform;
    const uint32_t ends[] = {0, layout.x, layout.x + (uint32_t)layout.y, LW_WARP_BITS};
    lw_shape shape = alike_in(layout.run);
    for (uint32_t k = ends[which]; k < ends[which + 1] && k < shape.run; k++) shape.step[k] = 1 << (k - ends[which]);
    while (shape.low < LW_WARP_BITS && ends[which] + shape.low < ends[which + 1] && ends[which] + shape.low < shape.run)
        shape.low++;
    return shape;
}

/* %ntid, where the layout says that all bits of a %tid are within the warp. */
static lw_shape shape_of_ntid(lw_layout layout, uint32_t which) {
    lw_shape shape = uniform;
    if (layout.run != LW_WARP_BITS || which > 1) return shape;
    const bool whole = which ? layout.x + layout.y < LW_WARP_BITS : layout.x < LW_WARP_BITS;
    if (whole) shape.known = 1u << (which ? layout.y : layout.x);
    return shape;
}

static lw_shape shape_of_special(const lw_strand *s, const lw_op *op) {
    switch (op->a) {
    case LW_SPECIAL_tid: return op->c < 4 ? any : shape_of_tid(s->u->layout, op->b);
    case LW_SPECIAL_laneid: return op->c < 4 ? any : shape_of_tid(lw_layout_rows, 0);
    case LW_SPECIAL_ntid: return shape_of_ntid(s->u->layout, op->b);
    case LW_SPECIAL_ctaid:
    case LW_SPECIAL_nctaid: return uniform;
    default: return any;
    }
}

uint32_t lw_strand_loads_one(const lw_strand *s, const lw_op *op) {
    uint64_t at;
    if (op->code != LW_OP_ld) return 0;
    if (lw_is_parameter(s->u->program, s->u->code, op, &at)) return LW_WARP_BITS;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_strand_moves(form)) return 0;
    const lw_shape address = form.address ? lw_strand_shape(s, op->a) : uniform;
    if (address.kind == LW_SHAPE_unseen) return LW_WARP_BITS;
    const uint32_t run = address.kind == LW_SHAPE_row ? lw_shape_alike(&address) : 0;
    return run < LW_RUN_LEAST ? 0 : run;
}

static lw_shape shape_of(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    uint32_t run = lw_op_does(op, LW_DOES_ALIKE) ? LW_WARP_BITS : 0;
    if (s->u->guarded[n]) return any;
    if (op->code == LW_OP_special) return shape_of_special(s, op);
    if (op->code == LW_OP_ld) return alike_in(lw_strand_loads_one(s, op));
    if (lw_strand_agrees(s->u, op)) return uniform;
    if (!run) return any;
    LW_EACH_READ(s->u->code, op, at) {
        const lw_shape shape = lw_strand_shape(s, *at);
        if (shape.kind == LW_SHAPE_unseen) return shape;
        if (shape.kind == LW_SHAPE_any) return any;
        const uint32_t alike = lw_shape_alike(&shape);
        run = alike < run ? alike : run;
    }
    if (op->code >= LW_OP_lane) {
        const lw_shape shape = shape_of_lane(s, op, s->u->whole[n]);
        if (shape.kind == LW_SHAPE_row && shape.run >= run) return shape;
    }
    return alike_in(run);
}

/* What both rows are. */
static lw_shape meet(const lw_shape *a, const lw_shape *b) {
    const uint32_t most = a->run < b->run ? a->run : b->run;
    uint32_t run = 0;
    while (run < most && a->step[run] == b->step[run]) run++;
    lw_shape shape = alike_in(run);
    if (shape.kind != LW_SHAPE_row) return any;
    memcpy(shape.step, a->step, run * sizeof *shape.step);
    shape.low = a->low < b->low ? a->low : b->low;
    shape.known = a->known == b->known ? a->known : 0;
    return shape;
}

static bool set_shape(lw_strand *s, uint32_t reg, const lw_shape *with) {
    lw_shape *shape = &s->shapes[reg], before = *shape;
    if (with->kind == LW_SHAPE_unseen || shape->kind == LW_SHAPE_any) return false;
    if (shape->kind == LW_SHAPE_unseen) *shape = *with;
    else *shape = with->kind == LW_SHAPE_any ? any : meet(shape, with);
    return shape->kind != before.kind || shape->low != before.low || shape->run != before.run ||
           shape->known != before.known;
}

static void find_shapes(lw_strand *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->u->count; n++) {
            const lw_shape shape = shape_of(s, n);
            LW_EACH_WRITTEN(s->u->code, lw_unit_op(s->u, n), at) changed |= set_shape(s, *at, &shape);
        }
    }
}

/* ---- Who is left behind ------------------------------------------------------------------------------------------ */

static bool parts(const lw_strand *s, const lw_op *op) {
    return op->code == LW_OP_bra_if && !lw_strand_is_uniform(s, op->b);
}

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
    if (lw_strand_stops_at(u, block)) return false;
    const lw_op *last = lw_unit_op(u, lw_unit_block_end(u, block) - 1);
    const bool part = parts(s, last), has_next = block + 1 < u->code->block_count;
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
    for (uint32_t b = 0; b < u->code->block_count; b++) s->reached[b] = lw_strand_enters(u, b);
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

/* What nothing that is known writes may be anything, and so may what is made of it. */
static bool give_up_unseen(lw_strand *s) {
    bool changed = false;
    for (uint32_t v = 0; v < s->u->code->virtual_count; v++) {
        if (s->shapes[v].kind != LW_SHAPE_unseen || s->u->code->registers[v].is_const) continue;
        s->shapes[v] = any;
        changed = true;
    }
    return changed;
}

/* True: some register must have a value a lane after all. */
static bool give_up(lw_strand *s) {
    const lw_unit *u = s->u;
    bool changed = give_up_unseen(s);
    for (uint32_t b = 0; b < u->code->block_count; b++)
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
            LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at)
    if (lw_set_has(s->needed + (size_t)b * u->words, *at)) changed |= set_shape(s, *at, &any);
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

static void find_dirty(lw_strand *s) {
    const lw_unit *u = s->u;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->code->block_count; b++) {
            if (!s->reached[b] || lw_strand_stops_at(u, b)) continue;
            memcpy(s->room, set_of(s, s->dirty, b), u->words * sizeof *s->room);
            for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
                LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) lw_set_add(s->room, *at);
            EACH_BEHIND(s, b, to) changed |= join(s, set_of(s, s->dirty, to), s->room);
        }
    }
}

static void find_wanted(lw_strand *s) {
    const lw_unit *u = s->u;
    for (uint32_t b = 0; b < u->code->block_count; b++) {
        uint64_t *set = set_of(s, s->wanted, b);
        for (uint32_t w = 0; w < u->words; w++) set[w] = lw_strand_saved(s, b, w);
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b) && !lw_strand_stops_at(u, b); n++)
            for (int way = 0; way < 2; way++)
                LW_EACH_(u->code, lw_unit_op(u, n), at, way ? LW_WRITTEN : LW_READ) lw_set_add(set, *at);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = u->code->block_count; b-- > 0;) {
            if (!s->reached[b] || lw_strand_stops_at(u, b)) continue;
            EACH_BEHIND(s, b, to) changed |= join(s, set_of(s, s->wanted, b), set_of(s, s->wanted, to));
        }
    }
}

static bool is_alone(const lw_strand *s) {
    for (size_t k = 0; k < (size_t)s->u->code->block_count * s->u->words; k++)
        if (s->needed[k]) return false;
    return true;
}

/* Instructions of LLVM's that it will have for each chunk of a warp, about. */
uint64_t lw_strand_size(const lw_strand *s) {
    enum { BODY = 5, MEMORY = 30, OTHER = 15, MOVED = 4 };
    const lw_unit *u = s->u;
    uint64_t size = 0;
    for (uint32_t b = 0; b < u->code->block_count; b++) {
        if (!s->reached[b]) continue;
        for (uint32_t w = 0; w < u->words; w++) {
            const uint64_t live = lw_unit_live(u, u->block_at[b])[w];
            if (lw_strand_enters(u, b)) size += MOVED * lw_bits_count(live & s->wanted[(size_t)b * u->words + w]);
            size += MOVED * lw_bits_count(lw_strand_saved(s, b, w));
        }
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++)
            size += u->kinds[n] == LW_KIND_body ? BODY : lw_op_does(lw_unit_op(u, n), LW_DOES_MEMORY) ? MEMORY : OTHER;
    }
    return size;
}

bool lw_strand_plan(lw_strand *s) {
    const lw_unit *u = s->u;
    const size_t blocks = u->code->block_count;
    s->block_words = (u->code->block_count + 63) / 64;
    s->shapes = calloc(u->code->virtual_count + 1, sizeof *s->shapes);
    s->behind = calloc(blocks * s->block_words, sizeof *s->behind);
    s->reached = calloc(blocks, sizeof *s->reached);
    s->needed = calloc(blocks * u->words + 1, sizeof *s->needed);
    s->dirty = calloc(blocks * u->words + 1, sizeof *s->dirty);
    s->wanted = calloc(blocks * u->words + 1, sizeof *s->wanted);
    s->room = calloc(u->words + s->block_words, sizeof *s->room);
    if (!s->shapes || !s->behind || !s->reached || !s->needed || !s->dirty || !s->wanted || !s->room) return false;
    do {
        find_shapes(s);
        find_behind(s);
        find_needed(s);
    } while (give_up(s));
    find_dirty(s);
    find_wanted(s);
    s->alone = is_alone(s);
    return true;
}

void lw_strand_free(lw_strand *s) {
    free(s->shapes), free(s->behind), free(s->reached), free(s->needed), free(s->room);
    free(s->dirty), free(s->wanted);
}
