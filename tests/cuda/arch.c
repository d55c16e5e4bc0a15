/* arch.c NUMBER THREADS BLOCKS SHARED BLOCK_SHARED: the device that LANEWISE_ARCH names has these limits, in KiB where
 * they are of shared memory (CUDA programming guide, technical specifications by compute capability), and takes PTX up
 * to its own. arch.c none: the name is none, and there is no device. */
#include "expect.h"

#include <stdlib.h>

static char error[1000];
static bool ours;

static CUresult load(const char *target) {
    char text[200];
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error};
    snprintf(text, sizeof text, ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n",
             target);
    CUresult result = cuModuleLoadDataEx(&module, text, 2, options, values);
    if (!result) OK(cuModuleUnload(module));
    return result;
}

static void takes(int number) {
    static const int all[] = {60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121};
    char name[16];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(name, sizeof name, "sm_%d", all[i]);
        GIVES(all[i] <= number ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX, load(name));
        if (all[i] > number && ours) EXPECT(strstr(error, name));
    }
    GIVES(number == 90 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX, load("sm_90a"));
    GIVES(number == 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX, load("sm_100a"));
    GIVES(number == 100 || number == 103 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX, load("sm_100f"));
    GIVES(number == 103 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX, load("sm_103f"));
}

static int attribute(CUdevice_attribute which) {
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, 0));
    return value;
}

int main(int argc, char **argv) {
    CUcontext context;
    int major = 0, minor = 0;
    if (argc == 2) {
        GIVES(CUDA_ERROR_NO_DEVICE, cuInit(0));
        return faults != 0;
    }
    if (argc != 6) return 2;
    const int number = atoi(argv[1]);
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    EXPECT(major == number / 10 && minor == number % 10);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == major);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == minor);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) == atoi(argv[2]));
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) == atoi(argv[3]));
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) == atoi(argv[4]) << 10);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == atoi(argv[5]) << 10);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 48 << 10);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == (number >= 90));
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) == (number >= 90));
    takes(number);
    OK(cuCtxDestroy_v2(context));
    if (faults) printf("%d faults\n", faults);
    return faults != 0;
}
