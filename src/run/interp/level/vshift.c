/* vshift.c: shifts of vector registers, and their counts that are the width of the elements or more; compiled once for
 * each CPU level.
 *
 * Such counts are rare, so all counts are joined by `or` first: as widths are powers of two, a count is too large
 * exactly if it has a bit of the width's place or above. */
#include "run/interp/level/level.h"

/* Bits that a small count does not have, in every element of a word. */
static uint64_t high_bits(uint32_t bytes, uint64_t width) {
    uint64_t element = UINT64_MAX >> (64 - 8 * bytes) & ~(width - 1);
    if (bytes <= 2) element |= element << 16;
    return bytes <= 4 ? element | element << 32 : element;
}

static inline bool any_high(const lw_gang *gang, const char *counts, uint32_t slot, uint64_t high) {
    lw_vector any = {0};
    for (uint32_t at = gang->begin * slot; at < gang->lanes * slot; at += sizeof any)
        any |= *(const lw_vector *)(counts + at);
    return !lw_is_zero(any & (high - (lw_vector){0}));
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
    return lw_gang_trap(gang, op, LW_TRAP_shift, first,
                        (lw_trap_record){.address = count_of(gang, c.at, c.bytes, first), .size = c.width});
}

const lw_op *LW_AT_LEVEL(lw_step_shift_check)(lw_gang *gang, const lw_op *op) {
    const lw_counts c = {op->a, op->c, (uint32_t)op->imm, op->b};
    if (LW_LIKELY(!any_high(gang, gang->regs + c.at, c.bytes < 2 ? 2 : c.bytes, high_bits(c.bytes, c.width))))
        return op + 1;
    return report(gang, op, c);
}

/* ---- Shifts ---------------------------------------------------------------------------------------------------- */

/* all_NAME and NAME_masked: those that do not shift take c. Most are what vector units have (LW_SHIFT_FUNCTIONS). */
LW_SHIFT_LOOPS(vshr_s8, uint16_t, s8, u8, 16)
LW_SHIFT_LOOPS(vshr_u8, uint16_t, u8, u8, 16)
LW_SHIFT_LOOPS(vshl_b8, uint16_t, u8, u8, 16)
LW_SHIFT_FUNCTIONS(vshr_s16, uint16_t, s16, u16, 16, right)
LW_SHIFT_FUNCTIONS(vshr_u16, uint16_t, u16, u16, 16, right)
LW_SHIFT_FUNCTIONS(vshl_b16, uint16_t, u16, u16, 16, left)
LW_SHIFT_FUNCTIONS(shr_s32, uint32_t, s32, u32, 32, right)
LW_SHIFT_FUNCTIONS(shr_u32, uint32_t, u32, u32, 32, right)
LW_SHIFT_FUNCTIONS(shl_b32, uint32_t, u32, u32, 32, left)
LW_SHIFT_FUNCTIONS(vshr_s64, uint64_t, s64, u64, 64, right)
LW_SHIFT_FUNCTIONS(vshr_u64, uint64_t, u64, u64, 64, right)
LW_SHIFT_FUNCTIONS(vshl_b64, uint64_t, u64, u64, 64, left)

/* Counts are looked at before the result may take their place. */
#define SHIFT_CASE(name, slot, size) \
    case LW_LANE_##name: { \
        const lw_counts c = {op->b, size, 8 * size, op->e}; \
        if (LW_UNLIKELY(any_high(gang, gang->regs + op->b, sizeof(slot), high_bits(size, 8 * size))) && \
            !report(gang, op, c)) \
            return NULL; \
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
