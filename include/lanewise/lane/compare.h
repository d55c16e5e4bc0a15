/* Comparisons of two lanes; each gives a predicate. lo ls hi hs are lt le gt ge of unsigned words. */
#ifndef LANEWISE_LANE_COMPARE_H
#define LANEWISE_LANE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include "float.h"

/* Equal, not equal.
 *
 * a, b     words of the same width
 * returns  the predicate
 * fails    never
 * spelled  PTX setp.eq and setp.ne of .b .u .s, 16 32 64 bits
 * source   PTX ISA 9.7.6.2 */
static inline bool lw_setp_eq_b16(uint16_t a, uint16_t b) { return a == b; }
static inline bool lw_setp_eq_b32(uint32_t a, uint32_t b) { return a == b; }
static inline bool lw_setp_eq_b64(uint64_t a, uint64_t b) { return a == b; }
static inline bool lw_setp_ne_b16(uint16_t a, uint16_t b) { return a != b; }
static inline bool lw_setp_ne_b32(uint32_t a, uint32_t b) { return a != b; }
static inline bool lw_setp_ne_b64(uint64_t a, uint64_t b) { return a != b; }

/* Less, less or equal, greater, greater or equal; unsigned.
 *
 * a, b     words of the same width
 * returns  the predicate
 * fails    never
 * spelled  PTX setp.lt, setp.le, setp.gt, setp.ge of .u16 .u32 .u64;
 *          setp.lo, setp.ls, setp.hi, setp.hs
 * source   PTX ISA 9.7.6.2 */
static inline bool lw_setp_lt_u16(uint16_t a, uint16_t b) { return a < b; }
static inline bool lw_setp_lt_u32(uint32_t a, uint32_t b) { return a < b; }
static inline bool lw_setp_lt_u64(uint64_t a, uint64_t b) { return a < b; }
static inline bool lw_setp_le_u16(uint16_t a, uint16_t b) { return a <= b; }
static inline bool lw_setp_le_u32(uint32_t a, uint32_t b) { return a <= b; }
static inline bool lw_setp_le_u64(uint64_t a, uint64_t b) { return a <= b; }
static inline bool lw_setp_gt_u16(uint16_t a, uint16_t b) { return a > b; }
static inline bool lw_setp_gt_u32(uint32_t a, uint32_t b) { return a > b; }
static inline bool lw_setp_gt_u64(uint64_t a, uint64_t b) { return a > b; }
static inline bool lw_setp_ge_u16(uint16_t a, uint16_t b) { return a >= b; }
static inline bool lw_setp_ge_u32(uint32_t a, uint32_t b) { return a >= b; }
static inline bool lw_setp_ge_u64(uint64_t a, uint64_t b) { return a >= b; }

/* Less, less or equal, greater, greater or equal; signed.
 *
 * a, b     words of the same width
 * returns  the predicate
 * fails    never
 * spelled  PTX setp.lt, setp.le, setp.gt, setp.ge of .s16 .s32 .s64
 * source   PTX ISA 9.7.6.2 */
static inline bool lw_setp_lt_s16(int16_t a, int16_t b) { return a < b; }
static inline bool lw_setp_lt_s32(int32_t a, int32_t b) { return a < b; }
static inline bool lw_setp_lt_s64(int64_t a, int64_t b) { return a < b; }
static inline bool lw_setp_le_s16(int16_t a, int16_t b) { return a <= b; }
static inline bool lw_setp_le_s32(int32_t a, int32_t b) { return a <= b; }
static inline bool lw_setp_le_s64(int64_t a, int64_t b) { return a <= b; }
static inline bool lw_setp_gt_s16(int16_t a, int16_t b) { return a > b; }
static inline bool lw_setp_gt_s32(int32_t a, int32_t b) { return a > b; }
static inline bool lw_setp_gt_s64(int64_t a, int64_t b) { return a > b; }
static inline bool lw_setp_ge_s16(int16_t a, int16_t b) { return a >= b; }
static inline bool lw_setp_ge_s32(int32_t a, int32_t b) { return a >= b; }
static inline bool lw_setp_ge_s64(int64_t a, int64_t b) { return a >= b; }

