/* atom and red: every operation lane by lane in lane order, under masks, in every window; two threads at one counter;
 * faults. */
#include "steps.h"

#include <math.h>
#include <pthread.h>

enum { D, B, C, BASE, COUNT };

/* The manual's table of operations (section 9.7.13.5) on numbers wide enough for all of them. */
static uint64_t reference(lw_atom_op kind, uint64_t old, uint64_t b, uint64_t c, uint32_t bits, bool in_global) {
    uint64_t top = 1ull << (bits - 1), all = top - 1 + top;
    __int128 s_old = (__int128)old - (old & top ? (__int128)all + 1 : 0),
             s_b = (__int128)b - (b & top ? (__int128)all + 1 : 0);
    switch (kind) {
    case LW_ATOM_add: return (old + b) & all;
    case LW_ATOM_min_s: return (uint64_t)(s_old < s_b ? s_old : s_b) & all;
    case LW_ATOM_max_s: return (uint64_t)(s_old > s_b ? s_old : s_b) & all;
    case LW_ATOM_min_u: return old < b ? old : b;
    case LW_ATOM_max_u: return old > b ? old : b;
    case LW_ATOM_and: return old & b;
    case LW_ATOM_or: return old | b;
    case LW_ATOM_xor: return old ^ b;
    case LW_ATOM_exch: return b;
    case LW_ATOM_cas: return old == b ? c : old;
    case LW_ATOM_inc: return old >= b ? 0 : old + 1;
    case LW_ATOM_dec: return old == 0 || old > b ? b : old - 1;
    case LW_ATOM_add_f32: { /* global flushes subnormals, shared does not; NaN 0x7fffffff */
        uint32_t x = (uint32_t)old, y = (uint32_t)b;
        if (in_global && !(x & 0x7f800000)) x &= 0x80000000;
        if (in_global && !(y & 0x7f800000)) y &= 0x80000000;
        float fx, fy, sum;
        memcpy(&fx, &x, 4), memcpy(&fy, &y, 4);
        sum = (float)((double)fx + (double)fy); /* rounds as one addition of floats does: a double has room enough */
        memcpy(&x, &sum, 4);
        if (isnan(sum)) x = 0x7fffffff;
        if (in_global && !(x & 0x7f800000)) x &= 0x80000000;
        return x;
    }
    case LW_ATOM_add_f64: {
        /* NaNs as recorded on an H100: global: the operand's, else memory's, as they are; shared: memory's, else the
         * operand's, quiet. */
        const uint64_t quiet = 1ull << 51, first = in_global ? b : old, second = in_global ? old : b;
        double x, y;
        memcpy(&x, &first, 8), memcpy(&y, &second, 8);
        if (isnan(x) || isnan(y)) return (isnan(x) ? first : second) | (in_global ? 0 : quiet);
        x += y;
        memcpy(&old, &x, 8);
        return old;
    }
    }
    return 0;
}

/* A value that makes operations meet often. */
static uint64_t value_for(lw_atom_op kind, uint32_t bits) {
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (kind == LW_ATOM_add_f32) {
        static const uint32_t some[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                        0x00800000, 0x807fffff, 0x3f800000, 0x7f800000, 0xff800000,
                                        0x7fc00001, 0x7f7fffff, 0x33800000, 0x3f800001};
        return some[steps_below(LW_COUNT(some))];
    }
    if (kind == LW_ATOM_add_f64) {
        static const uint64_t some[] = {0,
                                        0x8000000000000000,
                                        1,
                                        0x800fffffffffffff,
                                        0x7ff0000000000000,
                                        0x7ff0000000000001,
                                        0x7ff8000000000002,
                                        0xfff0000000000003,
                                        0xfff8000000000004,
                                        0x7fefffffffffffff};
        if (steps_below(2)) return some[steps_below(LW_COUNT(some))]; /* no two infinities that would cancel */
        double x = (double)(int32_t)steps_random() / 1024;
        uint64_t value;
        memcpy(&value, &x, 8);
        return value;
    }
    switch (steps_below(4)) {
    case 0: return steps_below(4);
    case 1: return all - steps_below(3);
    case 2: return 1ull << (bits - 1);
    default: return steps_random() & all;
    }
}

static uint64_t get(const char *at, uint32_t bits) {
    uint64_t value = 0;
    memcpy(&value, at, bits / 8);
    return value;
}

