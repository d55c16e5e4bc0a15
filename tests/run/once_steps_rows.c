/* ld_row and st_row at every level against a model that moves one element of one lane at a time: under masks, guards
 * and predicates. */
#include "steps.h"

enum { DATA, BASE, INDEX, SLOTS }; /* slots of 64 bits; the predicate lies behind them */
#define PREDICATE SLOT(SLOTS)

typedef struct trial {
    steps_cta *s;
    lw_gang *gang;
    lw_op *op;
    lw_memory_form form;
    lw_mask lanes; /* that move anything: executing, and named by the predicate */
    uint64_t base, index;
} trial;

static uint32_t slot_bytes(const trial *t) { return t->form.size ? 1u << t->form.size : 2; }
static uint8_t *element_of(const trial *t, uint32_t lane) {
    return (uint8_t *)t->s->global[3] + (t->base - STEPS_SECOND) + ((t->index + lane) << t->form.size);
}

static void choose(trial *t, lw_step *step, bool store) {
    t->form = (lw_memory_form){.window = LW_WINDOW_global, .address = LW_ADDRESS_ROW, .size = steps_below(4)};
    t->form.slot = t->form.size ? t->form.size : 1;
    t->form.is_signed = !store && steps_below(2);
    uint32_t elements = STEPS_GLOBAL >> t->form.size, first = steps_below(elements / 4);
    t->base = STEPS_SECOND + ((uint64_t)first << t->form.size);
    t->index = steps_below(elements - first - LW_GANG_LANES + 1);
    *t->op = (lw_op){.step = step,
                     .d = SLOT(DATA),
                     .a = SLOT(BASE),
                     .b = SLOT(INDEX),
                     .c = lw_memory_pack(t->form),
                     .e = steps_below(2) ? PREDICATE : LW_NO_SLOT,
                     .imm = (uint64_t)steps_below(20) << LW_ROW_HINT_SHIFT};
    if (!store && steps_below(2)) t->op->flags = LW_OP_ZERO;
    for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
        ((uint64_t *)steps_slot(t->gang, BASE))[i] = t->base;
        ((uint64_t *)steps_slot(t->gang, INDEX))[i] = t->index;
    }
    lw_mask predicate = steps_mask(t->gang->exist);
    memcpy(t->gang->regs + PREDICATE, &predicate, sizeof predicate);
    steps_set_mask(t->gang, steps_mask(t->gang->exist));
    lw_mask inside = t->gang->mask & steps_mask(t->gang->exist);
    if (inside && steps_below(2)) t->gang->mask = inside; /* as a guard does, which leaves the counts alone */
    t->lanes = t->op->e == LW_NO_SLOT ? t->gang->mask : t->gang->mask & predicate;
}

static void model_load(const trial *t, char *slot) {
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        uint8_t value[8] = {0};
        uint32_t size = 1u << t->form.size;
        if (!(t->gang->mask >> lane & 1)) continue;
        if (!(t->lanes >> lane & 1) && !(t->op->flags & LW_OP_ZERO)) continue;
        if (t->lanes >> lane & 1) memcpy(value, element_of(t, lane), size);
        if (size == 1 && t->form.is_signed && value[0] & 0x80 && t->lanes >> lane & 1) value[1] = 0xff;
        memcpy(slot + lane * slot_bytes(t), value, slot_bytes(t));
    }
}

static void model_store(const trial *t) {
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++)
        if (t->lanes >> lane & 1)
            memcpy(element_of(t, lane), t->gang->regs + t->op->d + lane * slot_bytes(t), 1u << t->form.size);
}

