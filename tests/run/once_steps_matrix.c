/* Products of matrices at every level that is built, and element by element, against the model of a GPU's. */
#include "matrix_model.h"
#include "steps.h"

#include "run/interp/matrix.h"

#include <fenv.h>

enum { MOST_M = 64, MOST_N = 24, MOST_K = 256, MOST = MOST_M * MOST_N };

typedef uint64_t tile[MOST_M * MOST_K]; /* of any element; b per row has m * n * k */

static tile a_tile, c_tile, d_tile;
static uint64_t b_tile[MOST * 64];
static uint64_t want[MOST];
static uint8_t a_scales[MOST_M * 4], b_scales[MOST_N * 4];
static const lw_matrix_scales powers = {LW_MATRIX_ue8m0, 32, a_scales, b_scales},
                              numbers = {LW_MATRIX_ue4m3, 16, a_scales, b_scales};

/* ---- Operands -------------------------------------------------------------------------------------------------- */

typedef struct format {
    uint32_t fraction, exponent, unused; /* bits; unused low ones of an element */
} format;

static const format formats[LW_MATRIX_TYPES] = {
    [LW_MATRIX_f16] = {10, 5, 0}, [LW_MATRIX_bf16] = {7, 8, 0},  [LW_MATRIX_tf32] = {10, 8, 13},
    [LW_MATRIX_f32] = {23, 8, 0}, [LW_MATRIX_f64] = {52, 11, 0}, [LW_MATRIX_e4m3] = {3, 4, 0},
    [LW_MATRIX_e5m2] = {2, 5, 0}, [LW_MATRIX_e3m2] = {2, 3, 0},  [LW_MATRIX_e2m3] = {3, 2, 0},
    [LW_MATRIX_e2m1] = {1, 2, 0},
};

typedef enum how {
    RAW,
    NEAR,
    WIDE, /* and rows of zeros */
    SMALL,
    LARGE,
    SPECIAL,
    POWERS,
    CANCEL, /* pairs of products that differ in a last place, or not at all */
    FAR_C,
    MASKED,
    MOVED, /* all exponents of a and of b by so much */
    FULL,  /* products and c are as large as their exponents allow, and have one sign */
    TIES,  /* halves of the last place of a small f16, and products far below it */
    HOWS
} how;

/* An element; `off` moves its exponent. Integers and bits are raw ones in all modes but SPECIAL, which has extremes. */
static uint64_t random_element(how how, lw_matrix_type type, int off) {
    const format *f = &formats[type];
    const uint64_t raw = steps_random() >> 7;
    if (!f->exponent)
        return how != SPECIAL || raw & 0xc0000 ? raw : raw & 1 ? 0x7f7f7f7f7f7f7f7fu : 0x8080808080808080u;
    const uint32_t most = (1u << f->exponent) - 1, bias = most >> 1;
    uint64_t fraction = raw & (((uint64_t)1 << f->fraction) - 1), sign = raw >> 60 & 1 & (uint64_t)(how != POWERS);
    uint32_t field = steps_below(most + 1);
    switch (how) {
    case RAW: return raw ^ raw >> 1;
    case FAR_C:
    case MASKED:
    case MOVED:
    case CANCEL:
    case NEAR: field = bias - 2 + steps_below(4); break;
    case WIDE: field = 1 + steps_below(most - 1); break;
    case SMALL: field = steps_below(3); break;
    case LARGE: field = most - 3 + steps_below(3); break;
    case SPECIAL:
        if (steps_below(40)) field = bias - 1 + steps_below(3);
        else field = steps_below(2) ? most : 0, fraction = steps_below(2) ? 0 : fraction;
        break;
    case POWERS:
        field = bias - f->fraction / 2 + steps_below(f->fraction), fraction &= fraction >> 1 & fraction >> 5;
        break;
    case FULL:
        field = bias, sign = 0,
        fraction = type == LW_MATRIX_f32 ? fraction : (((uint64_t)1 << f->fraction) - 1) - (raw >> 50 & 1);
        break;
    default: break;
    }
    if ((how == MASKED && steps_below(3)) || (how == WIDE && !steps_below(8)))
        return sign << (f->exponent + f->fraction);
    const int moved = (int)field + off;
    field = moved < 0 ? 0 : moved > (int)most ? most : (uint32_t)moved;
    return ((sign << f->exponent | field) << f->fraction | fraction) << f->unused |
           (raw >> 40 & ((1u << f->unused) - 1));
}

