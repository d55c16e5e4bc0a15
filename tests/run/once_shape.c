/* What the compiler says of rows (run/jit/shape.h) against the lane functions themselves, lane by lane: all 256 tables
 * of lop3 on small rows, and every lane function of integers on rows made by chance. */
#include "run/jit/shape.h"

#include "run/interp/inner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t state = 88172645463325252u;
static uint64_t any_number(void) {
    state ^= state << 13, state ^= state >> 7;
    return state ^= state << 17;
}
static uint32_t below(uint32_t n) { return (uint32_t)(any_number() >> 33) % n; }
static uint64_t mask_of(uint32_t bits) { return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX; }

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

typedef struct lanes {
    uint64_t at[LW_WARP_LANES];
} lanes;

/* Bases that the shape allows, and what the lanes have then. way 0: the least, 1: the largest, others by chance. */
static lanes lanes_of(const lw_shape *shape, uint32_t way) {
    lanes all;
    uint64_t base = 0;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        if (i % (1u << shape->run) == 0)
            base = ((way == 0 ? 0 : way == 1 ? UINT64_MAX : any_number()) & ~shape->zeros) | shape->ones;
        all.at[i] = (base + (uint64_t)lw_shape_above(shape, i % (1u << shape->run))) & mask_of(shape->bits);
    }
    return all;
}

static bool is_of_shape(const lw_shape *shape, const lanes *all) {
    const uint32_t run = 1u << shape->run;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        const uint64_t base = all->at[i - i % run];
        const uint64_t value = (base + (uint64_t)lw_shape_above(shape, i % run)) & mask_of(shape->bits);
        if (value != all->at[i] || base & shape->zeros || (base & shape->ones) != shape->ones) return false;
    }
    return true;
}

/* ---- All tables -------------------------------------------------------------------------------------------------- */

enum { SMALL = 5, WAYS = 4 }; /* rows; bases of each, which has two bits that are not known */

static lw_shape small_row(const int32_t steps[LW_WARP_BITS], uint64_t ones, uint64_t open) {
    lw_shape shape = lw_shape_alike_in(32, LW_WARP_BITS);
    memcpy(shape.step, steps, sizeof shape.step);
    shape.ones = ones, shape.zeros = ~ones & ~open;
    return shape;
}

static uint64_t spread(uint64_t open, uint32_t way) {
    const uint64_t low = open & -open;
    return (way & 1 ? low : 0) | (way & 2 ? open - low : 0);
}

/* Whether what the lanes have above lane 0 is the same for all bases, and each lane's the sum of its bits'. */
typedef struct small_result {
    bool is_row;
    uint32_t step[LW_WARP_BITS];
    lanes all[WAYS * WAYS * WAYS];
} small_result;

static void compute(small_result *r, const lw_shape *const rows[3], uint8_t table) {
    uint32_t above[3][LW_WARP_LANES];
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) above[k][i] = (uint32_t)lw_shape_above(rows[k], i);
    r->is_row = true;
    for (uint32_t way = 0; way < WAYS * WAYS * WAYS; way++) {
        uint32_t bases[3], value[LW_WARP_LANES];
        for (uint32_t k = 0; k < 3; k++) {
            const uint64_t open = ~(rows[k]->zeros | rows[k]->ones);
            bases[k] = (uint32_t)(rows[k]->ones | spread(open, way >> 2 * k & 3));
        }
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            r->all[way].at[i] = value[i] =
                lw_lop3(bases[0] + above[0][i], bases[1] + above[1][i], bases[2] + above[2][i], table);
        for (uint32_t k = 0; k < LW_WARP_BITS; k++) {
            const uint32_t step = value[1u << k] - value[0];
            if (way == 0) r->step[k] = step;
            r->is_row &= r->step[k] == step;
        }
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
            uint32_t sum = value[0];
            for (uint32_t k = 0; k < LW_WARP_BITS; k++) sum += i >> k & 1 ? r->step[k] : 0;
            r->is_row &= sum == value[i];
        }
    }
}

