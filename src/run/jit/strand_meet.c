/* strand_meet.c: lanes of a warp that find something out together. Where all that can come are here, and name all that
 * are here, nobody waits; everything else is the interpreter's. Shuffles are in strand_shuffle.c. */
#include "run/jit/strand_course.h"

/* ---- Lanes that are alike ---------------------------------------------------------------------------------------- */

/* A loop over the executing lanes, of those at once that have the same in up to two registers. */
typedef struct lw_alike {
    uint32_t regs[2], count;
    LLVMValueRef lists[2]; /* of all lanes, in memory */
    LLVMBasicBlockRef before, loop;
    LLVMValueRef left, first, lanes; /* those that are not done; the lowest of them, and those like it */
} lw_alike;

/* The lanes that have one value in a register. */
static LLVMValueRef who_has(lw_strand *s, uint32_t reg, LLVMValueRef value) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef word = NULL;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntEQ, lw_strand_vector(s, reg, c), lw_value_splat(b, value), "");
        LLVMValueRef part = LLVMBuildBitCast(b->at, is, lw_build_int(b, b->chunk), "");
        part = LLVMBuildShl(b->at, LLVMBuildZExt(b->at, part, b->i32, ""), lw_build_number(b, 32, c * b->chunk), "");
        word = word ? LLVMBuildOr(b->at, word, part, "") : part;
    }
    return word;
}

static LLVMValueRef value_of(const lw_strand *s, const lw_alike *alike, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_int(b, lw_unit_bits(s->u, alike->regs[k]));
    return lw_turn_element(b, type, alike->lists[k], LLVMBuildZExt(b->at, alike->first, b->i64, ""));
}

static void begin_alike(lw_strand *s, lw_alike *alike) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t k = 0; k < alike->count; k++) alike->lists[k] = lw_turn_list(s, alike->regs[k]);
    alike->before = LLVMGetInsertBlock(b->at), alike->loop = lw_build_block(b, "alike");
    LLVMBuildBr(b->at, alike->loop);
    LLVMPositionBuilderAtEnd(b->at, alike->loop);
    alike->left = LLVMBuildPhi(b->at, b->i32, "");
    alike->first = lw_build_bits(b, "llvm.cttz", alike->left);
    alike->lanes = s->now;
    for (uint32_t k = 0; k < alike->count; k++)
        alike->lanes = LLVMBuildAnd(b->at, alike->lanes, who_has(s, alike->regs[k], value_of(s, alike, k)), "");
}

static void end_alike(const lw_strand *s, const lw_alike *alike) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef done = lw_build_block(b, "");
    LLVMValueRef others = LLVMBuildAnd(b->at, alike->left, LLVMBuildNot(b->at, alike->lanes, ""), "");
    LLVMAddIncoming(alike->left, (LLVMValueRef[]){s->now, others},
                    (LLVMBasicBlockRef[]){alike->before, LLVMGetInsertBlock(b->at)}, 2);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, others, lw_build_number(b, 32, 0)), alike->loop, done);
    LLVMPositionBuilderAtEnd(b->at, done);
}

/* ---- Who waits for whom ------------------------------------------------------------------------------------------ */

/* Those that a membermask names, as far as they have not exited, are just these. */
static LLVMValueRef names_just(const lw_strand *s, LLVMValueRef members, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    return lw_build_is(b, LLVMIntEQ, LLVMBuildAnd(b->at, members, s->live, ""), lanes);
}

/* Lanes with one membermask are just those that it names. */
static LLVMValueRef are_groups(lw_strand *s, uint32_t members) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef room = lw_build_stack(b, b->i1);
    lw_alike alike = {.regs = {members}, .count = 1};
    LLVMBuildStore(b->at, lw_build_number(b, 1, 1), room);
    begin_alike(s, &alike);
    LLVMValueRef good = names_just(s, value_of(s, &alike, 0), alike.lanes);
    LLVMBuildStore(b->at, LLVMBuildAnd(b->at, LLVMBuildLoad2(b->at, b->i1, room, ""), good, ""), room);
    end_alike(s, &alike);
    return LLVMBuildLoad2(b->at, b->i1, room, "");
}

