/* Launches: results, shapes, parameters, statistics, limits, progress. */
#include "api.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 4096 };

static uint32_t read_word(lw_context *context, uint64_t address) {
    uint32_t word;
    assert_int_equal(lw_memory_read(context, address, &word, 4), LW_OK);
    return word;
}

/* ---- Results --------------------------------------------------------------------------------------------------- */

static void launch_computes(void **state) {
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 31}, {1, 33}, {3, 100}, {7, 128}, {40, 160}, {2, 1024}, {1000, 5}};
    static uint32_t out[40 * 160 + 1];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, HEAD AFFINE), NULL);
        uint64_t buffer = new_buffer(context, sizeof out);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            uint32_t total = shapes[s][0] * shapes[s][1], add = (uint32_t)s * 1000;
            lw_launch_config config = shape(shapes[s][0], shapes[s][1]);
            lw_launch_stats stats;
            assert_int_equal(lw_memory_fill(context, buffer, 0xffffffff, 4, sizeof out / 4), LW_OK);
            assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &add}, &stats), LW_OK);
            assert_int_equal(lw_memory_read(context, buffer, out, sizeof out), LW_OK);
            for (uint32_t i = 0; i < sizeof out / 4; i++)
                assert_int_equal(out[i], i < total ? 3 * i + add : 0xffffffff);
            /* 13 instructions, each by all lanes; warps are not shared between CTAs */
            assert_int_equal(stats.lane_instructions, 13ull * total);
            assert_int_equal(stats.warp_instructions, 13ull * shapes[s][0] * ((shapes[s][1] + 31) / 32));
            assert_int_equal(stats.ctas, shapes[s][0]);
            assert_int_equal(stats.threads, total);
            assert_true(stats.seconds >= 0);
        }
        lw_context_free(context);
    }
}

/* A function is lowered with the lists that the one before it has used; its blocks count its own instructions alone. */
static void instructions_of_functions_are_counted(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, HEAD ".func f()\n{\n .reg .b32 a; mov.b32 a, 1; ret;\n}\n"
                                                      ".entry k()\n{\n .reg .b32 a; mov.b32 a, 1; mov.b32 a, 2;"
                                                      " mov.b32 a, 3; call f; ret;\n}\n"),
                                   NULL);
    lw_launch_config config = shape(1, 40);
    lw_launch_stats stats;
    assert_int_equal(lw_launch(kernel, &config, NULL, &stats), LW_OK);
    assert_int_equal(stats.lane_instructions, (5 + 2) * 40);
    assert_int_equal(stats.warp_instructions, (5 + 2) * 2);
    lw_context_free(context);
}

/* Every thread of a 3-D launch writes its own number, from %tid and %ctaid. */
static void launch_numbers_threads_in_three_dimensions(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    lw_kernel *kernel =
        get_kernel(load(context, HEAD ".entry k(.param .u64 out)\n{\n .reg .u32 %t<12>; .reg .u64 %p, %o;\n"
                                      " mov.u32 %t0, %ctaid.z; mov.u32 %t1, %nctaid.y; mov.u32 %t2, %ctaid.y; "
                                      "mad.lo.u32 %t0, %t0, %t1, %t2;\n"
                                      " mov.u32 %t1, %nctaid.x; mov.u32 %t2, %ctaid.x; mad.lo.u32 %t0, %t0, %t1, %t2;\n"
                                      " mov.u32 %t1, %ntid.z; mov.u32 %t2, %tid.z; mad.lo.u32 %t0, %t0, %t1, %t2;\n"
                                      " mov.u32 %t1, %ntid.y; mov.u32 %t2, %tid.y; mad.lo.u32 %t0, %t0, %t1, %t2;\n"
                                      " mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;\n"
                                      " ld.param.u64 %p, [out]; mul.wide.u32 %o, %t0, 4; add.u64 %p, %p, %o; add.u32 "
                                      "%t0, %t0, 1; st.global.u32 [%p], %t0; ret;\n}\n"),
                   NULL);
    enum { COUNT = 2 * 3 * 4 * 5 * 7 * 6 };
    static uint32_t out[COUNT];
    uint64_t buffer = new_buffer(context, sizeof out);
    lw_launch_config config = {.grid = {2, 3, 4}, .block = {5, 7, 6}};
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, buffer, out, sizeof out), LW_OK);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(out[i], i + 1);
    lw_context_free(context);
}