/* Where all that lanes count in are bits of their own a row is found wherever there is one. */
static void test_tables(void **unused) {
    (void)unused;
    const lw_shape rows[SMALL] = {
        small_row((int32_t[]){1, 2, 4, 8, 16}, 0, 0x60), small_row((int32_t[]){4, 8, 0, 2, 0x40}, 0x100, 0x21),
        small_row((int32_t[]){-1, -2, -4, 8, 0}, 0x57, 0xa0), small_row((int32_t[]){0, 0, 0, 0, 0}, 0x5, 0x82),
        small_row((int32_t[]){5, 2, 0, 0, -0x10}, 0x90, 0x300)};
    static small_result r;
    uint32_t found = 0;
    for (uint32_t which = 0; which < SMALL * SMALL * SMALL; which++)
        for (uint32_t table = 0; table < 256; table++) {
            const lw_shape *const three[] = {&rows[which % SMALL], &rows[which / SMALL % SMALL],
                                             &rows[which / SMALL / SMALL]};
            const lw_bit_map map = lw_bit_map_each(32, (uint8_t)table);
            const lw_shape shape = lw_shape_mapped(&map, three);
            compute(&r, three, (uint8_t)table);
            if (r.is_row != (shape.kind == LW_SHAPE_row && shape.run == LW_WARP_BITS))
                fail_msg("table %u of rows %u: %s", table, which, r.is_row ? "a row is not found" : "no row");
            if (shape.kind != LW_SHAPE_row) continue;
            for (uint32_t way = 0; way < WAYS * WAYS * WAYS; way++)
                if (!is_of_shape(&shape, &r.all[way])) fail_msg("table %u of rows %u: wrong", table, which);
            found++;
        }
    assert_true(found > 0);
}

/* ---- Lane functions ---------------------------------------------------------------------------------------------- */

typedef uint8_t T_u8;
typedef uint16_t T_u16;
typedef uint32_t T_u32;
typedef uint64_t T_u64;
typedef int8_t T_s8;
typedef int16_t T_s16;
typedef int32_t T_s32;
typedef int64_t T_s64;
typedef bool T_p;
typedef float T_f32;
#define OUT_u8(value)  (uint8_t)(value)
#define OUT_s8(value)  (uint8_t)(value)
#define OUT_u16(value) (uint16_t)(value)
#define OUT_s16(value) (uint16_t)(value)
#define OUT_u32(value) (uint32_t)(value)
#define OUT_s32(value) (uint32_t)(value)
#define OUT_u64(value) (uint64_t)(value)
#define OUT_s64(value) (uint64_t)(value)
#define OUT_p(value)   (value)
#define OUT_f32(value) ((value) == 0) /* no bits of it: it makes no rows */
/* Bits of a register that holds it. */
enum {
    B_u8 = 16,
    B_s8 = 16,
    B_u16 = 16,
    B_s16 = 16,
    B_u32 = 32,
    B_s32 = 32,
    B_u64 = 64,
    B_s64 = 64,
    B_p = 1,
    B_f32 = 32
};

typedef struct lane_case {
    const char *name;
    uint32_t lane, bits, operands[LW_SHAPE_OPERANDS]; /* 0: there is none */
    uint64_t (*of)(const uint64_t x[LW_SHAPE_OPERANDS]);
} lane_case;

#define LANE1(name, D, A) \
    static uint64_t of_##name(const uint64_t *x) { return OUT_##D(lw_##name((T_##A)x[0])); }
#define LANE2(name, D, A, B, takes) \
    static uint64_t of_##name(const uint64_t *x) { return OUT_##D(lw_##name((T_##A)x[0], (T_##B)x[1])); }
#define LANE3(name, D, A, B, C, takes) \
    static uint64_t of_##name(const uint64_t *x) { return OUT_##D(lw_##name((T_##A)x[0], (T_##B)x[1], (T_##C)x[2])); }
#define LANE4(name, D, A, B, C, E, takes) \
    static uint64_t of_##name(const uint64_t *x) { \
        return OUT_##D(lw_##name((T_##A)x[0], (T_##B)x[1], (T_##C)x[2], (T_##E)x[3])); \
    }
#define LW_LANE_FAMILY "../tests/run/shape_lanes.def"
#include "lane.def"
#define LANE1(name, D, A)                 {#name, LW_LANE_##name, B_##D, {B_##A}, of_##name},
#define LANE2(name, D, A, B, takes)       {#name, LW_LANE_##name, B_##D, {B_##A, B_##B}, of_##name},
#define LANE3(name, D, A, B, C, takes)    {#name, LW_LANE_##name, B_##D, {B_##A, B_##B, B_##C}, of_##name},
#define LANE4(name, D, A, B, C, E, takes) {#name, LW_LANE_##name, B_##D, {B_##A, B_##B, B_##C, B_##E}, of_##name},
static const lane_case cases[] = {
#define LW_LANE_FAMILY "../tests/run/shape_lanes.def"
#include "lane.def"
};

