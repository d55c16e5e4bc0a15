/* allocate.c: live ranges, then slots by linear scan, then the final form of every operation.
 *
 * A register's range is the stretch of text from its first to its last live point, loops included; two registers share a slot where
 * their stretches do not meet. Linear in the number of operations but for the data flow of registers that live across blocks, which
 * falls back to whole-function ranges where it would cost too much. */
#include "run/interp/link/link.h"

enum {
    LW_POOLS = 8, /* for each class, registers that live across regions and those that do not: see find_regions */
    /* Live sets of more words than these and so many for each operation, or more passes, are not worth it: what they cost grows by the
     * product of blocks and registers. */
    LW_FLOW_WORDS = 16 << 10, LW_FLOW_WORDS_EACH = 8,
    LW_FLOW_PASSES = 32,
    LW_LONE_MOST = 64, /* registers with a slot of their own, see find_lone */
};

typedef struct lw_loop { uint32_t first, end; } lw_loop; /* blocks; both 0: none */

typedef struct lw_alloc {
    lw_link *l;
    uint32_t global_count;
    lw_live live;                                    /* of those that live across regions */
    uint32_t *globals;                               /* virtual register of each */
    uint32_t counts[LW_POOLS];                       /* slots of each pool */
    uint32_t base[LW_POOLS];                         /* byte offset of each pool's first slot */
    uint32_t *regions;                               /* per block: the stretch of straight text that it is in */
    struct lw_loop *loops;                           /* per block: the innermost loop around it */
    bool has_loops;
    struct { uint64_t *keys; uint32_t *slots; uint32_t mask, count; } fills;
    LW_LIST(uint32_t) constants;                     /* read as registers, in the order of the text */
    LW_LIST(uint32_t) fill_order;                    /* virtual registers (constants) in slots */
    uint32_t walked;                                 /* block at hand while visiting */
    uint32_t *waits, lone_count;                     /* see count_waits, find_lone */
} lw_alloc;

static const uint32_t slot_bytes[] = {LW_SLOT_PRED, LW_SLOT_16, LW_SLOT_32, LW_SLOT_64};

/* ---- Uses and definitions ----------------------------------------------------------------------------------- */

typedef void lw_visit(lw_alloc *a, uint32_t v, uint32_t op, bool guarded);

static inline void visit_op(lw_alloc *a, uint32_t n, bool guarded, lw_visit *use, lw_visit *def) {
    const lw_op *op = &a->l->code->ops[n];
    const bool keeps = guarded || lw_op_keeps(op);
    if (use) LW_EACH_READ(a->l->code, op, at) use(a, *at, n, guarded);
    LW_EACH_WRITTEN(a->l->code, op, at) def(a, *at, n, keeps);
}

/* Inline, so that each walk is a loop of its own with `use`, if there is one, and `def` inside. */
static inline __attribute__((always_inline)) void visit_all(lw_alloc *a, lw_visit *use, lw_visit *def, void (*block)(lw_alloc *, uint32_t)) {
    lw_link *l = a->l;
    uint32_t guard_end = 0;
    for (uint32_t n = 0; n < l->code->op_count; n++) {
        const lw_op *op = &l->code->ops[n];
        if (op->code == LW_OP_block && block) block(a, op->a);
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        visit_op(a, n, op->code != LW_OP_guard && n < guard_end, use, def);
    }
}

/* ---- Live ranges within the text ---------------------------------------------------------------------------- */

/* Points: operation n reads at 2n and writes at 2n + 1. */
static void touch(lw_alloc *a, uint32_t v, uint32_t point) {
    lw_vreg *vreg = &a->l->vregs.at[v];
    if (vreg->is_const) return;
    if (point < vreg->from) vreg->from = point;
    if (point > vreg->to) vreg->to = point;
}

static void touch_use(lw_alloc *a, uint32_t v, uint32_t n) {
    /* Lane by lane a result may replace an operand in place; other operations must not see their operands change. */
    touch(a, v, lw_op_does(&a->l->code->ops[n], LW_DOES_IN_PLACE) ? 2 * n : 2 * n + 2);
}
static void touch_def(lw_alloc *a, uint32_t v, uint32_t n, bool guarded) {
    if (guarded) touch(a, v, 2 * n); /* guarded: it keeps what it has in some lanes */
    touch(a, v, 2 * n + 1);
}

