/* lanes.h: what steps of lane functions are made of.
 *
 * Each computes all lanes unmasked, in a loop that the compiler turns into vector code, straight into the result's slot
 * where every lane takes part and into scratch otherwise; then one shared commit blends the active lanes in. Testing
 * the mask inside the loop costs three to ten times as much. */
#ifndef LW_LANES_H
#define LW_LANES_H

#include "run/interp/level/level.h"

/* Where an operand's elements are: a register slot, or for predicates one byte a lane spread out from its bits. */
#define SOURCE(T, at, room) SOURCE_##T(T, at, room)
#define PLAIN(T, at, room)  const slot_##T *room = LW_SLOT(gang, slot_##T, at)
#define SOURCE_u8           PLAIN
#define SOURCE_s8           PLAIN
#define SOURCE_u16          PLAIN
#define SOURCE_s16          PLAIN
#define SOURCE_u32          PLAIN
#define SOURCE_s32          PLAIN
#define SOURCE_u64          PLAIN
#define SOURCE_s64          PLAIN
#define SOURCE_f32          PLAIN
#define SOURCE_f64          PLAIN
#define SOURCE_p(T, at, room) \
    _Alignas(64) uint8_t room[LW_GANG_LANES]; \
    spread(room, lw_get_mask(gang, at))

/* A constant operand, from its bits. */
#define CONSTANT(T, bits)  CONSTANT_##T(bits)
#define CONSTANT_u8(bits)  (uint8_t)(bits)
#define CONSTANT_s8(bits)  (int8_t)(bits)
#define CONSTANT_u16(bits) (uint16_t)(bits)
#define CONSTANT_s16(bits) (int16_t)(bits)
#define CONSTANT_u32(bits) (uint32_t)(bits)
#define CONSTANT_s32(bits) (int32_t)(bits)
#define CONSTANT_u64(bits) (uint64_t)(bits)
#define CONSTANT_s64(bits) (int64_t)(bits)
#define CONSTANT_f32(bits) float_of((uint32_t)(bits))
#define CONSTANT_f64(bits) double_of(bits)
#define CONSTANT_p(bits)   ((bits) != 0)

