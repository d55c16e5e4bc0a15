/* region.c: a stretch of element-wise operations: what is the same for all lanes is computed once; then the rest, for
 * all lanes side by side (vector registers: so that nothing is stored before all of it is known to be good) or in a
 * loop, a chunk of lanes at a time (threads). */
#include "run/jit/unit.h"

#include "run/interp/address.h"

#include <stdlib.h>

typedef struct lw_region {
    lw_unit *u;
    uint32_t first, end;
    lw_values values;
    LLVMValueRef *results; /* per operation: its value, where it has one for all lanes */
    LLVMValueRef *rows;    /* per operation: the place of its row */
    LLVMBasicBlockRef leave;
    uint32_t lanes; /* of a gang, where they are known */
    bool has_rows, checks, failed;
} lw_region;

static const lw_op *op_at(const lw_region *r, uint32_t n) { return lw_unit_op(r->u, n); }
static bool is_row(const lw_op *op) { return lw_op_does(op, LW_DOES_ROW); }

/* ---- In front of it -------------------------------------------------------------------------------------------- */

static void demand(lw_region *r, LLVMValueRef condition) { lw_build_unless(r->u->build, condition, r->leave); }

/* All lanes of the gang execute. Stores to memory want every one of them to be there. */
static void demand_lanes(lw_region *r) {
    const lw_build *b = r->u->build;
    LLVMValueRef good = lw_emit_whole(b);
    if (r->lanes && r->has_rows) {
        LLVMValueRef want = lw_build_number(b, 32, r->lanes);
        good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, LW_GANG_LOAD(b, b->i32, active), want), "");
    }
    demand(r, good);
    if (r->lanes) return;
    LLVMBasicBlockRef whole = lw_emit_whole_of(r->u, r->first);
    LLVMBuildBr(b->at, whole);
    LLVMPositionBuilderAtEnd(b->at, whole);
}

static void take_scalar(lw_region *r, uint32_t reg) {
    lw_unit *u = r->u;
    if (r->values.scalar[reg] || u->code->registers[reg].is_const || !lw_set_has(lw_unit_uniform(u, r->first), reg))
        return;
    LLVMValueRef value =
        LLVMBuildLoad2(u->build->at, lw_build_int(u->build, lw_unit_bits(u, reg)), lw_unit_scalar(u, reg), "");
    r->values.scalar[reg] = r->values.before[reg] = value;
}

