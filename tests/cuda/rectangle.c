/* rectangle.c: copies and fills of rectangles and boxes, beside loops over bytes.
 *
 * Like driver.c it knows nothing of Lanewise, and can be run with a GPU's driver. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BYTES = 1 << 14 };

static bool ours;
static CUcontext context, other;
static CUdeviceptr device[2];
static unsigned char host[2][BYTES], model[2][BYTES]; /* what is at device[i], and what should be */

static void begin(void) {
    for (int i = 0; i < BYTES; i++) {
        model[0][i] = (unsigned char)(i * 7 + i / 256);
        model[1][i] = 0xee;
    }
    for (int i = 0; i < 2; i++) OK(cuMemcpyHtoD_v2(device[i], model[i], BYTES));
}

static void compare(const char *what) {
    for (int i = 0; i < 2; i++) {
        OK(cuMemcpyDtoH_v2(host[i], device[i], BYTES));
        if (memcmp(host[i], model[i], BYTES)) faults++, printf("%s: side %d differs\n", what, i);
    }
}

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

typedef struct place {
    size_t x, y, z, pitch, height;
} place;

static void copy_model(unsigned char *to, place t, const unsigned char *from, place f, size_t width, size_t rows,
                       size_t layers) {
    for (size_t z = 0; z < layers; z++)
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < width; x++)
                to[((t.z + z) * t.height + t.y + y) * t.pitch + t.x + x] =
                    from[((f.z + z) * f.height + f.y + y) * f.pitch + f.x + x];
}

static CUDA_MEMCPY3D box(place to, place from, size_t width, size_t rows, size_t layers) {
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = device[0],
                           .srcXInBytes = from.x,
                           .srcY = from.y,
                           .srcZ = from.z,
                           .srcPitch = from.pitch,
                           .srcHeight = from.height,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = device[1],
                           .dstXInBytes = to.x,
                           .dstY = to.y,
                           .dstZ = to.z,
                           .dstPitch = to.pitch,
                           .dstHeight = to.height,
                           .WidthInBytes = width,
                           .Height = rows,
                           .Depth = layers};
}

static CUDA_MEMCPY2D flat(const CUDA_MEMCPY3D *b) {
    return (CUDA_MEMCPY2D){.srcMemoryType = b->srcMemoryType,
                           .srcDevice = b->srcDevice,
                           .srcHost = b->srcHost,
                           .srcXInBytes = b->srcXInBytes,
                           .srcY = b->srcY,
                           .srcPitch = b->srcPitch,
                           .dstMemoryType = b->dstMemoryType,
                           .dstDevice = b->dstDevice,
                           .dstHost = b->dstHost,
                           .dstXInBytes = b->dstXInBytes,
                           .dstY = b->dstY,
                           .dstPitch = b->dstPitch,
                           .WidthInBytes = b->WidthInBytes,
                           .Height = b->Height};
}

static void boxes(void) {
    const place from = {3, 2, 1, 64, 16}, to = {5, 1, 2, 128, 8};
    CUDA_MEMCPY3D b = box(to, from, 40, 6, 4);
    begin();
    OK(cuMemcpy3D_v2(&b));
    copy_model(model[1], to, model[0], from, 40, 6, 4);
    compare("3D");
    const place dense = {0, 0, 0, 64, 16};
    b = box(dense, dense, 64, 16, 3);
    begin();
    OK(cuMemcpy3DAsync_v2(&b, NULL));
    copy_model(model[1], dense, model[0], dense, 64, 16, 3);
    compare("3D, dense");
    CUDA_MEMCPY3D_PEER p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = device[0],
                            .srcContext = context,
                            .srcPitch = 64,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = device[1],
                            .dstContext = other,
                            .dstPitch = 32,
                            .WidthInBytes = 16,
                            .Height = 7,
                            .Depth = 1};
    begin();
    OK(cuMemcpy3DPeer(&p));
    OK(cuCtxSynchronize());
    copy_model(model[1], (place){.pitch = 32}, model[0], (place){.pitch = 64}, 16, 7, 1);
    compare("3D, of a peer");
    OK(cuMemcpyPeer(device[1] + 2000, other, device[0], context, 500));
    OK(cuCtxSynchronize());
    memcpy(model[1] + 2000, model[0], 500);
    compare("of a peer");
    OK(cuMemcpyPeerAsync(device[1] + 3000, other, device[0] + 1, context, 77, NULL));
    memcpy(model[1] + 3000, model[0] + 1, 77);
    compare("of a peer, later");
}

