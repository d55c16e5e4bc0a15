/* shfl at every level against the manual's pseudo-code (section 9.7.9.5) written down literally. */
#include "steps.h"

enum { D, A, B, C, P, COUNT };

/* One lane of one warp; source_a holds 0 for lanes that do not execute, as the H100 does. */
static uint32_t reference(lw_shuffle_mode mode, const uint32_t *source_a, int lane, uint32_t b, uint32_t c, bool *p) {
    int bval = (int)(b & 0x1f), cval = (int)(c & 0x1f), mask = (int)(c >> 8 & 0x1f);
    int max_lane = (lane & mask) | (cval & (~mask & 0x1f));
    int min_lane = lane & mask;
    int j = 0;
    bool pval = false;
    switch (mode) {
    case LW_SHUFFLE_up:
        j = lane - bval;
        pval = j >= max_lane;
        break;
    case LW_SHUFFLE_down:
        j = lane + bval;
        pval = j <= max_lane;
        break;
    case LW_SHUFFLE_bfly:
        j = lane ^ bval;
        pval = j <= max_lane;
        break;
    case LW_SHUFFLE_idx:
        j = min_lane | (bval & (~mask & 0x1f));
        pval = j <= max_lane;
        break;
    }
    if (!pval) j = lane;
    *p = pval;
    return source_a[j];
}

static uint32_t random_control(void) {
    switch (steps_below(4)) {
    case 0: return steps_below(32);
    case 1: return (steps_below(32) << 8) | steps_below(32);
    case 2: return 0x1f;
    default: return (uint32_t)steps_random();
    }
}

/* b and c are the same in all lanes where they are constants. in_place: d is the slot of a, b or c. */
static void try_one(lw_gang *gang, lw_op *op, lw_mask mask, bool b_constant, bool c_constant, int in_place) {
    uint32_t a[128], b[128], c[128], before[128], *d;
    steps_set_mask(gang, mask);
    steps_fill_random(steps_slot(gang, D), COUNT * LW_SLOT_64);
    op->imm = (uint64_t)random_control() << 32 | random_control();
    bool mixed = steps_below(2);
    uint32_t one_b = random_control(), one_c = random_control();
    for (uint32_t i = 0; i < 128; i++) {
        ((uint32_t *)steps_slot(gang, B))[i] = mixed ? random_control() : one_b;
        ((uint32_t *)steps_slot(gang, C))[i] = mixed ? random_control() : one_c;
    }
    op->d = SLOT(in_place), op->b = SLOT(A), op->a = SLOT(B), op->c = SLOT(C);
    op->flags = (uint16_t)((b_constant ? LW_OP_IMM_A : 0) | (c_constant ? LW_OP_IMM_C : 0));
    for (uint32_t i = 0; i < 128; i++) {
        a[i] = mask >> i & 1 ? ((uint32_t *)steps_slot(gang, A))[i] : 0;
        b[i] = b_constant ? (uint32_t)op->imm : ((uint32_t *)steps_slot(gang, B))[i];
        c[i] = c_constant ? (uint32_t)(op->imm >> 32) : ((uint32_t *)steps_slot(gang, C))[i];
    }
    d = steps_slot(gang, (uint32_t)in_place);
    memcpy(before, d, sizeof before);
    lw_mask p_before = lw_get_mask(gang, SLOT(P));
    assert_ptr_equal(op->step(gang, op), op + 1);
    for (uint32_t i = 0; i < 128; i++) {
        bool p = p_before >> i & 1;
        uint32_t want = before[i];
        if (mask >> i & 1) want = reference(op->mode, a + i / 32 * 32, (int)(i % 32), b[i], c[i], &p);
        if (d[i] != want) fail_msg("mode %d lane %u b %x c %x: %x, not %x", op->mode, i, b[i], c[i], d[i], want);
        if (op->e == LW_NO_SLOT) p = p_before >> i & 1;
        assert_int_equal(lw_get_mask(gang, SLOT(P)) >> i & 1, p);
    }
}

static void test_all_modes(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    static const uint32_t shapes[][2] = {{128, 128}, {100, 128}, {32, 32}, {7, 32}, {96, 96}, {64, 64}};
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t shape = 0; shape < LW_COUNT(shapes); shape++) {
            steps_cta *s = steps_new(shapes[shape][0], shapes[shape][1]);
            lw_gang *gang = s->cta.gangs;
            for (uint32_t round = 0; round < 3000; round++) {
                lw_op *op = &s->ops[1];
                *op = (lw_op){.step = levels[l].shuffle, .e = round % 5 ? SLOT(P) : LW_NO_SLOT, .mode = round % 4};
                try_one(gang, op, steps_mask(gang->exist), round / 4 & 1, round / 8 & 1, (int)(round / 16 % 4));
            }
            steps_free(s);
        }
}

