/* driver.c: the calls of the driver, one after the other.
 *
 * It knows nothing of Lanewise, so that the same program can be run with a GPU's driver: what it expects is what that
 * does. Where only Lanewise gives a defined answer (a handle that is none), it looks at the device's name first. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool ours; /* the device is Lanewise */
static const char *ptx =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter[4] = {1, 2, 3, 4};\n"
    ".visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [data];\nld.param.u32 %r0, [factor];\nld.param.u32 %r1, [count];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p, %r2, %r1;\n@%p bra done;\n"
    "mul.wide.u32 %d1, %r2, 4;\nadd.u64 %d1, %d0, %d1;\n"
    "ld.global.u32 %r5, [%d1];\nmul.lo.u32 %r5, %r5, %r0;\nst.global.u32 [%d1], %r5;\n"
    "done:\nret;\n}\n"
    ".visible .entry nothing()\n{\nret;\n}\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry shares(.param .u64 out)\n.maxntid 64\n{\n"
    ".shared .align 4 .b8 fixed[256];\n.reg .b32 %r<3>;\n.reg .b64 %d;\n"
    "ld.param.u64 %d, [out];\nmov.u32 %r0, fixed;\nst.shared.u32 [%r0], 7;\nld.shared.u32 %r1, [fixed];\n"
    "mov.u32 %r2, %dynamic_smem_size;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%d], %r1;\nret;\n}\n";
static const char *bad_ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry k()\n{\n.reg .b32 %r;\nfrobnicate.b32 %r, 1;\nret;\n}\n";
static const char *new_ptx =
    ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry k() { frobnicate.b32; ret; }\n";
static const char *newer_ptx = ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char *unresolved_ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func elsewhere();\n"
                                    ".visible .entry k() { ret; }\n.visible .entry l() { call elsewhere; ret; }\n";
static const char *uncalled_ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func elsewhere();\n.visible .entry k() { ret; }\n";

/* ---- The device ------------------------------------------------------------------------------------------------ */

static void before_init(void) {
    int count;
    CUcontext context;
    CUmemGenericAllocationHandle physical;
    const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemcpy(0x1000000000, (uintptr_t)&count, sizeof count));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemcpyAsync((uintptr_t)&count, 0x1000000000, sizeof count, NULL));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemCreate(&physical, 2 << 20, &props, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuDriverGetVersion(&count));
    EXPECT(count >= 12000);
}

static int attribute(CUdevice_attribute which) {
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, 0));
    return value;
}

static void device(void) {
    int count = 0, major = 0, minor = 0;
    CUdevice dev = -1;
    char name[100] = "", again[5];
    size_t bytes = 0;
    CUuuid one, two;
    OK(cuInit(0));
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    EXPECT(count >= 1);
    OK(cuDeviceGet(&dev, 0));
    EXPECT(dev == 0);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, count));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, -1));
    OK(cuDeviceGetName(name, sizeof name, 0));
    ours = is_ours();
    printf("device: %s\n", name);
    OK(cuDeviceGetName(again, sizeof again, 0));
    EXPECT(!strncmp(again, name, 4) && !again[4]);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    EXPECT(bytes > 1 << 20);
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    EXPECT(major == 9 && minor == 0);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 49152);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 232448);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) == 2147483647);
    EXPECT(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) >= 1);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&count, 100000, 0));
    OK(cuDeviceGetUuid_v2(&one, 0));
    OK(cuDeviceGetUuid(&two, 0));
    EXPECT(!memcmp(&one, &two, sizeof one));
}

static void errors(void) {
    const char *text = NULL;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    EXPECT(text && !strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT(text && !strcmp(text, "out of memory"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(12345, &text));
    EXPECT(!text);
}

/* ---- Contexts -------------------------------------------------------------------------------------------------- */

/* The current context ends with the last detach. */
static void counted(CUcontext context) {
    CUcontext same = NULL;
    unsigned flags;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&same, 1));
    OK(cuCtxAttach(&same, 0));
    EXPECT(same == context);
    OK(cuCtxDetach(context));
    OK(cuCtxGetFlags(&flags));
    OK(cuCtxSetCurrent(NULL));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxAttach(&same, 0));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(context));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxDetach(context));
}

