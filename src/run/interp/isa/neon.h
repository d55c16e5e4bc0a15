/* neon.h: AArch64, whose vectors have 16 bytes: the loops of generic.h, and what compilers do not make of them. */
#ifndef LW_ISA_NEON_H
#define LW_ISA_NEON_H

#include <arm_neon.h>

/* Bits k, k + 1, … of a word as whole elements: all ones or zero. */
static inline uint16x8_t lw_spread_16(uint32_t word) {
    static const uint16_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return vtstq_u16(vdupq_n_u16((uint16_t)word), vld1q_u16(bits));
}
static inline uint32x4_t lw_spread_32(uint32_t word) {
    static const uint32_t bits[4] = {1, 2, 4, 8};
    return vtstq_u32(vdupq_n_u32(word), vld1q_u32(bits));
}
static inline uint64x2_t lw_spread_64(uint32_t word) {
    static const uint64_t bits[2] = {1, 2};
    return vtstq_u64(vdupq_n_u64(word), vld1q_u64(bits));
}

#define lw_blend lw_blend
#define LW_BLEND(bits, count) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, \
                                       const uint##bits##_t *b, const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            for (size_t i = 0; i < 32; i += count) \
                vst1q_u##bits(to + base + i, vbslq_u##bits(lw_spread_##bits(word >> i), vld1q_u##bits(a + base + i), \
                                                           vld1q_u##bits(b + base + i))); \
        } \
    }
LW_BLEND(16, 8)
LW_BLEND(32, 4)
LW_BLEND(64, 2)
#undef LW_BLEND

/* Each byte becomes a bit of its own in its half of 8; three rounds of pairwise sums bring the eight together. */
#define lw_bytes_to_mask lw_bytes_to_mask
static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    uint8x16_t sums[8];
    for (int i = 0; i < 8; i++) sums[i] = vmulq_u8(vld1q_u8(from + 16 * i), weight);
    for (int count = 4; count > 0; count /= 2)
        for (int i = 0; i < count; i++) sums[i] = vpaddq_u8(sums[2 * i], sums[2 * i + 1]);
    lw_mask mask;
    vst1q_u8((uint8_t *)&mask, sums[0]);
    return mask;
}

#define lw_add_dots lw_add_dots
LW_INLINE lw_vector lw_add_dots(lw_vector sum, uint32_t a, lw_vector b) {
    const int16x8_t x = vreinterpretq_s16_u32(vdupq_n_u32(a)), y = (int16x8_t)b;
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
    return (lw_vector)((int32x4_t)sum + vpaddq_s32(low, high));
}

#define lw_is_zero lw_is_zero
LW_INLINE bool lw_is_zero(lw_vector x) { return vmaxvq_u32(vreinterpretq_u32_u64((uint64x2_t)x)) == 0; }

/* The table of a warp is 128 bytes: two look-ups of 64, the second for what the first has not. */
#define lw_shuffle_words lw_shuffle_words
static inline void lw_shuffle_words(uint32_t *to, const uint32_t table[32], const uint8_t lane[32], uint32_t active) {
    static const uint8_t spread[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},
                         within[16] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
    const uint8_t *bytes = (const uint8_t *)table;
    const uint8x16x4_t low = vld1q_u8_x4(bytes), high = vld1q_u8_x4(bytes + 64);
    uint8x16_t result[8];
    for (int i = 0; i < 8; i++) {
        uint32_t four;
        memcpy(&four, lane + 4 * i, sizeof four);
        const uint8x16_t lanes = vqtbl1q_u8(vreinterpretq_u8_u32(vdupq_n_u32(four)), vld1q_u8(spread));
        const uint8x16_t at = vaddq_u8(vshlq_n_u8(lanes, 2), vld1q_u8(within));
        result[i] = vqtbx4q_u8(vqtbl4q_u8(low, at), high, vsubq_u8(at, vdupq_n_u8(64)));
    }
    for (int i = 0; i < 8; i++)
        vst1q_u32(to + 4 * i,
                  vbslq_u32(lw_spread_32(active >> 4 * i), vreinterpretq_u32_u8(result[i]), vld1q_u32(to + 4 * i)));
}

#include "run/interp/isa/generic.h"

#endif
