/* What linking notes of the program's operations and registers is so, for random functions full of what linking makes
 * one of several: every operation of the interpreter does something of the program; the program's operations may be
 * done in that order, since of no two that change places one writes what the other reads or writes; slots that an
 * operation reads and writes are the homes of the registers that those read and write which it does; and in front of
 * each, what is live has a home of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "middle/lower.h"
#include "run/interp/link/link.h"
#include "run/run.h"

enum { ROUNDS = 300, OPS = 60, WORDS = 10, PREDICATES = 3 };

typedef struct fixture {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_program program;
    lw_code *functions[1];
    lw_lower l;
    uint64_t random;
    uint32_t words[WORDS], predicates[PREDICATES];
} fixture;

static uint32_t below(fixture *f, uint32_t n) {
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((f->random >> 33) % n);
}

/* ---- Random functions ------------------------------------------------------------------------------------------ */

static uint32_t word(fixture *f) {
    static const uint32_t known[] = {0, 1, 7, 13, 16, 19, 25, 31, 0xff, 0x80000000};
    return below(f, 5) ? f->words[below(f, WORDS)]
                       : lw_lower_const(&f->l, LW_CLASS_32, known[below(f, LW_COUNT(known))]);
}

static void shift_pair(fixture *f, uint32_t d) {
    const uint32_t x = f->words[below(f, WORDS)], n = 1 + below(f, 31);
    const uint32_t left = lw_lower_lane(&f->l, LW_LANE_shl_b32, x, lw_lower_const(&f->l, LW_CLASS_32, n), LW_NO_SLOT);
    const uint32_t right =
        lw_lower_lane(&f->l, LW_LANE_shr_u32, x, lw_lower_const(&f->l, LW_CLASS_32, 32 - n), LW_NO_SLOT);
    lw_lower_lane_into(&f->l, d, LW_LANE_or_b32, left, right, LW_NO_SLOT);
}

/* Something that only the next operation reads, as trees of logic and sums have it. */
static uint32_t tree(fixture *f, uint32_t depth) {
    static const lw_lane_id lanes[] = {LW_LANE_and_b32, LW_LANE_or_b32,    LW_LANE_xor_b32, LW_LANE_xor_b32,
                                       LW_LANE_add_b32, LW_LANE_add_b32,   LW_LANE_shl_b32, LW_LANE_shr_u32,
                                       LW_LANE_not_b32, LW_LANE_shf_l_wrap};
    if (!depth || !below(f, 4)) return word(f);
    const uint32_t x = tree(f, depth - 1), y = tree(f, depth - 1);
    const lw_lane_id lane = lanes[below(f, LW_COUNT(lanes))];
    if (lane == LW_LANE_not_b32) return lw_lower_lane(&f->l, lane, x, LW_NO_SLOT, LW_NO_SLOT);
    if (lane == LW_LANE_shf_l_wrap)
        return lw_lower_lane(&f->l, lane, x, x, lw_lower_const(&f->l, LW_CLASS_32, below(f, 40)));
    return lw_lower_lane(
        &f->l, lane, x,
        lane == LW_LANE_shl_b32 || lane == LW_LANE_shr_u32 ? lw_lower_const(&f->l, LW_CLASS_32, below(f, 34)) : y,
        LW_NO_SLOT);
}

static void memory(fixture *f) {
    const lw_memory_form form = {.window = LW_WINDOW_shared, .address = 1, .size = 2, .slot = 2};
    lw_op *op = lw_lower_op(&f->l, below(f, 2) ? LW_OP_ld : LW_OP_st);
    op->d = f->words[below(f, WORDS)], op->a = f->words[below(f, WORDS)], op->c = lw_memory_pack(form), op->e = 0;
}

static void compare(fixture *f) {
    const uint32_t sum = f->words[below(f, WORDS)], p = f->predicates[below(f, PREDICATES)];
    lw_lower_lane_into(&f->l, sum, LW_LANE_add_b32, f->words[below(f, WORDS)],
                       lw_lower_const(&f->l, LW_CLASS_32, below(f, 9)), LW_NO_SLOT);
    if (!below(f, 3)) memory(f);
    lw_lower_lane_into(&f->l, p, LW_LANE_setp_lt_u32, sum, f->words[below(f, WORDS)], LW_NO_SLOT);
}

