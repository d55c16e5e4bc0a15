/* strand_memory.c: loads and stores of a strand. Where the address register is known to be a row, lanes go to
 * neighbouring places or to one, and their vectors are moved; else each goes its own way. One check for all of them
 * against shared memory, or the allocation met last; whatever does not pass it is the interpreter's step's. */
#include "run/jit/strand.h"

enum { ROWS = LW_WARP_LANES / LW_ROW_LANES };

/* Where the lanes go: each 16 of them to places in a row, or to one place. */
typedef struct lw_course {
    lw_memory_form form;
    uint32_t bytes, count; /* of an element; elements of a lane */
    LLVMValueRef at[ROWS]; /* of the first lane of each, 64 bits */
    bool steps;            /* they are neighbours */
    bool joined;           /* … all of them */
    LLVMValueRef good;     /* a condition for it all; NULL: none */
    LLVMValueRef host;     /* to be added to addresses */
    LLVMValueRef lanes;    /* each its own way: place of their distances from the host's … */
    bool narrow;           /* … in 32 bits */
} lw_course;

static LLVMValueRef number(const lw_strand *s, uint64_t value) {
    return lw_build_number(lw_strand_build(s), 64, value);
}
static LLVMValueRef both(const lw_strand *s, LLVMValueRef x, LLVMValueRef y) {
    return !x ? y : LLVMBuildAnd(lw_strand_build(s)->at, x, y, "");
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* The address of a lane, from what its register has. */
static LLVMValueRef full_address(const lw_strand *s, const lw_op *op, lw_memory_form form, LLVMValueRef value) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = LLVMTypeOf(value);
    const bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMValueRef more = lw_build_number(b, form.address == 1 ? 32 : 64, op->imm);
    value = LLVMBuildAdd(b->at, value, vector ? lw_value_splat(b, more) : more, "");
    if (form.address == 2) return value;
    return LLVMBuildZExt(b->at, value, vector ? lw_build_vector(b, 64) : b->i64, "");
}

/* By the shape of the address register. False: it is none that helps. */
static bool course_of_row(lw_strand *s, const lw_op *op, lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    if (!lw_strand_is_row(s, op->a)) return false;
    const lw_shape *shape = &s->shapes[op->a];
    course->steps = shape->x != 0;
    if (course->steps && shape->x != course->bytes * course->count) return false;
    LLVMValueRef base = lw_strand_base(s, op->a);
    for (uint32_t row = 0; row < ROWS; row++) {
        LLVMValueRef more = LLVMConstInt(LLVMTypeOf(base), (uint64_t)(shape->y * row), false);
        course->at[row] = full_address(s, op, course->form, LLVMBuildAdd(b->at, base, more, ""));
    }
    course->joined = course->steps && shape->y == LW_ROW_LANES * shape->x;
    return true;
}

/* ---- The check --------------------------------------------------------------------------------------------------- */

/* The number of the first lane that executes, and of the last one, in bytes. */
static void find_ends(const lw_strand *s, uint32_t bytes, LLVMValueRef *first, LLVMValueRef *last) {
    const lw_build *b = lw_strand_build(s);
    static const char *const names[] = {"llvm.cttz", "llvm.ctlz"};
    LLVMValueRef zeros[2];
    for (int k = 0; k < 2; k++) zeros[k] = LLVMBuildZExt(b->at, lw_build_bits(b, names[k], s->now), b->i64, "");
    *first = LLVMBuildMul(b->at, zeros[0], number(s, bytes), "");
    LLVMValueRef before = LLVMBuildSub(b->at, number(s, LW_WARP_LANES - 1), zeros[1], "");
    *last = LLVMBuildMul(b->at, before, number(s, bytes), "");
}

typedef struct lw_home_ir {
    LLVMValueRef base, size, host, good;
} lw_home_ir;

