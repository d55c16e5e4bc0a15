/* strand_local.c: local memory of a strand. Lanes at one address of their own have it side by side, a granule each;
 * those that go each their own way are in strand_memory.c, as in shared memory. */
#include "run/interp/address.h"
#include "run/jit/strand_course.h"

enum { ROW_BITS = 11 }; /* of the bytes of a row of granules, one for each lane of the gang */
_Static_assert(1 << ROW_BITS == LW_GRANULE * LW_GANG_LANES, "a lane's granules are a row apart");

/* ---- Where it is ------------------------------------------------------------------------------------------------- */

static LLVMValueRef frame_word(const lw_strand *s, size_t offset) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef frame = lw_build_pointer(b, b->gang, offsetof(lw_gang, frame), sizeof(lw_frame), _Alignof(lw_frame));
    return LLVMBuildZExt(b->at, lw_build_load(b, b->i32, frame, offset, 4, LW_ALIAS_gang), b->i64, "");
}

LLVMValueRef lw_local_room(const lw_strand *s, LLVMValueRef *host) {
    const lw_build *b = lw_strand_build(s);
    *host = lw_build_load(b, b->bytes, b->gang, offsetof(lw_gang, local), 8, LW_ALIAS_gang);
    *host = lw_build_move(b, *host, LLVMBuildMul(b->at, s->base, lw_course_number(s, LW_GRANULE), ""));
    return frame_word(s, offsetof(lw_frame, local_end));
}

LLVMValueRef lw_local_frame(const lw_strand *s, lw_memory_form form) {
    return form.frame ? frame_word(s, offsetof(lw_frame, local_base)) : lw_course_number(s, 0);
}

/* Of the first lane; of one address, or a vector of them. */
static LLVMValueRef way_of(const lw_strand *s, LLVMValueRef address,
                           LLVMValueRef (*each)(const lw_strand *, uint64_t)) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef rows = LLVMBuildShl(b->at, LLVMBuildLShr(b->at, address, each(s, 4), ""), each(s, ROW_BITS), "");
    return LLVMBuildOr(b->at, rows, LLVMBuildAnd(b->at, address, each(s, LW_GRANULE - 1), ""), "");
}

static LLVMValueRef splat(const lw_strand *s, uint64_t value) {
    return lw_value_splat(lw_strand_build(s), lw_course_number(s, value));
}

LLVMValueRef lw_local_ways(const lw_strand *s, LLVMValueRef addresses, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef lanes[LW_GANG_LANES];
    for (uint32_t i = 0; i < b->chunk; i++) lanes[i] = lw_course_number(s, (chunk * b->chunk + i) * LW_GRANULE);
    return LLVMBuildAdd(b->at, way_of(s, addresses, splat), LLVMConstVector(lanes, b->chunk), "");
}

void lw_local_used(const lw_strand *s, LLVMValueRef end) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef used = lw_build_load(b, b->i32, b->gang, offsetof(lw_gang, local_used), 4, LW_ALIAS_gang);
    end = LLVMBuildAdd(b->at, end, lw_course_number(s, LW_GRANULE - 1), "");
    end =
        LLVMBuildAnd(b->at, LLVMBuildTrunc(b->at, end, b->i32, ""), lw_build_number(b, 32, -(uint32_t)LW_GRANULE), "");
    end = LLVMBuildSelect(b->at, lw_build_is(b, LLVMIntUGT, end, used), end, used, "");
    lw_build_store(b, end, b->gang, offsetof(lw_gang, local_used), 4, LW_ALIAS_gang);
}

void lw_strand_local_base(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef at =
        LLVMBuildAdd(b->at, frame_word(s, offsetof(lw_frame, local_base)), lw_course_number(s, op->imm), "");
    at = LLVMBuildTrunc(b->at, at, lw_build_int(b, lw_unit_bits(s->u, op->d)), "");
    lw_strand_put_runs(s, n, op->d, LW_WARP_BITS, &at);
}

/* ---- One address for all ----------------------------------------------------------------------------------------- */

bool lw_strand_goes_local(const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    return form.window == LW_WINDOW_local && !form.is_volatile && !form.is_wide && !form.is_const &&
           form.address != LW_ADDRESS_ROW && form.size + form.vector <= 4 && op->d != LW_NO_SLOT;
}

bool lw_strand_is_local_row(const lw_strand *s, const lw_op *op) {
    return lw_strand_goes_local(op) && (!lw_memory_unpack(op->c).address || lw_strand_is_uniform(s, op->a));
}

/* The element's place in the first lane of the warp, where lanes may go there: others are on the other way of a fork.
 */
static LLVMValueRef find_place(lw_strand *s, const lw_course *course, lw_fork *fork) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef host, size = lw_local_room(s, &host), each = lw_course_number(s, lw_course_each(course));
    LLVMValueRef at = LLVMBuildAdd(b->at, course->at[0], lw_local_frame(s, course->form), "");
    LLVMValueRef low = LLVMBuildAnd(b->at, at, lw_course_number(s, lw_course_each(course) - 1), "");
    LLVMValueRef good = lw_build_is(b, LLVMIntULE, each, size);
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntULE, at, LLVMBuildSub(b->at, size, each, "")), "");
    good = LLVMBuildAnd(b->at, good, lw_build_is(b, LLVMIntEQ, low, lw_course_number(s, 0)), "");
    *fork = lw_strand_fork(s, good);
    lw_local_used(s, LLVMBuildAdd(b->at, at, each, ""));
    return lw_build_move(b, host, way_of(s, at, lw_course_number));
}

