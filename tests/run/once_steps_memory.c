/* ld and st at every level against a model that moves bytes one lane, one element, one byte at a time. */
#include "steps.h"

enum { BASE = 16 /* the address register, where it is not one of the data; these are slots 0 to 7 */ };

typedef struct trial {
    steps_cta *s;
    lw_gang *gang;
    lw_op *op;
    lw_memory_form form;
    lw_mask mask;
    bool stores;
    uint32_t bytes;
    uint64_t address[LW_GANG_LANES]; /* what the operation will come to, frame base included */
} trial;

/* ---- The model ------------------------------------------------------------------------------------------ */

/* Where one byte is; NULL where nothing is. Written from program.h's map and run.h's layout alone. */
static uint8_t *place_of(const trial *t, uint32_t lane, uint64_t address) {
    steps_cta *s = t->s;
    lw_window window = t->form.window;
    if (window == LW_WINDOW_generic) {
        if (address >= LW_GLOBAL_BASE) window = LW_WINDOW_global;
        else if (address >= LW_SHARED_WINDOW && address < LW_LOCAL_WINDOW)
            window = LW_WINDOW_shared, address -= LW_SHARED_WINDOW;
        else if (address >= LW_LOCAL_WINDOW && address < LW_PARAM_WINDOW)
            window = LW_WINDOW_local, address -= LW_LOCAL_WINDOW;
        else if (address >= LW_PARAM_WINDOW && address < LW_CODE_WINDOW)
            window = LW_WINDOW_param, address -= LW_PARAM_WINDOW;
        else return NULL;
    }
    switch (window) {
    case LW_WINDOW_shared: return address < STEPS_SHARED ? (uint8_t *)s->shared + address : NULL;
    case LW_WINDOW_param: return address < STEPS_PARAMS ? (uint8_t *)s->params + address : NULL;
    case LW_WINDOW_local:
        return address < t->gang->frame->local_end ? (uint8_t *)lw_local_at(t->gang, lane, (uint32_t)address) : NULL;
    default:
        for (uint32_t i = 0; i < s->part.count; i++)
            if (window == LW_WINDOW_const && !s->part.at[i].constant) continue;
            else if (address >= s->part.at[i].base && address < s->part.at[i].base + STEPS_GLOBAL)
                return (uint8_t *)s->part.at[i].host + (address - s->part.at[i].base);
        return NULL;
    }
}

static uint32_t slot_bytes(const trial *t) { return 1u << t->form.slot; }
static uint32_t data_slot(const trial *t, uint32_t k) { return t->form.vector ? t->s->slots[k] : t->op->d; }

static void model_load(const trial *t, char *regs) {
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        if (!(t->mask >> lane & 1)) continue;
        for (uint32_t k = 0; k < 1u << t->form.vector; k++) {
            uint8_t value[8] = {0};
            uint32_t size = 1u << t->form.size;
            for (uint32_t i = 0; i < size; i++) value[i] = *place_of(t, lane, t->address[lane] + k * size + i);
            if (t->form.is_signed && value[size - 1] & 0x80) memset(value + size, 0xff, 8 - size);
            memcpy(regs + data_slot(t, k) + lane * slot_bytes(t), value, slot_bytes(t));
        }
    }
}

/* Lanes in order, so that the highest one wins. */
static void model_store(const trial *t) {
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        if (!(t->mask >> lane & 1)) continue;
        for (uint32_t k = 0; k < 1u << t->form.vector; k++)
            for (uint32_t i = 0; i < 1u << t->form.size; i++) {
                const char *value = t->gang->regs + data_slot(t, k) + lane * slot_bytes(t) + i;
                if (t->op->flags & LW_OP_IMM_B) value = (const char *)&t->s->constants[t->op->b] + i;
                *place_of(t, lane, t->address[lane] + (k << t->form.size) + i) = (uint8_t)*value;
            }
    }
}

/* ---- Random operations ------------------------------------------------------------------------------------ */

/* A stretch of addresses that is there: base and size. */
static uint64_t stretch(const trial *t, uint64_t *size) {
    lw_window window = t->form.window;
    uint64_t base = 0;
    if (window == LW_WINDOW_generic) {
        window = (lw_window)(LW_WINDOW_global + steps_below(t->form.is_const ? 4 : 3));
        base = window == LW_WINDOW_shared  ? LW_SHARED_WINDOW
               : window == LW_WINDOW_local ? LW_LOCAL_WINDOW
               : window == LW_WINDOW_param ? LW_PARAM_WINDOW
                                           : 0;
    }
    *size = window == LW_WINDOW_shared  ? STEPS_SHARED
            : window == LW_WINDOW_local ? t->gang->frame->local_end
            : window == LW_WINDOW_param ? STEPS_PARAMS
                                        : STEPS_GLOBAL;
    if (window == LW_WINDOW_const) return t->form.address == 2 ? STEPS_CONSTANT : STEPS_LOW_CONSTANT;
    if (window == LW_WINDOW_global) { /* loads may be from constants, too */
        const uint64_t bases[] = {STEPS_FIRST, STEPS_SECOND, STEPS_LOW, STEPS_CONSTANT};
        return t->form.address == 2 ? bases[steps_below(t->stores ? 3 : 4)] : STEPS_LOW;
    }
    return base;
}

