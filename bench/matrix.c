/* lanewise_bench_matrix [LEVEL]: products of matrices (src/run/interp/matrix.h) by each rule, against multiply-adds of
 * f32 in vector C: how many of either a nanosecond, one thread. Unlike the rest of the bench it looks inside, since an
 * instruction takes its operands from registers of lanes besides. */
#include "native.h"
#include "run/interp/matrix.h"

#include <stdio.h>
#include <time.h>

enum { TURNS = 9, ROUNDS = 64, SIDE = 16 };

#define OF(a, b, c, d) \
    .a_type = LW_MATRIX_##a, .b_type = LW_MATRIX_##b, .c_type = LW_MATRIX_##c, .d_type = LW_MATRIX_##d
#define SIZE(M, N, K) .m = M, .n = N, .k = K
#define BLOCK(Cut, ...) \
    { .rule = LW_MATRIX_block, .cut = Cut, __VA_ARGS__ }
#define RULE(name, ...) \
    { .rule = LW_MATRIX_##name, __VA_ARGS__ }

static const struct {
    const char *name;
    lw_matrix_kind kind;
} products[] = {
    {"mma m16n8k16 f16", BLOCK(LW_MATRIX_CUT, OF(f16, f16, f32, f32), SIZE(16, 8, 16))},
    {"mma m16n8k16 f16, d f16", BLOCK(LW_MATRIX_CUT, OF(f16, f16, f16, f16), SIZE(16, 8, 16))},
    {"mma m16n8k16 bf16", BLOCK(LW_MATRIX_CUT, OF(bf16, bf16, f32, f32), SIZE(16, 8, 16))},
    {"mma m16n8k8 tf32", BLOCK(LW_MATRIX_CUT, OF(tf32, tf32, f32, f32), SIZE(16, 8, 8))},
    {"mma.sp m16n8k32 f16", BLOCK(LW_MATRIX_CUT, OF(f16, f16, f32, f32), SIZE(16, 8, 16), .b_per_row = true)},
    {"wmma m16n16k16 f16", BLOCK(LW_MATRIX_CUT, OF(f16, f16, f32, f32), SIZE(16, 16, 16))},
    {"wgmma m64n128k16 f16", BLOCK(LW_MATRIX_CUT, OF(f16, f16, f32, f32), SIZE(64, 128, 16))},
    {"wgmma m64n128k32 e4m3", BLOCK(LW_MATRIX_CUT_WGMMA_FP8, OF(e4m3, e4m3, f32, f32), SIZE(64, 128, 32))},
    {"mma m16n8k32 e4m3", RULE(pairs, OF(e4m3, e4m3, f32, f32), SIZE(16, 8, 32))},
    {"mma m8n8k4 f16", RULE(sums, OF(f16, f16, f32, f32), SIZE(8, 8, 4))},
    {"mma m16n8k16 f64", RULE(fma, OF(f64, f64, f64, f64), SIZE(16, 8, 16))},
    {"mma m16n8k32 s8", RULE(integer, OF(s8, s8, s32, s32), SIZE(16, 8, 32))},
    {"wgmma m64n128k32 u8", RULE(integer, OF(u8, u8, s32, s32), SIZE(64, 128, 32))},
    {"mma m16n8k256 b1", RULE(bits, OF(b1, b1, s32, s32), SIZE(16, 8, 256))},
};

static _Alignas(64) unsigned char a[64 * 128], b[128 * 128], c[64 * 128 * 8], d[64 * 128 * 8];

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Numbers about 1, whose exponents differ by a few, in any format of so many bits. */
static void fill(unsigned char *to, size_t size, lw_matrix_type type) {
    const size_t bytes = type == LW_MATRIX_b1 ? 1 : lw_matrix_bytes(type, 1);
    static uint64_t state = 1;
    for (size_t i = 0; i + bytes <= size; i += bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state >> 32 | state << 32;
        const uint64_t keep = type == LW_MATRIX_e4m3  ? 0xbf
                              : type == LW_MATRIX_f16 ? 0x8fff
                                                      : 0x81ff,
                       set = type == LW_MATRIX_e4m3  ? 0
                             : type == LW_MATRIX_f16 ? 0x3000
                                                     : 0x3e00;
        if (type < LW_MATRIX_s8)
            bits = type == LW_MATRIX_e4m3 ? bits & keep : (bits & (keep << (8 * bytes - 16))) | set << (8 * bytes - 16);
        memcpy(to + i, &bits, bytes);
    }
}

static double time_product(const lw_level *level, const lw_matrix_kind *kind) {
    const double products_each = (double)kind->m * kind->n * kind->k;
    const uint32_t count = 1 + (uint32_t)(2e6 / products_each);
    double best = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = seconds();
        for (uint32_t i = 0; i < count; i++) level->multiply(kind, a, b, c, d);
        const double each = (seconds() - start) / count;
        best = each < best ? each : best;
    }
    return best;
}

/* Multiply-adds a nanosecond. */
static double time_native(const lw_native *native) {
    static uint32_t left[SIDE * SIDE], right[SIDE * SIDE], out[SIDE * SIDE];
    double best = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = seconds();
        for (int i = 0; i < 10; i++) native->sgemm(out, left, right, SIDE * SIDE, ROUNDS, 0, 1);
        const double each = (seconds() - start) / 10;
        best = each < best ? each : best;
    }
    return 1e-9 * ROUNDS * SIDE * SIDE * SIDE / best;
}

int main(int argc, char **argv) {
    const lw_level *const *level = lw_levels;
    while (*level && (!lw_level_has(*level) || (argc > 1 && strcmp((*level)->name, argv[1])))) level++;
    if (!*level) return fprintf(stderr, "lanewise_bench_matrix: no level '%s' here\n", argc > 1 ? argv[1] : "");
    const lw_native *native = lw_native_find((*level)->name);
    const double plain = native ? time_native(native) : 0;
    printf("%s: %.1f multiply-adds of f32 a nanosecond\n", (*level)->name, plain);
    printf("%-28s %9s %12s %8s\n", "", "ns", "products/ns", "ratio");
    for (size_t i = 0; i < LW_COUNT(products); i++) {
        const lw_matrix_kind *kind = &products[i].kind;
        fill(a, sizeof a, kind->a_type);
        fill(b, sizeof b, kind->b_type);
        memset(c, 0, sizeof c);
        const double time = time_product(*level, kind), rate = 1e-9 * kind->m * kind->n * kind->k / time;
        printf("%-28s %9.0f %12.2f %8.2f\n", products[i].name, time * 1e9, rate, plain > 0 ? rate / plain : 0);
    }
    return 0;
}
