/* arrays.c: arrays, copies to and from them, and texture objects of the runtime. What is expected is what CUDA 13.0 on
 * an H200 (driver 580.159.04) gave. */
#include "shim/cudart/abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shim/cuda/abi.h"

static int faults;
#define EXPECT(condition) \
    do { \
        if (!(condition)) faults++, printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)
#define GIVES(wanted, call) \
    do { \
        const cudaError_t got_ = (call), wanted_ = (wanted); \
        if (got_ != wanted_) \
            faults++, printf("%s:%d: %s, not %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(got_), \
                             cudaGetErrorName(wanted_), #call); \
        (void)cudaGetLastError(); \
    } while (0)
#define OK(call) GIVES(cudaSuccess, call)

typedef struct cudaChannelFormatDesc channels;
static const channels f32 = {32, 0, 0, 0, cudaChannelFormatKindFloat},
                      u8x4 = {8, 8, 8, 8, cudaChannelFormatKindUnsigned},
                      s32 = {32, 0, 0, 0, cudaChannelFormatKindSigned};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static cudaError_t try(channels desc, size_t width, size_t height, size_t depth, unsigned flags) {
    cudaArray_t array;
    channels got;
    struct cudaExtent extent;
    unsigned got_flags;
    const cudaError_t error = cudaMalloc3DArray(&array, &desc, (struct cudaExtent){width, height, depth}, flags);
    if (error) {
        EXPECT(!array);
        return error;
    }
    OK(cudaArrayGetInfo(&got, &extent, &got_flags, array));
    EXPECT(!memcmp(&got, &desc, sizeof got) && got_flags == flags);
    EXPECT(extent.width == width && extent.height == height && extent.depth == depth);
    OK(cudaGetChannelDesc(&got, array));
    EXPECT(!memcmp(&got, &desc, sizeof got));
    OK(cudaFreeArray(array));
    return cudaSuccess;
}

static void making(void) {
    static const channels good[] = {{32, 0, 0, 0, 2},  {8, 8, 8, 8, 1}, {32, 0, 0, 0, 0},  {16, 0, 0, 0, 2},
                                    {16, 16, 0, 0, 0}, {8, 8, 8, 8, 7}, {16, 16, 0, 0, 15}};
    static const channels bad[] = {{8, 8, 8, 0, 1},  {8, 16, 0, 0, 1}, {8, 0, 8, 0, 1},
                                   {64, 0, 0, 0, 1}, {8, 0, 0, 0, 2},  {0, 0, 0, 0, 2},
                                   {8, 0, 0, 0, 3},  {8, 0, 0, 0, 7},  {8, 0, 0, 0, 99}};
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) OK(try(good[i], 16, 8, 0, 0));
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        GIVES(cudaErrorInvalidChannelDescriptor, try(bad[i], 16, 8, 0, 0));
    OK(try(f32, 16, 0, 0, 0));
    OK(try(f32, 8, 8, 6, CUDA_ARRAY3D_CUBEMAP));
    OK(try(f32, 8, 0, 4, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST));
    GIVES(cudaErrorInvalidValue, try(f32, 0, 8, 0, 0));
    GIVES(cudaErrorInvalidValue, try(f32, 8, 0, 4, 0));
    GIVES(cudaErrorInvalidValue, try(f32, 131073, 0, 0, 0));
    cudaArray_t array;
    cudaMipmappedArray_t mipmap;
    struct cudaExtent extent;
    size_t width = 0;
    GIVES(cudaErrorInvalidValue, cudaMallocArray(NULL, &f32, 8, 8, 0));
    GIVES(cudaErrorInvalidValue, cudaMallocArray(&array, NULL, 8, 8, 0));
    OK(cudaFreeArray(NULL));
    OK(cudaFreeMipmappedArray(NULL));
    GIVES(cudaErrorInvalidResourceHandle, cudaArrayGetInfo(NULL, NULL, NULL, NULL));
    GIVES(cudaErrorInvalidResourceHandle, cudaGetChannelDesc(&(channels){0}, NULL));
    OK(cudaMallocMipmappedArray(&mipmap, &f32, (struct cudaExtent){16, 8, 0}, 9, 0));
    OK(cudaGetMipmappedArrayLevel(&array, mipmap, 4));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, array));
    EXPECT(extent.width == 1 && extent.height == 1 && extent.depth == 0);
    GIVES(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&array, mipmap, 5));
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &f32, 0));
    EXPECT(width == 1 << 30);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

enum { ROW = 64, ROWS = 8, BYTES = ROW * ROWS };
static unsigned char bytes[2 * BYTES], model[BYTES], first[BYTES]; /* first: what is in the first of the arrays */

static void compare(cudaArray_t array, int line) {
    unsigned char got[BYTES];
    OK(cudaMemcpy2DFromArray(got, ROW, array, 0, 0, ROW, ROWS, cudaMemcpyDeviceToHost));
    if (memcmp(got, model, BYTES)) faults++, printf("line %d: it differs\n", line);
}

