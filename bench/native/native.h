/* Hand-written vector C for the kernels of examples/ and bench/ptx/: the baseline that the benchmarks compare the
 * engines with.
 *
 * Every function takes the parameters of its PTX kernel, in the same order and with the same memory layout
 * (see examples/README.md), so the outputs compare bit for bit. Two more parameters say which part of the
 * grid to do, so that work can be split over CPUs. Nothing is allocated, nothing is shared: calls on disjoint
 * parts may run at the same time. */
#ifndef LW_BENCH_NATIVE_H
#define LW_BENCH_NATIVE_H

#include <stdint.h>

/* The kernels at one CPU level. */
typedef struct lw_native {
    const char *level; /* "v4", "v3", "v2" of x86-64, or "portable" */
    uint32_t lanes;    /* 32-bit lanes of a vector */

    void (*sha256)(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds, uint32_t first,
                   uint32_t threads);
    void (*chacha20)(uint32_t *out, const uint32_t *key, const uint32_t *nonce, uint32_t counter, uint32_t count,
                     uint32_t rounds, uint32_t first, uint32_t threads);
    void (*xorshift)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                     uint32_t threads);
    void (*bigshift)(uint32_t *out, const uint32_t *number, const uint32_t *amount, uint32_t count, uint32_t rounds,
                     uint32_t first, uint32_t threads);
    /* Whole blocks of `block` threads, a multiple of 32 and at most 1024, from `first_block` on. */
    void (*scan)(uint32_t *sums, uint32_t *maxima, const uint32_t *values, uint32_t count, uint32_t rounds,
                 uint32_t block, uint32_t first_block, uint32_t blocks);
    /* Whole rows, from `first_row` on. */
    void (*mandelbrot)(uint32_t *iterations, uint32_t width, uint32_t height, float left, float top, float step,
                       uint32_t limit, uint32_t first_row, uint32_t rows);

    /* bench/ptx: kernels that nothing here was tuned for. Blocks of bitonic have 512 keys; numbers of mix64 are two
     * words, those of spmv the bits of floats. */
    void (*md5)(uint32_t *digest, const uint32_t *message, uint32_t count, uint32_t rounds, uint32_t first,
                uint32_t threads);
    void (*mix64)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                  uint32_t threads);
    void (*crc32)(uint32_t *out, const uint32_t *data, const uint32_t *table, uint32_t count, uint32_t rounds,
                  uint32_t first, uint32_t threads);
    void (*spmv)(uint32_t *y, const uint32_t *row, const uint32_t *column, const uint32_t *value, const uint32_t *x,
                 uint32_t count, uint32_t rounds, uint32_t first, uint32_t threads);
    void (*bitonic)(uint32_t *out, const uint32_t *keys, uint32_t count, uint32_t rounds, uint32_t first_block,
                    uint32_t blocks);
    void (*collatz)(uint32_t *out, const uint32_t *seed, uint32_t count, uint32_t rounds, uint32_t first,
                    uint32_t threads);

    /* bench/ptx: floating point. Numbers are the bits of floats, and near those of the PTX kernels: roots, powers and
     * halves are rounded in other ways. Blocks of sgemm have 256 numbers. */
    void (*saxpy)(uint32_t *out, const uint32_t *x, const uint32_t *y, uint32_t count, uint32_t rounds, uint32_t first,
                  uint32_t threads);
    void (*nbody)(uint32_t *out, const uint32_t *place, const uint32_t *body, uint32_t count, uint32_t rounds,
                  uint32_t first, uint32_t threads);
    void (*softmax)(uint32_t *out, const uint32_t *in, uint32_t count, uint32_t rounds, uint32_t first,
                    uint32_t threads);
    void (*halfpoly)(uint32_t *out, const uint32_t *in, uint32_t count, uint32_t rounds, uint32_t first,
                     uint32_t threads);
    void (*sgemm)(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t count, uint32_t rounds,
                  uint32_t first_block, uint32_t blocks);

    /* A tile of 16 by 8 floats for each warp: 128 words of a, 64 of b, halves, which are normal numbers. */
    void (*mma_tile)(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t count, uint32_t rounds,
                     uint32_t first_tile, uint32_t tiles);

    /* Linear lookups in 256 by 256 texels of four bytes, `rounds` from each place on, which are all added. */
    void (*bilinear)(uint32_t *out, const uint32_t *texels, const uint32_t *places, uint32_t count, uint32_t rounds,
                     uint32_t first, uint32_t threads);

    /* pto.vshr of i32 under a mask, a bit for each lane; other lanes stay. Turns of 48 shifts on 8 registers of 64
     * lanes, and an array: a multiple of 16 elements. */
    void (*vshr_registers)(int32_t *registers, const uint32_t *counts, const uint8_t *mask, uint32_t turns);
    void (*vshr_array)(int32_t *to, const int32_t *from, const uint32_t *counts, const uint8_t *mask, uint32_t count);
} lw_native;

/* The kernels at a level by name, or at the best level for level = NULL. NULL if this build or this CPU lacks
 * the level. */
const lw_native *lw_native_find(const char *level);

#endif
