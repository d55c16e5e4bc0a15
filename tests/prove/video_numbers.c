/* The scalar video instructions that do not shift: the steps of PTX ISA 9.7.18.1.1 and 9.7.18.1.4; and what
 * sm_90 was seen to do (docs/decisions/0004-two-semantics.md). */
#include "video.h"

/* ---- What is selected -------------------------------------------------------------------------------------------- */

/* On its own, and from then on taken as the functions have it: a solver sees one sum in both sides, and not two that it
 * has to find equal. */
static inline s33 part_of_a(uint32_t a, uint32_t how) {
    return partSelectSignExtend(a, is(how, LW_VIDEO_A_SIGNED), how & 15);
}
static inline s33 part_of_b(uint32_t b, uint32_t how) {
    return partSelectSignExtend(b, is(how, LW_VIDEO_B_SIGNED), how >> 4 & 15);
}
static inline bool selects_a(uint32_t a, uint32_t how) { return (void)a, selects(how & 15); }
static inline bool selects_b(uint32_t b, uint32_t how) { return (void)b, selects(how >> 4 & 15); }
PROVE(lw_video_a_, part_of_a, int64_t, uint32_t, uint32_t)
WHERE(lw_video_a_, selects_a, uint32_t, uint32_t)
PROVE(lw_video_b_, part_of_b, int64_t, uint32_t, uint32_t)
WHERE(lw_video_b_, selects_b, uint32_t, uint32_t)

/* ---- What is combined, and the steps behind it ------------------------------------------------------------------- */

typedef enum operation { VADD, VSUB, VABSDIFF, VMIN, VMAX, VSET } operation;

static inline s34 combined(operation op, s33 ta, s33 tb, uint32_t how) {
    switch (op) {
    case VADD: return ta + tb;
    case VSUB: return ta - tb;
    case VABSDIFF: return ta < tb ? tb - ta : ta - tb;
    case VMIN: return ta < tb ? ta : tb;
    case VMAX: return ta > tb ? ta : tb;
    case VSET: break;
    }
    return (is(how, LW_VIDEO_LESS) && ta < tb) || (is(how, LW_VIDEO_EQUAL) && ta == tb) ||
           (is(how, LW_VIDEO_GREATER) && ta > tb);
}

static inline s34 number(operation op, uint32_t a, uint32_t b, uint32_t how) {
    return combined(op, lw_video_a_(a, how), lw_video_b_(b, how), how);
}

static inline uint32_t manual(operation op, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    bool d_signed = is(how, LW_VIDEO_D_SIGNED);
    uint32_t dsel = how >> 8 & 15;
    s33 tmp = optSaturate(number(op, a, b, how), is(how, LW_VIDEO_SAT), d_signed, dsel);
    uint32_t d = optSecondaryOp(how, tmp, partSelectSignExtend(c, d_signed, LW_VIDEO_word));
    return optMerge(dsel, d, c);
}

/* ---- sm_90
 * ----------------------------------------------------------------------------------------------------------- */

/* The numbers that a part can be: from least to most. */
static inline int64_t least(uint32_t sel, bool is_signed) {
    return !is_signed ? 0 : sel == LW_VIDEO_word ? INT32_MIN : sel >= LW_VIDEO_h0 ? INT16_MIN : INT8_MIN;
}
static inline int64_t most(uint32_t sel, bool is_signed) {
    if (sel == LW_VIDEO_word) return is_signed ? INT32_MAX : UINT32_MAX;
    if (sel >= LW_VIDEO_h0) return is_signed ? INT16_MAX : UINT16_MAX;
    return is_signed ? INT8_MAX : UINT8_MAX;
}
/* Whether there are operands for which a sum or difference fits neither a signed nor an unsigned word. */
static inline bool is_wide(operation op, uint32_t how) {
    bool sa = is(how, LW_VIDEO_A_SIGNED), sb = is(how, LW_VIDEO_B_SIGNED);
    uint32_t pa = how & 15, pb = how >> 4 & 15;
    int64_t low = least(pa, sa) + (op == VADD ? least(pb, sb) : -most(pb, sb)),
            high = most(pa, sa) + (op == VADD ? most(pb, sb) : -least(pb, sb));
    return !(low >= 0 && high <= UINT32_MAX) && !(low >= INT32_MIN && high <= INT32_MAX);
}

