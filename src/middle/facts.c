/* facts.c: which stretches of a function's text are straight, which loops are around a block, and which registers live
 * across: from where to where, and whether lanes leave a loop with them one by one.
 *
 * Linear in the number of operations but for the data flow of registers that live across regions, which is given up
 * where it would cost too much. */
#include "middle/facts.h"

enum {
    /* Live sets of more words than these and so many for each operation, or more passes, are not worth it: what they
     * cost grows by the product of blocks and registers. */
    LW_FLOW_WORDS = 16 << 10,
    LW_FLOW_WORDS_EACH = 8,
    LW_FLOW_PASSES = 32,
    LW_LONE_MOST = 64, /* registers with a slot of their own, see find_lone */
};

typedef struct lw_finder {
    lw_arena *arena;
    const lw_code *code;
    lw_facts *facts;
    uint32_t *defined;    /* per register: 1 + the region that last defined it for sure, while walking */
    uint32_t *waits;      /* see count_waits */
    uint32_t block, here; /* at hand, while walking, and 1 + its region */
    uint32_t lone_count;
} lw_finder;

/* ---- Straight text, loops ------------------------------------------------------------------------------------- */

/* A region is a run of blocks that is entered at its top only: a forward branch leaves it, and whoever does not take
 * the branch goes on without ever waiting. Lanes wait elsewhere, at the tops of regions, and the compiler's at what
 * begins a block. So a register that lives
 * within one region has no value in lanes that do not execute, and if it shares its slot with its like only, it may be
 * written in all lanes without a mask. */
static void find_regions(lw_finder *f) {
    const lw_code *code = f->code;
    uint8_t *entered = LW_NEW_ARRAY(f->arena, uint8_t, code->block_count);
    uint32_t *regions = f->facts->regions = LW_NEW_ARRAY(f->arena, uint32_t, code->block_count);
    for (uint32_t b = 0; b < code->block_count; b++) {
        const lw_op *last = lw_block_last(code, b);
        const lw_goes goes = (lw_goes)lw_row_of(last->code)->goes;
        if (goes == LW_GOES_to_a || goes == LW_GOES_either) entered[last->a] = 1;
    }
    for (uint32_t i = 0; i < code->target_count; i++) entered[code->targets[i]] = 1;
    for (uint32_t b = 1; b < code->block_count; b++) {
        const lw_op *last = lw_block_last(code, b - 1);
        const uint32_t first = code->blocks[b].first + 1;
        const bool stops = first < code->op_count && lw_begins_block(code->ops[first].code);
        const bool runs_on = lw_row_of(last->code)->goes == LW_GOES_either && !(last->flags & LW_OP_BACKWARD) &&
                             !entered[b] && !stops;
        regions[b] = regions[b - 1] + !runs_on;
    }
}

static void find_loops(lw_finder *f) {
    const lw_code *code = f->code;
    uint32_t blocks = code->block_count, depth = 0;
    uint32_t *ends = LW_NEW_ARRAY(f->arena, uint32_t, blocks); /* 1 + the last block that goes back to this one */
    uint32_t *open = LW_NEW_ARRAY(f->arena, uint32_t, blocks);
    lw_loop *loops = f->facts->loops = LW_NEW_ARRAY(f->arena, lw_loop, blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        const lw_op *last = lw_block_last(code, b);
        const lw_goes goes = (lw_goes)lw_row_of(last->code)->goes;
        if ((goes == LW_GOES_to_a || goes == LW_GOES_either) && last->flags & LW_OP_BACKWARD)
            ends[last->a] = b + 1, f->facts->has_loops = true;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        while (depth && ends[open[depth - 1]] <= b) depth--;
        if (ends[b]) open[depth++] = b;
        if (depth) loops[b] = (lw_loop){open[depth - 1], ends[open[depth - 1]]};
    }
}

/* ---- Which registers live across regions ----------------------------------------------------------------------- */

typedef void lw_visit(lw_finder *f, uint32_t v, bool guarded);

/* Inline, so that each walk is a loop of its own with `use`, if there is one, and `def` inside. A write under a guard
 * keeps the old value in some lanes. */
