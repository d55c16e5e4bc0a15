/* warp.c: what lanes of a warp exchange, and barriers of a CTA. */
#include "reference.h"

/* ---- Coming there ------------------------------------------------------------------------------------------- */

static void meet(ref_thread *t, const ref_op *op, const lw_operand *membermask) {
    ref_meet(t, op, (uint32_t)ref_read(t, op, membermask, LW_T_b32));
}

/* The old spellings without .sync: generated only where all lanes of the warp that have not exited execute them. */
void ref_do_shfl(ref_thread *t, const ref_op *op) {
    if (ref_has(op, REF_sync)) meet(t, op, &op->in->operands[4]);
    else ref_meet(t, op, UINT32_MAX);
}

void ref_do_vote(ref_thread *t, const ref_op *op) {
    if (ref_has(op, REF_sync)) meet(t, op, &op->in->operands[2]);
    else ref_meet(t, op, UINT32_MAX);
}

void ref_do_match(ref_thread *t, const ref_op *op) { meet(t, op, &op->in->operands[2]); }
void ref_do_redux(ref_thread *t, const ref_op *op) { meet(t, op, &op->in->operands[2]); }
void ref_do_elect(ref_thread *t, const ref_op *op) { meet(t, op, &op->in->operands[1]); }

/* Which lanes are active is defined for the lane that asks only; programs of the generator look at no other bit. */
void ref_do_activemask(ref_thread *t, const ref_op *op) {
    ref_write(t, &op->in->operands[0], LW_T_b32, (uint32_t)1 << t->number % 32);
}

/* ---- Exchanging --------------------------------------------------------------------------------------------- */

typedef struct meeting {
    ref_machine *machine;
    uint32_t first, members;
    uint64_t values[32]; /* what each lane brings */
    lw_type type;
} meeting;

static ref_thread *lane_of(const meeting *e, uint32_t lane) { return &e->machine->threads[e->first + lane]; }
static bool is_member(const meeting *e, uint32_t lane) { return e->members >> lane & 1; }

static void write_pair(ref_thread *t, const lw_operand *d, lw_type type, uint64_t value, bool p) {
    ref_write(t, d->kind == LW_O_PAIR ? &d->parts[0] : d, type, value);
    if (d->kind == LW_O_PAIR) ref_write(t, &d->parts[1], LW_T_pred, p);
}

/* Manual section 9.7.9.6, for one lane. */
static void shuffle_lane(const meeting *e, uint32_t lane) {
    ref_thread *t = lane_of(e, lane);
    const ref_op *op = t->waits;
    uint32_t b = ref_read(t, op, &op->in->operands[2], LW_T_b32) & 31,
             c = (uint32_t)ref_read(t, op, &op->in->operands[3], LW_T_b32);
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    int32_t most = (int32_t)((lane & segment) | (clamp & ~segment)), least = (int32_t)(lane & segment), j;
    bool p;
    if (ref_has(op, REF_up)) j = (int32_t)lane - (int32_t)b, p = j >= most;
    else if (ref_has(op, REF_down)) j = (int32_t)(lane + b), p = j <= most;
    else if (ref_has(op, REF_bfly)) j = (int32_t)(lane ^ b), p = j <= most;
    else j = least | (int32_t)(b & ~segment), p = j <= most;
    if (!p) j = (int32_t)lane;
    if (!is_member(e, (uint32_t)j)) ref_stop(t, op, REF_UNDEFINED, "a shuffle reads a lane that does not execute it");
    write_pair(t, &op->in->operands[0], LW_T_b32, e->values[j], p);
}

static uint64_t same_as(const meeting *e, uint32_t lane) {
    uint64_t mask = 0;
    for (uint32_t k = 0; k < 32; k++)
        if (is_member(e, k) && e->values[k] == e->values[lane]) mask |= (uint64_t)1 << k;
    return mask;
}

static uint64_t reduce(const meeting *e, const ref_op *op) {
    bool is_first = true, is_signed = ref_is_signed(e->type);
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 32; k++) {
        if (!is_member(e, k)) continue;
        uint64_t v = e->values[k];
        bool less = is_signed ? ref_signed(v, 32) < ref_signed(sum, 32) : v < sum;
        if (op->type == LW_T_f32)
            sum =
                ref_real_extreme(op, is_first ? v : sum, v, LW_T_f32, ref_has(op, REF_min)); /* of one its magnitude */
        else if (is_first) sum = v;
        else if (ref_has(op, REF_add)) sum += v;
        else if (ref_has(op, REF_and)) sum &= v;
        else if (ref_has(op, REF_or)) sum |= v;
        else if (ref_has(op, REF_xor)) sum ^= v;
        else if (ref_has(op, REF_min) == less) sum = v;
        is_first = false;
    }
    return sum;
}

static void vote_lane(const meeting *e, ref_thread *t, const ref_op *op) {
    uint32_t yes = 0;
    for (uint32_t k = 0; k < 32; k++)
        if (is_member(e, k) && e->values[k]) yes |= (uint32_t)1 << k;
    if (ref_has(op, REF_ballot)) ref_write(t, &op->in->operands[0], LW_T_b32, yes);
    else if (ref_has(op, REF_any)) ref_write(t, &op->in->operands[0], LW_T_pred, yes != 0);
    else if (ref_has(op, REF_all)) ref_write(t, &op->in->operands[0], LW_T_pred, yes == e->members);
    else ref_write(t, &op->in->operands[0], LW_T_pred, yes == 0 || yes == e->members);
}

