/* types.h: what the types of isa/lane.def are in C, as arguments (c_) and as elements of register slots (slot_). */
#ifndef LW_TYPES_H
#define LW_TYPES_H

#include <stdint.h>

/* 8-bit values live in 16-bit slots; a predicate is a bit in its slot, and a byte where lanes are looped over. */
typedef uint8_t c_u8, c_p;
typedef int8_t c_s8;
typedef uint16_t c_u16;
typedef int16_t c_s16;
typedef uint32_t c_u32;
typedef int32_t c_s32;
typedef uint64_t c_u64;
typedef int64_t c_s64;
typedef float c_f32;
typedef double c_f64;
typedef uint16_t slot_u8;
typedef int16_t slot_s8;
typedef uint16_t slot_u16;
typedef int16_t slot_s16;
typedef uint32_t slot_u32;
typedef int32_t slot_s32;
typedef uint64_t slot_u64;
typedef int64_t slot_s64;
typedef float slot_f32;
typedef double slot_f64;
typedef uint8_t slot_p;

#endif
