/* The shared part of the lane tests: operand values, and loops that compare a lane function with an
 * expression. */
#ifndef LANEWISE_TESTS_LANE_CHECK_H
#define LANEWISE_TESTS_LANE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "lanewise/lane.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef bool p;
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* Operand i of the test list: first small numbers, powers of two and their neighbours, runs of ones; then
 * noise. For floating point: zeros, subnormal numbers, NaNs and the bounds of every type; then noise of
 * several kinds. */
uint64_t lane_value(unsigned i);
uint64_t lane_value_f32(unsigned i);
uint64_t lane_value_f64(unsigned i);
enum { LANE_EDGES = 300 };

/* Every how many-th operand is enough: 5 in a build beside the first one, which takes all of them; else 1. */
unsigned lane_step(void);

/* Remember that a lane function has been tested; the last test compares with isa/lane.def. */
void lane_tested(const char *name);
/* … and that it was for all operands; a test compares with exhaustive.def. */
void lane_exhausted(const char *name);

/* Bits of a value of any type, zero-extended. */
#define BITS(v) (lane_bits(&(v), sizeof(v)))
static inline uint64_t lane_bits(const void *v, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, v, size);
    return bits;
}

/* Fill a variable of any type with operand i. */
#define FILL(v, i) \
    do { \
        uint64_t fill_ = _Generic((v), float : lane_value_f32, double : lane_value_f64, default : lane_value)(i); \
        if (_Generic((v), bool : true, default : false)) fill_ &= 1; \
        memcpy(&(v), &fill_, sizeof(v)); \
    } while (0)

void lane_fail(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t got, uint64_t want);

/* Compare lw_NAME with the expression `want` of a (and b, c, e) over the list; equal means equal bits. */
#define CHECK1(name, D, A, want) \
    do { \
        for (unsigned i_ = 0; i_ < 20000; i_++) { \
            A a; \
            FILL(a, i_); \
            D got_ = lw_##name(a), want_ = (D)(want); \
            if (BITS(got_) != BITS(want_)) lane_fail(#name, BITS(a), 0, 0, 0, BITS(got_), BITS(want_)); \
        } \
        for (unsigned i_ = 0; sizeof(A) == 2 && i_ < 65536; i_++) { \
            A a = (A)i_; \
            D got_ = lw_##name(a), want_ = (D)(want); \
            if (BITS(got_) != BITS(want_)) lane_fail(#name, BITS(a), 0, 0, 0, BITS(got_), BITS(want_)); \
        } \
        if (sizeof(A) == 2) lane_exhausted(#name); \
        lane_tested(#name); \
    } while (0)

#define CHECK2(name, D, A, B, want) \
    do { \
        for (unsigned i_ = 0; i_ < LANE_EDGES * LANE_EDGES + 20000; i_++) { \
            bool edge_ = i_ < LANE_EDGES * LANE_EDGES; \
            A a; \
            B b; \
            FILL(a, edge_ ? i_ / LANE_EDGES : i_ * 2); \
            FILL(b, edge_ ? i_ % LANE_EDGES : i_ * 2 + 1); \
            D got_ = lw_##name(a, b), want_ = (D)(want); \
            if (BITS(got_) != BITS(want_)) lane_fail(#name, BITS(a), BITS(b), 0, 0, BITS(got_), BITS(want_)); \
        } \
        lane_tested(#name); \
    } while (0)

#define CHECK3(name, D, A, B, C, want) \
    do { \
        for (unsigned i_ = 0; i_ < 200000; i_++) { \
            unsigned pick_ = (unsigned)lane_value(i_ + LANE_EDGES); \
            A a; \
            B b; \
            C c; \
            FILL(a, (pick_ % (LANE_EDGES * 2))); \
            FILL(b, (pick_ / 1024 % (LANE_EDGES * 2))); \
            FILL(c, (pick_ / 1048576 % (LANE_EDGES * 2))); \
            D got_ = lw_##name(a, b, c), want_ = (D)(want); \
            if (BITS(got_) != BITS(want_)) lane_fail(#name, BITS(a), BITS(b), BITS(c), 0, BITS(got_), BITS(want_)); \
        } \
        lane_tested(#name); \
    } while (0)

/* One group per header. */
int lane_logic(void);
int lane_shift(void);
int lane_integer(void);
int lane_bits_group(void);
int lane_compare(void);
int lane_float(void);
int lane_approx(void);
int lane_half(void);
int lane_rounding(void);
int lane_convert(void);
int lane_convert_half(void);
int lane_convert_narrow(void);
int lane_video(void);
int lane_video_numbers(void);
int lane_vector(void);

/* All slices of the approximate functions with these names, or of all: minutes. */
int lane_approx_whole(int count, char **names);

#endif /* LANEWISE_TESTS_LANE_CHECK_H */