/* Address of each lane, all of them good. */
static void choose_addresses(trial *t) {
    uint64_t size, base = stretch(t, &size), places = size / t->bytes;
    uint32_t first = lw_mask_first(t->mask), pattern = steps_below(10);
    uint64_t start = steps_below((uint32_t)places), stride = 1;
    if (pattern == 1) start = places > LW_GANG_LANES ? steps_below((uint32_t)(places - LW_GANG_LANES)) : 0;
    if (pattern == 2) stride = steps_below(5);
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        uint64_t at = start; /* 0: uniform */
        if (pattern == 1 || pattern == 2) at = (start + (lane - first) * stride) % places;
        if (pattern == 3) at = (start + LW_GANG_LANES - lane) % places;
        if (pattern == 4) at = steps_below((uint32_t)places);
        if (pattern == 5) at = lane % 3 % places;
        if (pattern == 6 && lane % 7 == 6) base = stretch(t, &size), places = size / t->bytes;
        if (pattern == 6 || pattern == 7) at = steps_below((uint32_t)places);
        if (pattern >= 8) { /* strips of neighbours, or at one address, and now and then a lane elsewhere */
            const uint32_t in_strip = (lane - first) % 16;
            if (in_strip == 0) start = places > 16 ? steps_below((uint32_t)places - 15) : 0;
            at = (start + (pattern == 8 ? in_strip : 0)) % places;
            if (steps_below(600) == 0) at = steps_below((uint32_t)places);
        }
        if (t->form.address == 0) at = start;
        if (lane && t->form.address == 0) t->address[lane] = t->address[0];
        else t->address[lane] = base + at * t->bytes;
    }
}

/* Registers and immediate that give those addresses. */
static void write_addresses(trial *t) {
    uint64_t frame = t->form.frame ? t->gang->frame->local_base : 0;
    t->op->imm = t->form.address == 0 ? t->address[0] - frame
                 : steps_below(2)     ? 0
                                      : (uint64_t)(int64_t)((int)steps_below(1000) - 500);
    uint32_t *r32 = (uint32_t *)(t->gang->regs + t->op->a);
    uint64_t *r64 = (uint64_t *)(t->gang->regs + t->op->a);
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        uint64_t value = t->address[lane] - frame - t->op->imm;
        if (!(t->mask >> lane & 1)) value = steps_random(); /* nobody may look at these */
        if (t->form.address == 1) r32[lane] = (uint32_t)value;
        if (t->form.address == 2) r64[lane] = value;
    }
}

static void choose_form(trial *t, bool store) {
    static const lw_window windows[] = {LW_WINDOW_generic, LW_WINDOW_global, LW_WINDOW_global, LW_WINDOW_shared,
                                        LW_WINDOW_local,   LW_WINDOW_const,  LW_WINDOW_param};
    lw_memory_form form = {0};
    form.window = windows[steps_below(store ? 5 : 7)];
    form.address = steps_below(5) ? 1 + steps_below(2) : 0;
    if (steps_below(2)) form.address = 2;
    form.frame = form.window == LW_WINDOW_local && steps_below(2);
    form.size = steps_below(4);
    form.slot = form.size == 0 ? 1 + steps_below(3) : form.size + steps_below(4 - form.size);
    form.vector = steps_below(2) ? 0 : steps_below(form.size == 3 ? 3 : 4);
    form.is_signed = !store && steps_below(2);
    form.is_volatile = steps_below(4) == 0;
    form.is_const = 0;
    t->form = form;
    t->bytes = 1u << (form.size + form.vector);
}

/* It is none of those whose address may be written to before the next one, or that never do. */
static bool can_leave_trail(const trial *t) {
    return t->form.address && !t->form.frame && !t->form.is_volatile && t->op->a == SLOT(BASE);
}

