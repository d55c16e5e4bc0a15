/* vshift.c: shifts of vector registers, and their counts that are the width of the elements or more; compiled once for each CPU level.
 *
 * Such counts are rare, so all counts are joined by `or` first: as widths are powers of two, a count is too large exactly if it has a bit
 * of the width's place or above. */
#include "run/interp/inner.h"
#include "run/interp/level/level.h"

typedef uint64_t piece __attribute__((vector_size(64)));

/* Bits that a small count does not have, in every element of a word. */
static uint64_t high_bits(uint32_t bytes, uint64_t width) {
    uint64_t element = UINT64_MAX >> (64 - 8 * bytes) & ~(width - 1);
    if (bytes <= 2) element |= element << 16;
    return bytes <= 4 ? element | element << 32 : element;
}

static inline bool any_high(const lw_gang *gang, const char *counts, uint32_t slot, uint64_t high) {
    piece any = {0};
    for (uint32_t at = gang->begin * slot; at < gang->lanes * slot; at += sizeof any) any |= *(const piece *)(counts + at);
    any &= high - (piece){0};
#if LW_LEVEL_NUMBER >= 4
    return _mm512_test_epi64_mask((__m512i)any, (__m512i)any) != 0;
#else
    return (any[0] | any[1] | any[2] | any[3] | any[4] | any[5] | any[6] | any[7]) != 0;
#endif
}

static uint64_t count_of(const lw_gang *gang, uint32_t at, uint32_t bytes, uint32_t lane) {
    switch (bytes) {
    case 1: return (uint8_t)LW_SLOT(gang, uint16_t, at)[lane];
    case 2: return LW_SLOT(gang, uint16_t, at)[lane];
    case 4: return LW_SLOT(gang, uint32_t, at)[lane];
    default: return LW_SLOT(gang, uint64_t, at)[lane];
    }
}

typedef struct lw_counts { /* what is checked */
    uint32_t at, bytes, width, mask;
} lw_counts;

/* Some lanes have large counts, perhaps. The operation to go on with. */
__attribute__((noinline)) static const lw_op *report(lw_gang *gang, const lw_op *op, lw_counts c) {
    _Alignas(64) uint8_t large[LW_GANG_LANES] = {0};
    for (uint32_t i = gang->begin; i < gang->lanes; i++) large[i] = count_of(gang, c.at, c.bytes, i) >= c.width;
    lw_mask lanes = lw_bytes_to_mask(large) & gang->mask;
    if (c.mask != LW_NO_SLOT) lanes &= lw_get_mask(gang, c.mask);
    if (!lanes) return op + 1;
    if (!(op->flags & LW_OP_TRAPS)) {
        lw_gang_note(gang, (uint32_t)(op->imm >> 32), lanes);
        return op + 1;
    }
    const uint32_t first = lw_mask_first(lanes);
    return lw_gang_trap(gang, op, LW_TRAP_shift, first, (lw_trap_record){.address = count_of(gang, c.at, c.bytes, first), .size = c.width});
}

const lw_op *LW_AT_LEVEL(lw_step_shift_check)(lw_gang *gang, const lw_op *op) {
    const lw_counts c = {op->a, op->c, (uint32_t)op->imm, op->b};
    if (LW_LIKELY(!any_high(gang, gang->regs + c.at, c.bytes < 2 ? 2 : c.bytes, high_bits(c.bytes, c.width)))) return op + 1;
    return report(gang, op, c);
}

/* ---- Shifts -------------------------------------------------------------------------------------------------------------- */

/* All lanes; those that do not shift are put right behind it. */
#define SHIFT_LOOP(name, slot, T, U) \
    static inline void all_##name(const lw_gang *gang, slot *to, const slot *a, const slot *b) { \
        for (size_t base = gang->begin; base < gang->lanes; base += LW_WARP_LANES) \
            LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++) to[i] = (slot)lw_##name((T)a[i], (U)b[i]); \
    }
#if LW_LEVEL_NUMBER >= 4
/* The vector unit's shifts take any count, as the lane functions do. */
#define SHIFT_MASKED(name, slot, T, U, bits, how) \
    static inline void name##_masked(const lw_gang *gang, slot *to, const slot *a, const slot *b, const slot *c, const lw_mask *mask) { \
        enum { COUNT = 512 / bits }; \
        for (size_t base = gang->begin; base < gang->lanes; base += LW_WARP_LANES) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            _Pragma("GCC unroll 4") for (size_t i = 0; i < LW_WARP_LANES; i += COUNT) { \
                const __m512i x = _mm512_loadu_si512(a + base + i), n = _mm512_loadu_si512(b + base + i), rest = _mm512_loadu_si512(c + base + i); \
                const uint32_t on = word >> i; \
                _mm512_storeu_si512(to + base + i, how); \
            } \
        } \
    } \
    static inline void all_##name(const lw_gang *gang, slot *to, const slot *a, const slot *b) { \
        enum { COUNT = 512 / bits }; \
        for (size_t base = gang->begin; base < gang->lanes; base += COUNT) { \
            const __m512i x = _mm512_loadu_si512(a + base), n = _mm512_loadu_si512(b + base), rest = x; \
            const uint32_t on = UINT32_MAX; \
            _mm512_storeu_si512(to + base, how); \
        } \
    }
