/* Contexts, modules, kernels, variables: what the public interface promises about each, and how each refuses. */
#include "api.h"

#include <stdio.h>

/* ---- Contexts ----------------------------------------------------------------------------------------------- */

static void context_tells_its_options(void **state) {
    (void)state;
    lw_context *context = new_context(3);
    assert_int_equal(lw_context_threads(context), 3);
    assert_string_equal(lw_context_message(context), "");
    const char *const *level = lw_cpu_levels();
    while (*level && strcmp(*level, lw_context_cpu(context))) level++;
    assert_non_null(*level);
    assert_true(lw_cpu_has(*level));
    lw_context_free(context);
}

static void context_takes_every_level_that_the_machine_has(void **state) {
    (void)state;
    size_t count = 0;
    for (const char *const *level = lw_cpu_levels(); *level; level++, count++) {
        lw_context *context;
        lw_status status = lw_context_new(&(lw_options){.cpu = *level}, &context);
        assert_int_equal(status, lw_cpu_has(*level) ? LW_OK : LW_BAD_ARGUMENT);
        if (status == LW_OK) assert_string_equal(lw_context_cpu(context), *level);
        else assert_null(context);
        lw_context_free(context);
    }
    assert_true(count >= 1);
    assert_string_equal(lw_cpu_levels()[count - 1], "portable");
    assert_true(lw_cpu_has("portable"));
    assert_false(lw_cpu_has("v9"));
    assert_false(lw_cpu_has(NULL));
}

static void context_refuses_nonsense(void **state) {
    (void)state;
    lw_context *context = (lw_context *)state;
    assert_int_equal(lw_context_new(&(lw_options){.cpu = "v9"}, &context), LW_BAD_ARGUMENT);
    assert_null(context);
    assert_message(NULL, "cpu 'v9': the levels are ");
    assert_int_equal(lw_context_new(&(lw_options){.threads = 100000}, &context), LW_BAD_ARGUMENT);
    assert_message(NULL, "threads '100000': 4096 threads are the most [LW4010]");
    assert_int_equal(lw_context_new(&(lw_options){.semantics = "x"}, &context), LW_BAD_ARGUMENT);
    assert_message(NULL, "semantics 'x': the semantics are manual and sm_90 [LW4010]");
    assert_int_equal(lw_context_new(&(lw_options){.engine = "x"}, &context), LW_BAD_ARGUMENT);
    assert_message(NULL, "engine 'x': it must be auto, interp or jit [LW4010]");
    assert_int_equal(lw_context_new(NULL, NULL), LW_BAD_ARGUMENT);
    const char *before = getenv("LANEWISE_THREADS");
    char *kept = before ? strdup(before) : NULL;
    setenv("LANEWISE_THREADS", "-3", 1);
    assert_int_equal(lw_context_new(NULL, &context), LW_BAD_ARGUMENT);
    assert_message(NULL, "LANEWISE_THREADS '-3': this is no number of threads [LW4010]");
    setenv("LANEWISE_THREADS", "2", 1);
    assert_int_equal(lw_context_new(NULL, &context), LW_OK);
    assert_int_equal(lw_context_threads(context), 2);
    lw_context_free(context);
    if (kept) setenv("LANEWISE_THREADS", kept, 1);
    else unsetenv("LANEWISE_THREADS");
    free(kept);
}

static void null_handles_are_refused(void **state) {
    (void)state;
    lw_module *module;
    lw_kernel *kernel;
    lw_trap_info trap;
    uint64_t address = 0;
    lw_launch_config config = shape(1, 1);
    lw_context_free(NULL);
    lw_module_free(NULL);
    lw_context_stop(NULL);
    assert_int_equal(lw_module_new(NULL, "x", "", 0, &module), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_kernel(NULL, "x", &kernel), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_global(NULL, "x", NULL, NULL), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_new(NULL, 1, &address), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_free(NULL, 1), LW_BAD_ARGUMENT);
    assert_int_equal(lw_launch(NULL, &config, NULL, NULL), LW_BAD_ARGUMENT);
    assert_false(lw_trap(NULL, &trap));
    assert_int_equal(lw_module_kernel_count(NULL), 0);
    assert_int_equal(lw_module_diagnostic_count(NULL), 0);
}