/* Shared memory, or the allocation met last by this operation. */
static lw_home_ir find_home(const lw_strand *s, const lw_op *op, lw_memory_form form, bool stores) {
    const lw_build *b = lw_strand_build(s);
    lw_home_ir home = {.base = number(s, 0)};
    if (form.window == LW_WINDOW_shared) {
        LLVMValueRef cta = lw_build_cta(b);
        home.size = lw_build_load(b, b->i32, cta, offsetof(lw_cta, shared_bytes), 4, LW_ALIAS_gang);
        home.size = LLVMBuildZExt(b->at, home.size, b->i64, "");
        home.host = lw_build_load(b, b->bytes, cta, offsetof(lw_cta, shared), 8, LW_ALIAS_gang);
        return home;
    }
    const uint64_t at = offsetof(lw_gang, hints) + op->e % LW_HINTS * sizeof(lw_range);
    home.base = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, base), 8, LW_ALIAS_gang);
    home.size = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, size), 8, LW_ALIAS_gang);
    home.host = lw_build_load(b, b->bytes, b->gang, at + offsetof(lw_range, host), 8, LW_ALIAS_gang);
    if (!stores && form.window != LW_WINDOW_const) return home;
    LLVMValueRef only = lw_build_load(b, b->i8, b->gang, at + offsetof(lw_range, read_only), 1, LW_ALIAS_gang);
    home.good = lw_build_is(b, stores ? LLVMIntEQ : LLVMIntNE, only, lw_build_number(b, 8, 0));
    return home;
}

/* From one address on, so many bytes. */
static void demand_range(lw_strand *s, lw_course *course, const lw_home_ir *home, LLVMValueRef at, LLVMValueRef span) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef offset = LLVMBuildSub(b->at, at, home->base, "");
    LLVMValueRef room = LLVMBuildSub(b->at, home->size, span, "");
    course->good = both(s, course->good, lw_build_is(b, LLVMIntULE, span, home->size));
    course->good = both(s, course->good, lw_build_is(b, LLVMIntULE, offset, room));
}

/* Bytes of 16 lanes. */
static uint64_t span_of(const lw_course *course) {
    return (uint64_t)course->bytes * course->count * (course->steps ? LW_ROW_LANES : 1);
}

static void set_host(lw_strand *s, lw_course *course, const lw_home_ir *home) {
    const lw_build *b = lw_strand_build(s);
    if (home->good) course->good = both(s, course->good, home->good);
    course->host = LLVMBuildSub(b->at, LLVMBuildPtrToInt(b->at, home->host, b->i64, ""), home->base, "");
}

static void check(lw_strand *s, const lw_op *op, lw_course *course, bool stores) {
    const lw_build *b = lw_strand_build(s);
    const lw_home_ir home = find_home(s, op, course->form, stores);
    const uint32_t each = course->bytes * course->count;
    LLVMValueRef low = course->at[0];
    set_host(s, course, &home);
    if (course->joined) {
        LLVMValueRef first, last;
        find_ends(s, each, &first, &last);
        LLVMValueRef span = LLVMBuildAdd(b->at, LLVMBuildSub(b->at, last, first, ""), number(s, each), "");
        demand_range(s, course, &home, LLVMBuildAdd(b->at, course->at[0], first, ""), span);
    } else
        for (uint32_t row = 0; row < ROWS; row++) {
            demand_range(s, course, &home, course->at[row], number(s, span_of(course)));
            if (row) low = LLVMBuildOr(b->at, low, course->at[row], "");
        }
    if (each == 1) return;
    low = LLVMBuildAnd(b->at, low, number(s, each - 1), "");
    course->good = both(s, course->good, lw_build_is(b, LLVMIntEQ, low, number(s, 0)));
}

/* Room for 64 bits a lane, the k-th: what one operation leaves there it takes away again. */
static LLVMValueRef lane_room(lw_strand *s, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    if (!s->lane_room[k]) s->lane_room[k] = lw_build_stack(b, LLVMArrayType(lw_build_vector(b, 64), s->chunks));
    return s->lane_room[k];
}

/* Each lane its own way: all that execute within the home and aligned. Those that do not go where it begins. Shared
 * memory is small: distances within it have 32 bits. */
