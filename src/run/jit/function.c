/* function.c: the function that a unit becomes: where the dispatch loop enters it, blocks and branches, calls of steps,
 * and where it gives up and leaves the interpreter to go on. */
#include "run/jit/unit.h"

#include <stdlib.h>

/* ---- Leaving --------------------------------------------------------------------------------------------------- */

/* How far the operation is behind the first one stays in memory on the way: as a value it would be one of as many as
 * there are ways, which LLVM looks through again and again. */
static void leave_at(const lw_build *b, LLVMValueRef bytes) {
    LLVMSetVolatile(LLVMBuildStore(b->at, bytes, b->left_at), true);
    LLVMBuildBr(b->at, b->left);
}

LLVMBasicBlockRef lw_emit_leave(lw_unit *u, uint32_t n) {
    lw_build *b = u->build;
    if (b->leaves[n]) return b->leaves[n];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    b->leaves[n] = lw_build_block(b, "leave");
    LLVMPositionBuilderAtEnd(b->at, b->leaves[n]);
    lw_frame_give(u, lw_unit_uniform(u, n), n, lw_frame_regs(u));
    leave_at(b, lw_build_number(b, 64, lw_frame_number(u, n) * sizeof(lw_op)));
    if (here) LLVMPositionBuilderAtEnd(b->at, here);
    return b->leaves[n];
}

/* ---- Who executes ----------------------------------------------------------------------------------------------- */

/* No lanes of the frame are ready elsewhere. */
static LLVMValueRef is_nobody(const lw_build *b) {
    LLVMValueRef frame = lw_build_pointer(b, b->gang, offsetof(lw_gang, frame), sizeof(lw_frame), _Alignof(lw_frame));
    LLVMValueRef others = lw_build_load(b, b->i32, frame, offsetof(lw_frame, ready_count), 4, LW_ALIAS_gang);
    return lw_build_is(b, LLVMIntEQ, others, lw_build_number(b, 32, 0));
}
static void demand_nobody(lw_unit *u, uint32_t n) {
    lw_build_unless(u->build, is_nobody(u->build), lw_emit_leave(u, n));
}

LLVMValueRef lw_emit_whole(const lw_build *b) {
    LLVMValueRef full = LW_GANG_LOAD(b, b->i8, full), begin = LW_GANG_LOAD(b, b->i32, begin);
    LLVMValueRef good = lw_build_is(b, LLVMIntNE, full, lw_build_number(b, 8, 0));
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, begin, lw_build_number(b, 32, 0)), "");
}

LLVMBasicBlockRef lw_emit_whole_of(lw_unit *u, uint32_t n) {
    if (!u->build->wholes[n]) u->build->wholes[n] = lw_build_block(u->build, "whole");
    return u->build->wholes[n];
}

static LLVMBasicBlockRef entry_of(lw_unit *u, uint32_t n) {
    if (!u->build->entries[n]) u->build->entries[n] = lw_build_block(u->build, "op");
    return u->build->entries[n];
}

/* ---- Blocks ---------------------------------------------------------------------------------------------------- */

#define GANG_STORE(b, value, field) \
    lw_build_store(b, value, (b)->gang, offsetof(lw_gang, field), sizeof(((lw_gang *)0)->field), LW_ALIAS_gang)

static void count(const lw_build *b, LLVMValueRef each) {
    LLVMValueRef warps = LLVMBuildZExt(b->at, LW_GANG_LOAD(b, b->i32, active_warps), b->i64, "");
    LLVMValueRef lanes = LLVMBuildZExt(b->at, LW_GANG_LOAD(b, b->i32, active), b->i64, "");
    GANG_STORE(
        b, LLVMBuildAdd(b->at, LW_GANG_LOAD(b, b->i64, warp_instructions), LLVMBuildMul(b->at, each, warps, ""), ""),
        warp_instructions);
    GANG_STORE(
        b, LLVMBuildAdd(b->at, LW_GANG_LOAD(b, b->i64, lane_instructions), LLVMBuildMul(b->at, each, lanes, ""), ""),
        lane_instructions);
}

static void enter(const lw_build *b, LLVMValueRef instructions) {
    GANG_STORE(b, lw_build_number(b, 16, LW_OP_WHOLE | LW_OP_LONE), whole);
    count(b, instructions);
}

/* Texts of many blocks are half as long where entering one is a function of its own. Who comes in from the interpreter
 * is asked at the function's beginning whether all of the gang executes there, and goes past the blocks. */
static bool has_many(const lw_unit *u) {
    enum { MANY = 64 };
    return u->code->block_count > MANY;
}

