/* allocate.c: live ranges, then slots by linear scan, then the final form of every operation.
 *
 * A register's range is the stretch of text from its first to its last live point, loops included; two registers share
 * a slot where their stretches do not meet. Linear in the number of operations. */
#include "run/interp/link/link.h"

/* For each class, registers that live across regions and those that do not, each of numbers and of all else. Lanes that
 * do not execute are computed, too, and what they have in a slot is what was there before: where that was an integer,
 * it is below normal as a floating-point number, for which processors take a hundred cycles. */
enum { LW_POOLS = 16 };

typedef struct lw_alloc {
    lw_link *l;
    uint32_t counts[LW_POOLS]; /* slots of each pool */
    uint32_t base[LW_POOLS];   /* byte offset of each pool's first slot */
    struct {
        uint64_t *keys;
        uint32_t *slots;
        uint32_t mask, count;
    } fills;
    LW_LIST(uint32_t) constants;  /* read as registers, in the order of the text */
    LW_LIST(uint32_t) fill_order; /* virtual registers (constants) in slots */
} lw_alloc;

static const uint32_t slot_bytes[] = {LW_SLOT_PRED, LW_SLOT_16, LW_SLOT_32, LW_SLOT_64};

/* ---- Live ranges -------------------------------------------------------------------------------------------- */

/* Points: operation n reads at 2n and writes at 2n + 1. */
static void touch(lw_alloc *a, uint32_t v, uint32_t point) {
    lw_vreg *vreg = &a->l->vregs.at[v];
    if (vreg->is_const) return;
    if (point < vreg->from) vreg->from = point;
    if (point > vreg->to) vreg->to = point;
}

/* Lane by lane a result may replace an operand in place; other operations must not see their operands change. A write
 * under a guard keeps what the register has in some lanes. */
static void touch_op(lw_alloc *a, uint32_t n, bool guarded) {
    const lw_op *op = &a->l->code->ops[n];
    const bool keeps = guarded || lw_op_keeps(op);
    const uint32_t read_to = lw_op_does(op, LW_DOES_IN_PLACE) ? 2 * n : 2 * n + 2;
    LW_EACH_READ(a->l->code, op, at) {
        if (a->l->vregs.at[*at].is_const) LW_PUSH(a->l->arena, a->constants) = *at;
        else touch(a, *at, read_to);
    }
    LW_EACH_WRITTEN(a->l->code, op, at) {
        if (keeps) touch(a, *at, 2 * n);
        touch(a, *at, 2 * n + 1);
    }
}

/* From the first to the last of the blocks that it is live into or out of. */
static void touch_across(lw_alloc *a, const lw_across *across) {
    const lw_code *code = a->l->code;
    const uint32_t v = across->reg;
    if (!code->facts->flow_known) {
        touch(a, v, 0), touch(a, v, 2 * code->op_count);
        return;
    }
    if (across->first_in != UINT32_MAX)
        touch(a, v, 2 * code->blocks[across->first_in].first), touch(a, v, 2 * code->blocks[across->last_in].first);
    if (across->first_out != UINT32_MAX)
        touch(a, v, lw_block_end(code, across->first_out) * 2), touch(a, v, lw_block_end(code, across->last_out) * 2);
}

static bool is_float(lw_lane_type type) { return type == LW_L_f32 || type == LW_L_f64; }

/* Registers that lane functions take or give as floating point. Constants are in no lane another number. */
static void find_floats(lw_alloc *a) {
    const lw_code *code = a->l->code;
    for (const lw_op *op = code->ops; op < code->ops + code->op_count; op++) {
        if (op->code < LW_OP_lane) continue;
        const lw_lane_row *lane = &lw_lanes[(op->code - LW_OP_lane) / LW_VARIANTS];
        LW_EACH_READ(code, op, at) {
            lw_vreg *vreg = &a->l->vregs.at[*at];
            vreg->is_float |= is_float(lane->args[at - &op->a]) && !vreg->is_const;
        }
        LW_EACH_WRITTEN(code, op, at) a->l->vregs.at[*at].is_float |= is_float(lane->result);
    }
}

/* It reads its number and its index; and may have its parts done after all, which then find what they read, and have
 * room for what they give. */
static void touch_indexed(lw_alloc *a, const lw_indexed_access *access) {
    const lw_code *code = a->l->code;
    const uint32_t point = 2 * access->op + 2;
    touch(a, access->base, point), touch(a, access->index, point);
    for (uint32_t k = 0; k < access->part_count; k++) {
        LW_EACH_READ(code, &code->ops[access->parts[k]], at) touch(a, *at, point);
        LW_EACH_WRITTEN(code, &code->ops[access->parts[k]], at) touch(a, *at, point);
    }
}