void lw_strand_meet(lw_strand *s, uint32_t n) {
    const uint32_t members = lw_unit_op(s->u, n)->a;
    lw_strand_demand(s, n,
                     lw_strand_is_uniform(s, members) ? names_just(s, lw_strand_base(s, members), s->now)
                                                      : are_groups(s, members));
}

/* In front of an exchange lanes have met by the very same membermask. */
static bool has_met(const lw_unit *u, uint32_t n) {
    return n && lw_unit_op(u, n - 1)->code == LW_OP_warp_sync && lw_unit_op(u, n - 1)->a == lw_unit_op(u, n)->a;
}

/* All that execute take part together: nobody is asked, or all give one membermask, which names them. */
static uint32_t members_of(const lw_op *op) { return op->code == LW_OP_activemask ? LW_NO_SLOT : op->a; }
static bool takes_all(const lw_strand *s, const lw_op *op) {
    const uint32_t members = members_of(op);
    return members == LW_NO_SLOT || lw_strand_is_uniform(s, members) ||
           s->shapes[members].kind == LW_SHAPE_unseen; /* it may be, so far */
}

bool lw_strand_agrees(const lw_strand *s, const lw_op *op) {
    switch (op->code) {
    case LW_OP_activemask: return true;
    case LW_OP_vote:
    case LW_OP_redux: return takes_all(s, op);
    case LW_OP_match: return op->mode == LW_MATCH_all && takes_all(s, op);
    default: return false;
    }
}

/* ---- What a group finds out -------------------------------------------------------------------------------------- */

/* A number for each of its lanes, and which of them have the predicate; NULL: there is none. */
typedef struct lw_finding {
    LLVMValueRef number, lanes;
} lw_finding;

/* A condition for all lanes. */
static LLVMValueRef all_if(const lw_strand *s, LLVMValueRef condition) {
    return LLVMBuildSExt(lw_strand_build(s)->at, condition, lw_strand_build(s)->i32, "");
}

static lw_finding vote(lw_strand *s, const lw_op *op, LLVMValueRef group) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef p = lw_strand_chosen(s, op, group), none = lw_build_number(b, 32, 0);
    LLVMValueRef all = lw_build_is(b, LLVMIntEQ, p, group);
    switch ((lw_vote_kind)op->mode) {
    case LW_VOTE_ballot: return (lw_finding){.number = p};
    case LW_VOTE_all: return (lw_finding){.lanes = all_if(s, all)};
    case LW_VOTE_any: return (lw_finding){.lanes = all_if(s, lw_build_is(b, LLVMIntNE, p, none))};
    case LW_VOTE_uni:
        return (lw_finding){.lanes = all_if(s, LLVMBuildOr(b->at, all, lw_build_is(b, LLVMIntEQ, p, none), ""))};
    }
    lw_bug("vote of kind %u", op->mode);
}

/* An element of the lowest lane of a group. */
static LLVMValueRef first_of(lw_strand *s, uint32_t reg, LLVMValueRef group) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_int(b, lw_unit_bits(s->u, reg));
    LLVMValueRef lane = LLVMBuildZExt(b->at, lw_build_bits(b, "llvm.cttz", group), b->i64, "");
    return lw_turn_element(b, type, lw_turn_list(s, reg), lane);
}

static lw_finding match_all(lw_strand *s, const lw_op *op, LLVMValueRef group) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef same = LLVMBuildAnd(b->at, who_has(s, op->b, first_of(s, op->b, group)), group, "");
    LLVMValueRef all = all_if(s, lw_build_is(b, LLVMIntEQ, same, group));
    return (lw_finding){LLVMBuildAnd(b->at, all, group, ""), all};
}

