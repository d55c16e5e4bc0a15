/* Conversions between integers. */
#ifndef LANEWISE_LANE_CONVERT_INTEGER_H
#define LANEWISE_LANE_CONVERT_INTEGER_H

#include <stdint.h>

/* The low bits, or the value extended by the sign of its type.
 *
 * a        integer
 * returns  one integer
 * fails    never
 * spelled  PTX cvt between .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline uint8_t lw_cvt_u8_u8(uint8_t a) { return a; }
static inline uint8_t lw_cvt_u8_u16(uint16_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_u32(uint32_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_u64(uint64_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_s8(int8_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_s16(int16_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_s32(int32_t a) { return (uint8_t)a; }
static inline uint8_t lw_cvt_u8_s64(int64_t a) { return (uint8_t)a; }
static inline uint16_t lw_cvt_u16_u8(uint8_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_u16(uint16_t a) { return a; }
static inline uint16_t lw_cvt_u16_u32(uint32_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_u64(uint64_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_s8(int8_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_s16(int16_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_s32(int32_t a) { return (uint16_t)a; }
static inline uint16_t lw_cvt_u16_s64(int64_t a) { return (uint16_t)a; }
static inline uint32_t lw_cvt_u32_u8(uint8_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_u16(uint16_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_u32(uint32_t a) { return a; }
static inline uint32_t lw_cvt_u32_u64(uint64_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_s8(int8_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_s16(int16_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_s32(int32_t a) { return (uint32_t)a; }
static inline uint32_t lw_cvt_u32_s64(int64_t a) { return (uint32_t)a; }
static inline uint64_t lw_cvt_u64_u8(uint8_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_u16(uint16_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_u32(uint32_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_u64(uint64_t a) { return a; }
static inline uint64_t lw_cvt_u64_s8(int8_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_s16(int16_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_s32(int32_t a) { return (uint64_t)a; }
static inline uint64_t lw_cvt_u64_s64(int64_t a) { return (uint64_t)a; }
static inline int8_t lw_cvt_s8_u8(uint8_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_u16(uint16_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_u32(uint32_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_u64(uint64_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_s8(int8_t a) { return a; }
static inline int8_t lw_cvt_s8_s16(int16_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_s32(int32_t a) { return (int8_t)a; }
static inline int8_t lw_cvt_s8_s64(int64_t a) { return (int8_t)a; }
static inline int16_t lw_cvt_s16_u8(uint8_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_u16(uint16_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_u32(uint32_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_u64(uint64_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_s8(int8_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_s16(int16_t a) { return a; }
static inline int16_t lw_cvt_s16_s32(int32_t a) { return (int16_t)a; }
static inline int16_t lw_cvt_s16_s64(int64_t a) { return (int16_t)a; }
static inline int32_t lw_cvt_s32_u8(uint8_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_u16(uint16_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_u32(uint32_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_u64(uint64_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_s8(int8_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_s16(int16_t a) { return (int32_t)a; }
static inline int32_t lw_cvt_s32_s32(int32_t a) { return a; }
static inline int32_t lw_cvt_s32_s64(int64_t a) { return (int32_t)a; }
static inline int64_t lw_cvt_s64_u8(uint8_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_u16(uint16_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_u32(uint32_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_u64(uint64_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_s8(int8_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_s16(int16_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_s32(int32_t a) { return (int64_t)a; }
static inline int64_t lw_cvt_s64_s64(int64_t a) { return a; }

/* The nearest value in the range of the result. Where no value is out of range there is no such instruction.
 *
 * a        integer
 * returns  one integer
 * fails    never
 * spelled  PTX cvt.sat between .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64
 * source   PTX ISA 9.7.9.21 */