static void put(void *at, lw_matrix_type type, size_t i, uint64_t value) {
    switch (lw_matrix_bytes(type, 1)) {
    case 8: ((uint64_t *)at)[i] = value; break;
    case 4: ((uint32_t *)at)[i] = (uint32_t)value; break;
    case 2: ((uint16_t *)at)[i] = (uint16_t)value; break;
    default: ((uint8_t *)at)[i] = (uint8_t)value; break;
    }
}
static uint64_t get(const void *at, lw_matrix_type type, size_t i) {
    switch (lw_matrix_bytes(type, 1)) {
    case 8: return ((const uint64_t *)at)[i];
    case 4: return ((const uint32_t *)at)[i];
    case 2: return ((const uint16_t *)at)[i];
    default: return ((const uint8_t *)at)[i];
    }
}
/* b1 lies in words. */
static lw_matrix_type stored(uint8_t type) { return type == LW_MATRIX_b1 ? LW_MATRIX_s32 : (lw_matrix_type)type; }
static size_t length(const lw_matrix_kind *kind) { return kind->a_type == LW_MATRIX_b1 ? kind->k / 32u : kind->k; }

static int some_way(lw_matrix_type type) {
    const int most = (1 << formats[type].exponent) / 2;
    return formats[type].exponent ? (int)steps_below((uint32_t)(2 * most)) - most : 0;
}

static void change(const lw_matrix_kind *kind, how how);
static void fill(const lw_matrix_kind *kind, how how) {
    const size_t k = length(kind), rows = kind->b_per_row ? kind->m : 1;
    const int a_off = how == MOVED ? some_way(kind->a_type) : 0, b_off = how == MOVED ? some_way(kind->b_type) : 0;
    for (size_t i = 0; i < kind->m * k; i++)
        put(a_tile, stored(kind->a_type), i, random_element(how, kind->a_type, a_off));
    for (size_t i = 0; i < rows * kind->n * k; i++)
        put(b_tile, stored(kind->b_type), i, random_element(how, kind->b_type, b_off));
    for (size_t i = 0; i < (size_t)kind->m * kind->n; i++) {
        const int off = how == FAR_C   ? (int)steps_below(80) - 50
                        : how == MOVED ? a_off + b_off + (int)steps_below(60) - 30
                                       : 0;
        const uint64_t c = random_element(how == RAW && steps_below(2) ? NEAR : how, kind->c_type, off);
        put(c_tile, kind->c_type, i, steps_below(6) ? c : 0);
    }
    change(kind, how);
    for (size_t i = 0; i < sizeof a_scales + sizeof b_scales; i++) { /* factors near 1, or any */
        uint8_t *to = i < sizeof a_scales ? &a_scales[i] : &b_scales[i - sizeof a_scales];
        const uint32_t one = kind->scales == &numbers ? 0x38 : 127;
        *to = (uint8_t)(how == RAW || how == WIDE ? steps_below(256) : one - 2 + steps_below(4));
    }
}

/* In even rows odd multiples of 2^-25 by one product, in odd ones 2^-11 beside a c of 1 to 2; what the other products
 * have is below that, and b the same for both. */
static void make_ties(const lw_matrix_kind *kind) {
    const size_t k = length(kind), rows = kind->b_per_row ? kind->m : 1;
    for (size_t i = 0; i < kind->m * k; i++) {
        const uint64_t random = steps_random();
        uint64_t bits = i % k ? random & 0x8003 : 0x1000 | (random & 0x8300);
        if (i / k % 2) bits = i % k == 0 ? 0x4800 : i % k == 1 ? 0x3800 : 0;
        put(a_tile, LW_MATRIX_f16, i, bits);
    }
    for (size_t i = 0; i < rows * kind->n * k; i++)
        put(b_tile, LW_MATRIX_f16, i, i % k ? steps_random() & 0x8003 : 0x0400); /* 2^-14 */
    for (size_t i = 0; i < (size_t)kind->m * kind->n; i++) {
        const bool half = kind->c_type == LW_MATRIX_f16;
        const uint64_t one = half ? 0x3c00 | (steps_random() & 0x3ff) : 0x3f800000 | (steps_random() & 0x7fe000);
        put(c_tile, kind->c_type, i, i / kind->n % 2 ? one : steps_random() & 0x3);
    }
}