static void find_ranges(lw_alloc *a) {
    lw_link *l = a->l;
    const lw_code *code = l->code;
    uint32_t guard_end = 0;
    for (uint32_t v = 0; v < l->vregs.count; v++) l->vregs.at[v].from = UINT32_MAX, l->vregs.at[v].to = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        touch_op(a, n, op->code != LW_OP_guard && n < guard_end);
    }
    for (uint32_t i = 0; i < code->indexed_count; i++) touch_indexed(a, &code->indexed[i]);
    for (uint32_t g = 0; g < code->facts->across_count; g++) touch_across(a, &code->facts->across[g]);
    for (uint32_t k = 0; k < code->param_count; k++) /* the call wrote them before the first operation */
        if (!code->params[k].in_memory) touch(a, code->params[k].to, 0);
}

/* ---- Slots --------------------------------------------------------------------------------------------------- */

static uint32_t pool_of(const lw_vreg *vreg) {
    return vreg->class + (vreg->across ? 0 : 4) + (vreg->is_float ? LW_POOLS / 2 : 0);
}

typedef struct lw_free_list {
    LW_LIST(uint32_t) slots;
} lw_free_list;

static void assign_slots(lw_alloc *a) {
    lw_link *l = a->l;
    uint32_t points = 2 * l->code->op_count + 2;
    /* Chains of registers by the point where their range begins and ends: 1 + register. */
    uint32_t *starts = LW_NEW_ARRAY(l->arena, uint32_t, points), *ends = LW_NEW_ARRAY(l->arena, uint32_t, points);
    uint32_t *next_start = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count),
             *next_end = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count);
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
            bool shares = list->slots.count && !vreg->lone && !vreg->steady;
            vreg->slot = shares ? list->slots.at[--list->slots.count] : a->counts[pool_of(vreg)]++;
        }
        for (uint32_t v = ends[point]; v; v = next_end[v - 1]) {
            const lw_vreg *vreg = &l->vregs.at[v - 1];
            if (!vreg->lone && !vreg->steady) LW_PUSH(l->arena, free_lists[pool_of(vreg)].slots) = vreg->slot;
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
    if (row->variants & 1 << LW_RII && constant(a, *fields[last - 1]) && constant(a, *fields[last]) &&
        narrow((lw_lane_type)row->args[last - 1]) && narrow((lw_lane_type)row->args[last]))
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
    case LW_RII:
        op->imm = (uint32_t)take_constant(a, fields[last - 1]), op->imm |= take_constant(a, fields[last]) << 32;
        break;
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
    if (where == LW_KNOWN_nowhere || (where == LW_KNOWN_listed && lw_memory_unpack(op->c).vector) ||
        !constant(a, *field))
        return;
    switch (where) {
    case LW_KNOWN_nowhere:
    case LW_KNOWN_table: return;
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
    const lw_facts *facts = code->facts;
    code->zeros = lw_arena_array(l->arena, sizeof *code->zeros, facts->across_count);
    for (uint32_t g = 0; g < facts->across_count; g++) {
        if (!facts->across[g].needs_zero) continue;
        const uint32_t v = facts->across[g].reg;
        code->zeros[code->zero_count].at = offset_of(a, v);
        code->zeros[code->zero_count++].size = slot_bytes[l->vregs.at[v].class];
    }
}

/* Where whoever runs the program otherwise finds what lanes have here. */
static void place_homes(lw_alloc *a) {
    lw_link *l = a->l;
    lw_code *code = l->code;
    code->homes = lw_arena_array(l->arena, sizeof *code->homes, code->virtual_count);
    for (uint32_t v = 0; v < code->virtual_count; v++) {
        const lw_vreg *vreg = &l->vregs.at[v];
        code->homes[v] = vreg->is_const || vreg->slot == LW_NO_SLOT ? LW_NO_SLOT : offset_of(a, v);
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
        const lw_across *across = vreg->across ? lw_facts_across(a->l->code, *at) : NULL;
        if (across && !lw_facts_lone_at(a->l->code, across, block->a)) return;
        any = true;
        if (!across) continue;
        lone = true;
        if (across->first_in < first) first = across->first_in;
        if (across->last_in > last) last = across->last_in;
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
    for (uint32_t i = 0; i < code->indexed_count; i++) {
        code->indexed[i].base = offset_of(a, code->indexed[i].base);
        code->indexed[i].index = offset_of(a, code->indexed[i].index);
    }
}

void lw_link_allocate(lw_link *l) {
    lw_alloc a = {.l = l};
    lw_code *code = l->code;
    for (uint32_t n = 0; n < l->code->op_count; n++) {
        lw_op *op = &l->code->ops[n];
        if (op->code >= LW_OP_lane) choose_variant(&a, op);
        else if (op->code < LW_OP_lop3) choose_step(&a, op);
    }
    find_ranges(&a);
    find_floats(&a);
    assign_slots(&a);
    for (uint32_t i = 0; i < a.constants.count; i++) want_fill(&a, a.constants.at[i]);
    if (!place_classes(&a)) return;
    place_constants(&a);
    place_homes(&a);
    finish_ops(&a);
    place_transfers(&a);
    code->constants = l->constants.at, code->constant_count = l->constants.count;
}
