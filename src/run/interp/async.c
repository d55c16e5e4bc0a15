/* async.c: when that is done which threads have begun: waits for groups, and for the objects that are told. */
#include "run/interp/async.h"

#include <stdlib.h>

enum {
    LW_PENDING_MOST = 1 << 16,   /* of a gang: who begins more than that has some of it done before anybody waits */
    LW_PENDING_BYTES = 64 << 20, /* likewise */
    LW_POLLS_MOST = 256,         /* turns that a cluster spends on polling memory before all that is pending is done */
};

/* Of a gang. Groups are counted by each lane: made so far, by chain. */
typedef struct lw_async {
    LW_LIST(lw_pending) list; /* in the order in which it was begun; grown by realloc, not by an arena */
    uint32_t telling;         /* those with an object */
    uint64_t bytes;           /* of those that count */
    uint32_t groups[LW_CHAIN_GROUPS][LW_GANG_LANES];
} lw_async;

/* ---- Doing it ------------------------------------------------------------------------------------------------- */

/* The trap is that of the thread that began it, wherever it is now; `gang` is who runs. */
static bool trap(lw_gang *gang, const lw_gang *owner, const lw_pending *p, lw_mbarrier_fault fault) {
    gang->cta->trap = (lw_trap_record){.kind = LW_TRAP_mbarrier,
                                       .access = p->arrives ? "arrival" : "completion",
                                       .address = p->address,
                                       .detail = fault};
    lw_trap_locate(&gang->cta->trap, owner, p->code, p->op, p->first);
    gang->state = LW_GANG_trapped;
    return false;
}

static bool is_run(lw_mask lanes, uint32_t first) {
    const uint32_t count = lw_mask_count(lanes);
    return lanes >> first == (count == LW_GANG_LANES ? LW_MASK_ALL : LW_MASK_BIT(count) - 1);
}

static void move_chosen(char *to, const char *from, uint32_t bytes, uint16_t mask) {
    for (uint32_t i = 0; i < bytes; i++)
        if (mask >> i % 16 & 1) to[i] = from[i];
}

LW_RACY static void move(const lw_pending *p) {
    const char *from = p->from ? p->from : (const char *)&p->value;
    if (p->mask != UINT16_MAX) {
        move_chosen(p->to, from, p->bytes, p->mask);
        return;
    }
    if (p->given == p->bytes && is_run(p->due, p->first)) {
        memmove(p->to, from, (size_t)p->bytes * lw_mask_count(p->due));
        return;
    }
    LW_FOR_LANES(lane, p->due) {
        const size_t offset = (size_t)(lane - p->first) * p->bytes;
        memmove(p->to + offset, from + offset, p->given);
        memset(p->to + offset + p->given, 0, p->bytes - p->given);
    }
}

static lw_mbarrier_fault tell(lw_cta *cta, const lw_pending *p) {
    lw_mbarrier object;
    bool ends = false;
    if (!lw_mbarrier_get(p->object, &object)) return LW_MBARRIER_absent;
    lw_mbarrier_fault fault = p->arrives ? lw_mbarrier_arrive(&object, 1, false, &ends)
                                         : lw_mbarrier_expect(&object, -(int64_t)p->bytes, &ends);
    if (fault) return fault;
    lw_mbarrier_put(p->object, &object);
    if (ends) cta->cluster->idle = 0;
    return LW_MBARRIER_good;
}

static bool perform(lw_gang *gang, const lw_gang *owner, const lw_pending *p) {
    const char *from = p->from ? p->from : (const char *)&p->value;
    if (p->tensor) lw_tensor_perform(p->tensor);
    else if (p->reduces) lw_atom_reduce(p->to, from, p->bytes, (lw_atom_op)p->kind, p->form);
    else if (p->to) move(p);
    const lw_mbarrier_fault fault = p->object ? tell(gang->cta, p) : LW_MBARRIER_good;
    return !fault || trap(gang, owner, p, fault);
}

/* All that is due, in the order in which it was begun. False: trapped. */
static bool perform_due(lw_gang *gang, lw_gang *owner) {
    lw_async *async = owner->async;
    uint32_t kept = 0;
    bool good = true;
    for (uint32_t i = 0; i < async->list.count; i++) {
        lw_pending *p = &async->list.at[i];
        if (p->due && good) {
            good = perform(gang, owner, p);
            p->lanes &= ~p->due;
            async->telling -= p->object != NULL;
            if (p->counts) async->bytes -= p->bytes;
            if (!p->lanes) lw_tensor_drop(p->tensor);
        }
        if (p->lanes) async->list.at[kept++] = *p;
    }
    async->list.count = kept;
    return good;
}

/* ---- What is due ---------------------------------------------------------------------------------------------- */

bool lw_async_finish(lw_gang *gang, lw_mask lanes) {
    lw_async *async = gang->async;
    for (uint32_t i = 0; i < async->list.count; i++) async->list.at[i].due = async->list.at[i].lanes & lanes;
    return perform_due(gang, gang);
}

/* Those lanes for which this group is waited for. */
static lw_mask that_wait(const lw_gang *gang, lw_chain chain, uint32_t group, uint32_t kept) {
    const uint32_t *made = gang->async->groups[chain];
    lw_mask in = 0;
    LW_FOR_LANES(lane, gang->mask) if ((uint64_t)group + kept < made[lane]) in |= LW_MASK_BIT(lane);
    return in;
}

