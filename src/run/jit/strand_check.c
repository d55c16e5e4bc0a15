/* strand_check.c: where the lanes of an access go, and whether all of them may: within shared memory, or the allocation
 * met last. */
#include "run/jit/strand_course.h"

#include <stdlib.h>

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* Of an access's number behind its address register. */
static int64_t offset_of(const lw_op *op, lw_memory_form form) {
    return form.address == 1 ? (int64_t)(int32_t)(uint32_t)op->imm : (int64_t)op->imm;
}

/* The address of a lane, from what its register has. Of shared memory, which is small, the sum is either right or in
 * nobody's: so it is one of 64 bits, which costs nothing where memory is accessed. */
static LLVMValueRef full_address(const lw_strand *s, const lw_op *op, lw_memory_form form, LLVMValueRef value) {
    const lw_build *b = lw_strand_build(s);
    if (form.window == LW_WINDOW_shared && form.address == 1)
        return LLVMBuildAdd(b->at, LLVMBuildSExt(b->at, value, b->i64, ""),
                            lw_course_number(s, (uint64_t)offset_of(op, form)), "");
    value = LLVMBuildAdd(b->at, value, lw_build_number(b, form.address == 1 ? 32 : 64, op->imm), "");
    return form.address == 2 ? value : LLVMBuildZExt(b->at, value, b->i64, "");
}

/* By the shape of the address register. False: it is none that helps. */
static bool course_of_row(const lw_strand *s, const lw_op *op, lw_course *course) {
    const int32_t each = (int32_t)(course->bytes * course->count);
    if (!lw_strand_is_row(s, op->a)) return false;
    course->shape = lw_strand_shape(s, op->a);
    for (uint32_t k = 0; k < course->shape.run; k++)
        if (course->shape.step[k] % each) return false;
    for (uint32_t k = 0; k < course->shape.run && abs(course->shape.step[k]) == each << k; k++) {
        course->together = k + 1;
        course->turned |= (uint32_t)(course->shape.step[k] < 0) << k;
    }
    return true;
}

/* ---- One check for several --------------------------------------------------------------------------------------- */

/* Whether operation n goes to memory by a register as another one does, but for the number behind it. What is stored to
 * may not be constant, which shared memory never is. */
static bool is_like(const lw_strand *s, uint32_t n, const lw_op *other) {
    const lw_op *op = lw_unit_op(s->u, n);
    if ((op->code != LW_OP_ld && op->code != LW_OP_st) || op->a != other->a || op->d == LW_NO_SLOT) return false;
    if (op->code == LW_OP_st && op->flags & LW_OP_IMM_A) return false;
    const lw_memory_form form = lw_memory_unpack(op->c), as = lw_memory_unpack(other->c);
    if (form.window != LW_WINDOW_shared && op->code != other->code) return false;
    return lw_strand_moves(form) && form.window != LW_WINDOW_const && form.window == as.window && form.address &&
           form.address == as.address && form.size == as.size && form.vector == as.vector && !form.is_const;
}

/* How far from the first one all those like it go, up to the end of the block or where the register changes. Returns
 * their count. */
static uint32_t find_like(const lw_strand *s, uint32_t n, int64_t *from, int64_t *to) {
    enum { FAR = 1 << 16 };
    const lw_op *first = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(first->c);
    const int64_t start = offset_of(first, form), each = 1ll << (form.size + form.vector);
    uint32_t count = 0;
    *from = 0, *to = each;
    for (uint32_t k = n; k < s->u->count && lw_unit_op(s->u, k)->code != LW_OP_block; k++) {
        const int64_t away = is_like(s, k, first) ? offset_of(lw_unit_op(s->u, k), form) - start : FAR;
        if (away % each == 0 && away < FAR && away > -FAR) {
            if (away < *from) *from = away;
            if (away + each > *to) *to = away + each;
            count++;
        }
        if (lw_unit_writes(s->u, k, first->a)) break;
    }
    return count;
}

