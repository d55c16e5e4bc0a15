/* Profiles: what is linked while nobody asks, what is counted when somebody does, launch for launch. */
#include "api.h"

#include "run/profile.h"
#include "session/session.h"

enum { MOST = 64 };

/* The steps of all operations of a program. */
static uint32_t take_steps(const lw_program *program, lw_step *steps[MOST]) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < program->code_count; i++)
        for (uint32_t n = 0; n < program->codes[i]->op_count; n++) {
            assert_true(all < MOST);
            steps[all++] = program->codes[i]->ops[n].step;
        }
    return all;
}

/* How many of them are what they were. */
static uint32_t count_same(const lw_program *program, lw_step *const before[MOST]) {
    lw_step *now[MOST];
    uint32_t same = 0;
    for (uint32_t n = take_steps(program, now); n-- > 0;) same += now[n] == before[n];
    return same;
}

static lw_profile_block entered(const lw_profile_sums *sums) {
    lw_profile_block all = {0};
    for (uint32_t i = 0; i < sums->code_count; i++)
        for (uint32_t b = 0; b < sums->codes[i].code->block_count; b++) {
            all.warps += sums->codes[i].blocks[b].warps * sums->codes[i].code->blocks[b].instructions;
            all.lanes += sums->codes[i].blocks[b].lanes * sums->codes[i].code->blocks[b].instructions;
        }
    return all;
}

static lw_launch_stats launch(lw_kernel *kernel, uint64_t buffer, uint32_t ctas) {
    uint32_t add = 5;
    lw_launch_stats stats;
    const lw_launch_config config = shape(ctas, 96);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer, &add}, &stats), LW_OK);
    return stats;
}

static void test_steps_come_and_go(void **state) {
    (void)state;
    lw_context *context = new_context(3);
    lw_module *module = load(context, HEAD AFFINE);
    lw_kernel *kernel = get_kernel(module, "affine");
    lw_step *own[MOST];
    const uint32_t all = take_steps(kernel->program, own);
    for (int round = 0; round < 2; round++) {
        lw_profile *profile = lw_profile_begin(kernel->program, context->level);
        assert_non_null(profile);
        assert_int_equal(count_same(kernel->program, own), 0);
        lw_profile_end(profile);
        assert_int_equal(count_same(kernel->program, own), all);
        assert_null(kernel->program->profile);
    }
    lw_context_free(context);
}

static void test_launches_add_up(void **state) {
    (void)state;
    lw_context *context = new_context(3);
    lw_module *module = load(context, HEAD AFFINE);
    lw_kernel *kernel = get_kernel(module, "affine");
    const uint64_t buffer = new_buffer(context, 200 * 96 * 4);
    lw_launch_stats before = launch(kernel, buffer, 200); /* counts for nobody */
    lw_profile *profile = lw_profile_begin(kernel->program, context->level);
    uint64_t warps = 0, lanes = 0;
    for (uint32_t ctas = 1; ctas <= 200; ctas += 66) {
        const lw_launch_stats stats = launch(kernel, buffer, ctas);
        warps += stats.warp_instructions, lanes += stats.lane_instructions;
        const lw_profile_sums *sums = lw_profile_sum(profile); /* again and again */
        assert_non_null(sums);
        assert_int_equal(entered(sums).warps, warps);
        assert_int_equal(entered(sums).lanes, lanes);
    }
    lw_profile_end(profile);
    uint32_t *got = malloc(200 * 96 * 4);
    assert_int_equal(lw_memory_read(context, buffer, got, 200 * 96 * 4), LW_OK);
    for (uint32_t i = 0; i < 200 * 96; i++) assert_int_equal(got[i], 3 * i + 5);
    free(got);
    assert_int_equal(launch(kernel, buffer, 200).lane_instructions, before.lane_instructions);
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_come_and_go),
                                       cmocka_unit_test(test_launches_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
