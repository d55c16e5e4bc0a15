/* array.c: arrays and mipmaps: what can be made, what is said of it, and copies of all kinds beside loops over bytes.
 *
 * Like driver.c it knows nothing of Lanewise, and can be run with a GPU's driver: what is expected is what an H200's
 * (580.159.04) gave. */
#include "expect.h"

#include <stdlib.h>

static bool ours;
static CUcontext context;

static CUresult make(CUarray *array, size_t width, size_t height, size_t depth, CUarray_format format,
                     unsigned channels, unsigned flags) {
    return cuArray3DCreate_v2(array, &(CUDA_ARRAY3D_DESCRIPTOR){width, height, depth, format, channels, flags});
}

/* ---- What can be made -------------------------------------------------------------------------------------------- */

/* Gives the result, and takes back what was made. */
static CUresult try(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                    unsigned flags) {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR all;
    CUDA_ARRAY_DESCRIPTOR flat;
    const CUresult result = make(&array, width, height, depth, format, channels, flags);
    if (result) return result;
    OK(cuArray3DGetDescriptor_v2(&all, array));
    EXPECT(all.Width == width && all.Height == height && all.Depth == depth && all.Format == format &&
           all.NumChannels == channels && all.Flags == flags);
    OK(cuArrayGetDescriptor_v2(&flat, array));
    EXPECT(flat.Width == width && flat.Height == height && flat.Format == format && flat.NumChannels == channels);
    OK(cuArrayDestroy(array));
    return CUDA_SUCCESS;
}

static void formats(void) {
    static const unsigned plain[] = {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20},
                          none[] = {0, 4, 7, 0xb, 0x11, 0x21, 0x100};
    for (unsigned channels = 0; channels < 6; channels++) {
        const bool good = channels == 1 || channels == 2 || channels == 4;
        for (unsigned i = 0; i < sizeof plain / sizeof plain[0]; i++)
            GIVES(good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, try(16, 8, 0, plain[i], channels, 0));
        for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
            GIVES(CUDA_ERROR_INVALID_VALUE, try(16, 8, 0, none[i], channels, 0));
        for (unsigned i = 0; i < 12; i++) { /* 1, 2, 4 channels of 8 and 16 bits, unsigned and signed, normalised */
            const unsigned own = 1u << i % 3;
            GIVES(channels == own ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE,
                  try(16, 8, 0, CU_AD_FORMAT_UNORM_INT8X1 + i, channels, 0));
        }
    }
    if (!ours) return; /* what a GPU has and Lanewise has not */
    GIVES(CUDA_ERROR_NOT_SUPPORTED, try(16, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, try(16, 8, 0, CU_AD_FORMAT_UNORM_INT_101010_2, 4, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, try(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, try(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING));
}

/* Flags with which an array of these extents can be made, as bits. */
static void kinds(void) {
    static const struct {
        size_t width, height, depth;
        unsigned flags;
    } rows[] = {{8, 0, 0, 1 << 0 | 1 << 2},
                {8, 4, 0, 1 << 0 | 1 << 2 | 1 << 8 | 1 << 10},
                {8, 4, 3, 0xf},
                {8, 0, 3, 1 << 1 | 1 << 3},
                {8, 8, 6, 0xff},
                {8, 8, 12, 0xf | 1 << 5 | 1 << 7},
                {8, 4, 6, 0xf},
                {8, 8, 5, 0xf},
                {8, 8, 13, 0xf},
                {8, 1, 1, 0xf},
                {0, 4, 3, 0},
                {0, 0, 0, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned flags = 0; flags < 0x20; flags++)
            GIVES(rows[i].flags >> flags & 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE,
                  try(rows[i].width, rows[i].height, rows[i].depth, CU_AD_FORMAT_FLOAT, 1, flags));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_COLOR_ATTACHMENT));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0x200));
}

