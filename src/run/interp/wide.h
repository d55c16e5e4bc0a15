/* wide.h: 16 bytes of guest memory at a time: .b128 of atom, and of ld and st that carry an order. */
#ifndef LW_WIDE_H
#define LW_WIDE_H

#include "run/interp/interp.h"

typedef unsigned __int128 __attribute__((may_alias)) lw_wide;

/* Compares what is at a place, which is aligned to 16 bytes, with *old, and puts `new` there if they are equal; *old
 * becomes what was there. One step for all who come through here, and for all who access parts of the place: x86-64 and
 * AArch64 have instructions for it. On any other machine, and on the first x86-64 ones, which lack it, it is done under
 * a lock that all accesses of 16 bytes take: accesses of other sizes at the same place are a data race in PTX (manual
 * section 8.7.1). */
bool lw_wide_swap(void *place, lw_wide *old, lw_wide new);

/* There is no access that only reads: the same value is put back. All guest memory is writable for the host. */
static inline lw_wide lw_wide_load(void *place) {
    lw_wide old = 0;
    lw_wide_swap(place, &old, 0);
    return old;
}
static inline void lw_wide_store(void *place, lw_wide value) {
    lw_wide old = 0;
    while (!lw_wide_swap(place, &old, value)) continue;
}

/* A lane's value in two slots, the low half first. */
static inline lw_wide lw_wide_get(const lw_gang *gang, const uint32_t slots[2], uint32_t lane) {
    return LW_SLOT(gang, uint64_t, slots[0])[lane] | (lw_wide)LW_SLOT(gang, uint64_t, slots[1])[lane] << 64;
}
static inline void lw_wide_put(const lw_gang *gang, const uint32_t slots[2], uint32_t lane, lw_wide value) {
    LW_SLOT(gang, uint64_t, slots[0])[lane] = (uint64_t)value;
    LW_SLOT(gang, uint64_t, slots[1])[lane] = (uint64_t)(value >> 64);
}

/* ld and st of elements of 16 bytes, and of vectors, that others may access at the same time. The manual has the
 * elements of a vector in any order (8.2.2), but GPUs move up to 16 bytes together, and CUB's tiles of scans, a value
 * and what it is in one vector, need it. */
lw_step lw_wide_ld, lw_wide_st;

#endif