static void take_scalars(lw_region *r) {
    for (uint32_t n = r->first; n < r->end; n++) {
        const lw_op *op = op_at(r, n);
        LW_EACH_READ(r->u->code, op, at) take_scalar(r, *at);
        if (lw_op_keeps(op)) LW_EACH_WRITTEN(r->u->code, op, at) take_scalar(r, *at);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef wide(const lw_build *b, LLVMValueRef x) { return LLVMBuildZExt(b->at, x, b->i64, ""); }

/* Number of the gang's first thread, in all CTAs of `threads` (NULL: of the launch), each behind the other. */
static LLVMValueRef first_thread(const lw_build *b, LLVMValueRef threads) {
    LLVMValueRef index = lw_build_load(b, b->i32, lw_build_cta(b), offsetof(lw_cta, index), 4, LW_ALIAS_gang);
    if (!threads)
        threads = wide(b, lw_build_load(b, b->i32, lw_build_grid(b), offsetof(lw_grid, block), 4, LW_ALIAS_gang));
    LLVMValueRef before = LLVMBuildMul(b->at, wide(b, index), threads, "");
    return LLVMBuildAdd(b->at, before, wide(b, LW_GANG_LOAD(b, b->i32, first)), "");
}

/* Number of the element that lane 0 takes, and the address of element 0; NULL where lanes differ. */
static LLVMValueRef row_element(lw_region *r, const lw_op *op) {
    const lw_build *b = r->u->build;
    if (op->flags & LW_OP_IMM_B) return first_thread(b, op->b ? lw_build_number(b, 64, op->b) : NULL);
    LLVMValueRef element = lw_value_scalar(r->u, &r->values, op->b);
    return element ? LLVMBuildAdd(b->at, element, wide(b, LW_GANG_LOAD(b, b->i32, first)), "") : NULL;
}
static LLVMValueRef row_base(lw_region *r, const lw_op *op) {
    const lw_build *b = r->u->build;
    if (op->flags & LW_OP_IMM_A) return lw_build_load(b, b->i64, lw_build_params(b, r->u), op->a, 1, LW_ALIAS_gang);
    return lw_value_scalar(r->u, &r->values, op->a);
}

/* As find_row of the interpreter has it, for all lanes of the gang: where lane 0's element is. */
static LLVMValueRef find_row(lw_region *r, const lw_op *op) {
    const lw_build *b = r->u->build;
    const uint32_t size = lw_memory_unpack(op->c).size, hint = (uint32_t)(op->imm >> LW_ROW_HINT_SHIFT) % LW_HINTS;
    const uint64_t span = (uint64_t)r->lanes << size, at = offsetof(lw_gang, hints) + hint * sizeof(lw_range);
    const uint64_t length = lw_row_length(op);
    LLVMValueRef element = row_element(r, op), base = row_base(r, op);
    if (!element || !base || length < r->lanes) return NULL;
    LLVMValueRef hint_base = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, base), 8, LW_ALIAS_gang);
    LLVMValueRef hint_size = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, size), 8, LW_ALIAS_gang);
    LLVMValueRef host = lw_build_load(b, b->bytes, b->gang, at + offsetof(lw_range, host), 8, LW_ALIAS_gang);
    LLVMValueRef address =
        LLVMBuildAdd(b->at, base, LLVMBuildShl(b->at, element, lw_build_number(b, 64, size), ""), "");
    LLVMValueRef distance = LLVMBuildSub(b->at, address, hint_base, ""), bytes = lw_build_number(b, 64, span);
    LLVMValueRef below = LLVMBuildAnd(b->at, base, lw_build_number(b, 64, (1u << size) - 1), "");
    LLVMValueRef good =
        lw_build_is(b, LLVMIntEQ, below, lw_build_number(b, 64, 0)); /* first what stays as it is from round to round */
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntUGE, hint_size, bytes), "");
    good =
        LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, LLVMBuildSub(b->at, base, hint_base, ""), hint_size), "");
    if (lw_op_does(op, LW_DOES_STORES)) {
        LLVMValueRef read_only = lw_build_load(b, b->i8, b->gang, at + offsetof(lw_range, read_only), 1, LW_ALIAS_gang);
        good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, read_only, lw_build_number(b, 8, 0)), "");
    }
    demand(r, good);
    demand(r, lw_build_is(b, LLVMIntULE, element, lw_build_number(b, 64, length - r->lanes)));
    demand(r, lw_build_is(b, LLVMIntULE, distance, LLVMBuildSub(b->at, hint_size, bytes, "")));
    return lw_build_move(b, host, distance);
}

/* A byte for each lane's bit, and again from the first on, as lanes of a gang may be of two registers: where lane 0's
 * is. */
static LLVMValueRef find_pattern(lw_region *r, const lw_op *op) {
    const lw_build *b = r->u->build;
    const uint64_t *words = r->u->code->constants + op->imm;
    const uint32_t width = op->c, length = width + r->lanes;
    char *bytes = malloc(length);
    if (!bytes) return NULL;
    for (uint32_t i = 0; i < length; i++) bytes[i] = words[i % width / 64] >> i % width % 64 & 1;
    LLVMValueRef text = LLVMConstStringInContext(b->context, bytes, length, true);
    free(bytes);
    LLVMValueRef table = LLVMAddGlobal(b->module, LLVMTypeOf(text), "pattern");
    LLVMSetInitializer(table, text);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMValueRef first = r->u->program->vector.flat ? first_thread(b, NULL) : wide(b, LW_GANG_LOAD(b, b->i32, first));
    LLVMValueRef at = LLVMBuildURem(b->at, first, lw_build_number(b, 64, width), "");
    return lw_build_move(b, LLVMBuildBitCast(b->at, table, b->bytes, ""), at);
}