static void statement(fixture *f) {
    const uint32_t d = f->words[below(f, WORDS)];
    switch (below(f, 6)) {
    case 0: memory(f); return;
    case 1: shift_pair(f, d); return;
    case 2: compare(f); return;
    default: lw_lower_move(&f->l, d, tree(f, 3)); return;
    }
}

static void guarded(fixture *f) {
    const uint32_t at = f->l.ops.count;
    lw_lower_op(&f->l, LW_OP_guard)->b = f->predicates[below(f, PREDICATES)];
    for (uint32_t k = below(f, 3); k-- > 0;) statement(f);
    lw_lower_op(&f->l, LW_OP_unguard);
    f->l.ops.at[at].imm = f->l.ops.count - 1 - at;
}

static void branch(fixture *f, uint32_t label) {
    lw_op *op = lw_lower_op(&f->l, LW_OP_bra_if);
    op->b = f->predicates[below(f, PREDICATES)], op->a = label;
    lw_lower_new_block(&f->l);
}

static void make(fixture *f, uint64_t seed) {
    *f = (fixture){.random = seed};
    lw_arena_init(&f->arena);
    lw_diags_init(&f->diags, &f->arena, &f->source);
    f->program.arena = &f->arena;
    f->program.functions = f->functions, f->program.code_count = 1;
    f->l = (lw_lower){.arena = &f->arena, .diags = &f->diags, .program = &f->program};
    lw_lower_begin(&f->l, &(lw_code){.name = "k", .is_entry = true}, (lw_place){10, 5}, OPS);
    for (uint32_t k = 0; k < WORDS; k++) f->words[k] = lw_lower_vreg(&f->l, LW_CLASS_32);
    for (uint32_t k = 0; k < PREDICATES; k++) f->predicates[k] = lw_lower_vreg(&f->l, LW_CLASS_pred);
    const uint32_t back = lw_lower_label(&f->l), on = lw_lower_label(&f->l);
    for (uint32_t k = 0; k < OPS; k++) {
        if (k == OPS / 4) lw_lower_place_label(&f->l, back);
        if (k == OPS / 2) branch(f, on);
        if (k == OPS - 9) lw_lower_place_label(&f->l, on);
        if (below(f, 8)) statement(f);
        else guarded(f);
    }
    branch(f, back);
    lw_lower_op(&f->l, LW_OP_exit);
    lw_lower_end(&f->l);
    assert_false(f->l.failed);
    assert_true(lw_interp_link(&f->program, &f->diags));
}

/* ---- What is said of them -------------------------------------------------------------------------------------- */

static bool names(const lw_code *code, const lw_op *op, uint8_t access, uint32_t value) {
    LW_EACH_(code, op, at, access)
    if (*at == value) return true;
    return false;
}

/* One of them writes what the other one reads or writes. */
static bool conflict(const lw_code *code, const lw_op *x, const lw_op *y) {
    LW_EACH_WRITTEN(code, x, at)
    if (names(code, y, LW_READ, *at) || names(code, y, LW_WRITTEN, *at)) return true;
    LW_EACH_WRITTEN(code, y, at)
    if (names(code, x, LW_READ, *at)) return true;
    return false;
}

/* Returns how many changed places with another one. */
static uint32_t check_order(const lw_code *code, const lw_code *interp) {
    uint32_t moved = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        if (interp->became[n] == LW_NO_SLOT) {
            assert_true(code->ops[n].code == LW_OP_guard || code->ops[n].code == LW_OP_unguard);
            continue;
        }
        bool moves = false;
        for (uint32_t k = n + 1; k < code->op_count; k++) {
            if (interp->became[k] == LW_NO_SLOT || interp->became[k] >= interp->became[n]) continue;
            assert_false(conflict(code, &code->ops[n], &code->ops[k]));
            assert_true(lw_op_does(&code->ops[n], LW_DOES_PURE));
            moves = true;
        }
        moved += moves;
    }
    return moved;
}

static bool is_fill(const lw_code *interp, uint32_t slot) {
    for (uint32_t k = 0; k < interp->fill_count; k++)
        if (interp->fills[k].at == slot) return true;
    return false;
}