/* A block counts in shared memory what earlier ones have left there, which must be nothing. */
static void shared_and_local_memory_begin_as_zero(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(
        load(context,
             HEAD ".extern .shared .b8 dynamic[];\n.entry k(.param .u64 out)\n{\n .shared .u32 word; .local .u32 "
                  "frame[4];\n"
                  " .reg .u32 %a, %b, %c; .reg .u64 %p;\n"
                  " ld.shared.u32 %a, [word]; ld.shared.u32 %b, [dynamic+60]; ld.local.u32 %c, [frame+8];\n"
                  " or.b32 %a, %a, %b; or.b32 %a, %a, %c;\n ld.param.u64 %p, [out]; red.global.or.b32 [%p], %a;\n"
                  " st.shared.u32 [word], 7; st.shared.u32 [dynamic+60], 8; st.local.u32 [frame+8], 9; ret;\n}\n"),
        NULL);
    uint64_t buffer = new_buffer(context, 4);
    lw_launch_config config = shape(20, 1);
    config.shared_bytes = 64;
    for (int round = 0; round < 2; round++)
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(read_word(context, buffer), 0);
    lw_context_free(context);
}

/* Workers keep frames and local memory for later launches of the same kernel. Kernel n adds n to local memory that must
 * begin as zero, at another place of another size in each, so that whatever serves the wrong one shows. */
static lw_module *load_adder(lw_context *context, uint32_t n, lw_kernel **kernel) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD ".entry k(.param .u64 out)\n{\n .local .align 4 .b8 frame[%u];\n"
                  " .reg .u32 %%i, %%c, %%a; .reg .u64 %%p, %%o; .reg .pred %%q;\n"
                  " mov.u32 %%i, %%tid.x; mov.u32 %%c, %%ctaid.x; mad.lo.u32 %%i, %%c, 300, %%i;\n"
                  " ld.local.u32 %%a, [frame+%u]; add.u32 %%a, %%a, %u; setp.lt.u32 %%q, %%i, %u;\n"
                  " @%%q bra FEW;\n add.u32 %%a, %%a, 1000;\nFEW:\n st.local.u32 [frame+%u], %%a;\n"
                  " mul.wide.u32 %%o, %%i, 4; ld.param.u64 %%p, [out]; add.u64 %%p, %%p, %%o;\n"
                  " st.global.u32 [%%p], %%a; ret;\n}\n",
             16 * n, 16 * n - 8, n, 10 * n, 16 * n - 8);
    lw_module *module = load(context, text);
    *kernel = get_kernel(module, NULL);
    return module;
}

static void check_adder(lw_context *context, lw_kernel *kernel, uint32_t n, uint32_t threads, uint64_t buffer) {
    static uint32_t out[600];
    const lw_launch_config config = shape(2, threads);
    uint64_t nowhere = 64;
    if (n % 3 == 0) assert_int_equal(lw_launch(kernel, &config, (void *[]){&nowhere}, NULL), LW_TRAPPED);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, buffer, out, sizeof out), LW_OK);
    for (uint32_t i = 0; i < 600; i++)
        if (i % 300 < threads) assert_int_equal(out[i], i < 10 * n ? n : n + 1000);
}

static void launches_serve_later_ones_of_their_kernel_only(void **state) {
    (void)state;
    enum { KERNELS = 7 }; /* more than what is kept for */
    static const uint32_t threads[] = {300, 32, 130, 5, 256};
    lw_context *context = new_context(2);
    uint64_t buffer = new_buffer(context, 2400);
    lw_module *modules[KERNELS];
    lw_kernel *kernels[KERNELS];
    for (uint32_t n = 0; n < KERNELS; n++) modules[n] = load_adder(context, n + 1, &kernels[n]);
    for (uint32_t round = 0; round < 60; round++) {
        const uint32_t n = round < 20 ? round % 2 : round < 40 ? round % KERNELS : round * round % KERNELS;
        for (uint32_t again = 0; again < 3; again++)
            check_adder(context, kernels[n], n + 1, threads[(round + again) % 5], buffer);
        if (round % 4) continue;
        lw_module_free(modules[n]); /* another program may come to lie where this one was */
        modules[n] = load_adder(context, n + 1, &kernels[n]);
    }
    lw_context_free(context);
}