/* What a check in front of operation n has found for it, too; NULL: nothing. */
static const lw_sure *find_sure(const lw_strand *s, uint32_t n) {
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!is_like(s, n, op)) return NULL;
    for (uint32_t k = 0; k < s->sure_count; k++) {
        const lw_sure *sure = &s->sure[k];
        const int64_t away = offset_of(op, form) - sure->from, each = 1ll << (form.size + form.vector);
        if (is_like(s, n, lw_unit_op(s->u, sure->first)) && away >= 0 && away < sure->to - sure->from &&
            away % each == 0)
            return sure;
    }
    return NULL;
}

/* One is worth while for operation n and others behind it. */
static bool begin_sure(const lw_strand *s, uint32_t n, lw_sure *sure) {
    const lw_op *op = lw_unit_op(s->u, n);
    *sure = (lw_sure){.first = n};
    if (s->guard || s->sure_count == LW_COUNT(s->sure) || !is_like(s, n, op)) return false;
    if (s->u->code->registers[op->a].is_const || find_like(s, n, &sure->from, &sure->to) < 2) return false;
    const int64_t at = offset_of(op, lw_memory_unpack(op->c));
    sure->from += at, sure->to += at;
    return true;
}

/* ---- The check --------------------------------------------------------------------------------------------------- */

/* How far from lane 0 the first lane goes that executes, and the last one: so many bytes a lane. */
static void find_ends(const lw_strand *s, int64_t step, LLVMValueRef *first, LLVMValueRef *last) {
    const lw_build *b = lw_strand_build(s);
    static const char *const names[] = {"llvm.cttz", "llvm.ctlz"};
    LLVMValueRef zeros[2];
    for (int k = 0; k < 2; k++) zeros[k] = LLVMBuildZExt(b->at, lw_build_bits(b, names[k], s->now), b->i64, "");
    *first = LLVMBuildMul(b->at, zeros[0], lw_course_number(s, (uint64_t)step), "");
    LLVMValueRef before = LLVMBuildSub(b->at, lw_course_number(s, LW_WARP_LANES - 1), zeros[1], "");
    *last = LLVMBuildMul(b->at, before, lw_course_number(s, (uint64_t)step), "");
}

typedef struct lw_home_ir {
    LLVMValueRef base, size, host, good;
} lw_home_ir;

LLVMValueRef lw_course_shared(const lw_strand *s, LLVMValueRef *host) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef cta = lw_build_cta(b);
    LLVMValueRef size = lw_build_load(b, b->i32, cta, offsetof(lw_cta, shared_bytes), 4, LW_ALIAS_gang);
    size = LLVMBuildZExt(b->at, size, b->i64, "");
    *host = lw_build_load(b, b->bytes, cta, offsetof(lw_cta, shared), 8, LW_ALIAS_gang);
    return size;
}

static lw_home_ir find_shared(const lw_strand *s) {
    lw_home_ir home = {.base = lw_course_number(s, 0)};
    home.size = lw_course_shared(s, &home.host);
    return home;
}

/* The allocation met last by this operation, by the number of its hint. */
static lw_home_ir find_allocation(const lw_strand *s, uint32_t hint, lw_memory_form form, bool stores) {
    const lw_build *b = lw_strand_build(s);
    lw_home_ir home = {0};
    const uint64_t at = offsetof(lw_gang, hints) + hint % LW_HINTS * sizeof(lw_range);
    home.base = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, base), 8, LW_ALIAS_gang);
    home.size = lw_build_load(b, b->i64, b->gang, at + offsetof(lw_range, size), 8, LW_ALIAS_gang);
    home.host = lw_build_load(b, b->bytes, b->gang, at + offsetof(lw_range, host), 8, LW_ALIAS_gang);
    if (!stores && form.window != LW_WINDOW_const) return home;
    const uint64_t flag = stores ? offsetof(lw_range, read_only) : offsetof(lw_range, constant);
    LLVMValueRef only = lw_build_load(b, b->i8, b->gang, at + flag, 1, LW_ALIAS_gang);
    home.good = lw_build_is(b, stores ? LLVMIntEQ : LLVMIntNE, only, lw_build_number(b, 8, 0));
    return home;
}

