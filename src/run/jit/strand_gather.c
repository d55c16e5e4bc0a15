/* strand_gather.c: accesses of a strand whose lanes go each their own way, by the processor's gathers and scatters,
 * which take a mask: all lanes of a chunk are looked at, and move, at once. Of smaller elements than words the word
 * around each is read, which is as much in the host's memory as they are. */
#include "run/jit/strand_course.h"

enum { WORD = 4 };

bool lw_strand_gathers(const lw_strand *s, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!s->u->level->mask_registers || !lw_strand_moves(form) || !form.address || op->d == LW_NO_SLOT) return false;
    if (form.window != LW_WINDOW_shared && form.address != 2) return false;
    if (op->code == LW_OP_st) return 1u << form.size >= WORD && !form.is_const && !(op->flags & LW_OP_IMM_A);
    return 1u << form.size >= WORD || !form.vector;
}

/* ---- One number and an index ------------------------------------------------------------------------------------- */

/* An address that is one number, the same in all lanes, and an index of 32 bits for each, times what a lane accesses.
 * The operations that make it may stand in other blocks than the access, since compilers take out of loops what does
 * not change there. So values are followed from block to block, by registers that one operation alone writes, which
 * stands in front of whoever reads them on all ways through the function (`settled`). Then what such an operation read
 * is, in front of the access, what it was: were its operand made anew since, and it not, there would be a way from
 * where the function begins by the operand's maker to the access that does not come by it. Where an index counts on
 * behind the address that is made of it, or some lanes alone write it, there are two that write it, or one that not all
 * come by.
 *
 * What is there in the program need not be at hand in the strand: entries take from the frame what lives there, of what
 * is wanted, and recall what follows from the launch. So an access may use registers that live where its block begins:
 * they live on all ways there from entries, or are written on them; they are kept for lanes that wait elsewhere, like
 * all that live there, and joined where these come back. And it may use those that follow from the launch, if nobody
 * ever reads them before they are written: these are the same for ever, and recalled by all entries behind what writes
 * them. The plan has both among what is wanted (lw_strand_indexed). */
typedef struct lw_indexer {
    const lw_strand *s;
    uint32_t access; /* the operation */
} lw_indexer;

/* The operation that a register has its value in front of operation n from: the last one of its block, or the only one
 * of the function. LW_NO_SLOT: it is not known, or was for some lanes only. */
static uint32_t writer_of(const lw_strand *s, uint32_t n, uint32_t reg) {
    const uint32_t block = lw_strand_block_of(s->u, n), first = s->u->block_at[block], only = s->only[reg];
    if (only) return (first < only && only <= n) || lw_strand_is_settled(s, block, reg) ? only - 1 : LW_NO_SLOT;
    for (uint32_t k = n; k-- > first;)
        if (lw_unit_writes(s->u, k, reg)) return s->u->guarded[k] ? LW_NO_SLOT : k;
    return LW_NO_SLOT;
}

/* What operation k read in a register, the last time before operation n, is still there in front of that. */
static bool is_kept(const lw_strand *s, uint32_t k, uint32_t n, uint32_t reg) {
    const uint32_t block = lw_strand_block_of(s->u, k);
    if (s->u->code->registers[reg].is_const) return true;
    if (block != lw_strand_block_of(s->u, n)) return s->only[reg] && writer_of(s, k, reg) == s->only[reg] - 1;
    for (; k < n; k++)
        if (lw_unit_writes(s->u, k, reg)) return false;
    return true;
}

/* The strand has it in front of operation n, wherever it has been entered. */
static bool is_at_hand(const lw_strand *s, uint32_t n, uint32_t reg) {
    const lw_unit *u = s->u;
    const uint32_t block = lw_strand_block_of(u, n), first = u->block_at[block];
    if (u->code->registers[reg].is_const || lw_set_has(lw_unit_live(u, first), reg)) return true;
    for (uint32_t k = first; k < n; k++)
        if (lw_unit_writes(u, k, reg)) return true;
    return lw_strand_is_given(s, reg) && lw_strand_is_settled(s, block, reg) &&
           !lw_set_has(lw_unit_live(u, u->block_at[0]), reg);
}

static const lw_op *operation(const void *x, uint32_t n) { return lw_unit_op(((const lw_indexer *)x)->s->u, n); }

static uint32_t maker_of(const void *x, uint32_t n, uint32_t reg) {
    return writer_of(((const lw_indexer *)x)->s, n, reg);
}

