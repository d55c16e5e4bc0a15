/* frame.c: where compiled code and the interpreter hand lanes to each other: the operations and slots that the
 * interpreter has chosen, by the map that its linker made. Nobody else in the compiler knows of them.
 *
 * Operations are done in the interpreter's order: of several that it does as one, the earlier ones wait for the last.
 * So in front of each of its operations both have the same registers at hand, and lanes can go over there. */
#include "run/jit/unit.h"

#include "run/interp/turn.h"

#include <stdlib.h>

static lw_code *interp_of(const lw_unit *u) { return u->program->codes[u->code->index]; }

/* ---- Operations ------------------------------------------------------------------------------------------------ */

/* The program's operations, sorted by the interpreter's that does them. */
bool lw_frame_order(lw_unit *u) {
    const lw_code *code = u->code, *interp = interp_of(u);
    uint32_t *next =
        calloc(interp->op_count + 1, sizeof *next); /* by the interpreter's operation: where the program's go */
    if (!next) return false;
    for (uint32_t n = 0; n < code->op_count; n++)
        if (interp->became[n] != LW_NO_SLOT) next[interp->became[n] + 1]++, u->count++;
    for (uint32_t m = 0; m < interp->op_count; m++) next[m + 1] += next[m];
    for (uint32_t m = 0; m < interp->op_count; m++) u->whole[next[m]] = true;
    for (uint32_t n = 0; n < code->op_count; n++)
        if (interp->became[n] != LW_NO_SLOT) u->order[next[interp->became[n]]++] = n;
    for (uint32_t n = 0; n < u->count; n++)
        if (lw_unit_op(u, n)->code == LW_OP_block) u->block_at[lw_unit_op(u, n)->a] = n;
    free(next);
    return true;
}

uint32_t lw_frame_number(const lw_unit *u, uint32_t n) { return interp_of(u)->became[u->order[n]]; }
static const lw_op *interp_op(const lw_unit *u, uint32_t n) { return &interp_of(u)->ops[lw_frame_number(u, n)]; }
static LLVMValueRef interp_ops(const lw_unit *u) { return lw_host_ops(u->build, u->program, u->code->index); }
LLVMValueRef lw_frame_op(const lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    return lw_build_move(b, interp_ops(u), lw_build_number(b, 64, lw_frame_number(u, n) * sizeof(lw_op)));
}
int64_t lw_frame_branch_cost(const lw_unit *u, uint32_t n) { return lw_branch_cost(interp_of(u), interp_op(u, n)); }

/* The number of the operation that the dispatch loop came to. */
LLVMValueRef lw_frame_entered(const lw_unit *u) {
    const lw_build *b = u->build;
    LLVMValueRef first = LLVMBuildPtrToInt(b->at, interp_ops(u), b->i64, "");
    LLVMValueRef distance = LLVMBuildSub(b->at, LLVMBuildPtrToInt(b->at, b->op, b->i64, ""), first, "");
    return LLVMBuildUDiv(b->at, distance, lw_build_number(b, 64, sizeof(lw_op)), "");
}

/* ---- Slots ----------------------------------------------------------------------------------------------------- */

LLVMValueRef lw_frame_regs(const lw_unit *u) {
    return lw_build_pointer(u->build, u->build->gang, offsetof(lw_gang, regs), interp_of(u)->frame_bytes + LW_SLOT_64,
                            64);
}

bool lw_frame_has(const lw_unit *u, uint32_t reg) { return interp_of(u)->homes[reg] != LW_NO_SLOT; }

uint32_t lw_frame_home(const lw_unit *u, uint32_t reg) {
    const uint32_t home = interp_of(u)->homes[reg];
    if (home == LW_NO_SLOT) lw_bug("register %u has no place in the frame", reg);
    return home;
}

uint32_t lw_frame_places(const lw_unit *u) { return interp_of(u)->frame_bytes / LW_SLOT_PRED + 1; }
uint32_t lw_frame_place(const lw_unit *u, uint32_t reg) { return lw_frame_home(u, reg) / LW_SLOT_PRED; }

static uint32_t alignment(const lw_build *b, uint32_t bits) {
    const uint32_t bytes = bits / 8 * b->chunk;
    return bytes > 64 ? 64 : bytes;
}

/* Where the elements of a chunk are: a bit each, or a word. base: number of the first lane of the first chunk. */
static LLVMValueRef chunk_of(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg), bytes_8 = bits == 1 ? 1 : bits; /* of 8 lanes */
    LLVMValueRef offset = LLVMBuildLShr(b->at, LLVMBuildMul(b->at, base, lw_build_number(b, 64, bytes_8), ""),
                                        lw_build_number(b, 64, 3), "");
    offset =
        LLVMBuildAdd(b->at, offset, lw_build_number(b, 64, lw_frame_home(u, reg) + chunk * b->chunk / 8 * bytes_8), "");
    return lw_build_move(b, regs, offset);
}

