/* bench/ptx/sgemm.cu in vector C: the rows of a block of the result in vectors. */
#include "vector.h"

void NATIVE(sgemm)(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t count, uint32_t rounds,
                   uint32_t first_block, uint32_t blocks) {
    enum { SIDE = 16, ROWS = 4, PARTS = SIDE / LANES };
    (void)count;
    for (uint32_t block = first_block; block < first_block + blocks; block++) {
        const float *left = (const float *)(a + (size_t)block * SIDE * SIDE);
        fvec right[SIDE][PARTS];
        memcpy(right, b + (size_t)block * SIDE * SIDE, sizeof right);
        for (uint32_t y = 0; y < SIDE; y += ROWS) {
            fvec sum[ROWS][PARTS] = {{{0}}};
            for (uint32_t r = 0; r < rounds; r++) {
                for (int u = 0; u < ROWS; u++)
                    for (int p = 0; p < PARTS; p++) sum[u][p] *= 0.5f;
                for (uint32_t k = 0; k < SIDE; k++)
                    for (int u = 0; u < ROWS; u++) {
                        fvec value = left[((y + (uint32_t)u + r) & (SIDE - 1)) * SIDE + k] - (fvec){0};
                        for (int p = 0; p < PARTS; p++) sum[u][p] = fma_of(value, right[k][p], sum[u][p]);
                    }
            }
            memcpy(out + (size_t)block * SIDE * SIDE + y * SIDE, sum, sizeof sum);
        }
    }
}