static bool is_number(const void *x, uint32_t reg, uint64_t value) {
    const lw_register *known = &((const lw_indexer *)x)->s->u->code->registers[reg];
    return known->is_const && known->value == value;
}

static bool is_index(const void *user, uint32_t n, uint32_t reg) {
    const lw_indexer *x = user;
    return is_kept(x->s, n, x->access, reg) && is_at_hand(x->s, x->access, reg);
}

static bool is_base(const void *x, uint32_t n, uint32_t reg) {
    return lw_strand_is_uniform(((const lw_indexer *)x)->s, reg) && is_index(x, n, reg);
}

static bool find_indexed(const lw_strand *s, uint32_t n, uint32_t shift, lw_indexed_access *to) {
    const lw_indexer indexer = {s, n};
    const lw_indexed_search search = {&indexer, operation, maker_of, is_number, is_base, is_index};
    return lw_find_indexed(&search, n, shift, to);
}

bool lw_strand_indexed(const lw_strand *s, uint32_t n, uint32_t *base, uint32_t *index) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (op->code != LW_OP_ld && op->code != LW_OP_st) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_indexed_access indexed;
    if (!lw_strand_moves(form) || form.address != 2 || op->d == LW_NO_SLOT || op->flags & LW_OP_IMM_A) return false;
    if (lw_strand_is_row(s, op->a) || !find_indexed(s, n, form.size + form.vector, &indexed)) return false;
    *base = indexed.base, *index = indexed.index;
    return true;
}

/* By indices, which neither wrap nor are negative. */
LLVMValueRef lw_strand_joined(lw_strand *s, uint32_t n, lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t shift = form.size + form.vector;
    lw_indexed_access indexed;
    if (!lw_strand_moves(form) || form.address != 2 || op->d == LW_NO_SLOT) return NULL;
    if (!find_indexed(s, n, shift, &indexed) || lw_set_has(s->read, indexed.index)) return NULL;
    LLVMValueRef first =
        LLVMBuildExtractElement(b->at, lw_strand_vector(s, indexed.index, 0), lw_build_number(b, 32, 0), "");
    LLVMValueRef good = lw_build_is(b, LLVMIntULE, first, lw_build_number(b, 32, INT32_MAX - LW_WARP_LANES)),
                 all = NULL;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef count[LW_GANG_LANES];
        for (uint32_t i = 0; i < b->chunk; i++) count[i] = lw_build_number(b, 32, c * b->chunk + i);
        LLVMValueRef next = LLVMBuildAdd(b->at, lw_value_splat(b, first), LLVMConstVector(count, b->chunk), "");
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntEQ, lw_strand_vector(s, indexed.index, c), next, "");
        all = all ? LLVMBuildAnd(b->at, all, is, "") : is;
    }
    all = LLVMBuildBitCast(b->at, all, lw_build_int(b, b->chunk), "");
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, all, LLVMConstAllOnes(LLVMTypeOf(all))), "");
    first = LLVMBuildShl(b->at, LLVMBuildZExt(b->at, first, b->i64, ""), lw_course_number(s, shift), "");
    first = LLVMBuildAdd(b->at, first, lw_strand_base(s, indexed.base), "");
    *course = lw_course_of_neighbours(op, LLVMBuildAdd(b->at, first, lw_course_number(s, op->imm), ""));
    return LLVMBuildAnd(b->at, good, lw_course_is_full(s), "");
}

/* ---- Where lanes go ---------------------------------------------------------------------------------------------- */

/* So many times what each accesses from a place on, or so many bytes. */
typedef struct lw_places {
    lw_memory_form form;
    bool by_bytes;
    LLVMValueRef host, at[LW_CHUNKS];
    LLVMValueRef most, good;             /* what that may be, and whether anything may be */
    LLVMValueRef high[LW_CHUNKS], above; /* and of addresses the upper half, which must be this one; NULL: none */
    LLVMValueRef same;                   /* all lanes go to one place; NULL: it does not matter */
} lw_places;

static uint32_t width_of(LLVMValueRef vector) { return LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(vector))); }

static LLVMValueRef also(const lw_strand *s, LLVMValueRef good, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildAnd(lw_strand_build(s)->at, good, lw_build_is(lw_strand_build(s), how, x, y), "");
}
static LLVMValueRef least(const lw_strand *s, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildSelect(lw_strand_build(s)->at, lw_build_is(lw_strand_build(s), LLVMIntSLT, x, y), x, y, "");
}