/* Bytes of rows that follow each other. */
static void stretches(cudaArray_t a, cudaArray_t b) {
    unsigned char got[200];
    OK(cudaMemcpyToArray(a, 0, 0, bytes, BYTES, cudaMemcpyHostToDevice));
    memcpy(model, bytes, BYTES);
    compare(a, __LINE__);
    OK(cudaMemcpyToArray(a, 8, 1, bytes, 200, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(a, 2, 5, bytes + 9, 6, cudaMemcpyDefault));
    OK(cudaMemcpyToArrayAsync(a, ROW, 6, bytes, ROW, cudaMemcpyHostToDevice, NULL)); /* the next row */
    memcpy(model + ROW + 8, bytes, 200), memcpy(model + 5 * ROW + 2, bytes + 9, 6), memcpy(model + 7 * ROW, bytes, ROW);
    compare(a, __LINE__);
    OK(cudaMemcpyFromArray(got, a, 8, 1, 200, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(got, model + ROW + 8, 200));
    OK(cudaMemcpyFromArrayAsync(got, a, 60, 0, 4 + 2 * ROW + 1, cudaMemcpyDeviceToHost, NULL));
    EXPECT(!memcmp(got, model + 60, 4 + 2 * ROW + 1));
    OK(cudaMemcpyToArray(b, 0, 0, bytes + 100, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(b, 16, 1, a, 8, 0, 200, cudaMemcpyDeviceToDevice));
    memcpy(first, model, BYTES);
    memcpy(model, bytes + 100, BYTES), memcpy(model + ROW + 16, first + 8, 200);
    compare(b, __LINE__);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToArray(b, 8, 1, bytes, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(b, 0, 0, model, BYTES, cudaMemcpyHostToDevice)); /* of which an H200 wrote a part */
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToArray(b, 0, 0, bytes, 4, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToArray(b, 0, 0, bytes, 4, cudaMemcpyHostToHost));
    GIVES(cudaErrorInvalidResourceHandle, cudaMemcpyToArray(NULL, 0, 0, bytes, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(b, 0, 0, bytes, 0, cudaMemcpyHostToDevice));
    compare(b, __LINE__);
}

static void rectangles(cudaArray_t a, cudaArray_t b) {
    OK(cudaMemcpy2DToArray(b, 16, 1, bytes, 100, 40, 5, cudaMemcpyHostToDevice));
    for (int y = 0; y < 5; y++) memcpy(&model[(1 + y) * ROW + 16], &bytes[100 * y], 40);
    compare(b, __LINE__);
    OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 4, 2, 8, 3, cudaMemcpyDeviceToDevice));
    for (int y = 0; y < 3; y++) memcpy(&model[y * ROW], &first[(2 + y) * ROW + 4], 8);
    compare(b, __LINE__);
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DToArray(b, 16, 1, bytes, 30, 40, 5, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(b, 32, 1, bytes, 100, 40, 5, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy2DToArray(b, 16, 1, bytes, 100, 40, 5, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DFromArray(bytes, 30, b, 16, 1, 40, 5, cudaMemcpyDeviceToHost));
    /* All of a box counts texels where one side is an array. */
    struct cudaMemcpy3DParms box = {.srcPtr = {bytes, 64, 16, 8},
                                    .srcPos = {3, 0, 0},
                                    .dstArray = b,
                                    .dstPos = {2, 1, 0},
                                    .extent = {4, 2, 1},
                                    .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&box));
    for (int y = 0; y < 2; y++) memcpy(&model[(1 + y) * ROW + 8], &bytes[y * 64 + 12], 16);
    compare(b, __LINE__);
    box.extent.width = 64;
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&box));
    box.extent.width = 4, box.dstPtr = box.srcPtr;
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&box));
    box =
        (struct cudaMemcpy3DParms){.srcArray = a, .dstArray = b, .extent = {16, 8, 1}, .kind = cudaMemcpyHostToDevice};
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&box));
    box.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemcpy3DAsync(&box, NULL));
    memcpy(model, first, BYTES);
    compare(b, __LINE__);
    cudaArray_t other;
    OK(cudaMallocArray(&other, &(channels){16, 0, 0, 0, cudaChannelFormatKindFloat}, 16, 8, 0));
    box.srcArray = other;
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&box));
    OK(cudaFreeArray(other));
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaMemcpy3DParms got;
    OK(cudaGraphCreate(&graph, 0));
    box = (struct cudaMemcpy3DParms){.srcPtr = {bytes, 64, 16, 8},
                                     .dstArray = b,
                                     .dstPos = {4, 1, 0},
                                     .extent = {12, 4, 1},
                                     .kind = cudaMemcpyHostToDevice};
    OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    OK(cudaGraphMemcpyNodeGetParams(node, &got));
    EXPECT(got.dstArray == b && !got.srcArray && got.dstPos.x == 4 && got.extent.width == 12 && got.srcPtr.pitch == 64);
    EXPECT(got.kind == cudaMemcpyHostToDevice && got.extent.height == 4);
    OK(cudaGraphDestroy(graph));
}

