/* once_sizes.c: structs of callers that are older or newer than the library. What a member that is there does is for
 * other tests. */
#include "api.h"

/* What a program of a later version hands over: all that is known here, and a member behind it. */
typedef struct newer {
    union {
        lw_options options;
        lw_module_options module;
        lw_launch_config config;
    };
    uint64_t more;
} newer;

static void later(newer *n, size_t size) {
    memset(n, 0, sizeof *n);
    n->options.size = size; /* the first member of each */
}

static void options_of_any_size(void **state) {
    (void)state;
    lw_context *context;
    const size_t sizes[] = {0, sizeof(lw_options)};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(lw_context_new(&(lw_options){.size = sizes[i], .threads = 3, .semantics = "sm_90"}, &context),
                         LW_OK);
        assert_int_equal(lw_context_threads(context), 3);
        assert_string_equal(lw_context_semantics(context), "sm_90");
        lw_context_free(context);
    }
    /* Members behind what the caller knows may be anything. */
    lw_options old = {.size = offsetof(lw_options, cpu), .threads = 2, .cpu = "v9", .semantics = "x", .engine = "x"};
    assert_int_equal(lw_context_new(&old, &context), LW_OK);
    assert_int_equal(lw_context_threads(context), 2);
    lw_context_free(context);
    old.size = offsetof(lw_options, memory_limit);
    assert_int_equal(lw_context_new(&old, &context), LW_BAD_ARGUMENT); /* cpu is among them now */
    old.size = 1;
    assert_int_equal(lw_context_new(&old, &context), LW_BAD_ARGUMENT);
    assert_non_null(strstr(lw_context_message(NULL), "lw_options has 1 bytes"));
}

static void options_of_a_later_version(void **state) {
    (void)state;
    lw_context *context;
    union {
        lw_options options;
        char bytes[sizeof(lw_options) + 8];
    } n = {.options = {.size = sizeof n, .threads = 1}};
    assert_int_equal(lw_context_new(&n.options, &context), LW_OK);
    lw_context_free(context);
    n.bytes[sizeof n - 1] = 1;
    assert_int_equal(lw_context_new(&n.options, &context), LW_BAD_ARGUMENT);
    assert_null(context);
    assert_non_null(strstr(lw_context_message(NULL), "[LW4013]"));
}

static void modules_and_launches(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module;
    lw_kernel *kernel;
    newer n;
    later(&n, sizeof n);
    n.module.language = "ptx";
    assert_int_equal(lw_module_load(context, &n.module, "k.txt", HEAD AFFINE, strlen(HEAD AFFINE), &module), LW_OK);
    assert_int_equal(lw_module_kernel(module, "affine", &kernel), LW_OK);
    uint64_t out;
    uint32_t add = 5, words[8];
    void *params[] = {&out, &add};
    assert_int_equal(lw_memory_new(context, sizeof words, &out), LW_OK);
    later(&n, sizeof n);
    for (int i = 0; i < 3; i++) n.config.grid[i] = n.config.block[i] = 1;
    n.config.block[0] = 8;
    assert_int_equal(lw_launch(kernel, &n.config, params, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, out, words, sizeof words), LW_OK);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(words[i], 3 * i + add);
    n.more = 1;
    assert_int_equal(lw_launch(kernel, &n.config, params, NULL), LW_BAD_ARGUMENT);
    assert_non_null(strstr(lw_context_message(context), "lw_launch_config"));
    n.config.size = offsetof(lw_launch_config, time_limit); /* … and what is behind it may be nonsense */
    n.config.time_limit = -1;
    assert_int_equal(lw_launch(kernel, &n.config, params, NULL), LW_OK);
    later(&n, sizeof n);
    n.more = 1;
    lw_module *none;
    assert_int_equal(lw_module_load(context, &n.module, "k.txt", HEAD AFFINE, strlen(HEAD AFFINE), &none),
                     LW_BAD_ARGUMENT);
    assert_null(none);
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_any_size),
        cmocka_unit_test(options_of_a_later_version),
        cmocka_unit_test(modules_and_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
