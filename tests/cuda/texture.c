/* texture.c: texture and surface objects, and references of modules: what can be made, what is said of it,
 * what kernels read by it.
 *
 * Like driver.c it knows nothing of Lanewise, and can be run with a GPU's driver: what is expected is what an H200's
 * (580.159.04) gave, but where that checks nothing and the description says what is right. */
#include "expect.h"

#include <stdlib.h>

enum { WIDTH = 16, HEIGHT = 8, BYTES = 1 << 16 };

static bool ours;
static CUcontext context;
static CUdeviceptr device;

static CUarray make(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                    unsigned flags) {
    CUarray array = NULL;
    OK(cuArray3DCreate_v2(&array, &(CUDA_ARRAY3D_DESCRIPTOR){width, height, depth, format, channels, flags}));
    return array;
}

static CUmipmappedArray make_mipmap(unsigned levels) {
    CUmipmappedArray mipmap = NULL;
    OK(cuMipmappedArrayCreate(&mipmap, &(CUDA_ARRAY3D_DESCRIPTOR){WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, 0}, levels));
    return mipmap;
}

static CUDA_RESOURCE_DESC of_array(CUarray array) {
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
}

static CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray mipmap) {
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = mipmap};
}

static CUDA_RESOURCE_DESC linear(CUdeviceptr at, CUarray_format format, unsigned channels, size_t bytes) {
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR, .res.linear = {at, format, channels, bytes}};
}

static CUDA_RESOURCE_DESC pitched(CUdeviceptr at, CUarray_format format, unsigned channels, size_t width, size_t height,
                                  size_t pitch) {
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                .res.pitch2D = {at, format, channels, width, height, pitch}};
}

/* ---- Texture objects --------------------------------------------------------------------------------------------- */

/* Gives the result, and takes back what was made. */
static CUresult try(CUDA_RESOURCE_DESC resource, const CUDA_TEXTURE_DESC *about, const CUDA_RESOURCE_VIEW_DESC *view) {
    CUtexObject texture = 0;
    CUDA_RESOURCE_DESC given;
    CUDA_TEXTURE_DESC how;
    CUDA_RESOURCE_VIEW_DESC what;
    const CUresult result = cuTexObjectCreate(&texture, &resource, about, view);
    if (result) return result;
    EXPECT(texture);
    OK(cuTexObjectGetResourceDesc(&given, texture));
    EXPECT(given.resType == resource.resType && !given.flags);
    if (given.resType == CU_RESOURCE_TYPE_ARRAY) EXPECT(given.res.array.hArray == resource.res.array.hArray);
    if (given.resType == CU_RESOURCE_TYPE_LINEAR)
        EXPECT(given.res.linear.devPtr == resource.res.linear.devPtr &&
               given.res.linear.sizeInBytes == resource.res.linear.sizeInBytes);
    OK(cuTexObjectGetTextureDesc(&how, texture));
    EXPECT(how.filterMode == about->filterMode && how.flags == about->flags &&
           how.addressMode[0] == about->addressMode[0] && how.maxAnisotropy == about->maxAnisotropy &&
           how.maxMipmapLevelClamp == about->maxMipmapLevelClamp);
    OK(cuTexObjectGetResourceViewDesc(&what, texture));
    if (view) EXPECT(what.format == view->format && what.lastLayer == view->lastLayer);
    else if (ours) EXPECT(!what.format && !what.width && !what.lastLayer); /* an H200's driver says anything */
    OK(cuTexObjectDestroy(texture));
    return CUDA_SUCCESS;
}

