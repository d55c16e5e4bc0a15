/* examples/bigshift in vector C: a 512-bit number in every lane, word k of LANES numbers in one vector. */
#include "vector.h"

enum { WORDS = 16 };

/* A statement for every word, with k as a constant: gcc keeps the words in registers for this, but not for a
 * loop. */
#define K_(i, ...) \
    { \
        enum { k = i }; \
        __VA_ARGS__ \
    }
/* clang-format off */
#define UPWARD(...)                                                                                          \
    K_(0, __VA_ARGS__)                                                                                       \
    K_(1, __VA_ARGS__) K_(2, __VA_ARGS__) K_(3, __VA_ARGS__) K_(4, __VA_ARGS__) K_(5, __VA_ARGS__)           \
        K_(6, __VA_ARGS__) K_(7, __VA_ARGS__) K_(8, __VA_ARGS__) K_(9, __VA_ARGS__) K_(10, __VA_ARGS__)      \
            K_(11, __VA_ARGS__) K_(12, __VA_ARGS__) K_(13, __VA_ARGS__) K_(14, __VA_ARGS__)                  \
                K_(15, __VA_ARGS__)
/* clang-format on */
/* clang-format off */
#define DOWNWARD(...)                                                                                        \
    K_(15, __VA_ARGS__)                                                                                      \
    K_(14, __VA_ARGS__) K_(13, __VA_ARGS__) K_(12, __VA_ARGS__) K_(11, __VA_ARGS__) K_(10, __VA_ARGS__)      \
        K_(9, __VA_ARGS__) K_(8, __VA_ARGS__) K_(7, __VA_ARGS__) K_(6, __VA_ARGS__) K_(5, __VA_ARGS__)       \
            K_(4, __VA_ARGS__) K_(3, __VA_ARGS__) K_(2, __VA_ARGS__) K_(1, __VA_ARGS__) K_(0, __VA_ARGS__)
/* clang-format on */

/* One step of the shift by whole words, in place, in the order in which every word is read before it is
 * written. */
#define MOVE_LEFT(step)  DOWNWARD(d[k] = k >= step ? pick(move, d[k - step], d[k]) : drop(move, d[k]);)
#define MOVE_RIGHT(step) UPWARD(d[k] = k + step < WORDS ? pick(move, d[k + step], d[k]) : drop(move, d[k]);)

static inline void shift_left(vec d[WORDS], const vec a[WORDS], vec n) {
    mask move = test(n, splat(256));
    DOWNWARD(d[k] = k >= 8 ? pick(move, a[k - 8], a[k]) : drop(move, a[k]);)
    move = test(n, splat(128));
    MOVE_LEFT(4)
    move = test(n, splat(64));
    MOVE_LEFT(2)
    move = test(n, splat(32));
    MOVE_LEFT(1)
    vec bits = n & splat(31), rest = splat(32) - bits;
    DOWNWARD(d[k] = shift_left_each(d[k], bits); if (k > 0) d[k] |= shift_right_each(d[k - 1], rest);)
}

static inline void shift_right(vec d[WORDS], const vec a[WORDS], vec n) {
    mask move = test(n, splat(256));
    UPWARD(d[k] = k + 8 < WORDS ? pick(move, a[k + 8], a[k]) : drop(move, a[k]);)
    move = test(n, splat(128));
    MOVE_RIGHT(4)
    move = test(n, splat(64));
    MOVE_RIGHT(2)
    move = test(n, splat(32));
    MOVE_RIGHT(1)
    vec bits = n & splat(31), rest = splat(32) - bits;
    UPWARD(d[k] = shift_right_each(d[k], bits); if (k + 1 < WORDS) d[k] |= shift_left_each(d[k + 1], rest);)
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
        UPWARD(start[k] = drop(over, x[k]);)
        shift_left(left, start, n);
        shift_right(right, start, n);
        for (uint32_t r = 1; r < rounds; r++) {
            UPWARD(x[k] = xor3(x[k], left[k], right[k]);)
            n = (n + x[0]) & splat(511);
            shift_left(left, x, n);
            shift_right(right, x, n);
        }
        store_rows(out + (size_t)i * 2 * WORDS, left, WORDS, 2 * WORDS, rows);
        store_rows(out + (size_t)i * 2 * WORDS + WORDS, right, WORDS, 2 * WORDS, rows);
    }
}