static lw_finding elect(lw_strand *s, LLVMValueRef group) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef lowest = LLVMBuildAnd(b->at, group, LLVMBuildNeg(b->at, group, ""), "");
    return (lw_finding){lw_build_bits(b, "llvm.cttz", group), lowest};
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* Of two numbers, or two vectors of them. */
static LLVMValueRef combine(const lw_build *b, lw_redux_kind kind, LLVMValueRef x, LLVMValueRef y) {
#define LESS(how, p, q) LLVMBuildSelect(b->at, lw_build_is(b, LLVMInt##how, p, q), x, y, "")
    switch (kind) {
    case LW_REDUX_add: return LLVMBuildAdd(b->at, x, y, "");
    case LW_REDUX_min_s: return LESS(SLT, x, y);
    case LW_REDUX_min_u: return LESS(ULT, x, y);
    case LW_REDUX_max_s: return LESS(SGT, x, y);
    case LW_REDUX_max_u: return LESS(UGT, x, y);
    case LW_REDUX_and: return LLVMBuildAnd(b->at, x, y, "");
    case LW_REDUX_or: return LLVMBuildOr(b->at, x, y, "");
    case LW_REDUX_xor: return LLVMBuildXor(b->at, x, y, "");
    default: lw_bug("reduction of kind %d", (int)kind);
    }
#undef LESS
}

uint64_t lw_strand_neutral(lw_redux_kind kind, uint32_t bits) {
    const uint64_t all = UINT64_MAX >> (64 - bits);
    switch (kind) {
    case LW_REDUX_min_s: return all >> 1;
    case LW_REDUX_max_s: return all ^ all >> 1;
    case LW_REDUX_min_u:
    case LW_REDUX_and: return all;
    default: return 0;
    }
}

/* Half of it with the other half, until there is one. */
static LLVMValueRef fold(const lw_build *b, lw_redux_kind kind, LLVMValueRef vector, uint32_t lanes) {
    LLVMValueRef order[LW_GANG_LANES];
    for (; lanes > 1; lanes /= 2) {
        LLVMValueRef halves[2];
        for (uint32_t k = 0; k < 2; k++) {
            for (uint32_t i = 0; i < lanes / 2; i++) order[i] = lw_build_number(b, 32, k * lanes / 2 + i);
            halves[k] = LLVMBuildShuffleVector(b->at, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                               LLVMConstVector(order, lanes / 2), "");
        }
        vector = combine(b, kind, halves[0], halves[1]);
    }
    return LLVMBuildExtractElement(b->at, vector, lw_build_number(b, 32, 0), "");
}

LLVMValueRef lw_strand_reduce(lw_strand *s, lw_redux_kind kind, uint32_t reg, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, reg);
    LLVMValueRef all = NULL, none = lw_value_splat(b, lw_build_number(b, bits, lw_strand_neutral(kind, bits)));
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef on = lw_strand_conditions(s, lanes, c);
        LLVMValueRef part = LLVMBuildSelect(b->at, on, lw_strand_vector(s, reg, c), none, "");
        all = all ? combine(b, kind, all, part) : part;
    }
    return fold(b, kind, all, b->chunk);
}

/* One lane behind the other; of one lane, too, a magnitude, or its NaN. */
static LLVMValueRef reduce_float(lw_strand *s, const lw_op *op, LLVMValueRef group) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef values = lw_turn_list(s, op->b), so_far = lw_build_stack(b, b->i32);
    LLVMBuildStore(b->at, first_of(s, op->b, group), so_far);
    const lw_each each = lw_each_begin(s, group);
    LLVMValueRef operands[] = {LLVMBuildLoad2(b->at, b->i32, so_far, ""), lw_turn_element(b, b->i32, values, each.lane),
                               lw_build_number(b, 32, op->c)};
    LLVMBuildStore(b->at, lw_body_call(b, lw_called_lane(op), operands), so_far);
    lw_each_end(s, &each);
    return LLVMBuildLoad2(b->at, b->i32, so_far, "");
}

static lw_finding redux(lw_strand *s, const lw_op *op, LLVMValueRef group) {
    const bool is_float = lw_called_lane(op) != LW_LANE_none;
    return (lw_finding){.number = is_float ? reduce_float(s, op, group)
                                           : lw_strand_reduce(s, (lw_redux_kind)op->mode, op->b, group)};
}

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

static lw_finding find_out(lw_strand *s, const lw_op *op, LLVMValueRef group) {
    switch (op->code) {
    case LW_OP_activemask: return (lw_finding){.number = group};
    case LW_OP_vote: return vote(s, op, group);
    case LW_OP_redux: return redux(s, op, group);
    case LW_OP_elect: return elect(s, group);
    case LW_OP_match: return op->mode == LW_MATCH_all ? match_all(s, op, group) : (lw_finding){.number = group};
    default: lw_bug("exchange of code %u", op->code);
    }
}

