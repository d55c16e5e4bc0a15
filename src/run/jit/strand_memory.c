/* strand_memory.c: loads and stores of a strand. Where the address register is known to be a row, lanes go to
 * neighbouring places or to one, and their vectors are moved. What does not pass the check (strand_check.c), and lanes
 * that go each their own way, are calls (strand_frame.c, interp/level/pass.c). */
#include "run/jit/strand_course.h"

#include <stdio.h>

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef pointer(const lw_strand *s, const lw_course *course, LLVMValueRef at) {
    const lw_build *b = lw_strand_build(s);
    return LLVMBuildIntToPtr(b->at, LLVMBuildAdd(b->at, course->host, at, ""), b->bytes, "");
}

LLVMValueRef lw_course_widen(const lw_strand *s, LLVMValueRef value, lw_memory_form form, bool vector) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = 8u << form.size, slot = 8u << form.slot;
    LLVMTypeRef type = vector ? lw_build_vector(b, slot) : lw_build_int(b, slot);
    if (bits > slot) return LLVMBuildTrunc(b->at, value, type, "");
    if (bits == slot) return value;
    return form.is_signed ? LLVMBuildSExt(b->at, value, type, "") : LLVMBuildZExt(b->at, value, type, "");
}

uint32_t lw_course_element(const lw_strand *s, const lw_op *op, uint32_t k) {
    return lw_memory_unpack(op->c).vector ? s->u->code->slots[op->d + k] : op->d;
}

/* The place of the elements of a lane, and of its neighbours'. */
static LLVMValueRef place_of_lane(const lw_strand *s, const lw_course *course, LLVMTypeRef type, uint32_t lane) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef at = pointer(s, course, course->at[lane >> course->shape.run]);
    at = lw_build_move(b, at, lw_course_number(s, (uint64_t)lw_shape_above(&course->shape, lane)));
    return LLVMBuildBitCast(b->at, at, LLVMPointerType(type, 0), "");
}

static LLVMValueRef load_one(const lw_strand *s, const lw_course *course, LLVMValueRef at, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    return lw_build_load(b, lw_build_int(b, 8 * course->bytes), pointer(s, course, at), (uint64_t)k * course->bytes,
                         course->bytes, LW_ALIAS_memory);
}

/* Lanes of a chunk that are neighbours. */
static uint32_t piece_lanes(const lw_strand *s, const lw_course *course) {
    const uint32_t chunk = lw_strand_build(s)->chunk, together = 1u << course->together;
    return together < chunk ? together : chunk;
}

/* Bits of a lane's number that are the other way round among these. */
static uint32_t piece_turned(const lw_strand *s, const lw_course *course) {
    return course->turned & (piece_lanes(s, course) - 1);
}

/* One value of so many elements, or a vector of them. */
static LLVMTypeRef piece_type(const lw_strand *s, const lw_course *course, uint32_t elements) {
    LLVMTypeRef type = lw_build_int(lw_strand_build(s), 8 * course->bytes);
    return elements == 1 ? type : LLVMVectorType(type, elements);
}

/* The place of the lanes from this one on that are neighbours: where the first one goes, in memory. */
static LLVMValueRef place_of_piece(const lw_strand *s, const lw_course *course, LLVMTypeRef type, uint32_t lane) {
    return place_of_lane(s, course, type, lane | piece_turned(s, course));
}

static LLVMValueRef load_piece(lw_strand *s, const lw_course *course, uint32_t lane, uint32_t elements) {
    LLVMTypeRef type = piece_type(s, course, elements);
    LLVMValueRef value = LLVMBuildLoad2(lw_strand_build(s)->at, type, place_of_piece(s, course, type, lane), "");
    LLVMSetAlignment(value, course->bytes);
    LLVMSetMetadata(value, lw_strand_build(s)->alias_kind, lw_strand_build(s)->aliases[LW_ALIAS_memory]);
    return value;
}

/* Pieces, of so many elements, one behind the other: a vector. */
static LLVMValueRef join_pieces(const lw_strand *s, LLVMValueRef *pieces, uint32_t count, uint32_t elements) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef order[LW_GANG_LANES * LW_VECTOR_MOST];
    if (elements == 1) {
        LLVMValueRef all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(*pieces), count));
        for (uint32_t k = 0; k < count; k++)
            all = LLVMBuildInsertElement(b->at, all, pieces[k], lw_build_number(b, 32, k), "");
        return all;
    }
    for (uint32_t i = 0; i < count * elements; i++) order[i] = lw_build_number(b, 32, i);
    for (; count > 1; count /= 2, elements *= 2)
        for (uint32_t k = 0; k < count / 2; k++)
            pieces[k] = LLVMBuildShuffleVector(b->at, pieces[2 * k], pieces[2 * k + 1],
                                               LLVMConstVector(order, 2 * elements), "");
    return pieces[0];
}

