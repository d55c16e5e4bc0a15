/* strand_atomic.c: atomic operations of a strand. On shared memory, which one thread has, nobody comes between; on
 * device memory they are the host's own, of lanes in a row that go to one place at once. */
#include "run/jit/strand_course.h"

/* ---- Which ------------------------------------------------------------------------------------------------------- */

bool lw_strand_changes(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    if (op->code != LW_OP_atom || op->flags & LW_OP_IMM_A) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_strand_moves(form) || form.window == LW_WINDOW_const || form.is_const || form.vector) return false;
    if (form.size < 2 || form.size != form.slot) return false;
    switch ((lw_atom_op)op->mode) {
    case LW_ATOM_add_half:
    case LW_ATOM_min_half:
    case LW_ATOM_max_half: return false;
    default: return true;
    }
}

/* Somebody reads the result. */
static bool has_result(const lw_unit *u, const lw_op *op) {
    if (op->d == LW_NO_SLOT) return false;
    for (uint32_t n = 0; n < u->count; n++) LW_EACH_READ(u->code, lw_unit_op(u, n), at) if (*at == op->d) return true;
    return false;
}

/* Two of them without results are one with both operands: this reduction. */
static bool joins(const lw_unit *u, const lw_op *op, lw_redux_kind *kind) {
    if (has_result(u, op)) return false;
    switch ((lw_atom_op)op->mode) {
    case LW_ATOM_add: *kind = LW_REDUX_add; return true;
    case LW_ATOM_min_s: *kind = LW_REDUX_min_s; return true;
    case LW_ATOM_min_u: *kind = LW_REDUX_min_u; return true;
    case LW_ATOM_max_s: *kind = LW_REDUX_max_s; return true;
    case LW_ATOM_max_u: *kind = LW_REDUX_max_u; return true;
    case LW_ATOM_and: *kind = LW_REDUX_and; return true;
    case LW_ATOM_or: *kind = LW_REDUX_or; return true;
    case LW_ATOM_xor: *kind = LW_REDUX_xor; return true;
    default: return false;
    }
}

static LLVMValueRef is_nan(const lw_build *b, LLVMValueRef x) { /* a double */
    LLVMValueRef magnitude = LLVMBuildAnd(b->at, x, lw_build_number(b, 64, INT64_MAX), "");
    return lw_build_is(b, LLVMIntUGT, magnitude, lw_build_number(b, 64, 0x7ff0000000000000));
}

/* Which NaN of doubles comes out is said in interp/atomic.c: in device memory the operand, else what was there, as it
 * is. */
static LLVMValueRef add_float(const lw_build *b, const lw_op *op, LLVMValueRef old, LLVMValueRef x) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const lw_lane_id lane = lw_called_lane(op);
    if (form.size == 2) return lw_body_call(b, lane, (LLVMValueRef[]){old, x});
    LLVMValueRef sum = lw_body_call(b, lane, (LLVMValueRef[]){x, old});
    if (form.window == LW_WINDOW_shared) return sum;
    sum = LLVMBuildSelect(b->at, is_nan(b, old), old, sum, "");
    return LLVMBuildSelect(b->at, is_nan(b, x), x, sum, "");
}

/* What is there then. */
static LLVMValueRef apply(const lw_build *b, const lw_op *op, LLVMValueRef old, LLVMValueRef x, LLVMValueRef y) {
    const lw_atom_op kind = (lw_atom_op)op->mode;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(old)), one = LLVMConstInt(LLVMTypeOf(old), 1, false);
