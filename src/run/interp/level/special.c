/* special.c: the same for all lanes, or what special registers are, to the executing lanes of a slot; compiled once for
 * each CPU level, since a slot that was written in small pieces makes the first vectors that are read from it wait. */
#include "run/interp/level/apart.h"

#define PUT(bits) \
    static void put_each_##bits(lw_gang *gang, uint32_t at, const uint32_t *values) { \
        uint##bits##_t *slot = LW_SLOT(gang, uint##bits##_t, at); \
        if (LW_LIKELY(gang->full)) \
            LW_NO_OVERLAP for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) \
                slot[lane] = (uint##bits##_t)values[lane]; \
        else LW_FOR_LANES(lane, gang->mask) slot[lane] = (uint##bits##_t)values[lane]; \
    } \
    static void put_same_##bits(lw_gang *gang, uint32_t at, uint64_t value) { \
        uint##bits##_t *slot = LW_SLOT(gang, uint##bits##_t, at); \
        if (LW_LIKELY(gang->full)) \
            for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) slot[lane] = (uint##bits##_t)value; \
        else LW_FOR_LANES(lane, gang->mask) slot[lane] = (uint##bits##_t)value; \
    }
PUT(16)
PUT(32)
PUT(64)
#undef PUT

static void put_each(lw_gang *gang, uint32_t at, uint32_t bytes, const uint32_t *values) {
    switch (bytes) {
    case 2: put_each_16(gang, at, values); break;
    case 4: put_each_32(gang, at, values); break;
    case 8: put_each_64(gang, at, values); break;
    default: lw_bug("register of %u bytes", bytes);
    }
}

static void put_same(lw_gang *gang, uint32_t at, uint32_t bytes, uint64_t value) {
    switch (bytes) {
    case 0: lw_put_mask(gang, at, value ? LW_MASK_ALL : 0); break;
    case 2: put_same_16(gang, at, value); break;
    case 4: put_same_32(gang, at, value); break;
    case 8: put_same_64(gang, at, value); break;
    default: lw_bug("register of %u bytes", bytes);
    }
}

const lw_op *LW_AT_LEVEL(lw_step_special)(lw_gang *gang, const lw_op *op) {
    _Alignas(64) uint32_t room[LW_GANG_LANES];
    const uint32_t *values = lw_special_lanes(gang, op, room);
    if (values) put_each(gang, op->d, op->c, values);
    else put_same(gang, op->d, op->c, lw_special_value(gang, op));
    return op + 1;
}

const lw_op *LW_AT_LEVEL(lw_step_local_base)(lw_gang *gang, const lw_op *op) {
    put_same(gang, op->d, op->c, gang->frame->local_base + op->imm);
    return op + 1;
}

/* What the first of the executing lanes has, all of them. */
#define GIVE_ALL(bits) \
    static void give_all_##bits(lw_gang *gang, uint32_t at, bool whole) { \
        lw_any##bits *slot = LW_SLOT(gang, lw_any##bits, at); \
        const uint##bits##_t value = slot[lw_mask_first(gang->mask)]; \
        if (LW_LIKELY(whole)) \
            for (uint32_t lane = gang->begin; lane < gang->lanes; lane++) slot[lane] = value; \
        else spread_among_##bits(slot, gang->lanes, gang->mask, value); \
    }
GIVE_ALL(16)
GIVE_ALL(32)
GIVE_ALL(64)
#undef GIVE_ALL

/* An operation that gives all lanes the same: the first warp does it for the others. */
const lw_op *LW_AT_LEVEL(lw_step_once)(lw_gang *gang, const lw_op *op) {
    const bool whole = gang->full || op->flags & gang->whole;
    const uint32_t lanes = gang->lanes;
    gang->lanes = gang->begin + LW_WARP_LANES;
    gang->cta->program->steps[op->code](gang, op);
    gang->lanes = lanes;
    if (gang->begin + LW_WARP_LANES == lanes) return op + 1;
    switch (lw_lane_types[lw_lanes[lw_code_lane(op->code)].result].bits) {
    case 16: give_all_16(gang, op->d, whole); break;
    case 32: give_all_32(gang, op->d, whole); break;
    case 64: give_all_64(gang, op->d, whole); break;
    default: lw_bug("operation %u is done once for all lanes", op->code);
    }
    return op + 1;
}
