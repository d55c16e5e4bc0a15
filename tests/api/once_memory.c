/* Device memory: the calls of the public interface, and the allocator below them against a plain model. */
#include "api.h"

#include "run/run.h"

/* ---- The calls ------------------------------------------------------------------------------------------------ */

static void memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    static char bytes[10000];
    for (int round = 0; round < 3; round++) {
        uint64_t address = new_buffer(context, sizeof bytes);
        assert_int_equal(address % 256, 0);
        assert_int_equal(lw_memory_read(context, address, bytes, sizeof bytes), LW_OK);
        for (size_t i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], 0);
        memset(bytes, 0x5a, sizeof bytes);
        assert_int_equal(lw_memory_write(context, address, bytes, sizeof bytes), LW_OK);
        assert_int_equal(lw_memory_free(context, address), LW_OK);
    }
    lw_context_free(context);
}

static void copies_go_where_they_should(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    uint64_t a = new_buffer(context, 64), b = new_buffer(context, 64);
    uint8_t bytes[64], back[64];
    for (int i = 0; i < 64; i++) bytes[i] = (uint8_t)(i * 7);
    assert_int_equal(lw_memory_write(context, a, bytes, 64), LW_OK);
    assert_int_equal(lw_memory_copy(context, b + 8, a + 4, 32), LW_OK);
    assert_int_equal(lw_memory_read(context, b, back, 64), LW_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(back[i], i >= 8 && i < 40 ? bytes[i - 4] : 0);
    assert_int_equal(lw_memory_copy(context, a + 1, a, 63), LW_OK); /* overlapping */
    assert_int_equal(lw_memory_read(context, a, back, 64), LW_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(back[i], bytes[i ? i - 1 : 0]);
    lw_context_free(context);
}

static void fills_take_four_widths(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    uint64_t a = new_buffer(context, 64), value = 0x1122334455667788;
    uint8_t back[64];
    for (uint32_t width = 1; width <= 8; width *= 2) {
        assert_int_equal(lw_memory_fill(context, a, 0, 1, 64), LW_OK);
        assert_int_equal(lw_memory_fill(context, a + 8, value, width, 5), LW_OK);
        assert_int_equal(lw_memory_read(context, a, back, 64), LW_OK);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(back[i], i >= 8 && i < 8 + 5 * width ? value >> 8 * ((i - 8) % width) & 0xff : 0);
    }
    assert_int_equal(lw_memory_fill(context, a, 0, 3, 1), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_fill(context, a, 0, 8, 9), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_fill(context, a, 0, 8, UINT64_MAX / 4), LW_BAD_ARGUMENT);
    lw_context_free(context);
}

static void bad_memory_calls_are_refused(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    uint64_t address = new_buffer(context, 100), other = new_buffer(context, 100), base, size;
    char bytes[200];
    assert_int_equal(lw_memory_new(context, 0, &base), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_new(context, 1, NULL), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_new(context, 1ull << 40, &base), LW_NO_MEMORY);
    assert_message(context, "1099511627776 bytes");
    assert_int_equal(lw_memory_new(context, UINT64_MAX, &base), LW_NO_MEMORY);
    assert_int_equal(lw_memory_read(context, address, bytes, 101), LW_BAD_ARGUMENT);
    assert_message(context, "the last 1 byte of it is past the end of the 100-byte allocation");
    assert_int_equal(lw_memory_read(context, address + 112, bytes, 4), LW_BAD_ARGUMENT);
    assert_message(context, "12 bytes past the end of the 100-byte allocation");
    assert_int_equal(lw_memory_write(context, address - 16, bytes, 4), LW_BAD_ARGUMENT);
    assert_message(context, "16 bytes before the 100-byte allocation");
    assert_int_equal(lw_memory_write(context, address, bytes, UINT64_MAX), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_read(context, address, NULL, 4), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_write(context, address, NULL, 4), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_copy(context, address, other + 90, 11), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_copy(context, other + 90, address, 11), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_read(context, 0, NULL, 0), LW_OK);
    assert_int_equal(lw_memory_free(context, address + 1), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_range(context, address + 99, &base, &size), LW_OK);
    assert_int_equal(base, address);
    assert_int_equal(size, 100);
    assert_int_equal(lw_memory_range(context, address + 100, &base, &size), LW_NOT_FOUND);
    assert_int_equal(lw_memory_free(context, address), LW_OK);
    assert_int_equal(lw_memory_free(context, address), LW_BAD_ARGUMENT);
    assert_int_equal(lw_memory_read(context, address, bytes, 1), LW_BAD_ARGUMENT);
    lw_context_free(context);
}

static void limit_counts_what_is_in_use(void **state) {
    (void)state;
    lw_context *context;
    uint64_t a, b, c;
    assert_int_equal(lw_context_new(&(lw_options){.threads = 1, .memory_limit = 1000}, &context), LW_OK);
    assert_int_equal(lw_memory_new(context, 600, &a), LW_OK);
    assert_int_equal(lw_memory_new(context, 401, &b), LW_NO_MEMORY);
    assert_message(context, "600 of 1000 are in use");
    assert_int_equal(lw_memory_new(context, 400, &b), LW_OK);
    assert_int_equal(lw_memory_free(context, a), LW_OK);
    assert_int_equal(lw_memory_new(context, 600, &c), LW_OK);
    lw_context_free(context);
}

/* ---- The allocator --------------------------------------------------------------------------------------------- */

enum { SLOTS = 300, ROUNDS = 20000 };

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

/* What can be allocated between two neighbours: both keep 256 bytes of distance, and ten times as much more behind 4096
 * bytes and above. */
static uint64_t room_between(const lw_range *last, const lw_range *next) {
    uint64_t from = last ? ((last->base + last->size + 255) & ~255ull) + 256 + (last->size >= 4096 ? 2560 : 0) : 0;
    return next->base > from + 256 ? next->base - 256 - from : 0;
}

/* Neighbours keep their distance, every byte reads as zero first, and look-ups find the range or nothing. */
static void check_list(const lw_memory *memory, uint64_t live, uint64_t used) {
    const lw_ranges *ranges = memory->ranges;
    assert_int_equal(ranges->count, live);
    assert_int_equal(memory->used, used);
    const lw_range *last = NULL;
    uint64_t count = 0;
    for (uint32_t p = 0; p < ranges->part_count; p++) {
        const lw_ranges_part *part = ranges->parts[p].part;
        assert_true(part->count && part->count <= LW_PART_RANGES && ranges->parts[p].first == part->at[0].base);
        for (uint32_t i = 0; i < part->count; last = &part->at[i++]) {
            assert_true(!last || part->at[i].base >= last->base + last->size + 256);
            assert_true(ranges->parts[p].gap >= room_between(last, &part->at[i]));
            count++;
        }
    }
    assert_int_equal(count, live);
}

static void churn(bool low) {
    static uint64_t at[SLOTS], size[SLOTS];
    memset(size, 0, sizeof size);
    lw_memory memory;
    uint64_t live = 0, used = 0;
    uint32_t seed = 12345;
    assert_true(lw_memory_init(&memory, 64u << 20));
    memory.low = low;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t slot = next_random(&seed) % SLOTS;
        if (size[slot]) {
            const lw_range *range = lw_ranges_find(memory.ranges, at[slot], size[slot]);
            assert_non_null(range);
            assert_int_equal(range->base, at[slot]);
            assert_null(lw_ranges_find(memory.ranges, at[slot], size[slot] + 1));
            assert_true(lw_memory_give(&memory, at[slot]));
            assert_false(lw_memory_give(&memory, at[slot]));
            live--, used -= size[slot], size[slot] = 0;
        } else {
            size[slot] = 1 + next_random(&seed) % (next_random(&seed) % 16 ? 3000 : 60000);
            assert_true(lw_memory_take(&memory, size[slot], &at[slot]));
            assert_int_equal(at[slot] % 256, 0);
            assert_true(!low || at[slot] + size[slot] <= 1ull << 32);
            live++, used += size[slot];
            char *host = lw_ranges_find(memory.ranges, at[slot], size[slot])->host;
            for (uint64_t i = 0; i < size[slot]; i++) assert_true(host[i] == 0);
            memset(host, 0xee, size[slot]);
        }
        if (round % 100 == 0) check_list(&memory, live, used);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (size[slot]) assert_true(lw_memory_give(&memory, at[slot]));
    check_list(&memory, 0, 0);
    lw_memory_end(&memory);
}

static void churn_keeps_the_list_sound(void **state) {
    (void)state;
    churn(false);
    churn(true);
}

/* What a launch holds does not change under it, and can be read and written after it was freed. */
static void held_lists_stay(void **state) {
    (void)state;
    lw_memory memory;
    uint64_t a, b;
    assert_true(lw_memory_init(&memory, 1 << 20));
    assert_true(lw_memory_take(&memory, 5000, &a));
    lw_ranges *held = lw_memory_hold(&memory);
    assert_true(lw_memory_give(&memory, a));
    assert_true(lw_memory_take(&memory, 100000, &b));
    assert_int_equal(held->count, 1);
    const lw_range *range = lw_ranges_find(held, a, 5000);
    assert_non_null(range);
    memset(range->host, 1, 5000);
    lw_ranges_drop(held);
    lw_memory_end(&memory);
}

/* The same while a thousand others come and go: parts of the list are shared with the one that changes. */
static void held_lists_stay_while_others_change(void **state) {
    (void)state;
    enum { MANY = 1000 };
    static uint64_t at[MANY];
    lw_memory memory;
    uint32_t seed = 777;
    assert_true(lw_memory_init(&memory, 64u << 20));
    for (uint32_t i = 0; i < MANY; i++) assert_true(lw_memory_take(&memory, 100 + i, &at[i]));
    lw_ranges *held = lw_memory_hold(&memory);
    for (uint32_t round = 0; round < 4 * MANY; round++) {
        uint64_t other;
        uint32_t slot = next_random(&seed) % MANY;
        if (lw_memory_give(&memory, at[slot])) continue;
        assert_true(lw_memory_take(&memory, 50, &other));
    }
    assert_int_equal(held->count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        const lw_range *range = lw_ranges_find(held, at[i], 100 + i);
        assert_non_null(range);
        assert_int_equal(range->base, at[i]);
        assert_int_equal(range->size, 100 + i);
    }
    check_list(&memory, memory.ranges->count, memory.used);
    lw_ranges_drop(held);
    lw_memory_end(&memory);
}

/* Addresses run out in the low zone long before the accounting says so. */
static void full_zones_say_so(void **state) {
    (void)state;
    lw_memory memory;
    uint64_t address, count = 0, freed = 0;
    assert_true(lw_memory_init(&memory, UINT64_MAX));
    memory.low = true;
    while (lw_memory_take(&memory, 100u << 20, &address)) {
        if (count++ == 5) freed = address;
    }
    assert_true(count >= 1 && count <= 38); /* (4 GiB - 256 MiB) / 100 MiB */
    if (freed) {
        assert_true(lw_memory_give(&memory, freed));
        assert_true(lw_memory_take(&memory, 100u << 20, &address));
        assert_int_equal(address, freed); /* the only gap that is left */
    }
    lw_memory_end(&memory);
}

/* By a walk over all of them: whether some gap between two allocations takes so much. */
static bool some_gap_takes(const lw_ranges *ranges, uint64_t size) {
    const lw_range *last = NULL;
    for (uint32_t p = 0; p < ranges->part_count; p++)
        for (uint32_t i = 0; i < ranges->parts[p].part->count; last = &ranges->parts[p].part->at[i++])
            if (last && room_between(last, &ranges->parts[p].part->at[i]) >= size) return true;
    return false;
}

/* Thousands of allocations without a byte behind them: each that fits into some gap is made, wherever that is, and no
 * other one. */
static void gaps_are_found_in_full_memory(void **state) {
    (void)state;
    enum { UNIT = 1 << 18, MOST = 1 << 14, TRIES = 3000 };
    static uint64_t at[MOST];
    lw_memory memory;
    uint32_t count = 0, seed = 99, made = 0, refused = 0;
    assert_true(lw_memory_init(&memory, UINT64_MAX));
    memory.low = true;
    while (count < MOST && lw_memory_take(&memory, UNIT, &at[count])) count++;
    for (uint64_t size = UNIT / 2, end; size >= 256; size /= 2) /* nor behind the last */
        while (lw_memory_take(&memory, size, &end)) {}
    check_list(&memory, memory.ranges->count, memory.used);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t address, size = (1 + next_random(&seed) % 5) * (uint64_t)(UNIT / 2);
        if (next_random(&seed) % 4 == 0)
            lw_memory_give(&memory, at[1 + next_random(&seed) % (count - 1)]); /* some of them again */
        bool possible = some_gap_takes(memory.ranges, size);
        assert_int_equal(lw_memory_take(&memory, size, &address), possible);
        made += possible, refused += !possible;
    }
    assert_true(made > TRIES / 20 && refused > TRIES / 20);
    check_list(&memory, memory.ranges->count, memory.used);
    lw_memory_end(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(copies_go_where_they_should),
        cmocka_unit_test(fills_take_four_widths),
        cmocka_unit_test(bad_memory_calls_are_refused),
        cmocka_unit_test(limit_counts_what_is_in_use),
        cmocka_unit_test(churn_keeps_the_list_sound),
        cmocka_unit_test(held_lists_stay),
        cmocka_unit_test(held_lists_stay_while_others_change),
        cmocka_unit_test(full_zones_say_so),
        cmocka_unit_test(gaps_are_found_in_full_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
