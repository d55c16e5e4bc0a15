/* Several threads on one context: launches, memory, modules, messages and stops beside each other. */
#include "api.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 60, COUNT = 640 };

#define TEXT HEAD AFFINE ".entry fault() { trap; }\n.entry endless() { L: bra L; }\n"

typedef struct worker {
    pthread_t id;
    lw_context *context;
    lw_module *module; /* shared, or NULL: each makes its own */
    uint32_t number;
    atomic_bool done; /* of the stopper */
    pthread_barrier_t *all_failed;
    const char *wrong; /* cmocka's assertions belong to the main thread */
} worker;

#define CHECK(condition) \
    do { \
        if (!(condition)) return w->wrong = #condition, NULL; \
    } while (0)

static void *compute(void *argument) {
    worker *w = argument;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        lw_module *module = w->module;
        lw_kernel *kernel;
        uint64_t buffer;
        uint32_t out[COUNT], add = w->number * 100000 + round;
        if (!module) CHECK(lw_module_new(w->context, "t.ptx", TEXT, strlen(TEXT), &module) == LW_OK);
        CHECK(lw_module_kernel(module, "affine", &kernel) == LW_OK);
        CHECK(lw_memory_new(w->context, sizeof out, &buffer) == LW_OK);
        lw_launch_config config = shape(10, COUNT / 10);
        CHECK(lw_launch(kernel, &config, (void *[]){&buffer, &add}, NULL) == LW_OK);
        CHECK(lw_memory_read(w->context, buffer, out, sizeof out) == LW_OK);
        for (uint32_t i = 0; i < COUNT; i++) CHECK(out[i] == 3 * i + add);
        CHECK(lw_memory_free(w->context, buffer) == LW_OK);
        if (!w->module) lw_module_free(module);
    }
    return NULL;
}

/* Each thread sees its own failures only. */
static void *fail_each(void *argument) {
    worker *w = argument;
    lw_kernel *fault;
    lw_trap_info trap;
    char name[32];
    CHECK(!lw_trap(w->context, &trap));
    CHECK(!*lw_context_message(w->context));
    CHECK(lw_module_kernel(w->module, "fault", &fault) == LW_OK);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        snprintf(name, sizeof name, "missing_%u_%u", w->number, round);
        lw_kernel *kernel;
        CHECK(lw_module_kernel(w->module, name, &kernel) == LW_NOT_FOUND);
        CHECK(strstr(lw_context_message(w->context), name));
        lw_launch_config config = shape(w->number + 1, 32 * (w->number + 1));
        CHECK(lw_launch(fault, &config, NULL, NULL) == LW_TRAPPED);
        CHECK(lw_trap(w->context, &trap) && trap.number == 5007 && trap.cta[0] == 0);
    }
    return NULL;
}

static void *spin(void *argument) {
    worker *w = argument;
    lw_kernel *kernel;
    CHECK(lw_module_kernel(w->module, "endless", &kernel) == LW_OK);
    lw_launch_config config = shape(3, 32);
    CHECK(lw_launch(kernel, &config, NULL, NULL) == LW_STOPPED);
    return NULL;
}

static void *stop(void *argument) {
    worker *w = argument;
    while (!atomic_load(&w->done)) {
        lw_context_stop(w->context);
        sched_yield();
    }
    return NULL;
}

static void run_all(void *(*body)(void *), lw_context *context, lw_module *module) {
    worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.context = context, .module = module, .number = i};
        assert_int_equal(pthread_create(&workers[i].id, NULL, body, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].id, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        if (workers[i].wrong) fail_msg("thread %u: not so: %s: %s", i, workers[i].wrong, lw_context_message(context));
}

static void launches_of_one_module(void **state) {
    (void)state;
    lw_context *context = new_context(3);
    run_all(compute, context, load(context, TEXT));
    lw_context_free(context);
}

static void modules_of_one_context(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    run_all(compute, context, NULL);
    lw_context_free(context);
}

static void messages_and_traps_belong_to_threads(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    run_all(fail_each, context, load(context, TEXT));
    assert_string_equal(lw_context_message(context), "");
    lw_context_free(context);
}

/* Each has a message while all the others have theirs. */
static void *fail_among_many(void *argument) {
    worker *w = argument;
    lw_kernel *kernel;
    char name[32];
    snprintf(name, sizeof name, "missing_%u_", w->number);
    bool silent = !*lw_context_message(w->context), failed = lw_module_kernel(w->module, name, &kernel) == LW_NOT_FOUND;
    pthread_barrier_wait(w->all_failed); /* whatever came of it: the others wait */
    CHECK(silent && failed);
    CHECK(strstr(lw_context_message(w->context), name));
    return NULL;
}

static void messages_of_many_threads_are_kept(void **state) {
    (void)state;
    enum { MANY = 50 };
    static worker workers[MANY];
    lw_context *context = new_context(1);
    lw_module *module = load(context, TEXT);
    pthread_barrier_t all_failed;
    assert_int_equal(pthread_barrier_init(&all_failed, NULL, MANY), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        workers[i] = (worker){.context = context, .module = module, .number = i, .all_failed = &all_failed};
        assert_int_equal(pthread_create(&workers[i].id, NULL, fail_among_many, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(pthread_join(workers[i].id, NULL), 0);
    for (uint32_t i = 0; i < MANY; i++) assert_null(workers[i].wrong);
    assert_string_equal(lw_context_message(context), "");
    pthread_barrier_destroy(&all_failed);
    lw_context_free(context);
}

/* Threads of some languages and pools have little stack; what compiles must not need theirs. */
static void a_thread_may_have_little_stack(void **state) {
    (void)state;
    enum { STACK = 64 << 10 };
    const size_t least = (size_t)PTHREAD_STACK_MIN;
    lw_context *context = new_context(2);
    worker small = {.context = context, .module = load(context, TEXT)};
    pthread_attr_t attributes;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, least > STACK ? least : STACK), 0);
    assert_int_equal(pthread_create(&small.id, &attributes, compute, &small), 0);
    assert_int_equal(pthread_join(small.id, NULL), 0);
    assert_null(small.wrong);
    pthread_attr_destroy(&attributes);
    lw_context_free(context);
}

static void stops_reach_every_launch(void **state) {
    (void)state;
    lw_context *context = new_context(2);
    worker stopper = {.context = context};
    /* It goes on until told, so that launches which begin late are stopped too. */
    assert_int_equal(pthread_create(&stopper.id, NULL, stop, &stopper), 0);
    run_all(spin, context, load(context, TEXT));
    atomic_store(&stopper.done, true);
    assert_int_equal(pthread_join(stopper.id, NULL), 0);
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_module),
        cmocka_unit_test(modules_of_one_context),
        cmocka_unit_test(messages_and_traps_belong_to_threads),
        cmocka_unit_test(messages_of_many_threads_are_kept),
        cmocka_unit_test(a_thread_may_have_little_stack),
        cmocka_unit_test(stops_reach_every_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