static inline float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline double double_of(uint64_t bits) {
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline void spread(uint8_t to[LW_GANG_LANES], lw_mask mask) {
    for (int i = 0; i < LW_GANG_LANES / 8; i++) {
        uint64_t bits = (uint8_t)(mask >> 8 * i) * 0x0101010101010101ull & 0x8040201008040201ull;
        bits = (bits + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
        memcpy(to + 8 * i, &bits, 8);
    }
}

static inline bool stores_all(const lw_gang *gang, const lw_op *op) {
    return gang->full | ((op->flags & gang->whole) != 0);
}

/* Where the result goes. */
#define RESULT(T) RESULT_##T(T)
#define DIRECT(T, bits) \
    if (LW_UNLIKELY(!stores_all(gang, op))) return LW_AT_LEVEL(lw_masked_##bits)(gang, op); \
    slot_##T *to = LW_SLOT(gang, slot_##T, op->d)
#define RESULT_u8(T)  DIRECT(T, 16)
#define RESULT_s8     RESULT_u8
#define RESULT_u16    RESULT_u8
#define RESULT_s16    RESULT_u8
#define RESULT_u32(T) DIRECT(T, 32)
#define RESULT_s32    RESULT_u32
#define RESULT_f32    RESULT_u32
#define RESULT_u64(T) DIRECT(T, 64)
#define RESULT_s64    RESULT_u64
#define RESULT_f64    RESULT_u64
#define RESULT_p(T) \
    union { \
        lw_mask mask; \
        uint32_t warps[LW_GANG_LANES / LW_WARP_LANES]; \
    } result = {0}

/* The end of a step: only predicates are not in place yet. */
#define END(T)  END_##T
#define END_u8  return op + 1
#define END_s8  END_u8
#define END_u16 END_u8
#define END_s16 END_u8
#define END_u32 END_u8
#define END_s32 END_u8
#define END_u64 END_u8
#define END_s64 END_u8
#define END_f32 END_u8
#define END_f64 END_u8
#define END_p   return put_predicate(gang, op, op->d, result.mask)

/* Stores a comparison's result and, if it decides the branch behind it, goes on there. */
static inline const lw_op *put_predicate(lw_gang *gang, const lw_op *op, uint32_t at, lw_mask bits) {
    lw_put_mask(gang, at, bits);
    return op->flags & LW_OP_BRANCHES ? lw_step_bra_if(gang, op + 1) : op + 1;
}

#define STORE(expression)   EACH(i) to[i] = expression
#define BODY(D, expression) BODY_##D(expression)
#define BODY_u8             STORE
#define BODY_s8             STORE
#define BODY_u16            STORE
#define BODY_s16            STORE
#define BODY_u32            STORE
#define BODY_s32            STORE
#define BODY_u64            STORE
#define BODY_s64            STORE
#define BODY_f32            STORE
#define BODY_f64            STORE

#define BODY_p LW_PREDICATE_BODY

#define STEP_NAME(name, variant) LW_AT_LEVEL(lw_lane_##name##_##variant)
#define STEP_HEAD(name, variant) const lw_op *STEP_NAME(name, variant)(lw_gang * gang, const lw_op *op)

/* Operands in registers, the last one a constant of this name; and the result. */
#define OPERANDS3_RRI(D, A, B, C, last) \
    SOURCE(A, op->a, a); \
    SOURCE(B, op->b, b); \
    const c_##C last = CONSTANT(C, op->imm); \
    RESULT(D)
#define OPERANDS4_RRI(D, A, B, C, E, last) \
    SOURCE(A, op->a, a); \
    SOURCE(B, op->b, b); \
    SOURCE(C, op->c, c); \
    const c_##E last = CONSTANT(E, op->imm); \
    RESULT(D)

#define LOOP1(name, D, A) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i]))); \
        END(D); \
    }

#define LOOP2_RRR(name, D, A, B) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i]))); \
        END(D); \
    }
#define LOOP2_RRI(name, D, A, B) \
    STEP_HEAD(name, rri) { \
        SOURCE(A, op->a, a); \
        const c_##B b = CONSTANT(B, op->imm); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b))); \
        END(D); \
    }
#define LOOP2_RIR(name, D, A, B) \
    STEP_HEAD(name, rir) { \
        const c_##A a = CONSTANT(A, op->imm); \
        SOURCE(B, op->b, b); \
        RESULT(D); \
        BODY(D, (lw_##name(a, (c_##B)b[i]))); \
        END(D); \
    }
#define LOOP2(name, D, A, B, takes) LOOP2_RRR(name, D, A, B) TAKES2_##takes(name, D, A, B)
#define TAKES2_r(name, D, A, B)
#define TAKES2_i                   LOOP2_RRI
#define TAKES2_i_ri(name, D, A, B) LOOP2_RRI(name, D, A, B) LOOP2_RIR(name, D, A, B)

/* Of two constants the first is in imm's low half where both are 32 bits (RII: b low, c high). */
#define LOOP3_RRR(name, D, A, B, C) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        SOURCE(C, op->c, c); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]))); \
        END(D); \
    }
/* A loop for each rounding that is known and nothing else, which spares most of what finds it out, and one for all. */
#define BY_ROUNDING(D, how, function, ...) \
    switch (how) { \
    case LW_FLOAT_RZ: BODY(D, (function(__VA_ARGS__, LW_FLOAT_RZ))); break; \
    case LW_FLOAT_RM: BODY(D, (function(__VA_ARGS__, LW_FLOAT_RM))); break; \
    case LW_FLOAT_RP: BODY(D, (function(__VA_ARGS__, LW_FLOAT_RP))); break; \
    default: BODY(D, (function(__VA_ARGS__, how))); \
    }
#define LOOP3_ROUNDED(name, D, A, B, C) \
    STEP_HEAD(name, rri) { \
        OPERANDS3_RRI(D, A, B, C, c); \
        BY_ROUNDING(D, c, lw_##name, (c_##A)a[i], (c_##B)b[i]); \
        END(D); \
    }
#define LOOP3_RRI(name, D, A, B, C) \
    STEP_HEAD(name, rri) { \
        OPERANDS3_RRI(D, A, B, C, c); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], c))); \
        END(D); \
    }