static void samplers(void) {
    const CUarray f32 = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, 0),
                  u8 = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0),
                  s32 = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0),
                  unorm = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0),
                  cube = make(8, 8, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP),
                  layers = make(WIDTH, HEIGHT, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    CUDA_TEXTURE_DESC t = {0};
    OK(try(of_array(f32), &t, NULL));
    OK(try(of_array(u8), &t, NULL));
    OK(try(of_array(s32), &t, NULL));
    OK(try(of_array(layers), &t, NULL));
    for (unsigned flags = 1; flags < 0x40; flags *= 2) {
        t.flags = flags;
        OK(try(of_array(f32), &t, NULL));
        OK(try(of_array(s32), &t, NULL));
        OK(try(of_array(u8), &t, NULL));
    }
    t.flags = 0x80;
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    t.flags = CU_TRSF_SEAMLESS_CUBEMAP;
    OK(try(of_array(cube), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(layers), &t, NULL));
    t = (CUDA_TEXTURE_DESC){.filterMode = CU_TR_FILTER_MODE_LINEAR, .maxAnisotropy = 99, .maxMipmapLevelClamp = 2};
    OK(try(of_array(f32), &t, NULL));
    OK(try(of_array(u8), &t, NULL));
    t.flags = CU_TRSF_READ_AS_INTEGER;
    OK(try(of_array(unorm), &t, NULL));
    OK(try(of_array(u8), &t, NULL));
    t.filterMode = 2;
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    t = (CUDA_TEXTURE_DESC){.mipmapFilterMode = 2};
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    for (unsigned mode = 0; mode < 6; mode++) {
        t = (CUDA_TEXTURE_DESC){.addressMode = {mode, CU_TR_ADDRESS_MODE_CLAMP, mode % 4}};
        GIVES(mode < 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    }
    t = (CUDA_TEXTURE_DESC){.addressMode[2] = 9}; /* which a flat one does not have */
    OK(try(of_array(f32), &t, NULL));
    t = (CUDA_TEXTURE_DESC){.reserved[3] = 1};
    GIVES(CUDA_ERROR_INVALID_VALUE, try(of_array(f32), &t, NULL));
    const CUarray all[] = {f32, u8, s32, unorm, cube, layers};
    for (int i = 0; i < 6; i++) OK(cuArrayDestroy(all[i]));
}

static void memory(void) {
    const CUDA_TEXTURE_DESC t = {0};
    const CUarray_format f32 = CU_AD_FORMAT_FLOAT, u8 = CU_AD_FORMAT_UNSIGNED_INT8;
    OK(try(linear(device, f32, 1, 4096), &t, NULL));
    OK(try(linear(device + 512, f32, 1, 4096), &t, NULL));
    OK(try(linear(device, f32, 1, 6), &t, NULL));
    OK(try(linear(device, f32, 1, (size_t)1 << 30), &t, NULL));
    OK(try(linear(device, f32, 4, (size_t)1 << 32), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device + 4, f32, 1, 4096), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device + 32, f32, 1, 4096), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(0, f32, 1, 4096), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device, f32, 3, 4096), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device, 0, 1, 4096), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device, CU_AD_FORMAT_UNORM_INT8X4, 4, 4096), &t, NULL));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, try(linear(device, f32, 4, ((size_t)1 << 32) + 16), &t, NULL));
    const CUDA_TEXTURE_DESC odd = {.addressMode = {3}, .filterMode = 1, .flags = 2}; /* of no meaning there */
    OK(try(linear(device, f32, 1, 4096), &odd, NULL));
    OK(try(pitched(device, f32, 1, WIDTH, HEIGHT, 64), &t, NULL));
    OK(try(pitched(device, f32, 1, WIDTH, HEIGHT, 96), &t, NULL));
    OK(try(pitched(device, u8, 1, WIDTH, HEIGHT, 2097120), &t, NULL));
    OK(try(pitched(device, u8, 1, 131072, 1, 131072), &t, NULL));
    OK(try(pitched(device, u8, 1, 1, 65000, 32), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, f32, 1, WIDTH, HEIGHT, 80), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device + 32, f32, 1, WIDTH, HEIGHT, 64), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, f32, 3, WIDTH, HEIGHT, 64), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, u8, 1, 131073, 1, 131104), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, u8, 1, 1, 65001, 32), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, u8, 1, WIDTH, HEIGHT, 2097152), &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, f32, 1, 1, 1, 4), &t, NULL));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, try(pitched(device, f32, 1, WIDTH, HEIGHT, 32), &t, NULL));
    static const struct {
        CUarray_format format;
        unsigned channels;
        size_t width;
    } rows[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1, 1 << 30}, {CU_AD_FORMAT_SIGNED_INT8, 4, 1 << 30},
                {CU_AD_FORMAT_HALF, 2, 1 << 30},          {CU_AD_FORMAT_UNSIGNED_INT16, 4, 1 << 29},
                {CU_AD_FORMAT_FLOAT, 1, 1 << 30},         {CU_AD_FORMAT_SIGNED_INT32, 2, 1 << 29},
                {CU_AD_FORMAT_FLOAT, 4, 1 << 28}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t width = 7;
        OK(cuDeviceGetTexture1DLinearMaxWidth(&width, rows[i].format, rows[i].channels, 0));
        EXPECT(width == rows[i].width);
        GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetTexture1DLinearMaxWidth(&width, rows[i].format, 3, 0));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetTexture1DLinearMaxWidth(&width, 0, rows[i].channels, 0));
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetTexture1DLinearMaxWidth(&(size_t){0}, CU_AD_FORMAT_FLOAT, 1, 99));
}

