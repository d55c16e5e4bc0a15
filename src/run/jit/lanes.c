/* lanes.c: the lane functions for the compiler, which takes them as LLVM bitcode: each for a chunk of lanes at once and
 * for one.
 *
 * clang makes vector code of the loops when Lanewise is built, at each CPU level; compiled programs get it inlined.
 * Arguments are arrays of slot elements, as the interpreter has them: 8-bit values in 16 bits, a byte for a predicate.
 * What says how is one number for all, known to whoever calls. Where the interpreter's steps at a level have something
 * better than a loop over the function, they and these have it from the same place. */
#include "run/interp/level/lanes.h"

/* One vector operation for all of them: the build says that these loops are unrolled only behind it. */
#define CHUNK _Pragma("clang loop vectorize(assume_safety) vectorize_width(LANES)") for (int i = 0; i < LANES; i++)

/* ---- One lane ---------------------------------------------------------------------------------------------------- */

#define ALONE1(name, D, A) \
    slot_##D lws_##name(slot_##A a) { return lw_##name((c_##A)a); }
#define ALONE2(name, D, A, B) \
    slot_##D lws_##name(slot_##A a, slot_##B b) { return lw_##name((c_##A)a, (c_##B)b); }
#define ALONE3(name, D, A, B, C) \
    slot_##D lws_##name(slot_##A a, slot_##B b, slot_##C c) { return lw_##name((c_##A)a, (c_##B)b, (c_##C)c); }
#define ALONE4(name, D, A, B, C, E) \
    slot_##D lws_##name(slot_##A a, slot_##B b, slot_##C c, slot_##E e) { \
        return lw_##name((c_##A)a, (c_##B)b, (c_##C)c, (c_##E)e); \
    }

/* ---- A chunk of them --------------------------------------------------------------------------------------------- */

#define HEAD1(name, D, A) void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a)
#define HEAD2(name, D, A, B) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b)
#define HEAD3(name, D, A, B, C) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b, \
                    const slot_##C *restrict c)
#define HEAD4(name, D, A, B, C, E) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b, \
                    const slot_##C *restrict c, const slot_##E *restrict e)

#define LANE1(name, D, A) \
    HEAD1(name, D, A) { CHUNK d[i] = lw_##name((c_##A)a[i]); } \
    ALONE1(name, D, A)
#define LANE2(name, D, A, B, takes) \
    HEAD2(name, D, A, B) { CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i]); } \
    ALONE2(name, D, A, B)
#define LANE3(name, D, A, B, C, takes) \
    HEAD3(name, D, A, B, C) { CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); } \
    ALONE3(name, D, A, B, C)
#define LANE4(name, D, A, B, C, E, takes) \
    HEAD4(name, D, A, B, C, E) { CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], (c_##E)e[i]); } \
    ALONE4(name, D, A, B, C, E)

/* What is known in the caller makes much less of them. */
#define ALWAYS_INLINED __attribute__((always_inline))
#define HOW2(name, D, A, B) \
    ALWAYS_INLINED HEAD2(name, D, A, B) { \
        const c_##B how = (c_##B)b[0]; \
        CHUNK d[i] = lw_##name((c_##A)a[i], how); \
    } \
    ALONE2(name, D, A, B)
#define HOW3(name, D, A, B, C) \
    ALWAYS_INLINED HEAD3(name, D, A, B, C) { \
        const c_##C how = (c_##C)c[0]; \
        CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], how); \
    } \
    ALONE3(name, D, A, B, C)
#define HOW4(name, D, A, B, C, E) \
    ALWAYS_INLINED HEAD4(name, D, A, B, C, E) { \
        const c_##E how = (c_##E)e[0]; \
        CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], how); \
    } \
    ALONE4(name, D, A, B, C, E)

/* ---- With a cheaper way for usual operands ----------------------------------------------------------------------- */

/* Nobody is told which way is likely: the other would be left a loop of calls. */
static inline uint32_t any_of(const uint32_t *is) {
    uint32_t any = 0;
    CHUNK any |= is[i];
    return any;
}

#define RARE3(name, D, A, B, C) \
    HEAD3(name, D, A, B, C) { \
        uint32_t rare[LANES]; \
        CHUNK rare[i] = lw_rare_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
        if (any_of(rare)) { \
            CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
        } else { \
            CHUNK d[i] = lw_usual_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
        } \
    } \
    ALONE3(name, D, A, B, C)
#define RARE4(name, D, A, B, C, E) \
    ALWAYS_INLINED HEAD4(name, D, A, B, C, E) { \
        const c_##E how = (c_##E)e[0]; \
        uint32_t rare[LANES]; \
        CHUNK rare[i] = lw_rare_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
        if (any_of(rare)) { \
            CHUNK d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], how); \
        } else { \
            CHUNK d[i] = lw_usual_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], how); \
        } \
    } \
    ALONE4(name, D, A, B, C, E)

/* ---- Halves, where the level has instructions for them ----------------------------------------------------------- */

#ifdef LW_HALF_LOOP
_Static_assert(LANES == LW_HALVES, "a chunk of numbers is a vector of them as f32; of words with two it is two");
#define HALVES(does, from_c) \
    const uint16_t *x = (const uint16_t *)a, *y = (const uint16_t *)b, *z = (const uint16_t *)(from_c); \
    lw_halves_##does((uint16_t *)d, x, y, z, 0, LANES); \
    if (sizeof *d > sizeof *x) lw_halves_##does((uint16_t *)d, x, y, z, LANES, 2 * LANES)
#define HALF2(name, D, A, B, takes, does) \
    HEAD2(name, D, A, B) { HALVES(does, b); } \
    ALONE2(name, D, A, B)
#define HALF3(name, D, A, B, C, takes, does) \
    HEAD3(name, D, A, B, C) { HALVES(does, c); } \
    ALONE3(name, D, A, B, C)
#endif

/* ---- Sums and products, where the level's instructions say how they round ---------------------------------------- */

#ifdef LW_ROUND
#define ROUNDED_CHUNK(name, D, how) \
    c_##D near[LANES]; \
    LW_ROUND(name, D, how, 0, LANES) \
    CHUNK d[i] = LW_ROUNDED(name)
#define ROUNDED3(name, D, A, B, C) \
    ALWAYS_INLINED HEAD3(name, D, A, B, C) { \
        const c_##C how = (c_##C)c[0]; \
        ROUNDED_CHUNK(name, D, how); \
    } \
    ALONE3(name, D, A, B, C)
#define ROUNDED4(name, D, A, B, C, E) \
    ALWAYS_INLINED HEAD4(name, D, A, B, C, E) { \
        const c_##E how = (c_##E)e[0]; \
        ROUNDED_CHUNK(name, D, how); \
    } \
    ALONE4(name, D, A, B, C, E)
#endif

/* ---- Funnel shifts, where the level's shifts take any amount ----------------------------------------------------- */

#ifdef LW_FUNNEL
_Static_assert(LANES == 16, "a chunk of words is a vector");
#define FUNNEL3(name, D, A, B, C, takes, how, mode) \
    HEAD3(name, D, A, B, C) LW_FUNNEL(d, 0, how, mode) ALONE3(name, D, A, B, C)
#endif

#define LW_LANE_INNER
#include "lane.def"
