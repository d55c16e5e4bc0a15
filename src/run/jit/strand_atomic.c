/* strand_atomic.c: accesses of a strand whose lanes go each their own way, one by one in their order; atomic
 * operations. On shared memory, which one thread has, nobody comes between; on others they are a call of the core
 * (interp/atomic.c).
 */
#include "run/jit/strand_course.h"

bool lw_strand_changes(const lw_unit *u, uint32_t n) {
    const lw_op *op = lw_unit_op(u, n);
    if (op->code != LW_OP_atom || op->flags & LW_OP_IMM_A) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_strand_moves(form) || form.window != LW_WINDOW_shared || form.is_const || form.vector) return false;
    if (form.size < 2 || form.size != form.slot) return false;
    switch ((lw_atom_op)op->mode) {
    case LW_ATOM_add_float:
    case LW_ATOM_add_half:
    case LW_ATOM_min_half:
    case LW_ATOM_max_half: return false;
    default: return true;
    }
}

/* What is there then. */
static LLVMValueRef apply(const lw_build *b, lw_atom_op kind, LLVMValueRef old, LLVMValueRef x, LLVMValueRef y) {
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
    default: lw_bug("atomic of kind %d", (int)kind);
    }
#undef CHOICE
}

static LLVMValueRef make_room(const lw_strand *s, LLVMTypeRef of_chunk) {
    return lw_build_stack(lw_strand_build(s), LLVMArrayType(of_chunk, s->chunks));
}

/* Chunks, in memory by lanes. */
LLVMValueRef lw_turn_chunks(const lw_strand *s, LLVMValueRef *chunks) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef room = make_room(s, LLVMTypeOf(*chunks));
    for (uint32_t c = 0; c < s->chunks; c++)
        LLVMBuildStore(b->at, chunks[c], lw_build_element(b, LLVMTypeOf(chunks[c]), room, c));
    return room;
}

LLVMValueRef lw_turn_list(lw_strand *s, uint32_t reg) {
    LLVMValueRef chunks[LW_CHUNKS];
    for (uint32_t c = 0; c < s->chunks; c++) chunks[c] = lw_strand_vector(s, reg, c);
    return lw_turn_chunks(s, chunks);
}

/* The address of each lane of a chunk. */
static LLVMValueRef addresses(lw_strand *s, const lw_op *op, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!form.address) return lw_value_splat(b, lw_course_number(s, op->imm));
    LLVMValueRef at = lw_strand_vector(s, op->a, chunk),
                 more = LLVMConstInt(form.address == 1 ? b->i32 : b->i64, op->imm, false);
    at = LLVMBuildAdd(b->at, at, lw_value_splat(b, more), "");
    return form.address == 1 ? LLVMBuildZExt(b->at, at, lw_build_vector(b, 64), "") : at;
}

LLVMValueRef lw_turn_find(lw_strand *s, const lw_op *op, lw_turn *turn) {
    const lw_build *b = lw_strand_build(s);
    const lw_memory_form form = lw_memory_unpack(op->c);
    const bool is_local = form.window == LW_WINDOW_local;
    LLVMValueRef bad = NULL, each = lw_course_number(s, turn->bytes);
    LLVMValueRef size = is_local ? lw_local_room(s, &turn->host) : lw_course_shared(s, &turn->host);
    LLVMValueRef room = lw_value_splat(b, LLVMBuildSub(b->at, size, each, "")), zero = LLVMConstNull(LLVMTypeOf(room));
    LLVMValueRef low = lw_value_splat(b, lw_course_number(s, turn->bytes - 1));
    LLVMValueRef frame = is_local ? lw_value_splat(b, lw_local_frame(s, form)) : NULL;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = addresses(s, op, c);
        if (is_local) at = LLVMBuildAdd(b->at, at, frame, "");
        at = LLVMBuildSelect(b->at, lw_strand_on(s, c), at, zero, "");
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, LLVMBuildAnd(b->at, at, low, ""), zero, "");
        is = LLVMBuildOr(b->at, is, LLVMBuildICmp(b->at, LLVMIntUGT, at, room, ""), "");
        bad = bad ? LLVMBuildOr(b->at, bad, is, "") : is;
        turn->ways[c] = is_local ? lw_local_ways(s, at, c) : at;
    }
    LLVMValueRef word = LLVMBuildBitCast(b->at, bad, lw_build_int(b, b->chunk), "");
    LLVMValueRef good = lw_build_is(b, LLVMIntEQ, word, LLVMConstNull(LLVMTypeOf(word)));
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, each, size), "");
}

