/* bench/ptx/mma_tile.cu in vector C: the columns of a tile of the result in vectors, in f32, where every sum is
 * rounded. Halves are normal numbers. */
#include "vector.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16, PARTS = ROWS / LANES };

static float half_at(const uint32_t *words, uint32_t at) {
    const uint32_t half = words[at / 2] >> (at % 2 * 16) & 0xffff,
                   bits = (half & 0x8000) << 16 | (((half & 0x7fff) << 13) + (112u << 23));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The rows of `left` come twice: they are read from any on. */
static void multiply(float *out, const float left[DEPTH][2 * ROWS], const float right[DEPTH][COLUMNS],
                     uint32_t rounds) {
    fvec sum[COLUMNS][PARTS] = {{{0}}};
    for (uint32_t r = 0; r < rounds; r++) {
        for (int n = 0; n < COLUMNS; n++)
            for (int p = 0; p < PARTS; p++) sum[n][p] *= 0.5f;
        for (uint32_t k = 0; k < DEPTH; k++)
            for (int p = 0; p < PARTS; p++) {
                fvec rows;
                memcpy(&rows, &left[k][(r & (ROWS - 1)) + (uint32_t)p * LANES], sizeof rows);
                for (int n = 0; n < COLUMNS; n++) sum[n][p] = fma_of(rows, right[k][n] - (fvec){0}, sum[n][p]);
            }
    }
    for (int n = 0; n < COLUMNS; n++)
        for (int m = 0; m < ROWS; m++) out[m * COLUMNS + n] = sum[n][m / LANES][m % LANES];
}

void NATIVE(mma_tile)(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t count, uint32_t rounds,
                      uint32_t first_tile, uint32_t tiles) {
    (void)count;
    for (uint32_t tile = first_tile; tile < first_tile + tiles; tile++) {
        const uint32_t *of_a = a + (size_t)tile * ROWS * DEPTH / 2, *of_b = b + (size_t)tile * COLUMNS * DEPTH / 2;
        float left[DEPTH][2 * ROWS], right[DEPTH][COLUMNS];
        for (uint32_t k = 0; k < DEPTH; k++) {
            for (uint32_t m = 0; m < 2 * ROWS; m++) left[k][m] = half_at(of_a, m % ROWS * DEPTH + k);
            for (uint32_t n = 0; n < COLUMNS; n++) right[k][n] = half_at(of_b, n * DEPTH + k);
        }
        multiply((float *)(out + (size_t)tile * ROWS * COLUMNS), left, right, rounds);
    }
}
