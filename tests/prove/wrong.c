/* What must be refuted: each is a fault that other implementations have had. A run in which one of these is proved has
 * failed. */
#include <lanewise/lane/logic.h>
#include <lanewise/lane/shift.h>
#include <lanewise/lane/shuffle.h>
#include <lanewise/lane/vector.h>
#include <lanewise/lane/convert_integer.h>
#include <lanewise/lane/video_scalar.h>
#include "run/interp/inner.h"
#include "prove.h"

/* The amount taken modulo the width, as x86 does. */
static inline uint32_t shl_wraps(uint32_t a, uint32_t b) { return a << (b & 31); }
PROVE(lw_shl_b32, shl_wraps, uint32_t, uint32_t, uint32_t)

/* One amount off, among all. */
static inline uint64_t shr_stops(uint64_t a, uint32_t b) { return b > 62 ? 0 : a >> b; }
PROVE(lw_shr_u64, shr_stops, uint64_t, uint64_t, uint32_t)

/* Signed taken as unsigned. */
static inline int32_t shr_logical(int32_t a, uint32_t b) { return b > 31 ? 0 : (int32_t)((uint32_t)a >> b); }
PROVE(lw_shr_s32, shr_logical, int32_t, int32_t, uint32_t)

/* Halves the wrong way round at amount 0. */
static inline uint32_t shf_zero(uint32_t a, uint32_t b, uint32_t c) { return c == 0 ? a : lw_shf_l_wrap(a, b, c); }
PROVE(lw_shf_l_wrap, shf_zero, uint32_t, uint32_t, uint32_t, uint32_t)

/* Table read with a and c exchanged. */
static inline uint32_t lop3_turned(uint32_t a, uint32_t b, uint32_t c, uint8_t lut) { return lw_lop3(c, b, a, lut); }
PROVE(lw_lop3, lop3_turned, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t)

/* Undefined in C for amounts of 32 and more. */
static inline uint32_t shl_undefined(uint32_t a, uint32_t n) { return a << n; }
PROVE(shl_undefined, shl_undefined, uint32_t, uint32_t, uint32_t)

/* Overflow of a signed number, at one value. */
static inline int32_t successor(int32_t a) { return a + 1; }
PROVE(successor, successor, int32_t, int32_t)

/* One segment mask, one clamp. */
static inline uint32_t shfl_once(uint32_t lane, uint32_t b, uint32_t c) {
    return lane == 7 && (b & 31) == 3 && (c & 0x1f1f) == 0x0b0c ? 31 : lw_shfl_idx_source(lane, b, c);
}
PROVE(lw_shfl_idx_source, shfl_once, uint32_t, uint32_t, uint32_t, uint32_t)

/* The other semantics. */
static inline bool merges(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c,
           how == LW_VIDEO_A(LW_VIDEO_word) + LW_VIDEO_B(LW_VIDEO_word) + LW_VIDEO_D(LW_VIDEO_h1);
}
PROVE(lw_vshl_manual, lw_vshl_sm_90, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t)
WHERE(lw_vshl_manual, merges, uint32_t, uint32_t, uint32_t, uint32_t)

static inline bool saturates_byte(uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    return (void)a, (void)b, (void)c,
           how == LW_VIDEO_A(LW_VIDEO_word) + LW_VIDEO_B(LW_VIDEO_word) + LW_VIDEO_D(LW_VIDEO_b0) + LW_VIDEO_SAT;
}
PROVE(lw_vsub_manual, lw_vsub_sm_90, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t)
WHERE(lw_vsub_manual, saturates_byte, uint32_t, uint32_t, uint32_t, uint32_t)

/* A limit that is one off, and one that a number of another sign meets too early. */
static inline int32_t add_sat_off(int32_t a, int32_t b) {
    int64_t sum = (int64_t)a + b;
    return sum > INT32_MAX - 1 ? INT32_MAX - 1 : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}
