/* matrix_lanes.h: one block of addends for a vector of elements of d, for one CPU level.
 *
 * The product of two factors is exact in f32: they have 11 bits each at most. All addends become integers in places of
 * the last bit that is kept by a conversion, which cuts toward zero as the tensor cores do; a sum of integers is exact
 * in any order. An exponent stands beside its number, since that of a subnormal is not what the bits say, and says too
 * if there is none. */
#ifndef LW_LEVEL_MATRIX_LANES_H
#define LW_LEVEL_MATRIX_LANES_H

#include "run/interp/level/matrix.h"

enum { LANES = LW_VECTOR_BYTES / 4 };

typedef float floats __attribute__((vector_size(LW_VECTOR_BYTES)));
typedef int32_t ints __attribute__((vector_size(LW_VECTOR_BYTES)));
typedef uint32_t words __attribute__((vector_size(LW_VECTOR_BYTES)));
/* The same at places aligned to an element only. */
typedef uint32_t loose_words __attribute__((vector_size(LW_VECTOR_BYTES), aligned(4), may_alias));
#define LOAD(type, from) ((type) * (const loose_words *)(from))
#define ALL(number)      ((ints){0} + (number))

/* Exponents of what is no number. Sums of two: nothing and something else but special is less than any exponent,
 * special and anything more than SPECIAL / 2. */
enum { NOTHING = -5000, SPECIAL = 16000 };

/* Factors whose exponents are in this range are near: their products and what these are cut to are normal f32. Others
 * are far. An element whose largest exponent is below LEAST_SCALED has no products of near factors but zeros. */
enum { NEAR_LEAST = -50, NEAR_MOST = 60, LEAST_SCALED = 2 * NEAR_LEAST };
enum { TINY = 10 }; /* 2^-TINY times any number here is less than 1 */

/* Numbers of f32, as bits, and their exponents. */
typedef struct lw_factors {
    uint32_t *values; /* of 1 to 2 without their exponents, if they are far */
    int32_t *exponents;
} lw_factors;

/* Some rows of a beside each other, and columns of b: a[k][row], b[k][column][row]. */
typedef struct lw_addends {
    lw_factors a, b;
    size_t count;  /* products of an element; a multiple of 4 */
    size_t lanes;  /* elements; a multiple of a vector's */
    size_t stride; /* from one k of b to the next */
    int cut;       /* bits kept below the largest exponent */
    int keep;      /* bits of a result in f32 */
} lw_addends;

typedef enum lw_nearness {
    NEAR, /* all factors are */
    FAR,
    HALF, /* near, and c and the result are f16, here as f32 */
} lw_nearness;

/* ---- Small things ----------------------------------------------------------------------------------------------- */

LW_INLINE ints larger(ints a, ints b) { return (ints)lw_larger((lw_vector)a, (lw_vector)b); }
/* Elements of a where `which` is all ones, else of b. */
LW_INLINE words choose(ints which, words a, words b) { return (a & (words)which) | (b & ~(words)which); }

/* 2^e, of exponents that f32 has. */
LW_INLINE floats powers(ints e) { return (floats)((e + 127) << 23); }

/* Exponents of f32 numbers, no less than the least one of their format. */
LW_INLINE ints exponents_of(words bits, int least) {
    const ints field = (ints)(bits >> 23 & 0xff), e = larger(field - 127, ALL(least));
    const words numbers = choose((ints)(field == 255), (words)ALL(SPECIAL), (words)e);
    return (ints)choose((ints)((bits << 1) == 0), (words)ALL(NOTHING), numbers);
}
/* 1.x or, if it is subnormal, 0.x of a number. */
LW_INLINE floats fractions_of(words bits) {
    const words sign = bits & 0x80000000, one = sign | 0x3f800000, field = bits & 0x7f800000;
    return (floats)((bits & 0x807fffff) | 0x3f800000) - (floats)choose((ints)(field != 0), (words){0}, one);
}

/* The k-th elements of the rows of a, for all columns. */
LW_INLINE words rows_of(const void *a, size_t k, int rows) {
    if (rows == 2) return (words)((lw_vector){0} + ((const lw_any64 *)a)[k]);
    return (words){0} + ((const lw_any32 *)a)[k];
}

/* Two rows of eight elements, in turns, and apart again: only where LANES is 16. */
typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t sixteen __attribute__((vector_size(64), aligned(4), may_alias));
LW_INLINE void weave(uint32_t *to, const void *first, const void *second) {
    const eight a = *(const eight *)first, b = *(const eight *)second;
    *(sixteen *)to = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}