/* Of memory that the process has pages of. */
static size_t resident_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long total = 0, resident = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* One of the CTAs writes far up in its local memory, 32 MiB in all, and those that come after it on its worker do not.
 */
static void launches_keep_little(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(
        load(context, HEAD ".entry deep(.param .u64 out)\n{\n .reg .u32 %c; .reg .u64 %p; .reg .pred %q;\n"
                           " .local .align 16 .b8 %l[65536];\n mov.u32 %c, %ctaid.x; ld.param.u64 %p, [out];\n"
                           " setp.ne.u32 %q, %c, 0; @%q bra end;\n st.local.u32 [%l+65532], %c;\n"
                           " ld.local.u32 %c, [%l+65532]; st.global.u32 [%p], %c;\nend:\n ret;\n}\n"),
        NULL);
    uint64_t buffer = new_buffer(context, 16);
    lw_launch_config config = shape(3, 512), small = shape(3, 32); /* the small one has it compiled before */
    assert_int_equal(lw_launch(kernel, &small, (void *[]){&buffer}, NULL), LW_OK);
    const size_t before = resident_bytes();
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_in_range(resident_bytes(), 0, before + (8 << 20));
    lw_context_free(context);
}

/* ---- Parameters ------------------------------------------------------------------------------------------------ */

#define MIXED \
    ".entry mixed(.param .u64 out, .param .u8 a, .param .align 8 .b8 s[16], .param .u16 b)\n{\n" \
    " .reg .u32 %r, %t; .reg .u64 %p, %w;\n" \
    " ld.param.u64 %p, [out];\n ld.param.u8 %r, [a]; st.global.u32 [%p], %r;\n" \
    " ld.param.u64 %w, [s+8]; st.global.u64 [%p+8], %w;\n ld.param.u16 %r, [b]; st.global.u32 [%p+4], " \
    "%r;\n ret;\n}\n"

static void check_mixed(lw_context *context, uint64_t buffer) {
    assert_int_equal(read_word(context, buffer), 200);
    assert_int_equal(read_word(context, buffer + 4), 50000);
    assert_int_equal(read_word(context, buffer + 8), 0x55667788);
    assert_int_equal(read_word(context, buffer + 12), 0x11223344);
    assert_int_equal(lw_memory_fill(context, buffer, 0, 1, 16), LW_OK);
}

static void params_are_packed(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, HEAD MIXED), NULL);
    uint64_t buffer = new_buffer(context, 16), s[2] = {1, 0x1122334455667788};
    uint8_t a = 200;
    uint16_t b = 50000;
    lw_launch_config config = shape(1, 1);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &a, s, &b}, NULL), LW_OK);
    check_mixed(context, buffer);
    char packed[34] = {0};
    memcpy(packed, &buffer, 8);
    memcpy(packed + 8, &a, 1);
    memcpy(packed + 16, s, 16);
    memcpy(packed + 32, &b, 2);
    config.param_buffer = packed;
    config.param_buffer_size = sizeof packed;
    assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_OK);
    check_mixed(context, buffer);
    config.param_buffer_size = 33;
    assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_BAD_ARGUMENT);
    assert_message(context, "33 bytes");
    config.param_buffer = NULL;
    assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_BAD_ARGUMENT);
    assert_message(context, "4 parameters");
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &a, NULL, &b}, NULL), LW_BAD_ARGUMENT);
    assert_message(context, "parameter 2 ('s')");
    lw_context_free(context);
}

/* ---- Shapes ---------------------------------------------------------------------------------------------------- */

static void refuse(lw_kernel *kernel, lw_context *context, lw_launch_config config, const char *part) {
    lw_launch_stats stats = {.ctas = 9};
    assert_int_equal(lw_launch(kernel, &config, NULL, &stats), LW_BAD_ARGUMENT);
    assert_message(context, part);
    assert_int_equal(stats.ctas, 0);
}