static void check_lanes(lw_strand *s, const lw_op *op, lw_course *course, bool stores) {
    const lw_build *b = lw_strand_build(s);
    const lw_home_ir home = find_home(s, op, course->form, stores);
    const uint32_t each = course->bytes * course->count;
    course->narrow = course->form.window == LW_WINDOW_shared && course->form.address == 1;
    LLVMTypeRef type = course->narrow ? b->i32 : b->i64;
    LLVMValueRef bad = NULL, base = lw_value_splat(b, LLVMBuildTrunc(b->at, home.base, type, ""));
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(base)), room = LLVMBuildSub(b->at, home.size, number(s, each), "");
    LLVMValueRef more = lw_value_splat(b, LLVMConstInt(type, op->imm, false));
    room = lw_value_splat(b, LLVMBuildTrunc(b->at, room, type, ""));
    set_host(s, course, &home);
    course->lanes = lane_room(s, 0);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef at = lw_strand_vector(s, op->a, c);
        at = course->narrow ? LLVMBuildAdd(b->at, at, more, "") : full_address(s, op, course->form, at);
        LLVMValueRef offset = LLVMBuildSub(b->at, at, base, "");
        offset = LLVMBuildSelect(b->at, lw_strand_on(s, c), offset, zero, "");
        LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntUGT, offset, room, "");
        if (each > 1) {
            LLVMValueRef low = LLVMBuildAnd(b->at, offset, lw_value_splat(b, LLVMConstInt(type, each - 1, false)), "");
            is = LLVMBuildOr(b->at, is, LLVMBuildICmp(b->at, LLVMIntNE, low, zero, ""), "");
        }
        bad = bad ? LLVMBuildOr(b->at, bad, is, "") : is;
        LLVMBuildStore(b->at, offset, lw_build_element(b, LLVMTypeOf(offset), course->lanes, c));
    }
    LLVMValueRef word = LLVMBuildBitCast(b->at, bad, lw_build_int(b, b->chunk), "");
    course->good = both(s, course->good, lw_build_is(b, LLVMIntEQ, word, LLVMConstNull(LLVMTypeOf(word))));
    course->good = both(s, course->good, lw_build_is(b, LLVMIntULE, number(s, each), home.size));
    course->host = LLVMBuildPtrToInt(b->at, home.host, b->i64, ""); /* what the lanes have are distances from it */
}

static LLVMValueRef is_full(const lw_strand *s) {
    return lw_build_is(lw_strand_build(s), LLVMIntEQ, s->now, lw_build_number(lw_strand_build(s), 32, UINT32_MAX));
}

bool lw_strand_moves(lw_memory_form form) {
    const bool has_window = form.window == LW_WINDOW_global || form.window == LW_WINDOW_generic ||
                            form.window == LW_WINDOW_shared || form.window == LW_WINDOW_const;
    return has_window && !form.is_volatile && !form.frame && !form.is_wide && form.address != LW_ADDRESS_ROW;
}

/* False: it is for the interpreter's step in any case. */
static bool find_course(lw_strand *s, const lw_op *op, lw_course *course, bool stores) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    *course = (lw_course){.form = form, .bytes = 1u << form.size, .count = 1u << form.vector};
    if (!lw_strand_moves(form) || !form.address || op->d == LW_NO_SLOT || (form.is_const && stores)) return false;
    if (s->u->code->registers[op->a].is_const) return false;
    if (course_of_row(s, op, course)) check(s, op, course, stores);
    else check_lanes(s, op, course, stores);
    return true;
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef pointer(const lw_strand *s, const lw_course *course, LLVMValueRef at) {
    const lw_build *b = lw_strand_build(s);
    return LLVMBuildIntToPtr(b->at, LLVMBuildAdd(b->at, course->host, at, ""), b->bytes, "");
}

static LLVMValueRef widen(const lw_strand *s, LLVMValueRef value, lw_memory_form form, bool vector) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t bits = 8u << form.size, slot = 8u << form.slot;
    LLVMTypeRef type = vector ? lw_build_vector(b, slot) : lw_build_int(b, slot);
    if (bits > slot) return LLVMBuildTrunc(b->at, value, type, "");
    if (bits == slot) return value;
    return form.is_signed ? LLVMBuildSExt(b->at, value, type, "") : LLVMBuildZExt(b->at, value, type, "");
}