/* ---- Which registers live across blocks ------------------------------------------------------------------- */

/* A region is a run of blocks that is entered at its top only: a forward branch leaves it, and whoever does not take the branch goes
 * on without ever waiting. Lanes wait elsewhere, at the tops of regions. So a register that lives within one region has no value in
 * lanes that do not execute, and if it shares its slot with its like only, it may be written in all lanes without a mask. */
static void find_regions(lw_alloc *a) {
    const lw_code *code = a->l->code;
    uint8_t *entered = LW_NEW_ARRAY(a->l->arena, uint8_t, code->block_count);
    a->regions = LW_NEW_ARRAY(a->l->arena, uint32_t, code->block_count);
    for (uint32_t b = 0; b < code->block_count; b++) {
        const lw_op *last = lw_block_last(code, b);
        const lw_goes goes = (lw_goes)lw_row_of(last->code)->goes;
        if (goes == LW_GOES_to_a || goes == LW_GOES_either) entered[last->a] = 1;
    }
    for (uint32_t i = 0; i < code->target_count; i++) entered[code->targets[i]] = 1;
    for (uint32_t b = 1; b < code->block_count; b++) {
        const lw_op *last = lw_block_last(code, b - 1);
        const bool runs_on = lw_row_of(last->code)->goes == LW_GOES_either && !(last->flags & LW_OP_BACKWARD) && !entered[b];
        a->regions[b] = a->regions[b - 1] + !runs_on;
    }
}

/* Of each block the innermost stretch of text around it that a branch goes back over. */
static void find_loops(lw_alloc *a) {
    const lw_code *code = a->l->code;
    uint32_t blocks = code->block_count, depth = 0;
    uint32_t *ends = LW_NEW_ARRAY(a->l->arena, uint32_t, blocks); /* 1 + the last block that goes back to this one */
    uint32_t *open = LW_NEW_ARRAY(a->l->arena, uint32_t, blocks);
    a->loops = LW_NEW_ARRAY(a->l->arena, lw_loop, blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        const lw_op *last = lw_block_last(code, b);
        const lw_goes goes = (lw_goes)lw_row_of(last->code)->goes;
        if ((goes == LW_GOES_to_a || goes == LW_GOES_either) && last->flags & LW_OP_BACKWARD) ends[last->a] = b + 1, a->has_loops = true;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        while (depth && ends[open[depth - 1]] <= b) depth--;
        if (ends[b]) open[depth++] = b;
        if (depth) a->loops[b] = (lw_loop){open[depth - 1], ends[open[depth - 1]]};
    }
}

/* vreg.block: 1 + the region that last defined it for sure, while walking. A write under a guard keeps the old value in some
 * lanes, so it reads the register too. */
static bool defined_here(const lw_alloc *a, uint32_t v) { return a->l->vregs.at[v].block == a->regions[a->walked] + 1; }

static void mark_across(lw_alloc *a, uint32_t v) {
    lw_vreg *vreg = &a->l->vregs.at[v];
    if (vreg->is_const || vreg->global) return;
    vreg->global = ++a->global_count;
}

static void scan_use(lw_alloc *a, uint32_t v, uint32_t n, bool guarded) {
    (void)guarded;
    if (a->l->vregs.at[v].is_const) {
        LW_PUSH(a->l->arena, a->constants) = v;
        return;
    }
    touch_use(a, v, n);
    if (!defined_here(a, v)) mark_across(a, v);
}
static void scan_def(lw_alloc *a, uint32_t v, uint32_t n, bool guarded) {
    touch_def(a, v, n, guarded);
    if (guarded && !defined_here(a, v)) mark_across(a, v);
    if (!guarded) a->l->vregs.at[v].block = a->regions[a->walked] + 1;
}
static void scan_block(lw_alloc *a, uint32_t block) { a->walked = block; }

/* ---- Data flow of those ------------------------------------------------------------------------------------ */

static uint32_t number_of(const void *of, uint32_t v) {
    const lw_alloc *a = of;
    return a->l->vregs.at[v].global - 1; /* LW_NO_SLOT where it has none */
}