static void bad_shapes_are_refused(void **state) {
    (void)state;
    lw_context *context;
    assert_int_equal(lw_context_new(&(lw_options){.threads = 1, .stack_limit = 1024}, &context), LW_OK);
    lw_module *module =
        load(context,
             HEAD ".entry plain() { ret; }\n.entry most() .maxntid 8, 4 { ret; }\n.entry exact() .reqntid 8, 4 { ret; "
                  "}\n"
                  ".entry big() { .shared .b8 s[232000]; .reg .u64 %p; mov.u64 %p, s; st.shared.u8 [%p], 1; ret; }\n"
                  ".entry deep() { .local .b8 l[2000]; .reg .u64 %p; mov.u64 %p, l; st.local.u8 [%p], 1; ret; }\n");
    lw_kernel *plain = get_kernel(module, "plain"), *most = get_kernel(module, "most"),
              *exact = get_kernel(module, "exact");
    lw_kernel *big = get_kernel(module, "big"), *deep = get_kernel(module, "deep");
    refuse(plain, context, (lw_launch_config){.grid = {1, 0, 1}, .block = {1, 1, 1}}, "the grid is 1x0x1");
    refuse(plain, context, (lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 0}}, "the CTA is 1x1x0");
    refuse(plain, context, (lw_launch_config){.grid = {1u << 31, 1, 1}, .block = {1, 1, 1}}, "2147483648x1x1");
    refuse(plain, context, (lw_launch_config){.grid = {1, 65536, 1}, .block = {1, 1, 1}}, "1x65536x1");
    refuse(plain, context, (lw_launch_config){.grid = {1, 1, 65536}, .block = {1, 1, 1}}, "1x1x65536");
    refuse(plain, context, (lw_launch_config){.grid = {1, 1, 1}, .block = {1025, 1, 1}}, "1025 threads");
    refuse(plain, context, (lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 65}}, "its third extent");
    refuse(plain, context, (lw_launch_config){.grid = {1, 1, 1}, .block = {UINT32_MAX, UINT32_MAX, UINT32_MAX}},
           "threads");
    refuse(most, context, shape(1, 33), "33 threads: .maxntid");
    refuse(exact, context, shape(1, 32), ".reqntid of kernel 'exact' asks for exactly 8x4x1");
    lw_launch_config config = shape(1, 1);
    config.shared_bytes = (227 << 10) + 1;
    refuse(plain, context, config, "232449 bytes of shared memory");
    config.shared_bytes = 1000;
    refuse(big, context, config, "232000 static, 1000 dynamic");
    config.shared_bytes = UINT32_MAX; /* more than 32 bits with what is static */
    refuse(plain, context, config, "4294967295 bytes of shared memory");
    refuse(big, context, config, "232000 static, 4294967295 dynamic");
    refuse(deep, context, shape(1, 1), "local memory per thread: the context's limit is 1024");
    config = shape(1, 1);
    config.time_limit = -1;
    refuse(plain, context, config, "time limit");
    assert_int_equal(lw_launch(plain, NULL, NULL, NULL), LW_BAD_ARGUMENT);
    /* and these are right */
    config = shape(1, 1024);
    config.shared_bytes = 227 << 10;
    assert_int_equal(lw_launch(plain, &config, NULL, NULL), LW_OK);
    config = shape(1, 32);
    assert_int_equal(lw_launch(most, &config, NULL, NULL), LW_OK);
    config = (lw_launch_config){.grid = {1, 1, 1}, .block = {8, 4, 1}};
    assert_int_equal(lw_launch(exact, &config, NULL, NULL), LW_OK);
    config = (lw_launch_config){.grid = {1, 1, 1}, .block = {1, 16, 64}};
    assert_int_equal(lw_launch(plain, &config, NULL, NULL), LW_OK);
    config = shape(1, 1);
    assert_int_equal(lw_launch(big, &config, NULL, NULL), LW_OK);
    lw_context_free(context);
}

/* ---- Limits ---------------------------------------------------------------------------------------------------- */

#define ENDLESS ".entry endless() { L: bra L; }\n"