/* Shared memory, or the allocation met last; returns where it begins. Who is a whole number of accesses behind that is
 * aligned; so are words around elements. */
static LLVMValueRef find_home(lw_strand *s, uint32_t n, uint32_t shift, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const uint64_t bytes = 1ull << shift;
    LLVMValueRef base = lw_course_number(s, 0), each = lw_course_number(s, bytes);
    places->good = lw_build_number(b, 1, 1);
    LLVMValueRef size = places->form.window == LW_WINDOW_shared
                            ? lw_course_shared(s, &places->host)
                            : lw_course_met(s, n, &base, &places->host, &places->good);
    LLVMValueRef low = LLVMBuildOr(b->at, LLVMBuildPtrToInt(b->at, places->host, b->i64, ""), base, "");
    low = LLVMBuildAnd(b->at, low, lw_course_number(s, (bytes < WORD ? WORD : bytes) - 1), "");
    places->good = also(s, places->good, LLVMIntULE, each, size);
    places->good = also(s, places->good, LLVMIntEQ, low, lw_course_number(s, 0));
    places->most = LLVMBuildLShr(b->at, LLVMBuildSub(b->at, size, each, ""), lw_course_number(s, shift), "");
    return base;
}

/* Either half of each element of 64 bits. */
static LLVMValueRef half_of(const lw_strand *s, LLVMValueRef value, uint32_t half) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef order[LW_GANG_LANES];
    for (uint32_t i = 0; i < b->chunk; i++) order[i] = lw_build_number(b, 32, 2 * i + half);
    value = LLVMBuildBitCast(b->at, value, LLVMVectorType(b->i32, 2 * b->chunk), "");
    return LLVMBuildShuffleVector(b->at, value, LLVMGetPoison(LLVMTypeOf(value)), LLVMConstVector(order, b->chunk), "");
}

/* The value with its lowest bits on top. */
static LLVMValueRef turned(const lw_strand *s, LLVMValueRef value, uint32_t shift) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = width_of(value);
    if (!shift) return value;
    LLVMValueRef down = LLVMBuildLShr(b->at, value, lw_value_splat(b, lw_build_number(b, bits, shift)), "");
    LLVMValueRef up = LLVMBuildShl(b->at, value, lw_value_splat(b, lw_build_number(b, bits, bits - shift)), "");
    return LLVMBuildOr(b->at, down, up, "");
}

/* Addresses of 64 bits, by what each lane accesses, in two halves: the lower one counts from where the home begins, and
 * the upper one, with what is not aligned on top, is that of the home's addresses, which is one unless it goes over a
 * multiple of so many. So distances are of 32 bits, as the processor's gathers like them, and all that is done in 64
 * depends on the address alone: loops in which that does not change have it in front of them. */
static void find_halves(lw_strand *s, uint32_t n, uint32_t shift, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const uint64_t odd = op->imm & ((1ull << shift) - 1), far = ((1ull << 31) >> places->form.vector) - 1;
    LLVMValueRef first = find_home(s, n, shift, places), half = lw_course_number(s, 32);
    first = LLVMBuildSub(b->at, first, lw_course_number(s, op->imm - odd), "");
    first = LLVMBuildLShr(b->at, first, lw_course_number(s, shift), "");
    if (1u << places->form.size >= WORD) places->most = least(s, places->most, lw_course_number(s, far));
    LLVMValueRef last = LLVMBuildAdd(b->at, first, places->most, ""), above = LLVMBuildLShr(b->at, first, half, "");
    places->good = also(s, places->good, LLVMIntEQ, above, LLVMBuildLShr(b->at, last, half, ""));
    places->above = LLVMBuildTrunc(b->at, above, b->i32, "");
    LLVMValueRef from = lw_value_splat(b, LLVMBuildTrunc(b->at, first, b->i32, ""));
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = lw_strand_vector(s, op->a, c);
        if (odd) at = LLVMBuildAdd(b->at, at, lw_value_splat(b, lw_course_number(s, odd)), "");
        at = turned(s, at, shift);
        places->high[c] = half_of(s, at, 1);
        places->at[c] = LLVMBuildSub(b->at, half_of(s, at, 0), from, "");
    }
}

