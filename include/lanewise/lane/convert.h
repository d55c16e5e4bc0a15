/* Conversions of one lane to and from floating point. What float.h says of flags and NaNs holds here too. */
#ifndef LANEWISE_LANE_CONVERT_H
#define LANEWISE_LANE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include "convert_integer.h"
#include "float.h"

/* The neighbour of a number: n steps away from zero, or towards it where n is negative. */
static inline float lw_step_f32_(float a, int32_t n) { return lw_from_bits_f32_(lw_bits_f32_(a) + (uint32_t)n); }
static inline double lw_step_f64_(double a, int64_t n) { return lw_from_bits_f64_(lw_bits_f64_(a) + (uint64_t)n); }

/* A magnitude rounded towards zero, or away from it: round to nearest, compare with what was asked, and
 * correct by one step. The nearest number may be 2^64, which does not convert back. */
static inline float lw_towards_zero_f32_(uint64_t a) {
    float near = (float)a;
    bool top = near == 18446744073709551616.0f;
    return lw_step_f32_(near, -(int)(top | ((uint64_t)(top ? 0 : near) > a)));
}
static inline float lw_from_zero_f32_(uint64_t a) {
    float near = (float)a;
    bool top = near == 18446744073709551616.0f;
    return lw_step_f32_(near, !top & ((uint64_t)(top ? 0 : near) < a));
}
static inline double lw_towards_zero_f64_(uint64_t a) {
    double near = (double)a;
    bool top = near == 18446744073709551616.0;
    return lw_step_f64_(near, -(int)(top | ((uint64_t)(top ? 0 : near) > a)));
}
static inline double lw_from_zero_f64_(uint64_t a) {
    double near = (double)a;
    bool top = near == 18446744073709551616.0;
    return lw_step_f64_(near, !top & ((uint64_t)(top ? 0 : near) < a));
}
static inline uint64_t lw_magnitude_(int64_t a) { return a < 0 ? 0 - (uint64_t)a : (uint64_t)a; }

/* An f64 rounded to f32 in each direction; NaNs are the caller's. */
static inline float lw_f32_rz_(double a) {
    float near = (float)a;
    return lw_step_f32_(near, -(int)(__builtin_fabs((double)near) > __builtin_fabs(a)));
}
static inline float lw_f32_rm_(double a) {
    float near = (float)a, below = lw_step_f32_(near, lw_bits_f32_(near) >> 31 ? 1 : -1);
    below = near == 0.0f ? lw_from_bits_f32_(0x80000001u) : below;
    return (double)near > a ? below : near;
}
static inline float lw_f32_rp_(double a) { return -lw_f32_rm_(-a); }