static void endless_kernels_are_stopped(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, HEAD ENDLESS), NULL);
        lw_launch_config config = shape(100, 64);
        lw_launch_stats stats;
        config.step_limit = 10000;
        assert_int_equal(lw_launch(kernel, &config, NULL, &stats), LW_STOPPED);
        assert_message(context, "10000 warp instructions");
        assert_true(stats.warp_instructions >= 10000);
        config.step_limit = 0;
        config.time_limit = 0.05; /* which what compiling takes counts for: that is over */
        assert_int_equal(lw_launch(kernel, &config, NULL, &stats), LW_STOPPED);
        assert_message(context, "time limit of 0.05 s");
        assert_true(stats.seconds >= 0.04);
        assert_int_equal(stats.ctas, 0);
        lw_context_free(context);
    }
}

/* A turn of a hundred rounds or calls of long ones is not a thousand times as long as one of short ones. */
static void limits_are_looked_at_where_rounds_are_long(void **state) {
    (void)state;
    static const char *const forms[] = {
        ".visible .entry k() { .reg .b32 x; .reg .pred p; again: %s setp.ne.u32 p, x, 1; @p bra again; ret; }",
        ".func f() { .reg .b32 x; %s ret; } .visible .entry k() { .reg .b32 x; .reg .pred p;\n"
        "again: call f, (); setp.ne.u32 p, x, 1; @p bra again; ret; }"};
    enum { LENGTH = 8192 };
    const char one[] = "mad.lo.u32 x, x, 2, 4;";
    char *body = calloc(LENGTH, sizeof one), *text = malloc(LENGTH * sizeof one + 1000);
    for (size_t i = 0; i < LENGTH; i++) memcpy(body + i * (sizeof one - 1), one, sizeof one);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        lw_context *context = new_context(1);
        int at = sprintf(text, "%s", HEAD);
        sprintf(text + at, forms[i], body);
        lw_kernel *kernel = get_kernel(load(context, text), NULL);
        lw_launch_config config = shape(1, 32);
        lw_launch_stats stats;
        config.step_limit = 10000;
        assert_int_equal(lw_launch(kernel, &config, NULL, &stats), LW_STOPPED);
        assert_true(stats.warp_instructions < 1000 * (uint64_t)LENGTH);
        lw_context_free(context);
    }
    free(body);
    free(text);
}

static void limits_do_not_stop_what_stays_below(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    lw_kernel *kernel = get_kernel(load(context, HEAD AFFINE), NULL);
    uint64_t buffer = new_buffer(context, ROOM);
    uint32_t add = 0;
    lw_launch_config config = shape(32, 32);
    config.step_limit = 13 * 32;
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL), LW_OK);
    config.step_limit = 13 * 16;
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL), LW_STOPPED);
    config.step_limit = 0;
    config.time_limit = 1000;
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL), LW_OK);
    lw_context_free(context);
}

typedef struct watch {
    lw_context *context;
    unsigned calls;
    lw_progress last;
} watch;

static void stop_at_third_call(void *user, const lw_progress *now) {
    watch *w = user;
    assert_true(now->seconds >= w->last.seconds);
    assert_true(now->lane_instructions >= w->last.lane_instructions);
    assert_int_equal(now->ctas, 5);
    w->last = *now;
    if (++w->calls == 3) lw_context_stop(w->context);
}

/* Each CTA takes over others until there are none, says how often that went well, and goes on for ever. */
#define GREEDY \
    ".version 8.6\n.target sm_100a\n.address_size 64\n.entry greedy(.param .u64 p)\n{\n.reg .pred q;\n" \
    ".reg .b32 phase;\n.reg .b64 at;\n.reg .b128 answer;\n.shared .align 16 .b8 room[16];\n" \
    ".shared .align 8 .b64 told;\nld.param.u64 at, [p];\nred.global.add.u32 [at], 1;\nmov.u32 phase, 0;\n" \
    "mbarrier.init.shared::cta.b64 [told], 1;\nAGAIN:\n" \
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [room], [told];\n" \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [told], 16;\nWAIT:\n" \
    "mbarrier.try_wait.parity.shared::cta.b64 q, [told], phase;\n@!q bra WAIT;\nxor.b32 phase, phase, 1;\n" \
    "ld.shared.b128 answer, [room];\n" \
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, answer;\n@q red.global.add.u32 [at+4], 1;\n" \
    "@q bra AGAIN;\nEVER:\nbra EVER;\n}\n"