static inline __attribute__((always_inline)) void visit_block(lw_finder *f, uint32_t block, lw_visit *use,
                                                              lw_visit *def) {
    const lw_code *code = f->code;
    const uint32_t end = lw_block_end(code, block);
    uint32_t guard_end = 0;
    f->block = block, f->here = f->facts->regions[block] + 1;
    for (uint32_t n = code->blocks[block].first; n < end; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        const bool guarded = op->code != LW_OP_guard && n < guard_end, keeps = guarded || lw_op_keeps(op);
        if (use) LW_EACH_READ(code, op, at) use(f, *at, guarded);
        LW_EACH_WRITTEN(code, op, at) def(f, *at, keeps);
    }
}

static void mark_across(lw_finder *f, uint32_t v) {
    if (f->code->registers[v].is_const || f->facts->numbers[v]) return;
    f->facts->numbers[v] = ++f->facts->across_count;
}

static void scan_use(lw_finder *f, uint32_t v, bool guarded) {
    (void)guarded;
    if (f->defined[v] != f->here) mark_across(f, v);
}
static void scan_def(lw_finder *f, uint32_t v, bool guarded) {
    if (!guarded) f->defined[v] = f->here;
    else if (f->defined[v] != f->here) mark_across(f, v);
}

static void find_across(lw_finder *f) {
    lw_facts *facts = f->facts;
    f->defined = LW_NEW_ARRAY(f->arena, uint32_t, f->code->virtual_count);
    facts->numbers = LW_NEW_ARRAY(f->arena, uint32_t, f->code->virtual_count);
    for (uint32_t b = 0; b < f->code->block_count; b++) visit_block(f, b, scan_use, scan_def);
    facts->across = LW_NEW_ARRAY(f->arena, lw_across, facts->across_count);
    for (uint32_t v = 0; facts->across_count && v < f->code->virtual_count; v++)
        if (facts->numbers[v])
            facts->across[facts->numbers[v] - 1] =
                (lw_across){.reg = v, .first_in = UINT32_MAX, .first_out = UINT32_MAX};
}

/* ---- Where those live ------------------------------------------------------------------------------------------ */

/* False: too much work. */
static bool solve(lw_finder *f) {
    lw_live *live = &f->facts->live;
    const size_t size = (size_t)live->words * f->code->block_count;
    if (!size) return true;
    if (size > LW_FLOW_WORDS + (size_t)LW_FLOW_WORDS_EACH * f->code->op_count) return false;
    live->code = f->code, live->numbers = f->facts->numbers;
    return lw_live_solve(live, LW_NEW_ARRAY(f->arena, uint64_t, 4 * size),
                         LW_NEW_ARRAY(f->arena, uint32_t, f->code->target_count), LW_FLOW_PASSES);
}

/* One word of the registers that are live into a block, or out of it. Of those that were seen before in this direction
 * nothing is new. */
static void range_word(lw_finder *f, uint32_t block, uint32_t w, uint64_t live, uint64_t *seen, bool into) {
    uint64_t bits = live & ~*seen;
    *seen |= live;
    for (; bits; bits &= bits - 1) {
        lw_across *across = &f->facts->across[64 * w + (uint32_t)__builtin_ctzll(bits)];
        uint32_t *first = into ? &across->first_in : &across->first_out,
                 *last = into ? &across->last_in : &across->last_out;
        if (block < *first) *first = block;
        if (block > *last) *last = block;
        if (into && block == 0) across->needs_zero = true;
    }
}

static void range_block(lw_finder *f, uint32_t block, uint64_t *seen_in, uint64_t *seen_out) {
    const lw_live *live = &f->facts->live;
    const uint64_t *in = lw_live_set(live, live->in, block), *out = lw_live_set(live, live->out, block);
    for (uint32_t w = 0; w < live->words; w++) {
        range_word(f, block, w, in[w], &seen_in[w], true);
        range_word(f, block, w, out[w], &seen_out[w], false);
    }
}

/* From the first block on for where ranges begin, from the last one back for where they end: each register is met once
 * a way. */
