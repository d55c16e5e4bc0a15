// Clusters of blocks that read each other's shared memory; launches with attributes; a kernel by its handle.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void ring(int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (!threadIdx.x) mine = 100 * blockIdx.x + cluster.num_blocks();
    cluster.sync();
    int *next = cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
    if (!threadIdx.x) out[blockIdx.x] = *next;
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out) {
    if (!threadIdx.x) out[blockIdx.x] = cg::this_cluster().block_rank();
}

static int out[8], *device;

static void read() { OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost)); }

int main() {
    int wrong = 0, clusters = 0, size = 0;
    OK(cudaMalloc(&device, sizeof out));
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = 4;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = attributes;
    config.numAttrs = 2;
    OK(cudaLaunchKernelEx(&config, ring, device));
    read();
    for (int i = 0; i < 8; i++) wrong += out[i] != 100 * (i / 4 * 4 + (i + 1) % 4) + 4;
    EXPECT(!wrong);
    OK(cudaOccupancyMaxActiveClusters(&clusters, ring, &config));
    EXPECT(clusters >= 1);
    OK(cudaOccupancyMaxPotentialClusterSize(&size, ring, &config));
    EXPECT(size == 8);
    attributes[0].val.clusterDim.x = 3; // of which 8 is no multiple
    EXPECT(cudaLaunchKernelEx(&config, ring, device) != cudaSuccess);
    cudaGetLastError();
    pairs<<<8, 32>>>(device);
    read();
    for (int i = 0; i < 8; i++) wrong += out[i] != i % 2;
    EXPECT(!wrong);
    cudaFuncAttributes about;
    OK(cudaFuncGetAttributes(&about, pairs));
    EXPECT(about.clusterDimMustBeSet && about.requiredClusterWidth == 2 && about.requiredClusterDepth == 1);
    cudaKernel_t kernel = nullptr;
    cudaFunction_t function = nullptr;
    OK(cudaGetKernel(&kernel, pairs));
    OK(cudaGetFuncBySymbol(&function, (const void *)pairs));
    EXPECT(kernel && function);
    OK(cudaMemset(device, 0xff, sizeof out));
    void *params[] = {&device};
    OK(cudaLaunchKernel((const void *)kernel, 4, 32, params, 0, 0));
    read();
    EXPECT(out[2] == 0 && out[3] == 1 && out[4] == -1);
    return end("clusters");
}