static void views(void) {
    const CUarray flat = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, 0),
                  layers = make(WIDTH, HEIGHT, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED),
                  cube = make(8, 8, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP),
                  box = make(WIDTH, HEIGHT, 4, CU_AD_FORMAT_FLOAT, 4, 0);
    const CUmipmappedArray mipmap = make_mipmap(3);
    const CUDA_RESOURCE_DESC of[] = {of_array(flat), of_mipmap(mipmap), of_array(layers), of_array(cube),
                                     of_array(box)};
    const CUDA_TEXTURE_DESC t = {.flags = CU_TRSF_NORMALIZED_COORDINATES};
    static const struct {
        unsigned of, format;
        size_t width, height, depth;
        unsigned levels[2], layers[2];
        bool good;
    } rows[] = {
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {0, 0}, {0, 0}, true},
        {0, CU_RES_VIEW_FORMAT_UINT_1X32, 16, 8, 0, {0, 0}, {0, 0}, true},
        {0, CU_RES_VIEW_FORMAT_UINT_4X8, 16, 8, 0, {0, 0}, {0, 0}, true},
        {0, 0, 16, 8, 0, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_UINT_2X32, 16, 8, 0, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_UINT_1X8, 16, 8, 0, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 8, 0, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 1, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 0, 0, 0, {0, 0}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {0, 1}, {0, 0}, false},
        {0, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {0, 0}, {1, 1}, false},
        {0, 0x23, 16, 8, 0, {0, 0}, {0, 0}, false},
        {1, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {0, 2}, {0, 0}, true},
        {1, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {1, 2}, {0, 0}, true},
        {1, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {0, 3}, {0, 0}, true},
        {1, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 0, {2, 1}, {0, 0}, false},
        {1, CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 4, 0, {1, 2}, {0, 0}, false},
        {2, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 4, {0, 0}, {0, 3}, true},
        {2, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 4, {0, 0}, {1, 2}, true},
        {2, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 4, {0, 0}, {0, 4}, true},
        {2, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 4, {0, 0}, {3, 1}, false},
        {2, CU_RES_VIEW_FORMAT_FLOAT_1X32, 16, 8, 2, {0, 0}, {1, 2}, false},
        {3, CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 8, 6, {0, 0}, {0, 0}, true},
        {3, CU_RES_VIEW_FORMAT_FLOAT_1X32, 8, 8, 6, {0, 0}, {0, 5}, false},
        {4, CU_RES_VIEW_FORMAT_FLOAT_4X32, 16, 8, 4, {0, 0}, {0, 0}, true},
        {4, CU_RES_VIEW_FORMAT_FLOAT_4X32, 16, 8, 4, {0, 0}, {0, 3}, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const CUDA_RESOURCE_VIEW_DESC view = {.format = rows[i].format,
                                              .width = rows[i].width,
                                              .height = rows[i].height,
                                              .depth = rows[i].depth,
                                              .firstMipmapLevel = rows[i].levels[0],
                                              .lastMipmapLevel = rows[i].levels[1],
                                              .firstLayer = rows[i].layers[0],
                                              .lastLayer = rows[i].layers[1]};
        const CUresult got = try(of[rows[i].of], &t, &view);
        if (got != (rows[i].good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
            faults++, printf("view %u: %s\n", i, result_name(got));
    }
    OK(cuArrayDestroy(flat));
    OK(cuArrayDestroy(layers));
    OK(cuArrayDestroy(cube));
    OK(cuArrayDestroy(box));
    OK(cuMipmappedArrayDestroy(mipmap));
}

static void objects(void) {
    CUtexObject texture;
    CUsurfObject surface;
    CUarray flat = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST), level;
    CUmipmappedArray mipmap = make_mipmap(3);
    CUDA_TEXTURE_DESC t = {0};
    CUDA_RESOURCE_DESC r = of_array(flat), got;
    CUDA_RESOURCE_VIEW_DESC view;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(NULL, &r, &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, NULL, &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, NULL, NULL));
    r.flags = 1;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, &t, NULL));
    r = of_array(NULL);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, &t, NULL));
    r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, &t, NULL));
    r.resType = 4;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, &t, NULL));
    r = of_array(flat);
    OK(cuTexObjectCreate(&texture, &r, &t, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(NULL, texture));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(NULL, texture));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(NULL, texture));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(&got, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&t, 0));
    OK(cuTexObjectDestroy(0));
    OK(cuSurfObjectCreate(&surface, &r));
    OK(cuSurfObjectGetResourceDesc(&got, surface));
    EXPECT(got.resType == CU_RESOURCE_TYPE_ARRAY && got.res.array.hArray == flat);
    if (ours) { /* of the other kind, ended, and none */
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(texture));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(surface));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&view, surface));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(NULL, &r));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, NULL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(NULL, surface));
        const CUDA_RESOURCE_DESC none[] = {of_mipmap(mipmap), linear(device, CU_AD_FORMAT_FLOAT, 1, 4096)};
        for (int i = 0; i < 2; i++) GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&(CUsurfObject){0}, &none[i]));
    }
    OK(cuSurfObjectDestroy(surface));
    OK(cuSurfObjectDestroy(0));
    OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    r = of_array(level);
    OK(cuTexObjectCreate(&(CUtexObject){0}, &r, &t, NULL)); /* goes with its context */
    OK(cuArrayDestroy(flat));                               /* under its texture */
    OK(cuTexObjectDestroy(texture));
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&t, texture));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(surface));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(0x123456789abc));
        r = of_array(flat);
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &r, &t, NULL));
    }
    OK(cuMipmappedArrayDestroy(mipmap));
}

