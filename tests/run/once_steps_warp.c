/* vote, activemask, match, redux, elect, special registers, predicates: each against a reference that looks at one
 * thread at a time. */
#include "steps.h"

#include "front/ptx/ptx.h"
#include "lanewise/lane/how.h"

enum { D, A, B, C, P, MEMBERS, WIDE, COUNT };

typedef struct trial {
    steps_cta *s;
    lw_gang *gang;
    lw_op *op;
    lw_mask mask, p;
    bool no_members;
    uint32_t members[LW_GANG_LANES]; /* of each lane */
    char before[COUNT * LW_SLOT_64];
} trial;

static void begin(trial *t, lw_step *step) {
    steps_fill_random(t->gang->regs, SLOT(COUNT));
    *t->op = (lw_op){.step = step, .d = SLOT(D), .a = SLOT(MEMBERS), .b = SLOT(A), .e = SLOT(P)};
    t->mask = steps_mask(t->gang->exist);
    steps_set_mask(t->gang, t->mask);
    uint32_t kinds = 1 + steps_below(3),
             values[3] = {steps_below(2) ? UINT32_MAX : (uint32_t)steps_random(), 0xffff0000, 0x0000ffff};
    bool constant = steps_below(2);
    if (constant) {
        t->op->flags |= LW_OP_IMM_A;
        t->op->imm = values[0];
    }
    uint32_t *slot = steps_slot(t->gang, MEMBERS);
    for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
        slot[i] = values[steps_below(kinds)];
        t->members[i] = constant ? values[0] : slot[i];
    }
}

static void run(trial *t) {
    memcpy(t->before, t->gang->regs, sizeof t->before);
    assert_ptr_equal(t->op->step(t->gang, t->op), t->op + 1);
}

static bool is_active(const trial *t, uint32_t lane) { return t->mask >> lane & 1; }

/* Whether `other` is a thread that `lane` names and that executes with it. */
static bool is_member(const trial *t, uint32_t lane, uint32_t other) {
    if (lane / 32 != other / 32 || !is_active(t, other)) return false;
    return t->no_members || (t->members[lane] >> other % 32 & 1);
}

static uint32_t before_u32(const trial *t, uint32_t slot, uint32_t lane) {
    uint32_t value;
    memcpy(&value, t->before + SLOT(slot) + 4 * lane, 4);
    return value;
}
static bool before_p(const trial *t, uint32_t slot, uint32_t lane) {
    return t->before[SLOT(slot) + lane / 8] >> lane % 8 & 1;
}
static uint32_t now_u32(const trial *t, uint32_t slot, uint32_t lane) {
    return ((uint32_t *)steps_slot(t->gang, slot))[lane];
}
static bool now_p(const trial *t, uint32_t slot, uint32_t lane) { return lw_get_mask(t->gang, SLOT(slot)) >> lane & 1; }

static void expect_u32(const trial *t, uint32_t slot, uint32_t lane, uint32_t want) {
    if (!is_active(t, lane)) want = before_u32(t, slot, lane);
    assert_int_equal(now_u32(t, slot, lane), want);
}
static void expect_p(const trial *t, uint32_t slot, uint32_t lane, bool want) {
    if (!is_active(t, lane)) want = before_p(t, slot, lane);
    assert_int_equal(now_p(t, slot, lane), want);
}

static const uint32_t shapes[][2] = {{128, 128}, {100, 128}, {32, 32}, {7, 32}, {96, 96}};

/* Calls `one` many times on gangs of several shapes. */
static void repeat(void (*one)(trial *t, uint32_t round)) {
    for (uint32_t i = 0; i < LW_COUNT(shapes); i++) {
        trial t = {.s = steps_new(shapes[i][0], shapes[i][1])};
        t.gang = t.s->cta.gangs;
        t.op = &t.s->ops[1];
        for (uint32_t round = 0; round < 1000; round++) one(&t, round);
        steps_free(t.s);
    }
}

