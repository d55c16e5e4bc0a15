/* processes.c: memory that two processes share: one hands a file descriptor over, the other maps what it stands for. */
#include "expect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_TYPE = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR };

static const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                          .requestedHandleTypes = FILE_TYPE};
static size_t unit;

/* A descriptor and a byte of data; receiving gives the descriptor. -1: none came. */
static int pass(int through, int descriptor) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof descriptor)];
    } extra = {.room = {0}};
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    if (descriptor < 0) {
        if (recvmsg(through, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
            memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
        return descriptor;
    }
    extra.head =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof descriptor), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&extra.head), &descriptor, sizeof descriptor);
    return sendmsg(through, &message, 0) == 1 ? descriptor : -1;
}

static void wait_for_other(int through) {
    char byte;
    EXPECT(read(through, &byte, 1) == 1);
}

static void tell_other(int through) { EXPECT(write(through, "", 1) == 1); }

static CUdeviceptr map(CUmemGenericAllocationHandle memory) {
    const CUmemAccessDesc all = {props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    OK(cuMemAddressReserve(&at, unit, 0, 0, 0));
    OK(cuMemMap(at, unit, 0, memory, 0));
    OK(cuMemSetAccess(at, unit, &all, 1));
    return at;
}

static unsigned word_at(CUdeviceptr at) {
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, at, sizeof word));
    return word;
}

static void begin(void) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemGetAllocationGranularity(&unit, &props, 0));
}

/* What was given away is there as long as somebody has it. */
static void taker(int through) {
    CUmemGenericAllocationHandle memory = 0;
    CUmemAllocationProp got = {0};
    begin();
    const int file = pass(through, -1);
    OK(cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)file, FILE_TYPE));
    EXPECT(!close(file));
    OK(cuMemGetAllocationPropertiesFromHandle(&got, memory));
    EXPECT(got.type == props.type && got.location.type == props.location.type && !got.location.id &&
           !got.requestedHandleTypes);
    CUdeviceptr at = map(memory);
    EXPECT(word_at(at) == 7 && word_at(at + unit - 4) == 9);
    OK(cuMemsetD32_v2(at + 64, 11, 1));
    OK(cuCtxSynchronize());
    tell_other(through);
    wait_for_other(through); /* which has left it */
    EXPECT(word_at(at) == 7 && word_at(at + 64) == 11);
    OK(cuMemUnmap(at, unit));
    OK(cuMemRelease(memory));
}

static void refused(CUmemGenericAllocationHandle memory, int file) {
    CUmemGenericAllocationHandle out = 0, plain;
    CUmemAllocationProp own = props;
    int ends[2], none = -1;
    own.requestedHandleTypes = 0;
    OK(cuMemCreate(&plain, unit, &own, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&none, plain, FILE_TYPE, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&none, memory, 2, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(NULL, memory, FILE_TYPE, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&none, memory, FILE_TYPE, 1));
    EXPECT(!pipe(ends));
    GIVES(CUDA_ERROR_UNKNOWN, cuMemImportFromShareableHandle(&out, (void *)(intptr_t)ends[0], FILE_TYPE));
    close(ends[0]), close(ends[1]);
    GIVES(CUDA_ERROR_UNKNOWN, cuMemImportFromShareableHandle(&out, (void *)(intptr_t)ends[0], FILE_TYPE));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int read_only = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(read_only >= 0);
    GIVES(CUDA_ERROR_UNKNOWN, cuMemImportFromShareableHandle(&out, (void *)(intptr_t)read_only, FILE_TYPE));
    close(read_only);
    if (is_ours())
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)file, FILE_TYPE));
    if (is_ours()) EXPECT(ftruncate(file, 0)); /* it would take the memory from under others */
    OK(cuMemRelease(plain));
}

static void giver(int through) {
    CUmemGenericAllocationHandle memory = 0, again = 0;
    size_t before, after, total;
    int file = -1;
    begin();
    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuMemCreate(&memory, unit, &props, 0));
    CUdeviceptr at = map(memory);
    OK(cuMemsetD32_v2(at, 7, 1));
    OK(cuMemsetD32_v2(at + unit - 4, 9, 1));
    OK(cuCtxSynchronize());
    OK(cuMemExportToShareableHandle(&file, memory, FILE_TYPE, 0));
    refused(memory, file);
    OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file,
                                      FILE_TYPE)); /* the same memory under another name */
    EXPECT(again != memory);
    EXPECT(pass(through, file) == file);
    EXPECT(!close(file));
    wait_for_other(through);
    EXPECT(word_at(at) == 7 && word_at(at + 64) == 11);
    OK(cuMemUnmap(at, unit));
    OK(cuMemRelease(memory));
    OK(cuMemRelease(again));
    OK(cuMemAddressFree(at, unit));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(before == after || !is_ours());
    tell_other(through);
}

int main(void) {
    int ends[2], status = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
    const pid_t other = fork(); /* before there is a driver */
    if (other < 0) return 2;
    close(ends[other ? 1 : 0]);
    if (!other) taker(ends[1]);
    else giver(ends[0]);
    close(ends[other ? 0 : 1]); /* who waits for more is told so */
    if (other) EXPECT(waitpid(other, &status, 0) == other && !status);
    return faults != 0;
}