/* Makes it the next one on its trail, elsewhere by a constant, now and then for other lanes. False: there is none. */
static bool follow(trial *t) {
    if (!can_leave_trail(t)) return false;
    const uint64_t more = (uint64_t)((int64_t)t->bytes * ((int)steps_below(80) - 40));
    lw_mask mask = t->mask;
    if (steps_below(4) == 0) mask &= steps_mask(t->gang->exist);
    if (!mask) return false;
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) {
        const uint64_t address = t->address[lane] + more;
        if ((mask >> lane & 1) && (!place_of(t, lane, address) || !place_of(t, lane, address + t->bytes - 1)))
            return false;
    }
    for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) t->address[lane] += more;
    t->gang->mask = t->mask = mask;
    t->op->imm += more;
    if (t->op->mode < LW_TRAIL_follows_0) t->op->mode += LW_TRAILS;
    return true;
}

static void choose_operation(trial *t, lw_step *step, bool store) {
    choose_form(t, store);
    t->stores = store;
    /* The end of the stack is at any byte. A load's own frame may be anywhere below. */
    t->gang->frame->local_end = 256 + steps_below(STEPS_LOCAL - 256 + 1);
    *t->op = (lw_op){.step = step,
                     .d = SLOT(steps_below(8)),
                     .a = SLOT(steps_below(3) ? BASE : steps_below(8)),
                     .c = lw_memory_pack(t->form),
                     .e = steps_below(20)};
    for (uint32_t k = 0; k < 8; k++) t->s->slots[k] = SLOT((k + t->op->d / LW_SLOT_64) % 8);
    if (t->form.vector) t->op->d = 0;
    if (store && !t->form.vector && steps_below(4) == 0) {
        t->op->flags = LW_OP_IMM_B;
        t->op->b = steps_below(4);
        t->s->constants[t->op->b] = steps_random();
    }
    t->mask = steps_mask(t->gang->exist);
    steps_set_mask(t->gang, t->mask);
    lw_mask inside = t->mask & steps_mask(t->gang->exist);
    if (inside && steps_below(4) == 0)
        t->gang->mask = t->mask = inside; /* as a guard does, which leaves the counts alone */
    if (can_leave_trail(t)) t->op->mode = LW_TRAIL_leaves_0 + steps_below(LW_TRAILS);
    t->gang->frame->local_base = 16 * steps_below(8);
    choose_addresses(t);
    if (t->form.frame)
        for (uint32_t i = 0; i < LW_GANG_LANES; i++) /* what lies below the frame is out of reach here */
            if (t->address[i] < t->gang->frame->local_base)
                t->address[i] += 128; /* no further than 256, where the stack ends at the earliest */
    write_addresses(t);
}

static void fill_memory(steps_cta *s) {
    steps_fill_random(s->shared, sizeof s->shared);
    steps_fill_random(s->params, sizeof s->params);
    steps_fill_random(s->global, sizeof s->global);
    steps_fill_random(s->cta.gangs[0].local, STEPS_LOCAL * LW_GANG_LANES);
}

static const uint32_t shapes[][2] = {{128, 128}, {100, 128}, {32, 32}, {9, 32}, {96, 96}, {1, 32}};

static void try_load(trial *t, uint32_t threads, uint32_t round) {
    char *want = malloc(STEPS_SLOTS * LW_SLOT_64);
    steps_fill_random(t->gang->regs, t->op->a == SLOT(BASE) ? SLOT(8) : 0);
    memcpy(want, t->gang->regs, STEPS_SLOTS * LW_SLOT_64);
    model_load(t, want);
    assert_ptr_equal(t->op->step(t->gang, t->op), t->op + 1);
    /* Lanes that do not exist may hold anything. */
    for (uint32_t k = 0; k < 1u << t->form.vector; k++)
        for (uint32_t lane = threads; lane < LW_GANG_LANES; lane++)
            memcpy(want + data_slot(t, k) + lane * slot_bytes(t),
                   t->gang->regs + data_slot(t, k) + lane * slot_bytes(t), slot_bytes(t));
    if (memcmp(want, t->gang->regs, SLOT(8)))
        fail_msg("round %u: window %d address %d size %d vector %d slot %d trail %d", round, t->form.window,
                 t->form.address, t->form.size, t->form.vector, t->form.slot, t->op->mode);
    free(want);
}

static void run_loads(lw_step *step, uint32_t threads, uint32_t lanes) {
    trial t = {.s = steps_new(threads, lanes)};
    uint32_t followed = 0;
    t.gang = t.s->cta.gangs;
    t.op = &t.s->ops[1];
    fill_memory(t.s);
    for (uint32_t round = 0; round < 4000; round++) {
        steps_fill_random(t.gang->regs, SLOT(8));
        choose_operation(&t, step, false);
        try_load(&t, threads, round);
        for (uint32_t k = steps_below(4); k > 0 && follow(&t); k--, followed++) try_load(&t, threads, round);
    }
    assert_true(followed > 1000);
    steps_free(t.s);
}

