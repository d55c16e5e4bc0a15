/* level.h: what differs between CPU levels: blending by mask, turning bytes into mask bits, lop3.
 *
 * LW_LEVEL names the level (v4 v3 v2 portable), LW_LEVEL_NUMBER orders them (4 3 2 1). Files under level/ are compiled once for
 * each; everything here is static, so the levels never meet. */
#ifndef LW_LEVEL_H
#define LW_LEVEL_H

#include "run/interp/interp.h"

#if LW_LEVEL_NUMBER >= 2
#include <immintrin.h>
#endif

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* where sanitizers or -O0 forbid what is only wished for */
#define LW_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LW_NO_OVERLAP _Pragma("GCC ivdep")
#endif

const lw_op *LW_AT_LEVEL(lw_step_ld)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_st)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_ld_row)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_st_row)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_vshift)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_shift_check)(lw_gang *gang, const lw_op *op);
const lw_op *LW_AT_LEVEL(lw_step_shuffle)(lw_gang *gang, const lw_op *op);

/* ---- to[i] = bit i of mask ? a[i] : b[i], for the lanes that loops run over ------------------------------- */

/* The mask is read from memory 16 or 32 bits at a time: shifting 128 bits costs more than the blend. */
static inline uint32_t lw_mask_bits(const lw_mask *mask, uint32_t from) {
    uint32_t bits;
    memcpy(&bits, (const char *)mask + from / 8, sizeof bits);
    return bits;
}

#if LW_LEVEL_NUMBER >= 4

#define LW_BLEND(bits, count) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, const uint##bits##_t *b, \
                                       const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) { \
            const uint32_t word = lw_mask_bits(mask, (uint32_t)base); \
            _Pragma("GCC unroll 4") for (size_t i = 0; i < 32; i += count) \
                _mm512_storeu_si512(to + base + i, _mm512_mask_loadu_epi##bits(_mm512_loadu_si512(b + base + i), \
                                                                               (__mmask##count)(word >> i), a + base + i)); \
        } \
    }
LW_BLEND(16, 32)
LW_BLEND(32, 16)
LW_BLEND(64, 8)
#undef LW_BLEND

#else

/* All ones or zero for each lane, from the mask's bits: a shape that compilers vectorise at every level. */
#define LW_BLEND(bits) \
    static inline void lw_blend_##bits(const lw_gang *gang, uint##bits##_t *to, const uint##bits##_t *a, const uint##bits##_t *b, \
                                       const lw_mask *mask) { \
        for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 16) { \
            uint16_t half; \
            memcpy(&half, (const char *)mask + base / 8, sizeof half); \
            const uint##bits##_t word = half; \
            LW_NO_OVERLAP for (size_t k = 0; k < 16; k++) { \
                const uint##bits##_t chosen = (uint##bits##_t)(0 - (uint##bits##_t)(word >> k & 1)); \
                to[base + k] = (uint##bits##_t)((a[base + k] & chosen) | (b[base + k] & (uint##bits##_t)~chosen)); \
            } \
        } \
    }
LW_BLEND(16)
LW_BLEND(32)
LW_BLEND(64)
#undef LW_BLEND

#endif

/* The executing lanes of a slot take new values, all others keep theirs. */
#define LW_COMMIT(bits) \
    static inline void lw_commit_##bits(lw_gang *gang, uint32_t at, const uint##bits##_t *values) { \
        uint##bits##_t *slot = LW_SLOT(gang, uint##bits##_t, at); \
        lw_blend_##bits(gang, slot, values, slot, &gang->mask); \
    }
LW_COMMIT(16)
LW_COMMIT(32)
LW_COMMIT(64)
#undef LW_COMMIT

/* ---- Mask bits of 128 bytes that are 0 or 1 -------------------------------------------------------------- */

static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
#if LW_LEVEL_NUMBER >= 4
    const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
    return (lw_mask)_mm512_test_epi8_mask(low, low) | (lw_mask)_mm512_test_epi8_mask(high, high) << 64;
#elif LW_LEVEL_NUMBER >= 2
    lw_mask mask = 0;
    for (int i = 0; i < LW_GANG_LANES / 16; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)from + i);
        mask |= (lw_mask)(uint16_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)) << 16 * i;
    }
    return mask;
#else
    lw_mask mask = 0;
    for (int i = 0; i < LW_GANG_LANES / 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, from + 8 * i, 8);
        mask |= (lw_mask)(uint8_t)(bytes * 0x0102040810204080ull >> 56) << 8 * i;
    }
    return mask;
#endif
}

/* ---- lop3 ------------------------------------------------------------------------------------------------ */

#if LW_LEVEL_NUMBER >= 4
#define LW_LOP3_LOOP(lut) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += 32) \
    for (size_t i = base; i < base + 32; i += 16) \
    _mm512_storeu_si512(to + i, _mm512_ternarylogic_epi32(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), \
                                                          _mm512_loadu_si512(c + i), lut))
#else
#define LW_LOP3_LOOP(lut) EACH(i) to[i] = lw_lop3(a[i], b[i], c[i], lut)
#endif

#endif
