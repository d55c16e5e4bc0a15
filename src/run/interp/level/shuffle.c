/* shuffle.c: shfl in all modes (manual sections 9.7.9.5 and 9.7.9.6); compiled once for each CPU level.
 *
 * Each warp is a table of 32 words in which every lane looks one up. Lanes that do not execute count as 0 in the table. */
#include "run/interp/level/level.h"
#include <lanewise/lane/shuffle.h>

/* Operands b and c of one warp: from registers, or one constant for all lanes. */
typedef struct lw_controls {
    const uint32_t *b, *c; /* registers of lane 0 of the gang, or NULL */
    uint32_t b_constant, c_constant;
} lw_controls;

#if LW_LEVEL_NUMBER >= 4

/* Sixteen lanes: what c says of them. */
typedef struct lw_segment {
    __m512i lane, mask, least, most;
} lw_segment;

static inline lw_segment find_segment(uint32_t first, __m512i c) {
    const __m512i low5 = _mm512_set1_epi32(31), lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    lw_segment s = {.lane = _mm512_add_epi32(lane, _mm512_set1_epi32((int)first))};
    s.mask = _mm512_and_si512(_mm512_srli_epi32(c, 8), low5);
    s.least = _mm512_and_si512(s.lane, s.mask);
    s.most = _mm512_or_si512(s.least, _mm512_and_si512(_mm512_andnot_si512(s.mask, c), low5));
    return s;
}

/* Where each reads, and whether that is in range. */
static inline __m512i find_sources(lw_shuffle_mode mode, const lw_segment *s, __m512i b, __mmask16 *in_range) {
    __m512i source = s->lane;
    b = _mm512_and_si512(b, _mm512_set1_epi32(31));
    switch (mode) {
    case LW_SHUFFLE_up: source = _mm512_sub_epi32(s->lane, b); break;
    case LW_SHUFFLE_down: source = _mm512_add_epi32(s->lane, b); break;
    case LW_SHUFFLE_bfly: source = _mm512_xor_si512(s->lane, b); break;
    case LW_SHUFFLE_idx: source = _mm512_or_si512(s->least, _mm512_andnot_si512(s->mask, b)); break;
    }
    *in_range = mode == LW_SHUFFLE_up ? _mm512_cmpge_epi32_mask(source, s->most) : _mm512_cmple_epi32_mask(source, s->most);
    return _mm512_mask_mov_epi32(s->lane, *in_range, source);
}

static inline void load_control(const uint32_t *slot, uint32_t constant, uint32_t warp, __m512i *low, __m512i *high) {
    *low = slot ? _mm512_loadu_si512(slot + 32 * warp) : _mm512_set1_epi32((int)constant);
    *high = slot ? _mm512_loadu_si512(slot + 32 * warp + 16) : *low;
}

typedef struct lw_segments {
    lw_segment low, high; /* of lanes 0-15 and 16-31 */
} lw_segments;

typedef struct lw_sources {
    __m512i low, high;
    __mmask16 low_in_range, high_in_range;
} lw_sources;

static inline uint32_t in_range_of(const lw_sources *sources) {
    return sources->low_in_range | (uint32_t)sources->high_in_range << 16;
}

static inline void find_warp_segments(const lw_controls *controls, uint32_t warp, lw_segments *segments) {
    __m512i low, high;
    load_control(controls->c, controls->c_constant, warp, &low, &high);
    segments->low = find_segment(0, low);
    segments->high = find_segment(16, high);
}

static inline void find_warp_sources(lw_shuffle_mode mode, const lw_controls *controls, const lw_segments *segments, uint32_t warp,
                                     lw_sources *sources) {
    __m512i b_low, b_high;
    load_control(controls->b, controls->b_constant, warp, &b_low, &b_high);
    sources->low = find_sources(mode, &segments->low, b_low, &sources->low_in_range);
    sources->high = find_sources(mode, &segments->high, b_high, &sources->high_in_range);
}