static void contexts(void) {
    CUcontext one, two, now;
    unsigned flags;
    CUdevice dev = -1;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(&now));
    OK(cuCtxGetCurrent(&now));
    EXPECT(!now);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&one, 0, 99));
    OK(cuCtxCreate_v2(&one, CU_CTX_MAP_HOST, 0));
    OK(cuCtxCreate_v2(&two, 0, 0));
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == two);
    OK(cuCtxGetDevice(&dev));
    EXPECT(dev == 0);
    OK(cuCtxPopCurrent_v2(&now));
    EXPECT(now == two);
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == one);
    OK(cuCtxGetFlags(&flags));
    EXPECT(flags & CU_CTX_MAP_HOST);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxPushCurrent_v2(NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxDestroy_v2(NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxSetCacheConfig(77));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxSetSharedMemConfig(77));
    OK(cuCtxSetCurrent(two));
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == two);
    OK(cuCtxPushCurrent_v2(one));
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(one)); /* current, so it is popped */
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == two);
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&now));
    EXPECT(!now);
    OK(cuCtxSetCurrent(two));
    counted(two);
    OK(cuCtxGetCurrent(&now));
    EXPECT(!now);
    if (ours) GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(one));
}

static void primary(void) {
    CUcontext one = NULL, two = NULL, now;
    unsigned flags = 0;
    int active = -1;
    CUdeviceptr memory;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxRetain(&one, 0));
    OK(cuDevicePrimaryCtxRetain(&two, 0));
    EXPECT(one == two);
    OK(cuCtxGetCurrent(&now));
    EXPECT(!now); /* retaining makes nothing current */
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(active == 1);
    OK(cuCtxSetCurrent(one));
    OK(cuMemAlloc_v2(&memory, 100));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(one));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuMemsetD8_v2(memory, 1, 100));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    OK(cuCtxSetCurrent(NULL));
}

/* What a reset ends comes to life again under the same handle; who had retained it still has to release it. */
static void reset(void) {
    CUcontext one = NULL, two = NULL;
    unsigned flags = 0;
    int active = -1;
    CUdeviceptr memory;
    OK(cuDevicePrimaryCtxRetain(&one, 0));
    OK(cuCtxSetCurrent(one));
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, 64));
    OK(cuDevicePrimaryCtxRetain(&two, 0));
    EXPECT(one == two);
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxSetCurrent(NULL));
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

static void fills(CUdeviceptr at) {
    unsigned words[4];
    OK(cuMemsetD32_v2(at, 0x01020304, 4));
    OK(cuMemsetD16_v2(at + 4, 0xabcd, 2));
    OK(cuMemsetD8Async(at + 8, 0x5a, 4, NULL));
    OK(cuMemcpyDtoH_v2(words, at, sizeof words));
    EXPECT(words[0] == 0x01020304 && words[1] == 0xabcdabcd && words[2] == 0x5a5a5a5a && words[3] == 0x01020304);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(at + 1, 0, 1));
}

static void copies(CUdeviceptr at) {
    char from[64], to[64];
    for (int i = 0; i < 64; i++) from[i] = (char)(i * 3);
    OK(cuMemcpyHtoD_v2(at, from, 64));
    OK(cuMemcpyDtoD_v2(at + 128, at, 64));
    OK(cuMemcpyDtoH_v2(to, at + 128, 64));
    EXPECT(!memcmp(from, to, 64));
    memset(to, 0, 64);
    OK(cuMemcpy((uintptr_t)to, at, 64)); /* finds out which side each address is on */
    EXPECT(!memcmp(from, to, 64));
    OK(cuMemcpy(at + 64, (uintptr_t)from, 32));
    OK(cuMemcpyAsync(at + 32, at + 64, 32, NULL));
    OK(cuMemcpyDtoHAsync_v2(to, at + 32, 32, NULL));
    OK(cuStreamSynchronize(NULL));
    EXPECT(!memcmp(from, to, 32));
    OK(cuMemcpyHtoD_v2(at, from, 0));
}

static void host_memory(void) {
    unsigned *host = NULL, flags = 99, value = 0;
    CUdeviceptr seen = 0;
    OK(cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&seen, host, 0));
    OK(cuMemHostGetFlags(&flags, host));
    EXPECT(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    host[5] = 1234;
    OK(cuMemcpyDtoH_v2(&value, seen + 20, 4)); /* the same bytes */
    EXPECT(value == 1234);
    OK(cuMemsetD32_v2(seen, 77, 1));
    OK(cuCtxSynchronize());
    EXPECT(host[0] == 77);
    if (ours) { /* both sides of a copy may be the same bytes */
        for (unsigned i = 0; i < 1024; i++) host[i] = i;
        OK(cuMemcpyDtoH_v2(host + 24, seen, 4000));
        EXPECT(host[24] == 0 && host[524] == 500 && host[1023] == 999);
        OK(cuMemcpyHtoD_v2(seen, host + 24, 4000));
        EXPECT(host[0] == 0 && host[500] == 500 && host[999] == 999);
    }
    OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)host));
    EXPECT(value == CU_MEMORYTYPE_HOST);
    OK(cuMemFreeHost(host));
    OK(cuMemAllocHost_v2((void **)&host, 100));
    memset(host, 1, 100);
    OK(cuMemFreeHost(host));
    OK(cuMemHostAlloc((void **)&host, 0, 0));
    OK(cuMemFreeHost(NULL));
}