/* ---- References -------------------------------------------------------------------------------------------------- */

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".global .texref image;\n.global .surfref area;\n.global .u32 word;\n"
                          ".visible .entry nothing()\n{\nret;\n}\n";

static void named(CUmodule module) {
    CUtexref texture, again;
    CUsurfref surface;
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "none"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "word"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "area"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetSurfRef(&surface, module, "image"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleGetTexRef(NULL, module, "image"));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleGetTexRef(&texture, module, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetTexRef(&texture, NULL, "image"));
    OK(cuModuleGetTexRef(&texture, module, "image"));
    OK(cuModuleGetTexRef(&again, module, "image"));
    EXPECT(texture == again);
    OK(cuModuleGetSurfRef(&surface, module, "area"));
}

/* As new ones are, in all that can be asked. */
static void fresh(CUtexref t) {
    CUdeviceptr address;
    CUarray array;
    CUmipmappedArray mipmap;
    CUaddress_mode mode;
    CUfilter_mode filter, mip;
    CUarray_format format;
    int channels, aniso;
    unsigned flags;
    float bias, least, border[4], largest;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetAddress_v2(&address, t));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetArray(&array, t));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMipmappedArray(&mipmap, t));
    for (int i = 0; i < 3; i++) {
        OK(cuTexRefGetAddressMode(&mode, t, i));
        EXPECT(mode == CU_TR_ADDRESS_MODE_CLAMP);
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetAddressMode(&mode, t, 3));
    OK(cuTexRefGetFilterMode(&filter, t));
    OK(cuTexRefGetMipmapFilterMode(&mip, t));
    OK(cuTexRefGetFlags(&flags, t));
    OK(cuTexRefGetFormat(&format, &channels, t));
    OK(cuTexRefGetFormat(NULL, NULL, t));
    OK(cuTexRefGetMaxAnisotropy(&aniso, t));
    OK(cuTexRefGetMipmapLevelBias(&bias, t));
    OK(cuTexRefGetMipmapLevelClamp(&least, &largest, t));
    OK(cuTexRefGetBorderColor(border, t));
    EXPECT(filter == CU_TR_FILTER_MODE_POINT && mip == CU_TR_FILTER_MODE_POINT && flags == 0);
    EXPECT(format == CU_AD_FORMAT_FLOAT && channels == 1 && aniso == 0 && bias == 0 && least == 0 && largest == 0);
    EXPECT(border[0] == 0 && border[3] == 0);
}

