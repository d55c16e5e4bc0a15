/* count.c: shift counts of a vector register that are the width of its elements or more; compiled once for each CPU level.
 *
 * That is rare, so all counts are joined by `or` first: as widths are powers of two, a count is too large exactly if it has a bit
 * of the width's place or above. */
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

static uint64_t count_of(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    switch (op->c) {
    case 1: return (uint8_t)LW_SLOT(gang, uint16_t, op->a)[lane];
    case 2: return LW_SLOT(gang, uint16_t, op->a)[lane];
    case 4: return LW_SLOT(gang, uint32_t, op->a)[lane];
    default: return LW_SLOT(gang, uint64_t, op->a)[lane];
    }
}

__attribute__((noinline)) static const lw_op *report(lw_gang *gang, const lw_op *op, uint32_t width) {
    _Alignas(64) uint8_t large[LW_GANG_LANES] = {0};
    for (uint32_t i = gang->begin; i < gang->lanes; i++) large[i] = count_of(gang, op, i) >= width;
    lw_mask lanes = lw_bytes_to_mask(large) & gang->mask;
    if (op->b != LW_NO_SLOT) lanes &= lw_get_mask(gang, op->b);
    if (!lanes) return op + 1;
    if (!(op->flags & LW_OP_TRAPS)) {
        lw_gang_note(gang, (uint32_t)(op->imm >> 32), lanes);
        return op + 1;
    }
    const uint32_t first = lw_mask_first(lanes);
    return lw_gang_trap(gang, op, LW_TRAP_shift, first, (lw_trap_record){.address = count_of(gang, op, first), .size = width});
}

const lw_op *LW_AT_LEVEL(lw_step_shift_check)(lw_gang *gang, const lw_op *op) {
    const uint32_t width = (uint32_t)op->imm, slot = op->c < 2 ? 2 : op->c;
    if (LW_LIKELY(!any_high(gang, gang->regs + op->a, slot, high_bits(op->c, width)))) return op + 1;
    return report(gang, op, width);
}