/* An atomic operation has the hint of its number in the code. */
LLVMValueRef lw_course_met(const lw_strand *s, uint32_t n, LLVMValueRef *base, LLVMValueRef *host, LLVMValueRef *good) {
    const lw_op *op = lw_unit_op(s->u, n);
    const uint32_t hint = op->code == LW_OP_atom ? lw_frame_number(s->u, n) : op->e;
    const lw_home_ir home = find_allocation(s, hint, lw_memory_unpack(op->c), op->code != LW_OP_ld);
    *base = home.base, *host = home.host;
    *good = home.good ? home.good : lw_build_number(lw_strand_build(s), 1, 1);
    return home.size;
}

/* The address of the first lane that executes, or of the first run in which some do, says what a generic one is of. */
static LLVMValueRef first_address(const lw_strand *s, const lw_course *course) {
    if (lw_course_goes_by_mask(s, course)) {
        LLVMValueRef from, to;
        find_ends(s, course->shape.step[0], &from, &to);
        return LLVMBuildAdd(lw_strand_build(s)->at, course->at[0], from, "");
    }
    LLVMValueRef first = course->at[lw_strand_runs(course->shape.run) - 1];
    for (uint32_t at = lw_strand_runs(course->shape.run) - 1; at-- > 0;) {
        LLVMValueRef has = lw_strand_has(s, course->shape.run, at);
        first = LLVMBuildSelect(lw_strand_build(s)->at, has, course->at[at], first, "");
    }
    return first;
}

static lw_home_ir find_home(const lw_strand *s, const lw_op *op, const lw_course *course, bool stores) {
    const lw_build *b = lw_strand_build(s);
    if (course->form.window == LW_WINDOW_shared) return find_shared(s);
    lw_home_ir home = find_allocation(s, op->e, course->form, stores);
    if (course->form.window != LW_WINDOW_generic) return home;
    const lw_home_ir shared = find_shared(s);
    LLVMValueRef window = lw_course_number(s, LW_SHARED_WINDOW);
    LLVMValueRef far = LLVMBuildSub(b->at, first_address(s, course), window, "");
    LLVMValueRef is = lw_build_is(b, LLVMIntULT, far, shared.size);
    home.base = LLVMBuildSelect(b->at, is, window, home.base, "");
    home.size = LLVMBuildSelect(b->at, is, shared.size, home.size, "");
    home.host = LLVMBuildSelect(b->at, is, shared.host, home.host, "");
    if (home.good) home.good = LLVMBuildOr(b->at, home.good, is, "");
    return home;
}

/* From one address on, so many bytes. */
static void demand_range(lw_strand *s, lw_course *course, const lw_home_ir *home, LLVMValueRef at, LLVMValueRef span) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef offset = LLVMBuildSub(b->at, at, home->base, "");
    LLVMValueRef room = LLVMBuildSub(b->at, home->size, span, "");
    course->good = lw_course_also(s, course, lw_build_is(b, LLVMIntULE, span, home->size));
    course->good = lw_course_also(s, course, lw_build_is(b, LLVMIntULE, offset, room));
}

static void set_host(lw_strand *s, lw_course *course, const lw_home_ir *home) {
    const lw_build *b = lw_strand_build(s);
    if (home->good) course->good = lw_course_also(s, course, home->good);
    course->host = LLVMBuildSub(b->at, LLVMBuildPtrToInt(b->at, home->host, b->i64, ""), home->base, "");
}

/* Nothing is asked of runs in which nobody executes. */
static LLVMValueRef only_executing(const lw_strand *s, const lw_home_ir *home, LLVMValueRef first, uint32_t run,
                                   uint32_t at) {
    if (run == LW_WARP_BITS) return first;
    return LLVMBuildSelect(lw_strand_build(s)->at, lw_strand_has(s, run, at), first, home->base, "");
}