static void pointers(CUdeviceptr at) {
    CUcontext context = NULL, now;
    unsigned type = 0;
    int local = 0;
    OK(cuCtxGetCurrent(&now));
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at + 5));
    EXPECT(context == now);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&local));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT};
    OK(cuPointerGetAttributes(2, which, (void *[]){&type, &context}, (uintptr_t)&local));
    EXPECT(type == 0 && context == NULL);
}

static void memory(void) {
    CUcontext context;
    CUdeviceptr at = 0, base = 0;
    size_t size = 0, before = 0, after = 0, total = 0;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuMemAlloc_v2(&at, 64 << 20));
    EXPECT(at && at % 256 == 0);
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(after < before && before <= total);
    OK(cuMemGetAddressRange_v2(&base, &size, at + 1000));
    EXPECT(base == at && size == 64 << 20);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&base, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&base, (size_t)1 << 50));
    fills(at);
    copies(at);
    pointers(at);
    host_memory();
    if (ours) { /* a copy that leaves its allocation */
        char byte[8];
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(byte, at + (64 << 20) - 4, 8));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at + 256));
    }
    OK(cuMemFree_v2(at));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at));
    OK(cuCtxDestroy_v2(context));
}

/* ---- Modules --------------------------------------------------------------------------------------------------- */

static CUresult load(const char *text, CUmodule *module, char *error, size_t error_size, char *info, size_t info_size,
                     size_t *written) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)error_size, info, (void *)info_size};
    CUresult result = cuModuleLoadDataEx(module, text, 4, options, values);
    *written = (uintptr_t)values[1];
    return result;
}

static void logs(void) {
    CUmodule module;
    char error[2000], info[100], small[16];
    size_t written = 0;
    GIVES(CUDA_ERROR_INVALID_PTX, load(bad_ptx, &module, error, sizeof error, info, sizeof info, &written));
    EXPECT(strstr(error, "frobnicate") && strstr(error, "7"));
    EXPECT(written > 10 && written < sizeof error);
    if (ours) EXPECT(strlen(error) == written && strstr(error, "error[LW") && strstr(error, ":7:1:"));
    memset(small, 'x', sizeof small);
    GIVES(CUDA_ERROR_INVALID_PTX, load(bad_ptx, &module, small, sizeof small - 1, info, sizeof info, &written));
    EXPECT(memchr(small, 0, sizeof small - 1) && small[sizeof small - 1] == 'x');
    GIVES(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cuModuleLoadData(&module, new_ptx));
    if (ours) { /* a new version alone is no fault */
        OK(load(newer_ptx, &module, error, sizeof error, info, sizeof info, &written));
        EXPECT(strstr(info, "LW1060"));
        OK(cuModuleUnload(module));
    }
    GIVES(CUDA_ERROR_INVALID_PTX, load(unresolved_ptx, &module, error, sizeof error, info, sizeof info, &written));
    EXPECT(strstr(error, "elsewhere"));
    OK(cuModuleLoadData(&module, uncalled_ptx));
    OK(cuModuleUnload(module));
    OK(load(ptx, &module, error, sizeof error, info, sizeof info, &written));
    OK(cuModuleUnload(module));
}

static void images(void) {
    CUmodule module;
    char error[400];
    size_t written;
    unsigned fatbin[16] = {0xba55ed50, 0x00100001};
    struct {
        unsigned magic, version;
        void *data, *more;
    } wrapper = {0x466243b1, 1, fatbin, NULL};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, NULL));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "there-is-no-such-file.ptx"));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "// text\nhello"));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ".target sm_70\n.address_size 64\n"));
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 7.0\n"));
    if (!ours) return;
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, load("\x7f"
                                             "ELF",
                                             &module, error, sizeof error, NULL, 0, &written));
    EXPECT(strstr(error, "cubin"));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, load((char *)fatbin, &module, error, sizeof error, NULL, 0, &written));
    EXPECT(strstr(error, "fatbin"));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadFatBinary(&module, &wrapper));
    wrapper.data = NULL;
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadFatBinary(&module, &wrapper));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "\x80\x81\x82"));
}

