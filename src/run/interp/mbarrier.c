/* mbarrier.c: mbarrier objects (manual section 9.7.13.15): what they count, and lanes that wait for a phase to end.
 *
 * Lanes that come together act one behind the other, in lane order. An object is in memory and nowhere else: 20 bits of
 * pending arrivals, 20 of expected ones, 21 of transactions, the parity of the phase, and two that say that it is one.
 */
#include "run/interp/async.h"

enum {
    COUNT_BITS = 20,
    TRANSACTION_BITS = 21,
    EXPECTED = COUNT_BITS,
    TRANSACTIONS = 2 * COUNT_BITS,
    PHASE = TRANSACTIONS + TRANSACTION_BITS,
    MARK = PHASE + 1,
    IS_ONE = 2,
    LW_TIMES_MOST = 4096, /* that the time is up for all who wait, while nothing happens */
};

/* ---- Objects -------------------------------------------------------------------------------------------------- */

static uint32_t bits_of(uint64_t word, uint32_t from, uint32_t count) {
    return (uint32_t)(word >> from) & ((1u << count) - 1);
}

LW_RACY bool lw_mbarrier_get(const char *object, lw_mbarrier *to) {
    const uint64_t word = *(const lw_any64 *)object;
    const uint32_t transactions = bits_of(word, TRANSACTIONS, TRANSACTION_BITS);
    *to = (lw_mbarrier){.pending = bits_of(word, 0, COUNT_BITS),
                        .expected = bits_of(word, EXPECTED, COUNT_BITS),
                        .transactions = (int32_t)(transactions << (32 - TRANSACTION_BITS)) >> (32 - TRANSACTION_BITS),
                        .phase = word >> PHASE & 1};
    return word >> MARK == IS_ONE;
}

LW_RACY void lw_mbarrier_put(char *object, const lw_mbarrier *from) {
    const uint64_t transactions = (uint32_t)from->transactions & ((1u << TRANSACTION_BITS) - 1);
    *(lw_any64 *)object = from->pending | (uint64_t)from->expected << EXPECTED | transactions << TRANSACTIONS |
                          (uint64_t)from->phase << PHASE | (uint64_t)IS_ONE << MARK;
}

static bool end_phase(lw_mbarrier *object) {
    if (object->pending || object->transactions) return false;
    object->phase = !object->phase;
    object->pending = object->expected;
    return true;
}

lw_mbarrier_fault lw_mbarrier_expect(lw_mbarrier *object, int64_t transactions, bool *ends) {
    const int64_t sum = object->transactions + transactions;
    if (sum < -LW_MBARRIER_MOST || sum > LW_MBARRIER_MOST) return LW_MBARRIER_transactions;
    object->transactions = (int32_t)sum;
    *ends = end_phase(object);
    return LW_MBARRIER_good;
}

lw_mbarrier_fault lw_mbarrier_arrive(lw_mbarrier *object, uint32_t count, bool drops, bool *ends) {
    if (!count || count > LW_MBARRIER_MOST) return LW_MBARRIER_count;
    if (count > object->pending) return LW_MBARRIER_arrivals;
    if (drops && count > object->expected) return LW_MBARRIER_drops;
    object->pending -= count;
    if (drops) object->expected -= count;
    *ends = end_phase(object);
    return LW_MBARRIER_good;
}

/* What is told to threads: the phase, and in the high half how many were pending. */
static uint64_t state_of(const lw_mbarrier *object) { return object->phase | (uint64_t)object->pending << 32; }

const lw_op *lw_mbarrier_trap(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at,
                              lw_mbarrier_fault fault) {
    const lw_trap_record details = {.access = at.access, .address = at.address, .detail = fault};
    return lw_gang_trap(gang, op, LW_TRAP_mbarrier, lane, details);
}

/* Where one is or may be made; NULL: trapped. */
static char *place_of(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at) {
    enum { BYTES = 8 };
    if (!lw_may_be_shared(at.window, at.address))
        return lw_mbarrier_trap(gang, op, lane, at, LW_MBARRIER_elsewhere), NULL;
    return lw_address_place(gang, op, LW_ACCESS_atomic, at.window, lane, at.address, BYTES, BYTES);
}

char *lw_mbarrier_find(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at, lw_mbarrier *object) {
    char *place = place_of(gang, op, lane, at);
    if (!place || lw_mbarrier_get(place, object)) return place;
    return lw_mbarrier_trap(gang, op, lane, at, LW_MBARRIER_absent), NULL;
}

/* ---- Changes -------------------------------------------------------------------------------------------------- */

