/* strand_end.c: how a warp ends: its lanes' registers go to the frame where they stop or are ready, and who is left to
 * the interpreter goes there; and how the pass ends, once all warps have. */
#include "run/jit/strand_word.h"

#define GANG_ADD(s, place, field) \
    lw_build_store(lw_strand_build(s), \
                   LLVMBuildAdd(lw_strand_build(s)->at, \
                                LW_GANG_LOAD(lw_strand_build(s), lw_strand_build(s)->i64, field), lw_get(s, place), \
                                ""), \
                   lw_strand_build(s)->gang, offsetof(lw_gang, field), 8, LW_ALIAS_gang)

/* What was counted, to the gang. */
static void settle(lw_strand *s) {
    GANG_ADD(s, s->warps_done, warp_instructions);
    GANG_ADD(s, s->lanes_done, lane_instructions);
}

/* The least that any warp has left of its turn, this one's included. */
LLVMValueRef lw_strand_least_budget(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef budget = lw_get(s, s->budget), least = lw_get(s, s->least);
    return LLVMBuildSelect(b->at, lw_build_is(b, LLVMIntSLT, budget, least), budget, least, "");
}

/* Lanes may be ready at the very same blocks with either register to be put into the frame for them. */
static bool go_together(const lw_strand *s, uint32_t a, uint32_t b) {
    for (uint32_t block = 0; block < s->u->code->block_count; block++) {
        if (!s->ready[block]) continue;
        const uint64_t words[] = {lw_strand_saved(s, block, a / 64), lw_strand_saved(s, block, b / 64)};
        if ((words[0] >> a % 64 & 1) != (words[1] >> b % 64 & 1)) return false;
    }
    return true;
}

/* The lanes for which a register goes there. */
static LLVMValueRef lanes_with(lw_strand *s, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef lanes = NULL;
    for (uint32_t block = 0; block < s->u->code->block_count; block++) {
        if (!s->ready[block] || !(lw_strand_saved(s, block, reg / 64) >> reg % 64 & 1)) continue;
        LLVMValueRef ready = lw_get(s, s->ready[block]);
        lanes = lanes ? LLVMBuildOr(b->at, lanes, ready, "") : ready;
    }
    return lanes;
}

/* The registers of lanes that are ready, each in one place of the code; those together that go for the same lanes. */
static void save_ready(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    const lw_unit *u = s->u;
    uint64_t *left = s->room + u->words;
    memset(left, 0, u->words * sizeof *left);
    for (uint32_t block = 0; block < u->code->block_count; block++)
        for (uint32_t w = 0; s->ready[block] && w < u->words; w++) left[w] |= lw_strand_saved(s, block, w);
    for (uint32_t reg = 0; reg < u->code->virtual_count; reg++) {
        if (!lw_set_has(left, reg)) continue;
        memset(s->room, 0, u->words * sizeof *s->room);
        LW_EACH_IN(left, u->words, other) if (go_together(s, reg, other)) lw_set_add(s->room, other);
        for (uint32_t w = 0; w < u->words; w++) left[w] &= ~s->room[w];
        LLVMBasicBlockRef on = lw_build_block(b, "saved");
        LLVMValueRef lanes = lanes_with(s, reg);
        lw_build_if(b, lw_build_is(b, LLVMIntNE, lanes, lw_word(s, 0)), on);
        lw_strand_begin_way(s, true);
        lw_strand_save(s, s->room, lanes);
        LLVMBuildBr(b->at, on);
        LLVMPositionBuilderAtEnd(b->at, on);
    }
}

/* To the dispatch loop, which may be at another gang. */
static void hand(const lw_strand *s, LLVMValueRef op) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef arguments[] = {b->gang, op, s->turn};
    LLVMBuildRet(b->at, lw_host_call(b, LW_HOST_hand, b->pass_hand_type, arguments));
}

