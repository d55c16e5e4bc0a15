/* devices.c: several devices (LANEWISE_DEVICES=3): each has contexts of its own, and memory of one is copied to
 * another. */
#include "expect.h"

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
    for (int i = 0; i < 3; i++) OK(cuDevicePrimaryCtxRelease_v2(i));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    return faults != 0;
}
