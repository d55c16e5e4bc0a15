/* memories.c: all kinds of memory from several threads of one context, and handles and addresses that are none.
 *
 * Some of what threads do gets in each other's way: then it is refused, and what is not refused holds. An H200's driver
 * (580.159.04) ends the process, by a division by zero or a wild address in its own code, where one thread ends a pool
 * with something in it and another frees what is from none: of all 31 selections of kinds those end that have both.
 * With turns for these alone it did not come to its end in two of six runs. So there, all take turns. */
#include "expect.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 60, WORDS = 512 };

static CUcontext context;
static bool ours;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wrong;
static _Alignas(4096) unsigned shared[4 * WORDS]; /* that all register */

#define GOOD(call) \
    do { \
        CUresult result_ = (call); \
        if (result_) atomic_fetch_add(&wrong, 1), printf("%d: %s: %s\n", __LINE__, result_name(result_), #call); \
    } while (0)
#define MUST(condition) \
    do { \
        if (!(condition)) atomic_fetch_add(&wrong, 1), printf("%d: not so: %s\n", __LINE__, #condition); \
    } while (0)

static void managed(unsigned seed, CUstream stream) {
    CUdeviceptr at;
    unsigned is_managed = 0;
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    GOOD(cuMemAllocManaged(&at, WORDS * 4 + seed, CU_MEM_ATTACH_GLOBAL));
    unsigned *words = (unsigned *)(uintptr_t)at;
    for (unsigned i = 0; i < WORDS && ours; i++) MUST(words[i] == 0);
    GOOD(cuMemAdvise_v2(at, WORDS * 4, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    GOOD(cuMemPrefetchAsync_v2(at, WORDS * 4, device, 0, stream));
    GOOD(cuMemsetD32Async(at, seed, WORDS, stream));
    GOOD(cuStreamSynchronize(stream));
    MUST(words[0] == seed && words[WORDS - 1] == seed);
    GOOD(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at));
    MUST(is_managed);
    GOOD(cuMemFree_v2(at));
}

static void pinned(unsigned seed, CUstream stream) {
    unsigned *host;
    CUdeviceptr device;
    GOOD(cuMemHostAlloc((void **)&host, WORDS * 4, 0));
    GOOD(cuMemAlloc_v2(&device, WORDS * 8));
    for (unsigned i = 0; i < WORDS; i++) host[i] = seed + i;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = 128,
                          .WidthInBytes = 64,
                          .Height = WORDS / 16};
    GOOD(cuMemcpy2DAsync_v2(&copy, stream));
    unsigned back = 0;
    GOOD(cuMemcpyDtoHAsync_v2(&back, device + 128 * 3 + 8, 4, stream));
    GOOD(cuStreamSynchronize(stream));
    MUST(back == seed + 3 * 16 + 2);
    GOOD(cuMemFreeHost(host));
    GOOD(cuMemFree_v2(device));
}

static void registered(unsigned seed) {
    unsigned *own = shared + seed % 3 * WORDS;
    CUdeviceptr device = 0;
    CUresult result = cuMemHostRegister_v2(own, 2 * WORDS * 4 - 64, 0);
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return;
    GOOD(result);
    GOOD(cuMemHostGetDevicePointer_v2(&device, own + 1, 0));
    MUST(device == (uintptr_t)(own + 1));
    GOOD(cuMemHostUnregister(own));
}

static void pools(unsigned seed, CUstream stream) {
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool, any;
    CUdeviceptr one, two;
    uint64_t used = 0;
    GOOD(cuMemPoolCreate(&pool, &props));
    if (seed % 4 == 0) GOOD(cuDeviceSetMemPool(0, pool));
    GOOD(cuDeviceGetMemPool(&any, 0));
    GOOD(cuMemAllocFromPoolAsync(&one, 4096, pool, stream));
    GOOD(cuMemAllocAsync(&two, 4096, stream)); /* from whichever is the current one */
    GOOD(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    MUST(used >= 4096);
    GOOD(cuMemsetD32Async(two, seed, 1024, stream));
    GOOD(cuMemPoolDestroy(pool));
    GOOD(cuMemFreeAsync(one, stream));
    GOOD(cuMemFreeAsync(two, stream));
}

static void mapped(unsigned seed) {
    const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t unit = 2 << 20;
    CUmemGenericAllocationHandle memory;
    CUdeviceptr from;
    unsigned back = 0;
    GOOD(cuMemCreate(&memory, unit, &props, 0));
    GOOD(cuMemAddressReserve(&from, 3 * unit, 0, 0, 0));
    GOOD(cuMemMap(from, unit, 0, memory, 0));
    GOOD(cuMemMap(from + unit, unit, 0, memory, 0)); /* twice */
    GOOD(cuMemSetAccess(from, 2 * unit, &access, 1));
    GOOD(cuMemsetD32_v2(from + 64, seed, 1));
    GOOD(cuMemcpyDtoH_v2(&back, from + unit + 64, 4));
    MUST(back == seed);
    GOOD(cuMemRelease(memory));
    GOOD(cuMemUnmap(from, 2 * unit));
    GOOD(cuMemAddressFree(from, 3 * unit));
}

static void *work(void *number) {
    const unsigned first = *(unsigned *)number;
    CUstream stream;
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuStreamCreate(&stream, 1));
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned seed = first * ROUNDS + round + 1;
        if (!ours) pthread_mutex_lock(&turns);
        switch ((first + round) % 5) {
        case 0: managed(seed, stream); break;
        case 1: pinned(seed, stream); break;
        case 2: registered(seed); break;
        case 3: pools(seed, stream); break;
        default: mapped(seed);
        }
        if (!ours) pthread_mutex_unlock(&turns);
    }
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuStreamDestroy_v2(stream));
    return NULL;
}

