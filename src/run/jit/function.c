/* function.c: the function that a unit becomes: where the dispatch loop enters it, blocks and branches, calls of steps, and where it gives up
 * and leaves the interpreter to go on. */
#include "run/jit/unit.h"

#include "run/interp/turn.h"

/* ---- Uniform cells: in stack slots here, in the frame for everybody else --------------------------------------------------- */

static LLVMValueRef place_of(const lw_build *b, LLVMValueRef regs, const lw_cell *cell) {
    return lw_build_move(b, regs, lw_build_number(b, 64, cell->at));
}

static LLVMValueRef gang_mask(const lw_build *b, size_t offset) {
    return lw_build_load(b, lw_build_int(b, 128), b->gang, offset, 16, LW_ALIAS_gang);
}

/* The number of the first executing lane: a function may have been called by some lanes only, and others have no values in its frame. */
static LLVMValueRef first_lane(const lw_build *b) {
    LLVMTypeRef type = lw_build_int(b, 128);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(b->module, LLVMLookupIntrinsicID("llvm.cttz", 9), &type, 1);
    LLVMValueRef arguments[] = {gang_mask(b, offsetof(lw_gang, mask)), lw_build_number(b, 1, 1)};
    LLVMValueRef lane = LLVMBuildCall2(b->at, LLVMGlobalGetValueType(function), function, arguments, 2, "");
    return LLVMBuildTrunc(b->at, lane, b->i64, "");
}

static LLVMValueRef load_from_lane(const lw_build *b, LLVMValueRef slot, const lw_cell *cell, LLVMValueRef lane) {
    if (cell->bits == 1) {
        LLVMValueRef all = lw_build_load(b, lw_build_int(b, 128), slot, 0, 16, LW_ALIAS_slots);
        return LLVMBuildTrunc(b->at, LLVMBuildLShr(b->at, all, LLVMBuildZExt(b->at, lane, lw_build_int(b, 128), ""), ""), b->i1, "");
    }
    LLVMValueRef element = lw_build_move(b, slot, LLVMBuildMul(b->at, lane, lw_build_number(b, 64, cell->bits / 8), ""));
    return lw_build_load(b, lw_build_int(b, cell->bits), element, 0, cell->bits / 8, LW_ALIAS_slots);
}

static void load_uniform(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const uint64_t *live = lw_unit_live(u, n), *uniform = lw_unit_uniform(u, n);
    LLVMValueRef regs = lw_build_regs(b, u), lane = first_lane(b);
    for (uint32_t k = 0; k < u->cell_count; k++) {
        const lw_cell *cell = &u->cells[k];
        if (cell->is_constant || !cell->bits || !lw_set_has(live, k) || !lw_set_has(uniform, k)) continue;
        LLVMBuildStore(b->at, load_from_lane(b, place_of(b, regs, cell), cell, lane), b->scalars[k]);
    }
}

/* To all lanes. */
static void store_uniform(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const uint64_t *live = lw_unit_live(u, n), *uniform = lw_unit_uniform(u, n);
    LLVMValueRef regs = lw_build_regs(b, u);
    for (uint32_t k = 0; k < u->cell_count; k++) {
        const lw_cell *cell = &u->cells[k];
        if (cell->is_constant || !cell->bits || !lw_set_has(live, k) || !lw_set_has(uniform, k)) continue;
        LLVMValueRef value = LLVMBuildLoad2(b->at, lw_build_int(b, cell->bits), b->scalars[k], "");
        value = cell->bits == 1 ? LLVMBuildSExt(b->at, value, b->i64, "") : LLVMBuildZExt(b->at, value, b->i64, "");
        LLVMValueRef arguments[] = {place_of(b, regs, cell), lw_build_number(b, 32, cell->bits), value};
        lw_build_call(b, b->spread_type, (uintptr_t)lw_jit_spread, arguments);
    }
}

