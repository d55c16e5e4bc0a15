/* library.c: code that is loaded without a context, and its kernels, which run in any. Uses nothing but the driver, so
 * that it says on a GPU whether the same is so there. */
#include "expect.h"

#include <pthread.h>
#include <stdbool.h>

static bool ours; /* what happens with handles that are none is nothing to try on others */

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 count = 5;\n"
                          ".visible .entry bump(.param .u32 by, .param .u64 out)\n{\n.reg .b64 %d;\n.reg .b32 %r<3>;\n"
                          "ld.param.u32 %r0, [by];\nld.param.u64 %d, [out];\nld.global.u32 %r1, [count];\n"
                          "add.u32 %r1, %r1, %r0;\nst.global.u32 [count], %r1;\nst.global.u32 [%d], %r1;\nret;\n}\n"
                          ".visible .entry small()\n.maxntid 64, 1, 1\n{\nret;\n}\n";

static unsigned bump(CUfunction function, unsigned by) {
    CUdeviceptr out;
    unsigned value = 0;
    OK(cuMemAlloc_v2(&out, sizeof value));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&by, &out}, NULL));
    OK(cuMemcpyDtoH_v2(&value, out, sizeof value));
    OK(cuMemFree_v2(out));
    return value;
}

/* ---- Before there is a context --------------------------------------------------------------------------------- */

static void questions(CUlibrary library, CUkernel kernel) {
    CUkernel all[3] = {NULL, NULL, NULL};
    CUlibrary of = NULL;
    const char *name = NULL;
    unsigned count = 0;
    size_t offset = 9, size = 9;
    OK(cuLibraryGetKernelCount(&count, library));
    EXPECT(count == 2);
    OK(cuLibraryEnumerateKernels(all, 3, library));
    EXPECT(all[0] && all[1] && all[0] != all[1] && !all[2] && (all[0] == kernel || all[1] == kernel));
    OK(cuKernelGetLibrary(&of, kernel));
    EXPECT(of == library);
    OK(cuKernelGetName(&name, kernel));
    EXPECT(name && !strcmp(name, "bump"));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetParamInfo(kernel, 1, &offset, &size));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(NULL, kernel));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(&name, NULL));
    GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "absent"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryGetKernel(NULL, library, "bump"));
}

static void refused(void) {
    CUlibrary library;
    CUlibraryOption kept = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = NULL;
    char error[500] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND,
          cuLibraryLoadFromFile(&library, "there-is-no-such-file", NULL, NULL, 0, NULL, NULL, 0));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile(&library, "absent", NULL, NULL, 0, &kept, &value, 1));
    if (!ours) return; /* others may look at the text later */
    GIVES(CUDA_ERROR_INVALID_PTX,
          cuLibraryLoadData(&library, ".version 7.0\n.target sm_70\nfrob;", options, values, 2, NULL, NULL, 0));
    EXPECT(strstr(error, "frob"));
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, &kept, &value, 1));
    OK(cuLibraryUnload(library));
}

/* ---- In contexts ----------------------------------------------------------------------------------------------- */

static void parameters(CUkernel kernel) {
    size_t offset = 9, size = 9;
    OK(cuKernelGetParamInfo(kernel, 1, &offset, &size));
    EXPECT(offset == 8 && size == 8);
    OK(cuKernelGetParamInfo(kernel, 0, &offset, NULL));
    EXPECT(offset == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel, 2, &offset, &size));
}

