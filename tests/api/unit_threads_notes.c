/* Semantics of a context, and what launches note where the manual and the hardware differ. */
#include "api.h"

#include <pthread.h>

/* out[i] = i >> 1 into the high half of 5: the two take different halves of the result. For i = 0 and 1 both give 5. */
#define MERGE \
    ".visible .entry merge(.param .u64 out)\n{\n .reg .u32 %i, %n, %t; .reg .u64 %p, %o;\n" \
    " ld.param.u64 %p, [out];\n mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n" \
    " mad.lo.u32 %i, %i, %n, %t; mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o;\n" \
    " vshr.u32.u32.u32.clamp %t.h1, %i, 1, 5;\n st.global.u32 [%p], %t;\n ret;\n}\n"
enum { MERGE_LINE = 10, CTAS = 200, THREADS = 96 };

static uint32_t read_word(lw_context *context, uint64_t address) {
    uint32_t word;
    assert_int_equal(lw_memory_read(context, address, &word, sizeof word), LW_OK);
    return word;
}

static lw_context *context_of(const char *semantics) {
    lw_context *context;
    lw_options options = {.threads = 4, .memory_limit = 64u << 20, .semantics = semantics};
    assert_int_equal(lw_context_new(&options, &context), LW_OK);
    return context;
}

static void check_merge(const char *semantics, uint32_t word_9) {
    lw_context *context = context_of(semantics);
    assert_string_equal(lw_context_semantics(context), semantics);
    lw_kernel *kernel = get_kernel(load(context, HEAD MERGE), NULL);
    uint64_t buffer = new_buffer(context, 4 * CTAS * THREADS);
    lw_launch_config config = shape(CTAS, THREADS);
    const lw_launch_note *notes;
    assert_int_equal(lw_launch_notes(context, &notes), 0);
    assert_null(notes);
    for (int round = 0; round < 3; round++) { /* a launch counts anew */
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
        assert_int_equal(lw_launch_notes(context, &notes), 1);
        assert_int_equal(notes->number, 5100);
        assert_int_equal(notes->line, MERGE_LINE);
        assert_int_equal(notes->column, 2);
        assert_int_equal(notes->count, CTAS * THREADS - 2);
        assert_string_equal(notes->message, "the manual and sm_90 give different results");
    }
    assert_int_equal(read_word(context, buffer + 36), word_9);
    config = shape(1, 2); /* both lanes agree */
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(lw_launch_notes(context, NULL), 0);
    lw_context_free(context);
}

static void both_semantics_count_the_same(void **state) {
    (void)state;
    check_merge("manual", 0x00040005);
    check_merge("sm_90", 0x00000005);
}

static void *launch_on_another_thread(void *user) {
    lw_kernel *const *kernel_and_context = user;
    lw_context *context = (lw_context *)(void *)kernel_and_context[1];
    uint64_t buffer = new_buffer(context, 4 * THREADS);
    lw_launch_config config = shape(1, THREADS);
    assert_int_equal(lw_launch_notes(context, NULL), 0);
    assert_int_equal(lw_launch(kernel_and_context[0], &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(lw_launch_notes(context, NULL), 1);
    return NULL;
}

static void each_thread_sees_its_own_launch(void **state) {
    (void)state;
    lw_context *context = context_of("manual");
    lw_module *module = load(context, HEAD MERGE AFFINE);
    lw_kernel *merge = get_kernel(module, "merge"), *affine = get_kernel(module, "affine");
    lw_kernel *kernel_and_context[] = {merge, (lw_kernel *)(void *)context};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, launch_on_another_thread, kernel_and_context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(lw_launch_notes(context, NULL), 0);

    uint64_t buffer = new_buffer(context, 4 * THREADS);
    uint32_t add = 1;
    lw_launch_config config = shape(1, THREADS);
    assert_int_equal(lw_launch(merge, &config, (void *[]){&buffer}, NULL), LW_OK);
    assert_int_equal(lw_launch_notes(context, NULL), 1);
    assert_int_equal(lw_launch(affine, &config, (void *[]){&buffer, &add}, NULL), LW_OK);
    assert_int_equal(lw_launch_notes(context, NULL), 0);
    lw_context_free(context);
}

static void names_of_semantics(void **state) {
    (void)state;
    lw_context *context;
    assert_int_equal(setenv("LANEWISE_SEMANTICS", "sm_90", 1), 0);
    assert_int_equal(lw_context_new(NULL, &context), LW_OK);
    assert_string_equal(lw_context_semantics(context), "sm_90");
    lw_context_free(context);
    context = context_of("manual"); /* the option wins */
    lw_context_free(context);
    assert_int_equal(setenv("LANEWISE_SEMANTICS", "sm_91", 1), 0);
    assert_int_equal(lw_context_new(NULL, &context), LW_BAD_ARGUMENT);
    assert_null(context);
    assert_int_equal(unsetenv("LANEWISE_SEMANTICS"), 0);
    assert_int_equal(lw_context_new(&(lw_options){.semantics = "Manual"}, &context), LW_BAD_ARGUMENT);
    assert_int_equal(lw_context_new(NULL, &context), LW_OK);
    assert_string_equal(lw_context_semantics(context), "manual");
    lw_context_free(context);
    assert_string_equal(lw_context_semantics(NULL), "");
    assert_int_equal(lw_launch_notes(NULL, NULL), 0);
}

int main(void) {
    unsetenv("LANEWISE_SEMANTICS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_semantics_count_the_same),
        cmocka_unit_test(each_thread_sees_its_own_launch),
        cmocka_unit_test(names_of_semantics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