/* readable: the lanes that count as they are in the table; the active ones are among them. */
static inline void shuffle_warp(uint32_t *to, const uint32_t *from, uint32_t active, uint32_t readable, const lw_sources *sources) {
    if (LW_LIKELY(active == UINT32_MAX)) { /* without masks, which loads of the result would have to wait for */
        __m512i all_low = _mm512_loadu_si512(from), all_high = _mm512_loadu_si512(from + 16);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi32(all_low, sources->low, all_high));
        _mm512_storeu_si512(to + 16, _mm512_permutex2var_epi32(all_low, sources->high, all_high));
        return;
    }
    __mmask16 low = (__mmask16)active, high = (__mmask16)(active >> 16);
    __m512i table_low = _mm512_maskz_loadu_epi32((__mmask16)readable, from);
    __m512i table_high = _mm512_maskz_loadu_epi32((__mmask16)(readable >> 16), from + 16);
    _mm512_mask_storeu_epi32(to, low, _mm512_permutex2var_epi32(table_low, sources->low, table_high));
    _mm512_mask_storeu_epi32(to + 16, high, _mm512_permutex2var_epi32(table_low, sources->high, table_high));
}

/* The active lanes that read one that is not. */
static inline uint32_t lanes_in_vain(uint32_t active, const lw_sources *sources) {
    const __m512i bits = _mm512_set1_epi32((int)active), one = _mm512_set1_epi32(1);
    uint32_t low = _mm512_testn_epi32_mask(_mm512_sllv_epi32(one, sources->low), bits);
    uint32_t high = _mm512_testn_epi32_mask(_mm512_sllv_epi32(one, sources->high), bits);
    return active & (low | high << 16);
}

#else

typedef struct lw_segments {
    uint32_t c[32];
} lw_segments;

typedef struct lw_sources {
    uint8_t lane[32];
    uint32_t in_range;
} lw_sources;

static inline uint32_t in_range_of(const lw_sources *sources) { return sources->in_range; }

static inline void find_warp_segments(const lw_controls *controls, uint32_t warp, lw_segments *segments) {
    for (uint32_t lane = 0; lane < 32; lane++) segments->c[lane] = controls->c ? controls->c[32 * warp + lane] : controls->c_constant;
}

static inline void find_warp_sources(lw_shuffle_mode mode, const lw_controls *controls, const lw_segments *segments, uint32_t warp,
                                     lw_sources *sources) {
    uint32_t in_range = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t b = controls->b ? controls->b[32 * warp + lane] : controls->b_constant, c = segments->c[lane];
        uint32_t source = lane;
        bool in = false;
        switch (mode) {
        case LW_SHUFFLE_up: source = lw_shfl_up_source(lane, b, c), in = lw_shfl_up_in_range(lane, b, c); break;
        case LW_SHUFFLE_down: source = lw_shfl_down_source(lane, b, c), in = lw_shfl_down_in_range(lane, b, c); break;
        case LW_SHUFFLE_bfly: source = lw_shfl_bfly_source(lane, b, c), in = lw_shfl_bfly_in_range(lane, b, c); break;
        case LW_SHUFFLE_idx: source = lw_shfl_idx_source(lane, b, c), in = lw_shfl_idx_in_range(lane, b, c); break;
        }
        sources->lane[lane] = (uint8_t)source;
        in_range |= (uint32_t)in << lane;
    }
    sources->in_range = in_range;
}

static inline void shuffle_warp(uint32_t *to, const uint32_t *from, uint32_t active, uint32_t readable, const lw_sources *sources) {
    uint32_t table[32], result[32];
    for (uint32_t i = 0; i < 32; i++) table[i] = readable & (1u << i) ? from[i] : 0;
    for (uint32_t i = 0; i < 32; i++) result[i] = table[sources->lane[i]];
    for (uint32_t i = 0; i < 32; i++) to[i] = active & (1u << i) ? result[i] : to[i];
}

static inline uint32_t lanes_in_vain(uint32_t active, const lw_sources *sources) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++) lanes |= (~active >> sources->lane[i] & 1) << i;
    return active & lanes;
}

#endif

/* A mask, made warp by warp. */
typedef union lw_warps {
    lw_mask mask;
    uint32_t warps[LW_GANG_LANES / LW_WARP_LANES];
} lw_warps;

/* False: the launch is strict and has ended. */
static bool tell_undefined(lw_gang *gang, const lw_op *op, lw_mask in_vain, lw_mask parted) {
    if (parted && lw_gang_undefined(gang, op, LW_D_note_divergent, parted)) return false;
    return !in_vain || !lw_gang_undefined(gang, op, LW_D_note_inactive_lane, in_vain);
}

