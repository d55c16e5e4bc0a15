/* once_heap.c: malloc and free of kernels: pieces lie within the heap, never over each other, and all of it comes
 * back. */
#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PIECES = 3000 };
typedef struct piece {
    uint64_t address, bytes;
} piece;

static uint64_t noise(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static int compare(const void *a, const void *b) {
    const piece *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void check(const lw_heap *heap, const piece *pieces, size_t count) {
    piece sorted[PIECES];
    memcpy(sorted, pieces, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = i + 1 < count ? sorted[i + 1].address : heap->base + heap->size;
        assert_true(sorted[i].address >= heap->base && sorted[i].address % 16 == 0);
        assert_true(sorted[i].address + sorted[i].bytes <= end);
    }
}

typedef struct fixture {
    lw_memory memory;
    lw_heap heap;
} fixture;

static void make(fixture *f, uint64_t bytes) {
    assert_true(lw_memory_init(&f->memory, 1 << 26));
    assert_true(lw_heap_init(&f->heap));
    assert_true(lw_heap_make(&f->heap, &f->memory, bytes));
}
static void end(fixture *f) {
    lw_heap_end(&f->heap);
    lw_memory_end(&f->memory);
}

static void test_random(void **state) {
    (void)state;
    static const uint64_t sizes[] = {16, 48, 4096, 100000, 1 << 20, (1 << 20) + 4711};
    for (size_t s = 0; s < LW_COUNT(sizes); s++) {
        fixture f;
        piece pieces[PIECES];
        size_t count = 0;
        make(&f, sizes[s]);
        for (int round = 0; round < 20000; round++) {
            const uint64_t bytes = noise() % 3 ? noise() % 64 : noise() % (sizes[s] / 4 + 1);
            if (count < PIECES && noise() % 5 < 3) {
                const uint64_t address = lw_heap_take(&f.heap, bytes);
                if (!address) continue;
                char *host = f.heap.host + (address - f.heap.base);
                for (uint64_t i = 0; i < bytes; i++) assert_int_equal(host[i], 0);
                memset(host, 0xee, bytes);
                pieces[count++] = (piece){address, bytes};
            } else if (count) {
                const size_t k = noise() % count;
                assert_int_equal(lw_heap_give(&f.heap, pieces[k].address), LW_HEAP_GIVEN);
                assert_int_equal(lw_heap_give(&f.heap, pieces[k].address), LW_HEAP_GIVEN_before);
                pieces[k] = pieces[--count];
            }
            if (round % 500 == 0) check(&f.heap, pieces, count);
        }
        while (count) assert_int_equal(lw_heap_give(&f.heap, pieces[--count].address), LW_HEAP_GIVEN);
        uint64_t whole = 16; /* all is one piece again, as far as sizes go in doubles */
        while (whole * 2 <= f.heap.size) whole *= 2;
        assert_int_equal(lw_heap_take(&f.heap, whole), f.heap.base);
        assert_int_equal(lw_heap_take(&f.heap, whole), 0);
        end(&f);
    }
}

static void test_wrong(void **state) {
    (void)state;
    fixture f;
    make(&f, 4096);
    const uint64_t address = lw_heap_take(&f.heap, 100);
    const uint64_t wrong[] = {address + 1, address + 16, address + 128, f.heap.base - 16, f.heap.base + f.heap.size,
                              1,           UINT64_MAX};
    for (size_t i = 0; i < LW_COUNT(wrong); i++) assert_int_equal(lw_heap_give(&f.heap, wrong[i]), LW_HEAP_GIVEN_never);
    assert_int_equal(lw_heap_take(&f.heap, UINT64_MAX), 0);
    assert_int_equal(lw_heap_take(&f.heap, 4097), 0);
    assert_true(lw_heap_make(&f.heap, &f.memory, 1)); /* it is there */
    assert_int_equal(f.heap.size, 4096);
    assert_int_equal(lw_heap_give(&f.heap, address), LW_HEAP_GIVEN);
    end(&f);
}

static void test_no_room(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 15, 1ull << 27, 1ull << 36, UINT64_MAX};
    lw_memory memory;
    lw_heap heap;
    assert_true(lw_memory_init(&memory, 1 << 26));
    assert_true(lw_heap_init(&heap));
    for (size_t i = 0; i < LW_COUNT(sizes); i++) assert_false(lw_heap_make(&heap, &memory, sizes[i]));
    assert_true(lw_heap_make(&heap, &memory, 64));
    assert_int_not_equal(lw_heap_take(&heap, 64), 0);
    lw_heap_end(&heap);
    lw_memory_end(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_wrong),
                                       cmocka_unit_test(test_no_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