typedef struct image {
    char shared[STEPS_SHARED], global[STEPS_RANGES][STEPS_GLOBAL], local[STEPS_LOCAL * LW_GANG_LANES];
} image;

static void copy_memory(const steps_cta *s, image *to) {
    memcpy(to->shared, s->shared, sizeof to->shared);
    memcpy(to->global, s->global, sizeof to->global);
    memcpy(to->local, s->cta.gangs[0].local, sizeof to->local);
}
static void put_memory(steps_cta *s, const image *from) {
    memcpy(s->shared, from->shared, sizeof from->shared);
    memcpy(s->global, from->global, sizeof from->global);
    memcpy(s->cta.gangs[0].local, from->local, sizeof from->local);
}

static void try_store(trial *t, uint32_t round) {
    image *before = malloc(sizeof *before), *want = malloc(sizeof *want), *got = malloc(sizeof *got);
    copy_memory(t->s, before);
    model_store(t);
    copy_memory(t->s, want);
    put_memory(t->s, before);
    assert_ptr_equal(t->op->step(t->gang, t->op), t->op + 1);
    copy_memory(t->s, got);
    if (memcmp(want, got, sizeof *want))
        fail_msg("round %u: window %d address %d size %d vector %d slot %d trail %d", round, t->form.window,
                 t->form.address, t->form.size, t->form.vector, t->form.slot, t->op->mode);
    free(before), free(want), free(got);
}

static void run_stores(lw_step *step, uint32_t threads, uint32_t lanes) {
    trial t = {.s = steps_new(threads, lanes)};
    uint32_t followed = 0;
    t.gang = t.s->cta.gangs;
    t.op = &t.s->ops[1];
    fill_memory(t.s);
    for (uint32_t round = 0; round < 1500; round++) {
        steps_fill_random(t.gang->regs, SLOT(8));
        choose_operation(&t, step, true);
        try_store(&t, round);
        for (uint32_t k = steps_below(3); k > 0 && follow(&t); k--, followed++) try_store(&t, round);
    }
    assert_true(followed > 200);
    steps_free(t.s);
}

static void test_loads(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t i = 0; i < LW_COUNT(shapes); i++) run_loads(levels[l].ld, shapes[i][0], shapes[i][1]);
}

static void test_stores(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t i = 0; i < LW_COUNT(shapes); i++) run_stores(levels[l].st, shapes[i][0], shapes[i][1]);
}

/* ---- Faults ------------------------------------------------------------------------------------------------ */

/* Runs the trial, in which `lane` is the first at fault. */
static void expect_trap(trial *t, lw_trap_kind kind, uint32_t lane, const char *access) {
    memset(&t->s->cta.trap, 0, sizeof t->s->cta.trap);
    t->gang->state = LW_GANG_ready;
    assert_null(t->op->step(t->gang, t->op));
    const lw_trap_record *trap = &t->s->cta.trap;
    assert_int_equal(trap->kind, kind);
    assert_int_equal(trap->lane, lane % 32);
    assert_int_equal(trap->thread[0], lane);
    assert_int_equal(trap->address, t->address[lane]);
    assert_int_equal(trap->size, t->bytes);
    assert_string_equal(trap->access, access);
    assert_int_equal(t->gang->state, LW_GANG_trapped);
}

/* Addresses just outside of what is there. */
static uint64_t bad_address(const trial *t) {
    switch (t->form.window) {
    case LW_WINDOW_shared: return steps_below(2) ? STEPS_SHARED : UINT32_MAX + 1ull - t->bytes;
    case LW_WINDOW_local: /* the first that does not fit, or one far away */
        return steps_below(2) ? (t->gang->frame->local_end / t->bytes) * t->bytes
                              : STEPS_LOCAL + 16 * t->gang->frame->local_base;
    case LW_WINDOW_const:
        return t->form.address == 2 ? STEPS_FIRST + 64 : STEPS_LOW + 64; /* global memory is no constant */
    case LW_WINDOW_param: return STEPS_PARAMS;
    case LW_WINDOW_generic:
        switch (steps_below(6)) {
        case 0: return 0;
        case 1: return LW_SHARED_WINDOW + STEPS_SHARED;
        case 2: return LW_LOCAL_WINDOW + (t->gang->frame->local_end / t->bytes) * t->bytes;
        case 3: return LW_PARAM_WINDOW + STEPS_PARAMS;
        case 4: return LW_CODE_WINDOW;
        default: return LW_GLOBAL_BASE;
        }
    default: return steps_below(2) ? STEPS_LOW + STEPS_GLOBAL : STEPS_LOW - t->bytes;
    }
}

