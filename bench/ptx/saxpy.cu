// y = a * x + y, an element for each thread, in memory each round.

#include <stdint.h>

extern "C" __global__ void saxpy(float *out, const float *x, const float *y, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    out[i] = y[i];
    for (uint32_t r = 0; r < rounds; r++) out[i] = __fmaf_rn(0.25f, x[i], out[i]);
}