static void stop_at_half(void *user, const lw_progress *now) {
    watch *w = user;
    assert_true(now->ctas_done >= w->last.ctas_done && now->ctas_done <= now->ctas);
    w->last = *now;
    if (now->ctas_done >= now->ctas / 2) lw_context_stop(w->context);
}

/* None of its CTAs ever ends: all that is done others have taken over. */
static void progress_counts_what_others_took_over(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, GREEDY), "greedy");
    watch w = {.context = context};
    lw_launch_config config = shape(1000, 1);
    lw_launch_stats stats;
    uint64_t at;
    assert_int_equal(lw_memory_new(context, 8, &at), LW_OK);
    assert_int_equal(lw_memory_fill(context, at, 0, 4, 2), LW_OK);
    config.progress = stop_at_half, config.user = &w;
    config.time_limit = 60; /* where nothing is counted */
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&at}, &stats), LW_STOPPED);
    assert_message(context, "stopped from outside");
    const uint32_t begun = read_word(context, at), taken = read_word(context, at + 4);
    assert_true(begun > 0 && taken > 0 && taken <= w.last.ctas_done && begun + w.last.ctas_done <= 1000);
    assert_int_equal(stats.ctas, 0);
    lw_context_free(context);
}

static void progress_is_shown_and_launches_can_be_stopped(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    lw_kernel *kernel = get_kernel(load(context, HEAD ENDLESS ".entry empty() { ret; }\n"), "endless");
    watch w = {.context = context};
    lw_launch_config config = shape(5, 64);
    config.progress = stop_at_third_call;
    config.user = &w;
    assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_STOPPED);
    assert_message(context, "stopped from outside");
    assert_true(w.calls >= 3);
    assert_true(w.last.lane_instructions > 0);
    /* A stop is for the launches that run at that time. */
    lw_context_stop(context);
    config = shape(5, 64);
    assert_int_equal(lw_launch(get_kernel(load(context, HEAD ".entry empty() { ret; }\n"), NULL), &config, NULL, NULL),
                     LW_OK);
    lw_context_free(context);
}

/* ---- Progress between threads ---------------------------------------------------------------------------------- */

/* The last CTA opens the door for which all others wait; there are more of them than workers. */
static void ctas_that_wait_for_later_ones_finish(void **state) {
    (void)state;
    static const char text[] = HEAD
        ".entry k(.param .u64 door)\n{\n .reg .u64 %d; .reg .u32 %c, %n, %v; .reg .pred %p;\n"
        " ld.param.u64 %d, [door]; mov.u32 %c, %ctaid.x; mov.u32 %n, %nctaid.x; sub.u32 %n, %n, 1;\n"
        " setp.eq.u32 %p, %c, %n;\n @%p bra OPEN;\n"
        "WAIT: ld.volatile.global.u32 %v, [%d];\n setp.eq.u32 %p, %v, 0;\n @%p bra WAIT;\n ret;\n"
        "OPEN: st.volatile.global.u32 [%d], 1;\n ret;\n}\n";
    for (uint32_t threads = 1; threads <= 2; threads++) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, text), NULL);
        uint64_t door = new_buffer(context, 4);
        lw_launch_config config = shape(20, 64);
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&door}, NULL), LW_OK);
        assert_int_equal(lw_memory_fill(context, door, 0, 4, 1), LW_OK);
        config = shape(200, 32);
        config.cooperative = true;
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&door}, NULL), LW_OK);
        lw_context_free(context);
    }
}

