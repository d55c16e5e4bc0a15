// Kernels in blocks of several rows, which their names end with, as classes.cu has them in blocks of one: each takes an output and an input of side x side words and the side, one thread a word.

#include <stdint.h>

typedef uint32_t u32;

__device__ u32 column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ u32 row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ float number(u32 word) { return (float)(int)word * 0x1p-31f; }

// The input by its own transpose.
extern "C" __global__ void sgemm_16x16(float *to, const u32 *from, u32 side) {
    __shared__ float a[16][16], b[16][16];
    u32 x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (u32 k = 0; k < side; k += 16) {
        a[y][x] = number(from[row() * side + k + x]);
        b[y][x] = number(from[(k + y) * side + column()]);
        __syncthreads();
        for (u32 i = 0; i < 16; i++) sum = __fmaf_rn(a[y][i], b[i][x], sum);
        __syncthreads();
    }
    to[row() * side + column()] = sum;
}

extern "C" __global__ void transpose_32x8(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 tile[32][33];
    u32 x = threadIdx.x, y = threadIdx.y, a = blockIdx.x * 32, b = blockIdx.y / 4 * 32;
    for (u32 k = 0; k < 32; k += 8) tile[y + k][x] = from[(b + y + k) * side + a + x];
    __syncthreads();
    for (u32 k = 0; k < 32; k += 8) to[(a + y + k) * side + b + x] = tile[x][y + k];
}

extern "C" __global__ void transpose_16x16(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 tile[16][17];
    u32 x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = from[row() * side + column()];
    __syncthreads();
    to[(blockIdx.x * 16 + y) * side + blockIdx.y * 16 + x] = tile[x][y];
}

// The mean of nine, from device memory.
extern "C" __global__ void box_16x16(u32 *to, const u32 *from, u32 side) {
    u32 x = column(), y = row(), sum = 0;
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) sum += from[(y + dy) * side + x + dx] >> 4;
    to[y * side + x] = sum / 9;
}

// Five by five, through shared memory with an edge of two.
extern "C" __global__ void convolve_32x8(float *to, const u32 *from, u32 side) {
    __shared__ float part[12][36];
    u32 x = threadIdx.x, y = threadIdx.y;
    for (u32 j = y; j < 12; j += 8)
        for (u32 i = x; i < 36; i += 32) {
            int at_x = (int)(blockIdx.x * 32 + i) - 2, at_y = (int)(blockIdx.y * 8 + j) - 2;
            at_x = min(max(at_x, 0), (int)side - 1), at_y = min(max(at_y, 0), (int)side - 1);
            part[j][i] = number(from[at_y * side + at_x]);
        }
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) sum += part[y + j][x + i] * (float)(1 + j * (4 - j) + i * (4 - i));
    to[row() * side + column()] = sum;
}

extern "C" __global__ void life_16x16(u32 *to, const u32 *from, u32 side) {
    u32 x = column(), y = row(), left = (x + side - 1) % side, right = (x + 1) % side, count = 0;
    for (u32 dy = 0; dy < 3; dy++) {
        const u32 *line = from + (y + side - 1 + dy) % side * side;
        count += (line[left] & 1) + (line[x] & 1) + (line[right] & 1);
    }
    u32 lives = from[y * side + x] & 1;
    count -= lives;
    to[y * side + x] = count == 3 || (count == 2 && lives);
}

extern "C" __global__ void stencil_8x8(float *to, const u32 *from, u32 side) {
    u32 x = column(), y = row(), i = y * side + x;
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        to[i] = 0.2f * (number(from[i]) + number(from[i - 1]) + number(from[i + 1]) + number(from[i - side]) + number(from[i + side]));
    else to[i] = 0;
}
