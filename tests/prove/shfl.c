/* shfl, PTX ISA 9.7.9.5: which lane each mode reads, and the predicate. */
#include <lanewise/lane/shuffle.h>
#include "prove.h"

typedef struct lane_map {
    int j;
    bool pval;
} lane_map;

#define SHFL(mode, source, in_range) \
    static inline lane_map shfl_##mode(uint32_t laneid, uint32_t b, uint32_t c) { \
        int lane = (int)laneid, bval = (int)(b & 0x1f), cval = (int)(c & 0x1f), mask = (int)(c >> 8 & 0x1f); \
        int not_mask = ~mask & 0x1f; \
        int maxLane = (lane & mask) | (cval & not_mask), minLane = lane & mask; \
        (void)minLane, (void)not_mask, (void)bval; \
        int j = source; \
        bool pval = in_range; \
        if (!pval) j = lane; \
        return (lane_map){j, pval}; \
    } \
    static inline uint32_t shfl_##mode##_j(uint32_t lane, uint32_t b, uint32_t c) { \
        return (uint32_t)shfl_##mode(lane, b, c).j; \
    } \
    static inline bool shfl_##mode##_p(uint32_t lane, uint32_t b, uint32_t c) { return shfl_##mode(lane, b, c).pval; } \
    PROVE(lw_shfl_##mode##_source, shfl_##mode##_j, uint32_t, uint32_t, uint32_t, uint32_t) \
    PROVE(lw_shfl_##mode##_in_range, shfl_##mode##_p, bool, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_shfl_##mode##_source, in_warp, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_shfl_##mode##_in_range, in_warp, uint32_t, uint32_t, uint32_t)

static inline bool in_warp(uint32_t lane, uint32_t b, uint32_t c) { return (void)b, (void)c, lane < 32; }

SHFL(up, lane - bval, j >= maxLane)
SHFL(down, lane + bval, j <= maxLane)
SHFL(bfly, lane ^ bval, j <= maxLane)
SHFL(idx, minLane | (bval & not_mask), j <= maxLane)