static void vote(trial *t, uint32_t round) {
    begin(t, lw_step_vote);
    t->no_members = steps_below(3) == 0;
    if (t->no_members) t->op->a = LW_NO_SLOT, t->op->flags = 0;
    if (steps_below(2)) t->op->flags |= LW_OP_NEGATE;
    bool negate = t->op->flags & LW_OP_NEGATE;
    lw_vote_kind kind = (lw_vote_kind)(round % 4);
    t->op->mode = kind;
    lw_mask *p = steps_slot(t->gang, A);
    if (steps_below(3) == 0) *p = 0;
    if (steps_below(3) == 0) *p = LW_MASK_ALL;
    run(t);
    for (uint32_t lane = 0; lane < t->gang->lanes; lane++) {
        uint32_t yes = 0, no = 0, ballot = 0;
        for (uint32_t other = 0; other < LW_GANG_LANES; other++) {
            if (!is_member(t, lane, other)) continue;
            bool value = before_p(t, A, other) != negate;
            yes += value, no += !value;
            ballot |= (uint32_t)value << other % 32;
        }
        if (kind == LW_VOTE_ballot) expect_u32(t, D, lane, ballot);
        else expect_p(t, D, lane, kind == LW_VOTE_all ? no == 0 : kind == LW_VOTE_any ? yes > 0 : yes == 0 || no == 0);
    }
    t->no_members = false;
}

static void activemask(trial *t, uint32_t round) {
    (void)round;
    begin(t, lw_step_activemask);
    run(t);
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        uint32_t want = 0;
        for (uint32_t other = lane / 32 * 32; other < lane / 32 * 32 + 32; other++)
            want |= (uint32_t)is_active(t, other) << other % 32;
        expect_u32(t, D, lane, want);
    }
}

static void match(trial *t, uint32_t round) {
    begin(t, lw_step_match);
    bool all = round & 1, wide = round & 2, in_place = round & 4;
    t->op->mode = all ? LW_MATCH_all : LW_MATCH_any, t->op->c = wide ? 8 : 4;
    t->op->b = SLOT(WIDE);
    if (in_place && !wide) t->op->d = SLOT(WIDE);
    if (!all || round & 8) t->op->e = LW_NO_SLOT;
    uint32_t kinds = 1 + steps_below(3), *narrow = steps_slot(t->gang, WIDE);
    uint64_t *values = steps_slot(t->gang, WIDE), keep[LW_GANG_LANES];
    for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
        keep[i] = (uint64_t)steps_below(kinds) << (wide && steps_below(2) ? 40 : 4);
        if (wide) values[i] = keep[i];
        else narrow[i] = (uint32_t)keep[i];
    }
    run(t);
    uint32_t d = t->op->d / LW_SLOT_64;
    for (uint32_t lane = 0; lane < t->gang->lanes; lane++) {
        uint32_t same = 0, named = 0;
        for (uint32_t other = 0; other < LW_GANG_LANES; other++) {
            if (!is_member(t, lane, other)) continue;
            named |= 1u << other % 32;
            same |= (uint32_t)(keep[other] == keep[lane]) << other % 32;
        }
        if (!all) {
            expect_u32(t, d, lane, same);
            continue;
        }
        bool equal = true;
        for (uint32_t other = lane / 32 * 32 + 1; other < lane / 32 * 32 + 32; other++)
            for (uint32_t third = lane / 32 * 32; third < other && is_member(t, lane, other); third++)
                if (is_member(t, lane, third)) equal &= keep[other] == keep[third];
        expect_u32(t, d, lane, equal ? named : 0);
        if (t->op->e != LW_NO_SLOT) expect_p(t, P, lane, equal);
    }
}

static void redux(trial *t, uint32_t round) {
    begin(t, lw_step_redux);
    lw_redux_kind kind = (lw_redux_kind)(round % 8);
    t->op->mode = kind;
    if (steps_below(2)) t->op->d = SLOT(A);
    run(t);
    for (uint32_t lane = 0; lane < t->gang->lanes; lane++) {
        int64_t lowest = INT64_MAX, highest = INT64_MIN;
        uint32_t sum = 0, conjunction = UINT32_MAX, disjunction = 0, parity = 0, count = 0;
        bool as_signed = kind == LW_REDUX_min_s || kind == LW_REDUX_max_s;
        for (uint32_t other = 0; other < LW_GANG_LANES; other++) {
            if (!is_member(t, lane, other)) continue;
            uint32_t value = before_u32(t, A, other);
            int64_t number = as_signed ? (int64_t)(int32_t)value : (int64_t)value;
            if (number < lowest) lowest = number;
            if (number > highest) highest = number;
            sum += value, conjunction &= value, disjunction |= value, parity ^= value, count++;
        }
        if (!count) continue; /* nobody named: undefined */
        const uint32_t want[] = {[LW_REDUX_add] = sum,
                                 [LW_REDUX_min_s] = (uint32_t)lowest,
                                 [LW_REDUX_min_u] = (uint32_t)lowest,
                                 [LW_REDUX_max_s] = (uint32_t)highest,
                                 [LW_REDUX_max_u] = (uint32_t)highest,
                                 [LW_REDUX_and] = conjunction,
                                 [LW_REDUX_or] = disjunction,
                                 [LW_REDUX_xor] = parity};
        expect_u32(t, t->op->d / LW_SLOT_64, lane, want[kind]);
    }
}

