/* cost.c: what a function costs on a profile, by the figures of the page. An estimate that says what it is made of, no
 * simulation. */
#include "front/pto/pto.h"

typedef struct walk {
    lw_arena *arena;
    lw_pto_profile profile;
    lw_pto_cost *cost;
    lw_pto_runs *runs; /* NULL: what the text says */
    void *user;
    uint64_t times;
    uint32_t open_loops;
} walk;

/* Of a region: cycles, and when the operation behind it could start. */
typedef struct sum {
    uint64_t serial, issue, saved;       /* of one run of it; of all where runs were counted */
    uint64_t last_interval, last_cycles; /* of the last operation */
} sum;

/* ---- One operation -------------------------------------------------------------------------------------------- */

static void add_op(walk *w, const lw_pto_op *op, sum *s) {
    const lw_pto_row *row = &lw_pto_rows[op->id];
    if (row->page == LW_PTO_PAGE_MLIR) return; /* scalars are not the vector unit's */
    uint64_t weight = w->runs ? w->times : 1;
    if (!row->cost) {
        w->cost->uncounted = lw_pto_plus(w->cost->uncounted, weight);
        return;
    }
    uint32_t bits = op->type->lanes * lw_pto_scalars[op->type->element].bits;
    uint32_t repeats = (bits + LW_PTO_REGISTER_BITS - 1) / LW_PTO_REGISTER_BITS;
    uint64_t busy = (uint64_t)LW_PTO_COST_a2a3_repeat * repeats, interval = LW_PTO_COST_a2a3_interval;
    bool a5 = w->profile == LW_PTO_PROFILE_a5;
    uint64_t cycles = a5 ? (uint64_t)LW_PTO_COST_a5_latency * repeats
                         : LW_PTO_COST_a2a3_startup + busy + LW_PTO_COST_a2a3_completion;
    LW_PUSH(w->arena, w->cost->lines) =
        (lw_pto_cost_line){op, repeats, cycles, w->times, w->open_loops, row->cost == LW_PTO_COST_LIKE};
    if (!weight) return;
    s->last_interval = busy > interval ? busy : interval;
    s->last_cycles = cycles;
    s->serial = lw_pto_plus(s->serial, lw_pto_times(cycles, weight));
    if (!a5)
        s->saved = lw_pto_plus(
            s->saved,
            lw_pto_times((uint64_t)(repeats - 1) * (LW_PTO_COST_a2a3_startup + LW_PTO_COST_a2a3_completion), weight));
    s->issue = lw_pto_plus(s->issue, lw_pto_times(s->last_interval, weight));
}

/* ---- Loops and branches ---------------------------------------------------------------------------------------- */

static bool constant(const lw_pto_value *value, int64_t *number) {
    bool known = value->kind == LW_PTO_RESULT && value->op && value->op->id == LW_PTO_CONSTANT;
    if (known) *number = (int64_t)value->op->value;
    return known;
}

/* How often a loop runs; false where that is not known. */
static bool rounds(const lw_pto_op *op, uint64_t *count) {
    int64_t lower, upper, step;
    if (!constant(op->operands[0], &lower) || !constant(op->operands[1], &upper) || !constant(op->operands[2], &step))
        return false;
    if (step <= 0) return false;
    uint64_t span = upper > lower ? (uint64_t)upper - (uint64_t)lower : 0;
    *count = span / (uint64_t)step + (span % (uint64_t)step != 0);
    return true;
}

static sum walk_region(walk *w, const lw_pto_region *region);

/* What follows comes behind it. */
static void add_way(sum *s, const sum *way) {
    s->serial = lw_pto_plus(s->serial, way->serial);
    s->issue = lw_pto_plus(s->issue, way->issue);
    s->saved = lw_pto_plus(s->saved, way->saved);
    if (!way->last_cycles) return;
    s->last_interval = way->last_interval;
    s->last_cycles = way->last_cycles;
}

static void add_loop(walk *w, const lw_pto_op *op, sum *s) {
    uint64_t count = 1, outer = w->times;
    bool known = w->runs || rounds(op, &count);
    w->times = lw_pto_times(w->times, count);
    w->open_loops += !known;
    w->cost->per_round |= !known;
    sum body = walk_region(w, op->regions);
    w->times = outer;
    w->open_loops -= !known;
    body.serial = lw_pto_times(body.serial, count);
    body.issue = lw_pto_times(body.issue, count);
    body.saved = lw_pto_times(body.saved, count);
    if (count) add_way(s, &body);
}

/* Where it is known how often each way ran, all of that counts; else the dearer one, once. */
static void add_branch(walk *w, const lw_pto_op *op, sum *s) {
    sum dearer = {0};
    uint64_t outer = w->times;
    for (uint32_t i = 0; i < op->region_count; i++) {
        sum way = walk_region(w, &op->regions[i]);
        if (w->runs) add_way(&dearer, &way);
        else if (way.serial > dearer.serial) dearer = way;
        w->times = outer;
    }
    add_way(s, &dearer);
}

static sum walk_region(walk *w, const lw_pto_region *region) {
    sum s = {0};
    if (w->runs) w->times = w->runs(w->user, region);
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        if (op->id == LW_PTO_FOR) add_loop(w, op, &s);
        else if (op->id == LW_PTO_IF) add_branch(w, op, &s);
        else add_op(w, op, &s);
    }
    return s;
}

lw_pto_cost *lw_pto_cost_of(lw_arena *arena, const lw_pto_function *function, lw_pto_profile profile, lw_pto_runs *runs,
                            void *user) {
    lw_pto_cost *cost = LW_NEW(arena, lw_pto_cost);
    walk w = {.arena = arena, .profile = profile, .cost = cost, .runs = runs, .user = user, .times = 1};
    sum s = walk_region(&w, &function->body);
    cost->serial = s.serial;
    cost->saved = s.saved;
    cost->piped = profile == LW_PTO_PROFILE_a2a3 ? lw_pto_plus(s.issue - s.last_interval, s.last_cycles) : s.serial;
    return cost;
}
