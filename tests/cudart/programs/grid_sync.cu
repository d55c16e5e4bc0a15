// Cooperative groups: tiles, blocks, and a whole grid that waits for all of its threads, round by round.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(unsigned *a, unsigned *b, int n, int count) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < count; round++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[(i + 1) % n] + a[(i + n - 1) % n] + round;
        grid.sync();
        unsigned *last = a;
        a = b, b = last;
    }
}

__global__ void tiles(int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int value = block.thread_rank();
    for (int step = tile.size() / 2; step; step /= 2) value += tile.shfl_xor(value, step);
    block.sync();
    if (!tile.thread_rank()) out[block.thread_rank() / 8] = value;
}

int main() {
    enum { N = 1000, ROUNDS = 6, TILES = 8 };
    unsigned host[2][N], found[N], *a, *b;
    int blocks = 0, devices = 0, here = 0, n = N, count = ROUNDS;
    OK(cudaDeviceGetAttribute(&here, cudaDevAttrCooperativeLaunch, 0));
    OK(cudaGetDeviceCount(&devices));
    EXPECT(here && devices >= 1);
    for (int i = 0; i < N; i++) host[0][i] = i * i;
    OK(cudaMalloc(&a, sizeof found));
    OK(cudaMalloc(&b, sizeof found));
    OK(cudaMemcpy(a, host[0], sizeof found, cudaMemcpyHostToDevice));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 64, 0));
    EXPECT(blocks > 0);
    void *params[] = {&a, &b, &n, &count};
    OK(cudaLaunchCooperativeKernel(rounds, 2, 64, params));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++)
            host[~round & 1][i] = host[round & 1][(i + 1) % N] + host[round & 1][(i + N - 1) % N] + round;
    OK(cudaMemcpy(found, a, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(found, host[0], sizeof found));
    int out[TILES], wrong = 0;
    tiles<<<1, TILES * 8>>>((int *)b);
    OK(cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < TILES; i++) wrong += out[i] != 64 * i + 28;
    EXPECT(!wrong);
    return end("grid_sync");
}