static void run_faults(lw_step *step, bool store, uint32_t threads, uint32_t lanes) {
    trial t = {.s = steps_new(threads, lanes)};
    t.gang = t.s->cta.gangs;
    t.op = &t.s->ops[1];
    for (uint32_t round = 0; round < 1500; round++) {
        choose_operation(&t, step, store);
        uint32_t lane = 0;
        do lane = steps_below(threads);
        while (!(t.mask >> lane & 1));
        if (t.form.address == 0) lane = lw_mask_first(t.mask);
        bool misaligned = t.bytes > 1 && steps_below(2);
        uint64_t bad = misaligned ? t.address[lane] + 1 + steps_below(t.bytes - 1) : bad_address(&t);
        t.address[lane] = bad;
        if (t.form.address == 0) t.address[0] = bad;
        for (uint32_t i = lane + 1; i < LW_GANG_LANES; i++)
            if (steps_below(2)) t.address[i] = bad; /* later ones do not matter */
        write_addresses(&t);
        expect_trap(&t, misaligned ? LW_TRAP_misaligned : LW_TRAP_bounds, lane, store ? "store" : "load");
    }
    steps_free(t.s);
}

static void test_faults(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t i = 0; i < LW_COUNT(shapes); i++) {
            run_faults(levels[l].ld, false, shapes[i][0], shapes[i][1]);
            run_faults(levels[l].st, true, shapes[i][0], shapes[i][1]);
        }
}

/* A run of neighbours whose last lane is past the end of its allocation, and one whose first lane is before it. */
static void test_edges(void **state) {
    (void)state;
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t size = 0; size < 4; size++) {
            trial t = {.s = steps_new(128, 128), .bytes = 1u << size};
            t.gang = t.s->cta.gangs;
            t.op = &t.s->ops[1];
            t.mask = t.gang->exist;
            t.form = (lw_memory_form){.window = LW_WINDOW_global, .address = 2, .size = size, .slot = size ? size : 1};
            *t.op = (lw_op){.step = levels[l].ld, .d = SLOT(0), .a = SLOT(BASE), .c = lw_memory_pack(t.form)};
            for (int past = -1; past <= 1; past++) {
                for (uint32_t i = 0; i < 128; i++)
                    t.address[i] = past < 0
                                       ? STEPS_FIRST + (uint64_t)t.bytes * i - t.bytes
                                       : STEPS_FIRST + STEPS_GLOBAL - (uint64_t)t.bytes * (128 - i - (uint32_t)past);
                write_addresses(&t);
                if (past) expect_trap(&t, LW_TRAP_bounds, past < 0 ? 0 : 127, "load");
                else assert_ptr_equal(t.op->step(t.gang, t.op), t.op + 1);
            }
            steps_free(t.s);
        }
}

/* Parameters and constants are not for writing, by whatever name. */
static void test_read_only(void **state) {
    (void)state;
    static const struct {
        lw_memory_form form;
        uint64_t address;
    } cases[] = {
        {{.window = LW_WINDOW_param}, 8},
        {{.window = LW_WINDOW_const}, STEPS_CONSTANT},
        {{.window = LW_WINDOW_global}, STEPS_CONSTANT},
        {{.window = LW_WINDOW_generic}, STEPS_CONSTANT + STEPS_GLOBAL - 4},
        {{.window = LW_WINDOW_global, .is_const = 1}, STEPS_FIRST},
        {{.window = LW_WINDOW_generic}, LW_PARAM_WINDOW + 8},
    };
    const steps_level *levels;
    uint32_t count = steps_levels(&levels);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t i = 0; i < LW_COUNT(cases); i++)
            for (uint32_t address = 0; address < 3; address += 2) {
                trial t = {.s = steps_new(64, 64), .bytes = 4};
                t.gang = t.s->cta.gangs;
                t.op = &t.s->ops[1];
                t.mask = t.gang->exist;
                t.form = cases[i].form;
                t.form.address = address, t.form.size = 2, t.form.slot = 2;
                for (uint32_t k = 0; k < LW_GANG_LANES; k++) t.address[k] = cases[i].address;
                *t.op = (lw_op){.step = levels[l].st, .d = SLOT(0), .a = SLOT(BASE), .c = lw_memory_pack(t.form)};
                write_addresses(&t);
                expect_trap(&t, LW_TRAP_read_only, 0, "store");
                steps_free(t.s);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loads), cmocka_unit_test(test_stores),
                                       cmocka_unit_test(test_faults), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_read_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