static inline int64_t saturated(int64_t number, uint32_t how) {
    bool d_signed = is(how, LW_VIDEO_D_SIGNED);
    uint32_t dsel = how >> 8 & 15;
    if (!is(how, LW_VIDEO_SAT)) return number;
    if (dsel == LW_VIDEO_word && d_signed) return CLAMP(number, INT32_MAX, INT32_MIN);
    if (dsel == LW_VIDEO_word) return number < 0 ? 0 : number; /* from above nothing is clamped */
    uint64_t limit = (uint64_t)most(dsel, d_signed);           /* below zero is above all */
    return (int64_t)((uint64_t)number < limit ? (uint64_t)number : limit);
}

static inline bool c_is_less(operation op, int64_t tmp, uint32_t c, uint32_t how) {
    const bool d_signed = is(how, LW_VIDEO_D_SIGNED), sum = op == VADD || op == VSUB;
    const uint32_t word = (uint32_t)tmp;
    if (op == VSET) return signed_bits(c, is(how, LW_VIDEO_A_SIGNED) ? 32 : 33) < tmp;
    if (sum && d_signed) return (int32_t)c < (int32_t)word;
    if (sum && is_wide(op, how)) return word >> 31 || c < word;
    return d_signed ? (int32_t)c < tmp : c < (uint64_t)tmp;
}
static inline bool c_is_more(operation op, int64_t tmp, uint32_t c, uint32_t how) {
    const bool d_signed = is(how, LW_VIDEO_D_SIGNED), sum = op == VADD || op == VSUB;
    const uint32_t word = (uint32_t)tmp;
    if (op == VSET) return signed_bits(c, is(how, LW_VIDEO_A_SIGNED) ? 32 : 33) > tmp;
    if (sum && d_signed) return (int32_t)c > (int32_t)word;
    if (sum && is_wide(op, how)) return !(word >> 31) && c > word;
    return d_signed ? (int32_t)c > tmp : c > (uint64_t)tmp;
}

static inline uint32_t sm_90(operation op, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    const int64_t tmp = saturated(number(op, a, b, how), how);
    const uint32_t dsel = how >> 8 & 15, word = (uint32_t)tmp;
    if (is(how, LW_VIDEO_ADD)) return word + c;
    if (is(how, LW_VIDEO_MIN)) return c_is_less(op, tmp, c, how) ? c : word;
    if (is(how, LW_VIDEO_MAX)) return c_is_more(op, tmp, c, how) ? c : word;
    return optMerge(dsel, dsel == LW_VIDEO_h1 ? word >> 16 : word, c); /* the high half goes into .h1 */
}

/* ---- The spellings that the syntax allows ------------------------------------------------------------------------ */

enum {
    ALL = (1 << 19) - 1,
    RELATIONS = LW_VIDEO_LESS | LW_VIDEO_EQUAL | LW_VIDEO_GREATER,
};

static inline bool spelling(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    (void)a, (void)b, (void)c;
    return (how & ~(uint32_t)(ALL | LW_VIDEO_B_SIGNED)) == 0 && !is(how, LW_VIDEO_WRAP) && selects_all(how);
}
static inline bool spelling_of_set(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    uint32_t relations = how & RELATIONS;
    return relations && relations != RELATIONS && !is(how, LW_VIDEO_SAT) && !is(how, LW_VIDEO_D_SIGNED) &&
           spelling(a, b, c, how & ~(uint32_t)RELATIONS);
}

/* clang-format off */
#define VIDEO(name, op, known) \
    static inline uint32_t name##_manual(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return manual(op, a, b, c, how); \
    } \
    static inline uint32_t name##_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return sm_90(op, a, b, c, how); \
    } \
    PROVE(lw_##name##_manual, name##_manual, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_##name##_manual, known, uint32_t, uint32_t, uint32_t, uint32_t) \
    SPLIT(lw_##name##_manual, VIDEO_SPLIT) \
    PROVE(lw_##name##_sm_90, name##_sm_90, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(lw_##name##_sm_90, known, uint32_t, uint32_t, uint32_t, uint32_t) \
    SPLIT(lw_##name##_sm_90, VIDEO_SPLIT)
/* clang-format on */
#define VIDEO_SPLIT \
    0x70000 /* one proof for each operation with .sat and without; selectors, types and comparisons are free */
VIDEO(vadd, VADD, spelling)
VIDEO(vsub, VSUB, spelling)
VIDEO(vabsdiff, VABSDIFF, spelling)
VIDEO(vmin, VMIN, spelling)
VIDEO(vmax, VMAX, spelling)
VIDEO(vset, VSET, spelling_of_set)