/* What is random by itself so far becomes what the mode is about. */
static void change(const lw_matrix_kind *kind, how how) {
    const size_t k = length(kind), rows = kind->b_per_row ? kind->m : 1;
    const lw_matrix_type a = stored(kind->a_type), b = stored(kind->b_type);
    const uint64_t sign = (uint64_t)1 << (8 * lw_matrix_bytes(a, 1) - 1);
    if (how == WIDE)
        for (size_t i = 0; i < kind->m * k; i++)
            if (i / k % 3 == 0) put(a_tile, a, i, get(a_tile, a, i) & sign);
    if (how == CANCEL) {
        for (size_t i = 0; i < kind->m * k; i += 2)
            put(a_tile, a, i + 1, get(a_tile, a, i) ^ sign ^ (steps_below(4) == 0));
        for (size_t i = 0; i < rows * kind->n * k; i += 2) put(b_tile, b, i + 1, get(b_tile, b, i));
    }
    if (how == TIES && kind->a_type == LW_MATRIX_f16) make_ties(kind);
}

/* ---- The model -------------------------------------------------------------------------------------------------- */

static mma_fmt small_format(uint8_t type) {
    return type == LW_MATRIX_e4m3   ? MMA_E4M3
           : type == LW_MATRIX_e5m2 ? MMA_E5M2
           : type == LW_MATRIX_e3m2 ? MMA_E3M2
           : type == LW_MATRIX_e2m3 ? MMA_E2M3
                                    : MMA_E2M1;
}

/* An element with the scale factors of its row and column. */
static lw_matrix_kind kind_at(const lw_matrix_kind *kind, size_t at, lw_matrix_scales *scales) {
    lw_matrix_kind one = *kind;
    if (!kind->scales) return one;
    const size_t runs = kind->k / kind->scales->each;
    *scales = *kind->scales;
    scales->a += runs * (at / kind->n), scales->b += runs * (at % kind->n);
    one.scales = scales;
    return one;
}