/* False: too much work; the caller takes whole-function ranges. */
static bool solve(lw_alloc *a) {
    lw_link *l = a->l;
    const size_t size = (size_t)a->live.words * l->code->block_count;
    if (!size) return true;
    if (size > LW_FLOW_WORDS + (size_t)LW_FLOW_WORDS_EACH * l->code->op_count) return false;
    a->live.code = l->code, a->live.number = number_of, a->live.of = a;
    return lw_live_solve(&a->live, LW_NEW_ARRAY(l->arena, uint64_t, 4 * size), LW_NEW_ARRAY(l->arena, uint32_t, l->code->target_count), LW_FLOW_PASSES);
}

/* ---- Live ranges across blocks ------------------------------------------------------------------------------ */

/* One word of the registers that are live into a block, or out of it. Of those that were seen before in this direction nothing is new. */
static void range_word(lw_alloc *a, uint32_t block, uint32_t w, uint64_t live, uint64_t *seen, uint32_t point, bool into) {
    lw_link *l = a->l;
    uint64_t bits = live & ~*seen;
    *seen |= live;
    for (; bits; bits &= bits - 1) {
        uint32_t v = a->globals[64 * w + (uint32_t)__builtin_ctzll(bits)];
        lw_vreg *vreg = &l->vregs.at[v];
        touch(a, v, point);
        if (!into) continue;
        if (block < vreg->first_in) vreg->first_in = block;
        if (block > vreg->last_in) vreg->last_in = block;
        if (block == 0) vreg->needs_zero = true;
    }
}

static void range_block(lw_alloc *a, uint32_t block, uint64_t *seen_in, uint64_t *seen_out) {
    const lw_code *code = a->l->code;
    const uint64_t *in = lw_live_set(&a->live, a->live.in, block), *out = lw_live_set(&a->live, a->live.out, block);
    uint32_t start = 2 * code->blocks[block].first;
    uint32_t end = block + 1 < code->block_count ? 2 * code->blocks[block + 1].first : 2 * code->op_count;
    for (uint32_t w = 0; w < a->live.words; w++) {
        range_word(a, block, w, in[w], &seen_in[w], start, true);
        range_word(a, block, w, out[w], &seen_out[w], end, false);
    }
}

/* From the first block on for where ranges begin, from the last one back for where they end: each register is met once a way. */
static void range_across(lw_alloc *a) {
    uint32_t blocks = a->l->code->block_count;
    for (int back = 0; back < 2; back++) {
        uint64_t *seen = LW_NEW_ARRAY(a->l->arena, uint64_t, 2 * (size_t)a->live.words);
        for (uint32_t n = 0; n < blocks; n++) range_block(a, back ? blocks - 1 - n : n, seen, seen + a->live.words);
    }
}

/* Where the flow is not known. */
static void range_everywhere(lw_alloc *a) {
    for (uint32_t g = 0; g < a->global_count; g++) {
        touch(a, a->globals[g], 0), touch(a, a->globals[g], 2 * a->l->code->op_count);
        a->l->vregs.at[a->globals[g]].needs_zero = true;
    }
}

/* Per block, how many before it and itself are blocks where lanes go on after they waited for others, at a barrier, in a
 * function or for their warp. */
static uint32_t *count_waits(const lw_alloc *a) {
    const lw_code *code = a->l->code;
    uint32_t *waits = LW_NEW_ARRAY(a->l->arena, uint32_t, code->block_count + 1), block = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op->a;
        if (!lw_op_does(op, LW_DOES_WAITS)) continue;
        const lw_block *last = &code->blocks[block];
        for (uint32_t k = 0; k < last->successor_count; k++) waits[last->successors[k]] = 1;
    }
    for (uint32_t b = 1; b < code->block_count; b++) waits[b] += waits[b - 1];
    return waits;
}

/* Lone registers: those of loops that lanes leave one by one. Such a register has a value only in lanes that are at one of the blocks from
 * its first to its last live one, all in the innermost loop around a place where it is written. While the executing lanes are all that
 * are there it may be written there in all lanes without a mask, if nobody else has its slot. The `block` operation looks
 * whether they are; lanes that wait in a function or at a barrier escape it, so they must not go on in such a block. */