/* To the interpreter, with the warps that are not done yet. */
static void emit_leaves(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMPositionBuilderAtEnd(b->at, s->leaves);
    settle(s);
    lw_build_store(b, lw_strand_least_budget(s), b->gang, offsetof(lw_gang, budget), 8, LW_ALIAS_gang);
    LLVMValueRef arguments[] = {b->gang, lw_get(s, s->left_at),    s->pass,
                                s->warp, lw_get(s, s->left_lanes), lw_get(s, s->left_own)};
    hand(s, lw_host_call(b, LW_HOST_leave, b->pass_leave_type, arguments));
}

static LLVMValueRef rests_of_warp(const lw_strand *s) { /* less the place of them all */
    const lw_build *b = lw_strand_build(s);
    const uint64_t bytes = LW_PASS_PLACES * sizeof(struct lw_rest);
    LLVMValueRef at = LLVMBuildZExt(b->at, s->warp, b->i64, "");
    return lw_build_move(b, s->pass, LLVMBuildMul(b->at, at, lw_build_number(b, 64, bytes), ""));
}

/* Lanes are ready at a block: the n-th where lanes of the warp are. */
static void note_rest(const lw_strand *s, LLVMValueRef n, LLVMValueRef block, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef at = LLVMBuildZExt(b->at, n, b->i64, "");
    at = LLVMBuildMul(b->at, at, lw_build_number(b, 64, sizeof(struct lw_rest)), "");
    const size_t offset = offsetof(lw_pass, rests);
    LLVMValueRef place = lw_build_move(b, rests_of_warp(s), at);
    lw_build_store(b, block, place, offset + offsetof(struct lw_rest, block), 4, LW_ALIAS_gang);
    lw_build_store(b, lanes, place, offset + offsetof(struct lw_rest, lanes), 4, LW_ALIAS_gang);
}

static void count_rests(const lw_strand *s, LLVMValueRef count) {
    lw_build_store(lw_strand_build(s), count, lw_warp_place(s, s->pass), offsetof(lw_pass, rest_count), 4,
                   LW_ALIAS_gang);
}

/* A warp of which all that it was is ready at one block, and not because its turn is over, has stopped as a whole. */
static void note_apart(const lw_strand *s, LLVMValueRef count) {
    const lw_build *b = lw_strand_build(s);
    const size_t at = offsetof(lw_pass, rests) + offsetof(struct lw_rest, lanes);
    LLVMValueRef was = lw_build_load(b, b->i32, lw_warp_place(s, s->pass), offsetof(lw_pass, lanes), 4, LW_ALIAS_gang);
    LLVMValueRef is = lw_build_load(b, b->i32, rests_of_warp(s), at, 4, LW_ALIAS_gang);
    LLVMValueRef several = LLVMBuildXor(b->at, count, lw_word(s, 1), "");
    LLVMValueRef apart = LLVMBuildOr(b->at, LLVMBuildXor(b->at, was, is, ""), several, "");
    apart = LLVMBuildOr(b->at, LLVMBuildOr(b->at, apart, lw_get(s, s->spent), ""), lw_get(s, s->apart), "");
    lw_set(s, apart, s->apart);
}

/* Where lanes are ready, for the end of all warps. */
static void emit_rests(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef count = lw_build_stack(b, b->i32);
    lw_set(s, lw_word(s, 0), count);
    for (uint32_t block = 0, places = 0; block < s->u->code->block_count; block++) {
        if (!s->ready[block]) continue;
        LLVMBasicBlockRef on = lw_build_block(b, "");
        LLVMValueRef lanes = lw_get(s, s->ready[block]);
        lw_build_if(b, lw_build_is(b, LLVMIntNE, lanes, lw_word(s, 0)), on);
        LLVMValueRef arguments[] = {b->gang, lw_word(s, block), s->warp, lanes}, n = lw_get(s, count);
        if (places++ < LW_PASS_PLACES) {
            note_rest(s, n, lw_word(s, block), lanes);
            lw_set(s, LLVMBuildAdd(b->at, n, lw_word(s, 1), ""), count);
        } else lw_host_call(b, LW_HOST_pend, b->pass_pend_type, arguments);
        LLVMBuildBr(b->at, on);
        LLVMPositionBuilderAtEnd(b->at, on);
    }
    count_rests(s, lw_get(s, count));
    note_apart(s, lw_get(s, count));
}