/* Conditions of a chunk's lanes, for each of their elements. */
static LLVMValueRef on_elements(lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef on = lw_strand_on(s, chunk), order[LW_GANG_LANES * LW_VECTOR_MOST];
    const uint32_t elements = b->chunk * course->count;
    if (course->count == 1) return on;
    for (uint32_t i = 0; i < elements; i++) order[i] = lw_build_number(b, 32, i / course->count);
    return LLVMBuildShuffleVector(b->at, on, LLVMGetPoison(LLVMTypeOf(on)), LLVMConstVector(order, elements), "");
}

/* From the order of the lanes to that in memory: elements of a chunk, or their conditions. */
static LLVMValueRef turned_round(const lw_strand *s, const lw_course *course, LLVMValueRef elements) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t turned = piece_turned(s, course), count = course->count;
    LLVMValueRef order[LW_GANG_LANES * LW_VECTOR_MOST];
    if (!turned) return elements;
    for (uint32_t i = 0; i < b->chunk * count; i++)
        order[i] = lw_build_number(b, 32, (i / count ^ turned) * count + i % count);
    return LLVMBuildShuffleVector(b->at, elements, LLVMGetPoison(LLVMTypeOf(elements)),
                                  LLVMConstVector(order, b->chunk * count), "");
}

/* Where the lanes of a chunk go that are spread. */
static LLVMValueRef spread_places(const lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t first = chunk * b->chunk;
    const int64_t begins = lw_shape_above(&course->shape, first);
    LLVMTypeRef type = lw_build_int(b, 8 * course->bytes);
    LLVMValueRef away[LW_GANG_LANES];
    for (uint32_t i = 0; i < b->chunk; i++) {
        const int64_t bytes = lw_shape_above(&course->shape, first + i) - begins;
        away[i] = lw_build_number(b, 32, (uint64_t)(bytes / course->bytes));
    }
    LLVMValueRef all = LLVMConstVector(away, b->chunk);
    return LLVMBuildGEP2(b->at, type, place_of_lane(s, course, type, first), &all, 1, "");
}

static LLVMValueRef load_spread(lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * course->bytes);
    LLVMValueRef places = spread_places(s, course, chunk);
    LLVMValueRef arguments[] = {places, lw_build_number(b, 32, course->bytes), lw_strand_on(s, chunk),
                                LLVMConstNull(type)};
    return lw_build_masked(b, "llvm.masked.gather", type, places, arguments, 4, LW_ALIAS_memory);
}

uint32_t lw_course_comb(const lw_course *course) {
    enum { FAR = 16 };
    const int64_t step = course->shape.step[0], times = step / (int64_t)course->bytes;
    if (course->count > 1 || !lw_course_is_even(course) || step < 0 || step > FAR) return 0;
    return times == 2 || times == 4 || (times == 8 && course->bytes == 1) ? (uint32_t)step : 0;
}

/* On the plain way, where all of it may be read. */
static bool is_comb(const lw_strand *s, const lw_course *course) { return s->is_plain && lw_course_comb(course); }

/* Small elements are the low ends of larger ones, of which there are vectors; of others every second or fourth. */
static LLVMValueRef load_comb(lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t step = lw_course_comb(course), times = step / course->bytes;
    LLVMTypeRef type = lw_build_vector(b, 8 * course->bytes);
    const bool is_low = step <= 8;
    LLVMTypeRef all = is_low ? lw_build_vector(b, 8 * step)
                             : LLVMVectorType(lw_build_int(b, 8 * course->bytes), b->chunk * times);
    LLVMValueRef value = LLVMBuildLoad2(b->at, all, place_of_lane(s, course, all, chunk * b->chunk), "");
    LLVMSetAlignment(value, course->bytes);
    LLVMSetMetadata(value, b->alias_kind, b->aliases[LW_ALIAS_memory]);
    if (is_low) return LLVMBuildTrunc(b->at, value, type, "");
    LLVMValueRef order[LW_GANG_LANES];
    for (uint32_t i = 0; i < b->chunk; i++) order[i] = lw_build_number(b, 32, i * times);
    return LLVMBuildShuffleVector(b->at, value, LLVMGetPoison(all), LLVMConstVector(order, b->chunk), "");
}

