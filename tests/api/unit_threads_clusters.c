/* Launches of clusters, by one worker and by several: results, shapes that are refused, clusters that wait for later
 * ones, and that which trap is reported does not depend on how many workers there are. */
#include "api.h"

#define HEAD_90 ".version 9.0\n.target sm_90\n.address_size 64\n"

/* Each CTA adds its number and its thread's to the words of the next CTA of its cluster, and stores its own. */
static const char ring[] = HEAD_90
    ".visible .entry ring(.param .u64 out)\n{\n"
    " .reg .u32 %c, %t, %r, %n, %a, %v; .reg .u64 %p, %o; .shared .align 4 .b32 words[64];\n"
    " ld.param.u64 %p, [out]; mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x;\n"
    " mov.u32 %r, %cluster_ctarank; mov.u32 %n, %cluster_nctarank;\n"
    " mov.u32 %a, words; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], 1000000;\n"
    " barrier.cluster.arrive; barrier.cluster.wait;\n"
    " add.u32 %r, %r, 1; rem.u32 %r, %r, %n; mapa.shared::cluster.u32 %r, %a, %r;\n"
    " mad.lo.u32 %v, %c, 100, %t; red.shared::cluster.add.u32 [%r], %v;\n"
    " barrier.cluster.arrive; barrier.cluster.wait;\n"
    " ld.shared.u32 %v, [%a]; mov.u32 %n, %ntid.x; mad.lo.u32 %c, %c, %n, %t;\n"
    " mul.wide.u32 %o, %c, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %v; ret;\n}\n";

static void rings_of_ctas_are_closed(void **state) {
    (void)state;
    enum { CTAS = 240, THREADS = 40 };
    static const uint32_t sizes[] = {0, 1, 2, 3, 5, 8, 16};
    static uint32_t out[CTAS * THREADS];
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, ring), NULL);
        uint64_t buffer = new_buffer(context, sizeof out);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const uint32_t size = sizes[s] ? sizes[s] : 1;
            lw_launch_config config = shape(CTAS, THREADS);
            lw_launch_stats stats;
            config.size = sizeof config;
            if (sizes[s]) config.cluster[0] = size, config.cluster[1] = config.cluster[2] = 1;
            assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, &stats), LW_OK);
            assert_int_equal(stats.ctas, CTAS);
            assert_int_equal(lw_memory_read(context, buffer, out, sizeof out), LW_OK);
            for (uint32_t i = 0; i < CTAS * THREADS; i++) {
                const uint32_t cta = i / THREADS, before = cta % size ? cta - 1 : cta + size - 1;
                assert_int_equal(out[i], 1000000 + 100 * before + i % THREADS);
            }
        }
        lw_context_free(context);
    }
}

/* All but the last cluster wait for it, with barriers of their own in between. */
static void clusters_that_wait_for_later_ones_finish(void **state) {
    (void)state;
    static const char text[] = HEAD_90
        ".entry k(.param .u64 door)\n{\n .reg .u64 %d; .reg .u32 %c, %n, %v; .reg .pred %p;\n"
        " ld.param.u64 %d, [door]; mov.u32 %c, %clusterid.x; mov.u32 %n, %nclusterid.x; sub.u32 %n, %n, 1;\n"
        " barrier.cluster.arrive; barrier.cluster.wait;\n"
        " setp.eq.u32 %p, %c, %n;\n @%p bra OPEN;\n"
        "WAIT: ld.volatile.global.u32 %v, [%d];\n setp.eq.u32 %p, %v, 0;\n @%p bra WAIT;\n bra END;\n"
        "OPEN: st.volatile.global.u32 [%d], 1;\n"
        "END: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    for (uint32_t threads = 1; threads <= 2; threads++) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, text), NULL);
        uint64_t door = new_buffer(context, 4);
        lw_launch_config config = shape(160, 64);
        config.size = sizeof config;
        config.cluster[0] = 4, config.cluster[1] = config.cluster[2] = 1;
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&door}, NULL), LW_OK);
        lw_context_free(context);
    }
}