/* Of floats: values of all kinds, ordered by their bits; a NaN counts where it is asked for, or where there is nothing
 * else. */
static int64_t place_of(uint32_t bits) {
    const int64_t size = bits & 0x7fffffff;
    return bits >> 31 ? -1 - size : size;
}

static void redux_float(trial *t, uint32_t round) {
    static const uint32_t hows[] = {0, LW_FLOAT_ABS, LW_FLOAT_NAN, LW_FLOAT_ABS | LW_FLOAT_NAN};
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc12345, 0xff800001};
    begin(t, lw_step_redux);
    for (uint32_t i = 0, dense = steps_below(8); i < LW_GANG_LANES; i++)
        if (steps_below(8) < dense) ((uint32_t *)steps_slot(t->gang, A))[i] = special[steps_below(LW_COUNT(special))];
    const bool larger = round & 1;
    t->op->mode = larger ? LW_REDUX_max_f32 : LW_REDUX_min_f32;
    t->op->c = hows[round / 2 % LW_COUNT(hows)];
    if (steps_below(2)) t->op->d = SLOT(A);
    run(t);
    for (uint32_t lane = 0; lane < t->gang->lanes; lane++) {
        uint32_t best = 0, numbers = 0, count = 0;
        for (uint32_t other = 0; other < LW_GANG_LANES; other++) {
            if (!is_member(t, lane, other)) continue;
            count++;
            uint32_t value = before_u32(t, A, other);
            if (t->op->c & LW_FLOAT_ABS) value &= 0x7fffffff;
            if ((value & 0x7fffffff) > 0x7f800000) continue;
            if (!numbers++ || (place_of(value) > place_of(best)) == larger) best = value;
        }
        if (!count) continue; /* nobody named: undefined */
        const bool nan = !numbers || (t->op->c & LW_FLOAT_NAN && numbers < count);
        expect_u32(t, t->op->d / LW_SLOT_64, lane, nan ? 0x7fffffff : best);
    }
}

/* Exactly one leader among the lanes that name each other, known to all of them. */
static void elect(trial *t, uint32_t round) {
    begin(t, lw_step_elect);
    if (round & 1) t->op->d = LW_NO_SLOT;
    run(t);
    for (uint32_t lane = 0; lane < t->gang->lanes; lane++) {
        if (!is_active(t, lane) || !(t->members[lane] >> lane % 32 & 1)) continue;
        uint32_t leaders = 0, leader = 0;
        for (uint32_t other = 0; other < LW_GANG_LANES; other++) {
            if (!is_member(t, lane, other) || t->members[other] != t->members[lane]) continue;
            if (now_p(t, P, other)) leaders++, leader = other % 32;
        }
        uint32_t least = lane;
        for (uint32_t other = LW_GANG_LANES; other-- > 0;)
            if (is_member(t, lane, other)) least = other;
        if (t->members[least] != t->members[lane]) continue; /* its first member named others */
        assert_int_equal(leaders, 1);
        if (t->op->d != LW_NO_SLOT) expect_u32(t, D, lane, leader);
    }
}

static void predicate(trial *t, uint32_t round) {
    begin(t, lw_step_predicate);
    *t->op = (lw_op){.step = lw_step_predicate,
                     .d = SLOT(steps_below(4)),
                     .a = SLOT(A),
                     .b = SLOT(B),
                     .c = SLOT(C),
                     .imm = round % 256,
                     .flags = (uint16_t)(steps_below(8) * LW_OP_IMM_A)};
    run(t);
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        bool a = !(t->op->flags & LW_OP_IMM_A) && before_p(t, A, lane),
             b = !(t->op->flags & LW_OP_IMM_B) && before_p(t, B, lane),
             c = !(t->op->flags & LW_OP_IMM_C) && before_p(t, C, lane);
        expect_p(t, t->op->d / LW_SLOT_64, lane, round >> (4 * a + 2 * b + c) & 1);
    }
}