/* Of each lane the groups before the last `kept`. */
static bool finish_groups(lw_gang *gang, lw_chain chain, uint32_t kept) {
    lw_async *async = gang->async;
    lw_mask waiting = 0;
    uint32_t group = UINT32_MAX; /* that they wait for; of most entries it is the same as of the one before */
    for (uint32_t i = 0; i < async->list.count; i++) {
        lw_pending *p = &async->list.at[i];
        p->due = 0;
        if (p->chain != chain || p->arrives) continue;
        if (p->group != group) waiting = that_wait(gang, chain, group = p->group, kept);
        p->due = p->lanes & waiting;
    }
    return perform_due(gang, gang);
}

/* What tells the object, and where a lane arrives there the copies that it began before. */
static bool find_told(lw_async *async, const char *object) {
    lw_mask arriving = 0;
    bool any = false;
    for (uint32_t i = async->list.count; i-- > 0;) {
        lw_pending *p = &async->list.at[i];
        p->due = p->object == object ? p->lanes : 0;
        if (p->arrives) arriving |= p->due;
        if (p->chain == LW_CHAIN_copies) p->due |= p->lanes & arriving;
        any |= p->due != 0;
    }
    return any;
}

bool lw_async_tell(lw_gang *gang, const char *object) {
    const lw_cluster *cluster = gang->cta->cluster;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        for (uint32_t g = 0; g < cluster->ctas[rank]->gang_count; g++) {
            lw_gang *owner = &cluster->ctas[rank]->gangs[g];
            if (!owner->async || !owner->async->telling || !find_told(owner->async, object)) continue;
            if (!perform_due(gang, owner)) return false;
        }
    return true;
}

static bool finish_of_cta(lw_cta *cta) {
    bool any = false;
    for (uint32_t g = 0; g < cta->gang_count && !cta->trap.kind; g++) {
        lw_gang *gang = &cta->gangs[g];
        if (!gang->async || !gang->async->list.count) continue;
        any = true;
        lw_async_finish(gang, gang->exist);
    }
    return any;
}

bool lw_cluster_finish_async(lw_cluster *cluster) {
    bool any = false;
    for (uint32_t rank = 0; rank < cluster->count; rank++) any |= finish_of_cta(cluster->ctas[rank]);
    return any;
}

/* Who polls memory may do so for what anybody began, or for somebody who waits for a phase and would give up. */
bool lw_cluster_poll(lw_gang *gang) {
    lw_cluster *cluster = gang->cta->cluster;
    if (++cluster->polls < LW_POLLS_MOST) return true;
    cluster->polls = 0;
    lw_cluster_finish_async(cluster);
    lw_cluster_let_go(cluster);
    return gang->state != LW_GANG_trapped;
}

/* ---- Beginning ------------------------------------------------------------------------------------------------ */

static bool grow(lw_async *async) {
    if (async->list.count < async->list.room) return true;
    const uint32_t room = async->list.room ? 2 * async->list.room : 256;
    void *grown = realloc(async->list.at, room * sizeof *async->list.at);
    if (!grown) return false;
    async->list.at = grown;
    async->list.room = room;
    return true;
}

lw_pending *lw_async_add(lw_gang *gang, const lw_op *op, uint32_t lane, lw_chain chain) {
    if (!gang->async) gang->async = calloc(1, sizeof *gang->async);
    lw_async *async = gang->async;
    const bool full = async && (async->list.count >= LW_PENDING_MOST || async->bytes >= LW_PENDING_BYTES);
    if (full && !lw_async_finish(gang, gang->exist)) return NULL;
    if (!async || !grow(async)) {
        lw_gang_trap(gang, op, LW_TRAP_memory, lane, (lw_trap_record){0});
        return NULL;
    }
    lw_pending *p = &async->list.at[async->list.count++];
    *p = (lw_pending){.op = op,
                      .code = gang->frame->code,
                      .mask = UINT16_MAX,
                      .lanes = LW_MASK_BIT(lane),
                      .first = (uint8_t)lane,
                      .chain = (uint8_t)chain,
                      .group = chain != LW_CHAIN_told ? async->groups[chain][lane] : 0};
    return p;
}

void lw_async_count(lw_gang *gang, lw_pending *p) {
    p->counts = true;
    gang->async->bytes += p->bytes;
    gang->budget -= p->bytes / LW_BYTES_A_STEP;
}

const uint32_t *lw_async_groups(const lw_gang *gang, lw_chain chain) {
    static const uint32_t none[LW_GANG_LANES];
    return gang->async ? gang->async->groups[chain] : none;
}

void lw_async_told(lw_gang *gang, lw_pending *p, char *object, uint64_t address) {
    gang->async->telling++;
    p->object = object;
    p->address = address;
}

static void drop_all(lw_async *async) {
    for (uint32_t i = 0; i < async->list.count; i++) lw_tensor_drop(async->list.at[i].tensor);
}

void lw_async_reset(lw_gang *gang) {
    lw_async *async = gang->async;
    if (!async) return;
    drop_all(async);
    async->list.count = async->telling = 0;
    async->bytes = 0;
    memset(async->groups, 0, sizeof async->groups);
}

bool lw_async_is_over(const lw_gang *gang) { return !gang->async->list.count; }

void lw_async_end(lw_gang *gang) {
    if (gang->async) drop_all(gang->async);
    if (gang->async) free(gang->async->list.at);
    free(gang->async);
    gang->async = NULL;
}

/* ---- Groups --------------------------------------------------------------------------------------------------- */

const lw_op *lw_step_async_commit(lw_gang *gang, const lw_op *op) {
    if (!gang->async) return op + 1; /* empty groups in front of the first copy: nobody can tell how many */
    LW_FOR_LANES(lane, gang->mask) gang->async->groups[op->a][lane]++;
    return op + 1;
}

const lw_op *lw_step_async_wait(lw_gang *gang, const lw_op *op) {
    if (!gang->async) return op + 1;
    return finish_groups(gang, (lw_chain)op->a, (uint32_t)op->imm) ? op + 1 : NULL;
}
