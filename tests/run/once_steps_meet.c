/* warp_sync: lanes that wait for those that they name, wherever these stand (manual sections 9.7.9.6 and 9.7.13.2). */
#include "steps.h"

enum { VALUE, RESULT, PRED, MEMBERS };

/* A bar.warp.sync at the end of block 0: lanes go on at block 1. */
static lw_op *put_sync(steps_cta *s, bool constant, uint32_t members) {
    s->ops[3] = (lw_op){.step = lw_step_warp_sync,
                        .code = LW_OP_warp_sync,
                        .a = SLOT(MEMBERS),
                        .flags = constant ? LW_OP_IMM_A : 0,
                        .imm = members};
    s->ops[4].code = LW_OP_block;
    return &s->ops[3];
}

/* Its exchange, when there is one, stands between the two. */
static lw_op *put_vote(steps_cta *s, lw_vote_kind kind, uint32_t members) {
    lw_op *op = put_sync(s, true, members) - 1;
    *op = op[1];
    op[1] = (lw_op){.step = lw_step_vote,
                    .code = LW_OP_vote,
                    .b = SLOT(PRED),
                    .mode = kind,
                    .d = SLOT(RESULT),
                    .e = LW_NO_SLOT,
                    .flags = LW_OP_IMM_A,
                    .imm = members};
    return op;
}

static const lw_op *run(lw_gang *gang, lw_mask mask, const lw_op *op) {
    if (gang->state == LW_GANG_waiting) gang->state = LW_GANG_ready;
    lw_gang_set_mask(gang, mask);
    return op->step(gang, op);
}

static bool waits(const lw_gang *gang) { return gang->state == LW_GANG_waiting; }

/* What lanes do behind it is theirs, and not of interest here. */
static bool goes_on(lw_gang *gang, const lw_op *op, const lw_op *came, lw_mask lanes) {
    return came == op + 2 && gang->mask == lanes;
}

static void test_together(void **state) {
    (void)state;
    steps_cta *s = steps_new(100, 128);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = put_sync(s, true, UINT32_MAX);
    assert_true(goes_on(gang, op, run(gang, gang->exist, op), gang->exist));
    lw_mask warps = ((lw_mask)UINT32_MAX << 64) | UINT32_MAX; /* two whole warps of four */
    assert_true(goes_on(gang, op, run(gang, warps, op), warps));
    steps_free(s);
}

static void test_waits(void **state) {
    (void)state;
    steps_cta *s = steps_new(128, 128);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = put_sync(s, true, UINT32_MAX);
    lw_mask first = ((lw_mask)UINT32_MAX << 32) | 0xffff; /* half of warp 0, all of warp 1 */
    assert_true(goes_on(gang, op, run(gang, first, op), (lw_mask)UINT32_MAX << 32));
    assert_int_equal(gang->frame->ready_count, 0);
    /* The other half comes: both go on. */
    assert_ptr_equal(run(gang, 0xffff0000, op), &s->ops[4]);
    assert_true(gang->mask == UINT32_MAX);
    steps_free(s);
}

static void test_groups(void **state) {
    (void)state;
    steps_cta *s = steps_new(32, 32);
    lw_gang *gang = s->cta.gangs;
    uint32_t *members = steps_slot(gang, MEMBERS);
    lw_op *op = put_sync(s, false, 0);
    /* Lanes 0-7 name themselves, lanes 8-15 name 8-31: the first group is complete. */
    for (uint32_t i = 0; i < 32; i++) members[i] = i < 8 ? 0xff : 0xffffff00;
    assert_true(goes_on(gang, op, run(gang, 0xffff, op), 0xff));
    /* Lanes that name them, but others beside, are no part of it. */
    for (uint32_t i = 16; i < 32; i++) members[i] = i < 24 ? 0xffffff00 : 0xffffffff;
    assert_null(run(gang, 0xff0000, op));
    assert_null(run(gang, 0xff000000, op));
    assert_true(waits(gang));
    assert_int_equal(gang->frame->ready_count, 0);
    steps_free(s);
}

/* Which instruction it is counts, and its qualifiers; where it stands does not. */
static void test_kinds(void **state) {
    (void)state;
    steps_cta *s = steps_new(32, 32);
    lw_step *steps[LW_OP_count] = {[LW_OP_vote] = lw_step_vote};
    s->program.steps = steps;
    lw_gang *gang = s->cta.gangs;
    *(lw_mask *)steps_slot(gang, PRED) = 0x1010;
    lw_op *op = put_vote(s, LW_VOTE_ballot, 0xffff);
    lw_op elsewhere[3] = {s->ops[2], s->ops[3], s->ops[4]};
    assert_null(run(gang, 0xff, op));
    elsewhere[1].c = LW_VOTE_any;
    assert_null(run(gang, 0xf00, elsewhere));
    lw_op third[3] = {s->ops[2], s->ops[3], s->ops[4]};
    third[1].flags |= LW_OP_NEGATE;
    elsewhere[1].c = LW_VOTE_ballot;
    assert_ptr_equal(run(gang, 0xf000, third),
                     &s->ops[4]); /* 0-7 here, 8-11 at the second, 12-15 at the third, who negate */
    assert_true(gang->mask == 0xffff);
    const uint32_t *result = steps_slot(gang, RESULT);
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(result[i], 0xe010);
    steps_free(s);
}

static void test_never(void **state) {
    (void)state;
    steps_cta *s = steps_new(64, 64);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = put_sync(s, true, 0x80000001);
    assert_false(lw_gang_meet_anyway(gang));
    assert_null(run(gang, 1, op));
    assert_true(waits(gang));
    assert_true(lw_gang_meet_anyway(gang));
    assert_false(waits(gang));
    assert_ptr_equal(lw_gang_select(gang), &s->ops[4]);
    assert_true(gang->mask == 1);
    assert_int_equal(s->notes[2], 1);
    s->grid.strict = true;
    assert_null(run(gang, 2, op));
    assert_true(lw_gang_meet_anyway(gang));
    assert_int_equal(gang->state, LW_GANG_trapped);
    assert_int_equal(s->cta.trap.kind, LW_TRAP_undefined);
    assert_int_equal(s->cta.trap.lane, 1);
    steps_free(s);
}

/* Lanes that left need not come; nor those that never were. */
static void test_gone(void **state) {
    (void)state;
    steps_cta *s = steps_new(40, 64);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = put_sync(s, true, UINT32_MAX);
    s->ops[2] = (lw_op){.step = lw_step_exit};
    assert_null(run(gang, (lw_mask)0xfe << 32, op));
    assert_ptr_equal(run(gang, (lw_mask)1 << 32, &s->ops[2]), &s->ops[4]); /* the missing one leaves */
    assert_true(gang->mask == ((lw_mask)0xfe << 32));
    steps_free(s);
}

/* Of lanes that their own membermask leaves out it is counted that they are. */
static void test_strangers(void **state) {
    (void)state;
    steps_cta *s = steps_new(64, 64);
    lw_gang *gang = s->cta.gangs;
    lw_op *op = put_sync(s, true, 0xfffffff0);
    assert_true(goes_on(gang, op, run(gang, gang->exist, op), gang->exist));
    assert_int_equal(s->notes[1], 8);
    steps_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),  cmocka_unit_test(test_waits), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_never), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
