// A sparse matrix times a vector, rows as compressed lists of unlike length, a row for each thread. Rounds add up, halved each time.

#include <stdint.h>

extern "C" __global__ void spmv(float *y, const uint32_t *row, const uint32_t *column, const float *value, const float *x, uint32_t count,
                                uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    float sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t k = row[i]; k < row[i + 1]; k++) sum = __fmaf_rn(value[k], x[column[k]], sum);
        sum *= 0.5f;
    }
    y[i] = sum;
}
