/* generic.h: what steps need of an instruction set, in plain C with vector extensions. It stands behind the header of a
 * set that has some of it in instructions: that header defines a macro of the same name for each, and this one the
 * others. */
#ifndef LW_ISA_GENERIC_H
#define LW_ISA_GENERIC_H

/* ---- to[i] = bit i of mask ? a[i] : b[i], for the lanes that loops run over ------------------------------- */

/* All ones or zero for each lane, from the mask's bits: a shape that compilers vectorise at every level. */
#ifndef lw_blend
#define LW_BLEND(bits) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, \
                                       const uint##bits##_t *b, const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 16) { \
            uint16_t half; \
            memcpy(&half, (const char *)mask + base / 8, sizeof half); \
            const uint##bits##_t word = half; \
            LW_NO_OVERLAP for (size_t k = 0; k < 16; k++) { \
                const uint##bits##_t chosen = (uint##bits##_t)(0 - (uint##bits##_t)(word >> k & 1)); \
                to[base + k] = (uint##bits##_t)((a[base + k] & chosen) | (b[base + k] & (uint##bits##_t) ~chosen)); \
            } \
        } \
    }
LW_BLEND(16)
LW_BLEND(32)
LW_BLEND(64)
#undef LW_BLEND
#endif

/* ---- Mask bits of 128 bytes that are 0 or 1 -------------------------------------------------------------- */

#ifndef lw_bytes_to_mask
static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
    lw_mask mask = 0;
    for (int i = 0; i < LW_GANG_LANES / 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, from + 8 * i, 8);
        mask |= (lw_mask)(uint8_t)(bytes * 0x0102040810204080ull >> 56) << 8 * i;
    }
    return mask;
}
#endif

/* ---- Vectors ---------------------------------------------------------------------------------------------- */

#ifndef lw_is_zero
LW_INLINE bool lw_is_zero(lw_vector x) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < sizeof x / 8; i++) any |= x[i];
    return any == 0;
}
#endif

/* Elements of memory to memory for the lanes of a mask whose last one is the count's. */
#ifndef lw_move_among
#define MOVE_AMONG(bits) \
    static inline void lw_move_among_##bits(lw_any##bits *to, const lw_any##bits *from, uint32_t count, \
                                            lw_mask lanes) { \
        (void)count; \
        LW_FOR_LANES(i, lanes) to[i] = from[i]; \
    }
MOVE_AMONG(16)
MOVE_AMONG(32)
MOVE_AMONG(64)
#undef MOVE_AMONG
#endif

/* ---- Bodies and steps of lane functions, made of the loops in level/lanes.h ------------------------------- */

/* Comparisons: one bit a lane, by way of whatever turns into bits cheapest. */
#ifndef LW_PREDICATE_BODY
#define LW_PREDICATE_BODY(expression) \
    uint8_t *to = (uint8_t *)gang->scratch; \
    EACH(i) to[i] = expression; \
    result.mask = lw_bytes_to_mask(to)
#endif

#ifndef LW_COMPARE_STEPS
#define LW_COMPARE_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_SHIFT_STEPS
#define LW_SHIFT_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_COUNT_STEPS
#define LW_COUNT_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_FUNNEL_STEPS
#define LW_FUNNEL_STEPS(name, D, A, B, C, takes, how, mode) LOOP3(name, D, A, B, C, takes)
#endif
#ifndef LW_HALF_STEPS2
#define LW_HALF_STEPS2(name, D, A, B, takes, does)    LOOP2(name, D, A, B, takes)
#define LW_HALF_STEPS3(name, D, A, B, C, takes, does) LOOP3(name, D, A, B, C, takes)
#endif
#ifndef LW_ROUNDED_STEPS3
#define LW_ROUNDED_STEPS3 LOOP3_ROUNDED
#define LW_ROUNDED_STEPS4 LOOP4_RARE
#endif
#ifndef LW_ROTATE_STEPS
#define LW_ROTATE_STEPS2 LOOP2_RRI
#define LW_ROTATE_STEPS3 LOOP3_RRI
#endif
#ifndef LW_LOP3_LOOP
#define LW_LOP3_LOOP(lut) EACH(i) to[i] = lw_lop3(a[i], b[i], c[i], lut)
#endif

/* ---- Fused operations, for every lane --------------------------------------------------------------------- */

