/* cluster.c: what CTAs of a cluster do with each other: their barrier, and addresses in each other's shared memory
 * (manual sections 9.7.13.3, 9.7.9.23, 9.7.9.24). All of them run on one worker. */
#include "run/interp/interp.h"

/* ---- The barrier --------------------------------------------------------------------------------------------- */

/* Opens it where all have come that have not exited. Who came and does not wait yet will find it open. */
static void open_if_complete(lw_cluster *cluster) {
    if (!cluster->arrived || cluster->arrived < cluster->live) return;
    cluster->arrived = cluster->idle = 0;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        for (uint32_t g = 0; g < cluster->ctas[rank]->gang_count; g++) {
            lw_gang *gang = &cluster->ctas[rank]->gangs[g];
            gang->cluster_came = 0;
            if (gang->waits.count) lw_gang_release(gang, LW_CLUSTER_BARRIER, NULL);
        }
}

void lw_cluster_leave(lw_gang *gang) {
    lw_cluster *cluster = gang->cta->cluster;
    cluster->live -= gang->active;
    if (!cluster->arrived) return;
    cluster->arrived -= lw_mask_count(gang->mask & gang->cluster_came);
    gang->cluster_came &= ~gang->mask;
    open_if_complete(cluster);
}

/* Who comes again before it waits counts once. */
const lw_op *lw_step_cluster_arrive(lw_gang *gang, const lw_op *op) {
    lw_cluster *cluster = gang->cta->cluster;
    const lw_mask twice = gang->mask & gang->cluster_owed;
    if (LW_UNLIKELY(twice) && lw_gang_undefined(gang, op, LW_D_note_cluster_turns, twice)) return NULL;
    cluster->arrived += lw_mask_count(gang->mask & ~gang->cluster_came);
    gang->cluster_came |= gang->mask;
    gang->cluster_owed |= gang->mask;
    open_if_complete(cluster);
    return op + 1;
}

/* Who did not come has nothing to wait for. */
const lw_op *lw_step_cluster_wait(lw_gang *gang, const lw_op *op) {
    const lw_mask alone = gang->mask & ~gang->cluster_owed;
    if (LW_UNLIKELY(alone) && lw_gang_undefined(gang, op, LW_D_note_cluster_turns, alone)) return NULL;
    const lw_mask waits = gang->mask & gang->cluster_came, passes = gang->mask & ~waits;
    gang->cluster_owed &= ~gang->mask;
    if (!waits) return op + 1;
    if (!lw_gang_add_wait(gang, op, LW_CLUSTER_BARRIER, waits))
        return lw_gang_trap(gang, op, LW_TRAP_memory, lw_mask_first(waits), (lw_trap_record){0});
    if (passes) lw_gang_pend(gang->frame, op[1].a, passes);
    return lw_gang_select(gang);
}

/* ---- Addresses ----------------------------------------------------------------------------------------------- */

/* An address of `bytes` in a slot. */
static uint64_t get(const lw_gang *gang, uint32_t at, uint32_t bytes, uint32_t lane) {
    return bytes == 8 ? LW_SLOT(gang, uint64_t, at)[lane] : LW_SLOT(gang, uint32_t, at)[lane];
}

static void put(const lw_gang *gang, uint32_t at, uint32_t bytes, uint32_t lane, uint64_t value) {
    if (bytes == 8) LW_SLOT(gang, uint64_t, at)[lane] = value;
    else LW_SLOT(gang, uint32_t, at)[lane] = (uint32_t)value;
}

const lw_op *lw_step_shared_base(lw_gang *gang, const lw_op *op) {
    const uint64_t address = lw_shared_base(gang->cta, gang->cta->rank) + op->imm;
    LW_FOR_LANES(lane, gang->mask) put(gang, op->d, op->c, lane, address);
    return op + 1;
}

/* A rank that the cluster does not have gives an address that every access finds to be in no CTA. What is no address of
 * shared memory stays what it is. */
const lw_op *lw_step_mapa(lw_gang *gang, const lw_op *op) {
    const uint32_t *ranks = LW_SLOT(gang, uint32_t, op->b);
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = get(gang, op->a, op->c, lane), offset;
        uint32_t rank = ranks[lane] < LW_CLUSTER_MOST ? ranks[lane] : LW_CLUSTER_MOST, before;
        if (lw_shared_find(gang->cta, address - op->imm, &before, &offset))
            address = lw_shared_in(gang->cta, rank, offset) + op->imm;
        put(gang, op->d, op->c, lane, address);
    }
    return op + 1;
}

/* Of an address that is in no shared memory, the CTA's own. */
const lw_op *lw_step_ctarank(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t offset;
        uint32_t rank;
        if (!lw_shared_find(gang->cta, get(gang, op->a, op->c, lane) - op->imm, &rank, &offset)) rank = gang->cta->rank;
        LW_SLOT(gang, uint32_t, op->d)[lane] = rank;
    }
    return op + 1;
}
