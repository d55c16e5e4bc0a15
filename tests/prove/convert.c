/* Integers of another width or sign (PTX ISA 9.7.9.21) and packed ones (9.7.9.22): numbers of 128 bits, which hold
 * every one that 64 have, signed or not. */
#include <lanewise/lane/convert_integer.h>
#include "prove.h"

__extension__ typedef __int128 number;

/* The lowest bits as a number. */
static inline number as_number(number bits, unsigned width, bool is_signed) {
    const number above = (number)1 << width, low = bits & (above - 1);
    return is_signed && low >> (width - 1) ? low - above : low;
}

static inline number limited(number a, unsigned width, bool is_signed) {
    const number most = ((number)1 << (is_signed ? width - 1 : width)) - 1, least = is_signed ? -most - 1 : 0;
    return a < least ? least : a > most ? most : a;
}

/* ---- One number -------------------------------------------------------------------------------------------------- */

/* The value is kept where the result's type has it; else its lowest bits are, or with .sat the nearest one. */
#define CONVERT(to, R, to_width, to_signed, from, A, from_width, from_signed) \
    static inline R cvt_##to##_##from(A a) { \
        return (R)as_number(as_number(a, from_width, from_signed), to_width, to_signed); \
    } \
    PROVE(lw_cvt_##to##_##from, cvt_##to##_##from, R, A)
#define SATURATE(to, R, to_width, to_signed, from, A, from_width, from_signed) \
    static inline R cvt_sat_##to##_##from(A a) { \
        return (R)limited(as_number(a, from_width, from_signed), to_width, to_signed); \
    } \
    PROVE(lw_cvt_sat_##to##_##from, cvt_sat_##to##_##from, R, A)

#define TO_U8(F, ...)  F(u8, uint8_t, 8, false, __VA_ARGS__)
#define TO_U16(F, ...) F(u16, uint16_t, 16, false, __VA_ARGS__)
#define TO_U32(F, ...) F(u32, uint32_t, 32, false, __VA_ARGS__)
#define TO_U64(F, ...) F(u64, uint64_t, 64, false, __VA_ARGS__)
#define TO_S8(F, ...)  F(s8, int8_t, 8, true, __VA_ARGS__)
#define TO_S16(F, ...) F(s16, int16_t, 16, true, __VA_ARGS__)
#define TO_S32(F, ...) F(s32, int32_t, 32, true, __VA_ARGS__)
#define TO_S64(F, ...) F(s64, int64_t, 64, true, __VA_ARGS__)

/* clang-format off */
#define FROM_EACH(TO) \
    TO(CONVERT, u8, uint8_t, 8, false) \
    TO(CONVERT, u16, uint16_t, 16, false) \
    TO(CONVERT, u32, uint32_t, 32, false) \
    TO(CONVERT, u64, uint64_t, 64, false) \
    TO(CONVERT, s8, int8_t, 8, true) \
    TO(CONVERT, s16, int16_t, 16, true) \
    TO(CONVERT, s32, int32_t, 32, true) \
    TO(CONVERT, s64, int64_t, 64, true)
/* clang-format on */
FROM_EACH(TO_U8)
FROM_EACH(TO_U16)
FROM_EACH(TO_U32)
FROM_EACH(TO_U64)
FROM_EACH(TO_S8)
FROM_EACH(TO_S16)
FROM_EACH(TO_S32)
FROM_EACH(TO_S64)

/* Types with a value that the result's does not have. */
TO_U8(SATURATE, u16, uint16_t, 16, false)
TO_U8(SATURATE, u32, uint32_t, 32, false)
TO_U16(SATURATE, u32, uint32_t, 32, false)
TO_U8(SATURATE, u64, uint64_t, 64, false)
TO_U16(SATURATE, u64, uint64_t, 64, false)
TO_U32(SATURATE, u64, uint64_t, 64, false)
/* clang-format off */
#define FROM_EACH_SIGNED(TO) \
    TO(SATURATE, s8, int8_t, 8, true) \
    TO(SATURATE, s16, int16_t, 16, true) \
    TO(SATURATE, s32, int32_t, 32, true) \
    TO(SATURATE, s64, int64_t, 64, true)
/* clang-format on */
FROM_EACH_SIGNED(TO_U8)
FROM_EACH_SIGNED(TO_U16)
FROM_EACH_SIGNED(TO_U32)
FROM_EACH_SIGNED(TO_U64)
TO_S8(SATURATE, u8, uint8_t, 8, false)
TO_S8(SATURATE, u16, uint16_t, 16, false)
TO_S16(SATURATE, u16, uint16_t, 16, false)
TO_S8(SATURATE, u32, uint32_t, 32, false)
TO_S16(SATURATE, u32, uint32_t, 32, false)
TO_S32(SATURATE, u32, uint32_t, 32, false)
TO_S8(SATURATE, u64, uint64_t, 64, false)
TO_S16(SATURATE, u64, uint64_t, 64, false)
TO_S32(SATURATE, u64, uint64_t, 64, false)
TO_S64(SATURATE, u64, uint64_t, 64, false)
TO_S8(SATURATE, s16, int16_t, 16, true)
TO_S8(SATURATE, s32, int32_t, 32, true)
TO_S16(SATURATE, s32, int32_t, 32, true)
TO_S8(SATURATE, s64, int64_t, 64, true)
TO_S16(SATURATE, s64, int64_t, 64, true)
TO_S32(SATURATE, s64, int64_t, 64, true)

/* ---- Two numbers and a word -------------------------------------------------------------------------------------- */

/* b in the lowest bits, a above it, and above both the lowest bits of c; pairs that fill a word take no c. */
static inline uint32_t packed(int32_t a, int32_t b, uint32_t c, unsigned width, bool is_signed) {
    const number below = (number)1 << width;
    const number parts = (limited(a, width, is_signed) & (below - 1)) * below +
                         (limited(b, width, is_signed) & (below - 1));
    return (uint32_t)((number)c * below * below + parts);
}
#define PACK(type, width, is_signed) \
    static inline uint32_t pack_##type(int32_t a, int32_t b, uint32_t c) { return packed(a, b, c, width, is_signed); } \
    PROVE(lw_cvt_pack_sat_##type##_s32, pack_##type, uint32_t, int32_t, int32_t, uint32_t)
#define PACK_WHOLE(type, is_signed) \
    static inline uint32_t pack_##type(int32_t a, int32_t b) { return packed(a, b, 0, 16, is_signed); } \
    PROVE(lw_cvt_pack_sat_##type##_s32, pack_##type, uint32_t, int32_t, int32_t)
PACK(u2, 2, false)
PACK(u4, 4, false)
PACK(u8, 8, false)
PACK(s2, 2, true)
PACK(s4, 4, true)
PACK(s8, 8, true)
PACK_WHOLE(u16, false)
PACK_WHOLE(s16, true)
