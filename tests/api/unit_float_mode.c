/* The floating-point environment of the calling thread, and of the thread that made the context, changes no result; no
 * call changes it, or its flags; a callback runs in it. The second witness of the values is IEEE 754: some of them are
 * given here as bits. */
#include "../host_modes.h"
#include "api.h"

#include <locale.h>

/* Literals and initial values to be rounded, constants to be folded, and lanes that compute: subnormals, inexact,
 * overflowing, invalid, by 0. */
static const char text[] = HEAD
    ".global .f32 single[4] = {0.1, 1e-40, 0.3, 16777217.0};\n.global .f64 whole[4] = {0.1, 0d000012688b70e62b, "
    "123456789.123456789, 1e23};\n"
    ".visible .entry k(.param .u64 out)\n{\n .reg .u32 %i, %n, %w; .reg .u64 %p, %o; .reg .f32 %a, %b, %c, %r; .reg "
    ".f64 %x, %y, %z;\n"
    " .reg .pred %q; .reg .b16 %h;\n"
    " ld.param.u64 %p, [out]; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %w, %tid.x; mad.lo.u32 %i, %i, %n, "
    "%w;\n"
    " mul.wide.u32 %o, %i, 128; add.u64 %p, %p, %o;\n"
    " mov.f32 %a, 1e-30; mov.f32 %b, 1e-15; mul.rn.f32 %r, %a, %b; st.global.f32 [%p], %r;\n" /* folded: the least
                                                                                                 subnormal */
    " mov.f64 %x, 0.1; st.global.f64 [%p+8], %x;\n"
    " cvt.rn.f32.u32 %c, %i; add.rn.f32 %c, %c, 1.0; mul.rn.f32 %r, %c, 1e-41; st.global.f32 [%p+4], %r;\n"
    " div.rn.f32 %r, %c, 3.0; st.global.f32 [%p+16], %r; sqrt.rn.f32 %r, %c; st.global.f32 [%p+20], %r;\n"
    " fma.rn.f32 %r, %c, 0.1, 0.7; st.global.f32 [%p+24], %r; sub.rn.f32 %a, 0.0, %c; sqrt.rn.f32 %r, %a; "
    "st.global.f32 [%p+28], %r;\n"
    " sub.rn.f32 %a, %c, %c; div.rn.f32 %r, %a, %a; st.global.f32 [%p+32], %r; div.rn.f32 %r, %c, %a; st.global.f32 "
    "[%p+36], %r;\n"
    " mul.rn.f32 %r, %c, 3e38; mul.rn.f32 %r, %r, 2.0; st.global.f32 [%p+40], %r; cvt.rni.s32.f32 %w, %r; "
    "st.global.u32 [%p+44], %w;\n"
    " cvt.f64.f32 %x, %c; mul.rn.f64 %y, %x, 0d000012688b70e62b; st.global.f64 [%p+48], %y; div.rn.f64 %y, %x, 3.0; "
    "st.global.f64 [%p+56], %y;\n"
    " sqrt.rn.f64 %y, %x; st.global.f64 [%p+64], %y; fma.rn.f64 %y, %y, 0.1, 0.7; st.global.f64 [%p+72], %y;\n"
    " cvt.rn.f32.f64 %r, %y; st.global.f32 [%p+80], %r; ld.global.f32 %r, [single+4]; add.rn.f32 %r, %r, %r; "
    "st.global.f32 [%p+84], %r;\n"
    " cvt.rn.f16.f32 %h, %c; st.global.b16 [%p+88], %h; setp.gt.f32 %q, %r, 0.0; selp.u32 %w, 1, 2, %q; st.global.u32 "
    "[%p+92], %w;\n"
    " atom.global.add.f32 %r, [%p+96], 1e-40; atom.global.add.f32 %r, [%p+96], 0.1; min.f32 %r, %r, %c; st.global.f32 "
    "[%p+100], %r;\n"
    " add.rp.f32 %r, %c, 1e-41; st.global.f32 [%p+104], %r; fma.rm.f32 %r, %c, 0.1, 0.7; st.global.f32 [%p+108], %r;\n"
    " div.rz.f32 %r, %c, 3.0; st.global.f32 [%p+112], %r; sqrt.rp.ftz.f32 %r, %c; st.global.f32 [%p+116], %r;\n"
    " div.rp.f64 %y, %x, 3.0; mul.rm.f64 %y, %y, 0d000012688b70e62b; st.global.f64 [%p+120], %y;\n"
    " ret;\n}\n"
    ".visible .entry spin()\n{\nagain: bra again;\n}\n";

