/* destroy.c: a context, a module or a stream that one thread ends while calls of another one use it: each of these
 * calls ends with success or with an error that says so, and nothing is used that is gone (the sanitizer builds
 * look). */
#include "expect.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* A kernel that runs for a while: it counts down in a loop that its parameter ends. */
static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 sum;\n.visible .entry turn(.param .u64 at, .param "
    ".u32 turns)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %d<2>;\n.reg .pred %p;\nld.param.u64 %d0, [at];\nld.param.u32 %r0, [turns];\n"
    "again:\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra again;\n"
    "st.global.u32 [%d0], 7;\nst.global.u32 [sum], 1;\nret;\n}\n";

typedef struct shared {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUevent event;
    CUdeviceptr at;
    CUdeviceptr spare; /* what is freed is the spare one: a kernel that faults would end all contexts */
    atomic_int users;  /* threads, each of which has words of its own there */
    pthread_barrier_t start;
    atomic_int calls; /* that came through */
    atomic_int wrong; /* results that nothing explains */
} shared;

static bool explained(CUresult result) {
    return result == CUDA_SUCCESS || result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_INVALID_HANDLE ||
           result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_NOT_FOUND;
}

static void note(shared *s, CUresult result) {
    if (result == CUDA_SUCCESS) atomic_fetch_add(&s->calls, 1);
    s->wrong += !explained(result);
}

/* Every kind of call that looks at an object, until the context is gone. */
static void *use(void *user) {
    shared *s = user;
    unsigned turns = 20000, flags;
    int value;
    size_t size;
    const char *name;
    unsigned long long id;
    CUstream stream;
    CUevent event;
    CUdeviceptr at;
    CUfunction function;
    const CUdeviceptr own = s->spare + 16 * (unsigned)atomic_fetch_add(&s->users, 1);
    s->wrong += cuCtxSetCurrent(s->context) != CUDA_SUCCESS;
    pthread_barrier_wait(&s->start);
    for (int round = 0; round < 400; round++) {
        note(s, cuLaunchKernel(s->function, 1, 1, 1, 32, 1, 1, 0, s->stream, (void *[]){&s->at, &turns}, NULL));
        note(s, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, s->function));
        if (cuFuncGetName(&name, s->function) == CUDA_SUCCESS)
            atomic_fetch_add(&s->calls, 1); /* which belongs to the module */
        note(s, cuModuleGetFunction(&function, s->module, "turn"));
        note(s, cuModuleGetGlobal_v2(&at, &size, s->module, "sum"));
        note(s, cuStreamGetFlags(s->stream, &flags));
        note(s, cuEventRecord(s->event, s->stream));
        note(s, cuCtxGetId(s->context, &id));
        if (cuStreamCreate(&stream, 0) == CUDA_SUCCESS) note(s, cuStreamDestroy_v2(stream));
        if (cuEventCreate(&event, 0) == CUDA_SUCCESS) note(s, cuEventDestroy_v2(event));
        if (cuMemAlloc_v2(&at, 64) == CUDA_SUCCESS) note(s, cuMemFree_v2(at));
        note(s, cuMemsetD32_v2(own, 0, 4));
        if (cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED) break;
    }
    return NULL;
}

typedef enum way { END_CONTEXT, END_MODULE, END_OBJECTS } way;

static void make(shared *s) {
    memset(s, 0, sizeof *s);
    OK(cuCtxCreate_v2(&s->context, 0, 0));
    OK(cuModuleLoadData(&s->module, ptx));
    OK(cuModuleGetFunction(&s->function, s->module, "turn"));
    OK(cuStreamCreate(&s->stream, 0));
    OK(cuEventCreate(&s->event, 0));
    OK(cuMemAlloc_v2(&s->at, 64));
    OK(cuMemAlloc_v2(&s->spare, 64));
    pthread_barrier_init(&s->start, NULL, 3);
}

static void end(shared *s, way way) {
    if (way == END_MODULE) OK(cuModuleUnload(s->module));
    if (way == END_OBJECTS) {
        OK(cuStreamDestroy_v2(s->stream));
        OK(cuEventDestroy_v2(s->event));
        OK(cuMemFree_v2(s->spare));
    }
    OK(cuCtxDestroy_v2(s->context));
}

static void destroyed_beside_calls(way way) {
    enum { ROUNDS = 12 };
    int came = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[2];
        shared s;
        make(&s);
        for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&threads[i], NULL, use, &s));
        pthread_barrier_wait(&s.start);
        while (!atomic_load(&s.calls)) { /* they run */
        }
        end(&s, way);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        EXPECT(!atomic_load(&s.wrong));
        came += atomic_load(&s.calls);
        pthread_barrier_destroy(&s.start);
    }
    EXPECT(came >= ROUNDS);
}

/* What two threads end at once goes once. */
static void *destroy(void *user) {
    shared *s = user;
    pthread_barrier_wait(&s->start);
    if (cuCtxDestroy_v2(s->context) == CUDA_SUCCESS) atomic_fetch_add(&s->calls, 1);
    return NULL;
}

static void destroyed_once(void) {
    for (int round = 0; round < 50; round++) {
        pthread_t threads[2];
        shared s;
        make(&s);
        for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&threads[i], NULL, destroy, &s));
        pthread_barrier_wait(&s.start);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        EXPECT(atomic_load(&s.calls) == 1);
        EXPECT(cuCtxSynchronize() ==
               CUDA_ERROR_CONTEXT_IS_DESTROYED); /* it is current here, and a new one at its address would not be it */
        CUcontext other;
        OK(cuCtxCreate_v2(&other, 0, 0));
        OK(cuCtxPopCurrent_v2(NULL));
        EXPECT(cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED);
        OK(cuCtxSetCurrent(NULL));
        OK(cuCtxDestroy_v2(other));
        pthread_barrier_destroy(&s.start);
    }
}

/* A host function of a stream, which may make no calls, tries to end the stream's own context. */
static void end_inside(void *user) { GIVES(CUDA_ERROR_NOT_PERMITTED, cuCtxDestroy_v2(*(CUcontext *)user)); }

static void not_destroyed_by_callback(void) {
    shared s;
    make(&s);
    OK(cuLaunchHostFunc(s.stream, end_inside, &s.context));
    OK(cuCtxSynchronize());
    end(&s, END_CONTEXT);
    pthread_barrier_destroy(&s.start);
}

/* What a module and a context own is free again when the call that ends them has returned. */
static void memory_comes_back(void) {
    size_t before, now, all;
    CUcontext context;
    shared s;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemGetInfo_v2(&before, &all));
    for (int i = 0; i < 3; i++) {
        make(&s);
        end(&s, i == 0 ? END_CONTEXT : i == 1 ? END_MODULE : END_OBJECTS);
        OK(cuMemGetInfo_v2(&now, &all));
        EXPECT(now == before);
        pthread_barrier_destroy(&s.start);
    }
    OK(cuCtxDestroy_v2(context));
}

int main(void) {
    OK(cuInit(0));
    memory_comes_back();
    destroyed_beside_calls(END_CONTEXT);
    destroyed_beside_calls(END_MODULE);
    destroyed_beside_calls(END_OBJECTS);
    destroyed_once();
    not_destroyed_by_callback();
    return faults != 0;
}
