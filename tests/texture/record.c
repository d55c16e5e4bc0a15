/* record.c: what a GPU makes of cases.h, through the driver, as replay.c reads it and makes shorter. Not built here,
 * where there need be no GPU and no cuda.h:
 *
 *     gcc -O2 -I/usr/local/cuda/include record.c -o record -lcuda && ./record FILE [FAMILIES]     (half a minute)
 *     ./record -l FOLDER                                                                          the kernels, for
 * ptxas */
#include <cuda.h>
#include <stdlib.h>
#include <time.h>

#include "cases.h"

enum { KERNELS = 2048, TEXT = 16384, ROOM = 1 << 20 };
static struct kernel {
    char *text;
    CUfunction function;
    CUresult status;
} kernels[KERNELS];
static unsigned kernel_count, case_count, lane_count, failed;
static FILE *out;
static CUdeviceptr in_memory, out_memory;
static uint32_t words[ROOM];
static bool dead, list_only;
static const char *families;

static struct kernel *kernel_of(const tx_case *c) {
    static char text[TEXT];
    CUmodule module;
    tx_kernel(c, text, sizeof text);
    for (unsigned i = 0; i < kernel_count; i++)
        if (!strcmp(kernels[i].text, text)) return &kernels[i];
    struct kernel *k = &kernels[kernel_count++];
    k->text = strdup(text);
    if (list_only) return k;
    static char log[4096];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    k->status = cuModuleLoadDataEx(&module, text, 2, options, values);
    if (!k->status) k->status = cuModuleGetFunction(&k->function, module, "k");
    if (k->status) fprintf(stderr, "module: %d\n%s\n", k->status, log);
    return k;
}

typedef struct image {
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    size_t pitch;
} image;

#define TRY(call) \
    do { \
        CUresult r_ = (call); \
        if (r_) return r_; \
    } while (0)

static CUarray_format format_of(const tx_case *c) {
    static const CUarray_format of[] = {0,
                                        CU_AD_FORMAT_UNSIGNED_INT8,
                                        CU_AD_FORMAT_SIGNED_INT8,
                                        CU_AD_FORMAT_UNSIGNED_INT16,
                                        CU_AD_FORMAT_SIGNED_INT16,
                                        CU_AD_FORMAT_UNSIGNED_INT32,
                                        CU_AD_FORMAT_SIGNED_INT32,
                                        CU_AD_FORMAT_HALF,
                                        CU_AD_FORMAT_FLOAT};
    return of[c->type];
}

static CUresult copy(const tx_case *c, CUarray array, uint32_t level, uint8_t *host, bool back) {
    const size_t row = (size_t)tx_extent(c, 0, level) * tx_bytes(c) * c->channels;
    CUDA_MEMCPY3D m = {.WidthInBytes = row, .Height = tx_extent(c, 1, level), .Depth = tx_extent(c, 2, level)};
    if (back) {
        m.srcMemoryType = CU_MEMORYTYPE_ARRAY, m.srcArray = array;
        m.dstMemoryType = CU_MEMORYTYPE_HOST, m.dstHost = host, m.dstPitch = row, m.dstHeight = m.Height;
    } else {
        m.dstMemoryType = CU_MEMORYTYPE_ARRAY, m.dstArray = array;
        m.srcMemoryType = CU_MEMORYTYPE_HOST, m.srcHost = host, m.srcPitch = row, m.srcHeight = m.Height;
    }
    return cuMemcpy3D(&m);
}