static void expect_format(CUtexref t, CUarray_format wanted, int channels) {
    CUarray_format format;
    int got;
    OK(cuTexRefGetFormat(&format, &got, t));
    EXPECT(format == wanted && got == channels);
}

static void bound(CUtexref t) {
    const CUarray f32 = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, 0),
                  u8 = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    const CUmipmappedArray mipmap = make_mipmap(3);
    CUarray array;
    CUmipmappedArray mip;
    CUdeviceptr address;
    size_t offset = 77;
    OK(cuTexRefSetArray(t, f32, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefGetArray(&array, t));
    EXPECT(array == f32);
    OK(cuTexRefSetFormat(t, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    OK(cuTexRefSetArray(t, f32, 0));
    expect_format(t, CU_AD_FORMAT_UNSIGNED_INT8, 4); /* as it was set */
    OK(cuTexRefSetArray(t, f32, CU_TRSA_OVERRIDE_FORMAT));
    expect_format(t, CU_AD_FORMAT_FLOAT, 1);
    OK(cuTexRefSetArray(t, u8, CU_TRSA_OVERRIDE_FORMAT));
    expect_format(t, CU_AD_FORMAT_UNSIGNED_INT8, 4);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetArray(t, f32, 2));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefSetArray(t, NULL, CU_TRSA_OVERRIDE_FORMAT));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefSetArray(NULL, f32, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefGetArray(&array, t));
    EXPECT(array == u8);
    OK(cuTexRefSetFormat(t, CU_AD_FORMAT_FLOAT, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFormat(t, CU_AD_FORMAT_FLOAT, 3));
    OK(cuTexRefSetAddress_v2(&offset, t, device, 4096));
    EXPECT(offset == 0);
    OK(cuTexRefGetAddress_v2(&address, t));
    EXPECT(address == device);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetArray(&array, t));
    OK(cuTexRefSetAddress_v2(&offset, t, device + 20, 4096));
    EXPECT(offset == 20);
    OK(cuTexRefSetAddress_v2(&offset, t, device + 512 + 64, 4096));
    EXPECT(offset == 64);
    OK(cuTexRefSetAddress_v2(NULL, t, device, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress_v2(NULL, t, device + 20, 4096));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress_v2(&offset, t, device, (size_t)1 << 40));
    const CUDA_ARRAY_DESCRIPTOR flat = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    OK(cuTexRefSetAddress2D_v3(t, &flat, device, 64));
    OK(cuTexRefGetAddress_v2(&address, t));
    EXPECT(address == device);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v3(t, &flat, device, 32));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v3(t, &flat, device, 80));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v3(t, &flat, device + 32, 64));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v3(t, NULL, device, 64));
    OK(cuTexRefSetMipmappedArray(t, mipmap, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefGetMipmappedArray(&mip, t));
    EXPECT(mip == mipmap);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetAddress_v2(&address, t));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefSetMipmappedArray(t, NULL, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuArrayDestroy(f32));
    OK(cuArrayDestroy(u8));
    OK(cuMipmappedArrayDestroy(mipmap));
}

