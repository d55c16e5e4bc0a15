/* atom and red: every operation lane by lane in lane order, under masks, in every window; two threads at one counter;
 * faults. */
#include "steps.h"

#include "run/interp/wide.h"

#include <math.h>
#include <pthread.h>

enum { D, B, C, BASE, COUNT };

/* ---- Halves, in doubles ---------------------------------------------------------------------------------------- */

typedef struct half_kind {
    int mantissa, least; /* bits behind the point, and the exponent of the least normal number */
} half_kind;
static const half_kind half_kinds[2] = {{10, -14}, {7, -126}}; /* f16, bf16 */

static double half_value(const half_kind *kind, uint32_t h) {
    const int exponent = (int)((h & 0x7fff) >> kind->mantissa), special = (0x7fff >> kind->mantissa);
    const double fraction = (double)(h & ((1u << kind->mantissa) - 1)), sign = h & 0x8000 ? -1 : 1;
    if (exponent == special) return fraction > 0 ? NAN : sign * INFINITY;
    const double whole = exponent ? fraction + (double)(1u << kind->mantissa) : fraction;
    return sign * ldexp(whole, (exponent ? exponent - 1 : 0) + kind->least - kind->mantissa);
}

/* To nearest, halves to even, as rint does it: of a sum of two halves that a double cannot hold the smaller one is far
 * below the last place. */
static uint32_t half_of(const half_kind *kind, double x) {
    const uint32_t sign = signbit(x) ? 0x8000 : 0, infinity = 0x7fffu >> kind->mantissa << kind->mantissa;
    if (isnan(x)) return 0x7fff;
    if (isinf(x)) return sign | infinity;
    if (x == 0) return sign;
    int exponent = ilogb(x) > kind->least ? ilogb(x) : kind->least;
    const double places = rint(ldexp(fabs(x), kind->mantissa - exponent));
    const uint32_t bits = (uint32_t)(exponent - kind->least) * (1u << kind->mantissa) + (uint32_t)places;
    return sign | (bits < infinity ? bits : infinity);
}

/* One NaN gives the other operand, and -0 is below 0. */
static uint32_t half_extreme(const half_kind *kind, uint32_t a, uint32_t b, bool larger) {
    const double x = half_value(kind, a), y = half_value(kind, b);
    if (isnan(x)) return isnan(y) ? 0x7fff : b;
    if (isnan(y)) return a;
    const bool a_below = x < y || (x == y && a & 0x8000);
    return a_below == larger ? b : a;
}

static uint64_t of_halves(lw_atom_op op, bool is_brain, uint64_t old, uint64_t b, uint32_t bits) {
    const half_kind *kind = &half_kinds[is_brain];
    uint64_t result = 0;
    for (uint32_t at = 0; at < bits; at += 16) {
        const uint32_t x = (uint32_t)(old >> at) & 0xffff, y = (uint32_t)(b >> at) & 0xffff;
        const uint32_t one = op == LW_ATOM_add_half ? half_of(kind, half_value(kind, x) + half_value(kind, y))
                                                    : half_extreme(kind, x, y, op == LW_ATOM_max_half);
        result |= (uint64_t)one << at;
    }
    return result;
}

/* NaNs as recorded on an H100: global: the operand's, else memory's, as they are; shared: memory's, else the
 * operand's, quiet. */
static uint64_t sum_64(uint64_t old, uint64_t b, bool in_global) {
    const uint64_t quiet = 1ull << 51, first = in_global ? b : old, second = in_global ? old : b;
    double x, y;
    memcpy(&x, &first, 8), memcpy(&y, &second, 8);
    if (isnan(x) || isnan(y)) return (isnan(x) ? first : second) | (in_global ? 0 : quiet);
    x += y;
    memcpy(&old, &x, 8);
    return old;
}

/* The manual's table of operations (section 9.7.13.5) on numbers wide enough for all of them. */
static uint64_t reference(lw_atom_op kind, uint64_t old, uint64_t b, uint64_t c, uint32_t bits, bool in_global,
                          bool is_brain) {
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
    case LW_ATOM_add_half:
    case LW_ATOM_min_half:
    case LW_ATOM_max_half: return of_halves(kind, is_brain, old, b, bits);
    case LW_ATOM_add_float: { /* global flushes subnormals, shared does not; NaN 0x7fffffff */
        if (bits == 64) return sum_64(old, b, in_global);
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
    }
    return 0;
}