static void version_and_status_have_words(void **state) {
    (void)state;
    assert_string_equal(lw_version(), LW_VERSION);
    for (int status = LW_OK; status <= LW_UNSUPPORTED; status++)
        for (int other = LW_OK; other < status; other++)
            assert_string_not_equal(lw_status_name((lw_status)status), lw_status_name((lw_status)other));
    assert_non_null(lw_status_name((lw_status)99));
}

/* ---- Modules --------------------------------------------------------------------------------------------------- */

static void module_lists_its_kernels(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module =
        load(context, HEAD ".visible .entry one() { ret; }\n.func helper() { ret; }\n.entry two() { ret; }\n");
    assert_int_equal(lw_module_kernel_count(module), 2);
    assert_string_equal(lw_module_kernel_name(module, 0), "one");
    assert_string_equal(lw_module_kernel_name(module, 1), "two");
    assert_null(lw_module_kernel_name(module, 2));
    assert_int_equal(lw_module_diagnostic_count(module), 0);
    assert_string_equal(lw_module_diagnostics(module, false), "");
    lw_kernel *kernel, *again;
    assert_int_equal(lw_module_kernel(module, "one", &kernel), LW_OK);
    assert_int_equal(lw_module_kernel(module, "one", &again), LW_OK);
    assert_ptr_equal(kernel, again);
    assert_int_equal(lw_module_kernel(module, "helper", &kernel), LW_NOT_FOUND);
    assert_null(kernel);
    assert_message(context, "'helper'");
    assert_int_equal(lw_module_kernel(module, NULL, &kernel), LW_NOT_FOUND);
    assert_message(context, "2 kernels");
    assert_int_equal(lw_module_kernel(module, "one", NULL), LW_BAD_ARGUMENT);
    lw_module_free(module);
    module = load(context, HEAD ".entry only() { ret; }");
    assert_int_equal(lw_module_kernel(module, NULL, &kernel), LW_OK);
    assert_string_equal(lw_kernel_get_info(kernel).name, "only");
    lw_module_free(module);
    module = load(context, HEAD);
    assert_int_equal(lw_module_kernel(module, NULL, &kernel), LW_NOT_FOUND);
    lw_context_free(context); /* with the module */
}

static void module_with_errors_tells_them(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    const char *text = HEAD ".entry k()\n{\n  nonsense.u32 %r1;\n}\n";
    lw_module *module;
    lw_kernel *kernel;
    assert_int_equal(lw_module_new(context, "bad.ptx", text, strlen(text), &module), LW_BAD_SOURCE);
    assert_non_null(module);
    assert_true(lw_module_diagnostic_count(module) >= 1);
    lw_diagnostic first = lw_module_diagnostic(module, 0);
    assert_int_equal(first.severity, 2);
    assert_int_equal(first.line, 6);
    assert_non_null(strstr(lw_module_diagnostics(module, false), "bad.ptx:6:"));
    assert_non_null(strstr(lw_module_diagnostics(module, true), "\33["));
    const char *title;
    assert_non_null(lw_explain_diagnostic(first.number, &title));
    assert_non_null(title);
    assert_int_equal(lw_module_kernel_count(module), 0);
    assert_int_equal(lw_module_kernel(module, "k", &kernel), LW_BAD_SOURCE);
    assert_int_equal(lw_module_global(module, "v", NULL, NULL), LW_NOT_FOUND);
    lw_diagnostic none = lw_module_diagnostic(module, 1000);
    assert_string_equal(none.message, "");
    lw_module_free(module);
    load(context, HEAD ".entry k() { ret; }"); /* the context is as good as new */
    lw_context_free(context);
    assert_null(lw_explain_diagnostic(9999, &title));
    assert_null(title);
}

static void module_text_is_copied(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    char text[] = HEAD ".entry k() { trap; }", name[] = "copied.ptx";
    lw_module *module;
    assert_int_equal(lw_module_new(context, name, text, strlen(text), &module), LW_OK);
    memset(text, 'x', sizeof text - 1);
    memset(name, 'y', sizeof name - 1);
    lw_kernel *kernel = get_kernel(module, NULL);
    lw_launch_config config = shape(1, 1);
    assert_int_equal(lw_launch(kernel, &config, NULL, NULL), LW_TRAPPED);
    lw_trap_info trap;
    assert_true(lw_trap(context, &trap));
    lw_module_free(module); /* the record outlives it */
    assert_string_equal(trap.file, "copied.ptx");
    assert_string_equal(trap.kernel, "k");
    assert_non_null(strstr(trap.report, "trap;"));
    lw_context_free(context);
}