/* `kind`: with the scale factors that are its element's. */
static uint64_t model(const lw_matrix_kind *kind, const uint64_t *x, const uint64_t *y, uint64_t c) {
    uint32_t a[MOST_K], b[MOST_K];
    int32_t p[MOST_K], q[MOST_K];
    const int k = (int)length(kind), c16 = kind->c_type == LW_MATRIX_f16, d16 = kind->d_type == LW_MATRIX_f16;
    for (int i = 0; i < k; i++) {
        a[i] = (uint32_t)x[i], b[i] = (uint32_t)y[i];
        p[i] = kind->a_type == LW_MATRIX_s8 ? (int8_t)x[i] : (int32_t)x[i];
        q[i] = kind->b_type == LW_MATRIX_s8 ? (int8_t)y[i] : (int32_t)y[i];
    }
    const uint32_t bits = (uint32_t)c;
    switch ((lw_matrix_rule)kind->rule) {
    case LW_MATRIX_block:
        if (kind->cut == 13)
            return wgmma_fp8(kind->a_type == LW_MATRIX_e4m3, kind->b_type == LW_MATRIX_e4m3, k, a, b, bits, d16);
        if (kind->scales)
            return mma_scaled(small_format(kind->a_type), small_format(kind->b_type), k, a, b, bits,
                              kind->scales->type == LW_MATRIX_ue8m0, kind->scales->each, kind->scales->a,
                              kind->scales->b);
        if (lw_matrix_bytes(kind->a_type, 1) == 1)
            return mma_block(small_format(kind->a_type), small_format(kind->b_type), k, a, b, bits, d16, d16);
        if (kind->a_type == LW_MATRIX_f16) return wmma_f16(k, a, b, bits, c16, d16, kind->saturate);
        if (kind->a_type == LW_MATRIX_bf16) return mma_bf16_f32(k, a, b, bits);
        return kind->block ? wmma_tf32(a, b, bits) : mma_tf32_f32(k, a, b, bits);
    case LW_MATRIX_pairs:
        return mma_fp8(kind->a_type == LW_MATRIX_e4m3, kind->b_type == LW_MATRIX_e4m3, k, a, b, bits, d16);
    case LW_MATRIX_sums: return mma_f16_k4(a, b, bits, c16, d16);
    case LW_MATRIX_fma: return mma_f64(k, x, y, c);
    case LW_MATRIX_integer: return mma_s32(k, p, q, bits, kind->saturate);
    case LW_MATRIX_bits: return mma_b1(k, a, b, bits, kind->exclusive);
    }
    return 0;
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------ */

static void find_wanted(const lw_matrix_kind *kind) {
    const size_t k = length(kind);
    uint64_t x[MOST_K], y[MOST_K];
    for (size_t m = 0; m < kind->m; m++)
        for (size_t n = 0; n < kind->n; n++) {
            const size_t at = m * kind->n + n, row = kind->b_per_row ? at : n;
            for (size_t i = 0; i < k; i++) {
                x[i] = get(a_tile, stored(kind->a_type), m * k + i);
                y[i] = get(b_tile, stored(kind->b_type), row * k + i);
            }
            lw_matrix_scales scales;
            const lw_matrix_kind one = kind_at(kind, at, &scales);
            want[at] = model(&one, x, y, get(c_tile, kind->c_type, at));
        }
}

static void compare(const lw_matrix_kind *kind, how how, const char *who) {
    for (size_t i = 0; i < (size_t)kind->m * kind->n; i++) {
        const uint64_t got = get(d_tile, kind->d_type, i);
        if (got != want[i])
            fail_msg("rule %u of types %u %u %u %u, m%un%uk%u, mode %d, element %zu, %s: %llx, not %llx", kind->rule,
                     kind->a_type, kind->b_type, kind->c_type, kind->d_type, kind->m, kind->n, kind->k, how, i, who,
                     (unsigned long long)got, (unsigned long long)want[i]);
    }
}

static void try_element(const lw_matrix_kind *kind) {
    const size_t at = steps_below((uint32_t)(kind->m * kind->n)), row = kind->b_per_row ? at : at % kind->n;
    const char *a = (const char *)a_tile + lw_matrix_bytes(kind->a_type, kind->k) * (at / kind->n);
    const char *b = (const char *)b_tile + lw_matrix_bytes(kind->b_type, kind->k) * row;
    lw_matrix_scales scales;
    const lw_matrix_kind one = kind_at(kind, at, &scales);
    assert_int_equal(lw_matrix_element(&one, a, b, get(c_tile, kind->c_type, at)), want[at]);
}

static void try_kind(const lw_matrix_kind *kind, unsigned times) {
    for (unsigned i = 0; i < times * HOWS; i++) {
        const how how = (enum how)(i % HOWS);
        fill(kind, how);
        find_wanted(kind);
        for (int j = 0; j < 8; j++) try_element(kind);
        for (const lw_level *const *level = lw_levels; *level; level++) {
            if (!lw_level_has(*level)) continue;
            memset(d_tile, 0xa5, sizeof(uint64_t) * MOST);
            (*level)->multiply(kind, a_tile, b_tile, c_tile, d_tile);
            compare(kind, how, (*level)->name);
        }
    }
}

#define FLOATS(a, b, c, d) \
    .a_type = LW_MATRIX_##a, .b_type = LW_MATRIX_##b, .c_type = LW_MATRIX_##c, .d_type = LW_MATRIX_##d
#define SIZE(M, N, K) .m = M, .n = N, .k = K
#define BLOCK(...) \
    { .rule = LW_MATRIX_block, .cut = LW_MATRIX_CUT, __VA_ARGS__ }
#define COARSE(...) \
    { .rule = LW_MATRIX_block, .cut = LW_MATRIX_CUT_WGMMA_FP8, __VA_ARGS__ }
#define OTHER_FIELDS(name, ...) .rule = LW_MATRIX_##name, __VA_ARGS__
#define OTHER(name, ...) \
    { .rule = LW_MATRIX_##name, __VA_ARGS__ }

static const lw_matrix_kind blocks[] = {
    BLOCK(FLOATS(f16, f16, f32, f32), SIZE(16, 8, 16)),
    BLOCK(FLOATS(f16, f16, f16, f16), SIZE(16, 8, 16)),
    BLOCK(FLOATS(f16, f16, f32, f32), SIZE(16, 8, 8)),
    BLOCK(FLOATS(f16, f16, f16, f32), SIZE(16, 16, 16)),
    BLOCK(FLOATS(f16, f16, f32, f16), SIZE(8, 24, 16)),
    BLOCK(FLOATS(f16, f16, f32, f16), SIZE(16, 16, 16), .saturate = true),
    BLOCK(FLOATS(bf16, bf16, f32, f32), SIZE(16, 8, 16)),
    BLOCK(FLOATS(bf16, bf16, f32, f32), SIZE(64, 24, 16)),
    BLOCK(FLOATS(tf32, tf32, f32, f32), SIZE(16, 8, 8)),
    BLOCK(FLOATS(tf32, tf32, f32, f32), SIZE(16, 8, 4)),
    BLOCK(FLOATS(tf32, tf32, f32, f32), SIZE(16, 16, 8), .block = 4),
    BLOCK(FLOATS(f16, f16, f32, f32), SIZE(16, 8, 16), .b_per_row = true),
    BLOCK(FLOATS(tf32, tf32, f32, f32), SIZE(16, 8, 8), .b_per_row = true),
};
static const lw_matrix_kind bytes[] = {
    COARSE(FLOATS(e4m3, e5m2, f32, f32), SIZE(64, 8, 32)),
    COARSE(FLOATS(e5m2, e5m2, f16, f16), SIZE(64, 8, 32)),
    COARSE(FLOATS(e4m3, e4m3, f32, f32), SIZE(16, 8, 32), .b_per_row = true),
    OTHER(pairs, FLOATS(e4m3, e4m3, f32, f32), SIZE(16, 8, 32)),
    OTHER(pairs, FLOATS(e5m2, e4m3, f16, f16), SIZE(16, 8, 32)),
    OTHER(pairs, FLOATS(e4m3, e5m2, f32, f32), SIZE(16, 8, 16)),
    OTHER(pairs, FLOATS(e5m2, e5m2, f32, f32), SIZE(16, 8, 32), .b_per_row = true),
};
/* Those that no GPU was asked for. */
static const lw_matrix_kind unasked[] = {
    BLOCK(FLOATS(e4m3, e5m2, f32, f32), SIZE(16, 8, 32)),
    BLOCK(FLOATS(e3m2, e2m1, f16, f16), SIZE(16, 8, 32)),
    BLOCK(FLOATS(e2m3, e5m2, f32, f32), SIZE(16, 8, 32), .b_per_row = true),
    BLOCK(FLOATS(e4m3, e2m1, f32, f32), SIZE(16, 8, 32), .scales = &powers),
    BLOCK(FLOATS(e2m1, e2m1, f32, f32), SIZE(16, 8, 64), .scales = &numbers),
    BLOCK(FLOATS(e5m2, e3m2, f32, f32), SIZE(16, 8, 32), .b_per_row = true, .scales = &powers),
};
static const lw_matrix_kind sums[] = {
    OTHER(sums, FLOATS(f16, f16, f32, f32), SIZE(8, 8, 4)), OTHER(sums, FLOATS(f16, f16, f16, f32), SIZE(8, 8, 4)),
    OTHER(sums, FLOATS(f16, f16, f32, f16), SIZE(8, 8, 4)), OTHER(sums, FLOATS(f16, f16, f16, f16), SIZE(8, 8, 4)),
    OTHER(fma, FLOATS(f64, f64, f64, f64), SIZE(16, 8, 4)), OTHER(fma, FLOATS(f64, f64, f64, f64), SIZE(16, 8, 16)),
};
static const lw_matrix_kind integers[] = {
    OTHER(integer, FLOATS(s8, s8, s32, s32), SIZE(16, 8, 32)),
    OTHER(integer, FLOATS(u8, s8, s32, s32), SIZE(64, 24, 32), .saturate = true),
    OTHER(integer, FLOATS(s8, u8, s32, s32), SIZE(16, 8, 16), .saturate = true),
    OTHER(integer, FLOATS(u8, u8, s32, s32), SIZE(16, 8, 64)),
    OTHER(integer, FLOATS(s8, u8, s32, s32), SIZE(16, 8, 32), .b_per_row = true),
    OTHER(bits, FLOATS(b1, b1, s32, s32), SIZE(16, 8, 256), .exclusive = true),
    OTHER(bits, FLOATS(b1, b1, s32, s32), SIZE(8, 8, 128)),
};

static unsigned times(unsigned count) { return getenv("LW_TEST_FEW") ? (count + 3) / 4 : count; }

static void test_blocks(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(blocks); i++) try_kind(&blocks[i], times(16));
}
static void test_bytes(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(bytes); i++) try_kind(&bytes[i], times(10));
}
static void test_kinds(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(unasked); i++) try_kind(&unasked[i], times(2));
}
static void test_sums(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(sums); i++) try_kind(&sums[i], times(16));
}
static void test_integers(void **state) {
    (void)state;
    for (size_t i = 0; i < LW_COUNT(integers); i++) try_kind(&integers[i], times(6));
}

