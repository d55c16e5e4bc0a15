// SHA-256 of many messages of 52 bytes, one thread a message.
//
// 52 bytes and the padding fill one 64-byte block exactly, so a thread compresses one block a round. With
// rounds > 1 the digest feeds the next message (see README.md), which keeps every word of every block
// different in every round.

#include <stdint.h>

__device__ static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

__device__ static uint32_t rotr(uint32_t x, int n) { return __funnelshift_r(x, x, n); }
__device__ static uint32_t swap_bytes(uint32_t x) { return __byte_perm(x, 0, 0x0123); }

// One block: the 16 words of w, in place, into the 8 words of h.
__device__ static void compress(uint32_t h[8], uint32_t w[16]) {
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], hh = h[7];
#pragma unroll
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            uint32_t early = w[(t + 1) & 15], late = w[(t + 14) & 15];
            w[t & 15] += (rotr(early, 7) ^ rotr(early, 18) ^ (early >> 3)) + w[(t + 9) & 15] +
                         (rotr(late, 17) ^ rotr(late, 19) ^ (late >> 10));
        }
        uint32_t choose = (e & f) ^ (~e & g);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = hh + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + choose + K[t] + w[t & 15];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + majority;
        hh = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += hh;
}

extern "C" __global__ void sha256(uint32_t *digest, const uint32_t *message, uint32_t count,
                                  uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t m[13];
#pragma unroll
    for (int k = 0; k < 13; k++) m[k] = swap_bytes(message[(size_t)i * 13 + k]);

    uint32_t h[8];
#pragma unroll 1
    for (uint32_t r = 0;;) {
        h[0] = 0x6a09e667, h[1] = 0xbb67ae85, h[2] = 0x3c6ef372, h[3] = 0xa54ff53a;
        h[4] = 0x510e527f, h[5] = 0x9b05688c, h[6] = 0x1f83d9ab, h[7] = 0x5be0cd19;
        uint32_t w[16];
#pragma unroll
        for (int k = 0; k < 13; k++) w[k] = m[k];
        w[13] = 0x80000000, w[14] = 0, w[15] = 52 * 8;
        compress(h, w);
        if (++r >= rounds) break;
#pragma unroll
        for (int k = 0; k < 5; k++) m[8 + k] = m[k];
#pragma unroll
        for (int k = 0; k < 8; k++) m[k] = h[k];
    }

#pragma unroll
    for (int k = 0; k < 8; k++) digest[(size_t)i * 8 + k] = swap_bytes(h[k]);
}
