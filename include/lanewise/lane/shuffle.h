/* Shuffles: where a lane of a warp reads. The words themselves come from other lanes, so there is no function of one
 * lane for them. */
#ifndef LANEWISE_LANE_SHUFFLE_H
#define LANEWISE_LANE_SHUFFLE_H

#include <stdbool.h>
#include <stdint.h>

/* The last lane that may be read; for up the first. */
static inline int32_t lw_shfl_most_(uint32_t lane, uint32_t c) {
    uint32_t mask = c >> 8 & 31;
    return (int32_t)((lane & mask) | (c & ~mask & 31));
}
static inline int32_t lw_shfl_up_(uint32_t lane, uint32_t b) { return (int32_t)lane - (int32_t)(b & 31); }
static inline uint32_t lw_shfl_down_(uint32_t lane, uint32_t b) { return lane + (b & 31); }
static inline uint32_t lw_shfl_bfly_(uint32_t lane, uint32_t b) { return lane ^ (b & 31); }
static inline uint32_t lw_shfl_idx_(uint32_t lane, uint32_t b, uint32_t c) {
    uint32_t mask = c >> 8 & 31;
    return (lane & mask) | (b & ~mask & 31);
}

/* Whether the lane that the operands name is in range: the predicate of a shuffle.
 *
 * lane     the reading lane, 0 to 31
 * b        lane or distance; bits above 4 are ignored
 * c        clamp in bits 4:0, segment mask in bits 12:8; the others are ignored
 * returns  the predicate
 * fails    never
 * spelled  PTX shfl.up, shfl.down, shfl.bfly, shfl.idx, with .sync or without
 * source   PTX ISA 9.7.9.5, 9.7.9.6 */
static inline bool lw_shfl_up_in_range(uint32_t lane, uint32_t b, uint32_t c) {
    return lw_shfl_up_(lane, b) >= lw_shfl_most_(lane, c);
}
static inline bool lw_shfl_down_in_range(uint32_t lane, uint32_t b, uint32_t c) {
    return (int32_t)lw_shfl_down_(lane, b) <= lw_shfl_most_(lane, c);
}
static inline bool lw_shfl_bfly_in_range(uint32_t lane, uint32_t b, uint32_t c) {
    return (int32_t)lw_shfl_bfly_(lane, b) <= lw_shfl_most_(lane, c);
}
static inline bool lw_shfl_idx_in_range(uint32_t lane, uint32_t b, uint32_t c) {
    return (int32_t)lw_shfl_idx_(lane, b, c) <= lw_shfl_most_(lane, c);
}

/* The lane that is read: the one that the operands name, or the reading lane where that is out of range.
 *
 * lane     the reading lane, 0 to 31
 * b        lane or distance; bits above 4 are ignored
 * c        clamp in bits 4:0, segment mask in bits 12:8; the others are ignored
 * returns  a lane, 0 to 31
 * fails    never
 * spelled  PTX shfl.up, shfl.down, shfl.bfly, shfl.idx, with .sync or without
 * source   PTX ISA 9.7.9.5, 9.7.9.6 */
static inline uint32_t lw_shfl_up_source(uint32_t lane, uint32_t b, uint32_t c) {
    return lw_shfl_up_in_range(lane, b, c) ? (uint32_t)lw_shfl_up_(lane, b) : lane;
}
static inline uint32_t lw_shfl_down_source(uint32_t lane, uint32_t b, uint32_t c) {
    return lw_shfl_down_in_range(lane, b, c) ? lw_shfl_down_(lane, b) : lane;
}
static inline uint32_t lw_shfl_bfly_source(uint32_t lane, uint32_t b, uint32_t c) {
    return lw_shfl_bfly_in_range(lane, b, c) ? lw_shfl_bfly_(lane, b) : lane;
}
static inline uint32_t lw_shfl_idx_source(uint32_t lane, uint32_t b, uint32_t c) {
    return lw_shfl_idx_in_range(lane, b, c) ? lw_shfl_idx_(lane, b, c) : lane;
}

#endif /* LANEWISE_LANE_SHUFFLE_H */