/* The largest of a kind, by the attributes that name them, and what is larger by one. */
static void most(unsigned width, unsigned height, unsigned depth, unsigned flags) {
    int extent[3] = {0, 0, 0};
    const unsigned attributes[] = {width, height, depth};
    for (int i = 0; i < 3; i++)
        if (attributes[i]) OK(cuDeviceGetAttribute(&extent[i], attributes[i], 0));
    for (int i = 0; i < 3; i++) {
        size_t at[] = {1, attributes[1] ? 1 : 0, attributes[2] ? 1 : 0};
        if (!attributes[i]) continue;
        if (flags & CUDA_ARRAY3D_CUBEMAP) at[2] = 6;
        at[i] = (size_t)extent[i];
        if (flags & CUDA_ARRAY3D_CUBEMAP && i < 2) continue; /* gigabytes */
        OK(try(at[0], at[1], at[2], CU_AD_FORMAT_UNSIGNED_INT8, 1, flags));
        at[i] += flags & CUDA_ARRAY3D_CUBEMAP ? 6 : 1;
        GIVES(CUDA_ERROR_INVALID_VALUE, try(at[0], at[1], at[2], CU_AD_FORMAT_UNSIGNED_INT8, 1, flags));
    }
}

#define TEXTURE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##name
#define SURFACE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##name
static void sizes(void) {
    most(TEXTURE(1D_WIDTH), 0, 0, 0);
    most(TEXTURE(2D_WIDTH), TEXTURE(2D_HEIGHT), 0, 0);
    most(TEXTURE(1D_LAYERED_WIDTH), 0, TEXTURE(1D_LAYERED_LAYERS), CUDA_ARRAY3D_LAYERED);
    most(TEXTURE(2D_LAYERED_WIDTH), TEXTURE(2D_LAYERED_HEIGHT), TEXTURE(2D_LAYERED_LAYERS), CUDA_ARRAY3D_LAYERED);
    most(TEXTURE(CUBEMAP_LAYERED_WIDTH), TEXTURE(CUBEMAP_LAYERED_WIDTH), TEXTURE(CUBEMAP_LAYERED_LAYERS),
         CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    most(TEXTURE(2D_GATHER_WIDTH), TEXTURE(2D_GATHER_HEIGHT), 0, CUDA_ARRAY3D_TEXTURE_GATHER);
    most(SURFACE(1D_WIDTH), 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
    most(SURFACE(2D_WIDTH), SURFACE(2D_HEIGHT), 0, CUDA_ARRAY3D_SURFACE_LDST);
    most(SURFACE(3D_WIDTH), SURFACE(3D_HEIGHT), SURFACE(3D_DEPTH), CUDA_ARRAY3D_SURFACE_LDST);
    const CUarray_format u8 = CU_AD_FORMAT_UNSIGNED_INT8; /* deep ones may be deeper where they are narrow */
    OK(try(16384, 1, 1, u8, 1, 0));
    OK(try(1, 1, 32768, u8, 1, 0));
    OK(try(8193, 1, 2, u8, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(8193, 1, 16385, u8, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(16385, 1, 1, u8, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(1, 1, 32769, u8, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, try((size_t)1 << 32, 0, 0, u8, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, try((size_t)1 << 40, (size_t)1 << 40, 0, u8, 1, 0));
}

/* ---- Mipmaps ----------------------------------------------------------------------------------------------------- */

static void levels(size_t width, size_t height, size_t depth, unsigned flags, unsigned asked, unsigned given) {
    CUmipmappedArray mipmap;
    CUarray level, again;
    CUDA_ARRAY3D_DESCRIPTOR about = {width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 4, flags};
    const bool layers = flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    OK(cuMipmappedArrayCreate(&mipmap, &about, asked));
    for (unsigned i = 0; i < given; i++) {
        OK(cuMipmappedArrayGetLevel(&level, mipmap, i));
        OK(cuMipmappedArrayGetLevel(&again, mipmap, i));
        EXPECT(level == again);
        OK(cuArray3DGetDescriptor_v2(&about, level));
        EXPECT(about.Width == (width >> i ? width >> i : 1) && about.Flags == flags && about.NumChannels == 4);
        EXPECT(about.Height == (height && !(height >> i) ? 1 : height >> i));
        EXPECT(about.Depth == (layers ? depth : depth && !(depth >> i) ? 1 : depth >> i));
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, given));
    OK(cuMipmappedArrayDestroy(mipmap));
}

static void mipmaps(void) {
    levels(16, 8, 0, 0, 0, 1);
    levels(16, 8, 0, 0, 3, 3);
    levels(16, 8, 0, CUDA_ARRAY3D_SURFACE_LDST, 99, 5);
    levels(16, 0, 0, 0, 9, 5);
    levels(7, 5, 3, 0, 9, 3);
    levels(7, 0, 4, CUDA_ARRAY3D_LAYERED, 9, 3);
    levels(8, 8, 6, CUDA_ARRAY3D_CUBEMAP, 9, 4);
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR about = {32769, 2, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&mipmap, &about, 2));
    about.Width = 32768;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(NULL, &about, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&mipmap, NULL, 2));
    OK(cuMipmappedArrayCreate(&mipmap, &about, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(NULL, mipmap, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayGetLevel(&level, NULL, 0));
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetMemoryRequirements(&needs, mipmap, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetSparseProperties(&sparse, mipmap));
    OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    OK(cuArrayDestroy(level));
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
        OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    }
    OK(cuMipmappedArrayDestroy(mipmap));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(NULL));
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

enum { ROW = 64, ROWS = 8, LAYERS = 4, BYTES = ROW * ROWS * LAYERS };

/* An array, and what should be in it. */
typedef struct texels {
    CUarray array;
    size_t width, rows, layers; /* bytes of a row */
    unsigned char model[BYTES];
} texels;

static unsigned char bytes[BYTES];
static CUdeviceptr device; /* with the same */

static texels new_texels(size_t height, size_t depth, CUarray_format format, unsigned channels, unsigned flags) {
    texels made = {.width = ROW, .rows = height ? height : 1, .layers = depth ? depth : 1};
    const size_t texel = (format == CU_AD_FORMAT_FLOAT ? 4 : 1) * channels;
    OK(make(&made.array, ROW / texel, height, depth, format, channels, flags));
    return made;
}

static CUDA_MEMCPY3D whole(const texels *t, void *host) {
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = t->array,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = host,
                           .dstPitch = t->width,
                           .dstHeight = t->rows,
                           .WidthInBytes = t->width,
                           .Height = t->rows,
                           .Depth = t->layers};
}

static void compare_at(int line, const texels *t) {
    static unsigned char got[BYTES];
    const CUDA_MEMCPY3D all = whole(t, got);
    OK(cuMemcpy3D_v2(&all));
    if (memcmp(got, t->model, t->width * t->rows * t->layers)) faults++, printf("line %d: it differs\n", line);
}
#define COMPARE(t) compare_at(__LINE__, t)

static void clear(texels *t) {
    static const unsigned char nothing[BYTES];
    memset(t->model, 0, sizeof t->model);
    const CUDA_MEMCPY3D all = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                               .dstArray = t->array,
                               .srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = nothing,
                               .srcPitch = t->width,
                               .srcHeight = t->rows,
                               .WidthInBytes = t->width,
                               .Height = t->rows,
                               .Depth = t->layers};
    OK(cuMemcpy3D_v2(&all));
}

/* Bytes of the first row. */
static void lines(void) {
    unsigned char got[ROW] = {0};
    texels line = new_texels(0, 0, CU_AD_FORMAT_FLOAT, 1, 0), flat = new_texels(ROWS, 0, CU_AD_FORMAT_FLOAT, 1, 0),
           other = new_texels(ROWS, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0),
           layers = new_texels(0, LAYERS, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    clear(&line), clear(&flat), clear(&other), clear(&layers);
    OK(cuMemcpyHtoA_v2(line.array, 0, bytes, ROW));
    OK(cuMemcpyHtoA_v2(line.array, 8, bytes, 16));
    OK(cuMemcpyHtoA_v2(line.array, 2, bytes, 6)); /* texels do not matter */
    memcpy(line.model, bytes, ROW), memcpy(line.model + 8, bytes, 16), memcpy(line.model + 2, bytes, 6);
    COMPARE(&line);
    OK(cuMemcpyAtoH_v2(got, line.array, 4, ROW - 4));
    EXPECT(!memcmp(got, line.model + 4, ROW - 4));
    OK(cuMemcpyDtoA_v2(line.array, 0, device + 3, ROW));
    memcpy(line.model, bytes + 3, ROW);
    COMPARE(&line);
    OK(cuMemcpyAtoA_v2(line.array, 16, line.array, 0, 16));
    memcpy(line.model + 16, line.model, 16);
    COMPARE(&line);
    OK(cuMemcpyAtoA_v2(flat.array, 0, line.array, 0, ROW));
    OK(cuMemcpyAtoA_v2(other.array, 4, flat.array, 8, 32));
    memcpy(flat.model, line.model, ROW), memcpy(other.model + 4, line.model + 8, 32);
    COMPARE(&flat), COMPARE(&other);
    CUdeviceptr out;
    OK(cuMemAlloc_v2(&out, ROW));
    OK(cuMemcpyAtoD_v2(out, line.array, 4, 32));
    OK(cuMemcpyDtoH_v2(got, out, 32));
    EXPECT(!memcmp(got, line.model + 4, 32));
    OK(cuMemFree_v2(out));
    OK(cuMemcpyHtoAAsync_v2(layers.array, 0, bytes, ROW, NULL));
    OK(cuMemcpyAtoHAsync_v2(got, layers.array, 0, ROW, NULL));
    OK(cuCtxSynchronize());
    memcpy(layers.model, bytes, ROW);
    COMPARE(&layers);
    EXPECT(!memcmp(got, bytes, ROW));
    OK(cuMemcpyHtoA_v2(line.array, 0, bytes, 0));
    OK(cuMemcpyHtoA_v2(NULL, 0, bytes, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(NULL, 0, bytes, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(line.array, 0, NULL, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(line.array, 4, bytes, ROW));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(flat.array, 8, bytes, 100)); /* rows do not follow each other */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(flat.array, ROW, bytes, ROW));
    COMPARE(&line), COMPARE(&flat);
    texels *all[] = {&line, &flat, &other, &layers};
    for (int i = 0; i < 4; i++) OK(cuArrayDestroy(all[i]->array));
}

/* A box to an array, and to its model if that can be. */
static CUresult put_from(unsigned from, texels *t, size_t x, size_t y, size_t z, size_t width, size_t rows,
                         size_t layers) {
    const CUDA_MEMCPY3D box = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                               .dstArray = t->array,
                               .dstXInBytes = x,
                               .dstY = y,
                               .dstZ = z,
                               .srcMemoryType = from,
                               .srcDevice = device,
                               .srcHost = bytes,
                               .srcPitch = ROW,
                               .srcHeight = ROWS,
                               .WidthInBytes = width,
                               .Height = rows,
                               .Depth = layers};
    const CUresult result = cuMemcpy3D_v2(&box);
    for (size_t k = 0; !result && k < layers; k++)
        for (size_t j = 0; j < rows; j++)
            memcpy(&t->model[((z + k) * t->rows + y + j) * ROW + x], &bytes[(k * ROWS + j) * ROW], width);
    return result;
}

static CUresult put(texels *t, size_t x, size_t y, size_t z, size_t width, size_t rows, size_t layers) {
    return put_from(CU_MEMORYTYPE_DEVICE, t, x, y, z, width, rows, layers);
}

static void boxes(void) {
    texels line = new_texels(0, 0, CU_AD_FORMAT_FLOAT, 1, 0), flat = new_texels(ROWS, 0, CU_AD_FORMAT_FLOAT, 1, 0),
           box = new_texels(ROWS, LAYERS, CU_AD_FORMAT_FLOAT, 1, 0),
           lines = new_texels(0, LAYERS, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED),
           sheets = new_texels(ROWS, LAYERS, CU_AD_FORMAT_FLOAT, 4, CUDA_ARRAY3D_LAYERED);
    texels *all[] = {&line, &flat, &box, &lines, &sheets};
    for (int i = 0; i < 5; i++) clear(all[i]);
    OK(put(&flat, 0, 0, 0, 64, 8, 1));
    OK(put(&flat, 8, 2, 0, 16, 3, 1));
    OK(put(&flat, 2, 0, 0, 6, 1, 1));
    OK(put(&flat, 640, 0, 0, 0, 1, 1)); /* nothing */
    OK(put(&line, 0, 0, 0, 64, 1, 1));
    OK(put(&line, 0, 0, 0, 64, 0, 0));
    OK(put(&box, 0, 0, 0, 64, 8, 4));
    OK(put(&box, 4, 1, 1, 8, 2, 2));
    OK(put_from(CU_MEMORYTYPE_HOST, &lines, 0, 0, 0, 64, 1, 4));
    OK(put(&lines, 0, 0, 2, 64, 1, 1));
    OK(put(&sheets, 0, 0, 1, 64, 8, 3));
    OK(put(&sheets, 16, 0, 0, 32, 8, 1));
    static const size_t wrong[][7] = {{1, 4, 0, 0, 64, 1, 1}, {1, 0, 1, 0, 64, 8, 1}, {1, 0, 0, 1, 64, 1, 1},
                                      {1, 0, 0, 0, 64, 1, 2}, {0, 0, 1, 0, 64, 1, 1}, {0, 0, 0, 0, 64, 2, 1},
                                      {2, 0, 0, 1, 64, 8, 4}, {3, 0, 0, 0, 64, 4, 1}, {3, 0, 2, 0, 64, 1, 1},
                                      {4, 0, 0, 4, 64, 8, 1}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        GIVES(CUDA_ERROR_INVALID_VALUE,
              put(all[wrong[i][0]], wrong[i][1], wrong[i][2], wrong[i][3], wrong[i][4], wrong[i][5], wrong[i][6]));
    for (int i = 0; i < 5; i++) COMPARE(all[i]);
    /* Between arrays, whatever their texels are; what is said of pitches means nothing. */
    CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = flat.array,
                       .srcPitch = 3,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = sheets.array,
                       .dstPitch = 7,
                       .WidthInBytes = 64,
                       .Height = 8};
    OK(cuMemcpy2D_v2(&r));
    memcpy(sheets.model, flat.model, ROW * ROWS);
    r.srcArray = sheets.array, r.dstArray = flat.array, r.dstXInBytes = 16, r.dstY = 4, r.WidthInBytes = 32,
    r.Height = 4;
    OK(cuMemcpy2D_v2(&r));
    for (int y = 0; y < 4; y++) memcpy(&flat.model[(4 + y) * ROW + 16], &sheets.model[y * ROW], 32);
    r.dstMemoryType = CU_MEMORYTYPE_UNIFIED, r.dstDevice = device, r.dstPitch = 16;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D_v2(&r));
    CUDA_MEMCPY3D b = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = box.array,
                       .srcLOD = 1,
                       .Height = 1,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = flat.array,
                       .WidthInBytes = 4,
                       .Depth = 1};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&b));
    for (int i = 0; i < 5; i++) COMPARE(all[i]);
    for (int i = 0; i < 5; i++) OK(cuArrayDestroy(all[i]->array));
}

