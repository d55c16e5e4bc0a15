/* strand_shape.c: what the registers of a strand have in neighbouring lanes, as far as operations and the layout of the
 * threads say. */
#include "run/jit/strand.h"

#include "base/special_id.h"

lw_shape lw_strand_shape(const lw_strand *s, uint32_t reg) {
    const lw_register *r = &s->u->code->registers[reg];
    if (!r->is_const) return s->shapes[reg];
    return lw_shape_of_number(lw_class_bits(r->class), r->class == LW_CLASS_pred ? r->value != 0 : r->value);
}

bool lw_strand_widens(const lw_op *op, bool *is_signed) { return lw_lane_widens(lw_code_lane(op->code), is_signed); }

/* ---- Special registers ------------------------------------------------------------------------------------------- */

/* %tid, by the layout of the threads. */
static lw_shape shape_of_tid(lw_layout layout, uint32_t which, uint32_t bits) {
    if (which > 2) return lw_shape_of_number(bits, 0);
    const uint32_t ends[] = {0, layout.x, layout.x + (uint32_t)layout.y, LW_WARP_BITS};
    lw_shape shape = lw_shape_below(lw_shape_alike_in(bits, layout.run), layout.bits[which]);
    for (uint32_t k = ends[which]; k < ends[which + 1] && k < shape.run; k++) {
        shape.step[k] = 1 << (k - ends[which]);
        shape.zeros |= (uint64_t)shape.step[k];
    }
    return shape;
}

/* %ntid, where the layout says that all bits of a %tid are within the warp. */
static lw_shape shape_of_ntid(lw_layout layout, uint32_t which, uint32_t bits) {
    const bool is_whole = which ? layout.x + layout.y < LW_WARP_BITS : layout.x < LW_WARP_BITS;
    if (which > 2) return lw_shape_of_number(bits, 0);
    if (layout.run == LW_WARP_BITS && which < 2 && is_whole)
        return lw_shape_of_number(bits, 1u << (which ? layout.y : layout.x));
    lw_shape shape = lw_shape_below(lw_shape_alike_in(bits, LW_WARP_BITS), layout.bits[which] + 1u);
    if (!which) shape.zeros |= lw_ones_of(layout.even);
    return shape;
}

static lw_shape shape_of_special(const lw_strand *s, const lw_op *op) {
    const uint32_t bits = lw_unit_bits(s->u, op->d);
    switch (op->a) {
    case LW_SPECIAL_tid: return op->c < 4 ? lw_shape_any(bits) : shape_of_tid(s->u->layout, op->b, bits);
    case LW_SPECIAL_laneid: return op->c < 4 ? lw_shape_any(bits) : shape_of_tid(lw_layout_rows, 0, bits);
    case LW_SPECIAL_ntid: return shape_of_ntid(s->u->layout, op->b, bits);
    case LW_SPECIAL_ctaid:
    case LW_SPECIAL_nctaid: return lw_shape_alike_in(bits, LW_WARP_BITS);
    default: return lw_shape_any(bits);
    }
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* Of local memory, where one address is a place in each lane, a generic load gets what nobody knows. */
static bool may_be_local(const lw_strand *s, uint32_t n, lw_memory_form form) {
    return form.window == LW_WINDOW_generic && (s->has_local || !s->u->whole[n]);
}

uint32_t lw_strand_loads_one(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    uint64_t at;
    if (op->code != LW_OP_ld) return 0;
    if (lw_is_parameter(s->u->program, s->u->code, op, &at)) return LW_WARP_BITS;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_strand_moves(form) || may_be_local(s, n, form)) return 0;
    const lw_shape address = form.address ? lw_strand_shape(s, op->a) : lw_shape_alike_in(64, LW_WARP_BITS);
    if (address.kind == LW_SHAPE_unseen) return LW_WARP_BITS;
    const uint32_t run = address.kind == LW_SHAPE_row ? lw_shape_alike(&address) : 0;
    return run < LW_RUN_LEAST ? 0 : run;
}

static lw_shape shape_of_load(const lw_strand *s, uint32_t n, uint32_t bits) {
    const lw_memory_form form = lw_memory_unpack(lw_unit_op(s->u, n)->c);
    const lw_shape shape = lw_shape_alike_in(bits, lw_strand_loads_one(s, n));
    if (shape.kind != LW_SHAPE_row || form.is_signed || form.size >= form.slot || form.vector) return shape;
    return lw_shape_below(shape, 8u << form.size);
}

/* One of two that are rows alike, where all lanes of a run choose the same. */
static lw_shape shape_of_choice(const lw_shape operands[LW_SHAPE_OPERANDS]) {
    uint32_t run = lw_shape_alike(&operands[2]);
    for (uint32_t k = 0; k < 2; k++)
        if (operands[k].run < run) run = operands[k].run;
    for (; run >= LW_RUN_LEAST; run--) {
        const lw_shape a = lw_shape_within(&operands[0], run), b = lw_shape_within(&operands[1], run);
        const lw_shape shape = lw_shape_of_choice(&a, &b);
        if (shape.kind == LW_SHAPE_row && shape.run == run) return shape;
    }
    return lw_shape_any(operands[0].bits);
}