/* What is the same in all lanes on this way into operation `to`, and not on others: from there on it is in its slot. */
void lw_emit_settle(lw_unit *u, const uint64_t *uniform, uint32_t to) {
    const lw_build *b = u->build;
    if (to >= u->code->op_count) return;
    const uint64_t *live = lw_unit_live(u, to), *there = lw_unit_uniform(u, to);
    LLVMValueRef regs = NULL;
    for (uint32_t k = 0; k < u->cell_count; k++) {
        const lw_cell *cell = &u->cells[k];
        if (cell->is_constant || !cell->bits || !lw_set_has(live, k) || !lw_set_has(uniform, k) || lw_set_has(there, k)) continue;
        if (!regs) regs = lw_build_regs(b, u);
        LLVMValueRef value = LLVMBuildLoad2(b->at, lw_build_int(b, cell->bits), b->scalars[k], "");
        if (cell->bits == 1) {
            lw_build_store(b, LLVMBuildSExt(b->at, value, lw_build_int(b, LW_GANG_LANES), ""), regs, cell->at, 16, LW_ALIAS_slots);
            continue;
        }
        const uint32_t bytes = b->chunk * cell->bits / 8;
        value = lw_value_splat(b, value);
        for (uint32_t c = 0; c < LW_GANG_LANES / b->chunk; c++)
            lw_build_store(b, value, regs, cell->at + c * bytes, bytes > 64 ? 64 : bytes, LW_ALIAS_slots);
    }
}

/* ---- Leaving --------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef op_address(const lw_unit *u, uint32_t n) { return lw_build_address(u->build, &u->code->ops[n]); }

LLVMBasicBlockRef lw_emit_leave(lw_unit *u, uint32_t n) {
    lw_build *b = u->build;
    if (b->leaves[n]) return b->leaves[n];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    b->leaves[n] = lw_build_block(b, "leave");
    LLVMPositionBuilderAtEnd(b->at, b->leaves[n]);
    store_uniform(u, n);
    LLVMValueRef arguments[] = {b->gang, op_address(u, n), lw_build_address(b, u->level->steps)};
    LLVMValueRef next = lw_build_call(b, b->interpret_type, (uintptr_t)lw_jit_interpret, arguments);
    LLVMSetTailCall(next, true);
    LLVMBuildRet(b->at, next);
    if (here) LLVMPositionBuilderAtEnd(b->at, here);
    return b->leaves[n];
}

/* No lanes of the frame are ready elsewhere. */
static void demand_nobody(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    LLVMValueRef frame = lw_build_pointer(b, b->gang, offsetof(lw_gang, frame), sizeof(lw_frame), _Alignof(lw_frame));
    LLVMValueRef others = lw_build_load(b, b->i32, frame, offsetof(lw_frame, ready_count), 4, LW_ALIAS_gang);
    lw_build_unless(b, lw_build_is(b, LLVMIntEQ, others, lw_build_number(b, 32, 0)), lw_emit_leave(u, n));
}

