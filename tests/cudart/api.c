/* api.c: the runtime as any program may call it, which needs no compiler: with nothing, with handles that are none,
 * from several threads, with an image that is registered and taken away. Compiled for each version of the library. */
#include "shim/cudart/abi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int faults;

#define FAULT(...) \
    do { \
        faults++; \
        printf(__VA_ARGS__); \
    } while (0)
#define EXPECT(condition) \
    do { \
        if (!(condition)) FAULT("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)
#define GIVES(wanted, call) \
    do { \
        const cudaError_t got_ = (call); \
        if (got_ != (wanted)) \
            FAULT("%s:%d: %s, not %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(got_), #wanted, #call); \
    } while (0)
#define OK(call) GIVES(cudaSuccess, call)

/* ---- Nothing --------------------------------------------------------------------------------------------------- */

/* Functions that give back an error, or NULL for those that do not. */
typedef cudaError_t function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                             uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
static const struct row {
    const char *name;
    void (*function)(void);
} rows[] = {
#define HERE(name) {#name, (void (*)(void))name},
#define MISSING(name)
#define MISSING12(name)
#ifdef LW_RT_BEFORE13
#define HERE12 HERE
#else
#define HERE12 MISSING
#endif
#include "shim/cudart/names.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int is_left_out(const char *name) {
    static const char *const names[] = {"cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i])) return 1;
    /* The thread's default stream can be captured, and little else may be done then. */
    return !strncmp(name, "__cuda", 6) || !strcmp(name, "cudaStreamBeginCapture_ptsz");
}

/* Every argument is 0, those that are structures, too. */
static void with_nothing(void) {
    for (int i = 0; i < ROWS; i++) {
        if (is_left_out(rows[i].name)) continue;
        const cudaError_t error = ((function *)rows[i].function)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (!strcmp(cudaGetErrorName(error), "unrecognized error code"))
            FAULT("%s gives back %u\n", rows[i].name, error);
        cudaGetLastError();
    }
    /* What has begun a capture of this thread's stream could not end it. */
    cudaStreamEndCapture((cudaStream_t)(uintptr_t)2, &(cudaGraph_t){NULL});
    cudaGetLastError();
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

static void *other_thread(void *unused) {
    (void)unused;
    OK(cudaGetLastError());
    GIVES(cudaErrorInvalidValue, cudaMalloc(NULL, 1));
    return NULL;
}

static void errors(void) {
    pthread_t thread;
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(1000));
    EXPECT(!pthread_create(&thread, NULL, other_thread, NULL) && !pthread_join(thread, NULL));
    GIVES(cudaErrorInvalidDevice, cudaGetLastError()); /* not the other one's */
    OK(cudaPeekAtLastError());
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady"));
    for (cudaError_t error = 0; error < 1000; error++) {
        const int known = strcmp(cudaGetErrorName(error), "unrecognized error code") != 0;
        EXPECT(cudaGetErrorString(error) &&
               known == (strcmp(cudaGetErrorString(error), "unrecognized error code") != 0));
    }
}

static void handles(void) {
    cudaStream_t stream, garbage = (cudaStream_t)(uintptr_t)0x1230;
    cudaEvent_t event;
    float time;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamQuery(garbage));
    OK(cudaEventCreate(&event));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(event, garbage));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&time, event, event)); /* was never recorded */
    OK(cudaEventDestroy(event));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventQuery(event));
    GIVES(cudaErrorInvalidValue, cudaFree((void *)(uintptr_t)0x1230));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&faults, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&faults, &faults, 1, 0, cudaMemcpyHostToDevice));
    cudaGetLastError();
}

/* ---- Shapes of launches ---------------------------------------------------------------------------------------- */

