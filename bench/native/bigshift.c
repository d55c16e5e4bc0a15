/* examples/bigshift in vector C: a 512-bit number in every lane, word k of LANES numbers in one vector. */
#include "vector.h"

enum { WORDS = 16 };

/* One step of the shift by whole words, downwards in place so that every word is read before it is written. */
#define MOVE_LEFT(step)                                                                                               \
    for (int k = WORDS - 1; k >= 0; k--) d[k] = k >= step ? pick(move, d[k - step], d[k]) : drop(move, d[k]);
#define MOVE_RIGHT(step)                                                                                              \
    for (int k = 0; k < WORDS; k++) d[k] = k + step < WORDS ? pick(move, d[k + step], d[k]) : drop(move, d[k]);

static inline void shift_left(vec d[WORDS], const vec a[WORDS], vec n) {
    mask move = test(n, splat(256));
    for (int k = WORDS - 1; k >= 0; k--) d[k] = k >= 8 ? pick(move, a[k - 8], a[k]) : drop(move, a[k]);
    move = test(n, splat(128));
    MOVE_LEFT(4)
    move = test(n, splat(64));
    MOVE_LEFT(2)
    move = test(n, splat(32));
    MOVE_LEFT(1)
    vec bits = n & splat(31), rest = splat(32) - bits;
    for (int k = WORDS - 1; k > 0; k--) d[k] = shift_left_each(d[k], bits) | shift_right_each(d[k - 1], rest);
    d[0] = shift_left_each(d[0], bits);
}

static inline void shift_right(vec d[WORDS], const vec a[WORDS], vec n) {
    mask move = test(n, splat(256));
    for (int k = 0; k < WORDS; k++) d[k] = k + 8 < WORDS ? pick(move, a[k + 8], a[k]) : drop(move, a[k]);
    move = test(n, splat(128));
    MOVE_RIGHT(4)
    move = test(n, splat(64));
    MOVE_RIGHT(2)
    move = test(n, splat(32));
    MOVE_RIGHT(1)
    vec bits = n & splat(31), rest = splat(32) - bits;
    for (int k = 0; k < WORDS - 1; k++) d[k] = shift_right_each(d[k], bits) | shift_left_each(d[k + 1], rest);
    d[WORDS - 1] = shift_right_each(d[WORDS - 1], bits);
}

void NATIVE(bigshift)(uint32_t *out, const uint32_t *number, const uint32_t *amount, uint32_t count, uint32_t rounds,
                      uint32_t first, uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        uint32_t rows = least(LANES, end - i);
        vec x[WORDS], start[WORDS], left[WORDS], right[WORDS], n = {0};
        load_rows(x, number + (size_t)i * WORDS, WORDS, rows);
        memcpy(&n, amount + i, 4 * rows);
        /* Only a first amount can be 512 or more: such a lane shifts 0 for one round. */
        mask over = test(n, splat(~511u));
        for (int k = 0; k < WORDS; k++) start[k] = drop(over, x[k]);
        shift_left(left, start, n);
        shift_right(right, start, n);
        for (uint32_t r = 1; r < rounds; r++) {
            for (int k = 0; k < WORDS; k++) x[k] = xor3(x[k], left[k], right[k]);
            n = (n + x[0]) & splat(511);
            shift_left(left, x, n);
            shift_right(right, x, n);
        }
        store_rows(out + (size_t)i * 2 * WORDS, left, WORDS, 2 * WORDS, rows);
        store_rows(out + (size_t)i * 2 * WORDS + WORDS, right, WORDS, 2 * WORDS, rows);
    }
}
