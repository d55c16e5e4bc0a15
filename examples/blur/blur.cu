// Blurs a picture, one thread a pixel, by the filter 1 2 1 in both directions: four lookups halfway between texels, each of
// which is the mean of four of them. What is over the edges is the texture's address mode's to say.
//
// The rounding of every operation is written out (…_rn), as in mandelbrot.cu.

#include <stdint.h>

__device__ float sum(float a, float b, float c, float d) { return __fadd_rn(__fadd_rn(a, b), __fadd_rn(c, d)); }

__device__ unsigned char byte(float four) { return (unsigned char)__float2uint_rn(__fmul_rn(four, 63.75f)); }

extern "C" __global__ void blur(cudaTextureObject_t from, cudaSurfaceObject_t to, uint32_t width, uint32_t height) {
    uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;

    float x = (float)column, y = (float)row;
    float4 a = tex2D<float4>(from, x, y), b = tex2D<float4>(from, x + 1, y);
    float4 c = tex2D<float4>(from, x, y + 1), d = tex2D<float4>(from, x + 1, y + 1);
    uchar4 blurred = {byte(sum(a.x, b.x, c.x, d.x)), byte(sum(a.y, b.y, c.y, d.y)), byte(sum(a.z, b.z, c.z, d.z)),
                      byte(sum(a.w, b.w, c.w, d.w))};
    surf2Dwrite(blurred, to, (int)(column * sizeof blurred), (int)row);
}
