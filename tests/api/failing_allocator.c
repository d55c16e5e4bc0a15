/* Every allocation of a whole session fails once, and then all from some point on: the caller sees LW_NO_MEMORY each
 * time, nothing crashes, nothing leaks (the address sanitizer looks), and the library works as soon as there is memory
 * again.
 *
 * Linked with --wrap for the functions below, so that calls from inside of the library come here. */
#include "api.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

static atomic_long left = -1; /* allocations that succeed before one fails; negative: all do */
static atomic_bool for_good;  /* all that follow fail too */
static atomic_bool failed;

static bool must_fail(void) {
    if (atomic_load(&left) < 0) return false;
    if (atomic_load(&failed)) return atomic_load(&for_good);
    if (atomic_fetch_sub(&left, 1) > 0) return false;
    atomic_store(&left, 0);
    atomic_store(&failed, true);
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument);

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return must_fail() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *at, size_t size) { return must_fail() ? NULL : __real_realloc(at, size); }
void *__wrap_aligned_alloc(size_t align, size_t size) { return must_fail() ? NULL : __real_aligned_alloc(align, size); }
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    return must_fail() ? MAP_FAILED : __real_mmap(at, size, protection, flags, file, offset);
}
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    return must_fail() ? EAGAIN : __real_pthread_create(id, attributes, body, argument);
}

/* ---- A session ------------------------------------------------------------------------------------------------- */

#define TEXT \
    HEAD AFFINE ".global .u32 numbers[] = {1, 2, 3};\n" \
                ".func deep(.reg .u32 n) {\n .local .u32 l[4]; .reg .u32 %m; .reg .pred %q;\n st.local.u32 " \
                "[l], n;\n setp.eq.u32 %q, n, 0;\n @%q ret;\n" \
                " sub.u32 %m, n, 1;\n call deep, (%m);\n ret;\n}\n" \
                ".entry busy() {\n .reg .u32 %t;\n mov.u32 %t, %tid.x;\n and.b32 %t, %t, 3;\n call deep, " \
                "(%t);\n bar.sync 0;\n ret;\n}\n" \
                ".entry fault() {\n .loc 1 4 2\n trap;\n}\n.file 1 \"made.cu\"\n"

/* A call that failed for want of memory says so. */
static bool worked(lw_status status, lw_status wanted) {
    if (status != wanted) assert_int_equal(status, LW_NO_MEMORY);
    return status == wanted;
}

static bool use_module(lw_context *context, lw_module *module) {
    lw_kernel *affine, *busy, *fault;
    lw_trap_info trap;
    uint64_t buffer, numbers;
    uint32_t add = 5, out[3 * 64];
    lw_launch_config config = shape(3, 64);
    if (!worked(lw_module_kernel(module, "affine", &affine), LW_OK)) return false;
    if (!worked(lw_memory_new(context, sizeof out, &buffer), LW_OK)) return false;
    if (!worked(lw_launch(affine, &config, (void *[]){&buffer, &add}, NULL), LW_OK)) return false;
    if (!worked(lw_memory_read(context, buffer, out, sizeof out), LW_OK)) return false;
    for (uint32_t i = 0; i < 3 * 64; i++) assert_int_equal(out[i], 3 * i + add);
    if (!worked(lw_module_kernel(module, "busy", &busy), LW_OK)) return false;
    config = shape(2, 160);
    if (!worked(lw_launch(busy, &config, NULL, NULL), LW_OK)) return false;
    if (!worked(lw_module_kernel(module, "fault", &fault), LW_OK)) return false;
    if (!worked(lw_launch(fault, &config, NULL, NULL), LW_TRAPPED)) return false;
    assert_true(lw_trap(context, &trap));
    assert_string_equal(trap.message, "the kernel executed trap");
    assert_int_equal(lw_trap_origins(context, NULL), 1);
    if (!worked(lw_module_global(module, "numbers", &numbers, NULL), LW_OK)) return false;
    return worked(lw_memory_free(context, buffer), LW_OK);
}