/* ---- What is nothing ------------------------------------------------------------------------------------------- */

static void nothing_at(CUdeviceptr at) {
    void *host = (void *)(uintptr_t)at;
    CUdeviceptr out = 0;
    size_t size = 0;
    unsigned flags = 0;
    unsigned long long access = 0;
    int value = 0;
    CUmemGenericAllocationHandle handle = at;
    CUmemAllocationProp props;
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const CUmemAccessDesc all = {device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool = (CUmemoryPool)host;
    if (at) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at));
    if (at) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(at, NULL));
    if (at) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    EXPECT(cuMemHostUnregister(host) == (at ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_ERROR_INVALID_VALUE));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&out, host, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute(&flags, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2(at, 64, device, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAdvise_v2(at, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 64));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, at, 0, CU_MEM_ATTACH_GLOBAL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8_v2(at, 64, 1, 8, 8));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4096));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, 4096));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at, 4096, &all, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&access, &device, at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&handle, host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&props, at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(pool, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &access));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&out, 64, pool, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemGetHandleForAddressRange(&value, at, 4096, 1, 0));
}

static void nothing(void) {
    static const CUdeviceptr none[] = {0, 64, 0x7fffffff000, 0x20000000000, 0x50000000000, 1ull << 63, ~0ull - 8};
    const CUdeviceptr objects[] = {(uintptr_t)context, (uintptr_t)&wrong};
    CUdeviceptr freed;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) nothing_at(none[i]);
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) nothing_at(objects[i]);
    OK(cuMemAlloc_v2(&freed, 64));
    OK(cuMemFree_v2(freed));
    nothing_at(freed);
    OK(cuMemAllocManaged(&freed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemFree_v2(freed));
    nothing_at(freed);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(NULL, 64, CU_MEM_ATTACH_GLOBAL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(NULL, 64, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetMemPool(NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(NULL, 4096, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync_v2(NULL, NULL, NULL, 0, NULL, NULL, 0, CU_STREAM_PER_THREAD));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(1, NULL, 0, CU_STREAM_PER_THREAD));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchBatchAsync(NULL, NULL, 1, NULL, NULL, 1, 0, CU_STREAM_PER_THREAD));
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    size_t before, after, total;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    if (ours) nothing();
    OK(cuMemGetInfo_v2(&before, &total));
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i])) return 2;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(before == after || !ours);
    OK(cuCtxDestroy_v2(context));
    return faults != 0 || wrong != 0;
}
