/* strand_ops.c: one operation of a strand: its code where it goes lane by lane, a call of the interpreter's step where
 * not. */
#include "run/jit/strand.h"

#include "base/special_id.h"

/* ---- Element by element ------------------------------------------------------------------------------------------ */

/* Whether lanes of a run have different elements of a register, which may wrap. */
static bool may_wrap(const lw_strand *s, uint32_t reg, uint32_t run) {
    if (reg == LW_NO_SLOT) return false;
    const lw_shape shape = lw_strand_shape(s, reg);
    if (shape.kind != LW_SHAPE_row) return true;
    run = run < shape.run ? run : shape.run;
    return lw_shape_alike(&shape) < run && !lw_shape_is_exact(&shape, run);
}

/* The at-th run of a narrow register may be made wider one by one. */
static LLVMValueRef wraps_not(lw_strand *s, uint32_t reg, bool is_signed, uint32_t run, uint32_t at) {
    const lw_build *b = lw_strand_build(s);
    int64_t least, most;
    lw_shape_span(&s->shapes[reg], run, &least, &most);
    LLVMValueRef base = lw_strand_base_of(s, reg, run, at);
    base = is_signed ? LLVMBuildSExt(b->at, base, b->i64, "") : LLVMBuildZExt(b->at, base, b->i64, "");
    const int64_t low = (is_signed ? INT32_MIN : 0) - least, high = (is_signed ? INT32_MAX : UINT32_MAX) - most;
    LLVMValueRef good = lw_build_is(b, LLVMIntSLE, base, lw_build_number(b, 64, (uint64_t)high));
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntSGE, base, lw_build_number(b, 64, (uint64_t)low)), "");
}

/* That narrow operands in a row do not wrap within a run of the result, or that would be none; NULL: they cannot. */
static LLVMValueRef no_wrap(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t narrow[] = {op->a, op->b}, run = s->shapes[op->d].run;
    LLVMValueRef good = NULL;
    bool is_signed;
    if (!lw_strand_widens(op, &is_signed)) return NULL;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t at = 0; may_wrap(s, narrow[k], run) && at < lw_strand_runs(run); at++) {
            LLVMValueRef one = wraps_not(s, narrow[k], is_signed, run, at);
            good = good ? LLVMBuildAnd(lw_strand_build(s)->at, good, one, "") : one;
        }
    return good;
}

static bool all_uniform(const lw_strand *s, const lw_op *op) {
    LW_EACH_READ(s->u->code, op, at) if (!lw_strand_is_uniform(s, *at)) return false;
    return true;
}

/* What body.c is told of the registers of one operation: of a run, or of a chunk. */
static void give_scalars(lw_strand *s, const lw_op *op, lw_values *v, uint32_t run, uint32_t at) {
    LW_EACH_READ(s->u->code, op, reg)
    if (!s->u->code->registers[*reg].is_const) v->scalar[*reg] = lw_strand_base_of(s, *reg, run, at);
}
static void give_vectors(lw_strand *s, const lw_op *op, lw_values *v, uint32_t chunk) {
    LW_EACH_READ(s->u->code, op, at) v->vector[chunk][*at] = lw_strand_vector(s, *at, chunk);
}
static void take_back(const lw_strand *s, const lw_op *op, lw_values *v) {
    for (int way = 0; way < 2; way++) LW_EACH_(s->u->code, op, at, way ? LW_WRITTEN : LW_READ) {
            v->scalar[*at] = NULL;
            for (uint32_t c = 0; c < s->chunks; c++) v->vector[c][*at] = NULL;
        }
}

static lw_values no_values(const lw_strand *s) {
    lw_values v = {.scalar = s->u->build->values, .chunks = s->chunks};
    for (uint32_t c = 0; c < LW_CHUNKS; c++) v.vector[c] = v.scalar + (size_t)(2 + c) * s->u->code->virtual_count;
    return v;
}

