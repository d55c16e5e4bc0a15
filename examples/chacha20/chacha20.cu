// The ChaCha20 keystream of RFC 8439, one thread a 64-byte block.
//
// Thread i makes the block whose counter is `counter + i`. With rounds > 1 the first 32 bytes of a block
// become the key of the next one, which then stands in the output in its place; so nothing but nonce and
// counter stays the same in the loop.

#include <stdint.h>

__device__ static uint32_t rotl(uint32_t x, int n) { return __funnelshift_l(x, x, n); }

__device__ static void quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
    a += b, d = rotl(d ^ a, 16);
    c += d, b = rotl(b ^ c, 12);
    a += b, d = rotl(d ^ a, 8);
    c += d, b = rotl(b ^ c, 7);
}

extern "C" __global__ void chacha20(uint32_t *out, const uint32_t *key, const uint32_t *nonce,
                                    uint32_t counter, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int k = 0; k < 8; k++) in[4 + k] = key[k];
    in[12] = counter + i;
#pragma unroll
    for (int k = 0; k < 3; k++) in[13 + k] = nonce[k];

    uint32_t x[16];
#pragma unroll 1
    for (uint32_t r = 0;;) {
#pragma unroll
        for (int k = 0; k < 16; k++) x[k] = in[k];
#pragma unroll
        for (int k = 0; k < 10; k++) {
            quarter(x[0], x[4], x[8], x[12]);
            quarter(x[1], x[5], x[9], x[13]);
            quarter(x[2], x[6], x[10], x[14]);
            quarter(x[3], x[7], x[11], x[15]);
            quarter(x[0], x[5], x[10], x[15]);
            quarter(x[1], x[6], x[11], x[12]);
            quarter(x[2], x[7], x[8], x[13]);
            quarter(x[3], x[4], x[9], x[14]);
        }
#pragma unroll
        for (int k = 0; k < 16; k++) x[k] += in[k];
        if (++r >= rounds) break;
#pragma unroll
        for (int k = 0; k < 8; k++) in[4 + k] = x[k];
    }

#pragma unroll
    for (int k = 0; k < 16; k++) out[(size_t)i * 16 + k] = x[k];
}
