/* matrix.c: one element of a product of matrices, by the text of its rule (matrix.h), in integers wherever the rule is
 * not that of ordinary numbers. Nothing here is meant to be quick. */
#include "run/interp/matrix.h"

#include <lanewise/lane.h>

/* ---- Formats ---------------------------------------------------------------------------------------------------- */

typedef enum lw_matrix_top { IEEE, ONE_NAN, ALL_NUMBERS } lw_matrix_top; /* what the largest exponent means */

typedef struct lw_matrix_format {
    int fraction, exponent, bias; /* bits, bits, and what the exponent's field is more than the exponent */
    lw_matrix_top top;
} lw_matrix_format;

static const lw_matrix_format formats[LW_MATRIX_TYPES] = {
    [LW_MATRIX_f16] = {10, 5, 15, IEEE},       [LW_MATRIX_bf16] = {7, 8, 127, IEEE},
    [LW_MATRIX_tf32] = {10, 8, 127, IEEE},     [LW_MATRIX_f32] = {23, 8, 127, IEEE},
    [LW_MATRIX_e4m3] = {3, 4, 7, ONE_NAN},     [LW_MATRIX_e5m2] = {2, 5, 15, IEEE},
    [LW_MATRIX_e3m2] = {2, 3, 3, ALL_NUMBERS}, [LW_MATRIX_e2m3] = {3, 2, 1, ALL_NUMBERS},
    [LW_MATRIX_e2m1] = {1, 2, 1, ALL_NUMBERS}, [LW_MATRIX_ue4m3] = {3, 4, 7, ONE_NAN},
};

/* places * 2^unit, if it is neither of the others. The exponent is that of the format, so places of a subnormal number
 * begin with zeros. */
typedef struct lw_matrix_number {
    bool negative, nan, infinite;
    int exponent, unit;
    uint64_t places;
} lw_matrix_number;

static lw_matrix_number read_number(lw_matrix_type type, uint64_t bits) {
    const lw_matrix_format *f = &formats[type];
    const int most = (1 << f->exponent) - 1, field = (int)(bits >> f->fraction) & most;
    const uint64_t fraction = bits & ((1u << f->fraction) - 1), all = (1u << f->fraction) - 1;
    lw_matrix_number x = {.negative = bits >> (f->fraction + f->exponent) & 1};
    x.nan = field == most && (f->top == IEEE ? fraction != 0 : f->top == ONE_NAN && fraction == all);
    x.infinite = field == most && f->top == IEEE && fraction == 0;
    x.exponent = (field ? field : 1) - f->bias;
    x.unit = x.exponent - f->fraction;
    x.places = x.nan || x.infinite ? 0 : field ? fraction | (uint64_t)1 << f->fraction : fraction;
    return x;
}

static uint64_t read_bits(lw_matrix_type type, const void *elements, size_t k) {
    switch (lw_matrix_bytes(type, 1)) {
    case 8: return ((const uint64_t *)elements)[k];
    case 4: return ((const uint32_t *)elements)[k] >> (type == LW_MATRIX_tf32 ? 13 : 0);
    case 2: return ((const uint16_t *)elements)[k];
    default: return ((const uint8_t *)elements)[k];
    }
}