/* Levels of a mipmap are apart from each other. */
static void copies_of_levels(void) {
    CUmipmappedArray mipmap;
    CUarray level[3];
    unsigned char got[16 * 8 * 4];
    OK(cuMipmappedArrayCreate(&mipmap, &(CUDA_ARRAY3D_DESCRIPTOR){16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, 3));
    for (unsigned i = 0; i < 3; i++) {
        OK(cuMipmappedArrayGetLevel(&level[i], mipmap, i));
        const CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                 .srcHost = bytes + 7 * i,
                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .dstArray = level[i],
                                 .WidthInBytes = 64u >> i,
                                 .Height = 8u >> i};
        OK(cuMemcpy2D_v2(&r));
    }
    for (unsigned i = 0; i < 3; i++) {
        const CUDA_MEMCPY2D r = {.dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = got,
                                 .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .srcArray = level[i],
                                 .WidthInBytes = 64u >> i,
                                 .Height = 8u >> i};
        OK(cuMemcpy2D_v2(&r));
        EXPECT(!memcmp(got, bytes + 7 * i, (64u >> i) * (8u >> i)));
    }
    OK(cuMipmappedArrayDestroy(mipmap));
}

/* ---- Later ------------------------------------------------------------------------------------------------------- */

static void graphs(void) {
    texels flat = new_texels(ROWS, 0, CU_AD_FORMAT_FLOAT, 1, 0), line = new_texels(0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUgraph graph;
    CUgraphNode node, nodes[4];
    CUgraphExec exec;
    CUstream stream;
    clear(&flat), clear(&line);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = bytes,
                         .srcPitch = ROW,
                         .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                         .dstArray = flat.array,
                         .dstY = 1,
                         .WidthInBytes = ROW,
                         .Height = 4,
                         .Depth = 1};
    CUDA_MEMCPY3D got;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &box, context));
    OK(cuGraphMemcpyNodeGetParams(node, &got));
    EXPECT(got.dstMemoryType == CU_MEMORYTYPE_ARRAY && got.dstArray == flat.array && got.dstY == 1 &&
           got.WidthInBytes == ROW && got.Height == 4 && got.srcHost == (void *)bytes);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    memcpy(flat.model + ROW, bytes, 4 * ROW);
    COMPARE(&flat);
    box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = device, box.dstPitch = ROW;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, node, &box, context));
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY, box.dstArray = NULL;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(node, &box));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    /* What is captured becomes nodes. */
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemcpyHtoAAsync_v2(line.array, 4, bytes + 1, 32, stream));
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = device,
                                .srcPitch = ROW,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = flat.array,
                                .dstXInBytes = 8,
                                .dstY = 2,
                                .WidthInBytes = 32,
                                .Height = 5};
    OK(cuMemcpy2DAsync_v2(&rows, stream));
    OK(cuStreamEndCapture(stream, &graph));
    size_t count = 4;
    OK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 2);
    for (size_t i = 0; i < count; i++) {
        OK(cuGraphMemcpyNodeGetParams(nodes[i], &got));
        EXPECT(got.dstMemoryType == CU_MEMORYTYPE_ARRAY && got.Depth == 1);
        if (got.dstArray == line.array) EXPECT(got.dstXInBytes == 4 && got.WidthInBytes == 32 && got.Height == 1);
        else EXPECT(got.dstXInBytes == 8 && got.dstY == 2 && got.WidthInBytes == 32 && got.Height == 5);
    }
    COMPARE(&line), COMPARE(&flat);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    memcpy(line.model + 4, bytes + 1, 32);
    for (int y = 0; y < 5; y++) memcpy(&flat.model[(2 + y) * ROW + 8], &bytes[y * ROW], 32);
    COMPARE(&line), COMPARE(&flat);
    OK(cuArrayDestroy(flat.array));
    OK(cuArrayDestroy(line.array));
    if (ours) { /* the graph has them as long as it lives */
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(stream));
}

