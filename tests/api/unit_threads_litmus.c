/* Litmus tests of the memory orders: two CTAs on two threads of the host, every lane of a warp with words of its own.
 * What the manual's memory model (section 8) forbids must not be seen; whether what it allows is seen depends on the
 * machine. */
#include "api.h"

enum { LANES = 32, ROUNDS = 3000 };

/* %r1 lane, %r2 CTA, %rd1 its word of `a`, %rd2 its word of `b`, %rd3 its word of `out`, each LANES words further on in
 * every round. */
#define BEGIN(name) \
    ".entry " name "(.param .u64 a, .param .u64 b, .param .u64 out) {\n" \
    ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<4>;\n" \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd4, %r1, 4;\n" \
    "ld.param.u64 %rd1, [a];\nadd.u64 %rd1, %rd1, %rd4;\nld.param.u64 %rd2, [b];\nadd.u64 %rd2, %rd2, %rd4;\n" \
    "ld.param.u64 %rd3, [out];\nadd.u64 %rd3, %rd3, %rd4;\nsetp.ne.u32 %p1, %r2, 0;\nmov.u32 %r3, 0;\n"

/* One CTA writes a, then b with release; the other reads b with acquire, then a: never the older one. Counted in
 * `out`. */
static const char message_passing[] = HEAD BEGIN(
    "message_passing") "mov.u32 %r4, 0;\n@%p1 bra READ;\n"
                       "WRITE: add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd1], %r3;\nst.release.gpu.global.u32 "
                       "[%rd2], %r3;\n"
                       "setp.lt.u32 %p2, %r3, 3000;\n@%p2 bra WRITE;\nret;\n"
                       "READ: ld.acquire.gpu.global.u32 %r5, [%rd2];\nld.relaxed.gpu.global.u32 %r6, [%rd1];\n"
                       "setp.lt.u32 %p2, %r6, %r5;\n@%p2 add.u32 %r4, %r4, 1;\n"
                       "setp.lt.u32 %p2, %r5, 3000;\n@%p2 bra READ;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

/* The same with fences on both sides of relaxed accesses. */
static const char message_by_fences[] = HEAD BEGIN(
    "message_by_fences") "mov.u32 %r4, 0;\n@%p1 bra READ;\n"
                         "WRITE: add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd1], "
                         "%r3;\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd2], %r3;\n"
                         "setp.lt.u32 %p2, %r3, 3000;\n@%p2 bra WRITE;\nret;\n"
                         "READ: ld.relaxed.gpu.global.u32 %r5, [%rd2];\nfence.acq_rel.gpu;\nld.relaxed.gpu.global.u32 "
                         "%r6, [%rd1];\n"
                         "setp.lt.u32 %p2, %r6, %r5;\n@%p2 add.u32 %r4, %r4, 1;\n"
                         "setp.lt.u32 %p2, %r5, 3000;\n@%p2 bra READ;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

/* Lanes that read one place by one instruction see one value, as those of a warp do: programs whose lanes all compute
 * the same rely on it. Where they read nobody can tell from the text. The manual says nothing of it. */
static const char one_value[] = HEAD BEGIN(
    "one_value") "ld.param.u64 %rd1, [a];\nld.global.u32 %r7, [%rd2];\ncvt.u64.u32 %rd5, %r7;\nadd.u64 %rd1, %rd1, "
                 "%rd5;\nmov.u32 %r4, 0;\n"
                 "AGAIN: atom.global.add.u32 %r5, [%rd1], 1;\nld.global.u32 %r6, [%rd1];\n"
                 "redux.sync.min.u32 %r7, %r6, 0xffffffff;\nredux.sync.max.u32 %r8, %r6, 0xffffffff;\n"
                 "setp.ne.u32 %p2, %r7, %r8;\n@%p2 add.u32 %r4, %r4, 1;\n"
                 "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 20000;\n@%p2 bra AGAIN;\n"
                 "mad.wide.u32 %rd3, %r2, 128, %rd3;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

