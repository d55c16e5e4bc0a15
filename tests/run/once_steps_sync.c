/* barrier: who waits, who goes on, and what barrier.red gives (manual section 9.7.13.1). */
#include "steps.h"

enum { NUMBER, COUNT_SLOT, PRED, RESULT };

/* A barrier in block 0; block 1 follows. */
static lw_op *put_barrier(steps_cta *s, uint32_t at, lw_barrier_kind kind, uint32_t number, int count) {
    lw_op *op = &s->ops[at];
    *op = (lw_op){.step = lw_step_barrier,
                  .mode = kind,
                  .b = LW_NO_SLOT,
                  .d = SLOT(RESULT),
                  .e = SLOT(PRED),
                  .flags = count < 0 ? LW_OP_IMM_A : LW_OP_IMM_A | LW_OP_IMM_B,
                  .imm = (uint64_t)(uint32_t)count << 32 | number};
    return op;
}

/* The barrier is always the last operation of block 0. */
static lw_op *barrier(steps_cta *s, lw_barrier_kind kind, uint32_t number, int count) {
    return put_barrier(s, 3, kind, number, count);
}

/* A gang that came as a whole, and stands in front of the barrier, arrives when it runs again. */
static const lw_op *run(lw_gang *gang, lw_mask mask, const lw_op *op) {
    lw_gang_set_mask(gang, mask);
    const lw_op *next = op->step(gang, op);
    return gang->stands ? op->step(gang, op) : next;
}

static bool waits(const lw_gang *gang) { return gang->state == LW_GANG_waiting; }

/* The lanes of a gang that will go on at block 1. */
static lw_mask released(const lw_gang *gang) { return gang->frame->pending[1]; }

static void test_one_gang_passes(void **state) {
    (void)state;
    steps_cta *s = steps_new(100, 128);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    assert_ptr_equal(run(gang, gang->exist, op), op + 1);
    op = barrier(s, LW_BARRIER_sync, 15, 128); /* 100 threads are four warps */
    assert_ptr_equal(run(gang, gang->exist, op), op + 1);
    steps_free(s);
}

static void test_lanes_arrive_apart(void **state) {
    (void)state;
    steps_cta *s = steps_new(100, 128);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 3, -1);
    lw_mask some = gang->exist & ((lw_mask)0x5555 | (lw_mask)0xff << 60);
    assert_null(run(gang, some, op));
    assert_true(waits(gang));
    gang->state = LW_GANG_ready;
    assert_ptr_equal(run(gang, gang->exist & ~some, op), &s->ops[4]);
    assert_true(gang->mask == gang->exist);
    assert_false(s->cta.barriers_in_use >> 3 & 1);
    steps_free(s);
}

static void test_gangs_wait_for_each_other(void **state) {
    (void)state;
    steps_cta *s = steps_new(128 * 3 + 5, 128);
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t g = 0; g < 3; g++) {
            lw_gang *gang = &s->cta.gangs[g];
            assert_null(run(gang, gang->exist, op));
            assert_true(waits(gang));
        }
        assert_ptr_equal(run(&s->cta.gangs[3], s->cta.gangs[3].exist, op), &s->ops[4]);
        for (uint32_t g = 0; g < 3; g++) {
            lw_gang *gang = &s->cta.gangs[g];
            assert_int_equal(gang->state, LW_GANG_ready);
            assert_true(released(gang) == gang->exist);
            assert_ptr_equal(lw_gang_select(gang), &s->ops[4]);
        }
    }
    steps_free(s);
}

static void test_named_barriers_do_not_mix(void **state) {
    (void)state;
    steps_cta *s = steps_new(128, 32);
    lw_gang *gangs = s->cta.gangs;
    lw_op *one = put_barrier(s, 3, LW_BARRIER_sync, 1, 64);
    assert_null(run(&gangs[0], gangs[0].exist, one));
    lw_op copy = *one;
    lw_op *two = put_barrier(s, 3, LW_BARRIER_sync, 2, 64);
    assert_null(run(&gangs[1], gangs[1].exist, two));
    assert_true(waits(&gangs[0]) && waits(&gangs[1]));
    *one = copy;
    assert_ptr_equal(run(&gangs[2], gangs[2].exist, one), &s->ops[4]);
    assert_false(waits(&gangs[0]));
    assert_true(waits(&gangs[1]));
    steps_free(s);
}