/* That function: whether nobody was elsewhere, so that the block is entered, and whether all of the gang executes then.
 */
enum { LEFT, ENTERED, WHOLE };
static LLVMValueRef entering(lw_build *b) {
    static const char name[] = "enter.block"; /* no function of a text has a dot, and the process is not asked for it */
    LLVMValueRef known = LLVMGetNamedFunction(b->module, name);
    if (known) return known;
    LLVMTypeRef type = LLVMFunctionType(b->i32, (LLVMTypeRef[]){b->bytes, b->i64}, 2, false);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    LLVMValueRef function = b->function, gang = b->gang;
    LLVMValueRef made = b->function = LLVMAddFunction(b->module, name, type);
    LLVMSetLinkage(made, LLVMInternalLinkage);
    b->gang = LLVMGetParam(made, 0);
    LLVMPositionBuilderAtEnd(b->at, lw_build_block(b, "top"));
    LLVMBasicBlockRef others = lw_build_block(b, "others");
    lw_build_unless(b, is_nobody(b), others);
    enter(b, LLVMGetParam(made, 1));
    LLVMBuildRet(b->at, LLVMBuildSelect(b->at, lw_emit_whole(b), lw_build_number(b, 32, WHOLE),
                                        lw_build_number(b, 32, ENTERED), ""));
    LLVMPositionBuilderAtEnd(b->at, others);
    LLVMBuildRet(b->at, lw_build_number(b, 32, LEFT));
    b->function = function, b->gang = gang;
    LLVMPositionBuilderAtEnd(b->at, here);
    return made;
}

/* Operation n begins a region that wants all of the gang, whatever its shape. */
static bool begins_region(const lw_unit *u, uint32_t n) {
    return n < u->count && u->kinds[n] == LW_KIND_body && !u->shapes[0];
}

/* From operation n into a block, and into the region behind it past its own look at who executes. Where others are
 * elsewhere it is operation n that is left to the interpreter. */
static void enter_region(lw_unit *u, uint32_t n, uint32_t block) {
    lw_build *b = u->build;
    LLVMValueRef function = entering(b), instructions = lw_build_number(b, 64, lw_unit_op(u, block)->imm);
    LLVMValueRef how =
        lw_build_call(b, LLVMGlobalGetValueType(function), function, (LLVMValueRef[]){b->gang, instructions});
    LLVMValueRef go = lw_build_is(b, LLVMIntEQ, how, lw_build_number(b, 32, WHOLE));
    LLVMBasicBlockRef other = lw_build_block(b, "other");
    lw_build_often(b, LLVMBuildCondBr(b->at, go, lw_emit_whole_of(u, block + 1), other));
    LLVMPositionBuilderAtEnd(b->at, other);
    if (lw_frame_gives(u, n) || lw_frame_gives(u, block + 1)) {
        LLVMValueRef entered = lw_build_is(b, LLVMIntEQ, how, lw_build_number(b, 32, ENTERED));
        LLVMBuildCondBr(b->at, entered, lw_emit_leave(u, block + 1), lw_emit_leave(u, n));
        return;
    }
    /* `how` is LEFT or ENTERED, 0 or 1 */
    const uint64_t here = lw_frame_number(u, n), there = lw_frame_number(u, block + 1);
    LLVMValueRef more = LLVMBuildMul(b->at, LLVMBuildZExt(b->at, how, b->i64, ""),
                                     lw_build_number(b, 64, (there - here) * sizeof(lw_op)), "");
    leave_at(b, LLVMBuildAdd(b->at, more, lw_build_number(b, 64, here * sizeof(lw_op)), ""));
}

/* What lw_enter_block does. */
static void emit_block(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = lw_unit_op(u, n);
    if (has_many(u) && begins_region(u, n + 1)) {
        enter_region(u, n, n);
        return;
    }
    if (n + 1 < u->count && u->entered[n + 1]) {
        LLVMValueRef counted = LLVMBuildLoad2(b->at, b->i1, b->counted, "");
        LLVMBuildStore(b->at, lw_build_number(b, 1, 0), b->counted);
        LLVMBasicBlockRef fresh = lw_build_block(b, "fresh");
        LLVMBuildCondBr(b->at, counted, entry_of(u, n + 1), fresh);
        LLVMPositionBuilderAtEnd(b->at, fresh);
    }
    demand_nobody(u, n);
    enter(b, lw_build_number(b, 64, op->imm));
    lw_emit_go_on(u, n + 1);
}

/* ---- Branches -------------------------------------------------------------------------------------------------- */

