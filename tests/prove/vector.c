/* Elements of PTO vector registers. vshr after its page: signed types replicate the sign bit, unsigned ones take in
 * zeros, bits shifted out are discarded, and the count is unsigned. The page leaves counts of the width or more to the
 * target: Lanewise goes on moving by one bit (saturate), or counts modulo the width. vshl is its counterpart. The other
 * operations are as isa/pto/ has them. */
#include <lanewise/lane/integer.h>
#include <lanewise/lane/shift.h>
#include <lanewise/lane/vector.h>
#include "places.h"

/* ---- vshr, vshl ------------------------------------------------------------------------------------------ */

#define VSHR(name, lane, T, U, N, is_signed) \
    static inline T vshr_##name(T lhs, U rhs) { \
        U bits = (U)lhs, sign = is_signed ? bits & (U)((U)1 << (N - 1)) : 0; \
        FOR_EACH(moved, N) { \
            if (moved < rhs) bits = (U)((U)(bits >> 1) | sign); \
        } \
        return (T)bits; \
    } \
    static inline T vshr_modulo_##name(T lhs, U rhs) { return vshr_##name(lhs, (U)(rhs % N)); } \
    static inline T lane_modulo_##name(T lhs, U rhs) { return lane(lhs, (U)(rhs & (N - 1))); } \
    PROVE(lane, vshr_##name, T, T, U) \
    PROVE(lane_modulo_##name, vshr_modulo_##name, T, T, U)
VSHR(i8, lw_vshr_s8, int8_t, uint8_t, 8, true)
VSHR(u8, lw_vshr_u8, uint8_t, uint8_t, 8, false)
VSHR(i16, lw_vshr_s16, int16_t, uint16_t, 16, true)
VSHR(u16, lw_vshr_u16, uint16_t, uint16_t, 16, false)
VSHR(i32, lw_shr_s32, int32_t, uint32_t, 32, true)
VSHR(u32, lw_shr_u32, uint32_t, uint32_t, 32, false)
VSHR(i64, lw_vshr_s64, int64_t, uint64_t, 64, true)
VSHR(u64, lw_vshr_u64, uint64_t, uint64_t, 64, false)

#define VSHL(name, lane, U, N) \
    static inline U vshl_##name(U lhs, U rhs) { \
        FOR_EACH(moved, N) { \
            if (moved < rhs) lhs = (U)((lhs & (U)((U) ~(U)0 >> 1)) << 1); \
        } \
        return lhs; \
    } \
    static inline U vshl_modulo_##name(U lhs, U rhs) { return vshl_##name(lhs, (U)(rhs % N)); } \
    static inline U lane_modulo_##name(U lhs, U rhs) { return lane(lhs, (U)(rhs & (N - 1))); } \
    PROVE(lane, vshl_##name, U, U, U) \
    PROVE(lane_modulo_##name, vshl_modulo_##name, U, U, U)
VSHL(b8, lw_vshl_b8, uint8_t, 8)
VSHL(b16, lw_vshl_b16, uint16_t, 16)
VSHL(b32, lw_shl_b32, uint32_t, 32)
VSHL(b64, lw_vshl_b64, uint64_t, 64)

/* ---- Order ------------------------------------------------------------------------------------------------- */

#define ORDER(name, T, is_signed) \
    static inline bool lt_##name(T a, T b) { return less_b8((uint8_t)a, (uint8_t)b, is_signed); } \
    static inline bool le_##name(T a, T b) { return !less_b8((uint8_t)b, (uint8_t)a, is_signed); } \
    static inline T min_##name(T a, T b) { return lt_##name(b, a) ? b : a; } \
    static inline T max_##name(T a, T b) { return lt_##name(a, b) ? b : a; } \
    PROVE(lw_vcmp_lt_##name, lt_##name, bool, T, T) \
    PROVE(lw_vcmp_le_##name, le_##name, bool, T, T) \
    PROVE(lw_vmin_##name, min_##name, T, T, T) \
    PROVE(lw_vmax_##name, max_##name, T, T, T)
ORDER(s8, int8_t, true)
ORDER(u8, uint8_t, false)
PROVE(lw_vcmp_eq_b8, equal_b8, bool, uint8_t, uint8_t)

/* ---- Sums ---------------------------------------------------------------------------------------------------- */

PROVE(lw_vaddc_b16, sum_b16, uint16_t, uint16_t, uint16_t, bool)
PROVE(lw_vaddc_carry_b8, carry_b8, bool, uint8_t, uint8_t, bool)
PROVE(lw_vaddc_carry_b16, carry_b16, bool, uint16_t, uint16_t, bool)
PROVE(lw_addc_b32, sum_b32, uint32_t, uint32_t, uint32_t, bool)
PROVE(lw_addc_carry_b32, carry_b32, bool, uint32_t, uint32_t, bool)
PROVE(lw_addc_b64, sum_b64, uint64_t, uint64_t, uint64_t, bool)
PROVE(lw_addc_carry_b64, carry_b64, bool, uint64_t, uint64_t, bool)

/* 8-bit elements lie in 16-bit slots, and what is above them is anything. */
static inline uint8_t sum_low(uint16_t a, uint16_t b, bool c) { return (uint8_t)lw_vaddc_b16(a, b, c); }
static inline uint8_t add_low(uint16_t a, uint16_t b) { return (uint8_t)lw_add_b16(a, b); }
static inline uint8_t sub_low(uint16_t a, uint16_t b) { return (uint8_t)lw_sub_b16(a, b); }
static inline uint8_t mul_low(uint16_t a, uint16_t b) { return (uint8_t)lw_mul_lo_b16(a, b); }
static inline uint8_t neg_low(uint16_t a) { return (uint8_t)lw_neg_s16((int16_t)a); }
static inline uint8_t sum8_of(uint16_t a, uint16_t b, bool c) { return sum_b8((uint8_t)a, (uint8_t)b, c); }
static inline uint8_t add8(uint16_t a, uint16_t b) { return sum_b8((uint8_t)a, (uint8_t)b, 0); }
static inline uint8_t sub8(uint16_t a, uint16_t b) { return difference_b8((uint8_t)a, (uint8_t)b); }
static inline uint8_t neg8(uint16_t a) { return difference_b8(0, (uint8_t)a); }
static inline uint8_t mul8(uint16_t a, uint16_t b) {
    uint8_t product = 0;
    FOR_EACH(place, 8) {
        if (b >> place & 1) product = sum_b8(product, (uint8_t)(a << place), 0);
    }
    return product;
}
PROVE(sum_low, sum8_of, uint8_t, uint16_t, uint16_t, bool)
PROVE(add_low, add8, uint8_t, uint16_t, uint16_t)
PROVE(sub_low, sub8, uint8_t, uint16_t, uint16_t)
PROVE(mul_low, mul8, uint8_t, uint16_t, uint16_t)
PROVE(neg_low, neg8, uint8_t, uint16_t)

static inline int8_t abs8(int8_t a) { return a < 0 ? (int8_t)neg8((uint8_t)a) : a; }
PROVE(lw_vabs_s8, abs8, int8_t, int8_t)