/* The register that has an element of each lane. */
static uint32_t element_of(const lw_strand *s, const lw_op *op, uint32_t k) {
    return lw_memory_unpack(op->c).vector ? s->u->code->slots[op->d + k] : op->d;
}

static LLVMValueRef place_of_chunk(const lw_strand *s, const lw_course *course, LLVMTypeRef type, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    const uint32_t in_row = LW_ROW_LANES / b->chunk;
    LLVMValueRef at = pointer(s, course, course->at[chunk / in_row]);
    at = lw_build_move(b, at, number(s, (uint64_t)(chunk % in_row) * b->chunk * course->bytes * course->count));
    return LLVMBuildBitCast(b->at, at, LLVMPointerType(type, 0), "");
}

static LLVMValueRef load_one(const lw_strand *s, const lw_course *course, LLVMValueRef at, uint32_t k) {
    const lw_build *b = lw_strand_build(s);
    return lw_build_load(b, lw_build_int(b, 8 * course->bytes), pointer(s, course, at), (uint64_t)k * course->bytes,
                         course->bytes, LW_ALIAS_memory);
}

/* All elements of a chunk of neighbours, one lane's behind the other's. */
static LLVMValueRef load_chunk(lw_strand *s, const lw_course *course, uint32_t chunk, bool by_mask) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = LLVMVectorType(lw_build_int(b, 8 * course->bytes), b->chunk * course->count);
    LLVMValueRef place = place_of_chunk(s, course, type, chunk);
    if (by_mask)
        return lw_build_masked(
            b, "llvm.masked.load", type, place,
            (LLVMValueRef[]){place, lw_build_number(b, 32, course->bytes), lw_strand_on(s, chunk), LLVMConstNull(type)},
            4);
    LLVMValueRef value = LLVMBuildLoad2(b->at, type, place, "");
    LLVMSetAlignment(value, course->bytes);
    LLVMSetMetadata(value, b->alias_kind, b->aliases[LW_ALIAS_memory]);
    return value;
}

static void load_chunks(lw_strand *s, uint32_t n, const lw_course *course, uint32_t chunk, bool by_mask) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMValueRef all = load_chunk(s, course, chunk, by_mask), order[LW_GANG_LANES];
    for (uint32_t k = 0; k < course->count; k++) {
        LLVMValueRef value = all;
        for (uint32_t i = 0; i < b->chunk; i++) order[i] = lw_build_number(b, 32, i * course->count + k);
        if (course->count > 1)
            value = LLVMBuildShuffleVector(b->at, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(order, b->chunk),
                                           "");
        lw_strand_put(s, n, element_of(s, op, k), chunk, widen(s, value, course->form, true));
    }
}

static void load_rows(lw_strand *s, uint32_t n, const lw_course *course, bool by_mask) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t in_row = LW_ROW_LANES / b->chunk;
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t c = row * in_row; course->steps && c < (row + 1) * in_row; c++)
            load_chunks(s, n, course, c, by_mask);
        for (uint32_t k = 0; !course->steps && k < course->count; k++) {
            LLVMValueRef one = widen(s, load_one(s, course, course->at[row], k), course->form, false);
            for (uint32_t c = row * in_row; c < (row + 1) * in_row; c++)
                lw_strand_put(s, n, element_of(s, op, k), c, lw_value_splat(b, one));
        }
    }
}

/* ---- Each lane its own way --------------------------------------------------------------------------------------- */

static LLVMValueRef lane_address(const lw_strand *s, const lw_course *course, LLVMValueRef lane) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = course->narrow ? b->i32 : b->i64;
    LLVMValueRef at = LLVMBuildLoad2(b->at, type, lw_build_element_at(b, type, course->lanes, lane), "");
    return course->narrow ? LLVMBuildZExt(b->at, at, b->i64, "") : at;
}