static bool use_bad_module(lw_context *context) {
    static const char text[] = HEAD ".entry k() { nonsense; }";
    lw_module *module;
    if (!worked(lw_module_new(context, "bad.ptx", text, sizeof text - 1, &module), LW_BAD_SOURCE))
        return assert_null(module), false;
    const char *shown = lw_module_diagnostics(module, false);
    bool good = strstr(shown, "bad.ptx") != NULL;
    if (!good) assert_string_equal(shown, "the host is out of memory\n");
    lw_module_free(module);
    return good;
}

static bool use_pto_module(lw_context *context, lw_module *module) {
    lw_kernel *kernel;
    lw_launch_config config = {0};
    uint64_t from, to, count = 5;
    int32_t out[5] = {0};
    const lw_launch_note *notes;
    if (!worked(lw_module_kernel(module, "f", &kernel), LW_OK)) return false;
    if (!worked(lw_launch_shape(kernel, count, &config), LW_OK)) return false;
    if (!worked(lw_memory_new(context, sizeof out, &from), LW_OK)) return false;
    bool good = worked(lw_memory_new(context, sizeof out, &to), LW_OK);
    good = good && worked(lw_memory_fill(context, from, 40, 4, count), LW_OK);
    good = good && worked(lw_launch(kernel, &config, (void *[]){&from, &to, &count}, NULL), LW_OK);
    good = good && worked(lw_memory_read(context, to, out, sizeof out), LW_OK);
    if (good) {
        assert_int_equal(out[4], 0); /* 40 shifted by 40 */
        assert_int_equal(lw_launch_notes(context, &notes), 1);
        good = worked(lw_memory_free(context, to), LW_OK);
    }
    return worked(lw_memory_free(context, from), LW_OK) && good;
}

static bool use_pto(lw_context *context) {
    static const char text[] =
        "func.func @f(%a: !pto.vreg<2xi32>) -> !pto.vreg<2xi32> {\n  %all = pto.mask.all : !pto.mask<2>\n"
        "  %r = pto.vshr %a, %a, %all : !pto.vreg<2xi32>, !pto.vreg<2xi32>, !pto.mask<2> -> !pto.vreg<2xi32>\n"
        "  return %r : !pto.vreg<2xi32>\n}\n";
    lw_module *module;
    if (!worked(lw_module_new(context, "test.pto", text, sizeof text - 1, &module), LW_OK))
        return assert_null(module), false;
    bool good = use_pto_module(context, module);
    lw_module_free(module);
    return good;
}

/* True where everything worked. */
static bool session(void) {
    lw_context *context;
    lw_module *module;
    if (!worked(lw_context_new(&(lw_options){.threads = 2, .memory_limit = 1 << 20, .stack_limit = 65536}, &context),
                LW_OK))
        return assert_null(context), false;
    bool good = worked(lw_module_new(context, "test.ptx", TEXT, strlen(TEXT), &module), LW_OK);
    if (!good) assert_null(module);
    good = good && use_module(context, module) && use_bad_module(context) && use_pto(context);
    if (atomic_load(&failed) && !good) {
        assert_true(*lw_context_message(context));
        atomic_store(&left, -1); /* there is memory again */
        if (!module) assert_int_equal(lw_module_new(context, "test.ptx", TEXT, strlen(TEXT), &module), LW_OK);
        assert_true(use_module(context, module));
        assert_true(use_bad_module(context));
        assert_true(use_pto(context));
    }
    atomic_store(&left, -1);
    lw_context_free(context);
    return good;
}

static void fail_each(bool all_that_follow) {
    long reached = 0;
    for (long n = 0;; n++) {
        atomic_store(&failed, false);
        atomic_store(&for_good, all_that_follow);
        atomic_store(&left, n);
        bool good = session();
        if (!atomic_load(&failed)) {
            assert_true(good);
            break;
        }
        reached++;
    }
    assert_true(reached > 30); /* else the functions are not wrapped */
}

static void one_allocation_fails(void **state) {
    (void)state;
    fail_each(false);
}

static void all_allocations_from_one_on_fail(void **state) {
    (void)state;
    fail_each(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_allocation_fails),
        cmocka_unit_test(all_allocations_from_one_on_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
