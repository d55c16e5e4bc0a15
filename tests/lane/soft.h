/* Floating point by integers, for reference: a number is a sign, a 128-bit magnitude and an exponent, exact
 * or with a sticky lowest bit, and is rounded once, when it is packed. Nothing here uses the host's floating
 * point. */
#ifndef LANEWISE_TESTS_LANE_SOFT_H
#define LANEWISE_TESTS_LANE_SOFT_H

#include "check.h"

typedef struct {
    bool nan, infinite, negative;
    u128 magnitude; /* times 2^exponent; 0 is zero */
    int exponent;
} soft;

/* To and from the bits of a format of 16, 32 or 64 bits. Rounding: 'n' nearest even, 'z' towards zero, 'm'
 * down, 'p' up. With ftz, operands and results below the smallest normal number become zero. */
soft soft_unpack(uint64_t bits, int width, bool ftz);
uint64_t soft_pack(soft v, int width, char rounding, bool ftz);
/* The same of a format with `fraction` bits of fraction and a least normal number of 2^least: 7 and -126 for bf16. */
uint64_t soft_pack_format(soft v, int width, int fraction, int least, char rounding, bool ftz);
soft soft_integer(i128 v);

soft soft_add(soft a, soft b);
soft soft_multiply(soft a, soft b);
soft soft_divide(soft a, soft b);
soft soft_root(soft a);

/* The integer next to v, by 'n', 'z', 'm' or 'p', limited to low...high; v is no NaN. */
i128 soft_to_integer(soft v, char rounding, i128 low, i128 high);

#endif /* LANEWISE_TESTS_LANE_SOFT_H */
