/* level.h: what all files under level/ share. They are compiled once for each CPU level, with LW_LEVEL its name (v4 v3
 * portable …) and its properties, which are its row of run/levels.def: LW_VECTOR_BYTES, LW_MASK_REGISTERS (0 or 1) and
 * LW_ISA_HEADER, the header of run/interp/isa/ that has what differs between instruction sets, behind one interface:
 * blending by mask, bytes into mask bits, steps that a vector unit has instructions for. Functions of these headers are
 * static, so the levels never meet. */
#ifndef LW_LEVEL_H
#define LW_LEVEL_H

#include "run/interp/address.h"
#include "run/interp/inner.h"
#include "run/interp/level/steps.h"
#include "run/interp/types.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* where sanitizers or -O0 forbid what is only wished for */
#define LW_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LW_NO_OVERLAP _Pragma("GCC ivdep")
#endif

/* The loop over lanes: blocks of one warp, so that the inner trip count is known. An operand may share the result's
 * slot: then it is the very same element, which `ivdep` lets the compiler rely on. */
#define EACH(i) \
    for (size_t base = gang->begin, lanes = gang->lanes; base < lanes; base += LW_WARP_LANES) \
    LW_NO_OVERLAP for (size_t i = base, k = 0; k < LW_WARP_LANES; i++, k++)

typedef uint64_t lw_vector __attribute__((vector_size(LW_VECTOR_BYTES)));

/* Operands b and c of a shuffle: from registers, or one constant for all lanes. */
typedef struct lw_controls {
    const uint32_t *b, *c; /* registers of lane 0 of the gang, or NULL */
    uint32_t b_constant, c_constant;
} lw_controls;

/* ---- to[i] = bit i of mask ? a[i] : b[i], for the lanes that loops run over ------------------------------- */

#include LW_ISA_HEADER

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

#endif