static bool lives_in_loop(const lw_alloc *a, const lw_vreg *vreg, uint32_t block) {
    lw_loop loop = a->loops[block];
    return vreg->first_in >= loop.first && vreg->first_in <= vreg->last_in && vreg->last_in < loop.end;
}

static void lone_def(lw_alloc *a, uint32_t v, uint32_t n, bool guarded) {
    (void)n;
    lw_vreg *vreg = &a->l->vregs.at[v];
    if (!vreg->global || vreg->lone || guarded || a->lone_count == LW_LONE_MOST || !lives_in_loop(a, vreg, a->walked)) return;
    vreg->lone = a->waits[vreg->last_in] == (vreg->first_in ? a->waits[vreg->first_in - 1] : 0);
    a->lone_count += vreg->lone;
}

static void find_lone(lw_alloc *a) {
    a->waits = count_waits(a);
    visit_all(a, NULL, lone_def, scan_block);
}

static void find_ranges(lw_alloc *a) {
    lw_link *l = a->l;
    for (uint32_t v = 0; v < l->vregs.count; v++) {
        lw_vreg *vreg = &l->vregs.at[v];
        vreg->from = vreg->first_in = UINT32_MAX;
        vreg->to = vreg->last_in = vreg->block = 0;
    }
    find_regions(a);
    find_loops(a);
    visit_all(a, scan_use, scan_def, scan_block);
    a->live.words = (a->global_count + 63) / 64;
    a->globals = LW_NEW_ARRAY(l->arena, uint32_t, a->global_count);
    for (uint32_t v = 0; v < l->vregs.count; v++)
        if (l->vregs.at[v].global) a->globals[l->vregs.at[v].global - 1] = v;
    const bool solved = solve(a);
    if (solved && a->live.words) range_across(a); /* without a word there are no sets to walk */
    else range_everywhere(a);
    if (solved && a->has_loops) find_lone(a);
    for (uint32_t k = 0; k < l->code->param_count; k++) /* the call wrote them before the first operation */
        if (!l->code->params[k].in_memory) touch(a, l->code->params[k].to, 0);
}

/* ---- Slots --------------------------------------------------------------------------------------------------- */

static uint32_t pool_of(const lw_vreg *vreg) { return vreg->class + (vreg->global ? 0 : 4); }

typedef struct lw_free_list { LW_LIST(uint32_t) slots; } lw_free_list;

static void assign_slots(lw_alloc *a) {
    lw_link *l = a->l;
    uint32_t points = 2 * l->code->op_count + 2;
    /* Chains of registers by the point where their range begins and ends: 1 + register. */
    uint32_t *starts = LW_NEW_ARRAY(l->arena, uint32_t, points), *ends = LW_NEW_ARRAY(l->arena, uint32_t, points);
    uint32_t *next_start = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count), *next_end = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count);
    lw_free_list free_lists[LW_POOLS] = {0};
    for (uint32_t v = l->vregs.count; v-- > 0;) {
        lw_vreg *vreg = &l->vregs.at[v];
        vreg->slot = LW_NO_SLOT;
        if (vreg->is_const || vreg->from == UINT32_MAX) continue;
        next_start[v] = starts[vreg->from], starts[vreg->from] = v + 1;
        next_end[v] = ends[vreg->to], ends[vreg->to] = v + 1;
    }
    for (uint32_t point = 0; point < points; point++) {
        for (uint32_t v = starts[point]; v; v = next_start[v - 1]) {
            lw_vreg *vreg = &l->vregs.at[v - 1];
            lw_free_list *list = &free_lists[pool_of(vreg)];
            bool shares = list->slots.count && !vreg->lone;
            vreg->slot = shares ? list->slots.at[--list->slots.count] : a->counts[pool_of(vreg)]++;
        }
        for (uint32_t v = ends[point]; v; v = next_end[v - 1]) {
            const lw_vreg *vreg = &l->vregs.at[v - 1];
            if (!vreg->lone) LW_PUSH(l->arena, free_lists[pool_of(vreg)].slots) = vreg->slot;
        }
    }
}

