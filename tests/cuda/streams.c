/* streams.c: streams are asynchronous and ordered: calls return while kernels wait for the host or for each other, and
 * what is in one stream is done in its order. Kernels that would wait for ever end after a while, and their words say
 * so. */
#include "order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* What the word was that ended until's waiting goes to *to. */
static const char *ptx = HEAD_PTX
    ".visible .entry until(.param .u64 flag, .param .u64 to)\n{\n"
    ".reg .b64 %d<5>;\n.reg .b32 %r<2>;\n.reg .pred %p<2>;\nld.param.u64 %d0, [flag];\nld.param.u64 %d1, [to];\n"
    "mov.u64 %d2, %globaltimer;\nadd.u64 %d2, %d2, 20000000000;\n"
    "again:\nld.volatile.global.u32 %r0, [%d0];\nmov.u64 %d3, %globaltimer;\nsetp.ne.u32 %p0, %r0, 0;\n"
    "setp.gt.u64 %p1, %d3, %d2;\nor.pred %p0, %p0, %p1;\n@!%p0 bra again;\nst.volatile.global.u32 [%d1], "
    "%r0;\nret;\n}\n" STEP_PTX;

static void start_until(CUdeviceptr flag, CUdeviceptr to, CUstream stream) {
    OK(cuLaunchKernel(until, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &to}, NULL));
}

static void start_step(CUdeviceptr to, unsigned by, CUstream stream) {
    OK(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &by}, NULL));
}

/* The host goes on while a kernel waits for it. */
static void returns_at_once(CUstream stream) {
    CUevent event;
    reset();
    OK(cuEventCreate(&event, 0));
    start_until(shared, shared + 4, stream);
    OK(cuEventRecord(event, stream));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    own[0] = 7;
    OK(cuEventSynchronize(event));
    EXPECT(own[1] == 7);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamQuery(stream));
    OK(cuEventDestroy_v2(event));
}

/* Nobody waits: it is done all the same. */
static void goes_on_by_itself(CUstream stream) {
    reset();
    start_step(shared, 5, stream);
    for (int i = 0; own[0] != 5 && i < 10000; i++) usleep(1000);
    EXPECT(own[0] == 5);
}

/* Somebody waits for a kernel, does it himself and leaves: what is behind it is done all the same. */
static void *later(void *user) {
    usleep(20000); /* carriers have nothing to do meanwhile, and sleep */
    own[0] = 1;
    return user;
}

static void goes_on_behind_an_event(CUstream stream) {
    CUevent event;
    pthread_t thread;
    reset();
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    usleep(5000); /* so that the one who waits is first */
    EXPECT(!pthread_create(&thread, NULL, later, NULL));
    start_until(shared, words + 4, stream);
    OK(cuEventRecord(event, stream));
    start_step(shared + 4, 5, stream);
    OK(cuEventSynchronize(event));
    for (int i = 0; own[1] != 5 && i < 5000; i++) usleep(1000);
    EXPECT(own[1] == 5);
    pthread_join(thread, NULL);
    OK(cuEventDestroy_v2(event));
}

/* A kernel of one stream waits for a later one of another. */
static void beside_each_other(CUstream a, CUstream b) {
    reset();
    start_until(words, words + 4, a);
    start_step(words, 9, b);
    OK(cuCtxSynchronize());
    EXPECT(word_at(words + 4) == 9);
}

static void in_order(CUstream stream) {
    enum { STEPS = 1000 };
    unsigned wanted = 0;
    reset();
    for (unsigned i = 0; i < STEPS; i++) {
        start_step(words, i, stream);
        wanted = wanted * 3 + i;
    }
    OK(cuStreamSynchronize(stream));
    EXPECT(word_at(words) == wanted);
}