enum { CTAS = 6, THREADS = 64, WORDS = CTAS * THREADS * 32 };
typedef struct results {
    uint32_t words[WORDS];
    uint32_t single[4];
    uint64_t whole[4];
} results;

/* A call, after which all is as it was before. */
#define KEEPS(call) \
    do { \
        host_state before_ = host_state_now(); \
        lw_status status_ = (call); \
        host_state after_ = host_state_now(); \
        if (status_ != LW_OK || !host_same(before_, after_)) { \
            host_usual(); \
            fail_msg("%s: status %d, state %llx %llx %llx before and %llx %llx %llx after", #call, status_, \
                     (unsigned long long)before_.words[0], (unsigned long long)before_.words[1], \
                     (unsigned long long)before_.words[2], (unsigned long long)after_.words[0], \
                     (unsigned long long)after_.words[1], (unsigned long long)after_.words[2]); \
        } \
    } while (0)

typedef struct session {
    lw_context *context;
    lw_module *module;
    lw_kernel *kernel, *spin;
    uint64_t out;
} session;

static void begin(session *s) {
    KEEPS(lw_context_new(&(lw_options){.threads = 3, .memory_limit = 64u << 20}, &s->context));
    KEEPS(lw_module_new(s->context, "modes.ptx", text, sizeof text - 1, &s->module));
    KEEPS(lw_module_kernel(s->module, "k", &s->kernel));
    KEEPS(lw_module_kernel(s->module, "spin", &s->spin));
    KEEPS(lw_memory_new(s->context, WORDS * 4, &s->out));
}

static void use(session *s, results *r) {
    uint64_t at, size;
    lw_launch_config config = shape(CTAS, THREADS);
    KEEPS(lw_memory_fill(s->context, s->out, 0, 4, WORDS));
    KEEPS(lw_launch(s->kernel, &config, (void *[]){&s->out}, NULL));
    KEEPS(lw_memory_read(s->context, s->out, r->words, sizeof r->words));
    KEEPS(lw_module_global(s->module, "single", &at, &size));
    KEEPS(lw_memory_read(s->context, at, r->single, sizeof r->single));
    KEEPS(lw_module_global(s->module, "whole", &at, &size));
    KEEPS(lw_memory_read(s->context, at, r->whole, sizeof r->whole));
}

static void end(session *s) {
    host_state before = host_state_now();
    lw_module_free(s->module);
    lw_context_free(s->context);
    host_state after = host_state_now();
    host_usual();
    assert_true(host_same(before, after));
}

static void expect_same(const results *wanted, const results *got, const char *mode, const char *when) {
    for (uint32_t i = 0; i < WORDS; i++)
        if (wanted->words[i] != got->words[i])
            fail_msg("%s %s: word %u of thread %u is %08x, not %08x", mode, when, i % 32, i / 32, got->words[i],
                     wanted->words[i]);
    assert_memory_equal(wanted->single, got->single, sizeof got->single);
    assert_memory_equal(wanted->whole, got->whole, sizeof got->whole);
}

static results wanted, got;

