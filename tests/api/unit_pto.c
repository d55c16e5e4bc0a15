/* PTO through the public interface: options, what parameters say, shapes of launches, what a launch refuses, notes,
 * traps, several threads. */
#include <stdio.h>

#include "api.h"

#define V "!pto.vreg<64xi32>"
#define M "!pto.mask<b32>"
#define TEXT \
    "func.func @shift(%a: " V ", %n: " V ", %m: " M ") -> " V " {\n" \
    "  %r = pto.vshr %a, %n, %m : (" V ", " V ", " M ") -> " V "\n" \
    "  return %r : " V "\n" \
    "}\n" \
    "func.func @memory(%x: memref<100xi16>, %y: memref<?xi64>, %i: index, %k: u8) -> i32 {\n" \
    "  %c = arith.constant 7 : i32\n" \
    "  return %c : i32\n" \
    "}\n" \
    "func.func @widths(%a: " V ", %b: !pto.vreg<128xi16>) {\n" \
    "  return\n" \
    "}\n" \
    "func.func private @declared(%a: " V ")\n"

static lw_module *load_pto(lw_context *context, const lw_module_options *options, const char *text) {
    lw_module *module;
    if (lw_module_load(context, options, "test.pto", text, strlen(text), &module) != LW_OK)
        fail_msg("%s", module ? lw_module_diagnostics(module, false) : lw_context_message(context));
    return module;
}