/* All lanes of each run in which some execute are within the home. */
static LLVMValueRef check_runs(lw_strand *s, lw_course *course, const lw_home_ir *home) {
    const lw_build *b = lw_strand_build(s);
    int64_t least, most;
    LLVMValueRef low = NULL;
    lw_shape_span(&course->shape, course->shape.run, &least, &most);
    LLVMValueRef down = lw_course_number(s, (uint64_t)(least + course->from));
    LLVMValueRef span = lw_course_number(s, (uint64_t)(most - least + course->to - course->from + course->slack));
    for (uint32_t at = 0; at < lw_strand_runs(course->shape.run); at++) {
        LLVMValueRef first = LLVMBuildAdd(b->at, course->at[at], down, "");
        first = only_executing(s, home, first, course->shape.run, at);
        course->at[at] = LLVMBuildSub(b->at, first, down, "");
        demand_range(s, course, home, first, span);
        low = low ? LLVMBuildOr(b->at, low, first, "") : first;
    }
    return low;
}

/* The lanes that execute are, and what lies between them. */
static LLVMValueRef check_executing(lw_strand *s, lw_course *course, const lw_home_ir *home) {
    const lw_build *b = lw_strand_build(s);
    const int64_t step = course->shape.step[0];
    LLVMValueRef low, high;
    find_ends(s, step, step > 0 ? &low : &high, step > 0 ? &high : &low);
    LLVMValueRef span = LLVMBuildSub(b->at, high, low, "");
    span = LLVMBuildAdd(b->at, span, lw_course_number(s, (uint64_t)(course->to - course->from + course->slack)), "");
    low = LLVMBuildAdd(b->at, low, lw_course_number(s, (uint64_t)course->from), "");
    demand_range(s, course, home, LLVMBuildAdd(b->at, course->at[0], low, ""), span);
    return course->at[0];
}

static void demand_aligned(lw_strand *s, lw_course *course, LLVMValueRef low) {
    const uint32_t each = lw_course_each(course);
    if (each == 1) return;
    low = LLVMBuildAnd(lw_strand_build(s)->at, low, lw_course_number(s, each - 1), "");
    course->good = lw_course_also(s, course, lw_build_is(lw_strand_build(s), LLVMIntEQ, low, lw_course_number(s, 0)));
}

static void check(lw_strand *s, lw_course *course, const lw_home_ir *home) {
    set_host(s, course, home);
    const bool by_mask = lw_course_goes_by_mask(s, course);
    demand_aligned(s, course, by_mask ? check_executing(s, course, home) : check_runs(s, course, home));
}

/* Lanes that do not execute may go anywhere: they go where the home begins. */
static void keep_home(lw_strand *s, lw_course *course, LLVMValueRef base) {
    const lw_build *b = lw_strand_build(s);
    const lw_home_ir home = {.base = base};
    int64_t least, most;
    lw_shape_span(&course->shape, course->shape.run, &least, &most);
    LLVMValueRef down = lw_course_number(s, (uint64_t)least);
    for (uint32_t at = 0; at < lw_strand_runs(course->shape.run); at++) {
        LLVMValueRef first = LLVMBuildAdd(b->at, course->at[at], down, "");
        first = only_executing(s, &home, first, course->shape.run, at);
        course->at[at] = LLVMBuildSub(b->at, first, down, "");
    }
}

/* For operation n, and those like it that the block still has: they ask for no more than this condition. */
void lw_course_check(lw_strand *s, uint32_t n, lw_course *course, bool stores) {
    const lw_op *op = lw_unit_op(s->u, n);
    const lw_sure *known = find_sure(s, n);
    lw_sure sure;
    if (known) {
        course->good = lw_course_also(s, course, known->good), course->host = known->host;
        if (course->shape.run < LW_WARP_BITS) keep_home(s, course, known->base);
        return;
    }
    const bool is_plain = course->form.window != LW_WINDOW_shared && course->form.address == 2; /* no sum wraps */
    const bool is_first = is_plain && begin_sure(s, n, &sure);
    const int64_t at = offset_of(op, course->form);
    if (is_first) course->from = sure.from - at, course->to = sure.to - at;
    const lw_home_ir home = find_home(s, op, course, stores);
    check(s, course, &home);
    if (!is_first) return;
    sure.good = course->good, sure.host = course->host, sure.base = home.base;
    s->sure[s->sure_count++] = sure;
}

LLVMValueRef lw_course_is_full(const lw_strand *s) {
    return lw_build_is(lw_strand_build(s), LLVMIntEQ, s->now, lw_build_number(lw_strand_build(s), 32, UINT32_MAX));
}