LLVMValueRef lw_turn_element(const lw_build *b, LLVMTypeRef type, LLVMValueRef room, LLVMValueRef lane) {
    return LLVMBuildLoad2(b->at, type, lw_build_element_at(b, type, room, lane), "");
}

lw_each lw_each_begin(const lw_strand *s, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    lw_each each = {.before = LLVMGetInsertBlock(b->at), .loop = lw_build_block(b, "lane"), .lanes = lanes};
    LLVMBuildBr(b->at, each.loop);
    LLVMPositionBuilderAtEnd(b->at, each.loop);
    each.left = LLVMBuildPhi(b->at, b->i32, "");
    each.lane = LLVMBuildZExt(b->at, lw_build_bits(b, "llvm.cttz", each.left), b->i64, "");
    return each;
}

void lw_each_end(const lw_strand *s, const lw_each *each) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef done = lw_build_block(b, "");
    LLVMValueRef less = LLVMBuildSub(b->at, each->left, lw_build_number(b, 32, 1), "");
    LLVMValueRef others = LLVMBuildAnd(b->at, each->left, less, "");
    LLVMAddIncoming(each->left, (LLVMValueRef[]){each->lanes, others},
                    (LLVMBasicBlockRef[]){each->before, LLVMGetInsertBlock(b->at)}, 2);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, others, lw_build_number(b, 32, 0)), each->loop, done);
    LLVMPositionBuilderAtEnd(b->at, done);
}

void lw_turn_begin(lw_strand *s, lw_turn *turn) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef away = lw_turn_chunks(s, turn->ways);
    turn->each = lw_each_begin(s, s->now);
    turn->place = lw_build_move(b, turn->host, lw_turn_element(b, b->i64, away, turn->each.lane));
}

void lw_turn_end(lw_strand *s, const lw_turn *turn) { lw_each_end(s, &turn->each); }

void lw_strand_atomic(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_turn turn = {.bytes = 1u << lw_memory_unpack(op->c).size};
    const lw_fork fork = lw_strand_fork(s, lw_turn_find(s, op, &turn));
    LLVMTypeRef type = lw_build_int(b, 8 * turn.bytes), vector = lw_build_vector(b, 8 * turn.bytes);
    LLVMValueRef xs = lw_turn_list(s, op->b), ys = op->e != LW_NO_SLOT ? lw_turn_list(s, op->e) : NULL;
    LLVMValueRef results = op->d != LW_NO_SLOT ? make_room(s, vector) : NULL;
    lw_turn_begin(s, &turn);
    LLVMValueRef old = lw_build_load(b, type, turn.place, 0, turn.bytes, LW_ALIAS_memory);
    LLVMValueRef x = lw_turn_element(b, type, xs, turn.each.lane),
                 y = ys ? lw_turn_element(b, type, ys, turn.each.lane) : x;
    lw_build_store(b, apply(b, (lw_atom_op)op->mode, old, x, y), turn.place, 0, turn.bytes, LW_ALIAS_memory);
    if (results) LLVMBuildStore(b->at, old, lw_build_element_at(b, type, results, turn.each.lane));
    lw_turn_end(s, &turn);
    for (uint32_t c = 0; results && c < s->chunks; c++)
        lw_strand_put(s, n, op->d, c, LLVMBuildLoad2(b->at, vector, lw_build_element(b, vector, results, c), ""));
    lw_strand_or_step(s, n, &fork);
}