/* Distances from where the home begins, by how much each lane accesses. Who is not aligned is far off then. */
static void find_distances(lw_strand *s, uint32_t n, uint32_t shift, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    if (lw_unit_bits(s->u, op->a) == 64) {
        find_halves(s, n, shift, places);
        return;
    }
    LLVMValueRef more = LLVMBuildSub(b->at, lw_course_number(s, op->imm), find_home(s, n, shift, places), "");
    more = lw_value_splat(b, LLVMBuildTrunc(b->at, more, b->i32, ""));
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = LLVMBuildAdd(b->at, lw_strand_vector(s, op->a, c), more, "");
        places->at[c] = turned(s, at, shift);
    }
}

/* Of elements that are part of a word: how many the word around the last good one must leave, where words do not begin
 * with the host's. */
static LLVMValueRef find_spare(const lw_strand *s, uint32_t size, LLVMValueRef up) {
    const lw_build *b = lw_strand_build(s);
    if (1u << size >= WORD) return lw_course_number(s, 0);
    LLVMValueRef last = lw_course_number(s, (WORD >> size) - 1), none = lw_course_number(s, 0);
    LLVMValueRef is = lw_build_is(b, LLVMIntEQ, LLVMBuildAnd(b->at, up, last, ""), none);
    return LLVMBuildSelect(b->at, is, none, last, "");
}

/* From where index 0 is, or from where the home begins if that is above it: so no sum wraps into what is good, as long
 * as `most` is far below 1 << 32. */
static void find_reach(lw_strand *s, uint32_t n, lw_places *places, lw_indices *reach) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef none = lw_course_number(s, 0), shift = lw_course_number(s, reach->shift);
    LLVMValueRef far = lw_course_number(s, ((1u << 30) >> places->form.vector) - 1);
    LLVMValueRef away = LLVMBuildAdd(b->at, lw_strand_base(s, reach->base), lw_course_number(s, reach->imm), "");
    away = LLVMBuildSub(b->at, away, find_home(s, n, reach->shift, places), "");
    LLVMValueRef low = LLVMBuildAnd(b->at, away, lw_course_number(s, (1ull << reach->shift) - 1), "");
    away = LLVMBuildAShr(b->at, away, shift, "");
    LLVMValueRef down = least(s, away, none), up = LLVMBuildSub(b->at, away, down, "");
    LLVMValueRef first = LLVMBuildAdd(b->at, up, find_spare(s, places->form.size, up), "");
    reach->good = also(s, places->good, LLVMIntEQ, low, none);
    reach->good = also(s, reach->good, LLVMIntSGT, down, LLVMBuildNeg(b->at, far, ""));
    reach->good = also(s, reach->good, LLVMIntULE, first, places->most);
    reach->most = least(s, LLVMBuildSub(b->at, places->most, first, ""), far);
    reach->host = lw_build_move(b, places->host, LLVMBuildShl(b->at, up, shift, ""));
    reach->down = LLVMBuildTrunc(b->at, down, b->i32, "");
}

/* The same for all accesses of a block from one number on. */
static lw_indices reach_of(lw_strand *s, uint32_t n, uint32_t shift, uint32_t base, lw_places *places) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_indices reach = {base, shift, places->form.window, op->code == LW_OP_st, .imm = op->imm};
    for (uint32_t k = 0; k < s->reach_count; k++) {
        const lw_indices *known = &s->reach[k];
        if (known->base == base && known->shift == shift && known->is_store == reach.is_store &&
            known->imm == reach.imm && known->window == reach.window)
            return *known;
    }
    find_reach(s, n, places, &reach);
    if (!s->guard) s->reach[s->reach_count < LW_COUNT(s->reach) ? s->reach_count++ : 0] = reach;
    return reach;
}

void lw_strand_reach(lw_strand *s, uint32_t n) {
    lw_places places = {.form = lw_memory_unpack(lw_unit_op(s->u, n)->c)};
    const uint32_t shift = places.form.size + places.form.vector;
    lw_indexed_access indexed;
    if (lw_strand_gathers(s, lw_unit_op(s->u, n)) && !s->guard && find_indexed(s, n, shift, &indexed))
        reach_of(s, n, shift, indexed.base, &places);
}

static void find_indices(lw_strand *s, uint32_t n, uint32_t shift, const lw_indexed_access *indexed,
                         lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_indices reach = reach_of(s, n, shift, indexed->base, places);
    places->host = reach.host, places->most = reach.most, places->good = reach.good;
    LLVMValueRef down = lw_value_splat(b, reach.down);
    for (uint32_t c = 0; c < s->chunks; c++)
        places->at[c] = LLVMBuildAdd(b->at, lw_strand_vector(s, indexed->index, c), down, "");
}