static LLVMBasicBlockRef entry_of(lw_unit *u, uint32_t n) {
    if (!u->build->entries[n]) u->build->entries[n] = lw_build_block(u->build, "op");
    return u->build->entries[n];
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------------------------ */

#define GANG_STORE(b, value, field) lw_build_store(b, value, (b)->gang, offsetof(lw_gang, field), sizeof(((lw_gang *)0)->field), LW_ALIAS_gang)

static void count(const lw_unit *u, uint64_t instructions) {
    const lw_build *b = u->build;
    if (!instructions) return;
    LLVMValueRef each = lw_build_number(b, 64, instructions);
    LLVMValueRef warps = LLVMBuildZExt(b->at, LW_GANG_LOAD(b, b->i32, active_warps), b->i64, "");
    LLVMValueRef lanes = LLVMBuildZExt(b->at, LW_GANG_LOAD(b, b->i32, active), b->i64, "");
    GANG_STORE(b, LLVMBuildAdd(b->at, LW_GANG_LOAD(b, b->i64, warp_instructions), LLVMBuildMul(b->at, each, warps, ""), ""), warp_instructions);
    GANG_STORE(b, LLVMBuildAdd(b->at, LW_GANG_LOAD(b, b->i64, lane_instructions), LLVMBuildMul(b->at, each, lanes, ""), ""), lane_instructions);
}

/* What lw_enter_block does. */
static void emit_block(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = &u->code->ops[n];
    if (n + 1 < u->code->op_count && u->entered[n + 1]) {
        LLVMValueRef counted = LLVMBuildLoad2(b->at, b->i1, b->counted, "");
        LLVMBuildStore(b->at, lw_build_number(b, 1, 0), b->counted);
        LLVMBasicBlockRef fresh = lw_build_block(b, "fresh");
        LLVMBuildCondBr(b->at, counted, entry_of(u, n + 1), fresh);
        LLVMPositionBuilderAtEnd(b->at, fresh);
    }
    demand_nobody(u, n);
    GANG_STORE(b, lw_build_number(b, 16, LW_OP_WHOLE | LW_OP_LONE), whole);
    count(u, op->imm);
    lw_emit_go_on(u, n + 1);
}

/* ---- Branches ------------------------------------------------------------------------------------------------------------------------ */

static void emit_go(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = &u->code->ops[n];
    demand_nobody(u, n);
    if (op->flags & LW_OP_BACKWARD) {
        LLVMValueRef cost = lw_build_number(b, 64, (uint64_t)lw_branch_cost(u->code, op));
        LLVMValueRef left = LLVMBuildSub(b->at, LW_GANG_LOAD(b, b->i64, budget), cost, "");
        lw_build_unless(b, lw_build_is(b, LLVMIntSGE, left, lw_build_number(b, 64, 0)), lw_emit_leave(u, n));
        GANG_STORE(b, left, budget);
    }
    lw_emit_settle(u, lw_unit_uniform(u, n), u->code->blocks[op->a].first);
    lw_emit_go_on(u, u->code->blocks[op->a].first);
}

/* Taken by all lanes, by none, or left to the interpreter. */
static void emit_branch_if(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *op = &u->code->ops[n];
    const uint32_t cell = lw_unit_cell(u, op->b);
    const bool negated = (op->flags & LW_OP_NEGATE) != 0;
    LLVMBasicBlockRef taken = lw_build_block(b, "taken"), on = lw_build_block(b, "on");
    if (u->cells[cell].is_constant || lw_set_has(lw_unit_uniform(u, n), cell)) {
        LLVMValueRef p = lw_build_number(b, 1, u->cells[cell].value != 0);
        if (!u->cells[cell].is_constant) p = LLVMBuildLoad2(b->at, b->i1, b->scalars[cell], "");
        LLVMBuildCondBr(b->at, p, negated ? on : taken, negated ? taken : on);
    } else {
        LLVMValueRef slot = place_of(b, lw_build_regs(b, u), &u->cells[cell]);
        LLVMValueRef p = lw_build_load(b, lw_build_int(b, 128), slot, 0, 16, LW_ALIAS_slots), mask = gang_mask(b, offsetof(lw_gang, mask));
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
    lw_emit_settle(u, lw_unit_uniform(u, n), n + 1);
    lw_emit_go_on(u, n + 1);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------------------------------ */

static void emit_step(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    const lw_op *ops = u->code->ops;
    store_uniform(u, n);
    LLVMValueRef arguments[] = {b->gang, op_address(u, n)};
    LLVMValueRef next = lw_build_call(b, b->step_type, (uintptr_t)u->level->steps[ops[n].code], arguments);
    /* To the next operation, or past the block that begins there. Behind a return or an exit others go on, with values of their own. */
    const bool ends = lw_row_of(ops[n].code)->goes == LW_GOES_nowhere;
    for (uint32_t k = 1; k <= 2 && !ends && n + k < u->code->op_count && (k == 1 || ops[n + 1].code == LW_OP_block); k++) {
        LLVMBasicBlockRef on = lw_build_block(b, ""), other = lw_build_block(b, "");
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntEQ, next, op_address(u, n + k)), on, other);
        LLVMPositionBuilderAtEnd(b->at, on);
        lw_emit_go_on(u, n + k);
        LLVMPositionBuilderAtEnd(b->at, other);
    }
    LLVMBuildRet(b->at, next);
}

/* Where everybody is here who can be, and everybody is named, its step would find nobody to wait for. */
static void emit_warp_sync(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    if (lw_names_everyone(&u->code->ops[n])) {
        LLVMValueRef stays = LLVMBuildNot(b->at, gang_mask(b, offsetof(lw_gang, exited)), "");
        LLVMValueRef live = LLVMBuildAnd(b->at, gang_mask(b, offsetof(lw_gang, exist)), stays, "");
        LLVMBasicBlockRef some = lw_build_block(b, "some");
        lw_build_unless(b, lw_build_is(b, LLVMIntEQ, gang_mask(b, offsetof(lw_gang, mask)), live), some);
        lw_emit_go_on(u, n + 1);
        LLVMPositionBuilderAtEnd(b->at, some);
    }
    emit_step(u, n);
}

/* ---- All of it ------------------------------------------------------------------------------------------------------------------------------ */

void lw_emit_go_on(lw_unit *u, uint32_t n) {
    LLVMBuildBr(u->build->at, n < u->code->op_count ? entry_of(u, n) : lw_emit_leave(u, n - 1));
}

static void emit_segment(lw_unit *u, uint32_t n) {
    LLVMPositionBuilderAtEnd(u->build->at, entry_of(u, n));
    switch ((lw_kind)u->kinds[n]) {
    case LW_KIND_block: emit_block(u, n); break;
    case LW_KIND_body: lw_emit_region(u, n, lw_unit_region_end(u, n)); break;
    case LW_KIND_branch:
        if (u->code->ops[n].code == LW_OP_bra) emit_go(u, n);
        else emit_branch_if(u, n);
        break;
    case LW_KIND_step:
        if (u->code->ops[n].code == LW_OP_warp_sync) emit_warp_sync(u, n);
        else emit_step(u, n);
        break;
    }
}

/* The dispatch loop comes in at operations that begin a segment; blocks are left to the interpreter. */
static void emit_entries(lw_unit *u) {
    lw_build *b = u->build;
    const uint32_t count = u->code->op_count;
    LLVMPositionBuilderAtEnd(b->at, b->top);
    for (uint32_t k = 0; k < u->cell_count; k++) b->scalars[k] = lw_build_stack(b, lw_build_int(b, u->cells[k].bits ? u->cells[k].bits : 8));
    b->counted = lw_build_stack(b, b->i1);
    LLVMBuildStore(b->at, lw_build_number(b, 1, 0), b->counted);
    LLVMBasicBlockRef find = lw_build_block(b, "find"), none = lw_build_block(b, "none");
    LLVMBuildBr(b->at, find);
    LLVMPositionBuilderAtEnd(b->at, find);
    LLVMValueRef distance = LLVMBuildSub(b->at, LLVMBuildPtrToInt(b->at, b->op, b->i64, ""), lw_build_number(b, 64, (uintptr_t)u->code->ops), "");
    LLVMValueRef number = LLVMBuildUDiv(b->at, distance, lw_build_number(b, 64, sizeof(lw_op)), "");
    LLVMValueRef choice = LLVMBuildSwitch(b->at, number, none, count);
    for (uint32_t n = 0; n < count; n++) {
        if (!u->entered[n]) continue;
        LLVMBasicBlockRef enter = lw_build_block(b, "enter");
        LLVMAddCase(choice, lw_build_number(b, 64, n), enter);
        LLVMPositionBuilderAtEnd(b->at, enter);
        load_uniform(u, n);
        const bool by_block = u->kinds[n - 1] == LW_KIND_block; /* so that a loop has one way in, its first block */
        if (by_block) LLVMBuildStore(b->at, lw_build_number(b, 1, 1), b->counted);
        LLVMBuildBr(b->at, entry_of(u, by_block ? n - 1 : n));
    }
    LLVMPositionBuilderAtEnd(b->at, none);
    LLVMBuildUnreachable(b->at);
}

void lw_emit_function(lw_unit *u) {
    emit_entries(u);
    for (uint32_t n = 0; n < u->code->op_count; n++)
        if (u->starts[n] || u->kinds[n] != LW_KIND_body) emit_segment(u, n);
}