/* An integer rounded to f32: to nearest even (rn), towards zero (rz), down (rm) or up (rp).
 *
 * a        integer
 * returns  one number
 * fails    never
 * spelled  PTX cvt.rn, cvt.rz, cvt.rm, cvt.rp to .f32 from .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline float lw_cvt_rn_f32_u8(uint8_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_u8(uint8_t a) { return (float)a; }
static inline float lw_cvt_rm_f32_u8(uint8_t a) { return (float)a; }
static inline float lw_cvt_rp_f32_u8(uint8_t a) { return (float)a; }
static inline float lw_cvt_rn_f32_u16(uint16_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_u16(uint16_t a) { return (float)a; }
static inline float lw_cvt_rm_f32_u16(uint16_t a) { return (float)a; }
static inline float lw_cvt_rp_f32_u16(uint16_t a) { return (float)a; }
static inline float lw_cvt_rn_f32_u32(uint32_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_u32(uint32_t a) { return lw_f32_rz_((double)a); }
static inline float lw_cvt_rm_f32_u32(uint32_t a) { return lw_f32_rz_((double)a); }
static inline float lw_cvt_rp_f32_u32(uint32_t a) { return lw_f32_rp_((double)a); }
static inline float lw_cvt_rn_f32_u64(uint64_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_u64(uint64_t a) { return lw_towards_zero_f32_(a); }
static inline float lw_cvt_rm_f32_u64(uint64_t a) { return lw_towards_zero_f32_(a); }
static inline float lw_cvt_rp_f32_u64(uint64_t a) { return lw_from_zero_f32_(a); }
static inline float lw_cvt_rn_f32_s8(int8_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_s8(int8_t a) { return (float)a; }
static inline float lw_cvt_rm_f32_s8(int8_t a) { return (float)a; }
static inline float lw_cvt_rp_f32_s8(int8_t a) { return (float)a; }
static inline float lw_cvt_rn_f32_s16(int16_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_s16(int16_t a) { return (float)a; }
static inline float lw_cvt_rm_f32_s16(int16_t a) { return (float)a; }
static inline float lw_cvt_rp_f32_s16(int16_t a) { return (float)a; }
static inline float lw_cvt_rn_f32_s32(int32_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_s32(int32_t a) { return lw_f32_rz_((double)a); }
static inline float lw_cvt_rm_f32_s32(int32_t a) { return lw_f32_rm_((double)a); }
static inline float lw_cvt_rp_f32_s32(int32_t a) { return lw_f32_rp_((double)a); }
static inline float lw_cvt_rn_f32_s64(int64_t a) { return (float)a; }
static inline float lw_cvt_rz_f32_s64(int64_t a) {
    return a < 0 ? -lw_towards_zero_f32_(lw_magnitude_(a)) : lw_towards_zero_f32_(lw_magnitude_(a));
}
static inline float lw_cvt_rm_f32_s64(int64_t a) {
    return a < 0 ? -lw_from_zero_f32_(lw_magnitude_(a)) : lw_towards_zero_f32_(lw_magnitude_(a));
}
static inline float lw_cvt_rp_f32_s64(int64_t a) {
    return a < 0 ? -lw_towards_zero_f32_(lw_magnitude_(a)) : lw_from_zero_f32_(lw_magnitude_(a));
}

/* An integer rounded to f64: to nearest even (rn), towards zero (rz), down (rm) or up (rp).
 *
 * a        integer
 * returns  one number
 * fails    never
 * spelled  PTX cvt.rn, cvt.rz, cvt.rm, cvt.rp to .f64 from .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline double lw_cvt_rn_f64_u8(uint8_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_u8(uint8_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_u8(uint8_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_u8(uint8_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_u16(uint16_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_u16(uint16_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_u16(uint16_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_u16(uint16_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_u32(uint32_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_u32(uint32_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_u32(uint32_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_u32(uint32_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_u64(uint64_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_u64(uint64_t a) { return lw_towards_zero_f64_(a); }
static inline double lw_cvt_rm_f64_u64(uint64_t a) { return lw_towards_zero_f64_(a); }
static inline double lw_cvt_rp_f64_u64(uint64_t a) { return lw_from_zero_f64_(a); }
static inline double lw_cvt_rn_f64_s8(int8_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_s8(int8_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_s8(int8_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_s8(int8_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_s16(int16_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_s16(int16_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_s16(int16_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_s16(int16_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_s32(int32_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_s32(int32_t a) { return (double)a; }
static inline double lw_cvt_rm_f64_s32(int32_t a) { return (double)a; }
static inline double lw_cvt_rp_f64_s32(int32_t a) { return (double)a; }
static inline double lw_cvt_rn_f64_s64(int64_t a) { return (double)a; }
static inline double lw_cvt_rz_f64_s64(int64_t a) {
    return a < 0 ? -lw_towards_zero_f64_(lw_magnitude_(a)) : lw_towards_zero_f64_(lw_magnitude_(a));
}
static inline double lw_cvt_rm_f64_s64(int64_t a) {
    return a < 0 ? -lw_from_zero_f64_(lw_magnitude_(a)) : lw_towards_zero_f64_(lw_magnitude_(a));
}
static inline double lw_cvt_rp_f64_s64(int64_t a) {
    return a < 0 ? -lw_towards_zero_f64_(lw_magnitude_(a)) : lw_from_zero_f64_(lw_magnitude_(a));
}

/* A number without its fraction as an integer, limited to the range of the type; `nan` where it is none. The
 * comparisons come first because a C conversion out of range is undefined. */