/* Of those that addresses are made by: rows of unlike lanes come out, too. */
static const uint32_t makes_rows[] = {
    LW_LANE_mov_b16,      LW_LANE_mov_b32,      LW_LANE_mov_b64,      LW_LANE_add_b16,      LW_LANE_add_b32,
    LW_LANE_add_b64,      LW_LANE_sub_b16,      LW_LANE_sub_b32,      LW_LANE_sub_b64,      LW_LANE_neg_s16,
    LW_LANE_neg_s32,      LW_LANE_neg_s64,      LW_LANE_mul_lo_b16,   LW_LANE_mul_lo_b32,   LW_LANE_mul_lo_b64,
    LW_LANE_mad_lo_b16,   LW_LANE_mad_lo_b32,   LW_LANE_mad_lo_b64,   LW_LANE_mul_wide_u16, LW_LANE_mul_wide_s16,
    LW_LANE_mul_wide_u32, LW_LANE_mul_wide_s32, LW_LANE_mad_wide_u16, LW_LANE_mad_wide_s16, LW_LANE_mad_wide_u32,
    LW_LANE_mad_wide_s32, LW_LANE_mul24_lo_u32, LW_LANE_mul24_lo_s32, LW_LANE_mad24_lo_u32, LW_LANE_mad24_lo_s32,
    LW_LANE_div_u16,      LW_LANE_div_u32,      LW_LANE_div_u64,      LW_LANE_rem_u16,      LW_LANE_rem_u32,
    LW_LANE_rem_u64,      LW_LANE_min_u16,      LW_LANE_min_u32,      LW_LANE_min_u64,      LW_LANE_min_s16,
    LW_LANE_min_s32,      LW_LANE_min_s64,      LW_LANE_max_u16,      LW_LANE_max_u32,      LW_LANE_max_u64,
    LW_LANE_max_s16,      LW_LANE_max_s32,      LW_LANE_max_s64,      LW_LANE_and_b16,      LW_LANE_and_b32,
    LW_LANE_and_b64,      LW_LANE_or_b16,       LW_LANE_or_b32,       LW_LANE_or_b64,       LW_LANE_xor_b16,
    LW_LANE_xor_b32,      LW_LANE_xor_b64,      LW_LANE_not_b16,      LW_LANE_not_b32,      LW_LANE_not_b64,
    LW_LANE_low_b16_b32,  LW_LANE_low_b16_b64,  LW_LANE_low_b32_b64,  LW_LANE_high_b16_b32, LW_LANE_high_b8_b16,
    LW_LANE_zext8_b16,    LW_LANE_sext8_b16,    LW_LANE_zext_b32_b16, LW_LANE_zext_b64_b16, LW_LANE_zext_b64_b32,
    LW_LANE_sext_b32_b16, LW_LANE_sext_b64_b16, LW_LANE_sext_b64_b32, LW_LANE_pack_b32_b16, LW_LANE_pack_b64_b32,
    LW_LANE_shl_b16,      LW_LANE_shl_b32,      LW_LANE_shl_b64,      LW_LANE_shr_u16,      LW_LANE_shr_u32,
    LW_LANE_shr_u64,      LW_LANE_shr_s16,      LW_LANE_shr_s32,      LW_LANE_shr_s64,      LW_LANE_shf_l_wrap,
    LW_LANE_shf_l_clamp,  LW_LANE_shf_r_wrap,   LW_LANE_shf_r_clamp,  LW_LANE_bfe_u32,      LW_LANE_bfe_u64,
    LW_LANE_bfe_s32,      LW_LANE_bfe_s64,      LW_LANE_bfi_b32,      LW_LANE_bfi_b64,      LW_LANE_prmt,
    LW_LANE_lop3};

static lw_shape number_by_chance(uint32_t bits) {
    const uint64_t kinds[] = {
        below(40), below(12), 1ull << below(64), 1ull << below(10), any_number(), -(uint64_t)below(40), 0x3210};
    return lw_shape_of_number(bits, kinds[below(LW_COUNT(kinds))]);
}

/* Which bits of the base are known: few low or high ones, or any. */
static void know_by_chance(lw_shape *shape, uint64_t open) {
    const uint64_t value = below(3) ? any_number() & any_number() : 0;
    shape->ones = value & ~open & mask_of(shape->bits);
    shape->zeros = ~shape->ones & ~open;
    shape->zeros |= ~mask_of(shape->bits);
}