static void from_file(void) {
    CUmodule module;
    CUfunction function;
    char path[] = "lanewise-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs(ptx, file);
    fclose(file);
    OK(cuModuleLoad(&module, path));
    OK(cuModuleGetFunction(&function, module, "scale"));
    OK(cuModuleUnload(module));
    remove(path);
}

static int function_attribute(CUfunction function, CUfunction_attribute which) {
    int value = -1;
    OK(cuFuncGetAttribute(&value, which, function));
    return value;
}

static void functions(CUmodule module) {
    CUfunction scale, shares;
    CUdeviceptr counter = 0;
    size_t size = 0, offset = 0;
    unsigned words[4] = {0};
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&shares, module, "shares"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&scale, module, "absent"));
    OK(cuModuleGetGlobal_v2(&counter, &size, module, "counter"));
    EXPECT(size == 16);
    OK(cuMemcpyDtoH_v2(words, counter, sizeof words));
    EXPECT(words[0] == 1 && words[3] == 4);
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&counter, &size, module, "absent"));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    EXPECT(function_attribute(scale, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
    EXPECT(function_attribute(scale, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 0);
    EXPECT(function_attribute(shares, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
    EXPECT(function_attribute(shares, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 256);
    EXPECT(function_attribute(scale, CU_FUNC_ATTRIBUTE_PTX_VERSION) == 70); /* of .target, not of .version */
    EXPECT(function_attribute(scale, CU_FUNC_ATTRIBUTE_BINARY_VERSION) == 90);
    EXPECT(function_attribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == 49152 - 256);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    OK(cuFuncGetParamInfo(scale, 2, &offset, &size));
    EXPECT(offset == 12 && size == 4);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(scale, 3, &offset, &size));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetCacheConfig(scale, 77));
}

/* A kernel may write a constant by its address, and those behind it read that. */
static void constants(void) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 table[32] = {7};\n"
        ".visible .entry put(.param .u64 at)\n{\n.reg .b64 %d;\n.reg .b32 %r;\nld.param.u64 %d, [at];\n"
        "mov.u32 %r, %tid.x;\nmad.wide.u32 %d, %r, 4, %d;\nadd.u32 %r, %r, 100;\nst.global.u32 [%d], %r;\nret;\n}\n"
        ".visible .entry get(.param .u64 out)\n{\n.reg .b64 %d, %t;\n.reg .b32 %r;\nld.param.u64 %d, [out];\n"
        "mov.u32 %r, %tid.x;\nmov.u64 %t, table;\nmad.wide.u32 %t, %r, 4, %t;\nmad.wide.u32 %d, %r, 4, %d;\n"
        "ld.const.u32 %r, [%t];\nst.global.u32 [%d], %r;\nret;\n}\n";
    CUmodule module;
    CUfunction put, get;
    CUdeviceptr table, out;
    unsigned words[32] = {0};
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuModuleGetFunction(&get, module, "get"));
    OK(cuModuleGetGlobal_v2(&table, NULL, module, "table"));
    OK(cuMemAlloc_v2(&out, sizeof words));
    OK(cuLaunchKernel(get, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH_v2(words, out, sizeof words));
    EXPECT(words[0] == 7 && words[31] == 0);
    OK(cuLaunchKernel(put, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&table}, NULL));
    OK(cuLaunchKernel(get, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH_v2(words, out, sizeof words));
    for (unsigned i = 0; i < 32; i++) EXPECT(words[i] == i + 100);
    OK(cuMemFree_v2(out));
    OK(cuModuleUnload(module));
}

/* Registers of a thread as few as an option of the load or of the link, or the text, says. */
static void resources(void) {
    enum { MOST = 24 };
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b8 table[100];\n"
                               ".const .align 4 .u32 word = 1;\n.visible .entry few()\n.maxnreg 20\n{\nret;\n}\n"
                               ".visible .entry many(.param .u64 at)\n{\n.reg .b64 %d;\n.reg .b32 %r<64>;\n"
                               "ld.param.u64 %d, [at];\n";
    static char whole[8192];
    CUmodule module;
    CUfunction many, few;
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *value = (void *)MOST, *image;
    CUlinkState state;
    char *end = whole + snprintf(whole, sizeof whole, "%s", text);
    for (int i = 0; i < 64; i++) end += snprintf(end, 64, "ld.volatile.global.u32 %%r%d, [%%d + %d];\n", i, 4 * i);
    for (int i = 0; i < 64; i++) end += snprintf(end, 64, "st.volatile.global.u32 [%%d], %%r%d;\n", i);
    snprintf(end, 64, "ret;\n}\n");
    OK(cuModuleLoadDataEx(&module, whole, 1, &option, &value));
    OK(cuModuleGetFunction(&many, module, "many"));
    OK(cuModuleGetFunction(&few, module, "few"));
    EXPECT(function_attribute(many, CU_FUNC_ATTRIBUTE_NUM_REGS) <= MOST);
    EXPECT(function_attribute(few, CU_FUNC_ATTRIBUTE_NUM_REGS) <= 20);
    EXPECT(function_attribute(many, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 104);
    OK(cuModuleUnload(module));
    OK(cuModuleLoadData(&module, whole));
    OK(cuModuleGetFunction(&many, module, "many"));
    EXPECT(function_attribute(many, CU_FUNC_ATTRIBUTE_NUM_REGS) > MOST);
    OK(cuModuleUnload(module));
    OK(cuLinkCreate_v2(1, &option, &value, &state));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, whole, strlen(whole) + 1, "whole", 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(state));
    OK(cuModuleGetFunction(&many, module, "many"));
    EXPECT(function_attribute(many, CU_FUNC_ATTRIBUTE_NUM_REGS) <= MOST);
    OK(cuModuleUnload(module));
}

/* ---- Links ----------------------------------------------------------------------------------------------------- */

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
static char caller_ptx[] = PTX_HEAD
    ".extern .func (.param .b32 r) add(.param .b32 x);\n.extern .global .u32 base;\n"
    ".visible .entry linked(.param .u64 out)\n{\n.reg .b64 %d;\n.reg .b32 %r<2>;\nld.param.u64 %d, [out];\n"
    "ld.global.u32 %r0, [base];\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r0;\n"
    "call (y), add, (x);\nld.param.b32 %r1, [y];\n}\nst.global.u32 [%d], %r1;\nret;\n}\n";
static char called_ptx[] = PTX_HEAD
    ".visible .global .u32 base = 40;\n.visible .func (.param .b32 r) add(.param .b32 x)\n{\n"
    ".reg .b32 %v;\nld.param.b32 %v, [x];\nadd.u32 %v, %v, 2;\nst.param.b32 [r], %v;\nret;\n}\n";

typedef struct link_logs {
    char error[2000], info[400];
    CUjit_option options[5];
    void *values[5];
} link_logs;

static CUlinkState new_link(link_logs *logs) {
    CUlinkState state;
    *logs = (link_logs){.options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                                    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME},
                        .values = {logs->error, (void *)sizeof logs->error, logs->info, (void *)sizeof logs->info}};
    OK(cuLinkCreate_v2(5, logs->options, logs->values, &state));
    return state;
}

static CUresult add_ptx(CUlinkState state, char *text, const char *name) {
    return cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, text, strlen(text) + 1, name, 0, NULL, NULL);
}

