/* close.c LIBRARY: a program that opens the driver itself, works, closes it and opens it again finds it as it was: its
 * threads are there all the time. What compiled code calls of the C library is found, though this program, as one that
 * is not linked with the library of mathematics, does not see it. */
#include <dlfcn.h>
#include <stdio.h>

#include "shim/cuda/abi.h"

/* Of x = -t - 1/2 floor, ceil, trunc and rint, by thousands, hundreds and tens. */
#define ROUND(type) \
    "neg." type " %" type "0, %" type "0;\ncvt.rmi." type "." type " %" type "1, %" type "0;\n" \
    "cvt.rpi." type "." type " %" type "2, %" type "0;\ncvt.rzi." type "." type " %" type "3, %" type "0;\n" \
    "cvt.rni." type "." type " %" type "4, %" type "0;\nfma.rn." type " %" type "4, %" type "3, %" type "5, %" type \
    "4;\n" \
    "fma.rn." type " %" type "4, %" type "2, %" type "6, %" type "4;\n" \
    "fma.rn." type " %" type "4, %" type "1, %" type "7, %" type "4;\n"
static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry rounds(.param .u64 out)\n{\n"
    ".reg .b64 %d<2>;\n.reg .b32 %t;\n.reg .f32 %f32<8>;\n.reg .f64 %f64<8>;\nld.param.u64 %d0, [out];\n"
    "mov.u32 %t, %tid.x;\nmul.wide.u32 %d1, %t, 16;\nadd.u64 %d0, %d0, %d1;\ncvt.rn.f32.u32 %f320, %t;\n"
    "add.f32 %f320, %f320, 0f3f000000;\ncvt.f64.f32 %f640, %f320;\nmov.f32 %f325, 0f41200000;\n"
    "mov.f32 %f326, 0f42c80000;\nmov.f32 %f327, 0f447a0000;\ncvt.f64.f32 %f645, %f325;\n"
    "cvt.f64.f32 %f646, %f326;\ncvt.f64.f32 %f647, %f327;\n" ROUND("f32")
        ROUND("f64") "st.global.f32 [%d0], %f324;\nst.global.f64 [%d0+8], %f644;\nret;\n}\n";

#define CALL(name, ...) ((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__)

enum { THREADS = 64 };

static CUresult work(void *library) {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    struct {
        float single;
        double twice;
    } got[THREADS];
    CUresult result = CALL(cuInit, 0);
    if (!result) result = CALL(cuCtxCreate_v2, &context, 0, 0);
    if (!result) result = CALL(cuModuleLoadData, &module, ptx);
    if (!result) result = CALL(cuModuleGetFunction, &function, module, "rounds");
    if (!result) result = CALL(cuMemAlloc_v2, &out, sizeof got);
    if (!result) result = CALL(cuLaunchKernel, function, 10000, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&out}, NULL);
    if (!result) result = CALL(cuMemcpyDtoH_v2, got, out, sizeof got);
    for (int t = 0; t < THREADS && !result; t++) {
        const int wanted = -1000 * (t + 1) - 110 * t - (t + 1) / 2 * 2;
        if (got[t].single != (float)wanted || got[t].twice != wanted)
            return printf("thread %d: %g and %g, not %d\n", t, (double)got[t].single, got[t].twice, wanted),
                   CUDA_ERROR_UNKNOWN;
    }
    return result ? result : CALL(cuCtxDestroy_v2, context);
}

int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++) {
        void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
        if (!library) return printf("usage: close LIBRARY: %s\n", argc == 2 ? dlerror() : ""), 2;
        CUresult result = work(library);
        if (result) return printf("round %d: error %u\n", i, result), 1;
        if (dlclose(library)) return printf("%s\n", dlerror()), 1;
        if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)) return printf("its threads have lost their code\n"), 1;
    }
    return 0;
}