static lw_shape row_by_chance(uint32_t bits) {
    lw_shape shape = lw_shape_alike_in(bits, LW_RUN_LEAST + below(3) % (LW_WARP_BITS - LW_RUN_LEAST + 1));
    const uint32_t first = below(bits < 20 ? bits : 20), way = below(5);
    uint64_t open = any_number() & (below(2) ? any_number() : UINT64_MAX);
    if (bits == 1) return shape;
    if (below(2)) open &= mask_of(1 + below(bits));
    if (below(2)) open &= ~mask_of(below(12));
    know_by_chance(&shape, open);
    for (uint32_t k = 0; k < shape.run; k++) {
        const int32_t count = 1 << ((first + k) % 20), any = (int32_t)below(300) - 150;
        shape.step[k] = way == 0 ? 0 : way == 1 ? any : way == 2 && k == 0 ? 0 : way == 3 ? 3 * count : count;
        if (way == 4 && below(3) == 0) shape.step[k] = -count;
        if (way >= 2 && below(4) && shape.step[k] > -(1 << 20) && shape.step[k] < 1 << 20) { /* bits of their own */
            const uint64_t bit = (uint64_t)(shape.step[k] < 0 ? -shape.step[k] : shape.step[k]) & mask_of(bits);
            *(shape.step[k] < 0 ? &shape.ones : &shape.zeros) |= bit;
            *(shape.step[k] < 0 ? &shape.zeros : &shape.ones) &= ~bit;
        }
        if (shape.step[k] > 1 << 20) shape.step[k] = 1 << 20;
    }
    return shape;
}

static lw_shape by_chance(uint32_t bits, uint32_t k) {
    if (!bits) return lw_shape_of_number(64, 0);
    return below(4) < (k ? 3 : 1) ? number_by_chance(bits) : row_by_chance(bits);
}

/* What somebody checks while the code runs: that no lane of a run wraps. */
static bool wraps(const lw_shape *shape, const lanes *all, bool is_signed) {
    const uint32_t gap = 64 - shape->bits, run = 1u << shape->run;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        const uint64_t base = all->at[i - i % run], value = all->at[i], sum = (uint64_t)lw_shape_above(shape, i % run);
        if (!is_signed && base + sum != value) return true;
        if (is_signed && ((int64_t)(base << gap) >> gap) + (int64_t)sum != (int64_t)(value << gap) >> gap) return true;
    }
    return false;
}

/* Of one base in each run. False: it is none that it is asked about. */
static bool try_lanes(const lane_case *c, const lw_shape operands[LW_SHAPE_OPERANDS], bool checked, uint32_t way,
                      lanes *result) {
    lanes all[LW_SHAPE_OPERANDS];
    bool is_signed;
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++) {
        all[k] = lanes_of(&operands[k], way);
        if (checked && lw_lane_widens(c->lane, &is_signed) && k < 2 && c->operands[k])
            if (wraps(&operands[k], &all[k], is_signed)) return false;
    }
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        const uint64_t x[] = {all[0].at[i], all[1].at[i], all[2].at[i], all[3].at[i]};
        result->at[i] = c->of(x) & mask_of(c->bits);
    }
    return true;
}

static uint32_t try_case(const lane_case *c) {
    enum { BASES = 12 };
    lw_shape operands[LW_SHAPE_OPERANDS];
    lanes result;
    bool is_signed;
    for (uint32_t k = 0; k < LW_SHAPE_OPERANDS; k++) operands[k] = by_chance(c->operands[k], k);
    if (below(3) == 0 && c->operands[1] == c->operands[0]) { /* rows that count alike */
        operands[1] = row_by_chance(c->operands[1]);
        memcpy(operands[1].step, operands[0].step, sizeof operands[0].step);
        operands[1].run = operands[0].run;
    }
    const bool checked = below(2) && lw_lane_widens(c->lane, &is_signed);
    const lw_shape shape = lw_shape_of_lane(c->lane, c->bits, operands, checked);
    if (shape.kind != LW_SHAPE_row) return 0;
    assert_int_equal(shape.bits, c->bits);
    for (uint32_t way = 0; way < BASES; way++)
        if (try_lanes(c, operands, checked, way, &result))
            if (!is_of_shape(&shape, &result)) fail_msg("%s gives no such row", c->name);
    return lw_shape_alike(&shape) < shape.run;
}

static void test_lanes(void **unused) {
    (void)unused;
    uint32_t rows[LW_LANE_count] = {0};
    for (uint32_t k = 0; k < LW_COUNT(cases); k++)
        for (uint32_t trial = 0; trial < 1000; trial++) rows[cases[k].lane] += try_case(&cases[k]);
    for (uint32_t k = 0; k < LW_COUNT(makes_rows); k++)
        if (!rows[makes_rows[k]]) fail_msg("%s makes no rows", lw_lanes[makes_rows[k]].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
