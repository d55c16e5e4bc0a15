/* common.c: memory that both sides see: allocated for the host, managed, of a module, of the program itself.
 *
 * Like driver.c it knows nothing of Lanewise, and can be run with a GPU's driver. */
#define _GNU_SOURCE
#include "expect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static bool ours;
static CUfunction scale, walk, wide, pick;
static CUdeviceptr variable;
static const char *ptx =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed[3] = {7, 8, 9};\n"
    ".visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [data];\nld.param.u32 %r0, [factor];\nld.param.u32 %r1, [count];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p, %r2, %r1;\n@%p bra done;\n"
    "mul.wide.u32 %d1, %r2, 4;\nadd.u64 %d1, %d0, %d1;\n"
    "ld.global.u32 %r5, [%d1];\nmul.lo.u32 %r5, %r5, %r0;\nst.global.u32 [%d1], %r5;\n"
    "done:\nret;\n}\n"
    /* Sums a list of {next, value}, each node from wherever it lies, and counts its lanes in the first. */
    ".visible .entry walk(.param .u64 first, .param .u64 sum)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d0, [first];\nld.param.u64 %d1, [sum];\nmov.u32 %r0, 0;\nadd.u64 %d2, %d0, 12;\n"
    "atom.add.u32 %r2, [%d2], 1;\n"
    "next: ld.u32 %r1, [%d0+8];\nadd.u32 %r0, %r0, %r1;\nld.u64 %d0, [%d0];\n"
    "setp.ne.u64 %p, %d0, 0;\n@%p bra next;\nst.u32 [%d1], %r0;\nret;\n}\n"
    /* Copies 16 bytes a lane. */
    ".visible .entry wide(.param .u64 to, .param .u64 from)\n{\n"
    ".reg .b32 %r<5>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d0, [to];\nld.param.u64 %d1, [from];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d2, %r0, 16;\n"
    "add.u64 %d0, %d0, %d2;\nadd.u64 %d1, %d1, %d2;\nld.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];\n"
    "st.v4.u32 [%d0], {%r1, %r2, %r3, %r4};\nret;\n}\n"
    /* Bytes from wherever their indices say, one a lane. */
    ".visible .entry pick(.param .u64 to, .param .u64 from, .param .u64 indices)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %d<7>;\n"
    "ld.param.u64 %d0, [to];\nld.param.u64 %d1, [from];\nld.param.u64 %d2, [indices];\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r0, %r0, %r1, %r2;\n"
    "mul.wide.u32 %d3, %r0, 4;\nadd.u64 %d4, %d2, %d3;\nadd.u64 %d5, %d0, %d3;\nld.global.u32 %r3, [%d4];\n"
    "cvt.u64.u32 %d6, %r3;\nadd.u64 %d6, %d1, %d6;\nld.global.u8 %r4, [%d6];\nst.global.u32 [%d5], %r4;\nret;\n}\n";

static void run_scale(CUdeviceptr data, unsigned factor, unsigned count) {
    OK(cuLaunchKernel(scale, (count + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&data, &factor, &count}, NULL));
    OK(cuCtxSynchronize());
}

/* Both sides write and read a hundred words at an address of each. */
static void use(unsigned *host, CUdeviceptr device) {
    unsigned back[100];
    for (unsigned i = 0; i < 100; i++) host[i] = i + 1;
    run_scale(device, 3, 100);
    for (unsigned i = 0; i < 100; i++) EXPECT(host[i] == 3 * (i + 1));
    OK(cuMemcpyDtoH_v2(back, device, sizeof back));
    EXPECT(!memcmp(back, host, sizeof back));
    OK(cuMemsetD32_v2(device, 5, 100));
    OK(cuCtxSynchronize());
    EXPECT(host[0] == 5 && host[99] == 5);
}

static unsigned word(CUpointer_attribute attribute, const void *address) {
    unsigned value = 99;
    OK(cuPointerGetAttribute(&value, attribute, (uintptr_t)address));
    return value;
}

static bool flag(CUpointer_attribute attribute, const void *address) {
    unsigned value = 99;
    OK(cuPointerGetAttribute(&value, attribute, (uintptr_t)address));
    EXPECT(value <= 1);
    return value;
}