static LLVMValueRef load_masked(lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = piece_type(s, course, b->chunk * course->count);
    LLVMValueRef place = place_of_piece(s, course, type, chunk * b->chunk);
    LLVMValueRef on = turned_round(s, course, on_elements(s, course, chunk));
    LLVMValueRef arguments[] = {place, lw_build_number(b, 32, course->bytes), on, LLVMConstNull(type)};
    return lw_build_masked(b, "llvm.masked.load", type, place, arguments, 4, LW_ALIAS_memory);
}

/* All elements of a chunk, as they lie in memory; of lanes that are spread, in their order. By mask wherever that can
 * be: it costs a load next to nothing. */
static LLVMValueRef load_chunk(lw_strand *s, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t lanes = piece_lanes(s, course), count = b->chunk / lanes, elements = lanes * course->count;
    LLVMValueRef pieces[LW_GANG_LANES];
    if (is_comb(s, course)) return load_comb(s, course, chunk);
    if (lw_course_is_spread(s, course)) return load_spread(s, course, chunk);
    if (lw_course_goes_by_mask(s, course)) return load_masked(s, course, chunk);
    for (uint32_t k = 0; k < count; k++) pieces[k] = load_piece(s, course, chunk * b->chunk + k * lanes, elements);
    return join_pieces(s, pieces, count, elements);
}

static void load_chunks(lw_strand *s, uint32_t n, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef all = load_chunk(s, course, chunk), order[LW_GANG_LANES];
    const bool in_order = lw_course_is_spread(s, course) || is_comb(s, course);
    const uint32_t turned = in_order ? 0 : piece_turned(s, course);
    for (uint32_t k = 0; k < course->count; k++) {
        LLVMValueRef value = all;
        for (uint32_t i = 0; i < b->chunk; i++) order[i] = lw_build_number(b, 32, (i ^ turned) * course->count + k);
        if (course->count > 1 || turned)
            value = LLVMBuildShuffleVector(b->at, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(order, b->chunk),
                                           "");
        lw_strand_put(s, n, lw_course_element(s, op, k), chunk, lw_course_widen(s, value, course->form, true));
    }
}

static void load_row(lw_strand *s, uint32_t n, const lw_course *course) {
    for (uint32_t c = 0; c < s->chunks; c++) load_chunks(s, n, course, c);
}

static LLVMValueRef narrowed(const lw_strand *s, const lw_course *course, LLVMValueRef value, LLVMTypeRef type) {
    return course->form.size < course->form.slot ? LLVMBuildTrunc(lw_strand_build(s)->at, value, type, "") : value;
}

/* ---- The same for all lanes of a run ----------------------------------------------------------------------------- */

static void load_runs(lw_strand *s, uint32_t n, const lw_course *course) {
    const lw_op *op = lw_unit_op(s->u, n);
    for (uint32_t k = 0; k < course->count; k++) {
        LLVMValueRef values[LW_STRAND_RUNS];
        for (uint32_t at = 0; at < lw_strand_runs(course->shape.run); at++)
            values[at] = lw_course_widen(s, load_one(s, course, course->at[at], k), course->form, false);
        lw_strand_put_runs(s, n, lw_course_element(s, op, k), course->shape.run, values);
    }
}

/* No generic address is one of local memory, where each lane has a place of its own. */
static LLVMValueRef is_elsewhere(const lw_strand *s, const lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef good = lw_build_number(b, 1, 1), window = lw_course_number(s, ~(LW_WINDOW_BYTES - 1));
    for (uint32_t at = 0; at < lw_strand_runs(course->shape.run); at++) {
        LLVMValueRef of = LLVMBuildAnd(b->at, course->at[at], window, "");
        LLVMValueRef is = lw_build_is(b, LLVMIntNE, of, lw_course_number(s, LW_LOCAL_WINDOW));
        good = LLVMBuildAnd(b->at, good, is, "");
    }
    return good;
}