static CUresult make_array(const tx_case *c, image *i, uint8_t *texels) {
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = c->width,
                                 .Height = c->height,
                                 .Depth = c->kind == K_3D ? c->deep : c->layers,
                                 .Format = format_of(c),
                                 .NumChannels = c->channels};
    if (c->kind == K_1D_ARRAY || c->kind == K_2D_ARRAY || c->kind == K_CUBE_ARRAY) d.Flags |= CUDA_ARRAY3D_LAYERED;
    if (c->kind == K_CUBE || c->kind == K_CUBE_ARRAY) d.Flags |= CUDA_ARRAY3D_CUBEMAP;
    if (c->op >= O_SULD) d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    if (c->depth) d.Flags |= CUDA_ARRAY3D_DEPTH_TEXTURE;
    if (c->levels > 1) TRY(cuMipmappedArrayCreate(&i->mipmap, &d, c->levels));
    else {
        CUDA_ARRAY3D_DESCRIPTOR gathered = d;
        gathered.Flags |= c->op >= O_TLD4_R && c->op <= O_TLD4_A ? CUDA_ARRAY3D_TEXTURE_GATHER : 0;
        if (cuArray3DCreate(&i->array, &gathered)) TRY(cuArray3DCreate(&i->array, &d));
    }
    for (uint32_t level = 0; level < tx_at_least_one(c->levels); level++) {
        CUarray array = i->array;
        if (i->mipmap) TRY(cuMipmappedArrayGetLevel(&array, i->mipmap, level));
        TRY(copy(c, array, level, texels, false));
        texels += tx_level_bytes(c, level);
    }
    return CUDA_SUCCESS;
}

static CUresult make_memory(const tx_case *c, image *i, const uint8_t *texels) {
    const size_t row = (size_t)c->width * tx_bytes(c) * c->channels;
    i->pitch = (row + 511) / 512 * 512;
    TRY(cuMemAlloc(&i->memory, i->pitch * tx_at_least_one(c->height)));
    for (uint32_t y = 0; y < tx_at_least_one(c->height); y++)
        TRY(cuMemcpyHtoD(i->memory + y * i->pitch, texels + y * row, row));
    return CUDA_SUCCESS;
}