static void run_linked(const void *image) {
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    unsigned value = 0;
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&function, module, "linked"));
    OK(cuMemAlloc_v2(&out, 4));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH_v2(&value, out, 4));
    EXPECT(value == 42);
    OK(cuMemFree_v2(out));
    OK(cuModuleUnload(module));
}

/* As programs do it that keep what they have compiled. */
static void link_in_file(const void *image, size_t size) {
    char path[] = "/tmp/linked-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    CUmodule module;
    EXPECT(file != NULL);
    if (!file) return;
    EXPECT(fwrite(image, 1, size, file) == size);
    EXPECT(fclose(file) == 0);
    OK(cuModuleLoad(&module, path));
    OK(cuModuleUnload(module));
    if (ours) {
        EXPECT(truncate(path, (off_t)size - 9) == 0);
        GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoad(&module, path));
    }
    unlink(path);
}

static void good_link(void) {
    link_logs logs;
    CUlinkState state = new_link(&logs);
    void *image = NULL, *again = NULL;
    size_t size = 0;
    OK(add_ptx(state, caller_ptx, "caller"));
    OK(add_ptx(state, called_ptx, NULL));
    OK(cuLinkComplete(state, &image, &size));
    EXPECT(image && size > 100);
    EXPECT((uintptr_t)logs.values[1] == 0 && !*logs.error);
    run_linked(image);
    link_in_file(image, size);
    if (ours) {
        OK(cuLinkComplete(state, &again, NULL));
        EXPECT(again == image);
        GIVES(CUDA_ERROR_INVALID_VALUE, add_ptx(state, called_ptx, "late"));
    }
    OK(cuLinkDestroy(state));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
}