static void rectangles(void) {
    const place from = {1, 3, 0, 100, 0}, to = {9, 0, 0, 200, 0};
    CUDA_MEMCPY3D b = box(to, from, 90, 20, 1);
    CUDA_MEMCPY2D r = flat(&b);
    begin();
    OK(cuMemcpy2DUnaligned_v2(&r));
    copy_model(model[1], to, model[0], from, 90, 20, 1);
    compare("2D");
    for (int way = 0; way < 2; way++) { /* the program's memory, as it says itself, or as its address does */
        static unsigned char own[BYTES];
        r = flat(&b);
        memset(own, 0x11, sizeof own);
        r.dstMemoryType = way ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
        r.dstHost = own;
        r.dstDevice = way ? (uintptr_t)own : 0;
        if (way) r.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        OK(cuMemcpy2D_v2(&r));
        memset(host[0], 0x11, BYTES);
        copy_model(host[0], to, model[0], from, 90, 20, 1);
        EXPECT(!memcmp(own, host[0], BYTES));
        begin();
        b.srcHost = own, b.srcDevice = way ? (uintptr_t)own : 0;
        b.srcMemoryType = way ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
        r = flat(&b);
        OK(cuMemcpy2DAsync_v2(&r, NULL));
        copy_model(model[1], to, own, from, 90, 20, 1);
        compare("2D, from the host");
        b = box(to, from, 90, 20, 1);
    }
}

/* What must be refused, and what says nothing. */
static void refused(void) {
    const place from = {0, 0, 0, 64, 16}, to = {0, 0, 0, 128, 8};
    CUDA_MEMCPY3D b = box(to, from, 40, 6, 4), c = b;
    CUDA_MEMCPY2D r = flat(&b);
    begin();
    r.srcPitch = 39;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
    r.srcPitch = (size_t)1 << 31;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
    r = flat(&b), r.srcMemoryType = 9;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
    c.dstHeight = 5;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&c));
    r = flat(&b), r.WidthInBytes = 0, r.srcPitch = r.dstPitch = 0;
    OK(cuMemcpy2D_v2(&r));
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(NULL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(NULL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DPeer(NULL));
        r = flat(&b), r.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r)); /* of none */
        r = flat(&b), r.srcDevice += BYTES - 64 * 5 - 39;   /* the last row leaves the allocation by a byte */
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
        r.srcDevice--, r.dstDevice += BYTES - 128 * 5 - 40;
        OK(cuMemcpy2D_v2(&r));
        copy_model(model[1], (place){.x = BYTES - 128 * 5 - 40, .pitch = 128}, model[0],
                   (place){.x = BYTES - 64 * 5 - 40, .pitch = 64}, 40, 6, 1);
        r = flat(&b), r.srcY = SIZE_MAX / 2;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
        r = flat(&b), r.Height = SIZE_MAX / 2;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
        r.srcMemoryType = r.dstMemoryType = CU_MEMORYTYPE_HOST, r.srcHost = r.dstHost = host[0];
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r)); /* more than there are addresses */
        r = flat(&b), r.srcMemoryType = CU_MEMORYTYPE_HOST;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r)); /* no memory */
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemcpy2DAsync_v2(&r, (CUstream)&r));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyPeer(device[0], NULL, device[1], context, 4));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(device[0], (CUcontext)&r, device[1], context, 4));
    }
    compare("nothing");
}