/* Lanes of one warp at different barriers, told apart by registers. */
static void test_numbers_from_registers(void **state) {
    (void)state;
    steps_cta *s = steps_new(64, 64);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, 0);
    op->flags = 0;
    op->a = SLOT(NUMBER), op->b = SLOT(COUNT_SLOT);
    uint32_t *number = steps_slot(gang, NUMBER), *count = steps_slot(gang, COUNT_SLOT);
    for (uint32_t i = 0; i < 64; i++)
        number[i] = i % 2 ? 7 : 9, count[i] = 32; /* half of each of two warps: 32 threads */
    assert_ptr_equal(run(gang, gang->exist, op), &s->ops[4]);
    assert_true(gang->mask == gang->exist);
    steps_free(s);
}

/* A producer arrives and goes on; the consumer waits until it has. */
static void test_arrive(void **state) {
    (void)state;
    steps_cta *s = steps_new(64, 32);
    lw_gang *producer = &s->cta.gangs[0], *consumer = &s->cta.gangs[1];
    for (uint32_t round = 0; round < 4; round++) {
        bool first = round & 1;
        lw_op *op = barrier(s, LW_BARRIER_arrive, 1, 64);
        if (first) assert_ptr_equal(run(producer, producer->exist, op), op + 1);
        op = barrier(s, LW_BARRIER_sync, 1, 64);
        const lw_op *next = run(consumer, consumer->exist, op);
        if (first) {
            assert_ptr_equal(next, &s->ops[4]);
            continue;
        }
        assert_null(next);
        assert_true(waits(consumer));
        op = barrier(s, LW_BARRIER_arrive, 1, 64);
        assert_ptr_equal(run(producer, producer->exist, op), op + 1);
        assert_false(waits(consumer));
        assert_ptr_equal(lw_gang_select(consumer), &s->ops[4]);
    }
    steps_free(s);
}

/* A producer that runs ahead counts again. */
static void test_arrive_twice(void **state) {
    (void)state;
    steps_cta *s = steps_new(64, 32);
    lw_gang *gangs = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_arrive, 1, 96);
    run(&gangs[0], gangs[0].exist, op);
    run(&gangs[0], gangs[0].exist, op);
    assert_true(s->cta.barriers_in_use >> 1 & 1);
    op = barrier(s, LW_BARRIER_sync, 1, 96);
    assert_ptr_equal(run(&gangs[1], gangs[1].exist, op), &s->ops[4]);
    steps_free(s);
}

/* Five threads in the last warp count as a warp once all five have come, in whatever pieces. */
static void test_partial_warp_counts_whole(void **state) {
    (void)state;
    steps_cta *s = steps_new(37, 64);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, 64);
    lw_mask warp = 0xffffffff, rest = gang->exist & ~warp;
    assert_null(run(gang, warp, op));
    assert_null(run(gang, rest & (rest >> 1), op));
    assert_true(waits(gang));
    assert_ptr_equal(run(gang, rest & ~(rest >> 1), op), &s->ops[4]);
    assert_true(gang->mask == gang->exist);
    steps_free(s);
}

/* Whole gangs stand in front of the barrier; once all do they go on, and nobody has arrived. */
static void test_gangs_stand(void **state) {
    (void)state;
    steps_cta *s = steps_new(256, 128);
    lw_gang *gangs = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    assert_null(op->step(&gangs[0], op));
    assert_true(gangs[0].stands && !waits(&gangs[0]));
    assert_false(lw_cta_pass_barrier(&s->cta));
    assert_null(op->step(&gangs[1], op));
    assert_true(lw_cta_pass_barrier(&s->cta));
    assert_int_equal(s->cta.barriers_in_use, 0);
    for (int g = 0; g < 2; g++) {
        assert_ptr_equal(gangs[g].resume, op + 1);
        assert_false(gangs[g].stands);
    }
    lw_op *with_count = put_barrier(s, 2, LW_BARRIER_sync, 0, 256);
    assert_null(with_count->step(&gangs[0], with_count));
    assert_true(waits(&gangs[0]) && !gangs[0].stands);
    steps_free(s);
}