static inline uint8_t lw_u8_from_f32_(float a) {
    bool inside = (a >= 0.0f) & (a < 256.0f);
    uint8_t d = (uint8_t)(inside ? a : 0);
    uint8_t limit = a < 0 ? 0 : UINT8_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline uint16_t lw_u16_from_f32_(float a) {
    bool inside = (a >= 0.0f) & (a < 65536.0f);
    uint16_t d = (uint16_t)(inside ? a : 0);
    uint16_t limit = a < 0 ? 0 : UINT16_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline uint32_t lw_u32_from_f32_(float a) {
    bool inside = (a >= 0.0f) & (a < 4294967296.0f);
    uint32_t d = (uint32_t)(inside ? a : 0);
    uint32_t limit = a < 0 ? 0 : UINT32_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline uint64_t lw_u64_from_f32_(float a) {
    bool inside = (a >= 0.0f) & (a < 18446744073709551616.0f);
    uint64_t d = (uint64_t)(inside ? a : 0);
    uint64_t limit = a < 0 ? 0 : UINT64_MAX;
    return inside ? d : a == a ? limit : 0x8000000000000000u;
}
static inline int8_t lw_s8_from_f32_(float a) {
    bool inside = (a >= -128.0f) & (a < 128.0f);
    int8_t d = (int8_t)(inside ? a : 0);
    int8_t limit = a < 0 ? INT8_MIN : INT8_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline int16_t lw_s16_from_f32_(float a) {
    bool inside = (a >= -32768.0f) & (a < 32768.0f);
    int16_t d = (int16_t)(inside ? a : 0);
    int16_t limit = a < 0 ? INT16_MIN : INT16_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline int32_t lw_s32_from_f32_(float a) {
    bool inside = (a >= -2147483648.0f) & (a < 2147483648.0f);
    int32_t d = (int32_t)(inside ? a : 0);
    int32_t limit = a < 0 ? INT32_MIN : INT32_MAX;
    return inside ? d : a == a ? limit : 0;
}
static inline int64_t lw_s64_from_f32_(float a) {
    bool inside = (a >= -9223372036854775808.0f) & (a < 9223372036854775808.0f);
    int64_t d = (int64_t)(inside ? a : 0);
    int64_t limit = a < 0 ? INT64_MIN : INT64_MAX;
    return inside ? d : a == a ? limit : INT64_MIN;
}
static inline uint8_t lw_u8_from_f64_(double a) {
    bool inside = (a >= 0.0) & (a < 256.0);
    uint8_t d = (uint8_t)(inside ? a : 0);
    uint8_t limit = a < 0 ? 0 : UINT8_MAX;
    return inside ? d : a == a ? limit : 0x80;
}
static inline uint16_t lw_u16_from_f64_(double a) {
    bool inside = (a >= 0.0) & (a < 65536.0);
    uint16_t d = (uint16_t)(inside ? a : 0);
    uint16_t limit = a < 0 ? 0 : UINT16_MAX;
    return inside ? d : a == a ? limit : 0x8000;
}
static inline uint32_t lw_u32_from_f64_(double a) {
    bool inside = (a >= 0.0) & (a < 4294967296.0);
    uint32_t d = (uint32_t)(inside ? a : 0);
    uint32_t limit = a < 0 ? 0 : UINT32_MAX;
    return inside ? d : a == a ? limit : 0x80000000u;
}
static inline uint64_t lw_u64_from_f64_(double a) {
    bool inside = (a >= 0.0) & (a < 18446744073709551616.0);
    uint64_t d = (uint64_t)(inside ? a : 0);
    uint64_t limit = a < 0 ? 0 : UINT64_MAX;
    return inside ? d : a == a ? limit : 0x8000000000000000u;
}
static inline int8_t lw_s8_from_f64_(double a) {
    bool inside = (a >= -128.0) & (a < 128.0);
    int8_t d = (int8_t)(inside ? a : 0);
    int8_t limit = a < 0 ? INT8_MIN : INT8_MAX;
    return inside ? d : a == a ? limit : INT8_MIN;
}
static inline int16_t lw_s16_from_f64_(double a) {
    bool inside = (a >= -32768.0) & (a < 32768.0);
    int16_t d = (int16_t)(inside ? a : 0);
    int16_t limit = a < 0 ? INT16_MIN : INT16_MAX;
    return inside ? d : a == a ? limit : INT16_MIN;
}
static inline int32_t lw_s32_from_f64_(double a) {
    bool inside = (a >= -2147483648.0) & (a < 2147483648.0);
    int32_t d = (int32_t)(inside ? a : 0);
    int32_t limit = a < 0 ? INT32_MIN : INT32_MAX;
    return inside ? d : a == a ? limit : INT32_MIN;
}
static inline int64_t lw_s64_from_f64_(double a) {
    bool inside = (a >= -9223372036854775808.0) & (a < 9223372036854775808.0);
    int64_t d = (int64_t)(inside ? a : 0);
    int64_t limit = a < 0 ? INT64_MIN : INT64_MAX;
    return inside ? d : a == a ? limit : INT64_MIN;
}

/* An f32 number as an integer: the nearest, even in a tie (rni), towards zero (rzi), down (rmi) or up (rpi);
 * limited to the range of the type.
 *
 * a        number
 * returns  one integer
 * fails    never
 * spelled  PTX cvt.rni, cvt.rzi, cvt.rmi, cvt.rpi from .f32 to .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64; .ftz
 * source   PTX ISA 9.7.9.21 */
static inline uint8_t lw_cvt_rni_u8_f32(float a) { return lw_u8_from_f32_(__builtin_rintf(a)); }
static inline uint8_t lw_cvt_rzi_u8_f32(float a) { return lw_u8_from_f32_(__builtin_truncf(a)); }
static inline uint8_t lw_cvt_rmi_u8_f32(float a) { return lw_u8_from_f32_(__builtin_floorf(a)); }
static inline uint8_t lw_cvt_rpi_u8_f32(float a) { return lw_u8_from_f32_(__builtin_ceilf(a)); }
static inline uint16_t lw_cvt_rni_u16_f32(float a) { return lw_u16_from_f32_(__builtin_rintf(a)); }
static inline uint16_t lw_cvt_rzi_u16_f32(float a) { return lw_u16_from_f32_(__builtin_truncf(a)); }
static inline uint16_t lw_cvt_rmi_u16_f32(float a) { return lw_u16_from_f32_(__builtin_floorf(a)); }
static inline uint16_t lw_cvt_rpi_u16_f32(float a) { return lw_u16_from_f32_(__builtin_ceilf(a)); }
static inline uint32_t lw_cvt_rni_u32_f32(float a) { return lw_u32_from_f32_(__builtin_rintf(a)); }
static inline uint32_t lw_cvt_rzi_u32_f32(float a) { return lw_u32_from_f32_(__builtin_truncf(a)); }
static inline uint32_t lw_cvt_rmi_u32_f32(float a) { return lw_u32_from_f32_(__builtin_floorf(a)); }
static inline uint32_t lw_cvt_rpi_u32_f32(float a) { return lw_u32_from_f32_(__builtin_ceilf(a)); }
static inline uint64_t lw_cvt_rni_u64_f32(float a) { return lw_u64_from_f32_(__builtin_rintf(a)); }
static inline uint64_t lw_cvt_rzi_u64_f32(float a) { return lw_u64_from_f32_(__builtin_truncf(a)); }
static inline uint64_t lw_cvt_rmi_u64_f32(float a) { return lw_u64_from_f32_(__builtin_floorf(a)); }
static inline uint64_t lw_cvt_rpi_u64_f32(float a) { return lw_u64_from_f32_(__builtin_ceilf(a)); }
static inline int8_t lw_cvt_rni_s8_f32(float a) { return lw_s8_from_f32_(__builtin_rintf(a)); }
static inline int8_t lw_cvt_rzi_s8_f32(float a) { return lw_s8_from_f32_(__builtin_truncf(a)); }
static inline int8_t lw_cvt_rmi_s8_f32(float a) { return lw_s8_from_f32_(__builtin_floorf(a)); }
static inline int8_t lw_cvt_rpi_s8_f32(float a) { return lw_s8_from_f32_(__builtin_ceilf(a)); }
static inline int16_t lw_cvt_rni_s16_f32(float a) { return lw_s16_from_f32_(__builtin_rintf(a)); }
static inline int16_t lw_cvt_rzi_s16_f32(float a) { return lw_s16_from_f32_(__builtin_truncf(a)); }
static inline int16_t lw_cvt_rmi_s16_f32(float a) { return lw_s16_from_f32_(__builtin_floorf(a)); }
static inline int16_t lw_cvt_rpi_s16_f32(float a) { return lw_s16_from_f32_(__builtin_ceilf(a)); }
static inline int32_t lw_cvt_rni_s32_f32(float a) { return lw_s32_from_f32_(__builtin_rintf(a)); }
static inline int32_t lw_cvt_rzi_s32_f32(float a) { return lw_s32_from_f32_(__builtin_truncf(a)); }
static inline int32_t lw_cvt_rmi_s32_f32(float a) { return lw_s32_from_f32_(__builtin_floorf(a)); }
static inline int32_t lw_cvt_rpi_s32_f32(float a) { return lw_s32_from_f32_(__builtin_ceilf(a)); }
static inline int64_t lw_cvt_rni_s64_f32(float a) { return lw_s64_from_f32_(__builtin_rintf(a)); }
static inline int64_t lw_cvt_rzi_s64_f32(float a) { return lw_s64_from_f32_(__builtin_truncf(a)); }
static inline int64_t lw_cvt_rmi_s64_f32(float a) { return lw_s64_from_f32_(__builtin_floorf(a)); }
static inline int64_t lw_cvt_rpi_s64_f32(float a) { return lw_s64_from_f32_(__builtin_ceilf(a)); }
static inline uint8_t lw_cvt_rni_ftz_u8_f32(float a) { return lw_cvt_rni_u8_f32(lw_flush_f32_(a)); }
static inline uint8_t lw_cvt_rzi_ftz_u8_f32(float a) { return lw_cvt_rzi_u8_f32(lw_flush_f32_(a)); }
static inline uint8_t lw_cvt_rmi_ftz_u8_f32(float a) { return lw_cvt_rmi_u8_f32(lw_flush_f32_(a)); }
static inline uint8_t lw_cvt_rpi_ftz_u8_f32(float a) { return lw_cvt_rpi_u8_f32(lw_flush_f32_(a)); }
static inline uint16_t lw_cvt_rni_ftz_u16_f32(float a) { return lw_cvt_rni_u16_f32(lw_flush_f32_(a)); }
static inline uint16_t lw_cvt_rzi_ftz_u16_f32(float a) { return lw_cvt_rzi_u16_f32(lw_flush_f32_(a)); }
static inline uint16_t lw_cvt_rmi_ftz_u16_f32(float a) { return lw_cvt_rmi_u16_f32(lw_flush_f32_(a)); }
static inline uint16_t lw_cvt_rpi_ftz_u16_f32(float a) { return lw_cvt_rpi_u16_f32(lw_flush_f32_(a)); }
static inline uint32_t lw_cvt_rni_ftz_u32_f32(float a) { return lw_cvt_rni_u32_f32(lw_flush_f32_(a)); }
static inline uint32_t lw_cvt_rzi_ftz_u32_f32(float a) { return lw_cvt_rzi_u32_f32(lw_flush_f32_(a)); }
static inline uint32_t lw_cvt_rmi_ftz_u32_f32(float a) { return lw_cvt_rmi_u32_f32(lw_flush_f32_(a)); }
static inline uint32_t lw_cvt_rpi_ftz_u32_f32(float a) { return lw_cvt_rpi_u32_f32(lw_flush_f32_(a)); }
static inline uint64_t lw_cvt_rni_ftz_u64_f32(float a) { return lw_cvt_rni_u64_f32(lw_flush_f32_(a)); }
static inline uint64_t lw_cvt_rzi_ftz_u64_f32(float a) { return lw_cvt_rzi_u64_f32(lw_flush_f32_(a)); }
static inline uint64_t lw_cvt_rmi_ftz_u64_f32(float a) { return lw_cvt_rmi_u64_f32(lw_flush_f32_(a)); }
static inline uint64_t lw_cvt_rpi_ftz_u64_f32(float a) { return lw_cvt_rpi_u64_f32(lw_flush_f32_(a)); }
static inline int8_t lw_cvt_rni_ftz_s8_f32(float a) { return lw_cvt_rni_s8_f32(lw_flush_f32_(a)); }
static inline int8_t lw_cvt_rzi_ftz_s8_f32(float a) { return lw_cvt_rzi_s8_f32(lw_flush_f32_(a)); }
static inline int8_t lw_cvt_rmi_ftz_s8_f32(float a) { return lw_cvt_rmi_s8_f32(lw_flush_f32_(a)); }
static inline int8_t lw_cvt_rpi_ftz_s8_f32(float a) { return lw_cvt_rpi_s8_f32(lw_flush_f32_(a)); }
static inline int16_t lw_cvt_rni_ftz_s16_f32(float a) { return lw_cvt_rni_s16_f32(lw_flush_f32_(a)); }
static inline int16_t lw_cvt_rzi_ftz_s16_f32(float a) { return lw_cvt_rzi_s16_f32(lw_flush_f32_(a)); }
static inline int16_t lw_cvt_rmi_ftz_s16_f32(float a) { return lw_cvt_rmi_s16_f32(lw_flush_f32_(a)); }
static inline int16_t lw_cvt_rpi_ftz_s16_f32(float a) { return lw_cvt_rpi_s16_f32(lw_flush_f32_(a)); }
static inline int32_t lw_cvt_rni_ftz_s32_f32(float a) { return lw_cvt_rni_s32_f32(lw_flush_f32_(a)); }
static inline int32_t lw_cvt_rzi_ftz_s32_f32(float a) { return lw_cvt_rzi_s32_f32(lw_flush_f32_(a)); }
static inline int32_t lw_cvt_rmi_ftz_s32_f32(float a) { return lw_cvt_rmi_s32_f32(lw_flush_f32_(a)); }
static inline int32_t lw_cvt_rpi_ftz_s32_f32(float a) { return lw_cvt_rpi_s32_f32(lw_flush_f32_(a)); }
static inline int64_t lw_cvt_rni_ftz_s64_f32(float a) { return lw_cvt_rni_s64_f32(lw_flush_f32_(a)); }
static inline int64_t lw_cvt_rzi_ftz_s64_f32(float a) { return lw_cvt_rzi_s64_f32(lw_flush_f32_(a)); }
static inline int64_t lw_cvt_rmi_ftz_s64_f32(float a) { return lw_cvt_rmi_s64_f32(lw_flush_f32_(a)); }
static inline int64_t lw_cvt_rpi_ftz_s64_f32(float a) { return lw_cvt_rpi_s64_f32(lw_flush_f32_(a)); }

/* An f64 number as an integer: the nearest, even in a tie (rni), towards zero (rzi), down (rmi) or up (rpi);
 * limited to the range of the type.
 *
 * a        number
 * returns  one integer
 * fails    never
 * spelled  PTX cvt.rni, cvt.rzi, cvt.rmi, cvt.rpi from .f64 to .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline uint8_t lw_cvt_rni_u8_f64(double a) { return lw_u8_from_f64_(__builtin_rint(a)); }
static inline uint8_t lw_cvt_rzi_u8_f64(double a) { return lw_u8_from_f64_(__builtin_trunc(a)); }
static inline uint8_t lw_cvt_rmi_u8_f64(double a) { return lw_u8_from_f64_(__builtin_floor(a)); }
static inline uint8_t lw_cvt_rpi_u8_f64(double a) { return lw_u8_from_f64_(__builtin_ceil(a)); }
static inline uint16_t lw_cvt_rni_u16_f64(double a) { return lw_u16_from_f64_(__builtin_rint(a)); }
static inline uint16_t lw_cvt_rzi_u16_f64(double a) { return lw_u16_from_f64_(__builtin_trunc(a)); }
static inline uint16_t lw_cvt_rmi_u16_f64(double a) { return lw_u16_from_f64_(__builtin_floor(a)); }
static inline uint16_t lw_cvt_rpi_u16_f64(double a) { return lw_u16_from_f64_(__builtin_ceil(a)); }
static inline uint32_t lw_cvt_rni_u32_f64(double a) { return lw_u32_from_f64_(__builtin_rint(a)); }
static inline uint32_t lw_cvt_rzi_u32_f64(double a) { return lw_u32_from_f64_(__builtin_trunc(a)); }
static inline uint32_t lw_cvt_rmi_u32_f64(double a) { return lw_u32_from_f64_(__builtin_floor(a)); }
static inline uint32_t lw_cvt_rpi_u32_f64(double a) { return lw_u32_from_f64_(__builtin_ceil(a)); }
static inline uint64_t lw_cvt_rni_u64_f64(double a) { return lw_u64_from_f64_(__builtin_rint(a)); }
static inline uint64_t lw_cvt_rzi_u64_f64(double a) { return lw_u64_from_f64_(__builtin_trunc(a)); }
static inline uint64_t lw_cvt_rmi_u64_f64(double a) { return lw_u64_from_f64_(__builtin_floor(a)); }
static inline uint64_t lw_cvt_rpi_u64_f64(double a) { return lw_u64_from_f64_(__builtin_ceil(a)); }
static inline int8_t lw_cvt_rni_s8_f64(double a) { return lw_s8_from_f64_(__builtin_rint(a)); }
static inline int8_t lw_cvt_rzi_s8_f64(double a) { return lw_s8_from_f64_(__builtin_trunc(a)); }
static inline int8_t lw_cvt_rmi_s8_f64(double a) { return lw_s8_from_f64_(__builtin_floor(a)); }
static inline int8_t lw_cvt_rpi_s8_f64(double a) { return lw_s8_from_f64_(__builtin_ceil(a)); }
static inline int16_t lw_cvt_rni_s16_f64(double a) { return lw_s16_from_f64_(__builtin_rint(a)); }
static inline int16_t lw_cvt_rzi_s16_f64(double a) { return lw_s16_from_f64_(__builtin_trunc(a)); }
static inline int16_t lw_cvt_rmi_s16_f64(double a) { return lw_s16_from_f64_(__builtin_floor(a)); }
static inline int16_t lw_cvt_rpi_s16_f64(double a) { return lw_s16_from_f64_(__builtin_ceil(a)); }
static inline int32_t lw_cvt_rni_s32_f64(double a) { return lw_s32_from_f64_(__builtin_rint(a)); }
static inline int32_t lw_cvt_rzi_s32_f64(double a) { return lw_s32_from_f64_(__builtin_trunc(a)); }
static inline int32_t lw_cvt_rmi_s32_f64(double a) { return lw_s32_from_f64_(__builtin_floor(a)); }
static inline int32_t lw_cvt_rpi_s32_f64(double a) { return lw_s32_from_f64_(__builtin_ceil(a)); }
static inline int64_t lw_cvt_rni_s64_f64(double a) { return lw_s64_from_f64_(__builtin_rint(a)); }
static inline int64_t lw_cvt_rzi_s64_f64(double a) { return lw_s64_from_f64_(__builtin_trunc(a)); }
static inline int64_t lw_cvt_rmi_s64_f64(double a) { return lw_s64_from_f64_(__builtin_floor(a)); }
static inline int64_t lw_cvt_rpi_s64_f64(double a) { return lw_s64_from_f64_(__builtin_ceil(a)); }

/* A number as it is, NaN bits too, or rounded to an integer as above; sat limits to 0...1.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX cvt.f32.f32 and cvt.f64.f64, alone or with .rni .rzi .rmi .rpi, .sat; .ftz of .f32
 * source   PTX ISA 9.7.9.21 */
static inline float lw_cvt_f32_f32(float a) { return a; }
static inline float lw_cvt_sat_f32_f32(float a) { return lw_limit_f32_(a); }
static inline float lw_cvt_ftz_f32_f32(float a) { return lw_pin_f32_(lw_flush_f32_(a)); }
static inline float lw_cvt_ftz_sat_f32_f32(float a) { return lw_cvt_sat_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rni_f32_f32(float a) { return lw_pin_f32_(__builtin_rintf(a)); }
static inline float lw_cvt_rni_sat_f32_f32(float a) { return lw_limit_f32_(__builtin_rintf(a)); }
static inline float lw_cvt_rni_ftz_f32_f32(float a) { return lw_cvt_rni_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rni_ftz_sat_f32_f32(float a) { return lw_cvt_rni_sat_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rzi_f32_f32(float a) { return lw_pin_f32_(__builtin_truncf(a)); }
static inline float lw_cvt_rzi_sat_f32_f32(float a) { return lw_limit_f32_(__builtin_truncf(a)); }
static inline float lw_cvt_rzi_ftz_f32_f32(float a) { return lw_cvt_rzi_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rzi_ftz_sat_f32_f32(float a) { return lw_cvt_rzi_sat_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rmi_f32_f32(float a) { return lw_pin_f32_(__builtin_floorf(a)); }
static inline float lw_cvt_rmi_sat_f32_f32(float a) { return lw_limit_f32_(__builtin_floorf(a)); }
static inline float lw_cvt_rmi_ftz_f32_f32(float a) { return lw_cvt_rmi_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rmi_ftz_sat_f32_f32(float a) { return lw_cvt_rmi_sat_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rpi_f32_f32(float a) { return lw_pin_f32_(__builtin_ceilf(a)); }
static inline float lw_cvt_rpi_sat_f32_f32(float a) { return lw_limit_f32_(__builtin_ceilf(a)); }
static inline float lw_cvt_rpi_ftz_f32_f32(float a) { return lw_cvt_rpi_f32_f32(lw_flush_f32_(a)); }
static inline float lw_cvt_rpi_ftz_sat_f32_f32(float a) { return lw_cvt_rpi_sat_f32_f32(lw_flush_f32_(a)); }
static inline double lw_cvt_f64_f64(double a) { return a; }
static inline double lw_cvt_sat_f64_f64(double a) { return lw_limit_f64_(a); }
static inline double lw_cvt_rni_f64_f64(double a) { return lw_pin2_f64_(__builtin_rint(a), a, a); }
static inline double lw_cvt_rni_sat_f64_f64(double a) { return lw_limit_f64_(__builtin_rint(a)); }
static inline double lw_cvt_rzi_f64_f64(double a) { return lw_pin2_f64_(__builtin_trunc(a), a, a); }
static inline double lw_cvt_rzi_sat_f64_f64(double a) { return lw_limit_f64_(__builtin_trunc(a)); }
static inline double lw_cvt_rmi_f64_f64(double a) { return lw_pin2_f64_(__builtin_floor(a), a, a); }
static inline double lw_cvt_rmi_sat_f64_f64(double a) { return lw_limit_f64_(__builtin_floor(a)); }
static inline double lw_cvt_rpi_f64_f64(double a) { return lw_pin2_f64_(__builtin_ceil(a), a, a); }
static inline double lw_cvt_rpi_sat_f64_f64(double a) { return lw_limit_f64_(__builtin_ceil(a)); }

/* The f32 NaN of an f64 NaN; and zero for an f64 that rounds to less than 2^-126, with 24
 * bits and an unbounded exponent: those above -below and below above. */
static inline float lw_narrow_nan_(double a) {
    uint64_t bits = lw_bits_f64_(a);
    return lw_from_bits_f32_((uint32_t)(bits >> 32 & 0x80000000u) | 0x7fc00000u | (uint32_t)(bits >> 29 & 0x3fffffu));
}
static inline double lw_flush_narrow_(double a, uint64_t below, uint64_t above) {
    double zero = lw_from_bits_f64_(lw_bits_f64_(a) & 0x8000000000000000u);
    double low = -lw_from_bits_f64_(below), high = lw_from_bits_f64_(above);
    return ((a > low) & (a < high)) ? zero : a;
}

/* An f64 number rounded to f32: to nearest even (rn), towards zero (rz), down (rm) or up (rp). A NaN keeps
 * its sign and the top of its payload.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX cvt.rn, cvt.rz, cvt.rm, cvt.rp of .f32.f64; .ftz and .sat
 * source   PTX ISA 9.7.9.21 */
static inline float lw_cvt_rn_f32_f64(double a) { return a == a ? (float)a : lw_narrow_nan_(a); }
static inline float lw_cvt_rn_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rn_f32_f64(a)); }
static inline float lw_cvt_rn_ftz_f32_f64(double a) {
    return lw_cvt_rn_f32_f64(lw_flush_narrow_(a, 0x380ffffff0000000u, 0x380ffffff0000000u));
}
static inline float lw_cvt_rn_ftz_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rn_ftz_f32_f64(a)); }
static inline float lw_cvt_rz_f32_f64(double a) { return a == a ? lw_f32_rz_(a) : lw_narrow_nan_(a); }
static inline float lw_cvt_rz_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rz_f32_f64(a)); }
static inline float lw_cvt_rz_ftz_f32_f64(double a) {
    return lw_cvt_rz_f32_f64(lw_flush_narrow_(a, 0x3810000000000000u, 0x3810000000000000u));
}
static inline float lw_cvt_rz_ftz_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rz_ftz_f32_f64(a)); }
static inline float lw_cvt_rm_f32_f64(double a) { return a == a ? lw_f32_rm_(a) : lw_narrow_nan_(a); }
static inline float lw_cvt_rm_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rm_f32_f64(a)); }
static inline float lw_cvt_rm_ftz_f32_f64(double a) {
    return lw_cvt_rm_f32_f64(lw_flush_narrow_(a, 0x380fffffe0000001u, 0x3810000000000000u));
}
static inline float lw_cvt_rm_ftz_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rm_ftz_f32_f64(a)); }
static inline float lw_cvt_rp_f32_f64(double a) { return a == a ? lw_f32_rp_(a) : lw_narrow_nan_(a); }
static inline float lw_cvt_rp_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rp_f32_f64(a)); }
static inline float lw_cvt_rp_ftz_f32_f64(double a) {
    return lw_cvt_rp_f32_f64(lw_flush_narrow_(a, 0x3810000000000000u, 0x380fffffe0000001u));
}
static inline float lw_cvt_rp_ftz_sat_f32_f64(double a) { return lw_limit_f32_(lw_cvt_rp_ftz_f32_f64(a)); }