static const char *const deeds[] = {
    [LW_MBARRIER_init] = "initialisation",   [LW_MBARRIER_inval] = "invalidation",
    [LW_MBARRIER_expect_tx] = "expectation", [LW_MBARRIER_complete_tx] = "completion",
    [LW_MBARRIER_arrive] = "arrival",        [LW_MBARRIER_arrive_drop] = "arrival",
    [LW_MBARRIER_arrive_inside] = "arrival", [LW_MBARRIER_arrive_drop_inside] = "arrival",
};

static lw_mbarrier_fault make(lw_mbarrier *object, uint32_t count) {
    if (!count || count > LW_MBARRIER_MOST) return LW_MBARRIER_count;
    *object = (lw_mbarrier){.pending = count, .expected = count};
    return LW_MBARRIER_good;
}

/* What one lane does to an object. count: arrivals or transactions; more: those that are expected first. */
static lw_mbarrier_fault change(lw_mbarrier *object, lw_mbarrier_deed deed, uint32_t count, uint32_t more,
                                uint64_t *state, bool *ends) {
    const bool drops = deed == LW_MBARRIER_arrive_drop || deed == LW_MBARRIER_arrive_drop_inside;
    const bool inside = deed == LW_MBARRIER_arrive_inside || deed == LW_MBARRIER_arrive_drop_inside;
    lw_mbarrier_fault fault;
    bool ended = false;
    if (deed == LW_MBARRIER_expect_tx || deed == LW_MBARRIER_complete_tx)
        return lw_mbarrier_expect(object, deed == LW_MBARRIER_expect_tx ? (int64_t)count : -(int64_t)count, ends);
    if (more && (fault = lw_mbarrier_expect(object, more, &ended))) return fault;
    *state = state_of(object);
    if ((fault = lw_mbarrier_arrive(object, count, drops, ends))) return fault;
    if (inside && *ends) return LW_MBARRIER_completes;
    *ends |= ended;
    return LW_MBARRIER_good;
}

LW_RACY static lw_mbarrier_fault change_at(char *place, lw_mbarrier *object, lw_mbarrier_deed deed, uint32_t count,
                                           uint32_t more, uint64_t *state, bool *ends) {
    if (deed == LW_MBARRIER_inval) {
        *(lw_any64 *)place = 0;
        return LW_MBARRIER_good;
    }
    const lw_mbarrier_fault fault = deed == LW_MBARRIER_init ? make(object, count)
                                                             : change(object, deed, count, more, state, ends);
    if (!fault) lw_mbarrier_put(place, object);
    return fault;
}

const lw_op *lw_step_mbarrier(lw_gang *gang, const lw_op *op) {
    const lw_mbarrier_deed deed = (lw_mbarrier_deed)op->mode;
    const lw_window window = (lw_window)lw_memory_unpack(op->c).window;
    const uint32_t *counts = op->b == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint32_t, op->b);
    const uint32_t *expected = op->e == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint32_t, op->e);
    LW_FOR_LANES(lane, gang->mask) {
        const lw_mbarrier_at at = {window, lw_address_of(gang, op, lane), deeds[deed]};
        lw_mbarrier object;
        char *place = deed == LW_MBARRIER_init ? place_of(gang, op, lane, at)
                                               : lw_mbarrier_find(gang, op, lane, at, &object);
        uint64_t state = 0;
        bool ends = false;
        if (!place) return NULL;
        const lw_mbarrier_fault fault =
            change_at(place, &object, deed, counts ? counts[lane] : 1, expected ? expected[lane] : 0, &state, &ends);
        if (fault) return lw_mbarrier_trap(gang, op, lane, at, fault);
        if (ends) gang->cta->cluster->idle = 0;
        if (op->d != LW_NO_SLOT) LW_SLOT(gang, uint64_t, op->d)[lane] = state;
    }
    return op + 1;
}

/* ---- Asking for a phase --------------------------------------------------------------------------------------- */

/* What an executing lane asks for: the end of a phase of this parity. */
typedef struct lw_question {
    char *object;
    uint64_t address;
    bool phase;
} lw_question;

/* Whether it has ended. What tells the object is done before. False in *good: trapped. */
static bool has_ended(lw_gang *gang, const lw_question *question, bool *good, bool *is_one) {
    lw_mbarrier object;
    *good = lw_async_tell(gang, question->object);
    *is_one = lw_mbarrier_get(question->object, &object);
    return object.phase != question->phase;
}

/* The answer for one lane; false: trapped. */
static bool ask(lw_gang *gang, const lw_op *op, uint32_t lane, lw_question *question, bool *ended) {
    const lw_mbarrier_at at = {(lw_window)lw_memory_unpack(op->c).window, lw_address_of(gang, op, lane), "test"};
    lw_mbarrier object;
    bool good, is_one;
    question->address = at.address;
    question->phase = LW_SLOT(gang, uint64_t, op->b)[lane] & 1;
    question->object = lw_mbarrier_find(gang, op, lane, at, &object);
    if (!question->object) return false;
    *ended = has_ended(gang, question, &good, &is_one);
    return good;
}