#define UNIT(how, bits, lanes) _mm512_mask_##how##v_epi##bits(rest, (__mmask##lanes)on, x, n)
#else
#define SHIFT_MASKED(name, slot, T, U, bits, how) SHIFT_LOOP(name, slot, T, U) SHIFT_TWICE(name, slot, bits)
#endif
#define SHIFT_TWICE(name, slot, bits) \
    static inline void name##_masked(lw_gang *gang, slot *to, const slot *a, const slot *b, const slot *c, const lw_mask *mask) { \
        slot *room = (slot *)gang->scratch; \
        all_##name(gang, room, a, b); \
        lw_blend_##bits(gang, to, room, c, mask); \
    }
SHIFT_LOOP(vshr_s8, uint16_t, int8_t, uint8_t) SHIFT_TWICE(vshr_s8, uint16_t, 16)
SHIFT_LOOP(vshr_u8, uint16_t, uint8_t, uint8_t) SHIFT_TWICE(vshr_u8, uint16_t, 16)
SHIFT_LOOP(vshl_b8, uint16_t, uint8_t, uint8_t) SHIFT_TWICE(vshl_b8, uint16_t, 16)
SHIFT_MASKED(vshr_s16, uint16_t, int16_t, uint16_t, 16, UNIT(sra, 16, 32))
SHIFT_MASKED(vshr_u16, uint16_t, uint16_t, uint16_t, 16, UNIT(srl, 16, 32))
SHIFT_MASKED(vshl_b16, uint16_t, uint16_t, uint16_t, 16, UNIT(sll, 16, 32))
SHIFT_MASKED(shr_s32, uint32_t, int32_t, uint32_t, 32, UNIT(sra, 32, 16))
SHIFT_MASKED(shr_u32, uint32_t, uint32_t, uint32_t, 32, UNIT(srl, 32, 16))
SHIFT_MASKED(shl_b32, uint32_t, uint32_t, uint32_t, 32, UNIT(sll, 32, 16))
SHIFT_MASKED(vshr_s64, uint64_t, int64_t, uint64_t, 64, UNIT(sra, 64, 8))
SHIFT_MASKED(vshr_u64, uint64_t, uint64_t, uint64_t, 64, UNIT(srl, 64, 8))
SHIFT_MASKED(vshl_b64, uint64_t, uint64_t, uint64_t, 64, UNIT(sll, 64, 8))

/* Counts are looked at before the result may take their place. */
#define SHIFT_CASE(name, slot, size) \
    case LW_LANE_##name: { \
        const lw_counts c = {op->b, size, 8 * size, op->e}; \
        if (LW_UNLIKELY(any_high(gang, gang->regs + op->b, sizeof(slot), high_bits(size, 8 * size))) && !report(gang, op, c)) return NULL; \
        slot *to = LW_SLOT(gang, slot, op->d); \
        const slot *a = LW_SLOT(gang, slot, op->a), *b = LW_SLOT(gang, slot, op->b); \
        if (op->e == LW_NO_SLOT) all_##name(gang, to, a, b); \
        else name##_masked(gang, to, a, b, LW_SLOT(gang, slot, op->c), LW_SLOT(gang, lw_mask, op->e)); \
        return op + 1; \
    }
const lw_op *LW_AT_LEVEL(lw_step_vshift)(lw_gang *gang, const lw_op *op) {
    switch ((uint32_t)op->imm) {
    SHIFT_CASE(shr_s32, uint32_t, 4)
    SHIFT_CASE(shr_u32, uint32_t, 4)
    SHIFT_CASE(shl_b32, uint32_t, 4)
    SHIFT_CASE(vshr_s8, uint16_t, 1)
    SHIFT_CASE(vshr_u8, uint16_t, 1)
    SHIFT_CASE(vshl_b8, uint16_t, 1)
    SHIFT_CASE(vshr_s16, uint16_t, 2)
    SHIFT_CASE(vshr_u16, uint16_t, 2)
    SHIFT_CASE(vshl_b16, uint16_t, 2)
    SHIFT_CASE(vshr_s64, uint64_t, 8)
    SHIFT_CASE(vshr_u64, uint64_t, 8)
    SHIFT_CASE(vshl_b64, uint64_t, 8)
    default: lw_bug("lane function %u is no shift", (uint32_t)op->imm);
    }
}