/* No lane of the gang is behind the last element. */
static void demand_elements(lw_region *r, const lw_op *op) {
    const lw_build *b = r->u->build;
    LLVMValueRef count = wide(b, lw_build_load(b, b->i32, lw_build_params(b, r->u), op->imm, 1, LW_ALIAS_gang));
    LLVMValueRef end = LLVMBuildAdd(b->at, first_thread(b, NULL), lw_build_number(b, 64, r->lanes), "");
    demand(r, lw_build_is(b, LLVMIntULE, end, count));
}

/* ---- Once for all lanes ---------------------------------------------------------------------------------------- */

static void forget(lw_region *r, const lw_op *op, bool vectors) {
    LW_EACH_WRITTEN(r->u->code, op, at) {
        r->values.scalar[*at] = NULL;
        for (uint32_t c = 0; vectors && c < r->values.chunks; c++) r->values.vector[c][*at] = NULL;
    }
}

static void keep_result(lw_region *r, uint32_t n) {
    forget(r, op_at(r, n), true);
    r->values.scalar[op_at(r, n)->d] = r->results[n - r->first];
}

static void emit_scalars(lw_region *r) {
    for (uint32_t n = r->first; n < r->end; n++) {
        const lw_op *op = op_at(r, n);
        if (op->code == LW_OP_beyond) demand_elements(r, op);
        if (is_row(op) || op->code == LW_OP_pattern) {
            r->rows[n - r->first] = is_row(op) ? find_row(r, op) : find_pattern(r, op);
            r->failed |= !r->rows[n - r->first];
        }
        r->results[n - r->first] = lw_body_scalar(r->u, op, &r->values);
        if (r->results[n - r->first]) keep_result(r, n);
        else forget(r, op, false);
    }
}

/* ---- The lanes ------------------------------------------------------------------------------------------------- */

static void demand_counts(lw_region *r) {
    const lw_build *b = r->u->build;
    LLVMValueRef large = LLVMBuildLoad2(b->at, lw_build_vector(b, 1), r->values.large, "");
    LLVMValueRef any = LLVMBuildBitCast(b->at, large, lw_build_int(b, b->chunk), "");
    demand(r, lw_build_is(b, LLVMIntEQ, any, lw_build_number(b, b->chunk, 0)));
    r->checks = false;
}

static void emit_ops(lw_region *r) {
    for (uint32_t n = r->first; n < r->end; n++) {
        const lw_op *op = op_at(r, n);
        if (r->results[n - r->first]) {
            keep_result(r, n);
            continue;
        }
        if (lw_op_does(op, LW_DOES_STORES) && r->checks) demand_counts(r);
        for (uint32_t c = 0; c < r->values.chunks; c++) lw_body_vector(r->u, op, &r->values, c, r->rows[n - r->first]);
        forget(r, op, false);
    }
    if (r->checks) demand_counts(r);
}

/* What is read later has its value in its slot behind the region, for each lane. */
static bool goes_home(const lw_region *r, uint32_t reg) {
    const lw_unit *u = r->u;
    return lw_set_has(lw_unit_live(u, r->end), reg) &&
           (lw_unit_homed(u, reg) || !lw_set_has(lw_unit_uniform(u, r->end), reg));
}

/* What is read later goes back into its slot, or where it is known to be the same in all lanes into its scalar, or
 * both. */