static void test_vote(void **state) { (void)state, repeat(vote); }
static void test_activemask(void **state) { (void)state, repeat(activemask); }
static void test_match(void **state) { (void)state, repeat(match); }
static void test_redux(void **state) { (void)state, repeat(redux); }
static void test_redux_float(void **state) { (void)state, repeat(redux_float); }
static void test_elect(void **state) { (void)state, repeat(elect); }
static void test_predicate(void **state) { (void)state, repeat(predicate); }

/* ---- Special registers --------------------------------------------------------------------------------------- */

static const lw_level *level; /* those of this machine, one after the other */

static uint64_t read_special(steps_cta *s, uint32_t g, lw_special special, uint32_t component, uint32_t bytes,
                             uint32_t lane) {
    lw_gang *gang = &s->cta.gangs[g];
    lw_op op = {.step = level->steps[LW_OP_special], .d = SLOT(D), .a = special, .b = component, .c = bytes};
    uint64_t *d = steps_slot(gang, D);
    memset(d, 0xee, LW_SLOT_64);
    lw_gang_set_mask(gang, gang->exist);
    assert_ptr_equal(op.step(gang, &op), &op + 1);
    return bytes == 8 ? d[lane] : bytes == 4 ? ((uint32_t *)d)[lane] : ((uint16_t *)d)[lane];
}

static void specials(void) {
    steps_cta *s = steps_new(200, 128);
    const lw_gang *second = &s->cta.gangs[1];
    for (uint32_t i = 0; i < 72; i++) {
        s->cta.gangs[1].tid[0][i] = 128 + i, s->cta.gangs[1].tid[1][i] = 1000 + i, s->cta.gangs[1].tid[2][i] = 2000 + i;
        assert_int_equal(read_special(s, 1, LW_SPECIAL_tid, 0, 4, i), second->first + i);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_tid, 1, 2, i), 1000 + i);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_tid, 2, 8, i), 2000 + i);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_tid, 3, 4, i), 0);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_laneid, 0, 4, i), i % 32);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_warpid, 0, 4, i), 4 + i / 32);
    }
    assert_int_equal(read_special(s, 0, LW_SPECIAL_ntid, 0, 4, 9), 200);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_ntid, 1, 4, 9), 1);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_ctaid, 0, 4, 9), 2);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_ctaid, 1, 4, 9), 1);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_nctaid, 0, 4, 9), 3);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_nctaid, 1, 4, 9), 2);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_nctaid, 3, 4, 9), 0);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_nwarpid, 0, 4, 9), 7);
    assert_in_range(read_special(s, 0, LW_SPECIAL_smid, 0, 4, 9), 0, read_special(s, 0, LW_SPECIAL_nsmid, 0, 4, 9) - 1);
    for (uint32_t i = 0; i < 72; i++) {
        uint32_t below = 0, above = 0, self = 0;
        for (uint32_t k = 0; k < 32; k++) *(k < i % 32 ? &below : k > i % 32 ? &above : &self) |= 1u << k;
        assert_int_equal(read_special(s, 1, LW_SPECIAL_lanemask_eq, 0, 4, i), self);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_lanemask_lt, 0, 4, i), below);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_lanemask_le, 0, 4, i), below | self);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_lanemask_gt, 0, 4, i), above);
        assert_int_equal(read_special(s, 1, LW_SPECIAL_lanemask_ge, 0, 4, i), above | self);
    }
    assert_int_equal(read_special(s, 0, LW_SPECIAL_dynamic_smem_size, 0, 4, 0), 256);
    assert_int_equal(read_special(s, 0, LW_SPECIAL_total_smem_size, 0, 4, 0), STEPS_SHARED);
    /* Clocks never go back, and 64 bits of them are the 32 high and the 32 low ones. */
    static const lw_special clocks[][2] = {{LW_SPECIAL_clock64, LW_SPECIAL_clock_hi},
                                           {LW_SPECIAL_globaltimer, LW_SPECIAL_globaltimer_hi}};
    for (uint32_t i = 0; i < LW_COUNT(clocks); i++) {
        uint64_t before = read_special(s, 0, clocks[i][0], 0, 8, 3), high = read_special(s, 0, clocks[i][1], 0, 4, 3);
        uint64_t after = read_special(s, 0, clocks[i][0], 0, 8, 3);
        assert_true(before <= after && before >> 32 <= high && high <= after >> 32);
    }
    s->grid.grid_number = 0x123456789abcull;
    assert_int_equal(read_special(s, 0, LW_SPECIAL_gridid, 0, 8, 127), 0x123456789abcull);
    /* Lanes that do not execute keep what they have. */
    lw_gang *gang = s->cta.gangs;
    lw_op op = {.step = level->steps[LW_OP_special], .d = SLOT(D), .a = LW_SPECIAL_laneid, .c = 4};
    memset(steps_slot(gang, D), 0xee, LW_SLOT_64);
    lw_gang_set_mask(gang, (lw_mask)1 << 77);
    op.step(gang, &op);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(((uint32_t *)steps_slot(gang, D))[i], i == 77 ? 13 : 0xeeeeeeee);
    steps_free(s);
}

