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

/* Where lanes go: so many times what each accesses from a place on. */
typedef struct lw_places {
    lw_memory_form form;
    LLVMValueRef host, at[LW_CHUNKS];
} lw_places;

/* Distances from a base, by how much each lane accesses. Who is not aligned is far off then. */
static LLVMValueRef find_distances(lw_strand *s, const lw_op *op, const lw_places *places, LLVMValueRef base,
                                   uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = lw_unit_bits(s->u, op->a), shift = places->form.size + places->form.vector;
    LLVMValueRef more = LLVMBuildSub(b->at, lw_course_number(s, op->imm), base, "");
    more = LLVMBuildTrunc(b->at, more, lw_build_int(b, bits), "");
    LLVMValueRef at = LLVMBuildAdd(b->at, lw_strand_vector(s, op->a, chunk), lw_value_splat(b, more), "");
    if (!shift) return at;
    LLVMValueRef down = lw_value_splat(b, lw_build_number(b, bits, shift));
    LLVMValueRef round = lw_value_splat(b, lw_build_number(b, bits, bits - shift));
    return LLVMBuildOr(b->at, LLVMBuildLShr(b->at, at, down, ""), LLVMBuildShl(b->at, at, round, ""), "");
}

/* Who is a whole number of accesses behind it is aligned; so are words around elements. */
static LLVMValueRef is_aligned(const lw_strand *s, LLVMValueRef base, LLVMValueRef host, uint32_t bytes) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef low = lw_course_number(s, (bytes < WORD ? WORD : bytes) - 1u);
    low = LLVMBuildAnd(b->at, LLVMBuildOr(b->at, LLVMBuildPtrToInt(b->at, host, b->i64, ""), base, ""), low, "");
    return lw_build_is(b, LLVMIntEQ, low, lw_course_number(s, 0));
}

/* The condition that all that execute may go there. */
static LLVMValueRef find_places(lw_strand *s, uint32_t n, lw_places *places) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = places->form = lw_memory_unpack(op->c);
    const uint32_t shift = form.size + form.vector;
    LLVMValueRef base = lw_course_number(s, 0), good = lw_build_number(b, 1, 1),
                 each = lw_course_number(s, 1ull << shift);
    LLVMValueRef size = form.window == LW_WINDOW_shared ? lw_course_shared(s, &places->host)
                                                        : lw_course_met(s, n, &base, &places->host, &good);
    LLVMValueRef room = LLVMBuildLShr(b->at, LLVMBuildSub(b->at, size, each, ""), lw_course_number(s, shift), "");
    LLVMValueRef bad = NULL;
    room = lw_value_splat(b, LLVMBuildTrunc(b->at, room, lw_build_int(b, lw_unit_bits(s->u, op->a)), ""));
    for (uint32_t c = 0; c < s->chunks; c++) {
        places->at[c] = find_distances(s, op, places, base, c);
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntUGT, places->at[c], room, "");
        is = LLVMBuildAnd(b->at, is, lw_strand_on(s, c), "");
        bad = bad ? LLVMBuildOr(b->at, bad, is, "") : is;
    }
    bad = LLVMBuildBitCast(b->at, bad, lw_build_int(b, b->chunk), "");
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, each, size), "");
    good = LLVMBuildAnd(b->at, good, is_aligned(s, base, places->host, 1u << shift), "");
    return LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, bad, LLVMConstNull(LLVMTypeOf(bad))), "");
}

/* Of the k-th element of each lane, by how many elements of that size are in front of it. */
static LLVMValueRef pointers_of(const lw_strand *s, const lw_places *places, LLVMValueRef at, uint32_t k,
                                uint32_t bytes) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_int(b, 8 * bytes);
    LLVMValueRef host = lw_build_move(b, places->host, lw_course_number(s, (uint64_t)k * bytes));
    host = LLVMBuildBitCast(b->at, host, LLVMPointerType(type, 0), "");
    return LLVMBuildGEP2(b->at, type, host, &at, 1, "");
}

static LLVMValueRef shifted(const lw_strand *s, LLVMValueRef value, uint32_t bits, uint32_t left, uint32_t right) {
    const lw_build *b = lw_strand_build(s);
    if (left) value = LLVMBuildShl(b->at, value, lw_value_splat(b, lw_build_number(b, bits, left)), "");
    if (right) value = LLVMBuildLShr(b->at, value, lw_value_splat(b, lw_build_number(b, bits, right)), "");
    return value;
}

/* A chunk of elements of words and more; or of words. */
static LLVMValueRef gather(lw_strand *s, LLVMValueRef pointers, uint32_t bytes, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * bytes);
    LLVMValueRef arguments[] = {pointers, lw_build_number(b, 32, bytes), lw_strand_on(s, chunk), LLVMConstNull(type)};
    return lw_build_masked(b, "llvm.masked.gather", type, pointers, arguments, 4, LW_ALIAS_memory);
}

/* Elements that are part of a word. */
static LLVMValueRef gather_parts(lw_strand *s, const lw_places *places, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t in_word = 2 - places->form.size, bits = 8u << places->form.size;
    LLVMValueRef at = places->at[chunk];
    const uint32_t wide = LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(at)));
    LLVMValueRef words = gather(s, pointers_of(s, places, shifted(s, at, wide, 0, in_word), 0, WORD), WORD, chunk);
    LLVMValueRef by = LLVMBuildTrunc(b->at, at, lw_build_vector(b, 32), "");
    by = shifted(s, shifted(s, by, 32, 32 - in_word, 32 - in_word), 32, 3 + places->form.size, 0);
    return LLVMBuildTrunc(b->at, LLVMBuildLShr(b->at, words, by, ""), lw_build_vector(b, bits), "");
}

void lw_strand_gather(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_places places;
    const lw_fork fork = lw_strand_fork(s, find_places(s, n, &places));
    const lw_memory_form form = places.form;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = shifted(s, places.at[c], lw_unit_bits(s->u, op->a), form.vector, 0);
        for (uint32_t k = 0; k < 1u << form.vector; k++) {
            LLVMValueRef value = 1u << form.size < WORD
                                     ? gather_parts(s, &places, c)
                                     : gather(s, pointers_of(s, &places, at, k, 1u << form.size), 1u << form.size, c);
            lw_strand_put(s, n, lw_course_element(s, op, k), c, lw_course_widen(s, value, form, true));
        }
    }
    lw_strand_or_step(s, n, &fork);
}

/* Of lanes that go to one place the last one stays, as in a loop over them. */
void lw_strand_scatter(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_places places;
    const lw_fork fork = lw_strand_fork(s, find_places(s, n, &places));
    const uint32_t bytes = 1u << places.form.size;
    LLVMTypeRef type = lw_build_vector(b, 8 * bytes);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = shifted(s, places.at[c], lw_unit_bits(s->u, op->a), places.form.vector, 0);
        for (uint32_t k = 0; k < 1u << places.form.vector; k++) {
            LLVMValueRef value = lw_strand_vector(s, lw_course_element(s, op, k), c);
            LLVMValueRef to = pointers_of(s, &places, at, k, bytes);
            if (places.form.size < places.form.slot) value = LLVMBuildTrunc(b->at, value, type, "");
            LLVMValueRef arguments[] = {value, to, lw_build_number(b, 32, bytes), lw_strand_on(s, c)};
            lw_build_masked(b, "llvm.masked.scatter", type, to, arguments, 4, LW_ALIAS_memory);
        }
    }
    lw_strand_or_step(s, n, &fork);
}