static void emit_go(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = lw_unit_op(u, n);
    if (has_many(u) && !(op->flags & LW_OP_BACKWARD) && begins_region(u, u->block_at[op->a] + 1)) {
        lw_frame_settle(u, lw_unit_uniform(u, n), u->block_at[op->a]);
        enter_region(u, n, u->block_at[op->a]);
        return;
    }
    demand_nobody(u, n);
    if (op->flags & LW_OP_BACKWARD) {
        LLVMValueRef cost = lw_build_number(b, 64, (uint64_t)lw_frame_branch_cost(u, n));
        LLVMValueRef left = LLVMBuildSub(b->at, LW_GANG_LOAD(b, b->i64, budget), cost, "");
        lw_build_unless(b, lw_build_is(b, LLVMIntSGE, left, lw_build_number(b, 64, 0)), lw_emit_leave(u, n));
        GANG_STORE(b, left, budget);
    }
    lw_frame_settle(u, lw_unit_uniform(u, n), u->block_at[op->a]);
    lw_emit_go_on(u, u->block_at[op->a]);
}

/* Taken by all lanes, by none, or left to the interpreter. */
static void emit_branch_if(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = lw_unit_op(u, n);
    const lw_register *predicate = &u->code->registers[op->b];
    const bool negated = (op->flags & LW_OP_NEGATE) != 0;
    LLVMBasicBlockRef taken = lw_build_block(b, "taken"), on = lw_build_block(b, "on");
    if (predicate->is_const || lw_set_has(lw_unit_uniform(u, n), op->b)) {
        LLVMValueRef p = lw_build_number(b, 1, predicate->value != 0);
        if (!predicate->is_const) p = LLVMBuildLoad2(b->at, b->i1, lw_unit_scalar(u, op->b), "");
        LLVMBuildCondBr(b->at, p, negated ? on : taken, negated ? taken : on);
    } else {
        LLVMValueRef p = lw_frame_predicate(u, op->b), mask = lw_build_gang_mask(b, offsetof(lw_gang, mask));
        if (negated) p = LLVMBuildNot(b->at, p, "");
        p = LLVMBuildAnd(b->at, p, mask, "");
        LLVMBasicBlockRef some = lw_build_block(b, "some");
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, p, lw_build_number(b, 128, 0)), on, some);
        LLVMPositionBuilderAtEnd(b->at, some);
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, p, mask), taken, lw_emit_leave(u, n));
    }
    LLVMPositionBuilderAtEnd(b->at, taken);
    emit_go(u, n);
    LLVMPositionBuilderAtEnd(b->at, on);
    lw_frame_settle(u, lw_unit_uniform(u, n), n + 1);
    lw_emit_go_on(u, n + 1);
}

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

static bool is_block(const lw_unit *u, uint32_t n) { return u->kinds[n] == LW_KIND_block; }

/* On to an operation behind n. */
static void go_behind(lw_unit *u, const uint64_t *uniform, uint32_t n) {
    lw_frame_settle(u, uniform, n);
    lw_emit_go_on(u, n);
}

/* What the step reads is at home. What else is uniform goes there behind it where lanes do not go on here, as what
 * lives behind it has a home that none of its results has. */
static void emit_step(lw_unit *u, uint32_t n, const uint64_t *uniform) {
    const lw_build *b = u->build;
    LLVMValueRef regs = lw_frame_regs(u), next = lw_frame_step(u, n);
    /* To the next operation, or past the block that begins there. Behind a return or an exit others go on, with values
     * of their own. */
    const bool ends = lw_row_of(lw_unit_op(u, n)->code)->goes == LW_GOES_nowhere;
    for (uint32_t k = 1; k <= 2 && !ends && n + k < u->count && (k == 1 || is_block(u, n + 1)); k++) {
        LLVMBasicBlockRef on = lw_build_block(b, ""), other = lw_build_block(b, "");
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, next, lw_frame_op(u, n + k)), on, other);
        LLVMPositionBuilderAtEnd(b->at, on);
        go_behind(u, uniform, n + k);
        LLVMPositionBuilderAtEnd(b->at, other);
    }
    if (!ends && n + 1 < u->count) lw_frame_give(u, uniform, n + 1, regs);
    LLVMBuildRet(b->at, next);
}

/* A membermask that is known and names all lanes of the warp. */
static bool names_everyone(const lw_unit *u, const lw_op *sync) {
    const lw_register *members = &u->code->registers[sync->a];
    return members->is_const && (uint32_t)members->value == UINT32_MAX;
}