static void run_rows(lw_step *step, bool store, uint32_t threads, uint32_t lanes) {
    trial t = {.s = steps_new(threads, lanes)};
    t.gang = t.s->cta.gangs;
    t.op = &t.s->ops[1];
    char before[STEPS_GLOBAL], want[STEPS_GLOBAL], slot[LW_SLOT_64];
    steps_fill_random(t.s->global, sizeof t.s->global);
    for (uint32_t round = 0; round < 2000; round++) {
        steps_fill_random(t.gang->regs, SLOT(SLOTS));
        choose(&t, step, store);
        memcpy(before, t.s->global[3], sizeof before);
        memcpy(slot, t.gang->regs, sizeof slot);
        if (store) model_store(&t);
        else model_load(&t, slot);
        memcpy(want, t.s->global[3], sizeof want);
        memcpy(t.s->global[3], before, sizeof before);
        assert_ptr_equal(step(t.gang, t.op), t.op + 1);
        for (uint32_t lane = threads; lane < LW_GANG_LANES; lane++) /* lanes that do not exist may hold anything */
            memcpy(slot + lane * slot_bytes(&t), t.gang->regs + lane * slot_bytes(&t), slot_bytes(&t));
        if (memcmp(want, t.s->global[3], sizeof want) || memcmp(slot, t.gang->regs, LW_GANG_LANES * slot_bytes(&t)))
            fail_msg("round %u: size %d signed %d predicate %d flags %d", round, t.form.size, t.form.is_signed,
                     t.op->e != LW_NO_SLOT, t.op->flags);
    }
    steps_free(t.s);
}

static void test_rows(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{128, 128}, {100, 128}, {32, 32}, {9, 32}, {96, 96}, {1, 32}};
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t i = 0; i < LW_COUNT(shapes); i++) {
            run_rows(levels[l].ld_row, false, shapes[i][0], shapes[i][1]);
            run_rows(levels[l].st_row, true, shapes[i][0], shapes[i][1]);
        }
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

/* A row of an array in constant memory may be loaded, and not stored. */
static void test_read_only(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t store = 0; store < 2; store++) {
            steps_cta *s = steps_new(64, 64);
            lw_gang *gang = s->cta.gangs;
            lw_memory_form form = {.window = LW_WINDOW_global, .address = LW_ADDRESS_ROW, .size = 2, .slot = 2};
            s->ops[1] =
                (lw_op){.d = SLOT(DATA), .a = SLOT(BASE), .b = SLOT(INDEX), .c = lw_memory_pack(form), .e = LW_NO_SLOT};
            for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
                ((uint64_t *)steps_slot(gang, BASE))[i] = STEPS_CONSTANT;
                ((uint64_t *)steps_slot(gang, INDEX))[i] = 3;
            }
            if (!store) assert_ptr_equal(levels[l].ld_row(gang, &s->ops[1]), &s->ops[2]);
            else {
                assert_null(levels[l].st_row(gang, &s->ops[1]));
                assert_int_equal(s->cta.trap.kind, LW_TRAP_read_only);
                assert_int_equal(s->cta.trap.address, STEPS_CONSTANT + 12);
            }
            steps_free(s);
        }
}

/* An index that goes round the whole address space is no way from one allocation to another: the array is where its
 * base is. */
static void test_other_allocation(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    static const uint64_t bases[] = {STEPS_FIRST, STEPS_SECOND + 4 * STEPS_GLOBAL + 64, UINT64_MAX - 15, 0};
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t k = 0; k < LW_COUNT(bases); k++) {
            steps_cta *s = steps_new(32, 32);
            lw_gang *gang = s->cta.gangs;
            lw_memory_form form = {.window = LW_WINDOW_global, .address = LW_ADDRESS_ROW, .size = 2, .slot = 2};
            s->ops[1] =
                (lw_op){.d = SLOT(DATA), .a = SLOT(BASE), .b = SLOT(INDEX), .c = lw_memory_pack(form), .e = LW_NO_SLOT};
            for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
                ((uint64_t *)steps_slot(gang, BASE))[i] = bases[k];
                ((uint64_t *)steps_slot(gang, INDEX))[i] = (STEPS_SECOND - bases[k]) / 4;
            }
            assert_null(levels[l].ld_row(gang, &s->ops[1]));
            assert_int_equal(s->cta.trap.kind, LW_TRAP_row);
            steps_free(s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_read_only),
                                       cmocka_unit_test(test_other_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
