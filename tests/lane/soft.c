/* Floating point by integers; soft.h says how. */
#include "soft.h"

static int fraction_bits(int width) { return width == 16 ? 10 : width == 32 ? 23 : 52; }
static int least_exponent(int width) { return width == 16 ? -14 : width == 32 ? -126 : -1022; }

static int length(u128 m) {
    int n = 0;
    for (; m != 0; m >>= 1) n++;
    return n;
}

/* m / 2^n, the lost bits or-ed into the lowest one. */
static u128 shift_sticky(u128 m, int n) {
    if (n <= 0) return m << -n;
    if (n > 127) return m != 0;
    return m >> n | ((m & (((u128)1 << n) - 1)) != 0);
}

soft soft_unpack(uint64_t bits, int width, bool ftz) {
    int p = fraction_bits(width), field = (int)(bits >> p) & ((1 << (width - 1 - p)) - 1);
    int top = (1 << (width - 1 - p)) - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << p) - 1);
    soft v = {.negative = bits >> (width - 1) & 1, .exponent = least_exponent(width) - p};
    v.nan = field == top && fraction != 0;
    v.infinite = field == top && fraction == 0;
    v.magnitude = field == 0 ? (ftz ? 0 : fraction) : fraction | UINT64_C(1) << p;
    if (field > 1) v.exponent += field - 1;
    return v;
}

/* Round a magnitude with n bits to be dropped. */
static u128 rounded(u128 m, int n, char rounding, bool negative) {
    if (n <= 0) return m << -n;
    m = shift_sticky(m, n - 2); /* two bits below the unit: half, and the rest */
    unsigned rest = (unsigned)(m & 3);
    bool up = rounding == 'n'   ? rest == 3 || (rest == 2 && m >> 2 & 1)
              : rounding == 'z' ? false
                                : rest != 0 && negative == (rounding == 'm');
    return (m >> 2) + up;
}

uint64_t soft_pack(soft v, int width, char rounding, bool ftz) {
    return soft_pack_format(v, width, fraction_bits(width), least_exponent(width), rounding, ftz);
}

uint64_t soft_pack_format(soft v, int width, int p, int least, char rounding, bool ftz) {
    uint64_t sign = (uint64_t)v.negative << (width - 1), infinity = ((UINT64_C(1) << (width - 1 - p)) - 1) << p;
    if (v.infinite) return sign | infinity;
    if (v.magnitude == 0) return sign;
    int n = length(v.magnitude), drop = n - (p + 1);
    if (ftz) { /* as if the exponent had no bound */
        u128 m = rounded(v.magnitude, drop, rounding, v.negative);
        if (length(m) + v.exponent + drop - 1 < least) return sign;
    }
    if (v.exponent + drop < least - p) drop = least - p - v.exponent; /* subnormal: fewer bits */
    u128 m = rounded(v.magnitude, drop, rounding, v.negative);
    int exponent = v.exponent + drop;
    if (length(m) > p + 1) m >>= 1, exponent++;
    if (exponent + p > -least + 1) {
        bool away = rounding == 'n' || (rounding != 'z' && v.negative == (rounding == 'm'));
        return sign | (away ? infinity : infinity - 1);
    }
    uint64_t field = length(m) > p ? (uint64_t)(exponent + p - least + 1) : 0;
    return sign | field << p | ((uint64_t)m & ((UINT64_C(1) << p) - 1));
}

soft soft_integer(i128 v) { return (soft){.negative = v < 0, .magnitude = v < 0 ? (u128)-v : (u128)v, .exponent = 0}; }

/* The top bit to bit 125, so that a sum fits and whatever is shifted out lies far below the rounding. */
static soft normal(soft v) {
    int n = 126 - length(v.magnitude);
    v.magnitude <<= n;
    v.exponent -= n;
    return v;
}

soft soft_add(soft a, soft b) {
    soft nan = {.nan = true};
    if (a.nan || b.nan || (a.infinite && b.infinite && a.negative != b.negative)) return nan;
    if (a.infinite || b.infinite) return a.infinite ? a : b;
    if (b.magnitude == 0 && a.magnitude == 0) return a.negative == b.negative ? a : (soft){.magnitude = 0};
    if (b.magnitude == 0 || a.magnitude == 0) return a.magnitude ? a : b;
    a = normal(a), b = normal(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.magnitude < b.magnitude)) {
        soft swap = a;
        a = b, b = swap;
    }
    b.magnitude = shift_sticky(b.magnitude, a.exponent - b.exponent);
    a.magnitude = a.negative == b.negative ? a.magnitude + b.magnitude : a.magnitude - b.magnitude;
    if (a.magnitude == 0) a.negative = false;
    return a;
}

soft soft_multiply(soft a, soft b) {
    soft v = {.negative = a.negative != b.negative};
    bool zero = (!a.infinite && a.magnitude == 0) || (!b.infinite && b.magnitude == 0);
    v.nan = a.nan || b.nan || ((a.infinite || b.infinite) && zero);
    v.infinite = !v.nan && (a.infinite || b.infinite);
    v.magnitude = a.magnitude * b.magnitude; /* 53 bits each at most */
    v.exponent = a.exponent + b.exponent;
    return v;
}

soft soft_divide(soft a, soft b) {
    soft v = {.negative = a.negative != b.negative};
    bool zero_a = !a.infinite && a.magnitude == 0, zero_b = !b.infinite && b.magnitude == 0;
    v.nan = a.nan || b.nan || (a.infinite && b.infinite) || (zero_a && zero_b);
    v.infinite = !v.nan && (a.infinite || zero_b);
    if (v.nan || v.infinite || b.infinite || zero_a) return v;
    int shift = 126 - length(a.magnitude);
    v.magnitude = (a.magnitude << shift) / b.magnitude;
    v.magnitude |= (a.magnitude << shift) % b.magnitude != 0;
    v.exponent = a.exponent - shift - b.exponent;
    return v;
}

soft soft_root(soft a) {
    if (!a.nan && !a.infinite && a.magnitude == 0) return a;
    if (a.nan || a.negative) return (soft){.nan = true};
    if (a.infinite) return a;
    int shift = 126 - length(a.magnitude);
    if ((a.exponent - shift) % 2 != 0) shift--;
    u128 square = a.magnitude << shift, root = 0;
    for (u128 bit = (u128)1 << 63; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= square) root |= bit;
    return (soft){.magnitude = root << 1 | (root * root != square), .exponent = (a.exponent - shift) / 2 - 1};
}

i128 soft_to_integer(soft v, char rounding, i128 low, i128 high) {
    if (v.infinite || length(v.magnitude) + v.exponent > 100) return v.negative ? low : high;
    i128 m = (i128)(v.exponent < -120 ? rounded(v.magnitude != 0, 4, rounding, v.negative)
                                      : rounded(v.magnitude, -v.exponent, rounding, v.negative));
    if (v.negative) m = -m;
    return m < low ? low : m > high ? high : m;
}