static void test_exit_releases(void **state) {
    (void)state;
    steps_cta *s = steps_new(256, 128);
    lw_gang *gangs = s->cta.gangs;
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    lw_mask half = (lw_mask)UINT64_MAX;
    assert_null(run(&gangs[0], gangs[0].exist, op));
    assert_null(run(&gangs[1], half, op));
    gangs[1].state = LW_GANG_ready;
    assert_true(waits(&gangs[0]));
    s->ops[2] = (lw_op){.step = lw_step_exit};
    assert_ptr_equal(run(&gangs[1], ~half, &s->ops[2]), &s->ops[4]);
    assert_true(gangs[1].mask == half);
    assert_false(waits(&gangs[0]));
    assert_true(released(&gangs[0]) == gangs[0].exist);
    steps_free(s);
}

/* After the others have left, those that stay meet without them. */
static void test_after_exit(void **state) {
    (void)state;
    steps_cta *s = steps_new(128, 128);
    lw_gang *gang = s->cta.gangs;
    s->ops[2] = (lw_op){.step = lw_step_exit};
    lw_gang_pend(gang->frame, 1, gang->exist & ~(lw_mask)0xff00);
    run(gang, 0xff00, &s->ops[2]);
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    assert_ptr_equal(run(gang, gang->exist & ~(lw_mask)0xff00, op), op + 1);
    steps_free(s);
}

/* Threads that came without waiting and have left stand for none of those that are missing. */
static void test_exit_behind_arrive(void **state) {
    (void)state;
    steps_cta *s = steps_new(256, 128);
    lw_gang *gangs = s->cta.gangs;
    const lw_mask half = (lw_mask)UINT64_MAX;
    assert_null(run(&gangs[1], half, barrier(s, LW_BARRIER_sync, 0, -1)));
    lw_op *op = barrier(s, LW_BARRIER_arrive, 0, 256);
    assert_ptr_equal(run(&gangs[0], gangs[0].exist, op), op + 1);
    s->ops[2] = (lw_op){.step = lw_step_exit};
    assert_null(run(&gangs[0], gangs[0].exist, &s->ops[2]));
    assert_int_equal(gangs[0].state, LW_GANG_done);
    assert_true(waits(&gangs[1]));
    assert_ptr_equal(run(&gangs[1], ~half, barrier(s, LW_BARRIER_sync, 0, -1)), &s->ops[4]);
    assert_true(gangs[1].mask == gangs[1].exist);
    steps_free(s);
}

/* red over two gangs, and over one that comes at once: the fast way must agree. */
static void test_reductions(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t threads = 1 + steps_below(256);
        steps_cta *s = steps_new(threads, 128);
        lw_barrier_kind kind = (lw_barrier_kind)(LW_BARRIER_red_popc + round % 3);
        lw_op *op = barrier(s, kind, round % 16, -1);
        if (round % 2) op->flags |= LW_OP_NEGATE;
        uint32_t popc = 0;
        for (uint32_t g = 0; g < s->cta.gang_count; g++) {
            lw_gang *gang = &s->cta.gangs[g];
            steps_fill_random(gang->regs, SLOT(8));
            lw_mask p = steps_below(3) == 0 ? 0 : steps_below(2) ? LW_MASK_ALL : lw_get_mask(gang, SLOT(PRED));
            *LW_SLOT(gang, lw_mask, SLOT(PRED)) = p;
            for (uint32_t i = 0; i < 128; i++) popc += (gang->exist >> i & 1) && ((p >> i & 1) != (round % 2 != 0));
        }
        for (uint32_t g = 0; g < s->cta.gang_count; g++) {
            lw_gang *gang = &s->cta.gangs[g];
            lw_mask part = gang->exist;
            if (steps_below(2)) part = steps_mask(gang->exist);
            run(gang, part, op);
            gang->state = LW_GANG_ready;
            if (part != gang->exist) run(gang, gang->exist & ~part, op);
        }
        for (uint32_t g = 0; g < s->cta.gang_count; g++) {
            lw_gang *gang = &s->cta.gangs[g];
            for (uint32_t i = 0; i < 128; i++) {
                if (!(gang->exist >> i & 1)) continue;
                if (kind == LW_BARRIER_red_popc) assert_int_equal(((uint32_t *)steps_slot(gang, RESULT))[i], popc);
                else
                    assert_int_equal(lw_get_mask(gang, SLOT(RESULT)) >> i & 1,
                                     kind == LW_BARRIER_red_and ? popc == threads : popc > 0);
            }
        }
        steps_free(s);
    }
}