static CUresult make_object(const tx_case *c, const image *i, CUtexObject *object) {
    CUDA_RESOURCE_DESC r = {0};
    CUDA_TEXTURE_DESC t = {0};
    if (i->mipmap) r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, r.res.mipmap.hMipmappedArray = i->mipmap;
    else if (i->array) r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = i->array;
    else if (c->kind == K_LINEAR) {
        r.resType = CU_RESOURCE_TYPE_LINEAR, r.res.linear.devPtr = i->memory, r.res.linear.format = format_of(c),
        r.res.linear.numChannels = c->channels;
        r.res.linear.sizeInBytes = (size_t)c->width * tx_bytes(c) * c->channels;
    } else {
        r.resType = CU_RESOURCE_TYPE_PITCH2D, r.res.pitch2D.devPtr = i->memory, r.res.pitch2D.format = format_of(c),
        r.res.pitch2D.numChannels = c->channels;
        r.res.pitch2D.width = c->width, r.res.pitch2D.height = c->height, r.res.pitch2D.pitchInBytes = i->pitch;
    }
    if (c->op >= O_SULD) return cuSurfObjectCreate(object, &r);
    for (int k = 0; k < 3; k++) t.addressMode[k] = (CUaddress_mode)c->address[k];
    t.filterMode = (CUfilter_mode)c->filter, t.mipmapFilterMode = (CUfilter_mode)c->mip;
    t.flags = (c->norm ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
              (!c->nfloat && c->type < T_F16 ? CU_TRSF_READ_AS_INTEGER : 0) | (c->srgb ? CU_TRSF_SRGB : 0) |
              (c->seamless ? 0x40 : 0) | (c->family == 'I' && c->variant ? 0x20 : 0);
    t.mipmapLevelBias = c->bias, t.minMipmapLevelClamp = c->min, t.maxMipmapLevelClamp = c->max;
    memcpy(t.borderColor, c->border, sizeof t.borderColor);
    return cuTexObjectCreate(object, &r, &t, NULL);
}

static CUresult run(const tx_case *c, struct kernel *k, image *i, CUtexObject *object, uint32_t *count) {
    static uint8_t texels[1 << 22];
    static uint32_t in[1 << 18];
    TRY(k->status);
    tx_fill(c, texels);
    TRY(c->kind >= K_LINEAR ? make_memory(c, i, texels) : make_array(c, i, texels));
    TRY(make_object(c, i, object));
    for (uint32_t lane = 0; lane < c->lanes; lane++) tx_lane(c, lane, in + TX_WORDS * lane);
    TRY(cuMemcpyHtoD(in_memory, in, c->lanes * 4 * TX_WORDS));
    TRY(cuMemsetD32(out_memory, 0, c->lanes * TX_RESULTS + 64));
    uint32_t lanes = c->lanes;
    void *params[] = {object, &in_memory, &out_memory, &lanes};
    TRY(cuLaunchKernel(k->function, (lanes + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    CUresult status = cuCtxSynchronize();
    if (status) dead = true;
    TRY(status);
    *count = c->lanes * TX_RESULTS;
    if (!tx_writes(c)) return cuMemcpyDtoH(words, out_memory, *count * 4);
    *count = (uint32_t)(tx_level_bytes(c, 0) + 3) / 4;
    words[*count - 1] = 0;
    return copy(c, i->array, 0, (uint8_t *)words, true);
}

static void visit(void *user, const tx_case *c) {
    (void)user;
    if (families && !strchr(families, c->family)) return;
    struct kernel *k = kernel_of(c);
    case_count++, lane_count += c->lanes;
    if (list_only || dead) return;
    image i = {0};
    CUtexObject object = 0;
    uint32_t count = 0;
    CUresult status = run(c, k, &i, &object, &count);
    if (status) {
        failed++, count = 0;
        fprintf(stderr, "case %u %c op %u dtype %u kind %u type %u x%u filter %u norm %u variant %u: %d\n",
                case_count - 1, c->family, c->op, c->dtype, c->kind, c->type, c->channels, c->filter, c->norm,
                c->variant, status);
    }
    fprintf(out, "%08x %d", tx_seed(c), (int)status);
    for (uint32_t first = 0; first < count; first += TX_PIECE) {
        char digits[TX_LANES + 1];
        const uint32_t size = count - first < TX_PIECE ? count - first : TX_PIECE;
        tx_digits_of(words + first, size, digits);
        fprintf(out, " %08x:%s", tx_hash_of(words + first, size), digits);
    }
    fputc('\n', out);
    if (dead) return;
    if (object && c->op >= O_SULD) cuSurfObjectDestroy(object);
    else if (object) cuTexObjectDestroy(object);
    if (i.array) cuArrayDestroy(i.array);
    if (i.mipmap) cuMipmappedArrayDestroy(i.mipmap);
    if (i.memory) cuMemFree(i.memory);
}

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    char name[100] = "";
    int driver = 0;
    list_only = argc > 1 && !strcmp(argv[1], "-l");
    if (!list_only) {
        if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
            cuCtxSetCurrent(context))
            return 1;
        cuDeviceGetName(name, sizeof name, device), cuDriverGetVersion(&driver);
        if (cuMemAlloc(&in_memory, 1 << 20) || cuMemAlloc(&out_memory, 1 << 20)) return 1;
        families = argc > 2 ? argv[2] : NULL;
        out = fopen(argv[1], "w");
        if (!out) return 1;
    }
    tx_each(visit, NULL);
    printf("%s, driver API %d: %u cases, %u kernels, %u lanes, %u failed%s\n", name, driver, case_count, kernel_count,
           lane_count, failed, dead ? ", dead" : "");
    if (argc > 2 && list_only)
        for (unsigned i = 0; i < kernel_count; i++) {
            char path[300];
            snprintf(path, sizeof path, "%s/%u.ptx", argv[2], i);
            FILE *f = fopen(path, "w");
            fputs(kernels[i].text, f), fclose(f);
        }
    if (out) fclose(out);
    return 0;
}