/* The second stream goes on behind the event only. */
static void after_an_event(CUstream a, CUstream b) {
    CUevent event;
    float milliseconds;
    CUevent start;
    reset();
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(start, a));
    start_until(shared, words + 4, a);
    start_step(words, 1, a);
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    start_step(words, 2, b);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    GIVES(CUDA_ERROR_NOT_READY, cuEventElapsedTime_v2(&milliseconds, start, event));
    OK(cuEventSynchronize(start));
    usleep(2000);
    own[0] = 1;
    OK(cuStreamSynchronize(b));
    EXPECT(word_at(words) == 1 * 3 + 2);
    OK(cuEventElapsedTime_v2(&milliseconds, start, event));
    EXPECT(milliseconds >= 2);
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(event));
}

/* The default stream comes after the others, and before what they get then; but for those that do not block. */
static void default_stream(CUstream blocking, CUstream apart) {
    reset();
    start_until(shared, words + 4, blocking);
    start_step(words, 1, NULL);
    start_step(words, 2, blocking);
    start_step(words + 8, 1, apart);
    OK(cuStreamSynchronize(apart));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    own[0] = 1;
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamSynchronize(blocking));
    EXPECT(word_at(words) == 1 * 3 + 2 && word_at(words + 8) == 1);
}

typedef struct host_data {
    CUdeviceptr at;
    CUresult result, status;
    atomic_int calls; /* the host looks while a kernel holds them up, which a sanitizer cannot see */
} host_data;

/* The default stream's work is none of an empty stream's, but of an event's that comes then. */
static void empty_streams(CUstream blocking, CUstream apart) {
    CUevent event;
    reset();
    OK(cuEventCreate(&event, 0));
    start_until(shared, shared + 4, NULL);
    OK(cuStreamQuery(blocking));
    OK(cuStreamQuery(CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(blocking));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    OK(cuEventRecord(event, blocking));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
    own[0] = 3;
    OK(cuEventSynchronize(event));
    EXPECT(own[1] == 3);
    start_until(shared + 8, shared + 12, blocking); /* whose work is the default stream's */
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    OK(cuStreamQuery(apart));
    own[2] = 4;
    OK(cuStreamSynchronize(NULL));
    EXPECT(own[3] == 4);
    start_until(shared + 16, shared + 20, apart);
    OK(cuStreamQuery(NULL));
    own[4] = 5;
    OK(cuStreamSynchronize(apart));
    OK(cuEventDestroy_v2(event));
}

static void host(void *user) {
    host_data *data = user;
    data->result = cuMemsetD32_v2(data->at, 1, 1);
    data->calls++;
}

static void callback(CUstream stream, CUresult status, void *user) {
    host_data *data = user;
    (void)stream;
    data->status = status;
    data->calls++;
}

static void host_functions(CUstream stream) {
    host_data data = {.at = words, .status = CUDA_ERROR_UNKNOWN};
    reset();
    start_until(shared, words + 4, stream);
    OK(cuLaunchHostFunc(stream, host, &data));
    OK(cuStreamAddCallback(stream, callback, &data, 0));
    EXPECT(!data.calls);
    own[0] = 1;
    OK(cuStreamSynchronize(stream));
    EXPECT(data.calls == 2 && data.result == CUDA_ERROR_NOT_PERMITTED && data.status == CUDA_SUCCESS);
    EXPECT(!word_at(words));
}

/* A source that is not pinned may change as soon as the call has returned; what comes after it is in order. */
static void copies(CUstream stream) {
    unsigned source[4] = {1, 2, 3, 4}, got[4] = {0};
    reset();
    start_until(shared, words + 32, stream);
    OK(cuMemcpyHtoDAsync_v2(words, source, sizeof source, stream));
    memset(source, 0, sizeof source);
    start_step(words, 10, stream);
    OK(cuMemcpyDtoDAsync_v2(words + 16, words, 16, stream));
    OK(cuMemsetD32Async(words + 20, 8, 1, stream));
    OK(cuMemcpyDtoHAsync_v2((void *)(own + 8), words + 16, 16, stream));
    EXPECT(!own[8]);
    own[0] = 1;
    OK(cuMemcpyDtoHAsync_v2(got, words + 16, 16, stream)); /* to memory that is not pinned: done when it returns */
    OK(cuStreamSynchronize(stream));
    EXPECT(got[0] == 13 && got[1] == 8 && got[2] == 3 && got[3] == 4);
    EXPECT(own[8] == 13 && own[9] == 8 && own[10] == 3 && own[11] == 4);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoDAsync_v2(words, 64, 4, stream));
}