/* Of operands that are rows all: nothing but them counts, and lanes that have the same get the same. */
static lw_shape shape_of_alike(const lw_strand *s, uint32_t n, uint32_t bits) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t fields[LW_SHAPE_OPERANDS] = {op->a, op->b, op->c, op->e};
    lw_shape operands[LW_SHAPE_OPERANDS];
    uint32_t run = LW_WARP_BITS;
    bool is_signed;
    LW_EACH_READ(s->u->code, op, at) {
        const lw_shape shape = lw_strand_shape(s, *at);
        if (shape.kind == LW_SHAPE_unseen) return shape;
        if (shape.kind == LW_SHAPE_any) return lw_shape_any(bits);
        const uint32_t alike = lw_shape_alike(&shape);
        run = alike < run ? alike : run;
    }
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++) {
        operands[k] = lw_shape_of_number(64, 0);
        LW_EACH_READ(s->u->code, op, at) if (*at == fields[k]) operands[k] = lw_strand_shape(s, *at);
    }
    if (op->code >= LW_OP_lane)
        return lw_shape_of_lane(lw_code_lane(op->code), bits, operands,
                                s->u->whole[n] && lw_strand_widens(op, &is_signed));
    if (op->code == LW_OP_select_16 || op->code == LW_OP_select_32 || op->code == LW_OP_select_64)
        return shape_of_choice(operands);
    return lw_shape_alike_in(bits, run);
}

/* Of one of the registers that it writes. */
static lw_shape shape_of(const lw_strand *s, uint32_t n, uint32_t reg) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    if (s->u->guarded[n]) return lw_shape_any(bits);
    if (op->code == LW_OP_special) return shape_of_special(s, op);
    if (op->code == LW_OP_local_base) return lw_shape_alike_in(bits, LW_WARP_BITS);
    if (op->code == LW_OP_ld) return shape_of_load(s, n, bits);
    if (lw_strand_agrees(s, op)) return lw_shape_alike_in(bits, LW_WARP_BITS);
    return lw_op_does(op, LW_DOES_ALIKE) ? shape_of_alike(s, n, bits) : lw_shape_any(bits);
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* True: it is less than it was. What counts up loses one bit behind the other; so from some time on all that are above
 * the first. */
static bool set_shape(lw_strand *s, uint32_t reg, const lw_shape *with) {
    enum { PATIENCE = 4 };
    lw_shape *shape = &s->shapes[reg], before = *shape;
    if (with->kind == LW_SHAPE_unseen || shape->kind == LW_SHAPE_any) return false;
    if (shape->kind == LW_SHAPE_unseen) *shape = *with;
    else *shape = lw_shape_meet(shape, with);
    shape->losses = before.losses;
    const bool loses = shape->zeros != before.zeros || shape->ones != before.ones;
    if (before.kind == LW_SHAPE_row && shape->kind == LW_SHAPE_row && loses && ++shape->losses > PATIENCE)
        lw_shape_forget_high_bits(shape);
    return shape->kind != before.kind || shape->run != before.run || loses;
}

/* What a register has where the function is entered: what a caller gave, or 0, which no other row is. Lanes that go on
 * behind a barrier have it still, and nobody looks there whether it is a row. True: that is new. */
static bool meet_entering(lw_strand *s) {
    const lw_code *code = s->u->code;
    bool changed = false;
    for (uint32_t k = 0; k < code->param_count; k++)
        if (!code->params[k].in_memory) changed |= lw_strand_forget_shape(s, code->params[k].to);
    LW_EACH_IN(lw_unit_live(s->u, s->u->block_at[0]), s->u->words, reg) {
        const lw_shape alike = lw_shape_alike_in(lw_unit_bits(s->u, reg), LW_WARP_BITS);
        if (s->shapes[reg].kind != LW_SHAPE_unseen) changed |= set_shape(s, reg, &alike);
    }
    return changed;
}

void lw_strand_find_shapes(lw_strand *s) {
    for (bool changed = true; changed;) {
        changed = meet_entering(s);
        for (uint32_t n = 0; n < s->u->count; n++) {
            LW_EACH_WRITTEN(s->u->code, lw_unit_op(s->u, n), at) {
                const lw_shape shape = shape_of(s, n, *at);
                changed |= set_shape(s, *at, &shape);
            }
        }
    }
}

bool lw_strand_forget_shape(lw_strand *s, uint32_t reg) {
    const lw_shape any = lw_shape_any(lw_unit_bits(s->u, reg));
    return set_shape(s, reg, &any);
}

/* What nothing that is known writes may be anything, and so may what is made of it. */
bool lw_strand_forget_unseen(lw_strand *s) {
    bool changed = false;
    for (uint32_t v = 0; v < s->u->code->virtual_count; v++) {
        if (s->shapes[v].kind != LW_SHAPE_unseen || s->u->code->registers[v].is_const) continue;
        s->shapes[v] = lw_shape_any(lw_unit_bits(s->u, v));
        changed = true;
    }
    return changed;
}