static void set(CUtexref t) {
    CUaddress_mode mode;
    CUfilter_mode filter;
    unsigned flags;
    int aniso;
    float bias, least, largest, border[] = {1, 2, 3, 4}, got[4];
    OK(cuTexRefSetAddressMode(t, 2, CU_TR_ADDRESS_MODE_BORDER));
    OK(cuTexRefGetAddressMode(&mode, t, 2));
    EXPECT(mode == CU_TR_ADDRESS_MODE_BORDER);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddressMode(t, 3, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddressMode(t, -1, 0));
    OK(cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefGetFilterMode(&filter, t));
    EXPECT(filter == CU_TR_FILTER_MODE_LINEAR);
    OK(cuTexRefSetMipmapFilterMode(t, CU_TR_FILTER_MODE_LINEAR));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMipmapFilterMode(t, 2));
    OK(cuTexRefSetMipmapLevelBias(t, 100));
    OK(cuTexRefGetMipmapLevelBias(&bias, t));
    OK(cuTexRefSetMipmapLevelClamp(t, 3, 2));
    OK(cuTexRefGetMipmapLevelClamp(&least, &largest, t));
    OK(cuTexRefSetMaxAnisotropy(t, 99));
    OK(cuTexRefGetMaxAnisotropy(&aniso, t));
    OK(cuTexRefSetBorderColor(t, border));
    OK(cuTexRefGetBorderColor(got, t));
    EXPECT(bias == 100 && least == 3 && largest == 2 && aniso == 99 && !memcmp(got, border, sizeof got));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetBorderColor(t, NULL));
    for (unsigned f = 1; f < 0x200; f *= 2)
        GIVES(f < 0x40 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, cuTexRefSetFlags(t, f));
    OK(cuTexRefSetFlags(t, CU_TRSF_NORMALIZED_COORDINATES));
    OK(cuTexRefGetFlags(&flags, t));
    EXPECT(flags == CU_TRSF_NORMALIZED_COORDINATES);
    if (!ours) return; /* an H200's driver takes them */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddressMode(t, 0, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFilterMode(t, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFormat(t, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefGetFlags(NULL, t));
}

static void surfaces(CUmodule module) {
    CUsurfref surface;
    CUarray got = NULL, with = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST),
            without = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    OK(cuModuleGetSurfRef(&surface, module, "area"));
    OK(cuSurfRefSetArray(surface, with, 0));
    OK(cuSurfRefGetArray(&got, surface));
    EXPECT(got == with);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfRefSetArray(surface, without, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfRefSetArray(surface, with, 1));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuSurfRefSetArray(surface, NULL, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuSurfRefSetArray(NULL, with, 0));
    OK(cuSurfRefGetArray(&got, surface));
    EXPECT(got == with);
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfRefGetArray(NULL, surface));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuSurfRefSetArray(surface, (CUarray)context, 0));
    }
    OK(cuArrayDestroy(with));
    OK(cuArrayDestroy(without));
}

static void references(void) {
    CUmodule module;
    CUfunction function;
    CUtexref texture, created;
    OK(cuModuleLoadData(&module, ptx));
    named(module);
    OK(cuModuleGetTexRef(&texture, module, "image"));
    OK(cuTexRefCreate(&created));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefCreate(NULL));
    fresh(texture), fresh(created);
    bound(texture), bound(created);
    set(texture), set(created);
    surfaces(module);
    OK(cuModuleGetFunction(&function, module, "nothing"));
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetTexRef(function, 0, texture));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuParamSetTexRef(NULL, CU_PARAM_TR_DEFAULT, texture));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexRefDestroy(texture));
        OK(cuTexRefDestroy(created));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefDestroy(created));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefSetFlags(created, 0));
    }
    OK(cuModuleUnload(module));
    if (ours) GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexRefSetFlags(texture, 0));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* Each of eight threads reads, or writes, one texel of the row at y = 0.5, by a reference or by an object. */
#define STORE_PTX "mul.wide.u32 %d, %t, 4;\nadd.u64 %o, %o, %d;\nst.global.f32 [%o], %a0;\nret;\n}\n"
#define BEGIN_PTX \
    ".reg .b64 %o, %d, %h;\n.reg .b32 %t, %z;\n.reg .f32 %x, %y, %a<4>;\n" \
    "mov.u32 %t, %tid.x;\ncvt.rn.f32.u32 %x, %t;\nmov.f32 %y, 0f3f000000;\nmov.u32 %z, 0;\n"