/* Modules of a context share what they know of spellings. Version and target gates are each module's own: BoolOp of
 * lop3 has been there since ISA 8.2 (manual section 9.7.8.6), and shfl without .sync is gone from sm_70 on
 * (section 9.7.9.5). */
static void modules_have_their_own_gates(void **state) {
    (void)state;
    const char *body =
        "\n.visible .entry k()\n{\n  .reg .b32 %r<4>;\n  .reg .pred %p<2>;\n"
        "  lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x1a, %p1;\n  shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;\n  ret;\n}\n";
    static const struct {
        const char *head;
        bool good;
    } cases[] = {
        {".version 8.2\n.target sm_70\n.address_size 64", true},
        {".version 8.1\n.target sm_70\n.address_size 64", false},
        {".version 8.2\n.target sm_60\n.address_size 64", false},
        {".version 8.2\n.target sm_70\n.address_size 64", true},
    };
    lw_context *context = new_context(1);
    for (int freed = 0; freed < 2; freed++) /* of modules that are there, and of those that are gone */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char text[512];
            lw_module *module;
            snprintf(text, sizeof text, "%s%s", cases[i].head, body);
            lw_status status = lw_module_new(context, "gates", text, strlen(text), &module);
            assert_int_equal(status, cases[i].good ? LW_OK : LW_BAD_SOURCE);
            const char *found = lw_module_diagnostics(module, false);
            if (!cases[i].good) assert_non_null(strstr(found, "lop3.or"));
            if (cases[i].good) get_kernel(module, NULL);
            if (freed) lw_module_free(module);
        }
    lw_context_free(context);
}

static void module_refuses_undefined_variables(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    const char *text = HEAD ".extern .global .u32 elsewhere;\n.entry k() { ret; }";
    lw_module *module;
    assert_int_equal(lw_module_new(context, "x", text, strlen(text), &module), LW_BAD_SOURCE);
    assert_non_null(strstr(lw_module_diagnostics(module, false), "'elsewhere'"));
    lw_context_free(context);
}

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

static void kernel_describes_itself(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, HEAD ".entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, "
                                           ".param .align 4 .b8 c[6], .param .u16 d)\n"
                                           ".maxntid 64, 2\n{ .shared .align 8 .b8 buffer[100]; .local .b8 "
                                           "frame[40]; .reg .u64 %r; mov.u64 %r, buffer;\n"
                                           " mov.u64 %r, frame; st.local.u8 [%r], 1; ret; }");
    lw_kernel_info info = lw_kernel_get_info(get_kernel(module, "k"));
    assert_int_equal(info.param_count, 4);
    assert_int_equal(info.max_threads, 128);
    assert_int_equal(info.required_block[0], 0);
    assert_int_equal(info.shared_bytes, 100);
    assert_true(info.local_bytes >= 40);
    assert_int_equal(info.instruction_count, 4);
    static const struct {
        uint32_t offset, size, align;
        const char *name, *type;
        bool pointer;
    } want[] = {{0, 1, 1, "a", "u8", false},
                {8, 8, 8, "b", "u64", true},
                {16, 6, 4, "c", "b8", false},
                {22, 2, 2, "d", "u16", false}};
    for (uint32_t i = 0; i < 4; i++) {
        lw_param_info param = lw_kernel_param(get_kernel(module, "k"), i);
        assert_int_equal(param.offset, want[i].offset);
        assert_int_equal(param.size, want[i].size);
        assert_int_equal(param.align, want[i].align);
        assert_string_equal(param.name, want[i].name);
        assert_string_equal(param.type, want[i].type);
        assert_int_equal(param.is_pointer, want[i].pointer);
    }
    assert_int_equal(info.param_bytes, 24);
    assert_string_equal(lw_kernel_param(get_kernel(module, "k"), 4).name, "");
    lw_context_free(context);
}

/* ---- Variables ------------------------------------------------------------------------------------------------- */

static void read_variable(lw_context *context, lw_module *module, const char *name, void *to, uint64_t size) {
    uint64_t address, real;
    assert_int_equal(lw_module_global(module, name, &address, &real), LW_OK);
    assert_int_equal(real, size);
    assert_int_equal(lw_memory_read(context, address, to, size), LW_OK);
}