static void *pointer(CUpointer_attribute attribute, const void *address) {
    void *value = NULL;
    OK(cuPointerGetAttribute(&value, attribute, (uintptr_t)address));
    return value;
}

/* ---- For the host ---------------------------------------------------------------------------------------------- */

static void pinned(void) {
    unsigned *host = NULL, flags = 0;
    CUdeviceptr device = 0;
    OK(cuMemHostAlloc((void **)&host, 4000, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    OK(cuMemHostGetDevicePointer_v2(&device, host + 3, 0));
    EXPECT(device == (uintptr_t)(host + 3)); /* one address */
    use(host, (uintptr_t)host);
    OK(cuMemHostGetFlags(&flags, host));
    EXPECT(flags == (CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    EXPECT(word(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) == CU_MEMORYTYPE_HOST);
    EXPECT(!flag(CU_POINTER_ATTRIBUTE_IS_MANAGED, host));
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_HOST_POINTER, host + 9) == host + 9);
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host + 9) == host + 9);
    if (ours) {
        EXPECT((uintptr_t)host % 4096 == 0);
        GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(host + 1, 100, 0));
        GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(host));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host + 1));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2((uintptr_t)host));
    }
    OK(cuMemFreeHost(host));
    if (!ours) return;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, host));
    unsigned *again; /* what was in it is gone */
    OK(cuMemAllocHost_v2((void **)&again, 4000));
    for (int i = 0; i < 1000; i++) EXPECT(again[i] == 0);
    OK(cuMemFreeHost(again));
}

/* ---- Managed --------------------------------------------------------------------------------------------------- */

typedef struct node {
    struct node *next;
    unsigned value, lanes;
} node;

static node *link_node(void *at, unsigned value, node *next) {
    node *made = at;
    *made = (node){next, value, 0};
    return made;
}

/* A list whose nodes lie in managed, pinned and registered memory, in turn. */
static void lists(void) {
    static _Alignas(4096) node own[8];
    CUdeviceptr managed;
    node *pinned, *first = NULL;
    unsigned *sum, want = 0;
    OK(cuMemAllocManaged(&managed, 100 * sizeof(node), CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocHost_v2((void **)&pinned, 100 * sizeof(node)));
    OK(cuMemHostRegister_v2(own, sizeof own, CU_MEMHOSTREGISTER_DEVICEMAP));
    sum = (unsigned *)(uintptr_t)(managed + 99 * sizeof(node));
    for (unsigned i = 0; i < 24; i++) {
        node *place = i % 3 == 0 ? (node *)(uintptr_t)managed + i : i % 3 == 1 ? pinned + i : own + i / 3;
        first = link_node(place, i * i, first);
        want += i * i;
    }
    OK(cuLaunchKernel(walk, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&first, &sum}, NULL));
    OK(cuCtxSynchronize());
    EXPECT(*sum == want && first->lanes == 64);
    OK(cuMemHostUnregister(own));
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree_v2(managed));
}

static void managed(void) {
    CUdeviceptr at = 0, base = 0;
    CUcontext context = NULL, now;
    size_t size = 0;
    OK(cuCtxGetCurrent(&now));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&at, 0, CU_MEM_ATTACH_GLOBAL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&at, 64, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&at, 64, CU_MEM_ATTACH_SINGLE));
    OK(cuMemAllocManaged(&at, 100000, CU_MEM_ATTACH_GLOBAL));
    unsigned *host = (unsigned *)(uintptr_t)at;
    use(host, at);
    EXPECT(flag(CU_POINTER_ATTRIBUTE_IS_MANAGED, host + 5));
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_HOST_POINTER, host + 9) == host + 9);
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at));
    EXPECT(context == now);
    OK(cuMemGetAddressRange_v2(&base, &size, at + 77));
    EXPECT(base == at && size == 100000);
    OK(cuMemcpy((uintptr_t)(host + 1000), at, 400)); /* both are the host's, too */
    OK(cuCtxSynchronize());
    EXPECT(host[1099] == 5);
    OK(cuStreamAttachMemAsync(NULL, at, 0, CU_MEM_ATTACH_GLOBAL));
    if (ours) {
        EXPECT(word(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host) == CU_MEMORYTYPE_DEVICE);
        GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, at, 4, CU_MEM_ATTACH_GLOBAL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, at, 0, CU_MEM_ATTACH_SINGLE));
        GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocManaged(&base, (size_t)1 << 50, CU_MEM_ATTACH_GLOBAL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    }
    OK(cuMemFree_v2(at));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(at));
    OK(cuMemGetAddressRange_v2(&base, &size, variable));
    EXPECT(size == 12);
    unsigned *in_module = (unsigned *)(uintptr_t)variable;
    EXPECT(in_module[0] == 7 && in_module[2] == 9);
    in_module[1] = 100;
    run_scale(variable, 2, 3);
    EXPECT(in_module[0] == 14 && in_module[1] == 200 && in_module[2] == 18);
    EXPECT(flag(CU_POINTER_ATTRIBUTE_IS_MANAGED, in_module));
}