static void options_choose_the_language(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module;
    const char *text = "func.func @f() {\n  return\n}\n";
    static const struct {
        const char *name, *language;
        lw_status want;
    } cases[] = {
        {"a.pto", NULL, LW_OK},         {"a.mlir", NULL, LW_OK},
        {"a.ptx", NULL, LW_BAD_SOURCE}, {NULL, NULL, LW_BAD_SOURCE},
        {"a.ptx", "pto", LW_OK},        {"a.pto", "ptx", LW_BAD_SOURCE},
        {"a.pto", "", LW_OK},           {"a.pto", "llvm", LW_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_module_options options = {.language = cases[i].language};
        assert_int_equal(lw_module_load(context, &options, cases[i].name, text, strlen(text), &module), cases[i].want);
        lw_module_free(module);
    }
    assert_int_equal(lw_module_new(context, "a.pto", text, strlen(text), &module), LW_OK);
    static const lw_module_options wrong[] = {{.target = "a4"}, {.inactive = "one"}, {.shift_overflow = "wrap"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(lw_module_load(context, &wrong[i], "a.pto", text, strlen(text), &module), LW_BAD_ARGUMENT);
        assert_null(module);
        assert_non_null(strstr(lw_context_message(context), "LW4050"));
    }
    const char *narrow = "func.func @f(%a: !pto.vreg<8xi32>) {\n  return\n}\n"; /* not 2048 bits */
    assert_int_equal(
        lw_module_load(context, &(lw_module_options){.target = "a5"}, "a.pto", narrow, strlen(narrow), &module),
        LW_BAD_SOURCE);
    lw_context_free(context);
}

static void expect_param(lw_kernel *kernel, uint32_t index, const char *name, const char *type, uint32_t offset,
                         const char *element, uint64_t elements, bool is_register, bool is_result) {
    lw_param_info param = lw_kernel_param(kernel, index);
    assert_string_equal(param.name, name);
    assert_string_equal(param.type, type);
    assert_int_equal(param.offset, offset);
    assert_int_equal(param.is_pointer, element != NULL);
    assert_int_equal(param.elements, elements);
    assert_int_equal(param.is_register, is_register);
    assert_int_equal(param.is_result, is_result);
    if (element) assert_string_equal(param.element, element);
    else assert_null(param.element);
}

static void parameters_are_described(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load_pto(context, NULL, TEXT);
    assert_int_equal(lw_module_kernel_count(module), 3); /* a declaration is no kernel */
    assert_string_equal(lw_module_kernel_name(module, 0), "shift");
    lw_kernel *shift = get_kernel(module, "shift"), *memory = get_kernel(module, "memory");
    lw_kernel_info info = lw_kernel_get_info(shift);
    assert_int_equal(info.param_count, 5);
    assert_int_equal(info.param_bytes, 40);
    assert_int_equal(info.lanes, 64);
    assert_true(info.has_arrays);
    expect_param(shift, 0, "a", "u64", 0, "s32", 64, true, false);
    expect_param(shift, 2, "m", "u64", 16, "u8", 64, true, false);
    assert_true(lw_kernel_param(shift, 2).is_mask && !lw_kernel_param(shift, 0).is_mask);
    expect_param(shift, 3, "result", "u64", 24, "s32", 64, true, true);
    expect_param(shift, 4, "count", "u64", 32, NULL, 0, false, false);
    expect_param(memory, 0, "x", "u64", 0, "s16", 100, false, false);
    expect_param(memory, 1, "y", "u64", 8, "s64", 0, false, false);
    expect_param(memory, 2, "i", "s64", 16, NULL, 0, false, false);
    expect_param(memory, 3, "k", "u8", 24, NULL, 0, false, false);
    expect_param(memory, 4, "result", "u64", 32, "s32", 1, false, true);
    assert_false(lw_kernel_get_info(memory).has_arrays);
    assert_int_equal(lw_module_global(module, "x", NULL, NULL), LW_NOT_FOUND);
    lw_context_free(context);
}

/* Where each parameter lies is found in one pass: with one for each of them this would not end. */
static void many_parameters_are_described(void **state) {
    (void)state;
    enum { MANY = 200000 };
    static char text[MANY * 16 + 64];
    size_t size = (size_t)sprintf(text, "func.func @f(%%first: i8");
    for (int i = 0; i < MANY; i++) size += (size_t)sprintf(text + size, ", %%a%d: i32", i);
    sprintf(text + size, ") {\n}\n");
    lw_context *context = new_context(1);
    lw_module *module = load_pto(context, NULL, text);
    lw_kernel *f = get_kernel(module, "f");
    assert_int_equal(lw_kernel_get_info(f).param_count, 1 + MANY);
    assert_int_equal(lw_kernel_get_info(f).param_bytes, 4 + 4 * MANY);
    expect_param(f, MANY, "a199999", "s32", 4 * MANY, NULL, 0, false, false);
    lw_context_free(context);
}

static void shapes_follow_from_elements(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load_pto(context, NULL, TEXT), *ptx = load(context, HEAD AFFINE);
    lw_kernel *shift = get_kernel(module, "shift"), *memory = get_kernel(module, "memory"),
              *widths = get_kernel(module, "widths");
    lw_launch_config config = {.step_limit = 5};
    for (uint64_t count = 1; count < 5000; count = count * 3 + 1) {
        assert_int_equal(lw_launch_shape(shift, count, &config), LW_OK);
        assert_true((uint64_t)config.grid[0] * config.block[0] >= count &&
                    (uint64_t)(config.grid[0] - 1) * config.block[0] < count);
        assert_int_equal(config.step_limit, 5);
    }
    assert_int_equal(lw_launch_shape(memory, 1, &config), LW_OK);
    assert_int_equal(config.grid[0] * config.block[0], 1);
    assert_int_equal(lw_launch_shape(widths, 256, &config), LW_OK);
    assert_int_equal(config.block[0], 128);
    assert_int_equal(lw_launch_shape(widths, 200, &config), LW_OK); /* a repeat and a part of one */
    assert_int_equal(config.grid[0], 2);
    assert_int_equal(config.block[0], 128);
    assert_int_equal(lw_launch_shape(shift, 0, &config), LW_BAD_ARGUMENT);
    assert_int_equal(lw_launch_shape(shift, UINT64_C(1) << 32, &config), LW_BAD_ARGUMENT);
    assert_int_equal(lw_launch_shape(get_kernel(ptx, "affine"), 1, &config), LW_BAD_ARGUMENT);
    assert_int_equal(lw_launch_shape(NULL, 1, &config), LW_BAD_ARGUMENT);
    assert_int_equal(lw_launch_shape(shift, 1, NULL), LW_BAD_ARGUMENT);
    lw_context_free(context);
}

enum { COUNT = 10000 };

/* a >> n of each element that the mask has; a is -1000 - i, n is i % 40. */
static lw_status launch_shift(lw_context *context, lw_module *module, uint64_t count, const lw_launch_config *shape,
                              int32_t *result) {
    lw_kernel *shift = get_kernel(module, "shift");
    static int32_t a[COUNT], n[COUNT];
    static uint8_t mask[COUNT];
    for (int i = 0; i < COUNT; i++) a[i] = -1000 - i, n[i] = i % 40, mask[i] = i % 3 != 0;
    uint64_t buffers[4];
    for (int i = 0; i < 4; i++) buffers[i] = new_buffer(context, i == 2 ? COUNT : 4 * COUNT);
    assert_int_equal(lw_memory_write(context, buffers[0], a, sizeof a), LW_OK);
    assert_int_equal(lw_memory_write(context, buffers[1], n, sizeof n), LW_OK);
    assert_int_equal(lw_memory_write(context, buffers[2], mask, sizeof mask), LW_OK);
    lw_launch_config config = {0};
    if (shape) config = *shape;
    else assert_int_equal(lw_launch_shape(shift, count, &config), LW_OK);
    lw_status status =
        lw_launch(shift, &config, (void *[]){&buffers[0], &buffers[1], &buffers[2], &buffers[3], &count}, NULL);
    if (status == LW_OK) assert_int_equal(lw_memory_read(context, buffers[3], result, 4 * COUNT), LW_OK);
    return status;
}

static void check_shift(const int32_t *result, uint64_t count) {
    for (uint64_t i = 0; i < COUNT; i++) {
        int32_t want = i < count && i % 3 != 0 ? (int32_t)((-1000 - (int64_t)i) >> (i % 40)) : 0;
        if (result[i] != want)
            fail_msg("element %llu of %llu is %d, not %d", (unsigned long long)i, (unsigned long long)count, result[i],
                     want);
    }
}

static void repeats_end_with_the_array(void **state) {
    (void)state;
    static int32_t result[COUNT];
    for (uint32_t threads = 1; threads < 5; threads += 3) {
        lw_context *context = new_context(threads);
        lw_module *module = load_pto(context, NULL, TEXT);
        static const uint64_t counts[] = {1, 63, 64, 65, 127, 128, 129, 1000, 1024, 4097, COUNT};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            assert_int_equal(launch_shift(context, module, counts[i], NULL, result), LW_OK);
            check_shift(result, counts[i]);
        }
        /* Any size of CTAs does, as nothing depends on other lanes. */
        lw_launch_config config = {.grid = {(COUNT + 95) / 96, 1, 1}, .block = {96, 1, 1}};
        assert_int_equal(launch_shift(context, module, COUNT, &config, result), LW_OK);
        check_shift(result, COUNT);
        lw_context_free(context);
    }
}

static void wrong_launches_are_refused(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load_pto(context, NULL, TEXT);
    static int32_t result[COUNT];
    static const lw_launch_config shapes[] = {
        {.grid = {1, 1, 1}, .block = {64, 1, 1}},   /* too few threads */
        {.grid = {100, 1, 1}, .block = {64, 1, 1}}, /* too many */
        {.grid = {1, 2, 1}, .block = {64, 1, 1}},
        {.grid = {2, 1, 1}, .block = {32, 2, 1}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_int_equal(launch_shift(context, module, 128, &shapes[i], result), LW_BAD_ARGUMENT);
        assert_non_null(strstr(lw_context_message(context), "LW4054"));
    }
    lw_kernel *memory = get_kernel(module, "memory");
    uint64_t x = new_buffer(context, 199), y = new_buffer(context, 8), r = new_buffer(context, 4), i = 0;
    uint8_t k = 1;
    lw_launch_config config = {0};
    assert_int_equal(lw_launch_shape(memory, 1, &config), LW_OK);
    assert_int_equal(lw_launch(memory, &config, (void *[]){&x, &y, &i, &k, &r}, NULL),
                     LW_BAD_ARGUMENT); /* 99 elements and a half */
    assert_non_null(strstr(lw_context_message(context), "LW4055"));
    x = new_buffer(context, 200);
    assert_int_equal(lw_launch(memory, &config, (void *[]){&x, &y, &i, &k, &r}, NULL), LW_OK);
    int32_t seven = 0;
    assert_int_equal(lw_memory_read(context, r, &seven, 4), LW_OK);
    assert_int_equal(seven, 7);
    lw_context_free(context);
}

static void large_counts_are_noted_or_trap(void **state) {
    (void)state;
    static int32_t result[COUNT];
    lw_context *context = new_context(2);
    uint64_t want = 0;
    for (int i = 0; i < COUNT; i++) want += i % 3 != 0 && i % 40 >= 32;
    static const struct {
        const char *overflow;
        uint32_t number;
    } noted[] = {{NULL, 5105}, {"saturate", 5105}, {"modulo", 5106}};
    for (size_t i = 0; i < 3; i++) {
        lw_module *module = load_pto(context, &(lw_module_options){.shift_overflow = noted[i].overflow}, TEXT);
        assert_int_equal(launch_shift(context, module, COUNT, NULL, result), LW_OK);
        const lw_launch_note *notes;
        assert_int_equal(lw_launch_notes(context, &notes), 1);
        assert_int_equal(notes[0].number, noted[i].number);
        assert_int_equal(notes[0].line, 2);
        assert_int_equal(notes[0].count, want);
        if (i < 2) check_shift(result, COUNT);
        assert_int_equal(result[32], i < 2 ? -1 : -1032);
    }
    lw_module *module = load_pto(context, &(lw_module_options){.shift_overflow = "trap"}, TEXT);
    assert_int_equal(launch_shift(context, module, COUNT, NULL, result), LW_TRAPPED);
    lw_trap_info trap;
    assert_true(lw_trap(context, &trap));
    assert_int_equal(trap.number, 5011);
    assert_int_equal(trap.line, 2);
    assert_string_equal(trap.kernel, "shift");
    assert_non_null(strstr(trap.message, "a shift by 32"));
    assert_non_null(strstr(trap.report, "function 'shift', repeat 0, lane 32"));
    assert_int_equal(launch_shift(context, module, 32, NULL, result), LW_OK); /* none of these is too large */
    lw_context_free(context);
}

/* Braces of a loop in a loop, of a branch that is not taken, and of the function, which runs for three registers. */
static void regions_are_counted(void **state) {
    (void)state;
    const char *text = "func.func @f(%a: !pto.vreg<5xi8>, %n: index, %t: i1) {\n"
                       "  %c0 = arith.constant 0 : index\n"
                       "  %c1 = arith.constant 1 : index\n"
                       "  scf.for %i = %c0 to %n step %c1 {\n"
                       "    scf.for %j = %c0 to %i step %c1 { }\n"
                       "  }\n"
                       "  scf.if %t { } else {\n"
                       "  }\n"
                       "}\n";
    static const struct {
        uint32_t line, column;
        uint64_t count;
    } want[] = {{5, 39, 3 * 6}, {6, 3, 3 * 4}, {8, 3, 3}, {9, 1, 3}};
    lw_context *context = new_context(2);
    lw_module *module = load_pto(context, &(lw_module_options){.count_regions = true}, text);
    lw_kernel *f = get_kernel(module, "f");
    uint64_t a = new_buffer(context, 15), n = 4, count = 12;
    uint8_t t = 0;
    lw_launch_config config = {0};
    assert_int_equal(lw_launch_shape(f, count, &config), LW_OK);
    assert_int_equal(lw_launch(f, &config, (void *[]){&a, &n, &t, &count}, NULL), LW_OK);
    const lw_launch_note *notes;
    assert_int_equal(lw_launch_notes(context, &notes), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(notes[i].number, 5107);
        assert_int_equal(notes[i].line, want[i].line);
        assert_int_equal(notes[i].column, want[i].column);
        assert_int_equal(notes[i].count, want[i].count);
    }
    module = load_pto(context, NULL, text);
    assert_int_equal(lw_launch(get_kernel(module, "f"), &config, (void *[]){&a, &n, &t, &count}, NULL), LW_OK);
    assert_int_equal(lw_launch_notes(context, NULL), 0);
    lw_context_free(context);
}

/* Rows of registers of one context may be asked to go into the constants of another module: loaded they are, stored
 * not, also where all that rows have met before are those constants. The host may write them. */
static void constants_are_read_only(void **state) {
    (void)state;
#define LOAD(v) "    %" v " = pto.vload %x[%i], %all : (memref<?xi32>, !pto.mask<32>) -> !pto.vreg<32xi32>\n"
/* clang-format off */
#define LOADS(v) LOAD(v "0") LOAD(v "1") LOAD(v "2") LOAD(v "3")
    /* clang-format on */
    const char *text =
        "func.func @f(%x: memref<?xi32>, %y: memref<?xi32>, %n: index) {\n"
        "  %all = pto.mask.all : !pto.mask<32>\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %c32 = arith.constant 32 : index\n"
        "  scf.for %i = %c0 to %n step %c32 {\n" LOADS("a") LOADS("b") LOADS("g") LOADS("d")
            LOADS("e") "  }\n"
                       "  scf.for %i = %c0 to %n step %c32 {\n" LOAD(
                           "v") "    pto.vstore %v, %y[%i], %all : !pto.vreg<32xi32>, memref<?xi32>, !pto.mask<32>\n"
                                "  }\n"
                                "  return\n"
                                "}\n";
    lw_context *context = new_context(1);
    lw_module *constants = load(context, HEAD ".const .align 16 .b32 table[128];\n.entry k() { ret; }\n");
    lw_kernel *f = get_kernel(load_pto(context, NULL, text), "f");
    uint64_t table, size, buffer = new_buffer(context, 512), n = 128;
    int32_t values[128], got[128];
    for (int i = 0; i < 128; i++) values[i] = i * i;
    assert_int_equal(lw_module_global(constants, "table", &table, &size), LW_OK);
    assert_int_equal(lw_memory_write(context, table, values, size), LW_OK);
    lw_launch_config config = {0};
    assert_int_equal(lw_launch_shape(f, 1, &config), LW_OK);
    assert_int_equal(lw_launch(f, &config, (void *[]){&table, &buffer, &n}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, buffer, got, sizeof got), LW_OK);
    assert_memory_equal(got, values, sizeof got);
    assert_int_equal(lw_launch(f, &config, (void *[]){&table, &table, &n}, NULL), LW_TRAPPED);
    lw_trap_info trap;
    assert_true(lw_trap(context, &trap));
    assert_int_equal(trap.number, 5002);
    assert_int_equal(trap.line, 29);
    assert_int_equal(trap.address, table);
    int32_t minus = -1;
    assert_int_equal(lw_memory_write(context, table, &minus, sizeof minus), LW_OK);
    values[0] = -1;
    assert_int_equal(lw_memory_read(context, table, got, sizeof got), LW_OK);
    assert_memory_equal(got, values, sizeof got);
    lw_context_free(context);
}

static void expect_message(lw_context *context, lw_status got, lw_status want, const char *text) {
    assert_int_equal(got, want);
    if (!strstr(lw_context_message(context), text)) fail_msg("%s, not %s", lw_context_message(context), text);
}

static void messages_say_function(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load_pto(context, NULL, TEXT),
              *declared = load_pto(context, NULL, "func.func private @none()\n");
    lw_kernel *kernel;
    expect_message(context, lw_module_kernel(module, NULL, &kernel), LW_NOT_FOUND,
                   "the module has 3 functions; one must be named");
    expect_message(context, lw_module_kernel(module, "nix", &kernel), LW_NOT_FOUND,
                   "the module has no function named 'nix'");
    expect_message(context, lw_module_kernel(declared, NULL, &kernel), LW_NOT_FOUND,
                   "the module has no function [LW4001]");
    lw_kernel *shift = get_kernel(module, "shift");
    lw_launch_config config = {0};
    assert_int_equal(lw_launch_shape(shift, 64, &config), LW_OK);
    expect_message(context, lw_launch(shift, &config, NULL, NULL), LW_BAD_ARGUMENT,
                   "function 'shift' takes 5 parameters");
    expect_message(context, lw_launch(shift, &config, (void *[5]){0}, NULL), LW_BAD_ARGUMENT,
                   "parameter 0 ('a') of function 'shift' has no value");
    config.param_buffer = "", config.param_buffer_size = 1;
    expect_message(context, lw_launch(shift, &config, NULL, NULL), LW_BAD_ARGUMENT, "function 'shift' takes 40");
    config.block[0] = 5000;
    expect_message(context, lw_launch(shift, &config, NULL, NULL), LW_BAD_ARGUMENT, "5000 threads: 4096 are the most");
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_choose_the_language),    cmocka_unit_test(parameters_are_described),
        cmocka_unit_test(many_parameters_are_described),  cmocka_unit_test(shapes_follow_from_elements),
        cmocka_unit_test(repeats_end_with_the_array),     cmocka_unit_test(wrong_launches_are_refused),
        cmocka_unit_test(large_counts_are_noted_or_trap), cmocka_unit_test(regions_are_counted),
        cmocka_unit_test(constants_are_read_only),        cmocka_unit_test(messages_say_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