/* Of shared memory, which begins where any access may, and addresses of which all are known to be aligned: they are
 * places as they are, in bytes. */
static void find_bytes(lw_strand *s, uint32_t n, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef each = lw_course_number(s, 1ull << (places->form.size + places->form.vector));
    LLVMValueRef size = lw_course_shared(s, &places->host);
    places->by_bytes = true;
    places->good = lw_build_is(b, LLVMIntULE, each, size);
    places->most = LLVMBuildSub(b->at, size, each, "");
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef more = lw_value_splat(b, lw_build_number(b, lw_unit_bits(s->u, op->a), op->imm));
        places->at[c] = LLVMBuildAdd(b->at, lw_strand_vector(s, op->a, c), more, "");
    }
}

/* The condition that all that execute may go there; NULL: they are known to be within shared memory. */
static LLVMValueRef find_places(lw_strand *s, uint32_t n, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    *places = (lw_places){.form = lw_memory_unpack(op->c)};
    const uint32_t shift = places->form.size + places->form.vector;
    LLVMValueRef bad = NULL;
    lw_indexed_access indexed;
    if (lw_course_is_aligned(s, op)) find_bytes(s, n, places);
    else if (find_indexed(s, n, shift, &indexed)) find_indices(s, n, shift, &indexed, places);
    else find_distances(s, n, shift, places);
    if (lw_course_is_inside(s, op)) return NULL;
    LLVMValueRef most = LLVMBuildTrunc(b->at, places->most, lw_build_int(b, width_of(places->at[0])), "");
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntUGT, places->at[c], lw_value_splat(b, most), "");
        if (places->above) {
            LLVMValueRef away = LLVMBuildICmp(b->at, LLVMIntNE, places->high[c], lw_value_splat(b, places->above), "");
            is = LLVMBuildOr(b->at, is, away, "");
        }
        is = LLVMBuildAnd(b->at, is, lw_strand_on(s, c), "");
        bad = bad ? LLVMBuildOr(b->at, bad, is, "") : is;
    }
    bad = LLVMBuildBitCast(b->at, bad, lw_build_int(b, b->chunk), "");
    return also(s, places->good, LLVMIntEQ, bad, LLVMConstNull(LLVMTypeOf(bad)));
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

/* Of the k-th element of each lane: so many bytes from one place on, or so many elements. */
static LLVMValueRef pointers_of(const lw_strand *s, const lw_places *places, LLVMValueRef at, uint32_t k,
                                uint32_t bytes) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_int(b, 8 * bytes), unit = places->by_bytes ? b->i8 : type;
    LLVMValueRef host = lw_build_move(b, places->host, lw_course_number(s, (uint64_t)k * bytes));
    host = LLVMBuildBitCast(b->at, host, LLVMPointerType(unit, 0), "");
    at = LLVMBuildGEP2(b->at, unit, host, &at, 1, "");
    return LLVMBuildBitCast(b->at, at, LLVMVectorType(LLVMPointerType(type, 0), b->chunk), "");
}

static LLVMValueRef shifted(const lw_strand *s, LLVMValueRef value, uint32_t left, uint32_t right) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = width_of(value);
    if (left) value = LLVMBuildShl(b->at, value, lw_value_splat(b, lw_build_number(b, bits, left)), "");
    if (right) value = LLVMBuildLShr(b->at, value, lw_value_splat(b, lw_build_number(b, bits, right)), "");
    return value;
}

/* What others write meanwhile, CTAs on other workers, all lanes that go there see alike, as those of a warp do: the
 * first one reads it for all. Only programs whose CTAs have to do with each other can tell. */
static LLVMValueRef find_same(const lw_strand *s, const lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    if (places->form.window == LW_WINDOW_shared || !b->communicates) return NULL;
    LLVMValueRef first = LLVMBuildExtractElement(b->at, places->at[0], lw_build_number(b, 32, 0), ""), all = NULL;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntEQ, places->at[c], lw_value_splat(b, first), "");
        all = all ? LLVMBuildAnd(b->at, all, is, "") : is;
    }
    all = LLVMBuildBitCast(b->at, all, lw_build_int(b, b->chunk), "");
    return lw_build_is(b, LLVMIntEQ, all, LLVMConstAllOnes(LLVMTypeOf(all)));
}