/* Some operation that operation m does names a register that lives in this slot. */
static bool done_there(const lw_code *code, const lw_code *interp, uint32_t m, uint8_t access, uint32_t slot) {
    for (uint32_t n = 0; n < code->op_count; n++)
        if (interp->became[n] == m) LW_EACH_(code, &code->ops[n], at, access)
    if (!code->registers[*at].is_const && interp->homes[*at] == slot) return true;
    return false;
}

/* An earlier one of those that operation m does writes the register. */
static bool made_there(const lw_code *code, const lw_code *interp, uint32_t m, uint32_t before, uint32_t reg) {
    for (uint32_t n = 0; n < before; n++)
        if (interp->became[n] == m && names(code, &code->ops[n], LW_WRITTEN, reg)) return true;
    return false;
}

/* Nobody but what operation m does reads the register, and it has no home. */
static void expect_inner(const lw_code *code, const lw_code *interp, uint32_t m, uint32_t reg) {
    assert_int_equal(interp->homes[reg], LW_NO_SLOT);
    for (uint32_t n = 0; n < code->op_count; n++)
        if (names(code, &code->ops[n], LW_READ, reg)) assert_int_equal(interp->became[n], m);
}

/* Returns how many operations of the program it does. */
static uint32_t check_operation(const lw_code *code, const lw_code *interp, uint32_t m) {
    const lw_op *op = &interp->ops[m];
    uint32_t does = 0;
    LW_EACH_READ(interp, op, at) assert_true(is_fill(interp, *at) || done_there(code, interp, m, LW_READ, *at));
    LW_EACH_WRITTEN(interp, op, at) assert_true(done_there(code, interp, m, LW_WRITTEN, *at));
    for (uint32_t n = 0; n < code->op_count; n++) {
        if (interp->became[n] != m) continue;
        does++;
        LW_EACH_READ(code, &code->ops[n], at)
        if (!code->registers[*at].is_const && !made_there(code, interp, m, n, *at))
            assert_true(names(interp, op, LW_READ, interp->homes[*at]));
        LW_EACH_WRITTEN(code, &code->ops[n], at)
        if (interp->homes[*at] == LW_NO_SLOT || !names(interp, op, LW_WRITTEN, interp->homes[*at]))
            expect_inner(code, interp, m, *at);
    }
    assert_true(does > 0);
    return does;
}

/* ---- What is live where lanes can go over ---------------------------------------------------------------------- */

static bool is_guarded(const lw_code *code, uint32_t n) {
    for (uint32_t k = n; k-- > 0;)
        if (code->ops[k].code == LW_OP_guard) return n <= k + code->ops[k].imm;
    return false;
}

/* Every one has a home, and no two have the same. */
static void expect_homes(const lw_code *code, const lw_code *interp, const uint64_t *live) {
    for (uint32_t v = 0; v < code->virtual_count; v++) {
        if (!lw_set_has(live, v)) continue;
        assert_int_not_equal(interp->homes[v], LW_NO_SLOT);
        for (uint32_t w = 0; w < v; w++)
            if (lw_set_has(live, w)) assert_int_not_equal(interp->homes[v], interp->homes[w]);
    }
}

/* Backward through a block, in the interpreter's order. */
static void check_live(const lw_code *code, const lw_code *interp, uint32_t block, uint64_t *live) {
    lw_facts_live_behind(code, block, live);
    for (uint32_t m = lw_block_end(interp, block); m-- > interp->blocks[block].first;) {
        for (uint32_t n = code->op_count; n-- > 0;)
            if (interp->became[n] == m) lw_live_over(code, &code->ops[n], is_guarded(code, n), live);
        expect_homes(code, interp, live);
    }
}

static void test_map(void **state) {
    (void)state;
    uint32_t several = 0, moved = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        fixture f;
        make(&f, 1000003 * (uint64_t)round + 17);
        const lw_code *code = f.program.functions[0], *interp = f.program.codes[0];
        for (uint32_t m = 0; m < interp->op_count; m++) several += check_operation(code, interp, m) > 1;
        moved += check_order(code, interp);
        uint64_t *live = LW_NEW_ARRAY(&f.arena, uint64_t, (code->virtual_count + 63) / 64);
        for (uint32_t b = code->block_count; b-- > 0;) check_live(code, interp, b, live);
        lw_arena_free(&f.arena);
    }
    print_message("%u operations do several of the program, %u change places\n", several, moved);
    assert_true(several > 10 * ROUNDS && moved > ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
