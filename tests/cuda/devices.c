/* devices.c: several devices (LANEWISE_DEVICES=3): each has contexts of its own, and memory of one is copied to
 * another. */
#include "expect.h"

static int ordinal(CUdeviceptr at) {
    int device = -1;
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
    return device;
}

/* To what is mapped each device has the access that was said of it, in whatever call. */
static void access_of_each(CUdeviceptr at) {
    const unsigned flags[] = {CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                              CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemAccessDesc access[3];
    unsigned long long got = 99;
    unsigned word = 0;
    for (int i = 0; i < 3; i++) access[i] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, i}, flags[i]};
    OK(cuMemSetAccess(at, 2 << 20, access, 3));
    for (int i = 0; i < 3; i++) {
        OK(cuMemGetAccess(&got, &access[i].location, at));
        EXPECT(got == flags[i]);
    }
    OK(cuMemsetD32_v2(at, 7, 1)); /* the second one is current */
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemSetAccess(at, 2 << 20, access, 1));
    OK(cuMemcpyDtoH_v2(&word, at, sizeof word));
    EXPECT(word == 7);
}

/* Each has pools and memory of its own; the second one is current. */
static void memory_of_each(void) {
    const CUmemLocation third = {CU_MEM_LOCATION_TYPE_DEVICE, 2};
    const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = third};
    CUmemoryPool second_pool, third_pool, now;
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    int users[3] = {9, 9, 9};
    OK(cuDeviceGetDefaultMemPool(&second_pool, 1));
    OK(cuDeviceGetDefaultMemPool(&third_pool, 2));
    EXPECT(second_pool != third_pool);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(1, third_pool));
    OK(cuDeviceGetMemPool(&now, 1));
    EXPECT(now == second_pool);
    OK(cuMemAllocAsync(&at, 64, NULL));
    EXPECT(ordinal(at) == 1);
    OK(cuMemFreeAsync(at, NULL));
    OK(cuMemAllocFromPoolAsync(&at, 64, third_pool, NULL));
    EXPECT(ordinal(at) == 2);
    OK(cuMemFreeAsync(at, NULL));
    OK(cuMemAllocManaged(&at, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAdvise_v2(at, 64, CU_MEM_ADVISE_SET_ACCESSED_BY, third));
    OK(cuMemRangeGetAttribute(users, sizeof users, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, 64));
    EXPECT(users[0] == 2 && users[1] == CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync_v2(at, 64, third, 0, NULL));
    OK(cuMemRangeGetAttribute(users, sizeof users[0], CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 64));
    EXPECT(users[0] == 2);
    OK(cuMemFree_v2(at));
    OK(cuMemCreate(&memory, 2 << 20, &props, 0));
    OK(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0));
    OK(cuMemMap(at, 2 << 20, 0, memory, 0));
    EXPECT(ordinal(at) == 2);
    access_of_each(at);
    OK(cuMemUnmap(at, 2 << 20));
    OK(cuMemAddressFree(at, 2 << 20));
    OK(cuMemRelease(memory));
}

int main(void) {
    int count = 0, can = -1, value = -1, bus[3];
    CUdevice device;
    CUcontext contexts[3];
    CUdeviceptr at[3];
    char names[3][64], ids[3][16];
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 3);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 3));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    for (int i = 0; i < 3; i++) {
        OK(cuDeviceGet(&device, i));
        OK(cuDeviceGetName(names[i], sizeof names[i], device));
        OK(cuDeviceGetPCIBusId(ids[i], sizeof ids[i], device));
        OK(cuDeviceGetAttribute(&bus[i], CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device));
        OK(cuDeviceGetByPCIBusId(&device, ids[i]));
        EXPECT(device == i && bus[i] == i);
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        OK(cuCtxSetCurrent(contexts[i]));
        OK(cuCtxGetDevice(&device));
        EXPECT(device == i);
        OK(cuStreamGetDevice(NULL, &device));
        EXPECT(device == i);
        OK(cuMemAlloc_v2(&at[i], 16));
        OK(cuMemsetD32_v2(at[i], (unsigned)i + 1, 4));
    }
    EXPECT(strcmp(names[0], names[1]) && contexts[0] != contexts[1] && contexts[1] != contexts[2]);
    OK(cuDeviceCanAccessPeer(&can, 0, 2));
    EXPECT(can == 1);
    OK(cuDeviceCanAccessPeer(&can, 1, 1));
    EXPECT(can == 0);
    OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    EXPECT(value == 1);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1));
    GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(contexts[0]));
    OK(cuCtxEnablePeerAccess(contexts[0], 0));
    GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(contexts[0], 0));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(contexts[2], 0)); /* it is the current one */
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess((CUcontext)&count, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(contexts[1], 1));
    OK(cuMemcpy(at[2], at[0], 8));
    OK(cuCtxDisablePeerAccess(contexts[0]));
    unsigned words[4];
    OK(cuMemcpyDtoH_v2(words, at[2], sizeof words));
    EXPECT(words[0] == 1 && words[1] == 1 && words[2] == 3 && words[3] == 3);
    OK(cuCtxSetCurrent(contexts[1]));
    memory_of_each();
    for (int i = 0; i < 3; i++) OK(cuDevicePrimaryCtxRelease_v2(i));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    return faults != 0;
}