static void gather(lw_strand *s, uint32_t n, const lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMTypeRef type = lw_build_int(b, 8u << course->form.slot), vector = lw_build_vector(b, 8u << course->form.slot);
    LLVMValueRef arrays[LW_VECTOR_MOST];
    for (uint32_t k = 0; k < course->count; k++) arrays[k] = lane_room(s, 1 + k);
    const lw_build_rounds l = lw_build_begin_rounds(b);
    LLVMValueRef at = lane_address(s, course, l.round);
    for (uint32_t k = 0; k < course->count; k++)
        LLVMBuildStore(b->at, widen(s, load_one(s, course, at, k), course->form, false),
                       lw_build_element_at(b, type, arrays[k], l.round));
    lw_build_end_rounds(b, &l, LW_WARP_LANES);
    for (uint32_t k = 0; k < course->count; k++)
        for (uint32_t c = 0; c < s->chunks; c++)
            lw_strand_put(s, n, element_of(s, op, k), c,
                          LLVMBuildLoad2(b->at, vector, lw_build_element(b, vector, arrays[k], c), ""));
}

static LLVMValueRef narrowed(const lw_strand *s, const lw_course *course, LLVMValueRef value, LLVMTypeRef type) {
    return course->form.size < course->form.slot ? LLVMBuildTrunc(lw_strand_build(s)->at, value, type, "") : value;
}

static void scatter(lw_strand *s, uint32_t n, const lw_course *course) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    LLVMTypeRef slot = lw_build_int(b, 8u << course->form.slot), vector = lw_build_vector(b, 8u << course->form.slot),
                type = lw_build_int(b, 8 * course->bytes);
    LLVMValueRef arrays[LW_VECTOR_MOST];
    for (uint32_t k = 0; k < course->count; k++) {
        arrays[k] = lane_room(s, 1 + k);
        for (uint32_t c = 0; c < s->chunks; c++)
            LLVMBuildStore(b->at, lw_strand_vector(s, element_of(s, op, k), c),
                           lw_build_element(b, vector, arrays[k], c));
    }
    const lw_build_rounds l = lw_build_begin_rounds(b);
    LLVMBasicBlockRef past = lw_build_block(b, "");
    LLVMValueRef bit = LLVMBuildLShr(b->at, s->now, LLVMBuildTrunc(b->at, l.round, b->i32, ""), "");
    lw_build_unless(b, LLVMBuildTrunc(b->at, bit, b->i1, ""), past);
    LLVMValueRef at = lane_address(s, course, l.round);
    for (uint32_t k = 0; k < course->count; k++) {
        LLVMValueRef value = LLVMBuildLoad2(b->at, slot, lw_build_element_at(b, slot, arrays[k], l.round), "");
        lw_build_store(b, narrowed(s, course, value, type), pointer(s, course, at), (uint64_t)k * course->bytes,
                       course->bytes, LW_ALIAS_memory);
    }
    LLVMBuildBr(b->at, past);
    LLVMPositionBuilderAtEnd(b->at, past);
    lw_build_end_rounds(b, &l, LW_WARP_LANES);
}

/* ---- The same for all lanes -------------------------------------------------------------------------------------- */