/* Bits of a chunk of lanes, a word, as conditions. Without mask registers LLVM takes bits apart one by one; lanes that
 * look for their own in copies of the word are three instructions. */
LLVMValueRef lw_frame_bits(const lw_unit *u, LLVMValueRef word) {
    const lw_build *b = u->build;
    if (u->level->mask_registers) return LLVMBuildBitCast(b->at, word, lw_build_vector(b, 1), "");
    LLVMValueRef own[LW_GANG_LANES];
    for (uint32_t i = 0; i < b->chunk; i++) own[i] = lw_build_number(b, 32, 1ull << i);
    LLVMValueRef copies = lw_value_splat(b, LLVMBuildZExt(b->at, word, b->i32, ""));
    LLVMValueRef has = LLVMBuildAnd(b->at, copies, LLVMConstVector(own, b->chunk), "");
    return LLVMBuildICmp(b->at, LLVMIntNE, has, LLVMConstNull(LLVMTypeOf(has)), "");
}

LLVMValueRef lw_frame_load(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg);
    LLVMValueRef place = chunk_of(u, regs, base, reg, chunk);
    if (bits == 1) return lw_frame_bits(u, lw_build_load(b, lw_build_int(b, b->chunk), place, 0, 1, LW_ALIAS_slots));
    return lw_build_load(b, lw_build_vector(b, bits), place, 0, alignment(b, bits), LW_ALIAS_slots);
}

void lw_frame_store(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk,
                    LLVMValueRef value) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg);
    LLVMValueRef place = chunk_of(u, regs, base, reg, chunk);
    if (bits == 1)
        lw_build_store(b, LLVMBuildBitCast(b->at, value, lw_build_int(b, b->chunk), ""), place, 0, 1, LW_ALIAS_slots);
    else lw_build_store(b, value, place, 0, alignment(b, bits), LW_ALIAS_slots);
}

void lw_frame_store_some(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk,
                         LLVMValueRef value, LLVMValueRef on) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef place = chunk_of(u, regs, base, reg, chunk);
    place = LLVMBuildBitCast(b->at, place, LLVMPointerType(type, 0), "");
    LLVMValueRef arguments[] = {value, place, lw_build_number(b, 32, alignment(b, bits)), on};
    lw_build_masked(b, "llvm.masked.store", type, place, arguments, 4, LW_ALIAS_slots);
}

LLVMValueRef lw_frame_predicate(const lw_unit *u, uint32_t reg) {
    return lw_build_load(u->build, lw_build_int(u->build, LW_GANG_LANES), lw_frame_regs(u), lw_frame_home(u, reg), 16,
                         LW_ALIAS_slots);
}

/* ---- Uniform registers: in stack slots here, in the frame for everybody else ----------------------------------- */

/* For each of them that is live in front of operation n. there: those that are uniform behind it as well are left out;
 * or NULL. */
#define EACH_UNIFORM(u, reg, live, uniform, there) \
    for (uint32_t w_ = 0; w_ < (u)->words; w_++) \
        for (uint64_t left_ = (live)[w_] & (uniform)[w_] & ~((there) ? ((const uint64_t *)(there))[w_] : 0); left_; \
             left_ &= left_ - 1) \
            for (uint32_t reg = 64 * w_ + (uint32_t)__builtin_ctzll(left_), once_ = 1; once_; once_ = 0)

static LLVMValueRef place_of(const lw_unit *u, LLVMValueRef regs, uint32_t reg) {
    return lw_build_move(u->build, regs, lw_build_number(u->build, 64, lw_frame_home(u, reg)));
}

/* The number of the first executing lane: a function may have been called by some lanes only, and others have no values
 * in its frame. */
static LLVMValueRef first_lane(const lw_build *b) {
    LLVMValueRef lane = lw_build_bits(b, "llvm.cttz", lw_build_gang_mask(b, offsetof(lw_gang, mask)));
    return LLVMBuildTrunc(b->at, lane, b->i64, "");
}

