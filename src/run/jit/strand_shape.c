/* strand_shape.c: what the registers of a strand have in neighbouring lanes, as far as operations and the layout of the
 * threads say. */
#include "run/jit/strand.h"

#include "base/special_id.h"

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

/* The low bits of the bases that a row has in shorter runs: there they count what the longer ones had steps for. */
static uint32_t low_in(const lw_shape *a, uint32_t run) {
    uint32_t low = a->low;
    for (uint32_t k = run; k < a->run; k++)
        if (a->step[k] && (uint32_t)__builtin_ctz((uint32_t)a->step[k]) < low)
            low = (uint32_t)__builtin_ctz((uint32_t)a->step[k]);
    return low;
}
static uint32_t least_low(const lw_shape *a, const lw_shape *b, uint32_t run) {
    const uint32_t of_a = low_in(a, run), of_b = low_in(b, run);
    return of_a < of_b ? of_a : of_b;
}

static lw_shape sum(const lw_shape *a, const lw_shape *b, int32_t sign) {
    lw_shape shape = alike_in(a->run < b->run ? a->run : b->run);
    shape.low = least_low(a, b, shape.run);
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

/* The low bits of one number at a place in another. */
static lw_shape inserted(const lw_strand *s, const lw_op *op) {
    const lw_shape of_a = lw_strand_shape(s, op->a), of_b = lw_strand_shape(s, op->b);
    int64_t place, count;
    if (!known(s, op->c, &place) || !known(s, op->e, &count) || place < 0 || count < 0 || place > 19 || count > 31)
        return any;
    const int64_t bits = ((int64_t)1 << count) - 1;
    lw_shape a = masked(&of_a, bits), b = masked(&of_b, ~(bits << place));
    if (a.kind != LW_SHAPE_row || b.kind != LW_SHAPE_row) return any;
    a = times(&a, (int64_t)1 << place);
    return a.kind == LW_SHAPE_row ? joined(&a, &b) : any;
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
    case LW_LANE_and_b32:
    case LW_LANE_and_b64: return known(s, op->b, &number) ? masked(&a, number) : any;
    case LW_LANE_or_b32:
    case LW_LANE_or_b64: return joined(&a, &b);
    case LW_LANE_bfi_b32:
    case LW_LANE_bfi_b64: return inserted(s, op);
    case LW_LANE_xor_b32:
    case LW_LANE_xor_b64: return known(s, op->b, &number) ? flipped(&a, number) : joined(&a, &b);
    case LW_LANE_shr_s32:
    case LW_LANE_shr_s64:
    case LW_LANE_shr_u64:
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
    shape.low = least_low(a, b, run);
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

void lw_strand_find_shapes(lw_strand *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->u->count; n++) {
            const lw_shape shape = shape_of(s, n);
            LW_EACH_WRITTEN(s->u->code, lw_unit_op(s->u, n), at) changed |= set_shape(s, *at, &shape);
        }
    }
}

bool lw_strand_forget_shape(lw_strand *s, uint32_t reg) { return set_shape(s, reg, &any); }

/* What nothing that is known writes may be anything, and so may what is made of it. */
bool lw_strand_forget_unseen(lw_strand *s) {
    bool changed = false;
    for (uint32_t v = 0; v < s->u->code->virtual_count; v++) {
        if (s->shapes[v].kind != LW_SHAPE_unseen || s->u->code->registers[v].is_const) continue;
        s->shapes[v] = any;
        changed = true;
    }
    return changed;
}
