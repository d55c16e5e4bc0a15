/* cases.c: the operands. Edge values meet edge values first; what is left is noise from splitmix64, which
 * anyone can repeat. */
#include "silicon.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

uint64_t lw_random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Around the ends of each width, and patterns. Narrower operands take the low bits, so each width finds its
 * own edges. */
static const uint64_t edges[] = {
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x80000001,
    0x40000000,
    0x55555555,
    0x0f0f8001,
    0x12345678,
    0x89abcdef,
    INT64_MAX,
    UINT64_C(1) << 63,
    UINT64_MAX,
    UINT64_C(0x8000000000000001),
    UINT64_C(0xaaaaaaaaaaaaaaaa),
    UINT64_C(0x0123456789abcdef),
};

/* Amounts around each width, and words whose bytes and halves are amounts. */
static const uint64_t amounts[] = {
    0,          1,          2,          7,          8,          15,         16,   17,    30,     31,
    32,         33,         47,         63,         64,         65,         0xff, 0x100, 0xffff, 0x20211f1e,
    0x01020304, 0x8000001f, 0xffffffff, 0x00200001, 0x001f0020, 0x80000000, 0x21, 0x40,
};

static uint64_t any_edge(uint64_t *state) { return edges[lw_random_next(state) % COUNT(edges)]; }

static uint64_t edge_or_noise(uint64_t *state) {
    uint64_t noise = lw_random_next(state);
    return lw_random_next(state) % 4 ? noise : any_edge(state);
}

static uint64_t any_amount(uint64_t *state) {
    uint64_t noise = lw_random_next(state);
    switch (noise >> 62) {
    case 0: return amounts[noise % COUNT(amounts)];
    case 1: return noise % 70;
    case 2: return noise & 0x3f3f3f3f; /* bytes */
    default: return noise & UINT32_MAX;
    }
}

/* Edge values as a by each of `others` as b, then as they come. One statement a number: their order is part of the
 * inputs. */
static void pairs(lw_case *cases, unsigned count, uint64_t state, const uint64_t *others, unsigned other_count,
                  uint64_t any(uint64_t *)) {
    for (unsigned i = 0; i < count; i++) {
        bool edge = i < COUNT(edges) * other_count;
        cases[i].a = edge ? edges[i / other_count] : edge_or_noise(&state);
        cases[i].b = edge ? others[i % other_count] : any(&state);
        cases[i].c = edge_or_noise(&state);
        cases[i].m = lw_random_next(&state);
    }
}

void lw_cases_logic(lw_case *cases, unsigned count) {
    pairs(cases, count, LW_SILICON_SEED, edges, COUNT(edges), edge_or_noise);
}
void lw_cases_shift(lw_case *cases, unsigned count) {
    pairs(cases, count, LW_SILICON_SEED + 1, amounts, COUNT(amounts), any_amount);
}

/* Which lanes of a warp take part: at least one. */
static uint32_t some_lanes(uint64_t *state) {
    static const uint32_t patterns[] = {0xffffffff, 0x55555555, 0xaaaaaaaa, 0xffff0000,
                                        0x0000ffff, 1,          0x80000000, 0x0ff00ff0};
    uint64_t noise = lw_random_next(state);
    uint32_t lanes = noise >> 32;
    switch (noise % 4) {
    case 0: return patterns[noise / 4 % COUNT(patterns)];
    case 1: lanes &= lw_random_next(state); break;
    case 2: lanes |= lw_random_next(state); break;
    }
    return lanes ? lanes : 1;
}

static uint32_t any_source(uint64_t *state) {
    static const uint32_t far[] = {32, 33, 63, 64, 0x80000001, 0xffffffff, 0xffffffe0, 0x7fffffff};
    uint64_t noise = lw_random_next(state);
    uint32_t word = noise >> 32;
    return noise % 8 == 0 ? far[word % COUNT(far)] : noise % 8 == 1 ? word : word % 32;
}

/* Warp w has clamp w % 32 and segment mask w / 32 in c, so 1024 warps have all of them. Half of the warps
 * have noise in the bits of c that mean nothing. The high word of c differs from lane to lane; m has who
 * takes part, and its complement. */
void lw_cases_shuffle(lw_case *cases, unsigned count) {
    uint64_t state = LW_SILICON_SEED + 2;
    for (unsigned i = 0; i < count; i += 32) {
        uint32_t c = i / 32 % 32 | i / 1024 % 32 << 8, noise = (uint32_t)lw_random_next(&state) & 0xffffe0e0;
        uint32_t lanes = some_lanes(&state);
        if (lw_random_next(&state) % 2) c |= noise;
        for (unsigned lane = 0; lane < 32 && i + lane < count; lane++) {
            lw_case *at = &cases[i + lane];
            at->a = lw_random_next(&state) & UINT32_MAX;
            at->b = any_source(&state);
            at->c = lw_random_next(&state) << 32 | c;
            at->m = (uint64_t)~lanes << 32 | lanes;
        }
    }
}