static const char kernels_ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.global .texref image;\n.global .surfref area;\n"
    ".visible .entry by_reference(.param .u64 out)\n{\n" BEGIN_PTX "ld.param.u64 %o, [out];\n"
    "tex.2d.v4.f32.f32 {%a0, %a1, %a2, %a3}, [image, {%x, %y}];\n" STORE_PTX
    ".visible .entry by_number(.param .u64 out)\n{\n" BEGIN_PTX "ld.param.u64 %o, [out];\n"
    "tex.1d.v4.f32.s32 {%a0, %a1, %a2, %a3}, [image, {%t}];\n" STORE_PTX
    ".visible .entry on_line(.param .u64 texture, .param .u64 out)\n{\n" BEGIN_PTX
    "ld.param.u64 %h, [texture];\nld.param.u64 %o, [out];\nadd.f32 %x, %x, 0f3f000000;\n"
    "tex.1d.v4.f32.f32 {%a0, %a1, %a2, %a3}, [%h, {%x}];\n" STORE_PTX
    ".visible .entry by_object(.param .u64 texture, .param .u64 out)\n{\n" BEGIN_PTX
    "ld.param.u64 %h, [texture];\nld.param.u64 %o, [out];\n"
    "tex.2d.v4.f32.f32 {%a0, %a1, %a2, %a3}, [%h, {%x, %y}];\n" STORE_PTX
    ".visible .entry to_reference()\n{\n" BEGIN_PTX "shl.b32 %t, %t, 2;\n"
    "sust.b.2d.b32.trap [area, {%t, %z}], {%x};\nret;\n}\n"
    ".visible .entry to_object(.param .u64 surface)\n{\n" BEGIN_PTX "ld.param.u64 %h, [surface];\n"
    "shl.b32 %t, %t, 2;\nadd.f32 %x, %x, 0f42c80000;\nsust.b.2d.b32.trap [%h, {%t, %z}], {%x};\nret;\n}\n";

enum { THREADS = 8 };
static CUdeviceptr out;

static void launch(CUfunction function, void **params) {
    OK(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
}

/* What was read: the first one, and what is between the others. */
static void expect_row(int line, float first, float second, float step) {
    float got[THREADS];
    bool good = true;
    OK(cuMemcpyDtoH_v2(got, out, sizeof got));
    for (int i = 0; i < THREADS; i++) good = good && got[i] == (i ? second + step * (float)(i - 1) : first);
    if (!good) faults++, printf("line %d: %g %g %g … %g\n", line, got[0], got[1], got[2], got[THREADS - 1]);
    OK(cuMemsetD8_v2(out, 0xff, sizeof got));
}
#define EXPECT_ROW(...) expect_row(__LINE__, __VA_ARGS__)

static CUarray filled(float first) {
    float values[WIDTH * HEIGHT];
    CUarray array = make(WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    for (int i = 0; i < WIDTH * HEIGHT; i++) values[i] = (float)i + first;
    const CUDA_MEMCPY2D all = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = values,
                               .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                               .dstArray = array,
                               .WidthInBytes = WIDTH * sizeof(float),
                               .Height = HEIGHT};
    OK(cuMemcpy2D_v2(&all));
    return array;
}

static void read_by_references(CUmodule module, CUarray a, CUarray b) {
    CUtexref texture;
    CUsurfref surface;
    CUfunction read, number, write;
    void *params[] = {&out};
    OK(cuModuleGetTexRef(&texture, module, "image"));
    OK(cuModuleGetSurfRef(&surface, module, "area"));
    OK(cuModuleGetFunction(&read, module, "by_reference"));
    OK(cuModuleGetFunction(&number, module, "by_number"));
    OK(cuModuleGetFunction(&write, module, "to_reference"));
    OK(cuTexRefSetArray(texture, a, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuParamSetTexRef(read, CU_PARAM_TR_DEFAULT, texture));
    launch(read, params);
    EXPECT_ROW(0.25f, 1.25f, 1);
    OK(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_LINEAR));
    launch(read, params);
    EXPECT_ROW(0.25f, 0.75f, 1);
    launch(read, params);
    OK(cuTexRefSetArray(texture, b, CU_TRSA_OVERRIDE_FORMAT)); /* behind a launch, which it does not change */
    EXPECT_ROW(0.25f, 0.75f, 1);
    launch(read, params);
    EXPECT_ROW(64.5f, 65, 1);
    OK(cuTexRefSetFormat(texture, CU_AD_FORMAT_FLOAT, 1));
    const float line[] = {3, 5, 7, 9, 11, 13, 15, 17};
    OK(cuMemcpyHtoD_v2(device, line, sizeof line));
    OK(cuTexRefSetAddress_v2(NULL, texture, device, sizeof line));
    launch(number, params);
    EXPECT_ROW(3, 5, 2);
    OK(cuSurfRefSetArray(surface, b, 0));
    launch(write, NULL);
    OK(cuTexRefSetArray(texture, b, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefSetFilterMode(texture, CU_TR_FILTER_MODE_POINT));
    launch(read, params);
    EXPECT_ROW(0, 1, 1);
}

static void read_by_objects(CUmodule module, CUarray a, CUarray b) {
    CUtexObject textures[2];
    CUsurfObject surface;
    CUfunction read, write;
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    const CUDA_TEXTURE_DESC point = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    const CUDA_RESOURCE_DESC of[] = {of_array(a), of_array(b)};
    OK(cuModuleGetFunction(&read, module, "by_object"));
    OK(cuModuleGetFunction(&write, module, "to_object"));
    for (int i = 0; i < 2; i++) OK(cuTexObjectCreate(&textures[i], &of[i], &point, NULL));
    OK(cuSurfObjectCreate(&surface, &of[1]));
    launch(read, (void *[]){&textures[0], &out});
    EXPECT_ROW(0.25f, 1.25f, 1);
    launch(write, (void *[]){&surface});
    launch(read, (void *[]){&textures[1], &out});
    EXPECT_ROW(100, 101, 1);
    /* What is in an array when a kernel comes to it, in a stream's order. */
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuLaunchKernel(write, 1, 1, 1, THREADS, 1, 1, 0, stream, (void *[]){&surface}, NULL));
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = a,
                                .srcY = 2,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = b,
                                .WidthInBytes = 4 * sizeof(float),
                                .Height = 1};
    OK(cuMemcpy2DAsync_v2(&rows, stream));
    OK(cuLaunchKernel(read, 1, 1, 1, THREADS, 1, 1, 0, stream, (void *[]){&textures[1], &out}, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        float got[THREADS];
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH_v2(got, out, sizeof got));
        EXPECT(got[0] == 32.25f && got[3] == 35.25f && got[4] == 104 && got[7] == 107);
        OK(cuMemsetD8_v2(out, 0, sizeof got));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy_v2(stream));
    launch(read, (void *[]){&textures[0], &out});
    if (ours) OK(cuTexObjectDestroy(textures[0])); /* the launch has it to its end */
    EXPECT_ROW(0.25f, 1.25f, 1);
    if (!ours) OK(cuTexObjectDestroy(textures[0]));
    OK(cuTexObjectDestroy(textures[1]));
    OK(cuSurfObjectDestroy(surface));
}

