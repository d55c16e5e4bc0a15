/* Traps: each kind, what its record says, and that the library works afterwards. */
#include "api.h"

#include <stdio.h>

#define TRAPS \
    HEAD ".const .u32 fixed = 1;\n" \
         ".func callee() { ret; }\n" \
         ".func eater() {\n .local .b8 room[2000]; .reg .u64 %p;\n mov.u64 %p, room; st.local.u8 [%p], " \
         "1;\n call eater;\n ret;\n}\n" \
         ".func inner(.reg .u64 p) {\n st.global.u32 [p], 7;\n ret;\n}\n" \
         ".func outer(.reg .u64 p) {\n call inner, (p);\n ret;\n}\n" \
         ".entry nested(.param .u64 at) {\n .reg .u64 %p;\n ld.param.u64 %p, [at];\n call outer, (%p);\n ret;\n}\n" \
         ".entry store(.param .u64 at) {\n .reg .u64 %p;\n ld.param.u64 %p, [at];\n st.global.u32 [%p], " \
         "7;\n ret;\n}\n" \
         ".entry load_generic(.param .u64 at) {\n .reg .u64 %p; .reg .u32 %v;\n ld.param.u64 %p, [at];\n " \
         "ld.u32 %v, [%p];\n ret;\n}\n" \
         ".entry pair(.param .u64 at) {\n .reg .u64 %p;\n ld.param.u64 %p, [at];\n st.global.v2.u32 [%p], " \
         "{1, 2};\n ret;\n}\n" \
         ".entry shared(.param .u64 at) {\n .shared .u32 s[16]; .reg .u64 %p; .reg .u32 %v;\n ld.param.u64 " \
         "%p, [at];\n ld.shared.u32 %v, [%p];\n" \
         " st.shared.u32 [s], %v;\n ret;\n}\n" \
         ".entry local(.param .u64 at) {\n .local .u32 l[16]; .reg .u64 %p;\n ld.param.u64 %p, [at];\n " \
         "st.local.u32 [%p], 1;\n" \
         " st.local.u32 [l], 1;\n ret;\n}\n" \
         ".entry recurse() {\n call eater;\n ret;\n}\n" \
         ".entry wild(.param .u64 at) {\n .reg .u64 %p;\n proto: .callprototype _ ();\n ld.param.u64 %p, " \
         "[at];\n call %p, proto;\n ret;\n}\n" \
         ".entry index(.param .u64 at) {\n .reg .u32 %i;\n list: .branchtargets A, B;\n ld.param.u32 %i, " \
         "[at];\n brx.idx %i, list;\nA: ret;\nB: ret;\n}\n" \
         ".entry signature() {\n .reg .u64 %p; .reg .u32 %a;\n proto: .callprototype _ (.reg .u32 a);\n " \
         "mov.u32 %a, 1;\n mov.u64 %p, callee;\n" \
         " call %p, (%a), proto;\n ret;\n}\n" \
         ".entry barriers() {\n .reg .u32 %t; .reg .pred %q;\n mov.u32 %t, %tid.x;\n setp.lt.u32 %q, %t, " \
         "40;\n @%q bra A;\n bar.sync 1;\n ret;\n" \
         "A: bar.sync 0;\n ret;\n}\n" \
         ".entry numbers(.param .u64 at) {\n .reg .u32 %b;\n ld.param.u32 %b, [at];\n bar.sync %b;\n " \
         "ret;\n}\n" \
         ".entry counts(.param .u64 at) {\n .reg .u32 %n;\n ld.param.u32 %n, [at];\n barrier.sync 2, %n;\n " \
         "ret;\n}\n" \
         ".entry stop(.param .u64 at) {\n .reg .u32 %c, %n, %t; .reg .pred %q;\n ld.param.u32 %n, [at];\n " \
         "mov.u32 %c, %ctaid.x;\n mov.u32 %t, %tid.x;\n" \
         " setp.lt.u32 %q, %c, %n;\n @%q ret;\n setp.ne.u32 %q, %t, 37;\n @%q ret;\n trap;\n}\n" \
         ".entry made(.param .u64 at) {\n .reg .u64 %p;\n .loc 1 30 2\n ld.param.u64 %p, [at];\n .loc 1 31 5\n " \
         ".loc 2 7 9, function_name names, inlined_at 1 31 5\n st.global.u32 [%p], 7;\n ret;\n}\n" \
         ".file 1 \"made.cu\"\n.file 2 \"made.h\"\n.section .debug_str {\nnames:\n.b8 102, 0\n}\n"