/* An f32 number as f64, exactly.
 *
 * a        number
 * returns  one number
 * fails    never
 * spelled  PTX cvt.f64.f32; .ftz and .sat
 * source   PTX ISA 9.7.9.21 */
static inline double lw_cvt_f64_f32(float a) { return lw_pin2_f64_((double)a, (double)a, (double)a); }
static inline double lw_cvt_sat_f64_f32(float a) { return lw_limit_f64_((double)a); }
static inline double lw_cvt_ftz_f64_f32(float a) { return lw_cvt_f64_f32(lw_pin_f32_(lw_flush_f32_(a))); }
static inline double lw_cvt_ftz_sat_f64_f32(float a) { return lw_limit_f64_((double)lw_flush_f32_(a)); }

/* Half precision in the low 16 bits: from f32, rounded to nearest even (rn) or towards zero (rz), and to f32.
 *
 * a        number
 * returns  one number; a NaN is 0x7fff or 0x7fffffff
 * fails    never
 * spelled  PTX cvt.rn.f16.f32, cvt.rz.f16.f32, cvt.f32.f16
 * source   PTX ISA 9.7.9.21 */
static inline uint16_t lw_cvt_rn_f16_f32(float a) {
    uint32_t bits = lw_bits_f32_(a) & 0x7fffffffu, sign = lw_bits_f32_(a) >> 16 & 0x8000u;
    uint32_t normal = (bits - 0x38000000u + 0xfffu + (bits >> 13 & 1)) >> 13;
    uint32_t subnormal = lw_bits_f32_(lw_from_bits_f32_(bits) + 0.5f) - 0x3f000000u; /* 1/2 has steps of 2^-24 */
    uint32_t d = bits < 0x38800000u ? subnormal : bits < 0x47800000u ? normal : 0x7c00u;
    return (uint16_t)(bits > 0x7f800000u ? 0x7fffu : d | sign);
}
static inline uint16_t lw_cvt_rz_f16_f32(float a) {
    uint32_t bits = lw_bits_f32_(a) & 0x7fffffffu, sign = lw_bits_f32_(a) >> 16 & 0x8000u;
    uint32_t normal = (bits - 0x38000000u) >> 13;
    uint32_t shift = bits < 0x33800000u ? 31 : 126 - (bits >> 23);
    uint32_t subnormal = ((bits & 0x7fffffu) | 0x800000u) >> (shift & 31);
    uint32_t d = bits < 0x38800000u ? subnormal : bits < 0x47800000u ? normal : bits < 0x7f800000u ? 0x7bffu : 0x7c00u;
    return (uint16_t)(bits > 0x7f800000u ? 0x7fffu : d | sign);
}
static inline float lw_cvt_f32_f16(uint16_t a) {
    uint32_t magnitude = a & 0x7fffu, sign = (uint32_t)(a & 0x8000u) << 16;
    uint32_t subnormal = lw_bits_f32_((float)(int32_t)magnitude * 5.9604644775390625e-8f); /* 2^-24 */
    uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00u ? 0x38000000u : 0x70000000u);
    uint32_t d = (magnitude < 0x400u ? subnormal : normal) | sign;
    return lw_from_bits_f32_(magnitude > 0x7c00u ? 0x7fffffffu : d);
}

#endif /* LANEWISE_LANE_CONVERT_H */
