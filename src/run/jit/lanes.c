/* lanes.c: the lane functions for the compiler, which takes them as LLVM bitcode: each for a chunk of lanes at once and
 * for one.
 *
 * clang makes vector code of the loops when Lanewise is built, at each CPU level; compiled programs get it inlined.
 * Arguments are arrays of slot elements, as the interpreter has them: 8-bit values in 16 bits, a byte for a
 * predicate. */
#include "run/interp/inner.h"
#include "run/interp/types.h"

#define EACH for (int i = 0; i < LANES; i++)

#define BOTH1(name, D, A) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a) { EACH d[i] = lw_##name((c_##A)a[i]); } \
    slot_##D lws_##name(slot_##A a) { return lw_##name((c_##A)a); }
#define BOTH2(name, D, A, B, takes) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b) { \
        EACH d[i] = lw_##name((c_##A)a[i], (c_##B)b[i]); \
    } \
    slot_##D lws_##name(slot_##A a, slot_##B b) { return lw_##name((c_##A)a, (c_##B)b); }
#define BOTH3(name, D, A, B, C, takes) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b, \
                    const slot_##C *restrict c) { \
        EACH d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
    } \
    slot_##D lws_##name(slot_##A a, slot_##B b, slot_##C c) { return lw_##name((c_##A)a, (c_##B)b, (c_##C)c); }
#define BOTH4(name, D, A, B, C, E, takes) \
    void lwj_##name(slot_##D *restrict d, const slot_##A *restrict a, const slot_##B *restrict b, \
                    const slot_##C *restrict c, const slot_##E *restrict e) { \
        EACH d[i] = lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], (c_##E)e[i]); \
    } \
    slot_##D lws_##name(slot_##A a, slot_##B b, slot_##C c, slot_##E e) { \
        return lw_##name((c_##A)a, (c_##B)b, (c_##C)c, (c_##E)e); \
    }

#define LANE1 BOTH1
#define LANE2 BOTH2
#define LANE3 BOTH3
#define LANE4 BOTH4
#define LW_LANE_INNER
#include "lane.def"