typedef struct fixture {
    lw_context *context;
    lw_module *module;
    uint64_t buffer;
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(
        lw_context_new(&(lw_options){.threads = 2, .memory_limit = 1 << 20, .stack_limit = 16384}, &f.context), LW_OK);
    f.module = load(f.context, TRAPS);
    f.buffer = new_buffer(f.context, 4096);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    lw_context_free(((fixture *)*state)->context);
    return 0;
}

/* Launches a kernel that must trap, and one that must not. */
static lw_trap_info trap_of(const fixture *f, const char *name, uint64_t at, uint32_t grid, uint32_t block) {
    lw_launch_config config = shape(grid, block);
    lw_kernel *kernel = get_kernel(f->module, name);
    assert_int_equal(lw_launch(kernel, &config, (void *[]){&at}, NULL), LW_TRAPPED);
    lw_trap_info trap;
    assert_true(lw_trap(f->context, &trap));
    assert_string_equal(trap.kernel, name);
    assert_string_equal(trap.file, "test.ptx");
    const char *all = lw_context_message(f->context);
    char part[64];
    snprintf(part, sizeof part, "test.ptx:%u:%u: ", trap.line, trap.column);
    assert_int_equal(strncmp(all, part, strlen(part)), 0);
    assert_int_equal(strncmp(all + strlen(part), trap.message, strlen(trap.message)), 0);
    snprintf(part, sizeof part, "kernel '%s', CTA (%u,0,0), thread (%u,0,0)", name, trap.cta[0], trap.thread[0]);
    assert_message(f->context, part);
    snprintf(part, sizeof part, " [LW%u]", trap.number);
    assert_string_equal(all + strlen(all) - strlen(part), part);
    assert_null(strchr(all, '\n'));
    assert_null(strchr(trap.message, '\n'));
    assert_non_null(strstr(trap.report, trap.message));
    assert_non_null(lw_explain_diagnostic(trap.number, NULL));
    config = shape(1, 1);
    uint64_t good = f->buffer;
    assert_int_equal(lw_launch(get_kernel(f->module, "store"), &config, (void *[]){&good}, NULL), LW_OK);
    assert_true(lw_trap(f->context, &trap)); /* a good launch does not take the record away */
    return trap;
}

static void expect(const fixture *f, const char *kernel, uint64_t at, uint32_t number, const char *message) {
    lw_trap_info trap = trap_of(f, kernel, at, 1, 1);
    assert_int_equal(trap.number, number);
    assert_string_equal(trap.message, message);
}

static char *format(const char *pattern, unsigned long long a, unsigned long long b) {
    static char text[256];
    snprintf(text, sizeof text, pattern, a, b);
    return text;
}

static void there_is_none_at_first(void **state) {
    lw_trap_info trap;
    assert_false(lw_trap(((fixture *)*state)->context, &trap));
}

static void bounds_of_global_memory(void **state) {
    const fixture *f = *state;
    expect(f, "store", f->buffer + 4096 + 12, 5000,
           format("store of 4 bytes at 0x%llx in global memory, 12 bytes past the end of the 4096-byte "
                  "allocation at 0x%llx",
                  f->buffer + 4108, f->buffer));
    expect(f, "store", f->buffer + 4096, 5000,
           format("store of 4 bytes at 0x%llx in global memory, just past the end of the 4096-byte "
                  "allocation at 0x%llx",
                  f->buffer + 4096, f->buffer));
    expect(f, "store", 0, 5000, "store of 4 bytes at 0x0, through a null pointer");
    expect(f, "store", 64, 5000, "store of 4 bytes at 0x40, through a null pointer");
    expect(f, "load_generic", 0x70000000, 5000,
           format("load of 4 bytes at 0x70000000 in global memory, %llu bytes before the 4-byte allocation "
                  "at 0x%llx",
                  0x1000000000 - 0x70000000, 0x1000000000));
    expect(f, "load_generic", 0x9000000, 5000, "load of 4 bytes at 0x9000000, where there is no memory");
    expect(f, "store", 0x1000000000 + (UINT64_C(80) << 30), 5000,
           "store of 4 bytes at 0x2400000000 in global memory, far from all that is allocated");
    lw_trap_info trap = trap_of(f, "store", UINT64_MAX - 3, 1, 1);
    assert_int_equal(trap.number, 5000);
    assert_int_equal(trap.address, UINT64_MAX - 3);
}

