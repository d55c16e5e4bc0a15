/* gpu.c: the same kernels on a GPU, by whatever libcuda.so.1 is there. It needs no CUDA to build. */
#include "compare.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim/cuda/abi.h"

/* clang-format off */
#define CALLS(CALL) \
    CALL(cuInit) CALL(cuDeviceGet) CALL(cuDeviceGetName) CALL(cuDevicePrimaryCtxRetain) CALL(cuCtxSetCurrent) \
    CALL(cuCtxSetLimit) CALL(cuCtxSynchronize) CALL(cuModuleLoadDataEx) CALL(cuModuleUnload) \
    CALL(cuModuleGetFunction) CALL(cuMemAlloc_v2) CALL(cuMemcpyHtoD_v2) CALL(cuMemcpyDtoH_v2) CALL(cuMemsetD32_v2) \
    CALL(cuLaunchKernel)
/* clang-format on */

static struct {
#define CALL(name) __typeof__(name) *name;
    CALLS(CALL)
#undef CALL
} cuda;

static void need(CUresult result, const char *what) {
    if (!result) return;
    fprintf(stderr, "%s: error %d\n", what, (int)result);
    exit(3);
}

void gpu_open(engine *e, uint64_t out_bytes) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CUdevice device;
    CUcontext context;
    char name[32] = "";
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
#define CALL(name) *(void **)&cuda.name = dlsym(library, #name);
    CALLS(CALL)
#undef CALL
    if (!cuda.cuInit) exit(3);
    need(cuda.cuInit(0), "cuInit");
    need(cuda.cuDeviceGet(&device, 0), "cuDeviceGet");
    need(cuda.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    need(cuda.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    need(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    need(cuda.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16384),
         "cuCtxSetLimit"); /* recursion: the compiler cannot know how deep */
    CUdeviceptr at[3];
    need(cuda.cuMemAlloc_v2(&at[0], 8 * GEN_IN_WORDS), "cuMemAlloc");
    need(cuda.cuMemAlloc_v2(&at[1], out_bytes), "cuMemAlloc");
    need(cuda.cuMemAlloc_v2(&at[2], GEN_SUM_BYTES), "cuMemAlloc");
    e->in = at[0], e->out = at[1], e->sum = at[2], e->gpu = true;
    snprintf(e->name, sizeof e->name, "%s", name);
}

/* Leaves something else than zeros in shared and local memory: who reads what it has not written differs then each
 * time, not by what ran before. */
static void spoil(void) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry spoil() {\n"
        ".shared .b32 room[12288]; .local .align 8 .b8 deep[14336]; .reg .b32 %r<128>; .reg .pred %p; .reg .b64 %d;\n"
        "mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; mov.u32 %r1, room; add.u32 %r0, %r0, %r1; mov.u32 %r2, 0;\n"
        "S: xor.b32 %r3, %r0, 0x5bd1e995; st.shared.u32 [%r0], %r3; add.u32 %r0, %r0, 1024; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p, %r2, 48; @%p bra S;\n"
        "mov.u64 %d, deep; mov.u32 %r2, 0;\n"
        "L: mad.lo.u32 %r3, %r2, 0x9e3779b1, 0x7f4a7c15; st.local.u32 [%d], %r3; add.u64 %d, %d, 4; add.u32 %r2, %r2, "
        "1;\n"
        "setp.lt.u32 %p, %r2, 3584; @%p bra L;\n"
        "ld.shared.u32 %r4, [room+64]; ld.local.u32 %r5, [deep+4096]; xor.b32 %r4, %r4, %r5; st.shared.u32 [room], "
        "%r4; ret; }\n";
    static CUfunction function;
    CUmodule module;
    if (!function) {
        need(cuda.cuModuleLoadDataEx(&module, text, 0, NULL, NULL), "cuModuleLoadDataEx");
        need(cuda.cuModuleGetFunction(&function, module, "spoil"), "cuModuleGetFunction");
    }
    need(cuda.cuLaunchKernel(function, 2048, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

/* False: the driver refuses the text; `why` has its log. A kernel that fails ends the program: no other would run. */
bool gpu_run(engine *e, const gen_kernel *kernel, const unsigned char *in, unsigned char *params, uint64_t out_bytes,
             char *why, size_t size) {
    CUmodule module;
    CUfunction function;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    static char log[4096];
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    log[0] = 0;
    need(cuda.cuMemcpyHtoD_v2(e->in, in, 8 * GEN_IN_WORDS), "cuMemcpyHtoD");
    need(cuda.cuMemsetD32_v2(e->out, 0, out_bytes / 4), "cuMemsetD32");
    need(cuda.cuMemsetD32_v2(e->sum, 0, GEN_SUM_BYTES / 4), "cuMemsetD32");
    lw_text text = {0};
    lw_text_add(&text, kernel->text.at, kernel->text.size); /* with a NUL behind it */
    CUresult result = cuda.cuModuleLoadDataEx(&module, text.at, 2, options, values);
    lw_text_free(&text);
    if (result) {
        snprintf(why, size, "%s: refused: error %d: %.500s", e->name, (int)result, log);
        return false;
    }
    need(cuda.cuModuleGetFunction(&function, module, "k"), "cuModuleGetFunction");
    size_t bytes = kernel->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    const uint32_t *grid = kernel->grid, *block = kernel->block;
    spoil();
    need(cuda.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, NULL, NULL, extra),
         "cuLaunchKernel");
    need(cuda.cuCtxSynchronize(), "cuCtxSynchronize");
    need(cuda.cuModuleUnload(module), "cuModuleUnload");
    return true;
}

void gpu_read(uint64_t address, void *to, uint64_t size) {
    need(cuda.cuMemcpyDtoH_v2(to, address, size), "cuMemcpyDtoH");
}