static void bad_links(void) {
    link_logs logs;
    void *image;
    CUlinkState state = new_link(&logs);
    GIVES(CUDA_ERROR_INVALID_PTX, add_ptx(state, (char *)bad_ptx, "wrong"));
    EXPECT(strstr(logs.error, "frobnicate") && strlen(logs.error) == (uintptr_t)logs.values[1]);
    if (ours) GIVES(CUDA_ERROR_INVALID_PTX, cuLinkComplete(state, &image, NULL));
    OK(cuLinkDestroy(state));
    state = new_link(&logs);
    OK(add_ptx(state, caller_ptx, "caller"));
    GIVES(CUDA_ERROR_UNKNOWN, cuLinkComplete(state, &image, NULL));
    EXPECT(strstr(logs.error, "'add'") && strstr(logs.error, "'base'"));
    OK(cuLinkDestroy(state));
    state = new_link(&logs);
    CUresult twice = add_ptx(state, called_ptx, "one");
    if (!twice) twice = add_ptx(state, called_ptx, "two");
    if (!twice) twice = cuLinkComplete(state, &image, NULL);
    EXPECT(twice == CUDA_ERROR_UNKNOWN);
    EXPECT(strstr(logs.error, "'add'") && strstr(logs.error, "one") && strstr(logs.error, "two"));
    OK(cuLinkDestroy(state));
}

static void other_inputs(void) {
    if (!ours) return; /* these would have to be real ones */
    link_logs logs;
    unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', [18] = 190}; /* whose machine is EM_CUDA */
    CUjitInputType types[] = {CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY,
                              CU_JIT_INPUT_NVVM};
    const char *words[] = {"cubin", "cubin", "cubin", "cubin", "NVVM"};
    for (int i = 0; i < 5; i++) {
        CUlinkState state = new_link(&logs);
        GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU,
              cuLinkAddData_v2(state, types[i], cubin, sizeof cubin, "input.o", 0, NULL, NULL));
        EXPECT(strstr(logs.error, "input.o") && strstr(logs.error, words[i]));
        OK(cuLinkDestroy(state));
    }
    CUlinkState state = new_link(&logs);
    void *image;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, &image, NULL)); /* of nothing */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkAddData_v2(state, 6, cubin, sizeof cubin, "x", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, NULL, 5, "x", 0, NULL, NULL));
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU,
          cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, cubin, sizeof cubin, "x", 0, NULL, NULL));
    OK(cuLinkDestroy(state));
    state = new_link(&logs);
    GIVES(CUDA_ERROR_FILE_NOT_FOUND,
          cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, "there-is-no-such-file.ptx", 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkCreate_v2(1, NULL, NULL, &state));
    OK(add_ptx(state, called_ptx, "it is not the first that was missing"));
}

static void modules(void) {
    CUcontext context;
    CUmodule module;
    OK(cuCtxCreate_v2(&context, 0, 0));
    logs();
    images();
    from_file();
    good_link();
    bad_links();
    other_inputs();
    OK(cuModuleLoadData(&module, ptx));
    functions(module);
    constants();
    resources();
    OK(cuModuleUnload(module));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    OK(cuCtxDestroy_v2(context));
}

/* ---- Streams and events ---------------------------------------------------------------------------------------- */

static void call_back(void *user) { ++*(int *)user; }

static void streams(void) {
    CUcontext context, of;
    CUstream stream;
    CUevent start, end, silent;
    float time = -1;
    unsigned flags = 0;
    int called = 0;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamGetFlags(stream, &flags));
    EXPECT(flags == CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetCtx(stream, &of));
    EXPECT(of == context);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 64));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&silent, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(start));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&time, start, end));
    OK(cuEventRecord(start, stream));
    OK(cuStreamWaitEvent(NULL, start, 0));
    OK(cuEventRecord(end, stream));
    OK(cuEventRecord(silent, stream));
    OK(cuLaunchHostFunc(stream, call_back, &called));
    OK(cuStreamSynchronize(stream));
    EXPECT(called == 1);
    OK(cuStreamQuery(stream));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime_v2(&time, start, end));
    EXPECT(time >= 0 && time < 10000);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&time, start, silent));
    unsigned long long id = 0, legacy = 1;
    OK(cuStreamGetId(NULL, &id));
    OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    EXPECT(id == legacy);
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(end));
    OK(cuStreamDestroy_v2(stream));
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(start, NULL));
    }
    OK(cuCtxDestroy_v2(context));
}

