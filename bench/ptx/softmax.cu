// Softmax of rows of 16 numbers by powers of two, a row for each thread, the numbers of all rows side by side. Each round takes the result of the one before,
// with what the row was.

#include <stdint.h>

__device__ static float power(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

extern "C" __global__ void softmax(float *out, const float *in, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    float v[16];
    for (uint32_t k = 0; k < 16; k++) v[k] = in[k * count + i];
    for (uint32_t r = 0; r < rounds; r++) {
        float most = v[0], sum = 0;
        for (uint32_t k = 1; k < 16; k++) most = fmaxf(most, v[k]);
        for (uint32_t k = 0; k < 16; k++) sum += v[k] = power(4.0f * (v[k] - most));
        float scale = __frcp_rn(sum);
        for (uint32_t k = 0; k < 16; k++) v[k] = __fmaf_rn(v[k], scale, 0.0625f * (float)k);
    }
    for (uint32_t k = 0; k < 16; k++) out[k * count + i] = v[k];
}
