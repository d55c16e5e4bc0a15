/* trap.c KIND: a kernel that faults, and what calls say from then on. One fault a process, as a GPU's driver may not go
 * on after one. */
#include "expect.h"

#include <stdlib.h>

#define HEAD \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n" \
    ".reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\nld.param.u64 %d0, [at];\n"
#define TAIL "ret;\n}\n"

static const struct fault {
    const char *name;
    CUresult result;
    const char *text;
} rows[] = {
    {"bounds", CUDA_ERROR_ILLEGAL_ADDRESS, HEAD "mov.u64 %d1, 16;\nst.global.u32 [%d1], 1;\n" TAIL},
    {"misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, HEAD "st.global.u32 [%d0+2], 1;\n" TAIL},
    {"trap", CUDA_ERROR_LAUNCH_FAILED, HEAD "trap;\n" TAIL},
    {"texture", CUDA_ERROR_ILLEGAL_ADDRESS, /* by a handle that is none */
     HEAD ".reg .f32 %f<4>;\nmov.u64 %d1, 0x123456789;\nmov.f32 %f0, 0f3f000000;\n"
          "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d1, {%f0, %f0}];\nst.global.f32 [%d0], %f0;\n" TAIL},
    {"surface", CUDA_ERROR_MISALIGNED_ADDRESS, /* a word at x = 2 */
     ".version 7.0\n.target sm_70\n.address_size 64\n.global .surfref area;\n.visible .entry k(.param .u64 at)\n{\n"
     ".reg .b32 %x;\nmov.u32 %x, 2;\nsust.b.1d.b32.trap [area, {%x}], %x;\n" TAIL},
};

static void bind_surface(CUmodule module) {
    const CUDA_ARRAY3D_DESCRIPTOR line = {
        .Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    CUsurfref area;
    if (cuModuleGetSurfRef(&area, module, "area")) return; /* the kernel has none */
    OK(cuArray3DCreate_v2(&array, &line));
    OK(cuSurfRefSetArray(area, array, 0));
}

static void faulting(const struct fault *row) {
    CUcontext context, other;
    CUmodule module;
    CUfunction function;
    CUdeviceptr at = 0;
    unsigned word;
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&at, 256));
    OK(cuModuleLoadData(&module, row->text));
    OK(cuModuleGetFunction(&function, module, "k"));
    bind_surface(module);
    GIVES(blocking ? row->result : CUDA_SUCCESS,
          cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&at}, NULL));
    GIVES(row->result, cuCtxSynchronize());
    GIVES(row->result, cuCtxSynchronize()); /* it sticks */
    GIVES(row->result, cuMemcpyDtoH_v2(&word, at, 4));
    GIVES(row->result, cuMemAlloc_v2(&at, 256));
    GIVES(row->result, cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&at}, NULL));
    GIVES(row->result, cuStreamQuery(NULL));
    OK(cuCtxSetCurrent(other)); /* … to the process: other contexts have it … */
    GIVES(row->result, cuCtxSynchronize());
    GIVES(row->result, cuMemAlloc_v2(&at, 256));
    OK(cuCtxDestroy_v2(context)); /* … and it does not go with the one that it came from */
    GIVES(row->result, cuCtxSynchronize());
    GIVES(row->result, cuCtxCreate_v2(&context, 0, 0));
    OK(cuCtxDestroy_v2(other));
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 2 && i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(argv[1], rows[i].name)) {
            faulting(&rows[i]);
            return faults != 0;
        }
    fprintf(stderr, "usage: trap bounds|misaligned|trap|texture|surface\n");
    return 2;
}
