/* apart.h: lanes that go each their own way. They become distances of 32 bits from one place of the host, good ones of
 * lanes that do not execute, too, so that whole vectors of them can be gathered. */
#ifndef LW_LEVEL_APART_H
#define LW_LEVEL_APART_H

#include "run/interp/level/home.h"

static const uint32_t bit_32[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
static const uint64_t bit_64[8] = {1, 2, 4, 8, 16, 32, 64, 128};

/* All ones for the lanes of a chunk that are in the low bits of the word. */
#define LANES_ON(bits, word) ((chunk##bits)((*(const loose##bits *)bit_##bits & (uint##bits##_t)(word)) != 0))

enum { LW_FEW = 12 }; /* so many lanes are moved one by one as fast as all at once */

/* What accesses reach: from the host's place `host` on, at a distance of at most `room`. */
typedef struct lw_field {
    uintptr_t host; /* local memory: how far from its begin */
    uint64_t base;  /* of the distances: what registers hold there, without the access' constant */
    uint32_t room, bytes;
} lw_field; /* of indices, base and room are in what a lane accesses, and bytes is 1 */

/* The part of a home, or of a frame in it, that is in reach of the first lane's address, `at`, by distances that
 * gathers take as signed numbers. False: another way must be taken, since it is not aligned, or so high that addresses
 * of 32 bits come round to it again. */
LW_INLINE bool find_field(const lw_home *home, lw_memory_form form, uint64_t at, uint64_t imm, uint64_t frame,
                          lw_field *field) {
    const uint32_t bytes = lw_memory_bytes(form);
    const uint64_t half = 1u << 30;
    uint64_t from = frame, size = home->size - frame;
    if (LW_UNLIKELY(size > INT32_MAX)) {
        if (at - home->base > half) from = (at - home->base - half) & ~(uint64_t)31;
        size = home->size - from < INT32_MAX ? home->size - from : INT32_MAX;
    }
    if (LW_UNLIKELY((home->base + from) & (bytes - 1))) return false;
    if (LW_UNLIKELY(form.address == 1 && home->base + home->size > UINT64_C(1) << 32)) return false;
    *field = (lw_field){(uintptr_t)home->host + from, home->base + from - frame - imm, (uint32_t)(size - bytes), bytes};
    return true;
}

/* What is wrong with some of them shows in the highest and the lowest bits. */
#define CHECK(bits) \
    typedef struct lw_check_##bits { \
        chunk##bits high, low; \
    } lw_check_##bits; \
    LW_INLINE bool is_right_##bits(const lw_check_##bits *check, const lw_field *field) { \
        return lw_is_zero((lw_vector)(check->high >> (bits - 1) | (check->low & (uint##bits##_t)(field->bytes - 1)))); \
    }
CHECK(32)
CHECK(64)
#undef CHECK

typedef uint32_t half32 __attribute__((vector_size(CHUNK / 2), aligned(4), may_alias));
#define STORE_DISTANCES_32(to, distances) *(loose32 *)(to) = distances
#define STORE_DISTANCES_64(to, distances) *(half32 *)(to) = __builtin_convertvector(distances, half32)

/* Those of a warp's lanes, which have their addresses in r, or 1 << shift times that. */
#define DISTANCES(bits) \
    LW_INLINE void find_distances_##bits(lw_any32 *to, const lw_any##bits *r, const lw_field *field, uint32_t shift, \
                                         uint32_t lanes, lw_check_##bits *check) { \
        const uint##bits##_t base = (uint##bits##_t)field->base, room = field->room; \
        for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_##bits) { \
            chunk##bits distances = *(const loose##bits *)(r + i) - base; \
            if (lanes != UINT32_MAX) distances &= LANES_ON(bits, lanes >> i); \
            check->high |= (room - distances) | distances; \
            check->low |= distances; \
            STORE_DISTANCES_##bits(to + i, distances << shift); \
        } \
    }
DISTANCES(32)
DISTANCES(64)
#undef DISTANCES

/* Those of `count` lanes, whole warps, and whether all that execute are aligned and within the field. What lanes have
 * that do not execute is looked at only if it is no good. */
#define FIND_APART(bits) \
    LW_INLINE bool find_apart_##bits(lw_any32 *to, const lw_any##bits *r, const lw_field *field, uint32_t shift, \
                                     uint32_t count, lw_mask lanes) { \
        lw_check_##bits check = {0}, again = {0}; \
        for (uint32_t i = 0; i < count; i += LW_WARP_LANES) \
            find_distances_##bits(to + i, r + i, field, shift, UINT32_MAX, &check); \
        if (LW_LIKELY(is_right_##bits(&check, field))) return true; \
        for (uint32_t i = 0; i < count; i += LW_WARP_LANES) \
            find_distances_##bits(to + i, r + i, field, shift, lw_mask_bits(&lanes, i), &again); \
        return is_right_##bits(&again, field); \
    }
FIND_APART(32)
FIND_APART(64)
#undef FIND_APART

/* ---- One value for all ----------------------------------------------------------------------------------------- */

/* To those lanes, which are among the first `count`. */
#define SPREAD_AMONG(bits) \
    LW_INLINE void spread_among_##bits(lw_any##bits *to, uint32_t count, lw_mask lanes, uint##bits##_t value) { \
        for (uint32_t i = 0; i < count; i += IN_##bits) { \
            const chunk##bits on = LANES_ON(bits, lanes >> i); \
            loose##bits *place = (loose##bits *)(to + i); \
            *place = (*place & ~on) | (on & value); \
        } \
    }
SPREAD_AMONG(32)
SPREAD_AMONG(64)
#undef SPREAD_AMONG
LW_INLINE void spread_among_16(lw_any16 *to, uint32_t count, lw_mask lanes, uint16_t value) {
    for (uint32_t i = 0; i < count; i += LW_WARP_LANES)
        for (uint32_t left = lw_mask_bits(&lanes, i); left; left &= left - 1)
            to[i + (uint32_t)__builtin_ctz(left)] = value;
}

#endif