/* Two reads of one place never go back, whatever their order is. */
static const char coherence[] =
    HEAD BEGIN("coherence") "mov.u32 %r4, 0;\n@%p1 bra READ;\n"
                            "WRITE: add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd1], %r3;\n"
                            "setp.lt.u32 %p2, %r3, 3000;\n@%p2 bra WRITE;\nret;\n"
                            "READ: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nld.relaxed.gpu.global.u32 %r6, [%rd1];\n"
                            "setp.lt.u32 %p2, %r6, %r5;\n@%p2 add.u32 %r4, %r4, 1;\n"
                            "setp.lt.u32 %p2, %r6, 3000;\n@%p2 bra READ;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

/* Each CTA writes its own place, then reads the other's: with fence.sc between, not both miss the other's write. out:
 * what was read, by CTA. */
static const char store_buffering[] = HEAD BEGIN(
    "store_buffering") "@%p1 mov.b64 %rd5, %rd1;\n@%p1 mov.b64 %rd1, %rd2;\n@%p1 mov.b64 %rd2, %rd5;\n"
                       "mul.wide.u32 %rd6, %r2, 384000;\nadd.u64 %rd3, %rd3, %rd6;\nmov.u32 %r4, 1;\n"
                       "LOOP: st.relaxed.gpu.global.u32 [%rd1], %r4;\nfence.sc.gpu;\nld.relaxed.gpu.global.u32 %r5, "
                       "[%rd2];\nst.global.u32 [%rd3], %r5;\n"
                       "add.u64 %rd1, %rd1, 128;\nadd.u64 %rd2, %rd2, 128;\nadd.u64 %rd3, %rd3, 128;\nadd.u32 %r3, "
                       "%r3, 1;\n"
                       "setp.lt.u32 %p2, %r3, 3000;\n@%p2 bra LOOP;\nret;\n}\n";

static uint32_t out[2 * ROUNDS * LANES];

static void run(const char *text, const char *name, uint32_t ctas) {
    lw_context *context = new_context(2);
    lw_module *module = load(context, text);
    lw_kernel *kernel;
    uint64_t a, b, to;
    assert_int_equal(lw_module_kernel(module, name, &kernel), LW_OK);
    assert_int_equal(lw_memory_new(context, sizeof out / 2, &a), LW_OK);
    assert_int_equal(lw_memory_new(context, sizeof out / 2, &b), LW_OK);
    assert_int_equal(lw_memory_new(context, sizeof out, &to), LW_OK);
    assert_int_equal(lw_memory_fill(context, to, UINT32_MAX, 4, sizeof out / 4),
                     LW_OK); /* a count that nobody wrote is none */
    lw_launch_config config = shape(ctas, LANES);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&a, &b, &to}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, to, out, sizeof out), LW_OK);
    lw_module_free(module);
    lw_context_free(context);
}

static void counts_nothing(const char *text, const char *name, uint32_t ctas, uint32_t writers) {
    run(text, name, ctas);
    for (uint32_t i = 0; i < writers * LANES; i++)
        if (out[i]) fail_msg("%s: lane %u saw %u times what is forbidden", name, i % LANES, out[i]);
}

static void messages_arrive_in_order(void **state) {
    (void)state;
    counts_nothing(message_passing, "message_passing", 2, 1);
    counts_nothing(message_by_fences, "message_by_fences", 2, 1);
}

static void reads_do_not_go_back(void **state) {
    (void)state;
    counts_nothing(coherence, "coherence", 2, 1);
}

static void lanes_see_one_value(void **state) {
    (void)state;
    counts_nothing(one_value, "one_value", 64, 64);
}

static void one_of_two_sees_the_other(void **state) {
    (void)state;
    run(store_buffering, "store_buffering", 2);
    for (uint32_t i = 0; i < ROUNDS * LANES; i++) {
        const uint32_t first = out[i], second = out[ROUNDS * LANES + i];
        if (first > 1 || second > 1 || (!first && !second))
            fail_msg("round %u, lane %u: %u and %u", i / LANES, i % LANES, first, second);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_arrive_in_order),
                                       cmocka_unit_test(reads_do_not_go_back), cmocka_unit_test(lanes_see_one_value),
                                       cmocka_unit_test(one_of_two_sees_the_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