static void load_same(lw_strand *s, uint32_t n, uint32_t run) {
    const lw_op *op = lw_unit_op(s->u, n);
    const bool sure = lw_course_is_sure(s, n);
    lw_course course = lw_course_of_runs(s, op, run);
    if (sure) {
        lw_course_trust(s, n, &course);
        load_runs(s, n, &course);
        return;
    }
    const lw_course before = course;
    lw_course_check(s, n, &course, false);
    const lw_fork fork = lw_strand_fork(s, course.good);
    load_runs(s, n, &course);
    lw_strand_otherwise(s, &fork);
    if (course.form.window == LW_WINDOW_generic && lw_strand_is_row(s, lw_course_element(s, op, 0)))
        lw_strand_demand(s, n, is_elsewhere(s, &before));
    lw_strand_call(s, n);
    lw_strand_rejoin(s, &fork);
}

/* ---- Each lane its own way --------------------------------------------------------------------------------------- */

/* Of shared and local memory; of other windows calls do that as well. */
static bool goes_apart(const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const bool is_shared = lw_strand_moves(form) && form.window == LW_WINDOW_shared && !form.is_const;
    return (is_shared || lw_strand_goes_local(op)) && form.address && !form.vector && op->d != LW_NO_SLOT;
}

/* All of local memory that lanes may go to. */
static void use_local(const lw_strand *s, lw_memory_form form) {
    LLVMValueRef host;
    if (form.window == LW_WINDOW_local) lw_local_used(s, lw_local_room(s, &host));
}

/* A chunk at once: LLVM knows what is best, an instruction or loads one by one. */
static LLVMValueRef gather_chunk(lw_strand *s, const lw_turn *turn, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * turn->bytes), element = lw_build_int(b, 8 * turn->bytes);
    LLVMValueRef host = LLVMBuildPtrToInt(b->at, turn->host, b->i64, ""), all[LW_GANG_LANES];
    LLVMValueRef at = LLVMBuildAdd(b->at, turn->ways[chunk], lw_value_splat(b, host), "");
    for (uint32_t i = 0; i < b->chunk; i++) all[i] = lw_build_number(b, 1, 1);
    at = LLVMBuildIntToPtr(b->at, at, LLVMVectorType(LLVMPointerType(element, 0), b->chunk), "");
    LLVMValueRef arguments[] = {at, lw_build_number(b, 32, turn->bytes), LLVMConstVector(all, b->chunk),
                                LLVMGetPoison(type)};
    return lw_build_masked(b, "llvm.masked.gather", type, at, arguments, 4, LW_ALIAS_memory);
}

static void load_apart(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_turn turn = {.bytes = 1u << form.size};
    const lw_fork fork = lw_strand_fork(s, lw_turn_find(s, n, &turn));
    use_local(s, form);
    for (uint32_t c = 0; c < s->chunks; c++)
        lw_strand_put(s, n, op->d, c, lw_course_widen(s, gather_chunk(s, &turn, c), form, true));
    lw_strand_or_step(s, n, &fork);
}

static void store_apart(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_turn turn = {.bytes = 1u << form.size};
    const lw_fork fork = lw_strand_fork(s, lw_turn_find(s, n, &turn));
    use_local(s, form);
    LLVMTypeRef slot = lw_build_int(b, 8u << form.slot);
    LLVMValueRef values = lw_turn_list(s, op->d);
    lw_turn_begin(s, &turn);
    LLVMValueRef value = lw_turn_element(b, slot, values, turn.each.lane);
    if (form.size < form.slot) value = LLVMBuildTrunc(b->at, value, lw_build_int(b, 8 * turn.bytes), "");
    lw_build_store(b, value, turn.place, 0, turn.bytes, LW_ALIAS_memory);
    lw_turn_end(s, &turn);
    lw_strand_or_step(s, n, &fork);
}

/* By the processor's own instructions, one by one, or by the level's function for a warp. */
static void load_unlike(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (lw_strand_gathers(s, op)) lw_strand_gather(s, n);
    else if (goes_apart(op)) load_apart(s, n);
    else lw_strand_call(s, n);
}
static void load_each(lw_strand *s, uint32_t n) {
    lw_course course;
    LLVMValueRef joined = lw_strand_joined(s, n, &course);
    if (!joined || s->guard) {
        load_unlike(s, n);
        return;
    }
    lw_course_check(s, n, &course, false);
    lw_strand_reach(s, n);
    const lw_fork fork = lw_strand_fork_evenly(s, lw_course_also(s, &course, joined));
    load_row(s, n, &course);
    lw_strand_otherwise(s, &fork);
    load_unlike(s, n);
    lw_strand_rejoin(s, &fork);
}