LLVMValueRef lw_frame_element(const lw_unit *u, LLVMValueRef regs, uint32_t reg, LLVMValueRef lane) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg);
    LLVMValueRef slot = place_of(u, regs, reg);
    if (bits == 1) {
        LLVMTypeRef type = lw_build_int(b, LW_GANG_LANES);
        LLVMValueRef all = lw_build_load(b, type, slot, 0, 16, LW_ALIAS_slots);
        return LLVMBuildTrunc(b->at, LLVMBuildLShr(b->at, all, LLVMBuildZExt(b->at, lane, type, ""), ""), b->i1, "");
    }
    LLVMValueRef element = lw_build_move(b, slot, LLVMBuildMul(b->at, lane, lw_build_number(b, 64, bits / 8), ""));
    return lw_build_load(b, lw_build_int(b, bits), element, 0, bits / 8, LW_ALIAS_slots);
}

void lw_frame_take(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    LLVMValueRef regs = lw_frame_regs(u), lane = first_lane(b);
    EACH_UNIFORM(u, reg, lw_unit_live(u, n), lw_unit_uniform(u, n), NULL)
    LLVMBuildStore(b->at, lw_frame_element(u, regs, reg, lane), lw_unit_scalar(u, reg));
}

void lw_frame_give(lw_unit *u, const uint64_t *uniform, uint32_t n, LLVMValueRef regs) {
    const lw_build *b = u->build;
    EACH_UNIFORM(u, reg, lw_unit_live(u, n), uniform, u->homed) {
        const uint32_t bits = lw_unit_bits(u, reg);
        LLVMValueRef value = LLVMBuildLoad2(b->at, lw_build_int(b, bits), lw_unit_scalar(u, reg), "");
        value = bits == 1 ? LLVMBuildSExt(b->at, value, b->i64, "") : LLVMBuildZExt(b->at, value, b->i64, "");
        LLVMValueRef arguments[] = {place_of(u, regs, reg), lw_build_number(b, 32, bits), value};
        lw_host_call(b, LW_HOST_spread, b->spread_type, arguments);
    }
}

static void spread(lw_unit *u, LLVMValueRef regs, uint32_t reg) {
    const lw_build *b = u->build;
    const uint32_t bits = lw_unit_bits(u, reg), home = lw_frame_home(u, reg), bytes = b->chunk * bits / 8;
    LLVMValueRef value = LLVMBuildLoad2(b->at, lw_build_int(b, bits), lw_unit_scalar(u, reg), "");
    if (bits == 1) {
        lw_build_store(b, LLVMBuildSExt(b->at, value, lw_build_int(b, LW_GANG_LANES), ""), regs, home, 16,
                       LW_ALIAS_slots);
        return;
    }
    value = lw_value_splat(b, value);
    for (uint32_t c = 0; c < LW_GANG_LANES / b->chunk; c++)
        lw_build_store(b, value, regs, home + c * bytes, alignment(b, bits), LW_ALIAS_slots);
}

void lw_frame_settle(lw_unit *u, const uint64_t *uniform, uint32_t to) {
    LLVMValueRef regs = NULL;
    if (to >= u->count) return;
    EACH_UNIFORM(u, reg, lw_unit_live(u, to), uniform, lw_unit_uniform(u, to)) {
        if (lw_unit_homed(u, reg)) continue;
        if (!regs) regs = lw_frame_regs(u);
        spread(u, regs, reg);
    }
}

/* ---- Handing over ---------------------------------------------------------------------------------------------- */

bool lw_frame_gives(const lw_unit *u, uint32_t n) {
    const uint64_t *live = lw_unit_live(u, n), *uniform = lw_unit_uniform(u, n);
    uint64_t gives = 0;
    for (uint32_t w = 0; w < u->words; w++) gives |= live[w] & uniform[w] & ~u->homed[w];
    return gives;
}

void lw_frame_leave(const lw_unit *u, LLVMValueRef op) {
    const lw_build *b = u->build;
    LLVMValueRef arguments[] = {b->gang, op, lw_host_steps(b)};
    LLVMValueRef next = lw_host_call(b, LW_HOST_interpret, b->interpret_type, arguments);
    LLVMSetTailCall(next, true);
    LLVMBuildRet(b->at, next);
}

LLVMValueRef lw_frame_step(lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    LLVMValueRef arguments[] = {b->gang, lw_frame_op(u, n)};
    return lw_build_call(b, b->step_type, lw_host_step(b, interp_op(u, n)->code), arguments);
}

LLVMValueRef lw_frame_step_address(const lw_unit *u, uint32_t n) {
    const lw_build *b = u->build;
    return LLVMBuildPtrToInt(b->at, lw_host_step(b, interp_op(u, n)->code), b->i64, "");
}

void lw_frame_refuse(const lw_unit *u) { lw_frame_leave(u, u->build->op); }

void lw_frame_install(lw_code *interp, const uint32_t *entries, lw_step *step) {
    for (; *entries != LW_NO_SLOT; entries++) interp->ops[*entries].step = step;
}
