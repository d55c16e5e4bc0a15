/* threadless.c: the system gives the driver no thread. Whoever waits does what is in all streams then, also where the
 * one that it waits for waits for another, or for a word that the program changes later. */
#include "expect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* In the system's place, for libraries, too. */
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    (void)id, (void)attributes, (void)body, (void)argument;
    return EAGAIN;
}

static _Atomic unsigned *word;

static void change(int number) {
    (void)number;
    *word = 2;
}

int main(void) {
    CUcontext context;
    CUstream waits, writes;
    CUdeviceptr at;
    void *host;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&waits, 1));
    OK(cuStreamCreate(&writes, 1));
    OK(cuMemHostAlloc(&host, sizeof *word, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&at, host, 0));
    word = host, *word = 0;
    OK(cuStreamWaitValue32_v2(waits, at, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32_v2(writes, at, 1, 0));
    OK(cuStreamSynchronize(waits));
    EXPECT(*word == 1);
    EXPECT(signal(SIGALRM, change) != SIG_ERR);
    OK(cuStreamWaitValue32_v2(waits, at, 2, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT(!ualarm(20000, 0));
    OK(cuStreamSynchronize(waits));
    EXPECT(*word == 2);
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