/* A batch counts texels of its arrays. */
static void batches(void) {
    texels flat = new_texels(ROWS, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUstream stream;
    clear(&flat);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUDA_MEMCPY3D_BATCH_OP op = {
        .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = device, .rowLength = 16, .layerHeight = 8}},
        .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {.array = flat.array, .offset = {2, 1, 0}}},
        .extent = {5, 3, 1},
        .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    OK(cuStreamSynchronize(stream));
    for (int y = 0; y < 3; y++) memcpy(&flat.model[(1 + y) * ROW + 8], &bytes[y * ROW], 20);
    COMPARE(&flat);
    op.dst.op.array.offset.x = 12;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    COMPARE(&flat);
    OK(cuStreamDestroy_v2(stream));
    OK(cuArrayDestroy(flat.array));
}

/* ---- What is none ------------------------------------------------------------------------------------------------ */

static void handles(void) {
    CUarray array, plane;
    CUDA_ARRAY_DESCRIPTOR flat = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR all = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayCreate_v2(NULL, &flat));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayCreate_v2(&array, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(NULL, &all));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&array, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayGetDescriptor_v2(&flat, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&all, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayGetPlane(&plane, NULL, 0));
    OK(cuArrayCreate_v2(&array, &flat));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayGetDescriptor_v2(NULL, array));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DGetDescriptor_v2(NULL, array));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayGetPlane(&plane, array, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayGetMemoryRequirements(&needs, array, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayGetSparseProperties(&sparse, array));
    OK(cuArrayDestroy(array));
    if (!ours) return;
    void *none[] = {array, context, (void *)8, bytes};
    for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(none[i]));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(none[i]));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&all, none[i]));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(none[i], 0, bytes, 4));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoA_v2(none[i], 0, none[i], 0, 4));
    }
}

