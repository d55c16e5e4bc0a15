/* SIMD video instructions of one lane: two half words or four bytes of a word at once.
 *
 * a and b are what the selectors of an instruction have picked from its words a and b, which lw_prmt does. `how` has
 *
 *     LW_VIDEO_MASK(mask) + flags
 *
 * where bit k of the mask stands for element k of d, and the flags are those of lane/video.h and lane/video_scalar.h
 * for types, .sat, .add and comparisons. */
#ifndef LANEWISE_LANE_VIDEO_SIMD_H
#define LANEWISE_LANE_VIDEO_SIMD_H

#include "video_scalar.h"

#define LW_VIDEO_MASK(mask) ((uint32_t)(mask))

/* ---- Parts of the functions below ---------------------------------------------------------------------- */

/* Element k of `bits` bits. */
static inline int32_t lw_video_element_(uint32_t word, uint32_t k, uint32_t bits, uint32_t is_signed) {
    uint32_t field = word >> k * bits & UINT32_MAX >> (32 - bits), sign = field >> (bits - 1) & is_signed;
    return (int32_t)(field - (sign << bits));
}
/* Half of the sum, rounded up where it is not below zero. */
static inline int32_t lw_video_average_(int32_t x, int32_t y) { return (x + y + (x + y >= 0)) >> 1; }

/* `before` with element k of the result: merged into it, or added to it. */
static inline uint32_t lw_video_put_(uint32_t before, int32_t t, uint32_t k, uint32_t bits, uint32_t how) {
    t = (int32_t)lw_video_either_(lw_video_has_(how, LW_VIDEO_SAT), lw_video_clamp_(t, 32 - bits, how), t);
    uint32_t on = 0u - (how >> k & 1), field = UINT32_MAX >> (32 - bits) << k * bits & on;
    uint32_t merged = (before & ~field) | ((uint32_t)t << k * bits & field), sum = before + ((uint32_t)t & on);
    return (uint32_t)lw_video_either_(lw_video_has_(how, LW_VIDEO_ADD), sum, merged);
}

static inline int32_t lw_video_vadd_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return x + y;
}
static inline int32_t lw_video_vsub_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return x - y;
}
static inline int32_t lw_video_vavrg_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return lw_video_average_(x, y);
}
static inline int32_t lw_video_vabsdiff_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return x < y ? y - x : x - y;
}
static inline int32_t lw_video_vmin_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return x < y ? x : y;
}
static inline int32_t lw_video_vmax_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return x < y ? y : x;
}
static inline int32_t lw_video_vset_(uint32_t a, uint32_t b, uint32_t k, uint32_t bits, uint32_t how) {
    int32_t x = lw_video_element_(a, k, bits, lw_video_has_(how, LW_VIDEO_A_SIGNED));
    int32_t y = lw_video_element_(b, k, bits, lw_video_has_(how, LW_VIDEO_B_SIGNED));
    return (int32_t)lw_video_compare_(x, y, how);
}

/* Each half word of a with that of b; those of the mask are merged into c, or all added to it.
 *
 * a, b     the half words selected
 * c        one word
 * how      mask, types, mode, see above; of vset2 the comparison
 * returns  one word
 * fails    never
 * spelled  PTX vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2, vset2 in every form
 * source   PTX ISA 9.7.18.2.1, 9.7.18.2.2 */
static inline uint32_t lw_vadd2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vadd_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vadd_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vsub2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vsub_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vsub_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vavrg2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vavrg_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vavrg_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vabsdiff2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vabsdiff_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vabsdiff_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vmin2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vmin_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vmin_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vmax2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vmax_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vmax_(a, b, 1, 16, how), 1, 16, how);
}
static inline uint32_t lw_vset2(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vset_(a, b, 0, 16, how), 0, 16, how);
    return lw_video_put_(c, lw_video_vset_(a, b, 1, 16, how), 1, 16, how);
}

/* Each byte of a with that of b; those of the mask are merged into c, or all added to it.
 *
 * a, b     the bytes selected
 * c        one word
 * how      mask, types, mode, see above; of vset4 the comparison
 * returns  one word
 * fails    never
 * spelled  PTX vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4, vset4 in every form
 * source   PTX ISA 9.7.18.2.3, 9.7.18.2.4 */
static inline uint32_t lw_vadd4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vadd_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vadd_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vadd_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vadd_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vsub4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vsub_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vsub_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vsub_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vsub_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vavrg4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vavrg_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vavrg_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vavrg_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vavrg_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vabsdiff4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vabsdiff_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vabsdiff_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vabsdiff_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vabsdiff_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vmin4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vmin_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vmin_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vmin_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vmin_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vmax4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vmax_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vmax_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vmax_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vmax_(a, b, 3, 8, how), 3, 8, how);
}
static inline uint32_t lw_vset4(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    c = lw_video_put_(c, lw_video_vset_(a, b, 0, 8, how), 0, 8, how);
    c = lw_video_put_(c, lw_video_vset_(a, b, 1, 8, how), 1, 8, how);
    c = lw_video_put_(c, lw_video_vset_(a, b, 2, 8, how), 2, 8, how);
    return lw_video_put_(c, lw_video_vset_(a, b, 3, 8, how), 3, 8, how);
}

#endif /* LANEWISE_LANE_VIDEO_SIMD_H */