/* Of the stack, of what malloc gives, of a program's own data: where a host has these. */
static void pointers_of_the_host(void **state) {
    const fixture *f = *state;
    static uint32_t data[2048];
    uint32_t stack[4] = {0}, *heap = malloc(1 << 20);
    const uint64_t pointers[] = {(uintptr_t)data & ~(uintptr_t)7, (uintptr_t)stack & ~(uintptr_t)7, (uintptr_t)heap};
    for (int i = 0; i < 3; i++) {
        if (pointers[i] < UINT64_C(1) << 44) continue; /* a program that does not lie where most do */
        expect(f, "store", pointers[i], 5000,
               format("store of 4 bytes at 0x%llx in global memory, far from all that is allocated; it looks like a "
                      "pointer of the host program, whose memory must be copied to the device first",
                      pointers[i], 0));
        uint32_t word;
        assert_int_equal(lw_memory_read(f->context, pointers[i], &word, 4), LW_BAD_ARGUMENT);
        assert_message(f->context, "it looks like a pointer of the host program");
    }
    free(heap);
}

static void bounds_of_the_windows(void **state) {
    const fixture *f = *state;
    expect(f, "shared", 64, 5000, "load of 4 bytes at 0x40 in shared memory, of which the CTA has 64 bytes");
    expect(f, "local", 64, 5000, "store of 4 bytes at 0x40 in local memory, of which a thread has 64 bytes");
    expect(f, "load_generic", 0x1000400, 5000,
           "load of 4 bytes at 0x1000400 in shared memory (offset 0x400), of which the CTA has 0 bytes");
    expect(f, "load_generic", 0x3000008, 5000,
           "load of 4 bytes at 0x3000008 in parameter memory (offset 0x8), of which the kernel has 8 bytes");
}

/* Also where launches have met it before it was freed, and where less is allocated there later. */
static void freed_memory_is_out_of_bounds(void **state) {
    const fixture *f = *state;
    lw_kernel *store = get_kernel(f->module, "store");
    lw_launch_config config = shape(1, 1);
    uint64_t buffer = new_buffer(f->context, 64), end = buffer + 60;
    for (int launch = 0; launch < 2; launch++)
        assert_int_equal(lw_launch(store, &config, (void *[]){&end}, NULL), LW_OK);
    assert_int_equal(lw_memory_free(f->context, buffer), LW_OK);
    assert_int_equal(trap_of(f, "store", end, 1, 1).number, 5000);
    const uint64_t less = new_buffer(f->context, 32);
    assert_int_equal(trap_of(f, "store", end, 1, 1).number, 5000);
    assert_int_equal(lw_memory_free(f->context, less), LW_OK);
    buffer = new_buffer(f->context, 64);
    end = buffer + 60;
    assert_int_equal(lw_launch(store, &config, (void *[]){&end}, NULL), LW_OK);
    assert_int_equal(lw_memory_free(f->context, buffer), LW_OK);
}

static void misaligned(void **state) {
    const fixture *f = *state;
    expect(f, "store", f->buffer + 2, 5001,
           format("store of 4 bytes at 0x%llx: the address is no multiple of 4", f->buffer + 2, 0));
    expect(f, "pair", f->buffer + 4, 5001,
           format("store of 8 bytes at 0x%llx: the address is no multiple of 8", f->buffer + 4, 0));
}

static void stacks_are_finite(void **state) {
    lw_trap_info trap = trap_of(*state, "recurse", 0, 1, 1);
    assert_int_equal(trap.number, 5003);
    /* frames of 2000 bytes, in granules of 16 */
    assert_string_equal(
        trap.message,
        "the stack is full: calls 9 deep do not fit in the 16384 bytes of local memory that a thread has");
    assert_non_null(strstr(trap.report, "function 'eater' of kernel 'recurse'"));
    assert_non_null(strstr(trap.report, "call eater;"));
}

/* Whether there was a frame for them or not. */
static void functions_are_named(void **state) {
    lw_trap_info trap = trap_of(*state, "nested", 8, 1, 1);
    assert_int_equal(trap.number, 5000);
    assert_non_null(strstr(trap.report, "function 'inner' of kernel 'nested', CTA (0,0,0), thread (0,0,0)"));
    assert_non_null(strstr(trap.report, "st.global.u32 [p], 7;"));
}

static void wild_branches(void **state) {
    const fixture *f = *state;
    expect(f, "wild", 0x1234, 5004, "indirect call of 0x1234, which is not the address of a function");
    expect(f, "wild", 0x4000000 + 16 * 1000000, 5004,
           "indirect call of 0x4f42400, which is not the address of a function");
    expect(f, "index", 2, 5004, "brx.idx with index 2, where the list has 2 targets");
    lw_launch_config config = shape(1, 64);
    uint64_t at = 1;
    assert_int_equal(lw_launch(get_kernel(f->module, "index"), &config, (void *[]){&at}, NULL), LW_OK);
}

static void signatures_must_agree(void **state) {
    expect(*state, "signature", 0, 5008,
           "indirect call of 'callee', which takes other parameters or returns other results");
}