static void variables_have_their_values(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, HEAD
                             ".global .u32 zero;\n.const .s16 words[2][3] = {{1, -2}, {3}};\n"
                             ".global .f32 floats[] = {1.5, 0f40490FDB};\n.global .f64 wide = 0d3FF8000000000000;\n"
                             ".global .v2 .u32 pairs[2] = {{1, 2}, {3, 4}};\n"
                             ".global .u64 where[] = {zero, words+4, generic(zero)};\n"
                             ".global .align 1024 .b8 aligned = 7;\n"
                             ".global .u8 bytes[2] = {0xff(zero), 0xff00(zero)};\n"
                             ".func f() { ret; }\n.global .u64 code = f;\n.entry k() { call f; ret; }");
    uint32_t zero = 9, pairs[4];
    int16_t words[6];
    float floats[2];
    double wide;
    uint64_t where[3], code, address, words_at;
    uint8_t aligned, bytes[2];
    read_variable(context, module, "zero", &zero, 4);
    assert_int_equal(zero, 0);
    read_variable(context, module, "words", words, 12);
    assert_memory_equal(words, ((int16_t[]){1, -2, 0, 3, 0, 0}), 12);
    read_variable(context, module, "floats", floats, 8);
    assert_memory_equal(floats, ((float[]){1.5f, 3.14159274101257324f}), 8);
    read_variable(context, module, "wide", &wide, 8);
    assert_true(wide == 1.5);
    read_variable(context, module, "pairs", pairs, 16);
    assert_memory_equal(pairs, ((uint32_t[]){1, 2, 3, 4}), 16);
    read_variable(context, module, "where", where, 24);
    assert_int_equal(lw_module_global(module, "zero", &address, NULL), LW_OK);
    assert_int_equal(lw_module_global(module, "words", &words_at, NULL), LW_OK);
    assert_int_equal(where[0], address);
    assert_int_equal(where[1], words_at + 4);
    assert_int_equal(where[2], address);
    read_variable(context, module, "bytes", bytes, 2);
    assert_int_equal(bytes[0], address & 0xff);
    assert_int_equal(bytes[1], address >> 8 & 0xff);
    read_variable(context, module, "aligned", &aligned, 1);
    assert_int_equal(aligned, 7);
    assert_int_equal(lw_module_global(module, "aligned", &address, NULL), LW_OK);
    assert_int_equal(address % 1024, 0);
    read_variable(context, module, "code", &code, 8);
    assert_int_not_equal(code, 0);
    assert_int_equal(lw_module_global(module, "nowhere", NULL, NULL), LW_NOT_FOUND);
    assert_message(context, "'nowhere'");
    lw_context_free(context);
}

static void variables_belong_to_their_module(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, HEAD ".global .u32 v[4];\n.entry k() { ret; }");
    uint64_t address, base, size;
    assert_int_equal(lw_module_global(module, "v", &address, NULL), LW_OK);
    assert_int_equal(lw_memory_free(context, address), LW_BAD_ARGUMENT);
    assert_message(context, "variable");
    assert_int_equal(lw_memory_range(context, address + 15, &base, &size), LW_OK);
    assert_int_equal(base, address);
    assert_int_equal(size, 16);
    lw_module_free(module);
    assert_int_equal(lw_memory_range(context, address, &base, &size), LW_NOT_FOUND);
    lw_context_free(context);
}

