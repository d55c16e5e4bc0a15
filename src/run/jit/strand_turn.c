/* strand_turn.c: accesses of a strand whose lanes go each their own way: where they may, and lane by lane, in their
 * order. */
#include "run/jit/strand_course.h"

LLVMValueRef lw_turn_room(const lw_strand *s, LLVMTypeRef of_chunk) {
    return lw_build_stack(lw_strand_build(s), LLVMArrayType(of_chunk, s->chunks));
}

/* Chunks, in memory by lanes. */
LLVMValueRef lw_turn_chunks(const lw_strand *s, LLVMValueRef *chunks) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef room = lw_turn_room(s, LLVMTypeOf(*chunks));
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

/* What lanes may go to: addresses from `base` on, of so many bytes. */
typedef struct lw_stretch {
    LLVMValueRef base, size, host, good;
} lw_stretch;

static lw_stretch find_stretch(lw_strand *s, uint32_t n, lw_memory_form form) {
    const lw_build *b = lw_strand_build(s);
    lw_stretch to = {.base = lw_course_number(s, 0), .good = lw_build_number(b, 1, 1)};
    if (form.window == LW_WINDOW_shared) to.size = lw_course_shared(s, &to.host);
    else if (form.window == LW_WINDOW_local) {
        to.size = lw_local_room(s, &to.host);
        to.base = LLVMBuildNeg(b->at, lw_local_frame(s, form), "");
    } else {
        to.size = lw_course_met(s, n, &to.base, &to.host, &to.good);
        LLVMValueRef low =
            LLVMBuildAnd(b->at, to.base, lw_course_number(s, 7), ""); /* else distances are not aligned */
        to.good = LLVMBuildAnd(b->at, to.good, lw_build_is(b, LLVMIntEQ, low, lw_course_number(s, 0)), "");
    }
    return to;
}

LLVMValueRef lw_turn_find(lw_strand *s, uint32_t n, lw_turn *turn) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    const lw_stretch to = find_stretch(s, n, form);
    LLVMValueRef bad = NULL, each = lw_course_number(s, turn->bytes), base = lw_value_splat(b, to.base);
    LLVMValueRef room = lw_value_splat(b, LLVMBuildSub(b->at, to.size, each, ""));
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(room)), low = lw_value_splat(b, lw_course_number(s, turn->bytes - 1));
    turn->host = to.host;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = LLVMBuildSub(b->at, addresses(s, op, c), base, "");
        at = LLVMBuildSelect(b->at, lw_strand_on(s, c), at, zero, "");
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, LLVMBuildAnd(b->at, at, low, ""), zero, "");
        is = LLVMBuildOr(b->at, is, LLVMBuildICmp(b->at, LLVMIntUGT, at, room, ""), "");
        bad = bad ? LLVMBuildOr(b->at, bad, is, "") : is;
        turn->ways[c] = form.window == LW_WINDOW_local ? lw_local_ways(s, at, c) : at;
    }
    LLVMValueRef word = LLVMBuildBitCast(b->at, bad, lw_build_int(b, b->chunk), "");
    LLVMValueRef good = lw_build_is(b, LLVMIntEQ, word, LLVMConstNull(LLVMTypeOf(word)));
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, each, to.size), "");
    return LLVMBuildAnd(b->at, good, to.good, "");
}

LLVMValueRef lw_turn_find_one(lw_strand *s, uint32_t n, uint32_t bytes, LLVMValueRef *place) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_stretch to = find_stretch(s, n, lw_memory_unpack(op->c));
    LLVMValueRef each = lw_course_number(s, bytes);
    LLVMValueRef address = lw_course_of_runs(s, op, LW_WARP_BITS).at[0], at = LLVMBuildSub(b->at, address, to.base, "");
    LLVMValueRef low = LLVMBuildAnd(b->at, address, lw_course_number(s, bytes - 1), "");
    LLVMValueRef good = LLVMBuildAnd(b->at, to.good, lw_build_is(b, LLVMIntULE, each, to.size), "");
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, at, LLVMBuildSub(b->at, to.size, each, "")), "");
    *place = lw_build_move(b, to.host, at);
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, low, lw_course_number(s, 0)), "");
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