static int range_word(CUmem_range_attribute attribute, CUdeviceptr at, size_t size) {
    int value = 99;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, at, size));
    return value;
}

static void advice(void) {
    enum { PAGE = 4096 };
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    CUdeviceptr at, plain;
    int users[3] = {5, 5, 5};
    OK(cuMemAllocManaged(&at, 16 * PAGE, CU_MEM_ATTACH_GLOBAL));
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 16 * PAGE) == 0);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 16 * PAGE) == CU_DEVICE_INVALID);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 16 * PAGE) == CU_DEVICE_INVALID);
    OK(cuMemAdvise_v2(at, 16 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 16 * PAGE) == 1);
    OK(cuMemAdvise_v2(at + 4 * PAGE + 1, 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device)); /* of a whole page */
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 16 * PAGE) == 0);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, 4 * PAGE) == 1);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at + 4 * PAGE, 1) == 0);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at + 5 * PAGE, 11 * PAGE) == 1);
    OK(cuMemAdvise_v2(at, 8 * PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    OK(cuMemAdvise_v2(at + 8 * PAGE, 8 * PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 8 * PAGE) == 0);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at + 8 * PAGE, 8 * PAGE) == CU_DEVICE_CPU);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 16 * PAGE) == CU_DEVICE_INVALID);
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, at + 8 * PAGE, 1) == CU_MEM_LOCATION_TYPE_HOST);
    OK(cuMemAdvise_v2(at, 16 * PAGE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, device));
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, at, 1) == CU_MEM_LOCATION_TYPE_INVALID);
    OK(cuMemAdvise_v2(at, 16 * PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    OK(cuMemRangeGetAttribute(users, sizeof users, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, 16 * PAGE));
    EXPECT(users[0] == 0 && users[1] == CU_DEVICE_INVALID && users[2] == CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync_v2(at, 16 * PAGE, device, 0, NULL));
    OK(cuCtxSynchronize());
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 16 * PAGE) == 0);
    if (ours) {
        OK(cuMemPrefetchAsync(at + PAGE, PAGE, CU_DEVICE_CPU, NULL));
        EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at + PAGE, PAGE) == CU_DEVICE_CPU);
        EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 2 * PAGE) == CU_DEVICE_INVALID);
        OK(cuMemAdvise(at, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAdvise_v2(at, 17 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAdvise_v2(at, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAdvise_v2(at, PAGE, 7, device));
        OK(cuMemAdvise(at, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 99)); /* where is of no meaning */
        GIVES(CUDA_ERROR_INVALID_DEVICE,
              cuMemPrefetchAsync_v2(at, PAGE, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 99}, 0, NULL));
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRangeGetAttribute(users, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, PAGE));
    OK(cuMemAlloc_v2(&plain, PAGE));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2(plain, PAGE, device, 0, NULL));
    OK(cuMemFree_v2(plain));
    OK(cuMemFree_v2(at));
    if (!ours) return;
    CUdeviceptr again; /* nobody said anything of what comes in its place */
    OK(cuMemAllocManaged(&again, 16 * PAGE, CU_MEM_ATTACH_GLOBAL));
    EXPECT(range_word(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, again, PAGE) == 0);
    OK(cuMemFree_v2(again));
}