static void find_ranges(lw_finder *f) {
    const uint32_t blocks = f->code->block_count, words = f->facts->live.words;
    for (int back = 0; back < 2 && words; back++) { /* without a word there are no sets to walk */
        uint64_t *seen = LW_NEW_ARRAY(f->arena, uint64_t, 2 * (size_t)words);
        for (uint32_t n = 0; n < blocks; n++) range_block(f, back ? blocks - 1 - n : n, seen, seen + words);
    }
}

/* ---- Who leaves one by one ------------------------------------------------------------------------------------- */

/* Per block, how many before it and itself are blocks where lanes go on after they waited for others, at a barrier, in
 * a function or for their warp. */
static void count_waits(lw_finder *f) {
    const lw_code *code = f->code;
    uint32_t block = 0;
    f->waits = LW_NEW_ARRAY(f->arena, uint32_t, code->block_count + 1);
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op->a;
        if (!lw_op_does(op, LW_DOES_WAITS)) continue;
        const lw_block *last = &code->blocks[block];
        for (uint32_t k = 0; k < last->successor_count; k++) f->waits[last->successors[k]] = 1;
    }
    for (uint32_t b = 1; b < code->block_count; b++) f->waits[b] += f->waits[b - 1];
}

static bool lives_in_loop(const lw_facts *facts, const lw_across *across, uint32_t block) {
    const lw_loop loop = facts->loops[block];
    return across->first_in >= loop.first && across->first_in <= across->last_in && across->last_in < loop.end;
}

bool lw_facts_lone_at(const lw_code *code, const lw_across *across, uint32_t block) {
    return across->lone && lives_in_loop(code->facts, across, block);
}

static void lone_def(lw_finder *f, uint32_t v, bool guarded) {
    if (!f->facts->numbers[v] || guarded || f->lone_count == LW_LONE_MOST) return;
    lw_across *across = &f->facts->across[f->facts->numbers[v] - 1];
    if (across->lone || !lives_in_loop(f->facts, across, f->block)) return;
    across->lone = f->waits[across->last_in] == (across->first_in ? f->waits[across->first_in - 1] : 0);
    f->lone_count += across->lone;
}

/* Lone registers: those of loops that lanes leave one by one. Such a register has a value only in lanes that are at one
 * of the blocks from its first to its last live one, all in the innermost loop around a place where it is written.
 * While the executing lanes are all that are there it may be written there in all lanes without a mask, if nobody else
 * has its slot. The `block` operation looks whether they are; lanes that wait in a function or at a barrier escape it,
 * so they must not go on in such a block. */
static void find_lone(lw_finder *f) {
    count_waits(f);
    for (uint32_t b = 0; b < f->code->block_count; b++)
        if (f->facts->loops[b].end) visit_block(f, b, NULL, lone_def);
}

/* ---------------------------------------------------------------------------------------------------------------- */

void lw_facts_find(lw_arena *arena, lw_code *code) {
    if (code->facts) return;
    lw_facts *facts = LW_NEW(arena, lw_facts);
    lw_finder f = {.arena = arena, .code = code, .facts = facts};
    find_regions(&f);
    find_loops(&f);
    find_across(&f);
    facts->live.words = (facts->across_count + 63) / 64;
    facts->flow_known = solve(&f);
    if (facts->flow_known) find_ranges(&f);
    for (uint32_t g = 0; !facts->flow_known && g < facts->across_count; g++) facts->across[g].needs_zero = true;
    if (facts->flow_known && facts->across_count && facts->has_loops) find_lone(&f);
    code->facts = facts;
}

void lw_facts_live_behind(const lw_code *code, uint32_t block, uint64_t *set) {
    const lw_facts *facts = code->facts;
    const bool goes_on = block + 1 < code->block_count && facts->regions[block + 1] == facts->regions[block];
    if (!goes_on) memset(set, 0, (code->virtual_count + 63) / 64 * sizeof *set);
    const uint64_t *out = facts->flow_known && facts->live.words ? lw_live_set(&facts->live, facts->live.out, block)
                                                                 : NULL;
    for (uint32_t g = 0; g < facts->across_count; g++) {
        if (!out || lw_set_has(out, g)) lw_set_add(set, facts->across[g].reg);
        else lw_set_remove(set, facts->across[g].reg);
    }
}
