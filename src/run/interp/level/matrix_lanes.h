/* matrix_lanes.h: a row of blocks, a vector of neighbouring columns at a time. Included once for each width, with LANES
 * the elements of a vector; names end in it.
 *
 * All vectors are of f32, or of 32-bit integers beside them. An exponent is an integer that stands beside its number,
 * since that of a subnormal is not what the bits say, and says too if there is none. */

#define AT(name) LW_PASTE(name, LANES)

typedef float AT(floats) __attribute__((vector_size(4 * LANES)));
typedef int32_t AT(ints) __attribute__((vector_size(4 * LANES)));
typedef uint32_t AT(words) __attribute__((vector_size(4 * LANES)));
/* The same at places aligned to an element only. */
typedef uint32_t AT(loose) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#define floats           AT(floats)
#define ints             AT(ints)
#define words            AT(words)
#define LOAD(type, from) ((type) * (const AT(loose) *)(from))
#define ALL(number)      ((ints){0} + (number))

LW_INLINE ints AT(larger)(ints a, ints b) {
    ints d;
    for (int i = 0; i < LANES; i++) d[i] = a[i] > b[i] ? a[i] : b[i];
    return d;
}
#define larger AT(larger)

/* Elements of a where `which` is all ones, else of b. */
LW_INLINE words AT(choose)(ints which, words a, words b) { return (a & (words)which) | (b & ~(words)which); }
#define choose AT(choose)

/* Exponents of f32 numbers, no less than the least one of their format. */
LW_INLINE ints AT(exponents_of)(words bits, int least) {
    const ints field = (ints)(bits >> 23 & 0xff), e = larger(field - 127, ALL(least));
    const words numbers = choose((ints)(field == 255), (words)ALL(SPECIAL), (words)e);
    return (ints)choose((ints)((bits << 1) == 0), (words)ALL(NOTHING), numbers);
}
#define exponents_of AT(exponents_of)

/* 2^e, of exponents that f32 has. */
LW_INLINE floats AT(powers)(ints e) { return (floats)((e + 127) << 23); }
#define powers AT(powers)

/* 1.x or, if it is subnormal, 0.x of a number. */
LW_INLINE floats AT(fractions_of)(words bits) {
    const words one = ((bits & 0x807fffff) | 0x3f800000), normal = (words)((bits & 0x7f800000) != 0);
    return (floats)one - (floats)choose((ints)normal, (words){0}, (bits & 0x80000000) | 0x3f800000);
}
#define fractions_of AT(fractions_of)

/* One block of a row: c and `count` products. far: factors are fractions, whose products are brought to their places
 * one by one; otherwise they are the numbers, whose products and their last places are in the range of f32. half: c and
 * the result are f16, here as f32.
 *
 * returns  bits of the result; *odd is all ones where they are not */
LW_INLINE words AT(block)(const lw_row_block *x, size_t column, words c, bool far, bool half, ints *odd) {
    const int cut = x->cut;
    const int32_t *a_e = x->a.exponents, *b_e = x->b.exponents + column;
    const lw_any_float *a = (const lw_any_float *)x->a.values;
    const uint32_t *b = x->b.values + column;
    const ints c_e = exponents_of(c, half ? -14 : -126);
    ints e = larger(c_e, ALL(half ? -21 : -133));
    for (size_t k = 0; k < x->count; k++) e = larger(e, a_e[k] + LOAD(ints, b_e + k * x->stride));
    const ints special = e > SPECIAL / 2;
    /* What is near has no smaller exponent unless all products are zero: then the result is c. */
    const ints alone = far || half ? (ints){0} : (ints)(e < LEAST_SCALED);
    if (!far && !half) e = larger(e, ALL(LEAST_SCALED));

    /* Each addend as an integer, in places of 2^(e - cut): conversion cuts toward zero. */
    ints sum = {0}, last;
    if (far) {
        const floats own = powers(larger(c_e - e + cut, ALL(-TINY)));
        last = __builtin_convertvector(fractions_of(c) * own, ints);
        for (size_t k = 0; k < x->count; k++) {
            const ints place = a_e[k] + LOAD(ints, b_e + k * x->stride) - e + cut;
            const floats product = LOAD(floats, b + k * x->stride) * a[k];
            sum += __builtin_convertvector(product * powers(larger(place, ALL(-TINY))), ints);
        }
    } else {
        const floats scale = powers(cut - e);
        last = __builtin_convertvector((floats)c * scale, ints);
        for (size_t k = 0; k < x->count; k++)
            sum += __builtin_convertvector(LOAD(floats, b + k * x->stride) * a[k] * scale, ints);
    }

    /* Products alone are below 2^31; with c it may be one bit more than a signed number has. */
    const ints total = (ints)((words)sum + (words)last), over = (sum ^ total) & (last ^ total);
    const words negative = (words)((total ^ over) >> 31);
    words size = ((words)total ^ negative) - negative;

    /* The places that the result keeps; of f16 the last one is odd where some were lost, which is rounded later. */
    words lost = size >> x->keep;
    lost |= lost >> 1, lost |= lost >> 2, lost |= lost >> 4;
    const words sticky = half ? (words)((size & lost) != 0) & (lost + 1) : (words){0};
    size = (size & ~lost) | sticky;

    const words number = (words) __builtin_convertvector(size, floats), up = (words)(e - cut) << 23;
    const ints field = (ints)(number >> 23) + (e - cut);
    words result = choose((ints)(field >= 255), (words)ALL(0x7f800000), number + up) | (negative & 0x80000000);
    result = choose((ints)(size == 0), (words){0}, result);
    if (!far && !half) result = choose(alone, choose((ints)((c << 1) == 0), (words){0}, c), result);
    *odd |= special;
    if (far) *odd |= (ints)(field < 1) & (ints)(size != 0);
    return result;
}
#define block AT(block)

/* `far` and `half` are constants of each call. */
LW_INLINE void AT(columns)(const lw_row_block *x, uint32_t *row, uint32_t *odd, bool far, bool half) {
    for (size_t column = 0; column < x->columns; column += LANES) {
        ints odds = LOAD(ints, odd + column);
        *(AT(loose) *)(row + column) = (AT(loose))block(x, column, LOAD(words, row + column), far, half, &odds);
        *(AT(loose) *)(odd + column) = (AT(loose))odds;
    }
}

/* row: bits of c, then those of the result; odd: all ones where they are not, one element a column. */
static void AT(row)(const lw_row_block *x, uint32_t *row, uint32_t *odd) {
    if (x->half) AT(columns)(x, row, odd, false, true);
    else if (x->far) AT(columns)(x, row, odd, true, false);
    else AT(columns)(x, row, odd, false, false);
}

#undef floats
#undef ints
#undef words
#undef LOAD
#undef ALL
#undef larger
#undef choose
#undef exponents_of
#undef powers
#undef fractions_of
#undef block
#undef AT
#undef LANES