/* ---- Launches -------------------------------------------------------------------------------------------------- */

enum { COUNT = 1000 };

static bool all_are(CUdeviceptr at, unsigned factor) {
    unsigned words[COUNT];
    OK(cuMemcpyDtoH_v2(words, at, sizeof words));
    for (unsigned i = 0; i < COUNT; i++)
        if (words[i] != i * factor) return false;
    return true;
}

static void scaling(CUfunction scale, CUstream stream, CUdeviceptr at) {
    unsigned words[COUNT], factor = 3, count = COUNT;
    void *params[] = {&at, &factor, &count};
    struct {
        CUdeviceptr at;
        unsigned factor, count;
    } buffer = {at, 5, COUNT};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    for (unsigned i = 0; i < COUNT; i++) words[i] = i;
    OK(cuMemcpyHtoD_v2(at, words, sizeof words));
    OK(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    EXPECT(all_are(at, 3));
    OK(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
    OK(cuStreamSynchronize(stream));
    EXPECT(all_are(at, 15));
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = 8,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    OK(cuLaunchKernelEx(&config, scale, params, NULL));
    EXPECT(all_are(at, 45));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(scale, 0, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, params, extra));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, (void *[]){CU_LAUNCH_PARAM_END}));
    if (ours)
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)stream, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(all_are(at, 45)); /* none of these ran, and none sticks */
}

/* Each CTA stores the sum of the ranks of its cluster, which all of them added to the memory of its first one, times
 * 100, and its own rank. */
static const char *cluster_ptx =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry ranks(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\n.shared .align 4 .b32 sum;\n"
    "ld.param.u64 %d0, [out];\nst.shared.u32 [sum], 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "mov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, sum;\nmapa.shared::cluster.u32 %r1, %r1, 0;\n"
    "red.relaxed.cluster.shared::cluster.add.u32 [%r1], %r0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "ld.shared::cluster.u32 %r2, [%r1];\nmad.lo.u32 %r2, %r2, 100, %r0;\nmov.u32 %r3, %ctaid.x;\n"
    "mul.wide.u32 %d1, %r3, 4;\nadd.u64 %d0, %d0, %d1;\nst.global.u32 [%d0], %r2;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n"
    ".visible .entry pairs(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n";

/* Clusters at a time, by what the calls for CTAs say of one multiprocessor. */
static void cluster_occupancy(CUfunction ranks, CUfunction pairs) {
    CUlaunchAttribute shape = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}};
    CUlaunchConfig config = {
        .gridDimX = 96, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1};
    int each = 0, alone = 0, twos = 0, fours = 0, most = 0;
    const int processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, ranks, 256, 0));
    OK(cuOccupancyMaxActiveClusters(&alone, ranks, &config));
    EXPECT(alone == 0); /* it would have none */
    config.attrs = &shape, config.numAttrs = 1;
    OK(cuOccupancyMaxActiveClusters(&alone, ranks, &config));
    EXPECT(alone == (each < 8 ? each : 8) * processors);
    shape.value.clusterDim.x = 2;
    OK(cuOccupancyMaxActiveClusters(&twos, ranks, &config));
    shape.value.clusterDim.y = 2;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&fours, ranks, &config)); /* of half a grid */
    config.gridDimY = 2;
    OK(cuOccupancyMaxActiveClusters(&fours, ranks, &config));
    EXPECT(twos >= 1 && twos <= alone / 2 && fours >= 1 && fours <= twos / 2);
    if (!ours) return;
    shape.value.clusterDim.y = 16;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&twos, ranks, &config));
    shape.value.clusterDim.y = 0;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&twos, ranks, &config));
    shape.value.clusterDim.x = 4, shape.value.clusterDim.y = 1;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&twos, pairs, &config)); /* it asks for 2 */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveClusters(NULL, ranks, &config));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveClusters(&twos, ranks, NULL));
    OK(cuOccupancyMaxPotentialClusterSize(&most, ranks, &config));
    EXPECT(most == 16); /* larger ones are allowed by now */
    OK(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0));
    OK(cuOccupancyMaxPotentialClusterSize(&most, ranks, &config));
    EXPECT(most == 8);
    shape.value.clusterDim.x = 16;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&twos, ranks, &config));
    config.blockDimX = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxPotentialClusterSize(&most, ranks, &config));
}

