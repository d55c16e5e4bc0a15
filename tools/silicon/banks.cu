// Clock cycles of requests to shared memory, which banks.py makes and reads: lines of bytes of a lane, count, and for each request the lanes that execute
// and 32 addresses; gives the bytes again and a number for each. One warp loads 64 times from the same addresses; the least of eight times.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { LOADS = 64, TIMES = 8, ROOM = 65536 };

__device__ void load(uint32_t at, uint32_t &v) { asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at)); }
__device__ void load(uint32_t at, uint2 &v) { asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at)); }
__device__ void load(uint32_t at, uint4 &v) {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
}
__device__ uint32_t sum(uint32_t v) { return v; }
__device__ uint32_t sum(uint2 v) { return v.x + v.y; }
__device__ uint32_t sum(uint4 v) { return v.x + v.y + v.z + v.w; }

template <class T> __global__ void measure(const uint32_t *requests, uint32_t *cycles, uint32_t *sums, int count) {
    extern __shared__ char room[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(room);
    uint32_t all = 0;
    for (int k = 0; k < count; k++) {
        const uint32_t *request = requests + 33 * k, at = base + request[1 + threadIdx.x];
        const bool on = request[0] >> threadIdx.x & 1;
        uint32_t least = ~0u;
        for (int time = 0; time < TIMES; time++) {
            __syncwarp();
            const long long begin = clock64();
            if (on) {
#pragma unroll
                for (int i = 0; i < LOADS; i++) {
                    T v;
                    load(at, v);
                    all += sum(v);
                }
            }
            __syncwarp();
            const uint32_t took = (uint32_t)(clock64() - begin);
            if (took < least) least = took;
        }
        if (threadIdx.x == 0) cycles[k] = least;
    }
    sums[threadIdx.x] = all;
}

template <class T> void launch(const uint32_t *requests, uint32_t *cycles, uint32_t *sums, int count) {
    cudaFuncSetAttribute(measure<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
    measure<T><<<1, 32, ROOM>>>(requests, cycles, sums, count);
}

int main() {
    int size, count;
    while (scanf("%d %d", &size, &count) == 2) {
        std::vector<uint32_t> requests(33 * count);
        for (int k = 0; k < 33 * count; k++)
            if (scanf(k % 33 ? "%u" : "%x", &requests[k]) != 1) return 1;
        uint32_t *device, *cycles, *sums;
        cudaMallocManaged(&device, requests.size() * 4), cudaMallocManaged(&cycles, count * 4), cudaMallocManaged(&sums, 32 * 4);
        for (size_t k = 0; k < requests.size(); k++) device[k] = requests[k];
        (size == 4 ? launch<uint32_t> : size == 8 ? launch<uint2> : launch<uint4>)(device, cycles, sums, count);
        if (cudaError_t error = cudaDeviceSynchronize()) return fprintf(stderr, "%s\n", cudaGetErrorString(error)), 1;
        printf("%d", size);
        for (int k = 0; k < count; k++) printf(" %u", cycles[k]);
        printf("\n");
    }
}
