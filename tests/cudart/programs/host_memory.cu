// Memory of the host that the device reaches, memory in the order of a stream, what an address is, what a device is.
#include "check.h"

__global__ void twice(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}

enum { N = 256 };

static void mapped() {
    int *host, *device, wrong = 0;
    unsigned flags = 0;
    OK(cudaHostAlloc(&host, N * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < N; i++) host[i] = i;
    OK(cudaHostGetDevicePointer(&device, host, 0));
    OK(cudaHostGetFlags(&flags, host));
    EXPECT(flags & cudaHostAllocMapped);
    twice<<<2, 128>>>(device, N);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) wrong += host[i] != 2 * i;
    EXPECT(!wrong);
    cudaPointerAttributes about;
    OK(cudaPointerGetAttributes(&about, host));
    EXPECT(about.type == cudaMemoryTypeHost && about.hostPointer == host && about.devicePointer == device && !about.device);
    OK(cudaFreeHost(host));
}

static void registered() {
    static int host[1 << 12];
    int *device;
    for (int &value : host) value = 21;
    OK(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device, host, 0));
    twice<<<1 << 5, 1 << 7>>>(device, 1 << 12);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int value : host) wrong += value != 42;
    EXPECT(!wrong);
    OK(cudaHostUnregister(host));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
}

static void ordered() {
    cudaStream_t stream;
    int *memory = nullptr, host[N], wrong = 0;
    OK(cudaStreamCreate(&stream));
    for (int i = 0; i < N; i++) host[i] = i + 1;
    OK(cudaMallocAsync(&memory, sizeof host, stream));
    OK(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, stream));
    twice<<<2, 128, 0, stream>>>(memory, N);
    OK(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(memory, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) wrong += host[i] != 2 * i + 2;
    EXPECT(!wrong);
    OK(cudaStreamDestroy(stream));
}

static void addresses() {
    int *memory, on_stack;
    cudaPointerAttributes about;
    OK(cudaMalloc(&memory, 64));
    OK(cudaPointerGetAttributes(&about, memory + 3));
    EXPECT(about.type == cudaMemoryTypeDevice && about.devicePointer == memory + 3 && !about.hostPointer && about.device == 0);
    OK(cudaPointerGetAttributes(&about, &on_stack));
    EXPECT(about.type == cudaMemoryTypeUnregistered && about.hostPointer == &on_stack);
    OK(cudaFree(memory));
    size_t free = 0, total = 0;
    OK(cudaMemGetInfo(&free, &total));
    EXPECT(free && free <= total);
}

static void device() {
    cudaDeviceProp all;
    int value = 0, driver = 0, runtime = 0, multiprocessors = 0;
    OK(cudaGetDeviceProperties(&all, 0));
    EXPECT(all.warpSize == 32 && all.maxThreadsPerBlock == 1024 && all.maxThreadsDim[2] == 64 && all.maxGridSize[1] == 65535);
    EXPECT(all.name[0] && all.totalGlobalMem && all.totalConstMem == 65536 && all.sharedMemPerBlock == 48 << 10);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value == all.major);
    OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(multiprocessors == all.multiProcessorCount);
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    EXPECT(runtime == CUDART_VERSION && driver >= 12000);
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found));
    EXPECT(entry && found == cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &entry, 12000, cudaEnableDefault, &found));
    EXPECT(!entry && found == cudaDriverEntryPointSymbolNotFound);
}

int main() {
    mapped();
    registered();
    ordered();
    addresses();
    device();
    return end("host_memory");
}