/* Where everybody is here who can be, and everybody is named, its step would find nobody to wait for. */
static void emit_warp_sync(lw_unit *u, uint32_t n, const uint64_t *uniform) {
    const lw_build *b = u->build;
    if (names_everyone(u, lw_unit_op(u, n))) {
        LLVMValueRef stays = LLVMBuildNot(b->at, lw_build_gang_mask(b, offsetof(lw_gang, exited)), "");
        LLVMValueRef live = LLVMBuildAnd(b->at, lw_build_gang_mask(b, offsetof(lw_gang, exist)), stays, "");
        LLVMBasicBlockRef some = lw_build_block(b, "some");
        lw_build_unless(b, lw_build_is(b, LLVMIntEQ, lw_build_gang_mask(b, offsetof(lw_gang, mask)), live), some);
        go_behind(u, uniform, n + 1);
        LLVMPositionBuilderAtEnd(b->at, some);
    }
    emit_step(u, n, uniform);
}

static void emit_called(lw_unit *u, uint32_t n) {
    uint64_t *uniform = lw_unit_kept(u, n, n + 1);
    if (uniform && lw_unit_op(u, n)->code == LW_OP_warp_sync) emit_warp_sync(u, n, uniform);
    else if (uniform) emit_step(u, n, uniform);
    free(uniform);
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

void lw_emit_go_on(lw_unit *u, uint32_t n) {
    LLVMBuildBr(u->build->at, n < u->count ? entry_of(u, n) : lw_emit_leave(u, n - 1));
}

static void emit_segment(lw_unit *u, uint32_t n) {
    LLVMPositionBuilderAtEnd(u->build->at, entry_of(u, n));
    switch ((lw_kind)u->kinds[n]) {
    case LW_KIND_block: emit_block(u, n); break;
    case LW_KIND_body: lw_emit_region(u, n, lw_unit_region_end(u, n)); break;
    case LW_KIND_branch:
        if (lw_unit_op(u, n)->code == LW_OP_bra) emit_go(u, n);
        else emit_branch_if(u, n);
        break;
    case LW_KIND_step: emit_called(u, n); break;
    }
}

/* The dispatch loop comes in at operations that begin a segment; blocks are left to the interpreter. */
static void emit_entries(lw_unit *u) {
    lw_build *b = u->build;
    LLVMPositionBuilderAtEnd(b->at, b->top);
    b->counted = lw_build_stack(b, b->i1);
    b->left_at = lw_build_stack(b, b->i64);
    b->left = lw_build_block(b, "left");
    LLVMBuildStore(b->at, lw_build_number(b, 1, 0), b->counted);
    LLVMBasicBlockRef find = lw_build_block(b, "find"), none = lw_build_block(b, "none");
    LLVMBuildBr(b->at, find);
    LLVMPositionBuilderAtEnd(b->at, find);
    if (has_many(u)) lw_build_unless(b, lw_emit_whole(b), none);
    LLVMValueRef choice = LLVMBuildSwitch(b->at, lw_frame_entered(u), none, u->count);
    for (uint32_t n = 0; n < u->count; n++) {
        if (!u->entered[n]) continue;
        LLVMBasicBlockRef enter = lw_build_block(b, "enter");
        LLVMAddCase(choice, lw_build_number(b, 64, lw_frame_number(u, n)), enter);
        LLVMPositionBuilderAtEnd(b->at, enter);
        lw_frame_take(u, n);
        const bool by_block = is_block(u, n - 1) && !has_many(u); /* so that a loop has one way in, its first block */
        if (has_many(u) && begins_region(u, n)) {
            LLVMBuildBr(b->at, lw_emit_whole_of(u, n));
            continue;
        }
        if (by_block) LLVMBuildStore(b->at, lw_build_number(b, 1, 1), b->counted);
        LLVMBuildBr(b->at, entry_of(u, by_block ? n - 1 : n));
    }
    LLVMPositionBuilderAtEnd(b->at, none);
    lw_frame_refuse(u);
}

void lw_emit_function(lw_unit *u) {
    emit_entries(u);
    for (uint32_t n = 0; n < u->count; n++)
        if (u->starts[n] || u->kinds[n] != LW_KIND_body) emit_segment(u, n);
    LLVMPositionBuilderAtEnd(u->build->at, u->build->left);
    LLVMValueRef first = lw_host_ops(u->build, u->program, u->code->index);
    lw_frame_leave(u,
                   lw_build_move(u->build, first, LLVMBuildLoad2(u->build->at, u->build->i64, u->build->left_at, "")));
}