LW_INLINE void separate(void *first, void *second, const uint32_t *from) {
    const sixteen x = *(const sixteen *)from;
    *(eight *)first = __builtin_shufflevector(x, x, 0, 2, 4, 6, 8, 10, 12, 14);
    *(eight *)second = __builtin_shufflevector(x, x, 1, 3, 5, 7, 9, 11, 13, 15);
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------- */

#define FOUR_TIMES _Pragma("GCC unroll 4") for (int step = 0; step < 4; step++, k++)

LW_INLINE ints largest_exponents(const lw_addends *x, size_t lane, ints e, int rows) {
    const int32_t *b = x->b.exponents + lane;
    for (size_t k = 0; k < x->count;)
        FOUR_TIMES e = larger(e, (ints)rows_of(x->a.exponents, k, rows) + LOAD(ints, b + k * x->stride));
    return e;
}

/* Sums of products, in places of 2^(e - cut). Where a number is none they are anything, and wrap around. */
LW_INLINE ints sum_near(const lw_addends *x, size_t lane, ints e, int rows) {
    const uint32_t *b = x->b.values + lane;
    const floats scale = powers(x->cut - e);
    words sum = {0};
    for (size_t k = 0; k < x->count;) FOUR_TIMES {
            const floats product = (floats)rows_of(x->a.values, k, rows) * LOAD(floats, b + k * x->stride);
            sum += (words) __builtin_convertvector(product * scale, ints);
        }
    return (ints)sum;
}
LW_INLINE ints sum_far(const lw_addends *x, size_t lane, ints e, int rows) {
    const uint32_t *b = x->b.values + lane;
    const int32_t *b_e = x->b.exponents + lane;
    words sum = {0};
    for (size_t k = 0; k < x->count; k++) {
        const floats product = (floats)rows_of(x->a.values, k, rows) * LOAD(floats, b + k * x->stride);
        const ints place = (ints)rows_of(x->a.exponents, k, rows) + LOAD(ints, b_e + k * x->stride) - e + x->cut;
        sum += (words) __builtin_convertvector(product * powers(larger(place, ALL(-TINY))), ints);
    }
    return (ints)sum;
}

/* size * 2^up in f32, but for the sign. What is lost is cut off; of f16 the last place that is kept is odd then, which
 * is rounded later. Also whether it is a number below the normal ones, of which all is wrong. */
LW_INLINE words sized(words size, ints up, int keep, bool odd, ints *below) {
    words lost = size >> keep;
    lost |= lost >> 1, lost |= lost >> 2, lost |= lost >> 4;
    const words sticky = (words)((size & lost) != 0) & (lost + 1);
    size = (size & ~lost) | (odd ? sticky : (words){0});
    const words number = (words) __builtin_convertvector(size, floats);
    const ints field = (ints)(number >> 23) + up, nothing = (ints)(size == 0);
    *below = (ints)(field < 1) & ~nothing;
    return choose((ints)(field >= 255), (words)ALL(0x7f800000), number + ((words)up << 23)) & ~(words)nothing;
}

/* c and products as bits of f32. *wrong becomes all ones where it is not what comes out. */
LW_INLINE words add_block(const lw_addends *x, size_t lane, words c, lw_nearness nearness, int rows, ints *wrong) {
    const ints c_e = exponents_of(c, nearness == HALF ? -14 : -126);
    /* The floor is 7 below the smallest normal number of the result. */
    ints e = largest_exponents(x, lane, larger(c_e, ALL(nearness == HALF ? -21 : -133)), rows), below;
    *wrong |= (ints)(e > SPECIAL / 2);
    const ints alone = (ints)(e < LEAST_SCALED);
    if (nearness == NEAR) e = larger(e, ALL(LEAST_SCALED));

    ints sum, last;
    if (nearness == FAR) {
        last = __builtin_convertvector(fractions_of(c) * powers(larger(c_e - e + x->cut, ALL(-TINY))), ints);
        sum = sum_far(x, lane, e, rows);
    } else {
        last = __builtin_convertvector((floats)c * powers(x->cut - e), ints);
        sum = sum_near(x, lane, e, rows);
    }
    /* Products alone are below 2^31; with c it may be one bit more than a signed number has. */
    const ints total = (ints)((words)sum + (words)last), over = (sum ^ total) & (last ^ total);
    const words negative = (words)((total ^ over) >> 31), size = ((words)total ^ negative) - negative;
    words result = sized(size, e - x->cut, x->keep, nearness == HALF, &below);
    result |= negative & 0x80000000; /* of nothing the sign is + */
    if (nearness == FAR) *wrong |= below;
    if (nearness == NEAR) {
        const words kept = c & UINT32_MAX << (24 - x->keep);
        result = choose(alone, (words)((kept << 1) != 0) & kept, result);
    }
    return result;
}

LW_INLINE bool add_row(const lw_addends *x, uint32_t *row, uint32_t *wrong, lw_nearness nearness, int rows) {
    ints any = {0};
    for (size_t lane = 0; lane < x->lanes; lane += LANES) {
        ints here = LOAD(ints, wrong + lane);
        *(loose_words *)(row + lane) = add_block(x, lane, LOAD(words, row + lane), nearness, rows, &here);
        *(loose_words *)(wrong + lane) = (words)here;
        any |= here;
    }
    return !lw_is_zero((lw_vector)any);
}

#endif