/* The warp has stopped as a whole. */
static void emit_stops(const lw_strand *s, LLVMBasicBlockRef next) {
    const lw_build *b = lw_strand_build(s);
    LLVMPositionBuilderAtEnd(b->at, s->stops);
    note_rest(s, lw_word(s, 0), lw_get(s, s->stop), lw_get(s, s->mask));
    count_rests(s, lw_word(s, 1));
    LLVMBuildBr(b->at, next);
}

/* Where lanes are ready the interpreter has their registers, and their block. */
void lw_strand_emit_tail(lw_strand *s, LLVMBasicBlockRef next) {
    const lw_build *b = lw_strand_build(s);
    LLVMPositionBuilderAtEnd(b->at, s->tail);
    save_ready(s);
    emit_rests(s);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, lw_get(s, s->left_lanes), lw_word(s, 0)), next, s->leaves);
    emit_leaves(s);
    emit_stops(s, next);
}

static void begin_pass(const lw_strand *s, LLVMValueRef gang, LLVMValueRef warps) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(lw_strand_build(s)->at);
    LLVMAddIncoming(s->gangs, &gang, &from, 1);
    LLVMAddIncoming(s->warps, &warps, &from, 1);
    LLVMBuildBr(lw_strand_build(s)->at, s->passes);
}

/* All have stopped as a whole: on to the next gang of a run, if there is one. */
static void run_on(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef ask = lw_build_block(b, "ask"), on = lw_build_block(b, "on"), end = lw_build_block(b, "end");
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, lw_get(s, s->apart), lw_word(s, 0)), ask, end);
    LLVMPositionBuilderAtEnd(b->at, ask);
    LLVMValueRef arguments[] = {b->gang, s->pass};
    LLVMValueRef gang = lw_host_call(b, LW_HOST_run_on, b->pass_run_on_type, arguments);
    LLVMBuildCondBr(b->at, LLVMBuildIsNull(b->at, gang, ""), end, on);
    LLVMPositionBuilderAtEnd(b->at, on);
    begin_pass(s, gang, s->warps);
    LLVMPositionBuilderAtEnd(b->at, end);
}

/* All warps have come as far as they can. As a rule another gang goes the same way now. */
void lw_strand_emit_end(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef again = lw_build_block(b, "again"), done = lw_build_block(b, "done");
    settle(s);
    lw_build_store(b, lw_get(s, s->least), b->gang, offsetof(lw_gang, budget), 8, LW_ALIAS_gang);
    run_on(s);
    LLVMValueRef arguments[] = {b->gang, lw_get(s, s->spent), s->pass, s->turn};
    LLVMValueRef op = lw_host_call(b, LW_HOST_end, b->pass_end_type, arguments);
    LLVMValueRef gang = lw_build_load(b, b->bytes, s->pass, offsetof(lw_pass, gang), 8, LW_ALIAS_gang);
    LLVMBuildCondBr(b->at, LLVMBuildIsNull(b->at, gang, ""), done, again);
    LLVMPositionBuilderAtEnd(b->at, again);
    LLVMValueRef warps = lw_build_load(b, b->i32, s->pass, offsetof(lw_pass, warps), 4, LW_ALIAS_gang);
    begin_pass(s, gang, warps);
    LLVMPositionBuilderAtEnd(b->at, done);
    LLVMBuildRet(b->at, op);
}

/* A step has trapped, and has said so. */
void lw_strand_emit_trapped(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMPositionBuilderAtEnd(b->at, s->trapped);
    settle(s);
    LLVMBuildRet(b->at, LLVMConstNull(b->bytes));
}
