/* threads.c: each thread has its own current context; two work at the same time, and one that traps ends
 * what all do; two ask for one kernel, or change one reference, at the same time. */
#include "expect.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry add(.param .u64 at, .param .u32 by)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %d<3>;\nld.param.u64 %d0, [at];\nld.param.u32 %r0, [by];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d1, %r1, 4;\nadd.u64 %d1, %d0, %d1;\nld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, %r0;\n"
    "st.global.u32 [%d1], %r2;\nret;\n}\n";

static bool ours;

typedef struct job {
    unsigned by;
    bool wild;
    int wrong;
} job;

static void *work(void *user) {
    job *job = user;
    CUcontext context, now;
    CUmodule module;
    CUfunction function;
    CUdeviceptr at = 0, nowhere = 64;
    unsigned words[64];
    CUresult first = cuCtxGetCurrent(&now);
    job->wrong += first || now; /* that of the thread that began this one is not ours */
    job->wrong += cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
                  cuModuleGetFunction(&function, module, "add") || cuMemAlloc_v2(&at, sizeof words) ||
                  cuMemsetD32_v2(at, 0, 64);
    for (int i = 0; i < 100 && !job->wrong; i++)
        job->wrong += cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&at, &job->by}, NULL) !=
                      CUDA_SUCCESS;
    job->wrong += cuMemcpyDtoH_v2(words, at, sizeof words) != CUDA_SUCCESS;
    for (int i = 0; i < 64 && !job->wrong; i++) job->wrong += words[i] != 100 * job->by;
    if (job->wild) {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nowhere, &job->by}, NULL);
        job->wrong += cuCtxSynchronize() != CUDA_ERROR_ILLEGAL_ADDRESS;
    } else job->wrong += cuCtxSynchronize() != CUDA_SUCCESS;
    job->wrong += cuCtxDestroy_v2(context) != CUDA_SUCCESS;
    return NULL;
}

typedef struct asker {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    pthread_barrier_t *start;
    int wrong;
} asker;

static void *ask(void *user) {
    asker *a = user;
    a->wrong += cuCtxSetCurrent(a->context) != CUDA_SUCCESS;
    pthread_barrier_wait(a->start);
    a->wrong += cuModuleGetFunction(&a->function, a->module, "add") != CUDA_SUCCESS;
    return NULL;
}

/* Otherwise attributes that one sets would not be those that the other launches with. */
static void same_function(CUcontext context) {
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    for (int round = 0; round < 100; round++) {
        pthread_t threads[2];
        CUmodule module = NULL;
        OK(cuModuleLoadData(&module, ptx));
        asker askers[2] = {{.context = context, .module = module, .start = &start},
                           {.context = context, .module = module, .start = &start}};
        for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&threads[i], NULL, ask, &askers[i]));
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        EXPECT(!askers[0].wrong && !askers[1].wrong);
        EXPECT(askers[0].function && askers[0].function == askers[1].function);
        OK(cuModuleUnload(module));
    }
    pthread_barrier_destroy(&start);
}

enum { ROUNDS = 50000 };

typedef struct setter {
    CUcontext context;
    CUtexref reference;
    atomic_uint *rounds; /* of both */
    int which, wrong;
} setter;

/* Each sets and gets what the other does not, until both have done so many rounds. */
static void *set(void *user) {
    setter *s = user;
    s->wrong += cuCtxSetCurrent(s->context) != CUDA_SUCCESS;
    for (unsigned i = 0; i < ROUNDS || s->rounds[!s->which] < ROUNDS; i++) {
        unsigned most = ~0u;
        CUaddress_mode mode = ~0u;
        if (s->which) {
            s->wrong += cuTexRefSetMaxAnisotropy(s->reference, i) ||
                        cuTexRefGetMaxAnisotropy((int *)&most, s->reference);
            s->wrong += most != i;
        } else {
            s->wrong += cuTexRefSetAddressMode(s->reference, 1, i % 4) ||
                        cuTexRefGetAddressMode(&mode, s->reference, 1);
            s->wrong += mode != i % 4;
        }
        s->rounds[s->which]++;
    }
    return NULL;
}

static void same_reference(CUcontext context) {
    pthread_t threads[2];
    atomic_uint rounds[2] = {0};
    CUtexref reference = NULL;
    OK(cuTexRefCreate(&reference));
    setter setters[2] = {{context, reference, rounds, 0, 0}, {context, reference, rounds, 1, 0}};
    for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&threads[i], NULL, set, &setters[i]));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    EXPECT(!setters[0].wrong && !setters[1].wrong);
    OK(cuTexRefDestroy(reference));
}

/* Modules with kernels of the same names, each with a handle of its own, which ends with its module. */
static void handles_of_many_modules(void) {
    enum { MODULES = 200 };
    static CUmodule modules[MODULES], of;
    static CUfunction functions[MODULES];
    CUfunction again;
    int registers;
    for (int i = 0; i < MODULES; i++) {
        OK(cuModuleLoadData(&modules[i], ptx));
        if (i % 3) OK(cuModuleGetFunction(&functions[i], modules[i], "add")); /* of the others nobody asks */
    }
    for (int i = 0; i < MODULES; i += 2) OK(cuModuleUnload(modules[i]));
    for (int i = 0; i < MODULES && ours; i += 2) { /* before new ones may get their addresses */
        EXPECT(cuModuleGetFunction(&again, modules[i], "add") == CUDA_ERROR_INVALID_HANDLE);
        if (i % 3)
            EXPECT(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, functions[i]) ==
                   CUDA_ERROR_INVALID_HANDLE);
    }
    for (int i = 1; i < MODULES; i += 2) {
        OK(cuModuleGetFunction(&again, modules[i], "add"));
        EXPECT(i % 3 == 0 || again == functions[i]);
        EXPECT(cuFuncGetModule(&of, again) == CUDA_SUCCESS && of == modules[i]);
        for (int k = 1; k < i; k += 2) EXPECT(functions[k] != again);
        functions[i] = again;
    }
    for (int i = 1; i < MODULES; i += 2) OK(cuModuleUnload(modules[i]));
}

int main(void) {
    pthread_t threads[2];
    job jobs[2] = {{.by = 3}, {.by = 5}}, wild = {.by = 7, .wild = true};
    CUcontext context, now;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    same_function(context);
    same_reference(context);
    handles_of_many_modules();
    for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&threads[i], NULL, work, &jobs[i]));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    EXPECT(!jobs[0].wrong);
    EXPECT(!jobs[1].wrong);
    EXPECT(!pthread_create(&threads[0], NULL, work, &wild));
    pthread_join(threads[0], NULL);
    EXPECT(!wild.wrong);
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize()); /* other threads and contexts have the fault as well */
    OK(cuCtxGetCurrent(&now));
    EXPECT(now == context);
    return faults != 0;
}