/* sum = a + b; turned = (c ^ sum) rotated left by n. */
#ifndef lw_add_xor_rotl
static inline void lw_add_xor_rotl(const lw_gang *gang, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                   uint32_t n, uint32_t *sum, uint32_t *turned) {
    EACH(i) {
        const uint32_t s = a[i] + b[i], t = lw_rotl_b32(c[i] ^ s, n);
        sum[i] = s;
        turned[i] = t;
    }
}
#endif

/* d = a + imm, to every lane or to those that execute; which of them compare with b in the way that op->c says. */
#ifndef lw_add_setp
LW_INLINE lw_mask lw_add_setp(lw_gang *gang, const lw_op *op, const uint32_t *a, const uint32_t *b, bool whole) {
    const uint32_t more = (uint32_t)op->imm;
    uint32_t *sum = (uint32_t *)gang->scratch, *slot = LW_SLOT(gang, uint32_t, op->d);
    uint8_t *to = (uint8_t *)(sum + LW_GANG_LANES);
    EACH(i) sum[i] = a[i] + more;
    switch (op->c) {
#define COMPARE_SUMS(name, T, how) \
    case LW_LANE_setp_##name: EACH(i) to[i] = lw_setp_##name((c_##T)sum[i], (c_##T)b[i]); break;
        LW_ADD_SETP(COMPARE_SUMS)
#undef COMPARE_SUMS
    default: lw_bug("comparison %u of a sum", op->c);
    }
    const lw_mask bits = lw_bytes_to_mask(to);
    if (whole) EACH(i) slot[i] = sum[i];
    else lw_blend_32(gang, slot, sum, slot, &gang->mask);
    return bits;
}
#endif

/* ---- Shifts of vector registers (level/vshift.c) --------------------------------------------------------------- */

#define LW_SHIFT_LOOPS(name, slot, A, B, bits) \
    static inline void all_##name(const lw_gang *gang, slot *to, const slot *a, const slot *b) { \
        EACH(i) to[i] = (slot)lw_##name((c_##A)a[i], (c_##B)b[i]); \
    } \
    static inline void name##_masked(lw_gang *gang, slot *to, const slot *a, const slot *b, const slot *c, \
                                     const lw_mask *mask) { \
        slot *room = (slot *)gang->scratch; \
        all_##name(gang, room, a, b); \
        lw_blend_##bits(gang, to, room, c, mask); \
    }
#ifndef LW_SHIFT_FUNCTIONS
#define LW_SHIFT_FUNCTIONS(name, slot, A, B, bits, how) LW_SHIFT_LOOPS(name, slot, A, B, bits)
#endif

/* ---- Rows: elements of m bits in slots of w (level/row.c) ------------------------------------------------------ */

#ifndef lw_row_load
/* A run of lanes is a loop that becomes vector code; others go one by one. */
static inline bool lw_is_run(lw_mask lanes) {
    lw_mask from_first = lanes >> lw_mask_first(lanes);
    return (from_first & (from_first + 1)) == 0;
}
#define ROW_MOVE(statement) \
    if (lw_is_run(lanes)) { \
        const uint32_t end = lw_mask_last(lanes); \
        LW_NO_OVERLAP for (uint32_t i = lw_mask_first(lanes); i <= end; i++) statement; \
    } else { \
        LW_FOR_LANES(i, lanes) statement; \
    }
#define CLEAR_OTHERS(w) \
    if (zero) LW_FOR_LANES(i, gang->mask & ~lanes) to[i] = 0
#define ROW_SAME(w) \
    static inline void lw_row_load_##w(lw_gang *gang, lw_any##w *to, const lw_any##w *from, lw_mask lanes, \
                                       bool zero) { \
        ROW_MOVE(to[i] = from[i]) \
        CLEAR_OTHERS(w); \
    } \
    static inline void lw_row_store_##w(lw_gang *gang, lw_any##w *to, const lw_any##w *from, lw_mask lanes) { \
        (void)gang; \
        ROW_MOVE(to[i] = from[i]) \
    }
ROW_SAME(16)
ROW_SAME(32)
ROW_SAME(64)
static inline void lw_row_load_8(lw_gang *gang, lw_any16 *to, const lw_any8 *from, lw_mask lanes, bool zero,
                                 bool is_signed) {
    if (is_signed) {
        ROW_MOVE(to[i] = (uint16_t)(int16_t)(int8_t)from[i])
    } else {
        ROW_MOVE(to[i] = from[i])
    }
    CLEAR_OTHERS(16);
}
static inline void lw_row_store_8(lw_gang *gang, lw_any8 *to, const lw_any16 *from, lw_mask lanes) {
    (void)gang;
    ROW_MOVE(to[i] = (uint8_t)from[i])
}
#endif