/* In a thread that is as the system makes it. The values are those of IEEE 754. */
static void get_wanted(void) {
    session s;
    host_usual();
    begin(&s);
    use(&s, &wanted);
    end(&s);
    static const uint32_t single[] = {0x3dcccccd, 0x000116c2, 0x3e99999a, 0x4b800000};
    static const uint64_t whole[] = {0x3fb999999999999a, 0x00001268a2cc9c4a, 0x419d6f34547e6b75, 0x44b52d02c7e14af6};
    assert_memory_equal(wanted.single, single, sizeof single);
    assert_int_equal(wanted.whole[0], whole[0]);
    assert_int_equal(wanted.whole[2], whole[2]);
    assert_int_equal(wanted.whole[3], whole[3]);
    assert_int_equal(wanted.words[0], 1);          /* 1e-30 times 1e-15 */
    assert_int_equal(wanted.words[1], 0x00001be0); /* 1e-41 */
    assert_int_equal(wanted.words[2], 0x9999999a); /* of 0.1, the lower half */
    assert_int_equal(wanted.words[4], 0x3eaaaaab); /* a third */
    assert_int_equal(wanted.words[9], 0x7f800000); /* by 0 */
    assert_int_equal(wanted.words[21], 2 * single[1]);
    assert_int_equal(wanted.words[26], 0x3f800001); /* 1 and 1e-41, up */
    assert_int_equal(wanted.words[28], 0x3eaaaaaa); /* a third, towards zero */
}

static void modes_change_nothing(void **state) {
    (void)state;
    get_wanted();
    for (int m = 0; m < HOST_MODES; m++) {
        session s;
        host_usual();
        host_modes[m].set();
        begin(&s);
        use(&s, &got);
        use(&s, &got); /* by workers that began in it, too */
        end(&s);
        expect_same(&wanted, &got, host_modes[m].name, "in all calls");
    }
}

/* Workers begin at the first launch. */
static void makers_mode_changes_nothing(void **state) {
    (void)state;
    get_wanted();
    for (int m = 0; m < HOST_MODES; m++) {
        session s;
        host_usual();
        host_modes[m].set();
        begin(&s);
        use(&s, &got);
        host_usual();
        for (int i = 0; i < 4; i++) {
            use(&s, &got);
            expect_same(&wanted, &got, host_modes[m].name, "where the context was made");
        }
        host_modes[m].set();
        use(&s, &got);
        end(&s);
        expect_same(&wanted, &got, host_modes[m].name, "in a later launch");
    }
}

/* ---- Callbacks ------------------------------------------------------------------------------------------------- */

typedef struct watch {
    host_state wanted;
    uint32_t calls, wrong;
    bool changes; /* the callback leaves another mode behind, as any function may */
} watch;

static void look(void *user, const lw_progress *now) {
    watch *w = user;
    (void)now;
    host_state state = host_state_now();
    w->wrong += !host_same(w->wanted, state);
    if (w->changes && !w->calls++) {
        fesetround(FE_DOWNWARD);
        w->wanted = host_state_now();
    }
    w->calls++;
}

static void watch_spin(session *s, watch *w) {
    lw_launch_config config = shape(1, 32);
    config.time_limit = 0.35;
    config.progress = look;
    config.user = w;
    w->wanted = host_state_now();
    lw_status status = lw_launch(s->spin, &config, NULL, NULL);
    host_state after = host_state_now();
    host_usual();
    assert_int_equal(status, LW_STOPPED);
    assert_true(host_same(after, w->wanted));
    assert_true(w->calls > 0);
    assert_int_equal(w->wrong, 0);
}

static void callbacks_see_the_callers_mode(void **state) {
    (void)state;
    session s;
    host_usual();
    begin(&s);
    for (int m = 0; m < HOST_MODES; m++) {
        host_modes[m].set();
        watch_spin(&s, &(watch){0});
    }
    watch_spin(&s, &(watch){.changes = true});
    end(&s);
}

/* A library that sets a mode when it is loaded, as gcc makes them with -ffast-math, must not be among ours. */
static void nothing_of_ours_sets_a_mode(void **state) {
    const host_state *at_start = *state;
    host_usual();
    assert_true(host_same(*at_start, host_state_now()));
}

static host_state at_start;

int main(void) {
    at_start = host_state_now();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nothing_of_ours_sets_a_mode, &at_start),
        cmocka_unit_test(modes_change_nothing),
        cmocka_unit_test(makers_mode_changes_nothing),
        cmocka_unit_test(callbacks_see_the_callers_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