/* A slot that holds a constant, for operations that have no constant form. Equal constants share one. */
static void want_fill(lw_alloc *a, uint32_t v) {
    lw_link *l = a->l;
    lw_vreg *vreg = &l->vregs.at[v];
    if (vreg->slot != LW_NO_SLOT) return;
    if (2 * a->fills.count >= a->fills.mask) {
        uint32_t *old = a->fills.slots, mask = a->fills.mask;
        a->fills.mask = mask ? 2 * mask + 1 : 63;
        a->fills.slots = LW_NEW_ARRAY(l->arena, uint32_t, a->fills.mask + 1);
        for (uint32_t i = 0; old && i <= mask; i++) {
            if (!old[i]) continue;
            const lw_vreg *entry = &l->vregs.at[old[i] - 1];
            uint32_t at = (uint32_t)lw_hash_number(entry->value ^ entry->class);
            while (a->fills.slots[at & a->fills.mask]) at++;
            a->fills.slots[at & a->fills.mask] = old[i];
        }
    }
    uint32_t at = (uint32_t)lw_hash_number(vreg->value ^ vreg->class);
    for (; a->fills.slots[at & a->fills.mask]; at++) {
        const lw_vreg *entry = &l->vregs.at[a->fills.slots[at & a->fills.mask] - 1];
        if (entry->value != vreg->value || entry->class != vreg->class) continue;
        vreg->slot = entry->slot;
        return;
    }
    a->fills.slots[at & a->fills.mask] = v + 1;
    a->fills.count++;
    vreg->slot = a->counts[pool_of(vreg)]++;
    LW_PUSH(l->arena, a->fill_order) = v;
}

/* ---- Constants into operations -------------------------------------------------------------------------------- */

static bool constant(const lw_alloc *a, uint32_t v) { return v != LW_NO_SLOT && a->l->vregs.at[v].is_const; }
static uint64_t value_of(const lw_alloc *a, uint32_t v) { return a->l->vregs.at[v].value; }

static bool narrow(lw_lane_type type) { return lw_lane_types[type].bits < 64; }

/* The constants that the lane function takes as such; others get a slot. */
static lw_variant variant_of(const lw_alloc *a, const lw_lane_row *row, uint32_t *const fields[4]) {
    const uint32_t last = row->arity - 1u, inner = row->arity == 2 ? 0 : 1;
    if (row->how) return LW_RRI;
    if (row->variants & 1 << LW_RII && constant(a, *fields[last - 1]) && constant(a, *fields[last]) && narrow((lw_lane_type)row->args[last - 1]) &&
        narrow((lw_lane_type)row->args[last]))
        return LW_RII;
    if (row->variants & 1 << LW_RRI && constant(a, *fields[last])) return LW_RRI;
    return row->variants & 1 << LW_RIR && constant(a, *fields[inner]) ? LW_RIR : LW_RRR;
}

static uint64_t take_constant(const lw_alloc *a, uint32_t *field) {
    const uint64_t value = value_of(a, *field);
    *field = LW_NO_SLOT;
    return value;
}

static void choose_variant(lw_alloc *a, lw_op *op) {
    const lw_lane_id lane = lw_code_lane(op->code);
    const lw_lane_row *row = &lw_lanes[lane];
    uint32_t *const fields[] = {&op->a, &op->b, &op->c, &op->e}, last = row->arity - 1u;
    const lw_variant variant = variant_of(a, row, fields);
    switch (variant) {
    case LW_RRI: op->imm = take_constant(a, fields[last]); break;
    case LW_RIR: op->imm = take_constant(a, fields[row->arity == 2 ? 0 : 1]); break;
    case LW_RII: op->imm = (uint32_t)take_constant(a, fields[last - 1]), op->imm |= take_constant(a, fields[last]) << 32; break;
    default: break;
    }
    op->code = LW_LANE_CODE(lane, variant);
}

/* Operands that are missing or constant become the constant 0, the table turned so that it means the same. */
static void choose_predicate(lw_alloc *a, lw_op *op) {
    uint32_t *fields[] = {&op->a, &op->b, &op->c};
    static const uint16_t flags[] = {LW_OP_IMM_A, LW_OP_IMM_B, LW_OP_IMM_C};
    for (int k = 0; k < 3; k++) {
        if (*fields[k] != LW_NO_SLOT && !constant(a, *fields[k])) continue;
        uint32_t step = 4u >> k, turned = 0;
        bool one = *fields[k] != LW_NO_SLOT && value_of(a, *fields[k]);
        for (uint32_t i = 0; i < 8; i++) turned |= (uint32_t)(op->imm >> (one ? i | step : i & ~step) & 1) << i;
        op->imm = turned;
        op->flags |= flags[k];
        *fields[k] = LW_NO_SLOT;
    }
}

