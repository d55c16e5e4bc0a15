/* x86_shuffle.h: shuffles of a warp with AVX2: vectors of eight lanes, four of them. Each picks from all four, and bits
 * 3 and 4 of where a lane reads say which of these counts. */
#ifndef LW_ISA_X86_SHUFFLE_H
#define LW_ISA_X86_SHUFFLE_H

#define lw_shuffle_segments lw_shuffle_segments
typedef int lw_eight __attribute__((vector_size(32)));
typedef int lw_loose_eight __attribute__((vector_size(32), aligned(4), may_alias));
enum { LW_EIGHTS = 4 };

/* What c says of the lanes. */
typedef struct lw_segments {
    lw_eight mask[LW_EIGHTS], least[LW_EIGHTS], most[LW_EIGHTS];
} lw_segments;
/* Where they read, and whether that is in range. */
typedef struct lw_sources {
    lw_eight lane[LW_EIGHTS];
    uint32_t in_range;
} lw_sources;

static inline uint32_t lw_in_range_of(const lw_sources *sources) { return sources->in_range; }

LW_INLINE lw_eight lw_eight_lanes(uint32_t k) { return (lw_eight){0, 1, 2, 3, 4, 5, 6, 7} + (int)(8 * k); }
LW_INLINE lw_eight lw_eight_controls(const uint32_t *of, uint32_t constant, uint32_t warp, uint32_t k) {
    if (!of) return (lw_eight){0} + (int)constant;
    return *(const lw_loose_eight *)(of + 32 * warp + 8 * k);
}
/* A bit a lane, from the highest of each; and the other way round, all bits. */
LW_INLINE uint32_t lw_eight_bits(lw_eight is) { return (uint32_t)__builtin_ia32_movmskps256((lw_floats)is); }
LW_INLINE lw_eight lw_eight_if(uint32_t bits) {
    const lw_eight own = {1, 2, 4, 8, 16, 32, 64, 128};
    return (((lw_eight){0} + (int)(bits & 0xff)) & own) == own;
}
/* By the highest bit. */
LW_INLINE lw_eight lw_eight_choose(lw_eight is, lw_eight then, lw_eight other) {
    return (lw_eight)__builtin_ia32_blendvps256((lw_floats)other, (lw_floats)then, (lw_floats)is);
}

static inline void lw_find_warp_segments(const lw_controls *controls, uint32_t warp, lw_segments *segments) {
    for (uint32_t k = 0; k < LW_EIGHTS; k++) {
        const lw_eight c = lw_eight_controls(controls->c, controls->c_constant, warp, k), mask = c >> 8 & 31;
        segments->mask[k] = mask;
        segments->least[k] = lw_eight_lanes(k) & mask;
        segments->most[k] = segments->least[k] | (c & ~mask & 31);
    }
}

static inline void lw_find_warp_sources(lw_shuffle_mode mode, const lw_controls *controls, const lw_segments *segments,
                                        uint32_t warp, lw_sources *sources) {
    sources->in_range = 0;
    for (uint32_t k = 0; k < LW_EIGHTS; k++) {
        const lw_eight lane = lw_eight_lanes(k), b = lw_eight_controls(controls->b, controls->b_constant, warp, k) & 31;
        lw_eight source = lane;
        switch (mode) {
        case LW_SHUFFLE_up: source = lane - b; break;
        case LW_SHUFFLE_down: source = lane + b; break;
        case LW_SHUFFLE_bfly: source = lane ^ b; break;
        case LW_SHUFFLE_idx: source = segments->least[k] | (b & ~segments->mask[k]); break;
        }
        const lw_eight in_range = mode == LW_SHUFFLE_up ? source >= segments->most[k] : source <= segments->most[k];
        sources->lane[k] = lw_eight_choose(in_range, source, lane);
        sources->in_range |= lw_eight_bits(in_range) << 8 * k;
    }
}

/* readable: the lanes that count as they are in the table; the active ones are among them. */
static inline void lw_shuffle_warp(uint32_t *to, const uint32_t *from, uint32_t active, uint32_t readable,
                                   const lw_sources *sources) {
    lw_eight table[LW_EIGHTS], result[LW_EIGHTS];
    for (uint32_t k = 0; k < LW_EIGHTS; k++) {
        table[k] = *(const lw_loose_eight *)(from + 8 * k);
        if (LW_UNLIKELY(readable != UINT32_MAX)) table[k] &= lw_eight_if(readable >> 8 * k);
    }
    for (uint32_t k = 0; k < LW_EIGHTS; k++) {
        const lw_eight at = sources->lane[k], odd = at << 28, high = at << 27; /* bits 3 and 4 */
        lw_eight of[LW_EIGHTS];
        for (uint32_t i = 0; i < LW_EIGHTS; i++) of[i] = __builtin_ia32_permvarsi256(table[i], at);
        result[k] = lw_eight_choose(high, lw_eight_choose(odd, of[3], of[2]), lw_eight_choose(odd, of[1], of[0]));
    }
    for (uint32_t k = 0; k < LW_EIGHTS; k++) {
        lw_loose_eight *place = (lw_loose_eight *)(to + 8 * k);
        *place = LW_LIKELY(active == UINT32_MAX) ? result[k]
                                                 : lw_eight_choose(lw_eight_if(active >> 8 * k), result[k], *place);
    }
}

/* The active lanes that read one that is not. */
static inline uint32_t lw_lanes_in_vain(uint32_t active, const lw_sources *sources) {
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < LW_EIGHTS; k++)
        lanes |= lw_eight_bits((((lw_eight){0} + (int)active) >> sources->lane[k] & 1) == 0) << 8 * k;
    return active & lanes;
}

#endif
