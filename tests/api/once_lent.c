/* Memory that lies outside of the reservation, and what both sides see at one address, beside plain models. */
#include "api.h"

#include <sys/mman.h>

#include "run/run.h"

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static void check_order(const lw_memory *memory) {
    const lw_ranges *ranges = memory->ranges;
    const lw_range *last = NULL;
    uint64_t count = 0;
    for (uint32_t p = 0; p < ranges->part_count; p++) {
        const lw_ranges_part *part = ranges->parts[p].part;
        assert_true(part->count && ranges->parts[p].first == part->at[0].base);
        for (uint32_t i = 0; i < part->count; last = &part->at[i++], count++)
            assert_true(!last || part->at[i].base >= last->base + last->size);
    }
    assert_int_equal(count, ranges->count);
}

/* ---- Mapped ---------------------------------------------------------------------------------------------------- */

enum { PAGES = 200, PAGE = 4096, ROUNDS = 20000 };
#define FROM (1ull << 42)

/* What is mapped at each page, of which two halves of the host's memory follow each other, page by page or not. */
static char host[2 * PAGES * PAGE];
static const char *at[PAGES];
static bool locked[PAGES]; /* for kernels that write */

/* As far as one look-up must reach from a page on: host and rights go on. */
static uint32_t run_of(uint32_t page) {
    uint32_t end = page + 1;
    while (end < PAGES && at[end] == at[end - 1] + PAGE && locked[end] == locked[page]) end++;
    return end - page;
}

static void check_pages(const lw_memory *memory) {
    for (uint32_t page = 0; page < PAGES; page++) {
        const uint64_t address = FROM + page * PAGE;
        const lw_range *range = lw_ranges_find(memory->ranges, address + 5, 1);
        assert_int_equal(range != NULL, at[page] != NULL);
        if (!range) continue;
        assert_ptr_equal(range->host + (address - range->base), at[page]);
        assert_int_equal(range->read_only, locked[page]);
        const uint32_t run = run_of(page);
        assert_non_null(lw_ranges_find(memory->ranges, address, run * PAGE)); /* neighbours are one */
        assert_null(lw_ranges_find(memory->ranges, address, run * PAGE + 1));
    }
}

static void pages_come_and_go(void **state) {
    (void)state;
    lw_memory memory;
    uint32_t seed = 4711, changes = 0;
    uint64_t other;
    assert_true(lw_memory_init(&memory, 1 << 20));
    assert_true(lw_memory_take(&memory, 5000, &other));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t page = next_random(&seed) % PAGES, most = PAGES - page,
                       count = 1 + next_random(&seed) % (most < 12 ? most : 12);
        const bool lock = next_random(&seed) % 8 == 0;
        if (next_random(&seed) % 3 == 0) {
            assert_true(lw_memory_unmap(&memory, FROM + page * PAGE, count * PAGE));
            for (uint32_t i = 0; i < count; i++) at[page + i] = NULL, locked[page + i] = false;
        } else {
            char *place = host + (page + (next_random(&seed) % 4 == 0) * PAGES) * PAGE;
            bool is_free = true;
            for (uint32_t i = 0; i < count; i++) is_free &= !at[page + i];
            assert_int_equal(lw_memory_map(&memory, FROM + page * PAGE, place, count * PAGE, lock), is_free);
            for (uint32_t i = 0; i < count && is_free; i++) at[page + i] = place + i * PAGE, locked[page + i] = lock;
            changes += is_free;
        }
        if (round % 50 == 0) check_pages(&memory);
    }
    assert_true(changes > ROUNDS / 10);
    check_order(&memory);
    assert_false(lw_memory_give(&memory, FROM)); /* nobody's to free */
    assert_true(lw_memory_unmap(&memory, FROM, PAGES * PAGE));
    assert_int_equal(memory.ranges->count, 1);
    assert_int_equal(memory.used, 5000);
    lw_memory_end(&memory);
}

/* ---- Lent ------------------------------------------------------------------------------------------------------ */

/* Neighbours stay two, and what nothing can have at its own address gets another one. */
static void neighbours_stay_apart(void **state) {
    (void)state;
    lw_memory memory;
    uint64_t a, b, c;
    assert_true(lw_memory_init(&memory, 1 << 20));
    assert_true(lw_memory_lend(&memory, host, 3000, false, &a));
    assert_true(lw_memory_lend(&memory, host + 3000, 500, false, &b));
    assert_int_equal(a, (uintptr_t)host);
    assert_int_equal(b, a + 3000);
    assert_null(lw_ranges_find(memory.ranges, a, 3001));
    assert_true(lw_memory_lend(&memory, host + 1001, 3000, true, &c)); /* in the way of itself */
    assert_true(c != a + 1001 && (c - a - 1001) % 4096 == 0);
    const lw_range *range = lw_ranges_find(memory.ranges, c, 3000);
    assert_true(range && range->host == host + 1001 && range->read_only && range->base == c);
    assert_int_equal(memory.used, 0);
    assert_true(lw_memory_unmap(&memory, a, 3000));
    assert_non_null(lw_ranges_find(memory.ranges, b, 500));
    assert_true(lw_memory_unmap(&memory, c, 3000));
    assert_true(lw_memory_unmap(&memory, b, 500));
    assert_int_equal(memory.ranges->count, 0);
    assert_false(lw_memory_lend(&memory, host, 0, false, &a));
    assert_false(lw_memory_lend(&memory, host, UINT64_MAX - 10, false, &a));
    lw_memory_end(&memory);
}

/* ---- Common ---------------------------------------------------------------------------------------------------- */

static void addresses_are_the_hosts(void **state) {
    (void)state;
    enum { MANY = 300 };
    static uint64_t address[MANY], size[MANY];
    lw_memory memory;
    uint32_t seed = 11;
    uint64_t plain, used = 0;
    assert_true(lw_memory_init(&memory, 64u << 20));
    assert_false(lw_memory_is_common(&memory, (uintptr_t)host));
    for (uint32_t round = 0; round < 6000; round++) {
        const uint32_t i = next_random(&seed) % MANY;
        if (size[i]) {
            assert_true(lw_memory_give(&memory, address[i]));
            used -= size[i], size[i] = 0;
            continue;
        }
        size[i] = 1 + next_random(&seed) % 10000;
        used += size[i];
        assert_true(lw_memory_take_common(&memory, size[i], &address[i]));
        assert_int_equal(address[i] % 4096, 0);
        assert_true(lw_memory_is_common(&memory, address[i]));
        const lw_range *range = lw_ranges_find(memory.ranges, address[i], size[i]);
        assert_true(range && (uintptr_t)range->host == range->base && range->base == address[i]);
        for (uint64_t k = 0; k < size[i]; k++) assert_true(range->host[k] == 0);
        memset(range->host, 0xdd, size[i]);
    }
    check_order(&memory);
    assert_int_equal(memory.used, used);
    assert_true(lw_memory_take(&memory, 100, &plain));
    assert_false(lw_memory_is_common(&memory, plain));
    assert_false(lw_memory_take_common(&memory, 65u << 20, &plain));
    assert_true(lw_memory_charge(&memory, (64u << 20) - used - 100));
    assert_false(lw_memory_charge(&memory, 1));
    assert_false(lw_memory_take(&memory, 1, &plain));
    lw_memory_discharge(&memory, 1);
    assert_true(lw_memory_take(&memory, 1, &plain));
    lw_memory_end(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_come_and_go),
        cmocka_unit_test(neighbours_stay_apart),
        cmocka_unit_test(addresses_are_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