/* ---- Where they go ----------------------------------------------------------------------------------------------- */

bool lw_strand_moves(lw_memory_form form) {
    const bool has_window = form.window == LW_WINDOW_global || form.window == LW_WINDOW_generic ||
                            form.window == LW_WINDOW_shared || form.window == LW_WINDOW_const;
    return has_window && !form.is_volatile && !form.frame && !form.is_wide && form.address != LW_ADDRESS_ROW;
}

static lw_course begin_course(const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_course course = {.form = form, .bytes = 1u << form.size, .count = 1u << form.vector};
    course.to = lw_course_each(&course);
    return course;
}

bool lw_course_is_row(const lw_strand *s, const lw_op *op, lw_course *course) {
    *course = begin_course(op);
    if (!lw_strand_moves(course->form) || !course->form.address || op->d == LW_NO_SLOT) return false;
    if (s->u->code->registers[op->a].is_const) return false;
    return course_of_row(s, op, course);
}

bool lw_course_find(lw_strand *s, const lw_op *op, lw_course *course) {
    if (!lw_course_is_row(s, op, course)) return false;
    for (uint32_t at = 0; at < lw_strand_runs(course->shape.run); at++)
        course->at[at] = full_address(s, op, course->form, lw_strand_base_of(s, op->a, course->shape.run, at));
    return true;
}

lw_course lw_course_of_runs(lw_strand *s, const lw_op *op, uint32_t run) {
    lw_course course = begin_course(op);
    course.shape = (lw_shape){.kind = LW_SHAPE_row, .run = run};
    for (uint32_t at = 0; at < lw_strand_runs(run); at++) {
        LLVMValueRef base = course.form.address ? lw_strand_base_of(s, op->a, run, at) : NULL;
        course.at[at] = base ? full_address(s, op, course.form, base) : lw_course_number(s, op->imm);
    }
    return course;
}

lw_course lw_course_of_neighbours(const lw_op *op, LLVMValueRef first) {
    lw_course course = begin_course(op);
    course.shape = (lw_shape){.kind = LW_SHAPE_row, .bits = 64, .run = LW_WARP_BITS};
    course.together = LW_WARP_BITS;
    for (uint32_t k = 0; k < LW_WARP_BITS; k++) course.shape.step[k] = (int32_t)lw_course_each(&course) << k;
    course.at[0] = first;
    return course;
}

/* ---- What has been asked in front, or need not be ------------------------------------------------------------- */

/* In front of operation n, for those behind it, too. False: only each by itself. */
static bool make_sure(lw_strand *s, uint32_t n, const lw_sure *sure) {
    const lw_op *op = lw_unit_op(s->u, n);
    lw_course course;
    if (!lw_course_find(s, op, &course)) return false;
    if (lw_course_is_joined(&course) && !lw_course_goes_by_mask(s, &course)) return false;
    course.from = sure->from - offset_of(op, course.form), course.to = sure->to - offset_of(op, course.form);
    const lw_home_ir home = find_home(s, op, &course, false);
    check(s, &course, &home);
    lw_strand_demand(s, n, course.good);
    return true;
}

bool lw_course_is_sure(lw_strand *s, uint32_t n) {
    lw_sure sure;
    if (s->is_plain) return true;
    if (lw_memory_unpack(lw_unit_op(s->u, n)->c).window != LW_WINDOW_shared) return false;
    if (lw_course_is_inside(s, lw_unit_op(s->u, n)) || find_sure(s, n)) return true;
    if (!s->u->whole[n] || !begin_sure(s, n, &sure) || !make_sure(s, n, &sure)) return false;
    s->sure[s->sure_count++] = sure;
    return true;
}

void lw_course_trust(lw_strand *s, uint32_t n, lw_course *course) {
    if (s->is_plain) {
        course->host = s->plain->hosts[n];
        return;
    }
    const lw_home_ir home = find_shared(s);
    if (lw_strand_shape(s, lw_unit_op(s->u, n)->a).run < LW_WARP_BITS)
        keep_home(s, course, home.base); /* else who executes was looked at */
    set_host(s, course, &home);
}