/* ---- Of the program -------------------------------------------------------------------------------------------- */

static void registered(void) {
    static _Alignas(4096) unsigned own[2048];
    unsigned flags = 0;
    CUdeviceptr device = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(own, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(NULL, 64, 0));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    OK(cuMemHostRegister_v2(own, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&device, own, 0));
    use(own, device);
    OK(cuMemHostGetFlags(&flags, own));
    EXPECT(flags & CU_MEMHOSTREGISTER_DEVICEMAP);
    EXPECT(word(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, own) == CU_MEMORYTYPE_HOST);
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_HOST_POINTER, own) == own);
    if (ours) {
        GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own + 1000, 4096, 0));
        GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own + 1));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(own));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(device));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(own + 1024, 64, 16));
        GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemHostRegister_v2(own + 1024, 64, CU_MEMHOSTREGISTER_IOMEMORY));
        /* What the program may not write, or has not at all. */
        char *pages = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT(pages != MAP_FAILED);
        munmap(pages + 2 * 4096, 4096);
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(pages, 4096, 0));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister_v2(pages, 3 * 4096, CU_MEMHOSTREGISTER_READ_ONLY));
        OK(cuMemHostRegister_v2(pages, 2 * 4096, CU_MEMHOSTREGISTER_READ_ONLY));
        EXPECT(word(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, pages) == CU_MEM_ACCESS_FLAGS_PROT_READ);
        OK(cuMemHostUnregister(pages));
        munmap(pages, 2 * 4096);
    }
    OK(cuMemHostRegister_v2(own + 1024, 4096, 0)); /* right behind it */
    use(own + 1024, (uintptr_t)(own + 1024));
    OK(cuMemHostUnregister(own));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    OK(cuMemHostUnregister(own + 1024));
    OK(cuMemHostRegister_v2(own, 4096, 0));
    OK(cuMemHostUnregister(own));
}

/* What a kernel reads of the last bytes in front of memory that nobody may read, from a place on that no word begins
 * at: not a byte too many. */
static void up_to_the_end(void) {
    enum { SIZE = 399, LANES = 256 };
    unsigned indices[LANES], got[LANES];
    CUdeviceptr table, to;
    unsigned char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(pages != MAP_FAILED);
    mprotect(pages + 4096, 4096, PROT_NONE);
    unsigned char *own = pages + 4096 - SIZE;
    for (unsigned i = 0; i < SIZE; i++) own[i] = (unsigned char)(i * 7);
    for (unsigned i = 0; i < LANES; i++) indices[i] = SIZE - 1 - i * 37 % SIZE;
    OK(cuMemHostRegister_v2(own - 1, SIZE + 1, 0));
    OK(cuMemAlloc_v2(&table, sizeof indices));
    OK(cuMemAlloc_v2(&to, sizeof got));
    OK(cuMemcpyHtoD_v2(table, indices, sizeof indices));
    CUdeviceptr from = (uintptr_t)own;
    for (int round = 0; round < 2; round++)
        OK(cuLaunchKernel(pick, LANES / 64, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&to, &from, &table}, NULL));
    OK(cuMemcpyDtoH_v2(got, to, sizeof got));
    for (unsigned i = 0; i < LANES; i++) EXPECT(got[i] == own[indices[i]]);
    OK(cuMemFree_v2(table));
    OK(cuMemFree_v2(to));
    OK(cuMemHostUnregister(own - 1));
    munmap(pages, 2 * 4096);
}

