// CRC-32 of eight words by a table of 256 entries; the next round goes on with the sum of the one before.

#include <stdint.h>

extern "C" __global__ void crc32(uint32_t *out, const uint32_t *data, const uint32_t *table, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    uint32_t crc = 0xffffffff;
    for (uint32_t r = 0; r < rounds; r++)
        for (int k = 0; k < 8; k++) {
            uint32_t word = data[8 * i + k];
            for (int byte = 0; byte < 4; byte++) crc = table[(crc ^ word >> 8 * byte) & 255] ^ crc >> 8;
        }
    out[i] = ~crc;
}