static bool stores_to_one(const lw_strand *s, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_strand_moves(form) || form.is_const || op->d == LW_NO_SLOT || op->flags & LW_OP_IMM_A) return false;
    return !form.address || lw_strand_is_uniform(s, op->a);
}

/* What the last of the lanes has that execute. */
static LLVMValueRef of_last(lw_strand *s, uint32_t reg) {
    const lw_build *b = lw_strand_build(s);
    if (lw_strand_is_uniform(s, reg)) return lw_strand_base(s, reg);
    LLVMValueRef behind = LLVMBuildZExt(b->at, lw_build_bits(b, "llvm.ctlz", s->now), b->i64, "");
    LLVMValueRef lane = LLVMBuildSub(b->at, lw_course_number(s, LW_WARP_LANES - 1), behind, "");
    return lw_turn_element(b, lw_build_int(b, lw_unit_bits(s->u, reg)), lw_turn_list(s, reg), lane);
}

/* All to one place, where the last one's stays. */
static void store_one(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t bytes = 1u << form.size;
    LLVMValueRef place;
    const lw_fork fork = lw_strand_fork(s, lw_turn_find_one(s, n, bytes << form.vector, &place));
    for (uint32_t k = 0; k < 1u << form.vector; k++) {
        LLVMValueRef value = of_last(s, lw_course_element(s, op, k));
        if (form.size < form.slot) value = LLVMBuildTrunc(b->at, value, lw_build_int(b, 8 * bytes), "");
        lw_build_store(b, value, place, (uint64_t)k * bytes, bytes, LW_ALIAS_memory);
    }
    lw_strand_or_step(s, n, &fork);
}

static void store_each(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    if (stores_to_one(s, op)) store_one(s, n);
    else if (lw_strand_gathers(s, op)) lw_strand_scatter(s, n);
    else if (!(op->flags & LW_OP_IMM_A) && goes_apart(op)) store_apart(s, n);
    else lw_strand_call(s, n);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* For whoever reads what LLVM is given (script/accesses): how the lanes of an access go, in the order of the code. */
static void note_way(const lw_strand *s, const lw_op *op, const char *way) {
    const lw_build *b = lw_strand_build(s);
    if (s->is_plain) return; /* as it is said on the other way */
    const bool is_shared = lw_memory_unpack(op->c).window == LW_WINDOW_shared;
    char text[64];
    const int length = snprintf(text, sizeof text, "%s %s %s", op->code == LW_OP_ld ? "load" : "store",
                                is_shared ? "shared" : "other", way);
    LLVMMetadataRef string = LLVMMDStringInContext2(b->context, text, (size_t)length);
    LLVMValueRef node = LLVMMetadataAsValue(b->context, LLVMMDNodeInContext2(b->context, &string, 1));
    LLVMAddNamedMetadataOperand(b->module, "lanewise.accesses", node);
}

void lw_strand_load(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t run = lw_strand_loads_one(s, n);
    lw_course course;
    const bool is_row = !run && lw_course_find(s, op, &course);
    note_way(s, op, run ? "one" : is_row ? "row" : "apart");
    if (run) load_same(s, n, run);
    else if (lw_strand_is_local_row(s, op)) lw_strand_load_local(s, n);
    else if (!is_row) load_each(s, n);
    else if (lw_course_is_sure(s, n)) {
        lw_course_trust(s, n, &course);
        load_row(s, n, &course);
    } else {
        lw_course_check(s, n, &course, false);
        const lw_fork fork = lw_strand_fork(s, course.good);
        load_row(s, n, &course);
        lw_strand_or_step(s, n, &fork);
    }
}

LLVMValueRef lw_course_joined(lw_strand *s, const lw_op *op, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * course->bytes);
    LLVMValueRef parts[LW_VECTOR_MOST] = {0}, order[LW_GANG_LANES];
    for (uint32_t k = 0; k < course->count; k++)
        parts[k] = narrowed(s, course, lw_strand_vector(s, lw_course_element(s, op, k), chunk), type);
    /* parts k and k + half, lane by lane, until there is one */
    for (uint32_t half = course->count / 2, lanes = b->chunk; half > 0; half /= 2, lanes *= 2) {
        for (uint32_t i = 0; i < 2 * lanes; i++) order[i] = lw_build_number(b, 32, i / 2 + i % 2 * lanes);
        for (uint32_t k = 0; k < half; k++)
            parts[k] = LLVMBuildShuffleVector(b->at, parts[k], parts[k + half], LLVMConstVector(order, 2 * lanes), "");
    }
    return parts[0];
}