static void narrow_modules_get_narrow_addresses(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module =
        load(context, ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 v = 5;\n.entry k() { ret; }");
    uint64_t address, buffer = new_buffer(context, 100);
    assert_int_equal(lw_module_global(module, "v", &address, NULL), LW_OK);
    assert_true(address < 1ull << 32);
    assert_true(buffer < 1ull << 32);
    lw_context_free(context);
}

/* ---- Several texts ------------------------------------------------------------------------------------------ */

#define CALLER \
    HEAD ".extern .func (.reg .u32 r) add(.reg .u32 x);\n.extern .global .u32 base;\n" \
         ".visible .entry k(.param .u64 out)\n{ .reg .u64 %a; .reg .u32 %v, %w; ld.param.u64 %a, [out];\n" \
         "ld.global.u32 %w, [base]; call (%v), add, (%w); st.global.u32 [%a], %v; ret; }\n"
#define CALLED \
    HEAD ".visible .global .u32 base = 40;\n.visible .func (.reg .u32 r) add(.reg .u32 x) { add.u32 r, x, 2; ret; }\n"

static lw_module_text text_of(const char *name, const char *text) {
    return (lw_module_text){.name = name, .text = text, .size = strlen(text)};
}

static void texts_are_linked(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    char caller[] = CALLER;
    const lw_module_text texts[] = {text_of("caller.ptx", caller), text_of(NULL, CALLED)};
    lw_module *module;
    assert_int_equal(lw_module_link(context, NULL, texts, 2, &module), LW_OK);
    memset(caller, 'x', sizeof caller - 1); /* it may be released */
    uint64_t out = new_buffer(context, 4);
    uint32_t value = 0;
    lw_launch_config config = shape(1, 1);
    assert_int_equal(lw_launch(get_kernel(module, "k"), &config, (void *[]){&out}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, out, &value, 4), LW_OK);
    assert_int_equal(value, 42);
    uint64_t size;
    assert_int_equal(lw_module_global(module, "base", NULL, &size), LW_OK);
    assert_int_equal(size, 4);
    lw_module_free(module);
    lw_context_free(context);
}

static void links_tell_which_text_is_wrong(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    const lw_module_text twice[] = {text_of("a.ptx", CALLED), text_of(NULL, "\n" CALLED)};
    lw_module *module;
    assert_int_equal(lw_module_link(context, NULL, twice, 2, &module), LW_BAD_SOURCE);
    assert_int_equal(lw_module_diagnostic_count(module), 4);
    const lw_diagnostic first = lw_module_diagnostic(module, 0);
    assert_int_equal(first.number, 2300);
    assert_int_equal(first.line, 5);
    assert_string_equal(lw_module_diagnostic_file(module, 0), "<text 2>");
    assert_string_equal(lw_module_diagnostic_file(module, 1), "a.ptx");
    assert_string_equal(lw_module_diagnostic_file(module, 4), "");
    lw_module_free(module);
    const lw_module_text alone = text_of("caller.ptx", CALLER);
    assert_int_equal(lw_module_link(context, NULL, &alone, 1, &module), LW_BAD_SOURCE);
    assert_int_equal(lw_module_diagnostic(module, 0).number, 3004);
    assert_string_equal(lw_module_diagnostic_file(module, 0), "caller.ptx");
    lw_context_free(context);
}

static void links_refuse_nonsense(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    const lw_module_text texts[] = {
        text_of("a.ptx", CALLED), text_of("f.pto", "func.func @f() {\n}\n"), {.name = "c.ptx", .size = 5}};
    lw_module *module = (lw_module *)context;
    assert_int_equal(lw_module_link(context, NULL, texts, 2, &module), LW_BAD_ARGUMENT);
    assert_message(context, "'f.pto' is PTO text, which is not linked with others [LW4017]");
    assert_null(module);
    assert_int_equal(lw_module_link(context, NULL, texts, 3, &module), LW_BAD_ARGUMENT);
    assert_message(context, "texts[].text is NULL [LW4068]");
    assert_int_equal(lw_module_link(context, NULL, texts, 0, &module), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_link(context, NULL, NULL, 1, &module), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_link(context, NULL, texts, 1, NULL), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_link(NULL, NULL, texts, 1, &module), LW_BAD_ARGUMENT);
    assert_int_equal(lw_module_link(context, NULL, texts, 4097, &module), LW_BAD_ARGUMENT);
    assert_message(context, "4097 modules cannot be linked: 4096 are the most [LW4016]");
    assert_int_equal(lw_module_link(context, NULL, &texts[1], 1, &module), LW_OK); /* one need not be linked */
    assert_string_equal(lw_module_diagnostic_file(NULL, 0), "");
    assert_string_equal(lw_launch_note_file(NULL, 0), "");
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_tells_its_options),
        cmocka_unit_test(context_takes_every_level_that_the_machine_has),
        cmocka_unit_test(context_refuses_nonsense),
        cmocka_unit_test(null_handles_are_refused),
        cmocka_unit_test(version_and_status_have_words),
        cmocka_unit_test(module_lists_its_kernels),
        cmocka_unit_test(module_with_errors_tells_them),
        cmocka_unit_test(module_text_is_copied),
        cmocka_unit_test(modules_have_their_own_gates),
        cmocka_unit_test(module_refuses_undefined_variables),
        cmocka_unit_test(kernel_describes_itself),
        cmocka_unit_test(variables_have_their_values),
        cmocka_unit_test(variables_belong_to_their_module),
        cmocka_unit_test(narrow_modules_get_narrow_addresses),
        cmocka_unit_test(texts_are_linked),
        cmocka_unit_test(links_tell_which_text_is_wrong),
        cmocka_unit_test(links_refuse_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