/* ---- What is not in the model ------------------------------------------------------------------------------------ */

static void for_levels(const lw_matrix_kind *kind, const void *c, void *d, void (*check)(const lw_matrix_kind *kind)) {
    for (const lw_level *const *level = lw_levels; *level; level++) {
        if (!lw_level_has(*level)) continue;
        (*level)->multiply(kind, a_tile, b_tile, c, d);
        check(kind);
    }
}

static void check_wanted(const lw_matrix_kind *kind) { compare(kind, RAW, "with another c or d"); }
static void check_in_place(const lw_matrix_kind *kind) {
    memcpy(d_tile, c_tile, sizeof(uint64_t) * MOST);
    check_wanted(kind);
    memset(c_tile, 0, sizeof(uint64_t) * MOST); /* for the next level */
}

/* c that is not there, d that is c, inverted signs. */
static void test_operands(void **state) {
    (void)state;
    static const lw_matrix_kind kinds[] = {BLOCK(FLOATS(f16, f16, f32, f32), SIZE(16, 8, 16)),
                                           BLOCK(FLOATS(f16, f16, f16, f16), SIZE(16, 16, 16)),
                                           OTHER(pairs, FLOATS(e4m3, e4m3, f16, f16), SIZE(16, 8, 32)),
                                           OTHER(fma, FLOATS(f64, f64, f64, f64), SIZE(8, 8, 4)),
                                           OTHER(integer, FLOATS(s8, u8, s32, s32), SIZE(16, 8, 32)),
                                           OTHER(bits, FLOATS(b1, b1, s32, s32), SIZE(8, 8, 128))};
    for (size_t i = 0; i < LW_COUNT(kinds); i++) {
        fill(&kinds[i], i % 2 ? NEAR : SPECIAL);
        memset(c_tile, 0, sizeof c_tile);
        find_wanted(&kinds[i]);
        for_levels(&kinds[i], NULL, d_tile, check_wanted);
        for_levels(&kinds[i], c_tile, c_tile, check_in_place);
    }
    lw_matrix_kind kind = kinds[0];
    const uint16_t *bits = (const uint16_t *)a_tile;
    fill(&kind, SPECIAL);
    for (size_t i = 0; i < (size_t)kind.m * kind.k; i++) put(a_tile, LW_MATRIX_f16, i, bits[i] ^ 0x8000u);
    find_wanted(&kind);
    for (size_t i = 0; i < (size_t)kind.m * kind.k; i++) put(a_tile, LW_MATRIX_f16, i, bits[i] ^ 0x8000u);
    kind.negate_a = true;
    for_levels(&kind, c_tile, d_tile, check_wanted);
}

