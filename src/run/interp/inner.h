/* inner.h: element functions that no PTX spelling names: what lowering composes and fuses. Rows: isa/lane/inner.def. */
#ifndef LW_INNER_H
#define LW_INNER_H

#include <lanewise/lane.h>

static inline uint16_t lw_mov_b16(uint16_t a) { return a; }
static inline uint32_t lw_mov_b32(uint32_t a) { return a; }
static inline uint64_t lw_mov_b64(uint64_t a) { return a; }
static inline uint16_t lw_low_b16_b32(uint32_t a) { return (uint16_t)a; }
static inline uint16_t lw_high_b16_b32(uint32_t a) { return (uint16_t)(a >> 16); }
static inline uint32_t lw_low_b32_b64(uint64_t a) { return (uint32_t)a; }
static inline uint32_t lw_high_b32_b64(uint64_t a) { return (uint32_t)(a >> 32); }
static inline uint16_t lw_low_b16_b64(uint64_t a) { return (uint16_t)a; }
static inline uint32_t lw_zext_b32_b16(uint16_t a) { return a; }
static inline uint64_t lw_zext_b64_b16(uint16_t a) { return a; }
static inline uint64_t lw_zext_b64_b32(uint32_t a) { return a; }
static inline uint32_t lw_sext_b32_b16(int16_t a) { return (uint32_t)(int32_t)a; }
static inline uint64_t lw_sext_b64_b16(int16_t a) { return (uint64_t)(int64_t)a; }
static inline uint64_t lw_sext_b64_b32(int32_t a) { return (uint64_t)(int64_t)a; }
static inline uint16_t lw_sext8_b16(int8_t a) { return (uint16_t)(int16_t)a; }
static inline uint16_t lw_zext8_b16(uint8_t a) { return a; }
static inline uint32_t lw_pack_b32_b16(uint16_t a, uint16_t b) { return a | (uint32_t)b << 16; }
static inline uint64_t lw_pack_b64_b32(uint32_t a, uint32_t b) { return a | (uint64_t)b << 32; }
static inline uint16_t lw_pack_b16_b8(uint16_t a, uint16_t b) { return (uint16_t)((a & 0xff) | b << 8); }
static inline uint16_t lw_high_b8_b16(uint16_t a) { return a >> 8; }

static inline uint32_t lw_rotl_b32(uint32_t a, uint32_t n) { return a << (n & 31) | a >> (-n & 31); }
static inline uint32_t lw_add3_b32(uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }
static inline uint32_t lw_xor_rotl_b32(uint32_t a, uint32_t b, uint32_t c) { return lw_rotl_b32(a ^ b, c); }
static inline uint32_t lw_add_rotl_b32(uint32_t a, uint32_t b, uint32_t c) { return lw_rotl_b32(a + b, c); }
static inline uint32_t lw_xor_rot3_b32(uint32_t a, uint32_t b) {
    return lw_rotl_b32(a, b & 31) ^ lw_rotl_b32(a, b >> 8 & 31) ^ lw_rotl_b32(a, b >> 16 & 31);
}
static inline uint32_t lw_xor_rot2_shr_b32(uint32_t a, uint32_t b) {
    return lw_rotl_b32(a, b & 31) ^ lw_rotl_b32(a, b >> 8 & 31) ^ a >> (b >> 16 & 31);
}
static inline uint32_t lw_xor_shl_b32(uint32_t a, uint32_t b, uint32_t c) { return a ^ b << (c & 31); }
static inline uint32_t lw_xor_shr_b32(uint32_t a, uint32_t b, uint32_t c) { return a ^ b >> (c & 31); }
static inline uint32_t lw_add_shl_b32(uint32_t a, uint32_t b, uint32_t c) { return a + (b << (c & 31)); }

static inline float lw_any_nan_add_f32(float a, float b) { return a + b; }
static inline float lw_any_nan_sub_f32(float a, float b) { return a - b; }
static inline float lw_any_nan_mul_f32(float a, float b) { return a * b; }
static inline float lw_any_nan_fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#endif
