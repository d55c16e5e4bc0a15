// Kernels of ptx/classes.cu in OpenCL C, results bit for bit the same (where nvcc contracts sums, here stands fma), but for `normalise`, whose root is
// an H100's. PoCL's CPU device has no shuffles of sub-groups: lanes exchange through local memory, with barriers.

#pragma OPENCL FP_CONTRACT OFF

static float number(uint word) { return (float)(int)word * 0x1p-31f; }

// ---- Streaming ----

__kernel void copy(__global uint *to, __global const uint *from, uint side) {
    for (uint k = get_global_id(0); k < side * side; k += get_global_size(0)) to[k] = from[k];
}

__kernel void normalise(__global float *to, __global const uint *from, uint side) {
    uint i = get_global_id(0), word = from[i];
    float x = (float)(word & 1023), y = (float)(word >> 10 & 1023), z = (float)(word >> 20);
    float r = rsqrt(fma(z, z, fma(x, x, y * y)) + 1);
    to[i] = fma(z, r, fma(x, r, y * r));
}

__kernel void stencil(__global float *to, __global const uint *from, uint side) {
    uint t = get_local_id(0), b = get_group_id(0);
    uint x = t % 16 + b % (side / 16) * 16, y = t / 16 + b / (side / 16) * 16, i = y * side + x;
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        to[i] = 0.2f * (number(from[i]) + number(from[i - 1]) + number(from[i + 1]) + number(from[i - side]) + number(from[i + side]));
    else to[i] = 0;
}

__kernel void transpose(__global uint *to, __global const uint *from, uint side) {
    __local uint tile[32][33];
    uint t = get_local_id(0), g = get_group_id(0), tiles = side / 32;
    uint a = g % tiles * 32, b = g / tiles % tiles * 32, x = t % 32, y = t / 32;
    for (uint k = 0; k < 32; k += 8) tile[y + k][x] = from[(b + y + k) * side + a + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 32; k += 8) to[(a + y + k) * side + b + x] = tile[x][y + k];
}

// ---- Shuffles ----

__kernel void warp_sum(__global uint *to, __global const uint *from, uint side) {
    __local uint s[256];
    uint t = get_local_id(0), lane = t % 32, sum = 0, word = from[get_global_id(0)];
    for (uint r = 0; r < side / 32; r++) {
        uint v = word + r;
        for (uint d = 16; d; d >>= 1) {
            s[t] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            v += s[lane + d < 32 ? t + d : t];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        sum ^= v;
    }
    to[get_global_id(0)] = sum;
}

__kernel void warp_scan(__global uint *to, __global const uint *from, uint side) {
    __local uint s[256];
    uint t = get_local_id(0), lane = t % 32, v = from[get_global_id(0)];
    for (uint r = 0; r < side / 32; r++)
        for (uint d = 1; d < 32; d <<= 1) {
            s[t] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane >= d) v += s[t - d];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    to[get_global_id(0)] = v;
}

__kernel void butterfly(__global float *to, __global const uint *from, uint side) {
    __local float s[256];
    uint t = get_local_id(0), lane = t % 32;
    float v = number(from[get_global_id(0)]);
    for (uint r = 0; r < side / 32; r++)
        for (uint d = 16; d; d >>= 1) {
            s[t] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            float w = s[t ^ d];
            v = ((lane & d) ? w - v : v + w) * 0.5f;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    to[get_global_id(0)] = v;
}

// ---- Shared memory and barriers ----

__kernel void block_scan(__global uint *to, __global const uint *from, uint side) {
    __local uint s[2][256];
    uint t = get_local_id(0), p = 0;
    s[0][t] = from[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 256; d <<= 1, p = 1 - p) {
        s[1 - p][t] = s[p][t] + (t >= d ? s[p][t - d] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    to[get_global_id(0)] = s[p][t];
}

__kernel void block_sum(__global uint *to, __global const uint *from, uint side) {
    __local uint s[256];
    uint t = get_local_id(0);
    s[t] = from[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 128; d; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    to[get_global_id(0)] = s[0];
}

__kernel void histogram(__global uint *to, __global const uint *from, uint side) {
    __local uint bins[256];
    uint t = get_local_id(0), i = get_global_id(0);
    bins[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 8; k++) atomic_inc(&bins[from[(i + k * 256) % (side * side)] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    to[i] = bins[t];
}

__kernel void life(__global uint *to, __global const uint *from, uint side) {
    __local uint cells[18][18];
    uint t = get_local_id(0), g = get_group_id(0);
    uint x = t % 16, y = t / 16, a = g % (side / 16) * 16, b = g / (side / 16) * 16, count = 0;
    for (uint k = t; k < 324; k += 256)
        cells[k / 18][k % 18] = from[(b + k / 18 + side - 1) % side * side + (a + k % 18 + side - 1) % side] >> 5 & 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) count += cells[y + dy][x + dx];
    count -= cells[y + 1][x + 1];
    to[get_global_id(0)] = count == 3 || (count == 2 && cells[y + 1][x + 1]);
}

// ---- Divergent ----

__kernel void julia(__global uint *to, __global const uint *from, uint side) {
    uint i = get_global_id(0), k = 0;
    float x = 3.0f * (i % side) / side - 1.5f, y = 3.0f * (i / side) / side - 1.5f;
    for (; k < 64 && x * x + y * y < 4; k++) {
        float next = x * x - y * y - 0.8f;
        y = fma(2 * x, y, 0.156f);
        x = next;
    }
    to[i] = k;
}

__kernel void gcd(__global uint *to, __global const uint *from, uint side) {
    uint i = get_global_id(0), a = from[i] >> 8, b = from[(i + 1) % (side * side)] >> 8;
    while (b) {
        uint c = a % b;
        a = b;
        b = c;
    }
    to[i] = a;
}

__kernel void runs(__global uint *to, __global const uint *from, uint side) {
    uint i = get_global_id(0), end = i;
    while (end < side * side && !((from[end] ^ from[i]) & 1)) end++;
    to[i] = end - i;
}

// ---- Irregular ----

__kernel void chase(__global uint *to, __global const uint *from, uint side) {
    uint at = get_global_id(0);
    for (uint k = 0; k < 16; k++) at = from[at % (side * side)];
    to[get_global_id(0)] = at;
}

__kernel void table(__global uint *to, __global const uint *from, uint side) {
    __local uint s[256];
    uint t = get_local_id(0);
    s[t] = from[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v = from[get_global_id(0)];
    for (uint k = 0; k < 16; k++) v = v >> 8 ^ s[(v ^ k) & 255];
    to[get_global_id(0)] = v;
}

// ---- Integer ----

__kernel void congruent(__global uint *to, __global const uint *from, uint side) {
    uint v = from[get_global_id(0)];
    for (uint k = 0; k < 64; k++) v = v * 1664525 + 1013904223;
    to[get_global_id(0)] = v;
}