static LLVMValueRef lane_place(const lw_strand *s, LLVMValueRef place, LLVMValueRef lane, uint32_t more) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef at = LLVMBuildMul(b->at, lane, lw_course_number(s, LW_GRANULE), "");
    return lw_build_move(b, place, LLVMBuildAdd(b->at, at, lw_course_number(s, more), ""));
}

/* Whole granules, of which the elements are picked; behind the last of all there is room to be read (grid.c). */
static void load_granules(lw_strand *s, uint32_t n, const lw_course *course, LLVMValueRef place) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t in_granule = LW_GRANULE / course->bytes;
    LLVMTypeRef type = LLVMVectorType(lw_build_int(b, 8 * course->bytes), b->chunk * in_granule);
    LLVMValueRef order[LW_GANG_LANES];
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef all =
            lw_build_load(b, type, place, (uint64_t)c * b->chunk * LW_GRANULE, course->bytes, LW_ALIAS_memory);
        for (uint32_t k = 0; k < course->count; k++) {
            for (uint32_t i = 0; i < b->chunk; i++) order[i] = lw_build_number(b, 32, i * in_granule + k);
            LLVMValueRef value =
                LLVMBuildShuffleVector(b->at, all, LLVMGetPoison(type), LLVMConstVector(order, b->chunk), "");
            lw_strand_put(s, n, lw_course_element(s, op, k), c, lw_course_widen(s, value, course->form, true));
        }
    }
}

/* Of small elements, lane by lane. */
static void load_lanes(lw_strand *s, uint32_t n, const lw_course *course, LLVMValueRef place) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMTypeRef one = lw_build_int(b, 8 * course->bytes), vector = lw_build_vector(b, 8 * course->bytes);
    LLVMValueRef rooms[LW_VECTOR_MOST];
    for (uint32_t k = 0; k < course->count; k++) rooms[k] = lw_build_stack(b, LLVMArrayType(vector, s->chunks));
    const lw_build_rounds lane = lw_build_begin_rounds(b);
    for (uint32_t k = 0; k < course->count; k++) {
        LLVMValueRef from = lane_place(s, place, lane.round, k * course->bytes);
        LLVMBuildStore(b->at, lw_build_load(b, one, from, 0, course->bytes, LW_ALIAS_memory),
                       lw_build_element_at(b, one, rooms[k], lane.round));
    }
    lw_build_end_rounds(b, &lane, LW_WARP_LANES);
    for (uint32_t k = 0; k < course->count; k++)
        for (uint32_t c = 0; c < s->chunks; c++) {
            LLVMValueRef value = LLVMBuildLoad2(b->at, vector, lw_build_element(b, vector, rooms[k], c), "");
            lw_strand_put(s, n, lw_course_element(s, op, k), c, lw_course_widen(s, value, course->form, true));
        }
}

void lw_strand_load_local(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_course course = lw_course_of_runs(s, op, LW_WARP_BITS);
    lw_fork fork;
    LLVMValueRef place = find_place(s, &course, &fork);
    if (course.bytes < 4) load_lanes(s, n, &course, place);
    else load_granules(s, n, &course, place);
    lw_strand_or_step(s, n, &fork);
}

/* What a lane stores, as one number; of a chunk a vector of these. */
static LLVMTypeRef number_type(const lw_strand *s, const lw_course *course) {
    return lw_build_int(lw_strand_build(s), 8 * lw_course_each(course));
}

static void store_lane(const lw_strand *s, const lw_course *course, LLVMValueRef value, LLVMValueRef place) {
    lw_build_store(lw_strand_build(s), value, place, 0, lw_course_each(course), LW_ALIAS_memory);
}

/* All lanes, a chunk behind the other. */
static void store_chunks(lw_strand *s, const lw_course *course, LLVMValueRef list, LLVMValueRef place) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef vector = LLVMVectorType(number_type(s, course), b->chunk);
    const lw_build_rounds chunk = lw_build_begin_rounds(b);
    LLVMValueRef values = LLVMBuildLoad2(b->at, vector, lw_build_element_at(b, vector, list, chunk.round), "");
    LLVMValueRef first = LLVMBuildMul(b->at, chunk.round, lw_course_number(s, b->chunk), "");
    LLVMValueRef to = lane_place(s, place, first, 0);
    for (uint32_t i = 0; i < b->chunk; i++) {
        LLVMValueRef value = LLVMBuildExtractElement(b->at, values, lw_build_number(b, 32, i), "");
        store_lane(s, course, value, lane_place(s, to, lw_course_number(s, i), 0));
    }
    lw_build_end_rounds(b, &chunk, s->chunks);
}

static void store_some(lw_strand *s, const lw_course *course, LLVMValueRef list, LLVMValueRef place) {
    const lw_each each = lw_each_begin(s, s->now);
    LLVMValueRef value = lw_turn_element(lw_strand_build(s), number_type(s, course), list, each.lane);
    store_lane(s, course, value, lane_place(s, place, each.lane, 0));
    lw_each_end(s, &each);
}

void lw_strand_store_local(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_course course = lw_course_of_runs(s, op, LW_WARP_BITS);
    lw_fork fork;
    LLVMValueRef place = find_place(s, &course, &fork), values[LW_CHUNKS];
    for (uint32_t c = 0; c < s->chunks; c++)
        values[c] = LLVMBuildBitCast(b->at, lw_course_joined(s, op, &course, c),
                                     LLVMVectorType(number_type(s, &course), b->chunk), "");
    LLVMValueRef list = lw_turn_chunks(s, values);
    const lw_fork full = lw_strand_fork(s, lw_course_is_full(s));
    store_chunks(s, &course, list, place);
    lw_strand_otherwise(s, &full);
    store_some(s, &course, list, place);
    lw_strand_rejoin(s, &full);
    lw_strand_or_step(s, n, &fork);
}