/* Whole warps, in which no lane can read in vain. Compiled once for each mode. */
static inline __attribute__((always_inline)) void shuffle_whole(lw_gang *gang, const lw_op *op, lw_shuffle_mode mode,
                                                                const lw_controls *controls) {
    uint32_t *to = LW_SLOT(gang, uint32_t, op->d), first = gang->begin / LW_WARP_LANES, end = gang->lanes / LW_WARP_LANES;
    const uint32_t *from = LW_SLOT(gang, uint32_t, op->b);
    lw_segments segments;
    lw_sources sources;
    lw_warps in_range = {0};
    find_warp_segments(controls, first, &segments);
    find_warp_sources(mode, controls, &segments, first, &sources);
    for (uint32_t warp = first;;) {
        shuffle_warp(to + 32 * warp, from + 32 * warp, UINT32_MAX, UINT32_MAX, &sources);
        if (op->e != LW_NO_SLOT) in_range.warps[warp] = in_range_of(&sources);
        if (++warp == end) break;
        if (controls->c) find_warp_segments(controls, warp, &segments); /* else as in the warp before; so, too, below */
        if (controls->b || controls->c) find_warp_sources(mode, controls, &segments, warp, &sources);
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, in_range.mask);
}

static __attribute__((noinline)) const lw_op *shuffle_parts(lw_gang *gang, const lw_op *op, lw_shuffle_mode mode,
                                                            const lw_controls *controls) {
    uint32_t *to = LW_SLOT(gang, uint32_t, op->d);
    const uint32_t *from = LW_SLOT(gang, uint32_t, op->b);
    lw_segments segments;
    lw_sources sources;
    lw_warps in_range = {0}, in_vain = {0}, parted = {0};
    for (uint32_t warp = 0; warp < gang->lanes / LW_WARP_LANES; warp++) {
        uint32_t active = lw_mask_warp(gang->mask, warp);
        if (!active) continue;
        find_warp_segments(controls, warp, &segments);
        find_warp_sources(mode, controls, &segments, warp, &sources);
        in_vain.warps[warp] = lanes_in_vain(active, &sources);
        bool others = lw_mask_warp(gang->exist & ~gang->exited, warp) & ~active;
        if (op->flags & LW_OP_UNSYNC && others) parted.warps[warp] = active;
        shuffle_warp(to + 32 * warp, from + 32 * warp, active, active | lw_mask_warp(gang->beside, warp), &sources);
        in_range.warps[warp] = in_range_of(&sources);
    }
    if (op->e != LW_NO_SLOT) lw_put_mask(gang, op->e, in_range.mask);
    return tell_undefined(gang, op, in_vain.mask, parted.mask) ? lw_go_on(gang, op) : NULL;
}

const lw_op *LW_AT_LEVEL(lw_step_shuffle)(lw_gang *gang, const lw_op *op) {
    lw_shuffle_mode mode = (lw_shuffle_mode)op->mode;
    lw_controls controls = {.b_constant = (uint32_t)op->imm, .c_constant = (uint32_t)(op->imm >> 32)};
    if (!(op->flags & LW_OP_IMM_A)) controls.b = LW_SLOT(gang, uint32_t, op->a);
    if (!(op->flags & LW_OP_IMM_C)) controls.c = LW_SLOT(gang, uint32_t, op->c);
    /* The count is right here: a shuffle stands behind no guard, it ends its block. */
    if (LW_UNLIKELY(gang->active != gang->lanes - gang->begin)) return shuffle_parts(gang, op, mode, &controls);
    switch (mode) {
    case LW_SHUFFLE_up: shuffle_whole(gang, op, LW_SHUFFLE_up, &controls); break;
    case LW_SHUFFLE_down: shuffle_whole(gang, op, LW_SHUFFLE_down, &controls); break;
    case LW_SHUFFLE_bfly: shuffle_whole(gang, op, LW_SHUFFLE_bfly, &controls); break;
    case LW_SHUFFLE_idx: shuffle_whole(gang, op, LW_SHUFFLE_idx, &controls); break;
    }
    return lw_go_on(gang, op);
}