static void the_lowest_cluster_reports_its_trap(void **state) {
    (void)state;
    static const char text[] = HEAD_90
        ".entry k()\n{\n .reg .u32 %c, %a; .reg .pred %p; .shared .b32 word;\n"
        " mov.u32 %c, %clusterid.x; setp.lt.u32 %p, %c, 3; @%p bra END;\n"
        " mov.u32 %c, %cluster_ctarank; setp.ne.u32 %p, %c, 1; @%p bra END;\n"
        " mov.u32 %a, word; mapa.shared::cluster.u32 %a, %a, 5; st.shared::cluster.u32 [%a], %c;\n"
        "END: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    for (uint32_t threads = 1; threads <= 3; threads++) {
        lw_context *context = new_context(threads);
        lw_kernel *kernel = get_kernel(load(context, text), NULL);
        lw_launch_config config = shape(40, 32);
        lw_trap_info trap;
        config.size = sizeof config;
        config.cluster[0] = 2, config.cluster[1] = config.cluster[2] = 1;
        assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_TRAPPED);
        assert_true(lw_trap(context, &trap));
        assert_int_equal(trap.number, 5000);
        assert_int_equal(trap.cta[0], 7);
        lw_context_free(context);
    }
}

static void kernels_say_what_they_want(void **state) {
    (void)state;
    static const char text[] = HEAD_90
        ".entry exact() .reqnctapercluster 2, 3 { ret; }\n.entry most() .maxclusterrank 4 { ret; }\n"
        ".entry must() .explicitcluster { ret; }\n.entry plain() { ret; }\n"
        ".entry blocks() .reqntid 32 .reqnctapercluster 4 .blocksareclusters { ret; }\n";
    static const struct {
        const char *kernel, *message;
        uint32_t grid[3], block, cluster[3], ctas; /* ctas 0: refused */
    } cases[] = {
        {"exact", "", {4, 3, 1}, 1, {0}, 12},
        {"exact", "", {4, 3, 1}, 1, {2, 3, 1}, 12},
        {"exact", "asks for exactly 2x3x1", {4, 3, 1}, 1, {2, 1, 1}, 0},
        {"exact", "is no multiple of clusters of 2x3x1", {4, 4, 1}, 1, {0}, 0},
        {"most", "", {8, 1, 1}, 1, {4, 1, 1}, 8},
        {"most", "allows 4", {8, 1, 1}, 1, {8, 1, 1}, 0},
        {"must", "must say what its clusters are", {8, 1, 1}, 1, {0}, 0},
        {"must", "", {8, 1, 1}, 1, {1, 1, 1}, 8},
        {"plain", "no extent can be 0", {8, 1, 1}, 1, {2, 0, 1}, 0},
        {"plain", "no extent can be 0", {8, 1, 1}, 1, {0, 0, 2}, 0},
        {"plain", "is 32 CTAs: 16 are the most", {32, 1, 1}, 1, {32, 1, 1}, 0},
        {"plain", "16 are the most", {32, 1, 1}, 1, {65536, 65536, 65536}, 0},
        {"plain", "is no multiple", {2, 1, 1}, 1, {4, 1, 1}, 0},
        {"blocks", "", {3, 2, 1}, 32, {0}, 24},
        {"blocks", "the grid is", {1u << 30, 1, 1}, 32, {0}, 0},
    };
    lw_context *context = new_context(2);
    lw_module *module = load(context, text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lw_launch_config config = {.size = sizeof config, .block = {cases[i].block, 1, 1}};
        lw_launch_stats stats;
        memcpy(config.grid, cases[i].grid, sizeof config.grid);
        memcpy(config.cluster, cases[i].cluster, sizeof config.cluster);
        lw_status status = lw_launch(get_kernel(module, cases[i].kernel), &config, NULL, &stats);
        assert_int_equal(status, cases[i].ctas ? LW_OK : LW_BAD_ARGUMENT);
        if (cases[i].ctas) assert_int_equal(stats.ctas, cases[i].ctas);
        else assert_message(context, cases[i].message);
    }
    const lw_cluster_info info = lw_kernel_get_clusters(get_kernel(module, "exact"));
    assert_int_equal(info.required[0] * 100 + info.required[1] * 10 + info.required[2], 231);
    assert_int_equal(info.most, 16);
    assert_int_equal(lw_kernel_get_clusters(get_kernel(module, "most")).most, 4);
    assert_true(lw_kernel_get_clusters(get_kernel(module, "must")).must_be_given);
    assert_true(lw_kernel_get_clusters(get_kernel(module, "blocks")).grid_counts);
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_of_ctas_are_closed),
        cmocka_unit_test(clusters_that_wait_for_later_ones_finish),
        cmocka_unit_test(the_lowest_cluster_reports_its_trap),
        cmocka_unit_test(kernels_say_what_they_want),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