#define CHOICE(how, p, q, then, other) LLVMBuildSelect(b->at, lw_build_is(b, LLVMInt##how, p, q), then, other, "")
    switch (kind) {
    case LW_ATOM_add: return LLVMBuildAdd(b->at, old, x, "");
    case LW_ATOM_min_s: return CHOICE(SLT, x, old, x, old);
    case LW_ATOM_min_u: return CHOICE(ULT, x, old, x, old);
    case LW_ATOM_max_s: return CHOICE(SGT, x, old, x, old);
    case LW_ATOM_max_u: return CHOICE(UGT, x, old, x, old);
    case LW_ATOM_and: return LLVMBuildAnd(b->at, old, x, "");
    case LW_ATOM_or: return LLVMBuildOr(b->at, old, x, "");
    case LW_ATOM_xor: return LLVMBuildXor(b->at, old, x, "");
    case LW_ATOM_exch: return x;
    case LW_ATOM_cas: return CHOICE(EQ, old, x, y, old);
    case LW_ATOM_inc: return CHOICE(UGE, old, x, zero, LLVMBuildAdd(b->at, old, one, ""));
    case LW_ATOM_dec: {
        LLVMValueRef less = LLVMBuildSub(b->at, old, one, ""), beyond = CHOICE(UGT, old, x, x, less);
        return CHOICE(EQ, old, zero, x, beyond);
    }
    case LW_ATOM_add_float: return add_float(b, op, old, x);
    default: lw_bug("atomic of kind %d", (int)kind);
    }
#undef CHOICE
}

static bool goes_to_one(const lw_strand *s, const lw_op *op) {
    return !lw_memory_unpack(op->c).address || lw_strand_is_uniform(s, op->a);
}

/* Something has happened that others can see. */
static void note_progress(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef cluster = lw_build_load(b, b->bytes, lw_build_cta(b), offsetof(lw_cta, cluster), 8, LW_ALIAS_gang);
    lw_build_store(b, lw_build_number(b, 32, 0), cluster, offsetof(lw_cluster, idle), 4, LW_ALIAS_gang);
}

/* Operands of all lanes, in memory, and where results go; NULL: there are none. */
typedef struct lw_lists {
    LLVMTypeRef type, vector; /* of an element, of a chunk */
    LLVMValueRef xs, ys, results;
} lw_lists;

static lw_lists make_lists(lw_strand *s, const lw_op *op) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = 8u << lw_memory_unpack(op->c).size;
    lw_lists lists = {.type = lw_build_int(b, bits), .vector = lw_build_vector(b, bits)};
    lists.xs = lw_turn_list(s, op->b);
    lists.ys = op->e != LW_NO_SLOT ? lw_turn_list(s, op->e) : lists.xs;
    if (has_result(s->u, op)) lists.results = lw_turn_room(s, lists.vector);
    return lists;
}

/* What a lane makes of what is there. */
static LLVMValueRef change(const lw_build *b, const lw_op *op, const lw_lists *lists, LLVMValueRef lane,
                           LLVMValueRef old) {
    LLVMValueRef x = lw_turn_element(b, lists->type, lists->xs, lane),
                 y = lists->ys == lists->xs ? x : lw_turn_element(b, lists->type, lists->ys, lane);
    if (lists->results) LLVMBuildStore(b->at, old, lw_build_element_at(b, lists->type, lists->results, lane));
    return apply(b, op, old, x, y);
}

static void put_results(lw_strand *s, uint32_t n, const lw_lists *lists) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t c = 0; lists->results && c < s->chunks; c++) {
        LLVMValueRef place = lw_build_element(b, lists->vector, lists->results, c);
        lw_strand_put(s, n, lw_unit_op(s->u, n)->d, c, LLVMBuildLoad2(b->at, lists->vector, place, ""));
    }
}

/* ---- Lanes that change one place together ------------------------------------------------------------------------ */

typedef struct lw_run {
    LLVMBasicBlockRef begins, lane, ends, done;
    LLVMValueRef left, place, way, first; /* lanes when it begins; where it goes; what is there */
} lw_run;

static LLVMValueRef lane_of(const lw_build *b, LLVMValueRef left) { /* of none any */
    LLVMValueRef lane = LLVMBuildAnd(b->at, lw_build_bits(b, "llvm.cttz", left), lw_build_number(b, 32, 31), "");
    return LLVMBuildZExt(b->at, lane, b->i64, "");
}