static void words_of_memory(CUstream a, CUstream b) {
    reset();
    OK(cuStreamWaitValue32_v2(a, words, 5, CU_STREAM_WAIT_VALUE_GEQ));
    start_step(words + 4, 1, a);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    OK(cuStreamWriteValue32_v2(b, words, 6, 0));
    OK(cuStreamSynchronize(a));
    EXPECT(word_at(words) == 6 && word_at(words + 4) == 1);
    OK(cuStreamWriteValue64_v2(a, words + 8, 0xf0f0f0f0f0f0f0f0, 0));
    OK(cuStreamWaitValue64_v2(b, words + 8, 0x10, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWaitValue64_v2(b, words + 8, 0xf0f0f0f0f0f0f0f0, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamSynchronize(b));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32_v2(a, words + 2, 5, 0));
    CUstreamBatchMemOpParams ops[] = {
        {.word = {CU_STREAM_MEM_OP_WAIT_VALUE_32, words, 0xfffffff7, CU_STREAM_WAIT_VALUE_NOR, 0}},
        {.word = {CU_STREAM_MEM_OP_WRITE_VALUE_64, words + 8, 0x123456789a, 0, 0}},
        {.operation = CU_STREAM_MEM_OP_BARRIER},
    };
    OK(cuStreamBatchMemOp_v2(a, 3, ops, 0)); /* waits for words of which bit 3 is not set */
    OK(cuStreamSynchronize(a));
    EXPECT(word_at(words + 8) == 0x3456789a && word_at(words + 12) == 0x12);
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(a, 1, NULL, 0));
    ops[0].operation = 99;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(a, 1, ops, 0));
}

static void attributes(CUstream a, CUstream b) {
    CUlaunchAttributeValue value = {.pad = {3}}, got = {{0}};
    CUcontext owner = NULL;
    CUgreenCtx part = (CUgreenCtx)&value;
    OK(cuStreamGetCtx_v2(a, &owner, &part));
    EXPECT(owner == context && !part);
    OK(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    OK(cuStreamCopyAttributes(b, a));
    OK(cuStreamGetAttribute(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got));
    EXPECT(got.pad[0] == 3);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &got));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamCopyAttributes(a, (CUstream)&value));
}

/* The same launch by the calls of old. */
static void as_of_old(void) {
    reset();
    OK(cuFuncSetBlockShape(step, 1, 1, 1));
    OK(cuParamSetv(step, 0, &words, sizeof words));
    OK(cuParamSeti(step, 8, 11));
    OK(cuParamSetSize(step, 12));
    OK(cuLaunch(step));
    OK(cuParamSeti(step, 8, 12));
    OK(cuLaunchGrid(step, 1, 1));
    EXPECT(word_at(words) == 11 * 3 + 12);
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetv(step, 4090, &words, sizeof words));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(step, 0, 1, 1));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunch(NULL));
}

/* A stream that is destroyed does what is in it. */
static void destroyed(void) {
    CUstream stream;
    reset();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    start_until(shared, shared + 4, stream);
    OK(cuStreamDestroy_v2(stream));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
    own[0] = 3;
    OK(cuCtxSynchronize());
    EXPECT(own[1] == 3);
}