/* A block behind it is entered without another dispatch. */
static void test_enters_block(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++) {
        steps_cta *s = steps_new(64, 64);
        lw_gang *gang = s->cta.gangs;
        s->ops[3] = (lw_op){
            .step = levels[l].shuffle, .d = SLOT(D), .b = SLOT(A), .e = LW_NO_SLOT, .flags = LW_OP_IMM_A | LW_OP_IMM_C};
        s->ops[4].imm = 5;
        uint64_t lanes = gang->lane_instructions;
        assert_ptr_equal(s->ops[3].step(gang, &s->ops[3]), &s->ops[5]);
        assert_int_equal(gang->lane_instructions - lanes, 5 * 64);
        steps_free(s);
    }
}

/* Every b and every segment mask and clamp as constants, on a whole warp. */
static void test_all_constants(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    steps_cta *s = steps_new(32, 32);
    lw_gang *gang = s->cta.gangs;
    uint32_t *a = steps_slot(gang, A), *d = steps_slot(gang, D);
    for (uint32_t i = 0; i < 32; i++) a[i] = 1000 + i;
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t mode = 0; mode < 4; mode++)
            for (uint32_t b = 0; b < 32; b++)
                for (uint32_t c = 0; c < 32 * 32; c++) {
                    uint32_t packed = c / 32 << 8 | c % 32;
                    s->ops[1] = (lw_op){.step = levels[l].shuffle,
                                        .d = SLOT(D),
                                        .b = SLOT(A),
                                        .e = SLOT(P),
                                        .mode = mode,
                                        .flags = LW_OP_IMM_A | LW_OP_IMM_C,
                                        .imm = (uint64_t)packed << 32 | b};
                    s->ops[1].step(gang, &s->ops[1]);
                    uint32_t in_range = 0, wrong = 0;
                    for (int i = 0; i < 32; i++) {
                        bool p;
                        wrong |= d[i] ^ reference(mode, a, i, b, packed, &p);
                        in_range |= (uint32_t)p << i;
                    }
                    assert_int_equal(wrong, 0);
                    assert_int_equal((uint32_t)lw_get_mask(gang, SLOT(P)), in_range);
                }
    steps_free(s);
}

/* The same from registers: all lanes of a gang see every b and every c, and no two neighbours the same. */
static void test_all_registers(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    steps_cta *s = steps_new(128, 128);
    lw_gang *gang = s->cta.gangs;
    uint32_t *a = steps_slot(gang, A), *b = steps_slot(gang, B), *c = steps_slot(gang, C), *d = steps_slot(gang, D);
    for (uint32_t i = 0; i < 128; i++) a[i] = 1000 + i;
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t mode = 0; mode < 4; mode++)
            for (uint32_t round = 0; round < 32 * 32 * 32; round += 4) {
                for (uint32_t i = 0; i < 128; i++) { /* each warp has a quarter of the rounds */
                    uint32_t map = (round + i / 32 + i % 32 * 1057) % (32 * 32 * 32);
                    b[i] = map % 32, c[i] = map / 1024 << 8 | map / 32 % 32;
                }
                s->ops[1] = (lw_op){.step = levels[l].shuffle,
                                    .d = SLOT(D),
                                    .b = SLOT(A),
                                    .a = SLOT(B),
                                    .c = SLOT(C),
                                    .e = SLOT(P),
                                    .mode = mode};
                s->ops[1].step(gang, &s->ops[1]);
                lw_mask in_range = lw_get_mask(gang, SLOT(P));
                for (uint32_t i = 0; i < 128; i++) {
                    bool p;
                    uint32_t want = reference(mode, a + i / 32 * 32, (int)(i % 32), b[i], c[i], &p);
                    if (d[i] != want || (bool)(in_range >> i & 1) != p)
                        fail_msg("%s: mode %u lane %u b %x c %x: %u, not %u", levels[l].name, mode, i, b[i], c[i], d[i],
                                 want);
                }
            }
    steps_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_modes), cmocka_unit_test(test_enters_block),
                                       cmocka_unit_test(test_all_constants), cmocka_unit_test(test_all_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