/* What its lanes make of it, one behind the other, up to one that goes elsewhere. Returns those from there on. */
static LLVMValueRef run_lanes(lw_strand *s, const lw_op *op, const lw_lists *lists, const lw_run *run,
                              LLVMValueRef away, LLVMValueRef *value) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b->at);
    LLVMBuildBr(b->at, run->lane);
    LLVMPositionBuilderAtEnd(b->at, run->lane);
    LLVMValueRef left = LLVMBuildPhi(b->at, b->i32, ""), so_far = LLVMBuildPhi(b->at, lists->type, "");
    *value = change(b, op, lists, lane_of(b, left), so_far);
    LLVMValueRef rest = LLVMBuildAnd(b->at, left, LLVMBuildSub(b->at, left, lw_build_number(b, 32, 1), ""), "");
    LLVMValueRef more = lw_build_is(b, LLVMIntNE, rest, lw_build_number(b, 32, 0));
    if (away) {
        LLVMValueRef next = lw_turn_element(b, b->i64, away, lane_of(b, rest));
        more = LLVMBuildAnd(b->at, more, lw_build_is(b, LLVMIntEQ, next, run->way), "");
    }
    LLVMBasicBlockRef from[] = {before, LLVMGetInsertBlock(b->at)};
    LLVMAddIncoming(left, (LLVMValueRef[]){run->left, rest}, from, 2);
    LLVMAddIncoming(so_far, (LLVMValueRef[]){run->first, *value}, from, 2);
    LLVMBuildCondBr(b->at, more, run->lane, run->ends);
    LLVMPositionBuilderAtEnd(b->at, run->ends);
    return rest;
}

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

/* All lanes go to one place, which is read once and written once. */
static void change_one(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t bytes = 1u << lw_memory_unpack(op->c).size;
    lw_run run = {.left = s->now};
    lw_redux_kind kind;
    const lw_fork fork = lw_strand_fork(s, lw_turn_find_one(s, n, bytes, &run.place));
    LLVMValueRef value;
    run.first = lw_build_load(b, lw_build_int(b, 8 * bytes), run.place, 0, bytes, LW_ALIAS_memory);
    if (joins(s->u, op, &kind)) {
        value = apply(b, op, run.first, lw_strand_reduce(s, kind, op->b, s->now), NULL);
        lw_build_store(b, value, run.place, 0, bytes, LW_ALIAS_memory);
    } else {
        const lw_lists lists = make_lists(s, op);
        run.lane = lw_build_block(b, "lane"), run.ends = lw_build_block(b, "ends");
        run_lanes(s, op, &lists, &run, NULL, &value);
        lw_build_store(b, value, run.place, 0, bytes, LW_ALIAS_memory);
        put_results(s, n, &lists);
    }
    note_progress(s);
    lw_strand_or_step(s, n, &fork);
}

/* Each goes its own way, one behind the other. */
static void change_each(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_turn turn = {.bytes = 1u << lw_memory_unpack(op->c).size};
    const lw_fork fork = lw_strand_fork(s, lw_turn_find(s, n, &turn));
    const lw_lists lists = make_lists(s, op);
    lw_turn_begin(s, &turn);
    LLVMValueRef old = lw_build_load(b, lists.type, turn.place, 0, turn.bytes, LW_ALIAS_memory);
    lw_build_store(b, change(b, op, &lists, turn.each.lane, old), turn.place, 0, turn.bytes, LW_ALIAS_memory);
    lw_turn_end(s, &turn);
    note_progress(s);
    put_results(s, n, &lists);
    lw_strand_or_step(s, n, &fork);
}

/* ---- Device memory ----------------------------------------------------------------------------------------------- */

static LLVMValueRef as_pointer(const lw_build *b, LLVMValueRef place, LLVMTypeRef type) {
    return LLVMBuildBitCast(b->at, place, LLVMPointerType(type, 0), "");
}