/* An address that is known: part of imm from now on. */
static void choose_address(lw_alloc *a, lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    op->imm += value_of(a, op->a);
    if (form.address == 1) op->imm = (uint32_t)op->imm;
    form.address = 0;
    op->a = LW_NO_SLOT;
    op->c = lw_memory_pack(form);
}

static void choose_listed(lw_alloc *a, lw_op *op) {
    LW_PUSH(a->l->arena, a->l->constants) = value_of(a, op->d);
    op->flags |= LW_OP_IMM_B, op->b = a->l->constants.count - 1, op->d = LW_NO_SLOT;
}

/* Known values where the row says that they may be. */
static void choose_known(lw_alloc *a, lw_op *op, lw_known where, uint32_t *field, uint16_t flag) {
    if (where == LW_KNOWN_nowhere || (where == LW_KNOWN_listed && lw_memory_unpack(op->c).vector) || !constant(a, *field)) return;
    switch (where) {
    case LW_KNOWN_nowhere: case LW_KNOWN_table: return;
    case LW_KNOWN_address: choose_address(a, op); return;
    case LW_KNOWN_listed: choose_listed(a, op); return;
    case LW_KNOWN_low: op->imm |= (uint32_t)value_of(a, *field); break;
    case LW_KNOWN_high: op->imm |= value_of(a, *field) << 32; break;
    }
    op->flags |= flag, *field = LW_NO_SLOT;
}

static void choose_step(lw_alloc *a, lw_op *op) {
    const lw_op_row *row = lw_row_of(op->code);
    if (row->known.a == LW_KNOWN_table) choose_predicate(a, op);
    choose_known(a, op, (lw_known)row->known.d, &op->d, 0);
    choose_known(a, op, (lw_known)row->known.a, &op->a, LW_OP_IMM_A);
    choose_known(a, op, (lw_known)row->known.b, &op->b, LW_OP_IMM_B);
    choose_known(a, op, (lw_known)row->known.c, &op->c, LW_OP_IMM_C);
}

/* ---- The final code -------------------------------------------------------------------------------------------- */

static uint32_t offset_of(const lw_alloc *a, uint32_t v) {
    const lw_vreg *vreg = &a->l->vregs.at[v];
    if (vreg->slot == LW_NO_SLOT) lw_bug("register %u has no slot", v);
    return a->base[pool_of(vreg)] + vreg->slot * slot_bytes[vreg->class];
}

/* False: too many registers live at a time; diagnosed. */
static bool place_classes(lw_alloc *a) {
    lw_link *l = a->l;
    uint64_t at = 0;
    for (int pool = 0; pool < LW_POOLS; pool++) {
        a->base[pool] = (uint32_t)at;
        at = (at + (uint64_t)a->counts[pool] * slot_bytes[pool % 4] + 63) & ~(uint64_t)63;
        if (at <= LW_FRAME_MOST) continue;
        lw_diag_add(l->diags, LW_D_many_live, l->code->place, l->code->name, LW_FRAME_MOST / LW_GANG_LANES);
        l->failed = true;
        return false;
    }
    l->code->frame_bytes = (uint32_t)at;
    return true;
}

static void place_constants(lw_alloc *a) {
    lw_link *l = a->l;
    lw_code *code = l->code;
    static const uint32_t sizes[] = {0, 2, 4, 8};
    code->fill_count = a->fill_order.count;
    code->fills = lw_arena_array(l->arena, sizeof *code->fills, code->fill_count);
    for (uint32_t i = 0; i < code->fill_count; i++) {
        uint32_t v = a->fill_order.at[i];
        code->fills[i].at = offset_of(a, v);
        code->fills[i].size = sizes[l->vregs.at[v].class];
        code->fills[i].value = l->vregs.at[v].value;
    }
    uint32_t zeros = 0;
    for (uint32_t v = 0; v < l->vregs.count; v++) zeros += l->vregs.at[v].needs_zero;
    code->zeros = lw_arena_array(l->arena, sizeof *code->zeros, zeros);
    for (uint32_t v = 0; v < l->vregs.count; v++) {
        if (!l->vregs.at[v].needs_zero) continue;
        code->zeros[code->zero_count].at = offset_of(a, v);
        code->zeros[code->zero_count++].size = slot_bytes[l->vregs.at[v].class];
    }
}