static void deadlocks_are_found(void **state) {
    lw_trap_info trap = trap_of(*state, "barriers", 0, 1, 96);
    assert_int_equal(trap.number, 5005);
    /* threads 0 to 39 go to A; of two warps 32 and 8, 24 and 32 */
    uint32_t line = 1;
    for (const char *c = TRAPS; c < strstr(TRAPS, "A: bar.sync 0;"); c++) line += *c == '\n';
    char message[160];
    snprintf(message, sizeof message,
             "deadlock: the thread waits at barrier 1, where 56 of the 96 threads that are left have come; 40 wait at "
             "barrier 0 (line %u)",
             line);
    assert_string_equal(trap.message, message);
    assert_non_null(strstr(trap.report, "bar.sync"));
}

static void barriers_have_rules(void **state) {
    const fixture *f = *state;
    expect(f, "numbers", 16, 5006, "barrier 16 with a count of 0 threads: there are barriers 0 to 15");
    expect(f, "counts", 33, 5006, "barrier 2 with a count of 33 threads: a count is a multiple of 32");
}

static void place_and_thread_are_named(void **state) {
    const fixture *f = *state;
    lw_trap_info trap = trap_of(f, "stop", 5, 40, 64);
    assert_int_equal(trap.number, 5007);
    assert_string_equal(trap.message, "the kernel executed trap");
    assert_int_equal(trap.cta[0], 5); /* the lowest of those that trap, however many workers there are */
    assert_int_equal(trap.thread[0], 37);
    assert_int_equal(trap.warp, 1);
    assert_int_equal(trap.lane, 5);
    assert_int_equal(trap.address, 0);
    /* the line that holds trap; is the only one */
    const char *at = strstr(TRAPS, "trap;");
    uint32_t line = 1;
    for (const char *c = TRAPS; c < at; c++) line += *c == '\n';
    assert_int_equal(trap.line, line);
    assert_int_equal(trap.column, 2);
    char place[64];
    snprintf(place, sizeof place, "test.ptx:%u:2: error[LW5007]: ", line);
    assert_int_equal(strncmp(trap.report, place, strlen(place)), 0);
    assert_non_null(strstr(trap.report, "kernel 'stop', CTA (5,0,0), thread (37,0,0): warp 1, lane 5"));
}

static void what_it_was_made_of_is_named(void **state) {
    const fixture *f = *state;
    const lw_origin *origins;
    trap_of(f, "made", f->buffer + 4096, 1, 1);
    assert_int_equal(lw_trap_origins(f->context, &origins), 2);
    assert_string_equal(origins[0].file, "made.h");
    assert_string_equal(origins[0].function, "f");
    assert_int_equal(origins[0].line, 7);
    assert_int_equal(origins[0].column, 9);
    assert_string_equal(origins[1].file, "made.cu");
    assert_null(origins[1].function);
    assert_int_equal(origins[1].line, 31);
    assert_int_equal(origins[1].column, 5);
    assert_int_equal(lw_launch(get_kernel(f->module, "made"),
                               &(lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 1}}, (void *[]){&(uint64_t){8}},
                               NULL),
                     LW_TRAPPED);
    assert_message(f->context, "; from made.h:7:9, inlined at made.cu:31:5; kernel 'made'");
    trap_of(f, "store", f->buffer + 4096, 1, 1);
    assert_int_equal(lw_trap_origins(f->context, &origins), 0);
    assert_null(origins);
    assert_int_equal(lw_trap_origins(f->context, NULL), 0);
    assert_int_equal(lw_launch_note_origins(f->context, 0, &origins), 0);
}

static void the_lowest_cta_is_reported_always(void **state) {
    const fixture *f = *state;
    for (uint32_t round = 0; round < 200; round++) {
        lw_trap_info trap = trap_of(f, "stop", round % 50, 100, 64);
        assert_int_equal(trap.cta[0], round % 50);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_none_at_first),
        cmocka_unit_test(bounds_of_global_memory),
        cmocka_unit_test(pointers_of_the_host),
        cmocka_unit_test(bounds_of_the_windows),
        cmocka_unit_test(freed_memory_is_out_of_bounds),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(stacks_are_finite),
        cmocka_unit_test(functions_are_named),
        cmocka_unit_test(wild_branches),
        cmocka_unit_test(signatures_must_agree),
        cmocka_unit_test(deadlocks_are_found),
        cmocka_unit_test(barriers_have_rules),
        cmocka_unit_test(place_and_thread_are_named),
        cmocka_unit_test(what_it_was_made_of_is_named),
        cmocka_unit_test(the_lowest_cta_is_reported_always),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
