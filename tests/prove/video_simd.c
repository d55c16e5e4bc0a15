/* The SIMD video instructions: the steps of PTX ISA 9.7.18.2.1 to 9.7.18.2.4, a half word or byte after the other. Only
 * how `how` packs a spelling is taken from the header; what selectors pick is in a and b already. */
#include <lanewise/lane/video_simd.h>
#include "prove.h"

static inline bool has(uint32_t how, uint32_t flag) { return (how & flag) == flag; }

/* extractAndSignExt_2 and _4: element i of `bits` bits. */
static inline int extract(uint32_t word, unsigned i, unsigned bits, bool is_signed) {
    uint32_t element = word >> i * bits & ((1u << bits) - 1);
    bool negative = is_signed && (element >> (bits - 1) & 1);
    return negative ? (int)element - (1 << bits) : (int)element;
}

static inline int CLAMP(int x, int max, int min) { return x > max ? max : x < min ? min : x; }
static inline int saturated(int t, bool is_signed, unsigned bits) {
    return is_signed ? CLAMP(t, (1 << (bits - 1)) - 1, -(1 << (bits - 1))) : CLAMP(t, (1 << bits) - 1, 0);
}

typedef enum operation { VADD, VSUB, VAVRG, VABSDIFF, VMIN, VMAX, VSET } operation;

static inline int combined(operation op, int a, int b, uint32_t how) {
    switch (op) {
    case VADD: return a + b;
    case VSUB: return a - b;
    case VAVRG: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VABSDIFF: return a - b < 0 ? -(a - b) : a - b;
    case VMIN: return a < b ? a : b;
    case VMAX: return a > b ? a : b;
    case VSET: break;
    }
    return (has(how, LW_VIDEO_LESS) && a < b) || (has(how, LW_VIDEO_EQUAL) && a == b) ||
           (has(how, LW_VIDEO_GREATER) && a > b);
}

static inline uint32_t manual(operation op, unsigned bits, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    uint32_t d = has(how, LW_VIDEO_ADD) ? c : 0;
    FOR_EACH(i, 4) {
        if (i >= 32 / bits) continue;
        int va = extract(a, i, bits, has(how, LW_VIDEO_A_SIGNED)),
            vb = extract(b, i, bits, has(how, LW_VIDEO_B_SIGNED));
        int t = combined(op, va, vb, how);
        if (has(how, LW_VIDEO_SAT)) t = saturated(t, has(how, LW_VIDEO_D_SIGNED), bits);
        bool mask = how >> i & 1;
        uint32_t low = (1u << bits) - 1;
        if (has(how, LW_VIDEO_ADD)) d += mask ? (uint32_t)t : 0;
        else d |= (mask ? (uint32_t)t & low : c >> i * bits & low) << i * bits;
    }
    return d;
}

/* The spellings: a mask; a comparison with vset, .sat with the others. Not with .add: there the function is what it is
 * of each element, one behind the other (put_add below), and sums of several unlike terms are too much for a solver. */
static inline bool spelled(uint32_t how, unsigned elements, bool compares) {
    uint32_t flags = LW_VIDEO_A_SIGNED | LW_VIDEO_B_SIGNED;
    uint32_t compare = LW_VIDEO_LESS | LW_VIDEO_EQUAL | LW_VIDEO_GREATER;
    flags |= compares ? compare : (uint32_t)LW_VIDEO_SAT | LW_VIDEO_D_SIGNED;
    return (how & ~(flags | ((1u << elements) - 1))) == 0 &&
           (!compares || ((how & compare) != 0 && (how & compare) != compare));
}
static inline bool twos(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c, spelled(how, 2, false);
}
static inline bool twos_set(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c, spelled(how, 2, true);
}
static inline bool fours(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c, spelled(how, 4, false);
}
static inline bool fours_set(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c, spelled(how, 4, true);
}

/* One element's turn, of whatever number t: what was added before stays. */
#define PUT(name, k, bits) \
    static inline uint32_t lw_##name(uint32_t before, int t, uint32_t how) { \
        return lw_video_put_(before, t, k, bits, how); \
    } \
    static inline uint32_t name(uint32_t before, int t, uint32_t how) { \
        if (has(how, LW_VIDEO_SAT)) t = saturated(t, has(how, LW_VIDEO_D_SIGNED), bits); \
        return how >> k & 1 ? before + (uint32_t)t : before; \
    } \
    PROVE(lw_##name, name, uint32_t, uint32_t, int, uint32_t) \
    WHERE(lw_##name, put_adds, uint32_t, int, uint32_t)
static inline bool put_adds(uint32_t before, int t, uint32_t how) {
    return (void)before, (void)t, has(how, LW_VIDEO_ADD);
}
PUT(put_add2_0, 0, 16)
PUT(put_add2_1, 1, 16)
PUT(put_add4_0, 0, 8)
PUT(put_add4_1, 1, 8)
PUT(put_add4_2, 2, 8)
PUT(put_add4_3, 3, 8)

/* clang-format off */
#define SIMD(name, op, bits, where) \
    static inline uint32_t name(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return manual(op, bits, a, b, c, how); \
    } \
    PROVE(lw_##name, name, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_##name, where, uint32_t, uint32_t, uint32_t, uint32_t) \
    SPLIT(lw_##name, SIMD_SPLIT)
/* clang-format on */
#define SIMD_SPLIT \
    (LW_VIDEO_SAT | LW_VIDEO_A_SIGNED | LW_VIDEO_B_SIGNED) /* masks and words are free \
                                                            */
SIMD(vadd2, VADD, 16, twos)
SIMD(vsub2, VSUB, 16, twos)
SIMD(vavrg2, VAVRG, 16, twos)
SIMD(vabsdiff2, VABSDIFF, 16, twos)
SIMD(vmin2, VMIN, 16, twos)
SIMD(vmax2, VMAX, 16, twos)
SIMD(vset2, VSET, 16, twos_set)
SIMD(vadd4, VADD, 8, fours)
SIMD(vsub4, VSUB, 8, fours)
SIMD(vavrg4, VAVRG, 8, fours)
SIMD(vabsdiff4, VABSDIFF, 8, fours)
SIMD(vmin4, VMIN, 8, fours)
SIMD(vmax4, VMAX, 8, fours)
SIMD(vset4, VSET, 8, fours_set)