/* What the function hands over; calls have theirs among their fields. */
static void place_transfers(lw_alloc *a) {
    const lw_code *code = a->l->code;
    for (uint32_t k = 0; k < code->param_count; k++)
        if (!code->params[k].in_memory) code->params[k].to = offset_of(a, code->params[k].to);
    for (uint32_t k = 0; k < code->return_count; k++)
        if (!code->returns[k].in_memory) code->returns[k].from = offset_of(a, code->returns[k].from);
}

/* Which lanes a result may be stored to, beside those that execute. Predicates are written by mask in any case. */
static void choose_stores(lw_alloc *a, lw_op *op, lw_op *block) {
    bool lone = false, any = false;
    uint32_t first = UINT32_MAX, last = 0;
    if (!lw_op_does(op, LW_DOES_PURE)) return;
    LW_EACH_WRITTEN(a->l->code, op, at) {
        const lw_vreg *vreg = &a->l->vregs.at[*at];
        if (vreg->class == LW_CLASS_pred) continue;
        if (vreg->global && !(vreg->lone && lives_in_loop(a, vreg, block->a))) return;
        any = true;
        if (!vreg->global) continue;
        lone = true;
        if (vreg->first_in < first) first = vreg->first_in;
        if (vreg->last_in > last) last = vreg->last_in;
    }
    if (!any) return;
    op->flags |= lone ? LW_OP_LONE : LW_OP_WHOLE;
    if (!lone) return;
    if (!(block->flags & LW_OP_LONE)) block->b = first, block->c = last;
    if (first < block->b) block->b = first;
    if (last > block->c) block->c = last;
    block->flags |= LW_OP_LONE;
}

/* Its last step can be the branch behind it: it makes the predicate that this one reads. */
static bool compares(const lw_code *code, const lw_op *op, uint32_t predicate) {
    if (!(lw_row_of(op->code)->may & LW_OP_BRANCHES)) return false;
    LW_EACH_WRITTEN(code, op, at)
        if (*at == predicate && lw_op_bits(op, (uint32_t)(at - &op->d)) == 1) return true;
    return false;
}

static void finish_op(lw_alloc *a, lw_op *op, bool guarded, lw_op *block) {
    if (!guarded) choose_stores(a, op, block);
    if (lw_row_of(op->code)->list != LW_LIST_returns) { /* the function's own list */
        LW_EACH_READ(a->l->code, op, at) *at = offset_of(a, *at);
        LW_EACH_WRITTEN(a->l->code, op, at) *at = offset_of(a, *at);
    }
}

static void finish_ops(lw_alloc *a) {
    const lw_code *code = a->l->code;
    lw_op *block = code->ops;
    for (uint32_t n = 0, guard_end = 0; n < code->op_count; n++) {
        lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op;
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        finish_op(a, op, n < guard_end, block);
        if (op->code == LW_OP_bra_if && compares(code, op - 1, op->b)) op[-1].flags |= LW_OP_BRANCHES;
    }
}

void lw_link_allocate(lw_link *l) {
    lw_alloc a = {.l = l};
    lw_code *code = l->code;
    lw_code_compact(code);
    for (uint32_t n = 0; n < l->code->op_count; n++) {
        lw_op *op = &l->code->ops[n];
        if (op->code >= LW_OP_lane) choose_variant(&a, op);
        else if (op->code < LW_OP_lop3) choose_step(&a, op);
    }
    find_ranges(&a);
    assign_slots(&a);
    for (uint32_t i = 0; i < a.constants.count; i++) want_fill(&a, a.constants.at[i]);
    if (!place_classes(&a)) return;
    place_constants(&a);
    finish_ops(&a);
    place_transfers(&a);
    code->constants = l->constants.at, code->constant_count = l->constants.count;
}