/* f64 in other roundings, by a machine that rounds so. */
static void test_roundings(void **state) {
    (void)state;
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    for (uint8_t rounding = 0; rounding < 4; rounding++) {
        const lw_matrix_kind kind = {OTHER_FIELDS(fma, FLOATS(f64, f64, f64, f64), SIZE(8, 8, 4)),
                                     .rounding = rounding};
        fill(&kind, rounding % 2 ? NEAR : CANCEL);
        fesetround(modes[rounding]);
        for (size_t at = 0; at < 64; at++) {
            volatile double sum = ((double *)c_tile)[at];
            for (size_t k = 0; k < 4; k++)
                sum = fma(((double *)a_tile)[at / 8 * 4 + k], ((double *)b_tile)[at % 8 * 4 + k], sum);
            memcpy(&want[at], (const void *)&sum, sizeof sum);
        }
        fesetround(FE_TONEAREST);
        for_levels(&kind, c_tile, d_tile, check_wanted);
    }
}

/* Formats of 4 and 6 bits, whose sums of products are numbers of f32: exact whatever a block is, also with scale
 * factors of a narrow range. */
static double value_of(uint32_t bits, int fraction, int exponent, int bias) {
    const uint32_t field = bits >> fraction & ((1u << exponent) - 1), places = bits & ((1u << fraction) - 1);
    const double size = ldexp(field ? places + (1u << fraction) : places, (int)(field ? field : 1) - bias - fraction);
    return bits >> (fraction + exponent) & 1 ? -size : size;
}
static double small_value(uint8_t type, uint32_t bits) {
    return type == LW_MATRIX_e3m2   ? value_of(bits, 2, 3, 3)
           : type == LW_MATRIX_e2m3 ? value_of(bits, 3, 2, 1)
                                    : value_of(bits, 1, 2, 1);
}