#define LOOP3_RIR(name, D, A, B, C) \
    STEP_HEAD(name, rir) { \
        SOURCE(A, op->a, a); \
        const c_##B b = CONSTANT(B, op->imm); \
        SOURCE(C, op->c, c); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b, (c_##C)c[i]))); \
        END(D); \
    }
#define LOOP3_RII(name, D, A, B, C) \
    STEP_HEAD(name, rii) { \
        SOURCE(A, op->a, a); \
        const c_##B b = CONSTANT(B, (uint32_t)op->imm); \
        const c_##C c = CONSTANT(C, op->imm >> 32); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], b, c))); \
        END(D); \
    }
#define LOOP3(name, D, A, B, C, takes) LOOP3_RRR(name, D, A, B, C) TAKES3_##takes(name, D, A, B, C)
#define TAKES3_r(name, D, A, B, C)
#define TAKES3_i                      LOOP3_RRI
#define TAKES3_ri                     LOOP3_RIR
#define TAKES3_ii                     LOOP3_RII
#define TAKES3_i_ri(name, D, A, B, C) LOOP3_RRI(name, D, A, B, C) LOOP3_RIR(name, D, A, B, C)
#define TAKES3_i_ii(name, D, A, B, C) LOOP3_RRI(name, D, A, B, C) LOOP3_RII(name, D, A, B, C)
/* clang-format off */
#define TAKES3_i_ri_ii(name, D, A, B, C) \
    LOOP3_RRI(name, D, A, B, C) LOOP3_RIR(name, D, A, B, C) LOOP3_RII(name, D, A, B, C)
/* clang-format on */

/* Four operands: all registers, or the last two constants (bfi). */
#define LOOP4_RRR(name, D, A, B, C, E) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        SOURCE(C, op->c, c); \
        SOURCE(E, op->e, e); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], (c_##E)e[i]))); \
        END(D); \
    }
#define LOOP4_RRI(name, D, A, B, C, E) \
    STEP_HEAD(name, rri) { \
        OPERANDS4_RRI(D, A, B, C, E, e); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], e))); \
        END(D); \
    }
/* The cheap loop where no lane of the gang has rare operands, those that do not execute among them. */
#define LOOP4_RARE(name, D, A, B, C, E) \
    STEP_HEAD(name, rri) { \
        OPERANDS4_RRI(D, A, B, C, E, e); \
        uint32_t rare = 0; \
        EACH(i) rare |= lw_rare_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]) ? ~(uint32_t)0 : 0; \
        if (LW_UNLIKELY(rare)) { \
            BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i], e))); \
        } else { \
            BY_ROUNDING(D, e, lw_usual_##name, (c_##A)a[i], (c_##B)b[i], (c_##C)c[i]); \
        } \
        END(D); \
    }
#define LOOP3_RARE(name, D, A, B, C) \
    STEP_HEAD(name, rrr) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        SOURCE(C, op->c, c); \
        RESULT(D); \
        uint32_t rare = 0; \
        EACH(i) rare |= lw_rare_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]) ? ~(uint32_t)0 : 0; \
        if (LW_LIKELY(!rare)) { \
            BODY(D, (lw_usual_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]))); \
        } else { \
            BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], (c_##C)c[i]))); \
        } \
        END(D); \
    }
#define LOOP4_RII(name, D, A, B, C, E) \
    STEP_HEAD(name, rii) { \
        SOURCE(A, op->a, a); \
        SOURCE(B, op->b, b); \
        const c_##C c = CONSTANT(C, (uint32_t)op->imm); \
        const c_##E e = CONSTANT(E, op->imm >> 32); \
        RESULT(D); \
        BODY(D, (lw_##name((c_##A)a[i], (c_##B)b[i], c, e))); \
        END(D); \
    }
#define LOOP4(name, D, A, B, C, E, takes) LOOP4_RRR(name, D, A, B, C, E) TAKES4_##takes(name, D, A, B, C, E)
#define TAKES4_r(name, D, A, B, C, E)
#define TAKES4_ii LOOP4_RII

#endif