/* All threads of the grid meet at a counter, several times. */
static void cooperative_grids_meet(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    lw_kernel *kernel =
        get_kernel(load(context, HEAD
                        ".entry k(.param .u64 counter, .param .u32 all)\n{\n .reg .u64 %p; .reg .u32 %all, %round, "
                        "%want, %v; .reg .pred %q;\n"
                        " ld.param.u64 %p, [counter]; ld.param.u32 %all, [all]; mov.u32 %round, 0; mov.u32 %want, 0;\n"
                        "ROUND: add.u32 %want, %want, %all;\n atom.global.add.u32 %v, [%p], 1;\n"
                        "WAIT: ld.volatile.global.u32 %v, [%p];\n setp.lt.u32 %q, %v, %want;\n @%q bra WAIT;\n"
                        " add.u32 %round, %round, 1;\n setp.lt.u32 %q, %round, 5;\n @%q bra ROUND;\n ret;\n}\n"),
                   NULL);
    uint64_t counter = new_buffer(context, 4);
    uint32_t all = 70 * 48;
    lw_launch_config config = shape(70, 48);
    config.cooperative = true;
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&counter, &all}, NULL), LW_OK);
    assert_int_equal(read_word(context, counter), 5 * all);
    lw_context_free(context);
}

/* Blocks of many shapes, one behind the other, of which some have more threads than the array has elements: code that
 * was compiled for others must not be taken for them. */
#define ARRAY \
    HEAD ".visible .entry array(.param .u64 out)\n" \
         "{\n" \
         " .shared .align 4 .b32 s[64]; .reg .u32 %t, %x, %y, %z, %n, %m, %a, %b, %c, %d, %e, %f, %g, %h, %r; .reg " \
         ".u64 %p, %o;\n" \
         " ld.param.u64 %p, [out]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; mov.u32 %n, %ntid.x;\n" \
         " mov.u32 %m, %ntid.y; mad.lo.u32 %r, %z, %m, %y; mad.lo.u32 %t, %r, %n, %x;\n" \
         " shl.b32 %a, %t, 2; mov.u32 %b, s; add.u32 %c, %a, %b; mul.lo.u32 %d, %t, 7; st.shared.u32 [%c], %d; " \
         "bar.sync 0;\n" \
         " xor.b32 %e, %t, 1; shl.b32 %f, %e, 2; add.u32 %g, %f, %b; ld.shared.u32 %h, [%g];\n" \
         " mul.wide.u32 %o, %t, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %h; ret;\n" \
         "}\n"

static void blocks_of_all_shapes_are_checked(void **state) {
    (void)state;
    static const uint32_t blocks[][3] = {{64, 1, 1}, {8, 8, 1},  {4, 16, 1}, {128, 1, 1}, {8, 16, 1},
                                         {2, 4, 8},  {64, 2, 1}, {6, 10, 1}, {32, 1, 1},  {96, 1, 1},
                                         {32, 2, 1}, {1, 1, 64}, {2, 2, 32}, {64, 1, 1}};
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, ARRAY), "array");
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        const uint32_t *b = blocks[k], count = b[0] * b[1] * b[2];
        uint64_t out = new_buffer(context, 1024);
        const lw_launch_config config = {.grid = {3, 1, 1}, .block = {b[0], b[1], b[2]}};
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&out}, NULL), count > 64 ? LW_TRAPPED : LW_OK);
        uint32_t got[256];
        assert_int_equal(lw_memory_read(context, out, got, sizeof got), LW_OK);
        for (uint32_t t = 0; t < count && count <= 64; t++) assert_int_equal(got[t], (t ^ 1) * 7);
    }
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_computes),
        cmocka_unit_test(instructions_of_functions_are_counted),
        cmocka_unit_test(launch_numbers_threads_in_three_dimensions),
        cmocka_unit_test(shared_and_local_memory_begin_as_zero),
        cmocka_unit_test(launches_serve_later_ones_of_their_kernel_only),
        cmocka_unit_test(blocks_of_all_shapes_are_checked),
        cmocka_unit_test(launches_keep_little),
        cmocka_unit_test(params_are_packed),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(endless_kernels_are_stopped),
        cmocka_unit_test(limits_are_looked_at_where_rounds_are_long),
        cmocka_unit_test(limits_do_not_stop_what_stays_below),
        cmocka_unit_test(progress_is_shown_and_launches_can_be_stopped),
        cmocka_unit_test(progress_counts_what_others_took_over),
        cmocka_unit_test(ctas_that_wait_for_later_ones_finish),
        cmocka_unit_test(cooperative_grids_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