static void at_each_level(void (*test)(void)) {
    uint32_t count = 0;
    for (const lw_level *const *at = lw_levels; (level = *at); at++)
        if (lw_level_has(level)) test(), count++;
    assert_true(count);
}

static void test_special(void **state) { (void)state, at_each_level(specials); }

/* ---- Addresses ------------------------------------------------------------------------------------------------- */

static void local_bases(void) {
    steps_cta *s = steps_new(32, 32);
    lw_gang *gang = s->cta.gangs;
    gang->frame->local_base = 96;
    lw_op op = {.step = level->steps[LW_OP_local_base], .d = SLOT(D), .c = 8, .imm = 20};
    op.step(gang, &op);
    assert_int_equal(((uint64_t *)steps_slot(gang, D))[31], 116);
    op.c = 4;
    op.step(gang, &op);
    assert_int_equal(((uint32_t *)steps_slot(gang, D))[31], 116);
    steps_free(s);
}

static void test_local_base(void **state) { (void)state, at_each_level(local_bases); }

static void test_isspacep(void **state) {
    (void)state;
    static const struct {
        uint64_t address;
        lw_where where;
    } cases[] = {
        {0, LW_WHERE_nowhere},
        {LW_SHARED_WINDOW - 1, LW_WHERE_nowhere},
        {LW_SHARED_WINDOW, LW_WHERE_shared},
        {LW_LOCAL_WINDOW - 1, LW_WHERE_shared},
        {LW_LOCAL_WINDOW, LW_WHERE_local},
        {LW_PARAM_WINDOW, LW_WHERE_param},
        {LW_CODE_WINDOW, LW_WHERE_nowhere},
        {LW_GLOBAL_BASE, LW_WHERE_global},
        {UINT32_MAX, LW_WHERE_global},
        {LW_GLOBAL_HIGH + 5, LW_WHERE_global},
    };
    static const lw_where places[] = {LW_WHERE_const, LW_WHERE_global, LW_WHERE_local, LW_WHERE_shared, LW_WHERE_param};
    steps_cta *s = steps_new(32, 32);
    lw_gang *gang = s->cta.gangs;
    for (uint32_t k = 0; k < LW_COUNT(places); k++)
        for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
            uint64_t *wide = steps_slot(gang, A);
            uint32_t *narrow = steps_slot(gang, A);
            for (uint32_t i = 0; i < 32; i++) {
                if (bytes == 8) wide[i] = cases[i % LW_COUNT(cases)].address;
                else narrow[i] = (uint32_t)cases[i % LW_COUNT(cases)].address;
            }
            lw_op op = {.step = lw_step_isspacep, .d = SLOT(D), .a = SLOT(A), .b = places[k], .c = bytes};
            op.step(gang, &op);
            for (uint32_t i = 0; i < 32; i++) {
                if (bytes == 4 && cases[i % LW_COUNT(cases)].address > UINT32_MAX) continue;
                assert_int_equal(lw_get_mask(gang, SLOT(D)) >> i & 1, cases[i % LW_COUNT(cases)].where == places[k]);
            }
        }
    steps_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vote),      cmocka_unit_test(test_activemask),  cmocka_unit_test(test_match),
        cmocka_unit_test(test_redux),     cmocka_unit_test(test_redux_float), cmocka_unit_test(test_elect),
        cmocka_unit_test(test_predicate), cmocka_unit_test(test_special),     cmocka_unit_test(test_local_base),
        cmocka_unit_test(test_isspacep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