/* Where addresses are not those of memory to a kernel, and what is there has another one for it. */
static void low(void) {
    unsigned *own = mmap((void *)0x8001000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr device = 0, to = 0;
    if ((uintptr_t)own >= 0x10000000) {
        printf("nothing can be had at a low address\n");
        munmap(own, 8192);
        return;
    }
    own += 4;
    OK(cuMemHostRegister_v2(own, 4000, 0));
    OK(cuMemHostGetDevicePointer_v2(&device, own + 2, 0));
    device -= 8;
    use(own, device);
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, own + 7) == (void *)(uintptr_t)(device + 28));
    EXPECT(pointer(CU_POINTER_ATTRIBUTE_HOST_POINTER, (void *)(uintptr_t)(device + 28)) == own + 7);
    for (unsigned i = 0; i < 256; i++) own[i] = i * 5;
    OK(cuMemAlloc_v2(&to, 1024));
    OK(cuLaunchKernel(wide, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&to, &device}, NULL));
    OK(cuMemcpyDtoH_v2(own + 256, to, 1024));
    EXPECT(!memcmp(own, own + 256, 1024));
    OK(cuMemFree_v2(to));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(own + 900, 4000, 0));
    OK(cuMemHostUnregister(own));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    munmap(own - 4, 8192);
}

/* The host has nothing at addresses of the device alone; where a sanitizer keeps its books, nobody can say. */
static void apart(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CUdeviceptr at;
    int ends[2];
    OK(cuMemAlloc_v2(&at, 4096));
    EXPECT(!pipe(ends));
    EXPECT(write(ends[1], (void *)(uintptr_t)at, 1) < 0 && errno == EFAULT);
    close(ends[0]), close(ends[1]);
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy(0xd000000000, at, 4)); /* nobody has anything there */
    OK(cuMemFree_v2(at));
#endif
}

/* A host may well have memory where device memory would lie, if there were more of it. */
static void between(void) {
    unsigned *wish = (void *)0xe000000000;
    unsigned *own = mmap(wish, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr device;
    EXPECT(own != MAP_FAILED);
    OK(cuMemAlloc_v2(&device, 400));
    for (unsigned i = 0; i < 100; i++) own[i] = 7 * i;
    OK(cuMemcpy(device, (uintptr_t)own, 400));
    OK(cuMemcpy((uintptr_t)(own + 200), device, 400));
    OK(cuCtxSynchronize());
    EXPECT(!memcmp(own, own + 200, 400));
    OK(cuMemHostRegister_v2(own, 4096, 0));
    use(own, (uintptr_t)own);
    OK(cuMemHostUnregister(own));
    EXPECT(!mprotect(own, 4096, PROT_NONE));
    if (own == wish) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy((uintptr_t)own, device, 400));
    OK(cuMemFree_v2(device));
    munmap(own, 4096);
}

/* What is not the device's any more is none of a kernel's business. */
static void outside(void) {
    static unsigned own[64];
    CUdeviceptr at = (uintptr_t)own;
    unsigned one = 1;
    int all = 0; /* or it is, as with a GPU that uses the page tables of the system */
    OK(cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0));
    EXPECT(!all || !ours);
    if (all) return;
    OK(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&at, &one, &one}, NULL));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

/* What was allocated ends where it does, and when. */
static void ends(void) {
    enum { SIZE = 5000 };
    static unsigned char mine[SIZE + 1];
    CUdeviceptr at[2], here = (CUdeviceptr)(uintptr_t)mine;
    void *host;
    OK(cuMemAllocManaged(&at[0], SIZE, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&host, SIZE, 0));
    at[1] = (CUdeviceptr)(uintptr_t)host;
    for (int i = 0; i < 2; i++) {
        OK(cuMemcpy(at[i], here, SIZE));
        OK(cuMemcpy(here, at[i], SIZE));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy(at[i], here, SIZE + 1));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyAsync(here, at[i] + 1, SIZE, NULL));
    }
    OK(cuMemFree_v2(at[0]));
    OK(cuMemFreeHost(host));
    for (int i = 0; i < 2; i++) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy(at[i], here, 1));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyAsync(here, at[i], 1, NULL));
    }
}

int main(void) {
    CUcontext context;
    CUmodule module;
    size_t size;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&walk, module, "walk"));
    OK(cuModuleGetFunction(&wide, module, "wide"));
    OK(cuModuleGetFunction(&pick, module, "pick"));
    OK(cuModuleGetGlobal_v2(&variable, &size, module, "managed"));
    pinned();
    managed();
    lists();
    advice();
    registered();
    up_to_the_end();
    if (ours) low();
    apart();
    if (ours) between();
    if (ours) ends();
    outside();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
