// Escape times of the Mandelbrot set, one thread a pixel, f32: a loop that every lane leaves at its own time.
//
// The rounding of every operation is written out (…_rn), so that the compiler neither fuses nor splits any of
// them and the counts are the same on every machine.

#include <stdint.h>

extern "C" __global__ void mandelbrot(uint32_t *iterations, uint32_t width, uint32_t height, float left,
                                      float top, float step, uint32_t limit) {
    uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;

    float cx = __fmaf_rn((float)column, step, left);
    float cy = __fmaf_rn((float)row, step, top);
    float x = 0, y = 0;
    uint32_t n = 0;
    while (n < limit) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fadd_rn(x, x), y, cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
        n++;
    }
    iterations[(size_t)row * width + column] = n;
}