/* Elements `first` … of a vector that has `all`. */
static LLVMValueRef part_of(const lw_build *b, LLVMValueRef vector, uint32_t first, uint32_t elements, uint32_t all) {
    LLVMValueRef order[LW_GANG_LANES * LW_VECTOR_MOST];
    if (elements == all) return vector;
    if (elements == 1) return LLVMBuildExtractElement(b->at, vector, lw_build_number(b, 32, first), "");
    for (uint32_t i = 0; i < elements; i++) order[i] = lw_build_number(b, 32, first + i);
    return LLVMBuildShuffleVector(b->at, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(order, elements),
                                  "");
}

/* on: NULL: all. */
static void store_piece(const lw_strand *s, const lw_course *course, LLVMValueRef piece, uint32_t lane,
                        LLVMValueRef on) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = LLVMTypeOf(piece);
    LLVMValueRef place = place_of_piece(s, course, type, lane);
    if (on) {
        LLVMValueRef arguments[] = {piece, place, lw_build_number(b, 32, course->bytes), on};
        lw_build_masked(b, "llvm.masked.store", type, place, arguments, 4, LW_ALIAS_memory);
        return;
    }
    LLVMValueRef store = LLVMBuildStore(b->at, piece, place);
    LLVMSetAlignment(store, course->bytes);
    LLVMSetMetadata(store, b->alias_kind, b->aliases[LW_ALIAS_memory]);
}

static void store_spread(lw_strand *s, uint32_t n, const lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef value = lw_course_joined(s, lw_unit_op(s->u, n), course, c), to = spread_places(s, course, c);
        LLVMValueRef arguments[] = {value, to, lw_build_number(b, 32, course->bytes), lw_strand_on(s, c)};
        lw_build_masked(b, "llvm.masked.scatter", LLVMTypeOf(value), to, arguments, 4, LW_ALIAS_memory);
    }
}

static void store_row(lw_strand *s, uint32_t n, const lw_course *course, bool by_mask) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t lanes = piece_lanes(s, course), elements = lanes * course->count, all = b->chunk * course->count;
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef value = turned_round(s, course, lw_course_joined(s, lw_unit_op(s->u, n), course, c));
        LLVMValueRef on = by_mask ? turned_round(s, course, on_elements(s, course, c)) : NULL;
        for (uint32_t k = 0; k < b->chunk; k += lanes) {
            const uint32_t first = k * course->count;
            store_piece(s, course, part_of(b, value, first, elements, all), c * b->chunk + k,
                        on ? part_of(b, on, first, elements, all) : NULL);
        }
    }
}

/* What executes of a row, all of it or some: masked stores are slow on some processors, and scatters are no faster than
 * the stores that they are made of. */
static void store_executing(lw_strand *s, uint32_t n, const lw_course *course) {
    if (!lw_course_stores_by_mask(s, course)) {
        store_row(s, n, course, false);
        return;
    }
    const lw_fork full = lw_strand_fork(s, lw_course_is_full(s));
    store_row(s, n, course, false);
    lw_strand_otherwise(s, &full);
    if (lw_course_is_spread(s, course)) store_spread(s, n, course);
    else store_row(s, n, course, true);
    lw_strand_rejoin(s, &full);
}

void lw_strand_store(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course;
    const bool is_row = !(op->flags & LW_OP_IMM_A) && lw_course_find(s, op, &course);
    note_way(s, op, is_row ? "row" : stores_to_one(s, op) ? "one" : "apart");
    if (lw_strand_is_local_row(s, op) && !(op->flags & LW_OP_IMM_A)) {
        lw_strand_store_local(s, n);
        return;
    }
    if (!is_row || course.form.is_const || lw_shape_alike(&course.shape)) { /* not several lanes to one place */
        store_each(s, n);
        return;
    }
    const bool sure = lw_course_is_sure(s, n), by_mask = lw_course_stores_by_mask(s, &course);
    if (sure) lw_course_trust(s, n, &course);
    else lw_course_check(s, n, &course, true);
    if (sure && (by_mask || s->is_plain)) {
        store_executing(s, n, &course);
        return;
    }
    if (!by_mask) course.good = lw_course_also(s, &course, lw_course_is_full(s));
    const lw_fork fork = lw_strand_fork(s, course.good);
    store_executing(s, n, &course);
    lw_strand_or_step(s, n, &fork);
}