/* ---- Fills ----------------------------------------------------------------------------------------------------- */

static void fill_model(size_t at, size_t pitch, unsigned value, size_t bytes, size_t width, size_t rows) {
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < width * bytes; x++)
            model[0][at + y * pitch + x] = (unsigned char)(value >> (8 * (x % bytes)));
}

static void fills(void) {
    begin();
    OK(cuMemsetD2D8_v2(device[0] + 3, 70, 0xab, 33, 9));
    fill_model(3, 70, 0xab, 1, 33, 9);
    OK(cuMemsetD2D16_v2(device[0] + 2000, 64, 0x1234, 17, 5));
    fill_model(2000, 64, 0x1234, 2, 17, 5);
    OK(cuMemsetD2D32_v2(device[0] + 4000, 256, 0xcafe1234, 60, 12));
    fill_model(4000, 256, 0xcafe1234, 4, 60, 12);
    OK(cuMemsetD2D8Async(device[0] + 8000, 11, 1, 11, 4, NULL));
    fill_model(8000, 11, 1, 1, 11, 4);
    OK(cuMemsetD2D16Async(device[0] + 9000, 40, 0x8001, 3, 6, NULL));
    fill_model(9000, 40, 0x8001, 2, 3, 6);
    OK(cuMemsetD2D32Async(device[0] + 12000, 512, 0x89abcdef, 3, 7, NULL));
    fill_model(12000, 512, 0x89abcdef, 4, 3, 7);
    OK(cuMemsetD2D32_v2(device[0], 512, 5, 0, 7));
    compare("fills");
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32_v2(device[0] + 2, 512, 5, 3, 7));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32_v2(device[0], 8, 5, 3, 7));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8_v2(device[0], 1024, 5, 3, 17)); /* the last row is outside */
    compare("refused fills");
}

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

static void batches(CUstream stream) {
    CUdeviceptr to[3] = {device[1], device[1] + 100, device[1] + 5000},
                from[3] = {device[0] + 9, device[0] + 300, (uintptr_t)host[0]};
    size_t sizes[3] = {20, 30, 40}, firsts[2] = {0, 2}, bad_firsts[2] = {0, 3};
    CUmemcpyAttributes how[2] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
                                 {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL}};
    begin();
    memset(host[0], 0x42, 40);
    OK(cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, firsts, 2, stream));
    OK(cuStreamSynchronize(stream));
    memcpy(model[1], model[0] + 9, 20);
    memcpy(model[1] + 100, model[0] + 300, 30);
    memset(model[1] + 5000, 0x42, 40);
    compare("a batch");
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, firsts, 2, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, bad_firsts, 2, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 1, how, firsts, 2, stream));
    how[1].srcAccessOrder = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync_v2(to, from, sizes, 3, how, firsts, 2, stream));
    const CUmemcpy3DOperand here = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                                    .op.ptr = {.ptr = device[0], .rowLength = 64, .layerHeight = 8}},
                            there = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = device[1] + 6000};
    CUDA_MEMCPY3D_BATCH_OP op = {
        .src = here, .dst = there, .extent = {16, 4, 3}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    OK(cuStreamSynchronize(stream));
    copy_model(model[1] + 6000, (place){.pitch = 16, .height = 4}, model[0], (place){.pitch = 64, .height = 8}, 16, 4,
               3);
    compare("a batch of boxes");
    op.extent.width = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    if (ours) { /* the older form says which one */
        size_t failed = 77;
        how[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
        from[1] = device[0] + BYTES;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 3, how, firsts, 2, &failed, stream));
        EXPECT(failed == 1);
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
        EXPECT(failed == 0);
    }
    compare("refused batches");
}

int main(void) {
    CUstream stream;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuMemAlloc_v2(&device[1], BYTES));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&device[0], BYTES));
    OK(cuStreamCreate(&stream, 1));
    boxes();
    rectangles();
    refused();
    fills();
    batches(stream);
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxDestroy_v2(other));
    return faults != 0;
}
