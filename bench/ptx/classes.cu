// Small kernels of every class that engines are compared on (--engines): what whole programs are made of. Each takes an output and an input of
// side x side words and the side, in CTAs of 256 threads, one thread a word.

#include <cuda_fp16.h>
#include <stdint.h>

typedef uint32_t u32;

__device__ u32 here() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ float number(u32 word) { return (float)(int)word * 0x1p-31f; }

// ---- Streaming ----

extern "C" __global__ void copy(u32 *to, const u32 *from, u32 side) {
    for (u32 k = here(); k < side * side; k += gridDim.x * blockDim.x) to[k] = from[k];
}

extern "C" __global__ void normalise(float *to, const u32 *from, u32 side) {
    u32 i = here(), word = from[i];
    float x = (float)(word & 1023), y = (float)(word >> 10 & 1023), z = (float)(word >> 20);
    float r = rsqrtf(x * x + y * y + z * z + 1);
    to[i] = x * r + y * r + z * r;
}

// Five points, in tiles of 16 x 16.
extern "C" __global__ void stencil(float *to, const u32 *from, u32 side) {
    u32 x = threadIdx.x % 16 + blockIdx.x % (side / 16) * 16, y = threadIdx.x / 16 + blockIdx.x / (side / 16) * 16, i = y * side + x;
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        to[i] = 0.2f * (number(from[i]) + number(from[i - 1]) + number(from[i + 1]) + number(from[i - side]) + number(from[i + side]));
    else to[i] = 0;
}

extern "C" __global__ void transpose(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 tile[32][33];
    u32 tiles = side / 32, a = blockIdx.x % tiles * 32, b = blockIdx.x / tiles % tiles * 32, x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (u32 k = 0; k < 32; k += 8) tile[y + k][x] = from[(b + y + k) * side + a + x];
    __syncthreads();
    for (u32 k = 0; k < 32; k += 8) to[(a + y + k) * side + b + x] = tile[x][y + k];
}

// ---- Shuffles ----

extern "C" __global__ void warp_sum(u32 *to, const u32 *from, u32 side) {
    u32 sum = 0, word = from[here()];
    for (u32 r = 0; r < side / 32; r++) {
        u32 v = word + r;
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
        sum ^= v;
    }
    to[here()] = sum;
}

extern "C" __global__ void warp_scan(u32 *to, const u32 *from, u32 side) {
    u32 lane = threadIdx.x % 32, v = from[here()];
    for (u32 r = 0; r < side / 32; r++)
        for (int d = 1; d < 32; d <<= 1) {
            u32 w = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += w;
        }
    to[here()] = v;
}

extern "C" __global__ void butterfly(float *to, const u32 *from, u32 side) {
    u32 lane = threadIdx.x % 32;
    float v = number(from[here()]);
    for (u32 r = 0; r < side / 32; r++)
        for (int d = 16; d; d >>= 1) {
            float w = __shfl_xor_sync(~0u, v, d);
            v = ((lane & d) ? w - v : v + w) * 0.5f;
        }
    to[here()] = v;
}

// ---- Shared memory and barriers ----

extern "C" __global__ void block_scan(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 s[2][256];
    u32 t = threadIdx.x, p = 0;
    s[0][t] = from[here()];
    __syncthreads();
    for (u32 d = 1; d < 256; d <<= 1, p = 1 - p) {
        s[1 - p][t] = s[p][t] + (t >= d ? s[p][t - d] : 0);
        __syncthreads();
    }
    to[here()] = s[p][t];
}

extern "C" __global__ void block_sum(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 s[256];
    u32 t = threadIdx.x;
    s[t] = from[here()];
    __syncthreads();
    for (u32 d = 128; d; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    to[here()] = s[0];
}

extern "C" __global__ void histogram(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (u32 k = 0; k < 8; k++) atomicAdd(&bins[from[(here() + k * 256) % (side * side)] & 255], 1u);
    __syncthreads();
    to[here()] = bins[threadIdx.x];
}

extern "C" __global__ void radix(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 counts[8][16], bases[16];
    u32 t = threadIdx.x, lane = t % 32, warp = t / 32, v = from[here()];
    for (u32 shift = 0; shift < 16; shift += 4) {
        u32 digit = v >> shift & 15, same = ~0u;
        if (t < 128) counts[t / 16][t % 16] = 0;
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            u32 have = __ballot_sync(~0u, digit >> k & 1);
            same &= (digit >> k & 1) ? have : ~have;
        }
        u32 rank = __popc(same & ((1u << lane) - 1));
        if (rank == 0) counts[warp][digit] = __popc(same);
        __syncthreads();
        if (t < 16) {
            u32 sum = 0;
            for (int k = 0; k < 8; k++) {
                u32 n = counts[k][t];
                counts[k][t] = sum;
                sum += n;
            }
            bases[t] = sum;
        }
        __syncthreads();
        v = v * 5 + bases[digit] + counts[warp][digit] + rank;
        __syncthreads();
    }
    to[here()] = v;
}