/* Equal, not equal, less and so on in floating point. The plain comparisons are false if an operand is a NaN,
 * those that end in u are true; num is true if both are numbers, nan if one is not.
 *
 * a, b     numbers
 * returns  the predicate
 * fails    never
 * spelled  PTX setp.eq ne lt le gt ge equ neu ltu leu gtu geu num nan of .f32 .f64
 * source   PTX ISA 9.7.6.2 */
static inline bool lw_setp_eq_f32(float a, float b) { return a == b; }
static inline bool lw_setp_ne_f32(float a, float b) { return (a < b) | (a > b); }
static inline bool lw_setp_lt_f32(float a, float b) { return a < b; }
static inline bool lw_setp_le_f32(float a, float b) { return a <= b; }
static inline bool lw_setp_gt_f32(float a, float b) { return a > b; }
static inline bool lw_setp_ge_f32(float a, float b) { return a >= b; }
static inline bool lw_setp_equ_f32(float a, float b) { return !((a < b) | (a > b)); }
static inline bool lw_setp_neu_f32(float a, float b) { return a != b; }
static inline bool lw_setp_ltu_f32(float a, float b) { return !(a >= b); }
static inline bool lw_setp_leu_f32(float a, float b) { return !(a > b); }
static inline bool lw_setp_gtu_f32(float a, float b) { return !(a <= b); }
static inline bool lw_setp_geu_f32(float a, float b) { return !(a < b); }
static inline bool lw_setp_num_f32(float a, float b) { return (a == a) & (b == b); }
static inline bool lw_setp_nan_f32(float a, float b) { return (a != a) | (b != b); }
static inline bool lw_setp_eq_f64(double a, double b) { return a == b; }
static inline bool lw_setp_ne_f64(double a, double b) { return (a < b) | (a > b); }
static inline bool lw_setp_lt_f64(double a, double b) { return a < b; }
static inline bool lw_setp_le_f64(double a, double b) { return a <= b; }
static inline bool lw_setp_gt_f64(double a, double b) { return a > b; }
static inline bool lw_setp_ge_f64(double a, double b) { return a >= b; }
static inline bool lw_setp_equ_f64(double a, double b) { return !((a < b) | (a > b)); }
static inline bool lw_setp_neu_f64(double a, double b) { return a != b; }
static inline bool lw_setp_ltu_f64(double a, double b) { return !(a >= b); }
static inline bool lw_setp_leu_f64(double a, double b) { return !(a > b); }
static inline bool lw_setp_gtu_f64(double a, double b) { return !(a <= b); }
static inline bool lw_setp_geu_f64(double a, double b) { return !(a < b); }
static inline bool lw_setp_num_f64(double a, double b) { return (a == a) & (b == b); }
static inline bool lw_setp_nan_f64(double a, double b) { return (a != a) | (b != b); }

/* Whether two numbers are as `how` says. */
static inline bool lw_holds_f32_(float a, float b, uint32_t how) {
    const uint32_t below = b > a ? LW_FLOAT_LESS : LW_FLOAT_UNORDERED,
                   above = a == b ? LW_FLOAT_EQUAL : LW_FLOAT_GREATER;
    return ((a >= b ? above : below) & how) != 0;
}

/* The same with subnormal operands as zero: whether it is so that the comparison holds.
 *
 * a, b     numbers
 * how      LW_FLOAT_LESS, EQUAL, GREATER, UNORDERED, or a sum of several
 * returns  the predicate
 * fails    never
 * spelled  PTX setp.eq ne lt le gt ge equ neu ltu leu gtu geu num nan of .ftz.f32
 * source   PTX ISA 9.7.6.2 */
static inline bool lw_setp_ftz_f32(float a, float b, uint32_t how) {
    return lw_holds_f32_(lw_flush_f32_(a), lw_flush_f32_(b), how);
}

#endif /* LANEWISE_LANE_COMPARE_H */