static void load_same(lw_strand *s, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course = {.form = lw_memory_unpack(op->c)};
    course.bytes = 1u << course.form.size, course.count = 1u << course.form.vector;
    const uint32_t each = course.bytes * course.count;
    LLVMValueRef base = course.form.address ? lw_strand_base(s, op->a) : NULL;
    course.at[0] = base ? full_address(s, op, course.form, base) : number(s, op->imm);
    const lw_home_ir home = find_home(s, op, course.form, false);
    set_host(s, &course, &home);
    demand_range(s, &course, &home, course.at[0], number(s, each));
    LLVMValueRef low = LLVMBuildAnd(b->at, course.at[0], number(s, each - 1), "");
    course.good = both(s, course.good, lw_build_is(b, LLVMIntEQ, low, number(s, 0)));
    const lw_fork fork = lw_strand_fork(s, course.good);
    for (uint32_t k = 0; k < course.count; k++) {
        LLVMValueRef value = widen(s, load_one(s, &course, course.at[0], k), course.form, false);
        lw_strand_put_same(s, n, element_of(s, op, k), value);
    }
    lw_strand_otherwise(s, &fork);
    lw_strand_call(s, n);
    lw_strand_rejoin(s, &fork);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

void lw_strand_load(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course;
    if (lw_strand_loads_one(s, op)) {
        load_same(s, n);
        return;
    }
    if (!find_course(s, op, &course, false)) {
        lw_strand_call(s, n);
        return;
    }
    const bool by_mask = course.joined && course.bytes >= 4 && course.count == 1;
    if (course.joined && !by_mask) course.good = both(s, course.good, is_full(s));
    const lw_fork fork = lw_strand_fork(s, course.good);
    if (course.lanes) gather(s, n, &course);
    else if (by_mask) {
        const lw_fork full = lw_strand_fork(s, is_full(s));
        load_rows(s, n, &course, false);
        lw_strand_otherwise(s, &full);
        load_rows(s, n, &course, true);
        lw_strand_rejoin(s, &full);
    } else load_rows(s, n, &course, false);
    lw_strand_otherwise(s, &fork);
    lw_strand_call(s, n);
    lw_strand_rejoin(s, &fork);
}

/* All elements of a chunk, one lane's behind the other's. */
static LLVMValueRef joined_elements(lw_strand *s, const lw_op *op, const lw_course *course, uint32_t chunk) {
    const lw_build *b = lw_strand_build(s);
    LLVMTypeRef type = lw_build_vector(b, 8 * course->bytes);
    LLVMValueRef parts[LW_VECTOR_MOST], order[LW_GANG_LANES];
    for (uint32_t k = 0; k < course->count; k++)
        parts[k] = narrowed(s, course, lw_strand_vector(s, element_of(s, op, k), chunk), type);
    /* parts k and k + half, lane by lane, until there is one */
    for (uint32_t half = course->count / 2, lanes = b->chunk; half > 0; half /= 2, lanes *= 2) {
        for (uint32_t i = 0; i < 2 * lanes; i++) order[i] = lw_build_number(b, 32, i / 2 + i % 2 * lanes);
        for (uint32_t k = 0; k < half; k++)
            parts[k] = LLVMBuildShuffleVector(b->at, parts[k], parts[k + half], LLVMConstVector(order, 2 * lanes), "");
    }
    return parts[0];
}

static void store_rows(lw_strand *s, uint32_t n, const lw_course *course, bool by_mask) {
    const lw_build *b = lw_strand_build(s);
    const lw_op *op = lw_unit_op(s->u, n);
    for (uint32_t c = 0; c < s->chunks; c++) {
        LLVMValueRef value = joined_elements(s, op, course, c), place = place_of_chunk(s, course, LLVMTypeOf(value), c);
        if (by_mask) {
            lw_build_masked(b, "llvm.masked.store", LLVMTypeOf(value), place,
                            (LLVMValueRef[]){value, place, lw_build_number(b, 32, course->bytes), lw_strand_on(s, c)},
                            4);
            continue;
        }
        LLVMValueRef store = LLVMBuildStore(b->at, value, place);
        LLVMSetAlignment(store, course->bytes);
        LLVMSetMetadata(store, b->alias_kind, b->aliases[LW_ALIAS_memory]);
    }
}

void lw_strand_store(lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course;
    if (op->flags & LW_OP_IMM_A || !find_course(s, op, &course, true) || (!course.lanes && !course.steps)) {
        lw_strand_call(s, n);
        return;
    }
    const bool by_mask = course.joined && course.bytes >= 4 && course.count == 1;
    if (!by_mask && !course.lanes) course.good = both(s, course.good, is_full(s));
    const lw_fork fork = lw_strand_fork(s, course.good);
    if (course.lanes) scatter(s, n, &course);
    else if (by_mask) {
        const lw_fork full = lw_strand_fork(s, is_full(s));
        store_rows(s, n, &course, false);
        lw_strand_otherwise(s, &full);
        store_rows(s, n, &course, true);
        lw_strand_rejoin(s, &full);
    } else store_rows(s, n, &course, false);
    lw_strand_otherwise(s, &fork);
    lw_strand_call(s, n);
    lw_strand_rejoin(s, &fork);
}