void lw_strand_put_word(lw_strand *s, uint32_t n, uint32_t predicate, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    if (lw_strand_is_row(s, predicate)) { /* all of them, or none */
        LLVMValueRef is = lw_build_is(b, LLVMIntNE, lanes, lw_build_number(b, 32, 0));
        lw_strand_put_runs(s, n, predicate, LW_WARP_BITS, &is);
    } else
        for (uint32_t c = 0; c < s->chunks; c++) lw_strand_put(s, n, predicate, c, lw_strand_conditions(s, lanes, c));
}

/* Where the registers are that get a number, and a predicate; LW_NO_SLOT: nowhere. */
static uint32_t number_of(const lw_op *op) {
    return op->code == LW_OP_vote && op->mode != LW_VOTE_ballot ? LW_NO_SLOT : op->d;
}
static uint32_t predicate_of(const lw_op *op) {
    if (op->code == LW_OP_vote) return op->mode != LW_VOTE_ballot ? op->d : LW_NO_SLOT;
    return op->code == LW_OP_match || op->code == LW_OP_elect ? op->e : LW_NO_SLOT;
}

/* All that execute are one group. */
static void find_together(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_finding finding = find_out(s, op, s->now);
    if (number_of(op) != LW_NO_SLOT) lw_strand_put_runs(s, n, op->d, LW_WARP_BITS, &finding.number);
    if (predicate_of(op) != LW_NO_SLOT) lw_strand_put_word(s, n, predicate_of(op), finding.lanes);
}

/* Group by group; what each finds out is put together on the way. */
static void find_in_groups(lw_strand *s, uint32_t n, lw_alike *alike) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t number = number_of(op), predicate = predicate_of(op);
    LLVMTypeRef vector = lw_build_vector(b, 32);
    LLVMValueRef numbers = lw_build_stack(b, LLVMArrayType(vector, s->chunks)), lanes = lw_build_stack(b, b->i32);
    for (uint32_t c = 0; c < s->chunks; c++)
        LLVMBuildStore(b->at, LLVMConstNull(vector), lw_build_element(b, vector, numbers, c));
    LLVMBuildStore(b->at, lw_build_number(b, 32, 0), lanes);
    begin_alike(s, alike);
    const lw_finding finding = find_out(s, op, alike->lanes);
    for (uint32_t c = 0; number != LW_NO_SLOT && c < s->chunks; c++) {
        LLVMValueRef place = lw_build_element(b, vector, numbers, c), so_far = LLVMBuildLoad2(b->at, vector, place, "");
        LLVMValueRef on = lw_strand_conditions(s, alike->lanes, c), value = lw_value_splat(b, finding.number);
        LLVMBuildStore(b->at, LLVMBuildSelect(b->at, on, value, so_far, ""), place);
    }
    if (predicate != LW_NO_SLOT) {
        LLVMValueRef also = LLVMBuildAnd(b->at, finding.lanes, alike->lanes, "");
        LLVMBuildStore(b->at, LLVMBuildOr(b->at, LLVMBuildLoad2(b->at, b->i32, lanes, ""), also, ""), lanes);
    }
    end_alike(s, alike);
    for (uint32_t c = 0; number != LW_NO_SLOT && c < s->chunks; c++)
        lw_strand_put(s, n, number, c, LLVMBuildLoad2(b->at, vector, lw_build_element(b, vector, numbers, c), ""));
    if (predicate != LW_NO_SLOT) lw_strand_put_word(s, n, predicate, LLVMBuildLoad2(b->at, b->i32, lanes, ""));
}

bool lw_strand_exchange(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (op->code == LW_OP_shuffle) {
        lw_strand_shuffle(s, n);
        return true;
    }
    if (members_of(op) != LW_NO_SLOT && !has_met(s->u, n)) return false;
    lw_alike alike = {0};
    if (!takes_all(s, op)) alike.regs[alike.count++] = members_of(op);
    if (op->code == LW_OP_match && op->mode == LW_MATCH_any) alike.regs[alike.count++] = op->b;
    if (alike.count) find_in_groups(s, n, &alike);
    else find_together(s, n);
    return true;
}
