// A product of 16 x 16 by 16 x 8 halves for each warp, by the warp's matrix instruction: c = c / 2 + a * b, where a moves on by a row each round.

#include <stdint.h>

extern "C" __global__ void mma_tile(float *out, const uint32_t *a, const uint32_t *b, uint32_t count, uint32_t rounds) {
    uint32_t warp = (blockIdx.x * 256 + threadIdx.x) >> 5, row = threadIdx.x >> 2 & 7, pair = threadIdx.x & 3;
    a += warp * 128, b += warp * 64, out += warp * 128;

    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    uint32_t b0 = b[row * 8 + pair], b1 = b[row * 8 + pair + 4]; // columns of b lie as rows
    for (uint32_t r = 0; r < rounds; r++) {
        const uint32_t *low = a + (row + r & 15) * 8 + pair, *high = a + (row + 8 + r & 15) * 8 + pair;
        c0 *= 0.5f, c1 *= 0.5f, c2 *= 0.5f, c3 *= 0.5f;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                     : "r"(low[0]), "r"(high[0]), "r"(low[4]), "r"(high[4]), "r"(b0), "r"(b1));
    }
    out[row * 8 + pair * 2] = c0, out[row * 8 + pair * 2 + 1] = c1;
    out[row * 8 + pair * 2 + 64] = c2, out[row * 8 + pair * 2 + 65] = c3;
}