static void try_one(steps_cta *s, lw_atom_op kind, uint32_t bits, lw_window window) {
    lw_gang *gang = s->cta.gangs;
    lw_op *op = &s->ops[1];
    uint32_t bytes = bits / 8;
    bool generic = steps_below(3) == 0, in_global = window == LW_WINDOW_global;
    lw_memory_form form = {.window = generic ? LW_WINDOW_generic : window,
                           .address = 2,
                           .size = bytes == 8   ? 3
                                   : bytes == 4 ? 2
                                                : 1,
                           .slot = bytes == 8   ? 3
                                   : bytes == 4 ? 2
                                                : 1};
    *op = (lw_op){.step = lw_step_atom,
                  .d = SLOT(D),
                  .a = SLOT(BASE),
                  .b = SLOT(B),
                  .e = kind == LW_ATOM_cas ? SLOT(C) : LW_NO_SLOT,
                  .c = lw_memory_pack(form),
                  .mode = kind};
    if (steps_below(4) == 0) op->d = LW_NO_SLOT;
    if (steps_below(4) == 0) op->d = SLOT(B);
    lw_mask mask = steps_mask(gang->exist);
    steps_set_mask(gang, mask);
    steps_fill_random(gang->regs, SLOT(COUNT));
    char *memory = in_global ? s->global[2] : s->shared;
    uint64_t model[64], b[128], c[128], want[128], places = steps_below(4) ? 1 + steps_below(20) : 1;
    uint64_t base = in_global ? STEPS_FIRST : generic ? LW_SHARED_WINDOW : 0;
    uint32_t at[128];
    for (uint32_t i = 0; i < places; i++) {
        model[i] = value_for(kind, bits);
        memcpy(memory + i * bytes, &model[i], bytes);
    }
    for (uint32_t i = 0; i < 128; i++) {
        at[i] = steps_below((uint32_t)places);
        b[i] = kind == LW_ATOM_cas && steps_below(2) ? model[at[i]] : value_for(kind, bits);
        c[i] = value_for(kind, bits);
        memcpy((char *)steps_slot(gang, B) + i * bytes, &b[i], bytes);
        memcpy((char *)steps_slot(gang, C) + i * bytes, &c[i], bytes);
        if (mask >> i & 1) ((uint64_t *)steps_slot(gang, BASE))[i] = base + at[i] * bytes;
    }
    const char *d = op->d == LW_NO_SLOT ? NULL : gang->regs + op->d;
    for (uint32_t i = 0; i < 128; i++) {
        want[i] = d ? get(d + i * bytes, bits) : 0;
        if (!(mask >> i & 1)) continue;
        want[i] = model[at[i]];
        model[at[i]] = reference(kind, model[at[i]], b[i], c[i], bits, in_global);
    }
    assert_ptr_equal(op->step(gang, op), op + 1);
    for (uint32_t i = 0; i < places; i++)
        if (get(memory + i * bytes, bits) != model[i])
            fail_msg("operation %d, %u bits: %llx, not %llx", kind, bits,
                     (unsigned long long)get(memory + i * bytes, bits), (unsigned long long)model[i]);
    for (uint32_t i = 0; d && i < 128; i++) assert_int_equal(get(d + i * bytes, bits), want[i]);
}

static void test_all_operations(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{128, 128}, {50, 64}, {32, 32}};
    for (uint32_t shape = 0; shape < LW_COUNT(shapes); shape++) {
        steps_cta *s = steps_new(shapes[shape][0], shapes[shape][1]);
        for (uint32_t round = 0; round < 200; round++)
            for (lw_atom_op kind = LW_ATOM_add; kind <= LW_ATOM_add_f64; kind++)
                for (uint32_t bits = 32; bits <= 64; bits += 32) {
                    if ((kind == LW_ATOM_add_f32 && bits == 64) || (kind == LW_ATOM_add_f64 && bits == 32)) continue;
                    try_one(s, kind, bits, round % 2 ? LW_WINDOW_global : LW_WINDOW_shared);
                }
        for (uint32_t round = 0; round < 200; round++)
            try_one(s, LW_ATOM_cas, 16, round % 2 ? LW_WINDOW_global : LW_WINDOW_shared);
        steps_free(s);
    }
}

/* ---- Two CTAs at one place ------------------------------------------------------------------------------------- */

enum { TURNS = 2000 };