static LLVMValueRef emit_scalar(lw_strand *s, const lw_op *op, uint32_t run, uint32_t at) {
    lw_values v = no_values(s);
    give_scalars(s, op, &v, run, at);
    LLVMValueRef value = lw_body_scalar(s->u, op, &v);
    if (!value) lw_bug("operation code %u gives no one value", op->code);
    take_back(s, op, &v);
    return value;
}

static void put_bases(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t run = s->shapes[op->d].run;
    for (uint32_t at = 0; at < lw_strand_runs(run); at++) lw_strand_put_row(s, op->d, at, emit_scalar(s, op, run, at));
}

static void emit_row(lw_strand *s, uint32_t n) {
    LLVMValueRef good = no_wrap(s, n);
    if (good) lw_strand_demand(s, n, good);
    put_bases(s, n);
}

static void emit_chunk(lw_strand *s, uint32_t n, uint32_t chunk) {
    lw_unit *u = s->u;
    const lw_op *op = lw_unit_op(u, n);
    if (all_uniform(s, op) && (op->code == LW_OP_ld || lw_op_does(op, LW_DOES_ALIKE))) {
        lw_strand_put(s, n, op->d, chunk, lw_value_splat(lw_strand_build(s), emit_scalar(s, op, LW_WARP_BITS, 0)));
        return;
    }
    lw_values v = no_values(s);
    give_vectors(s, op, &v, chunk);
    lw_body_vector(u, op, &v, chunk, NULL);
    LLVMValueRef value = v.vector[chunk][op->d];
    take_back(s, op, &v);
    lw_strand_put(s, n, op->d, chunk, value);
}

bool lw_strand_is_body(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    uint64_t at;
    return (lw_row_of(op->code)->compiled == LW_COMPILED_body && op->code != LW_OP_pattern &&
            op->code != LW_OP_beyond) ||
           lw_is_parameter(u->program, u->code, op, &at);
}

static bool reads(const lw_unit *u, uint32_t n, uint32_t reg) {
    LW_EACH_READ(u->code, lw_unit_op(u, n), at) if (*at == reg) return true;
    return false;
}

/* A long lane function stands there once, in a loop over the chunks. */
static void emit_long(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_values v = no_values(s);
    LLVMValueRef rooms[LW_FIELDS];
    uint32_t regs[LW_FIELDS], count = 0;
    LW_EACH_READ(s->u->code, op, at) {
        if (lw_strand_is_uniform(s, *at)) {
            v.scalar[*at] = lw_strand_base(s, *at);
            continue;
        }
        LLVMTypeRef type = lw_build_vector(b, lw_unit_bits(s->u, *at));
        regs[count] = *at, rooms[count] = lw_build_stack(b, LLVMArrayType(type, s->chunks));
        for (uint32_t c = 0; c < s->chunks; c++)
            LLVMBuildStore(b->at, lw_strand_vector(s, *at, c), lw_build_element(b, type, rooms[count], c));
        count++;
    }
    LLVMTypeRef result = lw_build_vector(b, lw_unit_bits(s->u, op->d));
    LLVMValueRef results = lw_build_stack(b, LLVMArrayType(result, s->chunks));
    const lw_build_rounds chunk = lw_build_begin_rounds(b);
    for (uint32_t k = 0; k < count; k++) {
        LLVMTypeRef type = lw_build_vector(b, lw_unit_bits(s->u, regs[k]));
        v.vector[0][regs[k]] = LLVMBuildLoad2(b->at, type, lw_build_element_at(b, type, rooms[k], chunk.round), "");
    }
    lw_body_vector(s->u, op, &v, 0, NULL);
    LLVMBuildStore(b->at, v.vector[0][op->d], lw_build_element_at(b, result, results, chunk.round));
    take_back(s, op, &v);
    lw_build_end_rounds(b, &chunk, s->chunks);
    for (uint32_t c = 0; c < s->chunks; c++)
        lw_strand_put(s, n, op->d, c, LLVMBuildLoad2(b->at, result, lw_build_element(b, result, results, c), ""));
}

/* Of a vector's elements, not of one for all. */
static bool is_long(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    return lw_strand_is_body(s->u, n) && !lw_strand_is_row(s, op->d) && !all_uniform(s, op) &&
           lw_body_length(s->u, op) > LW_STRAND_LONG;
}

