/* generic.h: what steps need of an instruction set, in plain C with vector extensions. It stands behind the header of a set that has some of
 * it in instructions: that header defines a macro of the same name for each, and this one the others. */
#ifndef LW_ISA_GENERIC_H
#define LW_ISA_GENERIC_H

/* ---- to[i] = bit i of mask ? a[i] : b[i], for the lanes that loops run over ------------------------------- */

/* All ones or zero for each lane, from the mask's bits: a shape that compilers vectorise at every level. */
#ifndef lw_blend
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

/* ---- Mask bits of 128 bytes that are 0 or 1 -------------------------------------------------------------- */

#ifndef lw_bytes_to_mask
static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
    lw_mask mask = 0;
    for (int i = 0; i < LW_GANG_LANES / 8; i++) {
        uint64_t bytes;
        memcpy(&bytes, from + 8 * i, 8);
        mask |= (lw_mask)(uint8_t)(bytes * 0x0102040810204080ull >> 56) << 8 * i;
    }
    return mask;
}
#endif

/* ---- Bodies and steps of lane functions, made of the loops in level/lanes.h ------------------------------- */

/* Comparisons: one bit a lane, by way of whatever turns into bits cheapest. */
#ifndef LW_PREDICATE_BODY
#define LW_PREDICATE_BODY(expression) \
    uint8_t *to = (uint8_t *)gang->scratch; \
    EACH(i) to[i] = expression; \
    result.mask = lw_bytes_to_mask(to)
#endif

#ifndef LW_COMPARE_STEPS
#define LW_COMPARE_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_SHIFT_STEPS
#define LW_SHIFT_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_COUNT_STEPS
#define LW_COUNT_STEPS(name, D, A, B, takes, how) LOOP2(name, D, A, B, takes)
#endif
#ifndef LW_FUNNEL_STEPS
#define LW_FUNNEL_STEPS(name, D, A, B, C, takes, how, mode) LOOP3(name, D, A, B, C, takes)
#endif
#ifndef LW_ROTATE_STEPS
#define LW_ROTATE_STEPS2 LOOP2_RRI
#define LW_ROTATE_STEPS3 LOOP3_RRI
#endif
#ifndef LW_LOP3_LOOP
#define LW_LOP3_LOOP(lut) EACH(i) to[i] = lw_lop3(a[i], b[i], c[i], lut)
#endif

/* ---- Fused operations, for every lane --------------------------------------------------------------------- */

/* sum = a + b; turned = (c ^ sum) rotated left by n. */
#ifndef lw_add_xor_rotl
static inline void lw_add_xor_rotl(const lw_gang *gang, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t n, uint32_t *sum,
                                   uint32_t *turned) {
    EACH(i) {
        const uint32_t s = a[i] + b[i], t = lw_rotl_b32(c[i] ^ s, n);
        sum[i] = s;
        turned[i] = t;
    }
}
#endif

/* d = a + imm, to every lane or to those that execute; which of them compare with b in the way that op->c says. */
#ifndef lw_add_setp
LW_INLINE lw_mask lw_add_setp(lw_gang *gang, const lw_op *op, const uint32_t *a, const uint32_t *b, bool whole) {
    const uint32_t more = (uint32_t)op->imm;
    uint32_t *sum = (uint32_t *)gang->scratch, *slot = LW_SLOT(gang, uint32_t, op->d);
    uint8_t *to = (uint8_t *)(sum + LW_GANG_LANES);
    EACH(i) sum[i] = a[i] + more;
    switch (op->c) {
#define COMPARE_SUMS(name, T, how) \
    case LW_LANE_setp_##name: EACH(i) to[i] = lw_setp_##name((c_##T)sum[i], (c_##T)b[i]); break;
    LW_ADD_SETP(COMPARE_SUMS)
#undef COMPARE_SUMS
    default: lw_bug("comparison %u of a sum", op->c);
    }
    const lw_mask bits = lw_bytes_to_mask(to);
    if (whole) EACH(i) slot[i] = sum[i];
    else lw_blend_32(gang, slot, sum, slot, &gang->mask);
    return bits;
}
#endif

#endif