/* The scale factor of element k; the sign of an ue4m3 does not count. */
static lw_matrix_number read_scale(const lw_matrix_scales *scales, const uint8_t *factors, size_t k) {
    const uint8_t bits = factors[k / scales->each];
    if (scales->type == LW_MATRIX_ue4m3) return read_number(LW_MATRIX_ue4m3, bits & 0x7f);
    return (lw_matrix_number){.nan = bits == 0xff, .exponent = bits - 127, .unit = bits - 127, .places = bits != 0xff};
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------- */

/* What has been added so far. */
typedef struct lw_matrix_sum {
    bool nan, plus, minus; /* an infinity of that sign */
    int exponent;          /* the largest one, and no less than the unit's floor */
    int64_t cut;           /* in units of 2^(exponent - cut) */
} lw_matrix_sum;

static bool is_zero(const lw_matrix_number *x) { return !x->nan && !x->infinite && x->places == 0; }

static lw_matrix_number multiply(lw_matrix_number a, lw_matrix_number b) {
    const bool no_number = (is_zero(&a) && b.infinite) || (a.infinite && is_zero(&b));
    return (lw_matrix_number){
        .negative = a.negative != b.negative,
        .nan = a.nan || b.nan || no_number,
        .infinite = a.infinite || b.infinite,
        .exponent = a.exponent + b.exponent,
        .unit = a.unit + b.unit,
        .places = a.places * b.places,
    };
}

static void find_largest(lw_matrix_sum *sum, const lw_matrix_number *x) {
    if (x->nan) sum->nan = true;
    else if (x->infinite) *(x->negative ? &sum->minus : &sum->plus) = true;
    else if (x->places && x->exponent > sum->exponent) sum->exponent = x->exponent;
}

static void add_cut(lw_matrix_sum *sum, const lw_matrix_number *x, int cut) {
    if (!x->places) return;
    const int up = x->unit - (sum->exponent - cut);
    const int64_t size = up >= 0 ? (int64_t)(x->places << up) : up > -64 ? (int64_t)(x->places >> -up) : 0;
    sum->cut += x->negative ? -size : size;
}

/* size * 2^unit in a format, what is too much for it cut off or rounded to nearest. */
static uint32_t round_to(lw_matrix_type type, bool negative, uint64_t size, int unit, bool nearest) {
    const lw_matrix_format *f = &formats[type];
    if (!size) return 0;
    const int exponent = unit + 63 - __builtin_clzll(size), least = 1 - f->bias;
    const int drop = (exponent < least ? least : exponent) - f->fraction - unit;
    uint64_t kept = drop <= 0 ? size << -drop : drop > 63 ? 0 : size >> drop;
    if (nearest && drop > 0 && drop < 64) {
        const uint64_t half = (uint64_t)1 << (drop - 1), rest = size & (2 * half - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    const uint64_t bits = kept + (exponent < least ? 0 : (uint64_t)(exponent - least) << f->fraction),
                   infinity = (((uint64_t)1 << f->exponent) - 1) << f->fraction;
    if (!bits) return 0; /* +0, also where something negative was cut off */
    return (uint32_t)((bits < infinity ? bits : infinity) | (uint64_t)negative << (f->fraction + f->exponent));
}

static uint32_t finish(const lw_matrix_sum *sum, lw_matrix_type type, int cut) {
    const bool half = type == LW_MATRIX_f16;
    if (sum->nan || (sum->plus && sum->minus)) return half ? 0x7fff : 0x7fffffff;
    if (sum->plus) return half ? 0x7c00 : 0x7f800000;
    if (sum->minus) return half ? 0xfc00 : 0xff800000;
    uint64_t size = sum->cut < 0 ? 0 - (uint64_t)sum->cut : (uint64_t)sum->cut;
    const int more = size ? 63 - __builtin_clzll(size) - cut : 0; /* places beyond those that an addend can have */
    if (!half && more > 0) size = size >> more << more;
    return round_to(type, sum->cut < 0, size, sum->exponent - cut, half);
}

/* c and the products of a run of elements. */
static uint32_t one_block(const lw_matrix_number *a, const lw_matrix_number *b, size_t count, lw_matrix_type c_type,
                          uint32_t c_bits, lw_matrix_type d_type, int cut) {
    const lw_matrix_number c = read_number(c_type, c_bits);
    /* 7 below the smallest normal number of the result. */
    lw_matrix_sum sum = {.exponent = d_type == LW_MATRIX_f16 ? -21 : -133};
    find_largest(&sum, &c);
    for (size_t k = 0; k < count; k++) {
        const lw_matrix_number product = multiply(a[k], b[k]);
        find_largest(&sum, &product);
    }
    add_cut(&sum, &c, cut);
    for (size_t k = 0; k < count; k++) {
        const lw_matrix_number product = multiply(a[k], b[k]);
        add_cut(&sum, &product, cut);
    }
    return finish(&sum, d_type, cut);
}

static uint32_t widen(uint32_t half) { return lw_bits_f32_(lw_pin_f32_(lw_cvt_f32_f16((uint16_t)half))); }
static uint32_t narrow(uint32_t bits) { return lw_cvt_rn_f16_f32(lw_from_bits_f32_(bits)); }
static uint32_t narrow_toward_zero(uint32_t bits) { return lw_cvt_rz_f16_f32(lw_from_bits_f32_(bits)); }

enum { MOST = 256 }; /* products of one block */

static uint32_t by_blocks(const lw_matrix_kind *kind, const void *a, const void *b, uint32_t c) {
    lw_matrix_number x[MOST], y[MOST];
    const size_t each = kind->block ? kind->block : kind->k;
    const bool unlike = kind->c_type != kind->d_type;
    if (each > MOST) lw_bug("a block of %zu products", each);
    if (unlike && kind->c_type == LW_MATRIX_f16) c = widen(c);
    const lw_matrix_type sum_type = unlike ? LW_MATRIX_f32 : kind->d_type;
    for (size_t from = 0; from < kind->k; from += each) {
        for (size_t k = 0; k < each; k++) {
            x[k] = read_number(kind->a_type, read_bits(kind->a_type, a, from + k));
            y[k] = read_number(kind->b_type, read_bits(kind->b_type, b, from + k));
            x[k].negative ^= kind->negate_a;
            y[k].negative ^= kind->negate_b;
            if (!kind->scales) continue;
            x[k] = multiply(x[k], read_scale(kind->scales, kind->scales->a, from + k));
            y[k] = multiply(y[k], read_scale(kind->scales, kind->scales->b, from + k));
        }
        c = one_block(x, y, each, sum_type, c, sum_type, kind->cut);
    }
    if (!unlike || kind->d_type != LW_MATRIX_f16) return c;
    return kind->saturate ? narrow_toward_zero(c) : narrow(c);
}

/* ---- The other rules -------------------------------------------------------------------------------------------- */

/* An e4m3 or e5m2 as f16: the same number, whose exponent is another one if it was subnormal. */
static lw_matrix_number read_as_f16(lw_matrix_type type, const void *elements, size_t k) {
    const uint32_t bits = (uint32_t)read_bits(type, elements, k);
    if (type == LW_MATRIX_e5m2) return read_number(LW_MATRIX_f16, bits << 8);
    const lw_matrix_number x = read_number(type, bits);
    if (x.nan) return read_number(LW_MATRIX_f16, 0x7fff);
    return read_number(LW_MATRIX_f16, round_to(LW_MATRIX_f16, x.negative, x.places, x.unit, false));
}

static uint32_t by_pairs(const lw_matrix_kind *kind, const void *a, const void *b, uint32_t c) {
    const lw_matrix_type type = kind->d_type;
    uint32_t sum = 0;
    for (size_t first = 0; first < 4; first += 2) {
        lw_matrix_number x[MOST / 2], y[MOST / 2];
        size_t count = 0;
        if (kind->k > MOST) lw_bug("pairs of %u products", kind->k);
        for (size_t k = 0; k < kind->k; k++)
            if ((k & 2) == first) {
                x[count] = read_as_f16(kind->a_type, a, k);
                y[count++] = read_as_f16(kind->b_type, b, k);
            }
        sum = one_block(x, y, count, type, sum, type, LW_MATRIX_CUT);
    }
    if (type == LW_MATRIX_f32) return lw_bits_f32_(lw_add_rn_f32(lw_from_bits_f32_(sum), lw_from_bits_f32_(c)));
    const lw_matrix_number x = read_number(type, sum), one = read_number(type, 0x3c00);
    return one_block(&x, &one, 1, type, c, type,
                     LW_MATRIX_CUT); /* what is cut of two f16 decides no rounding; a zero is +0 */
}

static uint32_t by_sums(const lw_matrix_kind *kind, const uint16_t *a, const uint16_t *b, uint32_t c) {
    const float z = kind->c_type == LW_MATRIX_f16 ? lw_cvt_f32_f16((uint16_t)c) : lw_from_bits_f32_(c);
    float p[4];
    if (kind->k != 4) lw_bug("sums of %u products", kind->k);
    for (int k = 0; k < 4; k++) p[k] = lw_cvt_f32_f16(a[k]) * lw_cvt_f32_f16(b[k]);
    if (kind->d_type == LW_MATRIX_f16) return narrow(lw_bits_f32_((z + (p[0] + p[1])) + (p[2] + p[3])));
    return lw_bits_f32_(lw_pin_f32_((((0.0f + p[0]) + p[1]) + p[2]) + p[3] + z));
}

static uint64_t by_fma(const lw_matrix_kind *kind, const double *a, const double *b, uint64_t c) {
    double d = lw_from_bits_f64_(c);
    for (size_t k = 0; k < kind->k; k++)
        d = kind->rounding == LW_FLOAT_RN ? lw_fma_rn_f64(a[k], b[k], d) : lw_fma_f64(a[k], b[k], d, kind->rounding);
    return lw_bits_f64_(d);
}

static int32_t read_integer(lw_matrix_type type, const uint8_t *elements, size_t k) {
    return type == LW_MATRIX_s8 ? (int8_t)elements[k] : elements[k];
}

static uint32_t by_integers(const lw_matrix_kind *kind, const uint8_t *a, const uint8_t *b, uint32_t c) {
    int64_t sum = (int32_t)c;
    for (size_t k = 0; k < kind->k; k++) sum += read_integer(kind->a_type, a, k) * read_integer(kind->b_type, b, k);
    if (kind->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static uint32_t by_bits(const lw_matrix_kind *kind, const uint32_t *a, const uint32_t *b, uint32_t c) {
    for (size_t k = 0; k < kind->k / 32u; k++) c += lw_bits_count(kind->exclusive ? a[k] ^ b[k] : a[k] & b[k]);
    return c;
}

uint64_t lw_matrix_element(const lw_matrix_kind *kind, const void *a, const void *b, uint64_t c) {
    switch ((lw_matrix_rule)kind->rule) {
    case LW_MATRIX_block: return by_blocks(kind, a, b, (uint32_t)c);
    case LW_MATRIX_pairs: return by_pairs(kind, a, b, (uint32_t)c);
    case LW_MATRIX_sums: return by_sums(kind, a, b, (uint32_t)c);
    case LW_MATRIX_fma: return by_fma(kind, a, b, c);
    case LW_MATRIX_integer: return by_integers(kind, a, b, (uint32_t)c);
    case LW_MATRIX_bits: return by_bits(kind, a, b, (uint32_t)c);
    }
    return 0;
}