static void exchange_lane(const meeting *e, uint32_t lane) {
    ref_thread *t = lane_of(e, lane);
    const ref_op *op = t->waits;
    const char *opcode = op->in->words[0]->text;
    const lw_operand *d = op->in->operand_count ? &op->in->operands[0] : NULL;
    uint64_t same = same_as(e, lane);
    if (!strcmp(opcode, "shfl")) shuffle_lane(e, lane);
    else if (!strcmp(opcode, "vote")) vote_lane(e, t, op);
    else if (!strcmp(opcode, "redux")) ref_write(t, d, op->type, reduce(e, op));
    else if (!strcmp(opcode, "match"))
        write_pair(t, d, LW_T_b32, ref_has(op, REF_any) || same == e->members ? same : 0, same == e->members);
    else if (!strcmp(opcode, "elect")) {
        uint32_t leader = (uint32_t)__builtin_ctz(e->members); /* the lowest lane, as sm_90 does it */
        write_pair(t, d, LW_T_b32, leader, lane == leader);
    }
}

void ref_exchange(ref_machine *m, uint32_t first, uint32_t members) {
    meeting e = {.machine = m, .first = first, .members = members};
    for (uint32_t lane = 0; lane < 32; lane++) { /* all bring what they have before any gets anything */
        if (!is_member(&e, lane)) continue;
        ref_thread *t = lane_of(&e, lane);
        const ref_op *op = t->waits;
        const char *opcode = op->in->words[0]->text;
        e.type = !strcmp(opcode, "vote") ? LW_T_pred : op->type;
        if (strcmp(opcode, "bar") && strcmp(opcode, "elect"))
            e.values[lane] = ref_read(t, op, &op->in->operands[1], e.type);
    }
    for (uint32_t lane = 0; lane < 32; lane++)
        if (is_member(&e, lane)) exchange_lane(&e, lane);
}

/* ---- Barriers of a CTA ---------------------------------------------------------------------------------------- */

static uint32_t threads_left(const ref_machine *m) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < m->thread_count; k++) count += m->threads[k].state != REF_EXITED;
    return count;
}

static void release(ref_machine *m, uint32_t number) {
    ref_barrier *barrier = &m->barriers[number];
    for (uint32_t k = 0; k < m->thread_count; k++) {
        ref_thread *t = &m->threads[k];
        if (t->state != REF_AT_BARRIER || t->members != number) continue;
        const ref_op *op = t->waits;
        t->state = REF_RUNS;
        if (!ref_has(op, REF_red)) continue;
        bool is_popc = ref_has(op, REF_popc);
        uint64_t value = is_popc                ? barrier->count
                         : ref_has(op, REF_and) ? barrier->count == barrier->expected
                                                : barrier->count > 0;
        ref_write(t, &op->in->operands[0], is_popc ? LW_T_u32 : LW_T_pred, value);
    }
    *barrier = (ref_barrier){0};
}

/* Who came waits while that turn is not over. */
static void cluster_barrier(ref_thread *t, const ref_op *op) {
    ref_machine *m = t->machine;
    if (!ref_has(op, REF_arrive)) {
        if (t->cluster_turn != m->cluster_turn || !m->barriers[REF_CLUSTER_BARRIER].arrived) return;
        t->state = REF_AT_BARRIER, t->waits = op, t->members = REF_CLUSTER_BARRIER;
        return;
    }
    t->cluster_turn = m->cluster_turn;
    if (++m->barriers[REF_CLUSTER_BARRIER].arrived < threads_left(m)) return;
    m->cluster_turn++;
    release(m, REF_CLUSTER_BARRIER);
}

void ref_do_barrier(ref_thread *t, const ref_op *op) {
    if (ref_has(op, REF_cluster)) {
        cluster_barrier(t, op);
        return;
    }
    ref_machine *m = t->machine;
    const lw_instruction *in = op->in;
    bool reduces = ref_has(op, REF_red);
    uint32_t number = (uint32_t)ref_read(t, op, &in->operands[reduces], LW_T_u32),
             given = in->operand_count - 2 * reduces;
    uint32_t expected = given > 1 ? (uint32_t)ref_read(t, op, &in->operands[reduces + 1], LW_T_u32) : threads_left(m);
    if (number >= 16 || (m->barriers[number].expected && m->barriers[number].expected != expected)) {
        ref_stop(t, op, REF_UNDEFINED, "a barrier with another count, or that there is not");
        return;
    }
    ref_barrier *barrier = &m->barriers[number];
    barrier->expected = expected;
    barrier->arrived++;
    if (reduces) barrier->count += (uint32_t)ref_read(t, op, &in->operands[in->operand_count - 1], LW_T_pred);
    if (!ref_has(op, REF_arrive)) t->state = REF_AT_BARRIER, t->waits = op, t->members = number;
    if (barrier->arrived == expected) release(m, number);
}

void ref_do_bar(ref_thread *t, const ref_op *op) {
    if (ref_has(op, REF_warp)) meet(t, op, &op->in->operands[0]);
    else ref_do_barrier(t, op);
}