/* One operation of the host, of whose result nobody asks. */
static void change_at_once(const lw_build *b, lw_redux_kind kind, LLVMValueRef place, LLVMValueRef x) {
    static const LLVMAtomicRMWBinOp ops[] = {
        [LW_REDUX_add] = LLVMAtomicRMWBinOpAdd,    [LW_REDUX_min_s] = LLVMAtomicRMWBinOpMin,
        [LW_REDUX_min_u] = LLVMAtomicRMWBinOpUMin, [LW_REDUX_max_s] = LLVMAtomicRMWBinOpMax,
        [LW_REDUX_max_u] = LLVMAtomicRMWBinOpUMax, [LW_REDUX_and] = LLVMAtomicRMWBinOpAnd,
        [LW_REDUX_or] = LLVMAtomicRMWBinOpOr,      [LW_REDUX_xor] = LLVMAtomicRMWBinOpXor,
    };
    LLVMBuildAtomicRMW(b->at, ops[kind], as_pointer(b, place, LLVMTypeOf(x)), x,
                       LLVMAtomicOrderingSequentiallyConsistent, false);
}

static LLVMValueRef load_relaxed(const lw_build *b, LLVMTypeRef type, LLVMValueRef place, uint32_t bytes) {
    LLVMValueRef value = LLVMBuildLoad2(b->at, type, as_pointer(b, place, type), "");
    LLVMSetOrdering(value, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(value, bytes);
    return value;
}

/* What the lanes made of the place becomes what is there. Where somebody else was faster they go again: by a branch, so
 * that whoever is next need not wait for this. */
static void swap(const lw_build *b, const lw_lists *lists, const lw_run *run, LLVMValueRef value) {
    LLVMBasicBlockRef again = lw_build_block(b, "again"), on = lw_build_block(b, "");
    LLVMValueRef swapped = LLVMBuildAtomicCmpXchg(b->at, as_pointer(b, run->place, lists->type), run->first, value,
                                                  LLVMAtomicOrderingSequentiallyConsistent, LLVMAtomicOrderingMonotonic,
                                                  false);
    LLVMBuildCondBr(b->at, LLVMBuildExtractValue(b->at, swapped, 1, ""), on, again);
    LLVMPositionBuilderAtEnd(b->at, again);
    LLVMTypeRef nothing = LLVMFunctionType(LLVMVoidTypeInContext(b->context), NULL, 0, false);
    LLVMValueRef keeps = LLVMGetInlineAsm(nothing, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(b->at, nothing, keeps, NULL, 0, ""); /* an empty block would become a choice of numbers */
    LLVMAddIncoming(run->left, (LLVMValueRef *)&run->left, &again, 1);
    LLVMBuildBr(b->at, run->begins);
    LLVMPositionBuilderAtEnd(b->at, on);
}

/* The host has one operation for it that gives what was there. */
static bool has_alone(const lw_op *op) {
    return op->mode == LW_ATOM_add || op->mode == LW_ATOM_exch || op->mode == LW_ATOM_cas;
}

/* That of one lane. Returns what was there. */
static LLVMValueRef change_alone(const lw_build *b, const lw_op *op, const lw_lists *lists, LLVMValueRef lane,
                                 LLVMValueRef place) {
    const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    LLVMValueRef x = lw_turn_element(b, lists->type, lists->xs, lane), to = as_pointer(b, place, lists->type);
    switch ((lw_atom_op)op->mode) {
    case LW_ATOM_add: return LLVMBuildAtomicRMW(b->at, LLVMAtomicRMWBinOpAdd, to, x, order, false);
    case LW_ATOM_exch: return LLVMBuildAtomicRMW(b->at, LLVMAtomicRMWBinOpXchg, to, x, order, false);
    case LW_ATOM_cas: {
        LLVMValueRef y = lw_turn_element(b, lists->type, lists->ys, lane);
        LLVMValueRef swapped = LLVMBuildAtomicCmpXchg(b->at, to, x, y, order, order, false);
        return LLVMBuildExtractValue(b->at, swapped, 0, "");
    }
    default: lw_bug("atomic of kind %u", op->mode);
    }
}

/* A run of one lane goes there by itself, if the host can, and on to the next one; else a block for longer ones begins.
 */
static void try_alone(lw_strand *s, const lw_op *op, const lw_lists *lists, lw_run *run, LLVMValueRef away) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef alone = lw_build_block(b, "alone"), together = lw_build_block(b, "together");
    LLVMValueRef lane = lane_of(b, run->left), none = lw_build_number(b, 32, 0);
    LLVMValueRef rest =
        LLVMBuildAnd(b->at, run->left, LLVMBuildSub(b->at, run->left, lw_build_number(b, 32, 1), ""), "");
    LLVMValueRef next = lw_turn_element(b, b->i64, away, lane_of(b, rest)),
                 is_last = lw_build_is(b, LLVMIntEQ, rest, none);
    LLVMValueRef is = LLVMBuildOr(b->at, is_last, lw_build_is(b, LLVMIntNE, next, run->way), "");
    LLVMBuildCondBr(b->at, is, alone, together);
    LLVMPositionBuilderAtEnd(b->at, alone);
    LLVMValueRef old = change_alone(b, op, lists, lane, run->place);
    if (lists->results) LLVMBuildStore(b->at, old, lw_build_element_at(b, lists->type, lists->results, lane));
    LLVMAddIncoming(run->left, &rest, &alone, 1);
    LLVMBuildCondBr(b->at, is_last, run->done, run->begins);
    LLVMPositionBuilderAtEnd(b->at, together);
}

/* Run by run, each of them by one operation of the host; where somebody else came between, once more. turn NULL: all go
 * to one place. */
static void change_runs(lw_strand *s, const lw_op *op, const lw_lists *lists, const lw_turn *turn, LLVMValueRef place) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bytes = 1u << lw_memory_unpack(op->c).size;
    lw_redux_kind kind;
    const bool once = joins(s->u, op, &kind);
    LLVMValueRef away = turn ? lw_turn_chunks(s, (LLVMValueRef *)turn->ways) : NULL, value;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b->at);
    lw_run run = {.begins = lw_build_block(b, "run"), .lane = lw_build_block(b, "lane")};
    run.ends = lw_build_block(b, "ends"), run.done = lw_build_block(b, "");
    LLVMBuildBr(b->at, run.begins);
    LLVMPositionBuilderAtEnd(b->at, run.begins);
    run.left = LLVMBuildPhi(b->at, b->i32, ""), run.place = place;
    if (turn) {
        run.way = lw_turn_element(b, b->i64, away, lane_of(b, run.left));
        run.place = lw_build_move(b, turn->host, run.way);
        if (!once && has_alone(op)) try_alone(s, op, lists, &run, away);
    }
    run.first = once ? LLVMConstInt(lists->type, lw_strand_neutral(kind, 8 * bytes), false)
                     : load_relaxed(b, lists->type, run.place, bytes);
    LLVMValueRef others = run_lanes(s, op, lists, &run, away, &value);
    if (once) change_at_once(b, kind, run.place, value);
    else swap(b, lists, &run, value);
    LLVMAddIncoming(run.left, (LLVMValueRef[]){s->now, others},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(b->at)}, 2);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, others, lw_build_number(b, 32, 0)), run.begins, run.done);
    LLVMPositionBuilderAtEnd(b->at, run.done);
}

static void change_device(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const bool is_one = goes_to_one(s, op);
    lw_turn turn = {.bytes = 1u << lw_memory_unpack(op->c).size};
    lw_redux_kind kind;
    LLVMValueRef place = NULL;
    const lw_fork fork =
        lw_strand_fork(s, is_one ? lw_turn_find_one(s, n, turn.bytes, &place) : lw_turn_find(s, n, &turn));
    if (is_one && joins(s->u, op, &kind)) change_at_once(b, kind, place, lw_strand_reduce(s, kind, op->b, s->now));
    else {
        const lw_lists lists = make_lists(s, op);
        change_runs(s, op, &lists, is_one ? NULL : &turn, place);
        put_results(s, n, &lists);
    }
    note_progress(s);
    lw_strand_or_step(s, n, &fork);
}

void lw_strand_atomic(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (lw_memory_unpack(op->c).window != LW_WINDOW_shared) change_device(s, n);
    else if (goes_to_one(s, op)) change_one(s, n);
    else change_each(s, n);
}
