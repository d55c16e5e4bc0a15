/* close.c LIBRARY: a program that opens the driver itself, works, closes it and opens it again finds it as it was: its
 * threads are there all the time. */
#include <dlfcn.h>
#include <stdio.h>

#include "shim/cuda/abi.h"

static const char *ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n";

#define CALL(name, ...) ((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__)

static CUresult work(void *library) {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUresult result = CALL(cuInit, 0);
    if (!result) result = CALL(cuCtxCreate_v2, &context, 0, 0);
    if (!result) result = CALL(cuModuleLoadData, &module, ptx);
    if (!result) result = CALL(cuModuleGetFunction, &function, module, "nothing");
    if (!result) result = CALL(cuLaunchKernel, function, 10000, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    if (!result) result = CALL(cuCtxSynchronize);
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