/* It may leave the rest to the interpreter, which wants all that stands in front of it to be done. */
static bool may_leave(const lw_strand *s, const lw_op *op) {
    bool is_signed;
    if (!lw_strand_widens(op, &is_signed)) return false;
    return may_wrap(s, op->a, LW_WARP_BITS) || may_wrap(s, op->b, LW_WARP_BITS);
}

bool lw_strand_is_short(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (!lw_strand_is_body(s->u, n) || is_long(s, n)) return false;
    return !lw_strand_is_row(s, op->d) || !may_leave(s, op);
}

/* A stretch of operations that go element by element, as many chunks side by side as have room in the CPU's registers,
 * since none of them waits for what another one makes; the others behind them; rows first. It ends where a row is
 * written that one in front of it has to do with, or where the strand may be left, or where a guard begins or ends. */
static uint32_t stretch_end(const lw_strand *s, uint32_t first, uint32_t end) {
    const lw_unit *u = s->u;
    uint32_t n = first;
    for (; n < end && lw_strand_is_body(u, n) && u->guarded[n] == u->guarded[first] && !is_long(s, n); n++) {
        const uint32_t reg = lw_unit_op(u, n)->d;
        if (!lw_strand_is_row(s, reg)) continue;
        if (n > first && may_leave(s, lw_unit_op(u, n))) return n;
        for (uint32_t k = first; k < n; k++)
            if (lw_unit_op(u, k)->d == reg || reads(u, k, reg)) return n;
    }
    return n;
}

uint32_t lw_strand_stretch(const lw_strand *s, uint32_t n, uint32_t end) {
    return lw_strand_is_body(s->u, n) && !is_long(s, n) ? stretch_end(s, n, end) : n + 1;
}

static void emit_stretch(lw_strand *s, uint32_t first, uint32_t end) {
    for (uint32_t n = first; n < end; n++) {
        const bool is_there = s->is_plain && lw_plain_has(s, n);
        if (lw_strand_is_row(s, lw_unit_op(s->u, n)->d) && !is_there) emit_row(s, n);
    }
    const uint32_t abreast = s->abreast[first];
    for (uint32_t from = 0; from < s->chunks; from += abreast)
        for (uint32_t n = first; n < end; n++)
            for (uint32_t c = from; c < from + abreast && !lw_strand_is_row(s, lw_unit_op(s->u, n)->d); c++)
                emit_chunk(s, n, c);
}

/* ---- Special registers ------------------------------------------------------------------------------------------- */

static LLVMValueRef resize(const lw_strand *s, LLVMValueRef value, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    LLVMTypeRef type = LLVMTypeOf(value);
    type = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? lw_build_vector(b, bits) : lw_build_int(b, bits);
    return bits == 64   ? LLVMBuildZExt(b->at, value, type, "")
           : bits == 16 ? LLVMBuildTrunc(b->at, value, type, "")
                        : value;
}

static LLVMValueRef grid_word(const lw_build *b, LLVMValueRef of, size_t offset) {
    return lw_build_load(b, b->i32, of, offset, 4, LW_ALIAS_gang);
}

/* From the gang's list, which has each lane's. */
static void emit_tid(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef list = lw_build_move(b, b->gang, LLVMBuildShl(b->at, s->base, lw_build_number(b, 64, 2), ""));
    const size_t first = offsetof(lw_gang, tid) + op->b * sizeof(((lw_gang *)0)->tid[0]);
    if (lw_strand_is_row(s, op->d))
        for (uint32_t at = 0, run = s->shapes[op->d].run; at < lw_strand_runs(run); at++)
            lw_strand_put_row(s, op->d, at, resize(s, grid_word(b, list, first + ((size_t)4 << run) * at), op->d));
    else
        for (uint32_t c = 0; c < s->chunks; c++) {
            LLVMValueRef value =
                lw_build_load(b, lw_build_vector(b, 32), list, first + 4 * (size_t)(c * b->chunk), 4, LW_ALIAS_gang);
            lw_strand_put(s, n, op->d, c, resize(s, value, op->d));
        }
}