static void test_small(void **state) {
    (void)state;
    static const uint8_t types[] = {LW_MATRIX_e3m2, LW_MATRIX_e2m3, LW_MATRIX_e2m1};
    uint8_t a_scales[16 * 4], b_scales[8 * 4];
    uint8_t *a = (uint8_t *)a_tile, *b = (uint8_t *)b_tile;
    for (unsigned i = 0; i < times(24); i++) {
        const bool wide = i % 3 == 2, scaled = i % 2, fours = i % 4 == 3;
        const lw_matrix_scales scales = {fours ? LW_MATRIX_ue4m3 : LW_MATRIX_ue8m0, 16, a_scales, b_scales};
        const lw_matrix_kind kind = {OTHER_FIELDS(block, .a_type = types[i % 3], .b_type = types[i / 3 % 3],
                                                  .c_type = LW_MATRIX_f32, .d_type = LW_MATRIX_f32,
                                                  SIZE(16, 8, wide ? 64 : 32)),
                                     .cut = LW_MATRIX_CUT, .scales = scaled ? &scales : NULL};
        for (size_t j = 0; j < sizeof a_scales; j++)
            a_scales[j] = (uint8_t)(fours ? 0x38 + steps_below(8) : 126 + steps_below(3));
        for (size_t j = 0; j < sizeof b_scales; j++) b_scales[j] = (uint8_t)(fours ? 0x38 : 126 + steps_below(3));
        steps_fill_random(a_tile, 16 * 64);
        steps_fill_random(b_tile, 8 * 64);
        for (size_t at = 0; at < 128; at++) {
            const size_t m = at / 8, n = at % 8;
            double sum = (double)steps_below(8);
            const float c = (float)sum;
            put(c_tile, LW_MATRIX_f32, at, 0);
            memcpy((float *)c_tile + at, &c, sizeof c);
            for (size_t k = 0; k < kind.k; k++) {
                double product = small_value(kind.a_type, a[m * kind.k + k]) *
                                 small_value(kind.b_type, b[n * kind.k + k]);
                const size_t x = m * kind.k / 16 + k / 16, y = n * kind.k / 16 + k / 16;
                if (scaled && fours) product *= value_of(a_scales[x], 3, 4, 7) * value_of(b_scales[y], 3, 4, 7);
                else if (scaled) product *= ldexp(1, a_scales[x] + b_scales[y] - 254);
                sum += product;
            }
            const float d = (float)sum;
            assert_true((double)d == sum);
            want[at] = 0;
            memcpy(&want[at], &d, sizeof d);
            if (d == 0) want[at] = 0;
        }
        for_levels(&kind, c_tile, d_tile, check_wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),   cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_sums),     cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_operands), cmocka_unit_test(test_roundings),
                                       cmocka_unit_test(test_small),    cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