/* Memory comes back, with an array or with its context. */
static void memory(void) {
    size_t before, between, after, total;
    CUarray array;
    CUmipmappedArray mipmap;
    CUcontext other;
    OK(cuMemGetInfo_v2(&before, &total));
    OK(make(&array, 1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0));
    OK(cuMemGetInfo_v2(&between, &total));
    EXPECT(before - between >= 16 << 20);
    OK(cuArrayDestroy(array));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(after == before);
    if (!ours) return;
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(make(&array, 1024, 1024, 0, CU_AD_FORMAT_FLOAT, 4, 0));
    OK(cuMipmappedArrayCreate(&mipmap, &(CUDA_ARRAY3D_DESCRIPTOR){512, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 4));
    OK(cuMipmappedArrayGetLevel(&array, mipmap, 2));
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(after == before);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
}

int main(void) {
    OK(cuInit(0));
    ours = is_ours();
    CUarray array;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuArrayCreate_v2(&array, &(CUDA_ARRAY_DESCRIPTOR){8, 8, CU_AD_FORMAT_FLOAT, 1}));
    OK(cuCtxCreate_v2(&context, 0, 0));
    for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * 7 + i / 256 + 1);
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(cuMemcpyHtoD_v2(device, bytes, BYTES));
    formats();
    kinds();
    sizes();
    mipmaps();
    lines();
    boxes();
    copies_of_levels();
    graphs();
    batches();
    handles();
    memory();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