/* False: it is for the interpreter's step. */
static bool emit_special(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const size_t word = 4 * (size_t)op->b;
    LLVMValueRef value;
    uint64_t known;
    if (op->a == LW_SPECIAL_tid && op->b <= 2) {
        emit_tid(s, n);
        return true;
    }
    if (op->a == LW_SPECIAL_laneid && lw_strand_is_row(s, op->d)) {
        for (uint32_t at = 0, run = s->shapes[op->d].run; at < lw_strand_runs(run); at++)
            lw_strand_put_row(s, op->d, at, lw_build_number(b, lw_unit_bits(s->u, op->d), at << run));
        return true;
    }
    if (!lw_strand_is_uniform(s, op->d)) return false;
    if (op->b > 2) value = lw_build_number(b, 32, 0);
    else switch (op->a) {
        case LW_SPECIAL_ntid:
            value = grid_word(b, lw_build_grid(b), offsetof(lw_grid, block) + word);
            if (lw_shape_is_number(&s->shapes[op->d], &known)) value = lw_build_number(b, 32, known);
            break;
        case LW_SPECIAL_nctaid: value = grid_word(b, lw_build_grid(b), offsetof(lw_grid, shape) + word); break;
        case LW_SPECIAL_ctaid: value = grid_word(b, lw_build_cta(b), offsetof(lw_cta, index) + word); break;
        default: return false;
        }
    lw_strand_put_runs(s, n, op->d, LW_WARP_BITS, &(LLVMValueRef){resize(s, value, op->d)});
    return true;
}

static void recall(lw_strand *s, uint32_t n, LLVMBasicBlockRef other) {
    if (lw_unit_op(s->u, n)->code == LW_OP_special) {
        if (!emit_special(s, n)) lw_bug("operation %u does not follow from the launch", n);
        return;
    }
    LLVMValueRef good = no_wrap(s, n);
    if (good) lw_build_unless(lw_strand_build(s), good, other);
    put_bases(s, n);
}

void lw_strand_recall(lw_strand *s, const uint64_t *set, LLVMBasicBlockRef other) {
    for (uint32_t n = 0; n < s->u->count; n++) LW_EACH_WRITTEN(s->u->code, lw_unit_op(s->u, n), at) {
            if (s->given[*at] == n + 1 && lw_set_has(set, *at)) recall(s, n, other);
        }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void begin_guard(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef inside = lw_strand_chosen(s, op, s->now);
    s->guard = s->now;
    s->guard_end = lw_build_block(b, "unguard");
    lw_build_if(b, lw_build_is(b, LLVMIntNE, inside, lw_build_number(b, 32, 0)), s->guard_end);
    lw_strand_begin_way(s, false);
    lw_strand_execute(s, inside);
}

static void end_guard(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMBuildBr(b->at, s->guard_end);
    LLVMPositionBuilderAtEnd(b->at, s->guard_end);
    lw_strand_end_way(s);
    lw_strand_execute(s, s->guard);
    s->guard = NULL;
}

uint32_t lw_strand_op(lw_strand *s, uint32_t n, uint32_t end) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t next = lw_strand_stretch(s, n, end);
    if (is_long(s, n)) emit_long(s, n);
    else if (lw_strand_is_body(s->u, n)) emit_stretch(s, n, next);
    else if (op->code == LW_OP_guard) begin_guard(s, n);
    else if (op->code == LW_OP_unguard) end_guard(s);
    else if (op->code == LW_OP_warp_sync) lw_strand_meet(s, n);
    else if (op->code == LW_OP_ld) lw_strand_load(s, n);
    else if (op->code == LW_OP_st) lw_strand_store(s, n);
    else if (op->code == LW_OP_local_base) lw_strand_local_base(s, n);
    else if (lw_strand_changes(s->u, n)) lw_strand_atomic(s, n);
    else if (!(op->code == LW_OP_special && emit_special(s, n)) &&
             !(lw_op_does(op, LW_DOES_EXCHANGES) && lw_strand_exchange(s, n)))
        lw_strand_call(s, n);
    return next;
}
