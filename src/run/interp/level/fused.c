/* fused.c: steps of several instructions in one, and selections; compiled once for each CPU level. */
#include "run/interp/level/lanes.h"

/* The step of add-rotate-xor ciphers and hashes: d = a + b; e = (c ^ d) rotated left by imm. */
const lw_op *LW_AT_LEVEL(lw_step_add_xor_rotl)(lw_gang *gang, const lw_op *op) {
    const uint32_t n = (uint32_t)op->imm;
    SOURCE(u32, op->a, a);
    SOURCE(u32, op->b, b);
    SOURCE(u32, op->c, c);
    if (LW_LIKELY(stores_all(gang, op))) {
        lw_add_xor_rotl(gang, a, b, c, n, LW_SLOT(gang, uint32_t, op->d), LW_SLOT(gang, uint32_t, op->e));
        return op + 1;
    }
    uint32_t *sum = (uint32_t *)gang->scratch, *turned = sum + LW_GANG_LANES;
    EACH(i) {
        sum[i] = a[i] + b[i];
        turned[i] = lw_rotl_b32(c[i] ^ sum[i], n);
    }
    lw_commit_32(gang, op->d, sum);
    lw_commit_32(gang, op->e, turned);
    return op + 1;
}

/* The end of most loops: d = a + imm; e = d compared with b in the way that c says. */
const lw_op *LW_AT_LEVEL(lw_step_add_setp)(lw_gang *gang, const lw_op *op) {
    SOURCE(u32, op->a, a);
    SOURCE(u32, op->b, b);
    return put_predicate(gang, op, op->e, lw_add_setp(gang, op, a, b, stores_all(gang, op)));
}

const lw_op *LW_AT_LEVEL(lw_step_add4)(lw_gang *gang, const lw_op *op) {
    const uint32_t more = (uint32_t)op->imm;
    SOURCE(u32, op->a, a);
    SOURCE(u32, op->b, b);
    SOURCE(u32, op->c, c);
    RESULT(u32);
    if (op->e == LW_NO_SLOT) {
        EACH(i) to[i] = a[i] + b[i] + c[i] + more;
    } else {
        SOURCE(u32, op->e, e);
        EACH(i) to[i] = a[i] + b[i] + (c[i] + e[i]) + more;
    }
    return op + 1;
}

/* d = predicate c ? a : b. */
#define SELECT(bits) \
    const lw_op *LW_AT_LEVEL(lw_step_select_##bits)(lw_gang * gang, const lw_op *op) { \
        SOURCE(u##bits, op->a, a); \
        SOURCE(u##bits, op->b, b); \
        RESULT(u##bits); \
        lw_blend_##bits(gang, to, a, b, LW_SLOT(gang, const lw_mask, op->c)); \
        return op + 1; \
    }
SELECT(16)
SELECT(32)
SELECT(64)