static inline uint8_t sat_by_bits(int32_t a) { return (uint32_t)a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
PROVE(lw_add_sat_s32, add_sat_off, int32_t, int32_t, int32_t)
PROVE(lw_cvt_sat_u8_s32, sat_by_bits, uint8_t, int32_t)

/* A product of signed words in a word, which C leaves undefined; one in two words whose upper one is of the other kind.
 */
static inline int32_t product(int32_t a, int32_t b) { return a * b; }
static inline int64_t wide_as_unsigned(int32_t a, int32_t b) { return (int64_t)((uint64_t)(uint32_t)a * (uint32_t)b); }
PROVE(product, product, int32_t, int32_t, int32_t)
PROVE(lw_mul_wide_s32, wide_as_unsigned, int64_t, int32_t, int32_t)

/* A count taken as signed: all negative ones would be small. */
static inline int8_t vshr_signed_count(int8_t a, uint8_t n) { return (int8_t)n < 0 ? a : lw_vshr_s8(a, n); }
PROVE(lw_vshr_s8, vshr_signed_count, int8_t, int8_t, uint8_t)

/* Only the low half of a count looked at. */
static inline uint64_t vshr_half_count(uint64_t a, uint64_t n) { return lw_shr_u64(a, (uint32_t)n); }
PROVE(lw_vshr_u64, vshr_half_count, uint64_t, uint64_t, uint64_t)

/* An unsigned element whose top bit is taken for a sign. */
static inline uint16_t vshr_arithmetic(uint16_t a, uint16_t n) { return (uint16_t)lw_vshr_s16((int16_t)a, n); }
PROVE(lw_vshr_u16, vshr_arithmetic, uint16_t, uint16_t, uint16_t)

/* Saturated where the count goes modulo the width, at one count. */
static inline uint8_t vshl_once(uint8_t a, uint8_t n) { return n == 8 ? a : lw_vshl_b8(a, n); }
PROVE(lw_vshl_b8, vshl_once, uint8_t, uint8_t, uint8_t)

/* A carry that forgets the one coming in. */
static inline bool carry_alone(uint8_t a, uint8_t b, bool c) { return (void)c, a + b > 255; }
PROVE(lw_vaddc_carry_b8, carry_alone, bool, uint8_t, uint8_t, bool)

/* Halves added without the carry between them. */
static inline uint64_t add_halves(uint64_t a, uint64_t b) {
    uint32_t low = (uint32_t)a + (uint32_t)b, high = (uint32_t)(a >> 32) + (uint32_t)(b >> 32);
    return (uint64_t)high << 32 | low;
}
PROVE(lw_add_b64, add_halves, uint64_t, uint64_t, uint64_t)

/* One product, among all: the steps of an induction before and after it are wrong. */
static inline uint32_t mul_but_one(uint32_t a, uint32_t b) { return a == 0x10001 && b == 0xffff ? 0 : a * b; }
static inline uint32_t mul_step(uint32_t a, uint32_t b) { return b ? mul_but_one(a, b - 1) + a : 0; }
PROVE(mul_but_one, mul_step, uint32_t, uint32_t, uint32_t)

/* A product of the low halves only. */
static inline uint64_t mul_halves(uint64_t a, uint64_t b) { return (uint64_t)(uint32_t)a * (uint32_t)b; }
PROVE(lw_mul_lo_b64, mul_halves, uint64_t, uint64_t, uint64_t)

/* The least value saturated instead of left as it is. */
static inline int64_t abs_saturates(int64_t a) { return a == INT64_MIN ? INT64_MAX : lw_abs_s64(a); }
PROVE(lw_abs_s64, abs_saturates, int64_t, int64_t)

/* Order of the other kind, and of less instead of less or equal. */
static inline uint16_t min_as_signed(uint16_t a, uint16_t b) { return (int16_t)a < (int16_t)b ? a : b; }
static inline bool le_without_equal(int64_t a, int64_t b) { return a < b; }
PROVE(lw_min_u16, min_as_signed, uint16_t, uint16_t, uint16_t)
PROVE(lw_setp_le_s64, le_without_equal, bool, int64_t, int64_t)

/* Zeros where the sign belongs. */
static inline uint64_t sext_with_zeros(int32_t a) { return (uint32_t)a; }
PROVE(lw_sext_b64_b32, sext_with_zeros, uint64_t, int32_t)