static void *count_up(void *arg) {
    steps_cta *s = arg;
    lw_gang *gang = s->cta.gangs;
    for (uint32_t i = 0; i < TURNS; i++) {
        s->ops[1].step(gang, &s->ops[1]);
        s->ops[2].step(gang, &s->ops[2]);
    }
    return NULL;
}

static void test_two_threads(void **state) {
    (void)state;
    steps_cta *pair[2] = {steps_new(32, 32), steps_new(32, 32)};
    lw_memory_form form = {.window = LW_WINDOW_global, .size = 2, .slot = 2};
    for (uint32_t k = 0; k < 2; k++) {
        pair[k]->part.at[2].host = pair[0]->global[2]; /* both see the same memory */
        pair[k]->ops[1] = (lw_op){.step = lw_step_atom,
                                  .d = LW_NO_SLOT,
                                  .b = SLOT(B),
                                  .e = LW_NO_SLOT,
                                  .c = lw_memory_pack(form),
                                  .imm = STEPS_FIRST,
                                  .mode = LW_ATOM_add};
        pair[k]->ops[2] = pair[k]->ops[1];
        pair[k]->ops[2].mode = LW_ATOM_inc, pair[k]->ops[2].imm = STEPS_FIRST + 4, pair[k]->ops[2].b = SLOT(C);
        for (uint32_t i = 0; i < 32; i++) {
            ((uint32_t *)steps_slot(pair[k]->cta.gangs, B))[i] = i + 1;
            ((uint32_t *)steps_slot(pair[k]->cta.gangs, C))[i] = UINT32_MAX;
        }
    }
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, count_up, pair[1]), 0);
    count_up(pair[0]);
    pthread_join(other, NULL);
    assert_int_equal(get(pair[0]->global[2], 32), 2u * TURNS * (32 * 33 / 2));
    assert_int_equal(get(pair[0]->global[2] + 4, 32), 2 * TURNS * 32);
    steps_free(pair[0]);
    steps_free(pair[1]);
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

static void test_faults(void **state) {
    (void)state;
    static const struct {
        lw_window window;
        uint64_t good, bad;
        lw_trap_kind kind;
    } cases[] = {
        {LW_WINDOW_global, STEPS_FIRST, STEPS_FIRST + 2, LW_TRAP_misaligned},
        {LW_WINDOW_global, STEPS_FIRST, STEPS_FIRST + STEPS_GLOBAL, LW_TRAP_bounds},
        {LW_WINDOW_global, STEPS_SECOND, 0, LW_TRAP_bounds},
        {LW_WINDOW_shared, 0, STEPS_SHARED, LW_TRAP_bounds},
        {LW_WINDOW_shared, 0, 1, LW_TRAP_misaligned},
        {LW_WINDOW_generic, STEPS_FIRST, LW_SHARED_WINDOW + STEPS_SHARED, LW_TRAP_bounds},
        {LW_WINDOW_generic, LW_SHARED_WINDOW, LW_PARAM_WINDOW, LW_TRAP_read_only},
        {LW_WINDOW_generic, STEPS_LOW, 64, LW_TRAP_bounds},
        {LW_WINDOW_generic, STEPS_LOW, STEPS_CONSTANT + 8, LW_TRAP_read_only},
        {LW_WINDOW_global, STEPS_FIRST, STEPS_CONSTANT, LW_TRAP_read_only},
    };
    for (uint32_t i = 0; i < LW_COUNT(cases); i++) {
        steps_cta *s = steps_new(96, 96);
        lw_gang *gang = s->cta.gangs;
        lw_memory_form form = {.window = cases[i].window, .address = 2, .size = 2, .slot = 2};
        lw_op *op = &s->ops[1];
        *op = (lw_op){.step = lw_step_atom,
                      .d = SLOT(D),
                      .a = SLOT(BASE),
                      .b = SLOT(B),
                      .e = LW_NO_SLOT,
                      .c = lw_memory_pack(form)};
        for (uint32_t lane = 0; lane < 96; lane++)
            ((uint64_t *)steps_slot(gang, BASE))[lane] = lane < 70 ? cases[i].good : cases[i].bad;
        assert_null(op->step(gang, op));
        assert_int_equal(s->cta.trap.kind, cases[i].kind);
        assert_int_equal(s->cta.trap.thread[0], 70);
        assert_int_equal(s->cta.trap.address, cases[i].bad);
        assert_string_equal(s->cta.trap.access, "atomic");
        steps_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_operations), cmocka_unit_test(test_two_threads),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