static LLVMValueRef who_reads(lw_strand *s, const lw_places *places, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef on = lw_strand_on(s, chunk), first[LW_GANG_LANES];
    if (!places->same) return on;
    for (uint32_t i = 0; i < b->chunk; i++) first[i] = lw_build_number(b, 1, !chunk && !i);
    return LLVMBuildSelect(b->at, places->same, LLVMConstVector(first, b->chunk), on, "");
}

/* A chunk of elements of words and more; or of words, which may begin at any element that is part of one. */
static LLVMValueRef gather(lw_strand *s, const lw_places *places, LLVMValueRef pointers, uint32_t bytes, uint32_t align,
                           uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * bytes);
    LLVMValueRef arguments[] = {pointers, lw_build_number(b, 32, align), who_reads(s, places, chunk),
                                LLVMConstNull(type)};
    return lw_build_masked(b, "llvm.masked.gather", type, pointers, arguments, 4, LW_ALIAS_memory);
}

/* Elements that are part of a word. */
static LLVMValueRef gather_parts(lw_strand *s, const lw_places *places, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t unit = places->by_bytes ? 0 : places->form.size, in_word = 2 - unit, bits = 8u << places->form.size;
    LLVMValueRef at = places->at[chunk], word = shifted(s, at, 0, in_word);
    if (places->by_bytes) word = shifted(s, word, in_word, 0);
    LLVMValueRef words = gather(s, places, pointers_of(s, places, word, 0, WORD), WORD, bits / 8, chunk);
    LLVMValueRef by = width_of(at) > 32 ? LLVMBuildTrunc(b->at, at, lw_build_vector(b, 32), "") : at;
    by = shifted(s, shifted(s, by, 32 - in_word, 32 - in_word), 3 + unit, 0);
    return LLVMBuildTrunc(b->at, LLVMBuildLShr(b->at, words, by, ""), lw_build_vector(b, bits), "");
}

void lw_strand_gather(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_places places;
    LLVMValueRef good = find_places(s, n, &places);
    const lw_fork fork = good ? lw_strand_fork(s, good) : (lw_fork){0};
    const lw_memory_form form = places.form;
    const uint32_t bytes = 1u << form.size;
    LLVMValueRef read[LW_VECTOR_MOST] = {NULL}; /* by the first lane */
    places.same = find_same(s, &places);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = shifted(s, places.at[c], places.by_bytes ? 0 : form.vector, 0);
        for (uint32_t k = 0; k < 1u << form.vector; k++) {
            LLVMValueRef value = bytes < WORD
                                     ? gather_parts(s, &places, c)
                                     : gather(s, &places, pointers_of(s, &places, at, k, bytes), bytes, bytes, c);
            if (!c) read[k] = LLVMBuildExtractElement(b->at, value, lw_build_number(b, 32, 0), "");
            if (places.same) value = LLVMBuildSelect(b->at, places.same, lw_value_splat(b, read[k]), value, "");
            lw_strand_put(s, n, lw_course_element(s, op, k), c, lw_course_widen(s, value, form, true));
        }
    }
    if (good) lw_strand_or_step(s, n, &fork);
}

/* Of lanes that go to one place the last one stays, as in a loop over them. */
void lw_strand_scatter(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_places places;
    LLVMValueRef good = find_places(s, n, &places);
    const lw_fork fork = good ? lw_strand_fork(s, good) : (lw_fork){0};
    const uint32_t bytes = 1u << places.form.size;
    LLVMTypeRef type = lw_build_vector(b, 8 * bytes);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = shifted(s, places.at[c], places.by_bytes ? 0 : places.form.vector, 0);
        for (uint32_t k = 0; k < 1u << places.form.vector; k++) {
            LLVMValueRef value = lw_strand_vector(s, lw_course_element(s, op, k), c);
            LLVMValueRef to = pointers_of(s, &places, at, k, bytes);
            if (places.form.size < places.form.slot) value = LLVMBuildTrunc(b->at, value, type, "");
            LLVMValueRef arguments[] = {value, to, lw_build_number(b, 32, bytes), lw_strand_on(s, c)};
            lw_build_masked(b, "llvm.masked.scatter", type, to, arguments, 4, LW_ALIAS_memory);
        }
    }
    if (good) lw_strand_or_step(s, n, &fork);
}