static void shapes(void) {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    unsigned pushed = 0;
    GIVES(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    while (pushed < 1000 && !__cudaPushCallConfiguration((dim3){pushed, 1, 2}, (dim3){3, pushed, 4}, pushed, &faults))
        pushed++;
    EXPECT(pushed >= 8 && pushed < 1000); /* and then says that there is no room */
    while (pushed--) {
        OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        EXPECT(grid.x == pushed && grid.z == 2 && block.y == pushed && shared == pushed && (void *)stream == &faults);
    }
    GIVES(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    cudaGetLastError();
}

/* ---- Devices --------------------------------------------------------------------------------------------------- */

static void properties(void) {
    struct cudaDeviceProp device;
    int value = 0, runtime = 0;
    memset(&device, 0xa5, sizeof device);
#ifdef LW_RT_BEFORE13
    struct cudaDeviceProp older;
    OK(cudaGetDeviceProperties_v2(&device, 0));
    EXPECT(device.clockRate > 0 && !device.deviceOverlap == !device.asyncEngineCount && device.reserved[62] == 0);
    memset(&older, 0xa5, sizeof older);
    OK(cudaGetDeviceProperties(&older, 0));
    EXPECT(!memcmp(&older, &device, offsetof(struct cudaDeviceProp, hostRegisterSupported)));
    EXPECT(older.hostRegisterSupported == (int)0xa5a5a5a5 && older.reserved[0] == (int)0xa5a5a5a5);
    const int version = 12;
#else
    OK(cudaGetDeviceProperties(&device, 0));
    EXPECT(device.reserved[0] == 0 && device.reserved[55] == 0);
    const int version = 13;
#endif
    EXPECT(device.warpSize == 32 && device.maxThreadsDim[1] == 1024 && device.maxGridSize[2] == 65535);
    OK(cudaDeviceGetAttribute(&value, 121, 0)); /* deferredMappingCudaArraySupported, near the end */
    EXPECT(device.deferredMappingCudaArraySupported == value && strlen(device.name) < sizeof device.name);
    OK(cudaDeviceGetAttribute(&value, 75, 0));
    EXPECT(device.major == value);
    OK(cudaRuntimeGetVersion(&runtime));
    EXPECT(runtime / 1000 == version);
    GIVES(cudaErrorInvalidDevice, LW_RT_V2(cudaGetDeviceProperties)(&device, 1000));
    cudaGetLastError();
}

static void addresses(void) {
    struct {
        struct cudaPointerAttributes about;
        char behind[64];
    } room;
    void *memory;
    memset(&room, 0x5a, sizeof room);
    OK(cudaMalloc(&memory, 100));
    OK(cudaPointerGetAttributes(&room.about, memory));
    EXPECT(room.about.type == cudaMemoryTypeDevice && room.about.devicePointer == memory && room.behind[0] == 0x5a);
    OK(cudaPointerGetAttributes(&room.about, &room));
    EXPECT(room.about.type == cudaMemoryTypeUnregistered && room.about.hostPointer == &room);
    OK(cudaFree(memory));
}

/* Boxes of 8 times 4 times 2 bytes, and what says that it is one. */
static void boxes(void) {
    static unsigned char back[64];
    void *memory;
    OK(cudaMalloc(&memory, sizeof back));
    OK(cudaMemset(memory, 1, sizeof back));
    const struct cudaPitchedPtr box = {memory, 8, 8, 4}, lines = {memory, 1, 8, 4}, points = {memory, 8, 8, 0};
    const size_t most = (size_t)1 << 60, half = (size_t)1 << 32;
    OK(cudaMemset3D(box, 2, (struct cudaExtent){8, 3, 2}));
    OK(cudaMemset3D(box, 9, (struct cudaExtent){0, 1, most}));
    OK(cudaMemset3D(box, 9, (struct cudaExtent){8, 0, most}));
    OK(cudaMemset3DAsync(box, 9, (struct cudaExtent){8, 4, 0}, NULL));
    GIVES(cudaErrorInvalidValue, cudaMemset3D(lines, 9, (struct cudaExtent){8, 1, most}));
    GIVES(cudaErrorInvalidValue, cudaMemset3D(points, 9, (struct cudaExtent){8, 1, most}));
    GIVES(cudaErrorInvalidValue, cudaMemset3D(box, 9, (struct cudaExtent){8, 5, 2}));
    const struct cudaPitchedPtr tall = {memory, 8, 8, half};
    GIVES(cudaErrorInvalidValue, cudaMemset3D(tall, 9, (struct cudaExtent){8, half, half}));
    GIVES(cudaErrorInvalidValue, cudaMemset3DAsync(tall, 9, (struct cudaExtent){8, half, half}, NULL));
    OK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(back[i] == (i / 8 % 4 < 3 ? 2 : 1));
    OK(cudaFree(memory));
    cudaGetLastError();
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 number = 7;\n"
    ".visible .entry add(.param .u32 more)\n{\n"
    ".reg .u32 %r<3>;\nld.param.u32 %r1, [more];\natom.global.add.u32 %r2, [number], %r1;\nret;\n}\n";

/* A fatbin of one text, as compilers leave them in programs. */
typedef struct image {
    uint32_t magic, version;
    const void *data;
    void *unused;
} image;

static image make_image(void) {
    enum { HEAD = 16, ENTRY = 64 };
    const uint64_t size = (sizeof text + 7) / 8 * 8, all = ENTRY + size;
    const uint32_t magic = 0xba55ed50, entry_size = ENTRY, arch = 70;
    const uint16_t version = 1, head = HEAD, kind = 1, entry_version = 0x101;
    char *data = calloc(1, HEAD + all);
    if (!data) exit(2);
    memcpy(data, &magic, 4), memcpy(data + 4, &version, 2), memcpy(data + 6, &head, 2), memcpy(data + 8, &all, 8);
    char *entry = data + HEAD;
    memcpy(entry, &kind, 2), memcpy(entry + 2, &entry_version, 2), memcpy(entry + 4, &entry_size, 4);
    memcpy(entry + 8, &size, 8), memcpy(entry + 28, &arch, 4);
    memcpy(entry + ENTRY, text, sizeof text);
    return (image){0x466243b1, 1, data, NULL};
}

static char kernel, variable; /* places in the program that stand for them */

static unsigned number_now(void) {
    unsigned number = 0;
    OK(cudaMemcpyFromSymbol(&number, &variable, 4, 0, cudaMemcpyDeviceToHost));
    return number;
}

static void launch(unsigned more) {
    OK(cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){2, 1, 1}, (void *[]){&more}, 0, NULL));
}

static void *launch_many(void *unused) {
    for (int i = 0; i < 20; i++) launch(1);
    return unused;
}

/* With more than one: each has variables of its own, and reaches the other's memory. */
static void *on_second(void *unused) {
    int device = 9;
    OK(cudaGetDevice(&device));
    EXPECT(device == 0); /* whatever other threads have chosen */
    return unused;
}

static void devices(void) {
    int count = 0, device = 9, can = 0;
    unsigned *here, *there, value = 123, back = 0;
    pthread_t thread;
    OK(cudaGetDeviceCount(&count));
    if (count < 2) return;
    const unsigned before = number_now();
    OK(cudaMalloc((void **)&here, 4));
    OK(cudaSetDevice(1));
    EXPECT(!pthread_create(&thread, NULL, on_second, NULL) && !pthread_join(thread, NULL));
    OK(cudaGetDevice(&device));
    EXPECT(device == 1 && number_now() == 7);
    launch(1);
    EXPECT(number_now() == 9);
    OK(cudaMalloc((void **)&there, 4));
    OK(cudaDeviceCanAccessPeer(&can, 1, 0));
    EXPECT(can);
    OK(cudaDeviceEnablePeerAccess(0, 0));
    GIVES(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
    OK(cudaDeviceDisablePeerAccess(0));
    OK(cudaMemcpy(there, &value, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(here, there, 4, cudaMemcpyDeviceToDevice));
    OK(cudaDeviceReset()); /* of the second alone */
    OK(cudaSetDevice(0));
    OK(cudaMemcpy(&back, here, 4, cudaMemcpyDeviceToHost));
    EXPECT(back == value && number_now() == before);
    OK(cudaFree(here));
    cudaGetLastError();
}

static void images(void) {
    unsigned number = 0;
    size_t size = 0;
    cudaKernel_t handle = NULL;
    pthread_t threads[4];
    image image = make_image(), broken = {0x12345678, 1, text, NULL};
    void **registered = __cudaRegisterFatBinary(&image), **no_image = __cudaRegisterFatBinary(&broken);
    EXPECT(registered && no_image);
    __cudaRegisterFunction(registered, &kernel, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(registered, &variable, NULL, "number", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(registered);
    __cudaRegisterFunction(no_image, (char *)&broken, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
    for (int i = 0; i < 4; i++) EXPECT(!pthread_create(&threads[i], NULL, launch_many, NULL));
    for (int i = 0; i < 4; i++) EXPECT(!pthread_join(threads[i], NULL));
    EXPECT(number_now() == 7 + 4 * 20 * 2);
    OK(cudaGetSymbolSize(&size, &variable));
    EXPECT(size == 4);
    OK(cudaGetKernel(&handle, &kernel));
    number = 100;
    OK(cudaLaunchKernel(handle, (dim3){1, 1, 1}, (dim3){1, 1, 1}, (void *[]){&number}, 0, NULL));
    EXPECT(number_now() == 7 + 160 + 100);
    OK(cudaKernelSetAttributeForDevice(handle, 8, 1000, 0)); /* the most dynamic shared memory */
    struct cudaFuncAttributes about;
    OK(cudaFuncGetAttributes(&about, &kernel));
    EXPECT(about.maxDynamicSharedSizeBytes == 1000);
    OK(cudaDeviceReset()); /* with its modules, which are loaded again */
    launch(5);
    EXPECT(number_now() == 17);
    devices();
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&variable, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, &kernel));
    EXPECT(cudaLaunchKernel(&broken, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL) != cudaSuccess);
    __cudaUnregisterFatBinary(registered);
    __cudaUnregisterFatBinary(no_image);
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, &variable));
    cudaGetLastError();
    free((void *)(uintptr_t)image.data);
}

int main(void) {
    with_nothing();
    errors();
    handles();
    shapes();
    properties();
    addresses();
    boxes();
    images();
    with_nothing();
    return faults != 0;
}