/* Each context has variables of its own. */
static void contexts(CUlibrary library, CUkernel kernel) {
    CUcontext one, two;
    CUfunction here, there, handle = (CUfunction)kernel;
    CUmodule module, of;
    CUdeviceptr address, other;
    size_t size = 0;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetFunction(&here, kernel));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuLibraryGetModule(&module, library));
    OK(cuCtxCreate_v2(&one, 0, 0));
    parameters(kernel);
    EXPECT(bump(handle, 10) == 15);
    EXPECT(bump(handle, 10) == 25);
    OK(cuKernelGetFunction(&here, kernel));
    EXPECT(bump(here, 1) == 26);
    OK(cuLibraryGetModule(&module, library));
    OK(cuFuncGetModule(&of, here));
    EXPECT(of == module);
    OK(cuLibraryGetGlobal(&address, &size, library, "count"));
    EXPECT(size == 4);
    GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&address, &size, library, "absent"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &size, library, "count"));

    OK(cuCtxCreate_v2(&two, 0, 0));
    EXPECT(bump(handle, 1) == 6);
    OK(cuLibraryGetGlobal(&other, NULL, library, "count"));
    EXPECT(other != address);
    OK(cuKernelGetFunction(&there, kernel));
    EXPECT(there != here);
    OK(cuCtxSetCurrent(one));
    EXPECT(bump(handle, 0) == 26);
    OK(cuCtxDestroy_v2(one));
    OK(cuCtxCreate_v2(&one, 0, 0)); /* begins anew */
    EXPECT(bump(handle, 0) == 5);
    OK(cuCtxDestroy_v2(one));
    OK(cuCtxDestroy_v2(two));
}

/* Managed variables are those of all contexts, and of the host. */
static void managed(void) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .global .attribute(.managed) .align 4 .u32 sum = 5;\n.visible .global .u64 where = sum;\n"
        ".visible .entry add(.param .u32 by)\n{\n.reg .b64 %d;\n.reg .b32 %r<3>;\nld.param.u32 %r0, [by];\n"
        "atom.global.add.u32 %r1, [sum], %r0;\nld.global.u64 %d, [where];\natom.global.add.u32 %r2, [%d], %r0;\n"
        "ret;\n}\n";
    CUcontext contexts[2];
    CUlibrary library;
    CUkernel kernel;
    CUdeviceptr at = 0;
    size_t size = 0;
    unsigned by;
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    for (unsigned i = 0; i < 2; i++) {
        by = i ? 100 : 1;
        OK(cuCtxCreate_v2(&contexts[i], 0, 0));
        OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&by}, NULL));
        OK(cuCtxSynchronize());
    }
    OK(cuLibraryGetManaged(&at, &size, library, "sum"));
    EXPECT(size == 4 && *(unsigned *)(uintptr_t)at == 5 + 2 + 200);
    OK(cuCtxDestroy_v2(contexts[0]));
    *(unsigned *)(uintptr_t)at = 7;
    by = 4;
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&by}, NULL));
    OK(cuCtxSynchronize());
    EXPECT(*(unsigned *)(uintptr_t)at == 7 + 8);
    OK(cuCtxDestroy_v2(contexts[1]));
    OK(cuLibraryUnload(library));
}

static int kernel_value(CUkernel kernel, CUfunction_attribute which) {
    int value = -1;
    OK(cuKernelGetAttribute(&value, which, kernel, 0));
    return value;
}

static int function_value(CUfunction function, CUfunction_attribute which) {
    int value = -1;
    OK(cuFuncGetAttribute(&value, which, function));
    return value;
}