static void answer(const lw_frame *frame, const lw_op *op, lw_mask lanes, lw_mask yes) {
    if (op->d == LW_NO_SLOT) return;
    lw_mask *d = (lw_mask *)(frame->regs + op->d);
    *d = (*d & ~lanes) | (yes & lanes);
}

/* ---- Waiting for it ------------------------------------------------------------------------------------------- */

/* The lane waits along with those that wait for the same. False: trapped. */
static bool wait_for(lw_gang *gang, const lw_op *op, uint32_t lane, const lw_question *question, uint32_t first) {
    for (uint32_t i = first; i < gang->waits.count; i++) {
        lw_wait *wait = &gang->waits.at[i];
        if (wait->object != question->object || wait->phase != question->phase) continue;
        wait->lanes |= LW_MASK_BIT(lane);
        return true;
    }
    const lw_wait wait = {.frame = gang->frame,
                          .op = op,
                          .block = op[1].a,
                          .barrier = LW_OBJECT_WAIT,
                          .lanes = LW_MASK_BIT(lane),
                          .object = question->object,
                          .address = question->address,
                          .phase = question->phase};
    if (!lw_gang_keep_wait(gang, &wait))
        return lw_gang_trap(gang, op, LW_TRAP_memory, lane, (lw_trap_record){0}), false;
    gang->timed++;
    return true;
}

/* For which executing lanes it has ended; the others wait if they are to. False: trapped. */
static bool ask_all(lw_gang *gang, const lw_op *op, bool waits, lw_mask *yes) {
    const uint32_t first = gang->waits.count;
    *yes = 0;
    LW_FOR_LANES(lane, gang->mask) {
        lw_question question;
        bool ended;
        if (!ask(gang, op, lane, &question, &ended)) return false;
        if (ended) *yes |= LW_MASK_BIT(lane);
        else if (waits && !wait_for(gang, op, lane, &question, first)) return false;
    }
    return true;
}

const lw_op *lw_step_mbarrier_test(lw_gang *gang, const lw_op *op) {
    lw_mask yes;
    if (!ask_all(gang, op, false, &yes)) return NULL;
    answer(gang->frame, op, gang->mask, yes);
    return op + 1;
}

const lw_op *lw_step_mbarrier_try(lw_gang *gang, const lw_op *op) {
    lw_mask yes;
    if (!ask_all(gang, op, true, &yes)) return NULL;
    answer(gang->frame, op, yes, yes);
    if (yes == gang->mask) return lw_go_on(gang, op);
    if (yes) lw_gang_pend(gang->frame, op[1].a, yes);
    return lw_gang_select(gang);
}

static void let_go(lw_gang *gang, const lw_wait *wait, bool ended) {
    answer(wait->frame, wait->op, wait->lanes, ended ? wait->lanes : 0);
    lw_gang_pend(wait->frame, wait->block, wait->lanes);
    gang->timed--;
    if (gang->state == LW_GANG_waiting) gang->state = LW_GANG_ready;
}

bool lw_gang_wake(lw_gang *gang) {
    uint32_t kept = 0;
    bool good = true;
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait wait = gang->waits.at[i];
        const lw_question question = {wait.object, wait.address, wait.phase};
        bool is_one = true, ended = false;
        if (good && wait.barrier == LW_OBJECT_WAIT) ended = has_ended(gang, &question, &good, &is_one);
        if (good && (ended || !is_one)) let_go(gang, &wait, ended && is_one); /* of none they learn as they ask again */
        else gang->waits.at[kept++] = wait;
    }
    gang->waits.count = kept;
    return good;
}

static void time_out(lw_gang *gang) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait wait = gang->waits.at[i];
        if (wait.barrier == LW_OBJECT_WAIT) let_go(gang, &wait, false);
        else gang->waits.at[kept++] = wait;
    }
    gang->waits.count = kept;
}

bool lw_cluster_let_go(lw_cluster *cluster) {
    bool any = false;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        for (uint32_t g = 0; g < cluster->ctas[rank]->gang_count; g++) {
            lw_gang *gang = &cluster->ctas[rank]->gangs[g];
            any |= gang->timed != 0;
            if (gang->timed) time_out(gang);
        }
    return any;
}

/* Only these count: whoever polls is no sign of a deadlock. */
bool lw_cluster_time_out(lw_cluster *cluster) {
    if (cluster->idle >= LW_TIMES_MOST || !lw_cluster_let_go(cluster)) return false;
    cluster->idle++;
    return true;
}