/* ---- Shuffles of one warp (level/shuffle.c) -------------------------------------------------------------------- */

#ifndef lw_shuffle_segments
/* to[i] = table[lane[i]], for the active lanes. */
#ifndef lw_shuffle_words
static inline void lw_shuffle_words(uint32_t *to, const uint32_t table[32], const uint8_t lane[32], uint32_t active) {
    uint32_t result[32];
    for (uint32_t i = 0; i < 32; i++) result[i] = table[lane[i]];
    for (uint32_t i = 0; i < 32; i++) to[i] = active & (1u << i) ? result[i] : to[i];
}
#endif

typedef struct lw_segments {
    uint32_t c[32];
} lw_segments;

typedef struct lw_sources {
    uint8_t lane[32];
    uint32_t in_range;
} lw_sources;

static inline uint32_t lw_in_range_of(const lw_sources *sources) { return sources->in_range; }

static inline void lw_find_warp_segments(const lw_controls *controls, uint32_t warp, lw_segments *segments) {
    for (uint32_t lane = 0; lane < 32; lane++)
        segments->c[lane] = controls->c ? controls->c[32 * warp + lane] : controls->c_constant;
}

static inline void lw_find_warp_sources(lw_shuffle_mode mode, const lw_controls *controls, const lw_segments *segments,
                                        uint32_t warp, lw_sources *sources) {
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

static inline void lw_shuffle_warp(uint32_t *to, const uint32_t *from, uint32_t active, uint32_t readable,
                                   const lw_sources *sources) {
    uint32_t table[32];
    for (uint32_t i = 0; i < 32; i++) table[i] = readable & (1u << i) ? from[i] : 0;
    lw_shuffle_words(to, table, sources->lane, active);
}

static inline uint32_t lw_lanes_in_vain(uint32_t active, const lw_sources *sources) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++) lanes |= (~active >> sources->lane[i] & 1) << i;
    return active & lanes;
}
#endif

/* ---- Of signed 32-bit elements the larger one ------------------------------------------------------------------ */

#ifndef lw_larger
LW_INLINE lw_vector lw_larger(lw_vector a, lw_vector b) {
    typedef int32_t numbers __attribute__((vector_size(LW_VECTOR_BYTES)));
    const lw_vector which = (lw_vector)((numbers)a > (numbers)b);
    return (a & which) | (b & ~which);
}
#endif

/* ---- Dot products of integers (level/matrix_sums.c) ------------------------------------------------------------- */

/* Each sum plus the products of the two signed halves of a and of an element of b. */
#ifndef lw_add_dots
LW_INLINE lw_vector lw_add_dots(lw_vector sum, uint32_t a, lw_vector b) {
    typedef int32_t numbers __attribute__((vector_size(LW_VECTOR_BYTES)));
    const numbers high = (numbers)b >> 16, low = (numbers)((numbers)b << 16) >> 16;
    return (lw_vector)((numbers)sum + high * (int16_t)(a >> 16) + low * (int16_t)a);
}
#endif

/* ---- Half precision (level/matrix_block.c) --------------------------------------------------------------------- */

#ifndef lw_widen_halves
static inline void lw_widen_halves(lw_any32 *restrict to, const lw_any16 *restrict from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = lw_bits_f32_(lw_cvt_f32_f16(from[i]));
}
static inline void lw_narrow_halves(lw_any16 *restrict to, const lw_any32 *restrict from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = lw_cvt_rn_f16_f32(lw_from_bits_f32_(from[i]));
}
#endif

/* ---- Gathers ---------------------------------------------------------------------------------------------- */

/* An element of memory for each lane of a chunk of w bits, by their distances from a place, as a number of `type` made
 * w bits wide. Vectors are put together before they are stored: who reads them as such would wait for stores of
 * elements. */
#define GATHER(values, w, type, element, host, at) \
    _Pragma("GCC unroll 32") for (uint32_t k_ = 0; k_ < IN_##w; k_++)(values)[k_] = \
        (uint##w##_t)(type)(*(const element *)((host) + (at)[k_]));
#define LW_GATHER_8(values, w, type, host, at)  GATHER(values, w, type, lw_any8, host, at)
#define LW_GATHER_16(values, w, type, host, at) GATHER(values, w, type, lw_any16, host, at)
#ifndef LW_GATHER_32
#define LW_GATHER_32(values, w, type, host, at) GATHER(values, w, type, lw_any32, host, at)
#define LW_GATHER_64(values, w, type, host, at) GATHER(values, w, type, lw_any64, host, at)
#endif

#endif