/* ---- Textures ---------------------------------------------------------------------------------------------------- */

static cudaError_t texture(struct cudaResourceDesc of, struct cudaTextureDesc how) {
    cudaTextureObject_t made;
    struct cudaResourceDesc got_of;
    struct cudaTextureDesc got;
    const cudaError_t error = cudaCreateTextureObject(&made, &of, &how, NULL);
    if (error) return error;
    OK(cudaGetTextureObjectResourceDesc(&got_of, made));
    EXPECT(got_of.resType == of.resType);
    if (of.resType == CU_RESOURCE_TYPE_LINEAR)
        EXPECT(got_of.res.linear.devPtr == of.res.linear.devPtr &&
               !memcmp(&got_of.res.linear.desc, &of.res.linear.desc, sizeof(channels)));
    OK(cudaGetTextureObjectTextureDesc(&got, made));
    EXPECT(got.filterMode == how.filterMode && got.readMode == how.readMode && got.sRGB == how.sRGB &&
           got.normalizedCoords == !!how.normalizedCoords && got.maxAnisotropy == how.maxAnisotropy &&
           got.addressMode[0] == how.addressMode[0]);
    OK(cudaDestroyTextureObject(made));
    return cudaSuccess;
}

static void textures(void) {
    const channels *formats[] = {&f32, &s32, &u8x4};
    cudaArray_t arrays[3];
    cudaSurfaceObject_t surface;
    struct cudaResourceDesc of = {.resType = CU_RESOURCE_TYPE_ARRAY}, got;
    void *memory;
    for (int i = 0; i < 3; i++) OK(cudaMallocArray(&arrays[i], formats[i], 16, 8, 0));
    for (unsigned i = 0; i < 3; i++)
        for (unsigned filter = 0; filter < 2; filter++)
            for (unsigned read = 0; read < 2; read++) {
                const bool is_float = i == 0 || (i == 2 && read);
                const cudaError_t wanted = filter && !is_float ? cudaErrorInvalidFilterSetting
                                           : read && i != 2    ? cudaErrorInvalidNormSetting
                                                               : cudaSuccess;
                of.res.array.array = arrays[i];
                GIVES(wanted, texture(of, (struct cudaTextureDesc){.filterMode = filter, .readMode = read}));
                if (!wanted)
                    OK(texture(of, (struct cudaTextureDesc){.filterMode = filter, .readMode = read, .sRGB = 1}));
            }
    of.res.array.array = arrays[0];
    OK(texture(of, (struct cudaTextureDesc){.maxAnisotropy = 99, .normalizedCoords = 5}));
    GIVES(cudaErrorInvalidValue, texture(of, (struct cudaTextureDesc){.addressMode = {7}}));
    GIVES(cudaErrorInvalidValue, texture(of, (struct cudaTextureDesc){.filterMode = 7}));
    GIVES(cudaErrorInvalidValue, texture(of, (struct cudaTextureDesc){.seamlessCubemap = 1}));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(NULL, &of, &(struct cudaTextureDesc){0}, NULL));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&surface, NULL, &(struct cudaTextureDesc){0}, NULL));
    OK(cudaMalloc(&memory, 1 << 14));
    of = (struct cudaResourceDesc){.resType = CU_RESOURCE_TYPE_LINEAR, .res.linear = {memory, f32, 4096}};
    OK(texture(of, (struct cudaTextureDesc){0}));
    of.res.linear.devPtr = (char *)memory + 4;
    GIVES(cudaErrorInvalidValue, texture(of, (struct cudaTextureDesc){0}));
    of.res.linear.desc = (channels){8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    GIVES(cudaErrorInvalidChannelDescriptor, texture(of, (struct cudaTextureDesc){0}));
    of = (struct cudaResourceDesc){.resType = CU_RESOURCE_TYPE_PITCH2D, .res.pitch2D = {memory, u8x4, 16, 8, 64}};
    OK(texture(of, (struct cudaTextureDesc){0}));
    of.res.pitch2D.pitchInBytes = 72;
    GIVES(cudaErrorInvalidValue, texture(of, (struct cudaTextureDesc){0}));
    of = (struct cudaResourceDesc){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.array = arrays[0]};
    OK(cudaCreateSurfaceObject(&surface, &of));
    OK(cudaGetSurfaceObjectResourceDesc(&got, surface));
    EXPECT(got.res.array.array == arrays[0]);
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaDestroySurfaceObject(0));
    OK(cudaDestroyTextureObject(0));
    for (int i = 0; i < 3; i++) OK(cudaFreeArray(arrays[i]));
    OK(cudaFree(memory));
}

int main(void) {
    cudaArray_t a, b;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7 + i / 256 + 1);
    making();
    OK(cudaMallocArray(&a, &f32, 16, 8, 0));
    OK(cudaMallocArray(&b, &u8x4, 16, 8, CUDA_ARRAY3D_SURFACE_LDST));
    stretches(a, b);
    rectangles(a, b);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
    textures();
    return faults != 0;
}