/* Each thread has a default stream of its own, where its calls are those. */
static void *other_thread(void *user) {
    OK(cuCtxSetCurrent(context));
    CUdeviceptr at = words + 4;
    unsigned by = 4;
    OK(cuLaunchKernel_ptsz(step, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&at, &by}, NULL));
    OK(cuStreamSynchronize_ptsz(NULL));
    own[0] = 1;
    return user;
}

static void threads_of_their_own(void) {
    pthread_t thread;
    CUdeviceptr to = words;
    reset();
    OK(cuLaunchKernel_ptsz(until, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&shared, &to}, NULL));
    EXPECT(!pthread_create(&thread, NULL, other_thread, NULL));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    EXPECT(word_at(words) == 1 && word_at(words + 4) == 4);
    pthread_join(thread, NULL);
}

/* What a thread has put into its own stream is done when the thread is gone; another one has another stream. */
static void *putting_thread(void *user) {
    CUdeviceptr at = words, flag = shared, seen = words + 16;
    unsigned by = *(unsigned *)user;
    OK(cuCtxSetCurrent(context));
    if (by == 1) OK(cuLaunchKernel_ptsz(until, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&flag, &seen}, NULL));
    else at += 4;
    OK(cuLaunchKernel_ptsz(step, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&at, &by}, NULL));
    if (by == 2) OK(cuStreamSynchronize_ptsz(NULL));
    return NULL;
}

static void threads_that_end(void) {
    pthread_t thread;
    reset();
    for (unsigned by = 1; by <= 2; by++) {
        EXPECT(!pthread_create(&thread, NULL, putting_thread, &by));
        pthread_join(thread, NULL);
    }
    own[0] = 1;
    OK(cuCtxSynchronize());
    EXPECT(word_at(words) == 1 && word_at(words + 4) == 2 && word_at(words + 16) == 1);
}

/* Threads that put into streams, record, wait and destroy at the same time. */
static void *busy_thread(void *user) {
    CUdeviceptr at = *(CUdeviceptr *)user;
    CUstream a, b;
    CUevent event;
    OK(cuCtxSetCurrent(context));
    for (int round = 0; round < 20; round++) {
        OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
        OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        for (int i = 0; i < 20; i++) {
            start_step(at, 1, i & 1 ? a : b);
            OK(cuEventRecord(event, i & 1 ? a : b));
            OK(cuStreamWaitEvent(i & 1 ? b : a, event, 0));
        }
        OK(cuEventDestroy_v2(event));
        OK(cuStreamDestroy_v2(b));
        OK(cuStreamSynchronize(a));
        OK(cuStreamDestroy_v2(a));
    }
    return NULL;
}

static void many_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    CUdeviceptr at[THREADS];
    unsigned wanted = 0;
    reset();
    for (int i = 0; i < THREADS; i++) at[i] = words + 4 * (CUdeviceptr)i;
    for (int i = 0; i < THREADS; i++) EXPECT(!pthread_create(&threads[i], NULL, busy_thread, &at[i]));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    for (int i = 0; i < 400; i++) wanted = wanted * 3 + 1;
    for (int i = 0; i < THREADS; i++) EXPECT(word_at(at[i]) == wanted);
}

int main(void) {
    CUstream a, b, apart;
    begin_words(ptx);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, 0));
    OK(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    returns_at_once(a);
    returns_at_once(b);
    returns_at_once(NULL);
    goes_on_by_itself(a);
    goes_on_behind_an_event(a);
    goes_on_behind_an_event(NULL);
    beside_each_other(a, b);
    beside_each_other(apart, a);
    in_order(a);
    in_order(NULL);
    after_an_event(a, b);
    after_an_event(b, apart);
    default_stream(b, apart);
    empty_streams(b, apart);
    host_functions(a);
    host_functions(NULL);
    copies(a);
    copies(b);
    words_of_memory(a, apart);
    attributes(a, b);
    as_of_old();
    destroyed();
    threads_of_their_own();
    threads_that_end();
    many_threads();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
