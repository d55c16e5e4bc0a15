// What 128 bodies do to each of many: the sum of m * d / |d|^3, by rsqrtf. Bodies have four numbers; a round moves those that act a little.

#include <stdint.h>

extern "C" __global__ void nbody(float *out, const float4 *place, const float4 *body, uint32_t count, uint32_t rounds) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;

    float4 own = place[i];
    float x = 0, y = 0, z = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t j = 0; j < 128; j++) {
            float4 other = body[j];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = rsqrtf(square);
            float pull = other.w * inverse * inverse * inverse;
            x += dx * pull, y += dy * pull, z += dz * pull;
        }
        own.x += 0.001f;
    }
    out[i] = x, out[i + count] = y, out[i + 2 * count] = z;
}