/* What is set of a function counts there, whenever it was set; else what is set of the kernel. */
static void attributes(CUlibrary library) {
    enum { DYNAMIC = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };
    CUcontext one, two;
    CUkernel kernel;
    CUfunction here, there;
    int value;
    OK(cuLibraryGetKernel(&kernel, library, "small"));
    EXPECT(kernel_value(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
    OK(cuKernelSetAttribute(DYNAMIC, 50000, kernel, 0));
    OK(cuCtxCreate_v2(&one, 0, 0));
    OK(cuKernelGetFunction(&here, kernel));
    EXPECT(function_value(here, DYNAMIC) == 50000);
    OK(cuKernelSetAttribute(DYNAMIC, 51000, kernel, 0));
    EXPECT(function_value(here, DYNAMIC) == 51000);
    OK(cuFuncSetAttribute(here, DYNAMIC, 1000));
    OK(cuKernelSetAttribute(DYNAMIC, 52000, kernel, 0));
    EXPECT(function_value(here, DYNAMIC) == 1000 && kernel_value(kernel, DYNAMIC) == 52000);
    OK(cuCtxCreate_v2(&two, 0, 0));
    OK(cuKernelGetFunction(&there, kernel));
    EXPECT(function_value(there, DYNAMIC) == 52000);
    OK(cuKernelSetCacheConfig(kernel, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(DYNAMIC, 1 << 20, kernel, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuKernelGetAttribute(&value, DYNAMIC, kernel, 99));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuKernelGetAttribute(NULL, DYNAMIC, kernel, 0));
    OK(cuCtxDestroy_v2(two));
    OK(cuCtxDestroy_v2(one));
}

/* ---- Handles that are none ------------------------------------------------------------------------------------- */

static void no_library(CUlibrary library) {
    CUkernel kernel;
    CUmodule module;
    unsigned count;
    size_t size;
    CUdeviceptr address;
    void *function;
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&kernel, library, "bump"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernelCount(&count, library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryEnumerateKernels(&kernel, 1, library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetModule(&module, library));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetGlobal(&address, &size, library, "count"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetManaged(&address, &size, library, "count"));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetUnifiedFunction(&function, library, "f"));
}

static void no_kernel(CUkernel kernel) {
    CUlibrary library;
    CUfunction function;
    size_t offset;
    int value;
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&function, kernel));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetLibrary(&library, kernel));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetParamInfo(kernel, 0, &offset, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetAttribute(&value, 0, kernel, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelSetAttribute(8, 0, kernel, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelSetCacheConfig(kernel, 0, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, (void *[]){NULL}));
}

static void handles(CUlibrary unloaded, CUkernel gone) {
    CUcontext context;
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    if (!ours) return;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuLibraryGetModule(&module, library));
    OK(cuKernelGetFunction(&function, kernel));
    GIVES(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
    if (unloaded != library) no_library(unloaded);
    no_library(NULL);
    no_library((CUlibrary)kernel);
    no_library((CUlibrary)(uintptr_t)0x123450);
    if (gone != kernel) no_kernel(gone);
    no_kernel(NULL);
    no_kernel((CUkernel)module);
    OK(cuLibraryUnload(library));
    no_library(library);
    no_kernel(kernel);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, (void *[]){NULL}));
    OK(cuCtxDestroy_v2(context));
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, TIMES = 12 };
typedef struct shared {
    CUcontext context;
    CUlibrary library;
    CUkernel kernel;
} shared;

/* Until the library goes. */
static void *user(void *argument) {
    const shared *with = argument;
    CUresult result = cuCtxSetCurrent(with->context);
    for (int i = 0; i < 200 && !result; i++) {
        unsigned by = 1;
        CUkernel kernel = with->kernel;
        CUdeviceptr at = 0;
        int value;
        result = cuLibraryGetKernel(&kernel, with->library, "bump");
        if (!result) result = cuLibraryGetGlobal(&at, NULL, with->library, "count");
        if (!result) result = cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&by, &at}, NULL);
        if (!result) result = cuKernelGetAttribute(&value, 0, kernel, 0);
    }
    EXPECT(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_HANDLE);
    return NULL;
}

static void threads(void) {
    if (!ours) return;
    for (int i = 0; i < TIMES; i++) {
        pthread_t thread[THREADS];
        shared with;
        OK(cuCtxCreate_v2(&with.context, 0, 0));
        OK(cuLibraryLoadData(&with.library, ptx, NULL, NULL, 0, NULL, NULL, 0));
        OK(cuLibraryGetKernel(&with.kernel, with.library, "bump"));
        for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, user, &with);
        for (volatile int wait = 0; wait < i * 20000; wait++) {}
        OK(cuLibraryUnload(with.library));
        for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
        OK(cuCtxDestroy_v2(with.context));
    }
}

int main(void) {
    CUlibrary library;
    CUkernel kernel;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuInit(0));
    ours = is_ours();
    refused();
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    questions(library, kernel);
    contexts(library, kernel);
    managed();
    attributes(library);
    OK(cuLibraryUnload(library));
    handles(library, kernel);
    threads();
    if (faults) printf("%d faults\n", faults);
    return faults != 0;
}