/* A value that makes operations meet often. */
static uint64_t value_for(lw_atom_op kind, uint32_t bits) {
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (kind == LW_ATOM_add_float && bits == 32) {
        static const uint32_t some[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                        0x00800000, 0x807fffff, 0x3f800000, 0x7f800000, 0xff800000,
                                        0x7fc00001, 0x7f7fffff, 0x33800000, 0x3f800001};
        return some[steps_below(LW_COUNT(some))];
    }
    if (kind == LW_ATOM_add_float) {
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
    if (kind >= LW_ATOM_add_half && steps_below(2)) { /* zeros, subnormals, ones, largest, infinities, NaNs */
        static const uint16_t some[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0x3f80, 0x3f81, 0x7bff,
                                        0x7c00, 0xfc00, 0x7c01, 0x7f7f, 0x7f80, 0xff80, 0x7f81, 0xffff, 0x0080, 0x007f};
        return (some[steps_below(LW_COUNT(some))] | (uint64_t)some[steps_below(LW_COUNT(some))] << 16) & all;
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

/* Where the lanes of one try go: places of an element each, all in one memory or every other one in global memory. */
typedef struct places {
    lw_window window;     /* shared or global, for those of even number … */
    bool mixed;           /* … or for all */
    bool generic, narrow; /* addresses: of the generic window, in registers of 32 bits */
    uint32_t count, bytes;
} places;

static places choose_places(lw_window window, uint32_t bytes) {
    const bool generic = steps_below(3) == 0;
    return (places){.window = window,
                    .generic = generic,
                    .mixed = generic && steps_below(3) == 0,
                    .narrow = steps_below(2),
                    .count = steps_below(4) ? 1 + steps_below(20) : 1,
                    .bytes = bytes};
}

static bool in_global(const places *p, uint32_t i) { return p->window == LW_WINDOW_global || (p->mixed && i % 2); }

static char *place_memory(steps_cta *s, const places *p, uint32_t i) {
    return (in_global(p, i) ? s->global[p->narrow ? 0 : 2] : s->shared) + i * p->bytes;
}

static uint64_t place_address(const places *p, uint32_t i) {
    const uint64_t base = in_global(p, i) ? (p->narrow ? STEPS_LOW : STEPS_FIRST) : p->generic ? LW_SHARED_WINDOW : 0;
    return base + i * p->bytes;
}

/* Which place each lane goes to: any, or in runs of neighbours. */
static void choose_lanes(const places *p, uint32_t at[128]) {
    const uint32_t run = steps_below(2) ? 1 : 1 + steps_below(40);
    for (uint32_t i = 0; i < 128; i++) at[i] = i % run ? at[i - 1] : steps_below(p->count);
}

static void put_operation(steps_cta *s, const places *p, lw_atom_op kind, bool is_brain) {
    const uint32_t size = p->bytes == 8 ? 3 : p->bytes == 4 ? 2 : 1;
    const bool by_register = p->count > 1 || steps_below(2);
    const lw_memory_form form = {.window = p->generic ? LW_WINDOW_generic : p->window,
                                 .address = by_register ? (p->narrow ? 1 : 2) : 0,
                                 .size = size,
                                 .slot = size,
                                 .is_brain = is_brain};
    const uint32_t results[] = {SLOT(D), SLOT(D), SLOT(B), SLOT(BASE), LW_NO_SLOT, LW_NO_SLOT};
    s->ops[1] = (lw_op){.step = lw_step_atom,
                        .d = results[steps_below(LW_COUNT(results))],
                        .a = by_register ? SLOT(BASE) : LW_NO_SLOT,
                        .b = SLOT(B),
                        .e = kind == LW_ATOM_cas ? SLOT(C) : LW_NO_SLOT,
                        .c = lw_memory_pack(form),
                        .imm = by_register ? (uint64_t)steps_below(3) * 24 - 24 : place_address(p, 0),
                        .mode = kind};
}

static void put_address(steps_cta *s, const places *p, uint32_t lane, uint64_t address) {
    void *slot = steps_slot(s->cta.gangs, BASE);
    if (p->narrow) ((uint32_t *)slot)[lane] = (uint32_t)(address - s->ops[1].imm);
    else ((uint64_t *)slot)[lane] = address - s->ops[1].imm;
}

static void try_one(steps_cta *s, lw_atom_op kind, uint32_t bits, lw_window window) {
    lw_gang *gang = s->cta.gangs;
    lw_op *op = &s->ops[1];
    const uint32_t bytes = bits / 8;
    const bool is_brain = steps_below(2);
    const places p = choose_places(window, bytes);
    put_operation(s, &p, kind, is_brain);
    lw_mask mask = steps_mask(gang->exist);
    steps_set_mask(gang, mask);
    steps_fill_random(gang->regs, SLOT(COUNT));
    uint64_t model[64], b[128], c[128], want[128];
    uint32_t at[128];
    for (uint32_t i = 0; i < p.count; i++) {
        model[i] = value_for(kind, bits);
        memcpy(place_memory(s, &p, i), &model[i], bytes);
    }
    choose_lanes(&p, at);
    for (uint32_t i = 0; i < 128; i++) {
        b[i] = kind == LW_ATOM_cas && steps_below(2) ? model[at[i]] : value_for(kind, bits);
        c[i] = value_for(kind, bits);
        memcpy((char *)steps_slot(gang, B) + i * bytes, &b[i], bytes);
        memcpy((char *)steps_slot(gang, C) + i * bytes, &c[i], bytes);
        if (mask >> i & 1) put_address(s, &p, i, place_address(&p, at[i]));
    }
    const char *d = op->d == LW_NO_SLOT ? NULL : gang->regs + op->d;
    for (uint32_t i = 0; i < 128; i++) {
        want[i] = d ? get(d + i * bytes, bits) : 0;
        if (!(mask >> i & 1)) continue;
        want[i] = model[at[i]];
        model[at[i]] = reference(kind, model[at[i]], b[i], c[i], bits, in_global(&p, at[i]), is_brain);
    }
    assert_ptr_equal(op->step(gang, op), op + 1);
    for (uint32_t i = 0; i < p.count; i++)
        if (get(place_memory(s, &p, i), bits) != model[i])
            fail_msg("operation %d, %u bits: %llx, not %llx", kind, bits,
                     (unsigned long long)get(place_memory(s, &p, i), bits), (unsigned long long)model[i]);
    for (uint32_t i = 0; d && i < 128; i++) assert_int_equal(get(d + i * bytes, bits), want[i]);
}

static bool exists(lw_atom_op kind, uint32_t bits) {
    if (kind >= LW_ATOM_add_half) return bits < 64;
    return bits > 16 || kind == LW_ATOM_cas;
}

static void test_all_operations(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{128, 128}, {50, 64}, {32, 32}};
    for (uint32_t shape = 0; shape < LW_COUNT(shapes); shape++) {
        steps_cta *s = steps_new(shapes[shape][0], shapes[shape][1]);
        for (uint32_t round = 0; round < 200; round++)
            for (lw_atom_op kind = LW_ATOM_add; kind <= LW_ATOM_max_half; kind++)
                for (uint32_t bits = 16; bits <= 64; bits *= 2) {
                    if (!exists(kind, bits)) continue;
                    try_one(s, kind, bits, round % 2 ? LW_WINDOW_global : LW_WINDOW_shared);
                }
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

/* ---- 16 bytes --------------------------------------------------------------------------------------------------- */

enum { OLD_LOW, OLD_HIGH, B_LOW, B_HIGH, NEW_LOW, NEW_HIGH, WIDE_BASE };

static void wide_op(steps_cta *s, lw_op *op, lw_atom_op kind, lw_window window) {
    lw_memory_form form = {.window = window, .address = 2, .size = 3, .vector = 1, .slot = 3, .is_wide = 1};
    for (uint32_t k = 0; k < 6; k++) s->slots[k] = SLOT(k);
    *op = (lw_op){.step = lw_step_atom_wide,
                  .code = LW_OP_atom_wide,
                  .a = SLOT(WIDE_BASE),
                  .c = lw_memory_pack(form),
                  .mode = kind};
}

static lw_wide wide_in(const steps_cta *s, uint32_t low, uint32_t lane) {
    return ((uint64_t *)steps_slot(s->cta.gangs, low))[lane] |
           (lw_wide)((uint64_t *)steps_slot(s->cta.gangs, low + 1))[lane] << 64;
}

static void test_wide(void **state) {
    (void)state;
    steps_cta *s = steps_new(96, 96);
    lw_gang *gang = s->cta.gangs;
    for (uint32_t round = 0; round < 400; round++) {
        const bool is_cas = round % 2, in_global = round / 2 % 2;
        lw_op *op = &s->ops[1];
        wide_op(s, op, is_cas ? LW_ATOM_cas : LW_ATOM_exch, in_global ? LW_WINDOW_global : LW_WINDOW_shared);
        steps_set_mask(gang, steps_mask(gang->exist));
        char *memory = in_global ? s->global[2] : s->shared;
        lw_wide model[8], want[128];
        uint32_t at[128];
        for (uint32_t i = 0; i < 8; i++) model[i] = steps_below(3) | (lw_wide)steps_below(3) << 64;
        memcpy(memory, model, sizeof model);
        for (uint32_t i = 0; i < 128; i++) {
            at[i] = steps_below(8);
            for (uint32_t k = 0; k < 6; k++) ((uint64_t *)steps_slot(gang, k))[i] = steps_below(3);
            ((uint64_t *)steps_slot(gang, WIDE_BASE))[i] = (in_global ? STEPS_FIRST : 0) + 16 * at[i];
            want[i] = wide_in(s, OLD_LOW, i);
            if (!(gang->mask >> i & 1)) continue;
            want[i] = model[at[i]];
            if (!is_cas) model[at[i]] = wide_in(s, B_LOW, i);
            else if (model[at[i]] == wide_in(s, B_LOW, i)) model[at[i]] = wide_in(s, NEW_LOW, i);
        }
        assert_ptr_equal(op->step(gang, op), op + 1);
        assert_memory_equal(memory, model, sizeof model);
        for (uint32_t i = 0; i < 128; i++) assert_true(wide_in(s, OLD_LOW, i) == want[i]);
    }
    steps_free(s);
}

/* Each thread puts values with equal halves to one place; nobody ever sees unequal ones, and no exchanged value is
 * lost: each is seen once, by whoever took its place, or is there in the end. */
typedef struct wide_run {
    steps_cta *s;
    const steps_level *level;
    uint64_t given, taken; /* sums */
    bool torn;
} wide_run;

static void *exchange_wide(void *argument) {
    wide_run *run = argument;
    lw_gang *gang = run->s->cta.gangs;
    lw_op *op = &run->s->ops[1], *ld = &run->s->ops[2];
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < 32; i++) {
            const uint64_t value = 1 + turn * 32 + i;
            ((uint64_t *)steps_slot(gang, B_LOW))[i] = ((uint64_t *)steps_slot(gang, B_HIGH))[i] = value;
            run->given += value;
        }
        op->step(gang, op);
        for (uint32_t i = 0; i < 32; i++) {
            const lw_wide old = wide_in(run->s, OLD_LOW, i);
            run->torn |= (uint64_t)old != (uint64_t)(old >> 64);
            run->taken += (uint64_t)old;
        }
        run->level->ld(gang, ld);
        for (uint32_t i = 0; i < 32; i++) {
            const lw_wide seen = wide_in(run->s, OLD_LOW, i);
            run->torn |= (uint64_t)seen != (uint64_t)(seen >> 64);
        }
    }
    return NULL;
}

static void test_wide_threads(void **state) {
    (void)state;
    const steps_level *levels;
    const uint32_t count = steps_levels(&levels);
    for (uint32_t at = 0; at < count; at++) {
        wide_run runs[2] = {{.s = steps_new(32, 32), .level = &levels[at]},
                            {.s = steps_new(32, 32), .level = &levels[at]}};
        for (uint32_t k = 0; k < 2; k++) {
            steps_cta *s = runs[k].s;
            s->part.at[2].host = runs[0].s->global[2];
            wide_op(s, &s->ops[1], LW_ATOM_exch, LW_WINDOW_global);
            s->ops[2] = s->ops[1];
            lw_memory_form form = lw_memory_unpack(s->ops[2].c);
            form.is_volatile = 1;
            s->ops[2].c = lw_memory_pack(form);
            for (uint32_t i = 0; i < 32; i++) ((uint64_t *)steps_slot(s->cta.gangs, WIDE_BASE))[i] = STEPS_FIRST;
        }
        pthread_t other;
        assert_int_equal(pthread_create(&other, NULL, exchange_wide, &runs[1]), 0);
        exchange_wide(&runs[0]);
        pthread_join(other, NULL);
        const uint64_t left = get(runs[0].s->global[2], 64);
        assert_false(runs[0].torn || runs[1].torn);
        assert_true(runs[0].given + runs[1].given == runs[0].taken + runs[1].taken + left);
        steps_free(runs[0].s);
        steps_free(runs[1].s);
    }
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

/* Lane 70 and those behind it go wrong; nobody has done anything then. */
static void try_fault(lw_window window, uint64_t good, uint64_t bad, lw_trap_kind kind) {
    static char before[STEPS_RANGES][STEPS_GLOBAL], shared[STEPS_SHARED];
    steps_cta *s = steps_new(96, 96);
    lw_gang *gang = s->cta.gangs;
    const lw_memory_form form = {.window = window, .address = 2, .size = 2, .slot = 2};
    lw_op *op = &s->ops[1];
    *op = (lw_op){
        .step = lw_step_atom, .d = SLOT(D), .a = SLOT(BASE), .b = SLOT(B), .e = LW_NO_SLOT, .c = lw_memory_pack(form)};
    steps_fill_random(steps_slot(gang, B), LW_SLOT_64);
    steps_fill_random(s->global, sizeof s->global);
    memcpy(before, s->global, sizeof before);
    memcpy(shared, s->shared, sizeof shared);
    for (uint32_t lane = 0; lane < 96; lane++) ((uint64_t *)steps_slot(gang, BASE))[lane] = lane < 70 ? good : bad;
    steps_set_mask(gang, steps_mask(gang->exist) | LW_MASK_BIT(70));
    assert_null(op->step(gang, op));
    assert_int_equal(s->cta.trap.kind, kind);
    assert_int_equal(s->cta.trap.thread[0], 70);
    assert_int_equal(s->cta.trap.address, bad);
    assert_string_equal(s->cta.trap.access, "atomic");
    assert_memory_equal(s->global, before, sizeof before);
    assert_memory_equal(s->shared, shared, sizeof shared);
    steps_free(s);
}

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
        /* Around the ends of what the first lane is in. */
        {LW_WINDOW_global, STEPS_FIRST + STEPS_GLOBAL - 4, STEPS_FIRST + STEPS_GLOBAL + 4, LW_TRAP_bounds},
        {LW_WINDOW_global, STEPS_FIRST, STEPS_FIRST - 4, LW_TRAP_bounds},
        {LW_WINDOW_global, STEPS_FIRST, STEPS_FIRST | 1ull << 63, LW_TRAP_bounds},
        {LW_WINDOW_global, STEPS_FIRST, STEPS_FIRST - (1ull << 63), LW_TRAP_bounds},
        {LW_WINDOW_shared, STEPS_SHARED - 4, UINT64_MAX - 3, LW_TRAP_bounds},
        {LW_WINDOW_shared, STEPS_SHARED - 4, 1ull << 63, LW_TRAP_bounds},
        {LW_WINDOW_generic, LW_SHARED_WINDOW, LW_SHARED_WINDOW - 4, LW_TRAP_bounds},
    };
    for (uint32_t i = 0; i < 4 * LW_COUNT(cases); i++)
        try_fault(cases[i / 4].window, cases[i / 4].good, cases[i / 4].bad, cases[i / 4].kind);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_operations), cmocka_unit_test(test_two_threads),
                                       cmocka_unit_test(test_wide), cmocka_unit_test(test_wide_threads),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