static void clusters(CUdeviceptr at) {
    CUmodule module;
    CUfunction ranks, pairs;
    unsigned words[32];
    int value = -1;
    void *params[] = {&at};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {4, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 32,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    OK(cuModuleLoadData(&module, cluster_ptx));
    OK(cuModuleGetFunction(&ranks, module, "ranks"));
    OK(cuModuleGetFunction(&pairs, module, "pairs"));
    OK(cuLaunchKernelEx(&config, ranks, params, NULL));
    OK(cuMemcpyDtoH_v2(words, at, sizeof words));
    for (unsigned i = 0; i < 32; i++) EXPECT(words[i] == 600 + i % 4);
    attribute.value.clusterDim.x = 16;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, ranks, params, NULL));
    OK(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuLaunchKernelEx(&config, ranks, params, NULL));
    OK(cuMemcpyDtoH_v2(words, at, sizeof words));
    for (unsigned i = 0; i < 32; i++) EXPECT(words[i] == 12000 + i % 16);
    attribute.value.clusterDim.x = 5;
    EXPECT(cuLaunchKernelEx(&config, ranks, params, NULL) != CUDA_SUCCESS);
    cluster_occupancy(ranks, pairs);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, pairs));
    EXPECT(value == 2);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, ranks));
    EXPECT(value == 0);
    OK(cuLaunchKernel(pairs, 4, 1, 1, 1, 1, 1, 0, NULL, params, NULL)); /* the kernel says it itself */
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
}

/* What is said to be available leaves room for so many CTAs, and one byte more does not, unless no launch may have it.
 * The number itself: of what a multiprocessor has, each CTA gets the same in units of 128, of which it needs what is
 * reserved and its static variables. */
static void available(CUfunction function, int block, size_t fixed, size_t most) {
    const size_t all = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                 reserved = (size_t)attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    int at_once = 0;
    size_t bytes = 0;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, function, block, 0));
    for (int blocks = 1; blocks <= at_once; blocks++) {
        int with = 0, beyond = 0;
        size_t share = all / (size_t)blocks;
        share -= share % 128;
        OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, blocks, block));
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&with, function, block, bytes));
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&beyond, function, block, bytes + 1));
        EXPECT(with >= blocks && (beyond < blocks || bytes == most));
        EXPECT(bytes == (share - reserved - fixed < most ? share - reserved - fixed : most));
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, at_once + 1, block));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 0, block));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, block + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(NULL, function, 1, block));
}

static void sharing(CUfunction shares, CUdeviceptr at) {
    unsigned value = 0;
    int blocks = -1, grid = 0, block = 0;
    void *params[] = {&at};
    OK(cuLaunchKernel(shares, 1, 1, 1, 1, 1, 1, 1024, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(&value, at, 4));
    EXPECT(value == 7 + 1024);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(shares, 1, 1, 1, 1, 1, 1, 100 << 10, NULL, params, NULL));
    OK(cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
    OK(cuLaunchKernel(shares, 1, 1, 1, 1, 1, 1, 100 << 10, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(&value, at, 4));
    EXPECT(value == 7 + (100 << 10));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(shares, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL)); /* .maxntid 64 */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shares, 64, 100 << 10));
    EXPECT(blocks == 2);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shares, 64, 0));
    EXPECT(blocks == 32);
    if (ours) available(shares, 64, 256, 100 << 10);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, shares, NULL, 0, 0));
    EXPECT(block == 64 && grid >= 1);
}

static void launches(void) {
    CUcontext context;
    CUmodule module;
    CUfunction scale, shares, nothing;
    CUstream stream;
    CUdeviceptr at;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&shares, module, "shares"));
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&at, COUNT * sizeof(unsigned)));
    OK(cuModuleGetFunction(&nothing, module, "nothing"));
    OK(cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, (void *[]){CU_LAUNCH_PARAM_END}));
    scaling(scale, stream, at);
    sharing(shares, at);
    if (attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)) clusters(at);
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context)); /* with all that it owns */
}

int main(void) {
    before_init();
    device();
    errors();
    contexts();
    primary();
    reset();
    memory();
    modules();
    streams();
    launches();
    printf("%d faults\n", faults);
    return faults != 0;
}