static void keep_live(lw_region *r) {
    lw_unit *u = r->u;
    uint64_t *kept = calloc(u->words + 1, sizeof *kept);
    for (uint32_t n = r->first; kept && n < r->end; n++) LW_EACH_WRITTEN(u->code, op_at(r, n), at) {
            const uint32_t reg = *at;
            if (lw_set_has(kept, reg) || !goes_home(r, reg)) continue;
            lw_set_add(kept, reg);
            for (uint32_t c = 0; c < r->values.chunks; c++)
                lw_frame_store(u, r->values.regs, r->values.base, reg, c, lw_value_vector(u, &r->values, reg, c));
        }
    r->failed |= !kept;
    free(kept);
}

/* What came in and stayed as it is. */
static void settle(lw_region *r) {
    uint64_t *uniform = lw_unit_kept(r->u, r->first, r->end);
    if (uniform) lw_frame_settle(r->u, uniform, r->end);
    free(uniform);
}

static void keep_scalars(lw_region *r) {
    lw_unit *u = r->u;
    const uint64_t *live = lw_unit_live(u, r->end), *uniform = lw_unit_uniform(u, r->end);
    settle(r);
    for (uint32_t n = r->first; n < r->end; n++) {
        const uint32_t reg = op_at(r, n)->d;
        if (!r->results[n - r->first] || !lw_set_has(uniform, reg) || !lw_set_has(live, reg)) continue;
        LLVMBuildStore(u->build->at, r->values.scalar[reg], lw_unit_scalar(u, reg));
    }
}

/* Vector registers: a chunk beside the other. */
static void emit_wide(lw_region *r) {
    const lw_build *b = r->u->build;
    r->values.chunks = r->lanes / b->chunk;
    r->values.base = lw_build_number(b, 64, 0);
    if (r->checks) {
        r->values.large = lw_build_stack(b, lw_build_vector(b, 1));
        LLVMBuildStore(b->at, LLVMConstNull(lw_build_vector(b, 1)), r->values.large);
    }
    emit_ops(r);
    keep_live(r);
}

/* Results of the region that live at a time, at most. */
static uint32_t find_pressure(const lw_region *r) {
    const lw_unit *u = r->u;
    uint64_t *live = malloc((u->words + 1) * sizeof *live);
    uint32_t most = 0;
    if (live) memcpy(live, lw_unit_live(u, r->end), u->words * sizeof *live);
    for (uint32_t n = r->end; live && n-- > r->first;) {
        uint32_t now = 0;
        for (uint32_t k = r->first; k < r->end; k++)
            LW_EACH_WRITTEN(u->code, op_at(r, k), at) now += *at == op_at(r, n)->d || lw_set_has(live, *at);
        most = now > most ? now : most;
        lw_live_over(u->code, op_at(r, n), false, live);
    }
    free(live);
    return most;
}

/* So many that all have room in registers: a chain of operations that wait for each other takes no longer for several
 * chunks than for one. Of a short one the CPU does the rounds side by side by itself. */
static uint32_t count_chunks(const lw_region *r) {
    enum { ROOM = 14, CHUNKS = 4, LEAST = 8, MOST = 512 };
    const uint32_t count = r->end - r->first;
    uint32_t chunks = 1;
    if (count < LEAST) return chunks;
    const uint32_t pressure = find_pressure(r);
    while (2 * chunks <= CHUNKS && 2 * chunks * pressure <= ROOM && 2 * chunks * count <= MOST) chunks *= 2;
    return chunks;
}

/* Threads: some chunks side by side behind the others. */
static void emit_loop(lw_region *r) {
    const lw_build *b = r->u->build;
    LLVMValueRef lanes = wide(b, LW_GANG_LOAD(b, b->i32, lanes));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b->at), loop = lw_build_block(b, "lanes"),
                      done = lw_build_block(b, "");
    LLVMBuildBr(b->at, loop);
    LLVMPositionBuilderAtEnd(b->at, loop);
    r->values.chunks = count_chunks(r);
    r->values.base = LLVMBuildPhi(b->at, b->i64, "lane");
    emit_ops(r);
    keep_live(r);
    LLVMValueRef next =
        LLVMBuildAdd(b->at, r->values.base, lw_build_number(b, 64, (uint64_t)r->values.chunks * b->chunk), "");
    LLVMValueRef from[] = {lw_build_number(b, 64, 0), next};
    LLVMBasicBlockRef by[] = {before, LLVMGetInsertBlock(b->at)};
    LLVMAddIncoming(r->values.base, from, by, 2);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntULT, next, lanes), loop, done);
    LLVMPositionBuilderAtEnd(b->at, done);
}