static void expect_trap(steps_cta *s, const lw_op *op, lw_mask mask, uint32_t lane) {
    lw_gang *gang = s->cta.gangs;
    memset(&s->cta.trap, 0, sizeof s->cta.trap);
    assert_null(run(gang, mask, op));
    assert_int_equal(s->cta.trap.kind, LW_TRAP_barrier);
    assert_int_equal(s->cta.trap.thread[0], lane);
    gang->state = LW_GANG_ready;
}

static void test_bad_operands(void **state) {
    (void)state;
    steps_cta *s = steps_new(128, 64);
    lw_gang *gang = s->cta.gangs;
    lw_mask all = gang->exist;
    expect_trap(s, barrier(s, LW_BARRIER_sync, 16, -1), all, 0);
    expect_trap(s, barrier(s, LW_BARRIER_sync, UINT32_MAX, -1), all & ~(lw_mask)1, 1);
    expect_trap(s, barrier(s, LW_BARRIER_sync, 0, 0), all, 0);
    expect_trap(s, barrier(s, LW_BARRIER_sync, 0, 33), all, 0);
    expect_trap(s, barrier(s, LW_BARRIER_arrive, 0, -1), all, 0);
    lw_op *op = barrier(s, LW_BARRIER_sync, 0, -1);
    op->flags = 0;
    op->a = SLOT(NUMBER);
    uint32_t *number = steps_slot(gang, NUMBER);
    for (uint32_t i = 0; i < 64; i++) number[i] = i == 5 ? 16 : 15;
    expect_trap(s, op, all, 5);
    steps_free(s);
}

/* Two counts for one barrier: the first holds, and the others are counted. */
static void test_two_counts(void **state) {
    (void)state;
    steps_cta *s = steps_new(128, 128);
    lw_gang *gang = s->cta.gangs;
    run(gang, 1, barrier(s, LW_BARRIER_sync, 9, -1));
    gang->state = LW_GANG_ready;
    assert_null(run(gang, 2, barrier(s, LW_BARRIER_sync, 9, 128))); /* the same count, written out */
    assert_true(waits(gang));
    assert_int_equal(s->notes[4], 0);
    lw_mask second = (lw_mask)UINT32_MAX << 32, third = (lw_mask)UINT32_MAX << 64;
    gang->state = LW_GANG_ready;
    run(gang, second, barrier(s, LW_BARRIER_sync, 8, 64));
    gang->state = LW_GANG_ready;
    assert_ptr_equal(run(gang, third, barrier(s, LW_BARRIER_sync, 8, 96)), &s->ops[4]); /* two warps: it opens */
    assert_true(gang->mask == (second | third));
    assert_int_equal(s->notes[4], 32);
    run(gang, second, barrier(s, LW_BARRIER_sync, 8, 64));
    s->grid.strict = true;
    assert_null(run(gang, third, barrier(s, LW_BARRIER_sync, 8, 96)));
    assert_int_equal(gang->state, LW_GANG_trapped);
    assert_int_equal(s->cta.trap.kind, LW_TRAP_undefined);
    steps_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_gang_passes),
        cmocka_unit_test(test_lanes_arrive_apart),
        cmocka_unit_test(test_gangs_wait_for_each_other),
        cmocka_unit_test(test_named_barriers_do_not_mix),
        cmocka_unit_test(test_numbers_from_registers),
        cmocka_unit_test(test_arrive),
        cmocka_unit_test(test_arrive_twice),
        cmocka_unit_test(test_partial_warp_counts_whole),
        cmocka_unit_test(test_gangs_stand),
        cmocka_unit_test(test_exit_releases),
        cmocka_unit_test(test_after_exit),
        cmocka_unit_test(test_exit_behind_arrive),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_bad_operands),
        cmocka_unit_test(test_two_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
