// Errors: which, when, how long they stay, and what a reset of the device ends.
#include "check.h"

__global__ void store(int *to) { *to = 1; }

int main() {
    int *memory, value = 0, device = 9, count = 0;
    void *address;
    OK(cudaGetLastError());
    OK(cudaGetDeviceCount(&count));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(count));
    GIVES(cudaErrorInvalidDevice, cudaPeekAtLastError());
    GIVES(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaGetLastError());
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    EXPECT(device == 0);
    GIVES(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 4));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&address, (size_t)1 << 60));
    OK(cudaMalloc(&address, 0));
    EXPECT(!address);
    OK(cudaMalloc(&memory, sizeof *memory));
    GIVES(cudaErrorMemoryAllocation, cudaGetLastError()); // what went well in between changes nothing
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, &value, 4, (cudaMemcpyKind)7));
    store<<<1, 2048>>>(memory);
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    store<<<0, 32>>>(memory);
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    store<<<1, dim3(1, 1, 65)>>>(memory);
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    store<<<1, 1, 1 << 20>>>(memory);
    GIVES(cudaErrorInvalidValue, cudaGetLastError());
    GIVES(cudaErrorInvalidDeviceFunction, cudaFuncSetAttribute((const void *)nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    GIVES(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    OK(cudaDeviceSynchronize()); // none of these was the device's
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    EXPECT(!strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"));
    store<<<1, 1>>>((int *)16);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    GIVES(cudaErrorIllegalAddress, cudaGetLastError());
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&address, 4));
    GIVES(cudaErrorIllegalAddress, cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
    store<<<1, 1>>>(memory);
    GIVES(cudaErrorIllegalAddress, cudaGetLastError());
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    GIVES(cudaErrorDevicesUnavailable, cudaMalloc(&memory, sizeof *memory)); // the process has had its fault
    return end("errors");
}