/* A line of texels is one of two dimensions, with y = 0: by linear filtering half of what is read lies beyond its edge,
 * which the mode of y is for, as was recorded (docs/textures.md). */
static void read_lines(CUmodule module) {
    const CUarray line = make(THREADS, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    const float texels[THREADS] = {2, 4, 6, 8, 10, 12, 14, 16};
    const CUDA_RESOURCE_DESC of = of_array(line);
    CUfunction read;
    OK(cuModuleGetFunction(&read, module, "on_line"));
    OK(cuMemcpyHtoA_v2(line, 0, texels, sizeof texels));
    for (unsigned mode = 0; mode < 6; mode++) {
        CUtexObject texture;
        const CUDA_TEXTURE_DESC about = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, mode},
                                         .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                         .borderColor = {1, 1, 1, 1}};
        if (mode > CU_TR_ADDRESS_MODE_BORDER && !ours) continue; /* what that is there was not asked */
        OK(cuTexObjectCreate(&texture, &of, &about, NULL));
        launch(read, (void *[]){&texture, &out});
        if (mode == CU_TR_ADDRESS_MODE_BORDER) EXPECT_ROW(1.5f, 2.5f, 1);
        else EXPECT_ROW(2, 4, 2);
        OK(cuTexObjectDestroy(texture));
    }
    OK(cuArrayDestroy(line));
}

static void kernels(void) {
    CUmodule module;
    const CUarray a = filled(0.25f), b = filled(64.5f);
    OK(cuMemAlloc_v2(&out, THREADS * sizeof(float)));
    OK(cuModuleLoadData(&module, kernels_ptx));
    read_by_references(module, a, b);
    read_by_objects(module, a, b);
    read_lines(module);
    OK(cuModuleUnload(module));
    OK(cuArrayDestroy(a));
    OK(cuArrayDestroy(b));
}

int main(void) {
    OK(cuInit(0));
    ours = is_ours();
    CUtexref reference;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuTexRefCreate(&reference));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&device, BYTES));
    samplers();
    memory();
    views();
    objects();
    references();
    kernels();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