static bool needs_lanes(const lw_region *r) {
    for (uint32_t n = r->first; n < r->end; n++)
        if (!r->results[n - r->first]) return true;
    for (uint32_t n = r->first; n < r->end; n++)
        if (goes_home(r, op_at(r, n)->d)) return true;
    return false;
}

static bool make_room(lw_region *r) {
    const uint32_t registers = r->u->code->virtual_count, count = r->end - r->first;
    r->values.scalar = r->u->build->values;
    r->values.before = r->values.scalar + registers;
    for (uint32_t c = 0; c < LW_CHUNKS; c++) r->values.vector[c] = r->values.scalar + (size_t)(2 + c) * registers;
    r->results = calloc(count, sizeof *r->results);
    r->rows = calloc(count, sizeof *r->rows);
    return r->results && r->rows;
}

/* Of the registers that it reads or writes: back to what they were in front of it; or nothing is known of any. */
static void reset(lw_region *r, bool all) {
    for (uint32_t n = r->first; n < r->end; n++)
        for (int way = 0; way < 2; way++) LW_EACH_(r->u->code, op_at(r, n), at, way ? LW_WRITTEN : LW_READ) {
                if (all) r->values.before[*at] = NULL;
                r->values.scalar[*at] = r->values.before[*at];
                for (uint32_t c = 0; all && c < LW_CHUNKS; c++) r->values.vector[c][*at] = NULL;
            }
}

static void find_needs(lw_region *r) {
    for (uint32_t n = r->first; n < r->end; n++) {
        r->has_rows |= is_row(op_at(r, n));
        r->checks |= lw_op_does(op_at(r, n), LW_DOES_CHECKS);
    }
}

/* For gangs of that many lanes; 0: of any. */
static void emit_shape(lw_unit *u, uint32_t first, uint32_t end, uint32_t lanes) {
    lw_build *b = u->build;
    lw_region r = {.u = u, .first = first, .end = end, .lanes = lanes, .leave = lw_emit_leave(u, first)};
    b->failed |= !make_room(&r);
    if (!b->failed) {
        find_needs(&r);
        demand_lanes(&r);
        take_scalars(&r);
        emit_scalars(&r);
        if (r.failed) demand(&r, lw_build_number(b, 1, 0));
        else if (needs_lanes(&r)) {
            reset(&r, false);
            r.values.regs = lw_frame_regs(u);
            if (lanes) emit_wide(&r);
            else emit_loop(&r);
        }
        if (!r.failed) keep_scalars(&r);
    }
    reset(&r, true);
    free(r.results), free(r.rows);
    lw_emit_go_on(u, end);
}

void lw_emit_region(lw_unit *u, uint32_t first, uint32_t end) {
    const lw_build *b = u->build;
    if (!u->shapes[0]) emit_shape(u, first, end, 0);
    for (int k = 0; k < 2 && u->shapes[k]; k++) {
        const bool last = k == 1 || !u->shapes[k + 1];
        LLVMBasicBlockRef other = last ? lw_emit_leave(u, first) : lw_build_block(b, "shape");
        lw_build_unless(
            b, lw_build_is(b, LLVMIntEQ, LW_GANG_LOAD(b, b->i32, lanes), lw_build_number(b, 32, u->shapes[k])), other);
        emit_shape(u, first, end, u->shapes[k]);
        if (!last) LLVMPositionBuilderAtEnd(b->at, other);
    }
}