static inline uint8_t lw_cvt_sat_u8_u16(uint16_t a) { return a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_u32(uint32_t a) { return a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_u64(uint64_t a) { return a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_s8(int8_t a) { return a < 0 ? 0 : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_s16(int16_t a) { return a < 0 ? 0 : a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_s32(int32_t a) { return a < 0 ? 0 : a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint8_t lw_cvt_sat_u8_s64(int64_t a) { return a < 0 ? 0 : a > UINT8_MAX ? UINT8_MAX : (uint8_t)a; }
static inline uint16_t lw_cvt_sat_u16_u32(uint32_t a) { return a > UINT16_MAX ? UINT16_MAX : (uint16_t)a; }
static inline uint16_t lw_cvt_sat_u16_u64(uint64_t a) { return a > UINT16_MAX ? UINT16_MAX : (uint16_t)a; }
static inline uint16_t lw_cvt_sat_u16_s8(int8_t a) { return a < 0 ? 0 : (uint16_t)a; }
static inline uint16_t lw_cvt_sat_u16_s16(int16_t a) { return a < 0 ? 0 : (uint16_t)a; }
static inline uint16_t lw_cvt_sat_u16_s32(int32_t a) { return a < 0 ? 0 : a > UINT16_MAX ? UINT16_MAX : (uint16_t)a; }
static inline uint16_t lw_cvt_sat_u16_s64(int64_t a) { return a < 0 ? 0 : a > UINT16_MAX ? UINT16_MAX : (uint16_t)a; }
static inline uint32_t lw_cvt_sat_u32_u64(uint64_t a) { return a > UINT32_MAX ? UINT32_MAX : (uint32_t)a; }
static inline uint32_t lw_cvt_sat_u32_s8(int8_t a) { return a < 0 ? 0 : (uint32_t)a; }
static inline uint32_t lw_cvt_sat_u32_s16(int16_t a) { return a < 0 ? 0 : (uint32_t)a; }
static inline uint32_t lw_cvt_sat_u32_s32(int32_t a) { return a < 0 ? 0 : (uint32_t)a; }
static inline uint32_t lw_cvt_sat_u32_s64(int64_t a) { return a < 0 ? 0 : a > UINT32_MAX ? UINT32_MAX : (uint32_t)a; }
static inline uint64_t lw_cvt_sat_u64_s8(int8_t a) { return a < 0 ? 0 : (uint64_t)a; }
static inline uint64_t lw_cvt_sat_u64_s16(int16_t a) { return a < 0 ? 0 : (uint64_t)a; }
static inline uint64_t lw_cvt_sat_u64_s32(int32_t a) { return a < 0 ? 0 : (uint64_t)a; }
static inline uint64_t lw_cvt_sat_u64_s64(int64_t a) { return a < 0 ? 0 : (uint64_t)a; }
static inline int8_t lw_cvt_sat_s8_u8(uint8_t a) { return a > INT8_MAX ? INT8_MAX : (int8_t)a; }
static inline int8_t lw_cvt_sat_s8_u16(uint16_t a) { return a > INT8_MAX ? INT8_MAX : (int8_t)a; }
static inline int8_t lw_cvt_sat_s8_u32(uint32_t a) { return a > INT8_MAX ? INT8_MAX : (int8_t)a; }
static inline int8_t lw_cvt_sat_s8_u64(uint64_t a) { return a > INT8_MAX ? INT8_MAX : (int8_t)a; }
static inline int8_t lw_cvt_sat_s8_s16(int16_t a) {
    return a < INT8_MIN ? INT8_MIN : a > INT8_MAX ? INT8_MAX : (int8_t)a;
}
static inline int8_t lw_cvt_sat_s8_s32(int32_t a) {
    return a < INT8_MIN ? INT8_MIN : a > INT8_MAX ? INT8_MAX : (int8_t)a;
}
static inline int8_t lw_cvt_sat_s8_s64(int64_t a) {
    return a < INT8_MIN ? INT8_MIN : a > INT8_MAX ? INT8_MAX : (int8_t)a;
}
static inline int16_t lw_cvt_sat_s16_u16(uint16_t a) { return a > INT16_MAX ? INT16_MAX : (int16_t)a; }
static inline int16_t lw_cvt_sat_s16_u32(uint32_t a) { return a > INT16_MAX ? INT16_MAX : (int16_t)a; }
static inline int16_t lw_cvt_sat_s16_u64(uint64_t a) { return a > INT16_MAX ? INT16_MAX : (int16_t)a; }
static inline int16_t lw_cvt_sat_s16_s32(int32_t a) {
    return a < INT16_MIN ? INT16_MIN : a > INT16_MAX ? INT16_MAX : (int16_t)a;
}
static inline int16_t lw_cvt_sat_s16_s64(int64_t a) {
    return a < INT16_MIN ? INT16_MIN : a > INT16_MAX ? INT16_MAX : (int16_t)a;
}
static inline int32_t lw_cvt_sat_s32_u32(uint32_t a) { return a > INT32_MAX ? INT32_MAX : (int32_t)a; }
static inline int32_t lw_cvt_sat_s32_u64(uint64_t a) { return a > INT32_MAX ? INT32_MAX : (int32_t)a; }
static inline int32_t lw_cvt_sat_s32_s64(int64_t a) {
    return a < INT32_MIN ? INT32_MIN : a > INT32_MAX ? INT32_MAX : (int32_t)a;
}
static inline int64_t lw_cvt_sat_s64_u64(uint64_t a) { return a > INT64_MAX ? INT64_MAX : (int64_t)a; }

/* Two numbers limited to a type and packed, a above b; above both the low bits of c.
 *
 * a, b     integers
 * c        one word
 * returns  one word
 * fails    never
 * spelled  PTX cvt.pack.sat.u16.s32, .s16, .u8, .s8, .u4, .s4, .u2, .s2
 * source   PTX ISA 9.7.9.22 */
static inline uint32_t lw_pack_limited_(int32_t a, int32_t least, int32_t most) {
    a = a < least ? least : a > most ? most : a;
    return (uint32_t)a & (uint32_t)(most - least);
}
static inline uint32_t lw_cvt_pack_sat_u16_s32(int32_t a, int32_t b) {
    return lw_pack_limited_(a, 0, UINT16_MAX) << 16 | lw_pack_limited_(b, 0, UINT16_MAX);
}
static inline uint32_t lw_cvt_pack_sat_s16_s32(int32_t a, int32_t b) {
    return lw_pack_limited_(a, INT16_MIN, INT16_MAX) << 16 | lw_pack_limited_(b, INT16_MIN, INT16_MAX);
}
static inline uint32_t lw_cvt_pack_sat_u8_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 16 | lw_pack_limited_(a, 0, 255) << 8 | lw_pack_limited_(b, 0, 255);
}
static inline uint32_t lw_cvt_pack_sat_s8_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 16 | lw_pack_limited_(a, -128, 127) << 8 | lw_pack_limited_(b, -128, 127);
}
static inline uint32_t lw_cvt_pack_sat_u4_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 8 | lw_pack_limited_(a, 0, 15) << 4 | lw_pack_limited_(b, 0, 15);
}
static inline uint32_t lw_cvt_pack_sat_s4_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 8 | lw_pack_limited_(a, -8, 7) << 4 | lw_pack_limited_(b, -8, 7);
}
static inline uint32_t lw_cvt_pack_sat_u2_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 4 | lw_pack_limited_(a, 0, 3) << 2 | lw_pack_limited_(b, 0, 3);
}
static inline uint32_t lw_cvt_pack_sat_s2_s32(int32_t a, int32_t b, uint32_t c) {
    return c << 4 | lw_pack_limited_(a, -2, 1) << 2 | lw_pack_limited_(b, -2, 1);
}

#endif /* LANEWISE_LANE_CONVERT_INTEGER_H */