extern "C" __global__ void life(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 cells[18][18];
    u32 x = threadIdx.x % 16, y = threadIdx.x / 16, a = blockIdx.x % (side / 16) * 16, b = blockIdx.x / (side / 16) * 16, count = 0;
    for (u32 k = threadIdx.x; k < 324; k += 256)
        cells[k / 18][k % 18] = from[(b + k / 18 + side - 1) % side * side + (a + k % 18 + side - 1) % side] >> 5 & 1;
    __syncthreads();
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) count += cells[y + dy][x + dx];
    count -= cells[y + 1][x + 1];
    to[here()] = count == 3 || (count == 2 && cells[y + 1][x + 1]);
}

// ---- Divergent ----

extern "C" __global__ void julia(u32 *to, const u32 *from, u32 side) {
    u32 i = here(), k = 0;
    float x = 3.0f * (i % side) / side - 1.5f, y = 3.0f * (i / side) / side - 1.5f;
    for (; k < 64 && x * x + y * y < 4; k++) {
        float next = x * x - y * y - 0.8f;
        y = 2 * x * y + 0.156f;
        x = next;
    }
    to[i] = k;
}

extern "C" __global__ void gcd(u32 *to, const u32 *from, u32 side) {
    u32 i = here(), a = from[i] >> 8, b = from[(i + 1) % (side * side)] >> 8;
    while (b) {
        u32 c = a % b;
        a = b;
        b = c;
    }
    to[i] = a;
}

extern "C" __global__ void runs(u32 *to, const u32 *from, u32 side) {
    u32 i = here(), end = i;
    while (end < side * side && !((from[end] ^ from[i]) & 1)) end++;
    to[i] = end - i;
}

// ---- Irregular ----

extern "C" __global__ void chase(u32 *to, const u32 *from, u32 side) {
    u32 at = here();
    for (u32 k = 0; k < 16; k++) at = from[at % (side * side)];
    to[here()] = at;
}

extern "C" __global__ void table(u32 *to, const u32 *from, u32 side) {
    __shared__ u32 s[256];
    s[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    u32 v = from[here()];
    for (u32 k = 0; k < 16; k++) v = v >> 8 ^ s[(v ^ k) & 255];
    to[here()] = v;
}

// ---- Arithmetic ----

extern "C" __global__ void halves(u32 *to, const u32 *from, u32 side) {
    __half2 a = *(const __half2 *)&from[here()], v = a;
    for (int k = 0; k < 32; k++) v = __hmul2(__hadd2(__hfma2(v, a, a), a), a);
    to[here()] = *(u32 *)&v;
}

extern "C" __global__ void approximate(float *to, const u32 *from, u32 side) {
    float v = (float)(from[here()] & 65535) * 1e-3f;
    for (int k = 0; k < 8; k++) v = __sinf(v) + __expf(-v) + __logf(v + 2) + rsqrtf(v + 3) + __fdividef(v, v + 3);
    to[here()] = v;
}

extern "C" __global__ void rounded(float *to, const u32 *from, u32 side) {
    float a = (float)(from[here()] & 65535), v = a;
    for (int k = 0; k < 16; k++) v = __fsub_rz(__fmul_rd(__fadd_ru(__fmaf_rz(v, 0.5f, a), a), 0.25f), a);
    to[here()] = v;
}

extern "C" __global__ void doubles(u32 *to, const u32 *from, u32 side) {
    double v = from[here()], a = v * 1e-9;
    for (int k = 0; k < 32; k++) v = (v * 0.5 + a) / (a + 1);
    to[here()] = (u32)(v * 4e9);
}

extern "C" __global__ void congruent(u32 *to, const u32 *from, u32 side) {
    u32 v = from[here()];
    for (u32 k = 0; k < 64; k++) v = v * 1664525 + 1013904223;
    to[here()] = v;
}
